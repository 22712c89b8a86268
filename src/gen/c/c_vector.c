/* c_vector.c -- expressions as whole vectors: the cells of a segment, and the bodies of reductions,
 * whose accumulators so stay in registers.
 *
 * For what needs nothing but arithmetic, comparisons, choices and vector functions of the C library
 * in one real type, of cells that lie side by side.  A compiler that has to find such vectors
 * itself takes twice as long.  While w->strips->vector is set, names stand for vectors: vN[l] is
 * the value in the cell l places after that of the strip's variable, all its bits set or none where
 * that is a truth value. */
#include "gen/c/c_writer.h"

#include <stdio.h>

/* A body is written out several times in a loop. */
enum { MOST_IN_BODIES = 16, MOST_IN_CELLS = 2000 };
/* So many statements side by side take a compiler no longer than one cares to wait. */
enum { STATEMENTS = 600, VECTORS_OF_LINE = 2 };

const char *ar_c_vector_type(arras_dtype dtype)
{
    return dtype == ARRAS_F32 ? "f32x8" : dtype == ARRAS_F64 ? "f64x4" : NULL;
}

int ar_c_vector_cells(arras_dtype dtype) { return 32 / (int)ar_dtype_size(dtype); }

static const char *wide_type(arras_dtype dtype) { return dtype == ARRAS_F32 ? "f32x16" : "f64x8"; }

/* Of the vectors that are put. */
static const char *integers_like(const ar_writer *w, arras_dtype dtype)
{
    if (w->strips->wide)
        return dtype == ARRAS_F32 ? "i32x16" : "i64x8";
    return dtype == ARRAS_F32 ? "i32x8" : "i64x4";
}

/* ---- What there is for vectors --------------------------------------------------------------- */

static const char *infix(ar_op op)
{
    switch (op) {
    case AR_OP_add: return "+";
    case AR_OP_subtract: return "-";
    case AR_OP_multiply: return "*";
    case AR_OP_divide: return "/";
    default: return NULL;
    }
}

static const char *comparison(ar_op op)
{
    switch (op) {
    case AR_OP_equal: return "==";
    case AR_OP_not_equal: return "!=";
    case AR_OP_less: return "<";
    case AR_OP_less_equal: return "<=";
    case AR_OP_greater: return ">";
    case AR_OP_greater_equal: return ">=";
    default: return NULL;
    }
}

/* Of truth values. */
static const char *connective(ar_op op)
{
    switch (op) {
    case AR_OP_logical_and: return "&";
    case AR_OP_logical_or: return "|";
    case AR_OP_logical_xor: return "^";
    case AR_OP_logical_not: return "~";
    default: return NULL;
    }
}

static bool is_extreme(ar_op op) { return op == AR_OP_minimum || op == AR_OP_maximum; }

static bool is_arithmetic(ar_op op)
{
    return infix(op) || is_extreme(op) || op == AR_OP_negative || op == AR_OP_abs ||
           op == AR_OP_sqrt || op == AR_OP_fma;
}

/* ---- Whether an expression can be one -------------------------------------------------------- */

static const ar_c_read *read_of(const ar_c_strip *strip, arras_expr load)
{
    for (size_t i = 0; i < strip->nreads; i++)
        if (strip->reads[i]->load == load)
            return strip->reads[i];
    return NULL;
}

static bool is_row(const ar_c_strip *strip, arras_expr load)
{
    const ar_c_read *read = read_of(strip, load);

    return read && read->unit && read->along == 1 && !read->fills && !read->any;
}

typedef struct {
    ar_writer        *w;
    const ar_c_strip *strip;
    arras_dtype       dtype;
    const char       *variable; /* around a reduction's body */
    bool              cells;    /* not a body: the strip is not open yet */
    int               left;     /* operations, so that a walk ends */
    bool              calls;    /* functions of the C library were met */
    bool              lanes;    /* reads that are put together of single cells */
} query;

