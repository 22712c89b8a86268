/* problem.c -- what edges a chunk may have, and whether a problem can be solved at all. */
#include "chunk/chunk.h"

int64_t ar_chunk_edge_below(const ar_chunk_problem *p, int axis, int64_t most)
{
    int64_t extent = p->extent[axis];

    if (p->fixed[axis])
        return p->fixed[axis] <= most ? p->fixed[axis] : 0;
    if (extent && most > extent)
        most = extent;
    if (most <= 0)
        return 0;
    if (!p->powers_of_two)
        return most - most % p->multiple[axis];
    most = INT64_C(1) << (63 - __builtin_clzll((unsigned long long)most));
    return most % p->multiple[axis] ? 0 : most;
}

int64_t ar_chunk_edge_above(const ar_chunk_problem *p, int axis, int64_t least)
{
    int64_t step = p->multiple[axis], edge;

    if (p->fixed[axis])
        return p->fixed[axis] >= least ? p->fixed[axis] : 0;
    edge = ar_max64(least, 1);
    edge += edge % step ? step - edge % step : 0;
    if (p->powers_of_two)
        for (least = edge, edge = 1; edge < least || edge % step;)
            edge *= 2;
    return p->extent[axis] && edge > p->extent[axis] ? 0 : edge;
}

static arras_status check_axis(const ar_chunk_problem *p, int i, arras_error *err)
{
    int64_t extent = p->extent[i], fixed = p->fixed[i], step = p->multiple[i];

    if (extent < 0 || (extent == 0 && p->model == ARRAS_CHUNKS_EXACT))
        return ar_fail(err, ARRAS_ESHAPE,
                       "axis %d of the array has length %" PRId64
                       "; only arrays with cells can be cut into chunks",
                       i, extent);
    if (extent > INT64_MAX / 4)
        return ar_fail(err, ARRAS_ELIMIT, "axis %d of the array has length %" PRId64 ", above 2^61",
                       i, extent);
    if (fixed < 0 || (extent && fixed > extent))
        return ar_fail(err, ARRAS_EINVAL,
                       "the edge along axis %d is fixed to %" PRId64 "; the array has %" PRId64
                       " cells there",
                       i, fixed, extent);
    if (step < 1 || (extent && step > extent) || (fixed && fixed % step))
        return ar_fail(err, ARRAS_EINVAL,
                       "the edge along axis %d cannot be a multiple of %" PRId64
                       ": the array has %" PRId64 " cells there%s",
                       i, step, extent, fixed ? ", and the edge is fixed" : "");
    if (p->powers_of_two && !fixed && (step & (step - 1)))
        return ar_fail(err, ARRAS_EINVAL,
                       "the edge along axis %d cannot be a power of two and a multiple of %" PRId64,
                       i, step);
    return ARRAS_OK;
}

static arras_status check_ranges(const ar_chunk_problem *p, int i, arras_error *err)
{
    const ar_range_set *set = &p->workload->axes[i];
    int64_t             longest = set->shares[set->count - 1].range;

    if (p->extent[i] && longest > p->extent[i] && p->model == ARRAS_CHUNKS_EXACT)
        return ar_fail(err, ARRAS_ESHAPE,
                       "a query is %" PRId64 " cells long along axis %d; the array has %" PRId64,
                       longest, i, p->extent[i]);
    if (longest > INT64_MAX / 4)
        return ar_fail(err, ARRAS_ELIMIT,
                       "a query is %" PRId64 " cells long along axis %d, above 2^61", longest, i);
    return ARRAS_OK;
}

arras_status ar_chunk_problem_check(const ar_chunk_problem *p, arras_error *err)
{
    arras_status status = ARRAS_OK;
    int64_t      least = 1;

    if (p->cells < 1)
        return ar_fail(err, ARRAS_EINVAL,
                       "a chunk may have %" PRId64 " cells; raise the limit to at least one cell",
                       p->cells);
    for (int i = 0; i < p->workload->rank && status == ARRAS_OK; i++) {
        status = check_axis(p, i, err);
        if (status == ARRAS_OK)
            status = check_ranges(p, i, err);
        if (status == ARRAS_OK &&
            (!ar_mul64(&least, least, ar_chunk_edge_above(p, i, 1)) || least > p->cells))
            status = ar_fail(err, ARRAS_EINVAL,
                             "fixed edges and multiples need more than the %" PRId64
                             " cells that the limit allows, at axis %d; raise the limit or free an "
                             "edge",
                             p->cells, i);
    }
    return status;
}
