/* c_shape.c -- what strips do otherwise than the expression writer by itself: values that stand in
 * buffers and behind pointers, vectors, and several statements side by side. */
#include "gen/c/c_writer.h"

static void put_from_buffer(ar_writer *w, arras_expr e, const ar_c_strip *strip)
{
    for (int t = 0; ar_w_turn(w, t); t++) {
        ar_w_start(w, e);
        if (w->strips->vector)
            ar_text_printf(w->out, "*(const %s *)&", w->strips->vector);
        ar_text_printf(w->out, "m%" PRId64 "[%s%s - at%d];\n", e->id, strip->name, w->strips->which,
                       strip->number);
    }
}

static void put_shaped(ar_writer *w, arras_expr e, ar_w_state state)
{
    switch (state.place) {
    case AR_C_BUFFER: put_from_buffer(w, e, state.strip); break;
    case AR_C_POINTER: ar_c_put_read(w, state.read, state.strip); break;
    case AR_C_EDGE: ar_c_put_edge_read(w, state.read); break;
    default: w->failed = true;
    }
}

static void start(ar_writer *w, arras_expr e)
{
    if (w->strips->vector)
        ar_c_vector_start(w, e);
    else
        ar_text_printf(w->out, "const %s v%" PRId64 "%s = ", ar_c_type(e->type.dtype), e->id,
                       w->strips->which);
}

/* Of several cells that are put side by side, one by one, each has names of its own. */
static const char *ending(const ar_writer *w, arras_expr e)
{
    const ar_c_strips *s = w->strips;

    return s->abreast && !s->vector && ar_c_varies(s->vector_strip, e) ? s->which : "";
}

static bool put_op(ar_writer *w, arras_expr e)
{
    if (w->strips->vector)
        ar_c_put_vector_op(w, e);
    return w->strips->vector != NULL;
}

const ar_shape ar_c_strips_shape = {
    .sizes = "a->sizes[",
    .gives_up = true,
    .put_reduce = ar_c_put_reduce,
    .put_shaped = put_shaped,
    .turn = ar_c_abreast,
    .start = start,
    .ending = ending,
    .put_op = put_op,
};
