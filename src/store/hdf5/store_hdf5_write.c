/* store_hdf5_write.c -- new datasets: chunks that were encoded elsewhere, or cells in one piece. */
#include "store/store.h"
#if defined ARRAS_HAVE_HDF5
#include "store/codec/half.h"
#include "store/flat/flat.h"
#include "store/hdf5/store_hdf5.h"
#include "store/safe/store_file.h"

#include <stdio.h>
#include <string.h>

/* Bytes of a chunk that is not given: large enough that a disk and a codec work well, small enough
 * that many fit in a cache of some MB. */
enum { CHUNK_BYTES = 1 << 20, GROWING_BYTES = 1 << 16 };

/* ---- Cells ----------------------------------------------------------------------------------- */

arras_status ar_h5_put(ar_sink *self, const int64_t *chunk, const ar_chunk_bytes *bytes,
                       arras_error *err)
{
    ar_h5_sink  *s = (ar_h5_sink *)self;
    hsize_t      at[ARRAS_MAX_RANK];
    arras_status status = ARRAS_OK;

    if (bytes->missing)
        return ARRAS_OK;
    for (int d = 0; d < self->info.rank; d++)
        at[d] = (hsize_t)(chunk[d] * self->info.chunk[d]);
    ar_h5_enter();
    if (H5Dwrite_chunk(s->dataset, H5P_DEFAULT, bytes->skipped, at, bytes->bytes.length,
                       bytes->bytes.data) < 0)
        status = ar_h5_draft_fail(err, s->draft, self->name, "a chunk can't be written");
    ar_h5_leave();
    return status;
}

/* The place of the cells was given out when the dataset was made, so that libhdf5 is not needed. */
static arras_status write_box(ar_sink *self, const int64_t *lo, const int64_t *hi,
                              const void *cells, arras_error *err)
{
    ar_h5_sink *s = (ar_h5_sink *)self;

    return ar_flat_write(&s->cells, &self->info, lo, hi, cells, self->name, err);
}

static arras_status write_behind(ar_sink *self, int64_t memory, arras_error *err)
{
    ar_h5_sink *s = (ar_h5_sink *)self;

    return ar_flat_write_behind(&s->cells, &self->info, memory, self->name, err);
}

static void *reserve_write_buffer(ar_sink *self, const int64_t *lo, const int64_t *hi)
{
    return ar_flat_reserve(&((ar_h5_sink *)self)->cells, &self->info, lo, hi);
}

/* ---- The end --------------------------------------------------------------------------------- */

static arras_status finish(ar_sink *self, arras_error *err)
{
    ar_h5_sink  *s = (ar_h5_sink *)self;
    arras_error  first;
    arras_status closed = ar_flat_settle(&s->cells, self->name, &first), left;

    ar_h5_enter();
    if (H5Dclose(s->dataset) < 0 && closed == ARRAS_OK)
        closed = ar_h5_draft_fail(&first, s->draft, self->name, "it can't be completed");
    if (closed != ARRAS_OK)
        H5Ldelete(s->draft->file, s->inside, H5P_DEFAULT);
    left = ar_h5_draft_leave(s->draft, closed == ARRAS_OK, err);
    ar_h5_leave();
    ar_free(s);
    return closed != ARRAS_OK ? ar_fail(err, closed, "%s", first.text) : left;
}

static void abandon(ar_sink *self)
{
    ar_h5_sink *s = (ar_h5_sink *)self;

    ar_flat_settle(&s->cells, self->name, NULL);
    ar_h5_enter();
    if (s->dataset >= 0)
        H5Dclose(s->dataset);
    if (s->draft) {
        H5Ldelete(s->draft->file, s->inside, H5P_DEFAULT);
        ar_h5_draft_leave(s->draft, false, NULL);
    }
    ar_h5_leave();
    ar_free(s);
}

static const ar_sink_type chunked = { .put = ar_h5_put, .finish = finish, .abandon = abandon };
static const ar_sink_type contiguous = { .write_box = write_box,
                                         .write_behind = write_behind,
                                         .reserve_write_buffer = reserve_write_buffer,
                                         .finish = finish,
                                         .abandon = abandon };

/* ---- What it is to be ------------------------------------------------------------------------ */

/* An array that grows may begin with little: its chunks are for what it will be. */
static void enlarge_chunk(ar_store_info *info, size_t cell_size)
{
    int64_t bytes = (int64_t)cell_size;

    for (int d = 0; d < info->rank; d++)
        bytes *= info->chunk[d]; /* not more than it had before it was halved */
    for (int d = 0; d < info->rank; d++)
        for (; info->growable[d] && bytes <= GROWING_BYTES / 2; bytes *= 2)
            info->chunk[d] *= 2;
}

