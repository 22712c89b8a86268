/* test_fuse.c -- what is stored and what is computed where it is read. */
#include "opt/rewrite.h" /* before the names of the next one */

#include "normalised.h"

static int64_t count_lambdas(const arras_graph *graph)
{
    arras_array *roots = NULL, *nodes = NULL;
    int64_t      count = 0, lambdas = 0;

    if (ar_graph_roots(&roots, graph, NULL) == ARRAS_OK)
        ar_reach(&nodes, &count, graph, ar_graph_output_count(graph), roots, NULL);
    for (int64_t i = 0; i < count; i++)
        lambdas += nodes[i]->kind == AR_LAMBDA;
    ar_free(roots);
    ar_free(nodes);
    return lambdas;
}

/* How many arrays the optimised program computes and stores. */
static int64_t stored(void)
{
    arras_graph *fused = NULL;
    int64_t      lambdas = 0;

    if (CHECK_EQ_INT(ar_optimise(&fused, g, NULL, NULL, NULL), ARRAS_OK))
        lambdas = count_lambdas(fused);
    ar_graph_free(fused);
    return lambdas;
}

#define STORES(array, want)                                                                        \
    (begin(), ar_graph_output_add(g, "out", array), CHECK_EQ_INT(stored(), want), end())

static arras_array op1(ar_op op, arras_array x) { return ar_map(op, 1, L(x)); }
static arras_array op2(ar_op op, arras_array x, arras_array y) { return ar_map(op, 2, L(x, y)); }
static arras_array sum(arras_array x, uint32_t axes)
{
    return ar_reduce(AR_REDUCE_sum, x, axes, false, NULL);
}

static arras_array chain(int length)
{
    arras_array x = N("f64[10]"), y = x;

    for (int i = 0; i < length; i++)
        y = op1(AR_OP_sin, op2(AR_OP_add, y, x));
    return y;
}

/* x[i] + x[i + 1], which is shorter by one */
static arras_array pairs(arras_array x)
{
    arras_array out[2];

    arras_neighbours(out, x, 2, (int64_t[]){ 0, 1 }, NULL);
    return op2(AR_OP_add, out[0], out[1]);
}

static arras_array heavy(arras_array x)
{
    for (int i = 0; i < 12; i++)
        x = op1(AR_OP_sin, x);
    return x;
}

static arras_array large(const char *name, int64_t rows, int64_t columns)
{
    return ar_input(g, name, ARRAS_F64, 2, (arras_dim[]){ rows, columns });
}

static void chains_are_one_kernel(void)
{
    STORES(chain(1), 1);
    STORES(chain(20), 1);
    STORES(ar_permute(chain(3), (int[]){ 0 }), 1);
    STORES(ar_reshape(chain(3), 2, (arras_dim[]){ 2, 5 }, 'C'), 1);
    STORES(ar_concat(2, L(chain(3), chain(4)), 0), 1);
}

static arras_array centred(arras_array x)
{
    return op2(AR_OP_subtract, x, ar_reduce(AR_REDUCE_max, x, 2, true, NULL));
}

static void reductions_take_what_feeds_and_follows_them(void)
{
    STORES(sum(chain(3), 1), 1);
    STORES(op1(AR_OP_sqrt, sum(N("f64[4, 5]"), 2)), 1);
    STORES(sum(centred(large("x", 5000, 4000)), 2), 1); /* each maximum is needed by one sum */
    STORES(centred(large("x", 5000, 4000)), 2);         /* and here by a whole row */
}

static void cheap_things_are_computed_again(void)
{
    STORES(pairs(op1(AR_OP_negative, N("f64[10]"))), 1);
    STORES(pairs(heavy(N("f64[10]"))), 1); /* a kernel of its own costs more */
    STORES(pairs(heavy(arras_placeholder(g, "x", ARRAS_F64, 1, (arras_dim[]){ 1000000 }))), 2);
    STORES(pairs(pairs(pairs(N("f64[10]")))), 1);
}

