/* files.c -- arrays in files: the public face of store/. */
#include "store/store.h"

#include <unistd.h>

static int threads_or_all(int threads)
{
    long cpus = sysconf(_SC_NPROCESSORS_ONLN);

    return threads > 0 ? threads : cpus > 0 ? (int)cpus : 1;
}

static arras_status give_text(char **out, ar_text *text, arras_status status, arras_error *err)
{
    ar_text_add(text, ""); /* also nothing is a text */
    if (status == ARRAS_OK && text->failed)
        status = ar_fail_memory(err, text->length);
    if (status == ARRAS_OK)
        *out = text->data;
    else
        ar_text_free(text);
    return status;
}

static arras_status no_argument(const char *function, const char *what, arras_error *err)
{
    return ar_fail(err, ARRAS_EINVAL, "%s: %s is NULL", function, what);
}

arras_status arras_source_open(arras_source **out, const char *path, const char *inside,
                               arras_error *err)
{
    if (!out || !path)
        return no_argument("arras_source_open", out ? "path" : "out", err);
    return ar_store_open(out, path, inside, err);
}

arras_status arras_source_open_with(arras_source **out, const char *path, const char *inside,
                                    const arras_source_options *options, arras_error *err)
{
    static const arras_source_options raw;

    if (!out || !path)
        return no_argument("arras_source_open_with", out ? "path" : "out", err);
    return ar_store_open_with(out, path, inside, options ? options : &raw, err);
}

void arras_source_close(arras_source *s)
{
    if (!s)
        return;
    ar_source_log_close(s);
    s->type->close(s);
}

const arras_store_info *arras_source_info(const arras_source *s) { return s ? &s->info : NULL; }

arras_status arras_source_describe(char **out, arras_source *s, arras_error *err)
{
    ar_text      text = { 0 };
    arras_status status = ARRAS_OK;

    if (!out || !s)
        return no_argument("arras_source_describe", out ? "the source" : "out", err);
    if (s->type->describe)
        status = s->type->describe(s, &text, err);
    return give_text(out, &text, status, err);
}

arras_status arras_source_read(arras_source *s, const int64_t *lo, const int64_t *hi, void *cells,
                               const int64_t *strides, int threads, arras_error *err)
{
    if (!s || !cells || (s->info.rank > 0 && (!lo || !hi)))
        return no_argument("arras_source_read", s ? cells ? "lo or hi" : "cells" : "the source",
                           err);
    arras_status status = ar_source_read(s, lo, hi, cells, strides, threads_or_all(threads), err);
    return status == ARRAS_OK ? ar_source_note(s, lo, hi, err) : status;
}

arras_status arras_source_log(arras_source *s, const char *path, arras_error *err)
{
    return s ? ar_source_log(s, path, err) : no_argument("arras_source_log", "the source", err);
}

void arras_source_fetched(int64_t *chunks, int64_t *bytes, const arras_source *s)
{
    const arras_source *stored = s ? ar_source_stored(s) : NULL;

    if (chunks)
        *chunks = stored ? atomic_load(&stored->fetched) : 0;
    if (bytes)
        *bytes = stored ? atomic_load(&stored->fetched_bytes) : 0;
}

arras_status arras_source_list(char **out, const char *path, const char *inside, arras_error *err)
{
    ar_text text = { 0 };

    if (!out || !path)
        return no_argument("arras_source_list", out ? "path" : "out", err);
    return give_text(out, &text, ar_store_list(&text, path, inside, err), err);
}

static arras_status check_new(const char *path, arras_dtype dtype, int rank, const int64_t *shape,
                              arras_error *err)
{
    if (rank < 0 || rank > ARRAS_MAX_RANK || arras_dtype_size(dtype) == 0)
        return ar_fail(err, ARRAS_EINVAL, "%s: rank %d, type %s", path, rank,
                       arras_dtype_name(dtype));
    for (int d = 0; d < rank; d++)
        if (shape[d] < 0)
            return ar_fail(err, ARRAS_ESHAPE, "%s: axis %d would have %" PRId64 " cells", path, d,
                           shape[d]);
    return ARRAS_OK;
}

arras_status arras_sink_create(arras_sink **out, const char *path, const char *inside,
                               arras_dtype dtype, int rank, const int64_t *shape,
                               const arras_sink_options *options, arras_error *err)
{
    arras_status status;

    if (!out || !path || (rank > 0 && !shape))
        return no_argument("arras_sink_create", out ? path ? "shape" : "path" : "out", err);
    status = check_new(path, dtype, rank, shape, err);
    if (status != ARRAS_OK)
        return status;
    return ar_store_create(out, path, inside, dtype, rank, shape, options, err);
}

arras_status arras_sink_append(arras_sink **out, const char *path, const char *inside, int axis,
                               int64_t extra, arras_error *err)
{
    if (!out || !path)
        return no_argument("arras_sink_append", out ? "path" : "out", err);
    return ar_store_append(out, path, inside, axis, extra, err);
}

void arras_sink_tidy(const char *path)
{
    if (path)
        ar_store_tidy_file(path);
}

arras_status arras_sink_resume(arras_sink **out, const char *path, const char *inside,
                               arras_dtype dtype, int rank, const int64_t *shape,
                               const arras_sink_options *options, const char *identity,
                               double period, arras_error *err)
{
    arras_status status;

    if (!out || !path || !identity || (rank > 0 && !shape))
        return no_argument("arras_sink_resume",
                           !out        ? "out"
                           : !path     ? "path"
                           : !identity ? "identity"
                                       : "shape",
                           err);
    if (!(period > 0 && period < 1e6))
        return ar_fail(err, ARRAS_EINVAL, "%s: a checkpoint every %g seconds", path, period);
    status = check_new(path, dtype, rank, shape, err);
    if (status != ARRAS_OK)
        return status;
    return ar_store_create_partial(out, path, inside, dtype, rank, shape, options, identity, period,
                                   err);
}

const arras_store_info *arras_sink_info(const arras_sink *s) { return s ? &s->info : NULL; }

arras_status arras_sink_write(arras_sink *s, const int64_t *lo, const int64_t *hi,
                              const void *cells, const int64_t *strides, int threads,
                              arras_error *err)
{
    if (!s || !cells || (s->info.rank > 0 && (!lo || !hi)))
        return no_argument("arras_sink_write", s ? cells ? "lo or hi" : "cells" : "the sink", err);
    return ar_sink_write(s, lo, hi, cells, strides, threads_or_all(threads), err);
}

arras_status arras_sink_finish(arras_sink *s, arras_error *err)
{
    return s ? s->type->finish(s, err) : no_argument("arras_sink_finish", "the sink", err);
}

void arras_sink_abandon(arras_sink *s)
{
    if (s)
        s->type->abandon(s);
}

void arras_sinks_discard(void) { ar_drafts_discard(); }
