/* test_c_forms.c -- kernels of several results: their cells share what they can, and each gives the
 * bits of the reference evaluator. */
#include "build/build.h"
#include "eval/reference.h"
#include "nest_kit.h"
#include "normalised.h"

#include <sys/mman.h>

enum { MOST = 4 };

typedef struct {
    arras_array lambdas[MOST];
    int         n;
    bool        dense[MOST_INPUTS];
} form;

static arras_expr literal(int64_t value)
{
    return ar_expr_literal(g, ARRAS_I64, (ar_value){ .bits = { value, 0 } });
}

static arras_expr op2(ar_op op, arras_expr x, arras_expr y)
{
    return ar_expr_apply(op, 2, (arras_expr[]){ x, y });
}

/* Results of the same inputs, also where one does not read them all. */
static void add_result(form *f, int rank, const arras_dim *shape, arras_expr cell, int n,
                       const arras_array *inputs)
{
    char name[16];

    f->lambdas[f->n] = ar_lambda_bound(g, rank, shape, cell, n, inputs);
    snprintf(name, sizeof name, "r%d", f->n);
    ar_graph_output_add(g, name, f->lambdas[f->n++]);
}

static ar_op_set used; /* by the last kernel */

static ar_kernel *build(ar_module **module, const form *f, bool *flat)
{
    ar_kernel_form   kernel_form = { f->n, f->lambdas, f->dense, ar_machine_host() };
    ar_build_options options = { .libraries = ar_c_libraries(), .no_cache = true };
    ar_text          kernel = { 0 }, source = { 0 };
    ar_nest          nest;
    ar_arena         arena = { 0 };
    arras_error      err = { ARRAS_OK, "" };
    ar_kernel       *result = NULL;

    memset(&used, 0, sizeof used);
    nest = nest_of(&kernel_form, &arena);
    *flat = nest.flat;
    CHECK_EQ_INT(ar_c_kernel_print(&kernel, &used, &kernel_form, &nest, "kernel", &err), ARRAS_OK);
    ar_arena_free(&arena);
    ar_c_ops_print(&source, &used);
    ar_c_kernel_head_print(&source);
    ar_text_put(&source, kernel.data, kernel.length);
    if (CHECK_EQ_INT(ar_build_open(module, &options, source.data, source.length, &err), ARRAS_OK))
        *(void **)&result = ar_module_symbol(*module, "kernel");
    else
        printf("%s\n%s\n", source.data, err.text);
    ar_text_free(&kernel);
    ar_text_free(&source);
    return result;
}

/* Calls the kernel in two halves, streamed or not. */
static void run_form(ar_kernel *kernel, const form *f, bool flat, bool stream, char **data,
                     const int64_t **strides, const int64_t **lengths)
{
    ar_kernel_args args = { data,       strides, lengths, NULL, stream ? ar_streaming() : NULL,
                            ar_folds(), stream };
    arras_array    first = f->lambdas[0];
    int64_t        lo[ARRAS_MAX_RANK] = { 0 }, hi[ARRAS_MAX_RANK], count = 1;

    for (int axis = 0; axis < first->rank; axis++)
        count *= hi[axis] = first->shape[axis];
    if (flat)
        hi[0] = count;
    for (int half = 0; half < 2; half++) {
        int64_t whole = flat ? count : first->shape[0];

        lo[0] = half ? whole / 2 : 0;
        hi[0] = half ? whole : whole / 2;
        CHECK_EQ_INT(kernel(&args, lo, hi), 0);
    }
}

