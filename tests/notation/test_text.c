/* test_text.c -- programs as text: what is printed is read back to the same program, whatever it
 * holds. */
#include "notation/notation.h"
#include "test.h"
#include "text_programs.h"

#include <stdlib.h>

static arras_graph *g;
static int64_t      live_before;

static void begin(void)
{
    live_before = ar_alloc_live();
    CHECK_EQ_INT(ar_graph_new(&g, NULL), ARRAS_OK);
}

static void end(void)
{
    ar_graph_free(g);
    g = NULL;
    CHECK_EQ_INT(ar_alloc_live(), live_before);
}

/* The text of a graph, or the message why there is none; released by the caller. */
static char *printed(const arras_graph *of, bool brief)
{
    ar_text     text = { 0 };
    arras_error err = { ARRAS_OK, "" };

    if (ar_print(&text, of, brief, &err) != ARRAS_OK)
        ar_text_add(&text, err.text);
    return text.data;
}

static arras_graph *read_back(const char *text)
{
    arras_graph *back = NULL;
    arras_error  err = { ARRAS_OK, "" };

    if (!CHECK(ar_read(&back, text, strlen(text), &err) == ARRAS_OK))
        printf("    %s\n    in\n%.2000s\n", err.text, text);
    return back;
}

/* Prints g, reads that and compares programs and texts. */
static void check_round_trip(void)
{
    char        *text = printed(g, false);
    arras_graph *back = read_back(text);

    if (back) {
        char *again = printed(back, false);

        CHECK_STR(again, text);
        for (int i = 0; i < ar_graph_output_count(g); i++)
            CHECK(ar_equal(ar_graph_output(g, i)->array, ar_graph_output(back, i)->array));
        ar_free(again);
    }
    ar_graph_free(back);
    ar_free(text);
}

static arras_array vector(const char *name, arras_dtype dtype, arras_dim length)
{
    return ar_input(g, name, dtype, 1, &length);
}

static arras_expr whole_number(int64_t value)
{
    return ar_expr_literal(g, ARRAS_I64, (ar_value){ .bits = { value, 0 } });
}

/* ---- Programs of every kind ------------------------------------------------------------------ */

static void programs_are_printed_as_they_were_read(void)
{
    for (size_t i = 0; i < AR_COUNT(programs); i++) {
        int64_t live = ar_alloc_live();

        CASE("%s", programs[i].name);
        if ((g = read_back(programs[i].text))) {
            char *text = printed(g, false);

            CHECK_STR(text, programs[i].text);
            check_round_trip();
            ar_free(text);
            ar_graph_free(g);
        }
        CHECK_EQ_INT(ar_alloc_live(), live);
    }
}

typedef struct {
    bool kinds[AR_KIND_END], exprs[AR_EXPR_REDUCE + 1], edges[ARRAS_EDGE_END];
} coverage;

/* Small trees: no need to remember what was seen. */
static void cover_expr(coverage *c, arras_expr e)
{
    c->exprs[e->kind] = true;
    for (int d = 0; e->kind == AR_EXPR_LOAD && d < e->rank; d++)
        c->edges[e->ints[1 + d]] = true;
    for (int i = 0; i < e->nargs; i++)
        cover_expr(c, e->args[i]);
}

static void the_programs_use_everything(void)
{
    coverage c = { .kinds = { [AR_POISON] = true }, .exprs = { [AR_EXPR_POISON] = true } };

    for (size_t i = 0; i < AR_COUNT(programs); i++) {
        if (!(g = read_back(programs[i].text)))
            continue;
        for (int64_t id = 0; id < ar_graph_count(g); id++) {
            c.kinds[ar_graph_node(g, id)->kind] = true;
            if (ar_graph_node(g, id)->kind == AR_LAMBDA)
                cover_expr(&c, ar_graph_node(g, id)->ref);
        }
        ar_graph_free(g);
    }
    for (int kind = 0; kind < AR_KIND_END; kind++)
        if (!CHECK(c.kinds[kind]))
            printf("    no program has a %s\n", ar_kind_word((ar_kind)kind));
    for (size_t kind = 0; kind < AR_COUNT(c.exprs); kind++)
        CHECK(c.exprs[kind]);
    for (int rule = 0; rule < ARRAS_EDGE_END; rule++)
        CHECK(c.edges[rule]);
}

