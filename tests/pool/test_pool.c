/* test_pool.c -- task graphs of every shape on pools of several sizes, many times, many at once:
 * everything is done once and in order. */
#include "pool_world.h"

#include <sched.h>
#include <sys/wait.h>
#include <time.h>

/* ---- Shapes ---------------------------------------------------------------------------------- */

static const struct {
    const char *name;
    world *(*make)(int count, int64_t parts);
    int     count;
    int64_t parts;
    int     runs;
} shapes[] = {
    { "empty", make_wide, 0, 1, 3 },
    { "single", make_wide, 1, 1, 10 },
    { "nothing to do", make_wide, 3, 0, 10 },
    { "one loop", make_wide, 1, 1000, 50 },
    { "loop of 2 parts", make_wide, 1, 2, 200 },
    { "loops", make_wide, 20, 100, 20 },
    { "chain", make_chain, 10000, 1, 5 },
    { "chain of loops", make_chain, 50, 100, 20 },
    { "chain of nothing", make_chain, 10000, 0, 2 },
    { "wide", make_wide, 10000, 1, 5 },
    { "diamonds", make_diamonds, 1000, 1, 20 },
    { "diamonds of loops", make_diamonds, 40, 9, 20 },
    { "fan", make_fan, 1000, 1, 20 },
    { "grid", make_grid, 1000, 1, 20 },
    { "grid of loops", make_grid, 100, 7, 20 },
    { "random 1", make_random, 300, 1, 10 },
    { "random 2", make_random, 300, 2, 10 },
    { "random 3", make_random, 30, 3, 50 },
    { "random 4", make_random, 2000, 4, 5 },
};

static void every_shape(void)
{
    for (size_t t = 0; t < AR_COUNT(threads_of); t++) {
        ar_pool *pool = pool_of(threads_of[t]);

        for (size_t s = 0; s < AR_COUNT(shapes); s++) {
            world *w = shapes[s].make(shapes[s].count, shapes[s].parts);
            int    wrong = 0, runs = 1 + shapes[s].runs / SLOWNESS;

            CASE("%s, %d threads", shapes[s].name, threads_of[t]);
            if (CHECK(world_build(w)))
                for (int run = 0; run < runs; run++)
                    wrong += !runs_right(w, pool, (uint64_t)run);
            CHECK_EQ_INT(wrong, 0);
            world_free(w);
        }
        ar_pool_free(pool);
    }
}

static void random_shapes(void)
{
    ar_pool *pools[AR_COUNT(threads_of)];
    int      wrong = 0;

    for (size_t t = 0; t < AR_COUNT(threads_of); t++)
        pools[t] = pool_of(threads_of[t]);
    for (int seed = 100; seed < 100 + 200 / SLOWNESS; seed++) {
        world *w = make_random(1 + seed % 60, seed);

        wrong += !world_build(w);
        for (size_t t = 0; t < AR_COUNT(threads_of); t++)
            for (int run = 0; run < 5; run++)
                wrong += !runs_right(w, pools[t], (uint64_t)run);
        world_free(w);
    }
    CHECK_EQ_INT(wrong, 0);
    for (size_t t = 0; t < AR_COUNT(threads_of); t++)
        ar_pool_free(pools[t]);
}

/* ---- Replays --------------------------------------------------------------------------------- */

static void replays_allocate_nothing(void)
{
    for (size_t t = 0; t < AR_COUNT(threads_of); t++) {
        ar_pool *pool = pool_of(threads_of[t]);
        world   *w = make_random(25, 7);
        int      wrong = 0;

        CASE("%d threads", threads_of[t]);
        CHECK(world_build(w));
        ar_alloc_fail_from(1);
        for (int run = 0; run < 10000 / SLOWNESS; run++)
            wrong += !runs_right(w, pool, (uint64_t)run);
        ar_alloc_fail_from(0);
        CHECK_EQ_INT(wrong, 0);
        world_free(w);
        ar_pool_free(pool);
    }
}

static void run_numbers_wrap(void)
{
    ar_pool *pool = pool_of(3);
    world   *w = make_grid(60, 1);

    CHECK(world_build(w));
    for (uint64_t run = 0; run < 20; run++) {
        if (run == 10)
            w->graph->generation = UINT32_MAX - 3;
        CHECK(runs_right(w, pool, run));
    }
    CHECK(w->graph->generation > 0 && w->graph->generation < 10);
    world_free(w);
    ar_pool_free(pool);
}

