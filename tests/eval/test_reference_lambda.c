/* test_reference_lambda.c -- the reference evaluator on index lambdas: reads beyond the edges,
 * reductions, laziness, sharing. */
#include "evaluate.h"

#define E(...) ((arras_expr[]){ __VA_ARGS__ })

static arras_expr axis(int i) { return ar_expr_index(g, i); }
static arras_expr var(const char *name) { return ar_expr_var(g, name); }
static arras_expr whole(int64_t value)
{
    return ar_expr_literal(g, ARRAS_I64, (ar_value){ .i = value });
}
static arras_expr real(double value)
{
    return ar_expr_literal(g, ARRAS_F64, (ar_value){ .f = value });
}
static arras_expr op1(ar_op op, arras_expr x) { return ar_expr_apply(op, 1, &x); }
static arras_expr op2(ar_op op, arras_expr x, arras_expr y)
{
    return ar_expr_apply(op, 2, E(x, y));
}
static arras_expr plus(arras_expr x, arras_expr y) { return op2(AR_OP_add, x, y); }
static arras_expr load(arras_array x, arras_expr i) { return ar_expr_load(x, 1, &i, NULL); }

static arras_expr where(arras_expr condition, arras_expr x, arras_expr y)
{
    return ar_expr_apply(AR_OP_where, 3, E(condition, x, y));
}

static arras_expr edge(arras_array x, arras_expr i, arras_edge_rule rule)
{
    return ar_expr_load(x, 1, &i, &(arras_edge){ rule, NULL });
}

static arras_expr sum(const char *name, arras_expr lo, arras_expr hi, arras_expr body)
{
    return ar_expr_reduce(AR_REDUCE_sum, name, lo, hi, body);
}

static arras_array scalar(arras_expr cell) { return ar_lambda(g, 0, NULL, cell); }
static arras_array row(arras_dim n, arras_expr cell) { return ar_lambda(g, 1, &n, cell); }
static arras_array table(arras_dim n, arras_dim m, arras_expr cell)
{
    return ar_lambda(g, 2, (arras_dim[]){ n, m }, cell);
}

/* ---- Cells ----------------------------------------------------------------------------------- */

static void cells(void)
{
    GIVES(table(2, 3, plus(op2(AR_OP_multiply, axis(0), whole(10)), axis(1))),
          "i64[2, 3] 0 1 2 10 11 12");
    GIVES(scalar(real(1.5)), "f64[] 1.5");
    GIVES(row(0, axis(0)), "i64[0]");
    GIVES(row(2, ar_expr_cast(axis(0), ARRAS_U8)), "u8[2] 0 1");
    GIVES(row(3, op2(AR_OP_less, axis(0), real(1.5))), "bool[3] true true false");
    GIVES(row(2, plus(load(N("f32[2]"), axis(0)), real(0.5))), "f32[2] 0.5 1.5");
    GIVES(row(2, load(N("i64[2]"), op2(AR_OP_subtract, whole(1), axis(0)))), "i64[2] 1 0");
    GIVES(row(2, load(N("i64[2]"), op2(AR_OP_equal, axis(0), whole(1)))),
          "i64[2] 0 1"); /* bool as index */
    GIVES(scalar(ar_expr_load(N("c64[]"), 0, NULL, NULL)), "c64[] (0, 0)");
    GIVES((I("x", "f64[3]", 5, 6, 7), bound[0].buffer.strides = (int64_t[]){ 8 },
           row(3, load(ar_graph_input_find(g, "x"), axis(0)))),
          "f64[3] 5 6 7");
    GIVES((bind_array("x", "f64[3]", NULL),
           row(1, plus(ar_expr_size(g, ar_dim_add(g, ar_dim_size(g, "n"), 1)),
                       ar_expr_cast(load(ar_input(g, "x", ARRAS_F64, 1,
                                                  (arras_dim[]){ ar_dim_size(g, "n") }),
                                         whole(2)),
                                    ARRAS_I64)))),
          "i64[1] 6");
}

