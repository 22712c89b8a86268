/* test_launch.c -- what a launch does: results that last, feedback of outputs into inputs,
 * relaunches that cost nothing, sizes that change, and mistakes that are said in one line. */
#include "launch_kit.h"

/* (x + 1) * 2 */
static arras_program *plus_one_times_two(arras_dim n)
{
    arras_array y = arras_add(input("x", n), arras_int(g, 1));

    arras_output(g, "y", arras_multiply(y, arras_int(g, 2)));
    return compiled(NULL);
}

/* ---- Feedback -------------------------------------------------------------------------------- */

static const double ups[] = { 20, 42, 86, 174, 350 }, more[] = { 100, 202, 406, 814 };

/* Every cell of x goes the way of `want`. */
static void feed_in_place(arras_program *p, double *x, int64_t n, const double *want, int steps)
{
    for (int64_t i = 0; i < n; i++)
        x[i] = want[0];
    for (int s = 1; s < steps; s++) {
        launched(NULL, p, BINDINGS(VEC("x", x, n), VEC("y", x, n)));
        CHECK(x[0] == want[s] && x[n / 2] == want[s] && x[n - 1] == want[s]);
    }
}

static void feedback_in_place(void)
{
    static double  x[100000];
    arras_program *p;

    start();
    p = plus_one_times_two(AR_COUNT(x));
    feed_in_place(p, x, AR_COUNT(x), ups, AR_COUNT(ups));
    feed_in_place(p, x, AR_COUNT(x), more, AR_COUNT(more));
    finish(p);
}

static void feedback_back_and_forth(void)
{
    double         x[2][5] = { { 20, 20, 20, 20, 20 } };
    arras_program *p;

    start();
    p = plus_one_times_two(5);
    for (size_t s = 1; s < AR_COUNT(ups); s++) {
        double *from = x[(s + 1) % 2], *to = x[s % 2];

        launched(NULL, p, BINDINGS(VEC("x", from, 5), VEC("y", to, 5)));
        CHECK_EQ_REAL(to[0], ups[s]);
        CHECK_EQ_REAL(to[4], ups[s]);
    }
    finish(p);
}

/* The results of one launch are the inputs of the next. */
static void feedback_of_results(void)
{
    double         x[] = { 20 };
    arras_results *before = NULL, *after = NULL;
    arras_program *p;

    start();
    p = plus_one_times_two(1);
    launched(&before, p, BINDINGS(VEC("x", x, 1)));
    for (size_t s = 2; s < AR_COUNT(ups); s++) {
        launched(&after, p, BINDINGS(VEC("x", arras_results_at(before, 0)->buffer.data, 1)));
        CHECK_EQ_REAL(*result(before, "y"), ups[s - 1]);
        CHECK_EQ_REAL(*result(after, "y"), ups[s]);
        arras_results_free(before);
        before = after;
    }
    arras_results_free(before);
    finish(p);
}

/* One program's output is another one's input. */
static void feedback_through_two_programs(void)
{
    double         x[3] = { 1, 2, 3 }, y[3], z[3];
    arras_program *p, *q;

    start();
    arras_output(g, "y", arras_add(input("x", 3), arras_int(g, 1)));
    p = compiled(NULL);
    arras_graph_free(g);
    arras_graph_new(&g, NULL);
    arras_output(g, "z", arras_multiply(input("y", 3), arras_int(g, 2)));
    q = compiled(NULL);
    for (int i = 0; i < 3; i++) {
        launched(NULL, p, BINDINGS(VEC("x", x, 3), VEC("y", y, 3)));
        launched(NULL, q, BINDINGS(VEC("y", y, 3), VEC("z", z, 3)));
        CHECK(same_cells(z, (double[]){ 2 * (x[0] + 1), 2 * (x[1] + 1), 2 * (x[2] + 1) }, 3));
        memcpy(x, z, sizeof x);
    }
    arras_program_free(q);
    finish(p);
}

