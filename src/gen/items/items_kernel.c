/* items_kernel.c -- an index lambda as a kernel whose items compute a cell each. */
#include "gen/items/items.h"
#include "gen/kit/kit.h"

#include <stdio.h>
#include <string.h>

const ar_dialect *ar_dialect_find(const char *name)
{
    if (strcmp(name, "plain") == 0)
        return &ar_dialect_plain;
    return strcmp(name, "opencl") == 0 ? &ar_dialect_opencl : NULL;
}

/* ---- Numbers: the count of cells, the sizes, then for each operand its offset, lengths, strides
 */

static arras_array operand_of(const ar_kernel_form *form, int k)
{
    return k < form->n ? form->lambdas[k] : form->lambdas[0]->inputs[k - form->n];
}

static int operand_count(const ar_kernel_form *form) { return form->n + form->lambdas[0]->ninputs; }

static int64_t first_number(const ar_kernel_form *form, int operand)
{
    int64_t at = 1 + ar_size_count(form->lambdas[0]->graph);

    for (int k = 0; k < operand; k++)
        at += 1 + 2 * (int64_t)operand_of(form, k)->rank;
    return at;
}

int64_t ar_items_number_count(const ar_kernel_form *form)
{
    return first_number(form, operand_count(form));
}

void ar_items_numbers(int64_t *numbers, const ar_kernel_form *form, const int64_t *sizes,
                      const ar_item_operand *operands)
{
    int64_t *at = numbers + first_number(form, 0);
    int      nsizes = ar_size_count(form->lambdas[0]->graph);

    numbers[0] = 1;
    for (int axis = 0; axis < form->lambdas[0]->rank; axis++)
        numbers[0] *= operands[0].shape[axis];
    for (int i = 0; i < nsizes; i++)
        numbers[1 + i] = sizes[i];
    for (int k = 0; k < operand_count(form); k++) {
        int rank = operand_of(form, k)->rank;

        *at++ = operands[k].offset;
        for (int axis = 0; axis < rank; axis++)
            at[axis] = operands[k].shape[axis], at[rank + axis] = operands[k].strides[axis];
        at += 2 * (ptrdiff_t)rank;
    }
}

/* ---- The kernel ------------------------------------------------------------------------------ */

static bool is_dense(const ar_writer *w, int operand)
{
    return operand < w->form->n || w->form->dense[operand - w->form->n];
}

/* What is known now is a number in the text. */
static void print_axis(ar_writer *w, int operand, arras_array x, int axis)
{
    int64_t at = first_number(w->form, operand) + 1 + axis, stride;

    ar_text_printf(w->out, "const int64_t n%d_%d = ", operand, axis);
    if (ar_dim_symbolic(x->shape[axis]))
        ar_text_printf(w->out, "numbers[%" PRId64 "];\n", at);
    else
        ar_text_printf(w->out, "%" PRId64 ";\n", x->shape[axis]);
    if (operand < w->form->n) /* results are stored by the number of the cell */
        return;
    ar_text_printf(w->out, "const int64_t s%d_%d = ", operand, axis);
    if (is_dense(w, operand) && ar_kernel_stride(&stride, x, axis))
        ar_text_printf(w->out, "%" PRId64 ";\n", stride);
    else
        ar_text_printf(w->out, "numbers[%" PRId64 "];\n", at + x->rank);
}

static void print_operand(ar_writer *w, int operand)
{
    arras_array x = operand_of(w->form, operand);

    ar_text_printf(w->out, "%s%schar *const d%d = a%d + numbers[%" PRId64 "];\n",
                   w->dialect->global, operand < w->form->n ? "" : "const ", operand, operand,
                   first_number(w->form, operand));
    for (int axis = 0; axis < x->rank && !w->flat; axis++)
        if (operand >= w->form->n || operand == 0)
            print_axis(w, operand, x, axis);
}

/* The last index runs first: neighbours in memory are neighbours among the items. */
static void print_indices(ar_writer *w)
{
    int rank = w->lambda->rank;

    if (w->flat)
        ar_text_add(w->out, "const int64_t i = item;\n");
    if (w->flat || rank == 0)
        return;
    if (rank > 1)
        ar_text_add(w->out, "int64_t rest = item;\n");
    for (int axis = rank - 1; axis > 0; axis--)
        ar_text_printf(w->out, "const int64_t i%d = rest %% n0_%d;\nrest /= n0_%d;\n", axis, axis,
                       axis);
    ar_text_printf(w->out, "const int64_t i0 = %s;\n", rank > 1 ? "rest" : "item");
}

