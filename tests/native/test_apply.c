/* test_apply.c -- functions in C over arrays: what they see, what they give, where it goes. */
#include "apply_kit.h"
#include "run/run.h"

#include <stdatomic.h>

static arras_error err;

/* ---- Short names ----------------------------------------------------------------------------- */

static arras_flow *new_flow(int threads, int64_t tile_bytes)
{
    const arras_options options = { .threads = threads, .tile_bytes = tile_bytes };
    arras_flow         *flow = NULL;

    CHECK_EQ_INT(arras_flow_new(&flow, &options, 64 << 20, &err), ARRAS_OK);
    return flow;
}

static int input(arras_flow *flow, const char *name, arras_dtype dtype, int rank,
                 const int64_t *shape, const void *cells)
{
    const arras_buffer b = { (void *)(uintptr_t)cells, dtype, rank, shape, NULL };
    int                number = -1;

    if (!CHECK_EQ_INT(arras_flow_input(&number, flow, name, &b, &err), ARRAS_OK))
        printf("    %s\n", err.text);
    return number;
}

static int apply(arras_flow *flow, const arras_apply_spec *spec)
{
    int numbers[8] = { -1 };

    if (!CHECK_EQ_INT(arras_flow_apply(numbers, flow, spec, &err), ARRAS_OK))
        printf("    %s\n", err.text);
    return numbers[0];
}

/* Runs a flow whose one result is `array`; it is freed. */
static arras_results *run(arras_flow *flow, int array)
{
    arras_results *got = NULL;

    CHECK_EQ_INT(arras_flow_result(flow, array, NULL, &err), ARRAS_OK);
    if (!CHECK_EQ_INT(arras_flow_run(&got, flow, &err), ARRAS_OK))
        printf("    %s\n", err.text);
    arras_flow_free(flow);
    return got;
}

static const void *cells_of(const arras_results *got)
{
    return got && arras_results_count(got) == 1 ? arras_results_at(got, 0)->buffer.data : NULL;
}

static const arras_apply_output one_f64 = { "r", ARRAS_F64 };

/* ---- What a function sees -------------------------------------------------------------------- */

static void coordinates(const arras_cell *c, void *const *out)
{
    *(double *)out[0] = (double)(c->index[0] * 100 + c->index[1]) +
                        1000 * (double)(c->ninputs + 10 * c->noutputs) + *(double *)c->context;
}

static void sees_its_place(void)
{
    double                 seven = 7;
    const int64_t          shape[] = { 3, 4 };
    const arras_apply_spec spec = { .noutputs = 1,
                                    .outputs = &one_f64,
                                    .cell = coordinates,
                                    .context = &seven,
                                    .rank = 2,
                                    .shape = shape };
    arras_flow            *flow = new_flow(2, 1);
    arras_results         *got = run(flow, apply(flow, &spec));
    const double          *r = cells_of(got);

    for (int i = 0; i < 12 && CHECK(r); i++)
        CHECK_EQ_REAL(r[i], i / 4 * 100 + i % 4 + 10007);
    arras_results_free(got);
}

static void remembers(const arras_cell *c, void *const *out)
{
    unsigned char *bytes = c->scratch;

    *(double *)out[0] = bytes[99] == 0 || bytes[99] == 5; /* zeros at first, and no one else's */
    bytes[99] = 5;
}

static void has_memory_of_its_own(void)
{
    const int64_t          shape[] = { 5000 };
    const arras_apply_spec spec = { .noutputs = 1,
                                    .outputs = &one_f64,
                                    .cell = remembers,
                                    .scratch = 100,
                                    .rank = 1,
                                    .shape = shape };
    arras_flow            *flow = new_flow(3, 800);
    arras_results         *got = run(flow, apply(flow, &spec));
    const double          *r = cells_of(got);
    bool                   all = r != NULL;

    for (int i = 0; i < 5000 && all; i++)
        all = r[i] == 1;
    CHECK(all);
    arras_results_free(got);
}

