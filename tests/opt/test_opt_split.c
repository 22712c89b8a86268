/* test_opt_split.c -- long reductions in parts give the bits of the whole. */
#include "normalised.h"

enum { LONGEST = 300000 };

static double cells[LONGEST];

/* Numbers whose sum depends on the order; some are equal, one may be a nan. */
static void fill_cells(int64_t nan_at)
{
    uint64_t state = 1;

    for (int64_t i = 0; i < LONGEST; i++) {
        state = state * 6364136223846793005U + 1442695040888963407U;
        cells[i] = (double)(int64_t)(state >> 40) / 4096 - 1500;
    }
    if (nan_at >= 0)
        cells[nan_at] = NAN;
}

static arras_array long_input(const char *type, int64_t n)
{
    bool        symbolic = strchr(type, 'n') != NULL;
    arras_dim   shape = symbolic ? ar_dim_size(g, "n") : n;
    arras_array x = ar_input(g, "x", ARRAS_F64, 1, &shape);
    double     *data = malloc((size_t)n * sizeof *data + 1);

    memcpy(data, cells, (size_t)n * sizeof *data);
    shapes[nbound][0] = n;
    bound[nbound] = (arras_binding){ "x", { data, ARRAS_F64, 1, shapes[nbound], NULL } };
    nbound++;
    return x;
}

static int64_t lambdas(const arras_graph *graph)
{
    arras_array *roots = NULL, *nodes = NULL;
    int64_t      count = 0, found = 0;

    if (ar_graph_roots(&roots, graph, NULL) == ARRAS_OK)
        ar_reach(&nodes, &count, graph, ar_graph_output_count(graph), roots, NULL);
    for (int64_t i = 0; i < count; i++)
        found += nodes[i]->kind == AR_LAMBDA;
    ar_free(roots);
    ar_free(nodes);
    return found;
}

/* How many lambdas the program has in the end; its values are those of the normal form. */
static int64_t split_and_compare(void)
{
    arras_graph   *normal = NULL, *split = NULL, *all = NULL;
    arras_results *a = NULL, *b = NULL, *c = NULL;
    int64_t        count = 0;
    arras_status   plain;

    if (CHECK_EQ_INT(ar_normalise(&normal, g, NULL), ARRAS_OK) &&
        CHECK_EQ_INT(ar_split(&split, normal, NULL), ARRAS_OK) &&
        CHECK_EQ_INT(ar_optimise(&all, g, NULL, NULL, NULL), ARRAS_OK)) {
        plain = ar_reference_run(&a, normal, nbound, bound, NULL);
        CHECK_EQ_INT(ar_reference_run(&b, split, nbound, bound, NULL), plain);
        CHECK_EQ_INT(ar_reference_run(&c, all, nbound, bound, NULL), plain);
        if (plain == ARRAS_OK) {
            compare_values(a, b, EXACT);
            compare_values(a, c, EXACT);
        }
        count = lambdas(all);
    }
    ar_results_free(a);
    ar_results_free(b);
    ar_results_free(c);
    ar_graph_free(normal);
    ar_graph_free(split);
    ar_graph_free(all);
    return count;
}

static void lengths(void)
{
    static const int64_t counts[] = { 0, 1, 64, 65, 1024, 65536, 65537, 65600, 131072, 200001 };

    fill_cells(-1);
    for (size_t i = 0; i < AR_COUNT(counts); i++)
        for (int known = 0; known < 2; known++) {
            CASE("%d cells, %s", (int)counts[i], known ? "known" : "not known");
            begin();
            ar_graph_output_add(
                g, "sum",
                ar_reduce(AR_REDUCE_sum, long_input(known ? "f" : "n", counts[i]), 1, false, NULL));
            CHECK_EQ_INT(split_and_compare(), known && counts[i] <= 65536 ? 1 : 2);
            end();
        }
}

/* Parts of these have a place and a cell. */
static bool is_place(ar_reduction reduction)
{
    return reduction == AR_REDUCE_argmin || reduction == AR_REDUCE_argmax;
}

static void reductions(void)
{
    static const int64_t nans[] = { -1, 10, 70000, 199999 };

    for (size_t k = 0; k < AR_COUNT(nans); k++)
        for (int reduction = 0; reduction < AR_REDUCTION_END; reduction++) {
            CASE("%s, nan at %d", ar_reduction_name((ar_reduction)reduction), (int)nans[k]);
            fill_cells(nans[k]);
            begin();
            ar_graph_output_add(
                g, "y",
                ar_reduce((ar_reduction)reduction, long_input("n", 200000), 1, false, NULL));
            CHECK_EQ_INT(split_and_compare(), is_place((ar_reduction)reduction) ? 3 : 2);
            end();
        }
}

