/* test_device_graph.c -- task graphs on the CPU device: results, order, memory. */
#include "device_kit.h"

#include <pthread.h>
#include <stdatomic.h>

enum { CELL = sizeof(int64_t) };

/* ---- Feedback: y = (x + 1) * 2 ----------------------------------------------------------------
 */

static const int64_t from_20[] = { 42, 86, 174, 350 };
static const int64_t from_100[] = { 202, 406, 814 };

/* Its memory is a temporary of the graph; returns the last of its two kernels. */
static int formula(arras_taskgraph *graph, arras_place y, arras_place x, int64_t items)
{
    int t = memalloc(graph, -1, items * CELL);
    int plus = apply(graph, t, add, in_node(t), x, 1, items);
    int times = apply(graph, plus, scale, y, in_node(t), 2, items);

    CHECK(memfree(graph, times, t) >= 0);
    return times;
}

static void follow(arras_exec *exec, const int64_t *y, int n, const int64_t *wanted)
{
    for (int i = 0; i < n; i++) {
        CHECK(launches(exec));
        CHECK_EQ_INT(*y, wanted[i]);
    }
}

static void feedback_by_a_copy(void)
{
    arras_taskgraph *graph = graph_new();
    arras_block     *x = block_of(CELL), *y = block_of(CELL);
    int64_t          seen = 0, start = 20;
    int              last = formula(graph, in_block(y), in_block(x), 1);
    arras_exec      *exec;

    CHECK(copy_out(graph, last, &seen, in_block(y), CELL) >= 0);
    CHECK(copy(graph, last, in_block(x), in_block(y), CELL) >= 0);
    exec = instantiated(graph);
    CHECK(arras_block_write(x, 0, &start, CELL, NULL) == ARRAS_OK);
    follow(exec, &seen, 4, from_20);
    start = 100;
    CHECK(arras_block_write(x, 0, &start, CELL, NULL) == ARRAS_OK);
    follow(exec, &seen, 3, from_100);
    CHECK_EQ_INT(summary_of(exec).launches, 7);
    CHECK_EQ_INT(summary_of(exec).updates, 0);
    CHECK(arras_block_read(&seen, x, 0, CELL, NULL) == ARRAS_OK);
    CHECK_EQ_INT(seen, 814);
    arras_exec_free(exec);
    arras_taskgraph_free(graph);
    arras_block_free(x);
    arras_block_free(y);
}

/* The blocks change places: what was written is read in the next launch. */
static void feedback_by_updates(void)
{
    arras_taskgraph *graph = graph_new();
    arras_block     *blocks[2] = { block_of(CELL), block_of(CELL) };
    int64_t          seen = 0, start = 20;
    int              times = formula(graph, in_block(blocks[1]), in_block(blocks[0]), 1);
    arras_exec      *exec = instantiated(graph);

    CHECK(arras_block_write(blocks[0], 0, &start, CELL, NULL) == ARRAS_OK);
    for (int i = 0; i < 7; i++) {
        arras_block *x = blocks[i % 2], *y = blocks[(i + 1) % 2];
        arras_update swap[] = { { times - 1, 0, arras_arg_read(in_block(x)) },
                                { times, 1, arras_arg_write(in_block(y)) } };

        start = 100;
        CHECK(i != 4 || arras_block_write(x, 0, &start, CELL, NULL) == ARRAS_OK);
        CHECK(ok(arras_exec_update(exec, 2, swap, &error), &error));
        CHECK_EQ_INT(summary_of(exec).updates, 2 * i);
        CHECK(launches(exec));
        CHECK(arras_block_read(&seen, y, 0, CELL, NULL) == ARRAS_OK);
        CHECK_EQ_INT(seen, i < 4 ? from_20[i] : from_100[i - 4]);
    }
    arras_exec_free(exec);
    arras_taskgraph_free(graph);
    arras_block_free(blocks[0]);
    arras_block_free(blocks[1]);
}