/* Between the cells of a table, at places that other arrays say. */
static void interpolate(const arras_cell *c, void *const *out)
{
    double  x = arras_f64_at1(c, 0, 0), y = arras_f64_at1(c, 1, 0);
    int64_t i = (int64_t)x, j = (int64_t)y;
    double  u = x - (double)i, v = y - (double)j;

    *(double *)out[0] =
        (1 - u) * ((1 - v) * arras_f64_at2(c, 2, i, j) + v * arras_f64_at2(c, 2, i, j + 1)) +
        u * ((1 - v) * arras_f64_at2(c, 2, i + 1, j) + v * arras_f64_at2(c, 2, i + 1, j + 1));
}

static void looks_anything_up(void)
{
    const double            x[] = { 0, 1.5, 2.25, 0.5 }, y[] = { 0, 0.5, 1.75, 2.5 };
    double                  table[5][4];
    const int64_t           points = 4, shape[] = { 5, 4 }, zero = 0;
    const arras_apply_input inputs[] = { { .array = 0, .before = &zero },
                                         { .array = 1, .before = &zero },
                                         { .array = 2, .whole = true } };
    const arras_apply_spec  spec = {
         .ninputs = 3, .noutputs = 1, .inputs = inputs, .outputs = &one_f64, .cell = interpolate
    };
    arras_flow    *flow = new_flow(1, 8);
    arras_results *got;
    const double  *r;

    for (int i = 0; i < 20; i++)
        table[i / 4][i % 4] = i / 4 * 10 + i % 4;
    input(flow, "x", ARRAS_F64, 1, &points, x);
    input(flow, "y", ARRAS_F64, 1, &points, y);
    input(flow, "table", ARRAS_F64, 2, shape, table);
    got = run(flow, apply(flow, &spec));
    r = cells_of(got);
    for (int i = 0; i < 4 && CHECK(r); i++)
        CHECK_EQ_REAL(r[i], x[i] * 10 + y[i]);
    arras_results_free(got);
}

/* ---- Inputs that lie in any way -------------------------------------------------------------- */

static void difference(const arras_cell *c, void *const *out)
{
    *(double *)out[0] = arras_f64_at2(c, 0, 1, 0) - arras_f64_at2(c, 0, 0, 1);
}

static void takes_any_strides(void)
{
    static const struct {
        int64_t     strides[2], first;
        const char *what;
    } rows[] = {
        { { 80, 8 }, 0, "C order" },
        { { 8, 80 }, 0, "transposed" },
        { { -80, 8 }, 90, "backwards" },
        { { 160, 16 }, 0, "every other" },
    };
    const int64_t           shape[] = { 5, 5 };
    const arras_apply_input in = { 0 };
    const arras_apply_spec  spec = {
         .ninputs = 1, .noutputs = 1, .inputs = &in, .outputs = &one_f64, .cell = difference
    };
    double cells[100];

    for (int i = 0; i < 100; i++)
        cells[i] = i * i % 89;
    for (size_t k = 0; k < AR_COUNT(rows); k++) {
        const int64_t     *by = rows[k].strides;
        const arras_buffer b = { cells + rows[k].first, ARRAS_F64, 2, shape, by };
        const char        *at = b.data;
        arras_flow        *flow = new_flow(1, 0);
        arras_results     *got;
        const double      *r;
        int                number;

        CASE("%s", rows[k].what);
        CHECK_EQ_INT(arras_flow_input(&number, flow, "a", &b, &err), ARRAS_OK);
        got = run(flow, apply(flow, &spec));
        r = cells_of(got);
        for (int64_t i = 0; i < 16 && CHECK(r); i++) {
            int64_t place = i / 4 * by[0] + i % 4 * by[1];

            CHECK_EQ_REAL(r[i], *(const double *)(const void *)(at + place + by[0]) -
                                    *(const double *)(const void *)(at + place + by[1]));
        }
        arras_results_free(got);
    }
}

/* ---- Mirrors --------------------------------------------------------------------------------- */

static atomic_int calls;

/* What the mirrors below say too: land (missing, or 200 and more) is 0, 7 is 14, NaN is -1. */
static double rule(double x) { return isnan(x) ? -1 : x >= 200 ? 0 : x * 2; }

