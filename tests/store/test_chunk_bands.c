/* test_chunk_bands.c -- rows of chunks that are decoded side by side: boxes have the cells of the
 * array, wherever in the ring they are, while several threads take them; each chunk is decoded
 * once; failures leave nothing held. */
#include "store/codec/codec.h"
#include "store_world.h"

#include <pthread.h>

enum { THREADS = 3 };

typedef struct {
    const char *name, *codecs;
    arras_dtype dtype;
    int         rank;
    int64_t     shape[3], chunk[3];
    int64_t     n;   /* bands */
    int64_t     box; /* cells along axis 0 that are taken at once, a halo of one included */
} row;

static const row rows[] = {
    { "a line", "shuffle", ARRAS_F64, 1, { 1000 }, { 64 }, 3, 30 },
    { "whole chunks", "shuffle", ARRAS_F64, 2, { 96, 40 }, { 8, 10 }, 3, 6 },
    { "chunks that end outside", "shuffle", ARRAS_F32, 2, { 101, 37 }, { 8, 10 }, 3, 5 },
    { "boxes larger than chunks", "shuffle", ARRAS_F32, 2, { 101, 37 }, { 4, 10 }, 5, 17 },
    { "three axes", "shuffle", ARRAS_I16, 3, { 50, 9, 11 }, { 6, 4, 5 }, 4, 7 },
    { "no codec", "none", ARRAS_F32, 2, { 101, 37 }, { 8, 10 }, 3, 5 },
    { "bytes for true", "shuffle", ARRAS_BOOL, 2, { 101, 37 }, { 8, 10 }, 3, 5 },
    { "a ring that no cache holds", "shuffle", ARRAS_F32, 2, { 40, 180000 }, { 16, 60001 }, 3, 10 },
    { "the same without a codec", "none", ARRAS_F32, 2, { 40, 180000 }, { 16, 60001 }, 3, 10 },
    { "one band", "shuffle", ARRAS_F32, 2, { 6, 37 }, { 8, 10 }, 1, 5 },
    { "several at once", "shuffle zlib 4", ARRAS_F32, 2, { 101, 37 }, { 8, 10 }, 3, 5 },
    { "several, and no other codec", "gzip 1", ARRAS_F64, 2, { 101, 97 }, { 8, 10 }, 3, 5 },
};

/* Some Arras has no deflate. */
static bool is_there(const row *r)
{
    ar_codec_chain chain;

    return strcmp(r->codecs, "none") == 0 ||
           ar_chain_parse(&chain, r->codecs, (int)arras_dtype_size(r->dtype), NULL) == ARRAS_OK;
}

/* ---- Arrays ---------------------------------------------------------------------------------- */

static char   *wanted; /* all cells, in C order */
static int64_t strides[ARRAS_MAX_RANK];
static int64_t zero[ARRAS_MAX_RANK];

static int64_t cells_of(const row *r)
{
    int64_t n = 1;

    for (int d = 0; d < r->rank; d++)
        n *= r->shape[d];
    return n;
}

static void make_cells(const row *r)
{
    size_t  size = arras_dtype_size(r->dtype);
    int64_t n = cells_of(r);

    wanted = calloc((size_t)n, size);
    for (int64_t i = 0; i < n * (int64_t)size; i++)
        wanted[i] = (char)(r->dtype == ARRAS_BOOL ? i * 7919 % 3 == 0 : i * 7919 % 251);
    ar_strides_dense(strides, r->rank, r->shape, size);
}

static ar_source *store(const row *r)
{
    const ar_sink_options options = { .codecs = r->codecs, .chunk = r->chunk, .version = 2 };
    ar_sink              *sink = NULL;
    ar_source            *s = NULL;

    if (!CHECK_EQ_INT(
            ar_store_create(&sink, at("x.zarr"), NULL, r->dtype, r->rank, r->shape, &options, &err),
            ARRAS_OK) ||
        !CHECK_EQ_INT(ar_sink_write(sink, zero, r->shape, wanted, NULL, 1, &err), ARRAS_OK) ||
        !CHECK_EQ_INT(sink->type->finish(sink, &err), ARRAS_OK) ||
        !CHECK_EQ_INT(ar_store_open(&s, at("x.zarr"), NULL, &err), ARRAS_OK))
        printf("    %s\n", err.text);
    return s;
}

