/* pool_work.c -- what a thread does while it works on a run: taking ready tasks, doing them,
 * passing readiness on. */
#include "pool/pool_state.h"

/* ---- Stopping -------------------------------------------------------------------------------- */

/* relaxed: only the word itself counts. */
bool ar_taskgraph_stop(ar_taskgraph *graph, arras_status why)
{
    uint64_t now = atomic_load_explicit(&graph->state, memory_order_relaxed);

    while ((now & AR_DOING) != AR_IDLE && !(now & AR_STOP))
        if (atomic_compare_exchange_weak_explicit(&graph->state, &now, now | (uint64_t)why,
                                                  memory_order_relaxed, memory_order_relaxed))
            return true;
    return false;
}

/* ---- Doing ----------------------------------------------------------------------------------- */

/* Functions of users return what they like; others know the codes of the list only. */
static arras_status known(arras_status status)
{
    return (unsigned)status > ARRAS_ENOMEM ? ARRAS_EINVAL : status;
}

static void keep_failure(ar_worker_context *hand, const ar_piece *piece, arras_status status)
{
    ar_taskgraph *graph = hand->graph;
    const char   *name = graph->tasks[piece->task].name;

    if (!ar_taskgraph_stop(graph, status))
        return;
    /* The caller reads this after the count of unfinished tasks reached 0. */
    if (hand->error.text[0])
        graph->failure = hand->error;
    else
        ar_fail(&graph->failure, status,
                "task %d%s%s failed on parts %" PRId64 " to %" PRId64 " and gave no reason",
                piece->task, name ? " " : "", name ? name : "", piece->first, piece->last - 1);
    graph->failure.code = status;
    atomic_store_explicit(&graph->failed, true, memory_order_relaxed);
}

static void note(ar_trace *trace, const ar_piece *piece, int thread, int64_t start)
{
    int64_t i = atomic_fetch_add_explicit(&trace->count, 1, memory_order_relaxed);

    if (i < trace->capacity)
        trace->records[i] = (ar_trace_record){ .task = piece->task,
                                               .thread = thread,
                                               .first = piece->first,
                                               .last = piece->last,
                                               .start = start,
                                               .end = ar_clock() };
}

static bool is_stopped(ar_taskgraph *graph)
{
    if (!(atomic_load_explicit(&graph->state, memory_order_relaxed) & AR_STOP))
        return false;
    atomic_store_explicit(&graph->left_out, true, memory_order_relaxed);
    return true;
}

/* The first part tells how long the others take: where that is long they are done one by one, so
 * that a cancellation is seen in between. */
static arras_status do_parts(ar_worker_context *hand, const ar_node *node, const ar_piece *piece)
{
    enum { LONG_NS = 10 * 1000 * 1000 };
    int64_t      at = piece->first + 1, start = ar_clock(), left = piece->last - at;
    arras_status status =
        node->function(node->context, piece->first, at, hand->thread, &hand->error);

    if (status || is_stopped(hand->graph))
        return status;
    if (ar_clock() - start < LONG_NS / left)
        return node->function(node->context, at, piece->last, hand->thread, &hand->error);
    for (; at < piece->last && !status && !is_stopped(hand->graph); at++)
        status = node->function(node->context, at, at + 1, hand->thread, &hand->error);
    return status;
}

/* After a stop everything goes on as usual, only that nothing is done: counters and queue end up
 * as after any other run. */
void ar_worker_context_do(ar_worker_context *hand, const ar_node *node, const ar_piece *piece)
{
    ar_taskgraph *graph = hand->graph;
    int64_t       start;
    arras_status  status;

    if (piece->first == piece->last || is_stopped(graph))
        return;
    start = graph->trace ? ar_clock() : 0;
    if (piece->last - piece->first > 1)
        status = do_parts(hand, node, piece);
    else
        status =
            node->function(node->context, piece->first, piece->last, hand->thread, &hand->error);
    if (graph->trace)
        note(graph->trace, piece, hand->thread, start);
    if (status)
        keep_failure(hand, piece, known(status));
}

