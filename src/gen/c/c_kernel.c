/* c_kernel.c -- kernels: loops over a box of cells, and along its last axis a strip that computes
 * and stores them. */
#include "gen/c/c_results.h"
#include "gen/nest/contraction.h"

#include <stdio.h>
#include <string.h>

/* Vectors that are kept in registers while short rows are computed. */
enum { MOST_SHARED = 24, MOST_SHARED_ROWS = 9 };

void ar_c_kernel_head_print(ar_text *out)
{
    ar_text_add(out, ar_kit_kernel);
    ar_text_add(out, ar_kit_edges);
    ar_text_add(out, ar_kit_stream);
}

/* ---- Short rows: several share a segment ----------------------------------------------------- */

static void store_lanes(ar_writer *w, const ar_c_strip *strip, int k, arras_expr cell)
{
    if (w->strips->lanes == ar_c_vector_cells(w->strips->vector_dtype)) {
        ar_text_printf(w->out, "*(%s *)(s%d + %s) = v%" PRId64 ";\n", w->strips->vector, k,
                       strip->name, cell->id);
        return;
    }
    if (w->form->machine->masks) {
        ar_text_printf(w->out, "PART_%s(s%d + %s, v%" PRId64 ", %d);\n", w->strips->vector, k,
                       strip->name, cell->id, w->strips->lanes);
        return;
    }
    for (int lane = 0; lane < w->strips->lanes; lane++)
        ar_text_printf(w->out, "s%d[%s + %d] = v%" PRId64 "[%d];\n", k, strip->name, lane, cell->id,
                       lane);
}

/* sK is where the cells of one of them go. */
static void store_short_cell(ar_writer *w, void *self, const ar_c_strip *strip)
{
    const ar_c_results *r = self;

    for (int k = 0; k < r->form->n; k++) {
        if (w->strips->lanes) {
            store_lanes(w, strip, k, r->cells[k]);
            continue;
        }
        if (w->strips->vector) {
            ar_text_printf(w->out, "if (past%d) PAST_%s(s%d, v%" PRId64 "); else *(%s *)", k,
                           w->strips->vector, k, r->cells[k]->id, w->strips->vector);
            ar_text_printf(w->out, "s%d = v%" PRId64 ";\n", k, r->cells[k]->id);
            continue;
        }
        ar_text_printf(w->out, "s%d[%s] = ", k, strip->name);
        ar_w_cast(w, r->cells[k], ar_c_result_dtype(r, k));
        ar_text_add(w->out, ";\n");
    }
}

/* sK is where the cells of row iA of result K go; cK, those of the first of these rows. */
static void print_short_row(ar_writer *w, const ar_c_results *r, int axis)
{
    for (int k = 0; k < r->form->n; k++)
        ar_text_printf(w->out, "%s *const s%d = c%d + (i%d - row%d) * %d;\n",
                       ar_c_type(ar_c_result_dtype(r, k)), k, k, axis, axis,
                       (int)w->nest->short_row);
}

static void open_row_loop(ar_writer *w, int axis)
{
    ar_text_printf(w->out, "for (int64_t i%d = row%d; i%d < row%d + rows; i%d++) {\n", axis, axis,
                   axis, axis, axis);
}

static void open_short_rows(ar_writer *w, const ar_c_results *r, int axis)
{
    enum { CELLS = 512 };
    int64_t length = w->nest->short_row;
    int64_t rows = (r->gathered ? r->gathered->cells : CELLS) / length;

    ar_text_printf(w->out, "const int64_t width = hi[%d] - lo[%d];\n", axis + 1, axis + 1);
    ar_text_printf(w->out,
                   "const int whole = lo[%d] == 0 && hi[%d] == %d, stream = a->stream && whole;\n"
                   "for (int64_t row%d = lo[%d], rows; row%d < hi[%d]; row%d += rows) {\n"
                   "rows = hi[%d] - row%d < %d ? hi[%d] - row%d : %d;\n",
                   axis + 1, axis + 1, (int)length, axis, axis, axis, axis, axis, axis, axis,
                   (int)rows, axis, axis, (int)rows);
    ar_c_put_buffers(w, r, rows * length);
    ar_c_put_row_starts(w, r, axis + 1);
    for (int k = 0; k < r->form->n && r->one_vector; k++)
        ar_c_put_past(w, k, "stream", "");
    for (int k = 0; k < r->form->n && !r->one_vector; k++)
        ar_text_printf(w->out, "enum { past%d = 0 };\n", k);
    for (int k = 0; k < r->form->n; k++)
        ar_text_printf(w->out, "%s *const c%d = stream && !past%d ? b%d : o%d;\n",
                       ar_c_type(ar_c_result_dtype(r, k)), k, k, k, k);
}

