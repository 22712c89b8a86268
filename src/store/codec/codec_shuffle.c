/* codec_shuffle.c -- first bytes of all elements, then all second bytes, ... (HDF5 filter 2). Bytes
 * that make no whole element stay at the end.  Values: size of elements. */
#include "store/codec/codec_parts.h"

/* Elements that are done at once, so that what is written in strides stays in the cache. */
enum { BLOCK = 512 };

static void shuffle_plain(char *out, const char *in, size_t from, size_t count, size_t size)
{
    for (size_t start = from; start < count; start += BLOCK) {
        size_t end = count - start < BLOCK ? count : start + BLOCK;

        for (size_t b = 0; b < size; b++)
            for (size_t i = start; i < end; i++)
                out[b * count + i] = in[i * size + b];
    }
}

/* Those from `from` on, of n of all `count` elements; `in` is the first byte of the first. */
static void unshuffle_plain(char *out, const char *in, size_t from, size_t n, size_t count,
                            size_t size)
{
    for (size_t start = from; start < n; start += BLOCK) {
        size_t end = n - start < BLOCK ? n : start + BLOCK;

        for (size_t b = 0; b < size; b++)
            for (size_t i = start; i < end; i++)
                out[i * size + b] = in[b * count + i];
    }
}

/* ---- Sixteen elements of 2, 4, 8 or 16 bytes in registers ------------------------------------ */

#ifdef __x86_64__
#include <emmintrin.h>

enum { AT_ONCE = 16, WIDEST = 16 };

#define INLINE static inline __attribute__((always_inline))

/* Merging row i with row i + size / 2, byte by byte, doubles how many bytes of an element stand
 * together. */
INLINE void merge_rows(__m128i *rows, int size)
{
    __m128i merged[WIDEST];

    for (int i = 0; i < size / 2; i++) {
        merged[2 * i] = _mm_unpacklo_epi8(rows[i], rows[i + size / 2]);
        merged[2 * i + 1] = _mm_unpackhi_epi8(rows[i], rows[i + size / 2]);
    }
    for (int i = 0; i < size; i++)
        rows[i] = merged[i];
}

/* The way back: even bytes of a pair of rows, and odd ones. */
INLINE void part_rows(__m128i *rows, int size)
{
    const __m128i low = _mm_set1_epi16(255);
    __m128i       parted[WIDEST];

    for (int i = 0; i < size / 2; i++) {
        __m128i a = rows[2 * i], b = rows[2 * i + 1];

        parted[i] = _mm_packus_epi16(_mm_and_si128(a, low), _mm_and_si128(b, low));
        parted[i + size / 2] = _mm_packus_epi16(_mm_srli_epi16(a, 8), _mm_srli_epi16(b, 8));
    }
    for (int i = 0; i < size; i++)
        rows[i] = parted[i];
}

INLINE void put(__m128i *to, __m128i bytes, bool far)
{
    if (far)
        _mm_stream_si128(to, bytes);
    else
        _mm_storeu_si128(to, bytes);
}

/* far: around the caches, to whole vectors of memory. */
INLINE size_t unshuffle_sixteens(char *out, const char *in, size_t n, size_t count, int size,
                                 bool far)
{
    size_t at = 0;

    for (; n - at >= AT_ONCE; at += AT_ONCE) {
        __m128i rows[WIDEST];

        for (int b = 0; b < size; b++)
            rows[b] = _mm_loadu_si128((const __m128i *)(in + (size_t)b * count + at));
        for (int k = 1; k < size; k *= 2)
            merge_rows(rows, size);
        for (int b = 0; b < size; b++)
            put((__m128i *)(out + at * (size_t)size) + b, rows[b], far);
    }
    return at;
}

INLINE size_t shuffle_sixteens(char *out, const char *in, size_t count, int size)
{
    size_t at = 0;

    for (; count - at >= AT_ONCE; at += AT_ONCE) {
        __m128i rows[WIDEST];

        for (int b = 0; b < size; b++)
            rows[b] = _mm_loadu_si128((const __m128i *)(in + at * (size_t)size) + b);
        for (int k = 1; k < size; k *= 2)
            part_rows(rows, size);
        for (int b = 0; b < size; b++)
            _mm_storeu_si128((__m128i *)(out + (size_t)b * count + at), rows[b]);
    }
    return at;
}

/* How many elements were done; a constant size makes registers of the rows. */
INLINE size_t unshuffle_rows(char *out, const char *in, size_t n, size_t count, size_t size,
                             bool far)
{
    switch (size) {
    case 2: return unshuffle_sixteens(out, in, n, count, 2, far);
    case 4: return unshuffle_sixteens(out, in, n, count, 4, far);
    case 8: return unshuffle_sixteens(out, in, n, count, 8, far);
    case 16: return unshuffle_sixteens(out, in, n, count, 16, far);
    default: return 0;
    }
}

