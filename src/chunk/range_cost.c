/* range_cost.c -- how many chunks a range along one axis meets, in three models.
 *
 * All three never grow with the edge.  For the exact one: a border between chunks at b is inside a
 * range of A cells for min(b, A-1, N-b, N-A+1) of the N-A+1 places it can have, a trapezoid that is
 * 0 at both ends of the array.  As the edge grows all borders move to the right, the j-th j times
 * as fast as the first, and there are at least as many on the falling flank as on the rising one,
 * so that the sum never rises. */
#include "chunk/chunk.h"

#include <assert.h>

#include "chunk/big.h"

/* The sum of t div edge for t below n. */
static ar_u128 sum_of_quotients(int64_t n, int64_t edge)
{
    ar_u128 full = (ar_u128)(n / edge), rest = (ar_u128)(n % edge);

    return full == 0 ? 0 : (ar_u128)edge * (full * (full - 1) / 2) + rest * full;
}

static ar_range_cost exact_cost(int64_t extent, int64_t range, int64_t edge)
{
    int64_t places = extent - range + 1;
    ar_u128 borders = sum_of_quotients(extent, edge) - sum_of_quotients(range - 1, edge) -
                      sum_of_quotients(places, edge);

    return (ar_range_cost){ (ar_u128)places + borders, places };
}

ar_range_cost ar_chunk_range_cost(arras_chunk_model model, int64_t extent, int64_t range,
                                  int64_t edge)
{
    assert(edge > 0 && range > 0);
    switch (model) {
    case ARRAS_CHUNKS_PAPER: return (ar_range_cost){ (ar_u128)(range - 1) + (ar_u128)edge, edge };
    case ARRAS_CHUNKS_SS: return (ar_range_cost){ (ar_u128)((range - 1) / edge + 1), 1 };
    default: return exact_cost(extent, range, edge);
    }
}

double ar_chunk_range_value(ar_range_cost cost)
{
    return (double)((long double)cost.upper / (long double)cost.lower);
}
