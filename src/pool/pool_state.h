/* pool_state.h -- what pool.c (pools), pool_thread.c (their threads), pool_graph.c (building),
 * pool_run.c (runs) and pool_work.c (the work in them) share.
 *
 * A run is a queue of ready tasks.  Every task becomes ready once, so the queue is an array with a
 * place for each: `tail` is raised to reserve places, `head` to take from them, and neither ever
 * turns back during a run.  A task of several parts stays at the head until its last part is taken.
 *
 * Workers see runs through the places of the pool, which live as long as the pool.  A worker is
 * counted as a visitor while it touches the graph of a run; the end of the run waits for visitors,
 * so counters and queue are never touched by anyone left over from an earlier run. */
#ifndef AR_POOL_STATE_H
#define AR_POOL_STATE_H

#include "pool/pool.h"

#include <pthread.h>
#include <stdatomic.h>

/* Words that different threads write at the same time live on lines of their own. */
#define AR_LINE 64
#define AR_OWN_LINE _Alignas(AR_LINE)

/* Zeroed memory that starts on a line; *block is what to free. */
void *ar_lines_alloc(void **block, size_t count, size_t size);

/* What the thread that waits for a run is doing. */
enum { AR_CALLER_BUSY, AR_CALLER_POLLING, AR_CALLER_ASLEEP };

typedef struct ar_run {
    AR_OWN_LINE atomic_bool claimed;
    _Atomic(ar_taskgraph *) graph;   /* NULL: closed */
    atomic_int_fast64_t quiet_until; /* wakes no workers before; 0: no such wish */
    AR_OWN_LINE atomic_int_fast64_t head;
    AR_OWN_LINE atomic_int_fast64_t tail;
    AR_OWN_LINE atomic_int visitors;
    AR_OWN_LINE atomic_int_fast64_t unfinished; /* tasks */
    AR_OWN_LINE _Atomic uint32_t caller;        /* a futex */
} ar_run;

/* Workers that look for work, and those that sleep, in one word so that one load sees both. */
#define AR_SPINNER UINT64_C(1)
#define AR_SLEEPER (UINT64_C(1) << 32)

enum { AR_POOL_RUNS = 32 };

typedef struct {
    ar_pool  *pool;
    pthread_t thread;
    int       number; /* 0 is the caller */
    int       cpu;    /* -1: any; changes while `moving` is held */
} ar_worker;

struct ar_pool {
    AR_OWN_LINE _Atomic uint64_t idle;
    AR_OWN_LINE _Atomic uint32_t open;   /* bit r: run r may have work */
    AR_OWN_LINE _Atomic uint32_t tokens; /* a futex: sleepers that were told to wake */
    AR_OWN_LINE atomic_bool quit;
    atomic_bool    started;
    int            threads, workers; /* workers: those that did start */
    int64_t        patience;         /* ns of polling before sleep */
    atomic_bool    moving;           /* somebody changes who has which CPU */
    atomic_int     vacant;           /* a CPU that no worker has; -1: they have no CPUs */
    int            references;
    bool           shared;
    struct ar_pool *next; /* of all pools */
    void           *block;
    ar_worker      *worker; /* [threads]; the first is not used */
    ar_run          runs[AR_POOL_RUNS];
};

/* Immutable but for `pending`; one line each. */
typedef struct {
    AR_OWN_LINE ar_task_function *function;
    void          *context;
    int64_t        parts;
    const int     *successors;
    int            nsuccessors;
    int            npredecessors;
    atomic_int     pending; /* predecessors not finished; is reset by the one that counts to 0 */
    int            level;
} ar_node;

/* The parts of a task of several, set up when it becomes ready. */
typedef struct {
    AR_OWN_LINE atomic_int_fast64_t next; /* first part not taken; overshoots */
    atomic_int_fast64_t left;             /* parts not finished */
    int64_t             chunk;
} ar_loop;

typedef struct {
    int before, after;
} ar_edge;

/* The state of a graph in one word, so that a cancellation meets the run it was meant for: the
 * status that ends the run early, what the graph is doing, and the number of the run. */
enum { AR_STOP = 0xff, AR_IDLE = 0, AR_RUNNING = 0x100, AR_STARTED = 0x200, AR_DOING = 0x300 };
#define AR_NEXT_RUN UINT64_C(0x400)

struct ar_taskgraph {
    /* As built. */
    ar_task *tasks;
    ar_edge *edges;
    size_t   ntasks, tasks_capacity, nedges, edges_capacity;

