/* store_hdf5_attributes.c -- attributes of HDF5 objects: as text, and copied to other objects. */
#include "store/store.h"
#if defined ARRAS_HAVE_HDF5
#include "store/hdf5/store_hdf5.h"

#include <string.h>

enum { MOST_BYTES = 1 << 20, SHOWN = 16 };

/* These tie a dataset to others of its file: they say nothing to people and mean nothing elsewhere.
 */
static bool is_internal(const char *name)
{
    static const char *const names[] = { "DIMENSION_LIST", "REFERENCE_LIST",     "CLASS",
                                         "NAME",           "DIMENSION_LABELS",   "_Netcdf4Dimid",
                                         "_NCProperties",  "_Netcdf4Coordinates" };

    for (size_t i = 0; i < AR_COUNT(names); i++)
        if (strcmp(name, names[i]) == 0)
            return true;
    return false;
}

/* ---- Values ---------------------------------------------------------------------------------- */

/* In memory as the file has them, but for numbers, which become native. */
static hid_t type_in_memory(hid_t stored)
{
    hid_t native = H5Tget_native_type(stored, H5T_DIR_ASCEND);

    return native >= 0 ? native : H5Tcopy(stored);
}

/* Lists within values were not looked at before. */
static bool has_inner_lists(hid_t type)
{
    H5T_class_t class = H5Tget_class(type);

    return class != H5T_VLEN && class != H5T_STRING && H5Tdetect_class(type, H5T_VLEN) != 0;
}

static void read_values(ar_h5_attribute *a)
{
    int64_t bytes;

    if (a->count <= 0 || !ar_mul64(&bytes, a->count, (int64_t)a->size) || bytes > MOST_BYTES ||
        has_inner_lists(a->type))
        return;
    a->values = ar_alloc((size_t)bytes, 1);
    if (a->values && H5Aread(a->id, a->type, a->values) < 0) {
        ar_free(a->values);
        a->values = NULL;
    }
}

/* One that was found. */
static bool open_found(ar_h5_attribute *a, hid_t object, const char *name)
{
    hid_t stored;

    *a = (ar_h5_attribute){ .id = -1 };
    a->id = ar_h5_keep(&a->ids, H5Aopen(object, name, H5P_DEFAULT));
    if (a->id < 0)
        return false;
    stored = ar_h5_keep(&a->ids, H5Aget_type(a->id));
    a->space = ar_h5_keep(&a->ids, H5Aget_space(a->id));
    a->type = stored < 0 ? -1 : ar_h5_keep(&a->ids, type_in_memory(stored));
    if (a->space < 0 || a->type < 0)
        return false;
    a->size = H5Tget_size(a->type);
    a->count = H5Sget_simple_extent_npoints(a->space);
    read_values(a);
    return true;
}

static const char *next_name(const ar_text *names, const char *name)
{
    const char *next = name ? name + strlen(name) + 1 : names->data;

    return next && next < names->data + names->length ? next : NULL;
}

bool ar_h5_attribute_open(ar_h5_attribute *out, hid_t object, const char *name)
{
    ar_text     names = { 0 };
    const char *at = NULL;
    bool        opened;

    *out = (ar_h5_attribute){ .id = -1 };
    ar_h5_attributes_find(&names, object);
    while ((at = next_name(&names, at)) && strcmp(at, name) != 0)
        continue;
    opened = at && open_found(out, object, name);
    ar_text_free(&names);
    return opened;
}

/* Text of any length is libhdf5's until it is given back. */
void ar_h5_attribute_close(ar_h5_attribute *a)
{
    if (a->values)
        H5Dvlen_reclaim(a->type, a->space, H5P_DEFAULT, a->values);
    ar_free(a->values);
    ar_h5_close(&a->ids);
}

/* ---- As text --------------------------------------------------------------------------------- */

/* One line, whatever was written; text of a fixed size ends with blanks or zeros. */
static void print_text(ar_text *out, const char *text, size_t size)
{
    size_t n = 0;

    while (n < size && text[n])
        n++;
    while (n > 0 && (text[n - 1] == ' ' || text[n - 1] == '\n'))
        n--;
    for (size_t i = 0; i < n; i++) {
        char c = (unsigned char)text[i] < ' ' || text[i] == 127 ? ' ' : text[i];

        ar_text_put(out, &c, 1);
    }
}

