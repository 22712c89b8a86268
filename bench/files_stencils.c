/* files_stencils.c -- by hand, from HDF5 to HDF5: Laplacians, and a field at particles. */
#include "files_hand.h"

#include <stdlib.h>
#include <string.h>

/* ---- The plain loop: 5 points, cells outside are 0 ------------------------------------------- */

static void laplace_row(float *restrict out, const float *above, const float *here,
                        const float *below, int64_t n)
{
    for (int64_t j = 1; j < n - 1; j++)
        out[j] = 4 * here[j] - above[j] - below[j] - here[j - 1] - here[j + 1];
    out[0] = 4 * here[0] - above[0] - below[0] - (n > 1 ? here[1] : 0);
    if (n > 1)
        out[n - 1] = 4 * here[n - 1] - above[n - 1] - below[n - 1] - here[n - 2];
}

/* Each chunk is decoded once: the slab has two rows of the one before at its top; results lag a row
 * behind what was read. */
void run_loop(const char *in, const char *out)
{
    array   h = open_array(in, "h"), lap = create_array(out, "lap", 2, h.shape);
    int64_t n = h.row, rows = (int64_t)h.shape[0], most = rows_of_chunks(&h);
    float  *slab = floats((most + 3) * n), *result = floats((most + 1) * n);

    memset(slab, 0, (size_t)(2 * n) * sizeof *slab);
    for (int64_t first = 0; first < rows; first += most) {
        int64_t count = first + most < rows ? most : rows - first;
        bool    is_first = first == 0, is_last = first + count == rows;
        int64_t made = count - is_first + is_last;

        read_rows(&h, first, count, slab + 2 * n);
        if (is_last)
            memset(slab + (count + 2) * n, 0, (size_t)n * sizeof *slab);
        for (int64_t i = 0; i < made; i++) {
            const float *here = slab + (i + 1 + is_first) * n;

            laplace_row(result + i * n, here - n, here, here + n, n);
        }
        if (made > 0)
            write_rows(&lap, first - 1 + is_first, made, result);
        memmove(slab, slab + count * n, (size_t)(2 * n) * sizeof *slab);
    }
    free(result);
    free(slab);
    close_array(&lap);
    close_array(&h);
}

/* ---- VPIC: the Laplacian of a periodic field ---------------------------------------------------
 */

enum { SLAB_PLANES = 16 };

static inline float sum_around(const float *const *lines, int64_t left, int64_t k, int64_t right)
{
    return lines[1][k] + lines[2][k] + lines[3][k] + lines[4][k] + lines[0][left] +
           lines[0][right] - 6 * lines[0][k];
}

/* lines: here, before and after along axis 0, before and after along axis 1. */
static void laplace_line(float *restrict out, const float *const *lines, int64_t n)
{
    out[0] = sum_around(lines, n - 1, 0, 1 % n);
    for (int64_t k = 1; k < n - 1; k++)
        out[k] = sum_around(lines, k - 1, k, k + 1);
    out[n - 1] = sum_around(lines, n > 1 ? n - 2 : 0, n - 1, 0);
}

static void laplace_plane(float *out, const float *here, int64_t rows, int64_t n)
{
    int64_t plane = rows * n;

    for (int64_t j = 0; j < rows; j++) {
        int64_t      at = j * n, up = (j + rows - 1) % rows * n, down = (j + 1) % rows * n;
        const float *lines[] = { here + at, here + at - plane, here + at + plane, here + up,
                                 here + down };

        laplace_line(out + at, lines, n);
    }
}

/* Planes first - 1 to first + count of the field. */
static void read_around(const array *g, int64_t first, int64_t count, float *slab)
{
    int64_t all = (int64_t)g->shape[0], last = first + count;

    read_rows(g, (first + all - 1) % all, 1, slab);
    read_rows(g, first, count, slab + g->row);
    read_rows(g, last % all, 1, slab + (count + 1) * g->row);
}

