/* workload.h -- for the files that make workloads: rows of shapes with weights. */
#ifndef AR_WORKLOAD_H
#define AR_WORKLOAD_H

#include "chunk/chunk.h"

arras_status ar_workload_new(arras_workload **out, int rank, arras_error *err);
/* Sets shapes, weights and axes; rows of weight 0 are left out.  Weights add up to less than 2^63.
 */
arras_status ar_workload_set_shapes(arras_workload *w, int64_t n, const int64_t *shapes,
                                    const int64_t *weights, arras_error *err);
/* Sets one axis from rows (length, weight). */
arras_status ar_workload_set_axis(arras_workload *w, int axis, int64_t n, const int64_t *lengths,
                                  size_t stride, const int64_t *weights, arras_error *err);
/* Hands a finished workload out, or frees it. */
arras_status ar_workload_give(arras_workload **out, arras_workload *w, arras_status status);

#endif