static bool is_vector(query *q, arras_expr e);

static bool are_vectors(query *q, arras_expr e, int first)
{
    for (int i = first; i < e->nargs; i++) {
        if (!is_vector(q, e->args[i]))
            return false;
        q->w->facts[e->id].calls |= q->w->facts[e->args[i]->id].calls;
    }
    return true;
}

/* Depth is limited by AR_MAX_DEPTH. */
static bool is_mask(query *q, arras_expr e)
{
    ar_op op = e->kind == AR_EXPR_OP ? (ar_op)e->ints[0] : AR_OP_END;
    bool  good = ar_c_varies(q->strip, e) && --q->left >= 0;

    if (good && comparison(op) && ar_w_signature(e).compute == q->dtype)
        return are_vectors(q, e, 0);
    for (int i = 0; i < e->nargs && good; i++)
        good = connective(op) && is_mask(q, e->args[i]);
    return good && connective(op);
}

/* What stays the same along a strip: of cells it is put before. */
static bool is_scalar(const query *q, arras_expr e)
{
    if (q->cells)
        return true;
    return e->type.dtype == q->dtype && !e->type.weak &&
           (ar_w_is_leaf(e) || q->w->facts[e->id].state.place == AR_W_VALUE) &&
           !(q->variable && ar_expr_depends(e, q->variable));
}

static bool is_vector_op(query *q, arras_expr e)
{
    ar_op op = (ar_op)e->ints[0];

    if (ar_w_signature(e).compute != q->dtype)
        return false;
    if (is_arithmetic(op))
        return are_vectors(q, e, 0);
    if (q->cells && ar_c_is_vector_math(op, q->dtype)) {
        q->calls = q->w->facts[e->id].calls = true;
        return are_vectors(q, e, 0);
    }
    return q->cells && op == AR_OP_where && !ar_w_is_lazy(q->w, e) && is_mask(q, e->args[0]) &&
           are_vectors(q, e, 1);
}

static bool is_row_of_cells(query *q, arras_expr load)
{
    int64_t step = ar_c_row_step(q->w, q->strip, load);

    if (step == 1 || (step == 2 && ar_w_is_all_inside(q->w, load)))
        return true;
    q->lanes = true;
    return q->strip->length && ar_c_is_lane_read(q->w, q->strip, load);
}

/* Cells that are vectors are marked, for the walk may meet them again.  Depth is limited by
 * AR_MAX_DEPTH. */
static bool is_vector(query *q, arras_expr e)
{
    ar_w_fact *fact = &q->w->facts[e->id];

    if (!ar_c_varies(q->strip, e))
        return is_scalar(q, e);
    if (q->cells && fact->stamp == q->w->stamp)
        return true;
    if (e->type.dtype != q->dtype || e->type.weak || --q->left < 0)
        return false;
    if (fact->state.place == AR_C_BUFFER)
        return true;
    if (e->kind == AR_EXPR_LOAD)
        return q->cells ? is_row_of_cells(q, e) : is_row(q->strip, e);
    if (e->kind != AR_EXPR_OP || !is_vector_op(q, e))
        return false;
    if (q->cells)
        fact->stamp = q->w->stamp;
    return true;
}

bool ar_c_is_vector(ar_writer *w, const ar_c_strip *strip, arras_expr root, const ar_w_fold *f,
                    const char *variable)
{
    query q = { w, strip, f->s.compute, variable, false, MOST_IN_BODIES, false, false };
    bool  good = ar_c_vector_type(q.dtype) && f->s.operand[0] == q.dtype && !f->place &&
                (infix(f->op) || is_extreme(f->op)) && !strip->cut && strip->nstaged == 0 &&
                !w->failed && ar_c_varies(strip, root);

    if (f->tree == AR_TREE_FUSED) /* the product itself is not computed, nor taken from a buffer */
        return good && is_vector(&q, root->args[0]) && is_vector(&q, root->args[1]);
    return good && is_vector(&q, root);
}

