/* step_stage.c -- the cells of one box of a step's results, on arrays that need not be whole. */
#include "run/program.h"

#include <string.h>

enum { MOST_OPERANDS = 512 };

static int operand_count(const ar_step *step) { return step->form.n + step->ninputs; }

static ar_engine choose_engine(const ar_core *core, const ar_step *step, const int64_t *sizes,
                               const int64_t *shape)
{
    const ar_gemm *gemm = step->gemm;
    int64_t        terms, cells;

    if (gemm && ar_shape_count(&cells, gemm->rank, shape) && cells > 0 &&
        ar_dim_value(&terms, core->optimised, gemm->terms, sizes, NULL) == ARRAS_OK)
        return ar_engine_choose(gemm, shape, terms);
    return AR_ENGINE_KERNEL;
}

/* ---- Boxes ----------------------------------------------------------------------------------- */

/* OpenBLAS gets the rows it gets when the array is whole, so that it gives the same bits. */
static void widen(const ar_stage *stage, const ar_execution *exec, int64_t *lo, int64_t *hi)
{
    const ar_step_stage *s = (const ar_step_stage *)stage;
    const int64_t       *shape = s->shapes[0];
    const ar_gemm       *gemm = s->step->gemm;

    (void)exec;
    if (s->step->nest.short_row > 0) {
        lo[s->step->rank - 1] = 0;
        hi[s->step->rank - 1] = shape[s->step->rank - 1];
    }
    if (s->engine != AR_ENGINE_BLAS)
        return;
    lo[gemm->row] = lo[gemm->row] / AR_GEMM_ROWS * AR_GEMM_ROWS;
    hi[gemm->row] = (hi[gemm->row] + AR_GEMM_ROWS - 1) / AR_GEMM_ROWS * AR_GEMM_ROWS;
    hi[gemm->row] = ar_min64(hi[gemm->row], shape[gemm->row]);
    lo[gemm->column] = 0;
    hi[gemm->column] = shape[gemm->column];
}

static bool wants_dense(const ar_stage *s, int input, int axis)
{
    return ((const ar_step_stage *)s)->step->nest.whole[input] >> axis & 1;
}

/* Whether a box of an input must have all of an axis. */
static bool wants_all(const ar_step_stage *s, int input, int axis)
{
    return axis > 0 && (s->engine == AR_ENGINE_BLAS || s->step->nest.whole[input] >> axis & 1);
}

static ar_region need(const ar_stage *stage, const ar_execution *exec, int input, const int64_t *lo,
                      const int64_t *hi)
{
    const ar_step_stage *s = (const ar_step_stage *)stage;
    const int64_t       *shape = s->shapes[stage->nresults + input];
    ar_region            region = ar_reads_need(&s->reads, input, lo, hi, shape);

    (void)exec;
    for (int axis = 0; axis < region.rank; axis++)
        if (wants_all(s, input, axis))
            region.axes[axis] = (ar_span){ 0, shape[axis], 0, 0 };
    return region;
}

/* ---- Flat kernels ---------------------------------------------------------------------------- */

static const ar_plan_array *array_of(const ar_step_stage *s, int k)
{
    const ar_step *step = s->step;

    return &s->core->plan
                .arrays[k < step->form.n ? step->results[k] : step->inputs[k - step->form.n]];
}

static bool is_scalar(const ar_step_stage *s, int k) { return array_of(s, k)->node->rank == 0; }

/* Axes from the last on, as long as all operands lie without gaps: the cells of one call. */
static int whole_axes(const ar_step_stage *s, const ar_operands *operands, const int64_t *lo,
                      const int64_t *hi)
{
    int     axis = s->step->rank;
    int64_t cells = 1;

    for (; axis > 0; axis--) {
        for (int k = 0; k < operand_count(s->step); k++)
            if (!is_scalar(s, k) && hi[axis - 1] - lo[axis - 1] > 1 &&
                operands->strides[k][axis - 1] !=
                    cells * (int64_t)ar_dtype_size(array_of(s, k)->node->type.dtype))
                return axis;
        cells *= hi[axis - 1] - lo[axis - 1];
    }
    return axis;
}

static bool next_index(int64_t *index, int axes, const int64_t *lo, const int64_t *hi)
{
    for (int axis = axes - 1; axis >= 0; axis--) {
        if (++index[axis] < hi[axis])
            return true;
        index[axis] = lo[axis];
    }
    return false;
}

/* A flat kernel counts cells, so each call gets cells that lie in one piece everywhere. */
static int run_flat(const ar_step_stage *s, ar_kernel *kernel, ar_kernel_args args,
                    const ar_operands *operands, const int64_t *lo, const int64_t *hi)
{
    char   *data[MOST_OPERANDS];
    int     outer = whole_axes(s, operands, lo, hi), failed = 0;
    int64_t index[ARRAS_MAX_RANK], first = 0, cells = 1;

    args.data = data;
    for (int axis = outer; axis < s->step->rank; axis++)
        cells *= hi[axis] - lo[axis];
    memcpy(index, lo, (size_t)s->step->rank * sizeof *index);
    do {
        for (int k = 0; k < operand_count(s->step); k++) {
            uintptr_t at = (uintptr_t)operands->origins[k];

            for (int axis = 0; !is_scalar(s, k) && axis < s->step->rank; axis++)
                at += (uintptr_t)(index[axis] * operands->strides[k][axis]);
            data[k] = (char *)at;
        }
        failed = kernel(&args, &first, &cells);
    } while (!failed && next_index(index, outer, lo, hi));
    return failed;
}

