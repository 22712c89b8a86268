/* sweep_open.c -- what a request says, checked: functions, reach, shapes, memory that overlaps. */
#include "native/sweep_job.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static arras_status fail(arras_error *err, arras_status code, const char *text)
{
    return ar_fail(err, code, "sweep: %s", text);
}

static arras_status check_options(const arras_sweep_request *r, arras_error *err)
{
    if (!r->cell == !r->row)
        return fail(err, ARRAS_EINVAL, "give one function, for cells or for rows, not both");
    if ((unsigned)r->order >= ARRAS_SWEEP_ORDERS)
        return ar_fail(err, ARRAS_EINVAL, "sweep: there is no order number %d", (int)r->order);
    if (r->most < 0 || r->threads < 0 || r->threads > AR_POOL_MAX_THREADS || r->memory < 0)
        return ar_fail(err, ARRAS_EINVAL,
                       "sweep: at most %" PRId64 " sweeps, %d threads, %" PRId64
                       " bytes of memory: none may be negative, and %d threads are the most",
                       r->most, r->threads, r->memory, AR_POOL_MAX_THREADS);
    if (!(r->tolerance >= 0))
        return ar_fail(err, ARRAS_EINVAL, "sweep: the tolerance is %g; it must be 0 or more",
                       r->tolerance);
    if (r->ncompanions < 0 || (r->ncompanions > 0 && !r->companions))
        return ar_fail(err, ARRAS_EINVAL, "sweep: %d companions, and where they are is NULL",
                       r->ncompanions);
    return ARRAS_OK;
}

/* ---- Shapes ---------------------------------------------------------------------------------- */

typedef struct {
    arras_dtype    dtype;
    int            rank;
    const int64_t *shape;
} form;

static form buffer_form(const arras_buffer *b) { return (form){ b->dtype, b->rank, b->shape }; }

static form info_form(const ar_store_info *i) { return (form){ i->dtype, i->rank, i->shape }; }

static bool is_given(const arras_sweep_array *a) { return a->buffer.data || a->source; }

static form array_form(const arras_sweep_array *a)
{
    return a->buffer.data ? buffer_form(&a->buffer) : info_form(&a->source->info);
}

static void print_form(char *out, size_t room, form f)
{
    ar_text text = { 0 };

    ar_text_printf(&text, "%s[", arras_dtype_name(f.dtype));
    for (int d = 0; d < f.rank; d++)
        ar_text_printf(&text, "%s%" PRId64, d ? ", " : "", f.shape[d]);
    ar_text_add(&text, "]");
    strncpy(out, text.data ? text.data : "?", room - 1);
    out[room - 1] = '\0';
    ar_text_free(&text);
}

static arras_status check_form(form f, const char *what, arras_error *err)
{
    if (arras_dtype_size(f.dtype) == 0)
        return ar_fail(err, ARRAS_EDTYPE, "sweep: the cells of %s are not numbers", what);
    if (f.rank < 1 || f.rank > ARRAS_MAX_RANK || !f.shape)
        return ar_fail(err, ARRAS_EINVAL, "sweep: %s has rank %d; 1 to %d axes can be swept", what,
                       f.rank, ARRAS_MAX_RANK);
    for (int d = 0; d < f.rank; d++)
        if (f.shape[d] < 0)
            return ar_fail(err, ARRAS_ESHAPE, "sweep: axis %d of %s has %" PRId64 " cells", d, what,
                           f.shape[d]);
    return ARRAS_OK;
}

/* dtype: whether types must agree too. */
static arras_status check_like(const arras_sweeping *s, form f, const char *what, bool dtype,
                               arras_error *err)
{
    form         state = { s->arrays[0].dtype, s->rank, s->shape };
    arras_status status = check_form(f, what, err);
    char         mine[256], theirs[256];

    if (status != ARRAS_OK)
        return status;
    if (f.rank == s->rank && memcmp(f.shape, s->shape, (size_t)f.rank * sizeof *f.shape) == 0 &&
        (!dtype || f.dtype == state.dtype))
        return ARRAS_OK;
    print_form(mine, sizeof mine, state);
    print_form(theirs, sizeof theirs, f);
    return ar_fail(err, dtype && f.dtype != state.dtype ? ARRAS_EDTYPE : ARRAS_ESHAPE,
                   "sweep: the state is %s, and %s is %s; %s must be the same", mine, what, theirs,
                   dtype ? "types and shapes" : "shapes");
}

