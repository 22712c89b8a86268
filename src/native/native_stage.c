/* native_stage.c -- a function in C as a stage: from its spec to tiles. */
#include "native/native_parts.h"

#include <string.h>

/* Patches are cut to about so many bytes, which caches like. */
enum { PATCH = 128 << 10 };

/* ---- Cells and their neighbours -------------------------------------------------------------- */

static ar_region native_need(const ar_stage *s, const ar_execution *exec, int input,
                             const int64_t *lo, const int64_t *hi)
{
    (void)exec;
    return ar_native_need(&((const ar_native *)s)->inputs[input], lo, hi);
}

/* Vectors are computed at once. */
static void native_widen(const ar_stage *s, const ar_execution *exec, int64_t *lo, int64_t *hi)
{
    const ar_native *n = (const ar_native *)s;

    (void)exec;
    if (n->length) {
        lo[n->rank] = 0;
        hi[n->rank] = n->length;
    }
}

/* ---- Boxes ----------------------------------------------------------------------------------- */

/* What one call of compute() works on. */
typedef struct {
    const ar_native   *n;
    ar_native_worker  *w;
    const ar_operands *operands; /* results, then inputs */
    arras_error       *err;
} work;

typedef struct {
    int64_t lo[ARRAS_MAX_RANK], hi[ARRAS_MAX_RANK];
} cells;

static void use_tile(const work *job, int k)
{
    int operand = job->n->stage.nresults + k;

    job->w->origins[k] = (uintptr_t)job->operands->origins[operand];
    memcpy(job->w->views[k].stride, job->operands->strides[operand],
           (size_t)job->n->inputs[k].rank * sizeof(int64_t));
}

static arras_status run_inside(const work *job, const cells *box)
{
    for (int k = 0; k < job->n->stage.ninputs; k++)
        use_tile(job, k);
    return ar_native_rows(job->n, job->w, job->operands, box->lo, box->hi, job->err);
}

static arras_status run_patched(const work *job, const cells *box)
{
    arras_status status = ARRAS_OK;

    for (int k = 0; k < job->n->stage.ninputs && status == ARRAS_OK; k++) {
        if (ar_native_leaves(&job->n->inputs[k], box->lo, box->hi))
            status = ar_native_patch(job->n, job->w, k, job->operands, box->lo, box->hi, job->err);
        else
            use_tile(job, k);
    }
    if (status != ARRAS_OK)
        return status;
    return ar_native_rows(job->n, job->w, job->operands, box->lo, box->hi, job->err);
}

/* Whether the patches of a box are small enough to be made at once. */
static bool is_small(const ar_native *n, const cells *box)
{
    int64_t bytes = 0;

    for (int k = 0; k < n->stage.ninputs; k++)
        if (ar_native_leaves(&n->inputs[k], box->lo, box->hi) &&
            !ar_add64(&bytes, bytes, ar_native_patch_bytes(&n->inputs[k], box->lo, box->hi)))
            return false;
    return bytes <= PATCH;
}

/* Cells near the ends of an axis: in halves along the first axis that has any, until their patches
 * are small.  As deep as the logarithm of their number. */
static arras_status run_border(const work *job, const cells *box)
{
    cells        first = *box, second = *box;
    int          axis = 0;
    arras_status status;

    while (axis < job->n->rank && box->hi[axis] - box->lo[axis] <= 1)
        axis++;
    if (axis == job->n->rank || is_small(job->n, box))
        return run_patched(job, box);
    first.hi[axis] = second.lo[axis] = box->lo[axis] + (box->hi[axis] - box->lo[axis]) / 2;
    status = run_border(job, &first);
    return status == ARRAS_OK ? run_border(job, &second) : status;
}

/* Those before and behind the ones that need no patch along an axis. */
static arras_status peel(const work *job, cells *box, int axis)
{
    const ar_native *n = job->n;
    cells            strip = *box;
    arras_status     status = ARRAS_OK;

    strip.hi[axis] = ar_min64(box->hi[axis], n->inner_lo[axis]);
    if (strip.lo[axis] < strip.hi[axis]) {
        status = run_border(job, &strip);
        box->lo[axis] = strip.hi[axis];
    }
    strip.lo[axis] = ar_max64(box->lo[axis], n->inner_hi[axis]);
    strip.hi[axis] = box->hi[axis];
    if (status == ARRAS_OK && strip.lo[axis] < strip.hi[axis]) {
        status = run_border(job, &strip);
        box->hi[axis] = strip.lo[axis];
    }
    return status;
}

static bool has_cells(const cells *box, int rank)
{
    for (int axis = 0; axis < rank; axis++)
        if (box->lo[axis] >= box->hi[axis])
            return false;
    return true;
}

