/* test_multiply.c -- large products of matrices in compiled programs: who computes them, and that
 * threads, strides and what was launched before change no bit. */
#include "launch_kit.h"
#include "product/blas.h"
#include "product/product.h"

enum { ROWS = 150, COLUMNS = 170, TERMS = 270, BATCH = 3 };

static double a[BATCH * ROWS * TERMS], b[TERMS * COLUMNS], c[BATCH * ROWS * COLUMNS],
    wanted[BATCH * ROWS * COLUMNS];
static double a_columns[TERMS * ROWS], b_columns[COLUMNS * TERMS]; /* the same, transposed */

static void fill_inputs(void)
{
    for (int64_t i = 0; i < BATCH * ROWS * TERMS; i++)
        a[i] = sin((double)i * 0.7);
    for (int64_t i = 0; i < TERMS * COLUMNS; i++)
        b[i] = cos((double)i * 1.3);
    for (int64_t k = 0; k < TERMS; k++) {
        for (int64_t i = 0; i < ROWS; i++)
            a_columns[k * ROWS + i] = a[i * TERMS + k];
        for (int64_t j = 0; j < COLUMNS; j++)
            b_columns[j * TERMS + k] = b[k * COLUMNS + j];
    }
}

/* The order of docs/semantics.md. */
static void fill_wanted(void)
{
    for (int64_t i = 0; i < BATCH * ROWS; i++)
        for (int64_t j = 0; j < COLUMNS; j++) {
            double blocks[2] = { 0 };

            for (int64_t k = 0; k < TERMS; k++)
                blocks[k / 256] = fma(a[i * TERMS + k], b[k * COLUMNS + j], blocks[k / 256]);
            wanted[i * COLUMNS + j] = blocks[0] + blocks[1];
        }
}

static bool is_ours(void) { return ar_product_kernels() && ar_blas_wished() == AR_BLAS_ANY; }

/* Where others multiply, the error bound: cells are at most 1. */
static void check_result(int64_t rows)
{
    double worst = 0;

    if (is_ours()) {
        CHECK(memcmp(c, wanted, (size_t)(rows * COLUMNS) * sizeof *c) == 0);
        return;
    }
    for (int64_t i = 0; i < rows * COLUMNS; i++)
        worst = fmax(worst, fabs(c[i] - wanted[i]));
    CHECK(worst <= 2 * (TERMS + 2) * 2.3e-16 * TERMS);
}

static arras_program *program(const arras_options *options)
{
    arras_array x = matrix("a", arras_size(g, "n"), TERMS), y = matrix("b", TERMS, COLUMNS);

    arras_output(g, "c", arras_matmul(x, y));
    return compiled(options);
}

static arras_binding strided(const char *name, double *cells, int64_t rows, int64_t columns,
                             const int64_t *strides)
{
    static int64_t shapes[2][2];
    int64_t       *shape = shapes[name[0] == 'b'];

    shape[0] = rows, shape[1] = columns;
    return (arras_binding){ name, { cells, ARRAS_F64, 2, shape, strides } };
}

/* ---- Bits ------------------------------------------------------------------------------------ */

static void threads_do_not_matter(void)
{
    for (int threads = 1; threads <= 7; threads += 2) {
        arras_program *p;

        CASE("%d", threads);
        start();
        p = program(&(arras_options){ .threads = threads });
        memset(c, 0, sizeof c);
        launched(NULL, p,
                 BINDINGS(MATRIX("a", a, ROWS, TERMS), MATRIX("b", b, TERMS, COLUMNS),
                          MATRIX("c", c, ROWS, COLUMNS)));
        check_result(ROWS);
        finish(p);
    }
}

