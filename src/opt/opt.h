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
 * over several axes: one reduction within another combines them in another order.  What goes wrong
 * goes wrong there too, with the same status, here or when it is run, but for this: a minimum over
 * nothing is EINDEX (was: ESHAPE); what is wrong with the reads of an array that has no cells is
 * not looked at, nor is what no row of a sparse matrix uses; a size that a call makes negative
 * within an index lambda is a number like others.
 *
 * Data is borrowed: the old graph must outlive the new one. */
arras_status ar_normalise(arras_graph **out, const arras_graph *g, arras_error *err);

/* A normal form in which fewer arrays are stored: one that only other lambdas read, always inside
 * it, without reductions and cheap enough for its number of readers, is computed where it is read.
 * A new graph, the caller's, of the same bits; `normal` must be a normal form and outlive it. */
arras_status ar_fuse(arras_graph **out, const arras_graph *normal, arras_error *err);

#endif
