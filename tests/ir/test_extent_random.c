/* test_extent_random.c -- what is said of an index before a program runs, against every value that
 * it has: of random index expressions, under reductions within reductions whose ranges depend on
 * one another and may be empty, and under conditions, each value is computed.  None may lie outside
 * of the extent (extent.c), of the bounds (region.c), or contradict an order that was called sure.
 */
#include "ir/ir.h"
#include "test.h"

enum { PROGRAMS = 4000, MOST_FRAMES = 4, AXES = 2, MOST_POINTS = 3000 };

static arras_graph *g;
static uint64_t     state = 1;

static int below(int n)
{
    state = state * 6364136223846793005U + 1442695040888963407U;
    return (int)(state >> 33) % n;
}

static arras_expr number(int64_t value)
{
    return ar_expr_cast(ar_expr_literal(g, ARRAS_I64, (ar_value){ .i = value }), ARRAS_I64);
}

/* ---- Values ---------------------------------------------------------------------------------- */

typedef struct {
    int64_t     index[AXES];
    const char *names[MOST_FRAMES + 8];
    int64_t     values[MOST_FRAMES + 8];
    int         n;
    bool        none; /* a place in nothing was asked for */
} values;

static int64_t value_of(arras_expr e, values *v);

static int64_t quotient(int64_t a, int64_t b)
{
    return b == 0 ? 0 : a / b - (a % b != 0 && (a < 0) != (b < 0));
}

static int64_t value_of_op(arras_expr e, values *v)
{
    int64_t a = value_of(e->args[0], v), b = 0;

    if (e->ints[0] == AR_OP_where)
        return value_of(e->args[a ? 1 : 2], v);
    if (e->nargs > 1)
        b = value_of(e->args[1], v);
    switch (e->ints[0]) {
    case AR_OP_add: return a + b;
    case AR_OP_subtract: return a - b;
    case AR_OP_multiply: return a * b;
    case AR_OP_negative: return -a;
    case AR_OP_floor_divide: return quotient(a, b);
    case AR_OP_remainder: return b == 0 ? 0 : a - quotient(a, b) * b;
    case AR_OP_minimum: return a < b ? a : b;
    case AR_OP_maximum: return a > b ? a : b;
    case AR_OP_less: return a < b;
    case AR_OP_less_equal: return a <= b;
    case AR_OP_greater: return a > b;
    case AR_OP_greater_equal: return a >= b;
    case AR_OP_equal: return a == b;
    case AR_OP_not_equal: return a != b;
    case AR_OP_logical_and: return a && b;
    case AR_OP_logical_or: return a || b;
    case AR_OP_logical_not: return !a;
    default: CHECK(false); return 0;
    }
}

/* Of argmax: the first best value of the variable. */
static int64_t value_of_place(arras_expr e, values *v)
{
    int64_t lo = value_of(e->args[0], v), hi = value_of(e->args[1], v), best = 0, place = lo;

    v->none = v->none || lo >= hi;
    v->names[v->n++] = e->name;
    for (int64_t k = lo; k < hi && !v->none; k++) {
        int64_t cell;

        v->values[v->n - 1] = k;
        cell = value_of(e->args[2], v);
        if (k == lo || cell > best)
            best = cell, place = k;
    }
    v->n--;
    return place;
}

static int64_t value_of(arras_expr e, values *v)
{
    switch (e->kind) {
    case AR_EXPR_LITERAL: return e->ints[0];
    case AR_EXPR_INDEX: return v->index[e->ints[0]];
    case AR_EXPR_CAST: return value_of(e->args[0], v);
    case AR_EXPR_OP: return value_of_op(e, v);
    case AR_EXPR_REDUCE: return value_of_place(e, v);
    case AR_EXPR_VAR:
        for (int i = v->n - 1; i >= 0; i--)
            if (strcmp(v->names[i], e->name) == 0)
                return v->values[i];
        break;
    default: break;
    }
    CHECK(false);
    return 0;
}

/* A failure that cannot be looked at helps nobody. */
static void show_expr(arras_expr e)
{
    if (e->kind == AR_EXPR_LITERAL || e->kind == AR_EXPR_INDEX)
        printf("%s%" PRId64, e->kind == AR_EXPR_INDEX ? "i" : "", e->ints[0]);
    else if (e->kind == AR_EXPR_VAR)
        printf("%s", e->name);
    else if (e->kind == AR_EXPR_CAST)
        show_expr(e->args[0]);
    else {
        printf("%s(", e->kind == AR_EXPR_OP ? ar_op_name((ar_op)e->ints[0]) : "argmax q");
        for (int i = 0; i < e->nargs; i++) {
            printf("%s", i ? ", " : "");
            show_expr(e->args[i]);
        }
        printf(")");
    }
}