/* Few rows, whose columns are cut. */
static void cut_columns_do_not_matter(void)
{
    enum { FEW = 20, WIDE = 1101, SHORT = 40 };
    static double wide[SHORT * WIDE], alone[FEW * WIDE], many[FEW * WIDE];

    for (int64_t i = 0; i < SHORT * WIDE; i++)
        wide[i] = cos((double)i * 0.9);
    for (int threads = 1; threads <= 4; threads++) {
        arras_program *p;

        CASE("%d", threads);
        start();
        arras_output(g, "c", arras_matmul(matrix("a", FEW, SHORT), matrix("b", SHORT, WIDE)));
        p = compiled(&(arras_options){ .threads = threads });
        memset(many, 0, sizeof many);
        launched(NULL, p,
                 BINDINGS(MATRIX("a", a, FEW, SHORT), MATRIX("b", wide, SHORT, WIDE),
                          MATRIX("c", many, FEW, WIDE)));
        if (threads == 1)
            memcpy(alone, many, sizeof many);
        CHECK(memcmp(many, alone, sizeof many) == 0);
        finish(p);
    }
    for (int64_t i = 0; i < FEW * WIDE; i++) {
        double sum = 0;

        for (int64_t k = 0; k < SHORT; k++)
            sum = fma(a[i / WIDE * SHORT + k], wide[k * WIDE + i % WIDE], sum);
        if (!CHECK(is_ours() ? alone[i] == sum : fabs(alone[i] - sum) < 1e-13))
            break;
    }
}

enum { LONG = 700, WIDTH = 90 };
static double tall[LONG * TERMS], narrow[TERMS * WIDTH], product[LONG * WIDTH];

static void check_tall(const double *of, double factor)
{
    for (int64_t i = 0; i < LONG * WIDTH; i++) {
        double blocks[2] = { 0 };

        for (int64_t k = 0; k < TERMS; k++)
            blocks[k / 256] = fma(tall[i / WIDTH * TERMS + k],
                                  factor * narrow[k * WIDTH + i % WIDTH], blocks[k / 256]);
        if (!CHECK(is_ours() ? of[i] == blocks[0] + blocks[1]
                             : fabs(of[i] - blocks[0] - blocks[1]) < 1e-10))
            break;
    }
}

static void fill_tall(void)
{
    for (int64_t i = 0; i < LONG * TERMS; i++)
        tall[i] = sin((double)i * 0.3);
    for (int64_t i = 0; i < TERMS * WIDTH; i++)
        narrow[i] = cos((double)i * 0.11);
}

/* Cells of b change between launches, in the same memory. */
static void shared_copies_are_of_one_launch(void)
{
    static double changing[TERMS * WIDTH];

    fill_tall();
    for (int threads = 2; threads <= 4; threads++) {
        arras_program *p;

        CASE("%d", threads);
        start();
        arras_output(g, "c", arras_matmul(matrix("a", LONG, TERMS), matrix("b", TERMS, WIDTH)));
        p = compiled(&(arras_options){ .threads = threads });
        for (int turn = 1; turn <= 4; turn++) {
            for (int64_t i = 0; i < TERMS * WIDTH; i++)
                changing[i] = turn * narrow[i];
            memset(product, 0, sizeof product);
            launched(NULL, p,
                     BINDINGS(MATRIX("a", tall, LONG, TERMS), MATRIX("b", changing, TERMS, WIDTH),
                              MATRIX("c", product, LONG, WIDTH)));
            check_tall(product, turn);
        }
        finish(p);
    }
}

