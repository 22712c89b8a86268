/* extent.c -- between which numbers an index lies in the cells of a box, and so which cells of an
 * array a box of results reads.  The numeric sister of region.c: boxes and sizes are known.  The
 * expression is walked once; of every box the few operations that were found are computed. */
#include "ir/ir.h"

#include <string.h>

/* An index with more counts as unknown. */
enum { MOST_OPS = 256 };

enum {
    NOTHING,
    NUMBER,
    INDEX,
    VALUES,
    ADD,
    SUBTRACT,
    MULTIPLY,
    NEGATE,
    QUOTIENT,
    REMAINDER,
    MINIMUM,
    MAXIMUM,
    CHOOSE_LESS,
    CHOOSE_LESS_EQUAL,
    JOIN
};

static const ar_extent unknown = { .known = false };

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

/* 1 or 0 where a < b, or a <= b, in every cell, or in none; -1: not known. */
static int truth_of(ar_extent a, ar_extent b, bool strict)
{
    if (!a.known || !b.known)
        return -1;
    if (a.high < b.low || (!strict && a.high == b.low))
        return 1;
    return a.low > b.high || (strict && a.low == b.high) ? 0 : -1;
}

static ar_extent chosen(int truth, ar_extent yes, ar_extent no)
{
    if (truth >= 0)
        return truth ? yes : no;
    return yes.known && no.known ? joined(yes, no) : unknown;
}

/* Values of a variable from lo to hi, without hi: one that has none reads nothing. */
static ar_extent values(ar_extent first, ar_extent end)
{
    return between(first.low, end.high > first.low ? end.high - 1 : first.low);
}

static ar_extent of_two(int what, ar_extent a, ar_extent b)
{
    if (!a.known || !b.known)
        return unknown;
    switch (what) {
    case VALUES: return values(a, b);
    case ADD: return sum(a, b);
    case SUBTRACT: b = negated(b); return b.known ? sum(a, b) : unknown;
    case MULTIPLY: return product(a, b);
    case NEGATE: return negated(a);
    case QUOTIENT: return quotient(a, b);
    case REMAINDER: return remainder_of(a, b);
    case MINIMUM: return between(ar_min64(a.low, b.low), ar_min64(a.high, b.high));
    case MAXIMUM: return between(ar_max64(a.low, b.low), ar_max64(a.high, b.high));
    default: return joined(a, b);
    }
}

ar_extent ar_extent_of(const ar_extent_code *code, const int64_t *lo, const int64_t *hi)
{
    ar_extent v[MOST_OPS];

    for (int i = 0; i < code->n; i++) {
        const ar_extent_op *op = &code->ops[i];

        switch (op->what) {
        case NOTHING: v[i] = unknown; break;
        case NUMBER: v[i] = between(op->number, op->number); break;
        case INDEX: v[i] = between(lo[op->number], hi[op->number] - 1); break;
        case CHOOSE_LESS:
        case CHOOSE_LESS_EQUAL:
            v[i] =
                chosen(truth_of(v[op->a], v[op->b], op->what == CHOOSE_LESS), v[op->c], v[op->d]);
            break;
        default: v[i] = of_two(op->what, v[op->a], v[op->b]);
        }
    }
    return code->n > 0 ? v[code->n - 1] : unknown;
}

/* ---- From expressions ------------------------------------------------------------------------ */

/* An expression within a frame has one value. */
typedef struct {
    arras_expr      e;
    const ar_frame *around;
} place;

enum { UNKNOWN = -1 };

typedef struct {
    const int64_t *sizes;
    int            n, nplaces;
    bool           full;
    ar_extent_op   ops[MOST_OPS];
    place          places[MOST_OPS];
    int            values[MOST_OPS]; /* of the places; UNKNOWN: it has none */
} compiler;

static int compile(compiler *c, arras_expr e, const ar_frame *around);

static int emit(compiler *c, ar_extent_op op)
{
    if (c->n == MOST_OPS) {
        c->full = true;
        return UNKNOWN;
    }
    c->ops[c->n] = op;
    return c->n++;
}

static int emit_number(compiler *c, int64_t number)
{
    return emit(c, (ar_extent_op){ .what = NUMBER, .number = number });
}

static int emit_two(compiler *c, int what, int a, int b)
{
    return a < 0 || b < 0 ? UNKNOWN
                          : emit(c, (ar_extent_op){ .what = (uint8_t)what, .a = a, .b = b });
}

/* What is not known of a comparison is no harm: then either may be. */
static int compile_choice(compiler *c, arras_expr e, const ar_frame *around)
{
    arras_expr test = e->args[0];
    bool       less = test->kind == AR_EXPR_OP && test->ints[0] == AR_OP_less;
    bool       equal = test->kind == AR_EXPR_OP && test->ints[0] == AR_OP_less_equal;
    int        a = less || equal ? compile(c, test->args[0], around) : UNKNOWN;
    int        b = less || equal ? compile(c, test->args[1], around) : UNKNOWN;
    int        yes = compile(c, e->args[1], around), no = compile(c, e->args[2], around);

    if (a < 0 || b < 0)
        return emit_two(c, JOIN, yes, no);
    if (yes < 0 && no < 0)
        return UNKNOWN;
    yes = yes < 0 ? emit(c, (ar_extent_op){ .what = NOTHING }) : yes;
    no = no < 0 ? emit(c, (ar_extent_op){ .what = NOTHING }) : no;
    return emit(c, (ar_extent_op){ less ? CHOOSE_LESS : CHOOSE_LESS_EQUAL, a, b, yes, no, 0 });
}

