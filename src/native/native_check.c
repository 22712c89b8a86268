/* native_check.c -- what a spec says about inputs and the shape of the result, checked and
 * completed. */
#include "native/native_parts.h"

#include <string.h>

/* Far beyond any array, and so small that sums of a few do not overflow. */
#define MOST ((int64_t)1 << 60)

/* ---- Inputs ---------------------------------------------------------------------------------- */

static arras_status fail_axis(const ar_native_input *in, int axis, const char *what, int64_t value,
                              arras_error *err)
{
    return ar_fail(err, ARRAS_EINVAL, "apply: %s along axis %d of input %s is %" PRId64, what, axis,
                   in->name, value);
}

static arras_status copy_reach(ar_native_input *in, const arras_apply_input *from, arras_error *err)
{
    in->probed = !from->before && !from->after && in->rank > 0;
    for (int a = 0; a < in->rank; a++) {
        in->before[a] = from->before ? from->before[a] : 0;
        in->after[a] = from->after ? from->after[a] : 0;
        if (in->before[a] < 0 || in->before[a] > MOST)
            return fail_axis(in, a, "the reach before the cell", in->before[a], err);
        if (in->after[a] < 0 || in->after[a] > MOST)
            return fail_axis(in, a, "the reach after the cell", in->after[a], err);
    }
    return ARRAS_OK;
}

static arras_status copy_borders(ar_native_input *in, const arras_apply_input *from,
                                 arras_error *err)
{
    for (int a = 0; a < in->rank && from->borders; a++) {
        in->rules[a] = from->borders[a].rule;
        if ((int)in->rules[a] < 0 || in->rules[a] >= ARRAS_EDGE_END)
            return fail_axis(in, a, "the rule of the border", in->rules[a], err);
        if (from->borders[a].fill)
            memcpy(in->fills[a], from->borders[a].fill, in->size);
    }
    return ARRAS_OK;
}

static arras_status copy_places(ar_native_input *in, const arras_apply_input *from, int rank,
                                arras_error *err)
{
    for (int a = 0; a < in->rank; a++) {
        in->step[a] = from->step ? from->step[a] : 1;
        in->axes[a] = from->axes ? from->axes[a] : a;
        in->start[a] = from->start ? from->start[a] : 0;
        if (in->step[a] < 0 || in->step[a] > MOST)
            return fail_axis(in, a, "the step", in->step[a], err);
        if (in->start[a] < -MOST || in->start[a] > MOST)
            return fail_axis(in, a, "the start", in->start[a], err);
        if (in->step[a] == 0)
            in->axes[a] = 0; /* it does not matter */
        else if (in->axes[a] < 0 || in->axes[a] >= rank)
            return ar_fail(err, ARRAS_EAXIS,
                           "apply: axis %d of input %s is axis %d of a result of rank %d; give "
                           "its axes, or the shape of the result",
                           a, in->name, in->axes[a], rank);
    }
    return ARRAS_OK;
}

static arras_status copy_input(ar_native *n, int k, const arras_apply_input *from, int narrays,
                               const ar_exec_array *arrays, arras_error *err)
{
    ar_native_input     *in = &n->inputs[k];
    const ar_exec_array *a;
    const char          *name;

    if (from->array < 0 || from->array >= narrays)
        return ar_fail(err, ARRAS_EINVAL, "apply: input %d is array %d of a flow that has %d", k,
                       from->array, narrays);
    a = &arrays[from->array];
    name = from->name ? from->name : a->name;
    in->name = ar_arena_copy(&n->arena, name, strlen(name) + 1, 1);
    if (!in->name)
        return ar_fail_memory(err, strlen(name) + 1);
    in->dtype = a->dtype;
    in->size = ar_dtype_size(a->dtype);
    in->rank = a->rank;
    memcpy(in->shape, a->shape, sizeof in->shape);
    in->whole = from->whole;
    if (from->whole &&
        (from->before || from->after || from->borders || from->axes || from->step || from->start))
        return ar_fail(err, ARRAS_EINVAL,
                       "apply: input %s is there whole: it has no reach, borders or steps",
                       in->name);
    return ARRAS_OK;
}

