/* device_check.c -- whether the edges of a graph keep its memory safe: every use between the
 * memalloc and the memfree node, nothing written that is touched at the same time. */
#include "device/device.h"

#include <stdlib.h>
#include <string.h>

/* ---- Paths ----------------------------------------------------------------------------------- */

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

/* ---- Lifetimes ------------------------------------------------------------------------------- */

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

/* Whether argument i is to be looked at: one that was safe and has not changed still is. */
static bool is_new(const arras_arg *args, const arras_arg *old, int i)
{
    return !old || !ar_device_arg_same(&args[i], &old[i]);
}

static arras_status check_lifetimes(const ar_device_order *order, const ar_device_nodes *all,
                                    const arras_arg *args, const arras_arg *old, arras_error *err)
{
    arras_status status = ARRAS_OK;

    for (int n = 0; n < all->nnodes && !status; n++) {
        const ar_device_node *node = &all->nodes[n];

        if (node->kind == AR_NODE_MEMFREE)
            status = check_lifetime(order, all, n, node->partner, err);
        for (int i = node->first_arg; i < node->first_arg + node->nargs && !status; i++)
            if (!args[i].place.block && args[i].place.node >= 0 && is_new(args, old, i))
                status = check_lifetime(order, all, n, args[i].place.node, err);
    }
    return status;
}

/* ---- Hazards --------------------------------------------------------------------------------- */

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

/* Those that are new come first; *fresh is their number. */
static size_t collect(ar_device_access *accesses, size_t *fresh, const ar_device_nodes *all,
                      const arras_arg *args, const arras_arg *old)
{
    size_t count = 0;

    *fresh = 0;
    for (int n = 0; n < all->nnodes; n++)
        for (int i = 0; i < all->nodes[n].nargs; i++) {
            int              at = all->nodes[n].first_arg + i;
            ar_device_access access = access_of(&args[at], n, i);

            if (!is_access(&args[at]))
                continue;
            accesses[count++] = access;
            if (!is_new(args, old, at))
                continue;
            accesses[count - 1] = accesses[*fresh];
            accesses[(*fresh)++] = access;
        }
    return count;
}

static bool overlap(const ar_device_access *x, const ar_device_access *y)
{
    return x->space == y->space && x->block == y->block && x->lo < y->hi && y->lo < x->hi;
}

/* A kernel may read what it writes; how is its own business.  A copy may not. */
static bool clash(const ar_device_order *order, const ar_device_nodes *all,
                  const ar_device_access *x, const ar_device_access *y)
{
    if (x->node == y->node)
        return x->writes != y->writes && all->nodes[x->node].kind == AR_NODE_COPY;
    return (x->writes || y->writes) && !ar_device_path(order, x->node, y->node) &&
           !ar_device_path(order, y->node, x->node);
}

static const char *space_name(const ar_device_access *x)
{
    switch (x->space) {
    case AR_SPACE_HOST: return "the same memory of the host";
    case AR_SPACE_BLOCK: return "the same bytes of a block";
    default: return "the same bytes of a memalloc node";
    }
}

static arras_status fail_clash(const ar_device_nodes *all, const ar_device_access *first,
                               const ar_device_access *second, arras_error *err)
{
    char a[AR_NODE_LABEL], b[AR_NODE_LABEL];

    if (first->node == second->node)
        return ar_fail(err, ARRAS_EINVAL, "%s copies %" PRId64 " bytes over a part of themselves",
                       ar_device_node_name(a, all, first->node), all->nodes[first->node].bytes);
    return ar_fail(err, ARRAS_EINVAL,
                   "%s and %s touch %s with no order between them, and node %d writes: add an edge",
                   ar_device_node_name(a, all, first->node),
                   ar_device_node_name(b, all, second->node), space_name(first),
                   first->writes ? first->node : second->node);
}

/* The pair that clashes and has the lowest nodes: a message must not depend on addresses, by which
 * accesses are sorted. */
typedef struct {
    const ar_device_order  *order;
    const ar_device_nodes  *all;
    const ar_device_access *first, *second; /* NULL: none yet */
} hazard;

static void look_at(hazard *h, const ar_device_access *x, const ar_device_access *y)
{
    const ar_device_access *first = x->node < y->node ? x : y, *second = first == x ? y : x;

    if (!overlap(x, y) || !clash(h->order, h->all, x, y))
        return;
    if (h->first && (h->first->node < first->node ||
                     (h->first->node == first->node && h->second->node <= second->node)))
        return;
    h->first = first;
    h->second = second;
}

/* After sorting, what overlaps an access follows it, up to the first that starts behind its end. */
static void look_at_all(hazard *h, ar_device_access *accesses, size_t count)
{
    qsort(accesses, count, sizeof *accesses, by_place);
    for (size_t i = 0; i < count; i++)
        for (size_t j = i + 1; j < count && overlap(&accesses[i], &accesses[j]); j++)
            look_at(h, &accesses[i], &accesses[j]);
}

static void look_at_new(hazard *h, const ar_device_access *accesses, size_t fresh, size_t count)
{
    for (size_t i = 0; i < fresh; i++)
        for (size_t j = i + 1; j < count; j++)
            look_at(h, &accesses[i], &accesses[j]);
}

/* How many new accesses are compared with all others before it is worth while to sort. */
enum { FEW = 16 };

arras_status ar_device_check(ar_device_order *order, const ar_device_nodes *all,
                             const arras_arg *args, const arras_arg *old, arras_error *err)
{
    hazard       h = { .order = order, .all = all };
    arras_status status = check_lifetimes(order, all, args, old, err);
    size_t       fresh, count;

    if (status)
        return status;
    count = collect(order->accesses, &fresh, all, args, old);
    if (fresh <= FEW)
        look_at_new(&h, order->accesses, fresh, count);
    else
        look_at_all(&h, order->accesses, count);
    return h.first ? fail_clash(all, h.first, h.second, err) : ARRAS_OK;
}