/* ---- Results --------------------------------------------------------------------------------- */

static void results_last(void)
{
    static double  x[70000]; /* results are large enough to be kept warm for others */
    arras_results *r[4];
    arras_program *p;

    start();
    p = plus_one_times_two(AR_COUNT(x));
    for (int k = 0; k < 4; k++) {
        count_up(x, AR_COUNT(x), 10 * k);
        launched(&r[k], p, BINDINGS(VEC("x", x, AR_COUNT(x))));
    }
    arras_program_free(p);
    for (int k = 0; k < 4; k++) {
        const double *y = result(r[k], "y");

        CHECK(y[0] == 2 * (10 * k + 1) && y[69999] == 2 * (10 * k + 70000));
        CHECK_EQ_INT(arras_results_at(r[k], 0)->buffer.shape[0], 70000);
        arras_results_free(r[k]);
    }
    finish(NULL);
}

/* Outputs that are bound are not among the results. */
static void some_outputs_bound(void)
{
    double         x[2] = { 1, 2 }, b[2] = { 0, 0 };
    arras_results *r = NULL;
    arras_array    a;
    arras_program *p;

    start();
    a = input("x", 2);
    arras_output(g, "a", arras_add(a, arras_int(g, 1)));
    arras_output(g, "b", arras_add(a, arras_int(g, 2)));
    arras_output(g, "c", arras_add(a, arras_int(g, 3)));
    p = compiled(NULL);
    launched(&r, p, BINDINGS(VEC("b", b, 2), VEC("x", x, 2)));
    CHECK_EQ_INT(arras_results_count(r), 2);
    CHECK_STR(arras_results_at(r, 0)->name, "a");
    CHECK_STR(arras_results_at(r, 1)->name, "c");
    CHECK(same_cells(result(r, "a"), (double[]){ 2, 3 }, 2));
    CHECK(same_cells(b, (double[]){ 3, 4 }, 2));
    CHECK(same_cells(result(r, "c"), (double[]){ 4, 5 }, 2));
    CHECK(!arras_results_find(r, "b"));
    arras_results_free(r);
    finish(p);
}

/* Inputs and data that are outputs as they are, and one array that is two outputs. */
static void outputs_that_are_copies(void)
{
    double         x[3] = { 1, 2, 3 }, data[3] = { 7, 8, 9 };
    arras_results *r = NULL;
    arras_array    y;
    arras_program *p;

    start();
    y = input("x", 3);
    arras_output(g, "same", y);
    arras_output(g, "data", arras_copy(g, ARRAS_F64, 1, (int64_t[]){ 3 }, NULL, data));
    y = arras_add(y, arras_int(g, 1));
    arras_output(g, "first", y);
    arras_output(g, "second", y);
    p = compiled(NULL);
    launched(&r, p, BINDINGS(VEC("x", x, 3)));
    x[0] = 100;
    CHECK(same_cells(result(r, "same"), (double[]){ 1, 2, 3 }, 3));
    CHECK(same_cells(result(r, "data"), data, 3));
    CHECK(same_cells(result(r, "first"), (double[]){ 2, 3, 4 }, 3));
    CHECK(same_cells(result(r, "second"), (double[]){ 2, 3, 4 }, 3));
    CHECK(result(r, "first") != result(r, "second"));
    arras_results_free(r);
    finish(p);
}

/* Nothing is bound, and there is nothing to launch but constants. */
static void data_only(void)
{
    double         cells[4] = { 1, 2, 3, 4 };
    arras_results *r = NULL;
    arras_program *p;
    arras_array    x;

    start();
    x = arras_copy(g, ARRAS_F64, 2, (int64_t[]){ 2, 2 }, NULL, cells);
    arras_output(g, "y", arras_sum(arras_multiply(x, x), 1, (int[]){ 0 }, false));
    arras_output(g, "i", arras_arange(g, 0, 3, 1));
    p = compiled(NULL);
    for (int i = 0; i < 3; i++) {
        launched(&r, p, 0, NULL);
        CHECK(same_cells(result(r, "y"), (double[]){ 10, 20 }, 2));
        CHECK_EQ_INT(((int64_t *)arras_results_find(r, "i")->buffer.data)[2], 2);
        arras_results_free(r);
    }
    finish(p);
}

