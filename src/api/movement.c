/* movement.c -- broadcast_to, squeeze, expand_dims, flip, tile, repeat.
 * A library on top of the public header, and nothing else. */
#include "api/compose.h"

#include <stdio.h>

static arras_array poison_axis(arras_array x, const char *what, int rank, int axis,
                               const char *problem)
{
    char text[160];

    snprintf(text, sizeof text, "%s: axis %d of an array of rank %d %s", what, axis, rank, problem);
    return arras_poison(arras_array_graph(x), ARRAS_EAXIS, text);
}

static void print_length(char *text, size_t size, arras_dim length)
{
    if (arras_dim_is_symbolic(length))
        snprintf(text, size, "a symbolic length");
    else
        snprintf(text, size, "%lld", (long long)length);
}

static arras_array poison_lengths(arras_array x, const char *what, int axis, arras_dim is,
                                  arras_dim wanted)
{
    char text[160], has[32], needs[32];

    print_length(has, sizeof has, is);
    print_length(needs, sizeof needs, wanted);
    snprintf(text, sizeof text, "%s: axis %d is %s, not %s", what, axis, has, needs);
    return arras_poison(arras_array_graph(x), ARRAS_ESHAPE, text);
}

/* Marks the axes given, which may be negative; NULL when all is well. */
static arras_array mark_axes(bool *marked, arras_array x, const char *what, int rank, int n,
                             const int *axes)
{
    if (n < 0)
        return poison_axis(x, what, rank, n, "is the number of axes: it is negative");
    for (int i = 0; i < n; i++) {
        int axis = axes[i] < 0 && axes[i] >= -rank ? axes[i] + rank : axes[i];

        if (axis < 0 || axis >= rank)
            return poison_axis(x, what, rank, axes[i], "does not exist");
        if (marked[axis])
            return poison_axis(x, what, rank, axes[i], "is given twice");
        marked[axis] = true;
    }
    return NULL;
}

/* ---- Broadcast ------------------------------------------------------------------------------- */

arras_array arras_broadcast_to(arras_array x, int rank, const arras_dim *shape)
{
    arras_graph *g = arras_array_graph(x);
    int          own = arras_array_rank(x);
    arras_expr   indices[ARRAS_MAX_RANK];

    if (arras_array_error(x))
        return x ? x : arras_poison(NULL, ARRAS_EINVAL, NULL);
    if (rank > 0 && !shape)
        return arras_poison(g, ARRAS_EINVAL, "broadcast_to: the shape is NULL");
    if (rank < own || rank > ARRAS_MAX_RANK)
        return arras_poison(g, ARRAS_ESHAPE,
                            "broadcast_to: the new shape needs at least as many axes as the array, "
                            "and at most 32");
    for (int d = 0; d < own; d++) {
        arras_dim length = arras_array_dim(x, d);

        if (length != 1 && length != shape[rank - own + d])
            return poison_lengths(x, "broadcast_to", d, length, shape[rank - own + d]);
        indices[d] = length == 1 ? arras_expr_int(g, 0) : arras_expr_index(g, rank - own + d);
    }
    return arras_lambda(g, rank, shape, arras_expr_load(x, own, indices, NULL));
}

/* ---- Axes of length 1 ------------------------------------------------------------------------ */

arras_array arras_squeeze(arras_array x, int n, const int *axes)
{
    bool        gone[ARRAS_MAX_RANK] = { false };
    arras_item  items[ARRAS_MAX_RANK];
    int         rank = arras_array_rank(x);
    arras_array bad;

    if (axes && rank >= 0 && (bad = mark_axes(gone, x, "squeeze", rank, n, axes)))
        return bad;
    for (int d = 0; d < rank; d++) {
        bool one = arras_array_dim(x, d) == 1;

        if (axes && gone[d] && !one)
            return poison_lengths(x, "squeeze", d, arras_array_dim(x, d), 1);
        items[d] = one && (gone[d] || !axes) ? arras_at(0) : arras_all_of_axis();
    }
    return arras_index(x, rank < 0 ? 0 : rank, items);
}

