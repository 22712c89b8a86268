/* build_reduce.c -- fewer cells from more: reductions over axes, sparse matrix products. */
#include "ir/graph.h"

#include <string.h>

static arras_array poison_reduce(ar_reduction reduction, arras_array x, arras_status code,
                                 const char *text)
{
    arras_error err;

    ar_fail(&err, code, "%s %s", ar_reduction_name(reduction), text);
    return ar_poison_about(x->graph, &err, 1, &x);
}

/* The initial value must go into the type of the cells that are combined without loss of kind. */
static arras_array check_initial(ar_reduction reduction, arras_array x, arras_array initial,
                                 arras_dtype compute)
{
    ar_type together;

    if (initial->rank != 0)
        return poison_reduce(reduction, initial, ARRAS_ESHAPE, "needs an initial value of rank 0");
    if (reduction == AR_REDUCE_argmin || reduction == AR_REDUCE_argmax)
        return poison_reduce(reduction, x, ARRAS_EINVAL, "takes no initial value");
    together = ar_promote((ar_type){ compute, false }, initial->type);
    if (together.dtype != compute || (initial->type.weak && initial->type.dtype == ARRAS_I64 &&
                                      !ar_integer_fits(initial->ints[0], compute))) {
        arras_error err;

        ar_fail(&err, ARRAS_EDTYPE, "%s: the initial value does not fit %s: cast one of them",
                ar_reduction_name(reduction), ar_dtype_name(compute));
        return ar_poison_about(x->graph, &err, 2, (arras_array[]){ x, initial });
    }
    return NULL;
}

static bool reduces_nothing(arras_array x, uint32_t axes)
{
    for (int d = 0; d < x->rank; d++)
        if ((axes >> d & 1) && x->shape[d] == 0)
            return true;
    return false;
}

static int reduced_shape(arras_dim *shape, arras_array x, uint32_t axes, bool keepdims)
{
    int rank = 0;

    for (int d = 0; d < x->rank; d++) {
        if (!(axes >> d & 1))
            shape[rank++] = x->shape[d];
        else if (keepdims)
            shape[rank++] = 1;
    }
    return rank;
}

static bool has_cells(int rank, const arras_dim *shape)
{
    for (int d = 0; d < rank; d++)
        if (shape[d] == 0)
            return false;
    return true;
}

arras_array ar_reduce(ar_reduction reduction, arras_array x, uint32_t axes, bool keepdims,
                      arras_array initial)
{
    arras_array  inputs[] = { x, initial }, bad;
    arras_dim    shape[ARRAS_MAX_RANK];
    ar_signature s;
    int          rank;

    if ((bad = ar_check_inputs(ar_reduction_name(reduction), initial ? 2 : 1, inputs)))
        return bad;
    if (x->rank < 32 && axes >> x->rank != 0)
        return poison_reduce(reduction, x, ARRAS_EAXIS,
                             "is given an axis that the array does not have");
    if (!ar_reduction_signature(&s, reduction, x->type))
        return poison_reduce(reduction, x, ARRAS_EDTYPE, "is not defined for this type");
    if (initial && (bad = check_initial(reduction, x, initial, s.compute)))
        return bad;
    rank = reduced_shape(shape, x, axes, keepdims);
    if ((bad = ar_check_shape(x->graph, ar_reduction_name(reduction), rank, shape)))
        return bad;
    if (ar_reduction_identity(reduction) < 0 && !initial && reduces_nothing(x, axes) &&
        has_cells(rank, shape))
        return poison_reduce(reduction, x, ARRAS_ESHAPE,
                             "over no cells has no value: give an initial value");
    return ar_intern(x->graph,
                     &(struct arras_node){ .kind = AR_REDUCE,
                                           .type = s.result,
                                           .rank = rank,
                                           .shape = shape,
                                           .ninputs = initial ? 2 : 1,
                                           .inputs = inputs,
                                           .nints = 3,
                                           .ints = (int64_t[]){ reduction, axes, keepdims } });
}

/* ---- Sparse matrix in compressed rows times a dense array ------------------------------------ */

static arras_array check_csr(const arras_array *xs)
{
    arras_error err;
    const char *wrong = NULL;

    if (xs[0]->rank != 1 || xs[1]->rank != 1 || xs[2]->rank != 1)
        wrong = "values, columns and row_starts must have rank 1";
    else if (!ar_dtype_is_integer(xs[1]->type.dtype) || !ar_dtype_is_integer(xs[2]->type.dtype))
        wrong = "columns and row_starts must be integers";
    else if (xs[0]->shape[0] != xs[1]->shape[0])
        wrong = "values and columns must be of one length";
    else if (xs[2]->shape[0] == 0)
        wrong = "row_starts needs one entry more than there are rows, so at least one";
    else if (xs[3]->rank < 1)
        wrong = "the dense array must have rank 1 or more";
    if (!wrong)
        return NULL;
    ar_fail(&err, ARRAS_ESHAPE, "csr_matmul: %s", wrong);
    return ar_poison_about(xs[0]->graph, &err, 4, xs);
}

arras_array ar_csr(arras_array values, arras_array columns, arras_array starts, arras_array x)
{
    arras_array inputs[] = { values, columns, starts, x },
                bad = ar_check_inputs("csr_matmul", 4, inputs);
    arras_dim shape[ARRAS_MAX_RANK];
    ar_type   type;

    if (bad || (bad = check_csr(inputs)))
        return bad;
    type = ar_promote(values->type, x->type);
    memcpy(shape, x->shape, (size_t)x->rank * sizeof *shape);
    shape[0] = ar_dim_sub(x->graph, starts->shape[0], 1);
    if ((bad = ar_check_shape(x->graph, "csr_matmul", x->rank, shape)))
        return bad;
    return ar_intern(x->graph, &(struct arras_node){ .kind = AR_CSR,
                                                     .type = { type.dtype, false },
                                                     .rank = x->rank,
                                                     .shape = shape,
                                                     .ninputs = 4,
                                                     .inputs = inputs });
}
