/* test_lang_program.c -- programs as a whole: names, order, params, what is kept, how long. */
#include "lang_kit.h"

static void add(lang_program *p, const char *text)
{
    lang_error err = { "" };

    if (!CHECK(lang_program_add(p, "program", text, strlen(text), &err)))
        printf("    %s\n", err.text);
}

/* "a b c" */
static const char *list(const lang_program *p, const char *(*at)(const lang_program *, int))
{
    static char text[512];

    text[0] = '\0';
    for (int i = 0; at(p, i); i++) {
        strcat(text, i > 0 ? " " : "");
        strcat(text, at(p, i));
    }
    return text;
}

static void names(void)
{
    static const struct {
        const char *text, *inputs, *outputs, *params;
    } cases[] = {
        { "y = a*b + a", "a b", "y", "" },
        { "y[i] = a[i] + sum[k] b[k]", "a b", "y", "" },
        { "let m = mean(h); y = h - m", "h", "y", "" },
        { "z = y; y = x", "x", "z y", "" },
        { "param n = 3; y = n*x", "x", "y", "n" },
        { "a = 1; b = 2; output b", "", "b", "" },
        { "output m; let m = q", "q", "m", "" },
        { "a = 1; a + x", "x", "a result", "" },
        { "1; x; y", "x y", "result result2 result3", "" },
        { "x; a = y; z", "x y z", "result a result2", "" },
        { "def f(x) = x*s; y = f(t)", "s t", "y", "" },
        { "edge h = wrap; y = 1", "", "y", "" },
        { "edge h = c; y = 1", "", "y", "" },
        { "y = 2*e + pi", "", "y", "" },
        { "x = x + 1", "x", "x", "" }, /* in its own equation it means the input */
        { "x = y; y = x", "", "x y", "" },
        { "y = 2*e[0]", "e", "y", "" },
        { "y = sum(x, axis=all, initial=none)", "x", "y", "" },
        { "y = zeros(3, dtype=f32)", "", "y", "" },
        { "g[p] = particles.x[p]", "particles.x", "g", "" },
    };

    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        lang_program *p = lang_program_new();

        CASE("%s", cases[i].text);
        add(p, cases[i].text);
        CHECK_STR(list(p, lang_program_input), cases[i].inputs);
        CHECK_STR(list(p, lang_program_output), cases[i].outputs);
        CHECK_STR(list(p, lang_program_param), cases[i].params);
        lang_program_free(p);
    }
}

static void order_does_not_matter(void)
{
    GIVES("c = b + 1; b = a + 1; a = 1", "c: i64[] 3; b: i64[] 2; a: i64[] 1");
    GIVES("y[i] = z[i]; z[i] = x[i]", "y: i64[1] 5; z: i64[1] 5", "x=[5]");
    GIVES("y[i] = x[i+1]; edge x = k; let k = 3", "y: i64[1] 3", "x=[1]");
    FAILS("a = b; b = c; c = a", "`a` is defined by itself: a needs b, b needs c, c needs a");
    FAILS("y = a; a = a", "`a` is defined by itself, and there is no input of that name");
    GIVES("x = x + 1; y = x*2", "x: i64[] 4; y: i64[] 8", "x=3");
    GIVES("y = x*2; x[i] = x[i] + 1", "y: i64[1] 8; x: i64[1] 4", "x=[3]");
    /* What no result needs is not looked at. */
    GIVES("let bad = [1] + [1, 2, 3]; y = 1", "y: i64[] 1");
}

static void params(void)
{
    GIVES("param n = 3.5; y = n", "y: f64[] 3.5");
    GIVES("param n = 3.5; y = n", "y: i64[] 4", "-n=4");
    GIVES("param n = 3.5; y = n", "y: f64[] 0.25", "-n=1/4");
    GIVES("param w = 1; y = x*w", "y: i64[2] 3 8", "-w=[3, 4]", "x=[1, 2]");
    FAILS("param rate = 3; y = rate", "the program has no param `rte`; did you mean `rate`?",
          "-rte=4");
    FAILS("let n = 3; y = n", "the program has no param `n`", "-n=4");
    FAILS("param n = 3; y = n", "param n:1:1: the value of a param is a constant", "-n=x");
    FAILS("param n = 3; y = n", "param n:1:3: expected", "-n=4 4");
    FAILS("param n = 3; y = n", "param n:1:1: expected a value, found a statement", "-n=a = 4");
    FAILS("param n = 3; y = n", "param n:1:1: expected a value, found nothing", "-n=");
}

