/* store_zarr_attributes.c -- attributes of Zarr, which are JSON: as numbers and text for others,
 * and those of other formats as JSON. */
#include "base/base.h"

#if defined ARRAS_HAVE_JANSSON
#include "store/zarr/store_zarr.h"

#include <math.h>
#include <string.h>

/* ---- From JSON ------------------------------------------------------------------------------- */

/* A number, or a word for what JSON has no number for; so are values for what is missing, whose
 * reals may also be their bytes. */
static bool is_number(const json_t *value, const char *name)
{
    static const char *const words[] = { "NaN", "Infinity", "-Infinity" };
    const char              *text = json_string_value(value);

    for (size_t i = 0; text && i < AR_COUNT(words); i++)
        if (strcmp(text, words[i]) == 0)
            return true;
    return json_is_number(value) || (text && strcmp(name, "_FillValue") == 0);
}

/* Integers as long as all are. */
static arras_dtype type_of(const json_t *list, const char *name)
{
    arras_dtype dtype = ARRAS_I64;

    for (size_t i = 0; i < json_array_size(list); i++) {
        const json_t *value = json_array_get(list, i);

        if (!is_number(value, name))
            return ARRAS_NO_DTYPE;
        if (!json_is_integer(value))
            dtype = ARRAS_F64;
    }
    return json_array_size(list) ? dtype : ARRAS_NO_DTYPE;
}

static arras_status visit_numbers(const char *name, const json_t *list, ar_on_attribute *each,
                                  void *context, arras_error *err)
{
    ar_attribute a = { name, type_of(list, name), (int64_t)json_array_size(list), NULL };
    uint64_t    *values = a.dtype ? ar_alloc((size_t)a.count, sizeof *values) : NULL;
    arras_status status = ARRAS_OK;

    if (!a.dtype)
        return ARRAS_OK; /* what has no types here */
    if (!values)
        return ar_fail_memory(err, (size_t)a.count * sizeof *values);
    for (int64_t i = 0; i < a.count && status == ARRAS_OK; i++)
        status = ar_zarr_read_fill(&values[i], a.dtype, false, json_array_get(list, (size_t)i),
                                   name, err);
    a.values = values;
    if (status == ARRAS_OK)
        status = each(context, &a, err);
    ar_free(values);
    return status;
}

static arras_status visit(const char *name, json_t *value, ar_on_attribute *each, void *context,
                          arras_error *err)
{
    json_t      *list;
    arras_status status;

    if (json_is_string(value) && !is_number(value, name)) {
        ar_attribute a = { name, ARRAS_NO_DTYPE, (int64_t)json_string_length(value),
                           json_string_value(value) };

        return each(context, &a, err);
    }
    if (json_is_array(value))
        return visit_numbers(name, value, each, context, err);
    list = json_pack("[O]", value);
    status = list ? visit_numbers(name, list, each, context, err) : ar_fail_memory(err, 1);
    json_decref(list);
    return status;
}

arras_status ar_zarr_visit_attributes(json_t *attributes, ar_on_attribute *each, void *context,
                                      arras_error *err)
{
    const char  *name;
    json_t      *value;
    arras_status status = ARRAS_OK;

    json_object_foreach(attributes, name, value)
    {
        status = visit(name, value, each, context, err);
        if (status != ARRAS_OK)
            break;
    }
    return status;
}

/* ---- From any source to JSON ----------------------------------------------------------------- */

typedef struct {
    json_t *object;
    bool    same_cells;
} collector;

static json_t *real_as_json(double x)
{
    return isfinite(x) ? json_real(x)
                       : json_string(isnan(x) ? "NaN"
                                     : x < 0  ? "-Infinity"
                                              : "Infinity");
}

static json_t *number_as_json(const ar_attribute *a, int64_t i)
{
    const char *at = (const char *)a->values + (size_t)i * arras_dtype_size(a->dtype);
    ar_text     text = { 0 };
    json_t     *value;
    float       single;
    double      real;

    if (a->dtype == ARRAS_F32)
        return memcpy(&single, at, sizeof single), real_as_json((double)single);
    if (a->dtype == ARRAS_F64)
        return memcpy(&real, at, sizeof real), real_as_json(real);
    ar_zarr_print_fill(&text, a->dtype, at);
    value = text.data ? ar_json_read_value(text.data, text.length) : NULL;
    ar_text_free(&text);
    return value;
}

