/* test_store_flat.c -- arrays whose cells lie flat in files: npy, raw, directories of them. */
#include "store_world.h"

/* ---- npy ------------------------------------------------------------------------------------- */

/* What is printed is parsed as the same, also with the longest shape that there is. */
static void npy_headers(void)
{
    char             text[ARRAS_NPY_ROOM];
    arras_npy_header h = { .version = 1 };
    int64_t          shape[ARRAS_MAX_RANK];

    for (int d = 0; d < ARRAS_MAX_RANK; d++)
        shape[d] = INT64_MAX - d;
    for (int rank = 0; rank <= ARRAS_MAX_RANK; rank++) {
        size_t n = arras_npy_header_print(text, ARRAS_C64, rank, shape);

        CASE("rank %d", rank);
        CHECK_EQ_INT((int64_t)(n % 64), 0);
        CHECK_EQ_INT((uint8_t)text[8] | (uint8_t)text[9] << 8, (int64_t)n - 10);
        CHECK_EQ_INT(arras_npy_header_parse(&h, text + 10, n - 10, "x", &err), ARRAS_OK);
        CHECK(h.version == 1 && h.dtype == ARRAS_C64 && !h.swapped && !h.fortran);
        CHECK_EQ_INT(h.rank, rank);
        CHECK(memcmp(h.shape, shape, sizeof *shape * (size_t)rank) == 0);
    }
    CHECK_EQ_INT((int64_t)arras_npy_header_print(text, ARRAS_F32, -1, shape), 0);
    CHECK_EQ_INT((int64_t)arras_npy_header_print(text, ARRAS_F32, ARRAS_MAX_RANK + 1, shape), 0);
    CHECK_EQ_INT((int64_t)arras_npy_header_print(text, ARRAS_NO_DTYPE, 1, shape), 0);
}

/* A version 1 header, filled up with spaces, and cells after it. */
static void put_npy(const char *name, const char *dict, const void *cells, size_t n)
{
    static char bytes[65536];
    size_t      length = strlen(dict);

    memcpy(bytes, "\x93NUMPY\x01\x00", 8);
    bytes[8] = (char)(length & 255);
    bytes[9] = (char)(length >> 8);
    memcpy(bytes + 10, dict, length);
    if (n)
        memcpy(bytes + 10 + length, cells, n);
    put_file(name, bytes, 10 + length + n);
}

static const double six[6] = { 1, 2, 3, 4, 5, 6 };

static void npy_is_read(void)
{
    static const struct {
        const char *dict;
        double      first, last; /* of the 2 x 3 cells in C order */
        bool        mapped;
    } rows[] = {
        /* 54 bytes of dict and 10 before it: cells begin at a multiple of 8 */
        { "{'descr': '<f8', 'fortran_order': False, 'shape': (2, 3)}", 1, 6, false },
        { "{'descr': '<f8', 'fortran_order': False, 'shape': (2,3)}  ", 1, 6, false },
        { "{'descr': '<f8', 'fortran_order': False, 'shape': (2,3),}    \n", 1, 6, true },
        { "{'shape': (2L, 3L), 'fortran_order': True, 'descr': \"=f8\"}", 1, 6, false },
    };
    const int64_t lo[2] = { 0, 1 }, hi[2] = { 2, 2 };
    double        column[2];
    ar_source    *s;

    for (size_t i = 0; i < AR_COUNT(rows); i++) {
        CASE("row %zu", i);
        put_npy("a.npy", rows[i].dict, six, sizeof six);
        if (!CHECK_EQ_INT(ar_store_open(&s, at("a.npy"), NULL, &err), ARRAS_OK)) {
            CHECK_STR(err.text, "");
            continue;
        }
        CHECK_EQ_INT((s->type->mapped(s) != NULL), (10 + strlen(rows[i].dict)) % 8 == 0 && i != 3);
        CHECK_EQ_INT(ar_source_read(s, lo, hi, column, NULL, 1, &err), ARRAS_OK);
        CHECK_EQ_REAL(column[0], i == 3 ? 3 : 2);
        CHECK_EQ_REAL(column[1], i == 3 ? 4 : 5);
        s->type->close(s);
    }
}

