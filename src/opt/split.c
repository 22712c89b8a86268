/* split.c -- long reductions in parts that can run at once: those of few results, and those down
 * the columns of an array, which is then read in the order in which it lies in memory.
 *
 * A part is an aligned range of a power of two of cells, so that joining the results of parts in
 * the tree of blocks gives the bits of the whole (docs/semantics.md).  Parts are along axis 0 of a
 * new array.  A reduction within another becomes an array of its own. */
#include "opt/opt.h"

#include "opt/rewrite.h"

enum {
    PART = 64 * AR_FOLD_BLOCK, /* cells of a part */
    PARTS = 256,    /* of a range whose length is not known: longer ranges have longer parts */
    DOUBLINGS = 24, /* of these, at most: beyond 2^48 cells */
    FEW_CELLS = 64, /* of a result: more can run at once as they are */
    LONG_DOWN = 4 * AR_FOLD_BLOCK, /* rows that are worth it */
    PARTS_DOWN = 64,
    MOST_COLUMNS = 1 << 16, /* rows that are longer are read well as they are */
    LONG_WITHIN = 1024,
    SHORT_WITHIN = 16,    /* not worth an array of its own */
    MANY_CELLS = 1 << 22, /* of both together: worth it also if the inner one is not so long */
    MOST_VISITS = 2000
};

/* A reduction in the new graph, and where its results are. */
typedef struct {
    ar_rewrite      *r;
    ar_reduction     reduction;
    const char      *name;
    arras_expr       end, body; /* 0 <= variable < end */
    int              rank;
    const arras_dim *shape;
    int64_t          part; /* cells of a part of a range whose length is known */
} reduction;

/* How a range is cut. */
typedef struct {
    arras_dim  parts;        /* an axis of so many */
    arras_expr length, used; /* cells of a part; parts that are not empty */
    bool       all_used;
} cut;

/* ---- Expressions in short -------------------------------------------------------------------- */

static arras_expr minimum(arras_expr x, arras_expr y) { return ar_binary(AR_OP_minimum, x, y); }
static arras_expr times(arras_expr x, arras_expr y) { return ar_binary(AR_OP_multiply, x, y); }
static arras_expr plus(arras_expr x, arras_expr y) { return ar_binary(AR_OP_add, x, y); }

/* The cell under one more axis, axis 0; its variable, if there is one, becomes that axis. */
static arras_expr moved(const reduction *d, arras_expr e, bool with_variable)
{
    ar_place_of at = { &(ar_space){ .g = d->r->to }, NULL };
    arras_expr  indices[ARRAS_MAX_RANK];

    for (int axis = 0; axis < d->rank; axis++)
        indices[axis] = ar_expr_index(d->r->to, axis + 1);
    e = ar_substitute_indices(e, d->rank, indices, at);
    return with_variable ? ar_substitute_variable(e, d->name, ar_expr_index(d->r->to, 0), at) : e;
}

/* x[first, i0, i1, ...] */
static arras_expr read_part(const reduction *d, arras_array x, arras_expr first)
{
    arras_expr indices[ARRAS_MAX_RANK] = { first };

    for (int axis = 0; axis < d->rank; axis++)
        indices[axis + 1] = ar_expr_index(d->r->to, axis);
    return ar_expr_load(x, d->rank + 1, indices, NULL);
}

static arras_array store(const reduction *d, arras_dim first, arras_expr cell)
{
    arras_dim shape[ARRAS_MAX_RANK] = { first };

    for (int axis = 0; axis < d->rank; axis++)
        shape[axis + 1] = d->shape[axis];
    return ar_lambda(d->r->to, d->rank + 1, shape, cell);
}

/* ---- Whether --------------------------------------------------------------------------------- */

static bool has_few_cells(int rank, const arras_dim *shape)
{
    int64_t cells = 1;

    for (int axis = 0; axis < rank; axis++)
        if (ar_dim_symbolic(shape[axis]) || !ar_mul64(&cells, cells, shape[axis]))
            return false;
    return cells < FEW_CELLS && rank < ARRAS_MAX_RANK;
}

/* Sizes, and cells of arrays that have sizes. */
static bool is_length(arras_expr end)
{
    if (end->kind == AR_EXPR_OP && end->ints[0] == AR_OP_multiply)
        return is_length(end->args[0]) && is_length(end->args[1]);
    return ar_is_int(end) ? end->ints[0] > 0 : end->kind == AR_EXPR_SIZE;
}

