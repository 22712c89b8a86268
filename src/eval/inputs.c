/* inputs.c -- what the user binds: every name, type, shape and stride is checked before anything is
 * computed, and the sizes are found. */
#include "eval/inputs.h"

/* ---- Names ----------------------------------------------------------------------------------- */

/* Inputs are listed in the order of their ids. */
static int input_number(const arras_graph *g, arras_array input)
{
    int low = 0, high = ar_graph_input_count(g) - 1;

    while (low < high) {
        int middle = low + (high - low) / 2;

        if (ar_graph_input(g, middle)->id < input->id)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static int name_count(const arras_graph *g) { return ar_graph_input_count(g) + ar_size_count(g); }

static const char *name_at(const arras_graph *g, int i)
{
    int inputs = ar_graph_input_count(g);

    return i < inputs ? ar_graph_input(g, i)->name : ar_size_name(g, i - inputs);
}

static const char *nearest_name(const arras_graph *g, const char *name)
{
    int         nearest = 3; /* edits; more is no misspelling */
    const char *found = NULL;

    for (int i = 0; i < name_count(g); i++) {
        int distance = ar_text_distance(name, name_at(g, i));

        if (distance < nearest) {
            nearest = distance;
            found = name_at(g, i);
        }
    }
    return found;
}

static arras_status fail_unknown(const ar_inputs *in, const char *name)
{
    const char *nearest = nearest_name(in->g, name);
    ar_text     text = { 0 };

    ar_text_printf(&text, "no input or size is called '%.255s'", name);
    ar_text_add(&text, name_count(in->g) ? "; there are " : "; the program has none");
    for (int i = 0; i < name_count(in->g); i++)
        ar_text_printf(&text, "%s%s", i ? ", " : "", name_at(in->g, i));
    if (nearest)
        ar_text_printf(&text, "; did you mean '%s'?", nearest);
    ar_fail(in->err, ARRAS_ENAME, "%s", text.data ? text.data : "a binding names no input");
    ar_text_free(&text);
    return ARRAS_ENAME;
}

/* ---- Buffers --------------------------------------------------------------------------------- */

static arras_status check_buffer(const char *role, const char *name, const arras_buffer *buffer,
                                 arras_error *err)
{
    if (!ar_dtype_valid(buffer->dtype))
        return ar_fail(err, ARRAS_EDTYPE, "%s %s: there is no type number %d", role, name,
                       (int)buffer->dtype);
    if (buffer->rank < 0 || buffer->rank > ARRAS_MAX_RANK)
        return ar_fail(err, ARRAS_ELIMIT, "%s %s: the rank is %d, but must be within 0..%d", role,
                       name, buffer->rank, ARRAS_MAX_RANK);
    if (buffer->rank > 0 && !buffer->shape)
        return ar_fail(err, ARRAS_EINVAL, "%s %s: the shape is NULL", role, name);
    for (int axis = 0; axis < buffer->rank; axis++)
        if (buffer->shape[axis] < 0)
            return ar_fail(err, ARRAS_ESHAPE, "%s %s: axis %d has the negative length %" PRId64,
                           role, name, axis, buffer->shape[axis]);
    return ARRAS_OK;
}

arras_status ar_buffer_check(ar_tensor *out, int64_t *strides, const char *role, const char *name,
                             const arras_buffer *buffer, arras_error *err)
{
    arras_status status = check_buffer(role, name, buffer, err);

    if (status != ARRAS_OK)
        return status;
    *out = (ar_tensor){ .dtype = buffer->dtype,
                        .rank = buffer->rank,
                        .shape = buffer->shape,
                        .strides = strides,
                        .data = buffer->data ? buffer->data : ar_no_cells };
    if (!ar_shape_count(&out->count, buffer->rank, buffer->shape))
        return ar_fail(err, ARRAS_ELIMIT, "%s %s: the shape has too many cells", role, name);
    if (!buffer->data && out->count > 0)
        return ar_fail(err, ARRAS_EINVAL,
                       "%s %s: the data is NULL, but the shape has %" PRId64 " cells", role, name,
                       out->count);
    if (!buffer->strides)
        ar_strides_make(strides, buffer->dtype, buffer->rank, buffer->shape);
    else if (!ar_strides_take(strides, buffer->rank, buffer->shape, buffer->strides))
        return ar_fail(err, ARRAS_EINVAL, "%s %s: the strides are too large", role, name);
    return ARRAS_OK;
}

static arras_status open_buffer(ar_inputs *in, const char *name, ar_tensor *tensor,
                                const arras_buffer *buffer)
{
    size_t   rank = buffer->rank > 0 && buffer->rank <= ARRAS_MAX_RANK ? (size_t)buffer->rank : 0;
    int64_t *strides = ar_arena_alloc(&in->arena, rank, sizeof *strides);

    if (!strides)
        return ar_fail_memory(in->err, rank * sizeof *strides);
    return ar_buffer_check(tensor, strides, "input", name, buffer, in->err);
}

/* ---- Bindings -------------------------------------------------------------------------------- */

static arras_status check_type(const ar_inputs *in, arras_array input, const ar_tensor *tensor)
{
    if (tensor->dtype != input->type.dtype)
        return ar_fail(in->err, ARRAS_EDTYPE, "input %s: the type is %s, but the program says %s",
                       input->name, ar_dtype_name(tensor->dtype), ar_dtype_name(input->type.dtype));
    if (tensor->rank != input->rank)
        return ar_fail(in->err, ARRAS_ESHAPE, "input %s: the rank is %d, but the program says %d",
                       input->name, tensor->rank, input->rank);
    for (int axis = 0; axis < input->rank; axis++)
        if (!ar_dim_symbolic(input->shape[axis]) && input->shape[axis] != tensor->shape[axis])
            return ar_fail(in->err, ARRAS_ESHAPE,
                           "input %s: axis %d is %" PRId64 ", but the program says %" PRId64,
                           input->name, axis, tensor->shape[axis], input->shape[axis]);
    return ARRAS_OK;
}

static arras_status bind_input(ar_inputs *in, arras_array input, const arras_buffer *buffer)
{
    ar_tensor   *slot = &in->inputs[input_number(in->g, input)], tensor;
    arras_status status;

    if (slot->dtype != ARRAS_NO_DTYPE)
        return ar_fail(in->err, ARRAS_ENAME, "input %s is bound twice", input->name);
    status = open_buffer(in, input->name, &tensor, buffer);
    if (status == ARRAS_OK)
        status = check_type(in, input, &tensor);
    if (status == ARRAS_OK)
        *slot = tensor;
    return status;
}

static arras_status bind_size(ar_inputs *in, int size, const arras_buffer *buffer)
{
    const char  *name = ar_size_name(in->g, size);
    ar_tensor    tensor;
    int64_t      value;
    arras_status status = open_buffer(in, name, &tensor, buffer);

    if (status != ARRAS_OK)
        return status;
    if (in->sizes[size] >= 0)
        return ar_fail(in->err, ARRAS_ENAME, "size %s is bound twice", name);
    if (tensor.rank != 0 || !ar_dtype_is_integer(tensor.dtype))
        return ar_fail(in->err, ARRAS_EDTYPE,
                       "size %s is bound to %s of rank %d, but must be a 0-d integer", name,
                       ar_dtype_name(tensor.dtype), tensor.rank);
    value = ar_cell_integer(tensor.dtype, tensor.data);
    if (value < 0 || value == INT64_MAX)
        return ar_fail(in->err, ARRAS_ESIZE, "size %s is bound to %" PRId64 ": it must be %s", name,
                       value, value < 0 ? "at least 0" : "smaller");
    in->sizes[size] = value;
    return ARRAS_OK;
}

static arras_status bind(ar_inputs *in, const arras_binding *binding)
{
    arras_array input;
    int         size;

    if (!binding->name)
        return ar_fail(in->err, ARRAS_ENAME, "the name of a binding is NULL");
    input = ar_graph_input_find(in->g, binding->name);
    if (input)
        return bind_input(in, input, &binding->buffer);
    size = ar_size_find(in->g, binding->name);
    return size >= 0 ? bind_size(in, size, &binding->buffer) : fail_unknown(in, binding->name);
}

/* ---- Sizes ----------------------------------------------------------------------------------- */

static int collect_facts(const ar_inputs *in, ar_size_fact *facts)
{
    int n = 0;

    for (int size = 0; size < ar_size_count(in->g); size++)
        if (in->sizes[size] >= 0)
            facts[n++] = (ar_size_fact){ ar_size_dim(in->g, size), in->sizes[size],
                                         ar_size_name(in->g, size), -1 };
    for (int i = 0; i < ar_graph_input_count(in->g); i++) {
        arras_array      input = ar_graph_input(in->g, i);
        const ar_tensor *tensor = &in->inputs[i];

        for (int axis = 0; axis < input->rank && tensor->dtype != ARRAS_NO_DTYPE; axis++)
            if (ar_dim_symbolic(input->shape[axis]))
                facts[n++] =
                    (ar_size_fact){ input->shape[axis], tensor->shape[axis], input->name, axis };
    }
    return n;
}

static arras_status solve_sizes(ar_inputs *in)
{
    size_t        room = (size_t)ar_size_count(in->g);
    ar_size_fact *facts;

    for (int i = 0; i < ar_graph_input_count(in->g); i++)
        room += (size_t)ar_graph_input(in->g, i)->rank;
    facts = ar_arena_alloc(&in->arena, room, sizeof *facts);
    if (!facts)
        return ar_fail_memory(in->err, room * sizeof *facts);
    return ar_sizes_solve(in->sizes, in->g, collect_facts(in, facts), facts, in->err);
}

/* ---- All of it ------------------------------------------------------------------------------- */

static arras_status make_room(ar_inputs *in)
{
    size_t inputs = (size_t)ar_graph_input_count(in->g), sizes = (size_t)ar_size_count(in->g);

    in->inputs = ar_arena_alloc(&in->arena, inputs, sizeof *in->inputs);
    in->sizes = ar_arena_alloc(&in->arena, sizes, sizeof *in->sizes);
    if (!in->inputs || !in->sizes)
        return ar_fail_memory(in->err, inputs * sizeof *in->inputs + sizes * sizeof *in->sizes);
    for (size_t i = 0; i < sizes; i++)
        in->sizes[i] = -1;
    return ARRAS_OK;
}

arras_status ar_inputs_open(ar_inputs *inputs, const arras_graph *g, int n,
                            const arras_binding *bindings, arras_error *err)
{
    arras_status status;

    *inputs = (ar_inputs){ .g = g, .err = err };
    if (n < 0 || (n > 0 && !bindings))
        return ar_fail(err, ARRAS_EINVAL, "%d bindings are given%s", n,
                       n < 0 ? ": a number >= 0 is needed" : ", but where they are is NULL");
    status = make_room(inputs);
    for (int i = 0; i < n && status == ARRAS_OK; i++)
        status = bind(inputs, &bindings[i]);
    return status == ARRAS_OK ? solve_sizes(inputs) : status;
}

void ar_inputs_close(ar_inputs *inputs) { ar_arena_free(&inputs->arena); }

const ar_tensor *ar_inputs_find(const ar_inputs *inputs, arras_array input)
{
    const ar_tensor *tensor = &inputs->inputs[input_number(inputs->g, input)];

    return tensor->dtype == ARRAS_NO_DTYPE ? NULL : tensor;
}
