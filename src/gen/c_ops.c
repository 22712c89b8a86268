/* c_ops.c -- the operations of ops.def and the casts between types as C, for generated kernels. */
#include "gen/c_writer.h"

#include <string.h>

/* ---- Types ----------------------------------------------------------------------------------- */

/* The words that ops.def and scalar_kit.h use for a type; see ops.def. */
typedef struct {
    const char *type, *wrapping, *suffix;
} c_words;

static const c_words words[ARRAS_DTYPE_END] = {
    [ARRAS_NO_DTYPE] = { "void", "void", "" },
    [ARRAS_BOOL] = { "uint8_t", "uint32_t", "" },
    [ARRAS_I8] = { "int8_t", "uint32_t", "" },
    [ARRAS_I16] = { "int16_t", "uint32_t", "" },
    [ARRAS_I32] = { "int32_t", "uint32_t", "" },
    [ARRAS_I64] = { "int64_t", "uint64_t", "" },
    [ARRAS_U8] = { "uint8_t", "uint32_t", "" },
    [ARRAS_U16] = { "uint16_t", "uint32_t", "" },
    [ARRAS_U32] = { "uint32_t", "uint32_t", "" },
    [ARRAS_U64] = { "uint64_t", "uint64_t", "" },
    [ARRAS_F32] = { "float", "float", "f" },
    [ARRAS_F64] = { "double", "double", "" },
    [ARRAS_C64] = { "float complex", "float complex", "f" },
    [ARRAS_C128] = { "double complex", "double complex", "" },
};

const char *ar_c_type(arras_dtype dtype) { return words[ar_dtype_valid(dtype) ? dtype : 0].type; }

/* Names that a kernel would get from headers.  Most library functions need no declaration: the
 * compiler has their types built in.  A pragma, because Clang knows no such option: a call of
 * memcpy for a kilobyte is slower than the loop that GCC would make it of. */
static const char definitions[] = "#pragma GCC optimize \"no-tree-loop-distribute-patterns\"\n"
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

static const char kit[] = {
#include "scalar_kit_bytes.inc"
    0
};

static const char vector_kit[] = {
#include "vector_kit_bytes.inc"
    0
};

static const char trees[] = {
#include "trees_bytes.inc"
    0
};

static const char fold_kit[] = {
#include "fold_kit_bytes.inc"
    0
};

/* ---- Operations ------------------------------------------------------------------------------ */

static const char *const columns[][4] = {
#define AR_OP(name, arity, rule, cost, b, i, r, c, help) { #b, #i, #r, #c },
#include "ir/ops.def"
#undef AR_OP
};

static const char *value_text(ar_op op, arras_dtype dtype)
{
    switch (ar_dtype_class(dtype)) {
    case AR_CLASS_BOOL: return columns[op][0];
    case AR_CLASS_SIGNED:
    case AR_CLASS_UNSIGNED: return columns[op][1];
    case AR_CLASS_REAL: return columns[op][2];
    case AR_CLASS_COMPLEX: return columns[op][3];
    case AR_CLASS_NONE: break;
    }
    return "NO";
}

/* What the operation gives when it computes in a type: asked of the type rules, with operands that
 * have that type already. */
static arras_dtype result_of(ar_op op, arras_dtype compute)
{
    ar_type types[AR_MAX_ARITY] = { { compute, false }, { compute, false }, { compute, false } };
    ar_signature s = { .result = { ARRAS_NO_DTYPE, false } };

    ar_op_signature(&s, op, types);
    return s.result.dtype;
}

/* By its sign bit: GCC 12 makes -(x * y) - z of -fma(x, y, z), which is another zero. */
static void print_negative(ar_text *out, arras_dtype dtype)
{
    int bits = 8 * (int)ar_dtype_size(dtype);

    ar_text_printf(out,
                   "static inline T op_negative_%s(T x) { union { T real; uint%d_t bits; } u = "
                   "{ x }; u.bits ^= (uint%d_t)1 << %d; return u.real; }\n",
                   ar_dtype_name(dtype), bits, bits, bits - 1);
}