static void tasks_change_size(void)
{
    ar_pool    *pool = pool_of(3);
    world      *w = make_chain(3, 64);
    arras_error err;

    CHECK(world_build(w));
    for (int64_t parts = 64; parts >= 0; parts = parts * 3 / 4 - 1) {
        CHECK(ar_taskgraph_resize(w->graph, 1, parts, NULL) == ARRAS_OK);
        w->knots[1].parts = parts;
        CHECK(runs_right(w, pool, (uint64_t)parts));
        CHECK_EQ_INT(atomic_load(&w->parts_done), 128 + parts);
    }
    CHECK(ar_taskgraph_resize(w->graph, 1, -5, &err) == ARRAS_EINVAL);
    CHECK_HAS(err.text, "task 1 has -5 parts");
    CHECK(ar_taskgraph_resize(w->graph, 3, 1, &err) == ARRAS_EINVAL);
    CHECK_HAS(err.text, "task 3 in a graph of 3");
    world_free(w);
    ar_pool_free(pool);
}

static void sleepers_are_woken(void)
{
    for (size_t t = 0; t < AR_COUNT(threads_of); t++) {
        ar_pool *pool = pool_of(threads_of[t]);
        world   *w = make_grid(200, 3);

        CASE("%d threads", threads_of[t]);
        CHECK(world_build(w));
        for (uint64_t run = 0; run < 40; run++) {
            CHECK(runs_right(w, pool, run));
            usleep(run % 4 * 300);
        }
        world_free(w);
        ar_pool_free(pool);
    }
}

/* ---- Several runs at once -------------------------------------------------------------------- */

typedef struct {
    ar_pool *pool;
    int      seed, wrong;
} caller;

static void *call_often(void *context)
{
    caller *c = context;
    world  *w = make_random(80, c->seed);

    c->wrong = !world_build(w);
    for (int run = 0; run < 500 / SLOWNESS; run++)
        c->wrong += !runs_right(w, c->pool, (uint64_t)run);
    world_free(w);
    return NULL;
}

static void several_callers(void)
{
    enum { CALLERS = 5 };

    for (size_t t = 0; t < AR_COUNT(threads_of); t++) {
        ar_pool  *pool = pool_of(threads_of[t]);
        caller    callers[CALLERS];
        pthread_t threads[CALLERS];

        CASE("%d threads", threads_of[t]);
        for (int i = 0; i < CALLERS; i++) {
            callers[i] = (caller){ pool, i + 1, 0 };
            pthread_create(&threads[i], NULL, call_often, &callers[i]);
        }
        for (int i = 0; i < CALLERS; i++) {
            pthread_join(threads[i], NULL);
            CHECK_EQ_INT(callers[i].wrong, 0);
        }
        ar_pool_free(pool);
    }
}

/* More than there are places in a pool. */
static void many_started(void)
{
    enum { GRAPHS = AR_POOL_RUNS + 8 };

    for (size_t t = 0; t < AR_COUNT(threads_of); t++) {
        ar_pool *pool = pool_of(threads_of[t]);
        world   *worlds[GRAPHS];

        CASE("%d threads", threads_of[t]);
        for (int i = 0; i < GRAPHS; i++) {
            worlds[i] = make_random(i, i);
            CHECK(world_build(worlds[i]));
        }
        for (uint64_t round = 0; round < 20 / SLOWNESS + 1; round++) {
            for (int i = 0; i < GRAPHS; i++) {
                world_clear(worlds[i], round);
                CHECK(ar_taskgraph_start(worlds[i]->graph, pool, NULL) == ARRAS_OK);
            }
            if (round % 2)
                usleep(500);
            for (int i = GRAPHS - 1; i >= 0; i--) {
                CHECK(ar_taskgraph_wait(worlds[i]->graph, NULL) == ARRAS_OK);
                CHECK_EQ_INT(world_wrong(worlds[i]), 0);
            }
        }
        for (int i = 0; i < GRAPHS; i++)
            world_free(worlds[i]);
        ar_pool_free(pool);
    }
}

static void starts_work_by_themselves(void)
{
    ar_pool *pool = pool_of(2);
    world   *w = make_chain(5, 1);

    CHECK(world_build(w));
    for (uint64_t run = 0; run < 3; run++) {
        world_clear(w, run);
        CHECK(ar_taskgraph_start(w->graph, pool, NULL) == ARRAS_OK);
        for (int i = 0; i < 300000 && atomic_load(&w->parts_done) < 5; i++)
            usleep(1000);
        CHECK_EQ_INT(atomic_load(&w->parts_done), 5);
        CHECK(ar_taskgraph_wait(w->graph, NULL) == ARRAS_OK);
        CHECK_EQ_INT(world_wrong(w), 0);
        usleep(2000);
    }
    CHECK(ar_taskgraph_start(w->graph, pool, NULL) == ARRAS_OK);
    world_free(w); /* without wait */
    ar_pool_free(pool);
}

