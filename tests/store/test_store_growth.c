/* test_store_growth.c -- arrays that grow, drafts that are thrown away, and cells that are
 * unpacked, when memory runs out or the process ends.  What others read of them: store_append.py
 * and store_packed.py. */
#include "store_world.h"

#include <sys/wait.h>

enum { ROWS = 5, MORE = 6, COLUMNS = 4 };

static const int64_t shape[] = { ROWS, COLUMNS }, chunk[] = { 2, 3 }, zeros[] = { 0, 0 };
static const bool    growable[] = { true, false };
static double        cells[(ROWS + MORE) * COLUMNS];
static const char   *places[] = { "x.h5", "x.zarr" };

static bool is_built_in(const char *place)
{
    ar_text      text = { 0 };
    arras_status status = strstr(place, ".h5") ? ar_format_hdf5.list(&text, "/nowhere", NULL, &err)
                                               : ar_format_zarr.list(&text, "/nowhere", NULL, &err);

    ar_text_free(&text);
    return CHECK(status != ARRAS_OK) && !strstr(err.text, "built without");
}

static arras_status make(const char *place)
{
    ar_sink_options options = { .codecs = "deflate 1", .chunk = chunk, .growable = growable };
    ar_sink        *s;
    arras_status status = ar_store_create(&s, at(place), "x", ARRAS_F64, 2, shape, &options, &err);

    if (status != ARRAS_OK)
        return status;
    status = ar_sink_write(s, zeros, shape, cells, NULL, 1, &err);
    CHECK_EQ_INT(status, ARRAS_OK);
    return s->type->finish(s, &err);
}

static arras_status grow(const char *place)
{
    const int64_t lo[] = { ROWS, 0 };
    ar_sink      *s;
    arras_status  status = ar_store_append(&s, at(place), "x", 0, MORE, &err);

    if (status != ARRAS_OK)
        return status;
    status = ar_sink_write(s, lo, s->info.shape, cells + ROWS * COLUMNS, NULL, 2, &err);
    if (status == ARRAS_OK)
        return s->type->finish(s, &err);
    s->type->abandon(s);
    return status;
}

/* Rows, if all their cells are those that were written; -1 otherwise. */
static int64_t rows_of(const char *place)
{
    double     got[(ROWS + MORE) * COLUMNS] = { 0 };
    ar_source *s;
    int64_t    rows = -1;

    if (!CHECK(ar_store_open(&s, at(place), "x", &err) == ARRAS_OK))
        return -1;
    if (s->info.shape[0] <= ROWS + MORE &&
        ar_source_read(s, zeros, s->info.shape, got, NULL, 1, &err) == ARRAS_OK &&
        memcmp(got, cells, (size_t)s->info.shape[0] * COLUMNS * sizeof *got) == 0)
        rows = s->info.shape[0];
    s->type->close(s);
    return rows;
}

/* ---- Memory ---------------------------------------------------------------------------------- */

static void growth_survives_no_memory(void)
{
    for (size_t i = 0; i < AR_COUNT(places); i++) {
        arras_status status = ARRAS_ENOMEM;
        int64_t      entries;

        CASE("%s", places[i]);
        if (!is_built_in(places[i]))
            continue;
        CHECK_EQ_INT(make(places[i]), ARRAS_OK);
        entries = count_entries();
        for (int64_t n = 1; n < 3000 && status != ARRAS_OK; n++) {
            int64_t live = ar_alloc_live();

            CHECK_EQ_INT(rows_of(places[i]), ROWS);
            ar_alloc_fail_from(n);
            status = grow(places[i]);
            ar_alloc_fail_from(0);
            CHECK_EQ_INT(ar_alloc_live(), live);
            CHECK_EQ_INT(count_entries(), entries);
        }
        CHECK_EQ_INT(status, ARRAS_OK);
        CHECK_EQ_INT(rows_of(places[i]), ROWS + MORE);
    }
}

static void old_cells_can_not_be_written(void)
{
    const int64_t within[] = { ROWS - 1, 0 }, inside[] = { ROWS + 2, 0 };
    ar_sink      *s;

    for (size_t i = 0; i < AR_COUNT(places); i++) {
        CASE("%s", places[i]);
        if (!is_built_in(places[i]))
            continue;
        CHECK_EQ_INT(ar_store_append(&s, at(places[i]), "x", 0, 1, &err), ARRAS_OK);
        CHECK_EQ_INT(ar_sink_write(s, within, s->info.shape, cells, NULL, 1, &err), ARRAS_EINVAL);
        CHECK_HAS(err.text, "are there already");
        CHECK_EQ_INT(ar_sink_write(s, inside, s->info.shape, cells, NULL, 1, &err), ARRAS_EINVAL);
        s->type->abandon(s);
        CHECK_EQ_INT(rows_of(places[i]), ROWS + MORE);
    }
}

