/* store_zarr_v2.c -- the metadata of version 2: .zarray, and the names of axes from .zattrs. */
#include "base/base.h"

#if defined ARRAS_HAVE_JANSSON
#include "store/flat/store_npy.h"
#include "store/zarr/store_zarr.h"

#include <stdio.h>
#include <string.h>

static arras_status read_type(ar_zarr_meta *out, bool *swapped, const json_t *type,
                              const char *name, arras_error *err)
{
    if (json_is_array(type))
        return ar_fail(err, ARRAS_EFORMAT, "%s: records are not supported", name);
    if (!json_is_string(type))
        return ar_fail(err, ARRAS_EFORMAT, "%s: dtype is not a string", name);
    bool half = false;

    snprintf(out->info.stored, sizeof out->info.stored, "%s", json_string_value(type));
    arras_status status =
        ar_npy_type(&out->info.dtype, &half, swapped, json_string_value(type), name, err);
    if (status == ARRAS_OK && half)
        ar_zarr_add_half(&out->chain);
    return status;
}

static arras_status read_separator(ar_zarr_meta *out, const json_t *value, const char *name,
                                   arras_error *err)
{
    const char *text = value ? json_string_value(value) : ".";

    if (!text || (strcmp(text, ".") != 0 && strcmp(text, "/") != 0))
        return ar_fail(err, ARRAS_EFORMAT, "%s: dimension_separator is neither \".\" nor \"/\"",
                       name);
    out->separator = *text;
    return ARRAS_OK;
}

/* F order is C order with the axes turned around. */
static arras_status read_order(ar_zarr_meta *out, const json_t *value, const char *name,
                               arras_error *err)
{
    const char *text = json_string_value(value);
    int64_t     order[ARRAS_MAX_RANK];
    int         rank = out->info.rank;

    if (!text || (strcmp(text, "C") != 0 && strcmp(text, "F") != 0))
        return ar_fail(err, ARRAS_EFORMAT, "%s: order is neither \"C\" nor \"F\"", name);
    if (*text == 'C' || rank < 2)
        return ARRAS_OK;
    for (int d = 0; d < rank; d++)
        order[d] = rank - 1 - d;
    return ar_zarr_add_transpose(&out->chain, rank, order, out->info.chunk, name, err);
}

static arras_status add_codec(ar_zarr_meta *out, const json_t *codec, const char *name,
                              arras_error *err)
{
    const char *id = json_string_value(json_object_get(codec, "id"));

    if (!id)
        return ar_fail(err, ARRAS_EFORMAT, "%s: a filter or compressor without an id", name);
    return ar_zarr_add_codec(&out->chain, 2, id, codec, name, err);
}

static arras_status read_codecs(ar_zarr_meta *out, const json_t *meta, const char *name,
                                arras_error *err)
{
    const json_t *filters = json_object_get(meta, "filters");
    const json_t *compressor = json_object_get(meta, "compressor");
    arras_status  status = ARRAS_OK;

    if (filters && !json_is_null(filters) && !json_is_array(filters))
        return ar_fail(err, ARRAS_EFORMAT, "%s: filters is not a list", name);
    for (size_t i = 0; i < json_array_size(filters) && status == ARRAS_OK; i++)
        status = add_codec(out, json_array_get(filters, i), name, err);
    if (status == ARRAS_OK && compressor && !json_is_null(compressor))
        status = add_codec(out, compressor, name, err);
    return status;
}

/* xarray's way to name axes. */
static void read_axes(ar_store_info *info, const json_t *attributes)
{
    const json_t *names = json_object_get(attributes, "_ARRAY_DIMENSIONS");

    if (json_array_size(names) != (size_t)info->rank)
        return;
    for (int d = 0; d < info->rank; d++) {
        const char *axis = json_string_value(json_array_get(names, (size_t)d));

        snprintf(info->axes[d], sizeof info->axes[d], "%s", axis ? axis : "");
    }
}

static arras_status read_shapes(ar_zarr_meta *out, const json_t *meta, const char *name,
                                arras_error *err)
{
    int          chunk_rank = 0;
    arras_status status = ar_json_lengths(&out->info.rank, out->info.shape,
                                          json_object_get(meta, "shape"), 0, "shape", name, err);

    if (status == ARRAS_OK)
        status = ar_json_lengths(&chunk_rank, out->info.chunk, json_object_get(meta, "chunks"), 1,
                                 "chunks", name, err);
    if (status == ARRAS_OK && chunk_rank != out->info.rank)
        return ar_fail(err, ARRAS_EFORMAT, "%s: chunks of %d axes for an array of %d", name,
                       chunk_rank, out->info.rank);
    return status;
}

static arras_status read_fill(ar_zarr_meta *out, bool swapped, const json_t *value,
                              const char *name, arras_error *err)
{
    void *fill = out->info.fill;

    if (ar_chain_is_half(&out->chain))
        return ar_zarr_read_fill_half(fill, value, name, err);
    return ar_zarr_read_fill(fill, out->info.dtype, swapped, value, name, err);
}

arras_status ar_zarr_read_v2(ar_zarr_meta *out, const json_t *meta, const json_t *attributes,
                             const char *name, arras_error *err)
{
    bool         swapped = false;
    arras_status status;

    *out = (ar_zarr_meta){ .version = 2, .prefix = "" };
    out->no_fill = json_is_null(json_object_get(meta, "fill_value"));
    snprintf(out->info.format, sizeof out->info.format, "Zarr v2");
    if (json_integer_value(json_object_get(meta, "zarr_format")) != 2)
        return ar_fail(err, ARRAS_EFORMAT, "%s: zarr_format is not 2", name);
    status = read_shapes(out, meta, name, err);
    if (status == ARRAS_OK)
        status = read_type(out, &swapped, json_object_get(meta, "dtype"), name, err);
    if (status == ARRAS_OK)
        status = read_separator(out, json_object_get(meta, "dimension_separator"), name, err);
    if (status == ARRAS_OK)
        status = read_fill(out, swapped, json_object_get(meta, "fill_value"), name, err);
    if (status == ARRAS_OK)
        status = read_order(out, json_object_get(meta, "order"), name, err);
    if (status == ARRAS_OK && swapped)
        status = ar_zarr_add_swap(&out->chain, out->info.dtype, name, err);
    if (status == ARRAS_OK)
        status = read_codecs(out, meta, name, err);
    if (status == ARRAS_OK)
        status = ar_zarr_check(out, name, err);
    if (status == ARRAS_OK)
        read_axes(&out->info, attributes);
    return status;
}

#endif
