/* variance.h -- squared deviations down a long axis; for statistics.c. */
#ifndef AR_API_VARIANCE_H
#define AR_API_VARIANCE_H

#include "ir/ir.h"

/* Whether one axis is reduced that is not the last, and known to be long. */
bool ar_is_long_down(arras_array x, int n, const int *axes);
/* Of real cells, from their mean; the result has that axis no more. */
arras_array ar_squares_down(arras_array x, int axis);

#endif
