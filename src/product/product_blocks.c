/* product_blocks.c -- a product in blocks that fit the caches.
 *
 * Of b, some rows of many columns are copied into a panel: strips of a tile's width, one after the
 * other, of which the first cache holds one; and a few panels lie behind each other.  Of a, a block
 * of rows stays in the second cache while all strips pass by; it is read where it lies if its terms
 * lie side by side, else it is copied too.  Strips and blocks are filled up with zeros to whole
 * tiles. */
#include "product/product_blocks.h"

#include <stdatomic.h>
#include <string.h>

/* Cells of a block of a and of a panel: half of a second cache and less than any third one.  The
 * rows are a multiple of the rows of all tiles. */
enum { TERMS = AR_PRODUCT_TERMS, BLOCK_ROWS = 6 * 42, PANEL_COLUMNS = 1024, PANELS = 4 };

typedef struct {
    const ar_product        *p;
    const ar_product_kernel *kernel;
    int64_t                  size; /* of a cell */
    char                    *panels, *block;
    bool                     copies_a;     /* by blocks, for which `block` has room then; */
    bool                     copies_tiles; /* or by tiles, or only rows that do not fill one */
    int64_t                  panel_columns, panel_bytes;
    int64_t                  depth;      /* panels there is room for, of consecutive terms */
    ar_product_shared       *shared;     /* NULL: the panels are our own */
    char                    *own;        /* where they are not: a strip that is */
    int64_t                  first;      /* strip of a panel */
    int64_t                  rows_after; /* from a block to the next one of this thread */

    /* Of the block of rows that is computed: */
    int64_t     rows;
    int64_t     a_tile;    /* from the rows of one tile to those of the next */
    const char *last_rows; /* if fewer than a tile's: a copy of them, with zeros after them */

    /* Of what comes next: */
    int64_t     b_after_tile; /* from what one tile asks for to the next one's */
    const char *a_after;
    int64_t     a_after_row;  /* from row to row, or column to column, that is asked for */
    int64_t     tiles_before; /* of this block, until it is time to ask for a */
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

int64_t ar_product_columns(const ar_product_kernel *kernels, arras_dtype dtype)
{
    return kernel_of(kernels, dtype)->columns;
}

int64_t ar_product_rows(const ar_product_kernel *kernels, arras_dtype dtype)
{
    return kernel_of(kernels, dtype)->rows;
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
    enum { PIECE = 64, AHEAD = 16 };

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

/* A tile's rows that were copied as a strip. */
static void aim_at_copy(ar_tile *t, const char *strip)
{
    t->a = strip;
    t->packed = true;
}

/* ---- What comes next ------------------------------------------------------------------------- */

/* A strip, while the one before it is computed: in the time of a tile all terms of one lane, or all
 * lanes of some terms.  Where a strip begins within a line, the one before it asked for that line:
 * this one asks for its last bytes. */
static void aim_at_strip(work *w, ar_tile *t, view strip)
{
    enum { LINE = 64 };
    bool along = strip.term == w->size;

    t->b_after = strip.cells + LINE - 1;
    t->b_after_row = along ? AR_NEXT_BYTES : strip.term;
    w->b_after_tile = along ? strip.lane : AR_NEXT_TERMS * strip.term;
}

/* The rows from i on, while those before them are: two rows or, where they lie so, columns of them
 * in the time of a tile.  The last tiles do so, since what comes too early is gone when needed. */
static void aim_at_block(work *w, int64_t i, int64_t k, int64_t columns)
{
    const ar_product *p = w->p;
    bool              along = p->a_term == w->size;
    int64_t tiles = parts_of(columns, w->kernel->columns) * parts_of(w->rows, w->kernel->rows);

    w->a_after = p->a + i * p->a_row + k * p->a_term;
    w->a_after_row = along ? p->a_row : p->a_term;
    w->tiles_before = tiles - (along ? (int64_t)BLOCK_ROWS : (int64_t)TERMS) / AR_NEXT_ROWS;
}

/* What a tile asks for: before it is time, what it has. */
static void ask_for_a(work *w, ar_tile *t)
{
    bool early = w->tiles_before-- > 0;

    t->a_after = early ? t->a : w->a_after;
    t->a_after_row = early ? 0 : w->a_after_row;
    w->a_after += early ? 0 : AR_NEXT_ROWS * w->a_after_row;
}

/* ---- Tiles ----------------------------------------------------------------------------------- */

static void copy_rows(char *to, int64_t to_row, const char *from, int64_t from_row, int64_t rows,
                      int64_t bytes)
{
    for (int64_t i = 0; i < rows; i++)
        memcpy(to + i * to_row, from + i * from_row, (size_t)bytes);
}

/* A tile whose columns c has only some of is computed in a whole one beside it: by the same
 * instructions, so that not even the bits of a nan depend on where an edge is. */
static void run_beside(const work *w, ar_tile t, ar_product_tile *run, int64_t columns)
{
    _Alignas(64) char cells[AR_TILE_ROWS * AR_TILE_ROW_BYTES] = { 0 };
    int64_t           row = w->kernel->columns * w->size, bytes = columns * w->size;
    char             *c = t.c;

    if (!t.first)
        copy_rows(cells, row, c, t.c_row, t.c_rows, bytes);
    t.c = cells;
    t.c_row = row;
    run(&t);
    copy_rows(c, w->p->c_row, cells, row, t.c_rows, bytes);
}

static void run_tile(const work *w, const ar_tile *t, int64_t columns)
{
    const ar_product_kernel *kernel = w->kernel;
    bool                     half_rows = 2 * t->c_rows <= kernel->rows;
    bool                     half_columns = 2 * columns <= kernel->columns;
    ar_product_tile         *run = kernel->run[t->packed][half_rows][half_columns];

    if (columns == kernel->columns >> half_columns)
        run(t);
    else
        run_beside(w, *t, run, columns);
}

static void copy_tile(const work *w, ar_tile *t)
{
    view a = { t->a, w->p->a_row, w->p->a_term };

    copy_strip(w->block, w->kernel->rows, a, t->c_rows, t->terms, w->size);
    aim_at_copy(t, w->block);
}

/* All rows of the block, tile by tile.  t: the first of them. */
static void run_strip(work *w, const ar_tile *t, int64_t columns)
{
    ar_tile     at = *t;
    const char *a = t->a;
    int64_t     rows = w->kernel->rows;

    at.strip_after = at.strip + w->kernel->columns * at.terms * w->size;
    for (int64_t left = w->rows; left > 0; left -= rows) {
        at.c_rows = ar_min64(rows, left);
        at.a = a;
        ask_for_a(w, &at);
        if (w->copies_tiles)
            copy_tile(w, &at);
        else if (left < rows)
            aim_at_copy(&at, w->last_rows);
        run_tile(w, &at, columns);
        a += w->a_tile;
        at.c += rows * at.c_row;
        at.strip_after += at.terms * AR_NEXT_BYTES / AR_NEXT_TERMS;
        at.b_after += w->b_after_tile;
    }
}

/* ---- Blocks ---------------------------------------------------------------------------------- */

/* Rows that are multiples of a page apart would share the same few places of the caches. */
bool ar_product_copies_a(const ar_product *p)
{
    enum { PAGE = 4096 };

    return p->a_term != (int64_t)ar_dtype_size(p->dtype) || p->a_row % PAGE == 0;
}

/* The rows from i on, and the terms from k on. */
static void open_block(work *w, ar_tile *t, int64_t i, int64_t k)
{
    const ar_product *p = w->p;
    int64_t           rows = w->kernel->rows, whole;
    view              a = { p->a + i * p->a_row + k * p->a_term, p->a_row, p->a_term };

    w->rows = ar_min64(BLOCK_ROWS, p->rows - i);
    whole = w->rows / rows * rows;
    if (w->copies_a) {
        copy_strips(w->block, rows, a, w->rows, t->terms, w->size);
        aim_at_copy(t, w->block);
        w->a_tile = rows * t->terms * w->size;
        w->last_rows = w->block + whole * t->terms * w->size;
        return;
    }
    t->a = a.cells;
    t->a_row = p->a_row;
    w->a_tile = rows * p->a_row;
    w->last_rows = w->block;
    a.cells += whole * p->a_row;
    if (whole < w->rows && !w->copies_tiles)
        copy_strip(w->block, rows, a, w->rows - whole, t->terms, w->size);
}

/* A strip of shared panels: *strip, if it is there already; else gives true and has copied it.  One
 * that another thread copies just now is not waited for, but copied elsewhere. */
static bool copy_shared_strip(const work *w, char **strip, _Atomic uint64_t *state, view b,
                              int64_t lanes, int64_t terms)
{
    uint64_t there = 2 * w->shared->turn, seen = atomic_load_explicit(state, memory_order_acquire);
    bool     ours = seen < there - 1 && atomic_compare_exchange_strong(state, &seen, there - 1);

    if (seen == there)
        return false;
    *strip = ours ? *strip : w->own;
    copy_strip(*strip, w->kernel->columns, b, lanes, terms, w->size);
    if (ours)
        atomic_store_explicit(state, there, memory_order_release);
    return true;
}

/* Few tiles do not ask for all of the next strip in their time: then they do so in two places. */
static view rest_of_next(const work *w, const ar_tile *t, const char *strip)
{
    int64_t tiles = parts_of(w->rows, w->kernel->rows);
    int64_t of_tile = t->terms * AR_NEXT_BYTES / AR_NEXT_TERMS;
    int64_t bytes = w->kernel->columns * t->terms * w->size;

    if (tiles * of_tile >= bytes)
        return (view){ strip, 0, 0 };
    return (view){ strip + bytes + tiles * of_tile, of_tile, w->size };
}

/* One strip after the other, each with all rows of the block.  number: of their panel.  copies: our
 * own panel is not there yet. */
static void run_block(work *w, ar_tile *t, view b, int64_t columns, int64_t number, bool copies)
{
    int64_t width = w->kernel->columns, strips = parts_of(columns, width);
    char   *c = t->c, *panel = w->panels + number % w->depth * w->panel_bytes;

    for (int64_t n = 0; n < strips; n++) {
        int64_t s = (w->first + n) % strips, lanes = ar_min64(width, columns - s * width);
        view    from = { b.cells + s * width * b.lane, b.lane, b.term };
        view    after = { from.cells + width * b.lane, b.lane, b.term };
        char   *strip = panel + s * width * t->terms * w->size;

        if (w->shared)
            copies = copy_shared_strip(w, &strip, &w->shared->states[number * strips + s], from,
                                       lanes, t->terms);
        else if (copies)
            copy_strip(strip, width, from, lanes, t->terms, w->size);
        t->strip = strip;
        aim_at_strip(w, t, copies ? after : rest_of_next(w, t, strip));
        t->c = c + s * width * w->size;
        run_strip(w, t, lanes);
    }
}

/* A block of rows with columns from j on and terms from k on: what one panel holds. */
static void run_panel(work *w, int64_t i, int64_t j, int64_t k)
{
    const ar_product *p = w->p;
    int64_t           columns = ar_min64(w->panel_columns, p->columns - j);
    ar_tile t = { .terms = ar_min64(TERMS, p->terms - k), .c_row = p->c_row, .first = k == 0 };
    view    b = { p->b + k * p->b_term + j * p->b_column, p->b_column, p->b_term };

    open_block(w, &t, i, k);
    t.c = p->c + i * p->c_row + j * w->size;
    if ((k / TERMS + 1) % w->depth != 0 && k + TERMS < p->terms)
        aim_at_block(w, i, k + TERMS, columns);
    else
        aim_at_block(w, i + w->rows_after, k / TERMS / w->depth * w->depth * TERMS, columns);
    run_block(w, &t, b, columns, k / TERMS, i == 0);
}

/* Some panels of the same columns, one behind the other, for each block of rows: its part of c
 * stays in the cache. */
static void run_panels(work *w)
{
    const ar_product *p = w->p;
    int64_t           depth = w->depth * TERMS;

    for (int64_t j = 0; j < p->columns; j += w->panel_columns)
        for (int64_t first = 0; first < p->terms; first += depth)
            for (int64_t i = 0; i < p->rows; i += BLOCK_ROWS)
                for (int64_t k = first; k < ar_min64(first + depth, p->terms); k += TERMS)
                    run_panel(w, i, j, k);
}

/* ---- All of it ------------------------------------------------------------------------------- */

static int64_t panel_depth(const ar_product *p)
{
    return ar_max64(1, ar_min64(PANELS, parts_of(p->terms, TERMS)));
}

static int64_t panel_bytes(const ar_product_kernel *kernel, const ar_product *p)
{
    int64_t columns =
        ar_min64(PANEL_COLUMNS, parts_of(p->columns, kernel->columns) * kernel->columns);

    return columns * ar_min64(TERMS, p->terms) * (int64_t)ar_dtype_size(p->dtype);
}

static int64_t strip_bytes(const ar_product_kernel *kernel, const ar_product *p)
{
    return kernel->columns * ar_min64(TERMS, p->terms) * (int64_t)ar_dtype_size(p->dtype);
}

int64_t ar_product_room(const ar_product_kernel *kernels, const ar_product *p, bool shared)
{
    const ar_product_kernel *kernel = kernel_of(kernels, p->dtype);
    int64_t rows = ar_min64(BLOCK_ROWS, parts_of(p->rows, kernel->rows) * kernel->rows);

    return (shared ? strip_bytes(kernel, p) : panel_depth(p) * panel_bytes(kernel, p)) +
           rows * ar_min64(TERMS, p->terms) * (int64_t)ar_dtype_size(p->dtype);
}

/* Strips are copied anew for every panel of one strip; of a, as little as can be. */
static void run_without_room(work *w)
{
    _Alignas(64) char strip[TERMS * AR_TILE_ROW_BYTES];
    _Alignas(64) char rows[TERMS * AR_TILE_ROWS * sizeof(double)];

    w->panels = strip;
    w->block = rows;
    w->copies_tiles = w->p->a_term != w->size;
    w->panel_columns = w->kernel->columns;
    w->depth = 1;
    run_panels(w);
}

void ar_product_run(const ar_product_kernel *kernels, const ar_product *p, void *room)
{
    work w = { .p = p,
               .kernel = kernel_of(kernels, p->dtype),
               .size = (int64_t)ar_dtype_size(p->dtype),
               .panels = room,
               .panel_columns = PANEL_COLUMNS,
               .depth = panel_depth(p),
               .rows_after = BLOCK_ROWS };

    for (int64_t i = 0; p->terms == 0 && i < p->rows; i++)
        memset(p->c + i * p->c_row, 0, (size_t)(p->columns * w.size));
    if (!room) {
        run_without_room(&w);
        return;
    }
    w.panel_bytes = panel_bytes(w.kernel, p);
    w.block = w.panels + w.depth * w.panel_bytes;
    w.copies_a = ar_product_copies_a(p);
    run_panels(&w);
}

/* ---- Together -------------------------------------------------------------------------------- */

static int64_t all_strips(const ar_product_kernel *kernel, const ar_product *p)
{
    return parts_of(p->columns, kernel->columns) * parts_of(p->terms, TERMS);
}

int64_t ar_product_shared_bytes(const ar_product_kernel *kernels, const ar_product *p)
{
    const ar_product_kernel *kernel = kernel_of(kernels, p->dtype);

    return all_strips(kernel, p) * (strip_bytes(kernel, p) + (int64_t)sizeof(uint64_t));
}

void ar_product_shared_open(ar_product_shared *shared, const ar_product_kernel *kernels,
                            const ar_product *p, void *memory)
{
    const ar_product_kernel *kernel = kernel_of(kernels, p->dtype);
    int64_t                  n = all_strips(kernel, p);
    void                    *states = (char *)memory + n * strip_bytes(kernel, p);

    *shared = (ar_product_shared){ .strips = memory, .states = states, .turn = 1 };
    for (int64_t s = 0; s < n; s++)
        atomic_init(&shared->states[s], 0);
}

void ar_product_shared_turn(ar_product_shared *shared) { shared->turn++; }

void ar_product_run_shared(const ar_product_kernel *kernels, const ar_product *p, void *room,
                           ar_product_shared *shared, int part, int parts)
{
    const ar_product_kernel *kernel = kernel_of(kernels, p->dtype);
    int64_t                  strips = parts_of(p->columns, kernel->columns);
    work                     w = { .p = p,
                                   .kernel = kernel,
                                   .size = (int64_t)ar_dtype_size(p->dtype),
                                   .panels = shared->strips,
                                   .panel_columns = strips * kernel->columns,
                                   .panel_bytes = strips * strip_bytes(kernel, p),
                                   .depth = parts_of(p->terms, TERMS),
                                   .shared = shared,
                                   .own = room,
                                   .first = part * strips / parts,
                                   .block = (char *)room + strip_bytes(kernel, p),
                                   .copies_a = ar_product_copies_a(p),
                                   .rows_after = parts * p->rows };

    run_panels(&w);
}