void run_laplace(const char *in, const char *out)
{
    array   g = open_array(in, "g"), lap = create_array(out, "lap", 3, g.shape);
    int64_t planes = (int64_t)g.shape[0], rows = (int64_t)g.shape[1], n = (int64_t)g.shape[2];

#pragma omp parallel
    {
        float *slab = floats((SLAB_PLANES + 2) * g.row), *result = floats(SLAB_PLANES * g.row);

#pragma omp for schedule(dynamic)
        for (int64_t first = 0; first < planes; first += SLAB_PLANES) {
            int64_t count = first + SLAB_PLANES < planes ? SLAB_PLANES : planes - first;

            read_around(&g, first, count, slab);
            for (int64_t i = 0; i < count; i++)
                laplace_plane(result + i * g.row, slab + (i + 1) * g.row, rows, n);
            write_rows(&lap, first, count, result);
        }
        free(result);
        free(slab);
    }
    close_array(&lap);
    close_array(&g);
}

/* ---- VPIC: the field at particles ---------------------------------------------------------------
 */

enum { SLAB_PARTICLES = 1 << 18 };

typedef struct {
    const float *cells;
    int64_t      shape[3];
} grid;

/* The cell at or below a place, the next one, and how far it is between them. */
static inline float between(int64_t *low, int64_t *high, float place, int64_t length)
{
    *low = (int64_t)place;
    *high = *low + 1 < length ? *low + 1 : length - 1;
    return place - (float)*low;
}

static inline float mix(float a, float b, float t) { return a + (b - a) * t; }

static inline float field_at(const grid *g, float x, float y, float z)
{
    int64_t      i[2], j[2], k[2];
    float        tx = between(&i[0], &i[1], x, g->shape[0]);
    float        ty = between(&j[0], &j[1], y, g->shape[1]);
    float        tz = between(&k[0], &k[1], z, g->shape[2]), corner[2][2];
    const float *c = g->cells;

    for (int a = 0; a < 2; a++)
        for (int b = 0; b < 2; b++) {
            int64_t line = (i[a] * g->shape[1] + j[b]) * g->shape[2];

            corner[a][b] = mix(c[line + k[0]], c[line + k[1]], tz);
        }
    return mix(mix(corner[0][0], corner[0][1], ty), mix(corner[1][0], corner[1][1], ty), tx);
}

static void field_at_all(float *restrict e, const grid *g, const array *places, int64_t first,
                         int64_t count, float *const *slabs)
{
    for (int axis = 0; axis < 3; axis++)
        read_rows(&places[axis], first, count, slabs[axis]);
    for (int64_t p = 0; p < count; p++)
        e[p] = field_at(g, slabs[0][p], slabs[1][p], slabs[2][p]);
}

void run_interpolate(const char *in, const char *out)
{
    array   places[] = { open_array(in, "electron/x"), open_array(in, "electron/y"),
                         open_array(in, "electron/z") };
    array   field = open_array(in, "g"), e = create_array(out, "e", 1, places[0].shape);
    grid    g = { .cells = read_all(in, "g") };
    int64_t all = (int64_t)e.shape[0];

    for (int axis = 0; axis < 3; axis++)
        g.shape[axis] = (int64_t)field.shape[axis];
#pragma omp parallel
    {
        float *slabs[] = { floats(SLAB_PARTICLES), floats(SLAB_PARTICLES), floats(SLAB_PARTICLES),
                           floats(SLAB_PARTICLES) };

#pragma omp for schedule(dynamic)
        for (int64_t first = 0; first < all; first += SLAB_PARTICLES) {
            int64_t count = first + SLAB_PARTICLES < all ? SLAB_PARTICLES : all - first;

            field_at_all(slabs[3], &g, places, first, count, slabs);
            write_rows(&e, first, count, slabs[3]);
        }
        for (int i = 0; i < 4; i++)
            free(slabs[i]);
    }
    for (int axis = 0; axis < 3; axis++)
        close_array(&places[axis]);
    close_array(&field);
    close_array(&e);
}
