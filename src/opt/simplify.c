/* simplify.c -- expressions that are cheaper and give the same bits: IEEE rules are kept, and what
 * may go wrong still does.  Operands that may be swapped have one order, so that x + y and y + x
 * are one expression. */
#include "opt/opt.h"

#include "opt/rewrite.h"

#include <math.h>
#include <stdlib.h>

typedef struct {
    ar_op        op;
    int          n;
    arras_expr   args[AR_MAX_ARITY];
    ar_signature s;
    ar_class class;               /* of the type computed in */
    ar_value value[AR_MAX_ARITY]; /* of operands that are numbers, in the operand's type */
    bool     number[AR_MAX_ARITY];
} operation;

/* ---- Numbers --------------------------------------------------------------------------------- */

static void find_numbers(operation *o)
{
    for (int i = 0; i < o->n; i++) {
        ar_value own;

        o->value[i] = (ar_value){ .bits = { 0, 0 } };
        o->number[i] = ar_simple_value(&own, o->args[i]);
        if (o->number[i])
            ar_cell_cast(o->s.operand[i], &o->value[i], o->args[i]->type.dtype, &own);
    }
}

static arras_expr fold(const operation *o)
{
    ar_value result = { .bits = { 0, 0 } };

    for (int i = 0; i < o->n; i++)
        if (!o->number[i])
            return NULL;
    ar_op_value(o->op, o->s.compute)(&result, &o->value[0], &o->value[1], &o->value[2]);
    return ar_simple_number(o->args[0]->graph, o->s.result.dtype, &result);
}

static double real_value(const operation *o, int i)
{
    double x;

    ar_cell_cast(ARRAS_F64, &x, o->s.operand[i], &o->value[i]);
    return x;
}

/* Complex numbers are left alone: a product with 1 makes nan of infinities. */
static bool is_real_number(const operation *o, int i, double number)
{
    return o->number[i] && o->class != AR_CLASS_COMPLEX && o->class != AR_CLASS_BOOL &&
           real_value(o, i) == number && signbit(real_value(o, i)) == signbit(number);
}

static arras_expr operand(const operation *o, int i)
{
    return ar_simple_cast(o->args[i], o->s.result.dtype);
}

static arras_expr of_two(ar_op op, arras_expr x, arras_expr y, ar_place_of at)
{
    return ar_simple_apply(op, 2, (arras_expr[]){ x, y }, at);
}

/* ---- Sums ------------------------------------------------------------------------------------ */

static bool is_integer(const operation *o)
{
    return o->class == AR_CLASS_SIGNED || o->class == AR_CLASS_UNSIGNED;
}

/* Then x + 0.0 is x. */
static bool is_never_minus_zero(arras_expr x)
{
    return (x->kind == AR_EXPR_CAST && ar_dtype_class(x->args[0]->type.dtype) < AR_CLASS_REAL) ||
           ar_dtype_class(x->type.dtype) < AR_CLASS_REAL || ar_expr_is(x, AR_OP_abs) ||
           ar_expr_is(x, AR_OP_exp) || (ar_expr_is(x, AR_OP_multiply) && x->args[0] == x->args[1]);
}

static bool is_negated(const operation *o, int i)
{
    return ar_expr_is(o->args[i], AR_OP_negative) && o->args[i]->type.dtype == o->s.compute;
}

static arras_expr simple_add(const operation *o, ar_place_of at)
{
    for (int i = 0; i < 2; i++) {
        bool zero = is_real_number(o, i, 0.0);

        if (is_real_number(o, i, -0.0) && o->class == AR_CLASS_REAL)
            return operand(o, !i);
        if (zero && (is_integer(o) || is_never_minus_zero(o->args[!i])))
            return operand(o, !i);
        if (is_negated(o, i) && o->args[!i]->type.dtype == o->s.compute)
            return of_two(AR_OP_subtract, o->args[!i], o->args[i]->args[0], at);
    }
    return NULL;
}

static arras_expr simple_subtract(const operation *o, ar_place_of at)
{
    if (is_real_number(o, 1, 0.0))
        return operand(o, 0);
    if (is_negated(o, 1) && o->args[0]->type.dtype == o->s.compute)
        return of_two(AR_OP_add, o->args[0], o->args[1]->args[0], at);
    return NULL;
}

