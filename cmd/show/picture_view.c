/* picture_view.c -- which part of an array is shown, and its cells as reals. */
#include "cmd/io/slice.h"
#include "cmd/show/picture.h"
#include "cmd/show/picture_window.h"

#include <inttypes.h>
#include <math.h>

/* ---- A view ---------------------------------------------------------------------------------- */

/* The middle of all axes but the last two. */
static void choose_items(cmd_item *items, const cmd_array *a)
{
    for (int axis = 0; axis < a->rank; axis++)
        items[axis] = axis + 2 < a->rank ? (cmd_item){ true, a->shape[axis] / 2, 1, 1 }
                                         : (cmd_item){ false, 0, 1, a->shape[axis] };
}

static void keep_axis(cmd_view *v, int slot, int axis, const cmd_item *i)
{
    v->axis[slot] = axis;
    v->length[slot] = i->count;
    v->first[slot] = i->start;
    v->stride[slot] = i->stride;
}

static bool keep_axes(cmd_view *v, int rank, const cmd_item *items, cmd_error *err)
{
    int slot = 0;

    for (int axis = 0; axis < rank; axis++)
        v->rank += !items[axis].is_index;
    if (v->rank == 0)
        return cmd_fail(err, "--slice leaves a single cell: leave an axis or two as `:`");
    if (v->rank > 2)
        return cmd_fail(err,
                        "--slice leaves %d axes and a picture has at most 2: give an index for "
                        "the others",
                        v->rank);
    for (int axis = 0; axis < rank; axis++)
        if (!items[axis].is_index)
            keep_axis(v, slot++, axis, &items[axis]);
    return true;
}

/* Where in memory the cells of the part are. */
static void set_steps(cmd_view *v, const cmd_array *a, const cmd_item *items)
{
    int64_t steps[ARRAS_MAX_RANK];
    int     slot = 0;

    cmd_array_steps(steps, a);
    v->data = a->data;
    for (int axis = 0; axis < a->rank; axis++) {
        v->data += items[axis].start * steps[axis];
        if (!items[axis].is_index)
            v->step[slot++] = steps[axis] * items[axis].stride;
    }
}

static bool check_shape(const cmd_array *a, cmd_error *err)
{
    if (a->rank == 0)
        return cmd_fail(err, "an array without axes is a single number: there is nothing to draw");
    for (int axis = 0; axis < a->rank; axis++) {
        if (a->shape[axis] == 0)
            return cmd_fail(err, "the array is empty (axis %d has no cells): nothing to draw",
                            axis);
        if (a->shape[axis] > CMD_LONGEST_AXIS)
            return cmd_fail(err, "axis %d has %" PRId64 " cells; pictures end at %" PRId64, axis,
                            a->shape[axis], CMD_LONGEST_AXIS);
    }
    return true;
}

/* Arrays in files may have more cells than anybody can read. */
static bool check_area(const cmd_view *v, cmd_error *err)
{
    return cmd_view_columns(v) <= CMD_LONGEST_AXIS / cmd_view_rows(v) ||
           cmd_fail(err,
                    "a picture of %" PRId64 " x %" PRId64 " cells would have to read them all; "
                    "show a part, or every so many: --slice ::%d,::%d",
                    cmd_view_rows(v), cmd_view_columns(v), 1000, 1000);
}

bool cmd_view_of(cmd_view *out, const cmd_array *a, const char *slice, cmd_error *err)
{
    cmd_item items[ARRAS_MAX_RANK];
    cmd_view v = { .dtype = a->dtype };

    if (!check_shape(a, err) || (slice && !cmd_slice_read(items, a->rank, a->shape, slice, err)))
        return false;
    if (!slice)
        choose_items(items, a);
    if (!keep_axes(&v, a->rank, items, err) || !check_area(&v, err))
        return false;
    if (!a->stored)
        set_steps(&v, a, items);
    else if (!cmd_window_open(&v.window, a->stored, items, 0, err))
        return false;
    cmd_slice_print(v.part, sizeof v.part, items, a->rank, a->shape);
    v.chosen = !slice && a->rank > 2;
    *out = v;
    return true;
}

void cmd_view_free(cmd_view *v)
{
    cmd_window_close(v->window);
    v->window = NULL;
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

static bool read_window(double *out, const cmd_view *v, int64_t row, int64_t from, int64_t count,
                        cmd_error *err)
{
    int64_t step = (int64_t)arras_dtype_size(v->dtype), n;

    for (int64_t done = 0; done < count; done += n) {
        const char *cells;

        n = count - done;
        if (!cmd_window_cells(&cells, &n, v->window, row, from + done, err))
            return false;
        read_cells(out + done, v->dtype, cells, step, n);
    }
    return true;
}

bool cmd_view_read(double *out, const cmd_view *v, int64_t row, int64_t from, int64_t count,
                   cmd_error *err)
{
    if (v->window)
        return read_window(out, v, row, from, count, err);
    int64_t step = v->step[v->rank - 1];
    int64_t start = (v->rank == 2 ? row * v->step[0] : 0) + from * step;

    read_cells(out, v->dtype, v->data + start, step, count);
    return true;
}