static void npy_is_refused(void)
{
    static const struct {
        const char *dict, *why;
    } rows[] = {
        { "{'descr': '<f8', 'fortran_order': False, 'shape': (2, 4)}", "cut off" },
        { "{'descr': '<f8', 'fortran_order': False, 'shape': (9223372036854775807, 4)}",
          "more bytes" },
        { "{'descr': '<f8', 'fortran_order': False, 'shape': (99223372036854775807,)}", "2^63" },
        { "{'descr': '<f8', 'fortran_order': False, 'shape': (0, 9223372036854775807, 9)}",
          "more bytes" },
        { "{'descr': '<f8', 'fortran_order': False, 'shape': (-1,)}", "length of an axis" },
        { "{'descr': '<f8', 'fortran_order': False, 'shape': (6)}", "comma" },
        { "{'descr': '<f8', 'fortran_order': False}", "'shape'" },
        { "{'descr': '<f8', 'descr': '<f8', 'fortran_order': False, 'shape': ()}", "each once" },
        { "{'descr': '<f8', 'fortran_order': 1, 'shape': ()}", "True or False" },
        { "{'descr': '<f8', 'fortran_order': False, 'shape': ()} x", "nothing after" },
        { "{'descr': '<U5', 'fortran_order': False, 'shape': ()}", "text" },
        { "{'descr': '|O', 'fortran_order': False, 'shape': ()}", "Python objects" },
        { "{'descr': '<f16', 'fortran_order': False, 'shape': ()}", "extended precision" },
        { "{'descr': '<f2', 'fortran_order': False, 'shape': (100,)}", "200 bytes of data" },
        { "{'descr': [('a', '<f8')], 'fortran_order': False, 'shape': ()}", "record array" },
        { "{'descr': '<f7', 'fortran_order': False, 'shape': ()}", "not known" },
        { "", "{" },
    };
    ar_source *s;

    for (size_t i = 0; i < AR_COUNT(rows); i++) {
        CASE("row %zu", i);
        put_npy("a.npy", rows[i].dict, six, sizeof six);
        CHECK(ar_store_open(&s, at("a.npy"), NULL, &err) != ARRAS_OK);
        CHECK_HAS(err.text, rows[i].why);
        CHECK_HAS(err.text, "a.npy");
    }
    CASE("something inside");
    CHECK_EQ_INT(ar_store_open(&s, at("a.npy"), "x", &err), ARRAS_ENAME);
    CASE("every truncation");
    for (size_t n = 0; n < 10; n++) {
        put_file("b.npy", "\x93NUMPY\x01\x00\xff\xff", n);
        CHECK(ar_format_npy.open(&s, at("b.npy"), NULL, &err) != ARRAS_OK);
    }
}