/* Halves the longest axis until a chunk has CHUNK_BYTES. */
static void choose_chunk(ar_store_info *info, size_t cell_size)
{
    for (;;) {
        int64_t bytes = (int64_t)cell_size;
        int     longest = 0;
        bool    fits = true;

        for (int d = 0; d < info->rank; d++) {
            fits = ar_mul64(&bytes, bytes, info->chunk[d]) && fits;
            longest = info->chunk[d] > info->chunk[longest] ? d : longest;
        }
        if ((fits && bytes <= CHUNK_BYTES) || info->chunk[longest] == 1)
            return;
        info->chunk[longest] = (info->chunk[longest] + 1) / 2;
    }
}

/* HDF5 wants chunks within what an axis can become. */
static arras_status set_chunk(ar_h5_sink *s, const int64_t *chunk, arras_error *err)
{
    ar_store_info *info = &s->base.info;
    size_t         size = arras_dtype_size(info->dtype);
    int64_t        bytes = (int64_t)size;

    for (int d = 0; d < info->rank; d++) {
        int64_t most = ar_max64(info->shape[d], 1);
        int64_t wanted = chunk && info->chunked ? chunk[d] : most;

        if (wanted < 1)
            return ar_fail(err, ARRAS_EINVAL, "%s: chunks of %" PRId64 " cells along axis %d",
                           s->base.name, wanted, d);
        info->chunk[d] = info->growable[d] ? wanted : ar_min64(wanted, most);
    }
    if (!info->chunked)
        return ARRAS_OK;
    if (!chunk) {
        choose_chunk(info, size);
        enlarge_chunk(info, size);
    }
    for (int d = 0; d < info->rank; d++)
        if (!ar_mul64(&bytes, bytes, info->chunk[d]) || bytes > UINT32_MAX)
            return ar_fail(err, ARRAS_ELIMIT,
                           "%s: a chunk of HDF5 has less than 4 GiB; choose smaller ones",
                           s->base.name);
    return ARRAS_OK;
}

static bool is_empty(const ar_store_info *info)
{
    for (int d = 0; d < info->rank; d++)
        if (info->shape[d] == 0 && !info->growable[d])
            return true;
    return false;
}

static bool is_growable(const ar_store_info *info)
{
    for (int d = 0; d < info->rank; d++)
        if (info->growable[d])
            return true;
    return false;
}

static arras_status set_info(ar_h5_sink *s, arras_dtype dtype, int rank, const int64_t *shape,
                             const ar_sink_options *options, arras_error *err)
{
    ar_store_info *info = &s->base.info;
    int64_t        bytes;
    const char    *codecs = options->codecs ? options->codecs : "none";
    arras_status   status;

    info->dtype = dtype;
    info->rank = rank;
    for (int d = 0; d < rank; d++) {
        info->shape[d] = shape[d];
        info->growable[d] = options->growable && options->growable[d];
    }
    if (options->fill)
        memcpy(info->fill, options->fill, arras_dtype_size(dtype));
    if (!ar_flat_bytes(&bytes, (int64_t)arras_dtype_size(dtype), rank, shape))
        return ar_fail(err, ARRAS_ESIZE, "%s: its shape makes more bytes than there can be",
                       s->base.name);
    status = ar_chain_parse(&s->base.chain, codecs, (int)arras_dtype_size(dtype), err);
    if (status != ARRAS_OK)
        return status;
    ar_h5_filters_adapt(&s->base.chain);
    s->cells.half = ar_chain_is_half(&s->base.chain);
    if (s->cells.half) {
        status = ar_half_check(dtype, s->base.name, err);
        if (status != ARRAS_OK)
            return status;
        ar_half_round(info->fill, 1);
    }
    /* What has one cell, or none for good, is not worth chunks, and HDF5 would refuse them. */
    info->chunked = rank > 0 && !is_empty(info) &&
                    (options->chunk || s->base.chain.n > s->cells.half || is_growable(info));
    if (!info->chunked)
        s->base.chain.n = 0;
    s->base.type = info->chunked ? &chunked : &contiguous;
    return set_chunk(s, options->chunk, err);
}

/* ---- Making it ------------------------------------------------------------------------------- */

static hid_t make_space(const ar_store_info *info)
{
    hsize_t dims[ARRAS_MAX_RANK], most[ARRAS_MAX_RANK];

    for (int d = 0; d < info->rank; d++) {
        dims[d] = (hsize_t)info->shape[d];
        most[d] = info->growable[d] ? H5S_UNLIMITED : dims[d];
    }
    return info->rank ? H5Screate_simple(info->rank, dims, most) : H5Screate(H5S_SCALAR);
}

/* It is given as it is in memory. */
static herr_t set_fill(hid_t plist, const ar_store_info *info, hid_t stored)
{
    hid_t  type = ar_h5_type_in_memory(info->dtype, stored);
    herr_t result = type < 0 ? -1 : H5Pset_fill_value(plist, type, info->fill);

    if (type >= 0)
        H5Tclose(type);
    return result;
}

