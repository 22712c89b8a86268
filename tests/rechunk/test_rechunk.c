/* test_rechunk.c -- arrays into other chunks: the box that reads least, against all boxes; what is
 * read and written, counted by a source and a sink in memory; memory, threads, failures. */
#include "rechunk/rechunk_parts.h"
#include "test.h"

#include <stdlib.h>

/* ---- Arrays in memory ------------------------------------------------------------------------ */

enum { MOST_CELLS = 40000 };

typedef struct {
    ar_source   base;
    _Atomic int fetched[MOST_CELLS]; /* by chunk */
    int         fail_at;             /* a chunk that can't be read; -1: none */
} memory_source;

typedef struct {
    ar_sink     base;
    int32_t     cells[MOST_CELLS];
    _Atomic int put[MOST_CELLS]; /* by chunk */
    bool        there[MOST_CELLS];
} memory_sink;

static int64_t chunk_number(const ar_store_info *info, const int64_t *chunk)
{
    int64_t number = 0;

    for (int d = 0; d < info->rank; d++)
        number = number * ((info->shape[d] - 1) / info->chunk[d] + 1) + chunk[d];
    return number;
}

static int64_t grid_size(const ar_store_info *info)
{
    int64_t n = 1;

    for (int d = 0; d < info->rank; d++)
        n *= (info->shape[d] - 1) / info->chunk[d] + 1;
    return n;
}

static int64_t chunk_cells(const ar_store_info *info)
{
    int64_t n = 1;

    for (int d = 0; d < info->rank; d++)
        n *= info->chunk[d];
    return n;
}

/* The number in the array of cell i of a chunk; -1: it is outside. */
static int64_t cell_number(const ar_store_info *info, const int64_t *chunk, int64_t i)
{
    int64_t number = 0, step = 1;

    for (int d = info->rank; d-- > 0;) {
        int64_t at = chunk[d] * info->chunk[d] + i % info->chunk[d];

        i /= info->chunk[d];
        if (at >= info->shape[d])
            return -1;
        number += at * step;
        step *= info->shape[d];
    }
    return number;
}

static int32_t value_of(int64_t number) { return (int32_t)(number * 7 + 1); }

static arras_status fetch(ar_source *self, const int64_t *chunk, ar_chunk_bytes *out,
                          arras_error *err)
{
    memory_source *s = (memory_source *)self;
    int64_t        number = chunk_number(&self->info, chunk), n = chunk_cells(&self->info);

    s->fetched[number]++;
    if (number == s->fail_at)
        return ar_fail(err, ARRAS_EIO, "chunk %" PRId64 " is broken", number);
    if (!ar_text_reserve(&out->bytes, (size_t)n * sizeof(int32_t)))
        return ar_fail_memory(err, (size_t)n);
    for (int64_t i = 0; i < n; i++) {
        int32_t value = value_of(cell_number(&self->info, chunk, i));

        memcpy(out->bytes.data + i * (int64_t)sizeof value, &value, sizeof value);
    }
    out->bytes.length = (size_t)n * sizeof(int32_t);
    return ARRAS_OK;
}

static arras_status put(ar_sink *self, const int64_t *chunk, const ar_chunk_bytes *bytes,
                        arras_error *err)
{
    memory_sink *s = (memory_sink *)self;

    (void)err;
    s->put[chunk_number(&self->info, chunk)]++;
    for (int64_t i = 0; i < chunk_cells(&self->info); i++) {
        int64_t number = cell_number(&self->info, chunk, i);

        if (number >= 0)
            memcpy(&s->cells[number], bytes->bytes.data + i * 4, 4);
    }
    return ARRAS_OK;
}

static bool has_box(ar_sink *self, const int64_t *lo, const int64_t *hi)
{
    int64_t chunk[ARRAS_MAX_RANK];

    (void)hi;
    for (int d = 0; d < self->info.rank; d++)
        chunk[d] = lo[d] / self->info.chunk[d];
    return ((memory_sink *)self)->there[chunk_number(&self->info, chunk)];
}

static const ar_source_type source_type = { .fetch = fetch };
static const ar_sink_type   sink_type = { .put = put, .has_box = has_box };

static void set_info(ar_store_info *info, int rank, const int64_t *shape, const int64_t *chunk)
{
    *info = (ar_store_info){ .dtype = ARRAS_I32, .rank = rank, .chunked = true };
    memcpy(info->shape, shape, (size_t)rank * sizeof *shape);
    memcpy(info->chunk, chunk, (size_t)rank * sizeof *chunk);
}

