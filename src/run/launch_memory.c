/* launch_memory.c -- the memory that a launch is given, and where steps must not use it directly.
 */
#include "run/launch.h"

#include <stdlib.h>
#include <string.h>

/* ---- Layouts --------------------------------------------------------------------------------- */

bool ar_tensor_is_aligned(const ar_tensor *tensor)
{
    int64_t align = (int64_t)ar_dtype_size(ar_dtype_real(tensor->dtype));

    if (tensor->count == 0)
        return true;
    for (int axis = 0; axis < tensor->rank; axis++)
        if (tensor->strides[axis] % align != 0)
            return false;
    return (uintptr_t)tensor->data % (uintptr_t)align == 0;
}

/* ---- Inputs ---------------------------------------------------------------------------------- */

/* The tensor that a binding is; strides has room for its rank. */
static ar_tensor bound_tensor(const ar_bound *b, int64_t *strides)
{
    ar_tensor tensor = { .dtype = b->dtype,
                         .rank = b->rank,
                         .shape = b->shape,
                         .strides = strides,
                         .data = b->data ? b->data : ar_no_cells };

    ar_shape_count(&tensor.count, b->rank, b->shape);
    if (b->strides)
        ar_strides_take(strides, b->rank, b->shape, b->strides);
    else
        ar_strides_make(strides, b->dtype, b->rank, b->shape);
    return tensor;
}

static const ar_bound *find_bound(const arras_run *run, int input, int output)
{
    for (int i = 0; i < run->nbound; i++)
        if ((input >= 0 && run->bound[i].input == input) ||
            (output >= 0 && run->bound[i].output == output))
            return &run->bound[i];
    return NULL;
}

static void *take_once(void **place, int64_t bytes, arras_error *err)
{
    if (!*place)
        *place = ar_buffer_take(bytes);
    if (!*place)
        ar_fail_memory(err, (size_t)bytes);
    return *place;
}

/* A copy in C order of what kernels can't read, made before the first step. */
static arras_status align_input(arras_run *run, int a, const ar_tensor *given, arras_error *err)
{
    int64_t      dense[ARRAS_MAX_RANK];
    ar_copy_job *job = &run->entries[run->nentries];
    void        *copy = take_once(&run->aligned[a], ar_tensor_bytes(given), err);

    if (!copy)
        return ARRAS_ENOMEM;
    ar_strides_make(dense, given->dtype, given->rank, given->shape);
    run->updates += ar_instance_set(run, a, copy, dense);
    job->from = *given;
    job->from.strides = job->strides;
    memcpy(job->strides, given->strides, (size_t)given->rank * sizeof *job->strides);
    job->to = run->arrays[a];
    run->nentries++;
    return ARRAS_OK;
}

/* The kernels can read it where it is. */
static bool may_read(const arras_run *run, int input, const ar_tensor *given)
{
    return ar_tensor_is_aligned(given) && (!run->dense[input] || ar_tensor_is_dense(given));
}

static arras_status bind_inputs(arras_run *run, arras_error *err)
{
    const ar_plan *plan = &run->core->plan;
    arras_status   status = ARRAS_OK;

    for (int a = 0; a < plan->narrays && status == ARRAS_OK; a++) {
        const ar_bound *bound;
        int64_t         strides[ARRAS_MAX_RANK];
        ar_tensor       given;

        if (plan->arrays[a].at != AR_AT_INPUT)
            continue;
        bound = find_bound(run, plan->arrays[a].number, -1);
        given = bound_tensor(bound, strides);
        if (may_read(run, plan->arrays[a].number, &given))
            run->updates += ar_instance_set(run, a, given.data, strides);
        else
            status = align_input(run, a, &given, err);
    }
    return status;
}

/* ---- Outputs: where they are to go ----------------------------------------------------------- */

static int output_source(const arras_run *run, int output)
{
    const ar_plan *plan = &run->core->plan;

    for (int i = 0; i < plan->ncopies; i++)
        if (plan->copies[i].output == output)
            return plan->copies[i].array;
    for (int a = 0; a < plan->narrays; a++)
        if (plan->arrays[a].at == AR_AT_OUTPUT && plan->arrays[a].number == output)
            return a;
    return -1;
}

static arras_status add_result(arras_run *run, int output, const ar_tensor *like, arras_error *err)
{
    const char         *name = ar_graph_output(run->core->optimised, output)->name;
    const arras_buffer *made;
    arras_status        status =
        ar_results_add(&made, run->results, name, like->dtype, like->rank, like->shape, err);

    if (status == ARRAS_OK)
        run->outputs[output] = (ar_tensor){ like->dtype, like->rank, made->shape, made->strides,
                                            like->count, made->data, false };
    return status;
}

static arras_status bind_output(arras_run *run, int output, arras_error *err)
{
    const ar_bound  *bound = find_bound(run, -1, output);
    const ar_tensor *like = &run->arrays[output_source(run, output)];
    int64_t         *strides = run->output_strides + (ptrdiff_t)output * ARRAS_MAX_RANK;
    arras_buffer     buffer;

    if (!bound)
        return add_result(run, output, like, err);
    buffer = (arras_buffer){ bound->data, bound->dtype, bound->rank, bound->shape, bound->strides };
    return ar_output_check(&run->outputs[output], strides, bound->name, &buffer, like->dtype,
                           like->rank, like->shape, err);
}

