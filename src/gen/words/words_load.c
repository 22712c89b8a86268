/* words_load.c -- reads of single cells: whether an index stays inside its axis, and what becomes
 * of one that does not. */
#include "gen/words/words.h"

#include <stdio.h>

/* ---- Bounds ---------------------------------------------------------------------------------- */

bool ar_w_integer(int64_t *out, arras_expr e)
{
    if (e->kind == AR_EXPR_CAST && e->type.dtype == ARRAS_I64)
        e = e->args[0];
    if (e->kind != AR_EXPR_LITERAL || e->type.dtype != ARRAS_I64)
        return false;
    *out = e->ints[0];
    return true;
}

bool ar_w_is_inside(ar_writer *w, arras_expr load, int axis)
{
    arras_array    x = w->lambda->inputs[load->ints[0]], cell = w->lambda;
    const ar_space space = { cell->graph, cell->rank, cell->shape, cell->ninputs, cell->inputs };
    ar_frame       frames[AR_W_NESTING];

    for (int k = 0; k < w->nesting; k++)
        frames[k] = (ar_frame){ .outer = k ? &frames[k - 1] : NULL,
                                .variable = w->variables[k].name,
                                .lo = w->variables[k].lo,
                                .hi = w->variables[k].hi };
    return ar_index_is_below(load->args[axis], x->shape[axis], &space,
                             w->nesting ? &frames[w->nesting - 1] : NULL);
}

bool ar_w_is_all_inside(ar_writer *w, arras_expr load)
{
    for (int axis = 0; axis < load->rank; axis++)
        if (!ar_w_is_inside(w, load, axis))
            return false;
    return true;
}

/* ---- Edge rules ------------------------------------------------------------------------------ */

int ar_w_operand(const ar_writer *w, arras_expr load) { return w->form->n + (int)load->ints[0]; }

/* Names of functions that all dialects have in their kits. */
static const char *const edge_functions[] = {
    [ARRAS_EDGE_NONE] = NULL,
    [ARRAS_EDGE_CONSTANT] = NULL,
    [ARRAS_EDGE_NEAREST] = "edge_nearest",
    [ARRAS_EDGE_REFLECT] = "edge_reflect",
    [ARRAS_EDGE_MIRROR] = "edge_mirror",
    [ARRAS_EDGE_WRAP] = "edge_wrap",
};

const char *ar_w_edge_function(arras_edge_rule rule) { return edge_functions[rule]; }

int ar_w_fill_number(arras_expr load, int axis)
{
    int fill = 0;

    for (int a = 0; a <= axis; a++)
        fill += load->ints[1 + a] == ARRAS_EDGE_CONSTANT;
    return fill;
}

/* An index above INT64_MAX is outside in any case, but some rules ask how far. */
void ar_w_print_index(ar_writer *w, arras_expr e, int axis)
{
    const char *rule = edge_functions[e->ints[1 + axis]];

    if (e->args[axis]->type.dtype != ARRAS_U64 || !rule || ar_w_is_inside(w, e, axis)) {
        ar_w_cast(w, e->args[axis], ARRAS_I64);
        return;
    }
    ar_text_printf(w->out, "far_%s(", rule);
    ar_w_name(w, e->args[axis]);
    ar_text_printf(w->out, ", n%d_%d)", ar_w_operand(w, e), axis);
}

void ar_w_put_index(ar_writer *w, arras_expr e, int axis)
{
    ar_text_printf(w->out, "int64_t j%" PRId64 "_%d = ", e->id, axis);
    ar_w_print_index(w, e, axis);
    ar_text_add(w->out, ";\n");
}