/* Products at the same time, each with copies of its own. */
static void many_products_share_what_fits(void)
{
    enum { MANY = 5 };
    static double  results[MANY][LONG * WIDTH], factors[MANY][TERMS * WIDTH];
    static char    names[2 * MANY][8];
    const int64_t  of_b[] = { TERMS, WIDTH }, of_c[] = { LONG, WIDTH };
    arras_binding  all[1 + 2 * MANY] = { MATRIX("a", tall, LONG, TERMS) };
    arras_program *p;
    arras_array    x;

    fill_tall();
    start();
    x = matrix("a", LONG, TERMS);
    for (int i = 0; i < MANY; i++) {
        snprintf(names[2 * i], sizeof names[0], "b%d", i);
        snprintf(names[2 * i + 1], sizeof names[0], "c%d", i);
        arras_output(g, names[2 * i + 1], arras_matmul(x, matrix(names[2 * i], TERMS, WIDTH)));
        for (int64_t k = 0; k < TERMS * WIDTH; k++)
            factors[i][k] = (i + 1) * narrow[k];
        all[1 + 2 * i] = (arras_binding){ names[2 * i], { factors[i], ARRAS_F64, 2, of_b, NULL } };
        all[2 + 2 * i] =
            (arras_binding){ names[2 * i + 1], { results[i], ARRAS_F64, 2, of_c, NULL } };
    }
    p = compiled(&(arras_options){ .threads = 3 });
    CHECK_EQ_INT(arras_launch(NULL, p, 1 + 2 * MANY, all, &err), ARRAS_OK);
    for (int i = 0; i < MANY; i++)
        check_tall(results[i], i + 1);
    finish(p);
}

/* Each launch has the strides that it is given, also where an earlier one had others. */
static void strides_do_not_matter(void)
{
    const int64_t  size = sizeof(double), of_a[] = { size, ROWS * size };
    const int64_t  of_b[] = { size, TERMS * size };
    arras_binding  as[] = { MATRIX("a", a, ROWS, TERMS),
                            strided("a", a_columns, ROWS, TERMS, of_a) };
    arras_binding  bs[] = { MATRIX("b", b, TERMS, COLUMNS),
                            strided("b", b_columns, TERMS, COLUMNS, of_b) };
    arras_program *p;

    start();
    p = program(&(arras_options){ .threads = 2 });
    for (int turn = 0; turn < 8 && is_ours(); turn++) {
        memset(c, 0, sizeof c);
        launched(NULL, p, BINDINGS(as[turn % 2], bs[turn / 2 % 2], MATRIX("c", c, ROWS, COLUMNS)));
        check_result(ROWS);
    }
    finish(p);
}

static void batches(void)
{
    const int64_t  of_a[] = { BATCH, ROWS, TERMS }, of_c[] = { BATCH, ROWS, COLUMNS };
    arras_program *p;
    arras_array    x, y;

    start();
    x = arras_placeholder(g, "a", ARRAS_F64, 3, of_a);
    y = matrix("b", TERMS, COLUMNS);
    arras_output(g, "c", arras_matmul(x, y));
    p = compiled(&(arras_options){ .threads = 2 });
    memset(c, 0, sizeof c);
    launched(NULL, p,
             BINDINGS(((arras_binding){ "a", { a, ARRAS_F64, 3, of_a, NULL } }),
                      MATRIX("b", b, TERMS, COLUMNS),
                      ((arras_binding){ "c", { c, ARRAS_F64, 3, of_c, NULL } })));
    check_result(BATCH * ROWS);
    finish(p);
}

/* Computed once, before the first launch. */
static void products_of_data(void)
{
    arras_program *p;
    arras_array    x, y;

    start();
    x = arras_copy(g, ARRAS_F64, 2, (int64_t[]){ ROWS, TERMS }, NULL, a);
    y = arras_copy(g, ARRAS_F64, 2, (int64_t[]){ TERMS, COLUMNS }, NULL, b);
    arras_output(g, "c", arras_add(arras_matmul(x, y), matrix("zero", ROWS, COLUMNS)));
    p = compiled(&(arras_options){ .threads = 2 });
    memset(c, 0, sizeof c);
    launched(NULL, p, BINDINGS(MATRIX("zero", c, ROWS, COLUMNS), MATRIX("c", c, ROWS, COLUMNS)));
    check_result(ROWS);
    finish(p);
}

/* ---- Memory ---------------------------------------------------------------------------------- */

