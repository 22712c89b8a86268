/* build_index.c -- what stands between brackets: numbers, slices, new axes, ellipses, index arrays.
 */
#include "ir/graph.h"

#include <string.h>

enum { MAX_ITEMS = 2 * ARRAS_MAX_RANK };

/* ---- One axis -------------------------------------------------------------------------------- */

static arras_array poison_at(arras_array x, int axis, const char *what, arras_dim index)
{
    ar_text     text = { 0 }, length = { 0 };
    arras_error err;

    ar_dim_print(&text, x->graph, index);
    ar_dim_print(&length, x->graph, x->shape[axis]);
    ar_fail(&err, ARRAS_EINDEX, "index: %s %s is out of bounds for axis %d of length %s", what,
            text.data ? text.data : "", axis, length.data ? length.data : "");
    ar_text_free(&text);
    ar_text_free(&length);
    return ar_poison_about(x->graph, &err, 1, &x);
}

/* A number: negative ones count from the end. */
static arras_array place_number(int64_t *item, arras_array x, int axis, arras_dim index)
{
    arras_dim length = x->shape[axis], start = index;

    if (!ar_dim_symbolic(index) && index < 0)
        start = ar_dim_add(x->graph, length, index);
    if (ar_dim_error(x->graph, start))
        return ar_poison(x->graph, ARRAS_ESIZE, "index: axis %d: %s", axis,
                         ar_dim_error(x->graph, start));
    if (!ar_dim_symbolic(start) && !ar_dim_symbolic(length) && (start < 0 || start >= length))
        return poison_at(x, axis, "number", index);
    item[AR_ITEM_KIND] = ARRAS_AT;
    item[AR_ITEM_START] = start;
    item[AR_ITEM_STEP] = 1;
    item[AR_ITEM_LENGTH] = 1;
    return NULL;
}

/* A bound as Python clips it: to 0..length going up, to -1..length-1 going down. */
static int64_t clip_bound(int64_t bound, int64_t length, int64_t step)
{
    int64_t lowest = step < 0 ? -1 : 0, highest = step < 0 ? length - 1 : length;

    if (bound < 0)
        bound = bound < -length ? lowest : bound + length;
    return ar_max64(lowest, ar_min64(bound, highest));
}

static void slice_numbers(int64_t *item, int64_t length, const arras_item *slice)
{
    int64_t step = slice->step, count;
    int64_t start = slice->start == ARRAS_NONE ? (step < 0 ? length - 1 : 0)
                                               : clip_bound(slice->start, length, step);
    int64_t stop = slice->stop == ARRAS_NONE ? (step < 0 ? -1 : length)
                                             : clip_bound(slice->stop, length, step);

    /* As unsigned: the distance is at most the length, but -INT64_MIN is no number. */
    if (step > 0)
        count = stop <= start ? 0 : (int64_t)((uint64_t)(stop - start - 1) / (uint64_t)step) + 1;
    else
        count =
            start <= stop ? 0 : (int64_t)((uint64_t)(start - stop - 1) / (0 - (uint64_t)step)) + 1;
    item[AR_ITEM_START] = count == 0 ? 0 : start; /* one spelling for nothing */
    item[AR_ITEM_STEP] = count <= 1 ? 1 : step;
    item[AR_ITEM_LENGTH] = count;
}

static arras_dim bound_of(arras_graph *g, arras_dim bound, arras_dim length, arras_dim none)
{
    if (bound == ARRAS_NONE)
        return none;
    return !ar_dim_symbolic(bound) && bound < 0 ? ar_dim_add(g, length, bound) : bound;
}

/* With symbolic lengths nothing is clipped: bounds are checked when the sizes are known. */
static arras_array slice_symbols(int64_t *item, arras_array x, int axis, const arras_item *slice)
{
    arras_graph *g = x->graph;
    arras_dim    length = x->shape[axis], start, stop, count;
    bool         up = slice->step == 1;

    if (slice->step != 1 && slice->step != -1)
        return ar_poison(g, ARRAS_ESIZE,
                         "index: step %" PRId64 " on axis %d of symbolic length gives a length "
                         "that is not affine: use step 1 or -1, or a known length",
                         slice->step, axis);
    start = bound_of(g, slice->start, length, up ? 0 : ar_dim_sub(g, length, 1));
    stop = bound_of(g, slice->stop, length, up ? length : -1);
    count = up ? ar_dim_sub(g, stop, start) : ar_dim_sub(g, start, stop);
    if (ar_dim_error(g, count))
        return ar_poison(g, ARRAS_ESIZE, "index: axis %d: %s", axis, ar_dim_error(g, count));
    if (!ar_dim_symbolic(start) && start < 0)
        return poison_at(x, axis, "start", slice->start);
    if (!ar_dim_symbolic(count) && count < 0)
        count = 0;
    item[AR_ITEM_START] = count == 0 ? 0 : start;
    item[AR_ITEM_STEP] = slice->step;
    item[AR_ITEM_LENGTH] = count;
    return NULL;
}

