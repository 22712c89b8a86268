/* test_launch_vectors.c -- cells that are computed as vectors: several side by side, of every
 * second cell, put together of single cells where data says, and random mixtures of these. */
#include "rows_kit.h"

#include <math.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

/* ---- Chains so long that several vectors are computed side by side --------------------------- */

/* `kind` of the link: what waits for the one before in different ways. */
static arras_array linked(arras_array y, arras_array x, int kind)
{
    switch (kind % 5) {
    case 0: return arras_add(arras_abs(y), arras_float(g, 0.25));
    case 1: return arras_subtract(arras_multiply(y, arras_float(g, 0.875)), x);
    case 2: return arras_where(arras_less(y, x), arras_negative(y), x);
    case 3: return arras_maximum(y, arras_divide(x, arras_float(g, 3)));
    default: return arras_minimum(arras_add(y, y), arras_multiply(x, y));
    }
}

/* Nothing but arithmetic, for which vectors may be wider. */
static arras_array linked_plainly(arras_array y, arras_array x, int kind)
{
    switch (kind % 4) {
    case 0: return arras_add(arras_abs(y), arras_float(g, 0.25));
    case 1: return arras_fma(y, arras_float(g, 0.875), x);
    case 2: return arras_negative(arras_subtract(arras_multiply(y, arras_float(g, 0.3)), x));
    default: return arras_divide(y, arras_float(g, -3));
    }
}

static void chains(void)
{
    const int64_t     lengths[] = { 1, 4, 15, 16, 31, 33, 47, 48, 96, 97, 160, 333, 1000, 4099 };
    const arras_dtype dtypes[] = { ARRAS_F32, ARRAS_F64 };

    for (size_t k = 0; k < 2 * AR_COUNT(lengths); k++) {
        arras_dim   shape[2] = { 2, lengths[k / 2] };
        arras_dtype dtype = dtypes[k % 2];
        arras_array x, y, half, plain;

        CASE("%s, rows of %d", arras_dtype_name(dtype), (int)shape[1]);
        start();
        half = y = x = arras_placeholder(g, "x", dtype, 2, shape);
        for (int i = 0; i < 30; i++) {
            y = linked(y, x, i);
            half = i == 17 ? y : half;
        }
        arras_output(g, "y", y);
        if (k % 3 == 0)
            arras_output(g, "half", half);
        check_program(dtype, shape[0], shape[1]);
        finish(NULL);
        start();
        plain = x = arras_placeholder(g, "x", dtype, 2, shape);
        for (int i = 0; i < 30; i++)
            plain = linked_plainly(plain, x, i);
        arras_output(g, "plain", plain);
        check_program(dtype, shape[0], shape[1]);
        finish(NULL);
    }
}

/* ---- Every second cell ----------------------------------------------------------------------- */