/* ---- How many side by side ------------------------------------------------------------------- */

typedef struct {
    int  operations, loads, depth;
    bool plain; /* nothing but arithmetic of cells side by side, or of every second one */
    bool own;   /* some cell may be read where a result is put */
} weight;

static bool is_plain(const ar_writer *w, const ar_c_strip *strip, arras_expr e)
{
    ar_op op = e->kind == AR_EXPR_OP ? (ar_op)e->ints[0] : AR_OP_END;

    if (e->kind == AR_EXPR_LOAD)
        return ar_c_row_step(w, strip, e) == 1 || ar_c_row_step(w, strip, e) == 2;
    return infix(op) || is_extreme(op) || op == AR_OP_negative || op == AR_OP_abs ||
           op == AR_OP_fma;
}

static bool is_of_own_cell(const ar_writer *w, arras_expr load)
{
    bool own = w->flat || load->rank == w->lambda->rank;

    for (int axis = 0; axis < load->rank && own; axis++)
        own = load->args[axis]->kind == AR_EXPR_INDEX && load->args[axis]->ints[0] == axis;
    return own;
}

/* The longest way through e to a load.  Depth is limited by AR_MAX_DEPTH. */
static int weigh(weight *sum, ar_writer *w, const ar_c_strip *strip, arras_expr e)
{
    ar_w_fact *fact = &w->facts[e->id];
    int        depth = 0;

    if (!ar_c_varies(strip, e))
        return 0;
    if (fact->stamp == w->stamp)
        return fact->level;
    for (int i = 0; i < e->nargs && e->kind == AR_EXPR_OP; i++) {
        int below = weigh(sum, w, strip, e->args[i]);

        depth = below > depth ? below : depth;
    }
    sum->plain = sum->plain && is_plain(w, strip, e);
    sum->own =
        sum->own || (e->kind != AR_EXPR_OP && (e->kind != AR_EXPR_LOAD || is_of_own_cell(w, e)));
    sum->operations += e->kind == AR_EXPR_OP;
    sum->loads += e->kind != AR_EXPR_OP;
    fact->stamp = w->stamp;
    fact->level = depth + (e->kind == AR_EXPR_OP);
    return fact->level;
}

/* A processor looks ahead by some dozens of operations.  Where a cell takes more, each waiting for
 * the one before, it finds nothing to do meanwhile but what is written beside it.  All their values
 * must find room in registers, and all their statements take a compiler's time. */
static int choose_abreast(const weight *sum, int n, const ar_machine *machine)
{
    enum { MANY = 16, AT_ONCE = 4 };
    int registers = machine->vector_registers > 16 ? 20 : 12, most = registers / 2;
    int room;

    if (sum->operations < MANY || sum->operations >= AT_ONCE * sum->depth)
        return 1;
    room = registers / (sum->loads + n);
    room = room < STATEMENTS / sum->operations ? room : STATEMENTS / sum->operations;
    return room > most ? most : room > 1 ? room : 1;
}

/* Computing takes longer than reading; and a compiler will not be waited for. */
static bool is_long(const weight *sum)
{
    enum { LONG = 32 };

    return sum->operations >= LONG && sum->operations > 2 * sum->loads &&
           sum->operations < STATEMENTS / 2;
}

static void arrange_vectors(ar_writer *w, ar_c_strip *strip, int n, const arras_expr *roots)
{
    weight sum = { .plain = true };

    w->stamp++;
    for (int i = 0; i < n; i++) {
        int depth = weigh(&sum, w, strip, roots[i]);

        sum.depth = depth > sum.depth ? depth : sum.depth;
    }
    strip->abreast = choose_abreast(&sum, n, w->form->machine);
    strip->plain = sum.plain && w->form->machine->wide_loads;
    strip->wide = sum.plain && w->form->machine->wide && (strip->abreast > 1 || is_long(&sum));
    strip->again = !sum.own;
    strip->lines = sum.operations <= STATEMENTS / VECTORS_OF_LINE;
}

