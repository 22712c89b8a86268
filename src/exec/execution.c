/* execution.c -- an execution from its arrays and stages to tasks, and through a run. */
#include "exec/pass.h"

#include <string.h>
#include <unistd.h>

/* ---- Memory ---------------------------------------------------------------------------------- */

static arras_status count_bytes(ar_execution *exec, arras_error *err)
{
    for (int i = 0; i < exec->narrays; i++) {
        ar_exec_array *a = &exec->arrays[i];

        a->bytes = (int64_t)ar_dtype_size(a->dtype);
        for (int axis = 0; axis < a->rank; axis++)
            if (!ar_mul64(&a->bytes, a->bytes, a->shape[axis]))
                return ar_fail(err, ARRAS_ESIZE, "%s has more than 2^63 bytes",
                               a->name ? a->name : "an array in between");
    }
    return ARRAS_OK;
}

/* Memory for an array that is written behind the back of those who compute; 0: it is not.  It must
 * be larger than the memory that the run may have, so that nobody counts on finding it in the
 * system's cache later. */
static int64_t memory_behind(const ar_execution *exec, const ar_exec_array *a)
{
    enum { SHARE = 8 }; /* of the memory: one part in so many is not missed */
    int64_t memory = ar_min64(exec->memory / SHARE, AR_WRITE_BEHIND_MOST);

    return a->sink && a->sink->type->write_behind && a->bytes > exec->memory &&
                   memory >= AR_WRITE_BEHIND_LEAST
               ? memory
               : 0;
}

static arras_status write_behind(ar_execution *exec, arras_error *err)
{
    arras_status status = ARRAS_OK;

    for (int i = 0; i < exec->narrays && status == ARRAS_OK; i++) {
        ar_exec_array *a = &exec->arrays[i];
        int64_t        memory = memory_behind(exec, a);

        a->behind = memory > 0;
        if (!a->behind)
            continue;
        exec->memory -= memory;
        status = a->sink->type->write_behind(a->sink, memory, err);
    }
    return status;
}

static int64_t most_in_hand(const ar_execution *exec)
{
    int64_t most = 0;

    for (int i = 0; i < exec->narrays; i++) {
        const ar_exec_array *a = &exec->arrays[i];

        if (a->source && a->source->info.chunked)
            most = ar_max64(most, ar_source_in_hand(a->source));
        if (a->sink && a->sink->info.chunked)
            most = ar_max64(most, ar_sink_in_hand(a->sink));
    }
    return most;
}

/* Chunks are decoded and encoded outside of tiles: by all threads at once if what they have in hand
 * takes a quarter of the memory, otherwise by fewer. */
static void share_hands(ar_execution *exec, bool one_by_one)
{
    int64_t in_hand = most_in_hand(exec);

    exec->at_once =
        one_by_one ? 1
                   : ar_scratches_within(exec->memory / 4, in_hand, ar_pool_threads(exec->pool));
    exec->passing = in_hand * exec->at_once;
}

/* Decoded chunks that are kept have a quarter. */
static void share_memory(ar_execution *exec, bool one_by_one)
{
    int64_t cached = 0;

    for (int i = 0; i < exec->narrays; i++) {
        const ar_exec_array *a = &exec->arrays[i];

        if (a->source && a->source->info.chunked)
            cached += ar_min64(a->bytes, INT64_MAX / 2 / exec->narrays);
    }
    exec->chunks = cached;
    exec->cached = ar_min64(cached, exec->memory / 4);
    share_hands(exec, one_by_one);
    exec->scratch =
        ar_max64(0, exec->memory - exec->cached - exec->passing) / ar_pool_threads(exec->pool);
}

/* Tiles that do not fit may do so when chunks are decoded one by one. */
static arras_status plan_passes(ar_execution *exec, arras_error *err)
{
    arras_error  first;
    arras_status status;

    share_memory(exec, false);
    status = ar_execution_passes(exec, &first);
    if (status == ARRAS_ELIMIT && exec->at_once > 1) {
        exec->npasses = 0;
        share_memory(exec, true);
        return ar_execution_passes(exec, err);
    }
    if (status != ARRAS_OK && err)
        *err = first;
    return status;
}

static int axes_cut(const ar_pass *pass)
{
    int n = 0;

    for (int axis = 0; axis < pass->axes; axis++)
        n += pass->tiles[axis] > 1;
    return n;
}