static void npy_is_written(void)
{
    const int64_t shape[2] = { 2, 3 }, lo[2] = { 1, 0 }, hi[2] = { 2, 2 };
    const double  fill = 0.5, row[2] = { 7, 8 };
    ar_sink      *sink;
    ar_source    *s;
    double        cells[6] = { 0 };

    CHECK_EQ_INT(ar_store_create(&sink, at("w.npy"), NULL, ARRAS_F64, 2, shape,
                                 &(ar_sink_options){ .fill = &fill }, &err),
                 ARRAS_OK);
    CHECK(access(at("w.npy"), F_OK) != 0); /* not before it is whole */
    CHECK_EQ_INT(sink->type->write_box(sink, lo, hi, row, &err), ARRAS_OK);
    CHECK_EQ_INT(sink->type->finish(sink, &err), ARRAS_OK);
    if (!CHECK_EQ_INT(ar_store_open(&s, at("w.npy"), NULL, &err), ARRAS_OK))
        return;
    const int64_t zero[2] = { 0, 0 };
    CHECK(s->type->mapped(s) != NULL); /* cells begin at a multiple of 64 */
    CHECK_EQ_INT(ar_source_read(s, zero, shape, cells, NULL, 1, &err), ARRAS_OK);
    CHECK(cells[0] == 0.5 && cells[3] == 7 && cells[4] == 8 && cells[5] == 0.5);
    s->type->close(s);
    CHECK_EQ_INT(ar_store_create(&sink, at("w.npy"), NULL, ARRAS_F64, 2, shape, NULL, &err),
                 ARRAS_EIO);
    CHECK_HAS(err.text, "already");
    int before = count_entries();
    CHECK_EQ_INT(ar_store_create(&sink, at("v.npy"), NULL, ARRAS_F64, 2, shape, NULL, &err),
                 ARRAS_OK);
    sink->type->abandon(sink);
    CHECK_EQ_INT(count_entries(), before);
    CHECK_EQ_INT(ar_store_create(&sink, at("v.npy"), NULL, ARRAS_F64, 2, shape,
                                 &(ar_sink_options){ .codecs = "zstd" }, &err),
                 ARRAS_EINVAL);
}

/* ---- raw ------------------------------------------------------------------------------------- */

static void raw_is_read(void)
{
    static const uint8_t bytes[] = { 9, 9, 1, 0, 2, 0, 3, 0, 4, 0, 7 };
    static const struct {
        const char *inside;
        int         first, last, count;
        bool        mapped;
    } rows[] = {
        { "i16[2,2]+2", 1, 4, 4, true },
        { "<i16[4] + 2", 1, 4, 4, true },
        { ">i16[2, 2]+2", 256, 1024, 4, false },
        { ">i16[2,2]+3", 2, 7 + 4 * 0, 4, false }, /* at an odd place */
        { "i16[]+8", 4, 4, 1, true },
    };

    put_file("cells.bin", bytes, sizeof bytes);
    for (size_t i = 0; i < AR_COUNT(rows); i++) {
        int16_t    cells[4] = { 0 };
        int64_t    lo[2] = { 0 };
        ar_source *s;

        CASE("%s", rows[i].inside);
        if (!CHECK_EQ_INT(ar_store_open(&s, at("cells.bin"), rows[i].inside, &err), ARRAS_OK)) {
            CHECK_STR(err.text, "");
            continue;
        }
        CHECK_EQ_INT(s->type->mapped(s) != NULL, rows[i].mapped);
        CHECK_EQ_INT(s->type->read_box(s, lo, s->info.shape, cells, &err), ARRAS_OK);
        CHECK_EQ_INT(cells[0], rows[i].first);
        CHECK_EQ_INT(cells[rows[i].count - 1], rows[i].last);
        s->type->close(s);
    }
}

static void raw_is_refused(void)
{
    static const struct {
        const char *inside, *why;
    } rows[] = {
        { "i16[2,3]", "cut off" },
        { "i16[4]+4", "cut off" },
        { "i16[4]+99", "cut off" },
        { "q8[4]", "type" },
        { "[4]", "type" },
        { "i16[4", "comma or ]" },
        { "i16[4]x", "nothing more" },
        { "i16[4]+", "number" },
        { "i16[99999999999999999999]", "2^63" },
        { "f64[9223372036854775807]", "more bytes" },
        { "i16[-1]", "number" },
    };
    ar_source *s;

    put_file("ten.bin", "0123456789", 10);
    for (size_t i = 0; i < AR_COUNT(rows); i++) {
        CASE("%s", rows[i].inside);
        CHECK(ar_store_open(&s, at("ten.bin"), rows[i].inside, &err) != ARRAS_OK);
        CHECK_HAS(err.text, rows[i].why);
    }
    CASE("no description");
    CHECK_EQ_INT(ar_store_open(&s, at("ten.bin"), NULL, &err), ARRAS_ENAME);
    CASE("other things than files");
    CHECK(ar_store_open(&s, "/dev/zero", "i16[4]", &err) != ARRAS_OK);
    CHECK(mkfifo(at("pipe.bin"), 0600) == 0);
    CHECK(ar_store_open(&s, at("pipe.bin"), "i16[4]", &err) != ARRAS_OK);
}

