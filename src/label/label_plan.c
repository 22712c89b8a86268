/* label_plan.c -- what is asked for is checked and cut into tiles that fit into memory. */
#include "label/label_parts.h"

/* ---- What is asked for ----------------------------------------------------------------------- */

/* Neighbours differ along at most 1, 2, ... axes; that many of them there are. */
static const int neighbours[AR_LABEL_AXES][AR_LABEL_AXES] = { { 2 }, { 4, 8 }, { 6, 18, 26 } };

static arras_status find_touch(int *out, int rank, int wanted, arras_error *err)
{
    static const char *const choices[] = { "2", "4 or 8", "6, 18 or 26" };

    for (int k = 0; k < rank; k++)
        if (wanted == neighbours[rank - 1][k] || (wanted == 0 && k == 0)) {
            *out = k + 1;
            return ARRAS_OK;
        }
    return ar_fail(err, ARRAS_EINVAL, "label: %d neighbours; a cell of an array of rank %d has %s",
                   wanted, rank, choices[rank - 1]);
}

static arras_status find_shape(ar_labelling *l, arras_error *err)
{
    const ar_label_request *r = &l->request;
    int64_t                 cells = 1;
    int                     missing = AR_LABEL_AXES - r->rank;

    if (r->rank < 1 || r->rank > AR_LABEL_AXES)
        return ar_fail(err, ARRAS_ESHAPE,
                       "label: an array of rank %d; components are found in arrays of rank 1 to 3",
                       r->rank);
    for (int d = 0; d < AR_LABEL_AXES; d++) {
        l->grid.shape[d] = d < missing ? 1 : r->shape[d - missing];
        if (!ar_mul64(&cells, cells, l->grid.shape[d]) || cells > INT64_MAX / 64)
            return ar_fail(err, ARRAS_ESIZE, "label: the array has more than 2^57 cells");
    }
    return find_touch(&l->grid.touch, r->rank, r->options.neighbours, err);
}

/* ---- Arrays in memory ------------------------------------------------------------------------ */

/* Strides of all three axes. */
static void strides_of(int64_t *out, const arras_buffer *b, const int64_t *shape)
{
    int missing = AR_LABEL_AXES - b->rank;

    out[2] = (int64_t)arras_dtype_size(b->dtype);
    out[1] = out[2] * shape[2];
    out[0] = out[1] * shape[1];
    for (int d = missing; b->strides && d < AR_LABEL_AXES; d++)
        out[d] = b->strides[d - missing];
}

static void use_buffers(ar_labelling *l)
{
    const ar_label_request *r = &l->request;

    if (r->cells) {
        l->cells.first = r->cells->data;
        strides_of(l->cells.strides, r->cells, l->grid.shape);
    }
    if (r->labels) {
        l->labels = r->labels->data;
        strides_of(l->label_strides, r->labels, l->grid.shape);
    }
}

/* ---- Arrays at rest: memory is divided ------------------------------------------------------- */

/* Sinks are written in whole chunks; sources are better read so. */
static void find_unit(int64_t *unit, const ar_labelling *l, bool both)
{
    const ar_label_request *r = &l->request;
    int                     missing = AR_LABEL_AXES - r->rank;

    for (int d = 0; d < AR_LABEL_AXES; d++) {
        int64_t in = 1, out = 1;

        if (d >= missing && r->source && r->source->info.chunked)
            in = r->source->info.chunk[d - missing];
        if (d >= missing && r->sink && r->sink->info.chunked)
            out = r->sink->info.chunk[d - missing];
        unit[d] = ar_min64(both ? ar_common_multiple(in, out) : out, l->grid.shape[d]);
    }
}

static int64_t cells_in(const int64_t *unit) { return unit[0] * unit[1] * unit[2]; }

/* Bytes for each cell of a tile while it is worked on: cells, labels, and runs at their worst. */
static int64_t bytes_per_cell(const ar_labelling *l)
{
    enum { RUNS = 3 };

    return RUNS + (int64_t)(l->request.source ? l->cells.size : 0) +
           (int64_t)(l->request.sink ? l->label_size : 0);
}

