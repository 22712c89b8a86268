/* compose.c -- matrices that are data are multiplied with each other, once, before any launch.
 *
 * Where y[e,m] = sum[n] M[m,n] * w[e,n], and w is linear in rows of data, as in
 * w[e,n] = c[e] * (sum[k] A[n,k] * u[e,k] - sum[l] B[n,l] * v[e,l]),
 * the matrix goes to where those rows come from: A becomes M A, B becomes M B, and y is what w was.
 * As with einsums of three operands it is the order of products that changes, and so the rounding
 * (docs/semantics.md).  All products with one matrix are changed or none is: arrays that two of
 * them read stay shared.  So are all products of one w with several matrices, where w is left over
 * as long as one of them reads it. */
#include "opt/opt.h"

#include "opt/survey.h"

enum {
    MOST_TRIED = 8,   /* matrices, and arrays that several are applied to */
    MOST_OTHERS = 64, /* arrays among which these are looked for */
    MOST_VISITS = 2000
};

/* ---- Products with a matrix ------------------------------------------------------------------ */

/* sum[n] matrix[m, n] * other[..., n, ...] */
typedef struct {
    arras_expr  sum, matrix, other; /* a reduction and two loads */
    arras_array matrix_array, other_array;
    int         column; /* the axis of the matrix that is summed over */
    int         axis;   /* that of the other */
} product;

/* Cells outside may be anything but numbers of their own: no matrix is applied to these. */
static bool has_fills(arras_expr load) { return load->nargs > load->rank; }

/* The one axis whose index is just this expression, and on which no other index depends; -1: there
 * is none.  Along it there is no edge. */
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
    p->matrix_array = ar_array_of(lambda, p->matrix);
    p->other_array = ar_array_of(lambda, p->other);
    return p->matrix_array->rank == 2 && p->other_array->kind == AR_LAMBDA && read_axes(p);
}

/* Whether a reduction is over all of an axis of this length, and over something: nothing is 0,
 * whatever it would be multiplied with. */
static bool is_over_all(arras_expr reduce, arras_dim length)
{
    return length > 0 && ar_is_int(reduce->args[0]) && reduce->args[0]->ints[0] == 0 &&
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
           !has_fills(p->other) && reads_matrix(p, lambda) &&
           is_over_all(cell, p->matrix_array->shape[p->column]) &&
           is_over_all(cell, p->other_array->shape[p->axis]);
}

/* ---- What is linear -------------------------------------------------------------------------- */

static bool depends(arras_expr e, int arg, uint32_t axis)
{
    return (e->args[arg]->uses & axis) != 0;
}

/* In what depends on the index of an axis, which is a bit. */
static bool is_linear(arras_expr e, uint32_t axis)
{
    if (is_sum(e))
        return !depends(e, 0, axis) && !depends(e, 1, axis);
    if (ar_expr_is(e, AR_OP_add) || ar_expr_is(e, AR_OP_subtract))
        return depends(e, 0, axis) && depends(e, 1, axis);
    if (ar_expr_is(e, AR_OP_multiply))
        return depends(e, 0, axis) != depends(e, 1, axis);
    return ar_expr_is(e, AR_OP_negative) || (ar_expr_is(e, AR_OP_divide) && !depends(e, 1, axis));
}

/* At first sight. */
static bool may_be_composed(const product *p)
{
    arras_expr cell = p->other_array->ref;

    return cell->kind == AR_EXPR_LOAD || is_linear(cell, (uint32_t)1 << p->axis);
}

/* ---- The matrix goes inwards ----------------------------------------------------------------- */

/* An array with a matrix applied along an axis. */
typedef struct {
    arras_array from, matrix, to;
    int         axis, column;
} applied;

