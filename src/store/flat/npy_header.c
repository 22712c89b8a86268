/* npy_header.c -- the header of a .npy file: a Python dict with three keys, read strictly; and
 * NumPy's names of types. */
#include "store/flat/store_npy.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

static const char native = __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__ ? '<' : '>';

/* ---- Types ----------------------------------------------------------------------------------- */

static const struct {
    const char *code;
    arras_dtype dtype;
    bool        half; /* read as that dtype */
} types[] = {
    { "b1", ARRAS_BOOL, false },  { "i1", ARRAS_I8, false },  { "i2", ARRAS_I16, false },
    { "i4", ARRAS_I32, false },   { "i8", ARRAS_I64, false }, { "u1", ARRAS_U8, false },
    { "u2", ARRAS_U16, false },   { "u4", ARRAS_U32, false }, { "u8", ARRAS_U64, false },
    { "f4", ARRAS_F32, false },   { "f8", ARRAS_F64, false }, { "c8", ARRAS_C64, false },
    { "c16", ARRAS_C128, false }, { "f2", ARRAS_F32, true },
};

/* What begins a code that is known and not supported. */
static const struct {
    const char *start, *what;
} others[] = {
    { "f16", "extended precision; store it as float64: a.astype('f8')" },
    { "c32", "extended precision; store it as complex128: a.astype('c16')" },
    { "O", "Python objects; store numbers: a.astype('f8')" },
    { "M8", "dates; store them as integers: a.astype('i8')" },
    { "m8", "time spans; store them as integers: a.astype('i8')" },
    { "U", "it holds text, not numbers" },
    { "S", "it holds text, not numbers" },
    { "V", "it holds raw bytes, not numbers" },
};

/* "<f8": byte order, kind, bytes. */
arras_status ar_npy_type(arras_dtype *dtype, bool *half, bool *swapped, const char *descr,
                         const char *name, arras_error *err)
{
    bool        has_order = *descr && strchr("<>|=", *descr);
    bool        is_foreign = (*descr == '<' || *descr == '>') && *descr != native;
    const char *code = descr + has_order;

    for (size_t i = 0; i < AR_COUNT(types); i++)
        if (strcmp(types[i].code, code) == 0) {
            *dtype = types[i].dtype;
            *half = types[i].half;
            *swapped = is_foreign && arras_dtype_size(*dtype) > 1;
            return ARRAS_OK;
        }
    for (size_t i = 0; i < AR_COUNT(others); i++)
        if (strncmp(others[i].start, code, strlen(others[i].start)) == 0)
            return ar_fail(err, ARRAS_EFORMAT, "%s: the type '%s' is not supported: %s", name, code,
                           others[i].what);
    return ar_fail(err, ARRAS_EFORMAT, "%s: the type '%s' is not known", name, code);
}

const char *ar_npy_code(arras_dtype dtype, bool half)
{
    for (size_t i = 0; i < AR_COUNT(types); i++)
        if (types[i].dtype == dtype && types[i].half == half)
            return types[i].code;
    return "V0";
}

/* ---- Reading --------------------------------------------------------------------------------- */

typedef struct {
    const char  *at, *end;
    const char  *name;
    arras_error *err;
} reader;

static arras_status fail_header(const reader *r, const char *expected)
{
    return ar_fail(r->err, ARRAS_EFORMAT, "%s: damaged .npy header: expected %s", r->name,
                   expected);
}

static void skip_space(reader *r)
{
    while (r->at < r->end && memchr(" \n\t\r", *r->at, 4))
        r->at++;
}

static bool take(reader *r, char c)
{
    skip_space(r);
    if (r->at == r->end || *r->at != c)
        return false;
    r->at++;
    return true;
}

static bool take_word(reader *r, const char *word)
{
    size_t length = strlen(word);

    skip_space(r);
    if ((size_t)(r->end - r->at) < length || memcmp(r->at, word, length) != 0)
        return false;
    r->at += length;
    return true;
}

static bool is_plain(const char *text, size_t length)
{
    for (size_t i = 0; i < length; i++)
        if (text[i] < ' ' || text[i] > '~')
            return false;
    return true;
}

/* 'text' or "text", without escapes.  It may be shown, so it must not play tricks on a terminal. */
static bool take_string(reader *r, char *out, size_t room)
{
    skip_space(r);
    if (r->at == r->end || (*r->at != '\'' && *r->at != '"'))
        return false;
    const char *start = r->at + 1;
    const char *end = memchr(start, *r->at, (size_t)(r->end - start));
    if (!end || (size_t)(end - start) >= room || !is_plain(start, (size_t)(end - start)))
        return false;
    memcpy(out, start, (size_t)(end - start));
    out[end - start] = '\0';
    r->at = end + 1;
    return true;
}

/* The length of an axis; an L, as Python 2 wrote, may follow. */
static arras_status take_length(reader *r, int64_t *out)
{
    int64_t value = 0;

    skip_space(r);
    if (r->at == r->end || !isdigit((unsigned char)*r->at))
        return fail_header(r, "the length of an axis");
    for (; r->at < r->end && isdigit((unsigned char)*r->at); r->at++)
        if (!ar_mul64(&value, value, 10) || !ar_add64(&value, value, *r->at - '0'))
            return ar_fail(r->err, ARRAS_EFORMAT,
                           "%s: damaged .npy header: an axis is too long (2^63 or more)", r->name);
    if (r->at < r->end && *r->at == 'L')
        r->at++;
    *out = value;
    return ARRAS_OK;
}

