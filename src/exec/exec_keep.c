/* exec_keep.c -- what has to be whole before others use it.
 *
 * Most arrays between inputs and results are computed in the tiles of whoever reads them.  An array
 * of which a small part of a reader's cells needs more than half (a mean, a table that is looked
 * up) is kept instead: computed once, in a pass before.  So is an array in a file that is read that
 * way: it is loaded.  What is kept and too large for memory goes to a file of its own.
 *
 * A small array that is made from much (the sums of parts of columns) is kept too: its pass then
 * goes through files as they lie, where its reader's tiles would go through them once for each. */
#include "exec/pass.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum {
    SLABS = 64, /* the part of a reader's cells that is looked at is one of so many */
    SHARE = 2,  /* of the memory, one in so many bytes may be kept arrays */
    DIGEST = 8, /* so many times larger is what a small array is made from */
    SMALL = 16  /* of the memory, one in so many bytes is little */
};

/* ---- Who needs how much ---------------------------------------------------------------------- */

/* The first axis that is worth cutting. */
static int cut_axis(const ar_exec_array *a)
{
    int longest = 0;

    for (int axis = 0; axis < a->rank; axis++) {
        if (a->shape[axis] >= SLABS)
            return axis;
        if (a->shape[axis] > a->shape[longest])
            longest = axis;
    }
    return longest;
}

static void middle_slab(int64_t *lo, int64_t *hi, const ar_exec_array *a)
{
    int     axis = a->rank ? cut_axis(a) : 0;
    int64_t length;

    for (int d = 0; d < a->rank; d++) {
        lo[d] = 0;
        hi[d] = a->shape[d];
    }
    if (a->rank == 0)
        return;
    length = ar_max64(1, a->shape[axis] / SLABS);
    lo[axis] = ar_min64(a->shape[axis], a->shape[axis] / 2);
    hi[axis] = ar_min64(a->shape[axis], lo[axis] + length);
}

static int64_t array_cells(const ar_exec_array *a)
{
    int64_t cells = 1;

    for (int axis = 0; axis < a->rank; axis++)
        cells *= a->shape[axis];
    return cells;
}

/* Marks the inputs of which a slab of the results needs more than half. */
static void mark_needed(ar_execution *exec, const ar_stage *s, bool *whole)
{
    int64_t lo[ARRAS_MAX_RANK], hi[ARRAS_MAX_RANK];

    middle_slab(lo, hi, &exec->arrays[s->results[0]]);
    if (s->type->widen)
        s->type->widen(s, exec, lo, hi);
    for (int k = 0; k < s->ninputs; k++) {
        const ar_exec_array *a = &exec->arrays[s->inputs[k]];
        ar_region            need = s->type->need(s, exec, k, lo, hi);

        if (need.any && ar_region_cells(&need) > array_cells(a) / 2)
            whole[s->inputs[k]] = true;
    }
}

/* Whose boxes must come in order is computed in just the boxes of its tiles, and read later. */
static void mark_ordered(const ar_execution *exec, const ar_stage *s, bool *whole)
{
    ar_order order;

    for (int k = 0; k < s->ninputs; k++) {
        int from = exec->arrays[s->inputs[k]].stage;

        if (from >= 0 && ar_stage_order(&order, exec->stages[from], exec))
            whole[s->inputs[k]] = true;
    }
}

static void mark_digests(const ar_execution *exec, const ar_stage *s, bool *whole)
{
    int64_t read = 0;

    for (int k = 0; k < s->ninputs; k++)
        read += ar_min64(exec->arrays[s->inputs[k]].bytes, INT64_MAX / 2 / s->ninputs);
    for (int k = 0; k < s->nresults; k++) {
        const ar_exec_array *a = &exec->arrays[s->results[k]];

        if (!a->sink && a->bytes <= exec->memory / SMALL && a->bytes <= read / DIGEST)
            whole[s->results[k]] = true;
    }
}

/* ---- Keeping --------------------------------------------------------------------------------- */

static void make_strides(ar_exec_array *a)
{
    int64_t stride = (int64_t)ar_dtype_size(a->dtype);

    for (int axis = a->rank - 1; axis >= 0; axis--) {
        a->strides[axis] = stride;
        stride *= a->shape[axis];
    }
}

/* What will be read again in boxes may lie in a file; what is needed at once may not. */
static arras_status make_spill(ar_execution *exec, ar_exec_array *a, arras_error *err)
{
    static _Atomic unsigned number;
    const char             *folder = getenv("TMPDIR");
    ar_text                 path = { 0 };
    arras_status            status;

    ar_text_printf(&path, "%s/arras-%ld-%u.npy", folder && *folder ? folder : "/tmp",
                   (long)getpid(), number++);
    if (path.failed) {
        ar_text_free(&path);
        return ar_fail_memory(err, 64);
    }
    status = ar_store_create(&a->spill, path.data, NULL, a->dtype, a->rank, a->shape, NULL, err);
    if (status == ARRAS_OK)
        a->spill_path = ar_arena_copy(&exec->arena, path.data, path.length + 1, 1);
    ar_text_free(&path);
    if (status == ARRAS_OK && !a->spill_path)
        return ar_fail_memory(err, 64);
    return status;
}

static arras_status keep(ar_execution *exec, ar_exec_array *a, int64_t *left, arras_error *err)
{
    a->kept = true;
    if (a->whole)
        return ARRAS_OK;
    if (a->bytes > *left) {
        a->kept = a->stage >= 0;
        return a->kept ? make_spill(exec, a, err) : ARRAS_OK; /* files are read in boxes then */
    }
    a->whole = ar_alloc((size_t)ar_max64(a->bytes, 1), 1);
    if (!a->whole)
        return ar_fail_memory(err, (size_t)a->bytes);
    a->owned = true;
    *left -= a->bytes;
    make_strides(a);
    return ARRAS_OK;
}

/* ---- Levels ---------------------------------------------------------------------------------- */

static void find_levels(ar_execution *exec, int *levels)
{
    for (int i = 0; i < exec->nstages; i++) {
        const ar_stage *s = exec->stages[i];

        for (int k = 0; k < s->ninputs; k++) {
            const ar_exec_array *a = &exec->arrays[s->inputs[k]];
            int from = a->kept ? a->level + 1 : a->stage >= 0 ? levels[a->stage] : 0;

            levels[i] = from > levels[i] ? from : levels[i];
        }
        for (int k = 0; k < s->nresults; k++)
            exec->arrays[s->results[k]].level = levels[i];
    }
}

arras_status ar_execution_keep(ar_execution *exec, int *levels, arras_error *err)
{
    bool        *whole = ar_alloc((size_t)exec->narrays, sizeof *whole);
    int64_t      left = exec->memory / SHARE;
    arras_status status = whole ? ARRAS_OK : ar_fail_memory(err, (size_t)exec->narrays);

    for (int i = 0; i < exec->nstages && status == ARRAS_OK; i++)
        mark_needed(exec, exec->stages[i], whole);
    for (int i = 0; i < exec->nstages && status == ARRAS_OK; i++)
        mark_ordered(exec, exec->stages[i], whole);
    for (int i = 0; i < exec->nstages && status == ARRAS_OK; i++)
        mark_digests(exec, exec->stages[i], whole);
    for (int a = 0; a < exec->narrays && status == ARRAS_OK; a++)
        if (whole[a] && (exec->arrays[a].stage >= 0 || exec->arrays[a].source))
            status = keep(exec, &exec->arrays[a], &left, err);
    if (status == ARRAS_OK)
        find_levels(exec, levels);
    exec->memory -= exec->memory / SHARE - left;
    ar_free(whole);
    return status;
}
