/* lang_ranges.h -- intervals of affine forms, for the inference of ranges and its messages. */
#ifndef LANG_RANGES_H
#define LANG_RANGES_H

#include "lang/lang_lower.h"

typedef struct lang_interval {
    lang_range_state state; /* min and max hold if KNOWN */
    bool             empty; /* the indices have no values: nothing is read */
    int64_t          min, max;
} lang_interval;

/* Where an affine form stays, without the term of `except` (which may be NULL), in a place that the
 * reduction of `around` surrounds (NULL: none does). */
lang_interval lang_interval_of(const lang_affine *a, const lang_index *except,
                               const lang_index *around);
/* The same where the range of an index depends on others. */
lang_interval lang_interval_over_points(const lang_affine *a, const lang_index *except,
                                        const lang_index *around);
/* Values of the indices of a form, all of them known, where it is largest or smallest. */
bool    lang_find_point(int64_t *values, const lang_affine *a, const lang_index *around,
                        bool largest);
/* The values of an index for which others, in their ranges there, bring a read before or beyond its
 * array; whether it is known of one that they do. */
lang_interval lang_values_outside(const lang_read *read, const lang_index *index, bool beyond);
bool lang_is_outside_at(const lang_read *read, const lang_index *index, int64_t value, bool beyond);
/* Which index becomes fewer so that a read whose edge is `none` stays inside; NULL: none can. */
lang_index *lang_index_to_shrink(const lang_read *read);
int64_t lang_floor_divide(int64_t a, int64_t b); /* b > 0 */
int64_t lang_factor_of(const lang_affine *a, const lang_index *index); /* 0: not there */

#endif