static void by_rule(const arras_cell *c, void *const *out)
{
    calls++;
    *(double *)out[0] = rule(arras_f64_at1(c, 0, 0));
    *(float *)out[1] = (float)rule(arras_f64_at1(c, 0, 0)) + 1;
}

static void by_rule_in_rows(const arras_cell *c, int64_t count, void *const *out)
{
    const double *x = (const double *)(const void *)arras_cell_near1(c, 0, 0);

    calls++;
    for (int64_t i = 0; i < count; i++) {
        ((double *)out[0])[i] = rule(x[i]);
        ((float *)out[1])[i] = (float)rule(x[i]) + 1;
    }
}

static const char rule_text[] = "double x = a(0), y = isnan(x) ? -1 : x >= 200 ? 0 : x * 2;\n"
                                "r = y;\n"
                                "s = (float)y + 1;\n";

enum { MIRRORED = 1000 };

static void run_mirrored(arras_apply_spec spec, const double *a, int nmirrors)
{
    static const double      low[] = { 200, 7, NAN }, high[] = { INFINITY, 7, NAN };
    static const double      r[] = { 0, 14, -1 };
    static const float       s[] = { 1, 15, 0 };
    const void              *outputs[3][2];
    arras_mirror             mirrors[3];
    const int64_t            n = MIRRORED, zero = 0;
    const arras_apply_input  in = { .before = &zero };
    const arras_apply_output out[] = { one_f64, { "s", ARRAS_F32 } };
    arras_flow              *flow = new_flow(2, 500);
    arras_results           *got = NULL;
    int                      numbers[2];

    for (int i = 0; i < 3; i++) {
        outputs[i][0] = &r[i];
        outputs[i][1] = &s[i];
        mirrors[i] = (arras_mirror){ &low[i], &high[i], outputs[i] };
    }
    spec.ninputs = 1, spec.noutputs = 2, spec.inputs = &in, spec.outputs = out;
    spec.nmirrors = nmirrors, spec.mirrors = mirrors;
    input(flow, "a", ARRAS_F64, 1, &n, a);
    CHECK_EQ_INT(arras_flow_apply(numbers, flow, &spec, &err), ARRAS_OK);
    CHECK_EQ_INT(arras_flow_result(flow, numbers[0], NULL, &err), ARRAS_OK);
    CHECK_EQ_INT(arras_flow_result(flow, numbers[1], NULL, &err), ARRAS_OK);
    if (CHECK_EQ_INT(arras_flow_run(&got, flow, &err), ARRAS_OK))
        for (int i = 0; i < MIRRORED; i++) {
            CHECK_EQ_REAL(((double *)arras_results_find(got, "r")->buffer.data)[i], rule(a[i]));
            CHECK_EQ_REAL((double)((float *)arras_results_find(got, "s")->buffer.data)[i],
                          rule(a[i]) + 1);
        }
    arras_results_free(got);
    arras_flow_free(flow);
}

static void mirrors_equal_calls(void)
{
    static const char *const names[] = { "cell", "row", "text" };
    double                   a[MIRRORED];
    int                      plain = 0;

    for (int i = 0; i < MIRRORED; i++) {
        a[i] = i / 7 % 3 == 0 ? 200 + i : i % 11 == 0 ? NAN : i % 13 == 0 ? 7 : i % 50 + 0.5;
        plain += !isnan(a[i]) && a[i] < 200 && a[i] != 7;
    }
    for (int form = 0; form < 3; form++)
        for (int nmirrors = 0; nmirrors <= 3; nmirrors++) {
            CASE("%s, %d mirrors", names[form], nmirrors);
            calls = 0;
            run_mirrored((arras_apply_spec){ .cell = form == 0 ? by_rule : NULL,
                                             .row = form == 1 ? by_rule_in_rows : NULL,
                                             .text = form == 2 ? rule_text : NULL },
                         a, nmirrors);
            if (form == 0)
                CHECK(nmirrors == 0  ? calls == MIRRORED
                      : nmirrors < 3 ? calls > plain
                                     : calls == plain);
        }
}

/* ---- Functions one after the other ----------------------------------------------------------- */

