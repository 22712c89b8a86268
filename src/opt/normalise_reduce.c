/* normalise_reduce.c -- sums and the like: over axes, over the stored cells of a sparse matrix.
 * Several variables are reductions within reductions, the last one innermost. */
#include "opt/normalise.h"

#include <stdio.h>

/* ---- Variables ------------------------------------------------------------------------------- */

enum { NAME_ROOM = 16 };

static void variable_name(char *name, int number) { snprintf(name, NAME_ROOM, "r%d", number); }

arras_expr ar_reduce_variable(arras_graph *to, int number)
{
    char name[NAME_ROOM];

    variable_name(name, number);
    return ar_expr_var(to, name);
}

/* Over 0 <= variable < length. */
static arras_expr reduce_tree_over(ar_reduction reduction, ar_tree tree, int number,
                                   arras_expr length, arras_expr body)
{
    char name[NAME_ROOM];

    variable_name(name, number);
    return ar_expr_reduce_tree(reduction, tree, name, int_expr(body->graph, 0), length, body);
}

static arras_expr reduce_over(ar_reduction reduction, int number, arras_expr length,
                              arras_expr body)
{
    return reduce_tree_over(reduction, AR_TREE_WHOLE, number, length, body);
}

arras_expr ar_reduce_nested(ar_reduction reduction, int n, const arras_dim *lengths,
                            arras_expr body)
{
    for (int k = n - 1; k >= 0; k--) {
        body = reduce_over(reduction, k, dim_expr(body->graph, lengths[k]), body);
        reduction = ar_reduction_of_results(reduction);
    }
    return body;
}

arras_expr ar_sum_products(int n, const arras_dim *lengths, arras_expr product, bool fused)
{
    arras_dtype dtype = product->type.dtype;

    if (!fused || product->kind == AR_EXPR_POISON)
        return ar_reduce_nested(ar_sum_of(dtype), n, lengths, product);
    product = reduce_tree_over(AR_REDUCE_sum, AR_TREE_FUSED, n - 1,
                               dim_expr(product->graph, lengths[n - 1]), product);
    return ar_reduce_nested(AR_REDUCE_sum, n - 1, lengths, product);
}

ar_reduction ar_sum_of(arras_dtype dtype)
{
    return dtype == ARRAS_BOOL ? AR_REDUCE_any : AR_REDUCE_sum;
}

/* ---- Reduce ---------------------------------------------------------------------------------- */

/* The axes reduced, as variables. */
typedef struct {
    int       n;
    int       axis[ARRAS_MAX_RANK];
    arras_dim length[ARRAS_MAX_RANK]; /* of the new graph */
} reduced_axes;

static void find_reduced(reduced_axes *r, const ar_scope *s, arras_array node)
{
    arras_array x = node->inputs[0];
    uint32_t    mask = (uint32_t)node->ints[1];

    r->n = 0;
    for (int axis = 0; axis < x->rank; axis++)
        if (mask >> axis & 1) {
            r->axis[r->n] = axis;
            r->length[r->n++] = ar_scope_dim(s, x->shape[axis]);
        }
}

/* The cell of x with `places` on the axes reduced. */
static arras_expr read_reduced(ar_scope *s, arras_array node, const reduced_axes *r,
                               const arras_expr *places)
{
    arras_array x = node->inputs[0];
    uint32_t    mask = (uint32_t)node->ints[1];
    bool        keepdims = node->ints[2];
    arras_expr  indices[ARRAS_MAX_RANK];
    int         to = 0;

    for (int axis = 0; axis < x->rank; axis++) {
        bool kept = !(mask >> axis & 1);

        if (kept)
            indices[axis] = ar_expr_index(s->to, to);
        to += kept || keepdims;
    }
    for (int k = 0; k < r->n; k++)
        indices[r->axis[k]] = places[k];
    return ar_scope_read(s, x, indices, NULL);
}

static arras_expr cells_among(arras_graph *to, const reduced_axes *r)
{
    arras_expr cells = int_expr(to, 1);

    for (int k = 0; k < r->n; k++) {
        arras_expr length = dim_expr(to, r->length[k]);

        cells = k == 0 ? length : binary(AR_OP_multiply, cells, length);
    }
    return cells;
}

/* One variable counts the cells in row-major order: it is the place that argmin gives.  It also
 * serves reductions over no axes at all, which combine one cell. */
static arras_expr reduce_flat(ar_scope *s, arras_array node, const reduced_axes *r)
{
    arras_expr places[ARRAS_MAX_RANK];

    ar_split_number(places, ar_reduce_variable(s->to, 0), r->n, r->length);
    return reduce_over((ar_reduction)node->ints[0], 0, cells_among(s->to, r),
                       read_reduced(s, node, r, places));
}

