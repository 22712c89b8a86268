/* tuples.c -- reductions over several variables, in expressions; means and variances there.
 *
 * The range of a variable may depend on those before it, so what is reduced is a set of tuples: one
 * reduction within another, the last variable innermost, takes them row by row.  Most reductions
 * have a value over nothing, which changes no total.  The minimum and the maximum have none: where
 * a range may be empty for some tuples of those before it, the largest or the smallest number of
 * the type stands for it, and only if that is what comes out it is asked whether there was a cell
 * at all.  A place is found variable by variable: the first whose cells have the best one. */
#include "api/compose.h"

#include "ir/ir.h"

#include <math.h>
#include <string.h>

enum { MOST_VARIABLES = 64 };

typedef struct {
    arras_graph       *g;
    int                n;
    const char *const *vars;
    arras_expr         lo[MOST_VARIABLES], hi[MOST_VARIABLES]; /* i64 */
    bool               may_be_empty[MOST_VARIABLES];
    int                last; /* of these; -1: none */
} tuples;

/* ---- Ranges ---------------------------------------------------------------------------------- */

/* As reductions take their bounds: what is too large is the largest number. */
static arras_expr as_i64(arras_expr e)
{
    if (e->type.dtype == ARRAS_U64)
        e = apply2(ARRAS_OP_minimum, e, arras_expr_int(e->graph, INT64_MAX));
    return e->type.dtype == ARRAS_I64 ? e : arras_expr_cast(e, ARRAS_I64);
}

/* lo + 3, as windows end. */
static bool is_beyond(arras_expr hi, arras_expr lo)
{
    for (int i = 0; i < 2 && hi->kind == AR_EXPR_OP && hi->ints[0] == AR_OP_add; i++)
        if (hi->args[i] == lo && ar_is_int(hi->args[!i]) && hi->args[!i]->ints[0] > 0)
            return true;
    return false;
}

static void look_for_empty_ranges(tuples *t)
{
    const ar_space space = { .g = t->g };
    ar_frame       frames[MOST_VARIABLES];

    t->last = -1;
    for (int k = 0; k < t->n; k++) {
        const ar_frame *around = k ? &frames[k - 1] : NULL;

        t->may_be_empty[k] = !is_beyond(t->hi[k], t->lo[k]) &&
                             ar_index_is_less(t->lo[k], t->hi[k], &space, around) != 1;
        if (t->may_be_empty[k])
            t->last = k;
        frames[k] =
            (ar_frame){ .outer = around, .variable = t->vars[k], .lo = t->lo[k], .hi = t->hi[k] };
    }
}

static arras_expr check_variables(arras_graph *g, const char *what, int n, const char *const *vars,
                                  const arras_expr *lo, const arras_expr *hi)
{
    if (n < 1 || n > MOST_VARIABLES)
        return ar_expr_poison(g, ARRAS_ELIMIT, "%s over %d variables; there must be 1 to %d", what,
                              n, MOST_VARIABLES);
    if (!vars || !lo || !hi)
        return ar_expr_poison(g, ARRAS_EINVAL, "%s: %s are NULL", what,
                              vars ? "the bounds" : "the variables");
    for (int k = 0; k < n; k++)
        for (int j = 0; j < k; j++)
            if (vars[j] && vars[k] && strcmp(vars[j], vars[k]) == 0)
                return ar_expr_poison(g, ARRAS_ENAME, "%s: two variables are called %s", what,
                                      vars[k]);
    return NULL;
}

/* NULL: all is well.  What is wrong with bounds and bodies, reductions themselves say: of the
 * innermost first. */
