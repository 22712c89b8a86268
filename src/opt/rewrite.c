/* rewrite.c -- a normal form written anew: arrays by ascending id, each expression once for each
 * place where something else is known of it. */
#include "opt/rewrite.h"

/* Beyond that many visits to the parts of one cell, conditions are not looked at any more: what is
 * shared by many branches would be written for each of them. */
enum { MOST_VISITS = 20000 };

arras_expr ar_no_memory(arras_graph *g) { return ar_expr_poison(g, ARRAS_ENOMEM, "out of memory"); }

/* ---- Parts of expressions -------------------------------------------------------------------- */

arras_dim ar_rewrite_dim(const ar_rewrite *r, arras_dim dim)
{
    return ar_dim_move(r->to, r->from, dim, r->sizes);
}

arras_expr ar_load_like(arras_expr e, arras_array x, const arras_expr *args)
{
    arras_expr indices[ARRAS_MAX_RANK];
    arras_edge edges[ARRAS_MAX_RANK];
    int        fill = e->rank;

    for (int axis = 0; axis < e->rank; axis++) {
        indices[axis] = ar_plain_int(args[axis]);
        edges[axis].rule = (arras_edge_rule)e->ints[1 + axis];
        edges[axis].fill = edges[axis].rule == ARRAS_EDGE_CONSTANT ? args[fill++] : NULL;
    }
    return ar_expr_load(x, e->rank, indices, edges);
}

static arras_expr copy_literal(arras_graph *to, arras_expr e)
{
    ar_value value;

    memcpy(&value, e->ints, sizeof value);
    return ar_expr_literal(to, e->type.dtype, value);
}

arras_expr ar_rewrite_copy(ar_rewrite *r, arras_expr e, const arras_expr *args,
                           const ar_frame *around)
{
    ar_place_of at = { &r->space, around };

    switch (e->kind) {
    case AR_EXPR_INDEX: return ar_expr_index(r->to, (int)e->ints[0]);
    case AR_EXPR_VAR: return ar_expr_var(r->to, e->name);
    case AR_EXPR_LITERAL: return copy_literal(r->to, e);
    case AR_EXPR_SIZE: return ar_expr_size(r->to, ar_rewrite_dim(r, e->ints[0]));
    case AR_EXPR_CAST: return ar_simple_cast(args[0], e->type.dtype);
    case AR_EXPR_OP: return ar_simple_apply((ar_op)e->ints[0], e->nargs, args, at);
    case AR_EXPR_LOAD: return ar_load_like(e, r->became[r->old->inputs[e->ints[0]]->id], args);
    case AR_EXPR_REDUCE: return ar_reduce_like(e, args);
    case AR_EXPR_POISON: break;
    }
    return ar_expr_poison(r->to, ARRAS_EINVAL, "%s", e->name);
}

/* ---- Walking --------------------------------------------------------------------------------- */

static arras_expr walk(ar_rewrite *r, arras_expr e, const ar_frame *around);

/* What was written under fewer conditions holds here too, unless a variable of the same name has
 * come between. */
static bool still_holds(const ar_rewrite *r, arras_expr e, int64_t stamp, const ar_frame *around)
{
    for (; around; around = around->outer) {
        if (around->stamp == stamp)
            return true;
        if (around->variable && ar_expr_depends(e, around->variable))
            return false;
    }
    return stamp == r->first_stamp;
}

static ar_frame new_frame(ar_rewrite *r, const ar_frame *outer)
{
    return (ar_frame){ .outer = outer, .stamp = ++r->stamp };
}

/* Stays one: rounded once only together with the sum. */
static arras_expr walk_product(ar_rewrite *r, arras_expr e, const ar_frame *around)
{
    return ar_binary(AR_OP_multiply, walk(r, e->args[0], around), walk(r, e->args[1], around));
}

static arras_expr walk_reduce(ar_rewrite *r, arras_expr e, const ar_frame *around)
{
    arras_expr args[3] = { walk(r, e->args[0], around), walk(r, e->args[1], around) };
    ar_frame   within = new_frame(r, around);

    within.variable = e->name, within.lo = args[0], within.hi = args[1];
    args[2] = ar_expr_tree(e) == AR_TREE_FUSED ? walk_product(r, e->args[2], &within)
                                               : walk(r, e->args[2], &within);
    return r->make(r, e, args, around);
}

/* A condition on whole numbers may tell where an index is. */
static bool tells(const ar_rewrite *r, arras_expr condition)
{
    return r->visits <= MOST_VISITS && condition->kind == AR_EXPR_OP &&
           (ar_expr_is(condition, AR_OP_logical_and) || ar_expr_is(condition, AR_OP_logical_or) ||
            (ar_op_is_comparison((ar_op)condition->ints[0]) &&
             ar_dtype_class(condition->args[0]->type.dtype) < AR_CLASS_REAL));
}

