/* results.c -- the outputs of a run: what is released with them. */
#include "run/buffers.h"
#include "run/run.h"

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
