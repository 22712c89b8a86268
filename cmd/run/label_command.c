/* label_command.c -- `arras label`: connected components, from file to file or through memory. */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cmd/commands.h"
#include "cmd/interrupt.h"
#include "cmd/io/names.h"
#include "cmd/io/source.h"
#include "cmd/io/stored.h"
#include "cmd/progress.h"

enum { OPT_NEIGHBOURS, OPT_ABOVE, OPT_EQUAL, OPT_MEMORY, OPT_THREADS, OPT_QUIET };

const cmd_option cmd_label_options[] = {
    [OPT_NEIGHBOURS] = { "neighbours", 0, "N", "4 or 8, in three axes 6, 18 or 26; default: 4, 6" },
    [OPT_ABOVE] = { "above", 0, "X", "cells above X count, not those that are not 0" },
    [OPT_EQUAL] = { "equal", 0, "X", "cells that are X count" },
    [OPT_MEMORY] = { "memory", 0, "SIZE", "the most memory: 512M, 2G, ...; default: half of it" },
    [OPT_THREADS] = { "threads", 0, "N", "work with N threads; default: one for each CPU" },
    [OPT_QUIET] = { "quiet", 'q', NULL, "no progress, and not how many components there are" },
    { 0 },
};

typedef struct {
    const char         *names[2]; /* source and sink */
    int                 nnames;
    arras_label_options options;
    bool                quiet;
} request;

/* ---- Arguments ------------------------------------------------------------------------------- */

static bool add_name(request *r, const char *name, cmd_error *err)
{
    if (r->nnames == 2)
        return cmd_fail(err, "label takes a SOURCE and a SINK; what is %s?", name);
    r->names[r->nnames++] = name;
    return true;
}

static bool set_rule(request *r, arras_label_rule rule, const char *text, cmd_error *err)
{
    const char *option = rule == ARRAS_LABEL_ABOVE ? "above" : "equal";
    char       *end;
    double      value = strtod(text, &end);

    if (r->options.rule != ARRAS_LABEL_NONZERO)
        return cmd_fail(err, "--above and --equal: one of them, once");
    if (end == text || *end || isnan(value))
        return cmd_fail(err, "--%s %s: expected a number", option, text);
    r->options.rule = rule;
    r->options.value = value;
    return true;
}

static bool set_number(int *out, const char *option, const char *text, int most, cmd_error *err)
{
    int64_t number;

    if (!cmd_option_number(&number, option, text, 1, most, err))
        return false;
    *out = (int)number;
    return true;
}

static bool take(request *r, int argument, const char *value, cmd_error *err)
{
    switch (argument) {
    case CMD_NAME: return add_name(r, value, err);
    case OPT_NEIGHBOURS: return set_number(&r->options.neighbours, "neighbours", value, 26, err);
    case OPT_ABOVE: return set_rule(r, ARRAS_LABEL_ABOVE, value, err);
    case OPT_EQUAL: return set_rule(r, ARRAS_LABEL_EQUAL, value, err);
    case OPT_MEMORY: return cmd_option_bytes(&r->options.memory, "memory", value, err);
    case OPT_THREADS: return set_number(&r->options.threads, "threads", value, 1024, err);
    case OPT_QUIET: return r->quiet = true;
    default: return false;
    }
}

static bool parse(request *r, int argc, char **argv, cmd_error *err)
{
    cmd_arguments a = cmd_arguments_of(argc, argv, cmd_label_options);
    const char   *value;

    for (int argument; (argument = cmd_next_argument(&a, &value, err)) != CMD_END_OF_ARGUMENTS;)
        if (!take(r, argument, value, err))
            return false;
    return r->nnames == 2 ||
           cmd_fail(err, "label what, and where to?  arras label mask.npy labels.npy "
                         "(`arras help label`)");
}

/* ---- Work that is watched -------------------------------------------------------------------- */

static double part_of(const void *labelling) { return arras_label_progress(labelling); }

static void cancel(void *labelling) { arras_label_cancel(labelling); }

/* A signal ends the work, so that what was begun can be put away. */
static bool watch(int64_t *count, arras_labelling *l, cmd_error *err)
{
    arras_error why;

    cmd_progress_stage("labelling", 0);
    cmd_progress_ask(part_of, l);
    cmd_interrupt_hold(cancel, l);
    arras_status status = arras_label_wait(count, l, &why);
    cmd_progress_ask(NULL, NULL);
    return status == ARRAS_OK || cmd_fail(err, "%s", why.text);
}

/* Of more than 2^31 - 1 cells labels have 64 bits. */
static arras_dtype label_type(int rank, const int64_t *shape)
{
    double cells = 1;

    for (int d = 0; d < rank; d++)
        cells *= (double)shape[d];
    return cells > INT32_MAX ? ARRAS_I64 : ARRAS_I32;
}

