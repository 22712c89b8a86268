/* shape_cost.c -- what a chunk shape costs: as a double, exactly, and for a log of queries. */
#include "chunk/chunk.h"

#include <math.h>

#include "chunk/big.h"

/* ---- As a double ----------------------------------------------------------------------------- */

static double axis_value(const ar_chunk_problem *p, int axis, int64_t edge)
{
    const ar_range_set *set = &p->workload->axes[axis];
    double              sum = 0;

    for (int64_t i = 0; i < set->count; i++)
        sum += (double)set->shares[i].weight *
               ar_chunk_range_value(
                   ar_chunk_range_cost(p->model, p->extent[axis], set->shares[i].range, edge));
    return sum / (double)set->total;
}

static double shape_value(const ar_chunk_problem *p, const int64_t *chunk, int64_t shape)
{
    const int64_t *ranges = p->workload->shapes + shape * p->workload->rank;
    double         product = 1;

    for (int i = 0; i < p->workload->rank; i++)
        product *=
            ar_chunk_range_value(ar_chunk_range_cost(p->model, p->extent[i], ranges[i], chunk[i]));
    return product;
}

double ar_chunk_value(const ar_chunk_problem *p, const int64_t *chunk, int64_t shape)
{
    const arras_workload *w = p->workload;
    double                value = w->independent ? 1 : 0;

    if (shape >= 0)
        return shape_value(p, chunk, shape);
    for (int i = 0; i < w->rank && w->independent; i++)
        value *= axis_value(p, i, chunk[i]);
    for (int64_t q = 0; q < w->count; q++)
        value += (double)w->weights[q] / (double)w->total * shape_value(p, chunk, q);
    return value;
}

/* ---- Exactly --------------------------------------------------------------------------------- */

/* A sum of weight * cost; number i of them is what `term` gives. */
typedef struct weighted_sum {
    const ar_chunk_problem *problem;
    const int64_t          *chunk;
    int                     axis;
    bool (*term)(ar_fraction *out, const struct weighted_sum *s, int64_t i);
} weighted_sum;

/* By halves: nearly all numbers that are added then stay short. */
static bool add_up(ar_fraction *out, const weighted_sum *s, int64_t from, int64_t to)
{
    int64_t     middle = from + (to - from) / 2;
    ar_fraction right;

    if (to - from == 1)
        return s->term(out, s, from);
    return add_up(out, s, from, middle) && add_up(&right, s, middle, to) &&
           ar_fraction_add(out, &right);
}

static bool weigh(ar_fraction *cost, int64_t weight, int64_t total)
{
    ar_fraction share;

    ar_fraction_set(&share, (ar_u128)weight, (ar_u128)total);
    return ar_fraction_multiply(cost, &share);
}

static void set_range_cost(ar_fraction *out, const ar_chunk_problem *p, int axis, int64_t range,
                           int64_t edge)
{
    ar_range_cost cost = ar_chunk_range_cost(p->model, p->extent[axis], range, edge);

    ar_fraction_set(out, cost.upper, (ar_u128)cost.lower);
}

static bool range_term(ar_fraction *out, const weighted_sum *s, int64_t i)
{
    const ar_range_set *set = &s->problem->workload->axes[s->axis];

    set_range_cost(out, s->problem, s->axis, set->shares[i].range, s->chunk[s->axis]);
    return weigh(out, set->shares[i].weight, set->total);
}

static bool shape_fraction(ar_fraction *out, const ar_chunk_problem *p, const int64_t *chunk,
                           int64_t shape)
{
    const int64_t *ranges = p->workload->shapes + shape * p->workload->rank;
    ar_fraction    cost;
    bool           fits = true;

    ar_fraction_set(out, 1, 1);
    for (int i = 0; i < p->workload->rank && fits; i++) {
        set_range_cost(&cost, p, i, ranges[i], chunk[i]);
        fits = ar_fraction_multiply(out, &cost);
    }
    return fits;
}

static bool shape_term(ar_fraction *out, const weighted_sum *s, int64_t i)
{
    const arras_workload *w = s->problem->workload;

    return shape_fraction(out, s->problem, s->chunk, i) && weigh(out, w->weights[i], w->total);
}

static bool independent_fraction(ar_fraction *out, const ar_chunk_problem *p, const int64_t *chunk)
{
    weighted_sum s = { p, chunk, 0, range_term };
    ar_fraction  axis;
    bool         fits = true;

    ar_fraction_set(out, 1, 1);
    for (; s.axis < p->workload->rank && fits; s.axis++)
        fits = add_up(&axis, &s, 0, p->workload->axes[s.axis].count) &&
               ar_fraction_multiply(out, &axis);
    return fits;
}

