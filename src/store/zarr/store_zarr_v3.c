/* store_zarr_v3.c -- the metadata of version 3: zarr.json of an array, sharding included. */
#include "base/base.h"

#if defined ARRAS_HAVE_JANSSON
#include "store/flat/flat.h"
#include "store/zarr/store_zarr.h"

#include <stdio.h>
#include <string.h>

static const struct {
    const char *name;
    arras_dtype dtype;
} types[] = {
    { "bool", ARRAS_BOOL },       { "int8", ARRAS_I8 },     { "int16", ARRAS_I16 },
    { "int32", ARRAS_I32 },       { "int64", ARRAS_I64 },   { "uint8", ARRAS_U8 },
    { "uint16", ARRAS_U16 },      { "uint32", ARRAS_U32 },  { "uint64", ARRAS_U64 },
    { "float32", ARRAS_F32 },     { "float64", ARRAS_F64 }, { "complex64", ARRAS_C64 },
    { "complex128", ARRAS_C128 },
};

static const char half_name[] = "float16";

const char *ar_zarr_type_v3(arras_dtype dtype, bool half)
{
    if (half)
        return half_name;
    for (size_t i = 0; i < AR_COUNT(types); i++)
        if (types[i].dtype == dtype)
            return types[i].name;
    return "r0";
}

typedef struct {
    ar_zarr_meta *out;
    const char   *name;
    arras_error  *err;
} reader;

static arras_status fail(const reader *r, const char *what)
{
    return ar_fail(r->err, ARRAS_EFORMAT, "%s: %s", r->name, what);
}

/* ---- Extension points: "name" or {"name": ..., "configuration": {...}} ----------------------- */

static arras_status read_named(const reader *r, const char **name, const json_t **configuration,
                               const json_t *value, const char *what)
{
    *name = json_is_string(value) ? json_string_value(value)
                                  : json_string_value(json_object_get(value, "name"));
    *configuration = json_object_get(value, "configuration");
    if (*name && (!*configuration || json_is_object(*configuration)))
        return ARRAS_OK;
    return ar_fail(r->err, ARRAS_EFORMAT,
                   "%s: %s has no name, or a configuration that is no object", r->name, what);
}

static arras_status read_type(const reader *r, const json_t *value)
{
    const char   *type;
    const json_t *configuration;
    arras_status  status = read_named(r, &type, &configuration, value, "data_type");

    if (status != ARRAS_OK)
        return status;
    snprintf(r->out->info.stored, sizeof r->out->info.stored, "%s", type);
    if (strcmp(type, half_name) == 0) {
        r->out->info.dtype = ARRAS_F32;
        ar_zarr_add_half(&r->out->chain);
        return ARRAS_OK;
    }
    for (size_t i = 0; i < AR_COUNT(types); i++)
        if (strcmp(types[i].name, type) == 0) {
            r->out->info.dtype = types[i].dtype;
            return ARRAS_OK;
        }
    return ar_fail(r->err, ARRAS_EFORMAT, "%s: the data type '%.60s' is not supported", r->name,
                   type);
}

static arras_status read_grid(const reader *r, const json_t *value)
{
    const char   *grid;
    const json_t *configuration;
    int           rank = 0;
    arras_status  status = read_named(r, &grid, &configuration, value, "chunk_grid");

    if (status == ARRAS_OK && strcmp(grid, "regular") != 0)
        return ar_fail(r->err, ARRAS_EFORMAT,
                       "%s: the chunk grid '%.60s' is not supported; only regular ones are",
                       r->name, grid);
    if (status == ARRAS_OK)
        status = ar_json_lengths(&rank, r->out->info.chunk,
                                 json_object_get(configuration, "chunk_shape"), 1, "chunk_shape",
                                 r->name, r->err);
    if (status == ARRAS_OK && rank != r->out->info.rank)
        return ar_fail(r->err, ARRAS_EFORMAT, "%s: chunks of %d axes for an array of %d", r->name,
                       rank, r->out->info.rank);
    return status;
}