static arras_expr walk_where(ar_rewrite *r, arras_expr e, const ar_frame *around)
{
    arras_expr args[3] = { walk(r, e->args[0], around) };

    for (int branch = 1; branch <= 2; branch++) {
        ar_frame within = new_frame(r, around);

        within.condition = args[0], within.holds = branch == 1;
        args[branch] = walk(r, e->args[branch], tells(r, args[0]) ? &within : around);
    }
    return r->make(r, e, args, around);
}

static arras_expr walk_load(ar_rewrite *r, arras_expr e, const ar_frame *around)
{
    arras_expr args[2 * ARRAS_MAX_RANK];

    for (int i = 0; i < e->nargs; i++)
        args[i] = walk(r, e->args[i], around);
    return r->make(r, e, args, around);
}

static arras_expr walk_others(ar_rewrite *r, arras_expr e, const ar_frame *around)
{
    arras_expr args[AR_MAX_ARITY];

    for (int i = 0; i < e->nargs; i++)
        args[i] = walk(r, e->args[i], around);
    return r->make(r, e, args, around);
}

/* Depth is limited by AR_MAX_DEPTH. */
static arras_expr walk(ar_rewrite *r, arras_expr e, const ar_frame *around)
{
    struct ar_written *memo = &r->written[e->id];
    arras_expr         result;

    if (memo->stamp >= r->first_stamp && still_holds(r, e, memo->stamp, around))
        return memo->expr;
    r->visits++;
    if (e->kind == AR_EXPR_REDUCE)
        result = walk_reduce(r, e, around);
    else if (e->kind == AR_EXPR_LOAD)
        result = walk_load(r, e, around);
    else if (ar_expr_is(e, AR_OP_where))
        result = walk_where(r, e, around);
    else
        result = walk_others(r, e, around);
    *memo = (struct ar_written){ around ? around->stamp : r->first_stamp, result };
    return result;
}

/* ---- Arrays ---------------------------------------------------------------------------------- */

static arras_status keep_array(ar_rewrite *r, arras_array *out, arras_array x)
{
    if (ar_is_poison(x))
        return ar_fail(r->err, (arras_status)x->ints[0], "%s", x->name);
    *out = x;
    return ARRAS_OK;
}

arras_expr ar_rewrite_cell(const ar_rewrite *r, arras_array x)
{
    return (size_t)x->id < r->stored_room ? r->stored[x->id].cell : NULL;
}

bool ar_rewrite_is_constant(const ar_rewrite *r, arras_array x)
{
    return x->kind == AR_DATA || (ar_rewrite_cell(r, x) && r->stored[x->id].constant);
}

static arras_status look_back_at(ar_rewrite *r, arras_array made, arras_expr cell)
{
    struct ar_stored stored = { cell, true };

    while (r->stored_room <= (size_t)made->id) {
        size_t old = r->stored_room;

        if (!ar_grow(&r->stored, &r->stored_room, old, sizeof *r->stored))
            return ar_fail_memory(r->err, old * sizeof *r->stored);
        memset(r->stored + old, 0, (r->stored_room - old) * sizeof *r->stored);
    }
    for (int k = 0; k < made->ninputs; k++)
        stored.constant = stored.constant && ar_rewrite_is_constant(r, made->inputs[k]);
    for (int axis = 0; axis < made->rank; axis++)
        stored.constant = stored.constant && !ar_dim_symbolic(made->shape[axis]);
    r->stored[made->id] = stored;
    return ARRAS_OK;
}

arras_status ar_rewrite_store(ar_rewrite *r, arras_array *out, int rank, const arras_dim *shape,
                              arras_expr cell)
{
    arras_status status = keep_array(r, out, ar_lambda(r->to, rank, shape, cell));

    return status == ARRAS_OK && r->looks_back ? look_back_at(r, *out, cell) : status;
}

static arras_status rewrite_lambda(ar_rewrite *r, arras_array old)
{
    arras_expr cell;

    for (int axis = 0; axis < old->rank; axis++)
        r->shape[axis] = ar_rewrite_dim(r, old->shape[axis]);
    r->space = (ar_space){ .g = r->to, .rank = old->rank, .shape = r->shape };
    r->old = old;
    r->first_stamp = ++r->stamp;
    r->visits = 0;
    cell = walk(r, old->ref, NULL);
    if (cell->kind != AR_EXPR_POISON)
        cell = ar_expr_cast(cell, old->type.dtype);
    if (r->put && cell->kind != AR_EXPR_POISON)
        return r->put(r, old, cell);
    return ar_rewrite_store(r, &r->became[old->id], old->rank, r->shape, cell);
}