static void check_results(ar_kernel *kernel, const form *f, bool flat, const arras_results *want)
{
    char          *data[MOST + MOST_INPUTS];
    const int64_t *strides[MOST + MOST_INPUTS], *lengths[MOST + MOST_INPUTS];
    int64_t        made[MOST + MOST_INPUTS][ARRAS_MAX_RANK];
    int            operands = f->n + nbound;

    for (int k = 0; k < operands; k++) {
        const arras_buffer *b = k < f->n ? &want->items[k].buffer : &bound[k - f->n].buffer;

        ar_strides_make(made[k], b->dtype, b->rank, b->shape);
        strides[k] = made[k], lengths[k] = b->shape;
        data[k] = k < f->n ? calloc(cell_count(b) + 1, ar_dtype_size(b->dtype)) : b->data;
    }
    for (int stream = 0; stream < 2; stream++) {
        run_form(kernel, f, flat, stream, data, strides, lengths);
        for (int k = 0; k < f->n; k++) {
            const arras_buffer *b = &want->items[k].buffer;

            CHECK(memcmp(data[k], b->data, cell_count(b) * ar_dtype_size(b->dtype)) == 0);
        }
    }
    for (int k = 0; k < f->n; k++)
        free(data[k]);
}

static void check_form(const form *f)
{
    ar_module     *module = NULL;
    arras_results *want = NULL;
    bool           flat;
    ar_kernel     *kernel = build(&module, f, &flat);

    if (CHECK(kernel != NULL) &&
        CHECK_EQ_INT(ar_reference_run(&want, g, nbound, bound, NULL), ARRAS_OK))
        check_results(kernel, f, flat, want);
    ar_results_free(want);
    ar_module_close(module);
}

static arras_expr cell_of(int binding, arras_dtype dtype, arras_expr i, arras_expr j)
{
    return ar_expr_load_bound(g, binding, dtype, 2, (arras_expr[]){ i, j }, NULL);
}

/* a + b and (a + b) * b, of two types: one loop over all cells */
static void flat_results_share_their_cells(void)
{
    form        f = { .dense = { true, true } };
    arras_dim   shape[] = { 7, 301 };
    arras_array inputs[2];
    arras_expr  a, b, sum;

    begin();
    inputs[0] = input_of("a", "f32[7, 301]", NULL);
    inputs[1] = input_of("b", "f64[7, 301]", NULL);
    a = cell_of(0, ARRAS_F32, ar_expr_index(g, 0), ar_expr_index(g, 1));
    b = cell_of(1, ARRAS_F64, ar_expr_index(g, 0), ar_expr_index(g, 1));
    sum = op2(AR_OP_add, a, b);
    add_result(&f, 2, shape, sum, 2, inputs);
    add_result(&f, 2, shape, ar_expr_cast(op2(AR_OP_multiply, sum, b), ARRAS_I16), 2, inputs);
    add_result(&f, 2, shape, op2(AR_OP_less, a, literal(99)), 2, inputs);
    check_form(&f);
    end();
}

/* Infinities, zeros and nans of both signs, next to each other in all pairs sooner or later. */
static void put_specials(int number, int64_t step)
{
    static const double values[] = { NAN, -NAN, INFINITY, -INFINITY, 0.0, -0.0, 1.0, -3.0 };
    arras_buffer       *b = &bound[number].buffer;

    for (size_t i = 0; i < cell_count(b); i += 2) {
        double value = values[(i / 2 * (size_t)step + i / 16) % AR_COUNT(values)];

        if (b->dtype == ARRAS_F64)
            ((double *)b->data)[i] = value;
        else
            ((float *)b->data)[i] = (float)value;
    }
}

/* All that cells may do as vectors, with a number on one side or none; and one row beside another
 */
