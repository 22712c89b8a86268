/* test_product.c -- products of matrices in blocks: every cell has the bits of the order that
 * docs/semantics.md gives, for all instruction sets, lengths, strides and boxes. */
#include "product/product_blocks.h"
#include "test.h"

#include <float.h>
#include <pthread.h>
#include <stdlib.h>

/* ---- Instruction sets ------------------------------------------------------------------------ */

static struct {
    const char              *name;
    const ar_product_kernel *kernels; /* NULL: this processor has not got it */
} sets[2] = { { "AVX2", NULL }, { "AVX-512", NULL } };

static void find_sets(void)
{
#if defined __x86_64__
    if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma"))
        sets[0].kernels = ar_product_avx2;
    if (__builtin_cpu_supports("avx512f"))
        sets[1].kernels = ar_product_avx512;
#endif
}

static const ar_product_kernel *best_set(void)
{
    return sets[1].kernels ? sets[1].kernels : sets[0].kernels;
}

static void the_best_is_chosen(void) { CHECK(ar_product_kernels() == best_set()); }

/* ---- Matrices -------------------------------------------------------------------------------- */

/* How the cells of a or b lie: [row, column] in some order, with some distance. */
typedef enum { ROWS, COLUMNS, SPREAD, REVERSED, PAGES, ONE_ROW, LAYOUTS } layout;

static const char *const layout_names[] = { "rows",     "columns", "spread",
                                            "reversed", "pages",   "one row" };

typedef struct {
    char       *memory;
    const char *cells; /* [0, 0] */
    int64_t     row, column;
} matrix;

static void set_cell(char *at, arras_dtype dtype, double value)
{
    if (dtype == ARRAS_F32)
        *(float *)(void *)at = (float)value;
    else
        *(double *)(void *)at = value;
}

static double get_cell(const char *at, arras_dtype dtype)
{
    return dtype == ARRAS_F32 ? (double)*(const float *)(const void *)at
                              : *(const double *)(const void *)at;
}

/* Just as much memory as the cells take, so that a sanitizer sees who reads beyond them. */
static matrix new_matrix(arras_dtype dtype, layout how, int64_t rows, int64_t columns, double seed)
{
    int64_t size = (int64_t)ar_dtype_size(dtype), page = 4096, bytes;
    matrix  m = { .row = columns * size, .column = size };

    if (how == COLUMNS)
        m.row = size, m.column = rows * size;
    if (how == SPREAD)
        m.row = (3 * columns + 5) * size, m.column = 3 * size;
    if (how == PAGES)
        m.row = (m.row + page - 1) / page * page;
    if (how == ONE_ROW)
        m.row = 0;
    bytes = rows && columns ? (rows - 1) * m.row + (columns - 1) * m.column + size : 0;
    m.memory = calloc((size_t)bytes + 1, 1);
    m.cells = m.memory;
    for (int64_t i = 0; i < rows; i++)
        for (int64_t j = 0; j < columns; j++)
            set_cell(m.memory + i * m.row + j * m.column, dtype,
                     sin(seed + (double)(how == ONE_ROW ? 0 : i) * 1.7 + (double)j * 0.37));
    if (how == REVERSED && rows > 0 && columns > 0) {
        m.cells += (rows - 1) * m.row + (columns - 1) * m.column;
        m.row = -m.row, m.column = -m.column;
    }
    return m;
}

/* ---- What a cell must be --------------------------------------------------------------------- */

static double add_term(double sum, double x, double y, arras_dtype dtype)
{
    return dtype == ARRAS_F32 ? (double)fmaf((float)x, (float)y, (float)sum) : fma(x, y, sum);
}

static double add(double x, double y, arras_dtype dtype)
{
    return dtype == ARRAS_F32 ? (double)((float)x + (float)y) : x + y;
}

/* The order of docs/semantics.md; *exact and *bound: the sum in long double, and how far the error
 * bound lets the cell be from it. */
static double expected(const ar_product *p, int64_t i, int64_t j, double *exact, double *bound)
{
    double      total = 0, eps = p->dtype == ARRAS_F32 ? FLT_EPSILON : DBL_EPSILON;
    long double sum = 0, size = 0;

    for (int64_t first = 0; first < p->terms; first += 256) {
        double block = 0;

        for (int64_t k = first; k < p->terms && k < first + 256; k++) {
            double x = get_cell(p->a + i * p->a_row + k * p->a_term, p->dtype);
            double y = get_cell(p->b + k * p->b_term + j * p->b_column, p->dtype);

            block = add_term(block, x, y, p->dtype);
            sum += (long double)x * y;
            size += fabsl((long double)x * y);
        }
        total = first == 0 ? block : add(total, block, p->dtype);
    }
    *exact = (double)sum;
    *bound = eps * (double)size * (double)ar_min64(p->terms + 2, 256 + p->terms / 256);
    return total;
}

