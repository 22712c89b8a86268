/* c_literal.c -- numbers as C text, exact and the same in every locale. */
#include "gen/c_literal.h"

#include <math.h>
#include <string.h>

/* In hexadecimal and as a whole number times a power of two: without a decimal point, which a
 * locale might change. */
static void print_finite(ar_text *out, double x)
{
    int    exponent;
    double whole = ldexp(frexp(fabs(x), &exponent), 53);

    ar_text_printf(out, "%s0x%" PRIx64 "p%d", signbit(x) ? "-" : "", (uint64_t)whole,
                   exponent - 53);
}

static void print_real(ar_text *out, double x)
{
    if (x != x)
        ar_text_add(out, "__builtin_nan(\"\")");
    else if (isinf(x))
        ar_text_add(out, x < 0 ? "-__builtin_inf()" : "__builtin_inf()");
    else
        print_finite(out, x);
}

void ar_c_literal_print(ar_text *out, arras_expr literal)
{
    double parts[2];

    memcpy(parts, literal->ints, sizeof parts);
    if (literal->type.dtype == ARRAS_I64) {
        if (literal->ints[0] == INT64_MIN)
            ar_text_add(out, "(-(int64_t)9223372036854775807ll - 1)");
        else
            ar_text_printf(out, "(int64_t)%" PRId64 "ll", literal->ints[0]);
    } else if (literal->type.dtype == ARRAS_F64) {
        print_real(out, parts[0]);
    } else {
        ar_text_add(out, "__builtin_complex((double)");
        print_real(out, parts[0]);
        ar_text_add(out, ", (double)");
        print_real(out, parts[1]);
        ar_text_add(out, ")");
    }
}
