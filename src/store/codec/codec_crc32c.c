/* codec_crc32c.c -- Zarr's checksum, CRC-32C, in the last four bytes of a chunk. */
#include "store/codec/codec_parts.h"

#include <pthread.h>
#ifdef __x86_64__
#include <immintrin.h>
#endif

enum { CHECKSUM = 4, SLICES = 8 };

/* ---- In any processor: eight bytes at once, a table for each --------------------------------- */

static uint32_t       tables[SLICES][256];
static pthread_once_t tables_once = PTHREAD_ONCE_INIT;

static void make_tables(void)
{
    for (uint32_t i = 0; i < 256; i++) {
        uint32_t x = i;

        for (int bit = 0; bit < 8; bit++)
            x = x >> 1 ^ (x & 1 ? 0x82f63b78 : 0);
        tables[0][i] = x;
    }
    for (int k = 1; k < SLICES; k++)
        for (int i = 0; i < 256; i++)
            tables[k][i] = tables[k - 1][i] >> 8 ^ tables[0][tables[k - 1][i] & 255];
}

static uint32_t crc_eight(uint32_t low, uint32_t high)
{
    return tables[7][low & 255] ^ tables[6][low >> 8 & 255] ^ tables[5][low >> 16 & 255] ^
           tables[4][low >> 24] ^ tables[3][high & 255] ^ tables[2][high >> 8 & 255] ^
           tables[1][high >> 16 & 255] ^ tables[0][high >> 24];
}

static uint32_t crc_plain(uint32_t crc, const unsigned char *p, size_t n)
{
    pthread_once(&tables_once, make_tables);
    for (; n >= 8; p += 8, n -= 8)
        crc = crc_eight(crc ^ ar_le32(p), ar_le32(p + 4));
    while (n-- > 0)
        crc = crc >> 8 ^ tables[0][(crc ^ *p++) & 255];
    return crc;
}

/* ---- With SSE4.2 ----------------------------------------------------------------------------- */

#ifdef __x86_64__
__attribute__((target("sse4.2"))) static uint32_t crc_sse42(uint32_t crc, const unsigned char *p,
                                                            size_t n)
{
    uint64_t sum = crc;

    for (; n >= 8; p += 8, n -= 8) {
        uint64_t word;

        memcpy(&word, p, sizeof word);
        sum = _mm_crc32_u64(sum, word);
    }
    crc = (uint32_t)sum;
    while (n-- > 0)
        crc = _mm_crc32_u8(crc, *p++);
    return crc;
}
#endif

static uint32_t checksum(const unsigned char *p, size_t n)
{
#ifdef __x86_64__
    if (__builtin_cpu_supports("sse4.2"))
        return ~crc_sse42(UINT32_MAX, p, n);
#endif
    return ~crc_plain(UINT32_MAX, p, n);
}

/* ---- The codec ------------------------------------------------------------------------------- */

static arras_status crc32c_strip(const ar_codec_step *step, const char **in, size_t *n,
                                 arras_error *err)
{
    uint32_t stored, sum;

    (void)step;
    if (*n < CHECKSUM)
        return ar_codec_cut_off("crc32c", *n, CHECKSUM, err);
    stored = ar_le32((const unsigned char *)*in + *n - CHECKSUM);
    sum = checksum((const unsigned char *)*in, *n - CHECKSUM);
    if (stored != sum)
        return ar_fail(err, ARRAS_EFORMAT,
                       "crc32c: the checksum is %08" PRIx32 ", stored is %08" PRIx32, sum, stored);
    *n -= CHECKSUM;
    return ARRAS_OK;
}

static arras_status crc32c_decode(const ar_codec_step *step, int cell_size, ar_text *out,
                                  size_t most, const void *in, size_t n, arras_error *err)
{
    const char  *bytes = in;
    arras_status status = crc32c_strip(step, &bytes, &n, err);

    (void)cell_size;
    return status == ARRAS_OK ? ar_codec_copy("crc32c", out, most, bytes, n, err) : status;
}

static arras_status crc32c_encode(const ar_codec_step *step, int cell_size, ar_text *out,
                                  const void *in, size_t n, arras_error *err)
{
    (void)step, (void)cell_size;
    return ar_codec_sum_up(out, in, n, checksum(in, n), err);
}

const ar_codec ar_codec_crc32c = { .name = "crc32c",
                                   .decode = crc32c_decode,
                                   .encode = crc32c_encode,
                                   .strip = crc32c_strip,
                                   .grown = ar_codec_summed };