/* All are stored after all are computed: a result may take the place of an input. */
static void print_cells(ar_writer *w, const arras_expr *cells)
{
    for (int k = 0; k < w->form->n; k++)
        ar_w_put(w, cells[k]);
    for (int k = 0; k < w->form->n; k++) {
        arras_dtype dtype = w->form->lambdas[k]->type.dtype;

        ar_text_printf(w->out, "((%s%s *)d%d)[item] = ", w->dialect->global, ar_w_type(w, dtype),
                       k);
        ar_w_cast(w, cells[k], dtype);
        ar_text_add(w->out, ";\n");
    }
}

static void print_kernel(ar_writer *w, const arras_expr *cells, const char *name)
{
    bool may_fail = false;

    for (int k = 0; k < w->form->n; k++)
        may_fail = may_fail || ar_w_may_fail(w, cells[k]);
    w->dialect->open_items(w->out, name, w->form->n, operand_count(w->form));
    if (may_fail)
        ar_text_add(w->out, "int fault = 0;\n");
    for (int k = 0; k < operand_count(w->form); k++)
        print_operand(w, k);
    print_indices(w);
    print_cells(w, cells);
    if (may_fail)
        ar_text_add(w->out, "if (fault)\nSET_FAULT(flag);\n");
    ar_text_add(w->out, w->dialect->close_items);
}

const ar_shape ar_items_shape = { .sizes = "numbers[1 + ", .put_reduce = ar_items_put_reduce };

/* ---- What a dialect lacks -------------------------------------------------------------------- */

static arras_status check_ops(const ar_dialect *dialect, const ar_op_set *used, arras_error *err)
{
    for (int op = 0; op < AR_OP_END; op++)
        for (int d = ARRAS_NO_DTYPE + 1; d < ARRAS_DTYPE_END; d++)
            if (used->ops[op][d] && !ar_dialect_has(dialect, (ar_op)op, (arras_dtype)d))
                return ar_fail(err, ARRAS_EDTYPE, "%s has no %s of %s", dialect->name,
                               ar_op_name((ar_op)op), ar_dtype_name((arras_dtype)d));
    return ARRAS_OK;
}

arras_status ar_items_print(ar_text *out, ar_op_set *used, const ar_dialect *dialect,
                            const ar_kernel_form *form, const ar_nest *nest, const char *name,
                            arras_error *err)
{
    ar_writer   w = { .out = out,
                      .used = used,
                      .dialect = dialect,
                      .shape = &ar_items_shape,
                      .form = form,
                      .nest = nest,
                      .lambda = form->lambdas[0],
                      .flat = nest->flat };
    arras_expr *cells = ar_arena_alloc(&w.arena, (size_t)form->n, sizeof *cells);

    for (int k = 0; cells && k < form->n; k++)
        cells[k] = form->lambdas[k]->ref;
    if (cells && ar_w_open(&w, form->n, cells))
        print_kernel(&w, cells, name);
    else
        w.failed = true;
    ar_w_close(&w);
    if (out->failed)
        return ar_fail_memory(err, out->capacity);
    if (w.failed)
        return ar_fail(err, ARRAS_ELIMIT, "a kernel would be too long");
    return check_ops(dialect, used, err);
}

/* ---- What stands before kernels -------------------------------------------------------------- */

static void print_folds(ar_text *out, const ar_dialect *dialect, const ar_op_set *used)
{
    bool any = false;

    for (int op = 0; op < AR_OP_END; op++)
        for (int d = ARRAS_NO_DTYPE + 1; d < ARRAS_DTYPE_END; d++) {
            const char *name = ar_op_name((ar_op)op), *s = ar_dtype_name((arras_dtype)d);
            const char *type = ar_dialect_type(dialect, (arras_dtype)d);

            if (!used->folds[op][d])
                continue;
            if (!any)
                ar_text_printf(out, "%s%s%s", ar_kit_trees, ar_kit_folds, ar_kit_items);
            any = true;
            ar_text_printf(out, "FOLD_KIT(%s, %s, %s)\nLANES_END(%s, %s, %s)\n", name, s, type,
                           name, s, type);
            ar_text_printf(out, "ITEM_FOLD_KIT(%s, %s, %s)\n", name, s, type);
        }
}

void ar_items_head_print(ar_text *out, const ar_dialect *dialect, const ar_op_set *used)
{
    ar_words_ops_print(out, dialect, used);
    print_folds(out, dialect, used);
    ar_text_add(out, ar_kit_edges);
}
