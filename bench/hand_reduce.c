/* hand_reduce.c -- by hand: mean and standard deviation in one pass over memory, argmin. */
#include "hand.h"

#include <math.h>
#include <omp.h>
#include <stdlib.h>

/* ---- Along rows: a row stays in the first cache, so its deviations are a second, free pass ----
 */

enum { SUMS = 4 }; /* vectors under way at once */

static float total(const f32v sums[SUMS])
{
    f32v  v = (sums[0] + sums[1]) + (sums[2] + sums[3]);
    float result = 0;

    for (int k = 0; k < F32S; k++)
        result += v[k];
    return result;
}

static float row_sum(const float *x, int64_t n)
{
    f32v    sums[SUMS] = { 0 };
    float   rest = 0;
    int64_t j = 0;

    for (; j + SUMS * F32S <= n; j += SUMS * F32S)
        for (int k = 0; k < SUMS; k++)
            sums[k] += load_f32(x + j + k * F32S);
    for (; j < n; j++)
        rest += x[j];
    return total(sums) + rest;
}

/* Meanwhile the next row is on its way. */
static float row_squares(const float *x, float mean, int64_t n)
{
    f32v    sums[SUMS] = { 0 };
    float   rest = 0;
    int64_t j = 0;

    for (; j + SUMS * F32S <= n; j += SUMS * F32S) {
        __builtin_prefetch(x + n + j);
        __builtin_prefetch(x + n + j + 2 * F32S);
        for (int k = 0; k < SUMS; k++) {
            f32v away = load_f32(x + j + k * F32S) - mean;

            sums[k] += away * away;
        }
    }
    for (; j < n; j++)
        rest += (x[j] - mean) * (x[j] - mean);
    return total(sums) + rest;
}

void hand_stats_axis1(float *mean, float *std, const float *x, int64_t rows, int64_t cols)
{
#pragma omp parallel for schedule(dynamic, 64)
    for (int64_t i = 0; i < rows; i++) {
        mean[i] = row_sum(x + i * cols, cols) / (float)cols;
        std[i] = sqrtf(row_squares(x + i * cols, mean[i], cols) / (float)cols);
    }
}

/* ---- Along columns: groups of 8 rows in registers, merged by the rule of Chan et al. ----------
 */

/* Of the rows seen so far, for each column: the sum, and the sum of squared deviations. */
typedef struct {
    double *sum, *squares;
    int64_t rows;
} moments;

enum { GROUP = 8 };

/* squares += those of the group + (difference of means)^2 * old * new / (old + new) */
static inline void merge4(double *sum, double *squares, f64v add, f64v add_squares, double old,
                          double new)
{
    f64v before = load_f64(sum), after = before + add;

    if (old > 0) {
        f64v away = add * (1 / new) - before * (1 / old);

        add_squares += away * away * (old * new / (old + new));
    }
    store_f64(sum, after);
    store_f64(squares, load_f64(squares) + add_squares);
}

static inline f64v half_of(f32v v, int first)
{
    return (f64v){ v[first], v[first + 1], v[first + 2], v[first + 3] };
}

static inline void merge_columns(moments *m, const float *x, int64_t cols, int64_t j)
{
    f32v cells[GROUP], sum = { 0 }, squares = { 0 };

    for (int r = 0; r < GROUP; r++)
        sum += cells[r] = load_f32(x + r * cols + j);
    for (int r = 0; r < GROUP; r++)
        squares += (cells[r] - sum / GROUP) * (cells[r] - sum / GROUP);
    for (int half = 0; half < F32S; half += F64S)
        merge4(m->sum + j + half, m->squares + j + half, half_of(sum, half), half_of(squares, half),
               (double)m->rows, GROUP);
}

static void merge_cell(double *sum, double *squares, double add, double add_squares, double old,
                       double new)
{
    double away = old > 0 ? add / new - *sum / old : 0;

    *sum += add;
    *squares += add_squares + away * away * (old * new / (old + new));
}

static void merge_group(moments *m, const float *x, int64_t cols)
{
    int64_t j = 0;

    for (; j + F32S <= cols; j += F32S)
        merge_columns(m, x, cols, j);
    for (; j < cols; j++)
        for (int r = 0; r < GROUP; r++)
            merge_cell(m->sum + j, m->squares + j, x[r * cols + j], 0, (double)(m->rows + r), 1);
    m->rows += GROUP;
}

