/* test_device_trouble.c -- task graphs on the CPU device when something is wrong: orders that are
 * not safe, bad input of every kind, failures, cancellations, no memory. */
#include "device_kit.h"

#include <pthread.h>
#include <stdatomic.h>

enum { CELL = sizeof(int64_t) };

static void refused(const arras_taskgraph *graph, const char *part)
{
    arras_exec *exec = instantiated(graph);

    CHECK(exec == NULL);
    CHECK_HAS(error.text, part);
    arras_exec_free(exec);
}

static void accepted(const arras_taskgraph *graph)
{
    arras_exec *exec = instantiated(graph);

    if (CHECK(exec != NULL))
        CHECK(launches(exec));
    else
        printf("    %s\n", error.text);
    arras_exec_free(exec);
}

/* ---- Orders that are not safe ---------------------------------------------------------------- */

static void circles(void)
{
    arras_taskgraph *graph = graph_new();
    int              a = join(graph, 0, NULL), b = join(graph, 1, &a), c = join(graph, 1, &b);

    accepted(graph);
    CHECK(arras_taskgraph_order(graph, c, a, NULL) == ARRAS_OK);
    refused(graph, "3 tasks of a graph wait for each other in a circle");
    arras_taskgraph_free(graph);
    graph = graph_new();
    a = join(graph, 0, NULL);
    CHECK(arras_taskgraph_order(graph, a, a, NULL) == ARRAS_OK);
    refused(graph, "in a circle");
    arras_taskgraph_free(graph);
}

static void memory_before_it_is_there(void)
{
    arras_taskgraph *graph = graph_new();
    int64_t          x = 0;
    int              memory = memalloc(graph, -1, CELL);
    int              in = copy_in(graph, -1, in_node(memory), &x, CELL);

    refused(graph, "node 1 (copy in) uses memory of memalloc node 0 but does not wait for it: add "
                   "an edge from 0 to 1");
    CHECK(arras_taskgraph_order(graph, memory, in, NULL) == ARRAS_OK);
    accepted(graph);
    arras_taskgraph_free(graph);
}

static void memory_after_its_end(void)
{
    arras_taskgraph *graph = graph_new();
    int64_t          x = 0;
    int              memory = memalloc(graph, -1, CELL);
    int              end = memfree(graph, memory, memory);
    int              in = copy_in(graph, memory, in_node(memory), &x, CELL);

    refused(graph, "node 2 (copy in) uses memory of memalloc node 0, and memfree node 1 does not "
                   "wait for it: add an edge from 2 to 1");
    CHECK(arras_taskgraph_order(graph, in, end, NULL) == ARRAS_OK);
    accepted(graph);
    arras_taskgraph_free(graph);
    graph = graph_new();
    memory = memalloc(graph, -1, CELL);
    end = memfree(graph, memory, memory);
    CHECK(copy_in(graph, end, in_node(memory), &x, CELL) >= 0);
    refused(graph, "memfree node 1 does not wait for it");
    arras_taskgraph_free(graph);
    graph = graph_new();
    memory = memalloc(graph, -1, CELL);
    CHECK(memfree(graph, -1, memory) >= 0);
    refused(graph, "node 1 (memfree) uses memory of memalloc node 0 but does not wait for it");
    arras_taskgraph_free(graph);
}

/* Two nodes that touch the bytes [a, a + 8) and [b, b + 8) of a block of 24. */
static const struct {
    arras_arg_kind first, second;
    int64_t        a, b;
    bool           ordered, safe;
} pairs[] = {
    { ARRAS_ARG_READ, ARRAS_ARG_READ, 0, 0, false, true },
    { ARRAS_ARG_READ, ARRAS_ARG_WRITE, 0, 0, false, false },
    { ARRAS_ARG_WRITE, ARRAS_ARG_READ, 0, 0, false, false },
    { ARRAS_ARG_WRITE, ARRAS_ARG_WRITE, 0, 0, false, false },
    { ARRAS_ARG_READ_WRITE, ARRAS_ARG_READ, 0, 0, false, false },
    { ARRAS_ARG_READ, ARRAS_ARG_READ_WRITE, 0, 0, false, false },
    { ARRAS_ARG_WRITE, ARRAS_ARG_WRITE, 0, 7, false, false }, /* one byte in common */
    { ARRAS_ARG_WRITE, ARRAS_ARG_WRITE, 10, 2, false, true }, /* side by side */
    { ARRAS_ARG_WRITE, ARRAS_ARG_WRITE, 8, 0, false, true },
    { ARRAS_ARG_WRITE, ARRAS_ARG_WRITE, 0, 0, true, true },
    { ARRAS_ARG_READ, ARRAS_ARG_WRITE, 0, 0, true, true },
};