/* ---- Products -------------------------------------------------------------------------------- */

static arras_expr simple_multiply(const operation *o, ar_place_of at)
{
    for (int i = 0; i < 2; i++) {
        if (is_real_number(o, i, 1))
            return operand(o, !i);
        if (is_real_number(o, i, -1))
            return ar_simple_apply(AR_OP_negative, 1, (arras_expr[]){ operand(o, !i) }, at);
        if (is_integer(o) && is_real_number(o, i, 0.0) && ar_simple_is_safe(o->args[!i]))
            return operand(o, i);
    }
    return NULL;
}

/* A power of two, so far from the ends of the type that its inverse is a number too. */
static bool is_exactly_invertible(const operation *o, int i)
{
    int exponent, most = o->s.compute == ARRAS_F32 ? 100 : 1000;

    return o->number[i] && o->class == AR_CLASS_REAL && isfinite(real_value(o, i)) &&
           fabs(frexp(real_value(o, i), &exponent)) == 0.5 && abs(exponent) < most;
}

static arras_expr simple_divide(const operation *o, ar_place_of at)
{
    double inverse;

    if (is_real_number(o, 1, 1))
        return operand(o, 0);
    if (!is_exactly_invertible(o, 1))
        return NULL;
    inverse = 1 / real_value(o, 1);
    return of_two(AR_OP_multiply, operand(o, 0),
                  ar_expr_literal(o->args[0]->graph, ARRAS_F64, (ar_value){ .f = inverse }), at);
}

/* ---- Powers ---------------------------------------------------------------------------------- */

static arras_expr untyped(const operation *o, double x)
{
    return ar_expr_literal(o->args[0]->graph, ARRAS_F64, (ar_value){ .f = x });
}

/* Of -0 it is 0, of -inf inf, as C has it for powers. */
static arras_expr root_of(const operation *o, arras_expr x, ar_place_of at)
{
    arras_expr lowest = of_two(AR_OP_equal, x, untyped(o, -INFINITY), at);
    arras_expr unsigned_zero = of_two(AR_OP_add, x, untyped(o, 0), at);
    arras_expr root = ar_simple_apply(AR_OP_sqrt, 1, &unsigned_zero, at);

    return ar_simple_apply(AR_OP_where, 3, (arras_expr[]){ lowest, untyped(o, INFINITY), root },
                           at);
}

static arras_expr inverse_of(const operation *o, arras_expr x, ar_place_of at)
{
    return of_two(AR_OP_divide, untyped(o, 1), x, at);
}

/* The same as simple_power of scalar_kit.h, so that it does not matter where an exponent is known.
 */
static arras_expr simple_real_pow(const operation *o, double exponent, ar_place_of at)
{
    arras_expr x = operand(o, 0);

    if (exponent == -1)
        return inverse_of(o, x, at);
    if (exponent == -2) {
        x = inverse_of(o, x, at);
        return of_two(AR_OP_multiply, x, x, at);
    }
    if (exponent == 0.5)
        return root_of(o, x, at);
    if (exponent == -0.5)
        return inverse_of(o, root_of(o, x, at), at);
    if (exponent == 1.5)
        return of_two(AR_OP_multiply, ar_simple_apply(AR_OP_abs, 1, &x, at), root_of(o, x, at), at);
    return NULL;
}

/* The exponent; nan where it is not a number, or not a real one. */
static double exponent_of(const operation *o)
{
    double parts[2];

    if (!o->number[1])
        return NAN;
    ar_cell_cast(ARRAS_C128, parts, o->s.operand[1], &o->value[1]);
    return parts[1] == 0 ? parts[0] : NAN;
}

/* Of complex numbers, 0 to any of these powers has no minus signs. */
static arras_expr product_of(const operation *o, int factors, ar_place_of at)
{
    arras_expr x = operand(o, 0), square = of_two(AR_OP_multiply, x, x, at), zero = untyped(o, 0);
    arras_expr result =
        factors == 2 ? square : of_two(AR_OP_multiply, factors == 3 ? x : square, square, at);

    if (o->class != AR_CLASS_COMPLEX)
        return result;
    return ar_simple_apply(AR_OP_where, 3,
                           (arras_expr[]){ of_two(AR_OP_equal, x, zero, at), zero, result }, at);
}

