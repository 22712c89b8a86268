/* sweep_lines.c -- one line of cells: where its neighbours are, and the calls of the function. */
#include "stream/sweep_job.h"

#include <string.h>

enum { MOST_LINES = 1 << 16 };

/* ---- Plan ------------------------------------------------------------------------------------ */

static int64_t span(const arras_sweeping *s, int axis)
{
    return s->before[axis] + 1 + s->after[axis];
}

/* The offset along an axis of a line. */
static int64_t offset_of(const arras_sweeping *s, int64_t line, int axis)
{
    return line / s->lines.weights[axis] % span(s, axis) - s->before[axis];
}

static arras_status count_lines(arras_sweeping *s, arras_error *err)
{
    ar_sweep_lines *lines = &s->lines;

    lines->count = 1;
    for (int d = s->rank - 2; d >= 0; d--) {
        lines->weights[d] = lines->count;
        lines->centre += s->before[d] * lines->count;
        if (!ar_mul64(&lines->count, lines->count, span(s, d)) || lines->count > MOST_LINES)
            return ar_fail(err, ARRAS_ELIMIT,
                           "sweep: the reach takes in more than %d lines of cells", MOST_LINES);
    }
    return ARRAS_OK;
}

static arras_status make_deltas(arras_sweeping *s, arras_error *err)
{
    ar_sweep_lines *lines = &s->lines;

    lines->deltas = ar_arena_alloc(&s->arena, (size_t)(s->narrays * lines->count), sizeof(int64_t));
    if (!lines->deltas)
        return ar_fail_memory(err, (size_t)(s->narrays * lines->count) * sizeof(int64_t));
    for (int64_t i = 0; i < s->narrays * lines->count; i++)
        for (int d = 0; d < s->rank - 1; d++)
            lines->deltas[i] +=
                offset_of(s, i % lines->count, d) * s->arrays[i / lines->count].strides[d];
    return ARRAS_OK;
}

/* As long as any run, with what is in reach of it. */
static arras_status make_blank(arras_sweeping *s, ar_sweep_array *a, arras_error *err)
{
    int64_t cells = s->lines.longest + 2 * s->reach[s->rank - 1];

    a->blank = ar_arena_alloc(&s->arena, (size_t)cells, a->size);
    if (!a->blank)
        return ar_fail_memory(err, (size_t)cells * a->size);
    for (int64_t i = 0; i < cells; i++)
        memcpy(a->blank + i * (int64_t)a->size, a->fill, a->size);
    return ARRAS_OK;
}

arras_status ar_sweep_lines_plan(arras_sweeping *s, arras_error *err)
{
    arras_status status = count_lines(s, err);

    if (status == ARRAS_OK)
        status = make_deltas(s, err);
    for (int i = 0; i < s->narrays && status == ARRAS_OK; i++)
        status = make_blank(s, &s->arrays[i], err);
    return status;
}

arras_status ar_sweep_worker_make(arras_sweeping *s, ar_sweep_worker *w, arras_error *err)
{
    size_t lines = (size_t)(s->narrays * s->lines.count);
    size_t ends = lines * (size_t)span(s, s->rank - 1) * 16;

    w->lines = ar_arena_alloc(&s->arena, lines, sizeof *w->lines);
    w->gathered = ar_arena_alloc(&s->arena, lines, sizeof *w->gathered);
    w->ends = ar_arena_alloc(&s->arena, ends, 1);
    w->saved = ar_arena_alloc(&s->arena, (size_t)s->lines.longest, s->arrays[0].size);
    w->site = (arras_site){ .context = s->request.context,
                            .scratch = ar_arena_alloc(&s->arena, s->request.scratch + 1, 1),
                            .rank = s->rank,
                            .narrays = s->narrays,
                            .before = s->before,
                            .after = s->after,
                            .sizes = s->sizes,
                            .weights = s->lines.weights,
                            .nlines = s->lines.count,
                            .fault = &w->fault };
    if (w->lines && w->gathered && w->ends && w->saved && w->site.scratch)
        return ARRAS_OK;
    return ar_fail_memory(err, ends + s->request.scratch);
}

/* ---- Where lines are ------------------------------------------------------------------------- */

/* The cell inside that stands for one outside; -1: the fill value does. */
static int64_t turn(arras_edge_rule rule, int64_t i, int64_t n)
{
    int64_t period = rule == ARRAS_EDGE_REFLECT ? 2 * n : 2 * n - 2, at;

    if (i >= 0 && i < n)
        return i;
    if (rule == ARRAS_EDGE_CONSTANT)
        return -1;
    if (rule == ARRAS_EDGE_NEAREST || n == 1)
        return i < 0 ? 0 : n - 1;
    at = i % period;
    at = at < 0 ? at + period : at;
    if (at < n)
        return at;
    return rule == ARRAS_EDGE_REFLECT ? period - 1 - at : period - at;
}

static char *cell_at(const arras_sweeping *s, const ar_sweep_array *a, const int64_t *index)
{
    int64_t offset = 0;

    for (int d = 0; d < s->rank; d++)
        offset += index[d] * a->strides[d];
    return ar_sweep_at(a->origin, offset);
}

/* Where a line of fill values begins for a run in the direction of this sweep. */
static char *blank_line(const arras_sweeping *s, const ar_sweep_array *a)
{
    int64_t first = s->reach[s->rank - 1] + (s->step < 0 ? s->lines.longest - 1 : 0);

    return a->blank + first * (int64_t)a->size;
}

