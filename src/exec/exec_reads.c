/* exec_reads.c -- which cells of an array in a file an execution reads, all tiles together. */
#include "exec/pass.h"

static bool is_empty(const ar_pass *pass)
{
    for (int axis = 0; axis < pass->axes; axis++)
        if (pass->shape[axis] == 0)
            return true;
    return false;
}

/* The same pass as one tile. */
static void whole_regions(ar_region *regions, const ar_pass *pass)
{
    ar_pass whole = *pass;

    for (int axis = 0; axis < pass->axes; axis++) {
        whole.tile[axis] = pass->shape[axis];
        whole.tiles[axis] = 1;
    }
    ar_pass_regions(regions, &whole, 0);
}

arras_status ar_execution_reads(ar_box *out, const ar_execution *exec, int array, arras_error *err)
{
    ar_region *regions = ar_alloc((size_t)exec->narrays, sizeof *regions);
    ar_region  all = { .rank = exec->arrays[array].rank };

    if (!regions)
        return ar_fail_memory(err, (size_t)exec->narrays * sizeof *regions);
    for (int i = 0; i < exec->npasses; i++) {
        if (is_empty(&exec->passes[i]))
            continue;
        whole_regions(regions, &exec->passes[i]);
        ar_region_add(&all, &regions[array]);
    }
    *out = (ar_box){ .rank = all.rank };
    for (int axis = 0; axis < all.rank && all.any; axis++) {
        out->lo[axis] = all.axes[axis].lo;
        out->hi[axis] = all.axes[axis].hi;
    }
    ar_free(regions);
    return ARRAS_OK;
}
