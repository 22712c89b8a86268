/* kit.h -- what kernels call: as texts that stand before them, and as tables of functions of the
 * library that they are handed.  The door of gen/kit/.  Sees base/ and ir/. */
#ifndef AR_GEN_KIT_H
#define AR_GEN_KIT_H

#include "ir/ir.h"

/* ---- Texts (kit.c) --------------------------------------------------------------------------- */

extern const char ar_kit_scalar[]; /* ir/scalar_kit.h: what ops.def calls */
extern const char ar_kit_trees[];  /* ir/trees.h: numbers of the order of sums */
extern const char ar_kit_folds[];  /* fold_kit.h: many cells become one */
extern const char ar_kit_vector[]; /* vector_kit.h: the same with vectors */
extern const char ar_kit_kernel[]; /* kernel_kit.h: of all kernels in strips; then come */
extern const char ar_kit_edges[];  /* edge_kit.h: of all kernels */
extern const char ar_kit_stream[]; /* stream_kit.h */
extern const char ar_kit_pairs[];  /* pair_kit.h: complex numbers that are none of the language */
extern const char ar_kit_items[];  /* item_kit.h: reductions of one item */
extern const char ar_kit_plain[];  /* plain_kit.h: items in C */
extern const char ar_kit_opencl[]; /* opencl_kit.h: items in OpenCL C */

/* ---- Folds of the library (folds.c) ---------------------------------------------------------- */

extern const void *const ar_folds_plain[], *const ar_folds_avx2[];
/* Which table; -1: the library has none. */
int ar_fold_number(ar_op op, arras_dtype dtype);

#endif
