/* test_opt_order.c -- passes that change what is computed first: matrices that are data are
 * multiplied with each other, factors leave sums, and dear operations come before gathers.
 * Programs say nearly the same afterwards, or just the same, and are cheaper. */
#include "normalised.h"

typedef arras_status pass(arras_graph **out, const arras_graph *normal, ar_decisions *decisions,
                          arras_error *err);

static double numbers[MOST_CELLS];

static void fill_numbers(void)
{
    uint64_t state = 7;

    for (int i = 0; i < MOST_CELLS; i++) {
        state = state * 6364136223846793005U + 1442695040888963407U;
        numbers[i] = (double)(int64_t)(state >> 40) / (1 << 20) - 7.5;
    }
}

static arras_array data(const char *type) { return array_of(type, numbers); }
static arras_array input(const char *name, const char *type)
{
    return input_of(name, type, numbers + 100 * nbound);
}
static arras_array einsum2(const char *letters, arras_array x, arras_array y)
{
    return ar_einsum(letters, 2, L(x, y));
}
static void give(const char *name, arras_array x) { ar_graph_output_add(g, name, x); }

/* ---- What is left ---------------------------------------------------------------------------- */

typedef struct {
    int sums, roots; /* in lambdas that need more than data */
} left;

static void count_in(left *out, arras_expr e)
{
    out->sums += e->kind == AR_EXPR_REDUCE;
    out->roots += e->kind == AR_EXPR_OP && e->ints[0] == AR_OP_sqrt;
    for (int i = 0; i < e->nargs; i++)
        count_in(out, e->args[i]);
}

/* For each cell of an array of `cells`, or of any if that is 0. */
static left count_left(const arras_graph *graph, int64_t cells)
{
    arras_array *roots = NULL, *nodes = NULL;
    int64_t      count = 0;
    bool         constant[256] = { false };
    left         found = { 0, 0 };

    if (ar_graph_roots(&roots, graph, NULL) == ARRAS_OK)
        ar_reach(&nodes, &count, graph, ar_graph_output_count(graph), roots, NULL);
    for (int64_t i = 0; i < count; i++) {
        arras_array x = nodes[i];
        bool       *known = &constant[x->id];
        int64_t     all = 1;

        *known = x->kind == AR_DATA || x->kind == AR_LAMBDA;
        for (int k = 0; k < x->ninputs; k++)
            *known = *known && constant[x->inputs[k]->id];
        for (int axis = 0; axis < x->rank; axis++)
            all *= x->shape[axis];
        if (x->kind == AR_LAMBDA && !*known && (cells == 0 || cells == all))
            count_in(&found, x->ref);
    }
    ar_free(roots);
    ar_free(nodes);
    return found;
}

/* Runs a pass; what comes out says the same.  *changed: whether anything came out. */
static left run_pass(pass *wanted, nearness how, int64_t cells, bool *changed)
{
    arras_graph *normal = NULL, *passed = NULL;
    left         found = { -1, -1 };

    if (CHECK_EQ_INT(ar_normalise(&normal, g, NULL), ARRAS_OK) &&
        CHECK_EQ_INT(wanted(&passed, normal, NULL, NULL), ARRAS_OK)) {
        if (passed)
            check_values(passed, how);
        found = count_left(passed ? passed : normal, cells);
    }
    *changed = passed != NULL;
    ar_graph_free(passed);
    ar_graph_free(normal);
    return found;
}

/* ---- Matrices -------------------------------------------------------------------------------- */

static void composes(int sums)
{
    bool changed;

    CHECK_EQ_INT(run_pass(ar_compose, NEAR, 0, &changed).sums, sums);
    CHECK(changed);
    end();
}

static void stays(void)
{
    bool changed;

    run_pass(ar_compose, NEAR, 0, &changed);
    CHECK(!changed);
    end();
}

