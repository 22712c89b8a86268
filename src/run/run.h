/* run.h -- compiled programs become values.  The door of run/.  Sees base/, ir/, gen/, plan/,
 * pool/, build/, eval/, product/, store/ and exec/. */
#ifndef AR_RUN_H
#define AR_RUN_H

#include "build/build.h"
#include "eval/eval.h"
#include "exec/exec.h"
#include "plan/plan.h"
#include "pool/pool.h"
#include "product/product.h"

/* ---- Compiled programs (core.c, programs.c, launch.c) ---------------------------------------- */

/* A plan and its kernels: what programs of one structure share.  Counted: keep and drop. */
typedef struct ar_core ar_core;

/* A translation unit. */
typedef struct {
    ar_text text;
    bool    in_vectors; /* no loop of it is left to the compiler to make vectors of */
} ar_kernel_source;

typedef struct {
    ar_plan           plan;      /* taken over, with the graph it is of */
    arras_graph      *optimised; /* that graph */
    int               nsources;  /* translation units, built at the same time */
    ar_kernel_source *sources; /* of the kernels: functions ar_kernel_0, ar_kernel_1, ... by code */
    void             *notes;   /* why the plan is as it is, for who made it; taken over */
    void (*release_notes)(void *notes);
    int         ndata;      /* of the plan */
    const int  *data_index; /* of the plan's data among the data as recorded; copied */
    const char *compiler, *cache;
    bool        no_cache;
    int64_t     optimise_ns, plan_ns, generate_ns;
    int64_t     nodes; /* of the program as recorded */
} ar_core_parts;

/* Builds the kernels.  The plan, its graph and the notes are taken over in any case. */
arras_status   ar_core_new(ar_core **out, ar_core_parts *parts, arras_error *err);
ar_core       *ar_core_retain(ar_core *core);
void           ar_core_release(ar_core *core); /* NULL is fine */
void           ar_core_source(ar_text *out, const ar_core *core);
const ar_plan *ar_core_plan(const ar_core *core);
const void    *ar_core_notes(const ar_core *core);
const int     *ar_core_data(int *n, const ar_core *core);

/* Finds or makes the core for arrays of which those that are not `dense` have any strides. */
typedef arras_status ar_core_maker(ar_core **out, void *context, const bool *dense,
                                   arras_error *err);

typedef struct {
    const arras_graph *g;    /* as recorded; kept */
    ar_core           *core; /* NULL: the reference evaluator does it all.  Taken over on success */
    const char        *warning; /* why there is no core; copied */
    int                ndata;
    const void *const *data; /* of the plan's data, in its order; copied */
    ar_core_maker     *maker;
    void              *context; /* of the maker, and what releases it */
    void (*release)(void *context);
    int     threads;
    int64_t tile_bytes;
    bool    from_memory;
} ar_program_parts;

arras_status   ar_program_new(arras_program **out, const ar_program_parts *parts, arras_error *err);
void           ar_program_free(arras_program *p); /* NULL is fine */
const char    *ar_program_warning(const arras_program *p);
const ar_core *ar_program_core(const arras_program *p);
void           ar_program_counters(arras_counters *out, const arras_program *p);
/* Of the last launch: copied to `sizes`, one for each of the core's; false: there was none. */
bool         ar_program_sizes(int64_t *sizes, const arras_program *p);
arras_status ar_program_trace(arras_program *p, bool on, arras_error *err);
/* DOT and TRACE of the last launch. */
arras_status ar_program_picture(ar_text *out, const arras_program *p, arras_program_text form,
                                arras_error *err);

arras_status ar_launch(arras_results **out, arras_program *p, int n, const arras_binding *bindings,
                       arras_error *err);
arras_status ar_launch_start(arras_run **out, arras_program *p, int n,
                             const arras_binding *bindings, arras_error *err);
arras_status ar_launch_wait(arras_results **out, arras_run *run, arras_error *err);
void         ar_launch_cancel(arras_run *run);
double       ar_launch_progress(const arras_run *run);

/* ---- What a program is bound to (program_sizes.c) -------------------------------------------- */

/* The values of the core's sizes for these inputs, all of which must be bound; cells are not looked
 * at but those of sizes.  sizes: one for each of the core's. */
arras_status       ar_program_solve(int64_t *sizes, const arras_program *p, int n,
                                    const arras_binding *inputs, arras_error *err);
const arras_graph *ar_core_graph(const ar_core *core);
ar_pool           *ar_program_pool(const arras_program *p);
int64_t            ar_program_tile_bytes(const arras_program *p); /* as asked for; 0: not */
/* The cells of the core's data number `number`. */
const void *ar_program_data(const arras_program *p, int number);

/* ---- Programs on arrays in files (file_launch.c) --------------------------------------------- */

/* What a name of a program is bound to in a file. */
typedef struct {
    const char *name;
    ar_source  *source; /* of an input */
    ar_sink    *sink;   /* of an output */
} ar_file_binding;

typedef struct {
    ar_execution   exec;
    arras_program *program;
    const ar_core *core;
    int64_t       *sizes;
    arras_results *results; /* outputs without a file */
    ar_arena       arena;
} ar_file_launch;

/* Close it whatever the status. */
arras_status ar_file_launch_open(ar_file_launch *out, arras_program *p, int n,
                                  const arras_binding *inputs, int nfiles,
                                  const ar_file_binding *files, int64_t memory, arras_error *err);
void         ar_file_launch_close(ar_file_launch *launch);

#endif