/* max over 2x2 windows, without overlap, of the 3x3 stencil w[r, s] of x, where positive. */
static arras_array convolution(void)
{
    arras_array x = large("x", 770, 1154), w = large("w", 3, 3), relu, conv;
    arras_expr  i = ar_expr_index(g, 0), j = ar_expr_index(g, 1), r = ar_expr_var(g, "r"),
               s = ar_expr_var(g, "s"), zero = ar_expr_literal(g, ARRAS_I64, (ar_value){ .i = 0 }),
               two = ar_expr_literal(g, ARRAS_I64, (ar_value){ .i = 2 }),
               three = ar_expr_literal(g, ARRAS_I64, (ar_value){ .i = 3 });
#define PLUS(a, b) ar_expr_apply(AR_OP_add, 2, (arras_expr[]){ a, b })
#define TIMES(a, b) ar_expr_apply(AR_OP_multiply, 2, (arras_expr[]){ a, b })
#define READ(x, a, b) ar_expr_load(x, 2, (arras_expr[]){ a, b }, NULL)
    conv = ar_lambda(
        g, 2, (arras_dim[]){ 768, 1152 },
        ar_expr_reduce(AR_REDUCE_sum, "r", zero, three,
                       ar_expr_reduce(AR_REDUCE_sum, "s", zero, three,
                                      TIMES(READ(x, PLUS(i, r), PLUS(j, s)), READ(w, r, s)))));
    relu =
        op2(AR_OP_maximum, conv, ar_const(g, (ar_type){ ARRAS_F64, false }, (ar_value){ .f = 0 }));
    return ar_lambda(
        g, 2, (arras_dim[]){ 384, 576 },
        ar_expr_reduce(AR_REDUCE_max, "r", zero, two,
                       ar_expr_reduce(AR_REDUCE_max, "s", zero, two,
                                      READ(relu, PLUS(TIMES(i, two), r), PLUS(TIMES(j, two), s)))));
}

/* Windows that do not overlap read each cell once, and vectors of every second cell are cheap. */
static void windows_become_stencils(void)
{
    arras_graph *fused = NULL;

    STORES(convolution(), 1);
    begin();
    ar_graph_output_add(g, "out", convolution());
    if (CHECK_EQ_INT(ar_optimise(&fused, g, NULL, NULL, NULL), ARRAS_OK)) {
        ar_text text = { 0 };

        CHECK_EQ_INT(ar_print(&text, fused, true, NULL), ARRAS_OK);
        CHECK(text.data && !strstr(text.data, "sum[") && !strstr(text.data, "max["));
        CHECK_HAS(text.data, "= multiply(i0, 2);");
        ar_text_free(&text);
    }
    ar_graph_free(fused);
    end();
}

static void products_are_contracted_in_pairs(void)
{
    STORES(
        ar_einsum("ij,jk,kl->il", 3, L(large("a", 50, 60), large("b", 60, 70), large("c", 70, 80))),
        2);
    STORES(ar_einsum("i,i,i->i", 3, L(N("f64[9]"), N("f64[9]"), N("f64[9]"))), 1);
    begin();
    ar_graph_output_add(g, "out",
                        ar_einsum("ijk,jlm,ikm->kl", 3,
                                  L(N("i64[4, 3, 2]"), N("i64[3, 5, 4]"), N("i64[4, 2, 4]"))));
    check_same(EXACT);
    end();
}

/* ---- Limits ---------------------------------------------------------------------------------- */

static arras_array sum_of_inputs(int count)
{
    arras_array total = NULL;

    for (int i = 0; i < count; i++) {
        char        name[16];
        arras_array x;

        snprintf(name, sizeof name, "x%d", i);
        x = ar_input(g, name, ARRAS_F64, 1, (arras_dim[]){ 1000 });
        total = total ? op2(AR_OP_add, total, x) : x;
    }
    return total;
}

