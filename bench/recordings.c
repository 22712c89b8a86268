/* recordings.c -- the workloads of the benchmark as Arras programs, as a user would record them. */
#include "recordings.h"

#include <stdio.h>
#include <string.h>

#define COUNT(array) ((int)(sizeof(array) / sizeof((array)[0])))

static arras_array input(arras_graph *g, const char *name, arras_dtype dtype, int rank,
                         const int64_t *shape)
{
    return arras_placeholder(g, name, dtype, rank, shape);
}

/* ---- Elementwise: size = { n } ----------------------------------------------------------------
 */

static void cheap_chain(arras_graph *g, const int64_t *size)
{
    arras_array a = input(g, "a", ARRAS_F64, 1, size), b = input(g, "b", ARRAS_F64, 1, size);
    arras_array c = input(g, "c", ARRAS_F64, 1, size);
    arras_array a2 = arras_multiply(arras_int(g, 2), a), b3 = arras_multiply(arras_int(g, 3), b);

    arras_output(g, "y", arras_subtract(arras_add(a2, b3), c));
}

static void dear_chain(arras_graph *g, const int64_t *size)
{
    arras_array a = input(g, "a", ARRAS_F64, 1, size), b = input(g, "b", ARRAS_F64, 1, size);
    arras_array c = input(g, "c", ARRAS_F64, 1, size), d = input(g, "d", ARRAS_F64, 1, size);
    arras_array wave = arras_multiply(a, arras_sin(b));

    arras_output(g, "y", arras_add(wave, arras_multiply(arras_exp(arras_negative(c)), d)));
}

static void int_map(arras_graph *g, const int64_t *size)
{
    arras_array x = input(g, "x", ARRAS_I64, 1, size);
    arras_array sum = arras_add(arras_multiply(x, arras_int(g, 3)), arras_int(g, 7));

    arras_output(g, "y", arras_bitwise_xor(sum, arras_right_shift(x, arras_int(g, 2))));
}

static void chain50(arras_graph *g, const int64_t *size)
{
    arras_array x = input(g, "x", ARRAS_F64, 1, size), y = x;

    for (int k = 0; k < 10; k++) {
        y = arras_multiply(arras_add(y, arras_float(g, 0.25)), arras_float(g, 0.875));
        y = arras_add(arras_subtract(arras_abs(y), arras_float(g, 0.5)), x);
    }
    arras_output(g, "y", y);
}

static void gather(arras_graph *g, const int64_t *size)
{
    arras_array x = input(g, "x", ARRAS_F64, 1, size);
    arras_item  at = arras_gather(input(g, "index", ARRAS_I64, 1, size));

    arras_output(g, "y", arras_index(x, 1, &at));
}

/* ---- Stencils: size = { rows, cols } or { planes, rows, cols }; cells outside are 0 -----------
 */

static const arras_edge zero_edges[] = { { ARRAS_EDGE_CONSTANT, NULL },
                                         { ARRAS_EDGE_CONSTANT, NULL },
                                         { ARRAS_EDGE_CONSTANT, NULL } };

/* So much of the cell, and so much of the sum of its neighbours: as all others write it. */
static arras_array star(arras_graph *g, arras_array x, double centre, double side, int n,
                        const int64_t *neighbours)
{
    static const double ones[] = { 1, 1, 1, 1, 1, 1 };
    arras_array         sides = arras_stencil(x, n, neighbours, ones, zero_edges);

    return arras_add(arras_multiply(arras_float(g, centre), x),
                     arras_multiply(arras_float(g, side), sides));
}

static arras_array cross(arras_graph *g, arras_array x)
{
    static const int64_t neighbours[] = { -1, 0, 1, 0, 0, -1, 0, 1 };

    return star(g, x, 0.5, 0.125, 4, neighbours);
}

static void stencil5(arras_graph *g, const int64_t *size)
{
    arras_output(g, "y", cross(g, input(g, "x", ARRAS_F32, 2, size)));
}

static void stencil5_twice(arras_graph *g, const int64_t *size)
{
    arras_output(g, "y", cross(g, cross(g, input(g, "x", ARRAS_F32, 2, size))));
}

static void stencil7(arras_graph *g, const int64_t *size)
{
    static const int64_t neighbours[] = { -1, 0, 0, 1, 0, 0, 0, -1, 0, 0, 1, 0, 0, 0, -1, 0, 0, 1 };

    arras_output(g, "y", star(g, input(g, "x", ARRAS_F32, 3, size), 0.4, 0.1, 6, neighbours));
}

/* ---- Convolutions: size = { rows, cols } ------------------------------------------------------
 */

