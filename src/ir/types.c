/* types.c -- element types and NumPy 2's promotion: the only place where types are combined. */
#include "ir/ir.h"

#include <string.h>

static const struct {
    const char *name;
    ar_class class;
    size_t size;
} dtypes[ARRAS_DTYPE_END] = {
    [ARRAS_NO_DTYPE] = { "none", AR_CLASS_NONE, 0 },
    [ARRAS_BOOL] = { "bool", AR_CLASS_BOOL, 1 },
    [ARRAS_I8] = { "i8", AR_CLASS_SIGNED, 1 },
    [ARRAS_I16] = { "i16", AR_CLASS_SIGNED, 2 },
    [ARRAS_I32] = { "i32", AR_CLASS_SIGNED, 4 },
    [ARRAS_I64] = { "i64", AR_CLASS_SIGNED, 8 },
    [ARRAS_U8] = { "u8", AR_CLASS_UNSIGNED, 1 },
    [ARRAS_U16] = { "u16", AR_CLASS_UNSIGNED, 2 },
    [ARRAS_U32] = { "u32", AR_CLASS_UNSIGNED, 4 },
    [ARRAS_U64] = { "u64", AR_CLASS_UNSIGNED, 8 },
    [ARRAS_F32] = { "f32", AR_CLASS_REAL, 4 },
    [ARRAS_F64] = { "f64", AR_CLASS_REAL, 8 },
    [ARRAS_C64] = { "c64", AR_CLASS_COMPLEX, 8 },
    [ARRAS_C128] = { "c128", AR_CLASS_COMPLEX, 16 },
};

bool ar_dtype_valid(arras_dtype dtype)
{
    return (int)dtype > (int)ARRAS_NO_DTYPE && (int)dtype < (int)ARRAS_DTYPE_END;
}

static arras_dtype known(arras_dtype dtype)
{
    return ar_dtype_valid(dtype) ? dtype : ARRAS_NO_DTYPE;
}

ar_class    ar_dtype_class(arras_dtype dtype) { return dtypes[known(dtype)].class; }
size_t      ar_dtype_size(arras_dtype dtype) { return dtypes[known(dtype)].size; }
const char *ar_dtype_name(arras_dtype dtype) { return dtypes[known(dtype)].name; }

arras_dtype ar_dtype_find(const char *name, size_t length)
{
    for (int d = ARRAS_NO_DTYPE + 1; d < ARRAS_DTYPE_END; d++)
        if (strlen(dtypes[d].name) == length && memcmp(dtypes[d].name, name, length) == 0)
            return (arras_dtype)d;
    return ARRAS_NO_DTYPE;
}

arras_dtype ar_dtype_real(arras_dtype dtype)
{
    return dtype == ARRAS_C64 ? ARRAS_F32 : dtype == ARRAS_C128 ? ARRAS_F64 : dtype;
}

bool ar_dtype_is_integer(arras_dtype dtype)
{
    ar_class class = ar_dtype_class(dtype);

    return class == AR_CLASS_SIGNED || class == AR_CLASS_UNSIGNED;
}

/* ---- Promotion ------------------------------------------------------------------------------- */

static arras_dtype signed_of_size(size_t size)
{
    return size <= 1 ? ARRAS_I8 : size == 2 ? ARRAS_I16 : size == 4 ? ARRAS_I32 : ARRAS_I64;
}

/* The real type that holds every value of a type: 24 bits of f32 hold 16-bit integers. */
static arras_dtype real_holding(arras_dtype dtype)
{
    if (ar_dtype_class(dtype) >= AR_CLASS_REAL)
        return ar_dtype_real(dtype);
    return ar_dtype_size(dtype) <= 2 ? ARRAS_F32 : ARRAS_F64;
}

static arras_dtype promote_integers(arras_dtype s, arras_dtype u) /* signed, unsigned */
{
    size_t bytes = ar_dtype_size(s) > ar_dtype_size(u) ? ar_dtype_size(s) : 2 * ar_dtype_size(u);

    return bytes > 8 ? ARRAS_F64 : signed_of_size(bytes); /* NumPy: i64 and u64 meet in f64 */
}