static int most_inputs(const arras_graph *graph)
{
    int most = 0;

    for (int64_t id = 0; id < ar_graph_count(graph); id++)
        most = ar_graph_node(graph, id)->ninputs > most ? ar_graph_node(graph, id)->ninputs : most;
    return most;
}

static void a_kernel_reads_so_many_arrays(void)
{
    arras_graph *fused = NULL;

    begin();
    ar_graph_output_add(g, "out", sum_of_inputs(200));
    if (CHECK_EQ_INT(ar_optimise(&fused, g, NULL, NULL, NULL), ARRAS_OK)) {
        CHECK(most_inputs(fused) <= 60);
        CHECK_EQ_INT(count_lambdas(fused), 4);
    }
    ar_graph_free(fused);
    end();
}

static void nothing_is_fused_on_request(void)
{
    arras_graph *fused = NULL;

    begin();
    ar_graph_output_add(g, "out", chain(10));
    if (CHECK_EQ_INT(ar_optimise(&fused, g, &(ar_opt_options){ .no_fusion = true }, NULL, NULL),
                     ARRAS_OK))
        CHECK_EQ_INT(count_lambdas(fused), 20);
    ar_graph_free(fused);
    end();
}

/* ---- Decisions ------------------------------------------------------------------------------- */

/* y = -x * x, all of 800 bytes: x is read twice and once, -x is written and read. */
static void decisions_have_numbers(void)
{
    ar_decisions d = { 0 };
    arras_graph *fused = NULL;
    arras_array  x;
    ar_traffic   traffic;

    begin();
    x = ar_input(g, "x", ARRAS_F64, 1, (arras_dim[]){ ar_dim_size(g, "n") });
    ar_graph_output_add(g, "y", op2(AR_OP_multiply, op1(AR_OP_negative, x), x));
    if (CHECK_EQ_INT(ar_optimise(&fused, g, NULL, &d, NULL), ARRAS_OK)) {
        traffic = ar_decisions_traffic(&d, fused, (int64_t[]){ 100 });
        CHECK_EQ_INT(traffic.before, 5 * 800);
        CHECK_EQ_INT(traffic.after, 2 * 800);
        CHECK_EQ_INT(traffic.least, 2 * 800);
        CHECK_EQ_INT(ar_decisions_traffic(&d, fused, NULL).after, 0); /* n is not known */
        if (CHECK_EQ_INT((int64_t)d.count, 3)) {
            CHECK_STR(d.items[0].what, "x: f64[n]");
            CHECK_EQ_INT(d.items[0].fate, AR_FATE_INPUT);
            CHECK_EQ_INT(d.items[1].fate, AR_FATE_INLINED);
            CHECK_STR(d.items[1].reason, "read once, in the same cell");
            CHECK_STR(d.items[2].what, "y: f64[n]");
            CHECK_EQ_INT(d.items[2].fate, AR_FATE_OUTPUT);
        }
    }
    ar_decisions_free(&d);
    ar_graph_free(fused);
    end();
}

static void outputs_are_stored(void)
{
    begin();
    {
        arras_array y = chain(2);

        ar_graph_output_add(g, "y", y);
        ar_graph_output_add(g, "z", op1(AR_OP_cos, y));
    }
    CHECK_EQ_INT(stored(), 2);
    end();
}

/* Reading outside a fused array would go unnoticed: it is not fused. */
static void an_array_that_may_be_left_is_stored(void)
{
    static const arras_edge wrap = { ARRAS_EDGE_WRAP, NULL };
    arras_array             out;

    begin();
    arras_neighbours(&out, op1(AR_OP_negative, N("f64[10]")), 1, (int64_t[]){ 3 }, &wrap);
    ar_graph_output_add(g, "out", out);
    CHECK_EQ_INT(stored(), 2);
    end();
}