static void blur(const arras_cell *c, void *const *out)
{
    *(float *)out[0] = (arras_f32_at2(c, 0, -1, 0) + arras_f32_at2(c, 0, 1, 0) +
                        arras_f32_at2(c, 0, 0, -1) + arras_f32_at2(c, 0, 0, 1)) /
                       4;
}

enum { SIDE = 120, DEPTH = 4 };

static void blur_slowly(float *to, const float *from)
{
    for (int64_t i = 0; i < SIDE; i++)
        for (int64_t j = 0; j < SIDE; j++)
            to[i * SIDE + j] = (from[unfold(ARRAS_EDGE_WRAP, i - 1, SIDE) * SIDE + j] +
                                from[unfold(ARRAS_EDGE_WRAP, i + 1, SIDE) * SIDE + j] +
                                from[i * SIDE + unfold(ARRAS_EDGE_MIRROR, j - 1, SIDE)] +
                                from[i * SIDE + unfold(ARRAS_EDGE_MIRROR, j + 1, SIDE)]) /
                               4;
}

static void one_after_the_other(void)
{
    static float       field[SIDE * SIDE], cells[2][SIDE * SIDE], result[SIDE * SIDE];
    const int64_t      shape[] = { SIDE, SIDE };
    const arras_border borders[] = { { .rule = ARRAS_EDGE_WRAP }, { .rule = ARRAS_EDGE_MIRROR } };
    const arras_apply_output output = { "blurred", ARRAS_F32 };
    const arras_buffer       to = { result, ARRAS_F32, 2, shape, NULL };
    char                    *explained = NULL;
    arras_flow              *flow = new_flow(2, 4000);
    int                      array;

    for (int i = 0; i < SIDE * SIDE; i++)
        field[i] = cells[0][i] = (float)(i * 37 % 101);
    array = input(flow, "h", ARRAS_F32, 2, shape, field);
    for (int i = 0; i < DEPTH; i++) {
        const arras_apply_input in = { .array = array, .borders = borders };
        const arras_apply_spec  spec = {
             .ninputs = 1, .noutputs = 1, .inputs = &in, .outputs = &output, .cell = blur
        };

        array = apply(flow, &spec);
        blur_slowly(cells[(i + 1) % 2], cells[i % 2]);
    }
    CHECK_EQ_INT(arras_flow_result(flow, array, &to, &err), ARRAS_OK);
    CHECK(arras_flow_progress(flow) < 0);
    CHECK_EQ_INT(arras_flow_start(flow, &err), ARRAS_OK);
    CHECK_EQ_INT(arras_flow_explain(&explained, flow, &err), ARRAS_OK);
    CHECK_HAS(explained, "1 passes"); /* nothing in between is stored */
    CHECK_HAS(explained, "4 steps");
    CHECK_EQ_INT(arras_flow_wait(NULL, flow, &err), ARRAS_OK);
    CHECK(memcmp(result, cells[DEPTH % 2], sizeof result) == 0);
    arras_text_free(explained);
    arras_flow_free(flow);
}

/* ---- Texts ----------------------------------------------------------------------------------- */

static void text_with_helpers(void)
{
    double                  numbers[] = { 2, 3 };
    const double            a[] = { 1, 2, 3, 4, 5 };
    const int64_t           n = 5;
    const arras_border      border = { .rule = ARRAS_EDGE_NEAREST };
    const arras_apply_input in = { .borders = &border };
    const arras_apply_spec  spec = { .ninputs = 1,
                                     .noutputs = 1,
                                     .inputs = &in,
                                     .outputs = &one_f64,
                                     .context = numbers,
                                     .length = 2,
                                     .prelude = "static double square(double x) { return x * x; }",
                                     .text =
                                         "const double *by = context;\n"
                                          "r[0] = square(a(-1)) + by[0] * index(0);\n"
                                          "if (index(0) == 4) { r[1] = sqrt(a(1) * 5); return; }\n"
                                          "r[1] = a(1) * by[1];" };
    arras_flow             *flow = new_flow(1, 0);
    arras_results          *got;
    const double           *r;

    input(flow, "a", ARRAS_F64, 1, &n, a);
    got = run(flow, apply(flow, &spec));
    r = cells_of(got);
    for (int i = 0; i < 5 && CHECK(r); i++) {
        double left = a[i ? i - 1 : 0];

        CHECK_EQ_REAL(r[2 * i], left * left + 2 * i);
        CHECK_EQ_REAL(r[2 * i + 1], i == 4 ? 5 : a[i + 1] * 3);
    }
    arras_results_free(got);
}

