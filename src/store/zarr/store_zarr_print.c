/* store_zarr_print.c -- the texts of .zarray, .zattrs and zarr.json for a new array. */
#include "base/base.h"

#if defined ARRAS_HAVE_JANSSON
#include "store/flat/store_npy.h"
#include "store/zarr/store_zarr.h"

#include <string.h>

static void print_numbers(ar_text *out, int n, const int64_t *numbers)
{
    ar_text_add(out, "[");
    for (int i = 0; i < n; i++)
        ar_text_printf(out, "%s%" PRId64, i ? ", " : "", numbers[i]);
    ar_text_add(out, "]");
}

static bool has_axes(const ar_store_info *info)
{
    for (int d = 0; d < info->rank; d++)
        if (info->axes[d][0])
            return true;
    return false;
}

/* null where an axis has no name; v2 has no such thing. */
static void print_axes(ar_text *out, const ar_store_info *info, int version)
{
    ar_text_add(out, "[");
    for (int d = 0; d < info->rank; d++) {
        ar_text_add(out, d ? ", " : "");
        if (info->axes[d][0] || version == 2)
            ar_text_add_quoted(out, info->axes[d]);
        else
            ar_text_add(out, "null");
    }
    ar_text_add(out, "]");
}

/* ---- Version 2 ------------------------------------------------------------------------------- */

/* The last codec is the compressor, if it is one; all before it are filters. */
static void print_codecs_v2(ar_text *out, const ar_codec_chain *chain)
{
    int  n = chain->n, first = ar_chain_is_half(chain) ? 1 : 0;
    bool compressed = n > first && chain->steps[n - 1].codec != &ar_codec_shuffle;
    int  filters = compressed ? n - 1 : n;

    ar_text_add(out, "    \"compressor\": ");
    if (compressed)
        ar_zarr_print_codec(out, 2, chain, n - 1);
    else
        ar_text_add(out, "null");
    ar_text_add(out, filters > first ? ",\n    \"filters\": [" : ",\n    \"filters\": null");
    for (int k = first; k < filters; k++) {
        ar_text_add(out, k > first ? ", " : "");
        ar_zarr_print_codec(out, 2, chain, k);
    }
    ar_text_add(out, filters > first ? "],\n" : ",\n");
}

static void print_v2(ar_text *out, const ar_zarr_meta *meta)
{
    const ar_store_info *info = &meta->info;
    bool                 one = arras_dtype_size(info->dtype) == 1;

    ar_text_add(out, "{\n    \"zarr_format\": 2,\n    \"shape\": ");
    print_numbers(out, info->rank, info->shape);
    ar_text_add(out, ",\n    \"chunks\": ");
    print_numbers(out, info->rank, info->chunk);
    ar_text_printf(out, ",\n    \"dtype\": \"%c%s\",\n", one ? '|' : '<',
                   ar_npy_code(info->dtype, ar_chain_is_half(&meta->chain)));
    print_codecs_v2(out, &meta->chain);
    ar_text_add(out, "    \"order\": \"C\",\n    \"dimension_separator\": \".\",\n");
    ar_text_add(out, "    \"fill_value\": ");
    if (meta->no_fill)
        ar_text_add(out, "null");
    else
        ar_zarr_print_fill(out, info->dtype, info->fill);
    ar_text_add(out, "\n}\n");
}

void ar_zarr_print_attributes_v2(ar_text *out, const ar_zarr_meta *meta, const ar_source *like)
{
    json_t     *attributes = like ? ar_zarr_attributes_like(like, meta) : NULL;
    const char *key, *before = "\n    ";
    json_t     *value;

    ar_text_add(out, "{");
    /* xarray wants to hear that there are none, too. */
    if (has_axes(&meta->info) || (like && meta->info.rank == 0)) {
        ar_text_printf(out, "%s\"_ARRAY_DIMENSIONS\": ", before);
        print_axes(out, &meta->info, 2);
        before = ",\n    ";
    }
    json_object_foreach(attributes, key, value)
    {
        ar_text_add(out, before);
        ar_text_add_quoted(out, key);
        ar_text_add(out, ": ");
        ar_json_print(out, value, JSON_ENCODE_ANY);
        before = ",\n    ";
    }
    ar_text_add(out, "\n}\n");
    json_decref(attributes);
}

/* ---- Version 3 ------------------------------------------------------------------------------- */

static void print_codecs_v3(ar_text *out, const ar_zarr_meta *meta)
{
    bool one = arras_dtype_size(meta->info.dtype) == 1;

    ar_text_printf(out, "    \"codecs\": [\n        {\"name\": \"bytes\"%s}",
                   one ? "" : ", \"configuration\": {\"endian\": \"little\"}");
    for (int k = ar_chain_is_half(&meta->chain) ? 1 : 0; k < meta->chain.n; k++) {
        ar_text_add(out, ",\n        ");
        ar_zarr_print_codec(out, 3, &meta->chain, k);
    }
    ar_text_add(out, "\n    ],\n");
}

static void print_attributes_v3(ar_text *out, const ar_zarr_meta *meta, const ar_source *like)
{
    json_t *attributes = like ? ar_zarr_attributes_like(like, meta) : NULL;

    ar_text_add(out, "    \"attributes\": ");
    if (attributes)
        ar_json_print(out, attributes, 0);
    else
        ar_text_add(out, "{}");
    json_decref(attributes);
}

static void print_v3(ar_text *out, const ar_zarr_meta *meta, const ar_source *like)
{
    const ar_store_info *info = &meta->info;

    ar_text_add(out, "{\n    \"zarr_format\": 3,\n    \"node_type\": \"array\",\n    \"shape\": ");
    print_numbers(out, info->rank, info->shape);
    ar_text_printf(out, ",\n    \"data_type\": \"%s\",\n",
                   ar_zarr_type_v3(info->dtype, ar_chain_is_half(&meta->chain)));
    ar_text_add(out, "    \"chunk_grid\": {\"name\": \"regular\", \"configuration\": "
                     "{\"chunk_shape\": ");
    print_numbers(out, info->rank, info->chunk);
    ar_text_add(out, "}},\n    \"chunk_key_encoding\": {\"name\": \"default\", \"configuration\": "
                     "{\"separator\": \"/\"}},\n    \"fill_value\": ");
    ar_zarr_print_fill(out, info->dtype, info->fill);
    ar_text_add(out, ",\n");
    print_codecs_v3(out, meta);
    if (has_axes(info)) {
        ar_text_add(out, "    \"dimension_names\": ");
        print_axes(out, info, 3);
        ar_text_add(out, ",\n");
    }
    print_attributes_v3(out, meta, like);
    ar_text_add(out, "\n}\n");
}

void ar_zarr_print_meta(ar_text *out, const ar_zarr_meta *meta, const ar_source *like)
{
    if (meta->version == 2)
        print_v2(out, meta);
    else
        print_v3(out, meta, like);
}

#endif