/* ---- Relaunches ------------------------------------------------------------------------------ */

/* Two kernels that cannot be one, so that there is a temporary. */
static arras_program *centred(arras_dim n)
{
    arras_array x = input("x", n);

    arras_output(g, "y", arras_subtract(x, arras_mean(x, 0, NULL, true)));
    return compiled(NULL);
}

static void relaunch_costs_nothing(void)
{
    double         x[1000], y[1000], other[1000];
    int64_t        made;
    arras_program *p;

    start();
    count_up(x, 1000, 0);
    p = centred(1000);
    launched(NULL, p, BINDINGS(VEC("x", x, 1000), VEC("y", y, 1000)));
    CHECK(counters(p).updates > 0);
    for (int i = 0; i < 3; i++) {
        x[0] = i;
        made = ar_alloc_made();
        launched(NULL, p, BINDINGS(VEC("x", x, 1000), VEC("y", y, 1000)));
        CHECK_EQ_INT(ar_alloc_made(), made);
        CHECK_EQ_INT(counters(p).updates, 0);
        CHECK_EQ_INT(counters(p).allocations, 0);
        CHECK_EQ_INT(counters(p).launches, i + 2);
    }
    made = ar_alloc_made();
    launched(NULL, p, BINDINGS(VEC("x", x, 1000), VEC("y", other, 1000)));
    CHECK_EQ_INT(ar_alloc_made(), made);
    CHECK_EQ_INT(counters(p).updates, 1);
    CHECK(same_cells(other, y, 1000));
    finish(p);
}

/* Also where memory has to be copied first or last. */
static void relaunch_with_detours(void)
{
    static char    bytes[3][100 * sizeof(double) + 1];
    double         y[200];
    int64_t        made;
    arras_program *p;

    start();
    p = centred(100);
    for (int i = 0; i < 4; i++) {
        made = ar_alloc_made();
        launched(NULL, p, BINDINGS(VEC("x", bytes[0] + 1, 100), STRIDED("y", y, 100, 2)));
        CHECK(i == 0 || ar_alloc_made() == made);
        CHECK(i == 0 || counters(p).updates == 0);
    }
    finish(p);
}

/* Every size has an instance of its own, the program none of its own. */
static void sizes_change(void)
{
    static double  x[70000], y[70000];
    const int64_t  lengths[] = { 3, 70000, 1, 0, 5, 3, 70000, 17, 4, 3, 0, 1 };
    arras_program *p;

    start();
    count_up(x, AR_COUNT(x), 0);
    p = plus_one_times_two(arras_size(g, "n"));
    for (size_t k = 0; k < AR_COUNT(lengths); k++) {
        int64_t n = lengths[k], wrong = 0;

        memset(y, 0, sizeof y);
        launched(NULL, p, BINDINGS(VEC("x", x, n), VEC("y", y, n)));
        for (int64_t i = 0; i < 70000; i++)
            wrong += y[i] != (i < n ? 2 * (x[i] + 1) : 0);
        CHECK_EQ_INT(wrong, 0);
    }
    finish(p);
}

/* No input tells n: it is bound by name, in any type of integers. */
static void sizes_by_name(void)
{
    arras_results *r = NULL;
    arras_program *p;
    arras_dim      n;

    start();
    n = arras_size(g, "n");
    arras_output(g, "i", arras_index_array(g, 1, &n, 0));
    p = compiled(NULL);
    for (int64_t length = 0; length < 5; length++) {
        uint8_t small = (uint8_t)(length + 1);

        launched(&r, p, BINDINGS(SCALAR("n", ARRAS_I64, &length)));
        CHECK_EQ_INT(arras_results_at(r, 0)->buffer.shape[0], length);
        arras_results_free(r);
        launched(&r, p, BINDINGS(SCALAR("n", ARRAS_U8, &small)));
        CHECK_EQ_INT(arras_results_at(r, 0)->buffer.shape[0], length + 1);
        CHECK_EQ_INT(((int64_t *)arras_results_at(r, 0)->buffer.data)[length], length);
        arras_results_free(r);
    }
    refused(p, 0, NULL, ARRAS_ESIZE, "n");
    finish(p);
}