static bool same(double x, double y) { return isnan(x) ? isnan(y) : memcmp(&x, &y, sizeof x) == 0; }

static void check_cells(const ar_product *p)
{
    int64_t wrong = 0, far_off = 0;

    for (int64_t i = 0; i < p->rows; i++)
        for (int64_t j = 0; j < p->columns; j++) {
            double exact, bound, want = expected(p, i, j, &exact, &bound);
            double got =
                get_cell(p->c + i * p->c_row + j * (int64_t)ar_dtype_size(p->dtype), p->dtype);

            wrong += !same(got, want);
            far_off += isfinite(exact) && fabs(got - exact) > bound;
        }
    CHECK_EQ_INT(wrong, 0);
    CHECK_EQ_INT(far_off, 0);
}

/* ---- Products -------------------------------------------------------------------------------- */

typedef struct {
    ar_product p;
    matrix     a, b;
    int64_t    c_bytes;
} world;

/* Rows of c have a gap after them, which must stay as it is. */
enum { GAP = 24, FILL = 0x5a };

static world new_world(arras_dtype dtype, layout a, layout b, int64_t rows, int64_t columns,
                       int64_t terms)
{
    world   w = { .a = new_matrix(dtype, a, rows, terms, 0.1),
                  .b = new_matrix(dtype, b, terms, columns, 0.7) };
    int64_t size = (int64_t)ar_dtype_size(dtype);

    w.p = (ar_product){ .dtype = dtype,
                        .rows = rows,
                        .columns = columns,
                        .terms = terms,
                        .a = w.a.cells,
                        .a_row = w.a.row,
                        .a_term = w.a.column,
                        .b = w.b.cells,
                        .b_term = w.b.row,
                        .b_column = w.b.column };
    w.p.c_row = columns * size + GAP;
    w.c_bytes = rows * w.p.c_row;
    w.p.c = malloc((size_t)w.c_bytes + 1);
    memset(w.p.c, FILL, (size_t)w.c_bytes);
    return w;
}

static void free_world(world *w)
{
    free(w->a.memory);
    free(w->b.memory);
    free(w->p.c);
}

static void run(const ar_product_kernel *kernels, const ar_product *p, bool with_room)
{
    size_t bytes = (size_t)(ar_product_room(kernels, p, false) + 63) / 64 * 64;
    void  *room = with_room ? aligned_alloc(64, bytes ? bytes : 64) : NULL;

    ar_product_run(kernels, p, room);
    free(room);
}

static void check_gaps(const world *w)
{
    int64_t touched = 0, bytes = w->p.columns * (int64_t)ar_dtype_size(w->p.dtype);

    for (int64_t i = 0; i < w->p.rows; i++)
        for (int64_t at = bytes; at < w->p.c_row; at++)
            touched += w->p.c[i * w->p.c_row + at] != FILL;
    CHECK_EQ_INT(touched, 0);
}

/* By every instruction set, with and without memory: all the same bits. */
static void check_product(arras_dtype dtype, layout a, layout b, int64_t rows, int64_t columns,
                          int64_t terms)
{
    world w = new_world(dtype, a, b, rows, columns, terms);
    char *first = malloc((size_t)w.c_bytes + 1);
    bool  checked = false;

    for (size_t s = 0; s < AR_COUNT(sets); s++)
        for (int room = 0; room < 2 && sets[s].kernels; room++) {
            memset(w.p.c, FILL, (size_t)w.c_bytes);
            run(sets[s].kernels, &w.p, room);
            if (!checked) {
                check_cells(&w.p);
                check_gaps(&w);
                memcpy(first, w.p.c, (size_t)w.c_bytes);
            }
            checked = true;
            if (!CHECK(memcmp(first, w.p.c, (size_t)w.c_bytes) == 0))
                printf("    %s, %s memory\n", sets[s].name, room ? "with" : "without");
        }
    CHECK(true); /* where there is no such processor nothing is to be seen */
    free(first);
    free_world(&w);
}

static void check_types(int64_t rows, int64_t columns, int64_t terms, layout a, layout b)
{
    CASE("%" PRId64 " x %" PRId64 " x %" PRId64 ", %s, %s", rows, columns, terms, layout_names[a],
         layout_names[b]);
    check_product(ARRAS_F32, a, b, rows, columns, terms);
    check_product(ARRAS_F64, a, b, rows, columns, terms);
}