static void print_op(ar_text *out, const ar_op_set *set, ar_op op, arras_dtype dtype)
{
    static const char *const names[] = { "x", "y", "z" };

    if (!ar_op_value(op, dtype))
        return;
    if (ar_c_is_vector_math(op, dtype)) {
        ar_c_vector_math_print(out, op, dtype, set->rows[op][dtype]);
        return;
    }
    if (op == AR_OP_negative && ar_dtype_class(dtype) == AR_CLASS_REAL) {
        print_negative(out, dtype);
        return;
    }
    ar_text_printf(out, "static inline %s op_%s_%s(", ar_c_type(result_of(op, dtype)),
                   ar_op_name(op), ar_dtype_name(dtype));
    for (int i = 0; i < ar_op_arity(op); i++) /* the condition of where is a bool */
        ar_text_printf(out, "%s%s %s", i ? ", " : "", op == AR_OP_where && i == 0 ? "uint8_t" : "T",
                       names[i]);
    ar_text_printf(out, ") { return %s; }\n", value_text(op, dtype));
}

/* Few operations call the helpers of scalar_kit.h, and reading those takes a compiler longer than a
 * short kernel. */
static bool needs_kit(const ar_op_set *set, arras_dtype dtype)
{
    for (int op = 0; op < AR_OP_END; op++)
        if (set->ops[op][dtype] && strstr(value_text((ar_op)op, dtype), "FN("))
            return true;
    return false;
}

/* The helpers of a type, as scalar.c makes them. */
static void print_kit(ar_text *out, arras_dtype dtype)
{
    const char *name = ar_dtype_name(dtype), *suffix = words[dtype].suffix;
    ar_class class = ar_dtype_class(dtype);

    if (ar_dtype_is_integer(dtype))
        ar_text_printf(out, "INTEGER_KIT(%s, %s, %s, %d, %d)\n", name, ar_c_type(dtype),
                       words[dtype].wrapping, 8 * (int)ar_dtype_size(dtype),
                       class == AR_CLASS_SIGNED);
    else if (class == AR_CLASS_REAL)
        ar_text_printf(out, "REAL_KIT(%s, %s, %s)\n", name, ar_c_type(dtype), suffix);
    else if (class == AR_CLASS_COMPLEX)
        ar_text_printf(out, "COMPLEX_KIT(%s, %s, %s, %s)\n", name, ar_c_type(dtype),
                       ar_c_type(ar_dtype_real(dtype)), suffix);
}

static void print_ops_of_type(ar_text *out, const ar_op_set *set, arras_dtype dtype)
{
    const c_words *w = &words[dtype];
    bool           used = false;

    for (int op = 0; op < AR_OP_END; op++)
        used = used || set->ops[op][dtype];
    if (!used)
        return;
    if (needs_kit(set, dtype))
        print_kit(out, dtype);
    ar_text_printf(out,
                   "#define T %s\n#define U %s\n#define FN(name) name##_%s\n"
                   "#define M(name) name%s%s\n#define C(name) c##name%s%s\n",
                   w->type, w->wrapping, ar_dtype_name(dtype), *w->suffix ? "##" : "", w->suffix,
                   *w->suffix ? "##" : "", w->suffix);
    for (int op = 0; op < AR_OP_END; op++)
        if (set->ops[op][dtype])
            print_op(out, set, (ar_op)op, dtype);
    ar_text_add(out, "#undef T\n#undef U\n#undef FN\n#undef M\n#undef C\n");
}

/* ---- Casts ----------------------------------------------------------------------------------- */

/* Real to integer: towards 0, nan gives 0, too large gives the end of the range.  The powers of two
 * that bound it are exact in f32 and f64, the largest integers themselves may not be. */
static void print_saturation(ar_text *out, arras_dtype to)
{
    int  bits = 8 * (int)ar_dtype_size(to);
    bool is_signed = ar_dtype_class(to) == AR_CLASS_SIGNED;

    if (is_signed)
        ar_text_printf(out,
                       "re != re ? 0 : re >= 0x1p%d ? (%s)((1ull << %d) - 1) : "
                       "re <= -0x1p%d ? (%s)(-(int64_t)((1ull << %d) - 1) - 1) : (%s)re",
                       bits - 1, ar_c_type(to), bits - 1, bits - 1, ar_c_type(to), bits - 1,
                       ar_c_type(to));
    else
        ar_text_printf(out, "!(re > 0) ? 0 : re >= 0x1p%d ? (%s)-1 : (%s)re", bits, ar_c_type(to),
                       ar_c_type(to));
}

