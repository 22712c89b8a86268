/* compile.c -- the map of compilation: optimise, plan, generate, build; every stage called once, in
 * order. */
#include "compile/compile.h"
#include "compile/core_cache.h"
#include "compile/program_cache.h"

#include <stdio.h>
#include <string.h>

/* ---- Recipes --------------------------------------------------------------------------------- */

static char *copy_string(const char *string)
{
    size_t length = strlen(string) + 1;
    char  *copy = ar_alloc(1, length);

    if (copy)
        memcpy(copy, string, length);
    return copy;
}

static bool copy_options(ar_compilation *r, const arras_options *options)
{
    r->options = *options;
    if (options->cache && !(r->options.cache = r->cache = copy_string(options->cache)))
        return false;
    return !options->compiler ||
           (r->options.compiler = r->compiler = copy_string(options->compiler));
}

static bool make_key(ar_compilation *r)
{
    ar_text_printf(&r->key, "%d %s %s ", r->options.no_fusion, r->cache ? r->cache : "",
                   r->compiler ? r->compiler : "");
    return ar_graph_key(&r->key, r->g);
}

arras_status ar_compilation_new(ar_compilation **out, const arras_graph *g,
                                const arras_options *options, arras_error *err)
{
    static const arras_options defaults;
    ar_compilation            *r = ar_alloc(1, sizeof *r);

    if (!r)
        return ar_fail_memory(err, sizeof *r);
    if (ar_graph_snapshot(&r->g, g, err) != ARRAS_OK ||
        !copy_options(r, options ? options : &defaults) || !make_key(r)) {
        ar_compilation_free(r);
        return ar_fail_memory(err, sizeof *r);
    }
    *out = r;
    return ARRAS_OK;
}

void ar_compilation_free(void *compilation)
{
    ar_compilation *r = compilation;

    ar_graph_free((arras_graph *)(uintptr_t)r->g);
    ar_text_free(&r->key);
    ar_free(r->cache);
    ar_free(r->compiler);
    ar_free(r);
}

/* ---- Generate -------------------------------------------------------------------------------- */

/* Sources longer than this are cut, so that compilers can run at the same time: a little for each
 * CPU first, then more, since starting a compiler has its price. */
enum { UNIT_LENGTH = 6 * 1024 };

static size_t unit_length(const ar_machine *machine, int units)
{
    return UNIT_LENGTH * (size_t)(1 + 2 * (units / machine->cpus));
}

/* One translation unit being written. */
typedef struct {
    ar_op_set used;
    ar_text   kernels;
} unit;

static arras_status finish_unit(unit *u, ar_core_parts *parts, arras_error *err)
{
    ar_text *source = &parts->sources[parts->nsources].text;

    if (u->kernels.length == 0)
        return ARRAS_OK;
    parts->sources[parts->nsources].in_vectors = !u->used.loops;
    ar_c_ops_print(source, &u->used);
    ar_c_kernel_head_print(source);
    ar_text_put(source, u->kernels.data, u->kernels.length);
    if (ar_debug('c'))
        ar_debug_show("generate", &u->kernels);
    parts->nsources++;
    if (u->kernels.failed || source->failed)
        return ar_fail_memory(err, u->kernels.length);
    ar_text_free(&u->kernels);
    *u = (unit){ .kernels = { 0 } };
    return ARRAS_OK;
}

static void show_nest(const ar_step *step, const char *name)
{
    ar_text text = { 0 };

    ar_text_printf(&text, "%s: ", name);
    ar_nest_print(&text, &step->nest, &step->form);
    ar_text_add(&text, "\n");
    ar_debug_show("nest", &text);
    ar_text_free(&text);
}

static arras_status generate(unit *u, ar_core_parts *parts, arras_error *err)
{
    const ar_plan *plan = &parts->plan;
    int            next = 0; /* codes are numbered in the order of their first step */
    arras_status   status = ARRAS_OK;

    for (int s = 0; s < plan->nsteps && status == ARRAS_OK; s++) {
        char name[32];

        if (plan->steps[s].code != next)
            continue;
        snprintf(name, sizeof name, "ar_kernel_%d", next++);
        if (ar_debug('k'))
            show_nest(&plan->steps[s], name);
        status = ar_c_kernel_print(&u->kernels, &u->used, &plan->steps[s].form,
                                   &plan->steps[s].nest, name, err);
        if (status == ARRAS_OK && u->kernels.length > unit_length(plan->machine, parts->nsources) &&
            parts->nsources + 1 < AR_MOST_UNITS)
            status = finish_unit(u, parts, err);
    }
    return status == ARRAS_OK ? finish_unit(u, parts, err) : status;
}

static arras_status generate_all(ar_core_parts *parts, arras_error *err)
{
    unit        *u = ar_alloc(1, sizeof *u);
    arras_status status;

    if (!u)
        return ar_fail_memory(err, sizeof *u);
    status = generate(u, parts, err);
    ar_text_free(&u->kernels);
    ar_free(u);
    return status;
}