static void a_matrix_of_a_product(void)
{
    CASE("%s", "m (a x)");
    begin();
    give("y", einsum2("mn,en->em", data("f64[5,5]"),
                      einsum2("nk,ek->en", data("f64[5,7]"), input("x", "f64[6,7]"))));
    composes(1);

    CASE("%s", "the matrix is read down its columns, and is the second factor");
    begin();
    give("y", einsum2("en,nm->em", einsum2("ek,kn->en", input("x", "f32[6,7]"), data("f32[7,5]")),
                      data("f32[5,5]")));
    composes(1);

    CASE("%s", "three of them: two products are left out");
    begin();
    give("y", einsum2("mn,en->em", data("f64[4,4]"),
                      einsum2("mn,en->em", data("f64[4,4]"),
                              einsum2("nk,ek->en", data("f64[4,7]"), input("x", "f64[6,7]")))));
    composes(1);
}

/* m (c (a x - b y)), as discontinuous Galerkin methods have it */
static void a_matrix_of_a_difference(void)
{
    arras_array x, y, rows;

    begin();
    x = input("x", "f64[6,7]");
    y = input("y", "f64[6,2,3]");
    rows = map2(AR_OP_subtract, einsum2("nk,ek->en", data("f64[5,7]"), x),
                einsum2("nfk,efk->en", data("f64[5,2,3]"), y));
    rows = map2(AR_OP_multiply, input("c", "f64[6,1]"), rows);
    rows = map2(AR_OP_divide, map1(AR_OP_negative, rows), input("d", "f64[6,1]"));
    give("z", einsum2("mn,en->em", data("f64[5,5]"), rows));
    composes(3); /* one along k, two along f and k */
}

static void what_is_shared_stays_shared(void)
{
    arras_array x, gradient, m;

    begin();
    x = input("x", "f64[6,7]");
    m = data("f64[5,5]");
    gradient = einsum2("rnk,ek->ren", data("f64[3,5,7]"), x);
    for (int r = 0; r < 3; r++) {
        char name[] = { 'a' + (char)r, 0 };

        give(name, einsum2("mn,en->em", m, AT(gradient, arras_at(r))));
    }
    composes(1);
}

static void what_is_not_worth_it(void)
{
    arras_array inner, m;

    CASE("%s", "the product itself is asked for");
    begin();
    inner = einsum2("nk,ek->en", data("f64[5,70]"), input("x", "f64[6,70]"));
    give("inner", inner);
    give("y", einsum2("mn,en->em", data("f64[5,5]"), inner));
    stays();

    CASE("%s", "the matrix is asked for, and so is computed in every launch");
    begin();
    m = map1(AR_OP_negative, data("f64[5,5]"));
    give("m", m);
    inner = einsum2("nk,ek->en", data("f64[5,7]"), input("x", "f64[6,7]"));
    give("y", einsum2("mn,en->em", m, inner));
    stays();

    CASE("%s", "the matrix has many more rows than columns");
    begin();
    inner = einsum2("nk,ek->en", data("f64[2,70]"), input("x", "f64[6,70]"));
    give("y", einsum2("mn,en->em", data("f64[50,2]"), inner));
    stays();
}

static void what_cannot_be(void)
{
    arras_array x;

    CASE("%s", "the matrix is no data");
    begin();
    give("y", einsum2("mn,en->em", input("m", "f64[5,5]"),
                      einsum2("nk,ek->en", data("f64[5,7]"), input("x", "f64[6,7]"))));
    stays();

    CASE("%s", "what it is applied to is not linear");
    begin();
    x = einsum2("nk,ek->en", data("f64[5,7]"), input("x", "f64[6,7]"));
    give("y", einsum2("mn,en->em", data("f64[5,5]"), map2(AR_OP_maximum, x, data("f64[6,5]"))));
    stays();

    CASE("%s", "one of two summands is a row that is no product");
    begin();
    x = einsum2("nk,ek->en", data("f64[5,7]"), input("x", "f64[6,7]"));
    give("y", einsum2("mn,en->em", data("f64[5,5]"), map2(AR_OP_add, x, input("z", "f64[6,5]"))));
    stays();

    CASE("%s", "one of two summands is the same along the axis");
    begin();
    x = einsum2("nk,ek->en", data("f64[5,7]"), input("x", "f64[6,7]"));
    give("y", einsum2("mn,en->em", data("f64[5,5]"), map2(AR_OP_add, x, input("z", "f64[6,1]"))));
    stays();

    CASE("%s", "both factors depend on the axis");
    begin();
    x = einsum2("nk,ek->en", data("f64[5,7]"), input("x", "f64[6,7]"));
    give("y",
         einsum2("mn,en->em", data("f64[5,5]"), map2(AR_OP_multiply, x, input("z", "f64[6,5]"))));
    stays();

    CASE("%s", "the rows that the matrix takes are only some of them");
    begin();
    x = einsum2("nk,ek->en", data("f64[6,7]"), input("x", "f64[6,7]"));
    give("y",
         einsum2("mn,en->em", data("f64[5,5]"), AT(x, arras_all_of_axis(), arras_slice(1, 6, 1))));
    stays();

    CASE("%s", "integers");
    begin();
    x = einsum2("nk,ek->en", data("i64[5,7]"), input("x", "i64[6,7]"));
    give("y", einsum2("mn,en->em", data("i64[5,5]"), x));
    stays();
}

