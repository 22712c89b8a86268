/* run.h -- compiled programs become values.  The door of run/.  Sees base/, ir/, gen/, plan/,
 * pool/, build/, eval/ and product/. */
#ifndef AR_RUN_H
#define AR_RUN_H

#include "build/build.h"
#include "eval/eval.h"
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
ar_core       *ar_core_keep(ar_core *core);
void           ar_core_drop(ar_core *core); /* NULL is fine */
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

/* ---- Steps box by box, on arrays that need not be whole (step_box.c) ------------------------- */

/* An array, or a box of it: where its cell [0, 0, ...] is, or would be.  Cells along the last axis
 * lie side by side. */
typedef struct {
    char          *origin;
    const int64_t *shape, *strides; /* shape: of the whole array */
    bool           far; /* not in caches: inputs are asked for ahead, results go around them */
} ar_operand;

/* A step of a core, with every size known. */
typedef struct {
    const ar_core *core;
    const ar_step *step;
    const int64_t *sizes;
    ar_multiplier  by;      /* whom it is computed */
} ar_box_step;

/* shapes: of results and inputs, in the order of operands. */
ar_box_step ar_box_step_make(const ar_core *core, int step, const int64_t *sizes,
                             const int64_t *const *shapes);
/* Makes a box one that can be computed on its own: some steps need whole rows, or many at once. */
void ar_box_step_widen(const ar_box_step *s, const int64_t *shape, int64_t *lo, int64_t *hi);
/* Whether a box of an input must have all of an axis. */
bool ar_box_step_wants_all(const ar_box_step *s, int input, int axis);
/* The cells lo <= i < hi of all results; operands: results, then inputs. */
arras_status ar_box_step_run(const ar_box_step *s, const ar_operand *operands, const int64_t *lo,
                             const int64_t *hi, arras_error *err);

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

#endif
