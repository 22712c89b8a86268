/* test_lang_functions.c -- the table of functions, and functions of the program. */
#include "lang_kit.h"

static void elementwise(void)
{
    /* Every operation can be called by its name, over arrays and over cells, with one meaning. */
    for (int op = 0; op < arras_op_count(); op++) {
        const arras_op_info *info = arras_op_get(op);
        static const char   *whole[] = { "", "(x)", "(x, x)", "(x, x, x)" };
        static const char   *cell[] = { "", "(x[i])", "(x[i], x[i])", "(x[i], x[i], x[i])" };
        char                 program[128], first[256];

        snprintf(program, sizeof program, "y = %s%s", info->name, whole[info->arity]);
        CASE("%s", program);
        snprintf(first, sizeof first, "%s", outcome(program, INPUTS("x=u8([1, 0, 1])")));
        snprintf(program, sizeof program, "y[i] = %s%s", info->name, cell[info->arity]);
        if (strncmp(first, "y: ", 3) == 0)
            CHECK_STR(outcome(program, INPUTS("x=u8([1, 0, 1])")), first);
        else
            CHECK_HAS(outcome(program, INPUTS("x=u8([1, 0, 1])")), "is not defined for u8");
    }
}

static void casts(void)
{
    GIVES("f32(1.5)", "result: f32[] 1.5");
    GIVES("bool([0, 2])", "result: bool[2] false true");
    GIVES("i64(2.9) + u8(3)", "result: i64[] 5");
    GIVES("y[i] = c64(x[i])", "y: c64[1] 1+0j", "x=[1]");
}

static void reductions(void)
{
    GIVES("sum(x)", "result: i64[] 10", "x=[[1, 2], [3, 4]]");
    GIVES("sum(x, 0)", "result: i64[2] 4 6", "x=[[1, 2], [3, 4]]");
    GIVES("sum(x, axis=-1)", "result: i64[2] 3 7", "x=[[1, 2], [3, 4]]");
    GIVES("sum(x, axis=[0, 1], keepdims=true)", "result: i64[1, 1] 10", "x=[[1, 2], [3, 4]]");
    GIVES("sum(x, axis=all)", "result: i64[] 10", "x=[[1, 2], [3, 4]]");
    GIVES("sum(x, initial=5)", "result: i64[] 15", "x=[[1, 2], [3, 4]]");
    GIVES("[max(x), min(x), prod(x), argmax(x), argmin(x)]", "result: i64[5] 4 1 24 3 0",
          "x=[[1, 2], [3, 4]]");
    GIVES("[count(x), count_nonzero(x)]", "result: i64[2] 2 2", "x=[0, 1, 5]");
    GIVES("[all(x), any(x)]", "result: bool[2] false true", "x=[0, 1]");
    GIVES("[mean(x), var(x), std(x)]", "result: f64[3] 2 4 2", "x=[0, 4, 0, 4]");
    GIVES("var(x, ddof=1)", "result: f64[] 2", "x=[1, 3]");
    GIVES("mean(x, axis=0)", "result: f64[2] 2 3", "x=[[1, 2], [3, 4]]");
    FAILS("sum(x, axis=2)", "program:1:1: ", "x=[1]");
    FAILS("sum(x, axs=0)", "no parameter is called `axs`; did you mean `axis`?: sum(x, axis=all",
          "x=[1]");
    FAILS("sum(x, 0, true, 1, 2)", "more arguments than parameters", "x=[1]");
    FAILS("sum()", "an argument is missing: sum(x", "x=[1]");
    FAILS("sum(x, x=x)", "an argument is given twice", "x=[1]");
    FAILS("sum(x, keepdims=1)", "`keepdims` of sum must be true or false", "x=[1]");
}

static void from_nothing(void)
{
    GIVES("zeros(2)", "result: f64[2] 0 0");
    GIVES("ones([1, 2], dtype=u8)", "result: u8[1, 2] 1 1");
    GIVES("full([2], 7)", "result: i64[2] 7 7");
    GIVES("eye(2)", "result: f64[2, 2] 1 0 0 1");
    GIVES("eye(1, 3, 1, i64)", "result: i64[1, 3] 0 1 0");
    GIVES("arange(3)", "result: i64[3] 0 1 2");
    GIVES("arange(3, 0, -1)", "result: i64[3] 3 2 1");
    GIVES("arange(0, 1, 0.5)", "result: f64[2] 0 0.5");
    GIVES("linspace(0, 1, 3)", "result: f64[3] 0 0.5 1");
    GIVES("linspace(0, 1, 2, endpoint=false)", "result: f64[2] 0 0.5");
    GIVES("size(linspace(0, 1))", "result: i64[] 50");
    GIVES("index_array([2, 2], 1)", "result: i64[2, 2] 0 1 0 1");
    FAILS("zeros(-1)", "program:1:1: ");
    FAILS("zeros([2.5])", "`shape` of zeros must be an integer or a list of integers");
    FAILS("arange(x)", "must be known before the program runs", "x=3");
    FAILS("zeros(2, dtype=f16)", "a type is needed here", "f16=1");
}

