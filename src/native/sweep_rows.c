/* sweep_rows.c -- rows of arrays that are in files: windows, the file between sweeps, the sink. */
#include "native/sweep_job.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* ---- How many rows fit ----------------------------------------------------------------------- */

/* Bytes of a row of all windows; *hand: what a thread has in hand while it decodes, or encodes;
 * *chunk: rows of the highest chunk. */
static int64_t count_bytes(const arras_sweeping *s, int64_t *hand, int64_t *chunk)
{
    const ar_sink *sink = s->request.sink;
    int64_t        bytes = 0;

    *hand = sink && sink->info.chunked ? ar_sink_in_hand(sink) : 0;
    *chunk = 1;
    for (int i = 0; i < s->narrays; i++) {
        const ar_sweep_array *a = &s->arrays[i];
        const ar_source      *source = i ? a->source : s->request.start.source;

        if (!a->windowed)
            continue;
        if (!ar_add64(&bytes, bytes, a->row_bytes))
            bytes = INT64_MAX - INT64_MAX / 2;
        if (!source || !source->info.chunked)
            continue;
        *hand = ar_max64(*hand, ar_source_in_hand(source));
        *chunk = ar_max64(*chunk, source->info.chunk[0]);
    }
    return bytes;
}

static arras_status choose_slab(arras_sweeping *s, arras_error *err)
{
    int64_t memory = s->request.memory ? s->request.memory : ar_memory_fair(), hand, chunk;
    int64_t bytes = count_bytes(s, &hand, &chunk), besides, rows, least;

    s->hands = ar_scratches_within(memory / 4, hand, s->threads);
    besides = s->hands * hand;
    if (bytes == 0) {
        s->slab = s->shape[0];
        return ARRAS_OK;
    }
    rows = ar_max64(0, memory - besides) / bytes;
    if (rows >= s->shape[0]) {
        s->slab = s->shape[0];
        return ARRAS_OK;
    }
    s->slab = rows - 2 * s->reach[0];
    if (s->slab > chunk) /* then no chunk is decoded twice in a sweep */
        s->slab -= s->slab % chunk;
    if (s->slab >= 1)
        return ARRAS_OK;
    if (s->hands > 1) {
        s->hands = 1; /* chunks one by one leave room for more rows */
        s->slab = ar_max64(0, memory - hand) / bytes - 2 * s->reach[0];
        if (s->slab >= 1)
            return ARRAS_OK;
    }
    least = ar_min64(s->shape[0], 1 + 2 * s->reach[0]);
    if (!ar_mul64(&least, least, bytes) || !ar_add64(&least, least, hand))
        least = INT64_MAX;
    return ar_fail(err, ARRAS_ELIMIT,
                   "sweep: %" PRId64 " bytes of memory are not enough: a row of %" PRId64
                   " bytes with all in its reach, and a chunk on its way, need %" PRId64,
                   memory, bytes, least);
}

arras_status ar_sweep_rows_plan(arras_sweeping *s, int64_t slab, arras_error *err)
{
    arras_status status = ARRAS_OK;
    int64_t      rows;

    s->slab = slab;
    if (slab == 0)
        status = choose_slab(s, err);
    s->slab = ar_max64(1, ar_min64(s->slab, s->shape[0]));
    s->whole = s->slab == s->shape[0];
    rows = s->whole ? s->slab : s->slab + 2 * s->reach[0];
    for (int i = 0; i < s->narrays && status == ARRAS_OK; i++) {
        ar_sweep_array *a = &s->arrays[i];
        int64_t         bytes = ar_max64(1, a->row_bytes);

        if (!a->windowed)
            continue;
        a->window = ar_mul64(&bytes, bytes, rows) ? ar_alloc((size_t)bytes, 1) : NULL;
        if (!a->window)
            status = ar_fail_memory(err, (size_t)bytes);
    }
    return status;
}

void ar_sweep_rows_free(arras_sweeping *s)
{
    for (int i = 0; s->arrays && i < s->narrays; i++) {
        ar_free(s->arrays[i].window);
        s->arrays[i].window = NULL;
    }
    if (s->spill >= 0)
        close(s->spill);
    s->spill = -1;
}

/* ---- The file between sweeps ----------------------------------------------------------------- */

