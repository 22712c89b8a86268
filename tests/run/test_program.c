/* test_program.c -- programs as wholes: large ones, what is shared, what is printed of them. */
#include "launch_kit.h"

static const char *name_of(const char *stem, int i)
{
    static char names[4][32];
    static int  next;
    char       *name = names[next++ % 4];

    snprintf(name, sizeof names[0], "%s%d", stem, i);
    return name;
}

/* ---- Many inputs and outputs ----------------------------------------------------------------- */

enum { MANY = 500, LENGTH = 50 };

static double        cells[MANY][LENGTH];
static arras_binding many[2 * MANY + 1];
static char          names[2 * MANY][16];
static const int64_t length[] = { LENGTH };

static void bind_many(int n)
{
    for (int i = 0; i < n; i++) {
        snprintf(names[i], sizeof names[i], "x%d", i);
        count_up(cells[i], LENGTH, i);
        many[i] = (arras_binding){ names[i], { cells[i], ARRAS_F64, 1, length, NULL } };
    }
}

/* More arrays than a kernel takes arguments. */
static void check_sum_of(int n)
{
    double         want = 0;
    arras_array    sum;
    arras_results *r = NULL;
    arras_program *p;

    start();
    bind_many(n);
    sum = input("x0", LENGTH);
    for (int i = 1; i < n; i++)
        sum = arras_add(sum, arras_multiply(input(name_of("x", i), LENGTH), arras_int(g, i)));
    arras_output(g, "y", sum);
    p = compiled(NULL);
    launched(&r, p, n, many);
    for (int i = 0; i < n; i++)
        want += cells[i][7] * (i ? i : 1);
    CHECK_EQ_REAL(result(r, "y")[7], want);
    arras_results_free(r);
    finish(p);
}

static void many_inputs(void)
{
    static const int counts[] = { 50, 200, MANY };

    for (size_t i = 0; i < AR_COUNT(counts); i++) {
        CASE("%d inputs", counts[i]);
        check_sum_of(counts[i]);
    }
}

/* Equal kernels are one, and what is compiled does not depend on how many there are. */
static void many_doubled_arrays(void)
{
    arras_options  options = { .no_cache = true };
    arras_results *r = NULL;
    arras_program *p;

    start();
    bind_many(MANY);
    for (int i = 0; i < MANY; i++)
        arras_output(g, name_of("y", i),
                     arras_multiply(input(name_of("x", i), LENGTH), arras_int(g, 2)));
    p = compiled(&options);
    CHECK_EQ_INT(counters(p).kernels, 1);
    launched(&r, p, MANY, many);
    CHECK_EQ_INT(arras_results_count(r), MANY);
    for (int i = 0; i < MANY; i++)
        CHECK_EQ_REAL(result(r, name_of("y", i))[3], 2 * (i + 3));
    arras_results_free(r);
    finish(p);
}

/* ---- Long programs --------------------------------------------------------------------------- */

/* x + x * 1 + x * 2 + ...: every term is another. */
static void thousand_terms(void)
{
    double         x[3] = { 1, 2, 3 }, y[3];
    arras_options  options = { .no_cache = true };
    arras_array    a, sum;
    arras_program *p;

    start();
    a = sum = input("x", 3);
    for (int i = 1; i < 1000; i++)
        sum = arras_add(sum, arras_multiply(a, arras_int(g, i)));
    arras_output(g, "y", sum);
    p = compiled(&options);
    launched(NULL, p, BINDINGS(VEC("x", x, 3), VEC("y", y, 3)));
    CHECK(same_cells(y, (double[]){ 499501, 999002, 1498503 }, 3));
    finish(p);
}

/* sum of x[i + k]: a thousand reads of one array. */
static void thousand_neighbours(void)
{
    double         x[2000], y[1001], want = 0;
    arras_options  options = { .no_cache = true };
    int64_t        offsets[1000];
    double         weights[1000];
    arras_program *p;

    start();
    for (int i = 0; i < 1000; i++) {
        offsets[i] = i;
        weights[i] = i % 7;
    }
    arras_output(g, "y", arras_stencil(input("x", 2000), 1000, offsets, weights, NULL));
    count_up(x, 2000, 0);
    p = compiled(&options);
    launched(NULL, p, BINDINGS(VEC("x", x, 2000), VEC("y", y, 1001)));
    for (int i = 0; i < 1000; i++)
        want += x[700 + i] * weights[i];
    CHECK_EQ_REAL(y[700], want);
    finish(p);
}

static void deep_chain(bool no_fusion)
{
    double         x[3] = { 1, 2, 3 }, y[3];
    arras_options  options = { .no_cache = true, .no_fusion = no_fusion };
    arras_array    a;
    arras_program *p;

    start();
    a = input("x", 3);
    for (int i = 0; i < 2000; i++)
        a = i % 2 ? arras_add(a, arras_int(g, i % 5)) : arras_negative(a);
    arras_output(g, "y", a);
    p = compiled(&options);
    launched(NULL, p, BINDINGS(VEC("x", x, 3), VEC("y", y, 3)));
    for (int k = 0; k < 3; k++) {
        double want = x[k];

        for (int i = 0; i < 2000; i++)
            want = i % 2 ? want + i % 5 : -want;
        CHECK_EQ_REAL(y[k], want);
    }
    finish(p);
}

static void deep_chains(void)
{
    CASE("fused");
    deep_chain(false);
    CASE("not fused");
    deep_chain(true);
}

