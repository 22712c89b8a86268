/* variance.c -- squared deviations from the mean down a long axis, in one pass over memory.
 *
 * Parts of the axis have a pivot c, the mean of their first rows, and the sums d of x - c and q of
 * (x - c)^2.  With n cells the squared deviations from the part's own mean are q - d^2 / n.  The
 * PIVOT rows of the pivot are among the n, so what is subtracted is at most n / PIVOT times the
 * result: little is lost.  Parts are merged as in Chan, Golub and LeVeque 1979, with means taken
 * relative to the first pivot, so that columns far from 0 lose nothing either.  A sum over the same
 * axis has the same parts and is made in the same pass. */
#include "api/variance.h"

#include "api/compose.h"

enum { BLOCK = AR_FOLD_BLOCK, LEAST_BLOCKS = 4, MOST_PARTS = 64, PIVOT = 64 };

typedef struct {
    arras_graph *g;
    arras_array  x;
    int          axis;
    int64_t      length, part, parts; /* cells of the axis, of a part; parts */
} column_parts;

bool ar_is_long_down(arras_array x, int n, const int *axes)
{
    int       axis = n == 1 && axes ? axes[0] + (axes[0] < 0 ? arras_array_rank(x) : 0) : -1;
    arras_dim length = axis >= 0 ? arras_array_dim(x, axis) : 0;

    return axis >= 0 && axis < arras_array_rank(x) - 1 && arras_array_dtype(x) < ARRAS_C64 &&
           !arras_dim_is_symbolic(length) && length >= LEAST_BLOCKS * BLOCK;
}

static column_parts parts_of(arras_array x, int axis)
{
    column_parts p = { arras_array_graph(x), x, axis, arras_array_dim(x, axis), BLOCK, 0 };

    while ((p.length - 1) / p.part + 1 > MOST_PARTS)
        p.part *= 2;
    p.parts = (p.length - 1) / p.part + 1;
    return p;
}

static arras_expr whole(const column_parts *p, int64_t value)
{
    return arras_expr_int(p->g, value);
}

/* Where part number `number` starts. */
static arras_expr start(const column_parts *p, arras_expr number)
{
    return apply2(ARRAS_OP_multiply, number, whole(p, p->part));
}

static arras_expr stop(const column_parts *p, arras_expr number)
{
    return apply2(ARRAS_OP_minimum, whole(p, p->length),
                  start(p, apply2(ARRAS_OP_add, number, whole(p, 1))));
}

static arras_expr count(const column_parts *p, arras_expr number)
{
    return arras_expr_cast(apply2(ARRAS_OP_subtract, stop(p, number), start(p, number)),
                           arras_array_dtype(p->x));
}

/* x at the variable "r0" down the axis, where axis 0 of the cell is the part. */
static arras_expr at_row(const column_parts *p)
{
    arras_expr indices[ARRAS_MAX_RANK];

    for (int d = 0; d < arras_array_rank(p->x); d++)
        indices[d] = d == p->axis ? arras_expr_var(p->g, "r0")
                                  : arras_expr_index(p->g, d < p->axis ? d + 1 : d);
    return arras_expr_load(p->x, arras_array_rank(p->x), indices, NULL);
}

static arras_expr minus(arras_expr x, arras_expr y) { return apply2(ARRAS_OP_subtract, x, y); }
static arras_expr times(arras_expr x, arras_expr y) { return apply2(ARRAS_OP_multiply, x, y); }
static arras_expr over(arras_expr x, arras_expr y) { return apply2(ARRAS_OP_divide, x, y); }
static arras_expr plus(arras_expr x, arras_expr y) { return apply2(ARRAS_OP_add, x, y); }

/* ---- In each part: axis 0 of the cell is its number ------------------------------------------ */

