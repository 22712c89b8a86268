/* reference_map.c -- numbers, and what is done to every cell alone. */
#include "eval/reference.h"

arras_status ar_reference_const(const ar_job *job)
{
    memcpy(job->out->data, job->node->ints, ar_dtype_size(job->out->dtype));
    return ARRAS_OK;
}

arras_status ar_reference_size(const ar_job *job)
{
    int64_t      value;
    arras_status status =
        ar_dim_number(&value, job->node, job->node->ints[0], job->sizes, job->err);

    if (status == ARRAS_OK)
        ar_cell_cast(job->out->dtype, job->out->data, ARRAS_I64, &value);
    return status;
}

static void map_cells(const ar_job *job, ar_walk *walk, const ar_signature *signature)
{
    ar_op_function *value = ar_op_value((ar_op)job->node->ints[0], signature->compute);
    size_t          size = ar_dtype_size(job->out->dtype);
    char           *out = job->out->data;
    ar_value        operand[AR_MAX_ARITY] = { 0 };

    for (; !walk->done; ar_walk_next(walk), out += size) {
        for (int k = 0; k < walk->n; k++)
            ar_cell_read(signature->operand[k], &operand[k], job->in[k]->dtype,
                         job->in[k]->data + walk->offset[k]);
        value(out, &operand[0], &operand[1], &operand[2]);
    }
}

arras_status ar_reference_map(const ar_job *job)
{
    arras_array  node = job->node;
    ar_type      types[AR_MAX_ARITY];
    ar_signature signature = { .compute = ARRAS_NO_DTYPE };
    ar_walk      walk;
    arras_status status = ar_walk_open(&walk, node->rank, job->out->shape, node->ninputs, job->err);

    for (int k = 0; k < node->ninputs; k++)
        types[k] = node->inputs[k]->type;
    ar_op_signature(&signature, (ar_op)node->ints[0], types); /* has one, or was not built */
    for (int k = 0; k < node->ninputs && status == ARRAS_OK; k++)
        status = ar_walk_follow(&walk, k, job->in[k], job->err);
    if (status == ARRAS_OK)
        map_cells(job, &walk, &signature);
    ar_walk_close(&walk);
    return status;
}

arras_status ar_reference_cast(const ar_job *job)
{
    return ar_tensor_copy(job->out, job->in[0], job->err);
}
