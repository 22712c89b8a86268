/* c_across.c -- reductions for all cells of a segment at once.
 *
 * Where what they read lies side by side for neighbouring cells, not for consecutive values of
 * their variable, the loop over the cells is the inner one, and there is an accumulator for each.
 * The order in which the cells of one reduction are combined is the same as in c_reduce.c.
 *
 * Reductions over the same range go down together, so that what they read is read once. */
#include "gen/c/c_writer.h"

#include <stdio.h>
#include <string.h>

/* ---- Is it worth it -------------------------------------------------------------------------- */

typedef struct {
    ar_writer        *w;
    const ar_c_strip *strip;
    int               near, far; /* reads that follow the strip cell by cell, and others */
} reads;

static bool is_near(const reads *r, arras_expr load)
{
    ar_c_affine form;
    int         last = load->rank - 1;

    for (int axis = 0; axis < last; axis++)
        if (ar_c_varies(r->strip, load->args[axis]))
            return false;
    return r->w->form->dense[load->ints[0]] &&
           ar_c_affine_read(&form, r->strip, load->args[last]) && form.along * form.along == 1;
}

/* Depth is limited by AR_MAX_DEPTH. */
static void count_reads(reads *r, arras_expr e)
{
    if (r->w->facts[e->id].stamp == r->w->stamp || !ar_c_varies(r->strip, e))
        return;
    r->w->facts[e->id].stamp = r->w->stamp;
    if (e->kind == AR_EXPR_LOAD && is_near(r, e))
        r->near++;
    else if (e->kind == AR_EXPR_LOAD)
        r->far++;
    for (int i = 0; i < e->nargs; i++)
        count_reads(r, e->args[i]);
}

/* Whether a read is always as many bytes further for the next value of the innermost variable. */
static bool steps_evenly(ar_writer *w, arras_expr load)
{
    ar_c_strip  along;
    ar_c_affine form;

    ar_c_strip_variable(&along, &w->variables[w->nesting - 1]);
    for (int axis = 0; axis < load->rank; axis++)
        if (ar_c_varies(&along, load->args[axis]) &&
            !(ar_c_affine_read(&form, &along, load->args[axis]) && ar_w_is_inside(w, load, axis)))
            return false;
    return true;
}

/* Cells as they are in memory, row by row: the library has a function for that. */
static bool is_in_memory(ar_writer *w, const ar_c_strip *strip, arras_expr e)
{
    ar_w_fold   f = ar_w_fold_of(&ar_dialect_c, e);
    arras_expr  body = e->args[2];
    reads       r = { .w = w, .strip = strip };
    size_t      mark = w->nchanges;
    ar_c_affine form;
    bool        is;

    if (f.place || ar_fold_number(f.op, f.s.compute) < 0 || body->kind != AR_EXPR_LOAD ||
        body->type.dtype != f.s.operand[0] || body->type.dtype != f.s.compute || body->rank == 0 ||
        !is_near(&r, body) || !ar_c_affine_read(&form, strip, body->args[body->rank - 1]) ||
        form.along != 1 || !ar_w_enter(w, e, 0))
        return false;
    is = steps_evenly(w, body) && ar_w_is_all_inside(w, body);
    ar_w_leave(w);
    ar_w_forget(w, mark);
    return is;
}

bool ar_c_runs_across(ar_writer *w, const ar_c_strip *strip, arras_expr e)
{
    reads r = { .w = w, .strip = strip };

    /* A product of complex numbers has no neutral cell: 1 * inf is nan in parts. */
    if (ar_c_varies(strip, e->args[0]) || ar_c_varies(strip, e->args[1]) || strip->flat ||
        strip->axis < 0 ||
        ar_dtype_class(ar_w_fold_of(&ar_dialect_c, e).s.compute) == AR_CLASS_COMPLEX)
        return false;
    if (ar_expr_tree(e) == AR_TREE_PARTIALS)
        return is_in_memory(w, strip, e);
    w->stamp++;
    count_reads(&r, e->args[2]);
    return r.near > r.far;
}

/* ---- Which go together ----------------------------------------------------------------------- */

