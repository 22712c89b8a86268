/* verify.c -- what must hold of every graph, whoever made it: looked at between passes in debug
 * builds and in tests.  Nothing here mends anything; a graph that does not hold is a bug of ours.
 */
#include "ir/graph.h"

#include <string.h>

typedef struct {
    const arras_graph *g;
    arras_array        node;   /* that is looked at */
    int64_t           *stamps; /* by id of expression: the last lambda in which it was seen */
    arras_error       *err;
} verifier;

static arras_status broken(const verifier *v, const char *format, ...) AR_PRINTF(2, 3);
static arras_status broken(const verifier *v, const char *format, ...)
{
    arras_error why;
    ar_text     node = { 0 };
    va_list     args;

    va_start(args, format);
    ar_vfail(&why, ARRAS_EINVAL, format, args);
    va_end(args);
    if (v->node)
        ar_node_describe(&node, v->node);
    ar_fail(v->err, ARRAS_EINVAL, "a graph does not hold: %s: %s", node.data ? node.data : "graph",
            why.text);
    ar_text_free(&node);
    return ARRAS_EINVAL;
}

static bool is_of_graph(const arras_graph *g, arras_array x)
{
    return x && x->id >= 0 && x->id < (int64_t)g->nnodes && g->nodes[x->id] == x;
}

/* ---- Expressions ----------------------------------------------------------------------------- */

static bool is_integer(arras_expr e) { return ar_dtype_class(e->type.dtype) < AR_CLASS_REAL; }

static bool same_type(ar_type a, ar_type b) { return a.dtype == b.dtype && a.weak == b.weak; }

static arras_status verify_op(const verifier *v, arras_expr e)
{
    int64_t      op = e->ints[0];
    ar_type      types[AR_MAX_ARITY];
    ar_signature s;

    if (op < 0 || op >= AR_OP_END || e->nargs != ar_op_arity((ar_op)op))
        return broken(v, "operation %" PRId64 " of %d operands", op, e->nargs);
    for (int i = 0; i < e->nargs; i++)
        types[i] = e->args[i]->type;
    if (!ar_op_signature(&s, (ar_op)op, types) || !same_type(s.result, e->type))
        return broken(v, "%s has the type %s, which its operands do not give",
                      ar_op_name((ar_op)op), ar_dtype_name(e->type.dtype));
    return ARRAS_OK;
}

static arras_status verify_reduce(const verifier *v, arras_expr e)
{
    ar_reduction reduction = (ar_reduction)e->ints[0];
    ar_signature s;

    if (e->nargs != 3 || e->ints[0] < 0 || e->ints[0] >= AR_REDUCTION_END || !e->name)
        return broken(v, "reduction %" PRId64 " of %d parts", e->ints[0], e->nargs);
    if (!is_integer(e->args[0]) || !is_integer(e->args[1]))
        return broken(v, "bounds of %s over %s are no integers", ar_reduction_name(reduction),
                      e->name);
    if (!ar_reduction_signature(&s, reduction, e->args[2]->type) || !same_type(s.result, e->type))
        return broken(v, "%s over %s has the type %s, which its cells do not give",
                      ar_reduction_name(reduction), e->name, ar_dtype_name(e->type.dtype));
    if (ar_expr_tree(e) == AR_TREE_FUSED &&
        !ar_sum_can_be_fused(reduction, e->args[0], e->args[1], e->args[2]))
        return broken(v, "%s over %s is marked as fused and can't be", ar_reduction_name(reduction),
                      e->name);
    return ARRAS_OK;
}

