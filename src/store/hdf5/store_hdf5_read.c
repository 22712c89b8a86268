/* store_hdf5_read.c -- cells of an HDF5 dataset: chunks as they are stored, pieces of the file, or
 * what libhdf5 makes of them. */
#include "store/store.h"
#if defined ARRAS_HAVE_HDF5
#include "store/flat/flat.h"
#include "store/hdf5/store_hdf5.h"
#include "store/safe/store_file.h"

#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

static void close_source(ar_source *self)
{
    ar_h5_source *s = (ar_h5_source *)self;

    ar_h5_enter();
    if (s->dataset >= 0)
        H5Dclose(s->dataset);
    if (s->memory_type >= 0)
        H5Tclose(s->memory_type);
    if (s->stored_type >= 0)
        H5Tclose(s->stored_type);
    if (s->file >= 0)
        H5Fclose(s->file);
    ar_h5_leave();
    if (s->map)
        munmap(s->map, s->map_size);
    ar_free(s);
}

static arras_status describe(ar_source *self, ar_text *out, arras_error *err)
{
    ar_h5_source *s = (ar_h5_source *)self;

    ar_h5_enter();
    ar_h5_attributes_print(out, s->dataset);
    ar_h5_leave();
    return out->failed ? ar_fail_memory(err, out->length) : ARRAS_OK;
}

static arras_status attributes(ar_source *self, ar_on_attribute *each, void *context,
                               arras_error *err)
{
    ar_h5_enter();
    arras_status status =
        ar_h5_attributes_visit(((ar_h5_source *)self)->dataset, each, context, err);
    ar_h5_leave();
    return status;
}

/* ---- Chunks as they are stored --------------------------------------------------------------- */

static arras_status fail_chunk(const ar_h5_source *s, const int64_t *chunk, const char *what,
                               arras_error *err)
{
    char   numbers[200] = "";
    size_t at = 0;

    for (int d = 0; d < s->base.info.rank && at < sizeof numbers; d++)
        at += (size_t)snprintf(numbers + at, sizeof numbers - at, "%s%" PRId64, d ? ", " : "",
                               chunk[d]);
    return ar_fail(err, ARRAS_EFORMAT, "%s: chunk [%s]: %s", s->base.name, numbers, what);
}

/* Without filters its cells are what is stored; and no chunk is longer than its file. */
static arras_status check_place(const ar_h5_source *s, const ar_h5_place *place,
                                const int64_t *chunk, arras_error *err)
{
    bool filtered = s->base.chain.n > s->first_filter;
    char why[120] = "";

    if (place->bytes < 1 || place->bytes > s->file_size || place->at > s->file_size - place->bytes)
        snprintf(why, sizeof why,
                 "said to have %" PRId64 " bytes at byte %" PRId64 ", the file has %" PRId64,
                 place->bytes, place->at, s->file_size);
    else if (!filtered && (size_t)place->bytes != s->chunk_bytes)
        snprintf(why, sizeof why, "said to have %" PRId64 " bytes, chunks without filters have %zu",
                 place->bytes, s->chunk_bytes);
    return *why ? fail_chunk(s, chunk, why, err) : ARRAS_OK;
}

static arras_status find_chunk(ar_h5_place *out, const ar_h5_source *s, const hsize_t *first,
                               const int64_t *chunk, arras_error *err)
{
    ar_h5_reason why;
    bool         found;

    ar_h5_enter();
    found = ar_h5_find_chunk(out, s->dataset, first, &why);
    ar_h5_leave();
    if (!found)
        return fail_chunk(s, chunk, why.text, err);
    return out->missing ? ARRAS_OK : check_place(s, out, chunk, err);
}

/* From a mask of filters to one of steps of the chain.  A file may ask that chunks which end beyond
 * the array are not filtered at all; their masks do not show it. */
static uint32_t skipped_steps(const ar_h5_source *s, uint32_t mask, const hsize_t *at)
{
    const ar_store_info *info = &s->base.info;
    int                  filters = s->base.chain.n - s->first_filter;

    for (int d = 0; d < info->rank && s->whole_filters; d++)
        if (info->chunk[d] > info->shape[d] - (int64_t)at[d])
            mask = UINT32_MAX;
    return (mask & (((uint32_t)1 << filters) - 1)) << s->first_filter;
}

