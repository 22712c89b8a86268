/* c_contract_print.c -- the kernel of a contraction.  It packs the panels; then it takes a few rows
 * at a time:
 *
 *     for (r0 = from; r0 < to; r0 += 2) {
 *         vec a0_0_0 = -0, ...                  level, row and vector of an accumulator
 *         for (k0 = 0; k0 < 20; k0++) {
 *             const vec b0_0 = scalar 0 of row 0, ...
 *             const vec p0_0 = panel 0, vector 0; a0_0_0 += p0_0 * b0_0; a0_1_0 += ...
 *         }
 *         w0 = what is around the sums, of vector 0; ... stored
 *     }
 *
 * Products and sums are contracted only where the graph says so, every lane is one cell, and -0 + x
 * is x: the bits are those of a sum one after the other.  Rows beyond the box are computed as the
 * last one, and not stored.
 */
#include "gen/c/c_writer.h"
#include "gen/nest/contraction.h"

#include <stdio.h>

enum {
    VECTOR_BYTES = 32,
    WIDE_BYTES = 64,   /* where a processor computes with such vectors at full speed */
    MOST_TOGETHER = 6, /* vectors of columns in registers */
    CHUNK_CELLS = 4096 /* of the result */
};

typedef struct {
    ar_text              *out;
    ar_op_set            *used;
    const ar_kernel_form *form;
    const ar_contraction *c;
    int                   bytes, lanes; /* of a vector; its cells */
    int                   vectors;      /* of a row */
    int                   rows;         /* computed together */
    int                   begin, end;   /* vectors computed together */
    int                   tile_row;     /* whose scalars are printed */
    int                   column;       /* its number, or -1: the variable c */
    int                   vector, lane; /* of the sums' value, where it is asked for */
} printer;

static void put_scalar(printer *p, arras_expr e);

/* ---- Scalar expressions: nested calls of what ar_c_ops_print defines ------------------------- */

static void put_as(printer *p, arras_expr e, arras_dtype to)
{
    arras_dtype from = e->type.dtype;

    if (from != to) {
        p->used->casts[from][to] = true;
        ar_text_printf(p->out, "cast_%s_%s(", ar_dtype_name(from), ar_dtype_name(to));
    }
    put_scalar(p, e);
    if (from != to)
        ar_text_add(p->out, ")");
}

static void put_op(printer *p, arras_expr e)
{
    ar_op        op = (ar_op)e->ints[0];
    ar_type      types[AR_MAX_ARITY];
    ar_signature s = { .compute = ARRAS_NO_DTYPE };

    for (int i = 0; i < e->nargs; i++)
        types[i] = e->args[i]->type;
    ar_op_signature(&s, op, types);
    p->used->ops[op][s.compute] = true;
    ar_text_printf(p->out, "op_%s_%s(", ar_op_name(op), ar_dtype_name(s.compute));
    for (int i = 0; i < e->nargs; i++) {
        ar_text_add(p->out, i ? ", " : "");
        put_as(p, e->args[i], s.operand[i]);
    }
    ar_text_add(p->out, ")");
}

static void put_index(printer *p, int axis)
{
    if (axis == p->c->column && p->column < 0)
        ar_text_add(p->out, "c");
    else if (axis == p->c->column)
        ar_text_printf(p->out, "%d", p->column);
    else if (axis == p->c->row)
        ar_text_printf(p->out, "r%d", p->tile_row);
    else
        ar_text_printf(p->out, "i%d", axis);
}

static void put_size(printer *p, arras_expr e)
{
    const ar_affine *affine = ar_dim_affine(e->graph, e->ints[0]);

    ar_text_printf(p->out, "(%" PRId64 "ll", affine->constant);
    for (int i = 0; i < affine->nterms; i++)
        ar_text_printf(p->out, " + %" PRId64 "ll * a->sizes[%d]", affine->terms[i].factor,
                       affine->terms[i].size);
    ar_text_add(p->out, ")");
}

static void put_stride(printer *p, int input, int axis)
{
    int64_t stride;

    if (p->form->dense[input] && ar_kernel_stride(&stride, p->c->lambda->inputs[input], axis))
        ar_text_printf(p->out, "%" PRId64, stride);
    else
        ar_text_printf(p->out, "s%d_%d", 1 + input, axis);
}

