/* box_write.c -- boxes of cells into any sink: cut into whole chunks, encoded, put.  Chunks that
 * hold the fill value only are not stored. */
#include "store/boxes.h"

#include <string.h>

typedef struct {
    ar_sink          *sink;
    ar_box            box;
    ar_chunk_grid     grid;
    size_t            cell_size, chunk_size;
    const char       *origin; /* of the cells that are given */
    const int64_t    *strides;
    ar_chunk_scratch *writers; /* one for each thread */
} writing;

static bool is_fill(const char *cells, size_t size, const void *fill, size_t cell)
{
    if (size == 0 || memcmp(cells, fill, cell) != 0)
        return size == 0;
    return memcmp(cells, cells + cell, size - cell) == 0;
}

/* The cells of a chunk that were there before the array grew. */
static arras_status read_before(const ar_sink *s, char *cells, const ar_box *box,
                                const int64_t *strides, arras_error *err)
{
    const ar_sink_before *before = &s->before;
    ar_box                old = *box;

    if (!before->source || box->lo[before->axis] >= before->length)
        return ARRAS_OK;
    old.hi[before->axis] = ar_min64(box->hi[before->axis], before->length);
    return ar_source_read(before->source, old.lo, old.hi, cells, strides, 1, err);
}

/* Cells beyond the end of the array are the fill value. */
static arras_status gather_chunk(const writing *w, char *cells, const ar_box *box, arras_error *err)
{
    const ar_store_info *info = &w->sink->info;
    int64_t              strides[ARRAS_MAX_RANK];
    ar_box               whole = { .rank = info->rank }, given = *box;
    bool                 cut = false;

    ar_strides_dense(strides, info->rank, info->chunk, w->cell_size);
    for (int d = 0; d < info->rank; d++) {
        whole.hi[d] = info->chunk[d];
        cut = cut || box->hi[d] - box->lo[d] < info->chunk[d];
        given.lo[d] = ar_max64(box->lo[d], w->box.lo[d]);
    }
    if (cut)
        ar_box_fill(&whole, w->cell_size, cells, strides, info->fill);
    ar_box_copy(&given, w->cell_size, ar_box_origin(cells, info->rank, box->lo, strides), strides,
                w->origin, w->strides);
    return read_before(w->sink, cells, box, strides, err);
}

/* Where an array grows, something that is not seen may be in the place of the chunk. */
static bool is_stored(const writing *w, const char *cells)
{
    const ar_sink *s = w->sink;

    return s->before.source || s->stores_all ||
           !is_fill(cells, w->chunk_size, s->info.fill, w->cell_size);
}

/* Whether the cells that are given are this chunk, whole and in C order. */
static bool is_in_place(const writing *w, const ar_box *box)
{
    const ar_store_info *info = &w->sink->info;
    int64_t              strides[ARRAS_MAX_RANK];

    ar_strides_dense(strides, info->rank, info->chunk, w->cell_size);
    for (int d = 0; d < info->rank; d++)
        if (box->hi[d] - box->lo[d] < info->chunk[d] || box->lo[d] < w->box.lo[d] ||
            (info->chunk[d] > 1 && strides[d] != w->strides[d]))
            return false;
    return true;
}

static arras_status find_cells(const writing *w, const char **cells, ar_chunk_scratch *mine,
                               const ar_box *box, arras_error *err)
{
    arras_status status;

    if (is_in_place(w, box)) {
        uintptr_t at = (uintptr_t)w->origin; /* where cell [0, 0, ...] would be */

        for (int d = 0; d < box->rank; d++)
            at += (uintptr_t)(box->lo[d] * w->strides[d]);
        *cells = (const char *)at;
        return ARRAS_OK;
    }
    status = ar_chunk_scratch_room(mine, w->chunk_size, err);
    *cells = mine->cells;
    return status == ARRAS_OK ? gather_chunk(w, mine->cells, box, err) : status;
}