static void cells_as_vectors_give_the_same_bits(void)
{
    static const arras_dtype types[] = { ARRAS_F32, ARRAS_F64 };

    for (size_t t = 0; t < AR_COUNT(types); t++) {
        form        f = { .dense = { true, true } };
        arras_dim   shape[] = { 3, 61 };
        arras_array inputs[2];
        arras_expr  i = NULL, j = NULL, a, b, next, both, chosen;

        CASE("%s", ar_dtype_name(types[t]));
        begin();
        inputs[0] = input_of("a", t ? "f64[4, 70]" : "f32[4, 70]", NULL);
        inputs[1] = input_of("b", t ? "f64[3, 61]" : "f32[3, 61]", NULL);
        put_specials(0, 1);
        put_specials(1, 3);
        i = ar_expr_index(g, 0), j = ar_expr_index(g, 1);
        a = cell_of(0, types[t], i, j);
        next = cell_of(0, types[t], op2(AR_OP_add, i, literal(1)), op2(AR_OP_add, j, literal(9)));
        b = cell_of(1, types[t], i, j);
        both = op2(AR_OP_logical_and, op2(AR_OP_less_equal, a, b),
                   op2(AR_OP_logical_or, op2(AR_OP_greater, next, literal(1)),
                       ar_expr_apply(AR_OP_logical_not, 1,
                                     (arras_expr[]){ op2(AR_OP_equal, b, literal(0)) })));
        chosen = ar_expr_apply(
            AR_OP_where, 3,
            (arras_expr[]){ both, ar_expr_apply(AR_OP_negative, 1, (arras_expr[]){ a }),
                            literal(3) });
        add_result(&f, 2, shape, op2(AR_OP_maximum, chosen, literal(-2)), 2, inputs);
        add_result(&f, 2, shape,
                   op2(AR_OP_minimum, ar_expr_apply(AR_OP_abs, 1, (arras_expr[]){ next }),
                       op2(AR_OP_divide, literal(1), b)),
                   2, inputs);
        add_result(&f, 2, shape,
                   ar_expr_apply(
                       AR_OP_where, 3,
                       (arras_expr[]){ op2(AR_OP_logical_xor, op2(AR_OP_not_equal, a, next),
                                           op2(AR_OP_less, a, literal(0))),
                                       op2(AR_OP_subtract, a, b), op2(AR_OP_multiply, b, next) }),
                   2, inputs);
        check_form(&f);
        CHECK(used.vectors && !used.loops);
        end();
    }
}

/* The sum and the spread of rows, and of columns */
static void reductions_share_their_rows(void)
{
    for (int axis = 0; axis < 2; axis++) {
        form        f = { .dense = { true } };
        arras_dim   shape[] = { 90, 90 };
        arras_array x;
        arras_expr  i, k, n, cell, sum, off;

        CASE("axis %d", axis);
        begin();
        x = input_of("x", "f64[90, 90]", NULL);
        i = ar_expr_index(g, 0), k = ar_expr_var(g, "k"), n = literal(90);
        cell = axis ? cell_of(0, ARRAS_F64, i, k) : cell_of(0, ARRAS_F64, k, i);
        sum = ar_expr_reduce(AR_REDUCE_sum, "k", literal(0), n, cell);
        off = op2(AR_OP_subtract, cell, op2(AR_OP_divide, sum, n));
        add_result(&f, 1, shape, sum, 1, &x);
        add_result(&f, 1, shape,
                   ar_expr_reduce(AR_REDUCE_sum, "k", literal(0), n, op2(AR_OP_multiply, off, off)),
                   1, &x);
        add_result(&f, 1, shape, ar_expr_reduce(AR_REDUCE_argmax, "k", literal(0), n, cell), 1, &x);
        check_form(&f);
        end();
    }
}

/* y[i, j, f] = sum[s: 3] x[i, j + s] * w[s, f]: rows of 5 cells */
static void short_rows_share_segments(void)
{
    form        f = { .dense = { true, true } };
    arras_dim   shape[] = { 6, 200, 5 };
    arras_array inputs[2];
    arras_expr  s, product;

    begin();
    inputs[0] = input_of("x", "f32[6, 202]", NULL);
    inputs[1] = input_of("w", "f32[3, 5]", NULL);
    s = ar_expr_var(g, "s");
    product =
        op2(AR_OP_multiply,
            cell_of(0, ARRAS_F32, ar_expr_index(g, 0), op2(AR_OP_add, ar_expr_index(g, 1), s)),
            cell_of(1, ARRAS_F32, s, ar_expr_index(g, 2)));
    add_result(&f, 3, shape, ar_expr_reduce(AR_REDUCE_sum, "s", literal(0), literal(3), product), 2,
               inputs);
    add_result(&f, 3, shape, ar_expr_reduce(AR_REDUCE_max, "s", literal(0), literal(3), product), 2,
               inputs);
    check_form(&f);
    end();
}

