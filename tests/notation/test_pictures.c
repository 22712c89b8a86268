/* test_pictures.c -- programs as pictures and in numbers. */
#include "notation/notation.h"
#include "test.h"
#include "text_programs.h"

#include <stdlib.h>

static arras_graph *read_program(const char *text)
{
    arras_graph *g = NULL;
    arras_error  err = { ARRAS_OK, "" };

    if (!CHECK(ar_read(&g, text, strlen(text), &err) == ARRAS_OK))
        printf("    %s\n", err.text);
    return g;
}

/* ---- Pictures
 * ------------------------------------------------------------------------------------------ */

static char *drawn(const char *program)
{
    arras_graph *g = read_program(program);
    ar_text      text = { 0 };

    CHECK(g && ar_dot(&text, g, NULL) == ARRAS_OK);
    ar_graph_free(g);
    return text.data;
}

static void a_picture_has_boxes_and_arrows(void)
{
    char *dot = drawn("arras 1\n"
                      "input x : f64[3]\n"
                      "input unused : i8[]\n"
                      "%0 = const real 2.5\n"
                      "%1 = multiply(x, %0)\n"
                      "output y = %1\n");

    CHECK_HAS(dot, "digraph arras {");
    CHECK_HAS(dot, "s0_0 [shape=ellipse, ");
    CHECK_HAS(dot,
              "label=<<b>x</b><br/><font point-size=\"10\" color=\"#55606c\">f64[3]</font>>];");
    CHECK_HAS(dot, "<b>unused</b>");
    CHECK_HAS(dot, "<b>2.5</b>");
    CHECK_HAS(dot, "%1</font> <b>multiply</b>");
    CHECK_HAS(dot, "s0_0 -> s0_3;");
    CHECK_HAS(dot, "s0_2 -> s0_3;");
    CHECK_HAS(dot, "s0_output0 [shape=invhouse, ");
    CHECK_HAS(dot, "s0_3 -> s0_output0;");
    ar_free(dot);
}

static void functions_have_frames(void)
{
    char *dot = drawn("arras 1\n"
                      "size n\n"
                      "input x : f64[3]\n"
                      "function never_called(u : f64[n]) {\n result r = u\n}\n"
                      "function f(u : f64[n]) {\n %0 = sin(u)\n result r = %0\n}\n"
                      "%0 = call f(x)\n"
                      "%1 = result(%0, r)\n"
                      "output y = %1\n");

    CHECK_HAS(dot, "subgraph cluster_1 {");
    CHECK_HAS(dot, "label=<function <b>f</b>>;");
    CHECK_HAS(dot, "s2_0 -> s2_1;");
    CHECK_HAS(dot, "s2_1 -> s2_result0;");
    CHECK(!strstr(dot, "never_called"));
    ar_free(dot);
}

static void labels_are_escaped_and_cut(void)
{
    char *dot = drawn(
        "arras 1\n"
        "input x : f64[3]\n"
        "%0 = einsum(\"i,i->i\", x, x)\n"
        "%1 = lambda(%0) { add(add(add(add(add(add(add(i0, 1), 2), 3), 4), 5), 6), 7) } : i64[3]\n"
        "output y = %1\n");

    CHECK_HAS(dot, "&quot;a,a-&gt;a&quot;, x, x");
    CHECK_HAS(dot, "(%0) { add(add(add(add(add(add(add(i0, 1), 2), 3), 4), 5 ...<");
    ar_free(dot);
}

/* Graphviz itself is asked, where it is installed. */
static void graphviz_takes_the_pictures(void)
{
    if (system("dot -V 2>/dev/null") != 0) {
        printf("    skipped: Graphviz is not installed\n");
        CHECK(true);
        return;
    }
    for (size_t i = 0; i < AR_COUNT(programs); i++) {
        char *dot;
        FILE *pipe;

        CASE("%s", programs[i].name);
        dot = drawn(programs[i].text);
        pipe = popen("dot -Tcanon -o /dev/null", "w");
        if (CHECK(dot && pipe)) {
            fputs(dot, pipe);
            CHECK_EQ_INT(pclose(pipe), 0);
        }
        ar_free(dot);
    }
}

/* ---- Numbers
 * ------------------------------------------------------------------------------------------- */

#define X "input x : f64[4, 5]\ninput n : f32[rows, 5]\n"