static int64_t count_chunks(const row *r)
{
    int64_t n = 1;

    for (int d = 0; d < r->rank; d++)
        n *= (r->shape[d] + r->chunk[d] - 1) / r->chunk[d];
    return n;
}

/* Fewer than there are threads: some wait. */
enum { HANDS = 2 };
static ar_scratches *hands;

static ar_source *begin(const row *r, ar_chunk_bands **bands)
{
    ar_source *s;

    world_begin();
    CHECK_EQ_INT(ar_scratches_new(&hands, HANDS, &err), ARRAS_OK);
    make_cells(r);
    s = store(r);
    *bands = NULL;
    if (s)
        CHECK_EQ_INT(ar_chunk_bands_new(bands, s, r->n, ar_source_together(s), hands, &err),
                     ARRAS_OK);
    return s;
}

static void end(ar_source *s, ar_chunk_bands *bands)
{
    ar_chunk_bands_free(bands);
    ar_scratches_free(hands);
    if (s)
        s->type->close(s);
    free(wanted);
    world_end();
}

/* ---- Boxes that follow each other ------------------------------------------------------------ */

typedef struct {
    const row       *row;
    ar_chunk_bands  *bands;
    _Atomic int64_t *next; /* box that nobody has yet */
    int              wrong, in_place;
} reader;

static void box_at(const row *r, int64_t i, int64_t *lo, int64_t *hi)
{
    memcpy(hi, r->shape, sizeof r->shape);
    memset(lo, 0, sizeof r->shape);
    lo[0] = ar_max64(0, i * (r->box - 2) - 1);
    hi[0] = ar_min64(lo[0] + r->box, r->shape[0]);
}

static bool same_cells(const row *r, const int64_t *lo, const int64_t *hi, const char *origin,
                       const int64_t *steps)
{
    ar_box box = { .rank = r->rank };
    size_t row_bytes = (size_t)(cells_of(r) / r->shape[0]) * arras_dtype_size(r->dtype);
    char  *got = malloc((size_t)(hi[0] - lo[0]) * row_bytes);
    bool   same;

    memcpy(box.lo, lo, (size_t)r->rank * sizeof *lo);
    memcpy(box.hi, hi, (size_t)r->rank * sizeof *hi);
    ar_box_copy(&box, arras_dtype_size(r->dtype), ar_box_origin(got, r->rank, lo, strides), strides,
                origin, steps);
    same =
        memcmp(got, wanted + lo[0] * (int64_t)row_bytes, (size_t)(hi[0] - lo[0]) * row_bytes) == 0;
    free(got);
    return same;
}

static bool read_copy(reader *r, const int64_t *lo, const int64_t *hi)
{
    size_t bytes = (size_t)cells_of(r->row) * arras_dtype_size(r->row->dtype);
    char  *copy = malloc(bytes);
    bool   good = ar_chunk_bands_read(r->bands, lo, hi, copy, strides, NULL) == ARRAS_OK &&
                same_cells(r->row, lo, hi, copy, strides);

    free(copy);
    return good;
}

static bool read_in_place(reader *r, const int64_t *lo, const int64_t *hi)
{
    const char *origin = ar_chunk_bands_origin(r->bands, lo, hi);
    bool        good;

    if (!origin)
        return read_copy(r, lo, hi);
    if (ar_chunk_bands_take(r->bands, lo, hi, NULL) != ARRAS_OK)
        return false;
    good = same_cells(r->row, lo, hi, origin, ar_chunk_bands_strides(r->bands));
    r->in_place++;
    ar_chunk_bands_give(r->bands, lo, hi);
    return good;
}

static void *read_boxes(void *context)
{
    reader *r = context;
    int64_t i, lo[3], hi[3];

    while ((i = (*r->next)++) * (r->row->box - 2) < r->row->shape[0]) {
        box_at(r->row, i, lo, hi);
        r->wrong += !read_in_place(r, lo, hi);
        if ((i + 1) * (r->row->box - 2) < r->row->shape[0]) {
            box_at(r->row, i + 1, lo, hi);
            ar_chunk_bands_ahead(r->bands, lo, hi, 2, NULL);
        }
    }
    return NULL;
}