/* A word must not mean two things right of '='. */
static void words_mean_one_thing(void)
{
    for (int op = 0; op < AR_OP_END; op++) {
        const char *name = ar_op_name((ar_op)op);

        CHECK_EQ_INT(ar_reduction_find(name, strlen(name)), -1);
        CHECK_EQ_INT(ar_dtype_find(name, strlen(name)), ARRAS_NO_DTYPE);
        for (int kind = 0; kind < AR_KIND_END; kind++)
            CHECK(strcmp(name, ar_kind_word((ar_kind)kind)) != 0);
    }
}

/* Outputs the operation on arrays and within a lambda, in the first type that has it. */
static void add_operation(ar_op op)
{
    static const arras_dtype types[] = { ARRAS_F64, ARRAS_I32, ARRAS_BOOL };
    char                     name[64];

    for (size_t t = 0; t < AR_COUNT(types); t++) {
        arras_array x, y, xs[AR_MAX_ARITY];
        arras_expr  i = ar_expr_index(g, 0), load, es[AR_MAX_ARITY];

        snprintf(name, sizeof name, "x_%s_%zu", ar_op_name(op), t);
        x = vector(name, types[t], 3);
        load = ar_expr_load(x, 1, &i, NULL);
        for (int k = 0; k < AR_MAX_ARITY; k++)
            xs[k] = x, es[k] = load;
        y = ar_map(op, ar_op_arity(op), xs);
        if (ar_is_poison(y))
            continue;
        ar_graph_output_add(g, name, y);
        snprintf(name, sizeof name, "lambda_%s", ar_op_name(op));
        y = ar_lambda(g, 1, (arras_dim[]){ 3 }, ar_expr_apply(op, ar_op_arity(op), es));
        CHECK(!ar_is_poison(ar_graph_output_add(g, name, y)));
        return;
    }
    CHECK(false);
}

static void every_operation(void)
{
    for (int op = 0; op < AR_OP_END; op++) {
        CASE("%s", ar_op_name((ar_op)op));
        begin();
        add_operation((ar_op)op);
        check_round_trip();
        end();
    }
}

static void every_reduction(void)
{
    for (int r = 0; r < AR_REDUCTION_END; r++) {
        arras_expr  i;
        arras_array x, y;

        CASE("%s", ar_reduction_name((ar_reduction)r));
        begin();
        x = vector("x", ARRAS_I32, ar_dim_size(g, "n"));
        i = ar_expr_var(g, "k");
        ar_graph_output_add(g, "y", ar_reduce((ar_reduction)r, x, 1, r % 2, NULL));
        y = ar_lambda(g, 0, NULL,
                      ar_expr_reduce((ar_reduction)r, "k", whole_number(0),
                                     ar_expr_size(g, ar_dim_size(g, "n")),
                                     ar_expr_load(x, 1, &i, NULL)));
        CHECK(!ar_is_poison(ar_graph_output_add(g, "z", y)));
        check_round_trip();
        end();
    }
}

/* ---- What is printed, and in which order ----------------------------------------------------- */

static void record_example(arras_dim n)
{
    arras_array x = ar_input(g, "x", ARRAS_F64, 2, (arras_dim[]){ n, 4 });
    arras_array two = ar_const(g, (ar_type){ ARRAS_F64, true }, (ar_value){ .f = 2.5 });
    arras_array scaled = ar_map(AR_OP_multiply, 2, (arras_array[]){ x, two });

    ar_graph_output_add(g, "y", ar_reduce(AR_REDUCE_sum, scaled, 1, true, NULL));
}

static const char example[] = "arras 1\n"
                              "size n\n"
                              "input x : f64[n, 4]\n"
                              "%0 = const real 2.5\n"
                              "%1 = multiply(x, %0) : f64[n, 4]\n"
                              "%2 = sum(%1, axes=[0], keepdims) : f64[1, 4]\n"
                              "output y = %2\n";

static void only_what_outputs_need(void)
{
    char       *text;
    arras_array noise;

    begin();
    ar_dim_size(g, "other");
    noise = ar_const(g, (ar_type){ ARRAS_F64, false }, (ar_value){ .f = 7 });
    ar_map(AR_OP_negative, 1, &noise);
    record_example(ar_dim_size(g, "n"));
    text = printed(g, false);
    CHECK_STR(text, example);
    ar_free(text);
    end();
}

