/* bands.c -- which steps run together: a step whose results are read near the same row only, by
 * steps of one band, need not run to its end before they start.  All of a band run tile by tile,
 * each for the rows that the tile needs, and what they hand on stays in the cache.  Stencils of
 * stencils, sums along rows with what is computed from them, and the operators of finite elements
 * become bands. */
#include "plan/plan.h"

/* More rows than this, and what overlaps is more than what is gained. */
enum { LARGEST_HALO = 32, LARGEST_STRIDE = 8 };

/* For tiles of all threads. */
enum { ENOUGH_ROWS = 64 };

/* Who reads an array: the step, and which of its inputs it is. */
typedef struct {
    int step, input;
} reader;

typedef struct {
    const ar_plan *plan;
    ar_band_place *places;
    const bool    *alone;
    int           *next;  /* by step: another of its band, in a circle */
    int           *count; /* by home: members */
    int           *first; /* readers of array a: readers[first[a]] up to readers[first[a + 1]] */
    reader        *readers;
    int           *joined; /* by home: the last try that this band was part of */
    int           *axes;   /* by step: its axis in this try */
    int           *seen;   /* by step: the last try in which it got an axis */
    int            tries;
} bander;

/* A producer, and the bands of all that read it: what they would be together. */
typedef struct {
    int       step, axis;
    int       bands[AR_BAND_STEPS], nbands; /* homes */
    int       home, members;                /* of all of them together */
    arras_dim length;                       /* of the tiles' axis */
    int64_t   stride, before, after;
} join;

static const ar_step *step_of(const bander *b, int s) { return &b->plan->steps[s]; }

static arras_array node_of(const bander *b, int array) { return b->plan->arrays[array].node; }

static arras_array result_of(const bander *b, int s)
{
    return node_of(b, step_of(b, s)->results[0]);
}

static bool is_single(const bander *b, int s) { return b->count[s] == 1; }

/* ---- Who reads what -------------------------------------------------------------------------- */

static void list_readers(bander *b)
{
    const ar_plan *plan = b->plan;

    for (int s = 0; s < plan->nsteps; s++)
        for (int k = 0; k < plan->steps[s].ninputs; k++)
            b->first[plan->steps[s].inputs[k] + 2]++;
    for (int a = 0; a < plan->narrays; a++)
        b->first[a + 2] += b->first[a + 1];
    for (int s = 0; s < plan->nsteps; s++)
        for (int k = 0; k < plan->steps[s].ninputs; k++)
            b->readers[b->first[plan->steps[s].inputs[k] + 1]++] = (reader){ s, k };
}

/* ---- Steps that may be cut ------------------------------------------------------------------- */

static bool may_join(const bander *b, int s)
{
    const ar_step *step = step_of(b, s);

    return !b->alone[s] && !step->constant && step->form.n + step->ninputs <= AR_BAND_OPERANDS;
}

/* A flat kernel knows ranges of cells only, and kernels may know how far apart cells are: then a
 * tile of the array has to look like the array. */
static bool may_cut(const bander *b, int s, int axis)
{
    const ar_step *step = step_of(b, s);
    int64_t        stride;

    if (step->nest.flat && axis > 0)
        return false;
    for (int k = 0; k < step->form.n && axis > 0; k++)
        if (ar_kernel_stride(&stride, node_of(b, step->results[k]), axis - 1))
            return false;
    return true;
}

static const ar_row_reach *reach_of(const bander *b, reader r, int axis)
{
    const ar_step *step = step_of(b, r.step);

    return &step->reach[r.input * step->rank + axis];
}

/* The axis along which a reader would be cut; -1: there is none. */
static int axis_of(bander *b, reader r, int producers_axis)
{
    if (!is_single(b, b->places[r.step].home))
        return b->places[r.step].axis;
    if (b->seen[r.step] == b->tries)
        return b->axes[r.step];
    for (int axis = 0; axis < step_of(b, r.step)->rank; axis++)
        if (reach_of(b, r, axis)->axis == producers_axis && may_cut(b, r.step, axis)) {
            b->seen[r.step] = b->tries;
            b->axes[r.step] = axis;
            return axis;
        }
    return -1;
}

