/* hand.h -- the hand-written kernels that Arras is measured against, and what they share.
 *
 * Each does one task of the benchmark as a strong C programmer would write it for this one task:
 * OpenMP threads that stay alive, vectors, results that do not fit a cache stored past it.  Arrays
 * are in C order; results begin at a multiple of 64 bytes. */
#ifndef BENCH_HAND_H
#define BENCH_HAND_H

#include <stdbool.h>
#include <stdint.h>
#include <string.h>
#ifdef __AVX__
#include <immintrin.h>
#endif

/* ---- Kernels: results first, then inputs, then sizes ----------------------------------------- */

void hand_cheap_chain(double *y, const double *a, const double *b, const double *c, int64_t n);
void hand_dear_chain(double *y, const double *a, const double *b, const double *c, const double *d,
                     int64_t n);
void hand_int_map(int64_t *y, const int64_t *x, int64_t n);
/* So short that a call from Python would be most of it: done `times` times. */
void hand_chain50(double *y, const double *x, int64_t n, int64_t times);
/* Gives false, and 0 in place of the cell, where an index is outside of x. */
bool hand_gather(double *y, const double *x, const int64_t *index, int64_t n);

void hand_stencil5(float *y, const float *x, int64_t rows, int64_t cols);
void hand_stencil7(float *y, const float *x, int64_t planes, int64_t rows, int64_t cols);
void hand_stencil5_twice(float *y, const float *x, int64_t rows, int64_t cols);

void hand_conv8(float *y, const float *x, const float *kernel, int64_t rows, int64_t cols);
void hand_conv_pool(float *y, const float *x, const float *kernel, int64_t rows, int64_t cols);

void hand_stats_axis0(float *mean, float *std, const float *x, int64_t rows, int64_t cols);
void hand_stats_axis1(float *mean, float *std, const float *x, int64_t rows, int64_t cols);
void hand_argmin(int64_t *place, const double *x, int64_t n);

void hand_matmul(double *c, const double *a, const double *b, int64_t n);
void hand_einsum(double *y, const double *d, const double *u, int64_t elements);

/* ---- Vectors --------------------------------------------------------------------------------- */

enum { VECTOR = 32, F64S = 4, F32S = 8 }; /* bytes and cells of a vector */

typedef double  f64v __attribute__((vector_size(VECTOR)));
typedef int64_t i64v __attribute__((vector_size(VECTOR)));
typedef float   f32v __attribute__((vector_size(VECTOR)));

static inline f64v load_f64(const double *p)
{
    f64v v;

    memcpy(&v, p, sizeof v);
    return v;
}

static inline i64v load_i64(const int64_t *p)
{
    i64v v;

    memcpy(&v, p, sizeof v);
    return v;
}

static inline f32v load_f32(const float *p)
{
    f32v v;

    memcpy(&v, p, sizeof v);
    return v;
}

static inline void store_f64(double *p, f64v v) { memcpy(p, &v, sizeof v); }
static inline void store_f32(float *p, f32v v) { memcpy(p, &v, sizeof v); }
static inline f64v all_f64(double x) { return (f64v){ x, x, x, x }; }
static inline f32v all_f32(float x) { return (f32v){ x, x, x, x, x, x, x, x }; }

/* Cells one to the left, and to the right; what comes from outside is 0. */
static inline f32v shifted_right(f32v v)
{
    return __builtin_shufflevector(v, all_f32(0), 8, 0, 1, 2, 3, 4, 5, 6);
}
static inline f32v shifted_left(f32v v)
{
    return __builtin_shufflevector(v, all_f32(0), 1, 2, 3, 4, 5, 6, 7, 8);
}

static inline bool is_aligned(const void *p) { return (uintptr_t)p % VECTOR == 0; }

/* stream_*: past the caches, to aligned memory; stream_end before other threads may read it. */
#ifdef __AVX__
static inline void stream_f64(double *p, f64v v) { _mm256_stream_pd(p, (__m256d)v); }
static inline void stream_f32(float *p, f32v v) { _mm256_stream_ps(p, (__m256)v); }
static inline void stream_i64(int64_t *p, i64v v) { _mm256_stream_si256((__m256i *)p, (__m256i)v); }
static inline void stream_end(void) { _mm_sfence(); }
static inline f32v max_f32(f32v x, f32v y) { return (f32v)_mm256_max_ps((__m256)x, (__m256)y); }
static inline f64v min_f64(f64v x, f64v y) { return (f64v)_mm256_min_pd((__m256d)x, (__m256d)y); }
#else
static inline void stream_f64(double *p, f64v v) { *(f64v *)p = v; }
static inline void stream_f32(float *p, f32v v) { *(f32v *)p = v; }
static inline void stream_i64(int64_t *p, i64v v) { *(i64v *)p = v; }
static inline void stream_end(void) {}
static inline f32v max_f32(f32v x, f32v y)
{
    for (int k = 0; k < F32S; k++)
        x[k] = x[k] > y[k] ? x[k] : y[k];
    return x;
}
static inline f64v min_f64(f64v x, f64v y)
{
    for (int k = 0; k < F64S; k++)
        x[k] = x[k] < y[k] ? x[k] : y[k];
    return x;
}
#endif

static inline int64_t min64(int64_t x, int64_t y) { return x < y ? x : y; }

#endif
