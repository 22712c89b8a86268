/* fuse.c -- which arrays of a normal form are worth storing, and the others written into their
 * users. */
#include "opt/normalise.h"
#include "opt/opt.h"

#include <string.h>

/* ---- A cell elsewhere ------------------------------------------------------------------------ */

typedef struct {
    arras_expr from, to;
} moved;

typedef struct {
    const arras_expr *indices;
    ar_table          memo; /* of moved: shared parts are moved once */
    ar_arena          arena;
    arras_graph      *g;
} mover;

static bool moved_is(const void *item, const void *key)
{
    return ((const moved *)item)->from == key;
}

static arras_expr move(mover *m, arras_expr e);

/* (i + a) + b is i + (a + b): what is known of an index stays easy to see. */
static arras_expr apply(ar_op op, int n, arras_expr *args)
{
    int64_t sum;

    if (op == AR_OP_add && args[1]->kind == AR_EXPR_LITERAL && args[1]->type.dtype == ARRAS_I64 &&
        args[0]->kind == AR_EXPR_OP && args[0]->ints[0] == AR_OP_add &&
        args[0]->type.dtype == ARRAS_I64 && args[0]->args[1]->kind == AR_EXPR_LITERAL &&
        args[0]->args[1]->type.dtype == ARRAS_I64 &&
        ar_add64(&sum, args[0]->args[1]->ints[0], args[1]->ints[0])) {
        args[1] = int_expr(args[0]->graph, sum);
        args[0] = args[0]->args[0];
        if (sum == 0)
            return args[0];
    }
    return ar_expr_apply(op, n, args);
}

static arras_expr move_load(arras_expr e, const arras_expr *args)
{
    arras_edge edges[ARRAS_MAX_RANK];
    int        fill = e->rank;

    for (int axis = 0; axis < e->rank; axis++) {
        edges[axis].rule = (arras_edge_rule)e->ints[1 + axis];
        edges[axis].fill = edges[axis].rule == ARRAS_EDGE_CONSTANT ? args[fill++] : NULL;
    }
    return ar_expr_load(e->array, e->rank, args, edges);
}

static arras_expr move_args(mover *m, arras_expr e, arras_expr *args)
{
    for (int i = 0; i < e->nargs; i++)
        args[i] = move(m, e->args[i]);
    switch (e->kind) {
    case AR_EXPR_OP: return apply((ar_op)e->ints[0], e->nargs, args);
    case AR_EXPR_CAST: return ar_expr_cast(args[0], e->type.dtype);
    case AR_EXPR_LOAD: return move_load(e, args);
    default: return e; /* reductions are never fused */
    }
}

/* Depth is limited by AR_MAX_DEPTH. */
static arras_expr move(mover *m, arras_expr e)
{
    uint64_t     hash = ar_hash_mix(0, (uint64_t)e->id);
    const moved *known = ar_table_find(&m->memo, hash, moved_is, e);
    moved        now = { e, e };
    arras_expr   args[2 * ARRAS_MAX_RANK];

    if (known)
        return known->to;
    if (e->kind == AR_EXPR_INDEX)
        return m->indices[e->ints[0]];
    if (e->nargs == 0 && e->kind != AR_EXPR_LOAD)
        return e;
    now.to = move_args(m, e, args);
    known = ar_arena_copy(&m->arena, &now, 1, sizeof now);
    if (!known || !ar_table_add(&m->memo, hash, known))
        return ar_expr_poison(m->g, ARRAS_ENOMEM, "out of memory");
    return now.to;
}

arras_expr ar_cell_at(arras_expr cell, const arras_expr *indices)
{
    mover      m = { .indices = indices, .g = cell->graph };
    arras_expr result = move(&m, cell);

    ar_table_free(&m.memo);
    ar_arena_free(&m.arena);
    return result;
}

/* ---- Which arrays ---------------------------------------------------------------------------- */

/* An array that is computed again for each reader may cost this many operations more in all. */
enum { EXTRA_OPERATIONS = 8, REUSED = 8, MOST_OPERATIONS = 400, MOST_DEPTH = 300 };

typedef struct {
    int64_t reads;      /* places in lambdas that read it; more where a place reads a cell often */
    int64_t operations; /* of a cell, with what is fused into it */
    int     depth;
    bool    reduces;
    bool    stored; /* must be: an output, has a reduction, or is read where it may be left */
} usage;

typedef struct {
    const arras_graph *g;
    usage             *usages; /* by id */
    int64_t           *stamps; /* by id of expression: the lambda in which it was met */
    int64_t            stamp;
} counter;

/* Whether cells of the lambda share a cell of what they read: along some axis the place does not
 * change, or it is read in every turn of a reduction. */