/* Without codecs the cells are what is stored. */
static arras_status put_plain(ar_sink *s, const int64_t *chunk, const char *cells, size_t size,
                              arras_error *err)
{
    const ar_chunk_bytes bytes = { .bytes = { .data = (char *)(uintptr_t)cells, .length = size } };

    return s->type->put(s, chunk, &bytes, err);
}

static arras_status write_chunk(void *context, int64_t i, int thread, arras_error *err)
{
    const writing    *w = context;
    ar_chunk_scratch *mine = &w->writers[thread];
    int64_t           chunk[ARRAS_MAX_RANK];
    const char       *cells;
    ar_box            box;
    arras_status      status;

    ar_chunk_grid_at(chunk, &box, &w->grid, &w->sink->info, i);
    status = find_cells(w, &cells, mine, &box, err);
    if (status != ARRAS_OK)
        return status;
    ar_text_cut(&mine->bytes.bytes, 0);
    mine->bytes.missing = !is_stored(w, cells);
    if (mine->bytes.missing && !w->sink->wants_fill_chunks)
        return ARRAS_OK;
    if (!mine->bytes.missing && w->sink->chain.n == 0)
        return put_plain(w->sink, chunk, cells, w->chunk_size, err);
    if (!mine->bytes.missing)
        status = ar_chain_encode_with(&mine->bytes.between, &w->sink->chain, &mine->bytes.bytes,
                                      cells, w->chunk_size, err);
    return status == ARRAS_OK ? w->sink->type->put(w->sink, chunk, &mine->bytes, err) : status;
}

static arras_status write_chunks(writing *w, int threads, arras_error *err)
{
    arras_status status = ar_chunk_size(&w->chunk_size, &w->sink->info, w->sink->name, err);

    if (status != ARRAS_OK)
        return status;
    ar_chunk_grid_make(&w->grid, &w->sink->info, &w->box);
    if (w->writers) /* the caller's own, for one thread */
        return ar_chunks_do(w->grid.total, 1, write_chunk, w, err);
    w->writers = ar_alloc((size_t)threads, sizeof *w->writers);
    if (!w->writers)
        return ar_fail_memory(err, (size_t)threads * sizeof *w->writers);
    status = ar_chunks_do(w->grid.total, threads, write_chunk, w, err);
    for (int i = 0; i < threads; i++)
        ar_chunk_scratch_free(&w->writers[i]);
    ar_free(w->writers);
    return status;
}

static arras_status check_new(const writing *w, arras_error *err)
{
    const ar_sink_before *before = &w->sink->before;

    if (!before->source || w->box.lo[before->axis] >= before->length)
        return ARRAS_OK;
    return ar_fail(err, ARRAS_EINVAL,
                   "%s: cells from %" PRId64 " on of axis %d; its first %" PRId64
                   " are there already and stay",
                   w->sink->name, w->box.lo[before->axis], before->axis, before->length);
}

static bool begins_new(const ar_sink *s, int d, int64_t lo)
{
    return s->before.source && d == s->before.axis && lo == s->before.length;
}

/* A box that starts or ends within a chunk would lose the cells around it. */
static arras_status check_whole(const writing *w, arras_error *err)
{
    const ar_store_info *info = &w->sink->info;

    for (int d = 0; d < info->rank; d++)
        if ((w->box.lo[d] % info->chunk[d] != 0 && !begins_new(w->sink, d, w->box.lo[d])) ||
            (w->box.hi[d] % info->chunk[d] != 0 && w->box.hi[d] != info->shape[d]))
            return ar_fail(err, ARRAS_EINVAL,
                           "%s: cells %" PRId64 " to %" PRId64
                           " of axis %d are not whole chunks of %" PRId64,
                           w->sink->name, w->box.lo[d], w->box.hi[d], d, info->chunk[d]);
    return ARRAS_OK;
}

