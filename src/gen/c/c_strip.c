/* c_strip.c -- loops along strips: segments, and within a segment what is computed for all of its
 * cells first (reductions, functions of the mathematical library). */
#include "gen/c/c_writer.h"

#include <stdio.h>

void ar_c_strip_cell(ar_c_strip *out, ar_writer *w)
{
    *out = (ar_c_strip){ .axis = w->lambda->rank - 1, .flat = w->flat, .number = ar_w_number(w) };
    if (w->flat)
        snprintf(out->name, sizeof out->name, "i");
    else
        snprintf(out->name, sizeof out->name, "i%d", out->axis);
}

void ar_c_strip_variable(ar_c_strip *out, const ar_w_variable *variable)
{
    *out = (ar_c_strip){ .axis = -1, .variable = variable->name, .number = variable->number };
    snprintf(out->name, sizeof out->name, "k%d", variable->number);
}

/* ---- Loops over the cells of a segment ------------------------------------------------------- */

static void open_loop(ar_writer *w, const ar_c_strip *strip, const char *before)
{
    int s = strip->number;

    ar_text_printf(w->out,
                   "%sfor (int64_t e%d = 0; e%d < n%d; e%d++) {\nconst int64_t %s = at%d + e%d;\n",
                   before, s, s, s, s, strip->name, s, s);
}

static void open_rest(ar_writer *w, const ar_c_strip *strip)
{
    int s = strip->number;

    ar_text_printf(w->out, "for (; e%d < n%d; e%d++) {\nconst int64_t %s = at%d + e%d;\n", s, s, s,
                   strip->name, s, s);
}

/* No cell needs another one: the compiler need not look whether arrays overlap. */
static const char vector_loop[] = "#pragma GCC ivdep\n";

/* An address outside an array does no harm here. */
static void put_prefetch(ar_writer *w, const ar_c_strip *strip, const ar_c_read *read, int axis)
{
    arras_expr e = read->load;

    ar_text_printf(w->out, "__builtin_prefetch(p%" PRId64 " + %s * t%" PRId64 " + ", e->id,
                   strip->name, e->id);
    ar_w_cast(w, e->args[axis], ARRAS_I64);
    ar_text_printf(w->out, " * s%d_%d);\n", ar_w_operand(w, e), axis);
}

/* While a cell is computed, memory brings what a later one jumps to; short rows end before that. */
static void put_ahead(ar_writer *w, const ar_c_strip *strip)
{
    enum { CELLS = 64 };
    size_t mark = w->nchanges;
    int    s = strip->number;

    ar_text_printf(w->out,
                   "{\nconst int64_t %s = at%d + e%d + %d < %s ? at%d + e%d + %d : %s - 1;\n",
                   strip->name, s, s, CELLS, strip->to, s, s, CELLS, strip->to);
    for (size_t i = 0; i < strip->nreads; i++) {
        const ar_c_read *read = strip->reads[i];
        int              axis = ar_c_jumping_axis(read);

        if (axis < 0 || ar_w_may_fail(w, read->load->args[axis]))
            continue;
        ar_w_put(w, read->load->args[axis]);
        put_prefetch(w, strip, read, axis);
    }
    ar_text_add(w->out, "}\n");
    ar_w_forget(w, mark);
}

static void put_all_cells(ar_writer *w, const ar_c_strip *strip, const ar_c_sink *sink,
                          const char *before)
{
    size_t mark = w->nchanges;
    bool   vectors = strip->vectors && *before;

    if (vectors && strip->length) {
        (strip->lanes ? ar_c_put_row_lanes : ar_c_put_row_vector)(w, strip, sink);
        return;
    }
    if (vectors) {
        ar_text_printf(w->out, "int64_t e%d = 0;\n", strip->number);
        ar_c_put_vector_cells(w, strip, sink);
        open_rest(w, strip);
    } else {
        open_loop(w, strip, before);
        w->used->loops = w->used->loops || *before;
    }
    if (strip->jumps && !strip->cut && strip->length == 0 && *before)
        put_ahead(w, strip);
    for (int i = 0; i < strip->nroots; i++)
        ar_w_put(w, strip->roots[i]);
    sink->cell(w, sink->self, strip);
    ar_text_add(w->out, *before && !vectors ? "}\n" : "ONE_BY_ONE;\n}\n");
    ar_w_forget(w, mark);
}

