/* squeeze.c -- axes of one cell are left out of arrays that nobody asked for.  Then a mean that
 * kept its dimensions and one that did not are the same array, computed once. */
#include "opt/opt.h"

#include "opt/rewrite.h"

typedef struct {
    uint32_t *narrow; /* by id of the old graph: axes to leave out, one bit each */
} squeezer;

/* ---- Which axes -------------------------------------------------------------------------------
 */

typedef struct {
    squeezer   *s;
    arras_array lambda;
    bool       *visited; /* by id of expression */
} walker;

/* An index that may be outside is an edge's business, or an error's. */
static void look_at_load(walker *w, arras_expr load)
{
    arras_array x = w->lambda->inputs[load->ints[0]];

    for (int axis = 0; axis < load->rank; axis++)
        if (w->s->narrow[x->id] >> axis & 1 && !ar_load_is_inside(w->lambda, load, axis))
            w->s->narrow[x->id] &= ~((uint32_t)1 << axis);
}

/* Depth is limited by AR_MAX_DEPTH. */
static void look(walker *w, arras_expr e)
{
    if (w->visited[e->id])
        return;
    w->visited[e->id] = true;
    if (e->kind == AR_EXPR_LOAD)
        look_at_load(w, e);
    for (int i = 0; i < e->nargs; i++)
        look(w, e->args[i]);
}

static uint32_t narrow_axes(arras_array node)
{
    uint32_t axes = 0;

    for (int axis = 0; node->kind == AR_LAMBDA && axis < node->rank; axis++)
        if (node->shape[axis] == 1)
            axes |= (uint32_t)1 << axis;
    return axes;
}

/* False: no memory. */
static bool choose(squeezer *s, const arras_graph *g, int64_t count, const arras_array *nodes,
                   int nroots, const arras_array *roots)
{
    bool any = false;

    for (int64_t i = 0; i < count; i++)
        s->narrow[nodes[i]->id] = narrow_axes(nodes[i]);
    for (int i = 0; i < nroots; i++)
        s->narrow[roots[i]->id] = 0;
    for (int64_t i = 0; i < count; i++) /* scans keep their axes */
        if (nodes[i]->kind == AR_SCAN)
            s->narrow[nodes[i]->inputs[0]->id] = 0;
    for (int64_t id = 0; id < ar_graph_count(g); id++)
        any = any || s->narrow[id];
    for (int64_t i = 0; any && i < count; i++) {
        arras_expr cell = nodes[i]->ref;
        walker     w = { s, nodes[i], NULL };

        if (nodes[i]->kind != AR_LAMBDA)
            continue;
        w.visited = ar_alloc((size_t)cell->id + 1, sizeof *w.visited);
        if (!w.visited)
            return false;
        look(&w, cell);
        ar_free(w.visited);
    }
    return true;
}

/* ---- The pass ---------------------------------------------------------------------------------
 */

/* A read leaves out what the array has no longer. */
static arras_expr make(ar_rewrite *r, arras_expr e, const arras_expr *args, const ar_frame *around)
{
    const squeezer *s = r->pass;
    arras_array     x = e->kind == AR_EXPR_LOAD ? r->old->inputs[e->ints[0]] : NULL;
    arras_expr      left[ARRAS_MAX_RANK];
    arras_edge      edges[ARRAS_MAX_RANK];
    int             rank = 0, fill = e->rank;

    if (!x || !s->narrow[x->id])
        return ar_rewrite_copy(r, e, args, around);
    for (int axis = 0; axis < e->rank; axis++) {
        arras_edge edge = { (arras_edge_rule)e->ints[1 + axis], NULL };

        if (edge.rule == ARRAS_EDGE_CONSTANT)
            edge.fill = args[fill++];
        if (s->narrow[x->id] >> axis & 1)
            continue;
        left[rank] = args[axis];
        edges[rank++] = edge;
    }
    return ar_expr_load(r->became[x->id], rank, left, edges);
}

static arras_status put(ar_rewrite *r, arras_array old, arras_expr cell)
{
    const squeezer *s = r->pass;
    arras_expr      indices[ARRAS_MAX_RANK];
    arras_dim       shape[ARRAS_MAX_RANK];
    ar_space        space = { .g = r->to, .shape = shape };

    for (int axis = 0; axis < old->rank; axis++) {
        if (s->narrow[old->id] >> axis & 1) {
            indices[axis] = ar_int(r->to, 0);
            continue;
        }
        indices[axis] = ar_expr_index(r->to, space.rank);
        shape[space.rank++] = r->shape[axis];
    }
    if (space.rank < old->rank)
        cell = ar_substitute_indices(cell, old->rank, indices, (ar_place_of){ &space, NULL });
    return ar_rewrite_store(r, &r->became[old->id], space.rank, shape, cell);
}

arras_status ar_squeeze(arras_graph **out, const arras_graph *normal, arras_error *err)
{
    squeezer     s = { ar_alloc((size_t)ar_graph_count(normal), sizeof *s.narrow) };
    ar_rewrite   r = { .make = make, .put = put, .pass = &s };
    arras_array *roots = NULL, *nodes = NULL;
    int          nroots = ar_graph_output_count(normal);
    int64_t      count = 0;
    arras_status status = s.narrow ? ar_graph_roots(&roots, normal, err)
                                   : ar_fail_memory(err, (size_t)ar_graph_count(normal));

    if (status == ARRAS_OK)
        status = ar_reach(&nodes, &count, normal, nroots, roots, err);
    if (status == ARRAS_OK && !choose(&s, normal, count, nodes, nroots, roots))
        status = ar_fail_memory(err, (size_t)ar_graph_count(normal));
    if (status == ARRAS_OK)
        status = ar_rewrite_run(out, &r, normal, err);
    ar_free(roots);
    ar_free(nodes);
    ar_free(s.narrow);
    return status;
}
