/* reference.c -- the reference evaluator: every node an output needs, one after the other, each
 * computed by the function of its kind.  What is not needed any more is released at once. */
#include "eval/reference.h"

/* Who computes the cells of each kind; leaves, calls and their results have none of their own.  A
 * kind that is not here does not compile. */
#define EVALUATOR_POISON NULL
#define EVALUATOR_INPUT NULL
#define EVALUATOR_PARAM NULL
#define EVALUATOR_DATA NULL
#define EVALUATOR_CALL NULL
#define EVALUATOR_RESULT NULL
#define EVALUATOR_CONST ar_reference_const
#define EVALUATOR_SIZE ar_reference_size
#define EVALUATOR_MAP ar_reference_map
#define EVALUATOR_CAST ar_reference_cast
#define EVALUATOR_LAMBDA ar_reference_lambda
#define EVALUATOR_REDUCE ar_reference_reduce
#define EVALUATOR_SCAN ar_reference_scan
#define EVALUATOR_EINSUM ar_reference_einsum
#define EVALUATOR_STACK ar_reference_stack
#define EVALUATOR_CONCAT ar_reference_concat
#define EVALUATOR_ROLL ar_reference_roll
#define EVALUATOR_PERMUTE ar_reference_permute
#define EVALUATOR_RESHAPE ar_reference_reshape
#define EVALUATOR_INDEX ar_reference_index
#define EVALUATOR_GATHER ar_reference_gather
#define EVALUATOR_CSR ar_reference_csr

static ar_job_function *const functions[AR_KIND_END] = {
#define AR_KIND(NAME, word, text) [AR_##NAME] = EVALUATOR_##NAME,
#include "ir/kinds.def"
#undef AR_KIND
};

/* A node and its value.  Until it is computed, and after its last use, the value has a shape but no
 * data. */
typedef struct {
    arras_array node;
    ar_tensor   value;
    ar_tensor  *results; /* of a CALL: for each result of its function; no dtype: not wanted */
    int64_t     users;   /* that are still to come; being a root counts as one */
} place;

/* The program itself, or the body of a function in one call of it. */
typedef struct {
    const ar_inputs        *inputs;   /* of the program */
    arras_function          function; /* NULL: the program itself */
    const ar_tensor *const *args;     /* of the call */
    const int64_t          *sizes;
    place                  *places; /* by ascending id: inputs before users */
    int64_t                 count;
    const ar_tensor       **in; /* room for the inputs of one node */
    ar_arena                arena;
    arras_error            *err;
} scope;

static place *place_of(const scope *s, arras_array node)
{
    int64_t low = 0, high = s->count - 1;

    while (low < high) {
        int64_t middle = low + (high - low) / 2;

        if (s->places[middle].node->id < node->id)
            low = middle + 1;
        else
            high = middle;
    }
    return &s->places[low];
}

/* ---- Plan: shapes and users of all nodes ----------------------------------------------------- */

static arras_status plan_shape(scope *s, place *p)
{
    arras_array  node = p->node;
    int64_t     *shape = ar_arena_alloc(&s->arena, 2 * (size_t)node->rank, sizeof *shape);
    arras_status status =
        shape ? ARRAS_OK : ar_fail_memory(s->err, 2 * (size_t)node->rank * sizeof *shape);
    ar_text text = { 0 };

    for (int axis = 0; axis < node->rank && status == ARRAS_OK; axis++)
        status = ar_dim_number(&shape[axis], node, node->shape[axis], s->sizes, s->err);
    if (status != ARRAS_OK)
        return status;
    p->value = (ar_tensor){
        .dtype = node->type.dtype, .rank = node->rank, .shape = shape, .strides = shape + node->rank
    };
    if (!ar_shape_count(&p->value.count, node->rank, shape)) {
        status = ar_fail(s->err, ARRAS_ELIMIT, "%s has too many cells", ar_describe(&text, node));
        ar_text_free(&text);
    }
    ar_strides_make(shape + node->rank, node->type.dtype, node->rank, shape);
    return status;
}

static arras_status plan_input(scope *s, place *p)
{
    const ar_tensor *bound = ar_inputs_find(s->inputs, p->node);
    ar_text          text = { 0 };

    if (bound) {
        p->value = *bound;
        return ARRAS_OK;
    }
    ar_fail(s->err, ARRAS_ENAME, "input %s is not bound", ar_describe(&text, p->node));
    ar_text_free(&text);
    return ARRAS_ENAME;
}

