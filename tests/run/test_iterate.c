/* test_iterate.c -- programs that run again and again, their outputs fed back: in memory, from file
 * to file, until something is true. */
#include <arras/sweep.h>
#include <math.h>

#include "store_world.h"

enum { CELLS = 1000 };

static const int64_t shape[] = { CELLS };

/* y[i] = the mean of x around i, and how much the largest change is. */
static arras_program *smoother(void)
{
    static const int64_t    offsets[] = { -1, 0, 1 };
    static const double     weights[] = { 0.25, 0.5, 0.25 };
    static const arras_edge nearest[] = { { ARRAS_EDGE_NEAREST, NULL } };
    arras_graph            *g;
    arras_program          *p = NULL;
    arras_array             x, y, change;

    CHECK_EQ_INT(arras_graph_new(&g, &err), ARRAS_OK);
    x = arras_placeholder(g, "x", ARRAS_F64, 1, shape);
    y = arras_output(g, "y", arras_stencil(x, 3, offsets, weights, nearest));
    change = arras_max(arras_abs(arras_subtract(y, x)), 0, NULL, false);
    arras_output(g, "change", change);
    arras_output(g, "done", arras_less(change, arras_float(g, 0.01)));
    CHECK_EQ_INT(arras_compile(&p, g, NULL, &err), ARRAS_OK);
    arras_graph_free(g);
    return p;
}

static double at_start(int i) { return i % 97 == 0 ? 10 : i % 7; }

static void fill(double *cells)
{
    for (int i = 0; i < CELLS; i++)
        cells[i] = at_start(i);
}

/* The same, launch by launch. */
static void plain_steps(double *out, arras_program *p, int64_t steps)
{
    double        next[CELLS], change;
    bool          done;
    arras_binding b[] = { { "x", { out, ARRAS_F64, 1, shape, NULL } },
                          { "y", { next, ARRAS_F64, 1, shape, NULL } },
                          { "change", { &change, ARRAS_F64, 0, NULL, NULL } },
                          { "done", { &done, ARRAS_BOOL, 0, NULL, NULL } } };

    fill(out);
    for (int64_t i = 0; i < steps; i++) {
        CHECK_EQ_INT(arras_launch(NULL, p, 4, b, &err), ARRAS_OK);
        memcpy(out, next, sizeof next);
    }
}

static const arras_feed back = { "y", "x" };

static void compare(const double *got, arras_program *p, int64_t steps)
{
    double expected[CELLS];

    plain_steps(expected, p, steps);
    CHECK(memcmp(got, expected, sizeof expected) == 0);
}

static void counts_steps_in_memory(void)
{
    arras_program *p = smoother();
    double         x[CELLS];
    arras_binding  b = { "x", { x, ARRAS_F64, 1, shape, NULL } };

    fill(x);
    for (int64_t steps = 1; steps <= 6; steps++) {
        arras_loop        loop = { .nfeeds = 1, .feeds = &back, .most = steps };
        arras_loop_report report;
        arras_results    *results;

        test_row("%d steps", (int)steps);
        if (!CHECK_EQ_INT(arras_iterate(&results, &report, p, 1, &b, 0, NULL, &loop, &err),
                          ARRAS_OK))
            continue;
        CHECK(report.steps == steps && !report.ended);
        compare(arras_results_find(results, "y")->buffer.data, p, steps);
        CHECK_EQ_REAL(x[97], at_start(97)); /* inputs stay */
        arras_results_free(results);
    }
    arras_program_free(p);
}

static bool four_steps(const arras_loop_report *so_far, void *context)
{
    (void)context;
    return so_far->steps < 4;
}

/* The output is the caller's own memory. */
static void ends_when_something_is_true(void)
{
    arras_program    *p = smoother();
    double            x[CELLS], y[CELLS];
    arras_binding     b[] = { { "x", { x, ARRAS_F64, 1, shape, NULL } },
                              { "y", { y, ARRAS_F64, 1, shape, NULL } } };
    arras_loop        loop = { .nfeeds = 1, .feeds = &back, .until = "done" };
    arras_loop_report report;
    arras_results    *results = NULL;

    fill(x);
    CHECK_EQ_INT(arras_iterate(&results, &report, p, 2, b, 0, NULL, &loop, &err), ARRAS_OK);
    CHECK(report.ended && report.steps > 10);
    CHECK(*(double *)arras_results_find(results, "change")->buffer.data < 0.01);
    compare(y, p, report.steps);
    arras_results_free(results);
    loop.watch = four_steps;
    CHECK_EQ_INT(arras_iterate(NULL, &report, p, 2, b, 0, NULL, &loop, &err), ARRAS_OK);
    CHECK(report.steps == 4 && !report.ended);
    compare(y, p, 4);
    arras_program_free(p);
}

/* ---- From file to file ----------------------------------------------------------------------- */

