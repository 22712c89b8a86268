/* extent.c -- between which numbers an index lies in the cells of a box, and so which cells of an
 * array a box of results reads.  The numeric sister of region.c: boxes and sizes are known. */
#include "ir/ir.h"

#include <string.h>

/* Beyond, an index counts as unknown: shared parts are looked at again. */
enum { MOST_VISITS = 2000 };

static const ar_extent unknown = { .known = false };

typedef struct {
    const ar_extent_space *space;
    int                    visits;
} looker;

static ar_extent extent_of(looker *l, arras_expr e, const ar_frame *around);

static ar_extent between(int64_t low, int64_t high)
{
    return (ar_extent){ low, high, .gap_low = 0, .gap_high = -1, .known = true };
}

static bool is_point(ar_extent x) { return x.low == x.high; }
static bool has_gap(ar_extent x) { return x.gap_low <= x.gap_high; }

/* ---- Operations ------------------------------------------------------------------------------ */

static ar_extent sum(ar_extent a, ar_extent b)
{
    ar_extent r = between(0, 0), gap = is_point(b) ? a : b;
    int64_t   moved = is_point(b) ? b.low : a.low;

    if (!ar_add64(&r.low, a.low, b.low) || !ar_add64(&r.high, a.high, b.high))
        return unknown;
    if ((is_point(a) || is_point(b)) && has_gap(gap)) { /* within the ends, so they fit */
        r.gap_low = gap.gap_low + moved;
        r.gap_high = gap.gap_high + moved;
    }
    return r;
}

static ar_extent negated(ar_extent a)
{
    ar_extent r = between(0, 0);

    return ar_sub64(&r.low, 0, a.high) && ar_sub64(&r.high, 0, a.low) ? r : unknown;
}

static ar_extent product(ar_extent a, ar_extent b)
{
    int64_t corners[4];

    if (!ar_mul64(&corners[0], a.low, b.low) || !ar_mul64(&corners[1], a.low, b.high) ||
        !ar_mul64(&corners[2], a.high, b.low) || !ar_mul64(&corners[3], a.high, b.high))
        return unknown;
    return between(ar_min64(ar_min64(corners[0], corners[1]), ar_min64(corners[2], corners[3])),
                   ar_max64(ar_max64(corners[0], corners[1]), ar_max64(corners[2], corners[3])));
}

static int64_t floor_quotient(int64_t x, int64_t y) { return x / y - (x % y < 0); }

/* By a positive number. */
static ar_extent quotient(ar_extent a, ar_extent b)
{
    if (!is_point(b) || b.low <= 0)
        return unknown;
    return between(floor_quotient(a.low, b.low), floor_quotient(a.high, b.low));
}

/* Of integers that go on around a circle of n: an end and a beginning, with a gap between. */
static ar_extent around_circle(ar_extent x, int64_t n)
{
    int64_t   first = x.low - floor_quotient(x.low, n) * n;
    int64_t   last = x.high - floor_quotient(x.high, n) * n, length;
    ar_extent r = between(0, n - 1);

    if (!ar_sub64(&length, x.high, x.low) || length >= n - 1)
        return r;
    if (first <= last)
        return between(first, last);
    r.gap_low = last + 1;
    r.gap_high = first - 1;
    return r;
}

static ar_extent remainder_of(ar_extent a, ar_extent b)
{
    return is_point(b) && b.low > 0 ? around_circle(a, b.low) : unknown;
}

static ar_extent joined(ar_extent a, ar_extent b)
{
    return between(ar_min64(a.low, b.low), ar_max64(a.high, b.high));
}

/* 1 or 0 where a comparison has that value in every cell; -1: not known. */
static int truth_of(looker *l, arras_expr e, const ar_frame *around)
{
    bool      strict = e->kind == AR_EXPR_OP && e->ints[0] == AR_OP_less;
    ar_extent a, b;

    if (e->kind != AR_EXPR_OP || (!strict && e->ints[0] != AR_OP_less_equal))
        return -1;
    a = extent_of(l, e->args[0], around);
    b = extent_of(l, e->args[1], around);
    if (!a.known || !b.known)
        return -1;
    if (a.high < b.low || (!strict && a.high == b.low))
        return 1;
    return a.low > b.high || (strict && a.low == b.high) ? 0 : -1;
}

static ar_extent of_choice(looker *l, arras_expr e, const ar_frame *around)
{
    int       truth = truth_of(l, e->args[0], around);
    ar_extent a, b;

    if (truth >= 0)
        return extent_of(l, e->args[truth ? 1 : 2], around);
    a = extent_of(l, e->args[1], around);
    b = extent_of(l, e->args[2], around);
    return a.known && b.known ? joined(a, b) : unknown;
}

