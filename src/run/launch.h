/* launch.h -- what the files of a launch share: launch.c, launch_names.c, launch_bind.c,
 * launch_memory.c.  Internal to run/. */
#ifndef AR_RUN_LAUNCH_H
#define AR_RUN_LAUNCH_H

#include "run/program.h"

/* ---- Names (launch_names.c) ------------------------------------------------------------------ */

/* Bindings by what they bind.  A name that is both an input and an output binds the input where it
 * stands first, and the output where it stands again. */
typedef struct {
    int                   ninputs; /* and sizes */
    arras_binding        *inputs;
    const arras_binding **outputs; /* by number of output; NULL: not bound */
    int                   noutputs;
    ar_arena              arena;
} ar_sorted;

/* Close it whatever the status. */
arras_status ar_bindings_sort(ar_sorted *out, const arras_graph *g, int n,
                              const arras_binding *bindings, arras_error *err);
void         ar_sorted_close(ar_sorted *sorted);
/* Where results have no place to go, every output must be bound. */
arras_status ar_bindings_check(const ar_sorted *sorted, const arras_graph *g, bool has_results,
                               arras_error *err);
/* An output as bound against what the program makes. */
arras_status ar_output_check(ar_tensor *out, int64_t *strides, const char *name,
                             const arras_buffer *buffer, arras_dtype dtype, int rank,
                             const int64_t *shape, arras_error *err);

/* ---- Bindings (launch_bind.c) ---------------------------------------------------------------- */

/* Finds or makes an instance for these bindings, and binds them.  The run is busy then. */
arras_status ar_run_bind(arras_run **out, arras_program *p, int n, const arras_binding *bindings,
                         bool has_results, arras_error *err);
void         ar_run_release(arras_run *run);
/* The bindings of a run again. */
arras_status ar_run_sorted(ar_sorted *out, const arras_run *run, arras_error *err);

/* ---- What overlaps (overlap.c) --------------------------------------------------------------- */

/* Two tensors may have a byte in common.  Columns of one matrix do not, nor do blocks of them. */
bool ar_tensors_meet(const ar_tensor *a, const ar_tensor *b);
/* Two cells of one tensor may have a byte in common. */
bool ar_tensor_meets_itself(const ar_tensor *tensor);

/* ---- Memory that is bound (launch_memory.c) -------------------------------------------------- */

bool ar_tensor_is_aligned(const ar_tensor *tensor);

/* Outputs, by number, must not share memory. */
arras_status ar_outputs_apart(const arras_graph *g, int n, const ar_tensor *outputs,
                              arras_error *err);

/* Gives steps the memory of what is bound.  Inputs that are not aligned are copied first; outputs
 * that share memory with inputs, or are not in C order, are computed elsewhere and copied last. */
arras_status ar_run_bind_memory(arras_run *run, arras_error *err);

#endif
