/* workload_make.c -- workloads from lists of shapes, of ranges and of logged boxes: the checks. */
#include "chunk/probability.h"
#include "chunk/workload.h"

#include <string.h>

enum { MOST_QUERIES = 100000000 };

static arras_status check_count(int64_t n, arras_error *err)
{
    if (n < 1)
        return ar_fail(err, ARRAS_EINVAL, "a workload without queries; give at least one");
    if (n > MOST_QUERIES)
        return ar_fail(err, ARRAS_ELIMIT, "a workload of %" PRId64 " queries; there may be %d", n,
                       MOST_QUERIES);
    return ARRAS_OK;
}

static arras_status check_length(int64_t length, int64_t query, int axis, arras_error *err)
{
    if (length >= 1)
        return ARRAS_OK;
    return ar_fail(err, ARRAS_EINVAL,
                   "query %" PRId64 " is %" PRId64
                   " cells long along axis %d; a range has at least "
                   "1 cell",
                   query + 1, length, axis);
}

static arras_status check_lengths(int rank, int64_t n, const int64_t *shapes, arras_error *err)
{
    arras_status status = ARRAS_OK;

    for (int64_t i = 0; i < n * rank && status == ARRAS_OK; i++)
        status = check_length(shapes[i], i / rank, (int)(i % rank), err);
    return status;
}

/* ---- Shapes ---------------------------------------------------------------------------------- */

arras_status ar_workload_from_shapes(arras_workload **out, int rank, int64_t n,
                                     const int64_t *shapes, const char *const *probabilities,
                                     arras_error *err)
{
    arras_status    status = check_count(n, err);
    arras_workload *w = NULL;
    int64_t        *weights;

    if (status == ARRAS_OK)
        status = ar_workload_new(&w, rank, err);
    if (status != ARRAS_OK)
        return status;
    weights = ar_alloc((size_t)n, sizeof *weights);
    status = weights ? check_lengths(rank, n, shapes, err)
                     : ar_fail_memory(err, (size_t)n * sizeof *weights);
    if (status == ARRAS_OK)
        status = ar_weights_read(weights, n, probabilities, err);
    if (status == ARRAS_OK)
        status = ar_workload_set_shapes(w, n, shapes, weights, err);
    ar_free(weights);
    return ar_workload_give(out, w, status);
}

/* ---- Ranges ---------------------------------------------------------------------------------- */

typedef struct range_rows {
    int64_t     *lengths, *weights;
    const char **texts;
    int64_t      count;
} range_rows;

static arras_status set_axis(arras_workload *w, int axis, range_rows *rows, bool texts,
                             arras_error *err)
{
    arras_status status;

    if (rows->count == 0)
        return ar_fail(err, ARRAS_EINVAL, "no range along axis %d; each axis needs one", axis);
    status = ar_weights_read(rows->weights, rows->count, texts ? rows->texts : NULL, err);
    if (status == ARRAS_OK)
        status = ar_workload_set_axis(w, axis, rows->count, rows->lengths, 1, rows->weights, err);
    return status;
}

static arras_status set_axes(arras_workload *w, range_rows *rows, int64_t n, const int *axes,
                             const int64_t *lengths, const char *const *probabilities,
                             arras_error *err)
{
    arras_status status = ARRAS_OK;

    for (int axis = 0; axis < w->rank && status == ARRAS_OK; axis++) {
        rows->count = 0;
        for (int64_t i = 0; i < n && status == ARRAS_OK; i++) {
            if (axes[i] != axis)
                continue;
            status = check_length(lengths[i], i, axis, err);
            rows->texts[rows->count] = probabilities ? probabilities[i] : NULL;
            rows->lengths[rows->count++] = lengths[i];
        }
        if (status == ARRAS_OK)
            status = set_axis(w, axis, rows, probabilities != NULL, err);
    }
    return status;
}

static arras_status check_axes(int rank, int64_t n, const int *axes, arras_error *err)
{
    for (int64_t i = 0; i < n; i++)
        if (axes[i] < 0 || axes[i] >= rank)
            return ar_fail(err, ARRAS_EAXIS, "a range along axis %d; there are axes 0 to %d",
                           axes[i], rank - 1);
    return ARRAS_OK;
}