static arras_status native_compute(const ar_stage *s, const ar_operands *operands,
                                   const int64_t *lo, const int64_t *hi, int thread,
                                   arras_error *err)
{
    const ar_native *n = (const ar_native *)s;
    const work       job = { n, &n->workers[thread], operands, err };
    cells            box;
    arras_status     status = ARRAS_OK;

    memcpy(box.lo, lo, (size_t)n->rank * sizeof *lo);
    memcpy(box.hi, hi, (size_t)n->rank * sizeof *hi);
    for (int axis = 0; axis < n->rank && status == ARRAS_OK && has_cells(&box, n->rank); axis++)
        status = peel(&job, &box, axis);
    if (status != ARRAS_OK || !has_cells(&box, n->rank))
        return status;
    return n->rank > 0 ? run_inside(&job, &box) : run_patched(&job, &box);
}

static const ar_stage_type native_type = { .need = native_need,
                                           .compute = native_compute,
                                           .widen = native_widen };

/* ---- From a spec ----------------------------------------------------------------------------- */

static arras_status check_spec(const arras_apply_spec *spec, arras_error *err)
{
    int forms = (spec->cell != NULL) + (spec->row != NULL) + (spec->text != NULL);

    if (forms != 1)
        return ar_fail(err, ARRAS_EINVAL, "apply: %s: give one of cell, row and text",
                       forms ? "more than one function" : "there is no function");
    if (spec->ninputs < 0 || spec->ninputs > AR_STAGE_INPUTS || (spec->ninputs && !spec->inputs))
        return ar_fail(err, ARRAS_EINVAL, "apply: %d inputs, or inputs is NULL; at most %d can be",
                       spec->ninputs, AR_STAGE_INPUTS);
    if (spec->noutputs < 1 || spec->noutputs > AR_STAGE_INPUTS || !spec->outputs)
        return ar_fail(err, ARRAS_EINVAL, "apply: %d outputs, or outputs is NULL; 1 to %d can be",
                       spec->noutputs, AR_STAGE_INPUTS);
    if (spec->rank < 0 || spec->rank > ARRAS_MAX_RANK || spec->length < 0)
        return ar_fail(err, ARRAS_EINVAL,
                       "apply: a result of rank %d of vectors of length %" PRId64, spec->rank,
                       spec->length);
    return ARRAS_OK;
}

static arras_status copy_output(ar_native *n, int m, const arras_apply_output *from,
                                arras_error *err)
{
    ar_native_output_type *out = &n->outputs[m];
    ar_text                name = { 0 };

    if (from->dtype <= ARRAS_NO_DTYPE || from->dtype >= ARRAS_DTYPE_END)
        return ar_fail(err, ARRAS_EDTYPE, "apply: output %d has no type", m);
    if (from->name)
        ar_text_add(&name, from->name);
    else
        ar_text_printf(&name, "out%d", m);
    if (!name.failed)
        out->name = ar_arena_copy(&n->arena, name.data ? name.data : "", name.length + 1, 1);
    ar_text_free(&name);
    if (!out->name)
        return ar_fail_memory(err, 16);
    out->dtype = from->dtype;
    out->size = ar_dtype_size(from->dtype);
    if (!ar_mul64(&out->cell_bytes, (int64_t)out->size, ar_max64(1, n->length)))
        return ar_fail(err, ARRAS_ESIZE, "apply: vectors of length %" PRId64, n->length);
    return ARRAS_OK;
}

static arras_status copy_mirror(ar_native *n, int i, const arras_mirror *from, arras_error *err)
{
    ar_native_mirror *to = &n->mirrors[i];

    if (!from->low || !from->high || !from->outputs)
        return ar_fail(err, ARRAS_EINVAL, "apply: mirror %d lacks low, high or outputs", i);
    to->outputs = ar_arena_alloc(&n->arena, (size_t)n->stage.nresults, sizeof *to->outputs);
    if (!to->outputs)
        return ar_fail_memory(err, sizeof *to->outputs);
    memcpy(to->low, from->low, n->inputs[0].size);
    memcpy(to->high, from->high, n->inputs[0].size);
    for (int m = 0; m < n->stage.nresults; m++) {
        if (!from->outputs[m])
            return ar_fail(err, ARRAS_EINVAL, "apply: mirror %d has no value for output %d", i, m);
        to->outputs[m] =
            ar_arena_copy(&n->arena, from->outputs[m], (size_t)n->outputs[m].cell_bytes, 1);
        if (!to->outputs[m])
            return ar_fail_memory(err, (size_t)n->outputs[m].cell_bytes);
    }
    return ARRAS_OK;
}

static arras_status copy_mirrors(ar_native *n, const arras_apply_spec *spec, arras_error *err)
{
    arras_status status = ARRAS_OK;

    if (spec->nmirrors == 0)
        return ARRAS_OK;
    if (spec->nmirrors < 0 || spec->nmirrors > UINT8_MAX || !spec->mirrors)
        return ar_fail(err, ARRAS_EINVAL,
                       "apply: %d mirrors, or mirrors is NULL; at most %d can be", spec->nmirrors,
                       UINT8_MAX);
    if (spec->ninputs == 0 || n->inputs[0].whole || !ar_native_can_mirror(n->inputs[0].dtype))
        return ar_fail(err, ARRAS_EDTYPE,
                       "apply: mirrors look at input 0, which has to be there, of real numbers, "
                       "and not whole");
    n->mirrors = ar_arena_alloc(&n->arena, (size_t)spec->nmirrors, sizeof *n->mirrors);
    if (!n->mirrors)
        return ar_fail_memory(err, sizeof *n->mirrors);
    n->nmirrors = spec->nmirrors;
    for (int i = 0; i < n->nmirrors && status == ARRAS_OK; i++)
        status = copy_mirror(n, i, &spec->mirrors[i], err);
    return status;
}

