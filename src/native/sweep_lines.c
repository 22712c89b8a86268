/* sweep_lines.c -- one line of cells: views of what is around them, and the calls of the function.
 *
 * Cells that have all their neighbours are swept where they are.  For each of the others, what is
 * around it is copied into a patch, as the rules of the borders say, just before its call. */
#include "native/sweep_job.h"

#include <string.h>

enum { MOST_CELLS = 1 << 20 }; /* of a patch */

/* ---- Plan ------------------------------------------------------------------------------------ */

static int64_t span(const arras_sweeping *s, int axis)
{
    return s->before[axis] + 1 + s->after[axis];
}

arras_status ar_sweep_patch_plan(arras_sweeping *s, arras_error *err)
{
    s->patch_cells = 1;
    for (int d = 0; d < s->rank; d++)
        if (!ar_mul64(&s->patch_cells, s->patch_cells, span(s, d)) || s->patch_cells > MOST_CELLS)
            return ar_fail(err, ARRAS_ELIMIT, "sweep: more than %d cells are in reach of one",
                           MOST_CELLS);
    return ARRAS_OK;
}

static void make_views(const arras_sweeping *s, ar_sweep_worker *w)
{
    int64_t spans[ARRAS_MAX_RANK], before;

    for (int d = 0; d < s->rank; d++)
        spans[d] = span(s, d);
    for (int i = 0; i < s->narrays; i++) {
        arras_view           *view = &w->views[i], *patch = &w->patches[i];
        const ar_sweep_array *a = &s->arrays[i];

        view->rank = s->rank;
        for (int d = 0; d < s->rank; d++) {
            view->before[d] = s->before[d];
            view->span[d] = (uint64_t)spans[d];
        }
        *patch = *view;
        memcpy(view->stride, a->strides, sizeof view->stride);
        ar_strides_dense(patch->stride, s->rank, spans, a->size);
        before = 0;
        for (int d = 0; d < s->rank; d++)
            before += s->before[d] * patch->stride[d];
        patch->at = w->patch + i * s->patch_cells * 16 + before; /* any cell is aligned */
    }
}

arras_status ar_sweep_worker_make(arras_sweeping *s, ar_sweep_worker *w, arras_error *err)
{
    size_t n = (size_t)s->narrays, patch = n * (size_t)s->patch_cells * 16;

    w->views = ar_arena_alloc(&s->arena, n, sizeof *w->views);
    w->patches = ar_arena_alloc(&s->arena, n, sizeof *w->patches);
    w->patch = ar_arena_alloc(&s->arena, patch, 1);
    w->saved = ar_arena_alloc(&s->arena, (size_t)s->longest, s->arrays[0].size);
    w->cell = (arras_cell){ .index = w->index,
                            .context = s->request.context,
                            .scratch = ar_arena_alloc(&s->arena, s->request.scratch + 1, 1),
                            .ninputs = s->narrays,
                            .noutputs = 1,
                            .log = &w->log };
    if (!w->views || !w->patches || !w->patch || !w->saved || !w->cell.scratch)
        return ar_fail_memory(err, patch + s->request.scratch);
    make_views(s, w);
    return ARRAS_OK;
}

/* ---- Calls ----------------------------------------------------------------------------------- */

static void call_cells(const arras_sweeping *s, ar_sweep_worker *w, arras_view *views, char *cells,
                       int64_t count)
{
    int64_t *last = &w->index[s->rank - 1], from = *last;

    for (int64_t n = 0; n < count; n++) {
        s->request.cell(&w->cell, cells + n * views[0].advance);
        for (int i = 0; i < s->narrays; i++)
            views[i].at += views[i].advance;
        *last += s->step;
    }
    for (int i = 0; i < s->narrays; i++)
        views[i].at -= count * views[i].advance;
    *last = from;
}

/* The function on `count` cells from w->index on; `cells` is where the first is. */
static void call(const arras_sweeping *s, ar_sweep_worker *w, arras_view *views, char *cells,
                 int64_t count)
{
    int64_t size = (int64_t)s->arrays[0].size;
    char   *lowest = s->step < 0 ? cells - (count - 1) * size : cells;

    for (int i = 0; i < s->narrays; i++)
        views[i].advance = s->step * (int64_t)s->sizes[i];
    w->cell.views = views;
    memcpy(w->saved, lowest, (size_t)(count * size));
    if (s->request.row)
        s->request.row(&w->cell, count, cells);
    else
        call_cells(s, w, views, cells, count);
    ar_sweep_compare(s, w, lowest, count);
}