static arras_status read_keys(const reader *r, const json_t *value)
{
    const char   *encoding, *text;
    const json_t *configuration, *separator;
    arras_status  status = read_named(r, &encoding, &configuration, value, "chunk_key_encoding");

    if (status != ARRAS_OK)
        return status;
    bool is_default = strcmp(encoding, "default") == 0;
    if (!is_default && strcmp(encoding, "v2") != 0)
        return ar_fail(r->err, ARRAS_EFORMAT, "%s: the chunk key encoding '%.60s' is not supported",
                       r->name, encoding);
    separator = json_object_get(configuration, "separator");
    text = separator ? json_string_value(separator) : is_default ? "/" : ".";
    if (!text || (strcmp(text, ".") != 0 && strcmp(text, "/") != 0))
        return fail(r, "the separator of chunk keys is neither \".\" nor \"/\"");
    r->out->prefix = is_default ? "c" : "";
    r->out->separator = *text;
    return ARRAS_OK;
}

/* ---- Codecs ---------------------------------------------------------------------------------- */

/* The chain of one list of codecs, and what the array looks like where the next one stands. */
typedef struct {
    const reader   *r;
    ar_codec_chain *chain;
    arras_dtype     dtype;
    int             rank;
    int64_t         shape[ARRAS_MAX_RANK];
    bool            in_bytes; /* the codec from array to bytes has been */
    ar_zarr_shard  *shard;    /* NULL: none can be here */
} pipeline;

static arras_status add_transpose(pipeline *p, const json_t *configuration)
{
    const reader *r = p->r;
    int64_t       order[ARRAS_MAX_RANK], shape[ARRAS_MAX_RANK];
    uint64_t      seen = 0;
    int           n = 0;
    arras_status  status = ar_json_lengths(&n, order, json_object_get(configuration, "order"), 0,
                                           "order of the codec transpose", r->name, r->err);

    if (status != ARRAS_OK)
        return status;
    for (int d = 0; d < n; d++)
        if (order[d] < p->rank)
            seen |= (uint64_t)1 << order[d];
    if (n != p->rank || seen != ((uint64_t)1 << n) - 1)
        return fail(r, "the order of the codec transpose does not name each axis once");
    status = ar_zarr_add_transpose(p->chain, n, order, p->shape, r->name, r->err);
    for (int d = 0; d < n; d++)
        shape[d] = p->shape[order[d]];
    memcpy(p->shape, shape, sizeof *shape * (size_t)n);
    return status;
}

static arras_status add_bytes(pipeline *p, const json_t *configuration)
{
    const char *endian = json_string_value(json_object_get(configuration, "endian"));
    bool        is_little = endian && strcmp(endian, "little") == 0;
    bool        is_native = is_little == (__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__);

    p->in_bytes = true;
    if (arras_dtype_size(p->dtype) == 1)
        return ARRAS_OK;
    if (!endian || (!is_little && strcmp(endian, "big") != 0))
        return fail(p->r, "the endian of the codec bytes is neither \"little\" nor \"big\"");
    return is_native ? ARRAS_OK : ar_zarr_add_swap(p->chain, p->dtype, p->r->name, p->r->err);
}

static arras_status add_shard(pipeline *p, const json_t *configuration);

static arras_status add_codec(pipeline *p, const json_t *codec)
{
    const char   *name;
    const json_t *configuration;
    arras_status  status = read_named(p->r, &name, &configuration, codec, "a codec");

    if (status != ARRAS_OK)
        return status;
    if (p->shard && p->shard->used)
        return fail(p->r, "codecs after sharding_indexed are not supported");
    if (p->in_bytes)
        return ar_zarr_add_codec(p->chain, 3, name, configuration, p->r->name, p->r->err);
    if (strcmp(name, "transpose") == 0)
        return add_transpose(p, configuration);
    if (strcmp(name, "bytes") == 0 || strcmp(name, "endian") == 0)
        return add_bytes(p, configuration);
    if (strcmp(name, "sharding_indexed") == 0)
        return add_shard(p, configuration);
    return ar_fail(p->r->err, ARRAS_EFORMAT,
                   "%s: the codec '%.60s', before the one that makes bytes, is not supported",
                   p->r->name, name);
}

