/* step_stage.h -- a step of a plan, with every size known, as a stage of the executor: the only
 * caller of kernels.  Internal to run/. */
#ifndef AR_STEP_STAGE_H
#define AR_STEP_STAGE_H

#include "run/run.h"

/* ---- What a step reads (step_needs.c) -------------------------------------------------------- */

/* One read of an input, found once. */
typedef struct {
    arras_expr      load;
    ar_extent_code *axes; /* where its index along each of them lies */
} ar_step_read;

typedef struct {
    int           n;
    ar_step_read *reads;
} ar_reads;

/* sizes: the values of the graph's. */
arras_status ar_step_reads(ar_reads *out, const ar_step *step, const int64_t *sizes,
                           ar_arena *arena, arras_error *err);
/* What the cells lo <= i < hi of the results read of an input, which has this shape. */
ar_region ar_reads_need(const ar_reads *reads, int input, const int64_t *lo, const int64_t *hi,
                        const int64_t *shape);

/* ---- Steps (step_stage.c) -------------------------------------------------------------------- */

typedef struct {
    ar_stage       stage;
    const ar_core *core;
    const ar_step *step;
    const int64_t *sizes;
    const int64_t *const *shapes; /* of results, then of inputs */
    ar_engine  engine;        /* that computes it */
    ar_reads       reads;         /* where arrays need not be whole */

    /* In an instance, where all arrays are whole: */
    bool                whole;      /* then the launch finds out what a fault was */
    bool                in_cells;   /* boxes are ranges of cells, in C order */
    char               *room;       /* for each thread, of products; NULL: none */
    int64_t             room_bytes; /* of one thread's */
    ar_multiply_shared *shared;     /* NULL also where there was no memory */
} ar_step_stage;

/* Keeps sizes and shapes. */
void ar_step_stage_make(ar_step_stage *out, const ar_core *core, int step, const int64_t *sizes,
                        const int64_t *const *shapes);
/* So that it can be asked what it needs.  What it makes is the arena's. */
arras_status ar_step_stage_look(ar_step_stage *s, ar_arena *arena, arras_error *err);

/* Of a step that is a scan, and calls no kernel (scan_stage.c). */
extern const ar_stage_type ar_scan_stage_type;

#endif
