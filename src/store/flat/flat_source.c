/* flat_source.c -- one array in one file as a source and as a sink: what npy and raw have in
 * common. */
#include "store/codec/half.h"
#include "store/flat/flat.h"
#include "store/safe/drafts.h"
#include "store/safe/store_file.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

static void set_info(ar_store_info *info, const ar_flat_shape *shape, const char *format,
                     int64_t bytes)
{
    info->dtype = shape->dtype;
    info->rank = shape->rank;
    for (int d = 0; d < shape->rank; d++) {
        info->shape[d] = shape->shape[d];
        info->chunk[d] = ar_max64(shape->shape[d], 1);
    }
    snprintf(info->format, sizeof info->format, "%s", format);
    snprintf(info->layout, sizeof info->layout, "contiguous%s", shape->fortran ? ", F order" : "");
    snprintf(info->stored, sizeof info->stored, "%s%s%s",
             !shape->swapped                             ? ""
             : __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__ ? "big-endian "
                                                         : "little-endian ",
             shape->half ? "float16 as " : "", arras_dtype_name(shape->dtype));
    info->stored_bytes = bytes;
}

/* ---- Source ---------------------------------------------------------------------------------- */

typedef struct {
    ar_source   source;
    ar_flat     flat;
    char       *map; /* NULL: not mapped */
    size_t      map_length;
    const void *cells;
} flat_source;

static arras_status read_box(ar_source *self, const int64_t *lo, const int64_t *hi, void *cells,
                             arras_error *err)
{
    flat_source *f = (flat_source *)self;

    return ar_flat_read(&f->flat, &self->info, lo, hi, cells, self->name, err);
}

static const void *mapped(ar_source *self) { return ((flat_source *)self)->cells; }

static void close_source(ar_source *self)
{
    flat_source *f = (flat_source *)self;

    if (f->map)
        munmap(f->map, f->map_length);
    close(f->flat.fd);
    ar_free(f);
}

static const ar_source_type source_type = { .read_box = read_box,
                                            .mapped = mapped,
                                            .close = close_source };

/* Where the file holds cells as they are in memory.  Without a map they are read. */
static void map_cells(flat_source *f, const ar_flat_shape *shape, int64_t bytes)
{
    int64_t page = sysconf(_SC_PAGESIZE), first = shape->start / page * page;
    bool    as_is = !shape->swapped && !shape->half && (!shape->fortran || shape->rank < 2) &&
                 shape->dtype != ARRAS_BOOL && /* which may hold other bytes than 0 and 1 */
                 shape->start % (int64_t)arras_dtype_size(shape->dtype) == 0;

    if (!as_is || bytes == 0)
        return;
    size_t length = (size_t)(shape->start - first + bytes);
    char  *map = mmap(NULL, length, PROT_READ, MAP_SHARED, f->flat.fd, first);
    if (map == MAP_FAILED)
        return;
    f->map = map;
    f->map_length = length;
    f->cells = map + (shape->start - first);
}

static int64_t stored_cell(const ar_flat_shape *shape)
{
    return ar_flat_cell(&(ar_flat){ .half = shape->half }, shape->dtype);
}

static arras_status check_size(int64_t *bytes, const ar_flat_shape *shape, int64_t size,
                               const char *name, arras_error *err)
{
    if (!ar_flat_bytes(bytes, stored_cell(shape), shape->rank, shape->shape))
        return ar_fail(err, ARRAS_EFORMAT, "%s: its shape makes more bytes than there can be",
                       name);
    if (shape->start <= size && *bytes <= size - shape->start)
        return ARRAS_OK;
    return ar_fail(err, ARRAS_EFORMAT,
                   "%s is cut off: its shape makes %" PRId64 " bytes of data, %" PRId64
                   " are there",
                   name, *bytes, ar_max64(size - shape->start, 0));
}

arras_status ar_flat_open(ar_source **out, const ar_flat_shape *shape, const char *format, int fd,
                          int64_t size, const char *name, arras_error *err)
{
    int64_t      bytes = 0;
    arras_status status = check_size(&bytes, shape, size, name, err);
    flat_source *f = status == ARRAS_OK ? ar_alloc(1, sizeof *f) : NULL;

    if (!f) {
        close(fd);
        return status == ARRAS_OK ? ar_fail_memory(err, sizeof *f) : status;
    }
    f->source.type = &source_type;
    snprintf(f->source.name, sizeof f->source.name, "%s", name);
    set_info(&f->source.info, shape, format, bytes);
    f->flat = (ar_flat){
        .fd = fd, .start = shape->start, .swapped = shape->swapped, .half = shape->half
    };
    ar_flat_dense(&f->flat, &f->source.info, shape->fortran);
    map_cells(f, shape, bytes);
    *out = &f->source;
    return ARRAS_OK;
}

/* ---- Sink ------------------------------------------------------------------------------------ */

typedef struct {
    ar_sink sink;
    ar_flat flat;
    ar_text temporary;
    bool    replaces; /* what is there under that name */
    char    path[];   /* where it appears */
} flat_sink;

static arras_status write_box(ar_sink *self, const int64_t *lo, const int64_t *hi,
                              const void *cells, arras_error *err)
{
    flat_sink *f = (flat_sink *)self;

    return ar_flat_write(&f->flat, &self->info, lo, hi, cells, self->name, err);
}