/* ---- Boxes of any order, against loops ------------------------------------------------------- */

static uint32_t next_random(uint32_t *state)
{
    *state = *state * 1664525u + 1013904223u;
    return *state >> 8;
}

/* Each byte of the file is known from its place, so cells are too. */
static void boxes_are_right(void)
{
    enum { BYTES = 1 << 22 };
    static uint8_t bytes[BYTES], cells[BYTES];
    uint32_t       state = 7;

    for (size_t i = 0; i < BYTES; i++)
        bytes[i] = (uint8_t)next_random(&state);
    put_file("big.bin", bytes, BYTES);
    for (int round = 0; round < 300; round++) {
        static const int         sizes[] = { 1, 2, 4, 8, 8, 16 };
        static const char *const names[] = { "u8", "i16", "f32", "u64", "c64", "c128" };
        int                      kind = (int)(next_random(&state) % 6), size = sizes[kind];
        bool                     big = next_random(&state) % 2, wrong = false;
        int64_t                  shape[3], lo[3], hi[3], left = BYTES / size;
        char                     inside[100];

        for (int d = 0; d < 3; d++) {
            shape[d] = 1 + next_random(&state) % (d == round % 3 ? 3000 : 40);
            shape[d] = ar_max64(1, ar_min64(shape[d], left));
            left /= shape[d];
            lo[d] = next_random(&state) % (uint32_t)shape[d];
            hi[d] = lo[d] + 1 + next_random(&state) % (uint32_t)(shape[d] - lo[d]);
        }
        CASE("round %d: %s", round, names[kind]);
        snprintf(inside, sizeof inside, "%s%s[%" PRId64 ",%" PRId64 ",%" PRId64 "]",
                 big ? ">" : "<", names[kind], shape[0], shape[1], shape[2]);
        ar_source *s;
        if (!CHECK_EQ_INT(ar_format_raw.open(&s, at("big.bin"), inside, &err), ARRAS_OK))
            return;
        CHECK_EQ_INT(s->type->read_box(s, lo, hi, cells, &err), ARRAS_OK);
        s->type->close(s);
        const uint8_t *got = cells;
        int            unit = kind >= 4 ? size / 2 : size;
        for (int64_t i = lo[0]; i < hi[0]; i++)
            for (int64_t j = lo[1]; j < hi[1]; j++)
                for (int64_t k = lo[2]; k < hi[2]; k++, got += size)
                    for (int b = 0; b < size; b++) {
                        int64_t cell = ((i * shape[1] + j) * shape[2] + k) * size;
                        int     from = big ? b / unit * unit + unit - 1 - b % unit : b;

                        wrong = wrong || got[b] != bytes[cell + from];
                    }
        CHECK(!wrong);
    }
}

/* ---- Directories ----------------------------------------------------------------------------- */

static void put_rows(const char *name, int rows, double first)
{
    char   dict[100];
    double cells[64];

    for (int i = 0; i < 2 * rows; i++)
        cells[i] = first + i;
    snprintf(dict, sizeof dict, "{'descr': '<f8', 'fortran_order': False, 'shape': (%d, 2)}", rows);
    put_npy(name, dict, cells, sizeof *cells * 2 * (size_t)rows);
}