static void inputs_are_printed_needed_or_not(void)
{
    char *text;

    begin();
    vector("unused", ARRAS_I8, ar_dim_size(g, "k"));
    record_example(ar_dim_size(g, "n"));
    text = printed(g, false);
    CHECK_HAS(text, "size k\nsize n\ninput unused : i8[k]\ninput x : f64[n, 4]\n");
    check_round_trip();
    ar_free(text);
    end();
}

/* Terms follow the sizes' first use, not the order in which the graph met them. */
static void sizes_in_order_of_use(void)
{
    arras_dim a, b;
    char     *text;

    begin();
    b = ar_dim_size(g, "b");
    a = ar_dim_size(g, "a");
    vector("u", ARRAS_F64, ar_dim_add(g, b, ar_dim_mul(g, a, 2)));
    vector("v", ARRAS_F64, ar_dim_sub(g, 3, b));
    record_example(ar_dim_size(g, "n"));
    text = printed(g, false);
    CHECK_HAS(text, "arras 1\nsize a\nsize b\n");
    CHECK_HAS(text, "input u : f64[2*a + b]\ninput v : f64[-b + 3]\n");
    ar_free(text);
    end();
}

static void wrong_programs_are_not_printed(void)
{
    char       *text;
    arras_array x, y;

    begin();
    text = printed(g, false);
    CHECK_HAS(text, "the program has no outputs");
    ar_free(text);
    x = vector("x", ARRAS_F64, 3);
    y = vector("y", ARRAS_F64, 4);
    ar_graph_output_add(g, "z", ar_map(AR_OP_add, 2, (arras_array[]){ x, y }));
    text = printed(g, false);
    CHECK_HAS(text, "3 against 4");
    ar_free(text);
    end();
}

static void brief_text_is_cut(void)
{
    arras_array x;
    char       *text;
    arras_error err;
    uint8_t     cells[9] = { 0, 1, 2, 3, 4, 5, 6, 7, 8 };

    begin();
    x = ar_data(g, ARRAS_U8, 1, (int64_t[]){ 8 }, NULL, cells, true);
    ar_graph_output_add(g, "whole", x);
    x = ar_data(g, ARRAS_U8, 1, (int64_t[]){ 9 }, NULL, cells, true);
    ar_graph_output_add(g, "cut", x);
    cells[8] = 9;
    x = ar_data(g, ARRAS_U8, 1, (int64_t[]){ 9 }, NULL, cells, true);
    ar_graph_output_add(g, "another", x);
    text = printed(g, true);
    CHECK_HAS(text, "%0 = data u8[8] { 0, 1, 2, 3, 4, 5, 6, 7 }\n");
    CHECK_HAS(text, "%1 = data u8[9] { 0, 1, 2, 3, 4, 5, 6, 7, ... }\n");
    CHECK_HAS(text, "%2 = data u8[9] { 0, 1, 2, 3, 4, 5, 6, 7, ... }\n");
    ar_graph_free(g);
    CHECK_EQ_INT(ar_read(&g, text, strlen(text), &err), ARRAS_ETEXT);
    CHECK_HAS(err.text, "line 3, column 43: ");
    CHECK_HAS(err.text, "a brief text is cut");
    ar_free(text);
    g = NULL;
    end();
}

static void loose_texts_are_read(void)
{
    live_before = ar_alloc_live();
    g = read_back(loose_program);
    if (g) {
        CHECK_EQ_INT(ar_graph_output_count(g), 3);
        check_round_trip();
    }
    end();
}

/* ---- Data ------------------------------------------------------------------------------------ */

/* Columns of a matrix, last first: read back as cells of their own. */
static void strided_data_is_printed_in_c_order(void)
{
    const int16_t cells[6] = { 1, 2, 3, 4, 5, 6 };
    arras_array   x;
    char         *text;

    begin();
    x = ar_data(g, ARRAS_I16, 2, (int64_t[]){ 3, 2 }, (int64_t[]){ -2, 6 }, cells + 2, false);
    ar_graph_output_add(g, "y", x);
    x = ar_data(g, ARRAS_I16, 1, (int64_t[]){ 1 }, (int64_t[]){ INT64_MAX }, cells, false);
    ar_graph_output_add(g, "one", x);
    text = printed(g, false);
    CHECK_HAS(text, "data i16[3, 2] { 3, 6, 2, 5, 1, 4 }\n");
    CHECK_HAS(text, "data i16[1] { 1 }\n");
    check_round_trip();
    ar_free(text);
    end();
}

