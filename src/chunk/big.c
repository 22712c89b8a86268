/* big.c -- whole numbers of up to 8192 bits: school arithmetic in words of 64 bits. */
#include "chunk/big.h"

#include <math.h>
#include <string.h>

static void trim(ar_big *a)
{
    while (a->count > 0 && a->words[a->count - 1] == 0)
        a->count--;
}

void ar_big_set(ar_big *out, ar_u128 value)
{
    out->words[0] = (uint64_t)value;
    out->words[1] = (uint64_t)(value >> 64);
    out->count = 2;
    trim(out);
}

static uint64_t word_at(const ar_big *a, int i) { return i < a->count ? a->words[i] : 0; }

bool ar_big_add(ar_big *out, const ar_big *a, const ar_big *b)
{
    int     count = a->count > b->count ? a->count : b->count;
    ar_u128 carry = 0;

    for (int i = 0; i < count; i++) {
        carry += (ar_u128)word_at(a, i) + word_at(b, i);
        out->words[i] = (uint64_t)carry;
        carry >>= 64;
    }
    out->count = count;
    if (carry == 0)
        return true;
    if (count == AR_BIG_WORDS)
        return false;
    out->words[out->count++] = (uint64_t)carry;
    return true;
}

bool ar_big_multiply(ar_big *out, const ar_big *a, const ar_big *b)
{
    ar_big product = { .count = a->count + b->count };

    if (product.count > AR_BIG_WORDS)
        return false;
    for (int i = 0; i < a->count; i++) {
        ar_u128 carry = 0;

        for (int j = 0; j < b->count; j++) {
            carry += (ar_u128)a->words[i] * b->words[j] + product.words[i + j];
            product.words[i + j] = (uint64_t)carry;
            carry >>= 64;
        }
        product.words[i + b->count] = (uint64_t)carry;
    }
    trim(&product);
    *out = product;
    return true;
}

int ar_big_compare(const ar_big *a, const ar_big *b)
{
    if (a->count != b->count)
        return a->count < b->count ? -1 : 1;
    for (int i = a->count - 1; i >= 0; i--)
        if (a->words[i] != b->words[i])
            return a->words[i] < b->words[i] ? -1 : 1;
    return 0;
}

uint64_t ar_big_divide_word(ar_big *a, uint64_t by)
{
    ar_u128 rest = 0;

    for (int i = a->count - 1; i >= 0; i--) {
        rest = rest << 64 | a->words[i];
        a->words[i] = (uint64_t)(rest / by);
        rest %= by;
    }
    trim(a);
    return (uint64_t)rest;
}

/* a -= b, where b is not larger. */
static void subtract(ar_big *a, const ar_big *b)
{
    uint64_t borrow = 0;

    for (int i = 0; i < a->count; i++) {
        uint64_t less = word_at(b, i), word = a->words[i];

        a->words[i] = word - less - borrow;
        borrow = word < less || (word == less && borrow);
    }
    trim(a);
}

static void shift_right(ar_big *a, int bits)
{
    int skip = bits / 64, rest = bits % 64;

    for (int i = 0; i + skip < a->count; i++) {
        uint64_t high = word_at(a, i + skip + 1);

        a->words[i] = a->words[i + skip] >> rest | (rest ? high << (64 - rest) : 0);
    }
    a->count = a->count > skip ? a->count - skip : 0;
    trim(a);
}

static void shift_left(ar_big *a, int bits)
{
    int skip = bits / 64, rest = bits % 64;

    for (int i = a->count + skip; i >= 0; i--) {
        uint64_t here = i >= skip ? word_at(a, i - skip) : 0;
        uint64_t below = i > skip ? word_at(a, i - skip - 1) : 0;

        if (i < AR_BIG_WORDS)
            a->words[i] = here << rest | (rest ? below >> (64 - rest) : 0);
    }
    a->count = a->count + skip < AR_BIG_WORDS ? a->count + skip + 1 : AR_BIG_WORDS;
    trim(a);
}

static int bit_length(const ar_big *a)
{
    return a->count ? 64 * a->count - __builtin_clzll(a->words[a->count - 1]) : 0;
}

/* How many times 2 divides a number other than 0. */
static int twos(const ar_big *a)
{
    int i = 0;

    while (a->words[i] == 0)
        i++;
    return 64 * i + __builtin_ctzll(a->words[i]);
}

void ar_big_gcd(ar_big *out, const ar_big *a, const ar_big *b)
{
    ar_big x = *a, y = *b;

    if (x.count == 0 || y.count == 0) {
        *out = x.count ? x : y;
        return;
    }
    int common = twos(&x) < twos(&y) ? twos(&x) : twos(&y);
    shift_right(&x, twos(&x));
    while (y.count) {
        shift_right(&y, twos(&y));
        if (ar_big_compare(&x, &y) > 0) {
            ar_big swap = x;

            x = y;
            y = swap;
        }
        subtract(&y, &x);
    }
    shift_left(&x, common);
    *out = x;
}

/* Long division, bit by bit. */
void ar_big_divide_exactly(ar_big *a, const ar_big *b)
{
    ar_big quotient = { 0 }, part = *b;
    int    steps = bit_length(a) - bit_length(b);

    if (b->count == 1) {
        ar_big_divide_word(a, b->words[0]);
        return;
    }
    if (steps < 0)
        return;
    shift_left(&part, steps);
    quotient.count = steps / 64 + 1;
    for (int bit = steps; bit >= 0; bit--) {
        if (ar_big_compare(a, &part) >= 0) {
            subtract(a, &part);
            quotient.words[bit / 64] |= UINT64_C(1) << bit % 64;
        }
        shift_right(&part, 1);
    }
    trim(&quotient);
    *a = quotient;
}

void ar_big_print(ar_text *out, const ar_big *a)
{
    uint64_t digits[AR_BIG_WORDS * 64 / 59 + 1]; /* 10^18 is more than 2^59 */
    ar_big   rest = *a;
    int      n = 0;

    do
        digits[n++] = ar_big_divide_word(&rest, UINT64_C(1000000000000000000));
    while (rest.count);
    ar_text_printf(out, "%" PRIu64, digits[--n]);
    while (n > 0)
        ar_text_printf(out, "%018" PRIu64, digits[--n]);
}

long double ar_big_mantissa(const ar_big *a, int *exponent)
{
    long double value = 0;
    int         first = a->count > 3 ? a->count - 3 : 0;

    for (int i = a->count - 1; i >= first; i--)
        value = value * 0x1p64L + (long double)a->words[i];
    *exponent = 64 * first;
    return value;
}
