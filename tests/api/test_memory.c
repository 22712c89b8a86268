/* test_memory.c -- the n-th allocation fails, for every n: no crash, no leak, and a message or a
 * result that is right all the same. */
#include "ir/ir.h"
#include "test.h"

#define SHAPE(...)                                                                                 \
    (int)(sizeof((arras_dim[]){ __VA_ARGS__ }) / sizeof(arras_dim)), (const arras_dim[])           \
    {                                                                                              \
        __VA_ARGS__                                                                                \
    }

enum { N = 6, M = 4 };

/* ---- Programs that use every kind of node ---------------------------------------------------- */

static void record_elementwise(arras_graph *g)
{
    arras_dim   n = arras_size(g, "n"), m = arras_dim_add(g, arras_size(g, "k"), 1);
    arras_array x = arras_placeholder(g, "x", ARRAS_F64, SHAPE(n, m)),
                y = arras_sin(arras_add(x, arras_float(g, 2)));

    arras_output(g, "y", arras_where(arras_less(x, y), y, arras_cast(x, ARRAS_F32)));
    arras_output(g, "s", arras_std(y, 1, (int[]){ 0 }, 1, true));
    arras_output(g, "count", arras_size_value(g, m));
    arras_output(g, "place", arras_argmin(y, 0, NULL, false));
}

static void record_movement(arras_graph *g)
{
    static const double cells[N][M] = { { 1, 2, 3, 4 }, { 5, 6, 7, 8 } };
    const int64_t       two[] = { 1, -2 };
    arras_array         x = arras_placeholder(g, "x", ARRAS_F64, SHAPE(N, M)),
                d = arras_copy(g, ARRAS_F64, SHAPE(N, M), NULL, cells);
    arras_array i = arras_copy(g, ARRAS_I64, SHAPE(2), NULL, two), parts[2], r;

    parts[0] = arras_roll(x, 2, (int64_t[]){ 1, 2 }, (int[]){ 0, 1 }), parts[1] = d;
    r = arras_concatenate(2, parts, 0);
    r = arras_permute(arras_stack(2, (arras_array[]){ r, r }, 1), 0, NULL);
    arras_output(g, "r", arras_reshape(r, SHAPE(-1, 2), 'F'));
    arras_output(
        g, "gather",
        arras_index(x, 2, (arras_item[]){ arras_gather(i), arras_slice(3, ARRAS_NONE, -2) }));
    arras_output(g, "pad", arras_pad(x, (int64_t[]){ 1, 2, 3, 0 }, ARRAS_PAD_MEDIAN, NULL));
    arras_output(g, "tile", arras_tile(x, 1, (int64_t[]){ 3 }));
    arras_output(g, "product", arras_einsum("ij,kj->ik", 2, (arras_array[]){ x, d }));
}

static void record_lambda(arras_graph *g)
{
    arras_array x = arras_placeholder(g, "x", ARRAS_F64, SHAPE(N, M));
    arras_edge  edges[] = { { ARRAS_EDGE_REFLECT, NULL },
                            { ARRAS_EDGE_CONSTANT, arras_expr_int(g, 7) } };
    int64_t     starts[] = { 0, 1, 3 }, columns[] = { 0, 2, 1 };
    double      values[] = { 1, 2, 3 };
    arras_expr  load = arras_expr_load(
         x, 2, (arras_expr[]){ arras_expr_index(g, 0), arras_expr_var(g, "k") }, edges);

    load = arras_expr_apply(ARRAS_OP_multiply, 2, (arras_expr[]){ load, load });
    load = arras_expr_reduce(ARRAS_REDUCE_sum, "k", arras_expr_int(g, -2), arras_expr_index(g, 0),
                             load);
    arras_output(g, "sums", arras_lambda(g, SHAPE(N), load));
    arras_output(g, "near",
                 arras_stencil(x, 2, (int64_t[]){ -1, 0, 1, 3 }, (double[]){ 0.5, 2 }, edges));
    arras_output(g, "sparse",
                 arras_csr_matmul(arras_copy(g, ARRAS_F64, SHAPE(3), NULL, values),
                                  arras_copy(g, ARRAS_I64, SHAPE(3), NULL, columns),
                                  arras_copy(g, ARRAS_I64, SHAPE(3), NULL, starts), x));
}