/* ---- Lengths and strides --------------------------------------------------------------------- */

static void layouts(void)
{
    for (layout a = 0; a < LAYOUTS; a++)
        for (layout b = 0; b < LAYOUTS; b++) {
            check_types(31, 37, 29, a, b);
            check_types(16, 34, 300, a, b);
        }
}

/* Around the edges of tiles, blocks of rows, panels of columns and blocks of terms. */
static void edges(void)
{
    static const int64_t rows[] = { 0, 1, 5, 6, 7, 13, 14, 15, 28, 29, 251, 252, 253, 505 };
    static const int64_t columns[] = { 0,  1,  7,  8,  9,   15,   16,   17,
                                       31, 32, 33, 65, 257, 1023, 1024, 1025 };
    static const int64_t terms[] = { 0, 1, 2, 255, 256, 257, 511, 512, 513, 800 };

    for (size_t i = 0; i < AR_COUNT(rows); i++)
        for (layout a = ROWS; a <= COLUMNS; a++)
            check_types(rows[i], 17, 19, a, ROWS);
    for (size_t i = 0; i < AR_COUNT(columns); i++)
        for (layout b = ROWS; b <= COLUMNS; b++)
            check_types(15, columns[i], 11, ROWS, b);
    for (size_t i = 0; i < AR_COUNT(terms); i++)
        for (layout how = ROWS; how <= COLUMNS; how++)
            check_types(17, 35, terms[i], how, how);
}

/* Several blocks at once, the last of each not whole. */
static void hundreds(void)
{
    check_types(300, 110, 290, ROWS, ROWS);
    check_types(260, 50, 330, COLUMNS, COLUMNS);
    check_types(256, 64, 256, PAGES, ROWS);
    check_types(6, 1050, 530, ROWS, COLUMNS);
}

/* ---- Cuts ------------------------------------------------------------------------------------ */

/* The same product in boxes. */
static void run_cut(const ar_product *p, int64_t rows, int64_t columns)
{
    for (int64_t i = 0; i < p->rows; i += rows)
        for (int64_t j = 0; j < p->columns; j += columns) {
            ar_product box = *p;

            box.rows = ar_min64(rows, p->rows - i);
            box.columns = ar_min64(columns, p->columns - j);
            box.a += i * p->a_row;
            box.b += j * p->b_column;
            box.c += i * p->c_row + j * (int64_t)ar_dtype_size(p->dtype);
            run(best_set(), &box, true);
        }
}

static void check_cuts(world *w)
{
    static const int64_t cuts[][2] = { { 1, 1 }, { 14, 16 }, { 13, 33 }, { 100, 7 }, { 5, 200 } };
    char                *whole = malloc((size_t)w->c_bytes);

    run(best_set(), &w->p, true);
    memcpy(whole, w->p.c, (size_t)w->c_bytes);
    for (size_t c = 0; c < AR_COUNT(cuts); c++) {
        memset(w->p.c, FILL, (size_t)w->c_bytes);
        run_cut(&w->p, cuts[c][0], cuts[c][1]);
        CHECK(memcmp(whole, w->p.c, (size_t)w->c_bytes) == 0);
    }
    free(whole);
}

static void cuts_do_not_matter(void)
{
    world w = new_world(ARRAS_F64, ROWS, ROWS, 101, 77, 600);

    CHECK(true);
    if (best_set())
        check_cuts(&w);
    free_world(&w);
}

/* Not even to the bits of a nan, of which an addition keeps one operand's. */
static void nor_to_the_bits_of_nans(void)
{
    world w = new_world(ARRAS_F64, ROWS, ROWS, 30, 40, 600);

    for (int64_t i = 0; i < 30; i++)
        for (int64_t k = i; k < 600; k += 150) {
            double special = k % 4 == 0 ? INFINITY : k % 4 == 1 ? -NAN : k % 4 == 2 ? NAN : 0;

            set_cell(w.a.memory + i * w.a.row + k * w.a.column, ARRAS_F64, special);
        }
    CHECK(true);
    if (best_set())
        check_cuts(&w);
    free_world(&w);
}

/* ---- Copies that threads share --------------------------------------------------------------- */

typedef struct {
    const ar_product  *p;
    ar_product_shared *shared;
    _Atomic int       *next; /* box */
    int                threads;
} team;

enum { BOX_ROWS = 17 };