/* The rank of the result, as far as the spec says it. */
static arras_status find_rank(ar_native *n, const arras_apply_spec *spec, arras_error *err)
{
    n->rank = -1;
    for (int k = 0; k < spec->ninputs && n->rank < 0; k++)
        if (!n->inputs[k].whole)
            n->rank = n->inputs[k].rank;
    if (spec->shape || spec->rank > 0)
        n->rank = spec->rank;
    if (n->rank < 0 || (spec->rank > 0 && !spec->shape))
        return ar_fail(err, ARRAS_EINVAL,
                       "apply: the result has no shape: give its rank and shape");
    if (n->rank + (spec->length > 0) > ARRAS_MAX_RANK)
        return ar_fail(err, ARRAS_ELIMIT, "apply: a result of rank %d, and at most %d can be",
                       n->rank + (spec->length > 0), ARRAS_MAX_RANK);
    return ARRAS_OK;
}

arras_status ar_native_copy_inputs(ar_native *n, const arras_apply_spec *spec, int narrays,
                                   const ar_exec_array *arrays, arras_error *err)
{
    arras_status status = ARRAS_OK;

    for (int k = 0; k < spec->ninputs && status == ARRAS_OK; k++)
        status = copy_input(n, k, &spec->inputs[k], narrays, arrays, err);
    if (status == ARRAS_OK)
        status = find_rank(n, spec, err);
    for (int k = 0; k < spec->ninputs && status == ARRAS_OK; k++) {
        const arras_apply_input *from = &spec->inputs[k];

        if (from->whole)
            continue;
        status = copy_reach(&n->inputs[k], from, err);
        if (status == ARRAS_OK)
            status = copy_borders(&n->inputs[k], from, err);
        if (status == ARRAS_OK)
            status = copy_places(&n->inputs[k], from, n->rank, err);
    }
    return status;
}

/* ---- The shape of the result ----------------------------------------------------------------- */

/* Inputs that go along with each other start at the same cell: the first that has all its
 * neighbours in each of them. */
static int64_t first_place(const ar_native *n, const arras_apply_spec *spec,
                           const ar_native_input *of, int axis)
{
    int64_t first = 0;

    for (int k = 0; k < n->stage.ninputs; k++) {
        const ar_native_input *in = &n->inputs[k];

        for (int a = 0; a < in->rank && !in->whole && !spec->inputs[k].start; a++)
            if (in->rules[a] == ARRAS_EDGE_NONE && in->axes[a] == of->axes[axis] &&
                in->step[a] == of->step[axis])
                first = ar_max64(first, in->before[a]);
    }
    return first;
}

static void find_starts(ar_native *n, const arras_apply_spec *spec)
{
    for (int k = 0; k < n->stage.ninputs; k++) {
        ar_native_input *in = &n->inputs[k];

        for (int a = 0; a < in->rank && !in->whole && !spec->inputs[k].start; a++)
            if (in->step[a] > 0)
                in->start[a] = first_place(n, spec, in, a);
    }
}

/* How many cells an axis of an input has place for; -1: it does not say. */
static int64_t places(const ar_native_input *in, int axis)
{
    int64_t last = in->shape[axis] - 1;

    if (in->rules[axis] == ARRAS_EDGE_NONE)
        last -= in->after[axis];
    return last < in->start[axis] ? 0 : (last - in->start[axis]) / in->step[axis] + 1;
}

static arras_status infer_axis(ar_native *n, int axis, arras_error *err)
{
    int64_t cells = -1;

    for (int k = 0; k < n->stage.ninputs; k++) {
        const ar_native_input *in = &n->inputs[k];

        for (int a = 0; a < in->rank && !in->whole; a++)
            if (in->step[a] > 0 && in->axes[a] == axis) {
                int64_t more = places(in, a);

                cells = cells < 0 ? more : ar_min64(cells, more);
            }
    }
    n->shape[axis] = cells;
    return cells >= 0
               ? ARRAS_OK
               : ar_fail(err, ARRAS_ESHAPE,
                         "apply: no input goes along axis %d of the result: give its shape", axis);
}

