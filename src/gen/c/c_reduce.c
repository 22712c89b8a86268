/* c_reduce.c -- one reduction at a time: its cells in blocks, each a strip of the reduction's
 * variable, folded in the order that ir/trees.h states (fold_kit.h). */
#include "gen/c/c_writer.h"

#include <stdio.h>

void ar_c_fold_empty(ar_writer *w, const ar_w_fold *f, const char *target)
{
    if (f->identity < 0)
        ar_text_add(w->out, "return 1;\n");
    else
        ar_text_printf(w->out, "%s = (%s)%d;\n", target, f->type, f->identity);
}

/* ---- Blocks ---------------------------------------------------------------------------------- */

typedef struct {
    const ar_w_fold *fold;
    arras_expr       body;
    int              number;
    bool             many; /* never so few that they are combined one after the other */
} block;

static void put_block_cell(ar_writer *w, void *self, const ar_c_strip *strip)
{
    const block *b = self;

    ar_text_printf(w->out, "x%d[%s - base%d] = ", b->number, strip->name, b->number);
    ar_w_cast_twice(w, b->body, b->fold->s.operand[0], b->fold->s.compute);
    ar_text_add(w->out, ";\n");
}

/* The cells as they are in memory, when they need not be computed. */
static bool is_in_memory(const ar_c_strip *strip, const block *b)
{
    const ar_c_read *read = strip->nreads ? strip->reads[0] : NULL;

    return read && read->load == b->body && read->unit && read->along == 1 && !read->fills &&
           !strip->cut && b->body->type.dtype != ARRAS_BOOL &&
           b->body->type.dtype == b->fold->s.operand[0] &&
           b->body->type.dtype == b->fold->s.compute;
}

static void put_place_call(ar_writer *w, const block *b, const char *cells)
{
    const ar_w_fold *f = b->fold;
    int              s = b->number;

    w->used->ops[f->better][f->s.compute] = true;
    w->used->places[f->op][f->s.compute] = true;
    w->used->loops = w->used->loops || ar_fold_number(f->op, f->s.compute) < 0;
    ar_text_printf(w->out, "place_%s_%s(&best%d, &place%d, blocks%d++, %s, count%d, base%d);\n",
                   ar_op_name(f->better), f->dtype, s, s, s, cells, s, s);
}

/* Those the library does not have are loops of the kernel's own. */
static void use_fold(ar_writer *w, const ar_w_fold *f)
{
    w->used->ops[f->op][f->s.compute] = w->used->folds[f->op][f->s.compute] = true;
    w->used->loops = w->used->loops || ar_fold_number(f->op, f->s.compute) < 0;
}

/* Each is of whole blocks. */
static void put_partial_calls(ar_writer *w, const block *b)
{
    int s = b->number;

    ar_text_printf(w->out,
                   "for (int64_t i = 0; i < count%d; i++) "
                   "blocks%d = carry_%s_%s(parts%d, blocks%d, x%d[i]);\n",
                   s, s, ar_op_name(b->fold->op), b->fold->dtype, s, s, s);
}

/* `vectors`: what is not left in the cells is in aK and laneS already. */
static void put_fold_call(ar_writer *w, const block *b, bool vectors)
{
    const ar_w_fold *f = b->fold;
    const char      *op = ar_op_name(f->op);
    int              s = b->number;

    ar_text_printf(w->out, "blocks%d = carry_%s_%s(parts%d, blocks%d, ", s, op, f->dtype, s, s);
    if (!b->many)
        ar_text_printf(w->out, "few%d ? line_%s_%s(x%d, count%d) : ", s, op, f->dtype, s, s);
    if (vectors)
        ar_text_printf(w->out, "close_%s_%s(lane%d, x%d, count%d, done%d));\n", op, f->dtype, s, s,
                       s, s);
    else
        ar_text_printf(w->out, "lanes_%s_%s(x%d, count%d));\n", op, f->dtype, s, s);
}

/* All cells at once, of memory. */
static void put_range_call(ar_writer *w, const block *b, arras_expr e)
{
    const ar_w_fold *f = b->fold;
    const char      *op = ar_op_name(f->op);
    int64_t          cells = b->body->id;
    int              s = b->number;

    use_fold(w, f);
    if (f->tree == AR_TREE_PARTIALS) {
        ar_text_printf(w->out, "v%" PRId64 " = join_%s_%s(p%" PRId64 " + low%d, high%d - low%d);\n",
                       e->id, op, f->dtype, cells, s, s, s);
        return;
    }
    ar_text_printf(w->out, "v%" PRId64 " = range_%s_%s(p%" PRId64 ", low%d, high%d, ", e->id, op,
                   f->dtype, cells, s, s);
    if (b->many)
        ar_text_add(w->out, "0");
    else
        ar_w_fold_few(w, f, s);
    ar_text_add(w->out, ");\n");
}

