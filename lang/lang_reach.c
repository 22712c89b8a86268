/* lang_reach.c -- the message about a read that leaves its array: by how much, where, what to do.
 */
#include "lang/lang_ranges.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

enum { LONGEST_SHOWN = 60 };

static int shown_length(lang_place place)
{
    return (int)(place.length < LONGEST_SHOWN ? place.length : LONGEST_SHOWN);
}

static const char *text_at(lang_place place) { return place.source->text + place.start; }

/* " when i = 99, k = 2" */
static void say_when(char *room, size_t size, const lang_affine *a, const int64_t *values)
{
    size_t at = 0;

    room[0] = '\0';
    for (int i = 0; i < a->nterms && at + 1 < size; i++) {
        const lang_index *index = a->terms[i].index;
        int n = snprintf(room + at, size - at, "%s%s = %" PRId64, i == 0 ? " when " : ", ",
                         index->range->symbol->text, values[i]);

        at += n > 0 ? (size_t)n : 0;
    }
}

/* ", or give i a shorter range: i:99" where the first index that is not bounded otherwise can help.
 */
static void say_range(char *room, size_t size, const lang_read *read, bool beyond)
{
    const lang_index *index = read->affine->nterms > 0 ? read->affine->terms[0].index : NULL;
    lang_interval     rest;
    int64_t           factor, lo, hi;
    const char       *name;

    room[0] = '\0';
    if (!index || index->moves)
        return;
    rest = lang_interval_of(read->affine, index, read->around);
    factor = read->affine->terms[0].factor;
    name = index->range->symbol->text;
    if (factor < 0 || rest.state != LANG_KNOWN || rest.empty)
        return;
    lo = -lang_floor_divide(rest.min, factor);
    lo = lo > index->lo ? lo : index->lo;
    hi = lang_floor_divide(read->length - 1 - rest.max, factor) + 1;
    hi = hi < index->hi ? hi : index->hi;
    if (hi <= lo)
        return;
    if (beyond && lo == 0)
        snprintf(room, size, ", or give %s a shorter range: %s:%" PRId64, name, name, hi);
    else
        snprintf(room, size, ", or give %s another range: %s:%" PRId64 ":%" PRId64, name, name, lo,
                 hi);
}

static void say_none(char *room, size_t size, const lang_read *read)
{
    const lang_index *index = lang_index_to_shrink(read);

    if (index)
        snprintf(room, size,
                 "; its edge is `none`, but only the first and last values of `%s` can be left out",
                 index->range->symbol->text);
    else
        snprintf(room, size, "; its edge is `none`, and no index can shrink");
}

bool lang_fail_reach(lang_lowering *L, const lang_read *read, int64_t at, const int64_t *values)
{
    const lang_node *node = read->load->node, *base = node->parts[0];
    bool             beyond = at >= read->length;
    uint64_t         by = beyond ? (uint64_t)at - (uint64_t)read->length + 1 : 0 - (uint64_t)at;
    char             when[160], range[256], rule[384] = "";

    say_when(when, sizeof when, read->affine, values);
    say_range(range, sizeof range, read, beyond);
    if (read->shrinks)
        say_none(rule, sizeof rule, read);
    else if (base->kind == LANG_NAME)
        snprintf(rule, sizeof rule, "; say `edge %s = ...`%s", base->symbol->text, range);
    return lang_fail(L->err, node->place,
                     "%.*s goes %" PRIu64 " %s of axis %d of `%.*s` (length %" PRId64 ")%s%s",
                     shown_length(node->place), text_at(node->place), by,
                     beyond ? "beyond the end" : "before the start", read->axis,
                     shown_length(base->place), text_at(base->place), read->length, when, rule);
}