/* The stride of an axis of one cell means nothing, whatever it is. */
static void axes_of_one_cell(void)
{
    double         x[3] = { 7, 8, 9 };
    arras_array    a;
    arras_program *p;

    start();
    a = input("x", arras_size(g, "n"));
    arras_output(g, "y", arras_roll(a, 1, (int64_t[]){ -2 }, (int[]){ 0 }));
    p = compiled(NULL);
    for (int64_t stride = -3; stride <= 3; stride++) {
        double y = 0;

        launched(NULL, p,
                 BINDINGS(STRIDED("x", x + 1, 1, stride), STRIDED("y", &y, 1, 2 * stride)));
        CHECK_EQ_REAL(y, 8);
    }
    finish(p);
}

/* ---- Mistakes -------------------------------------------------------------------------------- */

/* What is refused, and that it writes nothing: y stays as it was. */
static void check_mistakes(const arras_options *options)
{
    double         x[6] = { 1, 2, 3, 4, 5, 6 }, y[6] = { -1, -1, -1, -1, -1, -1 };
    float          single[6] = { 0 };
    arras_binding  good_x = VEC("x", x, 3), good_y = VEC("y", y, 3), bad;
    arras_array    a;
    arras_program *p;

    start();
    a = input("x", 3);
    arras_output(g, "y", arras_multiply(a, arras_int(g, 2)));
    arras_output(g, "z", arras_multiply(a, arras_int(g, 3)));
    p = compiled(options);
    refused(p, BINDINGS(good_y), ARRAS_ENAME, "x");
    refused(p, BINDINGS(good_x, good_x), ARRAS_ENAME, "x");
    refused(p, BINDINGS(good_x, good_y, good_y), ARRAS_ENAME, "y is bound twice");
    refused(p, BINDINGS(good_x, VEC("nobody", x, 3)), ARRAS_ENAME, "nobody");
    refused(p, BINDINGS(good_x, VEC(NULL, x, 3)), ARRAS_ENAME, "NULL");
    refused(p, BINDINGS(VEC("x", x, 4), good_y), ARRAS_ESHAPE, "x");
    refused(p, BINDINGS(VEC("x", NULL, 3), good_y), ARRAS_EINVAL, "x");
    refused(p, BINDINGS(good_x, VEC("y", y, 4)), ARRAS_ESHAPE, "output y");
    refused(p, BINDINGS(good_x, VEC("y", NULL, 3)), ARRAS_EINVAL, "output y");
    refused(p, BINDINGS(good_x, MATRIX("y", y, 3, 1)), ARRAS_ESHAPE, "output y");
    refused(p, BINDINGS(good_x, STRIDED("y", y, 3, 0)), ARRAS_EINVAL, "share memory");
    refused(p, BINDINGS(good_x, good_y, VEC("z", y, 3)), ARRAS_EINVAL, "share memory");
    refused(p, BINDINGS(good_x, good_y, VEC("z", y + 2, 3)), ARRAS_EINVAL, "share memory");
    refused(p, BINDINGS(good_x, good_y, VEC("z", y, 4)), ARRAS_ESHAPE, "output z");
    bad = VEC("x", single, 3);
    bad.buffer.dtype = ARRAS_F32;
    refused(p, BINDINGS(bad, good_y), ARRAS_EDTYPE, "x");
    /* What is wrong is told before what is missing. */
    CHECK_EQ_INT(arras_launch(NULL, p, BINDINGS(bad), &err), ARRAS_EDTYPE);
    CHECK_HAS(err.text, "input x: the type is f32");
    CHECK_EQ_INT(arras_launch(NULL, p, BINDINGS(VEC("x", x, 4)), &err), ARRAS_ESHAPE);
    CHECK_HAS(err.text, "axis 0 is 4, but the program says 3");
    CHECK_EQ_INT(arras_launch(NULL, p, BINDINGS(VEC("x", x, 3)), &err), ARRAS_EINVAL);
    CHECK_HAS(err.text, "is not bound");
    CHECK_EQ_INT(arras_launch(NULL, p, BINDINGS(VEC("y", y, 3), VEC("z", y, 3)), &err),
                 ARRAS_ENAME);
    bad.name = "y";
    CHECK_EQ_INT(arras_launch(NULL, p, BINDINGS(bad), &err), ARRAS_EDTYPE);
    CHECK_HAS(err.text, "output y: the type is f32");
    bad.buffer.dtype = ARRAS_F64;
    bad.buffer.rank = 0;
    CHECK_EQ_INT(arras_launch(NULL, p, BINDINGS(bad), &err), ARRAS_ESHAPE);
    CHECK_HAS(err.text, "output y: the rank is 0");
    bad.buffer.rank = 1;
    bad.buffer.dtype = ARRAS_F32;
    refused(p, BINDINGS(good_x, bad), ARRAS_EDTYPE, "output y");
    bad.buffer.dtype = (arras_dtype)99;
    refused(p, BINDINGS(good_x, bad), ARRAS_EDTYPE, "99");
    bad = good_x;
    bad.buffer.shape = NULL;
    refused(p, BINDINGS(bad, good_y), ARRAS_EINVAL, "x");
    bad.buffer.rank = 99;
    refused(p, BINDINGS(bad, good_y), ARRAS_ELIMIT, "99");
    refused(p, -1, &good_x, ARRAS_EINVAL, "-1");
    refused(p, 2, NULL, ARRAS_EINVAL, "NULL");
    CHECK_EQ_INT(arras_launch(NULL, p, BINDINGS(good_x, good_y), &err), ARRAS_EINVAL);
    CHECK_HAS(err.text, "z is not bound");
    CHECK(same_cells(y, (double[]){ -1, -1, -1, -1, -1, -1 }, 6));
    CHECK(same_cells(x, (double[]){ 1, 2, 3, 4, 5, 6 }, 6));
    launched(NULL, p, BINDINGS(good_x, good_y, VEC("z", y + 3, 3)));
    CHECK(same_cells(y, (double[]){ 2, 4, 6, 3, 6, 9 }, 6));
    finish(p);
}