static ar_extent of_operation(looker *l, arras_expr e, const ar_frame *around)
{
    ar_extent a, b;

    if (e->ints[0] == AR_OP_where)
        return of_choice(l, e, around);
    if (e->nargs < 1 || e->nargs > 2)
        return unknown;
    a = extent_of(l, e->args[0], around);
    b = e->nargs == 2 ? extent_of(l, e->args[1], around) : a;
    if (!a.known || !b.known)
        return unknown;
    switch (e->ints[0]) {
    case AR_OP_add: return sum(a, b);
    case AR_OP_subtract: b = negated(b); return b.known ? sum(a, b) : unknown;
    case AR_OP_multiply: return product(a, b);
    case AR_OP_negative: return negated(a);
    case AR_OP_floor_divide: return quotient(a, b);
    case AR_OP_remainder: return remainder_of(a, b);
    case AR_OP_minimum: return between(ar_min64(a.low, b.low), ar_min64(a.high, b.high));
    case AR_OP_maximum: return between(ar_max64(a.low, b.low), ar_max64(a.high, b.high));
    default: return unknown;
    }
}

/* ---- Leaves ---------------------------------------------------------------------------------- */

/* Values of a variable from lo to hi, without hi: one that has none reads nothing. */
static ar_extent of_values(looker *l, arras_expr lo, arras_expr hi, const ar_frame *around)
{
    ar_extent first = extent_of(l, lo, around), end = extent_of(l, hi, around);

    if (!first.known || !end.known)
        return unknown;
    return between(first.low, end.high > first.low ? end.high - 1 : first.low);
}

static ar_extent of_variable(looker *l, arras_expr e, const ar_frame *around)
{
    while (around && (!around->variable || strcmp(around->variable, e->name) != 0))
        around = around->outer;
    return around ? of_values(l, around->lo, around->hi, around->outer) : unknown;
}

/* The place of the best cell is a value of the variable. */
static ar_extent of_reduction(looker *l, arras_expr e, const ar_frame *around)
{
    bool is_place = e->ints[0] == AR_REDUCE_argmin || e->ints[0] == AR_REDUCE_argmax;

    return is_place ? of_values(l, e->args[0], e->args[1], around) : unknown;
}

static ar_extent of_size(const looker *l, arras_expr e)
{
    int64_t value;

    return ar_dim_value(&value, e->graph, e->ints[0], l->space->sizes, NULL) == ARRAS_OK
               ? between(value, value)
               : unknown;
}

/* Depth is limited by AR_MAX_DEPTH. */
static ar_extent extent_of(looker *l, arras_expr e, const ar_frame *around)
{
    if (++l->visits > MOST_VISITS)
        return unknown;
    switch (e->kind) {
    case AR_EXPR_LITERAL: return ar_is_int(e) ? between(e->ints[0], e->ints[0]) : unknown;
    case AR_EXPR_INDEX: return between(l->space->lo[e->ints[0]], l->space->hi[e->ints[0]] - 1);
    case AR_EXPR_VAR: return of_variable(l, e, around);
    case AR_EXPR_SIZE: return of_size(l, e);
    case AR_EXPR_REDUCE: return of_reduction(l, e, around);
    case AR_EXPR_CAST:
        return e->type.dtype == ARRAS_I64 &&
                       ar_dtype_class(e->args[0]->type.dtype) == AR_CLASS_SIGNED
                   ? extent_of(l, e->args[0], around)
                   : unknown;
    case AR_EXPR_OP: return e->type.dtype == ARRAS_I64 ? of_operation(l, e, around) : unknown;
    default: return unknown;
    }
}

ar_extent ar_expr_extent(arras_expr e, const ar_extent_space *space, const ar_frame *around)
{
    looker l = { .space = space };

    return extent_of(&l, e, around);
}

/* ---- Loads ----------------------------------------------------------------------------------- */

static ar_extent clipped(ar_extent x, int64_t n)
{
    ar_extent r = x;

    r.low = ar_min64(n - 1, ar_max64(0, x.low));
    r.high = ar_max64(0, ar_min64(n - 1, x.high));
    if (r.low != x.low || r.high != x.high)
        return between(r.low, r.high);
    return r;
}

/* What an edge rule makes of an index that leaves an axis of n cells. */
static ar_extent inside_axis(ar_extent x, int64_t n, arras_edge_rule rule)
{
    int64_t before = x.low < 0 ? -ar_max64(x.low, -n - 1) : 0;
    int64_t after = ar_max64(0, x.high - (n - 1));
    bool    mirrors = rule == ARRAS_EDGE_REFLECT || rule == ARRAS_EDGE_MIRROR;

    if (before == 0 && after == 0)
        return x;
    if (rule == ARRAS_EDGE_WRAP)
        return around_circle(x, n);
    if (mirrors && (before > n || after > n)) /* and comes back from the other end */
        return between(0, n - 1);
    if (mirrors && before)
        x.high = ar_max64(x.high, before);
    if (mirrors && after)
        x.low = ar_min64(x.low, n - 1 - after);
    return clipped(x, n);
}

ar_extent ar_load_extent(arras_expr load, int axis, int64_t length, const ar_extent_space *space,
                         const ar_frame *around)
{
    ar_extent x = ar_expr_extent(load->args[axis], space, around);

    if (length == 0)
        return between(0, -1);
    if (!x.known)
        return between(0, length - 1);
    return inside_axis(x, length, (arras_edge_rule)load->ints[1 + axis]);
}
