/* opt.h -- graphs become better graphs of the same meaning, one pass per file.
 * The door of opt/.  Sees base/ and ir/. */
#ifndef AR_OPT_H
#define AR_OPT_H

#include "ir/ir.h"

/* The normal form of a program: a new graph, the caller's, with the same inputs, sizes and outputs,
 * in which every array an output needs is an INPUT, DATA or a LAMBDA.  Calls are written out;
 * numbers and sizes stand in the expressions that use them.  Nothing is fused or simplified.
 *
 * Evaluating the new graph gives the same bits, but for sums and products of floating-point cells
 * over several axes: one reduction within another adds in another order.  What goes wrong goes
 * wrong there too, with the same status but for two cases: a minimum over nothing is EINDEX (was:
 * ESHAPE), and what would be read wrongly for no cell at all is not looked at.
 *
 * Data is borrowed: the old graph must outlive the new one. */
arras_status ar_normalise(arras_graph **out, const arras_graph *g, arras_error *err);

#endif
