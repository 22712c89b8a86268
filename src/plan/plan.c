/* plan.c -- a fused normal form as arrays and the steps that compute them. */
#include "plan/group.h"

#include <string.h>

typedef struct {
    ar_plan               *plan;
    arras_graph           *g;
    const ar_plan_options *options;
    arras_array           *nodes;
    int64_t                count;
    int                   *array_of;  /* by id of node; -1: none */
    int                   *member_of; /* by id of node: its place among members; -1: none */
    ar_member             *members;
    int                    nmembers;
    arras_error           *err;
} planner;

static void *take(planner *p, size_t count, size_t size)
{
    void *memory = ar_arena_alloc(&p->plan->arena, count, size);

    if (!memory)
        ar_fail_memory(p->err, count * size);
    return memory;
}

/* ---- Arrays ---------------------------------------------------------------------------------- */

static int input_number(const arras_graph *g, arras_array input)
{
    for (int i = 0; i < ar_graph_input_count(g); i++)
        if (ar_graph_input(g, i) == input)
            return i;
    return -1;
}

static void add_arrays(planner *p)
{
    int data = 0;

    for (int64_t i = 0; i < p->count; i++) {
        arras_array   node = p->nodes[i];
        ar_plan_array array = { .node = node, .number = -1, .step = -1 };

        switch (node->kind) {
        case AR_INPUT:
            array.at = AR_AT_INPUT;
            array.number = input_number(p->g, node);
            break;
        case AR_DATA:
            array.at = AR_AT_DATA;
            array.number = data++;
            break;
        default: array.at = AR_AT_TEMPORARY;
        }
        p->array_of[node->id] = p->plan->narrays;
        p->plan->arrays[p->plan->narrays++] = array;
    }
}

/* The first output that an array has is where it lies; others are copies. */
static void add_outputs(planner *p)
{
    for (int i = 0; i < ar_graph_output_count(p->g); i++) {
        int            number = p->array_of[ar_graph_output(p->g, i)->array->id];
        ar_plan_array *array = &p->plan->arrays[number];

        if (array->at == AR_AT_TEMPORARY) {
            array->at = AR_AT_OUTPUT;
            array->number = i;
        } else {
            p->plan->copies[p->plan->ncopies++] = (ar_plan_copy){ number, i };
        }
    }
}

/* ---- Members: lambdas to be grouped ---------------------------------------------------------- */

/* Without inputs there are no launches to spare: everything is computed in the one there is, where
 * it can be cancelled. */
static bool is_constant(const planner *p, const ar_member *m)
{
    if (m->output || m->facts.sized || m->facts.may_fault || ar_graph_input_count(p->g) == 0)
        return false;
    for (int k = 0; k < m->lambda->ninputs; k++) {
        int from = p->member_of[m->lambda->inputs[k]->id];

        if (from >= 0 ? !p->members[from].constant : m->lambda->inputs[k]->kind != AR_DATA)
            return false;
    }
    return true;
}

static arras_status look_at_member(planner *p, ar_member *m)
{
    arras_status status;

    if (m->lambda->kind == AR_SCAN) {
        m->facts = (ar_lambda_facts){ .same_cell = take(p, 1, sizeof *m->facts.same_cell) };
        return m->facts.same_cell ? ARRAS_OK : ARRAS_ENOMEM;
    }
    status = ar_lambda_look(&m->facts, m->lambda, &p->plan->arena, p->err);
    return status == ARRAS_OK ? ar_lambda_kind_find(&m->kind, m->lambda, &p->plan->arena, p->err)
                              : status;
}

static arras_status add_members(planner *p)
{
    arras_status status = ARRAS_OK;

    for (int64_t i = 0; i < p->count && status == ARRAS_OK; i++) {
        ar_member *m = &p->members[p->nmembers];

        if (p->nodes[i]->kind != AR_LAMBDA && p->nodes[i]->kind != AR_SCAN)
            continue;
        m->lambda = p->nodes[i];
        m->output = p->plan->arrays[p->array_of[m->lambda->id]].at == AR_AT_OUTPUT;
        status = look_at_member(p, m);
        m->constant = status == ARRAS_OK && is_constant(p, m);
        if (m->constant)
            p->plan->arrays[p->array_of[m->lambda->id]].at = AR_AT_CONSTANT;
        p->member_of[m->lambda->id] = p->nmembers++;
    }
    return status;
}

/* ---- Steps ----------------------------------------------------------------------------------- */

static bool is_dense(const planner *p, arras_array x)
{
    int64_t stride = (int64_t)ar_dtype_size(x->type.dtype);

    if (x->kind == AR_INPUT)
        return !p->options->dense || p->options->dense[input_number(p->g, x)];
    if (x->kind != AR_DATA)
        return true;
    for (int axis = x->rank - 1; axis >= 0; axis--) {
        if (x->ints[axis] != stride && x->shape[axis] != 1)
            return false;
        stride *= x->shape[axis];
    }
    return true;
}

