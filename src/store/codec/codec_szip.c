/* codec_szip.c -- szip, by libaec (HDF5 filter 4).  The size that comes out stands before it, in
 * four bytes, little-endian.  Values: option mask, pixels per block, bits per pixel, pixels per
 * scanline. */
#if defined ARRAS_HAVE_SZIP
#include "store/codec/codec_parts.h"

#include <szlib.h>

enum { HEADER = 4, VALUES = 4 };

static bool block_is_valid(int64_t pixels)
{
    return pixels >= 2 && pixels <= SZ_MAX_PIXELS_PER_BLOCK && pixels % 2 == 0;
}

static bool bits_are_valid(int64_t bits)
{
    return (bits >= 1 && bits <= 24) || bits == 32 || bits == 64;
}

static arras_status find_parameters(SZ_com_t *out, const ar_codec_step *step, arras_error *err)
{
    const int64_t *v = step->values;

    if (step->nvalues < VALUES)
        return ar_fail(err, ARRAS_EFORMAT, "szip: %d parameters, %d are needed", step->nvalues,
                       VALUES);
    if (v[0] < 0 || v[0] > 255 || !block_is_valid(v[1]) || !bits_are_valid(v[2]) || v[3] < 1 ||
        v[3] > SZ_MAX_PIXELS_PER_SCANLINE || v[3] > SZ_MAX_BLOCKS_PER_SCANLINE * v[1])
        return ar_fail(err, ARRAS_EFORMAT,
                       "szip: options %" PRId64 ", %" PRId64 " pixels a block, %" PRId64
                       " bits a pixel, %" PRId64 " pixels a line are not possible together",
                       v[0], v[1], v[2], v[3]);
    *out = (SZ_com_t){ .options_mask = (int)v[0],
                       .pixels_per_block = (int)v[1],
                       .bits_per_pixel = (int)v[2],
                       .pixels_per_scanline = (int)v[3] };
    return ARRAS_OK;
}

static size_t pixel_bytes(const SZ_com_t *how)
{
    int bits = how->bits_per_pixel;

    return bits > 32 ? 8 : bits > 16 ? 4 : bits > 8 ? 2 : 1;
}

/* libaec works on whole pixels and would leave the rest as it was. */
static arras_status check_pixels(const SZ_com_t *how, size_t n, arras_error *err)
{
    size_t bytes = pixel_bytes(how);

    if (n % bytes != 0)
        return ar_fail(err, ARRAS_EFORMAT, "szip: %zu bytes are not whole pixels of %d bits", n,
                       how->bits_per_pixel);
    return ARRAS_OK;
}

static arras_status expand(ar_text *out, SZ_com_t *how, const char *in, size_t n, arras_error *err)
{
    size_t length = out->length;
    int    result;

    if (length == 0)
        return ARRAS_OK;
    result = SZ_BufftoBuffDecompress(out->data, &length, in, n, how);
    if (result == SZ_MEM_ERROR)
        return ar_fail_memory(err, out->length);
    if (result != SZ_OK || length != out->length)
        return ar_fail(err, ARRAS_EFORMAT, "szip: the %zu stored bytes do not become %zu bytes", n,
                       out->length);
    return ARRAS_OK;
}

static arras_status szip_decode(const ar_codec_step *step, int cell_size, ar_text *out, size_t most,
                                const void *in, size_t n, arras_error *err)
{
    SZ_com_t     how = { 0 };
    arras_status status = find_parameters(&how, step, err);
    uint32_t     size;

    (void)cell_size;
    if (status != ARRAS_OK)
        return status;
    if (n < HEADER)
        return ar_codec_cut_off("szip", n, HEADER, err);
    size = ar_le32(in);
    if (size > most)
        return ar_codec_too_long("szip", size, most, err);
    status = check_pixels(&how, size, err);
    if (status == ARRAS_OK)
        status = ar_codec_room(out, size, err);
    return status == ARRAS_OK ? expand(out, &how, (const char *)in + HEADER, n - HEADER, err)
                              : status;
}

/* Every line is filled up to whole blocks, however short it is. */
static size_t bound(const SZ_com_t *how, size_t n)
{
    size_t block = (size_t)how->pixels_per_block, line = (size_t)how->pixels_per_scanline;
    size_t lines = n / pixel_bytes(how) / line + 1;

    return ar_codec_grown(lines * ((line + block - 1) / block) * block * pixel_bytes(how));
}

static arras_status szip_encode(const ar_codec_step *step, int cell_size, ar_text *out,
                                const void *in, size_t n, arras_error *err)
{
    SZ_com_t     how = { 0 };
    arras_status status = find_parameters(&how, step, err);
    size_t       length = 0;

    (void)cell_size;
    /* Of others, the bits that do not belong to a pixel would be lost. */
    if (status == ARRAS_OK && how.bits_per_pixel != 8 * (int)pixel_bytes(&how))
        status = ar_fail(err, ARRAS_EINVAL, "szip: pixels of %d bits are read, but not written",
                         how.bits_per_pixel);
    if (status == ARRAS_OK && n > UINT32_MAX)
        status = ar_fail(err, ARRAS_ELIMIT, "szip: a chunk of %zu bytes; less than 4 GiB go", n);
    if (status == ARRAS_OK)
        status = check_pixels(&how, n, err);
    if (status == ARRAS_OK && n > 0)
        length = bound(&how, n);
    if (status == ARRAS_OK)
        status = ar_codec_room(out, HEADER + length, err);
    if (status != ARRAS_OK)
        return status;
    ar_put_le32(out->data, (uint32_t)n);
    if (n > 0 && SZ_BufftoBuffCompress(out->data + HEADER, &length, in, n, &how) != SZ_OK)
        return ar_fail(err, ARRAS_EINVAL, "szip: %zu bytes could not be compressed", n);
    out->length = HEADER + length;
    return ARRAS_OK;
}

const ar_codec ar_codec_szip = {
    .name = "szip", .decode = szip_decode, .encode = szip_encode, .grown = ar_codec_grown
};
#else
typedef int ar_no_szip; /* codec_absent.c refuses */
#endif
