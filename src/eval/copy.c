/* copy.c -- the cells of one tensor into another of the same type and shape, whatever their
 * strides; without memory of its own. */
#include "eval/tensor.h"

/* Axes of one cell are left out, and two that are one run of cells in both are one. */
typedef struct {
    int     rank; /* at least 1 */
    int64_t shape[ARRAS_MAX_RANK], to[ARRAS_MAX_RANK], from[ARRAS_MAX_RANK];
} loops;

static void add_axis(loops *l, int64_t length, int64_t to, int64_t from)
{
    int last = l->rank - 1;

    if (last >= 0 && l->to[last] == to * length && l->from[last] == from * length)
        length *= l->shape[last];
    else
        last = l->rank++;
    l->shape[last] = length;
    l->to[last] = to;
    l->from[last] = from;
}

static void open_loops(loops *l, const ar_tensor *to, const ar_tensor *from)
{
    l->rank = 0;
    for (int axis = 0; axis < to->rank; axis++)
        if (to->shape[axis] != 1)
            add_axis(l, to->shape[axis], to->strides[axis], from->strides[axis]);
    if (l->rank == 0)
        add_axis(l, 1, 0, 0);
}

static void copy_bools(char *to, int64_t step, const char *from, int64_t from_step, int64_t n)
{
    for (int64_t i = 0; i < n; i++)
        to[i * step] = from[i * from_step] != 0;
}

/* The last axis: n cells. */
static void copy_row(const loops *l, arras_dtype dtype, char *to, const char *from)
{
    int64_t step = l->to[l->rank - 1], from_step = l->from[l->rank - 1];
    int64_t n = l->shape[l->rank - 1], size = (int64_t)ar_dtype_size(dtype);

    if (dtype == ARRAS_BOOL)
        copy_bools(to, step, from, from_step, n);
    else if (step == size && from_step == size)
        memcpy(to, from, (size_t)(n * size));
    else
        for (int64_t i = 0; i < n; i++)
            ar_cell_copy(to + i * step, from + i * from_step, (size_t)size);
}

void ar_cells_copy(const ar_tensor *to, const ar_tensor *from)
{
    char       *into = to->data;
    const char *out_of = from->data;
    int64_t     at[ARRAS_MAX_RANK] = { 0 };
    loops       l;
    int         axis;

    if (to->count == 0)
        return;
    open_loops(&l, to, from);
    do {
        copy_row(&l, to->dtype, into, out_of);
        for (axis = l.rank - 2; axis >= 0; axis--) {
            into += l.to[axis];
            out_of += l.from[axis];
            if (++at[axis] < l.shape[axis])
                break;
            into -= l.to[axis] * l.shape[axis];
            out_of -= l.from[axis] * l.shape[axis];
            at[axis] = 0;
        }
    } while (axis >= 0);
}