static void sizes(void)
{
    GIVES("[size(x), size(x, 0), size(x, -1), rank(x)]", "result: i64[4] 6 2 3 2",
          "x=[[1, 2, 3], [4, 5, 6]]");
    GIVES("shape(x)", "result: i64[2] 2 3", "x=[[1, 2, 3], [4, 5, 6]]");
    GIVES("reshape(y, shape(x))", "result: i64[2, 1] 1 2", "x=[[1], [2]]", "y=[1, 2]");
    GIVES("y = zeros(size(x, axis=1), i8)", "y: i8[3] 0 0 0", "x=[[1, 2, 3]]");
    FAILS("size(x, 2)", "axis 2 of an array with 1 axis", "x=[1]");
}

static void products(void)
{
    GIVES("einsum(\"ij,jk->ik\", a, a)", "result: i64[2, 2] 7 10 15 22", "a=[[1, 2], [3, 4]]");
    GIVES("einsum(\"ij->ji\", a)", "result: i64[2, 2] 1 3 2 4", "a=[[1, 2], [3, 4]]");
    GIVES("matmul(a, a)", "result: i64[2, 2] 7 10 15 22", "a=[[1, 2], [3, 4]]");
    GIVES("[dot(x, x), vdot(x, x)]", "result: i64[2] 5 5", "x=[1, 2]");
    GIVES("outer(x, x)", "result: i64[2, 2] 1 2 2 4", "x=[1, 2]");
    GIVES("csr_matmul(v, c, s, x)", "result: i64[2] 21 10", "v=[1, 2, 1]", "c=[0, 1, 1]",
          "s=[0, 2, 3]", "x=[1, 10]");
    FAILS("einsum(\"ij,jk\", a)", "program:1:1: ", "a=[[1]]");
    FAILS("einsum(\"ij\")", "it needs an array for each part");
    FAILS("einsum(a, a)", "`spec` of einsum must be a text", "a=[[1]]");
    FAILS("a @ b", "program:1:1: ", "a=[1]", "b=[1, 2]");
}