bool ar_c_go_together(arras_expr e, arras_expr other)
{
    ar_w_fold f = ar_w_fold_of(&ar_dialect_c, e), g = ar_w_fold_of(&ar_dialect_c, other);

    return e->args[0] == other->args[0] && e->args[1] == other->args[1] &&
           strcmp(e->name, other->name) == 0 && f.tree == g.tree && f.tree != AR_TREE_PARTIALS &&
           !f.place && !g.place && f.s.compute == g.s.compute;
}

/* ---- Rows of accumulators -------------------------------------------------------------------- */

/* One of the reductions.  Number S: lanesS[16][width] of a block, partsS[][width] of blocks; rowS
 * is the lane of a cell. */
typedef struct {
    ar_w_fold  fold;
    arras_expr expr;
    int        number;
} column;

/* Number S: lowS .. highS is their range, fromS .. fromS + wS are the columns. */
typedef struct {
    const ar_c_strip *outer;
    int               n, number, width;
    column            columns[AR_C_TOGETHER];
} rows;

static int width_of(arras_dtype dtype)
{
    enum { LANE_BYTES = 2048, MOST = 512 };
    int cells = LANE_BYTES / (int)ar_dtype_size(dtype);

    return cells < MOST ? cells : MOST;
}

static void open_columns(ar_writer *w, const rows *r)
{
    ar_text_printf(w->out, "for (int64_t c = 0; c < w%d; c++) ", r->number);
}

static void put_fill(ar_writer *w, const rows *r, const column *c, const char *row)
{
    ar_text_printf(w->out, "fill_%s(%s, ", c->fold.dtype, row);
    ar_w_fold_neutral(w, &c->fold);
    ar_text_printf(w->out, ", w%d);\n", r->number);
}

/* ---- One value of the variable, cell by cell ------------------------------------------------- */

/* const double x = the value that is reduced; */
static void put_value(ar_writer *w, const column *c)
{
    ar_text_printf(w->out, "const %s x = ", c->fold.type);
    ar_w_cast_twice(w, c->expr->args[2], c->fold.s.operand[0], c->fold.s.compute);
    ar_text_add(w->out, ";\n");
}

static void put_accumulate(ar_writer *w, const column *c, const char *cell)
{
    put_value(w, c);
    ar_text_printf(w->out, "%s = ", cell);
    ar_w_op(w, c->fold.op, c->fold.s.compute);
    ar_text_printf(w->out, "(%s, x);\n", cell);
}

static void put_place(ar_writer *w, const column *c, const char *cell, const char *at)
{
    const ar_w_fold *f = &c->fold;
    int              n = c->number;

    put_value(w, c);
    ar_text_printf(w->out, "const %s best = %s;\nconst int better = ", f->type, cell);
    ar_w_op(w, f->better, f->s.compute);
    ar_text_printf(w->out,
                   "(x, best) | ((x != x) & (best == best));\n%s = better ? x : best;\n"
                   "place%d[%s] = better ? k%d : place%d[%s];\n",
                   cell, n, at, n, n, at);
}

static void put_cell(ar_writer *w, void *self, const ar_c_strip *strip)
{
    const rows *r = self;
    char        at[64], cell[96];

    snprintf(at, sizeof at, "%s - from%d", strip->name, r->number);
    for (int i = 0; i < r->n; i++) {
        const column *c = &r->columns[i];

        snprintf(cell, sizeof cell, "row%d[%s]", c->number, at);
        ar_text_add(w->out, "{\n");
        if (c->fold.tree == AR_TREE_FUSED)
            ar_w_put_fused(w, c->expr->args[2], cell);
        else if (c->fold.place)
            put_place(w, c, cell, at);
        else
            put_accumulate(w, c, cell);
        ar_text_add(w->out, "}\n");
    }
}

/* The cells a read will need some turns later: each turn reads another row of memory, too short for
 * the machine to see where the next one is. */