typedef struct {
    ar_pool *pool;
    world   *inner;
    int      right;
} outer;

static arras_status run_inner(void *context, int64_t first, int64_t last, int thread,
                              arras_error *err)
{
    outer *o = context;

    (void)thread, (void)err;
    for (int64_t part = first; part < last; part++)
        o[part].right = runs_right(o[part].inner, o[part].pool, (uint64_t)part);
    return ARRAS_OK;
}

static void tasks_run_graphs(void)
{
    enum { PARTS = 12 };

    for (size_t t = 0; t < AR_COUNT(threads_of); t++) {
        ar_pool      *pool = pool_of(threads_of[t]);
        outer         outers[PARTS];
        ar_taskgraph *graph;
        int           id;

        CASE("%d threads", threads_of[t]);
        for (int i = 0; i < PARTS; i++) {
            outers[i] = (outer){ pool, make_random(50, i), 0 };
            CHECK(world_build(outers[i].inner));
        }
        CHECK(ar_taskgraph_new(&graph, NULL) == ARRAS_OK);
        CHECK(!ar_taskgraph_add(&id, graph, (ar_task){ run_inner, outers, PARTS, NULL }, NULL));
        CHECK(ar_taskgraph_instantiate(graph, NULL) == ARRAS_OK);
        CHECK(ar_taskgraph_run(graph, pool, NULL) == ARRAS_OK);
        ar_taskgraph_free(graph);
        for (int i = 0; i < PARTS; i++) {
            CHECK(outers[i].right);
            world_free(outers[i].inner);
        }
        ar_pool_free(pool);
    }
}

/* ---- CPUs ------------------------------------------------------------------------------------ */

enum { SHARES = 64 };

static arras_status wait_a_little(void *context, int64_t first, int64_t last, int thread,
                                  arras_error *err)
{
    (void)context, (void)first, (void)last, (void)thread, (void)err;
    usleep(200);
    return ARRAS_OK;
}

static bool has_cpu(pthread_t thread, int cpu)
{
    cpu_set_t cpus;

    CPU_ZERO(&cpus);
    return pthread_getaffinity_np(thread, sizeof cpus, &cpus) == 0 && CPU_ISSET((size_t)cpu, &cpus);
}

/* Wherever the caller is moved to, workers that slept meanwhile do not wake there. */
static void callers_move(void)
{
    cpu_set_t     all, one;
    ar_pool      *pool = NULL;
    ar_taskgraph *graph = NULL;
    int           number, moves = 0;

    sched_getaffinity(0, sizeof all, &all);
    CHECK_EQ_INT(ar_pool_new(&pool, CPU_COUNT(&all), NULL), ARRAS_OK);
    CHECK_EQ_INT(ar_taskgraph_new(&graph, NULL), ARRAS_OK);
    ar_taskgraph_add(&number, graph, (ar_task){ wait_a_little, NULL, SHARES, "wait" }, NULL);
    CHECK_EQ_INT(ar_taskgraph_instantiate(graph, NULL), ARRAS_OK);
    CHECK_EQ_INT(ar_taskgraph_run(graph, pool, NULL), ARRAS_OK);
    for (int cpu = 0; cpu < CPU_SETSIZE && CPU_COUNT(&all) > 1 && moves < 6; cpu++) {
        if (!CPU_ISSET((size_t)cpu, &all))
            continue;
        CPU_ZERO(&one);
        CPU_SET((size_t)cpu, &one);
        sched_setaffinity(0, sizeof one, &one);
        usleep(20000); /* all workers are asleep */
        CHECK_EQ_INT(ar_taskgraph_run(graph, pool, NULL), ARRAS_OK);
        for (int k = 1; k <= pool->workers; k++)
            CHECK(!has_cpu(pool->worker[k].thread, cpu));
        moves++;
    }
    sched_setaffinity(0, sizeof all, &all);
    ar_taskgraph_free(graph);
    ar_pool_free(pool);
}

/* ---- Pools ----------------------------------------------------------------------------------- */