static void put_input(const char *name)
{
    static const int64_t zero[1];
    double               x[CELLS];
    arras_sink          *sink;

    fill(x);
    CHECK_EQ_INT(arras_sink_create(&sink, at(name), NULL, ARRAS_F64, 1, shape, NULL, &err),
                 ARRAS_OK);
    CHECK_EQ_INT(arras_sink_write(sink, zero, shape, x, NULL, 1, &err), ARRAS_OK);
    CHECK_EQ_INT(arras_sink_finish(sink, &err), ARRAS_OK);
}

static void iterate_files(arras_program *p, const arras_loop *loop, const char *name)
{
    static const int64_t zero[1];
    double               got[CELLS];
    arras_loop_report    report;
    arras_results       *results = NULL;
    arras_stored         files[] = { { "x", NULL, NULL }, { "y", NULL, NULL } };
    arras_source        *source;

    test_row("%s", name);
    CHECK_EQ_INT(arras_source_open(&files[0].source, at("x.npy"), NULL, &err), ARRAS_OK);
    CHECK_EQ_INT(arras_sink_create(&files[1].sink, at(name), NULL, ARRAS_F64, 1, shape, NULL, &err),
                 ARRAS_OK);
    if (!CHECK_EQ_INT(arras_iterate(&results, &report, p, 0, NULL, 2, files, loop, &err), ARRAS_OK))
        printf("    %s\n", err.text);
    CHECK_EQ_INT(arras_sink_finish(files[1].sink, &err), ARRAS_OK);
    arras_source_close(files[0].source);
    CHECK_EQ_INT(arras_source_open(&source, at(name), NULL, &err), ARRAS_OK);
    CHECK_EQ_INT(arras_source_read(source, zero, shape, got, NULL, 1, &err), ARRAS_OK);
    compare(got, p, report.steps);
    arras_source_close(source);
    arras_results_free(results);
}

static void streams(void)
{
    arras_program *p = smoother();
    arras_loop     loop = { .nfeeds = 1, .feeds = &back, .most = 5, .memory = 1 << 20 };

    if (arras_program_warning(p)) { /* there is no compiler, and files need kernels */
        CHECK(arras_program_warning(p) != NULL);
        arras_program_free(p);
        return;
    }
    world_begin();
    setenv("TMPDIR", world, 1);
    put_input("x.npy");
    iterate_files(p, &loop, "five.npy");
    loop.most = 1;
    iterate_files(p, &loop, "one.npy");
    loop.most = 0;
    loop.until = "done";
    iterate_files(p, &loop, "done.npy");
    CHECK_EQ_INT(count_entries(), 4); /* nothing of what lies between is left */
    unsetenv("TMPDIR");
    world_end();
    arras_program_free(p);
}

/* ---- What is refused ------------------------------------------------------------------------- */

static void is_refused(void)
{
    static const arras_feed unknown = { "z", "x" }, unbound = { "y", "w" }, small = { "done", "x" };
    static const arras_feed twice[] = { { "y", "x" }, { "y", "x" } };
    arras_program          *p = smoother();
    double                  x[CELLS];
    arras_binding           b = { "x", { x, ARRAS_F64, 1, shape, NULL } };
    const struct {
        arras_loop   loop;
        arras_status code;
        const char  *part;
    } cases[] = {
        { { .nfeeds = 1, .feeds = &back }, ARRAS_EINVAL, "nothing ends the loop" },
        { { .nfeeds = 1, .feeds = &back, .most = -1 }, ARRAS_EINVAL, "-1 steps" },
        { { .nfeeds = 1, .feeds = &unknown, .most = 2 }, ARRAS_ENAME, "z, which is no output" },
        { { .nfeeds = 1, .feeds = &unbound, .most = 2 }, ARRAS_ENAME, "w is fed from y, but" },
        { { .nfeeds = 2, .feeds = twice, .most = 2 }, ARRAS_ENAME, "x is fed from y and from y" },
        { { .nfeeds = 1, .feeds = &small, .most = 2 },
          ARRAS_ESHAPE,
          "the output done is bool[] and cannot become the input x, which is f64[1000]" },
        { { .nfeeds = 1, .feeds = &back, .until = "y" }, ARRAS_ESHAPE, "has 1000 cells" },
        { { .nfeeds = 1, .feeds = &back, .until = "q" }, ARRAS_ENAME, "q should end the loop" },
    };

    fill(x);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        test_row("%s", cases[i].part);
        CHECK_EQ_INT(arras_iterate(NULL, NULL, p, 1, &b, 0, NULL, &cases[i].loop, &err),
                     cases[i].code);
        CHECK_HAS(err.text, cases[i].part);
    }
    CHECK_EQ_INT(arras_iterate(NULL, NULL, p, 1, &b, 0, NULL, NULL, &err), ARRAS_EINVAL);
    arras_program_free(p);
}

TEST_MAIN
{
    RUN(counts_steps_in_memory);
    RUN(ends_when_something_is_true);
    RUN(streams);
    RUN(is_refused);
}