static void relaunch_allocates_nothing(void)
{
    arras_program *p;

    start();
    p = program(&(arras_options){ .threads = 2 });
    for (int turn = 0; turn < 20; turn++) {
        int64_t made = ar_alloc_made(), live = ar_alloc_live();

        launched(NULL, p,
                 BINDINGS(MATRIX("a", a, ROWS, TERMS), MATRIX("b", b, TERMS, COLUMNS),
                          MATRIX("c", c, ROWS, COLUMNS)));
        if (turn == 0)
            continue;
        CHECK_EQ_INT(ar_alloc_made(), made);
        CHECK_EQ_INT(ar_alloc_live(), live);
    }
    finish(p);
}

/* One allocation after the other fails: an error, or the right result. */
static void no_memory(void)
{
    int64_t failed = 0;

    for (int64_t n = 1; n < 60; n++) {
        arras_program *p;
        arras_status   status;

        start();
        p = program(&(arras_options){ .threads = 2 });
        memset(c, 0, sizeof c);
        ar_alloc_fail_from(n);
        status = arras_launch(NULL, p,
                              BINDINGS(MATRIX("a", a, ROWS, TERMS), MATRIX("b", b, TERMS, COLUMNS),
                                       MATRIX("c", c, ROWS, COLUMNS)),
                              &err);
        ar_alloc_fail_from(0);
        CHECK(status == ARRAS_OK || status == ARRAS_ENOMEM);
        if (status == ARRAS_OK)
            check_result(ROWS);
        failed += status != ARRAS_OK;
        finish(p);
    }
    CHECK(failed > 5);
}

/* The same of boxes that share copies. */
static void no_memory_to_share(void)
{
    int64_t failed = 0;

    fill_tall();
    for (int64_t n = 1; n < 60; n++) {
        arras_program *p;
        arras_status   status;

        start();
        arras_output(g, "c", arras_matmul(matrix("a", LONG, TERMS), matrix("b", TERMS, WIDTH)));
        p = compiled(&(arras_options){ .threads = 2 });
        memset(product, 0, sizeof product);
        ar_buffers_clear(); /* or what earlier ones had would do */
        ar_alloc_fail_from(n);
        status =
            arras_launch(NULL, p,
                         BINDINGS(MATRIX("a", tall, LONG, TERMS), MATRIX("b", narrow, TERMS, WIDTH),
                                  MATRIX("c", product, LONG, WIDTH)),
                         &err);
        ar_alloc_fail_from(0);
        CHECK(status == ARRAS_OK || status == ARRAS_ENOMEM);
        if (status == ARRAS_OK)
            check_tall(product, 1);
        failed += status != ARRAS_OK;
        finish(p);
    }
    CHECK(failed > 5);
}

/* ---- Who ------------------------------------------------------------------------------------- */

static ar_engine chosen(arras_dtype dtype, bool dense, int64_t length)
{
    ar_gemm gemm = { .dtype = dtype, .rank = 2, .row = 0, .column = 1, .dense = dense };

    return ar_engine_choose(&gemm, (int64_t[]){ length, length }, length);
}

static void who_multiplies(void)
{
    ar_engine library = ar_blas_available() ? AR_ENGINE_BLAS : AR_ENGINE_KERNEL;
    ar_engine real = is_ours() ? AR_ENGINE_BLOCKS : library;

    CHECK_EQ_INT(chosen(ARRAS_F64, true, 500), real);
    CHECK_EQ_INT(chosen(ARRAS_F32, true, 500), real);
    CHECK_EQ_INT(chosen(ARRAS_F32, false, 500), is_ours() ? AR_ENGINE_BLOCKS : AR_ENGINE_KERNEL);
    CHECK_EQ_INT(chosen(ARRAS_C128, true, 500), library);
    CHECK_EQ_INT(chosen(ARRAS_C64, false, 500), AR_ENGINE_KERNEL);
    CHECK_EQ_INT(chosen(ARRAS_F64, true, 20), AR_ENGINE_KERNEL);
}

