/* test_opt_region.c -- which reads are known to stay inside, and how far they go. */
#include "one_lambda.h"

/* The read of x in a cell of the lambda. */
static arras_expr find_load(arras_expr e)
{
    arras_expr found = e->kind == AR_EXPR_LOAD && e->ints[0] == 0 ? e : NULL;

    for (int i = 0; i < e->nargs && !found; i++)
        found = find_load(e->args[i]);
    return found;
}

/* ---- Inside ---------------------------------------------------------------------------------- */

typedef struct {
    const char *x, *cell, *shape;
    bool        inside;
} place;

static const place places[] = {
    { "[n]", "_0[i0]", "[n]", true },
    { "[n]", "_0[add(i0, 1)]", "[n]", false },
    { "[n]", "_0[add(i0, 1)]", "[n - 1]", true },
    { "[n]", "_0[add(i0, -1)]", "[n]", false },
    { "[n]", "_0[i0]", "[m]", false },
    { "[5]", "_0[4]", "[n]", true },
    { "[5]", "_0[5]", "[n]", false },
    { "[n]", "_0[0]", "[n]", true },  /* a cell of the result says that n is not 0 */
    { "[n]", "_0[0]", "[m]", false }, /* n may be */
    { "[n]", "sum[k: 0, size(n)](_0[k])", "[]", true },
    { "[n]", "sum[k: 0, size(n + 1)](_0[k])", "[]", false },
    { "[n]", "sum[k: -1, size(n)](_0[k])", "[]", false },
    { "[2*n + 1]", "max[k: 0, 3](_0[add(multiply(i0, 2), k)])", "[n]", true }, /* pooling */
    { "[2*n]", "max[k: 0, 3](_0[add(multiply(i0, 2), k)])", "[n]", false },
    { "[n]", "_0[subtract(size(n - 1), i0)]", "[n]", true }, /* flip */
    { "[n]", "_0[subtract(size(n), i0)]", "[n]", false },
    { "[n]", "_0[floor_divide(i0, 4)]", "[4*n]", true },
    { "[4]", "_0[remainder(i0, 4)]", "[4*n]", true },
    { "[4*n]", "_0[add(multiply(i0, 4), i1)]", "[n, 4]", true },
    { "[n]", "_0[remainder(add(i0, 7), size(n))]", "[n]", true },
    { "[n]", "_0[maximum(0, minimum(add(i0, 1), size(n - 1)))]", "[n]", true },
    { "[n]", "_0[minimum(add(i0, 1), size(n - 1))]", "[n]", true },
    { "[n]", "where(less(i0, size(n)), _0[i0], 0)", "[n + m]", true }, /* concatenation */
    { "[m]", "where(less(i0, size(n)), 0, _0[subtract(i0, size(n))])", "[n + m]", true },
    { "[n]", "where(logical_and(less(0, i0), less(i0, 9)), _0[add(i0, -1)], 0)", "[n]", true },
    { "[n]", "where(less_equal(i0, 0), 0, _0[add(i0, -1)])", "[n]", true },
    { "[n]", "where(less(i0, 0), 0, _0[add(i0, -1)])", "[n]", false },
    { "[n]", "sum[k: 0, 9](where(less(k, 4), _0[k], 0))", "[n]", false },
    { "[4]", "sum[k: 0, 9](where(less(k, 4), _0[k], 0))", "[n]", true },
    /* What is denied of "not equal" is equal. */
    { "[3]", "where(not_equal(i0, 3), 0, _0[i0])", "[4]", false },
    { "[4]", "where(not_equal(i0, 3), 0, _0[i0])", "[9]", true },
    { "[9]", "_0[i8(i0)]", "[9]", true },
    { "[9]", "_0[i8(multiply(i0, 100))]", "[9]", false },
    { "[9]", "_0[multiply(i0, 4611686018427387904)]", "[2]", false },
    /* 4 * 2**62 is 0 for 64 bits, but who divides it does not know. */
    { "[9]", "_0[floor_divide(multiply(i0, 4611686018427387904), 4)]", "[5]", false },
};

static void inside(void)
{
    for (size_t i = 0; i < AR_COUNT(places); i++) {
        const place *p = &places[i];
        char         declarations[100], type[40];
        arras_array  lambda;

        CASE("%s of %s in %s", p->cell, p->x, p->shape);
        program = NULL;
        snprintf(declarations, sizeof declarations, "size n;size m;input x : f64%s", p->x);
        snprintf(type, sizeof type, "f64%s", p->shape);
        if (read_lambda(declarations, "x", p->cell, type)) {
            lambda = ar_graph_output(program, 0)->array;
            CHECK_EQ_INT(ar_load_is_inside(lambda, find_load(lambda->ref), 0), p->inside);
        }
        ar_graph_free(program);
    }
}

/* ---- Reach ----------------------------------------------------------------------------------- */

typedef struct {
    const char *cell;
    int64_t     step, before, after; /* step 0: not known */
} reach;

static const reach reaches[] = {
    { "_0[i0]", 1, 0, 0 },
    { "_0[add(i0, 2)]", 1, -2, 2 },
    { "_0[add(i0, -2) constant 0]", 1, 2, -2 },
    { "_0[add(i0, -2) nearest]", 1, 2, 0 },
    { "_0[add(i0, -2) reflect]", 1, 2, 2 },
    { "_0[add(i0, -2) wrap]", 0, 0, 0 },
    { "sum[k: 0, 3](_0[add(add(i0, k), -1) nearest])", 1, 1, 1 },
    { "_0[maximum(0, add(i0, -1))]", 1, 1, 0 },
    { "_0[minimum(size(n - 1), add(i0, 1))]", 1, 0, 1 },
    { "_0[multiply(i0, 2)]", 2, 0, 0 },
    { "_0[add(multiply(i0, 3), -1)]", 3, 1, -1 },
    { "_0[multiply(i0, -1)]", 0, 0, 0 },
    { "_0[multiply(i0, 2) nearest]", 0, 0, 0 },
    { "_0[add(multiply(i0, 2), i0)]", 0, 0, 0 },
    { "sum[k: 0, size(n)](_0[k])", 0, 0, 0 },
    { "where(less(i0, 5), _0[i0], _0[add(i0, -1)])", 1, 0, 0 }, /* of the first load */
};

static void halos(void)
{
    for (size_t i = 0; i < AR_COUNT(reaches); i++) {
        const reach *r = &reaches[i];
        ar_load_span span = { 0 };
        arras_array  lambda;

        CASE("%s", r->cell);
        program = NULL;
        if (read_lambda("size n;input x : f64[n]", "x", r->cell, "f64[n]")) {
            lambda = ar_graph_output(program, 0)->array;
            CHECK_EQ_INT(ar_load_reach(&span, lambda, find_load(lambda->ref), 0, 0), r->step > 0);
            CHECK_EQ_INT(span.step, r->step);
            CHECK_EQ_INT(span.before, r->before);
            CHECK_EQ_INT(span.after, r->after);
        }
        ar_graph_free(program);
    }
}

TEST_MAIN
{
    RUN(inside);
    RUN(halos);
}
