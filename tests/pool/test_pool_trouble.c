/* test_pool_trouble.c -- task graphs that fail, are cancelled, are built wrongly, or for which
 * memory ends; and what they tell about themselves. */
#include "pool_world.h"

/* ---- Failure and cancellation ---------------------------------------------------------------- */

/* Counts its calls; does something unusual at one part. */
typedef struct {
    ar_taskgraph *graph;
    ar_pool      *pool;
    enum { COUNT, FAIL, FAIL_SILENTLY, CANCEL, RUN_ITSELF, WAIT_FOR_STOP } what;
    int64_t     at;
    atomic_int  calls;
    arras_error error;
} actor;

static bool is_stopped(ar_taskgraph *graph)
{
    return atomic_load_explicit(&graph->state, memory_order_relaxed) & AR_STOP;
}

static arras_status act(void *context, int64_t first, int64_t last, int thread, arras_error *err)
{
    actor *a = context;

    (void)thread;
    atomic_fetch_add(&a->calls, 1);
    if (a->at < first || a->at >= last)
        return ARRAS_OK;
    switch (a->what) {
    case COUNT: break;
    case FAIL: return ar_fail(err, ARRAS_EINDEX, "part %d is bad", (int)a->at);
    case FAIL_SILENTLY: return ARRAS_ESIZE;
    case CANCEL: ar_taskgraph_cancel(a->graph, ARRAS_ELIMIT); break;
    case RUN_ITSELF: ar_taskgraph_run(a->graph, a->pool, &a->error); break;
    case WAIT_FOR_STOP:
        while (!is_stopped(a->graph))
            usleep(100);
    }
    return ARRAS_OK;
}

/* A chain of actors, or actors side by side. */
static ar_taskgraph *stage(actor *actors, int count, int64_t parts, bool chain, ar_pool *pool)
{
    ar_taskgraph *graph = NULL;
    int           id;

    CHECK(ar_taskgraph_new(&graph, NULL) == ARRAS_OK);
    for (int i = 0; i < count; i++) {
        actors[i] = (actor){ .graph = graph, .pool = pool };
        CHECK(!ar_taskgraph_add(&id, graph, (ar_task){ act, &actors[i], parts, "actor" }, NULL));
        if (chain && i)
            CHECK(ar_taskgraph_order(graph, i - 1, i, NULL) == ARRAS_OK);
    }
    CHECK(ar_taskgraph_instantiate(graph, NULL) == ARRAS_OK);
    return graph;
}

static int calls_of(const actor *actors, int from, int to)
{
    int sum = 0;

    for (int i = from; i < to; i++)
        sum += atomic_load(&actors[i].calls);
    return sum;
}

static const struct {
    const char  *name;
    int          what;
    arras_status status;
    const char  *text;
} troubles[] = {
    { "fails", FAIL, ARRAS_EINDEX, "part 0 is bad" },
    { "fails silently", FAIL_SILENTLY, ARRAS_ESIZE, "task 10 actor failed on parts 0 to 0" },
    { "cancels", CANCEL, ARRAS_ELIMIT, "the run of 20 tasks was cancelled" },
};

static void trouble_ends_runs(void)
{
    enum { ACTORS = 20, AT = 10 };

    for (size_t t = 0; t < AR_COUNT(threads_of); t++)
        for (size_t i = 0; i < AR_COUNT(troubles); i++) {
            ar_pool      *pool = pool_of(threads_of[t]);
            actor         actors[ACTORS];
            ar_taskgraph *graph = stage(actors, ACTORS, 1, true, pool);
            arras_error   err = { 0 };

            CASE("%s, %d threads", troubles[i].name, threads_of[t]);
            for (int run = 1; run <= 3; run++) {
                actors[AT].what = (unsigned)troubles[i].what;
                CHECK_EQ_INT(ar_taskgraph_run(graph, pool, &err), troubles[i].status);
                CHECK_EQ_INT(err.code, troubles[i].status);
                CHECK_HAS(err.text, troubles[i].text);
                CHECK_EQ_INT(calls_of(actors, AT + 1, ACTORS), (run - 1) * (ACTORS - AT - 1));
                actors[AT].what = COUNT;
                CHECK(ar_taskgraph_run(graph, pool, NULL) == ARRAS_OK);
                CHECK_EQ_INT(calls_of(actors, 0, AT + 1), 2 * run * (AT + 1));
            }
            ar_taskgraph_free(graph);
            ar_pool_free(pool);
        }
}

static void trouble_in_loops(void)
{
    for (size_t t = 0; t < AR_COUNT(threads_of); t++) {
        ar_pool      *pool = pool_of(threads_of[t]);
        actor         actors[4];
        ar_taskgraph *graph = stage(actors, 4, 500, true, pool);
        arras_error   err;

        CASE("%d threads", threads_of[t]);
        actors[1].what = FAIL;
        actors[1].at = 250;
        CHECK(ar_taskgraph_run(graph, pool, &err) == ARRAS_EINDEX);
        CHECK_STR(err.text, "part 250 is bad");
        CHECK_EQ_INT(calls_of(actors, 2, 4), 0);
        actors[1].what = COUNT;
        CHECK(ar_taskgraph_run(graph, pool, NULL) == ARRAS_OK);
        /* All fail at once: one of them wins. */
        for (int i = 0; i < 4; i++)
            actors[i].what = FAIL;
        CHECK(ar_taskgraph_run(graph, pool, &err) == ARRAS_EINDEX);
        ar_taskgraph_free(graph);
        ar_pool_free(pool);
    }
}

