/* test_reference_run.c -- the reference evaluator on whole programs: bindings, sizes, outputs,
 * calls, and memory that runs out. */
#include "evaluate.h"

/* ---- Bindings -------------------------------------------------------------------------------- */

static void strides(void)
{
    static const struct {
        const char *why, *want;
        int64_t     first, strides[2];
    } cases[] = {
        { "C order", "i32[2, 3] 0 1 2 3 4 5", 0, { 12, 4 } },
        { "F order", "i32[2, 3] 0 2 4 1 3 5", 0, { 4, 8 } },
        { "rows backwards", "i32[2, 3] 3 4 5 0 1 2", 3, { -12, 4 } },
        { "all backwards", "i32[2, 3] 5 4 3 2 1 0", 5, { -12, -4 } },
        { "one cell", "i32[2, 3] 4 4 4 4 4 4", 4, { 0, 0 } },
    };

    for (size_t i = 0; i < AR_COUNT(cases); i++) {
        arras_binding *b;

        CASE("%s", cases[i].why);
        begin();
        input_of("x", "i32[2, 3]", NULL);
        b = &bound[0];
        int32_t *start = b->buffer.data;
        b->buffer.data = start + cases[i].first;
        b->buffer.strides = cases[i].strides;
        CHECK_STR(outcome(ar_graph_input_find(g, "x")), cases[i].want);
        b->buffer.data = start;
        end();
    }
}

/* Cells need not be aligned, and strides of axes of one cell mean nothing. */
static void odd_memory(void)
{
    char  *block = calloc(1, 64);
    double value = 2.5;

    begin();
    memcpy(block + 3, &value, 8);
    memcpy(block + 16, &value, 8);
    bind_cells("x", ARRAS_F64, 2, (int64_t[]){ 2, 1 }, block + 3);
    bound[0].buffer.strides = (int64_t[]){ 13, INT64_MIN };
    ar_input(g, "x", ARRAS_F64, 2, (int64_t[]){ 2, 1 });
    CHECK_STR(outcome(reduce(AR_REDUCE_sum, map1(AR_OP_negative, ar_graph_input_find(g, "x")), 3)),
              "f64[] -5");
    bound[0].buffer.data = block;
    end();
}

/* An array without cells needs no memory. */
static void no_memory(void)
{
    arras_array x;

    begin();
    bind_cells("x", ARRAS_F64, 2, (int64_t[]){ 2, 0 }, NULL);
    x = ar_input(g, "x", ARRAS_F64, 2, (int64_t[]){ 2, 0 });
    ar_graph_output_add(g, "same", x);
    ar_graph_output_add(g, "sum", reduce(AR_REDUCE_sum, x, 2));
    ar_graph_output_add(g, "index", AT(x, arras_at(1)));
    ar_graph_output_add(g, "roll", ar_roll(x, (int64_t[]){ 1, 1 }));
    ar_graph_output_add(g, "einsum", ar_einsum("ij,ij->i", 2, L(x, x)));
    ar_graph_output_add(g, "gather", ar_gather(x, 1, 0, 1, L(A("i8[3]", 0, 1, 0))));
    x = ar_data(g, ARRAS_F64, 1, (int64_t[]){ 0 }, NULL, NULL, false);
    ar_graph_output_add(g, "csr", ar_csr(x, N("i8[0]"), A("i8[2]", 0, 0), x));
    ar_graph_output_add(g, "concat", ar_concat(2, L(x, N("f64[1]")), 0));
    CHECK_STR(
        run(),
        "f64[2, 0]; f64[2] 0 0; f64[0]; f64[2, 0]; f64[2] 0 0; f64[3, 0]; f64[1] 0; f64[1] 0");
    end();
}

static void borrowed_data(void)
{
    static const int16_t cells[] = { 1, 2, 3, 4 };

    GIVES(ar_data(g, ARRAS_I16, 1, (int64_t[]){ 4 }, (int64_t[]){ -2 }, cells + 3, false),
          "i16[4] 4 3 2 1");
    GIVES(ar_data(g, ARRAS_I16, 1, (int64_t[]){ 2 }, (int64_t[]){ 4 }, cells, true), "i16[2] 1 3");
}

