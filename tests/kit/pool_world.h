/* pool_world.h -- for tests of task graphs: graphs of many shapes that compute numbers, of which
 * each shows whether all that had to come before it had come. */
#ifndef POOL_WORLD_H
#define POOL_WORLD_H

#include "pool/pool_state.h"
#include "test.h"

#include <stdlib.h>
#include <unistd.h>

/* ThreadSanitizer makes everything slow. */
#if defined(__SANITIZE_THREAD__)
enum { SLOWNESS = 10 };
#elif defined(__has_feature)
#if __has_feature(thread_sanitizer)
enum { SLOWNESS = 10 };
#else
enum { SLOWNESS = 1 };
#endif
#else
enum { SLOWNESS = 1 };
#endif

static const int threads_of[] = { 1, 2, 3, 7 };

/* ---- A graph that computes numbers ----------------------------------------------------------- */

/* Part p of a task mixes a part of each predecessor with the seed of the run.  The numbers are in
 * plain memory: an order that is not kept gives a wrong one, and a report of ThreadSanitizer. */
enum { MAX_PREDECESSORS = 4 };

struct world;

typedef struct {
    struct world *world;
    int           id, npredecessors;
    int           predecessor[MAX_PREDECESSORS];
    int64_t       parts;
    uint64_t     *value, *wanted; /* of each part */
} knot;

typedef struct world {
    int           count;
    knot         *knots;
    uint64_t      seed;
    ar_taskgraph *graph;
    atomic_int    in_use[8]; /* by thread */
    atomic_int    clashes;
    atomic_int    parts_done;
} world;

static inline uint64_t mix(const knot *k, int64_t part, bool wanted)
{
    uint64_t sum = k->world->seed + (uint64_t)k->id;

    for (int i = 0; i < k->npredecessors; i++) {
        const knot *p = &k->world->knots[k->predecessor[i]];

        if (p->parts)
            sum += (wanted ? p->wanted : p->value)[part % p->parts] * 31;
    }
    return (sum + (uint64_t)part) * UINT64_C(0x9e3779b97f4a7c15);
}

static inline arras_status compute(void *context, int64_t first, int64_t last, int thread,
                                   arras_error *err)
{
    knot *k = context;

    (void)err;
    if (atomic_exchange(&k->world->in_use[thread], 1))
        atomic_fetch_add(&k->world->clashes, 1);
    for (int64_t part = first; part < last; part++)
        k->value[part] += mix(k, part, false); /* += : twice would be wrong */
    atomic_fetch_add_explicit(&k->world->parts_done, (int)(last - first), memory_order_relaxed);
    atomic_store(&k->world->in_use[thread], 0);
    return ARRAS_OK;
}

static inline world *world_new(int count)
{
    world *w = calloc(1, sizeof *w);

    w->count = count;
    w->knots = calloc((size_t)count + 1, sizeof *w->knots);
    for (int i = 0; i < count; i++)
        w->knots[i] = (knot){ .world = w, .id = i, .parts = 1 };
    return w;
}

static inline void after(world *w, int task, int predecessor)
{
    w->knots[task].predecessor[w->knots[task].npredecessors++] = predecessor;
}

static inline bool world_build(world *w)
{
    int id = 0;

    if (ar_taskgraph_new(&w->graph, NULL))
        return false;
    for (int i = 0; i < w->count; i++) {
        knot *k = &w->knots[i];

        k->value = calloc((size_t)k->parts + 1, sizeof *k->value);
        k->wanted = calloc((size_t)k->parts + 1, sizeof *k->wanted);
        if (ar_taskgraph_add(&id, w->graph, (ar_task){ compute, k, k->parts, "knot" }, NULL) ||
            id != i)
            return false;
        for (int p = 0; p < k->npredecessors; p++)
            if (ar_taskgraph_order(w->graph, k->predecessor[p], i, NULL))
                return false;
    }
    return ar_taskgraph_instantiate(w->graph, NULL) == ARRAS_OK;
}

static inline void world_clear(world *w, uint64_t seed)
{
    w->seed = seed;
    atomic_store(&w->parts_done, 0);
    for (int i = 0; i < w->count; i++)
        memset(w->knots[i].value, 0, (size_t)w->knots[i].parts * sizeof(uint64_t));
}

/* How many numbers are wrong. */
static inline int world_wrong(world *w)
{
    int wrong = atomic_load(&w->clashes);

    for (int i = 0; i < w->count; i++)
        for (int64_t part = 0; part < w->knots[i].parts; part++) {
            w->knots[i].wanted[part] = mix(&w->knots[i], part, true);
            wrong += w->knots[i].wanted[part] != w->knots[i].value[part];
        }
    return wrong;
}

/* The same, but for runs that were right until now: cheaper to write in a loop. */
static inline bool runs_right(world *w, ar_pool *pool, uint64_t seed)
{
    world_clear(w, seed);
    return ar_taskgraph_run(w->graph, pool, NULL) == ARRAS_OK && world_wrong(w) == 0;
}

static inline void world_free(world *w)
{
    ar_taskgraph_free(w->graph);
    for (int i = 0; i < w->count; i++) {
        free(w->knots[i].value);
        free(w->knots[i].wanted);
    }
    free(w->knots);
    free(w);
}

static inline ar_pool *pool_of(int threads)
{
    ar_pool *pool = NULL;

    CHECK(ar_pool_new(&pool, threads, NULL) == ARRAS_OK);
    return pool;
}

/* ---- Shapes ---------------------------------------------------------------------------------- */

static inline world *make_wide(int count, int64_t parts)
{
    world *w = world_new(count);

    for (int i = 0; i < count; i++)
        w->knots[i].parts = parts;
    return w;
}

static inline world *make_chain(int count, int64_t parts)
{
    world *w = make_wide(count, parts);

    for (int i = 1; i < count; i++)
        after(w, i, i - 1);
    return w;
}

/* One, then two, then one ... */
static inline world *make_diamonds(int count, int64_t parts)
{
    world *w = make_wide(count, parts);

    for (int i = 1; i < count; i++) {
        after(w, i, i % 3 ? i - i % 3 : i - 1);
        if (i % 3 == 0)
            after(w, i, i - 2);
    }
    return w;
}

/* One before all others. */
static inline world *make_fan(int count, int64_t parts)
{
    world *w = make_wide(count, parts);

    for (int i = 1; i < count; i++)
        after(w, i, 0);
    return w;
}

/* Rows of ten, each task after its neighbours in the row before, some edges given twice. */
static inline world *make_grid(int count, int64_t parts)
{
    world *w = make_wide(count, parts);

    for (int i = 10; i < count; i++) {
        for (int p = i - 11; p <= i - 9; p++)
            if (p >= 0 && p / 10 == i / 10 - 1)
                after(w, i, p);
        if (i % 7 == 0)
            after(w, i, i - 10);
    }
    return w;
}

static inline uint32_t random_below(uint64_t *state, uint32_t n)
{
    *state = *state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (uint32_t)(*state >> 33) % n;
}

/* `seed` takes the place of parts. */
static inline world *make_random(int count, int64_t seed)
{
    static const int64_t parts[] = { 0, 1, 1, 1, 2, 5, 40 };
    uint64_t             state = (uint64_t)seed;
    world               *w = world_new(count);

    for (int i = 0; i < count; i++) {
        uint32_t edges = random_below(&state, MAX_PREDECESSORS + 1);

        w->knots[i].parts = parts[random_below(&state, AR_COUNT(parts))];
        for (uint32_t e = 0; i > 0 && e < edges; e++)
            after(w, i, (int)random_below(&state, (uint32_t)i));
    }
    return w;
}

#endif
