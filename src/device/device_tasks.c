/* device_tasks.c -- the nodes of a graph as tasks of the pool: what each does, in how many parts,
 * under which name; and these as a picture. */
#include "device/device.h"

/* ---- What tasks do --------------------------------------------------------------------------- */

static const ar_device_node *node_of(const ar_exec_task *task)
{
    return &task->exec->all.nodes[task->node];
}

static arras_status run_kernel(void *context, int64_t first, int64_t last, int thread,
                               arras_error *err)
{
    const ar_exec_task   *task = context;
    const arras_device   *device = task->exec->all.device;
    const ar_device_node *node = node_of(task);
    const arras_kernel   *kernel = node->kernel;
    bool                  whole = !device->type->divides;
    int64_t               from = whole ? 0 : first * node->grain;
    int64_t               to = whole ? node->items : ar_min64(last * node->grain, node->items);

    (void)thread;
    if (kernel->native)
        return kernel->native(kernel->context, task->call.slots, from, to, err);
    return device->type->launch(device->state, &task->call, from, to, err);
}

static arras_status run_copy(void *context, int64_t first, int64_t last, int thread,
                             arras_error *err)
{
    const ar_exec_task      *task = context;
    const arras_device      *device = task->exec->all.device;
    const ar_device_type    *type = device->type;
    const ar_device_node    *node = node_of(task);
    const ar_device_operand *to = &task->call.operands[ARRAS_COPY_TO];
    const ar_device_operand *from = &task->call.operands[ARRAS_COPY_FROM];
    int64_t                  part = type->copy_part ? type->copy_part : node->bytes;
    int64_t                  at = first * part, bytes = ar_min64(last * part, node->bytes) - at;

    (void)thread;
    if (node->kind == AR_NODE_COPY_IN)
        return type->copy_in(device->state, to->memory, to->offset + at, (char *)from->host + at,
                             bytes, err);
    if (node->kind == AR_NODE_COPY_OUT)
        return type->copy_out(device->state, (char *)to->host + at, from->memory, from->offset + at,
                              bytes, err);
    return type->copy_within(device->state, to->memory, to->offset + at, from->memory,
                             from->offset + at, bytes, err);
}

static int64_t pieces_of(int64_t whole, int64_t piece)
{
    return whole / piece + (whole % piece != 0);
}

/* The function and the number of its parts; memory and joins are but edges. */
static void give_work(ar_task *task, const ar_device_node *node, const ar_device_type *type)
{
    switch (node->kind) {
    case AR_NODE_MEMALLOC:
    case AR_NODE_MEMFREE:
    case AR_NODE_JOIN: return;
    case AR_NODE_KERNEL:
        task->function = run_kernel;
        task->parts = pieces_of(node->items, type->divides ? node->grain : node->items + 1);
        return;
    case AR_NODE_COPY_IN:
    case AR_NODE_COPY_OUT:
    case AR_NODE_COPY:
        task->function = run_copy;
        task->parts = pieces_of(node->bytes, type->copy_part ? type->copy_part : node->bytes + 1);
        return;
    }
}

/* ---- Names ----------------------------------------------------------------------------------- */

static void put_name(ar_text *out, const ar_device_node *node)
{
    switch (node->kind) {
    case AR_NODE_MEMALLOC: ar_text_printf(out, "memalloc %" PRId64 " bytes", node->bytes); break;
    case AR_NODE_MEMFREE: ar_text_printf(out, "memfree of %d", node->partner); break;
    case AR_NODE_KERNEL: ar_text_add(out, node->kernel->name); break;
    case AR_NODE_COPY_IN: ar_text_printf(out, "copy in %" PRId64 " bytes", node->bytes); break;
    case AR_NODE_COPY_OUT: ar_text_printf(out, "copy out %" PRId64 " bytes", node->bytes); break;
    case AR_NODE_COPY: ar_text_printf(out, "copy %" PRId64 " bytes", node->bytes); break;
    case AR_NODE_JOIN: ar_text_add(out, "join"); break;
    }
}

static arras_status name_of(const char **out, const ar_device_node *node, int number,
                            ar_arena *arena, arras_error *err)
{
    ar_text text = { 0 };

    ar_text_printf(&text, "%d: ", number);
    put_name(&text, node);
    *out = text.failed ? NULL : ar_arena_copy(arena, text.data, text.length + 1, 1);
    ar_text_free(&text);
    return *out ? ARRAS_OK : ar_fail_memory(err, AR_NODE_LABEL);
}

/* ---- Tasks ----------------------------------------------------------------------------------- */

static arras_status add_nodes(ar_taskgraph *tasks, const ar_device_nodes *all,
                              ar_exec_task *contexts, ar_arena *arena, arras_error *err)
{
    arras_status status = ARRAS_OK;
    int          number;

    for (int n = 0; n < all->nnodes && !status; n++) {
        ar_task task = { .context = contexts ? &contexts[n] : NULL };

        give_work(&task, &all->nodes[n], all->device->type);
        status = name_of(&task.name, &all->nodes[n], n, arena, err);
        if (!status)
            status = ar_taskgraph_add(&number, tasks, task, err);
    }
    return status;
}

arras_status ar_device_tasks(ar_taskgraph **out, const arras_taskgraph *graph,
                             ar_exec_task *contexts, ar_arena *arena, arras_error *err)
{
    ar_taskgraph *tasks = NULL;
    arras_status  status = ar_taskgraph_new(&tasks, err);

    if (!status)
        status = add_nodes(tasks, &graph->all, contexts, arena, err);
    for (int e = 0; e < graph->nedges && !status; e++)
        status = ar_taskgraph_order(tasks, graph->edges[e].before, graph->edges[e].after, err);
    if (status) {
        ar_taskgraph_free(tasks);
        return status;
    }
    *out = tasks;
    return ARRAS_OK;
}

/* ---- Pictures -------------------------------------------------------------------------------- */

/* Kernels are numbered in the order of their first use; copies have a colour in common. */
static void classify(int *classes, const ar_device_nodes *all)
{
    int next = 1;

    for (int n = 0; n < all->nnodes; n++) {
        const ar_device_node *node = &all->nodes[n];
        bool                  kernel = node->kind == AR_NODE_KERNEL;
        int                   same = kernel ? 0 : n;

        while (same < n && all->nodes[same].kernel != node->kernel)
            same++;
        if (kernel)
            classes[n] = same < n ? classes[same] : next++;
        else
            classes[n] = node->nargs > 0 ? 0 : -1;
    }
}

arras_status ar_device_graph_draw(ar_text *out, const arras_taskgraph *graph, arras_error *err)
{
    ar_arena      arena = { NULL };
    ar_taskgraph *tasks = NULL;
    int          *classes = ar_alloc((size_t)graph->all.nnodes, sizeof *classes);
    arras_status  status = classes ? ar_device_tasks(&tasks, graph, NULL, &arena, err)
                                   : ar_fail_memory(err, sizeof *classes);

    if (!status) {
        classify(classes, &graph->all);
        /* For the levels; a graph with a circle is drawn without. */
        ar_taskgraph_instantiate(tasks, NULL);
        ar_taskgraph_dot(out, tasks, classes);
    }
    ar_taskgraph_free(tasks);
    ar_free(classes);
    ar_arena_free(&arena);
    return status;
}
