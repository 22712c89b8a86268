/* rechunk_box.c -- one box of an array that is rechunked: cut into parts, read and written. */
#include "rechunk/rechunk_parts.h"

#include <string.h>

/* Bytes of a part of an array without chunks. */
enum { PART = 1 << 20 };

/* ---- Parts ----------------------------------------------------------------------------------- */

/* The axis that is cut: the first that is longer than one cell, of which slabs lie in one piece in
 * the box; in the order of Fortran the last, of which they do in the file. */
static int slab_axis(const ar_store_info *info, const ar_box *box)
{
    int step = ar_rechunk_is_fortran(info) ? -1 : 1, axis = step > 0 ? 0 : info->rank - 1;

    while (axis + step >= 0 && axis + step < info->rank && box->hi[axis] - box->lo[axis] == 1)
        axis += step;
    return axis;
}

static void cut_slabs(ar_rechunk_parts *out, const ar_store_info *info)
{
    int     axis = slab_axis(info, &out->box);
    int64_t bytes = (int64_t)arras_dtype_size(info->dtype);

    for (int d = 0; d < info->rank; d++) {
        out->first[d] = out->box.lo[d];
        out->step[d] = ar_max64(1, out->box.hi[d] - out->box.lo[d]);
        bytes *= d == axis ? 1 : out->step[d];
    }
    if (info->rank > 0)
        out->step[axis] = ar_min64(out->step[axis], ar_max64(1, PART / bytes));
}

void ar_rechunk_cut(ar_rechunk_parts *out, const ar_store_info *info, const ar_box *box)
{
    out->box = *box;
    if (!info->chunked)
        cut_slabs(out, info);
    for (int d = 0; d < box->rank && info->chunked; d++) {
        out->step[d] = info->chunk[d];
        out->first[d] = box->lo[d] / info->chunk[d] * info->chunk[d];
    }
    out->total = 1;
    for (int d = 0; d < box->rank; d++) {
        out->count[d] = (box->hi[d] - out->first[d] + out->step[d] - 1) / out->step[d];
        out->total *= out->count[d];
    }
}

void ar_rechunk_part(ar_box *out, const ar_rechunk_parts *parts, int64_t number)
{
    out->rank = parts->box.rank;
    for (int d = out->rank; d-- > 0;) {
        int64_t lo = parts->first[d] + number % parts->count[d] * parts->step[d];

        number /= parts->count[d];
        out->lo[d] = ar_max64(lo, parts->box.lo[d]);
        out->hi[d] = ar_min64(lo + parts->step[d], parts->box.hi[d]);
    }
}

/* ---- Cells ----------------------------------------------------------------------------------- */

/* Where a part is among the cells of its box; whether it lies there in one piece. */
static int64_t find_part(int64_t *strides, bool *dense, const ar_box *box, const ar_box *part,
                         size_t cell_size)
{
    int64_t shape[ARRAS_MAX_RANK], own[ARRAS_MAX_RANK], at = 0;

    for (int d = 0; d < box->rank; d++)
        shape[d] = box->hi[d] - box->lo[d];
    ar_strides_dense(strides, box->rank, shape, cell_size);
    for (int d = 0; d < box->rank; d++)
        shape[d] = part->hi[d] - part->lo[d];
    ar_strides_dense(own, box->rank, shape, cell_size);
    *dense = true;
    for (int d = 0; d < box->rank; d++) {
        at += (part->lo[d] - box->lo[d]) * strides[d];
        *dense = *dense && (shape[d] == 1 || own[d] == strides[d]);
    }
    return at;
}

static size_t chunk_of(int64_t *chunk, const ar_store_info *info, const ar_box *part)
{
    size_t size = arras_dtype_size(info->dtype);

    for (int d = 0; d < info->rank; d++) {
        chunk[d] = part->lo[d] / info->chunk[d];
        size *= (size_t)info->chunk[d];
    }
    return size;
}

static bool is_whole(const ar_store_info *info, const ar_box *part)
{
    for (int d = 0; d < info->rank; d++)
        if (part->hi[d] - part->lo[d] < info->chunk[d])
            return false;
    return true;
}

static arras_status read_chunk(ar_source *s, const ar_box *part, char *to, const int64_t *strides,
                               ar_chunk_scratch *scratch, arras_error *err)
{
    int64_t      chunk[ARRAS_MAX_RANK], own[ARRAS_MAX_RANK], lo[ARRAS_MAX_RANK];
    size_t       size = chunk_of(chunk, &s->info, part), first = 0;
    size_t       last = arras_dtype_size(s->info.dtype);
    const char  *cells;
    arras_status status;

    ar_strides_dense(own, part->rank, s->info.chunk, arras_dtype_size(s->info.dtype));
    for (int d = 0; d < part->rank; d++) {
        lo[d] = chunk[d] * s->info.chunk[d];
        first += (size_t)((part->lo[d] - lo[d]) * own[d]);
        last += (size_t)((part->hi[d] - 1 - lo[d]) * own[d]);
    }
    status = ar_source_chunk_part(&cells, s, chunk, size, first, last - first, scratch, err);
    if (status != ARRAS_OK)
        return status;
    ar_box_copy(part, arras_dtype_size(s->info.dtype),
                ar_box_origin(to, part->rank, part->lo, strides), strides,
                ar_box_origin(cells, part->rank, lo, own), own);
    return ARRAS_OK;
}

arras_status ar_rechunk_read(ar_source *source, const ar_box *box, char *cells, const ar_box *part,
                             ar_chunk_scratch *scratch, arras_error *err)
{
    const ar_store_info *info = &source->info;
    int64_t              strides[ARRAS_MAX_RANK], chunk[ARRAS_MAX_RANK];
    bool                 dense;

    cells += find_part(strides, &dense, box, part, arras_dtype_size(info->dtype));
    if (source->type->read_box)
        return ar_source_read(source, part->lo, part->hi, cells, dense ? NULL : strides, 1, err);
    if (dense && is_whole(info, part) && source->chain.n > 0)
        return ar_source_chunk(source, chunk, cells, chunk_of(chunk, info, part), &scratch->bytes,
                               err);
    return read_chunk(source, part, cells, strides, scratch, err);
}

arras_status ar_rechunk_write(ar_sink *sink, const ar_box *box, const char *cells,
                              const ar_box *part, ar_chunk_scratch *scratch, arras_error *err)
{
    int64_t strides[ARRAS_MAX_RANK];
    bool    dense;

    cells += find_part(strides, &dense, box, part, arras_dtype_size(sink->info.dtype));
    return ar_sink_write_with(sink, part->lo, part->hi, cells, dense ? NULL : strides, scratch,
                              err);
}
