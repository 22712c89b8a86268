/* pool_thread.c -- the threads of a pool: starting, looking for work, sleeping, waking, ending.
 *
 * A worker is busy, or a spinner (polls for a bounded time), or a sleeper (on a futex).  The rule
 * that loses no work: who adds work wakes a sleeper only if there is no spinner; a spinner that
 * finds work looks again and does the same; a spinner that gives up declares itself a sleeper and
 * then looks once more. */
#include "pool/pool_state.h"

#include <limits.h>
#include <linux/futex.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

/* A launch soon after the last one should find the workers awake; where threads outnumber CPUs
 * polling takes time from those that work. */
enum { PATIENCE = 30000, PATIENCE_CROWDED = 2000 };

/* ---- Pieces of the system -------------------------------------------------------------------- */

/* Errors are of no interest: every wait is in a loop that looks at the word. */
void ar_futex_wait(_Atomic uint32_t *word, uint32_t while_it_is)
{
    syscall(SYS_futex, word, FUTEX_WAIT_PRIVATE, while_it_is, NULL, NULL, 0);
}

void ar_futex_wake(_Atomic uint32_t *word, int count)
{
    syscall(SYS_futex, word, FUTEX_WAKE_PRIVATE, count, NULL, NULL, 0);
}

static void pause_cpu(void)
{
#if defined(__x86_64__) || defined(__i386__)
    __builtin_ia32_pause();
#elif defined(__aarch64__) || defined(__arm__)
    __asm__ volatile("yield");
#endif
}

bool ar_poll(ar_poller *poller, int64_t patience)
{
    enum { POLLS_PER_CLOCK = 32 };

    pause_cpu();
    if (++poller->count % POLLS_PER_CLOCK)
        return true;
    if (!poller->deadline)
        poller->deadline = ar_clock() + patience;
    return ar_clock() < poller->deadline;
}

void *ar_lines_alloc(void **block, size_t count, size_t size)
{
    size_t bytes;

    if (__builtin_mul_overflow(count, size, &bytes) || bytes > SIZE_MAX - AR_LINE)
        return NULL;
    *block = ar_alloc(bytes + AR_LINE, 1);
    return *block ? (void *)(((uintptr_t)*block + AR_LINE - 1) & ~(uintptr_t)(AR_LINE - 1)) : NULL;
}

int ar_cpu_count(void)
{
    cpu_set_t cpus;
    long      online;

    if (sched_getaffinity(0, sizeof cpus, &cpus) == 0)
        return CPU_COUNT(&cpus);
    online = sysconf(_SC_NPROCESSORS_ONLN); /* more CPUs than a cpu_set_t holds */
    return online < 1 ? 1 : online > AR_POOL_MAX_THREADS ? AR_POOL_MAX_THREADS : (int)online;
}

/* ---- Idle workers ---------------------------------------------------------------------------- */

static uint32_t spinners(uint64_t idle) { return (uint32_t)idle; }
static uint32_t sleepers(uint64_t idle) { return (uint32_t)(idle >> 32); }

static ar_run *find_work(ar_pool *pool)
{
    for (uint32_t open = atomic_load(&pool->open); open; open &= open - 1) {
        ar_run *run = &pool->runs[__builtin_ctz(open)];

        if (ar_run_has_work(run))
            return run;
    }
    return NULL;
}

/* The waker turns sleepers into spinners before they know, so that no one else wakes more. */
static void wake_workers(ar_pool *pool, uint64_t idle, uint32_t wanted)
{
    uint32_t count;

    do {
        if (spinners(idle) || !sleepers(idle))
            return;
        count = wanted < sleepers(idle) ? wanted : sleepers(idle);
    } while (!atomic_compare_exchange_weak(&pool->idle, &idle,
                                           idle + count * AR_SPINNER - count * AR_SLEEPER));
    atomic_fetch_add_explicit(&pool->tokens, count, memory_order_release);
    ar_futex_wake(&pool->tokens, (int)count);
}

static bool is_quiet(ar_run *run)
{
    int64_t until = atomic_load_explicit(&run->quiet_until, memory_order_relaxed);

    return until && ar_clock() < until;
}

/* A wish, which the system may refuse. */
static void pin(const ar_worker *worker)
{
    cpu_set_t cpus;

    if (worker->cpu < 0)
        return;
    CPU_ZERO(&cpus);
    CPU_SET((size_t)worker->cpu, &cpus);
    pthread_setaffinity_np(worker->thread, sizeof cpus, &cpus);
}

/* The system may have put the caller, while it slept, on the CPU of a worker: they would take turns
 * there until it notices, which takes milliseconds.  That worker gets the CPU that is left. */
void ar_pool_make_way(ar_pool *pool)
{
    int cpu, vacant = atomic_load_explicit(&pool->vacant, memory_order_relaxed);

    if (vacant < 0 || !sleepers(atomic_load_explicit(&pool->idle, memory_order_relaxed)))
        return;
    cpu = sched_getcpu();
    if (cpu < 0 || cpu == vacant ||
        atomic_exchange_explicit(&pool->moving, true, memory_order_acquire))
        return;
    vacant = atomic_load_explicit(&pool->vacant, memory_order_relaxed);
    for (int k = 1; k <= pool->workers && cpu != vacant; k++) {
        if (pool->worker[k].cpu != cpu)
            continue;
        pool->worker[k].cpu = vacant;
        pin(&pool->worker[k]);
        atomic_store_explicit(&pool->vacant, cpu, memory_order_relaxed);
        break;
    }
    atomic_store_explicit(&pool->moving, false, memory_order_release);
}

