/* store_hdf5_open.c -- opens a dataset of an HDF5 file: what it is, where its cells are, and how
 * they are best read. */
#include "store/store.h"
#if defined ARRAS_HAVE_HDF5
#include "store/flat/flat.h"
#include "store/hdf5/store_hdf5.h"
#include "store/safe/store_file.h"

#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

/* ---- Geometry -------------------------------------------------------------------------------- */

static arras_status read_shape(ar_store_info *info, hid_t space, const char *name, arras_error *err)
{
    hsize_t dims[H5S_MAX_RANK], most[H5S_MAX_RANK];
    int     rank = H5Sget_simple_extent_ndims(space);

    if (rank < 0 || rank > ARRAS_MAX_RANK || H5Sget_simple_extent_dims(space, dims, most) < 0)
        return ar_h5_fail(err, ARRAS_EFORMAT, name, "its shape can't be read");
    info->rank = rank;
    for (int d = 0; d < rank; d++) {
        if (dims[d] > INT64_MAX)
            return ar_fail(err, ARRAS_EFORMAT, "%s: axis %d has %" PRIu64 " cells", name, d,
                           (uint64_t)dims[d]);
        info->shape[d] = (int64_t)dims[d];
        info->chunk[d] = ar_max64(info->shape[d], 1);
        info->growable[d] = most[d] == H5S_UNLIMITED;
    }
    return ARRAS_OK;
}

/* libhdf5 keeps chunks below 4 GiB; a header that says otherwise lies. */
static arras_status read_chunk_shape(ar_h5_source *s, hid_t plist, size_t cell_size,
                                     arras_error *err)
{
    ar_store_info *info = &s->base.info;
    hsize_t        chunk[H5S_MAX_RANK];
    int            rank = H5Pget_chunk(plist, H5S_MAX_RANK, chunk);
    int64_t        bytes = (int64_t)cell_size;

    if (rank != info->rank)
        return ar_fail(err, ARRAS_EFORMAT, "%s has rank %d and chunks of rank %d", s->base.name,
                       info->rank, rank);
    for (int d = 0; d < rank; d++) {
        if (chunk[d] < 1 || chunk[d] > UINT32_MAX || !ar_mul64(&bytes, bytes, (int64_t)chunk[d]) ||
            bytes > UINT32_MAX)
            return ar_fail(err, ARRAS_EFORMAT,
                           "%s: its chunks have %" PRIu64 " cells along axis %d", s->base.name,
                           (uint64_t)chunk[d], d);
        info->chunk[d] = (int64_t)chunk[d];
    }
    info->chunked = true;
    s->chunk_bytes = (size_t)bytes;
    s->stored_size = cell_size;
    return ARRAS_OK;
}

static arras_status read_fill(ar_h5_source *s, hid_t plist, arras_error *err)
{
    H5D_fill_value_t defined = H5D_FILL_VALUE_UNDEFINED;

    if (H5Pfill_value_defined(plist, &defined) < 0 ||
        (defined != H5D_FILL_VALUE_UNDEFINED &&
         H5Pget_fill_value(plist, s->memory_type, s->base.info.fill) < 0))
        return ar_h5_fail(err, ARRAS_EFORMAT, s->base.name, "its fill value can't be read");
    return ARRAS_OK;
}

/* ---- Cells in one piece ---------------------------------------------------------------------- */

/* A map shows the file itself; where cells are not as they are in memory, they are read. */
static void map_cells(ar_h5_source *s, int64_t bytes)
{
    int64_t page = sysconf(_SC_PAGESIZE), first = s->offset / page * page;
    size_t  size = (size_t)(s->offset - first + bytes);
    bool    as_is = s->swap == 0 && !s->half && s->base.info.dtype != ARRAS_BOOL &&
                 s->offset % (int64_t)arras_dtype_size(s->base.info.dtype) == 0;
    void *map =
        as_is && bytes > 0 ? mmap(NULL, size, PROT_READ, MAP_SHARED, s->fd, first) : MAP_FAILED;

    if (map == MAP_FAILED)
        return;
    s->map = map;
    s->map_size = size;
}

