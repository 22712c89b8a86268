/* c_kernel.c -- an index lambda as a C function: loops over the cells around the statements of its
 * expression (c_expr.c). */
#include "gen/c_contract.h"
#include "gen/c_expr.h"

/* Bring an index j inside an axis of length n, or give up. */
static const char edge_rules[] =
    "#define EDGE_NONE(j, n) if ((uint64_t)j >= (uint64_t)n) return 1;\n"
    "#define EDGE_NEAREST(j, n) if (n == 0) return 1; j = j < 0 ? 0 : j >= n ? n - 1 : j;\n"
    "#define EDGE_WRAP(j, n) if (n == 0) return 1; j %= n; if (j < 0) j += n;\n"
    "#define EDGE_REFLECT(j, n) EDGE_WRAP(j, (2 * n)) if (j >= n) j = 2 * n - 1 - j;\n"
    "#define EDGE_MIRROR(j, n) if (n == 1) j = 0; else if (n == 0) return 1; \\\n"
    "    else { EDGE_WRAP(j, (2 * n - 2)) if (j >= n) j = 2 * n - 2 - j; }\n";

void ar_c_kernel_head_print(ar_text *out)
{
    ar_text_add(out, "typedef struct {\n"
                     "    char *const *data;\n"
                     "    const int64_t *const *strides;\n"
                     "    const int64_t *const *shapes;\n"
                     "    const int64_t *sizes;\n"
                     "    int64_t stream;\n"
                     "} ar_kernel_args;\n");
    ar_text_add(out, edge_rules);
}

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

/* ---- Kernels --------------------------------------------------------------------------------- */

/* d1 is the data of operand 1, s1_0 its stride and n1_0 its length along axis 0. */
static void print_operand(ar_text *out, int operand, int rank)
{
    ar_text_printf(out, "    char *const d%d = a->data[%d];\n", operand, operand);
    for (int axis = 0; axis < rank; axis++)
        ar_text_printf(
            out, "    const int64_t s%d_%d = a->strides[%d][%d], n%d_%d = a->shapes[%d][%d];\n",
            operand, axis, operand, axis, operand, axis, operand, axis);
}

static void print_loops(ar_text *out, int rank)
{
    for (int axis = 0; axis < rank; axis++)
        ar_text_printf(out, "    for (int64_t i%d = lo[%d]; i%d < hi[%d]; i%d++)\n", axis, axis,
                       axis, axis, axis);
    ar_text_add(out, "    {\n");
}

arras_status ar_c_kernel_print(ar_text *out, ar_op_set *used, const ar_kernel_form *form,
                               const char *name, arras_error *err)
{
    arras_array    lambda = form->lambdas[0];
    ar_contraction contraction;
    arras_status   status;

    if (ar_c_contraction_match(&contraction, form))
        return ar_c_contraction_print(out, used, &contraction, name, err);
    ar_text_printf(out, "int %s(const ar_kernel_args *a, const int64_t *lo, const int64_t *hi)\n{\n",
                   name);
    for (int r = 0; r < form->n; r++)
        print_operand(out, r, lambda->rank);
    for (int k = 0; k < lambda->ninputs; k++)
        print_operand(out, form->n + k, lambda->inputs[k]->rank);
    if (ar_kernel_is_flat(form))
        ar_text_add(out, "    for (int64_t i = lo[0]; i < hi[0]; i++)\n    {\n");
    else
        print_loops(out, lambda->rank);
    status = ar_c_cell_print(out, used, form, err);
    ar_text_add(out, "    }\n    return 0;\n}\n");
    return status;
}
