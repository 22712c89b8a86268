/* stencil.c -- a cell and its neighbours at relative offsets, with a rule per axis for what lies
 * outside. A library on top of the public header, and nothing else. */
#include "api/compose.h"

/* Where the result lies in x: cell r of the result is cell r + start of x. */
typedef struct {
    arras_graph      *g;
    arras_array       x;
    int               rank, n;
    const int64_t    *offsets;
    const arras_edge *edges;
    int64_t           start[ARRAS_MAX_RANK];
    arras_dim         shape[ARRAS_MAX_RANK];
} window;

static arras_edge edge_of(const window *w, int axis)
{
    return w->edges ? w->edges[axis] : (arras_edge){ ARRAS_EDGE_NONE, NULL };
}

static int64_t offset_of(const window *w, int k, int axis)
{
    return w->offsets[(size_t)k * (size_t)w->rank + (size_t)axis];
}

/* Offsets are kept far from the ends of int64, so that their sums with indices can't wrap. */
enum { FARTHEST_BITS = 60 };

static arras_array check_offsets(const window *w)
{
    const int64_t farthest = (int64_t)1 << FARTHEST_BITS;

    if (w->n <= 0 || !w->offsets)
        return arras_poison(w->g, ARRAS_EINVAL, "stencil: it needs at least one offset");
    for (int64_t i = 0; i < (int64_t)w->n * w->rank; i++)
        if (w->offsets[i] > farthest || w->offsets[i] < -farthest)
            return arras_poison(w->g, ARRAS_ELIMIT, "stencil: an offset is beyond 2**60");
    return NULL;
}

/* Along an axis without a rule the result shrinks to the cells whose every neighbour exists. */
static void shrink(window *w, int axis)
{
    int64_t below = 0, above = 0;

    for (int k = 0; k < w->n; k++) {
        int64_t offset = offset_of(w, k, axis);

        below = -offset > below ? -offset : below;
        above = offset > above ? offset : above;
    }
    w->start[axis] = below;
    w->shape[axis] = arras_dim_sub(w->g, w->shape[axis], below + above);
    if (!arras_dim_is_symbolic(w->shape[axis]) && w->shape[axis] < 0)
        w->shape[axis] = 0;
}

static arras_array open_window(window *w, arras_array x, int n, const int64_t *offsets,
                               const arras_edge *edges)
{
    arras_array bad;

    *w = (window){ .g = arras_array_graph(x),
                   .x = x,
                   .rank = arras_array_rank(x),
                   .n = n,
                   .offsets = offsets,
                   .edges = edges };
    if (arras_array_error(x))
        return arras_index(x, 0, NULL);
    if ((bad = check_offsets(w)))
        return bad;
    for (int d = 0; d < w->rank; d++) {
        w->shape[d] = arras_array_dim(x, d);
        if (edge_of(w, d).rule == ARRAS_EDGE_NONE)
            shrink(w, d);
    }
    return NULL;
}

static arras_expr neighbour(const window *w, int k)
{
    arras_expr indices[ARRAS_MAX_RANK];

    for (int d = 0; d < w->rank; d++)
        indices[d] = shifted_index(w->g, d, offset_of(w, k, d) + w->start[d]);
    return arras_expr_load(w->x, w->rank, indices, w->edges);
}

void arras_neighbours(arras_array *out, arras_array x, int n, const int64_t *offsets,
                      const arras_edge *edges)
{
    window      w;
    arras_array bad = open_window(&w, x, n, offsets, edges);

    for (int k = 0; out && k < n; k++)
        out[k] = bad ? bad : arras_lambda(w.g, w.rank, w.shape, neighbour(&w, k));
}

/* The cell of the result itself, in an array made before. */
static arras_expr same_cell(const window *w, arras_array x)
{
    arras_expr indices[ARRAS_MAX_RANK];

    for (int d = 0; d < w->rank; d++)
        indices[d] = arras_expr_index(w->g, d);
    return arras_expr_load(x, w->rank, indices, NULL);
}

/* Terms are added from the first to the last.  Very large stencils are cut into several arrays,
 * each going on from the one before, since expressions may not be nested without end. */
arras_array arras_stencil(arras_array x, int n, const int64_t *offsets, const double *weights,
                          const arras_edge *edges)
{
    enum { TERMS_AT_ONCE = 400 };
    window      w;
    arras_array result = NULL, bad = open_window(&w, x, n, offsets, edges);
    arras_expr  sum = NULL;

    if (bad)
        return bad;
    if (!weights)
        return arras_poison(w.g, ARRAS_EINVAL, "stencil: the weights are NULL");
    for (int k = 0; k < n; k++) {
        arras_expr term =
            apply2(ARRAS_OP_multiply, arras_expr_float(w.g, weights[k]), neighbour(&w, k));

        sum = sum ? apply2(ARRAS_OP_add, sum, term) : term;
        if (k % TERMS_AT_ONCE == TERMS_AT_ONCE - 1 || k == n - 1) {
            result = arras_lambda(w.g, w.rank, w.shape, sum);
            if (k < n - 1)
                sum = same_cell(&w, result);
        }
    }
    return result;
}
