/* test_launch_random.c -- compiled random programs give the bits of the reference evaluator: for
 * any number of threads, any tiles, fused or not, and wherever their arrays lie in memory. */
#include "compile/core_cache.h"
#include "random_programs.h"

enum { PROGRAMS = 100, MOST_OUTPUTS = 8 };

/* ---- Comparing ------------------------------------------------------------------------------- */

/* The sign and the payload of a nan are nobody's business. */
static bool same_value(arras_dtype dtype, const char *got, const char *want)
{
    ar_value a = { .bits = { 0, 0 } }, b = a;

    memcpy(&a, got, ar_dtype_size(dtype));
    memcpy(&b, want, ar_dtype_size(dtype));
    ar_value_canonical(dtype, &a);
    ar_value_canonical(dtype, &b);
    return memcmp(&a, &b, sizeof a) == 0;
}

/* Where cell number i, in C order, lies. */
static int64_t offset_of(const arras_buffer *b, int64_t i)
{
    int64_t offset = 0;

    if (!b->strides)
        return i * (int64_t)ar_dtype_size(b->dtype);
    for (int axis = b->rank - 1; axis >= 0; axis--) {
        offset += i % b->shape[axis] * b->strides[axis];
        i /= b->shape[axis];
    }
    return offset;
}

static void compare_one(const char *name, const arras_buffer *got, const arras_buffer *want)
{
    int64_t wrong = 0, first = -1;
    ar_text text = { 0 };

    for (int64_t i = 0; i < (int64_t)cell_count(want); i++)
        if (!same_value(want->dtype, (char *)got->data + offset_of(got, i),
                        (char *)want->data + offset_of(want, i))) {
            wrong++;
            first = first < 0 ? i : first;
        }
    if (CHECK_EQ_INT(wrong, 0))
        return;
    ar_value_print(&text, want->dtype, (char *)got->data + offset_of(got, first));
    ar_text_add(&text, ", not ");
    ar_value_print(&text, want->dtype, (char *)want->data + offset_of(want, first));
    printf("    %s cell %" PRId64 ": %s\n", name, first, text.data);
    ar_text_free(&text);
}

static void compare_all(const arras_results *got, const arras_results *want)
{
    for (int i = 0; i < want->count; i++) {
        const arras_buffer *a = &got->items[i].buffer, *b = &want->items[i].buffer;

        if (CHECK_EQ_INT(a->dtype, b->dtype) && CHECK_EQ_INT(a->rank, b->rank) &&
            CHECK(b->rank == 0 || memcmp(a->shape, b->shape, (size_t)b->rank * 8) == 0))
            compare_one(want->items[i].name, a, b);
    }
}

/* ---- Launching ------------------------------------------------------------------------------- */

static arras_program *compile(const arras_options *options, arras_status wanted)
{
    arras_program *p = NULL;
    arras_error    err = { ARRAS_OK, "" };
    arras_status   status = arras_compile(&p, g, options, &err);

    if (status != ARRAS_OK && !CHECK(statuses_agree(wanted, status)))
        printf("    compile: %s\n", err.text);
    if (p && !CHECK(!arras_program_warning(p)))
        printf("    %s\n", arras_program_warning(p));
    return p;
}

static void launch(arras_program *p, arras_status wanted, const arras_results *want)
{
    arras_results *got = NULL;
    arras_error    err = { ARRAS_OK, "" };
    arras_status   status = arras_launch(&got, p, nbound, bound, &err);

    if (!CHECK(statuses_agree(wanted, status)))
        printf("    %d, not %d: %s\n", (int)status, (int)wanted, err.text);
    else if (status == ARRAS_OK && wanted == ARRAS_OK)
        compare_all(got, want);
    arras_results_free(got);
}

static void compile_and_launch(const arras_options *options, arras_status wanted,
                               const arras_results *want)
{
    int            before = test.failures;
    arras_program *p = compile(options, wanted);

    if (p) {
        launch(p, wanted, want);
        launch(p, wanted, want);
    }
    if (test.failures > before)
        printf("    with %d threads, tiles of %d bytes%s\n", options->threads,
               (int)options->tile_bytes, options->no_fusion ? ", not fused" : "");
    arras_program_free(p);
}

