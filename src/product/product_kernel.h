/* product_kernel.h -- tiles of a product: the innermost loops, one table for each instruction set.
 * Internal to product/; sees base/ only. */
#ifndef AR_PRODUCT_KERNEL_H
#define AR_PRODUCT_KERNEL_H

#include "base/base.h"

/* Adds a[i, k] * strip[k, j] over k to c[i, j], for all cells of a tile.  The sums stay in
 * registers until all terms are added.  Strides are in bytes. */
typedef struct {
    const char *a;      /* its terms lie side by side */
    int64_t     a_row;  /* if it is not packed */
    bool        packed; /* instead, of each term a whole tile's rows lie side by side */
    const char *strip; /* rows of as many columns as a tile has, aligned to 64 bytes */
    int64_t     terms;
    char       *c; /* its columns lie side by side */
    int64_t     c_row;
    int64_t     c_rows; /* that c has of the tile's */
    bool        first;  /* terms of these cells: c is not read */
    /* What is far away and needed after the tile: meanwhile AR_NEXT_BYTES of each are asked for
     * every AR_NEXT_TERMS terms.  They need not exist. */
    const char *strip_after, *a_after; /* of these all side by side */
    int64_t     a_after_row;           /* to the other of AR_NEXT_ROWS */
    const char *b_after;
    int64_t     b_after_row;
} ar_tile;

enum { AR_NEXT_BYTES = 128, AR_NEXT_TERMS = 16, AR_NEXT_ROWS = 2 };

typedef void ar_product_tile(const ar_tile *tile);

typedef struct {
    int              rows, columns; /* of a tile; both are even */
    ar_product_tile *run[2][2][2];  /* [1]: packed; [][1]: half of the rows; [][][1]: columns */
} ar_product_kernel;

/* The functions that product_tile.inc makes for one type, as `run`. */
#define AR_PRODUCT_TILES(type)                                                                     \
    {                                                                                              \
        AR_PRODUCT_LAYOUT(type, ), AR_PRODUCT_LAYOUT(type, packed_)                                \
    }
#define AR_PRODUCT_LAYOUT(type, layout)                                                            \
    {                                                                                              \
        { layout##whole_##type, layout##half_columns_##type },                                     \
        {                                                                                          \
            layout##half_rows_##type, layout##quarter_##type                                       \
        }                                                                                          \
    }

enum { AR_PRODUCT_F32, AR_PRODUCT_F64, AR_PRODUCT_TYPES };
/* The most that a tile has. */
enum { AR_TILE_ROWS = 14, AR_TILE_ROW_BYTES = 128 };

/* Each needs a processor that has them: see ar_product_kernels. */
extern const ar_product_kernel ar_product_avx2[AR_PRODUCT_TYPES]; /* and FMA */
extern const ar_product_kernel ar_product_avx512[AR_PRODUCT_TYPES];

#endif
