/* test_launch_rows.c -- reductions along rows and down columns, and windows that skip cells:
 * programs whose kernels keep accumulators in vectors, or rows in scratch memory.  Every cell has
 * the evaluator's bits, for all sorts of lengths, threads and tiles.  Variances down long columns
 * are compared with their definition in long double, too. */
#include "rows_kit.h"

#include <float.h>

/* ---- Bodies that are vectors, and some that are not ------------------------------------------ */

static arras_array squares(arras_array x) { return arras_multiply(x, x); }

static arras_array from_mean(arras_array x, int axis)
{
    return arras_subtract(x, arras_mean(x, 1, &axis, true));
}

static void record_reductions(arras_array x, int axis)
{
    arras_array two = arras_float(g, 2);

    arras_output(g, "squares", arras_sum(squares(x), 1, &axis, false));
    arras_output(g, "away", arras_sum(squares(from_mean(x, axis)), 1, &axis, false));
    arras_output(g, "least", arras_min(arras_maximum(x, squares(x)), 1, &axis, false));
    arras_output(g, "most", arras_max(arras_divide(x, arras_add(x, two)), 1, &axis, false));
    arras_output(g, "product", arras_prod(arras_subtract(two, x), 1, &axis, false));
    arras_output(g, "roots", arras_sum(arras_sqrt(arras_abs(x)), 1, &axis, false));
    arras_output(g, "place", arras_argmax(squares(x), 1, &axis, false));
    arras_output(g, "sum", arras_sum(x, 1, &axis, false));
}

static void reductions(void)
{
    const int64_t     lengths[] = { 1, 15, 16, 17, 64, 65, 80, 1023, 1024, 1025, 2100 };
    const arras_dtype dtypes[] = { ARRAS_F32, ARRAS_F64 };

    for (size_t k = 0; k < 2 * AR_COUNT(lengths); k++)
        for (int axis = 0; axis < 2; axis++) {
            int64_t     n = lengths[k / 2];
            arras_dtype dtype = dtypes[k % 2];
            arras_dim   shape[2] = { axis == 0 ? n : 5, axis == 0 ? 21 : n };

            CASE("%s of %d cells, axis %d", arras_dtype_name(dtype), (int)n, axis);
            start();
            record_reductions(arras_placeholder(g, "x", dtype, 2, shape), axis);
            check_program(dtype, shape[0], shape[1]);
            finish(NULL);
        }
}

/* ---- Extremes -------------------------------------------------------------------------------- */

static void set_cell(void *cells, arras_dtype dtype, int64_t at, double value)
{
    if (dtype == ARRAS_F32)
        ((float *)cells)[at] = (float)value;
    else
        ((double *)cells)[at] = value;
}

enum { HARD_ROWS = 7 };

/* Rows in which the extreme is hard to find: nans in any block, zeros of both signs, infinities,
 * one value everywhere. */
static void *hard_rows(arras_dtype dtype, int64_t n)
{
    void *x = cells_of(dtype, HARD_ROWS * n);

    for (int64_t i = 0; i < n; i++) {
        set_cell(x, dtype, 3 * n + i, i % 3 ? -0.0 : 0.0);
        set_cell(x, dtype, 6 * n + i, 7);
    }
    set_cell(x, dtype, 1 * n, NAN);
    set_cell(x, dtype, 2 * n + n / 2, NAN);
    set_cell(x, dtype, 3 * n, -0.0);
    set_cell(x, dtype, 4 * n + n - 1, INFINITY);
    set_cell(x, dtype, 4 * n + n / 3, -INFINITY);
    set_cell(x, dtype, 5 * n + n - 1, NAN);
    set_cell(x, dtype, 5 * n + 17, -INFINITY);
    return x;
}

static void extremes(void)
{
    const int64_t     lengths[] = { 33, 1500, 2047, 2048, 2049, 3071, 4096, 5000 };
    const arras_dtype dtypes[] = { ARRAS_F32, ARRAS_F64 };

    for (size_t k = 0; k < 2 * AR_COUNT(lengths); k++) {
        int64_t     n = lengths[k / 2];
        arras_dtype dtype = dtypes[k % 2];
        int         axis = 1;
        void       *cells = hard_rows(dtype, n);
        arras_array x;

        CASE("%s, rows of %d", arras_dtype_name(dtype), (int)n);
        start();
        x = arras_placeholder(g, "x", dtype, 2, (arras_dim[]){ HARD_ROWS, n });
        arras_output(g, "least", arras_min(x, 1, &axis, false));
        arras_output(g, "most", arras_max(x, 1, &axis, false));
        arras_output(g, "least_at", arras_argmin(x, 1, &axis, false));
        arras_output(g, "most_at", arras_argmax(x, 1, &axis, false));
        check_program_of(cells, dtype, HARD_ROWS, n);
        finish(NULL);
        free(cells);
    }
}

