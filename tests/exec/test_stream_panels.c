/* test_stream_panels.c -- where a row of chunks is more than can be kept decoded, chunks are still
 * decoded about once, and results have the same bits. */
#include "base/base.h"
#include "test.h"

#include <arras/arras.h>

#include <ftw.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

static char        world[64], path[128];
static arras_error err;

/* ---- Files ----------------------------------------------------------------------------------- */

static int remove_one(const char *name, const struct stat *st, int kind, struct FTW *walk)
{
    (void)st, (void)kind, (void)walk;
    return remove(name);
}

static void world_begin(void)
{
    snprintf(world, sizeof world, "/tmp/arras-panels-XXXXXX");
    CHECK(mkdtemp(world) != NULL);
    snprintf(path, sizeof path, "%s/x.zarr", world);
}

static void world_end(void) { nftw(world, remove_one, 8, FTW_DEPTH | FTW_PHYS); }

static int64_t product(int n, const int64_t *numbers)
{
    int64_t all = 1;

    for (int i = 0; i < n; i++)
        all *= numbers[i];
    return all;
}

static void store(int rank, const int64_t *shape, const int64_t *chunk)
{
    const int64_t            zero[3] = { 0 };
    const arras_sink_options options = { .codecs = "none", .chunk = chunk };
    int64_t                  n = product(rank, shape);
    float                   *cells = malloc((size_t)n * sizeof *cells);
    arras_sink              *sink = NULL;

    for (int64_t i = 0; i < n; i++)
        cells[i] = (float)(i * 7919 % 1009) / 7;
    CHECK_EQ_INT(arras_sink_create(&sink, path, NULL, ARRAS_F32, rank, shape, &options, &err),
                 ARRAS_OK);
    CHECK_EQ_INT(arras_sink_write(sink, zero, shape, cells, NULL, 1, &err), ARRAS_OK);
    CHECK_EQ_INT(arras_sink_finish(sink, &err), ARRAS_OK);
    free(cells);
}

/* ---- Programs -------------------------------------------------------------------------------- */

/* The results, and how many chunks were fetched for them. */
static arras_results *run(arras_program *p, int64_t memory, int64_t *fetched)
{
    arras_stream_options options = { .memory = memory };
    arras_results       *results = NULL;
    arras_source        *x = NULL;
    arras_stream        *s = NULL;

    CHECK_EQ_INT(arras_source_open(&x, path, NULL, &err), ARRAS_OK);
    arras_stored stored = { "x", x, NULL };
    if (!CHECK_EQ_INT(arras_stream_start(&s, p, 0, NULL, 1, &stored, &options, &err), ARRAS_OK) ||
        !CHECK_EQ_INT(arras_stream_wait(&results, s, &err), ARRAS_OK))
        printf("    %s\n", err.text);
    arras_stream_free(s);
    arras_source_fetched(fetched, NULL, x);
    arras_source_close(x);
    return results;
}

typedef struct {
    const char *name, *text;
    int         rank;
    int64_t     shape[3], chunk[3], result[3];
    int64_t     memory;
    double      times; /* that a chunk may be fetched, on average */
} row;

static const row rows[] = {
    { "the same cells",
      "arras 1\nsize n\nsize m\n"
      "input x : f32[n, m]\n"
      "%0 = lambda(x) { add(_0[i0, i1], _0[i0, i1]) } : f32[n, m]\n"
      "output y = %0\n",
      2,
      { 512, 4096 },
      { 64, 64 },
      { 512, 4096 },
      2 << 20,
      1.25 },
    { "neighbours",
      "arras 1\nsize n\nsize m\n"
      "input x : f32[n, m]\n"
      "%0 = lambda(x) { add(add(_0[i0, add(i1, 1)], _0[add(i0, 2), add(i1, 1)]), "
      "subtract(_0[add(i0, 1), i1], _0[add(i0, 1), add(i1, 2)])) } : f32[n - 2, m - 2]\n"
      "output y = %0\n",
      2,
      { 512, 4096 },
      { 64, 64 },
      { 510, 4094 },
      2 << 20,
      1.25 },
    { "turned",
      "arras 1\nsize n\nsize m\n"
      "input x : f32[n, m]\n"
      "%0 = lambda(x) { subtract(_0[add(i1, 1), i0], _0[i1, i0]) } : f32[m, n - 1]\n"
      "output y = %0\n",
      2,
      { 4096, 512 },
      { 64, 64 },
      { 512, 4095 },
      2 << 20,
      1.25 },
    { "three axes",
      "arras 1\nsize n\nsize m\nsize l\n"
      "input x : f32[n, m, l]\n"
      "%0 = lambda(x) { subtract(_0[i0, add(i1, 2), add(i2, 1)], "
      "_0[add(i0, 2), i1, add(i2, 2)]) } : f32[n - 2, m - 2, l - 2]\n"
      "output y = %0\n",
      3,
      { 64, 256, 256 },
      { 16, 16, 16 },
      { 62, 254, 254 },
      4 << 20,
      2 },
};

static void check_row(const row *r, arras_program *p)
{
    int64_t        often = 0, once = 0, chunks = 1;
    arras_results *much = run(p, (int64_t)1 << 30, &once);
    arras_results *little = run(p, r->memory, &often);

    for (int axis = 0; axis < r->rank; axis++)
        chunks *= r->shape[axis] / r->chunk[axis];
    if (!CHECK(once >= chunks && (double)once <= r->times * (double)chunks))
        printf("    %" PRId64 " chunks were fetched in memory for all, of %" PRId64 "\n", once,
               chunks);
    if (!CHECK((double)often <= r->times * (double)chunks))
        printf("    %" PRId64 " chunks were fetched, of %" PRId64 "\n", often, chunks);
    if (much && little)
        CHECK(memcmp(arras_results_find(much, "y")->buffer.data,
                     arras_results_find(little, "y")->buffer.data,
                     (size_t)product(r->rank, r->result) * sizeof(float)) == 0);
    arras_results_free(much);
    arras_results_free(little);
}

static void chunks_are_decoded_about_once(void)
{
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        /* One thread: how often several decode a chunk depends on who is delayed. */
        const arras_options options = { .threads = 1 };
        arras_graph        *g = NULL;
        arras_program      *p = NULL;

        CASE("%s", rows[i].name);
        world_begin();
        store(rows[i].rank, rows[i].shape, rows[i].chunk);
        if (CHECK_EQ_INT(arras_graph_read(&g, rows[i].text, strlen(rows[i].text), &err),
                         ARRAS_OK) &&
            CHECK_EQ_INT(arras_compile(&p, g, &options, &err), ARRAS_OK))
            check_row(&rows[i], p);
        else
            printf("    %s\n", err.text);
        arras_program_free(p);
        arras_graph_free(g);
        world_end();
    }
}

TEST_MAIN { RUN(chunks_are_decoded_about_once); }
