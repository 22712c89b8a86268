/* c_rows.c -- short rows whose cells read where arrays of indices say.
 *
 * A loop over a few cells, each of which jumps about in memory, does not become vectors.  So what
 * the cells of many rows read is gathered first, row by row, into buffers mN; then one long loop
 * computes all these cells from the buffers.  Rows that are parts of vectors (c_lanes.c) would do
 * without, but of three cells a wide vector has eight. */
#include "gen/c/c_writer.h"

#include <stdio.h>

enum {
    LEAST_OPERATIONS = 60, /* fewer are not worth the buffers */
    BUFFER_BYTES = 24 * 1024,
    MOST_CELLS = 512,
    WIDE_BYTES = 64 /* of a vector: so much more has a buffer than cells */
};

/* ---- What is gathered ------------------------------------------------------------------------ */

typedef struct {
    ar_writer *w;
    ar_c_rows *rows;
    int64_t    walk;
    int        operations;
    bool       jumps;
} finder;

static uint32_t last_axis(const ar_writer *w) { return (uint32_t)1 << (w->lambda->rank - 1); }

static bool jumps(const ar_writer *w, arras_expr load)
{
    for (int axis = 0; axis < load->rank; axis++)
        if (load->args[axis]->uses & last_axis(w) && load->args[axis]->kind != AR_EXPR_INDEX)
            return true;
    return false;
}

static bool take_leaf(finder *f, arras_expr e)
{
    if (f->rows->n == AR_C_LEAVES || ar_w_is_leaf(e))
        return false;
    f->rows->leaves[f->rows->n++] = e;
    f->jumps = f->jumps || (e->kind == AR_EXPR_LOAD && jumps(f->w, e));
    return true;
}

static bool is_plain(ar_writer *w, arras_expr e)
{
    return e->kind == AR_EXPR_CAST ||
           (e->kind == AR_EXPR_OP && !ar_w_is_lazy(w, e) &&
            !ar_c_is_vector_math((ar_op)e->ints[0], ar_w_signature(e).compute));
}

/* Reads, and what is the same along a row, are leaves; between them and the cell there may be
 * operations only.  Depth is limited by AR_MAX_DEPTH. */
static bool find(finder *f, arras_expr e)
{
    uint32_t last = last_axis(f->w), moves = last | last >> 1;

    if ((e->uses & moves) == 0 || f->w->facts[e->id].stamp >= f->walk)
        return true;
    f->w->facts[e->id].stamp = f->walk;
    if (e->kind == AR_EXPR_LOAD || !(e->uses & last))
        return take_leaf(f, e);
    if (!is_plain(f->w, e))
        return false;
    f->operations++;
    for (int i = 0; i < e->nargs; i++)
        if (!find(f, e->args[i]))
            return false;
    return true;
}

bool ar_c_rows_find(ar_c_rows *out, ar_writer *w, int n, const arras_expr *cells)
{
    finder  f = { .w = w, .rows = out, .walk = ++w->stamp };
    int64_t bytes = 0;

    out->n = out->nspread = out->npicked = 0;
    for (int k = 0; k < n; k++)
        if (!find(&f, cells[k]))
            return false;
    for (int i = 0; i < out->n; i++)
        bytes += (int64_t)ar_dtype_size(out->leaves[i]->type.dtype);
    for (int k = 0; k < n; k++)
        bytes += (int64_t)ar_dtype_size(cells[k]->type.dtype);
    out->cells = (int)ar_min64(MOST_CELLS, BUFFER_BYTES / bytes);
    return f.jumps && f.operations >= LEAST_OPERATIONS;
}

/* ---- Gathering ------------------------------------------------------------------------------- */

void ar_c_rows_declare(ar_writer *w, const ar_c_rows *rows)
{
    for (int i = 0; i < rows->n; i++)
        ar_text_printf(w->out, "%s m%" PRId64 "[%d] ALIGNED;\n",
                       ar_c_type(rows->leaves[i]->type.dtype), rows->leaves[i]->id,
                       rows->cells + WIDE_BYTES / (int)ar_dtype_size(rows->leaves[i]->type.dtype));
}

/* What is the same along a row is stored in each of its cells too. */
static void store_leaves(ar_writer *w, void *self, const ar_c_strip *strip)
{
    const ar_c_rows *rows = self;

    for (int i = 0; i < rows->n; i++) {
        ar_text_printf(w->out, "m%" PRId64 "[before + %s - lo[%d]] = ", rows->leaves[i]->id,
                       strip->name, strip->axis);
        ar_w_name(w, rows->leaves[i]);
        ar_text_add(w->out, ";\n");
    }
}

