/* tensor.h -- arrays as values while a program runs: cells at byte strides from a base address.
 * A tensor is a plain value.  It owns its cells only where it says so, its shape never. */
#ifndef AR_EVAL_TENSOR_H
#define AR_EVAL_TENSOR_H

#include "ir/ir.h"

#include <string.h>

typedef struct {
    arras_dtype    dtype;
    int            rank;
    const int64_t *shape, *strides;
    int64_t        count; /* of cells */
    char          *data;  /* the cell at [0, 0, ...], perhaps not aligned; not NULL */
    bool           owned; /* in C order, and released by ar_tensor_free */
} ar_tensor;

/* Of its cells. */
static inline int64_t ar_tensor_bytes(const ar_tensor *tensor)
{
    return tensor->count * (int64_t)ar_dtype_size(tensor->dtype);
}

/* Some of a tensor's cells in another order.  It points into itself: not to be copied. */
typedef struct {
    ar_tensor tensor;
    int64_t   shape[ARRAS_MAX_RANK], strides[ARRAS_MAX_RANK];
} ar_view;

/* Where an array without cells points to when its user gave NULL: offsets may be added to it. */
extern char ar_no_cells[1];

/* Number of cells; false when they might take more bytes than an int64_t can count. */
bool ar_shape_count(int64_t *out, int rank, const int64_t *shape);
/* C order. */
void ar_strides_make(int64_t *strides, arras_dtype dtype, int rank, const int64_t *shape);
/* Takes over strides that a user gave; those that lead nowhere (axes of one cell, empty arrays)
 * become 0.  False when some cell is too far away for an int64_t. */
bool ar_strides_take(int64_t *strides, int rank, const int64_t *shape, const int64_t *given);

/* Gives a tensor whose shape is set its cells: zeroed, C order.  `node` is for the message. */
arras_status ar_tensor_alloc(ar_tensor *tensor, arras_array node, arras_error *err);
void         ar_tensor_free(ar_tensor *tensor);
bool         ar_tensor_is_dense(const ar_tensor *tensor); /* axes of one cell do not count */
void         ar_view_open(ar_view *view, const ar_tensor *tensor);
/* Casts the cells of `from`, in row-major order, into those of `to`, in row-major order: the counts
 * must agree, the shapes need not. */
arras_status ar_tensor_copy(const ar_tensor *to, const ar_tensor *from, arras_error *err);
/* The same for tensors of one type and shape that do not overlap (copy.c). */
void ar_cells_copy(const ar_tensor *to, const ar_tensor *from);

/* What a message calls a node, and a cell, which need not be aligned; held by `text`. */
const char *ar_describe(ar_text *text, arras_array node);
const char *ar_describe_cell(ar_text *text, arras_dtype dtype, const void *cell);
/* ar_dim_value() of a dim of `node`, which the message names. */
arras_status ar_dim_number(int64_t *out, arras_array node, arras_dim dim, const int64_t *sizes,
                           arras_error *err);

/* ---- Cells ----------------------------------------------------------------------------------- */

/* A copy whose size the compiler knows. */
static inline void ar_cell_copy(void *to, const void *from, size_t size)
{
    switch (size) {
    case 1: memcpy(to, from, 1); break;
    case 2: memcpy(to, from, 2); break;
    case 4: memcpy(to, from, 4); break;
    case 8: memcpy(to, from, 8); break;
    default: memcpy(to, from, 16); break;
    }
}

/* Reads a cell that need not be aligned.  A bool becomes 0 or 1, whatever byte a user stored. */
static inline void ar_cell_read(arras_dtype to, void *out, arras_dtype from, const void *cell)
{
    ar_value aligned = { 0 };

    if (to == from && from != ARRAS_BOOL) {
        ar_cell_copy(out, cell, ar_dtype_size(from));
        return;
    }
    ar_cell_copy(&aligned, cell, ar_dtype_size(from));
    ar_cell_cast(to, out, from, &aligned);
}

/* A cell of integer or bool type; what is too large for int64_t becomes INT64_MAX. */
static inline int64_t ar_cell_integer(arras_dtype dtype, const void *cell)
{
    ar_value value = { 0 };

    ar_cell_read(dtype == ARRAS_U64 ? ARRAS_U64 : ARRAS_I64, &value, dtype, cell);
    return dtype == ARRAS_U64 && value.i < 0 ? INT64_MAX : value.i;
}

/* ---- Walks ----------------------------------------------------------------------------------- */

/* An odometer over the cells of a shape in row-major order, which keeps a byte offset into each of
 * several operands.
 *     for (; !walk.done; ar_walk_next(&walk)) ... operand k is at data + walk.offset[k] ...
 * A walk that is done stands at its first cell again; ar_walk_again() lets it go once more. */
enum { AR_WALK_RANK = 64 }; /* room for the 52 letters of an einsum */

typedef struct {
    int      rank, n;
    bool     done;
    int64_t  length[AR_WALK_RANK], index[AR_WALK_RANK];
    int64_t *offset; /* of each operand */
    int64_t *step;   /* of operand k along an axis: step[axis * n + k] */
} ar_walk;

arras_status ar_walk_open(ar_walk *walk, int rank, const int64_t *shape, int n, arras_error *err);
/* Operand k is `tensor`, broadcast. */
arras_status ar_walk_follow(ar_walk *walk, int k, const ar_tensor *tensor, arras_error *err);
void         ar_walk_again(ar_walk *walk);
void         ar_walk_close(ar_walk *walk);

static inline void ar_walk_next(ar_walk *walk)
{
    const int n = walk->n;

    for (int axis = walk->rank - 1; axis >= 0; axis--) {
        const int64_t *step = walk->step + (ptrdiff_t)axis * n;

        if (++walk->index[axis] < walk->length[axis]) {
            for (int k = 0; k < n; k++)
                walk->offset[k] += step[k];
            return;
        }
        walk->index[axis] = 0;
        for (int k = 0; k < n; k++)
            walk->offset[k] -= step[k] * (walk->length[axis] - 1);
    }
    walk->done = true;
}

#endif
