/* pass_regions.c -- what a tile of a pass needs of every array, found from its targets backwards.
 */
#include "exec/pass.h"

#include <string.h>

/* Where a tile begins. */
static void tile_corner(int64_t *corner, const ar_pass *pass, int64_t number)
{
    int64_t run = pass->axes > 0 ? pass->tiles[pass->along] : 1, rest = number / run;

    for (int axis = pass->axes - 1; axis >= 0; axis--) {
        if (axis == pass->along)
            continue;
        corner[axis] = rest % pass->tiles[axis] * pass->tile[axis];
        rest /= pass->tiles[axis];
    }
    if (pass->axes > 0)
        corner[pass->along] = number % run * pass->tile[pass->along];
}

void ar_pass_box(int64_t *lo, int64_t *hi, const ar_pass *pass, int target, int64_t number)
{
    const ar_exec_array *a = &pass->exec->arrays[target];

    memset(lo, 0, (size_t)a->rank * sizeof *lo);
    tile_corner(lo, pass, number);
    for (int axis = 0; axis < a->rank; axis++)
        hi[axis] = axis < pass->axes ? ar_min64(lo[axis] + pass->tile[axis], a->shape[axis])
                                     : a->shape[axis];
}

bool ar_pass_has_whole(const ar_pass *pass, int array)
{
    const ar_exec_array *a = &pass->exec->arrays[array];

    return a->whole && (a->kept ? a->level < pass->level : a->stage < 0);
}

/* ---- Backwards ------------------------------------------------------------------------------- */

/* Results are computed together, all of the same cells. */
static ar_region results_region(const ar_execution *exec, const ar_stage *s,
                                const ar_region *regions)
{
    ar_region all = { .rank = exec->arrays[s->results[0]].rank }, wide = all;
    int64_t   lo[ARRAS_MAX_RANK], hi[ARRAS_MAX_RANK];

    for (int k = 0; k < s->nresults; k++)
        ar_region_add(&all, &regions[s->results[k]]);
    if (!s->type->widen)
        return all;
    for (int part = 0; part < ar_region_boxes(&all); part++) {
        ar_region box;

        ar_region_part(lo, hi, &all, part);
        s->type->widen(s, exec, lo, hi);
        box = ar_region_box(all.rank, lo, hi);
        ar_region_add(&wide, &box);
    }
    return wide;
}

static void add_needs(const ar_pass *pass, const ar_stage *s, const ar_region *own,
                      ar_region *regions)
{
    int64_t lo[ARRAS_MAX_RANK], hi[ARRAS_MAX_RANK];

    for (int part = 0; part < ar_region_boxes(own); part++) {
        ar_region_part(lo, hi, own, part);
        for (int k = 0; k < s->ninputs; k++)
            if (!ar_pass_has_whole(pass, s->inputs[k])) {
                ar_region need = s->type->need(s, pass->exec, k, lo, hi);

                ar_region_add(&regions[s->inputs[k]], &need);
            }
    }
}

void ar_pass_regions(ar_region *regions, const ar_pass *pass, int64_t number)
{
    const ar_execution *exec = pass->exec;
    int64_t             lo[ARRAS_MAX_RANK], hi[ARRAS_MAX_RANK];

    for (int a = 0; a < exec->narrays; a++) {
        regions[a].rank = exec->arrays[a].rank;
        regions[a].any = false;
    }
    for (int i = 0; i < pass->ntargets; i++) {
        ar_pass_box(lo, hi, pass, pass->targets[i], number);
        regions[pass->targets[i]] = ar_region_box(exec->arrays[pass->targets[i]].rank, lo, hi);
    }
    for (int i = pass->nstages - 1; i >= 0; i--) {
        const ar_stage *s = exec->stages[pass->stages[i]];
        ar_region       own = results_region(exec, s, regions);

        for (int k = 0; k < s->nresults; k++)
            regions[s->results[k]] = own;
        if (own.any)
            add_needs(pass, s, &own, regions);
    }
}

/* ---- Bytes ----------------------------------------------------------------------------------- */

static int64_t region_bytes(const ar_exec_array *a, const ar_region *region)
{
    int64_t bytes;

    if (!ar_mul64(&bytes, ar_region_cells(region), (int64_t)ar_dtype_size(a->dtype)))
        return INT64_MAX;
    return bytes;
}

int64_t ar_pass_scratch(const ar_pass *pass, const ar_region *regions)
{
    int64_t bytes = 0;

    for (int a = 0; a < pass->exec->narrays; a++)
        if (!ar_add64(&bytes, bytes, region_bytes(&pass->exec->arrays[a], &regions[a])))
            return INT64_MAX;
    return bytes;
}

int64_t ar_pass_read_bytes(const ar_pass *pass, const ar_region *regions)
{
    int64_t bytes = 0;

    for (int a = 0; a < pass->exec->narrays; a++)
        if (pass->exec->arrays[a].source &&
            !ar_add64(&bytes, bytes, region_bytes(&pass->exec->arrays[a], &regions[a])))
            return INT64_MAX;
    return bytes;
}

/* The cells of all chunks that n cells in a row meet at most, wherever they begin. */
static int64_t met_cells(int64_t n, int64_t chunk, int64_t length)
{
    int64_t chunks = (n - 2 + chunk) / chunk + 1, all = (length + chunk - 1) / chunk;

    return ar_min64(chunks, all) * chunk;
}

static int64_t met_bytes(const ar_exec_array *a, const ar_region *region)
{
    const ar_store_info *info = &a->source->info;
    int64_t              bytes = (int64_t)ar_dtype_size(a->dtype);

    for (int axis = 0; axis < a->rank; axis++) {
        int64_t n = region->axes[axis].hi - region->axes[axis].lo;

        if (!ar_mul64(&bytes, bytes, met_cells(n, info->chunk[axis], info->shape[axis])))
            return INT64_MAX;
    }
    return bytes;
}

int64_t ar_pass_chunk_bytes(const ar_pass *pass, const ar_region *regions)
{
    int64_t bytes = 0;

    for (int i = 0; i < pass->exec->narrays; i++) {
        const ar_exec_array *a = &pass->exec->arrays[i];

        if (a->source && a->source->info.chunked && regions[i].any &&
            !ar_add64(&bytes, bytes, met_bytes(a, &regions[i])))
            return INT64_MAX;
    }
    return bytes;
}

/* The cells of the chunks that lo <= i < hi meets. */
static int64_t cells_around(int64_t lo, int64_t hi, int64_t chunk)
{
    return (hi + chunk - 1) / chunk * chunk - lo / chunk * chunk;
}

int64_t ar_pass_decoded_bytes(const ar_pass *pass, const ar_region *regions)
{
    int64_t all = 0;

    for (int i = 0; i < pass->exec->narrays; i++) {
        const ar_exec_array *a = &pass->exec->arrays[i];
        int64_t              bytes = (int64_t)ar_dtype_size(a->dtype);

        if (!a->source || !a->source->info.chunked || a->source->type->read_box || !regions[i].any)
            continue;
        for (int axis = 0; axis < a->rank; axis++)
            if (!ar_mul64(&bytes, bytes,
                          cells_around(regions[i].axes[axis].lo, regions[i].axes[axis].hi,
                                       a->source->info.chunk[axis])))
                return INT64_MAX;
        if (!ar_add64(&all, all, bytes))
            return INT64_MAX;
    }
    return all;
}