static arras_expr open_tuples(tuples *t, int reduction, const char *what, int n,
                              const char *const *vars, const arras_expr *lo, const arras_expr *hi,
                              arras_expr body)
{
    arras_expr bad = check_variables(body ? body->graph : NULL, what, n, vars, lo, hi);

    *t = (tuples){ .n = n, .vars = vars };
    for (int k = n - 1; !bad && k >= 0; k--) {
        arras_expr e = arras_expr_reduce(reduction, vars[k], lo[k], hi[k], body);

        if (arras_expr_error(e))
            return e;
        t->lo[k] = as_i64(lo[k]), t->hi[k] = as_i64(hi[k]);
    }
    if (bad)
        return bad;
    t->g = body->graph;
    look_for_empty_ranges(t);
    return NULL;
}

/* Of the variables from `first` to `last`, whatever ranges are empty. */
static arras_expr nested(const tuples *t, int reduction, int first, int last, arras_expr body)
{
    for (int k = last; k >= first; k--) {
        body = arras_expr_reduce(reduction, t->vars[k], t->lo[k], t->hi[k], body);
        reduction = (int)ar_reduction_of_results((ar_reduction)reduction);
    }
    return body;
}

static arras_expr choose(arras_expr condition, arras_expr yes, arras_expr no)
{
    return apply3(ARRAS_OP_where, condition, yes, no);
}

static arras_expr is_not_empty(const tuples *t, int k)
{
    return apply2(ARRAS_OP_less, t->lo[k], t->hi[k]);
}

/* ---- How many -------------------------------------------------------------------------------- */

static arras_expr difference(arras_expr lo, arras_expr hi)
{
    int64_t length;

    return ar_is_int(lo) && ar_is_int(hi) && ar_sub64(&length, hi->ints[0], lo->ints[0])
               ? arras_expr_int(lo->graph, length)
               : apply2(ARRAS_OP_subtract, hi, lo);
}

static arras_expr product(arras_expr x, arras_expr y)
{
    int64_t product;

    return ar_is_int(x) && ar_is_int(y) && ar_mul64(&product, x->ints[0], y->ints[0])
               ? arras_expr_int(x->graph, product)
               : apply2(ARRAS_OP_multiply, x, y);
}

static arras_expr count_from(const tuples *t, int k);

/* Tuples whose variable number k is one of `length` values from lo to hi. */
static arras_expr count_between(const tuples *t, int k, arras_expr lo, arras_expr hi,
                                arras_expr length)
{
    arras_expr inner = count_from(t, k + 1);

    return ar_expr_depends(inner, t->vars[k])
               ? arras_expr_reduce(ARRAS_REDUCE_sum, t->vars[k], lo, hi, inner)
               : product(length, inner);
}

static arras_expr length_of(const tuples *t, int k)
{
    arras_expr length = difference(t->lo[k], t->hi[k]);

    return t->may_be_empty[k] ? choose(is_not_empty(t, k), length, arras_expr_int(t->g, 0))
                              : length;
}

/* Tuples of the variables from number k on, for one tuple of those before. */
static arras_expr count_from(const tuples *t, int k)
{
    return k == t->n ? arras_expr_int(t->g, 1)
                     : count_between(t, k, t->lo[k], t->hi[k], length_of(t, k));
}

/* ---- The best cell --------------------------------------------------------------------------- */

/* Not better than any number of the type. */
static arras_expr worst(arras_graph *g, bool is_min, arras_dtype dtype)
{
    int        unused = 64 - 8 * (int)ar_dtype_size(dtype);
    double     infinite = is_min ? INFINITY : -INFINITY;
    arras_expr e;

    switch (ar_dtype_class(dtype)) {
    case AR_CLASS_REAL: e = arras_expr_float(g, infinite); break;
    case AR_CLASS_COMPLEX: e = arras_expr_complex(g, infinite, infinite); break;
    case AR_CLASS_SIGNED:
        e = arras_expr_int(g, (is_min ? INT64_MAX : INT64_MIN) / ((int64_t)1 << unused));
        break;
    default: e = arras_expr_int(g, is_min ? (dtype == ARRAS_BOOL ? 1 : -1) : 0);
    }
    return arras_expr_cast(e, dtype);
}