static void outputs_from_outside(void)
{
    static const char   *wanted[] = { "m", "x" };
    static const int64_t length = 2;
    lang_input           input = { "x", ARRAS_F64, 1, &length };
    lang_world           w = { .ninputs = 1, .inputs = &input, .noutputs = 2, .outputs = wanted };
    lang_program        *p = lang_program_new();
    arras_graph         *g = NULL;
    lang_error           err;

    add(p, "let m = sum(x); y = x");
    if (CHECK(lang_lower(&g, p, &w, &err))) {
        CHECK_EQ_INT(arras_output_count(g), 2);
        CHECK_STR(arras_output_name(g, 0), "m");
        arras_graph_free(g);
    }
    wanted[0] = "mm";
    g = NULL;
    CHECK(!lang_lower(&g, p, &w, &err));
    CHECK(g == NULL);
    CHECK_HAS(err.text, "does not define the output `mm`; did you mean `m`?");
    lang_program_free(p);
}

static void missing_inputs(void)
{
    lang_program *p = lang_program_new();
    lang_error    err;

    add(p, "let height = 3\ny[i] = h[i,j] + heigth");
    lang_program_missing(p, "h", "give it", &err);
    CHECK_STR(err.text, "program:2:8: `h` is neither defined nor given: give it\n"
                        "    2 | y[i] = h[i,j] + heigth\n"
                        "      |        ^");
    lang_program_missing(p, "heigth", "give it", &err);
    CHECK_HAS(err.text,
              "program:2:17: `heigth` is neither defined nor given; did you mean `height`?");
    lang_program_missing(p, "j", "give it", &err);
    CHECK_HAS(err.text, "an index stands on the left, y[j] = ..., or in a reduction, sum[j] ...");
    lang_program_missing(p, "nowhere", "give it", &err);
    CHECK_STR(err.text, "`nowhere` is neither defined nor given: give it");
    lang_program_free(p);
}

static const char *lower_now(const lang_program *p)
{
    world w = { 0 };

    nshown = 0;
    shown[0] = '\0';
    lower_and_run(p, &w);
    return shown;
}

static void sessions(void)
{
    lang_program *p = lang_program_new();
    lang_error    err;

    add(p, "let a = 1; param n = 2; def f(x) = x + a; y = f(n)");
    CHECK_STR(lower_now(p), "y: i64[] 3");
    lang_program_forget_results(p);
    CHECK(lang_program_output(p, 0) == NULL);
    add(p, "f(n)*10");
    CHECK_STR(lower_now(p), "result: i64[] 30");
    /* A later definition replaces an earlier one. */
    add(p, "let a = 5");
    CHECK_STR(lower_now(p), "result: i64[] 70");
    add(p, "def f(x) = x; a = 3");
    CHECK_STR(lower_now(p), "result: i64[] 20; a: i64[] 3");
    /* What is refused changes nothing. */
    CHECK(!lang_program_add(p, "program", "a = 9; b = (", 12, &err));
    CHECK(!lang_program_add(p, "program", "a = 9; a = 9", 12, &err));
    CHECK_STR(lower_now(p), "result: i64[] 20; a: i64[] 3");
    lang_program_forget_results(p);
    CHECK_STR(list(p, lang_program_param), "n");
    lang_program_free(p);
    lang_program_free(NULL);
}

static void taking_back(void)
{
    lang_program *p = lang_program_new();

    add(p, "let a = 5; edge x = wrap; param n = 2");
    add(p, "a = a + n; def f(x) = x; edge x = 0; param n = 3");
    CHECK_STR(list(p, lang_program_renewed), "a");
    CHECK_STR(list(p, lang_program_input), "a");
    lang_program_forget_results(p);
    lang_program_undo(p);
    CHECK_STR(list(p, lang_program_renewed), "");
    add(p, "a*n");
    CHECK_STR(list(p, lang_program_renewed), "");
    CHECK_STR(lower_now(p), "result: i64[] 10");
    lang_program_undo(p);
    CHECK(lang_program_output(p, 0) == NULL);
    CHECK(!lang_program_reads(p, "a"));
    add(p, "a = 2*e + x");
    CHECK_STR(list(p, lang_program_input), "x");
    CHECK(lang_program_reads(p, "x"));
    CHECK(lang_program_reads(p, "e"));
    CHECK(!lang_program_reads(p, "n"));
    lang_program_free(p);
}

static void nothing_to_take_back(void)
{
    lang_program *p = lang_program_new();

    lang_program_undo(p);
    CHECK(lang_program_input(p, 0) == NULL);
    lang_program_free(p);
    lang_program_free(NULL);
}

