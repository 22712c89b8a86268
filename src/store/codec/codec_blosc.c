/* codec_blosc.c -- Blosc 1 buffers, by libblosc.  They describe themselves: values are for
 * encoding. HDF5 (filter 32001): versions (2), size of elements, bytes of a chunk, level, shuffle,
 * compressor. Zarr: compressor, level, shuffle (0 none, 1 bytes, 2 bits, -1 as numcodecs chooses),
 * block size. */
#if defined ARRAS_HAVE_BLOSC
#include "store/codec/codec_parts.h"

#include <blosc.h>
#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>

/* Loaded when it is needed: it brings the C++ library with it, and most programs meet no Blosc. */
static struct {
    pthread_once_t                          once;
    bool                                    there;
    char                                    why[400];
    __typeof__(blosc_cbuffer_validate)     *validate;
    __typeof__(blosc_compcode_to_compname) *compressor_name;
    __typeof__(blosc_compress_ctx)         *compress;
    __typeof__(blosc_decompress_ctx)       *decompress;
} blosc_library = { .once = PTHREAD_ONCE_INIT };

static void load(void)
{
    const char *why;
    void       *handle = ar_library_load(ARRAS_BLOSC_LIBRARY, &why);

    snprintf(blosc_library.why, sizeof blosc_library.why, "%s", handle ? "it is another one" : why);
    if (!handle)
        return;
    *(void **)&blosc_library.validate = dlsym(handle, "blosc_cbuffer_validate");
    *(void **)&blosc_library.compressor_name = dlsym(handle, "blosc_compcode_to_compname");
    *(void **)&blosc_library.compress = dlsym(handle, "blosc_compress_ctx");
    *(void **)&blosc_library.decompress = dlsym(handle, "blosc_decompress_ctx");
    blosc_library.there = blosc_library.validate && blosc_library.compressor_name &&
                          blosc_library.compress && blosc_library.decompress;
}

bool ar_codec_blosc_loads(void)
{
    pthread_once(&blosc_library.once, load);
    return blosc_library.there;
}

static arras_status need_library(arras_error *err)
{
    if (ar_codec_blosc_loads())
        return ARRAS_OK;
    return ar_fail(err, ARRAS_EFORMAT, "blosc: %s can't be loaded: %s", ARRAS_BLOSC_LIBRARY,
                   blosc_library.why);
}

enum { LEVEL = 5 };

static arras_status blosc_decode(const ar_codec_step *step, int cell_size, ar_text *out,
                                 size_t most, const void *in, size_t n, arras_error *err)
{
    arras_status status = need_library(err);
    size_t       size;

    (void)step, (void)cell_size;
    if (status != ARRAS_OK)
        return status;
    if (n < BLOSC_MIN_HEADER_LENGTH || blosc_library.validate(in, n, &size) != 0)
        return ar_fail(err, ARRAS_EFORMAT, "blosc: the %zu stored bytes are damaged or cut off", n);
    if (size > most)
        return ar_codec_too_long("blosc", size, most, err);
    status = ar_codec_room(out, size, err);
    if (status != ARRAS_OK || size == 0)
        return status;
    /* The form without state of its own: several threads decode at once. */
    if (blosc_library.decompress(in, out->data, size, 1) != (int)size)
        return ar_fail(err, ARRAS_EFORMAT, "blosc: the %zu stored bytes do not become %zu bytes", n,
                       size);
    return ARRAS_OK;
}

/* ---- Encoding -------------------------------------------------------------------------------- */

typedef struct {
    int64_t compressor, level, shuffle, element, block;
} options;

static arras_status find_compressor(const char **name, int64_t code, arras_error *err)
{
    if (code < 0 || code > 255 || blosc_library.compressor_name((int)code, name) < 0)
        return ar_fail(err, ARRAS_EINVAL,
                       "blosc: there is no compressor %" PRId64 " in this libblosc", code);
    return ARRAS_OK;
}

static int compress(const options *o, const char *compressor, ar_text *out, const void *in,
                    size_t n)
{
    int64_t shuffle = o->shuffle >= 0   ? o->shuffle
                      : o->element == 1 ? BLOSC_BITSHUFFLE
                                        : BLOSC_SHUFFLE;

    return blosc_library.compress((int)ar_min64(ar_max64(o->level, 0), 9),
                                  (int)ar_min64(shuffle, 2), (size_t)ar_max64(o->element, 1), n, in,
                                  out->data, out->length, compressor, (size_t)ar_max64(o->block, 0),
                                  1);
}

static arras_status encode_with(const options *o, ar_text *out, const void *in, size_t n,
                                arras_error *err)
{
    const char  *compressor = NULL;
    arras_status status = need_library(err);
    int          made;

    if (status == ARRAS_OK)
        status = find_compressor(&compressor, o->compressor, err);
    if (status == ARRAS_OK && n > BLOSC_MAX_BUFFERSIZE)
        status = ar_fail(err, ARRAS_ELIMIT, "blosc: a chunk of %zu bytes; at most %d go", n,
                         BLOSC_MAX_BUFFERSIZE);
    if (status == ARRAS_OK)
        status = ar_codec_room(out, n + BLOSC_MAX_OVERHEAD, err);
    if (status != ARRAS_OK)
        return status;
    made = compress(o, compressor, out, in, n);
    if (made <= 0)
        return ar_fail(err, ARRAS_EINVAL, "blosc: %zu bytes could not be compressed (%d)", n, made);
    out->length = (size_t)made;
    return ARRAS_OK;
}

static arras_status hdf5_encode(const ar_codec_step *step, int cell_size, ar_text *out,
                                const void *in, size_t n, arras_error *err)
{
    options o = { .element = ar_codec_value(step, 2, cell_size),
                  .level = ar_codec_value(step, 4, LEVEL),
                  .shuffle = ar_codec_value(step, 5, BLOSC_SHUFFLE),
                  .compressor = ar_codec_value(step, 6, BLOSC_BLOSCLZ) };

    return encode_with(&o, out, in, n, err);
}

static arras_status zarr_encode(const ar_codec_step *step, int cell_size, ar_text *out,
                                const void *in, size_t n, arras_error *err)
{
    options o = { .compressor = ar_codec_value(step, 0, BLOSC_LZ4),
                  .level = ar_codec_value(step, 1, LEVEL),
                  .shuffle = ar_codec_value(step, 2, BLOSC_SHUFFLE),
                  .block = ar_codec_value(step, 3, 0),
                  .element = cell_size };

    return encode_with(&o, out, in, n, err);
}

const ar_codec ar_codec_blosc_hdf5 = {
    .name = "blosc", .decode = blosc_decode, .encode = hdf5_encode, .grown = ar_codec_grown
};
const ar_codec ar_codec_blosc_zarr = {
    .name = "blosc", .decode = blosc_decode, .encode = zarr_encode, .grown = ar_codec_grown
};
#else
typedef int ar_no_blosc; /* codec_absent.c refuses */
#endif
