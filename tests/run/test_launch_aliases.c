/* test_launch_aliases.c -- outputs that share memory with inputs: whatever overlaps, the results
 * are those of inputs that nobody touches, and only cells of outputs change. */
#include "launch_kit.h"

enum { CELLS = 40, LENGTH = 9, LAUNCHES = 400 };

static uint64_t state;

static int pick(int n)
{
    state ^= state << 13, state ^= state >> 7, state ^= state << 17;
    return (int)(state >> 33) % n;
}

/* ---- Programs: inputs x, y and outputs u, v -------------------------------------------------- */

static arras_array one(void) { return arras_int(g, 1); }

static arras_array reversed(arras_array x)
{
    return arras_index(x, 1, (arras_item[]){ arras_slice(ARRAS_NONE, ARRAS_NONE, -1) });
}

static arras_array neighbours(arras_array x)
{
    return arras_stencil(x, 3, (int64_t[]){ -1, 0, 1 }, (double[]){ 1, 10, 100 },
                         (arras_edge[]){ { ARRAS_EDGE_WRAP, NULL } });
}

static void cell_by_cell(arras_array x, arras_array y)
{
    arras_output(g, "u", arras_add(arras_multiply(x, arras_int(g, 3)), y));
    arras_output(g, "v", arras_subtract(y, one()));
}

static void other_cells(arras_array x, arras_array y)
{
    arras_output(g, "u", neighbours(x));
    arras_output(g, "v", arras_add(reversed(y), x));
}

static void through_a_temporary(arras_array x, arras_array y)
{
    arras_output(g, "u", arras_subtract(x, arras_sum(y, 0, NULL, true)));
    arras_output(g, "v", arras_multiply(y, arras_max(x, 0, NULL, true)));
}

static void one_after_the_other(arras_array x, arras_array y)
{
    arras_array u = arras_output(g, "u", neighbours(arras_add(x, y)));

    arras_output(g, "v", neighbours(u));
}

static void copies(arras_array x, arras_array y)
{
    arras_output(g, "u", y);
    arras_output(g, "v", x);
}

static void a_copy_and_its_source(arras_array x, arras_array y)
{
    arras_output(g, "u", x);
    arras_output(g, "v", arras_add(x, y));
}

static void twice_the_same(arras_array x, arras_array y)
{
    arras_array u = arras_add(reversed(x), y);

    arras_output(g, "u", u);
    arras_output(g, "v", u);
}

static void no_reads(arras_array x, arras_array y)
{
    (void)x;
    arras_output(g, "u", arras_index_array(g, 1, (arras_dim[]){ LENGTH }, 0));
    arras_output(g, "v", arras_add(y, one()));
}

static const struct {
    const char *name;
    void (*record)(arras_array x, arras_array y);
} programs[] = {
    { "cell by cell", cell_by_cell },
    { "other cells", other_cells },
    { "through a temporary", through_a_temporary },
    { "one after the other", one_after_the_other },
    { "copies", copies },
    { "a copy and its source", a_copy_and_its_source },
    { "twice the same", twice_the_same },
    { "no reads", no_reads },
};

/* ---- Views of one piece of memory ------------------------------------------------------------ */

/* LENGTH cells, from `start` on, `step` apart. */
typedef struct {
    int     start, step;
    int64_t shape, stride;
} view;

static view any_view(void)
{
    static const int steps[] = { 1, 1, 1, 1, -1, 2, -2, 3 };
    view             v = { .step = steps[pick(AR_COUNT(steps))], .shape = LENGTH };
    int              reach = (LENGTH - 1) * abs(v.step);

    v.start = pick(CELLS - reach) + (v.step < 0 ? reach : 0);
    v.stride = v.step * (int64_t)sizeof(double);
    return v;
}

static arras_binding bind(const char *name, double *memory, const view *v, arras_dtype dtype)
{
    return (arras_binding){ name, { memory + v->start, dtype, 1, &v->shape, &v->stride } };
}

/* Steps that differ: whether cells are shared is then not always seen. */
static bool is_odd(const view *a, const view *b) { return abs(a->step) != abs(b->step); }

static bool share_cells(const view *a, const view *b)
{
    for (int i = 0; i < LENGTH; i++)
        for (int k = 0; k < LENGTH; k++)
            if (a->start + i * a->step == b->start + k * b->step)
                return true;
    return false;
}

/* ---- One launch ------------------------------------------------------------------------------ */

static void write_result(double *memory, const view *v, const arras_results *r, const char *name)
{
    const char *cells = arras_results_find(r, name)->buffer.data;

    for (int i = 0; i < LENGTH; i++)
        memcpy(&memory[v->start + i * v->step], cells + (size_t)i * sizeof(double), sizeof(double));
}

