/* test_hdf5_inside.c -- HDF5 from within: several threads, several arrays in one file, and memory
 * that runs out.  What others read and write of it: store_hdf5.py. */
#include "store/store.h"
#include "test.h"

#include <stdlib.h>
#include <unistd.h>

enum { ROWS = 50, COLUMNS = 40, CELLS = ROWS * COLUMNS };

static const int64_t shape[] = { ROWS, COLUMNS }, chunk[] = { 16, 16 }, zeros[] = { 0, 0 };
static char          folder[64], path[96];
static float         cells[CELLS], got[CELLS];
static arras_error   err;

static bool is_built_in(void)
{
    ar_text      text = { 0 };
    arras_status status = ar_format_hdf5.list(&text, "/nowhere", NULL, &err);

    ar_text_free(&text);
    return CHECK(status != ARRAS_OK) && !strstr(err.text, "built without");
}

static void start(void)
{
    snprintf(folder, sizeof folder, "%s", "/tmp/arras-hdf5-XXXXXX");
    if (!CHECK(mkdtemp(folder)))
        return;
    snprintf(path, sizeof path, "%s/x.h5", folder);
    for (int i = 0; i < CELLS; i++)
        cells[i] = (float)(i * 7 % 1000);
}

static void end(void)
{
    unlink(path);
    CHECK_EQ_INT(rmdir(folder), 0); /* nothing else is left there */
    CHECK_EQ_INT(ar_alloc_live(), 0);
}

static arras_status create(ar_sink **out, const char *inside, const char *codecs)
{
    ar_sink_options options = { .codecs = codecs, .chunk = codecs ? chunk : NULL };

    return ar_store_create(out, path, inside, ARRAS_F32, 2, shape, &options, &err);
}

static arras_status write_all(const char *inside, const char *codecs, int threads)
{
    ar_sink     *sink;
    arras_status status = create(&sink, inside, codecs);

    if (status != ARRAS_OK)
        return status;
    status = ar_sink_write(sink, zeros, shape, cells, NULL, threads, &err);
    if (status == ARRAS_OK)
        return sink->type->finish(sink, &err);
    sink->type->abandon(sink);
    return status;
}

static arras_status read_all(const char *inside, int threads)
{
    ar_source   *source;
    arras_status status = ar_store_open(&source, path, inside, &err);

    memset(got, 0, sizeof got);
    if (status != ARRAS_OK)
        return status;
    status = ar_source_read(source, zeros, shape, got, NULL, threads, &err);
    source->type->close(source);
    return status;
}

/* ---- Threads --------------------------------------------------------------------------------- */

static void threads_share_it(void)
{
    static const char *const codecs[] = { NULL, "none", "shuffle deflate 1", "lzf", "fletcher32" };

    start();
    for (size_t i = 0; i < AR_COUNT(codecs); i++) {
        CASE("codecs %s", codecs[i] ? codecs[i] : "not given");
        CHECK_EQ_INT(write_all("x", codecs[i], 4), ARRAS_OK);
        CHECK_EQ_INT(read_all("x", 4), ARRAS_OK);
        CHECK(memcmp(cells, got, sizeof cells) == 0);
        unlink(path);
    }
    end();
}

/* ---- Several arrays of one file -------------------------------------------------------------- */

static void arrays_appear_together(void)
{
    ar_sink *a = NULL, *b = NULL, *c = NULL;

    start();
    CHECK_EQ_INT(create(&a, "a", "none"), ARRAS_OK);
    CHECK_EQ_INT(create(&b, "g/b", NULL), ARRAS_OK);
    CHECK_EQ_INT(create(&c, "a", NULL), ARRAS_EIO);
    CHECK_HAS(err.text, "has /a already");
    CHECK_EQ_INT(create(&c, "g/c", "none"), ARRAS_OK);
    CHECK_EQ_INT(ar_sink_write(a, zeros, shape, cells, NULL, 1, &err), ARRAS_OK);
    CHECK_EQ_INT(ar_sink_write(b, zeros, shape, cells, NULL, 1, &err), ARRAS_OK);
    CHECK_EQ_INT(a->type->finish(a, &err), ARRAS_OK);
    c->type->abandon(c);
    CHECK(access(path, F_OK) != 0); /* b is not complete */
    CHECK_EQ_INT(b->type->finish(b, &err), ARRAS_OK);
    CHECK_EQ_INT(read_all("a", 1), ARRAS_OK);
    CHECK_EQ_INT(read_all("g/b", 1), ARRAS_OK);
    CHECK(memcmp(cells, got, sizeof cells) == 0);
    CHECK_EQ_INT(read_all("g/c", 1), ARRAS_ENAME);
    end();
}

