/* reference_scan.c -- reductions of all cells up to each, in the order that docs/semantics.md
 * states: one cell after the other; sums and products of more reals than AR_FOLD_SERIAL in groups
 * and blocks. */
#include "eval/reference.h"

typedef struct {
    const ar_job   *job;
    ar_op_function *combine;
    int             axis;
    int64_t         length;
    bool            grouped;
    ar_value        cells[AR_SCAN_GROUP]; /* of the group */
    ar_value        group, block; /* what there was before it in the block, and before that */
} scan;

/* What a cell of a group comes to after so many steps: each joins it with what lies 1, 2, 4 before.
 */
static ar_value joined(const scan *s, int steps, int at)
{
    ar_value here, there;
    int      before;

    if (steps == 0)
        return s->cells[at];
    before = at - (1 << (steps - 1));
    here = joined(s, steps - 1, at);
    if (before < 0)
        return here;
    there = joined(s, steps - 1, before);
    s->combine(&here, &there, &here, &here);
    return here;
}

static void scan_grouped(scan *s, int64_t i, char *out, size_t size)
{
    int      at = (int)(i % AR_SCAN_GROUP);
    bool     first = i % AR_SCAN_BLOCK < AR_SCAN_GROUP;
    ar_value x = joined(s, AR_SCAN_STEPS, at), within;

    if (!first)
        s->combine(&x, &s->group, &x, &x);
    within = x;
    if (i >= AR_SCAN_BLOCK)
        s->combine(&x, &s->block, &x, &x);
    memcpy(out, &x, size);
    if (at == AR_SCAN_GROUP - 1)
        s->group = within;
    if (i % AR_SCAN_BLOCK == AR_SCAN_BLOCK - 1)
        s->block = x;
}

static void scan_serial(scan *s, int64_t i, char *out, size_t size)
{
    if (i > 0)
        s->combine(&s->cells[0], &s->block, &s->cells[0], &s->cells[0]);
    s->block = s->cells[0];
    memcpy(out, &s->block, size);
}

static void scan_line(scan *s, char *out, const char *in)
{
    const ar_tensor *x = s->job->in[0], *y = s->job->out;
    size_t           size = ar_dtype_size(y->dtype);
    ar_value         given; /* cells of inputs need not be aligned */

    for (int64_t i = 0; i < s->length; i++) {
        ar_value *cell = &s->cells[s->grouped ? i % AR_SCAN_GROUP : 0];

        memcpy(&given, in + i * x->strides[s->axis], ar_dtype_size(x->dtype));
        ar_cell_cast(y->dtype, cell, x->dtype, &given);
        if (s->grouped)
            scan_grouped(s, i, out + i * y->strides[s->axis], size);
        else
            scan_serial(s, i, out + i * y->strides[s->axis], size);
    }
}

static void scan_axis(scan *s, int axis, char *out, const char *in)
{
    const ar_tensor *x = s->job->in[0], *y = s->job->out;

    if (axis == y->rank) {
        scan_line(s, out, in);
        return;
    }
    for (int64_t i = 0; i < (axis == s->axis ? 1 : y->shape[axis]); i++)
        scan_axis(s, axis + 1, out + i * y->strides[axis], in + i * x->strides[axis]);
}

arras_status ar_reference_scan(const ar_job *job)
{
    ar_op op = ar_reduction_op((ar_reduction)job->node->ints[0]);
    scan  s = { .job = job,
                .combine = ar_op_value(op, job->out->dtype),
                .axis = (int)job->node->ints[1],
                .length = job->out->shape[job->node->ints[1]] };

    s.grouped = ar_scan_is_grouped(op, job->out->dtype, s.length);
    if (job->out->count > 0)
        scan_axis(&s, 0, job->out->data, job->in[0]->data);
    return ARRAS_OK;
}
