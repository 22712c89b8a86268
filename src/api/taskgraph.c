/* taskgraph.c -- the public face of task graphs on devices: what run/ takes for granted of handles
 * and lists is checked here. */
#include "device/device.h"

static arras_status is_null(arras_error *err, const char *what, const char *which)
{
    return ar_fail(err, ARRAS_EINVAL, "%s: %s is NULL", what, which);
}

/* ---- Devices and their memory ---------------------------------------------------------------- */

arras_status arras_device_open(arras_device **out, const char *name, const arras_options *options,
                               arras_error *err)
{
    return out ? ar_device_open(out, name, options, err) : is_null(err, "device", "out");
}

void arras_device_close(arras_device *device)
{
    if (device)
        ar_device_drop(device);
}

const char *arras_device_name(const arras_device *device)
{
    return device ? device->type->name : NULL;
}

arras_status arras_block_new(arras_block **out, arras_device *device, int64_t bytes,
                             arras_error *err)
{
    return out && device ? ar_block_new(out, device, bytes, err)
                         : is_null(err, "block", "the device or out");
}

void arras_block_free(arras_block *block) { ar_block_drop(block); }

static arras_status check_range(const arras_block *block, int64_t offset, const void *host,
                                int64_t bytes, const char *what, arras_error *err)
{
    if (!block)
        return is_null(err, what, "the block");
    if (!host && bytes > 0)
        return is_null(err, what, "memory of the host");
    if (offset < 0 || bytes < 0 || offset > block->bytes || bytes > block->bytes - offset)
        return ar_fail(err, ARRAS_EINDEX,
                       "%s: %" PRId64 " bytes from byte %" PRId64 " on, in a block of %" PRId64
                       " bytes",
                       what, bytes, offset, block->bytes);
    return ARRAS_OK;
}

arras_status arras_block_write(arras_block *block, int64_t offset, const void *from, int64_t bytes,
                               arras_error *err)
{
    arras_status status = check_range(block, offset, from, bytes, "write", err);

    if (status || bytes == 0)
        return status;
    return block->device->type->copy_in(block->device->state, block->memory, offset, from, bytes,
                                        err);
}

arras_status arras_block_read(void *to, const arras_block *block, int64_t offset, int64_t bytes,
                              arras_error *err)
{
    arras_status status = check_range(block, offset, to, bytes, "read", err);

    if (status || bytes == 0)
        return status;
    return block->device->type->copy_out(block->device->state, to, block->memory, offset, bytes,
                                         err);
}

/* ---- Kernels --------------------------------------------------------------------------------- */

arras_status arras_kernel_build(arras_kernel **out, arras_device *device, const char *source,
                                size_t length, const char *entry, arras_error *err)
{
    if (!out || !device || !source || !entry)
        return is_null(err, "kernel", "the device, the source, the entry or out");
    return ar_kernel_build(out, device, source, length, entry, err);
}

arras_status arras_kernel_native(arras_kernel **out, arras_device *device, const char *name,
                                 arras_native *function, void *context, arras_error *err)
{
    if (!out || !device || !name || !function)
        return is_null(err, "kernel", "the device, the name, the function or out");
    return ar_kernel_native(out, device, name, function, context, err);
}

void arras_kernel_free(arras_kernel *kernel) { ar_kernel_drop(kernel); }

/* ---- Graphs ---------------------------------------------------------------------------------- */

arras_status arras_taskgraph_new(arras_taskgraph **out, arras_device *device, arras_error *err)
{
    return out && device ? ar_device_graph_new(out, device, err)
                         : is_null(err, "task graph", "the device or out");
}

void arras_taskgraph_free(arras_taskgraph *graph)
{
    if (graph)
        ar_device_graph_free(graph);
}

static arras_status add(int *out, arras_taskgraph *graph, int n, const int *after,
                        ar_device_node node, int nargs, const arras_arg *args, arras_error *err)
{
    if (!graph)
        return is_null(err, "task graph", "the graph");
    if (n < 0 || (n > 0 && !after))
        return ar_fail(err, ARRAS_EINVAL, "task graph: a list of %d nodes to wait for%s", n,
                       n > 0 ? " is NULL" : "");
    return ar_device_graph_add(out, graph, n, after, node, nargs, args, err);
}

arras_status arras_taskgraph_add_memalloc(int *out, arras_taskgraph *graph, int n, const int *after,
                                          int64_t bytes, arras_error *err)
{
    ar_device_node node = { .kind = AR_NODE_MEMALLOC, .partner = -1, .bytes = bytes };

    return add(out, graph, n, after, node, 0, NULL, err);
}

arras_status arras_taskgraph_add_memfree(int *out, arras_taskgraph *graph, int n, const int *after,
                                         int memalloc_node, arras_error *err)
{
    ar_device_node node = { .kind = AR_NODE_MEMFREE, .partner = memalloc_node };

    return add(out, graph, n, after, node, 0, NULL, err);
}

arras_status arras_taskgraph_add_kernel(int *out, arras_taskgraph *graph, int n, const int *after,
                                        const arras_kernel_call *call, arras_error *err)
{
    ar_device_node node = { .kind = AR_NODE_KERNEL, .partner = -1 };

    if (!call || !call->kernel)
        return is_null(err, "task graph", "the kernel or its call");
    if (call->nargs < 0 || (call->nargs > 0 && !call->args))
        return ar_fail(err, ARRAS_EINVAL, "task graph: a list of %d arguments%s", call->nargs,
                       call->nargs > 0 ? " is NULL" : "");
    node.kernel = call->kernel;
    node.items = call->items;
    node.grain = call->grain;
    return add(out, graph, n, after, node, call->nargs, call->args, err);
}

