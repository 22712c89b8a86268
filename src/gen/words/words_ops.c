/* words_ops.c -- the operations of ops.def and the casts between types as functions, for generated
 * kernels. */
#include "gen/kit/kit.h"
#include "gen/words/words.h"

#include <string.h>

/* ---- Operations ------------------------------------------------------------------------------ */

static const char *const columns[][4] = {
#define AR_OP(name, arity, rule, cost, b, i, r, c, help) { #b, #i, #r, #c },
#include "ir/ops.def"
#undef AR_OP
};

/* The complex column where complex numbers are pairs; NULL: as it stands in ops.def. */
static const char *const pair_texts[AR_OP_END] = {
    [AR_OP_add] = "FN(plus)(x, y)",
    [AR_OP_subtract] = "FN(minus)(x, y)",
    [AR_OP_negative] = "FN(opposite)(x)",
    [AR_OP_abs] = "M(hypot)(x.re, x.im)",
    [AR_OP_fma] = "FN(plus)(FN(times)(x, y), z)",
    [AR_OP_equal] = "FN(same)(x, y)",
    [AR_OP_not_equal] = "!FN(same)(x, y)",
    [AR_OP_isnan] = "!FN(same)(x, x)",
    [AR_OP_real] = "x.re",
    [AR_OP_imag] = "x.im",
};

