/* test_store_zarr_trouble.c -- Zarr from C: versions, groups, whole or not at all, shards that lie,
 * no memory.  What zarr-python has to say is in store_zarr.py. */
#include "store_world.h"

static double cells[60];

static void set_cells(void)
{
    for (int i = 0; i < 60; i++)
        cells[i] = i + 1;
}

static const int64_t shape[2] = { 6, 10 }, zero[2] = { 0, 0 }, chunk[2] = { 4, 3 };
static const double  expected = 73810; /* the sum of i * i up to 60 */

static arras_status write_array(const char *path, const char *inside,
                                const ar_sink_options *options)
{
    ar_sink     *sink;
    arras_status status = ar_store_create(&sink, path, inside, ARRAS_F64, 2, shape, options, &err);

    if (status != ARRAS_OK)
        return status;
    status = ar_sink_write(sink, zero, shape, cells, NULL, 2, &err);
    if (status != ARRAS_OK) {
        sink->type->abandon(sink);
        return status;
    }
    return sink->type->finish(sink, &err);
}

static double read_array(const char *path, const char *inside)
{
    ar_source *s;

    if (ar_store_open(&s, path, inside, &err) != ARRAS_OK)
        return -1;
    double sum = digest_all(s);
    s->type->close(s);
    return sum;
}

static void both_versions(void)
{
    for (int version = 2; version <= 3; version++) {
        char            name[32];
        ar_source      *s;
        ar_sink_options o = { .chunk = chunk, .codecs = "zstd 3", .version = version };

        CASE("version %d", version);
        snprintf(name, sizeof name, "v%d.zarr", version);
        CHECK_EQ_INT(write_array(at(name), "deep/er/a", &o), ARRAS_OK);
        CHECK_EQ_REAL(read_array(at(name), NULL), expected); /* the only one there */
        CHECK_EQ_REAL(read_array(at(name), "/deep/er/a"), expected);
        CHECK_EQ_INT(write_array(at(name), "deep/b", &(ar_sink_options){ 0 }), ARRAS_OK);
        CHECK_EQ_REAL(read_array(at(name), "deep/b"), expected);
        CHECK_EQ_REAL(read_array(at(name), NULL), -1);
        CHECK_HAS(err.text, "2 arrays; say which: /deep/b, /deep/er/a");
        CHECK_EQ_INT(ar_store_open(&s, at(name), "deep/er/a", &err), ARRAS_OK);
        CHECK_EQ_INT(s->info.chunk[0], 4);
        CHECK_STR(s->info.format, version == 2 ? "Zarr v2" : "Zarr v3");
        s->type->close(s);
        o.version = 5 - version;
        CHECK_EQ_INT(write_array(at(name), "deep/c", &o), ARRAS_EINVAL);
        CHECK_HAS(err.text, "in a group of version");
    }
    CASE("another version");
    CHECK_EQ_INT(write_array(at("v4.zarr"), NULL, &(ar_sink_options){ .version = 4 }),
                 ARRAS_EINVAL);
}

/* Until it is finished there is nothing to be read, and then all of it. */
static void whole_or_not(void)
{
    ar_sink *sink;
    int      before = count_entries();

    CHECK_EQ_INT(ar_store_create(&sink, at("half.zarr"), "a", ARRAS_F64, 2, shape, NULL, &err),
                 ARRAS_OK);
    CHECK_EQ_INT(ar_sink_write(sink, zero, shape, cells, NULL, 1, &err), ARRAS_OK);
    CHECK_EQ_REAL(read_array(at("half.zarr"), "a"), -1);
    sink->type->abandon(sink);
    CHECK_EQ_INT(count_entries(), before);

    CHECK_EQ_INT(ar_store_create(&sink, at("late.zarr"), NULL, ARRAS_F64, 2, shape, NULL, &err),
                 ARRAS_OK);
    make_directory("late.zarr"); /* somebody was faster */
    CHECK_EQ_INT(sink->type->finish(sink, &err), ARRAS_EIO);
    CHECK_HAS(err.text, "late.zarr");
    CHECK_EQ_INT(count_entries(), before + 1);
}

static void chunks_are_chosen(void)
{
    static const int64_t large[3] = { 1000, 3, 100000 };
    ar_sink             *sink;
    int64_t              bytes = 8;

    if (!CHECK_EQ_INT(
            ar_store_create(&sink, at("chosen.zarr"), NULL, ARRAS_F64, 3, large, NULL, &err),
            ARRAS_OK))
        return;
    for (int d = 0; d < 3; d++)
        bytes *= sink->info.chunk[d];
    CHECK(bytes <= 1 << 20 && bytes > 1 << 18);
    CHECK_EQ_INT(sink->info.chunk[1], 3);
    sink->type->abandon(sink);
    static const int64_t endless[2] = { INT64_MAX, 2 };
    CHECK_EQ_INT(ar_store_create(&sink, at("chosen.zarr"), NULL, ARRAS_F64, 2, endless, NULL, &err),
                 ARRAS_ESIZE);
}

/* ---- Shards ---------------------------------------------------------------------------------- */

