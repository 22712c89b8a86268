/* native_border.c -- what cells look at beyond the ends of an array: which cells of the array those
 * are, and copies in which they lie where they are looked for. */
#include "native/native_parts.h"

#include <string.h>

/* ---- Where cells look ------------------------------------------------------------------------ */

void ar_native_looks_at(int64_t *from, int64_t *to, const ar_native_input *in, int axis,
                        const int64_t *lo, const int64_t *hi)
{
    int64_t step = in->step[axis], first = in->start[axis], last = first;

    if (step > 0) {
        first += step * lo[in->axes[axis]];
        last += step * (hi[in->axes[axis]] - 1);
    }
    *from = first - in->before[axis];
    *to = last + in->after[axis] + 1;
}

bool ar_native_leaves(const ar_native_input *in, const int64_t *lo, const int64_t *hi)
{
    int64_t from, to;

    for (int a = 0; a < in->rank && !in->whole; a++) {
        ar_native_looks_at(&from, &to, in, a, lo, hi);
        if (from < 0 || to > in->shape[a])
            return true;
    }
    return false;
}

/* After how many cells a rule repeats itself: reflect a b c d d c b a, mirror a b c d c b. */
static int64_t period_of(arras_edge_rule rule, int64_t length)
{
    if (rule == ARRAS_EDGE_REFLECT)
        return 2 * length;
    return rule == ARRAS_EDGE_MIRROR && length > 1 ? 2 * length - 2 : length;
}

/* The cell that stands for cell i of an axis; -1: the fill. */
static int64_t bring_inside(arras_edge_rule rule, int64_t i, int64_t length)
{
    int64_t period, at;

    if (i >= 0 && i < length)
        return i;
    if (rule == ARRAS_EDGE_CONSTANT)
        return -1;
    if (rule == ARRAS_EDGE_NEAREST)
        return i < 0 ? 0 : length - 1;
    period = period_of(rule, length);
    at = i % period;
    at += at < 0 ? period : 0;
    if (at < length)
        return at;
    return rule == ARRAS_EDGE_REFLECT ? period - 1 - at : period - at;
}

/* ---- What they need -------------------------------------------------------------------------- */

static void add_range(ar_region *r, int64_t lo, int64_t hi)
{
    ar_region more = ar_region_box(1, &lo, &hi);

    ar_region_add(r, &more);
}

/* The cells that stand for from <= i < to, all on one side of the array; all of the array where
 * these go around more than once. */
static void add_outside(ar_region *r, arras_edge_rule rule, int64_t from, int64_t to,
                        int64_t length)
{
    int64_t a = bring_inside(rule, from, length), b = bring_inside(rule, to - 1, length);

    if (a < 0)
        return;
    if (rule != ARRAS_EDGE_NEAREST && (from <= -length || to >= 2 * length))
        add_range(r, 0, length);
    else
        add_range(r, ar_min64(a, b), ar_max64(a, b) + 1);
}

static ar_region axis_needs(const ar_native_input *in, int axis, const int64_t *lo,
                            const int64_t *hi)
{
    arras_edge_rule rule = in->rules[axis];
    int64_t         from, to, length = in->shape[axis];
    ar_region       r = { .rank = 1 };

    ar_native_looks_at(&from, &to, in, axis, lo, hi);
    if (length == 0)
        return r;
    add_range(&r, ar_max64(from, 0), ar_min64(to, length));
    if (from < 0)
        add_outside(&r, rule, from, ar_min64(to, 0), length);
    if (to > length)
        add_outside(&r, rule, ar_max64(from, length), to, length);
    return r;
}

ar_region ar_native_need(const ar_native_input *in, const int64_t *lo, const int64_t *hi)
{
    static const int64_t zeros[ARRAS_MAX_RANK];
    ar_region            all = ar_region_box(in->rank, zeros, in->shape);

    for (int a = 0; a < in->rank && !in->whole; a++) {
        ar_region r = axis_needs(in, a, lo, hi);

        all.axes[a] = r.axes[0];
        all.any = all.any && r.any;
    }
    return all;
}

/* ---- Patches --------------------------------------------------------------------------------- */

enum { SHORT = 32 };

typedef struct {
    const ar_native_input *in;
    int64_t                lo[ARRAS_MAX_RANK], hi[ARRAS_MAX_RANK], strides[ARRAS_MAX_RANK];
    char                  *cells;
    uintptr_t              origin;
    const int64_t         *outer;         /* strides of the array */
    bool                   is_short;      /* lines are */
    int64_t                places[SHORT]; /* then, along a line: cells of the array; -1: the fill */
} patch;

static int64_t lay_out(patch *p, const int64_t *lo, const int64_t *hi)
{
    int64_t bytes = (int64_t)p->in->size;

    for (int a = p->in->rank - 1; a >= 0; a--) {
        ar_native_looks_at(&p->lo[a], &p->hi[a], p->in, a, lo, hi);
        p->strides[a] = bytes;
        if (!ar_mul64(&bytes, bytes, p->hi[a] - p->lo[a]))
            return INT64_MAX;
    }
    return bytes;
}

int64_t ar_native_patch_bytes(const ar_native_input *in, const int64_t *lo, const int64_t *hi)
{
    patch p;

    p.in = in;
    return lay_out(&p, lo, hi);
}

/* The cells of a short line, of which most are copies of others; most lines are short. */
#define GATHER(name, type)                                                                         \
    static void name(char *to, const char *from, const int64_t *places, int64_t n,                 \
                     const void *fill)                                                             \
    {                                                                                              \
        const type *cells = (const type *)(const void *)from;                                      \
        type       *out = (type *)(void *)to;                                                      \
                                                                                                   \
        for (int64_t i = 0; i < n; i++)                                                            \
            out[i] = places[i] < 0 ? *(const type *)fill : cells[places[i]];                       \
    }
