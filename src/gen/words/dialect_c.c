/* dialect_c.c -- C as GCC and Clang have it, for the kernels of CPUs. */
#include "gen/words/dialect.h"

/* Names that a kernel would get from headers.  Most library functions need no declaration: the
 * compiler has their types built in.  A pragma, because Clang knows no such option: a call of
 * memcpy for a kilobyte is slower than the loop that GCC would make it of. */
const char ar_c_definitions[] = "#pragma GCC optimize \"no-tree-loop-distribute-patterns\"\n"
                                "typedef __INT8_TYPE__ int8_t;\n"
                                "typedef __INT16_TYPE__ int16_t;\n"
                                "typedef __INT32_TYPE__ int32_t;\n"
                                "typedef __INT64_TYPE__ int64_t;\n"
                                "typedef __UINT8_TYPE__ uint8_t;\n"
                                "typedef __UINT16_TYPE__ uint16_t;\n"
                                "typedef __UINT32_TYPE__ uint32_t;\n"
                                "typedef __UINT64_TYPE__ uint64_t;\n"
                                "typedef __UINTPTR_TYPE__ uintptr_t;\n"
                                "typedef float v8f32 __attribute__((vector_size(32)));\n"
                                "typedef double v4f64 __attribute__((vector_size(32)));\n"
                                "double lgamma_r(double, int *);\n"
                                "float lgammaf_r(float, int *);\n"
                                "#define complex _Complex\n"
                                "#define NAN __builtin_nanf(\"\")\n"
                                "#define isinf(x) __builtin_isinf(x)\n"
                                "#define isfinite(x) __builtin_isfinite(x)\n"
                                "#define signbit(x) __builtin_signbit(x)\n";

/* By its sign bit: GCC 12 makes -(x * y) - z of -fma(x, y, z), which is another zero. */
static void print_negative(ar_text *out, arras_dtype dtype)
{
    int bits = 8 * (int)ar_dtype_size(dtype);

    ar_text_printf(out,
                   "static inline T op_negative_%s(T x) { union { T real; uint%d_t bits; } u = "
                   "{ x }; u.bits ^= (uint%d_t)1 << %d; return u.real; }\n",
                   ar_dtype_name(dtype), bits, bits, bits - 1);
}

/* GCC 12 takes a cast of a complex number to single precision and back for none at all, even where
 * its parts are cast one by one; not so that of a vector. */
static const char narrowed[] =
    "typedef double wide __attribute__((vector_size(16))); "
    "typedef float narrow __attribute__((vector_size(8))); "
    "narrow parts = __builtin_convertvector((wide){ __real__ re, __imag__ re }, narrow); "
    "return __builtin_complex(parts[0], parts[1]); ";

bool ar_c_op_print(ar_text *out, const ar_op_set *set, ar_op op, arras_dtype dtype)
{
    if (ar_c_is_vector_math(op, dtype))
        ar_c_vector_math_print(out, op, dtype, set->rows[op][dtype]);
    else if (op == AR_OP_negative && ar_dtype_class(dtype) == AR_CLASS_REAL)
        print_negative(out, dtype);
    else
        return false;
    return true;
}

const ar_dialect ar_dialect_c = {
    .name = "C",
    .heads = { ar_c_definitions },
    .words = { AR_WORDS_OF_NUMBERS("f", ""),
               [ARRAS_C64] = { "float complex", "float complex", "f" },
               [ARRAS_C128] = { "double complex", "double complex", "" } },
    .global = "",
    .nan = "__builtin_nan(\"\")",
    .infinity = "__builtin_inf()",
    .complex = { "__builtin_complex((double)", ", (double)", ")" },
    .l = "ll",
    .ul = "ull",
    .complex_kit = "COMPLEX_KIT",
    .narrowed = narrowed,
    .casts_both_ways = "#pragma GCC optimize (\"trapping-math\")\n",
    .print_op = ar_c_op_print,
};

const char *ar_c_type(arras_dtype dtype) { return ar_dialect_type(&ar_dialect_c, dtype); }
