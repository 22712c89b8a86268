/* nest.c -- stencils of stencils: a step whose result is read near the same row only, and by one
 * step only, need not be stored: it can be computed tile by tile, with a halo, just before. */
#include "plan/plan.h"

/* More rows than this, and what overlaps is more than what is gained. */
enum { LARGEST_HALO = 32, LARGEST_STEP = 8, MOST_OPERANDS = 60 };

typedef struct {
    arras_array lambda;
    int         input;
    int64_t     step, before, after;
    bool        known;
    bool       *met; /* by id of expression */
} reach;

/* Depth is limited by AR_MAX_DEPTH. */
static void reach_within(reach *r, arras_expr e)
{
    ar_load_span span;

    if (!r->known || r->met[e->id])
        return;
    r->met[e->id] = true;
    if (e->kind == AR_EXPR_LOAD && e->ints[0] == r->input) {
        r->known =
            ar_load_reach(&span, r->lambda, e, 0, 0) && (r->step == 0 || r->step == span.step);
        if (r->known) {
            r->step = span.step;
            r->before = ar_max64(r->before, span.before);
            r->after = ar_max64(r->after, span.after);
        }
    }
    for (int i = 0; i < e->nargs; i++)
        reach_within(r, e->args[i]);
}

/* Which rows of its input number `input` a step reads for a row of its own. */
static arras_status step_reach(reach *r, const ar_step *step, int input, arras_error *err)
{
    *r = (reach){ .input = input, .known = true };
    for (int k = 0; k < step->form.n && r->known; k++) {
        arras_expr cell = step->form.lambdas[k]->ref;

        r->lambda = step->form.lambdas[k];
        r->met = ar_alloc((size_t)cell->id + 1, sizeof *r->met);
        if (!r->met)
            return ar_fail_memory(err, (size_t)cell->id + 1);
        reach_within(r, cell);
        ar_free(r->met);
    }
    return ARRAS_OK;
}

static bool may_nest(const ar_plan *plan, const ar_step *from, const ar_step *into)
{
    return from->form.n == 1 && !from->constant && from->rank > 0 && into->rank > 0 &&
           plan->arrays[from->results[0]].at == AR_AT_TEMPORARY && from->ninputs < MOST_OPERANDS &&
           into->ninputs + into->form.n < MOST_OPERANDS;
}

static arras_status nest_one(ar_plan *plan, int s, int k, const int *readers, arras_error *err)
{
    const ar_step *into = &plan->steps[s];
    int            array = into->inputs[k], producer = plan->arrays[array].step;
    arras_status   status;
    reach          r;

    if (producer < 0 || readers[array] != 1 || !may_nest(plan, &plan->steps[producer], into))
        return ARRAS_OK;
    status = step_reach(&r, into, k, err);
    if (status == ARRAS_OK && r.known && r.step <= LARGEST_STEP &&
        r.before + r.after <= LARGEST_HALO) {
        plan->steps[producer].inside = s;
        plan->steps[producer].stride = r.step;
        plan->steps[producer].before = ar_max64(r.before, 0);
        plan->steps[producer].after = ar_max64(r.after, 0);
    }
    return status;
}

arras_status ar_plan_nest(ar_plan *plan, arras_error *err)
{
    int         *readers = ar_alloc((size_t)plan->narrays, sizeof *readers);
    arras_status status = ARRAS_OK;

    if (!readers)
        return ar_fail_memory(err, (size_t)plan->narrays * sizeof *readers);
    for (int s = 0; s < plan->nsteps; s++)
        for (int k = 0; k < plan->steps[s].ninputs; k++)
            readers[plan->steps[s].inputs[k]]++;
    for (int i = 0; i < plan->ncopies; i++)
        readers[plan->copies[i].array]++;
    for (int s = 0; s < plan->nsteps; s++)
        for (int k = 0; k < plan->steps[s].ninputs && status == ARRAS_OK; k++)
            status = nest_one(plan, s, k, readers, err);
    ar_free(readers);
    return status;
}
