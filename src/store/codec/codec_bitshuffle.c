/* codec_bitshuffle.c -- blocks of elements as rows of bits: bit 0 of all first bytes, bit 1, ...
 * (HDF5 filter 32008), each block perhaps compressed.  Elements beyond a multiple of 8 stay as they
 * are. Compressed: total size (8 bytes), size of a block (4), blocks after their stored size (4),
 * all big-endian.  Values: versions (2), size of elements, elements of a block (0: chosen),
 * compressor (0 none, 2 lz4, 3 zstd), level. */
#include "store/codec/codec_parts.h"

#if defined ARRAS_HAVE_LZ4
#include <lz4.h>
#endif
#if defined ARRAS_HAVE_ZSTD
#include <zstd.h>
#endif

enum {
    EIGHT = 8,
    HEADER = 12,
    BLOCK_HEADER = 4,
    BLOCK_BYTES = 8192,
    BLOCK_LEAST = 128,
    LARGEST = 1 << 30
};
enum { INNER_NONE = 0, INNER_LZ4 = 2, INNER_ZSTD = 3, ZSTD_LEVEL = 1 };

typedef struct {
    size_t element, block; /* bytes; elements, a multiple of 8 */
    int    inner, level;
    void  *context; /* of zstd, for all blocks of a chunk */
} layout;

/* ---- Bits of a block ------------------------------------------------------------------------- */

/* Eight bytes as a matrix of bits, transposed: halves of every pair are exchanged, three times. */
static inline uint64_t transpose_bits(uint64_t x)
{
    uint64_t t = (x ^ x >> 7) & 0x00aa00aa00aa00aa;

    x ^= t ^ t << 7;
    t = (x ^ x >> 14) & 0x0000cccc0000cccc;
    x ^= t ^ t << 14;
    t = (x ^ x >> 28) & 0x00000000f0f0f0f0;
    return x ^ t ^ t << 28;
}

static inline __attribute__((always_inline)) void transpose_each(char *bytes, size_t words)
{
    for (size_t i = 0; i < words; i++) {
        uint64_t x;

        memcpy(&x, bytes + EIGHT * i, sizeof x);
        x = transpose_bits(x);
        memcpy(bytes + EIGHT * i, &x, sizeof x);
    }
}

#ifdef __x86_64__
__attribute__((target("avx2"))) static void transpose_avx2(char *bytes, size_t words)
{
    transpose_each(bytes, words);
}
#endif

static void transpose_words(char *bytes, size_t words)
{
#ifdef __x86_64__
    if (__builtin_cpu_supports("avx2")) {
        transpose_avx2(bytes, words);
        return;
    }
#endif
    transpose_each(bytes, words);
}

/* `count` elements, a multiple of 8.  A plane (one byte of every element) is eight rows of bits:
 * their bytes are brought together like those of elements of 8 bytes, and then only bits are left.
 */
static void join_bits(char *out, char *planes, const char *in, size_t count, size_t element)
{
    for (size_t b = 0; b < element; b++) {
        ar_bytes_unshuffle(planes + b * count, in + b * count, count / EIGHT, EIGHT);
        transpose_words(planes + b * count, count / EIGHT);
    }
    ar_bytes_unshuffle(out, planes, count, element);
}

static void part_bits(char *out, char *planes, const char *in, size_t count, size_t element)
{
    ar_bytes_shuffle(planes, in, count, element);
    for (size_t b = 0; b < element; b++) {
        transpose_words(planes + b * count, count / EIGHT);
        ar_bytes_shuffle(out + b * count, planes + b * count, count / EIGHT, EIGHT);
    }
}

/* ---- Compressors of a block ------------------------------------------------------------------ */

