/* step_box.c -- the cells of one box of a step's results, on boxes of arrays. */
#include "run/program.h"

#include <string.h>

enum { MOST_OPERANDS = 512 };

static int operand_count(const ar_step *step) { return step->form.n + step->ninputs; }

ar_box_step ar_box_step_make(const ar_core *core, int step, const int64_t *sizes,
                             const int64_t *const *shapes)
{
    ar_box_step    s = { .core = core, .step = &core->plan.steps[step], .sizes = sizes };
    const ar_gemm *gemm = s.step->gemm;
    int64_t        terms, cells;

    if (gemm && ar_shape_count(&cells, gemm->rank, shapes[0]) && cells > 0 &&
        ar_dim_value(&terms, core->optimised, gemm->terms, sizes, NULL) == ARRAS_OK)
        s.by = ar_multiplier_choose(gemm, shapes[0], terms);
    return s;
}

/* OpenBLAS gets the rows it gets when the array is whole, so that it gives the same bits. */
void ar_box_step_widen(const ar_box_step *s, const int64_t *shape, int64_t *lo, int64_t *hi)
{
    const ar_gemm *gemm = s->step->gemm;

    if (s->step->nest.short_row > 0) {
        lo[s->step->rank - 1] = 0;
        hi[s->step->rank - 1] = shape[s->step->rank - 1];
    }
    if (s->by != AR_BY_BLAS)
        return;
    lo[gemm->row] = lo[gemm->row] / AR_GEMM_ROWS * AR_GEMM_ROWS;
    hi[gemm->row] = (hi[gemm->row] + AR_GEMM_ROWS - 1) / AR_GEMM_ROWS * AR_GEMM_ROWS;
    hi[gemm->row] = ar_min64(hi[gemm->row], shape[gemm->row]);
    lo[gemm->column] = 0;
    hi[gemm->column] = shape[gemm->column];
}

bool ar_box_step_wants_all(const ar_box_step *s, int input, int axis)
{
    return axis > 0 && (s->by == AR_BY_BLAS || s->step->nest.whole[input] >> axis & 1);
}

/* ---- Flat kernels ---------------------------------------------------------------------------- */

