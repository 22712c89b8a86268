/* region.c -- what can be said of an index before a program is run: where it stays, and how far
 * from the cell that is computed. */
#include "ir/interval.h"

#include <string.h>

/* An index of more parts than that is not looked at: what is shared is counted again. */
enum { MOST_VISITS = 400 };

typedef struct {
    const ar_space *space;
    ar_least        least;
    int             visits;
} looker;

static ar_range range_of(looker *l, arras_expr e, const ar_frame *around);

/* ---- Sizes ----------------------------------------------------------------------------------- */

/* What `dim >= low` says of its one size. */
static void note_least(looker *l, arras_dim dim, int64_t low)
{
    const ar_affine *affine = ar_dim_affine(l->space->g, dim);
    int64_t          room, *least;

    if (!affine || affine->nterms != 1 || affine->terms[0].factor < 1 ||
        affine->terms[0].size >= AR_LEAST_SIZES || !ar_sub64(&room, low, affine->constant))
        return;
    least = &l->least.of[affine->terms[0].size];
    if (room > 0)
        *least = ar_max64(*least, (room - 1) / affine->terms[0].factor + 1);
}

/* Where a cell is computed, there is one. */
static looker look_at(const ar_space *space)
{
    looker l = { .space = space };

    for (int axis = 0; axis < space->rank; axis++)
        note_least(&l, space->shape[axis], 1);
    for (int i = 0; i < space->ninputs; i++)
        for (int axis = 0; axis < space->inputs[i]->rank; axis++)
            note_least(&l, space->inputs[i]->shape[axis], 0);
    return l;
}

/* ---- Conditions ------------------------------------------------------------------------------ */

static bool is_op(arras_expr e, ar_op op) { return e->kind == AR_EXPR_OP && e->ints[0] == op; }

static bool is_plain_integer(arras_expr e)
{
    return ar_dtype_class(e->type.dtype) < AR_CLASS_REAL && e->type.dtype != ARRAS_U64;
}

/* A comparison as x <= y + gap, or x == y (gap 0 both ways). */
typedef struct {
    arras_expr x, y;
    int64_t    gap;
    bool       equal;
} order;

static bool order_of(order *out, arras_expr c, bool holds)
{
    bool       less = is_op(c, AR_OP_less), greater = is_op(c, AR_OP_greater);
    bool       less_equal = is_op(c, AR_OP_less_equal);
    bool       greater_equal = is_op(c, AR_OP_greater_equal);
    bool       swapped = greater || greater_equal, strict = less || greater;
    arras_expr x, y;

    out->equal = holds ? is_op(c, AR_OP_equal) : is_op(c, AR_OP_not_equal);
    if (!out->equal && !less && !greater && !less_equal && !greater_equal)
        return false;
    x = c->args[swapped], y = c->args[!swapped];
    if (!is_plain_integer(x) || !is_plain_integer(y))
        return false;
    if (out->equal) {
        *out = (order){ x, y, 0, true };
        return true;
    }
    /* not x < y is y <= x; not x <= y is y < x */
    *out =
        holds ? (order){ x, y, strict ? -1 : 0, false } : (order){ y, x, strict ? 0 : -1, false };
    return true;
}

/* What a comparison leaves of the range of e, one of its sides. */
static ar_range narrowed_by(looker *l, const order *o, arras_expr e, ar_range r,
                            const ar_frame *outside)
{
    ar_range gap = ar_range_number(o->gap), bound = ar_range_of_dtype(ARRAS_I64), other;

    if (e == o->x || (o->equal && e == o->y)) {
        other = range_of(l, e == o->x ? o->y : o->x, outside);
        other = ar_range_add(&other, &gap);
        bound.hi = other.hi, bound.high = other.high;
        if (o->equal)
            bound = other;
    } else {
        other = range_of(l, o->x, outside);
        other = ar_range_subtract(&other, &gap);
        bound.lo = other.lo, bound.low = other.low;
    }
    return other.wraps ? r : ar_range_both(&r, &bound, &l->least);
}

