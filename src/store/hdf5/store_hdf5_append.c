/* store_hdf5_append.c -- datasets that grow: chunks are added to a copy of their file, which shares
 * its blocks where the file system can, and takes the file's place at the end. */
#include "store/store.h"
#if defined ARRAS_HAVE_HDF5
#include "store/hdf5/store_hdf5.h"

#include <limits.h>
#include <stdio.h>
#include <string.h>

/* ---- The end --------------------------------------------------------------------------------- */

static arras_status finish(ar_sink *self, arras_error *err)
{
    ar_h5_sink  *s = (ar_h5_sink *)self;
    arras_status status = ARRAS_OK, left;
    arras_error  first;

    self->before.source->type->close(self->before.source);
    ar_h5_enter();
    if (H5Dclose(s->dataset) < 0)
        status = ar_h5_draft_fail(&first, s->draft, self->name, "it can't be completed");
    s->draft->spoiled = s->draft->spoiled || status != ARRAS_OK;
    left = ar_h5_draft_leave(s->draft, status == ARRAS_OK, err);
    ar_h5_leave();
    ar_free(s);
    return status != ARRAS_OK ? ar_fail(err, status, "%s", first.text) : left;
}

static void abandon(ar_sink *self)
{
    ar_h5_sink *s = (ar_h5_sink *)self;

    if (self->before.source)
        self->before.source->type->close(self->before.source);
    ar_h5_enter();
    if (s->dataset >= 0)
        H5Dclose(s->dataset);
    if (s->draft) {
        s->draft->spoiled = true;
        ar_h5_draft_leave(s->draft, false, NULL);
    }
    ar_h5_leave();
    ar_free(s);
}

static const ar_sink_type sink_type = { .put = ar_h5_put, .finish = finish, .abandon = abandon };

/* ---- What can grow --------------------------------------------------------------------------- */

static arras_status check(const ar_h5_source *s, int axis, arras_error *err)
{
    const ar_source *source = &s->base;

    if (source->type != &ar_h5_chunked || source->record.bytes || s->whole_filters)
        return ar_fail(err, ARRAS_EFORMAT,
                       "%s can't grow: it is stored %s, as %s; what grows has chunks of numbers",
                       source->name, source->info.layout, source->info.stored);
    if (axis >= 0 && axis < source->info.rank && !source->info.growable[axis])
        return ar_fail(err, ARRAS_EFORMAT,
                       "%s can't grow: its axis %d has %" PRId64
                       " cells for good; an array grows along axes that were made unlimited",
                       source->name, axis, source->info.shape[axis]);
    return ARRAS_OK;
}

/* The draft may be another's too. */
static bool is_as_before(const ar_h5_sink *s)
{
    const ar_store_info *info = &s->base.before.source->info;
    hsize_t              shape[ARRAS_MAX_RANK];
    hid_t                space = H5Dget_space(s->dataset);
    bool                 same = space >= 0 && H5Sget_simple_extent_ndims(space) == info->rank &&
                H5Sget_simple_extent_dims(space, shape, NULL) >= 0;

    for (int d = 0; d < info->rank && same; d++)
        same = shape[d] == (hsize_t)info->shape[d];
    if (space >= 0)
        H5Sclose(space);
    return same;
}

static arras_status grow_in_draft(ar_h5_sink *s, const char *path, arras_error *err)
{
    hsize_t      shape[ARRAS_MAX_RANK];
    arras_status status = ar_h5_draft_join(&s->draft, path, NULL, err);

    if (status != ARRAS_OK)
        return status;
    s->dataset = H5Dopen2(s->draft->file, s->inside, H5P_DEFAULT);
    if (s->dataset >= 0 && !is_as_before(s))
        return ar_fail(err, ARRAS_EIO, "%s is being appended to already", s->base.name);
    for (int d = 0; d < s->base.info.rank; d++)
        shape[d] = (hsize_t)s->base.info.shape[d];
    if (s->dataset < 0 || H5Dset_extent(s->dataset, shape) < 0)
        return ar_h5_draft_fail(err, s->draft, s->base.name, "it can't be made longer");
    return ARRAS_OK;
}

/* The file it is in and its name there, whatever the user wrote and links led to. */
static arras_status find_place(ar_h5_sink *s, char *path, const ar_h5_source *before,
                               arras_error *err)
{
    ssize_t n, length;

    ar_h5_enter();
    n = H5Iget_name(before->dataset, s->inside, sizeof s->inside);
    length = H5Fget_name(before->dataset, path, PATH_MAX);
    ar_h5_leave();
    return n > 0 && (size_t)n < sizeof s->inside && length > 0 && length < PATH_MAX
               ? ARRAS_OK
               : ar_fail(err, ARRAS_ENAME, "%s: its name is too long", before->base.name);
}

/* Takes `before` over. */
static arras_status open_sink(ar_sink **out, ar_h5_source *before, int axis, int64_t extra,
                              arras_error *err)
{
    char         path[PATH_MAX];
    ar_h5_sink  *s = ar_alloc(1, sizeof *s);
    arras_status status = s ? check(before, axis, err) : ar_fail_memory(err, sizeof *s);

    if (status == ARRAS_OK)
        status = find_place(s, path, before, err);
    if (status == ARRAS_OK)
        status = ar_sink_extend(&s->base, &before->base, axis, extra, err);
    if (status != ARRAS_OK) {
        before->base.type->close(&before->base);
        ar_free(s);
        return status;
    }
    s->base.type = &sink_type;
    s->dataset = -1;
    ar_h5_enter();
    status = grow_in_draft(s, path, err);
    ar_h5_leave();
    if (status == ARRAS_OK)
        *out = &s->base;
    else
        abandon(&s->base);
    return status;
}

arras_status ar_h5_append(ar_sink **out, const char *path, const char *inside, int axis,
                          int64_t extra, arras_error *err)
{
    ar_source   *before = NULL;
    arras_status status = ar_h5_open(&before, path, inside, err);

    return status == ARRAS_OK ? open_sink(out, (ar_h5_source *)before, axis, extra, err) : status;
}
#endif
