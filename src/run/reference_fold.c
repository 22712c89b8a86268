/* reference_fold.c -- many cells become one, in an order that is fixed and said in reference.h. */
#include "run/reference.h"

void ar_fold_open(ar_fold *fold, ar_reduction reduction, ar_type operand)
{
    ar_signature signature = { .compute = ARRAS_NO_DTYPE };

    ar_reduction_signature(&signature, reduction, operand); /* has one, or was not built */
    *fold = (ar_fold){ .first = signature.operand[0],
                       .compute = signature.compute,
                       .result = signature.result.dtype,
                       .combine = ar_op_value(ar_reduction_op(reduction), signature.compute),
                       .identity = ar_reduction_identity(reduction) };
    if (reduction != AR_REDUCE_argmin && reduction != AR_REDUCE_argmax)
        return;
    fold->is_better =
        ar_op_value(reduction == AR_REDUCE_argmin ? AR_OP_less : AR_OP_greater, fold->compute);
    fold->is_nan = ar_op_value(AR_OP_isnan, fold->compute);
}

void ar_fold_open_sum(ar_fold *fold, arras_dtype dtype)
{
    *fold = (ar_fold){
        .first = dtype, .compute = dtype, .result = dtype, .combine = ar_op_value(AR_OP_add, dtype)
    };
}

void ar_fold_start(ar_fold *fold) { fold->count = 0; }

static bool is_nan(const ar_fold *fold, const ar_value *cell)
{
    uint8_t answer;

    fold->is_nan(&answer, cell, cell, cell);
    return answer;
}

/* The first nan is the best of all; among equals the first one stays. */
static bool beats_the_best(const ar_fold *fold, const ar_value *cell)
{
    uint8_t answer;

    if (fold->count == 0)
        return true;
    if (is_nan(fold, &fold->partial[0]))
        return false;
    fold->is_better(&answer, cell, &fold->partial[0], cell);
    return answer || is_nan(fold, cell);
}

static void carry(ar_fold *fold, ar_value cell)
{
    int k = 0;

    for (; fold->count >> k & 1; k++)
        fold->combine(&cell, &fold->partial[k], &cell, &cell);
    fold->partial[k] = cell;
}

void ar_fold_add(ar_fold *fold, arras_dtype dtype, const void *cell, int64_t place)
{
    ar_value value = { 0 };

    ar_cell_read(fold->first, &value, dtype, cell);
    if (fold->first != fold->compute)
        ar_cell_read(fold->compute, &value, fold->first, &value);
    if (!fold->is_better) {
        carry(fold, value);
    } else if (beats_the_best(fold, &value)) {
        fold->partial[0] = value;
        fold->place = place;
    }
    fold->count++;
}

/* The later, smaller parts are combined first: they are the right side of every split. */
static void combine_parts(ar_fold *fold, ar_value *total)
{
    bool started = false;

    for (int k = 0; k < 64; k++) {
        if (!(fold->count >> k & 1))
            continue;
        if (started)
            fold->combine(total, &fold->partial[k], total, total);
        else
            *total = fold->partial[k];
        started = true;
    }
}

bool ar_fold_end(ar_fold *fold, void *out)
{
    int64_t  identity = fold->identity;
    ar_value total = { 0 };

    if (fold->count == 0 && identity < 0)
        return false;
    if (fold->count == 0) {
        ar_cell_cast(fold->result, out, ARRAS_I64, &identity);
    } else if (fold->is_better) {
        ar_cell_cast(fold->result, out, ARRAS_I64, &fold->place);
    } else {
        combine_parts(fold, &total);
        ar_cell_cast(fold->result, out, fold->compute, &total);
    }
    return true;
}
