/* streams.c -- programs on arrays in files: the public face of stream/. */
#include "stream/stream.h"

struct arras_stream {
    ar_program_flow flow;
};

static arras_status check_stored(int n, const arras_stored *stored, arras_error *err)
{
    for (int i = 0; i < n; i++)
        if (!stored[i].name || !stored[i].source == !stored[i].sink)
            return ar_fail(err, ARRAS_EINVAL,
                           "stream: stored array number %d needs a name and a source or a sink", i);
    return ARRAS_OK;
}

static arras_status open_flow(arras_stream *stream, arras_program *p, int n,
                              const arras_binding *bindings, int nstored,
                              const arras_stored *stored, int64_t memory, arras_error *err)
{
    ar_file_binding *files = ar_alloc((size_t)nstored, sizeof *files);
    arras_status     status;

    if (!files)
        return ar_fail_memory(err, (size_t)nstored * sizeof *files);
    for (int i = 0; i < nstored; i++)
        files[i] = (ar_file_binding){ stored[i].name, stored[i].source, stored[i].sink };
    status = ar_program_flow_open(&stream->flow, p, n, bindings, nstored, files, memory, err);
    ar_free(files); /* names live with the graph, sources and sinks with the caller */
    return status;
}

/* Where queries are logged: what the program reads as a whole, not its tiles. */
static arras_status note_queries(const ar_flow *flow, arras_error *err)
{
    arras_status status = ARRAS_OK;
    ar_box       box;

    for (int i = 0; i < flow->narrays && status == ARRAS_OK; i++) {
        const ar_source *source = flow->arrays[i].source;

        if (!source || !source->log)
            continue;
        status = ar_flow_reads(&box, flow, i, err);
        if (status == ARRAS_OK)
            status = ar_source_note(source, box.lo, box.hi, err);
    }
    return status;
}

void arras_stream_free(arras_stream *stream)
{
    if (!stream)
        return;
    ar_program_flow_close(&stream->flow);
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
    status = open_flow(stream, p, n, bindings, nstored, stored, memory, err);
    if (status == ARRAS_OK)
        status = note_queries(&stream->flow.flow, err);
    if (status == ARRAS_OK)
        status = ar_flow_start(&stream->flow.flow, err);
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
    status = ar_flow_wait(&stream->flow.flow, err);
    if (status == ARRAS_OK && out) {
        *out = stream->flow.results;
        stream->flow.results = NULL;
    }
    return status;
}

void arras_stream_cancel(arras_stream *stream)
{
    if (stream)
        ar_flow_cancel(&stream->flow.flow);
}

double arras_stream_progress(const arras_stream *stream)
{
    return stream ? ar_flow_progress(&stream->flow.flow) : -1;
}

arras_status arras_stream_explain(char **out, const arras_stream *stream, arras_error *err)
{
    ar_text text = { 0 };

    if (!out || !stream)
        return ar_fail(err, ARRAS_EINVAL, "stream: nothing to explain, or nowhere to put it");
    ar_flow_explain(&text, &stream->flow.flow);
    if (text.failed) {
        ar_text_free(&text);
        return ar_fail_memory(err, 256);
    }
    *out = text.data;
    return ARRAS_OK;
}
