/* label_job.c -- a labelling from start to end: tiles are labelled and joined, components numbered,
 * tiles painted.  Three tasks of a graph, so that it can be watched and cancelled. */
#include "label/label_parts.h"

#include <string.h>

static void dense_strides(int64_t *out, const int64_t *extent, size_t size)
{
    out[2] = (int64_t)size;
    out[1] = out[2] * extent[2];
    out[0] = out[1] * extent[1];
}

static char *cell_at(const void *first, const int64_t *strides, const int64_t *index)
{
    return (char *)first + index[0] * strides[0] + index[1] * strides[1] + index[2] * strides[2];
}

/* ---- Cells and labels of a tile, wherever they are ------------------------------------------- */

/* The axes that the array has are the last ones. */
static void bounds(const ar_labelling *l, const ar_label_box *box, int64_t *lo, int64_t *hi)
{
    int missing = AR_LABEL_AXES - l->request.rank;

    for (int d = missing; d < AR_LABEL_AXES; d++) {
        lo[d - missing] = box->lo[d];
        hi[d - missing] = box->lo[d] + box->extent[d];
    }
}

static arras_status load_tile(ar_label_cells *out, const ar_labelling *l, const ar_label_box *box,
                              const ar_label_scratch *mine, arras_error *err)
{
    int64_t lo[AR_LABEL_AXES], hi[AR_LABEL_AXES];

    *out = l->cells;
    if (!l->request.source) {
        out->first = cell_at(l->cells.first, l->cells.strides, box->lo);
        return ARRAS_OK;
    }
    bounds(l, box, lo, hi);
    out->first = mine->cells;
    dense_strides(out->strides, box->extent, out->size);
    return ar_source_read(l->request.source, lo, hi, mine->cells, NULL, 1, err);
}

static arras_status find_runs(ar_label_runs *out, const ar_labelling *l, int64_t tile,
                              const ar_label_scratch *mine, arras_error *err)
{
    ar_label_box   box = ar_label_grid_box(&l->grid, tile);
    ar_label_cells cells;
    arras_status   status = load_tile(&cells, l, &box, mine, err);

    if (status != ARRAS_OK)
        return status;
    return ar_label_runs_find(out, &box, l->grid.touch, &cells, &l->rule, mine, err);
}

static arras_status store_tile(const ar_labelling *l, int64_t tile, const ar_label_runs *runs,
                               const ar_label_scratch *mine, arras_error *err)
{
    ar_label_box box = ar_label_grid_box(&l->grid, tile);
    int64_t      lo[AR_LABEL_AXES], hi[AR_LABEL_AXES], strides[AR_LABEL_AXES];
    arras_status status;

    if (!l->request.sink)
        return ar_label_paint(l, tile, runs, cell_at(l->labels, l->label_strides, box.lo),
                              l->label_strides, mine, err);
    dense_strides(strides, box.extent, l->label_size);
    status = ar_label_paint(l, tile, runs, mine->labels, strides, mine, err);
    bounds(l, &box, lo, hi);
    if (status == ARRAS_OK)
        status = ar_sink_write(l->request.sink, lo, hi, mine->labels, NULL, 1, err);
    return status;
}

/* ---- Memory of threads ----------------------------------------------------------------------- */

static bool make(void *place, int64_t count, size_t size)
{
    void *old, *made;

    memcpy(&old, place, sizeof old);
    made = old ? old : ar_alloc((size_t)count, size);
    memcpy(place, &made, sizeof made);
    return made != NULL;
}

/* Lines are painted a little beyond their ends. */
static arras_status make_scratch(ar_label_scratch *mine, const ar_labelling *l, bool paints,
                                 arras_error *err)
{
    enum { BEYOND = 16 };
    const int64_t *tile = l->grid.tile;
    int64_t        cells = tile[0] * tile[1] * tile[2];

    if (make(&mine->edges, tile[2] + 1, sizeof *mine->edges) &&
        make(&mine->line, tile[2] + BEYOND, sizeof(int64_t)) &&
        (!l->request.source || make(&mine->cells, cells, l->cells.size)) &&
        (!l->request.sink || !paints || make(&mine->labels, cells, l->label_size)))
        return ARRAS_OK;
    return ar_fail_memory(err, (size_t)cells * (l->cells.size + l->label_size));
}

/* ---- The tasks ------------------------------------------------------------------------------- */

/* As many runs stay in memory as may; the others are found again. */
static void keep_or_drop(ar_labelling *l, ar_label_tile *tile, ar_label_runs *runs)
{
    int64_t bytes = ar_label_runs_bytes(runs);

    if (atomic_fetch_add(&l->runs_bytes, bytes) + bytes <= l->runs_most) {
        tile->runs = *runs;
        tile->kept = true;
        return;
    }
    atomic_fetch_sub(&l->runs_bytes, bytes);
    ar_label_runs_free(runs);
}

static arras_status label_tiles(void *context, int64_t first, int64_t last, int thread,
                                arras_error *err)
{
    ar_labelling     *l = context;
    ar_label_scratch *mine = &l->scratch[thread];
    arras_status      status = make_scratch(mine, l, false, err);

    for (int64_t t = first; t < last && status == ARRAS_OK; t++) {
        ar_label_runs runs;

        status = find_runs(&runs, l, t, mine, err);
        if (status != ARRAS_OK)
            break;
        status = ar_label_border(l, t, &runs, mine, err);
        keep_or_drop(l, &l->tiles[t], &runs);
    }
    return status;
}

