/* label_rule.c -- which cells belong to components: a comparison for each type, 64 cells a word. */
#include "label/label_parts.h"

#include <math.h>
#include <string.h>

#if defined __SSE2__
#include <emmintrin.h>
#endif

/* ---- From cells to bits ---------------------------------------------------------------------- */

enum { WORD = 64 };

/* Of 64 bytes that are 0 or 255. */
static inline uint64_t pack(const uint8_t *bytes)
{
    uint64_t word = 0;

#if defined __SSE2__
    for (int k = 0; k < WORD / 16; k++) {
        __m128i some = _mm_loadu_si128((const __m128i *)(const void *)(bytes + 16 * k));

        word |= (uint64_t)(uint32_t)_mm_movemask_epi8(some) << (16 * k);
    }
#else
    for (int k = 0; k < WORD; k++)
        word |= (uint64_t)(bytes[k] & 1) << k;
#endif
    return word;
}

#define BITS_OF(name, type, operator, value)                                                       \
    static void name(uint64_t *bits, const void *cells, int64_t n, const ar_label_rule *rule)      \
    {                                                                                              \
        const type *cell = cells;                                                                  \
        const type  against = (type)rule->value;                                                   \
        uint8_t     counts[WORD];                                                                  \
                                                                                                   \
        for (; n >= WORD; n -= WORD, cell += WORD) {                                               \
            for (int i = 0; i < WORD; i++)                                                         \
                counts[i] = cell[i] operator against ? 255 : 0;                                    \
            *bits++ = pack(counts);                                                                \
        }                                                                                          \
        memset(counts, 0, sizeof counts);                                                          \
        for (int i = 0; i < n; i++)                                                                \
            counts[i] = cell[i] operator against ? 255 : 0;                                        \
        if (n > 0)                                                                                 \
            *bits = pack(counts);                                                                  \
    }

/* X(name, type, what it is compared with, the least number, one more than the largest) */
#define WHOLE_TYPES(X)                                                                             \
    X(BOOL, uint8_t, whole, 0, 0x1p8)                                                              \
    X(I8, int8_t, whole, -0x1p7, 0x1p7)                                                            \
    X(I16, int16_t, whole, -0x1p15, 0x1p15)                                                        \
    X(I32, int32_t, whole, -0x1p31, 0x1p31)                                                        \
    X(I64, int64_t, whole, -0x1p63, 0x1p63)                                                        \
    X(U8, uint8_t, whole, 0, 0x1p8)                                                                \
    X(U16, uint16_t, whole, 0, 0x1p16)                                                             \
    X(U32, uint32_t, whole, 0, 0x1p32)                                                             \
    X(U64, uint64_t, whole, 0, 0x1p64)
#define REAL_TYPES(X)                                                                              \
    X(F32, float, real, -INFINITY, INFINITY)                                                       \
    X(F64, double, real, -INFINITY, INFINITY)

#define THREE_BITS_OF(name, type, value, least, limit)                                             \
    BITS_OF(nonzero_##name, type, !=, value)                                                       \
    BITS_OF(above_##name, type, >, value)                                                          \
    BITS_OF(equal_##name, type, ==, value)
WHOLE_TYPES(THREE_BITS_OF)
REAL_TYPES(THREE_BITS_OF)

/* What no cell can be, and what every cell is. */
static void none(uint64_t *bits, const void *cells, int64_t n, const ar_label_rule *rule)
{
    (void)cells, (void)rule;
    memset(bits, 0, (size_t)((n + WORD - 1) / WORD) * sizeof *bits);
}

static void all(uint64_t *bits, const void *cells, int64_t n, const ar_label_rule *rule)
{
    (void)cells, (void)rule;
    for (; n >= WORD; n -= WORD)
        *bits++ = UINT64_MAX;
    if (n > 0)
        *bits = (UINT64_C(1) << n) - 1;
}

/* ---- From options to a comparison ------------------------------------------------------------ */

static const struct {
    ar_label_bits *bits[ARRAS_LABEL_RULES]; /* of each rule */
    double         least, limit;
} types[ARRAS_DTYPE_END] = {
#define TYPE_ROW(name, type, value, from, to)                                                      \
    [ARRAS_##name] = { { nonzero_##name, above_##name, equal_##name }, from, to },
    WHOLE_TYPES(TYPE_ROW) REAL_TYPES(TYPE_ROW)
};

/* x > value, where x is a whole number, is x > floor(value). */
static void compare_whole(ar_label_rule *out, arras_label_rule rule, double value, double least,
                          double limit)
{
    double whole = floor(value);

    if (whole >= limit || (rule == ARRAS_LABEL_EQUAL && (whole != value || whole < least)))
        out->bits = none;
    else if (whole < least)
        out->bits = all;
    else
        out->whole = whole >= 0x1p63 ? (int64_t)(uint64_t)whole : (int64_t)whole;
}

/* x > value, where x is a float, is x > the largest float that is not above the value. */
static void compare_float(ar_label_rule *out, arras_label_rule rule, double value)
{
    float near = value > (double)INFINITY ? INFINITY : (float)value;

    if (rule == ARRAS_LABEL_EQUAL && (double)near != value)
        out->bits = none;
    out->real = (double)near > value ? (double)nextafterf(near, -INFINITY) : (double)near;
}

arras_status ar_label_rule_make(ar_label_rule *out, const arras_label_options *options,
                                arras_dtype dtype, arras_error *err)
{
    double value = options->rule == ARRAS_LABEL_NONZERO ? 0 : options->value;

    if ((unsigned)options->rule >= ARRAS_LABEL_RULES)
        return ar_fail(err, ARRAS_EINVAL, "label: there is no rule number %d", (int)options->rule);
    if ((unsigned)dtype >= ARRAS_DTYPE_END || !types[dtype].bits[0])
        return ar_fail(err, ARRAS_EDTYPE, "label: cells of type %s; they must be real numbers",
                       arras_dtype_name(dtype));
    if (isnan(value))
        return ar_fail(err, ARRAS_EINVAL, "label: no cell is above or equal to nan");
    *out = (ar_label_rule){ .bits = types[dtype].bits[options->rule], .real = value };
    if (dtype == ARRAS_F32)
        compare_float(out, options->rule, value);
    else if (dtype != ARRAS_F64)
        compare_whole(out, options->rule, value, types[dtype].least, types[dtype].limit);
    return ARRAS_OK;
}
