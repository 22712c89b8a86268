/* product_avx2.c -- tiles of products, compiled for AVX2 and FMA (cmake/library.cmake).  12 of the
 * 16 registers hold sums, two a row of the strip and one a cell of a. */
#include "run/product_kernel.h"

#if defined __AVX2__ && defined __FMA__
#include <immintrin.h>

#define ROWS 6

#define NAMED(name) name##_f32
#define CELL float
#define VECTOR __m256
#define SPLAT _mm256_set1_ps
#define FMA _mm256_fmadd_ps
#include "run/product_tile.inc"

#define NAMED(name) name##_f64
#define CELL double
#define VECTOR __m256d
#define SPLAT _mm256_set1_pd
#define FMA _mm256_fmadd_pd
#include "run/product_tile.inc"

#define TILES(type)                                                                                \
    {                                                                                              \
        { whole_##type, half_columns_##type }, { half_rows_##type, quarter_##type }                \
    }

const ar_product_kernel ar_product_avx2[] = { { ROWS, 16, TILES(f32) }, { ROWS, 8, TILES(f64) } };
#endif
