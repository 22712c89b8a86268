/* device_exec.c -- executable graphs: instantiated once, launched often. */
#include "device/device.h"

enum { IDLE, BUSY, STARTED };

/* ---- Arguments ------------------------------------------------------------------------------- */

static ar_device_operand operand_of(const arras_exec *exec, const arras_arg *arg)
{
    const arras_place *place = &arg->place;
    ar_device_operand operand = { .offset = place->offset, .bytes = arg->bytes, .host = arg->host };

    if (place->block) {
        operand.memory = place->block->memory;
    } else if (place->node >= 0) {
        operand.memory = exec->memory;
        operand.offset += exec->offsets[place->node];
    }
    return operand;
}

void ar_exec_bind(arras_exec *exec, int node, int i)
{
    const arras_device *device = exec->all.device;
    int                 arg = exec->all.nodes[node].first_arg + i;

    exec->operands[arg] = operand_of(exec, &exec->all.args[arg]);
    if (exec->all.nodes[node].kind == AR_NODE_KERNEL && device->type->bind)
        device->type->bind(device->state, &exec->contexts[node].call, i);
}

static void bind_all(arras_exec *exec)
{
    for (int n = 0; n < exec->all.nnodes; n++) {
        const ar_device_node *node = &exec->all.nodes[n];

        exec->contexts[n] = (ar_exec_task){
            .exec = exec,
            .node = n,
            .call = { .function = node->kernel ? node->kernel->function : NULL,
                      .nargs = node->nargs,
                      .operands = exec->operands + node->first_arg,
                      .slots = exec->slots + node->first_arg },
        };
        for (int i = 0; i < node->nargs; i++)
            ar_exec_bind(exec, n, i);
    }
}

/* ---- Memory ---------------------------------------------------------------------------------- */

typedef struct {
    const arras_exec *exec;
    const int        *nodes; /* the memalloc nodes */
} memalloc_nodes;

/* Memory without an end is needed in the next launch too, so it is never apart from any other. */
static bool pieces_apart(const void *context, int a, int b)
{
    const memalloc_nodes *m = context;
    int                   end_of_a = m->exec->all.nodes[m->nodes[a]].partner;
    int                   end_of_b = m->exec->all.nodes[m->nodes[b]].partner;

    return end_of_a >= 0 && end_of_b >= 0 &&
           (ar_device_path(&m->exec->order, end_of_a, m->nodes[b]) ||
            ar_device_path(&m->exec->order, end_of_b, m->nodes[a]));
}

/* offsets and sizes are of `count` pieces, which are then given to their nodes. */
static arras_status plan_pieces(arras_exec *exec, const int *nodes, int64_t *offsets,
                                int64_t *sizes, int count, arras_error *err)
{
    memalloc_nodes context = { exec, nodes };
    arras_status   status;

    for (int i = 0; i < count; i++)
        sizes[i] = exec->all.nodes[nodes[i]].bytes;
    status = ar_arena_plan(offsets, &exec->planned, count, sizes, pieces_apart, &context, err);
    for (int i = 0; i < count && !status; i++) {
        exec->offsets[nodes[i]] = offsets[i];
        exec->requested += sizes[i];
    }
    return status;
}

static arras_status plan_memory(arras_exec *exec, arras_error *err)
{
    size_t       n = (size_t)exec->all.nnodes;
    int         *nodes = ar_alloc(n, sizeof *nodes), count = 0;
    int64_t     *offsets = ar_alloc(2 * n, sizeof *offsets);
    arras_status status;

    for (int i = 0; nodes && i < exec->all.nnodes; i++)
        if (exec->all.nodes[i].kind == AR_NODE_MEMALLOC)
            nodes[count++] = i;
    status = nodes && offsets ? plan_pieces(exec, nodes, offsets, offsets + n, count, err)
                              : ar_fail_memory(err, 2 * n * sizeof *offsets);
    ar_free(nodes);
    ar_free(offsets);
    if (!status && exec->planned > 0)
        status = exec->all.device->type->alloc(&exec->memory, exec->all.device->state,
                                               exec->planned, err);
    return status;
}

/* ---- Instantiating --------------------------------------------------------------------------- */

