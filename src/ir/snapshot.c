/* snapshot.c -- a graph as it is now: what is recorded later is not in it.  Nodes are shared, only
 * the lists of what there is are its own. */
#include "ir/graph.h"

#include <string.h>

static bool copy_list(void *to, const void *from, size_t count, size_t size)
{
    void *copy = ar_alloc(count, size);

    if (!copy)
        return false;
    if (count)
        memcpy(copy, from, count * size);
    memcpy(to, &copy, sizeof copy);
    return true;
}

static bool copy_lists(arras_graph *s, const arras_graph *g)
{
    return copy_list(&s->nodes, g->nodes, g->nnodes, sizeof *g->nodes) &&
           copy_list(&s->affines, g->affines, g->naffines, sizeof *g->affines) &&
           copy_list(&s->sizes, g->sizes, g->nsizes, sizeof *g->sizes) &&
           copy_list(&s->size_dims, g->size_dims, g->nsizes, sizeof *g->size_dims) &&
           copy_list(&s->inputs, g->inputs, g->ninputs, sizeof *g->inputs) &&
           copy_list(&s->outputs, g->outputs, g->noutputs, sizeof *g->outputs) &&
           copy_list(&s->functions, g->functions, g->nfunctions, sizeof *g->functions) &&
           ar_table_copy(&s->named, &g->named) &&
           ar_table_copy(&s->output_names, &g->output_names) &&
           ar_table_copy(&s->function_names, &g->function_names);
}

arras_status ar_graph_snapshot(const arras_graph **out, const arras_graph *g, arras_error *err)
{
    arras_graph *s = ar_alloc(1, sizeof *s);

    if (!s)
        return ar_fail_memory(err, sizeof *s);
    s->whole = g;
    ar_graph_keep(g);
    s->nnodes = g->nnodes;
    s->naffines = g->naffines;
    s->nsizes = g->nsizes;
    s->ninputs = g->ninputs;
    s->noutputs = g->noutputs;
    s->nfunctions = g->nfunctions;
    s->nexprs = g->nexprs;
    s->nparams = g->nparams;
    s->memory_failed = g->memory_failed;
    if (!copy_lists(s, g)) {
        ar_graph_free(s);
        return ar_fail_memory(err, g->nnodes * sizeof *g->nodes);
    }
    *out = s;
    return ARRAS_OK;
}
