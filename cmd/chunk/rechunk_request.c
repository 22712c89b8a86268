/* rechunk_request.c -- the arguments of `arras rechunk`.  Those that ask for advice are handed on
 * to what reads the arguments of `arras chunk`. */
#include "cmd/chunk/rechunk_request.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cmd/chunk/chunk_request.h"
#include "cmd/commands.h"

#define CHECKPOINT 10 /* seconds, as the help says */

enum {
    OPT_CHUNK,
    OPT_CODEC,
    OPT_MEMORY,
    OPT_THREADS,
    OPT_RESUME,
    OPT_CHECKPOINT,
    OPT_QUIET /* the rest is what `arras chunk` takes, by the same names */
};

const cmd_option cmd_rechunk_options[] = {
    [OPT_CHUNK] = { "chunk", 0, "A,B,...", "cells of a chunk along each axis" },
    [OPT_CODEC] = { "codec", 0, "CODECS", "'zstd 3', 'shuffle deflate 4', none" },
    [OPT_MEMORY] = { "memory", 0, "SIZE", "the most memory: 512M, 2G, ...; default: half of it" },
    [OPT_THREADS] = { "threads", 0, "N", "work with N threads; default: one for each CPU" },
    [OPT_RESUME] = { "resume", 0, NULL,
                     "go on where an earlier run ended, and be ready for the "
                     "next" },
    [OPT_CHECKPOINT] = { "checkpoint", 0, "SECONDS",
                         "with --resume: so often chunks are made safe; default 10" },
    [OPT_QUIET] = { "quiet", 0, NULL, "no progress, and not what was done" },
    { "query", 'q', "N,N,...[:P]", "cells of a query (* for all) and how often" },
    { "range", 0, "AXIS=N[:P]", "cells along one axis, independent of the others" },
    { "log", 0, "FILE", "queries that were made: CSV or JSON" },
    { "iar", 0, NULL, "take lengths along the axes as independent" },
    { "limit", 0, "SIZE", "bytes of a chunk, at most (1MiB)" },
    { "model", 0, "MODEL", "exact, paper or ss (exact)" },
    { "integers", 0, "WHICH", "edges are all integers or pow2 (all)" },
    { "fix", 0, "AXIS=N", "the edge along an axis" },
    { "multiple", 0, "AXIS=N", "what the edge along an axis is a multiple of" },
    { "within", 0, "PERCENT", "what balance may cost; 0: nothing (1)" },
    { "latency", 0, "TIME", "until a chunk's first byte: 0.1ms" },
    { "bandwidth", 0, "SPEED", "2GB/s: the size is chosen for time too" },
    { "decoding", 0, "SPEED", "of decompression, in bytes of cells" },
    { "ratio", 0, "X", "bytes of cells by stored bytes (1)" },
    { 0 },
};

/* ---- Arguments ------------------------------------------------------------------------------- */

static bool add_name(cmd_rechunk_request *r, const char *name, cmd_error *err)
{
    if (r->sink)
        return cmd_fail(err, "rechunk takes a SOURCE and a SINK; what is %s?", name);
    *(r->source ? &r->sink : &r->source) = name;
    return true;
}

static bool set_threads(cmd_rechunk_request *r, const char *value, cmd_error *err)
{
    int64_t threads = 0;
    bool    ok = cmd_option_number(&threads, "threads", value, 1, 1024, err);

    r->threads = (int)threads;
    return ok;
}

static bool set_checkpoint(cmd_rechunk_request *r, const char *value, cmd_error *err)
{
    char *end;

    r->checkpoint = strtod(value, &end);
    return (end != value && !*end && r->checkpoint >= 0.001 && r->checkpoint < 1e6) ||
           cmd_fail(err, "--checkpoint %s: expected seconds, from 0.001 on", value);
}

/* As --name=value, one argument for each. */
static bool add_advice(cmd_rechunk_request *r, int option, const char *value, cmd_error *err)
{
    const cmd_option *o = &cmd_rechunk_options[option];
    size_t            room = strlen(o->name) + strlen(o->argument ? value : "") + 4;
    char             *text = malloc(room);

    if (!text)
        return cmd_fail(err, "out of memory");
    snprintf(text, room, "--%s%s%s", o->name, o->argument ? "=" : "", o->argument ? value : "");
    r->advice[r->nadvice++] = text;
    return true;
}

