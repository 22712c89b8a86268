/* create.c -- arrays from nothing: zeros, eye, arange, linspace, index arrays.
 * A library on top of the public header, and nothing else. */
#include "api/compose.h"

#include <math.h>

arras_array arras_full(arras_array value, int rank, const arras_dim *shape)
{
    if (arras_array_rank(value) > 0)
        return arras_poison(arras_array_graph(value), ARRAS_ESHAPE,
                            "full: the value must have rank 0: use broadcast_to");
    return arras_broadcast_to(value, rank, shape);
}

static arras_array filled(arras_graph *g, arras_dtype dtype, int64_t value, int rank,
                          const arras_dim *shape)
{
    return arras_full(arras_cast(arras_int(g, value), dtype), rank, shape);
}

arras_array arras_zeros(arras_graph *g, arras_dtype dtype, int rank, const arras_dim *shape)
{
    return filled(g, dtype, 0, rank, shape);
}

arras_array arras_ones(arras_graph *g, arras_dtype dtype, int rank, const arras_dim *shape)
{
    return filled(g, dtype, 1, rank, shape);
}

arras_array arras_index_array(arras_graph *g, int rank, const arras_dim *shape, int axis)
{
    if (axis < -rank || axis >= rank)
        return arras_poison(g, ARRAS_EAXIS, "index_array: there is no such axis");
    return arras_lambda(g, rank, shape, arras_expr_index(g, axis < 0 ? axis + rank : axis));
}

arras_array arras_eye(arras_graph *g, arras_dtype dtype, arras_dim rows, arras_dim cols,
                      int64_t diagonal)
{
    arras_dim   shape[] = { rows, cols };
    arras_array row = arras_index_array(g, 2, shape, 0), col = arras_index_array(g, 2, shape, 1);

    return arras_cast(arras_equal(arras_subtract(col, row), arras_int(g, diagonal)), dtype);
}

/* ---- Ranges ---------------------------------------------------------------------------------- */

/* start + step * i */
static arras_array ramp(arras_graph *g, int64_t count, arras_expr start, arras_expr step)
{
    arras_expr way = apply2(ARRAS_OP_multiply, arras_expr_index(g, 0), step);

    return arras_lambda(g, 1, &count, apply2(ARRAS_OP_add, way, start));
}

/* How many steps fit; as unsigned numbers the distance can't overflow. */
static int64_t step_count(int64_t start, int64_t stop, int64_t step)
{
    uint64_t distance, size;

    if (step > 0 ? stop <= start : start <= stop)
        return 0;
    distance = step > 0 ? (uint64_t)stop - (uint64_t)start : (uint64_t)start - (uint64_t)stop;
    size = step > 0 ? (uint64_t)step : 0 - (uint64_t)step;
    distance = (distance - 1) / size;
    return distance < INT64_MAX / 2 ? (int64_t)distance + 1
                                    : INT64_MAX / 2; /* no memory holds that */
}

arras_array arras_arange(arras_graph *g, int64_t start, int64_t stop, int64_t step)
{
    if (step == 0)
        return arras_poison(g, ARRAS_EINVAL, "arange: the step is 0");
    if (arras_dim_is_symbolic(start) || arras_dim_is_symbolic(stop))
        return arras_poison(g, ARRAS_ESIZE,
                            "arange: the bounds must be numbers: for a symbolic length "
                            "use arras_index_array");
    return ramp(g, step_count(start, stop, step), arras_expr_int(g, start),
                arras_expr_int(g, step));
}

arras_array arras_arange_real(arras_graph *g, double start, double stop, double step)
{
    double  count = ceil((stop - start) / step);
    int64_t cells;

    if (!(fabs(count) < 0x1p58) || step == 0)
        return arras_poison(g, ARRAS_EINVAL,
                            "arange: the bounds and the step give no number of cells");
    cells = count > 0 ? (int64_t)count : 0;
    /* NumPy's step is what the first two cells differ by, after rounding. */
    return ramp(g, cells, arras_expr_float(g, start), arras_expr_float(g, (start + step) - start));
}

arras_array arras_linspace(arras_graph *g, double start, double stop, int64_t count, bool endpoint)
{
    int64_t     steps = endpoint && count > 0 ? count - 1 : count;
    double      step = (stop - start) / (double)(steps > 0 ? steps : 1);
    arras_array cells, last;

    if (count < 0) /* a symbolic size too: it is a very small number */
        return arras_poison(g, ARRAS_EINVAL, "linspace: the count must be a number, 0 or more");
    cells = ramp(g, count, arras_expr_float(g, start), arras_expr_float(g, step));
    if (!endpoint || count < 2)
        return cells;
    /* The end is met exactly, whatever rounding does on the way. */
    last = arras_equal(arras_index_array(g, 1, &count, 0), arras_int(g, count - 1));
    return arras_where(last, arras_float(g, stop), cells);
}
