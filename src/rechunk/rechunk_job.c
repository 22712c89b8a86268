/* rechunk_job.c -- an array from one chunking into another, within a budget of memory.
 *
 * Some boxes are under way at once, each in a place of its own.  For each box there is a task that
 * reads its parts and one that writes them; the next box in the same place waits for that.  All
 * threads work on all of them, so that they decode, encode and wait for files at the same time. */
#include "rechunk/rechunk_parts.h"

#include <string.h>

enum {
    COSY = 8 << 20, /* bytes of a box that are worth two tasks */
    LANES_PER_THREAD = 2
};

typedef struct {
    arras_rechunking *job;
    int64_t           number; /* of the box */
    int               lane;
} box_task;

struct arras_rechunking {
    ar_source           *source;
    ar_sink             *sink;
    ar_rechunk_grid      grid;
    ar_rechunk_box       box;
    int64_t              boxes[ARRAS_MAX_RANK]; /* along each axis */
    int64_t              nboxes, ntasks;        /* in all; those that are copied */
    box_task            *tasks;
    int                  threads, lanes;
    char               **places; /* one for each lane */
    size_t               place_bytes;
    ar_chunk_scratch    *scratch; /* one for each thread */
    ar_pool             *pool;
    ar_taskgraph        *graph;
    arras_rechunk_report report;
    _Atomic int64_t      read; /* chunks, so far */
};

/* ---- What is asked --------------------------------------------------------------------------- */

static void print_shape(ar_text *out, const ar_store_info *info)
{
    ar_text_printf(out, "%s[", arras_dtype_name(info->dtype));
    for (int d = 0; d < info->rank; d++)
        ar_text_printf(out, "%s%" PRId64, d ? ", " : "", info->shape[d]);
    ar_text_add(out, "]");
}

static bool same_array(const ar_store_info *a, const ar_store_info *b)
{
    if (a->dtype != b->dtype || a->rank != b->rank)
        return false;
    return a->rank == 0 || memcmp(a->shape, b->shape, (size_t)a->rank * sizeof *a->shape) == 0;
}

static arras_status check_arrays(const ar_source *source, const ar_sink *sink, arras_error *err)
{
    ar_text      a = { 0 }, b = { 0 };
    arras_status status;

    if (source->info.dtype == ARRAS_NO_DTYPE)
        return ar_fail(err, ARRAS_EFORMAT, "%s: its cells, %s, are not numbers", source->name,
                       source->info.stored);
    if (same_array(&source->info, &sink->info))
        return ARRAS_OK;
    print_shape(&a, &source->info);
    print_shape(&b, &sink->info);
    status = ar_fail(err, ARRAS_ESHAPE, "rechunk: %s is %s and %s is %s; they must be the same",
                     source->name, a.data ? a.data : "", sink->name, b.data ? b.data : "");
    ar_text_free(&a);
    ar_text_free(&b);
    return status;
}

static void set_grid(ar_rechunk_grid *g, const ar_source *source, const ar_sink *sink)
{
    g->rank = source->info.rank;
    g->cell_size = (int64_t)arras_dtype_size(source->info.dtype);
    memcpy(g->shape, source->info.shape, sizeof g->shape);
    ar_rechunk_unit(g->unit, &source->info);
    ar_rechunk_unit(g->grain, &sink->info);
}

static bool is_empty(const ar_rechunk_grid *g)
{
    for (int d = 0; d < g->rank; d++)
        if (g->shape[d] == 0)
            return true;
    return false;
}

/* ---- Memory ---------------------------------------------------------------------------------- */

/* Of each thread, which decodes, and keeps what it encodes with. */
static int64_t scratch_bytes(const arras_rechunking *r)
{
    return ar_source_in_hand(r->source) + ar_sink_in_hand(r->sink);
}