static bool take(cmd_rechunk_request *r, int option, const char *value, cmd_error *err)
{
    switch (option) {
    case CMD_BAD_ARGUMENT: return false;
    case CMD_NAME: return add_name(r, value, err);
    case OPT_CHUNK: r->chunk_text = value; return true;
    case OPT_CODEC: r->codec = value; return true;
    case OPT_MEMORY: return cmd_option_bytes(&r->memory, "memory", value, err);
    case OPT_THREADS: return set_threads(r, value, err);
    case OPT_RESUME: return r->resume = true;
    case OPT_CHECKPOINT: return set_checkpoint(r, value, err);
    case OPT_QUIET: return r->quiet = true;
    default: return add_advice(r, option, value, err);
    }
}

static bool check(const cmd_rechunk_request *r, cmd_error *err)
{
    if (!r->sink)
        return cmd_fail(err, "rechunk what, and where to?  arras rechunk sea.h5:/ssh maps.zarr "
                             "--chunk 1,512,512 (`arras help rechunk`)");
    if (r->checkpoint > 0 && !r->resume)
        return cmd_fail(err, "--checkpoint goes with --resume: without it nothing is made safe");
    if (r->chunk_text && r->nadvice > 2)
        return cmd_fail(err, "--chunk says which chunks; leave out %s, which asks for advice",
                        r->advice[2]);
    return true;
}

bool cmd_rechunk_request_read(cmd_rechunk_request *out, int argc, char **argv, cmd_error *err)
{
    cmd_arguments a = cmd_arguments_of(argc, argv, cmd_rechunk_options);
    const char   *value = NULL;

    *out = (cmd_rechunk_request){ .nadvice = 2 };
    out->advice = calloc((size_t)argc + 3, sizeof *out->advice);
    if (!out->advice)
        return cmd_fail(err, "out of memory");
    for (int option; (option = cmd_next_argument(&a, &value, err)) != CMD_END_OF_ARGUMENTS;)
        if (!take(out, option, value, err))
            return false;
    if (!check(out, err))
        return false;
    if (out->checkpoint == 0)
        out->checkpoint = CHECKPOINT;
    return true;
}

void cmd_rechunk_request_free(cmd_rechunk_request *r)
{
    for (int i = 2; r->advice && i < r->nadvice; i++)
        free(r->advice[i]);
    free(r->advice);
}

/* ---- The chunk ------------------------------------------------------------------------------- */

static bool read_chunk(int64_t *chunk, const char *text, int rank, cmd_error *err)
{
    const char *at = text;
    int         n = 0;

    for (;; at++) {
        char *end;

        errno = 0;
        long long cells = strtoll(at, &end, 10);
        if (end == at || errno || cells < 1 || (*end && *end != ','))
            return cmd_fail(err, "--chunk %s: expected lengths of 1 or more, such as 1024,1024",
                            text);
        if (n < rank)
            chunk[n] = cells;
        n++;
        at = end;
        if (!*end)
            break;
    }
    return n == rank || cmd_fail(err, "--chunk %s has %d length%s; the array has %d axes", text, n,
                                 n == 1 ? "" : "s", rank);
}

static bool advise(int64_t *chunk, const cmd_rechunk_request *r, cmd_error *err)
{
    cmd_chunk_request *request = calloc(1, sizeof *request);
    arras_chunk_advice advice;
    arras_error        why;

    if (!request)
        return cmd_fail(err, "out of memory");
    r->advice[0] = (char *)"chunk";
    r->advice[1] = (char *)r->source;
    bool ok = cmd_chunk_request_read(request, r->nadvice, r->advice, err);
    if (ok)
        ok = arras_chunk_advise(&advice, request->workload, &request->options, &why) == ARRAS_OK ||
             cmd_fail(err, "%s", why.text);
    if (ok)
        memcpy(chunk, advice.chunk, sizeof advice.chunk);
    cmd_chunk_request_free(request);
    free(request);
    return ok;
}

bool cmd_rechunk_choose(int64_t *chunk, bool *chosen, const cmd_rechunk_request *r,
                        const arras_store_info *info, cmd_error *err)
{
    *chosen = r->chunk_text || r->nadvice > 2 || info->chunked;
    if (r->chunk_text)
        return read_chunk(chunk, r->chunk_text, info->rank, err);
    if (r->nadvice > 2)
        return advise(chunk, r, err);
    memcpy(chunk, info->chunk, sizeof info->chunk);
    return true;
}