/* The cells of all rows that were gathered; where a box has parts of rows, they are put in their
 * places afterwards. */
static void print_gathered(ar_writer *w, const ar_c_results *r)
{
    int length = (int)w->nest->short_row, last = w->lambda->rank - 1;

    for (int k = 0; k < r->form->n; k++)
        ar_text_printf(w->out, "%s *const s%d = whole && !stream ? o%d : b%d;\n",
                       ar_c_type(ar_c_result_dtype(r, k)), k, k, k);
    ar_c_rows_open(w, r->gathered);
    for (int k = 0; k < r->form->n; k++)
        ar_w_put(w, r->cells[k]);
    store_short_cell(w, (void *)r, &r->gathered->strip);
    ar_text_add(w->out, "}\nif (!whole)\nfor (int64_t e = 0; e < rows * width; e++) {\n");
    for (int k = 0; k < r->form->n; k++)
        ar_text_printf(w->out, "o%d[e / width * %d + lo[%d] + e %% width] = b%d[e];\n", k, length,
                       last, k);
    ar_text_add(w->out, "}\n");
}

static void close_short_rows(ar_writer *w, const ar_c_results *r)
{
    for (int k = 0; k < r->form->n; k++)
        ar_text_printf(w->out,
                       "if (stream && !past%d)\n"
                       "a->stream((char *)o%d, (const char *)b%d, rows * %d * sizeof *b%d);\n",
                       k, k, k, (int)w->nest->short_row, k);
    ar_text_add(w->out, "}\n");
}

/* ---- Loops ----------------------------------------------------------------------------------- */

/* Puts what depends on the indices of the loops so far only, where that is computed in any case.
 * Depth is limited by AR_MAX_DEPTH. */
static void hoist(ar_writer *w, arras_expr e, uint32_t loops, int64_t walk)
{
    int eager = e->kind == AR_EXPR_REDUCE ? 2 : ar_w_is_lazy(w, e) ? 1 : e->nargs;

    if (w->failed || ar_w_is_leaf(e) || w->facts[e->id].stamp >= walk)
        return;
    w->facts[e->id].stamp = walk;
    if (e->nfree == 0 && (e->uses & ~loops) == 0)
        ar_w_put(w, e);
    else
        for (int i = 0; i < eager; i++)
            hoist(w, e->args[i], loops, walk);
}

static void hoist_all(ar_writer *w, const ar_c_results *r, uint32_t loops)
{
    int64_t walk = ++w->stamp;

    for (int k = 0; k < r->form->n; k++)
        hoist(w, r->cells[k], loops, walk);
}

/* Gives whether the strip is for the runs that were asked for; if not it is for all. */
static bool print_strip(ar_writer *w, ar_c_results *r, ar_c_runs runs)
{
    const ar_c_sink long_rows = ar_c_long_rows(r);
    const ar_c_sink short_rows = { .cell = store_short_cell, .self = r };
    char            from[24], to[24];
    ar_c_strip      strip;

    ar_c_strip_cell(&strip, w);
    snprintf(from, sizeof from, "lo[%d]", w->flat ? 0 : strip.axis);
    snprintf(to, sizeof to, "hi[%d]", w->flat ? 0 : strip.axis);
    if (r->is_short)
        strip.length = w->nest->short_row;
    for (int k = 0; k < r->form->n; k++)
        strip.cell_bytes += (int)ar_dtype_size(ar_c_result_dtype(r, k));
    strip.most = (int)strip.length;
    strip.vectors = r->is_short ? r->vectors && runs == AR_C_WHOLE_RUN : true;
    ar_c_strip_open(w, &strip, r->form->n, r->cells);
    strip.runs = ar_c_strip_is_short(&strip) || runs == AR_C_PART_RUN ? runs : AR_C_ANY_RUN;
    strip.past = strip.vectors && !strip.sparse && !r->is_short;
    r->streams = r->is_short || !strip.sparse;
    if (!r->is_short && r->streams)
        ar_c_put_buffers(w, r, strip.segment);
    ar_c_strip_run(w, &strip, from, to, r->is_short ? &short_rows : &long_rows);
    ar_c_strip_close(&strip);
    return strip.runs == runs;
}

static uint32_t loops_to(int axis) { return ((uint32_t)2 << axis) - 1; }

