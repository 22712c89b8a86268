/* pack.c -- a normal form as bytes, and back: what was optimised once need not be optimised again.
 *
 * Sizes, nodes and expressions come back with the numbers they had, by which kernels are written;
 * expressions that no lambda needs do not.  Data is named by its place in the recorded program. */
#include "ir/graph.h"

#include <string.h>

/* Numbers of expressions: a graph that has more is not kept. */
enum { MOST_EXPRS = 1 << 24 };

/* ---- Numbers and strings --------------------------------------------------------------------- */

void ar_pack_number(ar_text *out, int64_t number)
{
    ar_text_put(out, (const char *)&number, sizeof number);
}

void ar_pack_numbers(ar_text *out, int64_t n, const int64_t *numbers)
{
    if (n > 0)
        ar_text_put(out, (const char *)numbers, (size_t)n * sizeof *numbers);
}

/* Filled up with zeros, so that numbers that follow are aligned. */
void ar_pack_string(ar_text *out, const char *string)
{
    static const char zeros[sizeof(int64_t)];
    size_t            length = strlen(string);

    ar_pack_number(out, (int64_t)length);
    ar_text_put(out, string, length);
    ar_text_put(out, zeros, sizeof zeros - length % sizeof zeros);
}

const int64_t *ar_unpack_numbers(ar_unpacker *u, int64_t n)
{
    const char *at = u->at;

    if (u->failed || n < 0 || n > (u->end - at) / (int64_t)sizeof(int64_t)) {
        u->failed = true;
        return NULL;
    }
    u->at += n * (int64_t)sizeof(int64_t);
    return (const int64_t *)(const void *)at;
}

int64_t ar_unpack_number(ar_unpacker *u)
{
    const int64_t *number = ar_unpack_numbers(u, 1);

    return number ? *number : 0;
}

const char *ar_unpack_string(ar_unpacker *u)
{
    int64_t     length = ar_unpack_number(u), word = sizeof(int64_t);
    bool        fits = length >= 0 && length < u->end - u->at;
    const char *string = (const char *)ar_unpack_numbers(u, fits ? length / word + 1 : -1);

    if (string && string[length] != '\0')
        u->failed = true;
    return u->failed ? NULL : string;
}

/* Several small numbers in one, a byte each. */
static int64_t bytes_of(int a, int b, int c, int d)
{
    return a | (int64_t)b << 8 | (int64_t)c << 16 | (int64_t)d << 24;
}

static int byte_of(int64_t bytes, int number) { return (int)(bytes >> 8 * number & 0xff); }

/* ---- Sizes ----------------------------------------------------------------------------------- */

/* Form number 0 is every graph's own; the next ones are the sizes themselves. */
static bool pack_sizes(ar_text *out, const arras_graph *g)
{
    ar_pack_number(out, (int64_t)g->nsizes);
    for (size_t i = 0; i < g->nsizes; i++)
        ar_pack_string(out, g->sizes[i]);
    ar_pack_number(out, (int64_t)(g->naffines - 1 - g->nsizes));
    for (size_t i = 1 + g->nsizes; i < g->naffines; i++) {
        const ar_affine *form = g->affines[i];

        if (form->error)
            return false;
        ar_pack_number(out, form->constant);
        ar_pack_number(out, form->nterms);
        for (int t = 0; t < form->nterms; t++) {
            ar_pack_number(out, form->terms[t].size);
            ar_pack_number(out, form->terms[t].factor);
        }
    }
    return true;
}

static void unpack_form(arras_graph *g, ar_unpacker *u)
{
    int64_t        constant = ar_unpack_number(u), n = ar_unpack_number(u);
    const int64_t *terms = ar_unpack_numbers(u, n > 0 && n <= (int64_t)g->nsizes ? 2 * n : -1);
    size_t         number = g->naffines;

    for (int64_t t = 0; terms && t < n; t++)
        u->failed = u->failed || terms[2 * t] < 0 || terms[2 * t] >= (int64_t)g->nsizes;
    if (!u->failed)
        ar_dim_form(g, constant, (int)n, terms);
    u->failed = u->failed || g->naffines != number + 1;
}

