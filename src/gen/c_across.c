/* c_across.c -- one reduction for all cells of a segment at once.
 *
 * Where what it reads lies side by side for neighbouring cells, not for consecutive values of its
 * variable, the loop over the cells is the inner one, and there is an accumulator for each.  The
 * order in which the cells of one reduction are combined is the same as in c_reduce.c. */
#include "gen/c_writer.h"

#include <stdio.h>

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

/* ---- Rows of accumulators -------------------------------------------------------------------- */

/* Number S: lanesS[16][width] of a block, partsS[][width] of blocks; rowS is the lane of a cell. */
typedef struct {
    ar_c_fold         fold;
    arras_expr        body;
    const ar_c_strip *outer;
    int               number, width;
} rows;

static int width_of(arras_dtype dtype)
{
    enum { LANE_BYTES = 1024 };

    return LANE_BYTES / (int)ar_dtype_size(dtype) < 256 ? LANE_BYTES / (int)ar_dtype_size(dtype)
                                                        : 256;
}

/* What changes no cell it is combined with, also a negative zero. */
static void print_neutral(ar_writer *w, const ar_c_fold *f)
{
    arras_dtype dtype = f->s.compute;
    bool        is_real = ar_dtype_class(dtype) == AR_CLASS_REAL, is_min = f->op == AR_OP_minimum;

    if (f->op == AR_OP_add)
        ar_text_add(w->out, is_real ? "-0.0" : "0");
    else if (f->op == AR_OP_multiply || f->op == AR_OP_logical_and)
        ar_text_add(w->out, "1");
    else if (f->op == AR_OP_logical_or)
        ar_text_add(w->out, "0");
    else if (is_real)
        ar_text_add(w->out, is_min ? "__builtin_inf()" : "-__builtin_inf()");
    else if (dtype == ARRAS_BOOL)
        ar_text_add(w->out, is_min ? "1" : "0");
    else
        ar_text_printf(w->out, "%s_OF(%s)", is_min ? "LARGEST" : "SMALLEST", ar_c_type(dtype));
}

static void print_accumulate(ar_writer *w, const rows *r, const char *to, const char *left,
                             const char *right)
{
    ar_text_printf(w->out, "%s = ", to);
    ar_c_op(w, r->fold.op, r->fold.s.compute);
    ar_text_printf(w->out, "(%s, %s);\n", left, right);
}

static void open_columns(ar_writer *w, const rows *r)
{
    ar_text_printf(w->out, "#pragma GCC ivdep\nfor (int64_t c = 0; c < w%d; c++) ", r->number);
}

static void put_column(ar_writer *w, void *self, const ar_c_strip *strip)
{
    const rows      *r = self;
    const ar_c_fold *f = &r->fold;
    char             cell[96];

    snprintf(cell, sizeof cell, "row%d[%s - from%d]", r->number, strip->name, r->number);
    ar_text_printf(w->out, "const %s x = ", f->type);
    ar_c_cast_twice(w, r->body, f->s.operand[0], f->s.compute);
    ar_text_add(w->out, ";\n");
    if (!f->place) {
        print_accumulate(w, r, cell, cell, "x");
        return;
    }
    ar_text_printf(w->out, "const %s best = %s;\nconst int better = ", f->type, cell);
    ar_c_op(w, f->better, f->s.compute);
    ar_text_printf(w->out,
                   "(x, best) | ((x != x) & (best == best));\n%s = better ? x : best;\n"
                   "place%d[%s - from%d] = better ? k%d : place%d[%s - from%d];\n",
                   cell, r->number, strip->name, r->number, r->number, r->number, strip->name,
                   r->number);
}

/* The cells a read will need some turns later: each turn reads another row of memory, too short for
 * the machine to see where the next one is. */
