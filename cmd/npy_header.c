/* npy_header.c -- the header of a .npy file: a Python dict with three keys, read strictly. */
#include <ctype.h>
#include <endian.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cmd/npy.h"

/* ---- Types ----------------------------------------------------------------------------------- */

/* The letters of NumPy's types; those without a dtype are known and refused. */
static const struct {
    const char *code;
    arras_dtype dtype;
    const char *what;
} types[] = {
    { "b1", ARRAS_BOOL, NULL },
    { "i1", ARRAS_I8, NULL },
    { "i2", ARRAS_I16, NULL },
    { "i4", ARRAS_I32, NULL },
    { "i8", ARRAS_I64, NULL },
    { "u1", ARRAS_U8, NULL },
    { "u2", ARRAS_U16, NULL },
    { "u4", ARRAS_U32, NULL },
    { "u8", ARRAS_U64, NULL },
    { "f4", ARRAS_F32, NULL },
    { "f8", ARRAS_F64, NULL },
    { "c8", ARRAS_C64, NULL },
    { "c16", ARRAS_C128, NULL },
    { "f2", ARRAS_NO_DTYPE, "half precision; store it as float32: a.astype('f4')" },
    { "f16", ARRAS_NO_DTYPE, "extended precision; store it as float64: a.astype('f8')" },
    { "c32", ARRAS_NO_DTYPE, "extended precision; store it as complex128: a.astype('c16')" },
    { "O", ARRAS_NO_DTYPE, "Python objects; store numbers: a.astype('f8')" },
    { "M8", ARRAS_NO_DTYPE, "dates; store them as integers: a.astype('i8')" },
    { "m8", ARRAS_NO_DTYPE, "time spans; store them as integers: a.astype('i8')" },
};

static bool fail_type(const char *code, const char *name, cmd_error *err)
{
    for (size_t i = 0; i < sizeof types / sizeof *types; i++)
        if (types[i].what && strncmp(types[i].code, code, strlen(types[i].code)) == 0)
            return cmd_fail(err, "%s: the type '%s' is not supported: %s", name, code,
                            types[i].what);
    if (*code == 'U' || *code == 'S' || *code == 'V')
        return cmd_fail(err, "%s: the type '%s' is not supported: it holds %s, not numbers", name,
                        code, *code == 'V' ? "raw bytes" : "text");
    return cmd_fail(err, "%s: the type '%s' is not known", name, code);
}

/* "<f8": byte order, kind, bytes. */
static bool set_type(cmd_npy_header *h, const char *descr, const char *name, cmd_error *err)
{
    const char  native = BYTE_ORDER == LITTLE_ENDIAN ? '<' : '>';
    bool        has_order = *descr && strchr("<>|=", *descr);
    const char  order = has_order ? *descr : '=';
    const char *code = descr + has_order;

    for (size_t i = 0; i < sizeof types / sizeof *types; i++) {
        if (strcmp(types[i].code, code) != 0 || types[i].what)
            continue;
        h->dtype = types[i].dtype;
        h->swapped =
            (order == '<' || order == '>') && order != native && arras_dtype_size(h->dtype) > 1;
        return true;
    }
    return fail_type(code, name, err);
}

/* ---- Reading --------------------------------------------------------------------------------- */

typedef struct {
    const char *at, *end;
    const char *name;
    cmd_error  *err;
} reader;

static bool fail_header(const reader *r, const char *expected)
{
    return cmd_fail(r->err, "%s: damaged .npy header: expected %s", r->name, expected);
}