static arras_status nothing(void *context, void *const *args, int64_t first, int64_t last,
                            arras_error *err)
{
    (void)context, (void)args, (void)first, (void)last, (void)err;
    return ARRAS_OK;
}

static void two_that_touch_the_same(void)
{
    arras_kernel *k = native("touch", nothing, NULL);
    arras_block  *block = block_of(24), *other = block_of(24);

    for (size_t i = 0; i < AR_COUNT(pairs); i++) {
        arras_taskgraph *graph = graph_new();
        arras_place      a = arras_place_in_block(block, pairs[i].a);
        arras_place      b = arras_place_in_block(block, pairs[i].b);
        arras_arg        first[] = { arras_arg_memory(pairs[i].first, a, 8),
                                     arras_arg_read(in_block(other)) };
        arras_arg        second[] = { arras_arg_read(in_block(other)),
                                      arras_arg_memory(pairs[i].second, b, 8) };
        int              node = kernel(graph, -1, k, 1, 2, first);

        CASE("pair %zu", i);
        node = join(graph, 1, &node);
        CHECK(kernel(graph, pairs[i].ordered ? node : -1, k, 1, 2, second) == 2);
        if (pairs[i].safe)
            accepted(graph);
        else
            refused(graph, "node 0 (touch) and node 2 (touch) touch the same bytes of a block with "
                           "no order between them, and node ");
        arras_taskgraph_free(graph);
    }
    arras_block_free(block);
    arras_block_free(other);
    arras_kernel_free(k);
}

static void copies_that_touch_the_same(void)
{
    arras_taskgraph *graph = graph_new();
    int64_t          x[2] = { 1, 2 };
    arras_block     *block = block_of(64);

    CHECK(copy_in(graph, -1, in_block(block), x, CELL) >= 0);
    CHECK(copy_out(graph, -1, x, arras_place_in_block(block, 32), 2 * CELL) >= 0);
    refused(graph, "node 0 (copy in) and node 1 (copy out) touch the same memory of the host with "
                   "no order between them, and node 1 writes: add an edge");
    arras_taskgraph_free(graph);
    graph = graph_new();
    CHECK(copy(graph, -1, arras_place_in_block(block, 8), in_block(block), 16) >= 0);
    refused(graph, "node 0 (copy) copies 16 bytes over a part of themselves");
    arras_taskgraph_free(graph);
    arras_block_free(block);
}

/* ---- Bad input ------------------------------------------------------------------------------- */

