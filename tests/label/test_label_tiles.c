/* test_label_tiles.c -- connected components against a flood fill: any tiles and threads give the
 * same labels; arrays in files too; every failure is clean. */
#include "label/label.h"
#include "store_world.h"

enum { MOST = 4096 }; /* cells of a field */

typedef struct {
    int     rank, touch;
    int64_t shape[3], cells;
    uint8_t cell[MOST];
    int32_t want[MOST];
    int64_t count;
} field;

static const int neighbours[3][3] = { { 2 }, { 4, 8 }, { 6, 18, 26 } };

static uint32_t seed = 1;

static int64_t choose(int64_t n)
{
    seed = seed * 1664525 + 1013904223;
    return (seed >> 8) % n;
}

/* ---- The oracle ------------------------------------------------------------------------------ */

static void coordinates(int64_t *out, const field *f, int64_t cell)
{
    for (int d = f->rank - 1; d >= 0; d--) {
        out[d] = cell % f->shape[d];
        cell /= f->shape[d];
    }
}

static bool touches(const field *f, int64_t a, int64_t b)
{
    int64_t x[3], y[3];
    int     axes = 0;

    coordinates(x, f, a);
    coordinates(y, f, b);
    for (int d = 0; d < f->rank; d++) {
        if (x[d] - y[d] > 1 || y[d] - x[d] > 1)
            return false;
        axes += x[d] != y[d];
    }
    return axes <= f->touch;
}

/* Cells that touch differ by less than this. */
static int64_t farthest(const field *f)
{
    return f->rank == 1 ? 1 : f->rank == 2 ? f->shape[1] + 1 : f->shape[2] * (f->shape[1] + 1) + 1;
}

static void flood(field *f, int64_t from, int32_t label)
{
    static int64_t waiting[MOST];
    int64_t        n = 0;

    f->want[from] = label;
    waiting[n++] = from;
    while (n > 0) {
        int64_t a = waiting[--n], lo = ar_max64(0, a - farthest(f));

        for (int64_t b = lo; b < ar_min64(f->cells, a + farthest(f) + 1); b++)
            if (f->cell[b] && !f->want[b] && touches(f, a, b)) {
                f->want[b] = label;
                waiting[n++] = b;
            }
    }
}

static void solve(field *f)
{
    f->count = 0;
    memset(f->want, 0, sizeof f->want);
    for (int64_t i = 0; i < f->cells; i++)
        if (f->cell[i] && !f->want[i])
            flood(f, i, (int32_t)++f->count);
}

/* ---- Fields ---------------------------------------------------------------------------------- */

static void set_shape(field *f, int rank, const int64_t *shape)
{
    f->rank = rank;
    f->cells = 1;
    for (int d = 0; d < rank; d++)
        f->cells *= f->shape[d] = shape[d];
}

static void random_field(field *f)
{
    static const int64_t longest[3] = { 200, 25, 9 };
    int64_t              shape[3], density = 1 + choose(9);
    int                  rank = (int)choose(3) + 1;

    for (int d = 0; d < rank; d++)
        shape[d] = 1 + choose(longest[rank - 1]);
    set_shape(f, rank, shape);
    f->touch = (int)choose(rank) + 1;
    for (int64_t i = 0; i < f->cells; i++)
        f->cell[i] = choose(10) < density;
}

/* Teeth that are joined at their ends: every row looks like new components until the last. */
static bool in_comb(int64_t y, int64_t x, int64_t n) { return x % 2 == 0 || y == n - 1; }

/* The same at every other place, so that components join again and again. */
static bool in_snake(int64_t y, int64_t x, int64_t n)
{
    return y % 2 == 0 || x == (y % 4 == 1 ? n - 1 : 0);
}

/* Square rings, each open to the next: one line that winds inwards. */
static bool in_spiral(int64_t y, int64_t x, int64_t n)
{
    int64_t ring = ar_min64(ar_min64(y, n - 1 - y), ar_min64(x, n - 1 - x));

    if (x == ring && y == ring + 1)
        return ring % 2 == 1;
    return ring % 2 == 0;
}

