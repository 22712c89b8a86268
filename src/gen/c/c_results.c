/* c_results.c -- where the cells of long rows go: to their places, or past the caches, as vectors
 * when they are made or through a buffer of a segment. */
#include "gen/c/c_results.h"

#include <stdio.h>

enum { LINE = 64 }; /* bytes of a cache line */

arras_dtype ar_c_result_dtype(const ar_c_results *r, int k)
{
    return r->form->lambdas[k]->type.dtype;
}

void ar_c_put_past(ar_writer *w, int k, const char *asked, const char *from)
{
    ar_text_printf(w->out, "const int past%d = %s && (uintptr_t)(o%d%s) %% 32 == 0;\n", k, asked, k,
                   from);
}

/* Where rows are cut at their borders only whole lines of the memory are stored as they are made,
 * and what is left of a segment goes through the buffer: keptS is how many of its cells are where
 * they belong. */
static void print_lines(ar_writer *w, const ar_c_results *r, const ar_c_strip *strip)
{
    int s = strip->number;

    ar_text_printf(w->out, "int64_t kept%d = 0;\nconst int lines%d = a->stream", s, s);
    for (int k = 0; k < r->form->n; k++)
        ar_text_printf(w->out, " && (uintptr_t)(o%d + seg%d) %% 64 == 0", k, s);
    ar_text_add(w->out, ";\n");
}

/* What leaves past the caches must do so at multiples of 32 bytes. */
static void put_again(ar_writer *w, const ar_c_results *r, const ar_c_strip *strip)
{
    ar_text_printf(w->out, "const int again%d = 1", strip->number);
    for (int k = 0; k < r->form->n; k++)
        ar_text_printf(w->out, " && !past%d", k);
    ar_text_add(w->out, ";\n");
}

/* rK is where the cells of a segment go: their place, or a buffer that is copied there. */
static void open_segment(ar_writer *w, void *self, const ar_c_strip *strip)
{
    const ar_c_results *r = self;
    char                from[24];

    snprintf(from, sizeof from, " + seg%d", strip->number);
    if (ar_c_goes_by_lines(strip))
        print_lines(w, r, strip);
    for (int k = 0; k < r->form->n; k++) {
        if (strip->past && !strip->cut)
            ar_c_put_past(w, k, "a->stream", from);
        ar_text_printf(w->out, "%s *const r%d = ", ar_c_type(ar_c_result_dtype(r, k)), k);
        if (strip->past && !strip->cut)
            ar_text_printf(w->out, "a->stream && !past%d ? b%d : ", k, k);
        else if (!strip->sparse)
            ar_text_printf(w->out, "a->stream ? b%d : ", k);
        ar_text_printf(w->out, "o%d%s;\n", k, from);
    }
    if (strip->past && !strip->cut && strip->again)
        put_again(w, r, strip);
    if (!strip->vectors && !strip->sparse)
        ar_c_put_segment_ahead(w, strip);
}

/* From the first line of the memory that begins in this piece to the last one that ends in it. */
static void open_lines(ar_writer *w, void *self, const ar_c_strip *strip)
{
    const ar_c_results *r = self;
    int s = strip->number, cells = LINE / (int)ar_dtype_size(ar_c_result_dtype(r, 0));

    if (ar_c_goes_by_lines(strip))
        ar_text_printf(w->out,
                       "const int64_t from%d = lines%d ? (at%d - seg%d + %d) & -%d : 0;\n"
                       "const int64_t upto%d = lines%d ? (at%d - seg%d + n%d) & -%d : 0;\n",
                       s, s, s, s, cells - 1, cells, s, s, s, s, s, cells);
}

/* Cells keptS <= i < to of a segment from the buffer to where they belong: most often one line. */
static void print_keep(ar_writer *w, const ar_c_results *r, int s, const char *to)
{
    for (int k = 0; k < r->form->n; k++) {
        const char *vector = ar_c_vector_type(ar_c_result_dtype(r, k));

        ar_text_printf(w->out,
                       "if (kept%d < %s%d)\nKEEP(%s, o%d + seg%d, b%d, kept%d, %s%d, lines%d);\n",
                       s, to, s, vector, k, s, k, s, to, s, s);
    }
}

/* What was computed before these lines. */
static void close_lines(ar_writer *w, void *self, const ar_c_strip *strip)
{
    const ar_c_results *r = self;
    int                 s = strip->number;

    if (!ar_c_goes_by_lines(strip))
        return;
    ar_text_printf(w->out, "if (from%d < upto%d) {\n", s, s);
    print_keep(w, r, s, "from");
    ar_text_printf(w->out, "kept%d = upto%d;\n}\n", s, s);
}

