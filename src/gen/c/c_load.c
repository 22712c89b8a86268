/* c_load.c -- reads along strips. */
#include "gen/c/c_writer.h"

#include <stdio.h>
#include <string.h>

/* ---- Before a strip -------------------------------------------------------------------------- */

static bool axis_has_cells(const ar_writer *w, arras_expr load, int axis)
{
    arras_dim length = w->lambda->inputs[load->ints[0]]->shape[axis];

    return !ar_dim_symbolic(length) && length > 0;
}

/* Where a fill stands for the cell the cell is read all the same, and thrown away: it must exist.
 */
static void put_empty_guard(ar_writer *w, ar_c_strip *strip, arras_expr e)
{
    for (int axis = 0; axis < e->rank; axis++) {
        if (axis_has_cells(w, e, axis))
            continue;
        ar_text_printf(w->out, "if (n%d_%d == 0) last%d = first%d;\n", ar_w_operand(w, e), axis,
                       strip->number, strip->number);
        strip->cut = strip->ragged = true;
    }
}

static void prepare_fixed(ar_writer *w, arras_expr e, int axis)
{
    ar_w_put(w, e->args[axis]);
    ar_w_put_index(w, e, axis);
    ar_w_put_edge_rule(w, e, axis);
}

static void prepare_affine(ar_writer *w, ar_c_strip *strip, arras_expr e, int axis,
                           const ar_c_affine *form)
{
    ar_c_affine_put_terms(w, form);
    ar_text_printf(w->out, "const int64_t j%" PRId64 "_%d = ", e->id, axis);
    ar_c_affine_print_rest(w, form);
    ar_text_add(w->out, ";\n");
    if (ar_w_is_inside(w, e, axis))
        return;
    strip->cut = true;
    ar_text_printf(
        w->out, "keep_inside(&first%d, &last%d, %" PRId64 "ll, j%" PRId64 "_%d, n%d_%d);\n",
        strip->number, strip->number, form->along, e->id, axis, ar_w_operand(w, e), axis);
}

/* Its reads are checked one by one, but from an axis without cells nothing can be read. */
static void prepare_any(ar_writer *w, arras_expr e, int axis)
{
    if (e->ints[1 + axis] != ARRAS_EDGE_CONSTANT && !axis_has_cells(w, e, axis))
        ar_text_printf(w->out, "if (n%d_%d == 0) return 1;\n", ar_w_operand(w, e), axis);
}

static void print_start(ar_writer *w, const ar_c_read *read)
{
    arras_expr  e = read->load;
    const char *type = ar_c_type(e->type.dtype);

    if (read->unit)
        ar_text_printf(w->out, "const %s *const p%" PRId64 " = (const %s *)(d%d", type, e->id, type,
                       ar_w_operand(w, e));
    else
        ar_text_printf(w->out, "const char *const p%" PRId64 " = (d%d", e->id, ar_w_operand(w, e));
    for (int axis = 0; axis < e->rank; axis++)
        if (read->motion[axis] != AR_C_ANY)
            ar_text_printf(w->out, " + j%" PRId64 "_%d * s%d_%d", e->id, axis, ar_w_operand(w, e),
                           axis);
    ar_text_add(w->out, ");\n");
}

static void print_step(ar_writer *w, const ar_c_strip *strip, const ar_c_read *read)
{
    arras_expr  e = read->load;
    ar_c_affine form;

    ar_text_printf(w->out, "const int64_t t%" PRId64 " = 0", e->id);
    for (int axis = 0; axis < e->rank; axis++)
        if (read->motion[axis] == AR_C_AFFINE && ar_c_affine_read(&form, strip, e->args[axis]))
            ar_text_printf(w->out, " + %" PRId64 "ll * s%d_%d", form.along, ar_w_operand(w, e),
                           axis);
    ar_text_add(w->out, ";\n");
}

/* Whether the cells that are read follow each other (or every along-th does): only the last index
 * of a dense array moves. */
static bool is_unit(const ar_writer *w, const ar_c_read *read)
{
    int last = read->load->rank - 1;

    for (int axis = 0; axis < last; axis++)
        if (read->motion[axis] != AR_C_FIXED)
            return false;
    return last >= 0 && read->motion[last] == AR_C_AFFINE && w->form->dense[read->load->ints[0]];
}

