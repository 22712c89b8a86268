/* function.c -- functions of a program: traced once with parameters, called often with arrays. */
#include "ir/graph.h"

#include <string.h>

enum { MAX_CALL_DEPTH = 100, MAX_PARTS = 10000 };

/* ---- Definition ------------------------------------------------------------------------------ */

static arras_status check_names(const char *name, int n, const char *const *names, arras_error *err)
{
    for (int i = 0; i < n; i++) {
        if (!names[i] || !ar_name_valid(names[i], strlen(names[i])))
            return ar_fail(err, ARRAS_ENAME, "function '%s': result %d has no proper name", name,
                           i);
        for (int j = 0; j < i; j++)
            if (strcmp(names[i], names[j]) == 0)
                return ar_fail(err, ARRAS_ENAME, "function '%s': two results are called '%s'", name,
                               names[i]);
    }
    return ARRAS_OK;
}

static arras_status check_parts(const arras_graph *g, const char *name, const char *what, int n,
                                const arras_array *xs, arras_error *err)
{
    if (n > 0 && !xs)
        return ar_fail(err, ARRAS_EINVAL, "function '%s': the %ss are NULL", name, what);
    if (n < 0 || n > MAX_PARTS)
        return ar_fail(err, ARRAS_EINVAL, "function '%s': %d %ss; there may be 0..%d", name, n,
                       what, MAX_PARTS);
    for (int i = 0; i < n; i++) {
        if (!xs[i] || (xs[i]->graph && xs[i]->graph != g))
            return ar_fail(err, ARRAS_EINVAL, "function '%s': %s %d is %s", name, what, i,
                           xs[i] ? "of another graph" : "NULL");
        if (ar_is_poison(xs[i]))
            return ar_fail(err, (arras_status)xs[i]->ints[0], "function '%s': %s", name,
                           xs[i]->name);
        if (xs[i]->kind == AR_CALL)
            return ar_fail(err, ARRAS_EINVAL,
                           "function '%s': %s %d is a call, not one of its results", name, what, i);
    }
    return ARRAS_OK;
}

static arras_status check_params(const char *name, int n, const arras_array *params,
                                 arras_error *err)
{
    for (int i = 0; i < n; i++) {
        if (params[i]->kind != AR_PARAM)
            return ar_fail(err, ARRAS_EINVAL,
                           "function '%s': parameter %d was not made by arras_param", name, i);
        for (int j = 0; j < i; j++)
            if (strcmp(params[i]->name, params[j]->name) == 0)
                return ar_fail(err, ARRAS_ENAME, "function '%s': two parameters are called '%s'",
                               name, params[i]->name);
    }
    return ARRAS_OK;
}

static bool is_one_of(arras_array x, int n, const arras_array *xs)
{
    for (int i = 0; i < n; i++)
        if (xs[i] == x)
            return true;
    return false;
}

/* A body sees its parameters and data, nothing else; *depth becomes that of the calls within. */
static arras_status check_body(int *depth, const arras_graph *g, const char *name, int nparams,
                               const arras_array *params, int nresults, const arras_array *results,
                               arras_error *err)
{
    arras_array *nodes;
    int64_t      count;
    arras_status status = ar_reach(&nodes, &count, g, nresults, results, err);

    if (status != ARRAS_OK)
        return status;
    *depth = 0;
    for (int64_t i = 0; i < count && status == ARRAS_OK; i++) {
        if (nodes[i]->kind == AR_INPUT)
            status = ar_fail(err, ARRAS_EINVAL,
                             "function '%s' reads the input '%s': pass it as a parameter", name,
                             nodes[i]->name);
        else if (nodes[i]->kind == AR_PARAM && !is_one_of(nodes[i], nparams, params))
            status = ar_fail(err, ARRAS_EINVAL,
                             "function '%s' uses the parameter '%s' of another function", name,
                             nodes[i]->name);
        else if (nodes[i]->kind == AR_CALL && ((arras_function)nodes[i]->ref)->depth >= *depth)
            *depth = ((arras_function)nodes[i]->ref)->depth + 1;
    }
    ar_free(nodes);
    if (status == ARRAS_OK && *depth > MAX_CALL_DEPTH)
        status = ar_fail(err, ARRAS_ELIMIT, "function '%s': calls are nested more than %d deep",
                         name, MAX_CALL_DEPTH);
    return status;
}

static bool function_is_called(const void *item, const void *key)
{
    return strcmp(((arras_function)item)->name, key) == 0;
}

arras_function ar_function_find(const arras_graph *g, const char *name)
{
    uint64_t hash = ar_hash_bytes(0, name, strlen(name));

    return ar_table_find(&g->function_names, hash, function_is_called, name);
}