/* Through memory of the host, and with other numbers in the formula. */
static void host_memory_and_values_change(void)
{
    arras_taskgraph *graph = graph_new();
    int64_t          numbers[] = { 20, 0, 0 }, three = 3;
    int              x = memalloc(graph, -1, 2 * CELL);
    int              in = copy_in(graph, x, arras_place_in_node(x, CELL), &numbers[0], CELL);
    int              plus = apply(graph, in, add, in_node(x), arras_place_in_node(x, CELL), 1, 1);
    int              out = copy_out(graph, plus, &numbers[1], in_node(x), CELL);
    arras_exec      *exec = instantiated(graph);
    arras_update     updates[] = {
            { in, ARRAS_COPY_FROM, arras_arg_host(&numbers[1]) },
            { out, ARRAS_COPY_TO, arras_arg_host(&numbers[2]) },
            { plus, 2, arras_arg_value(&three, CELL) },
    };

    CHECK(launches(exec));
    CHECK_EQ_INT(numbers[1], 21);
    CHECK(ok(arras_exec_update(exec, 3, updates, &error), &error));
    CHECK_EQ_INT(summary_of(exec).updates, 3);
    three = 1000; /* it was copied */
    CHECK(launches(exec));
    CHECK_EQ_INT(numbers[1], 21);
    CHECK_EQ_INT(numbers[2], 24);
    arras_exec_free(exec);
    arras_taskgraph_free(graph);
}

/* ---- Memory ---------------------------------------------------------------------------------- */

static void freed_memory_is_used_again(void)
{
    enum { LINKS = 20, ITEMS = 1000 };
    arras_taskgraph *graph = graph_new();
    int64_t          x[ITEMS], y[ITEMS];
    int              memory = memalloc(graph, -1, sizeof x);
    int              last = copy_in(graph, memory, in_node(memory), x, sizeof x);
    arras_exec      *exec;

    for (int i = 0; i < ITEMS; i++)
        x[i] = i;
    for (int i = 0; i < LINKS; i++) {
        int next = memalloc(graph, last, sizeof x);

        last = apply(graph, next, add, in_node(next), in_node(memory), i, ITEMS);
        last = memfree(graph, last, memory);
        memory = next;
    }
    last = copy_out(graph, last, y, in_node(memory), sizeof y);
    CHECK(memfree(graph, last, memory) >= 0);
    exec = instantiated(graph);
    CHECK_EQ_INT(summary_of(exec).requested, (LINKS + 1) * (int64_t)sizeof x);
    CHECK_EQ_INT(summary_of(exec).planned, 2 * (((int64_t)sizeof x + 63) / 64 * 64));
    CHECK(launches(exec));
    for (int i = 0; i < ITEMS; i++)
        CHECK_EQ_INT(y[i], i + LINKS * (LINKS - 1) / 2);
    arras_exec_free(exec);
    arras_taskgraph_free(graph);
}

/* Without a path from a memfree to a memalloc node both may be alive, whatever the numbers say. */
static void concurrent_memory_is_apart(void)
{
    arras_taskgraph *graph = graph_new();
    arras_exec      *exec;

    for (int i = 0; i < 8; i++) {
        int memory = memalloc(graph, -1, 64);

        CHECK(memfree(graph, memory, memory) >= 0);
    }
    exec = instantiated(graph);
    CHECK_EQ_INT(summary_of(exec).planned, 8 * 64);
    arras_exec_free(exec);
    arras_taskgraph_free(graph);
}

static void memory_without_end_stays(void)
{
    arras_taskgraph *graph = graph_new();
    int64_t          seen = -1;
    int              temporary = memalloc(graph, -1, 64);
    int              ended = memfree(graph, temporary, temporary);
    int              counter = memalloc(graph, ended, CELL);
    int              plus = apply(graph, counter, add, in_node(counter), in_node(counter), 1, 1);
    arras_exec      *exec;

    CHECK(copy_out(graph, plus, &seen, in_node(counter), CELL) >= 0);
    exec = instantiated(graph);
    CHECK_EQ_INT(summary_of(exec).planned, 2 * 64);
    for (int i = 1; i <= 5; i++) {
        CHECK(launches(exec));
        CHECK_EQ_INT(seen, i);
    }
    arras_exec_free(exec);
    arras_taskgraph_free(graph);
}

/* Random lives: each piece is stamped when it begins and looked at when it ends.  Where the plan
 * gave bytes to two that are alive at once, a stamp is overwritten sooner or later. */
typedef struct {
    uint8_t stamp;
    int64_t bytes;
    int     wrong;
} life;

static arras_status stamp(void *context, void *const *args, int64_t first, int64_t last,
                          arras_error *err)
{
    const life *l = context;

    (void)err;
    memset((char *)args[0] + first, l->stamp, (size_t)(last - first));
    return ARRAS_OK;
}

static arras_status look(void *context, void *const *args, int64_t first, int64_t last,
                         arras_error *err)
{
    life *l = context;

    (void)err, (void)last;
    for (int64_t i = 0; first == 0 && i < l->bytes; i++)
        l->wrong += ((const uint8_t *)args[0])[i] != l->stamp;
    return ARRAS_OK;
}

enum { LIVES = 24 };