static void over_several_axes(void)
{
    arras_array x;

    fill_cells(-1);
    begin();
    x = ar_reshape(long_input("f", 240000), 3, (arras_dim[]){ 3, 40000, 2 }, 'C');
    ar_graph_output_add(g, "all", ar_reduce(AR_REDUCE_sum, x, 7, false, NULL));
    ar_graph_output_add(g, "some", ar_reduce(AR_REDUCE_sum, x, 3, false, NULL));
    ar_graph_output_add(g, "place", ar_reduce(AR_REDUCE_argmax, x, 7, false, NULL));
    split_and_compare();
    end();
}

static void a_minimum_of_nothing_is_an_error(void)
{
    begin();
    ar_graph_output_add(g, "y", ar_reduce(AR_REDUCE_min, long_input("n", 0), 1, false, NULL));
    CHECK_EQ_INT(split_and_compare(), 2);
    end();
    begin();
    ar_graph_output_add(g, "y", ar_reduce(AR_REDUCE_argmax, long_input("n", 0), 1, false, NULL));
    CHECK_EQ_INT(split_and_compare(), 3);
    end();
}

/* A body is stored along an axis only where its end is the length of one: the end of a range within
 * another may be an index, a cell, or a product of sizes. */
static void ends_that_are_no_lengths(void)
{
    static const struct {
        const char *cell, *type;
    } programs[] = {
        { "sum[k: 0, 3](sum[l: 0, k](sum[r: 0, i64(_0[l])](1)))", "i64" },
        { "sum[k: 0, 4](sum[l: 0, k](sum[r: 0, i64(_0[l])](sum[t: 0, r](add(t, l)))))", "i64" },
        { "sum[k: 0, 3](sum[l: 0, add(k, 1)](sum[r: 0, i64(_0[l])](1)))", "i64" },
        { "sum[k: 0, 3](sum[l: 0, minimum(k, 2)](sum[r: 0, size(n)](_1[r])))", "f64" },
        { "sum[k: 0, 3](sum[l: 0, multiply(size(n), size(n))](sum[r: 0, size(n)](add(_1[r], l))))",
          "f64" },
        { "sum[l: 0, multiply(size(n), size(n))](sum[r: 0, size(n)](add(_1[r], l)))", "f64" },
        { "argmax[l: 0, multiply(size(n), size(n))](sum[r: 0, size(n)](multiply(_1[r], l)))",
          "i64" },
        { "count_nonzero[k: 0, 4](any[l: 0, k](all[r: 0, i64(_0[l])](less(r, k))))", "i64" },
        { "prod[k: 0, 4](sum[l: 0, k](sum[r: 0, i64(_0[l])](add(k, l))))", "i64" },
    };
    static const char *const names[] = { "x", "z" };

    fill_cells(-1);
    for (int k = 0; k < 5; k++)
        cells[k] = k + 1;
    for (size_t i = 0; i < AR_COUNT(programs); i++) {
        ar_text text = { 0 };

        CASE("%s", programs[i].cell);
        live_before = ar_alloc_live();
        ar_text_printf(&text,
                       "arras 1\nsize n\ninput x : f64[5]\ninput z : f64[n]\n"
                       "%%0 = lambda(x, z) { %s } : %s[]\noutput y = %%0\n",
                       programs[i].cell, programs[i].type);
        CHECK_EQ_INT(ar_read(&g, text.data, text.length, NULL), ARRAS_OK);
        for (nbound = 0; nbound < 2; nbound++) {
            double *data = malloc(5 * sizeof *data);

            memcpy(data, cells, 5 * sizeof *data);
            shapes[nbound][0] = 5;
            bound[nbound] =
                (arras_binding){ names[nbound], { data, ARRAS_F64, 1, shapes[nbound], NULL } };
        }
        if (g)
            split_and_compare();
        ar_text_free(&text);
        end();
    }
}

TEST_MAIN
{
    RUN(ends_that_are_no_lengths);
    RUN(lengths);
    RUN(reductions);
    RUN(over_several_axes);
    RUN(a_minimum_of_nothing_is_an_error);
}