bool ar_c_cells_are_vectors(ar_writer *w, ar_c_strip *strip, int n, const arras_expr *roots)
{
    query q = { w, strip, roots[0]->type.dtype, NULL, true, MOST_IN_CELLS, false, false };
    bool  good = ar_c_vector_type(q.dtype) != NULL;

    w->stamp++;
    for (int i = 0; i < n && good; i++)
        good = w->form->lambdas[i]->type.dtype == q.dtype && ar_c_varies(strip, roots[i]) &&
               is_vector(&q, roots[i]);
    strip->calls = q.calls;
    strip->lanes = q.lanes;
    strip->abreast = 1;
    if (good && !q.calls)
        arrange_vectors(w, strip, n, roots);
    return good;
}

/* ---- Statements ------------------------------------------------------------------------------ */

static bool is_truth(arras_expr e) { return e->type.dtype == ARRAS_BOOL; }

void ar_c_vector_start(ar_writer *w, arras_expr e)
{
    ar_text_printf(w->out, "const %s v%" PRId64 "%s = ",
                   is_truth(e) ? integers_like(w, w->strips->vector_dtype) : w->strips->vector,
                   e->id, w->strips->which);
}

bool ar_c_abreast(ar_writer *w, int t)
{
    bool more = t == 0 || t < w->strips->abreast;

    if (t > 0 && more)
        snprintf(w->strips->which, sizeof w->strips->which, "_%d", t);
    else
        w->strips->which[0] = '\0';
    return more;
}

/* Where C would not take one number for a vector of it. */
static void put_operand(ar_writer *w, arras_expr e, bool broadcast)
{
    bool one = ar_c_varies(w->strips->vector_strip, e) == false;

    if (one && broadcast)
        ar_text_printf(w->out, "ALL_%s(", w->strips->vector);
    if (one)
        ar_w_cast(w, e, w->strips->vector_dtype);
    else
        ar_w_name(w, e);
    ar_text_add(w->out, !one ? w->strips->which : broadcast ? ")" : "");
}

static void put_infix(ar_writer *w, arras_expr e, const char *sign, bool broadcast)
{
    put_operand(w, e->args[0], broadcast);
    ar_text_printf(w->out, " %s ", sign);
    put_operand(w, e->args[1], broadcast);
}

/* V_where(f64x4, i64x4, ...) */
static void put_call(ar_writer *w, arras_expr e, const char *name)
{
    ar_text_printf(w->out, "V_%s(%s, %s", name, w->strips->vector,
                   integers_like(w, w->strips->vector_dtype));
    for (int i = 0; i < e->nargs; i++) {
        ar_text_add(w->out, ", ");
        put_operand(w, e->args[i], true);
    }
    ar_text_add(w->out, ")");
}

static void put_function(ar_writer *w, arras_expr e)
{
    ar_op op = (ar_op)e->ints[0];

    w->used->ops[op][w->strips->vector_dtype] = true;
    ar_text_printf(w->out, "%s(", ar_c_vector_math_call(op, w->strips->vector_dtype));
    for (int i = 0; i < e->nargs; i++) {
        ar_text_add(w->out, i ? ", " : "");
        put_operand(w, e->args[i], true);
    }
    ar_text_add(w->out, ")");
}

void ar_c_put_vector_op(ar_writer *w, arras_expr e)
{
    ar_op op = (ar_op)e->ints[0];

    if (infix(op))
        put_infix(w, e, infix(op), false);
    else if (comparison(op))
        put_infix(w, e, comparison(op), true);
    else if (connective(op) && e->nargs == 2)
        put_infix(w, e, connective(op), false);
    else if (is_arithmetic(op) || op == AR_OP_where || op == AR_OP_logical_not)
        put_call(w, e, ar_op_name(op));
    else
        put_function(w, e);
    ar_text_add(w->out, ";\n");
}

