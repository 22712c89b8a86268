/* contraction.c -- recognises the contractions of contraction.h.  What it declines is computed by
 * the kernel that every lambda can have. */
#include "gen/nest/contraction.h"

#include <string.h>

enum {
    MOST_COLUMNS = 64,
    LEAST_COLUMNS = 3,
    LEAST_ROWS = 8, /* fewer do not pay for the packing of the panel */
    MOST_TERMS = 256,
    MOST_IN_TURN = 64, /* longer sums are not added one after the other: docs/semantics.md */
    MOST_PARTS = 64,   /* of an expression, each as often as it is used */
    MOST_PANEL_BYTES = 48 * 1024
};

/* ---- Parts of expressions -------------------------------------------------------------------- */

static bool uses_axis(arras_expr e, int axis) { return e->uses >> axis & 1; }

int ar_leaves_find(const ar_leaves *leaves, arras_expr e)
{
    for (int i = 0; i < leaves->count; i++)
        if (leaves->items[i] == e)
            return i;
    return -1;
}

static bool add_leaf(ar_leaves *leaves, arras_expr e)
{
    if (ar_leaves_find(leaves, e) >= 0)
        return true;
    if (leaves->count == AR_CONTRACT_LEAVES)
        return false;
    leaves->items[leaves->count++] = e;
    return true;
}

int ar_contraction_variable(const ar_contraction *c, const char *name)
{
    for (int s = c->nsums - 1; s >= 0; s--)
        if (strcmp(c->sums[s]->name, name) == 0)
            return s;
    return -1;
}

bool ar_contraction_is_vector_op(const ar_contraction *c, arras_expr e)
{
    ar_type      types[AR_MAX_ARITY];
    ar_signature s;

    if (e->kind != AR_EXPR_OP || e->type.dtype != c->dtype || e->type.weak)
        return false;
    switch ((ar_op)e->ints[0]) {
    case AR_OP_add:
    case AR_OP_subtract:
    case AR_OP_multiply:
    case AR_OP_divide:
    case AR_OP_fma: break;
    default: return false;
    }
    for (int i = 0; i < e->nargs; i++)
        types[i] = e->args[i]->type;
    if (!ar_op_signature(&s, (ar_op)e->ints[0], types) || s.compute != c->dtype)
        return false;
    for (int i = 0; i < e->nargs; i++)
        if (s.operand[i] != c->dtype)
            return false;
    return true;
}

/* ---- The sums -------------------------------------------------------------------------------- */

/* The outermost reductions: there must be one, though it may be used several times.  Depth is
 * limited by AR_MAX_DEPTH, work by `parts`. */
static bool find_sum(arras_expr *sum, arras_expr e, int *parts)
{
    if (--*parts < 0)
        return false;
    if (e->kind == AR_EXPR_REDUCE) {
        if (*sum && *sum != e)
            return false;
        *sum = e;
        return true;
    }
    for (int i = 0; i < e->nargs; i++)
        if (!find_sum(sum, e->args[i], parts))
            return false;
    return true;
}

static bool is_number(arras_expr e)
{
    return e->kind == AR_EXPR_LITERAL && e->type.dtype == ARRAS_I64;
}

static bool add_sum(ar_contraction *c, arras_expr e)
{
    ar_signature s;
    int64_t      length;

    if (c->nsums == AR_CONTRACT_SUMS || e->ints[0] != AR_REDUCE_sum || !is_number(e->args[0]) ||
        !is_number(e->args[1]) || !ar_sub64(&length, e->args[1]->ints[0], e->args[0]->ints[0]))
        return false;
    if (length < 1 || length > MOST_IN_TURN || ar_contraction_variable(c, e->name) >= 0)
        return false;
    if (!ar_reduction_signature(&s, AR_REDUCE_sum, e->args[2]->type) || s.compute != c->dtype ||
        s.operand[0] != c->dtype || s.result.dtype != c->dtype ||
        e->args[2]->type.dtype != c->dtype)
        return false;
    c->fused = ar_expr_tree(e) == AR_TREE_FUSED;
    c->sums[c->nsums] = e;
    c->first[c->nsums] = e->args[0]->ints[0];
    c->length[c->nsums++] = length;
    c->terms *= length;
    return true;
}

static bool take_sums(ar_contraction *c, arras_expr sum)
{
    for (; sum->kind == AR_EXPR_REDUCE; sum = sum->args[2])
        if (!add_sum(c, sum))
            return false;
    c->body = sum;
    return c->terms <= MOST_TERMS;
}

/* ---- What may be read ------------------------------------------------------------------------ */

static bool variable_is_inside(const ar_contraction *c, arras_expr load, int axis)
{
    arras_array x = c->lambda->inputs[load->ints[0]];
    int         s = ar_contraction_variable(c, load->args[axis]->name);

    return s >= 0 && !ar_dim_symbolic(x->shape[axis]) && c->first[s] >= 0 &&
           c->first[s] + c->length[s] <= x->shape[axis];
}

