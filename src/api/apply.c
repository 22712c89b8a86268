/* apply.c -- flows of functions in C over arrays: the public face of native stages. */
#include "eval/eval.h"
#include "native/native.h"

#include <string.h>

typedef enum { BUILDING, RUNNING, OVER } flow_state;

struct arras_flow {
    ar_execution     exec;
    flow_state       state;
    size_t           array_room, native_room, stage_room;
    ar_native      **natives; /* as many as there are stages */
    int              threads;
    ar_build_options build;
    arras_results   *results; /* what goes to new memory */
    ar_arena         arena;   /* names */
};

const char *arras_cell_outside(const arras_cell *cell, int input, int n, const int64_t *offset)
{
    return ar_cell_outside(cell, input, n, offset);
}

void arras_cell_fail(const arras_cell *cell, const char *message) { ar_cell_fail(cell, message); }

/* ---- Flows ----------------------------------------------------------------------------------- */

static bool copy_name(const char **out, arras_flow *f, const char *name)
{
    if (name)
        *out = ar_arena_copy(&f->arena, name, strlen(name) + 1, 1);
    return !name || *out;
}

static bool take_options(arras_flow *f, const arras_options *options)
{
    f->threads = options->threads;
    f->exec.tile_bytes = options->tile_bytes;
    f->build.no_cache = options->no_cache;
    return copy_name(&f->build.compiler, f, options->compiler) &&
           copy_name(&f->build.cache, f, options->cache);
}

arras_status arras_flow_new(arras_flow **out, const arras_options *options, int64_t memory,
                            arras_error *err)
{
    arras_flow *f;

    if (!out || memory < 0)
        return ar_fail(err, ARRAS_EINVAL, "flow: out is NULL, or %" PRId64 " bytes of memory",
                       memory);
    f = ar_alloc(1, sizeof *f);
    if (!f || (options && !take_options(f, options))) {
        arras_flow_free(f);
        return ar_fail_memory(err, sizeof *f);
    }
    f->exec.memory = memory > 0 ? memory : ar_memory_fair();
    *out = f;
    return ARRAS_OK;
}

void arras_flow_free(arras_flow *f)
{
    if (!f)
        return;
    ar_execution_close(&f->exec);
    for (int i = 0; i < f->exec.nstages; i++)
        ar_native_free(f->natives[i]);
    ar_pool_free(f->exec.pool);
    ar_results_free(f->results);
    ar_free(f->exec.arrays);
    ar_free(f->exec.stages);
    ar_free(f->natives);
    ar_arena_free(&f->arena);
    ar_free(f);
}

static arras_status check_building(const arras_flow *f, arras_error *err)
{
    if (!f)
        return ar_fail(err, ARRAS_EINVAL, "flow: it is NULL");
    return f->state == BUILDING
               ? ARRAS_OK
               : ar_fail(err, ARRAS_EINVAL, "flow: it was started, and nothing can be added");
}

/* ---- Arrays ---------------------------------------------------------------------------------- */

static arras_status add_array(int *out, arras_flow *f, ar_exec_array array, arras_error *err)
{
    size_t n = (size_t)f->exec.narrays;

    if (!copy_name(&array.name, f, array.name) ||
        !ar_grow(&f->exec.arrays, &f->array_room, n, sizeof array))
        return ar_fail_memory(err, (n + 1) * sizeof array);
    f->exec.arrays[n] = array;
    *out = f->exec.narrays++;
    return ARRAS_OK;
}

static arras_status check_name(const char *name, arras_error *err)
{
    return name && *name ? ARRAS_OK : ar_fail(err, ARRAS_ENAME, "flow: an array needs a name");
}

