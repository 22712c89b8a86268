/* chunk_advice.c -- chunk shapes: the public face of chunk/. */
#include <math.h>
#include <string.h>

#include "chunk/chunk.h"

static arras_status no_argument(const char *function, const char *what, arras_error *err)
{
    return ar_fail(err, ARRAS_EINVAL, "%s: %s is NULL", function, what);
}

/* ---- Workloads ------------------------------------------------------------------------------- */

arras_status arras_workload_from_shapes(arras_workload **out, int rank, int64_t n,
                                        const int64_t *shapes, const char *const *probabilities,
                                        arras_error *err)
{
    if (!out || !shapes)
        return no_argument("arras_workload_from_shapes", out ? "shapes" : "out", err);
    return ar_workload_from_shapes(out, rank, n, shapes, probabilities, err);
}

arras_status arras_workload_from_ranges(arras_workload **out, int rank, int64_t n, const int *axes,
                                        const int64_t *lengths, const char *const *probabilities,
                                        arras_error *err)
{
    if (!out || !axes || !lengths)
        return no_argument("arras_workload_from_ranges",
                           !out    ? "out"
                           : !axes ? "axes"
                                   : "lengths",
                           err);
    return ar_workload_from_ranges(out, rank, n, axes, lengths, probabilities, err);
}

arras_status arras_workload_from_boxes(arras_workload **out, int rank, int64_t n, const int64_t *lo,
                                       const int64_t *hi, arras_error *err)
{
    if (!out || !lo || !hi)
        return no_argument("arras_workload_from_boxes", !out ? "out" : !lo ? "lo" : "hi", err);
    return ar_workload_from_boxes(out, rank, n, lo, hi, err);
}

arras_status arras_workload_from_log(arras_workload **out, int rank, const char *text,
                                     size_t length, const char *name, arras_error *err)
{
    if (!out || !text)
        return no_argument("arras_workload_from_log", out ? "text" : "out", err);
    return ar_workload_from_log(out, rank, text, length, name ? name : "log", err);
}

arras_status arras_workload_independent(arras_workload **out, const arras_workload *w,
                                        arras_error *err)
{
    if (!out || !w)
        return no_argument("arras_workload_independent", out ? "w" : "out", err);
    return ar_workload_independent(out, w, err);
}

arras_status arras_workload_joint(arras_workload **out, const arras_workload *w, arras_error *err)
{
    if (!out || !w)
        return no_argument("arras_workload_joint", out ? "w" : "out", err);
    return ar_workload_joint(out, w, err);
}

void arras_workload_free(arras_workload *w) { ar_workload_free(w); }

bool arras_workload_is_independent(const arras_workload *w) { return w && w->independent; }

int64_t arras_workload_count(const arras_workload *w) { return w ? w->count : 0; }

int64_t arras_workload_queries(const arras_workload *w) { return w ? w->queries : 0; }

bool arras_workload_shape(const arras_workload *w, int64_t i, int64_t *shape, int64_t *weight,
                          int64_t *total)
{
    if (!w || i < 0 || i >= w->count)
        return false;
    if (shape)
        memcpy(shape, w->shapes + i * w->rank, (size_t)w->rank * sizeof *shape);
    if (weight)
        *weight = w->weights[i];
    if (total)
        *total = w->total;
    return true;
}

/* ---- Problems -------------------------------------------------------------------------------- */

static bool asks_time(const arras_chunk_options *o) { return o->bandwidth > 0; }

static int64_t limit_of(const arras_chunk_options *o)
{
    return o->limit ? o->limit : asks_time(o) ? INT64_C(1) << 26 : INT64_C(1) << 20;
}

static arras_status check_clock(const arras_chunk_options *o, arras_error *err)
{
    const double numbers[] = { o->latency, o->bandwidth, o->decoding, o->ratio, o->within };
    static const char *const names[] = { "latency", "bandwidth", "decoding", "ratio", "within" };

    for (size_t i = 0; i < AR_COUNT(numbers); i++)
        if (!(numbers[i] >= 0) || isinf(numbers[i]))
            return ar_fail(err, ARRAS_EINVAL, "%s is %g; it must be a number from 0 on", names[i],
                           numbers[i]);
    if (o->latency > 0 && !asks_time(o))
        return ar_fail(err, ARRAS_EINVAL, "a latency of %g s without a bandwidth; give both",
                       o->latency);
    return ARRAS_OK;
}