/* ---- Edges ----------------------------------------------------------------------------------- */

/* Cell i - 9 of an array of n cells 'a' 'b' 'c' 'd', as scipy.ndimage reads it; '.' is the fill. */
static const struct {
    arras_edge_rule rule;
    int64_t         n;
    const char     *want;
} edges[] = {
    { ARRAS_EDGE_CONSTANT, 1, ".........a........." },
    { ARRAS_EDGE_CONSTANT, 2, ".........ab........" },
    { ARRAS_EDGE_CONSTANT, 3, ".........abc......." },
    { ARRAS_EDGE_CONSTANT, 4, ".........abcd......" },
    { ARRAS_EDGE_NEAREST, 1, "aaaaaaaaaaaaaaaaaaa" },
    { ARRAS_EDGE_NEAREST, 2, "aaaaaaaaaabbbbbbbbb" },
    { ARRAS_EDGE_NEAREST, 3, "aaaaaaaaaabcccccccc" },
    { ARRAS_EDGE_NEAREST, 4, "aaaaaaaaaabcddddddd" },
    { ARRAS_EDGE_REFLECT, 1, "aaaaaaaaaaaaaaaaaaa" },
    { ARRAS_EDGE_REFLECT, 2, "aabbaabbaabbaabbaab" },
    { ARRAS_EDGE_REFLECT, 3, "cbaabccbaabccbaabcc" },
    { ARRAS_EDGE_REFLECT, 4, "aabcddcbaabcddcbaab" },
    { ARRAS_EDGE_MIRROR, 1, "aaaaaaaaaaaaaaaaaaa" },
    { ARRAS_EDGE_MIRROR, 2, "bababababababababab" },
    { ARRAS_EDGE_MIRROR, 3, "babcbabcbabcbabcbab" },
    { ARRAS_EDGE_MIRROR, 4, "dcbabcdcbabcdcbabcd" },
    { ARRAS_EDGE_WRAP, 1, "aaaaaaaaaaaaaaaaaaa" },
    { ARRAS_EDGE_WRAP, 2, "bababababababababab" },
    { ARRAS_EDGE_WRAP, 3, "abcabcabcabcabcabca" },
    { ARRAS_EDGE_WRAP, 4, "dabcdabcdabcdabcdab" },
};

/* The indices are computed in `dtype`, moved by many periods of every rule where it has room for
 * them. */
static void check_edges(arras_dtype dtype, int64_t moved)
{
    arras_results *results = NULL;

    for (size_t i = 0; i < AR_COUNT(edges); i++) {
        char          got[20] = "";
        int64_t       first = edges[i].rule >= ARRAS_EDGE_REFLECT ? moved - 9 : -9;
        arras_expr    index;
        const int8_t *cell;

        CASE("rule %d, length %" PRId64 ", indices %s", (int)edges[i].rule, edges[i].n,
             ar_dtype_name(dtype));
        begin();
        index = ar_expr_cast(plus(axis(0), whole(first)), dtype);
        ar_graph_output_add(
            g, "out",
            row(19, ar_expr_load(ar_data(g, ARRAS_I8, 1, &edges[i].n, NULL, "abcd", true), 1,
                                 &index, &(arras_edge){ edges[i].rule, whole('.') })));
        if (CHECK_EQ_INT(ar_reference_run(&results, g, 0, NULL, NULL), ARRAS_OK)) {
            cell = results->items[0].buffer.data;
            memcpy(got, cell, 19);
            ar_results_free(results);
        }
        CHECK_STR(got, edges[i].want);
        end();
    }
}

static void edge_rules(void)
{
    check_edges(ARRAS_I64, 0);
    check_edges(ARRAS_I8, 48);
    check_edges(ARRAS_I64, ((int64_t)1 << 60) / 24 * 24);
    check_edges(ARRAS_I64, -(((int64_t)1 << 60) / 24 * 24));
}

