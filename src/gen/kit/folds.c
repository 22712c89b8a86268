/* folds.c -- folds of real numbers for any processor, and which table kernels are handed. */
#define FOLDS ar_folds_plain
#include "gen/kit/folds.inc"

int ar_fold_number(ar_op op, arras_dtype dtype)
{
    static const ar_op ops[] = { AR_OP_add, AR_OP_multiply, AR_OP_minimum, AR_OP_maximum };

    for (int i = 0; i < (int)AR_COUNT(ops); i++)
        if (ops[i] == op && (dtype == ARRAS_F32 || dtype == ARRAS_F64))
            return 2 * i + (dtype == ARRAS_F64);
    return -1;
}

const void *const *ar_folds(void)
{
#if defined __x86_64__
    if (__builtin_cpu_supports("avx2"))
        return ar_folds_avx2;
#endif
    return ar_folds_plain;
}