static arras_status check_options(const arras_workload *w, const arras_chunk_options *o,
                                  arras_error *err)
{
    if (!w || !o || !o->shape)
        return ar_fail(err, ARRAS_EINVAL, "chunk shapes: %s is NULL",
                       !w   ? "the workload"
                       : !o ? "options"
                            : "the shape of the array");
    if (o->rank != w->rank)
        return ar_fail(err, ARRAS_ESHAPE, "queries have %d axes; the array has %d", w->rank,
                       o->rank);
    if (o->cell_bytes < 1 || o->limit < 0)
        return ar_fail(err, ARRAS_EINVAL,
                       "a cell of %" PRId64 " bytes in chunks of at most %" PRId64
                       " bytes; both must be above 0",
                       o->cell_bytes, o->limit);
    if ((int)o->model < 0 || o->model >= ARRAS_CHUNKS_END)
        return ar_fail(err, ARRAS_EINVAL, "there is no model of number %d", (int)o->model);
    return check_clock(o, err);
}

/* Only here are queries longer than the array refused in all models: it is known. */
static arras_status check_extents(const ar_chunk_problem *p, arras_error *err)
{
    for (int i = 0; i < p->workload->rank; i++) {
        const ar_range_set *set = &p->workload->axes[i];
        int64_t             longest = set->shares[set->count - 1].range;

        if (p->extent[i] < 1)
            return ar_fail(err, ARRAS_ESHAPE,
                           "axis %d of the array has length %" PRId64
                           "; only arrays with cells can be cut into chunks",
                           i, p->extent[i]);
        if (longest > p->extent[i])
            return ar_fail(err, ARRAS_ESHAPE,
                           "a query is %" PRId64
                           " cells long along axis %d; the array has %" PRId64,
                           longest, i, p->extent[i]);
    }
    for (int64_t i = 0; i < p->workload->queries * p->workload->rank; i++) {
        int axis = (int)(i % p->workload->rank);

        if (p->workload->hi[i] > p->extent[axis])
            return ar_fail(err, ARRAS_ESHAPE,
                           "query %" PRId64 " stops at %" PRId64 " along axis %d; the array has "
                           "%" PRId64 " cells there",
                           i / p->workload->rank + 1, p->workload->hi[i], axis, p->extent[axis]);
    }
    return ARRAS_OK;
}

static arras_status set_problem(ar_chunk_problem *p, const arras_workload *w,
                                const arras_chunk_options *o, arras_error *err)
{
    arras_status status = check_options(w, o, err);

    if (status != ARRAS_OK)
        return status;
    *p = (ar_chunk_problem){ .workload = w,
                             .model = o->model,
                             .cells = limit_of(o) / o->cell_bytes,
                             .powers_of_two = o->powers_of_two };
    for (int i = 0; i < w->rank; i++) {
        p->extent[i] = o->shape[i];
        p->fixed[i] = o->fixed ? o->fixed[i] : 0;
        p->multiple[i] = o->multiple && o->multiple[i] ? o->multiple[i] : 1;
    }
    status = check_extents(p, err);
    return status == ARRAS_OK ? ar_chunk_problem_check(p, err) : status;
}

/* ---- Costs ----------------------------------------------------------------------------------- */

static ar_chunk_clock clock_of(const arras_chunk_options *o)
{
    double cell = (double)o->cell_bytes;

    if (!asks_time(o))
        return (ar_chunk_clock){ 0 };
    return (ar_chunk_clock){ .fixed = o->latency,
                             .per_cell = cell / (o->ratio > 0 ? o->ratio : 1) / o->bandwidth +
                                         (o->decoding > 0 ? cell / o->decoding : 0) };
}

