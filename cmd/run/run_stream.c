/* run_stream.c -- `arras run` from files to files, tile by tile. */
#include "cmd/run/run_stream.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "cmd/io/names.h"
#include "cmd/io/npy.h"
#include "cmd/io/source.h"
#include "cmd/io/stored.h"
#include "cmd/progress.h"

static bool give_up(cmd_error *err, const arras_error *why)
{
    return cmd_fail(err, "%s", why->text);
}

/* ---- Inputs ---------------------------------------------------------------------------------- */

static void take_type(cmd_array *out, const arras_store_info *info)
{
    cmd_array_free(out);
    *out = (cmd_array){ .dtype = info->dtype, .rank = info->rank };
    memcpy(out->shape, info->shape, (size_t)info->rank * sizeof *info->shape);
}

static bool open_source(cmd_input *in, cmd_error *err)
{
    cmd_place   place;
    arras_error why;

    if (!cmd_place_parse(&place, in->source, err))
        return false;
    arras_status status =
        arras_source_open_with(&in->stored, place.file, place.part, &place.options, &why);
    cmd_place_free(&place);
    if (status != ARRAS_OK)
        return give_up(err, &why);
    const arras_store_info *info = arras_source_info(in->stored);
    if (info->dtype == ARRAS_NO_DTYPE)
        return cmd_stored_no_numbers(info, in->source, err);
    return true;
}

bool cmd_stream_open_input(cmd_input *in, cmd_error *err)
{
    if (!open_source(in, err))
        return false;
    take_type(&in->array, arras_source_info(in->stored));
    return true;
}

bool cmd_stream_load_inputs(cmd_job *job, cmd_error *err)
{
    for (int i = 0; i < job->request.ninputs; i++) {
        cmd_input *in = &job->request.inputs[i];

        if (!in->stored)
            continue;
        in->array.stored = in->stored;
        in->stored = NULL;
        if (!cmd_stored_fetch(&in->array, in->source, err))
            return false;
    }
    return true;
}

static bool is_npy(const char *source)
{
    cmd_place place;
    cmd_error unused;
    bool      ok = cmd_place_parse(&place, source, &unused), npy;

    if (!ok)
        return false;
    npy = place.format == CMD_FORMAT_NPY;
    cmd_place_free(&place);
    return npy;
}

/* Pages of a mapped file count as memory: it is read piece by piece instead. */
static bool unmap_inputs(cmd_job *job, cmd_error *err)
{
    for (int i = 0; i < job->request.ninputs; i++) {
        cmd_input *in = &job->request.inputs[i];

        if (!in->used || in->stored || !is_npy(in->source))
            continue;
        if (!cmd_stream_open_input(in, err))
            return false;
    }
    return true;
}

/* ---- Whether --------------------------------------------------------------------------------- */

static bool appends(const cmd_job *job)
{
    for (int i = 0; i < job->request.nsinks; i++) {
        size_t length = strlen(job->request.sinks[i].sink);

        if (length > 0 && job->request.sinks[i].sink[length - 1] == '+')
            return true;
    }
    return false;
}

static bool is_asked_for(const cmd_request *r) { return r->chunk || r->codec || r->resume; }

/* What is read of inputs in files from now on is noted where --log-queries says. */
static bool log_queries(const cmd_job *job, cmd_error *err)
{
    const cmd_request *r = &job->request;
    arras_error        why;

    for (int i = 0; i < r->ninputs && r->queries; i++)
        if (r->inputs[i].stored &&
            arras_source_log(r->inputs[i].stored, r->queries, &why) != ARRAS_OK)
            return give_up(err, &why);
    return true;
}

static int sinks_of(const cmd_job *job, int result)
{
    int n = 0;

    for (int k = 0; k < job->request.nsinks; k++)
        n += job->request.sinks[k].result == result;
    return n;
}

/* Of results that go nowhere but into memory. */
static int64_t kept_bytes(const cmd_job *job)
{
    int64_t bytes = 0;

    for (int i = 0; i < job->nresults; i++)
        if (sinks_of(job, i) == 0 &&
            __builtin_add_overflow(bytes, cmd_array_bytes(&job->results[i]), &bytes))
            return INT64_MAX;
    return bytes;
}

static int64_t stored_bytes(const cmd_job *job)
{
    int64_t bytes = 0;

    for (int i = 0; i < job->request.ninputs; i++)
        if (job->request.inputs[i].stored)
            bytes += cmd_array_bytes(&job->request.inputs[i].array);
    return bytes;
}

