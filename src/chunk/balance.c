/* balance.c -- among the shapes that cost hardly more than the least, the one whose worst query
 * costs least: a mean says nothing of how unequal its parts are. */
#include "chunk/search.h"

#include <math.h>
#include <string.h>

#define NEAR 1e-9 /* worst queries this near, relatively, are alike */

typedef struct balance {
    ar_search *search;
    double     most, worst; /* costs that are allowed; the best so far */
    int64_t   *chunk;
} balance;

/* The worst query when axes up to this one are chosen, all others as large as they alone could be.
 */
static double worst_query(const ar_search *s, int axis, int64_t rest)
{
    const double *products = s->products + (axis + 1) * s->queries;
    int64_t       column = ar_search_column(s, rest);
    double        worst = 0;

    for (int64_t q = 0; q < s->queries; q++) {
        double cost = products[q] / s->shares[q];

        for (int i = axis + 1; i < s->rank; i++)
            cost *= s->axes[i].costs[s->classes[q * s->rank + i] * s->quotients + column];
        worst = cost > worst ? cost : worst;
    }
    return worst;
}

static void look_at_shape(balance *b, double worst)
{
    const ar_search *s = b->search;
    int64_t          chunk[ARRAS_MAX_RANK] = { 0 };

    memcpy(chunk, s->edges, (size_t)s->rank * sizeof *chunk);
    ar_search_shrink(s, chunk);
    if (worst > b->worst * (1 - NEAR) && !ar_search_prefers(s, chunk, b->chunk))
        return;
    b->worst = fmin(worst, b->worst);
    memcpy(b->chunk, chunk, sizeof chunk);
}

static void search_axis(balance *b, int axis, int64_t left, double logs)
{
    ar_search *s = b->search;

    for (ar_edge_walk walk = ar_edge_walk_at(s, axis, left); ar_edge_walk_next(&walk, s, axis);) {
        s->examined++;
        if (s->examined > s->effort || logs + ar_search_rest(s, axis, &walk) > log(b->most) ||
            ar_search_is_twice(s, axis, walk.edge))
            continue;
        s->edges[axis] = walk.edge;
        if (ar_search_extend(s, axis, &walk) > b->most)
            continue;
        double worst = worst_query(s, axis, walk.rest);
        if (worst > b->worst * (1 + NEAR))
            continue;
        if (axis + 1 == s->rank)
            look_at_shape(b, worst);
        else
            search_axis(b, axis + 1, walk.rest, logs + s->axes[axis].along[walk.column]);
    }
}

void ar_search_balance(ar_search *s, double within, int64_t *chunk)
{
    balance b = { .search = s, .most = s->cost * (1 + within), .chunk = chunk };

    memcpy(chunk, s->best, sizeof s->best);
    for (int64_t q = 0; q < s->queries; q++)
        b.worst = fmax(
            b.worst, ar_chunk_value(s->problem, chunk, s->problem->workload->independent ? -1 : q));
    memcpy(s->products, s->shares, (size_t)s->queries * sizeof *s->products);
    search_axis(&b, 0, s->cells, s->offset);
}
