/* flops.c -- how many arithmetic operations a node takes.
 *
 * An elementwise operation counts one for each cell of its result, an fma two; a reduction one for
 * each cell it reads; an einsum its products and sums; a sparse product two for each stored value
 * and dense column; a lambda each of its operations once a cell, those within reductions once a
 * step.  What moves, casts or holds cells counts nothing, nor does the arithmetic of indices and
 * bounds. */
#include "notation/parts.h"

/* ---- Arithmetic that stops at the largest number --------------------------------------------- */

int64_t ar_sum_capped(int64_t a, int64_t b) { return ar_add64(&a, a, b) ? a : INT64_MAX; }
int64_t ar_product_capped(int64_t a, int64_t b) { return ar_mul64(&a, a, b) ? a : INT64_MAX; }

int64_t ar_cells(int rank, const arras_dim *shape)
{
    int64_t cells = 1;

    for (int d = 0; d < rank; d++)
        if (ar_dim_symbolic(shape[d]))
            return -1;
    for (int d = 0; d < rank; d++)
        if (shape[d] == 0)
            return 0;
    for (int d = 0; d < rank; d++)
        cells = ar_product_capped(cells, shape[d]);
    return cells;
}

/* ---- Lambdas --------------------------------------------------------------------------------- */

static bool constant_bound(int64_t *out, arras_expr e)
{
    if (e->kind == AR_EXPR_CAST)
        e = e->args[0];
    if (e->kind != AR_EXPR_LITERAL || e->type.dtype != ARRAS_I64)
        return false;
    *out = e->ints[0];
    return true;
}

/* Steps of a reduction; one when its bounds are not numbers. */
static int64_t step_count(arras_expr e)
{
    int64_t lo, hi, steps;

    if (!constant_bound(&lo, e->args[0]) || !constant_bound(&hi, e->args[1]))
        return 1;
    if (hi <= lo)
        return 0;
    return ar_sub64(&steps, hi, lo) ? steps : INT64_MAX;
}

/* How often an expression is evaluated in a cell is noted on it, from the whole down to its parts;
 * what is shared is evaluated once in the innermost place that needs it. */
static void note_times(ar_expr_walk *walk, arras_expr e, int64_t times)
{
    int64_t *note = &walk->slots[e->id].note;

    *note = ar_max64(*note, times);
}

static int64_t count_expr(ar_expr_walk *walk, arras_expr e)
{
    int64_t times = walk->slots[e->id].note, steps;

    switch (e->kind) {
    case AR_EXPR_OP:
        for (int i = 0; i < e->nargs; i++)
            note_times(walk, e->args[i], times);
        return ar_product_capped(times, ar_op_flops((ar_op)e->ints[0]));
    case AR_EXPR_CAST: note_times(walk, e->args[0], times); return 0;
    case AR_EXPR_REDUCE:
        steps = ar_product_capped(times, step_count(e));
        note_times(walk, e->args[2], steps);
        return steps;
    default: return 0;
    }
}

static bool count_cell(int64_t *out, ar_expr_walk *walk, arras_expr cell)
{
    int64_t total = 0;

    if (!ar_expr_walk_from(walk, cell))
        return false;
    note_times(walk, cell, 1);
    for (size_t i = walk->count; i-- > 0;)
        total = ar_sum_capped(total, count_expr(walk, walk->found[i]));
    *out = total;
    return true;
}

/* ---- Products -------------------------------------------------------------------------------- */

enum { LETTERS = 'z' + 1 };

/* Lengths of the indices of an einsum, by letter; -1 where there is none.  Axes of length 1
 * broadcast. */
static void index_lengths(arras_dim *lengths, arras_array x)
{
    const char *letter = x->name;

    for (int c = 0; c < LETTERS; c++)
        lengths[c] = -1;
    for (int i = 0; i < x->ninputs; i++, letter++) /* over the comma */
        for (int d = 0; d < x->inputs[i]->rank; d++, letter++) {
            arras_dim *length = &lengths[(unsigned char)*letter];

            if (*length == -1 || *length == 1)
                *length = x->inputs[i]->shape[d];
        }
}

static int64_t count_einsum(arras_array x)
{
    arras_dim lengths[LETTERS], all[ARRAS_MAX_RANK * 2];
    int       n = 0;
    int64_t   cells;

    index_lengths(lengths, x);
    for (int c = 0; c < LETTERS; c++)
        if (lengths[c] != -1)
            all[n++] = lengths[c];
    cells = ar_cells(n, all);
    if (cells < 0)
        return -1;
    return ar_product_capped(cells, x->ninputs - 1 + (n > x->rank));
}

static int64_t count_csr(arras_array x)
{
    int64_t values = ar_cells(1, x->inputs[0]->shape);
    int64_t columns = ar_cells(x->rank - 1, x->inputs[3]->shape + 1);

    return values < 0 || columns < 0 ? -1
                                     : ar_product_capped(2, ar_product_capped(values, columns));
}

/* ---- Nodes ----------------------------------------------------------------------------------- */

arras_status ar_flops(int64_t *out, ar_expr_walk *walk, arras_array x, arras_error *err)
{
    int64_t cells = ar_cells(x->rank, x->shape), each = 0;

    *out = 0;
    switch (x->kind) {
    case AR_MAP: each = ar_op_flops((ar_op)x->ints[0]); break;
    case AR_LAMBDA:
        if (!count_cell(&each, walk, x->ref))
            return ar_fail_memory(err, sizeof *walk->slots);
        break;
    case AR_SCAN: each = 1; break;
    case AR_REDUCE: *out = ar_cells(x->inputs[0]->rank, x->inputs[0]->shape); return ARRAS_OK;
    case AR_EINSUM: *out = count_einsum(x); return ARRAS_OK;
    case AR_CSR: *out = count_csr(x); return ARRAS_OK;
    default: return ARRAS_OK;
    }
    *out = cells < 0 ? -1 : ar_product_capped(cells, each);
    return ARRAS_OK;
}