static void open_loop(ar_writer *w, const ar_c_results *r, int axis)
{
    ar_text_printf(w->out, "for (int64_t i%d = lo[%d]; i%d < hi[%d]; i%d++) {\n", axis, axis, axis,
                   axis, axis);
    hoist_all(w, r, loops_to(axis));
}

/* ---- Short rows in their loop ---------------------------------------------------------------- */

/* Reads of the cells, which are all inside; `shared` are those that every row has. */
typedef struct {
    const ar_c_strip *strip;
    arras_expr        shared[MOST_SHARED];
    int               nshared, nrows; /* those that are rows as they are in memory */
    int64_t           walk;
} short_reads;

/* What is put together of single cells is well worth its register, or a place on the stack. */
static void share(short_reads *reads, const ar_writer *w, arras_expr load)
{
    bool row = ar_c_row_step(w, reads->strip, load) == 1;

    if (load->type.dtype != w->lambda->type.dtype) /* an index, which is no vector */
        return;
    if (reads->nshared == MOST_SHARED || (row && reads->nrows == MOST_SHARED_ROWS))
        return;
    reads->nrows += row;
    reads->shared[reads->nshared++] = load;
}

/* False: some read may be outside.  Depth is limited by AR_MAX_DEPTH. */
static bool find_reads(short_reads *reads, ar_writer *w, arras_expr e)
{
    uint32_t last = (uint32_t)1 << (w->lambda->rank - 1), row = last >> 1;

    if (w->facts[e->id].stamp >= reads->walk)
        return true;
    w->facts[e->id].stamp = reads->walk;
    if (e->kind == AR_EXPR_LOAD && !ar_w_is_all_inside(w, e))
        return false;
    if (e->kind == AR_EXPR_LOAD && (e->uses & last) && !(e->uses & row) && e->nfree == 0)
        share(reads, w, e);
    for (int i = 0; i < e->nargs; i++)
        if (!find_reads(reads, w, e->args[i]))
            return false;
    return true;
}

/* Rows that fill a vector, or that are put together of single cells anyway and fill half of one. */
static void find_vectors(short_reads *reads, ar_writer *w, ar_c_results *r)
{
    int        cells = ar_c_vector_cells(ar_c_result_dtype(r, 0));
    ar_c_strip strip;

    ar_c_strip_cell(&strip, w);
    strip.length = w->nest->short_row;
    r->vectors = 2 * strip.length >= cells &&
                 ar_c_cells_are_vectors(w, &strip, r->form->n, r->cells) &&
                 (strip.lanes || strip.length == cells);
    *reads = (short_reads){ .strip = &strip, .walk = ++w->stamp };
    for (int k = 0; k < r->form->n && r->vectors; k++)
        r->vectors = find_reads(reads, w, r->cells[k]);
    r->one_vector = r->vectors && !strip.lanes;
    r->lanes = r->vectors && strip.lanes && strip.length <= cells ? (int)strip.length : 0;
}

/* Before the loop over rows: a compiler cannot know that these cells stay as they are in it. */
static void put_shared(ar_writer *w, const ar_c_results *r, const short_reads *reads)
{
    ar_c_strip strip;

    if (reads->nshared == 0)
        return;
    ar_c_strip_cell(&strip, w);
    ar_c_strip_open(w, &strip, reads->nshared, reads->shared);
    ar_c_put_shared_vectors(w, &strip, r->lanes);
    ar_c_strip_close(&strip);
}

static bool print_row_loop(ar_writer *w, ar_c_results *r, int axis, ar_c_runs runs)
{
    size_t mark = w->nchanges;
    bool   as_asked;

    open_row_loop(w, axis);
    print_short_row(w, r, axis);
    hoist_all(w, r, loops_to(axis));
    as_asked = print_strip(w, r, runs);
    ar_text_add(w->out, "}\n");
    ar_w_forget(w, mark);
    return as_asked;
}

/* Once for boxes of whole rows and, where that makes a difference, once for others. */
static void print_row_loops(ar_writer *w, ar_c_results *r, int axis, const short_reads *reads)
{
    size_t   mark = w->nchanges;
    ar_text  whole = { 0 };
    ar_text *out = w->out;
    bool     twice;

    w->out = &whole;
    if (r->one_vector || r->lanes)
        put_shared(w, r, reads);
    twice = print_row_loop(w, r, axis, AR_C_WHOLE_RUN);
    ar_w_forget(w, mark);
    w->out = out;
    ar_text_add(out, twice ? "if (whole) {\n" : "");
    ar_text_put(out, whole.data ? whole.data : "", whole.length);
    out->failed = out->failed || whole.failed;
    ar_text_free(&whole);
    if (!twice)
        return;
    ar_text_add(out, "} else {\n");
    print_row_loop(w, r, axis, AR_C_PART_RUN);
    ar_text_add(out, "}\n");
}

