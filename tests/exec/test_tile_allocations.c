/* test_tile_allocations.c -- a stream in its steady state allocates nothing for a tile: of the same
 * program from file to file, one run has few tiles and one has many, and both allocate as often.
 * All threads are counted: this program is linked so that every allocation of the library comes
 * through here. */
#include "base/base.h"
#include "store_world.h"

#include <stdatomic.h>

void *__wrap_malloc(size_t size);
void *__wrap_calloc(size_t count, size_t size);
void *__wrap_realloc(void *old, size_t size);
void *__real_malloc(size_t size);
void *__real_calloc(size_t count, size_t size);
void *__real_realloc(void *old, size_t size);
void *__wrap_ar_pages_alloc(size_t bytes);
void *__real_ar_pages_alloc(size_t bytes);

static atomic_long allocations;

void *__wrap_malloc(size_t size)
{
    atomic_fetch_add(&allocations, 1);
    return __real_malloc(size);
}
void *__wrap_calloc(size_t count, size_t size)
{
    atomic_fetch_add(&allocations, 1);
    return __real_calloc(count, size);
}
void *__wrap_realloc(void *old, size_t size)
{
    atomic_fetch_add(&allocations, 1);
    return __real_realloc(old, size);
}
void *__wrap_ar_pages_alloc(size_t bytes)
{
    atomic_fetch_add(&allocations, 1);
    return __real_ar_pages_alloc(bytes);
}

/* ---- Streams --------------------------------------------------------------------------------- */

enum { ROWS = 1024, COLUMNS = 128, A_FEW = 10 };

static const struct {
    const char *why, *ending, *name, *codecs;
    int64_t     chunk[2]; /* 0: the format has none */
} files[] = {
    { "cells in one piece", ".npy", NULL, NULL, { 0, 0 } },
    { "chunks that are rows, as they are", ".zarr", NULL, "", { 16, COLUMNS } },
    { "chunks that are boxes", ".zarr", NULL, "zstd 1", { 32, 32 } },
    { "chunks that are rows, shuffled", ".h5", "/a", "shuffle, deflate 1", { 16, COLUMNS } },
    { "chunks that are boxes of another library", ".h5", "/a", "deflate 1", { 32, 32 } },
};

static const struct {
    const char *why;
    int         last; /* lambda */
    const char *lines;
} programs[] = {
    { "cell by cell", 0, "%0 = exp(x)\n" },
    { "rows with a halo", 0,
      "%0 = lambda(x) { subtract(_0[add(i0, 2) nearest, i1], _0[add(i0, -1) nearest, i1]) } : "
      "f64[1024, 128]\n" },
    { "around the ends, so that regions have gaps", 0,
      "%0 = lambda(x) { subtract(_0[add(i0, 2) wrap, i1], _0[add(i0, -1) wrap, i1]) } : "
      "f64[1024, 128]\n" },
    { "what is kept before it is read", 1,
      "%0 = max(x, axes=[0])\n%1 = subtract(x, %0) : f64[1024, 128]\n" },
};

static arras_sink *create(const char *name, int file)
{
    const int64_t      shape[2] = { ROWS, COLUMNS };
    arras_sink        *sink = NULL;
    arras_sink_options options = { .codecs = files[file].codecs,
                                   .chunk = files[file].chunk[0] ? files[file].chunk : NULL };
    char               path[80];
    arras_status       status;

    snprintf(path, sizeof path, "%s%s", name, files[file].ending);
    status =
        arras_sink_create(&sink, at(path), files[file].name, ARRAS_F64, 2, shape, &options, &err);
    if (!CHECK(status == ARRAS_OK || strstr(err.text, "built without")))
        printf("    %s\n", err.text);
    return sink;
}

static bool make_input(int file)
{
    static double cells[ROWS * COLUMNS];
    const int64_t zero[2] = { 0, 0 }, shape[2] = { ROWS, COLUMNS };
    arras_sink   *sink = create("x", file);

    for (int i = 0; i < ROWS * COLUMNS; i++)
        cells[i] = (double)(i % 1009) / 512;
    if (!sink)
        return false; /* this library has no such files, or a check has failed */
    return CHECK_EQ_INT(arras_sink_write(sink, zero, shape, cells, NULL, 1, &err), 0) &&
           CHECK_EQ_INT(arras_sink_finish(sink, &err), ARRAS_OK);
}