static void complex_text(void)
{
    const float              a[] = { 1, 2, 3, 4, 5, 6 };
    const int64_t            n = 3;
    const arras_apply_input  in = { 0 };
    const arras_apply_output out = { "z", ARRAS_C64 };
    const arras_apply_spec   spec = {
          .ninputs = 1, .noutputs = 1, .inputs = &in, .outputs = &out, .text = "z = a(0) * a(1);"
    };
    arras_flow    *flow = new_flow(1, 0);
    arras_results *got;
    const float   *z;

    input(flow, "a", ARRAS_C64, 1, &n, a);
    got = run(flow, apply(flow, &spec));
    z = cells_of(got);
    for (int i = 0; i < 2 && CHECK(z); i++) {
        CHECK_EQ_REAL((double)z[2 * i],
                      (double)(a[2 * i] * a[2 * i + 2] - a[2 * i + 1] * a[2 * i + 3]));
        CHECK_EQ_REAL((double)z[2 * i + 1],
                      (double)(a[2 * i] * a[2 * i + 3] + a[2 * i + 1] * a[2 * i + 2]));
    }
    arras_results_free(got);
}

/* Every third cell of a row, a diagonal, and a cell that stays. */
static void steps_in_texts(void)
{
    double                  a[7][20];
    const int64_t           shape[] = { 7, 20 }, cells = 7, zeros[] = { 0, 0 };
    const int64_t           thirds[] = { 0, 3 }, diagonal[] = { 1, 2 }, start[] = { 2, -1 };
    const int               axes[] = { 0, 0 };
    const arras_border      wrap[] = { { .rule = ARRAS_EDGE_WRAP }, { .rule = ARRAS_EDGE_WRAP } };
    const arras_apply_input inputs[] = {
        { .before = zeros, .borders = wrap, .axes = axes, .step = thirds, .name = "row" },
        { .before = zeros,
          .borders = wrap,
          .axes = axes,
          .step = diagonal,
          .start = start,
          .name = "slope" },
        { .before = zeros,
          .borders = wrap,
          .axes = axes,
          .step = zeros,
          .start = start,
          .name = "fixed" }
    };
    const arras_apply_spec spec = { .ninputs = 3,
                                    .noutputs = 1,
                                    .inputs = inputs,
                                    .outputs = &one_f64,
                                    .text =
                                        "r = row(0, 0) + 1000 * slope(0, 0) + 1e6 * fixed(0, 0);",
                                    .rank = 1,
                                    .shape = &cells };
    arras_flow            *flow = new_flow(1, 1 << 20);
    arras_results         *got;
    const double          *r;

    for (int i = 0; i < 140; i++)
        a[i / 20][i % 20] = i;
    input(flow, "a", ARRAS_F64, 2, shape, a);
    got = run(flow, apply(flow, &spec));
    r = cells_of(got);
    for (int i = 0; i < 7 && CHECK(r); i++)
        CHECK_EQ_REAL(r[i],
                      a[0][3 * i] + 1000 * a[(i + 2) % 7][(2 * i + 19) % 20] + 1e6 * a[2][19]);
    arras_results_free(got);
}

/* ---- Borders --------------------------------------------------------------------------------- */

enum { LONGEST = 4, FARTHEST = 9 };

static void copy(const arras_cell *c, void *const *out)
{
    *(double *)out[0] = arras_f64_at1(c, 0, 0);
}

/* All neighbours within reach, each with a weight of its own. */
static void all_near(const arras_cell *c, void *const *out)
{
    const int64_t *reach = c->context;
    double         all = 0;

    for (int64_t o = -reach[0]; o <= reach[1]; o++)
        all = all * 3 + arras_f64_at1(c, 0, o);
    *(double *)out[0] = all;
}