static int read_by_threads(const row *r, ar_chunk_bands *bands, int threads, int *in_place)
{
    reader          readers[THREADS];
    pthread_t       ids[THREADS];
    _Atomic int64_t next = 0;
    int             wrong = 0;

    for (int i = 0; i < threads; i++) {
        readers[i] = (reader){ .row = r, .bands = bands, .next = &next };
        pthread_create(&ids[i], NULL, read_boxes, &readers[i]);
    }
    for (int i = 0; i < threads; i++) {
        pthread_join(ids[i], NULL);
        wrong += readers[i].wrong;
        *in_place += readers[i].in_place;
    }
    return wrong;
}

static void boxes_have_the_cells_of_the_array(void)
{
    for (size_t i = 0; i < AR_COUNT(rows); i++) {
        ar_chunk_bands *bands;
        ar_source      *s;
        int             in_place = 0;

        if (!is_there(&rows[i]))
            continue;
        CASE("%s", rows[i].name);
        s = begin(&rows[i], &bands);
        if (bands) {
            CHECK_EQ_INT(read_by_threads(&rows[i], bands, 1, &in_place), 0);
            CHECK_EQ_INT(s->fetched, count_chunks(&rows[i]));
            CHECK(in_place > 0);
            for (int again = 0; again < 3; again++) /* from the beginning */
                CHECK_EQ_INT(read_by_threads(&rows[i], bands, THREADS, &in_place), 0);
        }
        end(s, bands);
    }
}

static void boxes_that_do_not_fit_are_known(void)
{
    const row      *r = &rows[3]; /* five bands of four rows */
    ar_chunk_bands *bands;
    ar_source      *s = begin(r, &bands);
    int64_t         whole[2] = { 20, 37 }, more[2] = { 21, 37 }, late[2] = { 1, 0 };

    if (bands) {
        CHECK(ar_chunk_bands_fit(bands, zero, whole));
        CHECK(!ar_chunk_bands_fit(bands, zero, more));
        CHECK(ar_chunk_bands_origin(bands, zero, whole) != NULL);
        CHECK(ar_chunk_bands_fit(bands, late, whole));
        CHECK(!ar_chunk_bands_fit(bands, late, (int64_t[]){ 21 + 4, 37 }));
    }
    end(s, bands);
}

/* A thread that is far behind keeps its rows; who comes in vain to decode ahead does not wait. */
static void what_is_held_stays(void)
{
    const row      *r = &rows[1];
    ar_chunk_bands *bands;
    ar_source      *s = begin(r, &bands);
    int64_t         first[2] = { 8, 40 }, third[2] = { 24, 0 }, fourth[2] = { 32, 40 };

    if (bands && CHECK_EQ_INT(ar_chunk_bands_take(bands, zero, first, &err), ARRAS_OK)) {
        CHECK_EQ_INT(ar_chunk_bands_ahead(bands, third, fourth, 1, &err), ARRAS_OK);
        CHECK_EQ_INT(s->fetched, 4);
        CHECK(same_cells(r, zero, first, ar_chunk_bands_origin(bands, zero, first),
                         ar_chunk_bands_strides(bands)));
        ar_chunk_bands_give(bands, zero, first);
        CHECK_EQ_INT(ar_chunk_bands_ahead(bands, third, fourth, 1, &err), ARRAS_OK);
        CHECK_EQ_INT(s->fetched, 8);
    }
    end(s, bands);
}

static void missing_chunks_are_filled(void)
{
    const row      *r = &rows[1];
    ar_chunk_bands *bands;
    ar_source      *s = begin(r, &bands);
    int64_t         hi[2] = { 8, 40 };

    memset(wanted, 0, (size_t)8 * 40 * 8); /* as if nothing was stored there */
    if (bands && CHECK_EQ_INT(remove(at("x.zarr/0.0")) | remove(at("x.zarr/0.1")) |
                                  remove(at("x.zarr/0.2")) | remove(at("x.zarr/0.3")),
                              0)) {
        CHECK_EQ_INT(ar_chunk_bands_take(bands, zero, hi, &err), ARRAS_OK);
        CHECK(same_cells(r, zero, hi, ar_chunk_bands_origin(bands, zero, hi),
                         ar_chunk_bands_strides(bands)));
        ar_chunk_bands_give(bands, zero, hi);
    }
    end(s, bands);
}