static void put_address(printer *p, arras_expr load)
{
    ar_text_printf(p->out, "(d%d", 1 + (int)load->ints[0]);
    for (int axis = 0; axis < load->rank; axis++) {
        ar_text_add(p->out, " + ");
        put_as(p, load->args[axis], ARRAS_I64);
        ar_text_add(p->out, " * ");
        put_stride(p, (int)load->ints[0], axis);
    }
    ar_text_add(p->out, ")");
}

static void put_load(printer *p, arras_expr e)
{
    bool is_bool = e->type.dtype == ARRAS_BOOL;

    ar_text_printf(p->out, "%s*(const %s *)", is_bool ? "(" : "", ar_c_type(e->type.dtype));
    put_address(p, e);
    ar_text_add(p->out, is_bool ? " != 0)" : "");
}

/* Its depth was limited when the contraction was recognised. */
static void put_scalar(printer *p, arras_expr e)
{
    switch (e->kind) {
    case AR_EXPR_INDEX: put_index(p, (int)e->ints[0]); break;
    case AR_EXPR_VAR: ar_text_printf(p->out, "k%d", ar_contraction_variable(p->c, e->name)); break;
    case AR_EXPR_LITERAL: ar_w_literal_print(p->out, &ar_dialect_c, e); break;
    case AR_EXPR_SIZE: put_size(p, e); break;
    case AR_EXPR_CAST: put_as(p, e->args[0], e->type.dtype); break;
    case AR_EXPR_OP: put_op(p, e); break;
    case AR_EXPR_LOAD: put_load(p, e); break;
    default: ar_text_printf(p->out, "a0_%d_%d[%d]", p->tile_row, p->vector, p->lane);
    }
}

static void put_ends(printer *p, int count)
{
    for (int i = 0; i < count; i++)
        ar_text_add(p->out, "}\n");
}

/* ---- Panels ---------------------------------------------------------------------------------- */

static void put_sum_loop(printer *p, int s)
{
    int64_t first = p->c->first[s];

    ar_text_printf(p->out, "for (int64_t k%d = %" PRId64 "; k%d < %" PRId64 "; k%d++) {\n", s,
                   first, s, first + p->c->length[s], s);
}

/* The term k0, k1, ... of panel i: panelI[pack][term]. */
static void put_panel_row(printer *p, int i)
{
    const ar_contraction *c = p->c;
    int64_t               packs = 1, terms = 1;

    ar_text_printf(p->out, "panel%d[0", i);
    for (int axis = c->column - 1; axis >= 0 && c->packs > 0; axis--)
        if (c->batch >> axis & 1) {
            ar_text_printf(p->out, " + i%d * %" PRId64, axis, packs);
            packs *= c->lambda->shape[axis];
        }
    ar_text_add(p->out, "][0");
    for (int s = c->nsums - 1; s >= 0; s--) {
        ar_text_printf(p->out, " + (k%d - %" PRId64 ") * %" PRId64, s, c->first[s], terms);
        terms *= c->length[s];
    }
    ar_text_add(p->out, "]");
}

/* Lanes beyond the last column are 0; what is computed there is not stored. */
static void put_panel_filling(printer *p)
{
    int64_t end = (int64_t)p->vectors * p->lanes;

    if (p->c->columns == end)
        return;
    ar_text_printf(p->out, "for (int64_t c = %" PRId64 "; c < %" PRId64 "; c++) {\n", p->c->columns,
                   end);
    for (int i = 0; i < p->c->panels.count; i++) {
        put_panel_row(p, i);
        ar_text_add(p->out, "[c] = 0;\n");
    }
    ar_text_add(p->out, "}\n");
}

static void put_panel_cells(printer *p)
{
    ar_text_printf(p->out, "for (int64_t c = 0; c < %" PRId64 "; c++) {\n", p->c->columns);
    p->column = -1;
    for (int i = 0; i < p->c->panels.count; i++) {
        put_panel_row(p, i);
        ar_text_add(p->out, "[c] = ");
        put_as(p, p->c->panels.items[i], p->c->dtype);
        ar_text_add(p->out, ";\n");
    }
    ar_text_add(p->out, "}\n");
}

static void put_packing(printer *p)
{
    for (int s = 0; s < p->c->nsums; s++)
        put_sum_loop(p, s);
    put_panel_cells(p);
    put_panel_filling(p);
    put_ends(p, p->c->nsums);
}

