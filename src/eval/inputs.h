/* inputs.h -- what the user binds to the inputs and sizes of a program, checked.  Sees base/ and
 * ir/. */
#ifndef AR_EVAL_INPUTS_H
#define AR_EVAL_INPUTS_H

#include "eval/tensor.h"

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

/* One buffer, be it of an input or an output (`role`, for messages): strides are made or taken into
 * `strides`, which has room for its rank. */
arras_status ar_buffer_check(ar_tensor *out, int64_t *strides, const char *role, const char *name,
                             const arras_buffer *buffer, arras_error *err);

#endif
