/* reference_reduce.c -- sums and the like: over axes, over the letters of an einsum, over the
 * stored cells of a sparse matrix. */
#include "eval/reference.h"

/* ---- Reduce ---------------------------------------------------------------------------------- */

/* Two walks over x: one over the axes that stay, and for each of its cells one over those reduced.
 */
typedef struct {
    const ar_job *job;
    ar_fold       fold;
    ar_value      initial;
    ar_walk       kept, reduced;
} reduction;

static arras_status open_axes(ar_walk *walk, const ar_tensor *x, uint32_t mask, arras_error *err)
{
    int64_t      lengths[ARRAS_MAX_RANK] = { 0 };
    int          axes[ARRAS_MAX_RANK], rank = 0;
    arras_status status;

    for (int axis = 0; axis < x->rank; axis++) {
        if (!(mask >> axis & 1))
            continue;
        axes[rank] = axis;
        lengths[rank++] = x->shape[axis];
    }
    status = ar_walk_open(walk, rank, lengths, 1, err);
    for (int d = 0; d < rank && status == ARRAS_OK; d++)
        walk->step[d] = x->strides[axes[d]];
    return status;
}

static arras_status fail_empty(const reduction *r)
{
    ar_text text = { 0 };

    ar_fail(r->job->err, ARRAS_ESHAPE, "%s over no cells of %s: give it an initial value",
            ar_reduction_name((ar_reduction)r->job->node->ints[0]),
            ar_describe(&text, r->job->node->inputs[0]));
    ar_text_free(&text);
    return ARRAS_ESHAPE;
}

/* initial op (tree of the cells), or the initial value alone where there are no cells. */
static arras_status reduce_end(reduction *r, void *out)
{
    bool has_initial = r->job->node->ninputs > 1;

    if (has_initial && r->fold.count == 0) {
        ar_cell_cast(r->fold.result, out, r->fold.compute, &r->initial);
        return ARRAS_OK;
    }
    if (!ar_fold_end(&r->fold, out))
        return fail_empty(r);
    if (has_initial)
        r->fold.combine(out, &r->initial, out, out);
    return ARRAS_OK;
}

static arras_status reduce_cells(reduction *r)
{
    const ar_tensor *x = r->job->in[0];
    char            *out = r->job->out->data;
    arras_status     status = ARRAS_OK;

    for (; !r->kept.done && status == ARRAS_OK; ar_walk_next(&r->kept)) {
        const char *base = x->data + r->kept.offset[0];
        int64_t     place = 0;

        ar_fold_start(&r->fold);
        for (ar_walk_again(&r->reduced); !r->reduced.done; ar_walk_next(&r->reduced))
            ar_fold_add(&r->fold, x->dtype, base + r->reduced.offset[0], place++);
        status = reduce_end(r, out);
        out += ar_dtype_size(r->job->out->dtype);
    }
    return status;
}

arras_status ar_reference_reduce(const ar_job *job)
{
    uint32_t     mask = (uint32_t)job->node->ints[1];
    reduction    r = { .job = job };
    arras_status status = open_axes(&r.kept, job->in[0], ~mask, job->err);

    if (status == ARRAS_OK)
        status = open_axes(&r.reduced, job->in[0], mask, job->err);
    ar_fold_open(&r.fold, (ar_reduction)job->node->ints[0], job->node->inputs[0]->type);
    if (job->node->ninputs > 1)
        ar_cell_read(r.fold.compute, &r.initial, job->in[1]->dtype, job->in[1]->data);
    if (status == ARRAS_OK)
        status = reduce_cells(&r);
    ar_walk_close(&r.kept);
    ar_walk_close(&r.reduced);
    return status;
}

/* ---- Einsum ---------------------------------------------------------------------------------- */

/* "ab,bc->ac": labels are numbered, those of the result first (a, c), then those summed over in
 * order of appearance (b).  Products are taken in the order of the operands, in the type of the
 * result. */
typedef struct {
    const ar_job *job;
    int8_t        number[128]; /* of each letter, from 1; 0: not seen */
    int           labels, kept_labels;
    int64_t       length[AR_WALK_RANK];
    arras_dim     dims[AR_WALK_RANK]; /* the same as recorded, where it may not have been known */
    ar_walk       kept, summed;
} einsum;

static int label_of(einsum *e, char letter)
{
    int8_t *number = &e->number[letter & 127];

    if (*number == 0) {
        *number = (int8_t)++e->labels;
        e->length[*number - 1] = e->dims[*number - 1] = 1;
    }
    return *number - 1;
}