static void mistakes(void) { check_mistakes(NULL); }

static void mistakes_in_the_reference(void)
{
    check_mistakes(&(arras_options){ .reference = true });
}

/* Also after a launch went well, which the next one is compared with. */
static void mistakes_after_a_launch(void)
{
    double         x[3] = { 1, 2, 3 }, y[3];
    arras_binding  good_x = VEC("x", x, 3), bad = good_x;
    arras_program *p;

    start();
    p = plus_one_times_two(arras_size(g, "n"));
    launched(NULL, p, BINDINGS(good_x, VEC("y", y, 3)));
    refused(p, BINDINGS(VEC("x", NULL, 3), VEC("y", y, 3)), ARRAS_EINVAL, "x");
    refused(p, BINDINGS(good_x, VEC("y", y, 2)), ARRAS_ESHAPE, "output y");
    refused(p, BINDINGS(good_x, VEC(NULL, y, 3)), ARRAS_ENAME, "NULL");
    bad.buffer.shape = NULL;
    refused(p, BINDINGS(bad, VEC("y", y, 3)), ARRAS_EINVAL, "x");
    bad = good_x;
    bad.buffer.rank = -1;
    refused(p, BINDINGS(bad, VEC("y", y, 3)), ARRAS_ELIMIT, "x");
    CHECK_EQ_INT(arras_launch(NULL, p, BINDINGS(good_x), &err), ARRAS_EINVAL);
    launched(NULL, p, BINDINGS(good_x, VEC("y", y, 3)));
    CHECK(same_cells(y, (double[]){ 4, 6, 8 }, 3));
    finish(p);
}