/* ---- Expressions in short -------------------------------------------------------------------- */

#define E(...) ((arras_expr[]){ __VA_ARGS__ })

static arras_expr at(int axis) { return ar_expr_index(g, axis); }
static arras_expr var(const char *name) { return ar_expr_var(g, name); }
static arras_expr whole(int64_t value)
{
    return ar_expr_literal(g, ARRAS_I64, (ar_value){ .i = value });
}
static arras_expr sum_of(const char *name, int64_t rounds, arras_expr body)
{
    bool product = body->kind == AR_EXPR_OP && body->ints[0] == AR_OP_multiply;

    return ar_expr_reduce_tree(AR_REDUCE_sum, product ? AR_TREE_FUSED : AR_TREE_WHOLE, name,
                               whole(0), whole(rounds), body);
}
static arras_expr apply2(ar_op op, arras_expr x, arras_expr y)
{
    return ar_expr_apply(op, 2, E(x, y));
}
static arras_expr load(arras_array x, const arras_expr *indices)
{
    return ar_expr_load(x, x->rank, indices, NULL);
}

/* x[i - 1, j], and 5 before the first row */
static arras_array rows_before(arras_array x)
{
    arras_edge edges[] = { { ARRAS_EDGE_CONSTANT, whole(5) }, { ARRAS_EDGE_NONE, NULL } };

    return ar_lambda(g, 2, x->shape,
                     ar_expr_load(x, 2, E(apply2(AR_OP_subtract, at(0), whole(1)), at(1)), edges));
}

static void edges_have_no_rows(void)
{
    arras_edge  edges[] = { { ARRAS_EDGE_CONSTANT, NULL }, { ARRAS_EDGE_NONE, NULL } };
    arras_array m, x;
    arras_expr  row;

    CASE("%s", "a number stands for rows that are not there");
    begin();
    x = einsum2("nk,ek->en", data("f64[5,7]"), input("x", "f64[6,7]"));
    give("y", einsum2("mn,en->em", data("f64[5,5]"), rows_before(x)));
    stays();

    CASE("%s", "in the product itself");
    begin();
    m = data("f64[5,5]");
    x = einsum2("nk,ek->en", data("f64[5,7]"), input("x", "f64[6,7]"));
    edges[0].fill = whole(5);
    row = ar_expr_load(x, 2, E(apply2(AR_OP_subtract, at(0), whole(1)), var("n")), edges);
    give("y", ar_lambda(g, 2, x->shape,
                        sum_of("n", 5, apply2(AR_OP_multiply, load(m, E(at(1), var("n"))), row))));
    stays();
}

/* t would be left over for the sake of the other product, if each were looked at alone. */
static void two_matrices_of_one_product(void)
{
    arras_array t;

    begin();
    t = einsum2("nk,ek->en", data("f64[5,6]"), input("x", "f64[6,6]"));
    give("y", einsum2("mn,en->em", data("f64[5,5]"), t));
    give("z", einsum2("mn,en->em", map1(AR_OP_negative, data("f64[5,5]")), t));
    composes(2);

    CASE("%s", "it is asked for itself");
    begin();
    t = einsum2("nk,ek->en", data("f64[5,6]"), input("x", "f64[6,6]"));
    give("t", t);
    give("y", einsum2("mn,en->em", data("f64[5,5]"), t));
    give("z", einsum2("mn,en->em", map1(AR_OP_negative, data("f64[5,5]")), t));
    stays();
}

