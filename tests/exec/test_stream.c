/* test_stream.c -- programs on arrays in files: what is kept and spilled, what does not fit, what
 * is cancelled, and memory that runs out. */
#include "base/base.h"
#include "test.h"

#include <arras/arras.h>

#include <ftw.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

static char        world[64];
static arras_error err;

static int remove_one(const char *path, const struct stat *st, int kind, struct FTW *walk)
{
    (void)st, (void)kind, (void)walk;
    return remove(path);
}

static void world_begin(void)
{
    snprintf(world, sizeof world, "/tmp/arras-stream-XXXXXX");
    CHECK(mkdtemp(world) != NULL);
    setenv("TMPDIR", world, 1);
}

static void world_end(void)
{
    nftw(world, remove_one, 8, FTW_DEPTH | FTW_PHYS);
    unsetenv("TMPDIR");
}

static const char *at(const char *name)
{
    static char paths[4][128];
    static int  turn;
    char       *path = paths[turn++ % 4];

    snprintf(path, sizeof paths[0], "%s/%s", world, name);
    return path;
}

static int files_in_world(void)
{
    char  command[128];
    int   n = -1;
    FILE *pipe;

    snprintf(command, sizeof command, "ls -A %s | wc -l", world);
    pipe = popen(command, "r");
    if (pipe && fscanf(pipe, "%d", &n) != 1)
        n = -1;
    if (pipe)
        pclose(pipe);
    return n;
}

/* ---- Arrays and programs --------------------------------------------------------------------- */

static arras_source *store_chunks(const char *name, int64_t rows, int64_t columns, double scale,
                                  const int64_t *chunk)
{
    const int64_t      shape[2] = { rows, columns }, zero[2] = { 0, 0 };
    double            *cells = malloc((size_t)(rows * columns) * sizeof *cells);
    arras_sink_options options = { .chunk = chunk };
    arras_sink        *sink = NULL;
    arras_source      *source = NULL;

    for (int64_t i = 0; i < rows * columns; i++)
        cells[i] = scale * (double)(i * 7919 % 1009);
    CHECK_EQ_INT(arras_sink_create(&sink, at(name), NULL, ARRAS_F64, 2, shape, &options, &err),
                 ARRAS_OK);
    CHECK_EQ_INT(arras_sink_write(sink, zero, shape, cells, NULL, 1, &err), ARRAS_OK);
    CHECK_EQ_INT(arras_sink_finish(sink, &err), ARRAS_OK);
    CHECK_EQ_INT(arras_source_open(&source, at(name), NULL, &err), ARRAS_OK);
    free(cells);
    return source;
}

static arras_source *store(const char *name, int64_t rows, int64_t columns, double scale)
{
    return store_chunks(name, rows, columns, scale, NULL);
}

static double *load(arras_source *s)
{
    const arras_store_info *info = arras_source_info(s);
    const int64_t           zero[2] = { 0, 0 };
    double                 *cells = malloc((size_t)(info->shape[0] * info->shape[1]) * 8);

    CHECK_EQ_INT(arras_source_read(s, zero, info->shape, cells, NULL, 1, &err), ARRAS_OK);
    return cells;
}

static arras_program *compile(arras_graph **g, const char *text, int threads)
{
    arras_options  options = { .threads = threads };
    arras_program *p = NULL;

    if (!CHECK_EQ_INT(arras_graph_read(g, text, strlen(text), &err), ARRAS_OK) ||
        !CHECK_EQ_INT(arras_compile(&p, *g, &options, &err), ARRAS_OK))
        printf("    %s\n", err.text);
    return p;
}

/* The results in memory; *explained, if not NULL, is the plan in words. */
static arras_status run(arras_results **out, arras_program *p, int n, const arras_stored *stored,
                        int64_t memory, char **explained)
{
    arras_stream_options options = { .memory = memory };
    arras_stream        *s = NULL;
    arras_status         status = arras_stream_start(&s, p, 0, NULL, n, stored, &options, &err);

    if (status == ARRAS_OK && explained)
        CHECK_EQ_INT(arras_stream_explain(explained, s, &err), ARRAS_OK);
    if (status == ARRAS_OK)
        status = arras_stream_wait(out, s, &err);
    arras_stream_free(s);
    return status;
}