static void put_fetch(ar_writer *w, const rows *r, const ar_c_read *read)
{
    enum { TURNS = 4 };
    arras_expr e = read->load;
    ar_text    step = { 0 };

    if (read->unit && ar_c_turn_step(w, &step, read, TURNS))
        ar_text_printf(w->out, "fetch((const char *)(p%" PRId64 " + from%d) + (%s), w%d * %d);\n",
                       e->id, r->number, step.data, r->number, (int)ar_dtype_size(e->type.dtype));
    w->failed = w->failed || step.failed;
    ar_text_free(&step);
}

static void open_bodies(ar_writer *w, const rows *r, ar_c_strip *strip, arras_expr *bodies)
{
    for (int i = 0; i < r->n; i++)
        bodies[i] = r->columns[i].expr->args[2];
    ar_c_strip_cell(strip, w);
    ar_c_strip_open(w, strip, r->n, bodies);
}

static void put_vector_columns(ar_writer *w, const rows *r, const ar_c_strip *strip, int count);

/* All columns; of a block in vectors, those that are not done yet. */
static void put_turn(ar_writer *w, rows *r, bool vectors)
{
    size_t          mark = w->nchanges;
    const ar_c_sink sink = { .cell = put_cell, .self = r };
    arras_expr      bodies[AR_C_TOGETHER];
    char            from[48], to[48];
    ar_c_strip      strip;

    if (!ar_w_enter(w, r->columns[0].expr, r->columns[0].number))
        return;
    open_bodies(w, r, &strip, bodies);
    if (vectors) {
        ar_text_printf(w->out, "if (k%d - base%d >= done%d)\n", r->columns[0].number, r->number,
                       r->number);
        put_vector_columns(w, r, &strip, 1);
    }
    for (size_t i = 0; i < strip.nreads; i++)
        put_fetch(w, r, strip.reads[i]);
    strip.most = r->width;
    strip.rest = vectors;
    snprintf(from, sizeof from, vectors ? "from%d + whole%d" : "from%d", r->number, r->number);
    snprintf(to, sizeof to, "from%d + w%d", r->number, r->number);
    ar_c_strip_run(w, &strip, from, to, &sink);
    ar_c_strip_close(&strip);
    ar_w_leave(w);
    ar_w_forget(w, mark);
}

/* ---- Several values of the variable, in vectors ---------------------------------------------- */

/* Rows of one lane at a time, so that accumulators are read and written once for all of them. */
enum { ROWS_AT_ONCE = 8 };

/* The rows of the next lane are on their way, a line for every other vector. */
static void put_next_rows(ar_writer *w, const ar_c_read *read, const char *at, int cells)
{
    arras_expr e = read->load;
    ar_text    step = { 0 };

    if (ar_c_turn_step(w, &step, read, 1)) {
        ar_text_printf(w->out, "if (!(c & %d)) {\n", cells);
        for (int row = 0; row < ROWS_AT_ONCE; row++)
            ar_text_printf(w->out,
                           "__builtin_prefetch((const char *)&p%" PRId64
                           "[%s] + (%s) + %d * step%" PRId64 ");\n",
                           e->id, at, step.data, row, e->id);
        ar_text_add(w->out, "}\n");
    }
    w->failed = w->failed || step.failed;
    ar_text_free(&step);
}

/* So many rows of one lane. */
static void put_vector_columns(ar_writer *w, const rows *r, const ar_c_strip *strip, int count)
{
    const ar_w_fold *first = &r->columns[0].fold;
    const char      *type = ar_c_vector_type(first->s.compute);
    int              cells = ar_c_vector_cells(first->s.compute);
    char             at[48];

    ar_text_printf(w->out, "for (int64_t c = 0; c < whole%d; c += %d) {\n", r->number, cells);
    for (int i = 0; i < r->n; i++)
        ar_text_printf(w->out, "%s a%d = *(%s *)&row%d[c];\n", type, i, type, r->columns[i].number);
    snprintf(at, sizeof at, "from%d + c", r->number);
    for (size_t i = 0; i < strip->nreads && count > 1; i++)
        put_next_rows(w, strip->reads[i], at, cells);
    for (int row = 0; row < count; row++) {
        ar_c_vector_open(w, strip, first, at, row);
        for (int i = 0; i < r->n; i++)
            ar_c_vector_accumulate(w, &r->columns[i].fold, strip->roots[i], i);
        ar_c_vector_close(w);
    }
    for (int i = 0; i < r->n; i++)
        ar_text_printf(w->out, "*(%s *)&row%d[c] = a%d;\n", type, r->columns[i].number, i);
    ar_text_add(w->out, "}\n");
}

