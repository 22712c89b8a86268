/* store_npy.c -- NumPy's files, versions 1, 2 and 3: a header (npy_header.c), then the cells. */
#include "store/flat/store_npy.h"
#include "store/codec/half.h"
#include "store/flat/flat.h"
#include "store/safe/store_file.h"

#include <string.h>
#include <unistd.h>

static const char magic[6] = { '\x93', 'N', 'U', 'M', 'P', 'Y' };

enum { MOST_HEADER = 65536 }; /* bytes; more is refused */

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

static arras_status read_text(arras_npy_header *out, int fd, int64_t at, size_t length,
                              const char *name, arras_error *err)
{
    char *text = ar_alloc(1, length);

    if (!text)
        return ar_fail_memory(err, length);
    arras_status status = ar_file_read(fd, text, (int64_t)length, at, name, err);
    if (status == ARRAS_OK)
        status = arras_npy_header_parse(out, text, length, name, err);
    ar_free(text);
    return status;
}

static arras_status read_header(ar_flat_shape *out, int fd, const char *name, arras_error *err)
{
    arras_npy_header h = { 0 };
    int64_t          at = 0;
    size_t           length = 0;
    arras_status     status = read_start(fd, &at, &length, name, err);

    if (status == ARRAS_OK)
        status = read_text(&h, fd, at, length, name, err);
    if (status != ARRAS_OK)
        return status;
    *out = (ar_flat_shape){ .dtype = h.dtype,
                            .swapped = h.swapped,
                            .fortran = h.fortran,
                            .half = h.half,
                            .rank = h.rank,
                            .start = at + (int64_t)length };
    memcpy(out->shape, h.shape, sizeof out->shape);
    return ARRAS_OK;
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

/* Cells may have 16 bits, and that is all. */
static arras_status read_codecs(ar_flat_shape *s, const char *path, const ar_sink_options *options,
                                arras_error *err)
{
    const char *codecs = options->codecs ? options->codecs : "";

    s->half = strcmp(codecs, ar_codec_float16.name) == 0;
    if (s->half)
        return ar_half_check(s->dtype, path, err);
    if (!*codecs || strcmp(codecs, "none") == 0)
        return ARRAS_OK;
    return ar_fail(err, ARRAS_EINVAL,
                   "%s: cells of .npy files are not compressed, so no '%s'; there is float16", path,
                   codecs);
}

static arras_status create_npy(ar_sink **out, const char *path, const char *inside,
                               arras_dtype dtype, int rank, const int64_t *shape,
                               const ar_sink_options *options, arras_error *err)
{
    ar_flat_shape s = { .dtype = dtype, .rank = rank };
    char          start[ARRAS_NPY_ROOM];
    ar_text       header = { 0 };
    arras_status  status = refuse_inside(path, inside, err);

    if (status == ARRAS_OK)
        status = read_codecs(&s, path, options, err);
    if (status != ARRAS_OK)
        return status;
    memcpy(s.shape, shape, sizeof *shape * (size_t)rank);
    ar_text_put(&header, start, ar_npy_header_print(start, dtype, s.half, rank, shape));
    status = header.failed ? ar_fail_memory(err, header.length)
                           : ar_flat_create(out, &s, "npy", path, &header, options, err);
    ar_text_free(&header);
    return status;
}

const ar_format ar_format_npy = {
    .name = "npy", .recognise = recognise, .open = open_npy, .create = create_npy
};