int64_t ar_c_row_step(const ar_writer *w, const ar_c_strip *strip, arras_expr load)
{
    int         last = load->rank - 1;
    ar_c_affine form;

    if (strip->flat || last < 0)
        return strip->flat;
    for (int axis = 0; axis < last; axis++)
        if (ar_c_varies(strip, load->args[axis]))
            return 0;
    return w->form->dense[load->ints[0]] && ar_c_affine_read(&form, strip, load->args[last])
               ? form.along
               : 0;
}

static void prepare_axis(ar_writer *w, ar_c_strip *strip, ar_c_read *read, int axis)
{
    arras_expr  e = read->load;
    ar_c_affine form;

    if (!ar_c_varies(strip, e->args[axis])) {
        read->motion[axis] = AR_C_FIXED;
        prepare_fixed(w, e, axis);
    } else if (ar_c_affine_read(&form, strip, e->args[axis])) {
        read->motion[axis] = AR_C_AFFINE;
        read->along = form.along;
        read->last = form;
        prepare_affine(w, strip, e, axis, &form);
    } else {
        read->motion[axis] = AR_C_ANY;
        prepare_any(w, e, axis);
    }
    read->any = read->any || read->motion[axis] == AR_C_ANY;
    if (e->ints[1 + axis] == ARRAS_EDGE_CONSTANT && read->motion[axis] != AR_C_AFFINE &&
        !ar_w_is_inside(w, e, axis))
        read->fills = true;
}

/* What may be outside along the strip, and how. */
static void note_border(ar_writer *w, ar_c_strip *strip, ar_c_read *read)
{
    arras_expr e = read->load;
    int        last = e->rank - 1;

    for (int axis = 0; axis < e->rank; axis++) {
        if (read->motion[axis] != AR_C_AFFINE || ar_w_is_inside(w, e, axis))
            continue;
        read->edged = read->unit && read->along == 1 && axis == last &&
                      e->ints[1 + last] == ARRAS_EDGE_CONSTANT;
        strip->ragged = strip->ragged || !read->edged;
    }
}

static bool is_same_row(const ar_c_read *a, const ar_c_read *b)
{
    int last = a->load->rank - 1;

    if (a->load->ints[0] != b->load->ints[0] || a->last.along != b->last.along ||
        a->last.nterms != b->last.nterms)
        return false;
    for (int axis = 0; axis < last; axis++)
        if (a->load->args[axis] != b->load->args[axis] ||
            a->load->ints[1 + axis] != b->load->ints[1 + axis])
            return false;
    return memcmp(a->last.terms, b->last.terms, (size_t)a->last.nterms * sizeof *a->last.terms) ==
           0;
}

static void find_neighbour(const ar_c_strip *strip, ar_c_read *read)
{
    enum { FAR = 64 }; /* cells */

    for (size_t i = 0; i < strip->nreads && read->unit && !read->rows; i++) {
        const ar_c_read *other = strip->reads[i];

        if (other == read || !other->unit || other->rows || other->neighbour ||
            !is_same_row(read, other) ||
            !ar_sub64(&read->shift, read->last.constant, other->last.constant) ||
            read->shift > FAR || read->shift < -FAR)
            continue;
        read->neighbour = other;
        return;
    }
    read->shift = 0;
}

static void prepare_flat(ar_writer *w, ar_c_read *read)
{
    read->unit = true;
    read->along = 1;
    ar_text_printf(w->out, "const %s *const p%" PRId64 " = (const %s *)d%d;\n",
                   ar_c_type(read->load->type.dtype), read->load->id,
                   ar_c_type(read->load->type.dtype), ar_w_operand(w, read->load));
}

void ar_c_prepare_load(ar_writer *w, ar_c_strip *strip, arras_expr e)
{
    ar_c_read *read = ar_arena_alloc(&w->arena, 1, sizeof *read);

    if (!read || !ar_grow(&strip->reads, &strip->reads_room, strip->nreads, sizeof *strip->reads)) {
        w->failed = true;
        return;
    }
    read->load = e;
    strip->reads[strip->nreads++] = read;
    if (strip->flat) {
        prepare_flat(w, read);
        return;
    }
    if (e->nargs > e->rank)
        ar_text_printf(w->out, "int f%" PRId64 " = 0;\n", e->id);
    for (int axis = 0; axis < e->rank; axis++)
        prepare_axis(w, strip, read, axis);
    read->unit = is_unit(w, read);
    read->rows = read->fills && read->unit && read->along == 1;
    note_border(w, strip, read);
    if (read->fills && !read->rows)
        put_empty_guard(w, strip, e);
    find_neighbour(strip, read);
    print_start(w, read);
    if (!read->unit)
        print_step(w, strip, read);
}

