/* file_launch.c -- a compiled program on arrays in files: its steps become the stages of an
 * execution.
 */
#include "run/step_stage.h"

#include <string.h>

/* ---- Steps ----------------------------------------------------------------------------------- */

static arras_status make_step(ar_file_launch *f, int number, arras_error *err)
{
    const ar_step  *step = &ar_core_plan(f->core)->steps[number];
    ar_step_stage  *s = ar_arena_alloc(&f->arena, 1, sizeof *s);
    size_t          n = (size_t)(step->form.n + step->ninputs);
    const int64_t **shapes = ar_arena_alloc(&f->arena, n, sizeof *shapes);

    if (!s || !shapes)
        return ar_fail_memory(err, sizeof *s);
    for (int k = 0; k < step->form.n; k++)
        shapes[k] = f->exec.arrays[step->results[k]].shape;
    for (int k = 0; k < step->ninputs; k++)
        shapes[step->form.n + k] = f->exec.arrays[step->inputs[k]].shape;
    f->exec.stages[number] = &s->stage;
    ar_step_stage_make(s, f->core, number, f->sizes, shapes);
    return ar_step_stage_look(s, &f->arena, err);
}

/* ---- An output that is another array too ----------------------------------------------------- */

typedef struct {
    ar_stage stage;
    int      rank, from, to;
    size_t   cell;
} copy_stage;

static ar_region copy_need(const ar_stage *s, const ar_execution *exec, int input,
                           const int64_t *lo, const int64_t *hi)
{
    (void)exec, (void)input;
    return ar_region_box(((const copy_stage *)s)->rank, lo, hi);
}

static arras_status copy_compute(const ar_stage *s, const ar_operands *operands, const int64_t *lo,
                                 const int64_t *hi, int thread, arras_error *err)
{
    const copy_stage *self = (const copy_stage *)s;
    ar_box            box = { .rank = self->rank };

    (void)thread, (void)err;
    memcpy(box.lo, lo, (size_t)self->rank * sizeof *lo);
    memcpy(box.hi, hi, (size_t)self->rank * sizeof *hi);
    ar_box_copy(&box, self->cell, operands->origins[0], operands->strides[0], operands->origins[1],
                operands->strides[1]);
    return ARRAS_OK;
}

static const ar_stage_type copy_type = { .need = copy_need, .compute = copy_compute };

static arras_status make_copy(ar_file_launch *f, int number, arras_error *err)
{
    const ar_plan       *plan = ar_core_plan(f->core);
    const ar_plan_copy  *copy = &plan->copies[number];
    const ar_exec_array *from = &f->exec.arrays[copy->array];
    copy_stage          *s = ar_arena_alloc(&f->arena, 1, sizeof *s);

    if (!s)
        return ar_fail_memory(err, sizeof *s);
    *s = (copy_stage){ .rank = from->rank,
                       .from = copy->array,
                       .to = plan->narrays + number,
                       .cell = ar_dtype_size(from->dtype) };
    s->stage = (ar_stage){ &copy_type, 1, 1, &s->to, &s->from };
    f->exec.stages[plan->nsteps + number] = &s->stage;
    return ARRAS_OK;
}

/* ---- Arrays ---------------------------------------------------------------------------------- */

static arras_status shape_array(ar_file_launch *f, ar_exec_array *a, arras_array node,
                                arras_error *err)
{
    arras_status status = ARRAS_OK;

    a->dtype = node->type.dtype;
    a->rank = node->rank;
    for (int axis = 0; axis < node->rank && status == ARRAS_OK; axis++)
        status =
            ar_dim_value(&a->shape[axis], ar_core_graph(f->core), node->shape[axis], f->sizes, err);
    return status;
}

static bool is_plain(const ar_exec_array *a, const void *data, const int64_t *strides)
{
    int64_t wanted[ARRAS_MAX_RANK];
    size_t  cell = ar_dtype_size(a->dtype), align = cell < 8 ? cell : 8;

    ar_strides_dense(wanted, a->rank, a->shape, cell);
    return (uintptr_t)data % align == 0 &&
           (!strides || memcmp(strides, wanted, (size_t)a->rank * sizeof *wanted) == 0);
}

