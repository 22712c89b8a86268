/* product_avx2.c -- tiles of products, compiled for AVX2 and FMA (cmake/library.cmake).  12 of the
 * 16 registers hold sums, two a row of the strip and one a cell of a. */
#include "product/product_kernel.h"

#if defined __AVX2__ && defined __FMA__
#include <immintrin.h>

#define ROWS 6

#define NAMED(name) name##_f32
#define CELL float
#define VECTOR __m256
#define SPLAT _mm256_set1_ps
#define ADD(sum, x, y) ((sum) = _mm256_fmadd_ps(x, y, sum))
#define ADD_FROM(sum, x, y) ADD(sum, SPLAT(x), y)
#include "product/product_tile.inc"

#define NAMED(name) name##_f64
#define CELL double
#define VECTOR __m256d
#define SPLAT _mm256_set1_pd
#define ADD(sum, x, y) ((sum) = _mm256_fmadd_pd(x, y, sum))
#define ADD_FROM(sum, x, y) ADD(sum, SPLAT(x), y)
#include "product/product_tile.inc"

const ar_product_kernel ar_product_avx2[] = { { ROWS, 16, AR_PRODUCT_TILES(f32) },
                                              { ROWS, 8, AR_PRODUCT_TILES(f64) } };
#endif