/* ---- Kept and spilled ------------------------------------------------------------------------ */

static const char mean_text[] = "arras 1\n"
                                "input x : f64[400, 500]\n"
                                "%0 = max(x, axes=[0, 1]) : f64[]\n"
                                "%1 = subtract(x, %0) : f64[400, 500]\n"
                                "output y = %1\n";

/* Runs a program of x[rows, columns], in which something must be kept, and has its y checked. */
static void check_kept(const char *text, int64_t rows, int64_t columns, int64_t memory,
                       void (*check)(const double *y, const double *x))
{
    arras_graph   *g = NULL;
    arras_results *got = NULL;
    char          *words = NULL;
    world_begin();
    arras_source  *x = store("x.npy", rows, columns, 0.5);
    arras_stored   stored[] = { { "x", x, NULL } };
    arras_program *p = compile(&g, text, 2);

    CHECK_EQ_INT(run(&got, p, 1, stored, memory, &words), ARRAS_OK);
    if (got) {
        double *cells = load(x);

        CHECK_HAS(words, "kept:");
        check(arras_results_find(got, "y")->buffer.data, cells);
        free(cells);
    }
    arras_text_free(words);
    arras_results_free(got);
    arras_program_free(p);
    arras_graph_free(g);
    arras_source_close(x);
    world_end();
}

static void check_means(const double *y, const double *x)
{
    for (int i = 0; i < 200000; i += 777)
        CHECK_EQ_REAL(y[i], x[i] - 504);
}

static void what_all_need_is_kept(void) { check_kept(mean_text, 400, 500, 8 << 20, check_means); }

static const char columns_text[] = "arras 1\n"
                                   "input x : f64[9000, 40]\n"
                                   "%0 = lambda(x) { max[k: 0, 9000](_0[k, i0]) } : f64[40]\n"
                                   "output y = %0\n";

static void check_columns(const double *y, const double *x)
{
    for (int j = 0; j < 40; j++) {
        double most = x[j];

        for (int i = 1; i < 9000; i++)
            most = x[i * 40 + j] > most ? x[i * 40 + j] : most;
        CHECK_EQ_REAL(y[j], most);
    }
}

/* The largest of parts of columns: then the file is read by rows. */
static void what_is_small_and_of_much_is_kept(void)
{
    check_kept(columns_text, 9000, 40, 2 << 20, check_columns);
}

static const char sums_text[] =
    "arras 1\n"
    "input a : f64[300, 200]\n"
    "input b : f64[200, 310]\n"
    "%0 = negative(b) : f64[200, 310]\n"
    "%1 = lambda(a, %0) { sum[k: 0, 200](maximum(_0[i0, k], _1[k, i1])) } : f64[300, 310]\n"
    "%2 = lambda(%1, %0) { sum[k: 0, 200](maximum(_0[k, i0], _1[k, i1])) } : f64[310, 310]\n"
    "output y = %2\n";

/* The same bits with much memory, and with so little that arrays in between go to files. */
static void what_does_not_fit_is_spilled(void)
{
    arras_graph   *g = NULL;
    arras_results *much = NULL, *little = NULL;
    char          *words = NULL;
    world_begin();
    arras_source  *a = store("a.npy", 300, 200, 1), *b = store("b.npy", 200, 310, 0.25);
    arras_stored   stored[] = { { "a", a, NULL }, { "b", b, NULL } };
    arras_program *p = compile(&g, sums_text, 1);
    int            files = files_in_world();

    CHECK_EQ_INT(run(&much, p, 2, stored, 64 << 20, NULL), ARRAS_OK);
    if (!CHECK_EQ_INT(run(&little, p, 2, stored, 900000, &words), ARRAS_OK))
        printf("    %s\n", err.text);
    if (much && little) {
        CHECK_HAS(words, "in a file");
        CHECK(memcmp(arras_results_find(much, "y")->buffer.data,
                     arras_results_find(little, "y")->buffer.data, 310 * 310 * 8) == 0);
    }
    CHECK_EQ_INT(files_in_world(), files);
    arras_text_free(words);
    arras_results_free(much);
    arras_results_free(little);
    arras_program_free(p);
    arras_graph_free(g);
    arras_source_close(a);
    arras_source_close(b);
    world_end();
}