/* Axes from the last on, as long as all operands lie without gaps: the cells of one call. */
static int whole_axes(const ar_box_step *s, const ar_operand *operands, const int64_t *lo,
                      const int64_t *hi)
{
    int     axis = s->step->rank;
    int64_t cells = 1;

    for (; axis > 0; axis--) {
        for (int k = 0; k < operand_count(s->step); k++) {
            const ar_plan_array *a =
                &s->core->plan.arrays[k < s->step->form.n ? s->step->results[k]
                                                          : s->step->inputs[k - s->step->form.n]];

            if (a->node->rank > 0 && hi[axis - 1] - lo[axis - 1] > 1 &&
                operands[k].strides[axis - 1] !=
                    cells * (int64_t)ar_dtype_size(a->node->type.dtype))
                return axis;
        }
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
static int run_flat(const ar_box_step *s, ar_kernel *kernel, ar_kernel_args *args, char **data,
                    const ar_operand *operands, const int64_t *lo, const int64_t *hi)
{
    int     outer = whole_axes(s, operands, lo, hi), failed = 0;
    int64_t index[ARRAS_MAX_RANK], first = 0, cells = 1;

    for (int axis = outer; axis < s->step->rank; axis++)
        cells *= hi[axis] - lo[axis];
    memcpy(index, lo, (size_t)s->step->rank * sizeof *index);
    do {
        for (int k = 0; k < operand_count(s->step); k++) {
            uintptr_t at = (uintptr_t)operands[k].origin;

            for (int axis = 0; operands[k].strides && axis < s->step->rank; axis++)
                at += (uintptr_t)(index[axis] * operands[k].strides[axis]);
            data[k] = (char *)at;
        }
        failed = kernel(args, &first, &cells);
    } while (!failed && next_index(index, outer, lo, hi));
    return failed;
}

/* ---- Products -------------------------------------------------------------------------------- */

static void multiply(const ar_box_step *s, const ar_kernel_args *args, const int64_t *lo,
                     const int64_t *hi)
{
    int64_t lengths[ARRAS_MAX_RANK], bytes;
    void   *room = NULL;

    for (int axis = 0; axis < s->step->rank; axis++)
        lengths[axis] = hi[axis] - lo[axis];
    bytes = ar_multiply_room(s->by, s->step->gemm, args, lengths, false);
    if (bytes > 0)
        room = ar_buffer_take(bytes);
    ar_multiply(s->by, s->step->gemm, args, lo, hi, room, NULL);
    ar_buffer_give(room);
}

/* ---- All kinds ------------------------------------------------------------------------------- */

static bool is_scalar(const ar_box_step *s, int k)
{
    return s->core->plan
               .arrays[k < s->step->form.n ? s->step->results[k]
                                           : s->step->inputs[k - s->step->form.n]]
               .node->rank == 0;
}

static bool all_far(int n, const ar_operand *results)
{
    for (int k = 0; k < n; k++)
        if (!results[k].far)
            return false;
    return true;
}

static bool any_far(int n, const ar_operand *inputs)
{
    for (int k = 0; k < n; k++)
        if (inputs[k].far)
            return true;
    return false;
}

static ar_tensor tensor_of(arras_array node, const ar_operand *o)
{
    ar_tensor x = { .dtype = node->type.dtype,
                    .rank = node->rank,
                    .shape = o->shape,
                    .strides = o->strides,
                    .data = o->origin };

    ar_shape_count(&x.count, node->rank, o->shape);
    return x;
}

/* A kernel only knows that something is wrong; the arrays are still there to be asked what. */
static arras_status explain(const ar_box_step *s, const ar_operand *operands, const int64_t *lo,
                            const int64_t *hi, arras_error *err)
{
    int               n = s->step->ninputs, results = s->step->form.n;
    ar_tensor        *tensors = ar_alloc((size_t)n, sizeof *tensors);
    const ar_tensor **in = ar_alloc((size_t)n, sizeof *in);
    arras_status      status = ARRAS_OK;

    for (int k = 0; tensors && in && k < n; k++) {
        tensors[k] =
            tensor_of(s->core->plan.arrays[s->step->inputs[k]].node, &operands[results + k]);
        in[k] = &tensors[k];
    }
    for (int k = 0; tensors && in && k < results && status == ARRAS_OK; k++)
        status = ar_reference_fault(s->step->form.lambdas[k], in, s->sizes, lo, hi, err);
    ar_free(tensors);
    ar_free(in);
    return status != ARRAS_OK ? status
                              : ar_fail(err, ARRAS_EINDEX, "an index is outside its array");
}

arras_status ar_box_step_run(const ar_box_step *s, const ar_operand *operands, const int64_t *lo,
                             const int64_t *hi, arras_error *err)
{
    char          *data[MOST_OPERANDS];
    const int64_t *strides[MOST_OPERANDS], *shapes[MOST_OPERANDS];
    ar_operand     plain[MOST_OPERANDS];
    int            n = operand_count(s->step), failed = 0;
    ar_kernel     *kernel = s->core->kernels[s->step->code];
    ar_stream     *stream = all_far(s->step->form.n, operands) ? ar_streaming() : NULL;
    bool           far = any_far(s->step->ninputs, operands + s->step->form.n);
    ar_kernel_args args = { data, strides, shapes, s->sizes, stream, ar_folds(), far };

    if (n > MOST_OPERANDS)
        return ar_fail(err, ARRAS_ELIMIT, "a step has %d arrays, and at most %d can be read", n,
                       MOST_OPERANDS);
    for (int k = 0; k < n; k++) {
        plain[k] = operands[k];
        data[k] = operands[k].origin;
        strides[k] = operands[k].strides;
        shapes[k] = operands[k].shape;
        if (is_scalar(s, k))
            plain[k].strides = NULL; /* the same cell for all */
    }
    if (s->by != AR_BY_KERNEL && ar_multiplier_takes(s->by, s->step->gemm, &args))
        multiply(s, &args, lo, hi);
    else if (s->step->nest.flat)
        failed = run_flat(s, kernel, &args, data, plain, lo, hi);
    else
        failed = kernel(&args, lo, hi);
    return failed ? explain(s, operands, lo, hi, err) : ARRAS_OK;
}