static void bad_nodes(void)
{
    arras_taskgraph *graph = graph_new();
    int              memory = memalloc(graph, -1, 16), none[] = { 5 };
    int64_t          x = 0;

#define REFUSED(call, part)                                                                        \
    CASE("%s", part);                                                                              \
    CHECK((call) == -1);                                                                           \
    CHECK_HAS(error.text, part)

    REFUSED(memalloc(graph, -1, 0), "memalloc of 0 bytes: give at least 1");
    REFUSED(memalloc(graph, -1, -5), "memalloc of -5 bytes");
    REFUSED(join(graph, 1, none), "node 1 is to wait for node 5, which is not there");
    REFUSED(join(graph, -1, none), "a list of -1 nodes to wait for");
    REFUSED(join(graph, 1, NULL), "a list of 1 nodes to wait for is NULL");
    REFUSED(memfree(graph, -1, 1), "memfree of node 1, which is no memalloc node");
    REFUSED(memfree(graph, -1, -1), "memfree of node -1");
    REFUSED(copy_in(graph, 0, in_node(3), &x, 8), "is memory of node 3, which is no memalloc node");
    REFUSED(copy_in(graph, 0, in_node(-3), &x, 8), "is memory of node -3");
    REFUSED(copy_in(graph, 0, in_node(0), NULL, 8), "the source of a copy in is NULL");
    REFUSED(copy_in(graph, 0, in_node(0), &x, -8), "a copy in of -8 bytes");
    REFUSED(copy_in(graph, 0, in_node(0), &x, 17),
            "the target of a copy in is 17 bytes from byte 0 on, in memory of 16 bytes");
    REFUSED(copy_in(graph, 0, in_node(0), (void *)UINTPTR_MAX, 8), "beyond the end of memory");
    REFUSED(copy_in(graph, 0, in_node(0), (void *)INTPTR_MAX, 8), "beyond the end of memory");
    REFUSED(copy_out(graph, 0, NULL, in_node(0), 8), "the target of a copy out is NULL");
    REFUSED(copy_out(graph, 0, &x, arras_place_in_node(0, 9), 8),
            "the source of a copy out is 8 bytes from byte 9 on");
    REFUSED(copy_out(graph, 0, &x, arras_place_in_node(0, INT64_MAX), 8), "starts at byte 9223");
    REFUSED(copy(graph, 0, arras_place_in_node(0, -1), in_node(0), 8), "starts at byte -1");
    REFUSED(copy(graph, 0, in_node(0), in_node(0), INT64_MAX), "9223372036854775807 bytes");
    CASE("an end");
    CHECK(memfree(graph, memory, memory) == 1);
    REFUSED(memfree(graph, memory, memory), "memory of node 0 is freed twice: by node 1 already");
    CASE("edges");
    CHECK(arras_taskgraph_order(graph, 0, 2, &error) == ARRAS_EINVAL);
    CHECK_HAS(error.text, "an edge from node 0 to node 2 in a graph of 2 nodes");
    CHECK_EQ_INT(arras_taskgraph_nodes(graph), 2);
    accepted(graph); /* what was refused has left nothing behind */
    arras_taskgraph_free(graph);
}

static void bad_kernels(void)
{
    arras_taskgraph *graph = graph_new();
    arras_device    *device = NULL;
    arras_block     *elsewhere = NULL;
    arras_kernel    *other;
    int64_t          x = 0;
    arras_arg        arg, many[ARRAS_MAX_KERNEL_ARGS + 1];

    CHECK(arras_device_open(&device, "cpu", NULL, NULL) == ARRAS_OK);
    CHECK(arras_block_new(&elsewhere, device, 8, NULL) == ARRAS_OK);
    CHECK(arras_kernel_native(&other, device, "other", nothing, NULL, NULL) == ARRAS_OK);
    for (int i = 0; i <= ARRAS_MAX_KERNEL_ARGS; i++)
        many[i] = arras_arg_value(&x, sizeof x);

    REFUSED(kernel(graph, -1, NULL, 1, 0, NULL), "the kernel or its call is NULL");
    REFUSED(kernel(graph, -1, add, 1, -1, NULL), "a list of -1 arguments");
    REFUSED(kernel(graph, -1, add, 1, 1, NULL), "a list of 1 arguments is NULL");
    REFUSED(kernel(graph, -1, add, -1, 0, NULL), "kernel add has -1 items: give 0 to");
    REFUSED(kernel(graph, -1, add, INT64_MAX, 0, NULL), "kernel add has 9223372036854775807 items");
    REFUSED(kernel(graph, -1, other, 1, 0, NULL), "kernel other is of another device");
    REFUSED(kernel(graph, -1, add, 1, ARRAS_MAX_KERNEL_ARGS + 1, many),
            "kernel add has 1025 arguments, more than 1024");
    arg = arras_arg_host(&x);
    REFUSED(kernel(graph, -1, add, 1, 1, &arg), "argument 0 of kernel add cannot be of kind 4");
    arg = arras_arg_value(&x, ARRAS_MAX_ARG_VALUE + 1);
    REFUSED(kernel(graph, -1, add, 1, 1, &arg), "is a value of 4097 bytes: give 1 to 4096");
    arg = arras_arg_value(&x, 0);
    REFUSED(kernel(graph, -1, add, 1, 1, &arg), "is a value of 0 bytes");
    arg = arras_arg_value(NULL, 8);
    REFUSED(kernel(graph, -1, add, 1, 1, &arg), "is a value at NULL");
    arg = arras_arg_read(in_block(elsewhere));
    REFUSED(kernel(graph, -1, add, 1, 1, &arg), "is a block of another device");
    arg.kind = (arras_arg_kind)77;
    REFUSED(kernel(graph, -1, add, 1, 1, &arg), "cannot be of kind 77");
    CASE("as many arguments as allowed");
    other = (arras_kernel_free(other), native("many", nothing, NULL));
    CHECK(kernel(graph, -1, other, 1, ARRAS_MAX_KERNEL_ARGS, many) == 0);
    accepted(graph);
    arras_kernel_free(other);
    arras_taskgraph_free(graph);
    arras_block_free(elsewhere);
    arras_device_close(device);
}