/* The numbers of its arrays in the execution. */
static arras_status make_stage(ar_native *n, const arras_apply_spec *spec, int first_result,
                               arras_error *err)
{
    size_t inputs = (size_t)spec->ninputs + 1, outputs = (size_t)spec->noutputs;
    int   *numbers = ar_arena_alloc(&n->arena, inputs + outputs, sizeof *numbers);

    n->inputs = ar_arena_alloc(&n->arena, inputs, sizeof *n->inputs);
    n->outputs = ar_arena_alloc(&n->arena, outputs, sizeof *n->outputs);
    if (!numbers || !n->inputs || !n->outputs)
        return ar_fail_memory(err, (inputs + outputs) * sizeof *n->inputs);
    for (int m = 0; m < spec->noutputs; m++)
        numbers[m] = first_result + m;
    for (int k = 0; k < spec->ninputs; k++)
        numbers[spec->noutputs + k] = spec->inputs[k].array;
    n->stage = (ar_stage){ &native_type, spec->noutputs, spec->ninputs, numbers,
                           numbers + spec->noutputs };
    return ARRAS_OK;
}

static arras_status find_reach(ar_native *n, const arras_apply_spec *spec,
                               const ar_build_options *build, arras_error *err)
{
    bool         probing = false;
    arras_status status = ARRAS_OK;

    for (int k = 0; k < spec->ninputs; k++)
        probing = probing || n->inputs[k].probed;
    if (probing && spec->text)
        status = ar_native_build(n, spec, true, build, err);
    if (probing && status == ARRAS_OK)
        status = ar_native_probe(n, err);
    if (spec->text && status == ARRAS_OK)
        status = ar_native_build(n, spec, false, build, err);
    return status;
}

static arras_status fill_in(ar_native *n, const arras_apply_spec *spec, int narrays,
                            const ar_exec_array *arrays, const ar_build_options *build,
                            arras_error *err)
{
    arras_status status = ar_native_copy_inputs(n, spec, narrays, arrays, err);

    n->length = spec->length;
    n->cell = spec->cell;
    n->row = spec->row;
    n->context = spec->context;
    n->scratch = spec->scratch;
    for (int m = 0; m < spec->noutputs && status == ARRAS_OK; m++)
        status = copy_output(n, m, &spec->outputs[m], err);
    if (status == ARRAS_OK)
        status = copy_mirrors(n, spec, err);
    if (status == ARRAS_OK)
        status = find_reach(n, spec, build, err);
    if (status == ARRAS_OK)
        status = ar_native_find_shape(n, spec, err);
    if (status == ARRAS_OK)
        ar_native_find_inner(n);
    return status;
}

arras_status ar_native_new(ar_native **out, const arras_apply_spec *spec, int narrays,
                           const ar_exec_array *arrays, int first_result,
                           const ar_build_options *build, arras_error *err)
{
    arras_status status = check_spec(spec, err);
    ar_native   *n;

    if (status != ARRAS_OK)
        return status;
    n = ar_alloc(1, sizeof *n);
    if (!n)
        return ar_fail_memory(err, sizeof *n);
    status = make_stage(n, spec, first_result, err);
    if (status == ARRAS_OK)
        status = fill_in(n, spec, narrays, arrays, build, err);
    if (status == ARRAS_OK)
        *out = n;
    else
        ar_native_free(n);
    return status;
}

void ar_native_free(ar_native *native)
{
    if (!native)
        return;
    for (int i = 0; i < native->nworkers; i++)
        ar_native_worker_free(&native->workers[i], native->stage.ninputs);
    ar_module_close(native->module);
    ar_arena_free(&native->arena);
    ar_free(native);
}

arras_status ar_native_prepare(ar_native *native, int threads, arras_error *err)
{
    arras_status status = ARRAS_OK;

    native->workers = ar_arena_alloc(&native->arena, (size_t)threads, sizeof *native->workers);
    if (!native->workers)
        return ar_fail_memory(err, (size_t)threads * sizeof *native->workers);
    for (; native->nworkers < threads && status == ARRAS_OK; native->nworkers++)
        status = ar_native_worker_make(&native->workers[native->nworkers], native, err);
    return status;
}

ar_stage *ar_native_stage(ar_native *native) { return &native->stage; }

ar_exec_array ar_native_output(const ar_native *native, int m)
{
    ar_exec_array a = { .name = native->outputs[m].name,
                        .dtype = native->outputs[m].dtype,
                        .rank = native->rank + (native->length > 0) };

    memcpy(a.shape, native->shape, (size_t)native->rank * sizeof *a.shape);
    if (native->length)
        a.shape[native->rank] = native->length;
    return a;
}