    /* As instantiated. */
    bool              ready;
    bool              resized;  /* what follows from numbers of parts is out of date */
    bool              parallel; /* two threads could be busy at some time */
    bool              brief;    /* is expected to end before a sleeper would be awake */
    int               nsources;
    int               nsource_loops; /* sources of several parts */
    ar_node          *nodes;
    ar_loop          *loops;
    _Atomic uint64_t *queue; /* the task, and above it the run it was written in */
    int              *order; /* every task after its predecessors; sources first */
    int              *source_loops, *successors;
    int64_t          *level_width;
    void             *nodes_block, *loops_block;

    /* Of the run in progress. */
    _Atomic uint64_t state; /* see AR_STOP */
    atomic_bool left_out, failed;
    uint32_t    generation;
    int64_t     began; /* ns */
    int         threads;
    ar_pool    *pool;
    ar_run     *run; /* NULL: the caller does all of it */
    ar_trace   *trace;
    arras_error failure; /* of the task that set `stop` */
};

struct ar_trace {
    ar_trace_record    *records;
    int64_t             capacity;
    atomic_int_fast64_t count;
};

static inline bool ar_run_has_work(ar_run *run)
{
    /* seq_cst: who announces that he is about to sleep looks here after it; who adds work raises
     * the tail first and looks for sleepers after that.  One of the two sees the other. */
    return atomic_load(&run->head) < atomic_load(&run->tail);
}

/* What follows from the numbers of parts, if they changed. */
void ar_taskgraph_measure(ar_taskgraph *graph);

/* Work was added to a run, or was left by someone who found it: if nobody is looking for work,
 * someone who sleeps is woken.  Whoever finds work calls this again: no one else need be told. */
void ar_pool_notify(ar_pool *pool, ar_run *run, int64_t pieces);
/* Before the calling thread takes part in a run: no sleeping worker is to wake on its CPU. */
void ar_pool_make_way(ar_pool *pool);
/* The run in progress starts no more parts.  False: there is none, or something else stopped it. */
bool ar_taskgraph_stop(ar_taskgraph *graph, arras_status why);

void ar_workers_start(ar_pool *pool);
void ar_workers_end(ar_pool *pool);

/* NULL when the pool has no workers or no free place.  The run is closed. */
ar_run *ar_pool_claim(ar_pool *pool);
void    ar_pool_open(ar_pool *pool, ar_run *run, ar_taskgraph *graph);
void    ar_pool_close(ar_pool *pool, ar_run *run); /* waits for visitors */

/* Some parts of one task. */
typedef struct {
    int     task;
    int64_t first, last;
} ar_piece;

/* What one thread needs while it works on a run. */
typedef struct {
    ar_taskgraph *graph;
    ar_run       *run;
    int           thread;
    int64_t       finished; /* tasks, not yet taken off run->unfinished */
    arras_error   error;    /* where a task writes its message */
} ar_worker_context;

/* Few enough to cost nothing, enough for threads to end together and to see a cancellation. */
enum { AR_CHUNKS_PER_THREAD = 32 };

ar_worker_context ar_worker_context_make(ar_taskgraph *graph, int thread);
/* False when nothing is ready, or when the next place is reserved but not yet written. */
bool ar_worker_context_take(ar_piece *piece, ar_worker_context *hand);
void ar_worker_context_do(ar_worker_context *hand, const ar_node *node, const ar_piece *piece);
/* Goes on with what is ready until there is nothing to take. */
void ar_worker_context_work_off(ar_worker_context *hand, ar_piece piece);
void ar_loop_prepare(ar_taskgraph *graph, int task);

/* A worker saw work in a run and does what it can get.  False: there was nothing left to take. */
bool ar_run_visit(ar_pool *pool, ar_run *run, int thread);
void ar_pool_leave_idle(ar_pool *pool); /* a spinner has found work */
void ar_pool_enter_idle(ar_pool *pool);

void ar_futex_wait(_Atomic uint32_t *word, uint32_t while_it_is);
void ar_futex_wake(_Atomic uint32_t *word, int count);

/* Bounded polling.  Zero-initialise one, then: while (!there && ar_poll(&poll, patience)) ; */
typedef struct {
    int64_t deadline;
    int     count;
} ar_poller;
bool ar_poll(ar_poller *poller, int64_t patience);

#endif