/* What holds when a condition does, or does not: of "and", and of a denied "or", both parts. */
static ar_range narrowed(looker *l, arras_expr condition, bool holds, arras_expr e, ar_range r,
                         const ar_frame *outside)
{
    order o;

    if (++l->visits > MOST_VISITS)
        return r;
    if (is_op(condition, AR_OP_logical_not))
        return narrowed(l, condition->args[0], !holds, e, r, outside);
    if (is_op(condition, holds ? AR_OP_logical_and : AR_OP_logical_or)) {
        r = narrowed(l, condition->args[0], holds, e, r, outside);
        return narrowed(l, condition->args[1], holds, e, r, outside);
    }
    if (order_of(&o, condition, holds) && (o.x == e || o.y == e) && o.x != o.y)
        return narrowed_by(l, &o, e, r, outside);
    return r;
}

/* Conditions on e between here and where a variable of it is bound. */
static ar_range with_conditions(looker *l, arras_expr e, ar_range r, const ar_frame *around)
{
    for (; around; around = around->outer) {
        if (around->condition)
            r = narrowed(l, around->condition, around->holds, e, r, around->outer);
        for (int i = 0; around->variable && i < e->nfree; i++)
            if (strcmp(e->free[i], around->variable) == 0)
                return r;
    }
    return r;
}

/* ---- Expressions ----------------------------------------------------------------------------- */

static ar_range range_between(looker *l, arras_expr lo, arras_expr hi, const ar_frame *around)
{
    ar_range first = range_of(l, lo, around), end = range_of(l, hi, around);

    return ar_range_below(&first, &end);
}

static ar_range range_of_name(looker *l, arras_expr e, const ar_frame *around)
{
    for (; around; around = around->outer)
        if (around->variable && strcmp(around->variable, e->name) == 0)
            return range_between(l, around->lo, around->hi, around->outer);
    return ar_range_of_dtype(ARRAS_I64);
}

static ar_range range_of_where(looker *l, arras_expr e, const ar_frame *around)
{
    ar_frame yes = { .outer = around, .condition = e->args[0], .holds = true };
    ar_frame no = { .outer = around, .condition = e->args[0], .holds = false };
    ar_range a = range_of(l, e->args[1], &yes), b = range_of(l, e->args[2], &no);

    return ar_range_either(&a, &b, &l->least);
}

static ar_range range_of_op(looker *l, arras_expr e, const ar_frame *around)
{
    ar_op    op = (ar_op)e->ints[0];
    ar_range a, b, zero = ar_range_number(0);

    if (e->type.dtype != ARRAS_I64)
        return ar_range_of_dtype(e->type.dtype);
    if (op == AR_OP_where)
        return range_of_where(l, e, around);
    a = range_of(l, e->args[0], around);
    if (op == AR_OP_negative)
        return ar_range_subtract(&zero, &a);
    if (e->nargs != 2)
        return ar_range_of_dtype(ARRAS_I64);
    b = range_of(l, e->args[1], around);
    switch (op) {
    case AR_OP_add: return ar_range_add(&a, &b);
    case AR_OP_subtract: return ar_range_subtract(&a, &b);
    case AR_OP_multiply: return ar_range_multiply(&a, &b);
    case AR_OP_floor_divide: return ar_range_floor_divide(&a, &b, &l->least);
    case AR_OP_remainder: return ar_range_remainder(&a, &b, &l->least);
    case AR_OP_minimum:
    case AR_OP_fmin: return ar_range_minimum(&a, &b, &l->least);
    case AR_OP_maximum:
    case AR_OP_fmax: return ar_range_maximum(&a, &b, &l->least);
    default: return ar_range_of_dtype(ARRAS_I64);
    }
}

