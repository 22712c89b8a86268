/* search_tables.c -- the tables of the search: floor quotients, edges, costs, and the bound made of
 * them by dynamic programming.
 *
 * The bound.  A workload's cost is the sum over queries of share * product of costs along the axes.
 * For weights w that add up to 1 the mean inequality says: sum of t >= product of (t / w)^w.  The
 * right side is a product over axes, so its minimum over all edges comes from a table, like that of
 * independent ranges, for which the two sides are the same. */
#include "chunk/search.h"

#include <math.h>
#include <string.h>

static void fill_quotients(ar_search *s)
{
    int64_t at = 0;

    for (int64_t v = 1; v <= s->root; v++)
        s->values[at++] = v;
    for (int64_t j = s->cells / (s->root + 1); j >= 1; j--)
        s->values[at++] = s->cells / j;
}

static int64_t square_root(int64_t n)
{
    int64_t root = (int64_t)sqrt((double)n);

    while (root * root > n)
        root--;
    while ((root + 1) * (root + 1) <= n)
        root++;
    return root;
}

/* No more cells than the largest edges make. */
static arras_status set_cells(ar_search *s, arras_error *err)
{
    int64_t all = 1;

    s->cells = s->problem->cells;
    for (int i = 0; i < s->rank; i++) {
        s->axes[i].most = ar_chunk_edge_below(s->problem, i, s->problem->cells);
        if (!ar_mul64(&all, all, s->axes[i].most))
            all = INT64_MAX;
    }
    s->cells = ar_min64(s->cells, all);
    if (s->cells > INT64_C(1) << 32)
        return ar_fail(err, ARRAS_ELIMIT,
                       "chunks of %" PRId64
                       " cells; shapes are searched up to 4294967296 cells, so "
                       "set a lower limit",
                       s->cells);
    s->root = square_root(s->cells);
    s->quotients = s->root + s->cells / (s->root + 1);
    return ARRAS_OK;
}

/* ---- Axes ------------------------------------------------------------------------------------ */

static double share_cost(const ar_search *s, int axis, int64_t range, int64_t edge)
{
    return ar_chunk_range_value(
        ar_chunk_range_cost(s->problem->model, s->problem->extent[axis], range, edge));
}

/* Independent ranges are one class; otherwise each range is. */
static double class_cost(const ar_search *s, int axis, int64_t class, int64_t edge)
{
    const ar_range_set *set = &s->problem->workload->axes[axis];
    double              sum = 0;

    if (!s->problem->workload->independent)
        return share_cost(s, axis, set->shares[class].range, edge);
    for (int64_t i = 0; i < set->count; i++)
        sum += (double)set->shares[i].weight * share_cost(s, axis, set->shares[i].range, edge);
    return sum / (double)set->total;
}

static void fill_costs(ar_search *s, int axis, int64_t class)
{
    ar_search_axis *a = &s->axes[axis];
    double         *costs = a->costs + class * s->quotients, *logs = a->logs + class * s->quotients;

    for (int64_t v = 0; v < s->quotients; v++) {
        bool same = v > 0 && a->edges[v] == a->edges[v - 1];

        costs[v] = same              ? costs[v - 1]
                   : a->edges[v] > 0 ? class_cost(s, axis, class, a->edges[v])
                                     : INFINITY;
        logs[v] = same ? logs[v - 1] : log(costs[v]);
    }
}

/* A larger edge that makes no query cheaper is no candidate: the smaller one leaves more. */
static void drop_useless_edges(ar_search *s, int axis)
{
    ar_search_axis *a = &s->axes[axis];

    for (int64_t v = 1; v < s->quotients; v++) {
        bool same = a->edges[v - 1] > 0 && a->edges[v] != a->edges[v - 1];

        for (int64_t class = 0; class < a->classes && same; class ++)
            same = a->costs[class * s->quotients + v] == a->costs[class * s->quotients + v - 1];
        if (same && ar_search_costs_same(s, axis, a->edges[v - 1], a->edges[v]))
            a->edges[v] = a->edges[v - 1];
    }
    a->most = a->edges[s->quotients - 1];
}

static void fill_axis(ar_search *s, int axis)
{
    ar_search_axis *a = &s->axes[axis];

    for (int64_t v = 0; v < s->quotients; v++)
        a->edges[v] = ar_chunk_edge_below(s->problem, axis, s->values[v]);
    for (int64_t class = 0; class < a->classes; class ++)
        fill_costs(s, axis, class);
    drop_useless_edges(s, axis);
}

static arras_status open_axis(ar_search *s, int axis, arras_error *err)
{
    const arras_workload *w = s->problem->workload;
    ar_search_axis       *a = &s->axes[axis];
    size_t                columns = (size_t)s->quotients;

    a->classes = w->independent ? 1 : w->axes[axis].count;
    a->edges = ar_alloc(columns, sizeof *a->edges);
    a->costs = ar_alloc((size_t)a->classes, columns * sizeof *a->costs);
    a->logs = ar_alloc((size_t)a->classes, columns * sizeof *a->logs);
    a->parts = ar_alloc((size_t)a->classes, sizeof *a->parts);
    a->along = ar_alloc(columns, sizeof *a->along);
    a->rest = ar_alloc(columns, sizeof *a->rest);
    if (!a->edges || !a->costs || !a->logs || !a->parts || !a->along || !a->rest)
        return ar_fail_memory(err, (size_t)a->classes * columns * sizeof *a->costs);
    fill_axis(s, axis);
    return ARRAS_OK;
}

/* ---- Queries --------------------------------------------------------------------------------- */

static int32_t find_class(const ar_range_set *set, int64_t range)
{
    int64_t low = 0, high = set->count - 1;

    while (low < high) {
        int64_t middle = (low + high) / 2;

        if (set->shares[middle].range < range)
            low = middle + 1;
        else
            high = middle;
    }
    return (int32_t)low;
}