static arras_status plan_param(scope *s, place *p)
{
    for (int i = 0; s->function && i < s->function->nparams; i++)
        if (s->function->params[i] == p->node) {
            p->value = *s->args[i];
            p->value.owned = false;
            return ARRAS_OK;
        }
    return ar_fail(s->err, ARRAS_EINVAL, "the parameter '%s' is used outside its function",
                   p->node->name);
}

static arras_status plan_data(scope *s, place *p)
{
    arras_array  node = p->node;
    int64_t     *strides = ar_arena_alloc(&s->arena, (size_t)node->rank, sizeof *strides);
    arras_status status = strides ? plan_shape(s, p) : ar_fail_memory(s->err, sizeof *strides);
    ar_text      text = { 0 };

    if (status != ARRAS_OK)
        return status;
    /* Never owned, so never written to. */
    p->value.data = node->ref ? (char *)(uintptr_t)node->ref : ar_no_cells;
    p->value.strides = strides;
    if (ar_strides_take(strides, node->rank, p->value.shape, node->ints))
        return ARRAS_OK;
    ar_fail(s->err, ARRAS_EINVAL, "the strides of %s are too large", ar_describe(&text, node));
    ar_text_free(&text);
    return ARRAS_EINVAL;
}

static arras_status plan_call(scope *s, place *p)
{
    arras_function f = p->node->ref;

    p->results = ar_arena_alloc(&s->arena, (size_t)f->nresults, sizeof *p->results);
    return p->results ? ARRAS_OK : ar_fail_memory(s->err, (size_t)f->nresults * sizeof *p->results);
}

/* A result that is in the list is wanted of its call. */
static arras_status plan_result(scope *s, place *p)
{
    arras_status status = plan_shape(s, p);

    if (status == ARRAS_OK)
        place_of(s, p->node->inputs[0])->results[p->node->ints[0]] = p->value;
    return status;
}

static arras_status plan_place(scope *s, place *p)
{
    switch (p->node->kind) {
    case AR_INPUT: return ARRAS_OK; /* was the first thing to be looked at */
    case AR_PARAM: return plan_param(s, p);
    case AR_DATA: return plan_data(s, p);
    case AR_CALL: return plan_call(s, p);
    case AR_RESULT: return plan_result(s, p);
    default: return plan_shape(s, p);
    }
}

static arras_status count_users(scope *s, const place *user)
{
    for (int i = 0; i < user->node->ninputs; i++) {
        arras_array input = user->node->inputs[i];

        if (input->kind == AR_CALL && user->node->kind != AR_RESULT)
            return ar_fail(s->err, ARRAS_EINVAL, "%s needs a result of a call, not the call",
                           ar_kind_word(user->node->kind));
        place_of(s, input)->users++;
    }
    return ARRAS_OK;
}

static arras_status plan(scope *s)
{
    arras_status status = ARRAS_OK;

    for (int64_t i = 0; i < s->count && status == ARRAS_OK; i++)
        if (s->places[i].node->kind == AR_INPUT)
            status = plan_input(s, &s->places[i]);
    for (int64_t i = 0; i < s->count && status == ARRAS_OK; i++)
        status = count_users(s, &s->places[i]);
    for (int64_t i = 0; i < s->count && status == ARRAS_OK; i++)
        status = plan_place(s, &s->places[i]);
    return status;
}

/* ---- Scopes ---------------------------------------------------------------------------------- */

static arras_status make_places(scope *s, int64_t count, const arras_array *nodes)
{
    int most = 0;

    for (int64_t i = 0; i < count; i++)
        most = nodes[i]->ninputs > most ? nodes[i]->ninputs : most;
    s->places = ar_arena_alloc(&s->arena, (size_t)count, sizeof *s->places);
    s->in = ar_arena_alloc(&s->arena, (size_t)most, sizeof *s->in);
    if (!s->places || !s->in)
        return ar_fail_memory(s->err, (size_t)count * sizeof *s->places);
    s->count = count;
    for (int64_t i = 0; i < count; i++)
        s->places[i].node = nodes[i];
    return ARRAS_OK;
}

/* Plans what `roots` need.  Close the scope whatever the status. */
static arras_status scope_open(scope *s, int n, const arras_array *roots)
{
    arras_array *nodes;
    int64_t      count;
    arras_status status = ar_reach(&nodes, &count, s->inputs->g, n, roots, s->err);

    if (status != ARRAS_OK)
        return status;
    status = make_places(s, count, nodes);
    ar_free(nodes);
    for (int i = 0; i < n && status == ARRAS_OK; i++)
        place_of(s, roots[i])->users++;
    return status == ARRAS_OK ? plan(s) : status;
}

