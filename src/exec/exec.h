/* exec.h -- the executor: stages on places.  The door of exec/.  Sees base/, ir/, pool/ and store/.
 *
 * An execution is a list of stages that compute arrays from arrays.  It runs in passes.  A pass
 * computes its targets (results in files or in memory, and what has to be kept between passes) tile
 * by tile: for each tile it reads what the tile needs of arrays in files, halo included, computes
 * what lies between in scratch memory, and writes.  Tiles run on all threads; what they need
 * together stays within the memory that was allowed.  Stages take every array by its place: the
 * address that its cell [0, 0, ...] would have, so that they need not know of tiles, and cells have
 * the same bits whatever the tiles are. */
#ifndef AR_EXEC_H
#define AR_EXEC_H

#include "ir/ir.h"
#include "pool/pool.h"
#include "store/store.h"

/* ---- Regions: what is needed of an array (regions.c) ----------------------------------------- */

/* Along one axis, the cells lo <= i < hi but those gap_lo <= i < gap_hi. */
typedef struct {
    int64_t lo, hi, gap_lo, gap_hi; /* no gap: gap_lo == gap_hi */
} ar_span;

/* Cells whose index along every axis is in its range. */
typedef struct {
    int      rank;
    bool     any; /* false: no cells at all */
    ar_span axes[ARRAS_MAX_RANK];
} ar_region;

ar_region ar_region_box(int rank, const int64_t *lo, const int64_t *hi);
/* Becomes a region that holds both. */
void ar_region_add(ar_region *to, const ar_region *more);
bool ar_region_is_box(const ar_region *region);
/* The boxes without gaps that it is made of, one for each number below the count. */
int  ar_region_boxes(const ar_region *region);
void ar_region_part(int64_t *lo, int64_t *hi, const ar_region *region, int number);
/* Cells, gaps left out; INT64_MAX: too many to count. */
int64_t ar_region_cells(const ar_region *region);

/* ---- Places ---------------------------------------------------------------------------------- */

/* What a stage gets of its arrays: of each result, then of each input, where its cell [0, 0, ...]
 * is, or would be, the shape of the whole array, and strides.  Cells along the last axis lie side
 * by side.  Uncached: results are stored non-temporally, inputs are prefetched. */
typedef struct {
    char          **origins;
    const int64_t **shapes, **strides;
    bool            results_uncached, inputs_uncached;
    char           *handed; /* by an ordered stage, of all lines; NULL: boxes are whole lines */
} ar_operands;

/* ---- Arrays ---------------------------------------------------------------------------------- */

typedef struct {
    const char *name; /* for messages; NULL: it has none */
    arras_dtype dtype;
    int         rank;
    int64_t     shape[ARRAS_MAX_RANK];
    int         stage;  /* that computes it; -1: it is given */
    bool        wanted; /* a result: its cells go to `sink`, or to `whole` */
    ar_source  *source;
    ar_sink    *sink;
    char       *whole; /* all of it in memory; cells along the last axis lie side by side */
    int64_t     strides[ARRAS_MAX_RANK]; /* of `whole` */

    /* Set when passes are planned: */
    int64_t         bytes;
    bool            behind; /* its sink writes while others compute, past the system's cache */
    ar_chunk_bands *bands;  /* where its chunks are decoded to; NULL: to the execution's cache */
    bool            kept;   /* it is computed, or loaded, once and for all, before others use it */
    bool            owned;  /* `whole` is the execution's */
    int             level;  /* of the pass that keeps it */
    ar_sink *spill; /* what is kept and does not fit into memory; read through `source` later */
    char    *spill_path;
} ar_exec_array;

/* ---- Stages ---------------------------------------------------------------------------------- */

enum { AR_STAGE_INPUTS = 256 }; /* at most */

/* Boxes of a stage that must be computed one after the other along an axis. */
typedef struct {
    int     axis;
    int64_t grain; /* boxes begin at multiples of it */
    int64_t bytes; /* that are handed on of each line, in the order of the other axes */
} ar_order;

typedef struct ar_execution ar_execution;
typedef struct ar_stage     ar_stage;

typedef struct {
    /* What the cells lo <= i < hi of the results need of an input. */
    ar_region (*need)(const ar_stage *s, const ar_execution *exec, int input, const int64_t *lo,
                      const int64_t *hi);
    /* Computes these cells.  Several threads at once. */
    arras_status (*compute)(const ar_stage *s, const ar_operands *operands, const int64_t *lo,
                            const int64_t *hi, int thread, arras_error *err);
    /* Makes a box one that can be computed on its own; NULL: any can. */
    void (*widen)(const ar_stage *s, const ar_execution *exec, int64_t *lo, int64_t *hi);
    /* Whether it counts on rows of an input lying one right behind the other, with this axis as
     * long as it is in the whole array; NULL: it never does. */
    bool (*wants_dense)(const ar_stage *s, int input, int axis);
    /* Whether boxes hand something on to those that lie behind them; NULL: they never do.  Nothing
     * else in a pass reads results of such a stage. */
    bool (*order)(ar_order *out, const ar_stage *s, const ar_execution *exec);
} ar_stage_type;

