/* device_graph.c -- graphs of work for a device, while they are built: nodes, arguments, edges. */
#include "device/device.h"

#include <limits.h>
#include <stdio.h>
#include <string.h>

arras_status ar_device_graph_new(arras_taskgraph **out, arras_device *device, arras_error *err)
{
    arras_taskgraph *graph = ar_alloc(1, sizeof *graph);

    if (!graph)
        return ar_fail_memory(err, sizeof *graph);
    ar_device_keep(device);
    graph->all.device = device;
    *out = graph;
    return ARRAS_OK;
}

void ar_device_graph_free(arras_taskgraph *graph)
{
    for (int i = 0; i < graph->all.nnodes; i++)
        ar_kernel_drop(graph->all.nodes[i].kernel);
    for (int i = 0; i < graph->all.nargs; i++)
        ar_block_drop(graph->all.args[i].place.block);
    ar_arena_free(&graph->all.arena);
    ar_free(graph->all.nodes);
    ar_free(graph->all.args);
    ar_free(graph->edges);
    ar_device_drop(graph->all.device);
    ar_free(graph);
}

/* ---- Names ----------------------------------------------------------------------------------- */

static const char *kind_name(const ar_device_node *node)
{
    switch (node->kind) {
    case AR_NODE_MEMALLOC: return "memalloc";
    case AR_NODE_MEMFREE: return "memfree";
    case AR_NODE_KERNEL: return node->kernel->name;
    case AR_NODE_COPY_IN: return "copy in";
    case AR_NODE_COPY_OUT: return "copy out";
    case AR_NODE_COPY: return "copy";
    case AR_NODE_JOIN: break;
    }
    return "join";
}

const char *ar_device_node_name(char *label, const ar_device_nodes *all, int node)
{
    snprintf(label, AR_NODE_LABEL, "node %d (%.60s)", node, kind_name(&all->nodes[node]));
    return label;
}

/* ---- Arguments ------------------------------------------------------------------------------- */

/* What is being checked, for messages: argument `i` of `node`, which may not be in the graph yet.
 */
typedef struct {
    const ar_device_nodes *all;
    const ar_device_node  *node;
    int                    i;
} position;

static arras_status wrong(const position *p, arras_error *err, arras_status code,
                          const char *format, ...) AR_PRINTF(4, 5);

static arras_status wrong(const position *p, arras_error *err, arras_status code,
                          const char *format, ...)
{
    char    what[256];
    va_list list;

    va_start(list, format);
    vsnprintf(what, sizeof what, format, list);
    va_end(list);
    if (p->node->kind == AR_NODE_KERNEL)
        return ar_fail(err, code, "argument %d of kernel %.60s %s", p->i, p->node->kernel->name,
                       what);
    return ar_fail(err, code, "the %s of a %s %s", p->i == ARRAS_COPY_TO ? "target" : "source",
                   kind_name(p->node), what);
}

static arras_status find_memory(int64_t *size, const position *p, const arras_place *place,
                                arras_error *err)
{
    const ar_device_nodes *all = p->all;

    if (place->block) {
        if (place->block->device != all->device)
            return wrong(p, err, ARRAS_EINVAL, "is a block of another device");
        *size = place->block->bytes;
        return ARRAS_OK;
    }
    if (place->node < 0 || place->node >= all->nnodes ||
        all->nodes[place->node].kind != AR_NODE_MEMALLOC)
        return wrong(p, err, ARRAS_EINVAL, "is memory of node %d, which is no memalloc node",
                     place->node);
    *size = all->nodes[place->node].bytes;
    return ARRAS_OK;
}

static arras_status check_memory(arras_arg *arg, const position *p, arras_error *err)
{
    int64_t      size = 0, offset = arg->place.offset;
    arras_status status = find_memory(&size, p, &arg->place, err);

    if (status)
        return status;
    if (offset < 0 || offset > size)
        return wrong(p, err, ARRAS_EINDEX,
                     "starts at byte %" PRId64 " of memory of %" PRId64 " bytes", offset, size);
    if (arg->bytes < 0 || arg->bytes > size - offset)
        return wrong(p, err, ARRAS_EINDEX,
                     "is %" PRId64 " bytes from byte %" PRId64 " on, in memory of %" PRId64
                     " bytes",
                     arg->bytes, offset, size);
    if (arg->bytes == 0 && p->node->kind == AR_NODE_KERNEL)
        arg->bytes = size - offset;
    return ARRAS_OK;
}

static arras_status check_host(arras_arg *arg, const position *p, arras_error *err)
{
    int64_t end;

    if (!arg->host && arg->bytes > 0)
        return wrong(p, err, ARRAS_EINVAL, "is NULL");
    if ((uintptr_t)arg->host > INT64_MAX ||
        !ar_add64(&end, (int64_t)(uintptr_t)arg->host, arg->bytes))
        return wrong(p, err, ARRAS_EINVAL, "reaches beyond the end of memory");
    return ARRAS_OK;
}