static arras_expr simple_pow(const operation *o, ar_place_of at)
{
    double exponent = exponent_of(o);

    if (exponent == 2 || exponent == 3 || exponent == 4)
        return product_of(o, (int)exponent, at);
    if (o->class == AR_CLASS_COMPLEX)
        return NULL;
    if (exponent == 0 && ar_simple_is_safe(o->args[0]))
        return ar_simple_cast(untyped(o, 1), o->s.result.dtype);
    if (exponent == 1)
        return operand(o, 0);
    return o->class == AR_CLASS_REAL ? simple_real_pow(o, exponent, at) : NULL;
}

/* ---- Signs, logic, choice -------------------------------------------------------------------- */

static arras_expr simple_negative(const operation *o)
{
    return ar_expr_is(o->args[0], AR_OP_negative) ? o->args[0]->args[0] : NULL;
}

static arras_expr simple_abs(const operation *o, ar_place_of at)
{
    if (ar_expr_is(o->args[0], AR_OP_abs))
        return o->args[0];
    if (ar_expr_is(o->args[0], AR_OP_negative) && o->class == AR_CLASS_REAL)
        return ar_simple_apply(AR_OP_abs, 1, o->args[0]->args, at);
    return NULL;
}

static arras_expr simple_not(const operation *o)
{
    return ar_expr_is(o->args[0], AR_OP_logical_not)
               ? ar_simple_cast(o->args[0]->args[0], ARRAS_BOOL)
               : NULL;
}

static arras_expr simple_logic(const operation *o)
{
    bool either = o->op == AR_OP_logical_or;

    for (int i = 0; i < 2; i++) {
        if (!o->number[i])
            continue;
        if (o->value[i].b != either)
            return operand(o, !i);
        if (ar_simple_is_safe(o->args[!i]))
            return operand(o, i);
    }
    return NULL;
}

/* Only the branch that is taken counts. */
static arras_expr simple_where(const operation *o)
{
    if (o->number[0])
        return operand(o, o->value[0].b ? 1 : 2);
    return o->args[1] == o->args[2] && ar_simple_is_safe(o->args[0]) ? operand(o, 1) : NULL;
}

/* ---- Casts ----------------------------------------------------------------------------------- */

/* Every value of one type is a value of the other. */
static bool holds_all(arras_dtype to, arras_dtype from)
{
    return from == to || ar_promote((ar_type){ from, false }, (ar_type){ to, false }).dtype == to;
}

static bool is_whole(arras_dtype dtype)
{
    return ar_dtype_is_integer(dtype) || dtype == ARRAS_BOOL;
}

/* Whether a cast by way of `between` is the cast itself.  Promotion holds all values but for those
 * of 64-bit integers in reals; and real numbers that become integers saturate, integers wrap. */
static bool is_detour(arras_dtype from, arras_dtype between, arras_dtype to)
{
    if (is_whole(from) && !is_whole(between) && (ar_dtype_size(from) == 8 || !holds_all(to, from)))
        return false;
    if (is_whole(from) && ar_dtype_is_integer(between) && ar_dtype_is_integer(to) &&
        ar_dtype_size(between) >= ar_dtype_size(to))
        return true;
    return holds_all(between, from);
}

arras_expr ar_simple_cast(arras_expr x, arras_dtype dtype)
{
    ar_value value, result = { .bits = { 0, 0 } };

    if (x->kind != AR_EXPR_CAST)
        return ar_expr_cast(x, dtype);
    if (ar_simple_value(&value, x)) {
        ar_cell_cast(dtype, &result, x->type.dtype, &value);
        return ar_simple_number(x->graph, dtype, &result);
    }
    if (!x->args[0]->type.weak && is_detour(x->args[0]->type.dtype, x->type.dtype, dtype))
        return ar_simple_cast(x->args[0], dtype);
    return ar_expr_cast(x, dtype);
}

/* ---- Operations ------------------------------------------------------------------------------ */

