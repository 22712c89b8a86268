/* simplify_index.c -- arithmetic of indices.
 *
 * Sums of multiples are brought to one form, t1*c1 + t2*c2 + ... + c: numbers of 64 bits are a
 * ring, so that nothing changes even where they wrap around.  Quotients and remainders come out of
 * it where it is known that nothing does. */
#include "opt/rewrite.h"

enum { MOST_TERMS = 8 };

typedef struct {
    int        n;
    arras_expr atom[MOST_TERMS]; /* by id */
    uint64_t   factor[MOST_TERMS];
    uint64_t   constant;
    bool       failed; /* too long, or made of other things than indices */
} linear;

/* ---- Linear forms ---------------------------------------------------------------------------- */

static void add_atom(linear *sum, arras_expr atom, uint64_t factor)
{
    int at = 0;

    while (at < sum->n && sum->atom[at]->id < atom->id)
        at++;
    if (at < sum->n && sum->atom[at] == atom) {
        sum->factor[at] += factor;
        return;
    }
    if (sum->n == MOST_TERMS) {
        sum->failed = true;
        return;
    }
    for (int i = sum->n++; i > at; i--)
        sum->atom[i] = sum->atom[i - 1], sum->factor[i] = sum->factor[i - 1];
    sum->atom[at] = atom, sum->factor[at] = factor;
}

/* Sums of other things, of cells for instance, stay as they were written: what they share with
 * others would be taken apart. */
static bool is_atom(arras_expr e)
{
    return e->kind == AR_EXPR_INDEX || e->kind == AR_EXPR_VAR || e->kind == AR_EXPR_SIZE ||
           ar_expr_is(e, AR_OP_floor_divide) || ar_expr_is(e, AR_OP_remainder) ||
           ar_expr_is(e, AR_OP_minimum) || ar_expr_is(e, AR_OP_maximum);
}

/* sum += factor * e.  A form has few levels; others fail soon. */
static void add_expr(linear *sum, arras_expr e, uint64_t factor)
{
    ar_value number;

    if (sum->failed)
        return;
    if (e->type.dtype == ARRAS_I64 && ar_simple_value(&number, e)) {
        sum->constant += factor * (uint64_t)number.i;
    } else if (e->type.dtype != ARRAS_I64 || e->depth > 4 * MOST_TERMS) {
        sum->failed = true;
    } else if (ar_expr_is(e, AR_OP_add) || ar_expr_is(e, AR_OP_subtract)) {
        add_expr(sum, e->args[0], factor);
        add_expr(sum, e->args[1], ar_expr_is(e, AR_OP_add) ? factor : 0 - factor);
    } else if (ar_expr_is(e, AR_OP_negative)) {
        add_expr(sum, e->args[0], 0 - factor);
    } else if (ar_expr_is(e, AR_OP_multiply) && e->args[1]->type.dtype == ARRAS_I64 &&
               ar_simple_value(&number, e->args[1])) {
        add_expr(sum, e->args[0], factor * (uint64_t)number.i);
    } else if (is_atom(e)) {
        add_atom(sum, e, factor);
    } else {
        sum->failed = true;
    }
}

static arras_expr scaled(arras_expr atom, uint64_t factor)
{
    return factor == 1 ? atom
                       : ar_binary(AR_OP_multiply, atom, ar_int(atom->graph, (int64_t)factor));
}

static arras_expr linear_expr(arras_graph *g, const linear *sum)
{
    arras_expr e = NULL;

    for (int i = 0; i < sum->n; i++) {
        arras_expr term;

        if (sum->factor[i] == 0)
            continue;
        term = scaled(sum->atom[i], sum->factor[i]);
        e = e ? ar_binary(AR_OP_add, e, term) : term;
    }
    if (!e)
        return ar_expr_cast(ar_int(g, (int64_t)sum->constant), ARRAS_I64);
    return sum->constant ? ar_binary(AR_OP_add, e, ar_int(g, (int64_t)sum->constant)) : e;
}

/* Atoms that vanish are not evaluated any more: they must not hide an error. */
static bool keeps_errors(const linear *sum)
{
    for (int i = 0; i < sum->n; i++)
        if (sum->factor[i] == 0 && !ar_simple_is_safe(sum->atom[i]))
            return false;
    return true;
}