void ar_c_vector_set(ar_writer *w, const ar_c_strip *strip, arras_dtype dtype)
{
    w->strips->vector = w->strips->wide ? wide_type(dtype) : ar_c_vector_type(dtype);
    w->strips->vector_dtype = dtype;
    w->strips->vector_strip = strip;
    w->strips->vector_row = 0;
    w->used->vectors = true;
}

void ar_c_vector_open(ar_writer *w, const ar_c_strip *strip, const ar_w_fold *f, const char *at,
                      int row)
{
    ar_c_vector_set(w, strip, f->s.compute);
    w->strips->vector_row = row;
    w->strips->vector_mark = w->nchanges;
    ar_text_printf(w->out, "{\nconst int64_t %s = %s;\n", strip->name, at);
    ar_c_strip_set_inside(w, strip);
}

static void accumulate_product(ar_writer *w, arras_expr product, int number)
{
    ar_text_printf(w->out, "a%d = V_fma(%s, %s, ", number, w->strips->vector,
                   integers_like(w, w->strips->vector_dtype));
    for (int i = 0; i < 2; i++) {
        put_operand(w, product->args[i], true);
        ar_text_add(w->out, ", ");
    }
    ar_text_printf(w->out, "a%d);\n", number);
}

void ar_c_vector_accumulate(ar_writer *w, const ar_w_fold *f, arras_expr root, int number)
{
    arras_dtype dtype = f->s.compute;

    if (f->tree == AR_TREE_FUSED) {
        ar_w_put(w, root->args[0]);
        ar_w_put(w, root->args[1]);
        accumulate_product(w, root, number);
        return;
    }
    w->used->ops[f->op][dtype] = true;
    ar_w_put(w, root);
    ar_text_printf(w->out, "a%d = V_%s(%s, %s, a%d, v%" PRId64 ");\n", number, ar_op_name(f->op),
                   w->strips->vector, integers_like(w, dtype), number, root->id);
}

void ar_c_vector_close(ar_writer *w)
{
    ar_text_add(w->out, "}\n");
    ar_w_forget(w, w->strips->vector_mark);
    w->strips->vector = NULL;
}

/* Whole lines of the memory, or where nothing is stored past the caches all that there is. */
static void open_line_loop(ar_writer *w, const ar_c_strip *strip, int cells)
{
    int s = strip->number;

    ar_text_printf(w->out,
                   "for (; e%d <= end%d - %d; e%d += %d) {\n"
                   "const int64_t %s = at%d + e%d;\n",
                   s, s, cells, s, cells, strip->name, s, s);
}

/* Cells on their way to a buffer may be computed twice: then the second vector starts where one of
 * the segment does, since what is stored askew is slow to copy from at once, and the last one ends
 * with the piece. */
static void open_vector_loop(ar_writer *w, const ar_c_strip *strip, int cells)
{
    int s = strip->number;

    if (strip->past && !strip->cut) {
        ar_text_printf(w->out,
                       "for (; e%d <= n%d - %d; e%d += %d) {\n"
                       "const int64_t %s = at%d + e%d;\n",
                       s, s, cells, s, cells, strip->name, s, s);
        return;
    }
    if (strip->past) {
        ar_text_printf(w->out,
                       "for (int64_t next%d; e%d < stop%d && e%d <= n%d - %d; e%d = next%d) {\n"
                       "const int64_t %s = at%d + e%d;\n"
                       "next%d = next_vector(e%d, at%d - seg%d, n%d, %d, streams%d);\n",
                       s, s, s, s, s, cells, s, s, strip->name, s, s, s, s, s, s, s, cells, s);
        return;
    }
    ar_text_printf(w->out,
                   "const int64_t end%d = a->stream ? n%d - %d : MOST;\n"
                   "for (int64_t step%d = a->stream ? %d - ((at%d - seg%d) & %d) : %d;\n"
                   "e%d <= n%d - %d; e%d += step%d, step%d = %d,\n"
                   "e%d = e%d > end%d && e%d < n%d ? end%d : e%d) {\n"
                   "const int64_t %s = at%d + e%d;\n",
                   s, s, cells, s, cells, s, s, cells - 1, cells, s, s, cells, s, s, s, cells, s, s,
                   s, s, s, s, s, strip->name, s, s);
}

