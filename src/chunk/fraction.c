/* fraction.c -- fractions of large whole numbers, in lowest terms. */
#include "chunk/big.h"

#include <math.h>

static void reduce(ar_fraction *a)
{
    ar_big common;

    ar_big_gcd(&common, &a->upper, &a->lower);
    if (common.count == 1 && common.words[0] == 1)
        return;
    ar_big_divide_exactly(&a->upper, &common);
    ar_big_divide_exactly(&a->lower, &common);
}

void ar_fraction_set(ar_fraction *out, ar_u128 upper, ar_u128 lower)
{
    ar_big_set(&out->upper, upper);
    ar_big_set(&out->lower, lower);
    reduce(out);
}

bool ar_fraction_add(ar_fraction *sum, const ar_fraction *more)
{
    ar_fraction a, b;

    if (ar_big_compare(&sum->lower, &more->lower) == 0) {
        a = *sum;
        if (!ar_big_add(&a.upper, &sum->upper, &more->upper))
            return false;
    } else if (!ar_big_multiply(&a.upper, &sum->upper, &more->lower) ||
               !ar_big_multiply(&b.upper, &more->upper, &sum->lower) ||
               !ar_big_add(&a.upper, &a.upper, &b.upper) ||
               !ar_big_multiply(&a.lower, &sum->lower, &more->lower))
        return false;
    reduce(&a);
    *sum = a;
    return true;
}

bool ar_fraction_multiply(ar_fraction *product, const ar_fraction *by)
{
    ar_fraction a;

    if (!ar_big_multiply(&a.upper, &product->upper, &by->upper) ||
        !ar_big_multiply(&a.lower, &product->lower, &by->lower))
        return false;
    reduce(&a);
    *product = a;
    return true;
}

int ar_fraction_compare(const ar_fraction *a, const ar_fraction *b)
{
    ar_big left, right;

    if (ar_big_multiply(&left, &a->upper, &b->lower) &&
        ar_big_multiply(&right, &b->upper, &a->lower))
        return ar_big_compare(&left, &right);
    double x = ar_fraction_value(a), y = ar_fraction_value(b);
    return (x > y) - (x < y);
}

double ar_fraction_value(const ar_fraction *a)
{
    int         up, down;
    long double upper = ar_big_mantissa(&a->upper, &up);
    long double lower = ar_big_mantissa(&a->lower, &down);

    return (double)ldexpl(upper / lower, up - down);
}

void ar_fraction_print(ar_text *out, const ar_fraction *a)
{
    ar_big_print(out, &a->upper);
    ar_text_add(out, "/");
    ar_big_print(out, &a->lower);
}