static bool alloc_arrays(arras_exec *exec)
{
    size_t nnodes = (size_t)exec->all.nnodes, nargs = (size_t)exec->all.nargs;

    exec->all.nodes = ar_alloc(nnodes, sizeof *exec->all.nodes);
    exec->all.args = ar_alloc(nargs, sizeof *exec->all.args);
    exec->spare = ar_alloc(nargs, sizeof *exec->spare);
    exec->operands = ar_alloc(nargs, sizeof *exec->operands);
    exec->slots = ar_alloc(nargs, sizeof *exec->slots);
    exec->offsets = ar_alloc(nnodes, sizeof *exec->offsets);
    exec->contexts = ar_alloc(nnodes, sizeof *exec->contexts);
    return exec->all.nodes && exec->all.args && exec->spare && exec->operands && exec->slots &&
           exec->offsets && exec->contexts;
}

static bool copy_values(ar_device_nodes *all)
{
    for (int i = 0; i < all->nargs; i++) {
        arras_arg *arg = &all->args[i];

        if (arg->kind != ARRAS_ARG_VALUE)
            continue;
        arg->host = ar_arena_copy(&all->arena, arg->host, (size_t)arg->bytes, 1);
        if (!arg->host)
            return false;
    }
    return true;
}

/* After it, an executable that has nodes has kept what is in them, which is what freeing undoes. */
static arras_status copy_graph(arras_exec *exec, const ar_device_nodes *from, arras_error *err)
{
    ar_device_nodes *all = &exec->all;

    all->nnodes = from->nnodes;
    all->nargs = from->nargs;
    if (!alloc_arrays(exec)) {
        all->nnodes = all->nargs = 0;
        return ar_fail_memory(err, (size_t)from->nnodes * sizeof *all->nodes);
    }
    for (int i = 0; i < all->nnodes; i++) {
        all->nodes[i] = from->nodes[i];
        ar_kernel_keep(all->nodes[i].kernel);
    }
    for (int i = 0; i < all->nargs; i++) {
        all->args[i] = from->args[i];
        ar_block_keep(all->args[i].place.block);
    }
    return copy_values(all) ? ARRAS_OK : ar_fail_memory(err, ARRAS_MAX_ARG_VALUE);
}

static arras_status build(arras_exec *exec, const arras_taskgraph *graph, arras_error *err)
{
    arras_status status = copy_graph(exec, &graph->all, err);

    if (!status)
        status = ar_device_tasks(&exec->tasks, graph, exec->contexts, &exec->all.arena, err);
    if (!status)
        status = ar_taskgraph_instantiate(exec->tasks, err);
    if (!status)
        status = ar_device_order_make(&exec->order, &exec->all, exec->tasks, err);
    if (!status)
        status = ar_device_check(&exec->order, &exec->all, exec->all.args, NULL, err);
    if (!status)
        status = plan_memory(exec, err);
    if (!status)
        bind_all(exec);
    return status;
}

arras_status ar_exec_new(arras_exec **out, const arras_taskgraph *graph, arras_error *err)
{
    arras_exec  *exec = ar_alloc(1, sizeof *exec);
    arras_status status;

    if (!exec)
        return ar_fail_memory(err, sizeof *exec);
    exec->all.device = graph->all.device;
    ar_device_keep(exec->all.device);
    status = build(exec, graph, err);
    if (status) {
        ar_exec_free(exec);
        return status;
    }
    *out = exec;
    return ARRAS_OK;
}

void ar_exec_free(arras_exec *exec)
{
    arras_device *device = exec->all.device;

    ar_taskgraph_free(exec->tasks);
    ar_trace_free(exec->trace);
    for (int i = 0; i < exec->all.nnodes; i++)
        ar_kernel_drop(exec->all.nodes[i].kernel);
    for (int i = 0; i < exec->all.nargs; i++)
        ar_block_drop(exec->all.args[i].place.block);
    if (exec->memory)
        device->type->free(device->state, exec->memory);
    ar_device_order_free(&exec->order);
    ar_arena_free(&exec->all.arena);
    ar_free(exec->all.nodes);
    ar_free(exec->all.args);
    ar_free(exec->spare);
    ar_free(exec->operands);
    ar_free(exec->slots);
    ar_free(exec->offsets);
    ar_free(exec->contexts);
    ar_device_drop(device);
    ar_free(exec);
}

