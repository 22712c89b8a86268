/* c_across.c -- reductions for all cells of a segment at once.
 *
 * Where what they read lies side by side for neighbouring cells, not for consecutive values of
 * their variable, the loop over the cells is the inner one, and there is an accumulator for each.
 * The order in which the cells of one reduction are combined is the same as in c_reduce.c.
 *
 * Reductions over the same range go down together, so that what they read is read once. */
#include "gen/c_writer.h"

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

bool ar_c_runs_across(ar_writer *w, const ar_c_strip *strip, arras_expr e)
{
    reads r = { .w = w, .strip = strip };

    /* A product of complex numbers has no neutral cell: 1 * inf is nan in parts. */
    if (ar_expr_tree(e) == AR_TREE_PARTIALS || ar_c_varies(strip, e->args[0]) ||
        ar_c_varies(strip, e->args[1]) || strip->flat || strip->axis < 0 ||
        ar_dtype_class(ar_c_fold_of(e).s.compute) == AR_CLASS_COMPLEX)
        return false;
    w->stamp++;
    count_reads(&r, e->args[2]);
    return r.near > r.far;
}

/* ---- Which go together ----------------------------------------------------------------------- */

bool ar_c_go_together(arras_expr e, arras_expr other)
{
    ar_c_fold f = ar_c_fold_of(e), g = ar_c_fold_of(other);

    return e->args[0] == other->args[0] && e->args[1] == other->args[1] &&
           strcmp(e->name, other->name) == 0 && f.tree == g.tree && !f.place && !g.place &&
           f.s.compute == g.s.compute;
}

/* ---- Rows of accumulators -------------------------------------------------------------------- */

enum { LANES = 16 };

/* One of the reductions.  Number S: lanesS[16][width] of a block, partsS[][width] of blocks; rowS
 * is the lane of a cell. */
typedef struct {
    ar_c_fold  fold;
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
    ar_c_fold_neutral(w, &c->fold);
    ar_text_printf(w->out, ", w%d);\n", r->number);
}

/* to = left with right, in all columns. */
static void put_join(ar_writer *w, const rows *r, const column *c, const char *to, const char *left,
                     const char *right)
{
    ar_text_printf(w->out, "rows_%s_%s(%s, %s, %s, w%d);\n", ar_op_name(c->fold.op), c->fold.dtype,
                   to, left, right, r->number);
}

/* ---- One value of the variable, cell by cell ------------------------------------------------- */

typedef struct {
    const rows   *rows;
    const column *column;
} turn;