/* GCC 12 takes a cast of a complex number to single precision and back for none at all, even where
 * its parts are cast one by one; not so that of a vector. */
static void print_narrowing(ar_text *out)
{
    ar_text_add(out, "typedef double wide __attribute__((vector_size(16))); "
                     "typedef float narrow __attribute__((vector_size(8))); "
                     "narrow parts = __builtin_convertvector((wide){ __real__ re, __imag__ re }, "
                     "narrow); return __builtin_complex(parts[0], parts[1]); }\n");
}

static void print_cast(ar_text *out, arras_dtype from, arras_dtype to)
{
    bool from_complex = ar_dtype_class(from) == AR_CLASS_COMPLEX;
    bool from_real = from_complex || ar_dtype_class(from) == AR_CLASS_REAL;

    ar_text_printf(out, "static inline %s cast_%s_%s(%s x) { ", ar_c_type(to), ar_dtype_name(from),
                   ar_dtype_name(to), ar_c_type(from));
    if (from_complex && to != ARRAS_BOOL && ar_dtype_class(to) != AR_CLASS_COMPLEX)
        ar_text_printf(out, "%s re = __real__ x; ", ar_c_type(ar_dtype_real(from)));
    else if (from_real)
        ar_text_printf(out, "%s re = x; ", ar_c_type(from));
    if (to == ARRAS_BOOL) {
        ar_text_add(out, "return x != 0; }\n");
        return;
    }
    if (from == ARRAS_C128 && to == ARRAS_C64) {
        print_narrowing(out);
        return;
    }
    ar_text_add(out, "return ");
    if (from_real && ar_dtype_is_integer(to))
        print_saturation(out, to);
    else if (from == ARRAS_I64 && to == ARRAS_F64) /* rounded once, and there are vectors for it */
        ar_text_add(out, "(double)(int32_t)(x >> 32) * 0x1p32 + (double)(uint32_t)x");
    else
        ar_text_printf(out, "(%s)%s", ar_c_type(to), from_real ? "re" : "x");
    ar_text_add(out, "; }\n");
}

/* ---- Reductions ------------------------------------------------------------------------------ */

/* A table of the library's, its functions by their names. */
static void print_library_fold(ar_text *out, ar_op op, arras_dtype dtype)
{
    static const char *const functions[] = { "line",  "lanes", "close", "carry", "finish",
                                             "range", "join",  "down",  "total", "columns" };
    const char              *name = ar_op_name(op), *d = ar_dtype_name(dtype);
    int                      number = ar_fold_number(op, dtype);

    for (size_t i = 0; i < AR_COUNT(functions); i++)
        ar_text_printf(out, "#define %s_%s_%s ((const fold_%s *)a->folds[%d])->%s\n", functions[i],
                       name, d, d, number, functions[i]);
    ar_text_printf(out, "#define place_%s_%s ((const fold_%s *)a->folds[%d])->place\n",
                   op == AR_OP_minimum ? "less" : "greater", d, d, number);
}

/* Integers give the same bits in any order, and compilers know how to add them up. */
static void print_own_fold(ar_text *out, ar_op op, arras_dtype dtype, const ar_op_set *set)
{
    const char *name = ar_op_name(op), *d = ar_dtype_name(dtype), *type = ar_c_type(dtype);

    if (set->folds[op][dtype]) {
        ar_text_printf(out, "FOLD_KIT(%s, %s, %s)\n", name, d, type);
        if (ar_dtype_class(dtype) == AR_CLASS_COMPLEX)
            ar_text_printf(out, "LANES_PLAIN(%s, %s, %s)\n", name, d, type);
        else
            ar_text_printf(out, "#define lanes_%s_%s line_%s_%s\n", name, d, name, d);
        ar_text_printf(out, "PAIR_PLAIN(%s, %s, %s)\nRANGE_KIT(%s, %s, %s)\n", name, d, type, name,
                       d, type);
    }
    if (set->places[op][dtype])
        ar_text_printf(out, "PLACE_KIT(%s, %s, %s, %s)\n", name,
                       op == AR_OP_minimum ? "less" : "greater", d, type);
    if (set->across[op][dtype])
        ar_text_printf(out, "DOWN_KIT(%s, %s, %s)\n", name, d, type);
}

static bool is_folded(const ar_op_set *set, int op, arras_dtype dtype)
{
    return (set->folds[op][dtype] || set->across[op][dtype]) && ar_op_value((ar_op)op, dtype);
}