/* A million launches would make good for what is computed once, one does not. */
static void a_large_matrix_of_one_vector(void)
{
    arras_array m, a;

    begin();
    m = ar_cast(ar_lambda(g, 2, (arras_dim[]){ 300, 300 }, apply2(AR_OP_add, at(0), at(1))),
                ARRAS_F64);
    a = ar_cast(ar_lambda(g, 2, (arras_dim[]){ 300, 300 }, apply2(AR_OP_multiply, at(0), at(1))),
                ARRAS_F64);
    give("y", einsum2("mn,n->m", m, einsum2("nk,k->n", a, input("x", "f64[300]"))));
    stays();
}

/* ---- Factors --------------------------------------------------------------------------------- */

/* What is on faces, times a number of each face, lifted to elements. */
static void give_lift(const char *name, const char *weight, arras_array x)
{
    arras_array c = input(weight, "f64[4,6,1]");
    arras_array faces = map2(AR_OP_multiply, c, map2(AR_OP_multiply, data("f64[4,6,1]"), x));

    give(name, einsum2("mfk,fek->em", data("f64[5,4,3]"), faces));
}

/* Two products of a with x, each times something that has this type. */
static void give_products(arras_array a, arras_array x, const char *letters, const char *type)
{
    for (int k = 0; k < 2; k++)
        give(k ? "y" : "z",
             einsum2(letters, a, map2(AR_OP_multiply, input(k ? "c" : "d", type), x)));
}

static void factors_leave_sums(void)
{
    arras_array x;
    bool        changed;

    begin();
    x = input("x", "f64[4,6,3]");
    give_lift("y", "c", x);
    give_lift("z", "d", x);
    CHECK_EQ_INT(run_pass(ar_factor, NEAR, 0, &changed).sums, 1); /* that over faces is none */
    CHECK(changed);
    end();

    CASE("%s", "a sum without another one around it");
    begin();
    give_products(data("f64[5,7]"), input("x", "f64[6,7]"), "mk,ek->em", "f64[6,1]");
    CHECK_EQ_INT(run_pass(ar_factor, NEAR, 0, &changed).sums, 1);
    CHECK(changed);
    end();
}

static void factors_stay(void)
{
    bool changed;

    run_pass(ar_factor, NEAR, 0, &changed);
    CHECK(!changed);
    end();
}

static void factors_that_stay(void)
{
    CASE("%s", "one sum only");
    begin();
    give_lift("y", "c", input("x", "f64[4,6,3]"));
    factors_stay();

    CASE("%s", "sums of different arrays");
    begin();
    give_lift("y", "c", input("x", "f64[4,6,3]"));
    give_lift("z", "d", input("w", "f64[4,6,3]"));
    factors_stay();

    CASE("%s", "the matrix is no data");
    begin();
    give_products(input("a", "f64[5,7]"), input("x", "f64[6,7]"), "mk,ek->em", "f64[6,1]");
    factors_stay();

    CASE("%s", "the factor is not the same along the sum");
    begin();
    give_products(data("f64[5,7]"), input("x", "f64[6,7]"), "mk,ek->em", "f64[1,7]");
    factors_stay();

    CASE("%s", "more would be left than is saved");
    begin();
    give_products(data("f64[50,2,1]"), input("x", "f64[2,6,1]"), "mfk,fek->em", "f64[2,6,1]");
    factors_stay();
}

/* Of sum[n] a[m, n] * (c[i] * x[i, n]), twice, which is much; and of what is given besides. */
static void give_much(void)
{
    give_products(data("f64[20,20]"), input("x", "f64[9,20]"), "mk,ek->em", "f64[9,1]");
}

static void factors_leave(void)
{
    bool changed;

    run_pass(ar_factor, NEAR, 0, &changed);
    CHECK(changed);
    end();
}

static void variables_of_one_name(void)
{
    arras_array a, x;

    begin();
    give_much();
    a = data("f64[4,3]");
    x = input("w", "f64[5,6,3]");
    for (int k = 0; k < 2; k++) {
        arras_array p = map2(AR_OP_multiply, input(k ? "p" : "q", "f64[5,6,1]"), x);
        arras_expr  product = apply2(AR_OP_multiply, load(a, E(at(1), var("n"))),
                                     load(p, E(var("k"), at(0), var("n"))));
        arras_expr  inner = sum_of("k", 5, sum_of("n", 3, product));

        inner = apply2(AR_OP_add, inner, ar_expr_cast(var("k"), ARRAS_F64));
        give(k ? "u" : "v", ar_lambda(g, 2, (arras_dim[]){ 6, 4 }, sum_of("k", 2, inner)));
    }
    factors_leave();
}