/* ---- What goes wrong ------------------------------------------------------------------------- */

static const char gather_text[] =
    "arras 1\n"
    "input x : f64[400, 500]\n"
    "input i : f64[100, 2]\n"
    "%0 = lambda(x, i) { _0[i64(_1[i0, 0]), i64(_1[i0, 1])] } : f64[100]\n"
    "output y = %0\n";

static void errors_have_words(void)
{
    arras_graph   *g = NULL;
    arras_results *got = NULL;
    world_begin();
    arras_source  *x = store("x.npy", 400, 500, 1), *i = store("i.npy", 100, 2, 1);
    arras_stored   stored[] = { { "x", x, NULL }, { "i", i, NULL } };
    arras_program *p = compile(&g, gather_text, 2);

    CHECK_EQ_INT(run(&got, p, 2, stored, 8 << 20, NULL), ARRAS_EINDEX);
    CHECK_HAS(err.text, "y[");
    CHECK_HAS(err.text, "]: lambda: index ");
    CHECK_HAS(err.text, "is outside axis 1 of length 500 of x: ");
    CHECK_HAS(err.text, ", in cell [");
    CHECK_EQ_INT(run(&got, p, 2, stored, 100000, NULL), ARRAS_ELIMIT);
    CHECK_HAS(err.text, "allow more memory");
    CHECK_EQ_INT(run(&got, p, 1, stored, 8 << 20, NULL), ARRAS_ENAME);
    CHECK_HAS(err.text, "input i");
    stored[0].name = "z";
    CHECK_EQ_INT(run(&got, p, 2, stored, 8 << 20, NULL), ARRAS_ENAME);
    stored[0] = (arras_stored){ "x", i, NULL };
    CHECK_EQ_INT(run(&got, p, 2, stored, 8 << 20, NULL), ARRAS_ESHAPE);
    stored[0] = (arras_stored){ NULL, x, NULL };
    CHECK_EQ_INT(run(&got, p, 2, stored, 8 << 20, NULL), ARRAS_EINVAL);
    CHECK(got == NULL);
    arras_program_free(p);
    arras_graph_free(g);
    arras_source_close(x);
    arras_source_close(i);
    world_end();
}

/* A run that is cancelled ends, and its sinks can be abandoned. */
static void cancelled(void)
{
    const int64_t shape[2] = { 400, 500 };
    arras_graph  *g = NULL;
    arras_stream *s = NULL;
    arras_sink   *sink = NULL;
    world_begin();
    arras_source  *x = store("x.npy", 400, 500, 1);
    arras_program *p = compile(&g, mean_text, 2);
    arras_status   status;

    CHECK_EQ_INT(arras_sink_create(&sink, at("y.npy"), NULL, ARRAS_F64, 2, shape, NULL, &err),
                 ARRAS_OK);
    arras_stored stored[] = { { "x", x, NULL }, { "y", NULL, sink } };
    CHECK_EQ_INT(arras_stream_start(&s, p, 0, NULL, 2, stored, NULL, &err), ARRAS_OK);
    arras_stream_cancel(s);
    status = arras_stream_wait(NULL, s, &err);
    CHECK(status == ARRAS_ECANCEL || status == ARRAS_OK);
    arras_stream_free(s);
    arras_sink_abandon(sink);
    CHECK_EQ_INT(files_in_world(), 1);
    arras_program_free(p);
    arras_graph_free(g);
    arras_source_close(x);
    world_end();
}

