/* codec_deflate.c -- deflate as a zlib stream (HDF5 and Zarr) or as gzip members, by libdeflate.
 * Values: level, 0 to 12. */
#if defined ARRAS_HAVE_DEFLATE
#include "store/codec/codec_parts.h"
#include "store/codec/inflate_interleaved.h"

#include <libdeflate.h>

enum { LEVEL = 4, LEVELS = 12 };

typedef enum libdeflate_result inflate_one(struct libdeflate_decompressor *d, const void *in,
                                           size_t n, void *out, size_t room, size_t *used,
                                           size_t *made);
typedef size_t deflate_all(struct libdeflate_compressor *c, const void *in, size_t n, void *out,
                           size_t room);
typedef size_t deflate_bound(struct libdeflate_compressor *c, size_t n);

static arras_status inflate_failure(const char *name, enum libdeflate_result result, size_t n,
                                    size_t most, arras_error *err)
{
    if (result == LIBDEFLATE_INSUFFICIENT_SPACE)
        return ar_fail(err, ARRAS_EFORMAT, "%s: more than %zu bytes come out", name, most);
    return ar_fail(err, ARRAS_EFORMAT, "%s: the %zu stored bytes are damaged or cut off", name, n);
}

static bool is_padding(const char *in, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (in[i])
            return false;
    return true;
}

/* A stream, or several of them one after the other; zeros may follow. */
static arras_status inflate_with(struct libdeflate_decompressor *d, const char *name,
                                 inflate_one *inflate, bool several, ar_text *out, size_t most,
                                 const char *in, size_t n, arras_error *err)
{
    size_t at = 0, length = 0;

    do {
        size_t                 used, made;
        enum libdeflate_result result =
            inflate(d, in + at, n - at, out->data + length, most - length, &used, &made);

        if (result != LIBDEFLATE_SUCCESS)
            return inflate_failure(name, result, n, most, err);
        at += used;
        length += made;
    } while (several && !is_padding(in + at, n - at));
    out->length = length;
    return ARRAS_OK;
}

static arras_status inflate(const char *name, inflate_one *one, bool several, ar_text *out,
                            size_t most, const void *in, size_t n, arras_error *err)
{
    struct libdeflate_decompressor *d;
    arras_status                    status;

    if (n == 0)
        return ar_codec_cut_off(name, n, 1, err);
    status = ar_codec_room(out, most, err);
    if (status != ARRAS_OK)
        return status;
    d = libdeflate_alloc_decompressor();
    if (!d)
        return ar_fail_memory(err, 0);
    status = inflate_with(d, name, one, several, out, most, in, n, err);
    libdeflate_free_decompressor(d);
    return status;
}

/* ---- Several at once: inflate_interleaved.c finds the bytes, and all checks are made here ---- */

/* What is before and after a deflate stream. */
typedef struct {
    size_t head, tail;
    bool (*begins)(const unsigned char *in);
    bool (*ends)(const unsigned char *tail, const void *out, size_t made);
} wrapping;

static bool zlib_begins(const unsigned char *in)
{
    return (in[0] & 15) == 8 && in[0] >> 4 <= 7 && !(in[1] & 32) && (in[0] << 8 | in[1]) % 31 == 0;
}

static bool zlib_ends(const unsigned char *tail, const void *out, size_t made)
{
    return ar_be32(tail) == libdeflate_adler32(1, out, made);
}

/* Those with a name, or with anything else that may be there, are left alone. */
static bool gzip_begins(const unsigned char *in)
{
    return in[0] == 0x1f && in[1] == 0x8b && in[2] == 8 && in[3] == 0;
}

static bool gzip_ends(const unsigned char *tail, const void *out, size_t made)
{
    return ar_le32(tail) == libdeflate_crc32(0, out, made) && ar_le32(tail + 4) == (uint32_t)made;
}

static const wrapping zlib_wrapping = { 2, 4, zlib_begins, zlib_ends };
static const wrapping gzip_wrapping = { 10, 8, gzip_begins, gzip_ends };

static void finish_part(ar_codec_part *part, const ar_inflate_stream *s, const wrapping *w,
                        bool several)
{
    const unsigned char *tail = s->in + s->used, *end = (const unsigned char *)part->in + part->n;

    if (!s->done || (size_t)(end - tail) < w->tail || !w->ends(tail, s->out, s->made))
        return;
    if (several && !is_padding((const char *)tail + w->tail, (size_t)(end - tail) - w->tail))
        return;
    part->out->length = s->made;
    part->done = true;
}