static arras_status read_codecs(pipeline *p, const json_t *list)
{
    arras_status status = ARRAS_OK;

    if (!json_is_array(list))
        return fail(p->r, "codecs is not a list");
    for (size_t i = 0; i < json_array_size(list) && status == ARRAS_OK; i++)
        status = add_codec(p, json_array_get(list, i));
    if (status == ARRAS_OK && !p->in_bytes)
        return fail(p->r, "none of the codecs turns cells into bytes");
    return status;
}

/* ---- Sharding -------------------------------------------------------------------------------- */

/* The grid of inner chunks; from here on they are the chunks of the array. */
static arras_status set_inner(const reader *r, ar_zarr_shard *shard, int rank, const int64_t *inner)
{
    ar_store_info *info = &r->out->info;

    if (rank != info->rank)
        return fail(r, "inner chunks and shards differ in their number of axes");
    for (int d = 0; d < rank; d++) {
        shard->shape[d] = info->chunk[d];
        if (shard->shape[d] % inner[d])
            return ar_fail(r->err, ARRAS_EFORMAT,
                           "%s: along axis %d a shard of %" PRId64
                           " does not hold whole inner chunks of %" PRId64,
                           r->name, d, shard->shape[d], inner[d]);
        shard->per_axis[d] = shard->shape[d] / inner[d];
        info->chunk[d] = inner[d];
    }
    if (!ar_flat_bytes(&shard->inner, 1, rank, shard->per_axis) ||
        !ar_mul64(&shard->index_bytes, shard->inner, 2 * (int64_t)sizeof(uint64_t)))
        return fail(r, "a shard holds more chunks than there can be");
    return ARRAS_OK;
}

static arras_status read_index_codecs(const reader *r, ar_zarr_shard *shard, const json_t *list)
{
    pipeline     p = { .r = r, .chain = &shard->index_chain, .dtype = ARRAS_U64 };
    arras_status status = read_codecs(&p, list);

    shard->index_chain.cell_size = sizeof(uint64_t);
    for (int k = 0; k < shard->index_chain.n && status == ARRAS_OK; k++) {
        const ar_codec *codec = shard->index_chain.steps[k].codec;

        /* Where the index begins is known only if its length is. */
        if (codec != &ar_codec_crc32c && codec != &ar_codec_swap)
            return fail(r, "the index of shards has other codecs than bytes and crc32c");
        shard->index_bytes += codec == &ar_codec_crc32c ? 4 : 0;
    }
    return status;
}

static arras_status read_location(const reader *r, ar_zarr_shard *shard, const json_t *value)
{
    const char *text = value ? json_string_value(value) : "end";

    if (!text || (strcmp(text, "start") != 0 && strcmp(text, "end") != 0))
        return fail(r, "index_location is neither \"start\" nor \"end\"");
    shard->index_first = *text == 's';
    return ARRAS_OK;
}

static arras_status add_shard(pipeline *p, const json_t *configuration)
{
    const reader *r = p->r;
    int64_t       inner[ARRAS_MAX_RANK];
    int           rank = 0;

    if (!p->shard || p->chain->n > ar_chain_is_half(p->chain))
        return fail(r, "sharding_indexed within, or after, other codecs is not supported");
    arras_status status =
        ar_json_lengths(&rank, inner, json_object_get(configuration, "chunk_shape"), 1,
                        "chunk_shape of sharding_indexed", r->name, r->err);
    if (status == ARRAS_OK)
        status = set_inner(r, p->shard, rank, inner);
    if (status == ARRAS_OK)
        status = read_location(r, p->shard, json_object_get(configuration, "index_location"));
    if (status == ARRAS_OK)
        status = read_index_codecs(r, p->shard, json_object_get(configuration, "index_codecs"));
    if (status != ARRAS_OK)
        return status;
    pipeline within = { .r = r, .chain = p->chain, .dtype = p->dtype, .rank = rank };
    memcpy(within.shape, inner, sizeof *inner * (size_t)rank);
    p->in_bytes = p->shard->used = true;
    return read_codecs(&within, json_object_get(configuration, "codecs"));
}