static void put_cell(ar_writer *w, void *self, const ar_c_strip *strip)
{
    const turn      *t = self;
    const column    *c = t->column;
    const ar_c_fold *f = &c->fold;
    int              s = c->number, from = t->rows->number;
    char             cell[96];

    snprintf(cell, sizeof cell, "row%d[%s - from%d]", s, strip->name, from);
    ar_text_printf(w->out, "const %s x = ", f->type);
    ar_c_cast_twice(w, c->expr->args[2], f->s.operand[0], f->s.compute);
    ar_text_add(w->out, ";\n");
    if (!f->place) {
        ar_text_printf(w->out, "%s = ", cell);
        ar_c_op(w, f->op, f->s.compute);
        ar_text_printf(w->out, "(%s, x);\n", cell);
        return;
    }
    ar_text_printf(w->out, "const %s best = %s;\nconst int better = ", f->type, cell);
    ar_c_op(w, f->better, f->s.compute);
    ar_text_printf(w->out,
                   "(x, best) | ((x != x) & (best == best));\n%s = better ? x : best;\n"
                   "place%d[%s - from%d] = better ? k%d : place%d[%s - from%d];\n",
                   cell, s, strip->name, from, s, s, strip->name, from);
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

/* Of the columns from number `first` on. */
static void put_turn(ar_writer *w, const rows *r, const column *c, const char *first)
{
    size_t          mark = w->nchanges;
    turn            t = { r, c };
    const ar_c_sink sink = { .cell = put_cell, .self = &t };
    char            from[48], to[48];
    ar_c_strip      strip;

    if (!ar_c_enter(w, c->expr, c->number))
        return;
    ar_c_strip_cell(&strip, w);
    ar_c_strip_open(w, &strip, 1, &c->expr->args[2]);
    for (size_t i = 0; i < strip.nreads; i++)
        put_fetch(w, r, strip.reads[i]);
    snprintf(from, sizeof from, "from%d + %s", r->number, first);
    snprintf(to, sizeof to, "from%d + w%d", r->number, r->number);
    ar_c_strip_run(w, &strip, from, to, &sink);
    ar_c_strip_close(&strip);
    ar_c_leave(w);
    ar_c_forget(w, mark);
}

/* ---- Several values of the variable, in vectors ---------------------------------------------- */

/* Rows of one lane at a time, so that accumulators are read and written once for all of them. */
enum { ROWS_AT_ONCE = 4 };

static void put_vector_columns(ar_writer *w, const rows *r, const ar_c_strip *strip)
{
    const ar_c_fold *first = &r->columns[0].fold;
    const char      *type = ar_c_vector_type(first->s.compute);
    int              cells = ar_c_vector_cells(first->s.compute);
    char             at[48];

    ar_text_printf(w->out, "for (int64_t c = 0; c < whole%d; c += %d) {\n", r->number, cells);
    for (int i = 0; i < r->n; i++)
        ar_text_printf(w->out, "%s a%d = *(%s *)&lanes%d[l][c];\n", type, i, type,
                       r->columns[i].number);
    snprintf(at, sizeof at, "from%d + c", r->number);
    for (int row = 0; row < ROWS_AT_ONCE; row++) {
        ar_c_vector_open(w, strip, first, at, row);
        for (int i = 0; i < r->n; i++)
            ar_c_vector_accumulate(w, &r->columns[i].fold, strip->roots[i], i);
        ar_c_vector_close(w);
    }
    for (int i = 0; i < r->n; i++)
        ar_text_printf(w->out, "*(%s *)&lanes%d[l][c] = a%d;\n", type, r->columns[i].number, i);
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
    for (int i = 0; i < r->n; i++)
        if (!ar_c_is_vector(w, strip, strip->roots[i], &r->columns[i].fold,
                            r->columns[0].expr->name))
            return false;
    return true;
}

/* As many rows and columns as go: doneS rows of the block, wholeS columns.  What was written is
 * taken back where there are no vectors. */
static void put_vector_rows(ar_writer *w, const rows *r)
{
    int        s = r->number, number = ar_c_number(w);
    size_t     mark = w->nchanges, length = w->out->length;
    arras_expr bodies[AR_C_TOGETHER];
    ar_c_strip strip;

    for (int i = 0; i < r->n; i++)
        bodies[i] = r->columns[i].expr->args[2];
    ar_text_printf(w->out, "if (whole%d > 0)\n", s);
    ar_text_printf(w->out,
                   "for (; done%d + %d * (mask%d + 1) <= count%d; done%d += %d * (mask%d + 1))\n"
                   "for (int l = 0; l <= mask%d; l++) {\n"
                   "const int64_t k%d = base%d + done%d + l;\n",
                   s, ROWS_AT_ONCE, s, s, s, ROWS_AT_ONCE, s, s, number, s, s);
    if (!ar_c_enter(w, r->columns[0].expr, number))
        return;
    ar_c_strip_cell(&strip, w);
    ar_c_strip_open(w, &strip, r->n, bodies);
    if (are_vectors(w, r, &strip)) {
        put_steps(w, r, &strip);
        put_vector_columns(w, r, &strip);
        ar_text_add(w->out, "}\n");
    } else {
        ar_text_cut(w->out, length);
    }
    ar_c_strip_close(&strip);
    ar_c_leave(w);
    ar_c_forget(w, mark);
}

/* ---- Blocks ---------------------------------------------------------------------------------- */

static void put_other_rows(ar_writer *w, const rows *r, const column *c)
{
    int  s = r->number, n = c->number;
    char first[32];

    ar_text_printf(w->out,
                   "for (int64_t k%d = base%d + (whole%d == w%d ? done%d : 0); "
                   "k%d < base%d + count%d; k%d++) {\n"
                   "const int64_t first%d = k%d - base%d < done%d ? whole%d : 0;\n"
                   "%s *const row%d = lanes%d[(k%d - base%d) & mask%d];\n",
                   n, s, s, s, s, n, s, s, n, n, n, s, s, s, c->fold.type, n, n, n, s, s);
    snprintf(first, sizeof first, "first%d", n);
    put_turn(w, r, c, first);
    ar_text_add(w->out, "}\n");
}

/* Lanes become one, which is carried on through the blocks before. */
static void put_fold(ar_writer *w, const rows *r, const column *c)
{
    int  s = r->number, n = c->number;
    char to[48], part[48], other[48];

    ar_text_printf(w->out,
                   "for (int h = (mask%d + 1) / 2; h > 0; h /= 2)\n"
                   "for (int l = 0; l < h; l++)\n",
                   s);
    snprintf(to, sizeof to, "lanes%d[l]", n);
    snprintf(other, sizeof other, "lanes%d[l + h]", n);
    put_join(w, r, c, to, to, other);
    ar_text_printf(w->out, "int b%d = 0;\nfor (; blocks%d >> b%d & 1; b%d++)\n", n, s, n, n);
    snprintf(to, sizeof to, "lanes%d[0]", n);
    snprintf(part, sizeof part, "parts%d[b%d]", n, n);
    put_join(w, r, c, to, part, to);
    ar_text_printf(w->out, "__builtin_memcpy(%s, %s, w%d * sizeof *%s);\n", part, to, s, to);
}

static void put_block(ar_writer *w, const rows *r)
{
    int         s = r->number;
    arras_dtype dtype = r->columns[0].fold.s.compute;
    char        to[48];

    for (int i = 0; i < r->n; i++) {
        ar_text_printf(w->out, "for (int l = 0; l <= mask%d; l++) ", s);
        snprintf(to, sizeof to, "lanes%d[l]", r->columns[i].number);
        put_fill(w, r, &r->columns[i], to);
    }
    ar_text_printf(w->out, "int64_t done%d = 0;\nconst int64_t whole%d = w%d & -%d;\n", s, s, s,
                   ar_c_vector_type(dtype) ? ar_c_vector_cells(dtype) : 1);
    put_vector_rows(w, r);
    for (int i = 0; i < r->n; i++) {
        put_other_rows(w, r, &r->columns[i]);
        put_fold(w, r, &r->columns[i]);
    }
    ar_text_printf(w->out, "blocks%d++;\n", s);
}

static void put_end(ar_writer *w, const rows *r, const column *c)
{
    int  s = r->number, n = c->number;
    char to[48], part[48];

    snprintf(to, sizeof to, "out%d", n);
    snprintf(part, sizeof part, "parts%d[b%d]", n, n);
    ar_text_printf(w->out,
                   "int b%d = __builtin_ctzll(blocks%d);\n"
                   "%s *const %s = m%" PRId64 " + (from%d - at%d);\n",
                   n, s, c->fold.type, to, c->expr->id, s, r->outer->number);
    ar_text_printf(w->out, "__builtin_memcpy(%s, %s, w%d * sizeof *%s);\n", to, part, s, to);
    ar_text_printf(w->out, "for (b%d++; blocks%d >> b%d; b%d++) if (blocks%d >> b%d & 1)\n", n, s,
                   n, n, s, n);
    put_join(w, r, c, to, part, to);
}

static void put_columns(ar_writer *w, const rows *r)
{
    int s = r->number;

    for (int i = 0; i < r->n; i++)
        ar_text_printf(w->out, "%s lanes%d[%d][%d] ALIGNED, parts%d[54][%d] ALIGNED;\n",
                       r->columns[i].fold.type, r->columns[i].number, LANES, r->width,
                       r->columns[i].number, r->width);
    ar_text_printf(w->out, "uint64_t blocks%d = 0;\nconst int mask%d = ", s, s);
    ar_c_fold_few(w, &r->columns[0].fold, s);
    ar_text_printf(w->out, " ? 0 : %d;\n", LANES - 1);
    ar_text_printf(w->out,
                   "for (int64_t base%d = low%d, count%d; base%d < high%d; base%d += count%d) {\n"
                   "count%d = high%d - base%d < %d ? high%d - base%d : %d;\n",
                   s, s, s, s, s, s, s, s, s, s, AR_C_SEGMENT, s, s, AR_C_SEGMENT);
    put_block(w, r);
    ar_text_add(w->out, "}\n");
    for (int i = 0; i < r->n; i++)
        put_end(w, r, &r->columns[i]);
}

/* ---- Places, and all of it ------------------------------------------------------------------- */

static void put_places(ar_writer *w, const rows *r)
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
    put_turn(w, r, c, "0");
    ar_text_add(w->out, "}\n");
}