/* ---- Blocks in vectors ----------------------------------------------------------------------- */

/* Cells that are computed with were mostly read before, for the mean of their row: while they come
 * from a cache, the next row is on its way. */
static void put_next_row(ar_writer *w, const ar_c_strip *strip, const char *at)
{
    for (size_t i = 0; i < strip->nreads; i++)
        ar_text_printf(w->out, "__builtin_prefetch(p%" PRId64 " + %s + next%d, 0, 2);\n",
                       strip->reads[i]->load->id, at, strip->number);
}

/* All lanes are in registers: doneS cells of the block are in laneS. */
static void put_vectors(ar_writer *w, const ar_c_strip *strip, const block *b)
{
    int         s = b->number, cells = ar_c_vector_cells(b->fold->s.compute);
    const char *type = ar_c_vector_type(b->fold->s.compute);
    char        at[64];

    ar_text_printf(w->out, "int64_t done%d = 0;\n%s lane%d[%d] ALIGNED;\n", s, b->fold->type, s,
                   AR_FOLD_LANES);
    if (!b->many)
        ar_text_printf(w->out, "if (!few%d) ", s);
    ar_text_printf(w->out, "{\n%s ", type);
    for (int k = 0; k < AR_FOLD_LANES / cells; k++) {
        ar_text_printf(w->out, "%sa%d = (%s)", k ? ", " : "", k, b->fold->type);
        ar_w_fold_neutral(w, b->fold);
        ar_text_printf(w->out, " - (%s){ 0 }", type); /* + would make 0 of -0.0 */
    }
    ar_text_printf(w->out, ";\nfor (; done%d + %d <= count%d; done%d += %d) {\n", s, AR_FOLD_LANES,
                   s, s, AR_FOLD_LANES);
    snprintf(at, sizeof at, "base%d + done%d", s, s);
    put_next_row(w, strip, at);
    for (int k = 0; k < AR_FOLD_LANES / cells; k++) {
        snprintf(at, sizeof at, "base%d + done%d + %d", s, s, k * cells);
        ar_c_vector_open(w, strip, b->fold, at, 0);
        ar_c_vector_accumulate(w, b->fold, b->body, k);
        ar_c_vector_close(w);
    }
    ar_text_add(w->out, "}\n");
    for (int k = 0; k < AR_FOLD_LANES / cells; k++)
        ar_text_printf(w->out, "*(%s *)(lane%d + %d) = a%d;\n", type, s, k * cells, k);
    ar_text_add(w->out, "}\n");
}

static void put_computed_block(ar_writer *w, ar_c_strip *strip, block *b, bool vectors)
{
    int             s = b->number;
    const ar_c_sink sink = { .cell = put_block_cell, .self = b };
    char            from[48], to[32];

    if (vectors)
        put_vectors(w, strip, b);
    snprintf(from, sizeof from, vectors ? "base%d + done%d" : "base%d", s, s);
    snprintf(to, sizeof to, "base%d + count%d", s, s);
    strip->most = AR_C_SEGMENT;
    strip->rest = vectors && (b->many || b->fold->tree == AR_TREE_PART);
    ar_c_strip_run(w, strip, from, to, &sink);
}

static void put_blocks(ar_writer *w, ar_c_strip *strip, block *b)
{
    enum { SHORT_ROW = 16384 };
    const ar_w_fold *f = b->fold;
    int              s = b->number;
    bool             in_memory = is_in_memory(strip, b); /* and places are looked for */
    int              most = in_memory ? 2 * AR_C_SEGMENT : AR_C_SEGMENT;
    bool             vectors =
        f->tree != AR_TREE_PARTIALS && !in_memory && ar_c_is_vector(w, strip, b->body, f, NULL);
    char cells[48];

    use_fold(w, f);
    if (!in_memory)
        ar_text_printf(w->out, "%s x%d[%d] ALIGNED;\n", f->type, s, AR_C_SEGMENT);
    if (vectors)
        ar_text_printf(w->out,
                       "const int64_t next%d = high%d - low%d <= %d ? high%d - low%d : 0;\n",
                       strip->number, s, s, SHORT_ROW, s, s);
    ar_text_printf(w->out,
                   "for (int64_t base%d = low%d, count%d; base%d < high%d; base%d += count%d) {\n"
                   "count%d = high%d - base%d < %d ? high%d - base%d : %d;\n",
                   s, s, s, s, s, s, s, s, s, s, most, s, s, most);
    snprintf(cells, sizeof cells, in_memory ? "p%" PRId64 " + base%d" : "x%" PRId64,
             in_memory ? b->body->id : s, s);
    if (!in_memory)
        put_computed_block(w, strip, b, vectors);
    if (f->place)
        put_place_call(w, b, cells);
    else if (f->tree == AR_TREE_PARTIALS)
        put_partial_calls(w, b);
    else
        put_fold_call(w, b, vectors);
    ar_text_add(w->out, "}\n");
}