static arras_status number_all(void *context, int64_t first, int64_t last, int thread,
                               arras_error *err)
{
    ar_labelling *l = context;

    (void)first, (void)last, (void)thread;
    ar_label_number(l);
    if (l->label_dtype == ARRAS_I32 && l->count > INT32_MAX)
        return ar_fail(err, ARRAS_ELIMIT,
                       "label: there are %" PRId64
                       " components, too many for labels of type i32; take i64",
                       l->count);
    return ARRAS_OK;
}

static arras_status find_again(ar_label_runs *out, const ar_labelling *l, int64_t t,
                               const ar_label_scratch *mine, arras_error *err)
{
    arras_status status = find_runs(out, l, t, mine, err);

    if (status != ARRAS_OK || out->visited[out->lines] == l->tiles[t].components)
        return status;
    ar_label_runs_free(out);
    return ar_fail(err, ARRAS_EIO, "%s changed while it was read", l->request.source->name);
}

static arras_status paint_tiles(void *context, int64_t first, int64_t last, int thread,
                                arras_error *err)
{
    ar_labelling     *l = context;
    ar_label_scratch *mine = &l->scratch[thread];
    arras_status      status = make_scratch(mine, l, true, err);

    for (int64_t t = first; t < last && status == ARRAS_OK; t++) {
        ar_label_runs *runs = &l->tiles[t].runs;

        if (!l->tiles[t].kept)
            status = find_again(runs, l, t, mine, err);
        if (status == ARRAS_OK)
            status = store_tile(l, t, runs, mine, err);
        ar_label_runs_free(runs);
    }
    return status;
}

static arras_status make_graph(ar_labelling *l, arras_error *err)
{
    ar_task      tasks[] = { { label_tiles, l, l->grid.total, "label" },
                             { number_all, l, 1, "number" },
                             { paint_tiles, l, l->grid.total, "paint" } };
    int          task;
    arras_status status = ar_taskgraph_new(&l->graph, err);

    for (size_t i = 0; i < AR_COUNT(tasks) && status == ARRAS_OK; i++) {
        status = ar_taskgraph_add(&task, l->graph, tasks[i], err);
        if (status == ARRAS_OK && task > 0)
            status = ar_taskgraph_order(l->graph, task - 1, task, err);
    }
    return status == ARRAS_OK ? ar_taskgraph_instantiate(l->graph, err) : status;
}

/* ---- Beginning and end ----------------------------------------------------------------------- */

void ar_labelling_free(ar_labelling *l)
{
    ar_taskgraph_free(l->graph);
    ar_pool_free(l->pool);
    for (int64_t t = 0; l->tiles && t < l->grid.total; t++) {
        ar_label_runs_free(&l->tiles[t].runs);
        ar_label_faces_free(&l->tiles[t]);
    }
    for (int i = 0; l->scratch && i < l->threads; i++) {
        ar_free(l->scratch[i].edges);
        ar_free(l->scratch[i].line);
        ar_free(l->scratch[i].cells);
        ar_free(l->scratch[i].labels);
    }
    ar_free(l->scratch);
    ar_free(l->tiles);
    ar_free(l->segments);
    ar_free(l->nodes);
    pthread_mutex_destroy(&l->lock);
    ar_free(l);
}

static arras_status prepare(ar_labelling *l, arras_error *err)
{
    arras_status status = ar_label_plan(l, err);

    if (status != ARRAS_OK)
        return status;
    l->tiles = ar_alloc((size_t)l->grid.total, sizeof *l->tiles);
    l->segments = ar_alloc((size_t)l->grid.segments, sizeof *l->segments);
    l->scratch = ar_alloc((size_t)l->threads, sizeof *l->scratch);
    if (!l->tiles || !l->segments || !l->scratch)
        return ar_fail_memory(err, (size_t)l->grid.total * sizeof *l->tiles);
    status = make_graph(l, err);
    return status == ARRAS_OK ? ar_pool_shared(&l->pool, l->threads, err) : status;
}

arras_status ar_labelling_start(ar_labelling **out, const ar_label_request *request,
                                arras_error *err)
{
    ar_labelling *l = ar_alloc(1, sizeof *l);
    arras_status  status;

    if (!l)
        return ar_fail_memory(err, sizeof *l);
    l->request = *request;
    pthread_mutex_init(&l->lock, NULL);
    status = prepare(l, err);
    if (status == ARRAS_OK)
        status = ar_taskgraph_start(l->graph, l->pool, err);
    if (status == ARRAS_OK)
        *out = l;
    else
        ar_labelling_free(l);
    return status;
}

arras_status ar_labelling_wait(int64_t *count, ar_labelling *l, arras_error *err)
{
    arras_status status = ar_taskgraph_wait(l->graph, err);

    if (status == ARRAS_OK && count)
        *count = l->count;
    return status;
}

void ar_labelling_cancel(ar_labelling *l) { ar_taskgraph_cancel(l->graph, ARRAS_ECANCEL); }

double ar_labelling_progress(const ar_labelling *l) { return ar_taskgraph_progress(l->graph); }