/* Along one axis, tiles need what they and the ones just before them met.  Along several, those of
 * the row before are neighbours too: a tile reads its own chunks and, for its halo, theirs.  More
 * would only be pages that are touched for nothing. */
static int64_t worth_caching(const ar_pass *pass)
{
    int64_t threads = (int64_t)ar_pool_threads(pass->exec->pool);
    int64_t read = 3 * threads * ar_min64(pass->read, pass->exec->memory);

    return ar_min64(axes_cut(pass) > 1 ? ar_max64(pass->reached, read) : pass->reached, pass->room);
}

/* What tiles leave of the memory that they may have is for chunks. */
static int64_t left_for_cache(const ar_execution *exec)
{
    int64_t most = 0;

    for (int i = 0; i < exec->npasses; i++)
        most = ar_max64(most, exec->passes[i].bytes);
    return exec->cached + ar_max64(0, exec->scratch - most) * ar_pool_threads(exec->pool);
}

static arras_status make_cache(ar_execution *exec, arras_error *err)
{
    int64_t      wanted = 0, left = left_for_cache(exec);
    arras_status status = ar_scratches_new(&exec->hands, exec->at_once, err);

    if (status == ARRAS_OK)
        status = ar_execution_chunk_rows(exec, &left, err);
    for (int i = 0; i < exec->npasses; i++)
        if (!exec->passes[i].banded)
            wanted = ar_max64(wanted, worth_caching(&exec->passes[i]));
    return status == ARRAS_OK
               ? ar_chunk_cache_new(&exec->cache, ar_min64(wanted, left), exec->hands, err)
               : status;
}

/* ---- Workers --------------------------------------------------------------------------------- */

static int most_operands(const ar_execution *exec)
{
    int most = 0;

    for (int i = 0; i < exec->nstages; i++) {
        int n = exec->stages[i]->nresults + exec->stages[i]->ninputs;

        most = n > most ? n : most;
    }
    return most;
}

static arras_status make_worker(ar_execution *exec, ar_exec_worker *w, arras_error *err)
{
    size_t n = (size_t)exec->narrays, operands = (size_t)most_operands(exec);

    w->regions = ar_arena_alloc(&exec->arena, n, sizeof *w->regions);
    w->places = ar_arena_alloc(&exec->arena, n, sizeof *w->places);
    w->strides = ar_arena_alloc(&exec->arena, n * ARRAS_MAX_RANK, sizeof *w->strides);
    w->borrowed = ar_arena_alloc(&exec->arena, n, sizeof *w->borrowed);
    w->banded = ar_arena_alloc(&exec->arena, n, sizeof *w->banded);
    w->held = ar_arena_alloc(&exec->arena, n, sizeof *w->held);
    w->sparse = ar_arena_alloc(&exec->arena, n, sizeof *w->sparse);
    w->sparse_bytes = ar_arena_alloc(&exec->arena, n, sizeof *w->sparse_bytes);
    w->operands.origins = ar_arena_alloc(&exec->arena, operands, sizeof *w->operands.origins);
    w->operands.shapes = ar_arena_alloc(&exec->arena, operands, sizeof *w->operands.shapes);
    w->operands.strides = ar_arena_alloc(&exec->arena, operands, sizeof *w->operands.strides);
    if (w->regions && w->places && w->strides && w->borrowed && w->banded && w->held && w->sparse &&
        w->sparse_bytes && w->operands.origins && w->operands.shapes && w->operands.strides)
        return ARRAS_OK;
    return ar_fail_memory(err, n * sizeof *w->regions);
}

static arras_status make_workers(ar_execution *exec, arras_error *err)
{
    int          n = ar_pool_threads(exec->pool);
    arras_status status = ARRAS_OK;

    exec->workers = ar_arena_alloc(&exec->arena, (size_t)n, sizeof *exec->workers);
    if (!exec->workers)
        return ar_fail_memory(err, (size_t)n * sizeof *exec->workers);
    exec->nworkers = n;
    for (int i = 0; i < n && status == ARRAS_OK; i++)
        status = make_worker(exec, &exec->workers[i], err);
    return status;
}

/* ---- Tasks ----------------------------------------------------------------------------------- */

