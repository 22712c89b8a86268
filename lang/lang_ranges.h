/* lang_ranges.h -- intervals of affine forms, for the inference of ranges and its messages. */
#ifndef LANG_RANGES_H
#define LANG_RANGES_H

#include "lang/lang_lower.h"

typedef struct lang_interval {
    lang_range_state state; /* min and max hold if KNOWN */
    bool             empty; /* some index has no values: nothing is read */
    int64_t          min, max;
} lang_interval;

/* Where an affine form stays, without the term of `except` (which may be NULL). */
lang_interval lang_interval_of(const lang_affine *a, const lang_index *except);
int64_t       lang_floor_divide(int64_t a, int64_t b); /* b > 0 */
int64_t       lang_factor_of(const lang_affine *a, const lang_index *index); /* 0: not there */

#endif