static arras_status give_exact(char **out, ar_text *text, bool fits, arras_error *err)
{
    size_t length = text->length;

    if (!text->failed) {
        *out = fits ? text->data : NULL;
        return ARRAS_OK;
    }
    ar_text_free(text);
    return ar_fail_memory(err, length);
}

arras_status arras_chunk_cost_of(arras_chunk_costs *out, char **exact, const arras_workload *w,
                                 int64_t shape, const arras_chunk_options *options,
                                 const int64_t *chunk, arras_error *err)
{
    ar_chunk_problem p;
    ar_text          text = { 0 };
    int64_t          bytes;
    arras_status     status = set_problem(&p, w, options, err);

    if (status == ARRAS_OK && (!out || !chunk))
        status = no_argument("arras_chunk_cost_of", out ? "chunk" : "out", err);
    if (status == ARRAS_OK && (shape < -1 || shape >= w->count))
        status = ar_fail(err, ARRAS_EINDEX, "shape %" PRId64 " of a workload of %" PRId64, shape,
                         w->count);
    if (status == ARRAS_OK)
        status = ar_chunk_bytes(&bytes, w->rank, chunk, options->cell_bytes, false, err);
    if (status == ARRAS_OK && exact) {
        bool fits = ar_chunk_exact(&text, &p, chunk, shape);

        status = give_exact(exact, &text, fits, err);
    }
    if (status != ARRAS_OK)
        return status;
    ar_chunk_clock clock = clock_of(options);
    double         cells = (double)bytes / (double)options->cell_bytes;
    out->chunks = ar_chunk_value(&p, chunk, shape);
    out->seconds = out->chunks * (clock.fixed + clock.per_cell * cells);
    return ARRAS_OK;
}

arras_status arras_chunk_cost(arras_chunk_costs *out, char **exact, const arras_workload *w,
                              const arras_chunk_options *options, const int64_t *chunk,
                              arras_error *err)
{
    return arras_chunk_cost_of(out, exact, w, -1, options, chunk, err);
}

arras_status arras_chunk_trace(int64_t *chunks, double *error, const arras_workload *w,
                               const int64_t *chunk, arras_error *err)
{
    double unused;

    if (!chunks || !w || !chunk)
        return no_argument("arras_chunk_trace", !chunks ? "chunks" : !w ? "w" : "chunk", err);
    return ar_chunk_trace(chunks, error ? error : &unused, w, chunk, err);
}

arras_status arras_chunk_bytes(int64_t *out, int rank, const int64_t *chunk, int64_t cell_bytes,
                               bool for_hdf5, arras_error *err)
{
    if (!out || !chunk)
        return no_argument("arras_chunk_bytes", out ? "chunk" : "out", err);
    return ar_chunk_bytes(out, rank, chunk, cell_bytes, for_hdf5, err);
}

/* ---- Advice ---------------------------------------------------------------------------------- */

/* With a clock: the size first, then the shape.  The gap is then one of seconds. */
static arras_status advise(arras_chunk_advice *out, ar_chunk_problem *p, ar_chunk_clock clock,
                           double within, arras_error *err)
{
    ar_chunk_optimum best;
    arras_status     status = ARRAS_OK;
    double           bound = 0, cost;
    bool             timed = clock.fixed > 0 || clock.per_cell > 0;

    if (timed)
        status = ar_chunk_best_size(&p->cells, &bound, p, clock, err);
    if (status == ARRAS_OK)
        status = ar_chunk_optimise(&best, p, within, 0, err);
    if (status != ARRAS_OK)
        return status;
    *out = (arras_chunk_advice){ .cells = 1, .proven = best.proven, .examined = best.examined };
    for (int i = 0; i < p->workload->rank; i++) {
        out->chunk[i] = best.chunk[i];
        out->least[i] = best.least[i];
        out->cells *= best.chunk[i];
    }
    cost = ar_chunk_value(p, best.chunk, -1);
    if (timed)
        cost *= clock.fixed + clock.per_cell * (double)out->cells;
    out->gap = fmax(0, cost / (timed ? bound : best.bound) - 1);
    out->proven = timed ? out->gap < 1e-12 : best.proven;
    return ARRAS_OK;
}

