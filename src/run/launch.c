/* launch.c -- a launch from its bindings to its results, at once or in two steps. */
#include "run/launch.h"

#include <string.h>

/* ---- The reference evaluator in place of kernels --------------------------------------------- */

static ar_tensor result_tensor(const arras_buffer *b)
{
    ar_tensor tensor = { .dtype = b->dtype,
                         .rank = b->rank,
                         .shape = b->shape,
                         .strides = b->strides,
                         .data = b->data };

    ar_shape_count(&tensor.count, b->rank, b->shape);
    return tensor;
}

/* Where each output goes: to what is bound, or nowhere else. */
static arras_status find_places(ar_tensor *places, int64_t *strides, const arras_results *results,
                                const ar_sorted *sorted, const arras_graph *g, arras_error *err)
{
    arras_status status = ARRAS_OK;

    for (int i = 0; i < results->count && status == ARRAS_OK; i++) {
        const arras_buffer *made = &results->items[i].buffer;

        places[i] = result_tensor(made);
        if (sorted->outputs[i])
            status = ar_output_check(&places[i], strides + (ptrdiff_t)i * ARRAS_MAX_RANK,
                                     results->items[i].name, &sorted->outputs[i]->buffer,
                                     made->dtype, made->rank, made->shape, err);
    }
    return status == ARRAS_OK ? ar_outputs_apart(g, results->count, places, err) : status;
}

/* Writes the outputs that are bound, once all are known to be good; the results keep the others. */
static arras_status deliver(arras_results *results, ar_sorted *sorted, const arras_graph *g,
                            arras_error *err)
{
    size_t       n = (size_t)results->count;
    ar_tensor   *places = ar_arena_alloc(&sorted->arena, n, sizeof *places);
    int64_t     *strides = ar_arena_alloc(&sorted->arena, n * ARRAS_MAX_RANK, sizeof *strides);
    int          kept = 0;
    arras_status status;

    if (!places || !strides)
        return ar_fail_memory(err, n * sizeof *places);
    status = find_places(places, strides, results, sorted, g, err);
    for (int i = 0; i < results->count && status == ARRAS_OK; i++) {
        ar_tensor from = result_tensor(&results->items[i].buffer);

        if (!sorted->outputs[i]) {
            results->items[kept++] = results->items[i];
            continue;
        }
        ar_cells_copy(&places[i], &from);
        ar_free(from.data);
    }
    if (status == ARRAS_OK)
        results->count = kept;
    return status;
}

static arras_status launch_plain(arras_results **out, const arras_program *p, int n,
                                 const arras_binding *bindings, arras_error *err)
{
    arras_results *results = NULL;
    ar_sorted      sorted;
    arras_status   status = ar_bindings_sort(&sorted, p->g, n, bindings, err);

    if (status == ARRAS_OK)
        status = ar_bindings_check(&sorted, p->g, out != NULL, err);
    if (status == ARRAS_OK)
        status = ar_reference_run(&results, p->g, sorted.ninputs, sorted.inputs, err);
    if (status == ARRAS_OK)
        status = deliver(results, &sorted, p->g, err);
    ar_sorted_close(&sorted);
    if (status == ARRAS_OK && out)
        *out = results;
    else
        ar_results_free(results);
    return status;
}

/* ---- Ends ------------------------------------------------------------------------------------ */

static void count_launch(arras_program *p, const arras_run *run, int64_t allocations)
{
    pthread_mutex_lock(&p->lock);
    p->counters.launches++;
    p->counters.updates = run ? run->updates : 0;
    p->counters.allocations = allocations;
    pthread_mutex_unlock(&p->lock);
}

/* The kernels only know that something is wrong: what it is, the reference evaluator says.  Inputs
 * are as they were, for outputs that share their memory are written last of all. */