static void unpack_sizes(arras_graph *g, ar_unpacker *u)
{
    for (int64_t left = ar_unpack_number(u); left > 0 && !u->failed; left--) {
        const char *name = ar_unpack_string(u);

        if (name)
            ar_dim_size(g, name);
        u->failed = u->failed || g->naffines != 1 + g->nsizes;
    }
    for (int64_t left = ar_unpack_number(u); left > 0 && !u->failed; left--)
        unpack_form(g, u);
}

/* ---- Nodes ----------------------------------------------------------------------------------- */

bool ar_data_same(arras_array a, arras_array b)
{
    return a->kind == AR_DATA && b->kind == AR_DATA && a->ref == b->ref &&
           a->type.dtype == b->type.dtype && a->rank == b->rank &&
           (a->rank == 0 || memcmp(a->shape, b->shape, (size_t)a->rank * sizeof *a->shape) == 0) &&
           memcmp(a->ints, b->ints, (size_t)a->rank * sizeof *a->ints) == 0;
}

static int64_t place_of_data(const arras_graph *recorded, arras_array data)
{
    for (size_t id = 0; id < recorded->nnodes; id++)
        if (ar_data_same(recorded->nodes[id], data))
            return (int64_t)id;
    return -1;
}

static bool pack_node(ar_text *out, arras_array node, const arras_graph *recorded)
{
    int64_t data;

    ar_pack_number(out, bytes_of((int)node->kind, (int)node->type.dtype, node->rank, 0));
    ar_pack_numbers(out, node->rank, node->shape);
    switch (node->kind) {
    case AR_INPUT: ar_pack_string(out, node->name); return true;
    case AR_DATA:
        data = place_of_data(recorded, node);
        ar_pack_number(out, data);
        return data >= 0;
    case AR_LAMBDA:
        ar_pack_number(out, ((arras_expr)node->ref)->id);
        ar_pack_number(out, node->ninputs);
        for (int i = 0; i < node->ninputs; i++)
            ar_pack_number(out, node->inputs[i]->id);
        return true;
    case AR_SCAN:
        ar_pack_number(out, node->ints[0]);
        ar_pack_number(out, node->ints[1]);
        ar_pack_number(out, node->inputs[0]->id);
        return true;
    default: return false;
    }
}

/* A graph that comes back. */
typedef struct {
    ar_unpacker       *u;
    arras_graph       *g;
    const arras_graph *recorded;
    arras_expr        *exprs; /* by id, those there are */
    int64_t            count; /* of ids */
} revival;

static arras_array node_at(revival *r, int64_t id)
{
    if (id >= 0 && id < (int64_t)r->g->nnodes)
        return r->g->nodes[id];
    r->u->failed = true;
    return NULL;
}

static arras_expr expr_at(revival *r, int64_t id)
{
    arras_expr e = id >= 0 && id < r->count ? r->exprs[id] : NULL;

    r->u->failed = r->u->failed || !e;
    return e;
}

static arras_array unpack_lambda(revival *r, int rank, const arras_dim *shape)
{
    arras_expr     cell = expr_at(r, ar_unpack_number(r->u));
    int64_t        n = ar_unpack_number(r->u);
    const int64_t *ids = ar_unpack_numbers(r->u, n);
    arras_array   *inputs = ids ? ar_alloc((size_t)n, sizeof *inputs) : NULL, made = NULL;

    for (int64_t i = 0; inputs && i < n; i++)
        inputs[i] = node_at(r, ids[i]);
    if (inputs && !r->u->failed)
        made = ar_lambda_intern(r->g, rank, shape, cell, (int)n, inputs);
    ar_free(inputs);
    return made;
}