static bool in_board(int64_t y, int64_t x, int64_t n) { return (x + y + 0 * n) % 2 == 0; }
static bool nowhere(int64_t y, int64_t x, int64_t n) { return y + x < 0 * n; }
static bool everywhere(int64_t y, int64_t x, int64_t n) { return y + x >= 0 * n; }

/* ---- Runs of ours ---------------------------------------------------------------------------- */

static ar_label_request request_of(const field *f)
{
    return (ar_label_request){
        .rank = f->rank,
        .shape = f->shape,
        .options = { .neighbours = neighbours[f->rank - 1][f->touch - 1] },
    };
}

static arras_status label_all(int64_t *count, const ar_label_request *r)
{
    ar_labelling *l;
    arras_status  status = ar_labelling_start(&l, r, &err);

    if (status != ARRAS_OK)
        return status;
    status = ar_labelling_wait(count, l, &err);
    ar_labelling_free(l);
    return status;
}

static bool same(const field *f, const int32_t *got)
{
    return memcmp(got, f->want, (size_t)f->cells * sizeof *got) == 0;
}

static void check_in_memory(const field *f, const int64_t *tile, int threads)
{
    static int32_t   got[MOST];
    arras_buffer     cells = { (void *)f->cell, ARRAS_U8, f->rank, f->shape, NULL };
    arras_buffer     labels = { got, ARRAS_I32, f->rank, f->shape, NULL };
    ar_label_request r = request_of(f);
    int64_t          count = -1;

    memset(got, 255, sizeof got);
    r.cells = &cells;
    r.labels = &labels;
    r.tile = tile;
    r.options.threads = threads;
    if (!CHECK_EQ_INT(label_all(&count, &r), ARRAS_OK))
        CHECK_STR(err.text, "");
    CHECK_EQ_INT(count, f->count);
    CHECK(same(f, got));
}

static void random_tile(int64_t *tile, const field *f)
{
    for (int d = 0; d < f->rank; d++)
        tile[d] = 1 + choose(choose(2) ? f->shape[d] : 3);
}

static void random_fields(void)
{
    static field f;
    int64_t      tile[3];

    for (int i = 0; i < 1500; i++) {
        CASE("field %d", i);
        random_field(&f);
        solve(&f);
        random_tile(tile, &f);
        check_in_memory(&f, choose(4) ? tile : NULL, (int)choose(4) + 1);
    }
}

static void hard_shapes(void)
{
    static const struct {
        const char *name;
        bool (*holds)(int64_t y, int64_t x, int64_t n);
    } shapes[] = { { "comb", in_comb },   { "snake", in_snake },  { "spiral", in_spiral },
                   { "board", in_board }, { "nowhere", nowhere }, { "everywhere", everywhere } };
    static field f;

    for (size_t k = 0; k < 2 * AR_COUNT(shapes); k++)
        for (int64_t n = 1; n < 65; n += 9) {
            int64_t tiles[][2] = { { n, n }, { 1, n }, { n, 1 }, { 5, 7 }, { 1, 1 } };

            CASE("%s of %d, %d", shapes[k / 2].name, (int)n, (int)(k % 2));
            set_shape(&f, 2, (int64_t[]){ n, n });
            f.touch = (int)(k % 2) + 1;
            for (int64_t i = 0; i < f.cells; i++)
                f.cell[i] = shapes[k / 2].holds(i / n, i % n, n);
            solve(&f);
            for (size_t t = 0; t < AR_COUNT(tiles); t++)
                check_in_memory(&f, tiles[t], 2);
        }
}

/* ---- Arrays in files ------------------------------------------------------------------------- */

