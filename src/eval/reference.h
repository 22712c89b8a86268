/* reference.h -- what the files of the reference evaluator share.  Only reference*.c see this. */
#ifndef AR_EVAL_REFERENCE_H
#define AR_EVAL_REFERENCE_H

#include "eval/eval.h"

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
ar_job_function ar_reference_scan;
ar_job_function ar_reference_stack, ar_reference_concat, ar_reference_roll, ar_reference_permute;
ar_job_function ar_reference_reshape, ar_reference_index, ar_reference_gather;

/* ---- Reductions of many cells to one (reference_fold.c) -------------------------------------- */

/* In the order that ir/trees.h states: blocks[k], of its binary counter, holds 2^k blocks.  argmin
 * and argmax keep the best cell so far in `serial`, and its place. */
typedef struct {
    arras_dtype     first, compute, result; /* cells are cast to first, then to compute */
    ar_op_function *combine;
    ar_op_function *is_better, *is_nan; /* of argmin and argmax only */
    int             identity;           /* 0, 1, or -1: there is none */
    int64_t         place;
    uint64_t        count;
    bool            partials;  /* cells are results of parts: each counts as a block */
    bool            in_blocks; /* even if they are few: cells of a part that is not the first */
    ar_value        serial, lanes[AR_FOLD_LANES], blocks[AR_FOLD_DEPTH];
} ar_fold;

void ar_fold_open(ar_fold *fold, ar_reduction reduction, ar_type operand);
void ar_fold_open_sum(ar_fold *fold, arras_dtype dtype); /* in this very type: of bools, their or */
void ar_fold_start(ar_fold *fold);
void ar_fold_add(ar_fold *fold, arras_dtype dtype, const void *cell, int64_t place);
/* x * y, both in the type it computes in, rounded together with the sum: of AR_FOLD_SERIAL at most.
 */
void ar_fold_add_product(ar_fold *fold, const ar_value *x, const ar_value *y);
bool ar_fold_end(ar_fold *fold, void *out); /* false: nothing was added and there is no identity */

#endif