typedef struct {
    ar_rewrite    *r;
    arras_array    wanted;  /* of the old graph: products with it are changed */
    const product *product; /* at work */
    ar_table       applied; /* so far */
    ar_arena       arena;
    int            visits;
    int            products; /* that were changed */
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

static bool is_same(const void *item, const void *key)
{
    const applied *a = item, *b = key;

    return a->from == b->from && a->matrix == b->matrix && a->axis == b->axis &&
           a->column == b->column;
}

static uint64_t hash_of(const applied *a)
{
    uint64_t hash = ar_hash_mix((uint64_t)a->from->id, (uint64_t)a->matrix->id);

    return ar_hash_mix(hash, (uint64_t)(2 * a->axis + a->column));
}

/* What can't be kept is made again: it is the same array. */
static void keep(composer *c, const applied *made)
{
    applied *kept = ar_arena_copy(&c->arena, made, 1, sizeof *made);

    if (kept)
        ar_table_add(&c->applied, hash_of(made), kept);
}

static arras_array apply_to_array(composer *c, arras_array x, int axis)
{
    applied        key = { x, c->product->matrix_array, NULL, axis, c->product->column };
    const applied *found = ar_table_find(&c->applied, hash_of(&key), is_same, &key);
    arras_dim      shape[ARRAS_MAX_RANK];
    arras_expr     cell = ar_rewrite_cell(c->r, x);

    if (found)
        return found->to;
    if (ar_rewrite_is_constant(c->r, x))
        cell = multiply_data(c->product, x, axis);
    else if (cell)
        cell = apply_to(c, cell, ar_expr_index(x->graph, axis));
    if (!cell)
        return NULL;
    for (int k = 0; k < x->rank; k++)
        shape[k] = k == axis ? rows_of(c->product) : x->shape[k];
    key.to = ar_lambda(x->graph, x->rank, shape, cell);
    if (ar_is_poison(key.to))
        return NULL;
    keep(c, &key);
    return key.to;
}

static arras_expr apply_to_load(composer *c, arras_expr load, arras_expr index)
{
    int         axis = has_fills(load) ? -1 : axis_along(load, index);
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
        args[i] = depends(e, i, index->uses) ? apply_to(c, e->args[i], index) : e->args[i];
        if (!args[i])
            return NULL;
    }
    return ar_expr_with_args(e, args);
}

/* e depends on the index.  From array to array: depth is limited by MOST_VISITS. */
static arras_expr apply_to(composer *c, arras_expr e, arras_expr index)
{
    if (++c->visits > MOST_VISITS || e->type.dtype != c->product->sum->type.dtype ||
        (e->uses & index->uses) == 0)
        return NULL;
    if (e->kind == AR_EXPR_LOAD)
        return apply_to_load(c, e, index);
    return is_linear(e, index->uses) ? apply_to_args(c, e, index) : NULL;
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
    c->products++;
    c->r->changed = true;
    return ar_load_like(p->other, made, indices);
}

/* ---- The pass, for one array ----------------------------------------------------------------- */

static bool is_wanted(const composer *c, const product *p)
{
    arras_array wanted = c->r->became[c->wanted->id];

    return (p->matrix_array == wanted || p->other_array == wanted) &&
           ar_rewrite_is_constant(c->r, p->matrix_array);
}

static arras_status put(ar_rewrite *r, arras_array old, arras_expr cell)
{
    composer *c = r->pass;
    product   p;

    for (int side = 0; side < 2; side++)
        if (read_product(&p, NULL, cell, side) && is_wanted(c, &p)) {
            arras_expr composed = compose(c, &p);

            cell = composed ? composed : cell;
        }
    return ar_rewrite_store(r, &r->became[old->id], old->rank, r->shape, cell);
}

static void tell(ar_text *line, const void *pass)
{
    const composer *c = pass;

    ar_text_printf(line, "composed: %d product%s with ", c->products, c->products > 1 ? "s" : "");
    ar_node_type_print(line, c->wanted);
    ar_text_add(line, ", by matrices that are multiplied once");
}

