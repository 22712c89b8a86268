/* product.h -- who computes the products of matrices that ar_gemm_match found, and in which boxes.
 * The door of product/.  Sees base/, ir/, gen/ and plan/. */
#ifndef AR_PRODUCT_H
#define AR_PRODUCT_H

#include "plan/plan.h"
#include "product/product_blocks.h"

/* Who computes the cells of a step: its kernel; or, of a large product of matrices,
 * product_blocks.c or OpenBLAS. */
typedef enum { AR_ENGINE_KERNEL, AR_ENGINE_BLOCKS, AR_ENGINE_BLAS } ar_engine;

/* shape: of the result.  Depends on lengths, type and processor only, so that a cell has the same
 * bits however the result is cut. */
ar_engine ar_engine_choose(const ar_gemm *gemm, const int64_t *shape, int64_t terms);

/* Whether it can compute operands with these strides. */
bool ar_engine_takes(ar_engine by, const ar_gemm *gemm, const ar_kernel_args *args);

/* What the boxes of one product share: copies of b. */
typedef struct {
    ar_product_shared strips;
    int64_t           box_rows;
    int               threads;
} ar_multiply_shared;

/* Bytes that they want for it; 0: they should share nothing. */
int64_t ar_multiply_shared_bytes(ar_engine by, const ar_gemm *gemm, const ar_kernel_args *args,
                                 int threads, int64_t cache);
/* memory: so many, aligned to 64; it stays the caller's. */
void ar_multiply_share(ar_multiply_shared *out, const ar_gemm *gemm, const ar_kernel_args *args,
                       int threads, void *memory);

/* The boxes into which a result is cut for so many threads. */
void ar_multiply_tiling(ar_tiling *out, ar_engine by, const ar_gemm *gemm,
                        const ar_kernel_args *args, int threads, bool shared);
/* Bytes of memory that one thread should have for boxes of these lengths. */
int64_t ar_multiply_room(ar_engine by, const ar_gemm *gemm, const ar_kernel_args *args,
                         const int64_t *lengths, bool shared);
/* A box of the result, as a kernel would compute it.  OpenBLAS wants boxes of AR_GEMM_ROWS.  room:
 * aligned to 64; NULL: it takes longer.  shared: NULL where nothing is, or where there was no
 * memory for it. */
void ar_multiply(ar_engine by, const ar_gemm *gemm, const ar_kernel_args *args,
                 const int64_t *lo, const int64_t *hi, void *room, ar_multiply_shared *shared);

#endif
