/* workload.c -- workloads: sorted rows of query shapes, and the lengths along each axis. */
#include "chunk/workload.h"

#include <stdlib.h>
#include <string.h>

arras_status ar_workload_new(arras_workload **out, int rank, arras_error *err)
{
    arras_workload *w;

    if (rank < 1 || rank > ARRAS_MAX_RANK)
        return ar_fail(err, ARRAS_EINVAL, "a workload of %d axes; there are 1 to %d", rank,
                       ARRAS_MAX_RANK);
    w = ar_alloc(1, sizeof *w);
    if (!w)
        return ar_fail_memory(err, sizeof *w);
    w->rank = rank;
    *out = w;
    return ARRAS_OK;
}

void ar_workload_free(arras_workload *w)
{
    if (!w)
        return;
    for (int i = 0; i < w->rank; i++)
        ar_free(w->axes[i].shares);
    ar_free(w->shapes);
    ar_free(w->weights);
    ar_free(w->lo);
    ar_free(w->hi);
    ar_free(w);
}

arras_status ar_workload_give(arras_workload **out, arras_workload *w, arras_status status)
{
    if (status == ARRAS_OK)
        *out = w;
    else
        ar_workload_free(w);
    return status;
}

/* ---- One axis -------------------------------------------------------------------------------- */

static int by_range(const void *a, const void *b)
{
    const ar_range_share *x = a, *y = b;

    return (x->range > y->range) - (x->range < y->range);
}

/* Equal lengths become one. */
static void merge_shares(ar_range_set *set)
{
    int64_t kept = 0;

    qsort(set->shares, (size_t)set->count, sizeof *set->shares, by_range);
    for (int64_t i = 0; i < set->count; i++) {
        if (kept > 0 && set->shares[kept - 1].range == set->shares[i].range)
            set->shares[kept - 1].weight += set->shares[i].weight;
        else
            set->shares[kept++] = set->shares[i];
    }
    set->count = kept;
}

arras_status ar_workload_set_axis(arras_workload *w, int axis, int64_t n, const int64_t *lengths,
                                  size_t stride, const int64_t *weights, arras_error *err)
{
    ar_range_set *set = &w->axes[axis];

    set->shares = ar_alloc((size_t)n, sizeof *set->shares);
    if (!set->shares)
        return ar_fail_memory(err, (size_t)n * sizeof *set->shares);
    for (int64_t i = 0; i < n; i++) {
        if (weights[i] == 0)
            continue;
        set->shares[set->count++] = (ar_range_share){ lengths[(size_t)i * stride], weights[i] };
        set->total += weights[i];
    }
    merge_shares(set);
    return ARRAS_OK;
}

/* ---- Shapes ---------------------------------------------------------------------------------- */

/* A row is [rank, lengths ..., weight]: it says itself how much of it is to be compared. */
static int by_lengths(const void *a, const void *b)
{
    const int64_t *x = a, *y = b;

    for (int64_t i = 1; i <= x[0]; i++)
        if (x[i] != y[i])
            return x[i] < y[i] ? -1 : 1;
    return 0;
}

static int64_t fill_rows(int64_t *rows, int64_t rank, int64_t n, const int64_t *shapes,
                         const int64_t *weights)
{
    int64_t kept = 0;

    for (int64_t i = 0; i < n; i++) {
        int64_t *row = rows + kept * (rank + 2);

        row[0] = rank;
        memcpy(row + 1, shapes + i * rank, (size_t)rank * sizeof *row);
        row[rank + 1] = weights[i];
        kept += weights[i] > 0;
    }
    qsort(rows, (size_t)kept, (size_t)(rank + 2) * sizeof *rows, by_lengths);
    return kept;
}

static void take_rows(arras_workload *w, const int64_t *rows, int64_t n)
{
    int64_t rank = w->rank;

    for (int64_t i = 0; i < n; i++) {
        const int64_t *row = rows + i * (rank + 2);

        if (i > 0 && by_lengths(row - (rank + 2), row) == 0) {
            w->weights[w->count - 1] += row[rank + 1];
        } else {
            memcpy(w->shapes + w->count * rank, row + 1, (size_t)rank * sizeof *row);
            w->weights[w->count++] = row[rank + 1];
        }
        w->total += row[rank + 1];
    }
}

static arras_status set_axes(arras_workload *w, arras_error *err)
{
    arras_status status = ARRAS_OK;

    for (int i = 0; i < w->rank && status == ARRAS_OK; i++)
        status =
            ar_workload_set_axis(w, i, w->count, w->shapes + i, (size_t)w->rank, w->weights, err);
    return status;
}