/* Bytes from the first to behind the last; 0: it has no cells. */
static arras_status check_buffer(int64_t *bytes, const arras_buffer *b, const char *name,
                                 arras_error *err)
{
    bool dtype = b && b->dtype > ARRAS_NO_DTYPE && b->dtype < ARRAS_DTYPE_END;

    if (!dtype || b->rank < 0 || b->rank > ARRAS_MAX_RANK || (b->rank > 0 && !b->shape))
        return ar_fail(err, ARRAS_EINVAL, "flow: %s has no type, or no shape of 0 to %d axes", name,
                       ARRAS_MAX_RANK);
    *bytes = (int64_t)ar_dtype_size(b->dtype);
    for (int axis = 0; axis < b->rank; axis++)
        if (b->shape[axis] < 0 || !ar_mul64(bytes, *bytes, b->shape[axis]))
            return ar_fail(err, ARRAS_ESHAPE, "flow: axis %d of %s has %" PRId64 " cells", axis,
                           name, b->shape[axis]);
    return *bytes == 0 || b->data ? ARRAS_OK
                                  : ar_fail(err, ARRAS_EINVAL, "flow: %s has no data", name);
}

static bool is_aligned(const arras_buffer *b)
{
    size_t size = ar_dtype_size(b->dtype), align = size < 8 ? size : 8;
    bool   aligned = (uintptr_t)b->data % align == 0;

    for (int axis = 0; axis < b->rank && b->strides; axis++)
        aligned = aligned && b->strides[axis] % (int64_t)align == 0;
    return aligned;
}

/* Stages want cells side by side along the last axis. */
static bool is_usable(const arras_buffer *b)
{
    return is_aligned(b) && (b->rank == 0 || !b->strides ||
                             b->strides[b->rank - 1] == (int64_t)ar_dtype_size(b->dtype));
}

static arras_status copy_cells(ar_exec_array *a, const arras_buffer *b, int64_t bytes,
                               arras_error *err)
{
    ar_box  box = { .rank = a->rank };
    int64_t strides[ARRAS_MAX_RANK];

    ar_strides_dense(strides, a->rank, a->shape, ar_dtype_size(a->dtype));
    a->whole = ar_alloc((size_t)ar_max64(bytes, 1), 1);
    if (!a->whole)
        return ar_fail_memory(err, (size_t)bytes);
    a->owned = true;
    memcpy(box.hi, a->shape, sizeof box.hi);
    if (bytes > 0)
        ar_box_copy(&box, ar_dtype_size(a->dtype), a->whole, strides, b->data,
                    b->strides ? b->strides : strides);
    memcpy(a->strides, strides, sizeof strides);
    return ARRAS_OK;
}

static arras_status use_cells(ar_exec_array *a, const arras_buffer *b, int64_t bytes,
                              arras_error *err)
{
    if (bytes == 0 || !is_usable(b))
        return copy_cells(a, b, bytes, err);
    a->whole = b->data;
    if (b->strides && b->rank > 0)
        memcpy(a->strides, b->strides, (size_t)b->rank * sizeof *b->strides);
    else
        ar_strides_dense(a->strides, a->rank, a->shape, ar_dtype_size(a->dtype));
    return ARRAS_OK;
}

arras_status arras_flow_input(int *out, arras_flow *f, const char *name, const arras_buffer *cells,
                              arras_error *err)
{
    ar_exec_array a = { .name = name, .stage = -1 };
    int64_t       bytes;
    arras_status  status = check_building(f, err);

    if (status == ARRAS_OK)
        status = out ? check_name(name, err) : ar_fail(err, ARRAS_EINVAL, "flow: out is NULL");
    if (status == ARRAS_OK)
        status = check_buffer(&bytes, cells, name, err);
    if (status != ARRAS_OK)
        return status;
    a.dtype = cells->dtype;
    a.rank = cells->rank;
    if (cells->rank > 0)
        memcpy(a.shape, cells->shape, (size_t)cells->rank * sizeof *cells->shape);
    status = use_cells(&a, cells, bytes, err);
    if (status == ARRAS_OK)
        status = add_array(out, f, a, err);
    if (status != ARRAS_OK && a.owned)
        ar_free(a.whole);
    return status;
}

