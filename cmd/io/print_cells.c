/* print_cells.c -- cells of one array in one format, by the rules of NumPy: 8 digits after the
 * point, exponents where sizes differ by more than 1000 or leave 1e-4 .. 1e8. */
#include "cmd/io/print_cells.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#define PRECISION 8

/* ---- Reading cells --------------------------------------------------------------------------- */

static double real_part(arras_dtype dtype, const void *cell, int part)
{
    bool single = dtype == ARRAS_F32 || dtype == ARRAS_C64;

    return single ? (double)((const float *)cell)[part] : ((const double *)cell)[part];
}

static bool is_complex(arras_dtype dtype) { return dtype == ARRAS_C64 || dtype == ARRAS_C128; }

static bool is_float(arras_dtype dtype)
{
    return dtype == ARRAS_F32 || dtype == ARRAS_F64 || is_complex(dtype);
}

static int print_integer(char *out, arras_dtype dtype, const void *cell)
{
    switch (dtype) {
    case ARRAS_I8: return sprintf(out, "%d", *(const int8_t *)cell);
    case ARRAS_I16: return sprintf(out, "%d", *(const int16_t *)cell);
    case ARRAS_I32: return sprintf(out, "%" PRId32, *(const int32_t *)cell);
    case ARRAS_I64: return sprintf(out, "%" PRId64, *(const int64_t *)cell);
    case ARRAS_U8: return sprintf(out, "%d", *(const uint8_t *)cell);
    case ARRAS_U16: return sprintf(out, "%d", *(const uint16_t *)cell);
    case ARRAS_U32: return sprintf(out, "%" PRIu32, *(const uint32_t *)cell);
    case ARRAS_U64: return sprintf(out, "%" PRIu64, *(const uint64_t *)cell);
    default: return sprintf(out, "%s", *(const uint8_t *)cell ? "True" : "False");
    }
}

/* ---- Floats: what range, what width ---------------------------------------------------------- */

static void survey(cmd_float_format *f, double x)
{
    double size = fabs(x);

    f->has_nan |= isnan(x);
    f->has_inf |= isinf(x);
    f->has_minus_inf |= isinf(x) && x < 0;
    if (!isfinite(x))
        return;
    f->has_finite = true;
    if (size == 0)
        return;
    if (f->most == 0 || size < f->least)
        f->least = size;
    if (size > f->most)
        f->most = size;
}

/* In the type of the cells, as NumPy 2 does. */
static bool needs_exponent(const cmd_float_format *f)
{
    if (f->most == 0)
        return false;
    double ratio = f->single ? (double)((float)f->most / (float)f->least) : f->most / f->least;
    double small = f->single ? (double)1e-4f : 1e-4;
    return f->most >= 1e8 || f->least < small || ratio > 1000;
}

static cmd_number_form number_form(const cmd_float_format *f)
{
    return (cmd_number_form){
        .single = f->single, .plus = f->plus, .precision = f->precision, .exponent = f->exponent
    };
}

static void print_finite(char *out, const cmd_float_format *f, double x, int min_digits)
{
    cmd_number_form form = number_form(f);

    form.min_digits = min_digits;
    if (f->scientific)
        cmd_number_scientific(out, x, &form);
    else
        cmd_number_positional(out, x, &form);
}

static int max_int(int a, int b) { return a > b ? a : b; }

static void measure(cmd_float_format *f, double x)
{
    char text[CMD_NUMBER_ROOM];

    if (!isfinite(x))
        return;
    print_finite(text, f, x, 0);
    const char *point = strchr(text, '.');
    const char *e = strchr(point, 'e');
    f->left = max_int(f->left, (int)(point - text));
    f->right = max_int(f->right, (int)(e ? (size_t)(e - point) : strlen(point)) - 1);
    if (e)
        f->exponent = max_int(f->exponent, (int)strlen(e) - 2);
}

/* Widths are known: what is not a number must fit too. */
static void fit(cmd_float_format *f)
{
    int after = 1 + f->right + (f->scientific ? f->exponent + 2 : 0); /* with point and exponent */

    if (f->has_finite && f->scientific)
        f->precision = f->right;
    if (f->has_nan || f->has_inf)
        f->left = max_int(f->left, 3 + (f->plus || f->has_minus_inf) - after);
    if (!f->has_finite)
        f->left = max_int(f->left, 3 - after);
}

