/* graph.c -- graphs: their life, their inputs and outputs, and walks over what outputs need. */
#include "ir/graph.h"

#include <string.h>

/* ---- Life ------------------------------------------------------------------------------------ */

static const int64_t memory_code[] = { ARRAS_ENOMEM };
static const char    memory_text[] = "out of memory while the program was recorded";

static void init_memory_poison(arras_graph *g)
{
    g->memory_node = (struct arras_node){ .kind = AR_POISON,
                                          .rank = -1,
                                          .graph = g,
                                          .id = -1,
                                          .name = memory_text,
                                          .nints = 1,
                                          .ints = memory_code };
    g->memory_expr = (struct arras_expr_node){ .kind = AR_EXPR_POISON,
                                               .graph = g,
                                               .id = -1,
                                               .name = memory_text,
                                               .nints = 1,
                                               .ints = memory_code };
    g->memory_function = (struct arras_funcdef){
        .name = "", .error = memory_text, .code = ARRAS_ENOMEM, .graph = g, .id = -1
    };
}

arras_status ar_graph_new(arras_graph **out, arras_error *err)
{
    static const ar_affine no_memory = { .error = memory_text };
    arras_graph           *g = ar_alloc(1, sizeof *g);

    if (!g)
        return ar_fail_memory(err, sizeof *g);
    init_memory_poison(g);
    if (!ar_grow(&g->affines, &g->affines_room, 0, sizeof *g->affines)) {
        ar_graph_free(g);
        return ar_fail_memory(err, sizeof *g->affines);
    }
    g->affines[AR_AFFINE_MEMORY] = &no_memory;
    g->naffines = 1;
    *out = g;
    return ARRAS_OK;
}

void ar_graph_keep(const arras_graph *g)
{
    /* Who keeps a graph changes nothing that others see of it. */
    atomic_fetch_add(&((arras_graph *)g)->kept, 1);
}

void ar_graph_free(arras_graph *g)
{
    if (!g || atomic_fetch_sub(&g->kept, 1) > 0)
        return;
    for (size_t i = 0; i < g->nblocks; i++)
        ar_free(g->blocks[i]);
    ar_table_free(&g->node_set);
    ar_table_free(&g->expr_set);
    ar_table_free(&g->affine_set);
    ar_table_free(&g->named);
    ar_table_free(&g->output_names);
    ar_table_free(&g->function_names);
    ar_free(g->nodes);
    ar_free(g->affines);
    ar_free(g->sizes);
    ar_free(g->size_dims);
    ar_free(g->inputs);
    ar_free(g->outputs);
    ar_free(g->functions);
    ar_free(g->blocks);
    ar_free(g->bound);
    ar_arena_free(&g->arena);
    ar_graph_free((arras_graph *)(uintptr_t)g->whole);
    ar_free(g);
}

/* ---- Names ----------------------------------------------------------------------------------- */

const char *ar_string_keep(arras_graph *g, const char *string, size_t length)
{
    char *kept = ar_arena_alloc(&g->arena, length + 1, 1); /* zeroed: ends with NUL */

    if (kept)
        memcpy(kept, string, length);
    return kept;
}

static bool named_same(const void *item, const void *key)
{
    return strcmp(((const ar_named *)item)->name, key) == 0;
}

const ar_named *ar_named_find(const arras_graph *g, const char *name)
{
    return ar_table_find(&g->named, ar_hash_bytes(0, name, strlen(name)), named_same, name);
}

bool ar_named_add(arras_graph *g, ar_named named)
{
    const ar_named *kept = ar_arena_copy(&g->arena, &named, 1, sizeof named);

    return kept && ar_table_add(&g->named, ar_hash_bytes(0, named.name, strlen(named.name)), kept);
}

/* ---- Parts ----------------------------------------------------------------------------------- */

