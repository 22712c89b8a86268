/* tensor.c -- arrays as values: room for them, views of them, walks over them. */
#include "eval/tensor.h"

#include <stdlib.h>

enum { LARGEST_CELL = sizeof(ar_value) };

char ar_no_cells[1];

bool ar_shape_count(int64_t *out, int rank, const int64_t *shape)
{
    int64_t count = 1;

    *out = 0;
    for (int axis = 0; axis < rank; axis++)
        if (shape[axis] == 0) /* no cells, however long the other axes are */
            return true;
    for (int axis = 0; axis < rank; axis++)
        if (!ar_mul64(&count, count, shape[axis]))
            return false;
    *out = count;
    return count <= INT64_MAX / LARGEST_CELL;
}

void ar_strides_make(int64_t *strides, arras_dtype dtype, int rank, const int64_t *shape)
{
    int64_t count, stride = (int64_t)ar_dtype_size(dtype);
    bool    fits = ar_shape_count(&count, rank, shape);

    for (int axis = rank - 1; axis >= 0; axis--) {
        strides[axis] = fits && count > 0 ? stride : 0;
        if (fits && count > 0)
            stride *= shape[axis];
    }
}

bool ar_strides_take(int64_t *strides, int rank, const int64_t *shape, const int64_t *given)
{
    int64_t count, reach = 0, span;

    if (!ar_shape_count(&count, rank, shape))
        return false;
    for (int axis = 0; axis < rank; axis++) {
        strides[axis] = count > 0 && shape[axis] > 1 ? given[axis] : 0;
        if (strides[axis] == INT64_MIN || !ar_mul64(&span, shape[axis] - 1, llabs(strides[axis])) ||
            !ar_add64(&reach, reach, span))
            return false;
    }
    return true;
}

arras_status ar_tensor_alloc(ar_tensor *tensor, arras_array node, arras_error *err)
{
    size_t  size = ar_dtype_size(tensor->dtype);
    ar_text text = { 0 };

    tensor->data = ar_alloc((size_t)tensor->count, size);
    tensor->owned = tensor->data != NULL;
    if (tensor->data)
        return ARRAS_OK;
    ar_fail(err, ARRAS_ENOMEM, "out of memory: no %zu bytes to be had for %s",
            (size_t)tensor->count * size, ar_describe(&text, node));
    ar_text_free(&text);
    return ARRAS_ENOMEM;
}

void ar_tensor_free(ar_tensor *tensor)
{
    if (tensor->owned)
        ar_free(tensor->data);
    tensor->data = NULL;
    tensor->owned = false;
}

void ar_view_open(ar_view *view, const ar_tensor *tensor)
{
    view->tensor = *tensor;
    view->tensor.owned = false;
    view->tensor.shape = view->shape;
    view->tensor.strides = view->strides;
    for (int axis = 0; axis < tensor->rank; axis++) {
        view->shape[axis] = tensor->shape[axis];
        view->strides[axis] = tensor->strides[axis];
    }
}

static void copy_cells(const ar_tensor *to, ar_walk *into, const ar_tensor *from, ar_walk *out_of)
{
    for (; !out_of->done && !into->done; ar_walk_next(out_of), ar_walk_next(into))
        ar_cell_read(to->dtype, to->data + into->offset[0], from->dtype,
                     from->data + out_of->offset[0]);
}

bool ar_tensor_is_dense(const ar_tensor *tensor)
{
    int64_t stride = (int64_t)ar_dtype_size(tensor->dtype);

    for (int axis = tensor->rank - 1; axis >= 0 && tensor->count > 0; axis--) {
        if (tensor->shape[axis] == 1)
            continue;
        if (tensor->strides[axis] != stride)
            return false;
        stride *= tensor->shape[axis];
    }
    return true;
}