static int operation_of(arras_expr e)
{
    switch (e->ints[0]) {
    case AR_OP_add: return ADD;
    case AR_OP_subtract: return SUBTRACT;
    case AR_OP_multiply: return MULTIPLY;
    case AR_OP_negative: return NEGATE;
    case AR_OP_floor_divide: return QUOTIENT;
    case AR_OP_remainder: return REMAINDER;
    case AR_OP_minimum: return MINIMUM;
    case AR_OP_maximum: return MAXIMUM;
    default: return UNKNOWN;
    }
}

static int compile_operation(compiler *c, arras_expr e, const ar_frame *around)
{
    int what = operation_of(e), a;

    if (e->ints[0] == AR_OP_where)
        return compile_choice(c, e, around);
    if (what < 0)
        return UNKNOWN;
    a = compile(c, e->args[0], around);
    return emit_two(c, what, a, e->nargs == 2 ? compile(c, e->args[1], around) : a);
}

static int compile_values(compiler *c, arras_expr lo, arras_expr hi, const ar_frame *around)
{
    int first = compile(c, lo, around);

    return emit_two(c, VALUES, first, compile(c, hi, around));
}

static int compile_variable(compiler *c, arras_expr e, const ar_frame *around)
{
    while (around && (!around->variable || strcmp(around->variable, e->name) != 0))
        around = around->outer;
    return around ? compile_values(c, around->lo, around->hi, around->outer) : UNKNOWN;
}

/* The place of the best cell is a value of the variable. */
static int compile_reduction(compiler *c, arras_expr e, const ar_frame *around)
{
    bool is_place = e->ints[0] == AR_REDUCE_argmin || e->ints[0] == AR_REDUCE_argmax;

    return is_place ? compile_values(c, e->args[0], e->args[1], around) : UNKNOWN;
}

static int compile_size(compiler *c, arras_expr e)
{
    int64_t value;

    return ar_dim_value(&value, e->graph, e->ints[0], c->sizes, NULL) == ARRAS_OK
               ? emit_number(c, value)
               : UNKNOWN;
}

/* Depth is limited by AR_MAX_DEPTH. */
static int compile_new(compiler *c, arras_expr e, const ar_frame *around)
{
    switch (e->kind) {
    case AR_EXPR_LITERAL: return ar_is_int(e) ? emit_number(c, e->ints[0]) : UNKNOWN;
    case AR_EXPR_INDEX: return emit(c, (ar_extent_op){ .what = INDEX, .number = e->ints[0] });
    case AR_EXPR_VAR: return compile_variable(c, e, around);
    case AR_EXPR_SIZE: return compile_size(c, e);
    case AR_EXPR_REDUCE: return compile_reduction(c, e, around);
    case AR_EXPR_CAST:
        return e->type.dtype == ARRAS_I64 &&
                       ar_dtype_class(e->args[0]->type.dtype) == AR_CLASS_SIGNED
                   ? compile(c, e->args[0], around)
                   : UNKNOWN;
    case AR_EXPR_OP: return e->type.dtype == ARRAS_I64 ? compile_operation(c, e, around) : UNKNOWN;
    default: return UNKNOWN;
    }
}

static int compile(compiler *c, arras_expr e, const ar_frame *around)
{
    int value;

    for (int i = 0; i < c->nplaces; i++)
        if (c->places[i].e == e && c->places[i].around == around)
            return c->values[i];
    value = c->full ? UNKNOWN : compile_new(c, e, around);
    if (c->nplaces == MOST_OPS)
        c->full = true;
    if (c->full)
        return UNKNOWN;
    c->places[c->nplaces] = (place){ e, around };
    c->values[c->nplaces++] = value;
    return value;
}

bool ar_extent_compile(ar_extent_code *out, arras_expr e, const int64_t *sizes,
                       const ar_frame *around, ar_arena *arena)
{
    compiler *c = ar_alloc(1, sizeof *c);
    int       value;

    *out = (ar_extent_code){ 0 };
    if (!c)
        return false;
    c->sizes = sizes;
    value = compile(c, e, around);
    if (value >= 0 && !c->full) { /* what comes later is not of it */
        out->ops = ar_arena_copy(arena, c->ops, (size_t)value + 1, sizeof *c->ops);
        out->n = out->ops ? value + 1 : 0;
    }
    ar_free(c);
    return value < 0 || out->n > 0;
}

/* ---- Edges ----------------------------------------------------------------------------------- */

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

ar_extent ar_extent_within(ar_extent index, int64_t length, arras_edge_rule rule)
{
    if (length == 0)
        return between(0, -1);
    return index.known ? inside_axis(index, length, rule) : between(0, length - 1);
}
