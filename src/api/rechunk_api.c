/* rechunk_api.c -- arrays in other chunks: the public face of stream/rechunk.c. */
#include "rechunk/rechunk.h"

arras_status arras_rechunk_start(arras_rechunking **out, arras_source *source, arras_sink *sink,
                                 const arras_rechunk_options *options, arras_error *err)
{
    static const arras_rechunk_options defaults;

    if (!out || !source || !sink)
        return ar_fail(err, ARRAS_EINVAL, "rechunk: the %s is NULL",
                       !source ? "source"
                       : !sink ? "sink"
                               : "place for the rechunking");
    options = options ? options : &defaults;
    if (options->threads < 0 || options->memory < 0)
        return ar_fail(err, ARRAS_EINVAL,
                       "rechunk: %d threads and %" PRId64
                       " bytes of memory: neither may be negative",
                       options->threads, options->memory);
    return ar_rechunking_start(out, source, sink, options, err);
}

arras_status arras_rechunk_wait(arras_rechunking *r, arras_error *err)
{
    return r ? ar_rechunking_wait(r, err)
             : ar_fail(err, ARRAS_EINVAL, "rechunk: there is nothing to wait for");
}

void arras_rechunk_cancel(arras_rechunking *r)
{
    if (r)
        ar_rechunking_cancel(r);
}

double arras_rechunk_progress(const arras_rechunking *r)
{
    return r ? ar_rechunking_progress(r) : -1;
}

void arras_rechunk_look(arras_rechunk_report *out, const arras_rechunking *r)
{
    if (out && r)
        ar_rechunking_report(out, r);
}

void arras_rechunk_free(arras_rechunking *r)
{
    if (r)
        ar_rechunking_free(r);
}

arras_status arras_rechunk(arras_rechunk_report *report, arras_source *source, arras_sink *sink,
                           const arras_rechunk_options *options, arras_error *err)
{
    arras_rechunking *r;
    arras_status      status = arras_rechunk_start(&r, source, sink, options, err);

    if (status != ARRAS_OK)
        return status;
    status = arras_rechunk_wait(r, err);
    if (status == ARRAS_OK)
        arras_rechunk_look(report, r);
    arras_rechunk_free(r);
    return status;
}