/* Rows that only some cells read are not there for others. */
static void sums_that_some_cells_need(void)
{
    arras_array a, x, flags;
    arras_expr  row;

    begin();
    give_much();
    a = data("f64[4,3]");
    x = input("w", "f64[6,3]");
    flags = I("flags", "bool[6]", 1, 0, 1, 0, 0, 0);
    row = apply2(AR_OP_add, at(0), whole(3));
    for (int k = 0; k < 2; k++) {
        arras_array p = map2(AR_OP_multiply, input(k ? "p" : "q", "f64[6,1]"), x);
        arras_expr  product =
            apply2(AR_OP_multiply, load(a, E(at(1), var("n"))), load(p, E(row, var("n"))));
        arras_expr sum = sum_of("n", 3, product);

        sum = ar_expr_apply(AR_OP_where, 3, E(load(flags, E(at(0))), sum, whole(0)));
        give(k ? "u" : "v", ar_lambda(g, 2, (arras_dim[]){ 6, 4 }, sum));
    }
    factors_leave();
}

static void sums_of_nothing(void)
{
    arras_array x;

    begin();
    give_much();
    x = input("w", "f64[2,0]");
    for (int k = 0; k < 2; k++) {
        arras_array c = I(k ? "p" : "q", "f64[2,1]", NAN, INFINITY);

        give(k ? "u" : "v", einsum2("mk,ek->em", data("f64[3,0]"), map2(AR_OP_multiply, c, x)));
    }
    factors_leave();
}

/* ---- Gathers --------------------------------------------------------------------------------- */

static arras_array gathered(arras_array x, arras_array places)
{
    return AT(x, arras_gather(places));
}

static arras_array roots_of(arras_array x, arras_array y)
{
    arras_array squares = map2(AR_OP_add, map2(AR_OP_multiply, x, x), map2(AR_OP_multiply, y, y));

    return map2(AR_OP_add, map1(AR_OP_sqrt, squares), map1(AR_OP_sqrt, map1(AR_OP_abs, x)));
}

static void roots_are_taken_before_gathers(void)
{
    arras_array x, y, places;
    bool        changed;

    begin();
    x = input("x", "f64[4]");
    y = input("y", "f64[4]");
    places = A("i32[10]", 0, 1, 2, 3, 3, 2, 1, 0, 2, 2);
    give("z", roots_of(gathered(x, places), gathered(y, places)));
    CHECK_EQ_INT(run_pass(ar_gather_late, EXACT, 10, &changed).roots, 0);
    CHECK_EQ_INT(run_pass(ar_gather_late, EXACT, 4, &changed).roots, 2);
    end();
}

static void gathers_that_stay(void)
{
    arras_array x, y, places;
    bool        changed;

    CASE("%s", "each cell is gathered twice only");
    begin();
    x = input("x", "f64[4]");
    give("z", map1(AR_OP_sqrt, gathered(x, A("i32[8]", 0, 1, 2, 3, 3, 2, 1, 0))));
    CHECK_EQ_INT(run_pass(ar_gather_late, EXACT, 8, &changed).roots, 1);
    end();

    CASE("%s", "from different places");
    begin();
    x = input("x", "f64[4]");
    y = input("y", "f64[4]");
    places = A("i32[10]", 0, 1, 2, 3, 3, 2, 1, 0, 2, 2);
    give("z",
         roots_of(gathered(x, places), gathered(y, A("i32[10]", 1, 1, 2, 3, 3, 2, 1, 0, 2, 2))));
    CHECK_EQ_INT(run_pass(ar_gather_late, EXACT, 10, &changed).roots, 1);
    end();

    CASE("%s", "a place that is outside is an error still");
    begin();
    x = input("x", "f64[4]");
    give("z", map1(AR_OP_sqrt, gathered(x, I("k", "i32[10]", 0, 1, 2, 3, 4, 2, 1, 0, 2, 2))));
    run_pass(ar_gather_late, EXACT, 0, &changed);
    end();

    CASE("%s", "so is one that nobody reads");
    begin();
    x = gathered(input("x", "f64[2]"), A("i32[5]", 0, 1, 1, 7, 0));
    give("z", map1(AR_OP_sqrt, gathered(x, A("i32[10]", 0, 1, 2, 4, 4, 2, 1, 0, 2, 2))));
    run_pass(ar_gather_late, EXACT, 0, &changed);
    end();
}

