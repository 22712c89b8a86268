/* c_lanes.c -- short rows whose cells read where arrays of indices say, as vectors.
 *
 * A row of a few cells is vectors of them, the last one partly filled.  What they read is put
 * together from single cells; whole numbers, which say where those are, are computed for each cell
 * by itself: vN, vN_1, vN_2 are those of the first, second and third cell of a vector. */
#include "gen/c_writer.h"

#include <stdio.h>

enum { MOST_IN_INDICES = 64 };

/* ---- What can be read ------------------------------------------------------------------------ */

static bool moves_evenly(const ar_c_strip *strip, arras_expr index)
{
    ar_c_affine form;

    return !ar_c_varies(strip, index) || ar_c_affine_read(&form, strip, index);
}

/* Whether the cells along a strip are read one by one without any look at an index. */
static bool is_even(ar_writer *w, const ar_c_strip *strip, arras_expr load)
{
    for (int axis = 0; axis < load->rank; axis++)
        if (!moves_evenly(strip, load->args[axis]))
            return false;
    return ar_c_is_all_inside(w, load);
}

/* left: operations, so that a walk over parts that are shared ends.  Depth is limited by
 * AR_MAX_DEPTH. */
static bool is_index(ar_writer *w, const ar_c_strip *strip, arras_expr e, int *left)
{
    if (ar_c_is_leaf(e) || !ar_c_varies(strip, e))
        return true;
    if (--*left < 0)
        return false;
    if (e->kind == AR_EXPR_LOAD)
        return is_even(w, strip, e);
    if (e->kind != AR_EXPR_CAST && (e->kind != AR_EXPR_OP || ar_c_is_lazy(w, e)))
        return false;
    for (int i = 0; i < e->nargs; i++)
        if (!is_index(w, strip, e->args[i], left))
            return false;
    return true;
}

bool ar_c_is_lane_read(ar_writer *w, const ar_c_strip *strip, arras_expr load)
{
    int left = MOST_IN_INDICES;

    for (int axis = 0; axis < load->rank; axis++)
        if (!moves_evenly(strip, load->args[axis]) && !is_index(w, strip, load->args[axis], &left))
            return false;
    return ar_c_is_all_inside(w, load);
}

/* ---- Reading --------------------------------------------------------------------------------- */

static void put_indices(ar_writer *w, const ar_c_read *read)
{
    const char *vector = w->vector;

    w->vector = NULL;
    w->abreast = w->lanes;
    for (int axis = 0; axis < read->load->rank; axis++)
        if (read->motion[axis] == AR_C_ANY)
            ar_c_put(w, read->load->args[axis]);
    w->abreast = 0;
    w->vector = vector;
}

/* From the start of the array: how far it is, arrays alike have in common, so that few registers
 * are needed. */
static void print_lane(ar_writer *w, const ar_c_read *read, const ar_c_strip *strip)
{
    arras_expr e = read->load;
    int        operand = ar_c_operand(w, e);

    if (read->unit) {
        ar_c_print_unit_cell(w, read, strip);
        return;
    }
    ar_text_printf(w->out, "*(const %s *)(d%d + (%s%s * t%" PRId64, ar_c_type(e->type.dtype),
                   operand, strip->name, w->which, e->id);
    for (int axis = 0; axis < e->rank; axis++) {
        ar_text_add(w->out, " + ");
        if (read->motion[axis] == AR_C_ANY)
            ar_c_cast(w, e->args[axis], ARRAS_I64);
        else
            ar_text_printf(w->out, "j%" PRId64 "_%d", e->id, axis);
        ar_text_printf(w->out, " * s%d_%d", operand, axis);
    }
    ar_text_add(w->out, "))");
}

/* Lanes that belong to no cell are 0. */
void ar_c_put_lane_read(ar_writer *w, const ar_c_read *read, const ar_c_strip *strip)
{
    const char *vector = w->vector;

    put_indices(w, read);
    ar_c_vector_start(w, read->load);
    w->vector = NULL;
    w->abreast = w->lanes;
    for (int lane = 0; ar_c_abreast(w, lane); lane++) {
        ar_text_add(w->out, lane ? ", " : "{ ");
        print_lane(w, read, strip);
    }
    w->abreast = 0;
    w->vector = vector;
    ar_text_add(w->out, " };\n");
}

/* ---- Rows ------------------------------------------------------------------------------------ */

/* From cell `from`, the text of a number, on. */
static void put_lanes(ar_writer *w, const ar_c_strip *strip, const ar_c_sink *sink,
                      const char *from, int lanes)
{
    size_t mark = w->nchanges;

    ar_c_vector_set(w, strip, strip->roots[0]->type.dtype);
    w->lanes = lanes;
    ar_text_printf(w->out, "{\nconst int64_t %s = %s;\n", strip->name, from);
    for (int lane = 1; lane < lanes; lane++)
        ar_text_printf(w->out, "const int64_t %s_%d = %s + %d;\n", strip->name, lane, strip->name,
                       lane);
    for (int i = 0; i < strip->nroots; i++)
        ar_c_put(w, strip->roots[i]);
    sink->cell(w, sink->self, strip);
    ar_text_add(w->out, "}\n");
    w->lanes = 0;
    w->vector = NULL;
    ar_c_forget(w, mark);
}

void ar_c_put_row_lanes(ar_writer *w, const ar_c_strip *strip, const ar_c_sink *sink)
{
    int  cells = ar_c_vector_cells(strip->roots[0]->type.dtype);
    int  rest = (int)strip->length % cells, whole = (int)strip->length - rest;
    char from[24];

    if (whole) {
        ar_text_printf(w->out, "for (int from = 0; from < %d; from += %d)\n", whole, cells);
        put_lanes(w, strip, sink, "from", cells);
    }
    snprintf(from, sizeof from, "%d", whole);
    if (rest)
        put_lanes(w, strip, sink, from, rest);
}