typedef struct {
    const char *why, *want;
    const char *bind[3][2]; /* name, type */
} binding_case;

/* x: f64[n, 4], y: i8[n + 1]; the output needs both. */
static const binding_case binding_cases[] = {
    { "all is well", "f64[] 0", { { "x", "f64[2, 4]" }, { "y", "i8[3]" } } },
    { "a size may be bound as well",
      "f64[] 0",
      { { "x", "f64[2, 4]" }, { "y", "i8[3]" }, { "n", "i8[]" } } },
    { "nothing", "ENAME: input x: f64[n, 4] is not bound", { { NULL } } },
    { "one is missing", "ENAME: input y: i8[n + 1] is not bound", { { "x", "f64[2, 4]" } } },
    { "twice", "ENAME: input x is bound twice", { { "x", "f64[2, 4]" }, { "x", "f64[2, 4]" } } },
    { "misspelt",
      "no input or size is called 'xx'; there are x, y, n; did you mean 'x'?",
      { { "xx", "f64[2, 4]" } } },
    { "unknown",
      "ENAME: no input or size is called 'weight'; there are x, y, n",
      { { "weight", "f64[]" } } },
    { "type",
      "EDTYPE: input x: the type is f32, but the program says f64",
      { { "x", "f32[2, 4]" } } },
    { "rank", "ESHAPE: input x: the rank is 1, but the program says 2", { { "x", "f64[2]" } } },
    { "length", "ESHAPE: input x: axis 1 is 5, but the program says 4", { { "x", "f64[2, 5]" } } },
    { "sizes",
      "axis 0 of y is 5, but the program says n + 1",
      { { "x", "f64[2, 4]" }, { "y", "i8[5]" } } },
    { "no size", "axis 0 of y is 0, but the program says n + 1", { { "y", "i8[0]" } } },
    { "size is an array",
      "EDTYPE: size n is bound to i8 of rank 1, but must be a 0-d integer",
      { { "n", "i8[1]" } } },
    { "size is a real", "EDTYPE: size n is bound to f64 of rank 0", { { "n", "f64[]" } } },
    { "size and shape", "but the program says n", { { "x", "f64[2, 4]" }, { "n", "u8[]" } } },
};

static void bindings(void)
{
    for (size_t i = 0; i < AR_COUNT(binding_cases); i++) {
        const binding_case *c = &binding_cases[i];
        arras_array         x, y;

        CASE("%s", c->why);
        begin();
        x = ar_input(g, "x", ARRAS_F64, 2, (arras_dim[]){ size("n"), 4 });
        y = ar_input(g, "y", ARRAS_I8, 1, (arras_dim[]){ ar_dim_add(g, size("n"), 1) });
        for (int k = 0; k < 3 && c->bind[k][0]; k++)
            bind_array(c->bind[k][0], c->bind[k][1],
                       strcmp(c->bind[k][1], "i8[]") == 0 ? (double[]){ 2 } : NULL);
        x = map2(AR_OP_multiply, reduce(AR_REDUCE_sum, x, 3), A("f64[]", 0));
        CHECK_HAS(outcome(map2(AR_OP_add, x,
                               map2(AR_OP_multiply, reduce(AR_REDUCE_sum, y, 1), untyped_int(0)))),
                  c->want);
        end();
    }
}