/* Indices are integers; behind them stands a fill for each axis of a constant edge. */
static arras_status verify_load_args(const verifier *v, arras_expr e)
{
    int fills = 0;

    for (int axis = 0; axis < e->rank; axis++) {
        int64_t rule = e->ints[1 + axis];

        if (rule < 0 || rule >= ARRAS_EDGE_END)
            return broken(v, "a load has edge rule %" PRId64 " at axis %d", rule, axis);
        if (!is_integer(e->args[axis]))
            return broken(v, "index %d of a load is %s", axis,
                          ar_dtype_name(e->args[axis]->type.dtype));
        fills += rule == ARRAS_EDGE_CONSTANT;
    }
    if (e->nargs != e->rank + fills)
        return broken(v, "a load of %d axes, %d of them with fills, has %d parts", e->rank, fills,
                      e->nargs);
    return ARRAS_OK;
}

static arras_status verify_load(const verifier *v, arras_expr e)
{
    int64_t     number = e->ints[0];
    arras_array x;

    if (e->array || number < 0 || number >= v->node->ninputs)
        return broken(v, "a load is bound to array %" PRId64 " of %d", number, v->node->ninputs);
    x = v->node->inputs[number];
    if (e->rank != x->rank || e->nints != 1 + e->rank || e->type.weak ||
        e->type.dtype != x->type.dtype)
        return broken(v, "a load of %d indices and type %s of an array of rank %d and type %s",
                      e->rank, ar_dtype_name(e->type.dtype), x->rank, ar_dtype_name(x->type.dtype));
    return verify_load_args(v, e);
}

/* What is kept beside an expression must be what its parts say. */
static arras_status verify_measures(const verifier *v, arras_expr e)
{
    int      axes = e->kind == AR_EXPR_INDEX ? (int)e->ints[0] + 1 : 0, depth = 0;
    uint32_t uses = e->kind == AR_EXPR_INDEX ? (uint32_t)1 << e->ints[0] : 0;

    for (int i = 0; i < e->nargs; i++) {
        if (e->args[i]->id >= e->id)
            return broken(v, "expression %" PRId64 " has the part %" PRId64, e->id, e->args[i]->id);
        axes = axes > e->args[i]->axes ? axes : e->args[i]->axes;
        depth = depth > e->args[i]->depth ? depth : e->args[i]->depth + 1;
        uses |= e->args[i]->uses;
    }
    if (e->axes != axes || e->uses != uses || e->depth != depth || e->depth > AR_MAX_DEPTH)
        return broken(v, "expression %" PRId64 " is measured wrongly", e->id);
    return ARRAS_OK;
}

static arras_status verify_one(const verifier *v, arras_expr e)
{
    switch (e->kind) {
    case AR_EXPR_INDEX:
    case AR_EXPR_VAR: return ARRAS_OK;
    case AR_EXPR_LITERAL:
        return e->type.weak ? ARRAS_OK : broken(v, "a literal has a type of its own");
    case AR_EXPR_SIZE:
        return ar_dim_error(v->g, e->ints[0]) ? broken(v, "a size in it does not exist") : ARRAS_OK;
    case AR_EXPR_CAST:
        return e->nargs == 1 && !e->type.weak ? ARRAS_OK : broken(v, "a cast to no type");
    case AR_EXPR_OP: return verify_op(v, e);
    case AR_EXPR_LOAD: return verify_load(v, e);
    case AR_EXPR_REDUCE: return verify_reduce(v, e);
    case AR_EXPR_POISON: break;
    }
    return broken(v, "poison in its cells: %s", e->name ? e->name : "");
}

/* Depth is limited by AR_MAX_DEPTH. */
static arras_status verify_expr(const verifier *v, arras_expr e)
{
    arras_status status;

    if (!e || e->id < 0 || e->id >= v->g->nexprs)
        return broken(v, "a part of its cells is no expression of the graph");
    if (v->stamps[e->id] == v->node->id + 1)
        return ARRAS_OK;
    v->stamps[e->id] = v->node->id + 1;
    status = verify_measures(v, e);
    if (status == ARRAS_OK)
        status = verify_one(v, e);
    for (int i = 0; i < e->nargs && status == ARRAS_OK; i++)
        status = verify_expr(v, e->args[i]);
    return status;
}

