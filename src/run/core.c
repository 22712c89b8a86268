/* core.c -- a plan becomes callable: its kernels are built and found. */
#include "run/program.h"

#include <stdio.h>
#include <string.h>

static char *keep_text(ar_arena *arena, const char *text, size_t length)
{
    char *kept = ar_arena_alloc(arena, length + 1, 1);

    if (kept)
        memcpy(kept, text, length);
    return kept;
}

/* ---- Kernels --------------------------------------------------------------------------------- */

static arras_status find_kernels(ar_core *core, arras_error *err)
{
    char name[32];

    for (int code = 0; code < core->plan.ncodes; code++) {
        snprintf(name, sizeof name, "ar_kernel_%d", code);
        for (int m = 0; m < core->nmodules && !core->kernels[code]; m++)
            *(void **)&core->kernels[code] = ar_module_symbol(core->modules[m], name);
        if (!core->kernels[code])
            return ar_fail(err, ARRAS_EBUILD, "the module that was built has no function %s", name);
    }
    return ARRAS_OK;
}

/* One translation unit of several. */
typedef struct {
    const ar_build_options *options;
    const ar_text          *source;
    ar_module              *module;
    arras_status            status;
    arras_error             error;
    pthread_t               thread;
    bool                    started;
} unit;

static void *build_unit(void *context)
{
    unit *u = context;

    u->status =
        ar_build_open(&u->module, u->options, u->source->data, u->source->length, &u->error);
    return NULL;
}

/* The first by the caller, each other one by a thread of its own; compilers run at the same time.
 */
static arras_status build_units(ar_core *core, unit *units, int n, arras_error *err)
{
    arras_status status = ARRAS_OK;

    for (int i = 1; i < n; i++)
        units[i].started = ar_thread_start(&units[i].thread, build_unit, &units[i]);
    for (int i = 0; i < n; i++)
        if (!units[i].started)
            build_unit(&units[i]);
    for (int i = 0; i < n; i++) {
        if (units[i].started)
            pthread_join(units[i].thread, NULL);
        core->modules[i] = units[i].module;
        if (status == ARRAS_OK && units[i].status != ARRAS_OK)
            status = ar_fail(err, units[i].status, "%s", units[i].error.text);
    }
    return status;
}

static arras_status build(ar_core *core, const ar_core_parts *parts, arras_error *err)
{
    ar_build_options         options = { .compiler = parts->compiler,
                                         .cache = parts->cache,
                                         .no_cache = parts->no_cache,
                                         .unlinked = true,
                                         .libraries = ar_c_libraries() };
    static const char *const quick_flags[] = { "-O1", "-fno-tree-vectorize", NULL };
    ar_build_options         quick = options;
    unit                    *units = ar_alloc((size_t)parts->nsources, sizeof *units);
    int64_t                  start = ar_clock();
    ar_build_stats           before, after;
    arras_status             status;

    if (!units)
        return ar_fail_memory(err, (size_t)parts->nsources * sizeof *units);
    quick.flags = quick_flags;
    for (int i = 0; i < parts->nsources; i++)
        units[i] = (unit){ .options = parts->sources[i].in_vectors ? &quick : &options,
                           .source = &parts->sources[i].text };
    ar_build_stats_read(&before);
    status = build_units(core, units, parts->nsources, err);
    ar_build_stats_read(&after);
    core->build_ns = ar_clock() - start;
    core->from_disk = after.disk_hits > before.disk_hits;
    ar_free(units);
    return status == ARRAS_OK ? find_kernels(core, err) : status;
}

/* ---- Who reads what -------------------------------------------------------------------------- */

static void find_readers(ar_core *core)
{
    for (int a = 0; a < core->plan.narrays; a++)
        core->sole_reader[a] = -1;
    for (int s = 0; s < core->plan.nsteps; s++) {
        const ar_step *step = &core->plan.steps[s];

        core->may_fault = core->may_fault || step->may_fault;
        for (int k = 0; k < step->ninputs; k++) {
            int *reader = &core->sole_reader[step->inputs[k]];

            *reader = *reader == -1 || *reader == s ? s : -2;
        }
    }
    for (int i = 0; i < core->plan.ncopies; i++)
        core->copied[core->plan.copies[i].array] = true;
}

static arras_status make_room(ar_core *core, const ar_core_parts *parts, arras_error *err)
{
    size_t arrays = (size_t)core->plan.narrays;

    core->kernels = ar_arena_alloc(&core->arena, (size_t)core->plan.ncodes, sizeof *core->kernels);
    core->sole_reader = ar_arena_alloc(&core->arena, arrays, sizeof *core->sole_reader);
    core->copied = ar_arena_alloc(&core->arena, arrays, sizeof *core->copied);
    core->modules = ar_arena_alloc(&core->arena, (size_t)parts->nsources, sizeof *core->modules);
    core->sources = ar_arena_alloc(&core->arena, (size_t)parts->nsources, sizeof *core->sources);
    core->data_index =
        ar_arena_copy(&core->arena, parts->data_index, (size_t)parts->ndata, sizeof(int));
    if (!core->kernels || !core->sole_reader || !core->copied || !core->modules || !core->sources ||
        !core->data_index)
        return ar_fail_memory(err, arrays * sizeof *core->sole_reader);
    for (int i = 0; i < parts->nsources; i++) {
        const ar_text *source = &parts->sources[i].text;

        core->sources[i] = keep_text(&core->arena, source->data, source->length);
        if (!core->sources[i])
            return ar_fail_memory(err, source->length);
    }
    core->nmodules = parts->nsources;
    return ARRAS_OK;
}

/* ---- All of it ------------------------------------------------------------------------------- */

arras_status ar_core_new(ar_core **out, ar_core_parts *parts, arras_error *err)
{
    ar_core     *core = ar_alloc(1, sizeof *core);
    arras_status status;

    if (!core) {
        ar_plan_free(&parts->plan);
        ar_graph_free(parts->optimised);
        parts->release_notes(parts->notes);
        return ar_fail_memory(err, sizeof *core);
    }
    atomic_init(&core->kept, 1);
    core->plan = parts->plan;
    core->optimised = parts->optimised;
    core->notes = parts->notes;
    core->release_notes = parts->release_notes;
    core->ndata = parts->ndata;
    core->nodes = parts->nodes;
    core->optimise_ns = parts->optimise_ns;
    core->plan_ns = parts->plan_ns;
    core->generate_ns = parts->generate_ns;
    status = make_room(core, parts, err);
    if (status == ARRAS_OK)
        status = build(core, parts, err);
    if (status == ARRAS_OK) {
        find_readers(core);
        *out = core;
    } else {
        ar_core_release(core);
    }
    return status;
}

ar_core *ar_core_retain(ar_core *core)
{
    atomic_fetch_add(&core->kept, 1);
    return core;
}

void ar_core_release(ar_core *core)
{
    if (!core || atomic_fetch_sub(&core->kept, 1) > 1)
        return;
    for (int i = 0; i < core->nmodules; i++)
        ar_module_close(core->modules[i]);
    ar_plan_free(&core->plan);
    ar_graph_free(core->optimised);
    core->release_notes(core->notes);
    ar_arena_free(&core->arena);
    ar_free(core);
}

void ar_core_source(ar_text *out, const ar_core *core)
{
    for (int i = 0; i < core->nmodules; i++)
        ar_text_add(out, core->sources[i]);
}

const ar_plan *ar_core_plan(const ar_core *core) { return &core->plan; }

const void *ar_core_notes(const ar_core *core) { return core->notes; }

const int *ar_core_data(int *n, const ar_core *core)
{
    *n = core->ndata;
    return core->data_index;
}