static int random_life(arras_taskgraph *graph, life *l, int n, const int *ends, unsigned *seed)
{
    arras_kernel *first = native("stamp", stamp, l), *second = native("look", look, l);
    int           memory = -1, node;
    arras_arg     arg;

    l->bytes = 1 + rand_r(seed) % 5000;
    arras_taskgraph_add_memalloc(&memory, graph, n, ends, l->bytes, &error);
    arg = arras_arg_write(in_node(memory));
    node = kernel(graph, memory, first, l->bytes, 1, &arg);
    arg.kind = ARRAS_ARG_READ;
    node = kernel(graph, node, second, 1, 1, &arg);
    arras_kernel_free(first);
    arras_kernel_free(second);
    return memfree(graph, node, memory);
}

static void random_lives(void)
{
    for (unsigned seed = 1; seed <= 12; seed++) {
        arras_taskgraph *graph = graph_new();
        life             lives[LIVES] = { { 0 } };
        int              ends[LIVES], wrong = 0;
        unsigned         state = seed;
        arras_exec      *exec;

        CASE("seed %u", seed);
        for (int i = 0; i < LIVES; i++) {
            int from = i > 0 ? rand_r(&state) % i : 0, n = i - from < 3 ? i - from : 3;

            lives[i].stamp = (uint8_t)(i + 1);
            ends[i] = random_life(graph, &lives[i], n, ends + from, &state);
            CHECK(ends[i] >= 0);
        }
        exec = instantiated(graph);
        CHECK(exec != NULL);
        for (int i = 0; i < 20; i++)
            CHECK(launches(exec));
        for (int i = 0; i < LIVES; i++)
            wrong += lives[i].wrong;
        CHECK_EQ_INT(wrong, 0);
        CHECK(summary_of(exec).planned <= summary_of(exec).requested + 64 * LIVES);
        arras_exec_free(exec);
        arras_taskgraph_free(graph);
    }
}

/* ---- Work ------------------------------------------------------------------------------------ */

typedef struct {
    atomic_int done[1000];
    atomic_int small; /* calls with fewer items than the grain, but for the last one */
} tally;

static arras_status count_items(void *context, void *const *args, int64_t first, int64_t last,
                                arras_error *err)
{
    tally *t = context;

    (void)args, (void)err;
    if (last - first < 7 && last != 1000)
        atomic_fetch_add(&t->small, 1);
    for (int64_t i = first; i < last; i++)
        atomic_fetch_add(&t->done[i], 1);
    return ARRAS_OK;
}

static void every_item_is_done_once(void)
{
    static tally      t;
    arras_taskgraph  *graph = graph_new();
    arras_kernel     *k = native("count", count_items, &t);
    arras_kernel_call call = { k, 1000, 7, 0, NULL };
    arras_exec       *exec;
    int               wrong = 0;

    memset(&t, 0, sizeof t);
    CHECK(arras_taskgraph_add_kernel(NULL, graph, 0, NULL, &call, NULL) == ARRAS_OK);
    exec = instantiated(graph);
    for (int i = 0; i < 100; i++)
        CHECK(launches(exec));
    for (int i = 0; i < 1000; i++)
        wrong += atomic_load(&t.done[i]) != 100;
    CHECK_EQ_INT(wrong, 0);
    CHECK_EQ_INT(atomic_load(&t.small), 0);
    arras_exec_free(exec);
    arras_taskgraph_free(graph);
    arras_kernel_free(k);
}

static void long_copies_are_whole(void)
{
    enum { BYTES = 3000017 };
    arras_taskgraph *graph = graph_new();
    uint8_t         *from = malloc(BYTES), *to = calloc(BYTES, 1);
    int              a = memalloc(graph, -1, BYTES + 3), b = memalloc(graph, a, BYTES + 5);
    int              last;
    arras_exec      *exec;

    for (int i = 0; i < BYTES; i++)
        from[i] = (uint8_t)(i % 251);
    last = copy_in(graph, b, arras_place_in_node(a, 3), from, BYTES);
    last = copy(graph, last, arras_place_in_node(b, 5), arras_place_in_node(a, 3), BYTES);
    CHECK(copy_out(graph, last, to, arras_place_in_node(b, 5), BYTES) >= 0);
    exec = instantiated(graph);
    CHECK(launches(exec));
    CHECK(memcmp(from, to, BYTES) == 0);
    arras_exec_free(exec);
    arras_taskgraph_free(graph);
    free(from);
    free(to);
}