/* Borrowed twice, and used twice: one when read back, so one in the text too. */
static void equal_data_is_printed_once(void)
{
    const float here[2] = { 1, 2 }, there[2] = { 1, 2 };
    char       *text;

    begin();
    for (int i = 0; i < 2; i++) {
        arras_array x = ar_data(g, ARRAS_F32, 1, (int64_t[]){ 2 }, NULL, i ? there : here, false);

        ar_graph_output_add(g, i ? "b" : "a", ar_map(AR_OP_sin, 1, &x));
    }
    text = printed(g, false);
    CHECK_STR(text, "arras 1\n"
                    "%0 = data f32[2] { 1, 2 }\n"
                    "%1 = sin(%0) : f32[2]\n"
                    "output a = %1\n"
                    "output b = %1\n");
    check_round_trip();
    ar_free(text);
    end();
}

static void every_type_keeps_its_bits(void)
{
    for (int type = 1; type < ARRAS_DTYPE_END; type++) {
        uint64_t      random = 88172645463325252u;
        unsigned char cells[64 * 16];
        arras_array   x;

        CASE("%s", ar_dtype_name((arras_dtype)type));
        for (size_t i = 0; i < sizeof cells; i++) {
            random ^= random << 13, random ^= random >> 7, random ^= random << 17;
            cells[i] = (unsigned char)(random >> 32);
            if (type == ARRAS_BOOL)
                cells[i] &= 1;
            else if (i % 4 == 3)
                cells[i] &= 0xbf; /* no nan, whose bits need not survive */
        }
        begin();
        x = ar_data(g, (arras_dtype)type, 2, (int64_t[]){ 8, 8 }, NULL, cells, true);
        ar_graph_output_add(g, "y", x);
        check_round_trip();
        end();
    }
}

/* ---- Numbers --------------------------------------------------------------------------------- */

static void check_number(arras_dtype dtype, const void *cell, const char *want)
{
    ar_text text = { 0 };

    ar_value_print(&text, dtype, cell);
    CHECK_STR(text.data, want);
    ar_text_free(&text);
}

static void numbers_are_short(void)
{
    static const struct {
        double      value;
        const char *f64, *f32;
    } cases[] = {
        { 0.0, "0", "0" },
        { -0.0, "-0", "-0" },
        { 1, "1", "1" },
        { 0.1, "0.1", "0.1" },
        { 1.0 / 3, "0.3333333333333333", "0.33333334" },
        { 0.1 + 0.2, "0.30000000000000004", "0.3" },
        { 100, "100", "100" },
        { 1e15, "1000000000000000", "1000000000000000" },
        { 1e16, "1e16", "1e16" },
        { 123456789012, "123456789012", "123456790000" },
        { 0.00012, "0.00012", "0.00012" },
        { 0.000012, "1.2e-5", "1.2e-5" },
        { -2.5e-30, "-2.5e-30", "-2.5e-30" },
        { INFINITY, "inf", "inf" },
        { -INFINITY, "-inf", "-inf" },
        { NAN, "nan", "nan" },
        { -NAN, "nan", "nan" },
    };

    for (size_t i = 0; i < AR_COUNT(cases); i++) {
        float single = (float)cases[i].value;

        check_number(ARRAS_F64, &cases[i].value, cases[i].f64);
        check_number(ARRAS_F32, &single, cases[i].f32);
    }
    check_number(ARRAS_I64, &(int64_t){ INT64_MIN }, "-9223372036854775808");
    check_number(ARRAS_U64, &(uint64_t){ UINT64_MAX }, "18446744073709551615");
    check_number(ARRAS_C64, (float[]){ 1.5f, -0.0f }, "(1.5, -0)");
}

/* Random bits as constants: every one must come back. */
static void check_random_constants(arras_dtype dtype, int count)
{
    uint64_t random = 0x9e3779b97f4a7c15u;
    char     name[32];

    begin();
    for (int i = 0; i < count; i++) {
        ar_value value = { .bits = { 0, 0 } };

        random ^= random << 13, random ^= random >> 7, random ^= random << 17;
        memcpy(&value, &random, dtype == ARRAS_F32 ? 4 : 8);
        snprintf(name, sizeof name, "y%d", i);
        ar_graph_output_add(g, name, ar_const(g, (ar_type){ dtype, false }, value));
    }
    check_round_trip();
    end();
}

static void random_numbers_keep_their_bits(void)
{
    check_random_constants(ARRAS_F64, 3000);
    check_random_constants(ARRAS_F32, 3000);
}