static bool commutes(const operation *o)
{
    switch (o->op) {
    case AR_OP_add:
    case AR_OP_multiply:
    case AR_OP_equal:
    case AR_OP_not_equal:
    case AR_OP_logical_and:
    case AR_OP_logical_or:
    case AR_OP_logical_xor:
    case AR_OP_bitwise_and:
    case AR_OP_bitwise_or:
    case AR_OP_bitwise_xor: return true;
    case AR_OP_minimum:
    case AR_OP_maximum: return o->class < AR_CLASS_REAL; /* of 0.0 and -0.0 the first is taken */
    default: return false;
    }
}

/* What is nested deeper comes later.  Of others the form decides, so that what is done twice with
 * different arrays is the same kernel, then the order in which they were made. */
static bool comes_later(arras_expr x, arras_expr y)
{
    if (x->depth != y->depth)
        return x->depth > y->depth;
    return x->form != y->form ? x->form > y->form : x->id > y->id;
}

/* Numbers come last; "greater" is "less" the other way round. */
static void order_operands(operation *o)
{
    bool swap = false;

    if (o->op == AR_OP_greater || o->op == AR_OP_greater_equal) {
        o->op = o->op == AR_OP_greater ? AR_OP_less : AR_OP_less_equal;
        swap = true;
    } else if (o->n == 2 && commutes(o)) {
        bool first = o->args[0]->kind == AR_EXPR_LITERAL,
             last = o->args[1]->kind == AR_EXPR_LITERAL;

        swap = first != last ? first : comes_later(o->args[0], o->args[1]);
    }
    if (swap) {
        arras_expr x = o->args[0];

        o->args[0] = o->args[1];
        o->args[1] = x;
    }
}

/* Beside an i64, a number need not say that it is one, unless an untyped one would be refused. */
static void drop_types(operation *o)
{
    for (int i = 0; o->n == 2 && i < 2 && o->op != AR_OP_pow; i++)
        if (o->args[!i]->type.dtype == ARRAS_I64 && !o->args[!i]->type.weak &&
            o->args[!i]->kind != AR_EXPR_CAST)
            o->args[i] = ar_plain_int(o->args[i]);
}

static arras_expr by_rule(const operation *o, ar_place_of at)
{
    switch (o->op) {
    case AR_OP_add: return simple_add(o, at);
    case AR_OP_subtract: return simple_subtract(o, at);
    case AR_OP_multiply: return simple_multiply(o, at);
    case AR_OP_divide: return simple_divide(o, at);
    case AR_OP_pow: return simple_pow(o, at);
    case AR_OP_negative: return simple_negative(o);
    case AR_OP_abs: return simple_abs(o, at);
    case AR_OP_logical_not: return simple_not(o);
    case AR_OP_logical_and:
    case AR_OP_logical_or: return simple_logic(o);
    case AR_OP_where: return simple_where(o);
    default: return NULL;
    }
}

/* The types are those of the operation as it was written. */
static arras_expr simplified(operation *o, ar_place_of at)
{
    arras_expr result;

    find_numbers(o);
    result = fold(o);
    if (!result)
        result = ar_simple_index(o->op, o->args, at);
    return result ? result : by_rule(o, at);
}

arras_expr ar_simple_apply(ar_op op, int n, const arras_expr *args, ar_place_of at)
{
    operation  o = { .op = op, .n = n };
    ar_type    types[AR_MAX_ARITY];
    arras_expr result = NULL;

    for (int i = 0; i < n; i++) {
        if (args[i]->kind == AR_EXPR_POISON)
            return args[i];
        o.args[i] = args[i];
        types[i] = args[i]->type;
    }
    /* Untyped numbers alone, and u64 beside signed integers, are the builder's business. */
    if (!ar_op_signature(&o.s, op, types) || o.s.result.weak ||
        (ar_op_is_comparison(op) && ar_types_mixed(types[0], types[1])))
        return ar_expr_apply(op, n, args);
    o.class = ar_dtype_class(o.s.compute);
    drop_types(&o);
    order_operands(&o);
    result = simplified(&o, at);
    if (result && result->type.dtype == o.s.result.dtype && !result->type.weak)
        return result;
    return ar_expr_apply(o.op, n, o.args);
}

arras_status ar_simplify(arras_graph **out, const arras_graph *normal, arras_error *err)
{
    ar_rewrite r = { .make = ar_rewrite_copy };

    return ar_rewrite_run(out, &r, normal, err);
}
