/* normalise_map.c -- cell by cell: elementwise operations, casts, and index lambdas, whose
 * expressions are copied into the new graph. */
#include "opt/normalise.h"

#include <string.h>

/* x[i], broadcast to the shape of `node`. */
static arras_expr read_broadcast(ar_scope *s, arras_array node, arras_array x)
{
    int        before = node->rank - x->rank;
    arras_expr indices[ARRAS_MAX_RANK];

    for (int axis = 0; axis < x->rank; axis++)
        indices[axis] = broadcast_index(ar_expr_index(s->to, before + axis), x->shape[axis],
                                        node->shape[before + axis]);
    return ar_scope_read(s, x, indices, NULL);
}

arras_expr ar_normal_map(ar_scope *s, arras_array node)
{
    arras_expr args[AR_MAX_ARITY];

    for (int k = 0; k < node->ninputs; k++)
        args[k] = read_broadcast(s, node, node->inputs[k]);
    return ar_expr_apply((ar_op)node->ints[0], node->ninputs, args);
}

arras_expr ar_normal_cast(ar_scope *s, arras_array node)
{
    return ar_expr_cast(read_broadcast(s, node, node->inputs[0]), node->type.dtype);
}

/* ---- Index lambdas --------------------------------------------------------------------------- */

typedef struct {
    ar_scope   *scope;
    arras_array node;
} copier;

static arras_expr no_memory(arras_graph *to)
{
    return ar_expr_poison(to, ARRAS_ENOMEM, "out of memory");
}

/* The arguments after the indices are the fills of axes of rule CONSTANT, in order. */
static arras_expr copy_load(const copier *c, arras_expr e, const arras_expr *args)
{
    arras_edge edges[ARRAS_MAX_RANK];
    int        fill = e->rank;

    for (int axis = 0; axis < e->rank; axis++) {
        edges[axis] = (arras_edge){ (arras_edge_rule)e->ints[1 + axis], NULL };
        if (edges[axis].rule == ARRAS_EDGE_CONSTANT)
            edges[axis].fill = args[fill++];
    }
    /* A read has a type, even that of an untyped number. */
    return ar_expr_cast(ar_scope_read(c->scope, c->node->inputs[e->ints[0]], args, edges),
                        e->type.dtype);
}

static arras_expr copy_literal(arras_graph *to, arras_expr e)
{
    ar_value value;

    memcpy(&value, e->ints, sizeof value);
    return ar_expr_literal(to, e->type.dtype, value);
}

static arras_expr copy_with_args(const copier *c, arras_expr e, const arras_expr *args)
{
    arras_graph *to = c->scope->to;

    switch (e->kind) {
    case AR_EXPR_INDEX: return ar_expr_index(to, (int)e->ints[0]);
    case AR_EXPR_VAR: return ar_expr_var(to, e->name);
    case AR_EXPR_LITERAL: return copy_literal(to, e);
    case AR_EXPR_SIZE: return ar_expr_size(to, ar_scope_dim(c->scope, e->ints[0]));
    case AR_EXPR_CAST: return ar_expr_cast(args[0], e->type.dtype);
    case AR_EXPR_OP: return ar_expr_apply((ar_op)e->ints[0], e->nargs, args);
    case AR_EXPR_LOAD: return copy_load(c, e, args);
    case AR_EXPR_REDUCE:
        return ar_expr_reduce_tree((ar_reduction)e->ints[0], ar_expr_tree(e), e->name, args[0],
                                   args[1], args[2]);
    case AR_EXPR_POISON: break;
    }
    return ar_expr_poison(to, ARRAS_EINVAL, "%s", e->name);
}

/* Each shared part is copied once; builders limit the depth of expressions. */
static arras_expr copy(const copier *c, arras_expr e)
{
    struct ar_copied *memo = &c->scope->pass->copied[e->id];
    arras_expr       *args;

    if (memo->stamp == c->scope->pass->stamp)
        return memo->expr;
    args = ar_alloc((size_t)e->nargs, sizeof *args);
    if (!args)
        return no_memory(c->scope->to);
    for (int i = 0; i < e->nargs; i++)
        args[i] = copy(c, e->args[i]);
    *memo = (struct ar_copied){ c->scope->pass->stamp, copy_with_args(c, e, args) };
    ar_free(args);
    return memo->expr;
}

/* Arguments have smaller ids than their users. */
static bool start_copying(ar_normaliser *pass, int64_t last_id)
{
    while (pass->copied_room <= (size_t)last_id) {
        size_t old = pass->copied_room;

        if (!ar_grow(&pass->copied, &pass->copied_room, old, sizeof *pass->copied))
            return false;
        memset(pass->copied + old, 0, (pass->copied_room - old) * sizeof *pass->copied);
    }
    pass->stamp++;
    return true;
}

arras_expr ar_normal_lambda(ar_scope *s, arras_array node)
{
    arras_expr cell = node->ref;

    if (!start_copying(s->pass, cell->id))
        return no_memory(s->to);
    return copy(&(copier){ s, node }, cell);
}