/* How far it is to the next row of the same lane. */
static void put_steps(ar_writer *w, const rows *r, const ar_c_strip *strip)
{
    for (size_t i = 0; i < strip->nreads; i++) {
        ar_text step = { 0 };

        ar_c_turn_step(w, &step, strip->reads[i], 1);
        ar_text_printf(w->out, "const int64_t step%" PRId64 " = (mask%d + 1) * (%s);\n",
                       strip->reads[i]->load->id, r->number, step.length ? step.data : "0");
        w->failed = w->failed || step.failed;
        ar_text_free(&step);
    }
}

static bool are_vectors(ar_writer *w, const rows *r, const ar_c_strip *strip)
{
    for (size_t i = 0; i < strip->nreads; i++)
        if (!steps_evenly(w, strip->reads[i]->load))
            return false;
    for (int i = 0; i < r->n; i++)
        if (!ar_c_is_vector(w, strip, strip->roots[i], &r->columns[i].fold,
                            r->columns[0].expr->name))
            return false;
    return true;
}

/* As many rows and columns as go: doneS rows of the block, wholeS columns.  What was written is
 * taken back where there are no vectors. */
static bool put_vector_rows(ar_writer *w, const rows *r)
{
    int        s = r->number, number = ar_w_number(w);
    size_t     mark = w->nchanges, length = w->out->length;
    arras_expr bodies[AR_C_TOGETHER];
    ar_c_strip strip;
    bool       vectors;

    ar_text_printf(w->out, "if (whole%d > 0)\n", s);
    ar_text_printf(w->out,
                   "for (; done%d + %d * (mask%d + 1) <= count%d; done%d += %d * (mask%d + 1))\n"
                   "for (int l = 0; l <= mask%d; l++) {\n"
                   "const int64_t k%d = base%d + done%d + l;\n",
                   s, ROWS_AT_ONCE, s, s, s, ROWS_AT_ONCE, s, s, number, s, s);
    for (int i = 0; i < r->n; i++)
        ar_text_printf(w->out, "%s *const row%d = lanes%d[l];\n", r->columns[i].fold.type,
                       r->columns[i].number, r->columns[i].number);
    if (!ar_w_enter(w, r->columns[0].expr, number))
        return false;
    open_bodies(w, r, &strip, bodies);
    vectors = are_vectors(w, r, &strip);
    if (vectors) {
        put_steps(w, r, &strip);
        put_vector_columns(w, r, &strip, ROWS_AT_ONCE);
        ar_text_add(w->out, "}\n");
    } else {
        ar_text_cut(w->out, length);
    }
    ar_c_strip_close(&strip);
    ar_w_leave(w);
    ar_w_forget(w, mark);
    return vectors;
}

/* ---- Blocks ---------------------------------------------------------------------------------- */

static void put_other_rows(ar_writer *w, rows *r, bool vectors)
{
    int s = r->number, k = r->columns[0].number;

    ar_text_printf(w->out, "for (int64_t k%d = base%d", k, s);
    if (vectors)
        ar_text_printf(w->out, " + (whole%d == w%d ? done%d : 0)", s, s, s);
    ar_text_printf(w->out, "; k%d < base%d + count%d; k%d++) {\n", k, s, s, k);
    for (int i = 0; i < r->n; i++)
        ar_text_printf(w->out, "%s *const row%d = lanes%d[(k%d - base%d) & mask%d];\n",
                       r->columns[i].fold.type, r->columns[i].number, r->columns[i].number, k, s,
                       s);
    put_turn(w, r, vectors);
    ar_text_add(w->out, "}\n");
}

static void print_function(ar_writer *w, const char *name, const column *c)
{
    ar_text_printf(w->out, "%s_%s_%s(", name, ar_op_name(c->fold.op), c->fold.dtype);
}

