/* store_hdf5_filter.c -- filters of HDF5 and chains of codecs, both ways. */
#include "store/store.h"
#if defined ARRAS_HAVE_HDF5
#include "store/hdf5/store_hdf5.h"

#include <stdio.h>
#include <string.h>

/* Numbers of filters that are registered with The HDF Group but are no part of libhdf5. */
enum { LZF = 32000, BLOSC = 32001, LZ4 = 32004, BITSHUFFLE = 32008, ZSTD = 32015 };

typedef struct {
    H5Z_filter_t    id;
    const ar_codec *codec;
    bool            ours; /* libhdf5 does not know it by itself */
} known_filter;

static const known_filter known[] = {
    { H5Z_FILTER_DEFLATE, &ar_codec_deflate, false },
    { H5Z_FILTER_SHUFFLE, &ar_codec_shuffle, false },
    { H5Z_FILTER_FLETCHER32, &ar_codec_fletcher32, false },
    { H5Z_FILTER_SZIP, &ar_codec_szip, false },
    { LZF, &ar_codec_lzf, true },
    { BLOSC, &ar_codec_blosc_hdf5, true },
    { LZ4, &ar_codec_lz4_hdf5, true },
    { BITSHUFFLE, &ar_codec_bitshuffle, true },
    { ZSTD, &ar_codec_zstd, true },
};

static const known_filter *find_filter(H5Z_filter_t id)
{
    for (size_t i = 0; i < AR_COUNT(known); i++)
        if (known[i].id == id)
            return &known[i];
    return NULL;
}

static const known_filter *find_codec(const ar_codec *codec)
{
    for (size_t i = 0; i < AR_COUNT(known); i++)
        if (known[i].codec == codec)
            return &known[i];
    return NULL;
}

/* ---- Reading --------------------------------------------------------------------------------- */

typedef struct {
    H5Z_filter_t id;
    unsigned     flags, values[AR_CODEC_PARAMETERS];
    size_t       nvalues;
    char         name[64];
} stored_filter;

static bool read_filter(stored_filter *out, hid_t plist, unsigned i)
{
    unsigned config;

    out->nvalues = AR_COUNT(out->values);
    out->id = H5Pget_filter2(plist, i, &out->flags, &out->nvalues, out->values, sizeof out->name,
                             out->name, &config);
    out->name[sizeof out->name - 1] = '\0';
    return out->id >= 0;
}

static ar_codec_step *add_step(ar_codec_chain *chain, const ar_codec *codec)
{
    ar_codec_step *step = &chain->steps[chain->n++];

    step->codec = codec;
    step->nvalues = 0;
    return step;
}

static void add_words(ar_h5_filters *out, const char *words)
{
    size_t at = strlen(out->codecs);

    snprintf(out->codecs + at, sizeof out->codecs - at, "%s%s", at ? ", " : "", words);
}

static void add_known(ar_h5_filters *out, const ar_codec *codec, const stored_filter *filter)
{
    ar_codec_step *step = add_step(&out->chain, codec);
    ar_codec_chain one = { .n = 1, .cell_size = out->chain.cell_size };
    char           words[64];

    for (size_t i = 0; i < filter->nvalues; i++) /* levels of zstd may be negative */
        step->values[step->nvalues++] =
            filter->id == ZSTD ? (int64_t)(int32_t)filter->values[i] : (int64_t)filter->values[i];
    one.steps[0] = *step;
    ar_chain_print(words, sizeof words, &one);
    add_words(out, words);
}

/* What nobody here knows is left to libhdf5 and its plug-ins, if there are any. */
static void add_other(ar_h5_filters *out, const stored_filter *filter)
{
    char words[128];

    snprintf(words, sizeof words, "filter %d%s%s%s", filter->id, *filter->name ? " (" : "",
             filter->name, *filter->name ? ")" : "");
    add_words(out, words);
    out->known = false;
    if (H5Zfilter_avail(filter->id) <= 0)
        memcpy(out->missing, words, sizeof words);
}

static void add_filter(ar_h5_filters *out, const stored_filter *filter)
{
    const known_filter *match = find_filter(filter->id);

    if (match && !match->codec->missing && filter->nvalues <= AR_CODEC_PARAMETERS &&
        out->chain.n < AR_CODECS)
        add_known(out, match->codec, filter);
    else
        add_other(out, filter);
}

arras_status ar_h5_filters_read(ar_h5_filters *out, hid_t plist, const ar_h5_type *type,
                                const char *name, arras_error *err)
{
    int           n = H5Pget_nfilters(plist);
    stored_filter filter;

    *out = (ar_h5_filters){ .known = true, .chain.cell_size = (int)type->size };
    if (n < 0)
        return ar_h5_fail(err, ARRAS_EFORMAT, name, "its filters can't be read");
    if (type->half) {
        add_step(&out->chain, &ar_codec_float16);
        add_words(out, ar_codec_float16.name);
    }
    if (type->swap) {
        ar_codec_step *step = add_step(&out->chain, &ar_codec_swap);

        step->values[step->nvalues++] = type->swap;
    }
    out->first = out->chain.n;
    for (int i = 0; i < n; i++) {
        if (!read_filter(&filter, plist, (unsigned)i))
            return ar_h5_fail(err, ARRAS_EFORMAT, name, "a filter can't be read");
        add_filter(out, &filter);
    }
    return ARRAS_OK;
}

