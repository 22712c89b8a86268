/* run_request.c -- the arguments of `arras run`. */
#include "cmd/run/run_request.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "cmd/commands.h"
#include "cmd/io/names.h"
#include "cmd/io/source.h"

#define CHECKPOINT 10 /* seconds, as the help says */

enum {
    OPT_FILE,
    OPT_OUTPUT,
    OPT_PARAM,
    OPT_THREADS,
    OPT_MEMORY,
    OPT_DEVICE,
    OPT_EXPLAIN,
    OPT_STATS,
    OPT_TRACE,
    OPT_DOT,
    OPT_REFERENCE,
    OPT_QUIET,
    OPT_ATTRIBUTES,
    OPT_CHUNK,
    OPT_CODEC,
    OPT_RESUME,
    OPT_CHECKPOINT,
    OPT_REPEAT,
    OPT_UNTIL,
    OPT_FEED,
    OPT_LOG_QUERIES
};

const cmd_option cmd_run_options[] = {
    [OPT_FILE] = { "file", 'f', "FILE", "the program is in FILE; - for standard input" },
    [OPT_OUTPUT] = { "output", 'o', "[NAME=]SINK",
                     "write a result; without -o all results are printed" },
    [OPT_PARAM] = { "param", 'p', "NAME=VALUE", "the value of a `param` of the program" },
    [OPT_THREADS] = { "threads", 0, "N", "work with N threads; default: one for each CPU" },
    [OPT_MEMORY] = { "memory", 0, "SIZE",
                     "the most memory for arrays: 512M, 2G, ...; default: what is free" },
    [OPT_DEVICE] = { "device", 0, "NAME", "where to compute; this version knows cpu" },
    [OPT_EXPLAIN] = { "explain", 0, NULL, "say how the program was fused and planned, and why" },
    [OPT_STATS] = { "stats", 0, NULL, "say what was read, computed and written, and how fast" },
    [OPT_TRACE] = { "trace", 0, "FILE", "write when each task ran, for Perfetto" },
    [OPT_DOT] = { "dot", 0, "FILE", "write the graph of the program, for Graphviz" },
    [OPT_REFERENCE] = { "reference", 0, NULL, "use the slow, simple evaluator without kernels" },
    [OPT_QUIET] = { "quiet", 'q', NULL, "no warnings and no progress" },
    [OPT_ATTRIBUTES] = { "attributes-from", 0, "NAME",
                         "results in containers get attributes and axes of this input" },
    [OPT_CHUNK] = { "chunk", 0, "A,B,...",
                    "cells of a chunk of the results, along each axis; not of .npy files" },
    [OPT_CODEC] = { "codec", 0, "CODECS",
                    "how results are stored: 'zstd 3', 'shuffle deflate 4'; not in .npy files" },
    [OPT_RESUME] = { "resume", 0, NULL,
                     "go on where a run that was interrupted ended, and be ready for the next "
                     "time" },
    [OPT_CHECKPOINT] = { "checkpoint", 0, "SECONDS",
                         "with --resume: so often results are made safe; default 10" },
    [OPT_REPEAT] = { "repeat", 0, "N", "run the program N times, with --feed" },
    [OPT_UNTIL] = { "until", 0, "RESULT", "run it again until RESULT, of one cell, is not 0" },
    [OPT_FEED] = { "feed", 0, "RESULT=INPUT", "a result becomes an input of the next run" },
    [OPT_LOG_QUERIES] = { "log-queries", 0, "FILE",
                          "note which boxes of arrays in files are read, for `arras chunk --log`" },
    { 0 },
};

/* ---- Lists that grow with the arguments: each argument adds one entry at most ---------------- */

static bool make_lists(cmd_request *r, int argc)
{
    size_t n = (size_t)argc;

    r->inputs = calloc(n, sizeof *r->inputs);
    r->sinks = calloc(n, sizeof *r->sinks);
    r->settings = calloc(n, sizeof *r->settings);
    return r->inputs && r->sinks && r->settings;
}

