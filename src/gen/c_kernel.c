/* c_kernel.c -- an index lambda as a C function: loops over the cells around the statements of its
 * expression (c_expr.c). */
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
                     "} ar_kernel_args;\n");
    ar_text_add(out, edge_rules);
}

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
    for (int axis = 0; axis < rank; axis++) {
        if (axis == 0)
            ar_text_add(out, "    for (int64_t i0 = first; i0 < last; i0++)\n");
        else
            ar_text_printf(out, "    for (int64_t i%d = 0; i%d < n0_%d; i%d++)\n", axis, axis, axis,
                           axis);
    }
    ar_text_add(out, "    {\n");
}

arras_status ar_c_kernel_print(ar_text *out, ar_op_set *used, arras_array lambda, const char *name,
                               arras_error *err)
{
    arras_status status;

    ar_text_printf(out, "int %s(const ar_kernel_args *a, int64_t first, int64_t last)\n{\n", name);
    print_operand(out, 0, lambda->rank);
    for (int k = 0; k < lambda->ninputs; k++)
        print_operand(out, 1 + k, lambda->inputs[k]->rank);
    print_loops(out, lambda->rank);
    status = ar_c_cell_print(out, used, lambda, err);
    ar_text_add(out, "    }\n    return 0;\n}\n");
    return status;
}