void ar_c_rows_gather(ar_writer *w, ar_c_rows *rows, int64_t length)
{
    const ar_c_sink sink = { .cell = store_leaves, .self = rows };
    int             row = w->lambda->rank - 2;
    char            from[24], to[24];
    ar_c_strip      strip;

    ar_text_printf(w->out, "const int64_t before = (i%d - row%d) * width;\n", row, row);
    ar_c_strip_cell(&strip, w);
    strip.length = length;
    snprintf(from, sizeof from, "lo[%d]", strip.axis);
    snprintf(to, sizeof to, "hi[%d]", strip.axis);
    ar_c_strip_open(w, &strip, rows->n, rows->leaves);
    ar_c_strip_run(w, &strip, from, to, &sink);
    ar_c_strip_close(&strip);
}

/* ---- Computing ------------------------------------------------------------------------------- */

void ar_c_rows_open(ar_writer *w, ar_c_rows *rows)
{
    int s = rows->strip.number = ar_w_number(w);

    w->used->loops = true;
    snprintf(rows->strip.name, sizeof rows->strip.name, "e%d", s);
    ar_text_printf(w->out,
                   "const int64_t at%d = 0, cells = rows * width;\n"
                   "#pragma GCC ivdep\n"
                   "for (int64_t e%d = 0; e%d < cells; e%d++) {\n",
                   s, s, s, s);
    for (int i = 0; i < rows->n; i++)
        ar_w_set(w, rows->leaves[i], (ar_w_state){ .place = AR_C_BUFFER, .strip = &rows->strip });
}

/* ---- As vectors ------------------------------------------------------------------------------ */

/* The index of an axis, or a number. */
static bool is_plain_index(arras_expr index)
{
    int64_t number;

    return index->kind == AR_EXPR_INDEX || ar_w_integer(&number, index);
}

/* The one axis of a read that goes with the rows, if all indices before `end` are plain; else -1.
 */
static int axis_of_rows(ar_writer *w, arras_expr load, int end)
{
    int row = w->lambda->rank - 2, at = -1;

    if (load->kind != AR_EXPR_LOAD || !ar_w_is_all_inside(w, load) ||
        !w->form->dense[load->ints[0]])
        return -1;
    for (int axis = 0; axis < end; axis++) {
        arras_expr index = load->args[axis];

        if (!is_plain_index(index) || index->uses & last_axis(w) ||
            (at >= 0 && index->uses >> row & 1))
            return -1;
        at = index->uses >> row & 1 ? axis : at;
    }
    return at;
}

static arras_dim length_of(const ar_writer *w, arras_expr load, int axis)
{
    return w->lambda->inputs[load->ints[0]]->shape[axis];
}

/* The cells of a read, one for each row, lie side by side: then they need no buffer, but are spread
 * over the lanes of their rows. */
static bool is_spread(ar_writer *w, arras_expr load)
{
    int at = axis_of_rows(w, load, load->rank);

    for (int axis = at + 1; axis < load->rank && at >= 0; axis++)
        if (length_of(w, load, axis) != 1)
            return false;
    return at >= 0;
}

/* How many rows a wide vector may have cells of. */
static int rows_reached(int64_t length, int cells)
{
    return (cells + (int)length - 2) / (int)length + 1;
}

/* x[..., row, k[j]]: the cells of all rows that a vector reaches are in two vectors of x, and which
 * of them are taken depends only on where in its first row it starts. */
static bool is_picked(ar_writer *w, arras_expr load, int64_t length)
{
    int        last = load->rank - 1, row = w->lambda->rank - 2, cells;
    arras_expr index;

    if (load->kind != AR_EXPR_LOAD || last < 1 || axis_of_rows(w, load, last) != last - 1)
        return false;
    index = load->args[last];
    cells = WIDE_BYTES / (int)ar_dtype_size(load->type.dtype);
    return !(index->uses >> row & 1) && !ar_w_is_leaf(index) && !ar_w_may_fail(w, index) &&
           !ar_dim_symbolic(length_of(w, load, last)) &&
           rows_reached(length, cells) * length_of(w, load, last) <= 2 * cells;
}

bool ar_c_rows_are_vectors(ar_c_rows *rows, ar_writer *w, arras_dtype dtype)
{
    int64_t length = w->lambda->shape[w->lambda->rank - 1];
    int     n = 0;

    for (int i = 0; i < rows->n; i++)
        if (rows->leaves[i]->type.dtype != dtype || rows->leaves[i]->type.weak)
            return false;
    if (!w->form->machine->wide)
        return false;
    for (int i = 0; i < rows->n; i++)
        if (is_spread(w, rows->leaves[i]))
            rows->spread[rows->nspread++] = rows->leaves[i];
        else if (is_picked(w, rows->leaves[i], length))
            rows->picked[rows->npicked++] = rows->leaves[i];
        else
            rows->leaves[n++] = rows->leaves[i];
    rows->n = n;
    return n > 0;
}