/* What one level spilled can be read by the next. */
static arras_status settle(void *context, int64_t first, int64_t last, int thread, arras_error *err)
{
    ar_execution *exec = context;
    arras_status  status = ARRAS_OK;

    (void)first, (void)last, (void)thread;
    for (int i = 0; i < exec->narrays && status == ARRAS_OK; i++) {
        ar_exec_array *a = &exec->arrays[i];
        ar_sink       *spill = a->spill;

        if (!spill || a->level != exec->settled)
            continue;
        a->spill = NULL;
        status = spill->type->finish(spill, err);
        if (status == ARRAS_OK)
            status = ar_store_open(&a->source, a->spill_path, NULL, err);
        unlink(a->spill_path);
    }
    exec->settled++;
    return status;
}

static int last_level(const ar_execution *exec)
{
    int last = 0;

    for (int i = 0; i < exec->npasses; i++)
        last = exec->passes[i].level > last ? exec->passes[i].level : last;
    return last;
}

/* Passes of one level, and then one task that all of the next wait for. */
static arras_status add_level(ar_execution *exec, int level, int *barrier, arras_error *err)
{
    int          before = *barrier, number;
    arras_status status =
        ar_taskgraph_add(barrier, exec->tasks, (ar_task){ settle, exec, 1, "settle" }, err);

    for (int i = 0; i < exec->npasses && status == ARRAS_OK; i++) {
        ar_pass    *pass = &exec->passes[i];
        const char *name = exec->arrays[pass->targets[0]].name;

        if (pass->level != level)
            continue;
        status = ar_taskgraph_add(&number, exec->tasks,
                                  (ar_task){ ar_pass_run, pass, pass->count, name }, err);
        if (status == ARRAS_OK)
            status = ar_taskgraph_order(exec->tasks, number, *barrier, err);
        if (status == ARRAS_OK && before >= 0)
            status = ar_taskgraph_order(exec->tasks, before, number, err);
    }
    return status;
}

static arras_status make_tasks(ar_execution *exec, arras_error *err)
{
    int          barrier = -1;
    arras_status status = ar_taskgraph_new(&exec->tasks, err);

    for (int level = 0; level <= last_level(exec) && status == ARRAS_OK; level++)
        status = add_level(exec, level, &barrier, err);
    return status == ARRAS_OK ? ar_taskgraph_instantiate(exec->tasks, err) : status;
}

/* ---- All of it ------------------------------------------------------------------------------- */

static arras_status check_stages(const ar_execution *exec, arras_error *err)
{
    for (int i = 0; i < exec->nstages; i++)
        if (exec->stages[i]->ninputs > AR_STAGE_INPUTS)
            return ar_fail(err, ARRAS_ELIMIT, "a step reads %d arrays, and at most %d can be",
                           exec->stages[i]->ninputs, AR_STAGE_INPUTS);
    return ARRAS_OK;
}

arras_status ar_execution_open(ar_execution *exec, arras_error *err)
{
    int         *levels = ar_alloc((size_t)exec->nstages, sizeof *levels);
    arras_status status =
        levels ? count_bytes(exec, err) : ar_fail_memory(err, (size_t)exec->nstages);

    if (status == ARRAS_OK)
        status = check_stages(exec, err);
    if (status == ARRAS_OK)
        status = write_behind(exec, err);
    if (status == ARRAS_OK)
        status = ar_execution_hand_on(exec, err);
    if (status == ARRAS_OK)
        status = ar_execution_keep(exec, levels, err);
    if (status == ARRAS_OK)
        status = plan_passes(exec, err);
    if (status == ARRAS_OK)
        status = make_cache(exec, err);
    for (int i = 0; i < exec->npasses && status == ARRAS_OK; i++)
        status = ar_pass_turns_new(&exec->passes[i], err);
    if (status == ARRAS_OK)
        status = make_workers(exec, err);
    if (status == ARRAS_OK)
        status = make_tasks(exec, err);
    ar_free(levels);
    return status;
}

arras_status ar_execution_start(ar_execution *exec, arras_error *err)
{
    for (int i = 0; i < exec->npasses; i++) {
        exec->passes[i].next = 0;
        exec->passes[i].done = 0;
        ar_pass_turns_start(&exec->passes[i]);
    }
    return ar_taskgraph_start(exec->tasks, exec->pool, err);
}