bool cmd_stream_decide(cmd_job *job, cmd_error *err)
{
    const cmd_request *r = &job->request;
    arras_summary      summary;
    arras_error        why;

    if (r->resume && cmd_repeat_is_asked(&r->repeat))
        return cmd_fail(err, "--resume goes on with one run of a program: leave out --repeat, "
                             "--until and --feed");
    if (r->options.reference || appends(job)) {
        if (is_asked_for(r))
            return cmd_fail(err,
                            "--chunk, --codec and --resume go with new arrays and compiled "
                            "kernels: leave out %s",
                            r->options.reference ? "--reference" : "the + behind the sink");
        return log_queries(job, err);
    }
    if (arras_summarize(&summary, job->graph, &why) != ARRAS_OK)
        return give_up(err, &why);
    int64_t limit = r->memory ? r->memory : arras_memory_available();
    int64_t all = summary.bytes_in <= INT64_MAX - summary.bytes_out
                      ? summary.bytes_in + summary.bytes_out
                      : INT64_MAX;
    if (!cmd_results_describe(job, err))
        return false;
    /* Read before it is computed, all of an input would be logged. */
    job->streams = kept_bytes(job) <= limit &&
                   (is_asked_for(r) || r->queries || all > limit || stored_bytes(job) > CMD_SMALL);
    return (!job->streams || unmap_inputs(job, err)) && log_queries(job, err);
}

/* ---- What is computed, so that it can be gone on with ---------------------------------------- */

static uint64_t hash_text(uint64_t hash, const char *text, size_t length)
{
    for (size_t i = 0; i < length; i++)
        hash = (hash ^ (unsigned char)text[i]) * 0x100000001b3u;
    return hash;
}

static bool describe_input(FILE *out, const cmd_input *in, cmd_error *err)
{
    struct stat st;
    cmd_place   place;

    fprintf(out, "input %s=%s", in->name, in->source);
    if (!in->stored) {
        fprintf(out, "%s %016" PRIx64 "\n", in->array.fortran ? " in Fortran's order" : "",
                hash_text(1, in->array.data, (size_t)cmd_array_bytes(&in->array)));
        return true;
    }
    if (!cmd_place_parse(&place, in->source, err))
        return false;
    if (stat(place.file, &st) == 0)
        fprintf(out, " %lld bytes, changed %lld.%09ld", (long long)st.st_size,
                (long long)st.st_mtim.tv_sec, st.st_mtim.tv_nsec);
    fputc('\n', out);
    cmd_place_free(&place);
    return true;
}

/* The program and its inputs, as text; the caller's own. */
static bool identify(char **out, const cmd_job *job, cmd_error *err)
{
    size_t      size, length;
    char       *graph;
    arras_error why;
    FILE       *text;
    bool        ok = true;

    if (arras_graph_print(&graph, &length, job->graph, ARRAS_TEXT_FULL, &why) != ARRAS_OK)
        return give_up(err, &why);
    text = open_memstream(out, &size);
    if (text) {
        fprintf(text, "arras %s\nprogram %016" PRIx64 " %016" PRIx64 "\n", arras_version(),
                hash_text(0xcbf29ce484222325u, graph, length), hash_text(7, graph, length));
        for (int i = 0; i < job->request.ninputs && ok; i++)
            if (job->request.inputs[i].used)
                ok = describe_input(text, &job->request.inputs[i], err);
        ok = fclose(text) == 0 && ok;
    }
    arras_text_free(graph);
    return text ? ok : cmd_fail(err, "out of memory");
}

/* ---- Sinks ----------------------------------------------------------------------------------- */

static bool check_chunk(const cmd_job *job, const cmd_array *a, const char *name, cmd_error *err)
{
    return !job->request.chunk || job->request.chunk_rank == a->rank ||
           cmd_fail(err, "--chunk has %d length%s, and the result %s has %d ax%s",
                    job->request.chunk_rank, job->request.chunk_rank == 1 ? "" : "s", name, a->rank,
                    a->rank == 1 ? "is" : "es");
}

static bool make_sink(cmd_job *job, cmd_sink *sink, const cmd_array *a, const arras_source *like,
                      const char *identity, cmd_error *err)
{
    cmd_place          place;
    arras_sink_options options = { .chunk = job->request.chunk,
                                   .codecs = job->request.codec,
                                   .like = like };
    arras_error        why;
    arras_status       status;

    if (!check_chunk(job, a, job->names[sink->result], err) ||
        !cmd_place_parse(&place, sink->sink, err))
        return false;
    options.replace = place.format == CMD_FORMAT_NPY;
    status = identity
                 ? arras_sink_resume(&sink->stored, place.file, place.part, a->dtype, a->rank,
                                     a->shape, &options, identity, job->request.checkpoint, &why)
                 : arras_sink_create(&sink->stored, place.file, place.part, a->dtype, a->rank,
                                     a->shape, &options, &why);
    cmd_place_free(&place);
    return status == ARRAS_OK || give_up(err, &why);
}

static bool is_pipe(const cmd_sink *sink) { return strcmp(sink->sink, "-") == 0; }

static bool make_sinks(cmd_job *job, const arras_source *like, const char *identity, cmd_error *err)
{
    for (int k = 0; k < job->request.nsinks; k++) {
        cmd_sink *sink = &job->request.sinks[k];

        if (sinks_of(job, sink->result) > 1)
            return cmd_fail(err,
                            "the result %s, which is computed piece by piece, can be written "
                            "to one file only",
                            job->names[sink->result]);
        if (is_pipe(sink))
            continue;
        if (!cmd_sink_is_stored(sink->sink))
            cmd_output_abandon(&job->outputs[k]);
        sink->is_streamed = true;
        if (!make_sink(job, sink, &job->results[sink->result], like, identity, err))
            return false;
    }
    return true;
}

