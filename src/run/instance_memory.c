/* instance_memory.c -- where temporaries lie, and the order among tasks that follows from what they
 * read and from who had the same memory before. */
#include "run/program.h"

typedef struct {
    arras_run   *run;
    int         *block_of; /* by array; -1: not a temporary */
    int         *array_of; /* by block */
    ar_block    *blocks;
    int          n;
    int         *step_of;   /* by operand */
    int         *last_edge; /* by task: the last task it was ordered before, + 1 */
    bool        *followed;  /* by task: some task comes after it */
    int         *tenants;   /* blocks that were the last to use some of their bytes */
    int          ntenants;
    arras_error *err;
} placer;

static const ar_plan *plan_of(const placer *p) { return &p->run->core->plan; }

/* The step as part of whose task a step runs. */
static int home(const placer *p, int s) { return p->run->steps[s].home; }

/* ---- Blocks ---------------------------------------------------------------------------------- */

static void add_blocks(placer *p)
{
    for (int a = 0; a < plan_of(p)->narrays; a++) {
        const ar_plan_array *array = &plan_of(p)->arrays[a];
        const ar_tensor     *tensor = &p->run->arrays[a];

        p->block_of[a] = -1;
        if (array->at != AR_AT_TEMPORARY || p->run->in_band[a])
            continue;
        p->blocks[p->n] =
            (ar_block){ .bytes = tensor->count * (int64_t)ar_dtype_size(tensor->dtype),
                        .first = home(p, array->step),
                        .last = home(p, array->step),
                        .in_place_successor = -1 };
        p->array_of[p->n] = a;
        p->block_of[a] = p->n++;
    }
}

static void find_last_uses(placer *p)
{
    for (int s = 0; s < plan_of(p)->nsteps; s++) {
        const ar_step *step = &plan_of(p)->steps[s];

        for (int k = 0; k < step->ninputs; k++)
            if (p->block_of[step->inputs[k]] >= 0) {
                int *last = &p->blocks[p->block_of[step->inputs[k]]].last;

                *last = home(p, s) > *last ? home(p, s) : *last;
            }
    }
}

/* In place: a step that reads only the cell it writes, when nobody reads it any more.  With one
 * result: the second of two might be computed from what the first has overwritten. */
static void find_heirs(placer *p)
{
    for (int s = 0; s < plan_of(p)->nsteps; s++) {
        const ar_step *step = &plan_of(p)->steps[s];
        int            in_place_successor = p->block_of[step->results[0]];

        if (home(p, s) != s || p->run->steps[s].pass.nstages > 1) /* others run in between */
            continue;
        for (int k = 0; in_place_successor >= 0 && step->form.n == 1 && k < step->ninputs; k++) {
            int from = p->block_of[step->inputs[k]];

            if (from >= 0 && step->same_cell[k] && p->blocks[from].last == s &&
                p->blocks[from].bytes == p->blocks[in_place_successor].bytes) {
                p->blocks[from].in_place_successor = in_place_successor;
                break;
            }
        }
    }
}

/* ---- Order ----------------------------------------------------------------------------------- */

static arras_status order(placer *p, int before, int after)
{
    if (before == after || p->last_edge[before] == after + 1)
        return ARRAS_OK;
    p->last_edge[before] = after + 1;
    p->followed[before] = true;
    return ar_taskgraph_order(p->run->tasks, before, after, p->err);
}

static arras_status order_by_reads(placer *p, int s)
{
    const ar_step *step = &plan_of(p)->steps[s];
    arras_status   status = ARRAS_OK;

    for (int k = 0; k < step->ninputs && status == ARRAS_OK; k++) {
        int writer = plan_of(p)->arrays[step->inputs[k]].step;

        if (writer >= 0 && !plan_of(p)->steps[writer].constant)
            status = order(p, home(p, writer), home(p, s));
    }
    return status;
}

static bool overlap(const ar_block *a, const ar_block *b)
{
    return a->offset < b->offset + b->bytes && b->offset < a->offset + a->bytes;
}

/* All that touches `earlier` is over before step s writes to its place. */
static arras_status order_after_block(placer *p, int earlier, int s)
{
    int          array = p->array_of[earlier];
    arras_status status = ARRAS_OK;

    for (int i = p->run->first_place[array];
         i < p->run->first_place[array + 1] && status == ARRAS_OK; i++)
        status = order(p, home(p, p->step_of[p->run->places[i]]), s);
    return status;
}