static void put_empty(ar_writer *w, const rows *r)
{
    char target[48];

    for (int i = 0; i < r->n; i++) {
        const column *c = &r->columns[i];

        snprintf(target, sizeof target, "m%" PRId64 "[from%d - at%d + c]", c->expr->id, r->number,
                 r->outer->number);
        if (c->fold.identity >= 0)
            open_columns(w, r);
        ar_c_fold_empty(w, &c->fold, target);
    }
}

void ar_c_put_across(ar_writer *w, const ar_c_strip *strip, int n, const arras_expr *reductions)
{
    rows r = { .outer = strip, .n = n, .number = ar_c_number(w) };
    int  s = r.number, o = strip->number;

    for (int i = 0; i < n; i++) {
        column *c = &r.columns[i];

        *c = (column){ ar_c_fold_of(reductions[i]), reductions[i], ar_c_number(w) };
        w->used->ops[c->fold.op][c->fold.s.compute] = true;
        w->used->across[c->fold.op][c->fold.s.compute] = true;
    }
    r.width = width_of(r.columns[0].fold.s.compute);
    ar_text_add(w->out, "{\n");
    ar_c_put_bounds(w, reductions[0], s);
    ar_text_printf(w->out,
                   "for (int64_t from%d = at%d, w%d; from%d < at%d + n%d; from%d += w%d) {\n", s, o,
                   s, s, o, o, s, s);
    ar_text_printf(w->out, "w%d = at%d + n%d - from%d < %d ? at%d + n%d - from%d : %d;\n", s, o, o,
                   s, r.width, o, o, s, r.width);
    ar_text_printf(w->out, "if (low%d >= high%d) {\n", s, s);
    put_empty(w, &r);
    ar_text_add(w->out, "} else {\n");
    if (r.columns[0].fold.place)
        put_places(w, &r);
    else
        put_columns(w, &r);
    ar_text_add(w->out, "}\n}\n}\n");
}
