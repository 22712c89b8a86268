/* streams.c -- programs on arrays in files. */
#include "run/run.h"

struct arras_stream {
    ar_file_launch launch;
};

static arras_status check_stored(int n, const arras_stored *stored, arras_error *err)
{
    for (int i = 0; i < n; i++)
        if (!stored[i].name || !stored[i].source == !stored[i].sink)
            return ar_fail(err, ARRAS_EINVAL,
                           "stream: stored array number %d needs a name and a source or a sink", i);
    return ARRAS_OK;
}

static arras_status open_launch(arras_stream *stream, arras_program *p, int n,
                                const arras_binding *bindings, int nstored,
                                const arras_stored *stored, int64_t memory, arras_error *err)
{
    ar_file_binding *files = ar_alloc((size_t)nstored, sizeof *files);
    arras_status     status;

    if (!files)
        return ar_fail_memory(err, (size_t)nstored * sizeof *files);
    for (int i = 0; i < nstored; i++)
        files[i] = (ar_file_binding){ stored[i].name, stored[i].source, stored[i].sink };
    status = ar_file_launch_open(&stream->launch, p, n, bindings, nstored, files, memory, err);
    ar_free(files); /* names live with the graph, sources and sinks with the caller */
    return status;
}

/* Where queries are logged: what the program reads as a whole, not its tiles. */
static arras_status note_queries(const ar_execution *exec, arras_error *err)
{
    arras_status status = ARRAS_OK;
    ar_box       box;

    for (int i = 0; i < exec->narrays && status == ARRAS_OK; i++) {
        const ar_source *source = exec->arrays[i].source;

        if (!source || !source->log)
            continue;
        status = ar_execution_reads(&box, exec, i, err);
        if (status == ARRAS_OK)
            status = ar_source_note(source, box.lo, box.hi, err);
    }
    return status;
}

void arras_stream_free(arras_stream *stream)
{
    if (!stream)
        return;
    ar_file_launch_close(&stream->launch);
    ar_free(stream);
}

arras_status arras_stream_start(arras_stream **out, arras_program *p, int n,
                                const arras_binding *bindings, int nstored,
                                const arras_stored *stored, const arras_stream_options *options,
                                arras_error *err)
{
    int64_t       memory = options && options->memory > 0 ? options->memory : ar_memory_fair();
    arras_stream *stream;
    arras_status  status;

    if (!out || !p || n < 0 || nstored < 0 || (n && !bindings) || (nstored && !stored))
        return ar_fail(err, ARRAS_EINVAL, "stream: the program, the bindings or out is NULL");
    status = check_stored(nstored, stored, err);
    if (status != ARRAS_OK)
        return status;
    stream = ar_alloc(1, sizeof *stream);
    if (!stream)
        return ar_fail_memory(err, sizeof *stream);
    status = open_launch(stream, p, n, bindings, nstored, stored, memory, err);
    if (status == ARRAS_OK)
        status = note_queries(&stream->launch.exec, err);
    if (status == ARRAS_OK)
        status = ar_execution_start(&stream->launch.exec, err);
    if (status == ARRAS_OK)
        *out = stream;
    else
        arras_stream_free(stream);
    return status;
}

arras_status arras_stream_wait(arras_results **out, arras_stream *stream, arras_error *err)
{
    arras_status status;

    if (!stream)
        return ar_fail(err, ARRAS_EINVAL, "stream: there is none to wait for");
    status = ar_execution_wait(&stream->launch.exec, err);
    if (status == ARRAS_OK && out) {
        *out = stream->launch.results;
        stream->launch.results = NULL;
    }
    return status;
}

void arras_stream_cancel(arras_stream *stream)
{
    if (stream)
        ar_execution_cancel(&stream->launch.exec);
}

double arras_stream_progress(const arras_stream *stream)
{
    return stream ? ar_execution_progress(&stream->launch.exec) : -1;
}

arras_status arras_stream_explain(char **out, const arras_stream *stream, arras_error *err)
{
    ar_text text = { 0 };

    if (!out || !stream)
        return ar_fail(err, ARRAS_EINVAL, "stream: nothing to explain, or nowhere to put it");
    ar_execution_explain(&text, &stream->launch.exec);
    if (text.failed) {
        ar_text_free(&text);
        return ar_fail_memory(err, 256);
    }
    *out = text.data;
    return ARRAS_OK;
}