arras_status arras_flow_source(int *out, arras_flow *f, const char *name, arras_source *source,
                               arras_error *err)
{
    ar_exec_array a = { .name = name, .stage = -1, .source = source };
    arras_status  status = check_building(f, err);

    if (status == ARRAS_OK)
        status = out && source ? check_name(name, err)
                               : ar_fail(err, ARRAS_EINVAL, "flow: the source or out is NULL");
    if (status != ARRAS_OK)
        return status;
    if (source->info.dtype == ARRAS_NO_DTYPE)
        return ar_fail(err, ARRAS_EDTYPE, "flow: the cells of %s are not numbers", source->name);
    a.dtype = source->info.dtype;
    a.rank = source->info.rank;
    memcpy(a.shape, source->info.shape, sizeof a.shape);
    return add_array(out, f, a, err);
}

/* ---- Functions ------------------------------------------------------------------------------- */

static arras_status check_bytes(const ar_exec_array *a, arras_error *err)
{
    int64_t      bytes;
    static char  no_cells;
    arras_buffer b = { &no_cells, a->dtype, a->rank, a->shape, NULL };

    return check_buffer(&bytes, &b, a->name, err);
}

/* Room for a stage and for its outputs, so that adding them cannot fail. */
static bool make_room(arras_flow *f, int noutputs)
{
    size_t n = (size_t)f->exec.nstages, last = (size_t)(f->exec.narrays + noutputs - 1);

    return ar_grow(&f->natives, &f->native_room, n, sizeof *f->natives) &&
           ar_grow(&f->exec.stages, &f->stage_room, n, sizeof *f->exec.stages) &&
           ar_grow(&f->exec.arrays, &f->array_room, last, sizeof *f->exec.arrays);
}

static arras_status add_stage(int *outputs, arras_flow *f, ar_native *native, int noutputs,
                              arras_error *err)
{
    arras_status status = ARRAS_OK;

    for (int m = 0; m < noutputs && status == ARRAS_OK; m++) {
        ar_exec_array a = ar_native_output(native, m);

        status = check_bytes(&a, err);
    }
    if (status == ARRAS_OK && !make_room(f, noutputs))
        status = ar_fail_memory(err, sizeof(ar_exec_array));
    if (status != ARRAS_OK)
        return status;
    for (int m = 0; m < noutputs; m++) {
        outputs[m] = f->exec.narrays++;
        f->exec.arrays[outputs[m]] = ar_native_output(native, m);
        f->exec.arrays[outputs[m]].stage = f->exec.nstages;
    }
    f->natives[f->exec.nstages] = native;
    f->exec.stages[f->exec.nstages++] = ar_native_stage(native);
    return ARRAS_OK;
}

arras_status arras_flow_apply(int *outputs, arras_flow *f, const arras_apply_spec *spec,
                              arras_error *err)
{
    ar_native   *native = NULL;
    arras_status status = check_building(f, err);

    if (status != ARRAS_OK)
        return status;
    if (!outputs || !spec)
        return ar_fail(err, ARRAS_EINVAL, "apply: the spec or the place for outputs is NULL");
    status = ar_native_new(&native, spec, f->exec.narrays, f->exec.arrays, f->exec.narrays,
                           &f->build, err);
    if (status == ARRAS_OK)
        status = add_stage(outputs, f, native, spec->noutputs, err);
    if (status != ARRAS_OK)
        ar_native_free(native);
    return status;
}

arras_status arras_flow_describe(arras_buffer *out, const arras_flow *f, int array,
                                 arras_error *err)
{
    const ar_exec_array *a;

    if (!out || !f || array < 0 || array >= f->exec.narrays)
        return ar_fail(err, ARRAS_EINVAL, "flow: there is no array %d, or nowhere to describe it",
                       array);
    a = &f->exec.arrays[array];
    *out = (arras_buffer){ NULL, a->dtype, a->rank, a->shape, NULL };
    return ARRAS_OK;
}

/* ---- Results --------------------------------------------------------------------------------- */

static arras_status find_computed(ar_exec_array **out, arras_flow *f, int array, arras_error *err)
{
    arras_status status = check_building(f, err);

    if (status != ARRAS_OK)
        return status;
    if (array < 0 || array >= f->exec.narrays)
        return ar_fail(err, ARRAS_EINVAL, "flow: there is no array %d", array);
    *out = &f->exec.arrays[array];
    return (*out)->stage >= 0 ? ARRAS_OK
                              : ar_fail(err, ARRAS_EINVAL,
                                        "flow: %s is an input, and only what is computed can go "
                                        "elsewhere",
                                        (*out)->name);
}

