/* vector_math.c -- functions of the mathematical library that exist for vectors: glibc's libmvec.
 *
 * Where there is one it is the function, for the evaluator and folded numbers as for kernels, and
 * every cell goes through it: its bits do not depend on where it stands.  They are within 4 units
 * of the last place; what libm would give exactly (infinities, nan, zeros) they give too. */
#include "ir/ir.h"

#if defined(__x86_64__) && defined(__linux__)
#include <dlfcn.h>
#include <math.h>
#include <pthread.h>
#include <stdio.h>

#include "ir/scalar_kit.h"

POWER_KIT(f32, float, f)
POWER_KIT(f64, double, )

#define FUNCTIONS(UNARY, BINARY)                                                                   \
    UNARY(cbrt)                                                                                    \
    UNARY(exp)                                                                                     \
    UNARY(exp2)                                                                                    \
    UNARY(expm1)                                                                                   \
    UNARY(log)                                                                                     \
    UNARY(log2)                                                                                    \
    UNARY(log10)                                                                                   \
    UNARY(log1p)                                                                                   \
    UNARY(sin)                                                                                     \
    UNARY(cos)                                                                                     \
    UNARY(tan)                                                                                     \
    UNARY(asin)                                                                                    \
    UNARY(acos)                                                                                    \
    UNARY(atan)                                                                                    \
    UNARY(sinh)                                                                                    \
    UNARY(cosh)                                                                                    \
    UNARY(tanh)                                                                                    \
    UNARY(asinh)                                                                                   \
    UNARY(acosh)                                                                                   \
    UNARY(atanh)                                                                                   \
    UNARY(erf)                                                                                     \
    UNARY(erfc)                                                                                    \
    BINARY(pow)                                                                                    \
    BINARY(atan2)                                                                                  \
    BINARY(hypot)

typedef struct {
    char  name[32];
    void *address; /* NULL: there is none */
} function;

static function       found[AR_OP_END][2]; /* for f32 and f64 */
static pthread_once_t once = PTHREAD_ONCE_INIT;

/* The x86-64 vector ABI: d is AVX2, N without mask, then the number of cells. */
static void look_up(void *library, ar_op op, const char *name)
{
    for (int is_f64 = 0; is_f64 < 2; is_f64++) {
        function *f = &found[op][is_f64];

        snprintf(f->name, sizeof f->name, "_ZGVdN%s%s_%s%s", is_f64 ? "4" : "8",
                 ar_op_arity(op) == 2 ? "vv" : "v", name, is_f64 ? "" : "f");
        f->address = dlsym(library, f->name);
    }
}

/* It stays open: its functions are called. */
static void find_library(void)
{
    void *library = __builtin_cpu_supports("avx2") ? dlopen("libmvec.so.1", RTLD_LAZY) : NULL;

    if (!library)
        return;
#define LOOK_UP(name) look_up(library, AR_OP_##name, #name);
    FUNCTIONS(LOOK_UP, LOOK_UP)
#undef LOOK_UP
}

static const function *find(ar_op op, arras_dtype dtype)
{
    if (dtype != ARRAS_F32 && dtype != ARRAS_F64)
        return NULL;
    pthread_once(&once, find_library);
    return found[op][dtype == ARRAS_F64].address ? &found[op][dtype == ARRAS_F64] : NULL;
}

const char *ar_vector_math_name(ar_op op, arras_dtype dtype)
{
    const function *f = find(op, dtype);

    return f ? f->name : NULL;
}

/* ---- The value of one cell ------------------------------------------------------------------- */

#define AVX2 __attribute__((target("avx2")))
typedef float  v8f32 __attribute__((vector_size(32)));
typedef double v4f64 __attribute__((vector_size(32)));

#define FILL_f32(x)                                                                                \
    {                                                                                              \
        x, x, x, x, x, x, x, x                                                                     \
    }
#define FILL_f64(x)                                                                                \
    {                                                                                              \
        x, x, x, x                                                                                 \
    }

#define ONE(name, S, T, V)                                                                         \
    AVX2 static void name##_##S(void *out, const void *px, const void *py, const void *pz)         \
    {                                                                                              \
        const T x = *(const T *)px;                                                                \
        const V v = FILL_##S(x);                                                                   \
        V (*f)(V);                                                                                 \
        (void)py, (void)pz;                                                                        \
        *(void **)&f = found[AR_OP_##name][sizeof(T) == 8].address;                                \
        *(T *)out = f(v)[0];                                                                       \
    }
#define TWO(name, S, T, V)                                                                         \
    AVX2 static void name##_##S(void *out, const void *px, const void *py, const void *pz)         \
    {                                                                                              \
        const T x = *(const T *)px, y = *(const T *)py;                                            \
        const V v = FILL_##S(x), w = FILL_##S(y);                                                  \
        V (*f)(V, V);                                                                              \
        (void)pz;                                                                                  \
        *(void **)&f = found[AR_OP_##name][sizeof(T) == 8].address;                                \
        *(T *)out = f(v, w)[0];                                                                    \
    }
#define UNARY(name) ONE(name, f32, float, v8f32) ONE(name, f64, double, v4f64)
#define BINARY(name) TWO(name, f32, float, v8f32) TWO(name, f64, double, v4f64)
FUNCTIONS(UNARY, BINARY)

/* As in ops.def: some powers are products, quotients and roots. */
#define POWER(S, T)                                                                                \
    static void power_##S(void *out, const void *px, const void *py, const void *pz)               \
    {                                                                                              \
        if (is_simple_power_##S(*(const T *)py))                                                   \
            *(T *)out = simple_power_##S(*(const T *)px, *(const T *)py);                          \
        else                                                                                       \
            pow_##S(out, px, py, pz);                                                              \
    }
POWER(f32, float)
POWER(f64, double)

ar_op_function *ar_vector_math_value(ar_op op, arras_dtype dtype)
{
    static ar_op_function *const values[AR_OP_END][2] = {
#define VALUES(name) [AR_OP_##name] = { name##_f32, name##_f64 },
        FUNCTIONS(VALUES, VALUES)
#undef VALUES
    };

    if (!find(op, dtype))
        return NULL;
    if (op == AR_OP_pow)
        return dtype == ARRAS_F64 ? power_f64 : power_f32;
    return values[op][dtype == ARRAS_F64];
}

#else
const char *ar_vector_math_name(ar_op op, arras_dtype dtype) { return (void)op, (void)dtype, NULL; }
ar_op_function *ar_vector_math_value(ar_op op, arras_dtype dtype)
{
    (void)op, (void)dtype;
    return NULL;
}
#endif