/* What is within a loop over vectors, or several of them side by side. */
static void put_turn(ar_writer *w, const ar_c_strip *strip, const ar_c_sink *sink, int abreast)
{
    arras_dtype dtype = strip->roots[0]->type.dtype;
    int         cells = ar_c_vector_cells(dtype) << w->strips->wide;
    size_t      mark = w->nchanges;

    for (int t = 1; t < abreast; t++)
        ar_text_printf(w->out, "const int64_t %s_%d = %s + %d;\n", strip->name, t, strip->name,
                       t * cells);
    ar_c_put_turn_ahead(w, strip, abreast * cells);
    ar_c_vector_set(w, strip, dtype);
    w->strips->abreast = abreast;
    w->strips->in_order = w->strips->in_order || (abreast > 1 && !strip->cut);
    for (int i = 0; i < strip->nroots; i++)
        ar_w_put(w, strip->roots[i]);
    for (int t = 0; ar_c_abreast(w, t); t++)
        sink->cell(w, sink->self, strip);
    ar_text_add(w->out, "}\n");
    w->strips->abreast = 0;
    w->strips->vector = NULL;
    ar_w_forget(w, mark);
}

static void put_vector_loop(ar_writer *w, const ar_c_strip *strip, const ar_c_sink *sink,
                            int abreast)
{
    int  cells = ar_c_vector_cells(strip->roots[0]->type.dtype) << w->strips->wide;
    bool again = strip->again && strip->past && !strip->cut && abreast == 1;

    ar_text_add(w->out, again ? "for (;;) {\n" : "");
    if (ar_c_goes_by_lines(strip) && abreast > 1)
        open_line_loop(w, strip, abreast * cells);
    else
        open_vector_loop(w, strip, abreast * cells);
    put_turn(w, strip, sink, abreast);
    if (again)
        ar_text_printf(w->out,
                       "if (!again%d || e%d == n%d || n%d < %d)\nbreak;\ne%d = n%d - %d;\n}\n",
                       strip->number, strip->number, strip->number, strip->number, cells,
                       strip->number, strip->number, cells);
}

/* Two vectors at a time where all lanes are inside, one where that is not known. */
void ar_c_put_edged_vectors(ar_writer *w, const ar_c_strip *strip, const ar_c_sink *sink)
{
    int s = strip->number, cells = ar_c_vector_cells(strip->roots[0]->type.dtype);
    int line = VECTORS_OF_LINE * cells;

    w->strips->edged = true;
    ar_text_printf(w->out,
                   "const int streams%d = a->stream != 0;\n"
                   "const int64_t low%d = (first%d - at%d + %d) & -%d, high%d = last%d - at%d;\n"
                   "const int64_t upto%d = (high%d < n%d ? high%d : n%d) - %d;\n"
                   "for (int64_t e%d = 0; e%d < n%d;) {\n"
                   "for (; e%d >= low%d && e%d <= upto%d; e%d += %d) {\n"
                   "const int64_t %s = at%d + e%d;\n",
                   s, s, s, s, line - 1, line, s, s, s, s, s, s, s, s, line, s, s, s, s, s, s, s, s,
                   line, strip->name, s, s);
    w->strips->wide = strip->plain;
    put_turn(w, strip, sink, w->strips->wide ? 1 : VECTORS_OF_LINE);
    w->strips->wide = false;
    ar_text_printf(w->out,
                   "for (; e%d < n%d && (e%d < low%d || e%d > upto%d); e%d += %d) {\n"
                   "const int64_t %s = at%d + e%d;\n",
                   s, s, s, s, s, s, s, cells, strip->name, s, s);
    w->strips->at_edge = true;
    put_turn(w, strip, sink, 1);
    ar_text_add(w->out, "}\n");
    w->strips->edged = w->strips->at_edge = false;
}