/* Calls `visit` for every axis of every operand. */
typedef arras_status axis_visitor(einsum *e, int operand, int axis, int label);

static arras_status for_each_axis(einsum *e, axis_visitor *visit)
{
    int          operand = 0, axis = 0;
    arras_status status = ARRAS_OK;

    for (const char *at = e->job->node->name; *at && *at != '-' && status == ARRAS_OK; at++) {
        if (*at == ',')
            operand++, axis = 0;
        else
            status = visit(e, operand, axis++, label_of(e, *at));
    }
    return status;
}

/* An axis of length 1 fits any length. */
static arras_status note_length(einsum *e, int operand, int axis, int label)
{
    int64_t   length = e->job->in[operand]->shape[axis];
    arras_dim dim = e->job->node->inputs[operand]->shape[axis];

    if (dim != 1)
        e->dims[label] = dim;
    if (length == 1 || length == e->length[label])
        return ARRAS_OK;
    if (e->length[label] != 1)
        return ar_fail(e->job->err, ARRAS_ESHAPE,
                       "einsum %s: axis %d of operand %d is %" PRId64
                       " long, but the same letter stands for %" PRId64,
                       e->job->node->name, axis, operand, length, e->length[label]);
    e->length[label] = length;
    return ARRAS_OK;
}

/* A letter that an operand has twice walks its diagonal: both strides add up. */
static arras_status note_step(einsum *e, int operand, int axis, int label)
{
    const ar_tensor *x = e->job->in[operand];
    bool             kept = label < e->kept_labels;
    ar_walk         *walk = kept ? &e->kept : &e->summed;
    int              level = kept ? label : label - e->kept_labels;

    if (x->shape[axis] != 1)
        walk->step[(ptrdiff_t)level * walk->n + operand] += x->strides[axis];
    return ARRAS_OK;
}

static arras_status einsum_open(einsum *e)
{
    int          n = e->job->node->ninputs;
    const char  *result = strchr(e->job->node->name, '>');
    arras_status status;

    for (result = result ? result + 1 : ""; *result; result++)
        label_of(e, *result);
    e->kept_labels = e->labels;
    status = for_each_axis(e, note_length);
    if (status == ARRAS_OK)
        status = ar_walk_open(&e->kept, e->kept_labels, e->length, n, e->job->err);
    if (status == ARRAS_OK)
        status = ar_walk_open(&e->summed, e->labels - e->kept_labels, e->length + e->kept_labels, n,
                              e->job->err);
    return status == ARRAS_OK ? for_each_axis(e, note_step) : status;
}

static void einsum_factor(const einsum *e, int operand, ar_value *factor)
{
    const ar_tensor *x = e->job->in[operand];

    ar_cell_read(e->job->out->dtype, factor, x->dtype,
                 x->data + e->kept.offset[operand] + e->summed.offset[operand]);
}

/* Of the first n operands. */
static void einsum_product(const einsum *e, int n, ar_value *product)
{
    ar_op_function *multiply = ar_op_value(AR_OP_multiply, e->job->out->dtype);
    ar_value        factor = { 0 };

    einsum_factor(e, 0, product);
    for (int k = 1; k < n; k++) {
        einsum_factor(e, k, &factor);
        multiply(product, product, &factor, &factor);
    }
}

static void add_product(const einsum *e, bool fused, ar_fold *fold)
{
    int      n = e->kept.n;
    ar_value product = { 0 }, last = { 0 };

    einsum_product(e, fused ? n - 1 : n, &product);
    if (!fused) {
        ar_fold_add(fold, e->job->out->dtype, &product, 0);
        return;
    }
    einsum_factor(e, n - 1, &last);
    ar_fold_add_product(fold, &product, &last);
}

static void einsum_cells(einsum *e)
{
    const ar_tensor *out = e->job->out;
    bool    fused = e->kept.n > 1 && ar_products_are_fused(out->dtype, e->labels - e->kept_labels,
                                                           e->dims + e->kept_labels);
    char   *to = out->data;
    ar_fold fold;

    ar_fold_open_sum(&fold, out->dtype);
    for (; !e->kept.done; ar_walk_next(&e->kept), to += ar_dtype_size(out->dtype)) {
        ar_fold_start(&fold);
        for (ar_walk_again(&e->summed); !e->summed.done; ar_walk_next(&e->summed))
            add_product(e, fused, &fold);
        ar_fold_end(&fold, to);
    }
}

