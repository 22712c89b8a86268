/* compose.h -- short words for expressions that the functions on top of the public header are made
 * of. */
#ifndef AR_API_COMPOSE_H
#define AR_API_COMPOSE_H

#include <arras/arras.h>

static inline arras_expr apply2(int op, arras_expr x, arras_expr y)
{
    arras_expr operands[] = { x, y };

    return arras_expr_apply(op, 2, operands);
}

static inline arras_expr apply3(int op, arras_expr x, arras_expr y, arras_expr z)
{
    arras_expr operands[] = { x, y, z };

    return arras_expr_apply(op, 3, operands);
}

/* index of an axis + offset */
static inline arras_expr shifted_index(arras_graph *g, int axis, int64_t offset)
{
    arras_expr index = arras_expr_index(g, axis);

    return offset == 0 ? index : apply2(ARRAS_OP_add, index, arras_expr_int(g, offset));
}

#endif