static arras_status read_shape(reader *r, arras_npy_header *h)
{
    if (!take(r, '('))
        return fail_header(r, "the shape, such as (3, 4)");
    for (h->rank = 0; !take(r, ')');) {
        if (h->rank == ARRAS_MAX_RANK)
            return ar_fail(r->err, ARRAS_EFORMAT, "%s: more than %d axes", r->name, ARRAS_MAX_RANK);
        arras_status status = take_length(r, &h->shape[h->rank]);
        if (status != ARRAS_OK)
            return status;
        h->rank++;
        if (!take(r, ','))
            return h->rank > 1 && take(r, ')') ? ARRAS_OK : fail_header(r, "a comma in the shape");
    }
    return ARRAS_OK;
}

static arras_status read_order(reader *r, arras_npy_header *h)
{
    h->fortran = take_word(r, "True");
    return h->fortran || take_word(r, "False") ? ARRAS_OK : fail_header(r, "True or False");
}

static arras_status read_descr(reader *r, arras_npy_header *h)
{
    char descr[64];

    skip_space(r);
    if (r->at < r->end && *r->at == '[')
        return ar_fail(r->err, ARRAS_EFORMAT,
                       "%s: a record array; store its fields as arrays of their own", r->name);
    if (!take_string(r, descr, sizeof descr))
        return fail_header(r, "a type, such as '<f8'");
    return ar_npy_type(&h->dtype, &h->half, &h->swapped, descr, r->name, r->err);
}

static arras_status read_entry(reader *r, arras_npy_header *h, unsigned *seen)
{
    static const struct {
        const char *key;
        arras_status (*read)(reader *r, arras_npy_header *h);
    } entries[] = { { "descr", read_descr },
                    { "fortran_order", read_order },
                    { "shape", read_shape } };
    char key[16];

    if (!take_string(r, key, sizeof key) || !take(r, ':'))
        return fail_header(r, "'descr', 'fortran_order' or 'shape'");
    for (unsigned i = 0; i < AR_COUNT(entries); i++) {
        if (strcmp(key, entries[i].key) != 0 || (*seen & 1u << i))
            continue;
        *seen |= 1u << i;
        return entries[i].read(r, h);
    }
    return fail_header(r, "'descr', 'fortran_order' and 'shape', each once");
}

arras_status arras_npy_header_parse(arras_npy_header *out, const char *text, size_t length,
                                    const char *name, arras_error *err)
{
    reader           r = { text, text + length, name, err };
    arras_npy_header h = { .version = out->version };
    unsigned         seen = 0;

    if (!take(&r, '{'))
        return fail_header(&r, "{");
    while (!take(&r, '}')) {
        arras_status status = read_entry(&r, &h, &seen);

        if (status != ARRAS_OK)
            return status;
        if (take(&r, ','))
            continue;
        if (take(&r, '}'))
            break;
        return fail_header(&r, "a comma or }");
    }
    skip_space(&r);
    if (seen != 7)
        return fail_header(&r, "'descr', 'fortran_order' and 'shape'");
    if (r.at != r.end)
        return fail_header(&r, "nothing after }");
    *out = h;
    return ARRAS_OK;
}

/* ---- Writing --------------------------------------------------------------------------------- */

static int print_shape(char *out, size_t room, int rank, const int64_t *shape)
{
    int n = 0;

    for (int d = 0; d < rank; d++)
        n += snprintf(out + n, room - (size_t)n, d ? ", %" PRId64 : "%" PRId64, shape[d]);
    if (rank == 1)
        n += snprintf(out + n, room - (size_t)n, ",");
    return n;
}

/* NumPy leaves room for the first axis to grow to this many digits. */
#define GROWTH_DIGITS 21

size_t ar_npy_header_print(char out[ARRAS_NPY_ROOM], arras_dtype dtype, bool half, int rank,
                           const int64_t *shape)
{
    static const char magic[] = "\x93NUMPY\x01";
    const size_t      preamble = 10, multiple = 64;
    char              text[900], axes[800] = "";
    char              order = arras_dtype_size(dtype) == 1 ? '|' : native;

    if (rank < 0 || rank > ARRAS_MAX_RANK || arras_dtype_size(dtype) == 0)
        return 0;
    int first = rank ? snprintf(NULL, 0, "%" PRId64, shape[0]) : GROWTH_DIGITS;
    print_shape(axes, sizeof axes, rank, shape);
    int n =
        snprintf(text, sizeof text, "{'descr': '%c%s', 'fortran_order': False, 'shape': (%s), }%*s",
                 order, ar_npy_code(dtype, half), axes, GROWTH_DIGITS - first, "");
    size_t length = (size_t)n + 1; /* with a newline */
    size_t total = (preamble + length + multiple - 1) / multiple * multiple;

    memset(out, ' ', total);
    memcpy(out, magic, sizeof magic); /* the last byte is the minor version, 0 */
    out[8] = (char)((total - preamble) & 255);
    out[9] = (char)((total - preamble) >> 8);
    memcpy(out + preamble, text, (size_t)n);
    out[total - 1] = '\n';
    return total;
}

size_t arras_npy_header_print(char out[ARRAS_NPY_ROOM], arras_dtype dtype, int rank,
                              const int64_t *shape)
{
    return ar_npy_header_print(out, dtype, false, rank, shape);
}