static arras_expr apply2(int op, arras_expr x, arras_expr y)
{
    return arras_expr_apply(op, 2, (const arras_expr[]){ x, y });
}

static arras_expr index_plus(arras_graph *g, int axis, const char *var)
{
    return apply2(ARRAS_OP_add, arras_expr_index(g, axis), arras_expr_var(g, var));
}

/* sum[r:width, s:width] body */
static arras_expr sum_rs(arras_graph *g, int64_t width, arras_expr body)
{
    arras_expr zero = arras_expr_int(g, 0), end = arras_expr_int(g, width);

    body = arras_expr_reduce(ARRAS_REDUCE_sum, "s", zero, end, body);
    return arras_expr_reduce(ARRAS_REDUCE_sum, "r", zero, end, body);
}

static arras_expr relu(arras_graph *g, arras_expr x)
{
    return apply2(ARRAS_OP_maximum, x, arras_expr_int(g, 0));
}

/* y[i,j,f] = max(0, sum[r:2, s:2] x[i+r, j+s] * kernel[r,s,f]) */
static void conv8(arras_graph *g, const int64_t *size)
{
    const int64_t    kernel_shape[] = { 2, 2, 8 }, shape[] = { size[0] - 1, size[1] - 1, 8 };
    arras_array      x = input(g, "x", ARRAS_F32, 2, size);
    arras_array      kernel = input(g, "kernel", ARRAS_F32, 3, kernel_shape);
    const arras_expr at[] = { index_plus(g, 0, "r"), index_plus(g, 1, "s") };
    const arras_expr weight[] = { arras_expr_var(g, "r"), arras_expr_var(g, "s"),
                                  arras_expr_index(g, 2) };
    arras_expr       product = apply2(ARRAS_OP_multiply, arras_expr_load(x, 2, at, NULL),
                                      arras_expr_load(kernel, 3, weight, NULL));

    arras_output(g, "y", arras_lambda(g, 3, shape, relu(g, sum_rs(g, 2, product))));
}

/* conv[i,j] = max(0, sum[r:3, s:3] x[i+r, j+s] * kernel[r,s]) */
static arras_array conv3(arras_graph *g, const int64_t *size)
{
    const int64_t    kernel_shape[] = { 3, 3 }, shape[] = { size[0] - 2, size[1] - 2 };
    arras_array      x = input(g, "x", ARRAS_F32, 2, size);
    arras_array      kernel = input(g, "kernel", ARRAS_F32, 2, kernel_shape);
    const arras_expr at[] = { index_plus(g, 0, "r"), index_plus(g, 1, "s") };
    const arras_expr weight[] = { arras_expr_var(g, "r"), arras_expr_var(g, "s") };
    arras_expr       product = apply2(ARRAS_OP_multiply, arras_expr_load(x, 2, at, NULL),
                                      arras_expr_load(kernel, 2, weight, NULL));

    return arras_lambda(g, 2, shape, relu(g, sum_rs(g, 3, product)));
}

/* pool[i,j] = max[r:2, s:2] conv[2*i+r, 2*j+s] */
static void conv_pool(arras_graph *g, const int64_t *size)
{
    const int64_t shape[] = { (size[0] - 2) / 2, (size[1] - 2) / 2 };
    const char   *vars[] = { "r", "s" };
    arras_expr    at[2], zero = arras_expr_int(g, 0), two = arras_expr_int(g, 2), cell;

    for (int d = 0; d < 2; d++)
        at[d] = apply2(ARRAS_OP_add, apply2(ARRAS_OP_multiply, two, arras_expr_index(g, d)),
                       arras_expr_var(g, vars[d]));
    cell = arras_expr_load(conv3(g, size), 2, at, NULL);
    for (int d = 1; d >= 0; d--)
        cell = arras_expr_reduce(ARRAS_REDUCE_max, vars[d], zero, two, cell);
    arras_output(g, "y", arras_lambda(g, 2, shape, cell));
}

/* ---- Reductions and products ------------------------------------------------------------------
 */

static void stats(arras_graph *g, const int64_t *size, int axis)
{
    arras_array x = input(g, "x", ARRAS_F32, 2, size);

    arras_output(g, "mean", arras_mean(x, 1, &axis, false));
    arras_output(g, "std", arras_std(x, 1, &axis, 0, false));
}

static void stats_axis0(arras_graph *g, const int64_t *size) { stats(g, size, 0); }
static void stats_axis1(arras_graph *g, const int64_t *size) { stats(g, size, 1); }