/* Sums of columns as they are in memory: by the library, in strips of columns and
 * blocks of rows. */
static void columns_in_memory_are_folded_whole(void)
{
    static const struct {
        int64_t rows, columns;
    } cases[] = {
        { 40, 7 },     /* one after the other */
        { 65, 3 },     /* lanes, of fewer columns than a vector has */
        { 1024, 12 },  /* a block */
        { 1099, 300 }, /* a block and a short one; more columns than a strip has */
        { 3000, 5 },   /* blocks that are joined */
    };

    for (size_t c = 0; c < AR_COUNT(cases); c++)
        for (int single = 0; single < 2; single++) {
            form        f = { .dense = { true } };
            char        type[32];
            arras_array x;
            arras_expr  cell, n;

            CASE("%d rows of %d", (int)cases[c].rows, (int)cases[c].columns);
            begin();
            snprintf(type, sizeof type, "%s[%d, %d]", single ? "f32" : "f64", (int)cases[c].rows,
                     (int)cases[c].columns);
            x = input_of("x", type, NULL);
            n = literal(cases[c].rows);
            cell = cell_of(0, single ? ARRAS_F32 : ARRAS_F64, ar_expr_var(g, "k"),
                           ar_expr_index(g, 0));
            add_result(&f, 1, &cases[c].columns,
                       ar_expr_reduce(AR_REDUCE_sum, "k", literal(0), n, cell), 1, &x);
            check_form(&f);
            end();
        }
}

/* y[i] = sum[k] x[rows[k], i]: no row is where the one before says it is. */
static void rows_that_are_looked_up_are_read_one_by_one(void)
{
    form        f = { .dense = { true, true } };
    double      rows[300];
    arras_dim   columns = 20;
    arras_array inputs[2];
    arras_expr  k, row;

    for (int i = 0; i < 300; i++)
        rows[i] = (i * 7919) % 300;
    begin();
    inputs[0] = input_of("x", "f64[300, 20]", NULL);
    inputs[1] = input_of("rows", "i64[300]", rows);
    k = ar_expr_var(g, "k");
    row = ar_expr_load_bound(g, 1, ARRAS_I64, 1, &k, NULL);
    row = op2(AR_OP_remainder, row, literal(300)); /* is inside */
    add_result(&f, 1, &columns,
               ar_expr_reduce(AR_REDUCE_sum, "k", literal(0), literal(300),
                              cell_of(0, ARRAS_F64, row, ar_expr_index(g, 0))),
               2, inputs);
    check_form(&f);
    end();
}

/* Rows so long that each result is computed on its own, and what all rows share only once. */
static void long_rows_are_computed_one_by_one(void)
{
    form        f = { .dense = { true } };
    arras_dim   shape[] = { 9 };
    arras_array x;
    arras_expr  n, cell, off, sum, all;

    begin();
    x = input_of("x", "f64[9, 1500]", NULL);
    n = literal(1500);
    cell = cell_of(0, ARRAS_F64, ar_expr_index(g, 0), ar_expr_var(g, "k"));
    sum = ar_expr_reduce(AR_REDUCE_sum, "k", literal(0), n, cell);
    all = ar_expr_reduce(AR_REDUCE_sum, "j", literal(0), n,
                         cell_of(0, ARRAS_F64, literal(4), ar_expr_var(g, "j")));
    off = op2(AR_OP_subtract, cell, op2(AR_OP_divide, all, n));
    add_result(&f, 1, shape, op2(AR_OP_divide, sum, n), 1, &x);
    add_result(&f, 1, shape,
               ar_expr_reduce(AR_REDUCE_sum, "k", literal(0), n, op2(AR_OP_multiply, off, off)), 1,
               &x);
    check_form(&f);
    end();
}