static bool joint_fraction(ar_fraction *out, const ar_chunk_problem *p, const int64_t *chunk)
{
    weighted_sum s = { p, chunk, 0, shape_term };

    return add_up(out, &s, 0, p->workload->count);
}

static bool cost_fraction(ar_fraction *out, const ar_chunk_problem *p, const int64_t *chunk,
                          int64_t shape)
{
    if (shape >= 0)
        return shape_fraction(out, p, chunk, shape);
    return p->workload->independent ? independent_fraction(out, p, chunk)
                                    : joint_fraction(out, p, chunk);
}

bool ar_chunk_exact(ar_text *out, const ar_chunk_problem *p, const int64_t *chunk, int64_t shape)
{
    ar_fraction cost;

    if (!cost_fraction(&cost, p, chunk, shape))
        return false;
    ar_fraction_print(out, &cost);
    return true;
}

int ar_chunk_compare(const ar_chunk_problem *p, const int64_t *a, const int64_t *b)
{
    ar_fraction x, y;

    if (cost_fraction(&x, p, a, -1) && cost_fraction(&y, p, b, -1))
        return ar_fraction_compare(&x, &y);
    double value = ar_chunk_value(p, a, -1), other = ar_chunk_value(p, b, -1);
    return (value > other) - (value < other);
}

/* ---- Chunks, bytes, logs --------------------------------------------------------------------- */

arras_status ar_chunk_check(int rank, const int64_t *chunk, arras_error *err)
{
    for (int i = 0; i < rank; i++)
        if (chunk[i] < 1)
            return ar_fail(err, ARRAS_EINVAL,
                           "the edge of a chunk along axis %d is %" PRId64 "; it has at least 1 "
                           "cell",
                           i, chunk[i]);
    return ARRAS_OK;
}

arras_status ar_chunk_bytes(int64_t *out, int rank, const int64_t *chunk, int64_t cell_bytes,
                            bool for_hdf5, arras_error *err)
{
    arras_status status = ar_chunk_check(rank, chunk, err);
    int64_t      cells = 1, bytes;
    bool         fits = true;

    if (status != ARRAS_OK)
        return status;
    for (int i = 0; i < rank && fits; i++)
        fits = ar_mul64(&cells, cells, chunk[i]);
    if (!fits || !ar_mul64(&bytes, cells, cell_bytes))
        return ar_fail(err, ARRAS_ELIMIT, "a chunk has more than 2^63 cells or bytes");
    if (for_hdf5 && (cells >> 32 || bytes >> 32))
        return ar_fail(err, ARRAS_ELIMIT,
                       "a chunk of %" PRId64 " cells and %" PRId64
                       " bytes is too large for HDF5: both stay below 4294967296",
                       cells, bytes);
    *out = bytes;
    return ARRAS_OK;
}

static bool query_chunks(int64_t *out, const arras_workload *w, int64_t query, const int64_t *chunk)
{
    bool fits = true;

    *out = 1;
    for (int i = 0; i < w->rank && fits; i++) {
        int64_t lo = w->lo[query * w->rank + i], hi = w->hi[query * w->rank + i];

        fits = ar_mul64(out, *out, (hi - 1) / chunk[i] - lo / chunk[i] + 1);
    }
    return fits;
}

arras_status ar_chunk_trace(int64_t *chunks, double *error, const arras_workload *w,
                            const int64_t *chunk, arras_error *err)
{
    arras_status status = ar_chunk_check(w->rank, chunk, err);
    int64_t      total = 0, n;
    double       mean = 0, squares = 0; /* Welford's */

    if (status == ARRAS_OK && w->queries == 0)
        status = ar_fail(err, ARRAS_EINVAL, "the workload has no log of queries");
    for (int64_t q = 0; q < w->queries && status == ARRAS_OK; q++) {
        if (!query_chunks(&n, w, q, chunk) || !ar_add64(&total, total, n)) {
            status = ar_fail(err, ARRAS_ELIMIT, "the logged queries read more than 2^63 chunks");
            break;
        }
        double off = (double)n - mean;
        mean += off / (double)(q + 1);
        squares += off * ((double)n - mean);
    }
    if (status != ARRAS_OK)
        return status;
    *chunks = total;
    *error = w->queries > 1 ? sqrt(squares / (double)(w->queries - 1) / (double)w->queries) : 0;
    return ARRAS_OK;
}
