/* factor.c -- what does not depend on the variable of a sum goes out of it, if what is left is the
 * same for several sums.
 *
 * y1[i,m] = sum[f] sum[k] A[m,f,k] * (c1[f,i] * x[f,i,k]), where A is data, and y2 with c2, become
 * y1[i,m] = sum[f] c1[f,i] * t[f,i,m] and so on, where t[f,i,m] = sum[k] A[m,f,k] * x[f,i,k].
 * As with einsums of three operands it is the order of products that changes, and so the rounding
 * (docs/semantics.md).
 *
 * A first walk makes all such t, and counts who would read them; the second one makes those that
 * several would. */
#include "opt/opt.h"

#include "opt/rewrite.h"
#include "opt/survey.h"

enum { MOST_SITES = 1024, MOST_FACTORS = 4, MOST_WRITTEN = 8 };

/* Sums that can be factored, in the order in which they are met. */
typedef struct {
    int64_t rest[MOST_SITES]; /* the id of its t, in the graph of the first walk */
    int     count;
    bool    second;  /* walk */
    int     met;     /* in it, so far */
    bool    changed; /* some sum was factored */
} sites;

/* sum[k] a * (factors * b), where a is data */
typedef struct {
    arras_expr a, b; /* loads */
    arras_expr factors;
    int        nfactors;
} factored;

/* ---- Taking a sum apart ---------------------------------------------------------------------- */

static bool reads_along(arras_expr load, const char *variable, int *axis)
{
    *axis = -1;
    for (int k = 0; k < load->nargs; k++) {
        if (!ar_expr_depends(load->args[k], variable))
            continue;
        if (*axis >= 0 || load->args[k]->kind != AR_EXPR_VAR || k >= load->rank)
            return false;
        *axis = k;
    }
    for (int k = 0; k < load->rank; k++)
        if (load->ints[1 + k] != ARRAS_EDGE_NONE)
            return false;
    return *axis >= 0;
}

/* Which operand of a product depends on the index along an axis, if just one does: the other is
 * the factor.  -1: none of that. */
static int varying_operand(arras_expr product, int axis)
{
    bool first, second;

    if (!ar_expr_is(product, AR_OP_multiply))
        return -1;
    first = product->args[0]->uses >> axis & 1;
    second = product->args[1]->uses >> axis & 1;
    return first == second ? -1 : first ? 0 : 1;
}

static arras_expr at_indices(const ar_rewrite *r, arras_expr cell, arras_expr load)
{
    return ar_substitute_indices(cell, load->rank, load->args, (ar_place_of){ &r->space, NULL });
}

/* While what is read is a product with a factor that is the same along the sum, that comes out. */
static void take_factors(factored *out, const ar_rewrite *r, const char *variable)
{
    int axis;

    while (out->nfactors < MOST_FACTORS && reads_along(out->b, variable, &axis)) {
        arras_expr cell = ar_rewrite_cell(r, out->b->array);
        int        varying = cell ? varying_operand(cell, axis) : -1;
        arras_expr factor;

        if (varying < 0 || cell->args[varying]->kind != AR_EXPR_LOAD ||
            cell->type.dtype != cell->args[varying]->type.dtype ||
            cell->type.dtype != cell->args[1 - varying]->type.dtype)
            return;
        factor = at_indices(r, cell->args[1 - varying], out->b);
        out->factors = out->nfactors++ ? ar_binary(AR_OP_multiply, out->factors, factor) : factor;
        out->b = at_indices(r, cell->args[varying], out->b);
    }
}

static bool take_apart(factored *out, const ar_rewrite *r, arras_expr sum, const arras_expr *args)
{
    arras_expr body = args[2];

    if (sum->ints[0] != AR_REDUCE_sum || !ar_expr_is(body, AR_OP_multiply) ||
        ar_dtype_class(body->type.dtype) != AR_CLASS_REAL || ar_expr_tree(sum) != AR_TREE_FUSED)
        return false;
    for (int side = 0; side < 2; side++) {
        *out = (factored){ .a = body->args[1 - side], .b = body->args[side] };
        if (out->a->kind != AR_EXPR_LOAD || out->b->kind != AR_EXPR_LOAD ||
            !ar_rewrite_is_constant(r, out->a->array) || !ar_expr_depends(out->a, sum->name))
            continue;
        take_factors(out, r, sum->name);
        if (out->nfactors > 0 && out->b->kind == AR_EXPR_LOAD)
            return true;
    }
    return false;
}