/* ---- Stages ---------------------------------------------------------------------------------- */

static void declare_buffers(ar_writer *w, const ar_c_strip *strip)
{
    for (size_t i = 0; i < strip->nstaged; i++) {
        arras_expr  e = strip->staged[i].expr;
        const char *type = ar_c_type(e->type.dtype);

        ar_text_printf(w->out, "%s m%" PRId64 "[%d] ALIGNED", type, e->id, strip->segment);
        if (ar_c_is_row_math(e) && e->nargs == 2)
            ar_text_printf(w->out, ", y%" PRId64 "[%d] ALIGNED", e->id, strip->segment);
        ar_text_add(w->out, ";\n");
    }
}

static bool is_math_of(const ar_c_strip *strip, size_t i, int level)
{
    return strip->staged[i].level == level && strip->staged[i].expr->kind != AR_EXPR_REDUCE;
}

static void put_operands(ar_writer *w, arras_expr e, int number)
{
    ar_signature s = ar_w_signature(e);

    for (int i = 0; i < e->nargs; i++) {
        ar_w_put(w, e->args[i]);
        ar_text_printf(w->out, "%c%" PRId64 "[e%d] = ", i ? 'y' : 'm', e->id, number);
        ar_w_cast(w, e->args[i], s.operand[i]);
        ar_text_add(w->out, ";\n");
    }
}

static void put_staged_cell(ar_writer *w, const ar_c_strip *strip, arras_expr e)
{
    if (ar_c_is_row_math(e)) {
        put_operands(w, e, strip->number);
        return;
    }
    ar_w_put(w, e);
    ar_text_printf(w->out, "m%" PRId64 "[e%d] = v%" PRId64 ";\n", e->id, strip->number, e->id);
}

static void put_vector_call(ar_writer *w, const ar_c_strip *strip, arras_expr e)
{
    arras_dtype dtype = ar_w_signature(e).compute;
    ar_op       op = (ar_op)e->ints[0];

    w->used->ops[op][dtype] = w->used->rows[op][dtype] = true;
    ar_text_printf(w->out, "row_%s_%s(m%" PRId64, ar_op_name(op), ar_dtype_name(dtype), e->id);
    if (e->nargs == 2)
        ar_text_printf(w->out, ", y%" PRId64, e->id);
    ar_text_printf(w->out, ", n%d);\n", strip->number);
}

/* All that one level computes cell by cell shares a loop: operands of functions, and what
 * reductions need. */
static void put_math(ar_writer *w, const ar_c_strip *strip, int level)
{
    size_t mark = w->nchanges, first = 0;

    while (first < strip->nstaged && !is_math_of(strip, first, level))
        first++;
    if (first == strip->nstaged)
        return;
    open_loop(w, strip, strip->sparse ? "" : vector_loop);
    w->used->loops = w->used->loops || !strip->sparse;
    for (size_t i = first; i < strip->nstaged; i++)
        if (is_math_of(strip, i, level))
            put_staged_cell(w, strip, strip->staged[i].expr);
    ar_text_add(w->out, strip->sparse ? "ONE_BY_ONE;\n}\n" : "}\n");
    ar_w_forget(w, mark);
    for (size_t i = first; i < strip->nstaged; i++)
        if (is_math_of(strip, i, level)) {
            arras_expr e = strip->staged[i].expr;

            if (ar_c_is_row_math(e))
                put_vector_call(w, strip, e);
            ar_w_set(w, e, (ar_w_state){ .place = AR_C_BUFFER, .strip = strip });
        }
}

/* Cell by cell, all reductions of a cell before the next: they may read the same cells. */
static void put_along(ar_writer *w, const ar_c_strip *strip, const ar_c_staged *staged, size_t n)
{
    size_t mark = w->nchanges;

    if (n == 0)
        return;
    open_loop(w, strip, "");
    for (size_t i = 0; i < n; i++) {
        ar_w_put(w, staged[i].expr);
        ar_text_printf(w->out, "m%" PRId64 "[e%d] = v%" PRId64 ";\n", staged[i].expr->id,
                       strip->number, staged[i].expr->id);
    }
    ar_text_add(w->out, "}\n");
    ar_w_forget(w, mark);
    for (size_t i = 0; i < n; i++)
        ar_w_set(w, staged[i].expr, (ar_w_state){ .place = AR_C_BUFFER, .strip = strip });
}