static arras_array unpack_data(revival *r, int rank, const arras_dim *shape)
{
    int64_t     id = ar_unpack_number(r->u);
    bool        there = !r->u->failed && id >= 0 && id < (int64_t)r->recorded->nnodes;
    arras_array data = there ? r->recorded->nodes[id] : NULL;

    if (!data || data->kind != AR_DATA || data->rank != rank ||
        memcmp(data->shape, shape, (size_t)rank * sizeof *shape) != 0)
        return NULL;
    return ar_data_again(r->g, data);
}

static arras_array unpack_scan(revival *r)
{
    int64_t     reduction = ar_unpack_number(r->u), axis = ar_unpack_number(r->u);
    arras_array x = node_at(r, ar_unpack_number(r->u));

    if (r->u->failed || reduction < 0 || reduction >= AR_REDUCTION_END || axis < 0 ||
        axis >= x->rank)
        return NULL;
    return ar_scan((ar_reduction)reduction, x, (int)axis);
}

static arras_array unpack_input(revival *r, arras_dtype dtype, int rank, const arras_dim *shape)
{
    const char *name = ar_unpack_string(r->u);

    return name ? ar_input(r->g, name, dtype, rank, shape) : NULL;
}

static void unpack_node(revival *r)
{
    int64_t          head = ar_unpack_number(r->u), id = (int64_t)r->g->nnodes;
    int              rank = byte_of(head, 2);
    const arras_dim *shape = ar_unpack_numbers(r->u, rank <= ARRAS_MAX_RANK ? rank : -1);
    arras_array      made = NULL;

    if (shape && byte_of(head, 0) == AR_INPUT)
        made = unpack_input(r, (arras_dtype)byte_of(head, 1), rank, shape);
    else if (shape && byte_of(head, 0) == AR_DATA)
        made = unpack_data(r, rank, shape);
    else if (shape && byte_of(head, 0) == AR_LAMBDA)
        made = unpack_lambda(r, rank, shape);
    else if (shape && byte_of(head, 0) == AR_SCAN)
        made = unpack_scan(r);
    r->u->failed = r->u->failed || !made || made->id != id;
}

/* ---- Expressions ----------------------------------------------------------------------------- */

/* Depth is limited by AR_MAX_DEPTH. */
static int64_t collect(arras_expr *exprs, arras_expr e)
{
    int64_t count = 1;

    if (exprs[e->id])
        return 0;
    exprs[e->id] = e;
    for (int i = 0; i < e->nargs; i++)
        count += collect(exprs, e->args[i]);
    return count;
}

static void pack_expr(ar_text *out, arras_expr e)
{
    ar_pack_number(out, e->id);
    ar_pack_number(out, bytes_of((int)e->kind, (int)e->type.dtype, e->type.weak, e->name != NULL) |
                            bytes_of(e->nargs, e->nints, 0, 0) << 32);
    for (int i = 0; i < e->nargs; i++)
        ar_pack_number(out, e->args[i]->id);
    ar_pack_numbers(out, e->nints, e->ints);
    if (e->name)
        ar_pack_string(out, e->name);
}

static bool pack_exprs(ar_text *out, const arras_graph *g)
{
    arras_expr *exprs = ar_alloc((size_t)g->nexprs, sizeof(arras_expr));
    int64_t     count = 0;

    if (!exprs)
        return false;
    for (size_t i = 0; i < g->nnodes; i++)
        if (g->nodes[i]->kind == AR_LAMBDA)
            count += collect(exprs, g->nodes[i]->ref);
    ar_pack_number(out, g->nexprs);
    ar_pack_number(out, count);
    for (int64_t id = 0; id < g->nexprs; id++)
        if (exprs[id])
            pack_expr(out, exprs[id]);
    ar_free(exprs);
    return true;
}

