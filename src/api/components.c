/* components.c -- connected components: the public face of label/. */
#include "label/label.h"

#include <string.h>

static arras_status check_buffer(const arras_buffer *b, const char *what, arras_error *err)
{
    if (!b)
        return ar_fail(err, ARRAS_EINVAL, "label: the %s are NULL", what);
    if (b->rank < 0 || b->rank > ARRAS_MAX_RANK || (b->rank > 0 && !b->shape))
        return ar_fail(err, ARRAS_EINVAL, "label: the %s have rank %d and no shape that fits", what,
                       b->rank);
    for (int d = 0; d < b->rank; d++) {
        if (b->shape[d] < 0)
            return ar_fail(err, ARRAS_ESHAPE, "label: axis %d of the %s has %" PRId64 " cells", d,
                           what, b->shape[d]);
        if (b->shape[d] == 0)
            return ARRAS_OK;
    }
    return b->data ? ARRAS_OK : ar_fail(err, ARRAS_EINVAL, "label: the %s have no data", what);
}

static void print_shape(ar_text *out, int rank, const int64_t *shape)
{
    for (int d = 0; d < rank; d++)
        ar_text_printf(out, "%s%" PRId64, d ? ", " : "", shape[d]);
}

static arras_status check_shapes(int rank, const int64_t *shape, int other_rank,
                                 const int64_t *other, arras_error *err)
{
    ar_text      cells = { 0 }, labels = { 0 };
    arras_status status;

    if (rank == other_rank &&
        (rank == 0 || memcmp(shape, other, (size_t)rank * sizeof *shape) == 0))
        return ARRAS_OK;
    print_shape(&cells, rank, shape);
    print_shape(&labels, other_rank, other);
    status = ar_fail(err, ARRAS_ESHAPE, "label: cells of shape [%s], labels of shape [%s]",
                     cells.data ? cells.data : "", labels.data ? labels.data : "");
    ar_text_free(&cells);
    ar_text_free(&labels);
    return status;
}

static arras_status start(arras_labelling **out, ar_label_request *r,
                          const arras_label_options *options, arras_error *err)
{
    if (!out)
        return ar_fail(err, ARRAS_EINVAL, "label: the place for the labelling is NULL");
    if (options)
        r->options = *options;
    if (r->options.threads < 0 || r->options.memory < 0)
        return ar_fail(err, ARRAS_EINVAL,
                       "label: %d threads and %" PRId64 " bytes of memory: neither may be negative",
                       r->options.threads, r->options.memory);
    return ar_labelling_start(out, r, err);
}

arras_status arras_label_start(arras_labelling **out, const arras_buffer *cells,
                               const arras_buffer *labels, const arras_label_options *options,
                               arras_error *err)
{
    ar_label_request r = { .cells = cells, .labels = labels };
    arras_status     status = check_buffer(cells, "cells", err);

    if (status == ARRAS_OK)
        status = check_buffer(labels, "labels", err);
    if (status == ARRAS_OK)
        status = check_shapes(cells->rank, cells->shape, labels->rank, labels->shape, err);
    if (status != ARRAS_OK)
        return status;
    r.rank = cells->rank;
    r.shape = cells->shape;
    return start(out, &r, options, err);
}

arras_status arras_label_stored_start(arras_labelling **out, arras_source *source, arras_sink *sink,
                                      const arras_label_options *options, arras_error *err)
{
    ar_label_request r = { .source = source, .sink = sink };
    arras_status     status;

    if (!source || !sink)
        return ar_fail(err, ARRAS_EINVAL, "label: the %s is NULL", source ? "sink" : "source");
    status =
        check_shapes(source->info.rank, source->info.shape, sink->info.rank, sink->info.shape, err);
    if (status != ARRAS_OK)
        return status;
    r.rank = source->info.rank;
    r.shape = source->info.shape;
    return start(out, &r, options, err);
}

arras_status arras_label_wait(int64_t *count, arras_labelling *l, arras_error *err)
{
    return l ? ar_labelling_wait(count, l, err)
             : ar_fail(err, ARRAS_EINVAL, "label: the labelling is NULL");
}

void arras_label_free(arras_labelling *l)
{
    if (l)
        ar_labelling_free(l);
}

void arras_label_cancel(arras_labelling *l)
{
    if (l)
        ar_labelling_cancel(l);
}

double arras_label_progress(const arras_labelling *l) { return l ? ar_labelling_progress(l) : -1; }

static arras_status finish(int64_t *count, arras_labelling *l, arras_error *err)
{
    arras_status status = ar_labelling_wait(count, l, err);

    ar_labelling_free(l);
    return status;
}

arras_status arras_label(int64_t *count, const arras_buffer *cells, const arras_buffer *labels,
                         const arras_label_options *options, arras_error *err)
{
    arras_labelling *l;
    arras_status     status = arras_label_start(&l, cells, labels, options, err);

    return status == ARRAS_OK ? finish(count, l, err) : status;
}

arras_status arras_label_stored(int64_t *count, arras_source *source, arras_sink *sink,
                                const arras_label_options *options, arras_error *err)
{
    arras_labelling *l;
    arras_status     status = arras_label_stored_start(&l, source, sink, options, err);

    return status == ARRAS_OK ? finish(count, l, err) : status;
}
