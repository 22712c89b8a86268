/* hand_conv.c -- by hand: convolutions with ReLU, of 8 kernels at once and with max-pooling. */
#include "hand.h"

/* ---- y[i,j,f] = max(0, sum of x[i+r,j+s] kernel[r,s,f] over r, s < 2), f < 8 ------------------
 */

/* The 8 results of a cell are one vector. */
static void conv8_row(float *y, const float *x, const float *below, const f32v kernel[4],
                      int64_t count)
{
    for (int64_t j = 0; j < count; j++) {
        f32v sum = x[j] * kernel[0] + x[j + 1] * kernel[1];

        sum += below[j] * kernel[2] + below[j + 1] * kernel[3];
        stream_f32(y + j * F32S, max_f32(sum, all_f32(0)));
    }
    stream_end();
}

void hand_conv8(float *y, const float *x, const float *kernel, int64_t rows, int64_t cols)
{
    f32v kernels[4];

    memcpy(kernels, kernel, sizeof kernels);
#pragma omp parallel for schedule(dynamic, 16)
    for (int64_t i = 0; i < rows - 1; i++)
        conv8_row(y + i * (cols - 1) * F32S, x + i * cols, x + (i + 1) * cols, kernels, cols - 1);
}

/* ---- 3x3, ReLU, then the largest of every 2x2 -------------------------------------------------
 */

static inline f32v conv3(const float *x, int64_t cols, const f32v kernel[9])
{
    f32v sum = load_f32(x) * kernel[0];

    for (int k = 1; k < 9; k++)
        sum += load_f32(x + k / 3 * cols + k % 3) * kernel[k];
    return sum;
}

/* The largest of neighbours: of (x0 x1), (x2 x3), ... of 16 cells. */
static inline f32v max_pairs(f32v x, f32v y)
{
    f32v even = __builtin_shufflevector(x, y, 0, 2, 4, 6, 8, 10, 12, 14);
    f32v odd = __builtin_shufflevector(x, y, 1, 3, 5, 7, 9, 11, 13, 15);

    return max_f32(even, odd);
}

static inline f32v pooled8(const float *x, int64_t cols, const f32v kernel[9])
{
    f32v left = max_f32(conv3(x, cols, kernel), conv3(x + cols, cols, kernel));
    f32v right = max_f32(conv3(x + F32S, cols, kernel), conv3(x + cols + F32S, cols, kernel));

    return max_f32(max_pairs(left, right), all_f32(0));
}

static float conv3_cell(const float *x, int64_t cols, const float *kernel)
{
    float sum = 0;

    for (int k = 0; k < 9; k++)
        sum += x[k / 3 * cols + k % 3] * kernel[k];
    return sum;
}

static float pooled(const float *x, int64_t cols, const float *kernel)
{
    float best = 0;

    for (int k = 0; k < 4; k++) {
        float sum = conv3_cell(x + k / 2 * cols + k % 2, cols, kernel);

        best = sum > best ? sum : best;
    }
    return best;
}

static void pool_row(float *y, const float *x, const float *kernel, int64_t cols, int64_t count)
{
    f32v    kernels[9];
    int64_t j = 0;

    for (int k = 0; k < 9; k++)
        kernels[k] = all_f32(kernel[k]);
    for (; j + F32S <= count; j += F32S)
        store_f32(y + j, pooled8(x + 2 * j, cols, kernels));
    for (; j < count; j++)
        y[j] = pooled(x + 2 * j, cols, kernel);
}

void hand_conv_pool(float *y, const float *x, const float *kernel, int64_t rows, int64_t cols)
{
    int64_t height = (rows - 2) / 2, width = (cols - 2) / 2;

#pragma omp parallel for schedule(static)
    for (int64_t i = 0; i < height; i++)
        pool_row(y + i * width, x + 2 * i * cols, kernel, cols, width);
}
