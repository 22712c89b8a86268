/* test_tile.c -- cells in tiles: whatever the step and the limits, every cell is in one tile and in
 * no other; and tiles are what caches, threads and the order of memory ask for. */
#include "plan_kit.h"

#include <stdlib.h>

enum { MIB = 1 << 20 };

/* Steps that are cut in different ways. */
#define FLAT "input x : f64[2000000]\n%0 = exp(x)\noutput y = %0\n"
#define ROWS                                                                                       \
    "input x : f64[3000, 1000]\n"                                                                  \
    "%0 = lambda(x) { subtract(_0[add(i0, 1) nearest, i1], _0[i0, add(i1, 1) wrap]) }"             \
    " : f64[3000, 1000]\noutput y = %0\n"
#define TURNED                                                                                     \
    "input x : f64[1000, 3000]\n%0 = lambda(x) { exp(_0[i1, i0]) } : f64[3000, 1000]\n"            \
    "output y = %0\n"
#define DOWN "input x : f64[3000, 50000]\n%0 = sum(x, axes=[0]) : f64[50000]\noutput y = %0\n"
#define ALONG "input x : f64[3000, 1000]\n%0 = sum(x, axes=[1]) : f64[3000]\noutput y = %0\n"
#define ALL "input x : f64[3000, 1000]\n%0 = sum(x) : f64[]\noutput y = %0\n"
#define PLANES                                                                                     \
    "input x : f64[300, 300, 1000]\n%0 = lambda(x) { add(_0[add(i0, -1) nearest, i1, i2], "        \
    "_0[add(i0, 1) nearest, i1, i2]) } : f64[300, 300, 1000]\noutput y = %0\n"
#define SCAN(axis)                                                                                 \
    "input x : f64[3000, 1000]\n%0 = scan(x, sum, axis=" axis ") : f64[3000, 1000]\n"              \
    "output y = %0\n"
#define NO_CELLS                                                                                   \
    "input x : f64[3, 0]\n%0 = lambda(x) { _0[i0, i1 wrap] } : f64[3, 0]\noutput y = %0\n"

/* ---- Every cell once ------------------------------------------------------------------------- */

/* Boxes of a grid: the ends along each axis are those of the next, so none is missing or twice. */
static bool is_partition(const ar_tiling *t)
{
    int64_t lo[ARRAS_MAX_RANK], hi[ARRAS_MAX_RANK], cells = 0, all = 1;

    for (int axis = 0; axis < t->rank; axis++)
        all *= t->shape[axis];
    for (int64_t i = 0; i < t->count; i++) {
        int64_t box = 1;

        ar_tiling_box(lo, hi, t, i);
        for (int axis = 0; axis < t->rank; axis++) {
            if (lo[axis] < 0 || lo[axis] >= hi[axis] || hi[axis] > t->shape[axis] ||
                lo[axis] % t->tile[axis] != 0 || hi[axis] - lo[axis] > t->tile[axis])
                return false;
            box *= hi[axis] - lo[axis];
        }
        cells += box;
    }
    return cells == all;
}

/* The same by a mark in each cell: for few cells. */
static bool marks_are_one(const ar_tiling *t)
{
    int64_t lo[ARRAS_MAX_RANK], hi[ARRAS_MAX_RANK], all = 1, wrong = 0;
    char   *marks;

    for (int axis = 0; axis < t->rank; axis++)
        all *= t->shape[axis];
    marks = calloc((size_t)all + 1, 1);
    for (int64_t tile = 0; tile < t->count; tile++) {
        ar_tiling_box(lo, hi, t, tile);
        for (int64_t cell = 0; cell < all; cell++) {
            int64_t rest = cell;
            bool    inside = true;

            for (int axis = t->rank - 1; axis >= 0; axis--) {
                int64_t index = rest % t->shape[axis];

                inside = inside && index >= lo[axis] && index < hi[axis];
                rest /= t->shape[axis];
            }
            marks[cell] = (char)(marks[cell] + inside);
        }
    }
    for (int64_t cell = 0; cell < all; cell++)
        wrong += marks[cell] != 1;
    free(marks);
    return wrong == 0;
}