static bool is_longer(arras_expr end, int64_t length)
{
    return ar_is_int(end) ? end->ints[0] > length : is_length(end);
}

typedef struct {
    ar_space space;
    int64_t  length; /* of the range around; 0: not known */
    int      visits;
    bool     safe;        /* every read is inside, and nothing is the minimum of nothing */
    bool     long_within; /* there is a long reduction in it */
} survey;

/* Whether lo < hi is a condition of what stands here. */
static bool is_asked_before(arras_expr lo, arras_expr hi, const ar_frame *around)
{
    for (; around; around = around->outer)
        if (around->condition && around->holds && ar_expr_is(around->condition, AR_OP_less) &&
            around->condition->args[0] == lo && around->condition->args[1] == hi)
            return true;
    return false;
}

/* The minimum of nothing is an error. */
static bool is_of_something(const survey *s, arras_expr reduce, const ar_frame *around)
{
    arras_expr lo = reduce->args[0], hi = reduce->args[1];

    return ar_reduction_identity((ar_reduction)reduce->ints[0]) >= 0 ||
           is_asked_before(lo, hi, around) || ar_index_is_less(lo, hi, &s->space, around) > 0;
}

static bool is_long_within(const survey *s, arras_expr end)
{
    if (!ar_is_int(end) || end->ints[0] > LONG_WITHIN)
        return true;
    return end->ints[0] > SHORT_WITHIN && s->length > MANY_CELLS / end->ints[0];
}

static void look(survey *s, arras_expr e, const ar_frame *around);

static void look_at_reduce(survey *s, arras_expr e, const ar_frame *around)
{
    ar_frame within = { .outer = around, .variable = e->name, .lo = e->args[0], .hi = e->args[1] };

    s->safe = s->safe && is_of_something(s, e, around);
    s->long_within = s->long_within || is_long_within(s, e->args[1]);
    look(s, e->args[0], around);
    look(s, e->args[1], around);
    look(s, e->args[2], &within);
}

static void look_at_where(survey *s, arras_expr e, const ar_frame *around)
{
    look(s, e->args[0], around);
    for (int branch = 1; branch <= 2; branch++) {
        ar_frame within = { .outer = around, .condition = e->args[0], .holds = branch == 1 };

        look(s, e->args[branch], &within);
    }
}

static void look(survey *s, arras_expr e, const ar_frame *around)
{
    if (++s->visits > MOST_VISITS)
        s->safe = false;
    for (int axis = 0; s->safe && e->kind == AR_EXPR_LOAD && axis < e->rank; axis++)
        s->safe = ar_index_is_below(e->args[axis], e->array->shape[axis], &s->space, around);
    if (!s->safe)
        return;
    if (e->kind == AR_EXPR_REDUCE)
        look_at_reduce(s, e, around);
    else if (ar_expr_is(e, AR_OP_where))
        look_at_where(s, e, around);
    else
        for (int i = 0; i < e->nargs; i++)
            look(s, e->args[i], around);
}

/* What is stored is computed whether it is asked for or not: it must not go wrong. */
static survey survey_of(const reduction *d)
{
    survey   s = { .space = { .g = d->r->to, .rank = d->rank, .shape = d->shape },
                   .length = ar_is_int(d->end) ? d->end->ints[0] : 0,
                   .safe = true };
    ar_frame within = { .variable = d->name, .lo = ar_int(d->r->to, 0), .hi = d->end };

    look(&s, d->body, &within);
    return s;
}

/* ---- Parts ----------------------------------------------------------------------------------- */

/* PART cells, doubled until PARTS of them are enough. */
static arras_expr length_for(arras_expr end)
{
    arras_expr length = ar_int(end->graph, (int64_t)PART << DOUBLINGS);

    for (int k = DOUBLINGS - 1; k >= 0; k--) {
        int64_t    part = (int64_t)PART << k;
        arras_expr enough = ar_binary(AR_OP_less_equal, end, ar_int(end->graph, part * PARTS));

        length = ar_expr_apply(AR_OP_where, 3,
                               (arras_expr[]){ enough, ar_int(end->graph, part), length });
    }
    return length;
}