static bool is_reduction_of(const ar_c_strip *strip, size_t i, int level)
{
    return strip->staged[i].level == level && strip->staged[i].expr->kind == AR_EXPR_REDUCE;
}

/* Staged reduction number `first`, and those after it that go down with it. */
static void put_together(ar_writer *w, const ar_c_strip *strip, size_t first)
{
    const ar_c_staged *staged = strip->staged;
    arras_expr         group[AR_C_TOGETHER] = { staged[first].expr };
    int                n = 1;

    for (size_t i = first + 1; i < strip->nstaged && n < AR_C_TOGETHER; i++)
        if (is_reduction_of(strip, i, staged[first].level) &&
            ar_c_go_together(group[0], staged[i].expr) &&
            ar_c_runs_across(w, strip, staged[i].expr))
            group[n++] = staged[i].expr;
    ar_c_put_across(w, strip, n, group);
    for (int i = 0; i < n; i++)
        ar_w_set(w, group[i], (ar_w_state){ .place = AR_C_BUFFER, .strip = strip });
}

/* In the order in which they were met: what a reduction uses comes before it. */
static void put_reductions(ar_writer *w, const ar_c_strip *strip, int level)
{
    ar_c_staged *along = ar_arena_alloc(&w->arena, strip->nstaged, sizeof *along);
    size_t       n = 0;

    w->failed = w->failed || !along;
    for (size_t i = 0; i < strip->nstaged && !w->failed; i++) {
        arras_expr e = strip->staged[i].expr;

        if (!is_reduction_of(strip, i, level))
            continue;
        if (!ar_c_runs_across(w, strip, e)) {
            along[n++] = strip->staged[i];
            continue;
        }
        put_along(w, strip, along, n);
        n = 0;
        if (w->facts[e->id].state.place != AR_C_BUFFER)
            put_together(w, strip, i);
    }
    if (!w->failed)
        put_along(w, strip, along, n);
}

static void put_stages(ar_writer *w, const ar_c_strip *strip)
{
    int levels = 0;

    for (size_t i = 0; i < strip->nstaged; i++)
        levels = strip->staged[i].level > levels ? strip->staged[i].level : levels;
    declare_buffers(w, strip);
    for (int level = 1; level <= levels; level++) {
        put_math(w, strip, level);
        put_reductions(w, strip, level);
    }
}

static void set_reads(ar_writer *w, const ar_c_strip *strip, int place)
{
    for (size_t i = 0; i < strip->nreads; i++)
        ar_w_set(w, strip->reads[i]->load,
                 (ar_w_state){ .place = place, .strip = strip, .read = strip->reads[i] });
}

void ar_c_strip_set_inside(ar_writer *w, const ar_c_strip *strip)
{
    set_reads(w, strip, AR_C_POINTER);
}

/* Where all reads are inside. */
static void put_middle(ar_writer *w, const ar_c_strip *strip, const ar_c_sink *sink,
                       const char *loop)
{
    size_t mark = w->nchanges;

    set_reads(w, strip, AR_C_POINTER);
    for (size_t i = 0; i < strip->nreads; i++)
        ar_c_put_fill_row(w, strip->reads[i], strip);
    if (!strip->direct)
        put_stages(w, strip);
    put_all_cells(w, strip, sink, loop);
    ar_w_forget(w, mark);
}

static void put_edge(ar_writer *w, const ar_c_strip *strip, const ar_c_sink *sink)
{
    size_t mark = w->nchanges;

    set_reads(w, strip, AR_C_EDGE);
    put_all_cells(w, strip, sink, "");
    ar_w_forget(w, mark);
}

/* Then it is there twice, and the second time not worth vectors. */
bool ar_c_strip_is_short(const ar_c_strip *strip)
{
    return strip->length && !strip->cut && strip->nstaged == 0;
}