/* Each step reads the one before twice: written out it would be 2 to the power 60. */
static void doubled_again_and_again(void)
{
    double         x[2] = { 1, 3 }, y[2];
    arras_array    a;
    arras_program *p;

    start();
    a = input("x", 2);
    for (int i = 0; i < 60; i++)
        a = arras_add(arras_roll(a, 1, (int64_t[]){ 1 }, (int[]){ 0 }), a);
    arras_output(g, "y", a);
    p = compiled(NULL);
    launched(NULL, p, BINDINGS(VEC("x", x, 2), VEC("y", y, 2)));
    CHECK_EQ_REAL(y[0], ldexp(4, 59));
    CHECK_EQ_REAL(y[1], ldexp(4, 59));
    finish(p);
}

/* ---- What is printed ------------------------------------------------------------------------- */

static arras_program *centred(void)
{
    arras_array x = input("x", arras_size(g, "n"));

    arras_output(g, "y", arras_subtract(x, arras_mean(x, 0, NULL, true)));
    return compiled(NULL);
}

static char *printed(const arras_program *p, arras_program_text form)
{
    char  *text = NULL;
    size_t size = 0;

    if (!CHECK_EQ_INT(arras_program_print(&text, &size, p, form, &err), ARRAS_OK))
        printf("    %s\n", err.text);
    else
        CHECK_EQ_INT((int64_t)strlen(text), (int64_t)size);
    return text;
}

static void texts(void)
{
    double         x[1000] = { 0 }, y[1000];
    char          *text = NULL;
    arras_program *p;

    start();
    p = centred();
    text = printed(p, ARRAS_PROGRAM_SOURCE);
    CHECK_HAS(text, "ar_kernel_0");
    arras_text_free(text);
    text = printed(p, ARRAS_PROGRAM_EXPLAIN);
    CHECK_HAS(text, "y");
    arras_text_free(text);
    CHECK_EQ_INT(arras_program_print(&text, NULL, p, ARRAS_PROGRAM_DOT, &err), ARRAS_EINVAL);
    CHECK_HAS(err.text, "launch it first");
    launched(NULL, p, BINDINGS(VEC("x", x, 1000), VEC("y", y, 1000)));
    CHECK_EQ_INT(arras_program_print(&text, NULL, p, ARRAS_PROGRAM_TRACE, &err), ARRAS_EINVAL);
    CHECK_HAS(err.text, "trace");
    text = printed(p, ARRAS_PROGRAM_DOT);
    CHECK_HAS(text, "digraph");
    arras_text_free(text);
    text = printed(p, ARRAS_PROGRAM_EXPLAIN);
    CHECK_HAS(text, "compulsory");
    arras_text_free(text);
    CHECK_EQ_INT(arras_program_print(&text, NULL, p, ARRAS_PROGRAM_TEXT_END, &err), ARRAS_EINVAL);
    finish(p);
}

/* Brackets that fit, strings that end: python3 -m json.tool looks at the rest. */
static void check_json(const char *text)
{
    FILE *python = popen("python3 -m json.tool > /dev/null", "w");

    if (!CHECK(python != NULL))
        return;
    fputs(text, python);
    CHECK_EQ_INT(pclose(python), 0);
}

static void trace(void)
{
    double         x[1000] = { 0 }, y[1000];
    char          *text;
    arras_program *p;

    start();
    p = centred();
    CHECK_EQ_INT(arras_program_trace(p, true, &err), ARRAS_OK);
    for (int i = 0; i < 3; i++) {
        int64_t made = ar_alloc_made();

        launched(NULL, p, BINDINGS(VEC("x", x, 1000), VEC("y", y, 1000)));
        CHECK(i == 0 || ar_alloc_made() == made);
        text = printed(p, ARRAS_PROGRAM_TRACE);
        CHECK_HAS(text, "traceEvents");
        check_json(text);
        arras_text_free(text);
    }
    arras_program_trace(p, false, NULL);
    launched(NULL, p, BINDINGS(VEC("x", x, 1000), VEC("y", y, 1000)));
    finish(p);
}

static void reference_texts(void)
{
    char          *text = NULL;
    arras_program *p;

    start();
    arras_output(g, "y", input("x", 2));
    p = compiled(&(arras_options){ .reference = true });
    for (int form = 0; form < ARRAS_PROGRAM_TEXT_END; form++)
        if (arras_program_print(&text, NULL, p, (arras_program_text)form, &err) == ARRAS_OK)
            arras_text_free(text);
        else
            CHECK_EQ_INT(err.code, ARRAS_EINVAL);
    finish(p);
}

static void counted(void)
{
    double         x[1000] = { 0 }, y[1000];
    arras_counters c;
    arras_program *p;

    start();
    p = centred();
    c = counters(p);
    CHECK(c.nodes > 2 && c.kernels > 0 && c.launches == 0);
    launched(NULL, p, BINDINGS(VEC("x", x, 1000), VEC("y", y, 1000)));
    c = counters(p);
    CHECK(c.tasks >= 2 && c.edges >= 1 && c.launches == 1);
    CHECK(c.bytes_compulsory == 16000);
    CHECK(c.bytes_compulsory <= c.bytes_moved && c.bytes_moved <= c.bytes_before);
    CHECK(c.live <= c.planned && c.planned <= c.temporaries);
    finish(p);
}

TEST_MAIN
{
    RUN(many_inputs);
    RUN(many_doubled_arrays);
    RUN(thousand_terms);
    RUN(thousand_neighbours);
    RUN(deep_chains);
    RUN(doubled_again_and_again);
    RUN(texts);
    RUN(trace);
    RUN(reference_texts);
    RUN(counted);
}
