/* probability.c -- exact probabilities: texts become whole weights with one total. */
#include "chunk/probability.h"

#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <stdlib.h>

static int64_t gcd(int64_t a, int64_t b)
{
    while (b) {
        int64_t rest = a % b;

        a = b;
        b = rest;
    }
    return a < 0 ? -a : a;
}

/* Digits with a point and an exponent: *upper / 10^n. */
static bool read_decimal(int64_t *upper, int64_t *lower, const char **at)
{
    bool        negative = **at == '-', any = false, point = false;
    const char *c = *at + (**at == '-' || **at == '+');
    long        power = 0;

    *upper = 0;
    *lower = 1;
    for (; isdigit((unsigned char)*c) || (*c == '.' && !point); c++) {
        if (*c == '.') {
            point = true;
            continue;
        }
        any = true;
        power -= point;
        if (!ar_mul64(upper, *upper, 10) || !ar_add64(upper, *upper, *c - '0'))
            return false;
    }
    if (any && (*c == 'e' || *c == 'E')) {
        char *end;

        power += strtol(c + 1, &end, 10);
        any = end != c + 1;
        c = end;
    }
    for (; power > 0 && *upper != 0; power--)
        if (!ar_mul64(upper, *upper, 10))
            return false;
    for (; power < 0 && *upper != 0; power++) {
        if (*upper % 10 == 0)
            *upper /= 10;
        else if (!ar_mul64(lower, *lower, 10))
            return false;
    }
    *upper = negative ? -*upper : *upper;
    *at = c;
    return any;
}

arras_status ar_ratio_read(int64_t *upper, int64_t *lower, const char *text, const char *what,
                           arras_error *err)
{
    const char *at = text;
    int64_t     a, b, c = 1, d = 1;
    bool        ok = read_decimal(&a, &b, &at);

    if (ok && *at == '/') {
        at++;
        ok = read_decimal(&c, &d, &at);
    }
    /* (a/b) / (c/d) */
    if (!ok || *at || c <= 0 || !ar_mul64(&a, a, d) || !ar_mul64(&b, b, c))
        return ar_fail(err, ARRAS_EINVAL,
                       "%s is '%s'; write a number such as 0.25 or 1/3, of at most 18 digits", what,
                       text);
    int64_t common = gcd(a, b);
    *upper = a / common;
    *lower = b / common;
    return ARRAS_OK;
}

static arras_status read_probability(int64_t *upper, int64_t *lower, int64_t i, const char *text,
                                     arras_error *err)
{
    if (ar_ratio_read(upper, lower, text, "a probability", err) != ARRAS_OK)
        return ARRAS_EINVAL;
    if (*upper < 0 || *upper > *lower)
        return ar_fail(err, ARRAS_EINVAL, "probability %" PRId64 " is %s; it must be from 0 to 1",
                       i + 1, text);
    return ARRAS_OK;
}

/* The number that every lower one divides. */
static arras_status find_common(int64_t *common, int64_t n, const char *const *texts,
                                arras_error *err)
{
    *common = 1;
    for (int64_t i = 0; i < n; i++) {
        int64_t      upper, lower;
        arras_status status = read_probability(&upper, &lower, i, texts[i], err);

        if (status != ARRAS_OK)
            return status;
        if (!ar_mul64(common, *common / gcd(*common, lower), lower) || *common > INT64_MAX / 4)
            return ar_fail(err, ARRAS_ELIMIT,
                           "the probabilities have no common denominator below 2^61, from %s on; "
                           "write them with fewer digits",
                           texts[i]);
    }
    return ARRAS_OK;
}

static void reduce(int64_t *weights, int64_t n)
{
    int64_t common = 0;

    for (int64_t i = 0; i < n; i++)
        common = gcd(common, weights[i]);
    for (int64_t i = 0; i < n && common > 1; i++)
        weights[i] /= common;
}

arras_status ar_weights_read(int64_t *weights, int64_t n, const char *const *texts,
                             arras_error *err)
{
    int64_t      common, sum = 0;
    arras_status status = ARRAS_OK;

    for (int64_t i = 0; i < n && !texts; i++)
        weights[i] = 1;
    if (!texts)
        return ARRAS_OK;
    status = find_common(&common, n, texts, err);
    for (int64_t i = 0; i < n && status == ARRAS_OK; i++) {
        int64_t upper, lower;

        status = read_probability(&upper, &lower, i, texts[i], err);
        if (status == ARRAS_OK)
            weights[i] = upper * (common / lower);
        if (status == ARRAS_OK && !ar_add64(&sum, sum, weights[i]))
            sum = INT64_MAX; /* far from 1, as the next check says */
    }
    if (status != ARRAS_OK)
        return status;
    if (fabs((double)sum / (double)common - 1) > 1e-9)
        return ar_fail(err, ARRAS_EINVAL, "the probabilities add up to %.12g, not to 1",
                       (double)sum / (double)common);
    reduce(weights, n);
    return ARRAS_OK;
}
