/* relax.c -- first weights for the bound: the parts that queries have in the cost at the best
 * real-valued edges of the paper's model.
 *
 * In y = log(edge) that cost is a sum of exponentials of convex functions, so its log is convex,
 * and its minimum under sum(y) <= log(cells) and bounds for each y is found by projected gradients.
 * There the bound of these weights is the cost itself. */
#include <math.h>
#include <string.h>

#include "chunk/search.h"

typedef struct relaxation {
    const ar_search *search;
    double           total; /* log(cells) */
    double           low[ARRAS_MAX_RANK], high[ARRAS_MAX_RANK];
} relaxation;

static double clamp(double x, double low, double high) { return fmax(low, fmin(high, x)); }

/* The nearest point whose sum is `total`, or less where the bounds are less. */
static void project(const relaxation *r, double *y)
{
    int    rank = r->search->rank;
    double down = -100, up = 100;

    for (int step = 0; step < 50; step++) {
        double shift = (down + up) / 2, sum = 0;

        for (int i = 0; i < rank; i++)
            sum += clamp(y[i] + shift, r->low[i], r->high[i]);
        if (sum > r->total)
            up = shift;
        else
            down = shift;
    }
    for (int i = 0; i < rank; i++)
        y[i] = clamp(y[i] + down, r->low[i], r->high[i]);
}

/* How many chunks a query meets along an axis, and how fast the log of it falls with y. */
static double axis_cost(const ar_search *s, int axis, int64_t query, double y, double *slope)
{
    const ar_range_set *set = &s->problem->workload->axes[axis];
    int64_t             range = set->shares[s->classes[query * s->rank + axis]].range;
    double              extra = (double)(range - 1) * exp(-y);

    *slope = extra / (1 + extra);
    return 1 + extra;
}

/* The log of the cost, its gradient, and the parts of the queries. */
static double measure(const relaxation *r, const double *y, double *gradient, double *parts)
{
    const ar_search *s = r->search;
    double           sum = 0;

    memset(gradient, 0, (size_t)s->rank * sizeof *gradient);
    for (int64_t q = 0; q < s->queries; q++) {
        double slopes[ARRAS_MAX_RANK];

        parts[q] = s->shares[q];
        for (int i = 0; i < s->rank; i++)
            parts[q] *= axis_cost(s, i, q, y[i], &slopes[i]);
        for (int i = 0; i < s->rank; i++)
            gradient[i] -= parts[q] * slopes[i];
        sum += parts[q];
    }
    for (int64_t q = 0; q < s->queries; q++)
        parts[q] /= sum;
    for (int i = 0; i < s->rank; i++)
        gradient[i] /= sum;
    return log(sum);
}

static void set_bounds(relaxation *r)
{
    const ar_search *s = r->search;

    r->total = log((double)s->cells);
    for (int i = 0; i < s->rank; i++) {
        r->low[i] = log((double)ar_chunk_edge_above(s->problem, i, 1));
        r->high[i] = log((double)s->axes[i].most);
    }
}

void ar_search_relax(ar_search *s)
{
    relaxation r = { .search = s };
    double     y[ARRAS_MAX_RANK] = { 0 }, next[ARRAS_MAX_RANK], gradient[ARRAS_MAX_RANK];
    double    *parts = s->products, step = 1;

    set_bounds(&r);
    project(&r, y);
    double cost = measure(&r, y, gradient, s->weights);
    for (int turn = 0; turn < 200 && step > 1e-6; turn++) {
        double ahead[ARRAS_MAX_RANK];

        for (int i = 0; i < s->rank; i++)
            next[i] = y[i] - step * gradient[i];
        project(&r, next);
        double other = measure(&r, next, ahead, parts);
        if (other >= cost) {
            step /= 2;
            continue;
        }
        memcpy(y, next, sizeof y);
        memcpy(gradient, ahead, sizeof gradient);
        memcpy(s->weights, parts, (size_t)s->queries * sizeof *parts);
        step *= cost - other > 1e-9 ? 1.5 : 0.1; /* or it is near enough */
        cost = other;
    }
}
