/* box_read.c -- boxes of cells from any source: chunks are fetched, decoded and cut to the box. */
#include "store/boxes.h"
#include "store/flat/flat.h"

#include <string.h>

/* ---- One chunk ------------------------------------------------------------------------------- */

static void print_chunk(char *out, size_t size, int rank, const int64_t *chunk)
{
    ar_text text = { 0 };

    for (int d = 0; d < rank; d++)
        ar_text_printf(&text, "%s%" PRId64, d ? ", " : "", chunk[d]);
    strncpy(out, text.data ? text.data : "", size - 1);
    out[size - 1] = '\0';
    ar_text_free(&text);
}

/* Files may hold any byte for true. */
static void make_bools(uint8_t *cells, size_t n)
{
    for (size_t i = 0; i < n; i++)
        cells[i] = cells[i] != 0;
}

static void fill_chunk(const ar_source *s, char *cells, size_t size)
{
    size_t cell = arras_dtype_size(s->info.dtype);

    for (size_t at = 0; at < size; at += cell)
        memcpy(cells + at, s->info.fill, cell);
}

/* Records are decoded behind the bytes they come from, then picked apart. */
static arras_status decode_records(const ar_source *s, void *cells, size_t size,
                                   ar_chunk_bytes *bytes, arras_error *err)
{
    size_t       n = size / arras_dtype_size(s->info.dtype), all = n * s->record.bytes;
    arras_status status;

    if (!ar_text_reserve(&bytes->bytes, all))
        return ar_fail_memory(err, all);
    char *records = bytes->bytes.data + bytes->bytes.length;
    status = ar_chain_decode_with(&bytes->between, &s->chain, bytes->skipped, records, all,
                                  bytes->bytes.data, bytes->bytes.length, err);
    if (status == ARRAS_OK)
        ar_flat_pick(cells, s->info.dtype, s->record.swapped, s->record.half,
                     records + s->record.at, (int64_t)s->record.bytes, (int64_t)n);
    return status;
}

static arras_status decode(const ar_source *s, void *cells, size_t size, ar_chunk_bytes *bytes,
                           arras_error *err)
{
    if (s->record.bytes)
        return decode_records(s, cells, size, bytes, err);
    return ar_chain_decode_with(&bytes->between, &s->chain, bytes->skipped, cells, size,
                                bytes->bytes.data, bytes->bytes.length, err);
}

/* Which bytes of a chunk are wanted. */
typedef struct {
    size_t size, at, n;
} byte_range;

static bool has_cells_as_stored(const ar_source *s)
{
    return s->chain.n == 0 && !s->record.bytes && s->info.dtype != ARRAS_BOOL;
}

static arras_status fetch(ar_source *s, const int64_t *chunk, const byte_range *part,
                          ar_chunk_bytes *bytes, arras_error *err)
{
    arras_status status;

    ar_text_cut(&bytes->bytes, 0);
    bytes->missing = bytes->part = false;
    bytes->skipped = 0;
    if (part->n < part->size && s->type->fetch_part && has_cells_as_stored(s))
        status = s->type->fetch_part(s, chunk, (int64_t)part->size, (int64_t)part->at,
                                     (int64_t)part->n, bytes, err);
    else
        status = s->type->fetch(s, chunk, bytes, err);
    if (status == ARRAS_OK && !bytes->missing) {
        atomic_fetch_add_explicit(&s->fetched, 1, memory_order_relaxed);
        atomic_fetch_add_explicit(&s->fetched_bytes, (int64_t)bytes->bytes.length,
                                  memory_order_relaxed);
    }
    return status;
}

static arras_status fail_chunk(const ar_source *s, const int64_t *chunk, arras_status status,
                               const arras_error *why, arras_error *err)
{
    char number[200];

    print_chunk(number, sizeof number, s->info.rank, chunk);
    return ar_fail(err, status, "%s: chunk [%s]: %s", s->name, number, why->text);
}

static arras_status decode_fetched(const ar_source *s, const int64_t *chunk, void *cells,
                                   size_t size, ar_chunk_bytes *bytes, arras_error *err)
{
    arras_error  why;
    arras_status status;

    if (bytes->missing) {
        fill_chunk(s, cells, size);
        return ARRAS_OK;
    }
    status = decode(s, cells, size, bytes, &why);
    if (status == ARRAS_OK) {
        if (s->info.dtype == ARRAS_BOOL)
            make_bools(cells, size);
        return ARRAS_OK;
    }
    return fail_chunk(s, chunk, status, &why, err);
}