static void wrong_buffers(void)
{
    static const int64_t bad[] = { -1, 4 }, large[] = { INT64_MAX / 8, 4 },
                         far[] = { INT64_MAX, 8 };
    static const int64_t shape[] = { 2, 4 };
    static double        cells[8];
    static const struct {
        const char   *want;
        arras_binding binding;
    } cases[] = {
        { "ENAME: the name of a binding is NULL", { NULL, { cells, ARRAS_F64, 2, shape, NULL } } },
        { "EDTYPE: input x: there is no type number 0",
          { "x", { cells, ARRAS_NO_DTYPE, 2, shape, NULL } } },
        { "EDTYPE: input x: there is no type number 99",
          { "x", { cells, (arras_dtype)99, 2, shape, NULL } } },
        { "ELIMIT: input x: the rank is 33", { "x", { cells, ARRAS_F64, 33, shape, NULL } } },
        { "ELIMIT: input x: the rank is -1", { "x", { cells, ARRAS_F64, -1, shape, NULL } } },
        { "EINVAL: input x: the shape is NULL", { "x", { cells, ARRAS_F64, 2, NULL, NULL } } },
        { "axis 0 has the negative length -1", { "x", { cells, ARRAS_F64, 2, bad, NULL } } },
        { "ELIMIT: input x: the shape has too many cells",
          { "x", { cells, ARRAS_F64, 2, large, NULL } } },
        { "the data is NULL, but the shape has 8 cells",
          { "x", { NULL, ARRAS_F64, 2, shape, NULL } } },
        { "EINVAL: input x: the strides are too large",
          { "x", { cells, ARRAS_F64, 2, shape, far } } },
    };

    for (size_t i = 0; i < AR_COUNT(cases); i++) {
        CASE("%s", cases[i].want);
        begin();
        bound[nbound++] = cases[i].binding;
        CHECK_HAS(outcome(ar_input(g, "x", ARRAS_F64, 2, (arras_dim[]){ size("n"), size("m") })),
                  cases[i].want);
        nbound = 0;
        end();
    }
}

static void sizes_by_name(void)
{
    GIVES((bind_array("n", "u8[]", (double[]){ 3 }), ar_size_node(g, size("n"))), "i64[] 3");
    FAILS((bind_array("n", "i8[]", (double[]){ -3 }), ar_size_node(g, size("n"))),
          "ESIZE: size n is bound to -3");
    FAILS((bind_array("n", "u64[]", (double[]){ 1e19 }), ar_size_node(g, size("n"))),
          "it must be smaller");
    FAILS(ar_size_node(g, size("n")), "ESIZE: ");
    FAILS(ar_size_node(g, size("n")), "size n is not determined by the inputs: bind it by name");
    FAILS((bind_array("n", "i8[]", (double[]){ 3 }), ar_size_node(g, ar_dim_sub(g, size("n"), 5))),
          "size n - 5 is negative: -2");
}

/* An input that no output needs may stay unbound; when it is bound it must fit all the same. */
static void unused_inputs(void)
{
    GIVES((ar_input(g, "u", ARRAS_F64, 0, NULL), N("i64[]")), "i64[] 0");
    FAILS((bind_array("u", "f64[2]", NULL), ar_input(g, "u", ARRAS_F64, 0, NULL), N("i64[]")),
          "ESHAPE: input u");
}

/* ---- Outputs --------------------------------------------------------------------------------- */

static void outputs(void)
{
    arras_results *results = NULL;
    arras_array    x;

    begin();
    x = I("x", "f64[2]", 1, 2);
    ar_graph_output_add(g, "first", x);
    ar_graph_output_add(g, "second", map1(AR_OP_negative, x));
    ar_graph_output_add(g, "third", map1(AR_OP_negative, x));
    if (!CHECK_EQ_INT(ar_reference_run(&results, g, nbound, bound, NULL), ARRAS_OK))
        return;
    CHECK_EQ_INT(results->count, 3);
    CHECK_STR(results->items[2].name, "third");
    CHECK(results->items[0].buffer.data != bound[0].buffer.data);
    CHECK(results->items[1].buffer.data != results->items[2].buffer.data);
    CHECK_EQ_INT(results->items[1].buffer.strides[0], 8);
    ar_graph_free(g); /* results outlive it */
    CHECK_EQ_REAL(((double *)results->items[2].buffer.data)[1], -2);
    ar_results_free(results);
    if (ar_graph_new(&g, NULL) == ARRAS_OK)
        end();
}