/* Cells of the thread that has most if all are equally fast. */
static int64_t longest_work(const ar_tiling *t, int threads)
{
    int64_t done[20] = { 0 }, most = 0;

    for (int64_t i = 0; i < t->count; i++) {
        int64_t lo[ARRAS_MAX_RANK], hi[ARRAS_MAX_RANK];
        int     first = 0;

        for (int k = 1; k < threads; k++)
            first = done[k] < done[first] ? k : first;
        ar_tiling_box(lo, hi, t, i);
        done[first] += (hi[0] - lo[0]) * (hi[1] - lo[1]);
        most = ar_max64(most, done[first]);
    }
    return most;
}

/* Every tile lies inside, together they are all, and all threads have some. */
static void tiles(void)
{
    static const int     threads_of[] = { 1, 2, 3, 7, 19 };
    static const int64_t shapes[][3] = { { 1000, 1000, 1000 }, { 8, 100000, 30 },
                                         { 100000, 8, 100 },   { 100, 100, 100 },
                                         { 5000, 70, 64 },     { 85, 65, 4096 },
                                         { 2000000, 300, 40 } };

    for (size_t s = 0; s < AR_COUNT(shapes); s++)
        for (size_t n = 0; n < AR_COUNT(threads_of); n++) {
            int            threads = threads_of[n];
            int64_t        of_c[] = { shapes[s][0], shapes[s][1] }, cells = 0;
            int64_t        of_a[] = { shapes[s][0], shapes[s][2] };
            int64_t        of_b[] = { shapes[s][2], shapes[s][1] }, strides[] = { 8, 8 };
            const int64_t *lengths[] = { of_c, of_a, of_b },
                          *all_strides[] = { strides, strides, strides };
            char          *data[3] = { NULL };
            ar_kernel_args args = { .data = data, .strides = all_strides, .shapes = lengths };
            ar_gemm        gemm = { .dtype = ARRAS_F64,
                                    .rank = 2,
                                    .row = 0,
                                    .column = 1,
                                    .a = { 0, 1, { 0, -1 } },
                                    .b = { 1, 0, { -1, 1 } } };
            ar_tiling      t;

            CASE("%d x %d, %d threads", (int)of_c[0], (int)of_c[1], threads);
            ar_multiply_tiling(
                &t, AR_ENGINE_BLOCKS, &gemm, &args, threads,
                ar_multiply_shared_bytes(AR_ENGINE_BLOCKS, &gemm, &args, threads, INT64_MAX) > 0);
            for (int64_t i = 0; i < t.count; i++) {
                int64_t lo[ARRAS_MAX_RANK], hi[ARRAS_MAX_RANK];

                ar_tiling_box(lo, hi, &t, i);
                CHECK(lo[0] < hi[0] && hi[0] <= of_c[0] && lo[1] < hi[1] && hi[1] <= of_c[1]);
                cells += (hi[0] - lo[0]) * (hi[1] - lo[1]);
                if (hi[0] - lo[0] > 2016) /* they would take too long to be cancelled */
                    CHECK(false);
            }
            CHECK_EQ_INT(cells, of_c[0] * of_c[1]);
            CHECK(threads == 1 || t.count > 1);
            if (of_c[1] == 1000 && threads > 1 && threads < 7) {
                CHECK(t.count >= 5 * threads && t.tile[1] == 1000);
                /* At most a row of tiles, of at most 14 rows, more for each box. */
                CHECK(longest_work(&t, threads) <= cells / threads + t.count * 14 * of_c[1]);
            }
        }
}

TEST_MAIN
{
    fill_inputs();
    fill_wanted();
    RUN(threads_do_not_matter);
    RUN(cut_columns_do_not_matter);
    RUN(shared_copies_are_of_one_launch);
    RUN(many_products_share_what_fits);
    RUN(strides_do_not_matter);
    RUN(batches);
    RUN(products_of_data);
    RUN(relaunch_allocates_nothing);
    RUN(no_memory);
    RUN(no_memory_to_share);
    RUN(who_multiplies);
    if (ar_product_kernels()) /* whoever has none is never asked for them */
        RUN(tiles);
}
