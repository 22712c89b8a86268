/* device_kit.h -- for tests of task graphs on devices: a device, kernels, and short words. */
#ifndef DEVICE_KIT_H
#define DEVICE_KIT_H

#include "base/base.h"
#include "test.h"

#include <arras/taskgraph.h>
#include <stdlib.h>
#include <unistd.h>

static arras_device *cpu;
static arras_kernel *add, *scale; /* y = x + c and y = x * c, of 64-bit integers */

static const char kernel_source[] =
    "#include <stdint.h>\n"
    "#define KERNEL(name, op)                                                       \\\n"
    "    void name(void *const *args, int64_t first, int64_t last)                  \\\n"
    "    {                                                                          \\\n"
    "        const int64_t *x = args[0], *c = args[2];                              \\\n"
    "        int64_t *y = args[1];                                                  \\\n"
    "        for (int64_t i = first; i < last; i++)                                 \\\n"
    "            y[i] = x[i] op *c;                                                 \\\n"
    "    }\n"
    "KERNEL(add, +)\n"
    "KERNEL(scale, *)\n";

static inline bool ok(arras_status status, const arras_error *err)
{
    if (!CHECK(status == ARRAS_OK)) {
        printf("    %s\n", err->text);
        return false;
    }
    return true;
}

static inline arras_kernel *built(arras_device *device, const char *entry)
{
    arras_kernel *kernel = NULL;
    arras_error   err;

    ok(arras_kernel_build(&kernel, device, kernel_source, strlen(kernel_source), entry, &err),
       &err);
    return kernel;
}

static inline arras_kernel *native(const char *name, arras_native *function, void *context)
{
    arras_kernel *kernel = NULL;
    arras_error   err;

    ok(arras_kernel_native(&kernel, cpu, name, function, context, &err), &err);
    return kernel;
}

static inline arras_block *block_of(int64_t bytes)
{
    arras_block *block = NULL;
    arras_error  err;

    ok(arras_block_new(&block, cpu, bytes, &err), &err);
    return block;
}

static inline arras_taskgraph *graph_new(void)
{
    arras_taskgraph *graph = NULL;
    arras_error      err;

    ok(arras_taskgraph_new(&graph, cpu, &err), &err);
    return graph;
}

/* -1 when it is refused; *error says why.  after < 0: waits for nothing. */
static arras_error error;

static inline int memalloc(arras_taskgraph *graph, int after, int64_t bytes)
{
    int node = -1;

    arras_taskgraph_add_memalloc(&node, graph, after >= 0, &after, bytes, &error);
    return node;
}

static inline int memfree(arras_taskgraph *graph, int after, int memory)
{
    int node = -1;

    arras_taskgraph_add_memfree(&node, graph, after >= 0, &after, memory, &error);
    return node;
}

static inline int kernel(arras_taskgraph *graph, int after, arras_kernel *which, int64_t items,
                         int nargs, const arras_arg *args)
{
    arras_kernel_call call = { which, items, 0, nargs, args };
    int               node = -1;

    arras_taskgraph_add_kernel(&node, graph, after >= 0, &after, &call, &error);
    return node;
}

/* add or scale */
static inline int apply(arras_taskgraph *graph, int after, arras_kernel *which, arras_place y,
                        arras_place x, int64_t c, int64_t items)
{
    arras_arg args[] = { arras_arg_read(x), arras_arg_write(y), arras_arg_value(&c, sizeof c) };

    return kernel(graph, after, which, items, 3, args);
}

static inline int copy_in(arras_taskgraph *graph, int after, arras_place to, const void *from,
                          int64_t bytes)
{
    int node = -1;

    arras_taskgraph_add_copy_in(&node, graph, after >= 0, &after, to, from, bytes, &error);
    return node;
}

static inline int copy_out(arras_taskgraph *graph, int after, void *to, arras_place from,
                           int64_t bytes)
{
    int node = -1;

    arras_taskgraph_add_copy_out(&node, graph, after >= 0, &after, to, from, bytes, &error);
    return node;
}

static inline int copy(arras_taskgraph *graph, int after, arras_place to, arras_place from,
                       int64_t bytes)
{
    int node = -1;

    arras_taskgraph_add_copy(&node, graph, after >= 0, &after, to, from, bytes, &error);
    return node;
}

static inline int join(arras_taskgraph *graph, int n, const int *after)
{
    int node = -1;

    arras_taskgraph_add_join(&node, graph, n, after, &error);
    return node;
}

static inline arras_place in_node(int node) { return arras_place_in_node(node, 0); }
static inline arras_place in_block(arras_block *block) { return arras_place_in_block(block, 0); }

/* NULL when it is refused. */
static inline arras_exec *instantiated(const arras_taskgraph *graph)
{
    arras_exec *exec = NULL;

    error.text[0] = '\0';
    arras_taskgraph_instantiate(&exec, graph, &error);
    return exec;
}

static inline bool launches(arras_exec *exec)
{
    return ok(arras_exec_launch(exec, &error), &error);
}

static inline arras_exec_summary summary_of(const arras_exec *exec)
{
    arras_exec_summary summary = { 0 };

    CHECK(arras_exec_summarize(&summary, exec, NULL) == ARRAS_OK);
    return summary;
}

static char cache[64];

static inline void device_set_up(int threads)
{
    arras_options options = { .threads = threads, .cache = cache };
    arras_error   err;

    snprintf(cache, sizeof cache, "/tmp/arras-test-XXXXXX");
    CHECK(mkdtemp(cache) != NULL);
    ok(arras_device_open(&cpu, "cpu", &options, &err), &err);
    add = built(cpu, "add");
    scale = built(cpu, "scale");
}

static inline void device_tear_down(void)
{
    char command[100];

    arras_kernel_free(add);
    arras_kernel_free(scale);
    arras_device_close(cpu);
    snprintf(command, sizeof command, "rm -rf '%s'", cache);
    CHECK(system(command) == 0);
}

#endif
