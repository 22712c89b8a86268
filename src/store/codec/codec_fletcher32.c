/* codec_fletcher32.c -- HDF5's checksum of 16-bit words, in the last four bytes of a chunk. */
#include "store/codec/codec_parts.h"

enum { CHECKSUM = 4, WORDS = 256 };

static uint32_t word_at(const unsigned char *p) { return (uint32_t)p[0] << 8 | p[1]; }

/* HDF5 folds its sums with end-around carry: they are taken modulo 65535, but only what is 0 from
 * the start ends as 0. */
static uint32_t fold(uint64_t sum)
{
    uint64_t rest = sum % 65535;

    return rest == 0 && sum != 0 ? 65535 : (uint32_t)rest;
}

/* sum1 adds up words, sum2 adds up sum1 after each.  Of WORDS words at once that is a product with
 * WORDS, WORDS - 1, ..., 1, which compilers turn into vectors; 32 bits are just enough. */
static uint32_t checksum(const unsigned char *p, size_t n)
{
    uint64_t sum1 = 0, sum2 = 0;
    size_t   at = 0;

    for (; n - at >= 2 * WORDS; at += 2 * WORDS) {
        uint32_t plain = 0, weighted = 0;

        for (uint32_t i = 0; i < WORDS; i++) {
            uint32_t word = word_at(p + at + 2 * i);

            plain += word;
            weighted += word * (WORDS - i);
        }
        sum2 = fold(sum2 + WORDS * sum1 + weighted);
        sum1 = fold(sum1 + plain);
    }
    for (; n - at >= 2; at += 2) {
        sum1 += word_at(p + at);
        sum2 += sum1;
    }
    if (at < n) {
        sum1 += (uint32_t)p[at] << 8;
        sum2 += sum1;
    }
    return fold(sum2) << 16 | fold(sum1);
}

/* HDF5 before 1.6.3 stored the bytes of each half in the other order, and still reads that. */
static bool agrees(uint32_t stored, uint32_t sum)
{
    uint32_t old = (sum & 0x00ff00ff) << 8 | (sum >> 8 & 0x00ff00ff);

    return stored == sum || stored == old;
}

static arras_status fletcher32_strip(const ar_codec_step *step, const char **in, size_t *n,
                                     arras_error *err)
{
    uint32_t stored, sum;

    (void)step;
    if (*n < CHECKSUM)
        return ar_codec_cut_off("fletcher32", *n, CHECKSUM, err);
    stored = ar_le32((const unsigned char *)*in + *n - CHECKSUM);
    sum = checksum((const unsigned char *)*in, *n - CHECKSUM);
    if (!agrees(stored, sum))
        return ar_fail(err, ARRAS_EFORMAT,
                       "fletcher32: the checksum is %08" PRIx32 ", stored is %08" PRIx32, sum,
                       stored);
    *n -= CHECKSUM;
    return ARRAS_OK;
}

static arras_status fletcher32_decode(const ar_codec_step *step, int cell_size, ar_text *out,
                                      size_t most, const void *in, size_t n, arras_error *err)
{
    const char  *bytes = in;
    arras_status status = fletcher32_strip(step, &bytes, &n, err);

    (void)cell_size;
    return status == ARRAS_OK ? ar_codec_copy("fletcher32", out, most, bytes, n, err) : status;
}

static arras_status fletcher32_encode(const ar_codec_step *step, int cell_size, ar_text *out,
                                      const void *in, size_t n, arras_error *err)
{
    (void)step, (void)cell_size;
    return ar_codec_sum_up(out, in, n, checksum(in, n), err);
}

const ar_codec ar_codec_fletcher32 = { .name = "fletcher32",
                                       .decode = fletcher32_decode,
                                       .encode = fletcher32_encode,
                                       .strip = fletcher32_strip,
                                       .grown = ar_codec_summed };
