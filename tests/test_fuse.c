/* test_fuse.c -- what is stored and what is computed where it is read. */
#include "normalised.h"

/* How many arrays the fused program computes and stores. */
static int stored(void)
{
    arras_graph *normal = NULL, *fused = NULL;
    arras_array *roots = NULL, *nodes = NULL;
    int64_t      count = 0;
    int          lambdas = 0;

    if (CHECK_EQ_INT(ar_normalise(&normal, g, NULL), ARRAS_OK) &&
        CHECK_EQ_INT(ar_fuse(&fused, normal, NULL), ARRAS_OK) &&
        ar_graph_roots(&roots, fused, NULL) == ARRAS_OK)
        ar_reach(&nodes, &count, fused, ar_graph_output_count(fused), roots, NULL);
    for (int64_t i = 0; i < count; i++)
        lambdas += nodes[i]->kind == AR_LAMBDA;
    ar_free(roots);
    ar_free(nodes);
    ar_graph_free(fused);
    ar_graph_free(normal);
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

static void chains_are_one_kernel(void)
{
    STORES(chain(1), 1);
    STORES(chain(20), 1);
    STORES(ar_permute(chain(3), (int[]){ 0 }), 1);
    STORES(ar_reshape(chain(3), 2, (arras_dim[]){ 2, 5 }, 'C'),
           2); /* div and mod: not seen inside */
}

static void reductions_take_what_feeds_them(void)
{
    STORES(sum(chain(3), 1), 2);                        /* an index k is not seen inside yet */
    STORES(op1(AR_OP_sqrt, sum(N("f64[4, 5]"), 2)), 2); /* what follows reads a stored sum */
}

static void cheap_things_are_computed_again(void)
{
    STORES(pairs(op1(AR_OP_negative, N("f64[10]"))), 1);
    STORES(pairs(heavy(N("f64[10]"))), 2);
    STORES(pairs(pairs(pairs(N("f64[10]")))), 1);
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
    int kernels;

    begin();
    ar_graph_output_add(g, "out", chain(2000));
    kernels = stored();
    CHECK(kernels > 1 && kernels < 100);
    end();
}

static arras_status fuse_it(void)
{
    arras_graph *normal = NULL, *fused = NULL;
    arras_status status = ar_normalise(&normal, g, NULL);

    if (status == ARRAS_OK)
        status = ar_fuse(&fused, normal, NULL);
    ar_graph_free(fused);
    ar_graph_free(normal);
    return status;
}

static void every_allocation_may_fail(void)
{
    arras_status status = ARRAS_ENOMEM;
    int64_t      n = 0, live;

    begin();
    ar_graph_output_add(g, "out", pairs(chain(5)));
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

TEST_MAIN
{
    RUN(chains_are_one_kernel);
    RUN(reductions_take_what_feeds_them);
    RUN(cheap_things_are_computed_again);
    RUN(outputs_are_stored);
    RUN(an_array_that_may_be_left_is_stored);
    RUN(long_chains_are_cut);
    RUN(every_allocation_may_fail);
}
