/* facts.c -- what can be seen of a lambda before anything is known of its arrays' memory. */
#include "plan/plan.h"

#include <math.h>
#include <string.h>

/* ---- One walk -------------------------------------------------------------------------------- */

typedef struct {
    ar_lambda_facts *facts;
    arras_array      lambda;
    bool            *visited; /* by id of expression */
} walker;

static bool load_may_fault(arras_array lambda, arras_expr load)
{
    for (int axis = 0; axis < load->rank; axis++)
        if (load->ints[1 + axis] != ARRAS_EDGE_CONSTANT && !ar_load_is_inside(lambda, load, axis))
            return true;
    return false;
}

static void look_at_load(walker *w, arras_expr load)
{
    if (!ar_load_is_own_cell(w->lambda, load))
        w->facts->same_cell[load->ints[0]] = false;
    if (!w->facts->may_fault)
        w->facts->may_fault = load_may_fault(w->lambda, load);
}

/* Depth is limited by AR_MAX_DEPTH. */
static void look(walker *w, arras_expr e)
{
    ar_lambda_facts *f = w->facts;

    if (w->visited[e->id])
        return;
    w->visited[e->id] = true;
    f->operations += e->kind == AR_EXPR_OP || e->kind == AR_EXPR_CAST;
    f->sized = f->sized || e->kind == AR_EXPR_SIZE;
    if (e->kind == AR_EXPR_LOAD)
        look_at_load(w, e);
    if (e->kind == AR_EXPR_REDUCE) {
        f->reduces = true;
        f->may_fault = f->may_fault || ar_reduction_identity((ar_reduction)e->ints[0]) < 0 ||
                       !ar_reduce_is_countable(e);
    }
    for (int i = 0; i < e->nargs; i++)
        look(w, e->args[i]);
}

arras_status ar_lambda_look(ar_lambda_facts *out, arras_array lambda, ar_arena *arena,
                            arras_error *err)
{
    arras_expr      cell = lambda->ref;
    ar_lambda_facts facts = { .sized = false };
    walker          w = { &facts, lambda, ar_alloc((size_t)cell->id + 1, sizeof *w.visited) };

    facts.same_cell = ar_arena_alloc(arena, (size_t)lambda->ninputs, sizeof *facts.same_cell);
    if (w.visited && facts.same_cell) {
        memset(facts.same_cell, true, (size_t)lambda->ninputs);
        look(&w, cell);
        for (int axis = 0; axis < lambda->rank; axis++)
            facts.sized = facts.sized || ar_dim_symbolic(lambda->shape[axis]);
        *out = facts;
    }
    ar_free(w.visited);
    return w.visited && facts.same_cell ? ARRAS_OK : ar_fail_memory(err, (size_t)cell->id + 1);
}

arras_status ar_lambda_kind_find(ar_lambda_kind *out, arras_array lambda, ar_arena *arena,
                                 arras_error *err)
{
    ar_gemm gemm;

    *out = (ar_lambda_kind){ NULL, NULL };
    if (ar_gemm_match(&gemm, lambda) && !(out->gemm = ar_arena_copy(arena, &gemm, 1, sizeof gemm)))
        return ar_fail_memory(err, sizeof gemm);
    return ar_contraction_find(&out->contraction, lambda, arena, err);
}

/* ---- Cost ------------------------------------------------------------------------------------ */

enum { UNKNOWN_TURNS = 16, PART_TURNS = 65536 };

/* The number an integer expression stands for, in the first cell, or `otherwise`. */
static double number_of(arras_expr e, const int64_t *sizes, double otherwise)
{
    int64_t value;
    double  x, y;

    if (e->kind == AR_EXPR_INDEX)
        return 0;
    if (ar_is_int(e))
        return (double)e->ints[0];
    if (e->kind == AR_EXPR_SIZE &&
        ar_dim_value(&value, e->graph, e->ints[0], sizes, NULL) == ARRAS_OK)
        return (double)value;
    if (e->kind != AR_EXPR_OP || e->nargs != 2)
        return otherwise;
    x = number_of(e->args[0], sizes, otherwise);
    y = number_of(e->args[1], sizes, otherwise);
    switch (e->ints[0]) {
    case AR_OP_minimum: return fmin(x, y);
    case AR_OP_add: return x + y;
    case AR_OP_subtract: return x - y;
    case AR_OP_multiply: return x * y;
    default: return otherwise;
    }
}

/* What of an expression is computed in each turn of a variable, or once for all turns. */
typedef struct {
    const ar_prices *prices;
    const int64_t   *sizes;
    const char      *variable; /* NULL: no reduction around */
    double           turn, once;
    int              left; /* visits: a text must not take long to measure */
} costs;

static double reduction_cost(costs *around, arras_expr e);

/* Parts that are shared count again: an upper bound is good enough. */
static void add_cost(costs *c, arras_expr e)
{
    if (e->kind == AR_EXPR_OP)
        c->turn += c->prices->operation * ar_op_units((ar_op)e->ints[0]);
    if (e->kind == AR_EXPR_LOAD)
        c->turn += c->prices->operation;
    if (--c->left <= 0)
        return;
    if (e->kind == AR_EXPR_REDUCE) {
        double *to = c->variable && !ar_expr_depends(e, c->variable) ? &c->once : &c->turn;

        *to += reduction_cost(c, e);
        return;
    }
    for (int i = 0; i < e->nargs; i++)
        add_cost(c, e->args[i]);
}

static double reduction_cost(costs *around, arras_expr e)
{
    const int64_t *sizes = around->sizes;
    costs          c = { around->prices, sizes, e->name, .left = around->left };
    double         lo = number_of(e->args[0], sizes, 0);
    /* A range that was cut was cut so that parts are work. */
    double otherwise = ar_expr_tree(e) == AR_TREE_PART ? PART_TURNS : UNKNOWN_TURNS;
    double turns = number_of(e->args[1], sizes, lo + otherwise) - lo;

    add_cost(&c, e->args[2]);
    around->left = c.left;
    return (turns > 0 ? turns : 0) * (c.prices->operation + c.turn) + c.once;
}

double ar_step_cost(const ar_step *step, const int64_t *sizes)
{
    const ar_prices *prices = &step->form.machine->prices;
    double           cost = prices->operation;

    for (int k = 0; k < step->form.n && !step->scan; k++) {
        costs c = { prices, sizes, .left = 500 };

        add_cost(&c, step->form.lambdas[k]->ref);
        cost += c.turn;
    }
    return cost;
}
