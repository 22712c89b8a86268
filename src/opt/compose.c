/* compose.c -- matrices that are data are multiplied with each other, once, before any launch.
 *
 * Where y[e,m] = sum[n] M[m,n] * w[e,n], and w is linear in rows of data, as in
 * w[e,n] = c[e] * (sum[k] A[n,k] * u[e,k] - sum[l] B[n,l] * v[e,l]),
 * the matrix goes to where those rows come from: A becomes M A, B becomes M B, and y is what w was.
 * As with einsums of three operands it is the order of products that changes, and so the rounding
 * (docs/semantics.md).  All products with one matrix are changed or none is: arrays that two of
 * them read stay shared. */
#include "opt/opt.h"

#include "opt/rewrite.h"
#include "opt/survey.h"

enum { MOST_MATRICES = 8 /* that are tried */, MOST_VISITS = 2000 };

/* ---- Products with a matrix ------------------------------------------------------------------ */

/* sum[n] matrix[m, n] * other[..., n, ...] */
typedef struct {
    arras_expr  sum, matrix, other; /* a reduction and two loads */
    arras_array matrix_array, other_array;
    int         column; /* the axis of the matrix that is summed over */
    int         axis;   /* that of the other */
} product;

/* Expressions of lambdas say which of its inputs is read, those under construction say it
 * themselves. */
static arras_array array_of(arras_array lambda, arras_expr load)
{
    return load->array ? load->array : lambda->inputs[load->ints[0]];
}

/* The one axis whose index is just this expression, and on which no other index depends; -1: there
 * is none.  Cells outside are an edge's business, so there must be none. */
static int axis_along(arras_expr load, arras_expr index)
{
    int found = -1;

    for (int axis = 0; axis < load->nargs; axis++) {
        arras_expr at = load->args[axis];
        bool       depends = index->kind == AR_EXPR_VAR ? ar_expr_depends(at, index->name)
                                                        : (at->uses & index->uses) != 0;

        if (!depends)
            continue;
        if (found >= 0 || at != index || axis >= load->rank ||
            load->ints[1 + axis] != ARRAS_EDGE_NONE)
            return -1;
        found = axis;
    }
    return found;
}

/* matrix[i, n] or matrix[n, i], where n is the variable of the sum, i an index of the cell, and the
 * other does not depend on i. */
static bool read_axes(product *p)
{
    for (int axis = 0; axis < 2; axis++) {
        arras_expr variable = p->matrix->args[axis], row = p->matrix->args[1 - axis];

        if (variable->kind != AR_EXPR_VAR || strcmp(variable->name, p->sum->name) != 0)
            continue;
        p->column = axis;
        p->axis = axis_along(p->other, variable);
        return p->axis >= 0 && row->kind == AR_EXPR_INDEX && (p->other->uses & row->uses) == 0 &&
               axis_along(p->matrix, variable) == axis && axis_along(p->matrix, row) == 1 - axis;
    }
    return false;
}

static bool reads_matrix(product *p, arras_array lambda)
{
    p->matrix_array = array_of(lambda, p->matrix);
    p->other_array = array_of(lambda, p->other);
    return p->matrix_array->rank == 2 && p->other_array->kind == AR_LAMBDA && read_axes(p);
}

/* Whether a reduction is over all of an axis of this length. */
static bool is_over_all(arras_expr reduce, arras_dim length)
{
    return ar_is_int(reduce->args[0]) && reduce->args[0]->ints[0] == 0 &&
           ar_is_int(reduce->args[1]) && reduce->args[1]->ints[0] == length;
}

static bool is_sum(arras_expr e)
{
    return e->kind == AR_EXPR_REDUCE && e->ints[0] == AR_REDUCE_sum &&
           (ar_expr_tree(e) == AR_TREE_WHOLE || ar_expr_tree(e) == AR_TREE_FUSED);
}

/* side: which factor the matrix is.  cell: of this lambda, or not of one yet. */
static bool read_product(product *p, arras_array lambda, arras_expr cell, int side)
{
    arras_expr body = is_sum(cell) ? cell->args[2] : cell;

    if (!is_sum(cell) || !ar_expr_is(body, AR_OP_multiply) ||
        ar_dtype_class(cell->type.dtype) != AR_CLASS_REAL)
        return false;
    *p = (product){ .sum = cell, .matrix = body->args[side], .other = body->args[1 - side] };
    return p->matrix->kind == AR_EXPR_LOAD && p->other->kind == AR_EXPR_LOAD &&
           p->matrix->type.dtype == cell->type.dtype && p->other->type.dtype == cell->type.dtype &&
           reads_matrix(p, lambda) && is_over_all(cell, p->matrix_array->shape[p->column]) &&
           is_over_all(cell, p->other_array->shape[p->axis]);
}

