/* store_zarr_fill.c -- fill values of Zarr: numbers, words for what JSON has no numbers for, bits
 * in hexadecimal (v3), bytes in base64 (v2); complex numbers are pairs of these. */
#include "base/base.h"

#if defined ARRAS_HAVE_JANSSON
#include "store/codec/half.h"
#include "store/zarr/store_zarr.h"

#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- Integers -------------------------------------------------------------------------------- */

static const struct {
    arras_dtype dtype;
    int64_t     least;
    uint64_t    most;
} ranges[] = {
    { ARRAS_BOOL, 0, 1 },
    { ARRAS_I8, INT8_MIN, INT8_MAX },
    { ARRAS_I16, INT16_MIN, INT16_MAX },
    { ARRAS_I32, INT32_MIN, INT32_MAX },
    { ARRAS_I64, INT64_MIN, INT64_MAX },
    { ARRAS_U8, 0, UINT8_MAX },
    { ARRAS_U16, 0, UINT16_MAX },
    { ARRAS_U32, 0, UINT32_MAX },
    { ARRAS_U64, 0, UINT64_MAX },
};

/* An integer as sign and bits of two's complement. */
typedef struct {
    bool     negative;
    uint64_t bits;
} integer;

static bool integer_of_text(integer *out, const char *text)
{
    char *end;

    out->negative = *text == '-';
    if (!isdigit((unsigned char)text[out->negative]))
        return false;
    errno = 0;
    out->bits = out->negative ? (uint64_t)strtoll(text, &end, 10) : strtoull(text, &end, 10);
    return errno == 0 && *end == '\0';
}

static bool integer_of(integer *out, const json_t *value)
{
    double real = json_real_value(value);

    if (json_is_string(value))
        return integer_of_text(out, json_string_value(value));
    if (json_is_real(value) && real == floor(real) && fabs(real) < 9e18)
        *out = (integer){ real < 0, (uint64_t)(int64_t)real };
    else if (json_is_integer(value))
        *out = (integer){ json_integer_value(value) < 0, (uint64_t)json_integer_value(value) };
    else if (json_is_boolean(value))
        *out = (integer){ false, json_is_true(value) };
    else
        return false;
    return true;
}

static bool in_range(integer x, arras_dtype dtype)
{
    for (size_t i = 0; i < AR_COUNT(ranges); i++)
        if (ranges[i].dtype == dtype)
            return x.negative ? (int64_t)x.bits >= ranges[i].least : x.bits <= ranges[i].most;
    return false;
}

static bool read_integer(void *cell, arras_dtype dtype, const json_t *value)
{
    size_t  size = arras_dtype_size(dtype);
    integer x;

    if (!integer_of(&x, value) || !in_range(x, dtype))
        return false;
    if (__BYTE_ORDER__ != __ORDER_LITTLE_ENDIAN__)
        x.bits <<= 8 * (sizeof x.bits - size);
    memcpy(cell, &x.bits, size);
    return true;
}

/* ---- Reals and complex numbers --------------------------------------------------------------- */

/* "0x7fc00000": the bits of a number of this size. */
static bool read_bits(void *cell, size_t size, const char *text)
{
    char *end;

    if (strncmp(text, "0x", 2) != 0 || strlen(text) != 2 + 2 * size ||
        !isxdigit((unsigned char)text[2]))
        return false;
    uint64_t bits = strtoull(text + 2, &end, 16);
    uint32_t half = (uint32_t)bits;
    memcpy(cell, size == sizeof half ? (const void *)&half : (const void *)&bits, size);
    return *end == '\0';
}

static bool real_of(double *out, const json_t *value)
{
    const char *text = json_string_value(value);
    integer     x;

    if (json_is_number(value))
        *out = json_number_value(value);
    else if (text && strcmp(text, "NaN") == 0)
        *out = (double)NAN;
    else if (text && strcmp(text, "Infinity") == 0)
        *out = (double)INFINITY;
    else if (text && strcmp(text, "-Infinity") == 0)
        *out = -(double)INFINITY;
    else if (text && integer_of_text(&x, text))
        *out = x.negative ? (double)(int64_t)x.bits : (double)x.bits;
    else
        return false;
    return true;
}