static void place_at_border(const arras_sweeping *s, ar_sweep_worker *w)
{
    int64_t index[ARRAS_MAX_RANK];

    index[s->rank - 1] = w->site.index[s->rank - 1];
    for (int64_t line = 0; line < s->lines.count; line++) {
        bool outside = false;

        for (int d = 0; d < s->rank - 1; d++) {
            index[d] = turn(s->edges[d], w->site.index[d] + offset_of(s, line, d), s->shape[d]);
            outside = outside || index[d] < 0;
        }
        for (int i = 0; i < s->narrays; i++)
            w->lines[i * s->lines.count + line] =
                outside ? blank_line(s, &s->arrays[i]) : cell_at(s, &s->arrays[i], index);
    }
}

static void place_inside(const arras_sweeping *s, ar_sweep_worker *w)
{
    const int64_t *delta = s->lines.deltas;
    char         **line = w->lines;

    for (int i = 0; i < s->narrays; i++) {
        char *first = cell_at(s, &s->arrays[i], w->site.index);

        for (int64_t n = 0; n < s->lines.count; n++)
            *line++ = first + *delta++;
    }
}

/* Along all axes but the last.  *skipped: a rule says that such cells stay as they are. */
static bool is_inside(const arras_sweeping *s, const int64_t *index, bool *skipped)
{
    bool inside = true;

    for (int d = 0; d < s->rank - 1; d++)
        if (index[d] < s->before[d] || index[d] >= s->shape[d] - s->after[d]) {
            inside = false;
            *skipped = *skipped || s->edges[d] == ARRAS_EDGE_NONE;
        }
    return inside;
}

/* ---- Calls ----------------------------------------------------------------------------------- */

static void call_cells(const arras_sweeping *s, arras_site *site, char *cells)
{
    int64_t *last = &site->index[s->rank - 1];
    int64_t  stride = site->step * (int64_t)s->arrays[0].size;

    for (int64_t n = 0; n < site->count; n++) {
        s->request.cell(site, cells + n * stride);
        site->cell += site->step;
        *last += site->step;
    }
    *last -= site->count * site->step;
    site->cell = 0;
}

/* The function on `count` cells from site.index on; `lines` are those around the first. */
static void call(const arras_sweeping *s, ar_sweep_worker *w, char *const *lines, int64_t count)
{
    char   *cells = lines[s->lines.centre];
    int64_t size = (int64_t)s->arrays[0].size;
    char   *lowest = s->step < 0 ? cells - (count - 1) * size : cells;

    memcpy(w->saved, lowest, (size_t)(count * size));
    w->site.lines = lines + s->lines.centre;
    w->site.count = count;
    w->site.step = s->step;
    if (s->request.row)
        s->request.row(&w->site, cells);
    else
        call_cells(s, &w->site, cells);
    ar_sweep_compare(s, w, lowest, count);
}

static void run_between(const arras_sweeping *s, ar_sweep_worker *w, int64_t lo, int64_t hi,
                        bool inside)
{
    if (lo >= hi)
        return;
    w->site.index[s->rank - 1] = s->step < 0 ? hi - 1 : lo;
    if (inside)
        place_inside(s, w);
    else
        place_at_border(s, w);
    call(s, w, w->lines, hi - lo);
}

/* ---- The ends of a line: neighbours are gathered --------------------------------------------- */

static void gather(const arras_sweeping *s, ar_sweep_worker *w, const ar_sweep_array *a,
                   const char *line, char *to)
{
    int     last = s->rank - 1;
    int64_t at = w->site.index[last], size = (int64_t)a->size;

    for (int64_t offset = -s->before[last]; offset <= s->after[last]; offset++) {
        int64_t from = turn(s->edges[last], at + offset, s->shape[last]);

        memcpy(to, from < 0 ? (const char *)a->fill : line + (from - at) * size, a->size);
        to += size;
    }
}

static void run_end_cell(const arras_sweeping *s, ar_sweep_worker *w, int64_t at, bool inside)
{
    int     last = s->rank - 1;
    int64_t centre = s->lines.centre;
    char   *to = w->ends;

    w->site.index[last] = at;
    if (inside)
        place_inside(s, w);
    else
        place_at_border(s, w);
    for (int64_t i = 0; i < s->narrays * s->lines.count; i++) {
        const ar_sweep_array *a = &s->arrays[i / s->lines.count];

        gather(s, w, a, w->lines[i], to);
        w->gathered[i] = to + s->before[last] * (int64_t)a->size;
        to += span(s, last) * 16; /* any cell is aligned */
    }
    call(s, w, w->gathered, 1);
    memcpy(w->lines[centre], w->gathered[centre], s->arrays[0].size);
}

static void run_end(const arras_sweeping *s, ar_sweep_worker *w, int64_t lo, int64_t hi,
                    bool inside)
{
    if (s->edges[s->rank - 1] == ARRAS_EDGE_NONE)
        return;
    for (int64_t n = 0; n < hi - lo; n++)
        run_end_cell(s, w, s->step < 0 ? hi - 1 - n : lo + n, inside);
}

void ar_sweep_line(const arras_sweeping *s, ar_sweep_worker *w, int64_t lo, int64_t hi)
{
    int     last = s->rank - 1;
    bool    skipped = false, inside = is_inside(s, w->site.index, &skipped);
    int64_t first = ar_max64(lo, ar_min64(hi, s->before[last]));
    int64_t end = ar_max64(first, ar_min64(hi, s->shape[last] - s->after[last]));

    if (skipped)
        return;
    if (s->step > 0)
        run_end(s, w, lo, first, inside);
    else
        run_end(s, w, end, hi, inside);
    run_between(s, w, first, end, inside);
    if (s->step > 0)
        run_end(s, w, end, hi, inside);
    else
        run_end(s, w, lo, first, inside);
}