static arras_status find_cells(ar_h5_source *s, size_t cell_size, arras_error *err)
{
    const ar_store_info *info = &s->base.info;
    H5D_space_status_t   allocated = H5D_SPACE_STATUS_NOT_ALLOCATED;
    haddr_t              offset = H5Dget_offset(s->dataset);
    int64_t              bytes, end;

    s->offset = -1;
    if (H5Dget_space_status(s->dataset, &allocated) < 0)
        return ar_h5_fail(err, ARRAS_EFORMAT, s->base.name, "its cells can't be found");
    if (!ar_flat_bytes(&bytes, (int64_t)cell_size, info->rank, info->shape))
        return ar_fail(err, ARRAS_EFORMAT, "%s: its shape makes more bytes than there can be",
                       s->base.name);
    /* Behind a block of the user's own, the offset of what has no place is some number. */
    if (bytes == 0 || allocated == H5D_SPACE_STATUS_NOT_ALLOCATED)
        return ARRAS_OK;
    if (offset > INT64_MAX || !ar_add64(&end, (int64_t)offset, bytes) || end > s->file_size)
        return ar_fail(err, ARRAS_EFORMAT,
                       "%s: its %" PRId64 " bytes begin at byte %" PRIu64 ", the file has %" PRId64
                       " bytes",
                       s->base.name, bytes, (uint64_t)offset, s->file_size);
    s->offset = (int64_t)offset + (int64_t)s->member_at;
    if (!s->record)
        map_cells(s, bytes);
    return ARRAS_OK;
}

/* ---- Layout ---------------------------------------------------------------------------------- */

static const char *layout_words(H5D_layout_t layout, bool external)
{
    switch (layout) {
    case H5D_COMPACT: return "compact";
    case H5D_CONTIGUOUS: return external ? "external" : "contiguous";
    case H5D_CHUNKED: return "chunked";
    case H5D_VIRTUAL: return "virtual";
    default: return "unknown";
    }
}

/* libhdf5 1.10 reads as many cells as the shape says, however few there are in the header. */
static arras_status check_compact(const ar_h5_source *s, size_t cell_size, arras_error *err)
{
    const ar_store_info *info = &s->base.info;
    int64_t              bytes;

    if (ar_flat_bytes(&bytes, (int64_t)cell_size, info->rank, info->shape) &&
        bytes <= info->stored_bytes)
        return ARRAS_OK;
    return ar_fail(err, ARRAS_EFORMAT,
                   "%s: %" PRId64 " bytes are stored, which is less than its shape makes",
                   s->base.name, info->stored_bytes);
}

/* whole: of what is stored for a cell, of which it may be a member. */
static arras_status read_chunked(ar_h5_source *s, hid_t plist, const ar_h5_type *whole,
                                 arras_error *err)
{
    ar_h5_filters filters;
    unsigned      options = 0;
    arras_status  status = read_chunk_shape(s, plist, whole->size, err);

    if (status == ARRAS_OK)
        status = ar_h5_filters_read(&filters, plist, whole, s->base.name, err);
    if (status != ARRAS_OK)
        return status;
    if (H5Pget_chunk_opts(plist, &options) < 0)
        return ar_h5_fail(err, ARRAS_EFORMAT, s->base.name, "how its chunks are stored is unknown");
    s->whole_filters = options & H5D_CHUNK_DONT_FILTER_PARTIAL_CHUNKS;
    memcpy(s->base.info.codecs, filters.codecs, sizeof filters.codecs);
    memcpy(s->missing, filters.missing, sizeof s->missing);
    if (!filters.known || !s->fixed || s->base.info.dtype == ARRAS_NO_DTYPE)
        return ARRAS_OK;
    s->base.chain = filters.chain;
    s->first_filter = filters.first;
    s->base.type = whole->direct ? &ar_h5_chunked : &ar_h5_chunks_converted;
    if (whole->direct)
        s->base.record =
            (ar_record){ s->record, s->member_at, s->record && s->swap, s->record && s->half };
    return ARRAS_OK;
}

static arras_status read_layout(ar_h5_source *s, hid_t plist, const ar_h5_type *type,
                                arras_error *err)
{
    H5D_layout_t layout = H5Pget_layout(plist);
    ar_h5_type   whole = *type;
    bool         external = layout == H5D_CONTIGUOUS && H5Pget_external_count(plist) != 0;

    snprintf(s->base.info.layout, sizeof s->base.info.layout, "%s", layout_words(layout, external));
    s->base.info.stored_bytes = (int64_t)H5Dget_storage_size(s->dataset);
    s->base.type = &ar_h5_converted;
    s->swap = type->swap;
    s->half = type->half;
    if (s->record || !type->direct) { /* the bytes of all of a cell are left as they are */
        whole.size = s->record ? s->record : type->size;
        whole.swap = 0;
        whole.half = false;
    }
    if (layout == H5D_CHUNKED)
        return read_chunked(s, plist, &whole, err);
    if (layout == H5D_COMPACT && type->dtype != ARRAS_NO_DTYPE)
        return check_compact(s, whole.size, err);
    if (layout != H5D_CONTIGUOUS || external || !type->direct)
        return ARRAS_OK;
    s->base.type = &ar_h5_contiguous;
    return find_cells(s, whole.size, err);
}

