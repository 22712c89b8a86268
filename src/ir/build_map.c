/* build_map.c -- cell by cell: elementwise operations, casts, index lambdas. */
#include "ir/graph.h"

#include <string.h>

static bool is_untyped_int(arras_array x) { return x->type.weak && x->type.dtype == ARRAS_I64; }

static arras_array poison_types(ar_op op, int n, const arras_array *xs)
{
    arras_error err;

    ar_fail(&err, ARRAS_EDTYPE, "%s is not defined for %s%s%s%s", ar_op_name(op),
            ar_dtype_name(xs[0]->type.dtype), n > 1 ? " and " : "",
            n > 1 ? ar_dtype_name(xs[n - 1]->type.dtype) : "",
            op == AR_OP_subtract || op == AR_OP_negative ? ": use logical_xor or logical_not" : "");
    return ar_poison_about(xs[0]->graph, &err, n, xs);
}

/* An untyped integer must fit the type it takes: u8 + 300 is an error, as in NumPy 2.  Comparisons
 * are exact instead: there the number gets a type of its own. */
static arras_array fit_numbers(ar_op op, int n, arras_array *xs, const ar_signature *s)
{
    int first = s->operand[0] == s->compute ? 0 : 1; /* the condition of where becomes bool */

    if (!ar_op_is_comparison(op))
        return ar_check_untyped(ar_op_name(op), n - first, xs + first, s->compute);
    for (int i = 0; i < n; i++)
        if (is_untyped_int(xs[i]) && !ar_integer_fits(xs[i]->ints[0], s->compute))
            xs[i] = ar_cast(xs[i], ARRAS_I64);
    return NULL;
}

/* As in NumPy; where exponents come from an array there is no error, see ops.def. */
static arras_array check_power(ar_op op, int n, const arras_array *xs, const ar_signature *s)
{
    arras_error err;

    if (op != AR_OP_pow || !ar_dtype_is_integer(s->compute) || !is_untyped_int(xs[1]) ||
        xs[1]->ints[0] >= 0)
        return NULL;
    ar_fail(&err, ARRAS_EDTYPE,
            "pow: an integer to the power %" PRId64 " is no integer: cast it to a real type",
            xs[1]->ints[0]);
    return ar_poison_about(xs[0]->graph, &err, n, xs);
}

/* u64 against a signed integer: no integer type holds both, so the sign decides first. */
static arras_array compare_mixed(ar_op op, const arras_array *xs)
{
    arras_graph *g = xs[0]->graph;
    int          side = ar_dtype_class(xs[0]->type.dtype) == AR_CLASS_SIGNED ? 0 : 1;
    arras_array  zero = ar_const(g, (ar_type){ ARRAS_I64, true }, (ar_value){ .bits = { 0, 0 } });
    arras_array  negative = ar_map(AR_OP_less, 2, (arras_array[]){ xs[side], zero });
    arras_array  outcome = ar_const(g, (ar_type){ ARRAS_BOOL, false },
                                    (ar_value){ .bits = { ar_negative_compares(op, side), 0 } });
    arras_array  positive =
        ar_map(op, 2, (arras_array[]){ ar_cast(xs[0], ARRAS_U64), ar_cast(xs[1], ARRAS_U64) });

    return ar_map(AR_OP_where, 3, (arras_array[]){ negative, outcome, positive });
}

static bool all_untyped(int n, const arras_array *xs)
{
    for (int i = 0; i < n; i++)
        if (!xs[i]->type.weak)
            return false;
    return true;
}

/* Operations on untyped numbers alone give an untyped number at once: 2 * 3.5 stays as untyped
 * as 7.0. */
static arras_array fold(arras_graph *g, ar_op op, int n, const arras_array *xs,
                        const ar_signature *s)
{
    ar_value operands[AR_MAX_ARITY] = { 0 }, result = { .bits = { 0, 0 } };

    for (int i = 0; i < n; i++)
        ar_cell_cast(s->operand[i], &operands[i], xs[i]->type.dtype, xs[i]->ints);
    ar_op_value(op, s->compute)(&result, &operands[0], &operands[1], &operands[2]);
    return ar_const(g, s->result, result);
}

static arras_status broadcast_all(int *rank, arras_dim *shape, ar_op op, int n,
                                  const arras_array *xs, arras_error *err)
{
    *rank = 0;
    for (int i = 0; i < n; i++) {
        arras_status status = ar_broadcast(rank, shape, xs[0]->graph, ar_op_name(op), *rank, shape,
                                           xs[i]->rank, xs[i]->shape, err);
        if (status != ARRAS_OK)
            return status;
    }
    return ARRAS_OK;
}

