/* test_launch_rows.c -- reductions along rows and down columns, and windows that skip cells:
 * programs whose kernels keep accumulators in vectors, or rows in scratch memory.  Every cell has
 * the evaluator's bits, for all sorts of lengths, threads and tiles.  Variances down long columns
 * are compared with their definition in long double, too. */
#include "launch_kit.h"

#include <float.h>

static void *cells_of(arras_dtype dtype, int64_t n)
{
    size_t   size = arras_dtype_size(dtype);
    void    *cells = malloc((size_t)n * size + 1);
    uint64_t state = 1;

    for (int64_t i = 0; cells && i < n; i++) {
        double value;

        state = state * 6364136223846793005u + 1442695040888963407u;
        value = (double)(int64_t)(state >> 40) / 4096 - 2048;
        if (dtype == ARRAS_F32)
            ((float *)cells)[i] = (float)(state >> 60 == 0 ? -0.0 : value);
        else
            ((double *)cells)[i] = state >> 60 == 0 ? -0.0 : value;
    }
    return cells;
}

static const arras_options ways[] = {
    { .threads = 1 },
    { .threads = 2 },
    { .threads = 3, .tile_bytes = 3000 },
    { .threads = 7, .tile_bytes = 100 },
};

/* The program that is recorded in g, of one input x. */
static void check_program_of(void *x, arras_dtype dtype, int64_t n, int64_t m)
{
    arras_binding  binding = { "x", { x, dtype, 2, (int64_t[]){ n, m }, NULL } };
    arras_results *want = NULL, *got = NULL;

    CHECK_EQ_INT(arras_evaluate(&want, g, 1, &binding, &err), ARRAS_OK);
    for (size_t i = 0; i < AR_COUNT(ways) && want; i++) {
        arras_program *p = compiled(&ways[i]);

        if (launched(&got, p, 1, &binding))
            CHECK(same_bits(got, want));
        arras_results_free(got);
        arras_program_free(p);
    }
    arras_results_free(want);
}

static void check_program(arras_dtype dtype, int64_t n, int64_t m)
{
    void *x = cells_of(dtype, n * m);

    check_program_of(x, dtype, n, m);
    free(x);
}

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

/* ---- Extremes ------------------------------------------------------------------------------- */

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

/* ---- Chains so long that several vectors are computed side by side --------------------------- */

/* `kind` of the link: what waits for the one before in different ways. */
static arras_array linked(arras_array y, arras_array x, int kind)
{
    switch (kind % 5) {
    case 0: return arras_add(arras_abs(y), arras_float(g, 0.25));
    case 1: return arras_subtract(arras_multiply(y, arras_float(g, 0.875)), x);
    case 2: return arras_where(arras_less(y, x), arras_negative(y), x);
    case 3: return arras_maximum(y, arras_divide(x, arras_float(g, 3)));
    default: return arras_minimum(arras_add(y, y), arras_multiply(x, y));
    }
}

static void chains(void)
{
    const int64_t     lengths[] = { 1, 4, 15, 16, 31, 33, 47, 48, 96, 97, 1000, 4099 };
    const arras_dtype dtypes[] = { ARRAS_F32, ARRAS_F64 };

    for (size_t k = 0; k < 2 * AR_COUNT(lengths); k++) {
        arras_dim   shape[2] = { 2, lengths[k / 2] };
        arras_dtype dtype = dtypes[k % 2];
        arras_array x, y, half;

        CASE("%s, rows of %d", arras_dtype_name(dtype), (int)shape[1]);
        start();
        half = y = x = arras_placeholder(g, "x", dtype, 2, shape);
        for (int i = 0; i < 30; i++) {
            y = linked(y, x, i);
            half = i == 17 ? y : half;
        }
        arras_output(g, "y", y);
        if (k % 3 == 0)
            arras_output(g, "half", half);
        check_program(dtype, shape[0], shape[1]);
        finish(NULL);
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

/* ---- Short rows that jump -------------------------------------------------------------------- */

enum { FROM_ROWS = 37, FROM_CELLS = 9, ROWS_THAT_JUMP = 61 };

/* Rows of `length` cells of x, wherever data says: across[row] of x, its cell nodes[row, k]. */
static arras_array jumped(arras_array x, int64_t length)
{
    static int32_t across[ROWS_THAT_JUMP], nodes[ROWS_THAT_JUMP * 16];
    arras_item     items[2];

    for (int i = 0; i < ROWS_THAT_JUMP; i++)
        across[i] = i * 17 % FROM_ROWS;
    for (int64_t i = 0; i < ROWS_THAT_JUMP * length; i++)
        nodes[i] = (int32_t)(i * 5 % FROM_CELLS);
    items[0] =
        arras_gather(arras_borrow(g, ARRAS_I32, 2, (int64_t[]){ ROWS_THAT_JUMP, 1 }, NULL, across));
    items[1] = arras_gather(
        arras_borrow(g, ARRAS_I32, 2, (int64_t[]){ ROWS_THAT_JUMP, length }, NULL, nodes));
    return arras_index(x, 2, items);
}

/* The cells of rows, each in an order that data says. */
static arras_array reordered(arras_array x, int64_t length)
{
    static int64_t order[16];
    arras_item     items[2] = { arras_slice(0, ROWS_THAT_JUMP % FROM_ROWS, 1) };

    for (int i = 0; i < length; i++)
        order[i] = (length - i) * 2 % FROM_CELLS;
    items[1] = arras_gather(arras_borrow(g, ARRAS_I64, 1, &length, NULL, order));
    return arras_index(x, 2, items);
}

static void record_jumps(arras_array x, int64_t length)
{
    arras_array here = jumped(x, length), there = arras_negative(jumped(arras_abs(x), length));
    arras_array sum = arras_add(here, there), away = arras_subtract(here, arras_float(g, 0.5));
    arras_array safe = arras_add(arras_sqrt(arras_abs(away)), arras_float(g, 1));

    arras_output(g, "sum", sum);
    arras_output(g, "roots", arras_divide(arras_maximum(sum, away), safe));
    arras_output(g, "chosen", arras_where(arras_less(here, there), away, sum));
    arras_output(g, "order", arras_multiply(reordered(x, length), arras_float(g, 3)));
}

static void jumping_rows(void)
{
    const int64_t     lengths[] = { 1, 2, 3, 4, 6, 9, 16 };
    const arras_dtype dtypes[] = { ARRAS_F32, ARRAS_F64 };

    for (size_t k = 0; k < 2 * AR_COUNT(lengths); k++) {
        arras_dim   shape[2] = { FROM_ROWS, FROM_CELLS };
        arras_dtype dtype = dtypes[k % 2];

        CASE("%s, rows of %d", arras_dtype_name(dtype), (int)lengths[k / 2]);
        start();
        record_jumps(arras_placeholder(g, "x", dtype, 2, shape), lengths[k / 2]);
        check_program(dtype, FROM_ROWS, FROM_CELLS);
        finish(NULL);
    }
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

TEST_MAIN
{
    RUN(reductions);
    RUN(extremes);
    RUN(chains);
    RUN(variances);
    RUN(accuracy);
    RUN(not_numbers);
    RUN(jumping_rows);
    RUN(windows);
}