static void put_panel_memory(printer *p)
{
    for (int i = 0; i < p->c->panels.count; i++)
        ar_text_printf(p->out,
                       "%s panel%d[%" PRId64 "][%" PRId64 "][%d] __attribute__((aligned(%d)));\n",
                       ar_c_type(p->c->dtype), i, p->c->packs ? p->c->packs : 1, p->c->terms,
                       p->vectors * p->lanes, p->bytes);
}

/* ---- Sums ------------------------------------------------------------------------------------ */

/* Values of this row that are the same in all columns: `prefix`0_row, `prefix`1_row, ... */
static void put_broadcasts(printer *p, const ar_leaves *leaves, char prefix)
{
    for (int i = 0; i < leaves->count; i++) {
        ar_text_printf(p->out, "const %s %cs%d_%d = ", ar_c_type(p->c->dtype), prefix, i,
                       p->tile_row);
        put_as(p, leaves->items[i], p->c->dtype);
        ar_text_printf(p->out, ";\nconst vec %c%d_%d = {", prefix, i, p->tile_row);
        for (int lane = 0; lane < p->lanes; lane++)
            ar_text_printf(p->out, "%s %cs%d_%d", lane ? "," : "", prefix, i, p->tile_row);
        ar_text_add(p->out, " };\n");
    }
}

static const char *sign_of(arras_expr e)
{
    switch ((ar_op)e->ints[0]) {
    case AR_OP_add: return " + ";
    case AR_OP_subtract: return " - ";
    case AR_OP_multiply: return " * ";
    default: return " / ";
    }
}

typedef void part_printer(printer *p, arras_expr e);

static void put_fma(printer *p, part_printer *put, arras_expr x, arras_expr y)
{
    p->used->vectors = true;
    ar_text_printf(p->out, "FMA_%sx%d(", ar_dtype_name(p->c->dtype), p->lanes);
    put(p, x);
    ar_text_add(p->out, ", ");
    put(p, y);
    ar_text_add(p->out, ", ");
}

/* Its parts are put by the caller's own function. */
static void put_vector_op(printer *p, arras_expr e, part_printer *put)
{
    if (e->ints[0] == AR_OP_fma) {
        put_fma(p, put, e->args[0], e->args[1]);
        put(p, e->args[2]);
    } else {
        ar_text_add(p->out, "(");
        put(p, e->args[0]);
        ar_text_add(p->out, sign_of(e));
        put(p, e->args[1]);
    }
    ar_text_add(p->out, ")");
}

static void put_product(printer *p, arras_expr e)
{
    int scalar = ar_leaves_find(&p->c->scalars, e), panel = ar_leaves_find(&p->c->panels, e);

    if (scalar >= 0) {
        ar_text_printf(p->out, "b%d_%d", scalar, p->tile_row);
    } else if (panel >= 0) {
        ar_text_printf(p->out, "p%d_%d", panel, p->vector);
    } else {
        put_vector_op(p, e, put_product);
    }
}

static void put_panel_vectors(printer *p)
{
    for (int i = 0; i < p->c->panels.count; i++) {
        ar_text_printf(p->out, "const vec p%d_%d = *(const vec *)&", i, p->vector);
        put_panel_row(p, i);
        ar_text_printf(p->out, "[%d];\n", p->vector * p->lanes);
    }
}

static void put_step(printer *p)
{
    arras_expr body = p->c->body;
    char       sum[48];

    snprintf(sum, sizeof sum, "a%d_%d_%d", p->c->nsums - 1, p->tile_row, p->vector);
    ar_text_printf(p->out, "%s %s ", sum, p->c->fused ? "=" : "+=");
    if (p->c->fused) {
        put_fma(p, put_product, body->args[0], body->args[1]);
        ar_text_printf(p->out, "%s)", sum);
    } else {
        put_product(p, body);
    }
    ar_text_add(p->out, ";\n");
}

/* The compiler keeps the order of statements, so that the fewer of scalars and panel vectors are
 * kept in registers and the others are used as they come. */
