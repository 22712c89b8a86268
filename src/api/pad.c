/* pad.c -- NumPy's ways to pad.
 * A library on top of the public header, and nothing else.
 *
 * Modes that repeat cells are one index lambda with an edge rule.  The others pad axis after axis,
 * each seeing what the axes before it got, as in NumPy. */
#include "api/compose.h"

#include <stdio.h>

/* More on each side would leave no room for the sums of sizes. */
#define WIDEST (INT64_MAX / 8)

static arras_edge_rule rule_of(arras_pad_mode mode)
{
    switch (mode) {
    case ARRAS_PAD_EDGE: return ARRAS_EDGE_NEAREST;
    case ARRAS_PAD_REFLECT:
        return ARRAS_EDGE_MIRROR; /* NumPy and scipy.ndimage swap these two words */
    case ARRAS_PAD_SYMMETRIC: return ARRAS_EDGE_REFLECT;
    case ARRAS_PAD_WRAP: return ARRAS_EDGE_WRAP;
    case ARRAS_PAD_EMPTY: return ARRAS_EDGE_CONSTANT;
    default: return ARRAS_EDGE_NONE;
    }
}

static arras_array check_pad(arras_array x, const int64_t *widths, arras_pad_mode mode,
                             arras_array fill)
{
    arras_graph *g = arras_array_graph(x);
    int          rank = arras_array_rank(x);
    char         text[128];

    if ((int)mode < 0 || mode >= ARRAS_PAD_END)
        return arras_poison(g, ARRAS_EINVAL, "pad: there is no such mode");
    if (rank > 0 && !widths)
        return arras_poison(g, ARRAS_EINVAL, "pad: the widths are NULL");
    if (fill && arras_array_rank(fill) > 0)
        return arras_poison(g, ARRAS_ESHAPE, "pad: the fill must have rank 0");
    for (int d = 0; d < rank; d++) {
        int64_t before = widths[2 * d], after = widths[2 * d + 1];
        bool    grows = before > 0 || after > 0;

        if (before < 0 || after < 0 || before > WIDEST || after > WIDEST) {
            snprintf(text, sizeof text,
                     "pad: the widths %lld and %lld of axis %d must be 0 to %lld",
                     (long long)before, (long long)after, d, (long long)WIDEST);
            return arras_poison(g, ARRAS_EINVAL, text);
        }
        if (grows && arras_array_dim(x, d) == 0 && mode != ARRAS_PAD_CONSTANT &&
            mode != ARRAS_PAD_EMPTY) {
            snprintf(text, sizeof text, "pad: axis %d is empty: there is nothing to pad it from",
                     d);
            return arras_poison(g, ARRAS_ESHAPE, text);
        }
    }
    return NULL;
}

static void padded_shape(arras_dim *shape, arras_array x, const int64_t *widths)
{
    for (int d = 0; d < arras_array_rank(x); d++)
        shape[d] = arras_dim_add(arras_array_graph(x), arras_array_dim(x, d),
                                 widths[2 * d] + widths[2 * d + 1]);
}

static arras_array pad_by_rule(arras_array x, const int64_t *widths, arras_edge_rule rule)
{
    arras_graph *g = arras_array_graph(x);
    int          rank = arras_array_rank(x);
    arras_dim    shape[ARRAS_MAX_RANK];
    arras_expr   indices[ARRAS_MAX_RANK];
    arras_edge   edges[ARRAS_MAX_RANK];

    padded_shape(shape, x, widths);
    for (int d = 0; d < rank; d++) {
        bool grows = widths[2 * d] > 0 || widths[2 * d + 1] > 0;

        indices[d] = shifted_index(g, d, -widths[2 * d]);
        edges[d] = (arras_edge){ grows ? rule : ARRAS_EDGE_NONE, NULL };
    }
    return arras_lambda(g, rank, shape, arras_expr_load(x, rank, indices, edges));
}

/* 0 <= index < length of the axis of x */
static arras_expr inside_axis(arras_array x, int axis, arras_expr index)
{
    arras_graph *g = arras_array_graph(x);
    arras_expr   above = apply2(ARRAS_OP_greater_equal, index, arras_expr_int(g, 0));
    arras_expr   below = apply2(ARRAS_OP_less, index, arras_expr_size(g, arras_array_dim(x, axis)));

    return apply2(ARRAS_OP_logical_and, above, below);
}

