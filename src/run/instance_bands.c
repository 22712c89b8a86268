/* instance_bands.c -- which steps of an instance run together, tile by tile, now that sizes are
 * known, and the passes they become: each tile computes, one step after the other, the rows that it
 * needs of every result; those that nobody reads outside of the band lie in scratch memory of the
 * thread. */
#include "run/program.h"

/* Smaller ones are there only to be tried. */
enum { LEAST_CACHE = 1 << 16 };

/* ---- Which steps ----------------------------------------------------------------------------- */

/* Of the cache of a core, or what the user takes for it. */
static int64_t cache_bytes(const arras_run *run)
{
    return run->program->tile_bytes > 0 ? run->program->tile_bytes
                                        : run->core->plan.machine->cache[2];
}

/* Rows, of its own, that a tile has to compute twice. */
static int64_t halo_of(const ar_band_place *p) { return (p->before + p->after) / p->stride; }

static bool has_halo(const ar_band_place *places, int home)
{
    for (int s = 0; s <= home; s++)
        if (places[s].home == home && halo_of(&places[s]) > 0)
            return true;
    return false;
}

/* Whether steps of a band read an array that none of them makes. */
static bool comes_from_outside(const arras_run *run, const ar_band_place *places, int home, int a)
{
    bool is_read = false;

    for (int s = 0; s <= home; s++) {
        const ar_step *step = &run->core->plan.steps[s];

        if (places[s].home != home)
            continue;
        for (int k = 0; k < step->form.n; k++)
            if (step->results[k] == a)
                return false;
        for (int k = 0; k < step->ninputs; k++)
            is_read = is_read || step->inputs[k] == a;
    }
    return is_read;
}

/* Next to what is read anyway, little is saved.  But it is read in narrow tiles then: rows of which
 * columns are reduced would be cut in pieces that end before a processor reads ahead. */
static bool saves_little(const arras_run *run, const ar_band_place *places, int home, int64_t bytes)
{
    enum { LEAST_SHARE = 32 }; /* times as much is read */
    int64_t outside = 0;

    for (int a = 0; a < run->core->plan.narrays; a++)
        if (comes_from_outside(run, places, home, a))
            outside += ar_tensor_bytes(&run->arrays[a]);
    return bytes < outside / LEAST_SHARE;
}

/* What stays in the caches of all threads anyway is not worth computing twice; nothing is where
 * tiles share no rows, and what a core computes is at hand for it, not for the other ones.  A row
 * must not be more than what a cache can hold.  bytes: of all arrays that are inside. */
static bool is_worth_it(const arras_run *run, const ar_band_place *places, int home, int64_t bytes)
{
    const ar_tensor *result = &run->arrays[run->core->plan.steps[home].results[0]];
    int64_t          length = result->shape[places[home].axis];
    int              caches = has_halo(places, home) ? run->program->threads : 1;

    return bytes > caches * cache_bytes(run) && length > 1 &&
           bytes / length <= ar_max64(cache_bytes(run), LEAST_CACHE) &&
           !saves_little(run, places, home, bytes);
}

/* ---- Making one ------------------------------------------------------------------------------ */

/* A band in the making: its pass, and the arrays that there are only in tiles. */
typedef struct {
    arras_run           *run;
    const ar_band_place *places;
    const int           *inside; /* by array: the home of the band in which it stays */
    int                  home;
    ar_memory_pass       pass;
    int                  narrays;
    ar_tile_array       *arrays;
    int                 *numbers; /* of these, in the plan */
} band;

static bool stays_inside(const band *b, int array) { return b->inside[array] == b->home; }

static int stage_of(const band *b, int step)
{
    for (int i = 0; i < b->pass.nstages; i++)
        if (b->pass.stages[i].stage == &b->run->steps[step].stage.stage)
            return i;
    return -1;
}

static void fill_stage(const band *b, ar_memory_stage *m, int s)
{
    const ar_band_place *place = &b->places[s];
    const ar_tensor     *result = &b->run->arrays[b->run->core->plan.steps[s].results[0]];

    *m = b->run->steps[s].alone;
    m->rows = (ar_row_range){ place->axis, result->shape[place->axis], place->stride, place->before,
                              place->after };
}

static bool fill_stages(band *b)
{
    int at = 0;

    for (int s = 0; s <= b->home; s++)
        b->pass.nstages += b->places[s].home == b->home;
    b->pass.stages =
        ar_arena_alloc(&b->run->arena, (size_t)b->pass.nstages, sizeof *b->pass.stages);
    for (int s = 0; s <= b->home && b->pass.stages; s++)
        if (b->places[s].home == b->home)
            fill_stage(b, &b->pass.stages[at++], s);
    return b->pass.stages != NULL;
}

/* The most rows that are computed of it for a tile. */
static int64_t rows_at_most(const band *b, const ar_row_range *r)
{
    int64_t rows = b->pass.tiling.tile[b->places[b->home].axis];

    return ar_min64(r->length, (rows - 1) * r->stride + 1 + r->before + r->after);
}

