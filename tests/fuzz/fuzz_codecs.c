/* fuzz_codecs.c -- any bytes as a stored chunk: cells or one line; and as cells, which come back
 * from what they are encoded to.  The first byte chooses the codecs, two more the size of the
 * chunk. */
#include "store/codec/codec.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define ONE(codec_, ...)                                                                           \
    {                                                                                              \
        .steps = { { &codec_, { __VA_ARGS__ }, sizeof((int64_t[]){ __VA_ARGS__ }) / 8 } }, .n = 1, \
        .cell_size = 4                                                                             \
    }

static const ar_codec_chain chains[] = {
    ONE(ar_codec_deflate, 1),
    ONE(ar_codec_gzip, 1),
    ONE(ar_codec_zstd, 1, 1),
    ONE(ar_codec_lz4_hdf5, 16),
    ONE(ar_codec_lz4_zarr, 1),
    ONE(ar_codec_lzf, 0),
    ONE(ar_codec_shuffle, 4),
    ONE(ar_codec_shuffle, 3),
    ONE(ar_codec_bitshuffle, 0, 4, 4, 0, 0),
    ONE(ar_codec_bitshuffle, 0, 4, 2, 16, 2),
    ONE(ar_codec_bitshuffle, 0, 4, 3, 8, 3),
    ONE(ar_codec_szip, 128 | 32 | 8, 8, 32, 24),
    ONE(ar_codec_szip, 128 | 4 | 16, 4, 16, 5),
    ONE(ar_codec_szip, 128 | 32, 32, 64, 100),
    ONE(ar_codec_szip, 32, 16, 8, 16),
    ONE(ar_codec_szip, 32 | 8, 2, 11, 7),
    ONE(ar_codec_fletcher32, 0),
    ONE(ar_codec_crc32c, 0),
    ONE(ar_codec_blosc_hdf5, 2, 2, 4, 0, 5, 1, 0),
    ONE(ar_codec_blosc_zarr, 1, 5, 2, 0),
    ONE(ar_codec_swap, 2),
    ONE(ar_codec_transpose, 2, 1, 0, 3, 5),
    { .steps = { { &ar_codec_transpose, { 3, 2, 0, 1, 2, 3, 4 }, 7 },
                 { &ar_codec_shuffle, { 4 }, 1 },
                 { &ar_codec_fletcher32, { 0 }, 0 },
                 { &ar_codec_deflate, { 1 }, 1 },
                 { &ar_codec_crc32c, { 0 }, 0 } },
      .n = 5,
      .cell_size = 4 },
};

static void check_line(const arras_error *err)
{
    if (!*err->text || strchr(err->text, '\n'))
        abort();
}

static void decode(const ar_codec_chain *chain, uint32_t skipped, size_t size,
                   const uint8_t *stored, size_t n)
{
    char       *cells = malloc(size ? size : 1); /* of its exact size, so that ASan sees its end */
    arras_error err = { 0 };

    if (cells && ar_chain_decode(chain, skipped, cells, size, stored, n, &err) != ARRAS_OK)
        check_line(&err);
    free(cells);
}

static void encode(const ar_codec_chain *chain, const uint8_t *cells, size_t size)
{
    char       *back = malloc(size ? size : 1);
    ar_text     out = { 0 };
    arras_error err = { 0 };

    if (back && ar_chain_encode(chain, &out, cells, size, &err) != ARRAS_OK)
        check_line(&err);
    else if (back && (ar_chain_decode(chain, 0, back, size, out.data, out.length, &err) ||
                      memcmp(back, cells, size) != 0))
        abort();
    ar_text_free(&out);
    free(back);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const ar_codec_chain *chain;

    if (size < 4)
        return 0;
    chain = &chains[data[0] % AR_COUNT(chains)];
    decode(chain, data[3], (size_t)(data[1] | data[2] << 8), data + 4, size - 4);
    decode(chain, 0, (size_t)(data[1] | data[2] << 8), data + 4, size - 4);
    encode(chain, data + 4, size - 4);
    return ar_alloc_live() == 0 ? 0 : (abort(), 0);
}
