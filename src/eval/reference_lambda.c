/* reference_lambda.c -- index lambdas: the expression of a cell, evaluated at every cell.
 * Only what a value needs is evaluated (of where() one branch), and nothing twice
 * (reference_program.h). */
#include "eval/reference_program.h"

typedef struct {
    const ar_job *job;
    ar_program    program;
    ar_walk       walk; /* over the cells of the result, or of a box of it */
    int64_t       index[ARRAS_MAX_RANK], first[ARRAS_MAX_RANK]; /* of a cell; of the box */
} lambda;

static arras_status evaluate(lambda *l, int step);

static ar_value *value_of(lambda *l, const ar_instruction *step, int arg)
{
    return &l->program.steps[step->args[arg]].value;
}

static arras_dtype dtype_of(const ar_instruction *step, int arg)
{
    return step->expr->args[arg]->type.dtype;
}

/* "[0, 2]": which cell was being computed. */
static const char *describe_place(ar_text *text, const lambda *l)
{
    ar_text_add(text, "[");
    for (int axis = 0; axis < l->walk.rank; axis++)
        ar_text_printf(text, "%s%" PRId64, axis ? ", " : "", l->index[axis]);
    ar_text_add(text, "]");
    return text->data && !text->failed ? text->data : "?";
}

/* ---- Reads: where an index outside an axis leads --------------------------------------------- */

/* The remainder >= 0.  The 64 bits of an index are those of a u64 or of an i64. */
static int64_t modulo(int64_t index, bool is_unsigned, int64_t n)
{
    int64_t rest = is_unsigned ? (int64_t)((uint64_t)index % (uint64_t)n) : index % n;

    return rest < 0 ? rest + n : rest;
}

/* After how many cells a rule repeats itself: reflect a b c d d c b a, mirror a b c d c b.
 * Counts of cells leave room to double one. */
static int64_t period_of(arras_edge_rule rule, int64_t length)
{
    if (rule == ARRAS_EDGE_REFLECT)
        return 2 * length;
    return rule == ARRAS_EDGE_MIRROR && length > 1 ? 2 * length - 2 : length;
}

static int64_t bring_inside(arras_edge_rule rule, int64_t index, bool is_unsigned, int64_t length)
{
    int64_t period = period_of(rule, length), at = modulo(index, is_unsigned, period);

    if (rule == ARRAS_EDGE_NEAREST)
        return index < 0 && !is_unsigned ? 0 : length - 1;
    if (at < length)
        return at;
    return rule == ARRAS_EDGE_REFLECT ? period - 1 - at : period - at;
}

static arras_status fail_read(const lambda *l, const ar_instruction *step, int axis,
                              const ar_value *index)
{
    int         binding = (int)step->expr->ints[0];
    int64_t     length = l->job->in[binding]->shape[axis];
    const char *advice =
        length == 0 ? "" : "; give the axis an edge rule, or keep the index inside";
    ar_text number = { 0 }, array = { 0 }, place = { 0 };

    ar_fail(l->job->err, ARRAS_EINDEX,
            "lambda: index %s is outside axis %d of length %" PRId64 " of %s, in cell %s%s",
            ar_describe_cell(&number, dtype_of(step, axis), index), axis, length,
            ar_describe(&array, l->job->node->inputs[binding]), describe_place(&place, l), advice);
    ar_text_free(&number);
    ar_text_free(&array);
    ar_text_free(&place);
    return ARRAS_EINDEX;
}

/* Where a LOAD reads: an offset, or the fill (an argument of the LOAD) of the last axis that is
 * left. */
typedef struct {
    int64_t offset;
    int     fill; /* 0: none; the first arguments are indices */
    int     next_fill;
} spot;

static int64_t index_bits(lambda *l, const ar_instruction *step, int axis, bool is_unsigned)
{
    ar_value bits = { 0 };

    ar_cell_read(is_unsigned ? ARRAS_U64 : ARRAS_I64, &bits, dtype_of(step, axis),
                 value_of(l, step, axis));
    return bits.i;
}