static bool add_input(cmd_request *r, const char *text, cmd_error *err)
{
    cmd_input in = { 0 };

    if (!cmd_assignment_split(&in.name, &in.source, text))
        return cmd_fail(err,
                        "%s: expected an input, name=SOURCE, such as h=h.npy or n=3.5 "
                        "(the program is the first argument)",
                        text);
    for (int i = 0; i < r->ninputs; i++) {
        if (strcmp(r->inputs[i].name, in.name) != 0)
            continue;
        cmd_fail(err, "input %s is given twice: %s and %s", in.name, r->inputs[i].source,
                 in.source);
        free(in.name);
        return false;
    }
    r->inputs[r->ninputs++] = in;
    return true;
}

static bool add_sink(cmd_request *r, const char *text, cmd_error *err)
{
    cmd_sink sink = { 0 };

    if (!cmd_assignment_split(&sink.name, &sink.sink, text))
        sink.sink = text;
    if (!*sink.sink)
        return cmd_fail(err, "-o %s: the name of a file is missing", text);
    for (int i = 0; i < r->nsinks; i++) {
        if (strcmp(r->sinks[i].sink, sink.sink) != 0)
            continue;
        cmd_fail(err, "two results cannot both be written to %s", sink.sink);
        free(sink.name);
        return false;
    }
    r->sinks[r->nsinks++] = sink;
    return true;
}

static bool add_setting(cmd_request *r, const char *text, cmd_error *err)
{
    char       *name;
    const char *value;

    if (!cmd_assignment_split(&name, &value, text))
        return cmd_fail(err, "-p %s: expected NAME=VALUE", text);
    r->settings[r->nsettings++] = (lang_setting){ name, value };
    return true;
}

/* ---- Arguments ------------------------------------------------------------------------------- */

static bool set_threads(cmd_request *r, const char *value, cmd_error *err)
{
    int64_t threads;

    if (!cmd_option_number(&threads, "threads", value, 1, 1024, err))
        return false;
    r->options.threads = (int)threads;
    return true;
}

static bool set_chunk(cmd_request *r, const char *value, cmd_error *err)
{
    const char *at = value;

    free(r->chunk);
    r->chunk = calloc(ARRAS_MAX_RANK, sizeof *r->chunk);
    if (!r->chunk)
        return cmd_fail(err, "out of memory");
    for (r->chunk_rank = 0; r->chunk_rank < ARRAS_MAX_RANK; at++) {
        char     *end;
        long long cells = strtoll(at, &end, 10);

        if (end == at || cells < 1 || (*end && *end != ','))
            break;
        r->chunk[r->chunk_rank++] = cells;
        at = end;
        if (!*end)
            return true;
    }
    return cmd_fail(err, "--chunk %s: expected lengths of 1 or more, such as 1024,1024", value);
}

static bool set_checkpoint(cmd_request *r, const char *value, cmd_error *err)
{
    char *end;

    r->checkpoint = strtod(value, &end);
    return (end != value && !*end && r->checkpoint >= 0.001 && r->checkpoint < 1e6) ||
           cmd_fail(err, "--checkpoint %s: expected seconds, from 0.001 on", value);
}

static bool check_device(const char *value, cmd_error *err)
{
    return strcmp(value, "cpu") == 0 ||
           cmd_fail(err, "unknown device %s; this version of arras knows: cpu", value);
}

/* Graphviz makes pictures of it; under the name of one its text would not open. */
static bool set_dot(cmd_request *r, const char *value, cmd_error *err)
{
    static const char *const kinds[] = { ".png", ".svg", ".pdf", ".jpg", ".jpeg", ".gif" };
    const char              *dot = strrchr(value, '.');

    for (size_t i = 0; dot && i < sizeof kinds / sizeof *kinds; i++)
        if (strcasecmp(dot, kinds[i]) == 0)
            return cmd_fail(err,
                            "--dot %s: the graph is text; write %.*s.dot, then dot -T%s %.*s.dot",
                            value, (int)(dot - value), value, dot + 1, (int)(dot - value), value);
    r->dot = value;
    return true;
}