/* Cells in one piece get their place at once.  Zeros need not be written into a new file. */
static herr_t set_layout(hid_t plist, const ar_store_info *info, hid_t stored)
{
    static const uint8_t zeros[sizeof info->fill];
    hsize_t              chunk[ARRAS_MAX_RANK];
    bool                 zero = memcmp(info->fill, zeros, sizeof zeros) == 0;

    for (int d = 0; d < info->rank; d++)
        chunk[d] = (hsize_t)info->chunk[d];
    if (set_fill(plist, info, stored) < 0)
        return -1;
    if (info->chunked)
        return H5Pset_chunk(plist, info->rank, chunk);
    if (H5Pset_layout(plist, H5D_CONTIGUOUS) < 0 ||
        H5Pset_alloc_time(plist, H5D_ALLOC_TIME_EARLY) < 0)
        return -1;
    return H5Pset_fill_time(plist, zero ? H5D_FILL_TIME_NEVER : H5D_FILL_TIME_ALLOC);
}

/* libhdf5 asks for the filters only when it makes the dataset: opened again, it needs them no more.
 */
static hid_t make_dataset(const ar_h5_sink *s, hid_t type, hid_t space, hid_t plist)
{
    ar_h5_ids ids = { .n = 0 };
    hid_t     links = ar_h5_keep(&ids, H5Pcreate(H5P_LINK_CREATE)), dataset = -1;

    if (links >= 0 && H5Pset_create_intermediate_group(links, 1) >= 0)
        dataset = H5Dcreate2(s->draft->file, s->inside, type, space, links, plist, H5P_DEFAULT);
    ar_h5_close(&ids);
    if (dataset < 0 || H5Dclose(dataset) < 0)
        return -1;
    return H5Dopen2(s->draft->file, s->inside, H5P_DEFAULT);
}

/* Filters may choose parameters by themselves; chunks are encoded with these. */
static arras_status take_filters(ar_h5_sink *s, arras_error *err)
{
    ar_h5_ids     ids = { .n = 0 };
    hid_t         plist = ar_h5_keep(&ids, H5Dget_create_plist(s->dataset));
    hid_t         stored = ar_h5_keep(&ids, H5Dget_type(s->dataset));
    ar_h5_type    type;
    ar_h5_filters filters;
    arras_status  status;

    if (plist >= 0 && stored >= 0) {
        ar_h5_type_of(&type, stored);
        status = ar_h5_filters_read(&filters, plist, &type, s->base.name, err);
    } else {
        status = ar_h5_fail(err, ARRAS_EIO, s->base.name, "its filters can't be read");
    }
    if (status == ARRAS_OK) {
        for (int i = 0; i < s->base.chain.n; i++)
            if (s->base.chain.steps[i].codec != &ar_codec_deflate) /* which has more levels here */
                s->base.chain.steps[i] = filters.chain.steps[i];
        memcpy(s->base.info.codecs, filters.codecs, sizeof filters.codecs);
        memcpy(s->base.info.stored, type.stored, sizeof type.stored);
    }
    ar_h5_close(&ids);
    return status;
}

static arras_status place_cells(ar_h5_sink *s, arras_error *err)
{
    haddr_t offset;

    if (s->base.info.chunked)
        return take_filters(s, err);
    offset = H5Dget_offset(s->dataset);
    s->cells.fd = s->draft->disk.fd;
    s->cells.start = offset == HADDR_UNDEF ? 0 : (int64_t)offset;
    ar_flat_dense(&s->cells, &s->base.info, false);
    /* Without cells there is no place for them. */
    if (offset == HADDR_UNDEF && !is_empty(&s->base.info))
        return ar_h5_fail(err, ARRAS_EIO, s->base.name, "there is no place for its cells");
    return ARRAS_OK;
}

static arras_status make(ar_h5_sink *s, arras_error *err)
{
    ar_h5_ids    ids = { .n = 0 };
    hid_t        type = ar_h5_keep(&ids, ar_h5_type_to_store(s->base.info.dtype, s->cells.half));
    hid_t        space = ar_h5_keep(&ids, make_space(&s->base.info));
    hid_t        plist = ar_h5_keep(&ids, H5Pcreate(H5P_DATASET_CREATE));
    uint32_t     pretended;
    arras_status status = ARRAS_OK;

    ar_h5_filters_pretend(&s->base.chain, &pretended);
    if (type < 0 || space < 0 || plist < 0 || set_layout(plist, &s->base.info, type) < 0)
        status = ar_h5_draft_fail(err, s->draft, s->base.name, "it can't be made");
    if (status == ARRAS_OK)
        status =
            ar_h5_filters_write(plist, &s->base.chain, pretended, &s->base.info, s->base.name, err);
    if (status == ARRAS_OK) {
        s->dataset = make_dataset(s, type, space, plist);
        if (s->dataset < 0)
            status = ar_h5_draft_fail(err, s->draft, s->base.name, "it can't be made");
    }
    ar_h5_close(&ids);
    ar_h5_filters_forget(pretended);
    return status == ARRAS_OK ? place_cells(s, err) : status;
}