static bool same_memory(const double *got, const double *want)
{
    return memcmp(got, want, CELLS * sizeof *got) == 0;
}

static void show(const view *views, const double *got, const double *want)
{
    for (int i = 0; i < 4; i++)
        printf("    %s: %d, %d apart\n", &"x\0y\0u\0v"[2 * i], views[i].start, views[i].step);
    for (int i = 0; i < CELLS; i++)
        if (memcmp(&got[i], &want[i], sizeof got[i]) != 0)
            printf("    cell %d is %g, not %g\n", i, got[i], want[i]);
}

static void launch_once(arras_program *p)
{
    double         memory[CELLS], want[CELLS];
    view           views[4] = { any_view(), any_view(), any_view(), any_view() };
    arras_binding  bindings[4];
    arras_results *r = NULL;
    arras_status   status;

    if (pick(4) == 0)
        views[1] = views[0];
    if (pick(3) == 0)
        views[2] = views[pick(2)];
    for (int i = 0; i < CELLS; i++)
        memory[i] = want[i] = 1 + pick(100);
    for (int i = 0; i < 4; i++) {
        arras_array out = i < 2 ? NULL : arras_output_array(g, i - 2);

        bindings[i] =
            bind(&"x\0y\0u\0v"[2 * i], memory, &views[i], out ? arras_array_dtype(out) : ARRAS_F64);
    }
    arras_evaluate(&r, g, 2, bindings, NULL);
    status = arras_launch(NULL, p, 4, bindings, &err);
    if (share_cells(&views[2], &views[3])) {
        CHECK_EQ_INT(status, ARRAS_EINVAL);
    } else if (status == ARRAS_EINVAL && is_odd(&views[2], &views[3])) {
        CHECK_HAS(err.text, "share memory");
    } else if (!CHECK_EQ_INT(status, ARRAS_OK)) {
        printf("    %s\n", err.text);
    } else {
        write_result(want, &views[2], r, "u");
        write_result(want, &views[3], r, "v");
    }
    if (!CHECK(same_memory(memory, want)))
        show(views, memory, want);
    arras_results_free(r);
}

static void check_programs(const arras_options *options)
{
    for (size_t i = 0; i < AR_COUNT(programs); i++) {
        arras_program *p;

        CASE("%s", programs[i].name);
        state = 12345 + i;
        start();
        programs[i].record(input("x", LENGTH), input("y", LENGTH));
        p = compiled(options);
        for (int k = 0; k < LAUNCHES && test.failures == 0; k++)
            launch_once(p);
        finish(p);
    }
}

static void any_overlap(void) { check_programs(NULL); }
static void any_overlap_small_tiles(void)
{
    check_programs(&(arras_options){ .threads = 3, .tile_bytes = 16 });
}
static void any_overlap_no_fusion(void) { check_programs(&(arras_options){ .no_fusion = true }); }
static void any_overlap_in_the_reference(void)
{
    check_programs(&(arras_options){ .reference = true });
}

/* ---- Large arrays, of which tiles run at once ------------------------------------------------ */

enum { LARGE = 400 * 1000 };

/* The output is the input, moved by `shift` cells: a window fed back again and again. */
static void feed_shifted(int shift)
{
    static double  memory[LARGE + 16], want[LARGE];
    int64_t        wrong = 0;
    arras_program *p;

    start();
    arras_output(g, "y", neighbours(neighbours(input("x", LARGE))));
    p = compiled(NULL);
    count_up(memory, LARGE + 16, 0);
    for (int step = 0; step < 3; step++) {
        double        *x = memory + 8, *y = memory + 8 + shift;
        arras_results *r = NULL;

        for (int i = 0; i < LARGE; i++) /* so that numbers stay small */
            x[i] = (double)((int64_t)x[i] % 1000);
        arras_launch(&r, p, BINDINGS(VEC("x", x, LARGE)), NULL);
        memcpy(want, result(r, "y"), sizeof want);
        arras_results_free(r);
        launched(NULL, p, BINDINGS(VEC("x", x, LARGE), VEC("y", y, LARGE)));
        for (int i = 0; i < LARGE; i++)
            wrong += y[i] != want[i];
    }
    CHECK_EQ_INT(wrong, 0);
    finish(p);
}

static void shifted_windows(void)
{
    for (int shift = -2; shift <= 2; shift++) {
        CASE("shift %d", shift);
        feed_shifted(shift);
    }
}

/* ---- Outputs that lie between each other ----------------------------------------------------- */