static bool put_field(const field *f, const char *name, const int64_t *chunk)
{
    static const int64_t zero[3];
    ar_sink_options      options = { .chunk = chunk };
    ar_sink             *sink;

    return CHECK_EQ_INT(
               ar_store_create(&sink, at(name), NULL, ARRAS_U8, f->rank, f->shape, &options, &err),
               ARRAS_OK) &&
           CHECK_EQ_INT(ar_sink_write(sink, zero, f->shape, f->cell, NULL, 1, &err), ARRAS_OK) &&
           CHECK_EQ_INT(sink->type->finish(sink, &err), ARRAS_OK);
}

static bool has_labels(const field *f, const char *name)
{
    static int32_t       got[MOST];
    static const int64_t zero[3];
    ar_source           *s;
    bool                 ok;

    if (!CHECK_EQ_INT(ar_store_open(&s, at(name), NULL, &err), ARRAS_OK))
        return false;
    ok = ar_source_read(s, zero, s->info.shape, got, NULL, 1, &err) == ARRAS_OK && same(f, got);
    s->type->close(s);
    return ok;
}

static arras_status label_stored(int64_t *count, const field *f, const char *from, const char *to,
                                 const int64_t *chunk, const int64_t *tile, int64_t memory)
{
    ar_sink_options  options = { .chunk = chunk };
    ar_label_request r = request_of(f);
    arras_status     status = ar_store_open(&r.source, at(from), NULL, &err);

    if (status == ARRAS_OK) {
        status =
            ar_store_create(&r.sink, at(to), NULL, ARRAS_I32, f->rank, f->shape, &options, &err);
        r.tile = tile;
        r.options.memory = memory;
        r.options.threads = 2;
        r.forget = choose(2) == 1;
        if (status == ARRAS_OK)
            status = label_all(count, &r);
        if (status == ARRAS_OK)
            status = r.sink->type->finish(r.sink, &err);
        else if (r.sink)
            r.sink->type->abandon(r.sink);
        r.source->type->close(r.source);
    }
    return status;
}

static void random_chunk(int64_t *chunk, const field *f)
{
    for (int d = 0; d < f->rank; d++)
        chunk[d] = 1 + choose(ar_max64(1, f->shape[d]));
}

/* Zarr in all chunks, .npy without; whether or not runs are found twice. */
static void files(void)
{
    static field f;
    int64_t      in[3], out[3], count = -1;

    for (int i = 0; i < 120; i++) {
        bool zarr = choose(2) == 1;
        char from[32], to[32];

        CASE("files %d", i);
        snprintf(from, sizeof from, "in%d.zarr", i);
        snprintf(to, sizeof to, zarr ? "out%d.zarr" : "out%d.npy", i);
        random_field(&f);
        solve(&f);
        random_chunk(in, &f);
        random_chunk(out, &f);
        if (!put_field(&f, from, in))
            return;
        if (!CHECK_EQ_INT(
                label_stored(&count, &f, from, to, zarr ? out : NULL, zarr ? out : NULL, 0),
                ARRAS_OK))
            CHECK_STR(err.text, "");
        CHECK_EQ_INT(count, f.count);
        CHECK(has_labels(&f, to));
    }
}

/* ---- Trouble --------------------------------------------------------------------------------- */