/* ---- Along a strip --------------------------------------------------------------------------- */

/* A row of a fill, one for the kernel: "zN_f32", N the fill's id. */
static void put_fill_cells(ar_writer *w, arras_expr fill, arras_dtype dtype)
{
    const char *type = ar_c_type(dtype), *d = ar_dtype_name(dtype);
    char        declaration[96];
    ar_text    *body = w->out;

    snprintf(declaration, sizeof declaration, "%s z%" PRId64 "_%s[%d] ALIGNED;\n", type, fill->id,
             d, AR_C_SEGMENT);
    if (w->strips->top.data && strstr(w->strips->top.data, declaration))
        return;
    ar_text_add(&w->strips->top, declaration);
    ar_text_printf(&w->strips->top,
                   "for (int z = 0; z < %d; z++) z%" PRId64 "_%s[z] = ", AR_C_SEGMENT, fill->id, d);
    w->out = &w->strips->top;
    ar_w_cast(w, fill, dtype);
    w->out = body;
    ar_text_add(&w->strips->top, ";\n");
}

void ar_c_put_fill_row(ar_writer *w, const ar_c_read *read, const ar_c_strip *strip)
{
    arras_expr  e = read->load;
    arras_dtype dtype = e->type.dtype;

    if (!read->rows)
        return;
    ar_text_printf(w->out, "const %s *const q%" PRId64 " = ", ar_c_type(dtype), e->id);
    for (int fill = 1; fill <= ar_w_last_fill(e); fill++) {
        arras_expr value = e->args[e->rank + fill - 1];

        put_fill_cells(w, value, dtype);
        ar_text_printf(w->out, "f%" PRId64 " %s %d ? z%" PRId64 "_%s : ", e->id,
                       fill == ar_w_last_fill(e) ? ">=" : "==", fill, value->id,
                       ar_dtype_name(dtype));
    }
    ar_text_printf(w->out, "p%" PRId64 " + at%d;\n", e->id, strip->number);
}

/* An index that moves in its own way, kept inside: at the nearest cell, as above.  Outside of
 * several axes the last one's fill counts: it has the largest number. */
static void put_any_index(ar_writer *w, arras_expr e, int axis)
{
    arras_edge_rule rule = (arras_edge_rule)e->ints[1 + axis];
    int             operand = ar_w_operand(w, e);
    char            j[48];

    ar_w_put_index(w, e, axis);
    if (ar_w_is_inside(w, e, axis))
        return;
    snprintf(j, sizeof j, "j%" PRId64 "_%d", e->id, axis);
    if (ar_w_edge_function(rule)) {
        ar_text_printf(w->out, "%s = %s(%s, n%d_%d);\n", j, ar_w_edge_function(rule), j, operand,
                       axis);
        return;
    }
    ar_text_printf(w->out, "const int out%s = (uint64_t)%s >= (uint64_t)n%d_%d;\n", j, j, operand,
                   axis);
    ar_text_printf(w->out, "%s = edge_nearest(%s, n%d_%d);\n", j, j, operand, axis);
    if (rule == ARRAS_EDGE_NONE)
        ar_text_printf(w->out, "fault |= out%s;\n", j);
    else
        ar_text_printf(w->out, "fill = out%s && fill < %d ? %d : fill;\n", j,
                       ar_w_fill_number(e, axis), ar_w_fill_number(e, axis));
}

void ar_c_print_unit_cell(ar_writer *w, const ar_c_read *read, const ar_c_strip *strip)
{
    ar_text_printf(w->out, "p%" PRId64 "[",
                   read->neighbour ? read->neighbour->load->id : read->load->id);
    if (read->along != 1)
        ar_text_printf(w->out, "%" PRId64 "ll * ", read->along);
    ar_text_printf(w->out, "%s%s", strip->name, w->strips->which);
    if (read->shift)
        ar_text_printf(w->out, " + %" PRId64 "ll", read->shift);
    ar_text_add(w->out, "]");
}