static cut cut_of(const reduction *d)
{
    arras_expr   end = d->end, length;
    arras_graph *g = end->graph;

    if (ar_is_int(end)) {
        int64_t parts = (end->ints[0] - 1) / d->part + 1;

        return (cut){ parts, ar_int(g, d->part), ar_int(g, parts), true };
    }
    length = length_for(end);
    return (cut){ PARTS, length,
                  ar_binary(AR_OP_floor_divide, plus(end, plus(length, ar_int(g, -1))), length),
                  false };
}

/* The reduction of part number `number`, of a body that stands in the same cells. */
static arras_expr reduce_part(const reduction *d, ar_reduction by, ar_tree tree, const cut *c,
                              arras_expr number, arras_expr end, arras_expr body)
{
    arras_expr next = plus(number, ar_int(end->graph, 1));

    return ar_expr_reduce_tree(by, tree, d->name, times(number, c->length),
                               minimum(end, times(next, c->length)), body);
}

/* Every part, along axis 0; of an array that is too long for the range, the last ones are empty. */
static arras_array store_cells(const reduction *d, const cut *c, arras_expr part)
{
    arras_expr number = ar_expr_index(d->r->to, 0);

    if (!c->all_used && part->kind != AR_EXPR_POISON)
        part = ar_expr_apply(AR_OP_where, 3,
                             (arras_expr[]){ ar_binary(AR_OP_less, number, c->used), part,
                                             ar_expr_cast(ar_int(d->r->to, 0), part->type.dtype) });
    return store(d, c->parts, part);
}

static arras_array store_parts(const reduction *d, ar_reduction by, const cut *c)
{
    return store_cells(d, c,
                       reduce_part(d, by, AR_TREE_PART, c, ar_expr_index(d->r->to, 0), d->end,
                                   moved(d, d->body, false)));
}

static arras_expr join_parts(const reduction *d, ar_reduction by, ar_tree tree, const cut *c,
                             arras_array parts)
{
    arras_expr part = read_part(d, parts, ar_expr_var(d->r->to, d->name));

    return ar_expr_reduce_tree(by, tree, d->name, ar_int(d->r->to, 0), c->used, part);
}

static arras_expr unsplit(const reduction *d)
{
    return ar_expr_reduce(d->reduction, d->name, ar_int(d->r->to, 0), d->end, d->body);
}

/* The place in each part and the cell there, then the place in the first part that has the best
 * cell.  A walk over all parts takes that one, so that what lies below the parts is never read at
 * places that are computed: it may be in a file.  Places are not negative, and the maximum of none
 * of them is the error that the place in nothing is. */
static arras_expr split_place(const reduction *d, const cut *c)
{
    arras_graph *g = d->r->to;
    ar_place_of  at = { &(ar_space){ .g = g }, NULL };
    arras_expr   body = moved(d, d->body, false), part = ar_expr_index(g, 0);
    arras_expr   place = reduce_part(d, d->reduction, AR_TREE_WHOLE, c, part, d->end, body);
    arras_expr   cell = ar_substitute_variable(body, d->name, place, at);
    arras_expr   walked = ar_expr_var(g, d->name), best, found;

    if (cell->kind == AR_EXPR_POISON) /* nested too deep */
        return unsplit(d);
    best = join_parts(d, d->reduction, AR_TREE_WHOLE, c, store_cells(d, c, cell));
    found = ar_expr_apply(AR_OP_where, 3,
                          (arras_expr[]){ ar_binary(AR_OP_equal, walked, best),
                                          read_part(d, store_cells(d, c, place), walked),
                                          ar_int(g, 0) });

    return ar_expr_reduce(AR_REDUCE_max, d->name, ar_int(g, 0), c->used, found);
}

static arras_expr split_range(const reduction *d)
{
    cut          c = cut_of(d);
    ar_reduction by = ar_reduction_of_results(d->reduction);

    if (d->reduction == AR_REDUCE_argmin || d->reduction == AR_REDUCE_argmax)
        return split_place(d, &c);
    return join_parts(d, by, AR_TREE_PARTIALS, &c, store_parts(d, d->reduction, &c));
}

/* ---- Down the columns ------------------------------------------------------------------------ */

typedef struct {
    const reduction *d;
    int              visits, found; /* loads that the variable walks */
    bool             down;
} columns;

/* Every read goes along the rows with the last axis of the result, and down with the variable. */
static void look_down(columns *c, arras_expr e)
{
    if (++c->visits > MOST_VISITS)
        c->down = false;
    if (e->kind == AR_EXPR_LOAD && ar_expr_depends(e, c->d->name)) {
        arras_expr last = e->args[e->rank - 1];

        c->found++;
        c->down =
            c->down && last->uses >> (c->d->rank - 1) & 1 && !ar_expr_depends(last, c->d->name);
    }
    for (int i = 0; c->down && i < e->nargs; i++)
        look_down(c, e->args[i]);
}