static arras_array map_broadcast(ar_op op, int n, const arras_array *xs, ar_type type)
{
    arras_dim   shape[ARRAS_MAX_RANK];
    int         rank;
    arras_error err;
    arras_array bad;

    if (broadcast_all(&rank, shape, op, n, xs, &err) != ARRAS_OK)
        return ar_poison_about(xs[0]->graph, &err, n, xs);
    if ((bad = ar_check_shape(xs[0]->graph, ar_op_name(op), rank, shape)))
        return bad;
    return ar_intern(xs[0]->graph, &(struct arras_node){ .kind = AR_MAP,
                                                         .type = type,
                                                         .rank = rank,
                                                         .shape = shape,
                                                         .ninputs = n,
                                                         .inputs = xs,
                                                         .nints = 1,
                                                         .ints = (int64_t[]){ op } });
}

static bool signature(ar_signature *s, ar_op op, int n, const arras_array *xs)
{
    ar_type types[AR_MAX_ARITY];

    for (int i = 0; i < n; i++)
        types[i] = xs[i]->type;
    return ar_op_signature(s, op, types);
}

arras_array ar_map(ar_op op, int n, const arras_array *operands)
{
    arras_array  bad = ar_check_inputs(ar_op_name(op), n, operands), xs[AR_MAX_ARITY];
    ar_signature s;

    if (bad)
        return bad;
    if (n != ar_op_arity(op))
        return ar_poison(operands[0]->graph, ARRAS_EINVAL, "%s takes %d operands, not %d",
                         ar_op_name(op), ar_op_arity(op), n);
    memcpy(xs, operands, (size_t)n * sizeof *xs);
    if (!signature(&s, op, n, xs))
        return poison_types(op, n, xs);
    if ((bad = fit_numbers(op, n, xs, &s)) || (bad = check_power(op, n, xs, &s)))
        return bad;
    if (all_untyped(n, xs))
        return fold(xs[0]->graph, op, n, xs, &s);
    if (ar_op_is_comparison(op) && ar_types_mixed(xs[0]->type, xs[1]->type))
        return compare_mixed(op, xs);
    signature(&s, op, n, xs); /* again: fit_numbers may have given a number its type */
    return map_broadcast(op, n, xs, s.result);
}

arras_array ar_cast(arras_array x, arras_dtype dtype)
{
    arras_array bad = ar_check_inputs("cast", 1, &x);

    if (bad)
        return bad;
    if (!ar_dtype_valid(dtype))
        return ar_poison(x->graph, ARRAS_EDTYPE, "cast: there is no type number %d", (int)dtype);
    if (x->type.dtype == dtype && !x->type.weak)
        return x;
    if (x->kind == AR_CONST) {
        ar_value value = { .bits = { 0, 0 } };

        ar_cell_cast(dtype, &value, x->type.dtype, x->ints);
        return ar_const(x->graph, (ar_type){ dtype, false }, value);
    }
    return ar_intern(x->graph, &(struct arras_node){ .kind = AR_CAST,
                                                     .type = { dtype, false },
                                                     .rank = x->rank,
                                                     .shape = x->shape,
                                                     .ninputs = 1,
                                                     .inputs = &x });
}

/* ---- Index lambdas --------------------------------------------------------------------------- */

typedef struct {
    arras_graph *g;
    arras_array *arrays; /* what the loads read, in the order in which they are met */
    size_t       count, room;
    bool         failed;
    bool         had_numbers; /* some load was bound before */
} binder;

static int64_t binding_number(binder *b, arras_array x)
{
    for (size_t i = 0; i < b->count; i++)
        if (b->arrays[i] == x)
            return (int64_t)i;
    if (!ar_grow(&b->arrays, &b->room, b->count, sizeof *b->arrays)) {
        b->failed = true;
        return 0;
    }
    b->arrays[b->count] = x;
    return (int64_t)b->count++;
}

static arras_expr bind(binder *b, arras_expr e);

/* e with these parts, which are not all its own. */
static arras_expr bound_like(binder *b, arras_expr e, const arras_expr *args, const int64_t *ints)
{
    struct arras_expr_node copy = *e;
    arras_expr             bound;

    if (b->failed)
        return e;
    copy.args = args, copy.ints = ints, copy.array = NULL;
    copy.nfree = 0, copy.free = NULL;
    bound = ar_expr_intern(b->g, &copy);
    b->failed = bound->kind == AR_EXPR_POISON; /* no memory */
    return bound;
}

static bool bind_args(binder *b, arras_expr *args, arras_expr e)
{
    bool same = true;

    for (int i = 0; i < e->nargs; i++) {
        args[i] = bind(b, e->args[i]);
        same = same && args[i] == e->args[i];
    }
    return same;
}

/* Apart from others, which are nested deeper and need less room. */
static arras_expr bind_load(binder *b, arras_expr e)
{
    arras_expr args[2 * ARRAS_MAX_RANK];
    int64_t    ints[1 + ARRAS_MAX_RANK];
    bool       had_number = !e->array;

    b->had_numbers = b->had_numbers || had_number;
    memcpy(ints, e->ints, (size_t)e->nints * sizeof *ints);
    if (!had_number)
        ints[0] = binding_number(b, e->array);
    return bind_args(b, args, e) && had_number ? e : bound_like(b, e, args, ints);
}

static arras_expr bind_others(binder *b, arras_expr e)
{
    arras_expr args[AR_MAX_ARITY];

    return bind_args(b, args, e) ? e : bound_like(b, e, args, e->ints);
}