static arras_array place_slice(int64_t *item, arras_array x, int axis, const arras_item *slice)
{
    item[AR_ITEM_KIND] = ARRAS_SLICE;
    if (slice->step == 0)
        return ar_poison(x->graph, ARRAS_EINVAL, "index: the step of the slice of axis %d is 0",
                         axis);
    if (slice->start == ARRAS_NONE && slice->stop == ARRAS_NONE && slice->step == 1) {
        item[AR_ITEM_START] = 0, item[AR_ITEM_STEP] = 1, item[AR_ITEM_LENGTH] = x->shape[axis];
        return NULL;
    }
    if (ar_dim_symbolic(x->shape[axis]) || ar_dim_symbolic(slice->start) ||
        ar_dim_symbolic(slice->stop))
        return slice_symbols(item, x, axis, slice);
    slice_numbers(item, x->shape[axis], slice);
    return NULL;
}

/* ---- The list of items ----------------------------------------------------------------------- */

static bool takes_axis(const arras_item *item)
{
    return item->kind == ARRAS_AT || item->kind == ARRAS_SLICE || item->kind == ARRAS_GATHER;
}

/* Writes out the ellipsis (or the one that stands at the end of every index) as full slices. */
static arras_array spread(arras_item *out, int *count, arras_array x, int n,
                          const arras_item *items)
{
    int taken = 0, ellipses = 0, made = 0;

    if (n > 0 && !items)
        return ar_poison(x->graph, ARRAS_EINVAL, "index: the items are NULL");
    if (n < 0 || n > MAX_ITEMS)
        return ar_poison(x->graph, ARRAS_ELIMIT, "index: %d items; there may be 0..%d", n,
                         MAX_ITEMS);
    for (int i = 0; i < n; i++) {
        if ((int)items[i].kind < 0 || items[i].kind > ARRAS_GATHER)
            return ar_poison(x->graph, ARRAS_EINVAL, "index: item %d is of no kind that there is",
                             i);
        taken += takes_axis(&items[i]);
        ellipses += items[i].kind == ARRAS_ELLIPSIS;
    }
    if (ellipses > 1)
        return ar_poison(x->graph, ARRAS_EINVAL, "index: %d ellipses; there may be one", ellipses);
    if (taken > x->rank)
        return ar_poison(x->graph, ARRAS_EINDEX, "index: %d indices for an array of rank %d", taken,
                         x->rank);
    for (int i = 0; i <= n; i++) {
        if (i < n && items[i].kind != ARRAS_ELLIPSIS)
            out[made++] = items[i];
        else if (i < n || ellipses == 0)
            for (int k = taken; k < x->rank; k++)
                out[made++] = arras_all_of_axis();
    }
    *count = made;
    return NULL;
}

/* x[:, :] is x; an untyped number has a type once it is indexed. */
static bool takes_all(arras_array x, int n, const int64_t *ints)
{
    for (int i = 0; i < n; i++) {
        const int64_t *item = &ints[i * AR_ITEM_INTS];

        if (item[AR_ITEM_KIND] != ARRAS_SLICE || item[AR_ITEM_START] != 0 ||
            item[AR_ITEM_STEP] != 1 || item[AR_ITEM_LENGTH] != x->shape[i])
            return false;
    }
    return !x->type.weak;
}

static arras_array index_node(arras_array x, int n, const int64_t *ints)
{
    arras_dim   shape[MAX_ITEMS + ARRAS_MAX_RANK];
    int         rank = 0;
    arras_array bad;

    if (takes_all(x, n, ints))
        return x;
    for (int i = 0; i < n; i++)
        if (ints[i * AR_ITEM_INTS + AR_ITEM_KIND] != ARRAS_AT)
            shape[rank++] = ints[i * AR_ITEM_INTS + AR_ITEM_LENGTH];
    if ((bad = ar_check_shape(x->graph, "index", rank, shape)))
        return bad;
    return ar_intern(x->graph, &(struct arras_node){ .kind = AR_INDEX,
                                                     .type = { x->type.dtype, false },
                                                     .rank = rank,
                                                     .shape = shape,
                                                     .ninputs = 1,
                                                     .inputs = &x,
                                                     .nints = n * AR_ITEM_INTS,
                                                     .ints = ints });
}