/* Where the state ends says what it is; otherwise where it starts. */
static arras_status take_form(arras_sweeping *s, arras_error *err)
{
    const arras_sweep_request *r = &s->request;
    form                       f;
    arras_status               status;

    if (r->state.data && r->sink)
        return fail(err, ARRAS_EINVAL, "the state can end in memory or in a sink, not in both");
    if (!r->state.data && !r->sink && !r->start.buffer.data)
        return fail(err, ARRAS_EINVAL, "there is no state: give a buffer or a sink for it");
    f = r->sink         ? info_form(&r->sink->info)
        : r->state.data ? buffer_form(&r->state)
                        : buffer_form(&r->start.buffer);
    status = check_form(f, "the state", err);
    if (status != ARRAS_OK)
        return status;
    s->rank = f.rank;
    s->cells = 1;
    for (int d = 0; d < f.rank; d++) {
        s->shape[d] = f.shape[d];
        if (!ar_mul64(&s->cells, s->cells, f.shape[d]) || s->cells > INT64_MAX / 16)
            return fail(err, ARRAS_ESIZE, "the state has more than 2^63 bytes");
    }
    s->arrays[0].dtype = f.dtype;
    return ARRAS_OK;
}

static arras_status check_forms(const arras_sweeping *s, arras_error *err)
{
    const arras_sweep_request *r = &s->request;
    arras_status               status = ARRAS_OK;
    char                       what[32];

    if (is_given(&r->start))
        status = check_like(s, array_form(&r->start), "its start", true, err);
    for (int i = 0; i < r->ncompanions && status == ARRAS_OK; i++) {
        snprintf(what, sizeof what, "companion %d", i + 1);
        status = is_given(&r->companions[i])
                     ? check_like(s, array_form(&r->companions[i]), what, false, err)
                     : ar_fail(err, ARRAS_EINVAL, "sweep: %s has neither data nor a source", what);
    }
    return status;
}

/* ---- Reach ----------------------------------------------------------------------------------- */

static arras_status take_axis(arras_sweeping *s, int d, arras_error *err)
{
    const arras_sweep_request *r = &s->request;

    s->before[d] = r->before ? r->before[d] : 0;
    s->after[d] = r->after ? r->after[d] : 0;
    s->edges[d] = r->edges ? r->edges[d] : ARRAS_EDGE_NONE;
    s->reach[d] = ar_max64(s->before[d], s->after[d]);
    if (s->before[d] < 0 || s->after[d] < 0 || s->reach[d] > INT32_MAX)
        return ar_fail(err, ARRAS_EINVAL,
                       "sweep: along axis %d the reach is %" PRId64 " before and %" PRId64
                       " after; both are numbers of cells, 0 or more",
                       d, s->before[d], s->after[d]);
    if ((unsigned)s->edges[d] >= ARRAS_EDGE_END)
        return ar_fail(err, ARRAS_EINVAL, "sweep: there is no rule number %d for axis %d",
                       (int)s->edges[d], d);
    if (s->edges[d] == ARRAS_EDGE_WRAP && s->reach[d] > 0)
        return ar_fail(err, ARRAS_EINVAL,
                       "sweep: axis %d cannot wrap: its first and last cells would wait for each "
                       "other; take nearest, mirror, reflect or constant",
                       d);
    return ARRAS_OK;
}

/* ---- Memory ---------------------------------------------------------------------------------- */

static arras_status take_buffer(const arras_sweeping *s, ar_sweep_array *a, const arras_buffer *b,
                                const char *what, arras_error *err)
{
    int last = s->rank - 1;

    ar_strides_dense(a->strides, s->rank, s->shape, a->size);
    if (b->strides)
        memcpy(a->strides, b->strides, (size_t)s->rank * sizeof *a->strides);
    a->origin = b->data;
    if (a->strides[last] == (int64_t)a->size || s->shape[last] <= 1)
        return ARRAS_OK;
    return ar_fail(err, ARRAS_EINVAL,
                   "sweep: cells of %s are %" PRId64
                   " bytes apart along the last axis and must be %zu; make a copy in C order",
                   what, a->strides[last], a->size);
}