static size_t unshuffle_fast(char *out, const char *in, size_t n, size_t count, size_t size,
                             bool far)
{
    if (far && (uintptr_t)out % sizeof(__m128i) == 0)
        return unshuffle_rows(out, in, n, count, size, true);
    return unshuffle_rows(out, in, n, count, size, false);
}

static size_t shuffle_fast(char *out, const char *in, size_t count, size_t size)
{
    switch (size) {
    case 2: return shuffle_sixteens(out, in, count, 2);
    case 4: return shuffle_sixteens(out, in, count, 4);
    case 8: return shuffle_sixteens(out, in, count, 8);
    case 16: return shuffle_sixteens(out, in, count, 16);
    default: return 0;
    }
}

#else

static size_t unshuffle_fast(char *out, const char *in, size_t n, size_t count, size_t size,
                             bool far)
{
    (void)out, (void)in, (void)n, (void)count, (void)size, (void)far;
    return 0;
}

static size_t shuffle_fast(char *out, const char *in, size_t count, size_t size)
{
    (void)out, (void)in, (void)count, (void)size;
    return 0;
}

#endif

/* ---- Any number of elements ------------------------------------------------------------------ */

void ar_bytes_shuffle(void *out, const void *in, size_t count, size_t size)
{
    if (size == 1 && count > 0)
        memcpy(out, in, count);
    else
        shuffle_plain(out, in, shuffle_fast(out, in, count, size), count, size);
}

static void unshuffle_some(void *out, const char *in, size_t n, size_t count, size_t size, bool far)
{
    if (size == 1 && n > 0)
        memcpy(out, in, n);
    else
        unshuffle_plain(out, in, unshuffle_fast(out, in, n, count, size, far), n, count, size);
}

void ar_bytes_unshuffle(void *out, const void *in, size_t count, size_t size)
{
    unshuffle_some(out, in, count, count, size, false);
}

/* ---- The codec ------------------------------------------------------------------------------- */

static arras_status bad_size(int64_t size, arras_error *err)
{
    return ar_fail(err, ARRAS_EFORMAT, "shuffle: elements of %" PRId64 " bytes", size);
}

typedef void rearrange(void *out, const void *in, size_t count, size_t size);

static arras_status shuffle_with(rearrange *move, const ar_codec_step *step, int cell_size,
                                 ar_text *out, const char *in, size_t n, arras_error *err)
{
    int64_t      size = ar_codec_value(step, 0, cell_size);
    size_t       whole;
    arras_status status;

    if (size < 1)
        return bad_size(size, err);
    status = ar_codec_room(out, n, err);
    if (status != ARRAS_OK || n == 0)
        return status;
    whole = n - n % (size_t)size;
    move(out->data, in, n / (size_t)size, (size_t)size);
    memcpy(out->data + whole, in + whole, n - whole);
    return ARRAS_OK;
}

static arras_status shuffle_decode(const ar_codec_step *step, int cell_size, ar_text *out,
                                   size_t most, const void *in, size_t n, arras_error *err)
{
    if (n > most)
        return ar_codec_too_long("shuffle", n, most, err);
    return shuffle_with(ar_bytes_unshuffle, step, cell_size, out, in, n, err);
}

/* From within an element, or to the bytes that make none. */
static void unshuffle_bytes(char *out, size_t at, size_t n, const char *in, size_t count,
                            size_t size)
{
    for (size_t i = 0; i < n; i++) {
        size_t element = (at + i) / size;

        out[i] = in[element < count ? (at + i) % size * count + element : at + i];
    }
}

static arras_status shuffle_decode_part(const ar_codec_step *step, int cell_size, void *out,
                                        size_t at, size_t n, bool far, const void *in, size_t all,
                                        arras_error *err)
{
    int64_t value = ar_codec_value(step, 0, cell_size);
    size_t  size = (size_t)value, count;

    if (value < 1)
        return bad_size(value, err);
    count = all / size;
    if (at % size || n % size || at + n > count * size)
        unshuffle_bytes(out, at, n, in, count, size);
    else
        unshuffle_some(out, (const char *)in + at / size, n / size, count, size, far);
    return ARRAS_OK;
}

static arras_status shuffle_encode(const ar_codec_step *step, int cell_size, ar_text *out,
                                   const void *in, size_t n, arras_error *err)
{
    return shuffle_with(ar_bytes_shuffle, step, cell_size, out, in, n, err);
}

const ar_codec ar_codec_shuffle = { .name = "shuffle",
                                    .decode = shuffle_decode,
                                    .decode_part = shuffle_decode_part,
                                    .encode = shuffle_encode };