static const arras_options ways[] = {
    { .threads = 1 },
    { .threads = 2, .tile_bytes = 1 },
    { .threads = 3, .tile_bytes = 200 },
    { .threads = 7, .tile_bytes = 40 },
    { .threads = 7 },
};

static void check_program(bool no_fusion)
{
    arras_results *want = NULL;
    arras_status   wanted = ar_reference_run(&want, g, nbound, bound, NULL);
    int            failures = test.failures;

    for (size_t i = 0; i < AR_COUNT(ways) && test.failures == failures; i++) {
        arras_options options = ways[i];

        options.no_fusion = no_fusion;
        compile_and_launch(&options, wanted, want);
    }
    ar_results_free(want);
}

static void end_program(int failures)
{
    ar_core_cache_clear();
    ar_buffers_clear();
    if (test.failures > failures)
        show_programs(g);
    end();
}

static void begin_program(uint64_t seed)
{
    CASE("seed %d", (int)seed);
    longest = seed % 3 ? 40 : 3;
    largest = seed % 3 ? 3000 : 300;
    begin();
    ar_core_cache_clear();
    ar_buffers_clear();
    record(seed);
}

static void threads_and_tiles(void)
{
    for (uint64_t seed = 1; seed <= PROGRAMS; seed++) {
        int failures = test.failures;

        begin_program(seed);
        check_program(false);
        if (seed % 3 == 0)
            check_program(true);
        end_program(failures);
    }
}

/* ---- Anywhere in memory ---------------------------------------------------------------------- */

typedef struct {
    char   *block;
    int64_t strides[ARRAS_MAX_RANK];
} layout;

/* Axes in any order, either way, with gaps, or over and over the same cells; perhaps not aligned.
 */
static void *lay_out(layout *l, arras_dtype dtype, int rank, const int64_t *shape, bool repeats)
{
    int64_t size = (int64_t)ar_dtype_size(dtype), span = size, start = 0;
    bool    odd = pick(4) == 0;
    int     axes[ARRAS_MAX_RANK];

    for (int axis = 0; axis < rank; axis++) {
        int other = pick(axis + 1);

        axes[axis] = axes[other];
        axes[other] = axis;
    }
    for (int i = 0; i < rank; i++) {
        int64_t stride = span + (pick(3) ? 0 : size);

        if (repeats && pick(4) == 0)
            stride = 0;
        span += stride * (shape[axes[i]] > 0 ? shape[axes[i]] - 1 : 0);
        if (pick(3) == 0) {
            start += shape[axes[i]] > 0 ? stride * (shape[axes[i]] - 1) : 0;
            stride = -stride;
        }
        l->strides[axes[i]] = stride;
    }
    l->block = malloc((size_t)span + 1);
    memset(l->block, 0xA5, (size_t)span + 1);
    return l->block + start + odd;
}

/* Bytes that are not 0 are true, all of them. */
static void copy_cell(arras_dtype dtype, char *to, const char *from)
{
    memcpy(to, from, ar_dtype_size(dtype));
    if (dtype == ARRAS_BOOL && *to)
        *to = (char)(1 + pick(255));
}

static void move_inputs(layout *layouts)
{
    for (int i = 2; i < nbound; i++) { /* the first two are sizes */
        arras_buffer *b = &bound[i].buffer, to = *b;

        to.data = lay_out(&layouts[i], b->dtype, b->rank, b->shape, true);
        to.strides = layouts[i].strides;
        for (int64_t k = 0; k < (int64_t)cell_count(b); k++)
            copy_cell(b->dtype, (char *)to.data + offset_of(&to, k),
                      (char *)b->data + offset_of(b, k));
        free(b->data);
        *b = to;
    }
}