typedef struct {
    const ar_h5_sink *sink;
    bool              same_cells;
} attribute_writer;

static arras_status write_attribute(void *context, const ar_attribute *a, arras_error *err)
{
    const attribute_writer *w = context;

    if (!w->same_cells && ar_attribute_is_about_cells(a->name))
        return ARRAS_OK;
    return ar_h5_attribute_write(w->sink->dataset, w->sink->base.info.dtype, a, w->sink->base.name,
                                 err);
}

/* Those of other formats as far as they are numbers and text. */
static arras_status copy_attributes(ar_h5_sink *s, ar_source *like, bool same_cells,
                                    arras_error *err)
{
    attribute_writer w = { s, same_cells };
    hid_t            from = ar_h5_dataset_of(like);

    if (from >= 0)
        return ar_h5_attributes_copy(s->dataset, from, same_cells, s->base.name, err);
    return like->type->attributes ? like->type->attributes(like, write_attribute, &w, err)
                                  : ARRAS_OK;
}

static arras_status copy_from(ar_h5_sink *s, const ar_source *like, arras_error *err)
{
    char         group_path[AR_H5_PATH];
    const char  *slash = strrchr(s->inside, '/');
    ar_source   *stored = ar_source_stored(like);
    bool         same_cells = stored == like && like->info.dtype == s->base.info.dtype;
    hid_t        group;
    arras_status status = copy_attributes(s, stored, same_cells, err);

    snprintf(group_path, sizeof group_path, "%.*s", (int)ar_max64(slash - s->inside, 1), s->inside);
    group = H5Gopen2(s->draft->file, group_path, H5P_DEFAULT);
    if (group < 0)
        return ar_h5_fail(err, ARRAS_EIO, s->base.name, "its group can't be opened");
    ar_axes_like(&s->base.info, strrchr(s->inside, '/') + 1, &like->info);
    if (status == ARRAS_OK)
        ar_h5_axes_write(s, group, ar_h5_dataset_of(stored), &like->info);
    H5Gclose(group);
    return status;
}

static arras_status create_in_draft(ar_h5_sink *s, const char *path, const ar_source *like,
                                    arras_error *err)
{
    arras_status status = ar_h5_draft_join(&s->draft, path, s->inside, err);

    if (status == ARRAS_OK)
        status = make(s, err);
    if (status == ARRAS_OK)
        ar_h5_scale_replace(s);
    if (status == ARRAS_OK && like)
        status = copy_from(s, like, err);
    return status;
}

/* "a/b" and "/a/b" are the same; what is not named is called data. */
static arras_status set_names(ar_h5_sink *s, const char *path, const char *inside, arras_error *err)
{
    const char *name = inside && *inside ? inside : "data";
    size_t n = (size_t)snprintf(s->inside, sizeof s->inside, "%s%s", *name == '/' ? "" : "/", name);
    bool   bad = n >= sizeof s->inside || s->inside[n - 1] == '/' || strstr(s->inside, "//") ||
               strstr(s->inside, "/./") || (n > 1 && strcmp(s->inside + n - 2, "/.") == 0);

    snprintf(s->base.name, sizeof s->base.name, "%.200s:%.300s", path, s->inside);
    snprintf(s->base.info.format, sizeof s->base.info.format, "HDF5");
    if (bad)
        return ar_fail(err, ARRAS_ENAME, "%s: '%s' is no name for an array in an HDF5 file", path,
                       name);
    return ARRAS_OK;
}

arras_status ar_h5_create(ar_sink **out, const char *path, const char *inside, arras_dtype dtype,
                          int rank, const int64_t *shape, const ar_sink_options *options,
                          arras_error *err)
{
    ar_h5_sink  *s = ar_alloc(1, sizeof *s);
    arras_status status;

    if (!s)
        return ar_fail_memory(err, sizeof *s);
    s->dataset = -1;
    status = set_names(s, path, inside, err);
    if (status == ARRAS_OK)
        status = set_info(s, dtype, rank, shape, options, err);
    if (status == ARRAS_OK) {
        snprintf(s->base.info.layout, sizeof s->base.info.layout, "%s",
                 s->base.info.chunked ? "chunked" : "contiguous");
        ar_h5_enter();
        status = create_in_draft(s, path, options->like, err);
        ar_h5_leave();
    }
    if (status == ARRAS_OK)
        *out = &s->base;
    else
        abandon(&s->base);
    return status;
}
#endif