static void put_fetch(ar_writer *w, const rows *r, const ar_c_read *read)
{
    enum { TURNS = 8 };
    ar_c_strip  turns;
    ar_c_affine form;
    arras_expr  e = read->load;
    ar_text     step = { 0 };

    ar_c_strip_variable(&turns, &w->variables[w->nesting - 1]);
    for (int axis = 0; axis < e->rank && read->unit; axis++)
        if (ar_c_varies(&turns, e->args[axis]) && ar_c_affine_read(&form, &turns, e->args[axis]))
            ar_text_printf(&step, " + %" PRId64 "ll * s%d_%d", TURNS * form.along,
                           ar_c_operand(w, e), axis);
    if (step.length)
        ar_text_printf(w->out, "fetch((const char *)(p%" PRId64 " + from%d)%s, w%d * %d);\n", e->id,
                       r->number, step.data, r->number, (int)ar_dtype_size(e->type.dtype));
    w->failed = w->failed || step.failed;
    ar_text_free(&step);
}

/* One value of the reduction's variable, for all columns. */
static void put_turn(ar_writer *w, rows *r, arras_expr e)
{
    size_t          mark = w->nchanges;
    const ar_c_sink sink = { .cell = put_column, .self = r };
    char            from[32], to[48];
    ar_c_strip      strip;

    if (!ar_c_enter(w, e, r->number))
        return;
    ar_c_strip_cell(&strip, w);
    ar_c_strip_open(w, &strip, 1, &e->args[2]);
    for (size_t i = 0; i < strip.nreads; i++)
        put_fetch(w, r, strip.reads[i]);
    snprintf(from, sizeof from, "from%d", r->number);
    snprintf(to, sizeof to, "from%d + w%d", r->number, r->number);
    ar_c_strip_run(w, &strip, from, to, &sink);
    ar_c_strip_close(&strip);
    ar_c_leave(w);
    ar_c_forget(w, mark);
}

static void put_fill(ar_writer *w, const rows *r, const char *target)
{
    open_columns(w, r);
    ar_text_printf(w->out, "%s = ", target);
    print_neutral(w, &r->fold);
    ar_text_add(w->out, ";\n");
}

/* ---- Blocks ---------------------------------------------------------------------------------- */

static void put_block(ar_writer *w, rows *r, arras_expr e)
{
    int  s = r->number;
    char to[48], left[48], right[48];

    ar_text_printf(w->out, "for (int l = 0; l <= mask%d; l++) {\n", s);
    snprintf(to, sizeof to, "lanes%d[l][c]", s);
    put_fill(w, r, to);
    ar_text_printf(w->out, "}\nfor (int64_t k%d = base%d; k%d < base%d + count%d; k%d++) {\n", s, s,
                   s, s, s, s);
    ar_text_printf(w->out, "%s *const row%d = lanes%d[(k%d - base%d) & mask%d];\n", r->fold.type, s,
                   s, s, s, s);
    put_turn(w, r, e);
    ar_text_printf(w->out,
                   "}\nfor (int h = (mask%d + 1) / 2; h > 0; h /= 2)\n"
                   "for (int l = 0; l < h; l++) {\n",
                   s);
    snprintf(right, sizeof right, "lanes%d[l + h][c]", s);
    open_columns(w, r);
    print_accumulate(w, r, to, to, right);
    ar_text_printf(w->out, "}\nint b = 0;\nfor (; blocks%d >> b & 1; b++) {\n", s);
    open_columns(w, r);
    snprintf(to, sizeof to, "lanes%d[0][c]", s);
    snprintf(left, sizeof left, "parts%d[b][c]", s);
    print_accumulate(w, r, to, left, to);
    ar_text_add(w->out, "}\n");
    open_columns(w, r);
    ar_text_printf(w->out, "parts%d[b][c] = lanes%d[0][c];\nblocks%d++;\n", s, s, s);
}