/* A fill that need not be a literal: where() reads x only inside it. */
static arras_array pad_by_value(arras_array x, const int64_t *widths, arras_array fill)
{
    arras_graph *g = arras_array_graph(x);
    int          rank = arras_array_rank(x);
    arras_dim    shape[ARRAS_MAX_RANK];
    arras_expr   indices[ARRAS_MAX_RANK], inside = NULL, outside;

    if (rank == 0)
        return x;
    padded_shape(shape, x, widths);
    for (int d = 0; d < rank; d++) {
        arras_expr here;

        indices[d] = shifted_index(g, d, -widths[2 * d]);
        here = inside_axis(x, d, indices[d]);
        inside = inside ? apply2(ARRAS_OP_logical_and, inside, here) : here;
    }
    outside = arras_expr_load(arras_cast(fill, arras_array_dtype(x)), 0, NULL, NULL);
    return arras_lambda(
        g, rank, shape,
        apply3(ARRAS_OP_where, inside, arras_expr_load(x, rank, indices, NULL), outside));
}

/* ---- One axis -------------------------------------------------------------------------------- */

/* x with `before` and `after` (may be NULL for none) joined to it. */
static arras_array joined(arras_array before, arras_array x, arras_array after, int axis)
{
    arras_array parts[3];
    int         n = 0;

    if (before)
        parts[n++] = before;
    parts[n++] = x;
    if (after)
        parts[n++] = after;
    return arras_concatenate(n, parts, axis);
}

static arras_array stretched(arras_array one, int axis, int64_t width)
{
    return width > 0 ? arras_repeat(one, width, axis) : NULL;
}

/* Cell `var` along an axis, the other indices as they are. */
static arras_expr line_cell(arras_array x, int axis, const char *var)
{
    arras_graph *g = arras_array_graph(x);
    arras_expr   indices[ARRAS_MAX_RANK];

    for (int d = 0; d < arras_array_rank(x); d++)
        indices[d] = d == axis ? arras_expr_var(g, var) : arras_expr_index(g, d);
    return arras_expr_load(x, arras_array_rank(x), indices, NULL);
}

/* The value of rank (n - 1) / 2 or n / 2 along an axis: the largest cell that at most so many are
 * below. Quadratic along the axis, but exact and without sorting; a nan makes it nan. */
static arras_array order_statistic(arras_array x, int axis, bool upper)
{
    arras_graph *g = arras_array_graph(x);
    arras_dim    shape[ARRAS_MAX_RANK];
    arras_expr   zero = arras_expr_int(g, 0), length = arras_expr_size(g, arras_array_dim(x, axis));
    arras_expr   cell = line_cell(x, axis, "j"), below, wanted, least, candidate;

    for (int d = 0; d < arras_array_rank(x); d++)
        shape[d] = d == axis ? 1 : arras_array_dim(x, d);
    below = arras_expr_reduce(ARRAS_REDUCE_count_nonzero, "k", zero, length,
                              apply2(ARRAS_OP_less, line_cell(x, axis, "k"), cell));
    wanted = apply2(ARRAS_OP_floor_divide,
                    apply2(ARRAS_OP_subtract, length, arras_expr_int(g, upper ? 0 : 1)),
                    arras_expr_int(g, 2));
    least = arras_expr_reduce(ARRAS_REDUCE_min, "k", zero, length, line_cell(x, axis, "k"));
    candidate = apply3(ARRAS_OP_where, apply2(ARRAS_OP_less_equal, below, wanted), cell, least);
    return arras_lambda(g, arras_array_rank(x), shape,
                        arras_expr_reduce(ARRAS_REDUCE_max, "j", zero, length, candidate));
}

static arras_array median(arras_array x, int axis)
{
    arras_array both[] = { order_statistic(x, axis, false), order_statistic(x, axis, true) };
    int         first = 0;

    /* The mean of one number is that number, though twice it may be too large. */
    return arras_where(arras_equal(both[0], both[1]), both[0],
                       arras_mean(arras_stack(2, both, 0), 1, &first, false));
}