static void refused(void)
{
    static const struct {
        const char         *name, *why;
        arras_status        code;
        int                 rank;
        arras_dtype         dtype, labels;
        arras_label_options options;
    } rows[] = {
        { "rank 4", "rank 4", ARRAS_ESHAPE, 4, ARRAS_U8, ARRAS_I32, { 0 } },
        { "rank 0", "rank 0", ARRAS_ESHAPE, 0, ARRAS_U8, ARRAS_I32, { 0 } },
        { "complex", "c64", ARRAS_EDTYPE, 2, ARRAS_C64, ARRAS_I32, { 0 } },
        { "no type", "none", ARRAS_EDTYPE, 2, ARRAS_NO_DTYPE, ARRAS_I32, { 0 } },
        { "real labels", "f32", ARRAS_EDTYPE, 2, ARRAS_U8, ARRAS_F32, { 0 } },
        { "neighbours", "4 or 8", ARRAS_EINVAL, 2, ARRAS_U8, ARRAS_I32, { .neighbours = 6 } },
        { "neighbours", "26", ARRAS_EINVAL, 3, ARRAS_U8, ARRAS_I32, { .neighbours = 8 } },
        { "rule", "rule", ARRAS_EINVAL, 1, ARRAS_U8, ARRAS_I32, { .rule = ARRAS_LABEL_RULES } },
        { "nan",
          "nan",
          ARRAS_EINVAL,
          1,
          ARRAS_F32,
          ARRAS_I32,
          { 0, ARRAS_LABEL_ABOVE, NAN, 0, 0 } },
        { "threads", "negative", ARRAS_EINVAL, 1, ARRAS_U8, ARRAS_I32, { .threads = -1 } },
        { "memory", "negative", ARRAS_EINVAL, 1, ARRAS_U8, ARRAS_I32, { .memory = -1 } },
    };
    static char          cells[256];
    static const int64_t shape[4] = { 2, 2, 2, 2 };

    for (size_t i = 0; i < AR_COUNT(rows); i++) {
        arras_buffer a = { cells, rows[i].dtype, rows[i].rank, shape, NULL };
        arras_buffer b = { cells, rows[i].labels, rows[i].rank, shape, NULL };

        CASE("%s, row %zu", rows[i].name, i);
        CHECK_EQ_INT(arras_label(NULL, &a, &b, &rows[i].options, &err), rows[i].code);
        CHECK_HAS(err.text, rows[i].why);
    }
}

static void shapes_that_differ(void)
{
    static char   cells[256];
    const int64_t one[2] = { 2, 3 }, other[2] = { 3, 2 }, wrong[2] = { -1, 2 };
    arras_buffer  a = { cells, ARRAS_U8, 2, one, NULL }, b = { cells, ARRAS_I32, 2, other, NULL };
    arras_buffer  none = { NULL, ARRAS_I32, 2, one, NULL },
                 odd = { cells, ARRAS_U8, 2, wrong, NULL };

    CHECK_EQ_INT(arras_label(NULL, &a, &b, NULL, &err), ARRAS_ESHAPE);
    CHECK_STR(err.text, "label: cells of shape [2, 3], labels of shape [3, 2]");
    CHECK_EQ_INT(arras_label(NULL, &a, &none, NULL, &err), ARRAS_EINVAL);
    CHECK_EQ_INT(arras_label(NULL, &odd, &a, NULL, &err), ARRAS_ESHAPE);
    CHECK_EQ_INT(arras_label(NULL, NULL, &a, NULL, &err), ARRAS_EINVAL);
    CHECK_EQ_INT(arras_label_stored(NULL, NULL, NULL, NULL, &err), ARRAS_EINVAL);
    CHECK_EQ_INT(arras_label_wait(NULL, NULL, &err), ARRAS_EINVAL);
    CHECK(arras_label_progress(NULL) < 0);
    arras_label_cancel(NULL);
    arras_label_free(NULL);
}

static void sink_of_another_shape(void)
{
    static field f;
    ar_source   *source;
    ar_sink     *sink;

    set_shape(&f, 2, (int64_t[]){ 4, 5 });
    if (!put_field(&f, "shape.npy", NULL))
        return;
    CHECK_EQ_INT(ar_store_open(&source, at("shape.npy"), NULL, &err), ARRAS_OK);
    CHECK_EQ_INT(ar_store_create(&sink, at("other.npy"), NULL, ARRAS_I32, 2, (int64_t[]){ 5, 4 },
                                 &(ar_sink_options){ 0 }, &err),
                 ARRAS_OK);
    CHECK_EQ_INT(arras_label_stored(NULL, source, sink, NULL, &err), ARRAS_ESHAPE);
    CHECK_HAS(err.text, "[4, 5]");
    sink->type->abandon(sink);
    source->type->close(source);
}