static arras_status follow_axis(lambda *l, const ar_instruction *step, int axis, spot *at)
{
    const ar_tensor *x = l->job->in[step->expr->ints[0]];
    arras_edge_rule  rule = (arras_edge_rule)step->expr->ints[1 + axis];
    bool             is_unsigned = dtype_of(step, axis) == ARRAS_U64;
    int64_t          index = index_bits(l, step, axis, is_unsigned), length = x->shape[axis];
    bool             inside = (uint64_t)index < (uint64_t)length; /* negative ones become large */
    int              fill = rule == ARRAS_EDGE_CONSTANT ? at->next_fill++ : 0;

    if (!inside && fill) {
        at->fill = fill;
        return ARRAS_OK;
    }
    if (!inside && (rule == ARRAS_EDGE_NONE || length == 0))
        return fail_read(l, step, axis, value_of(l, step, axis));
    /* An array without cells may be too long to double; an empty axis of it will end the read. */
    if (!inside)
        index = x->count ? bring_inside(rule, index, is_unsigned, length) : 0;
    at->offset += index * x->strides[axis];
    return ARRAS_OK;
}

static arras_status compute_load(lambda *l, ar_instruction *step)
{
    const ar_tensor *x = l->job->in[step->expr->ints[0]];
    arras_dtype      dtype = step->expr->type.dtype;
    spot             at = { .next_fill = step->expr->rank };
    arras_status     status = ARRAS_OK;

    for (int axis = 0; axis < step->expr->rank && status == ARRAS_OK; axis++) {
        status = evaluate(l, step->args[axis]);
        if (status == ARRAS_OK)
            status = follow_axis(l, step, axis, &at);
    }
    if (status != ARRAS_OK)
        return status;
    if (!at.fill) {
        ar_cell_read(dtype, &step->value, x->dtype, x->data + at.offset);
        return ARRAS_OK;
    }
    status = evaluate(l, step->args[at.fill]);
    if (status == ARRAS_OK)
        ar_cell_cast(dtype, &step->value, dtype_of(step, at.fill), value_of(l, step, at.fill));
    return status;
}

/* ---- Operations and reductions --------------------------------------------------------------- */

static arras_status compute_where(lambda *l, ar_instruction *step)
{
    uint8_t      condition;
    int          taken;
    arras_status status = evaluate(l, step->args[0]);

    if (status != ARRAS_OK)
        return status;
    ar_cell_cast(ARRAS_BOOL, &condition, dtype_of(step, 0), value_of(l, step, 0));
    taken = condition ? 1 : 2;
    status = evaluate(l, step->args[taken]);
    if (status == ARRAS_OK)
        ar_cell_cast(step->signature.compute, &step->value, dtype_of(step, taken),
                     value_of(l, step, taken));
    return status;
}

static arras_status compute_op(lambda *l, ar_instruction *step)
{
    ar_value operand[AR_MAX_ARITY] = { 0 };

    if (step->expr->ints[0] == AR_OP_where)
        return compute_where(l, step);
    for (int k = 0; k < step->expr->nargs; k++) {
        arras_status status = evaluate(l, step->args[k]);

        if (status != ARRAS_OK)
            return status;
        ar_cell_read(step->signature.operand[k], &operand[k], dtype_of(step, k),
                     value_of(l, step, k));
    }
    step->function(&step->value, &operand[0], &operand[1], &operand[2]);
    return ARRAS_OK;
}

enum { BODY = 2 }; /* of a reduction: which argument */

static arras_status fail_empty(const lambda *l, const ar_instruction *step, int64_t lo, int64_t hi)
{
    ar_text place = { 0 };

    ar_fail(l->job->err, ARRAS_EINDEX,
            "lambda: %s over an empty range, %" PRId64 " <= %s < %" PRId64 ", in cell %s",
            ar_reduction_name((ar_reduction)step->expr->ints[0]), lo, step->expr->name, hi,
            describe_place(&place, l));
    ar_text_free(&place);
    return ARRAS_EINDEX;
}