static void movement(void)
{
    GIVES("stack([x, x], axis=1)", "result: i64[2, 2] 1 1 2 2", "x=[1, 2]");
    GIVES("concatenate([x, x])", "result: i64[4] 1 2 1 2", "x=[1, 2]");
    GIVES("roll(x, 1)", "result: i64[3] 3 1 2", "x=[1, 2, 3]");
    GIVES("roll(a, 1)", "result: i64[2, 2] 4 1 2 3", "a=[[1, 2], [3, 4]]");
    GIVES("roll(a, 1, axis=0)", "result: i64[2, 2] 3 4 1 2", "a=[[1, 2], [3, 4]]");
    GIVES("roll(a, [1, 1], axis=[0, 1])", "result: i64[2, 2] 4 3 2 1", "a=[[1, 2], [3, 4]]");
    GIVES("roll(x, 3)", "result: f64[0]", "x=[]");
    GIVES("permute(a)", "result: i64[2, 1] 1 2", "a=[[1, 2]]");
    GIVES("permute(a, [1, 0])", "result: i64[2, 1] 1 2", "a=[[1, 2]]");
    GIVES("reshape(x, [2, -1])", "result: i64[2, 2] 1 2 3 4", "x=[1, 2, 3, 4]");
    GIVES("reshape(x, [2, 2], order=\"F\")", "result: i64[2, 2] 1 3 2 4", "x=[1, 2, 3, 4]");
    GIVES("broadcast_to(x, [2, 2])", "result: i64[2, 2] 1 2 1 2", "x=[1, 2]");
    GIVES("squeeze(a)", "result: i64[2] 1 2", "a=[[1, 2]]");
    GIVES("expand_dims(x, 0)", "result: i64[1, 2] 1 2", "x=[1, 2]");
    GIVES("flip(x)", "result: i64[2] 2 1", "x=[1, 2]");
    GIVES("tile(x, 2)", "result: i64[4] 1 2 1 2", "x=[1, 2]");
    GIVES("repeat(x, 2, axis=0)", "result: i64[4] 1 1 2 2", "x=[1, 2]");
    GIVES("pad(x, 1)", "result: i64[4] 0 1 2 0", "x=[1, 2]");
    GIVES("pad(x, [1, 0], fill=9)", "result: i64[3] 9 1 2", "x=[1, 2]");
    GIVES("pad(a, [[1, 0], [0, 1]], mode=\"edge\")", "result: i64[2, 3] 1 2 2 1 2 2", "a=[[1, 2]]");
    GIVES("clip(x, 1, 2)", "result: i64[3] 1 1 2", "x=[0, 1, 5]");
    GIVES("clip(x, none, 2)", "result: i64[3] 0 1 2", "x=[0, 1, 5]");
    GIVES("stencil(x, [-1, 1], [1, 1])", "result: f64[1] 4", "x=[1.0, 2, 3]");
    GIVES("stencil(x, [-1, 1], [1, 1], edge=\"wrap\")", "result: f64[3] 5 4 3", "x=[1.0, 2, 3]");
    GIVES("stencil(a, [[0, -1]], 2, edge=[\"wrap\", 0])", "result: f64[1, 2] 0 2", "a=[[1.0, 2]]");
    GIVES("neighbours(x, [0, 1], edge=\"nearest\")", "result: i64[2, 2] 1 2 2 2", "x=[1, 2]");
    FAILS("stack(x, x)", "`arrays` of stack must be a list of arrays", "x=[1]");
    FAILS("roll(x, [1, 2])", "it needs one shift, or one per axis", "x=[1]");
    FAILS("roll(x, none)", "this argument can't be left out", "x=[1]");
    FAILS("reshape(x, [3])", "program:1:1: ", "x=[1]");
    FAILS("reshape(x, 1, \"A\")", "the order is \"C\" or \"F\"", "x=[1]");
    FAILS("mean(x, axis=7)", "axis 7 of an array of rank 0, which has no axes", "x=1");
    FAILS("pad(x, -1)", "must be 0 to 1152921504606846975", "x=[1]");
    FAILS("pad(x, 1152921504606846976)", "must be 0 to 1152921504606846975", "x=[1]");
    FAILS("pad(x, [1, 2, 3])", "it needs one width", "x=[1]");
    FAILS("pad(x, 1, \"mirror\")", "the mode is \"constant\"", "x=[1]");
    GIVES("stencil(x, [-1, 1], [1, 1], edge=wrap)", "result: f64[3] 5 4 3", "x=[1.0, 2, 3]");
    GIVES("stencil(a, [[0, -1]], 2, edge=[wrap, 0])", "result: f64[1, 2] 0 2", "a=[[1.0, 2]]");
    GIVES("wrap + stencil(wrap, 1, 1, edge=wrap)", "result: f64[2] 3 3", "wrap=[1.0, 2]");
    FAILS("stencil(x, 1, 1, edge=up)", "`edge` of stencil must be none, nearest, reflect",
          "x=[1.0, 2]");
    FAILS("stencil(x, [-1, 1], [1])", "one weight for each offset", "x=[1.0, 2]");
    FAILS("stencil(x, 1, 1, edge=\"up\")", "`edge` of stencil must be none, nearest", "x=[1.0, 2]");
}

static void unknown(void)
{
    FAILS("sinn(1)", "program:1:1: unknown function `sinn`; did you mean `sin`?\n"
                     "    1 | sinn(1)\n      | ^~~~");
    FAILS("transpose(x)", "did you mean `permute`?", "x=1");
    FAILS("float(x)", "did you mean `f64`?", "x=1");
    FAILS("int(x)", "did you mean `i64`?", "x=1");
    FAILS("np.arctan2(x, 1)", "did you mean `atan2`?", "x=1");
    FAILS("median(x)", "unknown function `median`; cells are not sorted here", "x=1");
    FAILS("sort(x)", "cells are not sorted here", "x=1");
    FAILS("np.random.rand(3)", "there are no random numbers", "x=1");
    FAILS("gradient(x)", "write edge x = nearest; g[i] = (x[i+1] - x[i-1])/2", "x=1");
    FAILS("cumprod(x)", "write y[i:size(x)] = prod[k:0:i+1] x[k]", "x=1");
    FAILS("cumsum(x)", "did you mean `cumulative_sum`", "x=1");
    GIVES("y[i:size(x)] = sum[k:0:i+1] x[k]", "y: i64[3] 1 3 8", "x=[1, 2, 5]");
    FAILS("x + np.pi", "unknown name `np.pi`; did you mean `pi`?", "x=1");
    FAILS("x + sin", "unknown name `sin`; `sin` is a function: sin(x)", "x=1");
    FAILS("x(1)", "`x` is an array, not a function; its cells are x[...]", "x=1");
    FAILS("def smooth(a) = a; y = smoth(1)", "did you mean `smooth`?");
    FAILS("qqqqqq(1)", "unknown function `qqqqqq`\n");
}