/* A vector whose lanes beyond the ends of the axis are the fill; they are not read. */
static void print_edged(ar_writer *w, const ar_c_read *read, const ar_c_strip *strip)
{
    arras_expr e = read->load;
    int        last = e->rank - 1;

    w->used->edged[e->type.dtype] = true;
    ar_text_printf(w->out, "edged_%s(", w->strips->vector);
    if (read->rows) {
        ar_text_printf(w->out, "q%" PRId64 " + (%s - at%d)", e->id, strip->name, strip->number);
    } else {
        ar_text_add(w->out, "&");
        ar_c_print_unit_cell(w, read, strip);
    }
    ar_text_printf(w->out, ", j%" PRId64 "_%d + %s, n%d_%d, ", e->id, last, strip->name,
                   ar_w_operand(w, e), last);
    ar_w_cast(w, e->args[e->rank + ar_w_fill_number(e, last) - 1], e->type.dtype);
    ar_text_add(w->out, ");\n");
}

static void print_cell(ar_writer *w, const ar_c_read *read, const ar_c_strip *strip)
{
    arras_expr e = read->load;

    if (w->strips->at_edge && read->edged) {
        print_edged(w, read, strip);
        return;
    }
    if (read->rows) {
        if (w->strips->vector)
            ar_text_printf(w->out, "*(const %s *)&", w->strips->vector);
        ar_text_printf(w->out, "q%" PRId64 "[%s%s - at%d]", e->id, strip->name, w->strips->which,
                       strip->number);
    } else if (read->unit) {
        if (w->strips->vector && read->along == 2)
            ar_text_printf(w->out, "SECOND_%s(&", w->strips->vector);
        else if (w->strips->vector)
            ar_text_printf(w->out, "*(const %s *)((const char *)&", w->strips->vector);
        ar_c_print_unit_cell(w, read, strip);
        if (w->strips->vector && w->strips->vector_row)
            ar_text_printf(w->out, " + %d * step%" PRId64, w->strips->vector_row, e->id);
        ar_text_add(w->out, w->strips->vector ? ")" : "");
    } else {
        ar_text_printf(w->out, "*(const %s *)(p%" PRId64 " + %s%s * t%" PRId64,
                       ar_c_type(e->type.dtype), e->id, strip->name, w->strips->which, e->id);
        for (int axis = 0; axis < e->rank; axis++)
            if (read->motion[axis] == AR_C_ANY)
                ar_text_printf(w->out, " + j%" PRId64 "_%d * s%d_%d", e->id, axis,
                               ar_w_operand(w, e), axis);
        ar_text_add(w->out, ")");
    }
    ar_w_print_bool_test(w, e);
    ar_text_add(w->out, ";\n");
}

/* The read of the cells between those of a read of every second one; NULL: nobody reads them, or
 * they have their name already. */
static const ar_c_read *between(const ar_writer *w, const ar_c_read *read, const ar_c_strip *strip)
{
    for (size_t i = 0; i < strip->nreads; i++) {
        const ar_c_read *other = strip->reads[i];

        if (w->facts[other->load->id].state.place == AR_C_POINTER && other->unit && !other->any &&
            !other->fills && !other->rows && other->last.constant == (read->last.constant ^ 1) &&
            is_same_row(read, other))
            return other;
    }
    return NULL;
}

/* Every second cell and those in between come from the same vectors.  False: it is not so. */
static bool put_pair(ar_writer *w, const ar_c_read *read, const ar_c_strip *strip)
{
    bool             seconds = w->strips->vector && read->unit && read->along == 2 && !read->rows;
    const ar_c_read *other = seconds && !w->strips->vector_row ? between(w, read, strip) : NULL;
    const ar_c_read *even = read->last.constant & 1 ? other : read;
    const ar_c_read *odd = even == read ? other : read;

    if (!other || (w->strips->at_edge && (read->edged || other->edged)))
        return false;
    for (int t = 0; ar_c_abreast(w, t); t++) {
        ar_text_printf(w->out, "PAIR(%s, v%" PRId64 "%s, v%" PRId64 "%s, &", w->strips->vector,
                       even->load->id, w->strips->which, odd->load->id, w->strips->which);
        ar_c_print_unit_cell(w, even, strip);
        ar_text_add(w->out, ");\n");
    }
    ar_w_set(w, other->load, (ar_w_state){ .place = AR_W_VALUE });
    return true;
}