static void argmin(arras_graph *g, const int64_t *size)
{
    arras_output(g, "place", arras_argmin(input(g, "x", ARRAS_F64, 1, size), 0, NULL, false));
}

static void matmul(arras_graph *g, const int64_t *size)
{
    const int64_t shape[] = { size[0], size[0] };
    arras_array   a = input(g, "a", ARRAS_F64, 2, shape), b = input(g, "b", ARRAS_F64, 2, shape);

    arras_output(g, "y", arras_matmul(a, b));
}

/* size = { elements }, of 20 nodes */
static void einsum(arras_graph *g, const int64_t *size)
{
    const int64_t     d_shape[] = { 3, 20, 20 }, u_shape[] = { size[0], 20 };
    const arras_array operands[] = { input(g, "d", ARRAS_F64, 3, d_shape),
                                     input(g, "u", ARRAS_F64, 2, u_shape) };

    arras_output(g, "y", arras_einsum("xij,ej->xei", 2, operands));
}

/* ---- Many small operations --------------------------------------------------------------------
 */

enum { NAME = 32 };

static arras_array numbered_input(arras_graph *g, int64_t k, const int64_t *shape)
{
    char name[NAME];

    snprintf(name, sizeof name, "x%d", (int)k);
    return input(g, name, ARRAS_F64, 1, shape);
}

static void numbered_output(arras_graph *g, int64_t k, arras_array y)
{
    char name[NAME];

    snprintf(name, sizeof name, "y%d", (int)k);
    arras_output(g, name, y);
}

/* size = { width, height, n }: `height` layers of `width` operations, each of two neighbours in the
 * layer before. */
static void layers(arras_graph *g, const int64_t *size)
{
    enum { WIDEST = 256 };
    arras_array now[WIDEST], next[WIDEST];
    int64_t     width = size[0] < WIDEST ? size[0] : WIDEST;

    for (int64_t k = 0; k < width; k++)
        now[k] = numbered_input(g, k, &size[2]);
    for (int64_t layer = 0; layer < size[1]; layer++) {
        for (int64_t k = 0; k < width; k++)
            next[k] = arras_subtract(now[k], now[(k + 1) % width]);
        memcpy(now, next, sizeof now);
    }
    for (int64_t k = 0; k < width; k++)
        numbered_output(g, k, now[k]);
}

/* size = { n }: one operation of `layers`. */
static void one_operation(arras_graph *g, const int64_t *size)
{
    numbered_output(g, 0, arras_subtract(numbered_input(g, 0, size), numbered_input(g, 1, size)));
}

/* size = { n, seed }: 10 operations; another seed below 1024 gives another program. */
static void chain10(arras_graph *g, const int64_t *size)
{
    arras_array x = input(g, "x", ARRAS_F64, 1, size), y = x;

    for (int k = 0; k < 10; k++)
        y = size[1] >> k & 1 ? arras_subtract(y, x) : arras_multiply(y, x);
    arras_output(g, "y", y);
}

/* size = { n, count }: `count` arrays, each doubled, each an output. */
static void doubled(arras_graph *g, const int64_t *size)
{
    for (int64_t k = 0; k < size[1]; k++)
        numbered_output(g, k, arras_multiply(numbered_input(g, k, size), arras_int(g, 2)));
}

/* ---- By name ----------------------------------------------------------------------------------
 */

static const struct {
    const char *name;
    void (*record)(arras_graph *g, const int64_t *size);
} recorders[] = {
    { "cheap_chain", cheap_chain },
    { "dear_chain", dear_chain },
    { "int_map", int_map },
    { "chain50", chain50 },
    { "gather", gather },
    { "stencil5", stencil5 },
    { "stencil5_twice", stencil5_twice },
    { "stencil7", stencil7 },
    { "conv8", conv8 },
    { "conv_pool", conv_pool },
    { "stats_axis0", stats_axis0 },
    { "stats_axis1", stats_axis1 },
    { "argmin", argmin },
    { "matmul", matmul },
    { "einsum", einsum },
    { "layers", layers },
    { "one_operation", one_operation },
    { "chain10", chain10 },
    { "doubled", doubled },
};

arras_graph *bench_record(const char *workload, const int64_t *size, arras_error *err)
{
    arras_graph *g = NULL;

    for (int i = 0; i < COUNT(recorders); i++)
        if (strcmp(recorders[i].name, workload) == 0) {
            if (arras_graph_new(&g, err) == ARRAS_OK)
                recorders[i].record(g, size);
            return g;
        }
    snprintf(err->text, sizeof err->text, "no recording is called %s", workload);
    return NULL;
}
