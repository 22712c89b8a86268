/* test_blas.c -- products of matrices are recognised; those in blocks and OpenBLAS's are those of
 * the reference evaluator within the bound of docs/semantics.md. */
#include "evaluate.h"
#include "opt/opt.h"
#include "product/blas.h"
#include "product/product.h"

#include <float.h>

#define A_(type) input("a", type)
#define B_(type) input("b", type)

/* ---- Inputs ---------------------------------------------------------------------------------- */

static arras_array input(const char *name, const char *type)
{
    static double values[1 << 19];
    int           rank;
    int64_t       shape[ARRAS_MAX_RANK];
    arras_dtype   dtype = read_type(type, &rank, shape);

    for (size_t i = 0; i < AR_COUNT(values); i++)
        values[i] = sin((double)i * 1.7 + name[0]);
    bind_array(name, type, values);
    return ar_input(g, name, dtype, rank, shape);
}

static const arras_buffer *buffer_of(const char *name)
{
    for (int b = 0; b < nbound; b++)
        if (strcmp(bound[b].name, name) == 0)
            return &bound[b].buffer;
    return NULL;
}

/* ---- A product and its arguments ------------------------------------------------------------- */

enum { OPERANDS = 3 };

typedef struct {
    arras_graph *plain, *normal;
    arras_array  lambda;
    ar_gemm      gemm;
    char        *data[OPERANDS];
    int64_t      strides[OPERANDS][ARRAS_MAX_RANK];
} product;

static bool open_product(product *p, arras_array out)
{
    ar_graph_output_add(g, "out", out);
    if (!CHECK_EQ_INT(ar_normalise(&p->plain, g, NULL), ARRAS_OK) ||
        !CHECK_EQ_INT(ar_fuse(&p->normal, p->plain, NULL), ARRAS_OK))
        return false;
    p->lambda = ar_graph_output(p->normal, 0)->array;
    return true;
}

static void close_product(product *p)
{
    for (int k = 0; k < OPERANDS; k++)
        free(p->data[k]);
    ar_graph_free(p->normal);
    ar_graph_free(p->plain);
}

static int64_t make_strides(int64_t *strides, arras_array x, int64_t step)
{
    int64_t count = 1;

    for (int axis = x->rank - 1; axis >= 0; axis--) {
        strides[axis] = count * step;
        count *= x->shape[axis];
        if (axis == x->rank - 1)
            count += 3; /* rows do not lie side by side */
    }
    return count;
}

/* Copies inputs to places with gaps between rows, and `spread` times the distance between cells. */
static void place_operands(product *p, int64_t spread)
{
    int64_t size = (int64_t)ar_dtype_size(p->lambda->type.dtype);

    p->data[0] = calloc((size_t)make_strides(p->strides[0], p->lambda, size), (size_t)size);
    for (int k = 1; k < OPERANDS; k++) {
        arras_array         x = p->lambda->inputs[k - 1];
        const arras_buffer *from = buffer_of(x->name);
        int64_t count = make_strides(p->strides[k], x, size * spread), at = 0, cells = 1;

        p->data[k] = calloc((size_t)(count * spread), (size_t)size);
        for (int axis = 0; axis < x->rank; axis++)
            cells *= x->shape[axis];
        for (int64_t i = 0; i < cells; i++) {
            int64_t rest = i, offset = 0;

            for (int axis = x->rank - 1; axis >= 0; axis--) {
                offset += rest % x->shape[axis] * p->strides[k][axis];
                rest /= x->shape[axis];
            }
            memcpy(p->data[k] + offset, (const char *)from->data + at++ * size, (size_t)size);
        }
    }
}

static ar_kernel_args args_of(const product *p, const int64_t **strides, const int64_t **lengths)
{
    for (int k = 0; k < OPERANDS; k++) {
        strides[k] = p->strides[k];
        lengths[k] = k ? p->lambda->inputs[k - 1]->shape : p->lambda->shape;
    }
    return (ar_kernel_args){ .data = p->data, .strides = strides, .shapes = lengths };
}

/* In two boxes: all rows of the first panels, then the rest. */
static bool run_product(product *p, ar_engine by)
{
    const int64_t *strides[OPERANDS], *lengths[OPERANDS];
    ar_kernel_args args = args_of(p, strides, lengths);
    int            row = p->gemm.row;
    int64_t        lo[ARRAS_MAX_RANK] = { 0 }, hi[ARRAS_MAX_RANK];

    if (!ar_engine_takes(by, &p->gemm, &args))
        return false;
    memcpy(hi, p->lambda->shape, sizeof *hi * (size_t)p->lambda->rank);
    hi[row] = ar_min64(hi[row], AR_GEMM_ROWS);
    ar_multiply(by, &p->gemm, &args, lo, hi, NULL, NULL);
    lo[row] = hi[row], hi[row] = p->lambda->shape[row];
    ar_multiply(by, &p->gemm, &args, lo, hi, NULL, NULL);
    return true;
}

