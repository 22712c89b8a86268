/* overlap.c -- whether arrays at any strides have bytes in common.  The answer may be yes where it
 * is no, for very odd strides, but never no where it is yes. */
#include "run/launch.h"

#include <stdlib.h>

/* Runs of bytes without gaps, which start at multiples of `period` from the first; 0: one run. */
typedef struct {
    uintptr_t first, end;
    int64_t   run, period;
} pattern;

static int64_t common_divisor(int64_t a, int64_t b)
{
    while (b) {
        int64_t rest = a % b;

        a = b;
        b = rest;
    }
    return a;
}

/* The axis whose cells follow each other without a gap after runs of this length; -1: none. */
static int next_axis(const ar_tensor *t, uint32_t done, int64_t run)
{
    for (int axis = 0; axis < t->rank; axis++)
        if (!(done >> axis & 1) && t->shape[axis] > 1 && llabs(t->strides[axis]) == run)
            return axis;
    return -1;
}

static pattern pattern_of(const ar_tensor *t)
{
    pattern  p = { (uintptr_t)t->data, (uintptr_t)t->data, (int64_t)ar_dtype_size(t->dtype), 0 };
    uint32_t done = 0;

    p.end += (uintptr_t)p.run;
    for (int axis = next_axis(t, done, p.run); axis >= 0; axis = next_axis(t, done, p.run)) {
        done |= (uint32_t)1 << axis;
        p.run *= t->shape[axis];
    }
    for (int axis = 0; axis < t->rank; axis++) {
        int64_t reach = (t->shape[axis] - 1) * t->strides[axis];

        *(reach < 0 ? &p.first : &p.end) += (uintptr_t)reach;
        if (reach != 0 && !(done >> axis & 1))
            p.period = common_divisor(llabs(t->strides[axis]), p.period);
    }
    return p;
}

bool ar_tensors_meet(const ar_tensor *a, const ar_tensor *b)
{
    pattern p, q;
    int64_t period, offset;

    if (a->count == 0 || b->count == 0)
        return false;
    p = pattern_of(a);
    q = pattern_of(b);
    if (p.first >= q.end || q.first >= p.end)
        return false;
    period = common_divisor(p.period, q.period);
    if (period == 0)
        return true;
    offset = (int64_t)(q.first - p.first) % period;
    offset += offset < 0 ? period : 0;
    return offset < p.run || offset + q.run > period;
}

/* From the axis of the shortest stride on, each must step over all cells of those before it. */
bool ar_tensor_meets_itself(const ar_tensor *tensor)
{
    int64_t  span = (int64_t)ar_dtype_size(tensor->dtype);
    uint32_t done = 0;

    for (int turn = 0; turn < tensor->rank && tensor->count > 0; turn++) {
        int shortest = -1;

        for (int axis = 0; axis < tensor->rank; axis++)
            if (!(done >> axis & 1) && tensor->shape[axis] > 1 &&
                (shortest < 0 || llabs(tensor->strides[axis]) < llabs(tensor->strides[shortest])))
                shortest = axis;
        if (shortest < 0)
            return false;
        if (llabs(tensor->strides[shortest]) < span)
            return true;
        done |= (uint32_t)1 << shortest;
        span += llabs(tensor->strides[shortest]) * (tensor->shape[shortest] - 1);
    }
    return false;
}
