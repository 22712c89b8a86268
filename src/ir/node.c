/* node.c -- nodes: one per structure, and the poison that stands for mistakes. */
#include "ir/graph.h"

#include <string.h>

/* ---- Interning ------------------------------------------------------------------------------- */

static bool owned_data(const struct arras_node *n)
{
    return n->kind == AR_DATA && n->ints[n->nints - 1];
}

static size_t data_bytes(const struct arras_node *n)
{
    size_t bytes = ar_dtype_size(n->type.dtype);

    for (int d = 0; d < n->rank; d++)
        bytes *= (size_t)n->shape[d];
    return bytes;
}

static uint64_t node_hash(const struct arras_node *n)
{
    uint64_t hash = ar_hash_mix((uint64_t)n->kind, (uint64_t)n->type.dtype * 2 + n->type.weak);

    hash = ar_hash_bytes(hash, n->shape, (size_t)n->rank * sizeof *n->shape);
    hash = ar_hash_bytes(hash, n->ints, (size_t)n->nints * sizeof *n->ints);
    hash = ar_hash_bytes(hash, n->inputs, (size_t)n->ninputs * sizeof *n->inputs);
    if (n->name)
        hash = ar_hash_bytes(hash, n->name, strlen(n->name));
    if (owned_data(n))
        return ar_hash_bytes(hash, n->ref, data_bytes(n));
    return ar_hash_mix(hash, (uint64_t)(uintptr_t)n->ref);
}

static bool same_bytes(const void *a, const void *b, int count, size_t size)
{
    return count == 0 || memcmp(a, b, (size_t)count * size) == 0;
}

static bool same_name(const char *a, const char *b)
{
    return a == b || (a && b && strcmp(a, b) == 0);
}

static bool node_same(const void *item, const void *key)
{
    const struct arras_node *a = item, *b = key;

    if (a->kind != b->kind || a->type.dtype != b->type.dtype || a->type.weak != b->type.weak ||
        a->rank != b->rank || a->ninputs != b->ninputs || a->nints != b->nints ||
        !same_name(a->name, b->name) ||
        !same_bytes(a->shape, b->shape, a->rank, sizeof *a->shape) ||
        !same_bytes(a->ints, b->ints, a->nints, sizeof *a->ints) ||
        !same_bytes(a->inputs, b->inputs, a->ninputs, sizeof *a->inputs))
        return false;
    return a->ref == b->ref || (owned_data(a) && memcmp(a->ref, b->ref, data_bytes(a)) == 0);
}

/* The arrays of *node become the graph's own. */
static bool keep_parts(arras_graph *g, struct arras_node *node)
{
    node->shape = ar_arena_copy(&g->arena, node->shape, (size_t)node->rank, sizeof *node->shape);
    node->inputs =
        ar_arena_copy(&g->arena, node->inputs, (size_t)node->ninputs, sizeof *node->inputs);
    node->ints = ar_arena_copy(&g->arena, node->ints, (size_t)node->nints, sizeof *node->ints);
    if (node->name)
        node->name = ar_string_keep(g, node->name, strlen(node->name));
    return node->shape && node->inputs && node->ints;
}

arras_array ar_intern(arras_graph *g, struct arras_node *node)
{
    uint64_t           hash = node_hash(node);
    const void        *found = ar_table_find(&g->node_set, hash, node_same, node);
    bool               named = node->name != NULL;
    struct arras_node *kept;

    if (found)
        return found;
    node->graph = g;
    node->id = (int64_t)g->nnodes;
    node->hash = hash;
    if (!ar_grow(&g->nodes, &g->nodes_room, g->nnodes, sizeof *g->nodes) || !keep_parts(g, node) ||
        (named && !node->name))
        return ar_poison_memory(g);
    kept = ar_arena_copy(&g->arena, node, 1, sizeof *node);
    if (!kept || !ar_table_add(&g->node_set, hash, kept))
        return ar_poison_memory(g);
    g->nodes[g->nnodes++] = kept;
    return kept;
}

/* ---- Poison ---------------------------------------------------------------------------------- */

static const struct arras_node no_graph = {
    .kind = AR_POISON,
    .rank = -1,
    .name = "an array or a graph is NULL, or an operation was given no arrays at all",
    .nints = 1,
    .ints = (const int64_t[]){ ARRAS_EINVAL },
    .id = -1,
};

arras_array ar_poison_no_graph(void) { return &no_graph; }
bool        ar_is_poison(arras_array x) { return x->kind == AR_POISON; }

arras_array ar_poison_memory(arras_graph *g)
{
    if (!g)
        return &no_graph;
    g->memory_failed = true;
    return &g->memory_node;
}

