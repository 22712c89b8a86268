/* test_apply_trouble.c -- functions in C over arrays: every mistake is one clear line, and nothing
 * is left behind, whatever allocation fails. */
#include "apply_kit.h"
#include "run/run.h"

static arras_error err;

/* ---- A flow with one mistake ----------------------------------------------------------------- */

static void point(const arras_cell *c, void *const *out)
{
    *(double *)out[0] = arras_f64_at2(c, 0, 0, 0);
}

static void points(const arras_cell *c, int64_t count, void *const *out)
{
    (void)c;
    for (int64_t i = 0; i < count; i++)
        ((double *)out[0])[i] = 0;
}

static double       field[6][8];
static const double five = 5;

/* All that a flow is made of; a case spoils some of it. */
typedef struct {
    arras_apply_spec   spec;
    arras_apply_input  in[2];
    arras_apply_output out;
    int64_t            before[2], after[2], step[2], start[2], shape[2];
    int                axes[2];
    arras_border       borders[2];
    arras_mirror       mirror;
    const void        *mirrored[1];
} parts;

static void reset(parts *p)
{
    *p = (parts){ .step = { 1, 1 }, .axes = { 0, 1 } };
    p->in[0] = (arras_apply_input){ .before = p->before,
                                    .after = p->after,
                                    .step = p->step,
                                    .axes = p->axes,
                                    .borders = p->borders };
    p->out = (arras_apply_output){ "r", ARRAS_F64 };
    p->mirrored[0] = &five;
    p->mirror = (arras_mirror){ &five, &five, p->mirrored };
    p->spec = (arras_apply_spec){
        .ninputs = 1, .noutputs = 1, .inputs = p->in, .outputs = &p->out, .cell = point
    };
}

static void no_function(parts *p) { p->spec.cell = NULL; }
static void two_functions(parts *p) { p->spec.row = points; }
static void no_inputs(parts *p) { p->spec.inputs = NULL; }
static void no_outputs(parts *p) { p->spec.noutputs = 0; }
static void no_type(parts *p) { p->out.dtype = ARRAS_NO_DTYPE; }
static void no_array(parts *p) { p->in[0].array = 9; }
static void negative_array(parts *p) { p->in[0].array = -1; }
static void negative_reach(parts *p) { p->before[1] = -2; }
static void absurd_reach(parts *p) { p->after[0] = INT64_MAX; }
static void negative_step(parts *p) { p->step[0] = -1; }
static void absurd_start(parts *p)
{
    p->start[1] = INT64_MIN;
    p->in[0].start = p->start;
}
static void no_such_axis(parts *p) { p->axes[1] = 2; }
static void no_such_rule(parts *p) { p->borders[1].rule = ARRAS_EDGE_END; }
static void rank_without_shape(parts *p) { p->spec.rank = 2; }
static void no_shape_at_all(parts *p) { p->spec.ninputs = 0; }
static void axis_of_nobody(parts *p)
{
    p->step[1] = 0;
    p->in[0].start = p->start;
}
static void beyond_the_end(parts *p)
{
    p->shape[0] = 6, p->shape[1] = 9;
    p->spec.rank = 2, p->spec.shape = p->shape;
}
static void before_the_start(parts *p)
{
    p->start[0] = 1, p->before[0] = 2;
    p->in[0].start = p->start;
}
static void negative_shape(parts *p)
{
    p->shape[0] = 6, p->shape[1] = -1;
    p->spec.rank = 2, p->spec.shape = p->shape;
}
static void overflowing(parts *p)
{
    p->shape[0] = p->shape[1] = (int64_t)1 << 59;
    p->step[0] = 1 << 20;
    p->borders[0].rule = p->borders[1].rule = ARRAS_EDGE_WRAP;
    p->spec.rank = 2, p->spec.shape = p->shape;
}
static void too_many_cells(parts *p)
{
    p->shape[0] = p->shape[1] = (int64_t)1 << 40;
    p->borders[0].rule = p->borders[1].rule = ARRAS_EDGE_WRAP;
    p->spec.rank = 2, p->spec.shape = p->shape;
}
static void whole_with_reach(parts *p) { p->in[0].whole = true; }
static void negative_length(parts *p) { p->spec.length = -1; }
static void absurd_length(parts *p) { p->spec.length = INT64_MAX; }
static void mirrors_without_values(parts *p)
{
    p->spec.nmirrors = 1;
    p->spec.mirrors = &p->mirror;
    p->mirrored[0] = NULL;
}
static void mirrors_missing(parts *p) { p->spec.nmirrors = 1; }
static void mirrors_of_nothing(parts *p)
{
    p->in[0] = (arras_apply_input){ .whole = true };
    p->shape[0] = p->shape[1] = 2;
    p->spec.rank = 2, p->spec.shape = p->shape;
    p->spec.nmirrors = 1;
    p->spec.mirrors = &p->mirror;
}
static void text_that_is_wrong(parts *p)
{
    p->spec.cell = NULL;
    p->spec.text = "double x = a(0, 0);\nr = x + undeclared;";
}
static void text_with_few_indices(parts *p)
{
    p->spec.cell = NULL;
    p->spec.text = "r = a(0);";
}
static void prelude_that_is_wrong(parts *p)
{
    p->spec.cell = NULL;
    p->spec.text = "r = 1;";
    p->spec.prelude = "double f(void) { return }";
}
static void text_with_bad_name(parts *p)
{
    p->spec.cell = NULL;
    p->spec.text = "r = 1;";
    p->in[0].name = "sea height";
}
static void text_with_taken_name(parts *p)
{
    p->spec.cell = NULL;
    p->spec.text = "r = 1;";
    p->out.name = "index";
}
static void text_with_equal_names(parts *p)
{
    p->spec.cell = NULL;
    p->spec.text = "r = 1;";
    p->in[0].name = "r";
}

