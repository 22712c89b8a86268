/* test_picture_parts.c -- what pictures are made of: ticks, statistics, strokes, letters. */
#include "cmd/show/picture_canvas.h"
#include "test.h"

#include <stdlib.h>

/* ---- Ticks ----------------------------------------------------------------------------------- */

static const struct {
    double      lo, hi;
    int         most;
    bool        integers;
    const char *labels; /* separated by blanks */
} tick_cases[] = {
    { 0, 1, 6, false, "0.0 0.2 0.4 0.6 0.8 1.0" },
    { -1, 1, 5, false, "-1.0 -0.5 0.0 0.5 1.0" }, /* 0 is 0, not -0 */
    { 0, 11, 12, true, "0 1 2 3 4 5 6 7 8 9 10 11" },
    { 0, 1, 6, true, "0 1" }, /* nothing between integers */
    { 0, 299, 7, true, "0 50 100 150 200 250" },
    { 1e9, 1e9 + 4, 5, false, "1000000000 1000000001 1000000002 1000000003 1000000004" },
    { 0, 3e-7, 4, false, "0 1e-07 2e-07 3e-07" },
    { 2.5, 2.5, 5, false, "2.5" },                /* all cells are the same */
    { -1.7e308, 1.7e308, 5, false, "-1.7e+308" }, /* too wide to divide */
};

static void ticks_are_round_numbers(void)
{
    for (size_t i = 0; i < sizeof tick_cases / sizeof tick_cases[0]; i++) {
        cmd_ticks t;
        char      all[600] = "";

        CASE("%g to %g", tick_cases[i].lo, tick_cases[i].hi);
        cmd_ticks_between(&t, tick_cases[i].lo, tick_cases[i].hi, tick_cases[i].most,
                          tick_cases[i].integers);
        for (int k = 0; k < t.count; k++) {
            strcat(all, k ? " " : "");
            strcat(all, t.label[k]);
        }
        CHECK_STR(all, tick_cases[i].labels);
    }
}

/* Whatever the range: some ticks, not too many, all inside, in order. */
static void ticks_stay_inside(void)
{
    for (int i = 0; i < 2000; i++) {
        double    lo = ldexp(i % 97 - 48, i % 61 - 30), width = ldexp(1 + i % 13, i % 83 - 50);
        int       most = 2 + i % 20;
        cmd_ticks t;

        CASE("case %d", i);
        cmd_ticks_between(&t, lo, lo + width, most, i % 2);
        CHECK(t.count >= 1 && t.count <= most && t.count <= CMD_MAX_TICKS);
        for (int k = 1; k < t.count; k++)
            CHECK(t.at[k] > t.at[k - 1] && t.at[k] <= lo + width * (1 + 1e-6) + 1e-12);
    }
}

/* ---- Statistics ------------------------------------------------------------------------------ */

static cmd_view view_of(const double *cells, int64_t n)
{
    return (cmd_view){ .dtype = ARRAS_F64,
                       .data = (const char *)cells,
                       .rank = 1,
                       .length = { n },
                       .step = { sizeof *cells },
                       .stride = { 1 } };
}

/* Far from 0 the naive formula, mean of squares less square of mean, has no digits left. */
static void statistics_keep_their_digits(void)
{
    enum { N = 10000 };
    double              cells[N] = { 0 };
    cmd_view            v = view_of(cells, N);
    cmd_view_statistics s;
    cmd_error           err;

    for (int i = 0; i < N; i++)
        cells[i] = 1e9 + i % 5;
    CHECK(cmd_view_measure(&s, &v, &err));
    CHECK_EQ_REAL(s.min, 1e9);
    CHECK_EQ_REAL(s.max, 1e9 + 4);
    CHECK(fabs(s.mean - (1e9 + 2)) < 1e-6);
    CHECK(fabs(s.std - sqrt(2)) < 1e-9);
    CHECK_EQ_INT(s.count, N);
}

static void statistics_are_those_of_finite_cells(void)
{
    double              cells[] = { NAN, 1, INFINITY, 3, -INFINITY, NAN, NAN };
    cmd_view            v = view_of(cells, 7);
    cmd_view_statistics s;
    cmd_error           err;

    CHECK(cmd_view_measure(&s, &v, &err));
    CHECK_EQ_INT(s.nans, 3);
    CHECK_EQ_INT(s.infinities, 2);
    CHECK_EQ_REAL(s.mean, 2);
    CHECK_EQ_REAL(s.std, 1);
}

/* ---- Lines ----------------------------------------------------------------------------------- */

typedef struct {
    int    count;
    double stroke[16][4];
} strokes;

static void collect(void *user, double x0, double y0, double x1, double y1)
{
    strokes *s = user;

    if (s->count < 16)
        memcpy(s->stroke[s->count], (double[]){ x0, y0, x1, y1 }, sizeof s->stroke[0]);
    s->count++;
}

