/* scan_stage.c -- the stage of a step that is a scan: whole lines of a box at a time. */
#include "run/step_stage.h"

#include "prim/prim.h"

#include <string.h>

enum { TOGETHER = 64 }; /* lines side by side */

static int axis_of(const ar_step_stage *s) { return (int)s->step->scan->ints[1]; }

/* Lines are not cut. */
static void widen(const ar_stage *stage, const ar_execution *exec, int64_t *lo, int64_t *hi)
{
    const ar_step_stage *s = (const ar_step_stage *)stage;

    (void)exec;
    lo[axis_of(s)] = 0;
    hi[axis_of(s)] = s->shapes[0][axis_of(s)];
}

static ar_region need(const ar_stage *stage, const ar_execution *exec, int input, const int64_t *lo,
                      const int64_t *hi)
{
    (void)exec, (void)input;
    return ar_region_box(((const ar_step_stage *)stage)->step->rank, lo, hi);
}

static uintptr_t cell_at(const ar_operands *operands, int k, int rank, const int64_t *index)
{
    uintptr_t at = (uintptr_t)operands->origins[k];

    for (int axis = 0; axis < rank; axis++)
        at += (uintptr_t)(index[axis] * operands->strides[k][axis]);
    return at;
}

/* The lines that begin at a place and beside it, along the last axis. */
static void scan_lines(const ar_step_stage *s, const ar_operands *operands, const int64_t *at,
                       int64_t lines)
{
    const ar_step *step = s->step;
    int            axis = axis_of(s), last = step->rank - 1;
    ar_scan_carry  carries[TOGETHER];

    ar_scan_run(&(ar_scan_lines){
        .op = ar_reduction_op((ar_reduction)step->scan->ints[0]),
        .dtype = step->scan->type.dtype,
        .length = s->shapes[0][axis],
        .count = s->shapes[0][axis],
        .out = (char *)cell_at(operands, 0, step->rank, at),
        .in = (const char *)cell_at(operands, 1, step->rank, at),
        .out_step = operands->strides[0][axis],
        .in_step = operands->strides[1][axis],
        .lines = lines,
        .out_line = operands->strides[0][last],
        .in_line = operands->strides[1][last],
        .carries = carries,
    });
}

/* The next place at which lines begin; lines that lie along the last axis begin one by one. */
static bool next_lines(int64_t *at, const ar_step_stage *s, const int64_t *lo, const int64_t *hi)
{
    int last = s->step->rank - 1;

    for (int d = last; d >= 0; d--) {
        if (d == axis_of(s))
            continue;
        at[d] += d == last ? TOGETHER : 1;
        if (at[d] < hi[d])
            return true;
        at[d] = lo[d];
    }
    return false;
}

static arras_status compute(const ar_stage *stage, const ar_operands *operands, const int64_t *lo,
                            const int64_t *hi, int thread, arras_error *err)
{
    const ar_step_stage *s = (const ar_step_stage *)stage;
    int                  last = s->step->rank - 1;
    int64_t              at[ARRAS_MAX_RANK];

    (void)thread, (void)err;
    memcpy(at, lo, (size_t)s->step->rank * sizeof *at);
    do
        scan_lines(s, operands, at,
                   axis_of(s) == last ? 1 : ar_min64(TOGETHER, hi[last] - at[last]));
    while (next_lines(at, s, lo, hi));
    return ARRAS_OK;
}

const ar_stage_type ar_scan_stage_type = { need, compute, widen, NULL };
