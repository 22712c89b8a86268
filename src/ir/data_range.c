/* data_range.c -- the least and the largest number in data: where indices are known to be inside
 * nobody has to look at each of them. */
#include "ir/graph.h"

#include <string.h>

/* More would take longer to look at than it is worth. */
enum { MOST_CELLS = 1 << 26 };

static void take_number(ar_data_range *r, int64_t number)
{
    r->low = ar_min64(r->low, number);
    r->high = ar_max64(r->high, number);
}

#define LOOK(T)                                                                                    \
    for (int64_t i = 0; i < length; i++, at += (uint64_t)stride) {                                 \
        T number;                                                                                  \
        memcpy(&number, from + (int64_t)at, sizeof number);                                        \
        take_number(r, (int64_t)number);                                                           \
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

ar_data_range ar_data_look(const struct arras_node *data)
{
    ar_data_range r = ar_no_data_range;
    int64_t       cells = 1;

    if (!ar_dtype_is_integer(data->type.dtype) || data->type.dtype == ARRAS_U64)
        return r;
    for (int axis = 0; axis < data->rank; axis++)
        if (!ar_mul64(&cells, cells, data->shape[axis]) || cells > MOST_CELLS)
            return r;
    if (cells > 0)
        look_within(&r, data, 0, 0);
    return r;
}

ar_data_range ar_data_range_of(arras_array data)
{
    return (ar_data_range){ data->ints[data->rank], data->ints[data->rank + 1] };
}