/* A bool is 0 or 1 in copies, whatever byte a user stored. */
static bool is_plain_copy(const ar_tensor *to, const ar_tensor *from)
{
    return to->dtype == from->dtype && to->dtype != ARRAS_BOOL && to->count == from->count &&
           ar_tensor_is_dense(to) && ar_tensor_is_dense(from);
}

arras_status ar_tensor_copy(const ar_tensor *to, const ar_tensor *from, arras_error *err)
{
    ar_walk      into = { 0 }, out_of = { 0 };
    arras_status status;

    if (is_plain_copy(to, from)) {
        memmove(to->data, from->data, (size_t)to->count * ar_dtype_size(to->dtype));
        return ARRAS_OK;
    }
    status = ar_walk_open(&into, to->rank, to->shape, 1, err);
    if (status == ARRAS_OK)
        status = ar_walk_open(&out_of, from->rank, from->shape, 1, err);
    if (status == ARRAS_OK)
        status = ar_walk_follow(&into, 0, to, err);
    if (status == ARRAS_OK)
        status = ar_walk_follow(&out_of, 0, from, err);
    if (status == ARRAS_OK)
        copy_cells(to, &into, from, &out_of);
    ar_walk_close(&into);
    ar_walk_close(&out_of);
    return status;
}

const char *ar_describe(ar_text *text, arras_array node)
{
    ar_node_describe(text, node);
    return text->data && !text->failed ? text->data : ar_kind_word(node->kind);
}

const char *ar_describe_cell(ar_text *text, arras_dtype dtype, const void *cell)
{
    ar_value aligned = { 0 };

    ar_cell_copy(&aligned, cell, ar_dtype_size(dtype));
    ar_value_print(text, dtype, &aligned);
    return text->data && !text->failed ? text->data : "?";
}

arras_status ar_dim_number(int64_t *out, arras_array node, arras_dim dim, const int64_t *sizes,
                           arras_error *err)
{
    arras_error  why;
    ar_text      text = { 0 };
    arras_status status = ar_dim_value(out, node->graph, dim, sizes, &why);

    if (status == ARRAS_OK)
        return status;
    ar_fail(err, status, "%s: %s", ar_describe(&text, node), why.text);
    ar_text_free(&text);
    return status;
}

/* ---- Walks ----------------------------------------------------------------------------------- */

arras_status ar_walk_open(ar_walk *walk, int rank, const int64_t *shape, int n, arras_error *err)
{
    size_t room = (size_t)n * (size_t)(rank + 1);

    *walk = (ar_walk){ .rank = rank, .n = n };
    walk->offset = ar_alloc(room, sizeof *walk->offset);
    if (!walk->offset)
        return ar_fail_memory(err, room * sizeof *walk->offset);
    walk->step = walk->offset + n;
    for (int axis = 0; axis < rank; axis++)
        walk->length[axis] = shape[axis];
    ar_walk_again(walk);
    return ARRAS_OK;
}

arras_status ar_walk_follow(ar_walk *walk, int k, const ar_tensor *tensor, arras_error *err)
{
    int added = walk->rank - tensor->rank; /* axes that only the walk has */

    for (int axis = 0; axis < tensor->rank; axis++) {
        int64_t length = tensor->shape[axis], wanted = walk->length[added + axis];

        if (length != 1 && length != wanted)
            return ar_fail(err, ARRAS_ESHAPE,
                           "operand %d is %" PRId64 " long on axis %d, where %" PRId64 " is needed",
                           k, length, axis, wanted);
        walk->step[(ptrdiff_t)(added + axis) * walk->n + k] =
            length == 1 ? 0 : tensor->strides[axis];
    }
    return ARRAS_OK;
}

void ar_walk_again(ar_walk *walk)
{
    walk->done = false;
    for (int axis = 0; axis < walk->rank; axis++)
        if (walk->length[axis] == 0)
            walk->done = true;
}

void ar_walk_close(ar_walk *walk)
{
    ar_free(walk->offset);
    walk->offset = NULL;
}
