/* pool.c -- pools: making, sharing, forking, freeing, and their places for runs. */
#include "pool/pool_state.h"

#include <sched.h>

/* All pools of the process, for sharing and for fork; the lock also guards starting. */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static ar_pool        *all_pools;
static pthread_once_t  fork_once = PTHREAD_ONCE_INIT;

/* ---- Runs ------------------------------------------------------------------------------------ */

static void need_workers(ar_pool *pool)
{
    if (atomic_load_explicit(&pool->started, memory_order_acquire))
        return;
    pthread_mutex_lock(&lock);
    if (!atomic_load_explicit(&pool->started, memory_order_relaxed))
        ar_workers_start(pool);
    atomic_store_explicit(&pool->started, true, memory_order_release);
    pthread_mutex_unlock(&lock);
}

ar_run *ar_pool_claim(ar_pool *pool)
{
    if (pool->threads == 1)
        return NULL;
    need_workers(pool);
    for (int r = 0; pool->workers && r < AR_POOL_RUNS; r++) {
        ar_run *run = &pool->runs[r];
        bool    taken = atomic_load_explicit(&run->claimed, memory_order_relaxed);

        /* acquire: the last owner's use of the run is over */
        if (!taken && atomic_compare_exchange_strong_explicit(
                          &run->claimed, &taken, true, memory_order_acquire, memory_order_relaxed))
            return run;
    }
    return NULL;
}

void ar_pool_open(ar_pool *pool, ar_run *run, ar_taskgraph *graph)
{
    atomic_store(&run->graph, graph);
    /* seq_cst: pairs with the last look of a spinner that goes to sleep */
    atomic_fetch_or(&pool->open, UINT32_C(1) << (run - pool->runs));
}

void ar_pool_close(ar_pool *pool, ar_run *run)
{
    ar_poller poller = { 0 };

    atomic_fetch_and(&pool->open, ~(UINT32_C(1) << (run - pool->runs)));
    /* seq_cst: a visitor counts itself, then looks at graph; here it is the other way round.
     * Visitors are about to leave: all tasks are finished. */
    atomic_store(&run->graph, NULL);
    while (atomic_load(&run->visitors) > 0)
        if (!ar_poll(&poller, pool->patience))
            sched_yield();
    atomic_store_explicit(&run->claimed, false, memory_order_release);
}

/* ---- Fork ------------------------------------------------------------------------------------ */

static void before_fork(void) { pthread_mutex_lock(&lock); }
static void after_fork_in_parent(void) { pthread_mutex_unlock(&lock); }

/* The child has one thread: runs that others were busy with will never end, workers are gone. */
static void after_fork_in_child(void)
{
    for (ar_pool *pool = all_pools; pool; pool = pool->next) {
        atomic_store(&pool->idle, 0);
        atomic_store(&pool->open, 0);
        atomic_store(&pool->tokens, 0);
        atomic_store(&pool->started, false);
        pool->workers = 0;
        for (int r = 0; r < AR_POOL_RUNS; r++)
            pool->runs[r] = (ar_run){ 0 };
    }
    pthread_mutex_unlock(&lock);
}

static void watch_forks(void)
{
    pthread_atfork(before_fork, after_fork_in_parent, after_fork_in_child);
}

/* ---- Pools ----------------------------------------------------------------------------------- */

static arras_status check_threads(int *threads, arras_error *err)
{
    if (*threads < 0 || *threads > AR_POOL_MAX_THREADS)
        return ar_fail(err, ARRAS_EINVAL,
                       "a pool of %d threads: give 1 to %d, or 0 for one for each CPU", *threads,
                       AR_POOL_MAX_THREADS);
    if (*threads == 0)
        *threads = ar_cpu_count();
    return ARRAS_OK;
}

/* With the lock held. */
static arras_status make_pool(ar_pool **out, int threads, bool shared, arras_error *err)
{
    void    *block;
    ar_pool *pool = ar_lines_alloc(&block, 1, sizeof *pool);

    if (!pool)
        return ar_fail_memory(err, sizeof *pool);
    pool->worker = ar_alloc((size_t)threads, sizeof *pool->worker);
    if (!pool->worker) {
        ar_free(block);
        return ar_fail_memory(err, (size_t)threads * sizeof *pool->worker);
    }
    pool->block = block;
    pool->threads = threads;
    pool->shared = shared;
    pool->references = 1;
    pool->next = all_pools;
    all_pools = pool;
    *out = pool;
    return ARRAS_OK;
}

arras_status ar_pool_new(ar_pool **out, int threads, arras_error *err)
{
    arras_status status = check_threads(&threads, err);

    if (status)
        return status;
    pthread_once(&fork_once, watch_forks);
    pthread_mutex_lock(&lock);
    status = make_pool(out, threads, false, err);
    pthread_mutex_unlock(&lock);
    return status;
}

static ar_pool *find_shared(int threads)
{
    ar_pool *pool = all_pools;

    while (pool && !(pool->shared && pool->threads == threads))
        pool = pool->next;
    return pool;
}

arras_status ar_pool_shared(ar_pool **out, int threads, arras_error *err)
{
    arras_status status = check_threads(&threads, err);
    ar_pool     *pool;

    if (status)
        return status;
    pthread_once(&fork_once, watch_forks);
    pthread_mutex_lock(&lock);
    pool = find_shared(threads);
    if (pool)
        pool->references++, *out = pool;
    else
        status = make_pool(out, threads, true, err);
    pthread_mutex_unlock(&lock);
    return status;
}

/* Whether that was the last reference; then the pool is no longer among all. */
static bool drop_reference(ar_pool *pool)
{
    bool last;

    pthread_mutex_lock(&lock);
    last = --pool->references == 0;
    for (ar_pool **link = &all_pools; last && *link; link = &(*link)->next)
        if (*link == pool) {
            *link = pool->next;
            break;
        }
    pthread_mutex_unlock(&lock);
    return last;
}

void ar_pool_free(ar_pool *pool)
{
    if (!pool || !drop_reference(pool))
        return;
    ar_workers_end(pool);
    ar_free(pool->worker);
    ar_free(pool->block);
}

int ar_pool_threads(const ar_pool *pool) { return pool->threads; }