static ar_range range_of_cast(looker *l, arras_expr e, const ar_frame *around)
{
    ar_range r, whole = ar_range_of_dtype(e->type.dtype);

    if (!is_plain_integer(e->args[0]) || !is_plain_integer(e))
        return whole;
    r = range_of(l, e->args[0], around);
    if (e->type.dtype == ARRAS_I64)
        return r;
    return !r.wraps && r.low >= whole.low && r.high <= whole.high ? r : whole;
}

static ar_range range_of_reduce(looker *l, arras_expr e, const ar_frame *around)
{
    bool place = e->ints[0] == AR_REDUCE_argmin || e->ints[0] == AR_REDUCE_argmax;

    return place ? range_between(l, e->args[0], e->args[1], around)
                 : ar_range_of_dtype(e->type.dtype);
}

/* Of a read of data.  Outside of it, with a number for what is there, it may be that number. */
static ar_data_range known_range(const ar_space *space, arras_expr load)
{
    bool          is_input = load->ints[0] >= 0 && load->ints[0] < space->ninputs;
    arras_array   from = is_input ? space->inputs[load->ints[0]] : load->array;
    ar_data_range unknown = { 0, -1 };

    if (!from || from->kind != AR_DATA || !is_plain_integer(load))
        return unknown;
    for (int axis = 0; axis < load->rank; axis++)
        if (load->ints[1 + axis] == ARRAS_EDGE_CONSTANT)
            return unknown;
    return ar_data_range_of(from);
}

static ar_range range_of_load(looker *l, arras_expr e)
{
    ar_data_range known = known_range(l->space, e);

    return known.low <= known.high ? ar_range_numbers(known.low, known.high)
                                   : ar_range_of_dtype(e->type.dtype);
}

static ar_range plain_range(looker *l, arras_expr e, const ar_frame *around)
{
    switch (e->kind) {
    case AR_EXPR_INDEX:
        if (e->ints[0] < l->space->rank)
            return ar_range_of_index(l->space->g, l->space->shape[e->ints[0]]);
        return ar_range_of_dtype(ARRAS_I64);
    case AR_EXPR_VAR: return range_of_name(l, e, around);
    case AR_EXPR_SIZE: return ar_range_of_dim(l->space->g, e->ints[0], &l->least);
    case AR_EXPR_CAST: return range_of_cast(l, e, around);
    case AR_EXPR_OP: return range_of_op(l, e, around);
    case AR_EXPR_REDUCE: return range_of_reduce(l, e, around);
    case AR_EXPR_LOAD: return range_of_load(l, e);
    default: return ar_range_of_dtype(e->type.dtype);
    }
}

static ar_range range_of(looker *l, arras_expr e, const ar_frame *around)
{
    if (ar_is_int(e))
        return ar_range_number(e->ints[0]);
    if (++l->visits > MOST_VISITS)
        return ar_range_of_dtype(e->type.dtype);
    return with_conditions(l, e, plain_range(l, e, around), around);
}

static bool range_is_below(const looker *l, const ar_range *r, arras_dim length)
{
    ar_end   zero = ar_end_number(0), end = ar_end_of(l->space->g, length), one = ar_end_number(1);
    ar_range after = { .lo = r->hi, .hi = r->hi }, next = { .lo = one, .hi = one };

    after = ar_range_add(&after, &next);
    return ((!r->wraps && r->low >= 0) || ar_end_not_above(&zero, &r->lo, &l->least)) &&
           ((!r->wraps && !ar_dim_symbolic(length) && r->high < length) ||
            ar_end_not_above(&after.hi, &end, &l->least));
}

/* A variable from 0 or more to a number that is not above `length`. */
static bool variable_is_below(arras_expr e, int64_t length, const ar_frame *around)
{
    while (around && (!around->variable || strcmp(around->variable, e->name) != 0))
        around = around->outer;
    return around && ar_is_int(around->lo) && around->lo->ints[0] >= 0 && ar_is_int(around->hi) &&
           around->hi->ints[0] <= length;
}

