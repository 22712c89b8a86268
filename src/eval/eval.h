/* eval.h -- a graph becomes values, cell by cell, straight from the operation table; arrays as
 * values, what users bind, and results.  The door of eval/.  Sees base/ and ir/. */
#ifndef AR_EVAL_H
#define AR_EVAL_H

#include "eval/inputs.h"
#include "eval/tensor.h"

/* The outputs of one run, in the graph's order.  Names, shapes and cells are its own: results
 * outlive the graph and the inputs. */
struct arras_results {
    int            count;
    arras_binding *items;  /* C order; cells are released one by one, the rest with the arena */
    bool           pooled; /* cells are of buffers.h */
    ar_arena       arena;
};

/* Evaluates every output, cell by cell, straight from the operation table.  Slow, simple, complete:
 * the oracle of all tests, and the device that is always there. */
arras_status ar_reference_run(arras_results **out, const arras_graph *g, int n,
                              const arras_binding *inputs, arras_error *err);

/* For outputs that are made one by one, in memory that is kept warm; `most` of them. */
arras_status ar_results_new(arras_results **out, int most, arras_error *err);
/* *out: its buffer, in C order; what it holds is undefined. */
arras_status ar_results_add(const arras_buffer **out, arras_results *results, const char *name,
                            arras_dtype dtype, int rank, const int64_t *shape, arras_error *err);
void         ar_results_free(arras_results *results); /* NULL is fine */

/* What a kernel met in a box of cells, of which it says only that something was wrong: the message
 * of the reference evaluator.  in: as the lambda's inputs.  OK: it meets nothing. */
arras_status ar_reference_fault(arras_array lambda, const ar_tensor *const *in,
                                const int64_t *sizes, const int64_t *lo, const int64_t *hi,
                                arras_error *err);

#endif