static void nothing_to_do(void)
{
    arras_taskgraph *graph = graph_new();
    arras_exec      *exec = instantiated(graph);
    int              memory, ends[3];

    CHECK(exec && launches(exec));
    arras_exec_free(exec);
    memory = memalloc(graph, -1, 1);
    ends[0] = copy_in(graph, memory, arras_place_in_node(memory, 1), NULL, 0);
    ends[1] = copy(graph, memory, in_node(memory), in_node(memory), 0);
    ends[2] = kernel(graph, memory, add, 0, 0, NULL);
    CHECK(memfree(graph, join(graph, 3, ends), memory) >= 0);
    exec = instantiated(graph);
    CHECK(exec && launches(exec));
    CHECK_EQ_INT(summary_of(exec).nodes, 6);
    CHECK_EQ_INT(summary_of(exec).edges, 7);
    CHECK_EQ_INT(summary_of(exec).kernels, 1);
    arras_exec_free(exec);
    arras_taskgraph_free(graph);
}

static void launches_and_updates_allocate_nothing(void)
{
    arras_taskgraph *graph = graph_new();
    arras_block     *x = block_of(8000), *y = block_of(8000);
    int              last = formula(graph, in_block(y), in_block(x), 1000), failures = 0;
    arras_exec      *exec = instantiated(graph);

    CHECK(launches(exec));
    ar_alloc_fail_from(1);
    for (int i = 0; i < 100; i++) {
        arras_update swap[] = { { last - 1, 0, arras_arg_read(in_block(i % 2 ? x : y)) },
                                { last, 1, arras_arg_write(in_block(i % 2 ? y : x)) } };

        failures += arras_exec_update(exec, 2, swap, NULL) || arras_exec_launch(exec, NULL);
    }
    ar_alloc_fail_from(0);
    CHECK_EQ_INT(failures, 0);
    arras_exec_free(exec);
    arras_taskgraph_free(graph);
    arras_block_free(x);
    arras_block_free(y);
}

/* What an executable uses stays, whatever is released. */
static void release_in_any_order(void)
{
    arras_options    options = { .threads = 2, .cache = cache };
    arras_device    *device = NULL;
    arras_taskgraph *graph = NULL;
    arras_block     *x = NULL, *y = NULL;
    arras_kernel    *k;
    int64_t          start = 41, seen = 0;
    int              last;
    arras_exec      *exec;

    CHECK(arras_device_open(&device, NULL, &options, NULL) == ARRAS_OK);
    CHECK_STR(arras_device_name(device), "cpu");
    k = built(device, "add");
    CHECK(arras_block_new(&x, device, CELL, NULL) == ARRAS_OK);
    CHECK(arras_block_new(&y, device, CELL, NULL) == ARRAS_OK);
    CHECK(arras_block_write(x, 0, &start, CELL, NULL) == ARRAS_OK);
    CHECK(arras_taskgraph_new(&graph, device, NULL) == ARRAS_OK);
    arras_device_close(device);
    last = apply(graph, -1, k, in_block(y), in_block(x), 1, 1);
    CHECK(copy_out(graph, last, &seen, in_block(y), CELL) >= 0);
    arras_block_free(x);
    exec = instantiated(graph);
    arras_taskgraph_free(graph);
    arras_block_free(y);
    arras_kernel_free(k);
    CHECK(launches(exec));
    CHECK_EQ_INT(seen, 42);
    arras_exec_free(exec);
}

/* ---- Many at once ---------------------------------------------------------------------------- */

static void *follow_alone(void *context)
{
    enum { ITEMS = 500 };
    arras_taskgraph *graph = NULL;
    arras_exec      *exec = NULL;
    int64_t          x[ITEMS], y[ITEMS];
    int             *wrong = context, t = 0, u = 0, node = 0;
    const int64_t    one = 1, two = 2;

    for (int i = 0; i < ITEMS; i++)
        x[i] = i + *wrong;
    *wrong = 0;
    *wrong += arras_taskgraph_new(&graph, cpu, NULL) != ARRAS_OK;
    *wrong += arras_taskgraph_add_memalloc(&t, graph, 0, NULL, sizeof x, NULL) != ARRAS_OK;
    *wrong += arras_taskgraph_add_memalloc(&u, graph, 1, &t, sizeof x, NULL) != ARRAS_OK;
    *wrong += arras_taskgraph_add_copy_in(&node, graph, 1, &u, in_node(t), x, sizeof x, NULL) != 0;
    for (int i = 0; i < 2; i++) {
        arras_arg         args[] = { arras_arg_read(in_node(i ? u : t)),
                                     arras_arg_write(in_node(i ? t : u)),
                                     arras_arg_value(i ? &two : &one, CELL) };
        arras_kernel_call call = { i ? scale : add, ITEMS, 50, 3, args };

        *wrong += arras_taskgraph_add_kernel(&node, graph, 1, &node, &call, NULL) != ARRAS_OK;
    }
    *wrong +=
        arras_taskgraph_add_copy_out(NULL, graph, 1, &node, y, in_node(t), sizeof y, NULL) != 0;
    *wrong += arras_taskgraph_instantiate(&exec, graph, NULL) != ARRAS_OK;
    for (int run = 0; run < 100; run++) {
        *wrong += run % 2 ? arras_exec_launch(exec, NULL) != ARRAS_OK
                          : arras_exec_start(exec, NULL) || arras_exec_wait(exec, NULL);
        for (int i = 0; i < ITEMS; i++)
            *wrong += y[i] != (x[i] + 1) * 2;
    }
    arras_exec_free(exec);
    arras_taskgraph_free(graph);
    return NULL;
}