arras_status ar_workload_set_shapes(arras_workload *w, int64_t n, const int64_t *shapes,
                                    const int64_t *weights, arras_error *err)
{
    size_t   width = (size_t)w->rank + 2;
    int64_t *rows = ar_alloc((size_t)n, width * sizeof *rows);

    w->shapes = ar_alloc((size_t)n, (size_t)w->rank * sizeof *w->shapes);
    w->weights = ar_alloc((size_t)n, sizeof *w->weights);
    if (!rows || !w->shapes || !w->weights) {
        ar_free(rows);
        return ar_fail_memory(err, (size_t)n * width * sizeof *rows);
    }
    take_rows(w, rows, fill_rows(rows, w->rank, n, shapes, weights));
    ar_free(rows);
    return set_axes(w, err);
}

/* ---- One kind from the other ----------------------------------------------------------------- */

static arras_status copy_axes(arras_workload *to, const arras_workload *w, arras_error *err)
{
    for (int i = 0; i < w->rank; i++) {
        const ar_range_set *from = &w->axes[i];
        size_t              bytes = (size_t)from->count * sizeof *from->shares;

        to->axes[i] = *from;
        to->axes[i].shares = ar_alloc((size_t)from->count, sizeof *from->shares);
        if (!to->axes[i].shares)
            return ar_fail_memory(err, bytes);
        memcpy(to->axes[i].shares, from->shares, bytes);
    }
    return ARRAS_OK;
}

/* Copies the logged boxes too, so that their chunks can still be counted. */
static arras_status copy_log(arras_workload *to, const arras_workload *w, arras_error *err)
{
    size_t numbers = (size_t)w->queries * (size_t)w->rank;

    if (w->queries == 0)
        return ARRAS_OK;
    to->lo = ar_alloc(numbers, sizeof *to->lo);
    to->hi = ar_alloc(numbers, sizeof *to->hi);
    if (!to->lo || !to->hi)
        return ar_fail_memory(err, numbers * sizeof *to->lo);
    memcpy(to->lo, w->lo, numbers * sizeof *to->lo);
    memcpy(to->hi, w->hi, numbers * sizeof *to->hi);
    to->queries = w->queries;
    return ARRAS_OK;
}

arras_status ar_workload_independent(arras_workload **out, const arras_workload *w,
                                     arras_error *err)
{
    arras_workload *made = NULL;
    arras_status    status = ar_workload_new(&made, w->rank, err);

    if (status != ARRAS_OK)
        return status;
    made->independent = true;
    status = copy_axes(made, w, err);
    if (status == ARRAS_OK)
        status = copy_log(made, w, err);
    return ar_workload_give(out, made, status);
}

/* The number of combinations, and of their weights: both must stay small enough. */
static arras_status count_combinations(int64_t *count, const arras_workload *w, arras_error *err)
{
    enum { MOST = 1000000 };
    int64_t total = 1;
    bool    fits = true;

    *count = 1;
    for (int i = 0; i < w->rank && fits; i++)
        fits = ar_mul64(count, *count, w->axes[i].count) && *count <= MOST &&
               ar_mul64(&total, total, w->axes[i].total);
    if (fits)
        return ARRAS_OK;
    return ar_fail(err, ARRAS_ELIMIT,
                   "the ranges have more than %d combinations, or weights beyond 2^63; keep them "
                   "independent",
                   (int)MOST);
}

/* Combination number `at`, the last axis fastest. */
static void combine(int64_t *shape, int64_t *weight, const arras_workload *w, int64_t at)
{
    *weight = 1;
    for (int i = w->rank - 1; i >= 0; i--) {
        const ar_range_set *set = &w->axes[i];

        shape[i] = set->shares[at % set->count].range;
        *weight *= set->shares[at % set->count].weight;
        at /= set->count;
    }
}

arras_status ar_workload_joint(arras_workload **out, const arras_workload *w, arras_error *err)
{
    int64_t         count, *shapes, *weights;
    arras_workload *made = NULL;
    arras_status    status = count_combinations(&count, w, err);

    if (status == ARRAS_OK)
        status = ar_workload_new(&made, w->rank, err);
    if (status != ARRAS_OK)
        return status;
    shapes = ar_alloc((size_t)count, (size_t)w->rank * sizeof *shapes);
    weights = ar_alloc((size_t)count, sizeof *weights);
    if (!shapes || !weights)
        status = ar_fail_memory(err, (size_t)count * sizeof *shapes);
    for (int64_t i = 0; i < count && status == ARRAS_OK; i++)
        combine(shapes + i * w->rank, &weights[i], w, i);
    if (status == ARRAS_OK)
        status = ar_workload_set_shapes(made, count, shapes, weights, err);
    if (status == ARRAS_OK)
        status = copy_log(made, w, err);
    ar_free(shapes);
    ar_free(weights);
    return ar_workload_give(out, made, status);
}