/* ---- One producer and those who read it ------------------------------------------------------ */

/* The tiles' rows that the reader's band has. */
static arras_dim length_of(const bander *b, int s, int axis)
{
    int home = b->places[s].home;

    /* The last step is always one whose rows are those of the tiles. */
    return is_single(b, home) ? result_of(b, s)->shape[axis]
                              : result_of(b, home)->shape[b->places[home].axis];
}

static bool add_band(bander *b, join *j, int home)
{
    if (b->joined[home] == b->tries)
        return true;
    j->members += b->count[home];
    if (j->members > AR_BAND_STEPS)
        return false;
    b->joined[home] = b->tries;
    j->bands[j->nbands++] = home;
    j->home = home > j->home ? home : j->home;
    return true;
}

/* The rows that a reader needs of its input, for a tile. */
static ar_band_place rows_for(const ar_band_place *place, const ar_row_reach *reach)
{
    return (ar_band_place){ .axis = reach->axis,
                            .stride = reach->stride * place->stride,
                            .before = reach->stride * place->before + reach->before,
                            .after = reach->stride * place->after + reach->after };
}

static bool add_reader(bander *b, join *j, reader r)
{
    int                 axis;
    const ar_row_reach *reach;
    ar_band_place       rows;

    if (!may_join(b, r.step) || !step_of(b, r.step)->reach)
        return false;
    axis = axis_of(b, r, j->axis);
    reach = axis >= 0 ? reach_of(b, r, axis) : NULL;
    if (!reach || reach->axis != j->axis || reach->stride > LARGEST_STRIDE)
        return false;
    rows = rows_for(&b->places[r.step], reach);
    if (j->stride == 0) {
        j->stride = rows.stride;
        j->length = length_of(b, r.step, axis);
    }
    j->before = ar_max64(j->before, rows.before);
    j->after = ar_max64(j->after, rows.after);
    return add_band(b, j, b->places[r.step].home) && rows.stride == j->stride &&
           j->length == length_of(b, r.step, axis) && j->stride <= LARGEST_STRIDE &&
           j->before + j->after <= LARGEST_HALO;
}

/* What is asked for is written once: its rows are those of the tiles. */
static bool suits_results(const bander *b, const join *j)
{
    const ar_step *step = step_of(b, j->step);

    for (int k = 0; k < step->form.n; k++)
        if (b->plan->arrays[step->results[k]].at != AR_AT_TEMPORARY &&
            (j->stride != 1 || j->before + j->after > 0 ||
             node_of(b, step->results[k])->shape[j->axis] != j->length))
            return false;
    return true;
}

static bool is_joined(const bander *b, int s) { return b->joined[b->places[s].home] == b->tries; }

static ar_band_place place_in(const bander *b, int s)
{
    ar_band_place place = b->places[s];

    place.axis = b->seen[s] == b->tries ? b->axes[s] : place.axis;
    return place;
}

/* A reader inside finds in the same tile all that it needs of s; one outside runs after the band.
 */
static bool suits_reader(const bander *b, const join *j, int s, reader r)
{
    ar_band_place       own = place_in(b, s), its, rows;
    const ar_row_reach *reach;

    if (!is_joined(b, r.step))
        return r.step > j->home;
    its = place_in(b, r.step);
    reach = reach_of(b, r, its.axis);
    rows = rows_for(&its, reach);
    return reach->axis == own.axis && rows.stride == own.stride && rows.before <= own.before &&
           rows.after <= own.after;
}

static bool suits_readers(const bander *b, const join *j, int s)
{
    const ar_step *step = step_of(b, s);

    for (int k = 0; k < step->form.n; k++)
        for (int i = b->first[step->results[k]]; i < b->first[step->results[k] + 1]; i++)
            if (!suits_reader(b, j, s, b->readers[i]))
                return false;
    return true;
}

/* All members of all bands that would become one. */
static bool suits_members(const bander *b, const join *j)
{
    for (int i = 0; i < j->nbands; i++) {
        int s = j->bands[i];

        do {
            if (!suits_readers(b, j, s))
                return false;
            s = b->next[s];
        } while (s != j->bands[i]);
    }
    return true;
}

