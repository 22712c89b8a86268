/* test_scans.c -- scans of arrays in files, whose tiles hand on: any tiles, threads and axis give
 * the bits of a launch in memory; a tile that fails, and an end from outside, end them all. */
#include "store_world.h"

enum { ROWS = 700, COLUMNS = 90, CHUNK = 50 };
static const int64_t shape[] = { ROWS, COLUMNS }, zero[2];
static double        cells[ROWS][COLUMNS];

static arras_source *write_source(void)
{
    static const int64_t chunk[] = { CHUNK, COLUMNS };
    arras_sink          *sink;
    arras_source        *source = NULL;

    for (int i = 0; i < ROWS; i++)
        for (int j = 0; j < COLUMNS; j++)
            cells[i][j] = (i * 31 + j * 17) % 101 / 7.0;
    CHECK_EQ_INT(arras_sink_create(&sink, at("x.zarr"), NULL, ARRAS_F64, 2, shape,
                                   &(arras_sink_options){ .codecs = "zstd 1", .chunk = chunk },
                                   &err),
                 ARRAS_OK);
    CHECK_EQ_INT(arras_sink_write(sink, zero, shape, cells, NULL, 1, &err), ARRAS_OK);
    CHECK_EQ_INT(arras_sink_finish(sink, &err), ARRAS_OK);
    CHECK_EQ_INT(arras_source_open(&source, at("x.zarr"), NULL, &err), ARRAS_OK);
    return source;
}

/* Two scans along both axes, one of them of what another made. */
static arras_program *program(int threads, int64_t tile_bytes)
{
    arras_graph   *g;
    arras_program *p = NULL;
    arras_array    x, y;

    CHECK_EQ_INT(arras_graph_new(&g, &err), ARRAS_OK);
    x = arras_placeholder(g, "x", ARRAS_F64, 2, shape);
    y = arras_cumulative_sum(arras_multiply(x, x), 0);
    arras_output(g, "y", y);
    arras_output(g, "z", arras_cumulative_sum(arras_add(y, arras_float(g, 0.5)), 1));
    CHECK_EQ_INT(arras_compile(
                     &p, g, &(arras_options){ .threads = threads, .tile_bytes = tile_bytes }, &err),
                 ARRAS_OK);
    arras_graph_free(g);
    return p;
}

static arras_status stream(arras_results **out, arras_program *p, arras_source *source, bool stop)
{
    const arras_stored stored = { .name = "x", .source = source };
    arras_stream      *s = NULL;
    arras_status       status = arras_stream_start(&s, p, 0, NULL, 1, &stored, NULL, &err);

    if (stop)
        arras_stream_cancel(s);
    if (status == ARRAS_OK)
        status = arras_stream_wait(out, s, &err);
    arras_stream_free(s);
    return status;
}

static bool same(const arras_results *a, const arras_results *b, const char *name)
{
    return memcmp(arras_results_find(a, name)->buffer.data,
                  arras_results_find(b, name)->buffer.data, sizeof cells) == 0;
}

static void any_tiles_give_the_bits_of_a_launch(void)
{
    static const int     threads[] = { 1, 2, 7 };
    static const int64_t bytes[] = { 0, 3000, 20000, 100000 };
    arras_source        *source = write_source();
    arras_program       *p = program(1, 0);
    arras_results       *want = NULL, *got = NULL;
    arras_binding        x = { "x", { cells, ARRAS_F64, 2, shape, NULL } };

    CHECK_EQ_INT(arras_launch(&want, p, 1, &x, &err), ARRAS_OK);
    arras_program_free(p);
    for (size_t t = 0; t < AR_COUNT(threads); t++)
        for (size_t b = 0; b < AR_COUNT(bytes); b++) {
            CASE("%d threads, tiles of %" PRId64 " bytes", threads[t], bytes[b]);
            p = program(threads[t], bytes[b]);
            if (CHECK_EQ_INT(stream(&got, p, source, false), ARRAS_OK))
                CHECK(same(want, got, "y") && same(want, got, "z"));
            arras_results_free(got);
            arras_program_free(p);
        }
    arras_results_free(want);
    arras_source_close(source);
}

/* Those that wait for what it hands on must not wait for ever. */
static void a_tile_that_fails_ends_them_all(void)
{
    arras_source *source = write_source();

    put_file("x.zarr/c/6/0", "this is no chunk", 16);
    for (int threads = 1; threads <= 7; threads += 3) {
        arras_program *p = program(threads, 3000);
        arras_results *got = NULL;

        CASE("%d threads", threads);
        CHECK(stream(&got, p, source, false) != ARRAS_OK);
        CHECK(strstr(err.text, "x.zarr") != NULL);
        arras_program_free(p);
    }
    arras_source_close(source);
}

static void an_end_from_outside_ends_them_all(void)
{
    arras_source *source = write_source();

    for (int i = 0; i < 20; i++) {
        arras_program *p = program(7, 3000);
        arras_results *got = NULL;
        arras_status   status = stream(&got, p, source, true);

        CHECK(status == ARRAS_ECANCEL || status == ARRAS_OK);
        arras_results_free(status == ARRAS_OK ? got : NULL);
        arras_program_free(p);
    }
    arras_source_close(source);
}

TEST_MAIN
{
    world_begin();
    RUN(any_tiles_give_the_bits_of_a_launch);
    world_end();
    world_begin();
    RUN(a_tile_that_fails_ends_them_all);
    world_end();
    world_begin();
    RUN(an_end_from_outside_ends_them_all);
    world_end();
}