static void several_threads(void)
{
    enum { THREADS = 5 };
    pthread_t threads[THREADS];
    int       wrong[THREADS];

    for (int i = 0; i < THREADS; i++) {
        wrong[i] = 1000 * i;
        CHECK(pthread_create(&threads[i], NULL, follow_alone, &wrong[i]) == 0);
    }
    for (int i = 0; i < THREADS; i++) {
        CHECK(pthread_join(threads[i], NULL) == 0);
        CHECK_EQ_INT(wrong[i], 0);
    }
}

/* ---- Pictures -------------------------------------------------------------------------------- */

static void pictures(void)
{
    arras_taskgraph *graph = graph_new();
    arras_block     *x = block_of(CELL), *y = block_of(CELL);
    int              last = formula(graph, in_block(y), in_block(x), 1);
    char            *text = NULL;
    size_t           length = 0;
    arras_exec      *exec;

    CHECK(arras_taskgraph_print(&text, &length, graph, NULL) == ARRAS_OK);
    CHECK_EQ_INT((int64_t)length, (int64_t)strlen(text));
    CHECK_HAS(text, "label=\"0: memalloc 8 bytes, 0 parts\"");
    CHECK_HAS(text,
              "t1 [fillcolor=\"0.618 0.14 0.97\", color=\"0.618 0.45 0.62\", label=\"1: add\"]");
    CHECK_HAS(text, "label=\"2: scale\"");
    CHECK_HAS(text, "label=\"3: memfree of 0, 0 parts\"");
    CHECK_HAS(text, "t2 -> t3;");
    CHECK_HAS(text, "{ rank=same; t2; }");
    arras_text_free(text);
    exec = instantiated(graph);
    CHECK(arras_exec_print(&text, NULL, exec, &error) == ARRAS_EINVAL);
    CHECK_HAS(error.text, "no launch was timed");
    CHECK(arras_exec_trace(exec, true, NULL) == ARRAS_OK);
    CHECK(launches(exec) && launches(exec));
    CHECK(arras_exec_trace(exec, false, NULL) == ARRAS_OK);
    CHECK(arras_exec_print(&text, NULL, exec, NULL) == ARRAS_OK);
    CHECK_HAS(text, "\"name\":\"2: scale\"");
    arras_text_free(text);
    arras_exec_free(exec);
    /* A graph that is refused can be looked at. */
    CHECK(arras_taskgraph_order(graph, last, 0, NULL) == ARRAS_OK);
    CHECK(arras_taskgraph_print(&text, NULL, graph, NULL) == ARRAS_OK);
    CHECK_HAS(text, "t2 -> t0;");
    arras_text_free(text);
    arras_taskgraph_free(graph);
    arras_block_free(x);
    arras_block_free(y);
}

TEST_MAIN
{
    static const int threads_of[] = { 1, 2, 3, 7 };

    for (size_t t = 0; t < AR_COUNT(threads_of); t++) {
        device_set_up(threads_of[t]);
        RUN(feedback_by_a_copy);
        RUN(feedback_by_updates);
        RUN(host_memory_and_values_change);
        RUN(freed_memory_is_used_again);
        RUN(concurrent_memory_is_apart);
        RUN(memory_without_end_stays);
        RUN(random_lives);
        RUN(every_item_is_done_once);
        RUN(long_copies_are_whole);
        RUN(nothing_to_do);
        RUN(launches_and_updates_allocate_nothing);
        RUN(release_in_any_order);
        RUN(several_threads);
        RUN(pictures);
        device_tear_down();
    }
    CHECK_EQ_INT(ar_alloc_live(), 0);
}