static void print_integer(ar_text *out, const char *value, size_t size, bool is_signed)
{
    int64_t  i = 0;
    uint64_t u = 0;

    switch (size) {
    case 1: i = *(const int8_t *)value, u = *(const uint8_t *)value; break;
    case 2: i = *(const int16_t *)value, u = *(const uint16_t *)value; break;
    case 4: i = *(const int32_t *)value, u = *(const uint32_t *)value; break;
    default: i = *(const int64_t *)value, u = *(const uint64_t *)value; break;
    }
    if (is_signed)
        ar_text_printf(out, "%" PRId64, i);
    else
        ar_text_printf(out, "%" PRIu64, u);
}

/* False: there are no words for it. */
static bool print_value(ar_text *out, const ar_h5_attribute *a, const char *value)
{
    H5T_class_t class = H5Tget_class(a->type);

    if (class == H5T_STRING && H5Tis_variable_str(a->type) > 0) {
        const char *text = *(char *const *)value;

        print_text(out, text ? text : "", text ? strlen(text) : 0);
    } else if (class == H5T_STRING) {
        print_text(out, value, a->size);
    } else if (class == H5T_FLOAT && (a->size == 4 || a->size == 8)) {
        ar_text_add_real(out, a->size == 4 ? (double)*(const float *)value : *(const double *)value,
                         a->size == 4);
    } else if (class == H5T_INTEGER && a->size <= 8) {
        print_integer(out, value, a->size, H5Tget_sign(a->type) == H5T_SGN_2);
    } else {
        return false;
    }
    return true;
}

static void print_kind(ar_text *out, const ar_h5_attribute *a)
{
    ar_h5_type type;

    ar_h5_type_of(&type, a->type);
    ar_text_printf(out, "(%" PRId64 " of %s)", a->count, type.stored);
}

static void print_attribute(ar_text *out, const ar_h5_attribute *a, const char *name)
{
    print_text(out, name, strlen(name));
    ar_text_add(out, ": ");
    for (int64_t i = 0; a->values && i < ar_min64(a->count, SHOWN); i++) {
        ar_text_add(out, i ? ", " : "");
        if (!print_value(out, a, a->values + (size_t)i * a->size)) {
            print_kind(out, a);
            break;
        }
    }
    if (a->values && a->count > SHOWN)
        ar_text_printf(out, ", ... (%" PRId64 " values)", a->count);
    if (!a->values)
        print_kind(out, a);
    ar_text_add(out, "\n");
}

void ar_h5_attributes_print(ar_text *out, hid_t object)
{
    ar_text         names = { 0 };
    ar_h5_attribute a;

    ar_h5_attributes_find(&names, object);
    for (const char *name = NULL; (name = next_name(&names, name));) {
        if (is_internal(name))
            continue;
        if (open_found(&a, object, name))
            print_attribute(out, &a, name);
        ar_h5_attribute_close(&a);
    }
    out->failed = out->failed || names.failed;
    ar_text_free(&names);
}

/* ---- For others ------------------------------------------------------------------------------ */

/* Numbers of types that are known here, and one text. */
static bool as_values(ar_attribute *out, const ar_h5_attribute *a)
{
    ar_h5_type type;

    ar_h5_type_of(&type, a->type);
    out->dtype = type.dtype;
    out->count = a->count;
    out->values = a->values;
    if (a->values && type.direct && !type.swap && !type.half)
        return true;
    if (!a->values || a->count != 1 || H5Tget_class(a->type) != H5T_STRING)
        return false;
    if (H5Tis_variable_str(a->type) > 0)
        out->values = *(char *const *)(const void *)a->values;
    out->count = !out->values                      ? 0
                 : H5Tis_variable_str(a->type) > 0 ? (int64_t)strlen(out->values)
                                                   : (int64_t)strnlen(out->values, a->size);
    return true;
}

