/* number_text.c -- floating-point numbers as text. */
#include "cmd/io/number_text.h"

#include <float.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- Digits ---------------------------------------------------------------------------------- */

/* d.ddd * 10^exponent; no zeros at the end, but one digit at least. */
typedef struct {
    int  count, exponent;
    char digits[32];
} decimal;

/* Rounded correctly to `count` digits. */
static decimal round_to(double x, int count)
{
    decimal d = { .count = count };
    char    text[48];

    snprintf(text, sizeof text, "%.*e", count - 1, fabs(x));
    d.digits[0] = text[0];
    memcpy(d.digits + 1, text + 2, (size_t)count - 1);
    d.exponent = atoi(strchr(text, 'e') + 1);
    while (d.count > 1 && d.digits[d.count - 1] == '0')
        d.count--;
    return d;
}

static bool reads_back(const decimal *d, double x, bool single)
{
    char text[48];

    snprintf(text, sizeof text, "%c.%.*se%d", d->digits[0], d->count - 1, d->digits + 1,
             d->exponent);
    return single ? strtof(text, NULL) == (float)fabs(x) : strtod(text, NULL) == fabs(x);
}

/* The next larger number of as many digits; not for 99..9, which has a shorter neighbour. */
static bool next_up(decimal *d, int count)
{
    memset(d->digits + d->count, '0', (size_t)(count - d->count));
    d->count = count;
    if (d->digits[count - 1] == '9')
        return false;
    d->digits[count - 1]++;
    return true;
}

/* Numbers just below a power of two lie closer together than those above.  The digits that are
 * nearest may then belong to the neighbour below, while the next ones up read back. */
static bool is_power_of_two(double x)
{
    int exponent;

    return frexp(fabs(x), &exponent) == 0.5;
}

static decimal shortest(double x, bool single)
{
    bool is_tiny = fabs(x) < (single ? (double)FLT_MIN : DBL_MIN);
    int  most = single ? FLT_DECIMAL_DIG : DBL_DECIMAL_DIG;
    /* With this many digits, all that a decimal says is kept: zeros at the end are not needed. */
    int     sure = single ? FLT_DIG : DBL_DIG;
    decimal d = round_to(x, 1);

    for (int n = is_tiny ? 1 : sure; n <= most; n++) {
        d = round_to(x, n);
        if (reads_back(&d, x, single))
            break;
        decimal up = d;
        if (is_power_of_two(x) && next_up(&up, n) && reads_back(&up, x, single))
            return up;
    }
    return d;
}

/* ---- Layout ---------------------------------------------------------------------------------- */

static char *put_sign(char *out, double x, bool plus)
{
    if (signbit(x))
        *out++ = '-';
    else if (plus)
        *out++ = '+';
    return out;
}

static char *put_zeros(char *out, int count)
{
    for (int i = 0; i < count; i++)
        *out++ = '0';
    return out;
}

static char *put_digits(char *out, const decimal *d, int first, int last)
{
    for (int i = first; i < last; i++)
        *out++ = i < d->count ? d->digits[i] : '0';
    return out;
}

/* The digits of d before and after the point, then zeros. */
static void lay_out(char *out, const decimal *d, int min_digits)
{
    int whole = d->exponent + 1; /* digits before the point */
    int after = d->count > whole ? d->count - whole : 0;

    out = whole > 0 ? put_digits(out, d, 0, whole) : put_zeros(out, 1);
    *out++ = '.';
    if (whole < 0)
        out = put_zeros(out, -whole);
    out = put_digits(out, d, whole > 0 ? whole : 0, d->count > whole ? d->count : whole);
    out = put_zeros(out, min_digits - after);
    *out = 0;
}

/* Fixed to `precision` digits after the point, with no more zeros than asked for. */
static void lay_out_rounded(char *out, double x, const cmd_number_form *form)
{
    int n = snprintf(out, CMD_NUMBER_ROOM - 1, "%.*f", form->precision, fabs(x));

    if (form->precision == 0)
        strcpy(out + n++, ".");
    for (int after = form->precision; after > form->min_digits && out[n - 1] == '0'; after--)
        out[--n] = 0;
}

void cmd_number_positional(char out[CMD_NUMBER_ROOM], double x, const cmd_number_form *form)
{
    decimal d = shortest(x, form->single);

    out = put_sign(out, x, form->plus);
    if (form->precision >= 0 && d.count - 1 - d.exponent > form->precision)
        lay_out_rounded(out, x, form);
    else
        lay_out(out, &d, form->min_digits);
}

void cmd_number_scientific(char out[CMD_NUMBER_ROOM], double x, const cmd_number_form *form)
{
    decimal d = shortest(x, form->single);

    if (form->precision >= 0 && d.count - 1 > form->precision)
        d = round_to(x, form->precision + 1);
    else if (d.count - 1 < form->min_digits)
        d = round_to(x, form->min_digits + 1); /* more digits are true ones, not zeros */
    int exponent = d.exponent;
    d.exponent = 0;
    out = put_sign(out, x, form->plus);
    lay_out(out, &d, form->min_digits);
    sprintf(out + strlen(out), "e%c%0*d", exponent < 0 ? '-' : '+', form->exponent, abs(exponent));
}

/* ---- One number by itself -------------------------------------------------------------------- */

static void cut_point(char *text)
{
    char *point = strchr(text, '.');

    if (point && (!point[1] || point[1] == 'e'))
        memmove(point, point + 1, strlen(point));
}

void cmd_number_alone(char out[CMD_NUMBER_ROOM], double x, bool single, bool plus, bool with_point)
{
    cmd_number_form form = { .single = single, .plus = plus, .precision = -1, .exponent = 2 };
    double          size = fabs(x);

    if (!isfinite(x)) {
        const char *sign = isinf(x) && x < 0 ? "-" : plus ? "+" : "";

        sprintf(out, "%s%s", sign, isnan(x) ? "nan" : "inf");
        return;
    }
    if (size == 0 || (size >= 1e-4 && size < 1e16)) {
        form.min_digits = with_point;
        cmd_number_positional(out, x, &form);
    } else {
        cmd_number_scientific(out, x, &form);
    }
    cut_point(out);
}