/* ---- Products -------------------------------------------------------------------------------- */

static void multiply(const ar_step_stage *s, const ar_kernel_args *args, const int64_t *lo,
                     const int64_t *hi, int thread)
{
    char   *own = s->room ? s->room + thread * s->room_bytes : NULL;
    int64_t lengths[ARRAS_MAX_RANK], bytes;
    void   *taken = NULL;

    if (s->whole) {
        ar_multiply(s->engine, s->step->gemm, args, lo, hi, own, s->shared);
        return;
    }
    for (int axis = 0; axis < s->step->rank; axis++)
        lengths[axis] = hi[axis] - lo[axis];
    bytes = ar_multiply_room(s->engine, s->step->gemm, args, lengths, false);
    if (bytes > 0)
        taken = ar_buffer_take(bytes);
    ar_multiply(s->engine, s->step->gemm, args, lo, hi, taken, NULL);
    ar_buffer_give(taken);
}

/* ---- All kinds ------------------------------------------------------------------------------- */

static ar_tensor tensor_of(arras_array node, const ar_operands *operands, int k)
{
    ar_tensor x = { .dtype = node->type.dtype,
                    .rank = node->rank,
                    .shape = operands->shapes[k],
                    .strides = operands->strides[k],
                    .data = operands->origins[k] };

    ar_shape_count(&x.count, node->rank, operands->shapes[k]);
    return x;
}

/* A kernel only knows that something is wrong; the arrays are still there to be asked what. */
static arras_status explain(const ar_step_stage *s, const ar_operands *operands, const int64_t *lo,
                            const int64_t *hi, arras_error *err)
{
    int               n = s->step->ninputs, results = s->step->form.n;
    ar_tensor        *tensors = ar_alloc((size_t)n, sizeof *tensors);
    const ar_tensor **in = ar_alloc((size_t)n, sizeof *in);
    arras_status      status = ARRAS_OK;

    for (int k = 0; tensors && in && k < n; k++) {
        tensors[k] = tensor_of(array_of(s, results + k)->node, operands, results + k);
        in[k] = &tensors[k];
    }
    for (int k = 0; tensors && in && k < results && status == ARRAS_OK; k++)
        status = ar_reference_fault(s->step->form.lambdas[k], in, s->sizes, lo, hi, err);
    ar_free(tensors);
    ar_free(in);
    return status != ARRAS_OK ? status
                              : ar_fail(err, ARRAS_EINDEX, "an index is outside its array");
}

static arras_status compute(const ar_stage *stage, const ar_operands *operands, const int64_t *lo,
                            const int64_t *hi, int thread, arras_error *err)
{
    const ar_step_stage *s = (const ar_step_stage *)stage;
    ar_kernel           *kernel = s->core->kernels[s->step->code];
    int                  failed = 0;
    ar_kernel_args       args = { operands->origins,
                                  operands->strides,
                                  operands->shapes,
                                  s->sizes,
                            operands->results_uncached ? ar_streaming() : NULL,
                                  ar_folds(),
                                  operands->inputs_uncached };

    if (s->engine != AR_ENGINE_KERNEL &&
        (s->whole || ar_engine_takes(s->engine, s->step->gemm, &args)))
        multiply(s, &args, lo, hi, thread);
    else if (s->step->nest.flat && !s->in_cells)
        failed = run_flat(s, kernel, args, operands, lo, hi);
    else
        failed = kernel(&args, lo, hi);
    if (!failed)
        return ARRAS_OK;
    return s->whole ? ar_fail(err, ARRAS_EINDEX, "an index is outside its array")
                    : explain(s, operands, lo, hi, err);
}

static const ar_stage_type step_type = {
    .need = need, .compute = compute, .widen = widen, .wants_dense = wants_dense
};

void ar_step_stage_make(ar_step_stage *out, const ar_core *core, int step, const int64_t *sizes,
                        const int64_t *const *shapes)
{
    const ar_step *s = &core->plan.steps[step];

    *out = (ar_step_stage){
        .stage = { s->scan ? &ar_scan_stage_type : &step_type, s->form.n, s->ninputs, s->results,
                   s->inputs },
        .core = core,
        .step = s,
        .sizes = sizes,
        .shapes = shapes,
        .engine = choose_engine(core, s, sizes, shapes[0]),
    };
}

arras_status ar_step_stage_look(ar_step_stage *s, ar_arena *arena, arras_error *err)
{
    if (s->step->scan)
        return ARRAS_OK;
    return ar_step_reads(&s->reads, s->step, s->sizes, arena, err);
}