static void record_calls(arras_graph *g)
{
    arras_dim   n = arras_size(g, "n");
    arras_array p = arras_param(g, "p", ARRAS_F64, SHAPE(n, M)),
                x = arras_placeholder(g, "x", ARRAS_F64, SHAPE(N, M));
    arras_array    results[] = { arras_multiply(p, p), arras_sum(p, 1, (int[]){ 0 }, false) };
    arras_function f =
        arras_function_new(g, "f", 1, &p, 2, (const char *[]){ "square", "total" }, results);
    arras_array once = arras_call(f, "square", 1, &x);

    arras_output(g, "twice", arras_call(f, "square", 1, &once));
    arras_output(g, "total", arras_call(f, "total", 1, &once));
}

static void record_mistake(arras_graph *g)
{
    arras_array x = arras_placeholder(g, "x", ARRAS_F64, SHAPE(N, M));

    arras_output(g, "y", arras_add(x, arras_permute(x, 0, NULL)));
}

static const struct {
    const char *name;
    void (*record)(arras_graph *);
    arras_status status; /* when nothing fails */
} programs[] = {
    { "elementwise", record_elementwise, ARRAS_OK }, { "movement", record_movement, ARRAS_OK },
    { "lambda", record_lambda, ARRAS_OK },           { "calls", record_calls, ARRAS_OK },
    { "mistake", record_mistake, ARRAS_ESHAPE },
};

/* ---- All that can be done with a program ----------------------------------------------------- */

static arras_status evaluate(const arras_graph *g, double *sum)
{
    static double  cells[N * M];
    const int64_t  shape[] = { N, M };
    arras_binding  x = { "x", { cells, ARRAS_F64, 2, shape, NULL } };
    arras_results *results = NULL;
    arras_status   status;

    for (int i = 0; i < N * M; i++)
        cells[i] = i % 5 - 1.5;
    status = arras_evaluate(&results, g, 1, &x, NULL);
    *sum = 0;
    for (int i = 0; status == ARRAS_OK && i < arras_results_count(results); i++) {
        const arras_buffer *b = &arras_results_at(results, i)->buffer;
        double              first = 0;

        ar_cell_cast(ARRAS_F64, &first, b->dtype, b->data);
        *sum += first;
    }
    arras_results_free(results);
    return status;
}

static arras_status print_all(const arras_graph *g)
{
    arras_status status = ARRAS_OK;

    for (int form = 0; form < ARRAS_TEXT_END && status == ARRAS_OK; form++) {
        char  *text = NULL;
        size_t length;

        status = arras_graph_print(&text, &length, g, (arras_text_form)form, NULL);
        if (status == ARRAS_OK && form == ARRAS_TEXT_FULL) {
            arras_graph *back = NULL;

            status = arras_graph_read(&back, text, length, NULL);
            if (status == ARRAS_OK)
                arras_array_equal(arras_output_array(g, 0), arras_output_array(back, 0));
            arras_graph_free(back);
        }
        arras_text_free(text);
    }
    return status;
}

static arras_status go_through(void (*record)(arras_graph *), double *sum)
{
    arras_graph *g = NULL;
    arras_status status = arras_graph_new(&g, NULL);

    if (status != ARRAS_OK)
        return status;
    record(g);
    status = print_all(g);
    if (status == ARRAS_OK)
        status = evaluate(g, sum);
    arras_graph_free(g);
    return status;
}

static void every_allocation_may_fail(void)
{
    for (size_t p = 0; p < AR_COUNT(programs); p++) {
        double  whole = 0, sum = 0;
        int64_t live = ar_alloc_live(), n = 0;

        CASE("%s", programs[p].name);
        CHECK_EQ_INT(go_through(programs[p].record, &whole), programs[p].status);
        for (arras_status status = ARRAS_ENOMEM; status == ARRAS_ENOMEM && n < 100000; n++) {
            ar_alloc_fail_from(n + 1);
            status = go_through(programs[p].record, &sum);
            ar_alloc_fail_from(0);
            if (!CHECK_EQ_INT(ar_alloc_live(), live) ||
                !CHECK(status == ARRAS_ENOMEM || status == programs[p].status))
                return;
        }
        printf("    %s: %" PRId64 " allocations\n", programs[p].name, n);
        CHECK_EQ_REAL(sum, whole);
        CHECK(n > 10);
    }
}

TEST_MAIN { RUN(every_allocation_may_fail); }