static const char sharded[] =
    "{\"zarr_format\": 3, \"node_type\": \"array\", \"shape\": [4], \"data_type\": \"float64\","
    "\"chunk_grid\": {\"name\": \"regular\", \"configuration\": {\"chunk_shape\": [4]}},"
    "\"chunk_key_encoding\": {\"name\": \"default\"}, \"fill_value\": 7, \"codecs\": [{\"name\":"
    "\"sharding_indexed\", \"configuration\": {\"chunk_shape\": [2], \"codecs\": [{\"name\":"
    "\"bytes\", \"configuration\": {\"endian\": \"little\"}}], \"index_codecs\": [{\"name\":"
    "\"bytes\", \"configuration\": {\"endian\": \"little\"}}]}}]}";

/* Two inner chunks of 16 bytes, then their places. */
static void put_shard(uint64_t at0, uint64_t bytes0, uint64_t at1, uint64_t bytes1)
{
    struct {
        double   cells[4];
        uint64_t index[4];
    } shard = { { 1, 2, 3, 4 }, { at0, bytes0, at1, bytes1 } };

    put_file("shard.zarr/c/0", &shard, sizeof shard);
}

static void shards_are_checked(void)
{
    static const struct {
        uint64_t at0, bytes0, at1, bytes1;
        double   want; /* -1: refused */
    } rows[] = {
        { 0, 16, 16, 16, 1 + 4 + 9 + 16 },
        { 16, 16, 0, 16, 3 + 8 + 3 + 8 },
        { UINT64_MAX, UINT64_MAX, 16, 16, 7 + 14 + 9 + 16 }, /* the fill value */
        { 0, 16, 60, 16, -1 },                               /* beyond the end */
        { 0, 16, UINT64_MAX - 8, 16, -1 },                   /* wraps around */
        { 0, 16, 16, UINT64_MAX - 8, -1 },
        { 0, 16, 16, 8, -1 }, /* too short for its cells */
        { 0, 24, 16, 16, -1 },
        { UINT64_MAX, 16, 16, 16, -1 },
    };

    make_directory("shard.zarr");
    make_directory("shard.zarr/c");
    put_file("shard.zarr/zarr.json", sharded, strlen(sharded));
    for (size_t i = 0; i < AR_COUNT(rows); i++) {
        CASE("row %zu", i);
        put_shard(rows[i].at0, rows[i].bytes0, rows[i].at1, rows[i].bytes1);
        CHECK_EQ_REAL(read_array(at("shard.zarr"), NULL), rows[i].want);
        if (rows[i].want < 0)
            CHECK_HAS(err.text, "chunk");
    }
    CASE("shorter than its index");
    put_file("shard.zarr/c/0", "123", 3);
    CHECK_EQ_REAL(read_array(at("shard.zarr"), NULL), -1);
    CHECK_HAS(err.text, "index of 2 chunks");
    CASE("not stored");
    unlink(at("shard.zarr/c/0"));
    CHECK_EQ_REAL(read_array(at("shard.zarr"), NULL), 70);
}

/* ---- Trouble --------------------------------------------------------------------------------- */

static void memory_runs_out(void)
{
    arras_status status = ARRAS_ENOMEM;

    CASE("reading");
    for (int64_t n = 1; n < 2000 && status != ARRAS_OK; n++) {
        int64_t live = ar_alloc_live();

        ar_alloc_fail_from(n);
        status = read_array(at("v3.zarr"), "deep/er/a") == expected ? ARRAS_OK : ARRAS_ENOMEM;
        ar_alloc_fail_from(0);
        CHECK_EQ_INT(ar_alloc_live(), live);
    }
    CHECK_EQ_INT(status, ARRAS_OK);
    CASE("writing");
    status = ARRAS_ENOMEM;
    for (int64_t n = 1; n < 2000 && status != ARRAS_OK; n++) {
        int64_t live = ar_alloc_live();

        ar_alloc_fail_from(n);
        status = write_array(at("memory.zarr"), "a/b", &(ar_sink_options){ .chunk = chunk });
        ar_alloc_fail_from(0);
        CHECK_EQ_INT(ar_alloc_live(), live);
    }
    CHECK_EQ_INT(status, ARRAS_OK);
    CHECK_EQ_REAL(read_array(at("memory.zarr"), NULL), expected);
}

static void links_do_not_go_in_circles(void)
{
    ar_text text = { 0 };

    CHECK(symlink(".", at("v3.zarr/loop")) == 0);
    CHECK_EQ_INT(ar_store_list(&text, at("v3.zarr"), NULL, &err), ARRAS_OK);
    CHECK_STR(text.data, "/deep/b\tf64[6, 10]\tZarr v3\n/deep/er/a\tf64[6, 10]\tZarr v3\n");
    ar_text_free(&text);
}

TEST_MAIN
{
    world_begin();
    set_cells();
    RUN(both_versions);
    RUN(whole_or_not);
    RUN(chunks_are_chosen);
    RUN(shards_are_checked);
    RUN(memory_runs_out);
    RUN(links_do_not_go_in_circles);
    world_end();
}
