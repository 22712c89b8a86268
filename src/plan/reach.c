/* reach.c -- how steps read what other steps compute: which rows of it, for a row of their own. */
#include "plan/plan.h"

typedef struct {
    const ar_plan *plan;
    ar_step       *step;
    ar_row_reach  *reach; /* as in ar_step */
    arras_array    lambda;
    bool          *visited; /* by id of expression */
} looker;

enum { NOT_READ = -2 };

/* Given at launch or computed before the first one, it need not be computed tile by tile. */
static bool is_computed(const ar_plan *plan, int array)
{
    int step = plan->arrays[array].step;

    return step >= 0 && !plan->steps[step].constant;
}

/* The rows of axis `axis` that a load reads for row i of the result's axis `own`.  What is read at
 * a place that is read is not looked at. */
static bool find_span(ar_load_span *out, arras_array lambda, arras_expr load, int axis, int own)
{
    arras_expr index = load->args[axis];

    if (!(index->uses >> own & 1))
        return false;
    if (index->kind == AR_EXPR_INDEX &&
        lambda->inputs[load->ints[0]]->shape[axis] == lambda->shape[own]) {
        *out = (ar_load_span){ .step = 1 };
        return true;
    }
    return index->kind == AR_EXPR_OP && ar_load_reach(out, lambda, load, axis, own);
}

static ar_row_reach first_reach(arras_array lambda, arras_expr load, int own)
{
    ar_load_span span;

    for (int axis = 0; axis < load->rank; axis++)
        if (find_span(&span, lambda, load, axis, own))
            return (ar_row_reach){ axis, span.step, ar_max64(0, span.before),
                                   ar_max64(0, span.after) };
    return (ar_row_reach){ .axis = -1 };
}

/* What several loads reach together. */
static void widen(ar_row_reach *reach, arras_array lambda, arras_expr load, int own)
{
    ar_load_span span;

    if (reach->axis == NOT_READ) {
        *reach = first_reach(lambda, load, own);
    } else if (reach->axis >= 0 && find_span(&span, lambda, load, reach->axis, own) &&
               span.step == reach->stride) {
        reach->before = ar_max64(reach->before, span.before);
        reach->after = ar_max64(reach->after, span.after);
    } else {
        reach->axis = -1;
    }
}

/* Depth is limited by AR_MAX_DEPTH. */
static void look_within(looker *l, arras_expr e)
{
    if (l->visited[e->id])
        return;
    l->visited[e->id] = true;
    if (e->kind == AR_EXPR_LOAD && is_computed(l->plan, l->step->inputs[e->ints[0]]))
        for (int own = 0; own < l->step->rank; own++)
            widen(&l->reach[e->ints[0] * l->step->rank + own], l->lambda, e, own);
    for (int i = 0; i < e->nargs; i++)
        look_within(l, e->args[i]);
}

static arras_status look_at_cells(looker *l, arras_error *err)
{
    for (int k = 0; k < l->step->form.n; k++) {
        arras_expr cell = l->step->form.lambdas[k]->ref;

        l->lambda = l->step->form.lambdas[k];
        l->visited = ar_alloc((size_t)cell->id + 1, sizeof *l->visited);
        if (!l->visited)
            return ar_fail_memory(err, (size_t)cell->id + 1);
        look_within(l, cell);
        ar_free(l->visited);
    }
    return ARRAS_OK;
}

static bool reads_computed(const ar_plan *plan, const ar_step *step)
{
    for (int k = 0; k < step->ninputs; k++)
        if (is_computed(plan, step->inputs[k]))
            return true;
    return false;
}

arras_status ar_plan_reach(ar_plan *plan, arras_error *err)
{
    arras_status status = ARRAS_OK;

    for (int s = 0; s < plan->nsteps && status == ARRAS_OK; s++) {
        looker l = { .plan = plan, .step = &plan->steps[s] };
        size_t n = (size_t)(l.step->ninputs * l.step->rank);

        if (l.step->constant || n == 0 || !reads_computed(plan, l.step))
            continue;
        l.reach = ar_arena_alloc(&plan->arena, n, sizeof *l.reach);
        if (!l.reach)
            return ar_fail_memory(err, n * sizeof *l.reach);
        for (size_t i = 0; i < n; i++)
            l.reach[i].axis = l.step->scan ? -1 : NOT_READ;
        if (!l.step->scan)
            status = look_at_cells(&l, err);
        l.step->reach = l.reach;
    }
    return status;
}
