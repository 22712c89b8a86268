/* gen.h -- code from programs.  The door of gen/.  Sees base/ and ir/. */
#ifndef AR_GEN_H
#define AR_GEN_H

#include "ir/ir.h"

/* ---- Operations as C (c_ops.c) -------------------------------------------------------------- */

/* Which operations a kernel uses, in which types it computes them, and which casts it makes. */
typedef struct {
    bool ops[AR_OP_END][ARRAS_DTYPE_END];
    bool casts[ARRAS_DTYPE_END][ARRAS_DTYPE_END]; /* [from][to] */
} ar_op_set;

/* The definitions a kernel begins with: types, and for what it uses the functions
 *     static inline T op_add_f64(T x, T y)       the columns of ops.def, word for word
 *     static inline T cast_f64_i32(F x)          the rules of ar_cell_cast
 * They compute the bits that the reference evaluator computes.  No header is included: a compiler
 * knows the C library's mathematics, and reading headers would take longer than the kernel. */
void ar_c_ops_print(ar_text *out, const ar_op_set *set);
/* The C type of a cell: "int32_t", "float complex". */
const char *ar_c_type(arras_dtype dtype);

/* ---- Kernels as C (c_kernel.c) -------------------------------------------------------------- */

/* What a kernel is called with.  Operand 0 is the result, operand 1 + k is binding k. */
typedef struct {
    char *const          *data;    /* the cell at [0, 0, ...] of each operand */
    const int64_t *const *strides; /* of each operand, in bytes */
    const int64_t *const *shapes;
    const int64_t        *sizes; /* values of the graph's sizes */
} ar_kernel_args;

/* Computes the cells first <= i0 < last of a result (of rank 0: its one cell, given 0 and 1).  Not
 * 0: a read was outside an array, or a minimum over nothing; the reference evaluator says which. */
typedef int ar_kernel(const ar_kernel_args *args, int64_t first, int64_t last);

/* The function `name` that computes a LAMBDA, cell by cell and with the bits of the reference
 * evaluator: floating sums go through the same tree.  Adds to `used` what it needs of
 * ar_c_ops_print.  Operands must be aligned.  ELIMIT where a kernel would be too long. */
arras_status ar_c_kernel_print(ar_text *out, ar_op_set *used, arras_array lambda, const char *name,
                               arras_error *err);
/* What stands before kernels: struct ar_kernel_args as they see it. */
void ar_c_kernel_head_print(ar_text *out);

#endif