static void inflate_together(ar_codec_part *parts, int count, size_t most, const wrapping *w,
                             bool several)
{
    ar_inflate_stream streams[AR_INFLATE_STREAMS];
    ar_codec_part    *whose[AR_INFLATE_STREAMS];
    arras_error       ignored;
    int               n = 0;

    for (int i = 0; i < count && n < AR_INFLATE_STREAMS; i++) {
        if (parts[i].n < w->head + w->tail || !w->begins(parts[i].in) ||
            ar_codec_room(parts[i].out, most, &ignored) != ARRAS_OK)
            continue;
        streams[n] = (ar_inflate_stream){ .in = (const unsigned char *)parts[i].in + w->head,
                                          .n = parts[i].n - w->head,
                                          .out = (unsigned char *)parts[i].out->data,
                                          .room = most };
        whose[n++] = &parts[i];
    }
    if (n < 2) /* alone, libdeflate is faster */
        return;
    ar_inflate_interleaved(streams, n);
    for (int i = 0; i < n; i++)
        finish_part(whose[i], &streams[i], w, several);
}

static void zlib_together(ar_codec_part *parts, int count, size_t most)
{
    inflate_together(parts, count, most, &zlib_wrapping, false);
}

static void gzip_together(ar_codec_part *parts, int count, size_t most)
{
    inflate_together(parts, count, most, &gzip_wrapping, true);
}

static arras_status deflate(const ar_codec_step *step, deflate_all *all, deflate_bound *bound,
                            ar_text *out, const void *in, size_t n, arras_error *err)
{
    int64_t level = ar_min64(ar_max64(ar_codec_value(step, 0, LEVEL), 0), LEVELS);
    struct libdeflate_compressor *c = libdeflate_alloc_compressor((int)level);
    arras_status                  status;

    if (!c)
        return ar_fail_memory(err, 0);
    status = ar_codec_room(out, bound(c, n), err);
    if (status == ARRAS_OK)
        out->length = all(c, in, n, out->data, out->length);
    libdeflate_free_compressor(c);
    return status;
}

/* ---- The codecs ------------------------------------------------------------------------------ */

static arras_status zlib_decode(const ar_codec_step *step, int cell_size, ar_text *out, size_t most,
                                const void *in, size_t n, arras_error *err)
{
    (void)cell_size;
    return inflate(step->codec->name, libdeflate_zlib_decompress_ex, false, out, most, in, n, err);
}

static arras_status zlib_encode(const ar_codec_step *step, int cell_size, ar_text *out,
                                const void *in, size_t n, arras_error *err)
{
    (void)cell_size;
    return deflate(step, libdeflate_zlib_compress, libdeflate_zlib_compress_bound, out, in, n, err);
}

static arras_status gzip_decode(const ar_codec_step *step, int cell_size, ar_text *out, size_t most,
                                const void *in, size_t n, arras_error *err)
{
    (void)cell_size;
    return inflate(step->codec->name, libdeflate_gzip_decompress_ex, true, out, most, in, n, err);
}

static arras_status gzip_encode(const ar_codec_step *step, int cell_size, ar_text *out,
                                const void *in, size_t n, arras_error *err)
{
    (void)cell_size;
    return deflate(step, libdeflate_gzip_compress, libdeflate_gzip_compress_bound, out, in, n, err);
}

const ar_codec ar_codec_deflate = { .name = "deflate",
                                    .decode = zlib_decode,
                                    .encode = zlib_encode,
                                    .decode_together = zlib_together,
                                    .grown = ar_codec_grown };
const ar_codec ar_codec_zlib = { .name = "zlib",
                                 .decode = zlib_decode,
                                 .encode = zlib_encode,
                                 .decode_together = zlib_together,
                                 .grown = ar_codec_grown };
const ar_codec ar_codec_gzip = { .name = "gzip",
                                 .decode = gzip_decode,
                                 .encode = gzip_encode,
                                 .decode_together = gzip_together,
                                 .grown = ar_codec_grown };
#else
typedef int ar_no_deflate; /* codec_absent.c refuses */
#endif