static void launch_into(arras_program *p, const arras_results *want)
{
    arras_binding bindings[MOST_INPUTS + MOST_OUTPUTS];
    layout        layouts[MOST_OUTPUTS];
    arras_error   err = { ARRAS_OK, "" };
    int           n = nbound;

    memcpy(bindings, bound, (size_t)nbound * sizeof *bound);
    for (int i = 0; i < want->count; i++) {
        arras_binding *b = &bindings[n++];

        *b = want->items[i];
        b->buffer.data =
            lay_out(&layouts[i], b->buffer.dtype, b->buffer.rank, b->buffer.shape, false);
        b->buffer.strides = layouts[i].strides;
    }
    if (!CHECK_EQ_INT(arras_launch(NULL, p, n, bindings, &err), ARRAS_OK))
        printf("    %s\n", err.text);
    for (int i = 0; i < want->count; i++) {
        compare_one(want->items[i].name, &bindings[nbound + i].buffer, &want->items[i].buffer);
        free(layouts[i].block);
    }
}

/* Results of inputs that lie anywhere; outputs that are to go anywhere. */
static void check_layouts(void)
{
    arras_results *want = NULL;
    layout         layouts[MOST_INPUTS] = { { 0 } };
    arras_status   wanted;
    arras_options  options = { .threads = 3, .tile_bytes = 1 + pick(1000) };
    arras_program *p;

    move_inputs(layouts);
    wanted = ar_reference_run(&want, g, nbound, bound, NULL);
    p = compile(&options, wanted);
    if (p)
        launch(p, wanted, want);
    if (p && wanted == ARRAS_OK)
        launch_into(p, want);
    arras_program_free(p);
    ar_results_free(want);
    for (int i = 2; i < nbound; i++) {
        bound[i].buffer.data = NULL; /* end() frees */
        free(layouts[i].block);
    }
}

static void anywhere_in_memory(void)
{
    for (uint64_t seed = 1001; seed <= 1000 + PROGRAMS / 2; seed++) {
        int failures = test.failures;

        begin_program(seed);
        check_layouts();
        end_program(failures);
    }
}

/* ---- Functions of the C library -------------------------------------------------------------- */

enum { CELLS = 1003 };

/* Every operation of the class of reals, on x and y, as an output. */
static void record_functions(arras_dtype dtype)
{
    static char names[AR_OP_END][32];
    int64_t     shape[] = { CELLS };
    double      values[CELLS];
    arras_array x, y;

    for (int k = 0; k < 2; k++) {
        for (int i = 0; i < CELLS; i++)
            values[i] = (pick(2001) - 1000) / (pick(3) ? 100. : 3000.);
        bind_cells(k ? "y" : "x", dtype, 1, shape, cells_of(dtype, 1, shape, values));
    }
    x = ar_input(g, "x", dtype, 1, shape);
    y = ar_input(g, "y", dtype, 1, shape);
    for (int op = 0; op < AR_OP_END; op++) {
        arras_array z = ar_map((ar_op)op, ar_op_arity((ar_op)op), L(x, y, x));

        snprintf(names[op], sizeof names[op], "%s_of", ar_op_name((ar_op)op));
        if (!ar_is_poison(z))
            ar_graph_output_add(g, names[op], z);
    }
}

/* The bits of the reference evaluator whatever the tiles: the rest of a vector is computed as the
 * vector is. */
static void check_functions(arras_dtype dtype)
{
    arras_results *want = NULL;

    begin();
    ar_core_cache_clear();
    record_functions(dtype);
    if (CHECK_EQ_INT(ar_reference_run(&want, g, nbound, bound, NULL), ARRAS_OK))
        for (size_t i = 0; i < AR_COUNT(ways); i++)
            compile_and_launch(&ways[i], ARRAS_OK, want);
    ar_results_free(want);
    ar_core_cache_clear();
    ar_buffers_clear();
    end();
}

static void functions_of_the_library(void)
{
    state = 4711;
    CASE("f32");
    check_functions(ARRAS_F32);
    CASE("f64");
    check_functions(ARRAS_F64);
}

TEST_MAIN
{
    RUN(functions_of_the_library);
    RUN(threads_and_tiles);
    RUN(anywhere_in_memory);
}