/* Reads at the ends of the index types: -2^63 is 1 mod 3, 2^64 - 1 is 0 mod 3 and 3 mod 4. */
static void far_edges(void)
{
    GIVES(scalar(edge(N("i64[3]"), whole(INT64_MIN), ARRAS_EDGE_WRAP)), "i64[] 1");
    GIVES(scalar(edge(N("i64[3]"), whole(INT64_MIN), ARRAS_EDGE_NEAREST)), "i64[] 0");
    GIVES(scalar(edge(N("i64[3]"), whole(INT64_MAX), ARRAS_EDGE_NEAREST)), "i64[] 2");
    GIVES(scalar(edge(N("i64[4]"), whole(INT64_MIN), ARRAS_EDGE_REFLECT)), "i64[] 0");
    GIVES(scalar(edge(N("i64[4]"), whole(INT64_MIN), ARRAS_EDGE_MIRROR)), "i64[] 2");
    GIVES(scalar(edge(N("i64[3]"), whole(INT64_MIN), ARRAS_EDGE_CONSTANT)), "i64[] 0");
    GIVES(scalar(edge(N("i64[3]"), ar_expr_cast(whole(-1), ARRAS_U64), ARRAS_EDGE_WRAP)),
          "i64[] 0");
    GIVES(scalar(edge(N("i64[4]"), ar_expr_cast(whole(-1), ARRAS_U64), ARRAS_EDGE_WRAP)),
          "i64[] 3");
    GIVES(scalar(edge(N("i64[4]"), ar_expr_cast(whole(-1), ARRAS_U64), ARRAS_EDGE_NEAREST)),
          "i64[] 3");
    FAILS(scalar(load(N("i64[4]"), ar_expr_cast(whole(-1), ARRAS_U64))),
          "index 18446744073709551615 is outside");
}

static void edges_of_two_axes(void)
{
    static const char *const want[] = {
        "f64[3, 3] 8 7 7 8 0 1 8 2 3", /* the last axis that is left decides */
        "f64[3, 3] 8 2 3 8 0 1 8 2 3", /* wrap, constant */
    };

    for (size_t i = 0; i < AR_COUNT(want); i++) {
        arras_edge rules[2];

        CASE("%s", want[i]);
        begin();
        rules[0] = (arras_edge){ i ? ARRAS_EDGE_WRAP : ARRAS_EDGE_CONSTANT, whole(7) };
        rules[1] = (arras_edge){ ARRAS_EDGE_CONSTANT, real(8) };
        CHECK_STR(outcome(table(3, 3,
                                ar_expr_load(N("f64[2, 2]"), 2,
                                             E(plus(axis(0), whole(-1)), plus(axis(1), whole(-1))),
                                             rules))),
                  want[i]);
        end();
    }
}

static void fills(void)
{
    GIVES(scalar(ar_expr_load(N("u8[1]"), 1, E(whole(5)),
                              &(arras_edge){ ARRAS_EDGE_CONSTANT, real(7.9) })),
          "u8[] 7");
    GIVES(scalar(ar_expr_load(N("bool[1]"), 1, E(whole(5)),
                              &(arras_edge){ ARRAS_EDGE_CONSTANT, whole(2) })),
          "bool[] true");
    GIVES(scalar(ar_expr_load(N("f64[0]"), 1, E(whole(0)),
                              &(arras_edge){ ARRAS_EDGE_CONSTANT, whole(2) })),
          "f64[] 2");
}

static void reads_outside(void)
{
    FAILS(row(3, load(I("x", "f64[2]", 0, 0), axis(0))),
          "EINDEX: lambda: index 2 is outside axis 0 of length 2 of x: f64[2], in cell [2]; give "
          "the axis an edge rule");
    FAILS(table(1, 1, load(N("f64[2]"), whole(-1))), "index -1 is outside axis 0 of length 2");
    FAILS(table(1, 1, load(N("f64[2]"), whole(-1))), "in cell [0, 0]");
    FAILS(row(1, edge(N("f64[0]"), whole(0), ARRAS_EDGE_WRAP)),
          "EINDEX: lambda: index 0 is outside axis 0 of length 0");
    FAILS(row(1, edge(N("f64[0]"), whole(0), ARRAS_EDGE_NEAREST)), "EINDEX");
    FAILS(row(1, edge(N("f64[0]"), whole(0), ARRAS_EDGE_REFLECT)), "EINDEX");
    FAILS(row(1, edge(N("f64[0]"), whole(0), ARRAS_EDGE_MIRROR)), "EINDEX");
    FAILS(row(1, ar_expr_load(
                     N("f64[9, 0]"), 2, E(whole(99), whole(0)),
                     (arras_edge[]){ { ARRAS_EDGE_REFLECT, NULL }, { ARRAS_EDGE_NONE, NULL } })),
          "axis 1 of length 0");
}