static arras_status rewrite_array(ar_rewrite *r, arras_array old)
{
    if (old->kind == AR_LAMBDA)
        return rewrite_lambda(r, old);
    if (old->kind == AR_INPUT)
        return keep_array(r, &r->became[old->id], ar_graph_input_find(r->to, old->name));
    if (old->kind == AR_SCAN) /* what it reads is stored: see ar_is_scanned() */
        return keep_array(
            r, &r->became[old->id],
            ar_scan((ar_reduction)old->ints[0], r->became[old->inputs[0]->id], (int)old->ints[1]));
    return keep_array(r, &r->became[old->id], ar_data_again(r->to, old));
}

/* ---- The graph ------------------------------------------------------------------------------- */

/* All of them, also those that no output needs: users bind them. */
static arras_status copy_inputs(ar_rewrite *r)
{
    for (int i = 0; i < ar_size_count(r->from); i++)
        r->sizes[i] = ar_dim_size(r->to, ar_size_name(r->from, i));
    for (int i = 0; i < ar_graph_input_count(r->from); i++) {
        arras_array  old = ar_graph_input(r->from, i), input = NULL;
        arras_dim    shape[ARRAS_MAX_RANK];
        arras_status status;

        for (int axis = 0; axis < old->rank; axis++)
            shape[axis] = ar_rewrite_dim(r, old->shape[axis]);
        status =
            keep_array(r, &input, ar_input(r->to, old->name, old->type.dtype, old->rank, shape));
        if (status != ARRAS_OK)
            return status;
    }
    return ARRAS_OK;
}

static arras_status copy_outputs(ar_rewrite *r)
{
    arras_status status = ARRAS_OK;

    for (int i = 0; i < ar_graph_output_count(r->from) && status == ARRAS_OK; i++) {
        const ar_output *output = ar_graph_output(r->from, i);
        arras_array      x = NULL;

        status = keep_array(r, &x,
                            ar_graph_output_add(r->to, output->name, r->became[output->array->id]));
    }
    return status;
}

static int64_t largest_expr(const ar_rewrite *r)
{
    int64_t largest = 0;

    for (int64_t i = 0; i < r->count; i++)
        if (r->nodes[i]->kind == AR_LAMBDA)
            largest = ar_max64(largest, ((arras_expr)r->nodes[i]->ref)->id);
    return largest;
}

static arras_status find_nodes(ar_rewrite *r)
{
    arras_array *roots = NULL;
    arras_status status = ar_graph_roots(&roots, r->from, r->err);

    if (status == ARRAS_OK)
        status =
            ar_reach(&r->nodes, &r->count, r->from, ar_graph_output_count(r->from), roots, r->err);
    ar_free(roots);
    return status;
}

static arras_status make_room(ar_rewrite *r)
{
    size_t nodes = (size_t)ar_graph_count(r->from), exprs = (size_t)largest_expr(r) + 1;

    r->became = ar_alloc(nodes, sizeof *r->became);
    r->sizes = ar_alloc((size_t)ar_size_count(r->from), sizeof *r->sizes);
    r->written = ar_alloc(exprs, sizeof *r->written);
    if (!r->became || !r->sizes || !r->written)
        return ar_fail_memory(r->err, nodes * sizeof *r->became + exprs * sizeof *r->written);
    return ARRAS_OK;
}

static arras_status rewrite_all(ar_rewrite *r)
{
    arras_status status = find_nodes(r);

    if (status == ARRAS_OK)
        status = make_room(r);
    if (status == ARRAS_OK)
        status = copy_inputs(r);
    for (int64_t i = 0; i < r->count && status == ARRAS_OK; i++)
        status = rewrite_array(r, r->nodes[i]);
    if (status == ARRAS_OK)
        status = copy_outputs(r);
    return status;
}

arras_status ar_rewrite_run(arras_graph **out, ar_rewrite *r, const arras_graph *normal,
                            arras_error *err)
{
    arras_status status;

    r->from = normal, r->err = err;
    status = ar_graph_new(&r->to, err);
    if (status != ARRAS_OK)
        return status;
    status = rewrite_all(r);
    if (ar_graph_memory_failed(r->to)) /* whatever that led to, it is the reason */
        status = ar_fail(err, ARRAS_ENOMEM, "out of memory while a program was optimised");
    if (status == ARRAS_OK)
        *out = r->to;
    else
        ar_graph_free(r->to);
    ar_free(r->nodes);
    if (!r->keep)
        ar_free(r->became);
    ar_free(r->sizes);
    ar_free(r->written);
    ar_free(r->stored);
    return status;
}

arras_status ar_rewrite_try(arras_graph **out, ar_rewrite *r, const arras_graph *normal,
                            arras_error *err)
{
    arras_graph *made = NULL;
    arras_status status = ar_rewrite_run(&made, r, normal, err);

    if (status == ARRAS_OK && r->changed)
        *out = made;
    else
        ar_graph_free(made);
    return status;
}
