/* sweep_changes.c -- what a function changed: cells with other bits, and the largest change. */
#include "native/sweep_job.h"

#include <math.h>
#include <string.h>

/* ---- Cells with other bits ------------------------------------------------------------------- */

#define COUNT_DIFFERENT(name, type)                                                                \
    static int64_t name(const char *a, const char *b, int64_t count)                               \
    {                                                                                              \
        int64_t different = 0;                                                                     \
                                                                                                   \
        for (int64_t i = 0; i < count; i++) {                                                      \
            type x, y;                                                                             \
                                                                                                   \
            memcpy(&x, a + i * (int64_t)sizeof x, sizeof x);                                       \
            memcpy(&y, b + i * (int64_t)sizeof y, sizeof y);                                       \
            different += x != y;                                                                   \
        }                                                                                          \
        return different;                                                                          \
    }
COUNT_DIFFERENT(different_1, uint8_t)
COUNT_DIFFERENT(different_2, uint16_t)
COUNT_DIFFERENT(different_4, uint32_t)
COUNT_DIFFERENT(different_8, uint64_t)
#undef COUNT_DIFFERENT

static int64_t different_16(const char *a, const char *b, int64_t count)
{
    int64_t different = 0;

    for (int64_t i = 0; i < count; i++)
        different += memcmp(a + 16 * i, b + 16 * i, 16) != 0;
    return different;
}

static int64_t count_different(size_t size, const char *a, const char *b, int64_t count)
{
    switch (size) {
    case 1: return different_1(a, b, count);
    case 2: return different_2(a, b, count);
    case 4: return different_4(a, b, count);
    case 8: return different_8(a, b, count);
    default: return different_16(a, b, count);
    }
}

/* ---- How much -------------------------------------------------------------------------------- */

/* Up to two parts of a cell, as reals. */
static void parts_of(double *out, arras_dtype dtype, const char *cell)
{
    out[1] = 0;
    switch (dtype) {
#define READ_PART(constant, name, ctype)                                                           \
    case ARRAS_##constant: {                                                                       \
        ctype value;                                                                               \
        memcpy(&value, cell, sizeof value);                                                        \
        out[0] = (double)value;                                                                    \
        break;                                                                                     \
    }
        READ_PART(BOOL, bool, uint8_t)
        READ_PART(I8, i8, int8_t)
        READ_PART(I16, i16, int16_t)
        READ_PART(I32, i32, int32_t)
        READ_PART(I64, i64, int64_t)
        READ_PART(U8, u8, uint8_t)
        READ_PART(U16, u16, uint16_t)
        READ_PART(U32, u32, uint32_t)
        READ_PART(U64, u64, uint64_t)
        READ_PART(F32, f32, float)
        READ_PART(F64, f64, double)
#undef READ_PART
    case ARRAS_C64: {
        float values[2];
        memcpy(values, cell, sizeof values);
        out[0] = (double)values[0];
        out[1] = (double)values[1];
        break;
    }
    case ARRAS_C128: memcpy(out, cell, 2 * sizeof *out); break;
    default: out[0] = 0;
    }
}

static double change_of(const arras_sweeping *s, const char *before, const char *after)
{
    double a[2], b[2], change;

    if (s->request.change) {
        change = s->request.change(before, after, s->request.context);
    } else {
        parts_of(a, s->arrays[0].dtype, before);
        parts_of(b, s->arrays[0].dtype, after);
        change = hypot(b[0] - a[0], b[1] - a[1]);
    }
    return isnan(change) ? INFINITY : change;
}

/* The maximum does not depend on the order of cells. */
static void measure(const arras_sweeping *s, ar_sweep_worker *w, const char *cells, int64_t count)
{
    size_t size = s->arrays[0].size;

    for (int64_t i = 0; i < count; i++) {
        const char *before = w->saved + (size_t)i * size, *after = cells + (size_t)i * size;
        double      change;

        if (memcmp(before, after, size) == 0)
            continue;
        change = change_of(s, before, after);
        w->largest = change > w->largest ? change : w->largest;
    }
}

void ar_sweep_compare(const arras_sweeping *s, ar_sweep_worker *w, const char *cells, int64_t count)
{
    size_t  size = s->arrays[0].size;
    int64_t different = count_different(size, w->saved, cells, count);

    w->changes += different;
    if (different > 0 && (s->request.tolerance > 0 || s->request.change))
        measure(s, w, cells, count);
}
