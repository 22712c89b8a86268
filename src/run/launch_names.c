/* launch_names.c -- which binding of a launch binds what. */
#include "run/launch.h"

#include <string.h>

static int output_find(const arras_graph *g, int noutputs, const char *name)
{
    for (int i = 0; i < noutputs; i++)
        if (strcmp(ar_graph_output(g, i)->name, name) == 0)
            return i;
    return -1;
}

static bool is_bound(const ar_sorted *s, const char *name)
{
    for (int i = 0; i < s->ninputs; i++)
        if (strcmp(s->inputs[i].name, name) == 0)
            return true;
    return false;
}

static arras_status fail_unknown(const arras_graph *g, const char *name, arras_error *err)
{
    ar_text text = { 0 };

    ar_text_printf(&text, "no input, size or output is called '%.255s'; there are", name);
    for (int i = 0; i < ar_graph_input_count(g); i++)
        ar_text_printf(&text, "%s %s", i ? "," : "", ar_graph_input(g, i)->name);
    for (int i = 0; i < ar_size_count(g); i++)
        ar_text_printf(&text, ", %s", ar_size_name(g, i));
    for (int i = 0; i < ar_graph_output_count(g); i++)
        ar_text_printf(&text, ", %s", ar_graph_output(g, i)->name);
    ar_fail(err, ARRAS_ENAME, "%s", text.data ? text.data : "a binding has an unknown name");
    ar_text_free(&text);
    return ARRAS_ENAME;
}

static arras_status sort_one(ar_sorted *s, const arras_graph *g, const arras_binding *binding,
                             arras_error *err)
{
    const char *name = binding->name;
    bool        given;
    int         output;

    if (!name)
        return ar_fail(err, ARRAS_ENAME, "the name of a binding is NULL");
    given = ar_graph_input_find(g, name) || ar_size_find(g, name) >= 0;
    output = output_find(g, s->noutputs, name);
    if (given && (output < 0 || !is_bound(s, name))) {
        s->inputs[s->ninputs++] = *binding;
        return ARRAS_OK;
    }
    if (output < 0)
        return fail_unknown(g, name, err);
    if (s->outputs[output])
        return ar_fail(err, ARRAS_ENAME, "output %s is bound twice", name);
    s->outputs[output] = binding;
    return ARRAS_OK;
}

arras_status ar_bindings_sort(ar_sorted *out, const arras_graph *g, int n,
                              const arras_binding *bindings, arras_error *err)
{
    arras_status status = ARRAS_OK;

    *out = (ar_sorted){ .noutputs = ar_graph_output_count(g) };
    if (n < 0 || (n > 0 && !bindings))
        return ar_fail(err, ARRAS_EINVAL, "%d bindings are given%s", n,
                       n < 0 ? ": a number >= 0 is needed" : ", but where they are is NULL");
    out->inputs = ar_arena_alloc(&out->arena, (size_t)n, sizeof *out->inputs);
    out->outputs = ar_arena_alloc(&out->arena, (size_t)out->noutputs, sizeof *out->outputs);
    if (!out->inputs || !out->outputs)
        return ar_fail_memory(err, (size_t)n * sizeof *out->inputs);
    for (int i = 0; i < n && status == ARRAS_OK; i++)
        status = sort_one(out, g, &bindings[i], err);
    return status;
}

void ar_sorted_close(ar_sorted *sorted) { ar_arena_free(&sorted->arena); }

static const char *missing_output(const ar_sorted *sorted, const arras_graph *g)
{
    for (int i = 0; i < sorted->noutputs; i++)
        if (!sorted->outputs[i])
            return ar_graph_output(g, i)->name;
    return NULL;
}

/* What of outputs can be wrong before any size is known. */
static arras_status check_output_types(const ar_sorted *sorted, const arras_graph *g,
                                       arras_error *err)
{
    for (int i = 0; i < sorted->noutputs; i++) {
        const arras_binding *b = sorted->outputs[i];
        arras_array          made = ar_graph_output(g, i)->array;

        if (b && b->buffer.dtype != made->type.dtype && ar_dtype_valid(b->buffer.dtype))
            return ar_fail(err, ARRAS_EDTYPE, "output %s: the type is %s, but the program makes %s",
                           b->name, ar_dtype_name(b->buffer.dtype),
                           ar_dtype_name(made->type.dtype));
        if (b && b->buffer.rank != made->rank)
            return ar_fail(err, ARRAS_ESHAPE, "output %s: the rank is %d, but the program makes %d",
                           b->name, b->buffer.rank, made->rank);
    }
    return ARRAS_OK;
}

/* What is bound, and wrong, is told before what is not bound: it may be why. */
arras_status ar_bindings_check(const ar_sorted *sorted, const arras_graph *g, bool has_results,
                               arras_error *err)
{
    const char  *missing = has_results ? NULL : missing_output(sorted, g);
    ar_inputs    inputs;
    arras_status status = check_output_types(sorted, g, err);

    if (status != ARRAS_OK || !missing)
        return status;
    status = ar_inputs_open(&inputs, g, sorted->ninputs, sorted->inputs, err);
    ar_inputs_close(&inputs);
    return status != ARRAS_OK
               ? status
               : ar_fail(err, ARRAS_EINVAL,
                         "output %s is not bound, and there is no place for results: bind it, or "
                         "give one",
                         missing);
}

arras_status ar_output_check(ar_tensor *out, int64_t *strides, const char *name,
                             const arras_buffer *buffer, arras_dtype dtype, int rank,
                             const int64_t *shape, arras_error *err)
{
    arras_status status = ar_buffer_check(out, strides, "output", name, buffer, err);

    if (status != ARRAS_OK)
        return status;
    if (buffer->dtype != dtype)
        return ar_fail(err, ARRAS_EDTYPE, "output %s: the type is %s, but the program makes %s",
                       name, ar_dtype_name(buffer->dtype), ar_dtype_name(dtype));
    if (buffer->rank != rank)
        return ar_fail(err, ARRAS_ESHAPE, "output %s: the rank is %d, but the program makes %d",
                       name, buffer->rank, rank);
    for (int axis = 0; axis < rank; axis++)
        if (buffer->shape[axis] != shape[axis])
            return ar_fail(err, ARRAS_ESHAPE,
                           "output %s: axis %d is %" PRId64 ", but the program makes %" PRId64,
                           name, axis, buffer->shape[axis], shape[axis]);
    if (ar_tensor_meets_itself(out))
        return ar_fail(err, ARRAS_EINVAL,
                       "output %s: with these strides some of its cells would share memory", name);
    return ARRAS_OK;
}