/* *out stays as it is where that saves nothing. */
static arras_status compose_with(arras_graph **out, const ar_survey *s, arras_array wanted,
                                 ar_decisions *decisions, arras_error *err)
{
    composer     c = { .wanted = wanted };
    ar_rewrite   r = { .make = ar_rewrite_copy, .put = put, .pass = &c, .looks_back = true };
    arras_status status;

    c.r = &r;
    status = ar_survey_try(out, s, &r, tell, decisions, err);
    ar_table_free(&c.applied);
    ar_arena_free(&c.arena);
    return status;
}

/* ---- All of them ----------------------------------------------------------------------------- */

/* The next one, of those of lambdas by id; *at counts what was looked at. */
static bool next_product(product *p, const ar_survey *s, int64_t *at)
{
    while (*at < 2 * s->count) {
        arras_array x = s->nodes[*at / 2];
        int         side = (int)(*at % 2);

        ++*at;
        if (x->kind == AR_LAMBDA && read_product(p, x, x->ref, side) &&
            s->constant[p->matrix_array->id] && !s->constant[p->other_array->id] &&
            may_be_composed(p))
            return true;
    }
    return false;
}

/* What to try that is not among the first `skip` ones; NULL: there is no more. */
typedef arras_array find_function(const ar_survey *s, int skip);

static arras_array find_matrix(const ar_survey *s, int skip)
{
    arras_array found[MOST_TRIED];
    int         n = 0, k;
    product     p;

    for (int64_t at = 0; next_product(&p, s, &at);) {
        for (k = 0; k < n && found[k] != p.matrix_array;)
            k++;
        if (k < n)
            continue;
        if (n == skip)
            return p.matrix_array;
        found[n++] = p.matrix_array;
    }
    return NULL;
}

/* To which several matrices are applied. */
static arras_array find_shared(const ar_survey *s, int skip)
{
    product found[MOST_OTHERS], p;
    int     n = 0, k;

    for (int64_t at = 0; next_product(&p, s, &at);) {
        for (k = 0; k < n && found[k].other_array != p.other_array;)
            k++;
        if (k == n && n < MOST_OTHERS)
            found[n++] = p;
        if (k == n || !found[k].matrix_array || found[k].matrix_array == p.matrix_array)
            continue;
        found[k].matrix_array = NULL; /* it was met */
        if (skip-- == 0)
            return p.other_array;
    }
    return NULL;
}

/* Tries one more.  better: stays as it is unless that is. */
static arras_status try_next(arras_graph **better, bool *more, const arras_graph *g,
                             find_function *find, int skip, ar_decisions *decisions,
                             arras_error *err)
{
    arras_array  wanted;
    ar_survey    s;
    arras_status status = ar_survey_open(&s, g, err);

    if (status != ARRAS_OK)
        return status;
    wanted = find(&s, skip);
    *more = wanted != NULL;
    if (wanted)
        status = compose_with(better, &s, wanted, decisions, err);
    ar_survey_close(&s);
    return status;
}

/* *best: NULL, or what takes the place of `normal`. */
static arras_status try_all(arras_graph **best, const arras_graph *normal, find_function *find,
                            ar_decisions *decisions, arras_error *err)
{
    arras_status status = ARRAS_OK;
    bool         more = true;
    int          skip = 0;

    for (int k = 0; k < MOST_TRIED && more && status == ARRAS_OK; k++) {
        arras_graph *better = NULL;

        status = try_next(&better, &more, *best ? *best : normal, find, skip, decisions, err);
        skip += better == NULL;
        if (better) {
            ar_graph_free(*best);
            *best = better;
        }
    }
    return status;
}

arras_status ar_compose(arras_graph **out, const arras_graph *normal, ar_decisions *decisions,
                        arras_error *err)
{
    arras_graph *best = NULL;
    arras_status status = try_all(&best, normal, find_matrix, decisions, err);

    if (status == ARRAS_OK)
        status = try_all(&best, normal, find_shared, decisions, err);
    if (status == ARRAS_OK && best)
        *out = best;
    else
        ar_graph_free(best);
    return status;
}
