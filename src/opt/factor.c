/* factor.c -- what does not depend on the variable of a sum goes out of it, if what is left is the
 * same for several sums.
 *
 * y1[i,m] = sum[f] sum[k] A[m,f,k] * (c1[f,i] * x[f,i,k]), where A is data, and y2 with c2, become
 * y1[i,m] = sum[f] c1[f,i] * t[f,i,m] and so on, where t[f,i,m] = sum[k] A[m,f,k] * x[f,i,k].
 * As with einsums of three operands it is the order of products that changes, and so the rounding
 * (docs/semantics.md).
 *
 * First all sums are looked at: what would be left of each, and how many would read that. */
#include "opt/opt.h"

#include "opt/survey.h"

enum { MOST_FACTORS = 4, MOST_WRITTEN = 8 };

/* ---- What would be left of a sum ------------------------------------------------------------- */

/* sum[k] a * (factors * b), where a is data: a and b, and where they are read. */
typedef struct {
    arras_expr        sum;
    int               side; /* of a, in the product */
    arras_array       a, b;
    int               nfactors;
    const arras_expr *a_at;
    arras_expr        b_at[ARRAS_MAX_RANK];
} rest;

/* One that several sums may have. */
typedef struct {
    rest    of;
    int     readers;
    int64_t made; /* the id of its array in the new graph; 0: none yet */
} shared_rest;

typedef struct {
    const ar_survey *survey;
    ar_table         rests; /* of shared_rest */
    ar_arena         arena;
    bool             no_memory, any; /* several sums have the same */
    int              sums, arrays;   /* that were factored; of what is left */
} factorer;

/* Places that are the same expression are the same place: nothing is read to find them. */
static bool is_plain(int rank, const arras_expr *at)
{
    for (int axis = 0; axis < rank; axis++)
        if (!ar_simple_is_safe(at[axis]))
            return false;
    return true;
}

/* The one axis along which this place runs with the variable; -1: none, or not only that. */
static int axis_along(int rank, const arras_expr *at, const char *variable)
{
    int found = -1;

    for (int axis = 0; axis < rank; axis++) {
        if (!ar_expr_depends(at[axis], variable))
            continue;
        if (found >= 0 || at[axis]->kind != AR_EXPR_VAR)
            return -1;
        found = axis;
    }
    return found;
}

/* Which operand of a product depends on the index along an axis, if just one does: the other is
 * the factor.  -1: none of that. */
static int varying_operand(arras_expr product, int axis)
{
    bool first, second;

    if (axis < 0 || !ar_expr_is(product, AR_OP_multiply))
        return -1;
    first = product->args[0]->uses >> axis & 1;
    second = product->args[1]->uses >> axis & 1;
    return first == second ? -1 : first ? 0 : 1;
}

/* A factor is read as a whole or is no more than a number; all have one type. */
static bool is_factor(arras_expr product, int varying)
{
    arras_expr other = product->args[1 - varying];

    return product->args[varying]->kind == AR_EXPR_LOAD &&
           (other->kind == AR_EXPR_LOAD || ar_simple_is_safe(other)) &&
           product->args[varying]->type.dtype == product->type.dtype &&
           other->type.dtype == product->type.dtype;
}

/* Where a load of a lambda reads, if cells of the lambda are read there; false: not known. */
static bool move_place(arras_expr *at, arras_expr load)
{
    arras_expr moved[ARRAS_MAX_RANK];

    if (load->nargs > load->rank || !is_plain(load->rank, load->args))
        return false;
    for (int axis = 0; axis < load->rank; axis++) {
        arras_expr index = load->args[axis];

        if (index->kind != AR_EXPR_INDEX && index->uses != 0)
            return false;
        moved[axis] = index->kind == AR_EXPR_INDEX ? at[index->ints[0]] : index;
    }
    memcpy(at, moved, (size_t)load->rank * sizeof *at);
    return true;
}

/* While b is a product with a factor that is the same along the sum, that comes out. */
static void leave_factors(rest *out)
{
    for (; out->nfactors < MOST_FACTORS && out->b->kind == AR_LAMBDA; out->nfactors++) {
        arras_expr cell = out->b->ref;
        int        axis = axis_along(out->b->rank, out->b_at, out->sum->name);
        int        varying = varying_operand(cell, axis);

        if (varying < 0 || !is_factor(cell, varying) || !move_place(out->b_at, cell->args[varying]))
            return;
        out->b = ar_array_of(out->b, cell->args[varying]);
    }
}

