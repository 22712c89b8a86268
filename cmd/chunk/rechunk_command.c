/* rechunk_command.c -- `arras rechunk`: an array into other chunks, from file to file. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>

#include "cmd/chunk/rechunk_request.h"
#include "cmd/commands.h"
#include "cmd/interrupt.h"
#include "cmd/io/names.h"
#include "cmd/io/quantity.h"
#include "cmd/io/stored.h"
#include "cmd/progress.h"

typedef struct {
    cmd_rechunk_request request;
    cmd_place           from, to;
    arras_source       *source;
    arras_sink         *sink;
    int64_t             began; /* ns */
} job;

static bool give_up(cmd_error *err, const arras_error *why)
{
    return cmd_fail(err, "%s", why->text);
}

static int64_t now(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

/* ---- Source and sink ------------------------------------------------------------------------- */

static bool check_file(const cmd_place *place, const char *text, const char *what, cmd_error *err)
{
    return place->format >= CMD_FORMAT_NPY || cmd_stored_is(place) ||
           cmd_fail(err, "%s: the %s of rechunk is an array in a file: .npy, HDF5, netCDF or Zarr",
                    text, what);
}

/* The source stays as it is, to the last byte of its file. */
static bool check_apart(const job *j, cmd_error *err)
{
    struct stat a, b;
    const char *from = j->from.part ? j->from.part : "", *to = j->to.part ? j->to.part : "";
    bool        groups = j->to.format == CMD_FORMAT_ZARR; /* an array is a directory of its own */

    if (stat(j->from.file, &a) != 0 || stat(j->to.file, &b) != 0 || a.st_dev != b.st_dev ||
        a.st_ino != b.st_ino)
        return true;
    if (groups && strcmp(from + strspn(from, "/"), to + strspn(to, "/")) != 0)
        return true;
    return cmd_fail(err,
                    "%s and %s are the same file; rechunk writes a new one, so that the "
                    "source stays as it is",
                    j->request.source, j->request.sink);
}

/* Numbers as they are stored: packed cells stay packed. */
static bool open_source(job *j, cmd_error *err)
{
    bool        replaces = j->from.options.missing == ARRAS_MISSING_REPLACE;
    arras_error why;

    if (arras_source_open_with(&j->source, j->from.file, j->from.part,
                               replaces ? &j->from.options : NULL, &why) != ARRAS_OK)
        return give_up(err, &why);
    const arras_store_info *info = arras_source_info(j->source);
    return info->dtype != ARRAS_NO_DTYPE || cmd_stored_no_numbers(info, j->request.source, err);
}

/* Within a format they stay what they are. */
static const char *codecs_of(const job *j, const arras_store_info *info)
{
    bool same = (strncmp(info->format, "Zarr", 4) == 0) == (j->to.format == CMD_FORMAT_ZARR);

    if (j->request.codec)
        return j->request.codec;
    return same && info->codecs[0] ? info->codecs : NULL;
}

/* What is copied, and into what: text of the caller. */
static bool identify(char **out, const job *j, const arras_sink_options *options, cmd_error *err)
{
    const arras_store_info *info = arras_source_info(j->source);
    struct stat             st;
    size_t                  size;
    FILE                   *text = open_memstream(out, &size);

    if (!text)
        return cmd_fail(err, "out of memory");
    fprintf(text, "arras %s\nrechunk %s: %s", arras_version(), j->request.source,
            arras_dtype_name(info->dtype));
    for (int d = 0; d < info->rank; d++)
        fprintf(text, " %" PRId64, info->shape[d]);
    if (stat(j->from.file, &st) == 0)
        fprintf(text, ", %lld bytes, changed %lld.%09ld", (long long)st.st_size,
                (long long)st.st_mtim.tv_sec, st.st_mtim.tv_nsec);
    fprintf(text, "\ncodecs %s\nchunk", options->codecs ? options->codecs : "-");
    for (int d = 0; d < info->rank && options->chunk; d++)
        fprintf(text, " %" PRId64, options->chunk[d]);
    fputc('\n', text);
    return fclose(text) == 0 || cmd_fail(err, "out of memory");
}

static bool create(job *j, const arras_sink_options *options, cmd_error *err)
{
    const arras_store_info *info = arras_source_info(j->source);
    char                   *identity = NULL;
    arras_error             why;
    arras_status            status;

    if (j->request.resume && !identify(&identity, j, options, err))
        return false;
    status = identity
                 ? arras_sink_resume(&j->sink, j->to.file, j->to.part, info->dtype, info->rank,
                                     info->shape, options, identity, j->request.checkpoint, &why)
                 : arras_sink_create(&j->sink, j->to.file, j->to.part, info->dtype, info->rank,
                                     info->shape, options, &why);
    free(identity);
    return status == ARRAS_OK || give_up(err, &why);
}

static bool open_sink(job *j, cmd_error *err)
{
    const arras_store_info *info = arras_source_info(j->source);
    int64_t                 chunk[ARRAS_MAX_RANK];
    bool                    chosen, plain = j->to.format == CMD_FORMAT_NPY;
    arras_sink_options      options = { .codecs = codecs_of(j, info), .fill = info->fill };

    if (!cmd_rechunk_choose(chunk, &chosen, &j->request, info, err))
        return false;
    if (plain && (j->request.chunk_text || j->request.codec || j->request.nadvice > 2))
        return cmd_fail(err, "%s: a .npy file has neither chunks nor codecs; write HDF5 or Zarr",
                        j->request.sink);
    if (plain)
        return create(j, &(arras_sink_options){ .fill = info->fill }, err);
    options.chunk = chosen && info->rank > 0 ? chunk : NULL;
    options.growable = info->growable;
    options.like = j->source;
    return create(j, &options, err);
}

static bool open_all(job *j, cmd_error *err)
{
    const cmd_rechunk_request *r = &j->request;

    return cmd_place_parse(&j->from, r->source, err) && cmd_place_parse(&j->to, r->sink, err) &&
           check_file(&j->from, r->source, "source", err) &&
           check_file(&j->to, r->sink, "sink", err) && check_apart(j, err) && open_source(j, err) &&
           open_sink(j, err);
}

/* ---- What is done ---------------------------------------------------------------------------- */

static void print_lengths(int rank, const int64_t *lengths)
{
    putchar('[');
    for (int d = 0; d < rank; d++)
        printf("%s%" PRId64, d ? ", " : "", lengths[d]);
    putchar(']');
}

static int64_t bytes_of(const arras_store_info *info, const int64_t *lengths)
{
    int64_t bytes = (int64_t)arras_dtype_size(info->dtype);

    for (int d = 0; d < info->rank; d++)
        bytes *= lengths[d];
    return bytes;
}

static void print_times(const arras_rechunk_report *report)
{
    if (report->chunks == 0)
        puts("the source has no chunks: each cell is read once");
    else if (report->times == 1)
        printf("each of the %" PRId64 " chunks of the source is read once\n", report->chunks);
    else
        printf("each of the %" PRId64 " chunks of the source is read %.4g times; with more memory "
               "it would be less\n",
               report->chunks, report->times);
}

static void print_plan(const job *j, const arras_rechunk_report *report)
{
    const arras_store_info *to = arras_sink_info(j->sink);
    char                    room[CMD_QUANTITY_ROOM];

    if (to->chunked) {
        printf("chunks   ");
        print_lengths(to->rank, to->chunk);
        printf(", %s%s%s\n", cmd_quantity_bytes(room, bytes_of(to, to->chunk)),
               to->codecs[0] ? ", " : "", to->codecs);
    }
    printf("boxes    %" PRId64 " of ", report->boxes);
    print_lengths(to->rank, report->box);
    printf(", %s", cmd_quantity_bytes(room, report->boxes ? bytes_of(to, report->box) : 0));
    if (report->boxes_before > 0)
        printf("; %" PRId64 " are there already", report->boxes_before);
    printf("\nmemory   %s: %d box%s at once, %d thread%s\nreads    ",
           cmd_quantity_bytes(room, report->memory), report->lanes, report->lanes == 1 ? "" : "es",
           report->threads, report->threads == 1 ? "" : "s");
    print_times(report);
    fflush(stdout);
}

static void print_result(const job *j, const arras_rechunk_report *report)
{
    const arras_store_info *info = arras_source_info(j->source);
    int64_t                 bytes = bytes_of(info, info->shape), took = now() - j->began;
    char size[CMD_QUANTITY_ROOM], time[CMD_QUANTITY_ROOM], speed[CMD_QUANTITY_ROOM];

    printf("done     %s in %s, %s/s", cmd_quantity_bytes(size, bytes),
           cmd_quantity_time(time, took),
           cmd_quantity_bytes(speed, (int64_t)((double)bytes / ((double)took / 1e9))));
    if (report->chunks > 0)
        printf("; %" PRId64 " chunks were read", report->read);
    putchar('\n');
}

static double part_of(const void *rechunking) { return arras_rechunk_progress(rechunking); }

static void cancel(void *rechunking) { arras_rechunk_cancel(rechunking); }

/* A signal ends the work, so that what was begun can be put away. */
static bool watch(job *j, arras_rechunking *r, cmd_error *err)
{
    arras_error why;

    cmd_progress_stage("rechunking", 0);
    cmd_progress_ask(part_of, r);
    cmd_interrupt_hold(cancel, r);
    arras_status status = arras_rechunk_wait(r, &why);
    cmd_progress_ask(NULL, NULL);
    if (status != ARRAS_OK) {
        arras_sink_abandon(j->sink);
        j->sink = NULL;
    }
    cmd_interrupt_release();
    return status == ARRAS_OK || give_up(err, &why);
}

static bool finish(job *j, cmd_error *err)
{
    arras_sink *sink = j->sink;

    cmd_progress_stage("finishing", 0);
    j->sink = NULL;
    return cmd_stored_finish(sink, err);
}

static bool copy(job *j, cmd_error *err)
{
    arras_rechunk_options options = { j->request.memory, j->request.threads };
    arras_rechunk_report  report = { .boxes = 0 };
    arras_rechunking     *r;
    arras_error           why;

    if (arras_rechunk_start(&r, j->source, j->sink, &options, &why) != ARRAS_OK)
        return give_up(err, &why);
    arras_rechunk_look(&report, r);
    if (!j->request.quiet) {
        print_plan(j, &report);
        cmd_progress_start();
    }
    bool ok = watch(j, r, err);
    arras_rechunk_look(&report, r);
    arras_rechunk_free(r);
    ok = ok && finish(j, err);
    cmd_progress_stop();
    if (ok && !j->request.quiet)
        print_result(j, &report);
    return ok;
}

int cmd_rechunk(int argc, char **argv)
{
    job       j = { .began = now() };
    cmd_error err;

    cmd_interrupt_start();
    bool ok = cmd_rechunk_request_read(&j.request, argc, argv, &err) && open_all(&j, &err) &&
              copy(&j, &err);
    arras_sink_abandon(j.sink);
    arras_source_close(j.source);
    cmd_place_free(&j.from);
    cmd_place_free(&j.to);
    cmd_rechunk_request_free(&j.request);
    return ok ? 0 : cmd_complain("%s", err.text);
}
