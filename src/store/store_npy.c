/* store_npy.c -- NumPy's files, versions 1, 2 and 3: a Python dict with three keys, read strictly,
 * then the cells. */
#include "store/store_npy.h"
#include "store/flat.h"
#include "store/store_file.h"

#include <ctype.h>
#include <string.h>
#include <unistd.h>

static const char magic[6] = { '\x93', 'N', 'U', 'M', 'P', 'Y' };

enum { MOST_HEADER = 65536 }; /* bytes; more is refused */

/* ---- Types ----------------------------------------------------------------------------------- */

static const struct {
    const char *code;
    arras_dtype dtype;
} types[] = {
    { "b1", ARRAS_BOOL },  { "i1", ARRAS_I8 },  { "i2", ARRAS_I16 }, { "i4", ARRAS_I32 },
    { "i8", ARRAS_I64 },   { "u1", ARRAS_U8 },  { "u2", ARRAS_U16 }, { "u4", ARRAS_U32 },
    { "u8", ARRAS_U64 },   { "f4", ARRAS_F32 }, { "f8", ARRAS_F64 }, { "c8", ARRAS_C64 },
    { "c16", ARRAS_C128 },
};

/* What begins a code that is known and not supported. */
static const struct {
    const char *start, *what;
} others[] = {
    { "f2", "half precision" },
    { "f16", "extended precision" },
    { "c32", "extended precision" },
    { "O", "Python objects" },
    { "M8", "dates" },
    { "m8", "time spans" },
    { "U", "text" },
    { "S", "text" },
    { "V", "raw bytes" },
};

arras_status ar_npy_type(arras_dtype *dtype, bool *swapped, const char *descr, const char *name,
                         arras_error *err)
{
    bool        has_order = *descr && strchr("<>|=", *descr);
    const char *code = descr + has_order;
    const char  foreign = __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__ ? '>' : '<';

    for (size_t i = 0; i < AR_COUNT(types); i++)
        if (strcmp(types[i].code, code) == 0) {
            *dtype = types[i].dtype;
            *swapped = *descr == foreign && arras_dtype_size(*dtype) > 1;
            return ARRAS_OK;
        }
    for (size_t i = 0; i < AR_COUNT(others); i++)
        if (strncmp(others[i].start, code, strlen(others[i].start)) == 0)
            return ar_fail(err, ARRAS_EFORMAT, "%s: the type '%s' is not supported: %s", name,
                           descr, others[i].what);
    return ar_fail(err, ARRAS_EFORMAT, "%s: the type '%s' is not known", name, descr);
}

const char *ar_npy_code(arras_dtype dtype)
{
    for (size_t i = 0; i < AR_COUNT(types); i++)
        if (types[i].dtype == dtype)
            return types[i].code;
    return "V0";
}

/* ---- Header ---------------------------------------------------------------------------------- */

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

/* 'text' or "text", without escapes. */
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
            return fail_header(r, "an axis shorter than 2^63");
    if (r->at < r->end && *r->at == 'L')
        r->at++;
    *out = value;
    return ARRAS_OK;
}

static arras_status read_shape(reader *r, ar_flat_shape *s)
{
    if (!take(r, '('))
        return fail_header(r, "the shape, such as (3, 4)");
    for (s->rank = 0; !take(r, ')');) {
        if (s->rank == ARRAS_MAX_RANK)
            return ar_fail(r->err, ARRAS_EFORMAT, "%s: more than %d axes", r->name, ARRAS_MAX_RANK);
        arras_status status = take_length(r, &s->shape[s->rank]);
        if (status != ARRAS_OK)
            return status;
        s->rank++;
        if (!take(r, ','))
            return s->rank > 1 && take(r, ')') ? ARRAS_OK : fail_header(r, "a comma in the shape");
    }
    return ARRAS_OK;
}

static arras_status read_order(reader *r, ar_flat_shape *s)
{
    s->fortran = take_word(r, "True");
    return s->fortran || take_word(r, "False") ? ARRAS_OK : fail_header(r, "True or False");
}

static arras_status read_descr(reader *r, ar_flat_shape *s)
{
    char descr[64];

    skip_space(r);
    if (r->at < r->end && *r->at == '[')
        return ar_fail(r->err, ARRAS_EFORMAT,
                       "%s: a record array; store its fields as arrays of their own", r->name);
    if (!take_string(r, descr, sizeof descr))
        return fail_header(r, "a type, such as '<f8'");
    return ar_npy_type(&s->dtype, &s->swapped, descr, r->name, r->err);
}

static arras_status read_entry(reader *r, ar_flat_shape *s, unsigned *seen)
{
    static const struct {
        const char *key;
        arras_status (*read)(reader *r, ar_flat_shape *s);
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
        return entries[i].read(r, s);
    }
    return fail_header(r, "'descr', 'fortran_order' and 'shape', each once");
}