/* ---- Parts of it as arrays ------------------------------------------------------------------- */

/* An expression as an array.  Its axes: the variables around and the indices of the cell that it
 * depends on, which is how it is read. */
typedef struct {
    ar_rewrite *r;
    arras_expr  cell;
    int         rank;
    arras_dim   shape[ARRAS_MAX_RANK];
    arras_expr  read[ARRAS_MAX_RANK];
} part;

static bool add_axis(part *p, arras_dim length, arras_expr index)
{
    if (p->rank == ARRAS_MAX_RANK)
        return false;
    p->shape[p->rank] = length;
    p->read[p->rank++] = index;
    return true;
}

/* Outermost variables first.  False: one of them does not go from 0 to a number. */
static bool add_variables(part *p, const ar_frame *around)
{
    if (!around)
        return true;
    if (!add_variables(p, around->outer) || !around->variable)
        return false;
    if (!ar_expr_depends(p->cell, around->variable))
        return true;
    return ar_is_int(around->lo) && around->lo->ints[0] == 0 && ar_is_int(around->hi) &&
           around->hi->ints[0] > 0 &&
           add_axis(p, around->hi->ints[0], ar_expr_var(p->r->to, around->variable));
}

/* In the cells of the new array. */
static arras_expr moved(const part *p)
{
    ar_place_of at = { &(ar_space){ .g = p->r->to }, NULL };
    arras_expr  indices[ARRAS_MAX_RANK], cell;

    for (int axis = 0; axis < p->r->space.rank; axis++)
        indices[axis] = ar_expr_index(p->r->to, axis);
    for (int axis = 0; axis < p->rank; axis++)
        if (p->read[axis]->kind == AR_EXPR_INDEX)
            indices[p->read[axis]->ints[0]] = ar_expr_index(p->r->to, axis);
    cell = ar_substitute_indices(p->cell, p->r->space.rank, indices, at);
    for (int axis = 0; axis < p->rank; axis++)
        if (p->read[axis]->kind == AR_EXPR_VAR)
            cell = ar_substitute_variable(cell, p->read[axis]->name, ar_expr_index(p->r->to, axis),
                                          at);
    return cell;
}

/* A load of it, in the place of the expression; NULL: it can't be an array. */
static arras_expr as_array(ar_rewrite *r, arras_expr cell, const ar_frame *around)
{
    part        p = { .r = r, .cell = cell };
    arras_array made;

    if (!add_variables(&p, around))
        return NULL;
    for (int axis = 0; axis < r->space.rank; axis++)
        if (cell->uses >> axis & 1 && !add_axis(&p, r->shape[axis], ar_expr_index(r->to, axis)))
            return NULL;
    made = ar_lambda(r->to, p.rank, p.shape, moved(&p));
    return ar_is_poison(made) ? NULL : ar_expr_load(made, p.rank, p.read, NULL);
}

/* ---- The pass -------------------------------------------------------------------------------- */

static bool is_shared(const sites *s, int site)
{
    int readers = 0;

    for (int k = 0; k < s->count && site < s->count; k++)
        readers += s->rest[k] == s->rest[site];
    return readers > 1;
}

/* The first walk only notes what there would be. */
static bool is_wanted(sites *s, arras_array t)
{
    if (s->second)
        return is_shared(s, s->met++);
    if (s->count < MOST_SITES)
        s->rest[s->count++] = t->id;
    return false;
}

/* factors * t[...]; NULL: the sum stays as it is. */
static arras_expr factor(ar_rewrite *r, arras_expr e, const arras_expr *args,
                         const ar_frame *around)
{
    sites     *s = r->pass;
    arras_expr of_rest[3] = { args[0], args[1] }, t, factors;
    factored   f;

    if (!take_apart(&f, r, e, args))
        return NULL;
    of_rest[2] = ar_binary(AR_OP_multiply, f.a, f.b);
    t = as_array(r, ar_reduce_like(e, of_rest), around);
    if (!t || !is_wanted(s, t->array))
        return NULL;
    s->changed = true;
    factors = f.nfactors > 1 ? as_array(r, f.factors, around) : f.factors;
    return ar_binary(AR_OP_multiply, factors ? factors : f.factors, t);
}