/* ---- Long chains ----------------------------------------------------------------------------- */

/* So many vectors side by side that they may be wide, at all sorts of places. */
static void long_chains_pass_the_caches(void)
{
    static const arras_dtype types[] = { ARRAS_F32, ARRAS_F64 };

    for (size_t t = 0; t < AR_COUNT(types); t++) {
        form        f = { .dense = { true } };
        arras_dim   shape[] = { 3, 437 };
        arras_array x;
        arras_expr  y, cell;

        CASE("%s", ar_dtype_name(types[t]));
        begin();
        x = input_of("x", t ? "f64[3, 437]" : "f32[3, 437]", NULL);
        put_specials(0, 5);
        y = cell = cell_of(0, types[t], ar_expr_index(g, 0), ar_expr_index(g, 1));
        for (int i = 0; i < 12; i++)
            y = op2(AR_OP_subtract, op2(AR_OP_multiply, y, cell), literal(i));
        y = ar_expr_apply(AR_OP_fma, 3, (arras_expr[]){ y, cell, cell });
        y = ar_expr_apply(AR_OP_abs, 1, (arras_expr[]){ y });
        add_result(&f, 2, shape, y, 1, &x);
        check_form(&f);
        end();
    }
}

/* ---- Rows with borders, past the caches ------------------------------------------------------ */

enum { ROWS = 3, COLUMNS = 208, SHIFTS = 17, AROUND = 64, PAGE = 4096 };

/* x[i, j - 1] + x[i, j + 2], with 3 outside; and the same times x[i, j]. */
static void add_bordered(form *f, arras_dtype dtype, const arras_array *x)
{
    arras_dim  shape[] = { ROWS, COLUMNS };
    arras_edge edges[] = { { ARRAS_EDGE_NONE, NULL }, { ARRAS_EDGE_CONSTANT, literal(3) } };
    arras_expr i = ar_expr_index(g, 0), j = ar_expr_index(g, 1);
    arras_expr left[] = { i, op2(AR_OP_add, j, literal(-1)) };
    arras_expr right[] = { i, op2(AR_OP_add, j, literal(2)) };
    arras_expr sum = op2(AR_OP_add, ar_expr_load_bound(g, 0, dtype, 2, left, edges),
                         ar_expr_load_bound(g, 0, dtype, 2, right, edges));

    add_result(f, 2, shape, sum, 1, x);
    add_result(f, 2, shape, op2(AR_OP_multiply, sum, cell_of(0, dtype, i, j)), 1, x);
}

/* Whether just the cells of the box are in `got`, which was filled with 0xff. */
static bool is_box(const char *got, const char *want, size_t size, const int64_t *lo,
                   const int64_t *hi)
{
    char untouched[8];

    memset(untouched, 0xff, sizeof untouched);
    for (int64_t i = 0; i < ROWS; i++)
        for (int64_t j = -AROUND / 8; j < COLUMNS; j++) {
            bool        inside = j >= lo[1] && j < hi[1] && i >= lo[0] && i < hi[0];
            ptrdiff_t   at = (i * COLUMNS + j) * (ptrdiff_t)size;
            const char *cell = inside ? want + at : untouched;

            if ((inside || i == 0 || j >= 0) && memcmp(got + at, cell, size) != 0)
                return false;
        }
    return true;
}

