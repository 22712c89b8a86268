/* device_check.c -- whether the edges of a graph keep its memory safe: every use between the
 * memalloc and the memfree node, nothing written that is touched at the same time. */
#include "run/device_graph.h"

#include <stdlib.h>
#include <string.h>

/* ---- Paths ---------------------------------------------------------------------------------- */

static uint64_t *row_of(const ar_device_order *order, int node)
{
    return order->before + (size_t)node * order->words;
}

bool ar_device_path(const ar_device_order *order, int from, int to)
{
    return row_of(order, to)[from / 64] >> from % 64 & 1;
}

static void follow_edge(ar_device_order *order, int before, int after)
{
    uint64_t *to = row_of(order, after), *from = row_of(order, before);

    for (size_t w = 0; w < order->words; w++)
        to[w] |= from[w];
    to[before / 64] |= UINT64_C(1) << before % 64;
}

/* Edges by the level that they lead to: when one is followed, all that lead to its start have
 * been. */
static void sort_edges(int *sorted, int *starts, const ar_taskgraph *tasks)
{
    int before, after, sum = 0;

    for (int e = 0; e < ar_taskgraph_edges(tasks); e++) {
        ar_taskgraph_edge(&before, &after, tasks, e);
        starts[ar_taskgraph_level(tasks, after)]++;
    }
    for (int level = 0; level < ar_taskgraph_count(tasks); level++) {
        int count = starts[level];

        starts[level] = sum;
        sum += count;
    }
    for (int e = 0; e < ar_taskgraph_edges(tasks); e++) {
        ar_taskgraph_edge(&before, &after, tasks, e);
        sorted[starts[ar_taskgraph_level(tasks, after)]++] = e;
    }
}

static arras_status follow_edges(ar_device_order *order, const ar_taskgraph *tasks,
                                 arras_error *err)
{
    size_t nedges = (size_t)ar_taskgraph_edges(tasks), ntasks = (size_t)ar_taskgraph_count(tasks);
    int   *sorted = ar_alloc(nedges + ntasks, sizeof *sorted);
    int    before, after;

    if (!sorted)
        return ar_fail_memory(err, (nedges + ntasks) * sizeof *sorted);
    sort_edges(sorted, sorted + nedges, tasks);
    for (size_t e = 0; e < nedges; e++) {
        ar_taskgraph_edge(&before, &after, tasks, sorted[e]);
        follow_edge(order, before, after);
    }
    ar_free(sorted);
    return ARRAS_OK;
}

arras_status ar_device_order_make(ar_device_order *out, const ar_device_nodes *all,
                                  const ar_taskgraph *tasks, arras_error *err)
{
    size_t          n = (size_t)all->nnodes;
    ar_device_order order = { .words = (n + 63) / 64 };
    arras_status    status;

    order.before = ar_alloc(n * order.words, sizeof *order.before);
    order.accesses = ar_alloc((size_t)all->nargs, sizeof *order.accesses);
    status = order.before && order.accesses ? follow_edges(&order, tasks, err)
                                            : ar_fail_memory(err, n * order.words * 8);
    if (status) {
        ar_device_order_free(&order);
        return status;
    }
    *out = order;
    return ARRAS_OK;
}

void ar_device_order_free(ar_device_order *order)
{
    ar_free(order->before);
    ar_free(order->accesses);
}

/* ---- Lifetimes ------------------------------------------------------------------------------ */

static arras_status check_lifetime(const ar_device_order *order, const ar_device_nodes *all,
                                   int node, int memory, arras_error *err)
{
    int  end = all->nodes[memory].partner;
    char name[AR_NODE_LABEL];

    if (!ar_device_path(order, memory, node))
        return ar_fail(err, ARRAS_EINVAL,
                       "%s uses memory of memalloc node %d but does not wait for it: add an edge "
                       "from %d to %d",
                       ar_device_node_name(name, all, node), memory, memory, node);
    if (end >= 0 && end != node && !ar_device_path(order, node, end))
        return ar_fail(err, ARRAS_EINVAL,
                       "%s uses memory of memalloc node %d, and memfree node %d does not wait for "
                       "it: add an edge from %d to %d",
                       ar_device_node_name(name, all, node), memory, end, node, end);
    return ARRAS_OK;
}

static arras_status check_lifetimes(const ar_device_order *order, const ar_device_nodes *all,
                                    const arras_arg *args, arras_error *err)
{
    arras_status status = ARRAS_OK;

    for (int n = 0; n < all->nnodes && !status; n++) {
        const ar_device_node *node = &all->nodes[n];

        if (node->kind == AR_NODE_MEMFREE)
            status = check_lifetime(order, all, n, node->partner, err);
        for (int i = 0; i < node->nargs && !status; i++) {
            int memory = args[node->first_arg + i].place.node;

            if (!args[node->first_arg + i].place.block && memory >= 0)
                status = check_lifetime(order, all, n, memory, err);
        }
    }
    return status;
}

/* ---- Hazards -------------------------------------------------------------------------------- */

static bool is_access(const arras_arg *arg)
{
    return arg->kind != ARRAS_ARG_VALUE && arg->bytes > 0;
}

