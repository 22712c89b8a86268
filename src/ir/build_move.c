/* build_move.c -- the same cells elsewhere: stack, concatenate, roll, permute, reshape. */
#include "ir/graph.h"

#include <string.h>

/* ---- Stack and concatenate ------------------------------------------------------------------- */

static arras_array poison_part(const char *what, int part, const arras_array *xs, const char *rule)
{
    arras_error err;

    ar_fail(&err, ARRAS_ESHAPE, "%s: part %d does not fit part 0: %s", what, part, rule);
    return ar_poison_about(xs[0]->graph, &err, 2, (arras_array[]){ xs[0], xs[part] });
}

static bool same_shape(arras_array x, arras_array y, int but_axis)
{
    if (x->rank != y->rank)
        return false;
    for (int d = 0; d < x->rank; d++)
        if (d != but_axis && x->shape[d] != y->shape[d])
            return false;
    return true;
}

static arras_array join(ar_kind kind, int axis, int rank, const arras_dim *shape, int n,
                        const arras_array *xs)
{
    arras_graph *g = xs[0]->graph;
    arras_dtype  dtype = ar_promote_nodes(n, xs).dtype;
    arras_array  bad = ar_check_shape(g, ar_kind_word(kind), rank, shape);

    if (bad || (bad = ar_check_untyped(ar_kind_word(kind), n, xs, dtype)))
        return bad;
    return ar_intern(g, &(struct arras_node){ .kind = kind,
                                              .type = { dtype, false },
                                              .rank = rank,
                                              .shape = shape,
                                              .ninputs = n,
                                              .inputs = xs,
                                              .nints = 1,
                                              .ints = (int64_t[]){ axis } });
}

arras_array ar_stack(int n, const arras_array *xs, int axis)
{
    arras_array bad = ar_check_inputs("stack", n, xs);
    arras_dim   shape[ARRAS_MAX_RANK + 1];
    arras_error err;

    if (bad)
        return bad;
    if (ar_axis_check(&axis, "stack", axis, xs[0]->rank + 1, &err) != ARRAS_OK)
        return ar_poison_about(xs[0]->graph, &err, n, xs);
    for (int i = 1; i < n; i++)
        if (!same_shape(xs[0], xs[i], -1))
            return poison_part("stack", i, xs, "all shapes must be equal");
    memcpy(shape, xs[0]->shape, (size_t)axis * sizeof *shape);
    shape[axis] = n;
    memcpy(shape + axis + 1, xs[0]->shape + axis, (size_t)(xs[0]->rank - axis) * sizeof *shape);
    return join(AR_STACK, axis, xs[0]->rank + 1, shape, n, xs);
}

arras_array ar_concat(int n, const arras_array *xs, int axis)
{
    arras_array bad = ar_check_inputs("concatenate", n, xs);
    arras_dim   shape[ARRAS_MAX_RANK], length = 0;
    arras_error err;

    if (bad)
        return bad;
    if (ar_axis_check(&axis, "concatenate", axis, xs[0]->rank, &err) != ARRAS_OK)
        return ar_poison_about(xs[0]->graph, &err, n, xs);
    for (int i = 0; i < n; i++) {
        if (!same_shape(xs[0], xs[i], axis))
            return poison_part("concatenate", i, xs,
                               "shapes must be equal but for the axis joined along");
        length = ar_dim_add(xs[0]->graph, length, xs[i]->shape[axis]);
    }
    memcpy(shape, xs[0]->shape, (size_t)xs[0]->rank * sizeof *shape);
    shape[axis] = length;
    return join(AR_CONCAT, axis, xs[0]->rank, shape, n, xs);
}

/* ---- Roll and permute ------------------------------------------------------------------------ */

arras_array ar_roll(arras_array x, const int64_t *shifts)
{
    arras_array bad = ar_check_inputs("roll", 1, &x);
    int64_t     ints[ARRAS_MAX_RANK];

    if (bad)
        return bad;
    for (int d = 0; d < x->rank; d++) {
        int64_t length = x->shape[d];

        ints[d] = shifts[d];
        if (!ar_dim_symbolic(length)) /* one spelling for shifts that do the same */
            ints[d] = length == 0 ? 0 : ints[d] % length + (ints[d] % length < 0 ? length : 0);
    }
    return ar_intern(x->graph, &(struct arras_node){ .kind = AR_ROLL,
                                                     .type = { x->type.dtype, false },
                                                     .rank = x->rank,
                                                     .shape = x->shape,
                                                     .ninputs = 1,
                                                     .inputs = &x,
                                                     .nints = x->rank,
                                                     .ints = ints });
}