static memory_source *source;
static memory_sink   *sink;

static bool make_arrays(int rank, const int64_t *shape, const int64_t *from, const int64_t *to)
{
    free(source);
    free(sink);
    source = calloc(1, sizeof *source);
    sink = calloc(1, sizeof *sink);
    if (!source || !sink)
        return false;
    set_info(&source->base.info, rank, shape, from);
    set_info(&sink->base.info, rank, shape, to);
    source->base.type = &source_type;
    source->fail_at = -1;
    sink->base.type = &sink_type;
    return true;
}

static void check_cells(void)
{
    int64_t n = 1, wrong = 0;

    for (int d = 0; d < sink->base.info.rank; d++)
        n *= sink->base.info.shape[d];
    for (int64_t i = 0; i < n; i++)
        wrong += sink->cells[i] != value_of(i);
    CHECK_EQ_INT(wrong, 0);
    for (int64_t i = 0; i < grid_size(&sink->base.info); i++)
        wrong += sink->put[i] != 1;
    CHECK_EQ_INT(wrong, 0);
}

static int64_t all_fetched(void)
{
    int64_t n = 0;

    for (int64_t i = 0; i < grid_size(&source->base.info); i++)
        n += source->fetched[i];
    return n;
}

static void check_counters(void)
{
    int64_t chunks, bytes;

    arras_source_fetched(&chunks, &bytes, &source->base);
    CHECK_EQ_INT(chunks, all_fetched());
    CHECK_EQ_INT(bytes, all_fetched() * chunk_cells(&source->base.info) * 4);
}

/* ---- The box --------------------------------------------------------------------------------- */

/* Units read along an axis, counted. */
static int64_t count_reads(const ar_rechunk_grid *g, int d, int64_t edge)
{
    int64_t n = 0;

    for (int64_t lo = 0; lo < g->shape[d]; lo += edge) {
        int64_t hi = ar_min64(lo + edge, g->shape[d]);

        n += (hi - 1) / g->unit[d] - lo / g->unit[d] + 1;
    }
    return n;
}

/* The fewest reads of all boxes with so many bytes. */
static double fewest(const ar_rechunk_grid *g, int d, int64_t bytes, double reads, double most)
{
    double best = INFINITY;

    if (d == g->rank)
        return (double)bytes <= most ? reads : INFINITY;
    for (int64_t edge = g->grain[d];; edge += g->grain[d]) {
        int64_t within = ar_min64(edge, g->shape[d]);

        best = fmin(best, fewest(g, d + 1, bytes * within,
                                 reads * (double)count_reads(g, d, within), most));
        if (edge >= g->shape[d])
            return best;
    }
}

static unsigned seed = 1;

static int64_t pick(int64_t most) /* from 1 on */
{
    seed = seed * 1664525u + 1013904223u;
    return 1 + (int64_t)(seed >> 8) % most;
}

static void random_grid(ar_rechunk_grid *g)
{
    *g = (ar_rechunk_grid){ .rank = (int)pick(3), .cell_size = 4 };
    for (int d = 0; d < g->rank; d++) {
        g->shape[d] = pick(30);
        g->grain[d] = pick(g->shape[d] + 2);
        g->unit[d] = pick(g->shape[d] + 2);
    }
}

static void finds_the_best_box(void)
{
    for (int i = 0; i < 1500; i++) {
        ar_rechunk_grid g;
        ar_rechunk_box  box = { .bytes = 0 };
        int64_t         bytes = 4 * pick(3000);

        random_grid(&g);
        CASE("box %d", i);
        double       want = fewest(&g, 0, g.cell_size, 1, (double)bytes);
        arras_status status = ar_rechunk_choose(&box, &g, bytes, NULL);
        CHECK_EQ_INT(status, isinf(want) ? ARRAS_ELIMIT : ARRAS_OK);
        if (status != ARRAS_OK)
            continue;
        CHECK_EQ_REAL(box.reads, want);
        CHECK(box.bytes <= bytes);
        ar_rechunk_enlarge(&box, &g, bytes);
        CHECK(box.bytes <= bytes && box.reads <= want);
        for (int d = 0; d < g.rank; d++)
            CHECK(box.edge[d] == g.shape[d] || box.edge[d] % g.grain[d] == 0);
    }
}

