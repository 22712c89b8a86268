/* c_look.c -- before a strip runs: what does not change along it is put, what is computed for all
 * cells of a segment first is found, and how long segments are. */
#include "gen/c/c_writer.h"

/* ---- What is staged -------------------------------------------------------------------------- */

bool ar_c_is_row_math(arras_expr e)
{
    return e->kind == AR_EXPR_OP &&
           ar_c_is_vector_math((ar_op)e->ints[0], ar_w_signature(e).compute);
}

/* Its level, or 0. */
static int staged_level(const ar_c_strip *strip, arras_expr e)
{
    for (size_t i = 0; i < strip->nstaged; i++)
        if (strip->staged[i].expr == e)
            return strip->staged[i].level;
    return 0;
}

static int stage(ar_writer *w, ar_c_strip *strip, arras_expr e, int level)
{
    if (!ar_grow(&strip->staged, &strip->staged_room, strip->nstaged, sizeof *strip->staged))
        w->failed = true;
    else
        strip->staged[strip->nstaged++] = (ar_c_staged){ e, level };
    return level;
}

/* Arguments that are computed whenever e is: those that come first. */
static int eager_count(ar_writer *w, arras_expr e)
{
    if (e->kind == AR_EXPR_REDUCE)
        return 2;
    return ar_w_is_lazy(w, e) ? 1 : e->nargs;
}

static int look(ar_writer *w, ar_c_strip *strip, arras_expr e);

/* What a reduction's body has in every turn is computed once for a cell, so it is staged. */
static int look_at_invariant(ar_writer *w, ar_c_strip *strip, arras_expr e)
{
    int level;

    if (e->kind == AR_EXPR_LOAD || ar_w_may_fail(w, e))
        return 0;
    if (!ar_c_varies(strip, e)) { /* nor from cell to cell */
        ar_w_put(w, e);
        return 0;
    }
    level = look(w, strip, e);
    if (staged_level(strip, e) || w->facts[e->id].state.place != AR_W_UNKNOWN)
        return level;
    return stage(w, strip, e, level + 1);
}

/* Depth is limited by AR_MAX_DEPTH. */
static int look_within(ar_writer *w, ar_c_strip *strip, arras_expr e, const char *variable)
{
    ar_w_fact *fact = &w->facts[e->id];
    int        level = 0;

    if (ar_w_is_leaf(e))
        return 0;
    if (!ar_expr_depends(e, variable))
        return look_at_invariant(w, strip, e);
    if (!ar_c_varies(strip, e))
        return 0;
    if (fact->stamp >= strip->walk)
        return fact->level;
    for (int i = 0; i < eager_count(w, e); i++) {
        int below = look_within(w, strip, e->args[i], variable);

        level = below > level ? below : level;
    }
    fact->stamp = w->stamp;
    fact->level = level;
    return level;
}

static int look_at_args(ar_writer *w, ar_c_strip *strip, arras_expr e)
{
    int level = 0, below;

    for (int i = 0; i < eager_count(w, e); i++) {
        below = look(w, strip, e->args[i]);
        level = below > level ? below : level;
    }
    if (e->kind == AR_EXPR_REDUCE) {
        below = look_within(w, strip, e->args[2], e->name);
        level = below > level ? below : level;
    }
    return level;
}

int ar_c_jumping_axis(const ar_c_read *read)
{
    int found = -1;

    for (int axis = 0; axis < read->load->rank && read->any; axis++)
        if (read->motion[axis] == AR_C_ANY)
            found = found == -1 ? axis : -2;
    return found >= 0 && read->load->args[found]->kind != AR_EXPR_REDUCE ? found : -1;
}

/* Whether the place that the last read jumps to is known before, from nothing that is staged. */
static bool jumps_ahead(ar_writer *w, const ar_c_strip *strip, int level)
{
    const ar_c_read *read = strip->nreads ? strip->reads[strip->nreads - 1] : NULL;
    int              axis = read ? ar_c_jumping_axis(read) : -1;

    return axis >= 0 && level == 0 && !ar_w_may_fail(w, read->load->args[axis]);
}

