/* flow_passes.c -- which targets are computed in one pass.
 *
 * Targets of one level that are cut alike share a pass, so that what they read is read once. Where
 * a tile of them together does not fit into memory each gets a pass of its own. */
#include "stream/flow.h"

#include <string.h>

static bool is_target(const ar_flow_array *a) { return a->kept || (a->wanted && a->stage >= 0); }

/* ---- Members --------------------------------------------------------------------------------- */

/* The stages that the targets need in their tiles; stages have smaller numbers than their readers.
 */
static void mark_stages(const ar_pass *pass, bool *member)
{
    const ar_flow *flow = pass->flow;

    memset(member, 0, (size_t)flow->nstages);
    for (int i = 0; i < pass->ntargets; i++)
        if (flow->arrays[pass->targets[i]].stage >= 0)
            member[flow->arrays[pass->targets[i]].stage] = true;
    for (int i = flow->nstages - 1; i >= 0; i--)
        for (int k = 0; member[i] && k < flow->stages[i]->ninputs; k++) {
            int                  array = flow->stages[i]->inputs[k];
            const ar_flow_array *a = &flow->arrays[array];
            bool                 spilled = a->spill && a->level < pass->level;

            if (a->stage >= 0 && !spilled && !ar_pass_has_whole(pass, array))
                member[a->stage] = true;
        }
}

static arras_status list_stages(ar_pass *pass, bool *member, arras_error *err)
{
    size_t n = (size_t)pass->flow->nstages;

    mark_stages(pass, member);
    pass->nstages = 0;
    pass->stages = ar_arena_alloc(&pass->flow->arena, n + 1, sizeof *pass->stages);
    if (!pass->stages)
        return ar_fail_memory(err, n * sizeof *pass->stages);
    for (int i = 0; i < pass->flow->nstages; i++)
        if (member[i])
            pass->stages[pass->nstages++] = i;
    return ARRAS_OK;
}

/* ---- Groups ---------------------------------------------------------------------------------- */

static bool same_shape(const ar_flow_array *a, const ar_flow_array *b)
{
    return a->rank == b->rank &&
           memcmp(a->shape, b->shape, (size_t)a->rank * sizeof *a->shape) == 0;
}

/* Along how many axes two targets can be cut together: all, the first, or none. */
static int common_axes(const ar_flow_array *a, const ar_flow_array *b)
{
    if (same_shape(a, b))
        return a->rank;
    return a->rank > 0 && b->rank > 0 && a->shape[0] == b->shape[0] ? 1 : 0;
}

static int target_level(const ar_flow_array *a) { return a->stage < 0 ? 0 : a->level; }

typedef struct {
    ar_flow   *flow;
    bool      *taken;  /* by array: it has a pass */
    bool      *member; /* by stage */
    ar_region *regions;
} grouping;

static void start_pass(grouping *g, ar_pass *pass, int first, bool alone)
{
    const ar_flow_array *a = &g->flow->arrays[first];

    *pass = (ar_pass){
        .flow = g->flow, .level = target_level(a), .targets = pass->targets, .axes = a->rank
    };
    for (int i = first; i < g->flow->narrays; i++) {
        const ar_flow_array *b = &g->flow->arrays[i];
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
        const ar_stage *s = pass->flow->stages[pass->stages[i]];

        for (int k = 0; k < s->ninputs; k++)
            if (s->inputs[k] == array)
                return true;
    }
    return false;
}

/* Targets, what comes out of files, and each array that is there once. */
static void count_moves(ar_pass *pass)
{
    const ar_flow *flow = pass->flow;

    pass->moves = (double)pass->count * (double)pass->read;
    for (int i = 0; i < pass->ntargets; i++)
        pass->moves += (double)flow->arrays[pass->targets[i]].bytes;
    for (int i = 0; i < pass->nstages; i++) {
        const ar_stage *s = flow->stages[pass->stages[i]];

        for (int k = 0; k < s->ninputs; k++)
            if (ar_pass_has_whole(pass, s->inputs[k]) && !is_read_before(pass, i, s->inputs[k]))
                pass->moves += (double)flow->arrays[s->inputs[k]].bytes;
    }
}

static arras_status add_pass(grouping *g, int first, arras_error *err)
{
    ar_pass     *pass = &g->flow->passes[g->flow->npasses];
    arras_status status;

    pass->targets =
        ar_arena_alloc(&g->flow->arena, (size_t)g->flow->narrays, sizeof *pass->targets);
    if (!pass->targets)
        return ar_fail_memory(err, (size_t)g->flow->narrays * sizeof *pass->targets);
    status = make_pass(g, pass, first, false, err);
    if (status == ARRAS_ELIMIT && pass->ntargets > 1)
        status = make_pass(g, pass, first, true, err);
    for (int i = 0; i < pass->ntargets; i++)
        g->taken[pass->targets[i]] = true;
    count_moves(pass);
    g->flow->npasses++;
    return status;
}

arras_status ar_flow_passes(ar_flow *flow, arras_error *err)
{
    size_t       arrays = (size_t)flow->narrays;
    grouping     g = { .flow = flow,
                       .taken = ar_alloc(arrays, sizeof *g.taken),
                       .member = ar_alloc((size_t)flow->nstages + 1, sizeof *g.member),
                       .regions = ar_alloc(arrays, sizeof *g.regions) };
    arras_status status = ARRAS_OK;

    flow->passes = ar_arena_alloc(&flow->arena, arrays, sizeof *flow->passes);
    if (!g.taken || !g.member || !g.regions || !flow->passes)
        status = ar_fail_memory(err, arrays * sizeof *g.regions);
    for (int a = 0; a < flow->narrays && status == ARRAS_OK; a++)
        if (!g.taken[a] && is_target(&flow->arrays[a]))
            status = add_pass(&g, a, err);
    ar_free(g.taken);
    ar_free(g.member);
    ar_free(g.regions);
    return status;
}
