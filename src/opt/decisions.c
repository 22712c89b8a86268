/* decisions.c -- what became of each array of a program, and the bytes that moves. */
#include "opt/opt.h"

void ar_decisions_free(ar_decisions *decisions)
{
    ar_free(decisions->items);
    ar_arena_free(&decisions->arena);
    *decisions = (ar_decisions){ 0 };
}

/* -1 when it is not known. */
static int64_t array_bytes(const ar_decision *d, const arras_graph *g, const int64_t *sizes)
{
    int64_t bytes = (int64_t)d->cell_bytes;

    for (int axis = 0; axis < d->rank; axis++) {
        int64_t length = d->shape[axis];

        if (ar_dim_symbolic(length) &&
            (!sizes || ar_dim_value(&length, g, length, sizes, NULL) != ARRAS_OK))
            return -1;
        if (!ar_mul64(&bytes, bytes, length))
            return -1;
    }
    return bytes;
}

ar_traffic ar_decisions_traffic(const ar_decisions *decisions, const arras_graph *optimised,
                                const int64_t *sizes)
{
    ar_traffic t = { 0, 0, 0 };

    for (size_t i = 0; i < decisions->count; i++) {
        const ar_decision *d = &decisions->items[i];
        int64_t            bytes = array_bytes(d, optimised, sizes);

        if (bytes < 0 || bytes > INT64_MAX >> 32)
            continue;
        t.before += bytes * d->moves_before;
        t.after += bytes * d->moves_after;
        t.least += bytes * d->moves_least;
    }
    return t;
}