/* It has no name as soon as it is open, so nothing is left of it whatever happens. */
static arras_status open_spill(arras_sweeping *s, arras_error *err)
{
    const char  *folder = getenv("TMPDIR");
    ar_text      path = { 0 };
    arras_status status = ARRAS_OK;

    ar_text_printf(&path, "%s/arras-sweep-XXXXXX", folder && *folder ? folder : "/tmp");
    if (path.failed) {
        ar_text_free(&path);
        return ar_fail_memory(err, 64);
    }
    s->spill = mkstemp(path.data);
    if (s->spill < 0)
        status = ar_fail(err, ARRAS_EIO,
                         "sweep: cannot make the file %s for the state between sweeps: %s; set "
                         "TMPDIR, or allow more memory",
                         path.data, strerror(errno));
    else
        unlink(path.data);
    ar_text_free(&path);
    return status;
}

static arras_status fail_spill(const char *what, ssize_t did, arras_error *err)
{
    return ar_fail(err, ARRAS_EIO,
                   "sweep: cannot %s the file for the state between sweeps (in $TMPDIR, or /tmp): "
                   "%s",
                   what, did < 0 ? strerror(errno) : "it ends too early");
}

static arras_status write_spill(const arras_sweeping *s, const char *bytes, int64_t count,
                                int64_t at, arras_error *err)
{
    while (count > 0) {
        int64_t did = ar_write_some(s->spill, bytes, count, at);

        if (did <= 0)
            return fail_spill("write", -1, err);
        bytes += did;
        at += did;
        count -= did;
    }
    return ARRAS_OK;
}

static arras_status read_spill(const arras_sweeping *s, char *bytes, int64_t count, int64_t at,
                               arras_error *err)
{
    while (count > 0) {
        ssize_t did = pread(s->spill, bytes, (size_t)count, (off_t)at);

        if (did < 0 && errno == EINTR)
            continue;
        if (did <= 0)
            return fail_spill("read", did, err);
        bytes += did;
        at += did;
        count -= did;
    }
    return ARRAS_OK;
}

/* ---- Windows --------------------------------------------------------------------------------- */

static void row_box(const arras_sweeping *s, ar_box *box, int64_t lo, int64_t hi)
{
    *box = (ar_box){ .rank = s->rank };
    memcpy(box->hi, s->shape, sizeof box->hi);
    box->lo[0] = lo;
    box->hi[0] = hi;
}

/* Rows of the state as it begins, to where cell [0, 0, ...] would be at `origin`. */
static arras_status load_start(const arras_sweeping *s, int64_t lo, int64_t hi, char *origin,
                               arras_error *err)
{
    const arras_sweep_array *start = &s->request.start;
    const ar_sweep_array    *state = &s->arrays[0];
    static const char        zeros[16];
    const int64_t            still[ARRAS_MAX_RANK] = { 0 };
    int64_t                  dense[ARRAS_MAX_RANK];
    ar_box                   box;

    row_box(s, &box, lo, hi);
    if (start->source)
        return ar_source_read(start->source, box.lo, box.hi,
                              ar_sweep_at(origin, lo * state->strides[0]), state->strides, s->hands,
                              err);
    ar_strides_dense(dense, s->rank, s->shape, state->size);
    if (start->buffer.data)
        ar_box_copy(&box, state->size, origin, state->strides, start->buffer.data,
                    start->buffer.strides ? start->buffer.strides : dense);
    else if (state->windowed)
        memset(ar_sweep_at(origin, lo * state->row_bytes), 0,
               (size_t)((hi - lo) * state->row_bytes));
    else
        ar_box_copy(&box, state->size, origin, state->strides, zeros, still);
    return ARRAS_OK;
}

arras_status ar_sweep_rows_begin(arras_sweeping *s, arras_error *err)
{
    const ar_sweep_array *state = &s->arrays[0];

    if (state->windowed || state->origin == s->request.start.buffer.data || s->cells == 0)
        return ARRAS_OK;
    return load_start(s, 0, s->shape[0], state->origin, err);
}

