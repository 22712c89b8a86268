/* test_regions.c -- what is needed of an array: boxes, and boxes with a gap along an axis.  Sums of
 * regions hold both, and their boxes are just their cells, counted one by one. */
#include "exec/exec.h"
#include "test.h"

enum { MOST_RANK = 3, LENGTH = 9 };

static uint64_t state;

static int64_t below(int64_t n)
{
    state = state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (int64_t)(state >> 33) % n;
}

static bool in_range(const ar_span *r, int64_t i)
{
    return i >= r->lo && i < r->hi && !(i >= r->gap_lo && i < r->gap_hi);
}

static bool in_region(const ar_region *r, const int64_t *cell)
{
    for (int axis = 0; axis < r->rank; axis++)
        if (!in_range(&r->axes[axis], cell[axis]))
            return false;
    return r->any;
}

/* The cell of this number among LENGTH^rank. */
static bool next_cell(int64_t *cell, int rank, int64_t number)
{
    for (int axis = rank - 1; axis >= 0; axis--, number /= LENGTH)
        cell[axis] = number % LENGTH;
    return number == 0;
}

/* ---- Two along one axis ---------------------------------------------------------------------- */

static const struct {
    const char *why;
    ar_span     a, b, both;
} cases[] = {
    { "the same twice", { 2, 5, 2, 2 }, { 2, 5, 2, 2 }, { 2, 5, 2, 2 } },
    { "one in the other", { 2, 8, 2, 2 }, { 4, 5, 4, 4 }, { 2, 8, 2, 2 } },
    { "side by side: no gap", { 2, 4, 2, 2 }, { 4, 6, 4, 4 }, { 2, 6, 2, 2 } },
    { "apart: what lies between is the gap", { 0, 2, 0, 0 }, { 7, 9, 7, 7 }, { 0, 9, 2, 7 } },
    { "the same the other way round", { 7, 9, 7, 7 }, { 0, 2, 0, 0 }, { 0, 9, 2, 7 } },
    { "a gap that is filled", { 0, 9, 2, 7 }, { 1, 8, 1, 1 }, { 0, 9, 0, 0 } },
    { "a gap that becomes smaller", { 0, 9, 2, 7 }, { 0, 4, 0, 0 }, { 0, 9, 4, 7 } },
    { "the larger of two gaps stays", { 0, 9, 1, 7 }, { 3, 4, 3, 3 }, { 0, 9, 4, 7 } },
    { "two gaps that overlap: what both leave out",
      { 0, 9, 1, 6 },
      { 0, 9, 3, 8 },
      { 0, 9, 3, 6 } },
    { "two gaps that do not: none", { 0, 9, 1, 3 }, { 0, 9, 5, 8 }, { 0, 9, 0, 0 } },
};

static void sums_along_an_axis(void)
{
    for (size_t i = 0; i < AR_COUNT(cases); i++) {
        ar_region       a = { .rank = 1, .any = true, .axes = { cases[i].a } };
        const ar_region b = { .rank = 1, .any = true, .axes = { cases[i].b } };
        const ar_span  *want = &cases[i].both;

        CASE("%s", cases[i].why);
        ar_region_add(&a, &b);
        CHECK(a.any);
        CHECK_EQ_INT(a.axes[0].lo, want->lo);
        CHECK_EQ_INT(a.axes[0].hi, want->hi);
        for (int64_t at = 0; at < LENGTH; at++)
            CHECK(in_range(&a.axes[0], at) == in_range(want, at));
        CHECK(ar_region_is_box(&a) == (want->gap_lo == want->gap_hi));
        CHECK_EQ_INT(ar_region_boxes(&a), want->gap_lo == want->gap_hi ? 1 : 2);
    }
}

/* ---- Boxes ----------------------------------------------------------------------------------- */

static void boxes(void)
{
    const int64_t   zero[2] = { 0, 0 }, hi[2] = { 3, 4 }, flat[2] = { 3, 0 };
    const ar_region box = ar_region_box(2, zero, hi), none = ar_region_box(2, zero, flat);
    const ar_region scalar = ar_region_box(0, NULL, NULL);
    ar_region       sum = none;

    CHECK(box.any && ar_region_is_box(&box));
    CHECK_EQ_INT(ar_region_boxes(&box), 1);
    CHECK_EQ_INT(ar_region_cells(&box), 12);
    CHECK(!none.any); /* an axis has no cells */
    CHECK_EQ_INT(ar_region_boxes(&none), 0);
    CHECK_EQ_INT(ar_region_cells(&none), 0);
    CHECK(scalar.any && ar_region_is_box(&scalar));
    CHECK_EQ_INT(ar_region_boxes(&scalar), 1);
    CHECK_EQ_INT(ar_region_cells(&scalar), 1);
    ar_region_add(&sum, &none); /* nothing and nothing */
    CHECK(!sum.any);
    ar_region_add(&sum, &box); /* nothing and something */
    CHECK(sum.any && ar_region_cells(&sum) == 12);
    ar_region_add(&sum, &none);
    CHECK(sum.any && ar_region_cells(&sum) == 12);
}

