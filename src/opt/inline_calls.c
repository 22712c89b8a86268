/* inline_calls.c -- calls written out: the body of a function is normalised anew for each call, its
 * parameters replaced by the arguments and its sizes by the caller's. */
#include "opt/normalise.h"

/* Functions that call functions twice each, and so on, would fill any memory. */
enum { MAX_INLINED = 1000000 };

/* ---- Sizes ----------------------------------------------------------------------------------- */

/* Where `dim`, of a parameter, has just one size that is not known yet, it becomes what makes `dim`
 * equal to `arg`, a dim of the new graph.  True when none is unknown any more. */
static bool settle_dim(const ar_scope *body, arras_dim *sizes, arras_dim dim, arras_dim arg)
{
    const ar_affine *affine = ar_dim_affine(body->pass->from, dim);
    arras_dim        rest = arg;
    ar_term          unknown = { -1, 0 };

    if (!affine)
        return true;
    rest = ar_dim_sub(body->to, rest, affine->constant);
    for (int i = 0; i < affine->nterms; i++) {
        ar_term term = affine->terms[i];

        if (sizes[term.size] != ARRAS_NONE)
            rest = ar_dim_sub(body->to, rest, ar_dim_mul(body->to, sizes[term.size], term.factor));
        else if (unknown.size >= 0)
            return false;
        else
            unknown = term;
    }
    /* Calls were checked when they were recorded: a symbolic rest has factor 1, others divide. */
    if (unknown.size >= 0)
        sizes[unknown.size] = ar_dim_symbolic(rest) ? rest : rest / unknown.factor;
    return true;
}

/* Each pass settles what has one unknown left, so as many passes as sizes are enough. */
static void settle_sizes(const ar_scope *body, arras_dim *sizes, const ar_scope *caller,
                         arras_array call)
{
    arras_function f = body->function;
    bool           open = true;

    for (int pass = 0; open && pass <= ar_size_count(body->pass->from); pass++) {
        open = false;
        for (int p = 0; p < f->nparams; p++)
            for (int axis = 0; axis < f->params[p]->rank; axis++)
                if (!settle_dim(body, sizes, f->params[p]->shape[axis],
                                ar_scope_dim(caller, call->inputs[p]->shape[axis])))
                    open = true;
    }
}

static arras_status check_size(const ar_scope *body, int size, arras_dim value)
{
    if (ar_dim_symbolic(value) || value >= 0)
        return ARRAS_OK;
    return ar_fail(body->pass->err, ARRAS_ESIZE,
                   "size %s is negative: %" PRId64 ", in a call of '%s'",
                   ar_size_name(body->pass->from, size), value, body->function->name);
}

/* Sizes in the shapes of parameters are found from the arguments; others are the program's. */
static arras_status call_sizes(ar_scope *body, const ar_scope *caller, arras_array call)
{
    int          n = ar_size_count(body->pass->from);
    arras_dim   *sizes = ar_arena_alloc(&body->arena, (size_t)n, sizeof *sizes);
    arras_status status = ARRAS_OK;

    if (!sizes)
        return ar_fail_memory(body->pass->err, (size_t)n * sizeof *sizes);
    for (int i = 0; i < n; i++)
        sizes[i] = ARRAS_NONE;
    settle_sizes(body, sizes, caller, call);
    for (int i = 0; i < n && status == ARRAS_OK; i++) {
        if (sizes[i] == ARRAS_NONE)
            sizes[i] = ar_dim_size(body->to, ar_size_name(body->pass->from, i));
        status = check_size(body, i, sizes[i]);
    }
    body->sizes = sizes;
    return status;
}

/* ---- The body -------------------------------------------------------------------------------- */

static arras_status call_args(ar_scope *body, const ar_scope *caller, arras_array call)
{
    ar_became *args = ar_arena_alloc(&body->arena, (size_t)call->ninputs, sizeof *args);

    if (!args)
        return ar_fail_memory(body->pass->err, (size_t)call->ninputs * sizeof *args);
    for (int i = 0; i < call->ninputs; i++)
        args[i] = ar_scope_place(caller, call->inputs[i])->became;
    body->args = args;
    return ARRAS_OK;
}

static arras_status open_body(ar_scope *body, const ar_place *call)
{
    arras_function f = body->function;
    arras_array   *roots = ar_arena_alloc(&body->arena, (size_t)f->nresults, sizeof *roots);
    int            n = 0;
    arras_status   status;

    if (!roots)
        return ar_fail_memory(body->pass->err, (size_t)f->nresults * sizeof *roots);
    for (int r = 0; r < f->nresults; r++)
        if (call->results[r].wanted)
            roots[n++] = f->results[r];
    status = ar_scope_open(body, n, roots);
    body->pass->inlined += body->count;
    if (status == ARRAS_OK && body->pass->inlined > MAX_INLINED)
        status = ar_fail(body->pass->err, ARRAS_ELIMIT,
                         "the calls of '%s' and others make more than %d arrays when they are "
                         "written out: call fewer functions within functions",
                         f->name, MAX_INLINED);
    return status;
}

arras_status ar_inline_call(const ar_scope *caller, const ar_place *call)
{
    ar_scope     body = { .pass = caller->pass, .to = caller->to, .function = call->node->ref };
    arras_status status = call_args(&body, caller, call->node);

    if (status == ARRAS_OK)
        status = call_sizes(&body, caller, call->node);
    if (status == ARRAS_OK)
        status = open_body(&body, call);
    if (status == ARRAS_OK)
        status = ar_scope_run(&body);
    for (int r = 0; r < body.function->nresults && status == ARRAS_OK; r++)
        if (call->results[r].wanted)
            call->results[r] = ar_scope_place(&body, body.function->results[r])->became;
    ar_scope_close(&body);
    return status;
}
