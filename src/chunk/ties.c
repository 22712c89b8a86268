/* ties.c -- shapes that cost the same: which of two costs less, exactly, and which is preferred. */
#include <math.h>

#include "chunk/search.h"

/* ---- Costs ----------------------------------------------------------------------------------- */

static double common_multiple(double a, int64_t b)
{
    double rest = (double)b, other = a;

    while (rest > 0) {
        double next = fmod(other, rest);

        other = rest;
        rest = next;
    }
    return a / other * (double)b; /* as long as it is below 2^53 nothing is rounded */
}

/* All costs are multiples of one fraction: with the lower numbers that places in the array give. */
static double common_lower(const ar_chunk_problem *p)
{
    const arras_workload *w = p->workload;
    double                all = 1;

    for (int i = 0; i < w->rank && w->independent && p->model == ARRAS_CHUNKS_EXACT; i++) {
        double axis = 1;

        for (int64_t r = 0; r < w->axes[i].count; r++)
            axis = common_multiple(axis, p->extent[i] - w->axes[i].shares[r].range + 1);
        all *= axis;
    }
    for (int64_t q = 0; q < w->count && p->model == ARRAS_CHUNKS_EXACT && all < 0x1p53; q++) {
        int64_t places = 1;

        for (int i = 0; i < w->rank; i++)
            if (!ar_mul64(&places, places, p->extent[i] - w->shapes[q * w->rank + i] + 1))
                return INFINITY;
        all = common_multiple(all, places);
    }
    return all;
}

void ar_search_set_grain(ar_search *s)
{
    const ar_chunk_problem *p = s->problem;
    double                  lower = common_lower(p);

    lower *= p->workload->independent ? 1 : (double)p->workload->total;
    for (int i = 0; i < s->rank && p->workload->independent; i++)
        lower *= (double)p->workload->axes[i].total;
    if (p->model == ARRAS_CHUNKS_PAPER)
        lower *= (double)s->cells * (double)s->cells;
    s->grain = lower < 0x1p53 ? 1 / lower : 0;
}

int ar_search_compare(const ar_search *s, const int64_t *chunk, double cost)
{
    double error = s->cost * (double)(4 * s->rank + 2 * s->queries + 8) * 0x1p-52;

    if (fabs(cost - s->cost) > error)
        return cost < s->cost ? -1 : 1;
    if (s->grain > 4 * error)
        return 0;
    return ar_chunk_compare(s->problem, chunk, s->best);
}

/* ---- Shapes ---------------------------------------------------------------------------------- */

bool ar_search_costs_same(const ar_search *s, int axis, int64_t edge, int64_t larger)
{
    const ar_chunk_problem *p = s->problem;
    const ar_range_set     *set = &p->workload->axes[axis];

    for (int64_t i = 0; i < set->count; i++) {
        int64_t       range = set->shares[i].range;
        ar_range_cost a = ar_chunk_range_cost(p->model, p->extent[axis], range, edge);
        ar_range_cost b = ar_chunk_range_cost(p->model, p->extent[axis], range, larger);

        if (p->model == ARRAS_CHUNKS_PAPER ? range > 1 && edge != larger : a.upper != b.upper)
            return false;
    }
    return true;
}

void ar_search_shrink(const ar_search *s, int64_t *chunk)
{
    for (int i = 0; i < s->rank; i++) {
        int64_t low = 1, high = chunk[i];

        while (low < high) { /* costs never grow with the edge */
            int64_t middle = low + (high - low) / 2;

            if (ar_search_costs_same(s, i, middle, chunk[i]))
                high = middle;
            else
                low = middle + 1;
        }
        chunk[i] = ar_chunk_edge_above(s->problem, i, low);
    }
}

static void measure(const ar_search *s, const int64_t *chunk, double *product, double *sum)
{
    *product = 1;
    *sum = 0;
    for (int i = 0; i < s->rank; i++) {
        *product *= (double)chunk[i]; /* at most 2^32 */
        *sum += (double)chunk[i];
    }
}

bool ar_search_prefers(const ar_search *s, const int64_t *a, const int64_t *b)
{
    double product, sum, other_product, other_sum;

    measure(s, a, &product, &sum);
    measure(s, b, &other_product, &other_sum);
    if (product != other_product)
        return product < other_product;
    if (s->cubes && sum != other_sum)
        return sum < other_sum;
    for (int i = 0; i < s->rank; i++)
        if (a[i] != b[i])
            return a[i] < b[i];
    return false;
}
