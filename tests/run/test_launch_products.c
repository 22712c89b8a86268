/* test_launch_products.c -- few products of reals are summed by fma, each rounded once, wherever a
 * sum ends up: in a register-tiled contraction, along rows, down columns, or written out.  The
 * evaluator's own rounding is compared with fma() of the C library. */
#include "rows_kit.h"

#include <math.h>

/* ---- What the evaluator computes ------------------------------------------------------------- */

/* (1 + e)(1 - e) - 1 is -e^2, of which nothing is left where the product is rounded first. */
static const double tiny = 0x1p-30;

static void fill_terms(double *x, double *y, int64_t terms)
{
    for (int64_t i = 0; i < terms; i++)
        x[i] = 0, y[i] = 1;
    x[0] = -1;
    x[terms - 1] = 1 + tiny, y[terms - 1] = 1 - tiny;
}

/* The sum of that, for so many terms, known when recorded or not. */
static double inner_product(int64_t terms, bool known, bool compile)
{
    double         x[100], y[100], result = NAN;
    arras_array    operands[2];
    arras_program *p = NULL;
    arras_results *results = NULL;
    arras_dim      length;
    arras_binding  bindings[] = { VEC("x", x, terms), VEC("y", y, terms) };

    fill_terms(x, y, terms);
    start();
    length = known ? terms : arras_size(g, "n");
    operands[0] = input("x", length), operands[1] = input("y", length);
    arras_output(g, "z", arras_einsum("i,i->", 2, operands));
    if (compile) {
        p = compiled(NULL);
        launched(&results, p, 2, bindings);
    } else {
        CHECK_EQ_INT(arras_evaluate(&results, g, 2, bindings, &err), ARRAS_OK);
    }
    if (CHECK(results != NULL))
        result = *(const double *)arras_results_find(results, "z")->buffer.data;
    arras_results_free(results);
    finish(p);
    return result;
}

static void few_products_are_rounded_once(void)
{
    for (int compile = 0; compile < 2; compile++) {
        CHECK(inner_product(2, true, compile) == -tiny * tiny);
        CHECK(inner_product(20, true, compile) == -tiny * tiny);
        CHECK(inner_product(64, true, compile) == -tiny * tiny);
        CHECK(inner_product(65, true, compile) == 0);
        CHECK(inner_product(20, false, compile) == 0);
    }
}

/* ---- Everywhere the same bits ---------------------------------------------------------------- */

static arras_array product(const char *spec, arras_array x, arras_array y)
{
    return arras_einsum(spec, 2, (arras_array[]){ x, y });
}

static arras_array scaled(arras_array x, double factor)
{
    return arras_multiply(x, arras_float(g, factor));
}

/* Its last axis is summed, or its first one. */
static void record_sums(arras_array x, arras_dim rows, arras_dim columns)
{
    arras_array y = scaled(x, 0.37), single = arras_cast(y, ARRAS_F32);
    arras_array tenth = arras_full(arras_float(g, 0.1), 2, (arras_dim[]){ rows, columns });
    arras_array ones = arras_full(arras_float(g, 1), 2, (arras_dim[]){ rows, columns });

    arras_output(g, "rows", product("ij,ij->i", x, y));
    arras_output(g, "columns", product("ij,ij->j", x, y));
    arras_output(g, "matrix", product("ij,kj->ik", x, y));
    arras_output(g, "gram", product("ij,ik->jk", y, x));
    arras_output(g, "mixed", product("ij,ij->j", x, single));
    arras_output(g, "constant", product("ij,ij->i", tenth, scaled(tenth, 0.3)));
    arras_output(g, "ones", product("ij,ij->j", ones, y));
    arras_output(g, "floors", product("ij,ij->i", arras_floor(x), y));
    arras_output(g, "around", arras_add(product("ij,kj->ik", x, x), product("ij,kj->ik", y, x)));
    arras_output(g, "three",
                 arras_einsum("ij,ij,ij->j", 3, (arras_array[]){ x, y, arras_sqrt(arras_abs(x)) }));
}