static void *cancel_soon(void *context)
{
    usleep(1000);
    ar_taskgraph_cancel(context, ARRAS_ELIMIT);
    return NULL;
}

static void cancel_from_outside(void)
{
    enum { ACTORS = 100 };

    for (size_t t = 0; t < AR_COUNT(threads_of); t++) {
        ar_pool      *pool = pool_of(threads_of[t]);
        actor         actors[ACTORS];
        ar_taskgraph *graph = stage(actors, ACTORS, 1, false, pool);
        pthread_t     other;
        arras_error   err;

        CASE("%d threads", threads_of[t]);
        for (int i = 0; i < ACTORS; i++)
            actors[i].what = WAIT_FOR_STOP;
        pthread_create(&other, NULL, cancel_soon, graph);
        /* The cancellation may come before the run, and is then for nobody. */
        ar_taskgraph_start(graph, pool, NULL);
        usleep(5000);
        ar_taskgraph_cancel(graph, ARRAS_ELIMIT);
        CHECK(ar_taskgraph_wait(graph, &err) == ARRAS_ELIMIT);
        CHECK_STR(err.text, "the run of 100 tasks was cancelled");
        CHECK(calls_of(actors, 0, ACTORS) < threads_of[t]);
        pthread_join(other, NULL);
        for (int i = 0; i < ACTORS; i++)
            actors[i].what = COUNT;
        CHECK(ar_taskgraph_run(graph, pool, NULL) == ARRAS_OK);
        ar_taskgraph_free(graph);
        ar_pool_free(pool);
    }
}

static void late_cancellation_is_none(void)
{
    ar_pool      *pool = pool_of(2);
    actor         actors[3];
    ar_taskgraph *graph = stage(actors, 3, 1, true, pool);

    actors[2].what = CANCEL; /* the last: nothing is left out */
    CHECK(ar_taskgraph_run(graph, pool, NULL) == ARRAS_OK);
    ar_taskgraph_cancel(graph, ARRAS_ELIMIT); /* not running: no effect */
    actors[2].what = COUNT;
    CHECK(ar_taskgraph_run(graph, pool, NULL) == ARRAS_OK);
    CHECK_EQ_INT(calls_of(actors, 0, 3), 6);
    ar_taskgraph_free(graph);
    ar_pool_free(pool);
}

/* ---- Mistakes -------------------------------------------------------------------------------- */

static void circles_are_refused(void)
{
    static const struct {
        int         edges[6][2], count;
        const char *text;
    } rows[] = {
        { { { 1, 1 } }, 1, "1 tasks of a graph wait for each other in a circle: 1 after 1" },
        { { { 0, 1 }, { 1, 2 }, { 2, 1 }, { 2, 3 } }, 4, "2 tasks of a graph" },
        { { { 3, 2 }, { 2, 1 }, { 1, 3 }, { 0, 3 } }, 4, "3 tasks of a graph" },
    };
    for (size_t r = 0; r < AR_COUNT(rows); r++) {
        ar_taskgraph *graph;
        arras_error   err;
        int           id;

        CASE("row %zu", r);
        CHECK(ar_taskgraph_new(&graph, NULL) == ARRAS_OK);
        for (int i = 0; i < 4; i++)
            CHECK(!ar_taskgraph_add(&id, graph, (ar_task){ act, NULL, 1, NULL }, NULL));
        for (int e = 0; e < rows[r].count; e++)
            CHECK(!ar_taskgraph_order(graph, rows[r].edges[e][0], rows[r].edges[e][1], NULL));
        CHECK(ar_taskgraph_instantiate(graph, &err) == ARRAS_EINVAL);
        CHECK_HAS(err.text, rows[r].text);
        ar_taskgraph_free(graph);
    }
}

