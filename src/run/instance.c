/* instance.c -- a core with every size known: shapes, memory and tasks. */
#include "run/program.h"

#include <stdio.h>
#include <string.h>

static void *take(arras_run *run, size_t count, size_t size, arras_error *err)
{
    void *memory = ar_arena_alloc(&run->arena, count, size);

    if (!memory)
        ar_fail_memory(err, count * size);
    return memory;
}

/* ---- Arrays ---------------------------------------------------------------------------------- */

static arras_status shape_array(arras_run *run, int number, arras_error *err)
{
    const ar_plan_array *array = &run->core->plan.arrays[number];
    arras_array          node = array->node;
    int64_t             *shape = take(run, 2 * (size_t)node->rank, sizeof *shape, err);
    ar_tensor           *tensor = &run->arrays[number];
    arras_status         status = shape ? ARRAS_OK : ARRAS_ENOMEM;
    ar_text              text = { 0 };

    for (int axis = 0; axis < node->rank && status == ARRAS_OK; axis++)
        status = ar_dim_number(&shape[axis], node, node->shape[axis], run->sizes, err);
    if (status != ARRAS_OK)
        return status;
    *tensor = (ar_tensor){ .dtype = node->type.dtype,
                           .rank = node->rank,
                           .shape = shape,
                           .strides = shape + node->rank,
                           .data = ar_no_cells };
    if (!ar_shape_count(&tensor->count, node->rank, shape)) {
        status = ar_fail(err, ARRAS_ELIMIT, "%s has too many cells", ar_describe(&text, node));
        ar_text_free(&text);
    }
    ar_strides_make(shape + node->rank, node->type.dtype, node->rank, shape);
    return status;
}

/* What is the same in all launches. */
static void fill_array(arras_run *run, int number)
{
    const ar_plan_array *array = &run->core->plan.arrays[number];

    if (run->constants[number])
        ar_instance_set(run, number, run->constants[number], NULL);
    else if (array->at == AR_AT_DATA)
        ar_instance_set(run, number, (char *)(uintptr_t)run->program->data[array->number],
                        array->node->ints);
}

/* Kernels for arrays in C order count on its strides, also along axes of one cell. */
static bool set_strides(ar_tensor *tensor, const int64_t *strides)
{
    ar_tensor as_given = *tensor;
    int64_t   wanted[ARRAS_MAX_RANK];
    size_t    bytes = (size_t)tensor->rank * sizeof *strides;

    as_given.strides = strides;
    if (ar_tensor_is_dense(&as_given))
        ar_strides_make(wanted, tensor->dtype, tensor->rank, tensor->shape);
    else
        memcpy(wanted, strides, bytes);
    if (bytes == 0 || memcmp(tensor->strides, wanted, bytes) == 0)
        return false;
    memcpy((int64_t *)(uintptr_t)tensor->strides, wanted, bytes);
    return true;
}

bool ar_instance_set(arras_run *run, int array, char *data, const int64_t *strides)
{
    ar_tensor *tensor = &run->arrays[array];
    bool       changed = strides && set_strides(tensor, strides);

    changed = tensor->data != data || changed;
    tensor->data = data;
    for (int i = run->first_place[array]; changed && i < run->first_place[array + 1]; i++)
        run->operands[run->places[i]] = data;
    return changed;
}

/* ---- Operands of steps ----------------------------------------------------------------------- */

static int operand_array(const ar_step *step, int k)
{
    return k < step->form.n ? step->results[k] : step->inputs[k - step->form.n];
}

static int operand_count(const ar_step *step) { return step->form.n + step->ninputs; }

/* Counting sort of the operands by array. */
static arras_status list_places(arras_run *run, arras_error *err)
{
    const ar_plan *plan = &run->core->plan;
    int            at = 0;

    run->places = take(run, (size_t)run->noperands, sizeof *run->places, err);
    run->first_place = take(run, (size_t)plan->narrays + 2, sizeof *run->first_place, err);
    if (!run->places || !run->first_place)
        return ARRAS_ENOMEM;
    for (int s = 0; s < plan->nsteps; s++)
        for (int k = 0; k < operand_count(&plan->steps[s]); k++)
            run->first_place[operand_array(&plan->steps[s], k) + 2]++;
    for (int a = 0; a < plan->narrays; a++)
        run->first_place[a + 2] += run->first_place[a + 1];
    for (int s = 0; s < plan->nsteps; s++)
        for (int k = 0; k < operand_count(&plan->steps[s]); k++)
            run->places[run->first_place[operand_array(&plan->steps[s], k) + 1]++] = at++;
    return ARRAS_OK;
}

