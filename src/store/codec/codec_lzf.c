/* codec_lzf.c -- LZF, as h5py writes it (HDF5 filter 32000; its values are not needed to decode).
 * A control byte below 32 precedes as many bytes and one more, to be copied.  Others begin a copy
 * of what came out before: 3 bits of length (7: a byte more), 13 bits of distance. */
#include "store/codec/codec_parts.h"

enum {
    RUN = 32,     /* most bytes that one control byte precedes */
    SHORTEST = 3, /* what is worth a copy */
    LONGEST = 264,
    FARTHEST = 8192,
    HOPELESS = 512, /* after so many bytes without a copy, search in longer steps */
    STRIDE = 4,
    HASH_BITS = 14
};

/* ---- Decoding -------------------------------------------------------------------------------- */

typedef struct {
    const unsigned char *in, *end;
    unsigned char       *out, *start, *stop;
} decoding;

static arras_status lzf_damaged(const decoding *d, const char *what, arras_error *err)
{
    return ar_fail(err, ARRAS_EFORMAT, "lzf: %s after %td bytes", what, d->out - d->start);
}

static arras_status copy_run(decoding *d, size_t length, arras_error *err)
{
    if (length > (size_t)(d->end - d->in))
        return lzf_damaged(d, "cut off", err);
    if (length > (size_t)(d->stop - d->out))
        return lzf_damaged(d, "more comes out than should", err);
    memcpy(d->out, d->in, length);
    d->in += length;
    d->out += length;
    return ARRAS_OK;
}

/* Bytes that were just written may be copied again. */
static void repeat(unsigned char *out, size_t distance, size_t length)
{
    const unsigned char *from = out - distance;

    if (distance >= length)
        memcpy(out, from, length);
    else
        for (size_t i = 0; i < length; i++)
            out[i] = from[i];
}

static arras_status copy_back(decoding *d, unsigned control, arras_error *err)
{
    size_t length = (control >> 5) + 2, distance = (control & 31) << 8;

    if (d->end - d->in < 1 + (control >> 5 == 7))
        return lzf_damaged(d, "cut off", err);
    if (control >> 5 == 7)
        length += *d->in++;
    distance += *d->in++ + 1u;
    if (distance > (size_t)(d->out - d->start))
        return lzf_damaged(d, "a copy of what is before the start", err);
    if (length > (size_t)(d->stop - d->out))
        return lzf_damaged(d, "more comes out than should", err);
    repeat(d->out, distance, length);
    d->out += length;
    return ARRAS_OK;
}

static arras_status lzf_decode(const ar_codec_step *step, int cell_size, ar_text *out, size_t most,
                               const void *in, size_t n, arras_error *err)
{
    arras_status   status = ar_codec_room(out, most, err);
    unsigned char *start = (unsigned char *)out->data;
    decoding       d = { in, (const unsigned char *)in + n, start, start, start + most };

    (void)step, (void)cell_size;
    while (status == ARRAS_OK && d.in < d.end) {
        unsigned control = *d.in++;

        status = control < RUN ? copy_run(&d, control + 1, err) : copy_back(&d, control, err);
    }
    if (status == ARRAS_OK)
        out->length = (size_t)(d.out - d.start);
    return status;
}

/* ---- Encoding -------------------------------------------------------------------------------- */

static uint32_t hash3(const unsigned char *p)
{
    uint32_t x = p[0] | (uint32_t)p[1] << 8 | (uint32_t)p[2] << 16;

    return x * 2654435761u >> (32 - HASH_BITS);
}

static unsigned char *put_run(unsigned char *to, const unsigned char *from, size_t n)
{
    while (n > 0) {
        size_t now = n < RUN ? n : RUN;

        *to++ = (unsigned char)(now - 1);
        memcpy(to, from, now);
        to += now;
        from += now;
        n -= now;
    }
    return to;
}

static unsigned char *put_copy(unsigned char *to, size_t distance, size_t length)
{
    size_t back = distance - 1, more = length - 2;

    *to++ = (unsigned char)((more < 7 ? more : 7) << 5 | back >> 8);
    if (more >= 7)
        *to++ = (unsigned char)(more - 7);
    *to++ = (unsigned char)(back & 255);
    return to;
}

static size_t common_length(const unsigned char *a, const unsigned char *b, size_t most)
{
    size_t n = 0;

    while (n < most && a[n] == b[n])
        n++;
    return n;
}

/* How long what starts at `at` was seen before, and how far back; places are kept modulo 2^32,
 * which does for distances. */
static size_t find_copy(size_t *distance, uint32_t *seen, const unsigned char *in, size_t at,
                        size_t n)
{
    uint32_t *place = &seen[hash3(in + at)];
    size_t    most = n - at < LONGEST ? n - at : LONGEST;

    *distance = (uint32_t)at - *place;
    *place = (uint32_t)at;
    if (*distance == 0 || *distance > FARTHEST || *distance > at)
        return 0;
    return common_length(in + at - *distance, in + at, most);
}

static unsigned char *compress(unsigned char *to, uint32_t *seen, const unsigned char *in, size_t n)
{
    size_t at = 0, copied = 0; /* all before `copied` is written */

    while (at + SHORTEST <= n) {
        size_t distance, length = find_copy(&distance, seen, in, at, n);

        if (length < SHORTEST) {
            at += at - copied < HOPELESS ? 1 : STRIDE;
            continue;
        }
        to = put_run(to, in + copied, at - copied);
        to = put_copy(to, distance, length);
        at += length;
        copied = at;
    }
    return put_run(to, in + copied, n - copied);
}

static arras_status lzf_encode(const ar_codec_step *step, int cell_size, ar_text *out,
                               const void *in, size_t n, arras_error *err)
{
    arras_status status = ar_codec_room(out, n + n / RUN + 1, err);
    uint32_t    *seen;

    (void)step, (void)cell_size;
    if (status != ARRAS_OK)
        return status;
    seen = ar_alloc((size_t)1 << HASH_BITS, sizeof *seen);
    if (!seen)
        return ar_fail_memory(err, ((size_t)1 << HASH_BITS) * sizeof *seen);
    out->length = (size_t)((char *)compress((unsigned char *)out->data, seen, in, n) - out->data);
    ar_free(seen);
    return ARRAS_OK;
}

const ar_codec ar_codec_lzf = {
    .name = "lzf", .decode = lzf_decode, .encode = lzf_encode, .grown = ar_codec_grown
};