/* ---- Expressions ----------------------------------------------------------------------------- */

static const char *const names[] = { "k", "l", "m" };

static arras_expr random_expr(int variables, int depth);

static arras_expr random_condition(int variables, int depth)
{
    static const ar_op comparisons[] = { AR_OP_less,          AR_OP_less_equal, AR_OP_greater,
                                         AR_OP_greater_equal, AR_OP_equal,      AR_OP_not_equal };
    arras_expr         args[2];
    bool               joins = depth > 0 && below(4) == 0;

    for (int i = 0; i < 2; i++)
        args[i] = joins ? random_condition(variables, depth - 1) : random_expr(variables, depth);
    return ar_expr_apply(
        joins ? (below(2) ? AR_OP_logical_and : AR_OP_logical_or) : comparisons[below(6)], 2, args);
}

static arras_expr random_leaf(int variables)
{
    int kind = below(AXES + 3);

    if (kind < AXES)
        return ar_expr_index(g, kind);
    return kind < AXES + 2 && variables > 0 ? ar_expr_var(g, names[below(variables)])
                                            : number(below(9) - 3);
}

static arras_expr random_place(int variables, int depth)
{
    arras_expr lo = random_expr(variables, depth - 1), hi = random_expr(variables, depth - 1);
    arras_expr body = ar_expr_apply(
        AR_OP_remainder, 2,
        (arras_expr[]){
            ar_expr_apply(AR_OP_multiply, 2, (arras_expr[]){ ar_expr_var(g, "q"), number(3) }),
            number(5) });

    return ar_expr_reduce(AR_REDUCE_argmax, "q", lo, hi, body);
}

static arras_expr random_expr(int variables, int depth)
{
    static const ar_op ops[] = { AR_OP_add,      AR_OP_add,     AR_OP_subtract,     AR_OP_multiply,
                                 AR_OP_minimum,  AR_OP_maximum, AR_OP_floor_divide, AR_OP_remainder,
                                 AR_OP_negative, AR_OP_where };
    int                op = below(11);
    arras_expr         args[3];

    if (depth == 0 || below(4) == 0)
        return random_leaf(variables);
    if (op == 10)
        return random_place(variables, depth);
    for (int i = 0; i < 3; i++)
        args[i] = random_expr(variables, depth - 1);
    if (ops[op] == AR_OP_where) {
        args[0] = random_condition(variables, depth - 1);
        return ar_expr_apply(AR_OP_where, 3, args);
    }
    if ((ops[op] == AR_OP_floor_divide || ops[op] == AR_OP_remainder) && below(3))
        args[1] = number(1 + below(6));
    return ar_expr_apply(ops[op], ops[op] == AR_OP_negative ? 1 : 2, args);
}

/* ---- Every value ----------------------------------------------------------------------------- */

typedef struct {
    int             nframes, points;
    const ar_frame *frames;
    arras_expr      e, other;
    int64_t         length;
    ar_extent       extent;
    bool            bounded, is_below;
    int             is_less;
    int64_t         low, high;
    int64_t         box_lo[AXES], box_hi[AXES]; /* of the extent */
    values          v;
    bool            in_box;
} claims;

static void show_claims(const claims *c, int64_t value)
{
    printf("    ");
    show_expr(c->e);
    printf(" is %" PRId64 " at i0 = %" PRId64 ", i1 = %" PRId64, value, c->v.index[0],
           c->v.index[1]);
    for (int i = 0; i < c->v.n; i++)
        printf(", %s = %" PRId64, c->v.names[i], c->v.values[i]);
    printf("; extent %" PRId64 " to %" PRId64 ", bounds %" PRId64 " to %" PRId64 "\n",
           c->extent.low, c->extent.high, c->low, c->high);
    for (int k = 0; k < c->nframes; k++) {
        const ar_frame *frame = &c->frames[k];

        printf("    where %s ", frame->variable ? frame->variable : frame->holds ? "" : "not");
        show_expr(frame->variable ? frame->lo : frame->condition);
        if (frame->variable) {
            printf(" to ");
            show_expr(frame->hi);
        }
        printf("\n");
    }
}

static void check_value(claims *c)
{
    int     failures = test.failures;
    int64_t value, other;

    c->v.none = false;
    value = value_of(c->e, &c->v);
    if (c->v.none || c->points > MOST_POINTS)
        return;
    c->points++;
    if (c->in_box && c->extent.known)
        CHECK(value >= c->extent.low && value <= c->extent.high &&
              (value < c->extent.gap_low || value > c->extent.gap_high));
    if (c->bounded)
        CHECK(value >= c->low && value <= c->high);
    if (c->is_below)
        CHECK(value >= 0 && value < c->length);
    other = value_of(c->other, &c->v);
    if (!c->v.none && c->is_less)
        CHECK((value < other) == (c->is_less > 0));
    if (test.failures > failures)
        show_claims(c, value);
}