/* Kernels take arrays in C order, aligned; others are copied. */
static arras_status set_memory(ar_exec_array *a, const void *data, const int64_t *strides,
                               arras_error *err)
{
    ar_box  box = { .rank = a->rank };
    int64_t bytes = (int64_t)ar_dtype_size(a->dtype);

    ar_strides_dense(a->strides, a->rank, a->shape, ar_dtype_size(a->dtype));
    a->whole = (char *)(uintptr_t)data;
    if (is_plain(a, data, strides))
        return ARRAS_OK;
    for (int axis = 0; axis < a->rank; axis++) {
        box.hi[axis] = a->shape[axis];
        bytes *= a->shape[axis];
    }
    a->whole = ar_alloc((size_t)ar_max64(bytes, 1), 1);
    if (!a->whole)
        return ar_fail_memory(err, (size_t)bytes);
    a->owned = true;
    ar_box_copy(&box, ar_dtype_size(a->dtype), a->whole, a->strides, data,
                strides ? strides : a->strides);
    return ARRAS_OK;
}

/* ---- What is bound --------------------------------------------------------------------------- */

typedef struct {
    int                    n, nfiles;
    const arras_binding   *inputs;
    const ar_file_binding *files;
} bindings;

static const ar_file_binding *find_file(const bindings *b, const char *name, bool sink)
{
    for (int i = 0; i < b->nfiles; i++)
        if ((b->files[i].sink != NULL) == sink && strcmp(b->files[i].name, name) == 0)
            return &b->files[i];
    return NULL;
}

static const arras_binding *find_memory(const bindings *b, const char *name)
{
    for (int i = 0; i < b->n; i++)
        if (strcmp(b->inputs[i].name, name) == 0)
            return &b->inputs[i];
    return NULL;
}

static arras_status set_input(ar_exec_array *a, const bindings *b, arras_error *err)
{
    const ar_file_binding *file = find_file(b, a->name, false);
    const arras_binding   *memory = find_memory(b, a->name);

    if (file) {
        a->source = file->source;
        return ARRAS_OK;
    }
    return set_memory(a, memory->buffer.data, memory->buffer.strides, err);
}

static arras_status check_sink(const ar_exec_array *a, const ar_sink *sink, arras_error *err)
{
    bool same = sink->info.dtype == a->dtype && sink->info.rank == a->rank &&
                memcmp(sink->info.shape, a->shape, (size_t)a->rank * sizeof *a->shape) == 0;

    return same ? ARRAS_OK
                : ar_fail(err, ARRAS_ESHAPE, "%s: output %s is another type or shape than the file",
                          sink->name, a->name);
}

static arras_status set_result(ar_file_launch *f, ar_exec_array *a, arras_error *err)
{
    const arras_buffer *made;
    arras_status        status =
        ar_results_add(&made, f->results, a->name, a->dtype, a->rank, a->shape, err);

    if (status == ARRAS_OK) {
        a->whole = made->data;
        ar_strides_dense(a->strides, a->rank, a->shape, ar_dtype_size(a->dtype));
    }
    return status;
}

static arras_status set_output(ar_file_launch *f, ar_exec_array *a, int number, const bindings *b,
                               arras_error *err)
{
    const ar_output       *output = ar_graph_output(ar_core_graph(f->core), number);
    const ar_file_binding *file = find_file(b, output->name, true);

    a->name = output->name;
    a->wanted = true;
    if (!file)
        return set_result(f, a, err);
    a->sink = file->sink;
    return check_sink(a, file->sink, err);
}

static arras_status make_array(ar_file_launch *f, int number, const bindings *b, arras_error *err)
{
    const ar_plan_array *from = &ar_core_plan(f->core)->arrays[number];
    ar_exec_array       *a = &f->exec.arrays[number];
    arras_status         status = shape_array(f, a, from->node, err);

    a->stage = from->step;
    if (status != ARRAS_OK)
        return status;
    switch (from->at) {
    case AR_AT_INPUT:
        a->name = ar_graph_input(ar_core_graph(f->core), from->number)->name;
        return set_input(a, b, err);
    case AR_AT_DATA:
        return set_memory(a, ar_program_data(f->program, from->number), from->node->ints, err);
    case AR_AT_OUTPUT: return set_output(f, a, from->number, b, err);
    default: return ARRAS_OK;
    }
}