static arras_status load_rows(const arras_sweeping *s, int i, int64_t lo, int64_t hi,
                              arras_error *err)
{
    const ar_sweep_array *a = &s->arrays[i];
    ar_box                box;

    if (lo >= hi || a->row_bytes == 0)
        return ARRAS_OK;
    if (i == 0 && s->report.sweeps == 0)
        return load_start(s, lo, hi, a->origin, err);
    if (i == 0)
        return read_spill(s, ar_sweep_at(a->origin, lo * a->row_bytes), (hi - lo) * a->row_bytes,
                          lo * a->row_bytes, err);
    row_box(s, &box, lo, hi);
    return ar_source_read(a->source, box.lo, box.hi, ar_sweep_at(a->origin, lo * a->row_bytes),
                          NULL, s->hands, err);
}

/* What is in the window already is moved, the rest is read. */
static arras_status fetch(arras_sweeping *s, int i, int64_t lo, int64_t hi, arras_error *err)
{
    ar_sweep_array *a = &s->arrays[i];
    int64_t         kept_lo = ar_max64(lo, a->lo), kept_hi = ar_min64(hi, a->hi);
    arras_status    status;

    if (kept_lo >= kept_hi)
        kept_lo = kept_hi = lo;
    else
        memmove(a->window + (kept_lo - lo) * a->row_bytes,
                a->window + (kept_lo - a->lo) * a->row_bytes,
                (size_t)((kept_hi - kept_lo) * a->row_bytes));
    a->lo = lo;
    a->hi = hi;
    a->origin = ar_sweep_at(a->window, -lo * a->row_bytes);
    status = load_rows(s, i, lo, kept_lo, err);
    return status == ARRAS_OK ? load_rows(s, i, kept_hi, hi, err) : status;
}

arras_status ar_sweep_rows_fetch(arras_sweeping *s, int64_t lo, int64_t hi, arras_error *err)
{
    arras_status status = ARRAS_OK;

    for (int i = 0; i < s->narrays && status == ARRAS_OK; i++)
        if (s->arrays[i].windowed)
            status = fetch(s, i, lo, hi, err);
    return status;
}

arras_status ar_sweep_rows_store(arras_sweeping *s, int64_t lo, int64_t hi, arras_error *err)
{
    const ar_sweep_array *state = &s->arrays[0];
    arras_status          status = ARRAS_OK;

    if (!state->windowed || s->whole)
        return ARRAS_OK;
    if (s->spill < 0)
        status = open_spill(s, err);
    if (status != ARRAS_OK)
        return status;
    return write_spill(s, ar_sweep_at(state->origin, lo * state->row_bytes),
                       (hi - lo) * state->row_bytes, lo * state->row_bytes, err);
}

/* ---- The sink -------------------------------------------------------------------------------- */

static arras_status read_box(void *context, const ar_box *box, char *to, arras_error *err)
{
    const arras_sweeping *s = context;
    const ar_sweep_array *state = &s->arrays[0];
    int                   last = s->rank - 1;
    int64_t               at[ARRAS_MAX_RANK], run = box->hi[last] - box->lo[last];
    arras_status          status = ARRAS_OK;

    memcpy(at, box->lo, sizeof at);
    for (int d = 0; d >= 0 && status == ARRAS_OK;) {
        int64_t from = 0;

        for (d = 0; d < s->rank; d++)
            from += at[d] * state->strides[d];
        status = read_spill(s, to, run * (int64_t)state->size, from, err);
        to += run * (int64_t)state->size;
        for (d = last - 1; d >= 0 && ++at[d] == box->hi[d]; d--)
            at[d] = box->lo[d];
    }
    return status;
}

/* Windows are no longer needed, so their memory may be used again. */
static arras_status deliver_spill(arras_sweeping *s, arras_error *err)
{
    for (int i = 0; i < s->narrays; i++) {
        ar_free(s->arrays[i].window);
        s->arrays[i].window = NULL;
    }
    return ar_sink_write_all(s->request.sink, s->slab * s->arrays[0].row_bytes, s->hands, read_box,
                             s, err);
}

arras_status ar_sweep_rows_deliver(arras_sweeping *s, arras_error *err)
{
    const int64_t zero[ARRAS_MAX_RANK] = { 0 };

    if (!s->request.sink || s->cells == 0)
        return ARRAS_OK;
    if (!s->whole)
        return deliver_spill(s, err);
    return ar_sink_write(s->request.sink, zero, s->shape, s->arrays[0].window, NULL, s->hands, err);
}