arras_status arras_chunk_advise(arras_chunk_advice *out, const arras_workload *w,
                                const arras_chunk_options *options, arras_error *err)
{
    ar_chunk_problem p;
    arras_status     status = set_problem(&p, w, options, err);

    if (status == ARRAS_OK && !out)
        status = no_argument("arras_chunk_advise", "out", err);
    if (status == ARRAS_OK)
        status = advise(out, &p, clock_of(options), options->within, err);
    return status;
}

/* ---- What others choose ---------------------------------------------------------------------- */

const char *arras_chunk_guess_name(arras_chunk_guess guess)
{
    static const char *const names[] = { "h5py", "zarr",        "dask",  "netcdf",
                                         "rew",  "closed-form", "greedy" };

    return (int)guess >= 0 && (size_t)guess < AR_COUNT(names) ? names[guess] : NULL;
}

/* Of independent ranges, and of all combinations of them otherwise. */
static arras_status guess_closed_form(int64_t *chunk, const ar_chunk_problem *p, arras_error *err)
{
    double lengths[ARRAS_MAX_RANK];
    int    powers[ARRAS_MAX_RANK], rank = p->workload->rank;

    for (int i = 0; i < rank; i++) {
        const ar_range_set *set = &p->workload->axes[i];

        lengths[i] = 0;
        for (int64_t r = 0; r < set->count; r++)
            lengths[i] += (double)(set->shares[r].range - 1) * (double)set->shares[r].weight;
        lengths[i] /= (double)set->total;
    }
    if (!ar_chunk_closed_form_rounded(powers, rank, lengths, p->extent,
                                      63 - __builtin_clzll((unsigned long long)p->cells)))
        return ar_fail(err, ARRAS_EINVAL,
                       "the closed form has no such shape: a range is 1 cell long, or an edge is "
                       "longer than the array or below 1");
    for (int i = 0; i < rank; i++)
        chunk[i] = INT64_C(1) << powers[i];
    return ARRAS_OK;
}

static arras_status guess_greedy(int64_t *chunk, ar_chunk_problem *p)
{
    p->model = ARRAS_CHUNKS_PAPER;
    for (int i = 0; i < p->workload->rank; i++)
        chunk[i] = 1;
    for (int axis; (axis = ar_chunk_greedy_step(p, chunk)) >= 0;)
        chunk[axis] *= 2;
    return ARRAS_OK;
}

arras_status arras_chunk_guess_shape(int64_t *chunk, arras_chunk_guess guess,
                                     const arras_workload *w, const arras_chunk_options *options,
                                     arras_error *err)
{
    ar_chunk_problem p;
    arras_status     status = set_problem(&p, w, options, err);

    if (status == ARRAS_OK && !chunk)
        status = no_argument("arras_chunk_guess_shape", "chunk", err);
    if (status != ARRAS_OK)
        return status;
    ar_chunk_array array = { options->rank, options->shape, options->cell_bytes,
                             limit_of(options) };
    switch (guess) {
    case ARRAS_GUESS_H5PY: ar_chunk_guess_h5py(chunk, &array); return ARRAS_OK;
    case ARRAS_GUESS_ZARR: ar_chunk_guess_zarr(chunk, &array); return ARRAS_OK;
    case ARRAS_GUESS_DASK: ar_chunk_guess_dask(chunk, &array); return ARRAS_OK;
    case ARRAS_GUESS_NETCDF: ar_chunk_guess_netcdf(chunk, &array, 0x1p24); return ARRAS_OK;
    case ARRAS_GUESS_REW: return ar_chunk_guess_rew(chunk, &array, err);
    case ARRAS_GUESS_CLOSED_FORM: return guess_closed_form(chunk, &p, err);
    case ARRAS_GUESS_GREEDY: return guess_greedy(chunk, &p);
    default: return ar_fail(err, ARRAS_EINVAL, "there is no guess of number %d", (int)guess);
    }
}
