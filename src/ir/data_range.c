/* data_range.c -- the least and the largest number in data: where indices are known to be inside
 * nobody has to look at each of them. */
#include "ir/graph.h"

#include <string.h>

/* More would take longer to look at than it is worth. */
enum { MOST_CELLS = 1 << 26 };

static void take_numbers(ar_data_range *r, int64_t low, int64_t high)
{
    r->low = ar_min64(r->low, low);
    r->high = ar_max64(r->high, high);
}

/* Numbers side by side are looked at in a loop of their own, which compilers make vectors of. */
#define LOOK(T)                                                                                    \
    if (length > 0) {                                                                              \
        T low, high, number;                                                                       \
        memcpy(&low, from + (int64_t)at, sizeof low);                                              \
        high = low;                                                                                \
        if (stride == (int64_t)sizeof(T))                                                          \
            for (int64_t i = 0; i < length; i++) {                                                 \
                memcpy(&number, from + (int64_t)at + i * (int64_t)sizeof(T), sizeof number);       \
                low = number < low ? number : low;                                                 \
                high = number > high ? number : high;                                              \
            }                                                                                      \
        else                                                                                       \
            for (int64_t i = 0; i < length; i++, at += (uint64_t)stride) {                         \
                memcpy(&number, from + (int64_t)at, sizeof number);                                \
                low = number < low ? number : low;                                                 \
                high = number > high ? number : high;                                              \
            }                                                                                      \
        take_numbers(r, (int64_t)low, (int64_t)high);                                              \
    }                                                                                              \
    return

/* Offsets wrap around on the way: where a cell is read they are right. */
static void look_along(ar_data_range *r, arras_dtype dtype, const char *from, uint64_t at,
                       int64_t length, int64_t stride)
{
    switch (dtype) {
    case ARRAS_U8: LOOK(uint8_t);
    case ARRAS_U16: LOOK(uint16_t);
    case ARRAS_U32: LOOK(uint32_t);
    case ARRAS_I8: LOOK(int8_t);
    case ARRAS_I16: LOOK(int16_t);
    case ARRAS_I32: LOOK(int32_t);
    case ARRAS_I64: LOOK(int64_t);
    default: *r = ar_no_data_range;
    }
}

const ar_data_range ar_no_data_range = { INT64_MAX, INT64_MIN };

static void look_within(ar_data_range *r, const struct arras_node *data, int axis, uint64_t at)
{
    if (axis >= data->rank - 1) {
        look_along(r, data->type.dtype, data->ref, at, data->rank ? data->shape[axis] : 1,
                   data->rank ? data->ints[axis] : 0);
        return;
    }
    for (int64_t i = 0; i < data->shape[axis]; i++, at += (uint64_t)data->ints[axis])
        look_within(r, data, axis + 1, at);
}

static bool is_dense(const struct arras_node *data)
{
    int64_t stride = (int64_t)ar_dtype_size(data->type.dtype);

    for (int axis = data->rank - 1; axis >= 0; stride *= data->shape[axis--])
        if (data->ints[axis] != stride)
            return false;
    return true;
}

ar_data_range ar_data_look(const struct arras_node *data)
{
    ar_data_range r = ar_no_data_range;
    int64_t       cells = 1;

    if (!ar_dtype_is_integer(data->type.dtype) || data->type.dtype == ARRAS_U64)
        return r;
    for (int axis = 0; axis < data->rank; axis++)
        if (!ar_mul64(&cells, cells, data->shape[axis]) || cells > MOST_CELLS)
            return r;
    if (cells > 0 && is_dense(data))
        look_along(&r, data->type.dtype, data->ref, 0, cells,
                   (int64_t)ar_dtype_size(data->type.dtype));
    else if (cells > 0)
        look_within(&r, data, 0, 0);
    return r;
}

ar_data_range ar_data_range_of(arras_array data)
{
    return (ar_data_range){ data->ints[data->rank], data->ints[data->rank + 1] };
}

static bool is_borrowed(arras_array x) { return x->kind == AR_DATA && !x->ints[x->nints - 1]; }

arras_status ar_graph_check_data(const arras_graph *g, arras_error *err)
{
    for (int64_t id = 0; id < ar_graph_count(g); id++) {
        arras_array   x = ar_graph_node(g, id);
        ar_data_range now, then;

        if (!is_borrowed(x))
            continue;
        now = ar_data_look(x);
        then = ar_data_range_of(x);
        if (now.low != then.low || now.high != then.high)
            return ar_fail(err, ARRAS_EINVAL,
                           "borrowed data of type %s has numbers from %" PRId64 " to %" PRId64
                           ", but %" PRId64 " to %" PRId64
                           " when it was recorded: leave it as it is, or give it by arras_copy",
                           ar_dtype_name(x->type.dtype), now.low, now.high, then.low, then.high);
    }
    return ARRAS_OK;
}