static bool same_shape(const ar_exec_array *a, arras_dtype dtype, int rank, const int64_t *shape)
{
    return a->dtype == dtype && a->rank == rank &&
           (rank == 0 || memcmp(a->shape, shape, (size_t)rank * sizeof *shape) == 0);
}

static bool is_dense(const arras_buffer *b)
{
    int64_t strides[ARRAS_MAX_RANK];

    ar_strides_dense(strides, b->rank, b->shape, ar_dtype_size(b->dtype));
    return !b->strides || b->rank == 0 ||
           memcmp(strides, b->strides, (size_t)b->rank * sizeof *strides) == 0;
}

/* The bytes from the lowest cell of an array to behind the highest. */
static void extent(uintptr_t *lo, uintptr_t *hi, const ar_exec_array *a)
{
    *lo = (uintptr_t)a->whole;
    *hi = *lo + ar_dtype_size(a->dtype);
    for (int axis = 0; axis < a->rank; axis++) {
        uintptr_t way = (uintptr_t)((a->shape[axis] - 1) * a->strides[axis]);

        *(a->strides[axis] < 0 ? lo : hi) += way;
    }
}

static arras_status check_overlap(const arras_flow *f, const ar_exec_array *to, arras_error *err)
{
    uintptr_t lo, hi, other_lo, other_hi;

    extent(&lo, &hi, to);
    for (int i = 0; i < f->exec.narrays; i++) {
        const ar_exec_array *a = &f->exec.arrays[i];

        if (a == to || !a->whole || a->owned)
            continue;
        extent(&other_lo, &other_hi, a);
        if (lo < other_hi && other_lo < hi)
            return ar_fail(err, ARRAS_EINVAL,
                           "flow: the memory of %s is that of %s too: give it memory of its own",
                           to->name, a->name);
    }
    return ARRAS_OK;
}

static arras_status bind_memory(const arras_flow *f, ar_exec_array *a, const arras_buffer *to,
                                arras_error *err)
{
    int64_t      bytes;
    arras_status status = check_buffer(&bytes, to, a->name, err);

    if (status != ARRAS_OK)
        return status;
    if (!same_shape(a, to->dtype, to->rank, to->shape))
        return ar_fail(err, ARRAS_ESHAPE, "flow: %s is of another type or shape than its memory",
                       a->name);
    if (!is_dense(to) || !is_aligned(to))
        return ar_fail(err, ARRAS_EINVAL, "flow: the memory of %s is not in C order and aligned",
                       a->name);
    if (bytes == 0)
        return ARRAS_OK;
    a->whole = to->data;
    ar_strides_dense(a->strides, a->rank, a->shape, ar_dtype_size(a->dtype));
    status = check_overlap(f, a, err);
    if (status != ARRAS_OK)
        a->whole = NULL;
    return status;
}

static arras_status check_new_name(const arras_flow *f, const ar_exec_array *a, arras_error *err)
{
    for (int i = 0; i < f->exec.narrays; i++)
        if (&f->exec.arrays[i] != a && f->exec.arrays[i].wanted &&
            strcmp(f->exec.arrays[i].name, a->name) == 0)
            return ar_fail(err, ARRAS_ENAME, "flow: two results are called %s: rename one",
                           a->name);
    return ARRAS_OK;
}

arras_status arras_flow_result(arras_flow *f, int array, const arras_buffer *to, arras_error *err)
{
    ar_exec_array *a = NULL;
    arras_status   status = find_computed(&a, f, array, err);

    if (status != ARRAS_OK)
        return status;
    if (a->wanted)
        return ar_fail(err, ARRAS_EINVAL, "flow: %s has a place already", a->name);
    status = check_new_name(f, a, err);
    if (status == ARRAS_OK && to)
        status = bind_memory(f, a, to, err);
    a->wanted = status == ARRAS_OK;
    return status;
}

