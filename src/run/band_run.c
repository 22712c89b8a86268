/* band_run.c -- bands: steps that run together, tile by tile.  Each tile computes, one step after
 * the other, the rows that it needs of every result; those that nobody reads outside of the band
 * lie in scratch memory of the thread.  Where steps reach beyond their own row what lies between
 * tiles is computed twice; nothing of it goes through memory. */
#include "run/program.h"

#include <string.h>

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
    enum { LITTLE = 32 }; /* times as much is read */
    int64_t outside = 0;

    for (int a = 0; a < run->core->plan.narrays; a++)
        if (comes_from_outside(run, places, home, a))
            outside += ar_tensor_bytes(&run->arrays[a]);
    return bytes < outside / LITTLE;
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

static int member_number(const ar_band *band, const ar_step_run *step)
{
    for (int i = 0; i < band->n; i++)
        if (band->members[i].step == step)
            return i;
    return -1;
}

static void fill_member(arras_run *run, ar_band_member *m, int s, const ar_band_place *place)
{
    const ar_tensor *result = &run->arrays[run->steps[s].step->results[0]];

    m->step = &run->steps[s];
    m->place = *place;
    m->length = result->shape[place->axis];
    m->row_cells = m->length ? result->count / m->length : 0;
    m->stream = m->step->args.stream;
}

static bool fill_members(arras_run *run, ar_band *band, const ar_band_place *places, int home)
{
    int at = 0;

    for (int s = 0; s <= home; s++)
        band->n += places[s].home == home;
    band->members = ar_arena_alloc(&run->arena, (size_t)band->n, sizeof *band->members);
    for (int s = 0; s <= home && band->members; s++)
        if (places[s].home == home)
            fill_member(run, &band->members[at++], s, &places[s]);
    return band->members != NULL;
}

/* The most rows that are computed of it for a tile. */
static int64_t rows_at_most(const ar_band *band, const ar_band_member *m)
{
    const ar_band_place *p = &m->place;

    return ar_min64(m->length, (band->rows - 1) * p->stride + 1 + p->before + p->after);
}

static bool is_near_other(const ar_band *band, int64_t offset)
{
    enum { PAGE = 4096, NEAR = 256 };

    for (int i = 0; i < band->narrays; i++) {
        int64_t away = (offset - band->arrays[i].offset) % PAGE;

        if (away < NEAR || away > PAGE - NEAR)
            return true;
    }
    return false;
}

/* Cells at the same place of a page drive each other out of the first cache, when a kernel reads
 * more arrays at once than it has ways. */
static int64_t next_offset(const ar_band *band)
{
    enum { STEP = 5 * AR_BLOCK_ALIGN };
    int64_t offset = band->scratch_bytes;

    for (int i = 0; i < band->narrays && is_near_other(band, offset); i++)
        offset += STEP;
    return offset;
}

/* Of an array in scratch memory: C order, with just so many rows. */
static bool place_array(arras_run *run, ar_band *band, const ar_tensor *whole, int member)
{
    const ar_band_member *m = &band->members[member];
    ar_band_array        *x = &band->arrays[band->narrays];
    int64_t *strides = ar_arena_alloc(&run->arena, (size_t)whole->rank, sizeof *strides);
    int64_t  stride = (int64_t)ar_dtype_size(whole->dtype);

    for (int axis = whole->rank - 1; axis >= 0 && strides; axis--) {
        strides[axis] = stride;
        stride *= axis == m->place.axis ? rows_at_most(band, m) : whole->shape[axis];
    }
    *x = (ar_band_array){ .member = member, .offset = next_offset(band), .strides = strides };
    if (strides)
        x->row_bytes = strides[m->place.axis];
    band->scratch_bytes = x->offset + stride + AR_BLOCK_ALIGN;
    band->scratch_bytes -= band->scratch_bytes % AR_BLOCK_ALIGN;
    return strides != NULL;
}

static bool place_arrays(arras_run *run, ar_band *band, const int *inside, int home)
{
    const ar_plan *plan = &run->core->plan;
    bool           placed = true;
    int            n = 0;

    for (int a = 0; a < plan->narrays; a++)
        n += inside[a] == home;
    band->arrays = ar_arena_alloc(&run->arena, (size_t)n, sizeof *band->arrays);
    for (int a = 0; a < plan->narrays && placed && band->arrays; a++) {
        int member =
            inside[a] == home ? member_number(band, &run->steps[plan->arrays[a].step]) : -1;

        if (member < 0)
            continue;
        placed = place_array(run, band, &run->arrays[a], member);
        band->arrays[band->narrays++].array = a;
    }
    return placed && band->arrays;
}

static const ar_band_array *find_array(const ar_band *band, int array)
{
    for (int i = 0; i < band->narrays; i++)
        if (band->arrays[i].array == array)
            return &band->arrays[i];
    return NULL;
}

static bool link_operands(arras_run *run, ar_band *band, ar_band_member *m)
{
    const ar_step *step = m->step->step;
    int            n = step->form.n + step->ninputs;

    m->links = ar_arena_alloc(&run->arena, (size_t)n, sizeof *m->links);
    for (int k = 0; k < n && m->links; k++) {
        int array = k < step->form.n ? step->results[k] : step->inputs[k - step->form.n];

        m->links[k] = find_array(band, array);
        if (k < step->form.n && m->links[k])
            m->stream = NULL; /* it is read again at once */
        if (k >= step->form.n && !m->links[k] &&
            ar_tensor_bytes(&run->arrays[array]) > run->core->plan.machine->cache[2])
            m->far = true;
    }
    return m->links != NULL;
}

