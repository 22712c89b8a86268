/* picture_view.c -- which part of an array is shown, and its cells as reals. */
#include "cmd/picture.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Longer axes would overflow the arithmetic of areas. */
#define LONGEST_AXIS ((int64_t)1 << 46)

/* One item of a slice, with its bounds brought inside the axis. */
typedef struct {
    bool    is_index;
    int64_t start, stride, count;
} item;

/* ---- Reading a slice ------------------------------------------------------------------------- */

typedef struct {
    const char *at;
    const char *whole; /* for messages */
    cmd_error  *err;
} reader;

static bool bad_slice(reader *r, const char *why)
{
    return cmd_fail(r->err,
                    "--slice %s: %s; write one item for each axis: an index, or from:to:step",
                    r->whole, why);
}

static void skip_blanks(reader *r) { r->at += strspn(r->at, " "); }

/* A whole number, if there is one. */
static bool read_int(reader *r, int64_t *out, bool *there)
{
    char *end = NULL;

    skip_blanks(r);
    *there = strchr("+-0123456789", *r->at) && *r->at;
    if (!*there)
        return true;
    *out = strtoll(r->at, &end, 10);
    if (end == r->at || *out > LONGEST_AXIS || *out < -LONGEST_AXIS)
        return bad_slice(r, "a number is malformed or too large");
    r->at = end;
    skip_blanks(r);
    return true;
}

static int64_t clip(int64_t value, int64_t lo, int64_t hi)
{
    return value < lo ? lo : value > hi ? hi : value;
}

/* Bounds as in Python: negative ones count from the end, what is outside is cut off. */
static bool resolve_range(reader *r, item *out, const int64_t *bound, const bool *there,
                          int64_t length)
{
    int64_t stride = there[2] ? bound[2] : 1, from, to;

    if (stride == 0)
        return bad_slice(r, "a step of 0 goes nowhere");
    from = there[0] ? bound[0] + (bound[0] < 0 ? length : 0) : stride > 0 ? 0 : length - 1;
    to = there[1] ? bound[1] + (bound[1] < 0 ? length : 0) : stride > 0 ? length : -1;
    from = stride > 0 ? clip(from, 0, length) : clip(from, -1, length - 1);
    to = stride > 0 ? clip(to, 0, length) : clip(to, -1, length - 1);
    int64_t distance = stride > 0 ? to - from : from - to;
    int64_t pace = stride > 0 ? stride : -stride;

    *out = (item){ false, from, stride, distance > 0 ? (distance - 1) / pace + 1 : 0 };
    return out->count > 0 || bad_slice(r, "a range holds no cells");
}

static bool resolve_index(reader *r, item *out, int64_t index, int axis, int64_t length)
{
    int64_t at = index < 0 ? index + length : index;

    if (at < 0 || at >= length)
        return cmd_fail(r->err,
                        "--slice %s: index %" PRId64 " is outside axis %d, which has %" PRId64
                        " cells (0 to %" PRId64 ")",
                        r->whole, index, axis, length, length - 1);
    *out = (item){ true, at, 1, 1 };
    return true;
}

static bool read_item(reader *r, item *out, int axis, int64_t length)
{
    int64_t bound[3] = { 0 };
    bool    there[3] = { false };
    int     n = 0;

    if (!read_int(r, &bound[0], &there[0]))
        return false;
    while (*r->at == ':' && n < 2) {
        r->at++;
        n++;
        if (!read_int(r, &bound[n], &there[n]))
            return false;
    }
    if (*r->at && *r->at != ',')
        return bad_slice(r, "there is something that is neither a number nor `:` nor `,`");
    if (n > 0)
        return resolve_range(r, out, bound, there, length);
    if (!there[0])
        return bad_slice(r, "an item is empty");
    return resolve_index(r, out, bound[0], axis, length);
}

static bool read_slice(item *items, const cmd_array *a, const char *text, cmd_error *err)
{
    reader r = { text, text, err };

    for (int axis = 0; axis < a->rank; axis++)
        items[axis] = (item){ false, 0, 1, a->shape[axis] };
    for (int axis = 0; axis < a->rank; axis++) {
        if (!read_item(&r, &items[axis], axis, a->shape[axis]))
            return false;
        if (!*r.at)
            return true;
        r.at++;
    }
    return cmd_fail(err, "--slice %s has more items than the array has axes (%d)", text, a->rank);
}

/* The middle of all axes but the last two. */
static void choose_items(item *items, const cmd_array *a)
{
    for (int axis = 0; axis < a->rank; axis++)
        items[axis] = axis + 2 < a->rank ? (item){ true, a->shape[axis] / 2, 1, 1 }
                                         : (item){ false, 0, 1, a->shape[axis] };
}

/* ---- A view ---------------------------------------------------------------------------------- */

static int put_item(char *out, size_t size, const item *i, int64_t length)
{
    if (i->is_index)
        return snprintf(out, size, "%" PRId64, i->start);
    if (i->count == length && i->stride == 1)
        return snprintf(out, size, ":");
    int64_t end = i->start + (i->count - 1) * i->stride + (i->stride > 0 ? 1 : -1);
    if (i->stride == 1)
        return snprintf(out, size, "%" PRId64 ":%" PRId64, i->start, end);
    if (end < 0)
        return snprintf(out, size, "%" PRId64 "::%" PRId64, i->start, i->stride);
    return snprintf(out, size, "%" PRId64 ":%" PRId64 ":%" PRId64, i->start, end, i->stride);
}