/* ---- From file to file ----------------------------------------------------------------------- */

static bool label_into(int64_t *count, arras_source *source, arras_sink *sink, const request *r,
                       cmd_error *err)
{
    arras_labelling *l;
    arras_error      why;

    if (arras_label_stored_start(&l, source, sink, &r->options, &why) != ARRAS_OK) {
        arras_sink_abandon(sink);
        return cmd_fail(err, "%s", why.text);
    }
    bool ok = watch(count, l, err);
    if (!ok)
        arras_sink_abandon(sink);
    cmd_interrupt_release();
    arras_label_free(l);
    return ok && cmd_stored_finish(sink, err);
}

/* Chunks like those of the source, so that each is read once in a pass. */
static bool label_from(int64_t *count, arras_source *source, const cmd_place *to, const request *r,
                       cmd_error *err)
{
    const arras_store_info *info = arras_source_info(source);
    arras_sink_options      options = { 0 };
    arras_sink             *sink;
    arras_error             why;

    if (info->chunked && to->format > CMD_FORMAT_NPY)
        options.chunk = info->chunk;
    if (arras_sink_create(&sink, to->file, to->part, label_type(info->rank, info->shape),
                          info->rank, info->shape, &options, &why) != ARRAS_OK)
        return cmd_fail(err, "%s", why.text);
    return label_into(count, source, sink, r, err);
}

static bool label_files(int64_t *count, const cmd_place *from, const cmd_place *to,
                        const request *r, cmd_error *err)
{
    arras_source_options options = from->options;
    arras_source        *source;
    arras_error          why;

    /* NaN is not 0, so a cell that is missing would count. */
    if (r->options.rule == ARRAS_LABEL_NONZERO && options.missing == ARRAS_MISSING_PROPAGATE)
        options = (arras_source_options){ .missing = ARRAS_MISSING_REPLACE };
    if (arras_source_open_with(&source, from->file, from->part, &options, &why) != ARRAS_OK)
        return cmd_fail(err, "%s", why.text);
    bool ok = label_from(count, source, to, r, err);
    arras_source_close(source);
    return ok;
}

/* ---- Through memory: literals and streams ---------------------------------------------------- */

static bool label_array(int64_t *count, const cmd_array *cells, const request *r, cmd_error *err)
{
    cmd_array        labels;
    arras_labelling *l;
    arras_error      why;

    if (!cmd_array_new(&labels, label_type(cells->rank, cells->shape), cells->rank, cells->shape))
        return cmd_fail(err, "out of memory for the labels of %s", r->names[0]);
    arras_buffer from = { cells->data, cells->dtype, cells->rank, cells->shape, NULL };
    arras_buffer to = { labels.data, labels.dtype, labels.rank, labels.shape, NULL };
    bool         ok = arras_label_start(&l, &from, &to, &r->options, &why) == ARRAS_OK ||
              cmd_fail(err, "%s", why.text);
    if (ok) {
        ok = watch(count, l, err);
        cmd_interrupt_release();
        arras_label_free(l);
    }
    ok = ok && cmd_sink_write(r->names[1], &labels, err);
    cmd_array_free(&labels);
    return ok;
}

static bool label_in_memory(int64_t *count, const request *r, cmd_error *err)
{
    cmd_array cells;

    if (!cmd_source_read(&cells, r->names[0], err))
        return false;
    bool ok = label_array(count, &cells, r, err);
    cmd_array_free(&cells);
    return ok;
}

/* ---- The command ----------------------------------------------------------------------------- */

static bool is_file(const cmd_place *place)
{
    return place->format >= CMD_FORMAT_NPY || cmd_stored_is(place);
}

static bool label(int64_t *count, const request *r, cmd_error *err)
{
    cmd_place from = { 0 }, to = { 0 };
    bool ok = cmd_place_parse(&from, r->names[0], err) && cmd_place_parse(&to, r->names[1], err) &&
              cmd_sink_check_apart(r->names[1], r->names[0], err);

    if (ok)
        ok = is_file(&from) && is_file(&to) ? label_files(count, &from, &to, r, err)
                                            : label_in_memory(count, r, err);
    cmd_place_free(&from);
    cmd_place_free(&to);
    return ok;
}

int cmd_label(int argc, char **argv)
{
    request   r = { .nnames = 0 };
    int64_t   count = 0;
    cmd_error err;

    if (!parse(&r, argc, argv, &err))
        return cmd_complain("%s", err.text);
    cmd_interrupt_start();
    if (!r.quiet)
        cmd_progress_start();
    bool ok = label(&count, &r, &err);
    cmd_progress_stop();
    if (!ok)
        return cmd_complain("%s", err.text);
    if (!r.quiet)
        fprintf(strcmp(r.names[1], "-") == 0 ? stderr : stdout, "%" PRId64 " component%s\n", count,
                count == 1 ? "" : "s");
    return 0;
}
