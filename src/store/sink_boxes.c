/* sink_boxes.c -- a whole sink, written in boxes of whole chunks as large as memory allows. */
#include "store/store.h"

/* Along the last axis first. */
static void choose_extent(int64_t *extent, const ar_store_info *info, int64_t memory)
{
    int64_t bytes = (int64_t)arras_dtype_size(info->dtype);

    for (int d = 0; d < info->rank; d++) {
        extent[d] = info->chunked ? ar_min64(info->chunk[d], info->shape[d]) : 1;
        bytes *= extent[d];
    }
    for (int d = info->rank - 1; d >= 0; d--) {
        int64_t times = ar_max64(1, memory / bytes), chunk = extent[d];

        extent[d] = times > info->shape[d] / chunk ? info->shape[d] : chunk * times;
        bytes = bytes / chunk * extent[d];
    }
}

static bool next_box(ar_box *box, const ar_store_info *info, const int64_t *extent)
{
    for (int d = info->rank - 1; d >= 0; d--) {
        bool more = box->hi[d] < info->shape[d];

        box->lo[d] = more ? box->hi[d] : 0;
        box->hi[d] = ar_min64(info->shape[d], box->lo[d] + extent[d]);
        if (more)
            return true;
    }
    return false;
}

static arras_status write_boxes(ar_sink *sink, const int64_t *extent, char *cells, int threads,
                                ar_box_reader *read, void *context, arras_error *err)
{
    ar_box       box = { .rank = sink->info.rank };
    arras_status status;

    for (int d = 0; d < box.rank; d++)
        box.hi[d] = extent[d];
    do {
        status = read(context, &box, cells, err);
        if (status == ARRAS_OK)
            status = ar_sink_write(sink, box.lo, box.hi, cells, NULL, threads, err);
    } while (status == ARRAS_OK && next_box(&box, &sink->info, extent));
    return status;
}

arras_status ar_sink_write_all(ar_sink *sink, int64_t memory, int threads, ar_box_reader *read,
                               void *context, arras_error *err)
{
    int64_t      extent[ARRAS_MAX_RANK], cells = 1;
    char        *block;
    arras_status status;

    for (int d = 0; d < sink->info.rank; d++)
        if (sink->info.shape[d] == 0)
            return ARRAS_OK;
    choose_extent(extent, &sink->info, memory);
    for (int d = 0; d < sink->info.rank; d++)
        cells *= extent[d];
    block = ar_alloc((size_t)cells, arras_dtype_size(sink->info.dtype));
    if (!block)
        return ar_fail_memory(err, (size_t)cells * arras_dtype_size(sink->info.dtype));
    status = write_boxes(sink, extent, block, threads, read, context, err);
    ar_free(block);
    return status;
}
