/* number.c -- numbers in texts: the shortest digits that read back to the same bits, in any locale.
 * The C library only ever sees digits and an exponent, never a decimal point. */
#include "ir/ir.h"

#include <float.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- Printing -------------------------------------------------------------------------------- */

enum { FEW_DIGITS_F32 = 6, ALL_DIGITS_F32 = 9, FEW_DIGITS_F64 = 15, ALL_DIGITS_F64 = 17 };

typedef struct {
    char digits[ALL_DIGITS_F64 + 1];
    int  count;
    int  exponent; /* d.ddd x 10^exponent */
} decimal;

static bool is_digit(char c) { return c >= '0' && c <= '9'; }

/* Digits of a finite x > 0, without zeros at the end; whatever the point looks like, it is passed
 * over. */
static decimal decimal_of(double x, int count)
{
    char        text[64];
    const char *c = text;
    decimal     d = { .count = 0 };

    snprintf(text, sizeof text, "%.*e", count - 1, x);
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
    return single ? (double)strtof(text, NULL) : strtod(text, NULL);
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

static void print_real(ar_text *out, double x, bool single)
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

static void print_complex(ar_text *out, double re, double im, bool single)
{
    ar_text_add(out, "(");
    print_real(out, re, single);
    ar_text_add(out, ", ");
    print_real(out, im, single);
    ar_text_add(out, ")");
}

/* The cell may lie anywhere; it is copied before it is looked at. */
void ar_value_print(ar_text *out, arras_dtype dtype, const void *cell)
{
    ar_value value = { .bits = { 0, 0 } }, wide;
    float    single[2];

    memcpy(&value, cell, ar_dtype_size(dtype));
    memcpy(single, &value, sizeof single);
    switch (ar_dtype_class(dtype)) {
    case AR_CLASS_BOOL: ar_text_add(out, value.b ? "true" : "false"); break;
    case AR_CLASS_SIGNED:
        ar_cell_cast(ARRAS_I64, &wide, dtype, &value);
        ar_text_printf(out, "%" PRId64, wide.i);
        break;
    case AR_CLASS_UNSIGNED:
        ar_cell_cast(ARRAS_U64, &wide, dtype, &value);
        ar_text_printf(out, "%" PRIu64, (uint64_t)wide.i);
        break;
    case AR_CLASS_REAL:
        print_real(out, dtype == ARRAS_F32 ? (double)single[0] : value.f, dtype == ARRAS_F32);
        break;
    case AR_CLASS_COMPLEX:
        if (dtype == ARRAS_C64)
            print_complex(out, (double)single[0], (double)single[1], true);
        else
            print_complex(out, value.parts[0], value.parts[1], false);
        break;
    case AR_CLASS_NONE: ar_text_add(out, "?"); break;
    }
}

/* ---- Reading --------------------------------------------------------------------------------- */

static bool is_word(const char *text, size_t length, const char *word)
{
    return strlen(word) == length && memcmp(text, word, length) == 0;
}

static const char *read_bool(void *cell, bool negative, const char *text, size_t length)
{
    bool truth = is_word(text, length, "true");

    if (negative || (!truth && !is_word(text, length, "false")))
        return "is neither true nor false";
    *(uint8_t *)cell = truth;
    return NULL;
}

static const char *read_magnitude(uint64_t *out, const char *text, size_t length)
{
    uint64_t value = 0;

    for (size_t i = 0; i < length; i++) {
        if (!is_digit(text[i]))
            return "is not a whole number";
        if (__builtin_mul_overflow(value, 10u, &value) ||
            __builtin_add_overflow(value, (uint64_t)(text[i] - '0'), &value))
            return "is out of range";
    }
    *out = value;
    return NULL;
}

static const char *read_integer(void *cell, arras_dtype dtype, bool negative, const char *text,
                                size_t length)
{
    bool        is_signed = ar_dtype_class(dtype) == AR_CLASS_SIGNED;
    int         bits = 8 * (int)ar_dtype_size(dtype) - is_signed;
    uint64_t    value, most = UINT64_MAX >> (64 - bits);
    const char *wrong = read_magnitude(&value, text, length);

    if (wrong)
        return wrong;
    if (negative)
        most = is_signed ? most + 1 : 0;
    if (value > most)
        return "is out of range";
    if (negative)
        value = 0 - value;
    ar_cell_cast(dtype, cell, is_signed ? ARRAS_I64 : ARRAS_U64, &value);
    return NULL;
}

/* The exponent behind the digits; what no number could need is cut down to a large one. */
static int read_exponent(const char *text, size_t length)
{
    enum { ABSURD = 100000 };
    bool   negative = length > 0 && text[0] == '-';
    size_t i = length > 0 && (text[0] == '-' || text[0] == '+');
    int    exponent = 0;

    for (; i < length && exponent < ABSURD; i++)
        exponent = 10 * exponent + (text[i] - '0');
    return negative ? -exponent : exponent;
}

/* "12.5e3" becomes "125e2": the same number, without the point that a locale may change. */
static const char *remove_point(char *out, size_t room, const char *text, size_t length)
{
    size_t used = 0, i = 0, fraction = 0;
    bool   behind_point = false;

    for (; i < length && text[i] != 'e' && text[i] != 'E'; i++) {
        if (text[i] == '.' && !behind_point) {
            behind_point = true;
        } else if (is_digit(text[i])) {
            out[used++] = text[i];
            fraction += behind_point;
        } else {
            return "is not a number";
        }
    }
    if (used == 0)
        return "is not a number";
    i += i < length;
    snprintf(out + used, room - used, "e%d", read_exponent(text + i, length - i) - (int)fraction);
    return NULL;
}

static const char *read_digits(double *out, bool single, const char *text, size_t length)
{
    char        plain[AR_MAX_DIGITS + 16];
    const char *wrong;

    if (length > AR_MAX_DIGITS)
        return "has more digits than any number needs";
    wrong = remove_point(plain, sizeof plain, text, length);
    if (wrong)
        return wrong;
    *out = single ? (double)strtof(plain, NULL) : strtod(plain, NULL);
    return isinf(*out) ? "is out of range" : NULL;
}

static const char *read_real(void *cell, bool single, bool negative, const char *text,
                             size_t length)
{
    double      value = 0;
    const char *wrong = NULL;

    if (is_word(text, length, "inf"))
        value = (double)INFINITY;
    else if (is_word(text, length, "nan"))
        value = (double)NAN;
    else
        wrong = read_digits(&value, single, text, length);
    if (wrong)
        return wrong;
    value = negative && !isnan(value) ? -value : value;
    if (single)
        *(float *)cell = (float)value; /* exact: it was rounded when its digits were read */
    else
        *(double *)cell = value;
    return NULL;
}

const char *ar_number_read(void *cell, arras_dtype dtype, bool negative, const char *text,
                           size_t length)
{
    switch (ar_dtype_class(dtype)) {
    case AR_CLASS_BOOL: return read_bool(cell, negative, text, length);
    case AR_CLASS_SIGNED:
    case AR_CLASS_UNSIGNED: return read_integer(cell, dtype, negative, text, length);
    case AR_CLASS_REAL: return read_real(cell, dtype == ARRAS_F32, negative, text, length);
    case AR_CLASS_COMPLEX:
    case AR_CLASS_NONE: break;
    }
    return "has no type";
}