static void mistakes(void)
{
    static const struct {
        void (*spoil)(parts *p);
        arras_status status;
        const char  *says;
    } rows[] = {
        { no_function, ARRAS_EINVAL, "there is no function" },
        { two_functions, ARRAS_EINVAL, "more than one function" },
        { no_inputs, ARRAS_EINVAL, "inputs is NULL" },
        { no_outputs, ARRAS_EINVAL, "0 outputs" },
        { no_type, ARRAS_EDTYPE, "output 0 has no type" },
        { no_array, ARRAS_EINVAL, "input 0 is array 9 of a flow that has 1" },
        { negative_array, ARRAS_EINVAL, "input 0 is array -1" },
        { negative_reach, ARRAS_EINVAL, "the reach before the cell along axis 1 of input a is -2" },
        { absurd_reach, ARRAS_EINVAL, "the reach after the cell along axis 0 of input a" },
        { negative_step, ARRAS_EINVAL, "the step along axis 0 of input a is -1" },
        { absurd_start, ARRAS_EINVAL, "the start along axis 1 of input a" },
        { no_such_axis, ARRAS_EAXIS, "axis 1 of input a is axis 2 of a result of rank 2" },
        { no_such_rule, ARRAS_EINVAL, "the rule of the border along axis 1 of input a is 6" },
        { rank_without_shape, ARRAS_EINVAL, "the result has no shape" },
        { no_shape_at_all, ARRAS_EINVAL, "the result has no shape" },
        { axis_of_nobody, ARRAS_ESHAPE, "no input goes along axis 1 of the result" },
        { beyond_the_end, ARRAS_ESHAPE,
          "cells 0 to 8 along axis 1 of input a are read, which has 8" },
        { before_the_start, ARRAS_ESHAPE, "cells -1 to 5 along axis 0 of input a are read" },
        { negative_shape, ARRAS_ESHAPE, "axis 1 of the result has -1 cells" },
        { overflowing, ARRAS_ESIZE, "places along axis 0 of input a overflow" },
        { too_many_cells, ARRAS_ESHAPE, "axis 1 of r has" },
        { whole_with_reach, ARRAS_EINVAL, "input a is there whole" },
        { negative_length, ARRAS_EINVAL, "vectors of length -1" },
        { absurd_length, ARRAS_ESIZE, "vectors of length" },
        { mirrors_without_values, ARRAS_EINVAL, "mirror 0 has no value for output 0" },
        { mirrors_missing, ARRAS_EINVAL, "mirrors is NULL" },
        { mirrors_of_nothing, ARRAS_EDTYPE, "mirrors look at input 0" },
        { text_that_is_wrong, ARRAS_EBUILD, "<stdin>:2:9: error:" },
        { text_with_few_indices, ARRAS_EBUILD, "<stdin>:1:" },
        { prelude_that_is_wrong, ARRAS_EBUILD, "<stdin>:1:" },
        { text_with_bad_name, ARRAS_ENAME, "'sea height'" },
        { text_with_taken_name, ARRAS_ENAME, "'index'" },
        { text_with_equal_names, ARRAS_ENAME, "two arrays of the text are called 'r'" },
    };
    const int64_t      shape[] = { 6, 8 };
    const arras_buffer b = { field, ARRAS_F64, 2, shape, NULL };

    for (size_t i = 0; i < AR_COUNT(rows); i++) {
        arras_flow *flow = NULL;
        int64_t     live = ar_alloc_live();
        parts       p;
        int         number;

        CASE("%s", rows[i].says);
        reset(&p);
        rows[i].spoil(&p);
        CHECK_EQ_INT(arras_flow_new(&flow, NULL, 1 << 20, &err), ARRAS_OK);
        CHECK_EQ_INT(arras_flow_input(&number, flow, "a", &b, &err), ARRAS_OK);
        CHECK_EQ_INT(arras_flow_apply(&number, flow, &p.spec, &err), rows[i].status);
        CHECK_HAS(err.text, rows[i].says);
        arras_flow_free(flow);
        CHECK_EQ_INT(ar_alloc_live(), live);
    }
}

