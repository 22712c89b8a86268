/* test_stream_resume.c -- what an earlier run saved is used by one with another memory, whose tiles
 * are others. */
#include "store_world.h"

enum { ROWS = 600, COLUMNS = 256, CHUNK = 10 };
static const int64_t shape[] = { ROWS, COLUMNS };

static double cell_at(int64_t i, int64_t j) { return (double)(i * 3 + j % 7); }

static void write_source(void)
{
    static double        cells[ROWS][COLUMNS];
    static const int64_t zero[2], chunk[] = { CHUNK, COLUMNS };
    arras_sink          *sink;

    for (int64_t i = 0; i < ROWS; i++)
        for (int64_t j = 0; j < COLUMNS; j++)
            cells[i][j] = cell_at(i, j);
    CHECK_EQ_INT(arras_sink_create(&sink, at("x.h5"), "/x", ARRAS_F64, 2, shape,
                                   &(arras_sink_options){ .codecs = "deflate 1", .chunk = chunk },
                                   &err),
                 ARRAS_OK);
    CHECK_EQ_INT(arras_sink_write(sink, zero, shape, cells, NULL, 1, &err), ARRAS_OK);
    CHECK_EQ_INT(arras_sink_finish(sink, &err), ARRAS_OK);
}

static arras_program *doubling(int threads)
{
    arras_graph   *g;
    arras_program *p = NULL;
    arras_array    x;

    CHECK_EQ_INT(arras_graph_new(&g, &err), ARRAS_OK);
    x = arras_placeholder(g, "x", ARRAS_F64, 2, shape);
    arras_output(g, "y", arras_multiply(x, arras_float(g, 2)));
    CHECK_EQ_INT(arras_compile(&p, g, &(arras_options){ .threads = threads }, &err), ARRAS_OK);
    arras_graph_free(g);
    return p;
}

static arras_sink *open_result(const char *name)
{
    arras_sink *sink = NULL;

    CHECK_EQ_INT(
        arras_sink_resume(&sink, at(name), NULL, ARRAS_F64, 2, shape, NULL, "twice", 60, &err),
        ARRAS_OK);
    return sink;
}

/* Rows lo .. hi, as tiles of an earlier run. */
static void save(const char *name, int64_t lo, int64_t hi, int64_t rows, int64_t columns)
{
    static double cells[ROWS * COLUMNS];
    arras_sink   *sink = open_result(name);

    for (int64_t i = lo; i < hi; i += rows)
        for (int64_t j = 0; j < COLUMNS; j += columns) {
            int64_t from[] = { i, j };
            int64_t to[] = { i + rows < hi ? i + rows : hi,
                             j + columns < COLUMNS ? j + columns : COLUMNS };
            double *put = cells;

            for (int64_t k = i; k < to[0]; k++)
                for (int64_t l = j; l < to[1]; l++)
                    *put++ = 2 * cell_at(k, l);
            CHECK_EQ_INT(arras_sink_write(sink, from, to, cells, NULL, 1, &err), ARRAS_OK);
        }
    arras_sink_abandon(sink);
}

/* How many rows were read. */
static int64_t go_on(const char *name, arras_program *p, int64_t memory)
{
    arras_source        *x = NULL;
    arras_sink          *sink = open_result(name);
    arras_stream        *stream;
    arras_stream_options options = { .memory = memory };
    int64_t              chunks = -1, bytes;

    CHECK_EQ_INT(arras_source_open(&x, at("x.h5"), "/x", &err), ARRAS_OK);
    arras_stored stored[] = { { "x", x, NULL }, { "y", NULL, sink } };
    if (CHECK_EQ_INT(arras_stream_start(&stream, p, 0, NULL, 2, stored, &options, &err),
                     ARRAS_OK)) {
        CHECK_EQ_INT(arras_stream_wait(NULL, stream, &err), ARRAS_OK);
        arras_stream_free(stream);
    }
    arras_source_fetched(&chunks, &bytes, x);
    arras_source_close(x);
    CHECK_EQ_INT(arras_sink_finish(sink, &err), ARRAS_OK);
    return chunks * CHUNK;
}

static void compare(const char *name)
{
    static double        got[ROWS][COLUMNS];
    static const int64_t zero[2];
    arras_source        *y = NULL;
    int64_t              wrong = 0;

    CHECK_EQ_INT(arras_source_open(&y, at(name), NULL, &err), ARRAS_OK);
    CHECK_EQ_INT(arras_source_read(y, zero, shape, got, NULL, 1, &err), ARRAS_OK);
    arras_source_close(y);
    for (int64_t i = 0; i < ROWS; i++)
        for (int64_t j = 0; j < COLUMNS; j++)
            wrong += got[i][j] != 2 * cell_at(i, j);
    CHECK_EQ_INT(wrong, 0);
}

static void tiles_of_another_run_are_used(void)
{
    static const struct {
        int64_t lo, hi, rows, columns; /* what was saved, and how */
    } saved[] = { { 0, 300, 7, COLUMNS },   { 0, 300, 100, COLUMNS }, { 200, 500, 31, COLUMNS },
                  { 300, 600, 1, COLUMNS }, { 0, 400, 13, 50 },       { 0, ROWS, 9, 100 } };
    static const int64_t memories[] = { 1 << 19, 1 << 20, 3 << 20, 1 << 24, 1 << 28 };

    world_begin();
    write_source();
    for (int threads = 1; threads <= 2; threads++) {
        arras_program *p = doubling(threads);

        for (size_t m = 0; m < AR_COUNT(memories); m++)
            for (size_t i = 0; i < AR_COUNT(saved); i++) {
                int64_t missing = ROWS - (saved[i].hi - saved[i].lo), read;

                CASE("%d threads, %d bytes, saved %d", threads, (int)memories[m], (int)i);
                save("y.npy", saved[i].lo, saved[i].hi, saved[i].rows, saved[i].columns);
                read = go_on("y.npy", p, memories[m]);
                if (!CHECK(read <= missing + ROWS / 4))
                    printf("    %d of %d rows were missing, %d were read\n", (int)missing, ROWS,
                           (int)read);
                compare("y.npy");
                CHECK_EQ_INT(remove(at("y.npy")), 0);
            }
        arras_program_free(p);
    }
    world_end();
}

/* Whatever boxes there are: what is not covered is computed. */
static void random_boxes(void)
{
    arras_program *p = doubling(1);
    uint64_t       state = 88172645463325252u;

    world_begin();
    write_source();
    for (int round = 0; round < 25; round++) {
        CASE("round %d", round);
        for (int box = 0; box < 12; box++) {
            int64_t v[4];

            for (int k = 0; k < 4; k++) {
                state ^= state << 13, state ^= state >> 7, state ^= state << 17;
                v[k] = (int64_t)(state >> 40);
            }
            int64_t lo = v[0] % ROWS, hi = lo + 1 + v[1] % (ROWS - lo);

            save("y.npy", lo, hi, 1 + v[2] % 80, 1 + v[3] % COLUMNS);
        }
        go_on("y.npy", p, (int64_t)1 << (19 + round % 5));
        compare("y.npy");
        CHECK_EQ_INT(remove(at("y.npy")), 0);
    }
    arras_program_free(p);
    world_end();
}

TEST_MAIN
{
    RUN(tiles_of_another_run_are_used);
    RUN(random_boxes);
}