static bool is_place(int reduction)
{
    return reduction == ARRAS_REDUCE_argmin || reduction == ARRAS_REDUCE_argmax;
}

static bool is_smallest(int reduction)
{
    return reduction == ARRAS_REDUCE_min || reduction == ARRAS_REDUCE_argmin;
}

typedef struct {
    const tuples *t;
    int           reduction; /* min or max */
    arras_expr    body, worst;
} best;

static arras_expr best_within(const best *b, int k);

/* The best cell of the variables from number k on: an error if that range is empty, the worst
 * number if all of those behind it are. */
static arras_expr best_from(const best *b, int k)
{
    return nested(b->t, b->reduction, k, k, best_within(b, k));
}

/* The best cell for one value of variable number k. */
static arras_expr best_within(const best *b, int k)
{
    const tuples *t = b->t;
    arras_expr    cell;

    if (k == t->n - 1)
        return b->body;
    cell = best_from(b, k + 1);
    return t->may_be_empty[k + 1] ? choose(is_not_empty(t, k + 1), cell, b->worst) : cell;
}

/* `value`, but an error if there is no tuple: that of the first empty range of the reductions as
 * they are written. */
static arras_expr unless_empty(const tuples *t, int reduction, arras_expr value)
{
    arras_expr some = nested(t, ARRAS_REDUCE_any, 0, t->last - 1, is_not_empty(t, t->last));

    return choose(some, value, nested(t, reduction, 0, t->last, value));
}

static best best_of(const tuples *t, int reduction, arras_expr body)
{
    bool is_min = is_smallest(reduction);

    return (best){ t, is_min ? ARRAS_REDUCE_min : ARRAS_REDUCE_max,
                   arras_expr_cast(body, body->type.dtype), worst(t->g, is_min, body->type.dtype) };
}

/* That is asked only where the best cell is the worst number, and beside the total: outside of
 * any choice it may be computed in parts. */
static arras_expr best_cell(const tuples *t, int reduction, arras_expr body)
{
    best       b = best_of(t, reduction, body);
    arras_expr cell = best_from(&b, 0), check;

    if (t->last < 1)
        return cell;
    check =
        choose(apply2(ARRAS_OP_equal, cell, b.worst), unless_empty(t, reduction, b.worst), b.worst);
    return apply2(reduction == ARRAS_REDUCE_min ? ARRAS_OP_minimum : ARRAS_OP_maximum, cell, check);
}

/* ---- Its place ------------------------------------------------------------------------------- */

/* e for one value of variable number k: a total of one cell. */
static arras_expr at_value(const tuples *t, int reduction, int k, arras_expr value, arras_expr e)
{
    return arras_expr_reduce(reduction, t->vars[k], value,
                             apply2(ARRAS_OP_add, value, arras_expr_int(t->g, 1)), e);
}

/* The number of the best tuple of the variables from number k on, if its cell is better than the
 * worst number: as many tuples as there are before the first best value, and those before it of
 * that value. */
static arras_expr place_from(const best *b, int reduction, int k)
{
    const tuples *t = b->t;
    arras_expr    value = nested(t, reduction, k, k, best_within(b, k)), inner;

    if (k == t->n - 1)
        return apply2(ARRAS_OP_subtract, value, t->lo[k]);
    inner = at_value(t, ARRAS_REDUCE_sum, k, value, place_from(b, reduction, k + 1));
    return apply2(ARRAS_OP_add, count_between(t, k, t->lo[k], value, difference(t->lo[k], value)),
                  inner);
}

/* If the best cell is the worst number all cells are, and the first one is the first of them. */
static arras_expr best_place(const tuples *t, int reduction, arras_expr body)
{
    best       b = best_of(t, reduction, body);
    arras_expr place = place_from(&b, reduction, 0), value, cell;

    if (t->last < 1)
        return place;
    value = nested(t, reduction, 0, 0, best_within(&b, 0));
    cell = at_value(t, b.reduction, 0, value, best_within(&b, 0));
    return choose(apply2(ARRAS_OP_equal, cell, b.worst),
                  unless_empty(t, reduction, arras_expr_int(t->g, 0)), place);
}

