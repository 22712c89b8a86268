/* c_ahead.c -- rows that come from memory are asked for before they are needed.
 *
 * Processors read ahead by themselves, but not beyond the end of a page, and begin anew with each:
 * asked for a page before, into the second cache, rows arrive up to a third faster.  An address
 * behind an array does no harm. */
#include "gen/c/c_writer.h"

enum { PAGE = 4096, LINE = 64 };

/* How far a read is from the reader's cell along an axis, where that is a number. */
static int64_t distance(arras_expr index)
{
    int64_t shift;

    if (index->kind != AR_EXPR_OP || index->nargs != 2 || !ar_w_integer(&shift, index->args[1]))
        return 0;
    return index->ints[0] == AR_OP_add ? shift : index->ints[0] == AR_OP_subtract ? -shift : 0;
}

static bool is_row_before(arras_expr a, arras_expr b)
{
    for (int axis = 0; axis + 1 < a->rank; axis++)
        if (distance(a->args[axis]) != distance(b->args[axis]))
            return distance(a->args[axis]) < distance(b->args[axis]);
    return false;
}

/* Of several rows of an array the last one is read for the first time. */
static bool is_new_to_caches(const ar_c_strip *strip, const ar_c_read *read)
{
    if (!read->unit || read->along < 1 || read->along > 2 || read->neighbour)
        return false;
    for (size_t i = 0; i < strip->nreads; i++)
        if (strip->reads[i]->load->ints[0] == read->load->ints[0] &&
            is_row_before(read->load, strip->reads[i]->load))
            return false;
    return true;
}

/* Of three rows and more AMD's processors read ahead faster by themselves, by 3 % of the time. */
static bool leaves_it_to_processor(const ar_writer *w, const ar_c_strip *strip)
{
    enum { MANY = 3 };
    int rows = 0;

    for (size_t i = 0; i < strip->nreads; i++)
        rows += is_new_to_caches(strip, strip->reads[i]);
    return rows >= MANY && w->form->machine->reads_ahead;
}

void ar_c_put_turn_ahead(ar_writer *w, const ar_c_strip *strip, int cells)
{
    if (leaves_it_to_processor(w, strip))
        return;
    for (size_t i = 0; i < strip->nreads; i++) {
        const ar_c_read *read = strip->reads[i];
        int bytes = (int)read->along * cells * (int)ar_dtype_size(read->load->type.dtype);

        if (!is_new_to_caches(strip, read))
            continue;
        ar_text_add(w->out, "if (far) {\n");
        for (int at = 0; at < bytes; at += LINE)
            ar_text_printf(
                w->out, "__builtin_prefetch((const char *)(p%" PRId64 " + %d * %s) + %d, 0, 2);\n",
                read->load->id, (int)read->along, strip->name, PAGE + at);
        ar_text_add(w->out, "}\n");
    }
}

void ar_c_put_segment_ahead(ar_writer *w, const ar_c_strip *strip)
{
    int s = strip->number;

    if (w->flat &&
        w->form->machine->reads_ahead) /* there are no ends of rows, where it would stop */
        return;
    for (size_t i = 0; i < strip->nreads; i++) {
        const ar_c_read *read = strip->reads[i];

        if (is_new_to_caches(strip, read))
            ar_text_printf(w->out,
                           "if (far) read_ahead((const char *)(p%" PRId64 " + %d * seg%d) + %d, "
                           "%d * len%d * (int64_t)sizeof *p%" PRId64 ");\n",
                           read->load->id, (int)read->along, s, PAGE, (int)read->along, s,
                           read->load->id);
    }
}