static void many_files_are_one_array(void)
{
    ar_source *s;

    make_directory("many");
    put_rows("many/x10.npy", 1, 6); /* the last in natural order */
    put_rows("many/x2.npy", 2, 2);
    put_rows("many/x1.npy", 1, 0);
    put_file("many/readme.txt", "x", 1);
    if (!CHECK_EQ_INT(ar_store_open(&s, at("many"), NULL, &err), ARRAS_OK)) {
        CHECK_STR(err.text, "");
        return;
    }
    CHECK_EQ_INT(s->info.shape[0], 4);
    CHECK_EQ_INT(s->info.shape[1], 2);
    CHECK_EQ_REAL(digest_all(s), 0 + 1 * 2 + 2 * 3 + 3 * 4 + 4 * 5 + 5 * 6 + 6 * 7 + 7 * 8);
    const int64_t lo[2] = { 2, 1 }, hi[2] = { 4, 2 }; /* across two files */
    CHECK_EQ_REAL(digest(s, lo, hi), 5 * 1 + 7 * 2);
    s->type->close(s);
    put_npy("many/x5.npy", "{'descr': '<f8', 'fortran_order': False, 'shape': (2, 3)}", six,
            sizeof six);
    CHECK_EQ_INT(ar_store_open(&s, at("many"), NULL, &err), ARRAS_ESHAPE);
    CHECK_HAS(err.text, "x5.npy is f64[2, 3]");
    put_npy("many/x5.npy", "{'descr': '<i8', 'fortran_order': False, 'shape': (1, 2)}", six, 16);
    CHECK_EQ_INT(ar_store_open(&s, at("many"), NULL, &err), ARRAS_ESHAPE);
    CHECK_HAS(err.text, "x5.npy is i64[1, 2]");
}

/* More files than are open at once, read again and again; one changes in between. */
static void many_more_files(void)
{
    enum { FILES = 100 };
    char       name[32];
    ar_source *s;

    make_directory("more");
    for (int i = 0; i < FILES; i++) {
        snprintf(name, sizeof name, "more/f%d.npy", i);
        put_rows(name, i % 3, 0);
    }
    if (!CHECK_EQ_INT(ar_store_open(&s, at("more"), NULL, &err), ARRAS_OK))
        return;
    CHECK_EQ_INT(s->info.shape[0], 99);
    double first = digest_all(s);
    CHECK_EQ_REAL(digest_all(s), first);
    put_rows("more/f1.npy", 2, 0);
    CHECK_EQ_REAL(digest_all(s), -1);
    CHECK_HAS(err.text, "f1.npy has changed");
    s->type->close(s);
}

/* ---- No memory ------------------------------------------------------------------------------- */

static void memory_runs_out(void)
{
    static const char *const names[] = { "w.npy", "more", "cells.bin" };

    for (size_t i = 0; i < AR_COUNT(names); i++) {
        const char  *inside = i == 2 ? ">i16[2,2]+2" : NULL;
        arras_status status = ARRAS_ENOMEM;

        CASE("%s", names[i]);
        for (int64_t n = 1; n < 1000 && status != ARRAS_OK; n++) {
            int64_t    live = ar_alloc_live();
            ar_source *s = NULL;
            int16_t    cells[200];
            int64_t    lo[2] = { 0 };

            ar_alloc_fail_from(n);
            status = ar_store_open(&s, at(names[i]), inside, &err);
            if (status == ARRAS_OK) {
                if (i == 2)
                    status = s->type->read_box(s, lo, s->info.shape, cells, &err);
                s->type->close(s);
            }
            ar_alloc_fail_from(0);
            CHECK_EQ_INT(ar_alloc_live(), live);
        }
        CHECK_EQ_INT(status, ARRAS_OK);
    }
}

TEST_MAIN
{
    world_begin();
    RUN(npy_headers);
    RUN(npy_is_read);
    RUN(npy_is_refused);
    RUN(npy_is_written);
    RUN(raw_is_read);
    RUN(raw_is_refused);
    RUN(boxes_are_right);
    RUN(many_files_are_one_array);
    RUN(many_more_files);
    RUN(memory_runs_out);
    world_end();
}
