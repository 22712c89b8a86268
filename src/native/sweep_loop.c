/* sweep_loop.c -- a job of sweeps from start to end: slab after slab, sweep after sweep. */
#include "native/sweep_job.h"

#include <math.h>

/* ---- One sweep ------------------------------------------------------------------------------- */

static int64_t step_of(const arras_sweeping *s)
{
    switch (s->request.order) {
    case ARRAS_SWEEP_REVERSE: return -1;
    case ARRAS_SWEEP_ALTERNATE: return s->report.sweeps % 2 ? -1 : 1;
    default: return 1;
    }
}

static arras_status sweep_rows(arras_sweeping *s, int64_t lo, int64_t hi, arras_error *err)
{
    arras_status status = ar_sweep_blocks_run(s, lo, hi, err);

    if (status == ARRAS_OK && atomic_load(&s->cancelled))
        return ar_fail(err, ARRAS_ECANCEL, "the sweep was cancelled");
    return status == ARRAS_OK ? ar_sweep_rows_store(s, lo, hi, err) : status;
}

/* Reads end where chunks end, so what can be swept ends `reach` rows before. */
static arras_status sweep_down(arras_sweeping *s, arras_error *err)
{
    int64_t      rows = s->shape[0], reach = s->reach[0], done = 0;
    arras_status status = ARRAS_OK;

    for (int64_t read = 0; read < rows && status == ARRAS_OK;) {
        read = ar_min64(rows, read + s->slab);

        int64_t end = read == rows ? rows : read - reach;

        if (end <= done)
            continue;
        status = ar_sweep_rows_fetch(s, ar_max64(0, done - reach), read, err);
        if (status == ARRAS_OK)
            status = sweep_rows(s, done, end, err);
        done = end;
    }
    return status;
}

static arras_status sweep_up(arras_sweeping *s, arras_error *err)
{
    int64_t      rows = s->shape[0], reach = s->reach[0], done = rows;
    arras_status status = ARRAS_OK;

    for (int64_t read = rows; read > 0 && status == ARRAS_OK;) {
        read = (read - 1) / s->slab * s->slab;

        int64_t end = read == 0 ? 0 : read + reach;

        if (end >= done)
            continue;
        status = ar_sweep_rows_fetch(s, read, ar_min64(rows, done + reach), err);
        if (status == ARRAS_OK)
            status = sweep_rows(s, end, done, err);
        done = end;
    }
    return status;
}

/* ---- The loop -------------------------------------------------------------------------------- */

static void take_stock(arras_sweeping *s)
{
    arras_sweep_report *r = &s->report;

    r->sweeps++;
    r->changes = 0;
    r->largest = 0;
    for (int i = 0; i < s->nworkers; i++) {
        ar_sweep_worker *w = &s->workers[i];

        r->changes += w->changes;
        r->largest = fmax(r->largest, w->largest);
        w->changes = 0;
        w->largest = 0;
    }
    r->changed += r->changes;
    r->converged = r->changes == 0;
    if (s->request.tolerance > 0 || s->request.change)
        r->converged = r->largest <= s->request.tolerance;
}

static arras_status sweep_once(arras_sweeping *s, arras_error *err)
{
    arras_status status = ARRAS_OK;

    atomic_store(&s->progress, 0);
    s->step = step_of(s);
    if (s->cells > 0)
        status = s->step > 0 ? sweep_down(s, err) : sweep_up(s, err);
    if (status == ARRAS_OK)
        take_stock(s);
    return status;
}

static bool is_over(const arras_sweeping *s)
{
    const arras_sweep_request *r = &s->request;

    if (r->watch && !r->watch(&s->report, r->context))
        return true;
    return s->report.converged || s->report.sweeps == r->most;
}

static arras_status sweep_all(arras_sweeping *s, arras_error *err)
{
    arras_status status = ar_sweep_rows_begin(s, err);
    bool         over = false;

    while (!over && status == ARRAS_OK) {
        status = sweep_once(s, err);
        if (status == ARRAS_OK)
            over = is_over(s);
    }
    return status == ARRAS_OK ? ar_sweep_rows_deliver(s, err) : status;
}

arras_status ar_sweeping_run(arras_sweep_report *report, arras_sweeping *s, arras_error *err)
{
    arras_status status;

    if (s->ran)
        return ar_fail(err, ARRAS_EINVAL, "sweep: this one has run already; open another");
    s->ran = true;
    status = sweep_all(s, err);
    if (status == ARRAS_OK && report)
        *report = s->report;
    return status;
}

/* ---- Beginning and end ----------------------------------------------------------------------- */

static arras_status make_workers(arras_sweeping *s, arras_error *err)
{
    arras_status status = ARRAS_OK;

    s->workers = ar_arena_alloc(&s->arena, (size_t)s->threads, sizeof *s->workers);
    if (!s->workers)
        return ar_fail_memory(err, (size_t)s->threads * sizeof *s->workers);
    s->nworkers = s->threads;
    for (int i = 0; i < s->nworkers && status == ARRAS_OK; i++)
        status = ar_sweep_worker_make(s, &s->workers[i], err);
    return status;
}

static arras_status prepare(arras_sweeping *s, const ar_sweep_tuning *tuning, arras_error *err)
{
    arras_status status = ar_sweep_check(s, err);

    if (status == ARRAS_OK)
        status = ar_pool_shared(&s->pool, s->request.threads, err);
    if (status != ARRAS_OK)
        return status;
    s->threads = s->hands = ar_pool_threads(s->pool);
    status = ar_sweep_rows_plan(s, tuning ? tuning->slab : 0, err);
    if (status == ARRAS_OK)
        status = ar_sweep_blocks_plan(s, tuning, err);
    if (status == ARRAS_OK)
        status = ar_sweep_patch_plan(s, err);
    return status == ARRAS_OK ? make_workers(s, err) : status;
}

arras_status ar_sweeping_open(arras_sweeping **out, const arras_sweep_request *request,
                              const ar_sweep_tuning *tuning, arras_error *err)
{
    arras_sweeping *s = ar_alloc(1, sizeof *s);
    arras_status    status;

    if (!s)
        return ar_fail_memory(err, sizeof *s);
    s->request = *request;
    s->spill = -1;
    status = prepare(s, tuning, err);
    if (status == ARRAS_OK)
        *out = s;
    else
        ar_sweeping_close(s);
    return status;
}

void ar_sweeping_close(arras_sweeping *s)
{
    ar_taskgraph_free(s->tasks);
    ar_pool_free(s->pool);
    ar_sweep_rows_free(s);
    ar_arena_free(&s->arena);
    ar_free(s);
}

void ar_sweeping_cancel(arras_sweeping *s)
{
    atomic_store(&s->cancelled, true);
    atomic_store(&s->stopped, true);
}

double ar_sweeping_progress(const arras_sweeping *s)
{
    int64_t done = atomic_load(&s->progress);

    return s->cells > 0 ? (double)done / (double)s->cells : 0;
}
