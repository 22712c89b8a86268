/* product_blocks.h -- products of matrices of real numbers, computed by ourselves.
 *
 * A cell's terms are added in blocks of AR_PRODUCT_TERMS: within a block one after the other, each
 * product and sum rounded once, beginning with 0; then the sums of the blocks are added in order
 * (docs/semantics.md).  So a cell's bits depend on its terms only: not on how a product is cut into
 * boxes, on strides, or on the instruction set.
 *
 * Internal to product/; sees base/ and ir/. */
#ifndef AR_PRODUCT_BLOCKS_H
#define AR_PRODUCT_BLOCKS_H

#include "ir/ir.h"
#include "product/product_kernel.h"

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

/* Copies of all strips of b.  Threads with other rows of the same product make them together:
 * whoever needs one first copies it, and all use it. */
typedef struct {
    char             *strips; /* panels of AR_PRODUCT_TERMS terms, one after the other */
    _Atomic uint64_t *states; /* of each strip: 2 * turn when it is there, 1 less before */
    uint64_t          turn;   /* of ar_product_shared_turn */
} ar_product_shared;

/* The best table that this processor can run, by AR_PRODUCT_*; NULL: none. */
const ar_product_kernel *ar_product_kernels(void);

/* Of a strip: parts of a product end with one, or with half of one, where that is possible. */
int64_t ar_product_columns(const ar_product_kernel *kernels, arras_dtype dtype);
/* Of a tile. */
int64_t ar_product_rows(const ar_product_kernel *kernels, arras_dtype dtype);
/* Whether it copies a, too, before it multiplies. */
bool ar_product_copies_a(const ar_product *product);
/* Bytes of memory with which a product of these lengths, or shorter ones, runs at full speed.
 * shared: if it has such copies. */
int64_t ar_product_room(const ar_product_kernel *kernels, const ar_product *product, bool shared);
/* room: aligned to 64, of ar_product_room bytes, used until it returns; without (NULL) it is slower
 * and has the same bits.  dtype: ARRAS_F32 or ARRAS_F64.  Threads may call it at the same time. */
void ar_product_run(const ar_product_kernel *kernels, const ar_product *product, void *room);

/* Bytes for shared copies of b; memory: so many, aligned to 64, which stay the caller's. */
int64_t ar_product_shared_bytes(const ar_product_kernel *kernels, const ar_product *product);
void    ar_product_shared_open(ar_product_shared *shared, const ar_product_kernel *kernels,
                               const ar_product *product, void *memory);
/* While nobody uses them: b may have other cells, or be another of the same lengths. */
void ar_product_shared_turn(ar_product_shared *shared);
/* Some rows of a product, all columns.  Parts that are computed at the same time begin at other
 * strips if they are numbered. */
void ar_product_run_shared(const ar_product_kernel *kernels, const ar_product *product, void *room,
                           ar_product_shared *shared, int part, int parts);

#endif