/* With the next number, which the caller has set. */
static arras_expr make_expr(revival *r, struct arras_expr_node *e)
{
    if (e->kind == AR_EXPR_INDEX)
        return e->nints == 1 ? ar_expr_index(r->g, (int)e->ints[0]) : NULL;
    if (e->kind == AR_EXPR_LOAD)
        e->rank = e->nints - 1;
    return ar_expr_intern(r->g, e);
}

static void unpack_expr(revival *r)
{
    int64_t                id = ar_unpack_number(r->u), head = ar_unpack_number(r->u);
    arras_expr             args[256];
    struct arras_expr_node e = { .kind = (ar_expr_kind)byte_of(head, 0),
                                 .type = { (arras_dtype)byte_of(head, 1), byte_of(head, 2) != 0 },
                                 .nargs = byte_of(head, 4),
                                 .args = args,
                                 .nints = byte_of(head, 5) };
    const int64_t         *ids = ar_unpack_numbers(r->u, e.nargs);

    for (int i = 0; ids && i < e.nargs; i++)
        args[i] = expr_at(r, ids[i]);
    e.ints = ar_unpack_numbers(r->u, e.nints);
    e.name = byte_of(head, 3) ? ar_unpack_string(r->u) : NULL;
    if (r->u->failed || id < r->g->nexprs || id >= r->count) {
        r->u->failed = true;
        return;
    }
    r->g->nexprs = id;
    r->exprs[id] = make_expr(r, &e);
    r->u->failed = !r->exprs[id] || r->exprs[id]->id != id;
}

static void unpack_exprs(revival *r)
{
    int64_t left;

    r->count = ar_unpack_number(r->u);
    left = ar_unpack_number(r->u);
    if (r->u->failed || r->count < 0 || r->count > MOST_EXPRS ||
        !(r->exprs = ar_alloc((size_t)r->count, sizeof *r->exprs))) {
        r->u->failed = true;
        return;
    }
    for (; left > 0 && !r->u->failed; left--)
        unpack_expr(r);
    r->g->nexprs = r->count;
}

/* ---- Graphs ---------------------------------------------------------------------------------- */

static void pack_outputs(ar_text *out, const arras_graph *g)
{
    ar_pack_number(out, (int64_t)g->noutputs);
    for (size_t i = 0; i < g->noutputs; i++) {
        ar_pack_string(out, g->outputs[i].name);
        ar_pack_number(out, g->outputs[i].array->id);
    }
}

bool ar_graph_pack(ar_text *out, const arras_graph *g, const arras_graph *recorded)
{
    bool good = pack_sizes(out, g) && pack_exprs(out, g);

    ar_pack_number(out, (int64_t)g->nnodes);
    for (size_t i = 0; i < g->nnodes && good; i++)
        good = pack_node(out, g->nodes[i], recorded);
    pack_outputs(out, g);
    return good && !out->failed;
}

static void unpack_outputs(revival *r)
{
    for (int64_t left = ar_unpack_number(r->u); left > 0 && !r->u->failed; left--) {
        const char *name = ar_unpack_string(r->u);
        arras_array x = node_at(r, ar_unpack_number(r->u));

        if (r->u->failed || ar_is_poison(ar_graph_output_add(r->g, name, x)))
            r->u->failed = true;
    }
}

static void unpack_graph(revival *r)
{
    unpack_sizes(r->g, r->u);
    unpack_exprs(r);
    for (int64_t left = ar_unpack_number(r->u); left > 0 && !r->u->failed; left--)
        unpack_node(r);
    unpack_outputs(r);
    ar_free(r->exprs);
}

arras_graph *ar_graph_unpack(ar_unpacker *u, const arras_graph *recorded)
{
    revival r = { .u = u, .recorded = recorded };

    if (ar_graph_new(&r.g, NULL) != ARRAS_OK)
        return NULL;
    unpack_graph(&r);
    if (!u->failed && !r.g->memory_failed)
        return r.g;
    ar_graph_free(r.g);
    return NULL;
}
