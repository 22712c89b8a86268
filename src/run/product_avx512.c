/* product_avx512.c -- tiles of products, compiled for AVX-512 (cmake/library.cmake).  28 of the 32
 * registers hold sums, two a row of the strip and one a cell of a. */
#include "run/product_kernel.h"

#if defined __AVX512F__
#include <immintrin.h>

#define UNROLL _Pragma("GCC unroll 14")
#define ROWS 14

#define TILE tile_f32
#define CELL float
#define VECTOR __m512
#define SPLAT _mm512_set1_ps
#define FMA _mm512_fmadd_ps
#include "run/product_tile.inc"

#define TILE tile_f64
#define CELL double
#define VECTOR __m512d
#define SPLAT _mm512_set1_pd
#define FMA _mm512_fmadd_pd
#include "run/product_tile.inc"

const ar_product_kernel ar_product_avx512[] = { { ROWS, 32, tile_f32 }, { ROWS, 16, tile_f64 } };
#endif