/* A product reads its operands by library code where both are in C order. */
static arras_status set_gemm(planner *p, ar_step *step, const ar_gemm *found)
{
    ar_gemm *gemm = found ? ar_arena_copy(&p->plan->arena, found, 1, sizeof *gemm) : NULL;

    step->gemm = gemm;
    if (!gemm)
        return found ? ar_fail_memory(p->err, sizeof *gemm) : ARRAS_OK;
    gemm->dense = step->form.dense[gemm->a.input] && step->form.dense[gemm->b.input];
    return ARRAS_OK;
}

/* Of several lambdas: they were bound to the same inputs, by other numbers than they had. */
static arras_status add_facts(planner *p, ar_step *step, bool *same)
{
    for (int i = 0; i < step->form.n; i++) {
        ar_lambda_facts facts;
        arras_status    status =
            ar_lambda_look(&facts, step->form.lambdas[i], &p->plan->arena, p->err);

        if (status != ARRAS_OK)
            return status;
        step->may_fault = step->may_fault || facts.may_fault;
        for (int k = 0; k < step->ninputs; k++)
            same[k] = same[k] && facts.same_cell[k];
    }
    return ARRAS_OK;
}

/* model: the first of its lambdas, as it was found. */
static arras_status finish_step(planner *p, ar_step *step, const ar_member *model,
                                arras_array *inputs)
{
    int         *numbers = take(p, (size_t)step->ninputs, sizeof *numbers);
    bool        *dense = take(p, (size_t)step->ninputs, sizeof *dense);
    bool        *same = take(p, (size_t)step->ninputs, sizeof *same);
    arras_status status = ARRAS_OK;

    if (!numbers || !dense || !same)
        return ARRAS_ENOMEM;
    for (int k = 0; k < step->ninputs; k++) {
        numbers[k] = p->array_of[inputs[k]->id];
        dense[k] = is_dense(p, inputs[k]);
        same[k] = step->form.n > 1 || model->facts.same_cell[k];
    }
    step->may_fault = step->form.n == 1 && model->facts.may_fault;
    step->inputs = numbers;
    step->same_cell = same;
    step->form.dense = dense;
    step->form.machine = p->options->machine;
    if (step->form.n > 1)
        status = add_facts(p, step, same);
    if (step->scan)
        return ARRAS_OK;
    if (status == ARRAS_OK)
        status = set_gemm(p, step, model->kind.gemm);
    return status == ARRAS_OK ? ar_nest_make(&step->nest, &step->form, model->kind.contraction,
                                             &p->plan->arena, p->err)
                              : status;
}

static arras_status add_step(planner *p, const ar_groups *groups, int number)
{
    const int   *places = groups->members + groups->first[number];
    int          n = groups->first[number + 1] - groups->first[number], *results;
    ar_step     *step = &p->plan->steps[p->plan->nsteps];
    arras_array *lambdas = take(p, (size_t)n, sizeof *lambdas), *inputs;
    arras_array *members = take(p, (size_t)n, sizeof *members);
    arras_status status = ARRAS_OK;

    results = take(p, (size_t)n, sizeof *results);
    if (!lambdas || !members || !results)
        return ARRAS_ENOMEM;
    for (int i = 0; i < n; i++) {
        members[i] = lambdas[i] = p->members[places[i]].lambda;
        results[i] = p->array_of[members[i]->id];
        p->plan->arrays[results[i]].step = p->plan->nsteps;
    }
    inputs = (arras_array *)members[0]->inputs;
    step->ninputs = members[0]->ninputs;
    if (n > 1)
        status = ar_group_bind(lambdas, &inputs, &step->ninputs, p->g, n, members, &p->plan->arena,
                               p->err);
    if (status != ARRAS_OK)
        return status;
    step->form.n = n;
    step->form.lambdas = lambdas;
    step->scan = lambdas[0]->kind == AR_SCAN ? lambdas[0] : NULL;
    step->rank = lambdas[0]->rank;
    step->results = results;
    step->constant = p->members[places[0]].constant;
    p->plan->nsteps++;
    return finish_step(p, step, &p->members[places[0]], inputs);
}

/* ---- Codes: equal kernels are one ------------------------------------------------------------ */

static bool same_array_type(arras_array a, arras_array b)
{
    return a->type.dtype == b->type.dtype && a->rank == b->rank &&
           (a->rank == 0 || memcmp(a->shape, b->shape, (size_t)a->rank * sizeof *a->shape) == 0);
}

