/* pool_run.c -- runs of task graphs: beginning, the caller's part, the end and what comes of it. */
#include "pool/pool_state.h"

#include <sched.h>

/* ns, about what it takes to wake a worker that sleeps. */
enum { BRIEF = 15000 };

/* ---- The caller ------------------------------------------------------------------------------ */

static bool all_finished(ar_run *run) { return atomic_load(&run->unfinished) == 0; }

/* Until there is work in this run, or no more to come. */
static void wait_for_work(ar_taskgraph *graph)
{
    ar_run   *run = graph->run;
    ar_poller poller = { 0 };

    atomic_store(&run->caller, AR_CALLER_POLLING);
    while (!ar_run_has_work(run) && !all_finished(run)) {
        if (ar_poll(&poller, graph->pool->patience))
            continue;
        /* seq_cst: then a last look, see ar_run_has_work() */
        atomic_store(&run->caller, AR_CALLER_ASLEEP);
        while (!ar_run_has_work(run) && !all_finished(run) &&
               atomic_load(&run->caller) == AR_CALLER_ASLEEP)
            ar_futex_wait(&run->caller, AR_CALLER_ASLEEP);
        poller = (ar_poller){ 0 };
    }
    atomic_store(&run->caller, AR_CALLER_BUSY);
}

static void work_with_others(ar_taskgraph *graph)
{
    ar_run           *run = graph->run;
    ar_worker_context hand = ar_worker_context_make(graph, 0);
    ar_piece          piece;

    for (;;) {
        if (ar_worker_context_take(&piece, &hand)) {
            /* While this thread was looking, others were not told. */
            if (ar_run_has_work(run))
                ar_pool_notify(graph->pool, run, 2);
            ar_worker_context_work_off(&hand, piece);
        } else if (ar_run_has_work(run)) {
            sched_yield(); /* someone is about to write what it reserved */
        }
        if (all_finished(run))
            return;
        wait_for_work(graph);
    }
}

static void work_alone(ar_taskgraph *graph)
{
    ar_worker_context hand = ar_worker_context_make(graph, 0);

    for (size_t i = 0; i < graph->ntasks; i++) {
        ar_piece       piece = { .task = graph->order[i] };
        const ar_node *node = &graph->nodes[piece.task];
        /* In chunks all the same, so that a cancellation is seen in between. */
        int64_t chunk = ar_max64(1, node->parts / AR_CHUNKS_PER_THREAD);

        for (; piece.first < node->parts; piece.first = piece.last) {
            piece.last = ar_min64(piece.first + chunk, node->parts);
            ar_worker_context_do(&hand, node, &piece);
        }
    }
}

/* ---- Runs ------------------------------------------------------------------------------------ */

/* Places written in another run must not look written in this one. */
static void next_generation(ar_taskgraph *graph)
{
    if (++graph->generation)
        return;
    for (size_t i = (size_t)graph->nsources; i < graph->ntasks; i++)
        atomic_store_explicit(&graph->queue[i], 0, memory_order_relaxed);
    graph->generation = 1;
}

static void open_run(ar_taskgraph *graph, int64_t quiet)
{
    ar_run *run = graph->run;

    next_generation(graph);
    graph->began = ar_clock();
    for (int i = 0; i < graph->nsource_loops; i++)
        ar_loop_prepare(graph, graph->source_loops[i]);
    /* relaxed: ar_pool_open() publishes all of it */
    atomic_store_explicit(&run->quiet_until, quiet ? graph->began + quiet : 0,
                          memory_order_relaxed);
    atomic_store_explicit(&run->head, 0, memory_order_relaxed);
    atomic_store_explicit(&run->tail, graph->nsources, memory_order_relaxed);
    atomic_store_explicit(&run->unfinished, (int64_t)graph->ntasks, memory_order_relaxed);
    atomic_store_explicit(&run->caller, AR_CALLER_BUSY, memory_order_relaxed);
    ar_pool_open(graph->pool, run, graph);
}

/* acquire: what the thread that ran it last has written. */
static bool claim_graph(ar_taskgraph *graph, uint64_t doing)
{
    uint64_t state = atomic_load_explicit(&graph->state, memory_order_relaxed);

    return (state & AR_DOING) == AR_IDLE && atomic_compare_exchange_strong_explicit(
                                                &graph->state, &state, state + AR_NEXT_RUN + doing,
                                                memory_order_acquire, memory_order_relaxed);
}

/* release: to the next thread that runs it. */
static void release_graph(ar_taskgraph *graph)
{
    uint64_t state = atomic_load_explicit(&graph->state, memory_order_relaxed);

    atomic_store_explicit(&graph->state, state & ~(uint64_t)(AR_DOING | AR_STOP),
                          memory_order_release);
}

static arras_status begin(ar_taskgraph *graph, ar_pool *pool, uint64_t doing, arras_error *err)
{
    if (!graph->ready)
        return ar_fail(err, ARRAS_EINVAL, "a task graph is run before it is instantiated");
    if (!claim_graph(graph, doing))
        return ar_fail(err, ARRAS_EINVAL,
                       "a task graph of %zu tasks is running already: wait for it, or make another",
                       graph->ntasks);
    atomic_store_explicit(&graph->left_out, false, memory_order_relaxed);
    atomic_store_explicit(&graph->failed, false, memory_order_relaxed);
    ar_taskgraph_measure(graph);
    graph->pool = pool;
    graph->threads = pool->threads;
    graph->run = NULL;
    return ARRAS_OK;
}