static bool load_is_plain(const ar_contraction *c, arras_expr load)
{
    for (int axis = 0; axis < load->rank; axis++) {
        arras_expr index = load->args[axis];

        if (load->ints[1 + axis] != ARRAS_EDGE_NONE || index->type.dtype == ARRAS_U64)
            return false;
        if (!(index->kind == AR_EXPR_VAR ? variable_is_inside(c, load, axis)
                                         : ar_load_is_inside(c->lambda, load, axis)))
            return false;
    }
    return true;
}

/* Depth is limited by AR_MAX_DEPTH, work by `parts`. */
static bool is_plain(const ar_contraction *c, arras_expr e, int *parts)
{
    bool known = e->kind == AR_EXPR_LOAD ? load_is_plain(c, e)
                                         : e->kind != AR_EXPR_POISON && e->kind != AR_EXPR_VAR;

    if (--*parts < 0)
        return false;
    if (e == c->sums[0])
        return is_plain(c, c->body, parts);
    if (e->kind == AR_EXPR_VAR)
        return ar_contraction_variable(c, e->name) >= 0;
    if (!known || e->kind == AR_EXPR_REDUCE)
        return false;
    for (int i = 0; i < e->nargs; i++)
        if (!is_plain(c, e->args[i], parts))
            return false;
    return true;
}

/* ---- Rows and columns ------------------------------------------------------------------------ */

static bool find_columns(ar_contraction *c)
{
    c->column = c->lambda->rank - 1;
    if (c->lambda->rank < 2 || ar_dim_symbolic(c->lambda->shape[c->column]))
        return false;
    c->columns = c->lambda->shape[c->column];
    return c->columns >= LEAST_COLUMNS && c->columns <= MOST_COLUMNS;
}

/* Depth is limited by that of vector operations, which is_plain has counted. */
static bool split_body(ar_contraction *c, arras_expr e)
{
    if (!uses_axis(e, c->column))
        return add_leaf(&c->scalars, e);
    if (!uses_axis(e, c->row))
        return add_leaf(&c->panels, e);
    if (!ar_contraction_is_vector_op(c, e))
        return false;
    for (int i = 0; i < e->nargs; i++)
        if (!split_body(c, e->args[i]))
            return false;
    return true;
}

/* The product of a fused sum is not computed for itself. */
static bool split_sum(ar_contraction *c)
{
    if (!c->fused)
        return split_body(c, c->body);
    return split_body(c, c->body->args[0]) && split_body(c, c->body->args[1]);
}

static void split_after(ar_contraction *c, arras_expr e, bool *good)
{
    if (!uses_axis(e, c->column))
        *good = *good && add_leaf(&c->after, e);
    else if (ar_contraction_is_vector_op(c, e))
        for (int i = 0; i < e->nargs; i++)
            split_after(c, e->args[i], good);
}

/* Symbolic lengths count as long. */
static int64_t length_of(const ar_contraction *c, int axis)
{
    arras_dim length = c->lambda->shape[axis];

    return ar_dim_symbolic(length) ? INT64_MAX : length;
}

static int64_t panel_bytes(const ar_contraction *c)
{
    return c->panels.count * c->terms * (c->columns + 7) * (int64_t)ar_dtype_size(c->dtype);
}

/* How many panels there are in all; 0 where they would not stay in the cache together. */
static int64_t count_packs(const ar_contraction *c)
{
    int64_t packs = 1;

    for (int axis = 0; axis < c->column; axis++)
        if (c->batch >> axis & 1 && !ar_mul64(&packs, packs, length_of(c, axis)))
            return 0;
    return packs <= MOST_PANEL_BYTES / panel_bytes(c) ? packs : 0;
}

static bool try_row(ar_contraction *c, int row)
{
    c->row = row;
    c->panels.count = c->scalars.count = 0;
    if (length_of(c, row) < LEAST_ROWS || !uses_axis(c->body, row) || !split_sum(c) ||
        c->panels.count == 0 || panel_bytes(c) > MOST_PANEL_BYTES)
        return false;
    c->batch = 0;
    for (int i = 0; i < c->panels.count; i++)
        c->batch |= c->panels.items[i]->uses;
    c->batch &= ~((uint32_t)1 << c->column);
    c->packs = count_packs(c);
    return true;
}

/* The longest axis that will do; of equal ones the innermost. */
static bool find_rows(ar_contraction *c)
{
    int best = -1;

    for (int axis = c->lambda->rank - 2; axis >= 0; axis--)
        if ((best < 0 || length_of(c, axis) > length_of(c, best)) && try_row(c, axis))
            best = axis;
    return best >= 0 && try_row(c, best);
}

bool ar_contraction_match(ar_contraction *out, arras_array lambda)
{
    ar_contraction c = { .lambda = lambda, .terms = 1 };
    arras_expr     cell = lambda->ref, sum = NULL;
    int            parts = MOST_PARTS, parts_to_check = 2 * MOST_PARTS;
    bool           good = true;

    c.dtype = lambda->type.dtype;
    if ((c.dtype != ARRAS_F32 && c.dtype != ARRAS_F64) || cell->type.dtype != c.dtype ||
        !find_columns(&c))
        return false;
    if (!find_sum(&sum, cell, &parts) || !sum || !uses_axis(sum, c.column) || !take_sums(&c, sum) ||
        !is_plain(&c, cell, &parts_to_check) || !find_rows(&c))
        return false;
    split_after(&c, cell, &good);
    *out = c;
    return good;
}
