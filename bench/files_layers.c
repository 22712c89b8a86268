/* files_layers.c -- by hand, from HDF5 to HDF5: the layers of networks of examples/slope. */
#include "files_hand.h"

#include <stdlib.h>

/* ---- CNN: two layers of 8 kernels of 2x2 ------------------------------------------------------
 */

enum { CHANNELS = 8, PIXELS = 4, SLAB_ROWS = 32 };

typedef float   lanes __attribute__((vector_size(CHANNELS * sizeof(float))));
typedef int32_t flags __attribute__((vector_size(CHANNELS * sizeof(int32_t))));

static inline lanes positive(lanes v) { return (lanes)((flags)v & (v > 0)); }

static void first_layer(lanes *restrict out, const float *x, const float *below, int64_t n,
                        const lanes *k1)
{
    for (int64_t j = 0; j < n; j++)
        out[j] =
            positive(k1[0] * x[j] + k1[1] * x[j + 1] + k1[2] * below[j] + k1[3] * below[j + 1]);
}

/* One kernel at a time is used for several pixels. */
static inline void add_corner(lanes *sums, int pixels, const lanes *from, const lanes *kernel)
{
    for (int c = 0; c < CHANNELS; c++)
        for (int p = 0; p < pixels; p++)
            sums[p] += kernel[c] * from[p][c];
}

static inline void some_pixels(lanes *restrict out, int pixels, const lanes *here,
                               const lanes *below, const lanes *k2)
{
    lanes sums[PIXELS] = { { 0 } };

    add_corner(sums, pixels, here, k2);
    add_corner(sums, pixels, here + 1, k2 + CHANNELS);
    add_corner(sums, pixels, below, k2 + 2 * CHANNELS);
    add_corner(sums, pixels, below + 1, k2 + 3 * CHANNELS);
    for (int p = 0; p < pixels; p++)
        out[p] = positive(sums[p]);
}

static void second_layer(lanes *restrict out, const lanes *here, const lanes *below, int64_t n,
                         const lanes *k2)
{
    int64_t j = 0;

    for (; j + PIXELS <= n; j += PIXELS)
        some_pixels(out + j, PIXELS, here + j, below + j, k2);
    for (; j < n; j++)
        some_pixels(out + j, 1, here + j, below + j, k2);
}

/* Two rows of the first layer take turns. */
static void cnn_rows(lanes *out, const float *x, int64_t rows, int64_t n, lanes *layer,
                     const lanes *k1, const lanes *k2)
{
    lanes *turns[2] = { layer, layer + n };

    first_layer(turns[0], x, x + n, n - 1, k1);
    for (int64_t i = 0; i < rows; i++) {
        const lanes *here = turns[i % 2];
        lanes       *below = turns[(i + 1) % 2];

        first_layer(below, x + (i + 1) * n, x + (i + 2) * n, n - 1, k1);
        second_layer(out + i * (n - 2), here, below, n - 2, k2);
    }
}

void run_cnn(const char *in, const char *out)
{
    array        x = open_array(in, "x");
    int64_t      n = x.row, rows = (int64_t)x.shape[0] - 2;
    hsize_t      shape[] = { (hsize_t)rows, (hsize_t)n - 2, CHANNELS };
    array        y = create_array(out, "y", 3, shape);
    const lanes *k1 = (const lanes *)(void *)read_all(in, "k1");
    const lanes *k2 = (const lanes *)(void *)read_all(in, "k2");

#pragma omp parallel
    {
        float *slab = floats((SLAB_ROWS + 2) * n), *result = floats(SLAB_ROWS * y.row);
        float *layer = floats(2 * n * CHANNELS);

#pragma omp for schedule(dynamic)
        for (int64_t first = 0; first < rows; first += SLAB_ROWS) {
            int64_t count = first + SLAB_ROWS < rows ? SLAB_ROWS : rows - first;

            read_rows(&x, first, count + 2, slab);
            cnn_rows((lanes *)(void *)result, slab, count, n, (lanes *)(void *)layer, k1, k2);
            write_rows(&y, first, count, result);
        }
        free(layer);
        free(result);
        free(slab);
    }
    close_array(&y);
    close_array(&x);
}

/* ---- CAM5: CONV of 3x3, ReLU, POOL of 2x2; around the world along axis 1 -----------------------
 */

static inline float conv3(const float *const *rows, const float *w, int64_t left, int64_t j,
                          int64_t right)
{
    float sum = 0;

    for (int r = 0; r < 3; r++)
        sum += w[3 * r] * rows[r][left] + w[3 * r + 1] * rows[r][j] + w[3 * r + 2] * rows[r][right];
    return sum;
}

static void conv_row(float *restrict out, const float *const *rows, const float *w, int64_t n)
{
    out[0] = conv3(rows, w, n - 1, 0, 1 % n);
    for (int64_t j = 1; j < n - 1; j++)
        out[j] = conv3(rows, w, j - 1, j, j + 1);
    out[n - 1] = conv3(rows, w, n > 1 ? n - 2 : 0, n - 1, 0);
}

static void pool_row(float *restrict out, const float *upper, const float *lower, int64_t n)
{
    for (int64_t j = 0; j < n; j++) {
        float up = upper[2 * j] > upper[2 * j + 1] ? upper[2 * j] : upper[2 * j + 1];
        float low = lower[2 * j] > lower[2 * j + 1] ? lower[2 * j] : lower[2 * j + 1];
        float most = up > low ? up : low;

        out[j] = most > 0 ? most : 0;
    }
}

static void conv_at(float *out, const float *tmq, int64_t i, int64_t rows, int64_t n,
                    const float *w)
{
    const float *around[] = { tmq + (i > 0 ? i - 1 : 0) * n, tmq + i * n,
                              tmq + (i + 1 < rows ? i + 1 : i) * n };

    conv_row(out, around, w, n);
}

void run_cam5(const char *in, const char *out)
{
    array   tmq = open_array(in, "tmq");
    int64_t rows = (int64_t)tmq.shape[0], n = tmq.row;
    hsize_t shape[] = { (hsize_t)rows / 2, (hsize_t)n / 2 };
    array   pool = create_array(out, "pool", 2, shape);
    float  *cells = read_all(in, "tmq"), *w = read_all(in, "w");
    float  *result = floats(rows / 2 * (n / 2));

#pragma omp parallel
    {
        float *conv = floats(2 * n);

#pragma omp for
        for (int64_t i = 0; i < rows / 2; i++) {
            conv_at(conv, cells, 2 * i, rows, n, w);
            conv_at(conv + n, cells, 2 * i + 1, rows, n, w);
            pool_row(result + i * (n / 2), conv, conv + n, n / 2);
        }
        free(conv);
    }
    write_rows(&pool, 0, rows / 2, result);
    free(result);
    free(w);
    free(cells);
    close_array(&pool);
    close_array(&tmq);
}