static void long_chains_are_cut(void)
{
    int64_t kernels;

    begin();
    ar_graph_output_add(g, "out", chain(2000));
    kernels = stored();
    CHECK(kernels > 1 && kernels < 100);
    end();
}

static arras_status fuse_it(void)
{
    ar_decisions decisions = { 0 };
    arras_graph *fused = NULL;
    arras_status status = ar_optimise(&fused, g, NULL, &decisions, NULL);

    ar_decisions_free(&decisions);
    ar_graph_free(fused);
    return status;
}

static void every_allocation_may_fail(void)
{
    arras_status status = ARRAS_ENOMEM;
    int64_t      n = 0, live;

    begin();
    ar_graph_output_add(g, "out", pairs(chain(5)));
    ar_graph_output_add(g, "conv", convolution());
    ar_graph_output_add(g, "sum", sum(large("z", 100000, 100000), 3));
    ar_graph_output_add(
        g, "product",
        ar_einsum("ij,jk,kl->il", 3, L(large("a", 5, 6), large("b", 6, 7), large("c", 7, 8))));
    live = ar_alloc_live();
    for (; status == ARRAS_ENOMEM && n < 10000; n++) {
        ar_alloc_fail_from(n + 1);
        status = fuse_it();
        ar_alloc_fail_from(0);
        if (!CHECK_EQ_INT(ar_alloc_live(), live))
            break;
    }
    CHECK_EQ_INT(status, ARRAS_OK);
    CHECK(n > 10);
    end();
}

/* sum[k: 0, 4 fused](x[i, k] * 1), with something else for i. */
static arras_expr fused_sum(arras_expr i, arras_expr k)
{
    arras_array x = ar_input(g, "x", ARRAS_F64, 2, (arras_dim[]){ 5, 4 });
    arras_expr  one = ar_expr_cast(ar_expr_literal(g, ARRAS_F64, (ar_value){ .f = 1 }), ARRAS_F64);
    arras_expr  load = ar_expr_load(x, 2, (arras_expr[]){ i, k }, NULL);

    return ar_expr_reduce_tree(AR_REDUCE_sum, AR_TREE_FUSED, "k", ar_int(g, 0), ar_int(g, 4),
                               ar_binary(AR_OP_multiply, load, one));
}

/* The product stays one although a factor is 1, also where the variable gets another name since
 * one of its name comes from outside. */
static void fused_sums_stay_fused(void)
{
    static const char *const outside[] = { "j", "k" };

    for (size_t n = 0; n < AR_COUNT(outside); n++) {
        arras_expr sum, other;
        ar_space   space = { 0 };

        begin();
        sum = fused_sum(ar_expr_index(g, 0), ar_expr_var(g, "k"));
        other = ar_expr_var(g, outside[n]);
        sum = ar_substitute_indices(sum, 1, &other, (ar_place_of){ &space, NULL });
        if (CHECK_EQ_INT(sum->kind, AR_EXPR_REDUCE)) {
            CHECK_EQ_INT(ar_expr_tree(sum), AR_TREE_FUSED);
            CHECK(ar_expr_is(sum->args[2], AR_OP_multiply));
            CHECK_STR(sum->name, n ? "k_" : "k");
        }
        end();
    }
}

TEST_MAIN
{
    RUN(fused_sums_stay_fused);
    RUN(chains_are_one_kernel);
    RUN(reductions_take_what_feeds_and_follows_them);
    RUN(cheap_things_are_computed_again);
    RUN(windows_become_stencils);
    RUN(products_are_contracted_in_pairs);
    RUN(a_kernel_reads_so_many_arrays);
    RUN(nothing_is_fused_on_request);
    RUN(decisions_have_numbers);
    RUN(outputs_are_stored);
    RUN(an_array_that_may_be_left_is_stored);
    RUN(long_chains_are_cut);
    RUN(every_allocation_may_fail);
}