static bool has_folds(const ar_op_set *set, arras_dtype dtype)
{
    for (int op = 0; op < AR_OP_END; op++)
        if (is_folded(set, op, dtype))
            return true;
    return false;
}

static bool is_across(const ar_op_set *set, arras_dtype dtype)
{
    for (int op = 0; op < AR_OP_END; op++)
        if (set->across[op][dtype])
            return true;
    return false;
}

static void print_folds_of(ar_text *out, const ar_op_set *set, arras_dtype dtype)
{
    const char *d = ar_dtype_name(dtype), *type = ar_c_type(dtype);
    bool        real = ar_dtype_class(dtype) == AR_CLASS_REAL;

    if (!has_folds(set, dtype))
        return;
    if (real)
        ar_text_printf(
            out, "FOLD_TABLE(%s, %s)\n#define fill_%s ((const fold_%s *)a->folds[%d])->fill\n", d,
            type, d, d, ar_fold_number(AR_OP_add, dtype));
    else if (is_across(set, dtype))
        ar_text_printf(out, "FILL_KIT(%s, %s)\n", d, type);
    for (int op = 0; op < AR_OP_END; op++)
        if (is_folded(set, op, dtype) && real)
            print_library_fold(out, (ar_op)op, dtype);
        else if (is_folded(set, op, dtype))
            print_own_fold(out, (ar_op)op, dtype, set);
}

static void print_folds(ar_text *out, const ar_op_set *set)
{
    bool any = set->vectors, own = false; /* that the library does not have */

    for (int d = ARRAS_NO_DTYPE + 1; d < ARRAS_DTYPE_END; d++) {
        bool folded = has_folds(set, (arras_dtype)d);

        any = any || folded;
        own = own || (folded && ar_dtype_class((arras_dtype)d) != AR_CLASS_REAL);
    }
    if (own) {
        ar_text_put(out, trees, strlen(trees));
        ar_text_put(out, fold_kit, strlen(fold_kit));
    }
    if (any)
        ar_text_put(out, vector_kit, strlen(vector_kit));
    for (int d = ARRAS_F32; d <= ARRAS_F64; d++)
        if (set->edged[d])
            ar_text_printf(out, "EDGED_KIT(%s, %s, %d)\n", ar_c_type((arras_dtype)d),
                           ar_c_vector_type((arras_dtype)d), ar_c_vector_cells((arras_dtype)d));
    for (int d = ARRAS_NO_DTYPE + 1; d < ARRAS_DTYPE_END; d++)
        print_folds_of(out, set, (arras_dtype)d);
}

/* ---- All of it ------------------------------------------------------------------------------- */

/* Casts between reals (or complex numbers) and signed integers. */
static bool has_casts(const ar_op_set *set, bool to_integer)
{
    bool found = false;

    for (int real = ARRAS_F32; real <= ARRAS_C128; real++)
        for (int integer = ARRAS_I8; integer <= ARRAS_I64; integer++)
            found = found || (to_integer ? set->casts[real][integer] : set->casts[integer][real]);
    return found;
}

void ar_c_ops_print(ar_text *out, const ar_op_set *set)
{
    bool with_kit = false;

    /* Without trapping mathematics GCC 12 makes trunc(x) of a way to an integer and back, which is
     * -0 for x = -0.5. */
    if (has_casts(set, true) && has_casts(set, false))
        ar_text_add(out, "#pragma GCC optimize (\"trapping-math\")\n");
    ar_text_add(out, definitions);
    for (int d = ARRAS_NO_DTYPE + 1; d < ARRAS_DTYPE_END; d++)
        with_kit = with_kit || needs_kit(set, (arras_dtype)d);
    if (with_kit)
        ar_text_put(out, kit, strlen(kit));
    for (int d = ARRAS_NO_DTYPE + 1; d < ARRAS_DTYPE_END; d++)
        print_ops_of_type(out, set, (arras_dtype)d);
    for (int from = ARRAS_NO_DTYPE + 1; from < ARRAS_DTYPE_END; from++)
        for (int to = ARRAS_NO_DTYPE + 1; to < ARRAS_DTYPE_END; to++)
            if (set->casts[from][to])
                print_cast(out, (arras_dtype)from, (arras_dtype)to);
    print_folds(out, set);
}