static arras_status check_inner(int64_t inner, arras_error *err)
{
    const char *missing = NULL;

#ifndef ARRAS_HAVE_LZ4
    if (inner == INNER_LZ4)
        missing = "liblz4";
#endif
#ifndef ARRAS_HAVE_ZSTD
    if (inner == INNER_ZSTD)
        missing = "libzstd";
#endif
    if (missing)
        return ar_fail(err, ARRAS_EFORMAT, "bitshuffle: this Arras was built without %s", missing);
    if (inner != INNER_NONE && inner != INNER_LZ4 && inner != INNER_ZSTD)
        return ar_fail(err, ARRAS_EFORMAT, "bitshuffle: compressor %" PRId64 " is not known",
                       inner);
    return ARRAS_OK;
}

/* Blocks are small: a context for each would cost more than they do. */
static bool inner_open(layout *l, bool decode)
{
#if defined ARRAS_HAVE_ZSTD
    if (l->inner == INNER_ZSTD) {
        l->context = decode ? (void *)ZSTD_createDCtx() : (void *)ZSTD_createCCtx();
        return l->context != NULL;
    }
#endif
    (void)l, (void)decode;
    return true;
}

static void inner_close(layout *l, bool decode)
{
#if defined ARRAS_HAVE_ZSTD
    if (decode)
        ZSTD_freeDCtx(l->context);
    else
        ZSTD_freeCCtx(l->context);
#endif
    (void)l, (void)decode;
}

static size_t inner_bound(const layout *l, size_t n)
{
#if defined ARRAS_HAVE_ZSTD
    if (l->inner == INNER_ZSTD)
        return ZSTD_compressBound(n);
#endif
#if defined ARRAS_HAVE_LZ4
    if (l->inner == INNER_LZ4)
        return (size_t)LZ4_compressBound((int)n);
#endif
    (void)l;
    return n;
}

/* The bytes that came out; 0 where it did not go well. */
static size_t inner_decode(const layout *l, char *out, size_t room, const char *in, size_t n)
{
#if defined ARRAS_HAVE_ZSTD
    if (l->inner == INNER_ZSTD) {
        size_t made = ZSTD_decompressDCtx(l->context, out, room, in, n);

        return ZSTD_isError(made) ? 0 : made;
    }
#endif
#if defined ARRAS_HAVE_LZ4
    if (l->inner == INNER_LZ4 && n <= INT32_MAX && room <= INT32_MAX) {
        int made = LZ4_decompress_safe(in, out, (int)n, (int)room);

        return made < 0 ? 0 : (size_t)made;
    }
#endif
    (void)l, (void)out, (void)room, (void)in, (void)n;
    return 0;
}

static size_t inner_encode(const layout *l, char *out, size_t room, const char *in, size_t n)
{
#if defined ARRAS_HAVE_ZSTD
    if (l->inner == INNER_ZSTD) {
        size_t made = ZSTD_compressCCtx(l->context, out, room, in, n, l->level);

        return ZSTD_isError(made) ? 0 : made;
    }
#endif
#if defined ARRAS_HAVE_LZ4
    if (l->inner == INNER_LZ4)
        return (size_t)LZ4_compress_default(in, out, (int)n, (int)room);
#endif
    (void)l, (void)out, (void)room, (void)in, (void)n;
    return 0;
}

/* ---- Layout ---------------------------------------------------------------------------------- */

static size_t chosen_block(size_t element)
{
    size_t block = BLOCK_BYTES / element / EIGHT * EIGHT;

    return block < BLOCK_LEAST ? BLOCK_LEAST : block;
}

static arras_status check_whole(const layout *l, uint64_t n, arras_error *err)
{
    if (n % l->element != 0)
        return ar_fail(err, ARRAS_EFORMAT,
                       "bitshuffle: %" PRIu64 " bytes are not whole elements of %zu", n,
                       l->element);
    return ARRAS_OK;
}

static arras_status find_layout(layout *out, const ar_codec_step *step, int cell_size,
                                arras_error *err)
{
    int64_t element = ar_codec_value(step, 2, cell_size), block = ar_codec_value(step, 3, 0);
    int64_t inner = ar_codec_value(step, 4, INNER_NONE);

    if (element < 1 || element > LARGEST / BLOCK_LEAST)
        return ar_fail(err, ARRAS_EFORMAT, "bitshuffle: elements of %" PRId64 " bytes", element);
    if (block < 0 || block % EIGHT != 0 || block > LARGEST / element)
        return ar_fail(err, ARRAS_EFORMAT, "bitshuffle: blocks of %" PRId64 " elements", block);
    *out = (layout){ .element = (size_t)element,
                     .block = block ? (size_t)block : chosen_block((size_t)element),
                     .inner = (int)inner,
                     .level = (int)ar_codec_value(step, 5, ZSTD_LEVEL) };
    return check_inner(inner, err);
}

