/* step_needs.c -- which cells of its inputs a step reads to compute a box of its results. */
#include "run/step_stage.h"

#include <string.h>

/* ---- Reads, found once ----------------------------------------------------------------------- */

typedef struct {
    ar_reads      *out;
    size_t         capacity;
    ar_step_read  *list; /* grows; copied to the arena in the end */
    const int64_t *sizes;
    ar_arena      *arena;
    int64_t        most; /* id of an expression */
    bool           failed;
} finder;

/* The variable of a reduction, which outlives the walk. */
static const ar_frame *frame_of(finder *f, arras_expr reduce, const ar_frame *around)
{
    ar_frame *frame = ar_arena_alloc(f->arena, 1, sizeof *frame);

    if (frame)
        *frame = (ar_frame){
            .outer = around, .variable = reduce->name, .lo = reduce->args[0], .hi = reduce->args[1]
        };
    f->failed = f->failed || !frame;
    return frame;
}

static void keep_read(finder *f, arras_expr load, const ar_frame *around)
{
    ar_extent_code *axes = ar_arena_alloc(f->arena, (size_t)load->rank, sizeof *axes);

    if (!axes || !ar_grow(&f->list, &f->capacity, (size_t)f->out->n, sizeof *f->list)) {
        f->failed = true;
        return;
    }
    for (int axis = 0; axis < load->rank && !f->failed; axis++)
        f->failed = !ar_extent_compile(&axes[axis], load->args[axis], f->sizes, around, f->arena);
    f->list[f->out->n++] = (ar_step_read){ load, axes };
}

static void find(finder *f, arras_expr e, const ar_frame *around, bool *visited);

/* What stands in a reduction is met anew: it may stand outside too, or in another. */
static void find_within(finder *f, arras_expr reduce, const ar_frame *around)
{
    const ar_frame *frame = frame_of(f, reduce, around);
    bool           *visited = frame ? ar_alloc((size_t)f->most + 1, sizeof *visited) : NULL;

    f->failed = f->failed || !visited;
    if (visited)
        find(f, reduce->args[2], frame, visited);
    ar_free(visited);
}

/* Depth is limited by AR_MAX_DEPTH. */
static void find(finder *f, arras_expr e, const ar_frame *around, bool *visited)
{
    if (visited[e->id] || f->failed)
        return;
    visited[e->id] = true;
    if (e->kind == AR_EXPR_LOAD)
        keep_read(f, e, around);
    for (int i = 0; i < e->nargs; i++)
        if (e->kind == AR_EXPR_REDUCE && i == 2)
            find_within(f, e, around);
        else
            find(f, e->args[i], around, visited);
}

arras_status ar_step_reads(ar_reads *out, const ar_step *step, const int64_t *sizes,
                           ar_arena *arena, arras_error *err)
{
    finder f = { .out = out, .arena = arena, .sizes = sizes };
    bool  *visited;

    *out = (ar_reads){ 0 };
    for (int k = 0; k < step->form.n; k++)
        f.most = ar_max64(f.most, ((arras_expr)step->form.lambdas[k]->ref)->id);
    visited = ar_alloc((size_t)f.most + 1, sizeof *visited);
    f.failed = !visited;
    for (int k = 0; k < step->form.n && !f.failed; k++)
        find(&f, step->form.lambdas[k]->ref, NULL, visited);
    if (!f.failed)
        out->reads = ar_arena_copy(arena, f.list, (size_t)out->n, sizeof *f.list);
    f.failed = f.failed || !out->reads;
    ar_free(visited);
    ar_free(f.list);
    return f.failed ? ar_fail_memory(err, (size_t)f.most) : ARRAS_OK;
}

/* ---- What they need -------------------------------------------------------------------------- */

static ar_span range_of(ar_extent x)
{
    bool gap = x.gap_low <= x.gap_high;

    return (ar_span){ x.low, x.high + 1, gap ? x.gap_low : x.low, gap ? x.gap_high + 1 : x.low };
}

ar_region ar_reads_need(const ar_reads *reads, int input, const int64_t *lo, const int64_t *hi,
                        const int64_t *shape)
{
    ar_region need = { .any = false };

    for (int i = 0; i < reads->n; i++) {
        arras_expr load = reads->reads[i].load;
        ar_region  r = { .rank = load->rank, .any = true };

        if (load->ints[0] != input)
            continue;
        for (int axis = 0; axis < load->rank; axis++) {
            ar_extent x = ar_extent_within(ar_extent_of(&reads->reads[i].axes[axis], lo, hi),
                                           shape[axis], (arras_edge_rule)load->ints[1 + axis]);

            r.axes[axis] = range_of(x);
            r.any = r.any && x.low <= x.high;
        }
        ar_region_add(&need, &r);
    }
    return need;
}
