/* store_zarr_codecs.c -- Zarr's names of codecs and their parameters, read and written: filters and
 * compressors of v2, codecs from bytes to bytes of v3. */
#include "base/base.h"

#if defined ARRAS_HAVE_JANSSON
#include "store/codec/half.h"
#include "store/zarr/store_zarr.h"

#include <string.h>

/* Values of a step, in its order; `otherwise` where the metadata do not say. */
typedef struct {
    const char *name;
    int64_t     otherwise;
} parameter;

static const struct {
    const char     *name, *prefixed; /* as v2 and as v3 call it, or NULL */
    const ar_codec *codec;
    parameter       parameters[4];
} codecs[] = {
    { "zlib", "numcodecs.zlib", &ar_codec_zlib, { { "level", 1 } } },
    { "gzip", "gzip", &ar_codec_gzip, { { "level", 1 } } },
    { "gzip", "numcodecs.gzip", &ar_codec_gzip, { { "level", 1 } } },
    { "zstd", "zstd", &ar_codec_zstd, { { "level", 0 }, { "checksum", 0 } } },
    { "zstd", "numcodecs.zstd", &ar_codec_zstd, { { "level", 0 }, { "checksum", 0 } } },
    { "lz4", "numcodecs.lz4", &ar_codec_lz4_zarr, { { "acceleration", 1 } } },
    { "blosc",
      "blosc",
      &ar_codec_blosc_zarr,
      { { "cname", 1 }, { "clevel", 5 }, { "shuffle", 1 }, { "blocksize", 0 } } },
    { "blosc",
      "numcodecs.blosc",
      &ar_codec_blosc_zarr,
      { { "cname", 1 }, { "clevel", 5 }, { "shuffle", 1 }, { "blocksize", 0 } } },
    { "shuffle", "numcodecs.shuffle", &ar_codec_shuffle, { { "elementsize", 4 } } },
    { NULL, "crc32c", &ar_codec_crc32c, { { NULL, 0 } } },
};

/* Words that stand for values; their numbers are those of Blosc. */
static const struct {
    const char *parameter, *word;
    int64_t     value;
} words[] = {
    { "cname", "blosclz", 0 },     { "cname", "lz4", 1 },       { "cname", "lz4hc", 2 },
    { "cname", "snappy", 3 },      { "cname", "zlib", 4 },      { "cname", "zstd", 5 },
    { "shuffle", "noshuffle", 0 }, { "shuffle", "shuffle", 1 }, { "shuffle", "bitshuffle", 2 },
};

/* ---- Chains ---------------------------------------------------------------------------------- */

static arras_status add_step(ar_codec_step **out, ar_codec_chain *chain, const ar_codec *codec,
                             const char *name, arras_error *err)
{
    if (chain->n == AR_CODECS)
        return ar_fail(err, ARRAS_EFORMAT, "%s: more than %d codecs", name, AR_CODECS);
    *out = &chain->steps[chain->n++];
    **out = (ar_codec_step){ .codec = codec };
    return ARRAS_OK;
}

void ar_zarr_add_half(ar_codec_chain *chain)
{
    chain->steps[chain->n++] = (ar_codec_step){ .codec = &ar_codec_float16 };
}

arras_status ar_zarr_add_swap(ar_codec_chain *chain, arras_dtype dtype, const char *name,
                              arras_error *err)
{
    bool           pair = dtype == ARRAS_C64 || dtype == ARRAS_C128;
    ar_codec_step *step = NULL;
    arras_status   status = add_step(&step, chain, &ar_codec_swap, name, err);

    if (status == ARRAS_OK) {
        step->nvalues = 1;
        step->values[0] =
            (int64_t)arras_dtype_size(dtype) / (pair ? 2 : 1) / (ar_chain_is_half(chain) ? 2 : 1);
    }
    return status;
}

arras_status ar_zarr_add_transpose(ar_codec_chain *chain, int rank, const int64_t *order,
                                   const int64_t *shape, const char *name, arras_error *err)
{
    ar_codec_step *step = NULL;

    if (2 * rank + 1 > AR_CODEC_PARAMETERS)
        return ar_fail(err, ARRAS_EFORMAT,
                       "%s: %d axes in another order than C; at most %d are supported", name, rank,
                       (AR_CODEC_PARAMETERS - 1) / 2);
    arras_status status = add_step(&step, chain, &ar_codec_transpose, name, err);
    if (status != ARRAS_OK)
        return status;
    step->nvalues = 2 * rank + 1;
    step->values[0] = rank;
    for (int d = 0; d < rank; d++) {
        step->values[1 + d] = order[d];
        step->values[1 + rank + d] = shape[d];
    }
    return ARRAS_OK;
}

/* ---- Reading --------------------------------------------------------------------------------- */

static bool value_of(int64_t *out, const parameter *p, const json_t *value)
{
    *out = p->otherwise;
    if (!value || json_is_null(value))
        return true;
    if (json_is_integer(value))
        *out = json_integer_value(value);
    else if (json_is_boolean(value))
        *out = json_is_true(value);
    for (size_t i = 0; json_is_string(value) && i < AR_COUNT(words); i++)
        if (strcmp(words[i].parameter, p->name) == 0 &&
            strcmp(words[i].word, json_string_value(value)) == 0) {
            *out = words[i].value;
            return true;
        }
    return !json_is_string(value);
}