static void put_terms(printer *p)
{
    bool scalars_first = p->rows <= p->end - p->begin;

    for (p->vector = p->begin; p->vector < p->end && !scalars_first; p->vector++)
        put_panel_vectors(p);
    for (p->tile_row = 0; p->tile_row < p->rows; p->tile_row++) {
        put_broadcasts(p, &p->c->scalars, 'b');
        for (p->vector = p->begin; p->vector < p->end && !scalars_first; p->vector++)
            put_step(p);
    }
    for (p->vector = p->begin; p->vector < p->end && scalars_first; p->vector++) {
        put_panel_vectors(p);
        for (p->tile_row = 0; p->tile_row < p->rows; p->tile_row++)
            put_step(p);
    }
}

/* Opens all accumulators of a level, or adds them to those of the level around it. */
static void put_accumulators(printer *p, int level, bool open)
{
    for (int row = 0; row < p->rows; row++)
        for (int v = p->begin; v < p->end; v++) {
            if (open)
                ar_text_printf(p->out, "vec a%d_%d_%d = zero;\n", level, row, v);
            else
                ar_text_printf(p->out, "a%d_%d_%d += a%d_%d_%d;\n", level - 1, row, v, level, row,
                               v);
        }
}

static void put_sums(printer *p)
{
    int levels = p->c->nsums, unroll = p->vectors == 1 ? 4 : 2;

    for (int s = 0; s < levels; s++) {
        put_accumulators(p, s, true);
        if (s == levels - 1)
            ar_text_printf(p->out, "#pragma GCC unroll %d\n", unroll);
        put_sum_loop(p, s);
    }
    put_terms(p);
    for (int s = levels - 1; s >= 0; s--) {
        ar_text_add(p->out, "}\n");
        if (s > 0)
            put_accumulators(p, s, false);
    }
}

/* ---- What is around the sums, and the result ------------------------------------------------- */

static int tail_of(const printer *p, int vector)
{
    return (int)ar_min64(p->lanes, p->c->columns - vector * p->lanes);
}

static bool is_whole_load(const printer *p, arras_expr e)
{
    arras_expr last = e->kind == AR_EXPR_LOAD && e->rank ? e->args[e->rank - 1] : NULL;

    if (!last || e->type.dtype != p->c->dtype || !p->form->dense[e->ints[0]] ||
        tail_of(p, p->vector) < p->lanes || last->kind != AR_EXPR_INDEX ||
        last->ints[0] != p->c->column)
        return false;
    for (int axis = 0; axis < e->rank - 1; axis++)
        if (e->args[axis]->uses >> p->c->column & 1)
            return false;
    return true;
}

/* Cell by cell; in parentheses, since it may be an argument of a macro. */
static void put_lanes(printer *p, arras_expr e)
{
    ar_text_add(p->out, "((vec){ ");
    for (p->lane = 0; p->lane < tail_of(p, p->vector); p->lane++) {
        p->column = p->vector * p->lanes + p->lane;
        ar_text_add(p->out, p->lane ? ", " : "");
        put_as(p, e, p->c->dtype);
    }
    ar_text_add(p->out, " })");
}

static void put_after(printer *p, arras_expr e)
{
    int leaf = ar_leaves_find(&p->c->after, e);

    if (e == p->c->sums[0]) {
        ar_text_printf(p->out, "a0_%d_%d", p->tile_row, p->vector);
    } else if (leaf >= 0) {
        ar_text_printf(p->out, "e%d_%d", leaf, p->tile_row);
    } else if (ar_contraction_is_vector_op(p->c, e)) {
        put_vector_op(p, e, put_after);
    } else if (is_whole_load(p, e)) {
        p->column = p->vector * p->lanes;
        ar_text_add(p->out, "*(const loose *)");
        put_address(p, e);
    } else {
        put_lanes(p, e);
    }
}

/* All cells of vector w, or as many as the row has. */
static void put_whole_store(printer *p)
{
    int cells = tail_of(p, p->vector), at = p->vector * p->lanes, done = 0;

    if (cells == p->lanes) {
        ar_text_printf(p->out, "*(loose *)(q + %d) = w%d;\n", at, p->vector);
        return;
    }
    if (p->form->machine->masks) {
        p->used->vectors = true;
        ar_text_printf(p->out, "PART_%sx%d(q + %d, w%d, %d);\n", ar_dtype_name(p->c->dtype),
                       p->lanes, at, p->vector, cells);
        return;
    }
    if (cells >= p->lanes / 2) {
        ar_text_printf(p->out, "*(half *)(q + %d) = (half){ ", at);
        for (; done < p->lanes / 2; done++)
            ar_text_printf(p->out, "%sw%d[%d]", done ? ", " : "", p->vector, done);
        ar_text_add(p->out, " };\n");
    }
    for (; done < cells; done++)
        ar_text_printf(p->out, "q[%d] = w%d[%d];\n", at + done, p->vector, done);
}