/* ---- Trouble --------------------------------------------------------------------------------- */

static void damage_is_told_and_nothing_is_held(void)
{
    const row      *r = &rows[1];
    ar_chunk_bands *bands;
    ar_source      *s = begin(r, &bands);
    int64_t lo[2] = { 8, 0 }, hi[2] = { 16, 40 }, other[2] = { 32, 0 }, last[2] = { 40, 40 };

    put_file("x.zarr/1.2", "short", 5);
    if (bands) {
        for (int again = 0; again < 2; again++) {
            CHECK_EQ_INT(ar_chunk_bands_take(bands, lo, hi, &err), ARRAS_EFORMAT);
            CHECK_HAS(err.text, "chunk [1, 2]: 5 bytes of cells, 640 expected");
        }
        CHECK_EQ_INT(ar_chunk_bands_ahead(bands, lo, hi, 1, &err), ARRAS_EFORMAT);
        /* The same place of the ring: who still held it would be waited for. */
        CHECK_EQ_INT(ar_chunk_bands_take(bands, other, last, &err), ARRAS_OK);
        ar_chunk_bands_give(bands, other, last);
        CHECK_EQ_INT(ar_chunk_bands_take(bands, lo, (int64_t[]){ 97, 40 }, &err), ARRAS_EINDEX);
    }
    end(s, bands);
}

static void damage_of_one_of_several_is_its_own(void)
{
    const row      *r = &rows[10];
    ar_chunk_bands *bands;
    ar_source      *s;
    int64_t         hi[2] = { 8, 37 }, left[2] = { 8, 10 };

    if (!is_there(r))
        return;
    s = begin(r, &bands);
    put_file("x.zarr/0.1", "short", 5);
    if (bands) {
        CHECK_EQ_INT(ar_chunk_bands_take(bands, zero, hi, &err), ARRAS_EFORMAT);
        CHECK_HAS(err.text, "chunk [0, 1]: ");
        s->fetched = 0;
        CHECK_EQ_INT(ar_chunk_bands_take(bands, zero, left, &err), ARRAS_OK);
        CHECK(memcmp(ar_chunk_bands_origin(bands, zero, left), wanted, 10 * sizeof(float)) == 0);
        ar_chunk_bands_give(bands, zero, left);
        CHECK_EQ_INT(s->fetched, 0); /* it was decoded with the one that failed */
    }
    end(s, bands);
}

static void memory_ends_for(const row *r)
{
    ar_source *s;
    int64_t    hi[2] = { 5, 37 }, live;

    ar_chunk_bands *bands;
    ar_scratches   *own;

    s = begin(r, &bands);
    ar_chunk_bands_free(bands);
    live = ar_alloc_live();
    for (int n = 1; s && n < 30; n++) {
        arras_status status;

        CASE("allocation %d", n);
        bands = NULL;
        own = NULL;
        ar_alloc_fail_from(n);
        status = ar_scratches_new(&own, 1, &err);
        if (status == ARRAS_OK)
            status = ar_chunk_bands_new(&bands, s, r->n, ar_source_together(s), own, &err);
        if (status == ARRAS_OK)
            status = ar_chunk_bands_take(bands, zero, hi, &err);
        ar_alloc_fail_from(0);
        CHECK(status == ARRAS_OK || status == ARRAS_ENOMEM);
        ar_chunk_bands_free(bands);
        ar_scratches_free(own);
        CHECK_EQ_INT(ar_alloc_live(), live);
    }
    end(s, NULL);
}

static void memory_ends(void)
{
    memory_ends_for(&rows[2]);
    if (is_there(&rows[10]))
        memory_ends_for(&rows[10]);
}

TEST_MAIN
{
    RUN(boxes_have_the_cells_of_the_array);
    RUN(boxes_that_do_not_fit_are_known);
    RUN(what_is_held_stays);
    RUN(missing_chunks_are_filled);
    RUN(damage_is_told_and_nothing_is_held);
    RUN(damage_of_one_of_several_is_its_own);
    RUN(memory_ends);
}
