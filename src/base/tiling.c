/* tiling.c -- boxes of cells cut into a grid of tiles. */
#include "base/base.h"

void ar_tiling_count(ar_tiling *t)
{
    t->count = 1;
    for (int axis = 0; axis < t->rank; axis++) {
        t->tiles[axis] = (t->shape[axis] + t->tile[axis] - 1) / t->tile[axis];
        t->count *= t->tiles[axis];
    }
}

void ar_tiling_box(int64_t *lo, int64_t *hi, const ar_tiling *tiling, int64_t number)
{
    for (int axis = tiling->rank - 1; axis >= 0; axis--) {
        lo[axis] = number % tiling->tiles[axis] * tiling->tile[axis];
        hi[axis] = ar_min64(lo[axis] + tiling->tile[axis], tiling->shape[axis]);
        number /= tiling->tiles[axis];
    }
}
