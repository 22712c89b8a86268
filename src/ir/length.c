/* length.c -- whether a variable surely has fewer than 2**63 values: bounds that are data can be
 * further apart, and who counts them would count around the end of the numbers. */
#include "ir/graph.h"

enum { DEEPEST = 8, UNKNOWN_BITS = 64, MOST_BITS = 62, INDEX_BITS = 48 };

/* x is above -2**bits and not above 2**bits. */
static int bits_of(arras_expr x, int depth);

static int bits_of_number(int64_t number)
{
    uint64_t size = number < 0 ? 0 - (uint64_t)number : (uint64_t)number;
    int      bits = 0;

    for (; size; size >>= 1)
        bits++;
    return bits;
}

static int bits_of_operation(arras_expr x, int depth)
{
    int a = bits_of(x->args[0], depth), b = x->nargs == 2 ? bits_of(x->args[1], depth) : a;

    if (x->nargs > 2)
        return UNKNOWN_BITS;
    switch (x->ints[0]) {
    case AR_OP_negative: return a;
    case AR_OP_add:
    case AR_OP_subtract: return (a > b ? a : b) + 1;
    case AR_OP_multiply: return a + b;
    case AR_OP_minimum:
    case AR_OP_maximum: return a > b ? a : b;
    default: return UNKNOWN_BITS;
    }
}

static int bits_of(arras_expr x, int depth)
{
    int width = 8 * (int)ar_dtype_size(x->type.dtype);

    if (ar_is_int(x))
        return bits_of_number(x->ints[0]);
    if (!ar_dtype_is_integer(x->type.dtype) || depth == 0)
        return UNKNOWN_BITS;
    if (width < 64)
        return width;
    switch (x->kind) {
    case AR_EXPR_INDEX: return INDEX_BITS;
    case AR_EXPR_SIZE: return MOST_BITS;
    case AR_EXPR_CAST: return bits_of(x->args[0], depth - 1);
    case AR_EXPR_OP: return bits_of_operation(x, depth - 1);
    default: return UNKNOWN_BITS;
    }
}

static bool is_not_negative(arras_expr x)
{
    if (ar_is_int(x))
        return x->ints[0] >= 0;
    return x->kind == AR_EXPR_INDEX || x->kind == AR_EXPR_SIZE ||
           ar_dtype_class(x->type.dtype) == AR_CLASS_UNSIGNED;
}

bool ar_reduce_is_countable(arras_expr e)
{
    if (ar_expr_tree(e) == AR_TREE_PART) /* of a range that starts at 0 */
        return true;
    return is_not_negative(e->args[0]) ||
           (bits_of(e->args[0], DEEPEST) <= MOST_BITS && bits_of(e->args[1], DEEPEST) <= MOST_BITS);
}