static ar_device_access access_of(const arras_arg *arg, int node, int i)
{
    ar_device_access access = { .node = node, .lo = arg->place.offset, .space = arg->place.node };

    access.writes = arg->kind == ARRAS_ARG_WRITE || arg->kind == ARRAS_ARG_READ_WRITE;
    if (arg->kind == ARRAS_ARG_HOST) {
        access.space = AR_SPACE_HOST;
        access.lo = (int64_t)(uintptr_t)arg->host;
        access.writes = i == ARRAS_COPY_TO;
    } else if (arg->place.block) {
        access.space = AR_SPACE_BLOCK;
        access.block = (uintptr_t)arg->place.block;
    }
    access.hi = access.lo + arg->bytes;
    return access;
}

static int by_place(const void *a, const void *b)
{
    const ar_device_access *x = a, *y = b;

    if (x->space != y->space)
        return x->space < y->space ? -1 : 1;
    if (x->block != y->block)
        return x->block < y->block ? -1 : 1;
    if (x->lo != y->lo)
        return x->lo < y->lo ? -1 : 1;
    return x->node - y->node;
}

static size_t collect(ar_device_access *accesses, const ar_device_nodes *all, const arras_arg *args)
{
    size_t count = 0;

    for (int n = 0; n < all->nnodes; n++)
        for (int i = 0; i < all->nodes[n].nargs; i++) {
            const arras_arg *arg = &args[all->nodes[n].first_arg + i];

            if (is_access(arg))
                accesses[count++] = access_of(arg, n, i);
        }
    return count;
}

/* x lies before y, or starts at the same byte. */
static bool overlap(const ar_device_access *x, const ar_device_access *y)
{
    return x->space == y->space && x->block == y->block && y->lo < x->hi;
}

static bool clash(const ar_device_order *order, const ar_device_access *x,
                  const ar_device_access *y)
{
    return (x->writes || y->writes) && x->node != y->node &&
           !ar_device_path(order, x->node, y->node) && !ar_device_path(order, y->node, x->node);
}

static const char *space_name(const ar_device_access *x)
{
    switch (x->space) {
    case AR_SPACE_HOST: return "the same memory of the host";
    case AR_SPACE_BLOCK: return "the same bytes of a block";
    default: return "the same bytes of a memalloc node";
    }
}

static arras_status fail_clash(const ar_device_nodes *all, const ar_device_access *x,
                               const ar_device_access *y, arras_error *err)
{
    const ar_device_access *first = x->node < y->node ? x : y, *second = first == x ? y : x;
    char                    a[AR_NODE_LABEL], b[AR_NODE_LABEL];

    return ar_fail(err, ARRAS_EINVAL,
                   "%s and %s touch %s with no order between them, and node %d writes: add an edge",
                   ar_device_node_name(a, all, first->node),
                   ar_device_node_name(b, all, second->node), space_name(x),
                   first->writes ? first->node : second->node);
}

/* A copy from and to the same bytes. */
static arras_status check_self(const ar_device_nodes *all, const ar_device_access *x,
                               const ar_device_access *y, arras_error *err)
{
    char name[AR_NODE_LABEL];

    if (x->node != y->node || all->nodes[x->node].kind != AR_NODE_COPY)
        return ARRAS_OK;
    return ar_fail(err, ARRAS_EINVAL, "%s copies %" PRId64 " bytes over a part of themselves",
                   ar_device_node_name(name, all, x->node), all->nodes[x->node].bytes);
}

/* The message must not depend on addresses: of all pairs that clash, the one of lowest nodes. */
static bool is_lower(const ar_device_access *const *pair, const ar_device_access *x,
                     const ar_device_access *y)
{
    int low = x->node < y->node ? x->node : y->node, high = x->node + y->node - low;
    int old_low, old_high;

    if (!pair[0])
        return true;
    old_low = pair[0]->node < pair[1]->node ? pair[0]->node : pair[1]->node;
    old_high = pair[0]->node + pair[1]->node - old_low;
    return low != old_low ? low < old_low : high < old_high;
}

static arras_status check_hazards(ar_device_order *order, const ar_device_nodes *all,
                                  const arras_arg *args, arras_error *err)
{
    ar_device_access       *accesses = order->accesses;
    size_t                  count = collect(accesses, all, args);
    const ar_device_access *worst[2] = { NULL, NULL };
    arras_status            status = ARRAS_OK;

    qsort(accesses, count, sizeof *accesses, by_place);
    for (size_t i = 0; i < count && !status; i++)
        for (size_t j = i + 1; j < count && !status && overlap(&accesses[i], &accesses[j]); j++) {
            status = check_self(all, &accesses[i], &accesses[j], err);
            if (clash(order, &accesses[i], &accesses[j]) &&
                is_lower(worst, &accesses[i], &accesses[j])) {
                worst[0] = &accesses[i];
                worst[1] = &accesses[j];
            }
        }
    return worst[0] && !status ? fail_clash(all, worst[0], worst[1], err) : status;
}

arras_status ar_device_check(ar_device_order *order, const ar_device_nodes *all,
                             const arras_arg *args, arras_error *err)
{
    arras_status status = check_lifetimes(order, all, args, err);

    return status ? status : check_hazards(order, all, args, err);
}