static arras_status make_copied(ar_file_launch *f, int number, const bindings *b, arras_error *err)
{
    const ar_plan      *plan = ar_core_plan(f->core);
    const ar_plan_copy *copy = &plan->copies[number];
    ar_exec_array      *a = &f->exec.arrays[plan->narrays + number];
    arras_status        status = shape_array(f, a, plan->arrays[copy->array].node, err);

    a->stage = plan->nsteps + number;
    return status == ARRAS_OK ? set_output(f, a, copy->output, b, err) : status;
}

/* ---- Sizes ----------------------------------------------------------------------------------- */

/* Files are bound like memory; nobody looks at the cells. */
static arras_status solve(ar_file_launch *f, const bindings *b, arras_error *err)
{
    static char    no_cells[16];
    size_t         n = (size_t)(b->n + b->nfiles);
    arras_binding *all = ar_alloc(n, sizeof *all);
    int            count = 0;
    arras_status   status;

    if (!all)
        return ar_fail_memory(err, n * sizeof *all);
    for (int i = 0; i < b->n; i++)
        all[count++] = b->inputs[i];
    for (int i = 0; i < b->nfiles; i++) {
        const ar_source *s = b->files[i].source;

        if (s)
            all[count++] =
                (arras_binding){ b->files[i].name,
                                 { no_cells, s->info.dtype, s->info.rank, s->info.shape, NULL } };
    }
    status = ar_program_solve(f->sizes, f->program, count, all, err);
    ar_free(all);
    return status;
}

/* ---- All of it ------------------------------------------------------------------------------- */

static arras_status make_room(ar_file_launch *f, arras_error *err)
{
    const ar_plan *plan = ar_core_plan(f->core);
    size_t         arrays = (size_t)(plan->narrays + plan->ncopies);
    size_t         stages = (size_t)(plan->nsteps + plan->ncopies);

    f->exec.narrays = (int)arrays;
    f->exec.nstages = (int)stages;
    f->sizes =
        ar_arena_alloc(&f->arena, (size_t)ar_size_count(ar_core_graph(f->core)), sizeof *f->sizes);
    f->exec.arrays = ar_arena_alloc(&f->arena, arrays, sizeof *f->exec.arrays);
    f->exec.stages = ar_arena_alloc(&f->arena, stages, sizeof *f->exec.stages);
    if (!f->sizes || !f->exec.arrays || !f->exec.stages)
        return ar_fail_memory(err, arrays * sizeof *f->exec.arrays);
    return ar_results_new(&f->results, ar_graph_output_count(ar_core_graph(f->core)), err);
}

static arras_status make_parts(ar_file_launch *f, const bindings *b, arras_error *err)
{
    const ar_plan *plan = ar_core_plan(f->core);
    arras_status   status = ARRAS_OK;

    for (int a = 0; a < plan->narrays && status == ARRAS_OK; a++)
        status = make_array(f, a, b, err);
    for (int i = 0; i < plan->ncopies && status == ARRAS_OK; i++)
        status = make_copied(f, i, b, err);
    for (int s = 0; s < plan->nsteps && status == ARRAS_OK; s++)
        status = make_step(f, s, err);
    for (int i = 0; i < plan->ncopies && status == ARRAS_OK; i++)
        status = make_copy(f, i, err);
    return status;
}

arras_status ar_file_launch_open(ar_file_launch *out, arras_program *p, int n,
                                 const arras_binding *inputs, int nfiles,
                                 const ar_file_binding *files, int64_t memory, arras_error *err)
{
    const bindings b = { n, nfiles, inputs, files };
    arras_status   status;

    *out = (ar_file_launch){ .program = p, .core = ar_program_core(p) };
    if (!out->core)
        return ar_fail(err, ARRAS_EBUILD, "arrays in files need compiled kernels: %s",
                       ar_program_warning(p));
    out->exec.memory = memory;
    out->exec.pool = ar_program_pool(p);
    out->exec.tile_bytes = ar_program_tile_bytes(p);
    status = make_room(out, err);
    if (status == ARRAS_OK)
        status = solve(out, &b, err);
    if (status == ARRAS_OK)
        status = make_parts(out, &b, err);
    return status == ARRAS_OK ? ar_execution_open(&out->exec, err) : status;
}

void ar_file_launch_close(ar_file_launch *launch)
{
    ar_execution_close(&launch->exec);
    ar_results_free(launch->results);
    ar_arena_free(&launch->arena);
}