/* Elements of the block that begins where `left` are left; 0: what is left stays as it is. */
static size_t next_block(const layout *l, size_t left)
{
    return left < l->block ? left - left % EIGHT : l->block;
}

/* ---- Without compression --------------------------------------------------------------------- */

typedef void move_bits(char *out, char *planes, const char *in, size_t count, size_t element);

static arras_status move_plain(move_bits *move, const layout *l, ar_text *out, const char *in,
                               size_t n, arras_error *err)
{
    size_t       left = n / l->element, longest = next_block(l, left) * l->element, at = 0;
    arras_status status = check_whole(l, n, err);
    char        *planes;

    if (status == ARRAS_OK)
        status = ar_codec_room(out, n, err);
    if (status != ARRAS_OK || n == 0)
        return status;
    planes = ar_alloc(longest, 1);
    if (!planes)
        return ar_fail_memory(err, longest);
    for (size_t count; (count = next_block(l, left)) > 0; left -= count) {
        move(out->data + at, planes, in + at, count, l->element);
        at += count * l->element;
    }
    ar_free(planes);
    memcpy(out->data + at, in + at, n - at);
    return ARRAS_OK;
}

/* ---- With compression ------------------------------------------------------------------------ */

static arras_status read_header(layout *l, uint64_t *total, size_t most, const unsigned char *in,
                                size_t n, arras_error *err)
{
    uint32_t block;

    if (n < HEADER)
        return ar_codec_cut_off("bitshuffle", n, HEADER, err);
    *total = ar_be64(in);
    block = ar_be32(in + 8);
    if (*total > most)
        return ar_codec_too_long("bitshuffle", *total, most, err);
    if (block == 0 || block > INT32_MAX || block % (l->element * EIGHT) != 0)
        return ar_fail(err, ARRAS_EFORMAT,
                       "bitshuffle: blocks of %" PRIu32 " bytes for elements of %zu", block,
                       l->element);
    l->block = block / l->element;
    return check_whole(l, *total, err);
}

/* One block; *at moves behind it. */
static arras_status expand_block(const layout *l, char *out, char *scratch, size_t count,
                                 const char *in, size_t n, size_t *at, arras_error *err)
{
    size_t bytes = count * l->element, stored;

    if (n - *at < BLOCK_HEADER)
        return ar_codec_cut_off("bitshuffle", n, *at + BLOCK_HEADER, err);
    stored = ar_be32((const unsigned char *)in + *at);
    *at += BLOCK_HEADER;
    if (stored > n - *at)
        return ar_codec_cut_off("bitshuffle", n, *at + stored, err);
    if (inner_decode(l, scratch, bytes, in + *at, stored) != bytes)
        return ar_fail(err, ARRAS_EFORMAT,
                       "bitshuffle: a block of %zu stored bytes does not become %zu bytes", stored,
                       bytes);
    *at += stored;
    join_bits(out, scratch + bytes, scratch, count, l->element);
    return ARRAS_OK;
}

static arras_status expand_blocks(const layout *l, ar_text *out, char *scratch, const char *in,
                                  size_t n, arras_error *err)
{
    size_t left = out->length / l->element, at = HEADER, made = 0, rest;

    for (size_t count; (count = next_block(l, left)) > 0; left -= count) {
        arras_status status = expand_block(l, out->data + made, scratch, count, in, n, &at, err);

        if (status != ARRAS_OK)
            return status;
        made += count * l->element;
    }
    rest = out->length - made;
    if (rest > n - at)
        return ar_codec_cut_off("bitshuffle", n, at + rest, err);
    memcpy(out->data + made, in + at, rest);
    return ARRAS_OK;
}