static bool is_near_other(const band *b, int64_t offset)
{
    enum { PAGE = 4096, NEAR = 256 };

    for (int i = 0; i < b->narrays; i++) {
        int64_t away = (offset - b->arrays[i].offset) % PAGE;

        if (away < NEAR || away > PAGE - NEAR)
            return true;
    }
    return false;
}

/* Cells at the same place of a page drive each other out of the first cache, when a kernel reads
 * more arrays at once than it has ways. */
static int64_t next_offset(const band *b)
{
    enum { STEP = 5 * AR_BLOCK_ALIGN };
    int64_t offset = b->pass.scratch_bytes;

    for (int i = 0; i < b->narrays && is_near_other(b, offset); i++)
        offset += STEP;
    return offset;
}

/* Of an array in scratch memory: C order, with just so many rows. */
static bool place_array(band *b, int array)
{
    const ar_tensor    *whole = &b->run->arrays[array];
    int                 stage = stage_of(b, b->run->core->plan.arrays[array].step);
    const ar_row_range *rows = &b->pass.stages[stage].rows;
    ar_tile_array      *x = &b->arrays[b->narrays];
    int64_t *strides = ar_arena_alloc(&b->run->arena, (size_t)whole->rank, sizeof *strides);
    int64_t  stride = (int64_t)ar_dtype_size(whole->dtype);

    for (int axis = whole->rank - 1; axis >= 0 && strides; axis--) {
        strides[axis] = stride;
        stride *= axis == rows->axis ? rows_at_most(b, rows) : whole->shape[axis];
    }
    *x = (ar_tile_array){ .stage = stage, .offset = next_offset(b), .strides = strides };
    if (strides)
        x->row_bytes = strides[rows->axis];
    b->pass.scratch_bytes = x->offset + stride + AR_BLOCK_ALIGN;
    b->pass.scratch_bytes -= b->pass.scratch_bytes % AR_BLOCK_ALIGN;
    b->numbers[b->narrays++] = array;
    return strides != NULL;
}

static bool place_arrays(band *b)
{
    const ar_plan *plan = &b->run->core->plan;
    bool           placed = true;
    size_t         n = 0;

    for (int a = 0; a < plan->narrays; a++)
        n += stays_inside(b, a);
    b->arrays = ar_arena_alloc(&b->run->arena, n, sizeof *b->arrays);
    b->numbers = ar_arena_alloc(&b->run->arena, n, sizeof *b->numbers);
    placed = b->arrays && b->numbers;
    for (int a = 0; a < plan->narrays && placed; a++)
        if (stays_inside(b, a))
            placed = place_array(b, a);
    return placed;
}

static const ar_tile_array *find_array(const band *b, int array)
{
    for (int i = 0; i < b->narrays; i++)
        if (b->numbers[i] == array)
            return &b->arrays[i];
    return NULL;
}

/* What is read again at once goes to the cache, and what comes from one is not asked for ahead. */
static bool link_operands(const band *b, ar_memory_stage *m)
{
    const ar_stage *s = m->stage;

    m->operands.inputs_uncached = false;
    m->inner = ar_arena_alloc(&b->run->arena, (size_t)(s->nresults + s->ninputs), sizeof *m->inner);
    for (int k = 0; k < s->nresults && m->inner; k++) {
        m->inner[k] = find_array(b, s->results[k]);
        m->operands.results_uncached = m->operands.results_uncached && !m->inner[k];
    }
    for (int k = 0; k < s->ninputs && m->inner; k++) {
        const ar_tile_array *x = find_array(b, s->inputs[k]);

        m->inner[s->nresults + k] = x;
        if (!x &&
            ar_tensor_bytes(&b->run->arrays[s->inputs[k]]) > b->run->core->plan.machine->cache[2])
            m->operands.inputs_uncached = true;
    }
    return m->inner != NULL;
}

static int64_t parts_of(int64_t n, int64_t by) { return (n + by - 1) / by; }

/* Rows so that what a tile computes stays in the cache of its core, beside what it reads, yet halos
 * are a small part. */
