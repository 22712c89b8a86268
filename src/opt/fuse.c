/* fuse.c -- the arrays that are not worth storing are written into the cells that read them. */
#include "opt/fuse.h"

/* ---- The pass -------------------------------------------------------------------------------- */

typedef struct {
    const ar_fusion *fusion;
    arras_expr      *cells; /* by id of the old graph, of what is fused; of the new graph */
} fuser;

static arras_expr make(ar_rewrite *r, arras_expr e, const arras_expr *args, const ar_frame *around)
{
    const fuser *u = r->pass;
    arras_array  x = e->kind == AR_EXPR_LOAD ? r->old->inputs[e->ints[0]] : NULL;

    if (!x || !u->fusion->items[x->id].fused)
        return ar_rewrite_copy(r, e, args, around);
    return ar_substitute_indices(u->cells[x->id], x->rank, args,
                                 (ar_place_of){ &r->space, around });
}

static arras_status put(ar_rewrite *r, arras_array old, arras_expr cell)
{
    fuser *u = r->pass;

    if (!u->fusion->items[old->id].fused)
        return ar_rewrite_store(r, &r->became[old->id], old->rank, r->shape, cell);
    u->cells[old->id] = cell;
    return ARRAS_OK;
}

static arras_status write_fused(arras_graph **out, const ar_fusion *f, ar_decisions *decisions)
{
    fuser        u = { .fusion = f };
    ar_rewrite   r = { .make = make, .put = put, .pass = &u, .keep = true };
    arras_graph *fused = NULL;
    arras_status status;

    u.cells = ar_alloc((size_t)f->count, sizeof *u.cells);
    if (!u.cells)
        return ar_fail_memory(f->err, (size_t)f->count * sizeof *u.cells);
    status = ar_rewrite_run(&fused, &r, f->g, f->err);
    if (status == ARRAS_OK && decisions)
        status = ar_decisions_note(decisions, f, fused, r.became);
    if (status == ARRAS_OK)
        *out = fused;
    else
        ar_graph_free(fused);
    ar_free(r.became);
    ar_free(u.cells);
    return status;
}

/* ---- All of it ------------------------------------------------------------------------------- */

static int64_t largest_expr(const ar_fusion *f)
{
    int64_t largest = 0;

    for (int64_t i = 0; i < f->nnodes; i++)
        if (f->nodes[i]->kind == AR_LAMBDA)
            largest = ar_max64(largest, ((arras_expr)f->nodes[i]->ref)->id);
    return largest;
}

static arras_status make_room(ar_fusion *f)
{
    size_t exprs = (size_t)largest_expr(f) + 1;

    f->items = ar_alloc((size_t)f->count, sizeof *f->items);
    f->visited = ar_alloc(exprs, sizeof *f->visited);
    f->counted = ar_alloc(exprs, sizeof *f->counted);
    if (!f->items || !f->visited || !f->counted)
        return ar_fail_memory(f->err, (size_t)f->count * sizeof *f->items);
    return ARRAS_OK;
}

static arras_status find_nodes(ar_fusion *f)
{
    arras_array *roots = NULL;
    arras_status status = ar_graph_roots(&roots, f->g, f->err);

    if (status == ARRAS_OK)
        status = ar_reach(&f->nodes, &f->nnodes, f->g, ar_graph_output_count(f->g), roots, f->err);
    ar_free(roots);
    return status;
}

static void close_fusion(ar_fusion *f)
{
    ar_free(f->nodes);
    ar_free(f->items);
    ar_free(f->visited);
    ar_free(f->counted);
    ar_arena_free(&f->arena);
}

/* A reduction that was read by each cell of an array may, where that array is fused into another
 * reduction, be needed there once: the maximum of a row, in the sum over the row. */
static bool is_worth_another_round(const ar_fusion *f)
{
    for (int64_t i = 0; i < f->nnodes; i++) {
        const ar_item *item = &f->items[f->nodes[i]->id];

        if (!item->reduces || item->fused || item->output || item->contracts)
            continue;
        for (const ar_use *use = item->uses; use; use = use->next)
            if (f->items[use->reader].fused)
                return true;
    }
    return false;
}

static arras_status fuse_once(arras_graph **out, const arras_graph *normal,
                              const ar_opt_options *options, ar_decisions *decisions, bool *again,
                              arras_error *err)
{
    ar_fusion    f = { .g = normal,
                       .prices = &options->machine->prices,
                       .count = ar_graph_count(normal),
                       .err = err };
    arras_status status = find_nodes(&f);

    if (status == ARRAS_OK)
        status = make_room(&f);
    if (status == ARRAS_OK)
        status = ar_fuse_cost(&f);
    if (status == ARRAS_OK)
        status = ar_fuse_decide(&f, options->no_fusion);
    if (status == ARRAS_OK)
        status = write_fused(out, &f, decisions);
    *again = status == ARRAS_OK && is_worth_another_round(&f);
    close_fusion(&f);
    return status;
}

arras_status ar_fuse_with(arras_graph **out, const arras_graph *normal,
                          const ar_opt_options *options, ar_decisions *decisions, arras_error *err)
{
    enum { MOST_ROUNDS = 3 };
    bool           again;
    ar_opt_options o = options ? *options : (ar_opt_options){ 0 };
    arras_graph   *fused = NULL, *better;
    arras_status   status;

    o.machine = o.machine ? o.machine : ar_machine_host();
    status = fuse_once(&fused, normal, &o, decisions, &again, err);

    for (int round = 1; status == ARRAS_OK && again && round < MOST_ROUNDS; round++) {
        status = fuse_once(&better, fused, &o, decisions, &again, err);
        if (status != ARRAS_OK)
            break;
        ar_graph_free(fused);
        fused = better;
    }
    if (status == ARRAS_OK)
        *out = fused;
    else
        ar_graph_free(fused);
    return status;
}

arras_status ar_fuse(arras_graph **out, const arras_graph *normal, arras_error *err)
{
    return ar_fuse_with(out, normal, NULL, NULL, err);
}
