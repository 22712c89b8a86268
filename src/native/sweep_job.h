/* sweep_job.h -- ordered sweeps in place: what the files sweep_*.c share.
 *
 * Blocks.  One axis is cut into columns; the axes before it, taken together, are rows.  A block is
 *          so many rows high and columns wide, and each of its rows begins `skew` columns before
 *          the one above, so that it needs nothing of blocks to its right.  It waits for the block
 *          to its left and for one in the row of blocks above, `lag` to the right.
 * Rows.    Arrays in files pass through windows: so many rows of axis 0, with what is in reach. */
#ifndef AR_SWEEP_JOB_H
#define AR_SWEEP_JOB_H

#include <arras/sweep.h>
#include <stdatomic.h>

#include "native/native_parts.h"

/* ---- Arrays ---------------------------------------------------------------------------------- */

typedef struct {
    arras_dtype dtype;
    size_t      size;
    int64_t     strides[ARRAS_MAX_RANK]; /* in bytes */
    char       *origin;                  /* where cell [0, 0, ...] is, or would be */
    uint8_t     fill[16];

    /* Not in memory that was given: */
    bool       windowed;
    ar_source *source; /* NULL: of the state */
    int64_t    row_bytes;
    char      *window;
    int64_t    lo, hi; /* rows that are in the window */
} ar_sweep_array;

/* So many bytes from an origin that need not be in memory itself. */
static inline char *ar_sweep_at(const char *origin, int64_t offset)
{
    return (char *)((uintptr_t)origin + (uintptr_t)offset);
}

/* What a thread has for itself. */
typedef struct {
    arras_cell            cell;
    int64_t               index[ARRAS_MAX_RANK];
    arras_view           *views, *patches; /* by array: where its cells are, and in the patch */
    char                 *patch;           /* what is around a cell near the border */
    char                 *saved;           /* a run as it was before */
    struct arras_cell_log log;
    int64_t               changes;
    double                largest;
} ar_sweep_worker;

/* ---- Blocks ---------------------------------------------------------------------------------- */

typedef struct {
    int     axis;  /* that is cut into columns */
    int64_t inner; /* rows in one row of axis 0 */
    int64_t height, width, skew, lag;
    bool    rows_wait, columns_wait; /* for those before them */

    /* Of the rows of axis 0 that are swept now: */
    int64_t          lo, hi;
    int64_t          rows, columns, high, wide; /* the latter two in blocks */
    _Atomic int64_t *done;                      /* by row of blocks: blocks that are done */
    _Atomic int64_t  next;                      /* what a thread takes next */
} ar_sweep_grid;

/* ---- All of it ------------------------------------------------------------------------------- */

struct arras_sweeping {
    arras_sweep_request request;
    int                 rank;
    int64_t             shape[ARRAS_MAX_RANK], cells;
    int64_t             before[ARRAS_MAX_RANK], after[ARRAS_MAX_RANK];
    int64_t             reach[ARRAS_MAX_RANK]; /* the larger of both: what rules may turn around */
    arras_edge_rule     edges[ARRAS_MAX_RANK];
    int                 narrays;
    ar_sweep_array     *arrays; /* the state, then companions */
    size_t             *sizes;
    int64_t             patch_cells; /* of one array */
    int64_t             longest;     /* run, in cells */
    ar_sweep_grid       grid;
    int64_t             slab;  /* rows of axis 0 that are read at once */
    bool                whole; /* that is all of them */
    int                 spill; /* a file of cells; -1: none */

    int              threads, nworkers;
    int              hands; /* threads that decode or encode at one time */
    ar_sweep_worker *workers;
    ar_pool         *pool;
    ar_taskgraph    *tasks;

    arras_sweep_report report;
    int64_t            step;     /* 1 or -1: of the present sweep */
    _Atomic int64_t    progress; /* cells of it that are done */
    _Atomic bool       stopped, cancelled;
    bool               ran;
    ar_arena           arena;
};

/* ---- sweep_open.c: from a request to a job that is known to be right ------------------------- */

arras_status ar_sweep_check(arras_sweeping *s, arras_error *err);

/* ---- sweep_lines.c --------------------------------------------------------------------------- */

arras_status ar_sweep_patch_plan(arras_sweeping *s, arras_error *err);
arras_status ar_sweep_worker_make(arras_sweeping *s, ar_sweep_worker *w, arras_error *err);
/* The cells lo <= i < hi along the last axis; w->index has the rest of their index. */
void ar_sweep_line(const arras_sweeping *s, ar_sweep_worker *w, int64_t lo, int64_t hi);

/* ---- sweep_changes.c ------------------------------------------------------------------------- */

/* How many cells have other bits, and how large the largest change is. */
void ar_sweep_compare(const arras_sweeping *s, ar_sweep_worker *w, const char *cells,
                      int64_t count);

/* ---- sweep_blocks.c -------------------------------------------------------------------------- */

/* NULL: sizes of blocks are chosen. */
arras_status ar_sweep_blocks_plan(arras_sweeping *s, const ar_sweep_tuning *tuning,
                                  arras_error *err);
/* Sweeps rows lo <= i < hi of axis 0. */
arras_status ar_sweep_blocks_run(arras_sweeping *s, int64_t lo, int64_t hi, arras_error *err);

/* ---- sweep_rows.c ---------------------------------------------------------------------------- */

/* slab: rows that are read at once; 0: chosen, within the memory that is allowed. */
arras_status ar_sweep_rows_plan(arras_sweeping *s, int64_t slab, arras_error *err);
/* Brings a state that stays in memory to its start. */
arras_status ar_sweep_rows_begin(arras_sweeping *s, arras_error *err);
/* These rows, and no others, are in windows. */
arras_status ar_sweep_rows_fetch(arras_sweeping *s, int64_t lo, int64_t hi, arras_error *err);
arras_status ar_sweep_rows_store(arras_sweeping *s, int64_t lo, int64_t hi, arras_error *err);
/* The state goes to the sink, if there is one. */
arras_status ar_sweep_rows_deliver(arras_sweeping *s, arras_error *err);
void         ar_sweep_rows_free(arras_sweeping *s);

#endif
