/* print_node.c -- one node as text: what stands right of "%3 = ", with sizes and types. */
#include "notation/parts.h"

#include <stdlib.h>
#include <string.h>

/* ---- Printers -------------------------------------------------------------------------------- */

arras_status ar_printer_open(ar_printer *p, ar_text *out, const arras_graph *g, bool brief,
                             arras_error *err)
{
    size_t nsizes = (size_t)ar_size_count(g), nnodes = (size_t)ar_graph_count(g);

    *p = (ar_printer){ .out = out,
                       .g = g,
                       .brief = brief,
                       .numbers = ar_alloc(nnodes, sizeof *p->numbers),
                       .positions = ar_alloc(nsizes, sizeof *p->positions),
                       .sizes = ar_alloc(nsizes, sizeof *p->sizes) };
    if (!p->numbers || !p->positions || !p->sizes) {
        ar_printer_close(p);
        return ar_fail_memory(err, nnodes * sizeof *p->numbers);
    }
    for (size_t i = 0; i < nsizes; i++)
        p->positions[i] = -1;
    return ARRAS_OK;
}

void ar_printer_close(ar_printer *p)
{
    ar_free(p->numbers);
    ar_free(p->positions);
    ar_free(p->sizes);
    ar_expr_walk_free(&p->walk);
}

void ar_print_line_start(ar_printer *p)
{
    for (int i = 0; i < p->indent; i++)
        ar_text_add(p->out, "    ");
}

/* ---- Sizes and types ------------------------------------------------------------------------- */

/* Terms are printed in the order in which their sizes are first used, new ones by name: it must not
 * depend on the order in which sizes were recorded. */
typedef struct {
    int         position, size;
    int64_t     factor;
    const char *name;
} term;

static int compare_terms(const void *a, const void *b)
{
    const term *x = a, *y = b;

    if (x->position != y->position)
        return x->position < 0 ? 1 : y->position < 0 ? -1 : x->position - y->position;
    return strcmp(x->name, y->name);
}

static term *sorted_terms(ar_printer *p, const ar_affine *affine)
{
    term *terms = ar_alloc((size_t)affine->nterms, sizeof *terms);

    for (int i = 0; terms && i < affine->nterms; i++) {
        int size = affine->terms[i].size;

        terms[i] =
            (term){ p->positions[size], size, affine->terms[i].factor, ar_size_name(p->g, size) };
    }
    if (terms)
        qsort(terms, (size_t)affine->nterms, sizeof *terms, compare_terms);
    return terms;
}

static void use_size(ar_printer *p, const term *t)
{
    if (p->positions[t->size] >= 0)
        return;
    p->sizes[p->nsizes] = t->name;
    p->positions[t->size] = p->nsizes++;
}

static uint64_t magnitude(int64_t x) { return x < 0 ? 0 - (uint64_t)x : (uint64_t)x; }

static void print_sign(ar_printer *p, bool first, bool negative)
{
    ar_text_add(p->out, first ? (negative ? "-" : "") : negative ? " - " : " + ");
}

static void print_term(ar_printer *p, bool first, const term *t)
{
    print_sign(p, first, t->factor < 0);
    if (magnitude(t->factor) != 1)
        ar_text_printf(p->out, "%" PRIu64 "*", magnitude(t->factor));
    ar_text_add(p->out, t->name);
}

void ar_print_dim(ar_printer *p, arras_dim dim)
{
    const ar_affine *affine = ar_dim_affine(p->g, dim);
    term            *terms;

    if (!affine) {
        ar_text_printf(p->out, "%" PRId64, dim);
        return;
    }
    terms = sorted_terms(p, affine);
    if (!terms) {
        p->out->failed = true;
        return;
    }
    for (int i = 0; i < affine->nterms; i++) {
        use_size(p, &terms[i]);
        print_term(p, i == 0, &terms[i]);
    }
    if (affine->constant != 0) {
        print_sign(p, false, affine->constant < 0);
        ar_text_printf(p->out, "%" PRIu64, magnitude(affine->constant));
    }
    ar_free(terms);
}

void ar_print_dims(ar_printer *p, int rank, const arras_dim *dims)
{
    ar_text_add(p->out, "[");
    for (int d = 0; d < rank; d++) {
        ar_text_add(p->out, d ? ", " : "");
        ar_print_dim(p, dims[d]);
    }
    ar_text_add(p->out, "]");
}

void ar_print_type(ar_printer *p, ar_type type, int rank, const arras_dim *shape)
{
    ar_text_add(p->out, ar_type_word(type));
    if (!type.weak || rank > 0)
        ar_print_dims(p, rank, shape);
}

/* ---- Operands and options -------------------------------------------------------------------- */

void ar_print_operand(ar_printer *p, arras_array x)
{
    if (x->kind == AR_INPUT || x->kind == AR_PARAM)
        ar_text_add(p->out, x->name);
    else
        ar_text_printf(p->out, "%%%" PRId64, p->numbers[x->id]);
}