static arras_status check_value(const arras_arg *arg, const position *p, arras_error *err)
{
    if (!arg->host)
        return wrong(p, err, ARRAS_EINVAL, "is a value at NULL");
    if (arg->bytes < 1 || arg->bytes > ARRAS_MAX_ARG_VALUE)
        return wrong(p, err, ARRAS_ELIMIT, "is a value of %" PRId64 " bytes: give 1 to %d",
                     arg->bytes, ARRAS_MAX_ARG_VALUE);
    return ARRAS_OK;
}

/* Copies go from what is read to what is written, with the host on one side at most. */
static bool fits_copy(arras_arg_kind kind, const position *p)
{
    bool target = p->i == ARRAS_COPY_TO;

    if (p->node->kind == (target ? AR_NODE_COPY_OUT : AR_NODE_COPY_IN))
        return kind == ARRAS_ARG_HOST;
    return kind == (target ? ARRAS_ARG_WRITE : ARRAS_ARG_READ);
}

static bool fits_kernel(arras_arg_kind kind)
{
    return kind == ARRAS_ARG_READ || kind == ARRAS_ARG_WRITE || kind == ARRAS_ARG_READ_WRITE ||
           kind == ARRAS_ARG_VALUE;
}

arras_status ar_device_arg_check(arras_arg *arg, const ar_device_nodes *all,
                                 const ar_device_node *node, int i, arras_error *err)
{
    position p = { all, node, i };
    bool     of_kernel = node->kind == AR_NODE_KERNEL;

    if (of_kernel ? !fits_kernel(arg->kind) : !fits_copy(arg->kind, &p))
        return wrong(&p, err, ARRAS_EINVAL, "cannot be of kind %d", (int)arg->kind);
    if (!of_kernel)
        arg->bytes = node->bytes;
    if (arg->kind == ARRAS_ARG_HOST || arg->kind == ARRAS_ARG_VALUE)
        arg->place = (arras_place){ .node = -1 };
    if (arg->kind == ARRAS_ARG_HOST)
        return check_host(arg, &p, err);
    if (arg->kind == ARRAS_ARG_VALUE)
        return check_value(arg, &p, err);
    arg->host = NULL;
    return check_memory(arg, &p, err);
}

bool ar_device_arg_same(const arras_arg *a, const arras_arg *b)
{
    return a->place.block == b->place.block && a->place.node == b->place.node &&
           a->place.offset == b->place.offset && a->bytes == b->bytes && a->host == b->host;
}

/* ---- Edges ----------------------------------------------------------------------------------- */

static bool is_node(const arras_taskgraph *graph, int node)
{
    return node >= 0 && node < graph->all.nnodes;
}

static arras_status add_edge(arras_taskgraph *graph, int before, int after, arras_error *err)
{
    if (graph->nedges == INT_MAX)
        return ar_fail(err, ARRAS_ELIMIT, "a task graph of more than %d edges", INT_MAX);
    if (!ar_grow(&graph->edges, &graph->edges_capacity, (size_t)graph->nedges,
                 sizeof *graph->edges))
        return ar_fail_memory(err, (size_t)graph->nedges * sizeof *graph->edges);
    graph->edges[graph->nedges++] = (ar_device_edge){ before, after };
    return ARRAS_OK;
}

arras_status ar_device_graph_order(arras_taskgraph *graph, int before, int after, arras_error *err)
{
    if (!is_node(graph, before) || !is_node(graph, after))
        return ar_fail(err, ARRAS_EINVAL, "an edge from node %d to node %d in a graph of %d nodes",
                       before, after, graph->all.nnodes);
    return add_edge(graph, before, after, err);
}

static arras_status add_edges(arras_taskgraph *graph, int n, const int *after, arras_error *err)
{
    arras_status status = ARRAS_OK;

    for (int i = 0; i < n && !status; i++) {
        if (!is_node(graph, after[i]))
            return ar_fail(err, ARRAS_EINVAL,
                           "node %d is to wait for node %d, which is not there: add that one first",
                           graph->all.nnodes, after[i]);
        status = add_edge(graph, after[i], graph->all.nnodes, err);
    }
    return status;
}

/* ---- Nodes ----------------------------------------------------------------------------------- */

static arras_status check_memfree(const ar_device_nodes *all, int memory, arras_error *err)
{
    if (memory < 0 || memory >= all->nnodes || all->nodes[memory].kind != AR_NODE_MEMALLOC)
        return ar_fail(err, ARRAS_EINVAL, "memfree of node %d, which is no memalloc node", memory);
    if (all->nodes[memory].partner >= 0)
        return ar_fail(err, ARRAS_EINVAL, "memory of node %d is freed twice: by node %d already",
                       memory, all->nodes[memory].partner);
    return ARRAS_OK;
}