/* Means that go back into integers are rounded, not cut. */
static arras_array back_to(arras_array value, arras_dtype dtype)
{
    bool integer = dtype >= ARRAS_I8 && dtype <= ARRAS_U64;

    return arras_cast(integer ? arras_round(value) : value, dtype);
}

static arras_array axis_value(arras_array x, int axis, arras_pad_mode mode)
{
    switch (mode) {
    case ARRAS_PAD_MAXIMUM: return arras_max(x, 1, &axis, true);
    case ARRAS_PAD_MINIMUM: return arras_min(x, 1, &axis, true);
    case ARRAS_PAD_MEAN: return back_to(arras_mean(x, 1, &axis, true), arras_array_dtype(x));
    default: return back_to(median(x, axis), arras_array_dtype(x));
    }
}

/* The cells of one side of a ramp: end + i * (edge - end) / width, the end outermost. */
static arras_array ramp_side(arras_array x, int axis, int64_t width, arras_array end, bool before)
{
    arras_graph *g = arras_array_graph(x);
    arras_dtype  dtype = arras_array_dtype(x);
    bool         complex_cells = dtype == ARRAS_C64 || dtype == ARRAS_C128;
    int          rank = arras_array_rank(x);
    arras_item   items[ARRAS_MAX_RANK];
    arras_dim    shape[ARRAS_MAX_RANK];
    arras_array  edge, place, cells;

    for (int d = 0; d < rank; d++) {
        items[d] = arras_all_of_axis();
        shape[d] = d == axis ? width : 1;
    }
    if (dtype >= ARRAS_I8 && dtype <= ARRAS_U64 && arras_array_dtype(end) >= ARRAS_C64)
        return arras_poison(g, ARRAS_EDTYPE, "pad: a ramp of integers can't end in a complex fill");
    items[axis] = before ? arras_slice(ARRAS_NONE, 1, 1) : arras_slice(-1, ARRAS_NONE, 1);
    edge = arras_cast(arras_index(x, rank, items), complex_cells ? ARRAS_C128 : ARRAS_F64);
    place = arras_index_array(g, rank, shape, axis);
    if (!before)
        place = arras_subtract(arras_int(g, width - 1), place);
    cells = arras_divide(arras_subtract(edge, end), arras_int(g, width));
    cells = arras_add(arras_multiply(place, cells), end);
    if (dtype >= ARRAS_I8 && dtype <= ARRAS_U64)
        cells = arras_floor(cells);
    return arras_cast(cells, dtype);
}

static arras_array pad_axis(arras_array x, int axis, const int64_t *widths, arras_pad_mode mode,
                            arras_array fill)
{
    arras_array value;

    if (widths[0] == 0 && widths[1] == 0)
        return x;
    if (mode == ARRAS_PAD_LINEAR_RAMP)
        return joined(widths[0] > 0 ? ramp_side(x, axis, widths[0], fill, true) : NULL, x,
                      widths[1] > 0 ? ramp_side(x, axis, widths[1], fill, false) : NULL, axis);
    value = axis_value(x, axis, mode);
    return joined(stretched(value, axis, widths[0]), x, stretched(value, axis, widths[1]), axis);
}

arras_array arras_pad(arras_array x, const int64_t *widths, arras_pad_mode mode, arras_array fill)
{
    arras_array bad;

    if (arras_array_error(x) || (fill && arras_array_error(fill)))
        return arras_index(arras_array_error(x) ? x : fill, 0, NULL);
    if ((bad = check_pad(x, widths, mode, fill)))
        return bad;
    if (mode == ARRAS_PAD_CONSTANT)
        return fill ? pad_by_value(x, widths, fill) : pad_by_rule(x, widths, ARRAS_EDGE_CONSTANT);
    if (rule_of(mode) != ARRAS_EDGE_NONE)
        return pad_by_rule(x, widths, rule_of(mode));
    if (!fill)
        fill = arras_int(arras_array_graph(x), 0);
    for (int d = 0; d < arras_array_rank(x); d++)
        x = pad_axis(x, d, widths + 2 * d, mode, fill);
    return x;
}