static bool is_empty(const ar_native *n)
{
    for (int axis = 0; axis < n->rank; axis++)
        if (n->shape[axis] == 0)
            return true;
    return false;
}

static arras_status check_axis(const ar_native *n, const ar_native_input *in, int a,
                               arras_error *err)
{
    int64_t cells = in->step[a] > 0 ? n->shape[in->axes[a]] - 1 : 0, first, last;

    if (!ar_mul64(&last, in->step[a], cells) || !ar_add64(&last, last, in->start[a]) ||
        !ar_add64(&last, last, in->after[a]) || last > MOST)
        return ar_fail(err, ARRAS_ESIZE, "apply: places along axis %d of input %s overflow", a,
                       in->name);
    first = in->start[a] - in->before[a];
    if (in->rules[a] == ARRAS_EDGE_NONE && (first < 0 || last >= in->shape[a]))
        return ar_fail(err, ARRAS_ESHAPE,
                       "apply: cells %" PRId64 " to %" PRId64 " along axis %d of input %s are "
                       "read, which has %" PRId64 ": give it a border, or change start or shape",
                       first, last, a, in->name, in->shape[a]);
    if (in->shape[a] == 0 && in->rules[a] != ARRAS_EDGE_CONSTANT)
        return ar_fail(err, ARRAS_ESHAPE, "apply: input %s has no cells along axis %d", in->name,
                       a);
    return ARRAS_OK;
}

static arras_status check_places(const ar_native *n, arras_error *err)
{
    arras_status status = ARRAS_OK;

    for (int k = 0; k < n->stage.ninputs && !is_empty(n); k++)
        for (int a = 0; a < n->inputs[k].rank && !n->inputs[k].whole && status == ARRAS_OK; a++)
            status = check_axis(n, &n->inputs[k], a, err);
    return status;
}

static arras_status take_shape(ar_native *n, const arras_apply_spec *spec, arras_error *err)
{
    for (int axis = 0; axis < n->rank; axis++) {
        n->shape[axis] = spec->shape[axis];
        if (n->shape[axis] < 0 || n->shape[axis] > MOST)
            return ar_fail(err, ARRAS_ESHAPE, "apply: axis %d of the result has %" PRId64 " cells",
                           axis, n->shape[axis]);
    }
    return ARRAS_OK;
}

arras_status ar_native_find_shape(ar_native *n, const arras_apply_spec *spec, arras_error *err)
{
    arras_status status = ARRAS_OK;

    find_starts(n, spec);
    if (spec->shape)
        status = take_shape(n, spec, err);
    for (int axis = 0; axis < n->rank && !spec->shape && status == ARRAS_OK; axis++)
        status = infer_axis(n, axis, err);
    return status == ARRAS_OK ? check_places(n, err) : status;
}

/* ---- Cells that need no patch ---------------------------------------------------------------- */

static int64_t divide_up(int64_t a, int64_t b) { return a <= 0 ? 0 : (a - 1) / b + 1; }

static void narrow(ar_native *n, const ar_native_input *in, int a)
{
    int     axis = in->axes[a];
    int64_t room = in->shape[a] - 1 - in->after[a] - in->start[a];
    int64_t first = in->before[a] - in->start[a];

    if (in->step[a] == 0) { /* one place for all: inside or not */
        if (n->rank > 0 && (first > 0 || room < 0))
            n->inner_hi[0] = 0;
        return;
    }
    n->inner_lo[axis] = ar_max64(n->inner_lo[axis], divide_up(first, in->step[a]));
    n->inner_hi[axis] = ar_min64(n->inner_hi[axis], room < 0 ? 0 : room / in->step[a] + 1);
}

void ar_native_find_inner(ar_native *n)
{
    for (int axis = 0; axis < n->rank; axis++) {
        n->inner_lo[axis] = 0;
        n->inner_hi[axis] = n->shape[axis];
    }
    for (int k = 0; k < n->stage.ninputs; k++)
        for (int a = 0; a < n->inputs[k].rank && !n->inputs[k].whole; a++)
            narrow(n, &n->inputs[k], a);
}
