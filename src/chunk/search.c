/* search.c -- the least cost of all shapes: good weights for the bound, then branch and bound, axis
 * by axis.  When its effort is spent, what was left out says how far off the result may be. */
#include "chunk/search.h"

#include <math.h>
#include <string.h>

#define GOOD_BOUND 0.005 /* from here on searching is faster than better weights */
#define NEAR 1e-11       /* costs this near, relatively, are compared exactly */

/* ---- First shapes and weights ---------------------------------------------------------------- */

/* The columns of a shape that the tables advise. */
static void descend_columns(const ar_search *s, int64_t *chunk, int64_t *columns)
{
    int64_t left = s->cells;

    for (int i = 0; i < s->rank; i++) {
        const ar_search_axis *a = &s->axes[i];
        double                least = INFINITY;
        int64_t               rest = left;

        for (ar_edge_walk walk = ar_edge_walk_of(left); ar_edge_walk_next(&walk, s, i);) {
            double sum = a->along[walk.column] +
                         (i + 1 < s->rank ? a[1].rest[ar_search_column(s, walk.rest)] : 0);

            if (sum <= least) {
                least = sum;
                chunk[i] = walk.edge;
                columns[i] = walk.column;
                rest = walk.rest;
            }
        }
        left = rest;
    }
}

double ar_search_descend(ar_search *s, int64_t *chunk)
{
    int64_t columns[ARRAS_MAX_RANK];
    double  sum = 0;

    descend_columns(s, chunk, columns);
    for (int64_t q = 0; q < s->queries; q++) {
        double product = s->shares[q];

        for (int i = 0; i < s->rank; i++)
            product *= s->axes[i].costs[s->classes[q * s->rank + i] * s->quotients + columns[i]];
        s->products[q] = product;
        sum += product;
    }
    return sum;
}

/* The bound is concave in the weights; where it is highest they are the parts that queries have in
 * the cost.  A step goes towards these parts, in logs. */
static void move_weights(ar_search *s, double cost, double step)
{
    double total = 0;

    for (int64_t q = 0; q < s->queries; q++) {
        s->weights[q] = pow(s->weights[q], 1 - step) * pow(s->products[q] / cost, step);
        total += s->weights[q];
    }
    for (int64_t q = 0; q < s->queries; q++)
        s->weights[q] /= total;
}

static void keep_if_better(ar_search *s, const int64_t *chunk, double cost)
{
    if (cost >= s->cost)
        return;
    s->cost = cost;
    memcpy(s->best, chunk, sizeof s->best);
}

void ar_search_ascend(ar_search *s)
{
    double  highest = -INFINITY;
    double *keep = s->products + s->queries; /* room that is free until the search */
    size_t  bytes = (size_t)s->queries * sizeof *keep;
    int     steps = s->queries == 1 ? 1 : 16;

    s->cost = INFINITY;
    if (s->queries > 1)
        ar_search_relax(s);
    for (int step = 0; step < steps; step++) {
        int64_t chunk[ARRAS_MAX_RANK] = { 0 };

        ar_search_bound(s, false);
        double bound = ar_search_bound_at(s, s->cells), cost = ar_search_descend(s, chunk);
        keep_if_better(s, chunk, cost);
        if (bound > highest) {
            highest = bound;
            memcpy(keep, s->weights, bytes);
        }
        if (highest >= log(s->cost) - GOOD_BOUND)
            break;
        move_weights(s, cost, 0.3 / (1 + 0.5 * step));
    }
    memcpy(s->weights, keep, bytes);
    ar_search_bound(s, false);
}

/* ---- Branch and bound ------------------------------------------------------------------------ */

static void look_at_shape(ar_search *s, double cost)
{
    int64_t chunk[ARRAS_MAX_RANK] = { 0 };
    int     order;

    memcpy(chunk, s->edges, (size_t)s->rank * sizeof *chunk);
    ar_search_shrink(s, chunk);
    s->examined += 10; /* it is not cheap */
    order = ar_search_compare(s, chunk, cost);
    if (order < 0 || (order == 0 && ar_search_prefers(s, chunk, s->best))) {
        memcpy(s->best, chunk, sizeof chunk);
        s->cost = fmin(s->cost, cost);
    }
}

double ar_search_extend(ar_search *s, int axis, const ar_edge_walk *walk)
{
    const double *from = s->products + axis * s->queries;
    double       *to = s->products + (axis + 1) * s->queries, sum = 0;
    int64_t       column = ar_search_column(s, walk->rest);

    for (int64_t q = 0; q < s->queries; q++) {
        const int32_t *classes = s->classes + q * s->rank;
        double product = from[q] * s->axes[axis].costs[classes[axis] * s->quotients + walk->column];

        to[q] = product;
        for (int i = axis + 1; i < s->rank; i++)
            product *= s->axes[i].costs[classes[i] * s->quotients + column];
        sum += product;
    }
    s->examined += s->queries;
    return sum;
}

double ar_search_rest(const ar_search *s, int axis, const ar_edge_walk *walk)
{
    const ar_search_axis *a = &s->axes[axis];

    return a->along[walk->column] +
           (axis + 1 < s->rank ? a[1].rest[ar_search_column(s, walk->rest)] : 0);
}

bool ar_search_is_twice(const ar_search *s, int axis, int64_t edge)
{
    int twin = s->axes[axis].twin;

    return twin >= 0 && edge < s->edges[twin];
}

/* `logs`: the weighted logs of the costs along the axes before, with the offset. */
static void search_axis(ar_search *s, int axis, int64_t left, double logs)
{
    for (ar_edge_walk walk = ar_edge_walk_at(s, axis, left); ar_edge_walk_next(&walk, s, axis);) {
        double bound = logs + ar_search_rest(s, axis, &walk);

        s->examined++;
        if (bound > log(s->cost) + NEAR || ar_search_is_twice(s, axis, walk.edge))
            continue;
        if (s->examined > s->effort) {
            s->open = fmin(s->open, bound);
            continue;
        }
        s->edges[axis] = walk.edge;
        double sum = ar_search_extend(s, axis, &walk);
        if (sum > s->cost * (1 + NEAR))
            continue;
        if (axis + 1 == s->rank)
            look_at_shape(s, sum);
        else
            search_axis(s, axis + 1, walk.rest, logs + s->axes[axis].along[walk.column]);
    }
}

void ar_search_run(ar_search *s)
{
    memcpy(s->products, s->shares, (size_t)s->queries * sizeof *s->products);
    ar_search_shrink(s, s->best);
    search_axis(s, 0, s->cells, s->offset);
}
