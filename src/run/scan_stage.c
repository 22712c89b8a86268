/* scan_stage.c -- the stage of a step that is a scan: the lines of a box, or a stretch of each,
 * which hands on to the next. */
#include "run/step_stage.h"

#include "prim/prim.h"

#include <string.h>

enum { TOGETHER = 64 }; /* lines side by side */

static ar_op op_of(const ar_step_stage *s)
{
    return ar_reduction_op((ar_reduction)s->step->scan->ints[0]);
}

static int axis_of(const ar_step_stage *s) { return (int)s->step->scan->ints[1]; }

static ar_region need(const ar_stage *stage, const ar_execution *exec, int input, const int64_t *lo,
                      const int64_t *hi)
{
    (void)exec, (void)input;
    return ar_region_box(((const ar_step_stage *)stage)->step->rank, lo, hi);
}

static int64_t carry_bytes(const ar_step_stage *s)
{
    return ar_scan_carry_bytes(op_of(s), s->step->scan->type.dtype, s->shapes[0][axis_of(s)]);
}

static bool order(ar_order *out, const ar_stage *stage, const ar_execution *exec)
{
    const ar_step_stage *s = (const ar_step_stage *)stage;

    (void)exec;
    *out = (ar_order){ axis_of(s), AR_SCAN_GROUP, carry_bytes(s) };
    return true;
}

static uintptr_t cell_at(const ar_operands *operands, int k, int rank, const int64_t *index)
{
    uintptr_t at = (uintptr_t)operands->origins[k];

    for (int axis = 0; axis < rank; axis++)
        at += (uintptr_t)(index[axis] * operands->strides[k][axis]);
    return at;
}

/* Which of all lines begins at a place. */
static int64_t line_at(const ar_step_stage *s, const int64_t *at)
{
    int64_t line = 0;

    for (int d = 0; d < s->step->rank; d++)
        line = d == axis_of(s) ? line : line * s->shapes[0][d] + at[d];
    return line;
}

/* The lines that begin at a place and beside it, along the last axis.  Those of a launch in memory
 * are whole, and hand on nothing. */
static void scan_lines(const ar_step_stage *s, const ar_operands *operands, const int64_t *at,
                       int64_t lines, int64_t count)
{
    const ar_step *step = s->step;
    int            axis = axis_of(s), last = step->rank - 1;
    ar_value       carries[2 * TOGETHER];

    ar_scan_run(&(ar_scan_lines){
        .op = op_of(s),
        .dtype = step->scan->type.dtype,
        .length = s->shapes[0][axis],
        .first = at[axis],
        .count = count,
        .out = (char *)cell_at(operands, 0, step->rank, at),
        .in = (const char *)cell_at(operands, 1, step->rank, at),
        .out_step = operands->strides[0][axis],
        .in_step = operands->strides[1][axis],
        .lines = lines,
        .out_line = operands->strides[0][last],
        .in_line = operands->strides[1][last],
        .carries =
            operands->handed ? operands->handed + line_at(s, at) * carry_bytes(s) : (char *)carries,
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
                   axis_of(s) == last ? 1 : ar_min64(TOGETHER, hi[last] - at[last]),
                   hi[axis_of(s)] - lo[axis_of(s)]);
    while (next_lines(at, s, lo, hi));
    return ARRAS_OK;
}

const ar_stage_type ar_scan_stage_type = { .need = need, .compute = compute, .order = order };