static arras_status expand(layout *l, ar_text *out, size_t most, const char *in, size_t n,
                           arras_error *err)
{
    uint64_t     total = 0;
    arras_status status = read_header(l, &total, most, (const unsigned char *)in, n, err);
    size_t       longest;
    char        *scratch;

    if (status == ARRAS_OK)
        status = ar_codec_room(out, (size_t)total, err);
    if (status != ARRAS_OK)
        return status;
    longest = next_block(l, (size_t)total / l->element) * l->element;
    scratch = ar_alloc(longest, 2); /* rows of bits, planes of bytes */
    status = scratch && inner_open(l, true) ? expand_blocks(l, out, scratch, in, n, err)
                                            : ar_fail_memory(err, 2 * longest);
    inner_close(l, true);
    ar_free(scratch);
    return status;
}

/* Gives the end of what is written; NULL where it did not go well. */
static char *compress_blocks(const layout *l, char *to, char *scratch, size_t longest,
                             const char *in, size_t n)
{
    size_t left = n / l->element, at = 0, bound = inner_bound(l, longest);

    for (size_t count; (count = next_block(l, left)) > 0; left -= count) {
        size_t bytes = count * l->element, made;

        part_bits(scratch, scratch + longest, in + at, count, l->element);
        made = inner_encode(l, to + BLOCK_HEADER, bound, scratch, bytes);
        if (made == 0)
            return NULL;
        ar_put_be32(to, (uint32_t)made);
        to += BLOCK_HEADER + made;
        at += bytes;
    }
    if (n > at)
        memcpy(to, in + at, n - at);
    return to + (n - at);
}

static arras_status compress(layout *l, ar_text *out, const char *in, size_t n, arras_error *err)
{
    size_t left = n / l->element, longest = next_block(l, left) * l->element;
    size_t room = HEADER + (left / l->block + 1) * (BLOCK_HEADER + inner_bound(l, longest)) +
                  EIGHT * l->element;
    arras_status status = check_whole(l, n, err);
    char        *scratch, *end = NULL;

    if (status == ARRAS_OK)
        status = ar_codec_room(out, room, err);
    if (status != ARRAS_OK)
        return status;
    ar_put_be64(out->data, n);
    ar_put_be32(out->data + 8, (uint32_t)(l->block * l->element));
    scratch = ar_alloc(longest, 2);
    if (scratch && inner_open(l, false))
        end = compress_blocks(l, out->data + HEADER, scratch, longest, in, n);
    inner_close(l, false);
    ar_free(scratch);
    /* Bounds were kept: only memory can be missing. */
    if (!end)
        return ar_fail_memory(err, 2 * longest);
    out->length = (size_t)(end - out->data);
    return ARRAS_OK;
}

/* ---- The codec ------------------------------------------------------------------------------- */

static arras_status bitshuffle_decode(const ar_codec_step *step, int cell_size, ar_text *out,
                                      size_t most, const void *in, size_t n, arras_error *err)
{
    layout       l = { 0 };
    arras_status status = find_layout(&l, step, cell_size, err);

    if (status != ARRAS_OK)
        return status;
    if (l.inner != INNER_NONE)
        return expand(&l, out, most, in, n, err);
    if (n > most)
        return ar_codec_too_long("bitshuffle", n, most, err);
    return move_plain(join_bits, &l, out, in, n, err);
}

static arras_status bitshuffle_encode(const ar_codec_step *step, int cell_size, ar_text *out,
                                      const void *in, size_t n, arras_error *err)
{
    layout       l = { 0 };
    arras_status status = find_layout(&l, step, cell_size, err);

    if (status != ARRAS_OK)
        return status;
    return l.inner != INNER_NONE ? compress(&l, out, in, n, err)
                                 : move_plain(part_bits, &l, out, in, n, err);
}

const ar_codec ar_codec_bitshuffle = { .name = "bitshuffle",
                                       .decode = bitshuffle_decode,
                                       .encode = bitshuffle_encode,
                                       .grown = ar_codec_grown };