struct ar_stage {
    const ar_stage_type *type;
    int                  nresults, ninputs; /* results have one shape */
    const int           *results, *inputs;  /* arrays */
};

/* ---- Passes ---------------------------------------------------------------------------------- */

typedef struct {
    ar_execution *exec;
    int      level; /* passes of one level do not need each other */
    int      ntargets, nstages;
    int     *targets; /* arrays */
    int     *stages;  /* that it runs, in order */
    int      axes;    /* along which targets are cut; all have these lengths */
    int64_t  shape[ARRAS_MAX_RANK], tile[ARRAS_MAX_RANK], tiles[ARRAS_MAX_RANK];
    int      along;  /* the axis along which tiles follow each other; then in C order */
    int64_t  count;  /* of tiles */
    int64_t  bytes;  /* of scratch memory for a tile, roughly */
    int64_t  read;   /* bytes that a tile reads of files, roughly */
    int64_t  room;   /* bytes of decoded chunks that may be kept for it */
    int64_t  reached;    /* bytes of decoded chunks that all threads need at one time */
    int64_t  ahead;  /* chunks are decoded so many tiles before they are needed; 0: just then */
    bool     banded; /* all arrays in chunks that it reads have bands */
    struct ar_turns *turns; /* of a pass with ordered stages; NULL: it has none */

    double  moves; /* bytes of what it reads and writes, roughly: its share of the work */

    _Atomic int64_t next; /* tile: it is nobody's yet */
    _Atomic int64_t done; /* tiles */
} ar_pass;

typedef struct ar_exec_worker ar_exec_worker;

struct ar_execution {
    /* Given: */
    int            narrays, nstages;
    ar_exec_array *arrays;
    ar_stage     **stages;     /* what a stage reads is computed by stages before it */
    int64_t        memory;     /* bytes that may be used */
    int64_t        tile_bytes; /* of a tile, roughly; 0: as caches like it */
    ar_pool       *pool;

    /* Its own: */
    int             npasses;
    ar_pass        *passes;
    int64_t         scratch; /* bytes that a thread may use for a tile */
    int64_t         passing; /* bytes of all chunks on their way */
    int             at_once; /* threads that decode or encode at one time */
    ar_scratches       *hands;   /* with which they do */
    int64_t         cached;  /* bytes of decoded chunks that may be kept beside such tiles */
    int64_t         chunks;  /* bytes of all decoded chunks */
    ar_chunk_cache *cache;
    int             nworkers;
    ar_exec_worker *workers; /* one for each thread */
    ar_taskgraph   *tasks;
    int             settled; /* levels that are over */
    char          **handed;  /* by stage: what its boxes hand on; NULL: nothing */
    ar_arena        arena;
};

/* Plans passes and makes them tasks, for what is given in *exec.  Close it whatever the status. */
arras_status ar_execution_open(ar_execution *exec, arras_error *err);
arras_status ar_execution_start(ar_execution *exec, arras_error *err);
arras_status ar_execution_wait(ar_execution *exec, arras_error *err);
void         ar_execution_cancel(ar_execution *exec); /* from any thread */
/* Passes count by their bytes, tiles that are under way by half. */
double       ar_execution_progress(const ar_execution *exec);
void         ar_execution_close(ar_execution *exec);
/* The box around all cells that an open execution reads of an array in a file. */
arras_status ar_execution_reads(ar_box *out, const ar_execution *exec, int array, arras_error *err);
/* For people: passes, tiles, bytes. */
void ar_execution_explain(ar_text *out, const ar_execution *exec);

/* ---- Passes over memory (memory_pass.c) ------------------------------------------------------ */

/* Where all arrays that come from outside lie in memory, a pass is its stages and where their
 * operands are: one stage, or a band of stages that run one after the other in every tile, so that
 * what they hand on stays in the cache. */

/* For a tile of rows lo <= i < hi a stage computes the rows stride*lo - before up to
 * stride*(hi-1) + after of an axis of its results. */
typedef struct {
    int     axis;
    int64_t length; /* of the axis */
    int64_t stride, before, after;
} ar_row_range;

/* An array that there is only in tiles: each thread has it in scratch memory. */
typedef struct {
    int            stage; /* of the pass, that computes it */
    int64_t        offset;
    const int64_t *strides;
    int64_t        row_bytes; /* the stride along the axis of the rows */
} ar_tile_array;

typedef struct {
    const ar_stage       *stage;
    ar_operands           operands; /* of those that lie in memory as a whole */
    const ar_tile_array **inner;    /* by operand, for those that do not; NULL: all do */
    ar_row_range          rows;
    int                   rank; /* of its results */
} ar_memory_stage;

typedef struct {
    int              nstages;
    ar_memory_stage *stages;
    ar_tiling        tiling; /* of the last; along one axis where there are several */
    char            *scratch;
    int64_t          scratch_bytes; /* of each thread */
} ar_memory_pass;

/* Stages that run in one band, and operands of each, at most. */
enum { AR_MOST_ROW_STAGES = 64, AR_MOST_ROW_OPERANDS = 60 };

/* A task function: tiles of an ar_memory_pass. */
arras_status ar_memory_pass_run(void *context, int64_t first, int64_t last, int thread,
                                arras_error *err);

#endif
