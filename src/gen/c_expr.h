/* c_expr.h -- the cell of a lambda as C statements.  Only src/gen/ sees this. */
#ifndef AR_GEN_C_EXPR_H
#define AR_GEN_C_EXPR_H

#include "gen/gen.h"

/* Statements that compute the cell at i0, i1, ... and store it; see c_kernel.c for the names that
 * they may use. */
arras_status ar_c_cell_print(ar_text *out, ar_op_set *used, arras_array lambda, arras_error *err);

#endif