bool        ar_graph_memory_failed(const arras_graph *g) { return g->memory_failed; }
int64_t     ar_graph_count(const arras_graph *g) { return (int64_t)g->nnodes; }
arras_array ar_graph_node(const arras_graph *g, int64_t id) { return g->nodes[id]; }
int         ar_graph_input_count(const arras_graph *g) { return (int)g->ninputs; }
arras_array ar_graph_input(const arras_graph *g, int i) { return g->inputs[i]; }

arras_array ar_graph_input_find(const arras_graph *g, const char *name)
{
    const ar_named *known = ar_named_find(g, name);

    return known ? known->input : NULL;
}

int              ar_graph_output_count(const arras_graph *g) { return (int)g->noutputs; }
const ar_output *ar_graph_output(const arras_graph *g, int i) { return &g->outputs[i]; }
int              ar_graph_function_count(const arras_graph *g) { return (int)g->nfunctions; }
arras_function   ar_graph_function(const arras_graph *g, int i) { return g->functions[i]; }

static bool string_same(const void *item, const void *key) { return strcmp(item, key) == 0; }

static arras_array check_output(arras_graph *g, const char *name, arras_array x)
{
    if (!name || !ar_name_valid(name, strlen(name)))
        return ar_poison(g, ARRAS_ENAME,
                         "output '%.255s': a name is letters, digits, '_' and '.', "
                         "starts with a letter or '_', and has at most 255 bytes",
                         name ? name : "");
    if (ar_table_find(&g->output_names, ar_hash_bytes(0, name, strlen(name)), string_same, name))
        return ar_poison(g, ARRAS_ENAME,
                         "output '%s' exists already: give each output its own name", name);
    if (!x || (x->graph && x->graph != g))
        return ar_poison(g, ARRAS_EINVAL, "output '%s': the array is %s", name,
                         x ? "of another graph" : "NULL");
    if (x->kind == AR_CALL)
        return ar_poison(g, ARRAS_EINVAL, "output '%s' is a call, not one of its results", name);
    return x;
}

/* A wrong output is kept too, as poison: the mistake must come to light
 * when the program is run, even if nobody looks at what this returns. */
arras_array ar_graph_output_add(arras_graph *g, const char *name, arras_array x)
{
    arras_array checked = check_output(g, name, x);
    const char *kept = ar_string_keep(g, name ? name : "", name ? strlen(name) : 0);

    if (!kept || !ar_grow(&g->outputs, &g->outputs_room, g->noutputs, sizeof *g->outputs) ||
        !ar_table_add(&g->output_names, ar_hash_bytes(0, kept, strlen(kept)), kept))
        return ar_poison_memory(g);
    g->outputs[g->noutputs++] = (ar_output){ kept, checked };
    return checked;
}

arras_status ar_graph_roots(arras_array **out, const arras_graph *g, arras_error *err)
{
    arras_array *roots = ar_alloc(g->noutputs, sizeof *roots);

    if (!roots)
        return ar_fail_memory(err, g->noutputs * sizeof *roots);
    for (size_t i = 0; i < g->noutputs; i++)
        roots[i] = g->outputs[i].array;
    *out = roots;
    return ARRAS_OK;
}

/* ---- Walks ----------------------------------------------------------------------------------- */

/* The number of nodes a walk from roots can meet: inputs have smaller ids than their users. */
static size_t reach_limit(int n, const arras_array *roots)
{
    int64_t last = -1;

    for (int i = 0; i < n; i++)
        last = ar_max64(last, roots[i]->id);
    return (size_t)(last + 1);
}

static bool mark(bool *needed, arras_array x)
{
    bool is_new = x->id >= 0 && !needed[x->id];

    if (is_new)
        needed[x->id] = true;
    return is_new;
}

/* Down from the last root, and no further than there are marked nodes left: the body of a function
 * costs what it is, not what the whole graph is.  *first becomes the smallest id. */
