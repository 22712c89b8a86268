/* product_avx512.c -- tiles of products, compiled for AVX-512 (cmake/library.cmake).  28 of the 32
 * registers hold sums, two a row of the strip and one a cell of a.
 *
 * Instructions are written out: of a cell that is used twice a compiler would make a register. */
#include "product/product_kernel.h"

#if defined __AVX512F__
#include <immintrin.h>

#define ROWS 14

#define NAMED(name) name##_f32
#define CELL float
#define VECTOR __m512
#define SPLAT _mm512_set1_ps
#define ADD(sum, x, y) __asm__("vfmadd231ps %2, %1, %0" : "+v"(sum) : "v"(y), "v"(x))
#define ADD_FROM(sum, x, y) __asm__("vfmadd231ps %2%{1to16%}, %1, %0" : "+v"(sum) : "v"(y), "m"(x))
#include "product/product_tile.inc"

#define NAMED(name) name##_f64
#define CELL double
#define VECTOR __m512d
#define SPLAT _mm512_set1_pd
#define ADD(sum, x, y) __asm__("vfmadd231pd %2, %1, %0" : "+v"(sum) : "v"(y), "v"(x))
#define ADD_FROM(sum, x, y) __asm__("vfmadd231pd %2%{1to8%}, %1, %0" : "+v"(sum) : "v"(y), "m"(x))
#include "product/product_tile.inc"

const ar_product_kernel ar_product_avx512[] = { { ROWS, 32, AR_PRODUCT_TILES(f32) },
                                                { ROWS, 16, AR_PRODUCT_TILES(f64) } };
#endif