static arras_expr simple_sum(ar_op op, const arras_expr *args)
{
    linear   sum = { .n = 0 };
    ar_value number;

    if (op == AR_OP_multiply) {
        int literal = ar_simple_value(&number, args[1]) ? 1 : 0;

        if (args[literal]->type.dtype != ARRAS_I64 || !ar_simple_value(&number, args[literal]))
            return NULL;
        add_expr(&sum, args[!literal], (uint64_t)number.i);
    } else if (op == AR_OP_negative) {
        add_expr(&sum, args[0], (uint64_t)-1);
    } else {
        add_expr(&sum, args[0], 1);
        add_expr(&sum, args[1], op == AR_OP_add ? 1 : (uint64_t)-1);
    }
    return sum.failed || !keeps_errors(&sum) ? NULL : linear_expr(args[0]->graph, &sum);
}

/* ---- Quotients and remainders ---------------------------------------------------------------- */

static bool is_divisible(uint64_t factor, int64_t by) { return (int64_t)factor % by == 0; }

/* sum = by * whole + rest, where rest has the terms that are not multiples and 0 <= its number. */
static void divide_terms(linear *whole, linear *rest, const linear *sum, int64_t by)
{
    int64_t constant = (int64_t)sum->constant, part = constant % by;

    part += part < 0 ? by : 0;
    *whole = (linear){ .constant = (uint64_t)((constant - part) / by) };
    *rest = (linear){ .constant = (uint64_t)part };
    for (int i = 0; i < sum->n; i++)
        if (is_divisible(sum->factor[i], by))
            add_atom(whole, sum->atom[i], (uint64_t)((int64_t)sum->factor[i] / by));
        else
            add_atom(rest, sum->atom[i], sum->factor[i]);
}

/* Then the form as whole numbers is what is computed, if that does not wrap around. */
static bool is_moderate(const linear *sum)
{
    const int64_t far = (int64_t)1 << 62, large = (int64_t)1 << 31;
    int64_t       constant = (int64_t)sum->constant;

    for (int i = 0; i < sum->n; i++)
        if ((int64_t)sum->factor[i] >= large || (int64_t)sum->factor[i] <= -large)
            return false;
    return !sum->failed && constant < far && constant > -far;
}

static bool is_zero(const linear *sum) { return sum->n == 0 && sum->constant == 0; }

/* x // by and x % by, by > 0, where no step of x wraps around. */
static arras_expr divided(arras_expr x, int64_t by, bool remainder, ar_place_of at)
{
    linear     sum = { .n = 0 }, whole, rest;
    arras_expr left, quotient;
    int64_t    low, high;

    add_expr(&sum, x, 1);
    if (!is_moderate(&sum) || !ar_index_bounds(&low, &high, x, at.space, at.around))
        return NULL;
    divide_terms(&whole, &rest, &sum, by);
    if (is_zero(&whole))
        return NULL;
    left = linear_expr(x->graph, &rest);
    if (!ar_index_bounds(&low, &high, left, at.space, at.around))
        return NULL;
    if (remainder)
        return low >= 0 && high < by ? left
                                     : ar_binary(AR_OP_remainder, left, ar_int(x->graph, by));
    quotient = linear_expr(x->graph, &whole);
    if (low >= 0 && high < by)
        return keeps_errors(&rest) && ar_simple_is_safe(left) ? quotient : NULL;
    left = ar_binary(AR_OP_floor_divide, left, ar_int(x->graph, by));
    return ar_simple_apply(AR_OP_add, 2, (arras_expr[]){ quotient, left }, at);
}

/* (x // a) // b is x // (a * b). */
static arras_expr divided_twice(arras_expr x, int64_t by)
{
    int64_t product;

    if (!ar_expr_is(x, AR_OP_floor_divide) || !ar_is_int(x->args[1]) || x->args[1]->ints[0] < 1 ||
        !ar_mul64(&product, x->args[1]->ints[0], by))
        return NULL;
    return ar_binary(AR_OP_floor_divide, x->args[0], ar_int(x->graph, product));
}

