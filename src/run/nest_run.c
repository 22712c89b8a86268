/* nest_run.c -- steps that run in the tiles of another: each tile computes, in scratch memory of
 * its thread, the rows of every inner result that it needs, halo included, and then its own rows.
 * What lies between tiles is computed twice; nothing of it goes through memory. */
#include "run/buffers.h"
#include "run/program.h"

#include <unistd.h>

enum { MOST_MEMBERS = 8, MOST_OPERANDS = 64 };

/* ---- Making one ------------------------------------------------------------------------------ */

/* Of the cache of a core, or what the user takes for it. */
static int64_t cache_bytes(const arras_run *run)
{
    long bytes = sysconf(_SC_LEVEL2_CACHE_SIZE);

    if (run->program->tile_bytes > 0)
        return run->program->tile_bytes;
    return bytes > 0 ? bytes : 512 << 10;
}

static int64_t result_bytes(const arras_run *run, int s)
{
    const ar_tensor *result = &run->arrays[run->core->plan.steps[s].results[0]];

    return result->count * (int64_t)ar_dtype_size(result->dtype);
}

/* What stays in the cache anyway is better computed by all threads at once. */
static bool is_worth_it(const arras_run *run, int s)
{
    const ar_step *step = &run->core->plan.steps[s];

    return step->inside >= 0 && !run->steps[s].library && !run->steps[step->inside].library &&
           result_bytes(run, s) > 4 * cache_bytes(run);
}

/* Inner steps come before the ones they are inside of, so outermost ones are found from the end. */
static void find_homes(arras_run *run)
{
    for (int s = run->nsteps - 1; s >= 0; s--)
        if (is_worth_it(run, s))
            run->steps[s].home = run->steps[run->core->plan.steps[s].inside].home;
}

static int count_members(const arras_run *run, int home)
{
    int n = 0;

    for (int s = 0; s <= home; s++)
        n += run->steps[s].home == home;
    return n;
}

static int member_number(const ar_nest *nest, const ar_step_run *step)
{
    for (int i = 0; i < nest->n; i++)
        if (nest->members[i].step == step)
            return i;
    return -1;
}

static void fill_member(arras_run *run, ar_nest_member *m, int s)
{
    const ar_step   *step = run->steps[s].step;
    const ar_tensor *result = &run->arrays[step->results[0]];

    m->step = &run->steps[s];
    m->stride = step->stride;
    m->before = step->before;
    m->after = step->after;
    m->length = result->shape[0];
    m->row_cells = m->length ? result->count / m->length : 0;
    m->row_bytes = m->row_cells * (int64_t)ar_dtype_size(result->dtype);
}

static bool link_operands(arras_run *run, ar_nest *nest, ar_nest_member *m)
{
    const ar_step *step = m->step->step;

    m->links = ar_arena_alloc(&run->arena, (size_t)(step->form.n + step->ninputs), sizeof(int));
    if (!m->links)
        return false;
    for (int k = 0; k < step->form.n + step->ninputs; k++) {
        int array = k < step->form.n ? step->results[k] : step->inputs[k - step->form.n];
        int from = run->core->plan.arrays[array].step;

        m->links[k] = from >= 0 ? member_number(nest, &run->steps[from]) : -1;
        if (m->links[k] == nest->n - 1) /* the outermost result lies where it is wanted */
            m->links[k] = -1;
    }
    return true;
}

/* The rows that are needed of it for so many of its consumer's. */
static int64_t rows_needed(const ar_nest_member *m, int64_t rows)
{
    return (rows - 1) * m->stride + 1 + m->before + m->after;
}

static void place_rows(ar_nest *nest)
{
    int64_t most[MOST_MEMBERS];
    int     outer = nest->n - 1;

    most[outer] = nest->rows;
    for (int i = outer - 1; i >= 0; i--) {
        ar_nest_member *m = &nest->members[i];

        most[i] = ar_min64(m->length, rows_needed(m, most[m->consumer]));
        m->offset = nest->scratch_bytes;
        nest->scratch_bytes += most[i] * m->row_bytes + AR_BLOCK_ALIGN;
        nest->scratch_bytes -= nest->scratch_bytes % AR_BLOCK_ALIGN;
    }
}

/* Rows so that what a tile computes stays in the cache of its core, yet halos are a small part. */
static void choose_rows(ar_nest *nest, int64_t cache, int threads)
{
    int64_t bytes = 0, halo = 0, rows, shared;

    nest->members[nest->n - 1].per_row = 1;
    for (int i = nest->n - 2; i >= 0; i--) {
        ar_nest_member *m = &nest->members[i];

        m->per_row = m->stride * nest->members[m->consumer].per_row;
        bytes += m->row_bytes * m->per_row;
        halo += (m->before + m->after) / m->per_row;
    }
    rows = 3 * cache / 4 / ar_max64(1, bytes) - halo;
    rows = ar_max64(rows, 2 * halo);
    shared = nest->members[nest->n - 1].length / (4 * threads);
    nest->rows = ar_max64(1, ar_min64(rows, ar_max64(1, shared)));
    nest->tiles = (nest->members[nest->n - 1].length + nest->rows - 1) / nest->rows;
    place_rows(nest);
}

