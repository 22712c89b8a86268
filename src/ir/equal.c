/* equal.c -- whether two arrays, perhaps of two graphs, are computed in the same way.
 *
 * Pairs of nodes are compared, each pair once.  Within a graph equal nodes are one node, so nearly
 * always a node is paired with just one other and the time is linear; only equal cells that were
 * borrowed from two places are two nodes. */
#include "ir/graph.h"

#include <string.h>

typedef struct {
    arras_array x, y;
} pair;

typedef struct {
    const arras_graph *gx, *gy;
    ar_table           visited;   /* pairs that are equal, or are being compared */
    ar_arena           arena;     /* holds them */
    arras_expr        *expr_twin; /* by id in gx */
    pair              *todo;
    size_t             ntodo, room;
    bool               failed; /* no memory */
} matcher;

static void push(matcher *m, arras_array x, arras_array y)
{
    if (!ar_grow(&m->todo, &m->room, m->ntodo, sizeof *m->todo))
        m->failed = true;
    else
        m->todo[m->ntodo++] = (pair){ x, y };
}

static bool same_text(const char *a, const char *b)
{
    return a == b || (a && b && strcmp(a, b) == 0);
}

/* ---- Sizes: the same names with the same factors, in whatever order the graphs met them ------ */

static bool has_term(const matcher *m, const ar_affine *in, ar_term of_x)
{
    for (int i = 0; i < in->nterms; i++)
        if (in->terms[i].factor == of_x.factor &&
            strcmp(m->gy->sizes[in->terms[i].size], m->gx->sizes[of_x.size]) == 0)
            return true;
    return false;
}

static bool same_dim(const matcher *m, arras_dim x, arras_dim y)
{
    const ar_affine *a = ar_dim_affine(m->gx, x), *b = ar_dim_affine(m->gy, y);

    if (!a || !b)
        return !a && !b && x == y;
    if (a->constant != b->constant || a->nterms != b->nterms)
        return false;
    for (int i = 0; i < a->nterms; i++)
        if (!has_term(m, b, a->terms[i]))
            return false;
    return true;
}

static bool same_dims(const matcher *m, int n, const arras_dim *x, const arras_dim *y)
{
    for (int i = 0; i < n; i++)
        if (!same_dim(m, x[i], y[i]))
            return false;
    return true;
}

/* ---- Expressions ----------------------------------------------------------------------------- */

/* Depth is limited by AR_MAX_DEPTH. */
static bool same_expr(matcher *m, arras_expr x, arras_expr y)
{
    if (m->expr_twin[x->id])
        return m->expr_twin[x->id] == y;
    if (x->kind != y->kind || x->type.dtype != y->type.dtype || x->nargs != y->nargs ||
        x->nints != y->nints || !same_text(x->name, y->name))
        return false;
    if (x->kind == AR_EXPR_SIZE ? !same_dim(m, x->ints[0], y->ints[0])
                                : memcmp(x->ints, y->ints, (size_t)x->nints * sizeof *x->ints) != 0)
        return false;
    for (int i = 0; i < x->nargs; i++)
        if (!same_expr(m, x->args[i], y->args[i]))
            return false;
    m->expr_twin[x->id] = y;
    return true;
}

/* ---- Nodes ----------------------------------------------------------------------------------- */

static const unsigned char *data_cell(arras_array x, int64_t number)
{
    const unsigned char *cell = x->ref;

    for (int d = x->rank - 1; d >= 0; d--) {
        cell += number % x->shape[d] * x->ints[d];
        number /= x->shape[d];
    }
    return cell;
}

static ar_value canonical_cell(arras_dtype dtype, const void *cell)
{
    ar_value value = { .bits = { 0, 0 } };

    memcpy(&value, cell, ar_dtype_size(dtype));
    ar_value_canonical(dtype, &value);
    return value;
}

static bool same_data(arras_array x, arras_array y)
{
    arras_dtype dtype = x->type.dtype;
    int64_t     cells = 1;

    for (int d = 0; d < x->rank; d++)
        if (x->shape[d] == 0)
            return true;
    for (int d = 0; d < x->rank; d++)
        cells *= x->shape[d];
    for (int64_t i = 0; i < cells; i++) {
        ar_value a = canonical_cell(dtype, data_cell(x, i));
        ar_value b = canonical_cell(dtype, data_cell(y, i));

        if (memcmp(&a, &b, sizeof a) != 0)
            return false;
    }
    return true;
}