/* A box may have some of the columns only. */
static void put_cut_stores(printer *p)
{
    int first = p->begin * p->lanes, last = p->end * p->lanes, column = p->c->column;

    ar_text_printf(p->out, "vec cut[%d];\n", p->end - p->begin);
    for (int v = p->begin; v < p->end; v++)
        ar_text_printf(p->out, "cut[%d] = w%d;\n", v - p->begin, v);
    ar_text_printf(p->out,
                   "for (int64_t c = lo[%d] > %d ? lo[%d] : %d; c < hi[%d] && c < %d; c++)\n"
                   "q[c] = ((const %s *)cut)[c - %d];\n",
                   column, first, column, first, column, last, ar_c_type(p->c->dtype), first);
}

static void put_result_row(printer *p)
{
    const char *type = ar_c_type(p->c->dtype);

    ar_text_printf(p->out, "if (%d < rows) {\n", p->tile_row);
    put_broadcasts(p, &p->c->after, 'e');
    ar_text_printf(p->out, "%s *const q = (%s *)(d0", type, type);
    for (int axis = 0; axis < p->c->column; axis++) {
        ar_text_add(p->out, " + ");
        put_index(p, axis);
        ar_text_printf(p->out, " * s0_%d", axis);
    }
    ar_text_add(p->out, ");\n");
    for (p->vector = p->begin; p->vector < p->end; p->vector++) {
        ar_text_printf(p->out, "const vec w%d = ", p->vector);
        put_after(p, p->c->lambda->ref);
        ar_text_add(p->out, ";\n");
    }
    ar_text_add(p->out, "if (whole) {\n");
    for (p->vector = p->begin; p->vector < p->end; p->vector++)
        put_whole_store(p);
    ar_text_add(p->out, "} else {\n");
    put_cut_stores(p);
    ar_text_add(p->out, "}\n}\n");
}

/* ---- The whole ------------------------------------------------------------------------------- */

/* Rows `from` to `to`, all columns. */
static void put_tile(printer *p)
{
    int groups = (p->vectors + MOST_TOGETHER - 1) / MOST_TOGETHER;

    ar_text_printf(p->out,
                   "for (int64_t r0 = from; r0 < to; r0 += %d) {\n"
                   "const int64_t rows = to - r0;\n",
                   p->rows);
    for (int r = 1; r < p->rows; r++)
        ar_text_printf(p->out, "const int64_t r%d = %d < rows ? r0 + %d : r0;\n", r, r, r);
    for (int group = 0; group < groups; group++) {
        p->begin = p->vectors * group / groups, p->end = p->vectors * (group + 1) / groups;
        ar_text_add(p->out, "{\n");
        put_sums(p);
        for (p->tile_row = 0; p->tile_row < p->rows; p->tile_row++)
            put_result_row(p);
        ar_text_add(p->out, "}\n");
    }
    ar_text_add(p->out, "}\n");
}

/* Loops over the axes, but row and column, that panels depend on, or over the others.  Gives how
 * many. */
static int put_axis_loops(printer *p, bool batch)
{
    const ar_contraction *c = p->c;
    int                   loops = 0;

    for (int axis = 0; axis < c->column; axis++)
        if (axis != c->row && (c->batch >> axis & 1) == batch) {
            ar_text_printf(p->out, "for (int64_t i%d = lo[%d]; i%d < hi[%d]; i%d++) {\n", axis,
                           axis, axis, axis, axis);
            loops++;
        }
    return loops;
}

/* A chunk of rows meets all panels while it is in the cache. */
static void put_loops_all_packed(printer *p)
{
    int row = p->c->row, rows = CHUNK_CELLS / (int)p->c->columns;
    int loops = put_axis_loops(p, true);

    put_packing(p);
    put_ends(p, loops);
    loops = put_axis_loops(p, false);
    ar_text_printf(p->out,
                   "for (int64_t from = lo[%d]; from < hi[%d]; from += %d) {\n"
                   "const int64_t to = hi[%d] - from < %d ? hi[%d] : from + %d;\n",
                   row, row, rows, row, rows, row, rows);
    loops += put_axis_loops(p, true);
    put_tile(p);
    put_ends(p, loops + 1);
}

