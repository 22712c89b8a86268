/* c_lanes.c -- short rows whose cells read where arrays of indices say, as vectors.
 *
 * A row of a few cells is vectors of them, the last one partly filled.  What they read is put
 * together from single cells, or taken out of a row that is a vector itself; whole numbers, which
 * say where those are, are computed for each cell by itself: vN, vN_1, vN_2 are those of the first,
 * second and third cell of a vector. */
#include "gen/c/c_writer.h"

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
    return ar_w_is_all_inside(w, load);
}

/* left: operations, so that a walk over parts that are shared ends.  Depth is limited by
 * AR_MAX_DEPTH. */
static bool is_index(ar_writer *w, const ar_c_strip *strip, arras_expr e, int *left)
{
    if (ar_w_is_leaf(e) || !ar_c_varies(strip, e))
        return true;
    if (--*left < 0)
        return false;
    if (e->kind == AR_EXPR_LOAD)
        return is_even(w, strip, e);
    if (e->kind != AR_EXPR_CAST && (e->kind != AR_EXPR_OP || ar_w_is_lazy(w, e)))
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
    return ar_w_is_all_inside(w, load);
}

/* ---- Picking --------------------------------------------------------------------------------- */

/* A row of so few cells that it is read as one vector, of which lanes are taken: its length; else
 * 0.  Processors without masks and such a step would take longer than one by one. */
static int length_of_picked(const ar_writer *w, const ar_c_read *read)
{
    arras_expr e = read->load;
    int        last = e->rank - 1;
    arras_dim  length;

    if (!w->form->machine->masks || read->motion[last] != AR_C_ANY || !w->form->dense[e->ints[0]])
        return 0;
    for (int axis = 0; axis < last; axis++)
        if (read->motion[axis] != AR_C_FIXED)
            return 0;
    length = w->lambda->inputs[e->ints[0]]->shape[last];
    return !ar_dim_symbolic(length) && length <= ar_c_vector_cells(w->strips->vector_dtype)
               ? (int)length
               : 0;
}

/* The read of a row of indices as they are, or cast; NULL: they are something else. */
static const ar_c_read *row_of_indices(const ar_c_strip *strip, arras_expr index)
{
    if (index->kind == AR_EXPR_CAST && index->type.dtype == ARRAS_I64)
        index = index->args[0];
    for (size_t i = 0; i < strip->nreads; i++) {
        const ar_c_read *read = strip->reads[i];

        if (read->load == index)
            return index->type.dtype == ARRAS_I32 && read->unit && read->along == 1 ? read : NULL;
    }
    return NULL;
}

static void put_indices(ar_writer *w, const ar_c_read *read);

/* "const i64x4 w7 = ...;", once in each block. */
static void put_index_vector(ar_writer *w, const ar_c_read *picked, const ar_c_strip *strip)
{
    arras_expr       index = picked->load->args[picked->load->rank - 1];
    const ar_c_read *row = row_of_indices(strip, index);
    const char      *vector = w->strips->vector;

    if (w->facts[index->id].lanes == w->strips->lanes_block)
        return;
    w->facts[index->id].lanes = w->strips->lanes_block;
    if (!row)
        put_indices(w, picked);
    ar_text_printf(w->out, "const INDICES_%s w%" PRId64 " = ", w->strips->vector, index->id);
    if (row) {
        ar_text_printf(w->out, "ROW_%s(&", w->strips->vector);
        ar_c_print_unit_cell(w, row, strip);
        ar_text_printf(w->out, ", %d);\n", w->strips->lanes);
        return;
    }
    w->strips->vector = NULL;
    w->strips->abreast = w->strips->lanes;
    for (int lane = 0; ar_c_abreast(w, lane); lane++) {
        ar_text_add(w->out, lane ? ", " : "{ ");
        ar_w_cast(w, index, ARRAS_I64);
    }
    w->strips->abreast = 0;
    w->strips->vector = vector;
    ar_text_add(w->out, " };\n");
}