static bool open_like(arras_source **out, const cmd_job *job, cmd_error *err)
{
    cmd_place   place;
    arras_error why;

    *out = NULL;
    if (!job->request.attributes)
        return true;
    if (!cmd_place_parse(&place, job->request.attributes, err))
        return false;
    bool ok = arras_source_open_with(out, place.file, place.part, &place.options, &why) == ARRAS_OK;
    cmd_place_free(&place);
    return ok || give_up(err, &why);
}

bool cmd_stream_prepare(cmd_job *job, cmd_error *err)
{
    char         *identity = NULL;
    arras_source *like;

    if (!open_like(&like, job, err))
        return false;
    bool ok = (!job->request.resume || identify(&identity, job, err)) &&
              make_sinks(job, like, identity, err);
    arras_source_close(like);
    free(identity);
    return ok;
}

/* ---- Computing ------------------------------------------------------------------------------- */

static double part_done(const void *stream) { return arras_stream_progress(stream); }

static arras_status wait_watched(arras_results **out, arras_stream *stream, arras_error *why)
{
    cmd_progress_ask(part_done, stream);
    arras_status status = arras_stream_wait(out, stream, why);
    cmd_progress_ask(NULL, NULL);
    arras_stream_free(stream);
    return status;
}

static bool explain(const arras_stream *stream, cmd_error *err)
{
    char       *text;
    arras_error why;

    if (arras_stream_explain(&text, stream, &why) != ARRAS_OK)
        return give_up(err, &why);
    cmd_progress_clear();
    fputs(text, stderr);
    arras_text_free(text);
    return true;
}

/* Results without a file, taken over from the library. */
static bool take_results(cmd_job *job, arras_results *results, cmd_error *err)
{
    for (int i = 0; i < job->nresults; i++) {
        const arras_binding *found = arras_results_find(results, job->names[i]);
        cmd_array           *a = &job->results[i];

        if (!found)
            continue;
        if (!cmd_array_new(a, a->dtype, a->rank, a->shape))
            return cmd_fail(err, "no memory for the result %s", job->names[i]);
        memcpy(a->data, found->buffer.data, (size_t)cmd_array_bytes(a));
    }
    return true;
}

static int bind_all(const cmd_job *job, arras_binding *memory, arras_stored *stored, int *nstored)
{
    int n = 0;

    for (int i = 0; i < job->request.ninputs; i++) {
        cmd_input *in = &job->request.inputs[i];

        if (!in->used || !arras_find_input(job->graph, in->name))
            continue;
        if (in->stored)
            stored[(*nstored)++] = (arras_stored){ in->name, in->stored, NULL };
        else
            memory[n++] = cmd_input_bind(in);
    }
    for (int k = 0; k < job->request.nsinks; k++)
        if (job->request.sinks[k].stored)
            stored[(*nstored)++] = (arras_stored){ job->names[job->request.sinks[k].result], NULL,
                                                   job->request.sinks[k].stored };
    return n;
}

static bool run_stream(cmd_job *job, arras_binding *memory, arras_stored *stored, cmd_error *err)
{
    int                  nstored = 0, n = bind_all(job, memory, stored, &nstored);
    int64_t              limit = job->request.memory;
    arras_stream_options options = { .memory = limit ? limit : arras_memory_available() / 2 };
    const cmd_repeat    *repeat = &job->request.repeat;
    arras_stream        *stream;
    arras_results       *results = NULL;
    arras_error          why;

    if (cmd_repeat_is_asked(repeat)) {
        bool done = cmd_repeat_run(&results, repeat, job->compiled, n, memory, nstored, stored,
                                   options.memory, !job->request.quiet, err) &&
                    take_results(job, results, err);

        arras_results_free(results);
        return done;
    }
    if (arras_stream_start(&stream, job->compiled, n, memory, nstored, stored, &options, &why) !=
        ARRAS_OK)
        return give_up(err, &why);
    bool ok = !job->request.explain || explain(stream, err);
    if (wait_watched(&results, stream, &why) != ARRAS_OK)
        return give_up(err, &why);
    ok = ok && take_results(job, results, err);
    arras_results_free(results);
    return ok;
}

bool cmd_stream_compute(cmd_job *job, cmd_error *err)
{
    size_t         room = (size_t)(job->request.ninputs + job->request.nsinks) + 1;
    arras_binding *memory = calloc(room, sizeof *memory);
    arras_stored  *stored = calloc(room, sizeof *stored);

    cmd_progress_stage("computing", 0);
    bool ok =
        memory && stored ? run_stream(job, memory, stored, err) : cmd_fail(err, "out of memory");
    free(memory);
    free(stored);
    return ok;
}
