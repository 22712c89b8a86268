/* region.c -- what can be said of an index before a program is run. */
#include "ir/ir.h"

/* Takes i + c apart; c is 0 for other expressions. */
static arras_expr without_offset(arras_expr index, int64_t *offset)
{
    *offset = 0;
    if (index->kind != AR_EXPR_OP || index->ints[0] != AR_OP_add ||
        index->args[1]->kind != AR_EXPR_LITERAL || index->args[1]->type.dtype != ARRAS_I64)
        return index;
    *offset = index->args[1]->ints[0];
    return index->args[0];
}

bool ar_load_is_inside(arras_array lambda, arras_expr load, int axis)
{
    arras_array x = lambda->inputs[load->ints[0]];
    int64_t     offset;
    arras_expr  index = without_offset(load->args[axis], &offset);
    arras_dim   room;

    if (index->kind == AR_EXPR_LITERAL && index->type.dtype == ARRAS_I64)
        return index->ints[0] >= 0 && !ar_dim_symbolic(x->shape[axis]) &&
               index->ints[0] < x->shape[axis];
    /* i + c needs an axis that is at least c longer than the result is. */
    if (index->kind != AR_EXPR_INDEX || offset < 0)
        return false;
    room = ar_dim_sub(x->graph, x->shape[axis], lambda->shape[index->ints[0]]);
    return !ar_dim_symbolic(room) && room >= offset;
}