/* factors * t[...], which no array that was there reads. */
static bool is_factored(const ar_rewrite *r, arras_expr body)
{
    return ar_expr_is(body, AR_OP_multiply) && body->args[1]->kind == AR_EXPR_LOAD &&
           body->args[1]->array->kind == AR_LAMBDA && !ar_rewrite_cell(r, body->args[1]->array);
}

/* A short sum of such, one after the other: no loop is worth it. */
static arras_expr write_out(ar_rewrite *r, arras_expr e, const arras_expr *args,
                            const ar_frame *around)
{
    ar_place_of at = { &r->space, around };
    arras_expr  total = NULL, term[3];

    for (int64_t k = 0; k < args[1]->ints[0]; k++) {
        arras_expr value = ar_expr_cast(ar_int(r->to, k), ARRAS_I64);

        for (int side = 0; side < 2; side++)
            term[side] = ar_substitute_variable(args[2]->args[side], e->name, value, at);
        term[2] = total;
        total = total ? ar_expr_apply(AR_OP_fma, 3, term) : ar_expr_apply(AR_OP_multiply, 2, term);
    }
    return total;
}

static bool is_short_sum(arras_expr e, const arras_expr *args)
{
    return e->ints[0] == AR_REDUCE_sum && ar_expr_tree(e) == AR_TREE_WHOLE && ar_is_int(args[0]) &&
           args[0]->ints[0] == 0 && ar_is_int(args[1]) && args[1]->ints[0] > 0 &&
           args[1]->ints[0] <= MOST_WRITTEN;
}

static arras_expr make(ar_rewrite *r, arras_expr e, const arras_expr *args, const ar_frame *around)
{
    arras_expr made = NULL;

    if (e->kind != AR_EXPR_REDUCE || args[2]->kind == AR_EXPR_POISON)
        return ar_rewrite_copy(r, e, args, around);
    if (is_short_sum(e, args) && is_factored(r, args[2]))
        made = write_out(r, e, args, around);
    else
        made = factor(r, e, args, around);
    return made ? made : ar_rewrite_copy(r, e, args, around);
}

/* *out stays as it is where nothing was changed. */
static arras_status walk_once(arras_graph **out, sites *s, const arras_graph *normal,
                              arras_error *err)
{
    ar_rewrite   r = { .make = make, .pass = s, .looks_back = true };
    arras_graph *made = NULL;
    arras_status status = ar_rewrite_run(&made, &r, normal, err);

    if (status == ARRAS_OK && s->changed)
        *out = made;
    else if (status == ARRAS_OK)
        ar_graph_free(made);
    return status;
}

static bool any_is_shared(const sites *s)
{
    for (int k = 0; k < s->count; k++)
        if (is_shared(s, k))
            return true;
    return false;
}

static arras_status factor_all(arras_graph **out, sites *s, const arras_graph *normal,
                               arras_error *err)
{
    arras_graph *made = NULL;
    bool         cheaper = false;
    ar_survey    before;
    arras_status status = ar_survey_open(&before, normal, err);

    if (status != ARRAS_OK)
        return status;
    s->second = true;
    status = walk_once(&made, s, normal, err);
    if (status == ARRAS_OK && made)
        status = ar_survey_is_cheaper(&cheaper, made, &before, err);
    ar_survey_close(&before);
    if (status == ARRAS_OK && cheaper)
        *out = made;
    else
        ar_graph_free(made);
    return status;
}

arras_status ar_factor(arras_graph **out, const arras_graph *normal, arras_error *err)
{
    sites       *s = ar_alloc(1, sizeof *s);
    arras_status status = s ? walk_once(out, s, normal, err) : ar_fail_memory(err, sizeof *s);

    if (status == ARRAS_OK && any_is_shared(s))
        status = factor_all(out, s, normal, err);
    ar_free(s);
    return status;
}