/* Boxes of some rows, as they come. */
static void *run_boxes(void *argument)
{
    const team *t = argument;
    size_t      bytes = (size_t)(ar_product_room(best_set(), t->p, true) + 63) / 64 * 64;
    void       *room = aligned_alloc(64, bytes);
    int         box;

    while ((box = (*t->next)++) * BOX_ROWS < t->p->rows) {
        ar_product part = *t->p;

        part.rows = ar_min64(BOX_ROWS, t->p->rows - box * BOX_ROWS);
        part.a += box * BOX_ROWS * t->p->a_row;
        part.c += box * BOX_ROWS * t->p->c_row;
        ar_product_run_shared(best_set(), &part, room, t->shared, box % t->threads, t->threads);
    }
    free(room);
    return NULL;
}

static void run_team(const ar_product *p, ar_product_shared *shared, int threads)
{
    _Atomic int next = 0;
    team        t = { p, shared, &next, threads };
    pthread_t   others[3];

    for (int i = 0; i + 1 < threads; i++)
        pthread_create(&others[i], NULL, run_boxes, &t);
    run_boxes(&t);
    for (int i = 0; i + 1 < threads; i++)
        pthread_join(others[i], NULL);
}

/* Turn after turn with another b.  busy: every so many strips are being copied by one who does not
 * get on; they are not touched, and nobody waits. */
static void check_shared(world *w, int threads, int64_t busy)
{
    int64_t           bytes = ar_product_shared_bytes(best_set(), &w->p), strips;
    void             *memory = aligned_alloc(64, (size_t)(bytes + 63) / 64 * 64);
    char             *whole = malloc((size_t)w->c_bytes);
    ar_product_shared shared;

    strips = (w->p.columns + ar_product_columns(best_set(), w->p.dtype) - 1) /
             ar_product_columns(best_set(), w->p.dtype) * ((w->p.terms + 255) / 256);
    ar_product_shared_open(&shared, best_set(), &w->p, memory);
    for (int turn = 1; turn <= 3; turn++) {
        set_cell(w->b.memory, w->p.dtype, turn);
        run(best_set(), &w->p, true);
        memcpy(whole, w->p.c, (size_t)w->c_bytes);
        memset(w->p.c, FILL, (size_t)w->c_bytes);
        ar_product_shared_turn(&shared);
        for (int64_t s = 0; busy && s < strips; s += busy)
            shared.states[s] = 2 * shared.turn - 1;
        run_team(&w->p, &shared, threads);
        for (int64_t row = 0; row < w->p.rows; row++)
            if (!CHECK(memcmp(whole + row * w->p.c_row, w->p.c + row * w->p.c_row,
                              (size_t)(w->p.c_row - GAP)) == 0))
                break;
        check_gaps(w);
        for (int64_t s = 0; s < strips; s++)
            if (!CHECK(shared.states[s] == 2 * shared.turn - (busy && s % busy == 0)))
                break;
    }
    free(whole);
    free(memory);
}

static void threads_share_copies(void)
{
    for (int threads = 1; threads <= 4; threads++)
        for (layout how = ROWS; how <= COLUMNS; how++)
            for (int64_t busy = 0; busy <= 3; busy++) {
                world w = new_world(ARRAS_F64, how, how, 301, 205, 600);
                world v = new_world(ARRAS_F32, how, how, 50, 100, 256);

                CASE("%d threads, %s, %d", threads, layout_names[how], (int)busy);
                CHECK(true);
                if (best_set()) {
                    check_shared(&w, threads, busy);
                    check_shared(&v, threads, busy);
                }
                free_world(&w);
                free_world(&v);
            }
}

/* ---- Special numbers ------------------------------------------------------------------------- */

static void nan_and_infinity(void)
{
    static const double specials[] = { NAN, INFINITY, -INFINITY, 1e308, 0 };

    for (size_t s = 0; s < AR_COUNT(specials); s++) {
        world w = new_world(ARRAS_F64, ROWS, ROWS, 15, 17, 300);

        CASE("%g", specials[s]);
        CHECK(true);
        set_cell(w.a.memory + 14 * w.a.row + 299 * w.a.column, ARRAS_F64, specials[s]);
        set_cell(w.b.memory + 100 * w.b.row + 16 * w.b.column, ARRAS_F64, specials[s]);
        for (size_t i = 0; i < AR_COUNT(sets); i++)
            if (sets[i].kernels) {
                run(sets[i].kernels, &w.p, true);
                check_cells(&w.p);
            }
        free_world(&w);
    }
}

TEST_MAIN
{
    find_sets();
    RUN(the_best_is_chosen);
    RUN(layouts);
    RUN(edges);
    RUN(hundreds);
    RUN(cuts_do_not_matter);
    RUN(nor_to_the_bits_of_nans);
    RUN(threads_share_copies);
    RUN(nan_and_infinity);
}
