/* number.c -- the values of cells in texts: what is printed reads back to the same bits. */
#include "ir/ir.h"

#include <math.h>
#include <string.h>

/* ---- Printing -------------------------------------------------------------------------------- */

static void print_complex(ar_text *out, double re, double im, bool single)
{
    ar_text_add(out, "(");
    ar_text_add_real(out, re, single);
    ar_text_add(out, ", ");
    ar_text_add_real(out, im, single);
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
        ar_text_add_real(out, dtype == ARRAS_F32 ? (double)single[0] : value.f, dtype == ARRAS_F32);
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

static bool is_digit(char c) { return c >= '0' && c <= '9'; }

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

static const char *read_digits(double *out, bool single, const char *text, size_t length)
{
    char plain[AR_MAX_DIGITS + 1], *end;

    if (length > AR_MAX_DIGITS)
        return "has more digits than any number needs";
    memcpy(plain, text, length);
    plain[length] = '\0';
    *out = ar_real_read(plain, &end, single);
    /* No sign of its own, no blanks, no "0x1p3". */
    if (length == 0 || *end || !(is_digit(*plain) || *plain == '.') ||
        strspn(plain, "0123456789.eE+-") != length)
        return "is not a number";
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