static arras_status write_behind(ar_sink *self, int64_t memory, arras_error *err)
{
    flat_sink *f = (flat_sink *)self;

    return ar_flat_write_behind(&f->flat, &self->info, memory, self->name, err);
}

static void *reserve_write_buffer(ar_sink *self, const int64_t *lo, const int64_t *hi)
{
    return ar_flat_reserve(&((flat_sink *)self)->flat, &self->info, lo, hi);
}

static void release(flat_sink *f)
{
    close(f->flat.fd);
    ar_draft_name_free(&f->temporary);
    ar_free(f);
}

static void abandon(ar_sink *self)
{
    flat_sink *f = (flat_sink *)self;

    ar_flat_settle(&f->flat, self->name, NULL);
    unlink(f->temporary.data);
    release(f);
}

static arras_status finish(ar_sink *self, arras_error *err)
{
    flat_sink   *f = (flat_sink *)self;
    arras_status status = ar_flat_settle(&f->flat, self->name, err);

    if (status == ARRAS_OK && !f->replaces)
        status = ar_file_appear(f->temporary.data, f->path, err);
    else if (status == ARRAS_OK && rename(f->temporary.data, f->path) != 0)
        status = ar_fail(err, ARRAS_EIO, "cannot write %s: %s", f->path, strerror(errno));
    if (status != ARRAS_OK)
        unlink(f->temporary.data);
    release(f);
    return status;
}

static const ar_sink_type sink_type = { .write_box = write_box,
                                        .write_behind = write_behind,
                                        .reserve_write_buffer = reserve_write_buffer,
                                        .finish = finish,
                                        .abandon = abandon };

static arras_status write_fill(flat_sink *f, const void *fill, int64_t bytes, arras_error *err)
{
    enum { PIECE = 1 << 16 };
    size_t       cell = (size_t)ar_flat_cell(&f->flat, f->sink.info.dtype);
    char         zero[16] = { 0 }, stored[16], *piece;
    arras_status status = ARRAS_OK;

    if (fill)
        memcpy(f->sink.info.fill, fill, arras_dtype_size(f->sink.info.dtype));
    if (fill && f->flat.half) {
        ar_half_narrow(stored, fill, cell / sizeof(uint16_t));
        fill = stored;
    }
    if (!fill || memcmp(fill, zero, cell) == 0)
        return ARRAS_OK; /* the file is zeros from the start */
    piece = ar_alloc(1, PIECE);
    if (!piece)
        return ar_fail_memory(err, PIECE);
    for (size_t at = 0; at < PIECE; at += cell)
        memcpy(piece + at, fill, cell);
    for (int64_t at = 0; at < bytes && status == ARRAS_OK; at += PIECE)
        status = ar_file_write(f->flat.fd, piece, ar_min64(PIECE, bytes - at), f->flat.start + at,
                               f->sink.name, err);
    ar_free(piece);
    return status;
}

static arras_status start_file(flat_sink *f, const ar_text *header, const void *fill, int64_t bytes,
                               arras_error *err)
{
    int64_t length = header ? (int64_t)header->length : 0, end;

    f->flat.start = length;
    ar_flat_dense(&f->flat, &f->sink.info, false);
    if (!ar_add64(&end, length, bytes) || ftruncate(f->flat.fd, end) != 0)
        return ar_fail(err, ARRAS_EIO, "cannot write %s: %s", f->sink.name, strerror(errno));
    arras_status status =
        length ? ar_file_write(f->flat.fd, header->data, length, 0, f->sink.name, err) : ARRAS_OK;
    return status == ARRAS_OK ? write_fill(f, fill, bytes, err) : status;
}

arras_status ar_flat_create(ar_sink **out, const ar_flat_shape *shape, const char *format,
                            const char *path, const ar_text *header, const ar_sink_options *options,
                            arras_error *err)
{
    size_t     length = strlen(path) + 1;
    int64_t    bytes;
    flat_sink *f = ar_alloc(1, sizeof *f + length);

    if (!f)
        return ar_fail_memory(err, sizeof *f + length);
    memcpy(f->path, path, length);
    snprintf(f->sink.name, sizeof f->sink.name, "%s", path);
    f->sink.type = &sink_type;
    if (!ar_flat_bytes(&bytes, stored_cell(shape), shape->rank, shape->shape)) {
        ar_free(f);
        return ar_fail(err, ARRAS_ESIZE, "%s: its shape makes more bytes than there can be", path);
    }
    set_info(&f->sink.info, shape, format, bytes);
    f->flat.half = shape->half;
    f->replaces = options->replace;
    arras_status status = access(path, F_OK) == 0 && !f->replaces
                              ? ar_fail(err, ARRAS_EIO, "%s is there already", path)
                              : ar_file_make_beside(&f->temporary, &f->flat.fd, false, path, err);
    if (status != ARRAS_OK) {
        ar_free(f);
        return status;
    }
    status = start_file(f, header, options->fill, bytes, err);
    if (status != ARRAS_OK)
        abandon(&f->sink);
    else
        *out = &f->sink;
    return status;
}
