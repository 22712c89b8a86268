/* named_ops.c -- arras_add, arras_sin, arras_sum, ...: a function for each row of the tables. */
#include "ir/ir.h"

#define SIGNATURE_1 arras_array x
#define SIGNATURE_2 arras_array x, arras_array y
#define SIGNATURE_3 arras_array x, arras_array y, arras_array z
#define OPERANDS_1                                                                                 \
    {                                                                                              \
        x                                                                                          \
    }
#define OPERANDS_2                                                                                 \
    {                                                                                              \
        x, y                                                                                       \
    }
#define OPERANDS_3                                                                                 \
    {                                                                                              \
        x, y, z                                                                                    \
    }

#define AR_OP(name, arity, rule, cost, b, i, r, c, help)                                           \
    arras_array arras_##name(SIGNATURE_##arity)                                                    \
    {                                                                                              \
        return arras_apply(AR_OP_##name, arity, (const arras_array[])OPERANDS_##arity);            \
    }
#include "ir/ops.def"
#undef AR_OP

#define AR_REDUCTION(name, op, rule, identity, help)                                               \
    arras_array arras_##name(arras_array x, int n, const int *axes, bool keepdims)                 \
    {                                                                                              \
        return arras_reduce(AR_REDUCE_##name, x, n, axes, keepdims, NULL);                         \
    }
#include "ir/reductions.def"
#undef AR_REDUCTION