static arras_status explain_fault(const arras_run *run, arras_error *err)
{
    arras_results *results = NULL;
    ar_sorted      sorted;
    arras_status   status = ar_run_sorted(&sorted, run, err);

    if (status == ARRAS_OK)
        status = ar_reference_run(&results, run->program->g, sorted.ninputs, sorted.inputs, err);
    ar_sorted_close(&sorted);
    ar_results_free(results);
    return status != ARRAS_OK ? status
                              : ar_fail(err, ARRAS_EINDEX,
                                        "a kernel met an index outside its array "
                                        "that the reference evaluator did not");
}

static arras_status end_run(arras_results **out, arras_run *run, arras_status status,
                            arras_error *err)
{
    if (status == ARRAS_EINDEX && run->core->may_fault)
        status = explain_fault(run, err);
    if (status == ARRAS_OK && out)
        *out = run->results;
    else
        ar_results_free(run->results);
    run->results = NULL;
    return status;
}

static void copy_entries(const arras_run *run)
{
    for (int i = 0; i < run->nentries; i++)
        ar_cells_copy(&run->entries[i].to, &run->entries[i].from);
}

/* ---- At once --------------------------------------------------------------------------------- */

arras_status ar_launch(arras_results **out, arras_program *p, int n, const arras_binding *bindings,
                       arras_error *err)
{
    int64_t      made = ar_alloc_made();
    arras_run   *run;
    arras_status status;

    if (!p->variants) {
        status = launch_plain(out, p, n, bindings, err);
        count_launch(p, NULL, ar_alloc_made() - made);
        return status;
    }
    status = ar_run_bind(&run, p, n, bindings, out != NULL, err);
    if (status != ARRAS_OK)
        return status;
    copy_entries(run);
    ar_instance_begin(run);
    status = ar_taskgraph_run(run->tasks, p->pool, err);
    status = end_run(out, run, status, err);
    count_launch(p, run, ar_alloc_made() - made);
    ar_run_release(run);
    return status;
}

/* ---- In two steps ---------------------------------------------------------------------------- */

static arras_status start_plain(arras_run **out, arras_program *p, int n,
                                const arras_binding *bindings, arras_error *err)
{
    arras_run   *run = ar_alloc(1, sizeof *run);
    arras_status status;

    if (!run)
        return ar_fail_memory(err, sizeof *run);
    run->program = p;
    run->plain = true;
    status = launch_plain(&run->results, p, n, bindings, err);
    if (status == ARRAS_OK)
        *out = run;
    else
        ar_free(run);
    return status;
}

arras_status ar_launch_start(arras_run **out, arras_program *p, int n,
                             const arras_binding *bindings, arras_error *err)
{
    int64_t      made = ar_alloc_made();
    arras_run   *run;
    arras_status status;

    if (!p->variants)
        return start_plain(out, p, n, bindings, err);
    status = ar_run_bind(&run, p, n, bindings, true, err);
    if (status != ARRAS_OK)
        return status;
    copy_entries(run);
    ar_instance_begin(run);
    status = ar_taskgraph_start(run->tasks, p->pool, err);
    run->allocations = ar_alloc_made() - made;
    if (status == ARRAS_OK) {
        *out = run;
        return ARRAS_OK;
    }
    end_run(NULL, run, status, err);
    ar_run_release(run);
    return status;
}

static arras_status wait_plain(arras_results **out, arras_run *run)
{
    if (out)
        *out = run->results;
    else
        ar_results_free(run->results);
    count_launch(run->program, NULL, 0);
    ar_free(run);
    return ARRAS_OK;
}

arras_status ar_launch_wait(arras_results **out, arras_run *run, arras_error *err)
{
    arras_status status;

    if (run->plain)
        return wait_plain(out, run);
    status = ar_taskgraph_wait(run->tasks, err);
    status = end_run(out, run, status, err);
    count_launch(run->program, run, run->allocations);
    ar_run_release(run);
    return status;
}

double ar_launch_progress(const arras_run *run)
{
    return run->plain ? -1 : ar_taskgraph_progress(run->tasks);
}

void ar_launch_cancel(arras_run *run)
{
    if (!run->plain)
        ar_taskgraph_cancel(run->tasks, ARRAS_ECANCEL);
}
