/* product.c -- a product in blocks that fit the caches.
 *
 * Of b, some rows of many columns are copied into a panel: strips of a tile's width, one after the
 * other, of which the first cache holds one.  Of a, a block of rows stays in the second cache while
 * all strips pass by; it is read where it lies if its terms lie side by side, else it is copied
 * too.  Strips and blocks are filled up with zeros to whole tiles. */
#include "run/product.h"

#include <string.h>

/* Cells of a block of a and of a panel: half of a second cache and less than any third one.  The
 * rows are a multiple of the rows of all tiles. */
enum { TERMS = AR_PRODUCT_TERMS, BLOCK_ROWS = 6 * 42, PANEL_COLUMNS = 1024 };

typedef struct {
    const ar_product        *p;
    const ar_product_kernel *kernel;
    int64_t                  size; /* of a cell */
    char                    *panel, *block;
    int64_t                  panel_columns;
} work;

static int64_t parts_of(int64_t n, int64_t by) { return (n + by - 1) / by; }

/* ---- Kernels --------------------------------------------------------------------------------- */

const ar_product_kernel *ar_product_kernels(void)
{
#if defined __x86_64__
    if (__builtin_cpu_supports("avx512f"))
        return ar_product_avx512;
    if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma"))
        return ar_product_avx2;
#endif
    return NULL;
}

static const ar_product_kernel *kernel_of(const ar_product_kernel *kernels, arras_dtype dtype)
{
    return &kernels[dtype == ARRAS_F32 ? AR_PRODUCT_F32 : AR_PRODUCT_F64];
}

/* ---- Copies ---------------------------------------------------------------------------------- */

/* Cells of a matrix of lanes x terms, in bytes from one to the next. */
typedef struct {
    const char *cells;
    int64_t     lane, term;
} view;

/* All lanes of a strip, in pieces of a known length, which need no call; and asks for what comes
 * next, as the distance from term to term is too long for the processor to guess it. */
static void copy_terms(char *out, int64_t bytes, view from, int64_t terms)
{
    enum { PIECE = 64, AHEAD = 8 };

    for (int64_t k = 0; k < terms; k++, from.cells += from.term, out += bytes)
        for (int64_t at = 0; at < bytes; at += PIECE) {
            __builtin_prefetch(from.cells + AHEAD * from.term + at);
            memcpy(out + at, from.cells + at, PIECE);
        }
}

/* Some terms at a time, so that cells of a lane that share a cache line are read together. */
static inline void gather(char *out, int64_t width, view from, int64_t lanes, int64_t terms,
                          int64_t size)
{
    enum { AT_ONCE = 16 };

    for (int64_t first = 0; first < terms; first += AT_ONCE) {
        int64_t last = ar_min64(first + AT_ONCE, terms);

        for (int64_t l = 0; l < lanes; l++)
            for (int64_t k = first; k < last; k++)
                memcpy(out + (k * width + l) * size, from.cells + l * from.lane + k * from.term,
                       (size_t)size);
    }
}

/* out: terms of `width` cells, of which the first are the lanes and the others zero. */
static void copy_strip(char *out, int64_t width, view from, int64_t lanes, int64_t terms,
                       int64_t size)
{
    if (lanes < width)
        memset(out, 0, (size_t)(terms * width * size));
    else if (from.lane == size && width * size % 64 == 0) {
        copy_terms(out, width * size, from, terms);
        return;
    }
    if (size == 4)
        gather(out, width, from, lanes, terms, 4);
    else
        gather(out, width, from, lanes, terms, 8);
}

/* Strips of all lanes, one after the other. */
static void copy_strips(char *out, int64_t width, view from, int64_t lanes, int64_t terms,
                        int64_t size)
{
    for (int64_t l = 0; l < lanes; l += width) {
        copy_strip(out, width, from, ar_min64(width, lanes - l), terms, size);
        from.cells += width * from.lane;
        out += width * terms * size;
    }
}

/* ---- Tiles ----------------------------------------------------------------------------------- */

/* A box of c: what a block of rows of a and a panel of b give. */
typedef struct {
    int64_t     rows, columns, terms;
    view        a;      /* lanes are rows */
    int64_t     a_tile; /* from the rows of one tile to those of the next */
    bool        padded; /* a has rows of zeros up to a whole tile */
    const char *b;
    char       *c;
    bool        first; /* terms of these cells */
} box;

static void copy_rows(char *to, int64_t to_row, const char *from, int64_t from_row, int64_t rows,
                      int64_t bytes)
{
    for (int64_t i = 0; i < rows; i++)
        memcpy(to + i * to_row, from + i * from_row, (size_t)bytes);
}

/* A tile that c has only a part of is computed in a whole one beside it: by the same instructions,
 * so that not even the bits of a nan depend on where an edge is. */
static void run_part(const work *w, const box *t)
{
    _Alignas(64) char cells[AR_TILE_ROWS * AR_TILE_ROW_BYTES] = { 0 };
    int64_t           row = w->kernel->columns * w->size, bytes = t->columns * w->size;

    if (!t->first)
        copy_rows(cells, row, t->c, w->p->c_row, t->rows, bytes);
    w->kernel->run[2 * t->rows <= w->kernel->rows][2 * t->columns <= w->kernel->columns](
        t->a.cells, t->a.lane, t->a.term, t->b, t->terms, cells, row, t->first);
    copy_rows(t->c, w->p->c_row, cells, row, t->rows, bytes);
}

