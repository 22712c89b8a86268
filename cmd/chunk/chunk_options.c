/* chunk_options.c -- the options of `arras chunk`, from the command line into a request. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "cmd/chunk/chunk_request.h"
#include "cmd/commands.h"

enum {
    OPT_SHAPE,
    OPT_DTYPE,
    OPT_QUERY,
    OPT_RANGE,
    OPT_LOG,
    OPT_IAR,
    OPT_LIMIT,
    OPT_MODEL,
    OPT_INTEGERS,
    OPT_FIX,
    OPT_MULTIPLE,
    OPT_WITHIN,
    OPT_LATENCY,
    OPT_BANDWIDTH,
    OPT_DECODING,
    OPT_RATIO,
    OPT_COMPARE,
    OPT_JSON,
    OPT_SVG
};

const cmd_option cmd_chunk_options[] = {
    [OPT_SHAPE] = { "shape", 0, "N,N,...", "of an array that is not in a file" },
    [OPT_DTYPE] = { "dtype", 0, "TYPE", "of its cells: f32 or f4, i16 or i2, ... (f32)" },
    [OPT_QUERY] = { "query", 'q', "N,N,...[:P]", "cells of a query (* for all) and how often" },
    [OPT_RANGE] = { "range", 0, "AXIS=N[:P]", "cells along one axis, independent of the others" },
    [OPT_LOG] = { "log", 0, "FILE", "queries that were made: CSV or JSON" },
    [OPT_IAR] = { "iar", 0, NULL, "take lengths along the axes as independent" },
    [OPT_LIMIT] = { "limit", 0, "SIZE", "bytes of a chunk, at most (1MiB)" },
    [OPT_MODEL] = { "model", 0, "MODEL", "exact, paper or ss (exact)" },
    [OPT_INTEGERS] = { "integers", 0, "WHICH", "edges are all integers or pow2 (all)" },
    [OPT_FIX] = { "fix", 0, "AXIS=N", "the edge along an axis" },
    [OPT_MULTIPLE] = { "multiple", 0, "AXIS=N", "what the edge along an axis is a multiple of" },
    [OPT_WITHIN] = { "within", 0, "PERCENT", "what balance may cost; 0: nothing (1)" },
    [OPT_LATENCY] = { "latency", 0, "TIME", "until a chunk's first byte: 0.1ms" },
    [OPT_BANDWIDTH] = { "bandwidth", 0, "SPEED", "2GB/s: the size is chosen for time too" },
    [OPT_DECODING] = { "decoding", 0, "SPEED", "of decompression, in bytes of cells" },
    [OPT_RATIO] = { "ratio", 0, "X", "bytes of cells by stored bytes (1)" },
    [OPT_COMPARE] = { "compare", 0, NULL, "with published rules and models too" },
    [OPT_JSON] = { "json", 0, NULL, "every number, exactly" },
    [OPT_SVG] = { "svg", 0, "FILE", "draw cost against size" },
    { 0 },
};

/* ---- Numbers with units ---------------------------------------------------------------------- */

typedef struct unit {
    const char *name;
    double      value;
} unit;

static bool read_quantity(double *out, const char *option, const char *text, const unit *units,
                          const char *example, cmd_error *err)
{
    char  *end;
    double number = strtod(text, &end);

    for (const unit *u = units; u->name && end != text && number >= 0 && isfinite(number); u++)
        if (strcmp(end, u->name) == 0) {
            *out = number * u->value;
            return true;
        }
    return cmd_fail(err, "--%s %s: expected a number and its unit, such as %s", option, text,
                    example);
}

static const unit times[] = { { "s", 1 },     { "ms", 1e-3 }, { "us", 1e-6 },
                              { "ns", 1e-9 }, { "", 1 },      { NULL, 0 } };
static const unit speeds[] = { { "B/s", 1 },        { "kB/s", 1e3 },     { "KB/s", 1e3 },
                               { "MB/s", 1e6 },     { "GB/s", 1e9 },     { "TB/s", 1e12 },
                               { "KiB/s", 0x1p10 }, { "MiB/s", 0x1p20 }, { "GiB/s", 0x1p30 },
                               { "TiB/s", 0x1p40 }, { "", 1 },           { NULL, 0 } };
static const unit percents[] = { { "", 0.01 }, { "%", 0.01 }, { NULL, 0 } };
static const unit plain[] = { { "", 1 }, { NULL, 0 } };

/* ---- Words ----------------------------------------------------------------------------------- */