arras_status arras_flow_sink(arras_flow *f, int array, arras_sink *sink, arras_error *err)
{
    ar_exec_array *a = NULL;
    arras_status   status = find_computed(&a, f, array, err);

    if (status != ARRAS_OK)
        return status;
    if (!sink || a->wanted)
        return ar_fail(err, ARRAS_EINVAL, "flow: %s %s", a->name,
                       sink ? "has a place already" : "goes to a sink that is NULL");
    if (!same_shape(a, sink->info.dtype, sink->info.rank, sink->info.shape))
        return ar_fail(err, ARRAS_ESHAPE, "flow: %s is of another type or shape than %s", a->name,
                       sink->name);
    a->sink = sink;
    a->wanted = true;
    return ARRAS_OK;
}

/* ---- Running --------------------------------------------------------------------------------- */

static arras_status make_results(arras_flow *f, arras_error *err)
{
    arras_status status = ar_results_new(&f->results, f->exec.narrays, err);

    for (int i = 0; i < f->exec.narrays && status == ARRAS_OK; i++) {
        ar_exec_array      *a = &f->exec.arrays[i];
        const arras_buffer *made;

        if (!a->wanted || a->sink || a->whole)
            continue;
        status = ar_results_add(&made, f->results, a->name, a->dtype, a->rank, a->shape, err);
        if (status != ARRAS_OK)
            break;
        a->whole = made->data;
        ar_strides_dense(a->strides, a->rank, a->shape, ar_dtype_size(a->dtype));
    }
    return status;
}

static arras_status open_flow(arras_flow *f, arras_error *err)
{
    arras_status status = ar_pool_shared(&f->exec.pool, f->threads, err);

    for (int i = 0; i < f->exec.nstages && status == ARRAS_OK; i++)
        status = ar_native_prepare(f->natives[i], ar_pool_threads(f->exec.pool), err);
    if (status == ARRAS_OK)
        status = make_results(f, err);
    return status == ARRAS_OK ? ar_execution_open(&f->exec, err) : status;
}

static bool has_results(const arras_flow *f)
{
    for (int i = 0; i < f->exec.narrays; i++)
        if (f->exec.arrays[i].wanted)
            return true;
    return false;
}

arras_status arras_flow_start(arras_flow *f, arras_error *err)
{
    arras_status status = check_building(f, err);

    if (status != ARRAS_OK)
        return status;
    if (!has_results(f))
        return ar_fail(err, ARRAS_EINVAL, "flow: no result was asked for");
    f->state = OVER;
    status = open_flow(f, err);
    if (status == ARRAS_OK)
        status = ar_execution_start(&f->exec, err);
    if (status == ARRAS_OK)
        f->state = RUNNING;
    return status;
}

arras_status arras_flow_wait(arras_results **out, arras_flow *f, arras_error *err)
{
    arras_status status;

    if (!f || f->state != RUNNING)
        return ar_fail(err, ARRAS_EINVAL, "flow: there is none that runs");
    f->state = OVER;
    status = ar_execution_wait(&f->exec, err);
    if (status == ARRAS_OK && out) {
        *out = f->results;
        f->results = NULL;
    }
    return status;
}

arras_status arras_flow_run(arras_results **out, arras_flow *f, arras_error *err)
{
    arras_status status = arras_flow_start(f, err);

    return status == ARRAS_OK ? arras_flow_wait(out, f, err) : status;
}

void arras_flow_cancel(arras_flow *f)
{
    if (f && f->exec.tasks)
        ar_execution_cancel(&f->exec);
}

double arras_flow_progress(const arras_flow *f)
{
    return f && f->exec.tasks ? ar_execution_progress(&f->exec) : -1;
}

arras_status arras_flow_explain(char **out, const arras_flow *f, arras_error *err)
{
    ar_text text = { 0 };

    if (!out || !f || !f->exec.tasks)
        return ar_fail(err, ARRAS_EINVAL, "flow: none was started, or nowhere to explain it");
    ar_execution_explain(&text, &f->exec);
    if (text.failed) {
        ar_text_free(&text);
        return ar_fail_memory(err, 256);
    }
    *out = text.data;
    return ARRAS_OK;
}