static arras_status check_result(const einsum *e)
{
    for (int d = 0; d < e->kept_labels; d++)
        if (e->length[d] != e->job->out->shape[d])
            return ar_fail(e->job->err, ARRAS_ESHAPE,
                           "einsum %s: axis %d of the result is %" PRId64
                           " long, expected %" PRId64,
                           e->job->node->name, d, e->length[d], e->job->out->shape[d]);
    return ARRAS_OK;
}

arras_status ar_reference_einsum(const ar_job *job)
{
    einsum       e = { .job = job };
    arras_status status = einsum_open(&e);

    if (status == ARRAS_OK)
        status = check_result(&e);
    if (status == ARRAS_OK)
        einsum_cells(&e);
    ar_walk_close(&e.kept);
    ar_walk_close(&e.summed);
    return status;
}

/* ---- Compressed sparse rows ------------------------------------------------------------------ */

enum { VALUES, COLUMNS, STARTS, DENSE };

static const char *csr_cell(const ar_job *job, int operand, int64_t i)
{
    return job->in[operand]->data + i * job->in[operand]->strides[0];
}

static int64_t csr_integer(const ar_job *job, int operand, int64_t i)
{
    return ar_cell_integer(job->in[operand]->dtype, csr_cell(job, operand, i));
}

static arras_status fail_csr(const ar_job *job, int operand, int64_t i, int64_t low, int64_t high)
{
    ar_text number = { 0 }, text = { 0 };

    ar_fail(job->err, ARRAS_EINDEX,
            "%s: %s[%" PRId64 "] is %s, but must be at least %" PRId64 " and at most %" PRId64,
            ar_describe(&text, job->node), operand == COLUMNS ? "columns" : "row_starts", i,
            ar_describe_cell(&number, job->in[operand]->dtype, csr_cell(job, operand, i)), low,
            high);
    ar_text_free(&number);
    ar_text_free(&text);
    return ARRAS_EINDEX;
}

/* Starts rise and stay within the stored cells; columns exist. */
static arras_status check_csr(const ar_job *job)
{
    int64_t stored = job->in[VALUES]->shape[0], columns = job->in[DENSE]->shape[0], last = 0;

    if (job->in[COLUMNS]->shape[0] != stored)
        return ar_fail(job->err, ARRAS_ESHAPE,
                       "csr_matmul: %" PRId64 " values, but %" PRId64 " columns", stored,
                       job->in[COLUMNS]->shape[0]);
    for (int64_t r = 0; r < job->in[STARTS]->shape[0]; r++) {
        int64_t start = csr_integer(job, STARTS, r);

        if (start < last || start > stored)
            return fail_csr(job, STARTS, r, last, stored);
        last = start;
    }
    for (int64_t p = 0; p < stored; p++) {
        int64_t column = csr_integer(job, COLUMNS, p);

        if (column < 0 || column >= columns)
            return fail_csr(job, COLUMNS, p, 0, columns - 1);
    }
    return ARRAS_OK;
}

static void csr_sum(const ar_job *job, int64_t row, const char *dense, ar_fold *fold)
{
    const ar_tensor *x = job->in[DENSE], *values = job->in[VALUES];
    ar_op_function  *multiply = ar_op_value(AR_OP_multiply, fold->compute);
    int64_t          end = csr_integer(job, STARTS, row + 1);
    ar_value         a = { 0 }, b = { 0 };

    ar_fold_start(fold);
    for (int64_t p = csr_integer(job, STARTS, row); p < end; p++) {
        const char *cell = dense + csr_integer(job, COLUMNS, p) * x->strides[0];

        ar_cell_read(fold->compute, &a, values->dtype, csr_cell(job, VALUES, p));
        ar_cell_read(fold->compute, &b, x->dtype, cell);
        multiply(&a, &a, &b, &b);
        ar_fold_add(fold, fold->compute, &a, 0);
    }
}

arras_status ar_reference_csr(const ar_job *job)
{
    const ar_tensor *x = job->in[DENSE];
    char            *out = job->out->data;
    ar_walk          rest = { 0 }; /* the axes of the dense array after the first */
    ar_fold          fold;
    arras_status     status = check_csr(job);

    if (status == ARRAS_OK)
        status = open_axes(&rest, x, ~(uint32_t)1, job->err);
    ar_fold_open_sum(&fold, job->out->dtype);
    for (int64_t row = 0; row < job->out->shape[0] && status == ARRAS_OK; row++)
        for (ar_walk_again(&rest); !rest.done; ar_walk_next(&rest)) {
            csr_sum(job, row, x->data + rest.offset[0], &fold);
            ar_fold_end(&fold, out);
            out += ar_dtype_size(job->out->dtype);
        }
    ar_walk_close(&rest);
    return status;
}
