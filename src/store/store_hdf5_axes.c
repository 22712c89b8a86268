/* store_hdf5_axes.c -- names of dimensions: scales, as HDF5 and netCDF-4 have them. */
#include "store/store.h"
#if defined ARRAS_HAVE_HDF5
#include "store/store_hdf5.h"

#include <stdio.h>
#include <string.h>

bool ar_h5_is_scale(hid_t dataset)
{
    static const char mark[] = "DIMENSION_SCALE";
    ar_h5_attribute   a;
    bool              is = ar_h5_attribute_open(&a, dataset, "CLASS") && a.values && a.count == 1 &&
              H5Tget_class(a.type) == H5T_STRING && H5Tis_variable_str(a.type) == 0 &&
              a.size >= sizeof mark - 1 && memcmp(a.values, mark, sizeof mark - 1) == 0;

    ar_h5_attribute_close(&a);
    return is;
}

/* Names are bytes of the file: they stay within their line. */
static void copy_name(char *out, size_t size, const char *name)
{
    snprintf(out, size, "%.*s", (int)size - 1, name);
    for (char *c = out; *c; c++)
        if ((unsigned char)*c < ' ' || *c == 127)
            *c = '?';
}

/* The last part of the path an object was opened by; "" for one without a name. */
static void leaf_name(char *out, size_t size, hid_t object)
{
    char        path[1024] = "";
    const char *slash;

    if (H5Iget_name(object, path, sizeof path) <= 0)
        path[0] = '\0';
    path[sizeof path - 1] = '\0';
    slash = strrchr(path, '/');
    copy_name(out, size, slash ? slash + 1 : path);
}

/* ---- Reading --------------------------------------------------------------------------------- */

/* For each axis a list of scales; the first is the one. */
static void read_scales(ar_store_info *info, hid_t dataset)
{
    ar_h5_attribute a;
    bool            good = ar_h5_attribute_open(&a, dataset, "DIMENSION_LIST") && a.values &&
                a.count == info->rank && H5Tget_class(a.type) == H5T_VLEN &&
                H5Tdetect_class(a.type, H5T_REFERENCE) > 0;

    for (int d = 0; d < info->rank && good; d++) {
        const hvl_t *list = (const hvl_t *)(const void *)a.values + d;
        hid_t        scale =
            list->len ? H5Rdereference2(dataset, H5P_DEFAULT, H5R_OBJECT, list->p) : (hid_t)-1;

        if (scale >= 0) {
            leaf_name(info->axes[d], sizeof info->axes[d], scale);
            H5Idec_ref(scale);
        }
    }
    ar_h5_attribute_close(&a);
}

static void read_labels(ar_store_info *info, hid_t dataset)
{
    ar_h5_attribute a;
    bool            good = ar_h5_attribute_open(&a, dataset, "DIMENSION_LABELS") && a.values &&
                a.count == info->rank && H5Tis_variable_str(a.type) > 0;

    for (int d = 0; d < info->rank && good; d++) {
        const char *label = ((char **)(void *)a.values)[d];

        if (label && !info->axes[d][0])
            copy_name(info->axes[d], sizeof info->axes[d], label);
    }
    ar_h5_attribute_close(&a);
}

/* Without the library for scales, which trusts files more than they deserve. */
void ar_h5_axes_read(ar_store_info *info, hid_t dataset)
{
    if (ar_h5_is_scale(dataset) && info->rank == 1) {
        leaf_name(info->axes[0], sizeof info->axes[0], dataset);
        return;
    }
    read_scales(info, dataset);
    read_labels(info, dataset);
}

/* ---- Writing --------------------------------------------------------------------------------- */

typedef struct {
    hid_t       to, group, from; /* the dataset, where it stands, and what it is like (or -1) */
    const char *own_name;
} axes_writer;

/* Whether it is a line of so many cells, or one that can become so long: netCDF does not keep
 * the lengths of growing dimensions without coordinates up to date. */
static bool has_length(hid_t dataset, int64_t wanted)
{
    hid_t   space = H5Dget_space(dataset);
    hsize_t length = 0, most = 0;
    bool    is_line = space >= 0 && H5Sget_simple_extent_ndims(space) == 1 &&
                   H5Sget_simple_extent_dims(space, &length, &most) >= 0;

    if (space >= 0)
        H5Sclose(space);
    return is_line && (length == (hsize_t)wanted || most == H5S_UNLIMITED);
}

