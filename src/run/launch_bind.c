/* launch_bind.c -- from the bindings of a launch to an instance that is ready to run.
 *
 * Three ways, each much quicker than the next: the bindings are those of an earlier launch, or
 * differ in their memory only; an instance for the same sizes and layout is there; one has to be
 * made. */
#include "run/launch.h"

#include <string.h>

enum { MOST_IDLE = 4 };

/* ---- The same again -------------------------------------------------------------------------- */

static bool same_numbers(int n, const int64_t *a, const int64_t *b)
{
    for (int i = 0; i < n; i++)
        if (a[i] != b[i])
            return false;
    return true;
}

/* A size is what its cell says. */
static bool is_same_size(const arras_run *run, const ar_bound *b, const arras_buffer *buffer)
{
    return buffer->data && ar_cell_integer(b->dtype, buffer->data) == run->sizes[b->size];
}

/* All but the memory. */
static bool is_like(const arras_run *run, const ar_bound *b, const arras_binding *binding)
{
    const arras_buffer *buffer = &binding->buffer;

    return binding->name && strcmp(b->name, binding->name) == 0 && b->dtype == buffer->dtype &&
           b->rank == buffer->rank &&
           (b->rank == 0 || (buffer->shape && same_numbers(b->rank, b->shape, buffer->shape))) &&
           b->has_strides == (buffer->strides != NULL) &&
           (!b->has_strides || same_numbers(b->rank, b->strides, buffer->strides)) &&
           (buffer->data != NULL) == (b->data != NULL) &&
           (b->size < 0 || is_same_size(run, b, buffer));
}

static bool run_fits(const arras_run *run, int n, const arras_binding *bindings)
{
    if (run->busy || run->nbound != n || n == 0)
        return false;
    for (int i = 0; i < n; i++)
        if (!is_like(run, &run->bound[i], &bindings[i]))
            return false;
    return true;
}

static arras_run *find_like(arras_program *p, int n, const arras_binding *bindings)
{
    arras_run *run;

    pthread_mutex_lock(&p->lock);
    for (run = p->runs; run && !run_fits(run, n, bindings);)
        run = run->next;
    if (run)
        run->busy = true;
    pthread_mutex_unlock(&p->lock);
    return run;
}

/* An alignment that changed is not like it was: a copy is needed, or none any more. */
static bool same_alignment(const void *a, const void *b)
{
    return (((uintptr_t)a ^ (uintptr_t)b) & (sizeof(double) - 1)) == 0;
}

/* Whether memory may simply be replaced.  It changed: *changed. */
static bool take_memory(arras_run *run, const arras_binding *bindings, bool *changed)
{
    for (int i = 0; i < run->nbound; i++)
        if (!same_alignment(run->bound[i].data, bindings[i].buffer.data))
            return false;
    for (int i = 0; i < run->nbound; i++) {
        *changed = *changed || run->bound[i].data != bindings[i].buffer.data;
        run->bound[i].data = bindings[i].buffer.data;
    }
    return true;
}

/* ---- From names and shapes ------------------------------------------------------------------- */

static arras_status copy_binding(arras_run *run, ar_bound *to, const arras_binding *from,
                                 arras_error *err)
{
    size_t rank = (size_t)from->buffer.rank;

    *to = (ar_bound){ .data = from->buffer.data,
                      .dtype = from->buffer.dtype,
                      .rank = from->buffer.rank,
                      .has_strides = from->buffer.strides != NULL,
                      .input = -1,
                      .size = -1,
                      .output = -1 };
    to->name = ar_arena_copy(&run->names, from->name, strlen(from->name) + 1, 1);
    to->shape = ar_arena_copy(&run->names, from->buffer.shape, rank, sizeof *to->shape);
    if (from->buffer.strides)
        to->strides = ar_arena_copy(&run->names, from->buffer.strides, rank, sizeof *to->strides);
    if (to->name && to->shape && (to->strides || !from->buffer.strides))
        return ARRAS_OK;
    return ar_fail_memory(err, rank * sizeof *to->shape);
}

static void note_target(ar_bound *bound, const arras_binding *binding, const ar_sorted *sorted,
                        const arras_graph *g)
{
    for (int i = 0; i < sorted->noutputs; i++)
        if (sorted->outputs[i] == binding) {
            bound->output = i;
            return;
        }
    bound->size = ar_size_find(g, binding->name);
    for (int i = 0; i < ar_graph_input_count(g) && bound->size < 0; i++)
        if (strcmp(ar_graph_input(g, i)->name, binding->name) == 0)
            bound->input = i;
}

