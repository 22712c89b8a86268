/* codec_zstd.c -- Zstandard frames, by libzstd.  Values: level; whether frames carry a checksum. */
#if defined ARRAS_HAVE_ZSTD
#include "store/codec/codec_parts.h"

#include <zstd.h>

enum { LEVEL = 3 };

/* A frame that says how long it becomes is refused before there is memory for it. */
static arras_status check_promise(size_t most, const void *in, size_t n, arras_error *err)
{
    unsigned long long promised = ZSTD_getFrameContentSize(in, n);

    if (promised == ZSTD_CONTENTSIZE_ERROR)
        return ar_fail(err, ARRAS_EFORMAT, "zstd: the %zu stored bytes start with no frame", n);
    if (promised != ZSTD_CONTENTSIZE_UNKNOWN && promised > most)
        return ar_codec_too_long("zstd", promised, most, err);
    return ARRAS_OK;
}

static arras_status decode(const ar_codec_step *step, int cell_size, ar_text *out, size_t most,
                           const void *in, size_t n, arras_error *err)
{
    arras_status status = check_promise(most, in, n, err);
    size_t       made;

    (void)step, (void)cell_size;
    if (status == ARRAS_OK)
        status = ar_codec_room(out, most, err);
    if (status != ARRAS_OK)
        return status;
    made = ZSTD_decompress(out->data, most, in, n);
    if (ZSTD_isError(made))
        return ar_fail(err, ARRAS_EFORMAT, "zstd: %s (%zu bytes are stored, at most %zu come out)",
                       ZSTD_getErrorName(made), n, most);
    out->length = made;
    return ARRAS_OK;
}

static size_t compress(ZSTD_CCtx *context, const ar_codec_step *step, ar_text *out, const void *in,
                       size_t n)
{
    size_t result = ZSTD_CCtx_setParameter(context, ZSTD_c_compressionLevel,
                                           (int)ar_codec_value(step, 0, LEVEL));

    if (!ZSTD_isError(result))
        result =
            ZSTD_CCtx_setParameter(context, ZSTD_c_checksumFlag, ar_codec_value(step, 1, 0) != 0);
    return ZSTD_isError(result) ? result : ZSTD_compress2(context, out->data, out->length, in, n);
}

static arras_status encode(const ar_codec_step *step, int cell_size, ar_text *out, const void *in,
                           size_t n, arras_error *err)
{
    arras_status status = ar_codec_room(out, ZSTD_compressBound(n), err);
    ZSTD_CCtx   *context;
    size_t       made;

    (void)cell_size;
    if (status != ARRAS_OK)
        return status;
    context = ZSTD_createCCtx();
    if (!context)
        return ar_fail_memory(err, 0);
    made = compress(context, step, out, in, n);
    ZSTD_freeCCtx(context);
    if (ZSTD_isError(made))
        return ar_fail(err, ARRAS_EINVAL, "zstd: %s", ZSTD_getErrorName(made));
    out->length = made;
    return ARRAS_OK;
}

const ar_codec ar_codec_zstd = {
    .name = "zstd", .decode = decode, .encode = encode, .grown = ar_codec_grown
};
#else
typedef int ar_no_zstd; /* codec_absent.c refuses */
#endif