static void too_many_nodes(void)
{
    arras_taskgraph *graph = graph_new();
    int              node = -1;

    for (int i = 0; i < ARRAS_MAX_TASKGRAPH_NODES; i++)
        node = join(graph, node >= 0, &node);
    CHECK_EQ_INT(node, ARRAS_MAX_TASKGRAPH_NODES - 1);
    CHECK_EQ_INT(join(graph, 0, NULL), -1);
    CHECK_HAS(error.text, "a task graph of more than 16384 nodes");
    accepted(graph);
    arras_taskgraph_free(graph);
}

static void too_much_memory(void)
{
    arras_taskgraph *graph = graph_new();
    int              memory = memalloc(graph, -1, INT64_MAX);

    CHECK(memory == 0);
    refused(graph, "1 memalloc nodes ask for more than 9223372036854775807 bytes");
    arras_taskgraph_free(graph);
    graph = graph_new();
    CHECK(memalloc(graph, -1, INT64_MAX / 2) == 0);
    refused(graph, "out of memory: no 4611686018427387904 bytes");
    CHECK(memalloc(graph, -1, INT64_MAX / 2 + 100) == 1);
    refused(graph, "2 memalloc nodes ask for more than");
    arras_taskgraph_free(graph);
}

static void bad_blocks(void)
{
    arras_block *block = NULL;
    int64_t      x = 0;

    CHECK(arras_block_new(&block, cpu, 0, &error) == ARRAS_EINVAL);
    CHECK_HAS(error.text, "a block of 0 bytes");
    CHECK(arras_block_new(&block, cpu, INT64_MAX, &error) == ARRAS_ENOMEM);
    CHECK(block == NULL);
    block = block_of(8);
    CHECK(arras_block_write(block, 1, &x, 8, &error) == ARRAS_EINDEX);
    CHECK_HAS(error.text, "write: 8 bytes from byte 1 on, in a block of 8 bytes");
    CHECK(arras_block_read(&x, block, -1, 1, &error) == ARRAS_EINDEX);
    CHECK(arras_block_read(&x, block, 0, -1, &error) == ARRAS_EINDEX);
    CHECK(arras_block_read(&x, block, INT64_MAX, INT64_MAX, &error) == ARRAS_EINDEX);
    CHECK(arras_block_read(NULL, block, 0, 1, &error) == ARRAS_EINVAL);
    CHECK(arras_block_read(NULL, block, 8, 0, &error) == ARRAS_OK);
    arras_block_free(block);
}

static void bad_sources(void)
{
    arras_options options = { .compiler = "/nowhere/cc", .cache = cache };
    const char   *source = "void k(void *const *args, long first, long last) { return 1 + ; }\n";
    arras_kernel *kernel_of = NULL;
    arras_device *device = NULL;

    CHECK(arras_kernel_build(&kernel_of, cpu, source, strlen(source), "k", &error) != ARRAS_OK);
    CHECK(error.text[0] != '\0');
    CHECK(arras_kernel_build(&kernel_of, cpu, kernel_source, strlen(kernel_source), "divide",
                             &error) == ARRAS_ENAME);
    CHECK_HAS(error.text, "no function 'divide'");
    source = "int variable = 1;\n";
    CHECK(arras_kernel_build(&kernel_of, cpu, source, strlen(source), "variable", &error) ==
          ARRAS_ENAME);
    CHECK_HAS(error.text, "no function 'variable'");
    CHECK(arras_device_open(&device, "cpu", &options, NULL) == ARRAS_OK);
    CHECK(arras_kernel_build(&kernel_of, device, source, strlen(source), "k", &error) != ARRAS_OK);
    CHECK_HAS(error.text, "/nowhere/cc");
    CHECK(kernel_of == NULL);
    CHECK(arras_kernel_native(&kernel_of, device, "n", nothing, NULL, NULL) == ARRAS_OK);
    arras_kernel_free(kernel_of);
    arras_device_close(device);
    CHECK(arras_device_open(&device, "abacus", NULL, &error) == ARRAS_ENAME);
    CHECK_HAS(error.text, "there is no device 'abacus'");
    options.threads = -2;
    CHECK(arras_device_open(&device, "cpu", &options, &error) == ARRAS_EINVAL);
}

