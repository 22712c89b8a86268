/* store_hdf5_axes.c -- names of dimensions: scales, as HDF5 and netCDF-4 have them. */
#include "store/store.h"
#if defined ARRAS_HAVE_HDF5
#include "store/hdf5/store_hdf5.h"

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
    const ar_h5_sink *sink;
    hid_t             group, from; /* where it stands, and what it is like (or -1) */
    const char       *own_name;
    int               group_length; /* of the path: "/a/" */
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

/* A line of this length that is called as the axis is its coordinates, wherever it comes from; not
 * one that has an axis of another name. */
static bool can_be_scale(hid_t dataset, const char *name, int64_t length)
{
    return has_length(dataset, length) &&
           (H5DSis_scale(dataset) > 0 || H5DSset_scale(dataset, name) >= 0);
}

/* The scale of this name beside the dataset, made if there is nothing; negative: something else has
 * the name. */
static hid_t find_scale(const axes_writer *w, int d, const char *name, int64_t length, bool copies,
                        bool *is_new)
{
    scale_copy copy = { w->group, name };
    hid_t      scale;

    *is_new = H5Lexists(w->group, name, H5P_DEFAULT) == 0;
    if (*is_new &&
        !(copies && H5DSiterate_scales(w->from, (unsigned)d, NULL, copy_scale, &copy) > 0) &&
        H5Lexists(w->group, name, H5P_DEFAULT) == 0)
        make_scale(w->group, name, length);
    scale = H5Dopen2(w->group, name, H5P_DEFAULT);
    if (scale >= 0 && !can_be_scale(scale, name, length)) {
        H5Dclose(scale);
        return -1;
    }
    return scale;
}

/* Scales that were there before this draft never make way. */
static void note_use(const axes_writer *w, int d, const char *name, bool is_new)
{
    ar_h5_draft    *draft = w->sink->draft;
    ar_h5_axis_use *use = ar_alloc(1, sizeof *use);

    if (!use)
        return; /* then it does not make way */
    snprintf(use->scale, sizeof use->scale, "%.*s%s", w->group_length, w->sink->inside, name);
    snprintf(use->dataset, sizeof use->dataset, "%s", w->sink->inside);
    use->axis = d;
    for (const ar_h5_axis_use *u = draft->uses; u && !is_new; u = u->next)
        is_new = strcmp(u->scale, use->scale) == 0;
    if (!is_new) {
        ar_free(use);
        return;
    }
    use->next = draft->uses;
    draft->uses = use;
}

static bool attach(const axes_writer *w, int d, const char *name, bool copies)
{
    int64_t length = w->sink->base.info.shape[d];
    bool    is_new = false, done;
    hid_t   scale = find_scale(w, d, name, length, copies, &is_new);

    done = scale >= 0 && H5DSattach_scale(w->sink->dataset, scale, (unsigned)d) >= 0;
    if (done)
        note_use(w, d, name, is_new);
    if (scale >= 0)
        H5Dclose(scale);
    return done;
}

/* Where a name is taken, another one does; where there is no scale at all, a label does. */
static void write_axis(const axes_writer *w, int d, const char *name, bool copies)
{
    const ar_store_info *info = &w->sink->base.info;
    char                 other[sizeof info->axes[0] + 24];

    snprintf(other, sizeof other, "%s_%" PRId64, name, info->shape[d]);
    if (strcmp(name, w->own_name) == 0 && can_be_scale(w->sink->dataset, name, info->shape[d]))
        return;
    if ((strcmp(name, w->own_name) == 0 || !attach(w, d, name, copies)) &&
        !attach(w, d, other, false))
        H5DSset_label(w->sink->dataset, (unsigned)d, name);
}

void ar_h5_axes_write(const ar_h5_sink *s, hid_t group, hid_t from, const ar_store_info *from_info)
{
    const ar_store_info *info = &s->base.info;
    const char          *own_name = strrchr(s->inside, '/') + 1;
    axes_writer          w = { s, group, from, own_name, (int)(own_name - s->inside) };

    for (int d = 0; d < info->rank; d++)
        if (info->axes[d][0] && !strchr(info->axes[d], '/'))
            write_axis(&w, d, info->axes[d],
                       from >= 0 && info->rank == from_info->rank &&
                           info->shape[d] == from_info->shape[d]);
}

/* ---- Datasets in the place of scales --------------------------------------------------------- */

static int64_t length_of_axis(hid_t file, const ar_h5_axis_use *use)
{
    ar_h5_ids ids = { .n = 0 };
    hsize_t   lengths[H5S_MAX_RANK];
    hid_t     dataset = ar_h5_keep(&ids, H5Dopen2(file, use->dataset, H5P_DEFAULT));
    hid_t     space = dataset < 0 ? -1 : ar_h5_keep(&ids, H5Dget_space(dataset));
    int       rank = space < 0 ? -1 : H5Sget_simple_extent_dims(space, lengths, NULL);

    ar_h5_close(&ids);
    return use->axis < rank ? (int64_t)lengths[use->axis] : -1;
}

static void join_axis(hid_t file, const ar_h5_axis_use *use, hid_t scale,
                      herr_t (*join)(hid_t dataset, hid_t scale, unsigned axis))
{
    hid_t dataset = H5Dopen2(file, use->dataset, H5P_DEFAULT);

    if (dataset >= 0 && (scale < 0 || join(dataset, scale, (unsigned)use->axis) < 0))
        H5DSset_label(dataset, (unsigned)use->axis, strrchr(use->scale, '/') + 1);
    if (dataset >= 0)
        H5Dclose(dataset);
}

bool ar_h5_scale_yields(ar_h5_draft *draft, const char *inside)
{
    hid_t scale = -1;
    bool  found = false;

    for (const ar_h5_axis_use *use = draft->uses; use; use = use->next) {
        if (strcmp(use->scale, inside) != 0)
            continue;
        if (scale < 0)
            scale = H5Dopen2(draft->file, inside, H5P_DEFAULT);
        join_axis(draft->file, use, scale, H5DSdetach_scale);
        found = scale >= 0;
    }
    if (found) {
        H5Dclose(scale);
        H5Ldelete(draft->file, inside, H5P_DEFAULT);
    }
    return found;
}

/* The scale under another name, as write_axis would have it. */
static hid_t open_elsewhere(hid_t file, const ar_h5_axis_use *use, int64_t length)
{
    char path[AR_H5_PATH + 24];

    snprintf(path, sizeof path, "%s_%" PRId64, use->scale, length);
    if (H5Lexists(file, path, H5P_DEFAULT) == 0)
        make_scale(file, path, length);
    return H5Dopen2(file, path, H5P_DEFAULT);
}

void ar_h5_scale_replace(const ar_h5_sink *s)
{
    const char *name = strrchr(s->inside, '/') + 1;

    for (ar_h5_axis_use **at = &s->draft->uses, *use; (use = *at);) {
        if (strcmp(use->scale, s->inside) != 0) {
            at = &use->next;
            continue;
        }
        hid_t   file = s->draft->file, other = -1;
        int64_t length = length_of_axis(file, use);
        bool    fits = can_be_scale(s->dataset, name, length);

        if (!fits)
            other = open_elsewhere(file, use, length);
        join_axis(file, use, fits ? s->dataset : other, H5DSattach_scale);
        if (other >= 0)
            H5Dclose(other);
        *at = use->next;
        ar_free(use);
    }
}
#endif