/* Poison is not interned: it is no part of any program, and each one has its own message. */
arras_array ar_poison_of(arras_graph *g, const arras_error *err)
{
    struct arras_node node = { .kind = AR_POISON, .rank = -1, .graph = g, .id = -1, .nints = 1 };
    int64_t           code = err->code;
    arras_array       kept;

    if (!g || err->code == ARRAS_ENOMEM)
        return ar_poison_memory(g);
    node.name = ar_string_keep(g, err->text, strlen(err->text));
    node.ints = ar_arena_copy(&g->arena, &code, 1, sizeof code);
    kept = ar_arena_copy(&g->arena, &node, 1, sizeof node);
    return node.name && node.ints && kept ? kept : ar_poison_memory(g);
}

arras_array ar_poison(arras_graph *g, arras_status code, const char *format, ...)
{
    arras_error err;
    va_list     args;

    va_start(args, format);
    ar_vfail(&err, code, format, args);
    va_end(args);
    return ar_poison_of(g, &err);
}

arras_array ar_poison_about(arras_graph *g, const arras_error *err, int n, const arras_array *xs)
{
    enum { SHOWN = 4 };
    ar_text     text = { 0 };
    arras_error full;

    for (int i = 0; i < n && i < SHOWN; i++) {
        ar_text_add(&text, i ? ", " : " (");
        ar_node_describe(&text, xs[i]);
    }
    ar_text_add(&text, n > SHOWN ? ", ...)" : n ? ")" : "");
    ar_fail(&full, err->code, "%s%s", err->text, text.data ? text.data : "");
    ar_text_free(&text);
    return ar_poison_of(g, &full);
}

/* ---- Checks every builder makes -------------------------------------------------------------- */

/* With the graph of another operand there is a place for a message. */
static arras_array poison_missing(const char *what, int missing, int n, const arras_array *xs)
{
    for (int i = 0; i < n; i++)
        if (xs[i] && xs[i]->graph)
            return ar_poison(xs[i]->graph, ARRAS_EINVAL, "%s: operand %d is NULL", what, missing);
    return ar_poison_no_graph();
}

arras_array ar_check_inputs(const char *what, int n, const arras_array *xs)
{
    if (n <= 0 || !xs)
        return ar_poison_no_graph();
    for (int i = 0; i < n; i++)
        if (!xs[i])
            return poison_missing(what, i, n, xs);
    for (int i = 0; i < n; i++)
        if (ar_is_poison(xs[i]))
            return xs[i];
    for (int i = 1; i < n; i++)
        if (xs[i]->graph != xs[0]->graph)
            return ar_poison(
                xs[0]->graph, ARRAS_EINVAL,
                "%s: operand %d belongs to another graph than operand 0: record both in one", what,
                i);
    for (int i = 0; i < n; i++)
        if (xs[i]->kind == AR_CALL)
            return ar_poison(xs[0]->graph, ARRAS_EINVAL,
                             "%s: operand %d is a call, not one of its results", what, i);
    return NULL;
}

arras_array ar_check_shape(arras_graph *g, const char *what, int rank, const arras_dim *shape)
{
    int64_t cells = 16; /* bytes of the widest element */

    if (rank < 0 || rank > ARRAS_MAX_RANK)
        return ar_poison(g, ARRAS_ELIMIT, "%s: rank %d is not in 0..%d", what, rank,
                         ARRAS_MAX_RANK);
    if (rank > 0 && !shape)
        return ar_poison(g, ARRAS_EINVAL, "%s: the shape is NULL", what);
    for (int d = 0; d < rank; d++) {
        const char *error = ar_dim_error(g, shape[d]);

        if (error)
            return ar_poison(g, ARRAS_ESIZE, "%s: axis %d: %s", what, d, error);
        if (!ar_dim_symbolic(shape[d]) && shape[d] < 0)
            return ar_poison(g, ARRAS_ESHAPE, "%s: axis %d has the negative length %" PRId64, what,
                             d, shape[d]);
    }
    for (int d = 0; d < rank; d++)
        if (shape[d] == 0)
            return NULL; /* no cells, however long the other axes */
    for (int d = 0; d < rank; d++)
        if (!ar_dim_symbolic(shape[d]) && !ar_mul64(&cells, cells, shape[d]))
            return ar_poison(g, ARRAS_ELIMIT, "%s: the shape has more cells than fit any memory",
                             what);
    return NULL;
}

arras_status ar_axis_check(int *out, const char *what, int axis, int rank, arras_error *err)
{
    if (rank == 0)
        return ar_fail(err, ARRAS_EAXIS, "%s: axis %d of an array of rank 0, which has no axes",
                       what, axis);
    if (axis < -rank || axis >= rank)
        return ar_fail(err, ARRAS_EAXIS, "%s: axis %d is not in %d..%d of an array of rank %d",
                       what, axis, -rank, rank - 1, rank);
    *out = axis < 0 ? axis + rank : axis;
    return ARRAS_OK;
}

