/* c_math.c -- functions of the mathematical library that exist for vectors: glibc's libmvec.
 *
 * Every cell goes through the vector function, so that its bits do not depend on where a segment of
 * cells starts or ends.  They are within 4 units of the last place; what libm would give exactly
 * (infinities, nan, zeros) they give too. */
#include "gen/c_writer.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>

static const struct {
    ar_op       op;
    const char *name;
} functions[] = {
    { AR_OP_pow, "pow" },     { AR_OP_cbrt, "cbrt" },   { AR_OP_exp, "exp" },
    { AR_OP_exp2, "exp2" },   { AR_OP_expm1, "expm1" }, { AR_OP_log, "log" },
    { AR_OP_log2, "log2" },   { AR_OP_log10, "log10" }, { AR_OP_log1p, "log1p" },
    { AR_OP_sin, "sin" },     { AR_OP_cos, "cos" },     { AR_OP_tan, "tan" },
    { AR_OP_asin, "asin" },   { AR_OP_acos, "acos" },   { AR_OP_atan, "atan" },
    { AR_OP_sinh, "sinh" },   { AR_OP_cosh, "cosh" },   { AR_OP_tanh, "tanh" },
    { AR_OP_asinh, "asinh" }, { AR_OP_acosh, "acosh" }, { AR_OP_atanh, "atanh" },
    { AR_OP_atan2, "atan2" }, { AR_OP_hypot, "hypot" }, { AR_OP_erf, "erf" },
    { AR_OP_erfc, "erfc" },
};

static const char    *names[AR_OP_END][2]; /* for f32 and f64; NULL: there is none */
static char           texts[AR_COUNT(functions)][2][32];
static pthread_once_t once = PTHREAD_ONCE_INIT;

/* The x86-64 vector ABI: d is AVX2, N without mask, then the number of cells. */
static void look_up(void *library)
{
    for (size_t i = 0; i < AR_COUNT(functions); i++)
        for (int is_f64 = 0; is_f64 < 2; is_f64++) {
            char *text = texts[i][is_f64];

            snprintf(text, sizeof texts[i][is_f64], "_ZGVdN%s%s_%s%s", is_f64 ? "4" : "8",
                     ar_op_arity(functions[i].op) == 2 ? "vv" : "v", functions[i].name,
                     is_f64 ? "" : "f");
            if (dlsym(library, text))
                names[functions[i].op][is_f64] = text;
        }
}

static void find_library(void)
{
#if defined(__x86_64__)
    void *library = __builtin_cpu_supports("avx2") ? dlopen("libmvec.so.1", RTLD_LAZY) : NULL;

    if (library) {
        look_up(library);
        dlclose(library);
    }
#else
    (void)look_up;
#endif
}

const char *ar_c_vector_math_name(ar_op op, arras_dtype dtype)
{
    if (dtype != ARRAS_F32 && dtype != ARRAS_F64)
        return NULL;
    pthread_once(&once, find_library);
    return names[op][dtype == ARRAS_F64];
}

bool ar_c_is_vector_math(ar_op op, arras_dtype dtype)
{
    return ar_c_vector_math_name(op, dtype) != NULL;
}

const char *const *ar_c_libraries(void)
{
    static const char *const with[] = { "-lmvec", "-lm", "-lgcc", NULL };
    static const char *const without[] = { "-lm", "-lgcc", NULL };

    return ar_c_vector_math_name(AR_OP_exp, ARRAS_F64) ? with : without;
}

static void print_broadcast(ar_text *out, const char *vector, int lanes, const char *x)
{
    ar_text_printf(out, "(%s){ %s", vector, x);
    for (int i = 1; i < lanes; i++)
        ar_text_printf(out, ", %s", x);
    ar_text_add(out, " }");
}

/* Fills up the last vector with ones: its cells are computed, and thrown away. */
static void print_row(ar_text *out, ar_op op, arras_dtype dtype, const char *function,
                      const char *vector, int lanes)
{
    const char *type = ar_c_type(dtype);
    bool        two = ar_op_arity(op) == 2;

    ar_text_printf(out, "static void row_%s_%s(%s *x, ", ar_op_name(op), ar_dtype_name(dtype),
                   type);
    if (two)
        ar_text_printf(out, "%s *y, ", type);
    ar_text_printf(out, "int64_t n)\n{\nfor (int64_t i = n; i %% %d; i++) x[i] = 1%s;\n", lanes,
                   two ? ", y[i] = 1" : "");
    ar_text_printf(out, "for (int64_t i = 0; i < n; i += %d)\n*(%s *)(x + i) = %s(*(%s *)(x + i)",
                   lanes, vector, function, vector);
    if (two)
        ar_text_printf(out, ", *(%s *)(y + i)", vector);
    ar_text_add(out, ");\n}\n");
}

void ar_c_vector_math_print(ar_text *out, ar_op op, arras_dtype dtype, bool rows)
{
    const char *function = ar_c_vector_math_name(op, dtype), *type = ar_c_type(dtype);
    const char *vector = dtype == ARRAS_F64 ? "v4f64" : "v8f32";
    bool        two = ar_op_arity(op) == 2;
    int         lanes = dtype == ARRAS_F64 ? 4 : 8;

    ar_text_printf(out, "%s %s(%s%s%s);\nstatic inline %s op_%s_%s(%s x%s%s%s) { return %s(",
                   vector, function, vector, two ? ", " : "", two ? vector : "", type,
                   ar_op_name(op), ar_dtype_name(dtype), type, two ? ", " : "", two ? type : "",
                   two ? " y" : "", function);
    print_broadcast(out, vector, lanes, "x");
    if (two) {
        ar_text_add(out, ", ");
        print_broadcast(out, vector, lanes, "y");
    }
    ar_text_add(out, ")[0]; }\n");
    if (rows)
        print_row(out, op, dtype, function, vector, lanes);
}
