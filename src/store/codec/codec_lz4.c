/* codec_lz4.c -- LZ4 blocks, by liblz4, in the two frames that files of arrays have.
 * HDF5 (filter 32004): total size (8 bytes) and block size (4); then blocks, each after its stored
 * size (4), all big-endian; a block of its own full size is stored as it is.  Values: block size.
 * Zarr (numcodecs): total size (4 bytes, little-endian) and one block.  Values: acceleration. */
#if defined ARRAS_HAVE_LZ4
#include "store/codec/codec_parts.h"

#include <limits.h>
#include <lz4.h>

enum { HDF5_HEADER = 12, BLOCK_HEADER = 4, ZARR_HEADER = 4, HDF5_BLOCK = 1 << 30 };

/* Exactly `size` bytes of a block. */
static arras_status decode_block(char *to, size_t size, const char *in, size_t n, arras_error *err)
{
    int made = -1;

    if (n <= INT_MAX && size <= INT_MAX)
        made = LZ4_decompress_safe(in, to, (int)n, (int)size);
    if (made < 0 || (size_t)made != size)
        return ar_fail(err, ARRAS_EFORMAT,
                       "lz4: a block of %zu stored bytes does not become %zu bytes", n, size);
    return ARRAS_OK;
}

/* ---- HDF5 ------------------------------------------------------------------------------------ */

static arras_status hdf5_blocks(ar_text *out, size_t block, const char *in, size_t n,
                                arras_error *err)
{
    size_t at = HDF5_HEADER;

    for (size_t made = 0; made < out->length; made += block) {
        size_t       size = block < out->length - made ? block : out->length - made, stored;
        arras_status status = ARRAS_OK;

        if (n - at < BLOCK_HEADER)
            return ar_codec_cut_off("lz4", n, at + BLOCK_HEADER, err);
        stored = ar_be32((const unsigned char *)in + at);
        at += BLOCK_HEADER;
        if (stored > n - at)
            return ar_codec_cut_off("lz4", n, at + stored, err);
        if (stored == size)
            memcpy(out->data + made, in + at, size);
        else
            status = decode_block(out->data + made, size, in + at, stored, err);
        if (status != ARRAS_OK)
            return status;
        at += stored;
    }
    return ARRAS_OK;
}

static arras_status hdf5_decode(const ar_codec_step *step, int cell_size, ar_text *out, size_t most,
                                const void *in, size_t n, arras_error *err)
{
    const unsigned char *header = in;
    uint64_t             total;
    uint32_t             block;
    arras_status         status;

    (void)step, (void)cell_size;
    if (n < HDF5_HEADER)
        return ar_codec_cut_off("lz4", n, HDF5_HEADER, err);
    total = ar_be64(header);
    block = ar_be32(header + 8);
    if (total > most)
        return ar_codec_too_long("lz4", total, most, err);
    if (total > 0 && block == 0)
        return ar_fail(err, ARRAS_EFORMAT, "lz4: %" PRIu64 " bytes in blocks of 0 bytes", total);
    status = ar_codec_room(out, (size_t)total, err);
    return status == ARRAS_OK ? hdf5_blocks(out, block, in, n, err) : status;
}

/* Gives the end of the block. */
static char *hdf5_put_block(char *to, const char *in, size_t size)
{
    char *bytes = to + BLOCK_HEADER;
    int   made = LZ4_compress_default(in, bytes, (int)size, LZ4_compressBound((int)size));

    if (made <= 0 || (size_t)made >= size) {
        memcpy(bytes, in, size);
        made = (int)size;
    }
    ar_put_be32(to, (uint32_t)made);
    return bytes + made;
}

static arras_status hdf5_encode(const ar_codec_step *step, int cell_size, ar_text *out,
                                const void *in, size_t n, arras_error *err)
{
    int64_t      asked = ar_codec_value(step, 0, 0);
    size_t       block = asked > 0 && asked < HDF5_BLOCK ? (size_t)asked : HDF5_BLOCK;
    arras_status status;
    char        *to;

    (void)cell_size;
    if (block > n)
        block = n;
    status = ar_codec_room(
        out,
        HDF5_HEADER +
            (n ? (n / block + 1) * (BLOCK_HEADER + (size_t)LZ4_compressBound((int)block)) : 0),
        err);
    if (status != ARRAS_OK)
        return status;
    ar_put_be64(out->data, n);
    ar_put_be32(out->data + 8, (uint32_t)block);
    to = out->data + HDF5_HEADER;
    for (size_t at = 0; at < n; at += block)
        to = hdf5_put_block(to, (const char *)in + at, block < n - at ? block : n - at);
    out->length = (size_t)(to - out->data);
    return ARRAS_OK;
}

/* ---- Zarr ------------------------------------------------------------------------------------ */

static arras_status zarr_decode(const ar_codec_step *step, int cell_size, ar_text *out, size_t most,
                                const void *in, size_t n, arras_error *err)
{
    arras_status status;
    uint32_t     size;

    (void)step, (void)cell_size;
    if (n < ZARR_HEADER)
        return ar_codec_cut_off("lz4", n, ZARR_HEADER, err);
    size = ar_le32(in);
    if (size > most)
        return ar_codec_too_long("lz4", size, most, err);
    status = ar_codec_room(out, size, err);
    if (status != ARRAS_OK)
        return status;
    return decode_block(out->data, size, (const char *)in + ZARR_HEADER, n - ZARR_HEADER, err);
}

static arras_status zarr_encode(const ar_codec_step *step, int cell_size, ar_text *out,
                                const void *in, size_t n, arras_error *err)
{
    int64_t      speed = ar_min64(ar_max64(ar_codec_value(step, 0, 1), 1), 65537);
    arras_status status;
    int          bound;

    (void)cell_size;
    if (n > LZ4_MAX_INPUT_SIZE)
        return ar_fail(err, ARRAS_ELIMIT, "lz4: a chunk of %zu bytes; at most %d go into a block",
                       n, LZ4_MAX_INPUT_SIZE);
    bound = LZ4_compressBound((int)n);
    status = ar_codec_room(out, ZARR_HEADER + (size_t)bound, err);
    if (status != ARRAS_OK)
        return status;
    ar_put_le32(out->data, (uint32_t)n);
    out->length = ZARR_HEADER +
                  (size_t)LZ4_compress_fast(in, out->data + ZARR_HEADER, (int)n, bound, (int)speed);
    return ARRAS_OK;
}

const ar_codec ar_codec_lz4_hdf5 = {
    .name = "lz4", .decode = hdf5_decode, .encode = hdf5_encode, .grown = ar_codec_grown
};
const ar_codec ar_codec_lz4_zarr = {
    .name = "lz4", .decode = zarr_decode, .encode = zarr_encode, .grown = ar_codec_grown
};
#else
typedef int ar_no_lz4; /* codec_absent.c refuses */
#endif