/* ---- The end of the process ------------------------------------------------------------------ */

static void begin_and_discard(void)
{
    static const char *const all[] = { "d.h5", "d.zarr", "x.zarr", "d.npy" };
    ar_sink                 *s;

    for (size_t i = 0; i < AR_COUNT(all); i++)
        if (ar_store_create(&s, at(all[i]), strstr(all[i], ".npy") ? NULL : "new/y", ARRAS_F64, 2,
                            shape, &(ar_sink_options){ .chunk = NULL }, &err) == ARRAS_OK &&
            ar_sink_write(s, zeros, shape, cells, NULL, 1, &err) != ARRAS_OK)
            _exit(1);
    arras_sinks_discard();
    _exit(count_entries() == 0 ? 2 : 0);
}

static void nothing_is_left_of_drafts(void)
{
    int     entries = count_entries(), how = -1;
    int64_t child = fork();

    if (child == 0)
        begin_and_discard();
    CHECK(child > 0 && waitpid((pid_t)child, &how, 0) == child);
    CHECK_EQ_INT(how, 0);
    CHECK_EQ_INT(count_entries(), entries);
    if (is_built_in("x.zarr"))
        CHECK(access(at("x.zarr/new"), F_OK) != 0);
}

/* ---- Unpacked -------------------------------------------------------------------------------- */

static double first_unpacked(const char *place)
{
    const arras_source_options options = { ARRAS_MISSING_REPLACE, 9 };
    ar_source                 *s;
    double                     got[ROWS * COLUMNS] = { 0 };
    arras_status               status = ar_store_open_with(&s, at(place), "x", &options, &err);

    if (status != ARRAS_OK)
        return -1;
    status = ar_source_read(s, zeros, shape, got, NULL, 2, &err);
    s->type->close(s);
    return status == ARRAS_OK ? got[0] + 100 * got[1] : -1;
}

static void unpacking_survives_no_memory(void)
{
    static const char meta[] =
        "{\"zarr_format\": 2, \"shape\": [5, 4], \"chunks\": [2, 3], \"dtype\": \"<i2\", "
        "\"compressor\": null, \"fill_value\": 7, \"order\": \"C\", \"filters\": null}";
    static const char attributes[] = "{\"_FillValue\": 7, \"scale_factor\": 0.5}";
    const int16_t     stored[] = { 6, 7, 8, 9, 10, 11 };
    double            got = -1;

    if (!is_built_in("p.zarr"))
        return;
    make_directory("p.zarr");
    make_directory("p.zarr/x");
    put_file("p.zarr/.zgroup", "{\"zarr_format\": 2}", 18);
    put_file("p.zarr/x/.zarray", meta, sizeof meta - 1);
    put_file("p.zarr/x/.zattrs", attributes, sizeof attributes - 1);
    put_file("p.zarr/x/0.0", stored, sizeof stored);
    for (int64_t n = 1; n < 1000 && got < 0; n++) {
        int64_t live = ar_alloc_live();

        ar_alloc_fail_from(n);
        got = first_unpacked("p.zarr");
        ar_alloc_fail_from(0);
        CHECK_EQ_INT(ar_alloc_live(), live);
    }
    CHECK_EQ_REAL(got, 903); /* 6 * 0.5, and 9 for what is missing */
}

/* ---- The public functions -------------------------------------------------------------------- */

static void arguments_are_checked(void)
{
    arras_source *source;
    arras_sink   *sink;

    CHECK_EQ_INT(arras_source_open_with(NULL, "x", NULL, NULL, &err), ARRAS_EINVAL);
    CHECK_EQ_INT(arras_source_open_with(&source, NULL, NULL, NULL, &err), ARRAS_EINVAL);
    CHECK_EQ_INT(arras_sink_append(NULL, "x", NULL, 0, 1, &err), ARRAS_EINVAL);
    CHECK_EQ_INT(arras_sink_append(&sink, NULL, NULL, 0, 1, &err), ARRAS_EINVAL);
    CHECK_EQ_INT(arras_sink_append(&sink, at("none"), NULL, 0, 1, &err), ARRAS_EIO);
    CHECK_HAS(err.text, "none");
}

TEST_MAIN
{
    world_begin();
    for (size_t i = 0; i < AR_COUNT(cells); i++)
        cells[i] = (double)(i * 7 % 100) + 0.5;
    RUN(growth_survives_no_memory);
    RUN(old_cells_can_not_be_written);
    RUN(nothing_is_left_of_drafts);
    RUN(unpacking_survives_no_memory);
    RUN(arguments_are_checked);
    world_end();
}
