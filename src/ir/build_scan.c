/* build_scan.c -- reductions of all cells up to each, along an axis. */
#include "ir/graph.h"

/* Those whose cells are of the type of the result. */
static bool is_scanned(ar_reduction reduction)
{
    return reduction != AR_REDUCE_argmin && reduction != AR_REDUCE_argmax &&
           reduction != AR_REDUCE_count_nonzero;
}

bool ar_scan_is_grouped(ar_op op, arras_dtype dtype, int64_t n)
{
    return n > AR_FOLD_SERIAL && ar_dtype_class(dtype) >= AR_CLASS_REAL &&
           (op == AR_OP_add || op == AR_OP_multiply);
}

arras_array ar_scan(ar_reduction reduction, arras_array x, int axis)
{
    const char  *name = reduction == AR_REDUCE_sum ? "cumulative_sum" : "scan";
    arras_array  bad = ar_check_inputs(name, 1, &x);
    ar_signature s;
    arras_error  err;

    if (bad)
        return bad;
    if (ar_axis_check(&axis, name, axis, x->rank, &err) != ARRAS_OK)
        return ar_poison_about(x->graph, &err, 1, &x);
    if (!is_scanned(reduction) || !ar_reduction_signature(&s, reduction, x->type)) {
        ar_fail(&err, ARRAS_EDTYPE, "%s: the %s of the cells so far is not defined for this type",
                name, ar_reduction_name(reduction));
        return ar_poison_about(x->graph, &err, 1, &x);
    }
    return ar_intern(x->graph, &(struct arras_node){ .kind = AR_SCAN,
                                                     .type = { s.result.dtype, false },
                                                     .rank = x->rank,
                                                     .shape = x->shape,
                                                     .ninputs = 1,
                                                     .inputs = &x,
                                                     .nints = 2,
                                                     .ints = (int64_t[]){ reduction, axis } });
}