/* The same expression with loads numbered.  Each shared part is visited once; depth is limited by
 * AR_MAX_DEPTH. */
static arras_expr bind(binder *b, arras_expr e)
{
    struct ar_bound *memo = &b->g->bound[e->id];
    arras_expr       bound;

    if (e->nargs == 0 && e->kind != AR_EXPR_LOAD)
        return e;
    if (memo->stamp == b->g->stamp)
        return memo->expr;
    bound = e->kind == AR_EXPR_LOAD ? bind_load(b, e) : bind_others(b, e);
    /* The vector may not move here: it was made long enough for every id there was at the start. */
    *memo = (struct ar_bound){ b->g->stamp, bound };
    return bound;
}

static bool start_binding(arras_graph *g)
{
    while (g->bound_room < (size_t)g->nexprs) {
        size_t old = g->bound_room;

        if (!ar_grow(&g->bound, &g->bound_room, g->bound_room, sizeof *g->bound))
            return false;
        memset(g->bound + old, 0, (g->bound_room - old) * sizeof *g->bound);
    }
    g->stamp++;
    return true;
}

static arras_array check_cell(arras_graph *g, int rank, arras_expr cell)
{
    if (!cell)
        return ar_poison_no_graph();
    if (cell->kind == AR_EXPR_POISON)
        return ar_poison(cell->graph ? g : NULL, (arras_status)cell->ints[0], "%s", cell->name);
    if (cell->graph != g)
        return ar_poison(g, ARRAS_EINVAL, "lambda: the expression belongs to another graph");
    if (cell->nfree > 0)
        return ar_poison(g, ARRAS_ENAME, "lambda: no reduction gives the variable '%s' a value",
                         cell->free[0]);
    if (cell->axes > rank)
        return ar_poison(g, ARRAS_EAXIS, "lambda: index %d is used, but the result has rank %d",
                         cell->axes - 1, rank);
    return NULL;
}

arras_array ar_lambda_intern(arras_graph *g, int rank, const arras_dim *shape, arras_expr cell,
                             int n, const arras_array *bindings)
{
    return ar_intern(g, &(struct arras_node){ .kind = AR_LAMBDA,
                                              .type = { cell->type.dtype, false },
                                              .rank = rank,
                                              .shape = shape,
                                              .ninputs = n,
                                              .inputs = bindings,
                                              .ref = cell });
}

arras_array ar_lambda(arras_graph *g, int rank, const arras_dim *shape, arras_expr cell)
{
    arras_array bad = ar_check_shape(g, "lambda", rank, shape), result;
    binder      b = { .g = g };
    arras_expr  bound;

    if (bad || (bad = check_cell(g, rank, cell)))
        return bad;
    if (!start_binding(g))
        return ar_poison_memory(g);
    bound = bind(&b, cell);
    if (b.failed)
        result = ar_poison_memory(g);
    else if (b.had_numbers)
        result = ar_lambda_bound(g, rank, shape, bound, (int)b.count, b.arrays);
    else /* loads fit what they were made for */
        result = ar_lambda_intern(g, rank, shape, bound, (int)b.count, b.arrays);
    ar_free(b.arrays);
    return result;
}

/* Loads of a bound expression must fit the arrays they are bound to. */
static arras_array check_loads(arras_graph *g, arras_expr e, int n, const arras_array *bindings)
{
    struct ar_bound *memo = &g->bound[e->id];
    arras_array      bad = NULL;

    if (memo->stamp == g->stamp)
        return NULL;
    memo->stamp = g->stamp;
    if (e->kind == AR_EXPR_LOAD) {
        int64_t k = e->ints[0];

        if (k < 0 || k >= n)
            return ar_poison(g, ARRAS_EINVAL, "lambda: a load reads binding %" PRId64 " of %d", k,
                             n);
        if (e->rank != bindings[k]->rank || e->type.dtype != bindings[k]->type.dtype)
            return ar_poison(g, ARRAS_ESHAPE,
                             "lambda: a load of binding %" PRId64 " has %d indices and type %s, "
                             "the array rank %d and type %s",
                             k, e->rank, ar_dtype_name(e->type.dtype), bindings[k]->rank,
                             ar_dtype_name(bindings[k]->type.dtype));
    }
    for (int i = 0; i < e->nargs && !bad; i++)
        bad = check_loads(g, e->args[i], n, bindings);
    return bad;
}

arras_array ar_lambda_bound(arras_graph *g, int rank, const arras_dim *shape, arras_expr cell,
                            int n, const arras_array *bindings)
{
    arras_array bad = ar_check_shape(g, "lambda", rank, shape);

    if (bad || (bad = check_cell(g, rank, cell)) ||
        (n > 0 && (bad = ar_check_inputs("lambda", n, bindings))))
        return bad;
    if (!start_binding(g))
        return ar_poison_memory(g);
    bad = check_loads(g, cell, n, bindings);
    return bad ? bad : ar_lambda_intern(g, rank, shape, cell, n, bindings);
}