static void wrong_programs(void)
{
    begin();
    CHECK_HAS(run(), "EINVAL: the program has no outputs");
    end();
    FAILS(map2(AR_OP_add, N("i64[2]"), N("i64[3]")), "ESHAPE: add");
    FAILS(ar_param(g, "p", ARRAS_F64, 0, NULL), "parameter 'p' outside its function");
}

/* Sizes are checked before anything is computed or allocated. */
static void absurd_sizes(void)
{
    FAILS((bind_array("n", "i64[]", (double[]){ 0x1p60 }),
           ar_lambda(g, 1, (arras_dim[]){ size("n") }, ar_expr_index(g, 0))),
          "ELIMIT: ");
    FAILS(ar_lambda(g, 1, (arras_dim[]){ (arras_dim)1 << 50 }, ar_expr_index(g, 0)),
          "ENOMEM: out of memory: no 9007199254740992 bytes to be had for");
}

/* ---- Functions ------------------------------------------------------------------------------- */

/* both(v: f64[n]) gives total: sum(v) and twice: v + v; n is the function's own. */
static arras_function make_function(void)
{
    arras_array v = ar_param(g, "v", ARRAS_F64, 1, (arras_dim[]){ size("n") });

    return ar_function_new(g, "both", 1, &v, 3, (const char *[]){ "total", "twice", "same" },
                           L(reduce(AR_REDUCE_sum, v, 1), map2(AR_OP_add, v, v), v));
}

static arras_array call(arras_function f, int result, arras_array x)
{
    return ar_call_result(ar_call(f, 1, &x), result);
}

static void calls(void)
{
    arras_function f;
    arras_array    x, a, b;

    GIVES(call(make_function(), 0, N("f64[4]")), "f64[] 6");
    GIVES(call(make_function(), 1, N("f64[3]")), "f64[3] 0 2 4");
    GIVES(call(make_function(), 2, N("f64[0]")), "f64[0]");
    begin(); /* the program's n is 2, the function's 5 and then 2 */
    f = make_function();
    x = vector("x", size("n"), "f64[2]", NULL);
    a = call(f, 0, N("f64[5]"));
    b = call(f, 1, x);
    ar_graph_output_add(g, "a", a);
    ar_graph_output_add(g, "b", b);
    ar_graph_output_add(g, "c", call(f, 2, call(f, 1, b)));
    ar_graph_output_add(g, "d", ar_call_result(a->inputs[0], 2));
    CHECK_STR(run(), "f64[] 10; f64[2] 0 2; f64[2] 0 4; f64[5] 0 1 2 3 4");
    end();
}

/* Sizes in a parameter's shape are solved for: f(v: f64[2*n + 1]) gives n. */
static void sizes_of_calls(void)
{
    arras_array v;

    begin();
    v = ar_param(g, "v", ARRAS_F64, 1,
                 (arras_dim[]){ ar_dim_add(g, ar_dim_mul(g, size("n"), 2), 1) });
    ar_function_new(g, "half", 1, &v, 1, (const char *[]){ "n" }, L(ar_size_node(g, size("n"))));
    ar_graph_output_add(g, "a", call(ar_function_find(g, "half"), 0, N("f64[7]")));
    ar_graph_output_add(g, "b", call(ar_function_find(g, "half"), 0, N("f64[1]")));
    CHECK_STR(run(), "i64[] 3; i64[] 0");
    end();
}

/* f0 adds 1, f(k) is f(k-1) twice: 2^10 calls, ten deep. */
static void nested_calls(void)
{
    char           name[16];
    arras_function f = NULL;

    begin();
    for (int k = 0; k <= 10; k++) {
        arras_array v = ar_param(g, "v", ARRAS_I64, 0, NULL);
        arras_array once = f ? call(f, 0, call(f, 0, v)) : map2(AR_OP_add, v, untyped_int(1));

        snprintf(name, sizeof name, "f%d", k);
        f = ar_function_new(g, name, 1, &v, 1, (const char *[]){ "r" }, &once);
    }
    CHECK_STR(outcome(call(f, 0, untyped_int(0))), "i64[] 1024");
    end();
}