static arras_program *compile(int program, int threads, int64_t tile_bytes)
{
    arras_options  options = { .threads = threads, .tile_bytes = tile_bytes };
    arras_graph   *g = NULL;
    arras_program *p = NULL;
    char           text[600];

    snprintf(text, sizeof text, "arras 1\ninput x : f64[%d, %d]\n%soutput y = %%%d\n", ROWS,
             COLUMNS, programs[program].lines, programs[program].last);
    if (!CHECK_EQ_INT(arras_graph_read(&g, text, strlen(text), &err), ARRAS_OK) ||
        !CHECK_EQ_INT(arras_compile(&p, g, &options, &err), ARRAS_OK))
        printf("    %s\n", err.text);
    arras_graph_free(g);
    return p;
}

/* Of the last pass. */
static int tiles_of(const arras_stream *s)
{
    char *text = NULL, *pass = NULL;
    int   n = 0;

    if (CHECK_EQ_INT(arras_stream_explain(&text, s, &err), ARRAS_OK) &&
        CHECK((pass = strstr(text, "pass: y;")) != NULL))
        n = atoi(pass + strlen("pass: y;"));
    arras_text_free(text);
    return n;
}

typedef struct {
    int  tiles;
    long allocations;
} measured;

/* From the first tile, or shortly before, to the last. */
static measured run(int file, arras_program *p)
{
    arras_stream_options options = { .memory = 64 << 20 };
    measured             m = { 0, -1 };
    arras_source        *x = NULL;
    arras_sink          *y = create("y", file);
    arras_stream        *s = NULL;
    char                 path[80];

    snprintf(path, sizeof path, "x%s", files[file].ending);
    if (!y || !CHECK_EQ_INT(arras_source_open(&x, at(path), files[file].name, &err), ARRAS_OK))
        return m;
    const arras_stored stored[] = { { "x", x, NULL }, { "y", NULL, y } };
    long               before = atomic_load(&allocations);

    if (CHECK_EQ_INT(arras_stream_start(&s, p, 0, NULL, 2, stored, &options, &err), ARRAS_OK)) {
        CHECK_EQ_INT(arras_stream_wait(NULL, s, &err), ARRAS_OK);
        m.allocations = atomic_load(&allocations) - before;
        m.tiles = tiles_of(s);
    } else {
        printf("    %s\n", err.text);
    }
    arras_stream_free(s);
    arras_sink_abandon(y);
    arras_source_close(x);
    return m;
}

static void check_stream(int file, int program, int threads)
{
    static const int64_t tile_bytes[2] = { 1 << 19, 1 << 13 };
    measured             m[2];

    for (int i = 0; i < 2; i++) {
        arras_program *p = compile(program, threads, tile_bytes[i]);

        run(file, p); /* whatever is made once and for all */
        m[i] = run(file, p);
        arras_program_free(p);
    }
    /* Of many tiles, some are needed at once that would be one: a handful of lists are longer. */
    CHECK(m[1].tiles >= 10 * m[0].tiles);
    if (!CHECK(m[1].allocations <= m[0].allocations + A_FEW))
        printf("    %ld for %d tiles, %ld for %d\n", m[0].allocations, m[0].tiles, m[1].allocations,
               m[1].tiles);
}

static void as_often_for_many_tiles(void)
{
    for (int file = 0; file < (int)AR_COUNT(files); file++) {
        world_begin();
        if (make_input(file))
            for (int program = 0; program < (int)AR_COUNT(programs); program++)
                for (int threads = 1; threads <= 2; threads++) {
                    CASE("%s, %s, %d threads", files[file].why, programs[program].why, threads);
                    check_stream(file, program, threads);
                }
        world_end();
    }
}

TEST_MAIN { RUN(as_often_for_many_tiles); }
