/* scalar.c -- the value of every operation of ops.def in every type, and casts between types. */
#include "ir/ir.h"

#include <complex.h>
#include <math.h>
#include <string.h>

/* The table's rows are written once for all types, so some comparisons are always true for some of
 * them and some values are narrowed on purpose. */
#pragma GCC diagnostic ignored "-Wtype-limits"
#pragma GCC diagnostic ignored "-Wconversion"
#include "ir/scalar_kit.h"

INTEGER_KIT(i8, int8_t, uint32_t, 8, 1)
INTEGER_KIT(i16, int16_t, uint32_t, 16, 1)
INTEGER_KIT(i32, int32_t, uint32_t, 32, 1)
INTEGER_KIT(i64, int64_t, uint64_t, 64, 1)
INTEGER_KIT(u8, uint8_t, uint32_t, 8, 0)
INTEGER_KIT(u16, uint16_t, uint32_t, 16, 0)
INTEGER_KIT(u32, uint32_t, uint32_t, 32, 0)
INTEGER_KIT(u64, uint64_t, uint64_t, 64, 0)
REAL_KIT(f32, float, f)
REAL_KIT(f64, double, )
COMPLEX_KIT(c64, float complex, float, f)
COMPLEX_KIT(c128, double complex, double, )

/* PICK takes the column of a class.  A column that says NO still makes a function here, which
 * ar_op_value() never hands out. */
#define BOOL_COLUMN(b, i, r, c) b
#define INTEGER_COLUMN(b, i, r, c) i
#define REAL_COLUMN(b, i, r, c) r
#define COMPLEX_COLUMN(b, i, r, c) c

#define S b8 /* `bool` is a macro */
#define T uint8_t
#define R uint8_t
#define U uint32_t
#define L
#define PICK BOOL_COLUMN
#include "ir/scalar_class.inc"

#define S i8
#define T int8_t
#define R int8_t
#define U uint32_t
#define L
#define PICK INTEGER_COLUMN
#include "ir/scalar_class.inc"

#define S i16
#define T int16_t
#define R int16_t
#define U uint32_t
#define L
#define PICK INTEGER_COLUMN
#include "ir/scalar_class.inc"

#define S i32
#define T int32_t
#define R int32_t
#define U uint32_t
#define L
#define PICK INTEGER_COLUMN
#include "ir/scalar_class.inc"

#define S i64
#define T int64_t
#define R int64_t
#define U uint64_t
#define L
#define PICK INTEGER_COLUMN
#include "ir/scalar_class.inc"

#define S u8
#define T uint8_t
#define R uint8_t
#define U uint32_t
#define L
#define PICK INTEGER_COLUMN
#include "ir/scalar_class.inc"

#define S u16
#define T uint16_t
#define R uint16_t
#define U uint32_t
#define L
#define PICK INTEGER_COLUMN
#include "ir/scalar_class.inc"

#define S u32
#define T uint32_t
#define R uint32_t
#define U uint32_t
#define L
#define PICK INTEGER_COLUMN
#include "ir/scalar_class.inc"

#define S u64
#define T uint64_t
#define R uint64_t
#define U uint64_t
#define L
#define PICK INTEGER_COLUMN
#include "ir/scalar_class.inc"

#define S f32
#define T float
#define R float
#define U float
#define L f
#define PICK REAL_COLUMN
#include "ir/scalar_class.inc"

#define S f64
#define T double
#define R double
#define U double
#define L
#define PICK REAL_COLUMN
#include "ir/scalar_class.inc"

#define S c64
#define T float complex
#define R float
#define U float complex
#define L f
#define PICK COMPLEX_COLUMN
#include "ir/scalar_class.inc"

#define S c128
#define T double complex
#define R double
#define U double complex
#define L
#define PICK COMPLEX_COLUMN
#include "ir/scalar_class.inc"

