/* programs.c -- a compiled program: its cores, its instances, what it counts. */
#include "run/program.h"

#include <string.h>

/* Besides the first: a program of many inputs could have very many. */
enum { MOST_VARIANTS = 8 };

/* ---- Variants: one core for each layout of the inputs ---------------------------------------- */

static bool same_layout(const arras_program *p, const ar_variant *v, const bool *dense)
{
    return memcmp(v->dense, dense, (size_t)ar_graph_input_count(p->g) * sizeof *dense) == 0;
}

static void variant_free(ar_variant *v)
{
    for (int a = 0; v->constants && a < v->core->plan.narrays; a++)
        ar_buffer_give(v->constants[a]);
    ar_core_release(v->core);
    ar_free(v->constants);
    ar_free(v->dense);
    ar_free(v);
}

/* Takes the core over on success. */
static arras_status variant_add(ar_variant **out, arras_program *p, ar_core *core,
                                const bool *dense, arras_error *err)
{
    size_t      inputs = (size_t)ar_graph_input_count(p->g);
    ar_variant *v = ar_alloc(1, sizeof *v), **last = &p->variants;

    if (v) {
        v->dense = ar_alloc(inputs, sizeof *v->dense);
        v->constants = ar_alloc((size_t)core->plan.narrays, sizeof *v->constants);
    }
    if (!v || !v->dense || !v->constants) {
        ar_free(v ? v->dense : NULL);
        ar_free(v ? v->constants : NULL);
        ar_free(v);
        return ar_fail_memory(err, sizeof *v + inputs);
    }
    for (size_t i = 0; i < inputs; i++)
        v->dense[i] = dense ? dense[i] : true;
    v->core = core;
    while (*last)
        last = &(*last)->next;
    *last = v;
    *out = v;
    return ARRAS_OK;
}

/* Where there can be no kernels for a layout the first variant has to do, with copies in C order.
 */
static arras_status make_variant(ar_variant **out, arras_program *p, const bool *dense,
                                 arras_error *err)
{
    ar_core     *core = NULL;
    arras_error  why;
    arras_status status = p->maker(&core, p->context, dense, &why);

    if (status == ARRAS_EBUILD || status == ARRAS_ELIMIT) {
        p->variants_left = 0;
        *out = p->variants;
        return ARRAS_OK;
    }
    if (status != ARRAS_OK) {
        if (err)
            *err = why;
        return status;
    }
    status = variant_add(out, p, core, dense, err);
    if (status == ARRAS_OK)
        p->variants_left--;
    else
        ar_core_release(core);
    return status;
}

arras_status ar_program_variant(ar_variant **out, arras_program *p, const bool *dense,
                                arras_error *err)
{
    arras_status status = ARRAS_OK;

    pthread_mutex_lock(&p->lock);
    for (*out = p->variants; *out && !same_layout(p, *out, dense);)
        *out = (*out)->next;
    if (!*out && p->variants_left > 0)
        status = make_variant(out, p, dense, err);
    else if (!*out)
        *out = p->variants;
    pthread_mutex_unlock(&p->lock);
    return status;
}

/* ---- New and free ---------------------------------------------------------------------------- */

static arras_status copy_parts(arras_program *p, const ar_program_parts *parts, arras_error *err)
{
    size_t length = parts->warning ? strlen(parts->warning) + 1 : 0;

    p->data = ar_alloc((size_t)parts->ndata, sizeof *p->data);
    p->warning = parts->warning ? ar_alloc(1, length) : NULL;
    if (!p->data || (parts->warning && !p->warning))
        return ar_fail_memory(err, (size_t)parts->ndata * sizeof *p->data + length);
    if (parts->ndata)
        memcpy(p->data, parts->data, (size_t)parts->ndata * sizeof *p->data);
    if (parts->warning)
        memcpy(p->warning, parts->warning, length);
    return ARRAS_OK;
}

static arras_status open_program(arras_program *p, const ar_program_parts *parts, arras_error *err)
{
    ar_variant  *first;
    arras_status status = copy_parts(p, parts, err);

    if (status == ARRAS_OK)
        status = ar_pool_shared(&p->pool, parts->threads, err);
    if (status == ARRAS_OK && parts->core)
        status = variant_add(&first, p, parts->core, NULL, err);
    if (status == ARRAS_OK)
        p->threads = ar_pool_threads(p->pool);
    return status;
}

arras_status ar_program_new(arras_program **out, const ar_program_parts *parts, arras_error *err)
{
    arras_program *p = ar_alloc(1, sizeof *p);
    arras_status   status;

    if (!p)
        return ar_fail_memory(err, sizeof *p);
    p->g = parts->g;
    ar_graph_keep(p->g);
    p->tile_bytes = parts->tile_bytes;
    p->from_memory = parts->from_memory;
    p->variants_left = MOST_VARIANTS;
    pthread_mutex_init(&p->lock, NULL);
    status = open_program(p, parts, err);
    if (status == ARRAS_OK) { /* only now are these its own */
        p->maker = parts->maker;
        p->context = parts->context;
        p->release = parts->release;
        *out = p;
    } else {
        ar_program_free(p);
    }
    return status;
}