/* Every function takes NULL for everything. */
static void null_everywhere(void)
{
    arras_place  place = in_node(0);
    arras_update update = { 0, 0, arras_arg_host(NULL) };

    CHECK(arras_device_open(NULL, NULL, NULL, NULL) == ARRAS_EINVAL);
    CHECK(arras_device_name(NULL) == NULL);
    CHECK(arras_block_new(NULL, NULL, 1, NULL) == ARRAS_EINVAL);
    CHECK(arras_block_write(NULL, 0, NULL, 0, NULL) == ARRAS_EINVAL);
    CHECK(arras_block_read(NULL, NULL, 0, 0, NULL) == ARRAS_EINVAL);
    CHECK(arras_kernel_build(NULL, NULL, NULL, 0, NULL, NULL) == ARRAS_EINVAL);
    CHECK(arras_kernel_native(NULL, NULL, NULL, NULL, NULL, NULL) == ARRAS_EINVAL);
    CHECK(arras_taskgraph_new(NULL, NULL, NULL) == ARRAS_EINVAL);
    CHECK(arras_taskgraph_add_memalloc(NULL, NULL, 0, NULL, 1, NULL) == ARRAS_EINVAL);
    CHECK(arras_taskgraph_add_memfree(NULL, NULL, 0, NULL, 1, NULL) == ARRAS_EINVAL);
    CHECK(arras_taskgraph_add_kernel(NULL, NULL, 0, NULL, NULL, NULL) == ARRAS_EINVAL);
    CHECK(arras_taskgraph_add_copy_in(NULL, NULL, 0, NULL, place, NULL, 1, NULL) == ARRAS_EINVAL);
    CHECK(arras_taskgraph_add_copy_out(NULL, NULL, 0, NULL, NULL, place, 1, NULL) == ARRAS_EINVAL);
    CHECK(arras_taskgraph_add_copy(NULL, NULL, 0, NULL, place, place, 1, NULL) == ARRAS_EINVAL);
    CHECK(arras_taskgraph_add_join(NULL, NULL, 0, NULL, NULL) == ARRAS_EINVAL);
    CHECK(arras_taskgraph_order(NULL, 0, 0, NULL) == ARRAS_EINVAL);
    CHECK(arras_taskgraph_print(NULL, NULL, NULL, NULL) == ARRAS_EINVAL);
    CHECK(arras_taskgraph_instantiate(NULL, NULL, NULL) == ARRAS_EINVAL);
    CHECK(arras_exec_launch(NULL, NULL) == ARRAS_EINVAL);
    CHECK(arras_exec_start(NULL, NULL) == ARRAS_EINVAL);
    CHECK(arras_exec_wait(NULL, NULL) == ARRAS_EINVAL);
    CHECK(arras_exec_update(NULL, 1, &update, NULL) == ARRAS_EINVAL);
    CHECK(arras_exec_summarize(NULL, NULL, NULL) == ARRAS_EINVAL);
    CHECK(arras_exec_trace(NULL, true, NULL) == ARRAS_EINVAL);
    CHECK(arras_exec_print(NULL, NULL, NULL, NULL) == ARRAS_EINVAL);
    CHECK_EQ_INT(arras_taskgraph_nodes(NULL), 0);
    arras_exec_cancel(NULL);
    arras_exec_free(NULL);
    arras_taskgraph_free(NULL);
    arras_kernel_free(NULL);
    arras_block_free(NULL);
    arras_device_close(NULL);
}

/* ---- Failures while it runs ------------------------------------------------------------------ */

typedef struct {
    atomic_bool entered, go_on;
    bool        fail;
} gate;

