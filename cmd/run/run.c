/* run.c -- `arras run`: every step from the arguments to the results, in order. */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "cmd/commands.h"
#include "cmd/interrupt.h"
#include "cmd/io/names.h"
#include "cmd/io/output_file.h"
#include "cmd/io/rearrange.h"
#include "cmd/io/source.h"
#include "cmd/io/stored.h"
#include "cmd/io/whole_file.h"
#include "cmd/progress.h"
#include "cmd/run/run_job.h"
#include "cmd/run/run_stream.h"

int64_t cmd_now(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

static void end_stage(cmd_job *job, cmd_stage stage)
{
    int64_t now = cmd_now();

    job->spent[stage] += now - job->stage_began;
    job->stage_began = now;
}

/* ---- The program ----------------------------------------------------------------------------- */

/* These messages begin with their place, as those of compilers do. */
static bool fail_language(cmd_job *job, cmd_error *err, const lang_error *why)
{
    job->has_place = true;
    return cmd_fail(err, "%s", why->text);
}

static bool add_text(cmd_job *job, const char *file, const char *text, size_t length,
                     cmd_error *err)
{
    lang_error why;

    return lang_program_add(job->program, file, text, length, &why) ||
           fail_language(job, err, &why);
}

static bool load_program(cmd_job *job, cmd_error *err)
{
    const cmd_request *r = &job->request;
    size_t             length;

    job->program = lang_program_new();
    if (!job->program)
        return cmd_fail(err, "out of memory");
    if (r->equations)
        return add_text(job, "program", r->equations, strlen(r->equations), err);
    if (!cmd_whole_file(&job->text, &length, r->file, err))
        return false;
    /* Some editors begin a file with a mark that says UTF-8. */
    size_t mark = length >= 3 && memcmp(job->text, "\xef\xbb\xbf", 3) == 0 ? 3 : 0;
    return add_text(job, strcmp(r->file, "-") == 0 ? "standard input" : r->file, job->text + mark,
                    length - mark, err);
}

static const char *nearest_of(const char *name, const lang_program *p,
                              const char *(*at)(const lang_program *, int))
{
    const char *names[257] = { NULL };

    for (int i = 0; i < 256 && at(p, i); i++)
        names[i] = at(p, i);
    return cmd_nearest(name, names);
}

static bool is_param(const lang_program *p, const char *name)
{
    int i = 0;

    while (lang_program_param(p, i) && strcmp(lang_program_param(p, i), name) != 0)
        i++;
    return lang_program_param(p, i) != NULL;
}

static bool check_settings(const cmd_job *job, cmd_error *err)
{
    for (int i = 0; i < job->request.nsettings; i++) {
        const char *name = job->request.settings[i].name;

        if (is_param(job->program, name))
            continue;
        const char *near = nearest_of(name, job->program, lang_program_param);
        if (near)
            return cmd_fail(err, "-p %s: the program has no param %s; did you mean %s?", name, name,
                            near);
        return cmd_fail(err, "-p %s: the program has no param %s; declare it: param %s = 1", name,
                        name, name);
    }
    return true;
}

/* ---- Inputs ---------------------------------------------------------------------------------- */

static cmd_input *find_input(cmd_job *job, const char *name)
{
    for (int i = 0; i < job->request.ninputs; i++)
        if (strcmp(job->request.inputs[i].name, name) == 0)
            return &job->request.inputs[i];
    return NULL;
}

/* A name such as a.npy: what was meant as an input stands where the program should. */
static bool is_file_name(const char *name)
{
    cmd_error unused;
    cmd_place place;
    bool      ok = cmd_place_parse(&place, name, &unused);
    bool      known = ok && place.format != CMD_FORMAT_UNKNOWN;

    if (ok)
        cmd_place_free(&place);
    return known;
}

static bool fail_missing(cmd_job *job, const char *name, cmd_error *err)
{
    lang_error why;
    char       advice[1200];

    if (job->request.equations && is_file_name(name))
        return cmd_fail(err,
                        "%s: this is taken for the program, which comes first: "
                        "arras run 'EQUATIONS' name=SOURCE ...",
                        job->request.equations);
    for (int i = 0; i < job->request.ninputs; i++) {
        const cmd_input *given = &job->request.inputs[i];

        if (given->used || !nearest_of(given->name, job->program, lang_program_input))
            continue;
        if (strcmp(nearest_of(given->name, job->program, lang_program_input), name) == 0)
            return cmd_fail(err, "the program needs %s; you gave %s=%s", name, given->name,
                            given->source);
    }
    snprintf(advice, sizeof advice, "add %s=SOURCE, such as %s=%s.npy or %s=3.5", name, name, name,
             name);
    lang_program_missing(job->program, name, advice, &why);
    return fail_language(job, err, &why);
}

/* Words that are numbers in any program, so that no input can be meant. */
static bool is_number_word(const char *name)
{
    static const char *const words[] = { "pi", "inf", "nan", "true", "false" };

    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (strcmp(words[i], name) == 0)
            return true;
    return false;
}

/* An input that the program does not use is a mistake where its name means something else. */
static bool check_unused(const cmd_job *job, const cmd_input *in, cmd_error *err)
{
    if (is_param(job->program, in->name))
        return cmd_fail(err, "%s is a param of the program: write -p %s=%s", in->name, in->name,
                        in->source);
    if (is_number_word(in->name))
        return cmd_fail(err, "%s is a number of the language: give the input another name",
                        in->name);
    if (!job->request.quiet)
        cmd_warn("the program does not use the input %s", in->name);
    return true;
}

/* ball=file.h5:/ball gives ball.x, ball.y: members of its records, or what is in that group. */
static bool add_part(cmd_job *job, const cmd_input *whole, const char *name, cmd_error *err)
{
    cmd_request *r = &job->request;
    cmd_input    part = { .name = strdup(name) };
    bool         ok =
        part.name && cmd_source_part(&part.made, whole->source, name + strlen(whole->name) + 1);
    cmd_input *inputs = ok ? realloc(r->inputs, ((size_t)r->ninputs + 1) * sizeof *inputs) : NULL;

    if (!inputs) {
        free(part.name);
        free(part.made);
        return cmd_fail(err, "out of memory");
    }
    part.source = part.made;
    r->inputs = inputs;
    r->inputs[r->ninputs++] = part;
    return true;
}

/* The input that a name with dots is part of; NULL: there is none. */
static cmd_input *find_whole(cmd_job *job, const char *name)
{
    for (int i = 0; i < job->request.ninputs; i++) {
        cmd_input *in = &job->request.inputs[i];
        size_t     length = strlen(in->name);

        if (strncmp(in->name, name, length) == 0 && name[length] == '.' &&
            cmd_source_has_parts(in->source))
            return in;
    }
    return NULL;
}

static bool add_parts(cmd_job *job, cmd_error *err)
{
    for (int i = 0; lang_program_input(job->program, i); i++) {
        const char *name = lang_program_input(job->program, i);
        cmd_input  *whole = find_input(job, name) ? NULL : find_whole(job, name);

        if (!whole)
            continue;
        whole->has_parts = true;
        if (!add_part(job, whole, name, err))
            return false;
    }
    return true;
}

static bool match_inputs(cmd_job *job, cmd_error *err)
{
    if (!add_parts(job, err))
        return false;
    for (int i = 0; i < job->request.ninputs; i++)
        job->request.inputs[i].used = lang_program_reads(job->program, job->request.inputs[i].name);
    for (int i = 0; lang_program_input(job->program, i); i++)
        if (!find_input(job, lang_program_input(job->program, i)))
            return fail_missing(job, lang_program_input(job->program, i), err);
    for (int i = 0; i < job->request.ninputs; i++)
        if (!job->request.inputs[i].used && !job->request.inputs[i].has_parts &&
            !check_unused(job, &job->request.inputs[i], err))
            return false;
    return true;
}

static bool read_input(cmd_input *in, int64_t most, cmd_error *err)
{
    if (cmd_source_is_stored(in->source))
        return cmd_stream_open_input(in, err);
    if (!cmd_source_read_as(&in->array, in->name, in->source, most, err))
        return false;
    in->stored = in->array.stored;
    in->array.stored = NULL;
    /* Kernels for another order would take longer to build than a few cells to copy. */
    return !in->array.fortran || cmd_array_bytes(&in->array) > most ||
           cmd_array_from_fortran(&in->array, in->name, err);
}

/* A program may look at a few cells of what would take long to copy, and copies would not be faster
 * for others that look at each once. */
static bool read_inputs(cmd_job *job, cmd_error *err)
{
    const cmd_request *r = &job->request;
    bool               often = cmd_repeat_is_asked(&r->repeat) || r->options.reference;
    int64_t            most = often ? INT64_MAX : CMD_SMALL;

    for (int i = 0; i < r->ninputs; i++)
        if (r->inputs[i].used && !read_input(&r->inputs[i], most, err))
            return false;
    return true;
}

/* ---- From program to results ----------------------------------------------------------------- */

static bool lower(cmd_job *job, cmd_error *err)
{
    lang_input  *inputs = calloc((size_t)job->request.ninputs + 1, sizeof *inputs);
    lang_world   world = { .inputs = inputs,
                           .nsettings = job->request.nsettings,
                           .settings = job->request.settings };
    const char **outputs = NULL;
    lang_error   why;

    if (!inputs || !cmd_repeat_outputs(&outputs, &world.noutputs, &job->request.repeat,
                                       job->nresults, job->names)) {
        free(inputs);
        return cmd_fail(err, "out of memory");
    }
    world.outputs = outputs;
    for (int i = 0; i < job->request.ninputs; i++) {
        const cmd_input *in = &job->request.inputs[i];

        if (in->used)
            inputs[world.ninputs++] =
                (lang_input){ in->name, in->array.dtype, in->array.rank, in->array.shape };
    }
    bool ok = lang_lower(&job->graph, job->program, &world, &why) || fail_language(job, err, &why);
    free(inputs);
    free(outputs);
    return ok;
}

/* Inputs are there already, and results in files need no memory of their own. */
static bool check_available(const cmd_job *job, const arras_counters *counters, cmd_error *err)
{
    int64_t results = cmd_results_bytes(job), available = arras_memory_available();
    int64_t used =
        results <= INT64_MAX - counters->planned ? results + counters->planned : INT64_MAX;

    return used <= available ||
           cmd_fail(err,
                    "the arrays need %" PRId64 " bytes of memory (results %" PRId64
                    ", temporaries %" PRId64 "), %" PRId64
                    " are free; large results fit into files: -o NAME=FILE.npy "
                    "(--memory SIZE sets another limit)",
                    used, results, counters->planned, available);
}

static bool check_memory(const cmd_job *job, cmd_error *err)
{
    int64_t        limit = job->request.memory;
    arras_summary  summary;
    arras_counters counters;
    arras_error    why;

    arras_program_counters(&counters, job->compiled);
    if (limit == 0)
        return check_available(job, &counters, err);
    if (arras_summarize(&summary, job->graph, &why) != ARRAS_OK)
        return cmd_fail(err, "%s", why.text);
    int64_t used = summary.bytes_in + summary.bytes_out + counters.planned;
    return used <= limit ||
           cmd_fail(err,
                    "the arrays need %" PRId64 " bytes of memory (inputs %" PRId64
                    ", results %" PRId64 ", temporaries %" PRId64 "), --memory allows %" PRId64,
                    used, summary.bytes_in, summary.bytes_out, counters.planned, limit);
}

static bool compile(cmd_job *job, cmd_error *err)
{
    arras_error why;

    cmd_progress_stage("compiling", 0);
    if (cmd_compile(&job->compiled, job->graph, &job->request.options, &why) != ARRAS_OK)
        return cmd_fail(err, "%s", why.text);
    const char *warning = arras_program_warning(job->compiled);
    if (warning && !job->request.quiet && !job->request.options.reference)
        cmd_warn("%s (until then the reference evaluator computes, which is slow)", warning);
    if (!warning && !job->request.quiet && !job->request.options.reference)
        cmd_warn_uncached(&job->request.options);
    if (job->request.trace && arras_program_trace(job->compiled, true, &why) != ARRAS_OK)
        return cmd_fail(err, "%s", why.text);
    return true;
}

/* Whether a launch does, for inputs in another order. */
static bool builds_kernels(const cmd_job *job)
{
    for (int i = 0; i < job->request.ninputs; i++)
        if (job->request.inputs[i].array.fortran)
            return true;
    return false;
}

/* A run that has no kernels is over when it was started, and cannot be watched.  The others belong
 * to their program: who looks a moment too late sees old numbers. */
static arras_status launch_watched(const cmd_job *job, int n, const arras_binding *bindings,
                                   arras_error *why)
{
    arras_run   *run;
    arras_status status = builds_kernels(job)
                              ? cmd_launch_start(&run, job->compiled, n, bindings, why)
                              : arras_launch_start(&run, job->compiled, n, bindings, why);

    if (status != ARRAS_OK)
        return status;
    if (arras_launch_progress(run) >= 0)
        cmd_progress_watch(run);
    status = arras_launch_wait(NULL, run, why);
    cmd_progress_watch(NULL);
    return status;
}

static bool launch(cmd_job *job, arras_binding *bindings, cmd_error *err)
{
    arras_error why;
    int         n = 0;

    /* Of results that nobody wants, inputs are not in the graph. */
    for (int i = 0; i < job->request.ninputs; i++)
        if (arras_find_input(job->graph, job->request.inputs[i].name))
            bindings[n++] = cmd_input_bind(&job->request.inputs[i]);
    for (int i = 0; i < job->nresults; i++)
        bindings[n++] = cmd_array_bind(job->names[i], &job->results[i], NULL);
    if (cmd_repeat_is_asked(&job->request.repeat))
        return cmd_repeat_run(NULL, &job->request.repeat, job->compiled, n, bindings, 0, NULL, 0,
                              !job->request.quiet, err);
    cmd_progress_stage("computing", 0);
    /* A launch in one step wakes no threads for little work. */
    arras_status status = job->is_watched || builds_kernels(job)
                              ? launch_watched(job, n, bindings, &why)
                              : arras_launch(NULL, job->compiled, n, bindings, &why);
    return status == ARRAS_OK || cmd_fail(err, "%s", why.text);
}

static bool compute(cmd_job *job, cmd_error *err)
{
    size_t         room = (size_t)(job->request.ninputs + job->nresults);
    arras_binding *bindings = calloc(room, sizeof *bindings);
    bool           ok = bindings ? launch(job, bindings, err) : cmd_fail(err, "out of memory");

    free(bindings);
    return ok;
}

/* ---- What else was asked for ----------------------------------------------------------------- */

static bool explain(const cmd_job *job, cmd_error *err)
{
    arras_error why;
    char       *text;

    if (arras_program_warning(job->compiled) || job->request.options.reference) {
        fputs("there are no kernels: the reference evaluator computes one operation after the "
              "other\n",
              stderr);
        return true;
    }
    if (arras_program_print(&text, NULL, job->compiled, ARRAS_PROGRAM_EXPLAIN, &why) != ARRAS_OK)
        return cmd_fail(err, "%s", why.text);
    fputs(text, stderr);
    arras_text_free(text);
    return true;
}

static bool write_text(const char *file, arras_status status, char *text, size_t length,
                       const arras_error *why, cmd_error *err)
{
    if (status != ARRAS_OK)
        return cmd_fail(err, "%s", why->text);
    bool ok = cmd_output_whole(file, text, length, err);
    arras_text_free(text);
    return ok;
}

static bool write_dot(const cmd_job *job, cmd_error *err)
{
    arras_error  why;
    size_t       length = 0;
    char        *text = NULL;
    arras_status status = arras_graph_print(&text, &length, job->graph, ARRAS_TEXT_DOT, &why);

    return write_text(job->request.dot, status, text, length, &why, err);
}

static bool write_trace(const cmd_job *job, cmd_error *err)
{
    arras_error  why;
    size_t       length = 0;
    char        *text = NULL;
    arras_status status =
        arras_program_print(&text, &length, job->compiled, ARRAS_PROGRAM_TRACE, &why);

    return write_text(job->request.trace, status, text, length, &why, err);
}

/* ---- The map --------------------------------------------------------------------------------- */

static bool prepare_memory(cmd_job *job, cmd_error *err)
{
    return cmd_results_map(job, err) && check_memory(job, err) && cmd_results_make(job, err);
}

static bool prepare(cmd_job *job, cmd_error *err)
{
    bool ok = load_program(job, err) && check_settings(job, err) && cmd_results_choose(job, err) &&
              match_inputs(job, err) && cmd_results_open(job, err);

    end_stage(job, CMD_STAGE_PARSE);
    cmd_progress_stage("reading", 0);
    ok = ok && read_inputs(job, err);
    end_stage(job, CMD_STAGE_READ);
    ok = ok && lower(job, err) && cmd_stream_decide(job, err);
    end_stage(job, CMD_STAGE_PARSE);
    if (!job->streams)
        ok = ok && cmd_stream_load_inputs(job, err);
    end_stage(job, CMD_STAGE_READ);
    ok = ok && compile(job, err);
    ok = ok && (job->streams ? cmd_stream_prepare(job, err) : prepare_memory(job, err));
    end_stage(job, CMD_STAGE_COMPILE);
    return ok;
}

static bool run(cmd_job *job, cmd_error *err)
{
    if (!prepare(job, err) || (job->request.dot && !write_dot(job, err)))
        return false;
    bool ok = job->streams ? cmd_stream_compute(job, err) : compute(job, err);
    end_stage(job, CMD_STAGE_COMPUTE);
    ok = ok && cmd_results_deliver(job, err);
    end_stage(job, CMD_STAGE_WRITE);
    cmd_progress_stop();
    if (ok && job->request.explain)
        ok = explain(job, err);
    if (ok && job->request.stats)
        cmd_stats_print(job);
    return ok && (!job->request.trace || write_trace(job, err));
}

static void free_job(cmd_job *job)
{
    cmd_results_free(job);
    arras_program_free(job->compiled);
    arras_graph_free(job->graph);
    lang_program_free(job->program);
    free(job->text);
    cmd_request_free(&job->request);
}

int cmd_run(int argc, char **argv)
{
    cmd_job   job = { .began = cmd_now() };
    cmd_error err;

    job.stage_began = job.began;
    cmd_interrupt_start();
    bool ok = cmd_request_parse(&job.request, argc, argv, &err);
    if (ok) {
        job.is_watched = !job.request.quiet && cmd_progress_start();
        ok = run(&job, &err);
        cmd_progress_stop();
    }
    bool has_place = job.has_place;
    free_job(&job);
    if (!ok && has_place)
        fprintf(stderr, "%s\n", err.text);
    return ok ? 0 : has_place ? 1 : cmd_complain("%s", err.text);
}
