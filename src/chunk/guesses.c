/* guesses.c -- the chunk shapes that other tools choose when nobody says how an array is read;
 * their rules, stated anew. */
#include "chunk/chunk.h"

#include <math.h>

/* ---- h5py and zarr: halve one axis after the other until a target is met --------------------- */

typedef struct halving {
    double base, least, most; /* bytes */
} halving;

static double bytes_of(const double *edges, const ar_chunk_array *a)
{
    double bytes = (double)a->cell_bytes;

    for (int i = 0; i < a->rank; i++)
        bytes *= edges[i];
    return bytes;
}

static void halve(int64_t *chunk, const ar_chunk_array *a, halving rule)
{
    double edges[ARRAS_MAX_RANK], cell = (double)a->cell_bytes;

    for (int i = 0; i < a->rank; i++)
        edges[i] = (double)a->shape[i];
    double target = rule.base * pow(2, log10(bytes_of(edges, a) / 0x1p20));
    target = fmax(rule.least, fmin(rule.most, target));
    for (int axis = 0;; axis = (axis + 1) % a->rank) {
        double bytes = bytes_of(edges, a);
        bool   near = bytes < target || fabs(bytes - target) / target < 0.5;

        if ((near && bytes < rule.most) || bytes <= cell)
            break;
        edges[axis] = ceil(edges[axis] / 2);
    }
    for (int i = 0; i < a->rank; i++)
        chunk[i] = (int64_t)edges[i];
}

void ar_chunk_guess_h5py(int64_t *chunk, const ar_chunk_array *a)
{
    halve(chunk, a, (halving){ 0x1p14, 0x1p13, 0x1p20 });
}

void ar_chunk_guess_zarr(int64_t *chunk, const ar_chunk_array *a)
{
    halve(chunk, a, (halving){ 0x1p18, 0x1p17, 0x1p26 });
}

/* ---- Dask: 128 MiB, all edges alike, but for those that are shorter -------------------------- */

void ar_chunk_guess_dask(int64_t *chunk, const ar_chunk_array *a)
{
    double cells = 0x1p27 / (double)a->cell_bytes, taken = 1;
    int    free = a->rank, before;

    for (int i = 0; i < a->rank; i++)
        chunk[i] = 0;
    do {
        double edge = pow(cells / taken, 1.0 / free);

        before = free;
        for (int i = 0; i < a->rank; i++)
            if (chunk[i] == 0 && (double)a->shape[i] < edge) {
                chunk[i] = a->shape[i];
                free--;
            }
        taken = 1;
        for (int i = 0; i < a->rank; i++)
            taken *= chunk[i] ? (double)chunk[i] : 1;
    } while (free != before && free > 0);
    for (int i = 0; i < a->rank; i++)
        if (chunk[i] == 0)
            chunk[i] = (int64_t)fmax(1, pow(cells / taken, 1.0 / free));
}

/* ---- netCDF: a part of the array with the array's own proportions ---------------------------- */

void ar_chunk_guess_netcdf(int64_t *chunk, const ar_chunk_array *a, double chunk_bytes)
{
    float cells = 1; /* as there: the library counts in single precision */

    for (int i = 0; i < a->rank; i++)
        cells *= (float)a->shape[i];
    double part = pow(chunk_bytes / ((double)cells * (double)a->cell_bytes), 1.0 / a->rank);
    for (int i = 0; i < a->rank; i++) {
        double  edge = part * (double)a->shape[i] - 0.5;
        int64_t count, overhang;

        chunk[i] = edge >= (double)a->shape[i] ? a->shape[i] : (int64_t)fmax(1, edge);
        /* The last chunk along each axis should not hang over far. */
        count = (a->shape[i] + chunk[i] - 1) / chunk[i];
        overhang = count * chunk[i] - a->shape[i];
        chunk[i] -= overhang / count;
    }
}

/* ---- Rew's rule for (time, y, x): as many chunks for a series as for a map ------------------- */

/* Of the eight ways to round, the one with the most cells that fits. */
static void round_best(int64_t *chunk, const double *edges, const ar_chunk_array *a)
{
    double best = 0;

    for (int i = 0; i < 3; i++)
        chunk[i] = (int64_t)fmax(1, floor(edges[i]));
    for (int way = 0; way < 8; way++) {
        int64_t tried[3];
        double  bytes = (double)a->cell_bytes;

        for (int i = 0; i < 3; i++) {
            tried[i] = (int64_t)floor(edges[i]) + (way >> (2 - i) & 1);
            bytes *= (double)tried[i];
        }
        if (bytes <= best || bytes > (double)a->limit)
            continue;
        best = bytes;
        for (int i = 0; i < 3; i++)
            chunk[i] = ar_min64(tried[i], a->shape[i]);
    }
}

arras_status ar_chunk_guess_rew(int64_t *chunk, const ar_chunk_array *a, arras_error *err)
{
    double edges[3], longer = 1;

    if (a->rank != 3)
        return ar_fail(err, ARRAS_EINVAL, "Rew's rule is for 3 axes; the array has %d", a->rank);
    double count = (double)a->cell_bytes / (double)a->limit;
    for (int i = 0; i < 3; i++)
        count *= (double)a->shape[i];
    double along = fmax(1, pow(count, 0.25));
    edges[0] = fmax(1, (double)a->shape[0] / (along * along));
    if ((double)a->shape[0] < along * along)
        along /= sqrt((double)a->shape[0] / (along * along));
    for (int i = 1; i < 3; i++)
        longer *= (double)a->shape[i] < along ? along / (double)a->shape[i] : 1;
    for (int i = 1; i < 3; i++)
        edges[i] = (double)a->shape[i] < along ? 1 : longer * (double)a->shape[i] / along;
    round_best(chunk, edges, a);
    return ARRAS_OK;
}