/* The bytes from the first to the last of its cells. */
static void span_of(const arras_sweeping *s, const ar_sweep_array *a, uintptr_t *lo, uintptr_t *hi)
{
    *lo = (uintptr_t)a->origin;
    *hi = *lo + a->size;
    for (int d = 0; d < s->rank; d++)
        *(a->strides[d] < 0 ? lo : hi) += (uintptr_t)((s->shape[d] - 1) * a->strides[d]);
}

/* No two cells of the state may be the same bytes: each axis steps over all that is below it. */
static bool is_one_to_one(const arras_sweeping *s, const ar_sweep_array *a)
{
    int64_t  covered = (int64_t)a->size;
    uint64_t left = ((uint64_t)1 << s->rank) - 1;

    while (left) {
        int nearest = -1;

        for (int d = 0; d < s->rank; d++)
            if (left >> d & 1 && (nearest < 0 || llabs(a->strides[d]) < llabs(a->strides[nearest])))
                nearest = d;
        left &= ~((uint64_t)1 << nearest);
        if (s->shape[nearest] > 1 && llabs(a->strides[nearest]) < covered)
            return false;
        covered += (s->shape[nearest] - 1) * llabs(a->strides[nearest]);
    }
    return true;
}

static arras_status check_overlap(const arras_sweeping *s, arras_error *err)
{
    uintptr_t lo, hi, other_lo, other_hi;

    if (s->arrays[0].windowed || s->cells == 0)
        return ARRAS_OK;
    if (!is_one_to_one(s, &s->arrays[0]))
        return fail(err, ARRAS_EINVAL, "the strides of the state let cells share memory");
    span_of(s, &s->arrays[0], &lo, &hi);
    for (int i = 1; i < s->narrays; i++) {
        if (s->arrays[i].windowed)
            continue;
        span_of(s, &s->arrays[i], &other_lo, &other_hi);
        if (lo < other_hi && other_lo < hi)
            return ar_fail(err, ARRAS_EINVAL,
                           "sweep: companion %d lies in the memory of the state; make a copy", i);
    }
    return ARRAS_OK;
}

static arras_status take_array(arras_sweeping *s, int i, arras_error *err)
{
    const arras_sweep_request *r = &s->request;
    const arras_sweep_array   *given = i ? &r->companions[i - 1] : &r->start;
    const arras_buffer        *memory = i || !r->state.data ? &given->buffer : &r->state;
    ar_sweep_array            *a = &s->arrays[i];
    char                       what[32];

    snprintf(what, sizeof what, i ? "companion %d" : "the state", i);
    if (i)
        a->dtype = array_form(given).dtype;
    a->size = s->sizes[i] = arras_dtype_size(a->dtype);
    a->row_bytes = s->shape[0] ? s->cells / s->shape[0] * (int64_t)a->size : 0;
    if (given->fill)
        memcpy(a->fill, given->fill, a->size);
    a->source = i ? given->source : NULL;
    a->windowed = !memory->data || (i == 0 && r->sink);
    if (!a->windowed)
        return take_buffer(s, a, memory, what, err);
    ar_strides_dense(a->strides, s->rank, s->shape, a->size);
    return ARRAS_OK;
}

arras_status ar_sweep_check(arras_sweeping *s, arras_error *err)
{
    arras_status status = check_options(&s->request, err);

    if (status != ARRAS_OK)
        return status;
    s->narrays = 1 + s->request.ncompanions;
    s->arrays = ar_arena_alloc(&s->arena, (size_t)s->narrays, sizeof *s->arrays);
    s->sizes = ar_arena_alloc(&s->arena, (size_t)s->narrays, sizeof *s->sizes);
    if (!s->arrays || !s->sizes)
        return ar_fail_memory(err, (size_t)s->narrays * sizeof *s->arrays);
    status = take_form(s, err);
    if (status == ARRAS_OK)
        status = check_forms(s, err);
    for (int d = 0; d < s->rank && status == ARRAS_OK; d++)
        status = take_axis(s, d, err);
    for (int i = 0; i < s->narrays && status == ARRAS_OK; i++)
        status = take_array(s, i, err);
    return status == ARRAS_OK ? check_overlap(s, err) : status;
}
