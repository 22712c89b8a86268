/* unroll.c -- short reductions with known bounds are written out, one cell after the other, which
 * is the order of up to 64 cells.  Contractions stay: there are better ways to compute them. */
#include "opt/opt.h"

#include "opt/rewrite.h"

enum {
    MOST_ROUNDS = 32,      /* of all reductions within one another */
    MOST_OPERATIONS = 300, /* of the result */
    MOST_CONTRACTED = 3,   /* rounds of a sum of products x[i, k] * y[k, j] */
    MOST_NESTED = 16,      /* of such sums within one another */
    MOST_ALONG = 8,        /* rounds along an axis that nothing else runs along */
    MOST_VISITS = 1000
};

/* ---- What is in a body ----------------------------------------------------------------------- */

typedef struct {
    const char *variable;
    int         visits, operations;
    int         loads;    /* that depend on the variable */
    bool        shifting; /* in one of them it is part of an index: x[i + k] */
} census;

static void count_load(census *c, arras_expr load)
{
    for (int axis = 0; axis < load->rank; axis++)
        if (load->args[axis]->kind != AR_EXPR_VAR && ar_expr_depends(load->args[axis], c->variable))
            c->shifting = true;
    c->loads++;
}

/* What is shared is counted again: an upper bound. */
static void count(census *c, arras_expr e)
{
    if (++c->visits > MOST_VISITS)
        return;
    c->operations += e->kind == AR_EXPR_OP || e->kind == AR_EXPR_CAST;
    if (e->kind == AR_EXPR_LOAD && ar_expr_depends(e, c->variable))
        count_load(c, e);
    for (int i = 0; i < e->nargs; i++)
        count(c, e->args[i]);
}

/* ---- Whether --------------------------------------------------------------------------------- */

static bool known_bounds(int64_t *lo, int64_t *hi, const arras_expr *args)
{
    ar_value values[2];

    for (int i = 0; i < 2; i++)
        if (args[i]->type.dtype != ARRAS_I64 || !ar_simple_value(&values[i], args[i]))
            return false;
    *lo = values[0].i, *hi = values[1].i;
    return *lo > -((int64_t)1 << 62) && *hi < (int64_t)1 << 62;
}

/* Of the reductions in e, one within another; MOST_ROUNDS + 1 stands for more. */
static int64_t rounds_within(arras_expr e, int *visits)
{
    int64_t most = 1, lo = 0, hi = 0;

    if (++*visits > MOST_VISITS)
        return MOST_ROUNDS + 1;
    for (int i = 0; i < e->nargs; i++)
        most = ar_max64(most, rounds_within(e->args[i], visits));
    if (e->kind != AR_EXPR_REDUCE)
        return most;
    if (!known_bounds(&lo, &hi, e->args) || hi - lo > MOST_ROUNDS)
        return MOST_ROUNDS + 1;
    return ar_min64(most * ar_max64(hi - lo, 1), MOST_ROUNDS + 1);
}

static bool is_worth_it(arras_expr e, const arras_expr *args, int64_t rounds)
{
    census  c = { .variable = e->name };
    int     visits = 0;
    int64_t all;

    if (e->ints[0] == AR_REDUCE_argmin || e->ints[0] == AR_REDUCE_argmax ||
        (ar_expr_tree(e) != AR_TREE_WHOLE && ar_expr_tree(e) != AR_TREE_FUSED) ||
        rounds > MOST_ROUNDS || (rounds < 1 && ar_reduction_identity((ar_reduction)e->ints[0]) < 0))
        return false;
    count(&c, args[2]);
    all = rounds_within(e, &visits);
    if (c.visits > MOST_VISITS || (c.operations + 1) * rounds > MOST_OPERATIONS ||
        all > MOST_ROUNDS)
        return false;
    if (c.loads == 0 || c.shifting)
        return true;
    if (c.loads > 1 && all > rounds && all > MOST_NESTED)
        return false;
    return rounds <= (c.loads > 1 ? MOST_CONTRACTED : MOST_ALONG);
}

/* ---- Writing out ----------------------------------------------------------------------------- */

static arras_expr at_round(arras_expr e, arras_expr part, int64_t k, ar_place_of at)
{
    arras_expr value = ar_expr_cast(ar_int(part->graph, k), ARRAS_I64);

    return ar_substitute_variable(part, e->name, value, at);
}

static arras_expr cell_at(arras_expr e, arras_expr body, int64_t k, const ar_signature *s,
                          ar_place_of at)
{
    body = at_round(e, body, k, at);
    return ar_simple_cast(ar_simple_cast(body, s->operand[0]), s->compute);
}

/* The cells up to k, of which those before are in total. */
static arras_expr add_cell(arras_expr total, arras_expr e, arras_expr body, int64_t k,
                           const ar_signature *s, ar_place_of at)
{
    arras_expr args[3] = { total };

    if (ar_expr_tree(e) != AR_TREE_FUSED) {
        args[1] = cell_at(e, body, k, s, at);
        return ar_simple_apply(ar_reduction_op((ar_reduction)e->ints[0]), 2, args, at);
    }
    args[0] = at_round(e, body->args[0], k, at);
    args[1] = at_round(e, body->args[1], k, at);
    args[2] = total;
    return ar_simple_apply(AR_OP_fma, 3, args, at);
}

static arras_expr write_out(arras_expr e, arras_expr body, int64_t lo, int64_t hi, ar_place_of at)
{
    ar_reduction reduction = (ar_reduction)e->ints[0];
    ar_signature s;
    arras_expr   total;

    if (body->kind == AR_EXPR_POISON || !ar_reduction_signature(&s, reduction, body->type))
        return body;
    if (lo >= hi)
        return ar_expr_cast(ar_int(body->graph, ar_reduction_identity(reduction)), e->type.dtype);
    total = cell_at(e, body, lo, &s, at);
    for (int64_t k = lo + 1; k < hi; k++)
        total = add_cell(total, e, body, k, &s, at);
    return ar_simple_cast(total, e->type.dtype);
}

static arras_expr make(ar_rewrite *r, arras_expr e, const arras_expr *args, const ar_frame *around)
{
    int64_t lo, hi;

    if (e->kind != AR_EXPR_REDUCE || args[2]->kind == AR_EXPR_POISON ||
        !known_bounds(&lo, &hi, args) || !is_worth_it(e, args, ar_max64(hi - lo, 0)))
        return ar_rewrite_copy(r, e, args, around);
    return write_out(e, args[2], lo, hi, (ar_place_of){ &r->space, around });
}

arras_status ar_unroll(arras_graph **out, const arras_graph *normal, arras_error *err)
{
    ar_rewrite r = { .make = make };

    return ar_rewrite_run(out, &r, normal, err);
}