static bool may_be_factored(arras_expr e)
{
    arras_expr body = e->kind == AR_EXPR_REDUCE ? e->args[2] : e;

    return e->kind == AR_EXPR_REDUCE && e->ints[0] == AR_REDUCE_sum &&
           ar_expr_tree(e) == AR_TREE_FUSED && ar_expr_is(body, AR_OP_multiply) &&
           ar_dtype_class(body->type.dtype) == AR_CLASS_REAL &&
           body->args[0]->kind == AR_EXPR_LOAD && body->args[1]->kind == AR_EXPR_LOAD;
}

/* Whether factors would leave this sum of a lambda, and what is left then. */
static bool find_rest(rest *out, const ar_survey *s, arras_array lambda, arras_expr e)
{
    if (!may_be_factored(e))
        return false;
    for (int side = 0; side < 2; side++) {
        arras_expr a = e->args[2]->args[side], b = e->args[2]->args[1 - side];

        *out = (rest){ .sum = e, .side = side, .a_at = a->args };
        out->a = ar_array_of(lambda, a), out->b = ar_array_of(lambda, b);
        if (!s->constant[out->a->id] || !ar_expr_depends(a, e->name) ||
            !is_plain(a->nargs, a->args) || !is_plain(b->nargs, b->args))
            continue;
        memcpy(out->b_at, b->args, (size_t)b->rank * sizeof *out->b_at);
        leave_factors(out);
        if (out->nfactors > 0)
            return true;
    }
    return false;
}

/* ---- Sums that have the same ----------------------------------------------------------------- */

static bool is_same(const void *item, const void *key)
{
    const rest *x = &((const shared_rest *)item)->of, *y = key;

    return x->a == y->a && x->b == y->b && strcmp(x->sum->name, y->sum->name) == 0 &&
           memcmp(x->a_at, y->a_at, (size_t)x->a->rank * sizeof *x->a_at) == 0 &&
           memcmp(x->b_at, y->b_at, (size_t)x->b->rank * sizeof *x->b_at) == 0;
}

static uint64_t hash_of(const rest *x)
{
    uint64_t hash = ar_hash_mix((uint64_t)x->a->id, (uint64_t)x->b->id);

    for (int axis = 0; axis < x->a->rank; axis++)
        hash = ar_hash_mix(hash, (uint64_t)x->a_at[axis]->id);
    for (int axis = 0; axis < x->b->rank; axis++)
        hash = ar_hash_mix(hash, (uint64_t)x->b_at[axis]->id);
    return hash;
}

static shared_rest *find_shared(const factorer *f, const rest *key)
{
    return (shared_rest *)(uintptr_t)ar_table_find(&f->rests, hash_of(key), is_same, key);
}

static bool look_at(void *pass, arras_array lambda, arras_expr e)
{
    factorer    *f = pass;
    shared_rest *shared;
    rest         found;

    if (!find_rest(&found, f->survey, lambda, e))
        return true;
    shared = find_shared(f, &found);
    if (!shared) {
        shared = ar_arena_alloc(&f->arena, 1, sizeof *shared);
        f->no_memory = !shared || !ar_table_add(&f->rests, hash_of(&found), shared);
        if (f->no_memory)
            return false;
        shared->of = found;
    }
    f->any = f->any || shared->readers > 0;
    shared->readers++;
    return true;
}

/* ---- Taking a sum apart ---------------------------------------------------------------------- */

/* In the new graph. */
typedef struct {
    arras_expr a, b; /* loads */
    arras_expr factors;
} factored;

/* Reads nothing outside, so that it may also be read where it was not, or the other way round. */
static bool is_inside(arras_expr e, const ar_space *space, const ar_frame *around)
{
    for (int axis = 0; e->kind == AR_EXPR_LOAD && axis < e->rank; axis++)
        if (e->ints[1 + axis] != ARRAS_EDGE_NONE ||
            !ar_index_is_below(e->args[axis], e->array->shape[axis], space, around))
            return false;
    return true;
}

static arras_expr at_indices(const ar_rewrite *r, arras_expr cell, arras_expr load)
{
    return ar_substitute_indices(cell, load->rank, load->args, (ar_place_of){ &r->space, NULL });
}

/* The next factor comes out of b. */
static bool take_factor(factored *out, const ar_rewrite *r, const char *variable)
{
    arras_array x = out->b->array;
    arras_expr  cell = ar_rewrite_cell(r, x), factor;
    ar_space    space = { .g = r->to, .rank = x->rank, .shape = x->shape };
    int varying = cell ? varying_operand(cell, axis_along(x->rank, out->b->args, variable)) : -1;

    if (varying < 0 || !is_factor(cell, varying) || !is_inside(cell->args[0], &space, NULL) ||
        !is_inside(cell->args[1], &space, NULL))
        return false;
    factor = at_indices(r, cell->args[1 - varying], out->b);
    out->factors = out->factors ? ar_binary(AR_OP_multiply, out->factors, factor) : factor;
    out->b = at_indices(r, cell->args[varying], out->b);
    return out->b->kind == AR_EXPR_LOAD;
}

