/* gemm.c -- recognises products of matrices. */
#include "plan/gemm.h"

#include <string.h>

/* Said in docs/semantics.md too.  Smaller products keep the order of other sums; narrow ones are
 * small contractions, for which generated kernels are as fast or faster.  A library must be worth
 * loading, too. */
enum { LEAST_LENGTH = 8, BLOCKS_FLOPS = 65536, BLOCKS_NARROW = 48 };
enum { LIBRARY_FLOPS = 2000000, LIBRARY_NARROW = 64 };

/* ---- Reads ----------------------------------------------------------------------------------- */

/* Axis `axis` of the operand is indexed by the sum's variable, over its whole length. */
static bool take_term(ar_gemm_operand *operand, arras_expr sum, arras_expr index, int axis)
{
    if (operand->term >= 0 || strcmp(index->name, sum->name) != 0)
        return false;
    operand->term = axis;
    return true;
}

static bool take_axis(ar_gemm_operand *operand, arras_array lambda, arras_dim length,
                      arras_expr index, int axis)
{
    int64_t of_result = index->ints[0];

    if (operand->axis[of_result] >= 0 || lambda->shape[of_result] != length)
        return false;
    operand->axis[of_result] = axis;
    return true;
}

static bool take_load(ar_gemm_operand *out, arras_array lambda, arras_expr sum, arras_expr load)
{
    arras_array x;

    if (load->kind != AR_EXPR_LOAD || load->type.dtype != lambda->type.dtype)
        return false;
    x = lambda->inputs[load->ints[0]];
    *out = (ar_gemm_operand){ .input = (int)load->ints[0], .term = -1 };
    for (int axis = 0; axis < ARRAS_MAX_RANK; axis++)
        out->axis[axis] = -1;
    for (int axis = 0; axis < load->rank; axis++) {
        arras_expr index = load->args[axis];

        if (load->ints[1 + axis] != ARRAS_EDGE_NONE ||
            !(index->kind == AR_EXPR_VAR     ? take_term(out, sum, index, axis)
              : index->kind == AR_EXPR_INDEX ? take_axis(out, lambda, x->shape[axis], index, axis)
                                             : false))
            return false;
    }
    return out->term >= 0;
}

/* ---- Sums ------------------------------------------------------------------------------------ */

static bool is_zero(arras_expr e)
{
    return e->kind == AR_EXPR_LITERAL && e->type.dtype == ARRAS_I64 && e->ints[0] == 0;
}

/* The end of the sum as a length: a number or a size. */
static bool find_terms(arras_dim *out, arras_expr end)
{
    if (end->kind == AR_EXPR_SIZE ||
        (end->kind == AR_EXPR_LITERAL && end->type.dtype == ARRAS_I64 && end->ints[0] >= 0)) {
        *out = end->ints[0];
        return true;
    }
    return false;
}

static bool is_product(arras_expr body)
{
    return body->kind == AR_EXPR_OP && body->ints[0] == AR_OP_multiply;
}

static bool has_type(arras_array lambda, arras_expr sum)
{
    arras_dtype  dtype = lambda->type.dtype;
    ar_signature s;

    return ar_dtype_class(dtype) >= AR_CLASS_REAL && sum->type.dtype == dtype &&
           sum->args[2]->type.dtype == dtype &&
           ar_reduction_signature(&s, AR_REDUCE_sum, sum->args[2]->type) && s.compute == dtype;
}

static bool length_is(arras_array lambda, const ar_gemm_operand *operand, arras_dim terms)
{
    return lambda->inputs[operand->input]->shape[operand->term] == terms;
}

/* ---- Rows and columns ------------------------------------------------------------------------ */

/* The last axis is the column, and b's alone; the row is the innermost that is a's alone.  No axis
 * is nobody's. */
static bool find_axes(ar_gemm *m)
{
    m->column = m->rank - 1;
    m->row = -1;
    if (m->a.axis[m->column] >= 0) {
        ar_gemm_operand a = m->a;

        m->a = m->b, m->b = a;
    }
    for (int axis = 0; axis < m->rank; axis++) {
        bool of_a = m->a.axis[axis] >= 0, of_b = m->b.axis[axis] >= 0;

        if (!of_a && !of_b)
            return false;
        if (of_a && !of_b)
            m->row = axis;
    }
    return m->row >= 0 && m->a.axis[m->column] < 0 && m->b.axis[m->column] >= 0;
}

bool ar_gemm_match(ar_gemm *out, arras_array lambda)
{
    ar_gemm    m = { .rank = lambda->rank, .dtype = lambda->type.dtype };
    arras_expr sum = lambda->ref, body;

    if (lambda->kind != AR_LAMBDA || lambda->rank < 2 || sum->kind != AR_EXPR_REDUCE ||
        sum->ints[0] != AR_REDUCE_sum)
        return false;
    body = sum->args[2];
    if (!is_zero(sum->args[0]) || !find_terms(&m.terms, sum->args[1]) || !is_product(body) ||
        !has_type(lambda, sum) || !take_load(&m.a, lambda, sum, body->args[0]) ||
        !take_load(&m.b, lambda, sum, body->args[1]) || !length_is(lambda, &m.a, m.terms) ||
        !length_is(lambda, &m.b, m.terms) || !find_axes(&m))
        return false;
    *out = m;
    return true;
}

static bool is_large(int64_t rows, int64_t columns, int64_t terms, double least, int64_t narrow)
{
    double flops = 2.0 * (double)rows * (double)columns * (double)terms;

    return flops >= least && rows >= LEAST_LENGTH && columns >= LEAST_LENGTH &&
           terms >= LEAST_LENGTH && (columns > narrow || terms > narrow);
}

bool ar_gemm_fills_blocks(int64_t rows, int64_t columns, int64_t terms)
{
    return is_large(rows, columns, terms, BLOCKS_FLOPS, BLOCKS_NARROW);
}

bool ar_gemm_is_large(int64_t rows, int64_t columns, int64_t terms)
{
    return is_large(rows, columns, terms, LIBRARY_FLOPS, LIBRARY_NARROW);
}