/* ---- Flows that are built wrongly ------------------------------------------------------------ */

static void wrong_flows(void)
{
    const int64_t      shape[] = { 6, 8 }, other[] = { 8, 6 }, strides[] = { 8, 48 };
    const arras_buffer a = { field, ARRAS_F64, 2, shape, NULL };
    double             room[48];
    arras_buffer       to = { room, ARRAS_F64, 2, shape, NULL }, no_data = a;
    arras_flow        *flow = NULL;
    parts              p;
    int                number, result[2];

    reset(&p);
    no_data.data = NULL;
    CHECK_EQ_INT(arras_flow_new(NULL, NULL, 0, &err), ARRAS_EINVAL);
    CHECK_EQ_INT(arras_flow_new(&flow, NULL, -1, &err), ARRAS_EINVAL);
    CHECK_EQ_INT(arras_flow_new(&flow, NULL, 0, &err), ARRAS_OK);
    CHECK_EQ_INT(arras_flow_input(&number, NULL, "a", &a, &err), ARRAS_EINVAL);
    CHECK_EQ_INT(arras_flow_input(&number, flow, "", &a, &err), ARRAS_ENAME);
    CHECK_EQ_INT(arras_flow_input(&number, flow, "a", NULL, &err), ARRAS_EINVAL);
    CHECK_EQ_INT(arras_flow_input(&number, flow, "a", &no_data, &err), ARRAS_EINVAL);
    CHECK_EQ_INT(arras_flow_source(&number, flow, "a", NULL, &err), ARRAS_EINVAL);
    CHECK_EQ_INT(arras_flow_start(flow, &err), ARRAS_EINVAL);
    CHECK_HAS(err.text, "no result was asked for");
    CHECK_EQ_INT(arras_flow_input(&number, flow, "a", &a, &err), ARRAS_OK);
    CHECK_EQ_INT(arras_flow_apply(&result[0], flow, &p.spec, &err), ARRAS_OK);
    CHECK_EQ_INT(arras_flow_apply(&result[1], flow, &p.spec, &err), ARRAS_OK);
    CHECK_EQ_INT(arras_flow_apply(NULL, flow, &p.spec, &err), ARRAS_EINVAL);
    CHECK_EQ_INT(arras_flow_result(flow, 7, NULL, &err), ARRAS_EINVAL);
    CHECK_EQ_INT(arras_flow_result(flow, number, NULL, &err), ARRAS_EINVAL);
    CHECK_HAS(err.text, "a is an input");
    CHECK_EQ_INT(arras_flow_result(flow, result[0], &a, &err), ARRAS_EINVAL);
    CHECK_HAS(err.text, "the memory of r is that of a too");
    to.shape = other;
    CHECK_EQ_INT(arras_flow_result(flow, result[0], &to, &err), ARRAS_ESHAPE);
    to.shape = shape, to.strides = strides;
    CHECK_EQ_INT(arras_flow_result(flow, result[0], &to, &err), ARRAS_EINVAL);
    CHECK_HAS(err.text, "not in C order");
    to.strides = NULL;
    CHECK_EQ_INT(arras_flow_sink(flow, result[0], NULL, &err), ARRAS_EINVAL);
    CHECK_EQ_INT(arras_flow_result(flow, result[0], &to, &err), ARRAS_OK);
    CHECK_EQ_INT(arras_flow_result(flow, result[0], &to, &err), ARRAS_EINVAL);
    CHECK_EQ_INT(arras_flow_result(flow, result[1], NULL, &err), ARRAS_ENAME);
    CHECK_EQ_INT(arras_flow_wait(NULL, flow, &err), ARRAS_EINVAL);
    CHECK_EQ_INT(arras_flow_run(NULL, flow, &err), ARRAS_OK);
    CHECK_EQ_INT(arras_flow_run(NULL, flow, &err), ARRAS_EINVAL);
    CHECK_EQ_INT(arras_flow_input(&number, flow, "b", &a, &err), ARRAS_EINVAL);
    CHECK_HAS(err.text, "it was started");
    arras_flow_free(flow);
    arras_flow_free(NULL);
}