static void scope_close(scope *s)
{
    for (int64_t i = 0; i < s->count; i++) {
        place *p = &s->places[i];

        ar_tensor_free(&p->value);
        for (int r = 0; p->results && r < ((arras_function)p->node->ref)->nresults; r++)
            ar_tensor_free(&p->results[r]);
    }
    ar_arena_free(&s->arena);
}

static void release(place *p)
{
    if (--p->users == 0)
        ar_tensor_free(&p->value);
}

/* The value of a root goes to `out`, whose shape is set: by moving it, or as a copy where it
 * belongs to somebody else or is wanted again. */
static arras_status scope_take(scope *s, arras_array root, ar_tensor *out)
{
    place       *p = place_of(s, root);
    arras_status status = ARRAS_OK;

    if (p->value.owned && p->users == 1) {
        out->data = p->value.data;
        out->owned = true;
        p->value.owned = false;
    } else {
        status = ar_tensor_alloc(out, root, s->err);
        if (status == ARRAS_OK)
            status = ar_tensor_copy(out, &p->value, s->err);
    }
    release(p);
    return status;
}

/* ---- Calls ----------------------------------------------------------------------------------- */

static arras_status scope_run(scope *s);

/* Sizes in the shapes of parameters are found from the arguments; others are the program's. */
static arras_status call_sizes(scope *body)
{
    const arras_graph *g = body->inputs->g;
    arras_function     f = body->function;
    size_t             room = 0, nsizes = (size_t)ar_size_count(g);
    int64_t           *sizes = ar_arena_alloc(&body->arena, nsizes, sizeof *sizes);
    ar_size_fact      *facts;
    int                n = 0;
    arras_status       status;

    for (int i = 0; i < f->nparams; i++)
        room += (size_t)f->params[i]->rank;
    facts = ar_arena_alloc(&body->arena, room, sizeof *facts);
    if (!sizes || !facts)
        return ar_fail_memory(body->err, nsizes * sizeof *sizes + room * sizeof *facts);
    for (int i = 0; i < f->nparams; i++)
        for (int axis = 0; axis < f->params[i]->rank; axis++)
            facts[n++] = (ar_size_fact){ f->params[i]->shape[axis], body->args[i]->shape[axis],
                                         f->params[i]->name, axis };
    status = ar_sizes_solve(sizes, g, n, facts, body->err);
    for (size_t i = 0; i < nsizes && status == ARRAS_OK; i++)
        if (sizes[i] < 0)
            sizes[i] = body->inputs->sizes[i];
    body->sizes = sizes;
    return status;
}

/* Both shapes come from the same sizes; should they differ all the same, it is no wild read. */
static arras_status take_result(scope *body, arras_array root, ar_tensor *out)
{
    const ar_tensor *value = &place_of(body, root)->value;

    for (int axis = 0; axis < out->rank; axis++)
        if (value->shape[axis] != out->shape[axis])
            return ar_fail(body->err, ARRAS_ESIZE,
                           "axis %d of a result of '%s' is %" PRId64
                           ", but the program says %" PRId64,
                           axis, body->function->name, value->shape[axis], out->shape[axis]);
    return scope_take(body, root, out);
}

static arras_status run_body(scope *body, const place *call)
{
    arras_function f = body->function;
    arras_array   *roots = ar_arena_alloc(&body->arena, (size_t)f->nresults, sizeof *roots);
    int            n = 0;
    arras_status   status;

    if (!roots)
        return ar_fail_memory(body->err, (size_t)f->nresults * sizeof *roots);
    for (int r = 0; r < f->nresults; r++)
        if (call->results[r].dtype != ARRAS_NO_DTYPE)
            roots[n++] = f->results[r];
    status = call_sizes(body);
    if (status == ARRAS_OK)
        status = scope_open(body, n, roots);
    if (status == ARRAS_OK)
        status = scope_run(body);
    for (int r = 0; r < f->nresults && status == ARRAS_OK; r++)
        if (call->results[r].dtype != ARRAS_NO_DTYPE)
            status = take_result(body, f->results[r], &call->results[r]);
    return status;
}

static arras_status run_call(scope *s, place *call)
{
    scope body = { .inputs = s->inputs, .function = call->node->ref, .args = s->in, .err = s->err };
    arras_status status = run_body(&body, call);

    scope_close(&body);
    return status;
}

/* A call has one RESULT node for each of its results, which takes it over. */
static void move_result(const scope *s, place *p)
{
    ar_tensor *result = &place_of(s, p->node->inputs[0])->results[p->node->ints[0]];

    p->value.data = result->data;
    p->value.owned = result->owned;
    result->owned = false;
}

/* ---- Run ------------------------------------------------------------------------------------- */

