/* gemm.h -- index lambdas that are products of two matrices, perhaps many at once: large ones need
 * no kernel (product/product.h).  Sees base/ and ir/. */
#ifndef AR_PLAN_GEMM_H
#define AR_PLAN_GEMM_H

#include "ir/ir.h"

/* out[.., i, .., j] = sum over k of a[..] * b[..], of f32, f64, c64 or c128.  j is the last axis of
 * the result; every other axis but the row i is a batch: one product for each index.  An axis of
 * the result that an operand has not is -1 among its axes. */
typedef struct {
    int input;                /* of the lambda */
    int term;                 /* axis along which the sum goes */
    int axis[ARRAS_MAX_RANK]; /* axis of the operand for each axis of the result, or -1 */
} ar_gemm_operand;

typedef struct {
    arras_dtype     dtype;
    int             rank, row, column; /* of the result */
    ar_gemm_operand a, b;              /* a has the row, b the column */
    arras_dim       terms;
    bool            dense; /* both operands are in C order; set by the plan */
} ar_gemm;

/* Both operands are plain reads: each index is one of the result's or the sum's, each once. */
bool ar_gemm_match(ar_gemm *out, arras_array lambda);

/* Whether one product is so large that blocks (product/product_blocks.h), or a library, are faster
 * than a generated kernel.  Depends on nothing else, as they add in another order
 * (docs/semantics.md). */
bool ar_gemm_fills_blocks(int64_t rows, int64_t columns, int64_t terms);
bool ar_gemm_is_large(int64_t rows, int64_t columns, int64_t terms);

/* OpenBLAS's sums may depend on how many rows it is given at once.  So that results do not
 * depend on threads, boxes that go to it begin at multiples of this, and end there or with the
 * result; and they have all columns. */
enum { AR_GEMM_ROWS = 512 };

#endif
