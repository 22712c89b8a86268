/* test_reach.c -- which rows steps read of each other, and so which rows each of them computes for
 * a tile of a band: written down for small programs, and for random stencils compared with every
 * row that a cell reads. */
#include "plan_kit.h"

/* The step that makes y reads what the step that makes t computes. */
typedef struct {
    const char  *why, *cell; /* of y, from t, which is _0 */
    const char  *type;       /* of y */
    ar_row_reach reach[2];   /* for rows of y, for columns of y */
} reach_case;

/* t is f64[40, 30]. */
static const reach_case cases[] = {
    { "each row the one of its own",
      "exp(_0[i0 nearest, add(i1, 1) wrap])",
      "f64[40, 30]",
      { { 0, 1, 0, 0 }, { -1, 0, 0, 0 } } },
    { "neighbours on both sides, clipped at the ends",
      "add(_0[add(i0, 3) nearest, i1], _0[add(i0, -2) nearest, i1])",
      "f64[40, 30]",
      { { 0, 1, 2, 3 }, { 1, 1, 0, 0 } } },
    { "the ends of a periodic array are far away",
      "_0[add(i0, 1) wrap, i1]",
      "f64[40, 30]",
      { { -1, 0, 0, 0 }, { 1, 1, 0, 0 } } },
    { "cells that are no cells of it need no row",
      "_0[add(i0, -2) constant 0.5, i1]",
      "f64[40, 30]",
      { { 0, 1, 2, 0 }, { 1, 1, 0, 0 } } },
    { "turned: rows of y are columns of t",
      "exp(_0[i1, i0])",
      "f64[30, 40]",
      { { 1, 1, 0, 0 }, { 0, 1, 0, 0 } } },
    { "both at once: rows of y are rows and columns of t, so neither is known",
      "add(_0[i0, add(i1, 1) nearest], _0[i1 nearest, i0 nearest])",
      "f64[40, 30]",
      { { -1, 0, 0, 0 }, { -1, 0, 0, 0 } } },
    { "every second row",
      "_0[multiply(i0, 2), i1]",
      "f64[20, 30]",
      { { 0, 2, 0, 0 }, { 1, 1, 0, 0 } } },
    { "pairs of rows",
      "add(_0[multiply(i0, 2), i1], _0[add(multiply(i0, 2), 1), i1])",
      "f64[20, 30]",
      { { 0, 2, 0, 1 }, { 1, 1, 0, 0 } } },
    { "two speeds have no common one",
      "add(_0[multiply(i0, 2), i1], _0[i0, i1])",
      "f64[20, 30]",
      { { -1, 0, 0, 0 }, { 1, 1, 0, 0 } } },
    { "backwards is as far away as rows can be",
      "_0[subtract(39, i0), i1]",
      "f64[40, 30]",
      { { 0, 1, 39, 39 }, { 1, 1, 0, 0 } } },
    { "a window in a sum",
      "sum[k: 0, 4](_0[add(i0, k), i1])",
      "f64[37, 30]",
      { { 0, 1, 0, 3 }, { 1, 1, 0, 0 } } },
    { "a sum along the row: any of its columns",
      "sum[k: 0, 30](_0[i0, k])",
      "f64[40]",
      { { 0, 1, 0, 0 }, { -1, 0, 0, 0 } } },
    { "a sum of all rows: none in particular",
      "sum[k: 0, 40](_0[k, i0])",
      "f64[30]",
      { { 1, 1, 0, 0 }, { -1, 0, 0, 0 } } },
};

static const char *const first_step =
    "input x : f64[40, 30]\n"
    "%0 = lambda(x) { exp(_0[i0, subtract(29, i1)]) } : f64[40, 30]\n";

static void begin_pair(const char *cell, const char *type)
{
    char text[1000];

    snprintf(text, sizeof text, "%s%%1 = lambda(%%0) { %s } : %s\noutput t = %%0\noutput y = %%1\n",
             first_step, cell, type);
    plan_begin(text);
}

/* What the step of y reaches of t; NULL: nothing was found out. */
static const ar_row_reach *reach_of_t(int *rank)
{
    int s = step_that_makes("y"), t = array_of_output("t");

    if (!CHECK(s >= 0 && t >= 0))
        return NULL;
    const ar_step *step = &planned.plan.steps[s];

    *rank = step->rank;
    for (int k = 0; k < step->ninputs && step->reach; k++)
        if (step->inputs[k] == t)
            return &step->reach[k * step->rank];
    return NULL;
}

