/* pool_graph.c -- task graphs before they run: building, checking, instantiating; traces. */
#include "pool/pool_state.h"

#include <limits.h>

/* Half: counters of parts run over by less than that. */
static const int64_t max_parts = INT64_MAX / 2;

/* ---- Building -------------------------------------------------------------------------------- */

arras_status ar_taskgraph_new(ar_taskgraph **out, arras_error *err)
{
    ar_taskgraph *graph = ar_alloc(1, sizeof *graph);

    if (!graph)
        return ar_fail_memory(err, sizeof *graph);
    *out = graph;
    return ARRAS_OK;
}

static arras_status check_building(const ar_taskgraph *graph, arras_error *err)
{
    if (graph->ready)
        return ar_fail(err, ARRAS_EINVAL,
                       "a task graph of %zu tasks is instantiated already: nothing can be added",
                       graph->ntasks);
    return ARRAS_OK;
}

static arras_status check_parts(int64_t parts, size_t task, arras_error *err)
{
    if (parts < 0 || parts > max_parts)
        return ar_fail(err, ARRAS_EINVAL, "task %zu has %" PRId64 " parts: give 0 to %" PRId64,
                       task, parts, max_parts);
    return ARRAS_OK;
}

arras_status ar_taskgraph_add(int *out, ar_taskgraph *graph, ar_task task, arras_error *err)
{
    arras_status status = check_building(graph, err);

    if (!status)
        status = check_parts(task.parts, graph->ntasks, err);
    if (status)
        return status;
    if (!task.function && task.parts > 0)
        return ar_fail(err, ARRAS_EINVAL, "task %zu has parts but no function", graph->ntasks);
    if (graph->ntasks == INT_MAX)
        return ar_fail(err, ARRAS_ELIMIT, "a task graph of more than %d tasks", INT_MAX);
    if (!ar_grow(&graph->tasks, &graph->tasks_capacity, graph->ntasks, sizeof *graph->tasks))
        return ar_fail_memory(err, graph->ntasks * sizeof *graph->tasks);
    *out = (int)graph->ntasks;
    graph->tasks[graph->ntasks++] = task;
    return ARRAS_OK;
}

static bool is_task(const ar_taskgraph *graph, int task)
{
    return task >= 0 && (size_t)task < graph->ntasks;
}

arras_status ar_taskgraph_order(ar_taskgraph *graph, int before, int after, arras_error *err)
{
    arras_status status = check_building(graph, err);

    if (status)
        return status;
    if (!is_task(graph, before) || !is_task(graph, after))
        return ar_fail(err, ARRAS_EINVAL, "an edge from task %d to task %d in a graph of %zu tasks",
                       before, after, graph->ntasks);
    if (graph->nedges == INT_MAX)
        return ar_fail(err, ARRAS_ELIMIT, "a task graph of more than %d edges", INT_MAX);
    if (!ar_grow(&graph->edges, &graph->edges_capacity, graph->nedges, sizeof *graph->edges))
        return ar_fail_memory(err, graph->nedges * sizeof *graph->edges);
    graph->edges[graph->nedges++] = (ar_edge){ before, after };
    return ARRAS_OK;
}

/* ---- Instantiating --------------------------------------------------------------------------- */

static void free_instance(ar_taskgraph *graph)
{
    ar_free(graph->nodes_block);
    ar_free(graph->loops_block);
    ar_free(graph->queue);
    ar_free(graph->order);
    ar_free(graph->successors);
    ar_free(graph->source_loops);
    ar_free(graph->level_width);
    graph->nodes_block = graph->loops_block = graph->queue = NULL;
    graph->order = graph->successors = graph->source_loops = NULL;
    graph->level_width = NULL;
}

static arras_status alloc_instance(ar_taskgraph *graph, arras_error *err)
{
    size_t n = graph->ntasks;

    graph->nodes = ar_lines_alloc(&graph->nodes_block, n, sizeof *graph->nodes);
    graph->loops = ar_lines_alloc(&graph->loops_block, n, sizeof *graph->loops);
    graph->queue = ar_alloc(n, sizeof *graph->queue);
    graph->order = ar_alloc(n, sizeof *graph->order);
    graph->source_loops = ar_alloc(n, sizeof *graph->source_loops);
    graph->level_width = ar_alloc(n, sizeof *graph->level_width);
    graph->successors = ar_alloc(graph->nedges, sizeof *graph->successors);
    if (graph->nodes && graph->loops && graph->queue && graph->order && graph->source_loops &&
        graph->level_width && graph->successors)
        return ARRAS_OK;
    return ar_fail_memory(err, n * (sizeof *graph->nodes + sizeof *graph->loops));
}

