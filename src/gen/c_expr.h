/* c_expr.h -- the cell of a lambda as C statements.  Only src/gen/ sees this. */
#ifndef AR_GEN_C_EXPR_H
#define AR_GEN_C_EXPR_H

#include "gen/gen.h"

/* Statements that compute the cells at i0, i1, ... (of a flat kernel: number i) and store them; see
 * c_kernel.c for the names that they may use. */
arras_status ar_c_cell_print(ar_text *out, ar_op_set *used, const ar_kernel_form *form,
                             arras_error *err);

#endif