/* Whatever allocation fails, the run says so, and nothing is lost or left. */
static void allocations_that_fail(void)
{
    arras_graph *g = NULL;
    world_begin();
    arras_source  *x = store("x.zarr", 400, 500, 1);
    arras_stored   stored[] = { { "x", x, NULL } };
    arras_program *p = compile(&g, mean_text, 1);
    arras_results *got = NULL;
    int64_t        live;
    arras_status   status = ARRAS_ENOMEM;

    CHECK_EQ_INT(run(&got, p, 1, stored, 8 << 20, NULL), ARRAS_OK);
    arras_results_free(got);
    live = ar_alloc_live();
    for (int64_t n = 1; n < 2000 && status == ARRAS_ENOMEM; n++) {
        got = NULL;
        ar_alloc_fail_from(n);
        status = run(&got, p, 1, stored, 8 << 20, NULL);
        ar_alloc_fail_from(0);
        CHECK(status == ARRAS_ENOMEM || status == ARRAS_OK);
        arras_results_free(got);
        if (!CHECK(ar_alloc_live() <= live + 1)) /* a buffer that is kept warm */
            printf("    allocation %d\n", (int)n);
    }
    CHECK_EQ_INT(status, ARRAS_OK);
    arras_program_free(p);
    arras_graph_free(g);
    arras_source_close(x);
    world_end();
}

/* ---- Resumed --------------------------------------------------------------------------------- */

/* What is there is not asked for again, and another identity is refused. */
static void resumed(void)
{
    const int64_t shape[2] = { 6, 4 }, lo[2] = { 0, 0 }, half[2] = { 3, 4 }, from[2] = { 3, 0 };
    const double  cells[12] = { 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12 };
    arras_sink   *sink = NULL;
    world_begin();

    CHECK_EQ_INT(
        arras_sink_resume(&sink, at("r.npy"), NULL, ARRAS_F64, 2, shape, NULL, "one", 1, &err),
        ARRAS_OK);
    CHECK_EQ_INT(arras_sink_write(sink, lo, half, cells, NULL, 1, &err), ARRAS_OK);
    arras_sink_abandon(sink);
    CHECK_EQ_INT(files_in_world(), 1);
    CHECK_EQ_INT(
        arras_sink_resume(&sink, at("r.npy"), NULL, ARRAS_F64, 2, shape, NULL, "two", 1, &err),
        ARRAS_EINVAL);
    CHECK_HAS(err.text, "another program");
    CHECK_EQ_INT(
        arras_sink_resume(&sink, at("r.npy"), NULL, ARRAS_F64, 2, shape, NULL, "one", 1, &err),
        ARRAS_OK);
    CHECK_EQ_INT(arras_sink_write(sink, from, shape, cells, NULL, 1, &err), ARRAS_OK);
    CHECK_EQ_INT(arras_sink_finish(sink, &err), ARRAS_OK);
    CHECK_EQ_INT(files_in_world(), 1);
    arras_source *source = NULL;
    CHECK_EQ_INT(arras_source_open(&source, at("r.npy"), NULL, &err), ARRAS_OK);
    double *got = load(source);
    for (int i = 0; i < 24; i++)
        CHECK_EQ_REAL(got[i], cells[i % 12]);
    free(got);
    arras_source_close(source);
    world_end();
}

/* ---- Sizes ----------------------------------------------------------------------------------- */

static const char places_text[] = "arras 1\n"
                                  "size n\n"
                                  "input x : u8[n]\n"
                                  "%0 = argmax(x) : i64[]\n"
                                  "%1 = max(x) : u8[]\n"
                                  "output place = %0\n"
                                  "output most = %1\n";

static arras_source *store_bytes(const char *name, int64_t count, int64_t peak)
{
    const int64_t  zero = 0;
    unsigned char *cells = malloc((size_t)count);
    arras_sink    *sink = NULL;
    arras_source  *source = NULL;

    for (int64_t i = 0; i < count; i++)
        cells[i] = (unsigned char)(i * 7919 % 251);
    cells[peak] = cells[count - 1] = 254;
    CHECK_EQ_INT(arras_sink_create(&sink, at(name), NULL, ARRAS_U8, 1, &count, NULL, &err),
                 ARRAS_OK);
    CHECK_EQ_INT(arras_sink_write(sink, &zero, &count, cells, NULL, 1, &err), ARRAS_OK);
    CHECK_EQ_INT(arras_sink_finish(sink, &err), ARRAS_OK);
    CHECK_EQ_INT(arras_source_open(&source, at(name), NULL, &err), ARRAS_OK);
    free(cells);
    return source;
}