static bool border_is_right(arras_edge_rule rule_of_border, int64_t n, const int64_t *reach)
{
    const double            a[] = { 1, 2, 3, 4 };
    const int64_t           zero = 0;
    const arras_border      border = { .rule = rule_of_border };
    const arras_apply_input first = { .before = &zero };
    const arras_apply_input second = {
        .array = 1, .before = reach, .after = reach + 1, .borders = &border
    };
    arras_apply_spec spec = {
        .ninputs = 1, .noutputs = 1, .inputs = &first, .outputs = &one_f64, .cell = copy
    };
    arras_flow    *flow = new_flow(1, 1);
    arras_results *got;
    const double  *r;
    bool           right;

    input(flow, "a", ARRAS_F64, 1, &n, a);
    apply(flow, &spec); /* so that tiles have what they need, and no more */
    spec.inputs = &second, spec.cell = all_near, spec.context = (void *)(uintptr_t)reach;
    got = run(flow, apply(flow, &spec));
    r = cells_of(got);
    right = r != NULL;
    for (int64_t i = 0; i < n && right; i++) {
        double all = 0;

        for (int64_t o = -reach[0]; o <= reach[1]; o++) {
            int64_t at = unfold(rule_of_border, i + o, n);

            all = all * 3 + (at < 0 ? 0 : a[at]);
        }
        right = r[i] == all;
    }
    arras_results_free(got);
    return right;
}

static void every_border(void)
{
    for (int rule_of_border = 1; rule_of_border < ARRAS_EDGE_END; rule_of_border++)
        for (int64_t n = 1; n <= LONGEST; n++)
            for (int64_t i = 0; i <= FARTHEST * (FARTHEST + 2); i++) {
                const int64_t reach[] = { i / (FARTHEST + 1), i % (FARTHEST + 1) };

                if (!CHECK(border_is_right((arras_edge_rule)rule_of_border, n, reach)))
                    printf("    rule %d, %d cells, reach %d and %d\n", rule_of_border, (int)n,
                           (int)reach[0], (int)reach[1]);
            }
}

/* ---- Shapes ---------------------------------------------------------------------------------- */

static void nothing(const arras_cell *c, void *const *out)
{
    (void)c;
    *(double *)out[0] = 1;
}

static void empty_arrays(void)
{
    const int64_t           shape[] = { 0, 3 }, one[] = { 1, 1 };
    const arras_apply_input in = { .before = one };
    const arras_apply_spec  spec = {
         .ninputs = 1, .noutputs = 1, .inputs = &in, .outputs = &one_f64, .cell = nothing
    };
    arras_flow    *flow = new_flow(1, 0);
    arras_results *got;

    input(flow, "a", ARRAS_F64, 2, shape, NULL);
    got = run(flow, apply(flow, &spec));
    if (CHECK(got)) {
        CHECK_EQ_INT(arras_results_at(got, 0)->buffer.shape[0], 0);
        CHECK_EQ_INT(arras_results_at(got, 0)->buffer.shape[1], 2);
    }
    arras_results_free(got);
}

static void single_cell(void)
{
    const double            a = 5;
    const arras_apply_input in = { 0 };
    const arras_apply_spec  spec = {
         .ninputs = 1, .noutputs = 1, .inputs = &in, .outputs = &one_f64, .text = "r = a() + 1;"
    };
    arras_flow    *flow = new_flow(1, 0);
    arras_results *got;

    input(flow, "a", ARRAS_F64, 0, NULL, &a);
    got = run(flow, apply(flow, &spec));
    if (CHECK(cells_of(got)))
        CHECK_EQ_REAL(*(const double *)cells_of(got), 6);
    arras_results_free(got);
}

/* ---- Cancelling ------------------------------------------------------------------------------ */

static arras_flow *cancelled;

static void cancels(const arras_cell *c, void *const *out)
{
    if (c->index[0] == 0)
        arras_flow_cancel(cancelled);
    *(double *)out[0] = 0;
}