static void print_gathered_loop(ar_writer *w, const ar_c_results *r, int axis)
{
    size_t mark = w->nchanges;

    ar_c_rows_declare(w, r->gathered);
    open_row_loop(w, axis);
    hoist_all(w, r, loops_to(axis));
    ar_c_rows_gather(w, r->gathered, w->nest->short_row);
    ar_text_add(w->out, "}\n");
    ar_w_forget(w, mark);
    print_gathered(w, r);
}

/* Boxes of whole rows as wide vectors, into which several rows go; others cell by cell. */
static void print_wide_rows(ar_writer *w, ar_c_results *r, int axis, const short_reads *reads)
{
    size_t  mark = w->nchanges;
    int64_t length = w->nest->short_row;

    ar_text_add(w->out, "if (whole) {\n");
    if (r->lanes)
        put_shared(w, r, reads);
    ar_c_rows_declare(w, r->gathered);
    open_row_loop(w, axis);
    hoist_all(w, r, loops_to(axis));
    ar_c_rows_gather_vectors(w, r->gathered, length);
    ar_text_add(w->out, "}\n");
    ar_w_forget(w, mark);
    ar_c_rows_open_vectors(w, r->gathered, length, ar_c_result_dtype(r, 0));
    for (int k = 0; k < r->form->n; k++)
        ar_w_put(w, r->cells[k]);
    for (int k = 0; k < r->form->n; k++)
        ar_text_printf(w->out, "PART_%s(c%d + %s, v%" PRId64 ", left);\n", w->strips->vector, k,
                       r->gathered->strip.name, r->cells[k]->id);
    ar_c_rows_close_vectors(w);
    ar_w_forget(w, mark);
    ar_text_add(w->out, "} else {\n");
    print_row_loop(w, r, axis, AR_C_PART_RUN);
    ar_text_add(w->out, "}\n");
}

/* Rows of which a quarter would be empty lanes, or more. */
static bool leaves_lanes_empty(const ar_writer *w, const ar_c_results *r)
{
    int64_t cells = ar_c_vector_cells(ar_c_result_dtype(r, 0)), length = w->nest->short_row;
    int64_t lanes = (length + cells - 1) / cells * cells;

    return 4 * length <= 3 * lanes;
}

static void print_short_rows(ar_writer *w, ar_c_results *r)
{
    int         axis = w->lambda->rank - 2;
    ar_c_rows   rows;
    short_reads reads;
    bool        wide;

    find_vectors(&reads, w, r);
    r->gathered = !r->one_vector && ar_c_rows_find(&rows, w, r->form->n, r->cells) ? &rows : NULL;
    wide = r->gathered && r->vectors && leaves_lanes_empty(w, r) &&
           ar_c_rows_are_vectors(&rows, w, ar_c_result_dtype(r, 0));
    if (r->vectors && !wide)
        r->gathered = NULL;
    if (wide)
        ar_c_rows_declare_picks(w, &rows, w->nest->short_row, ar_c_result_dtype(r, 0));
    open_short_rows(w, r, axis);
    if (wide)
        print_wide_rows(w, r, axis, &reads);
    else if (r->gathered)
        print_gathered_loop(w, r, axis);
    else
        print_row_loops(w, r, axis, &reads);
    close_short_rows(w, r);
    r->gathered = NULL;
}

static void print_box(ar_writer *w, ar_c_results *r)
{
    int rank = w->lambda->rank, loops = w->flat ? 0 : rank - 1;

    r->is_short = w->nest->short_row > 0;
    r->streams = r->is_short;
    for (int axis = 0; axis < (w->flat ? 1 : rank); axis++)
        ar_text_printf(w->out, "if (lo[%d] >= hi[%d]) return 0;\n", axis, axis);
    hoist_all(w, r, 0);
    for (int axis = 0; axis < loops - r->is_short; axis++)
        open_loop(w, r, axis);
    if (r->is_short) {
        print_short_rows(w, r);
    } else {
        ar_c_put_row_starts(w, r, loops);
        print_strip(w, r, AR_C_ANY_RUN);
    }
    for (int axis = r->is_short; axis < loops; axis++)
        ar_text_add(w->out, "}\n");
    if (r->streams)
        ar_text_add(w->out, "if (a->stream) stream_end();\n");
}