static arras_status fetch(ar_source *self, const int64_t *chunk, ar_chunk_bytes *out,
                          arras_error *err)
{
    ar_h5_source *s = (ar_h5_source *)self;
    hsize_t       first[ARRAS_MAX_RANK];
    ar_h5_place   place;
    arras_status  status;

    for (int d = 0; d < self->info.rank; d++)
        first[d] = (hsize_t)(chunk[d] * self->info.chunk[d]);
    status = find_chunk(&place, s, first, chunk, err);
    if (status != ARRAS_OK)
        return status;
    out->missing = place.missing;
    if (place.missing)
        return ARRAS_OK;
    ar_text_cut(&out->bytes, 0);
    if (!ar_text_reserve(&out->bytes, (size_t)place.bytes))
        return ar_fail_memory(err, (size_t)place.bytes);
    out->bytes.length = (size_t)place.bytes;
    out->skipped = skipped_steps(s, place.skipped, first);
    return ar_file_read(s->fd, out->bytes.data, place.bytes, place.at, self->name, err);
}

const ar_source_type ar_h5_chunked = {
    .fetch = fetch, .describe = describe, .attributes = attributes, .close = close_source
};

/* ---- The same, of types that only libhdf5 converts ------------------------------------------- */

static size_t max_size(size_t a, size_t b) { return a > b ? a : b; }

/* In place: `cells` has room for n of either type.  libhdf5 wants to know what was there before
 * where records are concerned. */
static arras_status convert(const ar_h5_source *s, char *cells, size_t n, arras_error *err)
{
    size_t       bytes = n * max_size(s->stored_size, arras_dtype_size(s->base.info.dtype));
    char        *before = ar_alloc(bytes, 1);
    arras_status status = ARRAS_OK;

    if (!before)
        return ar_fail_memory(err, bytes);
    ar_h5_enter();
    if (H5Tconvert(s->stored_type, s->memory_type, n, cells, before, H5P_DEFAULT) < 0)
        status = ar_h5_fail(err, ARRAS_EFORMAT, s->base.name, "cells can't be converted");
    ar_h5_leave();
    ar_free(before);
    return status;
}

/* Not read by libhdf5: it does not look whether as many bytes come out of a chunk as it copies. */
static arras_status read_chunk_converted(ar_source *self, const int64_t *chunk, void *cells,
                                         size_t size, ar_chunk_bytes *scratch, arras_error *err)
{
    ar_h5_source *s = (ar_h5_source *)self;
    size_t        cell = arras_dtype_size(self->info.dtype), n = size / cell;
    arras_status  status = fetch(self, chunk, scratch, err);
    arras_error   why;
    char         *both;

    if (status != ARRAS_OK)
        return status;
    if (scratch->missing) {
        for (size_t i = 0; i < n; i++)
            memcpy((char *)cells + i * cell, self->info.fill, cell);
        return ARRAS_OK;
    }
    both = ar_alloc(n, max_size(s->stored_size, cell));
    if (!both)
        return ar_fail_memory(err, n * max_size(s->stored_size, cell));
    status = ar_chain_decode_with(&scratch->between, &self->chain, scratch->skipped, both,
                                  s->chunk_bytes, scratch->bytes.data, scratch->bytes.length, &why);
    if (status != ARRAS_OK)
        fail_chunk(s, chunk, why.text, err);
    else
        status = convert(s, both, n, err);
    if (status == ARRAS_OK)
        memcpy(cells, both, size);
    ar_free(both);
    return status;
}

const ar_source_type ar_h5_chunks_converted = { .read_chunk = read_chunk_converted,
                                                .describe = describe,
                                                .attributes = attributes,
                                                .close = close_source };

/* ---- Cells in one piece ---------------------------------------------------------------------- */

static const void *mapped(ar_source *self)
{
    ar_h5_source *s = (ar_h5_source *)self;

    return s->map ? (const char *)s->map + s->offset % sysconf(_SC_PAGESIZE) : NULL;
}