static arras_status outcome(ar_taskgraph *graph, arras_error *err)
{
    uint64_t state = atomic_load_explicit(&graph->state, memory_order_relaxed);

    if (atomic_load_explicit(&graph->failed, memory_order_relaxed)) {
        if (err)
            *err = graph->failure;
        return graph->failure.code;
    }
    if (atomic_load_explicit(&graph->left_out, memory_order_relaxed))
        return ar_fail(err, (arras_status)(state & AR_STOP), "the run of %zu tasks was cancelled",
                       graph->ntasks);
    return ARRAS_OK; /* or a cancellation that came too late */
}

/* In a forked child: the threads that were busy with this run are not there. */
static bool is_lost(const ar_taskgraph *graph)
{
    return graph->run && atomic_load_explicit(&graph->run->graph, memory_order_relaxed) != graph;
}

static arras_status give_up(ar_taskgraph *graph, arras_error *err)
{
    for (size_t i = 0; i < graph->ntasks; i++)
        atomic_store_explicit(&graph->nodes[i].pending, graph->nodes[i].npredecessors,
                              memory_order_relaxed);
    return ar_fail(err, ARRAS_EINVAL,
                   "a task graph of %zu tasks was started before a fork: wait for it in the parent",
                   graph->ntasks);
}

/* A run that woke workers takes longer for that, so it says little; now and then one that was not
 * very long is tried without. */
static void judge(ar_taskgraph *graph)
{
    int64_t took = ar_clock() - graph->began;

    graph->brief = took < BRIEF || (took < 10 * BRIEF && graph->generation % 8 == 0);
}

static arras_status complete(ar_taskgraph *graph, arras_error *err)
{
    if (is_lost(graph))
        return give_up(graph, err);
    if (graph->run) {
        work_with_others(graph);
        ar_pool_close(graph->pool, graph->run);
        judge(graph);
    } else {
        work_alone(graph);
    }
    return outcome(graph, err);
}

static arras_status end(ar_taskgraph *graph, arras_error *err)
{
    arras_status status = complete(graph, err);

    release_graph(graph);
    return status;
}

typedef struct {
    ar_taskgraph *graph;
    ar_pool      *pool;
} request;

static arras_status run_here(void *context, arras_error *err)
{
    const request *r = context;
    ar_taskgraph  *graph = r->graph;
    ar_pool       *pool = r->pool;
    arras_status   status = begin(graph, pool, AR_RUNNING, err);

    if (status)
        return status;
    if (graph->parallel)
        graph->run = ar_pool_claim(pool);
    /* A graph whose last run was brief is given to those who are awake; sleepers are woken only
     * when it turns out to take longer this time. */
    if (graph->run && !graph->brief)
        ar_pool_make_way(pool);
    if (graph->run)
        open_run(graph, graph->brief ? BRIEF : 0);
    return end(graph, err);
}

/* Tasks run on the caller's stack, too. */
arras_status ar_taskgraph_run(ar_taskgraph *graph, ar_pool *pool, arras_error *err)
{
    request r = { graph, pool };

    return ar_has_room() ? run_here(&r, err) : ar_with_room(run_here, &r, err);
}

arras_status ar_taskgraph_start(ar_taskgraph *graph, ar_pool *pool, arras_error *err)
{
    arras_status status = begin(graph, pool, AR_STARTED, err);

    if (status || graph->ntasks == 0)
        return status;
    graph->run = ar_pool_claim(pool);
    if (graph->run) {
        open_run(graph, 0);
        ar_pool_make_way(pool);
        ar_pool_notify(pool, graph->run, graph->nsources + graph->nsource_loops);
    }
    return ARRAS_OK;
}

static arras_status wait_here(void *context, arras_error *err)
{
    ar_taskgraph *graph = context;
    /* acquire: it may be another thread that started it */
    uint64_t state = atomic_load_explicit(&graph->state, memory_order_acquire);

    if ((state & AR_DOING) != AR_STARTED)
        return ar_fail(err, ARRAS_EINVAL, "a task graph is waited for that was not started");
    return end(graph, err);
}

arras_status ar_taskgraph_wait(ar_taskgraph *graph, arras_error *err)
{
    return ar_has_room() ? wait_here(graph, err) : ar_with_room(wait_here, graph, err);
}

void ar_taskgraph_cancel(ar_taskgraph *graph, arras_status why) { ar_taskgraph_stop(graph, why); }

/* The parts that were taken of the task at a place of the queue; 0 for one that is not ready. */
static int64_t parts_taken(const ar_taskgraph *graph, int64_t place)
{
    uint64_t       word = atomic_load_explicit(&graph->queue[place], memory_order_acquire);
    const ar_node *node = &graph->nodes[(uint32_t)word];

    if (node->parts <= 1 || (place >= graph->nsources && word >> 32 != graph->generation))
        return 0;
    return ar_min64(atomic_load_explicit(&graph->loops[(uint32_t)word].next, memory_order_relaxed),
                    node->parts);
}

double ar_taskgraph_progress(const ar_taskgraph *graph)
{
    const ar_run *run = graph->run;
    int64_t       ready, taken = 0, parts = 0;

    for (size_t i = 0; i < graph->ntasks; i++)
        parts += graph->nodes[i].parts > 1 ? graph->nodes[i].parts : 0;
    if (!run || parts == 0)
        return -1;
    ready =
        ar_min64(atomic_load_explicit(&run->tail, memory_order_relaxed), (int64_t)graph->ntasks);
    for (int64_t place = 0; place < ready; place++)
        taken += parts_taken(graph, place);
    return (double)taken / (double)parts;
}