static void rows_that_are_read(void)
{
    for (size_t i = 0; i < AR_COUNT(cases); i++) {
        const ar_row_reach *got;
        int                 rank = 0;

        CASE("%s", cases[i].why);
        begin_pair(cases[i].cell, cases[i].type);
        got = reach_of_t(&rank);
        CHECK(got != NULL);
        for (int axis = 0; got && axis < rank; axis++) {
            const ar_row_reach *want = &cases[i].reach[axis];

            CHECK_EQ_INT(got[axis].axis < 0 ? -1 : got[axis].axis, want->axis);
            if (want->axis < 0 || got[axis].axis < 0)
                continue;
            CHECK_EQ_INT(got[axis].stride, want->stride);
            CHECK_EQ_INT(got[axis].before, want->before);
            CHECK_EQ_INT(got[axis].after, want->after);
        }
        plan_end();
    }
}

/* ---- Every row that is read ------------------------------------------------------------------ */

static uint64_t state;

static int64_t below(int64_t n)
{
    state = state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (int64_t)(state >> 33) % n;
}

/* A read of row stride*i + offset, made a row of t as its edge says. */
typedef struct {
    int64_t stride, offset;
    int     rule;
} row_read;

/* The last: all rows that are read are there. */
static const char *const edges[] = { "nearest", "reflect", "mirror", "wrap", "" };

enum { ROWS = 40, MOST_READS = 3 };

static int64_t remainder_of(int64_t x, int64_t n) { return (x % n + n) % n; }

static int64_t row_of(const row_read *r, int64_t i)
{
    int64_t row = r->stride * i + r->offset;

    switch (r->rule) {
    case 0: return ar_min64(ROWS - 1, ar_max64(0, row));
    case 1: row = remainder_of(row, 2 * ROWS); return ar_min64(row, 2 * ROWS - 1 - row);
    case 2: row = remainder_of(row, 2 * ROWS - 2); return ar_min64(row, 2 * ROWS - 2 - row);
    case 3: return remainder_of(row, ROWS);
    default: return row;
    }
}

/* Whether what is said holds of every row of y. */
static bool all_reached(const ar_row_reach *reach, const row_read *reads, int nreads, int64_t rows)
{
    for (int64_t i = 0; i < rows; i++)
        for (int k = 0; k < nreads; k++) {
            int64_t row = row_of(&reads[k], i);

            if (row < reach->stride * i - reach->before || row > reach->stride * i + reach->after)
                return false;
        }
    return true;
}

/* Edges are known of arrays of one length; where there are none, rows may be skipped. */
static row_read random_read(bool skips)
{
    if (skips)
        return (row_read){ below(8) ? 2 : 1 + below(3), below(7), 4 };
    return (row_read){ 1, below(15) - 7, (int)ar_max64(0, below(12) - 8) };
}

static void check_stencil(const row_read *reads, int nreads, int64_t rows, int *known)
{
    const ar_row_reach *got;
    ar_text             cell = { 0 };
    char                type[40];
    int                 rank = 0;

    for (int k = 1; k < nreads; k++)
        ar_text_add(&cell, "add(");
    for (int k = 0; k < nreads; k++)
        ar_text_printf(&cell, "%s_0[add(multiply(i0, %d), %d) %s, i1]%s", k ? ", " : "",
                       (int)reads[k].stride, (int)reads[k].offset, edges[reads[k].rule],
                       k ? ")" : "");
    snprintf(type, sizeof type, "f64[%d, 30]", (int)rows);
    begin_pair(cell.data, type);
    got = reach_of_t(&rank);
    if (CHECK(got != NULL) && got->axis >= 0) {
        ++*known;
        CHECK_EQ_INT(got->axis, 0);
        if (!CHECK(all_reached(got, reads, nreads, rows)))
            printf("    %s of %d rows: %d*i - %d to + %d\n", cell.data, (int)rows, (int)got->stride,
                   (int)got->before, (int)got->after);
    }
    plan_end();
    ar_text_free(&cell);
}

static void random_stencils(void)
{
    int known = 0;

    for (int seed = 1; seed <= 600; seed++) {
        row_read reads[MOST_READS];
        bool     skips;

        CASE("seed %d", seed);
        state = (uint64_t)seed * UINT64_C(0x9E3779B97F4A7C15);
        skips = below(3) == 0;
        for (int k = 0; k < MOST_READS; k++)
            reads[k] = random_read(skips);
        check_stencil(reads, 1 + seed % MOST_READS, skips ? 1 + below(11) : ROWS, &known);
    }
    CHECK(known > 300); /* or nothing was tested */
}

/* ---- Bands ----------------------------------------------------------------------------------- */

/* Columns are read crosswise, so that steps are cut along rows, and no two of them are one. */
#define STEP(number, of, cell) "%" #number " = lambda(%" #of ") { " cell " } : f64[900, 512]\n"
#define NEAR(a, b)                                                                                 \
    "subtract(_0[add(i0, " a ") nearest, subtract(511, i1)], "                                     \
    "_0[add(i0, " b ") nearest, subtract(511, i1)])"
#define FIRST                                                                                      \
    "input x : f64[900, 512]\n%0 = lambda(x) { exp(_0[i0, subtract(511, i1)]) } : f64[900, 512]\n"