/* ---- Variances down long columns ------------------------------------------------------------- */

static void variances(void)
{
    const int64_t lengths[] = { 4095, 4096, 5121, 70000 };

    for (size_t k = 0; k < AR_COUNT(lengths); k++) {
        arras_dim   shape[2] = { lengths[k], 11 };
        int         axis = 0;
        arras_array x;

        CASE("%d rows", (int)lengths[k]);
        start();
        x = arras_placeholder(g, "x", ARRAS_F32, 2, shape);
        arras_output(g, "mean", arras_mean(x, 1, &axis, false));
        arras_output(g, "std", arras_std(x, 1, &axis, 0, false));
        arras_output(g, "var", arras_var(x, 1, &axis, 1, true));
        check_program(ARRAS_F32, shape[0], shape[1]);
        finish(NULL);
    }
}

enum { ROWS = 6000, KINDS = 5 };

/* Columns that are hard: far from 0, constant, a step after the first rows, a ramp, one outlier. */
static double hard_cell(int64_t row, int kind)
{
    switch (kind) {
    case 0: return 1e6 + (double)(row * 7919 % 1000) / 1000;
    case 1: return 0.1;
    case 2: return row < 64 ? 0 : 1e6 + (double)(row % 3);
    case 3: return (double)row;
    default: return row == 0 ? 1e9 : (double)(row % 5);
    }
}

static long double exact_variance(const double *x, int kind)
{
    long double mean = 0, sum = 0;

    for (int64_t i = 0; i < ROWS; i++)
        mean += x[i * KINDS + kind];
    mean /= ROWS;
    for (int64_t i = 0; i < ROWS; i++)
        sum += (x[i * KINDS + kind] - mean) * (x[i * KINDS + kind] - mean);
    return sum / ROWS;
}

static void accuracy(void)
{
    static double  x[ROWS * KINDS], got[KINDS];
    int            axis = 0;
    arras_program *p;

    start();
    arras_output(g, "var", arras_var(matrix("x", ROWS, KINDS), 1, &axis, 0, false));
    for (int64_t i = 0; i < ROWS * KINDS; i++)
        x[i] = hard_cell(i / KINDS, (int)(i % KINDS));
    p = compiled(NULL);
    launched(NULL, p, BINDINGS(MATRIX("x", x, ROWS, KINDS), VEC("var", got, KINDS)));
    for (int kind = 0; kind < KINDS; kind++) {
        long double want = exact_variance(x, kind), floor = 1e-30L;

        CHECK(fabsl(got[kind] - want) <= 200 * DBL_EPSILON * want + floor);
    }
    finish(p);
}

/* A cell that is not a number makes its column so, and no other. */
static void not_numbers(void)
{
    static double  x[ROWS * 3], got[3];
    int            axis = 0;
    arras_program *p;

    start();
    arras_output(g, "std", arras_std(matrix("x", ROWS, 3), 1, &axis, 0, false));
    x[3 * 5000 + 1] = NAN;
    p = compiled(NULL);
    launched(NULL, p, BINDINGS(MATRIX("x", x, ROWS, 3), VEC("std", got, 3)));
    CHECK(got[0] == 0 && isnan(got[1]) && got[2] == 0);
    finish(p);
}

/* ---- Windows --------------------------------------------------------------------------------- */

static arras_expr plus(arras_expr x, arras_expr y)
{
    return arras_expr_apply(ARRAS_OP_add, 2, (arras_expr[]){ x, y });
}