arras_array arras_expand_dims(arras_array x, int n, const int *axes)
{
    bool        new_axis[ARRAS_MAX_RANK] = { false };
    arras_item  items[ARRAS_MAX_RANK];
    int         rank;
    arras_array bad;

    if (arras_array_error(x))
        return arras_index(x, 0, NULL);
    if (n > 0 && !axes)
        return arras_poison(arras_array_graph(x), ARRAS_EINVAL, "expand_dims: the axes are NULL");
    if (n < 0 || n > ARRAS_MAX_RANK - arras_array_rank(x))
        return arras_poison(arras_array_graph(x), ARRAS_ELIMIT,
                            "expand_dims: an array has at most 32 axes");
    rank = arras_array_rank(x) + n;
    if ((bad = mark_axes(new_axis, x, "expand_dims", rank, n, axes)))
        return bad;
    for (int d = 0; d < rank; d++)
        items[d] = new_axis[d] ? arras_newaxis() : arras_all_of_axis();
    return arras_index(x, rank, items);
}

/* ---- Order and repetition -------------------------------------------------------------------- */

arras_array arras_flip(arras_array x, int n, const int *axes)
{
    bool        flipped[ARRAS_MAX_RANK] = { false };
    arras_item  items[ARRAS_MAX_RANK];
    int         rank = arras_array_rank(x);
    arras_array bad;

    if (axes && rank >= 0 && (bad = mark_axes(flipped, x, "flip", rank, n, axes)))
        return bad;
    for (int d = 0; d < rank; d++)
        items[d] = arras_slice(ARRAS_NONE, ARRAS_NONE, flipped[d] || !axes ? -1 : 1);
    return arras_index(x, rank < 0 ? 0 : rank, items);
}

arras_array arras_tile(arras_array x, int n, const int64_t *reps)
{
    arras_graph *g = arras_array_graph(x);
    int          own = arras_array_rank(x), rank = own > n ? own : n;
    arras_dim    shape[ARRAS_MAX_RANK];
    arras_expr   indices[ARRAS_MAX_RANK];
    arras_edge   edges[ARRAS_MAX_RANK];

    if (arras_array_error(x))
        return arras_index(x, 0, NULL);
    if (n > 0 && !reps)
        return arras_poison(g, ARRAS_EINVAL, "tile: the repetitions are NULL");
    if (n < 0 || n > ARRAS_MAX_RANK)
        return arras_poison(g, ARRAS_ELIMIT, "tile: there may be 0..32 repetitions");
    for (int d = 0; d < rank; d++) {
        int64_t rep = d < rank - n ? 1 : reps[d - (rank - n)];
        int     axis = d - (rank - own);

        if (rep < 0)
            return poison_axis(x, "tile", own, axis, "is repeated a negative number of times");
        shape[d] = axis < 0 ? rep : arras_dim_mul(g, arras_array_dim(x, axis), rep);
        if (axis >= 0) {
            indices[axis] = arras_expr_index(g, d);
            edges[axis] = (arras_edge){ rep == 1 ? ARRAS_EDGE_NONE : ARRAS_EDGE_WRAP, NULL };
        }
    }
    return arras_lambda(g, rank, shape, arras_expr_load(x, own, indices, edges));
}

arras_array arras_repeat(arras_array x, int64_t count, int axis)
{
    arras_graph *g = arras_array_graph(x);
    int          rank = arras_array_rank(x), at;
    arras_dim    shape[ARRAS_MAX_RANK];
    arras_expr   indices[ARRAS_MAX_RANK];

    if (arras_array_error(x))
        return arras_index(x, 0, NULL);
    if (axis < -rank || axis >= rank)
        return poison_axis(x, "repeat", rank, axis, "does not exist");
    at = axis < 0 ? axis + rank : axis;
    if (count < 0)
        return poison_axis(x, "repeat", rank, axis, "is repeated a negative number of times");
    for (int d = 0; d < rank; d++) {
        arras_expr index = arras_expr_index(g, d);

        shape[d] = d == at ? arras_dim_mul(g, arras_array_dim(x, d), count) : arras_array_dim(x, d);
        indices[d] =
            d == at ? apply2(ARRAS_OP_floor_divide, index, arras_expr_int(g, count)) : index;
    }
    return arras_lambda(g, rank, shape, arras_expr_load(x, rank, indices, NULL));
}