/* Rows have the program behind the declarations of X, and what is counted. */
static const struct {
    const char   *program;
    arras_summary want;
} counts[] = {
    { "output y = x", { 1, 1, 1, 0, 160, 160, 0, false } },
    { "%0 = add(x, x)\noutput y = %0", { 2, 2, 1, 20, 160, 160, 0, false } },
    { "%0 = fma(x, x, x)\n%1 = sin(%0)\noutput y = %1", { 3, 3, 1, 60, 160, 160, 160, false } },
    /* an untyped number is 8 bytes between */
    { "%0 = const real 2\n%1 = add(x, %0)\noutput y = %1", { 3, 2, 2, 20, 160, 160, 8, false } },
    { "%0 = data f32[2] { 1, 2 }\noutput y = %0", { 1, 1, 1, 0, 8, 8, 0, false } },
    /* a reduction takes an operation for each cell it reads, whatever is left */
    { "%0 = sum(x, axes=[0])\noutput y = %0", { 2, 2, 1, 20, 160, 40, 0, false } },
    { "%0 = sum(x)\n%1 = max(x)\noutput y = %0\noutput z = %1",
      { 3, 2, 2, 40, 160, 16, 0, false } },
    /* products: 4*5*4 cells, a multiplication and an addition each; then multiplications only */
    { "%0 = einsum(\"ij,kj->ik\", x, x)\noutput y = %0", { 2, 2, 1, 160, 160, 128, 0, false } },
    { "%0 = einsum(\"ij,ij->ij\", x, x)\noutput y = %0", { 2, 2, 1, 20, 160, 160, 0, false } },
    { "%0 = einsum(\"ij->ji\", x)\noutput y = %0", { 2, 2, 1, 0, 160, 160, 0, false } },
    { "%0 = data f64[3] { 1, 2, 3 }\n%1 = data i32[3] { 0, 1, 2 }\n%2 = data i32[3] { 0, 1, 3 }\n"
      "%3 = csr_matmul(%0, %1, %2, x)\noutput y = %3",
      { 5, 2, 4, 30, 208, 80, 0, false } },
    /* what moves costs no operations, but bytes */
    { "%0 = permute(x, axes=[1, 0])\n%1 = cast(%0, f32)\noutput y = %1",
      { 3, 3, 1, 0, 160, 80, 160, false } },
    /* a lambda: each operation once a cell; indices are free */
    { "%0 = lambda(x) { multiply(_0[i0, add(i1, 1) wrap], 2.0) } : f64[4, 5]\noutput y = %0",
      { 2, 2, 1, 20, 160, 160, 0, false } },
    { "%0 = lambda(x) { $0 = sin(_0[i0, 0]); add($0, $0) } : f64[4]\noutput y = %0",
      { 2, 2, 1, 8, 160, 32, 0, false } },
    /* a reduction within takes its steps; 3 sums and 3 * 2 products in each of 4 cells */
    { "%0 = lambda(x) { sum[k: 1, 4](multiply(2.0, multiply(2.0, _0[i0, k]))) } : f64[4]\noutput y "
      "= %0",
      { 2, 2, 1, 36, 160, 32, 0, false } },
    { "%0 = lambda(x) { sum[k: 0, size(rows)](_0[i0, k]) } : f64[4]\noutput y = %0",
      { 2, 2, 1, 4, 160, 32, 0, false } },
    { "%0 = lambda(x) { sum[k: 4, 1](_0[i0, k]) } : f64[4]\noutput y = %0",
      { 2, 2, 1, 0, 160, 32, 0, false } },
    /* symbolic nodes are left out and said so */
    { "%0 = sin(n)\n%1 = sin(x)\noutput y = %0\noutput z = %1",
      { 4, 2, 2, 20, 160, 160, 0, true } },
    { "%0 = sum(n, axes=[0])\noutput y = %0", { 2, 2, 1, 0, 0, 20, 0, true } },
    /* a body is counted once, its operations at every call; results lie with the caller */
    { "function f(u : f64[4, 5]) {\n %0 = sin(u)\n %1 = cos(%0)\n result r = %1\n}\n"
      "%0 = call f(x)\n%1 = result(%0, r)\n%2 = call f(%1)\n%3 = result(%2, r)\noutput y = %3",
      { 8, 5, 1, 80, 160, 160, 480, false } },
    /* more than fits is as much as fits */
    { "%0 = lambda() { 1 } : i64[500000000000000000]\n%1 = add(%0, %0)\n%2 = add(%1, %1)\n"
      "%3 = add(%2, %2)\noutput y = %3",
      { 4, 4, 1, 1500000000000000000, 0, 4000000000000000000, INT64_MAX, false } },
    { "%0 = lambda() { sum[k: -9223372036854775808, 9223372036854775807](k) } : i64[4]\noutput y = "
      "%0",
      { 1, 1, 1, INT64_MAX, 0, 32, 0, false } },
};