arras_status ar_outputs_apart(const arras_graph *g, int n, const ar_tensor *outputs,
                              arras_error *err)
{
    for (int i = 0; i < n; i++)
        for (int k = 0; k < i; k++)
            if (ar_tensors_meet(&outputs[i], &outputs[k]))
                return ar_fail(err, ARRAS_EINVAL,
                               "outputs %s and %s share memory: each needs its own",
                               ar_graph_output(g, k)->name, ar_graph_output(g, i)->name);
    return ARRAS_OK;
}

static arras_status bind_outputs(arras_run *run, arras_error *err)
{
    int          n = ar_graph_output_count(run->core->optimised), bound = 0;
    arras_status status = ARRAS_OK;

    for (int i = 0; i < run->nbound; i++)
        bound += run->bound[i].output >= 0;
    if (bound < n)
        status = ar_results_new(&run->results, ar_graph_output_count(run->core->optimised), err);
    for (int i = 0; i < n && status == ARRAS_OK; i++)
        status = bind_output(run, i, err);
    if (status == ARRAS_OK)
        status = ar_outputs_apart(run->core->optimised, n, run->outputs, err);
    return status;
}

/* ---- Outputs: where they are computed -------------------------------------------------------- */

/* The step that writes the output reads of this input only the cell it writes, nobody else reads
 * the input, and nothing can go wrong that would need the input again. */
static bool may_write_over(const arras_run *run, int output_array, int input_array)
{
    const ar_core   *core = run->core;
    const ar_step   *step = &core->plan.steps[core->plan.arrays[output_array].step];
    const ar_tensor *x = &run->arrays[input_array];
    const ar_tensor *y = &run->outputs[core->plan.arrays[output_array].number];

    if (core->may_fault || core->copied[input_array] || step->form.n != 1 || x->data != y->data ||
        !ar_tensor_is_dense(x) || ar_dtype_size(x->dtype) != ar_dtype_size(y->dtype))
        return false;
    if (core->sole_reader[input_array] == -1)
        return true;
    if (core->sole_reader[input_array] != core->plan.arrays[output_array].step)
        return false;
    for (int k = 0; k < step->ninputs; k++)
        if (step->inputs[k] == input_array && !step->same_cell[k])
            return false;
    return true;
}

/* The memory of an input as the caller gave it; a copy that is aligned is out of harm's way. */
static bool is_callers(const arras_run *run, int a)
{
    return run->core->plan.arrays[a].at == AR_AT_INPUT && run->arrays[a].data != run->aligned[a];
}

static bool needs_detour(const arras_run *run, int output, int array)
{
    const ar_tensor *to = &run->outputs[output];

    if (!ar_tensor_is_dense(to) || !ar_tensor_is_aligned(to))
        return true;
    for (int a = 0; a < run->core->plan.narrays; a++)
        if (is_callers(run, a) && ar_tensors_meet(&run->arrays[a], to) &&
            !may_write_over(run, array, a))
            return true;
    return false;
}

static void add_job(arras_run *run, const ar_tensor *to, const ar_tensor *from)
{
    run->jobs[run->njobs].to = *to;
    run->jobs[run->njobs++].from = *from;
}

static arras_status place_output(arras_run *run, int array, arras_error *err)
{
    int   output = run->core->plan.arrays[array].number;
    void *detour;

    if (!needs_detour(run, output, array)) {
        run->updates += ar_instance_set(run, array, run->outputs[output].data, NULL);
        return ARRAS_OK;
    }
    detour = take_once(&run->detours[output], ar_tensor_bytes(&run->arrays[array]), err);
    if (!detour)
        return ARRAS_ENOMEM;
    run->updates += ar_instance_set(run, array, detour, NULL);
    add_job(run, &run->outputs[output], &run->arrays[array]);
    return ARRAS_OK;
}

/* What a copy is made of may be written over by another output: then it is set aside first. */
static arras_status place_copy(arras_run *run, const ar_plan_copy *copy, arras_error *err)
{
    ar_tensor from = run->arrays[copy->array];
    bool      in_danger = false;
    int       n = ar_graph_output_count(run->core->optimised);

    for (int i = 0; i < n && is_callers(run, copy->array); i++)
        in_danger = in_danger || ar_tensors_meet(&run->outputs[i], &from);
    if (in_danger) {
        void        *aside = take_once(&run->detours[copy->output], ar_tensor_bytes(&from), err);
        ar_copy_job *entry = &run->entries[run->nentries];

        if (!aside)
            return ARRAS_ENOMEM;
        run->nentries++;
        ar_strides_make(entry->strides, from.dtype, from.rank, from.shape);
        entry->from = entry->to = from;
        entry->to.data = aside;
        entry->to.strides = entry->strides;
        from = entry->to;
    }
    add_job(run, &run->outputs[copy->output], &from);
    return ARRAS_OK;
}

arras_status ar_run_bind_memory(arras_run *run, arras_error *err)
{
    const ar_plan *plan = &run->core->plan;
    arras_status   status;

    run->njobs = run->nentries = 0;
    status = bind_inputs(run, err);
    if (status == ARRAS_OK)
        status = bind_outputs(run, err);
    for (int a = 0; a < plan->narrays && status == ARRAS_OK; a++)
        if (plan->arrays[a].at == AR_AT_OUTPUT)
            status = place_output(run, a, err);
    for (int i = 0; i < plan->ncopies && status == ARRAS_OK; i++)
        status = place_copy(run, &plan->copies[i], err);
    if (status == ARRAS_OK)
        status = ar_taskgraph_resize(run->tasks, run->finish, run->njobs, err);
    if (status != ARRAS_OK) {
        ar_results_free(run->results);
        run->results = NULL;
    }
    return status;
}