/* For sinks without chunks: the box must lie in C order, or is brought into it. */
static arras_status write_whole(const writing *w, arras_error *err)
{
    int          rank = w->sink->info.rank;
    int64_t      shape[ARRAS_MAX_RANK], strides[ARRAS_MAX_RANK], bytes = (int64_t)w->cell_size;
    char        *cells;
    arras_status status;

    for (int d = 0; d < rank; d++) {
        shape[d] = w->box.hi[d] - w->box.lo[d];
        if (!ar_mul64(&bytes, bytes, shape[d]))
            return ar_fail(err, ARRAS_ESIZE, "%s: the box has more than 2^63 bytes", w->sink->name);
    }
    ar_strides_dense(strides, rank, shape, w->cell_size);
    cells = ar_alloc((size_t)bytes, 1);
    if (!cells)
        return ar_fail_memory(err, (size_t)bytes);
    ar_box_copy(&w->box, w->cell_size, ar_box_origin(cells, rank, w->box.lo, strides), strides,
                w->origin, w->strides);
    status = w->sink->type->write_box(w->sink, w->box.lo, w->box.hi, cells, err);
    ar_free(cells);
    return status;
}

arras_status ar_sink_extend(ar_sink *out, ar_source *before, int axis, int64_t extra,
                            arras_error *err)
{
    int64_t length, cells = (int64_t)arras_dtype_size(before->info.dtype);

    if (axis < 0 || axis >= before->info.rank || extra < 0)
        return ar_fail(err, ARRAS_EINVAL, "%s of rank %d: %" PRId64 " more cells along axis %d",
                       before->name, before->info.rank, extra, axis);
    length = before->info.shape[axis];
    out->info = before->info;
    out->chain = before->chain;
    memcpy(out->name, before->name, sizeof out->name);
    bool fits = ar_add64(&out->info.shape[axis], length, extra);
    for (int d = 0; d < out->info.rank; d++)
        fits = fits && ar_mul64(&cells, cells, out->info.shape[d]);
    if (!fits)
        return ar_fail(err, ARRAS_ESIZE, "%s: %" PRId64 " and %" PRId64 " cells are too many",
                       before->name, length, extra);
    out->before = (ar_sink_before){ before, axis, length };
    return ARRAS_OK;
}

static arras_status write_cells(ar_sink *s, const int64_t *lo, const int64_t *hi, const void *cells,
                                const int64_t *strides, int threads, ar_chunk_scratch *scratch,
                                arras_error *err)
{
    writing w = { .sink = s, .cell_size = arras_dtype_size(s->info.dtype), .writers = scratch };
    int64_t shape[ARRAS_MAX_RANK], dense[ARRAS_MAX_RANK];
    arras_status status = ar_box_check(&w.box, &s->info, s->name, lo, hi, err);

    if (status != ARRAS_OK || ar_box_is_empty(&w.box))
        return status;
    for (int d = 0; d < s->info.rank; d++)
        shape[d] = hi[d] - lo[d];
    ar_strides_dense(dense, s->info.rank, shape, w.cell_size);
    if (!strides && s->type->write_box)
        return s->type->write_box(s, lo, hi, cells, err);
    w.strides = strides ? strides : dense;
    w.origin = ar_box_origin(cells, s->info.rank, lo, w.strides);
    if (s->type->write_box)
        return write_whole(&w, err);
    status = check_new(&w, err);
    if (status == ARRAS_OK)
        status = check_whole(&w, err);
    return status == ARRAS_OK ? write_chunks(&w, threads > 0 ? threads : 1, err) : status;
}

arras_status ar_sink_write(ar_sink *s, const int64_t *lo, const int64_t *hi, const void *cells,
                           const int64_t *strides, int threads, arras_error *err)
{
    return write_cells(s, lo, hi, cells, strides, threads, NULL, err);
}

arras_status ar_sink_write_with(ar_sink *s, const int64_t *lo, const int64_t *hi, const void *cells,
                                const int64_t *strides, ar_chunk_scratch *scratch, arras_error *err)
{
    return write_cells(s, lo, hi, cells, strides, 1, scratch, err);
}