GATHER(gather_1, uint8_t)
GATHER(gather_2, uint16_t)
GATHER(gather_4, uint32_t)
GATHER(gather_8, uint64_t)

typedef struct {
    uint64_t halves[2];
} sixteen;
GATHER(gather_16, sixteen)

static void gather_line(const patch *p, char *to, const char *from)
{
    int         axis = p->in->rank - 1;
    int64_t     n = p->hi[axis] - p->lo[axis];
    const void *fill = p->in->fills[axis];

    switch (p->in->size) {
    case 1: gather_1(to, from, p->places, n, fill); break;
    case 2: gather_2(to, from, p->places, n, fill); break;
    case 4: gather_4(to, from, p->places, n, fill); break;
    case 8: gather_8(to, from, p->places, n, fill); break;
    default: gather_16(to, from, p->places, n, fill); break;
    }
}

/* Those inside at once, the others one by one. */
static void copy_long_line(const patch *p, char *to, const char *from)
{
    const ar_native_input *in = p->in;
    int                    axis = in->rank - 1;
    int64_t                size = (int64_t)in->size, length = in->shape[axis];
    int64_t                first = p->lo[axis], last = p->hi[axis];
    int64_t                inside_lo = ar_max64(first, 0), inside_hi = ar_min64(last, length);

    for (int64_t i = first; i < last; i++) {
        int64_t at = bring_inside(in->rules[axis], i, length);

        if (i == inside_lo && inside_lo < inside_hi) {
            memcpy(to + (i - first) * size, from + i * size, (size_t)(inside_hi - i) * in->size);
            i = inside_hi - 1;
        } else {
            memcpy(to + (i - first) * size,
                   at < 0 ? (const char *)in->fills[axis] : from + at * size, in->size);
        }
    }
}

/* Which fill a line has that is outside along an axis before the last; NULL: it is not. */
static const void *line_fill(const patch *p, const int64_t *at)
{
    const void *fill = NULL;

    for (int a = 0; a < p->in->rank - 1; a++)
        if (at[a] < 0)
            fill = p->in->fills[a];
    return fill;
}

/* A line that is outside is filled, but where it leaves the last axis too, whose fill decides. */
static void fill_line(const patch *p, char *to, const void *fill)
{
    const ar_native_input *in = p->in;
    int                    axis = in->rank - 1;

    for (int64_t i = p->lo[axis]; i < p->hi[axis]; i++) {
        bool inside = bring_inside(in->rules[axis], i, in->shape[axis]) >= 0;

        memcpy(to + (i - p->lo[axis]) * (int64_t)in->size, inside ? fill : in->fills[axis],
               in->size);
    }
}

static void copy_one(const patch *p, const int64_t *index)
{
    const ar_native_input *in = p->in;
    int64_t                at[ARRAS_MAX_RANK];
    uintptr_t              from = p->origin;
    char                  *to = p->cells;
    const void            *fill;

    for (int a = 0; a < in->rank - 1; a++) {
        at[a] = bring_inside(in->rules[a], index[a], in->shape[a]);
        from += (uintptr_t)(at[a] * p->outer[a]);
        to += (index[a] - p->lo[a]) * p->strides[a];
    }
    fill = line_fill(p, at);
    if (fill)
        fill_line(p, to, fill);
    else if (p->is_short)
        gather_line(p, to, (const char *)from);
    else
        copy_long_line(p, to, (const char *)from);
}

static void find_places(patch *p)
{
    const ar_native_input *in = p->in;
    int                    axis = in->rank - 1;

    p->is_short = p->hi[axis] - p->lo[axis] <= SHORT;
    for (int64_t i = p->lo[axis]; i < p->hi[axis] && p->is_short; i++)
        p->places[i - p->lo[axis]] = bring_inside(in->rules[axis], i, in->shape[axis]);
}

static bool next_line(const patch *p, int64_t *index)
{
    for (int a = p->in->rank - 2; a >= 0; a--) {
        if (++index[a] < p->hi[a])
            return true;
        index[a] = p->lo[a];
    }
    return false;
}

static arras_status make_room(ar_native_worker *w, int k, int64_t bytes, arras_error *err)
{
    if ((uint64_t)bytes <= w->patch_bytes[k])
        return ARRAS_OK;
    ar_free(w->patches[k]);
    w->patch_bytes[k] = 0;
    w->patches[k] = bytes < INT64_MAX ? ar_alloc((size_t)bytes, 1) : NULL;
    if (!w->patches[k])
        return ar_fail_memory(err, (size_t)bytes);
    w->patch_bytes[k] = (size_t)bytes;
    return ARRAS_OK;
}

arras_status ar_native_patch(const ar_native *n, ar_native_worker *w, int k,
                             const ar_operands *operands, const int64_t *lo, const int64_t *hi,
                             arras_error *err)
{
    patch        p;
    int64_t      index[ARRAS_MAX_RANK];
    arras_status status;

    p.in = &n->inputs[k];
    p.origin = (uintptr_t)operands->origins[n->stage.nresults + k];
    p.outer = operands->strides[n->stage.nresults + k];
    status = make_room(w, k, lay_out(&p, lo, hi), err);
    if (status != ARRAS_OK)
        return status;
    p.cells = w->patches[k];
    find_places(&p);
    memcpy(index, p.lo, sizeof index);
    do
        copy_one(&p, index);
    while (next_line(&p, index));
    w->origins[k] = (uintptr_t)p.cells;
    for (int a = 0; a < p.in->rank; a++) {
        w->origins[k] -= (uintptr_t)(p.lo[a] * p.strides[a]);
        w->views[k].stride[a] = p.strides[a];
    }
    return ARRAS_OK;
}