/* ---- The queue ------------------------------------------------------------------------------- */

void ar_loop_prepare(ar_taskgraph *graph, int task)
{
    ar_loop *loop = &graph->loops[task];
    int64_t  parts = graph->nodes[task].parts;

    /* relaxed: published with the task's place in the queue, or with the run */
    atomic_store_explicit(&loop->next, 0, memory_order_relaxed);
    atomic_store_explicit(&loop->left, parts, memory_order_relaxed);
    loop->chunk = ar_max64(1, parts / (AR_CHUNKS_PER_THREAD * (int64_t)graph->threads));
}

static void push(ar_worker_context *hand, const int *tasks, int count)
{
    ar_taskgraph *graph = hand->graph;
    ar_run       *run = hand->run;
    uint64_t      stamp = (uint64_t)graph->generation << 32;
    int64_t       place, pieces = count;

    for (int i = 0; i < count; i++)
        if (graph->nodes[tasks[i]].parts > 1) {
            ar_loop_prepare(graph, tasks[i]);
            pieces++;
        }
    place = atomic_fetch_add(&run->tail, count); /* seq_cst: see ar_run_has_work() */
    /* release: who takes the task sees all that was done before it became ready */
    for (int i = 0; i < count; i++)
        atomic_store_explicit(&graph->queue[place + i], stamp | (uint32_t)tasks[i],
                              memory_order_release);
    ar_pool_notify(graph->pool, run, pieces);
}

/* relaxed: what a place holds is ordered by the place itself.  Should it fail, someone else has
 * moved the head. */
static bool pass_head(ar_run *run, int64_t place)
{
    int_fast64_t expected = place;

    return atomic_compare_exchange_strong_explicit(&run->head, &expected, place + 1,
                                                   memory_order_relaxed, memory_order_relaxed);
}

static bool take_parts(ar_piece *piece, ar_worker_context *hand, int64_t place)
{
    ar_loop *loop = &hand->graph->loops[piece->task];
    int64_t  parts = hand->graph->nodes[piece->task].parts;

    piece->first = atomic_fetch_add_explicit(&loop->next, loop->chunk, memory_order_relaxed);
    piece->last = ar_min64(piece->first + loop->chunk, parts);
    if (piece->last >= parts)
        pass_head(hand->run, place);
    return piece->first < parts;
}

static bool take_at(ar_piece *piece, ar_worker_context *hand, int64_t place)
{
    int64_t parts = hand->graph->nodes[piece->task].parts;

    if (parts > 1)
        return take_parts(piece, hand, place);
    piece->first = 0;
    piece->last = parts;
    return pass_head(hand->run, place);
}

/* False when nothing is ready, or when the next place is reserved but not yet written. */
bool ar_worker_context_take(ar_piece *piece, ar_worker_context *hand)
{
    ar_taskgraph *graph = hand->graph;
    ar_run       *run = hand->run;

    for (;;) {
        int64_t  place = atomic_load_explicit(&run->head, memory_order_relaxed);
        uint64_t word;

        if (place >= atomic_load_explicit(&run->tail, memory_order_relaxed))
            return false;
        word = atomic_load_explicit(&graph->queue[place], memory_order_acquire);
        if (place >= graph->nsources && word >> 32 != graph->generation)
            return false;
        piece->task = (int)(uint32_t)word;
        if (take_at(piece, hand, place))
            return true;
    }
}

/* ---- Readiness ------------------------------------------------------------------------------- */

static bool is_ready(ar_node *node)
{
    if (node->npredecessors == 1)
        return true;
    /* acq_rel: the last one sees what all the others did */
    if (atomic_fetch_sub_explicit(&node->pending, 1, memory_order_acq_rel) != 1)
        return false;
    /* relaxed: nobody looks at it before the next run */
    atomic_store_explicit(&node->pending, node->npredecessors, memory_order_relaxed);
    return true;
}