static bool find_join(bander *b, join *j, int s, int axis)
{
    const ar_step *step = step_of(b, s);

    *j = (join){ .step = s, .axis = axis, .home = s, .members = 1 };
    b->tries++;
    for (int k = 0; k < step->form.n; k++)
        for (int i = b->first[step->results[k]]; i < b->first[step->results[k] + 1]; i++)
            if (!add_reader(b, j, b->readers[i]))
                return false;
    return j->nbands > 0 && suits_results(b, j) && suits_members(b, j);
}

/* ---- Joining --------------------------------------------------------------------------------- */

/* One circle of two. */
static void merge(bander *b, int home, int other)
{
    int s = other, after = b->next[home];

    do {
        b->places[s].home = home;
        s = b->next[s];
    } while (s != other);
    b->next[home] = b->next[other];
    b->next[other] = after;
    b->count[home] += b->count[other];
}

static void make_join(bander *b, const join *j)
{
    b->places[j->step] = (ar_band_place){ j->step, j->axis, j->stride, j->before, j->after };
    merge(b, j->home, j->step);
    for (int i = 0; i < j->nbands; i++) {
        if (b->seen[j->bands[i]] == b->tries)
            b->places[j->bands[i]].axis = b->axes[j->bands[i]];
        if (j->bands[i] != j->home)
            merge(b, j->home, j->bands[i]);
    }
}

/* The axis to try next: the first that is long enough, or else the longest; -1: all were tried. */
static int next_axis(arras_array x, uint32_t *tried)
{
    int     found = -1;
    int64_t most = -1;

    for (int axis = 0; axis < x->rank; axis++) {
        int64_t length =
            ar_dim_symbolic(x->shape[axis]) ? ENOUGH_ROWS : ar_min64(x->shape[axis], ENOUGH_ROWS);

        if (!(*tried >> axis & 1) && length > most) {
            most = length;
            found = axis;
        }
    }
    *tried |= found >= 0 ? 1u << found : 0;
    return found;
}

/* From the last step on, so that the bands of all readers are known. */
static void join_all(bander *b)
{
    join j;

    for (int s = b->plan->nsteps - 1; s >= 0; s--) {
        uint32_t tried = 0;
        int      axis = may_join(b, s) ? next_axis(result_of(b, s), &tried) : -1;

        while (axis >= 0 && !(may_cut(b, s, axis) && find_join(b, &j, s, axis)))
            axis = next_axis(result_of(b, s), &tried);
        if (axis >= 0)
            make_join(b, &j);
    }
}

static bool make_room(bander *b, ar_arena *arena)
{
    size_t steps = (size_t)b->plan->nsteps, arrays = (size_t)b->plan->narrays, inputs = 0;

    for (int s = 0; s < b->plan->nsteps; s++)
        inputs += (size_t)b->plan->steps[s].ninputs;
    b->next = ar_arena_alloc(arena, steps, sizeof *b->next);
    b->count = ar_arena_alloc(arena, steps, sizeof *b->count);
    b->joined = ar_arena_alloc(arena, steps, sizeof *b->joined);
    b->axes = ar_arena_alloc(arena, steps, sizeof *b->axes);
    b->seen = ar_arena_alloc(arena, steps, sizeof *b->seen);
    b->first = ar_arena_alloc(arena, arrays + 2, sizeof *b->first);
    b->readers = ar_arena_alloc(arena, inputs, sizeof *b->readers);
    return b->next && b->count && b->joined && b->axes && b->seen && b->first && b->readers;
}

arras_status ar_plan_bands(ar_band_place *places, const ar_plan *plan, const bool *alone,
                           arras_error *err)
{
    ar_arena arena = { 0 };
    bander   b = { .plan = plan, .places = places, .alone = alone };
    bool     room = make_room(&b, &arena);

    for (int s = 0; s < plan->nsteps && room; s++) {
        places[s] = (ar_band_place){ .home = s, .stride = 1 };
        b.next[s] = s;
        b.count[s] = 1;
    }
    if (room) {
        list_readers(&b);
        join_all(&b);
    }
    ar_arena_free(&arena);
    return room ? ARRAS_OK : ar_fail_memory(err, (size_t)plan->nsteps * sizeof *places);
}