/* ---- Comparing ------------------------------------------------------------------------------- */

/* The bound of docs/semantics.md: (terms + 2) * eps times the sum of |a| |b|; here these are at
 * most 1 (2 for complex), and complex products take four roundings more. */
static double bound_of(const product *p)
{
    arras_dtype dtype = p->lambda->type.dtype, real = ar_dtype_real(dtype);
    double      terms = (double)p->gemm.terms, eps = real == ARRAS_F32 ? FLT_EPSILON : DBL_EPSILON;

    return dtype == real ? (terms + 2) * eps * terms : 2 * (terms + 6) * eps * terms;
}

static double part_of(arras_dtype dtype, const char *cell, int part)
{
    double parts[2] = { 0, 0 };

    ar_cell_cast(ARRAS_C128, parts, dtype, cell);
    return parts[part];
}

static void compare(const product *p, const char *want)
{
    arras_dtype dtype = p->lambda->type.dtype;
    int64_t     size = (int64_t)ar_dtype_size(dtype), cells = 1;
    double      worst = 0;

    for (int axis = 0; axis < p->lambda->rank; axis++)
        cells *= p->lambda->shape[axis];
    for (int64_t i = 0; i < cells; i++) {
        int64_t rest = i, offset = 0;

        for (int axis = p->lambda->rank - 1; axis >= 0; axis--) {
            offset += rest % p->lambda->shape[axis] * p->strides[0][axis];
            rest /= p->lambda->shape[axis];
        }
        for (int part = 0; part < 2; part++)
            worst = fmax(worst, fabs(part_of(dtype, p->data[0] + offset, part) -
                                     part_of(dtype, want + i * size, part)));
    }
    CHECK(worst <= bound_of(p));
}

static void check_product(arras_array out, int64_t spread, bool by_blas)
{
    product        p = { 0 };
    arras_results *want = NULL;

    if (open_product(&p, out) && CHECK(ar_gemm_match(&p.gemm, p.lambda)) &&
        CHECK_EQ_INT(ar_reference_run(&want, p.plain, nbound, bound, NULL), ARRAS_OK)) {
        place_operands(&p, spread);
        if (ar_blas_available() && CHECK_EQ_INT(run_product(&p, AR_ENGINE_BLAS), by_blas) &&
            by_blas)
            compare(&p, want->items[0].buffer.data);
        if (ar_product_kernels() && p.gemm.dtype <= ARRAS_F64 &&
            CHECK(run_product(&p, AR_ENGINE_BLOCKS)))
            compare(&p, want->items[0].buffer.data);
    }
    ar_results_free(want);
    close_product(&p);
}

#define MULTIPLIES(spec, a, b)                                                                     \
    (begin(), check_product(ar_einsum(spec, 2, L(A_(a), B_(b))), 1, true), end())

/* ---- Products -------------------------------------------------------------------------------- */

static void transpositions(void)
{
    static const struct {
        const char *spec, *a, *b;
    } rows[] = {
        { "ik,kj->ij", "[7, 5]", "[5, 9]" },     { "ik,jk->ij", "[7, 5]", "[9, 5]" },
        { "ki,kj->ij", "[5, 7]", "[5, 9]" },     { "ki,jk->ij", "[5, 7]", "[9, 5]" },
        { "kj,ik->ij", "[5, 9]", "[7, 5]" }, /* the column is the first operand's */
        { "ik,kj->ij", "[1, 5]", "[5, 9]" },     { "ik,kj->ij", "[7, 1]", "[1, 9]" },
        { "ik,kj->ij", "[7, 5]", "[5, 1]" },     { "ki,jk->ij", "[1, 7]", "[9, 1]" },
        { "ik,kj->ij", "[64, 33]", "[33, 65]" },
    };

    for (size_t r = 0; r < AR_COUNT(rows); r++)
        for (arras_dtype dtype = ARRAS_F32; dtype <= ARRAS_C128; dtype++) {
            char a[32], b[32];

            CASE("%s of %s%s", rows[r].spec, ar_dtype_name(dtype), rows[r].a);
            snprintf(a, sizeof a, "%s%s", ar_dtype_name(dtype), rows[r].a);
            snprintf(b, sizeof b, "%s%s", ar_dtype_name(dtype), rows[r].b);
            MULTIPLIES(rows[r].spec, a, b);
        }
}