/* ---- Launching ------------------------------------------------------------------------------- */

arras_status ar_exec_claim(arras_exec *exec, const char *what, arras_error *err)
{
    int idle = IDLE;

    if (atomic_compare_exchange_strong(&exec->state, &idle, BUSY))
        return ARRAS_OK;
    return ar_fail(err, ARRAS_EINVAL,
                   "%s while the graph of %d nodes is running: wait for it first", what,
                   exec->all.nnodes);
}

void ar_exec_release(arras_exec *exec) { atomic_store(&exec->state, IDLE); }

static void begin(arras_exec *exec)
{
    if (exec->trace)
        ar_trace_clear(exec->trace);
    atomic_fetch_add(&exec->launches, 1);
}

arras_status ar_exec_launch(arras_exec *exec, arras_error *err)
{
    arras_status status = ar_exec_claim(exec, "a launch", err);

    if (status)
        return status;
    begin(exec);
    status = ar_taskgraph_run(exec->tasks, exec->all.device->pool, err);
    ar_exec_release(exec);
    return status;
}

arras_status ar_exec_start(arras_exec *exec, arras_error *err)
{
    arras_status status = ar_exec_claim(exec, "a start", err);

    if (status)
        return status;
    begin(exec);
    status = ar_taskgraph_start(exec->tasks, exec->all.device->pool, err);
    atomic_store(&exec->state, status ? IDLE : STARTED);
    return status;
}

arras_status ar_exec_wait(arras_exec *exec, arras_error *err)
{
    int          started = STARTED;
    arras_status status;

    if (!atomic_compare_exchange_strong(&exec->state, &started, BUSY))
        return ar_fail(err, ARRAS_EINVAL, "a graph of %d nodes is waited for that was not started",
                       exec->all.nnodes);
    status = ar_taskgraph_wait(exec->tasks, err);
    ar_exec_release(exec);
    return status;
}

void ar_exec_cancel(arras_exec *exec) { ar_taskgraph_cancel(exec->tasks, ARRAS_ECANCEL); }

/* ---- Looking --------------------------------------------------------------------------------- */

static int64_t count_kernels(const ar_device_nodes *all)
{
    int64_t count = 0;

    for (int n = 0; n < all->nnodes; n++) {
        int same = 0;

        while (all->nodes[same].kernel != all->nodes[n].kernel)
            same++;
        count += all->nodes[n].kernel && same == n;
    }
    return count;
}

void ar_exec_summarize(arras_exec_summary *out, const arras_exec *exec)
{
    *out = (arras_exec_summary){ .nodes = exec->all.nnodes,
                                 .edges = ar_taskgraph_edges(exec->tasks),
                                 .kernels = count_kernels(&exec->all),
                                 .requested = exec->requested,
                                 .planned = exec->planned,
                                 .launches = atomic_load(&exec->launches),
                                 .updates = atomic_load(&exec->updates) };
}

static arras_status set_trace(arras_exec *exec, bool on, arras_error *err)
{
    enum { RECORDS = 1 << 16 };
    arras_status status = ARRAS_OK;

    if (on && !exec->trace)
        status = ar_trace_new(&exec->trace, RECORDS, err);
    if (!status)
        ar_taskgraph_trace(exec->tasks, on ? exec->trace : NULL);
    return status;
}

arras_status ar_exec_trace(arras_exec *exec, bool on, arras_error *err)
{
    arras_status status = ar_exec_claim(exec, "a change of tracing", err);

    if (status)
        return status;
    status = set_trace(exec, on, err);
    ar_exec_release(exec);
    return status;
}

arras_status ar_exec_print(ar_text *out, const arras_exec *exec, arras_error *err)
{
    if (atomic_load(&exec->state) != IDLE)
        return ar_fail(err, ARRAS_EINVAL, "print: the graph is running: wait for it first");
    if (!exec->trace)
        return ar_fail(err, ARRAS_EINVAL, "print: no launch was timed: ask for a trace first");
    ar_trace_print(out, exec->tasks, exec->trace, NULL);
    return ARRAS_OK;
}