static bool take_apart(factored *out, const ar_rewrite *r, const rest *of, const arras_expr *args,
                       const ar_frame *around)
{
    ar_frame within = { .outer = around, .variable = of->sum->name, .lo = args[0], .hi = args[1] };

    if (args[2]->kind == AR_EXPR_POISON || !ar_is_int(args[0]) || !ar_is_int(args[1]) ||
        args[0]->ints[0] >= args[1]->ints[0]) /* nothing is 0, whatever the factors are */
        return false;
    *out = (factored){ .a = args[2]->args[of->side], .b = args[2]->args[1 - of->side] };
    if (!is_inside(out->a, &r->space, &within))
        return false;
    for (int k = 0; k < of->nfactors; k++)
        if (!is_inside(out->b, &r->space, &within) || !take_factor(out, r, of->sum->name))
            return false;
    return true;
}

/* ---- Parts of it as arrays ------------------------------------------------------------------- */

/* An expression as an array.  Its axes: the variables around and the indices of the cell that it
 * depends on, which is how it is read. */
typedef struct {
    ar_rewrite     *r;
    arras_expr      cell;
    const ar_frame *around;
    int             rank;
    arras_dim       shape[ARRAS_MAX_RANK];
    arras_expr      read[ARRAS_MAX_RANK];
} part;

static bool add_axis(part *p, arras_dim length, arras_expr index)
{
    if (p->rank == ARRAS_MAX_RANK)
        return false;
    p->shape[p->rank] = length;
    p->read[p->rank++] = index;
    return true;
}

/* Another variable of the same name has come between. */
static bool is_hidden(const part *p, const ar_frame *frame)
{
    for (const ar_frame *f = p->around; f != frame; f = f->outer)
        if (strcmp(f->variable, frame->variable) == 0)
            return true;
    return false;
}

/* Outermost variables first.  False: one of them does not go from 0 to a number, or there are
 * conditions. */
static bool add_variables(part *p, const ar_frame *around)
{
    if (!around)
        return true;
    if (!around->variable || !add_variables(p, around->outer))
        return false;
    if (!ar_expr_depends(p->cell, around->variable) || is_hidden(p, around))
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
    part        p = { .r = r, .cell = cell, .around = around };
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

static void count_array(factorer *f, shared_rest *shared, arras_array t)
{
    f->sums++;
    f->arrays += shared->made != t->id;
    shared->made = t->id;
}

/* factors * t[...]; NULL: the sum stays as it is. */
static arras_expr factor(ar_rewrite *r, arras_expr e, const arras_expr *args,
                         const ar_frame *around)
{
    factorer    *f = r->pass;
    arras_expr   of_rest[3] = { args[0], args[1] }, t, factors;
    factored     parts;
    rest         left;
    shared_rest *shared = find_rest(&left, f->survey, r->old, e) ? find_shared(f, &left) : NULL;

    if (!shared || shared->readers < 2 || !take_apart(&parts, r, &left, args, around))
        return NULL;
    of_rest[2] = ar_binary(AR_OP_multiply, parts.a, parts.b);
    t = as_array(r, ar_reduce_like(e, of_rest), around);
    if (!t)
        return NULL;
    r->changed = true;
    count_array(f, shared, t->array);
    factors = left.nfactors > 1 ? as_array(r, parts.factors, around) : parts.factors;
    return ar_binary(AR_OP_multiply, factors ? factors : parts.factors, t);
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

static void tell(ar_text *line, const void *pass)
{
    const factorer *f = pass;

    ar_text_printf(line, "factored: %d sums, factors times %d that they share", f->sums, f->arrays);
}

arras_status ar_factor(arras_graph **out, const arras_graph *normal, ar_decisions *decisions,
                       arras_error *err)
{
    ar_survey    s;
    factorer     f = { .survey = &s };
    ar_rewrite   r = { .make = make, .pass = &f, .looks_back = true };
    arras_status status = ar_survey_open(&s, normal, err);

    if (status != ARRAS_OK)
        return status;
    status = ar_survey_look(&s, look_at, &f, err);
    if (status == ARRAS_OK && f.no_memory)
        status = ar_fail_memory(err, sizeof(shared_rest));
    if (status == ARRAS_OK && f.any)
        status = ar_survey_try(out, &s, &r, tell, decisions, err);
    ar_table_free(&f.rests);
    ar_arena_free(&f.arena);
    ar_survey_close(&s);
    return status;
}