/* ---- Large and deep -------------------------------------------------------------------------- */

static void deep_programs_need_no_stack(void)
{
    arras_array x;

    begin();
    x = vector("x", ARRAS_F64, 3);
    for (int i = 0; i < 100000; i++)
        x = ar_map(AR_OP_sin, 1, &x);
    ar_graph_output_add(g, "y", x);
    check_round_trip();
    end();
}

static void diamonds_stay_small(void)
{
    arras_array x;
    arras_expr  e;
    char       *text;

    begin();
    x = vector("x", ARRAS_F64, 3);
    e = ar_expr_index(g, 0);
    e = ar_expr_apply(AR_OP_sin, 1, (arras_expr[]){ ar_expr_load(x, 1, &e, NULL) });
    for (int i = 0; i < 100; i++) {
        x = ar_map(AR_OP_add, 2, (arras_array[]){ x, x });
        e = ar_expr_apply(AR_OP_add, 2, (arras_expr[]){ e, e });
    }
    ar_graph_output_add(g, "nodes", x);
    ar_graph_output_add(g, "cells", ar_lambda(g, 1, (arras_dim[]){ 3 }, e));
    text = printed(g, false);
    CHECK(strlen(text) < 10000);
    CHECK_HAS(text, "    $1 = add($0, $0);\n");
    check_round_trip();
    ar_free(text);
    end();
}

static void expressions_may_be_as_deep_as_they_can(void)
{
    arras_expr e;

    begin();
    e = ar_expr_cast(ar_expr_index(g, 0), ARRAS_F64);
    while (e->depth < AR_MAX_DEPTH)
        e = ar_expr_apply(AR_OP_sin, 1, &e);
    ar_graph_output_add(g, "y", ar_lambda(g, 1, (arras_dim[]){ 3 }, e));
    check_round_trip();
    end();
}

/* ---- Out of memory --------------------------------------------------------------------------- */

typedef arras_status writer(ar_text *out, const arras_graph *of, arras_error *err);

static arras_status print_full(ar_text *out, const arras_graph *of, arras_error *err)
{
    return ar_print(out, of, false, err);
}

/* Reads and writes while the n-th allocation and all after it fail; true once none had to. */
static bool survives(const char *text, writer *write, int64_t n)
{
    arras_graph *read = NULL;
    ar_text      out = { 0 };
    arras_error  err = { ARRAS_OK, "" };
    arras_status status;

    ar_alloc_fail_from(n);
    status = ar_read(&read, text, strlen(text), &err);
    if (status == ARRAS_OK) {
        status = write(&out, read, &err);
        CHECK(status == ARRAS_OK || status == ARRAS_ENOMEM);
    }
    ar_alloc_fail_from(0);
    CHECK_EQ_INT(err.code, status);
    ar_text_free(&out);
    ar_graph_free(read);
    return status == ARRAS_OK;
}

static void running_out_of_memory_is_an_error(void)
{
    static writer *const writers[] = { print_full, ar_dot, ar_summary_print };

    for (size_t i = 0; i < AR_COUNT(programs); i++)
        for (size_t w = 0; w < AR_COUNT(writers); w++) {
            int64_t live = ar_alloc_live(), n = 1;

            CASE("%s, writer %zu", programs[i].name, w);
            while (n < 100000 && !survives(programs[i].text, writers[w], n))
                n++;
            CHECK(n > 1 && n < 100000);
            CHECK_EQ_INT(ar_alloc_live(), live);
        }
}

TEST_MAIN
{
    RUN(programs_are_printed_as_they_were_read);
    RUN(the_programs_use_everything);
    RUN(words_mean_one_thing);
    RUN(every_operation);
    RUN(every_reduction);
    RUN(only_what_outputs_need);
    RUN(inputs_are_printed_needed_or_not);
    RUN(sizes_in_order_of_use);
    RUN(wrong_programs_are_not_printed);
    RUN(brief_text_is_cut);
    RUN(loose_texts_are_read);
    RUN(strided_data_is_printed_in_c_order);
    RUN(equal_data_is_printed_once);
    RUN(every_type_keeps_its_bits);
    RUN(numbers_are_short);
    RUN(random_numbers_keep_their_bits);
    RUN(deep_programs_need_no_stack);
    RUN(diamonds_stay_small);
    RUN(expressions_may_be_as_deep_as_they_can);
    RUN(running_out_of_memory_is_an_error);
}