static void null_for_everything(void)
{
    arras_results *r = NULL;
    arras_run     *run = NULL;
    arras_counters c = { .nodes = 7 };
    char          *text = NULL;

    start();
    CHECK_EQ_INT(arras_compile(NULL, g, NULL, &err), ARRAS_EINVAL);
    CHECK_EQ_INT(arras_compile(&(arras_program *){ NULL }, NULL, NULL, NULL), ARRAS_EINVAL);
    CHECK_EQ_INT(arras_launch(&r, NULL, 0, NULL, NULL), ARRAS_EINVAL);
    CHECK_EQ_INT(arras_launch_start(&run, NULL, 0, NULL, NULL), ARRAS_EINVAL);
    CHECK_EQ_INT(arras_launch_wait(&r, NULL, NULL), ARRAS_EINVAL);
    CHECK_EQ_INT(arras_program_trace(NULL, true, NULL), ARRAS_EINVAL);
    CHECK_EQ_INT(arras_program_print(&text, NULL, NULL, ARRAS_PROGRAM_DOT, NULL), ARRAS_EINVAL);
    CHECK(!arras_program_warning(NULL));
    arras_launch_cancel(NULL);
    CHECK(arras_launch_progress(NULL) < 0);
    arras_program_counters(&c, NULL);
    arras_program_counters(NULL, NULL);
    CHECK_EQ_INT(c.nodes, 0);
    finish(NULL);
}

static void options_that_do_not_do(void)
{
    arras_program *p = NULL;

    start();
    arras_output(g, "y", input("x", 2));
    CHECK_EQ_INT(arras_compile(&p, g, &(arras_options){ .threads = -1 }, &err), ARRAS_EINVAL);
    CHECK_HAS(err.text, "-1");
    CHECK_EQ_INT(arras_compile(&p, g, &(arras_options){ .tile_bytes = -8 }, &err), ARRAS_EINVAL);
    CHECK_HAS(err.text, "-8");
    arras_output(g, "bad", arras_add(input("a", 2), input("b", 3)));
    CHECK_EQ_INT(arras_compile(&p, g, NULL, &err), ARRAS_ESHAPE);
    CHECK_HAS(err.text, "3");
    CHECK(p == NULL);
    finish(NULL);
}

/* ---- What goes wrong in a kernel ------------------------------------------------------------- */

/* y = x[i], where i is bound when it is launched. */
static arras_program *gather(const arras_options *options)
{
    arras_array x = input("x", arras_size(g, "n"));
    arras_array i = arras_placeholder(g, "i", ARRAS_I64, 1, (arras_dim[]){ arras_size(g, "n") });

    arras_output(g, "y", arras_index(x, 1, (arras_item[]){ arras_gather(i) }));
    arras_output(g, "z", arras_add(x, arras_int(g, 1)));
    return compiled(options);
}

static void index_errors(void)
{
    double         x[4] = { 1, 2, 3, 4 }, z[4];
    int64_t        i[4] = { 0, -4, 3, 1 };
    arras_binding  bindings[] = { VEC("x", x, 4), VEC("i", i, 4), VEC("y", x, 4), VEC("z", z, 4) };
    arras_error    reference = { ARRAS_OK, "" };
    arras_results *r = NULL;
    arras_program *p;

    bindings[1].buffer.dtype = ARRAS_I64;
    start();
    p = gather(NULL);
    for (int bad = 4; bad < 8; bad++) {
        i[2] = bad;
        CHECK_EQ_INT(arras_evaluate(&r, g, 2, bindings, &reference), ARRAS_EINDEX);
        refused(p, 4, bindings, ARRAS_EINDEX, "4");
        CHECK_STR(err.text, reference.text);
        CHECK(same_cells(x, (double[]){ 1, 2, 3, 4 }, 4)); /* y shares its memory */
    }
    i[2] = -1;
    launched(NULL, p, 4, bindings);
    CHECK(same_cells(x, (double[]){ 1, 1, 4, 2 }, 4));
    CHECK(same_cells(z, (double[]){ 2, 3, 4, 5 }, 4));
    finish(p);
}

