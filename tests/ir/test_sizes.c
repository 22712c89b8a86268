/* test_sizes.c -- symbolic sizes: arithmetic, one handle per value, and their solution. */
#include "ir/ir.h"
#include "test.h"

static arras_graph *g;

static const char *printed(arras_dim dim)
{
    static char kept[256];
    ar_text     text = { 0 };

    ar_dim_print(&text, g, dim);
    snprintf(kept, sizeof kept, "%s", text.data ? text.data : "");
    ar_text_free(&text);
    return kept;
}

static void equal_forms_are_one_dim(void)
{
    arras_dim n = arras_size(g, "n"), m = arras_size(g, "m");
    arras_dim one_way = arras_dim_add(g, arras_dim_mul(g, n, 2), arras_dim_sub(g, m, 1));
    arras_dim other_way = arras_dim_sub(g, arras_dim_add(g, arras_dim_add(g, n, m), n), 1);

    CHECK(arras_dim_is_symbolic(n) && n != m);
    CHECK(arras_size(g, "n") == n);
    CHECK(one_way == other_way);
    CHECK_STR(printed(one_way), "2*n + m - 1");
    CHECK_EQ_INT(arras_dim_sub(g, n, n), 0);
    CHECK_EQ_INT(arras_dim_mul(g, n, 0), 0);
    CHECK_EQ_INT(arras_dim_sub(g, arras_dim_add(g, n, 5), n), 5);
    CHECK_STR(printed(arras_dim_sub(g, 3, n)), "-n + 3");
    CHECK_EQ_INT(arras_dim_add(g, 3, 4), 7);
    CHECK(!arras_dim_is_symbolic(7) && !arras_dim_is_symbolic(-1) &&
          !arras_dim_is_symbolic(ARRAS_NONE));
}

static void wrong_sizes_are_poison(void)
{
    arras_dim n = arras_size(g, "n"), wrong[] = {
        arras_dim_mul(g, n, n),
        arras_size(g, "2n"),
        arras_size(g, ""),
        arras_size(g, NULL),
        arras_dim_mul(g, arras_dim_mul(g, n, INT64_MAX / 2), 3),
        arras_dim_add(g, INT64_MAX - 1, 1),
        arras_dim_add(g, arras_dim_mul(g, n, n), 1), /* poison stays poison */
    };

    for (size_t i = 0; i < AR_COUNT(wrong); i++) {
        CASE("wrong size %zu", i);
        CHECK(ar_dim_error(g, wrong[i]) != NULL);
        CHECK_HAS(arras_array_error(arras_placeholder(g, "x", ARRAS_F64, 1, &wrong[i])), "axis 0");
    }
    CHECK_HAS(ar_dim_error(g, INT64_MIN + 100000), "another graph");
}

/* ---- Solving --------------------------------------------------------------------------------- */

typedef struct {
    int64_t n, m, k, value; /* n*N + m*M + k is value */
} fact;
static const struct {
    const char *why;
    fact        facts[4];
    int64_t     n, m;  /* -1: not determined */
    const char *error; /* part of the message, or NULL */
} systems[] = {
    { "each by itself", { { 1, 0, 0, 5 }, { 0, 1, 0, 7 } }, 5, 7, NULL },
    { "affine", { { 2, 0, 1, 11 } }, 5, -1, NULL },
    { "one after the other", { { 1, 1, 0, 7 }, { 2, 0, 0, 4 } }, 2, 5, NULL },
    { "both at once", { { 1, 1, 0, 7 }, { 1, -1, 0, 1 } }, 4, 3, NULL },
    { "large factors", { { 1000003, 999983, 0, 6999981 }, { 1, 1, 0, 7 } }, 5, 2, NULL },
    { "no whole point", { { 3, 1, 0, 8 }, { 1, -1, 0, 1 } }, 0, 0, "no whole number" },
    { "agreeing twice", { { 1, 0, 0, 5 }, { 1, 0, 1, 6 } }, 5, -1, NULL },
    { "zero is a size", { { 1, 0, 0, 0 } }, 0, -1, NULL },
    { "not determined", { { 1, 1, 0, 7 } }, -1, -1, NULL },
    { "conflict",
      { { 1, 0, 0, 5 }, { 1, 0, 0, 6 } },
      0,
      0,
      "axis 0 of b is 6, but the program says n: n is 5 by axis 0 of a" },
    { "not whole", { { 2, 0, 0, 5 } }, 0, 0, "no whole number" },
    { "negative", { { 1, 0, 3, 2 } }, 0, 0, "no size >= 0" },
    { "parallel lines", { { 1, 1, 0, 7 }, { 1, 1, 0, 8 } }, 0, 0, "contradict" },
    { "number against number",
      { { 0, 0, 3, 4 } },
      0,
      0,
      "axis 0 of a is 4, but the program says 3" },
    { "overdetermined, wrong", { { 1, 1, 0, 7 }, { 1, -1, 0, 1 }, { 2, 1, 0, 12 } }, 0, 0, "n" },
};

