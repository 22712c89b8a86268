/* compiled.c -- compiled programs as the public header has them. */
#include "compile/compile.h"

#include <string.h>

/* ---- Compile --------------------------------------------------------------------------------- */

/* The cells of the data that the core reads, as this graph has them. */
static arras_status find_data(const void ***out, const ar_compilation *r, const ar_core *core,
                              arras_error *err)
{
    int          n, number = 0;
    const int   *index = ar_core_data(&n, core);
    const void **data = ar_alloc((size_t)n, sizeof *data);

    if (!data)
        return ar_fail_memory(err, (size_t)n * sizeof *data);
    for (int64_t id = 0; n > 0 && id < ar_graph_count(r->g); id++) {
        if (ar_graph_node(r->g, id)->kind != AR_DATA)
            continue;
        for (int k = 0; k < n; k++)
            if (index[k] == number)
                data[k] = ar_graph_node(r->g, id)->ref;
        number++;
    }
    *out = data;
    return ARRAS_OK;
}

static arras_status make_program(arras_program **out, ar_compilation *r, ar_core *core,
                                 bool from_memory, const char *warning, arras_error *err)
{
    ar_program_parts parts = { .g = r->g,
                               .core = core,
                               .warning = warning,
                               .maker = ar_compile_core,
                               .context = r,
                               .release = ar_compilation_free,
                               .threads = r->options.threads,
                               .tile_bytes = r->options.tile_bytes,
                               .from_memory = from_memory };
    const void     **data = NULL;
    arras_status     status = core ? find_data(&data, r, core, err) : ARRAS_OK;

    if (core)
        ar_core_data(&parts.ndata, core);
    parts.data = data;
    if (status == ARRAS_OK)
        status = ar_program_new(out, &parts, err);
    ar_free(data);
    return status;
}

/* Mistakes of the program's author are errors; what only kernels can't do is left to the reference
 * evaluator. */
static bool can_do_without(arras_status status)
{
    return status == ARRAS_ELIMIT || status == ARRAS_EBUILD;
}

static arras_status compile(arras_program **out, ar_compilation *r, arras_error *err)
{
    ar_core     *core = NULL;
    arras_error  why = { ARRAS_OK, "" };
    bool         from_memory = false;
    arras_status status = ARRAS_OK;

    if (!r->options.reference)
        status = ar_compile_find(&core, &from_memory, r, &why);
    if (status != ARRAS_OK && !can_do_without(status)) {
        if (err)
            *err = why;
        return status;
    }
    status = make_program(out, r, core, from_memory, why.text[0] ? why.text : NULL, err);
    if (status != ARRAS_OK)
        ar_core_release(core);
    return status;
}

typedef struct {
    arras_program      **out;
    const arras_graph   *g;
    const arras_options *options;
} compiling;

static arras_status compile_here(void *context, arras_error *err)
{
    const compiling *c = context;
    ar_compilation  *compilation;
    arras_status     status = ar_graph_check(c->g, err);

    if (status == ARRAS_OK)
        status = ar_graph_check_data(c->g, err);
    if (status == ARRAS_OK)
        status = ar_compilation_new(&compilation, c->g, c->options, err);
    if (status != ARRAS_OK)
        return status;
    status = compile(c->out, compilation, err);
    if (status != ARRAS_OK)
        ar_compilation_free(compilation);
    return status;
}

arras_status arras_compile(arras_program **out, const arras_graph *g, const arras_options *options,
                           arras_error *err)
{
    compiling c = { out, g, options };

    if (!out || !g)
        return ar_fail(err, ARRAS_EINVAL,
                       "compile: the graph or the place for the program is NULL");
    if (options && (options->threads < 0 || options->tile_bytes < 0))
        return ar_fail(err, ARRAS_EINVAL,
                       "compile: %d threads and tiles of %" PRId64
                       " bytes: neither may be negative",
                       options->threads, options->tile_bytes);
    return ar_with_room(compile_here, &c, err);
}

void arras_program_free(arras_program *p) { ar_program_free(p); }

const char *arras_program_warning(const arras_program *p)
{
    return p ? ar_program_warning(p) : NULL;
}

arras_status arras_cache_check(const arras_options *options, arras_error *err)
{
    ar_build_options build = { .cache = options ? options->cache : NULL,
                               .no_cache = options && options->no_cache };

    return ar_disk_check(&build, err);
}

/* ---- Launch ---------------------------------------------------------------------------------- */

