/* hand_map.c -- by hand: chains of elementwise operations, and a gather. */
#include "hand.h"

#include <math.h>

enum { CHUNK = 1 << 15 }; /* cells that a thread takes at once */

/* ---- 2a + 3b - c ------------------------------------------------------------------------------
 */

static void cheap(double *y, const double *a, const double *b, const double *c, int64_t n)
{
    int64_t i = 0;

    for (; i + F64S <= n; i += F64S)
        stream_f64(y + i, 2 * load_f64(a + i) + 3 * load_f64(b + i) - load_f64(c + i));
    for (; i < n; i++)
        y[i] = 2 * a[i] + 3 * b[i] - c[i];
    stream_end();
}

void hand_cheap_chain(double *y, const double *a, const double *b, const double *c, int64_t n)
{
#pragma omp parallel for schedule(dynamic)
    for (int64_t i = 0; i < n; i += CHUNK)
        cheap(y + i, a + i, b + i, c + i, min64(CHUNK, n - i));
}

/* ---- a sin(b) + exp(-c) d ---------------------------------------------------------------------
 */

#ifdef __AVX2__
/* Of libmvec, four cells at once; the names are those of the x86-64 vector ABI. */
f64v               _ZGVdN4v_sin(f64v x);
f64v               _ZGVdN4v_exp(f64v x);
static inline f64v sin_f64(f64v x) { return _ZGVdN4v_sin(x); }
static inline f64v exp_f64(f64v x) { return _ZGVdN4v_exp(x); }
#else
static inline f64v sin_f64(f64v x) { return (f64v){ sin(x[0]), sin(x[1]), sin(x[2]), sin(x[3]) }; }
static inline f64v exp_f64(f64v x) { return (f64v){ exp(x[0]), exp(x[1]), exp(x[2]), exp(x[3]) }; }
#endif

static void dear(double *y, const double *a, const double *b, const double *c, const double *d,
                 int64_t n)
{
    int64_t i = 0;

    for (; i + F64S <= n; i += F64S)
        stream_f64(y + i, load_f64(a + i) * sin_f64(load_f64(b + i)) +
                              exp_f64(-load_f64(c + i)) * load_f64(d + i));
    for (; i < n; i++)
        y[i] = a[i] * sin(b[i]) + exp(-c[i]) * d[i];
    stream_end();
}

void hand_dear_chain(double *y, const double *a, const double *b, const double *c, const double *d,
                     int64_t n)
{
#pragma omp parallel for schedule(dynamic)
    for (int64_t i = 0; i < n; i += CHUNK)
        dear(y + i, a + i, b + i, c + i, d + i, min64(CHUNK, n - i));
}

/* ---- (3x + 7) ^ (x >> 2) ----------------------------------------------------------------------
 */

static void int_map(int64_t *y, const int64_t *x, int64_t n)
{
    int64_t i = 0;

    for (; i + F64S <= n; i += F64S) {
        i64v v = load_i64(x + i);

        stream_i64(y + i, (v * 3 + 7) ^ (v >> 2));
    }
    for (; i < n; i++)
        y[i] = (x[i] * 3 + 7) ^ (x[i] >> 2);
    stream_end();
}

void hand_int_map(int64_t *y, const int64_t *x, int64_t n)
{
#pragma omp parallel for schedule(dynamic)
    for (int64_t i = 0; i < n; i += CHUNK)
        int_map(y + i, x + i, min64(CHUNK, n - i));
}

/* ---- 50 operations on a small array -----------------------------------------------------------
 */

/* Too little work to share: one thread.  The compiler keeps several vectors under way. */
static void chain50(double *restrict y, const double *restrict x, int64_t n)
{
    for (int64_t i = 0; i < n; i++) {
        double v = x[i];

        for (int k = 0; k < 10; k++)
            v = fabs((v + 0.25) * 0.875) - 0.5 + x[i];
        y[i] = v;
    }
}

void hand_chain50(double *y, const double *x, int64_t n, int64_t times)
{
    for (int64_t t = 0; t < times; t++) {
        chain50(y, x, n);
        __asm__ volatile("" ::: "memory"); /* or the compiler would do it once only */
    }
}

/* ---- y[i] = x[index[i]] -----------------------------------------------------------------------
 */

enum { AHEAD = 48 }; /* cells: far enough for memory to answer in time */

static inline int64_t checked(int64_t at, int64_t n, bool *bad)
{
    bool outside = (uint64_t)at >= (uint64_t)n;

    *bad |= outside;
    return outside ? 0 : at;
}

static bool gather(double *y, const double *x, const int64_t *index, int64_t count, int64_t n)
{
    bool    bad = false;
    int64_t i = 0;

    for (; i + AHEAD + F64S <= count; i += F64S) {
        f64v v;

        for (int k = 0; k < F64S; k++) {
            __builtin_prefetch(x + index[i + AHEAD + k]);
            v[k] = x[checked(index[i + k], n, &bad)];
        }
        stream_f64(y + i, v);
    }
    for (; i < count; i++)
        y[i] = x[checked(index[i], n, &bad)];
    stream_end();
    return bad;
}

bool hand_gather(double *y, const double *x, const int64_t *index, int64_t n)
{
    bool bad = false;

#pragma omp parallel for schedule(dynamic) reduction(|| : bad)
    for (int64_t i = 0; i < n; i += CHUNK)
        bad |= gather(y + i, x, index + i, min64(CHUNK, n - i), n);
    return !bad;
}
