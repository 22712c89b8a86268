/* test_fold.c -- the documented order in which many cells become one: the same wherever cells are
 * reduced. */
#include "eval/reference.h"
#include "evaluate.h"

enum { MOST = 9000 };

/* ---- The order, written down a second time, as docs/semantics.md says it ----------------------
 */

typedef struct {
    ar_op_function *op;
    const ar_value *cells;
} sequence;

/* Cells first, first + step, ... below `end`, one after the other. */
static ar_value in_turn(const sequence *s, int first, int step, int end)
{
    ar_value total = s->cells[first];

    for (int i = first + step; i < end; i += step)
        s->op(&total, &total, &s->cells[i], &s->cells[i]);
    return total;
}

static ar_value of_lanes(const sequence *s, int first, int end, int lane, int lanes)
{
    ar_value left, right;

    if (lanes == 16)
        return in_turn(s, first + lane, 16, end);
    left = of_lanes(s, first, end, lane, 2 * lanes);
    if (first + lane + lanes >= end)
        return left;
    right = of_lanes(s, first, end, lane + lanes, 2 * lanes);
    s->op(&left, &left, &right, &right);
    return left;
}

static ar_value of_blocks(const sequence *s, int first, int end)
{
    int      split = 1024;
    ar_value left, right;

    if (end - first <= 1024)
        return of_lanes(s, first, end, 0, 1);
    while (2 * split < end - first)
        split *= 2;
    left = of_blocks(s, first, first + split);
    right = of_blocks(s, first + split, end);
    s->op(&left, &left, &right, &right);
    return left;
}

static ar_value expected(const sequence *s, int n)
{
    return n <= 64 ? in_turn(s, 0, 1, n) : of_blocks(s, 0, n);
}

/* ---- Cells whose sums and products round differently in every order ---------------------------
 */

static const int lengths[] = { 1,    2,    3,    16,   63,   64,   65,   66,   80,
                               100,  1000, 1023, 1024, 1025, 1039, 1040, 1041, 2047,
                               2048, 2049, 3072, 3077, 5120, 7173, 8192, 8999 };

static void fill(ar_value *cells, arras_dtype dtype, bool near_one)
{
    for (int i = 0; i < MOST; i++) {
        double parts[2] = { sin(i * 1e3), cos(i * 3e3) };
        double scale = near_one ? 0 : pow(10, i % 11);

        for (int p = 0; p < 2; p++)
            parts[p] = near_one ? (1 - p) + parts[p] * 1e-3 : parts[p] * scale;
        cells[i] = (ar_value){ 0 };
        ar_cell_cast(dtype, &cells[i], ARRAS_C128, parts);
    }
}

static ar_value folded(ar_reduction reduction, arras_dtype dtype, const ar_value *cells, int n)
{
    ar_fold  fold;
    ar_value out = { 0 };

    ar_fold_open(&fold, reduction, (ar_type){ dtype, false });
    ar_fold_start(&fold);
    for (int i = 0; i < n; i++)
        ar_fold_add(&fold, dtype, &cells[i], i);
    CHECK(ar_fold_end(&fold, &out));
    return out;
}

static void check_lengths(ar_reduction reduction, arras_dtype dtype)
{
    static ar_value cells[MOST];
    sequence        s = { ar_op_value(ar_reduction_op(reduction), dtype), cells };

    fill(cells, dtype, reduction == AR_REDUCE_prod);
    for (size_t i = 0; i < AR_COUNT(lengths); i++) {
        ar_value got = folded(reduction, dtype, cells, lengths[i]);
        ar_value want = expected(&s, lengths[i]);

        CASE("%s of %d cells of %s", ar_reduction_name(reduction), lengths[i],
             ar_dtype_name(dtype));
        CHECK(memcmp(&got, &want, ar_dtype_size(dtype)) == 0);
    }
}

static void order_of_a_fold(void)
{
    static const ar_reduction reductions[] = { AR_REDUCE_sum, AR_REDUCE_prod, AR_REDUCE_min,
                                               AR_REDUCE_max };

    for (size_t r = 0; r < AR_COUNT(reductions); r++)
        for (arras_dtype dtype = ARRAS_F32; dtype <= ARRAS_C128; dtype++)
            check_lengths(reductions[r], dtype);
}

/* One fold serves many rows: nothing of a longer one may be left. */
static void fold_starts_anew(void)
{
    double  cells[1100], total = 0;
    ar_fold fold;

    for (int i = 0; i < 1100; i++)
        cells[i] = i;
    ar_fold_open(&fold, AR_REDUCE_sum, (ar_type){ ARRAS_F64, false });
    for (int n = 1100; n > 0; n -= 33) {
        ar_fold_start(&fold);
        for (int i = 0; i < n; i++)
            ar_fold_add(&fold, ARRAS_F64, &cells[i], i);
        CHECK(ar_fold_end(&fold, &total));
        CHECK_EQ_REAL(total, n * (n - 1) / 2.0);
    }
}

/* ---- All that reduces goes by it ------------------------------------------------------------- */

static arras_expr whole(int64_t value)
{
    return ar_expr_literal(g, ARRAS_I64, (ar_value){ .i = value });
}

static arras_array sum_in_expression(arras_array x)
{
    arras_expr k = ar_expr_var(g, "k"), load = ar_expr_load(x, 1, &k, NULL);

    return ar_lambda(g, 0, NULL,
                     ar_expr_reduce(AR_REDUCE_sum, "k", whole(0), whole(x->shape[0]), load));
}

/* One row of stored cells, times ones. */
static arras_array sum_of_sparse_row(arras_array x)
{
    int64_t n = x->shape[0], starts[2] = { 0, n }, two = 2, one = 1;
    double  factor = 1;

    return ar_csr(x, ar_data(g, ARRAS_I64, 1, &n, (int64_t[]){ 0 }, starts, true),
                  ar_data(g, ARRAS_I64, 1, &two, NULL, starts, true),
                  ar_data(g, ARRAS_F64, 1, &one, NULL, &factor, true));
}

static void order_of_nodes(void)
{
    static ar_value cells[MOST];
    static double   numbers[MOST];

    fill(cells, ARRAS_F64, false);
    for (int i = 0; i < MOST; i++)
        numbers[i] = cells[i].f;
    for (size_t i = 0; i < AR_COUNT(lengths); i++) {
        int64_t        n = lengths[i];
        sequence       s = { ar_op_value(AR_OP_add, ARRAS_F64), cells };
        double         want = expected(&s, lengths[i]).f;
        arras_results *results = NULL;
        arras_array    x;

        CASE("%" PRId64 " cells", n);
        begin();
        x = ar_data(g, ARRAS_F64, 1, &n, NULL, numbers, false);
        ar_graph_output_add(g, "reduce", reduce(AR_REDUCE_sum, x, 1));
        ar_graph_output_add(g, "einsum", ar_einsum("i->", 1, &x));
        ar_graph_output_add(g, "expression", sum_in_expression(x));
        ar_graph_output_add(g, "sparse", sum_of_sparse_row(x));
        CHECK_EQ_INT(ar_reference_run(&results, g, 0, NULL, NULL), ARRAS_OK);
        for (int k = 0; results && k < results->count; k++)
            CHECK_EQ_REAL(*(double *)results->items[k].buffer.data, want);
        ar_results_free(results);
        end();
    }
}

TEST_MAIN
{
    RUN(order_of_a_fold);
    RUN(fold_starts_anew);
    RUN(order_of_nodes);
}
