/* index_kit.h -- for tests of what is said of indices: random index expressions of a cell [i0, i1]
 * and of variables, and their values.  They are made in the graph `g`. */
#ifndef TEST_INDEX_KIT_H
#define TEST_INDEX_KIT_H

#include "ir/ir.h"
#include "test.h"

enum { AXES = 2, MOST_VARIABLES = 12 };

static arras_graph *g;
static uint64_t     state = 1;

static inline int below(int n)
{
    state = state * 6364136223846793005U + 1442695040888963407U;
    return (int)(state >> 33) % n;
}

static inline arras_expr number(int64_t value)
{
    return ar_expr_cast(ar_expr_literal(g, ARRAS_I64, (ar_value){ .i = value }), ARRAS_I64);
}

/* ---- Values ---------------------------------------------------------------------------------- */

typedef struct {
    int64_t     index[AXES];
    const char *names[MOST_VARIABLES];
    int64_t     values[MOST_VARIABLES];
    int         n;
    bool        none; /* a place in nothing was asked for */
} values;

static inline int64_t value_of(arras_expr e, values *v);

static inline int64_t quotient(int64_t a, int64_t b)
{
    return b == 0 ? 0 : a / b - (a % b != 0 && (a < 0) != (b < 0));
}

static inline int64_t value_of_op(arras_expr e, values *v)
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
static inline int64_t value_of_place(arras_expr e, values *v)
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

static inline int64_t value_of(arras_expr e, values *v)
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
static inline void show_expr(arras_expr e)
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

static inline arras_expr random_expr(int variables, int depth);

static inline arras_expr random_condition(int variables, int depth)
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

static inline arras_expr random_leaf(int variables)
{
    int kind = below(AXES + 3);

    if (kind < AXES)
        return ar_expr_index(g, kind);
    return kind < AXES + 2 && variables > 0 ? ar_expr_var(g, names[below(variables)])
                                            : number(below(9) - 3);
}

static inline arras_expr random_place(int variables, int depth)
{
    arras_expr lo = random_expr(variables, depth - 1), hi = random_expr(variables, depth - 1);
    arras_expr body = ar_expr_apply(
        AR_OP_remainder, 2,
        (arras_expr[]){
            ar_expr_apply(AR_OP_multiply, 2, (arras_expr[]){ ar_expr_var(g, "q"), number(3) }),
            number(5) });

    return ar_expr_reduce(AR_REDUCE_argmax, "q", lo, hi, body);
}

static inline arras_expr random_expr(int variables, int depth)
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

#endif