static void put_block(ar_writer *w, rows *r)
{
    int         s = r->number;
    arras_dtype dtype = r->columns[0].fold.s.compute;
    bool        vectors;

    for (int i = 0; i < r->n; i++) {
        const column *c = &r->columns[i];

        ar_text_printf(w->out, "fill_%s(lanes%d[0], ", c->fold.dtype, c->number);
        ar_w_fold_neutral(w, &c->fold);
        ar_text_printf(w->out, ", (mask%d + 1) * %d);\n", s, r->width);
    }
    ar_text_printf(w->out, "int64_t done%d = 0;\nconst int64_t whole%d = w%d & -%d;\n", s, s, s,
                   ar_c_vector_type(dtype) ? ar_c_vector_cells(dtype) : 1);
    vectors = put_vector_rows(w, r);
    put_other_rows(w, r, vectors);
    for (int i = 0; i < r->n; i++) {
        const column *c = &r->columns[i];

        print_function(w, "down", c);
        ar_text_printf(w->out, "lanes%d[0], parts%d[0], blocks%d, mask%d, w%d, %d);\n", c->number,
                       c->number, s, s, s, r->width);
    }
    ar_text_printf(w->out, "blocks%d++;\n", s);
}

static void put_end(ar_writer *w, const rows *r, const column *c)
{
    print_function(w, "total", c);
    ar_text_printf(w->out, "m%" PRId64 " + (from%d - at%d), parts%d[0], blocks%d, w%d, %d);\n",
                   c->expr->id, r->number, r->outer->number, c->number, r->number, r->number,
                   r->width);
}

static void put_mask(ar_writer *w, const rows *r)
{
    const ar_w_fold *f = &r->columns[0].fold;

    if (f->tree != AR_TREE_PARTIALS) {
        ar_w_fold_few(w, f, r->number);
        ar_text_add(w->out, " ? 0 : ");
    }
    ar_text_printf(w->out, "%d", f->tree == AR_TREE_PARTIALS ? -1 : AR_FOLD_LANES - 1);
}

static void put_columns(ar_writer *w, rows *r)
{
    int s = r->number;

    for (int i = 0; i < r->n; i++)
        ar_text_printf(w->out, "%s lanes%d[%d][%d] ALIGNED, parts%d[54][%d] ALIGNED;\n",
                       r->columns[i].fold.type, r->columns[i].number, AR_FOLD_LANES, r->width,
                       r->columns[i].number, r->width);
    ar_text_printf(w->out, "uint64_t blocks%d = 0;\nconst int mask%d = ", s, s);
    put_mask(w, r);
    ar_text_add(w->out, ";\n");
    ar_text_printf(w->out,
                   "for (int64_t base%d = low%d, count%d; base%d < high%d; base%d += count%d) {\n"
                   "count%d = high%d - base%d < %d ? high%d - base%d : %d;\n",
                   s, s, s, s, s, s, s, s, s, s, AR_C_SEGMENT, s, s, AR_C_SEGMENT);
    put_block(w, r);
    ar_text_add(w->out, "}\n");
    for (int i = 0; i < r->n; i++)
        put_end(w, r, &r->columns[i]);
}

/* All of them by the library. */
static void put_columns_call(ar_writer *w, const rows *r)
{
    const column *c = &r->columns[0];
    size_t        mark = w->nchanges;
    int           s = r->number;
    ar_text       step = { 0 };
    arras_expr    bodies[AR_C_TOGETHER];
    ar_c_strip    strip;

    if (!ar_w_enter(w, c->expr, c->number))
        return;
    ar_text_printf(w->out, "const int64_t k%d = low%d;\n", c->number, s);
    open_bodies(w, r, &strip, bodies);
    if (strip.nreads)
        ar_c_turn_step(w, &step, strip.reads[0], 1);
    print_function(w, "columns", c);
    ar_text_printf(w->out,
                   "m%" PRId64 " + (from%d - at%d), (const char *)(p%" PRId64
                   " + from%d), %s, high%d - low%d, ",
                   c->expr->id, s, r->outer->number, bodies[0]->id, s,
                   step.length ? step.data : "0", s, s);
    put_mask(w, r);
    ar_text_printf(w->out, ", w%d);\n", s);
    w->failed = w->failed || step.failed;
    ar_text_free(&step);
    ar_c_strip_close(&strip);
    ar_w_leave(w);
    ar_w_forget(w, mark);
}