static void skip_space(reader *r)
{
    while (r->at < r->end && (*r->at == ' ' || *r->at == '\n' || *r->at == '\t' || *r->at == '\r'))
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
    out[end - start] = 0;
    r->at = end + 1;
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

/* The length of an axis; an L, as Python 2 wrote, may follow. */
static bool take_length(reader *r, int64_t *out)
{
    int64_t value = 0;

    skip_space(r);
    if (r->at == r->end || !isdigit((unsigned char)*r->at))
        return fail_header(r, "the length of an axis");
    for (; r->at < r->end && isdigit((unsigned char)*r->at); r->at++)
        if (__builtin_mul_overflow(value, 10, &value) ||
            __builtin_add_overflow(value, *r->at - '0', &value))
            return cmd_fail(r->err, "%s: damaged .npy header: an axis is too long", r->name);
    if (r->at < r->end && *r->at == 'L')
        r->at++;
    *out = value;
    return true;
}

static bool read_shape(reader *r, cmd_npy_header *h)
{
    if (!take(r, '('))
        return fail_header(r, "the shape, such as (3, 4)");
    for (h->rank = 0; !take(r, ')'); h->rank++) {
        if (h->rank == ARRAS_MAX_RANK)
            return cmd_fail(r->err, "%s: more than %d axes", r->name, ARRAS_MAX_RANK);
        if (!take_length(r, &h->shape[h->rank]))
            return false;
        if (!take(r, ',')) {
            h->rank++;
            return h->rank > 1 && take(r, ')') ? true : fail_header(r, "a comma in the shape");
        }
    }
    return true;
}

static bool read_order(reader *r, cmd_npy_header *h)
{
    h->fortran = take_word(r, "True");
    return h->fortran || take_word(r, "False") || fail_header(r, "True or False");
}

static bool read_descr(reader *r, cmd_npy_header *h)
{
    char descr[64];

    skip_space(r);
    if (r->at < r->end && *r->at == '[')
        return cmd_fail(r->err, "%s: a record array; store its fields as arrays of their own",
                        r->name);
    if (!take_string(r, descr, sizeof descr))
        return fail_header(r, "a type, such as '<f8'");
    return set_type(h, descr, r->name, r->err);
}

static bool read_entry(reader *r, cmd_npy_header *h, unsigned *seen)
{
    static const struct {
        const char *key;
        bool (*read)(reader *r, cmd_npy_header *h);
    } entries[] = { { "descr", read_descr },
                    { "fortran_order", read_order },
                    { "shape", read_shape } };
    char key[16];

    if (!take_string(r, key, sizeof key) || !take(r, ':'))
        return fail_header(r, "'descr', 'fortran_order' or 'shape'");
    for (unsigned i = 0; i < 3; i++) {
        if (strcmp(key, entries[i].key) != 0 || (*seen & 1u << i))
            continue;
        *seen |= 1u << i;
        return entries[i].read(r, h);
    }
    return fail_header(r, "'descr', 'fortran_order' and 'shape', each once");
}

bool cmd_npy_header_parse(cmd_npy_header *out, const char *text, size_t length, const char *name,
                          cmd_error *err)
{
    reader         r = { text, text + length, name, err };
    cmd_npy_header h = { .version = out->version };
    unsigned       seen = 0;
    bool           more = take(&r, '{');

    if (!more)
        return fail_header(&r, "{");
    while (more && !take(&r, '}')) {
        if (!read_entry(&r, &h, &seen))
            return false;
        more = take(&r, ',');
        if (!more && !take(&r, '}'))
            return fail_header(&r, "a comma or }");
    }
    skip_space(&r);
    if (seen != 7)
        return fail_header(&r, "'descr', 'fortran_order' and 'shape'");
    if (r.at != r.end)
        return fail_header(&r, "nothing after }");
    *out = h;
    return true;
}

/* ---- Writing --------------------------------------------------------------------------------- */

static const char *code_of(arras_dtype dtype)
{
    for (size_t i = 0; i < sizeof types / sizeof *types; i++)
        if (types[i].dtype == dtype)
            return types[i].code;
    return "V0";
}

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

size_t cmd_npy_header_print(char out[CMD_NPY_ROOM], arras_dtype dtype, int rank,
                            const int64_t *shape)
{
    static const char magic[] = "\x93NUMPY\x01";
    const size_t      preamble = 10, multiple = 64;
    char              text[900], axes[800] = "";
    char order = arras_dtype_size(dtype) == 1 ? '|' : BYTE_ORDER == LITTLE_ENDIAN ? '<' : '>';
    int  first = rank ? snprintf(NULL, 0, "%" PRId64, shape[0]) : GROWTH_DIGITS;

    print_shape(axes, sizeof axes, rank, shape);
    int n =
        snprintf(text, sizeof text, "{'descr': '%c%s', 'fortran_order': False, 'shape': (%s), }%*s",
                 order, code_of(dtype), axes, GROWTH_DIGITS - first, "");
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
