/* flow.c -- a flow from its arrays and stages to tasks, and through a run. */
#include "stream/flow.h"

#include <string.h>
#include <unistd.h>

/* ---- Memory ---------------------------------------------------------------------------------- */

static arras_status count_bytes(ar_flow *flow, arras_error *err)
{
    for (int i = 0; i < flow->narrays; i++) {
        ar_flow_array *a = &flow->arrays[i];

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
static int64_t memory_behind(const ar_flow *flow, const ar_flow_array *a)
{
    enum { SHARE = 8 }; /* of the memory: one part in so many is not missed */
    int64_t memory = ar_min64(flow->memory / SHARE, AR_BEHIND_MOST);

    return a->sink && a->sink->type->write_behind && a->bytes > flow->memory &&
                   memory >= AR_BEHIND_LEAST
               ? memory
               : 0;
}

static arras_status write_behind(ar_flow *flow, arras_error *err)
{
    arras_status status = ARRAS_OK;

    for (int i = 0; i < flow->narrays && status == ARRAS_OK; i++) {
        ar_flow_array *a = &flow->arrays[i];
        int64_t        memory = memory_behind(flow, a);

        a->behind = memory > 0;
        if (!a->behind)
            continue;
        flow->memory -= memory;
        status = a->sink->type->write_behind(a->sink, memory, err);
    }
    return status;
}

static int64_t most_in_hand(const ar_flow *flow)
{
    int64_t most = 0;

    for (int i = 0; i < flow->narrays; i++) {
        const ar_flow_array *a = &flow->arrays[i];

        if (a->source && a->source->info.chunked)
            most = ar_max64(most, ar_source_in_hand(a->source));
        if (a->sink && a->sink->info.chunked)
            most = ar_max64(most, ar_sink_in_hand(a->sink));
    }
    return most;
}

/* Chunks are decoded and encoded outside of tiles: by all threads at once if what they have in hand
 * takes a quarter of the memory, otherwise by fewer. */
static void share_hands(ar_flow *flow, bool one_by_one)
{
    int64_t in_hand = most_in_hand(flow);

    flow->at_once =
        one_by_one ? 1 : ar_hands_within(flow->memory / 4, in_hand, ar_pool_threads(flow->pool));
    flow->passing = in_hand * flow->at_once;
}

/* Decoded chunks that are kept have a quarter. */
static void share_memory(ar_flow *flow, bool one_by_one)
{
    int64_t cached = 0;

    for (int i = 0; i < flow->narrays; i++) {
        const ar_flow_array *a = &flow->arrays[i];

        if (a->source && a->source->info.chunked)
            cached += ar_min64(a->bytes, INT64_MAX / 2 / flow->narrays);
    }
    flow->chunks = cached;
    flow->cached = ar_min64(cached, flow->memory / 4);
    share_hands(flow, one_by_one);
    flow->scratch =
        ar_max64(0, flow->memory - flow->cached - flow->passing) / ar_pool_threads(flow->pool);
}

/* Tiles that do not fit may do so when chunks are decoded one by one. */
static arras_status plan_passes(ar_flow *flow, arras_error *err)
{
    arras_error  first;
    arras_status status;

    share_memory(flow, false);
    status = ar_flow_passes(flow, &first);
    if (status == ARRAS_ELIMIT && flow->at_once > 1) {
        flow->npasses = 0;
        share_memory(flow, true);
        return ar_flow_passes(flow, err);
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
    int64_t threads = (int64_t)ar_pool_threads(pass->flow->pool);
    int64_t read = 3 * threads * ar_min64(pass->read, pass->flow->memory);

    return ar_min64(axes_cut(pass) > 1 ? ar_max64(pass->met, read) : pass->met, pass->room);
}

/* What tiles leave of the memory that they may have is for chunks. */
static int64_t left_for_cache(const ar_flow *flow)
{
    int64_t most = 0;

    for (int i = 0; i < flow->npasses; i++)
        most = ar_max64(most, flow->passes[i].bytes);
    return flow->cached + ar_max64(0, flow->scratch - most) * ar_pool_threads(flow->pool);
}

static arras_status make_cache(ar_flow *flow, arras_error *err)
{
    int64_t      wanted = 0, left = left_for_cache(flow);
    arras_status status = ar_hands_new(&flow->hands, flow->at_once, err);

    if (status == ARRAS_OK)
        status = ar_flow_bands(flow, &left, err);
    for (int i = 0; i < flow->npasses; i++)
        if (!flow->passes[i].banded)
            wanted = ar_max64(wanted, worth_caching(&flow->passes[i]));
    return status == ARRAS_OK
               ? ar_chunk_cache_new(&flow->cache, ar_min64(wanted, left), flow->hands, err)
               : status;
}

/* ---- Workers --------------------------------------------------------------------------------- */

static int most_operands(const ar_flow *flow)
{
    int most = 0;

    for (int i = 0; i < flow->nstages; i++) {
        int n = flow->stages[i]->nresults + flow->stages[i]->ninputs;

        most = n > most ? n : most;
    }
    return most;
}

static arras_status make_worker(ar_flow *flow, ar_flow_worker *w, arras_error *err)
{
    size_t n = (size_t)flow->narrays;

    w->regions = ar_arena_alloc(&flow->arena, n, sizeof *w->regions);
    w->places = ar_arena_alloc(&flow->arena, n, sizeof *w->places);
    w->strides = ar_arena_alloc(&flow->arena, n * ARRAS_MAX_RANK, sizeof *w->strides);
    w->lent = ar_arena_alloc(&flow->arena, n, sizeof *w->lent);
    w->banded = ar_arena_alloc(&flow->arena, n, sizeof *w->banded);
    w->held = ar_arena_alloc(&flow->arena, n, sizeof *w->held);
    w->sparse = ar_arena_alloc(&flow->arena, n, sizeof *w->sparse);
    w->sparse_bytes = ar_arena_alloc(&flow->arena, n, sizeof *w->sparse_bytes);
    w->operands = ar_arena_alloc(&flow->arena, (size_t)most_operands(flow), sizeof *w->operands);
    if (w->regions && w->places && w->strides && w->lent && w->banded && w->held && w->sparse &&
        w->sparse_bytes && w->operands)
        return ARRAS_OK;
    return ar_fail_memory(err, n * sizeof *w->regions);
}

static arras_status make_workers(ar_flow *flow, arras_error *err)
{
    int          n = ar_pool_threads(flow->pool);
    arras_status status = ARRAS_OK;

    flow->workers = ar_arena_alloc(&flow->arena, (size_t)n, sizeof *flow->workers);
    if (!flow->workers)
        return ar_fail_memory(err, (size_t)n * sizeof *flow->workers);
    flow->nworkers = n;
    for (int i = 0; i < n && status == ARRAS_OK; i++)
        status = make_worker(flow, &flow->workers[i], err);
    return status;
}

/* ---- Tasks ----------------------------------------------------------------------------------- */

/* What one level spilled can be read by the next. */
static arras_status settle(void *context, int64_t first, int64_t last, int thread, arras_error *err)
{
    ar_flow     *flow = context;
    arras_status status = ARRAS_OK;

    (void)first, (void)last, (void)thread;
    for (int i = 0; i < flow->narrays && status == ARRAS_OK; i++) {
        ar_flow_array *a = &flow->arrays[i];
        ar_sink       *spill = a->spill;

        if (!spill || a->level != flow->settled)
            continue;
        a->spill = NULL;
        status = spill->type->finish(spill, err);
        if (status == ARRAS_OK)
            status = ar_store_open(&a->source, a->spill_path, NULL, err);
        unlink(a->spill_path);
    }
    flow->settled++;
    return status;
}

static int last_level(const ar_flow *flow)
{
    int last = 0;

    for (int i = 0; i < flow->npasses; i++)
        last = flow->passes[i].level > last ? flow->passes[i].level : last;
    return last;
}

/* Passes of one level, and then one task that all of the next wait for. */
static arras_status add_level(ar_flow *flow, int level, int *barrier, arras_error *err)
{
    int          before = *barrier, number;
    arras_status status =
        ar_taskgraph_add(barrier, flow->tasks, (ar_task){ settle, flow, 1, "settle" }, err);

    for (int i = 0; i < flow->npasses && status == ARRAS_OK; i++) {
        ar_pass    *pass = &flow->passes[i];
        const char *name = flow->arrays[pass->targets[0]].name;

        if (pass->level != level)
            continue;
        status = ar_taskgraph_add(&number, flow->tasks,
                                  (ar_task){ ar_pass_run, pass, pass->count, name }, err);
        if (status == ARRAS_OK)
            status = ar_taskgraph_order(flow->tasks, number, *barrier, err);
        if (status == ARRAS_OK && before >= 0)
            status = ar_taskgraph_order(flow->tasks, before, number, err);
    }
    return status;
}

static arras_status make_tasks(ar_flow *flow, arras_error *err)
{
    int          barrier = -1;
    arras_status status = ar_taskgraph_new(&flow->tasks, err);

    for (int level = 0; level <= last_level(flow) && status == ARRAS_OK; level++)
        status = add_level(flow, level, &barrier, err);
    return status == ARRAS_OK ? ar_taskgraph_instantiate(flow->tasks, err) : status;
}

/* ---- All of it ------------------------------------------------------------------------------- */

static arras_status check_stages(const ar_flow *flow, arras_error *err)
{
    for (int i = 0; i < flow->nstages; i++)
        if (flow->stages[i]->ninputs > AR_STAGE_INPUTS)
            return ar_fail(err, ARRAS_ELIMIT, "a step reads %d arrays, and at most %d can be",
                           flow->stages[i]->ninputs, AR_STAGE_INPUTS);
    return ARRAS_OK;
}

arras_status ar_flow_open(ar_flow *flow, arras_error *err)
{
    int         *levels = ar_alloc((size_t)flow->nstages, sizeof *levels);
    arras_status status =
        levels ? count_bytes(flow, err) : ar_fail_memory(err, (size_t)flow->nstages);

    if (status == ARRAS_OK)
        status = check_stages(flow, err);
    if (status == ARRAS_OK)
        status = write_behind(flow, err);
    if (status == ARRAS_OK)
        status = ar_flow_keep(flow, levels, err);
    if (status == ARRAS_OK)
        status = plan_passes(flow, err);
    if (status == ARRAS_OK)
        status = make_cache(flow, err);
    if (status == ARRAS_OK)
        status = make_workers(flow, err);
    if (status == ARRAS_OK)
        status = make_tasks(flow, err);
    ar_free(levels);
    return status;
}

arras_status ar_flow_start(ar_flow *flow, arras_error *err)
{
    for (int i = 0; i < flow->npasses; i++) {
        flow->passes[i].next = 0;
        flow->passes[i].done = 0;
    }
    return ar_taskgraph_start(flow->tasks, flow->pool, err);
}

arras_status ar_flow_wait(ar_flow *flow, arras_error *err)
{
    return ar_taskgraph_wait(flow->tasks, err);
}

void ar_flow_cancel(ar_flow *flow) { ar_taskgraph_cancel(flow->tasks, ARRAS_ECANCEL); }

double ar_flow_progress(const ar_flow *flow)
{
    double done = 0, all = 0;

    for (int i = 0; i < flow->npasses; i++) {
        const ar_pass *pass = &flow->passes[i];
        int64_t        halves = atomic_load_explicit(&pass->done, memory_order_relaxed) +
                         atomic_load_explicit(&pass->next, memory_order_relaxed);

        done += pass->count > 0 ? pass->moves * (double)halves / (2 * (double)pass->count) : 0;
        all += pass->count > 0 ? pass->moves : 0;
    }
    return all > 0 ? done / all : -1;
}

static void release_array(ar_flow_array *a)
{
    if (a->owned)
        ar_free(a->whole);
    if (a->spill)
        a->spill->type->abandon(a->spill);
    if (a->spill_path && a->source)
        a->source->type->close(a->source);
    ar_chunk_bands_free(a->bands);
}

static void release_worker(ar_flow_worker *w)
{
    if (w->scratch)
        ar_pages_free(w->scratch, (size_t)w->scratch_bytes);
}

void ar_flow_close(ar_flow *flow)
{
    ar_taskgraph_free(flow->tasks); /* cancels, and waits */
    for (int i = 0; i < flow->nworkers; i++)
        release_worker(&flow->workers[i]);
    for (int i = 0; flow->arrays && i < flow->narrays; i++)
        release_array(&flow->arrays[i]);
    ar_chunk_cache_free(flow->cache);
    ar_hands_free(flow->hands);
    ar_arena_free(&flow->arena);
}

/* ---- For people ------------------------------------------------------------------------------ */

static const char *name_of(const ar_flow_array *a) { return a->name ? a->name : "(in between)"; }

static void explain_pass(ar_text *out, const ar_pass *pass)
{
    ar_text_add(out, "pass:");
    for (int i = 0; i < pass->ntargets; i++)
        ar_text_printf(out, "%s %s", i ? "," : "", name_of(&pass->flow->arrays[pass->targets[i]]));
    ar_text_printf(out, "; %" PRId64 " tiles of", pass->count);
    for (int axis = 0; axis < pass->axes; axis++)
        ar_text_printf(out, "%s %" PRId64, axis ? " x" : "", pass->tile[axis]);
    ar_text_printf(out, ", %.1f MB each, %d steps\n", (double)pass->bytes / 1e6, pass->nstages);
}

static void explain_bands(ar_text *out, const ar_flow_array *a)
{
    int together = ar_chunk_bands_together(a->bands);

    ar_text_printf(out, "decoded in place: %s", name_of(a));
    if (together > 1)
        ar_text_printf(out, ", %d chunks at once", together);
    ar_text_printf(out, "\n");
}

void ar_flow_explain(ar_text *out, const ar_flow *flow)
{
    ar_text_printf(out, "streaming: %d passes, %d threads with %.1f MB for a tile\n", flow->npasses,
                   flow->nworkers, (double)flow->scratch / 1e6);
    for (int i = 0; i < flow->narrays; i++)
        if (flow->arrays[i].kept)
            ar_text_printf(out, "kept: %s, %.1f MB %s\n", name_of(&flow->arrays[i]),
                           (double)flow->arrays[i].bytes / 1e6,
                           flow->arrays[i].whole ? "in memory" : "in a file");
    for (int i = 0; i < flow->narrays; i++)
        if (flow->arrays[i].behind)
            ar_text_printf(out, "past the cache: %s, %.1f MB written while others compute\n",
                           name_of(&flow->arrays[i]), (double)flow->arrays[i].bytes / 1e6);
    for (int i = 0; i < flow->narrays; i++)
        if (flow->arrays[i].bands)
            explain_bands(out, &flow->arrays[i]);
    for (int i = 0; i < flow->npasses; i++)
        explain_pass(out, &flow->passes[i]);
}