/* Puts what does not vary, finds what is staged.  Gives the number of stages e needs.  What a walk
 * of another strip meets meanwhile is taken for met here too: then it is computed cell by cell.
 * Depth is limited by AR_MAX_DEPTH. */
static int look(ar_writer *w, ar_c_strip *strip, arras_expr e)
{
    ar_w_fact *fact = &w->facts[e->id];
    int        level;

    if (!ar_c_varies(strip, e))
        ar_w_put(w, e);
    if (w->failed || ar_w_is_leaf(e) || fact->state.place != AR_W_UNKNOWN)
        return 0;
    if (fact->stamp >= strip->walk)
        return fact->level;
    level = look_at_args(w, strip, e);
    if (e->kind == AR_EXPR_LOAD) {
        ar_c_prepare_load(w, strip, e);
        strip->jumps = strip->jumps || jumps_ahead(w, strip, level);
    }
    if (e->kind == AR_EXPR_REDUCE || (ar_c_is_row_math(e) && !strip->vectors))
        level = stage(w, strip, e, level + 1);
    fact->stamp = w->stamp;
    fact->level = level;
    return level;
}

/* ---- Segments -------------------------------------------------------------------------------- */

static int buffer_bytes(arras_expr e)
{
    int size = (int)ar_dtype_size(e->type.dtype);

    return e->kind == AR_EXPR_OP && e->nargs == 2 ? 2 * size : size;
}

static bool has_reductions(const ar_c_strip *strip)
{
    for (size_t i = 0; i < strip->nstaged; i++)
        if (strip->staged[i].expr->kind == AR_EXPR_REDUCE)
            return true;
    return false;
}

static bool has_long_reductions(const ar_c_strip *strip)
{
    enum { LONG = 128 };

    for (size_t i = 0; i < strip->nstaged; i++) {
        arras_expr e = strip->staged[i].expr;

        int64_t length = e->kind == AR_EXPR_REDUCE ? ar_w_fold_length(e) : 0;

        if (e->kind == AR_EXPR_REDUCE &&
            (length == 0 || length >= LONG || ar_expr_tree(e) == AR_TREE_PART ||
             ar_expr_tree(e) == AR_TREE_PARTIALS))
            return true;
    }
    return false;
}

static bool has_vector_math(const ar_c_strip *strip)
{
    for (size_t i = 0; i < strip->nstaged; i++)
        if (ar_c_is_row_math(strip->staged[i].expr))
            return true;
    return false;
}

static bool runs_across_any(ar_writer *w, const ar_c_strip *strip)
{
    for (size_t i = 0; i < strip->nstaged; i++)
        if (strip->staged[i].expr->kind == AR_EXPR_REDUCE &&
            ar_c_runs_across(w, strip, strip->staged[i].expr))
            return true;
    return false;
}

/* Cells whose reductions, one after the other, read the same rows: few enough that those are still
 * in a cache when they are read again. */
static int cells_of_rows(const ar_c_strip *strip)
{
    enum { CACHED = 65536, UNKNOWN = 16, LEAST = 4 };
    int     first = 0;
    int64_t cells = AR_C_SEGMENT;

    for (size_t i = 0; i < strip->nstaged; i++) {
        const ar_c_staged *staged = &strip->staged[i];
        int64_t            high, size = (int64_t)ar_dtype_size(staged->expr->type.dtype);

        if (staged->expr->kind != AR_EXPR_REDUCE)
            continue;
        first = first ? first : staged->level;
        if (staged->level != first)
            cells = ar_w_integer(&high, staged->expr->args[1]) && high > 0
                        ? ar_max64(LEAST, ar_min64(cells, CACHED / size / high))
                        : ar_min64(cells, UNKNOWN);
    }
    return (int)cells;
}

/* Where several vectors are computed side by side, those that are left over at the end of a segment
 * take longest: there are none of them, and few segments, which are whole cache lines still. */
static int whole_turns(const ar_c_strip *strip)
{
    arras_dtype dtype = strip->roots[0]->type.dtype;
    int         turn = strip->abreast * ar_c_vector_cells(dtype), cells = turn;

    while (cells * (int)ar_dtype_size(dtype) % 64 != 0)
        cells += turn;
    return AR_C_SEGMENT / cells * cells;
}