/* ---- Steps ----------------------------------------------------------------------------------- */

/* Results that fill much of the last cache push out everything else, only to leave it before they
 * are read. */
static bool should_stream(const arras_run *run, const ar_step *step)
{
    int64_t bytes = 0;

    for (int k = 0; k < step->form.n; k++)
        bytes += ar_tensor_bytes(&run->arrays[step->results[k]]);
    return bytes > run->core->plan.machine->cache[3] / 2;
}

/* Whether what it reads is more than a core's own cache holds. */
static bool reads_far(const arras_run *run, const ar_step *step)
{
    for (int k = 0; k < step->ninputs; k++)
        if (ar_tensor_bytes(&run->arrays[step->inputs[k]]) > run->core->plan.machine->cache[2])
            return true;
    return false;
}

static ar_kernel_args args_of(const ar_step_run *s)
{
    const ar_operands *o = &s->alone.operands;

    return (ar_kernel_args){ .data = o->origins, .strides = o->strides, .shapes = o->shapes };
}

/* What is shared by boxes should stay in the last cache: where several steps share much, those that
 * come later go without. */
static void cut_multiplication(arras_run *run, ar_step_run *s, int threads)
{
    const ar_gemm *gemm = s->stage.step->gemm;
    ar_kernel_args args = args_of(s);
    int64_t        cache = run->core->plan.machine->cache[3];
    int64_t        bytes = ar_multiply_shared_bytes(s->stage.engine, gemm, &args, threads, cache);

    bytes = (bytes + AR_BLOCK_ALIGN - 1) / AR_BLOCK_ALIGN * AR_BLOCK_ALIGN;
    if (bytes <= cache - run->shared_bytes)
        s->shared_bytes = bytes;
    run->shared_bytes += s->shared_bytes;
    ar_multiply_tiling(&s->pass.tiling, s->stage.engine, gemm, &args, threads, s->shared_bytes > 0);
}

static void cut_step(arras_run *run, ar_step_run *s)
{
    const ar_step  *step = s->stage.step;
    ar_kernel_args  args = args_of(s);
    ar_tile_options options = { run->program->threads, run->program->tile_bytes,
                                run->program->tile_bytes > 0 };

    if (options.bytes == 0)
        options.bytes = run->core->plan.machine->cache[2] / 2;
    if (s->stage.engine != AR_ENGINE_KERNEL && !ar_engine_takes(s->stage.engine, step->gemm, &args))
        s->stage.engine = AR_ENGINE_KERNEL;
    if (s->stage.engine != AR_ENGINE_KERNEL)
        cut_multiplication(run, s, options.threads);
    else
        ar_tiling_make(&s->pass.tiling, step, s->stage.shapes[0], run->sizes, &options);
    s->stage.in_cells = step->nest.flat;
}

static void open_step(arras_run *run, int number, char **origins, const int64_t **lists)
{
    const ar_step *step = &run->core->plan.steps[number];
    ar_step_run   *s = &run->steps[number];
    int            n = operand_count(step);

    for (int k = 0; k < n; k++) {
        const ar_tensor *tensor = &run->arrays[operand_array(step, k)];

        origins[k] = tensor->data;
        lists[k] = tensor->shape;
        lists[n + k] = tensor->strides;
    }
    s->home = number;
    ar_step_stage_make(&s->stage, run->core, number, run->sizes, lists);
    s->stage.whole = true;
    s->alone = (ar_memory_stage){ .stage = &s->stage.stage, .rank = step->rank };
    s->alone.operands = (ar_operands){ .origins = origins,
                                       .shapes = lists,
                                       .strides = lists + n,
                                       .results_uncached = should_stream(run, step),
                                       .inputs_uncached = reads_far(run, step) };
    s->pass = (ar_memory_pass){ .nstages = 1, .stages = &s->alone };
    cut_step(run, s);
}