/* The columns of one matrix as two outputs: their bytes interleave, their cells do not meet. */
static void columns_of_a_matrix(void)
{
    double         x[4] = { 1, 2, 3, 4 }, m[4][2] = { { 0 } };
    arras_array    a;
    arras_program *p;

    start();
    a = input("x", 4);
    arras_output(g, "u", arras_add(a, arras_int(g, 10)));
    arras_output(g, "v", arras_add(a, arras_int(g, 20)));
    p = compiled(NULL);
    launched(NULL, p,
             BINDINGS(VEC("x", x, 4), STRIDED("u", m[0], 4, 2), STRIDED("v", &m[0][1], 4, 2)));
    CHECK(same_cells(m[0], (double[]){ 11, 21, 12, 22, 13, 23, 14, 24 }, 8));
    finish(p);
}

/* Blocks of columns: rows of one lie between rows of the other. */
static void blocks_of_columns(void)
{
    double         x[4] = { 1, 2, 3, 4 }, m[2][4] = { { 0 } };
    int64_t        strides[] = { 4 * sizeof(double), sizeof(double) };
    arras_binding  u = MATRIX("u", m[0], 2, 2), v = MATRIX("v", &m[0][2], 2, 2);
    arras_array    a;
    arras_program *p;

    start();
    a = matrix("x", 2, 2);
    arras_output(g, "u", arras_add(a, arras_int(g, 10)));
    arras_output(g, "v", arras_add(a, arras_int(g, 20)));
    p = compiled(NULL);
    u.buffer.strides = v.buffer.strides = strides;
    launched(NULL, p, BINDINGS(MATRIX("x", x, 2, 2), u, v));
    CHECK(same_cells(m[0], (double[]){ 11, 12, 21, 22, 13, 14, 23, 24 }, 8));
    v.buffer.data = &m[0][1];
    refused(p, BINDINGS(MATRIX("x", x, 2, 2), u, v), ARRAS_EINVAL, "u and v share memory");
    finish(p);
}

/* Strides by which two cells of one output are the same. */
static void output_over_itself(void)
{
    double         x[4] = { 1, 2, 3, 4 }, m[8] = { 0 };
    int64_t        strides[] = { sizeof(double), sizeof(double) };
    arras_binding  y = MATRIX("y", m, 2, 2);
    arras_program *p;

    start();
    arras_output(g, "y", arras_add(matrix("x", 2, 2), one()));
    p = compiled(NULL);
    y.buffer.strides = strides;
    refused(p, BINDINGS(MATRIX("x", x, 2, 2), y), ARRAS_EINVAL, "share memory");
    strides[0] = 4; /* and cells that only half meet */
    refused(p, BINDINGS(MATRIX("x", x, 2, 2), y), ARRAS_EINVAL, "share memory");
    strides[0] = -(int64_t)(4 * sizeof(double));
    y.buffer.data = m + 4;
    launched(NULL, p, BINDINGS(MATRIX("x", x, 2, 2), y));
    CHECK(same_cells(m, (double[]){ 4, 5, 0, 0, 2, 3, 0, 0 }, 8));
    finish(p);
}

/* y[i,j] = x[i,j] and what is beside it in w, over x itself, in rows that are not whole vectors:
 * cells that were overwritten are not read again. */
static void rows_over_themselves(void)
{
    enum { ROWS = 3, WIDTH = 27 };
    double         x[ROWS * WIDTH], w[ROWS * (WIDTH + 1)], want[ROWS * WIDTH];
    arras_array    a, b, y;
    arras_program *p;

    for (int i = 0; i < ROWS * (WIDTH + 1); i++)
        w[i] = i % 11;
    for (int i = 0; i < ROWS * WIDTH; i++)
        x[i] = i % 7;
    start();
    y = a = matrix("x", ROWS, WIDTH);
    b = arras_index(matrix("w", ROWS, WIDTH + 1), 2,
                    (arras_item[]){ arras_all_of_axis(), arras_slice(1, ARRAS_NONE, 1) });
    for (int i = 0; i < 20; i++)
        y = arras_subtract(arras_multiply(y, arras_float(g, 0.5)), arras_add(b, a));
    arras_output(g, "y", y);
    p = compiled(NULL);
    launched(NULL, p,
             BINDINGS(MATRIX("x", x, ROWS, WIDTH), MATRIX("w", w, ROWS, WIDTH + 1),
                      MATRIX("y", want, ROWS, WIDTH)));
    launched(NULL, p,
             BINDINGS(MATRIX("x", x, ROWS, WIDTH), MATRIX("w", w, ROWS, WIDTH + 1),
                      MATRIX("y", x, ROWS, WIDTH)));
    CHECK(same_cells(x, want, ROWS * WIDTH));
    finish(p);
}

TEST_MAIN
{
    RUN(any_overlap);
    RUN(any_overlap_small_tiles);
    RUN(any_overlap_no_fusion);
    RUN(any_overlap_in_the_reference);
    RUN(shifted_windows);
    RUN(columns_of_a_matrix);
    RUN(blocks_of_columns);
    RUN(output_over_itself);
    RUN(rows_over_themselves);
}