static void definitions(void)
{
    GIVES("def f(x, y) = x*x + y; z = f(a, 2)", "z: f32[2] 3 6", "a=f32([1, 2])");
    GIVES("def f(x, y) = x*x + y; z[i] = f(a[i], a[0])", "z: i64[2] 2 5", "a=[1, 2]");
    GIVES("z = f(3); def f(x) = g(x) + 1; def g(x) = 2*x", "z: i64[] 7");
    GIVES("def f(x, y) = x - y; z = f(y=1, x=5)", "z: i64[] 4");
    GIVES("def f() = 4; z = f()", "z: i64[] 4");
    GIVES("def f(x) = x*s; z = f(a); w[i] = f(a[i])", "z: i64[1] 6; w: i64[1] 6", "a=[2]", "s=3");
    GIVES("def row(m, i) = sum[k] m[i,k]; z[i] = row(a, i) + 0*a[i,0]", "z: i64[2] 3 7",
          "a=[[1, 2], [3, 4]]");
    GIVES("def at(g, t) = g[floor(t)]; z[p] = at(g, x[p])", "z: i64[2] 10 30", "g=[10, 20, 30]",
          "x=[0.5, 2.5]");
    GIVES("def n(x) = size(x)*2; y[i:n(x)] = i", "y: i64[4] 0 1 2 3", "x=[5, 6]");
    GIVES("def tall(x, n) = reshape(x, [n, -1]); y = tall(x, 1 + 1)", "y: i64[2, 1] 5 6",
          "x=[5, 6]");
    GIVES("def centre(x) = x - mean(x); y = centre(x) + centre(x + 1)", "y: f64[2] -1 1",
          "x=[1, 2]");
    FAILS("def f(x) = x; z = f(1, 2)", "`f` takes 1 argument, not 2");
    FAILS("def f(x) = x; z = f(y=2)", "`f` has no parameter `y`");
    FAILS("def f(x, y) = x; z = f(1, x=2)", "`f` is given `x` twice");
    FAILS("def f(x) = f(x); z = f(1)", "the function `f` calls itself: f needs f");
    FAILS("def f(x) = g(x); def g(x) = f(x); z = f(1)",
          "the function `f` calls itself: f needs g, g needs f");
    FAILS("def f(x) = y; z = f(1)", "unknown name `y`");
}

/* A function of whole arrays is one function of the graph for each signature. */
static void functions_of_the_graph(void)
{
    static const char text[] = "def f(x, k) = x*k + 1\n"
                               "y = f(a, 2) + f(a, 2) + f(b, 2); z = f(c, 2); w = f(a, 3)";
    lang_input        inputs[] = { { "a", ARRAS_F64, 1, (int64_t[]){ 4 } },
                                   { "b", ARRAS_F64, 1, (int64_t[]){ 4 } },
                                   { "c", ARRAS_F32, 1, (int64_t[]){ 4 } } };
    lang_world        w = { .ninputs = 3, .inputs = inputs };
    lang_program     *p = lang_program_new();
    arras_graph      *g = NULL;
    lang_error        err;
    char             *printed = NULL;
    int               functions = 0;

    if (!CHECK(lang_program_add(p, "program", text, strlen(text), &err)) ||
        !CHECK(lang_lower(&g, p, &w, &err)) ||
        !CHECK(arras_graph_print(&printed, NULL, g, ARRAS_TEXT_FULL, NULL) == ARRAS_OK))
        return;
    for (const char *at = printed; (at = strstr(at, "function f.")); at++)
        functions++;
    CHECK_EQ_INT(functions, 3);
    arras_text_free(printed);
    arras_graph_free(g);
    lang_program_free(p);
}

static void table(void)
{
    int count = 0;

    for (; lang_function_at(count); count++) {
        const lang_function_info *info = lang_function_at(count);

        CASE("%s", info->name);
        CHECK(strncmp(info->usage, info->name, strlen(info->name)) == 0);
        CHECK(info->usage[strlen(info->name)] == '(');
        CHECK(info->usage[strlen(info->usage) - 1] == ')');
        CHECK(strlen(info->text) > 0 && strlen(info->text) < 80);
        if (count > 0)
            CHECK(strcmp(lang_function_at(count - 1)->name, info->name) < 0);
    }
    CHECK(count > arras_op_count() + arras_reduction_count());
    CHECK(lang_function_at(-1) == NULL);
}

TEST_MAIN
{
    RUN(elementwise);
    RUN(casts);
    RUN(reductions);
    RUN(from_nothing);
    RUN(sizes);
    RUN(products);
    RUN(movement);
    RUN(unknown);
    RUN(definitions);
    RUN(functions_of_the_graph);
    RUN(table);
}