/* Steps share it: what a thread has is for the box it is in.  Without it products take longer. */
static void make_multiply_room(arras_run *run)
{
    int64_t bytes = 0;

    for (int i = 0; i < run->nsteps; i++) {
        const ar_step_run *s = &run->steps[i];
        ar_kernel_args     args = args_of(s);
        int64_t            lo[ARRAS_MAX_RANK], lengths[ARRAS_MAX_RANK];

        if (s->stage.engine == AR_ENGINE_KERNEL || s->pass.tiling.count == 0)
            continue;
        ar_tiling_box(lo, lengths, &s->pass.tiling, 0); /* no other is larger */
        bytes = ar_max64(bytes, ar_multiply_room(s->stage.engine, s->stage.step->gemm, &args,
                                                 lengths, s->shared_bytes > 0));
    }
    if (bytes == 0)
        return;
    bytes = (bytes + AR_BLOCK_ALIGN - 1) / AR_BLOCK_ALIGN * AR_BLOCK_ALIGN;
    run->room = ar_buffer_take(bytes * run->program->threads);
    for (int i = 0; i < run->nsteps; i++) {
        run->steps[i].stage.room = run->room;
        run->steps[i].stage.room_bytes = bytes;
    }
}

/* Boxes that should share, and can't, have no room to do without. */
static void share_memory(arras_run *run)
{
    int64_t at = 0;

    run->shared = run->shared_bytes > 0 ? ar_buffer_take(run->shared_bytes) : NULL;
    for (int i = 0; i < run->nsteps; i++) {
        ar_step_run   *s = &run->steps[i];
        ar_step_stage *stage = &s->stage;
        ar_kernel_args args = args_of(s);

        if (s->shared_bytes == 0)
            continue;
        stage->shared = run->shared ? ar_arena_alloc(&run->arena, 1, sizeof *stage->shared) : NULL;
        if (stage->shared)
            ar_multiply_share(stage->shared, stage->step->gemm, &args, run->program->threads,
                              run->shared + at);
        else
            stage->room = NULL;
        at += s->shared_bytes;
    }
}

/* Before boxes of a step run: what they shared last time is not what they share now. */
static void forget_shared(ar_step_run *s)
{
    if (s->stage.shared)
        ar_product_shared_turn(&s->stage.shared->strips);
}

void ar_instance_begin(arras_run *run)
{
    for (int i = 0; i < run->nsteps && run->shared; i++)
        forget_shared(&run->steps[i]);
}

static arras_status open_steps(arras_run *run, arras_error *err)
{
    const ar_plan  *plan = &run->core->plan;
    const int64_t **lists;
    int             at = 0;

    for (int s = 0; s < plan->nsteps; s++)
        run->noperands += operand_count(&plan->steps[s]);
    run->nsteps = plan->nsteps;
    run->steps = take(run, (size_t)plan->nsteps, sizeof *run->steps, err);
    run->operands = take(run, (size_t)run->noperands, sizeof *run->operands, err);
    lists = take(run, 2 * (size_t)run->noperands, sizeof *lists, err);
    if (!run->steps || !run->operands || !lists)
        return ARRAS_ENOMEM;
    for (int s = 0; s < plan->nsteps; s++) {
        open_step(run, s, run->operands + at, lists + 2 * (ptrdiff_t)at);
        at += operand_count(&plan->steps[s]);
    }
    return list_places(run, err);
}

arras_status ar_step_run_all(ar_step_run *step, ar_pool *pool, arras_error *err)
{
    ar_taskgraph *tasks = NULL;
    int           number;
    arras_status  status = ar_taskgraph_new(&tasks, err);

    forget_shared(step);
    if (status == ARRAS_OK)
        status = ar_taskgraph_add(
            &number, tasks,
            (ar_task){ ar_memory_pass_run, &step->pass, step->pass.tiling.count, "constants" },
            err);
    if (status == ARRAS_OK)
        status = ar_taskgraph_instantiate(tasks, err);
    if (status == ARRAS_OK)
        status = ar_taskgraph_run(tasks, pool, err);
    ar_taskgraph_free(tasks);
    return status;
}

/* ---- Tasks ----------------------------------------------------------------------------------- */

static arras_status copy_jobs(void *context, int64_t first, int64_t last, int thread,
                              arras_error *err)
{
    const arras_run *run = context;

    (void)thread, (void)err;
    for (int64_t i = first; i < last; i++)
        ar_cells_copy(&run->jobs[i].to, &run->jobs[i].from);
    return ARRAS_OK;
}

static const char *step_name(arras_run *run, int number)
{
    const ar_step       *step = &run->core->plan.steps[number];
    const ar_plan_array *array = &run->core->plan.arrays[step->results[0]];
    char                *name;

    if (array->at == AR_AT_OUTPUT)
        return ar_graph_output(run->core->optimised, array->number)->name;
    name = ar_arena_alloc(&run->arena, 32, 1);
    if (name)
        snprintf(name, 32, "step %d", number);
    return name;
}