arras_status ar_axes_mask(uint32_t *out, const char *what, int n, const int *axes, int rank,
                          arras_error *err)
{
    uint32_t mask = 0;
    int      axis = 0;

    if (!axes) {
        *out = rank == 32 ? UINT32_MAX : ((uint32_t)1 << rank) - 1;
        return ARRAS_OK;
    }
    if (n < 0)
        return ar_fail(err, ARRAS_EAXIS, "%s: the number of axes is negative: %d", what, n);
    for (int i = 0; i < n; i++) {
        if (ar_axis_check(&axis, what, axes[i], rank, err) != ARRAS_OK)
            return ARRAS_EAXIS;
        if (mask >> axis & 1)
            return ar_fail(err, ARRAS_EAXIS, "%s: axis %d is given twice", what, axis);
        mask |= (uint32_t)1 << axis;
    }
    *out = mask;
    return ARRAS_OK;
}

ar_type ar_promote_nodes(int n, const arras_array *xs)
{
    ar_types_met visited = { .untyped = ARRAS_NO_DTYPE };

    for (int i = 0; i < n; i++)
        ar_types_meet(&visited, xs[i]->type);
    return ar_types_promote(&visited);
}

arras_array ar_check_untyped(const char *what, int n, const arras_array *xs, arras_dtype dtype)
{
    for (int i = 0; i < n; i++) {
        arras_error err;

        if (!xs[i]->type.weak || xs[i]->type.dtype != ARRAS_I64 ||
            ar_integer_fits(xs[i]->ints[0], dtype))
            continue;
        ar_fail(&err, ARRAS_EDTYPE,
                "%s: %" PRId64 " does not fit %s: cast the other operand to a wider type", what,
                xs[i]->ints[0], ar_dtype_name(dtype));
        return ar_poison_about(xs[0]->graph, &err, n, xs);
    }
    return NULL;
}

static arras_status broadcast_dim(arras_dim *out, const arras_graph *g, const char *what, int axis,
                                  arras_dim a, arras_dim b, arras_error *err)
{
    ar_text text_a = { 0 }, text_b = { 0 };

    if (a == b || b == 1 || a == 1) {
        *out = a == 1 ? b : a;
        return ARRAS_OK;
    }
    ar_dim_print(&text_a, g, a);
    ar_dim_print(&text_b, g, b);
    ar_fail(err, ARRAS_ESHAPE, "%s: axis %d is %s against %s; they must be equal, or one of them 1",
            what, axis, text_a.data ? text_a.data : "?", text_b.data ? text_b.data : "?");
    ar_text_free(&text_a);
    ar_text_free(&text_b);
    return ARRAS_ESHAPE;
}

arras_status ar_broadcast(int *rank, arras_dim *shape, const arras_graph *g, const char *what,
                          int rank_a, const arras_dim *a, int rank_b, const arras_dim *b,
                          arras_error *err)
{
    int       most = rank_a > rank_b ? rank_a : rank_b;
    arras_dim result[ARRAS_MAX_RANK];

    for (int d = 0; d < most; d++) {
        arras_dim da = d < most - rank_a ? 1 : a[d - (most - rank_a)];
        arras_dim db = d < most - rank_b ? 1 : b[d - (most - rank_b)];

        if (broadcast_dim(&result[d], g, what, d - most, da, db, err) != ARRAS_OK)
            return ARRAS_ESHAPE;
    }
    for (int d = 0; d < most; d++)
        shape[d] = result[d];
    *rank = most;
    return ARRAS_OK;
}

static bool letter(unsigned char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' || c > 127;
}

bool ar_name_valid(const char *name, size_t length)
{
    enum { LONGEST = 255 };

    if (length == 0 || length > LONGEST || !letter((unsigned char)name[0]))
        return false;
    for (size_t i = 1; i < length; i++)
        if (!letter((unsigned char)name[i]) && !(name[i] >= '0' && name[i] <= '9') &&
            name[i] != '.')
            return false;
    return true;
}

/* ---- Descriptions ---------------------------------------------------------------------------- */

static const char *node_word(arras_array x)
{
    if (x->kind == AR_MAP)
        return ar_op_name((ar_op)x->ints[0]);
    if (x->kind == AR_REDUCE)
        return ar_reduction_name((ar_reduction)x->ints[0]);
    return ar_kind_word(x->kind);
}

void ar_node_type_print(ar_text *out, arras_array x)
{
    if (x->type.weak) {
        ar_text_add(out, x->type.dtype == ARRAS_I64   ? "int"
                         : x->type.dtype == ARRAS_F64 ? "real"
                                                      : "complex");
        return;
    }
    ar_text_add(out, ar_dtype_name(x->type.dtype));
    ar_shape_print(out, x->graph, x->rank, x->shape);
}

void ar_node_describe(ar_text *out, arras_array x)
{
    if (x->kind == AR_POISON) {
        ar_text_add(out, "poison");
        return;
    }
    if (x->kind == AR_INPUT || x->kind == AR_PARAM)
        ar_text_printf(out, "%s: ", x->name);
    else if (x->kind == AR_CONST)
        ar_value_print(out, x->type.dtype, x->ints), ar_text_add(out, ": ");
    else
        ar_text_printf(out, "%s: ", node_word(x));
    ar_node_type_print(out, x);
}
