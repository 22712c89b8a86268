/* run_results.c -- where the results of a run go. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cmd/commands.h"
#include "cmd/io/npy.h"
#include "cmd/io/print_array.h"
#include "cmd/io/source.h"
#include "cmd/io/stored.h"
#include "cmd/progress.h"
#include "cmd/run/run_job.h"

/* ---- Which results --------------------------------------------------------------------------- */

static int count_outputs(const lang_program *p)
{
    int n = 0;

    while (lang_program_output(p, n))
        n++;
    return n;
}

static bool fail_result(const cmd_job *job, const char *name, cmd_error *err)
{
    int          n = count_outputs(job->program);
    const char **names = calloc((size_t)n + 1, sizeof *names);
    const char  *near = NULL;

    for (int i = 0; names && i < n; i++)
        names[i] = lang_program_output(job->program, i);
    if (names)
        near = cmd_nearest(name, names);
    if (near)
        cmd_fail(err, "-o %s=...: the program has no result %s; did you mean %s?", name, name,
                 near);
    else
        cmd_fail(err, "-o %s=...: the program has no result %s; its first one is %s", name, name,
                 lang_program_output(job->program, 0));
    free(names);
    return false;
}

/* The number of a result among those that are wanted; it is wanted from now on. */
static int want(cmd_job *job, const char *name)
{
    for (int i = 0; i < job->nresults; i++)
        if (strcmp(job->names[i], name) == 0)
            return i;
    for (int i = 0; lang_program_output(job->program, i); i++) {
        if (strcmp(lang_program_output(job->program, i), name) != 0)
            continue;
        job->names[job->nresults] = lang_program_output(job->program, i);
        return job->nresults++;
    }
    return -1;
}

static bool choose_sink(cmd_job *job, cmd_sink *sink, cmd_error *err)
{
    const char *only = lang_program_output(job->program, 0);

    if (!sink->name && lang_program_output(job->program, 1))
        return cmd_fail(err, "-o %s: the program has several results; say which: -o %s=%s",
                        sink->sink, only, sink->sink);
    sink->result = want(job, sink->name ? sink->name : only);
    return sink->result >= 0 || fail_result(job, sink->name, err);
}

bool cmd_results_choose(cmd_job *job, cmd_error *err)
{
    size_t room = (size_t)count_outputs(job->program);

    if (room == 0)
        return cmd_fail(err, "the program has no result: write an equation, such as y = a + 1");
    job->names = calloc(room, sizeof *job->names);
    job->results = calloc(room, sizeof *job->results);
    if (!job->names || !job->results)
        return cmd_fail(err, "out of memory");
    for (int i = 0; i < job->request.nsinks; i++)
        if (!choose_sink(job, &job->request.sinks[i], err))
            return false;
    for (int i = 0; job->request.nsinks == 0 && lang_program_output(job->program, i); i++)
        want(job, lang_program_output(job->program, i));
    return true;
}

/* ---- Where they are computed ----------------------------------------------------------------- */

bool cmd_results_open(cmd_job *job, cmd_error *err)
{
    int n = job->request.nsinks;

    job->outputs = calloc((size_t)n + 1, sizeof *job->outputs);
    if (!job->outputs)
        return cmd_fail(err, "out of memory");
    for (; job->nopen < n; job->nopen++) {
        const char *sink = job->request.sinks[job->nopen].sink;

        if (!cmd_sink_is_stored(sink) && !cmd_sink_open(&job->outputs[job->nopen], sink, err))
            return false;
    }
    return true;
}

/* Type and shape as the graph says. */
static bool describe(cmd_array *out, const cmd_job *job, const char *name, cmd_error *err)
{
    for (int i = 0; i < arras_output_count(job->graph); i++) {
        arras_array y = arras_output_array(job->graph, i);

        if (strcmp(arras_output_name(job->graph, i), name) != 0)
            continue;
        *out = (cmd_array){ .dtype = arras_array_dtype(y), .rank = arras_array_rank(y) };
        for (int d = 0; d < out->rank; d++)
            out->shape[d] = arras_array_dim(y, d);
        return cmd_array_bytes(out) >= 0 || cmd_fail(err, "the result %s is too large", name);
    }
    return cmd_fail(err, "the result %s is not in the graph", name);
}

/* In a container: made now, so that what cannot be written is known before anything is computed. */
static bool create_stored(const cmd_job *job, cmd_sink *sink, const cmd_array *a, cmd_error *err)
{
    return cmd_sink_store(&sink->stored, sink->sink, a, job->request.attributes, err);
}