static arras_status too_little(const arras_rechunking *r, int64_t memory, arras_error *err)
{
    return ar_fail(
        err, ARRAS_ELIMIT,
        "rechunk: %s into %s takes %.1f MB of memory at least, for chunks of %.1f MB and "
        "%.1f MB; %.1f MB are allowed: allow more, or choose smaller chunks",
        r->source->name, r->sink->name, (double)(r->box.bytes + scratch_bytes(r)) / 1e6,
        (double)ar_chunk_memory(&r->source->info) / 1e6,
        (double)ar_chunk_memory(&r->sink->info) / 1e6, (double)memory / 1e6);
}

/* As many threads as their scratch memory leaves room for a box; half of all for boxes if possible.
 */
static int fit_threads(const arras_rechunking *r, int64_t memory, int threads)
{
    return ar_scratches_within(memory / 2, scratch_bytes(r), threads);
}

/* The more boxes at once the better threads are busy, but not if more is read for it. */
static arras_status choose_box(arras_rechunking *r, int64_t memory, arras_error *err)
{
    int64_t        room = memory - r->threads * scratch_bytes(r);
    ar_rechunk_box best;
    arras_status   status = ar_rechunk_choose(&best, &r->grid, room, err);
    int            lanes = r->threads > 1 ? LANES_PER_THREAD * r->threads : 1;

    r->box = best;
    if (status == ARRAS_ELIMIT)
        return too_little(r, memory, err);
    for (; lanes > 1 && status == ARRAS_OK; lanes--) {
        status = ar_rechunk_choose(&r->box, &r->grid, room / lanes, err);
        if (status == ARRAS_OK && r->box.reads <= best.reads)
            break;
        status = status == ARRAS_ELIMIT ? ARRAS_OK : status;
        r->box = best;
    }
    r->lanes = lanes;
    ar_rechunk_enlarge(&r->box, &r->grid, ar_min64(COSY, room / lanes));
    return status;
}

static arras_status make_places(arras_rechunking *r, arras_error *err)
{
    r->place_bytes = ((size_t)r->box.bytes + 4095) / 4096 * 4096;
    r->lanes = (int)ar_min64(r->lanes, ar_max64(1, r->ntasks));
    r->places = ar_alloc((size_t)r->lanes, sizeof *r->places);
    r->scratch = ar_alloc((size_t)r->threads, sizeof *r->scratch);
    if (!r->places || !r->scratch)
        return ar_fail_memory(err, (size_t)r->threads * sizeof *r->scratch);
    for (int i = 0; i < r->lanes; i++) {
        r->places[i] = ar_pages_alloc(r->place_bytes);
        if (!r->places[i])
            return ar_fail_memory(err, r->place_bytes);
    }
    return ARRAS_OK;
}

/* ---- Boxes ----------------------------------------------------------------------------------- */

static void find_box(ar_box *out, const arras_rechunking *r, int64_t number)
{
    out->rank = r->grid.rank;
    for (int d = out->rank; d-- > 0;) {
        out->lo[d] = number % r->boxes[d] * r->box.edge[d];
        out->hi[d] = ar_min64(out->lo[d] + r->box.edge[d], r->grid.shape[d]);
        number /= r->boxes[d];
    }
}

/* An earlier process wrote it. */
static bool is_there(const arras_rechunking *r, const ar_box *part)
{
    return r->sink->type->has_box && r->sink->type->has_box(r->sink, part->lo, part->hi);
}

static bool is_done(const arras_rechunking *r, int64_t number)
{
    ar_rechunk_parts parts;
    ar_box           box, part;

    if (!r->sink->type->has_box)
        return false;
    find_box(&box, r, number);
    ar_rechunk_cut(&parts, &r->sink->info, &box);
    for (int64_t i = 0; i < parts.total; i++) {
        ar_rechunk_part(&part, &parts, i);
        if (!is_there(r, &part))
            return false;
    }
    return true;
}