/* How long parts are depends on a size: once that is known, so is what a part reads. */
static void parts_of_any_length_are_read_alone(void)
{
    enum { COUNT = 10000000, PEAK = 7654321 };
    arras_graph   *g = NULL;
    arras_results *got = NULL;

    world_begin();
    arras_source  *x = store_bytes("x.npy", COUNT, PEAK);
    arras_stored   stored[] = { { "x", x, NULL } };
    arras_program *p = compile(&g, places_text, 2);

    if (!CHECK_EQ_INT(run(&got, p, 1, stored, 4 << 20, NULL), ARRAS_OK))
        printf("    %s\n", err.text);
    if (got) {
        CHECK_EQ_INT(*(int64_t *)arras_results_find(got, "place")->buffer.data, PEAK);
        CHECK_EQ_INT(*(unsigned char *)arras_results_find(got, "most")->buffer.data, 254);
    }
    arras_results_free(got);
    arras_program_free(p);
    arras_graph_free(g);
    arras_source_close(x);
    world_end();
}

/* ---- Chunks that end beyond the array ---------------------------------------------------------
 */

static void check_mirrored(int64_t rows, int64_t columns, const int64_t *chunk)
{
    char           text[256];
    arras_graph   *g = NULL;
    arras_results *got = NULL;
    arras_source  *x = store_chunks("x.zarr", rows, columns, 1, chunk);
    arras_stored   stored[] = { { "x", x, NULL } };
    int64_t        wrong = 0;

    snprintf(text, sizeof text,
             "arras 1\ninput x : f64[%d, %d]\n"
             "%%0 = lambda(x) { _0[i0, subtract(%d, i1)] } : f64[%d, %d]\noutput y = %%0\n",
             (int)rows, (int)columns, (int)columns - 1, (int)rows, (int)columns);
    arras_program *p = compile(&g, text, 2);

    CHECK_EQ_INT(run(&got, p, 1, stored, 64 << 20, NULL), ARRAS_OK);
    for (int64_t i = 0; got && i < rows * columns; i++) {
        const double *y = arras_results_find(got, "y")->buffer.data;
        int64_t       from = i / columns * columns + columns - 1 - i % columns;

        wrong += y[i] != (double)(from * 7919 % 1009);
    }
    CHECK_EQ_INT(wrong, 0);
    arras_results_free(got);
    arras_program_free(p);
    arras_graph_free(g);
    arras_source_close(x);
}

/* Where rows of chunks are decoded in place, rows of the array lie further apart; kernels of rows
 * of up to 512 bytes may count on it that they do not. */
static void rows_that_chunks_do_not_fill(void)
{
    static const int64_t columns[] = { 2, 5, 63, 64, 65, 300 }, edges[] = { 1, 2, 3, 4, 62, 64 };

    for (int i = 0; i < 6; i++)
        for (int k = 0; k < 6; k++) {
            const int64_t chunk[2] = { 3, edges[k] };

            CASE("rows of %d cells in chunks of %d", (int)columns[i], (int)edges[k]);
            world_begin();
            if (edges[k] <= columns[i])
                check_mirrored(7, columns[i], chunk);
            world_end();
        }
}

TEST_MAIN
{
    RUN(rows_that_chunks_do_not_fill);
    RUN(what_all_need_is_kept);
    RUN(what_is_small_and_of_much_is_kept);
    RUN(what_does_not_fit_is_spilled);
    RUN(errors_have_words);
    RUN(cancelled);
    RUN(allocations_that_fail);
    RUN(resumed);
    RUN(parts_of_any_length_are_read_alone);
}