/* The last rows of a, where they are fewer than a tile's, with zeros after them. */
static void run_last_rows(const work *w, box t)
{
    _Alignas(64) char rows[TERMS * AR_TILE_ROWS * sizeof(double)];

    if (!t.padded) {
        copy_strip(rows, w->kernel->rows, t.a, t.rows, t.terms, w->size);
        t.a = (view){ rows, w->size, w->kernel->rows * w->size };
    }
    run_part(w, &t);
}

/* t: a box as wide as one strip.  All of its rows, tile by tile. */
static void run_strip(const work *w, box t)
{
    int64_t c_row = w->p->c_row, tile = w->kernel->rows, left = t.rows;
    bool    whole = t.columns == w->kernel->columns;

    t.rows = tile;
    for (; left >= tile; left -= tile) {
        if (whole)
            w->kernel->run[0][0](t.a.cells, t.a.lane, t.a.term, t.b, t.terms, t.c, c_row, t.first);
        else
            run_part(w, &t);
        t.a.cells += t.a_tile;
        t.c += tile * c_row;
    }
    t.rows = left;
    if (left > 0)
        run_last_rows(w, t);
}

static void run_strips(const work *w, const box *all)
{
    box t = *all;

    for (int64_t j = 0; j < all->columns; j += w->kernel->columns) {
        t.columns = ar_min64(w->kernel->columns, all->columns - j);
        t.b = all->b + j * all->terms * w->size;
        t.c = all->c + j * w->size;
        run_strip(w, t);
    }
}

/* ---- Blocks ---------------------------------------------------------------------------------- */

/* Rows that are multiples of a page apart would share the same few places of the caches. */
bool ar_product_copies_a(const ar_product *p)
{
    enum { PAGE = 4096 };

    return p->a_term != (int64_t)ar_dtype_size(p->dtype) || p->a_row % PAGE == 0;
}

static void run_block(const work *w, box b)
{
    int64_t rows = w->kernel->rows;

    b.a_tile = rows * b.a.lane;
    if (!w->block || !ar_product_copies_a(w->p)) {
        run_strips(w, &b);
        return;
    }
    copy_strips(w->block, rows, b.a, b.rows, b.terms, w->size);
    b.a = (view){ w->block, w->size, rows * w->size };
    b.a_tile = rows * b.terms * w->size;
    b.padded = true;
    run_strips(w, &b);
}

/* Columns from j on and terms from k on: what one panel holds. */
static void run_panel(const work *w, int64_t j, int64_t k)
{
    const ar_product *p = w->p;
    box               b = { .columns = ar_min64(w->panel_columns, p->columns - j),
                            .terms = ar_min64(TERMS, p->terms - k),
                            .b = w->panel,
                            .first = k == 0 };
    view              from = { p->b + k * p->b_term + j * p->b_column, p->b_column, p->b_term };

    copy_strips(w->panel, w->kernel->columns, from, b.columns, b.terms, w->size);
    for (int64_t i = 0; i < p->rows; i += BLOCK_ROWS) {
        b.rows = ar_min64(BLOCK_ROWS, p->rows - i);
        b.a = (view){ p->a + i * p->a_row + k * p->a_term, p->a_row, p->a_term };
        b.c = p->c + i * p->c_row + j * w->size;
        run_block(w, b);
    }
}

static void run_panels(const work *w)
{
    for (int64_t j = 0; j < w->p->columns; j += w->panel_columns)
        for (int64_t k = 0; k < w->p->terms; k += TERMS)
            run_panel(w, j, k);
}

/* ---- All of it ------------------------------------------------------------------------------- */

static int64_t panel_bytes(const ar_product_kernel *kernel, const ar_product *p)
{
    int64_t columns =
        ar_min64(PANEL_COLUMNS, parts_of(p->columns, kernel->columns) * kernel->columns);

    return columns * ar_min64(TERMS, p->terms) * (int64_t)ar_dtype_size(p->dtype);
}

int64_t ar_product_room(const ar_product_kernel *kernels, const ar_product *p)
{
    const ar_product_kernel *kernel = kernel_of(kernels, p->dtype);
    int64_t rows = ar_min64(BLOCK_ROWS, parts_of(p->rows, kernel->rows) * kernel->rows);

    return panel_bytes(kernel, p) +
           rows * ar_min64(TERMS, p->terms) * (int64_t)ar_dtype_size(p->dtype);
}

/* Strips are copied anew for every panel of one strip, and a is never. */
static void run_without_room(work *w)
{
    _Alignas(64) char strip[TERMS * AR_TILE_ROW_BYTES];

    w->panel = strip;
    w->panel_columns = w->kernel->columns;
    run_panels(w);
}

void ar_product_run(const ar_product_kernel *kernels, const ar_product *p, void *room)
{
    work w = { .p = p,
               .kernel = kernel_of(kernels, p->dtype),
               .size = (int64_t)ar_dtype_size(p->dtype),
               .panel = room,
               .panel_columns = PANEL_COLUMNS };

    for (int64_t i = 0; p->terms == 0 && i < p->rows; i++)
        memset(p->c + i * p->c_row, 0, (size_t)(p->columns * w.size));
    if (!room) {
        run_without_room(&w);
        return;
    }
    w.block = w.panel + panel_bytes(w.kernel, p);
    run_panels(&w);
}