static arras_status stand(void *context, void *const *args, int64_t first, int64_t last,
                          arras_error *err)
{
    gate *g = context;

    (void)args, (void)first, (void)last;
    atomic_store(&g->entered, true);
    while (!atomic_load(&g->go_on))
        usleep(100);
    return g->fail ? ar_fail(err, ARRAS_EINDEX, "the gate is closed") : ARRAS_OK;
}

/* A gate, then a copy of 1 to x. */
static arras_exec *gated(gate *g, int64_t *x)
{
    static const int64_t one = 1;
    arras_taskgraph     *graph = graph_new();
    arras_kernel        *k = native("stand", stand, g);
    int                  memory = memalloc(graph, -1, CELL);
    int                  in = copy_in(graph, memory, in_node(memory), &one, CELL);
    int                  last = kernel(graph, in, k, 1, 0, NULL);
    arras_exec          *exec;

    CHECK(copy_out(graph, last, x, in_node(memory), CELL) >= 0);
    exec = instantiated(graph);
    arras_kernel_free(k);
    arras_taskgraph_free(graph);
    return exec;
}

static void failures_end_a_launch(void)
{
    gate        g = { .go_on = true, .fail = true };
    int64_t     x = 0;
    arras_exec *exec = gated(&g, &x);

    CHECK(arras_exec_launch(exec, &error) == ARRAS_EINDEX);
    CHECK_STR(error.text, "the gate is closed");
    CHECK_EQ_INT(x, 0);
    g.fail = false;
    CHECK(launches(exec));
    CHECK_EQ_INT(x, 1);
    CHECK_EQ_INT(summary_of(exec).launches, 2);
    arras_exec_free(exec);
}

static arras_status strange(void *context, void *const *args, int64_t first, int64_t last,
                            arras_error *err)
{
    (void)args, (void)first, (void)last, (void)err;
    return (arras_status) * (int *)context;
}

/* Codes that are not in the list, among them such as look like other bits of a graph's state. */
static void strange_codes(void)
{
    static const int codes[] = { 256, 512, 768, 1000, 99, -1, -256 };

    for (size_t i = 0; i < AR_COUNT(codes); i++) {
        int              code = codes[i];
        arras_kernel    *k = native("strange", strange, &code);
        arras_taskgraph *graph = graph_new();
        arras_exec      *exec;

        CASE("%d", code);
        CHECK(kernel(graph, -1, k, 100, 0, NULL) == 0);
        exec = instantiated(graph);
        for (int turn = 0; turn < 2; turn++) {
            CHECK(arras_exec_launch(exec, &error) == ARRAS_EINVAL);
            CHECK_HAS(error.text, "strange failed on parts ");
            CHECK(arras_exec_start(exec, &error) == ARRAS_OK);
            CHECK(arras_exec_wait(exec, &error) == ARRAS_EINVAL);
        }
        code = ARRAS_OK;
        CHECK(launches(exec));
        arras_exec_free(exec);
        arras_taskgraph_free(graph);
        arras_kernel_free(k);
    }
}

static void *cancel_soon(void *context)
{
    arras_exec **exec = context;

    usleep(1000);
    arras_exec_cancel(*exec);
    return NULL;
}

static void cancelled_launches(void)
{
    gate        g = { .go_on = false };
    int64_t     x = 0;
    arras_exec *exec = gated(&g, &x);
    pthread_t   thread;

    CHECK(arras_exec_start(exec, NULL) == ARRAS_OK);
    CHECK(arras_exec_launch(exec, &error) == ARRAS_EINVAL);
    CHECK_HAS(error.text, "a launch while the graph of 4 nodes is running");
    CHECK(arras_exec_start(exec, &error) == ARRAS_EINVAL);
    CHECK(arras_exec_update(exec, 0, NULL, &error) == ARRAS_EINVAL);
    CHECK_HAS(error.text, "an update while the graph");
    CHECK(arras_exec_trace(exec, true, &error) == ARRAS_EINVAL);
    while (!atomic_load(&g.entered))
        usleep(100);
    CHECK(pthread_create(&thread, NULL, cancel_soon, &exec) == 0);
    pthread_join(thread, NULL);
    atomic_store(&g.go_on, true);
    CHECK(arras_exec_wait(exec, &error) == ARRAS_ECANCEL);
    CHECK_EQ_INT(x, 0);
    CHECK(arras_exec_wait(exec, &error) == ARRAS_EINVAL);
    CHECK_HAS(error.text, "was not started");
    arras_exec_cancel(exec); /* nothing is running: nothing happens */
    CHECK(launches(exec));
    CHECK_EQ_INT(x, 1);
    CHECK(arras_exec_start(exec, NULL) == ARRAS_OK);
    arras_exec_free(exec); /* without a wait */
}

