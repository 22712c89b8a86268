/* lang_ranges.c -- how far each index goes: given, or the length of what is read at exactly this
 * index, or as far as all reads stay inside; and whether all reads do. */
#include "lang/lang_ranges.h"

#include <inttypes.h>
#include <stdio.h>

/* ---- Intervals ------------------------------------------------------------------------------- */

/* Each index from its least to its largest value, whatever the others are. */
static lang_interval interval_over_box(const lang_affine *a, const lang_index *except)
{
    lang_interval r = { LANG_KNOWN, false, a->constant, a->constant };

    for (int i = 0; i < a->nterms; i++) {
        const lang_index *index = a->terms[i].index;
        int64_t           factor = a->terms[i].factor, low, high;
        bool              up = factor > 0;

        if (index == except)
            continue;
        if (index->state != LANG_KNOWN) {
            r.state = r.state == LANG_UNKNOWN ? LANG_UNKNOWN : index->state;
            continue;
        }
        r.empty = r.empty || index->hi <= index->lo;
        /* What does not fit can't be proved, and is left to the run. */
        if (__builtin_mul_overflow(factor, up ? index->lo : index->hi - 1, &low) ||
            __builtin_mul_overflow(factor, up ? index->hi - 1 : index->lo, &high) ||
            __builtin_add_overflow(r.min, low, &r.min) ||
            __builtin_add_overflow(r.max, high, &r.max))
            r.state = r.state == LANG_UNKNOWN ? LANG_UNKNOWN : LANG_BY_DATA;
    }
    return r;
}

static bool depends_on_others(const lang_affine *a, const lang_index *except,
                              const lang_index *around)
{
    for (; around; around = around->around)
        if (around->state == LANG_KNOWN && (around->moves || around->hi <= around->lo))
            return true;
    for (int i = 0; i < a->nterms; i++)
        if (a->terms[i].index != except && a->terms[i].index->moves)
            return true;
    return false;
}

lang_interval lang_interval_of(const lang_affine *a, const lang_index *except,
                               const lang_index *around)
{
    lang_interval r = interval_over_box(a, except);

    return r.state == LANG_KNOWN && !r.empty && depends_on_others(a, except, around)
               ? lang_interval_over_points(a, except, around)
               : r;
}

int64_t lang_floor_divide(int64_t a, int64_t b) { return a / b - (a % b < 0); }

int64_t lang_factor_of(const lang_affine *a, const lang_index *index)
{
    for (int i = 0; i < a->nterms; i++)
        if (a->terms[i].index == index)
            return a->terms[i].factor;
    return 0;
}

bool lang_mention_read(lang_lowering *L, const lang_read *read)
{
    for (int i = 0; read->affine && i < read->affine->nterms; i++) {
        lang_index   *index = read->affine->terms[i].index;
        lang_mention *mention = lang_alloc(L, 1, sizeof *mention);

        if (!mention)
            return false;
        mention->read = read;
        if (index->last_mention)
            index->last_mention->next = mention;
        else
            index->mentions = mention;
        index->last_mention = mention;
    }
    return true;
}

/* ---- Ranges that are given ------------------------------------------------------------------- */

static lang_interval bound_of(lang_lowering *L, lang_cell *cell, const lang_index *around)
{
    const lang_affine *a = cell ? lang_affine_of(L, cell) : NULL;

    if (!cell)
        return (lang_interval){ LANG_KNOWN, false, 0, 0 };
    return a ? lang_interval_of(a, NULL, around) : (lang_interval){ LANG_BY_DATA, false, 0, 0 };
}

/* Even if they have one value only: they may shrink to none. */
static bool has_indices(const lang_cell *bound)
{
    return bound && bound->affine && bound->affine->nterms > 0;
}

static bool settle_given(lang_lowering *L, lang_index *index)
{
    lang_interval first, end;

    if (!index->end)
        return false;
    first = bound_of(L, index->first, index->around);
    end = bound_of(L, index->end, index->around);
    if (first.state == LANG_UNKNOWN || end.state == LANG_UNKNOWN)
        return false;
    index->moves = first.state != LANG_KNOWN || end.state != LANG_KNOWN ||
                   has_indices(index->first) || has_indices(index->end);
    if (first.state == LANG_BY_DATA || end.state == LANG_BY_DATA) {
        index->state = LANG_BY_DATA;
        return true;
    }
    index->state = LANG_KNOWN;
    index->lo = first.min;
    index->hi = end.max > first.min ? end.max : first.min;
    return true;
}

/* ---- Ranges of arrays read at exactly this index --------------------------------------------- */

static bool is_exact(const lang_read *read)
{
    return !read->in_bound && read->affine->nterms == 1 && read->affine->terms[0].factor == 1 &&
           read->affine->constant == 0;
}

/* "axis 0 of `x`" */
static const char *axis_text(const lang_read *read, char *room, size_t size)
{
    const lang_node *base = read->load->node->parts[0];

    snprintf(room, size, "axis %d of `%.*s`", read->axis,
             (int)(base->place.length < 60 ? base->place.length : 60),
             base->place.source->text + base->place.start);
    return room;
}