static void too_many_cells(void)
{
    const int64_t   lo[2] = { 0, 0 }, hi[2] = { INT64_C(1) << 40, INT64_C(1) << 40 };
    const ar_region r = ar_region_box(2, lo, hi);

    CHECK_EQ_INT(ar_region_cells(&r), INT64_MAX);
}

/* ---- Random ones ----------------------------------------------------------------------------- */

static ar_region random_region(int rank)
{
    ar_region r = { .rank = rank, .any = below(8) > 0 };

    for (int axis = 0; axis < rank; axis++) {
        int64_t lo = below(LENGTH), hi = lo + 1 + below(LENGTH - lo), gap = lo, gap_end = lo;

        if (below(2) && hi - lo > 2) { /* within: both ends stay */
            gap = lo + 1 + below(hi - lo - 2);
            gap_end = gap + 1 + below(hi - gap - 1);
        }
        r.axes[axis] = (ar_span){ lo, hi, gap, gap_end };
    }
    return r;
}

/* Each of its cells is in one of the boxes, and they hold no others. */
static void check_parts(const ar_region *r)
{
    int64_t cell[MOST_RANK] = { 0 }, cells = 0;
    int     wrong = 0, n = ar_region_boxes(r);

    for (int64_t i = 0; next_cell(cell, r->rank, i); i++) {
        int times = 0;

        for (int part = 0; part < n; part++) {
            int64_t lo[MOST_RANK], hi[MOST_RANK];
            bool    inside = true;

            ar_region_part(lo, hi, r, part);
            for (int axis = 0; axis < r->rank; axis++)
                inside = inside && cell[axis] >= lo[axis] && cell[axis] < hi[axis];
            times += inside;
        }
        wrong += times != in_region(r, cell);
        cells += in_region(r, cell);
    }
    CHECK_EQ_INT(wrong, 0);
    CHECK_EQ_INT(ar_region_cells(r), cells);
    CHECK(ar_region_is_box(r) ? n <= 1 : n > 1 || !r->any);
}

/* No end of the sum lies where neither has a cell. */
static void check_ends(const ar_region *sum, const ar_region *a, const ar_region *b)
{
    for (int axis = 0; axis < sum->rank && sum->any; axis++) {
        const ar_span *r = &sum->axes[axis], *x = a->any ? &a->axes[axis] : &b->axes[axis];
        const ar_span *y = b->any ? &b->axes[axis] : x;

        CHECK_EQ_INT(r->lo, ar_min64(x->lo, y->lo));
        CHECK_EQ_INT(r->hi, ar_max64(x->hi, y->hi));
        if (r->gap_lo < r->gap_hi) /* a gap between cells that are needed */
            CHECK((in_range(x, r->gap_lo - 1) || in_range(y, r->gap_lo - 1)) &&
                  (in_range(x, r->gap_hi) || in_range(y, r->gap_hi)));
    }
}

static void random_regions(void)
{
    int gaps = 0;

    for (int seed = 1; seed <= 2000; seed++) {
        int       rank = 1 + seed % MOST_RANK, lost = 0;
        int64_t   cell[MOST_RANK] = { 0 };
        ar_region a, b, sum;

        CASE("seed %d", seed);
        state = (uint64_t)seed * UINT64_C(0x9E3779B97F4A7C15);
        a = random_region(rank);
        b = random_region(rank);
        sum = a;
        ar_region_add(&sum, &b);
        check_parts(&a);
        check_parts(&sum);
        check_ends(&sum, &a, &b);
        CHECK(sum.any == (a.any || b.any));
        for (int64_t i = 0; next_cell(cell, rank, i); i++)
            lost += (in_region(&a, cell) || in_region(&b, cell)) && !in_region(&sum, cell);
        CHECK_EQ_INT(lost, 0);
        gaps += sum.any && !ar_region_is_box(&sum);
    }
    CHECK(gaps > 100); /* or gaps were never kept */
}

TEST_MAIN
{
    RUN(sums_along_an_axis);
    RUN(boxes);
    RUN(too_many_cells);
    RUN(random_regions);
}
