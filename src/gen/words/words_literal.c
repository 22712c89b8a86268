/* words_literal.c -- numbers as text, exact and the same in every locale. */
#include "gen/words/words.h"

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

static void print_real(ar_text *out, const ar_dialect *dialect, double x)
{
    if (x != x)
        ar_text_add(out, dialect->nan);
    else if (isinf(x))
        ar_text_printf(out, "%s%s", x < 0 ? "-" : "", dialect->infinity);
    else
        print_finite(out, x);
}

static void print_integer(ar_text *out, const ar_dialect *dialect, int64_t x)
{
    if (x == INT64_MIN)
        ar_text_printf(out, "(-(int64_t)%" PRId64 "%s - 1)", INT64_MAX, dialect->l);
    else
        ar_text_printf(out, "(int64_t)%" PRId64 "%s", x, dialect->l);
}

void ar_w_literal_print(ar_text *out, const ar_dialect *dialect, arras_expr literal)
{
    double parts[2];

    memcpy(parts, literal->ints, sizeof parts);
    if (literal->type.dtype == ARRAS_I64) {
        print_integer(out, dialect, literal->ints[0]);
    } else if (literal->type.dtype == ARRAS_F64) {
        print_real(out, dialect, parts[0]);
    } else {
        ar_text_add(out, dialect->complex[0]);
        print_real(out, dialect, parts[0]);
        ar_text_add(out, dialect->complex[1]);
        print_real(out, dialect, parts[1]);
        ar_text_add(out, dialect->complex[2]);
    }
}