static void mistakes_are_refused(void)
{
    ar_pool      *pool = pool_of(2);
    ar_taskgraph *graph;
    actor         actors[1];
    arras_error   err;
    int           id = -1;

    CHECK(ar_taskgraph_new(&graph, NULL) == ARRAS_OK);
    CHECK(ar_taskgraph_add(&id, graph, (ar_task){ act, NULL, -1, NULL }, &err) == ARRAS_EINVAL);
    CHECK_HAS(err.text, "task 0 has -1 parts");
    CHECK(ar_taskgraph_add(&id, graph, (ar_task){ NULL, NULL, 1, NULL }, &err) == ARRAS_EINVAL);
    CHECK_HAS(err.text, "no function");
    CHECK_EQ_INT(id, -1);
    CHECK(ar_taskgraph_order(graph, 0, 1, &err) == ARRAS_EINVAL);
    CHECK_HAS(err.text, "from task 0 to task 1 in a graph of 0 tasks");
    CHECK(ar_taskgraph_run(graph, pool, &err) == ARRAS_EINVAL);
    CHECK_HAS(err.text, "before it is instantiated");
    CHECK(ar_taskgraph_instantiate(graph, NULL) == ARRAS_OK);
    CHECK(ar_taskgraph_instantiate(graph, &err) == ARRAS_EINVAL);
    CHECK_HAS(err.text, "instantiated already");
    CHECK(ar_taskgraph_wait(graph, &err) == ARRAS_EINVAL);
    CHECK_HAS(err.text, "not started");
    ar_taskgraph_free(graph);

    graph = stage(actors, 1, 1, true, pool);
    actors[0].what = RUN_ITSELF;
    CHECK(ar_taskgraph_run(graph, pool, NULL) == ARRAS_OK);
    CHECK_HAS(actors[0].error.text, "is running already");
    ar_taskgraph_free(graph);
    ar_pool_free(pool);

    CHECK(ar_pool_new(&pool, -1, &err) == ARRAS_EINVAL);
    CHECK_HAS(err.text, "a pool of -1 threads");
    CHECK(ar_pool_shared(&pool, AR_POOL_MAX_THREADS + 1, &err) == ARRAS_EINVAL);
}

static void any_allocation_may_fail(void)
{
    int64_t live = ar_alloc_live(), n = 0;
    bool    built = false;

    for (; !built && n < 100; n++) {
        ar_taskgraph *graph = NULL;
        ar_pool      *pool = NULL;
        ar_trace     *trace = NULL;
        int           id = 0;

        ar_alloc_fail_from(n + 1);
        built = !ar_pool_shared(&pool, 2, NULL) && !ar_trace_new(&trace, 5, NULL) &&
                !ar_taskgraph_new(&graph, NULL);
        for (int i = 0; built && i < 20; i++)
            built = !ar_taskgraph_add(&id, graph, (ar_task){ 0 }, NULL) &&
                    (i == 0 || !ar_taskgraph_order(graph, i - 1, i, NULL));
        built =
            built && !ar_taskgraph_instantiate(graph, NULL) && !ar_taskgraph_run(graph, pool, NULL);
        ar_alloc_fail_from(0);
        ar_taskgraph_free(graph);
        ar_trace_free(trace);
        ar_pool_free(pool);
        CHECK_EQ_INT(ar_alloc_live(), live);
    }
    CHECK(built && n > 10);
}

/* ---- Traces, levels -------------------------------------------------------------------------- */

static void traces_tell_all(void)
{
    ar_pool  *pool = pool_of(3);
    world    *w = make_random(40, 5);
    ar_trace *trace, *small;
    int64_t   parts = 0;

    CHECK(world_build(w));
    CHECK(ar_trace_new(&trace, 10000, NULL) == ARRAS_OK);
    CHECK(ar_trace_new(&small, 3, NULL) == ARRAS_OK);
    ar_taskgraph_trace(w->graph, trace);
    CHECK(runs_right(w, pool, 1));
    CHECK_EQ_INT(ar_trace_lost(trace), 0);
    for (int64_t i = 0; i < ar_trace_count(trace); i++) {
        const ar_trace_record *r = ar_trace_at(trace, i);

        parts += r->last - r->first;
        CHECK(r->start <= r->end && r->start > 0);
        CHECK(r->thread >= 0 && r->thread < 3);
        CHECK(r->last <= w->knots[r->task].parts);
    }
    CHECK_EQ_INT(parts, atomic_load(&w->parts_done));
    ar_taskgraph_trace(w->graph, small);
    CHECK(runs_right(w, pool, 2));
    CHECK_EQ_INT(ar_trace_count(small), 3);
    CHECK(ar_trace_lost(small) > 0);
    ar_trace_clear(small);
    CHECK_EQ_INT(ar_trace_count(small) + ar_trace_lost(small), 0);
    world_free(w);
    ar_trace_free(trace);
    ar_trace_free(small);
    ar_pool_free(pool);
}

static void graphs_describe_themselves(void)
{
    world *w = make_diamonds(7, 2);
    int    before, behind;

    CHECK(world_build(w));
    CHECK_EQ_INT(ar_taskgraph_count(w->graph), 7);
    CHECK_EQ_INT(ar_taskgraph_edges(w->graph), 8);
    CHECK_EQ_INT(ar_taskgraph_level(w->graph, 6), 4);
    CHECK_STR(ar_taskgraph_task(w->graph, 3)->name, "knot");
    ar_taskgraph_edge(&before, &behind, w->graph, 0);
    CHECK(before == 0 && behind == 1);
    world_free(w);
}

TEST_MAIN
{
    RUN(trouble_ends_runs);
    RUN(trouble_in_loops);
    RUN(cancel_from_outside);
    RUN(late_cancellation_is_none);
    RUN(circles_are_refused);
    RUN(mistakes_are_refused);
    RUN(any_allocation_may_fail);
    RUN(traces_tell_all);
    RUN(graphs_describe_themselves);
}