/* The run remembers what it was given. */
static arras_status remember(arras_run *run, int n, const arras_binding *bindings,
                             const ar_sorted *sorted, arras_error *err)
{
    arras_status status = ARRAS_OK;

    ar_arena_free(&run->names);
    run->nbound = 0;
    run->bound = ar_arena_alloc(&run->names, (size_t)n, sizeof *run->bound);
    if (!run->bound)
        return ar_fail_memory(err, (size_t)n * sizeof *run->bound);
    for (int i = 0; i < n && status == ARRAS_OK; i++) {
        status = copy_binding(run, &run->bound[i], &bindings[i], err);
        if (status == ARRAS_OK)
            note_target(&run->bound[i], &bindings[i], sorted, run->core->optimised);
    }
    if (status == ARRAS_OK)
        run->nbound = n;
    return status;
}

arras_status ar_run_sorted(ar_sorted *out, const arras_run *run, arras_error *err)
{
    arras_status   status = ARRAS_OK;
    arras_binding *bindings = ar_alloc((size_t)run->nbound, sizeof *bindings);

    *out = (ar_sorted){ 0 };
    if (!bindings)
        return ar_fail_memory(err, (size_t)run->nbound * sizeof *bindings);
    for (int i = 0; i < run->nbound; i++) {
        const ar_bound *b = &run->bound[i];

        bindings[i] =
            (arras_binding){ b->name, { b->data, b->dtype, b->rank, b->shape, b->strides } };
    }
    status = ar_bindings_sort(out, run->core->optimised, run->nbound, bindings, err);
    ar_free(bindings); /* outputs, which point to them, are not asked for here */
    return status;
}

/* ---- An instance for these sizes ------------------------------------------------------------- */

/* What is computed once, and data that is not aligned, gets memory of its own. */
static arras_status place_constant(arras_run *run, int a, arras_error *err)
{
    ar_tensor            from = run->arrays[a], to = from;
    const ar_plan_array *array = &run->core->plan.arrays[a];
    bool                 copied = array->at == AR_AT_DATA && !ar_tensor_is_aligned(&from);
    int64_t              strides[ARRAS_MAX_RANK], bytes;

    if (array->at != AR_AT_CONSTANT && !copied)
        return ARRAS_OK;
    bytes = from.count * (int64_t)ar_dtype_size(from.dtype);
    run->constants[a] = ar_buffer_take(bytes);
    if (!run->constants[a])
        return ar_fail_memory(err, (size_t)bytes);
    ar_strides_make(strides, from.dtype, from.rank, from.shape);
    to.data = run->constants[a];
    to.strides = strides;
    if (copied)
        ar_cells_copy(&to, &from);
    ar_instance_set(run, a, run->constants[a], strides);
    return ARRAS_OK;
}

/* Once for each variant, by its first instance; the others find them there. */
static arras_status fill_constants(ar_variant *v, arras_run *run, arras_error *err)
{
    arras_status status = ARRAS_OK;

    for (int a = 0; a < run->core->plan.narrays && status == ARRAS_OK; a++)
        status = place_constant(run, a, err);
    for (int s = 0; s < run->nsteps && status == ARRAS_OK; s++)
        if (run->steps[s].stage.step->constant)
            status = ar_step_run_all(&run->steps[s], run->program->pool, err);
    for (int a = 0; a < run->core->plan.narrays && status != ARRAS_OK; a++) {
        ar_buffer_give(v->constants[a]);
        v->constants[a] = NULL;
    }
    v->filled = status == ARRAS_OK;
    return status;
}

static bool has_sizes(const arras_run *run, const ar_variant *v, const int64_t *sizes)
{
    return !run->busy && run->core == v->core &&
           same_numbers(ar_size_count(v->core->optimised), run->sizes, sizes);
}

/* Idle runs that were not used for long go. */
static void trim_idle(arras_program *p)
{
    int idle = 0;

    for (arras_run **at = &p->runs; *at;) {
        arras_run *run = *at;

        idle += !run->busy;
        if (run->busy || idle <= MOST_IDLE) {
            at = &run->next;
            continue;
        }
        *at = run->next;
        ar_instance_free(run);
    }
}

/* The lock is held: constants are computed once. */
static arras_status add_run(arras_run **out, arras_program *p, ar_variant *v, const int64_t *sizes,
                            arras_error *err)
{
    arras_run   *run;
    arras_status status = ar_instance_new(&run, p, v, sizes, err);

    if (status != ARRAS_OK)
        return status;
    if (!v->filled)
        status = fill_constants(v, run, err);
    if (status != ARRAS_OK) {
        ar_instance_free(run);
        return status;
    }
    run->busy = true;
    run->next = p->runs;
    p->runs = run;
    trim_idle(p);
    *out = run;
    return ARRAS_OK;
}

static arras_status find_run(arras_run **out, arras_program *p, ar_variant *v, const int64_t *sizes,
                             arras_error *err)
{
    arras_status status = ARRAS_OK;
    arras_run   *run;

    pthread_mutex_lock(&p->lock);
    for (run = p->runs; run && !has_sizes(run, v, sizes);)
        run = run->next;
    if (run) {
        run->busy = true;
        *out = run;
    } else {
        status = add_run(out, p, v, sizes, err);
    }
    pthread_mutex_unlock(&p->lock);
    return status;
}