typedef struct {
    hid_t       group;
    const char *name;
} scale_copy;

static herr_t copy_scale(hid_t dataset, unsigned axis, hid_t scale, void *context)
{
    const scale_copy *c = context;
    hid_t             copy = -1;

    (void)dataset, (void)axis;
    if (H5Ocopy(scale, ".", c->group, c->name, H5P_DEFAULT, H5P_DEFAULT) < 0)
        return -1;
    copy = H5Dopen2(c->group, c->name, H5P_DEFAULT);
    if (copy < 0)
        return -1;
    /* Who else uses it, and as which dimension, is true of the file it comes from. */
    if (H5Aexists(copy, "REFERENCE_LIST") > 0)
        H5Adelete(copy, "REFERENCE_LIST");
    if (H5Aexists(copy, "_Netcdf4Dimid") > 0)
        H5Adelete(copy, "_Netcdf4Dimid");
    H5Dclose(copy);
    return 1;
}

/* A dimension without coordinates, as netCDF marks it. */
static void make_scale(hid_t group, const char *name, int64_t length)
{
    ar_h5_ids ids = { .n = 0 };
    hsize_t   n = (hsize_t)length;
    hid_t     space = ar_h5_keep(&ids, H5Screate_simple(1, &n, NULL));
    hid_t     scale;
    char      mark[80];

    if (space >= 0) {
        scale = ar_h5_keep(&ids, H5Dcreate2(group, name, H5T_IEEE_F32BE, space, H5P_DEFAULT,
                                            H5P_DEFAULT, H5P_DEFAULT));
        snprintf(mark, sizeof mark,
                 "This is a netCDF dimension but not a netCDF variable. %9" PRId64, length);
        if (scale >= 0)
            H5DSset_scale(scale, mark);
    }
    ar_h5_close(&ids);
}

/* The scale of this name beside the dataset, made if there is nothing; negative: something else has
 * the name. */
static hid_t find_scale(const axes_writer *w, int d, const char *name, int64_t length, bool copies)
{
    scale_copy copy = { w->group, name };
    hid_t      scale;

    if (H5Lexists(w->group, name, H5P_DEFAULT) == 0 &&
        !(copies && H5DSiterate_scales(w->from, (unsigned)d, NULL, copy_scale, &copy) > 0) &&
        H5Lexists(w->group, name, H5P_DEFAULT) == 0)
        make_scale(w->group, name, length);
    scale = H5Dopen2(w->group, name, H5P_DEFAULT);
    if (scale >= 0 && (H5DSis_scale(scale) <= 0 || !has_length(scale, length))) {
        H5Dclose(scale);
        return -1;
    }
    return scale;
}

/* Names of axes are for people: where a scale is not to be had, a label does. */
static void write_axis(const axes_writer *w, int d, const char *name, int64_t length, bool copies)
{
    bool  is_itself = strcmp(name, w->own_name) == 0;
    hid_t scale = is_itself ? -1 : find_scale(w, d, name, length, copies);

    if (is_itself && has_length(w->to, length))
        H5DSset_scale(w->to, name);
    else if (scale < 0 || H5DSattach_scale(w->to, scale, (unsigned)d) < 0)
        H5DSset_label(w->to, (unsigned)d, name);
    if (scale >= 0)
        H5Dclose(scale);
}

void ar_h5_axes_write(hid_t to, hid_t group, const ar_store_info *to_info, hid_t from,
                      const ar_store_info *from_info)
{
    char        own_name[256];
    axes_writer w = { to, group, from, own_name };

    if (to_info->rank != from_info->rank)
        return;
    leaf_name(own_name, sizeof own_name, to);
    for (int d = 0; d < to_info->rank; d++)
        if (from_info->axes[d][0] && !strchr(from_info->axes[d], '/'))
            write_axis(&w, d, from_info->axes[d], to_info->shape[d],
                       from >= 0 && to_info->shape[d] == from_info->shape[d]);
}
#endif