static json_t *as_json(const ar_attribute *a)
{
    json_t *list;

    if (a->dtype == ARRAS_NO_DTYPE)
        return json_stringn(a->values ? a->values : "", (size_t)a->count);
    if (a->count == 1)
        return number_as_json(a, 0);
    list = json_array();
    for (int64_t i = 0; i < a->count; i++)
        json_array_append_new(list, number_as_json(a, i));
    return list;
}

static bool is_wanted(const char *name, bool same_cells)
{
    return strcmp(name, "_ARRAY_DIMENSIONS") != 0 &&
           (same_cells || !ar_attribute_is_about_cells(name));
}

/* What has no place in JSON, text that is no UTF-8, is left out. */
static arras_status collect(void *context, const ar_attribute *a, arras_error *err)
{
    const collector *c = context;

    (void)err;
    if (is_wanted(a->name, c->same_cells))
        json_object_set_new(c->object, a->name, as_json(a));
    return ARRAS_OK;
}

static json_t *collect_all(const ar_source *like, arras_dtype dtype)
{
    ar_source  *stored = ar_source_stored(like);
    json_t     *own = ar_zarr_own_attributes(stored), *value;
    collector   c = { json_object(), stored == like && like->info.dtype == dtype };
    const char *name;

    json_object_foreach(own, name, value)
    {
        if (is_wanted(name, c.same_cells))
            json_object_set(c.object, name, value);
    }
    if (!own && stored->type->attributes)
        stored->type->attributes(stored, collect, &c, NULL);
    return c.object;
}

/* ---- What is missing ------------------------------------------------------------------------- */

/* The _FillValue of reals is a number in version 2; in version 3 xarray wants the bytes of an f64.
 */
static json_t *fill_as_json(const json_t *value, arras_dtype dtype, int version)
{
    double  real;
    ar_text text = { 0 };
    json_t *result = NULL;

    if ((dtype != ARRAS_F32 && dtype != ARRAS_F64) ||
        ar_zarr_read_fill(&real, ARRAS_F64, false, value, "_FillValue", NULL) != ARRAS_OK)
        return NULL;
    if (version == 2)
        return real_as_json(real);
    ar_zarr_print_real_bytes(&text, real);
    if (!text.failed)
        result = json_stringn(text.data, text.length);
    ar_text_free(&text);
    return result;
}

json_t *ar_zarr_attributes_like(const ar_source *like, const ar_zarr_meta *meta)
{
    json_t *all = collect_all(like, meta->info.dtype), *fill = json_object_get(all, "_FillValue");

    fill = fill ? fill_as_json(fill, meta->info.dtype, meta->version) : NULL;
    if (fill)
        json_object_set_new(all, "_FillValue", fill);
    return all;
}

bool ar_zarr_fill_like(void *cell, const ar_source *like, arras_dtype dtype)
{
    json_t *all = collect_all(like, dtype), *fill = json_object_get(all, "_FillValue");
    bool    found =
        fill && ar_zarr_read_fill(cell, dtype, false, fill, "_FillValue", NULL) == ARRAS_OK;

    json_decref(all);
    return found;
}

/* In arrays of xarray, which has names for all axes, the fill value of version 2 is what is
 * missing. Others leave it at 0, which says so of packed numbers only; and nan is nan anyway. */
static bool is_missing_value(const json_t *attributes, const ar_zarr_meta *meta)
{
    static const uint8_t zeros[sizeof meta->info.fill];
    bool                 packed =
        json_object_get(attributes, "scale_factor") || json_object_get(attributes, "add_offset");
    double real = 0;
    float  single;

    if (meta->info.dtype == ARRAS_F64)
        memcpy(&real, meta->info.fill, sizeof real);
    if (meta->info.dtype == ARRAS_F32)
        real = (double)*(float *)memcpy(&single, meta->info.fill, sizeof single);
    return json_object_get(attributes, "_ARRAY_DIMENSIONS") &&
           !json_object_get(attributes, "_FillValue") && !meta->no_fill && !isnan(real) &&
           (packed || memcmp(meta->info.fill, zeros, sizeof zeros) != 0);
}

json_t *ar_zarr_attributes_v2(json_t *attributes, const ar_zarr_meta *meta, json_t *fill)
{
    json_t *all;

    if (!is_missing_value(attributes, meta))
        return json_incref(attributes);
    all = json_copy(attributes);
    json_object_set(all, "_FillValue", fill);
    return all;
}

#endif