/* Index arrays are left for the gather that follows: their axes stay whole. */
static arras_array index_basic(arras_array x, int n, const arras_item *items)
{
    int64_t     ints[(MAX_ITEMS + ARRAS_MAX_RANK) * AR_ITEM_INTS];
    int         axis = 0;
    arras_array bad = NULL;

    for (int i = 0; i < n && !bad; i++) {
        int64_t   *item = &ints[i * AR_ITEM_INTS];
        arras_item whole = arras_all_of_axis();

        if (items[i].kind == ARRAS_NEWAXIS)
            item[AR_ITEM_KIND] = ARRAS_NEWAXIS, item[AR_ITEM_START] = 0, item[AR_ITEM_STEP] = 1,
            item[AR_ITEM_LENGTH] = 1;
        else if (items[i].kind == ARRAS_AT)
            bad = place_number(item, x, axis++, items[i].start);
        else
            bad = place_slice(item, x, axis++, items[i].kind == ARRAS_GATHER ? &whole : &items[i]);
    }
    return bad ? bad : index_node(x, n, ints);
}

/* ---- Index arrays ---------------------------------------------------------------------------- */

static bool is_advanced(const arras_item *item)
{
    return item->kind == ARRAS_GATHER || item->kind == ARRAS_AT;
}

/* Turns numbers into 0-d index arrays: beside an index array they count as such. */
static arras_item as_gather(arras_graph *g, arras_item item)
{
    if (item.kind != ARRAS_AT)
        return item;
    if (ar_dim_symbolic(item.start))
        return arras_gather(ar_size_node(g, item.start));
    return arras_gather(
        ar_const(g, (ar_type){ ARRAS_I64, false }, (ar_value){ .bits = { item.start, 0 } }));
}

/* Whether all index arrays and numbers stand side by side, as the user wrote them: even an ellipsis
 * that stands for no axis comes between. */
static bool side_by_side(int n, const arras_item *items)
{
    int first = -1, last = -1, count = 0;

    for (int i = 0; i < n; i++)
        if (is_advanced(&items[i])) {
            first = first < 0 ? i : first;
            last = i;
            count++;
        }
    return last - first + 1 == count;
}

static int first_advanced(int n, const arras_item *items)
{
    int i = 0;

    while (i < n && !is_advanced(&items[i]))
        i++;
    return i;
}

/* The axes of the index arrays go to the place of the first one if they stand together, else they
 * come first. */
static arras_array index_advanced(arras_array x, int n, arras_item *items, bool together)
{
    int         place = together ? first_advanced(n, items) : 0, count = 0, result_axis = 0;
    arras_array indices[ARRAS_MAX_RANK], whole;
    uint32_t    axes = 0;

    for (int i = 0; i < n; i++) {
        items[i] = as_gather(x->graph, items[i]);
        if (items[i].kind == ARRAS_GATHER && result_axis < ARRAS_MAX_RANK) {
            axes |= (uint32_t)1 << result_axis;
            indices[count++] = items[i].index;
        }
        result_axis++;
    }
    whole = index_basic(x, n, items);
    return ar_is_poison(whole) ? whole : ar_gather(whole, axes, place, count, indices);
}

arras_array ar_index(arras_array x, int n, const arras_item *items)
{
    arras_array bad = ar_check_inputs("index", 1, &x);
    arras_item  all[MAX_ITEMS + ARRAS_MAX_RANK];
    int         count = 0;

    if (bad || (bad = spread(all, &count, x, n, items)))
        return bad;
    for (int i = 0; i < count; i++)
        if (all[i].kind == ARRAS_GATHER)
            return index_advanced(x, count, all, side_by_side(n, items));
    return index_basic(x, count, all);
}

/* ---- For readers: nodes as they stand -------------------------------------------------------- */

/* First and last cell of a slice lie within the axis; where sizes are symbolic the evaluator looks.
 */
static bool slice_inside(const int64_t *item, arras_dim length)
{
    int64_t start = item[AR_ITEM_START], count = item[AR_ITEM_LENGTH], reach;

    if (ar_dim_symbolic(start) || ar_dim_symbolic(count) || ar_dim_symbolic(length) || count == 0)
        return true;
    return start >= 0 && start < length && ar_mul64(&reach, count - 1, item[AR_ITEM_STEP]) &&
           ar_add64(&reach, reach, start) && reach >= 0 && reach < length;
}