static void print_operands(ar_printer *p, int n, const arras_array *xs)
{
    for (int i = 0; i < n; i++) {
        ar_text_add(p->out, i ? ", " : "");
        ar_print_operand(p, xs[i]);
    }
}

/* word(operands */
static void print_opening(ar_printer *p, const char *word, int n, const arras_array *xs)
{
    ar_text_printf(p->out, "%s(", word);
    print_operands(p, n, xs);
}

static void print_numbers(ar_printer *p, const char *option, int n, const int64_t *numbers)
{
    ar_text_printf(p->out, ", %s=[", option);
    for (int i = 0; i < n; i++)
        ar_text_printf(p->out, "%s%" PRId64, i ? ", " : "", numbers[i]);
    ar_text_add(p->out, "]");
}

static void print_axes(ar_printer *p, uint32_t mask)
{
    int64_t axes[ARRAS_MAX_RANK];
    int     n = 0;

    for (int axis = 0; axis < ARRAS_MAX_RANK; axis++)
        if (mask >> axis & 1)
            axes[n++] = axis;
    print_numbers(p, "axes", n, axes);
}

/* ---- Data ------------------------------------------------------------------------------------ */

enum { BRIEF_CELLS = 8, LINE_WIDTH = 80 };

/* The next index in row-major order; *offset follows it through the strides.  Unsigned: the stride
 * of an axis of length 1 may be any number. */
static void step_cell(arras_array x, int64_t *index, uint64_t *offset)
{
    for (int d = x->rank - 1; d >= 0; d--) {
        *offset += (uint64_t)x->ints[d];
        if (++index[d] < x->shape[d])
            return;
        *offset -= (uint64_t)index[d] * (uint64_t)x->ints[d];
        index[d] = 0;
    }
}

static size_t column(const ar_printer *p)
{
    size_t at = p->out->length;

    while (at > 0 && !p->out->failed && p->out->data[at - 1] != '\n')
        at--;
    return p->out->length - at;
}

static void break_line(ar_printer *p)
{
    ar_text_add(p->out, "\n    ");
    ar_print_line_start(p);
}

static void print_cells(ar_printer *p, arras_array x, int64_t count)
{
    int64_t     index[ARRAS_MAX_RANK] = { 0 };
    uint64_t    offset = 0;
    const char *cells = x->ref;

    for (int64_t i = 0; i < count && !p->out->failed; i++) {
        ar_text_add(p->out, i ? "," : "");
        if (column(p) >= LINE_WIDTH)
            break_line(p);
        else
            ar_text_add(p->out, " ");
        ar_value_print(p->out, x->type.dtype, cells + (int64_t)offset);
        step_cell(x, index, &offset);
    }
}

static void print_data(ar_printer *p, arras_array x)
{
    int64_t count = ar_cells(x->rank, x->shape);
    bool    cut = p->brief && count > BRIEF_CELLS;

    ar_text_add(p->out, "data ");
    ar_print_type(p, x->type, x->rank, x->shape);
    ar_text_add(p->out, " {");
    print_cells(p, x, cut ? BRIEF_CELLS : count);
    ar_text_add(p->out, cut ? ", ... }" : " }");
}

/* ---- Kinds ----------------------------------------------------------------------------------- */

static void print_const(ar_printer *p, arras_array x)
{
    ar_text_printf(p->out, "const %s ", ar_type_word(x->type));
    ar_value_print(p->out, x->type.dtype, x->ints);
}

static void print_size(ar_printer *p, arras_array x)
{
    ar_text_add(p->out, "size(");
    ar_print_dim(p, x->ints[0]);
    ar_text_add(p->out, ")");
}

static void print_reduce(ar_printer *p, arras_array x)
{
    uint32_t mask = (uint32_t)x->ints[1], all = 0;

    for (int d = 0; d < x->inputs[0]->rank; d++)
        all |= (uint32_t)1 << d;
    print_opening(p, ar_reduction_name((ar_reduction)x->ints[0]), 1, x->inputs);
    if (mask != all)
        print_axes(p, mask);
    if (x->ints[2])
        ar_text_add(p->out, ", keepdims");
    if (x->ninputs > 1) {
        ar_text_add(p->out, ", initial=");
        ar_print_operand(p, x->inputs[1]);
    }
    ar_text_add(p->out, ")");
}

static void print_einsum(ar_printer *p, arras_array x)
{
    ar_text_printf(p->out, "einsum(\"%s\", ", x->name);
    print_operands(p, x->ninputs, x->inputs);
    ar_text_add(p->out, ")");
}

static void print_reshape(ar_printer *p, arras_array x)
{
    print_opening(p, "reshape", 1, x->inputs);
    ar_text_add(p->out, ", ");
    ar_print_dims(p, x->rank, x->shape);
    ar_text_add(p->out, x->ints[0] == 'F' ? ", order=F)" : ")");
}