static void pools_are_shared(void)
{
    ar_pool *a = NULL, *b = NULL, *c = NULL;

    CHECK(!ar_pool_shared(&a, 2, NULL) && !ar_pool_shared(&b, 2, NULL));
    CHECK(!ar_pool_shared(&c, 3, NULL));
    CHECK(a == b && a != c);
    CHECK_EQ_INT(ar_pool_threads(c), 3);
    ar_pool_free(a);
    ar_pool_free(c);
    CHECK(!ar_pool_shared(&c, 2, NULL) && b == c);
    ar_pool_free(b);
    ar_pool_free(c);
    CHECK(!ar_pool_shared(&a, 0, NULL));
    CHECK_EQ_INT(ar_pool_threads(a), ar_cpu_count());
    ar_pool_free(a);
    ar_pool_free(NULL);
}

static void pools_end_at_any_time(void)
{
    world *w = make_wide(20, 2);

    CHECK(world_build(w));
    for (int i = 0; i < 200 / SLOWNESS; i++) {
        ar_pool *pool = pool_of(threads_of[i % 4]);

        if (i % 3)
            CHECK(runs_right(w, pool, (uint64_t)i));
        usleep(i % 10 == 0 ? 2000 : i % 5 == 0 ? 40 : 0);
        ar_pool_free(pool);
    }
    world_free(w);
}

static int64_t cpu_time(void)
{
    struct timespec t;

    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

static void idle_pools_take_no_time(void)
{
    ar_pool *pool = pool_of(7);
    world   *w = make_wide(100, 2);
    int64_t  spent = INT64_MAX, before;

    CHECK(world_build(w));
    CHECK(runs_right(w, pool, 1));
    /* On a busy machine it takes its time until all of them have spun, and sleep. */
    for (int i = 0; i < 1000 && spent >= 10000000; i++) {
        before = cpu_time();
        usleep(100000);
        spent = cpu_time() - before;
    }
    CHECK(spent < 10000000);
    world_free(w);
    ar_pool_free(pool);
}

static int in_child(world *w, ar_pool *pool, world *started)
{
    ar_pool    *shared;
    arras_error err;

    for (uint64_t run = 0; run < 50; run++)
        if (!runs_right(w, pool, run))
            return 1;
    if (pool->workers != pool->threads - 1)
        return 2;
    if (ar_pool_shared(&shared, 2, NULL) || !runs_right(w, shared, 1))
        return 3;
    ar_pool_free(shared);
    if (ar_taskgraph_wait(started->graph, &err) != ARRAS_EINVAL || !strstr(err.text, "fork"))
        return 4;
    for (size_t t = 0; t < AR_COUNT(started->in_use); t++)
        atomic_store(&started->in_use[t], 0); /* by threads that are not there */
    if (!runs_right(started, pool, 3))
        return 5;
    ar_pool_free(pool);
    return 0;
}

static void children_start_anew(void)
{
    ar_pool *pool = pool_of(3);
    world   *w = make_grid(100, 3), *started = make_random(100, 3);
    int      status = -1;

    CHECK(world_build(w) && world_build(started));
    CHECK(runs_right(w, pool, 1));
    for (int i = 0; i < 5; i++) {
        pid_t child;

        world_clear(started, 1);
        CHECK(ar_taskgraph_start(started->graph, pool, NULL) == ARRAS_OK);
        child = fork();
        if (child == 0)
            _exit(in_child(w, pool, started));
        CHECK(waitpid(child, &status, 0) == child);
        CHECK(WIFEXITED(status));
        CHECK_EQ_INT(WEXITSTATUS(status), 0);
        CHECK(ar_taskgraph_wait(started->graph, NULL) == ARRAS_OK);
        CHECK_EQ_INT(world_wrong(started), 0);
        CHECK(runs_right(w, pool, 2));
    }
    world_free(w);
    world_free(started);
    ar_pool_free(pool);
}

TEST_MAIN
{
    RUN(every_shape);
    RUN(random_shapes);
    RUN(replays_allocate_nothing);
    RUN(run_numbers_wrap);
    RUN(tasks_change_size);
    RUN(sleepers_are_woken);
    RUN(several_callers);
    RUN(many_started);
    RUN(starts_work_by_themselves);
    RUN(tasks_run_graphs);
    RUN(callers_move);
    RUN(pools_are_shared);
    RUN(pools_end_at_any_time);
    RUN(idle_pools_take_no_time);
    /* ThreadSanitizer knows no threads that start after a fork. */
    if (SLOWNESS == 1)
        RUN(children_start_anew);
}