static void constants(void)
{
    static const struct {
        const char *text, *want;
    } cases[] = {
        { "3.5", "f64[] 3.5" },
        { " [1, 2, 3]\n", "i64[3] 1 2 3" },
        { "1+2j", "c128[] 1+2j" },
        { "f32([[1], [2]])", "f32[2, 1] 1 2" },
        { "arange(3)*2", "i64[3] 0 2 4" },
        { "x", "error: text:1:1: a constant has no names in it, but here is `x`" },
        { "1 +", "error: text:1:4: expected a number" },
        { "1; 2", "error: text:1:4: expected one value and nothing more" },
        { "zeros(10**9)", "error: text:1:1: a constant takes too much work" },
        { "", "error: text:1:1: expected a value, found nothing" },
        { "y = 2", "error: text:1:1: expected a value, found a statement" },
    };

    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        arras_buffer b = { 0 };
        int64_t      shape[ARRAS_MAX_RANK];
        lang_error   err;

        CASE("%s", cases[i].text);
        nshown = 0;
        if (lang_constant(&b.data, &b.dtype, &b.rank, shape, "text", cases[i].text,
                          strlen(cases[i].text), &err)) {
            b.shape = shape;
            show_array(&b);
            free(b.data);
        } else {
            show("error: %s", err.text);
        }
        CHECK(strncmp(shown, cases[i].want, strlen(cases[i].want)) == 0);
    }
}

/* ---- Long programs: fast, or a clear error --------------------------------------------------- */

typedef struct {
    char  *text;
    size_t length, room;
} long_text;

__attribute__((format(printf, 2, 3))) static void put(long_text *t, const char *format, ...)
{
    va_list args;

    if (t->room - t->length < 256)
        t->text = realloc(t->text, t->room = 2 * t->room + 4096);
    va_start(args, format);
    t->length += (size_t)vsnprintf(t->text + t->length, t->room - t->length, format, args);
    va_end(args);
}

static void long_programs(void)
{
    enum { LINES = 10000 };
    long_text t = { 0 };

    CASE("a chain of %d equations, the last one first", LINES);
    put(&t, "output x0\n");
    for (int i = 0; i < LINES; i++)
        put(&t, "x%d[i] = x%d[i] + 1\n", i, i + 1);
    CHECK_STR(outcome(t.text, INPUTS("x10000=[1, 2]")), "x0: i64[2] 10001 10002");

    CASE("a circle of %d", LINES);
    put(&t, "x%d = x0", LINES);
    CHECK_HAS(outcome(t.text, INPUTS("z=1")),
              "`x0` is defined by itself: x0 needs x1, x1 needs x2");

    CASE("a chain of %d names of numbers", LINES);
    t.length = 0;
    for (int i = 0; i < LINES; i++)
        put(&t, "let n%d = n%d + 1\n", i, i + 1);
    put(&t, "let n%d = 1; y = n0", LINES);
    CHECK_STR(outcome(t.text, INPUTS("z=1")), "y: i64[] 10001");

    CASE("a line of a megabyte");
    t.length = 0;
    put(&t, "y = sum([");
    for (int i = 0; i < 250000; i++)
        put(&t, "1.5,");
    put(&t, "1])");
    CHECK_STR(outcome(t.text, INPUTS("z=1")), "y: f64[] 375001");

    CASE("functions that double one another");
    t.length = 0;
    put(&t, "def g0(x) = x\n");
    for (int i = 0; i < 50; i++)
        put(&t, "def g%d(x) = g%d(x) + g%d(x)\n", i + 1, i, i);
    put(&t, "y = g50(x)");
    CHECK_STR(outcome(t.text, INPUTS("x=[1]")), "y: i64[1] 1125899906842624");
    put(&t, "*0\nz[i] = g50(x[i])");
    CHECK_HAS(outcome(t.text, INPUTS("x=[1]")), "functions are written out to more than");

    CASE("functions that call one another");
    t.length = 0;
    put(&t, "def g0(x) = x\n");
    for (int i = 0; i < LINES; i++)
        put(&t, "def g%d(x) = g%d(x)\n", i + 1, i);
    put(&t, "y = g%d(1)", LINES);
    CHECK_HAS(outcome(t.text, INPUTS("x=1")), "functions call one another more than 100 deep");
    free(t.text);
}

TEST_MAIN
{
    RUN(names);
    RUN(order_does_not_matter);
    RUN(params);
    RUN(outputs_from_outside);
    RUN(missing_inputs);
    RUN(sessions);
    RUN(taking_back);
    RUN(nothing_to_take_back);
    RUN(constants);
    RUN(long_programs);
}
