/* dgfem_steps.h -- a right-hand side without a graph: every operation a program of its own, one
 * launched after the other, every array in memory of its own. */
#ifndef DGFEM_STEPS_H
#define DGFEM_STEPS_H

#include "../../examples/dgfem/dgfem.h"

typedef struct steps steps;

/* All is compiled and all memory touched here.  What it is given is borrowed. */
arras_status steps_make(steps **out, const dg_problem *problem, const dg_state *state,
                        const dg_state *rates, int threads, arras_error *err);
arras_status steps_run(steps *s, arras_error *err);
int64_t      steps_count(const steps *s); /* launches a run */
void         steps_free(steps *s);

#endif