static arras_array check_exact(arras_array x, int n, const int64_t *ints)
{
    int axis = 0;

    for (int i = 0; i < n; i++) {
        const int64_t *item = &ints[i * AR_ITEM_INTS];

        if (item[AR_ITEM_KIND] == ARRAS_NEWAXIS) {
            if (item[AR_ITEM_LENGTH] != 1)
                return ar_poison(x->graph, ARRAS_EINDEX, "index: a new axis has length 1");
            continue;
        }
        if (item[AR_ITEM_KIND] != ARRAS_AT && item[AR_ITEM_KIND] != ARRAS_SLICE)
            return ar_poison(x->graph, ARRAS_EINVAL, "index: item %d is of no kind that there is",
                             i);
        if (axis >= x->rank || item[AR_ITEM_STEP] == 0)
            return ar_poison(x->graph, ARRAS_EINDEX, "index: item %d has no axis, or step 0", i);
        if (!ar_dim_symbolic(item[AR_ITEM_LENGTH]) && item[AR_ITEM_LENGTH] < 0)
            return ar_poison(x->graph, ARRAS_EINDEX, "index: item %d has a negative length", i);
        if (ar_dim_error(x->graph, item[AR_ITEM_START]) || !slice_inside(item, x->shape[axis]))
            return poison_at(x, axis, "start", item[AR_ITEM_START]);
        axis++;
    }
    if (axis != x->rank)
        return ar_poison(x->graph, ARRAS_EINDEX, "index: %d indices for an array of rank %d", axis,
                         x->rank);
    return NULL;
}

arras_array ar_index_exact(arras_array x, int n, const int64_t *ints)
{
    arras_array bad = ar_check_inputs("index", 1, &x);

    if (bad)
        return bad;
    if (n < 0 || n > MAX_ITEMS + ARRAS_MAX_RANK)
        return ar_poison(x->graph, ARRAS_ELIMIT, "index: %d items; there may be 0..%d", n,
                         MAX_ITEMS);
    if ((bad = check_exact(x, n, ints)))
        return bad;
    return index_node(x, n, ints);
}

/* ---- Gather ---------------------------------------------------------------------------------- */

static arras_array check_indices(arras_array x, uint32_t axes, int n, const arras_array *indices)
{
    arras_array bad = ar_check_inputs("gather", n, indices);
    arras_error err;
    int         count = __builtin_popcount(axes);

    if (bad)
        return bad;
    if (indices[0]->graph != x->graph)
        return ar_poison(x->graph, ARRAS_EINVAL, "gather: an index array belongs to another graph");
    if (count != n || (x->rank < 32 && axes >> x->rank != 0))
        return ar_poison(x->graph, ARRAS_EAXIS,
                         "gather: %d index arrays for %d axes of an array of rank %d", n, count,
                         x->rank);
    for (int i = 0; i < n; i++)
        if (!ar_dtype_is_integer(indices[i]->type.dtype)) {
            ar_fail(&err, ARRAS_EDTYPE,
                    "gather: an index array is %s: it must be an integer type%s",
                    ar_dtype_name(indices[i]->type.dtype),
                    indices[i]->type.dtype == ARRAS_BOOL ? " (for masks use where)" : "");
            return ar_poison_about(x->graph, &err, 1, &indices[i]);
        }
    return NULL;
}

arras_array ar_gather(arras_array x, uint32_t axes, int place, int n, const arras_array *indices)
{
    arras_array bad = ar_check_inputs("gather", 1, &x), inputs[ARRAS_MAX_RANK + 1];
    arras_dim   picked[ARRAS_MAX_RANK], shape[2 * ARRAS_MAX_RANK];
    int         picked_rank = 0, rank = 0;
    arras_error err;

    if (bad || (bad = check_indices(x, axes, n, indices)))
        return bad;
    for (int i = 0; i < n; i++)
        if (ar_broadcast(&picked_rank, picked, x->graph, "gather", picked_rank, picked,
                         indices[i]->rank, indices[i]->shape, &err) != ARRAS_OK)
            return ar_poison_about(x->graph, &err, n, indices);
    for (int d = 0; d < x->rank; d++)
        if (!(axes >> d & 1))
            shape[rank++] = x->shape[d];
    if (place < 0 || place > rank)
        return ar_poison(x->graph, ARRAS_EAXIS, "gather: place %d is not in 0..%d", place, rank);
    memmove(shape + place + picked_rank, shape + place, (size_t)(rank - place) * sizeof *shape);
    memcpy(shape + place, picked, (size_t)picked_rank * sizeof *shape);
    rank += picked_rank;
    if ((bad = ar_check_shape(x->graph, "gather", rank, shape)))
        return bad;
    inputs[0] = x;
    memcpy(inputs + 1, indices, (size_t)n * sizeof *inputs);
    return ar_intern(x->graph, &(struct arras_node){ .kind = AR_GATHER,
                                                     .type = { x->type.dtype, false },
                                                     .rank = rank,
                                                     .shape = shape,
                                                     .ninputs = n + 1,
                                                     .inputs = inputs,
                                                     .nints = 2,
                                                     .ints = (int64_t[]){ axes, place } });
}