static bool fail_lengths(lang_lowering *L, const lang_index *index, const lang_read *a,
                         const lang_read *b)
{
    const char *name = index->range->symbol->text;
    char        one[96], other[96];

    return lang_fail(L->err, b->load->node->place,
                     "`%s` runs over %s (length %" PRId64 ") and %s (length %" PRId64
                     "): they must be equal, or give it a range, %s:%" PRId64,
                     name, axis_text(a, one, sizeof one), a->length,
                     axis_text(b, other, sizeof other), b->length, name,
                     a->length < b->length ? a->length : b->length);
}

static bool settle_exact(lang_lowering *L, lang_index *index, bool guarded, bool *settled)
{
    const lang_read *first = NULL;

    for (const lang_mention *m = index->mentions; m; m = m->next) {
        if (m->read->guarded != guarded || !is_exact(m->read))
            continue;
        if (first && first->length != m->read->length)
            return fail_lengths(L, index, first, m->read);
        first = first ? first : m->read;
    }
    if (!first)
        return true;
    index->state = LANG_KNOWN;
    index->hi = first->length;
    return *settled = true;
}

/* ---- Ranges in which all reads stay inside --------------------------------------------------- */

/* How many values from 0 on keep a read inside; with a rule for its edge, those at which the index
 * itself, without what is added to it, is inside. */
static int64_t count_inside(const lang_read *read, const lang_index *index, lang_interval rest)
{
    int64_t factor = lang_factor_of(read->affine, index), most;

    if (factor > 0)
        most = lang_floor_divide(read->length - 1 - (read->edged ? 0 : rest.max), factor);
    else
        most = lang_floor_divide(rest.min, -factor);
    return most < 0 ? 0 : most + 1;
}

typedef struct {
    bool    found, open; /* open: some read has other indices that are not known yet */
    int64_t count;
} bounds;

static bounds bounds_of(const lang_index *index, bool guarded)
{
    bounds b = { false, false, 0 };

    for (const lang_mention *m = index->mentions; m; m = m->next) {
        lang_interval rest = lang_interval_of(m->read->affine, index, m->read->around);
        int64_t       count;

        b.open = b.open || rest.state == LANG_UNKNOWN;
        if (m->read->guarded != guarded || rest.state != LANG_KNOWN || rest.empty)
            continue;
        count = count_inside(m->read, index, rest);
        b.count = !b.found || count < b.count ? count : b.count;
        b.found = true;
    }
    return b;
}

static bool settle_affine(lang_index *index, bool all_must_be_known)
{
    bounds b;

    if (index->end)
        return false;
    b = bounds_of(index, false);
    if (!b.found)
        b = bounds_of(index, true);
    if (!b.found || (b.open && all_must_be_known))
        return false;
    index->state = LANG_KNOWN;
    index->hi = b.count;
    return true;
}

/* ---- All of them ----------------------------------------------------------------------------- */

static lang_index *index_at(const lang_equation *eq, size_t i)
{
    return (lang_index *)(uintptr_t)eq->indices.items[i];
}

static bool settle_all_exact(lang_lowering *L, lang_equation *eq)
{
    for (size_t i = 0; i < eq->indices.count; i++) {
        lang_index *index = index_at(eq, i);
        bool        settled = false;

        if (index->state != LANG_UNKNOWN || settle_given(L, index) || index->end)
            continue;
        if (!settle_exact(L, index, false, &settled) ||
            (!settled && !settle_exact(L, index, true, &settled)))
            return false;
    }
    return true;
}

typedef struct {
    const lang_index *open; /* the first that is not settled */
    bool              progress;
} pass;

static pass settle_once(lang_lowering *L, lang_equation *eq, bool all_must_be_known)
{
    pass p = { NULL, false };

    for (size_t i = 0; i < eq->indices.count; i++) {
        lang_index *index = index_at(eq, i);

        if (index->state != LANG_UNKNOWN)
            continue;
        if (settle_given(L, index) || settle_affine(index, all_must_be_known))
            p.progress = true;
        else if (!p.open)
            p.open = index;
        if (p.progress && !all_must_be_known)
            break; /* one guess may settle others properly */
    }
    return p;
}

static bool fail_unbounded(lang_lowering *L, const lang_index *index)
{
    const char *name = index->range->symbol->text;

    return lang_fail(L->err, index->range->place,
                     "nothing says how far `%s` goes: read an array at `%s`, or write its range, "
                     "%s:N",
                     name, name, name);
}

static bool settle_rest(lang_lowering *L, lang_equation *eq)
{
    for (;;) {
        pass p = settle_once(L, eq, true);

        if (!p.open && !p.progress)
            return true;
        if (!p.progress && !settle_once(L, eq, false).progress)
            return fail_unbounded(L, p.open);
    }
}

/* ---- The edge `none`: ranges shrink ---------------------------------------------------------- */

static bool is_inside(const lang_read *read, lang_interval r)
{
    return r.state != LANG_KNOWN || r.empty || (r.min >= 0 && r.max < read->length);
}

