/* hand_stencil.c -- by hand: 5 and 7 points, a stencil of a stencil.  Cells outside are 0. */
#include "hand.h"

#include <stdlib.h>

/* ---- 5 points: 0.5 of the cell, 0.125 of each neighbour ---------------------------------------
 */

static inline float cell5(const float *above, const float *x, const float *below, int64_t j,
                          int64_t cols)
{
    float left = j > 0 ? x[j - 1] : 0, right = j + 1 < cols ? x[j + 1] : 0;

    return 0.5f * x[j] + 0.125f * (above[j] + below[j] + left + right);
}

static inline f32v cells5(const float *above, const float *x, const float *below, f32v sides)
{
    return 0.5f * load_f32(x) + 0.125f * (load_f32(above) + load_f32(below) + sides);
}

/* Whether a row of the result is made of whole, aligned vectors; other rows go cell by cell. */
static inline bool is_regular(const float *y, int64_t cols)
{
    return is_aligned(y) && cols % F32S == 0 && cols >= 2 * F32S;
}

/* The neighbours in the row itself; the first and the last vector of a row have one outside. */
static inline f32v first_sides(const float *x)
{
    return shifted_right(load_f32(x)) + load_f32(x + 1);
}
static inline f32v inner_sides(const float *x) { return load_f32(x - 1) + load_f32(x + 1); }
static inline f32v last_sides(const float *x)
{
    return load_f32(x - 1) + shifted_left(load_f32(x));
}

/* `past`: the row is not read again soon, so it is stored past the caches. */
static inline void put(float *y, f32v v, bool past)
{
    if (past)
        stream_f32(y, v);
    else
        store_f32(y, v);
}

static inline void row5(float *y, const float *above, const float *x, const float *below,
                        int64_t cols, bool past)
{
    int64_t j = F32S;

    if (!is_regular(y, cols)) {
        for (j = 0; j < cols; j++)
            y[j] = cell5(above, x, below, j, cols);
        return;
    }
    put(y, cells5(above, x, below, first_sides(x)), past);
    for (; j < cols - F32S; j += F32S)
        put(y + j, cells5(above + j, x + j, below + j, inner_sides(x + j)), past);
    put(y + j, cells5(above + j, x + j, below + j, last_sides(x + j)), past);
}

static const float *row_or(const float *zeros, const float *x, int64_t i, int64_t rows,
                           int64_t cols)
{
    return i >= 0 && i < rows ? x + i * cols : zeros;
}

enum { BAND = 64 }; /* rows that a thread takes at once */

void hand_stencil5(float *y, const float *x, int64_t rows, int64_t cols)
{
    float *zeros = calloc((size_t)cols, sizeof *zeros);

#pragma omp parallel for schedule(dynamic, BAND)
    for (int64_t i = 0; i < rows; i++) {
        row5(y + i * cols, row_or(zeros, x, i - 1, rows, cols), x + i * cols,
             row_or(zeros, x, i + 1, rows, cols), cols, true);
        stream_end();
    }
    free(zeros);
}

/* ---- The same twice: rows of the first in a ring of three, its halo computed again ------------
 */

/* Row i of the stencil of x into the ring; outside of the array it is 0. */
static void ring_row(float *ring, const float *zeros, const float *x, int64_t i, int64_t rows,
                     int64_t cols)
{
    float *row = ring + (i + 3) % 3 * cols;

    if (i < 0 || i >= rows)
        memset(row, 0, (size_t)cols * sizeof *row);
    else
        row5(row, row_or(zeros, x, i - 1, rows, cols), x + i * cols,
             row_or(zeros, x, i + 1, rows, cols), cols, false);
}

static void band_twice(float *y, float *ring, const float *zeros, const float *x, int64_t first,
                       int64_t rows, int64_t cols)
{
    ring_row(ring, zeros, x, first - 1, rows, cols);
    ring_row(ring, zeros, x, first, rows, cols);
    for (int64_t i = first; i < min64(first + BAND, rows); i++) {
        ring_row(ring, zeros, x, i + 1, rows, cols);
        row5(y + i * cols, ring + (i + 2) % 3 * cols, ring + i % 3 * cols,
             ring + (i + 1) % 3 * cols, cols, true);
    }
    stream_end();
}

void hand_stencil5_twice(float *y, const float *x, int64_t rows, int64_t cols)
{
    float *zeros = calloc((size_t)cols, sizeof *zeros);

#pragma omp parallel
    {
        float *ring = aligned_alloc(64, (3 * (size_t)cols * sizeof *ring + 63) / 64 * 64);

#pragma omp for schedule(dynamic)
        for (int64_t first = 0; first < rows; first += BAND)
            band_twice(y, ring, zeros, x, first, rows, cols);
        free(ring);
    }
    free(zeros);
}

/* ---- 7 points: 0.4 of the cell, 0.1 of each neighbour -----------------------------------------
 */

/* The rows that a row of the result is made of. */
typedef struct {
    const float *x, *north, *south, *above, *below;
} rows7;

static inline float cell7(const rows7 *r, int64_t j, int64_t cols)
{
    float left = j > 0 ? r->x[j - 1] : 0, right = j + 1 < cols ? r->x[j + 1] : 0;

    return 0.4f * r->x[j] +
           0.1f * (r->above[j] + r->below[j] + r->north[j] + r->south[j] + left + right);
}

static inline f32v cells7(const rows7 *r, int64_t j, f32v sides)
{
    f32v levels = load_f32(r->above + j) + load_f32(r->below + j);
    f32v rows = load_f32(r->north + j) + load_f32(r->south + j);

    return 0.4f * load_f32(r->x + j) + 0.1f * (levels + rows + sides);
}

static void row7(float *y, const rows7 *r, int64_t cols)
{
    int64_t j = F32S;

    if (!is_regular(y, cols)) {
        for (j = 0; j < cols; j++)
            y[j] = cell7(r, j, cols);
        return;
    }
    stream_f32(y, cells7(r, 0, first_sides(r->x)));
    for (; j < cols - F32S; j += F32S)
        stream_f32(y + j, cells7(r, j, inner_sides(r->x + j)));
    stream_f32(y + j, cells7(r, j, last_sides(r->x + j)));
}

/* Strips of rows, so that three planes of a strip stay in the second cache; a thread goes through
 * SLAB planes of a strip at once. */
enum { STRIP = 64, SLAB = 32 };

static void strip7(float *y, const float *x, const float *zeros, int64_t p, int64_t first,
                   const int64_t size[3])
{
    int64_t cols = size[2], plane = size[1] * cols;

    for (int64_t i = first; i < min64(first + STRIP, size[1]); i++) {
        const float *here = x + p * plane + i * cols;
        rows7        r = { here, i > 0 ? here - cols : zeros, i + 1 < size[1] ? here + cols : zeros,
                    p > 0 ? here - plane : zeros, p + 1 < size[0] ? here + plane : zeros };

        row7(y + p * plane + i * cols, &r, cols);
    }
}

void hand_stencil7(float *y, const float *x, int64_t planes, int64_t rows, int64_t cols)
{
    const int64_t size[3] = { planes, rows, cols };
    float        *zeros = calloc((size_t)cols, sizeof *zeros);

#pragma omp parallel for collapse(2) schedule(dynamic)
    for (int64_t slab = 0; slab < planes; slab += SLAB)
        for (int64_t first = 0; first < rows; first += STRIP) {
            for (int64_t p = slab; p < min64(slab + SLAB, planes); p++)
                strip7(y, x, zeros, p, first, size);
            stream_end();
        }
    free(zeros);
}