arras_status arras_launch(arras_results **out, arras_program *p, int n,
                          const arras_binding *bindings, arras_error *err)
{
    if (!p)
        return ar_fail(err, ARRAS_EINVAL, "launch: the program is NULL");
    return ar_launch(out, p, n, bindings, err);
}

arras_status arras_launch_start(arras_run **out, arras_program *p, int n,
                                const arras_binding *bindings, arras_error *err)
{
    if (!out || !p)
        return ar_fail(err, ARRAS_EINVAL, "launch: the program or the place for the run is NULL");
    return ar_launch_start(out, p, n, bindings, err);
}

arras_status arras_launch_wait(arras_results **out, arras_run *run, arras_error *err)
{
    if (!run)
        return ar_fail(err, ARRAS_EINVAL, "wait: the run is NULL");
    return ar_launch_wait(out, run, err);
}

void arras_launch_cancel(arras_run *run)
{
    if (run)
        ar_launch_cancel(run);
}

double arras_launch_progress(const arras_run *run) { return run ? ar_launch_progress(run) : -1; }

/* ---- Look ------------------------------------------------------------------------------------ */

static int64_t *last_sizes(const arras_program *p, const ar_core *core)
{
    int64_t *sizes = ar_alloc((size_t)ar_size_count(ar_core_plan(core)->g), sizeof *sizes);

    if (sizes && !ar_program_sizes(sizes, p)) {
        ar_free(sizes);
        return NULL;
    }
    return sizes;
}

void arras_program_counters(arras_counters *out, const arras_program *p)
{
    const ar_core *core;
    int64_t       *sizes;
    ar_traffic     traffic;

    if (!out)
        return;
    *out = (arras_counters){ 0 };
    if (!p)
        return;
    ar_program_counters(out, p);
    core = ar_program_core(p);
    if (!core)
        return;
    sizes = last_sizes(p, core);
    traffic = ar_decisions_traffic(ar_core_notes(core), ar_core_plan(core)->g, sizes);
    out->bytes_before = traffic.before;
    if (out->bytes_moved == 0) /* nothing was launched yet */
        out->bytes_moved = traffic.after;
    out->bytes_compulsory = traffic.least;
    ar_free(sizes);
}

arras_status arras_program_trace(arras_program *p, bool on, arras_error *err)
{
    if (!p)
        return ar_fail(err, ARRAS_EINVAL, "trace: the program is NULL");
    return ar_program_trace(p, on, err);
}

typedef struct {
    ar_text             *text;
    const arras_program *p;
    arras_program_text   form;
} printing;

static arras_status print_form(void *context, arras_error *err)
{
    const printing      *printed = context;
    const arras_program *p = printed->p;
    const ar_core       *core = ar_program_core(p);
    int64_t             *sizes;

    if (!core)
        return ar_fail(err, ARRAS_EINVAL, "the program runs in the reference evaluator%s%s",
                       ar_program_warning(p) ? ": " : "",
                       ar_program_warning(p) ? ar_program_warning(p) : ", as was asked");
    switch (printed->form) {
    case ARRAS_PROGRAM_SOURCE: ar_core_source(printed->text, core); return ARRAS_OK;
    case ARRAS_PROGRAM_EXPLAIN:
        sizes = last_sizes(p, core);
        ar_explain_print(printed->text, core, sizes);
        ar_free(sizes);
        return ARRAS_OK;
    default: return ar_program_picture(printed->text, p, printed->form, err);
    }
}

arras_status arras_program_print(char **out, size_t *length, const arras_program *p,
                                 arras_program_text form, arras_error *err)
{
    ar_text      text = { 0 };
    printing     printed = { &text, p, form };
    arras_status status;

    if (!out || !p)
        return ar_fail(err, ARRAS_EINVAL, "print: the program or the place for the text is NULL");
    if ((int)form < 0 || form >= ARRAS_PROGRAM_TEXT_END)
        return ar_fail(err, ARRAS_EINVAL, "print: there is no form number %d", (int)form);
    ar_text_add(&text, "");
    status = ar_with_room(print_form, &printed, err);
    if (status == ARRAS_OK && (text.failed || !text.data))
        status = ar_fail_memory(err, text.length);
    if (status != ARRAS_OK) {
        ar_text_free(&text);
        return status;
    }
    *out = text.data;
    if (length)
        *length = text.length;
    return ARRAS_OK;
}