static void store_vector(ar_writer *w, const ar_c_strip *strip, int k, arras_expr cell)
{
    int s = strip->number;

    if (w->strips->edged) {
        ar_text_printf(w->out,
                       "if (streams%d) %s_%s(&o%d[%s%s], v%" PRId64 "%s); else\n"
                       "*(%s *)&o%d[%s%s] = v%" PRId64 "%s;\n",
                       s, w->strips->wide ? "LINE" : "PAST", w->strips->vector, k, strip->name,
                       w->strips->which, cell->id, w->strips->which, w->strips->vector, k,
                       strip->name, w->strips->which, cell->id, w->strips->which);
        return;
    }
    if (ar_c_goes_by_lines(strip))
        ar_text_printf(w->out,
                       "if (%s%s - seg%d >= from%d && %s%s - seg%d <= upto%d - %d) "
                       "PAST_%s(&o%d[%s%s], v%" PRId64 "%s); else\n",
                       strip->name, w->strips->which, s, s, strip->name, w->strips->which, s, s,
                       ar_c_vector_cells(w->strips->vector_dtype), w->strips->vector, k,
                       strip->name, w->strips->which, cell->id, w->strips->which);
    else if (strip->past)
        ar_text_printf(w->out, "if (past%d) PAST_%s(&r%d[%s%s - seg%d], v%" PRId64 "%s); else\n", k,
                       w->strips->vector, k, strip->name, w->strips->which, strip->number, cell->id,
                       w->strips->which);
    ar_text_printf(w->out, "*(%s *)&r%d[%s%s - seg%d] = v%" PRId64 "%s;\n", w->strips->vector, k,
                   strip->name, w->strips->which, strip->number, cell->id, w->strips->which);
}

static void store_cell(ar_writer *w, void *self, const ar_c_strip *strip)
{
    const ar_c_results *r = self;

    for (int k = 0; k < r->form->n; k++) {
        if (w->strips->vector) {
            store_vector(w, strip, k, r->cells[k]);
            continue;
        }
        ar_text_printf(w->out, "r%d[%s - seg%d] = ", k, strip->name, strip->number);
        ar_w_cast(w, r->cells[k], ar_c_result_dtype(r, k));
        ar_text_add(w->out, ";\n");
    }
}

static void close_segment(ar_writer *w, void *self, const ar_c_strip *strip)
{
    const ar_c_results *r = self;

    if (ar_c_goes_by_lines(strip)) {
        ar_text_add(w->out, "if (a->stream) {\n");
        print_keep(w, r, strip->number, "len");
        ar_text_add(w->out, "}\n");
        return;
    }
    for (int k = 0; k < r->form->n && !strip->sparse; k++) {
        ar_text_add(w->out, "if (a->stream");
        if (strip->past)
            ar_text_printf(w->out, " && !past%d", k);
        ar_text_printf(
            w->out,
            ")\na->stream((char *)(o%d + seg%d), (const char *)b%d, len%d * sizeof *b%d);\n", k,
            strip->number, k, strip->number, k);
    }
}

void ar_c_put_row_starts(ar_writer *w, const ar_c_results *r, int axes)
{
    for (int k = 0; k < r->form->n; k++) {
        const char *type = ar_c_type(ar_c_result_dtype(r, k));

        ar_text_printf(w->out, "%s *const o%d = (%s *)(d%d", type, k, type, k);
        for (int axis = 0; axis < axes && !w->flat; axis++)
            ar_text_printf(w->out, " + %s%d * s%d_%d",
                           r->is_short && axis == axes - 1 ? "row" : "i", axis, k, axis);
        ar_text_add(w->out, ");\n");
    }
}

void ar_c_put_buffers(ar_writer *w, const ar_c_results *r, int64_t length)
{
    for (int k = 0; k < r->form->n; k++)
        ar_text_printf(w->out, "%s b%d[%d] ALIGNED;\n", ar_c_type(ar_c_result_dtype(r, k)), k,
                       (int)length);
}

ar_c_sink ar_c_long_rows(ar_c_results *r)
{
    return (ar_c_sink){ .open = open_segment,
                        .cell = store_cell,
                        .close = close_segment,
                        .open_vectors = open_lines,
                        .close_vectors = close_lines,
                        .self = r };
}