static bool reads_again(const counter *c, arras_array lambda, arras_expr load)
{
    uint32_t used = 0;

    for (int i = 0; i < load->rank; i++)
        used |= load->args[i]->uses;
    for (int axis = 0; axis < lambda->rank; axis++)
        if (!(used >> axis & 1) && lambda->shape[axis] != 1)
            return true;
    return c->usages[lambda->id].reduces && load->nfree == 0;
}

static void count_load(counter *c, arras_array lambda, arras_expr load)
{
    usage *of = &c->usages[lambda->inputs[load->ints[0]]->id];

    of->reads += reads_again(c, lambda, load) ? REUSED : 1;
    for (int axis = 0; axis < load->rank; axis++)
        if (load->ints[1 + axis] != ARRAS_EDGE_NONE || !ar_load_is_inside(lambda, load, axis))
            of->stored = true;
}

/* Each shared part once.  Depth is limited by AR_MAX_DEPTH. */
static void count_expr(counter *c, arras_array lambda, arras_expr e)
{
    usage *own = &c->usages[lambda->id];

    if (c->stamps[e->id] == c->stamp)
        return;
    c->stamps[e->id] = c->stamp;
    own->operations += e->kind == AR_EXPR_OP || e->kind == AR_EXPR_CAST;
    if (e->kind == AR_EXPR_REDUCE)
        own->reduces = own->stored = true;
    if (e->kind == AR_EXPR_LOAD)
        count_load(c, lambda, e);
    for (int i = 0; i < e->nargs; i++)
        count_expr(c, lambda, e->args[i]);
}

static bool is_fused(const usage *u)
{
    return !u->stored && u->reads > 0 && u->operations * (u->reads - 1) <= EXTRA_OPERATIONS &&
           u->operations <= MOST_OPERATIONS && u->depth <= MOST_DEPTH;
}

/* Users come after what they read, so what is read is decided when its users are measured. */
static void measure(counter *c, bool *fused, int64_t count, const arras_array *nodes)
{
    for (int64_t i = 0; i < count; i++) {
        arras_array node = nodes[i];
        usage      *u = &c->usages[node->id];

        if (node->kind != AR_LAMBDA)
            continue;
        u->depth = ((arras_expr)node->ref)->depth;
        for (int k = 0; k < node->ninputs; k++) {
            const usage *in = &c->usages[node->inputs[k]->id];

            if (!fused[node->inputs[k]->id])
                continue;
            u->operations += in->operations;
            u->depth = u->depth > in->depth + ((arras_expr)node->ref)->depth
                           ? u->depth
                           : in->depth + ((arras_expr)node->ref)->depth;
        }
        fused[node->id] = is_fused(u);
    }
}

static int64_t largest_expr(int64_t count, const arras_array *nodes)
{
    int64_t largest = 0;

    for (int64_t i = 0; i < count; i++)
        if (nodes[i]->kind == AR_LAMBDA)
            largest = ar_max64(largest, ((arras_expr)nodes[i]->ref)->id);
    return largest;
}

static void count_all(counter *c, int n, const arras_array *roots, int64_t count,
                      const arras_array *nodes)
{
    for (int i = 0; i < n; i++)
        c->usages[roots[i]->id].stored = true;
    for (int64_t i = 0; i < count; i++)
        if (nodes[i]->kind == AR_LAMBDA) {
            c->stamp = i + 1;
            count_expr(c, nodes[i], nodes[i]->ref);
        }
}

static arras_status decide(bool *fused, const arras_graph *g, int n, const arras_array *roots,
                           arras_error *err)
{
    counter      c = { .g = g };
    arras_array *nodes = NULL;
    int64_t      count = 0;
    arras_status status = ar_reach(&nodes, &count, g, n, roots, err);

    if (status != ARRAS_OK)
        return status;
    c.usages = ar_alloc((size_t)ar_graph_count(g), sizeof *c.usages);
    c.stamps = ar_alloc((size_t)largest_expr(count, nodes) + 1, sizeof *c.stamps);
    if (c.usages && c.stamps) {
        count_all(&c, n, roots, count, nodes);
        measure(&c, fused, count, nodes);
    } else {
        status = ar_fail_memory(err, (size_t)ar_graph_count(g) * sizeof *c.usages);
    }
    ar_free(c.usages);
    ar_free(c.stamps);
    ar_free(nodes);
    return status;
}

arras_status ar_fuse(arras_graph **out, const arras_graph *normal, arras_error *err)
{
    bool        *fused = ar_alloc((size_t)ar_graph_count(normal), sizeof *fused);
    arras_array *roots = NULL;
    arras_status status = fused ? ar_graph_roots(&roots, normal, err)
                                : ar_fail_memory(err, (size_t)ar_graph_count(normal));

    if (status == ARRAS_OK)
        status = decide(fused, normal, ar_graph_output_count(normal), roots, err);
    if (status == ARRAS_OK)
        status = ar_pass_run(out, normal, fused, err);
    ar_free(roots);
    ar_free(fused);
    return status;
}
