/* test_files_memory.c -- arrays in files when the n-th allocation fails, for every n: looked at,
 * read, written, made longer, resumed, streamed and iterated.  No crash, no leak, no half-made
 * file, and ARRAS_ENOMEM or what is right all the same. */
#include "base/base.h"
#include "compile/core_cache.h"
#include "store_world.h"

#include <arras/sweep.h>

enum { ROWS = 12, COLUMNS = 10, CELLS = ROWS * COLUMNS };
static const int64_t shape[] = { ROWS, COLUMNS }, chunk[] = { 5, 10 }, zero[2];

typedef struct {
    const char *file, *inside, *codecs;
} format;

static const format formats[] = {
    { "x.npy", NULL, NULL }, { "x.h5", "/a/x", "shuffle deflate 3" }, { "plain.h5", "/x", "none" },
    { "x.nc", "/x", NULL },  { "x.zarr", "/a/x", "zstd 3" },
};
static const format *f; /* of the present case */

static char made[40]; /* what create() makes of it */

static arras_program *twice; /* y = 2 x, and their sum; made before anything fails */

/* ---- What is done ---------------------------------------------------------------------------- */

static bool can_grow(void) { return f->codecs && strcmp(f->codecs, "none") != 0; }

static arras_status create(void)
{
    double             cells[CELLS];
    arras_sink        *sink;
    static const bool  growable[] = { true, false };
    arras_sink_options options = { .codecs = f->codecs,
                                   .chunk = f->codecs ? chunk : NULL,
                                   .growable = can_grow() ? growable : NULL };
    arras_status       status =
        arras_sink_create(&sink, at(made), f->inside, ARRAS_F64, 2, shape, &options, &err);

    for (int i = 0; i < CELLS; i++)
        cells[i] = i;
    if (status != ARRAS_OK)
        return status;
    status = arras_sink_write(sink, zero, shape, cells, NULL, 1, &err);
    if (status == ARRAS_OK)
        return arras_sink_finish(sink, &err);
    arras_sink_abandon(sink);
    return status;
}

static arras_status open_field(arras_source **out)
{
    static const arras_source_options options = { .missing = ARRAS_MISSING_PROPAGATE };

    return arras_source_open_with(out, at(f->file), f->inside, &options, &err);
}

static arras_status look(void)
{
    arras_source *source;
    double        cells[CELLS];
    char         *text = NULL;
    arras_status  status = open_field(&source);

    if (status != ARRAS_OK)
        return status;
    status = arras_source_describe(&text, source, &err);
    arras_text_free(text);
    if (status == ARRAS_OK)
        status = arras_source_read(source, zero, shape, cells, NULL, 1, &err);
    for (int i = 0; i < CELLS && status == ARRAS_OK; i++)
        CHECK_EQ_REAL(cells[i], i);
    arras_source_close(source);
    return status;
}

static arras_status list(void)
{
    char        *text = NULL;
    arras_status status = arras_source_list(&text, at(f->file), NULL, &err);

    if (status == ARRAS_OK)
        CHECK_HAS(text, "f64[12, 10]");
    arras_text_free(text);
    return status;
}

static arras_status append(void)
{
    double       cells[COLUMNS] = { 0 };
    arras_sink  *sink;
    int64_t      lo[] = { ROWS, 0 }, hi[] = { ROWS + 1, COLUMNS };
    arras_status status = arras_sink_append(&sink, at(f->file), f->inside, 0, 1, &err);

    if (status != ARRAS_OK)
        return status;
    status = arras_sink_write(sink, lo, hi, cells, NULL, 1, &err);
    arras_sink_abandon(sink); /* so that it is what it was for the next */
    return status;
}

/* The first half is there already, and stays there whatever happens. */
static arras_status resume(void)
{
    double        cells[CELLS] = { 0 };
    arras_sink   *sink;
    arras_source *source = NULL;
    arras_stream *stream = NULL;
    int64_t       half[] = { 5, COLUMNS };
    arras_status  status = open_field(&source);

    if (status != ARRAS_OK)
        return status;
    status = arras_sink_resume(&sink, at("resumed.npy"), NULL, ARRAS_F64, 2, shape, NULL, "same",
                               60, &err);
    if (status == ARRAS_OK) {
        arras_stored         stored[] = { { "x", source, NULL }, { "y", NULL, sink } };
        arras_stream_options options = { .memory = 1 << 20 };
        arras_results       *results = NULL;

        status = arras_sink_write(sink, zero, half, cells, NULL, 1, &err);
        if (status == ARRAS_OK)
            status = arras_stream_start(&stream, twice, 0, NULL, 2, stored, &options, &err);
        if (status == ARRAS_OK)
            status = arras_stream_wait(&results, stream, &err);
        arras_results_free(results);
        arras_stream_free(stream);
        arras_sink_abandon(sink);
    }
    arras_source_close(source);
    return status;
}