/* Pushes the successors that became ready, but for one to go on with: *next, if there is one. */
static bool finish(ar_worker_context *hand, const ar_node *node, ar_piece *next)
{
    enum { BATCH = 32 };
    ar_taskgraph *graph = hand->graph;
    int           ready[BATCH], count = 0;
    bool          kept = false;

    hand->finished++;
    for (int i = 0; i < node->nsuccessors; i++) {
        int      task = node->successors[i];
        ar_node *successor = &graph->nodes[task];

        if (!is_ready(successor))
            continue;
        if (!kept && successor->parts <= 1) {
            *next = (ar_piece){ .task = task, .first = 0, .last = successor->parts };
            kept = true;
            continue;
        }
        if (count == BATCH) {
            push(hand, ready, count);
            count = 0;
        }
        ready[count++] = task;
    }
    if (count)
        push(hand, ready, count);
    return kept;
}

/* A run that was expected to be brief is not: now help is welcome. */
static void end_quiet(ar_worker_context *hand)
{
    ar_run *run = hand->run;
    int64_t until = atomic_load_explicit(&run->quiet_until, memory_order_relaxed);

    if (!until || ar_clock() < until)
        return;
    atomic_store_explicit(&run->quiet_until, 0, memory_order_relaxed);
    if (ar_run_has_work(run))
        ar_pool_notify(hand->graph->pool, run, 2);
}

/* Does a piece and whatever can be gone on with after it. */
static void follow(ar_worker_context *hand, ar_piece piece)
{
    ar_taskgraph *graph = hand->graph;
    ar_node      *node;

    do {
        int64_t count = piece.last - piece.first;

        node = &graph->nodes[piece.task];
        ar_worker_context_do(hand, node, &piece);
        end_quiet(hand);
        /* acq_rel: who finishes the last part passes on what was done in all of them */
        if (node->parts > 1 && atomic_fetch_sub_explicit(&graph->loops[piece.task].left, count,
                                                         memory_order_acq_rel) != count)
            return;
    } while (finish(hand, node, &piece));
}

/* ---- Working on a run ------------------------------------------------------------------------ */

ar_worker_context ar_worker_context_make(ar_taskgraph *graph, int thread)
{
    ar_worker_context hand;

    hand.graph = graph;
    hand.run = graph->run;
    hand.thread = thread;
    hand.finished = 0;
    hand.error.code = ARRAS_OK;
    hand.error.text[0] = '\0';
    return hand;
}

static void report_finished(ar_worker_context *hand)
{
    ar_run  *run = hand->run;
    int64_t  count = hand->finished;
    uint32_t caller = AR_CALLER_ASLEEP;

    hand->finished = 0;
    if (count == 0 || atomic_fetch_sub(&run->unfinished, count) != count)
        return;
    /* seq_cst: the caller says that it sleeps, then looks whether all is finished */
    if (atomic_compare_exchange_strong(&run->caller, &caller, AR_CALLER_POLLING))
        ar_futex_wake(&run->caller, 1);
}

void ar_worker_context_work_off(ar_worker_context *hand, ar_piece piece)
{
    do {
        follow(hand, piece);
    } while (ar_worker_context_take(&piece, hand));
    report_finished(hand);
}

bool ar_run_visit(ar_pool *pool, ar_run *run, int thread)
{
    ar_taskgraph *graph;
    ar_piece      piece;
    bool          found = false;

    atomic_fetch_add(&run->visitors, 1); /* seq_cst: see ar_pool_close() */
    graph = atomic_load(&run->graph);
    if (graph) {
        ar_worker_context hand = ar_worker_context_make(graph, thread);

        found = ar_worker_context_take(&piece, &hand);
        if (found) {
            ar_pool_leave_idle(pool);
            ar_worker_context_work_off(&hand, piece);
            ar_pool_enter_idle(pool);
        }
    }
    atomic_fetch_sub_explicit(&run->visitors, 1, memory_order_release);
    return found;
}