void ar_w_put_edge_rule(ar_writer *w, arras_expr e, int axis)
{
    arras_edge_rule rule = (arras_edge_rule)e->ints[1 + axis];
    int             operand = ar_w_operand(w, e);
    char            j[48], n[32], bad[32];

    if (ar_w_is_inside(w, e, axis))
        return;
    snprintf(j, sizeof j, "j%" PRId64 "_%d", e->id, axis);
    snprintf(n, sizeof n, "n%d_%d", operand, axis);
    snprintf(bad, sizeof bad, "b%" PRId64, e->id);
    if (rule == ARRAS_EDGE_CONSTANT)
        ar_text_printf(w->out,
                       "if ((uint64_t)%s >= (uint64_t)%s) f%" PRId64
                       " = %d, %s = edge_nearest(%s, %s);\n",
                       j, n, e->id, ar_w_fill_number(e, axis), j, j, n);
    else if (rule == ARRAS_EDGE_NONE && w->shape->gives_up)
        ar_text_printf(w->out, "if ((uint64_t)%s >= (uint64_t)%s) return 1;\n", j, n);
    else if (rule == ARRAS_EDGE_NONE)
        ar_text_printf(w->out, "if ((uint64_t)%s >= (uint64_t)%s) %s = 1, %s = 0;\n", j, n, bad, j);
    else if (w->shape->gives_up)
        ar_text_printf(w->out, "if (%s == 0) return 1;\n%s = %s(%s, %s);\n", n, j,
                       edge_functions[rule], j, n);
    else
        ar_text_printf(w->out, "if (%s == 0) %s = 1; else %s = %s(%s, %s);\n", n, bad, j,
                       edge_functions[rule], j, n);
}

/* Most often all are the same. */
int ar_w_last_fill(arras_expr e)
{
    int last = e->nargs - e->rank;

    while (last > 1 && e->args[e->rank + last - 1] == e->args[e->rank + last - 2])
        last--;
    return last;
}

/* "fill == 1 ? 0 : fill >= 2 ? 1 : " */
void ar_w_print_fills(ar_writer *w, arras_expr e, const char *name)
{
    int last = ar_w_last_fill(e);

    for (int fill = 1; fill <= last; fill++) {
        ar_text_printf(w->out, "%s %s %d ? ", name, fill == last ? ">=" : "==", fill);
        ar_w_cast(w, e->args[e->rank + fill - 1], e->type.dtype);
        ar_text_add(w->out, " : ");
    }
}

void ar_w_print_bool_test(ar_writer *w, arras_expr e)
{
    ar_text_add(w->out, e->type.dtype == ARRAS_BOOL ? " != 0" : "");
}

/* ---- One cell -------------------------------------------------------------------------------- */

static void put_flat_load(ar_writer *w, arras_expr e)
{
    ar_w_start(w, e);
    ar_text_printf(w->out, "((%sconst %s *)d%d)[%s]", w->dialect->global,
                   ar_w_type(w, e->type.dtype), ar_w_operand(w, e), e->rank ? "i" : "0");
    ar_w_print_bool_test(w, e);
    ar_text_add(w->out, ";\n");
}

static void print_cell(ar_writer *w, arras_expr e)
{
    ar_text_printf(w->out, "*(%sconst %s *)(d%d", w->dialect->global, ar_w_type(w, e->type.dtype),
                   ar_w_operand(w, e));
    for (int axis = 0; axis < e->rank; axis++)
        ar_text_printf(w->out, " + j%" PRId64 "_%d * s%d_%d", e->id, axis, ar_w_operand(w, e),
                       axis);
    ar_text_add(w->out, ")");
    ar_w_print_bool_test(w, e);
}

/* Kernels that do not give up go on without the cell. */
void ar_w_put_load(ar_writer *w, arras_expr e)
{
    bool        goes_on = !w->flat && !w->shape->gives_up && ar_w_load_may_fail(w, e);
    const char *type = ar_w_type(w, e->type.dtype);
    char        fill[32];

    if (w->flat) {
        put_flat_load(w, e);
        return;
    }
    for (int axis = 0; axis < e->rank; axis++)
        ar_w_put(w, e->args[axis]);
    ar_text_printf(w->out, "%s v%" PRId64 ";\n{\n", type, e->id);
    if (e->nargs > e->rank)
        ar_text_printf(w->out, "int f%" PRId64 " = 0;\n", e->id);
    if (goes_on)
        ar_text_printf(w->out, "int b%" PRId64 " = 0;\n", e->id);
    for (int axis = 0; axis < e->rank; axis++) {
        ar_w_put_index(w, e, axis);
        ar_w_put_edge_rule(w, e, axis);
    }
    if (goes_on)
        ar_text_printf(w->out, "fault |= b%" PRId64 ";\n", e->id);
    ar_text_printf(w->out, "v%" PRId64 " = ", e->id);
    snprintf(fill, sizeof fill, "f%" PRId64, e->id);
    ar_w_print_fills(w, e, fill);
    if (goes_on)
        ar_text_printf(w->out, "b%" PRId64 " ? (%s){ 0 } : ", e->id, type);
    print_cell(w, e);
    ar_text_add(w->out, ";\n}\n");
}