/* Types of cells that are no numbers have no place in memory, and no fill value. */
static arras_status read_type(ar_h5_source *s, hid_t stored, const ar_h5_type *type, hid_t plist,
                              arras_error *err)
{
    s->base.info.dtype = type->dtype;
    memcpy(s->base.info.stored, type->stored, sizeof type->stored);
    if (type->dtype == ARRAS_NO_DTYPE)
        return ARRAS_OK;
    s->stored_type = H5Tcopy(stored);
    if (s->memory_type < 0)
        s->memory_type = ar_h5_type_in_memory(type->dtype, stored);
    if (s->memory_type < 0 || s->stored_type < 0 ||
        H5Tget_size(s->memory_type) != arras_dtype_size(type->dtype))
        return ar_h5_fail(err, ARRAS_EFORMAT, s->base.name, "its type can't be converted");
    return read_fill(s, plist, err);
}

static arras_status read_member(ar_h5_source *s, ar_h5_type *type, hid_t stored, arras_error *err)
{
    ar_h5_member member;
    arras_status status = ar_h5_member_find(&member, stored, s->member, s->base.name, err);

    if (status != ARRAS_OK)
        return status;
    s->record = H5Tget_size(stored);
    s->member_at = member.at;
    s->fixed = member.fixed;
    s->memory_type = member.memory;
    *type = member.type;
    return ARRAS_OK;
}

static arras_status read_info(ar_h5_source *s, arras_error *err)
{
    ar_h5_ids    ids = { .n = 0 };
    hid_t        space = ar_h5_keep(&ids, H5Dget_space(s->dataset));
    hid_t        stored = ar_h5_keep(&ids, H5Dget_type(s->dataset));
    hid_t        plist = ar_h5_keep(&ids, H5Dget_create_plist(s->dataset));
    ar_h5_type   type;
    arras_status status;

    if (space < 0 || stored < 0 || plist < 0) {
        status = ar_h5_fail(err, ARRAS_EFORMAT, s->base.name, "its header can't be read");
    } else {
        ar_h5_type_of(&type, stored);
        if (H5Sget_simple_extent_type(space) == H5S_NULL)
            type = (ar_h5_type){ .stored = "nothing" };
        status = read_shape(&s->base.info, space, s->base.name, err);
        if (status == ARRAS_OK && s->member[0])
            status = read_member(s, &type, stored, err);
        if (status == ARRAS_OK)
            status = read_type(s, stored, &type, plist, err);
        if (status == ARRAS_OK)
            status = read_layout(s, plist, &type, err);
    }
    ar_h5_close(&ids);
    return status;
}

/* ---- Opening --------------------------------------------------------------------------------- */

static bool is_object(const ar_h5_file *file, const char *path, H5O_type_t type)
{
    H5O_info_t object;

    return H5Oget_info_by_name2(file->file, path, &object, H5O_INFO_BASIC, H5P_DEFAULT) >= 0 &&
           object.type == type;
}

/* "/a.b" may be a dataset of that name, the member b of the records of /a, or what is called b in
 * the group /a.  The path is cut at the dot of a member, which is copied, or gets a slash for that
 * of a group. */
static bool find_by_dots(ar_h5_source *s, const ar_h5_file *file, char *path)
{
    for (char *dot = path + strlen(path); dot > path; dot--) {
        if (*dot != '.')
            continue;
        *dot = '\0';
        if (is_object(file, path, H5O_TYPE_DATASET)) {
            snprintf(s->member, sizeof s->member, "%s", dot + 1);
            return true;
        }
        bool group = is_object(file, path, H5O_TYPE_GROUP);
        *dot = group ? '/' : '.';
        if (group && is_object(file, path, H5O_TYPE_DATASET))
            return true;
        if (group)
            dot = path + strlen(path); /* once more, with one dot less */
    }
    return false;
}