/* (x % (a * b)) % b is x % b. */
static arras_expr remainder_twice(arras_expr x, int64_t by)
{
    if (!ar_expr_is(x, AR_OP_remainder) || !ar_is_int(x->args[1]) || x->args[1]->ints[0] < by ||
        x->args[1]->ints[0] % by != 0)
        return NULL;
    return ar_binary(AR_OP_remainder, x->args[0], ar_int(x->graph, by));
}

/* Within 0 .. length - 1 already: x % length is x, x // length is 0. */
static arras_expr divided_inside(ar_op op, const arras_expr *args, ar_place_of at)
{
    arras_dim length = args[1]->ints[0];

    if (!ar_index_is_below(args[0], length, at.space, at.around))
        return NULL;
    if (op == AR_OP_remainder)
        return ar_expr_cast(args[0], ARRAS_I64);
    return ar_simple_is_safe(args[0]) ? ar_expr_cast(ar_int(args[0]->graph, 0), ARRAS_I64) : NULL;
}

static arras_expr simple_quotient(ar_op op, const arras_expr *args, ar_place_of at)
{
    bool       remainder = op == AR_OP_remainder;
    arras_expr x = args[0], result = NULL;
    int64_t    by;

    if (x->type.dtype != ARRAS_I64 || x->kind == AR_EXPR_LITERAL)
        return NULL;
    if (args[1]->kind == AR_EXPR_SIZE)
        return divided_inside(op, args, at);
    if (!ar_is_int(args[1]) || args[1]->ints[0] < 1)
        return NULL;
    by = args[1]->ints[0];
    if (by == 1 && (!remainder || ar_simple_is_safe(x)))
        return remainder ? ar_expr_cast(ar_int(x->graph, 0), ARRAS_I64) : x;
    if (!(result = divided_inside(op, args, at)))
        result = remainder ? remainder_twice(x, by) : divided_twice(x, by);
    return result ? result : divided(x, by, remainder, at);
}

/* ---- Comparisons and choices ----------------------------------------------------------------- */

static arras_expr truth(arras_graph *g, bool value)
{
    return ar_expr_cast(ar_int(g, value), ARRAS_BOOL);
}

static arras_expr simple_comparison(ar_op op, const arras_expr *args, ar_place_of at)
{
    bool less = op == AR_OP_less; /* otherwise less_equal: not y < x */
    int  known = less ? ar_index_is_less(args[0], args[1], at.space, at.around)
                      : -ar_index_is_less(args[1], args[0], at.space, at.around);

    if (known == 0 || !ar_simple_is_safe(args[0]) || !ar_simple_is_safe(args[1]))
        return NULL;
    return truth(args[0]->graph, known > 0);
}

static arras_expr simple_choice(ar_op op, const arras_expr *args, ar_place_of at)
{
    int known = ar_index_is_less(args[0], args[1], at.space, at.around), chosen;

    if (known == 0)
        return NULL;
    chosen = (op == AR_OP_minimum) == (known > 0) ? 0 : 1;
    return ar_simple_is_safe(args[!chosen]) ? ar_expr_cast(args[chosen], ARRAS_I64) : NULL;
}

/* Whether there is a chance to know something: cells are not looked into. */
static bool is_index_like(arras_expr e)
{
    return e->type.dtype == ARRAS_I64 && e->kind != AR_EXPR_LOAD && e->kind != AR_EXPR_REDUCE;
}

arras_expr ar_simple_index(ar_op op, const arras_expr *args, ar_place_of at)
{
    if (!is_index_like(args[0]) || (ar_op_arity(op) > 1 && !is_index_like(args[1])))
        return NULL;
    switch (op) {
    case AR_OP_add:
    case AR_OP_subtract:
    case AR_OP_multiply:
    case AR_OP_negative: return simple_sum(op, args);
    case AR_OP_floor_divide:
    case AR_OP_remainder: return simple_quotient(op, args, at);
    case AR_OP_less:
    case AR_OP_less_equal: return simple_comparison(op, args, at);
    case AR_OP_minimum:
    case AR_OP_maximum: return simple_choice(op, args, at);
    default: return NULL;
    }
}