static arras_status find_sources(ar_core_parts *parts, ar_program_cache *kept, bool in_order,
                                 arras_error *err)
{
    arras_status status;

    if (in_order && kept->found)
        return ar_program_cache_sources(parts, kept, err);
    status = generate_all(parts, err);
    if (status == ARRAS_OK && in_order)
        ar_program_cache_store(kept, parts);
    return status;
}

/* ---- Data: whose cells are where ------------------------------------------------------------- */

/* For each array of data in the plan, its number among those recorded. */
static arras_status index_data(ar_core_parts *parts, const arras_graph *g, int **index,
                               arras_error *err)
{
    const ar_plan *plan = &parts->plan;

    *index = ar_alloc((size_t)plan->narrays, sizeof **index);
    if (!*index)
        return ar_fail_memory(err, (size_t)plan->narrays * sizeof **index);
    for (int a = 0; a < plan->narrays; a++) {
        int number = 0;

        if (plan->arrays[a].at != AR_AT_DATA)
            continue;
        for (int64_t id = 0; id < ar_graph_count(g); id++) {
            if (ar_data_same(ar_graph_node(g, id), plan->arrays[a].node))
                break;
            number += ar_graph_node(g, id)->kind == AR_DATA;
        }
        (*index)[plan->arrays[a].number] = number;
        parts->ndata++;
    }
    parts->data_index = *index;
    return ARRAS_OK;
}

/* ---- All stages ------------------------------------------------------------------------------ */

static void release_notes(void *notes)
{
    ar_decisions_free(notes);
    ar_free(notes);
}

static arras_status plan_and_build(ar_core **out, ar_program_cache *kept, ar_core_parts *parts,
                                   const bool *dense, arras_error *err)
{
    const ar_compilation *r = kept->compilation;
    ar_plan_options       options = { dense, r->options.no_fusion, ar_machine_host() };
    ar_kernel_source      sources[AR_MOST_UNITS] = { 0 };
    int                  *index = NULL;
    int64_t               start = ar_clock();
    arras_status          status = ar_plan_make(&parts->plan, parts->optimised, &options, err);

    parts->plan_ns = ar_clock() - start;
    if (status != ARRAS_OK) {
        ar_graph_free(parts->optimised);
        release_notes(parts->notes);
        return status;
    }
    start = ar_clock();
    parts->sources = sources;
    status = find_sources(parts, kept, dense == NULL, err);
    parts->generate_ns = ar_clock() - start;
    if (status == ARRAS_OK)
        status = index_data(parts, r->g, &index, err);
    if (status == ARRAS_OK) {
        status = ar_core_new(out, parts, err);
    } else {
        ar_plan_free(&parts->plan);
        ar_graph_free(parts->optimised);
        release_notes(parts->notes);
    }
    ar_free(index);
    for (int i = 0; i < AR_MOST_UNITS; i++)
        ar_text_free(&sources[i].text);
    return status;
}

static arras_status make_core(ar_core **out, ar_program_cache *kept, const bool *dense,
                              int64_t start, arras_error *err)
{
    const ar_compilation *r = kept->compilation;
    ar_core_parts         parts = { .compiler = r->compiler,
                                    .cache = r->cache,
                                    .no_cache = r->options.no_cache,
                                    .nodes = ar_graph_count(r->g),
                                    .release_notes = release_notes };
    arras_status          status;

    parts.notes = ar_alloc(1, sizeof(ar_decisions));
    if (!parts.notes)
        return ar_fail_memory(err, sizeof(ar_decisions));
    status = ar_program_cache_optimise(&parts.optimised, parts.notes, kept, err);
    parts.optimise_ns = ar_clock() - start;
    if (status != ARRAS_OK) {
        release_notes(parts.notes);
        return status;
    }
    return plan_and_build(out, kept, &parts, dense, err);
}

typedef struct {
    ar_core       **out;
    ar_compilation *compilation;
    const bool     *dense;
} order;

static arras_status compile_here(void *context, arras_error *err)
{
    const order     *o = context;
    int64_t          start = ar_clock();
    ar_program_cache kept;
    arras_status     status;

    ar_program_cache_open(&kept, o->compilation);
    status = make_core(o->out, &kept, o->dense, start, err);
    ar_program_cache_close(&kept);
    return status;
}

arras_status ar_compile_core(ar_core **out, void *compilation, const bool *dense, arras_error *err)
{
    order o = { out, compilation, dense };

    return ar_with_room(compile_here, &o, err);
}

arras_status ar_compile_find(ar_core **out, bool *from_memory, ar_compilation *compilation,
                             arras_error *err)
{
    arras_status status;

    *out = compilation->options.no_cache ? NULL : ar_core_cache_find(&compilation->key);
    *from_memory = *out != NULL;
    if (*out)
        return ARRAS_OK;
    status = ar_compile_core(out, compilation, NULL, err);
    if (status == ARRAS_OK && !compilation->options.no_cache)
        ar_core_cache_add(&compilation->key, *out);
    return status;
}