static strokes strokes_of(const double *cells, int64_t n, double lo, double hi)
{
    cmd_view  v = view_of(cells, n);
    cmd_scale scale = { .lo = lo, .hi = hi };
    strokes   s = { 0 };
    cmd_curve c;
    cmd_error err;

    if (!CHECK(cmd_curve_new(&c, &v, 100, &err)))
        return s;
    cmd_curve_walk(&c, &scale, collect, &s);
    cmd_curve_free(&c);
    return s;
}

static void check_stroke(const double *got, double x0, double y0, double x1, double y1)
{
    const double want[] = { x0, y0, x1, y1 };

    for (int i = 0; i < 4; i++)
        CHECK(fabs(got[i] - want[i]) < 1e-12);
}

static void a_line_is_cut_at_the_range(void)
{
    strokes s = strokes_of((double[]){ -1, 3 }, 2, 0, 2);

    CHECK_EQ_INT(s.count, 1);
    check_stroke(s.stroke[0], 0.375, 0, 0.625, 1);
    CHECK_EQ_INT(strokes_of((double[]){ 5, 6, 7 }, 3, 0, 2).count, 0);
    CHECK_EQ_INT(strokes_of((double[]){ 3, 3 }, 2, 0, 2).count, 0);
}

static void gaps_part_a_line(void)
{
    strokes s = strokes_of((double[]){ 1, 2, NAN, 1, NAN, INFINITY, 2, 0 }, 8, 0, 2);

    CHECK_EQ_INT(s.count, 3);
    check_stroke(s.stroke[0], 0.0625, 0.5, 0.1875, 1);
    check_stroke(s.stroke[1], 0.4375, 0.5, 0.4375, 0.5); /* alone: a dot */
    check_stroke(s.stroke[2], 0.8125, 1, 0.9375, 0);
    CHECK_EQ_INT(strokes_of((double[]){ 1 }, 1, 0, 2).count, 1);
}

/* However many cells, a column shows its smallest and its largest. */
static void many_cells_are_an_envelope(void)
{
    enum { N = 100000 };
    double   *cells = calloc(N, sizeof *cells);
    cmd_view  v = view_of(cells, N);
    cmd_curve c = { 0 };
    cmd_error err;
    double    low = 0, high = 0;

    if (!CHECK(cells))
        return;
    cells[777] = -5;
    cells[50001] = 7;
    CHECK(cmd_curve_new(&c, &v, 100, &err) && c.envelope && c.count <= 200);
    for (int64_t i = 0; i < c.count; i++) {
        low = fmin(low, c.y[i]);
        high = fmax(high, c.y[i]);
    }
    CHECK_EQ_REAL(low, -5);
    CHECK_EQ_REAL(high, 7);
    cmd_curve_free(&c);
    free(cells);
}

/* ---- Letters --------------------------------------------------------------------------------- */

typedef struct {
    double left, right, top, bottom;
} extent;

static void measure(void *user, double x0, double y0, double x1, double y1)
{
    extent *e = user;

    e->left = fmin(e->left, fmin(x0, x1));
    e->right = fmax(e->right, fmax(x0, x1));
    e->top = fmin(e->top, fmin(y0, y1));
    e->bottom = fmax(e->bottom, fmax(y0, y1));
}

/* Every character stays within its width and within the height of a line. */
static void letters_fit_their_boxes(void)
{
    for (char c = '!'; c <= '~'; c++) {
        const char text[] = { c, '\0' };
        extent     e = { INFINITY, -INFINITY, INFINITY, -INFINITY };

        CASE("'%c'", c);
        cmd_text_walk(text, (cmd_point){ 0, 0 }, 20, measure, &e);
        CHECK(e.left >= 0 && e.right <= cmd_text_width(text, 20) + 1e-9);
        CHECK(e.top >= -17 && e.bottom <= 5);
    }
}

static void other_characters_are_frames(void)
{
    CHECK_EQ_REAL(cmd_text_width("é", 20), cmd_text_width("世", 20));
    CHECK_EQ_REAL(cmd_text_width("", 20), 0);
    CHECK(cmd_text_width("\xff\xfe", 20) > 0); /* no UTF-8 at all */
}

TEST_MAIN
{
    RUN(ticks_are_round_numbers);
    RUN(ticks_stay_inside);
    RUN(statistics_keep_their_digits);
    RUN(statistics_are_those_of_finite_cells);
    RUN(a_line_is_cut_at_the_range);
    RUN(gaps_part_a_line);
    RUN(many_cells_are_an_envelope);
    RUN(letters_fit_their_boxes);
    RUN(other_characters_are_frames);
}