static void all_sums(void)
{
    const int64_t     terms[] = { 1, 2, 3, 5, 10, 17, 35, 64, 65 };
    const arras_dtype dtypes[] = { ARRAS_F32, ARRAS_F64 };

    for (size_t k = 0; k < 2 * AR_COUNT(terms); k++)
        for (int axis = 0; axis < 2; axis++) {
            int64_t     n = terms[k / 2];
            arras_dtype dtype = dtypes[k % 2];
            arras_dim   shape[2] = { axis == 0 ? n : 21, axis == 0 ? 21 : n };

            CASE("%s, %d terms, axis %d", arras_dtype_name(dtype), (int)n, axis);
            start();
            record_sums(arras_placeholder(g, "x", dtype, 2, shape), shape[0], shape[1]);
            check_program(dtype, shape[0], shape[1]);
            finish(NULL);
        }
}

/* A sum is read at other places than its own, so that its variable is renamed and its body is
 * written anew. */
static void sums_within_sums(void)
{
    arras_dim   shape[2] = { 12, 9 };
    arras_array x, square;

    start();
    x = arras_placeholder(g, "x", ARRAS_F64, 2, shape);
    square = product("ij,kj->ik", x, x);
    arras_output(g, "cube", product("ij,jk->ik", square, x));
    arras_output(
        g, "rolled",
        product("ij,ij->i", arras_roll(square, 1, (int64_t[]){ 3 }, (int[]){ 1 }), square));
    check_program(ARRAS_F64, shape[0], shape[1]);
    finish(NULL);
}

/* sum[k: 0, 40] x[i,j] * x[i,j]: the product is the same for all k, but not rounded before. */
static void products_without_the_variable(void)
{
    arras_dim  shape[2] = { 30, 40 };
    arras_expr load, sum;

    start();
    load = arras_expr_load(arras_placeholder(g, "x", ARRAS_F64, 2, shape), 2,
                           (arras_expr[]){ arras_expr_index(g, 0), arras_expr_index(g, 1) }, NULL);
    sum = arras_expr_reduce(ARRAS_REDUCE_sum, "k", arras_expr_int(g, 0), arras_expr_int(g, 40),
                            arras_expr_apply(ARRAS_OP_multiply, 2, (arras_expr[]){ load, load }));
    arras_output(g, "y", arras_lambda(g, 2, shape, sum));
    check_program(ARRAS_F64, shape[0], shape[1]);
    finish(NULL);
}

/* Their negatives are -0, where compilers know of an operation that gives 0. */
static void sums_that_cancel(void)
{
    for (int64_t terms = 2; terms <= 40; terms += 19) {
        arras_dim   shape[2] = { 9, terms };
        double     *cells = cells_of(ARRAS_F64, 9 * terms);
        arras_array x;

        CASE("%d terms", (int)terms);
        for (int64_t i = 0; i < 9 * terms; i++)
            cells[i] = (double)(i % terms == 0) - (double)(i % terms == terms - 1);
        start();
        x = arras_placeholder(g, "x", ARRAS_F64, 2, shape);
        arras_output(g, "y", arras_negative(product("ij,ij->i", x, arras_abs(x))));
        arras_output(g, "z", arras_negative(product("ij,kj->ik", x, arras_abs(x))));
        check_program_of(cells, ARRAS_F64, 9, terms);
        finish(NULL);
        free(cells);
    }
}

/* A function does not know how many terms its callers will have. */
static void sums_in_functions(void)
{
    arras_dim      shape[2] = { 6, 5 }, sizes[2];
    arras_array    parameter, result;
    arras_function dots;

    start();
    sizes[0] = arras_size(g, "n"), sizes[1] = arras_size(g, "m");
    parameter = arras_param(g, "p", ARRAS_F64, 2, sizes);
    result = product("ij,ij->i", parameter, scaled(parameter, 0.37));
    dots = arras_function_new(g, "dots", 1, &parameter, 1, (const char *[]){ "r" }, &result);
    result = arras_placeholder(g, "x", ARRAS_F64, 2, shape);
    arras_output(g, "y", arras_call(dots, "r", 1, &result));
    check_program(ARRAS_F64, shape[0], shape[1]);
    finish(NULL);
}

TEST_MAIN
{
    RUN(products_without_the_variable);
    RUN(sums_that_cancel);
    RUN(sums_in_functions);
    RUN(few_products_are_rounded_once);
    RUN(all_sums);
    RUN(sums_within_sums);
}
