/* product_avx512.c -- tiles of products, compiled for AVX-512 (cmake/library.cmake).  28 of the 32
 * registers hold sums, two a row of the strip and one a cell of a. */
#include "run/product_kernel.h"

#if defined __AVX512F__
#include <immintrin.h>

#define ROWS 14

#define NAMED(name) name##_f32
#define CELL float
#define VECTOR __m512
#define SPLAT _mm512_set1_ps
#define ADD(sum, x, y) __asm__("vfmadd231ps %2, %1, %0" : "+v"(sum) : "v"(y), "v"(x))
#define ADD_FROM(sum, x, y) __asm__("vfmadd231ps %2%{1to16%}, %1, %0" : "+v"(sum) : "v"(y), "m"(x))
#include "run/product_tile.inc"

#define NAMED(name) name##_f64
#define CELL double
#define VECTOR __m512d
#define SPLAT _mm512_set1_pd
#define ADD(sum, x, y) __asm__("vfmadd231pd %2, %1, %0" : "+v"(sum) : "v"(y), "v"(x))
#define ADD_FROM(sum, x, y) __asm__("vfmadd231pd %2%{1to8%}, %1, %0" : "+v"(sum) : "v"(y), "m"(x))
#include "run/product_tile.inc"

#define TILES_OF(type, layout)                                                                     \
    {                                                                                              \
        { layout##whole_##type, layout##half_columns_##type },                                     \
        {                                                                                          \
            layout##half_rows_##type, layout##quarter_##type                                       \
        }                                                                                          \
    }
#define TILES(type)                                                                                \
    {                                                                                              \
        TILES_OF(type, ), TILES_OF(type, packed_)                                                  \
    }

const ar_product_kernel ar_product_avx512[] = { { ROWS, 32, TILES(f32) },
                                                { ROWS, 16, TILES(f64) } };
#endif