/* ---- What is asked for ----------------------------------------------------------------------- */

arras_expr arras_expr_reduce_over(int reduction, int n, const char *const *vars,
                                  const arras_expr *lo, const arras_expr *hi, arras_expr body)
{
    const char *name = arras_reduction_name(reduction);
    tuples      t;
    arras_expr  bad = open_tuples(&t, reduction, name ? name : "reduce", n, vars, lo, hi, body);

    if (bad)
        return bad;
    if (n == 1)
        return arras_expr_reduce(reduction, vars[0], lo[0], hi[0], body);
    if (is_place(reduction))
        return best_place(&t, reduction, body);
    if (reduction == ARRAS_REDUCE_min || reduction == ARRAS_REDUCE_max)
        return best_cell(&t, reduction, body);
    return nested(&t, reduction, 0, n - 1, body);
}

/* As in NumPy: means of integers and bools are f64. */
static arras_expr as_inexact(arras_expr x)
{
    return arras_expr_cast(x, x->type.dtype < ARRAS_F32 ? ARRAS_F64 : x->type.dtype);
}

/* total / count in the type of the total. */
static arras_expr over_count(arras_expr total, arras_expr count)
{
    return apply2(ARRAS_OP_divide, total, arras_expr_cast(count, ar_dtype_real(total->type.dtype)));
}

static arras_expr mean_of(const tuples *t, arras_expr x)
{
    return over_count(nested(t, ARRAS_REDUCE_sum, 0, t->n - 1, x), count_from(t, 0));
}

/* abs(x) * abs(x), without a root on the way. */
static arras_expr squared(arras_expr x)
{
    arras_expr conjugate;

    if (ar_dtype_class(x->type.dtype) != AR_CLASS_COMPLEX)
        return apply2(ARRAS_OP_multiply, x, x);
    conjugate = arras_expr_apply(ARRAS_OP_conj, 1, &x);
    x = apply2(ARRAS_OP_multiply, x, conjugate);
    return arras_expr_apply(ARRAS_OP_real, 1, &x);
}

static arras_expr var_of(const tuples *t, int64_t ddof, arras_expr x)
{
    arras_expr away = apply2(ARRAS_OP_subtract, x, mean_of(t, x));
    arras_expr total = nested(t, ARRAS_REDUCE_sum, 0, t->n - 1, squared(away));
    arras_expr count = apply2(ARRAS_OP_subtract, count_from(t, 0), arras_expr_int(t->g, ddof));

    if (ddof != 0)
        count = apply2(ARRAS_OP_maximum, count, arras_expr_int(t->g, 0));
    return over_count(total, ddof != 0 ? count : count_from(t, 0));
}

arras_expr arras_expr_mean_over(int n, const char *const *vars, const arras_expr *lo,
                                const arras_expr *hi, arras_expr body)
{
    tuples     t;
    arras_expr bad = open_tuples(&t, ARRAS_REDUCE_sum, "mean", n, vars, lo, hi, body);

    return bad ? bad : mean_of(&t, as_inexact(body));
}

arras_expr arras_expr_var_over(int n, const char *const *vars, const arras_expr *lo,
                               const arras_expr *hi, int64_t ddof, arras_expr body)
{
    tuples     t;
    arras_expr bad = open_tuples(&t, ARRAS_REDUCE_sum, "var", n, vars, lo, hi, body);

    return bad ? bad : var_of(&t, ddof, as_inexact(body));
}

arras_expr arras_expr_std_over(int n, const char *const *vars, const arras_expr *lo,
                               const arras_expr *hi, int64_t ddof, arras_expr body)
{
    arras_expr var = arras_expr_var_over(n, vars, lo, hi, ddof, body);

    return arras_expr_apply(ARRAS_OP_sqrt, 1, &var);
}