static void merge_row(moments *m, const float *x, int64_t cols)
{
    for (int64_t j = 0; j < cols; j++)
        merge_cell(m->sum + j, m->squares + j, x[j], 0, (double)m->rows, 1);
    m->rows++;
}

static moments moments_of(const float *x, int64_t rows, int64_t cols)
{
    moments m = { calloc((size_t)cols, sizeof(double)), calloc((size_t)cols, sizeof(double)), 0 };

    for (; m.rows + GROUP <= rows;)
        merge_group(&m, x + m.rows * cols, cols);
    for (; m.rows < rows;)
        merge_row(&m, x + m.rows * cols, cols);
    return m;
}

static void merge_moments(moments *m, moments *other, int64_t cols)
{
    for (int64_t j = 0; j < cols && other->rows > 0; j++)
        merge_cell(m->sum + j, m->squares + j, other->sum[j], other->squares[j], (double)m->rows,
                   (double)other->rows);
    m->rows += other->rows;
    free(other->sum);
    free(other->squares);
}

void hand_stats_axis0(float *mean, float *std, const float *x, int64_t rows, int64_t cols)
{
    enum { MOST = 64 };
    moments parts[MOST];
    int     threads = 1;

#pragma omp parallel num_threads(omp_get_max_threads() < MOST ? omp_get_max_threads() : MOST)
    {
        int64_t me = omp_get_thread_num(), all = omp_get_num_threads();
        int64_t first = rows * me / all, last = rows * (me + 1) / all;

        parts[me] = moments_of(x + first * cols, last - first, cols);
#pragma omp single
        threads = (int)all;
    }
    for (int t = 1; t < threads; t++)
        merge_moments(&parts[0], &parts[t], cols);
    for (int64_t j = 0; j < cols; j++) {
        mean[j] = (float)(parts[0].sum[j] / (double)rows);
        std[j] = (float)sqrt(parts[0].squares[j] / (double)rows);
    }
    free(parts[0].sum);
    free(parts[0].squares);
}

/* ---- The place of the first smallest cell, or of the first nan --------------------------------
 */

enum { CHUNK = 1 << 14 }; /* cells: small enough to be found again in the second cache */

/* The smallest cell, or nan where there is one. */
static double smallest(const double *x, int64_t n)
{
    f64v    best[SUMS];
    i64v    nan = { 0 };
    double  result = x[0];
    int64_t i = 0;

    for (int k = 0; k < SUMS; k++)
        best[k] = all_f64(INFINITY);
    for (; i + SUMS * F64S <= n; i += SUMS * F64S)
        for (int k = 0; k < SUMS; k++) {
            f64v v = load_f64(x + i + k * F64S);

            best[k] = min_f64(v, best[k]);
            nan |= v != v;
        }
    best[0] = min_f64(min_f64(best[0], best[1]), min_f64(best[2], best[3]));
    for (int k = 0; k < F64S; k++)
        result = nan[k] ? NAN : best[0][k] < result ? best[0][k] : result;
    for (; i < n; i++)
        result = !(x[i] >= result) ? x[i] : result;
    return result;
}

static bool is_better(double x, double than) { return x < than || (isnan(x) && !isnan(than)); }

static bool is_same(double x, double y) { return x == y || (isnan(x) && isnan(y)); }

static int64_t place_of(const double *x, double value)
{
    int64_t i = 0;

    while (!is_same(x[i], value))
        i++;
    return i;
}

void hand_argmin(int64_t *place, const double *x, int64_t n)
{
    double  best = INFINITY;
    int64_t chunk = 0;

#pragma omp parallel for schedule(dynamic, 4)
    for (int64_t i = 0; i < n; i += CHUNK) {
        double here = smallest(x + i, min64(CHUNK, n - i));

#pragma omp critical
        if (is_better(here, best) || (is_same(here, best) && i < chunk)) {
            best = here;
            chunk = i;
        }
    }
    *place = chunk + place_of(x + chunk, best);
}
