/* probability.h -- exact probabilities: texts become whole weights with one total. */
#ifndef AR_PROBABILITY_H
#define AR_PROBABILITY_H

#include "base/base.h"

/* "1/3", "0.25", "2.5e-3" as a fraction in lowest terms.  `what` is for messages. */
arras_status ar_ratio_read(int64_t *upper, int64_t *lower, const char *text, const char *what,
                              arras_error *err);
/* Weights in the proportion of n probabilities from 0 to 1 that add up to 1 (within 1e-9); NULL:
 * all are 1. */
arras_status ar_weights_read(int64_t *weights, int64_t n, const char *const *texts,
                             arras_error *err);

#endif
