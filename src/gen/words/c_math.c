/* c_math.c -- functions of the mathematical library that exist for vectors (ir/vector_math.c).
 *
 * Every cell goes through the vector function, so that its bits do not depend on where a segment of
 * cells starts or ends, and are those of the evaluator. */
#include "gen/words/dialect.h"

#include <stdio.h>

bool ar_c_is_vector_math(ar_op op, arras_dtype dtype)
{
    return ar_vector_math_name(op, dtype) != NULL;
}

const char *const *ar_c_libraries(void)
{
    static const char *const with[] = { "-lmvec", "-lm", "-lgcc", NULL };
    static const char *const without[] = { "-lm", "-lgcc", NULL };

    return ar_vector_math_name(AR_OP_exp, ARRAS_F64) ? with : without;
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

const char *ar_c_vector_math_call(ar_op op, arras_dtype dtype)
{
    if (op == AR_OP_pow)
        return dtype == ARRAS_F64 ? "power_v4f64" : "power_v8f32";
    return ar_vector_math_name(op, dtype);
}

/* Some powers are products, quotients and roots (scalar_kit.h).  Twice the exponents of those are
 * whole numbers from -4 to 8, but for three: what is added and taken away rounds to a whole one.
 * That most exponents are none of them must be seen at once. */
static void print_power(ar_text *out, arras_dtype dtype, const char *vector, int lanes)
{
    const char *type = ar_c_type(dtype), *name = ar_dtype_name(dtype);
    const char *large = dtype == ARRAS_F64 ? "0x1.8p52" : "0x1.8p23f";
    char        any[48];

    snprintf(any, sizeof any, "__builtin_ia32_movmskp%c256((%s)", dtype == ARRAS_F64 ? 'd' : 's',
             vector);
    ar_text_printf(
        out,
        "static %s power_%s(%s x, %s y)\n{\n"
        "%s power = %s(x, y), twice = y + y, whole = (twice + %s) - %s, off = twice - 2;\n"
        "if (%s((whole == twice) & (off * off <= 36))) &&\n"
        "%s((whole == twice) & (off * off <= 36) & (off != -5) & (off != 3) & "
        "(off != 5))))\n"
        "for (int i = 0; i < %d; i++) {\nconst %s e = y[i];\n"
        "if (is_simple_power_%s(e)) power[i] = simple_power_%s(x[i], e);\n}\n"
        "return power;\n}\n",
        vector, vector, vector, vector, vector, ar_vector_math_name(AR_OP_pow, dtype), large, large,
        any, any, lanes, type, name, name);
}

void ar_c_vector_math_print(ar_text *out, ar_op op, arras_dtype dtype, bool rows)
{
    const char *function = ar_c_vector_math_call(op, dtype), *type = ar_c_type(dtype);
    const char *vector = dtype == ARRAS_F64 ? "v4f64" : "v8f32";
    bool        two = ar_op_arity(op) == 2;
    int         lanes = dtype == ARRAS_F64 ? 4 : 8;

    ar_text_printf(out, "%s %s(%s%s%s);\n", vector, ar_vector_math_name(op, dtype), vector,
                   two ? ", " : "", two ? vector : "");
    if (op == AR_OP_pow)
        print_power(out, dtype, vector, lanes);
    ar_text_printf(out, "static inline %s op_%s_%s(%s x%s%s%s) { return %s(", type, ar_op_name(op),
                   ar_dtype_name(dtype), type, two ? ", " : "", two ? type : "", two ? " y" : "",
                   function);
    print_broadcast(out, vector, lanes, "x");
    if (two) {
        ar_text_add(out, ", ");
        print_broadcast(out, vector, lanes, "y");
    }
    ar_text_add(out, ")[0]; }\n");
    if (rows)
        print_row(out, op, dtype, function, vector, lanes);
}
