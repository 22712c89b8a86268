/* program.h -- what the files of compiled programs share: core.c, programs.c, instance*.c,
 * launch*.c.
 *
 * A core (plan and kernels) knows no sizes and no memory.  An instance is a core with every size
 * known: arrays have shapes, temporaries have memory, steps are tasks.  A program has a core for
 * each layout of its inputs that it met, and as many instances as launches ran at once. Internal
 * to run/. */
#ifndef AR_RUN_PROGRAM_H
#define AR_RUN_PROGRAM_H

#include "run/step_stage.h"

#include <pthread.h>
#include <stdatomic.h>

struct ar_core {
    atomic_int   kept;
    ar_plan      plan;
    arras_graph *optimised;
    int          nmodules;
    ar_module  **modules;
    ar_kernel  **kernels; /* by code */
    char       **sources; /* of each module */
    void        *notes;
    void (*release_notes)(void *notes);
    bool         may_fault; /* some step may */
    int          ndata;
    int         *data_index;
    int         *sole_reader; /* by array: the only step that reads it, -1 none, -2 several */
    bool        *copied;      /* by array: it is copied to an output */
    int64_t      nodes, optimise_ns, plan_ns, generate_ns, build_ns;
    bool         from_disk;
    ar_arena     arena;
};

/* A core for one layout of the inputs. */
typedef struct ar_variant {
    ar_core           *core;
    bool              *dense;     /* of each input */
    void             **constants; /* by array: memory of those computed once; else NULL */
    bool               filled;    /* they are computed */
    struct ar_variant *next;
} ar_variant;

/* ---- Instances (instance.c, instance_bands.c, instance_memory.c) ----------------------------- */

typedef struct {
    ar_step_stage   stage;
    ar_memory_stage alone; /* its pass, where it is in no band */
    ar_memory_pass  pass;  /* of it alone, or of the band of which it is the last */
    int64_t         shared_bytes; /* of what its boxes share; 0: nothing */
    int             home;         /* the last step of its band: mostly its own number */
} ar_step_run;

/* A binding as it was given, copied, so that the next launch can see what changed. */
typedef struct {
    const char *name;
    bool        has_strides;
    void       *data;
    arras_dtype dtype;
    int         rank;
    int64_t    *shape, *strides;
    int         input, size, output; /* what it binds; -1: not that */
} ar_bound;

typedef struct {
    ar_tensor to, from;
    int64_t   strides[ARRAS_MAX_RANK]; /* for one of them, where nobody else keeps them */
} ar_copy_job;

struct arras_run {
    arras_program *program;
    ar_core       *core;
    const bool    *dense;     /* of each input: the kernels take it in C order only */
    void         **constants; /* by array */
    int64_t       *sizes;
    ar_tensor     *arrays;  /* by number in the plan */
    bool          *in_band; /* by array: it is nowhere as a whole */
    int           *places; /* operands that are array a: places[first_place[a] ...] */
    int           *first_place;
    char         **operands; /* origins of all steps', one after the other */
    int            noperands;
    ar_step_run   *steps;
    int            nsteps;
    ar_taskgraph  *tasks;
    int            finish; /* the task that copies */
    ar_memory_plan memory;
    int64_t        bytes_moved;
    void          *block; /* of temporaries */
    void          *room;  /* of all steps that multiply */
    char          *shared; /* of those whose boxes share something */
    int64_t        shared_bytes;

    /* Of the launch: */
    int            nbound, bound_room;
    ar_bound      *bound;
    ar_tensor     *outputs; /* as bound, or as given in results; by number of output */
    int64_t       *output_strides; /* ARRAS_MAX_RANK for each */
    void         **detours; /* by output: memory in which it is computed first; NULL: none yet */
    void         **aligned; /* by input: memory for a copy that is aligned; NULL: none yet */
    ar_copy_job   *jobs;    /* when all steps are done */
    int            njobs;
    ar_copy_job   *entries; /* before the first step */
    int            nentries;
    bool           detoured; /* outputs are written by copies: inputs stay whole until then */
    arras_results *results;  /* outputs that were not bound */
    int64_t        updates, allocations;
    ar_trace      *trace;
    arras_status   started; /* of a run without tasks: how it went */
    arras_error    error;
    bool           busy, plain; /* plain: run by the reference evaluator */
    struct arras_run *next;
    ar_arena          arena; /* owns what does not say otherwise */
    ar_arena          names; /* owns what `bound` points to */
};

arras_status ar_instance_new(arras_run **out, arras_program *p, const ar_variant *v,
                             const int64_t *sizes, arras_error *err);
void         ar_instance_free(arras_run *run); /* NULL is fine */
/* Waits for a launch that was started. */
void ar_instance_end(arras_run *run);
/* Before each launch: what steps kept for one is not for the next. */
void ar_instance_begin(arras_run *run);
/* Sets the memory of an array in all steps that use it; true when it was another before. */
bool ar_instance_set(arras_run *run, int array, char *data, const int64_t *strides);

/* Decides which steps run together, now that sizes are known. */
arras_status ar_instance_bands(arras_run *run, arras_error *err);
void         ar_instance_bands_free(arras_run *run);

/* Runs one step to the end; for constants. */
arras_status ar_step_run_all(ar_step_run *step, ar_pool *pool, arras_error *err);
/* Gives temporaries their places, and the tasks the order that sharing memory asks for. */
arras_status ar_instance_place(arras_run *run, arras_error *err);

/* ENAME when the core reads an input that is not bound (program_sizes.c). */
arras_status ar_core_check_bound(const ar_core *core, const ar_inputs *inputs, arras_error *err);

/* ---- Programs (programs.c) ------------------------------------------------------------------- */

struct arras_program {
    const arras_graph *g;
    ar_pool           *pool;
    pthread_mutex_t    lock; /* of all below */
    ar_variant        *variants; /* the first is the one for arrays in C order */
    int                variants_left; /* that may be made; then arrays are copied */
    arras_run         *runs;     /* idle and busy ones; the one used last comes first */
    const void       **data;
    ar_core_maker     *maker;
    void              *context;
    void (*release)(void *context);
    char          *warning;
    int            threads;
    int64_t        tile_bytes;
    bool           from_memory;
    atomic_bool    tracing;
    arras_counters counters;
};

/* The variant for a layout, made if need be, or the first.  Takes the lock itself. */
arras_status ar_program_variant(ar_variant **out, arras_program *p, const bool *dense,
                                arras_error *err);

#endif