static void programs_in_numbers(void)
{
    for (size_t i = 0; i < AR_COUNT(counts); i++) {
        ar_text       text = { 0 };
        arras_graph  *g;
        arras_summary s = { 0 };

        CASE("%.100s", counts[i].program);
        ar_text_printf(&text, "arras 1\nsize rows\n" X "%s\n", counts[i].program);
        if ((g = read_program(text.data))) {
            CHECK_EQ_INT(ar_summarize(&s, g, NULL), ARRAS_OK);
            CHECK_EQ_INT(s.nodes, counts[i].want.nodes);
            CHECK_EQ_INT(s.depth, counts[i].want.depth);
            CHECK_EQ_INT(s.width, counts[i].want.width);
            CHECK_EQ_INT(s.flops, counts[i].want.flops);
            CHECK_EQ_INT(s.bytes_in, counts[i].want.bytes_in);
            CHECK_EQ_INT(s.bytes_out, counts[i].want.bytes_out);
            CHECK_EQ_INT(s.bytes_between, counts[i].want.bytes_between);
            CHECK_EQ_INT(s.symbolic, counts[i].want.symbolic);
        }
        ar_graph_free(g);
        ar_text_free(&text);
    }
}

static char *summary_of(const arras_graph *g)
{
    ar_text text = { 0 };

    CHECK_EQ_INT(ar_summary_print(&text, g, NULL), ARRAS_OK);
    return text.data;
}

static void a_summary_for_people(void)
{
    arras_graph *g = read_program("arras 1\n"
                                  "input x : f64[1000, 2]\n"
                                  "%0 = const real 2.5\n"
                                  "%1 = multiply(x, %0)\n"
                                  "%2 = add(%1, x)\n"
                                  "%3 = add(%2, x)\n"
                                  "%4 = sum(%3, axes=[0])\n"
                                  "output y = %4\n");
    char        *text = summary_of(g);

    CHECK_STR(text, "6 nodes, 5 levels, at most 2 wide\n"
                    "\n"
                    "  input                 1\n"
                    "  const                 1\n"
                    "  map                   3   add 2, multiply 1\n"
                    "  reduce                1   sum 1\n"
                    "\n"
                    "  inputs and data   15.6 KiB (16000)\n"
                    "  outputs           16 bytes\n"
                    "  in between        46.8 KiB (48008)\n"
                    "  operations        8.0 thousand (8000)\n"
                    "\n"
                    "  level             nodes\n"
                    "  1                     2  ##\n"
                    "  2                     1  #\n"
                    "  3                     1  #\n"
                    "  4                     1  #\n"
                    "  5                     1  #\n");
    ar_free(text);
    ar_graph_free(g);
}

/* Many levels share rows, and wide ones have bars that fit a line. */
static void a_summary_is_short(void)
{
    arras_graph *g = NULL;
    arras_array  x, xs[200];
    char        *text;

    CHECK_EQ_INT(ar_graph_new(&g, NULL), ARRAS_OK);
    x = ar_input(g, "x", ARRAS_F64, 0, NULL);
    for (int i = 0; i < 200; i++) {
        arras_array c = ar_const(g, (ar_type){ ARRAS_F64, true }, (ar_value){ .f = i });

        xs[i] = ar_map(AR_OP_add, 2, (arras_array[]){ x, c });
    }
    x = ar_stack(200, xs, 0);
    for (int i = 0; i < 98; i++)
        x = ar_map(AR_OP_sin, 1, &x);
    ar_graph_output_add(g, "y", x);
    text = summary_of(g);
    CHECK_HAS(text, "500 nodes, 101 levels, at most 201 wide\n");
    CHECK_HAS(text,
              "\n  1-6                 201  ##################################################\n");
    CHECK_HAS(text, "\n  7-12                  1  #\n");
    CHECK_HAS(text, "\n  97-101                1  #\n");
    ar_free(text);
    ar_graph_free(g);
}

TEST_MAIN
{
    RUN(a_picture_has_boxes_and_arrows);
    RUN(functions_have_frames);
    RUN(labels_are_escaped_and_cut);
    RUN(graphviz_takes_the_pictures);
    RUN(programs_in_numbers);
    RUN(a_summary_for_people);
    RUN(a_summary_is_short);
}