static char *cell_at(const arras_sweeping *s, const ar_sweep_array *a, const int64_t *index)
{
    int64_t offset = 0;

    for (int d = 0; d < s->rank; d++)
        offset += index[d] * a->strides[d];
    return ar_sweep_at(a->origin, offset);
}

static void run_inside(const arras_sweeping *s, ar_sweep_worker *w, int64_t lo, int64_t hi)
{
    if (lo >= hi)
        return;
    w->index[s->rank - 1] = s->step < 0 ? hi - 1 : lo;
    for (int i = 0; i < s->narrays; i++)
        w->views[i].at = cell_at(s, &s->arrays[i], w->index);
    call(s, w, w->views, cell_at(s, &s->arrays[0], w->index), hi - lo);
}

/* ---- Cells at the border --------------------------------------------------------------------- */

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

/* One line of a patch; `index` leads to it along all axes but the last. */
static char *copy_line(const arras_sweeping *s, const ar_sweep_array *a, int64_t *index,
                       bool outside, int64_t centre, char *to)
{
    int last = s->rank - 1;

    for (int64_t offset = -s->before[last]; offset <= s->after[last]; offset++) {
        index[last] = turn(s->edges[last], centre + offset, s->shape[last]);
        memcpy(to, outside || index[last] < 0 ? (const char *)a->fill : cell_at(s, a, index),
               a->size);
        to += a->size;
    }
    return to;
}

static void copy_patch(const arras_sweeping *s, const ar_sweep_array *a, const int64_t *centre,
                       char *to)
{
    int     last = s->rank - 1;
    int64_t lines = s->patch_cells / span(s, last), index[ARRAS_MAX_RANK];

    for (int64_t line = 0; line < lines; line++) {
        int64_t rest = line;
        bool    outside = false;

        for (int d = last - 1; d >= 0; d--) {
            index[d] = turn(s->edges[d], centre[d] - s->before[d] + rest % span(s, d), s->shape[d]);
            outside = outside || index[d] < 0;
            rest /= span(s, d);
        }
        to = copy_line(s, a, index, outside, centre[last], to);
    }
}

static void run_cell(const arras_sweeping *s, ar_sweep_worker *w, int64_t at)
{
    char *patched = (char *)(uintptr_t)w->patches[0].at;

    w->index[s->rank - 1] = at;
    for (int i = 0; i < s->narrays; i++)
        copy_patch(s, &s->arrays[i], w->index, w->patch + i * s->patch_cells * 16);
    call(s, w, w->patches, patched, 1);
    memcpy(cell_at(s, &s->arrays[0], w->index), patched, s->arrays[0].size);
}

static void run_border(const arras_sweeping *s, ar_sweep_worker *w, int64_t lo, int64_t hi)
{
    if (s->edges[s->rank - 1] == ARRAS_EDGE_NONE) { /* what lacks neighbours stays as it is */
        lo = ar_max64(lo, s->before[s->rank - 1]);
        hi = ar_min64(hi, s->shape[s->rank - 1] - s->after[s->rank - 1]);
    }
    for (int64_t n = 0; n < hi - lo; n++)
        run_cell(s, w, s->step < 0 ? hi - 1 - n : lo + n);
}

/* ---- Lines ----------------------------------------------------------------------------------- */

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

void ar_sweep_line(const arras_sweeping *s, ar_sweep_worker *w, int64_t lo, int64_t hi)
{
    int     last = s->rank - 1;
    bool    skipped = false, inside = is_inside(s, w->index, &skipped);
    int64_t first = ar_max64(lo, ar_min64(hi, s->before[last]));
    int64_t end = ar_max64(first, ar_min64(hi, s->shape[last] - s->after[last]));

    if (skipped)
        return;
    if (!inside) {
        run_border(s, w, lo, hi);
        return;
    }
    if (s->step > 0)
        run_border(s, w, lo, first);
    else
        run_border(s, w, end, hi);
    run_inside(s, w, first, end);
    if (s->step > 0)
        run_border(s, w, end, hi);
    else
        run_border(s, w, lo, first);
}