/* ---- Places, and all of it ------------------------------------------------------------------- */

static void put_places(ar_writer *w, rows *r)
{
    const column *c = &r->columns[0];
    int           s = r->number, n = c->number;
    char          target[32];

    ar_text_printf(
        w->out, "%s row%d[%d] ALIGNED;\nint64_t *const place%d = m%" PRId64 " + (from%d - at%d);\n",
        c->fold.type, n, r->width, n, c->expr->id, s, r->outer->number);
    snprintf(target, sizeof target, "row%d", n);
    put_fill(w, r, c, target);
    open_columns(w, r);
    ar_text_printf(w->out, "place%d[c] = low%d;\n", n, s);
    ar_text_printf(w->out, "for (int64_t k%d = low%d; k%d < high%d; k%d++) {\n", n, s, n, s, n);
    put_turn(w, r, false);
    ar_text_add(w->out, "}\n");
}

static void put_empty(ar_writer *w, const rows *r)
{
    for (int i = 0; i < r->n; i++) {
        const column *c = &r->columns[i];

        if (c->fold.identity < 0)
            ar_text_add(w->out, "return 1;\n");
        else
            ar_text_printf(w->out, "fill_%s(m%" PRId64 " + (from%d - at%d), %d, w%d);\n",
                           c->fold.dtype, c->expr->id, r->number, r->outer->number,
                           c->fold.identity, r->number);
    }
}

/* As many columns at a time as there are accumulators for; the library sees to that itself. */
static void open_widths(ar_writer *w, const rows *r, bool in_memory)
{
    int s = r->number, o = r->outer->number;

    if (in_memory) {
        ar_text_printf(w->out, "{\nconst int64_t from%d = at%d, w%d = n%d;\n", s, o, s, o);
        return;
    }
    ar_text_printf(w->out,
                   "for (int64_t from%d = at%d, w%d; from%d < at%d + n%d; from%d += w%d) {\n", s, o,
                   s, s, o, o, s, s);
    ar_text_printf(w->out, "w%d = at%d + n%d - from%d < %d ? at%d + n%d - from%d : %d;\n", s, o, o,
                   s, r->width, o, o, s, r->width);
}

void ar_c_put_across(ar_writer *w, const ar_c_strip *strip, int n, const arras_expr *reductions)
{
    rows r = { .outer = strip, .n = n, .number = ar_w_number(w) };
    int  s = r.number;
    bool in_memory;

    for (int i = 0; i < n; i++) {
        column *c = &r.columns[i];

        *c = (column){ ar_w_fold_of(&ar_dialect_c, reductions[i]), reductions[i], ar_w_number(w) };
        w->used->ops[c->fold.op][c->fold.s.compute] = true;
        w->used->across[c->fold.op][c->fold.s.compute] = true;
        w->used->loops =
            w->used->loops || c->fold.place || ar_fold_number(c->fold.op, c->fold.s.compute) < 0;
    }
    r.width = width_of(r.columns[0].fold.s.compute);
    ar_text_add(w->out, "{\n");
    ar_w_put_bounds(w, reductions[0], s);
    in_memory = n == 1 && is_in_memory(w, strip, reductions[0]);
    open_widths(w, &r, in_memory);
    if (!ar_w_fold_length(reductions[0])) {
        ar_text_printf(w->out, "if (low%d >= high%d) {\n", s, s);
        put_empty(w, &r);
        ar_text_add(w->out, "} else ");
    }
    ar_text_add(w->out, "{\n");
    if (r.columns[0].fold.place)
        put_places(w, &r);
    else if (in_memory)
        put_columns_call(w, &r);
    else
        put_columns(w, &r);
    ar_text_add(w->out, "}\n}\n}\n");
}