static bool read_real(void *cell, size_t size, const json_t *value)
{
    double real;

    if (json_is_string(value) && read_bits(cell, size, json_string_value(value)))
        return true;
    if (!real_of(&real, value))
        return false;
    float single = (float)real;
    memcpy(cell, size == sizeof single ? (const void *)&single : (const void *)&real, size);
    return true;
}

static bool read_complex(void *cell, size_t size, const json_t *value)
{
    memset(cell, 0, size);
    if (!json_is_array(value))
        return read_real(cell, size / 2, value);
    return json_array_size(value) == 2 && read_real(cell, size / 2, json_array_get(value, 0)) &&
           read_real((char *)cell + size / 2, size / 2, json_array_get(value, 1));
}

/* ---- Bytes ----------------------------------------------------------------------------------- */

static const char base64_digits[] =
    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

static int base64_digit(char c)
{
    const char *at = c ? strchr(base64_digits, c) : NULL;

    return at ? (int)(at - base64_digits) : -1;
}

/* Exactly `size` bytes. */
static bool read_base64(uint8_t *out, size_t size, const char *text)
{
    size_t   length = strlen(text), n = 0;
    unsigned bits = 0;

    if (length != (size + 2) / 3 * 4)
        return false;
    for (size_t i = 0; i < length; i++) {
        int digit = n < size ? base64_digit(text[i]) : 0;

        if (digit < 0 || (n == size && text[i] != '='))
            return false;
        bits = bits << 6 | (unsigned)digit;
        if (i % 4 > 0 && n < size)
            out[n++] = (uint8_t)(bits >> (6 - 2 * (i % 4)));
    }
    return n == size;
}

static void swap_cell(uint8_t *cell, arras_dtype dtype)
{
    bool   pair = dtype == ARRAS_C64 || dtype == ARRAS_C128;
    size_t size = arras_dtype_size(dtype), unit = pair ? size / 2 : size;

    for (size_t at = 0; at < size; at += unit)
        for (size_t i = 0; i < unit / 2; i++) {
            uint8_t byte = cell[at + i];

            cell[at + i] = cell[at + unit - 1 - i];
            cell[at + unit - 1 - i] = byte;
        }
}

static bool read_bytes(void *cell, arras_dtype dtype, bool swapped, const json_t *value)
{
    if (!json_is_string(value) ||
        !read_base64(cell, arras_dtype_size(dtype), json_string_value(value)))
        return false;
    if (swapped)
        swap_cell(cell, dtype);
    return true;
}

/* ---- Both ways ------------------------------------------------------------------------------- */

static bool read_number(void *cell, arras_dtype dtype, const json_t *value)
{
    switch (dtype) {
    case ARRAS_F32:
    case ARRAS_F64: return read_real(cell, arras_dtype_size(dtype), value);
    case ARRAS_C64:
    case ARRAS_C128: return read_complex(cell, arras_dtype_size(dtype), value);
    default: return read_integer(cell, dtype, value);
    }
}

arras_status ar_zarr_read_fill(void *cell, arras_dtype dtype, bool swapped, const json_t *value,
                               const char *name, arras_error *err)
{
    uint8_t read[16] = { 0 };
    ar_text text = { 0 };

    if (value && !json_is_null(value) && !read_number(read, dtype, value) &&
        !read_bytes(read, dtype, swapped, value)) {
        ar_json_print_value(&text, value);
        ar_fail(err, ARRAS_EFORMAT, "%s: the fill value %.60s is no %s", name,
                text.data ? text.data : "", arras_dtype_name(dtype));
        ar_text_free(&text);
        return ARRAS_EFORMAT;
    }
    memcpy(cell, read, arras_dtype_size(dtype));
    return ARRAS_OK;
}

