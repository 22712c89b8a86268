/* rechunk_plan.c -- the box with which an array is copied from one chunking to another.
 *
 * Along one axis of n cells, with boxes of b and units of s, a unit is read once more for each
 * border of boxes inside it: of the (n-1) div b borders those are not inside that lie at multiples
 * of both, (n-1) div lcm(b, s).  Units that are read in all are the product over the axes, and so
 * are the bytes of a box: the best box comes from the pairs (bytes, reads) that no other pair beats
 * in both, axis by axis. */
#include "rechunk/rechunk_parts.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum {
    MOST = 256,      /* pairs that are kept of an axis; of more, some of much the same size go */
    PIECE = 64 << 10 /* bytes of an array without chunks that are worth a read of their own */
};

/* ---- One axis -------------------------------------------------------------------------------- */

static int64_t ceil_div(int64_t a, int64_t b) { return (a - 1) / b + 1; }

static int64_t axis_reads(const ar_rechunk_grid *g, int d, int64_t edge)
{
    int64_t last = g->shape[d] - 1;

    return last / g->unit[d] + 1 + last / edge - last / ar_common_multiple(edge, g->unit[d]);
}

/* A way to choose the edges of some axes: bytes and reads, and what it was made of. */
typedef struct {
    double  bytes, reads;
    int64_t edge;   /* along the last of them */
    int     before; /* the choice for the others */
} choice;

typedef struct {
    int     count;
    choice *all; /* by rising bytes and falling reads */
} frontier;

static int by_bytes(const void *a, const void *b)
{
    const choice *x = a, *y = b;

    if (x->bytes != y->bytes)
        return x->bytes < y->bytes ? -1 : 1;
    return (x->reads > y->reads) - (x->reads < y->reads);
}

/* Of choices that are nearly as large as each other the one with the fewest reads stays. */
static void thin_out(frontier *f)
{
    double span = log(f->all[f->count - 1].bytes / f->all[0].bytes);
    int    kept = 1, slot = 0;

    for (int i = 1; i < f->count; i++) {
        int at = (int)(log(f->all[i].bytes / f->all[0].bytes) / span * (MOST - 2));

        if (kept > 1 && at == slot)
            kept--;
        slot = at;
        f->all[kept++] = f->all[i];
    }
    f->count = kept;
}

/* Leaves what nothing smaller is as good as. */
static void prune(frontier *f)
{
    int kept = 0;

    qsort(f->all, (size_t)f->count, sizeof *f->all, by_bytes);
    for (int i = 0; i < f->count; i++)
        if (kept == 0 || f->all[i].reads < f->all[kept - 1].reads)
            f->all[kept++] = f->all[i];
    f->count = kept;
    if (kept > MOST)
        thin_out(f);
}

/* Of all numbers of steps that make the same number of boxes, the smallest: about 2 sqrt(n) edges
 * for n steps.  NULL: only counts them. */
static int list_edges(choice *out, const ar_rechunk_grid *g, int d, int64_t step)
{
    int64_t n = ceil_div(g->shape[d], step), boxes;
    int     count = 0;

    for (int64_t steps = 1;; steps = ceil_div(n, boxes - 1)) {
        int64_t edge = steps < n ? steps * step : g->shape[d];

        if (out)
            out[count] = (choice){ (double)edge, (double)axis_reads(g, d, edge), edge, 0 };
        count++;
        boxes = ceil_div(n, steps);
        if (boxes == 1)
            return count;
    }
}

static arras_status axis_frontier(frontier *out, const ar_rechunk_grid *g, int d, ar_arena *arena,
                                  arras_error *err)
{
    int64_t common = ar_common_multiple(g->grain[d], g->unit[d]);
    bool    has_common = common < g->shape[d];
    int     n = list_edges(NULL, g, d, g->grain[d]);

    out->count = n + (has_common ? list_edges(NULL, g, d, common) : 0);
    out->all = ar_arena_alloc(arena, (size_t)out->count, sizeof *out->all);
    if (!out->all)
        return ar_fail_memory(err, (size_t)out->count * sizeof *out->all);
    list_edges(out->all, g, d, g->grain[d]);
    if (has_common)
        list_edges(out->all + n, g, d, common);
    prune(out);
    return ARRAS_OK;
}