static arras_status run_job(scope *s, place *p)
{
    ar_job       job = { p->node, &p->value, s->in, s->sizes, s->err };
    arras_status status = ar_tensor_alloc(&p->value, p->node, s->err);

    return status == ARRAS_OK ? functions[p->node->kind](&job) : status;
}

static arras_status run_place(scope *s, place *p)
{
    arras_status status = ARRAS_OK;

    for (int i = 0; i < p->node->ninputs; i++)
        s->in[i] = &place_of(s, p->node->inputs[i])->value;
    if (p->node->kind == AR_CALL)
        status = run_call(s, p);
    else if (p->node->kind == AR_RESULT)
        move_result(s, p);
    else if (functions[p->node->kind])
        status = run_job(s, p);
    for (int i = 0; i < p->node->ninputs; i++)
        release(place_of(s, p->node->inputs[i]));
    return status;
}

/* Calls within calls come back here; how deep they are nested is limited when functions are
 * defined. */
static arras_status scope_run(scope *s)
{
    arras_status status = ARRAS_OK;

    for (int64_t i = 0; i < s->count && status == ARRAS_OK; i++)
        status = run_place(s, &s->places[i]);
    return status;
}

/* ---- Outputs --------------------------------------------------------------------------------- */

static arras_status take_output(arras_results *results, scope *s, const ar_output *output)
{
    ar_tensor      value = place_of(s, output->array)->value;
    arras_binding *item = &results->items[results->count];
    size_t         rank = (size_t)value.rank;
    int64_t       *shape = ar_arena_alloc(&results->arena, 2 * rank, sizeof *shape);
    const char    *name = ar_arena_copy(&results->arena, output->name, strlen(output->name) + 1, 1);
    arras_status   status;

    if (!shape || !name)
        return ar_fail_memory(s->err, 2 * rank * sizeof *shape);
    for (int axis = 0; axis < value.rank; axis++)
        shape[axis] = value.shape[axis];
    ar_strides_make(shape + rank, value.dtype, value.rank, shape);
    value.shape = shape;
    value.strides = shape + rank;
    value.data = NULL;
    status = scope_take(s, output->array, &value);
    *item = (arras_binding){ name, { value.data, value.dtype, value.rank, shape, value.strides } };
    results->count++;
    return status;
}

static arras_status take_outputs(arras_results *results, scope *s)
{
    int          n = ar_graph_output_count(s->inputs->g);
    arras_status status = ARRAS_OK;

    results->items = ar_arena_alloc(&results->arena, (size_t)n, sizeof *results->items);
    if (!results->items)
        return ar_fail_memory(s->err, (size_t)n * sizeof *results->items);
    for (int i = 0; i < n && status == ARRAS_OK; i++)
        status = take_output(results, s, ar_graph_output(s->inputs->g, i));
    return status;
}

static arras_status run_program(arras_results *results, const ar_inputs *inputs)
{
    int          n = ar_graph_output_count(inputs->g);
    arras_array *roots = ar_alloc((size_t)n, sizeof *roots);
    scope        program = { .inputs = inputs, .sizes = inputs->sizes, .err = inputs->err };
    arras_status status;

    if (!roots)
        return ar_fail_memory(inputs->err, (size_t)n * sizeof *roots);
    for (int i = 0; i < n; i++)
        roots[i] = ar_graph_output(inputs->g, i)->array;
    status = scope_open(&program, n, roots);
    if (status == ARRAS_OK)
        status = scope_run(&program);
    if (status == ARRAS_OK)
        status = take_outputs(results, &program);
    scope_close(&program);
    ar_free(roots);
    return status;
}

typedef struct {
    arras_results      **out;
    const arras_graph   *g;
    int                  n;
    const arras_binding *bindings;
} request;

static arras_status run_here(void *context, arras_error *err)
{
    const request *r = context;
    arras_results *results;
    ar_inputs      inputs;
    arras_status   status = ar_graph_check(r->g, err);

    if (status != ARRAS_OK)
        return status;
    results = ar_alloc(1, sizeof *results);
    if (!results)
        return ar_fail_memory(err, sizeof *results);
    status = ar_inputs_open(&inputs, r->g, r->n, r->bindings, err);
    if (status == ARRAS_OK)
        status = run_program(results, &inputs);
    ar_inputs_close(&inputs);
    if (status == ARRAS_OK)
        *r->out = results;
    else
        ar_results_free(results);
    return status;
}

arras_status ar_reference_run(arras_results **out, const arras_graph *g, int n,
                              const arras_binding *bindings, arras_error *err)
{
    request r = { out, g, n, bindings };

    return ar_with_room(run_here, &r, err);
}