static int64_t mark_reachable(bool *needed, int64_t *first, const arras_graph *g, int n,
                              const arras_array *roots)
{
    int64_t id = (int64_t)reach_limit(n, roots), count = 0, left = 0;

    for (int i = 0; i < n; i++)
        left += mark(needed, roots[i]);
    while (left > 0) {
        if (!needed[--id])
            continue;
        count++, left--;
        for (int i = 0; i < g->nodes[id]->ninputs; i++)
            left += mark(needed, g->nodes[id]->inputs[i]);
    }
    *first = id;
    return count;
}

arras_status ar_reach(arras_array **out, int64_t *count, const arras_graph *g, int n,
                      const arras_array *roots, arras_error *err)
{
    size_t       limit = reach_limit(n, roots);
    bool        *needed = ar_alloc(limit, sizeof *needed);
    arras_array *list = NULL;
    int64_t      total, first, at = 0;

    if (!needed)
        return ar_fail_memory(err, limit);
    total = mark_reachable(needed, &first, g, n, roots);
    list = ar_alloc((size_t)total, sizeof *list);
    for (size_t id = (size_t)first; list && id < limit; id++)
        if (needed[id])
            list[at++] = g->nodes[id];
    ar_free(needed);
    if (!list)
        return ar_fail_memory(err, (size_t)total * sizeof *list);
    *out = list;
    *count = total;
    return ARRAS_OK;
}

static void mark_calls(bool *called, int64_t n, const arras_array *nodes)
{
    for (int64_t i = 0; i < n; i++)
        if (nodes[i]->kind == AR_CALL)
            called[((arras_function)nodes[i]->ref)->id] = true;
}

arras_status ar_reach_functions(bool *called, const arras_graph *g, int64_t n,
                                const arras_array *nodes, arras_error *err)
{
    for (size_t f = 0; f < g->nfunctions; f++)
        called[f] = false;
    mark_calls(called, n, nodes);
    /* A function calls only functions that were defined before it. */
    for (size_t f = g->nfunctions; f-- > 0;) {
        arras_function def = g->functions[f];
        arras_array   *body;
        int64_t        count;
        arras_status   status;

        if (!called[f])
            continue;
        if ((status = ar_reach(&body, &count, g, def->nresults, def->results, err)) != ARRAS_OK)
            return status;
        mark_calls(called, count, body);
        ar_free(body);
    }
    return ARRAS_OK;
}

static arras_status check_params(const arras_graph *g, int n, const arras_array *roots,
                                 arras_error *err)
{
    arras_array *nodes;
    int64_t      count;
    arras_status status = ar_reach(&nodes, &count, g, n, roots, err);

    if (status != ARRAS_OK)
        return status;
    for (int64_t i = 0; i < count && status == ARRAS_OK; i++)
        if (nodes[i]->kind == AR_PARAM)
            status =
                ar_fail(err, ARRAS_EINVAL,
                        "an output uses the parameter '%s' outside its function: call the function",
                        nodes[i]->name);
    ar_free(nodes);
    return status;
}

arras_status ar_graph_check(const arras_graph *g, arras_error *err)
{
    arras_array *roots = NULL;
    arras_status status;

    if (g->memory_failed)
        return ar_fail(err, ARRAS_ENOMEM, "%s", memory_text);
    if (g->noutputs == 0)
        return ar_fail(err, ARRAS_EINVAL, "the program has no outputs: name one with arras_output");
    for (size_t i = 0; i < g->noutputs; i++)
        if (ar_is_poison(g->outputs[i].array))
            return ar_fail(err, (arras_status)g->outputs[i].array->ints[0], "%s",
                           g->outputs[i].array->name);
    if (g->nparams == 0)
        return ARRAS_OK;
    if ((status = ar_graph_roots(&roots, g, err)) != ARRAS_OK)
        return status;
    status = check_params(g, (int)g->noutputs, roots, err);
    ar_free(roots);
    return status;
}