static arras_status iterate(void)
{
    static const arras_feed feed = { "y", "x" };
    arras_loop              loop = { .nfeeds = 1, .feeds = &feed, .most = 3, .memory = 1 << 20 };
    arras_results          *results = NULL;
    arras_source           *source = NULL;
    arras_status            status = open_field(&source);
    arras_stored            stored = { "x", source, NULL };

    if (status != ARRAS_OK)
        return status;
    status = arras_iterate(&results, NULL, twice, 0, NULL, 1, &stored, &loop, &err);
    if (status == ARRAS_OK)
        CHECK_EQ_REAL(((double *)arras_results_find(results, "y")->buffer.data)[3], 24);
    arras_results_free(results);
    arras_source_close(source);
    return status;
}

/* ---- The n-th allocation --------------------------------------------------------------------- */

static void remove_made(void)
{
    char command[200];

    snprintf(command, sizeof command, "rm -rf '%s' '%s'", at(made), at(".resumed.npy.partial"));
    if (access(at(made), F_OK) == 0 || access(at(".resumed.npy.partial"), F_OK) == 0)
        CHECK_EQ_INT(system(command), 0);
}

static void fail_each(const char *what, arras_status (*act)(void))
{
    int64_t      live;
    int          entries;
    arras_status status = ARRAS_ENOMEM;

    CASE("%s of %s", what, f->file);
    if (!CHECK_EQ_INT(act(), ARRAS_OK)) { /* libraries are loaded, caches are warm */
        printf("    %s\n", err.text);
        return;
    }
    remove_made();
    ar_buffers_clear();
    live = ar_alloc_live();
    entries = count_entries();
    for (int64_t n = 1; n < 5000 && status == ARRAS_ENOMEM; n++) {
        err = (arras_error){ ARRAS_OK, "" };
        ar_alloc_fail_from(n);
        status = act();
        ar_alloc_fail_from(0);
        if (!CHECK(status == ARRAS_OK || (status == ARRAS_ENOMEM && err.text[0])))
            printf("    allocation %d: %d, %s\n", (int)n, (int)status, err.text);
        if (status != ARRAS_OK && !CHECK(access(at(made), F_OK) != 0))
            printf("    allocation %d: there is a file\n", (int)n);
        remove_made();
        ar_buffers_clear();
        if (!CHECK_EQ_INT(ar_alloc_live(), live) || !CHECK_EQ_INT(count_entries(), entries)) {
            printf("    allocation %d\n", (int)n);
            return;
        }
    }
    CHECK_EQ_INT(status, ARRAS_OK);
}

static void compile_twice(void)
{
    arras_graph *g;
    arras_array  y;

    CHECK_EQ_INT(arras_graph_new(&g, &err), ARRAS_OK);
    y = arras_multiply(arras_placeholder(g, "x", ARRAS_F64, 2, shape), arras_float(g, 2));
    arras_output(g, "y", y);
    arras_output(g, "sum", arras_sum(y, 0, NULL, false));
    CHECK_EQ_INT(arras_compile(&twice, g, &(arras_options){ .threads = 1 }, &err), ARRAS_OK);
    arras_graph_free(g);
}

/* A directory of files that are parts of one array. */
static void parts_of_one_array(void)
{
    static const format part = { "parts/0.npy", NULL, NULL }, whole = { "parts", NULL, NULL };

    make_directory("parts");
    f = &part;
    snprintf(made, sizeof made, "%s", f->file);
    CHECK_EQ_INT(create(), ARRAS_OK);
    snprintf(made, sizeof made, "made");
    f = &whole;
    fail_each("reading", look);
}

static void every_allocation_may_fail(void)
{
    world_begin();
    setenv("TMPDIR", world, 1);
    compile_twice();
    for (size_t i = 0; i < AR_COUNT(formats); i++) {
        f = &formats[i];
        snprintf(made, sizeof made, "%s", f->file);
        CASE("%s", f->file);
        CHECK_EQ_INT(create(), ARRAS_OK);
        snprintf(made, sizeof made, "made-%s", f->file);
        fail_each("writing", create);
        fail_each("reading", look);
        if (f->inside)
            fail_each("a list", list);
        if (can_grow())
            fail_each("appending", append);
        fail_each("resuming", resume);
        fail_each("iterating", iterate);
    }
    parts_of_one_array();
    arras_program_free(twice);
    world_end();
}

TEST_MAIN { RUN(every_allocation_may_fail); }