/* ---- The matrix goes inwards ----------------------------------------------------------------- */

/* An array with the matrix applied along an axis. */
typedef struct applied {
    struct applied *next;
    arras_array     from, to;
    int             axis;
} applied;

typedef struct {
    ar_rewrite    *r;
    arras_array    wanted;  /* the matrix, of the old graph */
    const product *product; /* at work, with the matrix */
    applied       *applied; /* so far: there is one matrix, along one of its axes */
    int            column;  /* that one; -1: not known yet */
    int            visits;
    int            changed; /* products */
    ar_arena       arena;
} composer;

/* All of these: NULL where it can't. */
static arras_expr apply_to(composer *c, arras_expr e, arras_expr index);

static arras_dim rows_of(const product *p) { return p->matrix_array->shape[1 - p->column]; }

/* sum[n] matrix[i, n] * x[..., n, ...] as a new array, where i is the index along the axis. */
static arras_expr multiply_data(const product *p, arras_array x, int axis)
{
    arras_graph *g = x->graph;
    arras_expr   indices[ARRAS_MAX_RANK], of_matrix[2], body, args[3];

    for (int k = 0; k < x->rank; k++)
        indices[k] = ar_expr_index(g, k);
    of_matrix[1 - p->column] = indices[axis];
    of_matrix[p->column] = indices[axis] = ar_expr_var(g, p->sum->name);
    body = ar_binary(AR_OP_multiply, ar_expr_load(p->matrix_array, 2, of_matrix, NULL),
                     ar_expr_load(x, x->rank, indices, NULL));
    args[0] = p->sum->args[0], args[1] = p->sum->args[1], args[2] = body;
    return ar_reduce_like(p->sum, args);
}

static arras_array find_applied(const composer *c, arras_array x, int axis)
{
    for (const applied *a = c->applied; a; a = a->next)
        if (a->from == x && a->axis == axis)
            return a->to;
    return NULL;
}

static arras_array apply_to_array(composer *c, arras_array x, int axis)
{
    arras_array made = find_applied(c, x, axis);
    arras_dim   shape[ARRAS_MAX_RANK];
    arras_expr  cell = ar_rewrite_cell(c->r, x);
    applied    *a;

    if (made)
        return made;
    if (ar_rewrite_is_constant(c->r, x))
        cell = multiply_data(c->product, x, axis);
    else if (cell)
        cell = apply_to(c, cell, ar_expr_index(x->graph, axis));
    if (!cell)
        return NULL;
    for (int k = 0; k < x->rank; k++)
        shape[k] = k == axis ? rows_of(c->product) : x->shape[k];
    made = ar_lambda(x->graph, x->rank, shape, cell);
    a = ar_arena_alloc(&c->arena, 1, sizeof *a);
    if (!a || ar_is_poison(made))
        return NULL;
    *a = (applied){ c->applied, x, made, axis };
    c->applied = a;
    return made;
}

static arras_expr apply_to_load(composer *c, arras_expr load, arras_expr index)
{
    int         axis = axis_along(load, index);
    arras_array made;

    if (axis < 0 || load->array->shape[axis] != c->product->other_array->shape[c->product->axis])
        return NULL;
    made = apply_to_array(c, load->array, axis);
    return made ? ar_load_like(load, made, load->args) : NULL;
}

/* The arguments that depend on the index; others stay. */
static arras_expr apply_to_args(composer *c, arras_expr e, arras_expr index)
{
    arras_expr args[AR_MAX_ARITY];

    for (int i = 0; i < e->nargs; i++) {
        args[i] = e->args[i]->uses & index->uses ? apply_to(c, e->args[i], index) : e->args[i];
        if (!args[i])
            return NULL;
    }
    return ar_expr_with_args(e, args);
}

static bool depends(arras_expr e, int arg, arras_expr index)
{
    return (e->args[arg]->uses & index->uses) != 0;
}

static bool is_linear(arras_expr e, arras_expr index)
{
    if (is_sum(e))
        return !depends(e, 0, index) && !depends(e, 1, index);
    if (ar_expr_is(e, AR_OP_add) || ar_expr_is(e, AR_OP_subtract))
        return depends(e, 0, index) && depends(e, 1, index);
    if (ar_expr_is(e, AR_OP_multiply))
        return depends(e, 0, index) != depends(e, 1, index);
    return ar_expr_is(e, AR_OP_negative) || (ar_expr_is(e, AR_OP_divide) && !depends(e, 1, index));
}

