/* fuse_decide.c -- which arrays are stored: those that cost less to write and read than to compute
 * wherever they are read.  Arrays are taken by ascending id, so that what an array reads is decided
 * before it is, and what reads it after. */
#include "opt/fuse.h"

/* Operations of an array with several readers: those of more would be computed again and again,
 * since not all who share them fit into one kernel. */
enum { MOST_SHARED = 128 };

/* ---- Lists of arrays ------------------------------------------------------------------------- */

static bool list_has(const ar_id_list *list, int64_t id)
{
    int low = 0, high = list->count;

    while (low < high) {
        int middle = low + (high - low) / 2;

        if (list->ids[middle] < id)
            low = middle + 1;
        else
            high = middle;
    }
    return low < list->count && list->ids[low] == id;
}

static int count_new(const ar_id_list *list, const ar_id_list *others)
{
    int n = 0;

    for (int i = 0; i < others->count; i++)
        n += !list_has(list, others->ids[i]);
    return n;
}

/* list without `id`, with `others`. */
static bool list_replace(ar_fusion *f, ar_id_list *list, int64_t id, const ar_id_list *others)
{
    int      room = list->count + others->count, n = 0, i = 0, j = 0;
    int64_t *ids = ar_arena_alloc(&f->arena, (size_t)room, sizeof *ids);

    if (!ids)
        return false;
    while (i < list->count || j < others->count) {
        bool    first = j == others->count || (i < list->count && list->ids[i] <= others->ids[j]);
        int64_t next = first ? list->ids[i++] : others->ids[j++];

        if (next != id && (n == 0 || ids[n - 1] != next))
            ids[n++] = next;
    }
    *list = (ar_id_list){ n, ids };
    return true;
}

/* ---- Operations ------------------------------------------------------------------------------ */

/* What an array that is fused adds to a reader: what both have at their own cell counts once. */
static int64_t added_operations(const ar_fusion *f, const ar_item *item, const ar_use *use)
{
    const ar_id_list *had = &f->items[use->reader].shares;
    int64_t           sum = item->alone;

    if (!use->own_cell)
        return item->operations * use->sites;
    for (int i = 0; i < item->shares.count; i++)
        if (!list_has(had, item->shares.ids[i]))
            sum += f->items[item->shares.ids[i]].alone;
    return sum;
}

static bool add_operations(ar_fusion *f, const ar_item *item, const ar_use *use)
{
    ar_item   *reader = &f->items[use->reader];
    int64_t    added = added_operations(f, item, use), id = item->node->id;
    ar_id_list self = { 1, &id };

    reader->operations += added;
    if (!use->own_cell)
        reader->alone += added;
    else if (item->readers == 1)
        reader->alone += item->alone;
    else if (!list_replace(f, &reader->shares, -1, &self))
        return false;
    return !use->own_cell || list_replace(f, &reader->shares, -1, &item->shares);
}

/* ---- Cost ------------------------------------------------------------------------------------ */

/* To read the arrays of one list that are not in the other, for each cell of `item`. */
static double reading_ps(const ar_fusion *f, const ar_item *item, const ar_id_list *besides)
{
    double ps = 0;

    for (int i = 0; i < item->reads.count; i++) {
        const ar_item *x = &f->items[item->reads.ids[i]];

        if (!besides || !list_has(besides, item->reads.ids[i]))
            ps += x->move_ps * x->cells / item->cells;
    }
    return ps;
}

static double stored_ps(const ar_fusion *f, const ar_item *item)
{
    return item->cell_ps + reading_ps(f, item, NULL) + item->move_ps * (1 + item->readers) +
           f->prices->kernel / item->cells;
}

static double use_ps(const ar_fusion *f, const ar_item *item, const ar_use *use)
{
    double cell_ps = item->cell_ps / (use->picks ? item->choices : 1);
    int    more = item->reads.count > 1 ? item->reads.count - 1 : 0; /* than the array itself */

    return use->evaluations * cell_ps * use->skipping + use->jumps * f->prices->jump * more +
           reading_ps(f, item, &f->items[use->reader].reads);
}

/* Those who read it at their own cell will be computed in one nest, and share it there. */
static double inlined_ps(const ar_fusion *f, const ar_item *item)
{
    double ps = 0, shared = 0;

    for (const ar_use *use = item->uses; use; use = use->next) {
        double here = use_ps(f, item, use);

        if (use->own_cell && !item->reduces)
            shared = here > shared ? here : shared;
        else
            ps += here;
    }
    return ps + shared;
}