/* Its last byte is the last of a page, behind which nothing may be read. */
static char *at_end_of_page(const void *cells, size_t bytes, void **mapping, size_t *length)
{
    size_t page = 4096, room = (bytes + page - 1) / page * page;

    *length = room + page;
    *mapping = mmap(NULL, *length, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (!CHECK(*mapping != MAP_FAILED) ||
        !CHECK(mprotect((char *)*mapping + room, page, PROT_NONE) == 0))
        abort();
    return memcpy((char *)*mapping + room - bytes, cells, bytes);
}

static void check_at_end_of_page(arras_dtype dtype, int64_t n, int64_t m)
{
    size_t bytes = (size_t)(n * m) * arras_dtype_size(dtype), length;
    void  *mapping, *cells = cells_of(dtype, n * m), *x;

    for (int64_t i = 0; i < n * m; i += 13)
        if (dtype == ARRAS_F32)
            ((float *)cells)[i] = i % 2 ? NAN : -INFINITY;
        else
            ((double *)cells)[i] = i % 2 ? NAN : -INFINITY;
    x = at_end_of_page(cells, bytes, &mapping, &length);
    check_program_of(x, dtype, n, m);
    munmap(mapping, length);
    free(cells);
}

/* x[2i + row, 2j + column] */
static arras_array every_second(arras_array x, int row, int column, const int64_t *shape)
{
    const arras_item items[] = { arras_slice(row, row + 2 * shape[0] - 1, 2),
                                 arras_slice(column, column + 2 * shape[1] - 1, 2) };

    return arras_index(x, 2, items);
}

/* The largest of 2x2 sums of `window` x `window` cells, of which `first` is not: long enough for
 * wide vectors, of cells all of whose neighbours are read, or not. */
static arras_array pooled(arras_array x, int window, int first, const int64_t *shape)
{
    arras_array best = NULL;

    for (int k = 0; k < 4; k++) {
        arras_array sum = arras_float(g, 0.5);

        for (int c = first; c < window * window; c++)
            sum = arras_fma(every_second(x, k / 2 + c / window, k % 2 + c % window, shape),
                            arras_float(g, 0.25 * (c % 5) - 0.5), sum);
        best = best ? arras_maximum(best, sum) : sum;
    }
    return arras_minimum(best, arras_float(g, 900));
}

static void pools(void)
{
    const int64_t     lengths[] = { 1, 3, 4, 7, 8, 9, 15, 16, 17, 31, 33, 100, 575 };
    const arras_dtype dtypes[] = { ARRAS_F32, ARRAS_F64 };

    for (size_t k = 0; k < 4 * AR_COUNT(lengths); k++) {
        int           window = 2 + k / 2 % 2, first = (int)k % 3;
        const int64_t cells[] = { 3, lengths[k / 4] };
        arras_dtype   dtype = dtypes[k % 2];
        arras_dim     shape[] = { 2 * cells[0] + window - 1, 2 * cells[1] + window - 1 };

        CASE("%s, rows of %d, windows of %d without %d", arras_dtype_name(dtype), (int)cells[1],
             window, first);
        start();
        arras_output(g, "y",
                     pooled(arras_placeholder(g, "x", dtype, 2, shape), window, first, cells));
        check_at_end_of_page(dtype, shape[0], shape[1]);
        finish(NULL);
    }
}

/* x[row, 2j + column], with this rule for what is outside, which nothing is. */
static arras_expr second_with(arras_array x, int64_t column, arras_edge_rule rule)
{
    arras_expr twice = arras_expr_apply(
        ARRAS_OP_multiply, 2, (arras_expr[]){ arras_expr_int(g, 2), arras_expr_index(g, 1) });
    const arras_expr at[] = {
        arras_expr_index(g, 0),
        arras_expr_apply(ARRAS_OP_add, 2, (arras_expr[]){ twice, arras_expr_int(g, column) })
    };
    const arras_edge edges[] = { { ARRAS_EDGE_NONE, NULL }, { rule, NULL } };

    return arras_expr_load(x, 2, at, edges);
}

/* The same cells by two names, of which one comes with those in between. */
static void seconds_by_two_names(void)
{
    const int64_t lengths[] = { 5, 8, 16, 33, 500 };

    for (size_t k = 0; k < AR_COUNT(lengths); k++) {
        const int64_t cells[] = { 3, lengths[k] };
        arras_dim     shape[] = { 3, 2 * lengths[k] };
        arras_array   x;
        arras_expr    sum;

        CASE("rows of %d", (int)lengths[k]);
        start();
        x = arras_placeholder(g, "x", ARRAS_F64, 2, shape);
        sum = second_with(x, 0, ARRAS_EDGE_WRAP);
        for (int i = 0; i < 4; i++)
            sum = arras_expr_apply(
                ARRAS_OP_add, 2,
                (arras_expr[]){ sum,
                                second_with(x, i % 2, i / 2 ? ARRAS_EDGE_WRAP : ARRAS_EDGE_NONE) });
        arras_output(g, "y", arras_lambda(g, 2, cells, sum));
        check_program(ARRAS_F64, shape[0], shape[1]);
        finish(NULL);
    }
}

#if defined __x86_64__
/* Where a compiler knows no registers of 32 bytes vectors of so many are still to be had. */
static void seconds_without_avx(void)
{
    char           folder[] = "/tmp/arras-test-XXXXXX", path[64];
    const int64_t  cells[] = { 3, 100 };
    arras_dim      shape[] = { 3, 200 };
    arras_program *p;
    arras_array    x;
    FILE          *script;

    CHECK(mkdtemp(folder) != NULL);
    snprintf(path, sizeof path, "%s/cc", folder);
    script = fopen(path, "w");
    fputs("#!/bin/sh\nexec cc \"$@\" -march=x86-64\n", script);
    fclose(script);
    chmod(path, 0700);
    start();
    x = arras_placeholder(g, "x", ARRAS_F64, 2, shape);
    arras_output(
        g, "y",
        arras_lambda(g, 2, cells,
                     arras_expr_apply(ARRAS_OP_add, 2,
                                      (arras_expr[]){ second_with(x, 0, ARRAS_EDGE_NONE),
                                                      second_with(x, 1, ARRAS_EDGE_NONE) })));
    p = compiled(&(arras_options){ .compiler = path, .no_cache = true });
    unlink(path);
    rmdir(folder);
    finish(p);
}
#endif

/* ---- Short rows that jump -------------------------------------------------------------------- */

enum { FROM_ROWS = 37, FROM_CELLS = 9, ROWS_THAT_JUMP = 61 };

/* So many rows of `length` cells of x, wherever data says: across[row] of x, its cell nodes[row,
 * k], which is one of the first `cells`. */
static arras_array jumped_among(arras_array x, int64_t rows, int64_t length, int cells)
{
    static int32_t across[ROWS_THAT_JUMP], nodes[ROWS_THAT_JUMP * 16];
    arras_item     items[2];

    for (int i = 0; i < ROWS_THAT_JUMP; i++)
        across[i] = i * 17 % FROM_ROWS;
    for (int64_t i = 0; i < ROWS_THAT_JUMP * length; i++)
        nodes[i] = (int32_t)(i * 5 % cells);
    items[0] = arras_gather(arras_borrow(g, ARRAS_I32, 2, (int64_t[]){ rows, 1 }, NULL, across));
    items[1] =
        arras_gather(arras_borrow(g, ARRAS_I32, 2, (int64_t[]){ rows, length }, NULL, nodes));
    return arras_index(x, 2, items);
}

static arras_array jumped(arras_array x, int64_t length)
{
    return jumped_among(x, ROWS_THAT_JUMP, length, FROM_CELLS);
}

/* The cells of rows, each in an order that data says. */
static arras_array reordered(arras_array x, int64_t length)
{
    static int64_t order[16];
    arras_item     items[2] = { arras_slice(0, ROWS_THAT_JUMP % FROM_ROWS, 1) };

    for (int i = 0; i < length; i++)
        order[i] = (length - i) * 2 % FROM_CELLS;
    items[1] = arras_gather(arras_borrow(g, ARRAS_I64, 1, &length, NULL, order));
    return arras_index(x, 2, items);
}

static void record_jumps(arras_array x, int64_t length)
{
    arras_array here = jumped(x, length), there = arras_negative(jumped(arras_abs(x), length));
    arras_array sum = arras_add(here, there), away = arras_subtract(here, arras_float(g, 0.5));
    arras_array safe = arras_add(arras_sqrt(arras_abs(away)), arras_float(g, 1));

    arras_output(g, "sum", sum);
    arras_output(g, "roots", arras_divide(arras_maximum(sum, away), safe));
    arras_output(g, "chosen", arras_where(arras_less(here, there), away, sum));
    arras_output(g, "order", arras_multiply(reordered(x, length), arras_float(g, 3)));
}

static void jumping_rows(void)
{
    const int64_t     lengths[] = { 1, 2, 3, 4, 6, 9, 16 };
    const arras_dtype dtypes[] = { ARRAS_F32, ARRAS_F64 };

    for (size_t k = 0; k < 2 * AR_COUNT(lengths); k++) {
        arras_dim   shape[2] = { FROM_ROWS, FROM_CELLS };
        arras_dtype dtype = dtypes[k % 2];

        CASE("%s, rows of %d", arras_dtype_name(dtype), (int)lengths[k / 2]);
        start();
        record_jumps(arras_placeholder(g, "x", dtype, 2, shape), lengths[k / 2]);
        check_program(dtype, FROM_ROWS, FROM_CELLS);
        finish(NULL);
    }
}

/* One number for each row. */
static arras_array weights(arras_dtype dtype, int64_t rows)
{
    static double cells[ROWS_THAT_JUMP];

    for (int i = 0; i < ROWS_THAT_JUMP; i++)
        cells[i] = 0.5 + i % 7;
    return arras_cast(arras_borrow(g, ARRAS_F64, 2, (int64_t[]){ rows, 1 }, NULL, cells), dtype);
}

/* Rows with much to compute: those of many are gathered first, as vectors or cell by cell.  cells:
 * of the rows that are read, of which some are vectors themselves. */
static void check_gathered(arras_dtype dtype, int64_t length, int cells)
{
    arras_dim   shape[2] = { FROM_ROWS, cells };
    arras_array x, y, away;

    CASE("%s, rows of %d from rows of %d", arras_dtype_name(dtype), (int)length, cells);
    start();
    x = arras_placeholder(g, "x", dtype, 2, shape);
    y = jumped_among(x, ROWS_THAT_JUMP, length, cells);
    away = arras_subtract(y, arras_multiply(weights(dtype, ROWS_THAT_JUMP), arras_float(g, 0.5)));
    for (int i = 0; i < 45; i++)
        y = i % 16 == 15 ? arras_sqrt(arras_abs(y)) : linked(y, away, i);
    arras_output(g, "y", arras_multiply(y, weights(dtype, ROWS_THAT_JUMP)));
    arras_output(g, "away", away);
    check_program(dtype, FROM_ROWS, cells);
    finish(NULL);
}

/* The same with cells of rows at hand, which are taken from vectors of several rows, the last of
 * which end where nothing may be read behind them. */
static void check_at_hand(arras_dtype dtype, int64_t length, int cells)
{
    static int32_t order[16];
    arras_dim      shape[2] = { FROM_ROWS, cells };
    arras_item     items[2] = { arras_all_of_axis() };
    arras_array    x, here, there, y;

    CASE("%s, rows of %d at hand, of %d", arras_dtype_name(dtype), (int)length, cells);
    start();
    for (int k = 0; k < length; k++)
        order[k] = (int32_t)(length - k) * 2 % cells;
    items[1] = arras_gather(arras_borrow(g, ARRAS_I32, 1, &length, NULL, order));
    y = x = arras_placeholder(g, "x", dtype, 2, shape);
    here = arras_index(x, 2, items);
    there = jumped_among(x, FROM_ROWS, length, cells);
    y = arras_subtract(there, arras_multiply(weights(dtype, FROM_ROWS), here));
    for (int i = 0; i < 45; i++)
        y = linked(y, i % 2 ? here : there, i);
    arras_output(g, "y", arras_multiply(y, weights(dtype, FROM_ROWS)));
    check_at_end_of_page(dtype, FROM_ROWS, cells);
    finish(NULL);
}

static void rows_at_hand(void)
{
    const int cells[] = { 3, 4, 5, 8, 16 };

    for (int64_t length = 1; length <= 6; length++)
        for (size_t k = 0; k < AR_COUNT(cells); k++)
            check_at_hand(k % 2 == (size_t)length % 2 ? ARRAS_F64 : ARRAS_F32, length, cells[k]);
    check_at_hand(ARRAS_F64, 3, 4);
    check_at_hand(ARRAS_F32, 6, 10);
}

static void gathered_rows(void)
{
    const int64_t lengths[] = { 1, 2, 3, 4, 5, 6, 9, 11, 13, 16 };
    const int     cells[] = { 3, 4, 8, 9 };

    for (size_t k = 0; k < AR_COUNT(lengths); k++) {
        check_gathered(ARRAS_F64, lengths[k], cells[k % AR_COUNT(cells)]);
        check_gathered(ARRAS_F32, lengths[k], cells[(k + 1) % AR_COUNT(cells)]);
    }
    for (size_t k = 0; k < AR_COUNT(cells); k++)
        check_gathered(ARRAS_F64, 3, cells[k]);
}

/* Each is the sum of the one before with itself: a walk that does not know so takes years. */
static void doubled_indices(void)
{
    static const int64_t zeros[ROWS_THAT_JUMP * 3];
    const int64_t        shape[] = { ROWS_THAT_JUMP, 3 };
    arras_array          x, at;
    arras_item           items[2];

    start();
    x = matrix("x", FROM_ROWS, FROM_CELLS);
    at = arras_copy(g, ARRAS_I64, 2, shape, NULL, zeros);
    for (int i = 0; i < 50; i++)
        at = arras_add(at, at);
    items[0] = arras_gather(arras_copy(g, ARRAS_I64, 2, shape, NULL, zeros));
    items[1] = arras_gather(at);
    arras_output(g, "y", arras_multiply(arras_index(x, 2, items), arras_float(g, 2)));
    check_program(ARRAS_F64, FROM_ROWS, FROM_CELLS);
    finish(NULL);
}

/* ---- Anything of it -------------------------------------------------------------------------- */

enum { PROGRAMS = 60, MOST_VALUES = 24 };

static uint64_t state;

static int64_t below(int64_t n)
{
    state = state * 6364136223846793005u + 1442695040888963407u;
    return (int64_t)(state >> 33) % n;
}

/* Rows of x as they are, every second cell of them, cells that data names, one cell of each. */
static arras_array some_cells(arras_array x, int64_t rows, int64_t length)
{
    const int64_t from = below(2), width = 2 * length + 2;
    arras_item    items[2] = { arras_all_of_axis(), arras_slice(from, from + length, 1) };
    int32_t       places[16];

    switch (below(length <= 16 ? 4 : 3)) {
    case 0: items[1] = arras_slice(from, from + 2 * length, 2); break;
    case 1: items[1] = arras_slice(from, from + 1, 1); break;
    case 2: break;
    default:
        for (int i = 0; i < length; i++)
            places[i] = (int32_t)below(width);
        items[1] = arras_gather(arras_copy(g, ARRAS_I32, 1, &length, NULL, places));
    }
    x = arras_index(x, 2, items);
    return arras_broadcast_to(x, 2, (arras_dim[]){ rows, length });
}

static arras_array some_value(const arras_array *values, int n)
{
    return values[below(2) ? n - 1 : below(n)];
}

static arras_array some_operation(const arras_array *values, int n)
{
    arras_array a = some_value(values, n), b = some_value(values, n);

    switch (below(10)) {
    case 0: return arras_add(a, b);
    case 1: return arras_subtract(a, arras_float(g, (double)below(8) / 4));
    case 2: return arras_multiply(a, b);
    case 3: return arras_divide(a, arras_add(arras_abs(b), arras_float(g, 0.5)));
    case 4: return arras_minimum(a, b);
    case 5: return arras_maximum(arras_float(g, 0), a);
    case 6: return arras_sqrt(arras_abs(a));
    case 7: return arras_negative(a);
    case 8: return arras_where(arras_less_equal(a, b), b, arras_abs(a));
    default: return arras_where(arras_logical_not(arras_greater(a, b)), a, arras_add(b, b));
    }
}

static void record_anything(arras_array x, int64_t rows, int64_t length)
{
    arras_array values[MOST_VALUES];
    int         leaves = 1 + (int)below(4), n = 0, count = 6 + (int)below(MOST_VALUES - 6);

    while (n < leaves)
        values[n++] = some_cells(x, rows, length);
    for (; n < count; n++)
        values[n] = some_operation(values, n);
    arras_output(g, "last", values[n - 1]);
    if (below(2))
        arras_output(g, "other", values[leaves + below(n - leaves - 1)]);
}

static void anything(void)
{
    const int64_t lengths[] = { 3, 4, 5, 8, 15, 16, 31, 100, 517 };

    for (int seed = 1; seed <= PROGRAMS; seed++) {
        int64_t     rows = 5 + seed % 7, length = lengths[seed % (int)AR_COUNT(lengths)];
        arras_dtype dtype = seed % 3 ? ARRAS_F64 : ARRAS_F32;
        arras_dim   shape[2] = { rows, 2 * length + 2 };

        CASE("seed %d, %s, rows of %d", seed, arras_dtype_name(dtype), (int)length);
        state = (uint64_t)seed;
        start();
        record_anything(arras_placeholder(g, "x", dtype, 2, shape), rows, length);
        check_program(dtype, shape[0], shape[1]);
        finish(NULL);
    }
}

TEST_MAIN
{
    RUN(chains);
    RUN(pools);
    RUN(seconds_by_two_names);
#if defined __x86_64__
    RUN(seconds_without_avx);
#endif
    RUN(jumping_rows);
    RUN(gathered_rows);
    RUN(rows_at_hand);
    RUN(doubled_indices);
    RUN(anything);
}