arras_status ar_h5_attributes_visit(hid_t object, ar_on_attribute *each, void *context,
                                    arras_error *err)
{
    ar_text         names = { 0 };
    ar_h5_attribute a;
    arras_status    status = ARRAS_OK;

    ar_h5_attributes_find(&names, object);
    if (names.failed)
        status = ar_fail_memory(err, names.length);
    for (const char *at = NULL; status == ARRAS_OK && (at = next_name(&names, at));) {
        ar_attribute found = { .name = at };

        if (is_internal(at))
            continue;
        if (open_found(&a, object, at) && as_values(&found, &a))
            status = each(context, &found, err);
        ar_h5_attribute_close(&a);
    }
    ar_text_free(&names);
    return status;
}

/* ---- Copied ---------------------------------------------------------------------------------- */

static herr_t write_copy(const ar_h5_attribute *a, hid_t to, const char *name)
{
    hid_t  made = H5Acreate2(to, name, a->type, a->space, H5P_DEFAULT, H5P_DEFAULT);
    herr_t result = made < 0 ? -1 : 0;

    if (made >= 0 && a->values)
        result = H5Awrite(made, a->type, a->values);
    if (made >= 0)
        H5Aclose(made);
    return result;
}

/* References point into the file they are in. */
static bool is_portable(const ar_h5_attribute *a)
{
    return H5Tdetect_class(a->type, H5T_REFERENCE) <= 0 && (a->values || a->count == 0);
}

/* netCDF wants values of cells in the type of the cells; JSON has two types of numbers only. */
static arras_dtype stored_type(const ar_attribute *a, arras_dtype cells)
{
    static const char *const names[] = { "_FillValue", "missing_value", "valid_min", "valid_max",
                                         "valid_range" };

    for (size_t i = 0; i < AR_COUNT(names); i++)
        if (a->dtype != ARRAS_NO_DTYPE && strcmp(a->name, names[i]) == 0)
            return cells;
    return a->dtype;
}

/* Text as netCDF has it: one string of its own length. */
static hid_t type_for(const ar_attribute *a)
{
    hid_t type;

    if (a->dtype != ARRAS_NO_DTYPE)
        return ar_h5_type_to_store(a->dtype, false);
    type = H5Tcopy(H5T_C_S1);
    if (type >= 0)
        H5Tset_size(type, (size_t)ar_max64(a->count, 1));
    return type;
}

arras_status ar_h5_attribute_write(hid_t to, arras_dtype cells, const ar_attribute *a,
                                   const char *name, arras_error *err)
{
    ar_attribute as_stored = { .dtype = stored_type(a, cells), .count = a->count };
    ar_h5_ids    ids = { .n = 0 };
    hsize_t      n = (hsize_t)a->count;
    bool         one = a->count == 1 || a->dtype == ARRAS_NO_DTYPE;
    hid_t        type = ar_h5_keep(&ids, type_for(a));
    hid_t        stored = ar_h5_keep(&ids, type_for(&as_stored));
    hid_t space = ar_h5_keep(&ids, one ? H5Screate(H5S_SCALAR) : H5Screate_simple(1, &n, NULL));
    hid_t made =
        type < 0 || stored < 0 || space < 0
            ? -1
            : ar_h5_keep(&ids, H5Acreate2(to, a->name, stored, space, H5P_DEFAULT, H5P_DEFAULT));
    arras_status status = ARRAS_OK;

    if (made < 0 || (a->count > 0 && H5Awrite(made, type, a->values) < 0))
        status = ar_h5_fail(err, ARRAS_EIO, name, "an attribute can't be written");
    ar_h5_close(&ids);
    return status;
}

arras_status ar_h5_attributes_copy(hid_t to, hid_t from, bool same_cells, const char *name,
                                   arras_error *err)
{
    ar_text         names = { 0 };
    ar_h5_attribute a;
    arras_status    status = ARRAS_OK;

    ar_h5_attributes_find(&names, from);
    if (names.failed)
        status = ar_fail_memory(err, names.length);
    for (const char *at = NULL; status == ARRAS_OK && (at = next_name(&names, at));) {
        if (is_internal(at) || (!same_cells && ar_attribute_is_about_cells(at)))
            continue;
        if (open_found(&a, from, at) && is_portable(&a) && write_copy(&a, to, at) < 0)
            status = ar_h5_fail(err, ARRAS_EIO, name, "an attribute can't be written");
        ar_h5_attribute_close(&a);
    }
    ar_text_free(&names);
    return status;
}
#endif