static void choose_rows(band *b)
{
    const ar_tensor *result = &b->run->arrays[b->run->core->plan.steps[b->home].results[0]];
    ar_tiling       *t = &b->pass.tiling;
    int              axis = b->places[b->home].axis;
    int64_t          bytes = 0, halo = 0, length = result->shape[axis];
    int64_t          rows, shared, threads = b->run->program->threads;

    for (int i = 0; i < b->pass.nstages; i++) {
        const ar_memory_stage *m = &b->pass.stages[i];

        halo = ar_max64(halo, (m->rows.before + m->rows.after) / m->rows.stride);
        for (int k = 0; k < m->stage->nresults; k++)
            if (stays_inside(b, m->stage->results[k]))
                bytes += m->rows.stride * ar_tensor_bytes(&b->run->arrays[m->stage->results[k]]) /
                         ar_max64(1, m->rows.length);
    }
    rows = (halo > 0 ? 3 : 1) * cache_bytes(b->run) / 4 / ar_max64(1, bytes) - halo;
    rows = ar_max64(rows, 2 * halo);
    shared = length / (4 * threads);
    rows = ar_max64(1, ar_min64(rows, shared));
    /* As many tiles for each thread. */
    rows = parts_of(length, parts_of(parts_of(length, rows), threads) * threads);
    *t = (ar_tiling){ .rank = result->rank };
    for (int d = 0; d < t->rank; d++) {
        t->shape[d] = result->shape[d];
        t->tile[d] = d == axis ? rows : ar_max64(1, result->shape[d]);
    }
    ar_tiling_count(t);
}

static arras_status make_band(arras_run *run, const ar_band_place *places, const int *inside,
                              int home, arras_error *err)
{
    band b = { .run = run, .places = places, .inside = inside, .home = home };
    bool linked = fill_stages(&b);

    if (linked) {
        choose_rows(&b);
        linked = place_arrays(&b);
    }
    for (int i = 0; linked && i < b.pass.nstages; i++)
        linked = link_operands(&b, &b.pass.stages[i]);
    if (linked)
        b.pass.scratch = ar_buffer_take(b.pass.scratch_bytes * run->program->threads);
    if (!linked || !b.pass.scratch)
        return ar_fail_memory(err, linked ? (size_t)b.pass.scratch_bytes : sizeof b);
    for (int s = 0; s <= home; s++)
        if (places[s].home == home) {
            run->steps[s].home = home;
            run->steps[s].stage.in_cells = false;
        }
    run->steps[home].pass = b.pass;
    for (int i = 0; i < b.narrays; i++)
        run->in_band[b.numbers[i]] = true;
    return ARRAS_OK;
}

static arras_status make_bands(arras_run *run, const ar_band_place *places, int *inside,
                               int64_t *bytes, arras_error *err)
{
    arras_status status = ARRAS_OK;

    ar_plan_insides(inside, &run->core->plan, places);
    for (int a = 0; a < run->core->plan.narrays; a++)
        if (inside[a] >= 0)
            bytes[inside[a]] += ar_tensor_bytes(&run->arrays[a]);
    for (int s = 0; s < run->nsteps && status == ARRAS_OK; s++)
        if (bytes[s] > 0 && is_worth_it(run, places, s, bytes[s]))
            status = make_band(run, places, inside, s, err);
    return status;
}

/* With the bands that there are. */
static arras_status count_traffic(arras_run *run, ar_band_place *places, arras_error *err)
{
    int64_t     *bytes = ar_alloc((size_t)run->core->plan.narrays, sizeof *bytes);
    arras_status status;

    if (!bytes)
        return ar_fail_memory(err, (size_t)run->core->plan.narrays * sizeof *bytes);
    for (int a = 0; a < run->core->plan.narrays; a++)
        bytes[a] = ar_tensor_bytes(&run->arrays[a]);
    for (int s = 0; s < run->nsteps; s++)
        places[s].home = run->steps[s].home;
    status = ar_plan_traffic(&run->bytes_moved, &run->core->plan, places, bytes, err);
    ar_free(bytes);
    return status;
}

arras_status ar_instance_bands(arras_run *run, arras_error *err)
{
    const ar_plan *plan = &run->core->plan;
    ar_arena       arena = { 0 };
    ar_band_place *places = ar_arena_alloc(&arena, (size_t)plan->nsteps, sizeof *places);
    bool          *alone = ar_arena_alloc(&arena, (size_t)plan->nsteps, sizeof *alone);
    int           *inside = ar_arena_alloc(&arena, (size_t)plan->narrays, sizeof *inside);
    int64_t       *bytes = ar_arena_alloc(&arena, (size_t)plan->nsteps, sizeof *bytes);
    arras_status   status = places && alone && inside && bytes
                                ? ARRAS_OK
                                : ar_fail_memory(err, (size_t)plan->nsteps * sizeof *places);

    for (int s = 0; s < plan->nsteps && status == ARRAS_OK; s++)
        alone[s] = run->steps[s].stage.engine != AR_ENGINE_KERNEL || plan->steps[s].scan;
    if (status == ARRAS_OK)
        status = ar_plan_bands(places, plan, alone, err);
    if (status == ARRAS_OK)
        status = make_bands(run, places, inside, bytes, err);
    if (status == ARRAS_OK)
        status = count_traffic(run, places, err);
    ar_arena_free(&arena);
    return status;
}

void ar_instance_bands_free(arras_run *run)
{
    for (int s = 0; run->steps && s < run->nsteps; s++)
        ar_buffer_give(run->steps[s].pass.scratch);
}
