/* big.h -- whole numbers of up to 8192 bits and fractions of them: what exact costs are made of.
 * Plain values: nothing to free.  A result that does not fit is said by `false`. */
#ifndef AR_BIG_H
#define AR_BIG_H

#include "base/base.h"

#define AR_BIG_WORDS 128

__extension__ typedef unsigned __int128 ar_u128;

typedef struct ar_big {
    int      count; /* words in use; 0 is the number 0, and the last word is never 0 */
    uint64_t words[AR_BIG_WORDS]; /* the least first */
} ar_big;

void ar_big_set(ar_big *out, ar_u128 value);
bool ar_big_add(ar_big *out, const ar_big *a, const ar_big *b);
bool ar_big_multiply(ar_big *out, const ar_big *a, const ar_big *b);
int  ar_big_compare(const ar_big *a, const ar_big *b);
/* Divides by a number other than 0 and returns what is left. */
uint64_t ar_big_divide_word(ar_big *a, uint64_t by);
/* b is a divisor of a. */
void ar_big_divide_exactly(ar_big *a, const ar_big *b);
void ar_big_gcd(ar_big *out, const ar_big *a, const ar_big *b);
void ar_big_print(ar_text *out, const ar_big *a);
/* a = result * 2^*exponent, as near as a long double can be. */
long double ar_big_mantissa(const ar_big *a, int *exponent);

/* In lowest terms; the lower number is not 0. */
typedef struct ar_fraction {
    ar_big upper, lower;
} ar_fraction;

void ar_fraction_set(ar_fraction *out, ar_u128 upper, ar_u128 lower);
bool ar_fraction_add(ar_fraction *sum, const ar_fraction *more);
bool ar_fraction_multiply(ar_fraction *product, const ar_fraction *by);
/* -1, 0, 1; exact, or by their values where the products would not fit. */
int    ar_fraction_compare(const ar_fraction *a, const ar_fraction *b);
double ar_fraction_value(const ar_fraction *a);
void   ar_fraction_print(ar_text *out, const ar_fraction *a); /* "7/3", "4/1" */

#endif
