/* folds_avx2.c -- folds of real numbers, compiled for AVX2 (cmake/library.cmake). */
#if defined __AVX2__
#define FOLDS ar_folds_avx2
#include "gen/kit/folds.inc"
#else
typedef int ar_no_avx2;
#endif