/* ---- Functions that look too far ------------------------------------------------------------- */

/* As far as the number in the cell says. */
static void jump(const arras_cell *c, void *const *out)
{
    int64_t far = (int64_t)arras_f64_at1(c, 0, 0);

    *(double *)out[0] = arras_f64_at1(c, 0, far);
}

static void jump_in_rows(const arras_cell *c, int64_t count, void *const *out)
{
    const double *left = (const double *)(const void *)arras_cell_near1(c, 0, -1);
    const double *far = (const double *)(const void *)arras_cell_near1(c, 0, 4);

    for (int64_t i = 0; i < count; i++)
        ((double *)out[0])[i] = left[i] + far[i];
}

static void jump_anywhere(const arras_cell *c, void *const *out)
{
    const int64_t far = INT64_MAX;

    *(double *)out[0] = arras_f64_at1(c, 0, 0) + arras_f64_at(c, 0, &far);
}

static void too_many_axes(const arras_cell *c, void *const *out)
{
    *(double *)out[0] = arras_f64_at3(c, 0, 0, 0, 0);
}

static void gives_up(const arras_cell *c, void *const *out)
{
    if (c->index[0] == 33)
        arras_cell_fail(c, "no number for 33");
    *(double *)out[0] = arras_f64_at1(c, 0, 0);
}

static void outside_whole(const arras_cell *c, void *const *out)
{
    *(double *)out[0] = arras_f64_at1(c, 0, c->index[0] + 1);
}

static void looking_too_far(void)
{
    static const struct {
        arras_apply_cell *cell;
        arras_apply_row  *row;
        const char       *text;
        int64_t           reach; /* -1: found out */
        bool              whole;
        arras_status      status;
        const char       *says;
    } rows[] = {
        { jump, NULL, NULL, 1, false, ARRAS_EINDEX,
          "cell [17]: input a is read at the offset [3], beyond its reach [-1..1]" },
        { jump, NULL, NULL, -1, false, ARRAS_EINDEX,
          "cell [17]: input a is read at the offset [3], beyond the reach found [0..1]" },
        { jump, NULL, NULL, 3, false, ARRAS_OK, "" },
        { NULL, jump_in_rows, NULL, 3, false, ARRAS_EINDEX,
          "input a is read at the offset [4], beyond its reach [-3..3]" },
        { NULL, jump_in_rows, NULL, -1, false, ARRAS_OK, "" },
        { NULL, NULL, "r = a((int)a(0));", 1, false, ARRAS_EINDEX,
          "input a is read at the offset [3], beyond its reach [-1..1]" },
        { NULL, NULL, "r = a((int)a(0));", -1, false, ARRAS_EINDEX,
          "beyond the reach found [0..1]" },
        { NULL, NULL, "r = a(5);", 1, false, ARRAS_EINDEX, "at the offset [5]" },
        { jump_anywhere, NULL, NULL, 1, false, ARRAS_EINDEX, "the offset [9223372036854775807]" },
        { jump_anywhere, NULL, NULL, -1, false, ARRAS_EINDEX, "the offset [9223372036854775807]" },
        { too_many_axes, NULL, NULL, 1, false, ARRAS_EINDEX, "[0, 0, 0], and it has 1 axes" },
        { too_many_axes, NULL, NULL, -1, false, ARRAS_EINDEX, "[0, 0, 0], and it has 1 axes" },
        { gives_up, NULL, NULL, 0, false, ARRAS_EINVAL, "cell [33]: no number for 33" },
        { NULL, NULL, "r = 0; if (index(0) == 33) fail(\"no number\");", 0, false, ARRAS_EINVAL,
          "no number" },
        { outside_whole, NULL, NULL, 0, true, ARRAS_EINDEX,
          "cell [39]: input a is read at the place [40], beyond its shape [40]" },
        { NULL, NULL, "r = a(index(0) - 1);", 0, true, ARRAS_EINDEX, "at the place [-1]" },
    };
    double             a[40];
    const int64_t      n = 40;
    const arras_buffer b = { a, ARRAS_F64, 1, &n, NULL };

    for (int i = 0; i < 40; i++)
        a[i] = i == 17 ? 3 : i % 2;
    for (size_t i = 0; i < AR_COUNT(rows); i++) {
        const int64_t            reach[] = { rows[i].reach };
        const int64_t           *declared = rows[i].whole || rows[i].reach < 0 ? NULL : reach;
        const arras_border       border = { .rule = ARRAS_EDGE_WRAP };
        const arras_apply_input  in = { .whole = rows[i].whole,
                                        .before = declared,
                                        .after = declared,
                                        .borders = rows[i].whole ? NULL : &border };
        const arras_apply_output out = { "r", ARRAS_F64 };
        const arras_apply_spec   spec = { .ninputs = 1,
                                          .noutputs = 1,
                                          .inputs = &in,
                                          .outputs = &out,
                                          .cell = rows[i].cell,
                                          .row = rows[i].row,
                                          .text = rows[i].text,
                                          .rank = rows[i].whole,
                                          .shape = rows[i].whole ? &n : NULL };
        arras_flow              *flow = NULL;
        arras_status             status;
        int                      number;

        CASE("row %d: %s", (int)i, rows[i].says);
        CHECK_EQ_INT(arras_flow_new(&flow, NULL, 1 << 20, &err), ARRAS_OK);
        CHECK_EQ_INT(arras_flow_input(&number, flow, "a", &b, &err), ARRAS_OK);
        status = arras_flow_apply(&number, flow, &spec, &err);
        if (status == ARRAS_OK)
            status = arras_flow_result(flow, number, NULL, &err);
        if (status == ARRAS_OK)
            status = arras_flow_run(NULL, flow, &err);
        CHECK_EQ_INT(status, rows[i].status);
        if (status != ARRAS_OK)
            CHECK_HAS(err.text, rows[i].says);
        arras_flow_free(flow);
    }
}