arras_status ar_source_chunk(ar_source *s, const int64_t *chunk, void *cells, size_t size,
                             ar_chunk_bytes *scratch, arras_error *err)
{
    arras_status status;

    if (s->type->read_chunk)
        return s->type->read_chunk(s, chunk, cells, size, scratch, err);
    status = fetch(s, chunk, &(byte_range){ size, 0, size }, scratch, err);
    return status == ARRAS_OK ? decode_fetched(s, chunk, cells, size, scratch, err) : status;
}

/* ---- One chunk, wherever it comes to be ------------------------------------------------------ */

void ar_chunk_bytes_free(ar_chunk_bytes *bytes)
{
    ar_text_free(&bytes->bytes);
    ar_codec_scratch_free(&bytes->between);
}

void ar_chunk_scratch_free(ar_chunk_scratch *scratch)
{
    ar_chunk_bytes_free(&scratch->bytes);
    ar_free(scratch->cells);
}

void ar_chunk_scratches_free(ar_chunk_scratches *scratches)
{
    for (int i = 0; i < AR_CODEC_TOGETHER; i++)
        ar_chunk_scratch_free(&scratches->each[i]);
}

arras_status ar_chunk_scratch_room(ar_chunk_scratch *scratch, size_t size, arras_error *err)
{
    if (scratch->room >= size)
        return ARRAS_OK;
    ar_free(scratch->cells);
    scratch->cells = ar_alloc(size, 1);
    scratch->room = scratch->cells ? size : 0;
    return scratch->cells ? ARRAS_OK : ar_fail_memory(err, size);
}

/* Where the stored bytes are the cells, or the part that is wanted; NULL: they are not. */
static const char *find_plain(const ar_source *s, const ar_chunk_bytes *bytes,
                              const byte_range *part)
{
    if (!has_cells_as_stored(s) || bytes->missing)
        return NULL;
    if (bytes->part)
        return (const char *)((uintptr_t)bytes->bytes.data - part->at);
    return bytes->bytes.length == part->size ? bytes->bytes.data : NULL;
}

static arras_status view_chunk(const char **cells, ar_source *s, const int64_t *chunk,
                               const byte_range *part, ar_chunk_scratch *scratch, arras_error *err)
{
    bool         fetches = !s->type->read_chunk;
    arras_status status = fetches ? fetch(s, chunk, part, &scratch->bytes, err) : ARRAS_OK;

    *cells = status == ARRAS_OK && fetches ? find_plain(s, &scratch->bytes, part) : NULL;
    if (*cells)
        return ARRAS_OK;
    if (status == ARRAS_OK)
        status = ar_chunk_scratch_room(scratch, part->size, err);
    if (status != ARRAS_OK)
        return status;
    *cells = scratch->cells;
    return fetches
               ? decode_fetched(s, chunk, scratch->cells, part->size, &scratch->bytes, err)
               : s->type->read_chunk(s, chunk, scratch->cells, part->size, &scratch->bytes, err);
}

arras_status ar_source_chunk_view(const char **cells, ar_source *s, const int64_t *chunk,
                                  size_t size, ar_chunk_scratch *scratch, arras_error *err)
{
    return view_chunk(cells, s, chunk, &(byte_range){ size, 0, size }, scratch, err);
}

arras_status ar_source_chunk_part(const char **cells, ar_source *s, const int64_t *chunk,
                                  size_t size, size_t at, size_t n, ar_chunk_scratch *scratch,
                                  arras_error *err)
{
    return view_chunk(cells, s, chunk, &(byte_range){ size, at, n }, scratch, err);
}

/* ---- Chunks among others --------------------------------------------------------------------- */

static ar_box whole_chunk(const ar_store_info *info)
{
    ar_box box = { .rank = info->rank };

    memcpy(box.hi, info->chunk, sizeof *box.hi * (size_t)info->rank);
    return box;
}

/* Bytes that lie side by side here and there; the axes before them are the result. */
static int find_run(int64_t *run, const ar_store_info *info, const int64_t *strides)
{
    int outer = info->rank;

    *run = (int64_t)arras_dtype_size(info->dtype);
    while (outer > 0 && strides[outer - 1] == *run)
        *run *= info->chunk[--outer];
    return outer;
}

static arras_status spread(const ar_decoded *cells, const ar_store_info *info, char *to,
                           const int64_t *strides, bool far, arras_error *err)
{
    int64_t      run, at[ARRAS_MAX_RANK] = { 0 };
    int          outer = find_run(&run, info, strides);
    arras_status status = ARRAS_OK;

    for (size_t done = 0; done < cells->size && status == ARRAS_OK; done += (size_t)run) {
        status = ar_decoded_copy(cells, to, done, (size_t)run, far, err);
        for (int d = outer - 1; d >= 0; d--) {
            to += strides[d];
            if (++at[d] < info->chunk[d])
                break;
            to -= at[d] * strides[d];
            at[d] = 0;
        }
    }
    if (far)
        ar_stream_end();
    return status;
}