static arras_status make_nest(arras_run *run, int home, int n, arras_error *err)
{
    ar_nest *nest = ar_arena_alloc(&run->arena, 1, sizeof *nest);
    int      at = 0;
    bool     linked = nest != NULL;

    if (nest)
        nest->members = ar_arena_alloc(&run->arena, (size_t)n, sizeof *nest->members);
    if (!nest || !nest->members)
        return ar_fail_memory(err, (size_t)n * sizeof *nest->members);
    nest->n = n;
    for (int s = 0; s <= home; s++)
        if (run->steps[s].home == home)
            fill_member(run, &nest->members[at++], s);
    for (int i = 0; i < n && linked; i++) {
        ar_nest_member *m = &nest->members[i];

        m->consumer = i + 1 == n ? -1 : member_number(nest, &run->steps[m->step->step->inside]);
        linked = link_operands(run, nest, m);
    }
    choose_rows(nest, cache_bytes(run), run->program->threads);
    nest->scratch = linked ? ar_buffer_take(nest->scratch_bytes * run->program->threads) : NULL;
    if (!nest->scratch)
        return ar_fail_memory(err, (size_t)nest->scratch_bytes);
    run->steps[home].nest = nest;
    return ARRAS_OK;
}

arras_status ar_instance_nest(arras_run *run, arras_error *err)
{
    arras_status status = ARRAS_OK;

    find_homes(run);
    for (int s = run->nsteps - 1; s >= 0 && status == ARRAS_OK; s--) {
        int n = run->steps[s].home == s ? count_members(run, s) : 1;

        if (n > MOST_MEMBERS) /* many small results: each for itself */
            for (int i = 0; i < s; i++)
                run->steps[i].home = run->steps[i].home == s ? i : run->steps[i].home;
        else if (n > 1)
            status = make_nest(run, s, n, err);
    }
    return status;
}

void ar_instance_nest_free(arras_run *run)
{
    for (int s = 0; run->steps && s < run->nsteps; s++)
        if (run->steps[s].nest)
            ar_buffer_give(run->steps[s].nest->scratch);
}

/* ---- Running it ------------------------------------------------------------------------------ */

typedef struct {
    int64_t lo, hi;
} rows;

static rows rows_for(const ar_nest_member *m, rows wanted)
{
    int64_t lo = wanted.lo * m->stride - m->before;

    return (rows){ ar_max64(0, lo),
                   ar_min64(m->length, lo + rows_needed(m, wanted.hi - wanted.lo)) };
}

/* The cell [0, 0, ...] of an inner result, so that its row `lo` is the first in scratch memory.  It
 * may lie outside of it: as a number, for nobody reads there. */
static char *base_of(const ar_nest_member *m, rows at, char *scratch)
{
    return (char *)((uintptr_t)scratch + (uintptr_t)m->offset - (uintptr_t)(at.lo * m->row_bytes));
}

static int run_member(const ar_nest *nest, const ar_nest_member *m, const rows *at, rows own,
                      char *scratch)
{
    const ar_step_run *s = m->step;
    char              *data[MOST_OPERANDS];
    ar_kernel_args     args = s->args;
    int64_t            lo[ARRAS_MAX_RANK] = { own.lo }, hi[ARRAS_MAX_RANK] = { own.hi };

    for (int k = 0; k < s->step->form.n + s->step->ninputs; k++) {
        int from = m->links[k];

        data[k] = from < 0 ? s->data[k] : base_of(&nest->members[from], at[from], scratch);
    }
    args.data = data;
    args.stream = m->consumer < 0 ? s->args.stream : NULL;
    for (int axis = 1; axis < s->tiling.rank; axis++)
        hi[axis] = s->tiling.shape[axis];
    if (s->step->flat) {
        lo[0] *= m->row_cells;
        hi[0] *= m->row_cells;
    }
    return s->kernel(&args, lo, hi);
}

arras_status ar_nest_run(void *context, int64_t first, int64_t last, int thread, arras_error *err)
{
    const ar_nest *nest = context;
    char          *scratch = nest->scratch + thread * nest->scratch_bytes;
    int            outer = nest->n - 1;
    rows           at[MOST_MEMBERS];

    for (int64_t tile = first; tile < last; tile++) {
        at[outer].lo = tile * nest->rows;
        at[outer].hi = ar_min64(at[outer].lo + nest->rows, nest->members[outer].length);
        for (int i = outer - 1; i >= 0; i--)
            at[i] = rows_for(&nest->members[i], at[nest->members[i].consumer]);
        for (int i = 0; i <= outer; i++)
            if (at[i].lo < at[i].hi && run_member(nest, &nest->members[i], at, at[i], scratch))
                return ar_fail(err, ARRAS_EINDEX, "an index is outside its array");
    }
    return ARRAS_OK;
}