static arras_status list_boxes(arras_rechunking *r, arras_error *err)
{
    r->nboxes = is_empty(&r->grid) ? 0 : 1;
    for (int d = 0; d < r->grid.rank && r->nboxes > 0; d++) {
        r->boxes[d] = (r->grid.shape[d] - 1) / r->box.edge[d] + 1;
        if (!ar_mul64(&r->nboxes, r->nboxes, r->boxes[d]))
            return ar_fail(err, ARRAS_ELIMIT, "rechunk: %s would be copied in more than 2^63 boxes",
                           r->source->name);
    }
    r->tasks = ar_alloc((size_t)r->nboxes, sizeof *r->tasks);
    if (!r->tasks)
        return ar_fail_memory(err, (size_t)r->nboxes * sizeof *r->tasks);
    for (int64_t i = 0; i < r->nboxes; i++)
        if (!is_done(r, i))
            r->tasks[r->ntasks++] = (box_task){ .job = r, .number = i };
    return ARRAS_OK;
}

/* ---- Tasks ----------------------------------------------------------------------------------- */

static arras_status read_parts(void *context, int64_t first, int64_t last, int thread,
                               arras_error *err)
{
    const box_task   *task = context;
    arras_rechunking *r = task->job;
    ar_rechunk_parts  parts;
    ar_box            box, part;
    arras_status      status = ARRAS_OK;

    find_box(&box, r, task->number);
    ar_rechunk_cut(&parts, &r->source->info, &box);
    for (int64_t i = first; i < last && status == ARRAS_OK; i++) {
        ar_rechunk_part(&part, &parts, i);
        status = ar_rechunk_read(r->source, &box, r->places[task->lane], &part, &r->scratch[thread],
                                 err);
    }
    atomic_fetch_add(&r->read, last - first);
    return status;
}

static arras_status write_parts(void *context, int64_t first, int64_t last, int thread,
                                arras_error *err)
{
    const box_task         *task = context;
    const arras_rechunking *r = task->job;
    ar_rechunk_parts        parts;
    ar_box                  box, part;
    arras_status            status = ARRAS_OK;

    find_box(&box, r, task->number);
    ar_rechunk_cut(&parts, &r->sink->info, &box);
    for (int64_t i = first; i < last && status == ARRAS_OK; i++) {
        ar_rechunk_part(&part, &parts, i);
        if (!is_there(r, &part))
            status = ar_rechunk_write(r->sink, &box, r->places[task->lane], &part,
                                      &r->scratch[thread], err);
    }
    return status;
}

/* Reading and writing a box, after the one that was in its place before. */
static arras_status add_box(arras_rechunking *r, box_task *task, int *last, arras_error *err)
{
    ar_rechunk_parts reads, writes;
    ar_box           box;
    int              reading, writing;
    arras_status     status;

    find_box(&box, r, task->number);
    ar_rechunk_cut(&reads, &r->source->info, &box);
    ar_rechunk_cut(&writes, &r->sink->info, &box);
    status = ar_taskgraph_add(&reading, r->graph,
                              (ar_task){ read_parts, task, reads.total, "read" }, err);
    if (status == ARRAS_OK)
        status = ar_taskgraph_add(&writing, r->graph,
                                  (ar_task){ write_parts, task, writes.total, "write" }, err);
    if (status == ARRAS_OK)
        status = ar_taskgraph_order(r->graph, reading, writing, err);
    if (status == ARRAS_OK && last[task->lane] >= 0)
        status = ar_taskgraph_order(r->graph, last[task->lane], reading, err);
    if (status == ARRAS_OK)
        last[task->lane] = writing;
    return status;
}