static int64_t cells_of_tile(const ar_tiling *t)
{
    int64_t cells = 1;

    for (int axis = 0; axis < t->rank; axis++)
        cells *= t->tile[axis];
    return cells;
}

/* Of the step that makes y. */
static bool tiling_of(ar_tiling *t, const char *program, const ar_tile_options *options)
{
    int64_t shape[ARRAS_MAX_RANK];
    int     step;

    if (!plan_begin(program) || !CHECK((step = step_that_makes("y")) >= 0))
        return false;
    const ar_step *s = &planned.plan.steps[step];

    for (int axis = 0; axis < s->rank; axis++)
        shape[axis] = planned.plan.arrays[s->results[0]].node->shape[axis];
    ar_tiling_make(t, s, shape, NULL, options);
    return true;
}

/* ---- Just so many bytes ---------------------------------------------------------------------- */

/* A cell of these programs touches 16 bytes: one read, one written. */
static const struct {
    const char *why, *program;
    int64_t     bytes, tile[3]; /* 0: there is no such axis */
} exact[] = {
    { "all cells lie in one row", FLAT, 1600, { 100 } },
    { "a byte is less than a cell, and a tile has one at least", FLAT, 1, { 1 } },
    { "more than there is: all of it", FLAT, INT64_MAX, { 2000000 } },
    { "a part of a row", ROWS, 1600, { 1, 100 } },
    { "a row and a bit more is a row", ROWS, 24000, { 1, 1000 } },
    { "whole rows", ROWS, 160000, { 10, 1000 } },
    { "rows of planes before planes", PLANES, 160000, { 1, 10, 1000 } },
    { "lines of a scan are not cut: several of them", SCAN("1"), 160000, { 10, 1000 } },
    { "one line, however long it is", SCAN("1"), 1, { 1, 1000 } },
    { "lines down columns lie side by side", SCAN("0"), 480000, { 3000, 10 } },
};

static void just_so_many_bytes(void)
{
    for (size_t i = 0; i < AR_COUNT(exact); i++) {
        ar_tiling t;

        CASE("%s", exact[i].why);
        if (tiling_of(&t, exact[i].program,
                      &(ar_tile_options){ .threads = 3, .bytes = exact[i].bytes, .exact = true })) {
            CHECK(is_partition(&t));
            for (int axis = 0; axis < 3; axis++)
                CHECK_EQ_INT(axis < t.rank ? t.tile[axis] : 0, exact[i].tile[axis]);
        }
        plan_end();
    }
}

/* ---- Limits ---------------------------------------------------------------------------------- */

static const struct {
    const char *why, *program;
    int         threads;
    int64_t     bytes;
    int64_t     least, most; /* tiles */
    int64_t     cells;       /* of a tile, at most; 0: any */
} limits[] = {
    { "one thread: what the cache holds, four times where nothing is read again", FLAT, 1, MIB, 8,
      8, 4 * MIB / 16 },
    { "a large cache, one thread: one tile", FLAT, 1, INT64_C(1) << 40, 1, 1, 0 },
    { "eight for each thread, where there is enough to do", FLAT, 4, INT64_C(1) << 40, 32, 40, 0 },
    { "tiny caches: still not so small that starting a tile costs more than it", FLAT, 4, 1, 32,
      2000, 0 },
    { "rows of a stencil stay whole", ROWS, 4, INT64_C(1) << 40, 32, 64, 0 },
    { "what is read across the order of memory is cut in squares", TURNED, 1, INT64_C(1) << 40,
      47 * 16, 47 * 16, 64 * 64 },
    { "sums down columns: as wide as rows are read at full speed", DOWN, 1, INT64_C(1) << 40, 13,
      13, 4096 },
    { "and narrower for many threads, but not too narrow", DOWN, 16, INT64_C(1) << 40, 40, 50,
      1088 },
    { "sums of rows: some for each thread, none too short", ALONG, 4, INT64_C(1) << 40, 16, 34, 0 },
    { "one cell cannot be cut", ALL, 8, MIB, 1, 1, 1 },
    { "planes that are read three times: a few rows of many planes", PLANES, 2, MIB, 32, 4000, 0 },
    { "lines of a scan: enough for all threads", SCAN("1"), 4, MIB, 32, 188, 0 },
    { "where there is no cell there is no tile", NO_CELLS, 2, MIB, 0, 0, 0 },
};