static bool same_function(matcher *m, arras_function x, arras_function y)
{
    if (x->nparams != y->nparams || x->nresults != y->nresults || strcmp(x->name, y->name) != 0)
        return false;
    for (int i = 0; i < x->nparams; i++)
        push(m, x->params[i], y->params[i]);
    for (int i = 0; i < x->nresults; i++) {
        if (strcmp(x->result_names[i], y->result_names[i]) != 0)
            return false;
        push(m, x->results[i], y->results[i]);
    }
    return true;
}

static bool same_items(const matcher *m, arras_array x, arras_array y)
{
    for (int i = 0; i < x->nints; i += AR_ITEM_INTS)
        if (x->ints[i + AR_ITEM_KIND] != y->ints[i + AR_ITEM_KIND] ||
            x->ints[i + AR_ITEM_STEP] != y->ints[i + AR_ITEM_STEP] ||
            !same_dim(m, x->ints[i + AR_ITEM_START], y->ints[i + AR_ITEM_START]) ||
            !same_dim(m, x->ints[i + AR_ITEM_LENGTH], y->ints[i + AR_ITEM_LENGTH]))
            return false;
    return true;
}

static bool same_attributes(matcher *m, arras_array x, arras_array y)
{
    switch (x->kind) {
    case AR_DATA: return same_data(x, y);
    case AR_PARAM: return true; /* the serial number is the graph's own affair */
    case AR_SIZE: return same_dim(m, x->ints[0], y->ints[0]);
    case AR_INDEX: return same_items(m, x, y);
    case AR_LAMBDA: return same_expr(m, x->ref, y->ref);
    case AR_CALL: return same_function(m, x->ref, y->ref);
    default:
        return x->nints == 0 || memcmp(x->ints, y->ints, (size_t)x->nints * sizeof *x->ints) == 0;
    }
}

static bool same_node(matcher *m, arras_array x, arras_array y)
{
    if (x->kind != y->kind || x->type.dtype != y->type.dtype || x->type.weak != y->type.weak ||
        x->rank != y->rank || x->ninputs != y->ninputs || x->nints != y->nints ||
        !same_text(x->name, y->name) || !same_dims(m, x->rank, x->shape, y->shape) ||
        !same_attributes(m, x, y))
        return false;
    for (int i = 0; i < x->ninputs; i++)
        push(m, x->inputs[i], y->inputs[i]);
    return true;
}

static bool pair_same(const void *item, const void *key)
{
    const pair *a = item, *b = key;

    return a->x == b->x && a->y == b->y;
}

/* Whether a pair is met for the first time; then it is remembered. */
static bool is_new(matcher *m, pair p)
{
    uint64_t    hash = ar_hash_mix((uint64_t)p.x->id, (uint64_t)p.y->id);
    const pair *kept;

    if (ar_table_find(&m->visited, hash, pair_same, &p))
        return false;
    kept = ar_arena_copy(&m->arena, &p, 1, sizeof p);
    if (!kept || !ar_table_add(&m->visited, hash, kept))
        m->failed = true;
    return true;
}

static bool match(matcher *m)
{
    while (m->ntodo > 0 && !m->failed) {
        pair next = m->todo[--m->ntodo];

        if (is_new(m, next) && !same_node(m, next.x, next.y))
            return false;
    }
    return !m->failed;
}

bool ar_equal(arras_array x, arras_array y)
{
    matcher m = { .gx = x->graph, .gy = y->graph };
    bool    equal = false;

    if (x == y)
        return true;
    if (ar_is_poison(x) || ar_is_poison(y))
        return false;
    m.expr_twin = ar_alloc((size_t)m.gx->nexprs, sizeof(arras_expr));
    if (m.expr_twin) {
        push(&m, x, y);
        equal = match(&m);
    }
    ar_free(m.expr_twin);
    ar_free(m.todo);
    ar_table_free(&m.visited);
    ar_arena_free(&m.arena);
    return equal;
}