/* ---- Writing --------------------------------------------------------------------------------- */

/* Two filters keep the bytes of a chunk, for memory to decode it into. */
static void set_chunk_bytes(unsigned *values, H5Z_filter_t id, const ar_store_info *info,
                            int cell_size)
{
    size_t bytes = (size_t)cell_size;

    for (int d = 0; d < info->rank; d++)
        bytes *= (size_t)info->chunk[d]; /* less than 4 GiB: it was checked */
    if (id == BLOSC)
        values[3] = (unsigned)bytes;
    if (id == LZF)
        values[2] = (unsigned)bytes;
}

static herr_t set_filter(hid_t plist, const known_filter *filter, const ar_codec_step *step,
                         const ar_store_info *info, int cell_size, bool pretended)
{
    enum { LEVELS = 9 }; /* that others have; any of them decodes what more effort made */
    unsigned values[AR_CODEC_PARAMETERS] = { 0 };
    int      first = 0;

    for (int i = 0; i < step->nvalues; i++)
        values[i] = (unsigned)step->values[i];
    switch (filter->id) {
    case H5Z_FILTER_DEFLATE: return H5Pset_deflate(plist, values[0] < LEVELS ? values[0] : LEVELS);
    case H5Z_FILTER_SHUFFLE: return H5Pset_shuffle(plist);
    case H5Z_FILTER_FLETCHER32: return H5Pset_fletcher32(plist);
    case H5Z_FILTER_SZIP:
        return H5Pset_szip(plist, values[0] & (H5_SZIP_NN_OPTION_MASK | H5_SZIP_EC_OPTION_MASK),
                           values[1]);
    default: break;
    }
    set_chunk_bytes(values, filter->id, info, cell_size);
    /* A plug-in for bitshuffle puts versions and the size of cells before what it is given. */
    if (filter->id == BITSHUFFLE && H5Zfilter_avail(BITSHUFFLE) > 0 && !pretended)
        first = 3;
    return H5Pset_filter(plist, filter->id, H5Z_FLAG_OPTIONAL, (size_t)(step->nvalues - first),
                         values + first);
}

/* gzip and zlib say here what HDF5 calls deflate. */
void ar_h5_filters_adapt(ar_codec_chain *chain)
{
    for (int i = 0; i < chain->n; i++)
        if (chain->steps[i].codec == &ar_codec_gzip || chain->steps[i].codec == &ar_codec_zlib)
            chain->steps[i].codec = &ar_codec_deflate;
}

arras_status ar_h5_filters_write(hid_t plist, const ar_codec_chain *chain, uint32_t pretended,
                                 const ar_store_info *info, const char *name, arras_error *err)
{
    /* That cells have 16 bits is said by their type. */
    for (int i = ar_chain_is_half(chain) ? 1 : 0; i < chain->n; i++) {
        const ar_codec_step *step = &chain->steps[i];
        const known_filter  *filter = find_codec(step->codec);

        if (!filter || !step->codec->encode)
            return ar_fail(err, ARRAS_EINVAL,
                           "%s: HDF5 has no codec %s; it has shuffle, deflate, fletcher32, szip, "
                           "lzf, lz4, blosc, bitshuffle and zstd",
                           name, step->codec->name);
        if (set_filter(plist, filter, step, info, chain->cell_size,
                       pretended >> (filter - known) & 1) < 0)
            return ar_h5_fail(err, ARRAS_EINVAL, name, step->codec->name);
    }
    return ARRAS_OK;
}

/* Chunks are encoded before libhdf5 sees them: it must never get here. */
static size_t refuse(unsigned flags, size_t nvalues, const unsigned *values, size_t bytes,
                     size_t *size, void **buffer)
{
    (void)flags, (void)nvalues, (void)values, (void)bytes, (void)size, (void)buffer;
    return 0;
}

void ar_h5_filters_pretend(const ar_codec_chain *chain, uint32_t *pretended)
{
    *pretended = 0;
    for (size_t i = 0; i < AR_COUNT(known); i++) {
        bool wanted = false;

        for (int k = 0; k < chain->n; k++)
            wanted = wanted || chain->steps[k].codec == known[i].codec;
        if (wanted && known[i].ours && H5Zfilter_avail(known[i].id) <= 0) {
            const H5Z_class2_t class = { .version = H5Z_CLASS_T_VERS,
                                         .id = known[i].id,
                                         .encoder_present = 1,
                                         .decoder_present = 1,
                                         .name = known[i].codec->name,
                                         .filter = refuse };

            if (H5Zregister(&class) >= 0)
                *pretended |= (uint32_t)1 << i;
        }
    }
}

void ar_h5_filters_forget(uint32_t pretended)
{
    for (size_t i = 0; i < AR_COUNT(known); i++)
        if (pretended & (uint32_t)1 << i)
            H5Zunregister(known[i].id);
}
#endif