static bool take_option(cmd_request *r, int option, const char *value, cmd_error *err)
{
    switch (option) {
    case OPT_FILE: r->file = value; return true;
    case OPT_OUTPUT: return add_sink(r, value, err);
    case OPT_PARAM: return add_setting(r, value, err);
    case OPT_THREADS: return set_threads(r, value, err);
    case OPT_MEMORY: return cmd_option_bytes(&r->memory, "memory", value, err);
    case OPT_DEVICE: return check_device(value, err);
    case OPT_EXPLAIN: r->explain = true; return true;
    case OPT_STATS: r->stats = true; return true;
    case OPT_TRACE: r->trace = value; return true;
    case OPT_DOT: return set_dot(r, value, err);
    case OPT_REFERENCE: r->options.reference = true; return true;
    case OPT_ATTRIBUTES: r->attributes = value; return true;
    case OPT_CHUNK: return set_chunk(r, value, err);
    case OPT_CODEC: r->codec = value; return true;
    case OPT_RESUME: r->resume = true; return true;
    case OPT_CHECKPOINT: return set_checkpoint(r, value, err);
    case OPT_LOG_QUERIES: r->queries = value; return true;
    case OPT_REPEAT: return cmd_option_number(&r->repeat.most, "repeat", value, 1, INT64_MAX, err);
    case OPT_UNTIL: r->repeat.until = value; return true;
    case OPT_FEED: return cmd_repeat_feed(&r->repeat, value, err);
    default: r->quiet = true; return true;
    }
}

/* The first name is the program, unless it comes from a file.  -f may stand anywhere, so names are
 * looked at when all options are known. */
static bool take_names(cmd_request *r, int nnames, const char **names, cmd_error *err)
{
    int first = 0;

    if (!r->file) {
        if (nnames == 0)
            return cmd_fail(err, "run what?  arras run 'y = a + b' a=a.npy b=3, "
                                 "or -f FILE (`arras help run`)");
        r->equations = names[first++];
    }
    for (int i = first; i < nnames; i++)
        if (!add_input(r, names[i], err))
            return false;
    return true;
}

/* From the name of an input to its source. */
static bool find_attributes(cmd_request *r, cmd_error *err)
{
    for (int i = 0; i < r->ninputs && r->attributes; i++)
        if (strcmp(r->inputs[i].name, r->attributes) == 0) {
            r->attributes = r->inputs[i].source;
            return true;
        }
    return !r->attributes || cmd_fail(err, "--attributes-from %s: there is no input %s",
                                      r->attributes, r->attributes);
}

static bool check_streams(const cmd_request *r, cmd_error *err)
{
    int users = r->file && strcmp(r->file, "-") == 0;

    for (int i = 0; i < r->ninputs; i++)
        users += strcmp(r->inputs[i].source, "-") == 0;
    return users < 2 || cmd_fail(err, "standard input (-) can be read only once");
}

static bool check_apart(const cmd_request *r, cmd_error *err)
{
    for (int i = 0; i < r->nsinks; i++)
        for (int k = 0; k < r->ninputs; k++)
            if (!cmd_sink_check_apart(r->sinks[i].sink, r->inputs[k].source, err))
                return false;
    return true;
}

/* ---- Options that say how results are stored ------------------------------------------------- */

static int count_containers(const cmd_request *r)
{
    int n = 0;

    for (int i = 0; i < r->nsinks; i++)
        n += cmd_sink_is_stored(r->sinks[i].sink);
    return n;
}