/* ---- Whether --------------------------------------------------------------------------------- */

/* Sums of products have kernels of their own, which take what follows in the same cell as long as
 * it is simple, and one sum. */
static bool spoils_contraction(const ar_fusion *f, const ar_item *item)
{
    const ar_item *reader = &f->items[item->uses->reader];

    return item->contracts && (item->long_sum || item->readers > 1 || !item->uses->own_cell ||
                               !reader->only_vector || reader->reduces);
}

static bool fits(const ar_fusion *f, const ar_item *item, const ar_use *use, const char **why)
{
    const ar_item *reader = &f->items[use->reader];

    *why = "a kernel would be too long";
    if (reader->operations + added_operations(f, item, use) > AR_FUSE_OPERATIONS ||
        ((arras_expr)reader->node->ref)->depth + item->depth > AR_FUSE_DEPTH)
        return false;
    *why = "a kernel would read too many arrays";
    return reader->reads.count - 1 + count_new(&reader->reads, &item->reads) <= AR_FUSE_ARRAYS;
}

/* NULL: nothing is in the way. */
static const char *obstacle(const ar_fusion *f, const ar_item *item)
{
    bool        covered = false;
    const char *why = NULL;

    if (item->operations > AR_FUSE_OPERATIONS || item->depth > AR_FUSE_DEPTH)
        return "a kernel would be too long";
    if (item->readers > 1 && item->operations > MOST_SHARED)
        return "too long to be computed by several";
    for (const ar_use *use = item->uses; use; use = use->next) {
        covered = covered || use->covers;
        if (!use->inside)
            return "it may be read outside";
        if (item->reduces && use->varies)
            return "it reduces, and is read in a loop";
        if (!fits(f, item, use, &why))
            return why;
    }
    if (item->may_fail && !covered)
        return "a read of its own may be outside, and not every cell of it is read";
    return spoils_contraction(f, item) ? "a sum of products has a kernel of its own" : NULL;
}

/* The same in every cell, and read from nowhere: a compiler computes it once. */
static bool is_number(const ar_item *item)
{
    return item->node->rank == 0 && item->reads.count == 0 && !item->reduces;
}

static bool decide(const ar_fusion *f, ar_item *item, bool no_fusion)
{
    if (item->output || item->scanned || no_fusion)
        item->reason = item->output    ? "asked for"
                       : item->scanned ? "scanned along an axis"
                                       : "nothing is fused";
    else if (!(item->reason = obstacle(f, item)))
        item->fused = is_number(item) || inlined_ps(f, item) <= stored_ps(f, item);
    if (item->reason)
        return false;
    item->reason = !item->fused ? "costs more to compute wherever it is read"
                   : item->readers == 1 && item->uses->own_cell
                       ? "read once, in the same cell"
                       : "costs less to compute where it is read";
    return item->fused;
}

/* ---- What its readers become ----------------------------------------------------------------- */

static bool take_in(ar_fusion *f, const ar_item *item, const ar_use *use)
{
    ar_item *reader = &f->items[use->reader];
    int      depth = ((arras_expr)reader->node->ref)->depth + item->depth;

    reader->cell_ps += item->cell_ps * use->evaluations * item->cells / reader->cells;
    reader->depth = depth > reader->depth ? depth : reader->depth;
    reader->reduces = reader->reduces || item->reduces;
    reader->contracts = reader->contracts || item->contracts;
    reader->only_vector = reader->only_vector && item->only_vector;
    reader->may_fail = reader->may_fail || item->may_fail;
    return add_operations(f, item, use) &&
           list_replace(f, &reader->reads, item->node->id, &item->reads);
}

arras_status ar_fuse_decide(ar_fusion *f, bool no_fusion)
{
    for (int64_t i = 0; i < f->nnodes; i++) {
        ar_item *item = &f->items[f->nodes[i]->id];

        if (item->node->kind != AR_LAMBDA || !decide(f, item, no_fusion))
            continue;
        for (const ar_use *use = item->uses; use; use = use->next)
            if (!take_in(f, item, use))
                return ar_fail_memory(f->err, (size_t)item->reads.count * sizeof(int64_t));
    }
    return ARRAS_OK;
}
