/* pass_run.c -- one tile after the other: read, compute, write. */
#include "exec/pass.h"

#include <string.h>
#include <sys/mman.h>

enum { ALIGN = 64 };

/* ---- Scratch memory -------------------------------------------------------------------------- */

/* The box around a region, in C order; its bytes. */
static int64_t lay_out(int64_t *strides, const ar_exec_array *a, const ar_region *region)
{
    int64_t stride = (int64_t)ar_dtype_size(a->dtype);

    for (int axis = a->rank - 1; axis >= 0; axis--) {
        strides[axis] = stride;
        stride *= region->axes[axis].hi - region->axes[axis].lo;
    }
    return stride;
}

static void set_place(ar_exec_worker *w, int array, const ar_execution *exec, char *first)
{
    const ar_exec_array *a = &exec->arrays[array];
    const int64_t       *strides = w->strides + (ptrdiff_t)array * ARRAS_MAX_RANK;
    uintptr_t            origin = (uintptr_t)first;

    for (int axis = 0; axis < a->rank; axis++)
        origin -= (uintptr_t)(w->regions[array].axes[axis].lo * strides[axis]);
    w->places[array] = (ar_place){ (char *)origin, a->shape, strides, false };
}

/* With a gap, only pages that are used take memory. */
static arras_status place_sparse(ar_exec_worker *w, int array, const ar_execution *exec,
                                 int64_t bytes, arras_error *err)
{
    size_t size = (size_t)bytes + AR_PASS_AHEAD;
    void  *pages = mmap(NULL, size, PROT_READ | PROT_WRITE,
                        MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

    if (pages == MAP_FAILED)
        return ar_fail_memory(err, size);
    w->sparse[array] = pages;
    w->sparse_bytes[array] = size;
    set_place(w, array, exec, pages);
    return ARRAS_OK;
}

static void release_sparse(ar_exec_worker *w, int narrays)
{
    for (int a = 0; a < narrays; a++)
        if (w->sparse[a]) {
            munmap(w->sparse[a], w->sparse_bytes[a]);
            w->sparse[a] = NULL;
        }
}

static arras_status grow_scratch(ar_exec_worker *w, int64_t bytes, arras_error *err)
{
    if (bytes <= w->scratch_bytes)
        return ARRAS_OK;
    if (w->scratch)
        ar_pages_free(w->scratch, (size_t)w->scratch_bytes);
    bytes = (bytes + 4095) / 4096 * 4096;
    w->scratch_bytes = 0;
    w->scratch = ar_pages_alloc((size_t)bytes);
    if (!w->scratch)
        return ar_fail_memory(err, (size_t)bytes);
    w->scratch_bytes = bytes;
    return ARRAS_OK;
}

static bool same_box(const ar_region *region, const int64_t *lo, const int64_t *hi)
{
    if (!ar_region_is_box(region))
        return false;
    for (int axis = 0; axis < region->rank; axis++)
        if (region->axes[axis].lo != lo[axis] || region->axes[axis].hi != hi[axis])
            return false;
    return true;
}

/* A target in memory, of which nobody needs more than the tile's own cells, is written in place. */
static bool is_direct(const ar_pass *pass, const ar_exec_worker *w, int array, int64_t tile)
{
    const ar_exec_array *a = &pass->exec->arrays[array];
    int64_t              lo[ARRAS_MAX_RANK], hi[ARRAS_MAX_RANK];

    if (!a->whole || a->sink || a->spill)
        return false;
    for (int i = 0; i < pass->ntargets; i++)
        if (pass->targets[i] == array) {
            ar_pass_box(lo, hi, pass, array, tile);
            return same_box(&w->regions[array], lo, hi);
        }
    return false;
}

/* Whether an array comes out of a file in this pass. */
static bool is_read(const ar_pass *pass, int array)
{
    const ar_exec_array *a = &pass->exec->arrays[array];

    if (a->spill_path)
        return a->level < pass->level;
    return a->source && !ar_pass_has_whole(pass, array);
}

/* A target that is written behind, of which nobody needs more than the tile's own cells, is
 * computed where it is written from, if there is room. */
static void borrow_of_sinks(const ar_pass *pass, ar_exec_worker *w, int64_t tile)
{
    int64_t lo[ARRAS_MAX_RANK], hi[ARRAS_MAX_RANK];

    for (int i = 0; i < pass->ntargets; i++) {
        int            array = pass->targets[i];
        ar_exec_array *a = &pass->exec->arrays[array];

        ar_pass_box(lo, hi, pass, array, tile);
        if (a->behind && a->sink->type->reserve_write_buffer && !a->whole && !a->spill &&
            same_box(&w->regions[array], lo, hi))
            w->borrowed[array] = a->sink->type->reserve_write_buffer(a->sink, lo, hi);
    }
}

static void borrow_of_source(const ar_exec_array *a, ar_exec_worker *w, int array)
{
    int64_t lo[ARRAS_MAX_RANK], hi[ARRAS_MAX_RANK];

    ar_region_part(lo, hi, &w->regions[array], 0);
    if (!a->bands)
        w->borrowed[array] =
            ar_map_cells(&w->sparse[array], &w->sparse_bytes[array], a->source, lo, hi);
    else if (ar_chunk_bands_fit(a->bands, lo, hi))
        w->banded[array] = ar_chunk_bands_origin(a->bands, lo, hi);
}

/* What is kept is loaded to where it stays. */
static void borrow_of_sources(const ar_pass *pass, ar_exec_worker *w, int64_t tile)
{
    for (int a = 0; a < pass->exec->narrays; a++) {
        if (!w->regions[a].any || !is_read(pass, a) || !ar_region_is_box(&w->regions[a]) ||
            is_direct(pass, w, a, tile))
            continue;
        borrow_of_source(&pass->exec->arrays[a], w, a);
    }
}

static void use_whole(ar_exec_worker *w, const ar_execution *exec, int array)
{
    const ar_exec_array *a = &exec->arrays[array];

    w->places[array] = (ar_place){ a->whole, a->shape, a->strides, false };
}

/* Whether an array of the tile lies in scratch memory, in one piece. */
static bool is_in_scratch(const ar_pass *pass, const ar_exec_worker *w, int array, int64_t tile)
{
    return w->regions[array].any && ar_region_is_box(&w->regions[array]) && !w->borrowed[array] &&
           !w->banded[array] && !ar_pass_has_whole(pass, array) && !is_direct(pass, w, array, tile);
}

static int64_t strides_of(ar_exec_worker *w, const ar_execution *exec, int array)
{
    int64_t size = lay_out(w->strides + (ptrdiff_t)array * ARRAS_MAX_RANK, &exec->arrays[array],
                           &w->regions[array]);

    return (size + ALIGN - 1) / ALIGN * ALIGN;
}

static bool is_input(const ar_pass *pass, int array)
{
    for (int i = 0; i < pass->nstages; i++) {
        const ar_stage *s = pass->exec->stages[pass->stages[i]];

        for (int k = 0; k < s->ninputs; k++)
            if (s->inputs[k] == array)
                return true;
    }
    return false;
}

static arras_status place_array(const ar_pass *pass, ar_exec_worker *w, int array, int64_t tile,
                                arras_error *err)
{
    const ar_execution *exec = pass->exec;

    if (ar_pass_has_whole(pass, array) || is_direct(pass, w, array, tile)) {
        use_whole(w, exec, array);
    } else if (w->banded[array]) {
        w->places[array] = (ar_place){ w->banded[array], exec->arrays[array].shape,
                                       ar_chunk_bands_strides(exec->arrays[array].bands), true };
    } else if (w->borrowed[array]) {
        strides_of(w, exec, array);
        set_place(w, array, exec, w->borrowed[array]);
        w->places[array].uncached = is_read(pass, array) || !is_input(pass, array);
    } else if (w->regions[array].any) {
        return place_sparse(w, array, exec, strides_of(w, exec, array), err);
    } else { /* kernels look at its strides all the same */
        w->places[array] = (ar_place){ w->scratch, exec->arrays[array].shape,
                                       w->strides + (ptrdiff_t)array * ARRAS_MAX_RANK, false };
    }
    return ARRAS_OK;
}

/* Gives every array of the tile its place. */
static arras_status place_arrays(const ar_pass *pass, ar_exec_worker *w, int64_t tile,
                                 arras_error *err)
{
    const ar_execution *exec = pass->exec;
    int64_t             bytes = 0;
    arras_status        status;

    memset(w->borrowed, 0, (size_t)exec->narrays * sizeof *w->borrowed);
    memset(w->banded, 0, (size_t)exec->narrays * sizeof *w->banded);
    borrow_of_sinks(pass, w, tile);
    borrow_of_sources(pass, w, tile);
    for (int a = 0; a < exec->narrays; a++)
        if (is_in_scratch(pass, w, a, tile))
            bytes += strides_of(w, exec, a);
    status = grow_scratch(w, bytes + AR_PASS_AHEAD, err);
    bytes = 0;
    for (int a = 0; a < exec->narrays && status == ARRAS_OK; a++) {
        if (!is_in_scratch(pass, w, a, tile)) {
            status = place_array(pass, w, a, tile, err);
            continue;
        }
        set_place(w, a, exec, w->scratch + bytes);
        bytes += strides_of(w, exec, a);
    }
    return status;
}

/* ---- Read, compute, write -------------------------------------------------------------------- */

static arras_status read_box(const ar_pass *pass, ar_exec_worker *w, int array, const int64_t *lo,
                             const int64_t *hi, arras_error *err)
{
    ar_exec_array  *a = &pass->exec->arrays[array];
    const ar_place *to = &w->places[array];

    if (a->bands && ar_chunk_bands_fit(a->bands, lo, hi))
        return ar_chunk_bands_read(a->bands, lo, hi, to->origin, to->strides, err);
    return ar_chunk_cache_read(pass->exec->cache, a->source, lo, hi, to->origin, to->strides, err);
}

static arras_status read_array(const ar_pass *pass, ar_exec_worker *w, int array, arras_error *err)
{
    int64_t      lo[ARRAS_MAX_RANK], hi[ARRAS_MAX_RANK];
    arras_status status = ARRAS_OK;

    for (int i = 0; i < ar_region_boxes(&w->regions[array]) && status == ARRAS_OK; i++) {
        ar_region_part(lo, hi, &w->regions[array], i);
        status = read_box(pass, w, array, lo, hi, err);
    }
    return status;
}

static arras_status hold_bands(const ar_pass *pass, ar_exec_worker *w, int array, arras_error *err)
{
    int64_t      lo[ARRAS_MAX_RANK], hi[ARRAS_MAX_RANK];
    arras_status status;

    ar_region_part(lo, hi, &w->regions[array], 0);
    status = ar_chunk_bands_take(pass->exec->arrays[array].bands, lo, hi, err);
    w->held[array] = status == ARRAS_OK;
    return status;
}

static void release_bands(const ar_pass *pass, ar_exec_worker *w)
{
    int64_t lo[ARRAS_MAX_RANK], hi[ARRAS_MAX_RANK];

    for (int a = 0; a < pass->exec->narrays; a++) {
        if (!w->held[a])
            continue;
        ar_region_part(lo, hi, &w->regions[a], 0);
        ar_chunk_bands_give(pass->exec->arrays[a].bands, lo, hi);
        w->held[a] = false;
    }
}

/* In the order of their numbers, as all threads do. */
static arras_status read_arrays(const ar_pass *pass, ar_exec_worker *w, arras_error *err)
{
    arras_status status = ARRAS_OK;

    for (int a = 0; a < pass->exec->narrays && status == ARRAS_OK; a++)
        if (w->regions[a].any && is_read(pass, a) && !w->borrowed[a])
            status = w->banded[a] ? hold_bands(pass, w, a, err) : read_array(pass, w, a, err);
    return status;
}

static arras_status fail_in(const ar_pass *pass, const ar_stage *s, const int64_t *lo,
                            const int64_t *hi, arras_status status, arras_error *err)
{
    const ar_exec_array *a = &pass->exec->arrays[s->results[0]];
    arras_error          why = *err;
    ar_text              cells = { 0 };

    for (int axis = 0; axis < a->rank; axis++)
        ar_text_printf(&cells, "%s%" PRId64 ":%" PRId64, axis ? ", " : "", lo[axis], hi[axis]);
    ar_fail(err, status, "%s[%s]: %s", a->name ? a->name : "an array in between",
            cells.data ? cells.data : "", why.text);
    ar_text_free(&cells);
    return status;
}

static void set_operand(ar_exec_worker *w, int k, const ar_place *place)
{
    w->operands.origins[k] = place->origin;
    w->operands.shapes[k] = place->shape;
    w->operands.strides[k] = place->strides;
}

static void gather(ar_exec_worker *w, const ar_stage *s)
{
    w->operands.results_uncached = true;
    w->operands.inputs_uncached = false;
    for (int k = 0; k < s->nresults; k++) {
        set_operand(w, k, &w->places[s->results[k]]);
        w->operands.results_uncached =
            w->operands.results_uncached && w->places[s->results[k]].uncached;
    }
    for (int k = 0; k < s->ninputs; k++) {
        set_operand(w, s->nresults + k, &w->places[s->inputs[k]]);
        w->operands.inputs_uncached =
            w->operands.inputs_uncached || w->places[s->inputs[k]].uncached;
    }
}

/* A stage whose boxes hand on waits for what the tile before hands on; whoever broke the chain has
 * said why. */
static arras_status wait_for_turn(ar_pass *pass, const ar_stage *s, int64_t tile, arras_error *err)
{
    ar_order order;

    if (!pass->turns || !ar_stage_order(&order, s, pass->exec) ||
        ar_pass_turn_wait(pass, order.axis, tile))
        return ARRAS_OK;
    return ar_fail(err, ARRAS_ECANCEL, "a tile before this one failed");
}

static arras_status run_stage(const ar_pass *pass, ar_exec_worker *w, int number, int thread,
                              arras_error *err)
{
    const ar_stage  *s = pass->exec->stages[number];
    const ar_region *region = &w->regions[s->results[0]];
    int64_t          lo[ARRAS_MAX_RANK], hi[ARRAS_MAX_RANK];
    arras_error      why = { 0 };
    arras_status     status = ARRAS_OK;

    gather(w, s);
    w->operands.handed = pass->exec->handed[number];
    for (int i = 0; i < ar_region_boxes(region) && status == ARRAS_OK; i++) {
        ar_region_part(lo, hi, region, i);
        status = s->type->compute(s, &w->operands, lo, hi, thread, &why);
    }
    if (status == ARRAS_OK)
        return ARRAS_OK;
    if (err)
        *err = why;
    return err ? fail_in(pass, s, lo, hi, status, err) : status;
}

static char *cell_at(const ar_place *place, int rank, const int64_t *index)
{
    uintptr_t at = (uintptr_t)place->origin;

    for (int axis = 0; axis < rank; axis++)
        at += (uintptr_t)(index[axis] * place->strides[axis]);
    return (char *)at;
}

static arras_status write_file(ar_sink *sink, ar_scratches *hands, const ar_exec_worker *w,
                               int array, const int64_t *lo, const int64_t *hi, arras_error *err)
{
    const ar_place     *place = &w->places[array];
    const int64_t      *strides = same_box(&w->regions[array], lo, hi) ? NULL : place->strides;
    const char         *cells = cell_at(place, sink->info.rank, lo);
    ar_chunk_scratches *hand;
    arras_status        status;

    if (sink->type->write_box)
        return ar_sink_write(sink, lo, hi, cells, strides, 1, err);
    hand = ar_scratches_take(hands);
    status = ar_sink_write_with(sink, lo, hi, cells, strides, &hand->each[0], err);
    ar_scratches_give(hands, hand);
    return status;
}

static arras_status write_target(const ar_pass *pass, ar_exec_worker *w, int array, int64_t tile,
                                 arras_error *err)
{
    ar_exec_array *a = &pass->exec->arrays[array];
    ar_box         box = { .rank = a->rank };
    arras_status   status = ARRAS_OK;

    ar_pass_box(box.lo, box.hi, pass, array, tile);
    if (a->sink)
        status = write_file(a->sink, pass->exec->hands, w, array, box.lo, box.hi, err);
    if (a->spill && status == ARRAS_OK)
        status = write_file(a->spill, pass->exec->hands, w, array, box.lo, box.hi, err);
    if (a->whole && w->places[array].origin != a->whole)
        ar_box_copy(&box, ar_dtype_size(a->dtype), a->whole, a->strides, w->places[array].origin,
                    w->places[array].strides);
    return status;
}

/* An earlier process computed it already.  Where tiles hand on, it is computed again, but not
 * written. */
static bool is_done(const ar_pass *pass, int64_t tile)
{
    int64_t lo[ARRAS_MAX_RANK], hi[ARRAS_MAX_RANK];

    for (int i = 0; i < pass->ntargets; i++) {
        const ar_exec_array *a = &pass->exec->arrays[pass->targets[i]];

        ar_pass_box(lo, hi, pass, pass->targets[i], tile);
        if (a->kept || a->whole || !a->sink || !a->sink->type->has_box ||
            !a->sink->type->has_box(a->sink, lo, hi))
            return false;
    }
    return true;
}

static arras_status run_stages(ar_pass *pass, ar_exec_worker *w, int64_t tile, int thread,
                               arras_error *err)
{
    const ar_execution *exec = pass->exec;
    arras_status        status = ARRAS_OK;

    for (int i = 0; i < pass->nstages && status == ARRAS_OK; i++) {
        const ar_stage *s = exec->stages[pass->stages[i]];

        if (!w->regions[s->results[0]].any)
            continue;
        status = wait_for_turn(pass, s, tile, err);
        if (status == ARRAS_OK)
            status = run_stage(pass, w, pass->stages[i], thread, err);
    }
    ar_pass_turn_over(pass, tile, status == ARRAS_OK);
    return status;
}

static arras_status run_tile(ar_pass *pass, ar_exec_worker *w, int64_t tile, int thread,
                             arras_error *err)
{
    bool         done = is_done(pass, tile);
    arras_status status;

    if (done && !pass->turns)
        return ARRAS_OK;
    ar_pass_regions(w->regions, pass, tile);
    status = place_arrays(pass, w, tile, err);
    if (status == ARRAS_OK)
        status = read_arrays(pass, w, err);
    if (status == ARRAS_OK)
        status = run_stages(pass, w, tile, thread, err);
    else
        ar_pass_turn_over(pass, tile, false);
    for (int i = 0; i < pass->ntargets && status == ARRAS_OK && !done; i++)
        if (w->regions[pass->targets[i]].any)
            status = write_target(pass, w, pass->targets[i], tile, err);
    release_bands(pass, w);
    release_sparse(w, pass->exec->narrays);
    return status;
}

static arras_status decode_box_ahead(const ar_pass *pass, ar_exec_array *a, const int64_t *lo,
                                     const int64_t *hi, arras_error *err)
{
    if (a->bands)
        return ar_chunk_bands_ahead(a->bands, lo, hi, pass->ahead, err);
    return ar_chunk_cache_ahead(pass->exec->cache, a->source, lo, hi, pass->ahead, err);
}

static arras_status decode_ahead(const ar_pass *pass, ar_exec_worker *w, int64_t tile,
                                 arras_error *err)
{
    const ar_execution *exec = pass->exec;
    int64_t             lo[ARRAS_MAX_RANK], hi[ARRAS_MAX_RANK];
    arras_status        status = ARRAS_OK;

    if (pass->ahead == 0 || tile + pass->ahead >= pass->count || is_done(pass, tile + pass->ahead))
        return ARRAS_OK;
    ar_pass_regions(w->regions, pass, tile + pass->ahead);
    for (int a = 0; a < exec->narrays; a++) {
        int boxes = is_read(pass, a) ? ar_region_boxes(&w->regions[a]) : 0;

        for (int i = 0; i < boxes && status == ARRAS_OK; i++) {
            ar_region_part(lo, hi, &w->regions[a], i);
            status = decode_box_ahead(pass, &exec->arrays[a], lo, hi, err);
        }
    }
    return status;
}

/* So many tiles, but those that are next: all threads stay close to each other, and find the chunks
 * that one of them decoded. */
arras_status ar_pass_run(void *context, int64_t first, int64_t last, int thread, arras_error *err)
{
    ar_pass     *pass = context;
    arras_status status = ARRAS_OK;

    for (int64_t i = first; i < last && status == ARRAS_OK; i++) {
        int64_t tile = atomic_fetch_add_explicit(&pass->next, 1, memory_order_relaxed);

        status = run_tile(pass, &pass->exec->workers[thread], tile, thread, err);
        if (status == ARRAS_OK)
            status = decode_ahead(pass, &pass->exec->workers[thread], tile, err);
        atomic_fetch_add_explicit(&pass->done, 1, memory_order_relaxed);
    }
    return status;
}