static void all_abandoned_leave_nothing(void)
{
    ar_sink *a, *b;

    start();
    CHECK_EQ_INT(create(&a, "a", "none"), ARRAS_OK);
    CHECK_EQ_INT(create(&b, "b", NULL), ARRAS_OK);
    a->type->abandon(a);
    b->type->abandon(b);
    CHECK(access(path, F_OK) != 0);
    end();
}

/* An array is added to the file it is computed from. */
static void source_stays_open(void)
{
    ar_source *source;

    start();
    CHECK_EQ_INT(write_all("a", "none", 1), ARRAS_OK);
    if (!CHECK_EQ_INT(ar_store_open(&source, path, NULL, &err), ARRAS_OK))
        return;
    CHECK_EQ_INT(write_all("b", NULL, 1), ARRAS_OK);
    CHECK_EQ_INT(ar_source_read(source, zeros, shape, got, NULL, 2, &err), ARRAS_OK);
    CHECK(memcmp(cells, got, sizeof cells) == 0);
    source->type->close(source);
    CHECK_EQ_INT(read_all("b", 1), ARRAS_OK);
    CHECK_EQ_INT(read_all(NULL, 1), ARRAS_ENAME);
    CHECK_HAS(err.text, "holds 2 arrays: /a f32[50, 40], /b f32[50, 40]; say which");
    end();
}

/* Whoever changes a file while something is added to it keeps what he wrote. */
static void changes_of_others_stay(void)
{
    ar_sink *sink;
    FILE    *file;

    start();
    CHECK_EQ_INT(write_all("a", NULL, 1), ARRAS_OK);
    CHECK_EQ_INT(create(&sink, "b", NULL), ARRAS_OK);
    file = fopen(path, "ab");
    if (CHECK(file)) {
        fputs("more", file);
        fclose(file);
    }
    CHECK_EQ_INT(sink->type->finish(sink, &err), ARRAS_EIO);
    CHECK_HAS(err.text, "changed by others");
    CHECK_EQ_INT(read_all("b", 1), ARRAS_ENAME);
    CHECK_EQ_INT(read_all("a", 1), ARRAS_OK);
    end();
}

/* ---- No memory ------------------------------------------------------------------------------- */

/* The n-th allocation and all after it fail, for every n until none is needed. */
static void memory_runs_out(void)
{
    arras_status status = ARRAS_ENOMEM;

    start();
    for (int n = 1; status != ARRAS_OK && n < 1000; n++) {
        ar_alloc_fail_from(n);
        status = write_all("g/x", "shuffle lzf", 1);
        ar_alloc_fail_from(0);
        CHECK(status == ARRAS_OK || status == ARRAS_ENOMEM);
        CHECK_EQ_INT(ar_alloc_live(), 0);
        CHECK((access(path, F_OK) == 0) == (status == ARRAS_OK));
    }
    CHECK_EQ_INT(status, ARRAS_OK);
    for (int named = 0; named < 2; named++) {
        status = ARRAS_ENOMEM;
        for (int n = 1; status != ARRAS_OK && n < 1000; n++) {
            ar_alloc_fail_from(n);
            status = read_all(named ? "g/x" : NULL, 1);
            ar_alloc_fail_from(0);
            CHECK(status == ARRAS_OK || status == ARRAS_ENOMEM);
            CHECK_EQ_INT(ar_alloc_live(), 0);
        }
        CHECK_EQ_INT(status, ARRAS_OK);
    }
    end();
}

static void without_libhdf5(void)
{
    ar_sink *sink;

    snprintf(path, sizeof path, "x.h5");
    CHECK_EQ_INT(create(&sink, "x", NULL), ARRAS_EFORMAT);
    CHECK_HAS(err.text, "built without libhdf5");
}

TEST_MAIN
{
    test.function = "is_built_in";
    if (!is_built_in()) {
        RUN(without_libhdf5);
        return;
    }
    RUN(threads_share_it);
    RUN(arrays_appear_together);
    RUN(all_abandoned_leave_nothing);
    RUN(source_stays_open);
    RUN(changes_of_others_stay);
    RUN(memory_runs_out);
}
