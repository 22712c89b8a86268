/* c_literal.h -- numbers as C text.  Only src/gen/ sees this. */
#ifndef AR_GEN_C_LITERAL_H
#define AR_GEN_C_LITERAL_H

#include "gen/gen.h"

/* The value of a LITERAL, in its type: int64_t, double or double complex. */
void ar_c_literal_print(ar_text *out, arras_expr literal);

#endif
