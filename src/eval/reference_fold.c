/* reference_fold.c -- many cells become one, in an order that is fixed: ir/trees.h. */
#include "eval/reference.h"

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
    if (is_nan(fold, &fold->serial))
        return false;
    fold->is_better(&answer, cell, &fold->serial, cell);
    return answer || is_nan(fold, cell);
}

static void combine(const ar_fold *fold, ar_value *earlier, const ar_value *later)
{
    fold->combine(earlier, earlier, later, later);
}

/* The cells of the block that is open, in lanes[0].  A lane has a cell if a later one has. */
static void halve_lanes(ar_fold *fold, uint64_t cells)
{
    for (uint64_t half = AR_FOLD_LANES / 2; half > 0; half /= 2)
        for (uint64_t lane = 0; lane < half && lane + half < cells; lane++)
            combine(fold, &fold->lanes[lane], &fold->lanes[lane + half]);
}

/* The block in lanes[0] is number `before`: equal parts are merged, as a counter carries. */
static void push_block(ar_fold *fold, uint64_t before)
{
    ar_value block = fold->lanes[0];
    int      k = 0;

    for (; before >> k & 1; k++)
        fold->combine(&block, &fold->blocks[k], &block, &block);
    fold->blocks[k] = block;
}

/* How many cells will come is not known, so that the first ones are combined both ways. */
static void add_in_order(ar_fold *fold, const ar_value *cell)
{
    uint64_t place = fold->count % AR_FOLD_BLOCK;

    if (fold->partials) {
        fold->lanes[0] = *cell;
        push_block(fold, fold->count);
        return;
    }
    if (fold->count == 0)
        fold->serial = *cell;
    else if (fold->count < AR_FOLD_SERIAL)
        combine(fold, &fold->serial, cell);
    if (place < AR_FOLD_LANES)
        fold->lanes[place] = *cell;
    else
        combine(fold, &fold->lanes[place % AR_FOLD_LANES], cell);
    if (place == AR_FOLD_BLOCK - 1) {
        halve_lanes(fold, AR_FOLD_LANES);
        push_block(fold, fold->count / AR_FOLD_BLOCK);
    }
}

void ar_fold_add(ar_fold *fold, arras_dtype dtype, const void *cell, int64_t place)
{
    ar_value value = { 0 };

    ar_cell_read(fold->first, &value, dtype, cell);
    if (fold->first != fold->compute)
        ar_cell_read(fold->compute, &value, fold->first, &value);
    if (!fold->is_better) {
        add_in_order(fold, &value);
    } else if (beats_the_best(fold, &value)) {
        fold->serial = value;
        fold->place = place;
    }
    fold->count++;
}

void ar_fold_add_product(ar_fold *fold, const ar_value *x, const ar_value *y)
{
    if (fold->count++ == 0)
        ar_op_value(AR_OP_multiply, fold->compute)(&fold->serial, x, y, y);
    else
        ar_op_value(AR_OP_fma, fold->compute)(&fold->serial, x, y, &fold->serial);
}

/* The later, smaller parts are combined first: they are the right side of every split. */
static void combine_blocks(ar_fold *fold, ar_value *total)
{
    uint64_t size = fold->partials ? 1 : AR_FOLD_BLOCK;
    uint64_t blocks = fold->count / size, rest = fold->count % size;
    bool     started = rest > 0;

    if (started) {
        halve_lanes(fold, rest);
        *total = fold->lanes[0];
    }
    for (int k = 0; k < AR_FOLD_DEPTH; k++) {
        if (!(blocks >> k & 1))
            continue;
        if (started)
            fold->combine(total, &fold->blocks[k], total, total);
        else
            *total = fold->blocks[k];
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
    } else if (fold->count <= AR_FOLD_SERIAL && !fold->in_blocks && !fold->partials) {
        ar_cell_cast(fold->result, out, fold->compute, &fold->serial);
    } else {
        combine_blocks(fold, &total);
        ar_cell_cast(fold->result, out, fold->compute, &total);
    }
    return true;
}