arras_status ar_execution_wait(ar_execution *exec, arras_error *err)
{
    return ar_taskgraph_wait(exec->tasks, err);
}

void ar_execution_cancel(ar_execution *exec) { ar_taskgraph_cancel(exec->tasks, ARRAS_ECANCEL); }

double ar_execution_progress(const ar_execution *exec)
{
    double done = 0, all = 0;

    for (int i = 0; i < exec->npasses; i++) {
        const ar_pass *pass = &exec->passes[i];
        int64_t        halves = atomic_load_explicit(&pass->done, memory_order_relaxed) +
                         atomic_load_explicit(&pass->next, memory_order_relaxed);

        done += pass->count > 0 ? pass->moves * (double)halves / (2 * (double)pass->count) : 0;
        all += pass->count > 0 ? pass->moves : 0;
    }
    return all > 0 ? done / all : -1;
}

static void release_array(ar_exec_array *a)
{
    if (a->owned)
        ar_free(a->whole);
    if (a->spill)
        a->spill->type->abandon(a->spill);
    if (a->spill_path && a->source)
        a->source->type->close(a->source);
    ar_chunk_bands_free(a->bands);
}

static void release_worker(ar_exec_worker *w)
{
    if (w->scratch)
        ar_pages_free(w->scratch, (size_t)w->scratch_bytes);
}

void ar_execution_close(ar_execution *exec)
{
    ar_taskgraph_free(exec->tasks); /* cancels, and waits */
    for (int i = 0; i < exec->nworkers; i++)
        release_worker(&exec->workers[i]);
    for (int i = 0; exec->passes && i < exec->npasses; i++)
        ar_pass_turns_free(&exec->passes[i]);
    for (int i = 0; exec->arrays && i < exec->narrays; i++)
        release_array(&exec->arrays[i]);
    ar_chunk_cache_free(exec->cache);
    ar_scratches_free(exec->hands);
    ar_arena_free(&exec->arena);
}

/* ---- For people ------------------------------------------------------------------------------ */

static const char *name_of(const ar_exec_array *a) { return a->name ? a->name : "(in between)"; }

static void explain_pass(ar_text *out, const ar_pass *pass)
{
    ar_text_add(out, "pass:");
    for (int i = 0; i < pass->ntargets; i++)
        ar_text_printf(out, "%s %s", i ? "," : "", name_of(&pass->exec->arrays[pass->targets[i]]));
    ar_text_printf(out, "; %" PRId64 " tiles of", pass->count);
    for (int axis = 0; axis < pass->axes; axis++)
        ar_text_printf(out, "%s %" PRId64, axis ? " x" : "", pass->tile[axis]);
    ar_text_printf(out, ", %.1f MB each, %d steps\n", (double)pass->bytes / 1e6, pass->nstages);
}

static void explain_bands(ar_text *out, const ar_exec_array *a)
{
    int together = ar_chunk_bands_together(a->bands);

    ar_text_printf(out, "decoded in place: %s", name_of(a));
    if (together > 1)
        ar_text_printf(out, ", %d chunks at once", together);
    ar_text_printf(out, "\n");
}

void ar_execution_explain(ar_text *out, const ar_execution *exec)
{
    ar_text_printf(out, "streaming: %d passes, %d threads with %.1f MB for a tile\n", exec->npasses,
                   exec->nworkers, (double)exec->scratch / 1e6);
    for (int i = 0; i < exec->narrays; i++)
        if (exec->arrays[i].kept)
            ar_text_printf(out, "kept: %s, %.1f MB %s\n", name_of(&exec->arrays[i]),
                           (double)exec->arrays[i].bytes / 1e6,
                           exec->arrays[i].whole ? "in memory" : "in a file");
    for (int i = 0; i < exec->narrays; i++)
        if (exec->arrays[i].behind)
            ar_text_printf(out, "past the cache: %s, %.1f MB written while others compute\n",
                           name_of(&exec->arrays[i]), (double)exec->arrays[i].bytes / 1e6);
    for (int i = 0; i < exec->narrays; i++)
        if (exec->arrays[i].bands)
            explain_bands(out, &exec->arrays[i]);
    for (int i = 0; i < exec->npasses; i++)
        explain_pass(out, &exec->passes[i]);
}