static arras_dim form(const fact *f)
{
    arras_dim n = arras_dim_mul(g, arras_size(g, "n"), f->n),
              m = arras_dim_mul(g, arras_size(g, "m"), f->m);

    return arras_dim_add(g, arras_dim_add(g, n, m), f->k);
}

static void systems_are_solved(void)
{
    static const char *const names[] = { "a", "b", "c", "d" };

    arras_size(g, "n"), arras_size(g, "m");
    for (size_t i = 0; i < AR_COUNT(systems); i++) {
        ar_size_fact facts[4];
        int64_t      sizes[2];
        int          count = 0;
        arras_error  err;
        arras_status status;

        CASE("%s", systems[i].why);
        for (; count < 4 && (count == 0 || systems[i].facts[count].n || systems[i].facts[count].m);
             count++)
            facts[count] = (ar_size_fact){ form(&systems[i].facts[count]),
                                           systems[i].facts[count].value, names[count], 0 };
        status = ar_sizes_solve(sizes, g, count, facts, &err);
        if (systems[i].error) {
            CHECK_EQ_INT(status, ARRAS_ESIZE);
            CHECK_HAS(err.text, systems[i].error);
        } else if (CHECK_EQ_INT(status, ARRAS_OK)) {
            CHECK_EQ_INT(sizes[0], systems[i].n);
            CHECK_EQ_INT(sizes[1], systems[i].m);
        }
    }
}

static void values_are_checked(void)
{
    int64_t     sizes[] = { 4, -1 }, value;
    arras_dim   n = arras_size(g, "n"), m = arras_size(g, "m");
    arras_error err;

    CHECK_EQ_INT(ar_dim_value(&value, g, arras_dim_sub(g, arras_dim_mul(g, n, 2), 1), sizes, &err),
                 ARRAS_OK);
    CHECK_EQ_INT(value, 7);
    CHECK_EQ_INT(ar_dim_value(&value, g, arras_dim_sub(g, n, 5), sizes, &err), ARRAS_ESIZE);
    CHECK_STR(err.text, "size n - 5 is negative: -1");
    CHECK_EQ_INT(ar_dim_value(&value, g, m, sizes, &err), ARRAS_ESIZE);
    CHECK_STR(err.text, "size m is not determined by the inputs: bind it by name");
}

static void in_new_graph(void (*test_case)(void), const char *name)
{
    arras_error err;

    if (arras_graph_new(&g, &err) != ARRAS_OK)
        return;
    test_run(name, test_case);
    arras_graph_free(g);
}

TEST_MAIN
{
    in_new_graph(equal_forms_are_one_dim, "equal_forms_are_one_dim");
    in_new_graph(wrong_sizes_are_poison, "wrong_sizes_are_poison");
    in_new_graph(systems_are_solved, "systems_are_solved");
    in_new_graph(values_are_checked, "values_are_checked");
}
