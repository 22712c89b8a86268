/* decisions_pack.c -- what was decided, as bytes, and back. */
#include "opt/opt.h"

#include <string.h>

/* Of a decision, as numbers; its shape and its name follow. */
enum { ARRAY, FATE, REASON, OPERATIONS, READS, RANK, CELL_BYTES, BEFORE, AFTER, LEAST, NUMBERS };

/* ---- Reasons: few, and each written once ----------------------------------------------------- */

enum { MOST_REASONS = 64 };

typedef struct {
    int64_t     count;
    const char *texts[MOST_REASONS];
} reasons;

/* -1: too many. */
static int64_t reason_number(reasons *r, const char *text)
{
    for (int64_t i = 0; i < r->count; i++)
        if (strcmp(r->texts[i], text) == 0)
            return i;
    if (r->count == MOST_REASONS)
        return -1;
    r->texts[r->count] = text;
    return r->count++;
}

static bool find_reasons(reasons *r, const ar_decisions *decisions)
{
    for (size_t i = 0; i < decisions->count; i++)
        if (reason_number(r, decisions->items[i].reason) < 0)
            return false;
    return true;
}

static void unpack_reasons(reasons *r, ar_unpacker *u)
{
    r->count = ar_unpack_number(u);
    u->failed = u->failed || r->count < 0 || r->count > MOST_REASONS;
    for (int64_t i = 0; i < r->count && !u->failed; i++)
        r->texts[i] = ar_unpack_string(u);
}

/* ---- Decisions ------------------------------------------------------------------------------- */

static void pack_decision(ar_text *out, const ar_decision *d, reasons *r)
{
    int64_t numbers[NUMBERS] = {
        [ARRAY] = d->array ? d->array->id : -1,
        [FATE] = d->fate,
        [REASON] = reason_number(r, d->reason),
        [OPERATIONS] = d->operations,
        [RANK] = d->rank,
        [CELL_BYTES] = (int64_t)d->cell_bytes,
        [BEFORE] = d->moves_before,
        [AFTER] = d->moves_after,
        [LEAST] = d->moves_least,
    };

    memcpy(&numbers[READS], &d->reads, sizeof d->reads);
    ar_pack_numbers(out, NUMBERS, numbers);
    ar_pack_numbers(out, d->rank, d->shape);
    ar_pack_string(out, d->what);
}

bool ar_decisions_pack(ar_text *out, const ar_decisions *decisions)
{
    reasons r = { 0 };

    if (!find_reasons(&r, decisions))
        return false;
    ar_pack_number(out, r.count);
    for (int64_t i = 0; i < r.count; i++)
        ar_pack_string(out, r.texts[i]);
    ar_pack_number(out, (int64_t)decisions->count);
    for (size_t i = 0; i < decisions->count; i++)
        pack_decision(out, &decisions->items[i], &r);
    ar_pack_number(out, (int64_t)decisions->nchanges);
    for (size_t i = 0; i < decisions->nchanges; i++)
        ar_pack_string(out, decisions->changes[i]);
    return !out->failed;
}

static void unpack_decision(ar_decision *out, ar_unpacker *u, const reasons *r,
                            const arras_graph *optimised)
{
    const int64_t *n = ar_unpack_numbers(u, NUMBERS);

    if (!n || n[ARRAY] < -1 || n[ARRAY] >= ar_graph_count(optimised) || n[REASON] < 0 ||
        n[REASON] >= r->count || n[RANK] < 0 || n[RANK] > ARRAS_MAX_RANK) {
        u->failed = true;
        return;
    }
    *out = (ar_decision){ .array = n[ARRAY] < 0 ? NULL : ar_graph_node(optimised, n[ARRAY]),
                          .fate = (ar_fate)n[FATE],
                          .reason = r->texts[n[REASON]],
                          .operations = n[OPERATIONS],
                          .rank = (int)n[RANK],
                          .cell_bytes = (size_t)n[CELL_BYTES],
                          .moves_before = (int)n[BEFORE],
                          .moves_after = (int)n[AFTER],
                          .moves_least = (int)n[LEAST] };
    memcpy(&out->reads, &n[READS], sizeof out->reads);
    out->shape = ar_unpack_numbers(u, n[RANK]);
    out->what = ar_unpack_string(u);
}

static void unpack_changes(ar_decisions *out, ar_unpacker *u)
{
    int64_t count = ar_unpack_number(u);

    u->failed = u->failed || count < 0 || count > u->end - u->at;
    out->changes = u->failed ? NULL : ar_alloc((size_t)count, sizeof *out->changes);
    u->failed = !out->changes;
    for (int64_t i = 0; i < count && !u->failed; i++)
        out->changes[i] = ar_unpack_string(u);
    if (!u->failed)
        out->nchanges = out->changes_room = (size_t)count;
}

static bool unpack_all(ar_decisions *out, ar_unpacker *u, const arras_graph *optimised)
{
    reasons r;
    int64_t count;

    unpack_reasons(&r, u);
    count = ar_unpack_number(u);
    if (u->failed || count < 0 || count > u->end - u->at)
        return false;
    out->items = ar_alloc((size_t)count, sizeof *out->items);
    if (!out->items)
        return false;
    out->count = out->room = (size_t)count;
    for (int64_t i = 0; i < count && !u->failed; i++)
        unpack_decision(&out->items[i], u, &r, optimised);
    if (!u->failed)
        unpack_changes(out, u);
    return !u->failed;
}

/* Texts and shapes stay where they are: in a copy of the bytes. */
bool ar_decisions_unpack(ar_decisions *out, ar_unpacker *u, const arras_graph *optimised)
{
    ar_decisions made = { 0 };
    size_t       length = (size_t)(u->end - u->at);
    char        *bytes = ar_arena_copy(&made.arena, u->at, length, 1);
    ar_unpacker  own = { .at = bytes, .end = bytes ? bytes + length : NULL };

    if (!bytes || !unpack_all(&made, &own, optimised)) {
        ar_decisions_free(&made);
        return false;
    }
    *out = made;
    return true;
}