static void minimum_over_nothing(void)
{
    double         x[2] = { 3, 2 };
    arras_error    reference;
    arras_results *r = NULL;
    arras_program *p;

    start();
    arras_output(g, "y", arras_min(input("x", arras_size(g, "n")), 0, NULL, false));
    p = compiled(NULL);
    CHECK_EQ_INT(arras_evaluate(&r, g, BINDINGS(VEC("x", x, 0)), &reference), ARRAS_ESHAPE);
    refused(p, BINDINGS(VEC("x", x, 0)), ARRAS_ESHAPE, reference.text);
    launched(&r, p, BINDINGS(VEC("x", x, 2)));
    CHECK_EQ_REAL(*result(r, "y"), 2);
    arras_results_free(r);
    finish(p);
}

/* A graph may be freed, or used for more, once it is compiled. */
static void graph_goes_on(void)
{
    double         x[4] = { 1, 2, 3, 4 }, y[2];
    arras_results *r = NULL;
    arras_program *p;

    start();
    p = plus_one_times_two(2);
    arras_output(g, "z", arras_add(arras_find_input(g, "x"), arras_int(g, 5)));
    arras_output(g, "w", input("v", 2));
    launched(&r, p, BINDINGS(VEC("x", x, 2)));
    CHECK_EQ_INT(arras_results_count(r), 1);
    arras_results_free(r);
    launched(&r, p, BINDINGS(STRIDED("x", x, 2, 2))); /* another kernel is made only now */
    CHECK_EQ_INT(arras_results_count(r), 1);
    CHECK(same_cells(result(r, "y"), (double[]){ 4, 8 }, 2));
    arras_results_free(r);
    refused(p, BINDINGS(VEC("x", x, 2), VEC("v", x, 2)), ARRAS_ENAME, "v");
    arras_graph_free(g);
    g = NULL;
    launched(NULL, p, BINDINGS(STRIDED("x", x + 3, 2, -1), VEC("y", y, 2)));
    CHECK(same_cells(y, (double[]){ 10, 8 }, 2));
    finish(p);
}

static void graph_goes_on_in_the_reference(void)
{
    double         x[2] = { 1, 2 };
    arras_results *r = NULL;
    arras_program *p;

    start();
    arras_output(g, "y", arras_negative(input("x", 2)));
    p = compiled(&(arras_options){ .reference = true });
    arras_output(g, "w", input("v", 2));
    launched(&r, p, BINDINGS(VEC("x", x, 2)));
    CHECK_EQ_INT(arras_results_count(r), 1);
    arras_results_free(r);
    finish(p);
}

TEST_MAIN
{
    RUN(feedback_in_place);
    RUN(feedback_back_and_forth);
    RUN(feedback_of_results);
    RUN(feedback_through_two_programs);
    RUN(results_last);
    RUN(some_outputs_bound);
    RUN(outputs_that_are_copies);
    RUN(data_only);
    RUN(relaunch_costs_nothing);
    RUN(relaunch_with_detours);
    RUN(sizes_change);
    RUN(sizes_by_name);
    RUN(axes_of_one_cell);
    RUN(mistakes);
    RUN(mistakes_in_the_reference);
    RUN(mistakes_after_a_launch);
    RUN(null_for_everything);
    RUN(options_that_do_not_do);
    RUN(index_errors);
    RUN(minimum_over_nothing);
    RUN(graph_goes_on);
    RUN(graph_goes_on_in_the_reference);
}