/* Lanes that belong to no cell are overwritten by the next row. */
static void store_vectors(ar_writer *w, void *self, const ar_c_strip *strip)
{
    const ar_c_rows *rows = self;

    for (int i = 0; i < rows->n; i++) {
        arras_expr e = rows->leaves[i];

        ar_text_printf(w->out, "*(%s *)(m%" PRId64 " + before + %s) = ", w->strips->vector, e->id,
                       strip->name);
        if (ar_c_varies(strip, e))
            ar_text_printf(w->out, "v%" PRId64 ";\n", e->id);
        else
            ar_text_printf(w->out, "ALL_%s(v%" PRId64 ");\n", w->strips->vector, e->id);
    }
}

/* What is the same along a row has a name already. */
void ar_c_rows_gather_vectors(ar_writer *w, ar_c_rows *rows, int64_t length)
{
    const ar_c_sink sink = { .cell = store_vectors, .self = rows };
    int             row = w->lambda->rank - 2;
    ar_c_strip      strip;

    ar_text_printf(w->out, "const int64_t before = (i%d - row%d) * %d;\n", row, row, (int)length);
    ar_c_strip_cell(&strip, w);
    strip.length = length;
    ar_c_strip_open(w, &strip, rows->n, rows->leaves);
    strip.vectors = strip.lanes = true;
    strip.runs = AR_C_WHOLE_RUN;
    ar_c_strip_run(w, &strip, "0", "0", &sink);
    ar_c_strip_close(&strip);
}

/* pN: the first cell of the first row.  axes: those that are known before the cells are. */
static void point_to_row(ar_writer *w, arras_expr load, int axes)
{
    int         operand = ar_w_operand(w, load), row = w->lambda->rank - 2;
    const char *type = ar_c_type(load->type.dtype);
    int64_t     number;

    ar_text_printf(w->out, "const %s *const p%" PRId64 " = (const %s *)(d%d", type, load->id, type,
                   operand);
    for (int axis = 0; axis < axes; axis++) {
        arras_expr index = load->args[axis];

        if (ar_w_integer(&number, index))
            ar_text_printf(w->out, " + %" PRId64 "ll", number);
        else
            ar_text_printf(w->out, " + %s%d", index->ints[0] == row ? "row" : "i",
                           (int)index->ints[0]);
        ar_text_printf(w->out, " * s%d_%d", operand, axis);
    }
    ar_text_add(w->out, ");\n");
}

/* Which of the rows that a vector reaches each lane belongs to, if it starts with cell 0, 1, ... of
 * its first row. */
static void declare_spreading(ar_writer *w, int64_t length, int cells)
{
    ar_text_printf(w->out, "static const INDICES_%s spreading[%d] = {\n", w->strips->vector,
                   (int)length);
    for (int start = 0; start < length; start++) {
        ar_text_add(w->out, "{ ");
        for (int lane = 0; lane < cells; lane++)
            ar_text_printf(w->out, "%d, ", (start + lane) / (int)length);
        ar_text_add(w->out, "},\n");
    }
    ar_text_add(w->out, "};\n");
}

/* wN[start]: the same of the cells that a read takes of these rows. */
static void declare_picking(ar_writer *w, arras_expr load, int64_t length, int cells)
{
    arras_expr index = load->args[load->rank - 1];
    int        last = w->lambda->rank - 1;
    size_t     mark = w->nchanges;

    ar_text_printf(w->out, "INDICES_%s w%" PRId64 "[%d];\n", w->strips->vector, load->id,
                   (int)length);
    ar_text_printf(w->out, "for (int64_t i%d = 0; i%d < %d; i%d++) {\n", last, last, (int)length,
                   last);
    w->strips->vector = NULL;
    ar_w_put(w, index);
    ar_text_printf(w->out,
                   "for (int start = 0; start < %d; start++)\n"
                   "for (int lane = 0; lane < %d; lane++)\n"
                   "if ((start + lane) %% %d == i%d)\n"
                   "w%" PRId64 "[start][lane] = (start + lane) / %d * %d + ",
                   (int)length, cells, (int)length, last, load->id, (int)length,
                   (int)length_of(w, load, load->rank - 1));
    ar_w_cast(w, index, ARRAS_I64);
    ar_text_add(w->out, ";\n}\n");
    ar_w_forget(w, mark);
}