static void put_picked(ar_writer *w, const ar_c_read *read, const ar_c_strip *strip, int length)
{
    arras_expr e = read->load;

    put_index_vector(w, read, strip);
    ar_c_vector_start(w, e);
    ar_text_printf(w->out, "PICK_%s(", w->strips->vector);
    if (length == ar_c_vector_cells(w->strips->vector_dtype))
        ar_text_printf(w->out, "*(const %s *)p%" PRId64, w->strips->vector, e->id);
    else
        ar_text_printf(w->out, "MASKED_%s((const void *)p%" PRId64 ", (%s){ 0 }, 0, %d)",
                       w->strips->vector, e->id, w->strips->vector, length);
    ar_text_printf(w->out, ", w%" PRId64 ");\n", e->args[e->rank - 1]->id);
}

/* ---- Reading --------------------------------------------------------------------------------- */

static void put_indices(ar_writer *w, const ar_c_read *read)
{
    const char *vector = w->strips->vector;

    w->strips->vector = NULL;
    w->strips->abreast = w->strips->lanes;
    for (int axis = 0; axis < read->load->rank; axis++)
        if (read->motion[axis] == AR_C_ANY)
            ar_w_put(w, read->load->args[axis]);
    w->strips->abreast = 0;
    w->strips->vector = vector;
}

/* From the start of the array: how far it is, arrays alike have in common, so that few registers
 * are needed. */
static void print_lane(ar_writer *w, const ar_c_read *read, const ar_c_strip *strip)
{
    arras_expr e = read->load;
    int        operand = ar_w_operand(w, e);

    if (read->unit) {
        ar_c_print_unit_cell(w, read, strip);
        return;
    }
    ar_text_printf(w->out, "*(const %s *)(d%d + (%s%s * t%" PRId64, ar_c_type(e->type.dtype),
                   operand, strip->name, w->strips->which, e->id);
    for (int axis = 0; axis < e->rank; axis++) {
        ar_text_add(w->out, " + ");
        if (read->motion[axis] == AR_C_ANY)
            ar_w_cast(w, e->args[axis], ARRAS_I64);
        else
            ar_text_printf(w->out, "j%" PRId64 "_%d", e->id, axis);
        ar_text_printf(w->out, " * s%d_%d", operand, axis);
    }
    ar_text_add(w->out, "))");
}

/* Lanes that belong to no cell are 0. */
void ar_c_put_lane_read(ar_writer *w, const ar_c_read *read, const ar_c_strip *strip)
{
    const char *vector = w->strips->vector;
    int         picked = length_of_picked(w, read);

    if (picked) {
        put_picked(w, read, strip, picked);
        return;
    }
    put_indices(w, read);
    ar_c_vector_start(w, read->load);
    w->strips->vector = NULL;
    w->strips->abreast = w->strips->lanes;
    for (int lane = 0; ar_c_abreast(w, lane); lane++) {
        ar_text_add(w->out, lane ? ", " : "{ ");
        print_lane(w, read, strip);
    }
    w->strips->abreast = 0;
    w->strips->vector = vector;
    ar_text_add(w->out, " };\n");
}

/* ---- Rows ------------------------------------------------------------------------------------ */

/* From cell `from`, the text of a number, on. */
static void put_lanes(ar_writer *w, const ar_c_strip *strip, const ar_c_sink *sink,
                      const char *from, int lanes)
{
    size_t mark = w->nchanges;

    ar_c_vector_set(w, strip, strip->roots[0]->type.dtype);
    w->strips->lanes = lanes;
    w->strips->lanes_block++;
    ar_text_printf(w->out, "{\nconst int64_t %s = %s;\n", strip->name, from);
    for (int lane = 1; lane < lanes; lane++)
        ar_text_printf(w->out, "const int64_t %s_%d = %s + %d;\n", strip->name, lane, strip->name,
                       lane);
    for (int i = 0; i < strip->nroots; i++)
        ar_w_put(w, strip->roots[i]);
    sink->cell(w, sink->self, strip);
    ar_text_add(w->out, "}\n");
    w->strips->lanes = 0;
    w->strips->vector = NULL;
    ar_w_forget(w, mark);
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