/* ---- Reductions ------------------------------------------------------------------------------ */

static void ranges(void)
{
    GIVES(row(4, sum("k", whole(0), axis(0), var("k"))), "i64[4] 0 0 1 3");
    GIVES(row(2, sum("k", whole(5), whole(2), var("k"))), "i64[2] 0 0");
    GIVES(scalar(ar_expr_reduce(AR_REDUCE_prod, "k", whole(1), whole(6), var("k"))), "i64[] 120");
    GIVES(scalar(ar_expr_reduce(AR_REDUCE_max, "k", whole(-3), whole(0), var("k"))), "i64[] -1");
    GIVES(scalar(ar_expr_reduce(AR_REDUCE_all, "k", whole(0), whole(0), var("k"))), "bool[] true");
    GIVES(scalar(ar_expr_reduce(AR_REDUCE_count_nonzero, "k", whole(0), whole(4), var("k"))),
          "i64[] 3");
    GIVES(scalar(sum("k", whole(0), whole(3), load(N("i8[3]"), var("k")))), "i64[] 3");
    GIVES(scalar(sum("k", whole(0), ar_expr_cast(whole(3), ARRAS_U64), real(0.5))), "f64[] 1.5");
    GIVES(scalar(sum("k", whole(INT64_MAX - 1), whole(INT64_MAX), whole(1))), "i64[] 1");
    FAILS(scalar(sum("k", whole(INT64_MIN), whole(0), whole(1))),
          "EINDEX: lambda: sum over -9223372036854775808 <= k < 0, in cell []; a range has at most "
          "9223372036854775807 values");
    FAILS(row(1, ar_expr_reduce(AR_REDUCE_min, "k", whole(3), axis(0), var("k"))),
          "EINDEX: lambda: min over an empty range, 3 <= k < 0, in cell [0]");
    FAILS(scalar(ar_expr_reduce(AR_REDUCE_argmax, "k", whole(3), whole(3), var("k"))),
          "argmax over an empty range");
}

/* The place that argmin gives is the value of the variable. */
static void places(void)
{
    GIVES(scalar(ar_expr_reduce(AR_REDUCE_argmin, "k", whole(1), whole(4),
                                load(A("f64[4]", 0, 3, 2, 2), var("k")))),
          "i64[] 2");
    GIVES(scalar(ar_expr_reduce(AR_REDUCE_argmax, "k", whole(0), whole(4),
                                load(A("f64[4]", 0, NAN, 9, NAN), var("k")))),
          "i64[] 1");
}

/* Rows of a ragged array: the bounds are cells of another array. */
static void bounds_from_data(void)
{
    arras_array starts;

    begin();
    starts = A("i32[4]", 0, 2, 2, 5);
    CHECK_STR(outcome(row(3, sum("p", load(starts, axis(0)), load(starts, plus(axis(0), whole(1))),
                                 load(A("f64[5]", 1, 2, 4, 8, 16), var("p"))))),
              "f64[3] 3 0 28");
    end();
}

/* An inner variable hides an outer one of the same name, but not in its own bounds. */
static void hidden_variables(void)
{
    arras_expr k, inner;

    GIVES(scalar(sum("k", whole(0), whole(4), sum("k", whole(0), var("k"), var("k")))), "i64[] 4");
    begin();
    k = var("k");
    inner = sum("k", whole(10), whole(12), k);
    CHECK_STR(outcome(scalar(sum("k", whole(0), whole(3), plus(plus(k, inner), k)))), "i64[] 69");
    end();
    GIVES(scalar(sum("k", whole(0), whole(2),
                     sum("j", whole(0), whole(3), op2(AR_OP_multiply, var("j"), var("k"))))),
          "i64[] 3");
}

