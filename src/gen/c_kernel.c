/* c_kernel.c -- kernels: loops over a box of cells, and along its last axis a strip that computes
 * and stores them. */
#include "gen/c_writer.h"

#include <stdio.h>
#include <string.h>

static const char kit[] = {
#include "kernel_kit_bytes.inc"
    0
};

void ar_c_kernel_head_print(ar_text *out) { ar_text_put(out, kit, strlen(kit)); }

/* ---- Flat kernels ---------------------------------------------------------------------------- */

static bool load_is_of_own_cell(const ar_kernel_form *form, arras_expr load)
{
    arras_array lambda = form->lambdas[0], x = lambda->inputs[load->ints[0]];

    if (load->rank == 0)
        return true;
    if (!form->dense[load->ints[0]] || load->rank != lambda->rank)
        return false;
    for (int axis = 0; axis < load->rank; axis++)
        if (load->args[axis]->kind != AR_EXPR_INDEX || load->args[axis]->ints[0] != axis ||
            x->shape[axis] != lambda->shape[axis])
            return false;
    return true;
}

/* Depth is limited by AR_MAX_DEPTH; `seen` keeps shared parts from being looked at again. */
static bool is_flat(const ar_kernel_form *form, arras_expr e, bool *seen)
{
    if (e->kind == AR_EXPR_LOAD)
        return load_is_of_own_cell(form, e);
    if (e->kind == AR_EXPR_INDEX || e->kind == AR_EXPR_REDUCE)
        return false;
    if (seen[e->id])
        return true;
    seen[e->id] = true;
    for (int i = 0; i < e->nargs; i++)
        if (!is_flat(form, e->args[i], seen))
            return false;
    return true;
}

bool ar_kernel_is_flat(const ar_kernel_form *form)
{
    bool flat = form->lambdas[0]->rank > 0;

    for (int r = 0; r < form->n && flat; r++) {
        arras_expr cell = form->lambdas[r]->ref;
        bool      *seen = ar_alloc((size_t)cell->id + 1, sizeof *seen);

        flat = seen && is_flat(form, cell, seen);
        ar_free(seen);
    }
    return flat;
}

/* ---- Results --------------------------------------------------------------------------------- */

typedef struct {
    const ar_kernel_form *form;
    const arras_expr     *cells;
} results;

static arras_dtype result_dtype(const results *r, int k) { return r->form->lambdas[k]->type.dtype; }

/* rK is where the cells of a segment go: their place, or a buffer that is copied there. */
static void open_segment(ar_writer *w, void *self, const ar_c_strip *strip)
{
    const results *r = self;

    for (int k = 0; k < r->form->n; k++)
        ar_text_printf(w->out, "%s *const r%d = a->stream ? b%d : o%d + at%d;\n",
                       ar_c_type(result_dtype(r, k)), k, k, k, strip->number);
}

static void store_cell(ar_writer *w, void *self, const ar_c_strip *strip)
{
    const results *r = self;

    for (int k = 0; k < r->form->n; k++) {
        ar_text_printf(w->out, "r%d[e%d] = ", k, strip->number);
        ar_c_cast(w, r->cells[k], result_dtype(r, k));
        ar_text_add(w->out, ";\n");
    }
}

static void close_segment(ar_writer *w, void *self, const ar_c_strip *strip)
{
    const results *r = self;

    ar_text_add(w->out, "if (a->stream) {\n");
    for (int k = 0; k < r->form->n; k++)
        ar_text_printf(w->out,
                       "stream_out((char *)(o%d + at%d), (const char *)b%d, n%d * sizeof *b%d);\n",
                       k, strip->number, k, strip->number, k);
    ar_text_add(w->out, "}\n");
}

/* oK is where a row of result K starts. */
static void print_rows(ar_writer *w, const results *r)
{
    for (int k = 0; k < r->form->n; k++) {
        const char *type = ar_c_type(result_dtype(r, k));

        ar_text_printf(w->out, "%s *const o%d = (%s *)(d%d", type, k, type, k);
        for (int axis = 0; axis < w->lambda->rank - 1 && !w->flat; axis++)
            ar_text_printf(w->out, " + i%d * s%d_%d", axis, k, axis);
        ar_text_add(w->out, ");\n");
    }
}

/* ---- Loops ------------------------------------------------------------------------------------- */

/* Puts what depends on the indices of the loops so far only, where that is computed in any case.
 * Depth is limited by AR_MAX_DEPTH. */
static void hoist(ar_writer *w, arras_expr e, uint32_t loops, int64_t walk)
{
    int eager = e->kind == AR_EXPR_REDUCE ? 2 : ar_c_is_lazy(w, e) ? 1 : e->nargs;

    if (w->failed || ar_c_is_leaf(e) || w->facts[e->id].stamp >= walk)
        return;
    w->facts[e->id].stamp = walk;
    if (e->nfree == 0 && (e->uses & ~loops) == 0)
        ar_c_put(w, e);
    else
        for (int i = 0; i < eager; i++)
            hoist(w, e->args[i], loops, walk);
}

static void hoist_all(ar_writer *w, const results *r, uint32_t loops)
{
    int64_t walk = ++w->stamp;

    for (int k = 0; k < r->form->n; k++)
        hoist(w, r->cells[k], loops, walk);
}