static void link_nodes(ar_taskgraph *graph)
{
    int *successors = graph->successors;

    for (size_t i = 0; i < graph->ntasks; i++) {
        graph->nodes[i].function = graph->tasks[i].function;
        graph->nodes[i].context = graph->tasks[i].context;
        graph->nodes[i].parts = graph->tasks[i].parts;
    }
    for (size_t e = 0; e < graph->nedges; e++) {
        graph->nodes[graph->edges[e].before].nsuccessors++;
        graph->nodes[graph->edges[e].after].npredecessors++;
    }
    for (size_t i = 0; i < graph->ntasks; i++) {
        graph->nodes[i].successors = successors;
        successors += graph->nodes[i].nsuccessors;
        graph->nodes[i].nsuccessors = 0;
        atomic_init(&graph->nodes[i].pending, graph->nodes[i].npredecessors);
    }
    for (size_t e = 0; e < graph->nedges; e++) {
        ar_node  *node = &graph->nodes[graph->edges[e].before];
        ptrdiff_t place = node->successors - graph->successors + node->nsuccessors++;

        graph->successors[place] = graph->edges[e].after;
    }
}

/* Kahn's algorithm, level by level.  Returns how many tasks could be ordered. */
static size_t order_tasks(ar_taskgraph *graph)
{
    size_t count = 0;
    int   *pending = graph->source_loops; /* not in use yet */

    for (size_t i = 0; i < graph->ntasks; i++) {
        pending[i] = graph->nodes[i].npredecessors;
        if (pending[i] == 0)
            graph->order[count++] = (int)i;
    }
    graph->nsources = (int)count;
    for (size_t at = 0; at < count; at++) {
        const ar_node *node = &graph->nodes[graph->order[at]];

        for (int s = 0; s < node->nsuccessors; s++) {
            int task = node->successors[s];

            if (--pending[task] == 0) {
                graph->nodes[task].level = node->level + 1;
                graph->order[count++] = task;
            }
        }
    }
    return count;
}

/* Every task that could not be ordered has a predecessor of that kind: going back from one to the
 * next ends in a circle. */
static arras_status fail_circle(ar_taskgraph *graph, arras_error *err)
{
    enum { SHOWN = 8 };
    const int *pending = graph->source_loops; /* as order_tasks() left it */
    int       *before = graph->order;
    int        task = 0, length = 0;
    ar_text    text = { 0 };

    for (size_t e = 0; e < graph->nedges; e++)
        if (pending[graph->edges[e].before] > 0 && pending[graph->edges[e].after] > 0)
            before[task = graph->edges[e].after] = graph->edges[e].before;
    for (size_t step = 0; step < graph->ntasks; step++)
        task = before[task];
    for (int at = task; length == 0 || at != task; at = before[at], length++)
        if (length < SHOWN)
            ar_text_printf(&text, "%d after ", at);
    ar_fail(err, ARRAS_EINVAL, "%d tasks of a graph wait for each other in a circle: %s%s%d",
            length, text.data ? text.data : "", length > SHOWN ? "... after " : "", task);
    ar_text_free(&text);
    return ARRAS_EINVAL;
}

arras_status ar_taskgraph_instantiate(ar_taskgraph *graph, arras_error *err)
{
    arras_status status = check_building(graph, err);

    if (status)
        return status;
    status = alloc_instance(graph, err);
    if (!status) {
        link_nodes(graph);
        if (order_tasks(graph) < graph->ntasks)
            status = fail_circle(graph, err);
    }
    if (status) {
        free_instance(graph);
        return status;
    }
    for (int i = 0; i < graph->nsources; i++)
        atomic_init(&graph->queue[i], (uint64_t)graph->order[i]);
    graph->ready = graph->resized = true;
    return ARRAS_OK;
}

