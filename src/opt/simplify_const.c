/* simplify_const.c -- numbers of every type within expressions. */
#include "opt/rewrite.h"

/* Three types of literals say every value: a cast from i64 to u64 keeps all bits. */
static arras_dtype literal_dtype(arras_dtype dtype)
{
    ar_class class = ar_dtype_class(dtype);

    return class == AR_CLASS_COMPLEX ? ARRAS_C128 : class == AR_CLASS_REAL ? ARRAS_F64 : ARRAS_I64;
}

arras_expr ar_simple_number(arras_graph *g, arras_dtype dtype, const void *cell)
{
    ar_value value = { .bits = { 0, 0 } };

    ar_cell_cast(literal_dtype(dtype), &value, dtype, cell);
    return ar_expr_cast(ar_expr_literal(g, literal_dtype(dtype), value), dtype);
}

bool ar_simple_value(ar_value *out, arras_expr e)
{
    ar_value inner;

    *out = (ar_value){ .bits = { 0, 0 } };
    if (e->kind == AR_EXPR_LITERAL) {
        memcpy(out, e->ints, sizeof *out);
        return true;
    }
    if (e->kind != AR_EXPR_CAST || !ar_simple_value(&inner, e->args[0]))
        return false;
    ar_cell_cast(e->type.dtype, out, e->args[0]->type.dtype, &inner);
    return true;
}

bool ar_simple_is_safe(arras_expr e)
{
    if (e->kind == AR_EXPR_LOAD || e->kind == AR_EXPR_REDUCE || e->depth > 20)
        return false;
    for (int i = 0; i < e->nargs; i++)
        if (!ar_simple_is_safe(e->args[i]))
            return false;
    return true;
}
