/* pool.h -- threads that stay, and graphs of tasks that they run again and again.
 *
 *   Build     add tasks and edges, then instantiate: checks, counts and allocates, once.
 *   Run       as often as wanted: allocates nothing, touches only counters.  The calling thread
 *             works too; a graph without any parallelism is run by it alone and wakes nobody.
 *   Ordering  what a task wrote is seen by every task after it along edges, and by the caller when
 *             the run is over.  Tasks without a path between them run in any order, at once.
 *   Threads   different graphs may run on one pool at the same time, also from within a task.  A
 *             graph runs once at a time: a second run is refused.
 *
 * Sees base/ only. */
#ifndef AR_POOL_H
#define AR_POOL_H

#include "base/base.h"

/* ---- Pools ----------------------------------------------------------------------------------- */

typedef struct ar_pool ar_pool;

enum { AR_POOL_MAX_THREADS = 1024 };

/* A pool of `threads` threads, of which the caller of a run is one; 0: one for each CPU that the
 * process may use.  Workers start at the first run that needs them, each on a CPU of its own where
 * there are enough.  Where the system refuses threads, fewer do the work.  A forked child has no
 * workers at first and starts its own in the same way. */
arras_status ar_pool_new(ar_pool **out, int threads, arras_error *err);
/* The pool that all callers who ask for this number share: one reference more. */
arras_status ar_pool_shared(ar_pool **out, int threads, arras_error *err);
/* Gives one reference back; the last one ends the threads.  None of its graphs may be running. */
void ar_pool_free(ar_pool *pool); /* NULL is fine */
int  ar_pool_threads(const ar_pool *pool);
int  ar_cpu_count(void); /* CPUs the calling thread may use */

/* ---- Traces ---------------------------------------------------------------------------------- */

typedef struct {
    int     task, thread;
    int64_t first, last;   /* parts */
    int64_t start, end;    /* ns of CLOCK_MONOTONIC */
} ar_trace_record;

/* Memory for what happened, filled by runs of the graphs it is given to.  When it is full the
 * records that follow are counted only.  Read, clear and free it while none of them runs. */
typedef struct ar_trace ar_trace;

arras_status           ar_trace_new(ar_trace **out, int64_t capacity, arras_error *err);
int64_t                ar_trace_count(const ar_trace *trace);
int64_t                ar_trace_lost(const ar_trace *trace);
const ar_trace_record *ar_trace_at(const ar_trace *trace, int64_t i);
void                   ar_trace_clear(ar_trace *trace);
void                   ar_trace_free(ar_trace *trace); /* NULL is fine */

/* ---- Task graphs ----------------------------------------------------------------------------- */

typedef struct ar_taskgraph ar_taskgraph;

/* Does parts first <= part < last.  How parts are cut into calls depends on chance and on the
 * number of threads, so results must not.  thread: less than the pool's number of threads, and no
 * other call of this run has it at the same time; for scratch memory.  What is returned other than
 * ARRAS_OK ends the run, with *err as its message. */
typedef arras_status ar_task_function(void *context, int64_t first, int64_t last, int thread,
                                      arras_error *err);

typedef struct {
    ar_task_function *function;
    void             *context; /* borrowed; what is there may change between runs */
    int64_t           parts;   /* 0: nothing to do, an edge in the shape of a task */
    const char       *name;    /* borrowed, for messages and pictures; may be NULL */
} ar_task;

arras_status ar_taskgraph_new(ar_taskgraph **out, arras_error *err);
/* *out: the number of the task, from 0.  Where edges leave a choice, tasks added first start
 * first. */
arras_status ar_taskgraph_add(int *out, ar_taskgraph *graph, ar_task task, arras_error *err);
/* Task `after` starts when all parts of `before` are done. */
arras_status ar_taskgraph_order(ar_taskgraph *graph, int before, int after, arras_error *err);
/* Ends the building; a circle of tasks that wait for each other is an error. */
arras_status ar_taskgraph_instantiate(ar_taskgraph *graph, arras_error *err);
/* A run that was started is cancelled and waited for. */
void ar_taskgraph_free(ar_taskgraph *graph); /* NULL is fine */

/* Between runs: another number of parts; a trace to fill (NULL: none). */
arras_status ar_taskgraph_resize(ar_taskgraph *graph, int task, int64_t parts, arras_error *err);
void         ar_taskgraph_trace(ar_taskgraph *graph, ar_trace *trace);

/* ARRAS_OK when every part of every task was done.  Otherwise the failure of the first task that
 * failed, or the cancellation; tasks that had not started then were left out.  The graph may be
 * run again in any case. */
arras_status ar_taskgraph_run(ar_taskgraph *graph, ar_pool *pool, arras_error *err);
/* The same in two steps, each start with one wait.  Wait works too.  Without workers, or with too
 * many graphs running at once, all is done in wait. */
arras_status ar_taskgraph_start(ar_taskgraph *graph, ar_pool *pool, arras_error *err);
arras_status ar_taskgraph_wait(ar_taskgraph *graph, arras_error *err);
/* From any thread: the run in progress, if any, starts no more parts and returns `why`. */
void ar_taskgraph_cancel(ar_taskgraph *graph, arras_status why);
/* From any thread, of a run that was started and not yet waited for to the end: the parts that were
 * begun, of tasks of several parts, against all; below 0 when there are none, or nothing counts. */
double ar_taskgraph_progress(const ar_taskgraph *graph);

/* For pictures. */
int            ar_taskgraph_count(const ar_taskgraph *graph);
const ar_task *ar_taskgraph_task(const ar_taskgraph *graph, int task);
int            ar_taskgraph_edges(const ar_taskgraph *graph);
void           ar_taskgraph_edge(int *before, int *after, const ar_taskgraph *graph, int edge);
/* The longest path from a task without predecessors; known once instantiated. */
int ar_taskgraph_level(const ar_taskgraph *graph, int task);

/* The graph for Graphviz: a box for each task, a row for each level once it is instantiated, the
 * same colour for tasks of the same class.  classes: of each task, below 0 for none; NULL: all have
 * none.  After AR_DOT_TASKS tasks the picture is cut and says so. */
enum { AR_DOT_TASKS = 2000 };
void ar_taskgraph_dot(ar_text *out, const ar_taskgraph *graph, const int *classes);
/* A trace of this graph as JSON for Perfetto or chrome://tracing.  categories: of each task, NULL
 * for none; may be NULL. */
void ar_trace_print(ar_text *out, const ar_taskgraph *graph, const ar_trace *trace,
                    const char *const *categories);

#endif
