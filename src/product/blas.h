/* blas.h -- products of matrices by OpenBLAS, which is loaded when it is first asked for.
 * Internal to product/; sees base/ and ir/. */
#ifndef AR_PRODUCT_BLAS_H
#define AR_PRODUCT_BLAS_H

#include "product/product_blocks.h"

/* What environment ARRAS_BLAS says: nothing; "none"; or the path of a library, which may then not
 * be there. */
typedef enum { AR_BLAS_ANY, AR_BLAS_NONE, AR_BLAS_NAMED } ar_blas_wish;

ar_blas_wish ar_blas_wished(void);

/* False where the library can't be found or is not wished.  Each product runs in the thread that
 * asks for it. */
bool ar_blas_available(void);

/* Whether ar_blas_run can compute it: one of the two axes of each operand has cells side by side,
 * and lengths are within the library's. */
bool ar_blas_takes(const ar_product *product);
/* Needs ar_blas_available and ar_blas_takes.  Threads may call it at the same time. */
void ar_blas_run(const ar_product *product);

#endif