/* e depends on the index.  Depth is limited by AR_MAX_DEPTH. */
static arras_expr apply_to(composer *c, arras_expr e, arras_expr index)
{
    if (++c->visits > MOST_VISITS || e->type.dtype != c->product->sum->type.dtype ||
        (e->uses & index->uses) == 0)
        return NULL;
    if (e->kind == AR_EXPR_LOAD)
        return apply_to_load(c, e, index);
    return is_linear(e, index) ? apply_to_args(c, e, index) : NULL;
}

/* The other array with the matrix applied, read at the cell's own row. */
static arras_expr compose(composer *c, const product *p)
{
    arras_expr  indices[ARRAS_MAX_RANK];
    arras_array made;

    c->product = p;
    c->visits = 0;
    made = ar_rewrite_is_constant(c->r, p->other_array)
               ? NULL
               : apply_to_array(c, p->other_array, p->axis);
    if (!made)
        return NULL;
    for (int k = 0; k < p->other->nargs; k++)
        indices[k] = k == p->axis ? p->matrix->args[1 - p->column] : p->other->args[k];
    c->column = p->column;
    c->changed++;
    return ar_load_like(p->other, made, indices);
}

/* ---- The pass, for one matrix ---------------------------------------------------------------- */

static arras_status put(ar_rewrite *r, arras_array old, arras_expr cell)
{
    composer *c = r->pass;
    product   p;

    for (int side = 0; side < 2; side++)
        if (read_product(&p, NULL, cell, side) && p.matrix_array == r->became[c->wanted->id] &&
            (c->column < 0 || c->column == p.column)) {
            arras_expr composed = compose(c, &p);

            cell = composed ? composed : cell;
        }
    return ar_rewrite_store(r, &r->became[old->id], old->rank, r->shape, cell);
}

/* *out stays as it is where nothing can be changed. */
static arras_status compose_with(arras_graph **out, const arras_graph *normal, arras_array matrix,
                                 arras_error *err)
{
    composer     c = { .wanted = matrix, .column = -1 };
    ar_rewrite   r = { .make = ar_rewrite_copy, .put = put, .pass = &c, .looks_back = true };
    arras_graph *made = NULL;
    arras_status status;

    c.r = &r;
    status = ar_rewrite_run(&made, &r, normal, err);
    if (status == ARRAS_OK && c.changed > 0)
        *out = made;
    else if (status == ARRAS_OK)
        ar_graph_free(made);
    ar_arena_free(&c.arena);
    return status;
}

/* ---- All matrices ---------------------------------------------------------------------------- */

/* The matrix of a product that is not the first `skip` ones; NULL: there are no more. */
static arras_array find_matrix(const ar_survey *s, int skip)
{
    arras_array found[MOST_MATRICES];
    int         n = 0;
    product     p;

    for (int64_t i = 0; i < s->count; i++)
        for (int side = 0; side < 2; side++) {
            bool met = false;

            if (s->nodes[i]->kind != AR_LAMBDA ||
                !read_product(&p, s->nodes[i], s->nodes[i]->ref, side) ||
                !s->constant[p.matrix_array->id] || s->constant[p.other_array->id])
                continue;
            for (int k = 0; k < n; k++)
                met = met || found[k] == p.matrix_array;
            if (met)
                continue;
            if (n == skip)
                return p.matrix_array;
            found[n++] = p.matrix_array;
        }
    return NULL;
}

/* Tries one matrix more.  better: NULL, or the graph that is. */
static arras_status try_next(arras_graph **better, bool *more, const arras_graph *g, int skip,
                             arras_error *err)
{
    arras_graph *made = NULL;
    bool         cheaper = false;
    arras_array  matrix;
    ar_survey    s;
    arras_status status = ar_survey_open(&s, g, err);

    if (status != ARRAS_OK)
        return status;
    matrix = find_matrix(&s, skip);
    *more = matrix != NULL;
    if (matrix)
        status = compose_with(&made, g, matrix, err);
    if (status == ARRAS_OK && made)
        status = ar_survey_is_cheaper(&cheaper, made, &s, err);
    ar_survey_close(&s);
    if (status == ARRAS_OK && cheaper)
        *better = made;
    else
        ar_graph_free(made);
    return status;
}

arras_status ar_compose(arras_graph **out, const arras_graph *normal, arras_error *err)
{
    arras_graph *best = NULL, *better;
    arras_status status = ARRAS_OK;
    bool         more = true;
    int          skip = 0;

    for (int k = 0; k < MOST_MATRICES && more && status == ARRAS_OK; k++) {
        better = NULL;
        status = try_next(&better, &more, best ? best : normal, skip, err);
        skip += better == NULL;
        if (better) {
            ar_graph_free(best);
            best = better;
        }
    }
    if (status == ARRAS_OK)
        *out = best;
    else
        ar_graph_free(best);
    return status;
}