static arras_status open_queries(ar_search *s, arras_error *err)
{
    const arras_workload *w = s->problem->workload;
    size_t                n;

    s->queries = w->independent ? 1 : w->count;
    n = (size_t)s->queries;
    s->classes = ar_alloc(n, (size_t)s->rank * sizeof *s->classes);
    s->shares = ar_alloc(n, sizeof *s->shares);
    s->weights = ar_alloc(n, sizeof *s->weights);
    s->products = ar_alloc(n, ((size_t)s->rank + 1) * sizeof *s->products);
    if (!s->classes || !s->shares || !s->weights || !s->products)
        return ar_fail_memory(err, n * (size_t)s->rank * sizeof *s->products);
    s->shares[0] = 1;
    for (int64_t q = 0; q < w->count && !w->independent; q++) {
        s->shares[q] = (double)w->weights[q] / (double)w->total;
        for (int i = 0; i < s->rank; i++)
            s->classes[q * s->rank + i] = find_class(&w->axes[i], w->shapes[q * s->rank + i]);
    }
    memcpy(s->weights, s->shares, n * sizeof *s->weights);
    return ARRAS_OK;
}

/* Two axes that every query treats alike: one order of their edges is as good as the other. */
static bool are_twins(const ar_search *s, int i, int j)
{
    const ar_chunk_problem *p = s->problem;
    const ar_range_set     *a = &p->workload->axes[i], *b = &p->workload->axes[j];

    if (p->extent[i] != p->extent[j] || p->fixed[i] != p->fixed[j] ||
        p->multiple[i] != p->multiple[j] || a->count != b->count || a->total != b->total ||
        memcmp(a->shares, b->shares, (size_t)a->count * sizeof *a->shares) != 0)
        return false;
    for (int64_t q = 0; q < s->queries; q++)
        if (s->classes[q * s->rank + i] != s->classes[q * s->rank + j])
            return false;
    return true;
}

static void find_twins(ar_search *s)
{
    for (int i = 0; i < s->rank; i++) {
        s->axes[i].twin = -1;
        for (int j = 0; j < i; j++)
            if (are_twins(s, i, j))
                s->axes[i].twin = j;
    }
}

arras_status ar_search_open(ar_search *s, const ar_chunk_problem *p, arras_error *err)
{
    arras_status status;

    *s = (ar_search){ .problem = p, .rank = p->workload->rank, .open = INFINITY };
    status = set_cells(s, err);
    if (status != ARRAS_OK)
        return status;
    s->values = ar_alloc((size_t)s->quotients, sizeof *s->values);
    if (!s->values)
        status = ar_fail_memory(err, (size_t)s->quotients * sizeof *s->values);
    else
        fill_quotients(s);
    for (int i = 0; i < s->rank && status == ARRAS_OK; i++)
        status = open_axis(s, i, err);
    if (status == ARRAS_OK)
        status = open_queries(s, err);
    if (status != ARRAS_OK) {
        ar_search_close(s);
        return status;
    }
    find_twins(s);
    ar_search_set_grain(s);
    return ARRAS_OK;
}

void ar_search_close(ar_search *s)
{
    for (int i = 0; i < s->rank; i++) {
        ar_free(s->axes[i].edges);
        ar_free(s->axes[i].costs);
        ar_free(s->axes[i].logs);
        ar_free(s->axes[i].parts);
        ar_free(s->axes[i].along);
        ar_free(s->axes[i].rest);
    }
    ar_free(s->values);
    ar_free(s->classes);
    ar_free(s->shares);
    ar_free(s->weights);
    ar_free(s->products);
}

/* ---- The bound ------------------------------------------------------------------------------- */

static void fill_along(ar_search *s, int axis)
{
    ar_search_axis *a = &s->axes[axis];

    memset(a->parts, 0, (size_t)a->classes * sizeof *a->parts);
    for (int64_t q = 0; q < s->queries; q++)
        a->parts[s->classes[q * s->rank + axis]] += s->weights[q];
    memset(a->along, 0, (size_t)s->quotients * sizeof *a->along);
    for (int64_t class = 0; class < a->classes; class ++) {
        const double *logs = a->logs + class * s->quotients;

        for (int64_t v = 0; v < s->quotients && a->parts[class] > 0; v++)
            a->along[v] += a->parts[class] * logs[v];
    }
}

static double least_rest(const ar_search *s, int axis, int64_t left)
{
    const ar_search_axis *a = &s->axes[axis];
    double                least = INFINITY;

    if (axis == s->rank - 1)
        return a->along[ar_search_column(s, left)];
    for (ar_edge_walk walk = ar_edge_walk_of(left); ar_edge_walk_next(&walk, s, axis);) {
        double sum = a->along[walk.column] + a[1].rest[ar_search_column(s, walk.rest)];

        least = sum < least ? sum : least;
    }
    return least;
}

void ar_search_bound(ar_search *s, bool everywhere)
{
    s->offset = 0;
    for (int64_t q = 0; q < s->queries; q++)
        if (s->weights[q] > 0)
            s->offset += s->weights[q] * log(s->shares[q] / s->weights[q]);
    for (int i = s->rank - 1; i >= 0; i--) {
        fill_along(s, i);
        int64_t from = i == 0 && !everywhere ? s->quotients - 1 : 0;
        for (int64_t v = from; v < s->quotients; v++)
            s->axes[i].rest[v] = least_rest(s, i, s->values[v]);
    }
}

double ar_search_bound_at(const ar_search *s, int64_t cells)
{
    return s->offset + s->axes[0].rest[ar_search_column(s, cells)];
}