#define functions_bool functions_b8
static ar_op_function *const *const functions[ARRAS_DTYPE_END] = {
#define BY_DTYPE(constant, name, ctype) [ARRAS_##constant] = functions_##name,
    ARRAS_DTYPE_LIST(BY_DTYPE)
#undef BY_DTYPE
};

/* The columns as text: "NO" says that an operation is not defined for a class. */
static const char *const columns[][4] = {
#define AR_OP(name, arity, rule, cost, b, i, r, c, help) { #b, #i, #r, #c },
#include "ir/ops.def"
#undef AR_OP
};

static int column_of(arras_dtype dtype)
{
    switch (ar_dtype_class(dtype)) {
    case AR_CLASS_BOOL: return 0;
    case AR_CLASS_SIGNED:
    case AR_CLASS_UNSIGNED: return 1;
    case AR_CLASS_REAL: return 2;
    case AR_CLASS_COMPLEX: return 3;
    case AR_CLASS_NONE: break;
    }
    return -1;
}

ar_op_function *ar_op_value(ar_op op, arras_dtype dtype)
{
    int             column = column_of(dtype);
    ar_op_function *vector;

    if (column < 0 || strcmp(columns[op][column], "NO") == 0)
        return NULL;
    vector = ar_vector_math_value(op, dtype);
    return vector ? vector : functions[dtype][op];
}

void ar_value_canonical(arras_dtype dtype, ar_value *value)
{
    ar_value kept = { .bits = { 0, 0 } };

    if (dtype == ARRAS_BOOL)
        value->b = value->b != 0;
    float *single = value->singles;

    if (dtype == ARRAS_F32 || dtype == ARRAS_C64)
        for (int i = 0; i < (dtype == ARRAS_C64) + 1; i++)
            single[i] = single[i] != single[i] ? NAN : single[i];
    if (dtype == ARRAS_F64 || dtype == ARRAS_C128)
        for (int i = 0; i < (dtype == ARRAS_C128) + 1; i++)
            value->parts[i] = value->parts[i] != value->parts[i] ? NAN : value->parts[i];
    memcpy(&kept, value, ar_dtype_size(dtype)); /* bytes beyond the type do not count */
    *value = kept;
}

/* ---- Casts ----------------------------------------------------------------------------------- */

/* Every source fits one of these widest types exactly. */
typedef struct {
    ar_class class;
    int64_t  i;
    uint64_t u;
    double   re, im;
} wide;

static wide widen(arras_dtype dtype, const void *cell)
{
    switch (dtype) {
    case ARRAS_BOOL: return (wide){ .class = AR_CLASS_UNSIGNED, .u = *(const uint8_t *)cell != 0 };
    case ARRAS_I8: return (wide){ .class = AR_CLASS_SIGNED, .i = *(const int8_t *)cell };
    case ARRAS_I16: return (wide){ .class = AR_CLASS_SIGNED, .i = *(const int16_t *)cell };
    case ARRAS_I32: return (wide){ .class = AR_CLASS_SIGNED, .i = *(const int32_t *)cell };
    case ARRAS_I64: return (wide){ .class = AR_CLASS_SIGNED, .i = *(const int64_t *)cell };
    case ARRAS_U8: return (wide){ .class = AR_CLASS_UNSIGNED, .u = *(const uint8_t *)cell };
    case ARRAS_U16: return (wide){ .class = AR_CLASS_UNSIGNED, .u = *(const uint16_t *)cell };
    case ARRAS_U32: return (wide){ .class = AR_CLASS_UNSIGNED, .u = *(const uint32_t *)cell };
    case ARRAS_U64: return (wide){ .class = AR_CLASS_UNSIGNED, .u = *(const uint64_t *)cell };
    case ARRAS_F32: return (wide){ .class = AR_CLASS_REAL, .re = *(const float *)cell };
    case ARRAS_F64: return (wide){ .class = AR_CLASS_REAL, .re = *(const double *)cell };
    case ARRAS_C64:
        return (wide){ .class = AR_CLASS_COMPLEX,
                       .re = ((const float *)cell)[0],
                       .im = ((const float *)cell)[1] };
    case ARRAS_C128:
        return (wide){ .class = AR_CLASS_COMPLEX,
                       .re = ((const double *)cell)[0],
                       .im = ((const double *)cell)[1] };
    case ARRAS_NO_DTYPE:
    case ARRAS_DTYPE_END: break;
    }
    return (wide){ .class = AR_CLASS_NONE };
}

