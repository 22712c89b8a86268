/* stream.h -- programs on arrays that need not fit into memory.  The door of stream/.  Sees base/,
 * ir/, gen/, plan/, run/ and store/.
 *
 * A flow is a list of stages that compute arrays from arrays.  It runs in passes.  A pass computes
 * its targets (results in files or in memory, and what has to be kept between passes) tile by tile:
 * for each tile it reads what the tile needs of arrays in files, halo included, computes what lies
 * between in scratch memory, and writes.  Tiles run on all threads; what they need together stays
 * within the memory that was allowed.  Stages take every array by the address that its cell
 * [0, 0, ...] would have, so that they need not know of tiles, and cells have the same bits
 * whatever the tiles are. */
#ifndef AR_STREAM_H
#define AR_STREAM_H

#include <arras/sweep.h>

#include "run/run.h"
#include "store/store.h"

#include <arras/apply.h>

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
    ar_chunk_bands *bands;  /* where its chunks are decoded to; NULL: to the flow's cache */
    bool            kept;   /* it is computed, or loaded, once and for all, before others use it */
    bool            owned;  /* `whole` is the flow's */
    int             level;  /* of the pass that keeps it */
    ar_sink *spill; /* what is kept and does not fit into memory; read through `source` later */
    char    *spill_path;
} ar_flow_array;

/* ---- Stages ---------------------------------------------------------------------------------- */

enum { AR_STAGE_INPUTS = 256 }; /* at most */

typedef struct ar_flow  ar_flow;
typedef struct ar_stage ar_stage;

typedef struct {
    /* What the cells lo <= i < hi of the results need of an input. */
    ar_region (*need)(const ar_stage *s, const ar_flow *flow, int input, const int64_t *lo,
                      const int64_t *hi);
    /* Computes these cells; operands: results, then inputs.  Several threads at once. */
    arras_status (*compute)(const ar_stage *s, const ar_operand *operands, const int64_t *lo,
                            const int64_t *hi, int thread, arras_error *err);
    /* Makes a box one that can be computed on its own; NULL: any can. */
    void (*widen)(const ar_stage *s, const ar_flow *flow, int64_t *lo, int64_t *hi);
    /* Whether it counts on rows of an input lying one right behind the other, with this axis as
     * long as it is in the whole array; NULL: it never does. */
    bool (*wants_dense)(const ar_stage *s, int input, int axis);
} ar_stage_type;

struct ar_stage {
    const ar_stage_type *type;
    int                  nresults, ninputs; /* results have one shape */
    const int           *results, *inputs;  /* arrays */
};

/* ---- Passes ---------------------------------------------------------------------------------- */

typedef struct {
    ar_flow *flow;
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
    int64_t  met;    /* bytes of decoded chunks that all threads need at one time */
    int64_t  ahead;  /* chunks are decoded so many tiles before they are needed; 0: just then */
    bool     banded; /* all arrays in chunks that it reads have bands */

    double  moves; /* bytes of what it reads and writes, roughly: its share of the work */

    _Atomic int64_t next; /* tile: it is nobody's yet */
    _Atomic int64_t done; /* tiles */
} ar_pass;

typedef struct ar_flow_worker ar_flow_worker;

struct ar_flow {
    /* Given: */
    int            narrays, nstages;
    ar_flow_array *arrays;
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
    ar_hands       *hands;   /* with which they do */
    int64_t         cached;  /* bytes of decoded chunks that may be kept beside such tiles */
    int64_t         chunks;  /* bytes of all decoded chunks */
    ar_chunk_cache *cache;
    int             nworkers;
    ar_flow_worker *workers; /* one for each thread */
    ar_taskgraph   *tasks;
    int             settled; /* levels that are over */
    ar_arena        arena;
};

/* Plans passes and makes them tasks, for what is given in *flow.  Close it whatever the status. */
arras_status ar_flow_open(ar_flow *flow, arras_error *err);
arras_status ar_flow_start(ar_flow *flow, arras_error *err);
arras_status ar_flow_wait(ar_flow *flow, arras_error *err);
void         ar_flow_cancel(ar_flow *flow); /* from any thread */
/* Passes count by their bytes, tiles that are under way by half. */
double       ar_flow_progress(const ar_flow *flow);
void         ar_flow_close(ar_flow *flow);
/* The box around all cells that an open flow reads of an array in a file. */
arras_status ar_flow_reads(ar_box *out, const ar_flow *flow, int array, arras_error *err);
/* For people: passes, tiles, bytes. */
void ar_flow_explain(ar_text *out, const ar_flow *flow);

