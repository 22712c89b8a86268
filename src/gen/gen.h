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

#endif
