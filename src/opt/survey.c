/* survey.c -- operations of a launch, counted roughly: each array by itself, sizes that are not
 * known as 1000. */
#include "opt/survey.h"

#include <math.h>

enum { MOST_VISITS = 2000, UNKNOWN_LENGTH = 1000 };

/* What is computed once, before the first launch, should not take long if there is only one: not
 * much longer than to compile a program, or than what some launches save. */
enum { ONCE = 10000000, LAUNCHES = 10 };

void ar_survey_close(ar_survey *s)
{
    ar_free(s->nodes);
    ar_free(s->constant);
}

/* Outputs are computed in every launch. */
static bool is_constant(const ar_survey *s, arras_array x, bool output)
{
    bool constant = x->kind == AR_DATA || (x->kind == AR_LAMBDA && !output);

    for (int k = 0; k < x->ninputs; k++)
        constant = constant && s->constant[x->inputs[k]->id];
    for (int axis = 0; axis < x->rank; axis++)
        constant = constant && !ar_dim_symbolic(x->shape[axis]);
    return constant;
}

static void find_constants(ar_survey *s, const arras_array *outputs)
{
    for (int i = 0; i < ar_graph_output_count(s->normal); i++)
        s->constant[outputs[i]->id] = true; /* marked, until it is its turn */
    for (int64_t i = 0; i < s->count; i++) {
        bool *constant = &s->constant[s->nodes[i]->id];

        *constant = is_constant(s, s->nodes[i], *constant);
    }
}

arras_status ar_survey_open(ar_survey *out, const arras_graph *normal, arras_error *err)
{
    size_t       nodes = (size_t)ar_graph_count(normal);
    ar_survey    s = { .normal = normal, .constant = ar_alloc(nodes, sizeof *s.constant) };
    arras_array *roots = NULL;
    arras_status status =
        s.constant ? ar_graph_roots(&roots, normal, err) : ar_fail_memory(err, nodes);

    if (status == ARRAS_OK)
        status = ar_reach(&s.nodes, &s.count, normal, ar_graph_output_count(normal), roots, err);
    if (status == ARRAS_OK)
        find_constants(&s, roots);
    ar_free(roots);
    if (status == ARRAS_OK)
        *out = s;
    else
        ar_survey_close(&s);
    return status;
}

/* ---- Looking --------------------------------------------------------------------------------- */

typedef struct {
    ar_look_function *look;
    void             *pass;
    arras_array       lambda;
    int64_t *visited; /* by id of expression: 1 + the id of the last lambda it was met in */
} looker;

/* Depth is limited by AR_MAX_DEPTH. */
static bool look_within(const looker *l, arras_expr e)
{
    if (l->visited[e->id] > l->lambda->id)
        return true;
    l->visited[e->id] = l->lambda->id + 1;
    for (int i = 0; i < e->nargs; i++)
        if (!look_within(l, e->args[i]))
            return false;
    return l->look(l->pass, l->lambda, e);
}

arras_status ar_survey_look(const ar_survey *s, ar_look_function *look, void *pass,
                            arras_error *err)
{
    looker  l = { .look = look, .pass = pass };
    int64_t exprs = 0;
    bool    more = true;

    for (int64_t i = 0; i < s->count; i++)
        if (s->nodes[i]->kind == AR_LAMBDA)
            exprs = ar_max64(exprs, ((arras_expr)s->nodes[i]->ref)->id + 1);
    l.visited = ar_alloc((size_t)exprs, sizeof *l.visited);
    if (!l.visited)
        return ar_fail_memory(err, (size_t)exprs * sizeof *l.visited);
    for (int64_t i = 0; i < s->count && more; i++) {
        l.lambda = s->nodes[i];
        more = l.lambda->kind != AR_LAMBDA || look_within(&l, l.lambda->ref);
    }
    ar_free(l.visited);
    return ARRAS_OK;
}

/* ---- Counting -------------------------------------------------------------------------------- */

static double rounds_of(arras_expr reduce)
{
    bool known = ar_is_int(reduce->args[0]) && ar_is_int(reduce->args[1]);

    return known ? fmax((double)reduce->args[1]->ints[0] - (double)reduce->args[0]->ints[0], 0)
                 : UNKNOWN_LENGTH;
}

/* Operations of a cell; what is shared counts again. */
static double cell_cost(arras_expr e, int *visits)
{
    double cost = e->kind == AR_EXPR_OP || e->kind == AR_EXPR_LOAD;

    if (++*visits > MOST_VISITS)
        return 0;
    if (e->kind == AR_EXPR_REDUCE)
        return rounds_of(e) * (1 + cell_cost(e->args[2], visits));
    for (int i = 0; i < e->nargs; i++)
        cost += cell_cost(e->args[i], visits);
    return cost;
}

/* Operations. */
typedef struct {
    double launch; /* of each */
    double once;   /* before the first */
} cost;

static cost cost_of(const ar_survey *s)
{
    cost all = { 0, 0 };

    for (int64_t i = 0; i < s->count; i++) {
        arras_array x = s->nodes[i];
        double      cells = 1;
        int         visits = 0;

        if (x->kind != AR_LAMBDA)
            continue;
        for (int axis = 0; axis < x->rank; axis++)
            cells *= ar_dim_symbolic(x->shape[axis]) ? UNKNOWN_LENGTH : (double)x->shape[axis];
        *(s->constant[x->id] ? &all.once : &all.launch) += cells * cell_cost(x->ref, &visits);
    }
    return all;
}

/* ---- Keeping what is cheaper ----------------------------------------------------------------- */

static bool is_cheaper(const cost *after, const cost *before)
{
    double saved = before->launch - after->launch;

    return saved > 0 && after->once - before->once <= ONCE + LAUNCHES * saved;
}

static arras_status compare(cost *before, cost *after, const ar_survey *s, const arras_graph *made,
                            arras_error *err)
{
    ar_survey    of_made;
    arras_status status = ar_survey_open(&of_made, made, err);

    if (status != ARRAS_OK)
        return status;
    *before = cost_of(s);
    *after = cost_of(&of_made);
    ar_survey_close(&of_made);
    return ARRAS_OK;
}

static arras_status say(ar_decisions *decisions, ar_tell_function *tell, const void *pass,
                        const cost *before, const cost *after, arras_error *err)
{
    ar_text line = { 0 };

    if (!decisions)
        return ARRAS_OK;
    tell(&line, pass);
    ar_text_printf(&line, ": %.0f operations of a launch became %.0f", before->launch,
                   after->launch);
    if (after->once > before->once)
        ar_text_printf(&line, ", and %.0f once", after->once - before->once);
    return ar_decisions_say(decisions, &line, err);
}

arras_status ar_survey_try(arras_graph **out, const ar_survey *s, ar_rewrite *r,
                           ar_tell_function *tell, ar_decisions *decisions, arras_error *err)
{
    cost         before = { 0, 0 }, after = { 0, 0 };
    arras_graph *made = NULL;
    arras_status status = ar_rewrite_try(&made, r, s->normal, err);
    bool         cheaper = false;

    if (status == ARRAS_OK && made)
        status = compare(&before, &after, s, made, err);
    if (status == ARRAS_OK && made)
        cheaper = is_cheaper(&after, &before);
    if (cheaper)
        status = say(decisions, tell, r->pass, &before, &after, err);
    if (cheaper && status == ARRAS_OK)
        *out = made;
    else
        ar_graph_free(made);
    return status;
}