static void batches(void)
{
    MULTIPLIES("bik,bkj->bij", "f64[3, 7, 5]", "f64[3, 5, 9]");
    MULTIPLIES("bik,kj->bij", "f64[3, 7, 5]", "f64[5, 9]");
    MULTIPLIES("ik,bkj->bij", "f64[7, 5]", "f64[3, 5, 9]");
    MULTIPLIES("ik,bkj->ibj", "f64[7, 5]", "f64[3, 5, 9]"); /* the batch is within the rows */
    MULTIPLIES("abik,bakj->abij", "f32[2, 3, 7, 5]", "f32[3, 2, 5, 9]");
    begin(); /* neither rows nor terms lie side by side */
    check_product(ar_einsum("kib,bkj->bij", 2, L(A_("f64[5, 7, 3]"), B_("f64[3, 5, 9]"))), 1,
                  false);
    end();
}

/* Several panels of rows, the last one short. */
static void panels(void)
{
    MULTIPLIES("ik,kj->ij", "f64[1100, 70]", "f64[70, 20]");
    MULTIPLIES("ik,kj->ij", "f32[513, 300]", "f32[300, 17]");
}

/* ---- What is declined ------------------------------------------------------------------------ */

static bool matches(arras_array out)
{
    product p = { 0 };
    bool    answer = open_product(&p, out) && ar_gemm_match(&p.gemm, p.lambda);

    close_product(&p);
    return answer;
}

#define DECLINES(array) (begin(), CHECK(!matches(array)), end())

static void other_lambdas(void)
{
    DECLINES(ar_einsum("ik,kj->ij", 2, L(A_("i64[4, 4]"), B_("i64[4, 4]"))));
    DECLINES(ar_einsum("ik,kj->ij", 2, L(A_("f32[4, 4]"), B_("f64[4, 4]"))));
    DECLINES(ar_einsum("ik,ikj->ij", 2, L(A_("f64[4, 4]"), B_("f64[4, 4, 4]")))); /* no row */
    DECLINES(ar_einsum("ijk,ikj->ij", 2, L(A_("f64[4, 4, 4]"), B_("f64[4, 4, 4]"))));
    DECLINES(ar_einsum("ikl,klj->ij", 2, L(A_("f64[4, 4, 4]"), B_("f64[4, 4, 4]"))));
    DECLINES(ar_einsum("kk,kj->kj", 2, L(A_("f64[4, 4]"), B_("f64[4, 4]"))));
    DECLINES(ar_einsum("ik,ik->i", 2, L(A_("f64[4, 4]"), B_("f64[4, 4]"))));
    DECLINES(ar_einsum("ij,ij->ij", 2, L(A_("f64[4, 4]"), B_("f64[4, 4]"))));
    DECLINES(reduce(AR_REDUCE_sum, A_("f64[4, 4, 4]"), 4));
    DECLINES(A_("f64[4, 4]"));
}

static void other_strides(void)
{
    begin();
    check_product(ar_einsum("ik,kj->ij", 2, L(A_("f64[4, 4]"), B_("f64[4, 4]"))), 2, false);
    end();
}

static void large_products(void)
{
    CHECK(ar_gemm_is_large(1000, 1000, 1000));
    CHECK(ar_gemm_is_large(100, 100, 100));
    CHECK(!ar_gemm_is_large(90, 90, 90));
    CHECK(!ar_gemm_is_large(1000000, 20, 20)); /* a small contraction, many times */
    CHECK(!ar_gemm_is_large(1000000, 1, 1000));
    CHECK(!ar_gemm_is_large(0, 1000, 1000));
    CHECK(ar_gemm_is_large(INT64_MAX, INT64_MAX, INT64_MAX));
    CHECK(ar_gemm_fills_blocks(32, 49, 32));
    CHECK(!ar_gemm_fills_blocks(20, 49, 20));
    CHECK(!ar_gemm_fills_blocks(1000000, 48, 48));
    CHECK(!ar_gemm_fills_blocks(1000000, 7, 1000));
}

TEST_MAIN
{
    RUN(transpositions);
    RUN(batches);
    RUN(panels);
    RUN(other_lambdas);
    RUN(other_strides);
    RUN(large_products);
}