static arras_status parse_header(ar_flat_shape *out, const char *text, size_t length,
                                 const char *name, arras_error *err)
{
    reader        r = { text, text + length, name, err };
    ar_flat_shape s = { 0 };
    unsigned      seen = 0;

    if (!take(&r, '{'))
        return fail_header(&r, "{");
    while (!take(&r, '}')) {
        arras_status status = read_entry(&r, &s, &seen);

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
    *out = s;
    return ARRAS_OK;
}

/* ---- The start of a file --------------------------------------------------------------------- */

/* Magic, version and the length of the header. */
static arras_status read_start(int fd, int64_t *at, size_t *length, const char *name,
                               arras_error *err)
{
    uint8_t      s[12] = { 0 };
    arras_status status = ar_file_read(fd, s, 8, 0, name, err);

    if (status != ARRAS_OK)
        return status;
    if (memcmp(s, magic, sizeof magic) != 0)
        return ar_fail(err, ARRAS_EFORMAT,
                       "%s is not a .npy file: it does not begin with \\x93NUMPY", name);
    if (s[6] < 1 || s[6] > 3)
        return ar_fail(err, ARRAS_EFORMAT, "%s: version %d.%d of the .npy format is not known",
                       name, s[6], s[7]);
    *at = s[6] == 1 ? 10 : 12;
    status = ar_file_read(fd, s + 8, *at - 8, 8, name, err);
    *length = (size_t)s[8] | (size_t)s[9] << 8 | (size_t)s[10] << 16 | (size_t)s[11] << 24;
    if (status == ARRAS_OK && *length > MOST_HEADER)
        return ar_fail(err, ARRAS_EFORMAT, "%s: damaged .npy header: %zu bytes, more than %d", name,
                       *length, MOST_HEADER);
    return status;
}

static arras_status read_header(ar_flat_shape *out, int fd, const char *name, arras_error *err)
{
    int64_t      at = 0;
    size_t       length = 0;
    arras_status status = read_start(fd, &at, &length, name, err);

    if (status != ARRAS_OK)
        return status;
    char *text = ar_alloc(1, length);
    if (!text)
        return ar_fail_memory(err, length);
    status = ar_file_read(fd, text, (int64_t)length, at, name, err);
    if (status == ARRAS_OK)
        status = parse_header(out, text, length, name, err);
    ar_free(text);
    out->start = at + (int64_t)length;
    return status;
}

/* ---- The format ------------------------------------------------------------------------------ */

static bool recognise(const char *path, const uint8_t *first, size_t n)
{
    (void)path;
    return first && n >= sizeof magic && memcmp(first, magic, sizeof magic) == 0;
}

static arras_status refuse_inside(const char *path, const char *inside, arras_error *err)
{
    if (!inside || !*inside)
        return ARRAS_OK;
    return ar_fail(err, ARRAS_ENAME, "%s holds one array and nothing called '%s'", path, inside);
}

static arras_status open_npy(ar_source **out, const char *path, const char *inside,
                             arras_error *err)
{
    ar_flat_shape shape = { 0 };
    int           fd = -1;
    int64_t       size = 0;
    arras_status  status = refuse_inside(path, inside, err);

    if (status == ARRAS_OK)
        status = ar_file_open(&fd, &size, path, err);
    if (status != ARRAS_OK)
        return status;
    status = read_header(&shape, fd, path, err);
    if (status != ARRAS_OK) {
        close(fd);
        return status;
    }
    return ar_flat_open(out, &shape, "npy", fd, size, path, err);
}

/* As NumPy writes it: the cells begin at a multiple of 64. */
static void print_header(ar_text *out, arras_dtype dtype, int rank, const int64_t *shape)
{
    enum { PREAMBLE = 10, MULTIPLE = 64 };
    const char order = __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__ ? '<' : '>';
    char       length[2];

    ar_text_put(out, "\x93NUMPY\x01\x00\x00\x00", PREAMBLE);
    ar_text_printf(out, "{'descr': '%c%s', 'fortran_order': False, 'shape': (",
                   arras_dtype_size(dtype) == 1 ? '|' : order, ar_npy_code(dtype));
    for (int d = 0; d < rank; d++)
        ar_text_printf(out, d ? ", %" PRId64 : "%" PRId64, shape[d]);
    ar_text_add(out, rank == 1 ? ",), }" : "), }");
    while (out->length % MULTIPLE != MULTIPLE - 1 && !out->failed)
        ar_text_add(out, " ");
    ar_text_add(out, "\n");
    length[0] = (char)((out->length - PREAMBLE) & 255);
    length[1] = (char)((out->length - PREAMBLE) >> 8);
    if (!out->failed)
        memcpy(out->data + 8, length, sizeof length);
}

static arras_status refuse_codecs(const char *path, const ar_sink_options *options,
                                  arras_error *err)
{
    if (!options->codecs || !*options->codecs || strcmp(options->codecs, "none") == 0)
        return ARRAS_OK;
    return ar_fail(err, ARRAS_EINVAL, "%s: cells of .npy files are not compressed, so no '%s'",
                   path, options->codecs);
}

static arras_status create_npy(ar_sink **out, const char *path, const char *inside,
                               arras_dtype dtype, int rank, const int64_t *shape,
                               const ar_sink_options *options, arras_error *err)
{
    ar_flat_shape s = { .dtype = dtype, .rank = rank };
    ar_text       header = { 0 };
    arras_status  status = refuse_inside(path, inside, err);

    if (status == ARRAS_OK)
        status = refuse_codecs(path, options, err);
    if (status != ARRAS_OK)
        return status;
    memcpy(s.shape, shape, sizeof *shape * (size_t)rank);
    print_header(&header, dtype, rank, shape);
    status = header.failed ? ar_fail_memory(err, header.length)
                           : ar_flat_create(out, &s, "npy", path, &header, options, err);
    ar_text_free(&header);
    return status;
}

const ar_format ar_format_npy = {
    .name = "npy", .recognise = recognise, .open = open_npy, .create = create_npy
};