static arras_dtype promote_strong(arras_dtype a, arras_dtype b)
{
    ar_class    ca = ar_dtype_class(a), cb = ar_dtype_class(b);
    arras_dtype real;

    if (ca < cb)
        return promote_strong(b, a);
    if (ca == cb)
        return ar_dtype_size(a) >= ar_dtype_size(b) ? a : b;
    if (cb == AR_CLASS_BOOL || cb == AR_CLASS_NONE)
        return a;
    if (ca == AR_CLASS_SIGNED)
        return promote_integers(a, b);
    real = ar_dtype_size(real_holding(a)) >= ar_dtype_size(real_holding(b)) ? real_holding(a)
                                                                            : real_holding(b);
    if (ca == AR_CLASS_REAL)
        return real;
    return real == ARRAS_F32 ? ARRAS_C64 : ARRAS_C128;
}

/* An untyped number meets a type: it takes it when its kind is not above the type's, and otherwise
 * raises it to the default type of its own kind, at the precision the type has. */
static arras_dtype promote_weak(arras_dtype strong, arras_dtype weak)
{
    ar_class cs = ar_dtype_class(strong), cw = ar_dtype_class(weak);

    if (cs >= cw || (cs == AR_CLASS_UNSIGNED && cw == AR_CLASS_SIGNED))
        return strong;
    return strong == ARRAS_F32 ? ARRAS_C64 : weak;
}

void ar_types_meet(ar_types_met *visited, ar_type type)
{
    arras_dtype *widest =
        type.weak ? &visited->untyped : &visited->widest[ar_dtype_class(type.dtype)];

    *widest = promote_strong(*widest, type.dtype);
}

/* From the highest class down: i8, u16 and f32 give f32, although the two integers alone would meet
 * in i32, which f32 does not hold. */
ar_type ar_types_promote(const ar_types_met *visited)
{
    arras_dtype all = ARRAS_NO_DTYPE;

    for (int class = AR_CLASS_COMPLEX; class > AR_CLASS_NONE; class --)
        all = promote_strong(all, visited->widest[class]);
    if (visited->untyped == ARRAS_NO_DTYPE)
        return (ar_type){ all, false };
    if (all == ARRAS_NO_DTYPE)
        return (ar_type){ visited->untyped, true };
    return (ar_type){ promote_weak(all, visited->untyped), false };
}

static bool all_alike(int n, const ar_type *types)
{
    for (int i = 1; i < n; i++)
        if (types[i].dtype != types[0].dtype || types[i].weak != types[0].weak)
            return false;
    return n > 0;
}

static ar_type promote_all(int n, const ar_type *types)
{
    ar_types_met visited = { .untyped = ARRAS_NO_DTYPE };

    if (all_alike(n, types))
        return types[0];
    for (int i = 0; i < n; i++)
        ar_types_meet(&visited, types[i]);
    return ar_types_promote(&visited);
}

ar_type ar_promote(ar_type a, ar_type b) { return promote_all(2, (ar_type[]){ a, b }); }

/* ---- Rules of ops.def ------------------------------------------------------------------------ */

typedef enum { ARITH, NUMBER, DIVIDE, FLOAT, COMPARE, LOGIC, TEST, PART, CHOOSE } op_rule;
static const op_rule op_rules[] = {
#define AR_OP(name, arity, rule, cost, b, i, r, c, help) rule,
#include "ir/ops.def"
#undef AR_OP
};

static bool is_whole(ar_type type) { return ar_dtype_class(type.dtype) < AR_CLASS_REAL; }

static bool only_bools_have_a_type(int n, const ar_type *types)
{
    for (int i = 0; i < n; i++)
        if (!types[i].weak && types[i].dtype != ARRAS_BOOL)
            return false;
    return true;
}

/* Integers become reals one by one before they are promoted: hypot(u16, i16) is f32, as in NumPy.
 * An untyped integer gives way to a type, but beside bool it is an i64. */
static ar_type promote_float(int n, const ar_type *types)
{
    ar_type all = promote_all(n, types), reals[AR_MAX_ARITY];

    if (!is_whole(all))
        return all;
    if (all.dtype == ARRAS_I64 && only_bools_have_a_type(n, types))
        return (ar_type){ ARRAS_F64, all.weak };
    for (int i = 0; i < n; i++)
        reals[i] = types[i].weak ? types[i] : (ar_type){ real_holding(types[i].dtype), false };
    return promote_all(n, reals);
}

