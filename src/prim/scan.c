/* scan.c -- reductions of all cells up to each: many lines, a stretch of each at a time, so that
 * cells that lie side by side across lines are met while they are near. */
#include "prim/prim.h"

#include <string.h>

enum { STRETCH = 64 }; /* cells of a line at a time; a multiple of groups */

/* A stretch of one line. */
typedef struct {
    ar_op_function *combine;
    size_t          size;
    int64_t         first, count;
    const char     *in;
    char           *out;
    int64_t         in_step, out_step;
    char           *carry; /* all before; in groups: what is before in the block, and before that */
} stretch;

typedef void scan_function(const stretch *s);

/* ---- Sums of the types they are made of ------------------------------------------------------ */

#define T int64_t
#define NAME(part) part##_i64
#define COMBINE(a, b) ((int64_t)((uint64_t)(a) + (uint64_t)(b)))
#include "prim/scan.inc"

#define T uint64_t
#define NAME(part) part##_u64
#define COMBINE(a, b) ((a) + (b))
#include "prim/scan.inc"

#define GROUPED
#define T float
#define NAME(part) part##_f32
#define COMBINE(a, b) ((a) + (b))
#include "prim/scan.inc"

#define GROUPED
#define T double
#define NAME(part) part##_f64
#define COMBINE(a, b) ((a) + (b))
#include "prim/scan.inc"

/* ---- Any operation of any type --------------------------------------------------------------- */

static inline ar_value combined(ar_op_function *combine, ar_value a, ar_value b)
{
    combine(&a, &a, &b, &b);
    return a;
}

#define GROUPED
#define T ar_value
#define NAME(part) part##_any
#define COMBINE(a, b) combined(s->combine, a, b)
#define CELL_SIZE s->size
#include "prim/scan.inc"

static scan_function *function_for(ar_op op, arras_dtype dtype, bool grouped)
{
    if (op != AR_OP_add)
        return grouped ? grouped_any : serial_any;
    switch (dtype) {
    case ARRAS_I64: return serial_i64;
    case ARRAS_U64: return serial_u64;
    case ARRAS_F32: return grouped ? grouped_f32 : serial_f32;
    case ARRAS_F64: return grouped ? grouped_f64 : serial_f64;
    default: return grouped ? grouped_any : serial_any;
    }
}

int64_t ar_scan_carry_bytes(ar_op op, arras_dtype dtype, int64_t length)
{
    return (int64_t)ar_dtype_size(dtype) * (ar_scan_is_grouped(op, dtype, length) ? 2 : 1);
}

/* ---- Lines ----------------------------------------------------------------------------------- */

void ar_scan_run(const ar_scan_lines *job)
{
    bool           grouped = ar_scan_is_grouped(job->op, job->dtype, job->length);
    scan_function *scan = function_for(job->op, job->dtype, grouped);
    int64_t        end = job->first + job->count;
    int64_t        carry = ar_scan_carry_bytes(job->op, job->dtype, job->length);
    stretch        s = { .combine = ar_op_value(job->op, job->dtype),
                         .size = ar_dtype_size(job->dtype),
                         .in_step = job->in_step,
                         .out_step = job->out_step };

    for (int64_t first = job->first; first < end; first += s.count) {
        s.first = first;
        /* A line by itself is one stretch. */
        s.count =
            job->lines == 1 ? end - first : ar_min64(end, (first / STRETCH + 1) * STRETCH) - first;
        for (int64_t line = 0; line < job->lines; line++) {
            s.in = job->in + line * job->in_line + (first - job->first) * job->in_step;
            s.out = job->out + line * job->out_line + (first - job->first) * job->out_step;
            s.carry = job->carries + line * carry;
            scan(&s);
        }
    }
}