static void fill_box(const ar_store_info *info, const int64_t *lo, const int64_t *hi, char *cells)
{
    size_t  size = arras_dtype_size(info->dtype);
    int64_t n = 1;

    for (int d = 0; d < info->rank; d++)
        n *= hi[d] - lo[d];
    for (int64_t i = 0; i < n; i++)
        memcpy(cells + (size_t)i * size, info->fill, size);
}

static arras_status read_piece(ar_source *self, const int64_t *lo, const int64_t *hi, void *cells,
                               arras_error *err)
{
    ar_h5_source *s = (ar_h5_source *)self;
    ar_flat flat = { .fd = s->fd, .start = s->offset, .swapped = s->swap != 0, .half = s->half };

    if (s->offset < 0) {
        fill_box(&self->info, lo, hi, cells);
        return ARRAS_OK;
    }
    ar_flat_dense(&flat, &self->info, false);
    for (int d = 0; s->record && d < self->info.rank; d++)
        flat.step[d] = flat.step[d] / ar_flat_cell(&flat, self->info.dtype) * (int64_t)s->record;
    return ar_flat_read(&flat, &self->info, lo, hi, cells, self->name, err);
}

const ar_source_type ar_h5_contiguous = { .read_box = read_piece,
                                          .mapped = mapped,
                                          .describe = describe,
                                          .attributes = attributes,
                                          .close = close_source };

/* ---- Everything else ------------------------------------------------------------------------- */

static herr_t read_selected(const ar_h5_source *s, const hsize_t *start, const hsize_t *count,
                            void *cells)
{
    ar_h5_ids ids = { .n = 0 };
    int       rank = s->base.info.rank;
    hid_t     file = ar_h5_keep(&ids, H5Dget_space(s->dataset));
    hid_t     memory =
        ar_h5_keep(&ids, rank ? H5Screate_simple(rank, count, NULL) : H5Screate(H5S_SCALAR));
    herr_t result = -1;

    if (file >= 0 && memory >= 0 &&
        (rank == 0 || H5Sselect_hyperslab(file, H5S_SELECT_SET, start, NULL, count, NULL) >= 0))
        result = H5Dread(s->dataset, s->memory_type, memory, file, H5P_DEFAULT, cells);
    ar_h5_close(&ids);
    return result;
}

static arras_status read_converted(ar_source *self, const int64_t *lo, const int64_t *hi,
                                   void *cells, arras_error *err)
{
    ar_h5_source *s = (ar_h5_source *)self;
    hsize_t       start[ARRAS_MAX_RANK], count[ARRAS_MAX_RANK];
    arras_status  status = ARRAS_OK;

    if (self->info.dtype == ARRAS_NO_DTYPE)
        return ar_fail(err, ARRAS_EFORMAT, "%s holds %s, which are not numbers", self->name,
                       self->info.stored);
    if (s->missing[0])
        return ar_fail(err, ARRAS_EFORMAT,
                       "%s needs HDF5 %s, which is not known here; a plug-in for it would be found "
                       "through HDF5_PLUGIN_PATH",
                       self->name, s->missing);
    for (int d = 0; d < self->info.rank; d++) {
        start[d] = (hsize_t)lo[d];
        count[d] = (hsize_t)(hi[d] - lo[d]);
        if (lo[d] == hi[d])
            return ARRAS_OK;
    }
    ar_h5_enter();
    if (read_selected(s, start, count, cells) < 0)
        status = ar_h5_fail(err, ARRAS_EFORMAT, self->name, "cells can't be read");
    ar_h5_leave();
    return status;
}

const ar_source_type ar_h5_converted = { .read_box = read_converted,
                                         .describe = describe,
                                         .attributes = attributes,
                                         .close = close_source };

hid_t ar_h5_dataset_of(const ar_source *source)
{
    bool ours = source->type == &ar_h5_chunked || source->type == &ar_h5_contiguous ||
                source->type == &ar_h5_converted || source->type == &ar_h5_chunks_converted;

    return ours ? ((const ar_h5_source *)source)->dataset : -1;
}
#endif