void ar_c_put_read(ar_writer *w, const ar_c_read *read, const ar_c_strip *strip)
{
    arras_expr e = read->load;
    bool       chooses = read->fills && !read->rows;

    if (w->strips->vector && w->strips->lanes &&
        (read->any || !read->unit || read->along < 1 || read->along > 2 ||
         w->strips->lanes < ar_c_vector_cells(w->strips->vector_dtype))) {
        ar_c_put_lane_read(w, read, strip);
        return;
    }
    for (int axis = 0; axis < e->rank && read->any; axis++)
        if (read->motion[axis] == AR_C_ANY)
            ar_w_put(w, e->args[axis]);
    if (!chooses && !read->any && put_pair(w, read, strip))
        return;
    if (!chooses && !read->any) {
        for (int t = 0; ar_c_abreast(w, t); t++) {
            ar_w_start(w, e);
            print_cell(w, read, strip);
        }
        return;
    }
    ar_text_printf(w->out, "%s v%" PRId64 ";\n{\n", ar_c_type(e->type.dtype), e->id);
    if (chooses)
        ar_text_printf(w->out, "int fill = f%" PRId64 ";\n", e->id);
    for (int axis = 0; axis < e->rank; axis++)
        if (read->motion[axis] == AR_C_ANY)
            put_any_index(w, e, axis);
    ar_text_printf(w->out, "const %s x = ", ar_c_type(e->type.dtype));
    print_cell(w, read, strip);
    ar_text_printf(w->out, "v%" PRId64 " = ", e->id);
    if (chooses)
        ar_w_print_fills(w, e, "fill");
    ar_text_add(w->out, "x;\n}\n");
}

/* Brings an index that moves inside its axis; xN_0 is how far it is from where pN points. */
static void put_moving_index(ar_writer *w, const ar_c_read *read, int axis)
{
    arras_expr      e = read->load;
    arras_edge_rule rule = (arras_edge_rule)e->ints[1 + axis];
    int             operand = ar_w_operand(w, e);

    ar_text_printf(w->out, "int64_t x%d = ", axis);
    ar_w_print_index(w, e, axis);
    ar_text_add(w->out, ";\n");
    if (!ar_w_is_inside(w, e, axis)) {
        if (ar_w_edge_function(rule))
            ar_text_printf(w->out, "if (n%d_%d == 0) return 1;\nx%d = %s(x%d, n%d_%d);\n", operand,
                           axis, axis, ar_w_edge_function(rule), axis, operand, axis);
        else
            ar_text_printf(w->out, "if ((uint64_t)x%d >= (uint64_t)n%d_%d) ", axis, operand, axis);
        if (rule == ARRAS_EDGE_NONE)
            ar_text_add(w->out, "return 1;\n");
        if (rule == ARRAS_EDGE_CONSTANT)
            ar_text_printf(w->out, "fill = fill < %d ? %d : fill;\n", ar_w_fill_number(e, axis),
                           ar_w_fill_number(e, axis));
    }
    if (read->motion[axis] == AR_C_AFFINE)
        ar_text_printf(w->out, "x%d -= j%" PRId64 "_%d;\n", axis, e->id, axis);
}

void ar_c_put_edge_read(ar_writer *w, const ar_c_read *read)
{
    arras_expr  e = read->load;
    const char *type = ar_c_type(e->type.dtype);

    for (int axis = 0; axis < e->rank; axis++)
        if (read->motion[axis] != AR_C_FIXED)
            ar_w_put(w, e->args[axis]);
    ar_text_printf(w->out, "%s v%" PRId64 ";\n{\n", type, e->id);
    if (e->nargs > e->rank)
        ar_text_printf(w->out, "int fill = f%" PRId64 ";\n", e->id);
    for (int axis = 0; axis < e->rank; axis++)
        if (read->motion[axis] != AR_C_FIXED)
            put_moving_index(w, read, axis);
    ar_text_printf(w->out, "v%" PRId64 " = ", e->id);
    ar_w_print_fills(w, e, "fill");
    if (read->unit) {
        ar_text_printf(w->out, "p%" PRId64 "[x%d]", e->id, e->rank - 1);
    } else {
        ar_text_printf(w->out, "*(const %s *)(p%" PRId64, type, e->id);
        for (int axis = 0; axis < e->rank; axis++)
            if (read->motion[axis] != AR_C_FIXED)
                ar_text_printf(w->out, " + x%d * s%d_%d", axis, ar_w_operand(w, e), axis);
        ar_text_add(w->out, ")");
    }
    ar_w_print_bool_test(w, e);
    ar_text_add(w->out, ";\n}\n");
}
