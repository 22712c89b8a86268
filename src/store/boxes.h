/* boxes.h -- boxes of cells, and the chunks of a grid that they meet.  Shared by box_*.c. */
#ifndef AR_STORE_BOXES_H
#define AR_STORE_BOXES_H

#include "store/store.h"

/* The chunks that meet a box: a grid, numbered in C order. */
typedef struct {
    int     rank;
    int64_t first[ARRAS_MAX_RANK], count[ARRAS_MAX_RANK]; /* along each axis */
    int64_t total;
} ar_chunk_grid;

/* EINDEX unless lo <= hi lie within the array. */
arras_status ar_box_check(ar_box *out, const ar_store_info *info, const char *name,
                          const int64_t *lo, const int64_t *hi, arras_error *err);
bool         ar_box_is_empty(const ar_box *box);
void         ar_chunk_grid_make(ar_chunk_grid *out, const ar_store_info *info, const ar_box *box);
/* The number of chunk `i` along each axis, and its cells, as far as they are in the array. */
void ar_chunk_grid_at(int64_t *chunk, ar_box *cells, const ar_chunk_grid *grid,
                      const ar_store_info *info, int64_t i);
/* The number of a chunk in C order, of all chunks of the array. */
int64_t ar_chunk_number(const ar_store_info *info, const int64_t *chunk);
/* Bytes of the cells of a whole chunk; ESIZE or ENOMEM-sized numbers are refused. */
arras_status ar_chunk_size(size_t *out, const ar_store_info *info, const char *name,
                           arras_error *err);
/* Makes room for so many bytes of cells. */
arras_status ar_chunk_scratch_room(ar_chunk_scratch *scratch, size_t size, arras_error *err);
void ar_box_fill(const ar_box *box, size_t size, char *to, const int64_t *strides,
                 const void *cell);

/* Calls work(context, i, thread, err) for 0 <= i < n on so many threads; the first failure ends it
 * and is returned. */
typedef arras_status ar_chunk_work(void *context, int64_t i, int thread, arras_error *err);
arras_status         ar_chunks_do(int64_t n, int threads, ar_chunk_work *work, void *context,
                                  arras_error *err);

#endif