/* Real to integer: towards 0, nan gives 0, what is too large gives the nearest end of the range.
 * 2^(bits-1) and 2^bits are exact as doubles; INT64_MAX is not. */
static int64_t saturate_signed(double x, int bits)
{
    double end = ldexp(1, bits - 1);

    if (x != x)
        return 0;
    if (x >= end)
        return (int64_t)(((uint64_t)1 << (bits - 1)) - 1);
    return x <= -end ? -(int64_t)(((uint64_t)1 << (bits - 1)) - 1) - 1 : (int64_t)x;
}

static uint64_t saturate_unsigned(double x, int bits)
{
    if (!(x > 0)) /* nan too */
        return 0;
    if (x >= ldexp(1, bits))
        return UINT64_MAX >> (64 - bits);
    return (uint64_t)x;
}

static bool is_real(const wide *x)
{
    return x->class == AR_CLASS_REAL || x->class == AR_CLASS_COMPLEX;
}

static int64_t as_signed(const wide *x, int bits)
{
    if (is_real(x))
        return saturate_signed(x->re, bits);
    return x->class == AR_CLASS_SIGNED ? x->i : (int64_t)x->u;
}

static uint64_t as_unsigned(const wide *x, int bits)
{
    if (is_real(x))
        return saturate_unsigned(x->re, bits);
    return x->class == AR_CLASS_SIGNED ? (uint64_t)x->i : x->u;
}

static double as_double(const wide *x)
{
    if (is_real(x))
        return x->re;
    return x->class == AR_CLASS_SIGNED ? (double)x->i : (double)x->u;
}

/* Integers go to float in one rounding, not through double. */
static float as_float(const wide *x)
{
    if (is_real(x))
        return (float)x->re;
    return x->class == AR_CLASS_SIGNED ? (float)x->i : (float)x->u;
}

static uint8_t as_bool(const wide *x)
{
    if (is_real(x))
        return x->re != 0 || x->im != 0;
    return x->i != 0 || x->u != 0;
}

void ar_cell_cast(arras_dtype to, void *out, arras_dtype from, const void *cell)
{
    wide x = widen(from, cell);

    switch (to) {
    case ARRAS_BOOL: *(uint8_t *)out = as_bool(&x); return;
    case ARRAS_I8: *(int8_t *)out = (int8_t)as_signed(&x, 8); return;
    case ARRAS_I16: *(int16_t *)out = (int16_t)as_signed(&x, 16); return;
    case ARRAS_I32: *(int32_t *)out = (int32_t)as_signed(&x, 32); return;
    case ARRAS_I64: *(int64_t *)out = as_signed(&x, 64); return;
    case ARRAS_U8: *(uint8_t *)out = (uint8_t)as_unsigned(&x, 8); return;
    case ARRAS_U16: *(uint16_t *)out = (uint16_t)as_unsigned(&x, 16); return;
    case ARRAS_U32: *(uint32_t *)out = (uint32_t)as_unsigned(&x, 32); return;
    case ARRAS_U64: *(uint64_t *)out = as_unsigned(&x, 64); return;
    case ARRAS_F32: *(float *)out = as_float(&x); return;
    case ARRAS_F64: *(double *)out = as_double(&x); return;
    case ARRAS_C64:
        ((float *)out)[0] = as_float(&x);
        ((float *)out)[1] = (float)x.im;
        return;
    case ARRAS_C128:
        ((double *)out)[0] = as_double(&x);
        ((double *)out)[1] = x.im;
        return;
    case ARRAS_NO_DTYPE:
    case ARRAS_DTYPE_END: return;
    }
}