static void put_end(ar_writer *w, const rows *r, arras_expr e)
{
    int  s = r->number;
    char to[48], left[48];

    ar_text_printf(w->out,
                   "int b = __builtin_ctzll(blocks%d);\n"
                   "%s *const out%d = m%" PRId64 " + (from%d - at%d);\n",
                   s, r->fold.type, s, e->id, s, r->outer->number);
    open_columns(w, r);
    ar_text_printf(w->out, "out%d[c] = parts%d[b][c];\n", s, s);
    ar_text_printf(w->out, "for (b++; blocks%d >> b; b++) if (blocks%d >> b & 1) {\n", s, s);
    open_columns(w, r);
    snprintf(to, sizeof to, "out%d[c]", s);
    snprintf(left, sizeof left, "parts%d[b][c]", s);
    print_accumulate(w, r, to, left, to);
    ar_text_add(w->out, "}\n");
}

static void put_columns(ar_writer *w, rows *r, arras_expr e)
{
    int s = r->number;

    ar_text_printf(w->out, "%s lanes%d[16][%d] ALIGNED, parts%d[54][%d] ALIGNED;\n", r->fold.type,
                   s, r->width, s, r->width);
    ar_text_printf(w->out, "uint64_t blocks%d = 0;\nconst int mask%d = ", s, s);
    ar_c_fold_few(w, &r->fold, s);
    ar_text_add(w->out, " ? 0 : 15;\n");
    ar_text_printf(w->out,
                   "for (int64_t base%d = low%d, count%d; base%d < high%d; base%d += count%d) {\n"
                   "count%d = high%d - base%d < %d ? high%d - base%d : %d;\n",
                   s, s, s, s, s, s, s, s, s, s, AR_C_SEGMENT, s, s, AR_C_SEGMENT);
    put_block(w, r, e);
    ar_text_add(w->out, "}\n");
    put_end(w, r, e);
}

static void put_places(ar_writer *w, rows *r, arras_expr e)
{
    int  s = r->number;
    char target[32];

    ar_text_printf(
        w->out, "%s row%d[%d] ALIGNED;\nint64_t *const place%d = m%" PRId64 " + (from%d - at%d);\n",
        r->fold.type, s, r->width, s, e->id, s, r->outer->number);
    snprintf(target, sizeof target, "row%d[c]", s);
    put_fill(w, r, target);
    open_columns(w, r);
    ar_text_printf(w->out, "place%d[c] = low%d;\n", s, s);
    ar_text_printf(w->out, "for (int64_t k%d = low%d; k%d < high%d; k%d++) {\n", s, s, s, s, s);
    put_turn(w, r, e);
    ar_text_add(w->out, "}\n");
}

void ar_c_put_across(ar_writer *w, const ar_c_strip *strip, arras_expr e)
{
    rows r = { ar_c_fold_of(e), e->args[2], strip, ar_c_number(w), 0 };
    int  s = r.number, o = strip->number;
    char target[48];

    r.width = width_of(r.fold.s.compute);
    ar_text_add(w->out, "{\n");
    ar_c_put_bounds(w, e, s);
    ar_text_printf(w->out,
                   "for (int64_t from%d = at%d, w%d; from%d < at%d + n%d; from%d += w%d) {\n", s, o,
                   s, s, o, o, s, s);
    ar_text_printf(w->out, "w%d = at%d + n%d - from%d < %d ? at%d + n%d - from%d : %d;\n", s, o, o,
                   s, r.width, o, o, s, r.width);
    ar_text_printf(w->out, "if (low%d >= high%d) {\n", s, s);
    snprintf(target, sizeof target, "m%" PRId64 "[from%d - at%d + c]", e->id, s, o);
    if (r.fold.identity >= 0)
        open_columns(w, &r);
    ar_c_fold_empty(w, &r.fold, target);
    ar_text_add(w->out, "} else {\n");
    if (r.fold.place)
        put_places(w, &r, e);
    else
        put_columns(w, &r, e);
    ar_text_add(w->out, "}\n}\n}\n");
}
