/* reference.h -- what the files of the reference evaluator share.  Only reference*.c see this. */
#ifndef AR_RUN_REFERENCE_H
#define AR_RUN_REFERENCE_H

#include "run/run.h"
#include "run/tensor.h"

/* ---- One node to compute --------------------------------------------------------------------- */

typedef struct {
    arras_array             node;
    const ar_tensor        *out; /* fresh: owned, C order, all 0 */
    const ar_tensor *const *in;
    const int64_t          *sizes;
    arras_error            *err;
} ar_job;

typedef arras_status ar_job_function(const ar_job *job);

ar_job_function ar_reference_const, ar_reference_size, ar_reference_map, ar_reference_cast;
ar_job_function ar_reference_lambda;
ar_job_function ar_reference_reduce, ar_reference_einsum, ar_reference_csr;
ar_job_function ar_reference_stack, ar_reference_concat, ar_reference_roll, ar_reference_permute;
ar_job_function ar_reference_reshape, ar_reference_index, ar_reference_gather;

/* ---- Inputs of a run (reference_bind.c) ------------------------------------------------------ */

typedef struct {
    const arras_graph *g;
    ar_tensor         *inputs; /* in the graph's order; no dtype: not bound */
    int64_t           *sizes;  /* what the bindings determine; -1: nothing */
    ar_arena           arena;  /* owns both */
    arras_error       *err;
} ar_inputs;

/* Checks every binding and finds the sizes.  Close it whatever the status. */
arras_status     ar_inputs_open(ar_inputs *inputs, const arras_graph *g, int n,
                                const arras_binding *bindings, arras_error *err);
void             ar_inputs_close(ar_inputs *inputs);
const ar_tensor *ar_inputs_find(const ar_inputs *inputs, arras_array input); /* NULL: not bound */

/* ---- Reductions of many cells to one (reference_fold.c) -------------------------------------- */

/* Cells are combined in a fixed binary tree: n cells are split at the largest power of two below n,
 * and each part is split again.  So the error of a sum grows with log n, and every device can give
 * the same bits.  `partial` is a binary counter: where bit k of `count` is set, partial[k] holds
 * 2^k cells.  argmin and argmax keep the best cell so far, partial[0], and its place. */
typedef struct {
    arras_dtype     first, compute, result; /* cells are cast to first, then to compute */
    ar_op_function *combine;
    ar_op_function *is_better, *is_nan; /* of argmin and argmax only */
    int             identity;           /* 0, 1, or -1: there is none */
    int64_t         place;
    uint64_t        count;
    ar_value        partial[64];
} ar_fold;

void ar_fold_open(ar_fold *fold, ar_reduction reduction, ar_type operand);
void ar_fold_open_sum(ar_fold *fold, arras_dtype dtype); /* in this very type: of bools, their or */
void ar_fold_start(ar_fold *fold);
void ar_fold_add(ar_fold *fold, arras_dtype dtype, const void *cell, int64_t place);
bool ar_fold_end(ar_fold *fold, void *out); /* false: nothing was added and there is no identity */

#endif
