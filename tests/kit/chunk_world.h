/* chunk_world.h -- for tests of chunk shapes: random workloads and problems, and numbers to make
 * them of. */
#ifndef CHUNK_WORLD_H
#define CHUNK_WORLD_H

#include "chunk/chunk.h"
#include "test.h"

static uint64_t world_state = 1;

static inline int64_t world_random(int64_t below)
{
    world_state ^= world_state << 13;
    world_state ^= world_state >> 7;
    world_state ^= world_state << 17;
    return (int64_t)(world_state % (uint64_t)below);
}

/* A problem with a workload of its own; release that with world_free. */
static inline bool world_problem(ar_chunk_problem *p, int rank, int64_t queries,
                                 const int64_t *shapes, const int64_t *extent, int64_t cells)
{
    arras_workload *w = NULL;

    if (!CHECK(ar_workload_from_shapes(&w, rank, queries, shapes, NULL, NULL) == ARRAS_OK))
        return false;
    *p = (ar_chunk_problem){ .workload = w, .cells = cells };
    for (int i = 0; i < rank; i++) {
        p->extent[i] = extent[i];
        p->multiple[i] = 1;
    }
    return true;
}

static inline void world_make_independent(ar_chunk_problem *p)
{
    arras_workload *w = (arras_workload *)p->workload, *made = NULL;

    if (CHECK(ar_workload_independent(&made, w, NULL) == ARRAS_OK)) {
        ar_workload_free(w);
        p->workload = made;
    }
}

static inline void world_free(ar_chunk_problem *p)
{
    ar_workload_free((arras_workload *)p->workload);
}

#endif