void ar_taskgraph_measure(ar_taskgraph *graph)
{
    if (!graph->resized)
        return;
    graph->resized = graph->parallel = graph->brief = false;
    graph->nsource_loops = 0;
    for (size_t i = 0; i < graph->ntasks; i++)
        graph->level_width[i] = 0;
    for (size_t i = 0; i < graph->ntasks; i++) {
        int            task = graph->order[i];
        const ar_node *node = &graph->nodes[task];

        /* When every level has one task, each task waits for the one before it. */
        if (node->parts > 1 || ++graph->level_width[node->level] > 1)
            graph->parallel = true;
        if (node->parts > 1 && node->npredecessors == 0)
            graph->source_loops[graph->nsource_loops++] = task;
    }
}

void ar_taskgraph_free(ar_taskgraph *graph)
{
    if (!graph)
        return;
    ar_taskgraph_cancel(graph, ARRAS_EINVAL);
    ar_taskgraph_wait(graph, NULL); /* refused unless started */
    free_instance(graph);
    ar_free(graph->tasks);
    ar_free(graph->edges);
    ar_free(graph);
}

/* ---- Between runs ---------------------------------------------------------------------------- */

arras_status ar_taskgraph_resize(ar_taskgraph *graph, int task, int64_t parts, arras_error *err)
{
    arras_status status;

    if (!is_task(graph, task))
        return ar_fail(err, ARRAS_EINVAL, "task %d in a graph of %zu tasks", task, graph->ntasks);
    status = check_parts(parts, (size_t)task, err);
    if (status)
        return status;
    if (!graph->tasks[task].function && parts > 0)
        return ar_fail(err, ARRAS_EINVAL, "task %d is given parts but has no function", task);
    graph->tasks[task].parts = parts;
    if (graph->ready)
        graph->nodes[task].parts = parts;
    graph->resized = true;
    return ARRAS_OK;
}

void ar_taskgraph_trace(ar_taskgraph *graph, ar_trace *trace) { graph->trace = trace; }

int ar_taskgraph_count(const ar_taskgraph *graph) { return (int)graph->ntasks; }

const ar_task *ar_taskgraph_task(const ar_taskgraph *graph, int task)
{
    return &graph->tasks[task];
}

int ar_taskgraph_edges(const ar_taskgraph *graph) { return (int)graph->nedges; }

void ar_taskgraph_edge(int *before, int *after, const ar_taskgraph *graph, int edge)
{
    *before = graph->edges[edge].before;
    *after = graph->edges[edge].after;
}

int ar_taskgraph_level(const ar_taskgraph *graph, int task)
{
    return graph->ready ? graph->nodes[task].level : 0;
}

/* ---- Traces ---------------------------------------------------------------------------------- */

arras_status ar_trace_new(ar_trace **out, int64_t capacity, arras_error *err)
{
    ar_trace *trace;

    if (capacity < 0)
        return ar_fail(err, ARRAS_EINVAL, "a trace of %" PRId64 " records", capacity);
    trace = ar_alloc(1, sizeof *trace);
    if (!trace)
        return ar_fail_memory(err, sizeof *trace);
    trace->records = ar_alloc((size_t)capacity, sizeof *trace->records);
    if (!trace->records) {
        ar_free(trace);
        return ar_fail(err, ARRAS_ENOMEM, "out of memory: no room for %" PRId64 " trace records",
                       capacity);
    }
    trace->capacity = capacity;
    *out = trace;
    return ARRAS_OK;
}

int64_t ar_trace_count(const ar_trace *trace)
{
    return ar_min64(atomic_load_explicit(&trace->count, memory_order_relaxed), trace->capacity);
}

int64_t ar_trace_lost(const ar_trace *trace)
{
    return atomic_load_explicit(&trace->count, memory_order_relaxed) - ar_trace_count(trace);
}

const ar_trace_record *ar_trace_at(const ar_trace *trace, int64_t i) { return &trace->records[i]; }

void ar_trace_clear(ar_trace *trace)
{
    atomic_store_explicit(&trace->count, 0, memory_order_relaxed);
}

void ar_trace_free(ar_trace *trace)
{
    if (!trace)
        return;
    ar_free(trace->records);
    ar_free(trace);
}