/* ---- Nodes ----------------------------------------------------------------------------------- */

static arras_status verify_lambda(const verifier *v)
{
    arras_expr cell = v->node->ref;

    if (cell->type.dtype != v->node->type.dtype || v->node->type.weak)
        return broken(v, "its cells are %s", ar_dtype_name(cell->type.dtype));
    if (cell->axes > v->node->rank)
        return broken(v, "its cells use the index of axis %d", cell->axes - 1);
    if (cell->nfree > 0)
        return broken(v, "the variable %s is bound by no reduction", cell->free[0]);
    return verify_expr(v, cell);
}

static arras_status verify_shape(const verifier *v)
{
    if (v->node->rank < 0 || v->node->rank > ARRAS_MAX_RANK)
        return broken(v, "rank %d", v->node->rank);
    for (int axis = 0; axis < v->node->rank; axis++) {
        arras_dim length = v->node->shape[axis];

        if (ar_dim_error(v->g, length) || (!ar_dim_symbolic(length) && length < 0))
            return broken(v, "the length of axis %d is no size", axis);
    }
    return ARRAS_OK;
}

static arras_status verify_node(const verifier *v, bool normal)
{
    arras_array  node = v->node;
    arras_status status = verify_shape(v);

    if (normal && node->kind != AR_INPUT && node->kind != AR_DATA && node->kind != AR_LAMBDA &&
        node->kind != AR_SCAN)
        return broken(v, "a %s has no place in a normal form", ar_kind_word(node->kind));
    for (int i = 0; i < node->ninputs; i++)
        if (!is_of_graph(v->g, node->inputs[i]) || node->inputs[i]->id >= node->id)
            return broken(v, "its operand %d does not stand before it", i);
    return status == ARRAS_OK && node->kind == AR_LAMBDA ? verify_lambda(v) : status;
}

/* Those that outputs need: others are what passes left behind. */
static arras_status verify_nodes(verifier *v, bool normal)
{
    arras_array *roots = NULL, *nodes = NULL;
    int64_t      count = 0;
    arras_status status = ar_graph_roots(&roots, v->g, v->err);

    if (status == ARRAS_OK)
        status = ar_reach(&nodes, &count, v->g, ar_graph_output_count(v->g), roots, v->err);
    for (int64_t i = 0; i < count && status == ARRAS_OK; i++) {
        v->node = nodes[i];
        status = verify_node(v, normal);
    }
    ar_free(roots);
    ar_free(nodes);
    return status;
}

static arras_status verify_lists(const verifier *v)
{
    for (size_t id = 0; id < v->g->nnodes; id++)
        if (v->g->nodes[id]->id != (int64_t)id)
            return broken(v, "node %zu has the number %" PRId64, id, v->g->nodes[id]->id);
    for (size_t i = 0; i < v->g->noutputs; i++)
        if (!is_of_graph(v->g, v->g->outputs[i].array))
            return broken(v, "the output %s is no node of it", v->g->outputs[i].name);
    for (size_t i = 0; i < v->g->ninputs; i++)
        if (!is_of_graph(v->g, v->g->inputs[i]) || v->g->inputs[i]->kind != AR_INPUT)
            return broken(v, "input %zu is no input", i);
    return ARRAS_OK;
}

arras_status ar_graph_verify(const arras_graph *g, bool normal, arras_error *err)
{
    verifier     v = { .g = g, .err = err };
    arras_status status;

    if (g->memory_failed) /* it is not what was meant, and whoever made it says so */
        return ARRAS_OK;
    v.stamps = ar_alloc((size_t)g->nexprs + 1, sizeof *v.stamps);
    if (!v.stamps)
        return ar_fail_memory(err, (size_t)g->nexprs * sizeof *v.stamps);
    status = verify_lists(&v);
    if (status == ARRAS_OK)
        status = verify_nodes(&v, normal);
    ar_free(v.stamps);
    return status;
}