/* ---- What is said, and what may fail --------------------------------------------------------- */

/* All three passes find something. */
static void record_all(void)
{
    arras_array x, places;

    x = input("x", "f64[6,7]");
    give("m", einsum2("mn,en->em", data("f64[5,5]"), einsum2("nk,ek->en", data("f64[5,7]"), x)));
    give_products(data("f64[9,7]"), x, "mk,ek->em", "f64[6,1]");
    places = A("i32[10]", 0, 1, 2, 3, 3, 2, 1, 0, 2, 2);
    give("w", map1(AR_OP_sqrt, gathered(I("v", "f64[4]", 1, 2, 3, 4), places)));
}

static void decisions_say_what_was_changed(void)
{
    static const char *const lines[] = {
        "computed before a gather: sqrt, cells of f64[4] instead of f64[10]",
        /* A term takes 4 operations, and so do 6*5*7 + 6*5*5 + 2*6*9*7 of them; a cell of c x and
         * of d x takes 3, one of w 2, and a root 2.  Then 6*5*5 terms are 6*5 cells, */
        "composed: 1 product with f64[5, 5], by matrices that are multiplied once: "
        "4744 operations of a launch became 4174, and 700 once",
        /* and 6*9*7 terms with what is left of c x and d x are 2*6*9 cells of 3. */
        "factored: 2 sums, factors times 1 that they share: "
        "4174 operations of a launch became 2734",
    };
    ar_decisions d = { 0 };
    arras_graph *optimised = NULL;

    begin();
    record_all();
    if (CHECK_EQ_INT(ar_optimise(&optimised, g, NULL, &d, NULL), ARRAS_OK) &&
        CHECK_EQ_INT((int64_t)d.nchanges, (int64_t)AR_COUNT(lines)))
        for (size_t i = 0; i < AR_COUNT(lines); i++)
            CHECK_STR(d.changes[i], lines[i]);
    ar_decisions_free(&d);
    ar_graph_free(optimised);
    end();
}

static arras_status optimise_it(void)
{
    ar_decisions d = { 0 };
    arras_graph *optimised = NULL;
    arras_status status = ar_optimise(&optimised, g, NULL, &d, NULL);

    if (status == ARRAS_OK)
        CHECK_EQ_INT((int64_t)d.nchanges, 3);
    ar_decisions_free(&d);
    ar_graph_free(optimised);
    return status;
}

static void every_allocation_may_fail(void)
{
    arras_status status = ARRAS_ENOMEM;
    int64_t      n = 0, live;

    begin();
    record_all();
    live = ar_alloc_live();
    for (; status == ARRAS_ENOMEM && n < 10000; n++) {
        ar_alloc_fail_from(n + 1);
        status = optimise_it();
        ar_alloc_fail_from(0);
        if (!CHECK_EQ_INT(ar_alloc_live(), live))
            break;
    }
    CHECK_EQ_INT(status, ARRAS_OK);
    CHECK(n > 100);
    end();
}

TEST_MAIN
{
    fill_numbers();
    RUN(a_matrix_of_a_product);
    RUN(a_matrix_of_a_difference);
    RUN(what_is_shared_stays_shared);
    RUN(what_is_not_worth_it);
    RUN(what_cannot_be);
    RUN(edges_have_no_rows);
    RUN(two_matrices_of_one_product);
    RUN(a_large_matrix_of_one_vector);
    RUN(factors_leave_sums);
    RUN(factors_that_stay);
    RUN(variables_of_one_name);
    RUN(sums_that_some_cells_need);
    RUN(sums_of_nothing);
    RUN(roots_are_taken_before_gathers);
    RUN(gathers_that_stay);
    RUN(decisions_say_what_was_changed);
    RUN(every_allocation_may_fail);
}