arras_array ar_permute(arras_array x, const int *axes)
{
    arras_array bad = ar_check_inputs("permute", 1, &x);
    arras_dim   shape[ARRAS_MAX_RANK];
    int64_t     ints[ARRAS_MAX_RANK];
    arras_error err;
    uint32_t    mask;

    if (bad)
        return bad;
    if (ar_axes_mask(&mask, "permute", x->rank, axes, x->rank, &err) != ARRAS_OK)
        return ar_poison_about(x->graph, &err, 1, &x);
    for (int d = 0; d < x->rank; d++) {
        ints[d] = axes[d] < 0 ? axes[d] + x->rank : axes[d];
        shape[d] = x->shape[ints[d]];
    }
    return ar_intern(x->graph, &(struct arras_node){ .kind = AR_PERMUTE,
                                                     .type = { x->type.dtype, false },
                                                     .rank = x->rank,
                                                     .shape = shape,
                                                     .ninputs = 1,
                                                     .inputs = &x,
                                                     .nints = x->rank,
                                                     .ints = ints });
}

/* ---- Reshape --------------------------------------------------------------------------------- */

/* A product of lengths: a number times at most one symbolic length. */
typedef struct {
    int64_t   number;
    arras_dim symbol; /* 1: none */
    bool      affine; /* false: two symbolic lengths, or too large */
} cells;

static cells count_cells(int rank, const arras_dim *shape, uint32_t without)
{
    cells c = { 1, 1, true };

    for (int d = 0; d < rank; d++) {
        if (without >> d & 1)
            continue;
        if (!ar_dim_symbolic(shape[d]))
            c.affine = c.affine && ar_mul64(&c.number, c.number, shape[d]);
        else if (c.symbol == 1)
            c.symbol = shape[d];
        else
            c.affine = false;
    }
    return c;
}

/* Symbolic lengths that stand on both sides are taken out before anything is multiplied: (n, m, 4)
 * to (n, m, 2, 2) needs no product of n and m. */
static void cancel_symbols(int rank_a, const arras_dim *a, int rank_b, const arras_dim *b,
                           uint32_t *out_a, uint32_t *out_b)
{
    *out_a = *out_b = 0;
    for (int i = 0; i < rank_a; i++)
        for (int j = 0; j < rank_b; j++)
            if (ar_dim_symbolic(a[i]) && a[i] == b[j] && !(*out_b >> j & 1)) {
                *out_a |= (uint32_t)1 << i;
                *out_b |= (uint32_t)1 << j;
                break;
            }
}

static bool fits(arras_graph *g, arras_dim *shape, int open, cells from, cells to)
{
    if (!from.affine || !to.affine)
        return false;
    if (open >= 0)
        return to.symbol == 1 &&
               ar_dim_divide(&shape[open], g, ar_dim_mul(g, from.symbol, from.number), to.number);
    return ar_dim_mul(g, from.symbol, from.number) == ar_dim_mul(g, to.symbol, to.number);
}

static arras_array poison_reshape(arras_array x, int rank, const arras_dim *shape)
{
    ar_text     text = { 0 };
    arras_error err;

    ar_shape_print(&text, x->graph, rank, shape);
    ar_fail(&err, ARRAS_ESHAPE, "reshape: the cells do not fill the shape %s",
            text.data ? text.data : "");
    ar_text_free(&text);
    return ar_poison_about(x->graph, &err, 1, &x);
}

/* Finds the axis of length -1 and makes it 1 for the time being. */
static arras_array find_open_axis(int *open, arras_array x, int rank, arras_dim *shape)
{
    *open = -1;
    for (int d = 0; d < rank; d++) {
        if (shape[d] != -1)
            continue;
        if (*open >= 0)
            return ar_poison(x->graph, ARRAS_ESHAPE,
                             "reshape: axes %d and %d are both -1: only one can be found", *open,
                             d);
        *open = d;
        shape[d] = 1;
    }
    return NULL;
}

arras_array ar_reshape(arras_array x, int rank, const arras_dim *wanted, char order)
{
    arras_array bad = ar_check_inputs("reshape", 1, &x);
    arras_dim   shape[ARRAS_MAX_RANK];
    uint32_t    out_x, out_shape;
    int         open;

    if (bad)
        return bad;
    if (order != 'C' && order != 'F')
        return ar_poison(x->graph, ARRAS_EINVAL,
                         "reshape: the order is 'C' or 'F', not character %d", order);
    if (rank < 0 || rank > ARRAS_MAX_RANK || (rank > 0 && !wanted))
        return ar_check_shape(x->graph, "reshape", rank, wanted);
    for (int d = 0; d < rank; d++)
        shape[d] = wanted[d];
    if ((bad = find_open_axis(&open, x, rank, shape)) ||
        (bad = ar_check_shape(x->graph, "reshape", rank, shape)))
        return bad;
    cancel_symbols(x->rank, x->shape, rank, shape, &out_x, &out_shape);
    if (!fits(x->graph, shape, open, count_cells(x->rank, x->shape, out_x),
              count_cells(rank, shape, out_shape)))
        return poison_reshape(x, rank, wanted);
    if ((bad = ar_check_shape(x->graph, "reshape", rank, shape)))
        return bad;
    return ar_intern(x->graph, &(struct arras_node){ .kind = AR_RESHAPE,
                                                     .type = { x->type.dtype, false },
                                                     .rank = rank,
                                                     .shape = shape,
                                                     .ninputs = 1,
                                                     .inputs = &x,
                                                     .nints = 1,
                                                     .ints = (int64_t[]){ order } });
}