/* An index of the result if there is one, else one that is reduced over. */
lang_index *lang_index_to_shrink(const lang_read *read)
{
    lang_index *found = NULL;

    for (int i = 0; i < read->affine->nterms; i++) {
        lang_index *index = read->affine->terms[i].index;

        if (index->state == LANG_KNOWN && !index->moves && (!found || found->axis < 0))
            found = index;
    }
    return found;
}

/* Other indices have the same values for each value of this one. */
static void shrink_alike(const lang_read *read, lang_index *index)
{
    int64_t       factor = lang_factor_of(read->affine, index), lo, last;
    lang_interval rest = lang_interval_of(read->affine, index, read->around);

    if (rest.state != LANG_KNOWN || rest.empty)
        return;
    if (factor > 0) {
        lo = -lang_floor_divide(rest.min, factor);
        last = lang_floor_divide(read->length - 1 - rest.max, factor);
    } else {
        lo = -lang_floor_divide(read->length - 1 - rest.max, -factor);
        last = lang_floor_divide(rest.min, -factor);
    }
    index->lo = lo > index->lo ? lo : index->lo;
    index->hi = last + 1 < index->hi ? last + 1 : index->hi;
}

/* One by one, where whole numbers leave gaps.  Of a longer range nothing is left out: an error. */
static void shrink_by_values(const lang_read *read, lang_index *index, bool beyond)
{
    enum { MOST_VALUES = 1000 };

    if ((uint64_t)index->hi - (uint64_t)index->lo > MOST_VALUES)
        return;
    while (index->lo < index->hi && lang_is_outside_at(read, index, index->lo, beyond))
        index->lo++;
    while (index->lo < index->hi && lang_is_outside_at(read, index, index->hi - 1, beyond))
        index->hi--;
}

/* A value at which nothing is read stays; those in the middle that do not exist are found later. */
static void shrink_by_points(const lang_read *read, lang_index *index)
{
    for (int beyond = 0; beyond < 2; beyond++) {
        lang_interval outside = lang_values_outside(read, index, beyond);

        if (outside.state != LANG_KNOWN)
            shrink_by_values(read, index, beyond);
        else if (outside.empty)
            continue;
        else if (outside.min <= index->lo)
            index->lo = outside.max + 1;
        else if (outside.max >= index->hi - 1)
            index->hi = outside.min;
    }
}

/* Whether it did. */
static bool shrink(const lang_read *read, lang_index *index)
{
    int64_t lo = index->lo, hi = index->hi;

    if (depends_on_others(read->affine, index, read->around))
        shrink_by_points(read, index);
    else
        shrink_alike(read, index);
    index->hi = index->hi < index->lo ? index->lo : index->hi;
    return index->lo != lo || index->hi != hi;
}

static bool shrink_once(const lang_equation *eq)
{
    bool shrunk = false;

    for (size_t i = 0; i < eq->reads.count; i++) {
        const lang_read *read = eq->reads.items[i];
        lang_index      *index;

        if (!read->shrinks || read->guarded || !read->affine ||
            is_inside(read, lang_interval_of(read->affine, NULL, read->around)))
            continue;
        index = lang_index_to_shrink(read);
        shrunk = (index && shrink(read, index)) || shrunk;
    }
    return shrunk;
}

/* What lies in the middle for one read may be at an end once another has cut. */
static void shrink_all(const lang_equation *eq)
{
    while (shrink_once(eq))
        ;
}

/* Where the index of a read is largest or smallest. */
static bool find_point(int64_t *values, const lang_read *read, bool largest)
{
    const lang_affine *a = read->affine;

    if (depends_on_others(a, NULL, read->around))
        return lang_find_point(values, a, read->around, largest);
    for (int i = 0; i < a->nterms; i++) {
        const lang_index *index = a->terms[i].index;

        values[i] = (a->terms[i].factor > 0) == largest ? index->hi - 1 : index->lo;
    }
    return true;
}

/* An error needs a cell that is outside.  Where none is found, the run has to look. */
static bool check_reach(lang_lowering *L, const lang_read *read, lang_interval r, bool beyond)
{
    int64_t values[LANG_MAX_TERMS], at = read->affine->constant;

    if (beyond ? r.max < read->length : r.min >= 0)
        return true;
    if (!find_point(values, read, beyond))
        return true;
    for (int i = 0; i < read->affine->nterms; i++)
        at += read->affine->terms[i].factor * values[i];
    if (beyond ? at < read->length : at >= 0)
        return true;
    return lang_fail_reach(L, read, at, values);
}

static bool check_reads(lang_lowering *L, const lang_equation *eq)
{
    for (size_t i = 0; i < eq->reads.count; i++) {
        const lang_read *read = eq->reads.items[i];
        lang_interval    r;

        if (read->edged || read->guarded || !read->affine)
            continue;
        r = lang_interval_of(read->affine, NULL, read->around);
        if (!is_inside(read, r) &&
            (!check_reach(L, read, r, true) || !check_reach(L, read, r, false)))
            return false;
    }
    return true;
}

bool lang_find_ranges(lang_lowering *L, lang_equation *eq)
{
    if (!settle_all_exact(L, eq) || !settle_rest(L, eq))
        return false;
    shrink_all(eq);
    return check_reads(L, eq);
}