/* The whole segment at once, if it is vectors from the first cell to the last. */
static void put_edged_segment(ar_writer *w, const ar_c_strip *strip, const ar_c_sink *sink)
{
    int    s = strip->number;
    size_t mark = w->nchanges;

    ar_text_printf(w->out,
                   "if (len%d %% %d == 0 && first%d < last%d && (lines%d || !a->stream)) {\n"
                   "const int64_t at%d = seg%d, n%d = len%d;\n",
                   s, ar_c_vector_cells(strip->roots[0]->type.dtype), s, s, s, s, s, s, s);
    set_reads(w, strip, AR_C_POINTER);
    for (size_t i = 0; i < strip->nreads; i++)
        ar_c_put_fill_row(w, strip->reads[i], strip);
    ar_c_put_edged_vectors(w, strip, sink);
    ar_text_printf(w->out, "kept%d = len%d;\n} else\n", s, s);
    ar_w_forget(w, mark);
}

/* A segment in pieces, none of which is partly in the middle. */
static void put_pieces(ar_writer *w, const ar_c_strip *strip, const ar_c_sink *sink)
{
    int s = strip->number;

    if (!strip->cut) {
        ar_text_printf(w->out, "const int64_t at%d = seg%d, n%d = len%d;\n", s, s, s, s);
        put_middle(w, strip, sink,
                   ar_c_strip_is_short(strip) || strip->rest || strip->sparse ? "" : vector_loop);
        return;
    }
    if (ar_c_has_edged_vectors(strip))
        put_edged_segment(w, strip, sink);
    ar_text_printf(w->out,
                   "for (int64_t at%d = seg%d, n%d; at%d < seg%d + len%d; at%d += n%d) {\n"
                   "n%d = piece(at%d, seg%d + len%d, first%d, last%d);\n"
                   "if (at%d < first%d || at%d >= last%d) {\n",
                   s, s, s, s, s, s, s, s, s, s, s, s, s, s, s, s, s, s);
    put_edge(w, strip, sink);
    ar_text_add(w->out, "} else {\n");
    put_middle(w, strip, sink, strip->rest || strip->sparse ? "" : vector_loop);
    ar_text_add(w->out, "}\n}\n");
}

/* A whole axis of a few cells, whose number is known: no segments, and the loop is unrolled. */
static void put_short_axis(ar_writer *w, const ar_c_strip *strip, const ar_c_sink *sink)
{
    int s = strip->number;

    ar_text_printf(w->out, "%s{\nenum { n%d = %d };\nconst int64_t seg%d = 0, at%d = 0;\n",
                   strip->runs == AR_C_WHOLE_RUN ? "" : "if (whole) ", s, (int)strip->length, s, s);
    put_middle(w, strip, sink, vector_loop);
    ar_text_add(w->out, strip->runs == AR_C_WHOLE_RUN ? "}\n" : "} else\n");
}

static void open_segments(ar_writer *w, const ar_c_strip *strip, const char *from,
                          const ar_c_sink *sink)
{
    const char *to = strip->to;
    int         s = strip->number;

    if (strip->direct || (strip->most && strip->most <= strip->segment)) {
        ar_text_printf(w->out, "{\nconst int64_t seg%d = %s, len%d = %s - seg%d;\n", s, from, s, to,
                       s);
        return;
    }
    ar_text_printf(w->out, "for (int64_t seg%d = %s, len%d; seg%d < %s; seg%d += len%d) {\n", s,
                   from, s, s, to, s, s);
    /* Results are cut where their cache lines are. */
    ar_text_printf(w->out, "len%d = span(%s - seg%d, %d, ", s, to, s, strip->segment);
    if (sink->open)
        ar_text_printf(w->out, "(uintptr_t)(o0 + seg%d), sizeof *o0);\n", s);
    else
        ar_text_add(w->out, "0, 1);\n");
}

void ar_c_strip_run(ar_writer *w, ar_c_strip *strip, const char *from, const char *to,
                    const ar_c_sink *sink)
{
    strip->to = to;
    if (ar_c_strip_is_short(strip) && strip->runs != AR_C_PART_RUN)
        put_short_axis(w, strip, sink);
    if (strip->runs == AR_C_WHOLE_RUN)
        return;
    open_segments(w, strip, from, sink);
    if (sink->open)
        sink->open(w, sink->self, strip);
    put_pieces(w, strip, sink);
    if (sink->close)
        sink->close(w, sink->self, strip);
    ar_text_add(w->out, "}\n");
}
