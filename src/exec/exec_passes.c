/* exec_passes.c -- which targets are computed in one pass.
 *
 * Targets of one level that are cut alike share a pass, so that what they read is read once. Where
 * a tile of them together does not fit into memory each gets a pass of its own. */
#include "exec/pass.h"

#include <string.h>

static bool is_target(const ar_exec_array *a) { return a->kept || (a->wanted && a->stage >= 0); }

/* ---- Members --------------------------------------------------------------------------------- */

/* The stages that the targets need in their tiles; stages have smaller numbers than their readers.
 */
static void mark_stages(const ar_pass *pass, bool *member)
{
    const ar_execution *exec = pass->exec;

    memset(member, 0, (size_t)exec->nstages);
    for (int i = 0; i < pass->ntargets; i++)
        if (exec->arrays[pass->targets[i]].stage >= 0)
            member[exec->arrays[pass->targets[i]].stage] = true;
    for (int i = exec->nstages - 1; i >= 0; i--)
        for (int k = 0; member[i] && k < exec->stages[i]->ninputs; k++) {
            int                  array = exec->stages[i]->inputs[k];
            const ar_exec_array *a = &exec->arrays[array];
            bool                 spilled = a->spill && a->level < pass->level;

            if (a->stage >= 0 && !spilled && !ar_pass_has_whole(pass, array))
                member[a->stage] = true;
        }
}

static arras_status list_stages(ar_pass *pass, bool *member, arras_error *err)
{
    size_t n = (size_t)pass->exec->nstages;

    mark_stages(pass, member);
    pass->nstages = 0;
    pass->stages = ar_arena_alloc(&pass->exec->arena, n + 1, sizeof *pass->stages);
    if (!pass->stages)
        return ar_fail_memory(err, n * sizeof *pass->stages);
    for (int i = 0; i < pass->exec->nstages; i++)
        if (member[i])
            pass->stages[pass->nstages++] = i;
    return ARRAS_OK;
}

/* ---- Groups ---------------------------------------------------------------------------------- */

static bool same_shape(const ar_exec_array *a, const ar_exec_array *b)
{
    return a->rank == b->rank &&
           memcmp(a->shape, b->shape, (size_t)a->rank * sizeof *a->shape) == 0;
}

/* Along how many axes two targets can be cut together: all, the first, or none. */
static int common_axes(const ar_exec_array *a, const ar_exec_array *b)
{
    if (same_shape(a, b))
        return a->rank;
    return a->rank > 0 && b->rank > 0 && a->shape[0] == b->shape[0] ? 1 : 0;
}

static int target_level(const ar_exec_array *a) { return a->stage < 0 ? 0 : a->level; }

typedef struct {
    ar_execution *exec;
    bool         *taken;  /* by array: it has a pass */
    bool         *member; /* by stage */
    ar_region    *regions;
} grouping;

static void start_pass(grouping *g, ar_pass *pass, int first, bool alone)
{
    const ar_exec_array *a = &g->exec->arrays[first];

    *pass = (ar_pass){
        .exec = g->exec, .level = target_level(a), .targets = pass->targets, .axes = a->rank
    };
    for (int i = first; i < g->exec->narrays; i++) {
        const ar_exec_array *b = &g->exec->arrays[i];
        int                  axes = common_axes(a, b);

        if (g->taken[i] || !is_target(b) || target_level(b) != pass->level)
            continue;
        if (i != first && (axes == 0 || (alone && !same_shape(a, b))))
            continue;
        pass->axes = axes < pass->axes ? axes : pass->axes;
        pass->targets[pass->ntargets++] = i;
    }
    memcpy(pass->shape, a->shape, (size_t)pass->axes * sizeof *a->shape);
}

static arras_status make_pass(grouping *g, ar_pass *pass, int first, bool alone, arras_error *err)
{
    arras_status status;

    start_pass(g, pass, first, alone);
    status = list_stages(pass, g->member, err);
    return status == ARRAS_OK ? ar_pass_tiles(pass, g->regions, err) : status;
}

/* Whether one of the first n stages of a pass reads an array. */
static bool is_read_before(const ar_pass *pass, int n, int array)
{
    for (int i = 0; i < n; i++) {
        const ar_stage *s = pass->exec->stages[pass->stages[i]];

        for (int k = 0; k < s->ninputs; k++)
            if (s->inputs[k] == array)
                return true;
    }
    return false;
}

/* Targets, what comes out of files, and each array that is there once. */
static void count_moves(ar_pass *pass)
{
    const ar_execution *exec = pass->exec;

    pass->moves = (double)pass->count * (double)pass->read;
    for (int i = 0; i < pass->ntargets; i++)
        pass->moves += (double)exec->arrays[pass->targets[i]].bytes;
    for (int i = 0; i < pass->nstages; i++) {
        const ar_stage *s = exec->stages[pass->stages[i]];

        for (int k = 0; k < s->ninputs; k++)
            if (ar_pass_has_whole(pass, s->inputs[k]) && !is_read_before(pass, i, s->inputs[k]))
                pass->moves += (double)exec->arrays[s->inputs[k]].bytes;
    }
}

static arras_status add_pass(grouping *g, int first, arras_error *err)
{
    ar_pass     *pass = &g->exec->passes[g->exec->npasses];
    arras_status status;

    pass->targets =
        ar_arena_alloc(&g->exec->arena, (size_t)g->exec->narrays, sizeof *pass->targets);
    if (!pass->targets)
        return ar_fail_memory(err, (size_t)g->exec->narrays * sizeof *pass->targets);
    status = make_pass(g, pass, first, false, err);
    if (status == ARRAS_ELIMIT && pass->ntargets > 1)
        status = make_pass(g, pass, first, true, err);
    for (int i = 0; i < pass->ntargets; i++)
        g->taken[pass->targets[i]] = true;
    count_moves(pass);
    g->exec->npasses++;
    return status;
}

arras_status ar_execution_passes(ar_execution *exec, arras_error *err)
{
    size_t       arrays = (size_t)exec->narrays;
    grouping     g = { .exec = exec,
                       .taken = ar_alloc(arrays, sizeof *g.taken),
                       .member = ar_alloc((size_t)exec->nstages + 1, sizeof *g.member),
                       .regions = ar_alloc(arrays, sizeof *g.regions) };
    arras_status status = ARRAS_OK;

    exec->passes = ar_arena_alloc(&exec->arena, arrays, sizeof *exec->passes);
    if (!g.taken || !g.member || !g.regions || !exec->passes)
        status = ar_fail_memory(err, arrays * sizeof *g.regions);
    for (int a = 0; a < exec->narrays && status == ARRAS_OK; a++)
        if (!g.taken[a] && is_target(&exec->arrays[a]))
            status = add_pass(&g, a, err);
    ar_free(g.taken);
    ar_free(g.member);
    ar_free(g.regions);
    return status;
}
