/* published.c -- shapes as the paper computes them (Otoo, Rotem, Seshadri: Optimal Chunking of
 * Large Multidimensional Arrays for Data Warehousing): the closed form, its rounding to powers of
 * two, the greedy algorithm.  For comparison; none of them is always the best. */
#include "chunk/chunk.h"

#include <math.h>

/* ---- The closed form ------------------------------------------------------------------------- */

/* Edges are lengths / e within bounds: the condition of a minimum.  The log of their product. */
static double log_product(double *edges, int rank, const double *lengths, const int64_t *extent,
                          double log_e)
{
    double sum = 0;

    for (int i = 0; i < rank; i++) {
        double edge = lengths[i] > 0 ? lengths[i] / exp(log_e) : 1;

        if (extent && extent[i])
            edge = fmin(edge, (double)extent[i]);
        edges[i] = fmax(edge, 1);
        sum += log(edges[i]);
    }
    return sum;
}

/* Edges within their bounds share what those at a bound leave over: exact to the last digits. */
static void polish(double *edges, int rank, const double *lengths, const int64_t *extent,
                   double cells)
{
    double rest = log(cells), product = 0;
    int    free = 0;

    for (int i = 0; i < rank; i++) {
        if (edges[i] > 1 && !(extent && extent[i] && edges[i] >= (double)extent[i])) {
            product += log(lengths[i]);
            free++;
        } else {
            rest -= log(edges[i]);
        }
    }
    for (int i = 0; i < rank; i++)
        if (edges[i] > 1 && !(extent && extent[i] && edges[i] >= (double)extent[i]))
            edges[i] = lengths[i] / exp((product - rest) / free);
}

double ar_chunk_closed_form(double *edges, int rank, const double *lengths, const int64_t *extent,
                            double cells)
{
    double low = -60, high = 60, cost = 1; /* of log e: the product falls from one to the other */

    if (log_product(edges, rank, lengths, extent, low) > log(cells)) {
        for (int i = 0; i < 200; i++) {
            double middle = (low + high) / 2;

            if (log_product(edges, rank, lengths, extent, middle) > log(cells))
                low = middle;
            else
                high = middle;
        }
        log_product(edges, rank, lengths, extent, high);
        polish(edges, rank, lengths, extent, cells);
    }
    for (int i = 0; i < rank; i++)
        cost *= lengths[i] / edges[i] + 1;
    return cost;
}

bool ar_chunk_closed_form_rounded(int *powers, int rank, const double *lengths,
                                  const int64_t *extent, int log2_cells)
{
    double rest[ARRAS_MAX_RANK], mean = -log2_cells;
    int    left = log2_cells;
    bool   feasible = true;

    for (int i = 0; i < rank; i++)
        mean += log2(lengths[i]);
    for (int i = 0; i < rank; i++) {
        double exact = log2(lengths[i]) - mean / rank;

        if (!isfinite(exact))
            return false; /* a range of one cell: the closed form divides by 0 */
        powers[i] = (int)floor(exact);
        rest[i] = exact - powers[i];
        left -= powers[i];
    }
    for (; left > 0; left--) { /* those that lost most are rounded up */
        int most = 0;

        for (int i = 1; i < rank; i++)
            most = rest[i] > rest[most] ? i : most;
        powers[most]++;
        rest[most] = -1;
    }
    for (int i = 0; i < rank; i++)
        feasible = feasible && powers[i] >= 0 && powers[i] < 62 &&
                   !(extent && extent[i] && INT64_C(1) << powers[i] > extent[i]);
    return feasible;
}

double ar_chunk_closed_form_cells(int rank, const double *lengths, double latency,
                                  double seconds_per_cell)
{
    double log_product = 0;

    for (int i = 0; i < rank; i++)
        log_product += log(lengths[i]);
    return exp((log_product + rank * log(latency / seconds_per_cell)) / (rank + 1));
}

/* ---- The greedy algorithm -------------------------------------------------------------------- */

int ar_chunk_greedy_step(const ar_chunk_problem *p, const int64_t *chunk)
{
    int64_t cells = 1, next[ARRAS_MAX_RANK];
    double  least = INFINITY;
    int     best = -1;

    for (int i = 0; i < p->workload->rank; i++) {
        cells *= chunk[i];
        next[i] = chunk[i];
    }
    for (int i = 0; i < p->workload->rank && cells <= p->cells / 2; i++) {
        if (p->extent[i] && chunk[i] > p->extent[i] / 2)
            continue;
        next[i] *= 2;
        double cost = ar_chunk_value(p, next, -1);
        if (cost < least) {
            least = cost;
            best = i;
        }
        next[i] = chunk[i];
    }
    return best;
}