static void put_loops_packed_in_turn(printer *p)
{
    int loops = put_axis_loops(p, true);

    put_packing(p);
    loops += put_axis_loops(p, false);
    ar_text_printf(p->out, "const int64_t from = lo[%d], to = hi[%d];\n", p->c->row, p->c->row);
    put_tile(p);
    put_ends(p, loops);
}

static void put_operand(printer *p, int operand, int rank)
{
    ar_text_printf(p->out, "char *const d%d = a->data[%d];\n", operand, operand);
    for (int axis = 0; axis < rank; axis++)
        ar_text_printf(p->out, "const int64_t s%d_%d = a->strides[%d][%d];\n", operand, axis,
                       operand, axis);
}

static void put_types(printer *p)
{
    const char *type = ar_c_type(p->c->dtype);
    int         bytes = (int)ar_dtype_size(p->c->dtype);

    ar_text_printf(p->out,
                   "typedef %s vec __attribute__((vector_size(%d), may_alias));\n"
                   "typedef %s loose __attribute__((vector_size(%d), may_alias, aligned(%d)));\n"
                   "typedef %s half __attribute__((vector_size(%d), may_alias, aligned(%d)));\n"
                   "const vec zero = {",
                   type, p->bytes, type, p->bytes, bytes, type, p->bytes / 2, bytes);
    for (int lane = 0; lane < p->lanes; lane++)
        ar_text_add(p->out, lane ? ", -0.0" : " -0.0");
    ar_text_add(p->out, " };\n");
}

static int64_t vectors_of(const ar_contraction *c, int bytes)
{
    int64_t lanes = bytes / (int)ar_dtype_size(c->dtype);

    return (c->columns + lanes - 1) / lanes;
}

static int choose_bytes(const ar_contraction *c, const ar_machine *machine)
{
    bool faster = 3 * vectors_of(c, WIDE_BYTES) < 2 * vectors_of(c, VECTOR_BYTES);

    return faster && machine->wide ? WIDE_BYTES : VECTOR_BYTES;
}

/* Enough sums at once to hide the latency of an addition, few enough for the registers, of which
 * there are twice as many where vectors are wide. */
static int rows_together(const ar_contraction *c, int vectors, int bytes)
{
    if (vectors == 1 && c->terms > 8)
        return 4;
    return bytes == WIDE_BYTES && vectors <= 5 ? 4 : 2;
}

arras_status ar_c_contraction_print(ar_text *out, ar_op_set *used, const ar_kernel_form *form,
                                    const ar_contraction *c, const char *name, arras_error *err)
{
    printer p = { .out = out, .used = used, .form = form, .c = c };

    p.bytes = choose_bytes(c, form->machine);
    p.lanes = p.bytes / (int)ar_dtype_size(c->dtype);
    p.vectors = (int)vectors_of(c, p.bytes);
    p.rows = rows_together(c, p.vectors, p.bytes);
    /* -O1, which is right for all else, does not schedule instructions; and a loop of many sums
     * with little around it is taken for one that needs few registers. */
    ar_text_printf(out,
                   "__attribute__((optimize(\"O2\", \"ira-region=all\")))\n"
                   "int %s(const ar_kernel_args *a, const int64_t *lo, const int64_t *hi)\n{\n",
                   name);
    put_types(&p);
    put_operand(&p, 0, c->lambda->rank);
    for (int k = 0; k < c->lambda->ninputs; k++)
        put_operand(&p, 1 + k, c->lambda->inputs[k]->rank);
    put_panel_memory(&p);
    ar_text_printf(out, "const int whole = lo[%d] == 0 && hi[%d] == %" PRId64 ";\n", c->column,
                   c->column, c->columns);
    if (c->packs > 0)
        put_loops_all_packed(&p);
    else
        put_loops_packed_in_turn(&p);
    ar_text_add(out, "return 0;\n}\n");
    return out->failed ? ar_fail_memory(err, out->capacity) : ARRAS_OK;
}