static bool read_word(int *out, const char *option, const char *text, const char *const *words,
                      cmd_error *err)
{
    for (int i = 0; words[i]; i++)
        if (strcmp(words[i], text) == 0) {
            *out = i;
            return true;
        }
    const char *near = cmd_nearest(text, words);
    return near ? cmd_fail(err, "--%s %s: did you mean %s?", option, text, near)
                : cmd_fail(err, "--%s %s: expected one of: %s, %s%s%s", option, text, words[0],
                           words[1], words[2] ? ", " : "", words[2] ? words[2] : "");
}

static bool read_model(cmd_chunk_request *r, const char *text, cmd_error *err)
{
    static const char *const words[] = { "exact", "paper", "ss", NULL };
    int                      model;

    if (!read_word(&model, "model", text, words, err))
        return false;
    r->options.model = (arras_chunk_model)model;
    return true;
}

static bool read_integers(cmd_chunk_request *r, const char *text, cmd_error *err)
{
    static const char *const words[] = { "all", "pow2", NULL };
    int                      which;

    if (!read_word(&which, "integers", text, words, err))
        return false;
    r->options.powers_of_two = which == 1;
    return true;
}

/* ---- Arguments ------------------------------------------------------------------------------- */

static bool set_source(cmd_chunk_request *r, const char *text, cmd_error *err)
{
    if (r->source)
        return cmd_fail(err, "two arrays, %s and %s; chunk takes one", r->source, text);
    r->source = text;
    return true;
}

static bool take(cmd_chunk_request *r, int option, const char *value, cmd_error *err)
{
    arras_chunk_options *o = &r->options;

    switch (option) {
    case CMD_NAME: return set_source(r, value, err);
    case OPT_SHAPE: r->shape_text = value; return true;
    case OPT_DTYPE: r->dtype_text = value; return true;
    case OPT_QUERY: r->queries[r->query_count++] = value; return true;
    case OPT_RANGE: r->ranges[r->range_count++] = value; return true;
    case OPT_FIX: r->fixes[r->fix_count++] = value; return true;
    case OPT_MULTIPLE: r->multiples[r->multiple_count++] = value; return true;
    case OPT_LOG: r->log = value; return true;
    case OPT_IAR: r->independent = true; return true;
    case OPT_COMPARE: r->compare = true; return true;
    case OPT_JSON: r->json = true; return true;
    case OPT_SVG: r->svg = value; return true;
    case OPT_LIMIT: return cmd_option_bytes(&o->limit, "limit", value, err);
    case OPT_MODEL: return read_model(r, value, err);
    case OPT_INTEGERS: return read_integers(r, value, err);
    case OPT_WITHIN: return read_quantity(&o->within, "within", value, percents, "1%", err);
    case OPT_LATENCY: return read_quantity(&o->latency, "latency", value, times, "0.1ms", err);
    case OPT_BANDWIDTH:
        return read_quantity(&o->bandwidth, "bandwidth", value, speeds, "2GB/s", err);
    case OPT_DECODING: return read_quantity(&o->decoding, "decoding", value, speeds, "1GB/s", err);
    case OPT_RATIO: return read_quantity(&o->ratio, "ratio", value, plain, "2.5", err);
    default: return false;
    }
}

static bool make_lists(cmd_chunk_request *r, int argc, cmd_error *err)
{
    const char ***lists[] = { &r->queries, &r->ranges, &r->fixes, &r->multiples };

    for (size_t i = 0; i < sizeof lists / sizeof *lists; i++) {
        *lists[i] = calloc((size_t)argc, sizeof **lists[i]);
        if (!*lists[i])
            return cmd_fail(err, "no memory for %d arguments", argc);
    }
    return true;
}

bool cmd_chunk_request_read(cmd_chunk_request *r, int argc, char **argv, cmd_error *err)
{
    cmd_arguments a = cmd_arguments_of(argc, argv, cmd_chunk_options);
    const char   *value = NULL;

    r->options.within = 0.01;
    if (!make_lists(r, argc, err))
        return false;
    for (int option; (option = cmd_next_argument(&a, &value, err)) != CMD_END_OF_ARGUMENTS;)
        if (option == CMD_BAD_ARGUMENT || !take(r, option, value, err))
            return false;
    return cmd_chunk_request_resolve(r, err);
}

void cmd_chunk_request_free(cmd_chunk_request *r)
{
    if (!r)
        return;
    free(r->queries);
    free(r->ranges);
    free(r->fixes);
    free(r->multiples);
    arras_workload_free(r->workload);
}
