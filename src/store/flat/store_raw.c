/* store_raw.c -- plain cells without a header.  The name says what they are: file.bin:f32[100,200];
 * >i16[8,8]+512 is big-endian i16 from byte 512 on. */
#include "store/flat/flat.h"
#include "store/safe/store_file.h"

#include <ctype.h>
#include <string.h>
#include <unistd.h>

typedef struct {
    const char  *at, *text, *path;
    arras_error *err;
} reader;

static arras_status fail_text(const reader *r, const char *expected)
{
    return ar_fail(r->err, ARRAS_ENAME,
                   "%s: '%s' is no description of cells: expected %s; an example is "
                   "f32[100,200]+512",
                   r->path, r->text, expected);
}

static void skip_space(reader *r)
{
    while (*r->at == ' ')
        r->at++;
}

static arras_status take_number(reader *r, int64_t *out)
{
    int64_t value = 0;

    skip_space(r);
    if (!isdigit((unsigned char)*r->at))
        return fail_text(r, "a number");
    for (; isdigit((unsigned char)*r->at); r->at++)
        if (!ar_mul64(&value, value, 10) || !ar_add64(&value, value, *r->at - '0'))
            return fail_text(r, "a number below 2^63");
    skip_space(r);
    *out = value;
    return ARRAS_OK;
}

static arras_status take_type(reader *r, ar_flat_shape *s)
{
    const char foreign = __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__ ? '>' : '<';
    char       name[8] = "";
    size_t     length;

    s->swapped = *r->at == foreign;
    r->at += *r->at == '<' || *r->at == '>';
    length = strcspn(r->at, "[+ ");
    if (length < sizeof name)
        memcpy(name, r->at, length);
    s->half = strcmp(name, "f16") == 0;
    s->dtype = s->half ? ARRAS_F32 : arras_dtype_find(name);
    if (s->dtype == ARRAS_NO_DTYPE)
        return fail_text(r, "a type, such as f32, i16 or c128");
    s->swapped = s->swapped && arras_dtype_size(s->dtype) > 1;
    r->at += length;
    return ARRAS_OK;
}

static arras_status take_shape(reader *r, ar_flat_shape *s)
{
    skip_space(r);
    if (*r->at != '[')
        return fail_text(r, "a shape in []");
    r->at++;
    skip_space(r);
    while (*r->at != ']') {
        if (s->rank == ARRAS_MAX_RANK)
            return fail_text(r, "at most 32 axes");
        arras_status status = take_number(r, &s->shape[s->rank]);
        if (status != ARRAS_OK)
            return status;
        s->rank++;
        if (*r->at != ',' && *r->at != ']')
            return fail_text(r, "a comma or ]");
        r->at += *r->at == ',';
    }
    r->at++;
    return ARRAS_OK;
}

static arras_status parse(ar_flat_shape *out, const char *path, const char *inside,
                          arras_error *err)
{
    reader       r = { inside, inside, path, err };
    arras_status status = take_type(&r, out);

    if (status == ARRAS_OK)
        status = take_shape(&r, out);
    skip_space(&r);
    if (status == ARRAS_OK && *r.at == '+') {
        r.at++;
        status = take_number(&r, &out->start);
    }
    if (status == ARRAS_OK && *r.at)
        return fail_text(&r, "nothing more");
    return status;
}

/* Plain cells have no mark; these endings are what people give them. */
static bool recognise(const char *path, const uint8_t *first, size_t n)
{
    static const char *const endings[] = { ".bin", ".raw", ".dat" };
    size_t                   length = strlen(path);

    (void)n;
    for (size_t i = 0; first && i < AR_COUNT(endings); i++)
        if (length > 4 && strcmp(path + length - 4, endings[i]) == 0)
            return true;
    return false;
}

static arras_status describe_missing(const char *path, arras_error *err)
{
    return ar_fail(err, ARRAS_ENAME, "%s: say the type and shape of its cells: %s:f32[100,200]",
                   path, path);
}

static arras_status open_raw(ar_source **out, const char *path, const char *inside,
                             arras_error *err)
{
    ar_flat_shape shape = { 0 };
    int           fd = -1;
    int64_t       size = 0;
    arras_status  status = inside ? parse(&shape, path, inside, err) : describe_missing(path, err);

    if (status == ARRAS_OK)
        status = ar_file_open(&fd, &size, path, err);
    return status == ARRAS_OK ? ar_flat_open(out, &shape, "raw", fd, size, path, err) : status;
}

const ar_format ar_format_raw = { .name = "raw", .recognise = recognise, .open = open_raw };