/* The largest of windows of `step` + 1 rows and columns, every `step` cells, of a stencil of x. */
static void record_windows(arras_array x, int64_t step, const int64_t *shape)
{
    const int64_t offsets[] = { -1, 0, 1, 0, 0, -1, 0, 1, 0, 0 };
    const double  weights[] = { 1, 2, 3, 4, -5 };
    arras_edge    edges[2] = { { .rule = ARRAS_EDGE_REFLECT }, { .rule = ARRAS_EDGE_NEAREST } };
    arras_array   y = arras_stencil(arras_sqrt(arras_abs(x)), 5, offsets, weights, edges);
    arras_expr    at[2], zero = arras_expr_int(g, 0), cell;
    const char   *names[] = { "r", "s" };

    for (int d = 0; d < 2; d++)
        at[d] = plus(
            arras_expr_apply(ARRAS_OP_multiply, 2,
                             (arras_expr[]){ arras_expr_index(g, d), arras_expr_int(g, step) }),
            arras_expr_var(g, names[d]));
    cell = arras_expr_load(y, 2, at, NULL);
    for (int d = 1; d >= 0; d--)
        cell =
            arras_expr_reduce(ARRAS_REDUCE_max, names[d], zero, arras_expr_int(g, step + 1), cell);
    arras_output(g, "y", arras_lambda(g, 2, shape, cell));
}

static void windows(void)
{
    for (int k = 0; k < 6; k++) {
        int64_t     step = 1 + k / 2;
        arras_dim   shape[2] = { 301, 130 };
        arras_dtype dtype = k % 2 ? ARRAS_F32 : ARRAS_F64;
        int64_t     rows = (shape[0] - 1) / step, columns = (shape[1] - 1) / step;

        CASE("%s, every %d cells", arras_dtype_name(dtype), (int)step);
        start();
        record_windows(arras_placeholder(g, "x", dtype, 2, shape), step,
                       (int64_t[]){ rows, columns });
        check_program(dtype, shape[0], shape[1]);
        finish(NULL);
    }
}

/* ---- Indices --------------------------------------------------------------------------------- */

/* i * x[i, 0], which is f64, is read where i is a number. */
static void indices_that_are_numbers(void)
{
    arras_dim   shape[2] = { 7, 3 };
    arras_array x, z;
    arras_expr  load, cell;

    start();
    x = arras_placeholder(g, "x", ARRAS_F32, 2, shape);
    load =
        arras_expr_load(x, 2, (arras_expr[]){ arras_expr_index(g, 0), arras_expr_int(g, 0) }, NULL);
    cell = arras_expr_apply(ARRAS_OP_multiply, 2, (arras_expr[]){ arras_expr_index(g, 0), load });
    z = arras_lambda(g, 1, shape, cell);
    arras_output(g, "y", arras_index(z, 1, (arras_item[]){ arras_at(3) }));
    arras_output(g, "sum", arras_sum(z, 0, NULL, false));
    check_program(ARRAS_F32, shape[0], shape[1]);
    finish(NULL);
}

/* x[i, j, k] + x[i + far, j, k]: the planes between are not counted on to be in a cache. */
static void planes_that_are_far(void)
{
    const int64_t far[] = { 1, 999, INT64_MAX / 2, -INT64_MAX / 2 };

    for (size_t n = 0; n < AR_COUNT(far); n++) {
        const arras_edge nearest = { ARRAS_EDGE_NEAREST, NULL };
        arras_array      x;
        arras_expr       at[3], here, there;

        CASE("%lld planes", (long long)far[n]);
        start();
        x = arras_reshape(arras_placeholder(g, "x", ARRAS_F64, 2, (arras_dim[]){ 6, 128 }), 3,
                          (arras_dim[]){ 2, 3, 128 }, 'C');
        for (int axis = 0; axis < 3; axis++)
            at[axis] = arras_expr_index(g, axis);
        here = arras_expr_load(x, 3, at, NULL);
        at[0] =
            arras_expr_apply(ARRAS_OP_add, 2, (arras_expr[]){ at[0], arras_expr_int(g, far[n]) });
        there = arras_expr_load(x, 3, at, (arras_edge[]){ nearest, nearest, nearest });
        arras_output(
            g, "y",
            arras_lambda(g, 3, (arras_dim[]){ 2, 3, 128 },
                         arras_expr_apply(ARRAS_OP_add, 2, (arras_expr[]){ here, there })));
        check_program(ARRAS_F64, 6, 128);
        finish(NULL);
    }
}

TEST_MAIN
{
    RUN(indices_that_are_numbers);
    RUN(planes_that_are_far);
    RUN(reductions);
    RUN(extremes);
    RUN(variances);
    RUN(accuracy);
    RUN(not_numbers);
    RUN(windows);
}