void ar_pool_notify(ar_pool *pool, ar_run *run, int64_t pieces)
{
    uint32_t caller = atomic_load(&run->caller);
    uint64_t idle = atomic_load(&pool->idle);

    if (caller == AR_CALLER_POLLING || spinners(idle))
        return;
    if (caller == AR_CALLER_ASLEEP) {
        if (atomic_compare_exchange_strong(&run->caller, &caller, AR_CALLER_POLLING))
            ar_futex_wake(&run->caller, 1);
        return;
    }
    if (is_quiet(run))
        return;
    /* Two at a time: each of them will find work and wake others, so all wake in log2 steps. */
    wake_workers(pool, idle, pieces > 1 ? 2 : 1);
}

/* Those who added work while this spinner was one have told nobody. */
void ar_pool_leave_idle(ar_pool *pool)
{
    atomic_fetch_sub(&pool->idle, AR_SPINNER);
    for (uint32_t open = atomic_load(&pool->open); open; open &= open - 1) {
        ar_run *run = &pool->runs[__builtin_ctz(open)];

        if (ar_run_has_work(run))
            ar_pool_notify(pool, run, 2);
    }
}

void ar_pool_enter_idle(ar_pool *pool) { atomic_fetch_add(&pool->idle, AR_SPINNER); }

/* False: a waker came first, and there is a token to take. */
static bool stay_awake(ar_pool *pool)
{
    uint64_t idle = atomic_load(&pool->idle);

    do {
        if (!sleepers(idle))
            return false;
    } while (!atomic_compare_exchange_weak(&pool->idle, &idle, idle + AR_SPINNER - AR_SLEEPER));
    return true;
}

static void take_token(ar_pool *pool)
{
    uint32_t tokens = atomic_load_explicit(&pool->tokens, memory_order_relaxed);

    for (;;) {
        if (tokens == 0) {
            ar_futex_wait(&pool->tokens, 0);
            tokens = atomic_load_explicit(&pool->tokens, memory_order_relaxed);
        } else if (atomic_compare_exchange_weak_explicit(&pool->tokens, &tokens, tokens - 1,
                                                         memory_order_acquire,
                                                         memory_order_relaxed)) {
            return;
        }
    }
}

/* A spinner sleeps and is a spinner again. */
static void sleep_until_woken(ar_pool *pool)
{
    atomic_fetch_add(&pool->idle, AR_SLEEPER - AR_SPINNER);
    if ((find_work(pool) || atomic_load(&pool->quit)) && stay_awake(pool))
        return;
    take_token(pool);
}

/* NULL when patience has run out, or when the pool ends. */
static ar_run *poll_for_work(ar_pool *pool)
{
    ar_poller poller = { 0 };
    ar_run   *run;

    do {
        run = find_work(pool);
    } while (!run && !atomic_load_explicit(&pool->quit, memory_order_relaxed) &&
             ar_poll(&poller, pool->patience));
    return run;
}

/* ---- Workers --------------------------------------------------------------------------------- */

static void *worker_main(void *argument)
{
    const ar_worker *worker = argument;
    ar_pool         *pool = worker->pool;
    char             name[16];

    snprintf(name, sizeof name, "arras-%d", worker->number);
    pthread_setname_np(pthread_self(), name);
    while (!atomic_load(&pool->quit)) {
        ar_run *run = poll_for_work(pool);

        if (!run)
            sleep_until_woken(pool);
        else if (!ar_run_visit(pool, run, worker->number))
            sched_yield(); /* someone was faster, or is about to write what it reserved */
    }
    return NULL;
}

/* Worker k gets the k-th allowed CPU after the one this thread runs on. */
static void choose_cpus(ar_pool *pool)
{
    cpu_set_t cpus;
    int       cpu = sched_getcpu();
    bool      known = cpu >= 0 && sched_getaffinity(0, sizeof cpus, &cpus) == 0;

    atomic_store_explicit(&pool->vacant, known && CPU_COUNT(&cpus) >= pool->threads ? cpu : -1,
                          memory_order_relaxed);
    for (int k = 1; k < pool->threads; k++) {
        pool->worker[k].cpu = -1;
        if (!known || CPU_COUNT(&cpus) < pool->threads)
            continue;
        do {
            cpu = (cpu + 1) % CPU_SETSIZE;
        } while (!CPU_ISSET((size_t)cpu, &cpus));
        pool->worker[k].cpu = cpu;
    }
}

static bool start_worker(ar_pool *pool, int number)
{
    ar_worker *worker = &pool->worker[number];

    worker->pool = pool;
    worker->number = number;
    ar_pool_enter_idle(pool); /* before it runs: the first launch need not wake it */
    if (ar_thread_start(&worker->thread, worker_main, worker)) {
        pin(worker); /* not by itself: others may move it from now on */
        return true;
    }
    atomic_fetch_sub(&pool->idle, AR_SPINNER);
    return false;
}

/* Signals are for the threads of the program: workers take none. */
void ar_workers_start(ar_pool *pool)
{
    sigset_t every, before;

    pool->patience = pool->threads > ar_cpu_count() ? PATIENCE_CROWDED : PATIENCE;
    choose_cpus(pool);
    sigfillset(&every);
    pthread_sigmask(SIG_SETMASK, &every, &before);
    while (pool->workers < pool->threads - 1 && start_worker(pool, pool->workers + 1))
        pool->workers++;
    pthread_sigmask(SIG_SETMASK, &before, NULL);
}

void ar_workers_end(ar_pool *pool)
{
    atomic_store(&pool->quit, true);
    atomic_fetch_add_explicit(&pool->tokens, (uint32_t)pool->threads, memory_order_release);
    ar_futex_wake(&pool->tokens, INT_MAX);
    for (int k = 1; k <= pool->workers; k++)
        pthread_join(pool->worker[k].thread, NULL);
}