/* Errors in a body come out of the call. */
static void failing_calls(void)
{
    arras_array v;

    begin();
    v = ar_param(g, "v", ARRAS_F64, 1, (arras_dim[]){ size("n") });
    ar_function_new(g, "least", 1, &v, 1, (const char *[]){ "r" }, L(reduce(AR_REDUCE_min, v, 1)));
    CHECK_HAS(outcome(call(ar_function_find(g, "least"), 0, N("f64[0]"))),
              "ESHAPE: min over no cells of v");
    end();
}

/* ---- Memory ---------------------------------------------------------------------------------- */

static arras_array some_lambda(arras_array x)
{
    arras_expr i = ar_expr_index(g, 0), k = ar_expr_var(g, "k"), sum;
    arras_expr three = ar_expr_literal(g, ARRAS_I64, (ar_value){ .i = 3 });

    sum = ar_expr_apply(AR_OP_add, 2, (arras_expr[]){ i, k });
    sum = ar_expr_load(x, 1, &sum, &(arras_edge){ ARRAS_EDGE_WRAP, NULL });
    sum = ar_expr_reduce(AR_REDUCE_sum, "k", i, three, sum);
    return ar_lambda(g, 1, (arras_dim[]){ 3 }, sum);
}

/* Every kind of node: sum of all their cells. */
static void record_all_kinds(void)
{
    arras_array x = vector("x", size("n"), "f64[3]", NULL), y = N("f64[3]");

    y = map2(AR_OP_add, y, ar_cast(ar_size_node(g, size("n")), ARRAS_F64));
    y = map2(AR_OP_add, y, some_lambda(x));
    y = ar_reshape(ar_roll(ar_stack(2, L(y, y), 1), (int64_t[]){ 1, 1 }), 1, (arras_dim[]){ 6 },
                   'F');
    y = ar_concat(2, L(y, call(make_function(), 1, x)), 0);
    ar_graph_output_add(g, "gather", ar_gather(y, 1, 0, 1, L(A("i8[2]", 0, -1))));
    ar_graph_output_add(g, "index",
                        AT(ar_permute(AT(y, arras_newaxis()), (int[]){ 1, 0 }), arras_at(2)));
    ar_graph_output_add(g, "einsum", ar_einsum("i,i->", 2, L(x, x)));
    ar_graph_output_add(g, "reduce", ar_reduce(AR_REDUCE_max, x, 1, true, untyped_int(9)));
    ar_graph_output_add(g, "csr", ar_csr(N("f64[3]"), A("i8[3]", 0, 1, 0), A("i8[3]", 0, 2, 3), x));
    ar_graph_output_add(g, "x", x);
}

static void failing_allocations(void)
{
    char   *want;
    int64_t before, n = 0;
    bool    failed = true;

    begin();
    record_all_kinds();
    want = strdup(run());
    CHECK_HAS(want, "f64[2] ");
    ar_text_free(&shown);
    before = ar_alloc_live();
    while (failed && n < 100000) {
        arras_results *results = NULL;
        arras_error    err;

        ar_alloc_fail_from(++n);
        failed = ar_reference_run(&results, g, nbound, bound, &err) != ARRAS_OK;
        ar_alloc_fail_from(0);
        if (failed && (!CHECK_EQ_INT(err.code, ARRAS_ENOMEM) || !CHECK(results == NULL)))
            break;
        ar_results_free(results);
        if (!CHECK_EQ_INT(ar_alloc_live(), before))
            break;
    }
    CHECK(n > 50); /* it was worth counting */
    CHECK_STR(run(), want);
    free(want);
    end();
}

TEST_MAIN
{
    RUN(strides);
    RUN(odd_memory);
    RUN(no_memory);
    RUN(borrowed_data);
    RUN(bindings);
    RUN(wrong_buffers);
    RUN(sizes_by_name);
    RUN(unused_inputs);
    RUN(outputs);
    RUN(wrong_programs);
    RUN(absurd_sizes);
    RUN(calls);
    RUN(sizes_of_calls);
    RUN(nested_calls);
    RUN(failing_calls);
    RUN(failing_allocations);
}