/* ---- Compiled programs as flows (program_flow.c) --------------------------------------------- */

/* What a name of a program is bound to in a file. */
typedef struct {
    const char *name;
    ar_source  *source; /* of an input */
    ar_sink    *sink;   /* of an output */
} ar_file_binding;

typedef struct {
    ar_flow        flow;
    arras_program *program;
    const ar_core *core;
    int64_t       *sizes;
    arras_results *results; /* outputs without a file */
    ar_arena       arena;
} ar_program_flow;

/* Close it whatever the status. */
arras_status ar_program_flow_open(ar_program_flow *out, arras_program *p, int n,
                                  const arras_binding *inputs, int nfiles,
                                  const ar_file_binding *files, int64_t memory, arras_error *err);
void         ar_program_flow_close(ar_program_flow *flow);

/* ---- Functions in C as stages (native_*.c) --------------------------------------------------- */

typedef struct ar_native ar_native;

/* Checks a spec against the arrays of a flow that it reads, finds reach and shape, builds its text.
 * Its outputs will be the arrays from number first_result on. */
arras_status ar_native_new(ar_native **out, const arras_apply_spec *spec, int narrays,
                           const ar_flow_array *arrays, int first_result,
                           const ar_build_options *build, arras_error *err);
void         ar_native_free(ar_native *native); /* NULL is fine */
/* Memory for each thread, before the flow is opened. */
arras_status ar_native_prepare(ar_native *native, int threads, arras_error *err);
ar_stage    *ar_native_stage(ar_native *native);
/* Output m as an array: name (of the native's own), type and shape. */
ar_flow_array ar_native_output(const ar_native *native, int m);

/* What functions call: see the public header. */
const char *ar_cell_outside(const arras_cell *cell, int input, int n, const int64_t *offset);
void        ar_cell_fail(const arras_cell *cell, const char *message);

/* ---- Arrays in other chunks (rechunk.c) ------------------------------------------------------ */

arras_status ar_rechunking_start(arras_rechunking **out, ar_source *source, ar_sink *sink,
                                 const arras_rechunk_options *options, arras_error *err);
arras_status ar_rechunking_wait(arras_rechunking *r, arras_error *err);
void         ar_rechunking_cancel(arras_rechunking *r);
double       ar_rechunking_progress(const arras_rechunking *r);
void         ar_rechunking_report(arras_rechunk_report *out, const arras_rechunking *r);
void         ar_rechunking_free(arras_rechunking *r);

/* ---- Whole sinks (sink_boxes.c) -------------------------------------------------------------- */

/* Cells of a box in C order. */
typedef arras_status ar_box_reader(void *context, const ar_box *box, char *cells, arras_error *err);

/* Writes all of a sink in boxes of whole chunks, each of at most so many bytes unless a chunk is
 * larger. */
arras_status ar_sink_write_all(ar_sink *sink, int64_t memory, int threads, ar_box_reader *read,
                               void *context, arras_error *err);

/* ---- Ordered sweeps in place (sweep_loop.c) -------------------------------------------------- */

/* As tests want it; what is 0 is chosen. */
typedef struct {
    int     axes;          /* before and with the one that is cut into columns */
    int64_t height, width; /* of blocks; both or none */
    int64_t slab;          /* rows that are read at once */
} ar_sweep_tuning;

arras_status ar_sweeping_open(arras_sweeping **out, const arras_sweep_request *request,
                              const ar_sweep_tuning *tuning, arras_error *err);
arras_status ar_sweeping_run(arras_sweep_report *report, arras_sweeping *s, arras_error *err);
void         ar_sweeping_close(arras_sweeping *s);
void         ar_sweeping_cancel(arras_sweeping *s);
double       ar_sweeping_progress(const arras_sweeping *s);

#endif