static bool prepare_sink(cmd_job *job, int k, cmd_array *a, cmd_error *err)
{
    cmd_sink *sink = &job->request.sinks[k];

    if (cmd_sink_is_stored(sink->sink))
        return create_stored(job, sink, a, err);
    if (a->data)
        return true;
    if (!cmd_npy_map(a, &job->outputs[k], err))
        return false;
    sink->is_mapped = a->data != NULL;
    return true;
}

static bool map_result(cmd_job *job, int i, cmd_error *err)
{
    cmd_array *a = &job->results[i];

    if (!describe(a, job, job->names[i], err))
        return false;
    for (int k = 0; k < job->request.nsinks; k++)
        if (job->request.sinks[k].result == i && !prepare_sink(job, k, a, err))
            return false;
    return true;
}

bool cmd_results_map(cmd_job *job, cmd_error *err)
{
    for (int i = 0; i < job->nresults; i++)
        if (!map_result(job, i, err))
            return false;
    return true;
}

bool cmd_results_describe(cmd_job *job, cmd_error *err)
{
    for (int i = 0; i < job->nresults; i++)
        if (!describe(&job->results[i], job, job->names[i], err))
            return false;
    return true;
}

int64_t cmd_results_bytes(const cmd_job *job)
{
    int64_t bytes = 0;

    for (int i = 0; i < job->nresults; i++)
        if (!job->results[i].data &&
            __builtin_add_overflow(bytes, cmd_array_bytes(&job->results[i]), &bytes))
            return INT64_MAX;
    return bytes;
}

bool cmd_results_make(cmd_job *job, cmd_error *err)
{
    for (int i = 0; i < job->nresults; i++) {
        cmd_array *a = &job->results[i];

        if (!a->data && !cmd_array_new(a, a->dtype, a->rank, a->shape))
            return cmd_fail(err, "no memory for the result %s: %" PRId64 " bytes", job->names[i],
                            cmd_array_bytes(a));
    }
    return true;
}

/* ---- Delivery -------------------------------------------------------------------------------- */

static void print_results(const cmd_job *job)
{
    for (int i = 0; i < job->nresults; i++) {
        if (job->nresults > 1) {
            printf("%s : ", job->names[i]);
            cmd_print_type(stdout, &job->results[i]);
            putchar('\n');
        }
        cmd_print_array(stdout, &job->results[i], cmd_print_width(stdout));
        putchar('\n');
    }
}

static int64_t bytes_to_write(const cmd_job *job)
{
    int64_t bytes = 0;

    for (int i = 0; i < job->request.nsinks; i++)
        if (!job->request.sinks[i].is_mapped && !job->request.sinks[i].is_streamed)
            bytes += cmd_array_bytes(&job->results[job->request.sinks[i].result]);
    return bytes;
}

static bool write_sink(cmd_job *job, int k, cmd_error *err)
{
    const cmd_sink  *sink = &job->request.sinks[k];
    const cmd_array *a = &job->results[sink->result];

    if (sink->is_streamed)
        return true;
    if (sink->stored)
        return cmd_stored_write(sink->stored, a, err);
    return sink->is_mapped || cmd_npy_write(&job->outputs[k], a, err);
}

static bool finish_sink(cmd_job *job, int k, cmd_error *err)
{
    arras_sink *stored = job->request.sinks[k].stored;

    job->request.sinks[k].stored = NULL;
    return stored ? cmd_stored_finish(stored, err) : cmd_output_finish(&job->outputs[k], err);
}

/* All files are complete before the first of them appears. */
static bool write_sinks(cmd_job *job, cmd_error *err)
{
    bool ok = true;

    for (int k = 0; k < job->request.nsinks && ok; k++)
        ok = write_sink(job, k, err);
    for (; job->nopen > 0 && ok; job->nopen--)
        ok = finish_sink(job, job->nopen - 1, err);
    return ok;
}

bool cmd_results_deliver(cmd_job *job, cmd_error *err)
{
    cmd_progress_stage("writing", bytes_to_write(job));
    if (job->request.nsinks > 0)
        return write_sinks(job, err);
    cmd_progress_stop();
    print_results(job);
    return true;
}

void cmd_results_free(cmd_job *job)
{
    for (; job->nopen > 0; job->nopen--) {
        const cmd_sink *sink = &job->request.sinks[job->nopen - 1];

        if (cmd_sink_is_stored(sink->sink) || sink->is_streamed)
            arras_sink_abandon(sink->stored);
        else
            cmd_output_abandon(&job->outputs[job->nopen - 1]);
    }
    for (int i = 0; i < job->nresults; i++)
        cmd_array_free(&job->results[i]);
    free(job->outputs);
    free(job->names);
    free(job->results);
}