static arras_expr reduce_axes(ar_scope *s, arras_array node, const reduced_axes *r)
{
    ar_reduction reduction = (ar_reduction)node->ints[0];
    arras_expr   places[ARRAS_MAX_RANK];

    if (r->n == 0 || reduction == AR_REDUCE_argmin || reduction == AR_REDUCE_argmax)
        return reduce_flat(s, node, r);
    for (int k = 0; k < r->n; k++)
        places[k] = ar_reduce_variable(s->to, k);
    return ar_reduce_nested(reduction, r->n, r->length, read_reduced(s, node, r, places));
}

/* NULL where there certainly are cells. */
static arras_expr no_cells(arras_graph *to, const reduced_axes *r)
{
    arras_expr empty = NULL;

    for (int k = 0; k < r->n; k++) {
        arras_expr none;

        if (r->length[k] != 0 && !ar_dim_symbolic(r->length[k]))
            continue;
        none = binary(AR_OP_equal, dim_expr(to, r->length[k]), int_expr(to, 0));
        empty = empty ? binary(AR_OP_logical_or, empty, none) : none;
    }
    return empty;
}

/* Of no cells, the initial value alone: -0.0 + 0 is not -0.0, and some reductions have no value
 * then. */
static arras_expr with_initial(ar_scope *s, arras_array node, const reduced_axes *r,
                               arras_expr total)
{
    ar_op      combine = ar_reduction_op((ar_reduction)node->ints[0]);
    arras_expr empty = no_cells(s->to, r);
    /* Such reductions give the type in which they combine. */
    arras_expr initial =
        ar_expr_cast(ar_scope_read(s, node->inputs[1], NULL, NULL), node->type.dtype);
    arras_expr all = binary(combine, initial, total);

    return empty ? choose(empty, initial, all) : all;
}

arras_expr ar_normal_reduce(ar_scope *s, arras_array node)
{
    reduced_axes r;
    arras_expr   total;

    find_reduced(&r, s, node);
    total = reduce_axes(s, node, &r);
    return node->ninputs > 1 ? with_initial(s, node, &r, total) : total;
}

/* ---- Compressed sparse rows ------------------------------------------------------------------ */

enum { VALUES, COLUMNS, STARTS, DENSE };

/* values[p] * dense[columns[p], ...] */
static arras_expr csr_product(ar_scope *s, arras_array node, arras_expr p)
{
    arras_array x = node->inputs[DENSE];
    arras_expr  indices[ARRAS_MAX_RANK], value, cell;

    indices[0] = ar_scope_read(s, node->inputs[COLUMNS], &p, NULL);
    for (int axis = 1; axis < x->rank; axis++)
        indices[axis] = ar_expr_index(s->to, axis);
    value = ar_scope_read(s, node->inputs[VALUES], &p, NULL);
    cell = ar_scope_read(s, x, indices, NULL);
    return binary(AR_OP_multiply, ar_expr_cast(value, node->type.dtype),
                  ar_expr_cast(cell, node->type.dtype));
}

static arras_expr read_start(ar_scope *s, arras_array node, arras_expr row)
{
    return ar_expr_cast(ar_scope_read(s, node->inputs[STARTS], &row, NULL), ARRAS_I64);
}

/* 0 <= start <= end <= number of values. */
static arras_expr csr_row_fits(ar_scope *s, arras_array node, arras_expr start, arras_expr end)
{
    arras_expr stored = dim_expr(s->to, ar_scope_dim(s, node->inputs[VALUES]->shape[0]));
    arras_expr rises =
        binary(AR_OP_logical_and, binary(AR_OP_less_equal, int_expr(s->to, 0), start),
               binary(AR_OP_less_equal, start, end));

    return binary(AR_OP_logical_and, rises, binary(AR_OP_less_equal, end, stored));
}

/* A row that does not fit must not pass for an empty one: it reads a start that is not there. */
arras_expr ar_normal_csr(ar_scope *s, arras_array node)
{
    arras_expr row = ar_expr_index(s->to, 0);
    arras_expr start = read_start(s, node, row), end = read_start(s, node, plus(row, 1));
    arras_expr product = csr_product(s, node, ar_reduce_variable(s->to, 0)), sum, no_row;
    char       name[NAME_ROOM];

    variable_name(name, 0);
    sum = ar_expr_reduce(ar_sum_of(node->type.dtype), name, start, end, product);
    no_row = read_start(s, node, int_expr(s->to, -1));
    return choose(csr_row_fits(s, node, start, end), ar_expr_cast(sum, node->type.dtype),
                  ar_expr_cast(no_row, node->type.dtype));
}
