/* taskgraph.h -- task graphs on a device, built by hand: memory, copies, kernels, and what waits
 * for what.  The layer below arras_compile, in the manner of CUDA graphs.
 *
 *   Build        a graph: each node is added with the nodes that it waits for.
 *   Instantiate  once: the graph is checked, its memory is planned in one piece.
 *   Launch       often: nothing is allocated.  In between, arguments may be replaced, many at once.
 *
 *   Ordering.   Nodes without a path between them run in any order and at once.  Two that touch the
 *               same bytes, one of them to write, need a path, or the graph is refused.
 *   Ownership.  What comes through `out` is released once, by the caller, in any order: graphs and
 *               executables keep alive what they use.  Only memory of the host is borrowed: it must
 *               be there while a launch runs that copies to or from it.
 *   Threads.    One thread at a time may touch a graph or an executable, but for arras_exec_cancel.
 *               Several executables may run at once; that no two of them write the same block is
 *               the caller's business. */
#ifndef ARRAS_TASKGRAPH_H
#define ARRAS_TASKGRAPH_H

#include <arras/arras.h>

#ifdef __cplusplus
extern "C" {
#endif

#define ARRAS_MAX_TASKGRAPH_NODES 16384
#define ARRAS_MAX_KERNEL_ARGS     1024
#define ARRAS_MAX_ARG_VALUE       4096 /* bytes */

/* ---- Devices and their memory ---------------------------------------------------------------- */

typedef struct arras_device arras_device;
typedef struct arras_block  arras_block; /* memory of a device */

/* name: "cpu", or NULL for the same.  Of the options (NULL: the defaults) those count that are
 * about threads, the compiler and the cache on disk. */
ARRAS_API arras_status arras_device_open(arras_device **out, const char *name,
                                         const arras_options *options, arras_error *err);
ARRAS_API void         arras_device_close(arras_device *device); /* NULL is fine, here and below */
ARRAS_API const char  *arras_device_name(const arras_device *device); /* NULL for NULL */

/* Memory that no graph owns, for what stays from launch to launch.  It starts as zeros. */
ARRAS_API arras_status arras_block_new(arras_block **out, arras_device *device, int64_t bytes,
                                       arras_error *err);
ARRAS_API void         arras_block_free(arras_block *block);
ARRAS_API arras_status arras_block_write(arras_block *block, int64_t offset, const void *from,
                                         int64_t bytes, arras_error *err);
ARRAS_API arras_status arras_block_read(void *to, const arras_block *block, int64_t offset,
                                        int64_t bytes, arras_error *err);

/* ---- Kernels --------------------------------------------------------------------------------- */

typedef struct arras_kernel arras_kernel;

/* Compiles a source and finds a function in it.  For the CPU the source is C and the function
 *
 *     void entry(void *const *args, int64_t first, int64_t last)
 *
 * does the work items first <= i < last.  args[k] is the address of argument k: of device memory,
 * or of a value, which is aligned to 16 bytes.  The function is called by several threads at once
 * for different items; how items are cut into calls depends on chance, so results must not.
 * <stdint.h> and <math.h> may be included; besides the maths library nothing is linked.  A source
 * that was built before is not built again. */
ARRAS_API arras_status arras_kernel_build(arras_kernel **out, arras_device *device,
                                          const char *source, size_t length, const char *entry,
                                          arras_error *err);

/* A function of the program itself, called in the same way; where it does not return ARRAS_OK, the
 * launch ends with its error.  The context is borrowed.  Only for devices that share the memory of
 * the host, as the CPU does. */
typedef arras_status arras_native(void *context, void *const *args, int64_t first, int64_t last,
                                  arras_error *err);
ARRAS_API arras_status arras_kernel_native(arras_kernel **out, arras_device *device,
                                           const char *name, arras_native *function, void *context,
                                           arras_error *err);
ARRAS_API void         arras_kernel_free(arras_kernel *kernel);

/* ---- Places and arguments -------------------------------------------------------------------- */

/* A place in device memory: in a block, or in what a memalloc node of the same graph gives. */
typedef struct arras_place {
    arras_block *block; /* NULL: memory of the node */
    int          node;
    int64_t      offset; /* bytes */
} arras_place;

static inline arras_place arras_place_in_block(arras_block *block, int64_t offset)
{
    arras_place place = { block, -1, offset };
    return place;
}
static inline arras_place arras_place_in_node(int memalloc_node, int64_t offset)
{
    arras_place place = { NULL, memalloc_node, offset };
    return place;
}

typedef enum {
    ARRAS_ARG_READ, /* device memory that is only read */
    ARRAS_ARG_WRITE,
    ARRAS_ARG_READ_WRITE,
    ARRAS_ARG_VALUE, /* a number or a struct; copied */
    ARRAS_ARG_HOST,  /* memory of the caller; only in updates of copies */
    ARRAS_ARG_END
} arras_arg_kind;

typedef struct arras_arg {
    arras_arg_kind kind;
    arras_place    place;
    int64_t        bytes; /* from that place on, that are touched (0: up to the end); of a value */
    void          *host;  /* a value, or memory of the caller */
} arras_arg;

static inline arras_arg arras_arg_memory(arras_arg_kind kind, arras_place place, int64_t bytes)
{
    arras_arg arg = { kind, place, bytes, NULL };
    return arg;
}
static inline arras_arg arras_arg_read(arras_place place)
{
    return arras_arg_memory(ARRAS_ARG_READ, place, 0);
}
static inline arras_arg arras_arg_write(arras_place place)
{
    return arras_arg_memory(ARRAS_ARG_WRITE, place, 0);
}
static inline arras_arg arras_arg_read_write(arras_place place)
{
    return arras_arg_memory(ARRAS_ARG_READ_WRITE, place, 0);
}
static inline arras_arg arras_arg_value(const void *value, int64_t bytes)
{
    arras_arg arg = { ARRAS_ARG_VALUE, { NULL, -1, 0 }, bytes, (void *)value };
    return arg;
}
static inline arras_arg arras_arg_host(const void *memory)
{
    arras_arg arg = { ARRAS_ARG_HOST, { NULL, -1, 0 }, 0, (void *)memory };
    return arg;
}

/* ---- Graphs ---------------------------------------------------------------------------------- */

typedef struct arras_taskgraph arras_taskgraph;

ARRAS_API arras_status arras_taskgraph_new(arras_taskgraph **out, arras_device *device,
                                           arras_error *err);
ARRAS_API void         arras_taskgraph_free(arras_taskgraph *graph);

/* Every node is a number, from 0 in the order of adding; *out, where it is not NULL, is set to it.
 * after: the n nodes that it waits for. */

/* Memory that can be used by nodes after this one, and before the memfree node that ends it.  Its
 * bytes are not set to anything.  Without a memfree node they stay from launch to launch, and start
 * as zeros. */
ARRAS_API arras_status arras_taskgraph_add_memalloc(int *out, arras_taskgraph *graph, int n,
                                                    const int *after, int64_t bytes,
                                                    arras_error *err);
/* Ends the memory of a memalloc node: nodes after this one may be given the same bytes. */
ARRAS_API arras_status arras_taskgraph_add_memfree(int *out, arras_taskgraph *graph, int n,
                                                   const int *after, int memalloc_node,
                                                   arras_error *err);

typedef struct arras_kernel_call {
    arras_kernel    *kernel;
    int64_t          items; /* 0: nothing to do */
    int64_t          grain; /* at least so many items for each call of the function; 0: 1 */
    int              nargs;
    const arras_arg *args; /* copied */
} arras_kernel_call;
ARRAS_API arras_status arras_taskgraph_add_kernel(int *out, arras_taskgraph *graph, int n,
                                                  const int *after, const arras_kernel_call *call,
                                                  arras_error *err);

/* Host to device, device to host, device to device.  The two sides must not overlap. */
ARRAS_API arras_status arras_taskgraph_add_copy_in(int *out, arras_taskgraph *graph, int n,
                                                   const int *after, arras_place to,
                                                   const void *from, int64_t bytes,
                                                   arras_error *err);
ARRAS_API arras_status arras_taskgraph_add_copy_out(int *out, arras_taskgraph *graph, int n,
                                                    const int *after, void *to, arras_place from,
                                                    int64_t bytes, arras_error *err);
ARRAS_API arras_status arras_taskgraph_add_copy(int *out, arras_taskgraph *graph, int n,
                                                const int *after, arras_place to, arras_place from,
                                                int64_t bytes, arras_error *err);
/* Does nothing: one node to wait for instead of n. */
ARRAS_API arras_status arras_taskgraph_add_join(int *out, arras_taskgraph *graph, int n,
                                                const int *after, arras_error *err);

/* One more edge between nodes that are there. */
ARRAS_API arras_status arras_taskgraph_order(arras_taskgraph *graph, int before, int after,
                                             arras_error *err);
ARRAS_API int          arras_taskgraph_nodes(const arras_taskgraph *graph); /* added so far */
/* A picture for Graphviz, also of graphs that are refused; nodes of one kernel have one colour. */
ARRAS_API arras_status arras_taskgraph_print(char **out, size_t *length,
                                             const arras_taskgraph *graph, arras_error *err);

/* ---- Executables ----------------------------------------------------------------------------- */

typedef struct arras_exec arras_exec;

/* Refused, with the nodes named: nodes that wait for each other in a circle; memory used before its
 * memalloc node, or after its memfree node, or without a path that says which; two nodes that touch
 * the same bytes with no path between them, of which one writes.  The graph may then be freed, or
 * changed and instantiated again. */
ARRAS_API arras_status arras_taskgraph_instantiate(arras_exec **out, const arras_taskgraph *graph,
                                                   arras_error *err);
ARRAS_API void         arras_exec_free(arras_exec *exec); /* cancels what was started */

/* Runs all nodes and returns when they are done.  What fails ends the launch; nodes that have not
 * started are then left out.  The executable may be launched again in any case. */
ARRAS_API arras_status arras_exec_launch(arras_exec *exec, arras_error *err);
/* The same in two steps, each start with one wait. */
ARRAS_API arras_status arras_exec_start(arras_exec *exec, arras_error *err);
ARRAS_API arras_status arras_exec_wait(arras_exec *exec, arras_error *err);
/* From any thread: the launch in progress, if any, returns ARRAS_ECANCEL soon. */
ARRAS_API void         arras_exec_cancel(arras_exec *exec);

/* The arguments of a copy, for updates. */
enum { ARRAS_COPY_TO, ARRAS_COPY_FROM };

typedef struct arras_update {
    int       node; /* a kernel or a copy */
    int       arg;  /* number of the kernel's argument, or one of the two above */
    arras_arg with; /* of the same kind as before; a value, of the same size */
} arras_update;
/* Replaces arguments between launches: all of them, or none and an error.  What instantiating
 * refuses is refused here too. */
ARRAS_API arras_status arras_exec_update(arras_exec *exec, int n, const arras_update *updates,
                                         arras_error *err);

typedef struct arras_exec_summary {
    int64_t nodes, edges;
    int64_t kernels;   /* different ones */
    int64_t requested; /* sum of the memory of all memalloc nodes, in bytes */
    int64_t planned;   /* what they take together */
    int64_t launches;
    int64_t updates; /* arguments that did change */
} arras_exec_summary;
ARRAS_API arras_status arras_exec_summarize(arras_exec_summary *out, const arras_exec *exec,
                                            arras_error *err);

/* From now on launches are timed, or no more. */
ARRAS_API arras_status arras_exec_trace(arras_exec *exec, bool on, arras_error *err);
/* The last launch that was timed, as JSON for Perfetto or chrome://tracing. */
ARRAS_API arras_status arras_exec_print(char **out, size_t *length, const arras_exec *exec,
                                        arras_error *err);

#ifdef __cplusplus
}
#endif

#endif