static bool is_piped(const cmd_request *r)
{
    for (int i = 0; i < r->nsinks; i++)
        if (strcmp(r->sinks[i].sink, "-") != 0)
            return false;
    return true;
}

static bool need_sink(const cmd_request *r, const char *option, cmd_error *err)
{
    return r->nsinks > 0 ||
           cmd_fail(err, "%s is for results that are written: say where to, such as -o y.h5:/y",
                    option);
}

static bool need_container(const cmd_request *r, const char *option, const char *what,
                           cmd_error *err)
{
    if (!need_sink(r, option, err))
        return false;
    return count_containers(r) > 0 ||
           cmd_fail(err,
                    "%s: -o %s is written as .npy, which has no %s; write HDF5, netCDF or Zarr",
                    option, r->sinks[0].sink, what);
}

/* What .npy files can do, too. */
static bool is_plain_codec(const cmd_request *r)
{
    return strcmp(r->codec, "none") == 0 ||
           (strcmp(r->codec, "float16") == 0 && r->nsinks > 0 && !is_piped(r));
}

/* Nothing that was asked for is ignored silently. */
static bool check_storing(const cmd_request *r, cmd_error *err)
{
    if (r->checkpoint > 0 && !r->resume)
        return cmd_fail(err, "--checkpoint goes with --resume: without it nothing is made safe");
    if (r->resume && r->nsinks > 0 && is_piped(r))
        return cmd_fail(err, "--resume goes on with files: what went to standard output is gone");
    return (!r->resume || need_sink(r, "--resume", err)) &&
           (!r->chunk || need_container(r, "--chunk", "chunks", err)) &&
           (!r->codec || is_plain_codec(r) || need_container(r, "--codec", "codecs", err)) &&
           (!r->attributes || need_container(r, "--attributes-from", "attributes", err));
}

static bool check(cmd_request *r, cmd_error *err)
{
    if (!find_attributes(r, err) || !check_streams(r, err) || !check_storing(r, err) ||
        !check_apart(r, err))
        return false;
    if (r->checkpoint == 0)
        r->checkpoint = CHECKPOINT;
    return cmd_repeat_check(&r->repeat, err);
}

static bool walk(cmd_request *r, int argc, char **argv, const char **names, cmd_error *err)
{
    cmd_arguments a = cmd_arguments_of(argc, argv, cmd_run_options);
    int           nnames = 0;

    for (;;) {
        const char *value;
        int         option = cmd_next_argument(&a, &value, err);

        if (option == CMD_END_OF_ARGUMENTS)
            return take_names(r, nnames, names, err) && check(r, err);
        if (option == CMD_NAME)
            names[nnames++] = value;
        else if (option == CMD_BAD_ARGUMENT || !take_option(r, option, value, err))
            return false;
    }
}

bool cmd_request_parse(cmd_request *out, int argc, char **argv, cmd_error *err)
{
    const char **names = calloc((size_t)argc, sizeof *names);

    *out = (cmd_request){ 0 };
    bool ok = names && make_lists(out, argc) ? walk(out, argc, argv, names, err)
                                             : cmd_fail(err, "out of memory");
    free(names);
    return ok;
}

arras_binding cmd_input_bind(cmd_input *in)
{
    return cmd_array_bind(in->name, &in->array, in->steps);
}

void cmd_request_free(cmd_request *r)
{
    cmd_repeat_free(&r->repeat);
    for (int i = 0; i < r->ninputs; i++) {
        free(r->inputs[i].name);
        free(r->inputs[i].made);
        cmd_array_free(&r->inputs[i].array);
        arras_source_close(r->inputs[i].stored);
    }
    for (int i = 0; i < r->nsinks; i++)
        free(r->sinks[i].name);
    for (int i = 0; i < r->nsettings; i++)
        free((char *)r->settings[i].name);
    free(r->inputs);
    free(r->sinks);
    free(r->settings);
    free(r->chunk);
    *r = (cmd_request){ 0 };
}