void ar_program_free(arras_program *p)
{
    if (!p)
        return;
    while (p->runs) {
        arras_run *next = p->runs->next;

        ar_instance_end(p->runs);
        ar_instance_free(p->runs);
        p->runs = next;
    }
    while (p->variants) {
        ar_variant *next = p->variants->next;

        variant_free(p->variants);
        p->variants = next;
    }
    if (p->release)
        p->release(p->context);
    ar_pool_free(p->pool);
    pthread_mutex_destroy(&p->lock);
    ar_free(p->data);
    ar_free(p->warning);
    ar_graph_free((arras_graph *)(uintptr_t)p->g);
    ar_free(p);
}

const char *ar_program_warning(const arras_program *p) { return p->warning; }

const ar_core *ar_program_core(const arras_program *p)
{
    return p->variants ? p->variants->core : NULL;
}

/* ---- Counters and pictures ------------------------------------------------------------------- */

static arras_program *unlocked(const arras_program *p) { return (arras_program *)(uintptr_t)p; }

void ar_program_counters(arras_counters *out, const arras_program *p)
{
    const ar_core *core = ar_program_core(p);

    pthread_mutex_lock(&unlocked(p)->lock);
    *out = p->counters;
    if (p->runs && p->runs->tasks) {
        out->tasks = ar_taskgraph_count(p->runs->tasks);
        out->edges = ar_taskgraph_edges(p->runs->tasks);
        out->temporaries = p->runs->memory.sum;
        out->planned = p->runs->memory.bytes;
        out->live = p->runs->memory.live;
        out->bytes_moved = p->runs->bytes_moved;
    }
    pthread_mutex_unlock(&unlocked(p)->lock);
    out->from_memory = p->from_memory;
    if (!core)
        return;
    out->nodes = core->nodes;
    out->kernels = core->plan.ncodes;
    if (p->from_memory)
        return;
    out->optimise_ns = core->optimise_ns;
    out->plan_ns = core->plan_ns;
    out->generate_ns = core->generate_ns;
    out->build_ns = core->build_ns;
    out->from_disk = core->from_disk;
}

bool ar_program_sizes(int64_t *sizes, const arras_program *p)
{
    const ar_core *core = ar_program_core(p);
    bool           known;

    pthread_mutex_lock(&unlocked(p)->lock);
    known = p->runs && p->runs->sizes;
    if (known)
        memcpy(sizes, p->runs->sizes, (size_t)ar_size_count(core->optimised) * sizeof *sizes);
    pthread_mutex_unlock(&unlocked(p)->lock);
    return known;
}

arras_status ar_program_trace(arras_program *p, bool on, arras_error *err)
{
    (void)err;
    atomic_store(&p->tracing, on);
    return ARRAS_OK;
}

/* The lock is held: a run that is idle stays so. */
static arras_status draw(ar_text *out, const arras_program *p, arras_program_text form,
                         arras_error *err)
{
    const arras_run *run = p->runs;
    int             *codes;

    while (run && run->busy)
        run = run->next;
    if (!run)
        return ar_fail(err, ARRAS_EINVAL, "the program has no tasks to show: launch it first%s%s",
                       p->warning ? "; " : "", p->warning ? p->warning : "");
    if (form == ARRAS_PROGRAM_TRACE && !run->trace)
        return ar_fail(err, ARRAS_EINVAL,
                       "the last launch was not traced: call arras_program_trace before it");
    codes = ar_alloc((size_t)run->nsteps + 1, sizeof *codes);
    if (!codes)
        return ar_fail_memory(err, (size_t)run->nsteps * sizeof *codes);
    for (int s = 0; s < run->nsteps; s++)
        codes[s] =
            run->core->plan.steps[s].scan ? run->core->plan.ncodes : run->core->plan.steps[s].code;
    codes[run->nsteps] = run->core->plan.ncodes;
    if (form == ARRAS_PROGRAM_DOT)
        ar_taskgraph_dot(out, run->tasks, codes);
    else
        ar_trace_print(out, run->tasks, run->trace, NULL);
    ar_free(codes);
    return ARRAS_OK;
}

arras_status ar_program_picture(ar_text *out, const arras_program *p, arras_program_text form,
                                arras_error *err)
{
    arras_status status;

    pthread_mutex_lock(&unlocked(p)->lock);
    status = draw(out, p, form, err);
    pthread_mutex_unlock(&unlocked(p)->lock);
    return status;
}