static void limits_of_tiles(void)
{
    for (size_t i = 0; i < AR_COUNT(limits); i++) {
        ar_tiling t;

        CASE("%s", limits[i].why);
        if (tiling_of(
                &t, limits[i].program,
                &(ar_tile_options){ .threads = limits[i].threads, .bytes = limits[i].bytes })) {
            CHECK(t.count == 0 || is_partition(&t));
            if (!CHECK(t.count >= limits[i].least && t.count <= limits[i].most))
                printf("    %" PRId64 " tiles\n", t.count);
            if (limits[i].cells && !CHECK(cells_of_tile(&t) <= limits[i].cells))
                printf("    %" PRId64 " cells\n", cells_of_tile(&t));
        }
        plan_end();
    }
}

static void planes_are_cut_into_rows(void)
{
    ar_tiling t;

    if (tiling_of(&t, PLANES, &(ar_tile_options){ .threads = 2, .bytes = MIB })) {
        CHECK_EQ_INT(t.tile[2], 1000);          /* rows are whole */
        CHECK(t.tile[1] < 300);                 /* those of all planes fit the cache */
        CHECK(3 * 8 * 1000 * t.tile[1] <= MIB); /* three planes are read */
        CHECK_EQ_INT(t.tile[0], 30);            /* ten times as many as are read for one */
    }
    plan_end();
}

/* ---- Any step, any limits -------------------------------------------------------------------- */

static uint64_t state;

static int64_t below(int64_t n)
{
    state = state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (int64_t)(state >> 33) % n;
}

/* How a cell of the result reads x, for each of three axes. */
static const char *const loads[] = {
    "_0[i0, i1, i2]",
    "add(_0[add(i0, 1) wrap, i1, i2], _0[add(i0, -2) wrap, i1, i2])",
    "_0[i0, i1, i2 wrap]",
    "_0[i0 nearest, i2 nearest, i1 nearest]",
    "sum[k: 0, 5](_0[k wrap, i1, i2])",
    "sum[k: 0, 5](_0[i0, i1, k wrap])",
};

static void random_steps(void)
{
    for (int seed = 1; seed <= 400; seed++) {
        int64_t         n[3];
        char            text[600];
        ar_tiling       t;
        ar_tile_options options;

        state = (uint64_t)seed * UINT64_C(0x9E3779B97F4A7C15);
        CASE("seed %d", seed);
        for (int axis = 0; axis < 3; axis++)
            n[axis] = 1 + below(below(3) ? 7 : 100);
        if (below(5) == 0)
            snprintf(text, sizeof text,
                     "input x : f32[%d, %d, %d]\n%%0 = scan(x, max, axis=%d)\noutput y = %%0\n",
                     (int)n[0], (int)n[1], (int)n[2], (int)below(3));
        else
            snprintf(text, sizeof text,
                     "input x : f32[%d, %d, %d]\n%%0 = lambda(x) { exp(%s) } : f32[%d, %d, %d]\n"
                     "output y = %%0\n",
                     (int)n[0], (int)n[1], (int)n[2], loads[below(AR_COUNT(loads))], (int)n[0],
                     (int)n[1], (int)n[2]);
        options = (ar_tile_options){ .threads = (int)(1 + below(9)),
                                     .bytes = 1 + below(below(2) ? 5000 : INT64_C(1) << 31),
                                     .exact = below(2) };
        if (tiling_of(&t, text, &options) &&
            !CHECK(is_partition(&t) && (t.count > 500 || marks_are_one(&t))))
            printf("%s", text);
        plan_end();
    }
}

TEST_MAIN
{
    RUN(just_so_many_bytes);
    RUN(limits_of_tiles);
    RUN(planes_are_cut_into_rows);
    RUN(random_steps);
}