static arras_status check_function(int *depth, const arras_graph *g, const char *name, int nparams,
                                   const arras_array *params, int nresults,
                                   const char *const *names, const arras_array *results,
                                   arras_error *err)
{
    arras_status status;

    if (!name || !ar_name_valid(name, strlen(name)))
        return ar_fail(err, ARRAS_ENAME, "function '%.255s' has no proper name", name ? name : "");
    if (ar_function_find(g, name))
        return ar_fail(err, ARRAS_ENAME, "function '%s' is defined twice", name);
    if ((status = check_parts(g, name, "parameter", nparams, params, err)) != ARRAS_OK ||
        (status = check_parts(g, name, "result", nresults, results, err)) != ARRAS_OK)
        return status;
    if (nresults == 0 || !names)
        return ar_fail(err, ARRAS_EINVAL, "function '%s' has no results, or they have no names",
                       name);
    if ((status = check_names(name, nresults, names, err)) != ARRAS_OK ||
        (status = check_params(name, nparams, params, err)) != ARRAS_OK)
        return status;
    return check_body(depth, g, name, nparams, params, nresults, results, err);
}

static arras_function function_memory(arras_graph *g)
{
    g->memory_failed = true;
    return &g->memory_function;
}

static arras_function poison_function(arras_graph *g, const arras_error *err)
{
    struct arras_funcdef f = { .name = "", .graph = g, .id = -1, .code = err->code };
    arras_function       kept;

    f.error = ar_string_keep(g, err->text, strlen(err->text));
    kept = ar_arena_copy(&g->arena, &f, 1, sizeof f);
    return f.error && kept && err->code != ARRAS_ENOMEM ? kept : function_memory(g);
}

static const char *const *keep_names(arras_graph *g, int n, const char *const *names)
{
    const char **kept = ar_arena_alloc(&g->arena, (size_t)n, sizeof *kept);

    for (int i = 0; kept && i < n; i++)
        if (!(kept[i] = ar_string_keep(g, names[i], strlen(names[i]))))
            return NULL;
    return (const char *const *)kept;
}

arras_function ar_function_new(arras_graph *g, const char *name, int nparams,
                               const arras_array *params, int nresults, const char *const *names,
                               const arras_array *results)
{
    struct arras_funcdef f = {
        .graph = g, .nparams = nparams, .nresults = nresults, .id = (int)g->nfunctions
    };
    arras_function kept;
    arras_error    err;

    if (check_function(&f.depth, g, name, nparams, params, nresults, names, results, &err) !=
        ARRAS_OK)
        return poison_function(g, &err);
    f.name = ar_string_keep(g, name, strlen(name));
    f.params = ar_arena_copy(&g->arena, params, (size_t)nparams, sizeof *params);
    f.results = ar_arena_copy(&g->arena, results, (size_t)nresults, sizeof *results);
    f.result_names = keep_names(g, nresults, names);
    kept = ar_arena_copy(&g->arena, &f, 1, sizeof f);
    if (!f.name || !f.params || !f.results || !f.result_names || !kept ||
        !ar_grow(&g->functions, &g->functions_room, g->nfunctions, sizeof *g->functions) ||
        !ar_table_add(&g->function_names, ar_hash_bytes(0, name, strlen(name)), kept))
        return function_memory(g);
    g->functions[g->nfunctions++] = kept;
    return kept;
}

/* ---- Call ------------------------------------------------------------------------------------ */

/* sizes[k] becomes what size k of the function is in this call: from `dim` (of the function) =
 * `arg`. */
typedef enum { SETTLED, OPEN, CONFLICT } outcome;

static outcome match_dim(arras_graph *g, arras_dim *sizes, arras_dim dim, arras_dim arg)
{
    const ar_affine *affine = ar_dim_affine(g, dim);
    arras_dim        rest = arg;
    ar_term          unknown = { -1, 0 };

    if (!affine)
        return dim == arg ? SETTLED : CONFLICT;
    rest = ar_dim_sub(g, rest, affine->constant);
    for (int i = 0; i < affine->nterms; i++) {
        ar_term term = affine->terms[i];

        if (sizes[term.size] != ARRAS_NONE) {
            rest = ar_dim_sub(g, rest, ar_dim_mul(g, sizes[term.size], term.factor));
        } else {
            if (unknown.size >= 0)
                return OPEN;
            unknown = term;
        }
    }
    if (unknown.size < 0)
        return rest == 0 ? SETTLED : CONFLICT;
    /* Half of a symbolic size may not be whole: another axis may settle it. */
    if (!ar_dim_divide(&rest, g, rest, unknown.factor))
        return ar_dim_symbolic(rest) && !ar_dim_error(g, rest) ? OPEN : CONFLICT;
    if (!ar_dim_symbolic(rest) && rest < 0)
        return CONFLICT;
    sizes[unknown.size] = rest;
    return SETTLED;
}

static arras_status fail_argument(arras_function f, int param, arras_array arg, int axis,
                                  arras_error *err)
{
    ar_text text = { 0 };

    ar_node_describe(&text, f->params[param]);
    ar_text_add(&text, ", the argument is ");
    ar_node_type_print(&text, arg);
    if (axis >= 0)
        ar_text_printf(&text, ": axis %d does not fit", axis);
    else if (arg->rank == f->params[param]->rank)
        ar_text_add(&text, ": cast it");
    ar_fail(err, ARRAS_ESHAPE, "call of '%s': parameter %s", f->name, text.data ? text.data : "");
    ar_text_free(&text);
    return ARRAS_ESHAPE;
}

