/* core.c -- a plan becomes callable: its kernels are built and found. */
#include "run/program.h"

#include <stdio.h>
#include <string.h>
#include <time.h>

static int64_t now_ns(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return t.tv_sec * INT64_C(1000000000) + t.tv_nsec;
}

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
        *(void **)&core->kernels[code] = ar_module_symbol(core->module, name);
        if (!core->kernels[code])
            return ar_fail(err, ARRAS_EBUILD, "the module that was built has no function %s", name);
    }
    return ARRAS_OK;
}

static arras_status build(ar_core *core, const ar_core_parts *parts, arras_error *err)
{
    ar_build_options options = { .compiler = parts->compiler,
                                 .cache = parts->cache,
                                 .no_cache = parts->no_cache,
                                 .libraries = ar_c_libraries() };
    ar_build_stats   before, after;
    int64_t          start = now_ns();
    arras_status     status;

    if (core->plan.ncodes == 0)
        return ARRAS_OK;
    ar_build_stats_read(&before);
    status = ar_build_open(&core->module, &options, parts->source, parts->length, err);
    ar_build_stats_read(&after);
    core->build_ns = now_ns() - start;
    core->from_disk = after.disk_hits > before.disk_hits;
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

    core->kernels =
        ar_arena_alloc(&core->arena, (size_t)core->plan.ncodes, sizeof *core->kernels);
    core->sole_reader = ar_arena_alloc(&core->arena, arrays, sizeof *core->sole_reader);
    core->copied = ar_arena_alloc(&core->arena, arrays, sizeof *core->copied);
    core->source = keep_text(&core->arena, parts->source, parts->length);
    core->data_index =
        ar_arena_copy(&core->arena, parts->data_index, (size_t)parts->ndata, sizeof(int));
    if (core->kernels && core->sole_reader && core->copied && core->source && core->data_index)
        return ARRAS_OK;
    return ar_fail_memory(err, arrays * sizeof *core->sole_reader + parts->length);
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
        ar_core_drop(core);
    }
    return status;
}

ar_core *ar_core_keep(ar_core *core)
{
    atomic_fetch_add(&core->kept, 1);
    return core;
}

void ar_core_drop(ar_core *core)
{
    if (!core || atomic_fetch_sub(&core->kept, 1) > 1)
        return;
    ar_module_close(core->module);
    ar_plan_free(&core->plan);
    ar_graph_free(core->optimised);
    core->release_notes(core->notes);
    ar_arena_free(&core->arena);
    ar_free(core);
}

const char *ar_core_source(const ar_core *core) { return core->source; }

const ar_plan *ar_core_plan(const ar_core *core) { return &core->plan; }

const void *ar_core_notes(const ar_core *core) { return core->notes; }

const int *ar_core_data(int *n, const ar_core *core)
{
    *n = core->ndata;
    return core->data_index;
}