static void walk_frames(claims *c, int k)
{
    const ar_frame *frame = &c->frames[k];

    if (k == c->nframes) {
        check_value(c);
        return;
    }
    c->v.none = false;
    if (!frame->variable) {
        bool holds = value_of(frame->condition, &c->v);

        if (!c->v.none && holds == frame->holds)
            walk_frames(c, k + 1);
        return;
    }
    int64_t lo = value_of(frame->lo, &c->v), hi = value_of(frame->hi, &c->v);
    bool    none = c->v.none;
    int     at = c->v.n++;

    c->v.names[at] = frame->variable;
    for (int64_t i = lo; i < hi && i < lo + 12 && !none; i++) {
        c->v.values[at] = i;
        walk_frames(c, k + 1);
    }
    for (int64_t i = hi - 3 > lo + 12 ? hi - 3 : lo + 12; i < hi && !none; i++) {
        c->v.values[at] = i;
        walk_frames(c, k + 1);
    }
    c->v.n--;
}

static void walk_cells(claims *c, const arras_dim *shape)
{
    for (c->v.index[0] = 0; c->v.index[0] < shape[0]; c->v.index[0]++)
        for (c->v.index[1] = 0; c->v.index[1] < shape[1]; c->v.index[1]++) {
            c->in_box = true;
            for (int axis = 0; axis < AXES; axis++)
                c->in_box = c->in_box && c->v.index[axis] >= c->box_lo[axis] &&
                            c->v.index[axis] < c->box_hi[axis];
            walk_frames(c, 0);
        }
}

/* ---- Claims ---------------------------------------------------------------------------------- */

static int make_frames(ar_frame *frames, int *variables)
{
    int n = below(MOST_FRAMES + 1);

    *variables = 0;
    for (int k = 0; k < n; k++) {
        frames[k] = (ar_frame){ .outer = k ? &frames[k - 1] : NULL };
        if (*variables < 3 && below(3)) {
            frames[k].lo = below(2) ? number(0) : random_expr(*variables, 1);
            frames[k].hi = random_expr(*variables, 1);
            frames[k].variable = names[(*variables)++];
        } else {
            frames[k].condition = random_condition(*variables, 1);
            frames[k].holds = below(2);
        }
    }
    return n;
}

static bool one_expression(void)
{
    ar_frame       frames[MOST_FRAMES];
    arras_dim      shape[AXES] = { 1 + below(4), 1 + below(4) };
    claims         c = { .frames = frames };
    int            variables;
    const ar_space space = { .g = g, .rank = AXES, .shape = shape };

    c.nframes = make_frames(frames, &variables);
    c.e = random_expr(variables, 3);
    c.other = below(2) ? random_expr(variables, 2) : number(below(8) - 2);
    c.length = 1 + below(8);
    for (int axis = 0; axis < AXES; axis++) {
        c.box_lo[axis] = below((int)shape[axis]);
        c.box_hi[axis] = c.box_lo[axis] + 1 + below((int)(shape[axis] - c.box_lo[axis]));
    }
    if (!CHECK(c.e->kind != AR_EXPR_POISON && c.other->kind != AR_EXPR_POISON))
        return false;
    const ar_frame *around = c.nframes ? &frames[c.nframes - 1] : NULL;
    ar_extent_code  code;
    ar_arena        arena = { 0 };

    CHECK(ar_extent_compile(&code, c.e, NULL, around, &arena));
    c.extent = ar_extent_of(&code, c.box_lo, c.box_hi);
    ar_arena_free(&arena);
    c.bounded = ar_index_bounds(&c.low, &c.high, c.e, &space, around);
    c.is_below = ar_index_is_below(c.e, c.length, &space, around);
    c.is_less = ar_index_is_less(c.e, c.other, &space, around);
    walk_cells(&c, shape);
    return c.extent.known || c.bounded;
}

static void no_value_is_outside(void)
{
    int known = 0;

    for (int i = 0; i < PROGRAMS; i++) {
        CASE("expression %d", i);
        if (!CHECK_EQ_INT(arras_graph_new(&g, NULL), ARRAS_OK))
            return;
        known += one_expression();
        arras_graph_free(g);
    }
    CHECK(known > PROGRAMS / 3); /* or nothing was tested */
}

TEST_MAIN { RUN(no_value_is_outside); }