/* An array with a cell for each part and column. */
static arras_array store(const column_parts *p, arras_expr cell)
{
    arras_dim shape[ARRAS_MAX_RANK] = { p->parts };

    for (int d = 0, at = 1; d < arras_array_rank(p->x); d++)
        if (d != p->axis)
            shape[at++] = arras_array_dim(p->x, d);
    return arras_lambda(p->g, arras_array_rank(p->x), shape, cell);
}

static arras_expr sum_part(const column_parts *p, arras_expr cell)
{
    arras_expr number = arras_expr_index(p->g, 0);

    return ar_expr_reduce_tree(AR_REDUCE_sum, AR_TREE_PART, "r0", start(p, number), stop(p, number),
                               cell);
}

static arras_expr pivot(const column_parts *p)
{
    arras_expr from = start(p, arras_expr_index(p->g, 0));
    arras_expr to = apply2(ARRAS_OP_minimum, whole(p, p->length), plus(from, whole(p, PIVOT)));
    arras_expr rows = arras_expr_cast(minus(to, from), arras_array_dtype(p->x));

    return over(arras_expr_reduce(ARRAS_REDUCE_sum, "r0", from, to, at_row(p)), rows);
}

/* Squared deviations from the mean of the part; what rounding leaves is not below 0. */
static arras_expr part_squares(const column_parts *p)
{
    arras_expr n = count(p, arras_expr_index(p->g, 0)), away = minus(at_row(p), pivot(p));
    arras_expr d = sum_part(p, away), q = sum_part(p, times(away, away));

    return apply2(ARRAS_OP_maximum, minus(q, over(times(d, d), n)), whole(p, 0));
}

/* ---- All parts ------------------------------------------------------------------------------- */

/* What was stored of part `number`, in the column of the cell. */
static arras_expr at_part(const column_parts *p, arras_array y, arras_expr number)
{
    arras_expr indices[ARRAS_MAX_RANK] = { number };
    int        rank = arras_array_rank(p->x);

    for (int d = 1; d < rank; d++)
        indices[d] = arras_expr_index(p->g, d - 1);
    return arras_expr_load(y, rank, indices, NULL);
}

static arras_expr sum_all(const column_parts *p, arras_expr of_part)
{
    return arras_expr_reduce(ARRAS_REDUCE_sum, "r0", whole(p, 0), whole(p, p->parts), of_part);
}

/* How far the mean of a part is from the first pivot. */
static arras_expr part_mean(const column_parts *p, arras_array pivots, arras_array sums)
{
    arras_expr number = arras_expr_var(p->g, "r0");
    arras_expr from_first = minus(at_part(p, pivots, number), at_part(p, pivots, whole(p, 0)));

    return plus(from_first, over(at_part(p, sums, number), count(p, number)));
}

/* The sum over parts of: squares + count * (mean of the part - mean)^2 */
static arras_expr merged(const column_parts *p, arras_array pivots, arras_array sums,
                         arras_array squares)
{
    arras_expr number = arras_expr_var(p->g, "r0"), n = count(p, number);
    arras_expr own = part_mean(p, pivots, sums);
    arras_expr length = arras_expr_cast(whole(p, p->length), arras_array_dtype(p->x));
    arras_expr away = minus(own, over(sum_all(p, times(n, own)), length));

    return sum_all(p, plus(at_part(p, squares, number), times(n, times(away, away))));
}

arras_array ar_squares_down(arras_array x, int axis)
{
    column_parts p = parts_of(x, axis < 0 ? axis + arras_array_rank(x) : axis);
    arras_array  pivots = store(&p, pivot(&p)), sums, squares;
    arras_dim    shape[ARRAS_MAX_RANK];
    int          rank = arras_array_rank(x) - 1;

    sums = store(&p, sum_part(&p, minus(at_row(&p), pivot(&p))));
    squares = store(&p, part_squares(&p));
    for (int d = 0; d < rank; d++)
        shape[d] = arras_array_dim(x, d < p.axis ? d : d + 1);
    return arras_lambda(p.g, rank, shape, merged(&p, pivots, sums, squares));
}