static void print_strip(ar_writer *w, results *r)
{
    const ar_c_sink sink = { open_segment, store_cell, close_segment, r };
    const char     *from = "lo[0]", *to = "hi[0]";
    char            names[2][24];
    ar_c_strip      strip;

    ar_c_strip_cell(&strip, w);
    if (!w->flat) {
        snprintf(names[0], sizeof names[0], "lo[%d]", strip.axis);
        snprintf(names[1], sizeof names[1], "hi[%d]", strip.axis);
        from = names[0], to = names[1];
    }
    for (int k = 0; k < r->form->n; k++)
        strip.cell_bytes += (int)ar_dtype_size(result_dtype(r, k));
    ar_c_strip_open(w, &strip, r->form->n, r->cells);
    for (int k = 0; k < r->form->n; k++)
        ar_text_printf(w->out, "%s b%d[%d] ALIGNED;\n", ar_c_type(result_dtype(r, k)), k,
                       strip.segment);
    ar_c_strip_run(w, &strip, from, to, &sink);
    ar_c_strip_close(&strip);
}

static void print_box(ar_writer *w, results *r)
{
    int rank = w->lambda->rank, loops = w->flat ? 0 : rank - 1;

    for (int axis = 0; axis < (w->flat ? 1 : rank); axis++)
        ar_text_printf(w->out, "if (lo[%d] >= hi[%d]) return 0;\n", axis, axis);
    hoist_all(w, r, 0);
    for (int axis = 0; axis < loops; axis++) {
        ar_text_printf(w->out, "for (int64_t i%d = lo[%d]; i%d < hi[%d]; i%d++) {\n", axis, axis,
                       axis, axis, axis);
        hoist_all(w, r, ((uint32_t)2 << axis) - 1);
    }
    print_rows(w, r);
    print_strip(w, r);
    for (int axis = 0; axis < loops; axis++)
        ar_text_add(w->out, "}\n");
    ar_text_add(w->out, "if (a->stream) stream_end();\n");
}

static void print_one_cell(ar_writer *w, results *r)
{
    for (int k = 0; k < r->form->n; k++) {
        ar_c_put(w, r->cells[k]);
        ar_text_printf(w->out, "*(%s *)d%d = ", ar_c_type(result_dtype(r, k)), k);
        ar_c_cast(w, r->cells[k], result_dtype(r, k));
        ar_text_add(w->out, ";\n");
    }
}

/* ---- Kernels ------------------------------------------------------------------------------------ */

static void print_operand(ar_text *out, int operand, int rank)
{
    ar_text_printf(out, "char *const d%d = a->data[%d];\n", operand, operand);
    for (int axis = 0; axis < rank; axis++)
        ar_text_printf(out, "const int64_t s%d_%d = a->strides[%d][%d], n%d_%d = a->shapes[%d][%d];\n",
                       operand, axis, operand, axis, operand, axis, operand, axis);
}

static void print_operands(ar_writer *w)
{
    int n = w->form->n;

    for (int k = 0; k < n; k++)
        print_operand(w->out, k, w->flat ? 0 : w->lambda->rank);
    for (int k = 0; k < w->lambda->ninputs; k++)
        print_operand(w->out, n + k, w->flat ? 0 : w->lambda->inputs[k]->rank);
}

static void print_kernel(ar_writer *w, const arras_expr *cells, const char *name)
{
    results r = { w->form, cells };

    ar_text_printf(w->out,
                   "int %s(const ar_kernel_args *a, const int64_t *lo, const int64_t *hi)\n{\n"
                   "int fault = 0;\n",
                   name);
    print_operands(w);
    if (w->lambda->rank == 0)
        print_one_cell(w, &r);
    else
        print_box(w, &r);
    ar_text_add(w->out, "return fault;\n}\n");
}

static bool unroll_cells(ar_writer *w, arras_expr *cells)
{
    int64_t largest = 0;

    for (int k = 0; k < w->form->n; k++) {
        cells[k] = ar_c_unroll(w->form->lambdas[k]->ref);
        largest = ar_max64(largest, cells[k]->id);
    }
    w->facts = ar_alloc((size_t)largest + 1, sizeof *w->facts);
    return w->facts != NULL;
}

arras_status ar_c_kernel_print(ar_text *out, ar_op_set *used, const ar_kernel_form *form,
                               const char *name, arras_error *err)
{
    ar_writer   w = { .out = out, .used = used, .form = form, .lambda = form->lambdas[0] };
    arras_expr *cells = ar_arena_alloc(&w.arena, (size_t)form->n, sizeof *cells);

    w.flat = ar_kernel_is_flat(form);
    if (cells && unroll_cells(&w, cells))
        print_kernel(&w, cells, name);
    else
        w.failed = true;
    ar_free(w.facts);
    ar_free(w.changes);
    ar_arena_free(&w.arena);
    if (out->failed)
        return ar_fail_memory(err, out->capacity);
    return w.failed
               ? ar_fail(err, ARRAS_ELIMIT, "a kernel would be too long, or counts beyond 2**63")
               : ARRAS_OK;
}