static bool data_is_below(arras_expr e, int64_t length, const ar_space *space)
{
    ar_data_range known = known_range(space, e);

    return known.low >= 0 && known.low <= known.high && known.high < length;
}

/* What most indices are, of arrays whose lengths are numbers: conditions could only narrow it. */
static bool is_plainly_below(arras_expr e, arras_dim length, const ar_space *space,
                             const ar_frame *around)
{
    if (ar_dim_symbolic(length))
        return false;
    if (e->kind == AR_EXPR_INDEX && e->ints[0] < space->rank)
        return space->shape[e->ints[0]] > 0 && space->shape[e->ints[0]] <= length;
    if (e->kind == AR_EXPR_VAR)
        return variable_is_below(e, length, around);
    if (e->kind == AR_EXPR_CAST && e->type.dtype == ARRAS_I64 && e->args[0]->kind == AR_EXPR_LOAD)
        return data_is_below(e->args[0], length, space);
    return ar_is_int(e) && e->ints[0] >= 0 && e->ints[0] < length;
}

bool ar_index_is_below(arras_expr e, arras_dim length, const ar_space *space,
                       const ar_frame *around)
{
    looker   l;
    ar_range r;

    if (!is_plain_integer(e))
        return false;
    if (is_plainly_below(e, length, space, around))
        return true;
    l = look_at(space);
    r = range_of(&l, e, around);
    return range_is_below(&l, &r, length);
}

/* Whether x + gap <= y for all their values. */
static bool is_before(looker *l, const ar_range *x, int64_t gap, const ar_range *y)
{
    ar_range step = ar_range_number(gap), after = ar_range_add(x, &step);

    return (!after.wraps && !y->wraps && after.high <= y->low) ||
           ar_end_not_above(&after.hi, &y->lo, &l->least);
}

int ar_index_is_less(arras_expr x, arras_expr y, const ar_space *space, const ar_frame *around)
{
    looker   l = look_at(space);
    ar_range a, b;

    if (!is_plain_integer(x) || !is_plain_integer(y))
        return 0;
    a = range_of(&l, x, around), b = range_of(&l, y, around);
    if (a.wraps || b.wraps)
        return 0;
    return is_before(&l, &a, 1, &b) ? 1 : is_before(&l, &b, 0, &a) ? -1 : 0;
}

bool ar_index_bounds(int64_t *low, int64_t *high, arras_expr e, const ar_space *space,
                     const ar_frame *around)
{
    looker   l = look_at(space);
    ar_range r;

    if (!is_plain_integer(e))
        return false;
    r = range_of(&l, e, around);
    *low = r.low, *high = r.high;
    return !r.wraps && r.low > INT64_MIN && r.high < INT64_MAX;
}

/* ---- Where a load stands --------------------------------------------------------------------- */

/* e - i, for the index i of one axis; INT64_MIN and INT64_MAX: no bound. */
typedef struct {
    int64_t low, high;
} offsets;

/* A load may be reached on several paths, under different conditions: `at` looks at it on each, and
 * says whether to go on. */
typedef struct search search;
struct search {
    bool (*at)(search *s, const ar_frame *around);
    ar_space   space;
    arras_expr load;
    int        axis;
    arras_dim  length;  /* of that axis */
    arras_expr index;   /* of the result */
    offsets    offsets; /* of what is read, from there */
    int        steps;   /* of the search so far */
};

enum { MOST_STEPS = 20000 };

static bool search_within(search *s, arras_expr e, const ar_frame *around);

static bool search_branches(search *s, arras_expr e, const ar_frame *around)
{
    ar_frame yes = { .outer = around, .condition = e->args[0], .holds = true };
    ar_frame no = { .outer = around, .condition = e->args[0], .holds = false };

    return search_within(s, e->args[0], around) && search_within(s, e->args[1], &yes) &&
           search_within(s, e->args[2], &no);
}

