/* interval.h -- ranges of whole numbers whose ends may be sizes.  Values, nothing to free.
 * Only src/ir/ sees this. */
#ifndef AR_IR_INTERVAL_H
#define AR_IR_INTERVAL_H

#include "ir/ir.h"

enum { AR_END_TERMS = 4, AR_LEAST_SIZES = 16 };

/* An end of a range: an affine form of sizes, if there is one. */
typedef struct {
    bool    known;
    int64_t constant;
    int     nterms;
    ar_term terms[AR_END_TERMS]; /* by size */
} ar_end;

/* lo <= x <= hi, and low <= x <= high.  Sums and products of 64-bit numbers wrap around: where that
 * may happen, lo and hi bound the number that was meant (the two are equal if that fits), and low
 * and high say nothing. */
typedef struct {
    ar_end  lo, hi;
    int64_t low, high;
    bool    wraps;
} ar_range;

/* The least each size can be, as far as shapes tell; the first few sizes only. */
typedef struct {
    int64_t of[AR_LEAST_SIZES];
} ar_least;

ar_end   ar_end_number(int64_t number);
ar_end   ar_end_of(const arras_graph *g, arras_dim dim);
/* Surely a <= b. */
bool     ar_end_not_above(const ar_end *a, const ar_end *b, const ar_least *least);
ar_range ar_range_number(int64_t number);
ar_range ar_range_numbers(int64_t low, int64_t high);
ar_range ar_range_of_dtype(arras_dtype dtype);
ar_range ar_range_of_dim(const arras_graph *g, arras_dim dim, const ar_least *least);
/* An index of an axis of a lambda that is being computed: it has cells, and so room in memory. */
ar_range ar_range_of_index(const arras_graph *g, arras_dim length);
/* lo <= x < end, of something that counts up from lo. */
ar_range ar_range_below(const ar_range *lo, const ar_range *end);
ar_range ar_range_add(const ar_range *a, const ar_range *b);
ar_range ar_range_subtract(const ar_range *a, const ar_range *b);
ar_range ar_range_multiply(const ar_range *a, const ar_range *b);
ar_range ar_range_floor_divide(const ar_range *a, const ar_range *b, const ar_least *least);
ar_range ar_range_remainder(const ar_range *a, const ar_range *b, const ar_least *least);
ar_range ar_range_minimum(const ar_range *a, const ar_range *b, const ar_least *least);
ar_range ar_range_maximum(const ar_range *a, const ar_range *b, const ar_least *least);
ar_range ar_range_either(const ar_range *a, const ar_range *b, const ar_least *least);
ar_range ar_range_both(const ar_range *a, const ar_range *b, const ar_least *least);

#endif