static arras_status find_variant(ar_variant **out, arras_program *p, const ar_inputs *inputs,
                                 arras_error *err)
{
    int          n = ar_graph_input_count(inputs->g);
    bool        *dense = ar_alloc((size_t)n, sizeof *dense);
    arras_status status;

    if (!dense)
        return ar_fail_memory(err, (size_t)n);
    for (int i = 0; i < n; i++) {
        const ar_tensor *x = &inputs->inputs[i];

        dense[i] = x->dtype == ARRAS_NO_DTYPE || ar_tensor_is_dense(x) || !ar_tensor_is_aligned(x);
    }
    status = ar_program_variant(out, p, dense, err);
    ar_free(dense);
    return status;
}

static arras_status bind_anew(arras_run **out, arras_program *p, int n,
                              const arras_binding *bindings, const ar_sorted *sorted,
                              arras_error *err)
{
    const ar_core *core = p->variants->core;
    ar_variant    *v;
    ar_inputs      inputs;
    arras_status   status =
        ar_inputs_open(&inputs, core->optimised, sorted->ninputs, sorted->inputs, err);

    if (status == ARRAS_OK)
        status = ar_core_check_bound(core, &inputs, err);
    if (status == ARRAS_OK)
        status = find_variant(&v, p, &inputs, err);
    if (status == ARRAS_OK)
        status = find_run(out, p, v, inputs.sizes, err);
    ar_inputs_close(&inputs);
    if (status != ARRAS_OK)
        return status;
    status = remember(*out, n, bindings, sorted, err);
    if (status != ARRAS_OK)
        ar_run_release(*out);
    return status;
}

/* ---- All of it ------------------------------------------------------------------------------- */

static arras_status sort_and_bind(arras_run **out, arras_program *p, int n,
                                  const arras_binding *bindings, bool has_results, arras_error *err)
{
    const arras_graph *g = p->variants->core->optimised;
    ar_sorted          sorted;
    arras_status       status = ar_bindings_sort(&sorted, g, n, bindings, err);

    if (status == ARRAS_OK)
        status = ar_bindings_check(&sorted, g, has_results, err);
    if (status == ARRAS_OK)
        status = bind_anew(out, p, n, bindings, &sorted, err);
    ar_sorted_close(&sorted);
    return status;
}

static bool binds_all(const arras_run *run)
{
    int outputs = 0;

    for (int i = 0; i < run->nbound; i++)
        outputs += run->bound[i].output >= 0;
    return outputs == ar_graph_output_count(run->core->optimised);
}

static arras_status start_trace(arras_run *run, arras_error *err)
{
    arras_status status = ARRAS_OK;
    int64_t      records = 16;

    if (!run->program->tracing) {
        ar_taskgraph_trace(run->tasks, NULL);
        return ARRAS_OK;
    }
    for (int s = 0; s < run->nsteps; s++)
        records += ar_min64(run->steps[s].pass.tiling.count, 1024);
    if (!run->trace)
        status = ar_trace_new(&run->trace, records, err);
    if (status == ARRAS_OK) {
        ar_trace_clear(run->trace);
        ar_taskgraph_trace(run->tasks, run->trace);
    }
    return status;
}

arras_status ar_run_bind(arras_run **out, arras_program *p, int n, const arras_binding *bindings,
                         bool has_results, arras_error *err)
{
    arras_run   *run = n > 0 && bindings ? find_like(p, n, bindings) : NULL;
    bool         changed = false;
    arras_status status = ARRAS_OK;

    if (run && (!take_memory(run, bindings, &changed) || (!has_results && !binds_all(run)))) {
        ar_run_release(run);
        run = NULL;
    }
    if (!run) {
        status = sort_and_bind(&run, p, n, bindings, has_results, err);
        changed = true;
    }
    if (status != ARRAS_OK)
        return status;
    run->updates = 0;
    if (changed || !binds_all(run))
        status = ar_run_bind_memory(run, err);
    if (status == ARRAS_OK && (p->tracing || run->trace))
        status = start_trace(run, err);
    if (status == ARRAS_OK) {
        *out = run;
        return ARRAS_OK;
    }
    run->nbound = 0; /* what is half bound is not like anything */
    ar_run_release(run);
    return status;
}

/* The one used last comes first: it is the one looked at. */
void ar_run_release(arras_run *run)
{
    arras_program *p = run->program;

    pthread_mutex_lock(&p->lock);
    run->busy = false;
    for (arras_run **at = &p->runs; *at; at = &(*at)->next)
        if (*at == run) {
            *at = run->next;
            run->next = p->runs;
            p->runs = run;
            break;
        }
    pthread_mutex_unlock(&p->lock);
}