/* ---- Memory ---------------------------------------------------------------------------------- */

/* A function with borders and mirrors, as it is or as text, and one whose reach is found out. */
static arras_status add_functions(int *out, arras_flow *flow, int array, bool text)
{
    arras_status status;
    parts        p;

    reset(&p);
    p.in[0].array = array;
    p.before[0] = p.after[1] = 1;
    p.borders[0].rule = ARRAS_EDGE_REFLECT;
    p.borders[1].rule = ARRAS_EDGE_WRAP;
    p.spec.nmirrors = 1;
    p.spec.mirrors = &p.mirror;
    p.spec.scratch = 64;
    p.spec.cell = text ? NULL : point;
    p.spec.text = text ? "r = a(-1, 1);" : NULL;
    status = arras_flow_apply(out, flow, &p.spec, &err);
    reset(&p);
    p.in[0].array = *out;
    p.in[0].before = p.in[0].after = NULL;
    return status == ARRAS_OK ? arras_flow_apply(out, flow, &p.spec, &err) : status;
}

static arras_status run_everything(bool text)
{
    const int64_t       shape[] = { 6, 8 };
    const arras_buffer  a = { field, ARRAS_F64, 2, shape, NULL };
    const arras_options options = { .threads = 1, .tile_bytes = 200 };
    arras_flow         *flow = NULL;
    arras_results      *got = NULL;
    int                 number = 0;
    arras_status        status = arras_flow_new(&flow, &options, 1 << 20, &err);

    if (status == ARRAS_OK)
        status = arras_flow_input(&number, flow, "a", &a, &err);
    if (status == ARRAS_OK)
        status = add_functions(&number, flow, number, text);
    if (status == ARRAS_OK)
        status = arras_flow_result(flow, number, NULL, &err);
    if (status == ARRAS_OK)
        status = arras_flow_run(&got, flow, &err);
    arras_results_free(got);
    arras_flow_free(flow);
    return status;
}

static void failing_allocations(void)
{
    for (int text = 0; text < 2; text++) {
        arras_status status = ARRAS_ENOMEM;
        int64_t      live;

        CASE("%s", text ? "text" : "cell");
        CHECK_EQ_INT(run_everything(text), ARRAS_OK); /* threads and kernels stay */
        ar_buffers_clear();
        live = ar_alloc_live();
        for (int64_t n = 1; status != ARRAS_OK && n < 2000; n++) {
            ar_alloc_fail_from(n);
            status = run_everything(text);
            ar_alloc_fail_from(0);
            ar_buffers_clear();
            CHECK(status == ARRAS_OK || status == ARRAS_ENOMEM);
            if (!CHECK_EQ_INT(ar_alloc_live(), live))
                break;
        }
        CHECK_EQ_INT(status, ARRAS_OK);
    }
}

TEST_MAIN
{
    RUN(mistakes);
    RUN(wrong_flows);
    RUN(looking_too_far);
    RUN(failing_allocations);
}