/* ---- No memory ------------------------------------------------------------------------------- */

/* Everything once, for nothing or up to the end. */
static arras_status whole_life(int64_t *seen)
{
    arras_options    options = { .threads = 2, .cache = cache, .compiler = "cc" };
    arras_device    *device = NULL;
    arras_kernel    *k = NULL;
    arras_block     *block = NULL;
    arras_taskgraph *graph = NULL;
    arras_exec      *exec = NULL;
    char            *text = NULL;
    int              memory = 0, node = 0;
    int64_t          one = 1, x = 41;
    arras_status     s = arras_device_open(&device, "cpu", &options, &error);

    if (!s)
        s = arras_kernel_build(&k, device, kernel_source, strlen(kernel_source), "add", &error);
    if (!s)
        s = arras_block_new(&block, device, CELL, &error);
    if (!s)
        s = arras_taskgraph_new(&graph, device, &error);
    if (!s)
        s = arras_taskgraph_add_memalloc(&memory, graph, 0, NULL, CELL, &error);
    if (!s)
        s = arras_taskgraph_add_copy_in(&node, graph, 1, &memory, in_node(memory), &x, CELL,
                                        &error);
    if (!s) {
        arras_arg args[] = { arras_arg_read(in_node(memory)), arras_arg_write(in_block(block)),
                             arras_arg_value(&one, CELL) };
        arras_kernel_call call = { k, 1, 0, 3, args };

        s = arras_taskgraph_add_kernel(&node, graph, 1, &node, &call, &error);
    }
    if (!s)
        s = arras_taskgraph_add_copy_out(&node, graph, 1, &node, seen, in_block(block), CELL,
                                         &error);
    if (!s)
        s = arras_taskgraph_add_memfree(&node, graph, 1, &node, memory, &error);
    if (!s)
        s = arras_taskgraph_print(&text, NULL, graph, &error);
    arras_text_free(text);
    text = NULL;
    if (!s)
        s = arras_taskgraph_instantiate(&exec, graph, &error);
    if (!s)
        s = arras_exec_trace(exec, true, &error);
    if (!s)
        s = arras_exec_launch(exec, &error);
    if (!s)
        s = arras_exec_print(&text, NULL, exec, &error);
    arras_text_free(text);
    arras_exec_free(exec);
    arras_taskgraph_free(graph);
    arras_block_free(block);
    arras_kernel_free(k);
    arras_device_close(device);
    return s;
}

static void no_memory(void)
{
    int64_t live = ar_alloc_live(), seen = 0, n = 1;

    CHECK(whole_life(&seen) == ARRAS_OK);
    for (;; n++) {
        arras_status status;

        ar_alloc_fail_from(n);
        status = whole_life(&seen);
        ar_alloc_fail_from(0);
        if (!CHECK_EQ_INT(ar_alloc_live(), live) || status == ARRAS_OK)
            break;
        CHECK_EQ_INT(status, ARRAS_ENOMEM);
        CHECK_HAS(error.text, "memory");
    }
    CHECK(n > 20);
    CHECK_EQ_INT(seen, 42);
}

TEST_MAIN
{
    device_set_up(3);
    RUN(circles);
    RUN(memory_before_it_is_there);
    RUN(memory_after_its_end);
    RUN(two_that_touch_the_same);
    RUN(copies_that_touch_the_same);
    RUN(bad_nodes);
    RUN(bad_kernels);
    RUN(too_many_nodes);
    RUN(too_much_memory);
    RUN(bad_blocks);
    RUN(bad_sources);
    RUN(null_everywhere);
    RUN(failures_end_a_launch);
    RUN(strange_codes);
    RUN(cancelled_launches);
    RUN(no_memory);
    device_tear_down();
}