/* The first read with the same indices, of rows of the same length. */
static arras_expr picked_alike(const ar_writer *w, const ar_c_rows *rows, int i)
{
    for (int k = 0; k < i; k++) {
        arras_expr a = rows->picked[k], b = rows->picked[i];

        if (a->args[a->rank - 1] == b->args[b->rank - 1] &&
            length_of(w, a, a->rank - 1) == length_of(w, b, b->rank - 1))
            return a;
    }
    return rows->picked[i];
}

void ar_c_rows_declare_picks(ar_writer *w, const ar_c_rows *rows, int64_t length, arras_dtype dtype)
{
    int cells = WIDE_BYTES / (int)ar_dtype_size(dtype);

    w->strips->wide = true;
    for (int i = 0; i < rows->npicked; i++) {
        ar_c_vector_set(w, NULL, dtype);
        if (picked_alike(w, rows, i) == rows->picked[i])
            declare_picking(w, rows->picked[i], length, cells);
    }
    ar_c_vector_set(w, NULL, dtype);
    if (rows->nspread)
        declare_spreading(w, length, cells);
    w->strips->vector = NULL;
    w->strips->wide = false;
}

static void put_spread(ar_writer *w, arras_expr load)
{
    ar_c_vector_start(w, load);
    ar_text_printf(w->out, "PICK_%s(SOME_%s(p%" PRId64 " + row, there), spreading[start]);\n",
                   w->strips->vector, w->strips->vector, load->id);
    ar_w_set(w, load, (ar_w_state){ .place = AR_W_VALUE });
}

static void put_picked(ar_writer *w, arras_expr load, arras_expr alike, int cells)
{
    int row = (int)length_of(w, load, load->rank - 1);

    ar_c_vector_start(w, load);
    ar_text_printf(w->out,
                   "PICK2_%s(SOME_%s(p%" PRId64 " + row * %d, UPTO(there * %d, %d)),\n"
                   "SOME_%s(p%" PRId64 " + row * %d + %d, UPTO(there * %d - %d, %d)),\n"
                   "w%" PRId64 "[start]);\n",
                   w->strips->vector, w->strips->vector, load->id, row, row, cells,
                   w->strips->vector, load->id, row, cells, row, cells, cells, alike->id);
    ar_w_set(w, load, (ar_w_state){ .place = AR_W_VALUE });
}

/* What is read without a buffer.  Rows that are not there are not read. */
static void put_at_hand(ar_writer *w, const ar_c_rows *rows, int64_t length, int cells)
{
    int s = rows->strip.number, reached = rows_reached(length, cells);

    ar_text_printf(w->out,
                   "const int64_t row = e%d / %d;\n"
                   "const int start = e%d %% %d, there = rows - row < %d ? rows - row : %d;\n",
                   s, (int)length, s, (int)length, reached, reached);
    for (int i = 0; i < rows->nspread; i++)
        put_spread(w, rows->spread[i]);
    for (int i = 0; i < rows->npicked; i++)
        put_picked(w, rows->picked[i], picked_alike(w, rows, i), cells);
}

void ar_c_rows_open_vectors(ar_writer *w, ar_c_rows *rows, int64_t length, arras_dtype dtype)
{
    int cells = WIDE_BYTES / (int)ar_dtype_size(dtype), s;

    ar_c_strip_cell(&rows->strip, w);
    rows->strip.beside = last_axis(w) >> 1;
    s = rows->strip.number;
    snprintf(rows->strip.name, sizeof rows->strip.name, "e%d", s);
    w->strips->wide = true;
    ar_c_vector_set(w, &rows->strip, dtype);
    for (int i = 0; i < rows->nspread; i++)
        point_to_row(w, rows->spread[i], rows->spread[i]->rank);
    for (int i = 0; i < rows->npicked; i++)
        point_to_row(w, rows->picked[i], rows->picked[i]->rank - 1);
    ar_text_printf(w->out,
                   "const int64_t at%d = 0, cells = rows * %d;\n"
                   "for (int64_t e%d = 0; e%d < cells; e%d += %d) {\n"
                   "const int left = cells - e%d < %d ? cells - e%d : %d;\n",
                   s, (int)length, s, s, s, cells, s, cells, s, cells);
    put_at_hand(w, rows, length, cells);
    for (int i = 0; i < rows->n; i++)
        ar_w_set(w, rows->leaves[i], (ar_w_state){ .place = AR_C_BUFFER, .strip = &rows->strip });
}

void ar_c_rows_close_vectors(ar_writer *w)
{
    ar_text_add(w->out, "}\n");
    w->strips->wide = false;
    w->strips->vector = NULL;
}
