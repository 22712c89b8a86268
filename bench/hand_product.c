/* hand_product.c -- by hand: products.  Large ones are OpenBLAS's; small ones live in registers. */
#include "hand.h"

#include <cblas.h>

void hand_matmul(double *c, const double *a, const double *b, int64_t n)
{
    const int size = (int)n;

    cblas_dgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, size, size, size, 1, a, size, b, size, 0,
                c, size);
}

/* ---- y[x,e,i] = sum of d[x,i,j] u[e,j] over j: derivatives of e elements of 20 nodes ----------
 */

enum { AXES = 3, NODES = 20, VECTORS = NODES / F64S, PAIR = 2, CHUNK = 64 };

/* Two elements at once: 10 sums in registers, 2 cells of u that serve 5 vectors each. */
static inline void derive_pair(double *y, const double *d, const double *u)
{
    f64v sums[PAIR][VECTORS] = { 0 };

    for (int j = 0; j < NODES; j++)
        for (int v = 0; v < VECTORS; v++) {
            f64v column = load_f64(d + j * NODES + v * F64S);

            sums[0][v] += column * u[j];
            sums[1][v] += column * u[NODES + j];
        }
    for (int e = 0; e < PAIR; e++)
        for (int v = 0; v < VECTORS; v++)
            stream_f64(y + e * NODES + v * F64S, sums[e][v]);
}

static void derive_one(double *y, const double *d, const double *u)
{
    _Alignas(VECTOR) double pair[PAIR * NODES];
    double                  values[PAIR * NODES] = { 0 };

    memcpy(values, u, NODES * sizeof *u);
    derive_pair(pair, d, values);
    memcpy(y, pair, NODES * sizeof *y);
}

static void derive(double *y, const double *d, const double *u, int64_t count)
{
    int64_t e = 0;

    for (; e + PAIR <= count; e += PAIR)
        derive_pair(y + e * NODES, d, u + e * NODES);
    for (; e < count; e++)
        derive_one(y + e * NODES, d, u + e * NODES);
    stream_end();
}

/* Columns of d lie together, so that they can be loaded as vectors. */
static void transpose(double *out, const double *d)
{
    for (int x = 0; x < AXES; x++)
        for (int i = 0; i < NODES; i++)
            for (int j = 0; j < NODES; j++)
                out[(x * NODES + j) * NODES + i] = d[(x * NODES + i) * NODES + j];
}

void hand_einsum(double *y, const double *d, const double *u, int64_t elements)
{
    double columns[AXES * NODES * NODES];

    transpose(columns, d);
#pragma omp parallel for schedule(static)
    for (int64_t e = 0; e < elements; e += CHUNK)
        for (int x = 0; x < AXES; x++)
            derive(y + (x * elements + e) * NODES, columns + x * NODES * NODES, u + e * NODES,
                   min64(CHUNK, elements - e));
}