static void describe_part(cmd_view *v, const cmd_array *a, const item *items)
{
    char   one[80];
    bool   whole = true;
    size_t used = 0;

    for (int axis = 0; axis < a->rank; axis++) {
        put_item(one, sizeof one, &items[axis], a->shape[axis]);
        whole = whole && strcmp(one, ":") == 0;
        used +=
            (size_t)snprintf(v->part + used, sizeof v->part - used, "%s%s", axis ? ", " : "[", one);
        if (used > sizeof v->part - 2)
            used = sizeof v->part - 2;
    }
    snprintf(v->part + used, sizeof v->part - used, "]");
    if (whole)
        v->part[0] = '\0';
}

static void keep_axis(cmd_view *v, int slot, int axis, const item *i, int64_t step)
{
    v->axis[slot] = axis;
    v->length[slot] = i->count;
    v->first[slot] = i->start;
    v->stride[slot] = i->stride;
    v->step[slot] = step * i->stride;
}

static bool take_part(cmd_view *v, const cmd_array *a, const item *items, cmd_error *err)
{
    int64_t step = (int64_t)arras_dtype_size(a->dtype);
    int     slot;

    for (int axis = 0; axis < a->rank; axis++)
        v->rank += !items[axis].is_index;
    if (v->rank == 0)
        return cmd_fail(err, "--slice leaves a single cell: leave an axis or two as `:`");
    if (v->rank > 2)
        return cmd_fail(err,
                        "--slice leaves %d axes and a picture has at most 2: give an index for "
                        "the others",
                        v->rank);
    slot = v->rank;
    for (int axis = a->rank - 1; axis >= 0; axis--) {
        v->data += items[axis].start * step;
        if (!items[axis].is_index)
            keep_axis(v, --slot, axis, &items[axis], step);
        step *= a->shape[axis];
    }
    return true;
}

static bool check_shape(const cmd_array *a, cmd_error *err)
{
    if (a->rank == 0)
        return cmd_fail(err, "an array without axes is a single number: there is nothing to draw");
    for (int axis = 0; axis < a->rank; axis++) {
        if (a->shape[axis] == 0)
            return cmd_fail(err, "the array is empty (axis %d has no cells): nothing to draw",
                            axis);
        if (a->shape[axis] > LONGEST_AXIS)
            return cmd_fail(err, "axis %d has %" PRId64 " cells; pictures end at %" PRId64, axis,
                            a->shape[axis], LONGEST_AXIS);
    }
    return true;
}

bool cmd_view_of(cmd_view *out, const cmd_array *a, const char *slice, cmd_error *err)
{
    item     items[ARRAS_MAX_RANK];
    cmd_view v = { .dtype = a->dtype, .data = a->data };

    if (!check_shape(a, err) || (slice && !read_slice(items, a, slice, err)))
        return false;
    if (!slice)
        choose_items(items, a);
    if (!take_part(&v, a, items, err))
        return false;
    describe_part(&v, a, items);
    v.chosen = !slice && a->rank > 2;
    *out = v;
    return true;
}

int64_t cmd_view_rows(const cmd_view *v) { return v->rank == 1 ? 1 : v->length[0]; }
int64_t cmd_view_columns(const cmd_view *v) { return v->length[v->rank - 1]; }

/* ---- Cells as reals -------------------------------------------------------------------------- */

#define READ_REAL(type)                                                                            \
    for (int64_t i = 0; i < count; i++)                                                            \
        out[i] = (double)*(const type *)(from + i * step);                                         \
    break
#define READ_COMPLEX(type)                                                                         \
    for (int64_t i = 0; i < count; i++)                                                            \
        out[i] = hypot((double)((const type *)(from + i * step))[0],                               \
                       (double)((const type *)(from + i * step))[1]);                              \
    break

static void read_cells(double *out, arras_dtype dtype, const char *from, int64_t step,
                       int64_t count)
{
    switch (dtype) {
    case ARRAS_BOOL:
    case ARRAS_U8: READ_REAL(uint8_t);
    case ARRAS_U16: READ_REAL(uint16_t);
    case ARRAS_U32: READ_REAL(uint32_t);
    case ARRAS_U64: READ_REAL(uint64_t);
    case ARRAS_I8: READ_REAL(int8_t);
    case ARRAS_I16: READ_REAL(int16_t);
    case ARRAS_I32: READ_REAL(int32_t);
    case ARRAS_I64: READ_REAL(int64_t);
    case ARRAS_F32: READ_REAL(float);
    case ARRAS_F64: READ_REAL(double);
    case ARRAS_C64: READ_COMPLEX(float);
    case ARRAS_C128: READ_COMPLEX(double);
    case ARRAS_NO_DTYPE:
    case ARRAS_DTYPE_END: break;
    }
}

void cmd_view_read(double *out, const cmd_view *v, int64_t row, int64_t from, int64_t count)
{
    int64_t step = v->step[v->rank - 1];
    int64_t start = (v->rank == 2 ? row * v->step[0] : 0) + from * step;

    read_cells(out, v->dtype, v->data + start, step, count);
}