static bool search_reduction(search *s, arras_expr e, const ar_frame *around)
{
    ar_frame within = { .outer = around, .variable = e->name, .lo = e->args[0], .hi = e->args[1] };

    return search_within(s, e->args[0], around) && search_within(s, e->args[1], around) &&
           search_within(s, e->args[2], &within);
}

/* What comes before the load, by id, cannot contain it.  Depth is limited by AR_MAX_DEPTH. */
static bool search_within(search *s, arras_expr e, const ar_frame *around)
{
    if (e->id < s->load->id)
        return true;
    if (++s->steps > MOST_STEPS)
        return false;
    if (e == s->load)
        return s->at(s, around);
    if (e->kind == AR_EXPR_REDUCE)
        return search_reduction(s, e, around);
    if (is_op(e, AR_OP_where))
        return search_branches(s, e, around);
    for (int i = 0; i < e->nargs; i++)
        if (!search_within(s, e->args[i], around))
            return false;
    return true;
}

static bool is_inside(search *s, const ar_frame *around)
{
    return ar_index_is_below(s->load->args[s->axis], s->length, &s->space, around);
}

static ar_space space_of(arras_array lambda)
{
    return (ar_space){ lambda->graph, lambda->rank, lambda->shape, lambda->ninputs,
                       lambda->inputs };
}

bool ar_load_is_inside(arras_array lambda, arras_expr load, int axis)
{
    search s = { .at = is_inside, .space = space_of(lambda), .load = load, .axis = axis };
    bool   variable = load->args[axis]->kind == AR_EXPR_VAR; /* of a reduction around it */

    s.length = lambda->inputs[load->ints[0]]->shape[axis];
    /* Most need no search: without variables and conditions. */
    return (!variable && is_inside(&s, NULL)) || search_within(&s, lambda->ref, NULL);
}

/* ---- How far a load reads -------------------------------------------------------------------- */

static const offsets anywhere = { INT64_MIN, INT64_MAX };

typedef struct {
    looker          l;
    arras_expr      index;
    const ar_frame *around;
} measurer;

/* The difference of two ends, when that is a number. */
static int64_t gap_between(const ar_end *a, const ar_end *b, int64_t otherwise)
{
    ar_range x = { .lo = *a, .hi = *a }, y = { .lo = *b, .hi = *b };
    ar_range gap = ar_range_subtract(&x, &y);

    return gap.lo.known && gap.lo.nterms == 0 ? gap.lo.constant : otherwise;
}

static offsets offsets_of_other(measurer *m, arras_expr e)
{
    ar_range r = range_of(&m->l, e, m->around), i = range_of(&m->l, m->index, m->around);

    if (r.wraps)
        return anywhere;
    return (offsets){ gap_between(&r.lo, &i.hi, INT64_MIN), gap_between(&r.hi, &i.lo, INT64_MAX) };
}

static offsets shifted(offsets o, const ar_range *by, bool minus)
{
    int64_t low = minus ? by->high : by->low, high = minus ? by->low : by->high;

    if (by->wraps || o.low == INT64_MIN || !(minus ? ar_sub64 : ar_add64)(&o.low, o.low, low))
        o.low = INT64_MIN;
    if (by->wraps || o.high == INT64_MAX || !(minus ? ar_sub64 : ar_add64)(&o.high, o.high, high))
        o.high = INT64_MAX;
    return o;
}

static offsets offsets_of(measurer *m, arras_expr e);

static offsets offsets_of_sum(measurer *m, arras_expr e)
{
    bool       minus = is_op(e, AR_OP_subtract);
    bool       second = !minus && !(e->args[0]->uses & m->index->uses);
    arras_expr moving = e->args[second], other = e->args[!second];
    ar_range   by;

    if (other->uses & m->index->uses)
        return offsets_of_other(m, e);
    by = range_of(&m->l, other, m->around);
    return shifted(offsets_of(m, moving), &by, minus);
}