static arras_status make_tasks(arras_rechunking *r, arras_error *err)
{
    int         *last = ar_alloc((size_t)r->lanes, sizeof *last);
    arras_status status =
        last ? ar_taskgraph_new(&r->graph, err) : ar_fail_memory(err, (size_t)r->lanes);

    for (int i = 0; last && i < r->lanes; i++)
        last[i] = -1;
    for (int64_t i = 0; i < r->ntasks && status == ARRAS_OK; i++) {
        r->tasks[i].lane = (int)(i % r->lanes);
        status = add_box(r, &r->tasks[i], last, err);
    }
    ar_free(last);
    return status == ARRAS_OK ? ar_taskgraph_instantiate(r->graph, err) : status;
}

/* ---- All of it ------------------------------------------------------------------------------- */

static void set_report(arras_rechunking *r)
{
    arras_rechunk_report *report = &r->report;

    memcpy(report->box, r->box.edge, sizeof report->box);
    report->boxes = r->nboxes;
    report->boxes_before = r->nboxes - r->ntasks;
    report->lanes = r->lanes;
    report->threads = r->threads;
    report->memory = r->lanes * (int64_t)r->place_bytes + r->threads * scratch_bytes(r);
    report->chunks = r->source->info.chunked && r->nboxes > 0 ? (int64_t)r->box.units : 0;
    report->times = report->chunks > 0 ? r->box.reads / r->box.units : 1;
}

static arras_status prepare(arras_rechunking *r, const arras_rechunk_options *options,
                            arras_error *err)
{
    int64_t      memory = options->memory > 0 ? options->memory : ar_memory_fair();
    int          threads = options->threads > 0 ? options->threads : ar_cpu_count();
    arras_status status = check_arrays(r->source, r->sink, err);

    if (status != ARRAS_OK)
        return status;
    set_grid(&r->grid, r->source, r->sink);
    r->threads = fit_threads(r, memory, (int)ar_min64(threads, AR_POOL_MAX_THREADS));
    r->lanes = 1;
    if (!is_empty(&r->grid))
        status = choose_box(r, memory, err);
    if (status == ARRAS_OK)
        status = list_boxes(r, err);
    if (status == ARRAS_OK)
        status = make_places(r, err);
    if (status == ARRAS_OK)
        status = make_tasks(r, err);
    if (status == ARRAS_OK)
        status = ar_pool_shared(&r->pool, r->threads, err);
    set_report(r);
    return status;
}

arras_status ar_rechunking_start(arras_rechunking **out, ar_source *source, ar_sink *sink,
                                 const arras_rechunk_options *options, arras_error *err)
{
    arras_rechunking *r = ar_alloc(1, sizeof *r);
    arras_status      status;

    if (!r)
        return ar_fail_memory(err, sizeof *r);
    r->source = source;
    r->sink = sink;
    status = prepare(r, options, err);
    if (status == ARRAS_OK)
        status = ar_taskgraph_start(r->graph, r->pool, err);
    if (status == ARRAS_OK)
        *out = r;
    else
        ar_rechunking_free(r);
    return status;
}

arras_status ar_rechunking_wait(arras_rechunking *r, arras_error *err)
{
    return ar_taskgraph_wait(r->graph, err);
}

void ar_rechunking_cancel(arras_rechunking *r) { ar_taskgraph_cancel(r->graph, ARRAS_ECANCEL); }

double ar_rechunking_progress(const arras_rechunking *r) { return ar_taskgraph_progress(r->graph); }

void ar_rechunking_report(arras_rechunk_report *out, const arras_rechunking *r)
{
    *out = r->report;
    out->read = r->source->info.chunked ? atomic_load(&r->read) : 0;
}

void ar_rechunking_free(arras_rechunking *r)
{
    ar_taskgraph_free(r->graph); /* cancels, and waits */
    for (int i = 0; r->places && i < r->lanes; i++)
        if (r->places[i])
            ar_pages_free(r->places[i], r->place_bytes);
    for (int i = 0; r->scratch && i < r->threads; i++)
        ar_chunk_scratch_free(&r->scratch[i]);
    ar_free(r->places);
    ar_free(r->scratch);
    ar_free(r->tasks);
    ar_pool_free(r->pool);
    ar_free(r);
}