static const char *value_text(const ar_dialect *dialect, ar_op op, arras_dtype dtype)
{
    if (dialect->pairs && ar_dtype_class(dtype) == AR_CLASS_COMPLEX && pair_texts[op])
        return pair_texts[op];
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

static bool calls_helper(const ar_dialect *dialect, ar_op op, arras_dtype dtype)
{
    const char *text = value_text(dialect, op, dtype);

    return strstr(text, "FN(") || (dialect->pairs && strstr(text, "C("));
}

/* In terms of complex functions. */
static bool needs_complex_functions(ar_op op, const char *text)
{
    return strstr(text, "C(") || op == AR_OP_pow || op == AR_OP_exp2 || op == AR_OP_log2 ||
           op == AR_OP_log10;
}

bool ar_dialect_has(const ar_dialect *dialect, ar_op op, arras_dtype dtype)
{
    bool has_all = dialect->complex_functions || ar_dtype_class(dtype) != AR_CLASS_COMPLEX;

    return has_all || !needs_complex_functions(op, value_text(dialect, op, dtype));
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

static void print_op(ar_text *out, const ar_dialect *dialect, const ar_op_set *set, ar_op op,
                     arras_dtype dtype)
{
    static const char *const names[] = { "x", "y", "z" };

    if (!ar_op_value(op, dtype) || (dialect->print_op && dialect->print_op(out, set, op, dtype)))
        return;
    ar_text_printf(out, "static inline %s op_%s_%s(",
                   ar_dialect_type(dialect, result_of(op, dtype)), ar_op_name(op),
                   ar_dtype_name(dtype));
    for (int i = 0; i < ar_op_arity(op); i++) /* the condition of where is a bool */
        ar_text_printf(out, "%s%s %s", i ? ", " : "", op == AR_OP_where && i == 0 ? "uint8_t" : "T",
                       names[i]);
    ar_text_printf(out, ") { return %s; }\n", value_text(dialect, op, dtype));
}

/* Few operations call the helpers of scalar_kit.h, and reading those takes a compiler longer than a
 * short kernel. */
static bool needs_kit(const ar_dialect *dialect, const ar_op_set *set, arras_dtype dtype)
{
    for (int op = 0; op < AR_OP_END; op++)
        if (set->ops[op][dtype] && calls_helper(dialect, (ar_op)op, dtype))
            return true;
    return false;
}

/* The helpers of a type, as scalar.c makes them. */
static void print_kit(ar_text *out, const ar_dialect *dialect, arras_dtype dtype)
{
    const char *name = ar_dtype_name(dtype), *suffix = dialect->words[dtype].suffix;
    ar_class class = ar_dtype_class(dtype);

    if (ar_dtype_is_integer(dtype))
        ar_text_printf(out, "INTEGER_KIT(%s, %s, %s, %d, %d)\n", name,
                       ar_dialect_type(dialect, dtype), dialect->words[dtype].wrapping,
                       8 * (int)ar_dtype_size(dtype), class == AR_CLASS_SIGNED);
    else if (class == AR_CLASS_REAL)
        ar_text_printf(out, "REAL_KIT(%s, %s, %s)\n", name, ar_dialect_type(dialect, dtype),
                       suffix);
    else if (class == AR_CLASS_COMPLEX)
        ar_text_printf(out, "%s(%s, %s, %s, %s)\n", dialect->complex_kit, name,
                       ar_dialect_type(dialect, dtype),
                       ar_dialect_type(dialect, ar_dtype_real(dtype)), suffix);
}

static void print_ops_of_type(ar_text *out, const ar_dialect *dialect, const ar_op_set *set,
                              arras_dtype dtype)
{
    const ar_words_of_type *w = &dialect->words[dtype];
    bool                    used = false;

    for (int op = 0; op < AR_OP_END; op++)
        used = used || set->ops[op][dtype];
    if (!used)
        return;
    if (needs_kit(dialect, set, dtype))
        print_kit(out, dialect, dtype);
    ar_text_printf(out,
                   "#define T %s\n#define U %s\n#define FN(name) name##_%s\n"
                   "#define M(name) name%s%s\n",
                   w->type, w->wrapping, ar_dtype_name(dtype), *w->suffix ? "##" : "", w->suffix);
    if (dialect->pairs)
        ar_text_add(out, "#define C(name) FN(c##name)\n");
    else
        ar_text_printf(out, "#define C(name) c##name%s%s\n", *w->suffix ? "##" : "", w->suffix);
    for (int op = 0; op < AR_OP_END; op++)
        if (set->ops[op][dtype])
            print_op(out, dialect, set, (ar_op)op, dtype);
    ar_text_add(out, "#undef T\n#undef U\n#undef FN\n#undef M\n#undef C\n");
}

/* ---- Casts ----------------------------------------------------------------------------------- */

/* Real to integer: towards 0, nan gives 0, too large gives the end of the range.  The powers of two
 * that bound it are exact in f32 and f64, the largest integers themselves may not be. */
static void print_saturation(ar_text *out, const ar_dialect *dialect, arras_dtype to)
{
    int         bits = 8 * (int)ar_dtype_size(to);
    bool        is_signed = ar_dtype_class(to) == AR_CLASS_SIGNED;
    const char *type = ar_dialect_type(dialect, to), *ul = dialect->ul;

    if (is_signed)
        ar_text_printf(out,
                       "re != re ? 0 : re >= 0x1p%d ? (%s)((1%s << %d) - 1) : "
                       "re <= -0x1p%d ? (%s)(-(int64_t)((1%s << %d) - 1) - 1) : (%s)re",
                       bits - 1, type, ul, bits - 1, bits - 1, type, ul, bits - 1, type);
    else
        ar_text_printf(out, "!(re > 0) ? 0 : re >= 0x1p%d ? (%s)-1 : (%s)re", bits, type, type);
}

static bool is_complex(arras_dtype dtype) { return ar_dtype_class(dtype) == AR_CLASS_COMPLEX; }

/* Where complex numbers are pairs and one of the two is one: true, and all but the `}` is printed,
 * or false, and `re` is what there is to cast. */
static bool print_pair_cast(ar_text *out, const ar_dialect *dialect, arras_dtype from,
                            arras_dtype to)
{
    const char *part = ar_dialect_type(dialect, ar_dtype_real(to));
    const char *type = ar_dialect_type(dialect, to);

    if (is_complex(from) && to == ARRAS_BOOL)
        ar_text_add(out, "return x.re != 0 || x.im != 0; ");
    else if (is_complex(from) && is_complex(to))
        ar_text_printf(out, "return (%s){ (%s)x.re, (%s)x.im }; ", type, part, part);
    else if (is_complex(to))
        ar_text_printf(out, "return (%s){ (%s)x, 0 }; ", type, part);
    else if (is_complex(from))
        ar_text_printf(out, "%s re = x.re; ", ar_dialect_type(dialect, ar_dtype_real(from)));
    return is_complex(to) || (is_complex(from) && to == ARRAS_BOOL);
}

/* The same where they are numbers. */
static bool print_number_cast(ar_text *out, const ar_dialect *dialect, arras_dtype from,
                              arras_dtype to)
{
    if (is_complex(from) && to != ARRAS_BOOL && !is_complex(to))
        ar_text_printf(out, "%s re = __real__ x; ", ar_dialect_type(dialect, ar_dtype_real(from)));
    else if (is_complex(from))
        ar_text_printf(out, "%s re = x; ", ar_dialect_type(dialect, from));
    if (to == ARRAS_BOOL)
        ar_text_add(out, "return x != 0; ");
    else if (from == ARRAS_C128 && to == ARRAS_C64)
        ar_text_add(out, dialect->narrowed);
    return to == ARRAS_BOOL || (from == ARRAS_C128 && to == ARRAS_C64);
}

static void print_cast(ar_text *out, const ar_dialect *dialect, arras_dtype from, arras_dtype to)
{
    bool from_real = is_complex(from) || ar_dtype_class(from) == AR_CLASS_REAL;

    ar_text_printf(out, "static inline %s cast_%s_%s(%s x) { ", ar_dialect_type(dialect, to),
                   ar_dtype_name(from), ar_dtype_name(to), ar_dialect_type(dialect, from));
    if (from_real && !is_complex(from))
        ar_text_printf(out, "%s re = x; ", ar_dialect_type(dialect, from));
    if ((dialect->pairs ? print_pair_cast : print_number_cast)(out, dialect, from, to)) {
        ar_text_add(out, "}\n");
        return;
    }
    ar_text_add(out, "return ");
    if (to == ARRAS_BOOL)
        ar_text_add(out, "x != 0");
    else if (from_real && ar_dtype_is_integer(to))
        print_saturation(out, dialect, to);
    else if (from == ARRAS_I64 && to == ARRAS_F64) /* rounded once, and there are vectors for it */
        ar_text_add(out, "(double)(int32_t)(x >> 32) * 0x1p32 + (double)(uint32_t)x");
    else
        ar_text_printf(out, "(%s)%s", ar_dialect_type(dialect, to), from_real ? "re" : "x");
    ar_text_add(out, "; }\n");
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

static void print_kits(ar_text *out, const ar_dialect *dialect, const ar_op_set *set)
{
    bool with_kit = false, with_pairs = false;

    for (int d = ARRAS_NO_DTYPE + 1; d < ARRAS_DTYPE_END; d++) {
        bool needed = needs_kit(dialect, set, (arras_dtype)d);

        with_kit = with_kit || needed;
        with_pairs = with_pairs || (needed && is_complex((arras_dtype)d));
    }
    if (with_kit)
        ar_text_add(out, ar_kit_scalar);
    if (with_pairs && dialect->pairs)
        ar_text_add(out, ar_kit_pairs);
}

void ar_words_ops_print(ar_text *out, const ar_dialect *dialect, const ar_op_set *set)
{
    if (dialect->casts_both_ways && has_casts(set, true) && has_casts(set, false))
        ar_text_add(out, dialect->casts_both_ways);
    for (int i = 0; i < (int)AR_COUNT(dialect->heads) && dialect->heads[i]; i++)
        ar_text_add(out, dialect->heads[i]);
    print_kits(out, dialect, set);
    for (int d = ARRAS_NO_DTYPE + 1; d < ARRAS_DTYPE_END; d++)
        print_ops_of_type(out, dialect, set, (arras_dtype)d);
    for (int from = ARRAS_NO_DTYPE + 1; from < ARRAS_DTYPE_END; from++)
        for (int to = ARRAS_NO_DTYPE + 1; to < ARRAS_DTYPE_END; to++)
            if (set->casts[from][to])
                print_cast(out, dialect, (arras_dtype)from, (arras_dtype)to);
}