static void print_one_cell(ar_writer *w, ar_c_results *r)
{
    for (int k = 0; k < r->form->n; k++) {
        ar_w_put(w, r->cells[k]);
        ar_text_printf(w->out, "*(%s *)d%d = ", ar_c_type(ar_c_result_dtype(r, k)), k);
        ar_w_cast(w, r->cells[k], ar_c_result_dtype(r, k));
        ar_text_add(w->out, ";\n");
    }
}

/* ---- Kernels --------------------------------------------------------------------------------- */

/* Of a result: rows alone are as they are in the whole array. */
static bool result_stride(int64_t *out, arras_array x, int axis)
{
    *out = (int64_t)ar_dtype_size(x->type.dtype);
    return axis == x->rank - 1;
}

/* Lengths that are known are numbers, so that indices which are checked against several are checked
 * once; so are strides, where cells lie side by side. */
static void print_operand(ar_writer *w, int operand, arras_array x)
{
    ar_text *out = w->out;
    int      input = operand - w->form->n, rank = w->flat ? 0 : x->rank;
    int64_t  stride;

    ar_text_printf(out, "char *const d%d = a->data[%d];\n", operand, operand);
    for (int axis = 0; axis < rank; axis++) {
        ar_text_printf(out, "const int64_t s%d_%d = ", operand, axis);
        if (input < 0 ? result_stride(&stride, x, axis)
                      : ar_kernel_input_stride(&stride, w->form, input, axis))
            ar_text_printf(out, "%" PRId64 "ll", stride);
        else
            ar_text_printf(out, "a->strides[%d][%d]", operand, axis);
        ar_text_printf(out, ", n%d_%d = ", operand, axis);
        if (ar_dim_symbolic(x->shape[axis]))
            ar_text_printf(out, "a->shapes[%d][%d];\n", operand, axis);
        else
            ar_text_printf(out, "%" PRId64 ";\n", x->shape[axis]);
    }
}

static void print_operands(ar_writer *w)
{
    for (int k = 0; k < w->form->n; k++)
        print_operand(w, k, w->form->lambdas[k]);
    for (int k = 0; k < w->lambda->ninputs; k++)
        print_operand(w, w->form->n + k, w->lambda->inputs[k]);
}

/* What a kernel needs as a whole is known when its loops are written. */
static void print_kernel(ar_writer *w, const arras_expr *cells, const char *name)
{
    ar_c_results r = { .form = w->form, .cells = cells };
    ar_text      body = { 0 };
    ar_text     *out = w->out;

    w->out = &body;
    if (w->lambda->rank == 0)
        print_one_cell(w, &r);
    else
        print_box(w, &r);
    w->out = out;
    ar_text_printf(out,
                   "%sint %s(const ar_kernel_args *a, const int64_t *lo, const int64_t *hi)\n{\n"
                   "int fault = 0;\nconst int far = a->far;\n",
                   w->strips->in_order ? "IN_ORDER " : "", name);
    print_operands(w);
    ar_text_put(out, w->strips->top.data ? w->strips->top.data : "", w->strips->top.length);
    ar_text_put(out, body.data ? body.data : "", body.length);
    ar_text_add(out, "vectors_end();\nreturn fault;\n}\n");
    out->failed = out->failed || body.failed || w->strips->top.failed;
    ar_text_free(&w->strips->top);
    ar_text_free(&body);
}

arras_status ar_c_kernel_print(ar_text *out, ar_op_set *used, const ar_kernel_form *form,
                               const ar_nest *nest, const char *name, arras_error *err)
{
    ar_c_strips strips = { .vector = NULL };
    ar_writer   w = { .out = out,
                      .used = used,
                      .dialect = &ar_dialect_c,
                      .shape = &ar_c_strips_shape,
                      .strips = &strips,
                      .form = form,
                      .nest = nest,
                      .lambda = form->lambdas[0],
                      .flat = nest->flat };
    arras_expr *cells;

    if (nest->contraction) {
        used->loops = true;
        return ar_c_contraction_print(out, used, form, nest->contraction, name, err);
    }
    cells = ar_arena_alloc(&w.arena, (size_t)form->n, sizeof *cells);
    for (int k = 0; cells && k < form->n; k++)
        cells[k] = ar_c_unroll(form->lambdas[k]->ref);
    if (cells && ar_w_open(&w, form->n, cells))
        print_kernel(&w, cells, name);
    else
        w.failed = true;
    ar_w_close(&w);
    if (out->failed)
        return ar_fail_memory(err, out->capacity);
    return w.failed ? ar_fail(err, ARRAS_ELIMIT, "a kernel would be too long") : ARRAS_OK;
}