/* Expressions are hash-consed and loads name inputs by number: equal cells are one pointer. */
static bool same_code(const ar_step *a, const ar_step *b)
{
    if (a->form.n != b->form.n || a->ninputs != b->ninputs)
        return false;
    for (int i = 0; i < a->form.n; i++)
        if (a->form.lambdas[i]->ref != b->form.lambdas[i]->ref ||
            !same_array_type(a->form.lambdas[i], b->form.lambdas[i]))
            return false;
    for (int k = 0; k < a->ninputs; k++)
        if (a->form.dense[k] != b->form.dense[k] ||
            !same_array_type(a->form.lambdas[0]->inputs[k], b->form.lambdas[0]->inputs[k]))
            return false;
    return true;
}

static bool step_is(const void *item, const void *key) { return same_code(item, key); }

static uint64_t code_hash(const ar_step *step)
{
    uint64_t hash = ar_hash_mix(0, (uint64_t)step->ninputs);

    for (int i = 0; i < step->form.n; i++)
        hash = ar_hash_mix(hash, (uint64_t)((arras_expr)step->form.lambdas[i]->ref)->id);
    for (int axis = 0; axis < step->rank; axis++)
        hash = ar_hash_mix(hash, (uint64_t)step->form.lambdas[0]->shape[axis]);
    return hash;
}

static arras_status number_codes(planner *p)
{
    ar_table     known = { 0 };
    arras_status status = ARRAS_OK;

    for (int i = 0; i < p->plan->nsteps && status == ARRAS_OK; i++) {
        ar_step       *step = &p->plan->steps[i];
        uint64_t       hash = step->scan ? 0 : code_hash(step);
        const ar_step *same = step->scan ? NULL : ar_table_find(&known, hash, step_is, step);

        if (step->scan)
            step->code = -1;
        else if (same)
            step->code = same->code;
        else if (ar_table_add(&known, hash, step))
            step->code = p->plan->ncodes++;
        else
            status = ar_fail_memory(p->err, sizeof known);
    }
    ar_table_free(&known);
    return status;
}

/* ---- All of it ------------------------------------------------------------------------------- */

static arras_status make_room(planner *p)
{
    size_t count = (size_t)p->count, ids = (size_t)ar_graph_count(p->g);

    p->plan->arrays = take(p, count, sizeof *p->plan->arrays);
    p->plan->steps = take(p, count, sizeof *p->plan->steps);
    p->plan->copies = take(p, (size_t)ar_graph_output_count(p->g), sizeof *p->plan->copies);
    p->members = take(p, count, sizeof *p->members);
    p->array_of = take(p, ids, sizeof *p->array_of);
    p->member_of = take(p, ids, sizeof *p->member_of);
    if (!p->plan->arrays || !p->plan->steps || !p->plan->copies || !p->members || !p->array_of ||
        !p->member_of)
        return ARRAS_ENOMEM;
    memset(p->array_of, -1, ids * sizeof *p->array_of);
    memset(p->member_of, -1, ids * sizeof *p->member_of);
    return ARRAS_OK;
}

static arras_status make_steps(planner *p)
{
    ar_groups    groups;
    arras_status status = ar_groups_make(&groups, p->nmembers, p->members, p->member_of,
                                         p->options->no_fusion, &p->plan->arena, p->err);

    for (int i = 0; status == ARRAS_OK && i < groups.count; i++)
        status = add_step(p, &groups, i);
    if (status == ARRAS_OK)
        status = number_codes(p);
    return status == ARRAS_OK && !p->options->no_fusion ? ar_plan_reach(p->plan, p->err) : status;
}

static arras_status make_plan(planner *p)
{
    arras_status status = make_room(p);

    if (status != ARRAS_OK)
        return status;
    add_arrays(p);
    add_outputs(p);
    status = add_members(p);
    return status == ARRAS_OK ? make_steps(p) : status;
}

/* What was made is shown where that is asked for, and must hold. */
static arras_status look(const ar_plan *plan, arras_error *err)
{
    ar_text text = { 0 };

    if (ar_debug('p')) {
        ar_plan_print(&text, plan, NULL);
        ar_debug_show("plan", &text);
        ar_text_free(&text);
    }
    return ar_debug_verifies() ? ar_plan_verify(plan, err) : ARRAS_OK;
}

arras_status ar_plan_make(ar_plan *out, arras_graph *g, const ar_plan_options *options,
                          arras_error *err)
{
    ar_plan      plan = { .g = g, .machine = options->machine };
    planner      p = { .plan = &plan, .g = g, .options = options, .err = err };
    arras_array *roots = NULL;
    arras_status status = ar_graph_roots(&roots, g, err);

    if (status == ARRAS_OK)
        status = ar_reach(&p.nodes, &p.count, g, ar_graph_output_count(g), roots, err);
    if (status == ARRAS_OK)
        status = make_plan(&p);
    if (status == ARRAS_OK)
        status = look(&plan, err);
    ar_free(roots);
    ar_free(p.nodes);
    if (status == ARRAS_OK)
        *out = plan;
    else
        ar_arena_free(&plan.arena);
    return status;
}

void ar_plan_free(ar_plan *plan) { ar_arena_free(&plan->arena); }