static void can_be_cancelled(void)
{
    const int64_t          shape[] = { 100000 };
    const arras_apply_spec spec = {
        .noutputs = 1, .outputs = &one_f64, .cell = cancels, .rank = 1, .shape = shape
    };

    cancelled = new_flow(1, 80);
    CHECK_EQ_INT(arras_flow_result(cancelled, apply(cancelled, &spec), NULL, &err), ARRAS_OK);
    CHECK_EQ_INT(arras_flow_run(NULL, cancelled, &err), ARRAS_ECANCEL);
    arras_flow_free(cancelled);
}

/* ---- How far it has come --------------------------------------------------------------------- */

/* What functions saw: the progress at their first call and at their last. */
typedef struct {
    const arras_flow *flow;
    int               calls;
    double            first, last;
} watch;

static void look(watch *w)
{
    w->last = arras_flow_progress(w->flow);
    w->first = w->calls++ ? w->first : w->last;
}

static void looks_at_cells(const arras_cell *c, void *const *out)
{
    look(c->context);
    *(double *)out[0] = (double)c->index[0];
}

static void looks_at_all(const arras_cell *c, void *const *out)
{
    const int64_t last = 999;

    look(c->context);
    *(double *)out[0] = (double)c->index[0] + *(const double *)arras_cell_near1(c, 0, last);
}

/* An array that is kept, in one tile or in many, before another that needs all of it. */
static void progress_goes_by_bytes(void)
{
    static const struct {
        int64_t results, tile_bytes;
        double  share; /* of the first pass: 8000 bytes of 16000 + those of the results */
    } cases[] = {
        { 1000, 800, 8000.0 / 24000 },     /* many tiles, then many */
        { 1000, 1 << 20, 8000.0 / 24000 }, /* one, and one: neither had a part in the progress */
        { 100000, 8000, 8000.0 / 816000 }, /* one, then many: it stood at 0 */
        { 10, 80, 8000.0 / 16080 },        /* many, then few */
    };

    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        const int64_t     shape[2] = { 1000, cases[i].results };
        arras_flow       *flow = new_flow(1, cases[i].tile_bytes);
        watch             w[2] = { { .flow = flow }, { .flow = flow } };
        arras_apply_spec  first = { .noutputs = 1,
                                    .outputs = &one_f64,
                                    .cell = looks_at_cells,
                                    .context = &w[0],
                                    .rank = 1,
                                    .shape = shape };
        arras_apply_input in = { .array = apply(flow, &first), .whole = true };
        arras_apply_spec  then = { .ninputs = 1,
                                   .inputs = &in,
                                   .noutputs = 1,
                                   .outputs = &one_f64,
                                   .cell = looks_at_all,
                                   .context = &w[1],
                                   .rank = 1,
                                   .shape = shape + 1 };

        CASE("%d results", (int)cases[i].results);
        CHECK_EQ_INT(arras_flow_result(flow, apply(flow, &then), NULL, &err), ARRAS_OK);
        CHECK_EQ_INT(arras_flow_run(NULL, flow, &err), ARRAS_OK);
        CHECK(w[0].calls >= 1000 && w[1].calls >= cases[i].results);
        CHECK(w[0].first >= 0 && w[0].last > 0 && w[0].last < cases[i].share);
        CHECK(w[0].last >= cases[i].share / 2);
        CHECK(w[1].first >= cases[i].share && w[1].last > w[1].first - 1e-9 && w[1].last < 1);
        CHECK_EQ_REAL(arras_flow_progress(flow), 1);
        arras_flow_free(flow);
    }
}

TEST_MAIN
{
    RUN(progress_goes_by_bytes);
    RUN(sees_its_place);
    RUN(has_memory_of_its_own);
    RUN(looks_anything_up);
    RUN(takes_any_strides);
    RUN(mirrors_equal_calls);
    RUN(one_after_the_other);
    RUN(text_with_helpers);
    RUN(complex_text);
    RUN(steps_in_texts);
    RUN(every_border);
    RUN(empty_arrays);
    RUN(single_cell);
    RUN(can_be_cancelled);
}