static arras_status add_tasks(arras_run *run, arras_error *err)
{
    arras_status status = ar_taskgraph_new(&run->tasks, err);
    int          number;

    for (int s = 0; s < run->nsteps && status == ARRAS_OK; s++) {
        ar_step_run *step = &run->steps[s];
        ar_task      task = { ar_memory_pass_run, &step->pass, step->pass.tiling.count,
                              step_name(run, s) };

        if (step->stage.step->constant || step->home != s)
            task.parts = 0;
        status = ar_taskgraph_add(&number, run->tasks, task, err);
    }
    if (status == ARRAS_OK)
        status = ar_taskgraph_add(&run->finish, run->tasks,
                                  (ar_task){ copy_jobs, run, 0, "copies" }, err);
    return status;
}

/* ---- All of it ------------------------------------------------------------------------------- */

static arras_status make_room(arras_run *run, const int64_t *sizes, arras_error *err)
{
    const arras_graph *g = run->core->optimised;
    size_t             nsizes = (size_t)ar_size_count(g), nout = (size_t)ar_graph_output_count(g);
    size_t             narrays = (size_t)run->core->plan.narrays;

    run->sizes = ar_arena_copy(&run->arena, sizes, nsizes, sizeof *sizes);
    run->arrays = take(run, narrays, sizeof *run->arrays, err);
    run->in_band = take(run, narrays, sizeof *run->in_band, err);
    run->outputs = take(run, nout, sizeof *run->outputs, err);
    run->output_strides = take(run, nout * ARRAS_MAX_RANK, sizeof *run->output_strides, err);
    run->detours = take(run, nout, sizeof *run->detours, err);
    run->jobs = take(run, nout, sizeof *run->jobs, err);
    run->aligned = take(run, narrays, sizeof *run->aligned, err);
    run->entries = take(run, narrays + nout, sizeof *run->entries, err);
    if (run->sizes && run->arrays && run->in_band && run->outputs && run->output_strides &&
        run->detours && run->jobs && run->aligned && run->entries)
        return ARRAS_OK;
    return ar_fail_memory(err, narrays * sizeof *run->arrays);
}

static arras_status open_instance(arras_run *run, const int64_t *sizes, arras_error *err)
{
    arras_status status = make_room(run, sizes, err);

    for (int a = 0; a < run->core->plan.narrays && status == ARRAS_OK; a++)
        status = shape_array(run, a, err);
    if (status == ARRAS_OK)
        status = open_steps(run, err);
    if (status == ARRAS_OK) {
        make_multiply_room(run);
        share_memory(run);
        status = ar_instance_bands(run, err);
    }
    if (status == ARRAS_OK)
        status = add_tasks(run, err);
    if (status == ARRAS_OK)
        status = ar_instance_place(run, err);
    if (status == ARRAS_OK)
        status = ar_taskgraph_instantiate(run->tasks, err);
    for (int a = 0; a < run->core->plan.narrays && status == ARRAS_OK; a++)
        fill_array(run, a);
    return status;
}

arras_status ar_instance_new(arras_run **out, arras_program *p, const ar_variant *v,
                             const int64_t *sizes, arras_error *err)
{
    arras_run   *run = ar_alloc(1, sizeof *run);
    arras_status status;

    if (!run)
        return ar_fail_memory(err, sizeof *run);
    run->program = p;
    run->core = v->core;
    run->dense = v->dense;
    run->constants = v->constants;
    status = open_instance(run, sizes, err);
    if (status == ARRAS_OK)
        *out = run;
    else
        ar_instance_free(run);
    return status;
}

void ar_instance_end(arras_run *run)
{
    if (run->tasks)
        ar_taskgraph_wait(run->tasks, NULL); /* refused unless started */
}

void ar_instance_free(arras_run *run)
{
    if (!run)
        return;
    ar_taskgraph_free(run->tasks);
    ar_instance_bands_free(run);
    ar_trace_free(run->trace);
    ar_results_free(run->results); /* of a launch that nobody waited for */
    ar_buffer_give(run->block);
    ar_buffer_give(run->room);
    ar_buffer_give(run->shared);
    for (int i = 0; run->detours && i < ar_graph_output_count(run->core->optimised); i++)
        ar_buffer_give(run->detours[i]);
    for (int a = 0; run->aligned && a < run->core->plan.narrays; a++)
        ar_buffer_give(run->aligned[a]);
    ar_arena_free(&run->names);
    ar_arena_free(&run->arena);
    ar_free(run);
}