static void print_slice(ar_printer *p, const int64_t *item, arras_dim whole)
{
    if (item[AR_ITEM_START] == 0 && item[AR_ITEM_STEP] == 1 && item[AR_ITEM_LENGTH] == whole) {
        ar_text_add(p->out, "all");
        return;
    }
    ar_text_add(p->out, "from ");
    ar_print_dim(p, item[AR_ITEM_START]);
    ar_text_add(p->out, " take ");
    ar_print_dim(p, item[AR_ITEM_LENGTH]);
    if (item[AR_ITEM_STEP] != 1)
        ar_text_printf(p->out, " step %" PRId64, item[AR_ITEM_STEP]);
}

static void print_index(ar_printer *p, arras_array x)
{
    const int64_t *item = x->ints;
    int            axis = 0;

    print_opening(p, "index", 1, x->inputs);
    for (int i = 0; i < x->nints / AR_ITEM_INTS; i++, item += AR_ITEM_INTS) {
        ar_text_add(p->out, ", ");
        if (item[AR_ITEM_KIND] == ARRAS_NEWAXIS) {
            ar_text_add(p->out, "newaxis");
        } else if (item[AR_ITEM_KIND] == ARRAS_AT) {
            ar_text_add(p->out, "at ");
            ar_print_dim(p, item[AR_ITEM_START]);
            axis++;
        } else {
            print_slice(p, item, x->inputs[0]->shape[axis++]);
        }
    }
    ar_text_add(p->out, ")");
}

static void print_gather(ar_printer *p, arras_array x)
{
    print_opening(p, "gather", x->ninputs, x->inputs);
    print_axes(p, (uint32_t)x->ints[0]);
    ar_text_printf(p->out, ", place=%" PRId64 ")", x->ints[1]);
}

static arras_status print_lambda(ar_printer *p, arras_array x, arras_error *err)
{
    print_opening(p, "lambda", x->ninputs, x->inputs);
    ar_text_add(p->out, ") ");
    return ar_print_cell(p, x->ref, err);
}

static void print_call(ar_printer *p, arras_array x)
{
    ar_text_add(p->out, "call ");
    print_opening(p, ((arras_function)x->ref)->name, x->ninputs, x->inputs);
    ar_text_add(p->out, ")");
}

static void print_result(ar_printer *p, arras_array x)
{
    arras_function f = x->inputs[0]->ref;

    print_opening(p, "result", 1, x->inputs);
    ar_text_printf(p->out, ", %s)", f->result_names[x->ints[0]]);
}

static void print_joined(ar_printer *p, arras_array x)
{
    print_opening(p, ar_kind_word(x->kind), x->ninputs, x->inputs);
    ar_text_printf(p->out, ", axis=%" PRId64 ")", x->ints[0]);
}

static void print_moved(ar_printer *p, arras_array x)
{
    print_opening(p, ar_kind_word(x->kind), 1, x->inputs);
    print_numbers(p, x->kind == AR_ROLL ? "shifts" : "axes", x->nints, x->ints);
    ar_text_add(p->out, ")");
}

static void print_scan(ar_printer *p, arras_array x)
{
    print_opening(p, "scan", 1, x->inputs);
    ar_text_printf(p->out, ", %s, axis=%" PRId64 ")", ar_reduction_name((ar_reduction)x->ints[0]),
                   x->ints[1]);
}

arras_status ar_print_node(ar_printer *p, arras_array x, arras_error *err)
{
    switch (x->kind) {
    case AR_DATA: print_data(p, x); break;
    case AR_CONST: print_const(p, x); break;
    case AR_SIZE: print_size(p, x); break;
    case AR_MAP:
        print_opening(p, ar_op_name((ar_op)x->ints[0]), x->ninputs, x->inputs);
        ar_text_add(p->out, ")");
        break;
    case AR_CAST:
        print_opening(p, "cast", 1, x->inputs);
        ar_text_printf(p->out, ", %s)", ar_dtype_name(x->type.dtype));
        break;
    case AR_LAMBDA: return print_lambda(p, x, err);
    case AR_REDUCE: print_reduce(p, x); break;
    case AR_SCAN: print_scan(p, x); break;
    case AR_EINSUM: print_einsum(p, x); break;
    case AR_STACK:
    case AR_CONCAT: print_joined(p, x); break;
    case AR_ROLL:
    case AR_PERMUTE: print_moved(p, x); break;
    case AR_RESHAPE: print_reshape(p, x); break;
    case AR_INDEX: print_index(p, x); break;
    case AR_GATHER: print_gather(p, x); break;
    case AR_CSR:
        print_opening(p, ar_kind_word(x->kind), x->ninputs, x->inputs);
        ar_text_add(p->out, ")");
        break;
    case AR_CALL: print_call(p, x); break;
    case AR_RESULT: print_result(p, x); break;
    case AR_INPUT:
    case AR_PARAM: ar_print_operand(p, x); break;
    case AR_POISON:
    case AR_KIND_END: break;
    }
    return ARRAS_OK;
}