static arras_status spread_decoded(const ar_source *s, const ar_chunk_job *job,
                                   const ar_chain_input *in, const ar_spread *to, arras_error *err)
{
    ar_decoded   decoded;
    arras_error  why;
    arras_status status = ar_chain_decode_apart(&decoded, in->scratch, &s->chain, in->skipped,
                                                to->chunk_bytes, in->stored, in->n, &why);

    if (status == ARRAS_OK)
        status = spread(&decoded, &s->info, job->to, to->strides, to->far, &why);
    return status == ARRAS_OK ? ARRAS_OK : fail_chunk(s, job->chunk, status, &why, err);
}

static void spread_fetched(const ar_source *s, ar_chunk_job **jobs, int n, const ar_spread *to)
{
    ar_chain_input in[AR_CODEC_TOGETHER];

    for (int i = 0; i < n; i++) {
        ar_chunk_bytes *bytes = &jobs[i]->scratch->bytes;

        in[i] = (ar_chain_input){ &bytes->between, bytes->skipped, bytes->bytes.data,
                                  bytes->bytes.length };
    }
    ar_chain_begin_together(&s->chain, to->chunk_bytes, in, n);
    for (int i = 0; i < n; i++)
        jobs[i]->status = spread_decoded(s, jobs[i], &in[i], to, &jobs[i]->err);
}

/* Of a source that has to do more than that. */
static arras_status spread_view(ar_source *s, const ar_chunk_job *job, const ar_spread *to,
                                arras_error *err)
{
    ar_box       box = whole_chunk(&s->info);
    int64_t      dense[ARRAS_MAX_RANK];
    const char  *from;
    arras_status status =
        ar_source_chunk_view(&from, s, job->chunk, to->chunk_bytes, job->scratch, err);

    ar_strides_dense(dense, s->info.rank, s->info.chunk, arras_dtype_size(s->info.dtype));
    if (status == ARRAS_OK)
        ar_box_copy(&box, arras_dtype_size(s->info.dtype), job->to, to->strides, from, dense);
    return status;
}

static bool is_fetched_and_decoded(const ar_source *s)
{
    return !s->type->read_chunk && !s->record.bytes && s->info.dtype != ARRAS_BOOL;
}

int ar_source_together(const ar_source *s)
{
    /* For each thread, several times: more costs more than it brings. */
    enum { MOST_BYTES = 4 << 20 };

    return is_fetched_and_decoded(s) && ar_chain_is_shared(&s->chain) &&
                   ar_chunk_memory(&s->info) <= MOST_BYTES
               ? AR_CODEC_TOGETHER
               : 1;
}

void ar_source_chunks_spread(ar_source *s, ar_chunk_job *jobs, int count, const ar_spread *to)
{
    ar_box        box = whole_chunk(&s->info);
    byte_range    all = { to->chunk_bytes, 0, to->chunk_bytes };
    ar_chunk_job *fetched[AR_CODEC_TOGETHER];
    int           n = 0;

    for (int i = 0; i < count; i++) {
        ar_chunk_job *job = &jobs[i];

        if (!is_fetched_and_decoded(s)) {
            job->status = spread_view(s, job, to, &job->err);
            continue;
        }
        job->status = fetch(s, job->chunk, &all, &job->scratch->bytes, &job->err);
        if (job->status == ARRAS_OK && job->scratch->bytes.missing)
            ar_box_fill(&box, arras_dtype_size(s->info.dtype), job->to, to->strides, s->info.fill);
        else if (job->status == ARRAS_OK)
            fetched[n++] = job;
    }
    spread_fetched(s, fetched, n, to);
}

/* ---- Many chunks ----------------------------------------------------------------------------- */

typedef struct {
    ar_source        *source;
    ar_box            box;
    ar_chunk_grid     grid;
    size_t            cell_size, chunk_size;
    char             *origin; /* of the cells that are wanted */
    const int64_t    *strides;
    ar_chunk_scratch *readers; /* one for each thread */
} reading;

static ar_box common(const ar_box *a, const ar_box *b)
{
    ar_box c = { .rank = a->rank };

    for (int d = 0; d < a->rank; d++) {
        c.lo[d] = ar_max64(a->lo[d], b->lo[d]);
        c.hi[d] = ar_min64(a->hi[d], b->hi[d]);
    }
    return c;
}

