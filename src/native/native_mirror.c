/* native_mirror.c -- cells whose value says what they become: the function is called for the runs
 * of cells between them. */
#include "native/native_parts.h"

#include <string.h>

/* ---- Which cells ----------------------------------------------------------------------------- */

typedef void mark_function(uint8_t *marks, uint8_t mark, const char *at, int64_t advance,
                           int64_t count, const void *low, const void *high);

/* A low end that is not equal to itself is NaN, and stands for NaN. */
#define MARK(constant, name, ctype)                                                                \
    static void mark_##name(uint8_t *marks, uint8_t mark, const char *at, int64_t advance,         \
                            int64_t count, const void *low, const void *high)                      \
    {                                                                                              \
        ctype lo, hi;                                                                              \
                                                                                                   \
        memcpy(&lo, low, sizeof lo);                                                               \
        memcpy(&hi, high, sizeof hi);                                                              \
        for (int64_t i = 0; i < count; i++, at += advance) {                                       \
            ctype x = *(const ctype *)(const void *)at;                                            \
                                                                                                   \
            if (((lo <= x && x <= hi) || (lo != lo && x != x)) && !marks[i])                       \
                marks[i] = mark;                                                                   \
        }                                                                                          \
    }

#define REAL_LIST(X)                                                                               \
    X(BOOL, bool, uint8_t)                                                                         \
    X(I8, i8, int8_t)                                                                              \
    X(I16, i16, int16_t)                                                                           \
    X(I32, i32, int32_t)                                                                           \
    X(I64, i64, int64_t)                                                                           \
    X(U8, u8, uint8_t)                                                                             \
    X(U16, u16, uint16_t)                                                                          \
    X(U32, u32, uint32_t)                                                                          \
    X(U64, u64, uint64_t)                                                                          \
    X(F32, f32, float)                                                                             \
    X(F64, f64, double)

REAL_LIST(MARK)

static mark_function *const marking[ARRAS_DTYPE_END] = {
#define ROW(constant, name, ctype) [ARRAS_##constant] = mark_##name,
    REAL_LIST(ROW)
#undef ROW
};

bool ar_native_can_mirror(arras_dtype dtype) { return marking[dtype] != NULL; }

static arras_status mark_row(const ar_native *n, ar_native_worker *w, int64_t count,
                             arras_error *err)
{
    if (count > w->nmarks) {
        ar_free(w->marks);
        w->nmarks = 0;
        w->marks = ar_alloc((size_t)count, 1);
        if (!w->marks)
            return ar_fail_memory(err, (size_t)count);
        w->nmarks = count;
    }
    memset(w->marks, 0, (size_t)count);
    for (int i = 0; i < n->nmirrors; i++)
        marking[n->inputs[0].dtype](w->marks, (uint8_t)(i + 1), w->views[0].at, w->views[0].advance,
                                    count, n->mirrors[i].low, n->mirrors[i].high);
    return ARRAS_OK;
}

/* ---- What they become ------------------------------------------------------------------------ */

static void put_mirrored(const ar_native *n, ar_native_worker *w, const ar_native_mirror *mirror)
{
    for (int m = 0; m < n->stage.nresults; m++)
        memcpy(w->outs[m], mirror->outputs[m], (size_t)n->outputs[m].cell_bytes);
    ar_native_step(n, w, 1);
}

static int64_t run_length(const uint8_t *marks, int64_t from, int64_t count)
{
    int64_t i = from;

    while (i < count && !marks[i])
        i++;
    return i - from;
}

arras_status ar_native_call_mirrored(const ar_native *n, ar_native_worker *w, int64_t count,
                                     arras_error *err)
{
    arras_status status = mark_row(n, w, count, err);

    for (int64_t i = 0; i < count && status == ARRAS_OK;) {
        int64_t cells = run_length(w->marks, i, count);

        if (cells > 0)
            ar_native_call(n, w, cells);
        i += cells;
        if (i < count)
            put_mirrored(n, w, &n->mirrors[w->marks[i++] - 1]);
    }
    return status;
}