static arras_status read_parameters(ar_codec_step *step, const parameter *p,
                                    const json_t *parameters, const char *name, arras_error *err)
{
    for (int i = 0; i < 4 && p[i].name; i++, step->nvalues++)
        if (!value_of(&step->values[i], &p[i], json_object_get(parameters, p[i].name)))
            return ar_fail(err, ARRAS_EFORMAT, "%s: codec %s: its %s is not known", name,
                           step->codec->name, p[i].name);
    if (step->codec == &ar_codec_shuffle && (step->values[0] < 1 || step->values[0] > 256))
        return ar_fail(err, ARRAS_EFORMAT,
                       "%s: shuffle of elements of %" PRId64 " bytes; from 1 to 256 are supported",
                       name, step->values[0]);
    return ARRAS_OK;
}

arras_status ar_zarr_add_codec(ar_codec_chain *chain, int version, const char *codec,
                               const json_t *parameters, const char *name, arras_error *err)
{
    ar_codec_step *step = NULL;

    for (size_t i = 0; i < AR_COUNT(codecs); i++) {
        const char *known = version == 2 ? codecs[i].name : codecs[i].prefixed;

        if (!known || strcmp(known, codec) != 0)
            continue;
        arras_status status = add_step(&step, chain, codecs[i].codec, name, err);
        return status == ARRAS_OK
                   ? read_parameters(step, codecs[i].parameters, parameters, name, err)
                   : status;
    }
    return ar_fail(err, ARRAS_EFORMAT, "%s: the codec '%.60s' of Zarr v%d is not supported", name,
                   codec, version);
}

/* ---- Writing --------------------------------------------------------------------------------- */

/* People's words, and what other formats call the same, as this version has it. */
static void translate(ar_codec_step *step, int version)
{
    int64_t v[4] = { step->values[6], step->values[4], step->values[5], 0 };

    if (step->codec == &ar_codec_deflate || step->codec == &ar_codec_zlib)
        step->codec = version == 2 ? &ar_codec_zlib : &ar_codec_gzip;
    if (step->codec == &ar_codec_lz4_hdf5) {
        step->codec = &ar_codec_lz4_zarr;
        step->nvalues = 0;
    }
    if (step->codec == &ar_codec_blosc_hdf5) {
        step->codec = &ar_codec_blosc_zarr;
        step->nvalues = step->nvalues >= 7 ? 4 : 0;
        memcpy(step->values, v, sizeof v);
    }
}

/* The row of a codec that any reader of this version knows; -1: there is none. */
static int row_of(const ar_codec *codec, int version)
{
    for (size_t i = 0; i < AR_COUNT(codecs); i++) {
        const char *name = version == 2 ? codecs[i].name : codecs[i].prefixed;

        if (codecs[i].codec == codec && name && !strchr(name, '.'))
            return (int)i;
    }
    return -1;
}

/* A default that is there, whatever the library was built with. */
static arras_status parse_codecs(ar_codec_chain *out, const char *text, int cell_size,
                                 arras_error *err)
{
    if (text)
        return ar_chain_parse(out, text, cell_size, err);
    if (ar_chain_parse(out, "zstd 1", cell_size, NULL) == ARRAS_OK)
        return ARRAS_OK;
    return ar_chain_parse(out, "none", cell_size, err);
}

arras_status ar_zarr_chain(ar_codec_chain *out, int version, const char *text, arras_dtype dtype,
                           const char *name, arras_error *err)
{
    arras_status status = parse_codecs(out, text, (int)arras_dtype_size(dtype), err);

    if (status == ARRAS_OK && ar_chain_is_half(out))
        status = ar_half_check(dtype, name, err);
    for (int k = ar_chain_is_half(out) ? 1 : 0; k < out->n && status == ARRAS_OK; k++) {
        translate(&out->steps[k], version);
        if (row_of(out->steps[k].codec, version) < 0)
            status = ar_fail(err, ARRAS_EINVAL,
                             "%s: Zarr v%d has no codec '%s'; it has gzip, zstd and blosc, which "
                             "shuffles too: 'blosc zstd 5'",
                             name, version, out->steps[k].codec->name);
    }
    return status;
}

static void print_value(ar_text *out, int version, const parameter *p, int64_t value)
{
    bool as_word =
        strcmp(p->name, "cname") == 0 || (version == 3 && strcmp(p->name, "shuffle") == 0);

    for (size_t i = 0; as_word && i < AR_COUNT(words); i++)
        if (strcmp(words[i].parameter, p->name) == 0 && words[i].value == value) {
            ar_text_printf(out, "\"%s\"", words[i].word);
            return;
        }
    if (strcmp(p->name, "checksum") == 0)
        ar_text_add(out, value ? "true" : "false");
    else
        ar_text_printf(out, "%" PRId64, value);
}

static void print_parameters(ar_text *out, int version, const ar_codec_step *step,
                             const parameter *p)
{
    for (int i = 0; i < 4 && p[i].name; i++) {
        if (version == 2 && strcmp(p[i].name, "checksum") == 0)
            continue; /* older numcodecs refuse what they do not know */
        ar_text_printf(out, "%s\"%s\": ", i || version == 2 ? ", " : "", p[i].name);
        print_value(out, version, &p[i], i < step->nvalues ? step->values[i] : p[i].otherwise);
    }
}

void ar_zarr_print_codec(ar_text *out, int version, const ar_codec_chain *chain, int k)
{
    const ar_codec_step *step = &chain->steps[k];
    int                  row = row_of(step->codec, version);

    if (version == 2) {
        ar_text_printf(out, "{\"id\": \"%s\"", codecs[row].name);
        print_parameters(out, version, step, codecs[row].parameters);
        ar_text_add(out, "}");
        return;
    }
    ar_text_printf(out, "{\"name\": \"%s\", \"configuration\": {", codecs[row].prefixed);
    print_parameters(out, version, step, codecs[row].parameters);
    if (step->codec == &ar_codec_blosc_zarr)
        ar_text_printf(out, ", \"typesize\": %d", chain->cell_size);
    ar_text_add(out, "}}");
}

#endif