arras_status ar_workload_from_ranges(arras_workload **out, int rank, int64_t n, const int *axes,
                                     const int64_t *lengths, const char *const *probabilities,
                                     arras_error *err)
{
    arras_status    status = check_count(n, err);
    arras_workload *w = NULL;
    range_rows      rows = { 0 };

    if (status == ARRAS_OK)
        status = ar_workload_new(&w, rank, err);
    if (status != ARRAS_OK)
        return status;
    w->independent = true;
    rows.lengths = ar_alloc((size_t)n, sizeof *rows.lengths);
    rows.weights = ar_alloc((size_t)n, sizeof *rows.weights);
    rows.texts = ar_alloc((size_t)n, sizeof *rows.texts);
    status = rows.lengths && rows.weights && rows.texts
                 ? check_axes(rank, n, axes, err)
                 : ar_fail_memory(err, (size_t)n * sizeof *rows.lengths);
    if (status == ARRAS_OK)
        status = set_axes(w, &rows, n, axes, lengths, probabilities, err);
    ar_free(rows.lengths);
    ar_free(rows.weights);
    ar_free(rows.texts);
    return ar_workload_give(out, w, status);
}

/* ---- Logged boxes ---------------------------------------------------------------------------- */

static arras_status check_box(int rank, int64_t query, const int64_t *lo, const int64_t *hi,
                              arras_error *err)
{
    for (int i = 0; i < rank; i++) {
        if (lo[i] < 0)
            return ar_fail(err, ARRAS_EINVAL,
                           "query %" PRId64 " starts at %" PRId64 " along axis %d; places count "
                           "from 0",
                           query + 1, lo[i], i);
        if (hi[i] <= lo[i])
            return ar_fail(err, ARRAS_EINVAL,
                           "query %" PRId64 " is empty along axis %d: from %" PRId64 " to %" PRId64
                           "; a range has at least 1 cell",
                           query + 1, i, lo[i], hi[i]);
    }
    return ARRAS_OK;
}

/* The shapes of the boxes, each of weight 1. */
static arras_status measure(arras_workload *w, int64_t *shapes, int64_t *weights, arras_error *err)
{
    arras_status status = ARRAS_OK;

    for (int64_t i = 0; i < w->queries && status == ARRAS_OK; i++) {
        status = check_box(w->rank, i, w->lo + i * w->rank, w->hi + i * w->rank, err);
        weights[i] = 1;
    }
    for (int64_t i = 0; i < w->queries * w->rank && status == ARRAS_OK; i++)
        shapes[i] = w->hi[i] - w->lo[i];
    return status;
}

static arras_status fill_from_boxes(arras_workload *w, int64_t n, const int64_t *lo,
                                    const int64_t *hi, arras_error *err)
{
    size_t       numbers = (size_t)n * (size_t)w->rank;
    int64_t     *shapes = ar_alloc(numbers, sizeof *shapes);
    int64_t     *weights = ar_alloc((size_t)n, sizeof *weights);
    arras_status status;

    w->lo = ar_alloc(numbers, sizeof *w->lo);
    w->hi = ar_alloc(numbers, sizeof *w->hi);
    if (!shapes || !weights || !w->lo || !w->hi) {
        status = ar_fail_memory(err, numbers * sizeof *shapes);
    } else {
        w->queries = n;
        memcpy(w->lo, lo, numbers * sizeof *lo);
        memcpy(w->hi, hi, numbers * sizeof *hi);
        status = measure(w, shapes, weights, err);
    }
    if (status == ARRAS_OK)
        status = ar_workload_set_shapes(w, n, shapes, weights, err);
    ar_free(shapes);
    ar_free(weights);
    return status;
}

arras_status ar_workload_from_boxes(arras_workload **out, int rank, int64_t n, const int64_t *lo,
                                    const int64_t *hi, arras_error *err)
{
    arras_status    status = check_count(n, err);
    arras_workload *w = NULL;

    if (status == ARRAS_OK)
        status = ar_workload_new(&w, rank, err);
    if (status != ARRAS_OK)
        return status;
    return ar_workload_give(out, w, fill_from_boxes(w, n, lo, hi, err));
}
