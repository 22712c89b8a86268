/* boxes.c -- boxes of cells: which chunks they meet, and copies between them. */
#include "store/boxes.h"

#include <string.h>

arras_status ar_box_check(ar_box *out, const ar_store_info *info, const char *name,
                          const int64_t *lo, const int64_t *hi, arras_error *err)
{
    out->rank = info->rank;
    for (int d = 0; d < info->rank; d++) {
        if (lo[d] < 0 || lo[d] > hi[d] || hi[d] > info->shape[d])
            return ar_fail(err, ARRAS_EINDEX,
                           "%s: cells %" PRId64 " to %" PRId64 " of axis %d, which has %" PRId64,
                           name, lo[d], hi[d], d, info->shape[d]);
        out->lo[d] = lo[d];
        out->hi[d] = hi[d];
    }
    return ARRAS_OK;
}

bool ar_box_is_empty(const ar_box *box)
{
    for (int d = 0; d < box->rank; d++)
        if (box->lo[d] >= box->hi[d])
            return true;
    return false;
}

void ar_chunk_grid_make(ar_chunk_grid *out, const ar_store_info *info, const ar_box *box)
{
    out->rank = box->rank;
    out->total = 1;
    for (int d = 0; d < box->rank; d++) {
        out->first[d] = box->lo[d] / info->chunk[d];
        out->count[d] = (box->hi[d] - 1) / info->chunk[d] + 1 - out->first[d];
        out->total *= out->count[d];
    }
}

void ar_chunk_grid_at(int64_t *chunk, ar_box *cells, const ar_chunk_grid *grid,
                      const ar_store_info *info, int64_t i)
{
    cells->rank = grid->rank;
    for (int d = grid->rank - 1; d >= 0; d--) {
        chunk[d] = grid->first[d] + i % grid->count[d];
        i /= grid->count[d];
        cells->lo[d] = chunk[d] * info->chunk[d];
        cells->hi[d] = ar_min64(cells->lo[d] + info->chunk[d], info->shape[d]);
    }
}

int64_t ar_chunk_number(const ar_store_info *info, const int64_t *chunk)
{
    int64_t number = 0;

    for (int d = 0; d < info->rank; d++)
        number = number * ((info->shape[d] + info->chunk[d] - 1) / info->chunk[d]) + chunk[d];
    return number;
}

int64_t ar_chunk_memory(const ar_store_info *info)
{
    enum { THREADS = 8192 };
    int64_t bytes = info->chunked ? (int64_t)arras_dtype_size(info->dtype) : 0;

    for (int d = 0; d < info->rank; d++)
        if (!ar_mul64(&bytes, bytes, info->chunk[d]))
            return INT64_MAX / THREADS;
    return ar_min64(bytes, INT64_MAX / THREADS);
}

/* Numbers with which one can still reckon. */
static int64_t times(int64_t bytes, int64_t n)
{
    enum { THREADS = 8192 };
    int64_t product;

    return ar_mul64(&product, bytes, n) ? ar_min64(product, INT64_MAX / THREADS)
                                        : INT64_MAX / THREADS;
}

/* Of a source that makes its chunks from those of others it is not known what they go through. */
static int64_t beside_cells(const ar_source *s)
{
    int64_t cell = (int64_t)arras_dtype_size(s->info.dtype), chunk = ar_chunk_memory(&s->info);
    int     buffers = s->type->read_chunk ? 2 : ar_chain_buffers(&s->chain, false);

    if (s->inner)
        return beside_cells(s->inner);
    if (s->record.bytes && cell > 0) /* which are decoded first, and then picked apart */
        return times(times(chunk / cell, (int64_t)s->record.bytes), 2 + buffers);
    return times(chunk, 1 + buffers);
}

int64_t ar_source_in_hand(const ar_source *s)
{
    return times(ar_chunk_memory(&s->info), 1) + beside_cells(s);
}

/* Cells that are put together, and encoded if there are codecs; and those that were there before.
 */
int64_t ar_sink_in_hand(const ar_sink *s)
{
    int     encoded = s->chain.n > 0 ? 1 + ar_chain_buffers(&s->chain, true) : 0;
    int64_t own = times(ar_chunk_memory(&s->info), 1 + encoded);

    return own + (s->before.source ? ar_source_in_hand(s->before.source) : 0);
}

int ar_scratches_within(int64_t memory, int64_t in_hand, int threads)
{
    return (int)ar_max64(1, ar_min64(threads, memory / ar_max64(1, in_hand)));
}

arras_status ar_chunk_size(size_t *out, const ar_store_info *info, const char *name,
                           arras_error *err)
{
    int64_t bytes = (int64_t)arras_dtype_size(info->dtype);

    for (int d = 0; d < info->rank; d++)
        if (!ar_mul64(&bytes, bytes, info->chunk[d]))
            return ar_fail(err, ARRAS_EFORMAT, "%s: a chunk would have more than 2^63 bytes", name);
    *out = (size_t)bytes;
    return ARRAS_OK;
}

void ar_strides_dense(int64_t *out, int rank, const int64_t *shape, size_t size)
{
    int64_t stride = (int64_t)size;

    for (int d = rank - 1; d >= 0; d--) {
        out[d] = stride;
        stride *= ar_max64(1, shape[d]);
    }
}

char *ar_box_origin(const void *first, int rank, const int64_t *lo, const int64_t *strides)
{
    uintptr_t at = (uintptr_t)first;

    for (int d = 0; d < rank; d++)
        at -= (uintptr_t)(lo[d] * strides[d]);
    return (char *)at;
}

/* ---- Walks over the rows of a box ------------------------------------------------------------ */

/* From the first row to the next ones; false after the last. */
static bool next_row(int64_t *at, const ar_box *box)
{
    for (int d = box->rank - 2; d >= 0; d--) {
        if (++at[d] < box->hi[d])
            return true;
        at[d] = box->lo[d];
    }
    return false;
}

static int64_t offset_of(int rank, const int64_t *at, const int64_t *strides)
{
    int64_t offset = 0;

    for (int d = 0; d < rank; d++)
        offset += at[d] * strides[d];
    return offset;
}

static void copy_row(char *to, int64_t to_step, const char *from, int64_t from_step, int64_t n,
                     size_t size)
{
    if (to_step == (int64_t)size && from_step == (int64_t)size) {
        memcpy(to, from, (size_t)n * size);
        return;
    }
    for (int64_t i = 0; i < n; i++)
        memcpy(to + i * to_step, from + i * from_step, size);
}

void ar_box_copy(const ar_box *box, size_t size, char *to, const int64_t *to_strides,
                 const char *from, const int64_t *from_strides)
{
    int     rank = box->rank, last = rank - 1;
    int64_t at[ARRAS_MAX_RANK];

    if (ar_box_is_empty(box))
        return;
    memcpy(at, box->lo, sizeof at);
    do {
        char       *row = (char *)((uintptr_t)to + (uintptr_t)offset_of(rank, at, to_strides));
        const char *source =
            (const char *)((uintptr_t)from + (uintptr_t)offset_of(rank, at, from_strides));

        if (rank == 0)
            memcpy(row, source, size);
        else
            copy_row(row, to_strides[last], source, from_strides[last],
                     box->hi[last] - box->lo[last], size);
    } while (next_row(at, box));
}

void ar_box_fill(const ar_box *box, size_t size, char *to, const int64_t *strides, const void *cell)
{
    static const int64_t still[ARRAS_MAX_RANK];

    ar_box_copy(box, size, to, strides, cell, still);
}
