/* c_unroll.c -- reductions over a few values that are known become plain operations. */
#include "gen/c/c_writer.h"

#include <string.h>

enum {
    TURNS = 16,   /* of one reduction */
    GROWTH = 400, /* expressions that all turns together may have */
};

typedef struct {
    const char *variable; /* replaced by value; NULL: none */
    arras_expr  value;
    arras_expr *memo; /* by id */
    int64_t     room; /* of memo */
    bool        unrolls;
    bool        failed; /* no memory */
} changer;

static arras_expr change(changer *c, arras_expr e);

static arras_expr load_with(arras_expr e, const arras_expr *args)
{
    arras_edge edges[ARRAS_MAX_RANK];
    int        fill = e->rank;

    for (int axis = 0; axis < e->rank; axis++) {
        edges[axis] = (arras_edge){ (arras_edge_rule)e->ints[1 + axis], NULL };
        if (edges[axis].rule == ARRAS_EDGE_CONSTANT)
            edges[axis].fill = args[fill++];
    }
    return ar_expr_load_bound(e->graph, (int)e->ints[0], e->type.dtype, e->rank, args, edges);
}

static arras_expr with_args(arras_expr e, const arras_expr *args)
{
    if (e->kind == AR_EXPR_LOAD && memcmp(args, e->args, (size_t)e->nargs * sizeof *args) != 0)
        return load_with(e, args);
    return ar_expr_with_args(e, args);
}

/* e with a variable replaced by a number. */
static arras_expr at_turn(arras_expr e, const char *variable, int64_t turn)
{
    arras_expr literal = ar_expr_literal(e->graph, ARRAS_I64, (ar_value){ .bits = { turn, 0 } });
    changer    c = { .variable = variable,
                     .value = ar_expr_cast(literal, ARRAS_I64),
                     .room = e->id + 1 };
    arras_expr result;

    c.memo = ar_alloc((size_t)c.room, sizeof *c.memo);
    c.failed = !c.memo;
    result = c.failed ? NULL : change(&c, e);
    ar_free(c.memo);
    return c.failed ? NULL : result;
}

/* How many expressions e has, shared ones counted as often as they are used, up to a limit. */
static int64_t size_of(arras_expr e, int64_t limit)
{
    int64_t size = 1;

    for (int i = 0; i < e->nargs && size < limit; i++)
        size += size_of(e->args[i], limit - size);
    return size;
}

static bool is_short(arras_expr e, int64_t *low, int64_t *high)
{
    ar_w_fold f = ar_w_fold_of(&ar_dialect_c, e);

    return ar_w_integer(low, e->args[0]) && ar_w_integer(high, e->args[1]) && *low >= 0 &&
           *high > *low && *high - *low <= TURNS && !f.place && !e->type.weak &&
           f.tree != AR_TREE_PARTIALS && (*high - *low) * size_of(e->args[2], GROWTH) <= GROWTH;
}

static arras_expr add_turn(const ar_w_fold *f, arras_expr total, arras_expr x)
{
    if (total && f->tree == AR_TREE_FUSED)
        return ar_expr_apply(AR_OP_fma, 3, (arras_expr[]){ x->args[0], x->args[1], total });
    x = ar_expr_cast(ar_expr_cast(x, f->s.operand[0]), f->s.compute);
    return total ? ar_expr_apply(f->op, 2, (arras_expr[]){ total, x }) : x;
}

/* ((x0 op x1) op x2) op ...: the order of few cells.  NULL: it can't be. */
static arras_expr unroll(arras_expr e, int64_t low, int64_t high)
{
    ar_w_fold  f = ar_w_fold_of(&ar_dialect_c, e);
    arras_expr total = NULL;

    for (int64_t turn = low; turn < high; turn++) {
        arras_expr x = at_turn(e->args[2], e->name, turn);

        if (!x)
            return NULL;
        total = add_turn(&f, total, x);
    }
    return total->kind == AR_EXPR_POISON || total->type.dtype != e->type.dtype ? NULL : total;
}

static arras_expr change_reduce(changer *c, arras_expr e)
{
    arras_expr unrolled;
    int64_t    low, high;

    if (!c->unrolls || !is_short(e, &low, &high))
        return e;
    unrolled = unroll(e, low, high);
    return unrolled ? unrolled : e;
}

/* A reduction of the same name within is another variable. */
static bool is_shadowed(const changer *c, arras_expr e, int arg)
{
    return c->variable && e->kind == AR_EXPR_REDUCE && arg == 2 &&
           strcmp(e->name, c->variable) == 0;
}

/* Inner reductions first.  Depth is limited by AR_MAX_DEPTH. */
static arras_expr change(changer *c, arras_expr e)
{
    arras_expr args[2 * ARRAS_MAX_RANK], result;

    if (e->kind == AR_EXPR_VAR && c->variable && strcmp(e->name, c->variable) == 0)
        return c->value;
    if (e->nargs == 0)
        return e;
    if (c->memo[e->id])
        return c->memo[e->id];
    for (int i = 0; i < e->nargs; i++)
        args[i] = is_shadowed(c, e, i) ? e->args[i] : change(c, e->args[i]);
    result = with_args(e, args);
    if (result->kind == AR_EXPR_POISON)
        result = e;
    c->memo[e->id] = result;
    if (result->kind == AR_EXPR_REDUCE)
        c->memo[e->id] = result = change_reduce(c, result);
    return result;
}

arras_expr ar_c_unroll(arras_expr e)
{
    changer    c = { .unrolls = true, .room = e->id + 1 };
    arras_expr result = e;

    c.memo = ar_alloc((size_t)c.room, sizeof *c.memo);
    if (c.memo)
        result = change(&c, e);
    ar_free(c.memo);
    return result;
}