static ar_type computed_in(op_rule rule, int n, const ar_type *types)
{
    ar_type all;

    if (rule == CHOOSE) { /* a choice made by an array is an array: it has a type */
        all = promote_all(n - 1, types + 1);
        return (ar_type){ all.dtype, all.weak && types[0].weak };
    }
    if (rule == LOGIC)
        return (ar_type){ ARRAS_BOOL, false };
    if (rule == FLOAT)
        return promote_float(n, types);
    all = promote_all(n, types);
    if (rule == NUMBER && all.dtype == ARRAS_BOOL)
        all.dtype = ARRAS_I8;
    if (rule == DIVIDE && is_whole(all))
        all.dtype = ARRAS_F64;
    return all;
}

bool ar_op_signature(ar_signature *out, ar_op op, const ar_type *operands)
{
    op_rule      rule = op_rules[op];
    int          n = ar_op_arity(op);
    ar_type      in = computed_in(rule, n, operands);
    ar_signature s = { .compute = in.dtype, .result = in };

    if (!ar_op_value(op, in.dtype))
        return false;
    for (int i = 0; i < n; i++)
        s.operand[i] = rule == CHOOSE && i == 0 ? ARRAS_BOOL : in.dtype;
    if (rule == COMPARE || rule == LOGIC || rule == TEST)
        s.result = (ar_type){ ARRAS_BOOL, false };
    if (rule == PART)
        s.result.dtype = ar_dtype_real(in.dtype);
    *out = s;
    return true;
}

bool ar_op_is_comparison(ar_op op) { return op_rules[op] == COMPARE; }

/* ---- Untyped integers and comparisons -------------------------------------------------------- */

bool ar_integer_fits(int64_t value, arras_dtype dtype)
{
    int bits = 8 * (int)ar_dtype_size(dtype);

    if (ar_dtype_class(dtype) == AR_CLASS_UNSIGNED)
        return value >= 0 && (bits == 64 || value >> bits == 0);
    if (ar_dtype_class(dtype) == AR_CLASS_SIGNED)
        return bits == 64 || (value >> (bits - 1) == 0) || (value >> (bits - 1) == -1);
    return true;
}

bool ar_types_mixed(ar_type a, ar_type b)
{
    return ar_dtype_is_integer(a.dtype) && ar_dtype_is_integer(b.dtype) &&
           ar_promote(a, b).dtype == ARRAS_F64;
}

bool ar_negative_compares(ar_op op, int side)
{
    bool smaller = op == AR_OP_less || op == AR_OP_less_equal;
    bool larger = op == AR_OP_greater || op == AR_OP_greater_equal;

    return op == AR_OP_not_equal || (side == 0 ? smaller : larger);
}

/* ---- Rules of reductions.def ----------------------------------------------------------------- */

typedef enum { WIDEN, KEEP, BOOL, COUNT, WHERE } reduction_rule;
static const reduction_rule reduction_rules[] = {
#define AR_REDUCTION(name, op, rule, identity, help) rule,
#include "ir/reductions.def"
#undef AR_REDUCTION
};

static arras_dtype widened(arras_dtype dtype)
{
    ar_class class = ar_dtype_class(dtype);

    if (class == AR_CLASS_UNSIGNED)
        return ARRAS_U64;
    return class == AR_CLASS_BOOL || class == AR_CLASS_SIGNED ? ARRAS_I64 : dtype;
}

bool ar_reduction_signature(ar_signature *out, ar_reduction reduction, ar_type operand)
{
    arras_dtype in = operand.dtype, compute = in, result = in;

    switch (reduction_rules[reduction]) {
    case WIDEN: in = compute = result = widened(in); break;
    case KEEP: break;
    case BOOL: in = compute = result = ARRAS_BOOL; break;
    case COUNT: in = ARRAS_BOOL, compute = result = ARRAS_I64; break;
    case WHERE: result = ARRAS_I64; break;
    }
    if (!ar_op_value(ar_reduction_op(reduction), compute))
        return false;
    *out = (ar_signature){ .operand = { in }, .compute = compute, .result = { result, false } };
    return true;
}