static bool covers(const ar_block *a, const ar_block *b)
{
    return a->offset <= b->offset && a->offset + a->bytes >= b->offset + b->bytes;
}

/* A block moves in: who comes later need not wait for those whose place it took all of. */
static arras_status move_in(placer *p, int block, int s)
{
    arras_status status = ARRAS_OK;
    int          left = 0;

    for (int i = 0; i < p->ntenants; i++) {
        int b = p->tenants[i];

        if (status == ARRAS_OK && overlap(&p->blocks[b], &p->blocks[block]))
            status = order_after_block(p, b, s);
        if (!covers(&p->blocks[block], &p->blocks[b]))
            p->tenants[left++] = b;
    }
    p->tenants[left++] = block;
    p->ntenants = left;
    return status;
}

static arras_status move_results_in(placer *p, const ar_stage *stage, int task)
{
    arras_status status = ARRAS_OK;

    for (int k = 0; k < stage->nresults && status == ARRAS_OK; k++)
        if (p->block_of[stage->results[k]] >= 0)
            status = move_in(p, p->block_of[stage->results[k]], task);
    return status;
}

/* Of a task, in the order in which the tasks come: a band comes where its last step does. */
static arras_status order_by_memory(placer *p, int s)
{
    const ar_memory_pass *pass = &p->run->steps[s].pass;
    arras_status          status = ARRAS_OK;

    for (int i = 0; home(p, s) == s && i < pass->nstages && status == ARRAS_OK; i++)
        status = move_results_in(p, pass->stages[i].stage, s);
    return status;
}

static arras_status order_all(placer *p)
{
    arras_status status = ARRAS_OK;

    for (int s = 0; s < plan_of(p)->nsteps && status == ARRAS_OK; s++) {
        if (plan_of(p)->steps[s].constant)
            continue;
        status = order_by_reads(p, s);
        if (status == ARRAS_OK)
            status = order_by_memory(p, s);
    }
    for (int s = 0; s < plan_of(p)->nsteps && status == ARRAS_OK; s++)
        if (!p->followed[s] && !plan_of(p)->steps[s].constant && home(p, s) == s)
            status = order(p, s, p->run->finish);
    return status;
}

/* ---- All of it ------------------------------------------------------------------------------- */

static bool make_room(placer *p, ar_arena *arena)
{
    size_t arrays = (size_t)plan_of(p)->narrays, tasks = (size_t)plan_of(p)->nsteps + 1;
    int    at = 0;

    p->block_of = ar_arena_alloc(arena, arrays, sizeof *p->block_of);
    p->array_of = ar_arena_alloc(arena, arrays, sizeof *p->array_of);
    p->blocks = ar_arena_alloc(arena, arrays, sizeof *p->blocks);
    p->step_of = ar_arena_alloc(arena, (size_t)p->run->noperands, sizeof *p->step_of);
    p->last_edge = ar_arena_alloc(arena, tasks, sizeof *p->last_edge);
    p->followed = ar_arena_alloc(arena, tasks, sizeof *p->followed);
    p->tenants = ar_arena_alloc(arena, arrays, sizeof *p->tenants);
    if (!p->block_of || !p->array_of || !p->blocks || !p->step_of || !p->last_edge ||
        !p->followed || !p->tenants)
        return false;
    for (int s = 0; s < plan_of(p)->nsteps; s++)
        for (int k = 0; k < plan_of(p)->steps[s].form.n + plan_of(p)->steps[s].ninputs; k++)
            p->step_of[at++] = s;
    return true;
}

static arras_status place(placer *p)
{
    arras_status status;

    add_blocks(p);
    find_last_uses(p);
    find_heirs(p);
    status = ar_memory_place(&p->run->memory, p->n, p->blocks, p->err);
    if (status != ARRAS_OK)
        return status;
    p->run->block = ar_buffer_take(p->run->memory.bytes);
    if (!p->run->block)
        return ar_fail_memory(p->err, (size_t)p->run->memory.bytes);
    for (int b = 0; b < p->n; b++)
        ar_instance_set(p->run, p->array_of[b], (char *)p->run->block + p->blocks[b].offset, NULL);
    return order_all(p);
}

arras_status ar_instance_place(arras_run *run, arras_error *err)
{
    ar_arena     arena = { 0 };
    placer       p = { .run = run, .err = err };
    arras_status status = make_room(&p, &arena)
                              ? place(&p)
                              : ar_fail_memory(err, (size_t)run->noperands * sizeof *p.step_of);

    ar_arena_free(&arena);
    return status;
}