/* Vectors up to the first line, all lines, and vectors again. */
static void put_vectors_and_lines(ar_writer *w, const ar_c_strip *strip, const ar_c_sink *sink)
{
    int s = strip->number;

    ar_text_printf(
        w->out,
        "const int streams%d = a->stream != 0;\n"
        "const int64_t end%d = streams%d ? upto%d + seg%d - at%d : n%d;\n"
        "for (int64_t stop%d = streams%d ? from%d + seg%d - at%d : 0;; stop%d = n%d) {\n",
        s, s, s, s, s, s, s, s, s, s, s, s, s, s);
    put_vector_loop(w, strip, sink, 1);
    ar_text_printf(w->out, "if (stop%d == n%d)\nbreak;\n", s, s);
    if (strip->lines)
        put_vector_loop(w, strip, sink, VECTORS_OF_LINE);
    ar_text_add(w->out, "}\n");
}

void ar_c_put_vector_cells(ar_writer *w, const ar_c_strip *strip, const ar_c_sink *sink)
{
    if (sink->open_vectors)
        sink->open_vectors(w, sink->self, strip);
    if (ar_c_goes_by_lines(strip))
        put_vectors_and_lines(w, strip, sink);
    else {
        w->strips->wide = strip->past && strip->wide;
        if (w->strips->wide)
            put_vector_loop(w, strip, sink, strip->abreast);
        w->strips->wide = false;
        if (strip->past && strip->abreast > 1)
            put_vector_loop(w, strip, sink, strip->abreast);
        put_vector_loop(w, strip, sink, 1);
    }
    if (sink->close_vectors)
        sink->close_vectors(w, sink->self, strip);
}

void ar_c_put_row_vector(ar_writer *w, const ar_c_strip *strip, const ar_c_sink *sink)
{
    size_t mark = w->nchanges;

    ar_c_vector_set(w, strip, strip->roots[0]->type.dtype);
    ar_text_printf(w->out, "const int64_t %s = 0;\n", strip->name);
    for (int i = 0; i < strip->nroots; i++)
        ar_w_put(w, strip->roots[i]);
    sink->cell(w, sink->self, strip);
    w->strips->vector = NULL;
    ar_w_forget(w, mark);
}

void ar_c_put_shared_vectors(ar_writer *w, const ar_c_strip *strip, int lanes)
{
    ar_c_vector_set(w, strip, strip->roots[0]->type.dtype);
    ar_c_strip_set_inside(w, strip);
    w->strips->lanes = lanes;
    w->strips->lanes_block++;
    ar_text_printf(w->out, "const int64_t %s = 0;\n", strip->name);
    for (int lane = 1; lane < lanes; lane++)
        ar_text_printf(w->out, "const int64_t %s_%d = %d;\n", strip->name, lane, lane);
    for (int i = 0; i < strip->nroots; i++)
        ar_w_put(w, strip->roots[i]);
    w->strips->lanes = 0;
    w->strips->vector = NULL;
}

bool ar_c_turn_step(ar_writer *w, ar_text *out, const ar_c_read *read, int turns)
{
    ar_c_strip  along;
    ar_c_affine form;
    arras_expr  e = read->load;
    bool        moves = false;

    ar_c_strip_variable(&along, &w->variables[w->nesting - 1]);
    for (int axis = 0; axis < e->rank; axis++)
        if (ar_c_varies(&along, e->args[axis]) && ar_c_affine_read(&form, &along, e->args[axis])) {
            ar_text_printf(out, "%s%" PRId64 "ll * s%d_%d", moves ? " + " : "", turns * form.along,
                           ar_w_operand(w, e), axis);
            moves = true;
        }
    return moves;
}