static arras_status check_kernel(const ar_device_nodes *all, const ar_device_node *node, int nargs,
                                 arras_error *err)
{
    const char *name = node->kernel->name;

    if (node->kernel->device != all->device)
        return ar_fail(err, ARRAS_EINVAL, "kernel %.60s is of another device", name);
    if (nargs > ARRAS_MAX_KERNEL_ARGS)
        return ar_fail(err, ARRAS_ELIMIT, "kernel %.60s has %d arguments, more than %d", name,
                       nargs, ARRAS_MAX_KERNEL_ARGS);
    if (node->items < 0 || node->items > INT64_MAX / 4)
        return ar_fail(err, ARRAS_EINVAL, "kernel %.60s has %" PRId64 " items: give 0 to %" PRId64,
                       name, node->items, INT64_MAX / 4);
    if (node->grain < 0 || node->grain > INT64_MAX / 4)
        return ar_fail(err, ARRAS_EINVAL,
                       "kernel %.60s has a grain of %" PRId64 " items: give 0 to %" PRId64, name,
                       node->grain, INT64_MAX / 4);
    return ARRAS_OK;
}

static arras_status check_node(const ar_device_nodes *all, const ar_device_node *node, int nargs,
                               arras_error *err)
{
    if (all->nnodes == ARRAS_MAX_TASKGRAPH_NODES)
        return ar_fail(err, ARRAS_ELIMIT, "a task graph of more than %d nodes",
                       ARRAS_MAX_TASKGRAPH_NODES);
    switch (node->kind) {
    case AR_NODE_MEMFREE: return check_memfree(all, node->partner, err);
    case AR_NODE_KERNEL: return check_kernel(all, node, nargs, err);
    case AR_NODE_MEMALLOC:
        if (node->bytes < 1)
            return ar_fail(err, ARRAS_EINVAL, "memalloc of %" PRId64 " bytes: give at least 1",
                           node->bytes);
        return ARRAS_OK;
    case AR_NODE_JOIN: return ARRAS_OK;
    default: break;
    }
    if (node->bytes < 0)
        return ar_fail(err, ARRAS_EINVAL, "a %s of %" PRId64 " bytes", kind_name(node),
                       node->bytes);
    return ARRAS_OK;
}

/* Behind the arguments of the graph, which know nothing of them yet. */
static arras_status put_args(arras_taskgraph *graph, const ar_device_node *node, int nargs,
                             const arras_arg *args, arras_error *err)
{
    arras_status status = ARRAS_OK;

    for (int i = 0; i < nargs && !status; i++) {
        size_t     at = (size_t)(graph->all.nargs + i);
        arras_arg *arg;

        if (!ar_grow(&graph->all.args, &graph->args_capacity, at, sizeof *arg))
            return ar_fail_memory(err, at * sizeof *arg);
        arg = &graph->all.args[at];
        *arg = args[i];
        status = ar_device_arg_check(arg, &graph->all, node, i, err);
        if (status || arg->kind != ARRAS_ARG_VALUE)
            continue;
        arg->host = ar_arena_copy(&graph->all.arena, args[i].host, (size_t)arg->bytes, 1);
        if (!arg->host)
            return ar_fail_memory(err, (size_t)arg->bytes);
    }
    return status;
}

/* From here on nothing can fail. */
static int put_node(arras_taskgraph *graph, ar_device_node node, int nargs)
{
    ar_device_nodes *all = &graph->all;
    int              number = all->nnodes++;

    node.first_arg = all->nargs;
    node.nargs = nargs;
    node.grain = ar_max64(node.grain, 1);
    all->nodes[number] = node;
    if (node.kind == AR_NODE_MEMFREE)
        all->nodes[node.partner].partner = number;
    ar_kernel_keep(node.kernel);
    for (int i = 0; i < nargs; i++)
        ar_block_keep(all->args[all->nargs + i].place.block);
    all->nargs += nargs;
    return number;
}

arras_status ar_device_graph_add(int *out, arras_taskgraph *graph, int n, const int *after,
                                 ar_device_node node, int nargs, const arras_arg *args,
                                 arras_error *err)
{
    int          nedges = graph->nedges, number;
    arras_status status = check_node(&graph->all, &node, nargs, err);

    if (!status)
        status = put_args(graph, &node, nargs, args, err);
    if (status)
        return status;
    if (!ar_grow(&graph->all.nodes, &graph->nodes_capacity, (size_t)graph->all.nnodes, sizeof node))
        return ar_fail_memory(err, (size_t)graph->all.nnodes * sizeof node);
    status = add_edges(graph, n, after, err);
    if (status) {
        graph->nedges = nedges;
        return status;
    }
    number = put_node(graph, node, nargs);
    if (out)
        *out = number;
    return ARRAS_OK;
}