static bool read_half_bits(void *cell, const json_t *value)
{
    const char *text = json_string_value(value);
    char       *end;

    if (!text || strncmp(text, "0x", 2) != 0 || strlen(text) != 6 ||
        !isxdigit((unsigned char)text[2]))
        return false;
    uint16_t half = (uint16_t)strtoul(text + 2, &end, 16);
    ar_half_widen(cell, &half, 1, false);
    return *end == '\0';
}

arras_status ar_zarr_read_fill_half(void *cell, const json_t *value, const char *name,
                                    arras_error *err)
{
    arras_status status = ARRAS_OK;

    if (value && read_half_bits(cell, value))
        return ARRAS_OK;
    status = ar_zarr_read_fill(cell, ARRAS_F32, false, value, name, err);
    if (status == ARRAS_OK)
        ar_half_round(cell, 1);
    return status;
}

/* With as many digits as others need who read f32 as f64 first. */
static void print_real(ar_text *out, double x, int digits)
{
    size_t before = out->length;

    if (isnan(x) || isinf(x)) {
        ar_text_add(out, isnan(x) ? "\"NaN\"" : x < 0 ? "\"-Infinity\"" : "\"Infinity\"");
        return;
    }
    ar_text_printf(out, "%.*g", digits, x);
    if (!out->failed && !strpbrk(out->data + before, ".e"))
        ar_text_add(out, ".0"); /* without it -0 would become an integer and lose its sign */
}

static void print_part(ar_text *out, size_t size, const void *part)
{
    float  single;
    double real;

    memcpy(&single, part, sizeof single);
    if (size == sizeof real)
        memcpy(&real, part, sizeof real);
    else
        real = (double)single;
    print_real(out, real, size == sizeof real ? 17 : 9);
}

static void print_integer(ar_text *out, arras_dtype dtype, const void *cell)
{
    uint64_t bits = 0;
    size_t   size = arras_dtype_size(dtype);
    int      unused = (int)(8 * (sizeof bits - size));
    bool     is_signed =
        dtype == ARRAS_I8 || dtype == ARRAS_I16 || dtype == ARRAS_I32 || dtype == ARRAS_I64;

    if (__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__) {
        memcpy(&bits, cell, size);
        bits <<= unused;
    } else {
        memcpy(&bits, cell, size);
    }
    if (is_signed)
        ar_text_printf(out, "%" PRId64, (int64_t)bits >> unused);
    else
        ar_text_printf(out, "%" PRIu64, bits >> unused);
}

/* Eight bytes, from the lowest, are eleven digits and "=". */
void ar_zarr_print_real_bytes(ar_text *out, double x)
{
    uint64_t bits, group;

    memcpy(&bits, &x, sizeof bits);
    bits = __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__ ? __builtin_bswap64(bits) : bits;
    for (int i = 0; i < 11; i++) {
        int shift = 64 - 6 * (i + 1);

        group = shift >= 0 ? bits >> shift : bits << -shift;
        ar_text_put(out, &base64_digits[group & 63], 1);
    }
    ar_text_add(out, "=");
}

void ar_zarr_print_fill(ar_text *out, arras_dtype dtype, const void *cell)
{
    size_t half = arras_dtype_size(dtype) / 2;

    switch (dtype) {
    case ARRAS_BOOL: ar_text_add(out, *(const uint8_t *)cell ? "true" : "false"); break;
    case ARRAS_F32:
    case ARRAS_F64: print_part(out, 2 * half, cell); break;
    case ARRAS_C64:
    case ARRAS_C128:
        ar_text_add(out, "[");
        print_part(out, half, cell);
        ar_text_add(out, ", ");
        print_part(out, half, (const char *)cell + half);
        ar_text_add(out, "]");
        break;
    default: print_integer(out, dtype, cell); break;
    }
}

#endif