static const char *const halves =
    "input x : f64[1800, 512]\n"
    "%0 = lambda(x) { exp(_0[i0, subtract(511, i1)]) } : f64[1800, 512]\n"
    "%1 = lambda(%0) { add(_0[multiply(i0, 2), subtract(511, i1)], "
    "_0[add(multiply(i0, 2), 1), subtract(511, i1)]) } : f64[900, 512]\n"
    "output y = %1\n";

static const struct {
    const char   *why, *lines;
    int           nsteps;
    ar_band_place places[3]; /* by step */
} bands[] = {
    { "alone: a step is its own home", FIRST "output y = %0\n", 1, { { 0, 0, 1, 0, 0 } } },
    { "the halo of whoever reads",
      FIRST STEP(1, 0, NEAR("-2", "3")) "output y = %1\n",
      2,
      { { 1, 0, 1, 2, 3 }, { 1, 0, 1, 0, 0 } } },
    { "halos add up from the last step to the first",
      FIRST STEP(1, 0, NEAR("-2", "3")) STEP(2, 1, NEAR("-1", "4")) "output y = %2\n",
      3,
      { { 2, 0, 1, 3, 7 }, { 2, 0, 1, 1, 4 }, { 2, 0, 1, 0, 0 } } },
    { "half as many rows: two for each",
      NULL, /* halves */
      2,
      { { 1, 0, 2, 0, 1 }, { 1, 0, 1, 0, 0 } } },
    { "a halo of 32 rows is as much as pays",
      FIRST STEP(1, 0, NEAR("-16", "16")) "output y = %1\n",
      2,
      { { 1, 0, 1, 16, 16 }, { 1, 0, 1, 0, 0 } } },
    { "one more, and nothing is joined",
      FIRST STEP(1, 0, NEAR("-16", "17")) "output y = %1\n",
      2,
      { { 0, 0, 1, 0, 0 }, { 1, 0, 1, 0, 0 } } },
    { "an output has no halo: it would be written twice",
      FIRST STEP(1, 0, NEAR("-1", "1")) "output t = %0\n"
                                        "output y = %1\n",
      2,
      { { 0, 0, 1, 0, 0 }, { 1, 0, 1, 0, 0 } } },
    { "an output without one is a step on the way",
      FIRST STEP(1, 0, "exp(_0[i0, subtract(511, i1)])") "output t = %0\n"
                                                         "output y = %1\n",
      2,
      { { 1, 0, 1, 0, 0 }, { 1, 0, 1, 0, 0 } } },
    { "a reader of any row needs the step to be over",
      FIRST STEP(1, 0, "_0[subtract(899, i0), subtract(511, i1)]") "output y = %1\n",
      2,
      { { 0, 0, 1, 0, 0 }, { 1, 0, 1, 0, 0 } } },
};

static void check_places(const ar_band_place *got, const ar_band_place *want, int n)
{
    for (int s = 0; s < n; s++) {
        CHECK_EQ_INT(got[s].home, want[s].home);
        if (want[s].home == s && (s == 0 || got[s - 1].home != s))
            continue; /* alone: it has no rows of a band */
        CHECK_EQ_INT(got[s].axis, want[s].axis);
        CHECK_EQ_INT(got[s].stride, want[s].stride);
        CHECK_EQ_INT(got[s].before, want[s].before);
        CHECK_EQ_INT(got[s].after, want[s].after);
    }
}

static void rows_for_a_tile(void)
{
    for (size_t i = 0; i < AR_COUNT(bands); i++) {
        ar_band_place places[3];
        bool          alone[3] = { false };

        CASE("%s", bands[i].why);
        if (plan_begin(bands[i].lines ? bands[i].lines : halves) &&
            CHECK_EQ_INT(planned.plan.nsteps, bands[i].nsteps)) {
            CHECK_EQ_INT(ar_plan_bands(places, &planned.plan, alone, NULL), ARRAS_OK);
            check_places(places, bands[i].places, bands[i].nsteps);
        }
        plan_end();
    }
}

static void who_is_to_be_alone_is(void)
{
    for (int s = 0; s < 2; s++) {
        ar_band_place places[2];
        const bool    alone[2] = { s == 0, s == 1 };

        CASE("step %d", s);
        if (plan_begin(FIRST STEP(1, 0, NEAR("-2", "3")) "output y = %1\n") &&
            CHECK_EQ_INT(planned.plan.nsteps, 2)) {
            CHECK_EQ_INT(ar_plan_bands(places, &planned.plan, alone, NULL), ARRAS_OK);
            CHECK_EQ_INT(places[0].home, 0);
            CHECK_EQ_INT(places[1].home, 1);
        }
        plan_end();
    }
}

TEST_MAIN
{
    RUN(rows_that_are_read);
    RUN(random_stencils);
    RUN(rows_for_a_tile);
    RUN(who_is_to_be_alone_is);
}