static arras_status fail_long(const lambda *l, const ar_instruction *step, int64_t lo, int64_t hi)
{
    ar_text place = { 0 };

    ar_fail(l->job->err, ARRAS_EINDEX,
            "lambda: %s over %" PRId64 " <= %s < %" PRId64 ", in cell %s; a range has at most "
            "%" PRId64 " values",
            ar_reduction_name((ar_reduction)step->expr->ints[0]), lo, step->expr->name, hi,
            describe_place(&place, l), INT64_MAX);
    ar_text_free(&place);
    return ARRAS_EINDEX;
}

static arras_status add_cell(lambda *l, const ar_instruction *step, int64_t place)
{
    arras_status status = evaluate(l, step->args[BODY]);

    if (status == ARRAS_OK)
        ar_fold_add(step->fold, dtype_of(step, BODY), value_of(l, step, BODY), place);
    return status;
}

static arras_status add_product(lambda *l, const ar_instruction *step)
{
    const ar_instruction *product = &l->program.steps[step->args[BODY]];
    ar_value              factors[2] = { 0 };

    for (int k = 0; k < 2; k++) {
        arras_status status = evaluate(l, product->args[k]);

        if (status != ARRAS_OK)
            return status;
        ar_cell_read(step->fold->compute, &factors[k], dtype_of(product, k),
                     value_of(l, product, k));
    }
    ar_fold_add_product(step->fold, &factors[0], &factors[1]);
    return ARRAS_OK;
}

static arras_status reduce_range(lambda *l, ar_instruction *step, int64_t lo, int64_t hi)
{
    ar_variable *variable = &l->program.variables[step->variable];
    ar_variable  outside = *variable; /* a reduction around this one may use the same name */
    bool         fused = ar_expr_tree(step->expr) == AR_TREE_FUSED;
    arras_status status = ARRAS_OK;

    ar_fold_start(step->fold);
    step->fold->in_blocks = ar_expr_tree(step->expr) == AR_TREE_PART && lo > 0;
    for (int64_t i = lo; i < hi && status == ARRAS_OK; i++) {
        variable->value = i;
        variable->tick = ++l->program.clock;
        status = fused ? add_product(l, step) : add_cell(l, step, i);
    }
    *variable = outside;
    return status;
}

static arras_status compute_reduce(lambda *l, ar_instruction *step)
{
    int64_t      lo, hi, length;
    arras_status status = evaluate(l, step->args[0]);

    if (status == ARRAS_OK)
        status = evaluate(l, step->args[1]);
    if (status != ARRAS_OK)
        return status;
    lo = ar_cell_integer(dtype_of(step, 0), value_of(l, step, 0));
    hi = ar_cell_integer(dtype_of(step, 1), value_of(l, step, 1));
    if (lo < hi && !ar_sub64(&length, hi, lo))
        return fail_long(l, step, lo, hi);
    status = reduce_range(l, step, lo, hi);
    if (status == ARRAS_OK && !ar_fold_end(step->fold, &step->value))
        status = fail_empty(l, step, lo, hi);
    return status;
}

/* ---- Steps ----------------------------------------------------------------------------------- */

static arras_status compute_cast(lambda *l, ar_instruction *step)
{
    arras_status status = evaluate(l, step->args[0]);

    if (status == ARRAS_OK)
        ar_cell_cast(step->expr->type.dtype, &step->value, dtype_of(step, 0), value_of(l, step, 0));
    return status;
}

static arras_status compute_size(lambda *l, ar_instruction *step)
{
    int64_t      size;
    arras_status status =
        ar_dim_number(&size, l->job->node, step->expr->ints[0], l->job->sizes, l->job->err);

    if (status == ARRAS_OK)
        ar_cell_cast(step->expr->type.dtype, &step->value, ARRAS_I64, &size);
    return status;
}

