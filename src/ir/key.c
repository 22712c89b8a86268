/* key.c -- all that a graph says, as bytes: equal keys, equal programs.  Cells of data are left
 * out: only their type, shape and strides decide how a program is computed. */
#include "ir/graph.h"

#include <string.h>

typedef struct {
    ar_text           *out;
    const arras_graph *g;
    bool              *written; /* expressions, by id */
} writer;

/* Keys are made whenever a program is looked up: where there is room, without a call. */
static inline void put_number(writer *w, int64_t number)
{
    ar_text *out = w->out;

    if (out->capacity - out->length <= sizeof number) {
        ar_text_put(out, (const char *)&number, sizeof number);
        return;
    }
    memcpy(out->data + out->length, &number, sizeof number);
    out->length += sizeof number;
    out->data[out->length] = '\0';
}

static void put_numbers(writer *w, int n, const int64_t *numbers)
{
    put_number(w, n);
    if (n > 0)
        ar_text_put(w->out, (const char *)numbers, (size_t)n * sizeof *numbers);
}

static void put_string(writer *w, const char *string)
{
    size_t length = string ? strlen(string) : 0;

    put_number(w, string ? (int64_t)length : -1);
    if (length)
        ar_text_put(w->out, string, length);
}

static void put_type(writer *w, ar_type type) { put_number(w, 2 * (int)type.dtype + type.weak); }

/* Depth is limited by AR_MAX_DEPTH. */
static void put_expr(writer *w, arras_expr e)
{
    if (w->written[e->id])
        return;
    w->written[e->id] = true;
    for (int i = 0; i < e->nargs; i++)
        put_expr(w, e->args[i]);
    put_number(w, e->id);
    put_number(w, e->kind);
    put_type(w, e->type);
    put_numbers(w, e->nints, e->ints);
    put_string(w, e->name);
    put_number(w, e->array ? e->array->id : -1);
    put_number(w, e->nargs);
    for (int i = 0; i < e->nargs; i++)
        put_number(w, e->args[i]->id);
}

static void put_node(writer *w, arras_array node)
{
    put_number(w, node->kind);
    put_type(w, node->type);
    put_numbers(w, node->rank, node->shape);
    put_numbers(w, node->nints, node->ints);
    put_string(w, node->name);
    put_number(w, node->ninputs);
    for (int i = 0; i < node->ninputs; i++)
        put_number(w, node->inputs[i]->id);
    if (node->kind == AR_LAMBDA) {
        put_expr(w, node->ref);
        put_number(w, ((arras_expr)node->ref)->id);
    }
    if (node->kind == AR_CALL)
        put_number(w, ((arras_function)node->ref)->id);
}

static void put_function(writer *w, arras_function f)
{
    put_string(w, f->name);
    put_string(w, f->error);
    put_number(w, f->nparams);
    for (int i = 0; i < f->nparams; i++)
        put_number(w, f->params[i]->id);
    put_number(w, f->nresults);
    for (int i = 0; i < f->nresults; i++) {
        put_string(w, f->result_names[i]);
        put_number(w, f->results[i]->id);
    }
}

/* Dims that are not numbers are numbers of these. */
static void put_sizes(writer *w)
{
    put_number(w, (int64_t)w->g->nsizes);
    for (size_t i = 0; i < w->g->nsizes; i++)
        put_string(w, w->g->sizes[i]);
    put_number(w, (int64_t)w->g->naffines);
    for (size_t i = 0; i < w->g->naffines; i++) {
        const ar_affine *affine = w->g->affines[i];

        put_number(w, affine->constant);
        put_number(w, affine->error ? -1 : affine->nterms);
        for (int t = 0; t < affine->nterms; t++) {
            put_number(w, affine->terms[t].size);
            put_number(w, affine->terms[t].factor);
        }
    }
}

bool ar_graph_key(ar_text *out, const arras_graph *g)
{
    writer w = { .out = out, .g = g };

    w.written = ar_alloc((size_t)g->nexprs + 1, sizeof *w.written);
    if (!w.written)
        return false;
    put_sizes(&w);
    put_number(&w, (int64_t)g->nnodes);
    for (size_t i = 0; i < g->nnodes; i++)
        put_node(&w, g->nodes[i]);
    put_number(&w, (int64_t)g->nfunctions);
    for (size_t i = 0; i < g->nfunctions; i++)
        put_function(&w, g->functions[i]);
    put_number(&w, (int64_t)g->noutputs);
    for (size_t i = 0; i < g->noutputs; i++) {
        put_string(&w, g->outputs[i].name);
        put_number(&w, g->outputs[i].array->id);
    }
    ar_free(w.written);
    return !out->failed;
}
