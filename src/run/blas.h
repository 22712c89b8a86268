/* blas.h -- products of matrices by OpenBLAS, which is loaded when it is first asked for.
 * Internal to run/; sees base/, ir/, gen/ and plan/. */
#ifndef AR_RUN_BLAS_H
#define AR_RUN_BLAS_H

#include "plan/plan.h"

/* c[i, j] = sum over k of a[i, k] * b[k, j].  Strides are in bytes. */
typedef struct {
    arras_dtype dtype;
    int64_t     rows, columns, terms;
    const char *a;
    int64_t     a_row, a_term;
    const char *b;
    int64_t     b_term, b_column;
    char       *c; /* its columns lie side by side */
    int64_t     c_row;
} ar_product;

/* False where the library can't be found or environment ARRAS_BLAS is "none"; it may also be the
 * path of a library.  Each product runs in the thread that asks for it. */
bool ar_blas_available(void);

/* Whether ar_blas_run can compute it: one of the two axes of each operand has cells side by side,
 * and lengths are within the library's. */
bool ar_blas_takes(const ar_product *product);
/* Needs ar_blas_available and ar_blas_takes.  Threads may call it at the same time. */
void ar_blas_run(const ar_product *product);

/* The same for what ar_gemm_match found: a box of its result, all of its columns, as a kernel would
 * compute it.  `takes` looks at the strides only. */
bool ar_blas_gemm_takes(const ar_gemm *gemm, const ar_kernel_args *args);
void ar_blas_gemm(const ar_gemm *gemm, const ar_kernel_args *args, const int64_t *lo,
                  const int64_t *hi);

#endif