/* Short enough that all buffers stay in a small first cache, and that the memory is not idle for
 * long while functions are computed, or where nothing is asked for ahead; long enough that a
 * segment's start costs little. */
static void choose_segment(ar_writer *w, ar_c_strip *strip)
{
    enum { BYTES = 16384, LEAST = 64, WITH_MATH = 128 };
    bool alone = w->form->machine->reads_ahead && !strip->vectors;
    int  streamed = alone ? 512 : 2048, least = alone ? LEAST : WITH_MATH;
    int  bytes = strip->cell_bytes;

    strip->segment = strip->jumps ? WITH_MATH : AR_C_SEGMENT;
    while (!has_reductions(strip) && strip->segment > least &&
           strip->segment * strip->cell_bytes > streamed)
        strip->segment /= 2;
    for (size_t i = 0; i < strip->nstaged; i++) {
        bytes += buffer_bytes(strip->staged[i].expr);
        if (ar_c_is_row_math(strip->staged[i].expr) && strip->segment > WITH_MATH)
            strip->segment = WITH_MATH;
    }
    if (runs_across_any(w, strip)) /* long rows are read fastest */
        return;
    while (strip->segment > LEAST && strip->segment * bytes > BYTES)
        strip->segment /= 2;
    if (cells_of_rows(strip) < strip->segment)
        strip->segment = cells_of_rows(strip);
    if (strip->vectors && !strip->cut && strip->abreast > 1)
        strip->segment = whole_turns(strip);
}

/* ---- Opening --------------------------------------------------------------------------------- */

/* Depth is limited by AR_MAX_DEPTH. */
static bool contains(ar_writer *w, arras_expr e, arras_expr part)
{
    bool found = e == part;

    if (w->facts[e->id].stamp == w->stamp)
        return false;
    w->facts[e->id].stamp = w->stamp;
    for (int i = 0; i < e->nargs && !found; i++)
        found = contains(w, e->args[i], part);
    return found;
}

/* Whether nothing up to `level` waits for it. */
static bool can_wait(ar_writer *w, const ar_c_strip *strip, const ar_c_staged *staged, int level)
{
    w->stamp++;
    for (size_t i = 0; i < strip->nstaged; i++)
        if (&strip->staged[i] != staged && strip->staged[i].level <= level &&
            contains(w, strip->staged[i].expr, staged->expr))
            return false;
    return true;
}

/* A reduction waits for a later one over the same range, if it can: then they go down together. */
static void join_levels(ar_writer *w, ar_c_strip *strip)
{
    for (size_t i = 0; i < strip->nstaged; i++)
        for (size_t j = 0; j < strip->nstaged; j++) {
            ar_c_staged *first = &strip->staged[i], *later = &strip->staged[j];

            if (first->expr->kind == AR_EXPR_REDUCE && later->expr->kind == AR_EXPR_REDUCE &&
                first->level < later->level && ar_c_go_together(first->expr, later->expr) &&
                can_wait(w, strip, first, later->level))
                first->level = later->level;
        }
}

void ar_c_strip_open(ar_writer *w, ar_c_strip *strip, int n, const arras_expr *roots)
{
    strip->nroots = n;
    strip->roots = roots;
    ar_text_printf(w->out, "int64_t first%d = LEAST, last%d = MOST;\n", strip->number,
                   strip->number);
    strip->vectors = strip->vectors && ar_c_cells_are_vectors(w, strip, n, roots);
    strip->walk = ++w->stamp;
    for (int i = 0; i < n; i++)
        look(w, strip, roots[i]);
    if (runs_across_any(w, strip))
        join_levels(w, strip);
    choose_segment(w, strip);
    strip->sparse = has_long_reductions(strip);
    strip->direct = strip->sparse && !strip->cut && !strip->length && strip->axis >= 0 &&
                    !runs_across_any(w, strip) && !has_vector_math(strip);
}

void ar_c_strip_close(ar_c_strip *strip)
{
    ar_free(strip->staged);
    ar_free(strip->reads);
}