static void check_boxes(ar_kernel *kernel, const form *f, char *x, const arras_results *want,
                        int shift)
{
    static const int64_t from[] = { 0, 1, 8, 16, 100 };
    static const int64_t to[] = { 101, 120, 128, COLUMNS - 1, COLUMNS };
    const arras_buffer  *b = &want->items[0].buffer;
    size_t               size = ar_dtype_size(b->dtype), bytes = ROWS * COLUMNS * size;
    int64_t              made[2];
    const int64_t *strides[] = { made, made, made }, *lengths[] = { b->shape, b->shape, b->shape };
    char          *whole[] = { aligned_alloc(64, 8192), aligned_alloc(64, 8192) };
    char          *data[] = { whole[0] + AROUND + (size_t)shift * size,
                              whole[1] + AROUND + (size_t)(shift % 3 ? shift : 0) * size, x };
    ar_kernel_args args = { data, strides, lengths, NULL, ar_streaming(), ar_folds(), 1 };

    CHECK(bytes + 2 * AROUND + SHIFTS * size <= 8192);
    ar_strides_make(made, b->dtype, 2, b->shape);
    for (size_t n = 0; n < AR_COUNT(from) * AR_COUNT(to); n++) {
        int64_t lo[] = { n % 2, from[n % AR_COUNT(from)] }, hi[] = { ROWS, to[n / AR_COUNT(from)] };

        for (int k = 0; k < 2; k++)
            memset(whole[k], 0xff, 8192);
        args.stream = n % 3 ? ar_streaming() : NULL;
        CHECK_EQ_INT(kernel(&args, lo, hi), 0);
        for (int k = 0; k < f->n; k++)
            CHECK(is_box(data[k], want->items[k].buffer.data, size, lo, hi));
    }
    free(whole[0]);
    free(whole[1]);
}

/* The cells of x again, between two pages that can't be read: next to the first, then to the last.
 */
static void check_between_pages(ar_kernel *kernel, const form *f, const arras_results *want)
{
    const arras_buffer *x = &bound[0].buffer;
    size_t              bytes = ROWS * COLUMNS * ar_dtype_size(x->dtype);
    size_t              room = (bytes + PAGE - 1) / PAGE * PAGE;
    char *pages = mmap(NULL, room + 2 * PAGE, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

    if (!CHECK(pages != MAP_FAILED) ||
        !CHECK_EQ_INT(mprotect(pages + PAGE, room, PROT_READ | PROT_WRITE), 0))
        return;
    for (int shift = 0; shift < SHIFTS; shift++) {
        char *cells = pages + PAGE + (shift % 2 ? room - bytes : 0);

        memcpy(cells, x->data, bytes);
        check_boxes(kernel, f, cells, want, shift);
    }
    munmap(pages, room + 2 * PAGE);
}

/* Wherever rows start and end: whole cache lines leave as vectors, the others through a buffer; and
 * nothing is read beyond the array. */
static void rows_with_borders_pass_the_caches(void)
{
    static const arras_dtype types[] = { ARRAS_F32, ARRAS_F64 };

    for (size_t t = 0; t < AR_COUNT(types); t++) {
        form           f = { .dense = { true } };
        ar_module     *module = NULL;
        arras_results *want = NULL;
        arras_array    x;
        ar_kernel     *kernel;
        bool           flat;

        CASE("%s", ar_dtype_name(types[t]));
        begin();
        x = input_of("x", t ? "f64[3, 208]" : "f32[3, 208]", NULL);
        add_bordered(&f, types[t], &x);
        kernel = build(&module, &f, &flat);
        CHECK_EQ_INT(ar_reference_run(&want, g, nbound, bound, NULL), ARRAS_OK);
        if (kernel && want)
            check_between_pages(kernel, &f, want);
        ar_results_free(want);
        ar_module_close(module);
        end();
    }
}

TEST_MAIN
{
    RUN(flat_results_share_their_cells);
    RUN(cells_as_vectors_give_the_same_bits);
    RUN(reductions_share_their_rows);
    RUN(short_rows_share_segments);
    RUN(columns_in_memory_are_folded_whole);
    RUN(rows_that_are_looked_up_are_read_one_by_one);
    RUN(long_rows_are_computed_one_by_one);
    RUN(long_chains_pass_the_caches);
    RUN(rows_with_borders_pass_the_caches);
}