static arras_status compute(lambda *l, ar_instruction *step)
{
    arras_expr     expr = step->expr;
    const int64_t *number = NULL;

    switch (expr->kind) {
    case AR_EXPR_INDEX: number = &l->index[expr->ints[0]]; break;
    case AR_EXPR_VAR: number = &l->program.variables[step->variable].value; break;
    case AR_EXPR_LITERAL: memcpy(&step->value, expr->ints, sizeof step->value); break;
    case AR_EXPR_SIZE: return compute_size(l, step);
    case AR_EXPR_CAST: return compute_cast(l, step);
    case AR_EXPR_OP: return compute_op(l, step);
    case AR_EXPR_LOAD: return compute_load(l, step);
    case AR_EXPR_REDUCE: return compute_reduce(l, step);
    case AR_EXPR_POISON: return ar_fail(l->job->err, ARRAS_EINVAL, "%s", expr->name);
    }
    if (number)
        ar_cell_cast(expr->type.dtype, &step->value, ARRAS_I64, number);
    return ARRAS_OK;
}

static uint64_t latest_tick(const lambda *l, const ar_instruction *step)
{
    uint64_t tick = AR_FIRST_TICK;

    for (int i = 0; i < step->nvars; i++) {
        uint64_t other = l->program.variables[step->vars[i]].tick;

        tick = other > tick ? other : tick;
    }
    return tick;
}

/* Goes as deep as the expression, which builders limit. */
static arras_status evaluate(lambda *l, int number)
{
    ar_instruction *step = &l->program.steps[number];
    uint64_t        tick = latest_tick(l, step);
    arras_status    status;

    if (step->stamp == tick)
        return ARRAS_OK;
    status = compute(l, step);
    if (status == ARRAS_OK)
        step->stamp = tick;
    return status;
}

static arras_status next_cell(lambda *l)
{
    for (int axis = 0; axis < l->walk.rank; axis++)
        l->index[axis] = l->first[axis] + l->walk.index[axis];
    l->program.variables[AR_VARIABLE_CELL].tick = ++l->program.clock;
    return evaluate(l, (int)l->program.nsteps - 1);
}

static arras_status lambda_cells(lambda *l)
{
    const ar_tensor      *out = l->job->out;
    const ar_instruction *cell = &l->program.steps[l->program.nsteps - 1];
    char                 *to = out->data;

    for (; !l->walk.done; ar_walk_next(&l->walk), to += ar_dtype_size(out->dtype)) {
        arras_status status = next_cell(l);

        if (status != ARRAS_OK)
            return status;
        ar_cell_read(out->dtype, to, cell->expr->type.dtype, &cell->value);
    }
    return ARRAS_OK;
}

arras_status ar_reference_lambda(const ar_job *job)
{
    lambda       l = { .job = job };
    arras_status status = ar_program_open(&l.program, job->node->ref, job->err);

    if (status == ARRAS_OK)
        status = ar_walk_open(&l.walk, job->node->rank, job->out->shape, 0, job->err);
    if (status == ARRAS_OK)
        status = lambda_cells(&l);
    ar_walk_close(&l.walk);
    ar_program_close(&l.program);
    return status;
}

arras_status ar_reference_fault(arras_array node, const ar_tensor *const *in, const int64_t *sizes,
                                const int64_t *lo, const int64_t *hi, arras_error *err)
{
    const ar_job job = { .node = node, .in = in, .sizes = sizes, .err = err };
    lambda       l = { .job = &job };
    int64_t      lengths[ARRAS_MAX_RANK];
    arras_status status = ar_program_open(&l.program, node->ref, err);

    for (int axis = 0; axis < node->rank; axis++) {
        l.first[axis] = lo[axis];
        lengths[axis] = hi[axis] - lo[axis];
    }
    if (status == ARRAS_OK)
        status = ar_walk_open(&l.walk, node->rank, lengths, 0, err);
    for (; status == ARRAS_OK && !l.walk.done; ar_walk_next(&l.walk))
        status = next_cell(&l);
    ar_walk_close(&l.walk);
    ar_program_close(&l.program);
    return status;
}
