/* real_text.c -- numbers in texts, the same in every locale of the process: 2.5 is never 2,5.  All
 * else that formats or reads real numbers goes through here. */
#include "base/base.h"

#include <float.h>
#include <locale.h>
#include <math.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- The locale of the calling thread -------------------------------------------------------- */

/* Made once and never freed.  Without memory for it the thread keeps its own. */
static locale_t plain_locale(void)
{
    static _Atomic(locale_t) made;
    locale_t                 plain = atomic_load(&made), none = (locale_t)0;

    if (plain)
        return plain;
    plain = newlocale(LC_ALL_MASK, "C", (locale_t)0);
    if (plain && !atomic_compare_exchange_strong(&made, &none, plain)) {
        freelocale(plain);
        plain = none;
    }
    return plain;
}

ar_locale ar_locale_plain(void)
{
    locale_t plain = plain_locale();

    return (ar_locale){ plain ? (void *)uselocale(plain) : NULL };
}

void ar_locale_back(ar_locale before)
{
    if (before.handle)
        uselocale((locale_t)before.handle);
}

int ar_vsnprintf(char *out, size_t room, const char *format, va_list args)
{
    ar_locale before = ar_locale_plain();
    int       length = vsnprintf(out, room, format, args);

    ar_locale_back(before);
    return length;
}

int ar_snprintf(char *out, size_t room, const char *format, ...)
{
    va_list args;
    int     length;

    va_start(args, format);
    length = ar_vsnprintf(out, room, format, args);
    va_end(args);
    return length;
}

double ar_real_read(const char *text, char **end, bool single)
{
    ar_locale before = ar_locale_plain();
    double    value = single ? (double)strtof(text, end) : strtod(text, end);

    ar_locale_back(before);
    return value;
}

/* ---- The shortest digits
 * -------------------------------------------------------------------------------- */

enum { FEW_DIGITS_F32 = 6, ALL_DIGITS_F32 = 9, FEW_DIGITS_F64 = 15, ALL_DIGITS_F64 = 17 };

typedef struct {
    char digits[ALL_DIGITS_F64 + 1];
    int  count;
    int  exponent; /* d.ddd x 10^exponent */
} decimal;

static bool is_digit(char c) { return c >= '0' && c <= '9'; }

/* Digits of a finite x > 0, without zeros at the end. */
static decimal decimal_of(double x, int count)
{
    char        text[64];
    const char *c = text;
    decimal     d = { .count = 0 };

    ar_snprintf(text, sizeof text, "%.*e", count - 1, x);
    for (; *c && *c != 'e'; c++)
        if (is_digit(*c) && d.count < ALL_DIGITS_F64)
            d.digits[d.count++] = *c;
    d.exponent = (int)strtol(*c ? c + 1 : c, NULL, 10);
    while (d.count > 1 && d.digits[d.count - 1] == '0')
        d.count--;
    d.digits[d.count] = '\0';
    return d;
}

static double decimal_value(const decimal *d, bool single)
{
    char text[64];

    snprintf(text, sizeof text, "%se%d", d->digits, d->exponent - (d->count - 1));
    return ar_real_read(text, NULL, single);
}

/* FEW digits suit any number but those near 0, where fewer may do: there all counts are tried. */
static decimal shortest(double x, bool single)
{
    int     all = single ? ALL_DIGITS_F32 : ALL_DIGITS_F64;
    int     few = single ? FEW_DIGITS_F32 : FEW_DIGITS_F64;
    int     count = x < (single ? (double)FLT_MIN : DBL_MIN) ? 1 : few;
    decimal d = decimal_of(x, count);

    while (count < all && decimal_value(&d, single) != x)
        d = decimal_of(x, ++count);
    return d;
}

static void print_zeros(ar_text *out, int count)
{
    for (int i = 0; i < count; i++)
        ar_text_add(out, "0");
}

static void print_digits(ar_text *out, const decimal *d, int whole)
{
    int before = whole < d->count ? whole : d->count;

    ar_text_put(out, d->digits, (size_t)before);
    print_zeros(out, whole - before);
    if (before < d->count)
        ar_text_printf(out, ".%s", d->digits + before);
}

static void print_decimal(ar_text *out, const decimal *d)
{
    if (d->exponent >= 0 && d->exponent < 16) {
        print_digits(out, d, d->exponent + 1);
    } else if (d->exponent < 0 && d->exponent > -5) {
        ar_text_add(out, "0.");
        print_zeros(out, -d->exponent - 1);
        ar_text_add(out, d->digits);
    } else {
        print_digits(out, d, 1);
        ar_text_printf(out, "e%d", d->exponent);
    }
}

void ar_text_add_real(ar_text *out, double x, bool single)
{
    decimal d;

    if (isnan(x)) {
        ar_text_add(out, "nan");
        return;
    }
    if (signbit(x))
        ar_text_add(out, "-");
    if (isinf(x)) {
        ar_text_add(out, "inf");
    } else if (x == 0) {
        ar_text_add(out, "0");
    } else {
        d = shortest(fabs(x), single);
        print_decimal(out, &d);
    }
}