/* ---- All axes -------------------------------------------------------------------------------- */

static arras_status combine(frontier *out, const frontier *before, const frontier *axis,
                            double most, ar_arena *arena, arras_error *err)
{
    size_t room = (size_t)before->count * (size_t)axis->count;

    out->count = 0;
    out->all = ar_arena_alloc(arena, room, sizeof *out->all);
    if (!out->all)
        return ar_fail_memory(err, room * sizeof *out->all);
    for (int i = 0; i < before->count; i++)
        for (int k = 0; k < axis->count; k++) {
            const choice *a = &before->all[i], *b = &axis->all[k];

            if (a->bytes * b->bytes <= most)
                out->all[out->count++] =
                    (choice){ a->bytes * b->bytes, a->reads * b->reads, b->edge, i };
        }
    prune(out);
    return ARRAS_OK;
}

static void set_bytes(ar_rechunk_box *box, const ar_rechunk_grid *g)
{
    box->bytes = g->cell_size;
    box->reads = box->units = 1;
    for (int d = 0; d < g->rank; d++) {
        if (!ar_mul64(&box->bytes, box->bytes, box->edge[d]))
            box->bytes = INT64_MAX;
        box->reads *= (double)axis_reads(g, d, box->edge[d]);
        box->units *= (double)ceil_div(g->shape[d], g->unit[d]);
    }
}

static arras_status choose(ar_rechunk_box *out, const ar_rechunk_grid *g, double most,
                           ar_arena *arena, arras_error *err)
{
    choice       none = { (double)g->cell_size, 1, 0, 0 };
    frontier     axis, all[ARRAS_MAX_RANK + 1] = { { 1, &none } };
    arras_status status = ARRAS_OK;

    for (int d = 0; d < g->rank && status == ARRAS_OK; d++) {
        status = axis_frontier(&axis, g, d, arena, err);
        if (status == ARRAS_OK)
            status = combine(&all[d + 1], &all[d], &axis, most, arena, err);
        if (status == ARRAS_OK && all[d + 1].count == 0)
            return ARRAS_ELIMIT;
    }
    if (status != ARRAS_OK)
        return status;
    int at = all[g->rank].count - 1;
    for (int d = g->rank; d > 0; d--) {
        out->edge[d - 1] = all[d].all[at].edge;
        at = all[d].all[at].before;
    }
    return ARRAS_OK;
}

arras_status ar_rechunk_choose(ar_rechunk_box *out, const ar_rechunk_grid *grid, int64_t bytes,
                               arras_error *err)
{
    ar_arena     arena = { NULL };
    arras_status status;

    for (int d = 0; d < grid->rank; d++)
        out->edge[d] = ar_min64(grid->grain[d], grid->shape[d]);
    status = choose(out, grid, (double)bytes, &arena, err);
    ar_arena_free(&arena);
    set_bytes(out, grid);
    return status;
}

void ar_rechunk_enlarge(ar_rechunk_box *box, const ar_rechunk_grid *grid, int64_t bytes)
{
    for (int d = grid->rank; d-- > 0;) {
        int64_t times = ar_min64(bytes / box->bytes, ceil_div(grid->shape[d], box->edge[d]));

        if (times > 1)
            box->edge[d] = ar_min64(times * box->edge[d], grid->shape[d]);
        set_bytes(box, grid);
    }
}

/* ---- Units ----------------------------------------------------------------------------------- */

bool ar_rechunk_is_fortran(const ar_store_info *info)
{
    return !info->chunked && strstr(info->layout, "F order");
}

void ar_rechunk_unit(int64_t *unit, const ar_store_info *info)
{
    int64_t bytes = (int64_t)arras_dtype_size(info->dtype);
    bool    fortran = ar_rechunk_is_fortran(info);

    for (int k = 0; k < info->rank; k++) {
        int d = fortran ? k : info->rank - 1 - k;

        unit[d] =
            info->chunked ? info->chunk[d] : ar_max64(1, ar_min64(PIECE / bytes, info->shape[d]));
        bytes *= info->chunked ? 1 : unit[d];
    }
}
