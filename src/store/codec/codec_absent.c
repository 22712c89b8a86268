/* codec_absent.c -- stands for codecs whose library this Arras was built without: they refuse. */
#include "store/codec/codec_parts.h"

static arras_status refuse(const ar_codec_step *step, arras_error *err)
{
    return ar_fail(err, ARRAS_EFORMAT, "%s: this Arras was built without %s", step->codec->name,
                   step->codec->missing);
}

arras_status ar_codec_refuse_decode(const ar_codec_step *step, int cell_size, ar_text *out,
                                    size_t most, const void *in, size_t n, arras_error *err)
{
    (void)cell_size, (void)out, (void)most, (void)in, (void)n;
    return refuse(step, err);
}

arras_status ar_codec_refuse_encode(const ar_codec_step *step, int cell_size, ar_text *out,
                                    const void *in, size_t n, arras_error *err)
{
    (void)cell_size, (void)out, (void)in, (void)n;
    return refuse(step, err);
}

#define ABSENT(called, library)                                                                    \
    {                                                                                              \
        .name = called, .decode = ar_codec_refuse_decode, .encode = ar_codec_refuse_encode,        \
        .missing = library                                                                         \
    }

#ifndef ARRAS_HAVE_DEFLATE
const ar_codec ar_codec_deflate = ABSENT("deflate", "libdeflate");
const ar_codec ar_codec_zlib = ABSENT("zlib", "libdeflate");
const ar_codec ar_codec_gzip = ABSENT("gzip", "libdeflate");
#endif
#ifndef ARRAS_HAVE_ZSTD
const ar_codec ar_codec_zstd = ABSENT("zstd", "libzstd");
#endif
#ifndef ARRAS_HAVE_LZ4
const ar_codec ar_codec_lz4_hdf5 = ABSENT("lz4", "liblz4");
const ar_codec ar_codec_lz4_zarr = ABSENT("lz4", "liblz4");
#endif
#ifndef ARRAS_HAVE_BLOSC
const ar_codec ar_codec_blosc_hdf5 = ABSENT("blosc", "libblosc");
const ar_codec ar_codec_blosc_zarr = ABSENT("blosc", "libblosc");

bool ar_codec_blosc_loads(void) { return false; }
#endif
#ifndef ARRAS_HAVE_SZIP
const ar_codec ar_codec_szip = ABSENT("szip", "libaec");
#endif
