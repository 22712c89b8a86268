/* native_row.c -- a box of cells, row by row. */
#include "native/native_parts.h"

#include <string.h>

/* The centre of every input and the place of every output for the cell at index. */
static void stand_at(const ar_native *n, ar_native_worker *w, const ar_operands *operands)
{
    for (int k = 0; k < n->stage.ninputs; k++) {
        const ar_native_input *in = &n->inputs[k];
        uintptr_t              at = w->origins[k];

        for (int a = 0; a < in->rank && !in->whole; a++) {
            int64_t moved = in->step[a] ? in->step[a] * w->index[in->axes[a]] : 0;

            at += (uintptr_t)((in->start[a] + moved) * w->views[k].stride[a]);
        }
        w->views[k].at = (const char *)at;
    }
    for (int m = 0; m < n->stage.nresults; m++) {
        uintptr_t at = (uintptr_t)operands->origins[m];

        for (int axis = 0; axis < n->rank; axis++)
            at += (uintptr_t)(w->index[axis] * operands->strides[m][axis]);
        w->outs[m] = (void *)at;
    }
}

static void set_advances(const ar_native *n, ar_native_worker *w)
{
    for (int k = 0; k < n->stage.ninputs; k++) {
        const ar_native_input *in = &n->inputs[k];

        w->views[k].advance = 0;
        for (int a = 0; a < in->rank && !in->whole; a++)
            if (in->step[a] > 0 && in->axes[a] == n->rank - 1)
                w->views[k].advance += in->step[a] * w->views[k].stride[a];
    }
}

static bool next_row(const ar_native *n, int64_t *index, const int64_t *lo, const int64_t *hi)
{
    if (n->rank > 0)
        index[n->rank - 1] = lo[n->rank - 1];
    for (int axis = n->rank - 2; axis >= 0; axis--) {
        if (++index[axis] < hi[axis])
            return true;
        index[axis] = lo[axis];
    }
    return false;
}

arras_status ar_native_rows(const ar_native *n, ar_native_worker *w, const ar_operands *operands,
                            const int64_t *lo, const int64_t *hi, arras_error *err)
{
    int64_t      count = n->rank > 0 ? hi[n->rank - 1] - lo[n->rank - 1] : 1;
    arras_status status = ARRAS_OK;

    set_advances(n, w);
    memcpy(w->index, lo, (size_t)n->rank * sizeof *lo);
    do {
        stand_at(n, w, operands);
        if (n->nmirrors)
            status = ar_native_call_mirrored(n, w, count, err);
        else
            ar_native_call(n, w, count);
        if (status == ARRAS_OK && w->log.failed)
            status = ar_native_complain(n, &w->log, err);
    } while (status == ARRAS_OK && next_row(n, w->index, lo, hi));
    return status;
}