static int whole_width(const cmd_float_format *f)
{
    return f->left + 1 + f->right + (f->scientific ? f->exponent + 2 : 0);
}

static void print_float(char *out, const cmd_float_format *f, double x)
{
    char text[CMD_NUMBER_ROOM];

    if (!isfinite(x)) {
        cmd_number_alone(text, x, f->single, f->plus, false);
        sprintf(out, "%*s", whole_width(f), text);
        return;
    }
    print_finite(text, f, x, f->scientific ? f->precision : 0);
    int before = (int)(strchr(text, '.') - text);
    sprintf(out, "%*s%-*s", f->left - before, "", whole_width(f) - f->left + before, text);
}

/* ---- Cells ----------------------------------------------------------------------------------- */

cmd_cell_format cmd_cells_start(arras_dtype dtype)
{
    cmd_float_format part = { .single = dtype == ARRAS_F32 || dtype == ARRAS_C64,
                              .precision = PRECISION,
                              .exponent = 2 };
    cmd_cell_format  f = { .dtype = dtype, .re = part, .im = part };

    f.im.plus = true;
    return f;
}

void cmd_cells_survey(cmd_cell_format *f, const void *cell)
{
    if (is_float(f->dtype))
        survey(&f->re, real_part(f->dtype, cell, 0));
    if (is_complex(f->dtype))
        survey(&f->im, real_part(f->dtype, cell, 1));
}

void cmd_cells_decide(cmd_cell_format *f)
{
    f->re.scientific = needs_exponent(&f->re);
    f->im.scientific = needs_exponent(&f->im);
}

void cmd_cells_measure(cmd_cell_format *f, const void *cell)
{
    char text[32];

    if (!is_float(f->dtype))
        f->width =
            f->dtype == ARRAS_BOOL ? 5 : max_int(f->width, print_integer(text, f->dtype, cell));
    else
        measure(&f->re, real_part(f->dtype, cell, 0));
    if (is_complex(f->dtype))
        measure(&f->im, real_part(f->dtype, cell, 1));
}

void cmd_cells_fit(cmd_cell_format *f)
{
    fit(&f->re);
    fit(&f->im);
}

/* The j stands before the spaces that fill the width. */
static void print_imaginary(char *out, const cmd_float_format *f, double x)
{
    print_float(out, f, x);
    size_t length = strlen(out), end = length;

    while (end > 0 && out[end - 1] == ' ')
        end--;
    memmove(out + end + 1, out + end, length - end + 1);
    out[end] = 'j';
}

void cmd_cell_print(char out[CMD_CELL_ROOM], const cmd_cell_format *f, const void *cell)
{
    char text[32];

    if (!is_float(f->dtype)) {
        print_integer(text, f->dtype, cell);
        sprintf(out, "%*s", f->width, text);
        return;
    }
    print_float(out, &f->re, real_part(f->dtype, cell, 0));
    if (is_complex(f->dtype))
        print_imaginary(out + strlen(out), &f->im, real_part(f->dtype, cell, 1));
}

static void complex_alone(char *out, double re, double im, bool single)
{
    char first[CMD_NUMBER_ROOM], second[CMD_NUMBER_ROOM];
    bool has_real = re != 0 || signbit(re);

    cmd_number_alone(first, re, single, false, false);
    cmd_number_alone(second, im, single, has_real, false);
    if (has_real)
        sprintf(out, "(%s%sj)", first, second);
    else
        sprintf(out, "%sj", second);
}

void cmd_cell_alone(char out[CMD_CELL_ROOM], arras_dtype dtype, const void *cell)
{
    bool single = dtype == ARRAS_F32 || dtype == ARRAS_C64;

    if (!is_float(dtype))
        print_integer(out, dtype, cell);
    else if (is_complex(dtype))
        complex_alone(out, real_part(dtype, cell, 0), real_part(dtype, cell, 1), single);
    else
        cmd_number_alone(out, real_part(dtype, cell, 0), single, false, true);
}