static arras_status add_copy(int *out, arras_taskgraph *graph, int n, const int *after,
                             ar_node_kind kind, arras_arg to, arras_arg from, int64_t bytes,
                             arras_error *err)
{
    ar_device_node node = { .kind = kind, .partner = -1, .bytes = bytes };
    arras_arg      args[] = { [ARRAS_COPY_TO] = to, [ARRAS_COPY_FROM] = from };

    return add(out, graph, n, after, node, (int)AR_COUNT(args), args, err);
}

arras_status arras_taskgraph_add_copy_in(int *out, arras_taskgraph *graph, int n, const int *after,
                                         arras_place to, const void *from, int64_t bytes,
                                         arras_error *err)
{
    return add_copy(out, graph, n, after, AR_NODE_COPY_IN, arras_arg_write(to),
                    arras_arg_host(from), bytes, err);
}

arras_status arras_taskgraph_add_copy_out(int *out, arras_taskgraph *graph, int n, const int *after,
                                          void *to, arras_place from, int64_t bytes,
                                          arras_error *err)
{
    return add_copy(out, graph, n, after, AR_NODE_COPY_OUT, arras_arg_host(to),
                    arras_arg_read(from), bytes, err);
}

arras_status arras_taskgraph_add_copy(int *out, arras_taskgraph *graph, int n, const int *after,
                                      arras_place to, arras_place from, int64_t bytes,
                                      arras_error *err)
{
    return add_copy(out, graph, n, after, AR_NODE_COPY, arras_arg_write(to), arras_arg_read(from),
                    bytes, err);
}

arras_status arras_taskgraph_add_join(int *out, arras_taskgraph *graph, int n, const int *after,
                                      arras_error *err)
{
    ar_device_node node = { .kind = AR_NODE_JOIN, .partner = -1 };

    return add(out, graph, n, after, node, 0, NULL, err);
}

arras_status arras_taskgraph_order(arras_taskgraph *graph, int before, int after, arras_error *err)
{
    return graph ? ar_device_graph_order(graph, before, after, err)
                 : is_null(err, "task graph", "the graph");
}

int arras_taskgraph_nodes(const arras_taskgraph *graph) { return graph ? graph->all.nnodes : 0; }

/* Takes over the text, whatever became of it. */
static arras_status hand_over(char **out, size_t *length, ar_text *text, arras_status status,
                              arras_error *err)
{
    if (!status && text->failed)
        status = ar_fail_memory(err, text->capacity);
    if (status) {
        ar_text_free(text);
        return status;
    }
    *out = text->data;
    if (length)
        *length = text->length;
    return ARRAS_OK;
}

arras_status arras_taskgraph_print(char **out, size_t *length, const arras_taskgraph *graph,
                                   arras_error *err)
{
    ar_text      text = { 0 };
    arras_status status;

    if (!out || !graph)
        return is_null(err, "print", "the graph or out");
    status = ar_device_graph_draw(&text, graph, err);
    return hand_over(out, length, &text, status, err);
}

/* ---- Executables ----------------------------------------------------------------------------- */

static arras_status no_exec(arras_error *err)
{
    return is_null(err, "task graph", "the executable");
}

arras_status arras_taskgraph_instantiate(arras_exec **out, const arras_taskgraph *graph,
                                         arras_error *err)
{
    return out && graph ? ar_exec_new(out, graph, err)
                        : is_null(err, "instantiate", "the graph or out");
}

void arras_exec_free(arras_exec *exec)
{
    if (exec)
        ar_exec_free(exec);
}

arras_status arras_exec_launch(arras_exec *exec, arras_error *err)
{
    return exec ? ar_exec_launch(exec, err) : no_exec(err);
}

arras_status arras_exec_start(arras_exec *exec, arras_error *err)
{
    return exec ? ar_exec_start(exec, err) : no_exec(err);
}

arras_status arras_exec_wait(arras_exec *exec, arras_error *err)
{
    return exec ? ar_exec_wait(exec, err) : no_exec(err);
}

void arras_exec_cancel(arras_exec *exec)
{
    if (exec)
        ar_exec_cancel(exec);
}

arras_status arras_exec_update(arras_exec *exec, int n, const arras_update *updates,
                               arras_error *err)
{
    if (!exec)
        return no_exec(err);
    if (n < 0 || (n > 0 && !updates))
        return ar_fail(err, ARRAS_EINVAL, "a list of %d updates%s", n, n > 0 ? " is NULL" : "");
    return ar_exec_update(exec, n, updates, err);
}

arras_status arras_exec_summarize(arras_exec_summary *out, const arras_exec *exec, arras_error *err)
{
    if (!out || !exec)
        return is_null(err, "summary", "the executable or out");
    ar_exec_summarize(out, exec);
    return ARRAS_OK;
}

arras_status arras_exec_trace(arras_exec *exec, bool on, arras_error *err)
{
    return exec ? ar_exec_trace(exec, on, err) : no_exec(err);
}

arras_status arras_exec_print(char **out, size_t *length, const arras_exec *exec, arras_error *err)
{
    ar_text text = { 0 };

    if (!out || !exec)
        return is_null(err, "print", "the executable or out");
    return hand_over(out, length, &text, ar_exec_print(&text, exec, err), err);
}