/* Of a thread, which reads a tile or writes one. */
static int64_t in_hand(const ar_label_request *r)
{
    return ar_max64(r->source ? ar_source_in_hand(r->source) : 0,
                    r->sink ? ar_sink_in_hand(r->sink) : 0);
}

/* A quarter at most is for chunks on their way; of the rest a half is for tiles, a quarter for runs
 * and as much for what they become. */
static arras_status divide_memory(ar_labelling *l, arras_error *err)
{
    enum { TILES_PER_THREAD = 8, LARGE = 1 << 26, SMALL = 1 << 20 };
    int64_t all = l->request.options.memory > 0 ? l->request.options.memory : ar_memory_fair();
    int64_t hand = in_hand(&l->request), memory, most, unit[AR_LABEL_AXES];
    int64_t cells = cells_in(l->grid.shape);

    l->threads = ar_scratches_within(all / 4, hand, l->threads);
    memory = ar_max64(0, all - l->threads * hand);
    most = memory / 2 / bytes_per_cell(l);

    find_unit(unit, l, true);
    if (cells_in(unit) > most / l->threads)
        find_unit(unit, l, false);
    if (cells_in(unit) > most)
        return ar_fail(err, ARRAS_ELIMIT,
                       "label: chunks of %" PRId64 " cells need %" PRId64
                       " MB of memory and may have %" PRId64 ": allow more or take smaller chunks",
                       cells_in(unit), ((2 * cells_in(unit) * bytes_per_cell(l) + hand) >> 20) + 1,
                       all >> 20);
    l->threads = (int)ar_min64(l->threads, most / ar_max64(1, cells_in(unit)));
    most = ar_min64(ar_min64(most / l->threads, LARGE),
                    ar_max64(SMALL, cells / (TILES_PER_THREAD * l->threads)));
    ar_label_tiles_stored(&l->grid, unit, most);
    l->runs_most = l->table_most = memory / 4;
    return ARRAS_OK;
}

static arras_status choose_tiles(ar_labelling *l, arras_error *err)
{
    const ar_label_request *r = &l->request;
    int64_t                 tile[AR_LABEL_AXES] = { 1, 1, 1 };
    arras_status            status = ARRAS_OK;

    l->runs_most = l->table_most = INT64_MAX / 2;
    if (r->source || r->sink)
        status = divide_memory(l, err);
    else
        ar_label_tiles_memory(&l->grid, l->threads);
    for (int d = 0; r->tile && d < r->rank; d++)
        tile[AR_LABEL_AXES - r->rank + d] = r->tile[d];
    if (r->tile && status == ARRAS_OK)
        ar_label_grid_cut(&l->grid, tile);
    if (r->forget)
        l->runs_most = 0;
    /* Little work wakes nobody. */
    l->threads = (int)ar_max64(1, ar_min64(l->threads, l->grid.total));
    return status;
}

arras_status ar_label_plan(ar_labelling *l, arras_error *err)
{
    const ar_label_request *r = &l->request;
    arras_dtype             dtype = r->cells ? r->cells->dtype : r->source->info.dtype;
    arras_status            status = find_shape(l, err);

    if (status == ARRAS_OK)
        status = ar_label_rule_make(&l->rule, &r->options, dtype, err);
    if (status != ARRAS_OK)
        return status;
    l->cells.size = arras_dtype_size(dtype);
    l->label_dtype = r->labels ? r->labels->dtype : r->sink->info.dtype;
    l->label_size = arras_dtype_size(l->label_dtype);
    if (l->label_dtype != ARRAS_I32 && l->label_dtype != ARRAS_I64)
        return ar_fail(err, ARRAS_EDTYPE, "label: labels of type %s; they are i32 or i64",
                       arras_dtype_name(l->label_dtype));
    l->threads = r->options.threads > 0 ? (int)ar_min64(r->options.threads, AR_POOL_MAX_THREADS)
                                        : ar_cpu_count();
    use_buffers(l);
    return choose_tiles(l, err);
}
