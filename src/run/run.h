/* run.h -- programs become values.  The door of run/: the devices that evaluate a graph, and the
 * results they give.  Sees base/ and ir/. */
#ifndef AR_RUN_H
#define AR_RUN_H

#include "ir/ir.h"

/* The outputs of one run, in the graph's order.  Names, shapes and cells are its own: results
 * outlive the graph and the inputs. */
struct arras_results {
    int            count;
    arras_binding *items; /* C order; cells are released one by one, the rest with the arena */
    ar_arena       arena;
};

/* Evaluates every output, cell by cell, straight from the operation table.  Slow, simple, complete:
 * the oracle of all tests, and the device that is always there. */
arras_status ar_reference_run(arras_results **out, const arras_graph *g, int n,
                              const arras_binding *inputs, arras_error *err);
void         ar_results_free(arras_results *results); /* NULL is fine */

#endif
