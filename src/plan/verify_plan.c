/* verify_plan.c -- what must hold of every plan: looked at in debug builds and in tests. */
#include "plan/plan.h"

typedef struct {
    const ar_plan *plan;
    int            step; /* that is looked at; -1: none */
    arras_error   *err;
} verifier;

static arras_status broken(const verifier *v, const char *what, int number)
{
    if (v->step < 0)
        return ar_fail(v->err, ARRAS_EINVAL, "a plan does not hold: %s %d", what, number);
    return ar_fail(v->err, ARRAS_EINVAL, "a plan does not hold: step %d: %s %d", v->step, what,
                   number);
}

static bool is_array(const ar_plan *plan, int number)
{
    return number >= 0 && number < plan->narrays;
}

/* The cells of an array that a step makes are there before others read them. */
static arras_status verify_input(const verifier *v, const ar_step *step, int k)
{
    const ar_plan_array *array;

    if (!is_array(v->plan, step->inputs[k]))
        return broken(v, "it reads no array as input", k);
    array = &v->plan->arrays[step->inputs[k]];
    if (array->step >= v->step)
        return broken(v, "it reads, before it is made, array", step->inputs[k]);
    if (step->constant && array->at != AR_AT_DATA && array->at != AR_AT_CONSTANT)
        return broken(v, "it runs once, but reads what changes, array", step->inputs[k]);
    if (step->form.lambdas[0]->inputs[k]->type.dtype != array->node->type.dtype ||
        step->form.lambdas[0]->inputs[k]->rank != array->node->rank)
        return broken(v, "its kernel takes another type as input", k);
    return ARRAS_OK;
}

static arras_status verify_result(const verifier *v, const ar_step *step, int i)
{
    const ar_plan_array *array;

    if (!is_array(v->plan, step->results[i]))
        return broken(v, "it makes no array as result", i);
    array = &v->plan->arrays[step->results[i]];
    if (array->step != v->step)
        return broken(v, "another step makes array", step->results[i]);
    if (array->at == AR_AT_INPUT || array->at == AR_AT_DATA)
        return broken(v, "it makes what is given, array", step->results[i]);
    if (step->constant != (array->at == AR_AT_CONSTANT))
        return broken(v, "it runs as often as is not said of array", step->results[i]);
    if (step->form.lambdas[i]->rank != step->rank ||
        step->form.lambdas[i]->ninputs != step->ninputs)
        return broken(v, "of another rank or with other inputs is result", i);
    return ARRAS_OK;
}

static arras_status verify_step(const verifier *v, int *codes)
{
    const ar_step *step = &v->plan->steps[v->step];
    arras_status   status = ARRAS_OK;

    if (step->form.n < 1)
        return broken(v, "results:", step->form.n);
    if ((step->code < 0) != (step->scan != NULL))
        return broken(v, "only scans have no kernel, and not one with code", step->code);
    if (step->code > *codes)
        return broken(v, "codes are numbered as they are met, not", step->code);
    *codes += step->code == *codes;
    for (int i = 0; i < step->form.n && status == ARRAS_OK; i++)
        status = verify_result(v, step, i);
    for (int k = 0; k < step->ninputs && status == ARRAS_OK; k++)
        status = verify_input(v, step, k);
    return status;
}

/* Each array that is not given is made by a step; each output lies somewhere. */
static arras_status verify_arrays(const verifier *v)
{
    const ar_plan *plan = v->plan;
    int            outputs = plan->ncopies;

    for (int a = 0; a < plan->narrays; a++) {
        bool given = plan->arrays[a].at == AR_AT_INPUT || plan->arrays[a].at == AR_AT_DATA;

        if (given != (plan->arrays[a].step < 0) || plan->arrays[a].step >= plan->nsteps)
            return broken(v, "by no step is made array", a);
        outputs += plan->arrays[a].at == AR_AT_OUTPUT;
    }
    for (int i = 0; i < plan->ncopies; i++)
        if (!is_array(plan, plan->copies[i].array))
            return broken(v, "of no array is copy", i);
    if (outputs != ar_graph_output_count(plan->g))
        return broken(v, "outputs that lie somewhere:", outputs);
    return ARRAS_OK;
}

arras_status ar_plan_verify(const ar_plan *plan, arras_error *err)
{
    verifier     v = { .plan = plan, .step = -1, .err = err };
    int          codes = 0;
    arras_status status = verify_arrays(&v);

    for (int s = 0; s < plan->nsteps && status == ARRAS_OK; s++) {
        v.step = s;
        status = verify_step(&v, &codes);
    }
    if (status == ARRAS_OK && codes != plan->ncodes) {
        v.step = -1;
        return broken(&v, "codes that steps have:", codes);
    }
    return status;
}
