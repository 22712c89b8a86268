/* substitute.c -- an expression with something else for its indices or for one variable.  What is
 * shared is made once, and a variable of a reduction never catches one of the same name that comes
 * from outside. */
#include "opt/rewrite.h"

#include <stdio.h>

typedef struct {
    arras_expr from, to;
    int64_t    stamp; /* of the frame in which that was made: what is known there may be used */
} made;

enum { FEW = 16 };

typedef struct {
    int               rank;
    const arras_expr *indices; /* NULL: a variable */
    const char       *variable;
    arras_expr        value;
    uint32_t          axes; /* whose index changes */
    const ar_space   *space;
    int64_t           frames; /* made so far; their stamps are negative, others are not */
    ar_table          memo;
    made              few[FEW]; /* what is in it: the first ones here, */
    int               nfew;
    ar_arena          arena; /* others there */
} substitution;

static arras_expr substitute(substitution *s, arras_expr e, const ar_frame *around);

static bool is_touched(const substitution *s, arras_expr e)
{
    return s->indices ? (e->uses & s->axes) != 0 : ar_expr_depends(e, s->variable);
}

/* ---- Names ----------------------------------------------------------------------------------- */

static bool is_free_outside(const substitution *s, const char *name)
{
    if (!s->indices)
        return ar_expr_depends(s->value, name);
    for (int axis = 0; axis < s->rank; axis++)
        if (s->axes >> axis & 1 && ar_expr_depends(s->indices[axis], name))
            return true;
    return false;
}

/* A name that is neither in the body nor in what is put there: each try adds a letter. */
static void fresh_name(char *out, size_t room, const substitution *s, arras_expr reduce)
{
    size_t length = (size_t)snprintf(out, room, "%s", reduce->name);

    while (length + 1 < room &&
           (is_free_outside(s, out) || ar_expr_depends(reduce->args[2], out))) {
        out[length++] = '_';
        out[length] = '\0';
    }
}

/* ---- Expressions ----------------------------------------------------------------------------- */

static bool is_fused(arras_expr reduce) { return ar_expr_tree(reduce) == AR_TREE_FUSED; }

/* The body of a reduction, with another name for its variable. */
static arras_expr rename_variable(substitution *s, arras_expr e, const char *name,
                                  const ar_frame *around)
{
    arras_expr        to = ar_expr_var(e->graph, name), body = e->args[2];
    const ar_place_of at = { s->space, around };

    if (!is_fused(e))
        return ar_substitute_variable(body, e->name, to, at);
    return ar_binary(AR_OP_multiply, ar_substitute_variable(body->args[0], e->name, to, at),
                     ar_substitute_variable(body->args[1], e->name, to, at));
}

/* That of a fused sum stays a product. */
static arras_expr substitute_body(substitution *s, arras_expr e, arras_expr body,
                                  const ar_frame *around)
{
    if (!is_fused(e) || body->kind == AR_EXPR_POISON)
        return substitute(s, body, around);
    return ar_binary(AR_OP_multiply, substitute(s, body->args[0], around),
                     substitute(s, body->args[1], around));
}

static arras_expr substitute_reduce(substitution *s, arras_expr e, const ar_frame *around)
{
    char       name[256];
    arras_expr args[3] = { substitute(s, e->args[0], around), substitute(s, e->args[1], around),
                           e->args[2] };
    ar_frame   within = { .outer = around, .variable = e->name, .lo = args[0], .hi = args[1] };
    bool       hidden = s->variable && strcmp(s->variable, e->name) == 0;

    snprintf(name, sizeof name, "%s", e->name);
    if (!hidden && is_touched(s, args[2]) && is_free_outside(s, e->name)) {
        fresh_name(name, sizeof name, s, e);
        args[2] = rename_variable(s, e, name, around);
    }
    within.variable = name, within.stamp = -++s->frames;
    if (!hidden)
        args[2] = substitute_body(s, e, args[2], &within);
    return ar_reduce_named(e, name, args);
}

static arras_expr substitute_load(substitution *s, arras_expr e, const ar_frame *around)
{
    arras_expr args[2 * ARRAS_MAX_RANK];

    for (int i = 0; i < e->nargs; i++)
        args[i] = substitute(s, e->args[i], around);
    return ar_load_like(e, e->array, args);
}

static arras_expr substitute_args(substitution *s, arras_expr e, const ar_frame *around)
{
    arras_expr args[AR_MAX_ARITY];

    for (int i = 0; i < e->nargs; i++)
        args[i] = substitute(s, e->args[i], around);
    if (e->kind == AR_EXPR_CAST)
        return ar_simple_cast(args[0], e->type.dtype);
    return ar_simple_apply((ar_op)e->ints[0], e->nargs, args, (ar_place_of){ s->space, around });
}

/* Indices of loads that are numbers have lost their type; as a value one has it. */
static arras_expr typed(arras_expr index)
{
    return index->type.weak ? ar_expr_cast(index, ARRAS_I64) : index;
}

static arras_expr substitute_anew(substitution *s, arras_expr e, const ar_frame *around)
{
    switch (e->kind) {
    case AR_EXPR_INDEX: return typed(s->indices[e->ints[0]]);
    case AR_EXPR_VAR: return s->value;
    case AR_EXPR_REDUCE: return substitute_reduce(s, e, around);
    case AR_EXPR_LOAD: return substitute_load(s, e, around);
    default: return substitute_args(s, e, around);
    }
}

static bool made_is(const void *item, const void *key)
{
    const made *a = item, *b = key;

    return a->from == b->from && a->stamp == b->stamp;
}

/* False: no memory. */
static bool remember(substitution *s, const made *now)
{
    made *kept = s->nfew < FEW ? &s->few[s->nfew++] : ar_arena_alloc(&s->arena, 1, sizeof *kept);

    if (!kept)
        return false;
    *kept = *now;
    return ar_table_add(&s->memo, now->from->hash, kept);
}

/* Depth is limited by AR_MAX_DEPTH. */
static arras_expr substitute(substitution *s, arras_expr e, const ar_frame *around)
{
    made        now = { e, e, around ? around->stamp : 0 };
    const made *known;

    if (e->kind == AR_EXPR_POISON || !is_touched(s, e))
        return e;
    if (e->nargs == 0)
        return substitute_anew(s, e, around);
    if ((known = ar_table_find(&s->memo, e->hash, made_is, &now)))
        return known->to;
    now.to = substitute_anew(s, e, around);
    return remember(s, &now) ? now.to : ar_no_memory(e->graph);
}

static arras_expr run(substitution *s, arras_expr e, const ar_frame *around)
{
    arras_expr result = substitute(s, e, around);

    ar_table_free(&s->memo);
    ar_arena_free(&s->arena);
    return result;
}

arras_expr ar_substitute_indices(arras_expr cell, int rank, const arras_expr *indices,
                                 ar_place_of at)
{
    substitution s = { .rank = rank, .indices = indices, .space = at.space };

    for (int axis = 0; axis < rank; axis++)
        if (indices[axis]->kind != AR_EXPR_INDEX || indices[axis]->ints[0] != axis)
            s.axes |= (uint32_t)1 << axis;
    return run(&s, cell, at.around);
}

arras_expr ar_substitute_variable(arras_expr body, const char *variable, arras_expr value,
                                  ar_place_of at)
{
    substitution s = { .variable = variable, .value = value, .space = at.space };

    return run(&s, body, at.around);
}