/* Each pass settles what has one unknown left, so as many passes as sizes are enough. */
static arras_status match_shapes(arras_dim *sizes, arras_function f, const arras_array *args,
                                 arras_error *err)
{
    bool open = true;

    for (int pass = 0; open && pass <= (int)f->graph->nsizes; pass++) {
        open = false;
        for (int p = 0; p < f->nparams; p++)
            for (int d = 0; d < f->params[p]->rank; d++) {
                outcome o = match_dim(f->graph, sizes, f->params[p]->shape[d], args[p]->shape[d]);

                if (o == CONFLICT)
                    return fail_argument(f, p, args[p], d, err);
                open = open || o == OPEN;
            }
    }
    return open ? ar_fail(
                      err, ARRAS_ESIZE,
                      "call of '%s': the arguments' shapes can't be shown to fit its parameters'",
                      f->name)
                : ARRAS_OK;
}

static arras_status check_arguments(arras_function f, int n, const arras_array *args,
                                    arras_error *err)
{
    if (n != f->nparams)
        return ar_fail(err, ARRAS_EINVAL, "call of '%s': %d arguments for %d parameters", f->name,
                       n, f->nparams);
    for (int i = 0; i < n; i++)
        if (args[i]->rank != f->params[i]->rank || args[i]->type.dtype != f->params[i]->type.dtype)
            return fail_argument(f, i, args[i], -1, err);
    return ARRAS_OK;
}

static arras_dim *new_sizes(const arras_graph *g)
{
    arras_dim *sizes = ar_alloc(g->nsizes, sizeof *sizes);

    for (size_t i = 0; sizes && i < g->nsizes; i++)
        sizes[i] = ARRAS_NONE;
    return sizes;
}

arras_array ar_call(arras_function f, int n, const arras_array *args)
{
    arras_array  bad;
    arras_error  err;
    arras_dim   *sizes;
    arras_status status;

    if (!f || !f->graph)
        return ar_poison_no_graph();
    if (f->error)
        return ar_poison(f->graph, f->code, "%s", f->error);
    if (n > 0 && (bad = ar_check_inputs("call", n, args)))
        return bad;
    if (n > 0 && args[0]->graph != f->graph)
        return ar_poison(f->graph, ARRAS_EINVAL,
                         "call of '%s': an argument belongs to another graph", f->name);
    if (check_arguments(f, n, args, &err) != ARRAS_OK)
        return ar_poison_of(f->graph, &err);
    if (!(sizes = new_sizes(f->graph)))
        return ar_poison_memory(f->graph);
    status = match_shapes(sizes, f, args, &err);
    ar_free(sizes);
    if (status != ARRAS_OK)
        return ar_poison_of(f->graph, &err);
    return ar_intern(
        f->graph, &(struct arras_node){ .kind = AR_CALL, .ninputs = n, .inputs = args, .ref = f });
}

/* The shape of a result in terms of the caller's sizes. */
static arras_status result_shape(arras_dim *shape, arras_array call, arras_array result,
                                 arras_error *err)
{
    arras_graph   *g = call->graph;
    arras_function f = call->ref;
    arras_dim     *sizes = new_sizes(g);
    arras_status   status;

    if (!sizes)
        return ar_fail_memory(err, g->nsizes * sizeof *sizes);
    status = match_shapes(sizes, f, call->inputs, err);
    for (int d = 0; d < result->rank && status == ARRAS_OK; d++) {
        const ar_affine *affine = ar_dim_affine(g, result->shape[d]);

        for (int i = 0; affine && i < affine->nterms; i++)
            if (sizes[affine->terms[i].size] == ARRAS_NONE)
                status =
                    ar_fail(err, ARRAS_ESIZE, "call of '%s': no parameter determines the size '%s'",
                            f->name, g->sizes[affine->terms[i].size]);
        if (status == ARRAS_OK)
            shape[d] = ar_dim_substitute(g, result->shape[d], sizes);
    }
    ar_free(sizes);
    return status;
}

arras_array ar_call_result(arras_array call, int result)
{
    arras_function f;
    arras_dim      shape[ARRAS_MAX_RANK];
    arras_error    err;
    arras_array    body, bad;

    if (!call || ar_is_poison(call))
        return call ? call : ar_poison_no_graph();
    f = call->ref;
    if (call->kind != AR_CALL || result < 0 || result >= f->nresults)
        return ar_poison(call->graph, ARRAS_EINVAL, "result %d of something that has none such",
                         result);
    body = f->results[result];
    if (result_shape(shape, call, body, &err) != ARRAS_OK)
        return ar_poison_of(call->graph, &err);
    if ((bad = ar_check_shape(call->graph, f->name, body->rank, shape)))
        return bad;
    return ar_intern(call->graph, &(struct arras_node){ .kind = AR_RESULT,
                                                        .type = { body->type.dtype, false },
                                                        .rank = body->rank,
                                                        .shape = shape,
                                                        .ninputs = 1,
                                                        .inputs = &call,
                                                        .nints = 1,
                                                        .ints = (int64_t[]){ result } });
}
