/* survey.c -- operations of a launch, counted roughly: each array by itself, sizes that are not
 * known as 1000. */
#include "opt/survey.h"

enum { MOST_VISITS = 2000, UNKNOWN_LENGTH = 1000 };

void ar_survey_close(ar_survey *s)
{
    ar_free(s->nodes);
    ar_free(s->constant);
}

static bool is_constant(const ar_survey *s, arras_array x)
{
    bool constant = x->kind == AR_DATA || x->kind == AR_LAMBDA;

    for (int k = 0; k < x->ninputs; k++)
        constant = constant && s->constant[x->inputs[k]->id];
    return constant;
}

arras_status ar_survey_open(ar_survey *out, const arras_graph *normal, arras_error *err)
{
    size_t       nodes = (size_t)ar_graph_count(normal);
    ar_survey    s = { .constant = ar_alloc(nodes, sizeof *s.constant) };
    arras_array *roots = NULL;
    arras_status status =
        s.constant ? ar_graph_roots(&roots, normal, err) : ar_fail_memory(err, nodes);

    if (status == ARRAS_OK)
        status = ar_reach(&s.nodes, &s.count, normal, ar_graph_output_count(normal), roots, err);
    ar_free(roots);
    if (status != ARRAS_OK) {
        ar_survey_close(&s);
        return status;
    }
    for (int64_t i = 0; i < s.count; i++)
        s.constant[s.nodes[i]->id] = is_constant(&s, s.nodes[i]);
    *out = s;
    return ARRAS_OK;
}

/* Operations of a cell; what is shared counts again. */
static double cell_cost(arras_expr e, int *visits)
{
    double cost = e->kind == AR_EXPR_OP || e->kind == AR_EXPR_LOAD;

    if (++*visits > MOST_VISITS)
        return 0;
    if (e->kind == AR_EXPR_REDUCE)
        return (ar_is_int(e->args[1]) ? (double)e->args[1]->ints[0] : UNKNOWN_LENGTH) *
               (1 + cell_cost(e->args[2], visits));
    for (int i = 0; i < e->nargs; i++)
        cost += cell_cost(e->args[i], visits);
    return cost;
}

static double cost_of(const ar_survey *s)
{
    double all = 0;

    for (int64_t i = 0; i < s->count; i++) {
        arras_array x = s->nodes[i];
        double      cells = 1;
        int         visits = 0;

        if (x->kind != AR_LAMBDA || s->constant[x->id])
            continue;
        for (int axis = 0; axis < x->rank; axis++)
            cells *= ar_dim_symbolic(x->shape[axis]) ? UNKNOWN_LENGTH : (double)x->shape[axis];
        all += cells * cell_cost(x->ref, &visits);
    }
    return all;
}

arras_status ar_survey_is_cheaper(bool *out, const arras_graph *normal, const ar_survey *than,
                                  arras_error *err)
{
    ar_survey    s;
    arras_status status = ar_survey_open(&s, normal, err);

    if (status == ARRAS_OK) {
        *out = cost_of(&s) < cost_of(than);
        ar_survey_close(&s);
    }
    return status;
}
