/* codec_parts.h -- what codecs share: room for results, numbers in bytes, usual failures.  Seen by
 * codec_*.c and chain*.c only. */
#ifndef AR_CODEC_PARTS_H
#define AR_CODEC_PARTS_H

#include "store/codec/codec.h"

#include <string.h>

/* Makes `out` n bytes long; what was in it is lost.  Memory that is not ours to grow (the caller's
 * cells) is as long as the step may ask for: chain.c sees to that. */
arras_status ar_codec_room(ar_text *out, size_t n, arras_error *err);
/* `out` becomes a copy; fails where n > most. */
arras_status ar_codec_copy(const char *name, ar_text *out, size_t most, const void *in, size_t n,
                           arras_error *err);

arras_status ar_codec_too_long(const char *name, uint64_t n, size_t most, arras_error *err);
arras_status ar_codec_cut_off(const char *name, size_t n, uint64_t needed, arras_error *err);

/* For codecs whose library is missing (codec_absent.c). */
arras_status ar_codec_refuse_decode(const ar_codec_step *step, int cell_size, ar_text *out,
                                    size_t most, const void *in, size_t n, arras_error *err);
arras_status ar_codec_refuse_encode(const ar_codec_step *step, int cell_size, ar_text *out,
                                    const void *in, size_t n, arras_error *err);

/* libblosc is loaded when it is first needed: whether this machine has it. */
bool ar_codec_blosc_loads(void);

/* For `grown` of compressors: enough for any that does not try to waste. */
size_t ar_codec_grown(size_t n);

/* A value of a step, or `otherwise` where it has none. */
static inline int64_t ar_codec_value(const ar_codec_step *step, int k, int64_t otherwise)
{
    return k < step->nvalues ? step->values[k] : otherwise;
}

/* ---- Numbers in bytes ------------------------------------------------------------------------ */

static inline uint32_t ar_le32(const unsigned char *p)
{
    return p[0] | (uint32_t)p[1] << 8 | (uint32_t)p[2] << 16 | (uint32_t)p[3] << 24;
}

static inline uint32_t ar_be32(const unsigned char *p)
{
    return p[3] | (uint32_t)p[2] << 8 | (uint32_t)p[1] << 16 | (uint32_t)p[0] << 24;
}

static inline uint64_t ar_be64(const unsigned char *p)
{
    return (uint64_t)ar_be32(p) << 32 | ar_be32(p + 4);
}

/* The bytes, and a checksum of 4 after them. */
arras_status ar_codec_sum_up(ar_text *out, const void *in, size_t n, uint32_t sum,
                             arras_error *err);
size_t       ar_codec_summed(size_t n);

static inline void ar_put_le32(void *to, uint32_t x)
{
    unsigned char b[4] = { x & 255, x >> 8 & 255, x >> 16 & 255, (unsigned char)(x >> 24) };

    memcpy(to, b, sizeof b);
}

static inline void ar_put_be32(void *to, uint32_t x)
{
    unsigned char b[4] = { (unsigned char)(x >> 24), x >> 16 & 255, x >> 8 & 255, x & 255 };

    memcpy(to, b, sizeof b);
}

static inline void ar_put_be64(void *to, uint64_t x)
{
    ar_put_be32(to, (uint32_t)(x >> 32));
    ar_put_be32((char *)to + 4, (uint32_t)x);
}

/* ---- Bytes of elements (codec_shuffle.c) ----------------------------------------------------- */

/* First bytes of all `count` elements, then their second bytes, ...; and back. */
void ar_bytes_shuffle(void *out, const void *in, size_t count, size_t size);
void ar_bytes_unshuffle(void *out, const void *in, size_t count, size_t size);

#endif
