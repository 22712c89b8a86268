/* bind.c -- the lambdas of a group in terms of the same inputs, so that what their cells share is
 * one expression. */
#include "plan/group.h"

typedef struct {
    arras_graph       *g;
    int                n;
    const arras_array *members;
    arras_expr        *cells;  /* of the members so far */
    arras_array       *inputs; /* of all */
    int                ninputs;
    arras_array        lambda; /* the member whose cell is copied */
    arras_expr        *memo;   /* by id: what it became */
} binder;

static int member_number(const binder *b, arras_array x)
{
    for (int i = 0; i < b->n; i++)
        if (b->members[i] == x)
            return i;
    return -1;
}

static int input_number(binder *b, arras_array x)
{
    for (int i = 0; i < b->ninputs; i++)
        if (b->inputs[i] == x)
            return i;
    b->inputs[b->ninputs] = x;
    return b->ninputs++;
}

/* A member is read at its own cell: there its expression stands already. */
static arras_expr bind_load(binder *b, arras_expr e, const arras_expr *args)
{
    arras_array x = b->lambda->inputs[e->ints[0]];
    int         member = member_number(b, x), fill = e->rank;
    arras_edge  edges[ARRAS_MAX_RANK];

    if (member >= 0)
        return b->cells[member];
    for (int axis = 0; axis < e->rank; axis++) {
        edges[axis] = (arras_edge){ (arras_edge_rule)e->ints[1 + axis], NULL };
        if (edges[axis].rule == ARRAS_EDGE_CONSTANT)
            edges[axis].fill = args[fill++];
    }
    return ar_expr_load_bound(b->g, input_number(b, x), e->type.dtype, e->rank, args, edges);
}

/* Depth is limited by AR_MAX_DEPTH. */
static arras_expr bind_expr(binder *b, arras_expr e)
{
    arras_expr args[2 * ARRAS_MAX_RANK], bound;

    if (b->memo[e->id])
        return b->memo[e->id];
    for (int i = 0; i < e->nargs; i++)
        args[i] = bind_expr(b, e->args[i]);
    bound = e->kind == AR_EXPR_LOAD ? bind_load(b, e, args) : ar_expr_with_args(e, args);
    b->memo[e->id] = bound;
    return bound;
}

static arras_status bind_member(binder *b, int i, arras_error *err)
{
    arras_expr cell = b->members[i]->ref;

    b->lambda = b->members[i];
    b->memo = ar_alloc((size_t)cell->id + 1, sizeof *b->memo);
    if (!b->memo)
        return ar_fail_memory(err, (size_t)cell->id * sizeof *b->memo);
    b->cells[i] = bind_expr(b, cell);
    ar_free(b->memo);
    return ARRAS_OK;
}

arras_status ar_group_bind(arras_array *lambdas, arras_array **inputs, int *ninputs, arras_graph *g,
                           int n, const arras_array *members, ar_arena *arena, arras_error *err)
{
    binder       b = { .g = g, .n = n, .members = members };
    size_t       room = 0;
    arras_status status = ARRAS_OK;

    for (int i = 0; i < n; i++)
        room += (size_t)members[i]->ninputs;
    b.cells = ar_arena_alloc(arena, (size_t)n, sizeof *b.cells);
    b.inputs = ar_arena_alloc(arena, room, sizeof *b.inputs);
    if (!b.cells || !b.inputs)
        return ar_fail_memory(err, room * sizeof *b.inputs);
    for (int i = 0; i < n && status == ARRAS_OK; i++)
        status = bind_member(&b, i, err);
    for (int i = 0; i < n && status == ARRAS_OK; i++) {
        lambdas[i] = ar_lambda_bound(g, members[i]->rank, members[i]->shape, b.cells[i], b.ninputs,
                                     b.inputs);
        if (ar_is_poison(lambdas[i]))
            status = ar_fail(err, (arras_status)lambdas[i]->ints[0], "%s", lambdas[i]->name);
    }
    *inputs = b.inputs;
    *ninputs = b.ninputs;
    return status;
}
