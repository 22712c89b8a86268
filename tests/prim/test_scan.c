/* test_scan.c -- stretches of lines, one after the other, give the bits of whole lines, which are
 * those of the reference evaluator: every reduction and type, lines along and across memory. */
#include "evaluate.h"
#include "prim/prim.h"

enum { MOST = 3 * AR_SCAN_BLOCK, LINES = 5 };

static uint64_t state = 1;

static int64_t below(int64_t n)
{
    state = state * 6364136223846793005u + 1442695040888963407u;
    return (int64_t)(state >> 33) % n;
}

/* Reals are not rounded alike in another order. */
static void fill(char *cells, arras_dtype dtype, int64_t n)
{
    size_t size = ar_dtype_size(dtype);

    for (int64_t i = 0; i < n; i++) {
        double x = (double)(below(2001) - 1000) / 7;

        ar_cell_cast(dtype, cells + i * (int64_t)size, ARRAS_F64, &x);
    }
}

/* Cuts every line at the same random multiples of groups. */
static void in_stretches(ar_scan_lines job)
{
    static char carries[LINES * 32];
    const char *in = job.in;
    char       *out = job.out;

    job.carries = carries;
    for (job.first = 0; job.first < job.length; job.first += job.count) {
        job.count = (1 + below(40)) * AR_SCAN_GROUP * (1 + below(50));
        if (job.count > job.length - job.first)
            job.count = job.length - job.first;
        job.in = in + job.first * job.in_step;
        job.out = out + job.first * job.out_step;
        ar_scan_run(&job);
    }
}

static bool evaluate_node(char *out, arras_array node, const char *cells)
{
    arras_results *results = NULL;
    arras_buffer   x = { (void *)(uintptr_t)cells, node->type.dtype, 2, node->inputs[0]->shape,
                         NULL };
    arras_binding  binding = { "x", x };
    bool           good;

    arras_output(g, "y", node);
    good = CHECK_EQ_INT(arras_evaluate(&results, g, 1, &binding, NULL), ARRAS_OK);
    if (good)
        memcpy(out, arras_results_find(results, "y")->buffer.data,
               (size_t)(node->shape[0] * node->shape[1]) * ar_dtype_size(node->type.dtype));
    arras_results_free(results);
    return good;
}

static void one(ar_reduction reduction, arras_dtype dtype, int64_t length, int axis)
{
    static char cells[LINES * MOST * 16], want[LINES * MOST * 16], got[LINES * MOST * 16];
    int64_t     size = (int64_t)ar_dtype_size(dtype), row = axis ? length : LINES;
    int64_t     shape[2] = { axis ? LINES : length, row };
    int64_t     along = axis ? size : row * size, across = axis ? row * size : size;
    arras_array node;

    CASE("%s of %s, %" PRId64 " cells, axis %d", ar_reduction_name(reduction), ar_dtype_name(dtype),
         length, axis);
    if (!CHECK_EQ_INT(arras_graph_new(&g, NULL), ARRAS_OK))
        return;
    fill(cells, dtype, LINES * length);
    node = ar_scan(reduction, arras_placeholder(g, "x", dtype, 2, shape), axis);
    if (CHECK(node->type.dtype == dtype) && evaluate_node(want, node, cells)) {
        in_stretches((ar_scan_lines){ .op = ar_reduction_op(reduction),
                                      .dtype = dtype,
                                      .length = length,
                                      .in = cells,
                                      .out = got,
                                      .in_step = along,
                                      .out_step = along,
                                      .lines = LINES,
                                      .in_line = across,
                                      .out_line = across });
        CHECK(memcmp(want, got, (size_t)(LINES * length * size)) == 0);
    }
    arras_graph_free(g);
}

static void stretches_are_lines(void)
{
    static const struct {
        ar_reduction reduction;
        arras_dtype  dtype;
    } rows[] = {
        { AR_REDUCE_sum, ARRAS_I64 },  { AR_REDUCE_sum, ARRAS_U64 },  { AR_REDUCE_sum, ARRAS_F32 },
        { AR_REDUCE_sum, ARRAS_F64 },  { AR_REDUCE_sum, ARRAS_C64 },  { AR_REDUCE_sum, ARRAS_C128 },
        { AR_REDUCE_prod, ARRAS_I64 }, { AR_REDUCE_prod, ARRAS_F64 }, { AR_REDUCE_max, ARRAS_I8 },
        { AR_REDUCE_min, ARRAS_F32 },  { AR_REDUCE_any, ARRAS_BOOL },
    };
    /* One cell; a line that is added one by one, and the first that is not; blocks, and some more.
     */
    static const int64_t lengths[] = {
        1, AR_FOLD_SERIAL, AR_FOLD_SERIAL + 1, AR_SCAN_BLOCK, AR_SCAN_BLOCK + 3, MOST - 5
    };

    for (size_t i = 0; i < AR_COUNT(rows); i++)
        for (size_t k = 0; k < AR_COUNT(lengths); k++)
            for (int axis = 0; axis < 2; axis++)
                one(rows[i].reduction, rows[i].dtype, lengths[k], axis);
}

/* In groups, not in one chain: the difference shows. */
static void sums_of_many_reals_are_accurate(void)
{
    enum { N = 1 << 20 };
    static float cells[N];
    ar_value     carry[2];
    double       worst = 0;

    for (int i = 0; i < N; i++)
        cells[i] = 0.1f;
    ar_scan_run(&(ar_scan_lines){ .op = AR_OP_add,
                                  .dtype = ARRAS_F32,
                                  .length = N,
                                  .count = N,
                                  .in = (char *)cells,
                                  .out = (char *)cells,
                                  .in_step = 4,
                                  .out_step = 4,
                                  .lines = 1,
                                  .carries = (char *)carry });
    for (int i = 0; i < N; i++) {
        double exact = (double)0.1f * (i + 1), off = (cells[i] - exact) / exact;

        worst = off > worst ? off : -off > worst ? -off : worst;
    }
    CHECK(worst < 1e-4); /* one chain: 5e-3 */
}

TEST_MAIN
{
    RUN(stretches_are_lines);
    RUN(sums_of_many_reals_are_accurate);
}
