/* place.c -- one piece of memory for all temporary arrays: those that are never needed at the same
 * time may lie at the same place. */
#include "plan/plan.h"

#include <stdlib.h>
#include <string.h>

/* Blocks that follow each other in one place, as one. */
typedef struct {
    int64_t bytes, offset;
    int     first, last;
    int     block; /* the first of them */
} chain;

static int64_t rounded(int64_t bytes)
{
    return (bytes + AR_BLOCK_ALIGN - 1) / AR_BLOCK_ALIGN * AR_BLOCK_ALIGN;
}

static bool takes_over(const ar_block *blocks, int n, int from)
{
    int in_place_successor = blocks[from].in_place_successor;

    return in_place_successor >= 0 && in_place_successor < n &&
           blocks[in_place_successor].bytes <= blocks[from].bytes &&
           blocks[in_place_successor].first == blocks[from].last &&
           blocks[in_place_successor].first > blocks[from].first;
}

/* Marks who is an heir, then follows each line from its start. */
static int make_chains(chain *chains, bool *inherits, int n, const ar_block *blocks)
{
    int count = 0;

    for (int i = 0; i < n; i++)
        if (takes_over(blocks, n, i))
            inherits[blocks[i].in_place_successor] = true;
    for (int i = 0; i < n; i++) {
        int last = i;

        if (inherits[i])
            continue;
        while (takes_over(blocks, n, last))
            last = blocks[last].in_place_successor;
        chains[count++] = (chain){ .bytes = rounded(blocks[i].bytes),
                                   .first = blocks[i].first,
                                   .last = blocks[last].last,
                                   .block = i };
    }
    return count;
}

/* ---- Placing --------------------------------------------------------------------------------- */

static int by_size(const void *a, const void *b)
{
    const chain *x = a, *y = b;

    if (x->bytes != y->bytes)
        return x->bytes > y->bytes ? -1 : 1;
    return x->block - y->block;
}

static int by_start(const void *a, const void *b)
{
    const chain *x = a, *y = b;

    return x->first != y->first ? x->first - y->first : by_size(a, b);
}

/* The lowest gap that is wide enough, among those placed before (sorted by offset in `order`). */
static int64_t place_one(const chain *chains, const int *order, int placed, const chain *c)
{
    int64_t offset = 0;

    for (int i = 0; i < placed; i++) {
        const chain *other = &chains[order[i]];

        if (other->last < c->first || other->first > c->last)
            continue;
        if (other->offset - offset >= c->bytes)
            return offset;
        offset = ar_max64(offset, other->offset + other->bytes);
    }
    return offset;
}

static void insert_by_offset(int *order, int placed, const chain *chains, int number)
{
    int at = placed;

    for (; at > 0 && chains[order[at - 1]].offset > chains[number].offset; at--)
        order[at] = order[at - 1];
    order[at] = number;
}

static int64_t place_all(chain *chains, int *order, int count)
{
    int64_t end = 0;

    for (int i = 0; i < count; i++) {
        chains[i].offset = place_one(chains, order, i, &chains[i]);
        insert_by_offset(order, i, chains, i);
        end = ar_max64(end, chains[i].offset + chains[i].bytes);
    }
    return end;
}

/* ---- Trying orders --------------------------------------------------------------------------- */

typedef struct {
    chain  *chains, *best;
    int    *order, count;
    int64_t best_end, live;
} search;

static int64_t try_order(search *s)
{
    int64_t end = place_all(s->chains, s->order, s->count);

    if (end < s->best_end) {
        s->best_end = end;
        memcpy(s->best, s->chains, (size_t)s->count * sizeof *s->best);
    }
    return end;
}

/* The one that reaches highest is placed first the next time. */
static void move_highest_first(search *s, int64_t end)
{
    chain highest;
    int   at = 0;

    while (s->chains[at].offset + s->chains[at].bytes < end)
        at++;
    highest = s->chains[at];
    memmove(s->chains + 1, s->chains, (size_t)at * sizeof *s->chains);
    s->chains[0] = highest;
}

/* Large ones first is nearly always best; when not, the order of time may be, or one that learns
 * from what stuck out.  More chains, fewer tries: the time stays short. */
static void find_places(search *s)
{
    static int (*const orders[])(const void *, const void *) = { by_size, by_start };
    int tries = 2 + 4000 / (s->count + 1);

    s->best_end = INT64_MAX;
    for (size_t i = 0; i < AR_COUNT(orders) && s->best_end > s->live; i++) {
        int64_t end;

        qsort(s->chains, (size_t)s->count, sizeof *s->chains, orders[i]);
        end = try_order(s);
        for (int k = 0; k < tries && s->best_end > s->live; k++) {
            move_highest_first(s, end);
            end = try_order(s);
        }
    }
}

static void write_back(ar_block *blocks, int n, const chain *chains, int count)
{
    for (int i = 0; i < count; i++)
        for (int b = chains[i].block;; b = blocks[b].in_place_successor) {
            blocks[b].offset = chains[i].offset;
            if (!takes_over(blocks, n, b))
                break;
        }
}

/* ---- All of it ------------------------------------------------------------------------------- */

static int64_t most_alive(const chain *chains, int count, int64_t *change, int steps)
{
    int64_t alive = 0, most = 0;

    for (int i = 0; i < count; i++) {
        change[chains[i].first] += chains[i].bytes;
        change[chains[i].last + 1] -= chains[i].bytes;
    }
    for (int step = 0; step < steps; step++) {
        alive += change[step];
        most = ar_max64(most, alive);
    }
    return most;
}

arras_status ar_memory_place(ar_memory_plan *out, int n, ar_block *blocks, arras_error *err)
{
    ar_arena arena = { 0 };
    chain   *chains = ar_arena_alloc(&arena, (size_t)n, sizeof *chains);
    chain   *best = ar_arena_alloc(&arena, (size_t)n, sizeof *best);
    bool    *inherits = ar_arena_alloc(&arena, (size_t)n, sizeof *inherits);
    int     *order = ar_arena_alloc(&arena, (size_t)n, sizeof *order), steps = 0, count;
    int64_t *change, sum = 0;
    search   s;

    for (int i = 0; i < n; i++) {
        steps = blocks[i].last + 1 > steps ? blocks[i].last + 1 : steps;
        sum += rounded(blocks[i].bytes);
    }
    change = ar_arena_alloc(&arena, (size_t)steps + 1, sizeof *change);
    if (!chains || !best || !inherits || !order || !change) {
        ar_arena_free(&arena);
        return ar_fail_memory(err, (size_t)n * sizeof *chains);
    }
    count = make_chains(chains, inherits, n, blocks);
    out->sum = sum;
    out->live = most_alive(chains, count, change, steps);
    s = (search){ chains, best, order, count, 0, out->live };
    if (count > 0)
        find_places(&s);
    out->bytes = s.best_end;
    write_back(blocks, n, best, count);
    ar_arena_free(&arena);
    return ARRAS_OK;
}