/* Long axes have more edges than are kept; what is left is good. */
static void boxes_of_long_axes(void)
{
    ar_rechunk_grid g = { .rank = 3,
                          .cell_size = 4,
                          .shape = { 98128, 277, 349 },
                          .grain = { 98128, 1, 1 },
                          .unit = { 1, 277, 349 } };
    ar_rechunk_box  box;
    int64_t         started = ar_clock();

    CHECK_EQ_INT(ar_rechunk_choose(&box, &g, 256 << 20, NULL), ARRAS_OK);
    CHECK(box.bytes <= 256 << 20 && box.reads / box.units < 170);
    CHECK_EQ_INT(ar_rechunk_choose(&box, &g, (int64_t)64 << 30, NULL), ARRAS_OK);
    CHECK_EQ_REAL(box.reads, 98128);
    g = (ar_rechunk_grid){ .rank = 2,
                           .cell_size = 8,
                           .shape = { INT64_C(1) << 40, 1000003 },
                           .grain = { 1, 1 },
                           .unit = { 1000, 7 } };
    CHECK_EQ_INT(ar_rechunk_choose(&box, &g, 1 << 30, NULL), ARRAS_OK);
    CHECK(box.reads / box.units <= 1.0001);
    CHECK(ar_clock() - started < INT64_C(20000000000));
}

/* ---- Copying --------------------------------------------------------------------------------- */

typedef struct {
    const char *why;
    int         rank;
    int64_t     shape[3], from[3], to[3];
    int64_t     memory;
    double      times;
} row;

static const row rows[] = {
    { "the same chunks", 2, { 100, 90 }, { 10, 9 }, { 10, 9 }, 1 << 20, 1 },
    { "all fits into memory", 2, { 100, 90 }, { 1, 90 }, { 100, 1 }, 1 << 20, 1 },
    { "a common multiple fits", 2, { 100, 90 }, { 4, 90 }, { 6, 5 }, 20 << 10, 1 },
    { "rows to columns, half of it", 2, { 64, 64 }, { 1, 64 }, { 64, 1 }, 9984, 2 },
    { "a quarter", 2, { 64, 64 }, { 1, 64 }, { 64, 1 }, 5888, 4 },
    { "edges that do not fit", 3, { 17, 23, 19 }, { 5, 23, 4 }, { 17, 3, 7 }, 1 << 20, 1 },
    { "chunks beyond the array", 1, { 10 }, { 64 }, { 3 }, 1 << 20, 1 },
};

static void reads_and_writes(void)
{
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        const row           *r = &rows[i];
        arras_rechunk_report report;
        arras_error          err = { 0 };

        CASE("%s", r->why);
        if (!CHECK(make_arrays(r->rank, r->shape, r->from, r->to)))
            return;
        CHECK_EQ_INT(arras_rechunk(&report, &source->base, &sink->base,
                                   &(arras_rechunk_options){ r->memory, 1 }, &err),
                     ARRAS_OK);
        CHECK_STR(err.text, "");
        CHECK_EQ_REAL(report.times, r->times);
        CHECK_EQ_INT(all_fetched(), (int64_t)(r->times * (double)grid_size(&source->base.info)));
        CHECK_EQ_INT(report.read, all_fetched());
        check_counters();
        CHECK(report.memory <= r->memory + 4096); /* whole pages */
        check_cells();
    }
}

static void any_shapes(void)
{
    for (int i = 0; i < 400; i++) {
        int                  rank = (int)pick(4);
        int64_t              shape[4], from[4], to[4];
        arras_rechunk_report report = { .read = 0 };
        arras_error          err = { 0 };

        for (int d = 0; d < rank; d++) {
            shape[d] = pick(rank > 3 ? 8 : 17);
            from[d] = pick(shape[d]);
            to[d] = pick(shape[d]);
        }
        arras_rechunk_options options = { pick(200) * 1024, (int)pick(3) };
        CASE("shape %d", i);
        if (!CHECK(make_arrays(rank, shape, from, to)))
            return;
        arras_status status = arras_rechunk(&report, &source->base, &sink->base, &options, &err);
        if (status == ARRAS_ELIMIT) {
            CHECK_HAS(err.text, "allow more, or choose smaller chunks");
            continue;
        }
        CHECK_STR(err.text, "");
        CHECK_EQ_INT(report.read, all_fetched());
        CHECK_EQ_REAL(report.times * (double)report.chunks, (double)report.read);
        CHECK(report.memory <= options.memory + 4096 * report.lanes);
        check_cells();
    }
}

/* ---- What is there, what fails --------------------------------------------------------------- */

