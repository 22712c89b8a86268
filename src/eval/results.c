/* results.c -- the outputs of a run: made one by one, released together. */
#include "eval/eval.h"

arras_status ar_results_new(arras_results **out, int most, arras_error *err)
{
    arras_results *r = ar_alloc(1, sizeof *r);

    if (!r)
        return ar_fail_memory(err, sizeof *r);
    r->pooled = true;
    r->items = ar_arena_alloc(&r->arena, (size_t)most, sizeof *r->items);
    if (!r->items) {
        ar_results_free(r);
        return ar_fail_memory(err, (size_t)most * sizeof *r->items);
    }
    *out = r;
    return ARRAS_OK;
}

arras_status ar_results_add(const arras_buffer **out, arras_results *r, const char *name,
                            arras_dtype dtype, int rank, const int64_t *shape, arras_error *err)
{
    int64_t    *kept_shape = ar_arena_alloc(&r->arena, 2 * (size_t)rank, sizeof *kept_shape);
    const char *kept = ar_arena_copy(&r->arena, name, strlen(name) + 1, 1);
    int64_t     bytes = (int64_t)ar_dtype_size(dtype);
    void       *data;

    for (int axis = 0; axis < rank; axis++)
        bytes *= shape[axis];
    data = kept_shape && kept ? ar_buffer_take(bytes) : NULL;
    if (!data)
        return ar_fail(err, ARRAS_ENOMEM,
                       "out of memory: no %" PRId64 " bytes to be had for output %s", bytes, name);
    if (rank)
        memcpy(kept_shape, shape, (size_t)rank * sizeof *shape);
    ar_strides_make(kept_shape + rank, dtype, rank, shape);
    r->items[r->count] =
        (arras_binding){ kept, { data, dtype, rank, kept_shape, kept_shape + rank } };
    *out = &r->items[r->count++].buffer;
    return ARRAS_OK;
}

void ar_results_free(arras_results *results)
{
    if (!results)
        return;
    for (int i = 0; i < results->count; i++)
        if (results->pooled)
            ar_buffer_give(results->items[i].buffer.data);
        else
            ar_free(results->items[i].buffer.data);
    ar_arena_free(&results->arena);
    ar_free(results);
}
