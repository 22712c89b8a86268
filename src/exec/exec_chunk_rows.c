/* exec_chunk_rows.c -- which arrays are decoded to where tiles find them side by side.
 *
 * Tiles of whole rows need all chunks of one row after the other: these are decoded to a ring of
 * such rows, and kernels read them there.  Other tiles put together what they need of chunks that
 * are decoded one by one. */
#include "exec/pass.h"

static bool has_cuts_along_rows_only(const ar_pass *pass)
{
    for (int axis = 1; axis < pass->axes; axis++)
        if (pass->tiles[axis] > 1)
            return false;
    return pass->count > 0;
}

/* Whether the pass decodes chunks of it; regions: of the pass. */
static bool is_decoded(const ar_pass *pass, int array, const ar_region *regions)
{
    const ar_exec_array *a = &pass->exec->arrays[array];

    return a->source && a->source->info.chunked && !a->source->type->read_box && a->rank > 0 &&
           a->bytes > 0 && regions[array].any && !ar_pass_has_whole(pass, array);
}

/* Two passes could be at different rows at the same time. */
static bool has_one_reader(const ar_execution *exec, int array, ar_region *regions)
{
    int readers = 0;

    for (int i = 0; i < exec->npasses; i++)
        if (exec->passes[i].count > 0) {
            ar_pass_met(regions, &exec->passes[i]);
            readers += is_decoded(&exec->passes[i], array, regions);
        }
    return readers == 1;
}

static bool meets_all_columns(const ar_store_info *info, const ar_region *region)
{
    for (int axis = 1; axis < info->rank; axis++)
        if (region->axes[axis].lo >= info->chunk[axis] ||
            region->axes[axis].hi <=
                (info->shape[axis] - 1) / info->chunk[axis] * info->chunk[axis])
            return false;
    return true;
}

/* Bands that so many rows meet at most, wherever they begin. */
static int64_t bands_for(const ar_store_info *info, const ar_region *region)
{
    int64_t n = region->axes[0].hi - region->axes[0].lo, chunk = info->chunk[0];

    return ar_min64((n - 2 + chunk) / chunk + 1, (info->shape[0] + chunk - 1) / chunk);
}

/* Bytes of the bands of an array; INT64_MAX: they are of no use for it. */
static int64_t bytes_for(const ar_store_info *info, const ar_region *region)
{
    int64_t bytes;

    if (!meets_all_columns(info, region) ||
        !ar_mul64(&bytes, ar_chunk_band_bytes(info), bands_for(info, region)))
        return INT64_MAX;
    return bytes;
}

/* Whether chunks that end beyond the array keep its rows apart from each other. */
static bool has_gaps(const ar_store_info *info, int axis)
{
    return info->shape[axis] % info->chunk[axis] != 0;
}

/* Kernels may have the strides of short rows in their code. */
static bool has_gaps_for(const ar_stage *s, int input, const ar_store_info *info)
{
    for (int axis = 1; axis < info->rank && s->type->wants_dense; axis++)
        if (has_gaps(info, axis) && s->type->wants_dense(s, input, axis))
            return true;
    return false;
}

static bool suits_all_readers(const ar_pass *pass, int array)
{
    for (int i = 0; i < pass->nstages; i++) {
        const ar_stage *s = pass->exec->stages[pass->stages[i]];

        for (int k = 0; k < s->ninputs; k++)
            if (s->inputs[k] == array &&
                has_gaps_for(s, k, &pass->exec->arrays[array].source->info))
                return false;
    }
    return true;
}

/* Of all arrays that the pass decodes. */
static int64_t bytes_of(const ar_pass *pass, const ar_region *regions)
{
    int64_t all = 0;

    for (int a = 0; a < pass->exec->narrays; a++)
        if (is_decoded(pass, a, regions) &&
            (!suits_all_readers(pass, a) ||
             !ar_add64(&all, all, bytes_for(&pass->exec->arrays[a].source->info, &regions[a]))))
            return INT64_MAX;
    return all;
}

/* Of chunks that threads decode beside the one for which they have memory anyway (execution.c). */
static int64_t bytes_beside(const ar_pass *pass, const ar_region *regions)
{
    int64_t threads = ar_pool_threads(pass->exec->pool), most = 0;

    for (int a = 0; a < pass->exec->narrays; a++)
        if (is_decoded(pass, a, regions)) {
            const ar_source *source = pass->exec->arrays[a].source;

            most = ar_max64(most, (ar_source_together(source) - 1) * ar_source_in_hand(source));
        }
    return threads * most;
}

static bool is_alone(const ar_pass *pass, const ar_region *regions, ar_region *others)
{
    for (int a = 0; a < pass->exec->narrays; a++)
        if (is_decoded(pass, a, regions) && !has_one_reader(pass->exec, a, others))
            return false;
    return true;
}

/* together: a thread may decode several chunks at once. */
static arras_status make_bands(ar_pass *pass, const ar_region *regions, bool together,
                               arras_error *err)
{
    arras_status status = ARRAS_OK;

    pass->banded = true;
    for (int i = 0; i < pass->exec->narrays && status == ARRAS_OK; i++) {
        ar_exec_array *a = &pass->exec->arrays[i];

        if (is_decoded(pass, i, regions))
            status = ar_chunk_bands_new(
                &a->bands, a->source, bands_for(&a->source->info, &regions[i]),
                together ? ar_source_together(a->source) : 1, pass->exec->hands, err);
    }
    return status;
}

arras_status ar_execution_chunk_rows(ar_execution *exec, int64_t *left, arras_error *err)
{
    size_t       n = (size_t)exec->narrays;
    ar_region   *regions = ar_alloc(n, sizeof *regions), *others = ar_alloc(n, sizeof *others);
    arras_status status = regions && others ? ARRAS_OK : ar_fail_memory(err, n * sizeof *regions);

    for (int i = 0; i < exec->npasses && status == ARRAS_OK; i++) {
        ar_pass *pass = &exec->passes[i];
        int64_t  bytes, beside;
        bool     together;

        if (!has_cuts_along_rows_only(pass))
            continue;
        ar_pass_met(regions, pass);
        bytes = bytes_of(pass, regions);
        if (bytes == 0 || bytes > *left || !is_alone(pass, regions, others))
            continue;
        *left -= bytes;
        beside = bytes_beside(pass, regions);
        together = beside <= *left && exec->at_once == ar_pool_threads(exec->pool);
        *left -= together ? beside : 0;
        status = make_bands(pass, regions, together, err);
    }
    ar_free(regions);
    ar_free(others);
    return status;
}
