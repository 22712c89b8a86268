/* memory_pass.c -- passes over arrays in memory: the tiles of one stage, or of a band of stages.
 * Where stages of a band reach beyond their own row what lies between tiles is computed twice;
 * nothing of it goes through memory. */
#include "exec/exec.h"

#include <string.h>

typedef struct {
    int64_t lo, hi;
} rows;

static rows rows_for(const ar_row_range *r, rows tile)
{
    return (rows){ ar_max64(0, tile.lo * r->stride - r->before),
                   ar_min64(r->length, (tile.hi - 1) * r->stride + r->after + 1) };
}

/* The cell [0, 0, ...] of an array, so that its row `lo` is the first in scratch memory.  It may
 * lie outside of it: as a number, for nobody reads there. */
static char *origin_of(const ar_tile_array *x, int64_t lo, char *scratch)
{
    return (char *)((uintptr_t)scratch + (uintptr_t)x->offset - (uintptr_t)(lo * x->row_bytes));
}

static arras_status run_stage(const ar_memory_stage *s, const rows *at, rows own, char *scratch,
                              int thread, arras_error *err)
{
    char          *origins[AR_MOST_ROW_OPERANDS];
    const int64_t *strides[AR_MOST_ROW_OPERANDS];
    ar_operands    operands = s->operands;
    int64_t        lo[ARRAS_MAX_RANK] = { 0 }, hi[ARRAS_MAX_RANK];

    for (int k = 0; k < s->stage->nresults + s->stage->ninputs; k++) {
        const ar_tile_array *x = s->inner[k];

        origins[k] = x ? origin_of(x, at[x->stage].lo, scratch) : s->operands.origins[k];
        strides[k] = x ? x->strides : s->operands.strides[k];
    }
    operands.origins = origins;
    operands.strides = strides;
    memcpy(hi, s->operands.shapes[0], (size_t)s->rank * sizeof *hi);
    lo[s->rows.axis] = own.lo;
    hi[s->rows.axis] = own.hi;
    return s->stage->type->compute(s->stage, &operands, lo, hi, thread, err);
}

static arras_status run_rows(const ar_memory_pass *pass, rows tile, int thread, arras_error *err)
{
    char        *scratch = pass->scratch + thread * pass->scratch_bytes;
    rows         at[AR_MOST_ROW_STAGES];
    arras_status status = ARRAS_OK;

    for (int i = 0; i < pass->nstages && status == ARRAS_OK; i++) {
        at[i] = rows_for(&pass->stages[i].rows, tile);
        if (at[i].lo < at[i].hi)
            status = run_stage(&pass->stages[i], at, at[i], scratch, thread, err);
    }
    return status;
}

arras_status ar_memory_pass_run(void *context, int64_t first, int64_t last, int thread,
                                arras_error *err)
{
    const ar_memory_pass  *pass = context;
    const ar_memory_stage *s = &pass->stages[pass->nstages - 1];
    int64_t                lo[ARRAS_MAX_RANK], hi[ARRAS_MAX_RANK];
    arras_status           status = ARRAS_OK;

    for (int64_t tile = first; tile < last && status == ARRAS_OK; tile++) {
        ar_tiling_box(lo, hi, &pass->tiling, tile);
        status = s->inner
                     ? run_rows(pass, (rows){ lo[s->rows.axis], hi[s->rows.axis] }, thread, err)
                     : s->stage->type->compute(s->stage, &s->operands, lo, hi, thread, err);
    }
    return status;
}
