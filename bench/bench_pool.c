/* bench_pool.c -- what the task pool costs: microseconds a run and a task for graphs of tasks that
 * do next to nothing, and how well 1, 2 and 7 threads share tasks that do something.  Arguments:
 * none.  Pools are interleaved in every measurement, so that a busy machine is unfair to none. */
#include "pool/pool_state.h"

#include <stdio.h>
#include <stdlib.h>
#include <time.h>

enum { POOLS = 3, REPEATS = 101, PAUSE = 300000 };

static const int threads_of[POOLS] = { 1, 2, 7 };

static arras_status tiny(void *context, int64_t first, int64_t last, int thread, arras_error *err)
{
    (void)thread, (void)err;
    *(volatile char *)context = (char)(last - first);
    return ARRAS_OK;
}

/* About 20 us. */
static arras_status busy(void *context, int64_t first, int64_t last, int thread, arras_error *err)
{
    volatile double x = 1;

    (void)context, (void)thread, (void)err;
    for (int64_t i = 5000 * first; i < 5000 * last; i++)
        x = x * 1.0000001;
    return ARRAS_OK;
}

typedef enum { WIDE, CHAIN, FAN, GRID } pattern;

static void order(ar_taskgraph *graph, pattern shape, int task)
{
    if (shape == CHAIN && task > 0)
        ar_taskgraph_order(graph, task - 1, task, NULL);
    if (shape == FAN && task > 0)
        ar_taskgraph_order(graph, 0, task, NULL);
    for (int p = task - 11; shape == GRID && p <= task - 9; p++)
        if (p >= 0 && p / 10 == task / 10 - 1)
            ar_taskgraph_order(graph, p, task, NULL);
}

static const struct {
    const char       *name;
    pattern           shape;
    int               count;
    int64_t           parts;
    ar_task_function *function;
    bool              pause; /* between runs, until workers sleep */
} rows[] = {
    { "1 task", WIDE, 1, 1, tiny, false },
    { "50 tasks, wide", WIDE, 50, 1, tiny, false },
    { "50 tasks, wide, after a pause", WIDE, 50, 1, tiny, true },
    { "50 tasks, chain", CHAIN, 50, 1, tiny, false },
    { "50 tasks, rows of 10", GRID, 50, 1, tiny, false },
    { "1000 tasks, chain", CHAIN, 1000, 1, tiny, false },
    { "1000 tasks, wide", WIDE, 1000, 1, tiny, false },
    { "1000 tasks, fan", FAN, 1000, 1, tiny, false },
    { "1000 tasks, rows of 10", GRID, 1000, 1, tiny, false },
    { "1 task of 1000 parts", WIDE, 1, 1000, tiny, false },
    { "200 tasks of 20 us, wide", WIDE, 200, 1, busy, false },
    { "1 task of 200 parts of 20 us", WIDE, 1, 200, busy, false },
};

static char cells[1000][64];

static ar_taskgraph *make(size_t row)
{
    ar_taskgraph *graph = NULL;
    int           id;

    if (ar_taskgraph_new(&graph, NULL))
        exit(1);
    for (int i = 0; i < rows[row].count; i++) {
        ar_task task = { rows[row].function, cells[i], rows[row].parts, NULL };

        if (ar_taskgraph_add(&id, graph, task, NULL))
            exit(1);
        order(graph, rows[row].shape, i);
    }
    if (ar_taskgraph_instantiate(graph, NULL))
        exit(1);
    return graph;
}

static int by_size(const void *x, const void *y)
{
    double a = *(const double *)x, b = *(const double *)y;

    return (a > b) - (a < b);
}

static double time_run(ar_taskgraph *graph, ar_pool *pool, bool pause)
{
    struct timespec nap = { 0, PAUSE };
    int64_t         start;

    /* The first run after another pool's finds the workers asleep. */
    for (int i = 0; i < 2 && !pause; i++)
        ar_taskgraph_run(graph, pool, NULL);
    if (pause)
        nanosleep(&nap, NULL);
    start = ar_clock();
    ar_taskgraph_run(graph, pool, NULL);
    return (double)(ar_clock() - start) / 1000;
}

static void measure(size_t row, ar_pool **pools)
{
    static double times[POOLS][REPEATS];
    ar_taskgraph *graphs[POOLS];

    for (int p = 0; p < POOLS; p++)
        graphs[p] = make(row);
    for (int i = 0; i < REPEATS; i++)
        for (int p = 0; p < POOLS; p++)
            times[p][i] = time_run(graphs[p], pools[p], rows[row].pause);
    printf("%-30s", rows[row].name);
    for (int p = 0; p < POOLS; p++) {
        qsort(times[p], REPEATS, sizeof times[p][0], by_size);
        printf("  %9.2f %7.3f", times[p][REPEATS / 2], times[p][REPEATS / 2] / rows[row].count);
        ar_taskgraph_free(graphs[p]);
    }
    printf("\n");
}

int main(void)
{
    ar_pool *pools[POOLS];

    printf("%-30s", "median us: a run, a task");
    for (int p = 0; p < POOLS; p++) {
        if (ar_pool_new(&pools[p], threads_of[p], NULL))
            return 1;
        printf("  %9d threads", threads_of[p]);
    }
    printf("\n");
    for (size_t row = 0; row < AR_COUNT(rows); row++)
        measure(row, pools);
    for (int p = 0; p < POOLS; p++)
        ar_pool_free(pools[p]);
    return 0;
}