static int64_t parts_of(int64_t n, int64_t by) { return (n + by - 1) / by; }

/* Rows so that what a tile computes stays in the cache of its core, beside what it reads, yet halos
 * are a small part. */
static void choose_rows(ar_band *band, const arras_run *run, const int *inside, int home)
{
    int64_t bytes = 0, halo = 0, length = band->members[band->n - 1].length;
    int64_t rows, shared, threads = run->program->threads;

    for (int i = 0; i < band->n; i++) {
        const ar_band_member *m = &band->members[i];
        const ar_step        *step = m->step->step;

        halo = ar_max64(halo, halo_of(&m->place));
        for (int k = 0; k < step->form.n; k++)
            if (inside[step->results[k]] == home)
                bytes += m->place.stride * ar_tensor_bytes(&run->arrays[step->results[k]]) /
                         ar_max64(1, m->length);
    }
    rows = (halo > 0 ? 3 : 1) * cache_bytes(run) / 4 / ar_max64(1, bytes) - halo;
    rows = ar_max64(rows, 2 * halo);
    shared = length / (4 * threads);
    rows = ar_max64(1, ar_min64(rows, shared));
    /* As many tiles for each thread. */
    band->tiles = parts_of(parts_of(length, rows), threads) * threads;
    band->rows = parts_of(length, band->tiles);
    band->tiles = parts_of(length, band->rows);
}

static arras_status make_band(arras_run *run, const ar_band_place *places, const int *inside,
                              int home, arras_error *err)
{
    ar_band *band = ar_arena_alloc(&run->arena, 1, sizeof *band);
    bool     linked = band && fill_members(run, band, places, home);

    if (linked) {
        choose_rows(band, run, inside, home);
        linked = place_arrays(run, band, inside, home);
    }
    for (int i = 0; linked && i < band->n; i++)
        linked = link_operands(run, band, &band->members[i]);
    if (linked)
        band->scratch = ar_buffer_take(band->scratch_bytes * run->program->threads);
    if (!linked || !band->scratch)
        return ar_fail_memory(err, linked ? (size_t)band->scratch_bytes : sizeof *band);
    for (int i = 0; i < band->n; i++)
        band->members[i].step->home = home;
    run->steps[home].band = band;
    for (int i = 0; i < band->narrays; i++)
        run->in_band[band->arrays[i].array] = true;
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
        alone[s] = run->steps[s].by != AR_BY_KERNEL;
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
        if (run->steps[s].band)
            ar_buffer_give(run->steps[s].band->scratch);
}

/* ---- Running it ------------------------------------------------------------------------------ */

typedef struct {
    int64_t lo, hi;
} rows;

static rows rows_for(const ar_band_member *m, rows tile)
{
    const ar_band_place *p = &m->place;

    return (rows){ ar_max64(0, tile.lo * p->stride - p->before),
                   ar_min64(m->length, (tile.hi - 1) * p->stride + p->after + 1) };
}

/* The cell [0, 0, ...] of an array, so that its row `lo` is the first in scratch memory.  It may
 * lie outside of it: as a number, for nobody reads there. */
static char *base_of(const ar_band_array *x, int64_t lo, char *scratch)
{
    return (char *)((uintptr_t)scratch + (uintptr_t)x->offset - (uintptr_t)(lo * x->row_bytes));
}

static int run_member(const ar_band_member *m, const rows *at, rows own, char *scratch)
{
    const ar_step_run *s = m->step;
    char              *data[AR_BAND_OPERANDS];
    const int64_t     *strides[AR_BAND_OPERANDS];
    ar_kernel_args     args = s->args;
    int64_t            lo[ARRAS_MAX_RANK] = { 0 }, hi[ARRAS_MAX_RANK];

    for (int k = 0; k < s->step->form.n + s->step->ninputs; k++) {
        const ar_band_array *x = m->links[k];

        data[k] = x ? base_of(x, at[x->member].lo, scratch) : s->data[k];
        strides[k] = x ? x->strides : s->strides[k];
    }
    args.data = data;
    args.strides = strides;
    args.stream = m->stream;
    args.far = m->far;
    memcpy(hi, s->tiling.shape, (size_t)s->tiling.rank * sizeof *hi);
    lo[m->place.axis] = own.lo;
    hi[m->place.axis] = own.hi;
    if (s->step->nest.flat) {
        lo[0] *= m->row_cells;
        hi[0] *= m->row_cells;
    }
    return s->kernel(&args, lo, hi);
}

arras_status ar_band_run(void *context, int64_t first, int64_t last, int thread, arras_error *err)
{
    const ar_band *band = context;
    char          *scratch = band->scratch + thread * band->scratch_bytes;
    int64_t        length = band->members[band->n - 1].length;
    rows           at[AR_BAND_STEPS];

    for (int64_t number = first; number < last; number++) {
        rows tile = { number * band->rows, ar_min64((number + 1) * band->rows, length) };

        for (int i = 0; i < band->n; i++) {
            at[i] = rows_for(&band->members[i], tile);
            if (at[i].lo < at[i].hi && run_member(&band->members[i], at, at[i], scratch))
                return ar_fail(err, ARRAS_EINDEX, "an index is outside its array");
        }
    }
    return ARRAS_OK;
}