/* The path as it was is wanted when there is nothing. */
static arras_status find_object(ar_h5_source *s, const ar_h5_file *file, char *inside,
                                arras_error *err)
{
    ar_text path = { 0 };
    bool    found = is_object(file, inside, H5O_TYPE_DATASET);

    if (found)
        return ARRAS_OK;
    ar_text_add(&path, inside);
    if (path.failed)
        return ar_fail_memory(err, strlen(inside));
    found = find_by_dots(s, file, path.data);
    if (found)
        memcpy(inside, path.data, strlen(path.data) + 1);
    ar_text_free(&path);
    if (!found && ar_h5_had_no_memory())
        return ar_fail_memory(err, strlen(inside));
    return found ? ARRAS_OK : ar_h5_no_dataset(file, inside, err);
}

static arras_status open_dataset(ar_h5_source *s, const ar_h5_file *file, char *inside,
                                 arras_error *err)
{
    snprintf(s->base.name, sizeof s->base.name, "%s:%s", file->path, inside);
    arras_status status = find_object(s, file, inside, err);
    if (status != ARRAS_OK)
        return status;
    s->dataset = H5Dopen2(file->file, inside, H5P_DEFAULT);
    return s->dataset >= 0
               ? ar_h5_check_elsewhere(s->dataset, s->base.name, err)
               : ar_h5_fail(err, ARRAS_EFORMAT, s->base.name, "its header can't be read");
}

/* Without a name it is the only one there. */
static arras_status find_dataset(ar_h5_source *s, const ar_h5_file *file, const char *inside,
                                 arras_error *err)
{
    ar_text      path = { 0 };
    arras_status status = ARRAS_OK;

    if (!inside || !*inside)
        status = ar_h5_only_dataset(&path, file, err);
    else
        ar_text_printf(&path, "%s%s", *inside == '/' ? "" : "/", inside);
    if (status == ARRAS_OK && path.failed)
        status = ar_fail_memory(err, path.capacity);
    if (status == ARRAS_OK)
        status = open_dataset(s, file, path.data, err);
    ar_text_free(&path);
    return status;
}

/* libhdf5's own: another one could be of a file that took this one's name; and a link may have led
 * to another file. */
static arras_status take_descriptor(ar_h5_source *s, arras_error *err)
{
    struct stat st;

    s->fd = ar_h5_descriptor(s->dataset);
    if (s->fd < 0)
        return ar_h5_fail(err, ARRAS_EIO, s->base.name, "libhdf5 has no descriptor for it");
    if (fstat(s->fd, &st) != 0)
        return ar_fail(err, ARRAS_EIO, "%s: its size can't be found", s->base.name);
    s->file_size = st.st_size;
    return ARRAS_OK;
}

static arras_status open_source(ar_h5_source *s, const char *path, const char *inside,
                                arras_error *err)
{
    ar_h5_file   file = { .path = path };
    arras_status status;

    s->file = file.file = ar_h5_open_file(path);
    if (s->file < 0)
        return ar_h5_fail(err, ARRAS_EFORMAT, path, "not readable as HDF5");
    snprintf(s->base.info.format, sizeof s->base.info.format, "%s",
             H5Aexists_by_name(s->file, "/", "_NCProperties", H5P_DEFAULT) > 0 ? "netCDF-4"
                                                                               : "HDF5");
    status = find_dataset(s, &file, inside, err);
    if (status == ARRAS_OK)
        status = take_descriptor(s, err);
    if (status == ARRAS_OK)
        status = read_info(s, err);
    if (status == ARRAS_OK)
        ar_h5_axes_read(&s->base.info, s->dataset);
    return status;
}

/* What is no regular file would be waited for, or worse. */
static arras_status check_file(const char *path, arras_error *err)
{
    int          fd = -1;
    int64_t      size;
    arras_status status = ar_file_open(&fd, &size, path, err);

    if (status == ARRAS_OK)
        close(fd);
    return status;
}

arras_status ar_h5_open(ar_source **out, const char *path, const char *inside, arras_error *err)
{
    arras_status  status = check_file(path, err);
    ar_h5_source *s = status == ARRAS_OK ? ar_alloc(1, sizeof *s) : NULL;

    if (status != ARRAS_OK)
        return status;
    if (!s)
        return ar_fail_memory(err, sizeof *s);
    s->file = s->dataset = s->memory_type = s->stored_type = -1;
    s->base.type = &ar_h5_converted;
    s->fixed = true;
    ar_h5_enter();
    status = open_source(s, path, inside, err);
    ar_h5_leave();
    if (status == ARRAS_OK)
        *out = &s->base;
    else
        s->base.type->close(&s->base);
    return status;
}
#endif