static offsets offsets_of_choice(measurer *m, arras_expr e)
{
    bool    minimum = is_op(e, AR_OP_minimum), maximum = is_op(e, AR_OP_maximum);
    int     first = is_op(e, AR_OP_where);
    offsets a = offsets_of(m, e->args[first]), b = offsets_of(m, e->args[first + 1]);

    return (offsets){ (maximum ? ar_max64 : ar_min64)(a.low, b.low),
                      (minimum ? ar_min64 : ar_max64)(a.high, b.high) };
}

static offsets offsets_of(measurer *m, arras_expr e)
{
    if (++m->l.visits > MOST_VISITS || e->type.dtype != ARRAS_I64)
        return anywhere;
    if (e == m->index)
        return (offsets){ 0, 0 };
    if (!(e->uses & m->index->uses))
        return offsets_of_other(m, e);
    if (is_op(e, AR_OP_add) || is_op(e, AR_OP_subtract))
        return offsets_of_sum(m, e);
    if (is_op(e, AR_OP_minimum) || is_op(e, AR_OP_maximum) || is_op(e, AR_OP_where))
        return offsets_of_choice(m, e);
    return offsets_of_other(m, e);
}

/* On all paths. */
static bool measure(search *s, const ar_frame *around)
{
    measurer m = { .l = look_at(&s->space), .index = s->index, .around = around };
    offsets  o = offsets_of(&m, s->load->args[s->axis]);

    s->offsets.low = ar_min64(s->offsets.low, o.low);
    s->offsets.high = ar_max64(s->offsets.high, o.high);
    return o.low != INT64_MIN && o.high != INT64_MAX;
}

/* Along an axis that is as long as the result's: the edge is on the way, or as far as the cell. */
static bool follow_rule(offsets *o, arras_edge_rule rule)
{
    int64_t far = ar_max64(o->high, -o->low);

    if (rule == ARRAS_EDGE_NEAREST)
        *o = (offsets){ ar_min64(o->low, 0), ar_max64(o->high, 0) };
    if (rule == ARRAS_EDGE_REFLECT || rule == ARRAS_EDGE_MIRROR)
        *o = (offsets){ -far, far };
    return rule != ARRAS_EDGE_WRAP;
}

/* The factor of an index times a number; 1 for the index itself, 0 for anything else. */
static int64_t step_of(arras_expr e)
{
    if (e->kind == AR_EXPR_INDEX)
        return 1;
    for (int i = 0; i < 2 && is_op(e, AR_OP_multiply); i++)
        if (e->args[i]->kind == AR_EXPR_INDEX && ar_is_int(e->args[!i]))
            return ar_max64(0, e->args[!i]->ints[0]);
    return 0;
}

/* The index of an axis within e, with its factor. */
static arras_expr find_index(arras_expr e, int axis)
{
    while (e->uses >> axis & 1 && step_of(e) == 0 && e->kind != AR_EXPR_INDEX) {
        int i = 0;

        while (!(e->args[i]->uses >> axis & 1))
            i++;
        e = e->args[i];
    }
    return e->uses >> axis & 1 ? e : NULL;
}

bool ar_load_reach(ar_load_span *out, arras_array lambda, arras_expr load, int axis,
                   int result_axis)
{
    search          s = { .at = measure, .space = space_of(lambda), .load = load, .axis = axis };
    arras_edge_rule rule = (arras_edge_rule)load->ints[1 + axis];
    int64_t         step;

    s.index = find_index(load->args[axis], result_axis);
    s.length = lambda->inputs[load->ints[0]]->shape[axis];
    s.offsets = (offsets){ INT64_MAX, INT64_MIN };
    step = s.index ? step_of(s.index) : 0;
    if (step == 0 ||
        (rule > ARRAS_EDGE_CONSTANT && (step != 1 || s.length != lambda->shape[result_axis])) ||
        !search_within(&s, lambda->ref, NULL) || s.offsets.low > s.offsets.high ||
        !follow_rule(&s.offsets, rule))
        return false;
    *out = (ar_load_span){ step, -s.offsets.low, s.offsets.high };
    return true;
}