/* ---- All of it ------------------------------------------------------------------------------- */

static arras_status read_axes(const reader *r, const json_t *names)
{
    ar_store_info *info = &r->out->info;

    if (!names || json_is_null(names))
        return ARRAS_OK;
    if (!json_is_array(names) || json_array_size(names) != (size_t)info->rank)
        return fail(r, "dimension_names is not a list with one name for each axis");
    for (int d = 0; d < info->rank; d++) {
        const char *axis = json_string_value(json_array_get(names, (size_t)d));

        snprintf(info->axes[d], sizeof info->axes[d], "%s", axis ? axis : "");
    }
    return ARRAS_OK;
}

/* What we do not know may change the meaning of the rest, unless it says that it does not. */
static arras_status check_keys(const reader *r, const json_t *meta)
{
    static const char *const known[] = { "zarr_format",    "node_type",  "shape",
                                         "data_type",      "chunk_grid", "chunk_key_encoding",
                                         "fill_value",     "codecs",     "attributes",
                                         "dimension_names" };
    const char              *key;
    json_t                  *value;

    json_object_foreach((json_t *)(uintptr_t)meta, key, value)
    {
        bool fine = json_is_false(json_object_get(value, "must_understand")) ||
                    (strcmp(key, "storage_transformers") == 0 && json_array_size(value) == 0);

        for (size_t i = 0; i < AR_COUNT(known); i++)
            fine = fine || strcmp(key, known[i]) == 0;
        if (!fine)
            return ar_fail(r->err, ARRAS_EFORMAT, "%s: '%.60s' is not supported", r->name, key);
    }
    return ARRAS_OK;
}

static arras_status read_geometry(const reader *r, const json_t *meta)
{
    arras_status status = check_keys(r, meta);

    if (status == ARRAS_OK)
        status = ar_json_lengths(&r->out->info.rank, r->out->info.shape,
                                 json_object_get(meta, "shape"), 0, "shape", r->name, r->err);
    if (status == ARRAS_OK)
        status = read_type(r, json_object_get(meta, "data_type"));
    if (status == ARRAS_OK)
        status = read_grid(r, json_object_get(meta, "chunk_grid"));
    if (status == ARRAS_OK)
        status = read_keys(r, json_object_get(meta, "chunk_key_encoding"));
    return status;
}

arras_status ar_zarr_read_v3(ar_zarr_meta *out, const json_t *meta, const char *name,
                             arras_error *err)
{
    reader        r = { out, name, err };
    pipeline      p = { .r = &r, .chain = &out->chain, .shard = &out->shard };
    const json_t *fill = json_object_get(meta, "fill_value");

    *out = (ar_zarr_meta){ .version = 3 };
    snprintf(out->info.format, sizeof out->info.format, "Zarr v3");
    if (json_integer_value(json_object_get(meta, "zarr_format")) != 3)
        return fail(&r, "zarr_format is not 3");
    arras_status status = read_geometry(&r, meta);
    if (status != ARRAS_OK)
        return status;
    if (!fill || json_is_null(fill))
        return fail(&r, "there is no fill_value");
    status = ar_chain_is_half(&out->chain)
                 ? ar_zarr_read_fill_half(out->info.fill, fill, name, err)
                 : ar_zarr_read_fill(out->info.fill, out->info.dtype, false, fill, name, err);
    p.dtype = out->info.dtype;
    p.rank = out->info.rank;
    memcpy(p.shape, out->info.chunk, sizeof p.shape);
    if (status == ARRAS_OK)
        status = read_codecs(&p, json_object_get(meta, "codecs"));
    if (status == ARRAS_OK)
        status = ar_zarr_check(out, name, err);
    return status == ARRAS_OK ? read_axes(&r, json_object_get(meta, "dimension_names")) : status;
}

#endif