static bool goes_down(const reduction *d)
{
    columns c = { .d = d, .down = d->rank > 0 && d->rank < ARRAS_MAX_RANK };
    int64_t cells = 1;

    if (!ar_is_int(d->end) || d->end->ints[0] < LONG_DOWN)
        return false;
    for (int axis = 0; axis < d->rank; axis++)
        if (ar_dim_symbolic(d->shape[axis]) || !ar_mul64(&cells, cells, d->shape[axis]))
            return false;
    look_down(&c, d->body);
    return c.down && c.found > 0 && cells <= MOST_COLUMNS;
}

static int64_t part_down(int64_t rows)
{
    int64_t part = AR_FOLD_BLOCK;

    while ((rows - 1) / part + 1 > PARTS_DOWN)
        part *= 2;
    return part;
}

/* ---- Reductions within reductions ------------------------------------------------------------ */

static arras_expr split(reduction *d);

/* From 0 to what is a length: the same in every cell, so that parts of it can be an axis. */
static bool can_be_split(arras_expr e)
{
    return e->kind == AR_EXPR_REDUCE && ar_expr_tree(e) == AR_TREE_WHOLE && ar_is_int(e->args[0]) &&
           e->args[0]->ints[0] == 0 && is_longer(e->args[1], 0) &&
           e->args[1]->type.dtype == ARRAS_I64 && e->args[2]->kind != AR_EXPR_POISON &&
           !e->args[2]->type.weak;
}

static void take(reduction *d, arras_expr e)
{
    d->reduction = (ar_reduction)e->ints[0];
    d->name = e->name, d->end = e->args[1], d->body = e->args[2];
}

/* Whether an axis can be so long; a product of sizes is the length of none. */
static bool is_axis(arras_dim *length, arras_expr end)
{
    bool is = ar_is_int(end) || end->kind == AR_EXPR_SIZE;

    *length = is ? end->ints[0] : 0;
    return is;
}

/* The body as an array, which may be split again. */
static arras_array store_body(const reduction *d, arras_dim length)
{
    arras_expr cell = moved(d, d->body, true);
    arras_dim  shape[ARRAS_MAX_RANK] = { length };
    reduction  inner = { .r = d->r, .rank = d->rank + 1, .shape = shape };

    for (int axis = 0; axis < d->rank; axis++)
        shape[axis + 1] = d->shape[axis];
    if (can_be_split(cell)) {
        take(&inner, cell);
        cell = split(&inner);
    }
    return store(d, length, cell);
}

/* Arrays within arrays end: each has an axis more. */
static arras_expr split(reduction *d)
{
    survey    s = survey_of(d);
    arras_dim length;

    if (s.safe && s.long_within && has_few_cells(d->rank, d->shape) && is_axis(&length, d->end)) {
        arras_array body = store_body(d, length);

        d->body = ar_is_poison(body) ? ar_no_memory(d->r->to)
                                     : read_part(d, body, ar_expr_var(d->r->to, d->name));
    }
    d->part = PART;
    if (s.safe && is_longer(d->end, PART) && has_few_cells(d->rank, d->shape))
        return split_range(d);
    if (s.safe && goes_down(d)) {
        d->part = part_down(d->end->ints[0]);
        return split_range(d);
    }
    return unsplit(d);
}

/* Computed in any case, once for a cell: the mean in a sum of deviations from it is, the maximum in
 * one branch of a choice is not. */
static bool stands_alone(arras_expr e, const ar_frame *around)
{
    while (around && !around->condition)
        around = around->outer;
    return !around && e->nfree == 0;
}

static arras_expr make(ar_rewrite *r, arras_expr e, const arras_expr *args, const ar_frame *around)
{
    reduction  d = { .r = r, .rank = r->space.rank, .shape = r->shape };
    arras_expr copy = ar_rewrite_copy(r, e, args, around);

    if (!can_be_split(copy) || !stands_alone(copy, around))
        return copy;
    take(&d, copy);
    return split(&d);
}

arras_status ar_split(arras_graph **out, const arras_graph *normal, arras_error *err)
{
    ar_rewrite r = { .make = make };

    return ar_rewrite_run(out, &r, normal, err);
}