static arras_status read_chunk(void *context, int64_t i, int thread, arras_error *err)
{
    const reading       *r = context;
    const ar_store_info *info = &r->source->info;
    int64_t              chunk[ARRAS_MAX_RANK], strides[ARRAS_MAX_RANK];
    ar_box               cells, wanted;
    const char          *from;
    arras_status         status;

    ar_chunk_grid_at(chunk, &cells, &r->grid, info, i);
    status = ar_source_chunk_view(&from, r->source, chunk, r->chunk_size, &r->readers[thread], err);
    if (status != ARRAS_OK)
        return status;
    wanted = common(&cells, &r->box);
    ar_strides_dense(strides, info->rank, info->chunk, r->cell_size);
    ar_box_copy(&wanted, r->cell_size, r->origin, r->strides,
                ar_box_origin(from, info->rank, cells.lo, strides), strides);
    return ARRAS_OK;
}

static arras_status read_chunks(reading *r, int threads, arras_error *err)
{
    arras_status status = ar_chunk_size(&r->chunk_size, &r->source->info, r->source->name, err);

    if (status != ARRAS_OK)
        return status;
    ar_chunk_grid_make(&r->grid, &r->source->info, &r->box);
    r->readers = ar_alloc((size_t)threads, sizeof *r->readers);
    if (!r->readers)
        return ar_fail_memory(err, (size_t)threads * sizeof *r->readers);
    status = ar_chunks_do(r->grid.total, threads, read_chunk, r, err);
    for (int i = 0; i < threads; i++)
        ar_chunk_scratch_free(&r->readers[i]);
    ar_free(r->readers);
    return status;
}

/* ---- Without chunks -------------------------------------------------------------------------- */

static void box_shape(int64_t *out, const ar_box *box)
{
    for (int d = 0; d < box->rank; d++)
        out[d] = box->hi[d] - box->lo[d];
}

static arras_status read_whole(reading *r, arras_error *err)
{
    const ar_store_info *info = &r->source->info;
    int64_t              shape[ARRAS_MAX_RANK], strides[ARRAS_MAX_RANK], bytes;
    char                *cells;
    arras_status         status;

    box_shape(shape, &r->box);
    bytes = (int64_t)r->cell_size;
    for (int d = 0; d < info->rank; d++)
        if (!ar_mul64(&bytes, bytes, shape[d]))
            return ar_fail(err, ARRAS_ESIZE, "%s: the box has more than 2^63 bytes",
                           r->source->name);
    ar_strides_dense(strides, info->rank, shape, r->cell_size);
    cells = ar_alloc((size_t)bytes, 1);
    if (!cells)
        return ar_fail_memory(err, (size_t)bytes);
    status = r->source->type->read_box(r->source, r->box.lo, r->box.hi, cells, err);
    if (status == ARRAS_OK)
        ar_box_copy(&r->box, r->cell_size, r->origin, r->strides,
                    ar_box_origin(cells, info->rank, r->box.lo, strides), strides);
    ar_free(cells);
    return status;
}

arras_status ar_source_read(ar_source *s, const int64_t *lo, const int64_t *hi, void *cells,
                            const int64_t *strides, int threads, arras_error *err)
{
    reading      r = { .source = s, .cell_size = arras_dtype_size(s->info.dtype) };
    int64_t      shape[ARRAS_MAX_RANK], dense[ARRAS_MAX_RANK], whole[ARRAS_MAX_RANK];
    const void  *mapped;
    arras_status status = ar_box_check(&r.box, &s->info, s->name, lo, hi, err);

    if (status != ARRAS_OK || ar_box_is_empty(&r.box))
        return status;
    if (s->info.dtype == ARRAS_NO_DTYPE)
        return ar_fail(err, ARRAS_EFORMAT, "%s: its cells, %s, are not numbers", s->name,
                       s->info.stored);
    box_shape(shape, &r.box);
    ar_strides_dense(dense, s->info.rank, shape, r.cell_size);
    if (!strides && s->type->read_box)
        return s->type->read_box(s, lo, hi, cells, err);
    r.strides = strides ? strides : dense;
    r.origin = ar_box_origin(cells, s->info.rank, lo, r.strides);
    mapped = s->type->mapped ? s->type->mapped(s) : NULL;
    if (mapped) {
        ar_strides_dense(whole, s->info.rank, s->info.shape, r.cell_size);
        ar_box_copy(&r.box, r.cell_size, r.origin, r.strides, mapped, whole);
        return ARRAS_OK;
    }
    return s->type->read_box ? read_whole(&r, err)
                             : read_chunks(&r, threads > 0 ? threads : 1, err);
}