/* ---- The reduction --------------------------------------------------------------------------- */

static void declare_state(ar_writer *w, const block *b)
{
    const ar_w_fold *f = b->fold;
    int              s = b->number;

    ar_text_printf(w->out, "uint64_t blocks%d = 0;\n", s);
    if (f->place) {
        ar_text_printf(w->out, "%s best%d;\nint64_t place%d;\n", f->type, s, s);
        return;
    }
    ar_text_printf(w->out, "%s parts%d[%d];\n", f->type, s, AR_FOLD_DEPTH);
    if (f->tree == AR_TREE_PARTIALS || b->many)
        return;
    ar_text_printf(w->out, "const int few%d = ", s);
    ar_w_fold_few(w, f, s);
    ar_text_add(w->out, ";\n");
}

static void put_result(ar_writer *w, arras_expr e, const ar_w_fold *f, int s)
{
    if (f->place)
        ar_text_printf(w->out, "v%" PRId64 " = place%d;\n", e->id, s);
    else
        ar_text_printf(w->out, "v%" PRId64 " = finish_%s_%s(parts%d, blocks%d);\n", e->id,
                       ar_op_name(f->op), f->dtype, s, s);
}

static void put_fused_cell(ar_writer *w, void *self, const ar_c_strip *strip)
{
    ar_w_put_fused(w, strip->roots[0], self);
}

/* Products that are few, one after the other. */
static void put_fused_sum(ar_writer *w, ar_c_strip *strip, arras_expr e, const block *b)
{
    char            sum[32], from[32], to[32];
    const ar_c_sink sink = { .cell = put_fused_cell, .self = sum };

    snprintf(sum, sizeof sum, "v%" PRId64, e->id);
    snprintf(from, sizeof from, "low%d", b->number);
    snprintf(to, sizeof to, "high%d", b->number);
    ar_text_printf(w->out, "%s = ", sum);
    ar_w_fold_neutral(w, b->fold);
    ar_text_add(w->out, ";\n");
    strip->most = AR_C_SEGMENT;
    ar_c_strip_run(w, strip, from, to, &sink);
}

static void put_range(ar_writer *w, arras_expr e, const ar_w_fold *f, int s)
{
    size_t               mark = w->nchanges;
    const ar_w_variable *variable = ar_w_enter(w, e, s);
    block                b = { f, e->args[2], s, ar_w_fold_length(e) > AR_FOLD_SERIAL };
    ar_c_strip           strip;

    if (!variable)
        return;
    ar_c_strip_variable(&strip, variable);
    ar_c_strip_open(w, &strip, 1, &e->args[2]);
    if (f->tree == AR_TREE_FUSED) {
        put_fused_sum(w, &strip, e, &b);
    } else if (is_in_memory(&strip, &b) && !f->place) {
        put_range_call(w, &b, e);
    } else {
        declare_state(w, &b);
        put_blocks(w, &strip, &b);
        put_result(w, e, f, s);
    }
    ar_c_strip_close(&strip);
    ar_w_leave(w);
    ar_w_forget(w, mark);
}

void ar_c_put_reduce(ar_writer *w, arras_expr e)
{
    ar_w_fold f = ar_w_fold_of(&ar_dialect_c, e);
    int       s = ar_w_number(w);
    char      target[32];

    ar_w_put(w, e->args[0]);
    ar_w_put(w, e->args[1]);
    ar_text_printf(w->out, "%s v%" PRId64 ";\n{\n", ar_c_type(e->type.dtype), e->id);
    ar_w_put_bounds(w, e, s);
    if (!ar_w_fold_length(e)) {
        ar_text_printf(w->out, "if (low%d >= high%d) {\n", s, s);
        snprintf(target, sizeof target, "v%" PRId64, e->id);
        ar_c_fold_empty(w, &f, target);
        ar_text_add(w->out, "} else ");
    }
    ar_text_add(w->out, "{\n");
    if (!w->failed)
        put_range(w, e, &f, s);
    ar_text_add(w->out, "}\n}\n");
}