/* ---- Laziness and sharing -------------------------------------------------------------------- */

static void lazy_where(void)
{
    arras_array x;

    begin(); /* the branch that is not taken would read outside */
    x = N("i64[2]");
    CHECK_STR(
        outcome(row(4, where(op2(AR_OP_less, axis(0), whole(2)), load(x, axis(0)), whole(-1)))),
        "i64[4] 0 1 -1 -1");
    end();
    begin(); /* or find the least of nothing */
    CHECK_STR(
        outcome(row(2, where(op2(AR_OP_equal, axis(0), whole(0)), whole(7),
                             ar_expr_reduce(AR_REDUCE_min, "k", whole(0), axis(0), var("k"))))),
        "i64[2] 7 0");
    end();
    GIVES(row(2, where(axis(0), real(0.5), whole(3))), "f64[2] 3 0.5");
}

/* What one branch has computed in an earlier cell must not be taken for this cell's. */
static void lazy_and_shared(void)
{
    arras_expr square, odd;

    begin();
    square = op2(AR_OP_multiply, axis(0), axis(0));
    odd = op2(AR_OP_remainder, axis(0), whole(2));
    CHECK_STR(outcome(row(6, plus(where(odd, square, whole(0)),
                                  where(odd, whole(0), plus(square, square))))),
              "i64[6] 0 1 8 9 32 25");
    end();
}

/* 100 levels, each using the one below twice. */
static void diamond(void)
{
    arras_expr x, body;

    begin();
    x = ar_expr_cast(axis(0), ARRAS_U64);
    for (int level = 0; level < 100; level++)
        x = plus(x, x);
    ar_graph_output_add(g, "closed", row(2, x));
    x = var("k");
    for (int level = 0; level < 60; level++) /* each level under a reduction and outside it */
        x = op2(AR_OP_bitwise_xor, x, sum("j", whole(0), whole(2), plus(x, var("j"))));
    body = x;
    ar_graph_output_add(
        g, "open", scalar(sum("k", whole(0), whole(3), op2(AR_OP_bitwise_and, body, whole(1)))));
    CHECK_STR(run(), "u64[2] 0 0; i64[] 1");
    end();
}

/* As deep as expressions may be. */
static void depth(void)
{
    arras_expr x;

    begin();
    x = ar_expr_cast(axis(0), ARRAS_F64);
    for (int level = 0; level < AR_MAX_DEPTH - 10; level++)
        x = op1(AR_OP_negative, x);
    CHECK_STR(outcome(row(2, x)), "f64[2] 0 1");
    end();
    begin();
    x = axis(0);
    for (int level = 0; level < AR_MAX_DEPTH - 10; level++)
        x = sum("k", whole(0), whole(1), plus(x, var("k")));
    CHECK_HAS(outcome(row(2, x)), "");
    end();
}

/* Loops that do not change a part do not compute it again: this would take 2^50 steps. */
static void invariants(void)
{
    arras_expr x;

    begin();
    x = axis(0);
    for (int level = 0; level < 50; level++)
        x = op2(AR_OP_minimum, sum("k", whole(0), whole(2), x), whole(1000));
    CHECK_STR(outcome(row(2, x)), "i64[2] 0 1000");
    end();
}

TEST_MAIN
{
    RUN(cells);
    RUN(edge_rules);
    RUN(far_edges);
    RUN(edges_of_two_axes);
    RUN(fills);
    RUN(reads_outside);
    RUN(ranges);
    RUN(places);
    RUN(bounds_from_data);
    RUN(hidden_variables);
    RUN(lazy_where);
    RUN(lazy_and_shared);
    RUN(diamond);
    RUN(depth);
    RUN(invariants);
}