static void too_little_memory(void)
{
    static field f;
    int64_t      count;

    set_shape(&f, 2, (int64_t[]){ 60, 60 });
    for (int64_t i = 0; i < f.cells; i++)
        f.cell[i] = in_board(i / 60, i % 60, 60);
    f.touch = 1;
    solve(&f);
    if (!put_field(&f, "board.zarr", (int64_t[]){ 30, 30 }))
        return;
    CHECK_EQ_INT(
        label_stored(&count, &f, "board.zarr", "small.zarr", (int64_t[]){ 30, 30 }, NULL, 1000),
        ARRAS_ELIMIT);
    CHECK_HAS(err.text, "chunks of 900 cells");
    /* Every cell at a border has a component of its own. */
    CHECK_EQ_INT(label_stored(&count, &f, "board.zarr", "rows.zarr", (int64_t[]){ 1, 60 },
                              (int64_t[]){ 1, 60 }, 100000),
                 ARRAS_ELIMIT);
    CHECK_HAS(err.text, "components touch borders");
}

static void cancelled(void)
{
    enum { SIDE = 3000 };
    int64_t      shape[2] = { SIDE, SIDE };
    uint8_t     *cells = ar_alloc(SIDE, SIDE);
    int32_t     *labels = ar_alloc(SIDE, SIDE * sizeof *labels);
    arras_buffer a = { cells, ARRAS_U8, 2, shape, NULL }, b = { labels, ARRAS_I32, 2, shape, NULL };
    arras_labelling *l;

    if (!CHECK(cells && labels) ||
        !CHECK_EQ_INT(arras_label_start(&l, &a, &b, NULL, &err), ARRAS_OK))
        return;
    arras_label_cancel(l);
    CHECK_EQ_INT(arras_label_wait(NULL, l, &err), ARRAS_ECANCEL);
    arras_label_free(l);
    CHECK_EQ_INT(arras_label_start(&l, &a, &b, NULL, &err), ARRAS_OK);
    CHECK(arras_label_progress(l) <= 1);
    arras_label_free(l); /* without a wait */
    ar_free(cells);
    ar_free(labels);
}

/* Whatever allocation fails: an error, nothing lost, and the next time it works. */
static void no_memory(void)
{
    static field   f;
    static int32_t got[MOST];
    int64_t        tile[2] = { 7, 9 }, count, live, n = 0;
    arras_status   status;

    set_shape(&f, 2, (int64_t[]){ 30, 31 });
    f.touch = 2;
    for (int64_t i = 0; i < f.cells; i++)
        f.cell[i] = choose(2) == 1;
    solve(&f);
    arras_buffer     cells = { f.cell, ARRAS_U8, 2, f.shape, NULL };
    arras_buffer     labels = { got, ARRAS_I32, 2, f.shape, NULL };
    ar_label_request r = request_of(&f);
    r.cells = &cells;
    r.labels = &labels;
    r.tile = tile;
    r.options.threads = 1;
    live = ar_alloc_live();
    do {
        ar_alloc_fail_from(++n);
        status = label_all(&count, &r);
        ar_alloc_fail_from(0);
        CHECK(status == ARRAS_OK || status == ARRAS_ENOMEM);
        CHECK_EQ_INT(ar_alloc_live(), live);
    } while (status != ARRAS_OK && n < 10000);
    CHECK(n > 20 && n < 10000);
    CHECK(same(&f, got));
}

TEST_MAIN
{
    world_begin();
    RUN(random_fields);
    RUN(hard_shapes);
    RUN(files);
    RUN(refused);
    RUN(shapes_that_differ);
    RUN(sink_of_another_shape);
    RUN(too_little_memory);
    RUN(cancelled);
    RUN(no_memory);
    world_end();
}