static void writes_what_is_lacking(void)
{
    arras_rechunk_report report;
    arras_error          err = { 0 };

    if (!CHECK(make_arrays(2, (int64_t[]){ 40, 40 }, (int64_t[]){ 10, 10 }, (int64_t[]){ 20, 20 })))
        return;
    sink->there[0] = sink->there[3] = true;
    CHECK_EQ_INT(arras_rechunk(&report, &source->base, &sink->base,
                               &(arras_rechunk_options){ 5000, 1 }, &err),
                 ARRAS_OK);
    CHECK_STR(err.text, "");
    CHECK_EQ_INT(report.boxes, 4);
    CHECK_EQ_INT(report.boxes_before, 2);
    CHECK_EQ_INT(report.read, 8);
    for (int i = 0; i < 4; i++)
        CHECK_EQ_INT(sink->put[i], i == 1 || i == 2);
}

static void says_what_is_wrong(void)
{
    arras_rechunking *r;
    arras_error       err = { 0 };

    if (!CHECK(make_arrays(2, (int64_t[]){ 40, 40 }, (int64_t[]){ 10, 10 }, (int64_t[]){ 20, 20 })))
        return;
    source->fail_at = 5;
    CHECK_EQ_INT(arras_rechunk(NULL, &source->base, &sink->base, NULL, &err), ARRAS_EIO);
    CHECK_HAS(err.text, "chunk 5 is broken");
    CHECK_EQ_INT(
        arras_rechunk(NULL, &source->base, &sink->base, &(arras_rechunk_options){ 100, 1 }, &err),
        ARRAS_ELIMIT);
    CHECK_HAS(err.text, "takes 0.0 MB");
    CHECK_EQ_INT(
        arras_rechunk(NULL, &source->base, &sink->base, &(arras_rechunk_options){ -1, 1 }, &err),
        ARRAS_EINVAL);
    sink->base.info.shape[1] = 41;
    CHECK_EQ_INT(arras_rechunk(NULL, &source->base, &sink->base, NULL, &err), ARRAS_ESHAPE);
    CHECK_HAS(err.text, "i32[40, 40]");
    CHECK_HAS(err.text, "i32[40, 41]");
    CHECK_EQ_INT(arras_rechunk_start(&r, NULL, &sink->base, NULL, &err), ARRAS_EINVAL);
    CHECK_EQ_INT(arras_rechunk_start(&r, &source->base, NULL, NULL, &err), ARRAS_EINVAL);
    CHECK_EQ_INT(arras_rechunk_start(NULL, &source->base, &sink->base, NULL, &err), ARRAS_EINVAL);
    CHECK_EQ_INT(arras_rechunk_wait(NULL, &err), ARRAS_EINVAL);
    CHECK_EQ_REAL(arras_rechunk_progress(NULL), -1);
}

static void survives_without_memory(void)
{
    if (!CHECK(make_arrays(2, (int64_t[]){ 40, 40 }, (int64_t[]){ 10, 10 }, (int64_t[]){ 7, 20 })))
        return;
    arras_rechunk(NULL, &source->base, &sink->base, &(arras_rechunk_options){ 1 << 20, 1 }, NULL);
    int64_t live = ar_alloc_live();

    for (int64_t n = 1, done = 0; !done && n < 10000; n++) {
        ar_alloc_fail_from(n);
        arras_status status = arras_rechunk(NULL, &source->base, &sink->base,
                                            &(arras_rechunk_options){ 1 << 20, 1 }, NULL);
        ar_alloc_fail_from(0);
        done = status == ARRAS_OK;
        CHECK(done || status == ARRAS_ENOMEM);
        CHECK_EQ_INT(ar_alloc_live(), live);
    }
}

static void copies_nothing(void)
{
    arras_rechunk_report report;

    if (!CHECK(make_arrays(2, (int64_t[]){ 0, 40 }, (int64_t[]){ 1, 10 }, (int64_t[]){ 1, 20 })))
        return;
    CHECK_EQ_INT(arras_rechunk(&report, &source->base, &sink->base, NULL, NULL), ARRAS_OK);
    CHECK_EQ_INT(report.boxes, 0);
    CHECK_EQ_INT(report.read, 0);
}

TEST_MAIN
{
    RUN(finds_the_best_box);
    RUN(boxes_of_long_axes);
    RUN(reads_and_writes);
    RUN(any_shapes);
    RUN(writes_what_is_lacking);
    RUN(says_what_is_wrong);
    RUN(survives_without_memory);
    RUN(copies_nothing);
    free(source);
    free(sink);
}
