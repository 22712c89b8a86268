/* decisions.c -- what became of each array of a program, and the bytes that moves. */
#include "opt/fuse.h"

void ar_decisions_free(ar_decisions *decisions)
{
    ar_free(decisions->items);
    ar_arena_free(&decisions->arena);
    *decisions = (ar_decisions){ 0 };
}

/* -1 when it is not known. */
static int64_t array_bytes(const ar_decision *d, const arras_graph *g, const int64_t *sizes)
{
    int64_t bytes = (int64_t)d->cell_bytes;

    for (int axis = 0; axis < d->rank; axis++) {
        int64_t length = d->shape[axis];

        if (ar_dim_symbolic(length) &&
            (!sizes || ar_dim_value(&length, g, length, sizes, NULL) != ARRAS_OK))
            return -1;
        if (!ar_mul64(&bytes, bytes, length))
            return -1;
    }
    return bytes;
}

ar_traffic ar_decisions_traffic(const ar_decisions *decisions, const arras_graph *optimised,
                                const int64_t *sizes)
{
    ar_traffic t = { 0, 0, 0 };

    for (size_t i = 0; i < decisions->count; i++) {
        const ar_decision *d = &decisions->items[i];
        int64_t            bytes = array_bytes(d, optimised, sizes);

        if (bytes < 0 || bytes > INT64_MAX >> 32)
            continue;
        t.before += bytes * d->moves_before;
        t.after += bytes * d->moves_after;
        t.least += bytes * d->moves_least;
    }
    return t;
}

/* ---- Notes ----------------------------------------------------------------------------------- */

/* Sizes have the same numbers in both graphs. */
static arras_dim dim_in(arras_graph *to, const arras_graph *from, arras_dim dim)
{
    const ar_affine *affine = ar_dim_affine(from, dim);
    arras_dim        result;

    if (!affine)
        return dim;
    result = affine->constant;
    for (int i = 0; i < affine->nterms; i++)
        result = ar_dim_add(
            to, result,
            ar_dim_mul(to, ar_size_dim(to, affine->terms[i].size), affine->terms[i].factor));
    return result;
}

static const char *output_name(const arras_graph *g, arras_array x)
{
    for (int i = 0; i < ar_graph_output_count(g); i++)
        if (ar_graph_output(g, i)->array == x)
            return ar_graph_output(g, i)->name;
    return "";
}

/* "y: f64[n, 4]", or the number of an array that has no name. */
static const char *describe(ar_decisions *out, const ar_fusion *f, const ar_item *item)
{
    ar_text     text = { 0 };
    const char *kept = NULL;

    if (item->output && item->node->kind == AR_LAMBDA)
        ar_text_printf(&text, "%s: ", output_name(f->g, item->node));
    else if (item->node->kind == AR_LAMBDA)
        ar_text_printf(&text, "%%%" PRId64 ": ", item->node->id);
    if (item->node->kind == AR_LAMBDA)
        ar_node_type_print(&text, item->node);
    else
        ar_node_describe(&text, item->node);
    if (!text.failed)
        kept = ar_arena_copy(&out->arena, text.data, text.length + 1, 1);
    ar_text_free(&text);
    return kept;
}

static ar_fate fate_of(const ar_item *item)
{
    if (item->node->kind != AR_LAMBDA)
        return AR_FATE_INPUT;
    return item->output ? AR_FATE_OUTPUT : item->fused ? AR_FATE_INLINED : AR_FATE_STORED;
}

static bool note(ar_decisions *out, const ar_fusion *f, const ar_item *item, int readers_after,
                 arras_graph *to)
{
    arras_array node = item->node;
    bool        given = node->kind != AR_LAMBDA;
    arras_dim  *shape = ar_arena_alloc(&out->arena, (size_t)node->rank, sizeof *shape);
    ar_decision d = { .what = describe(out, f, item), .fate = fate_of(item), .shape = shape };

    if (!d.what || !shape || !ar_grow(&out->items, &out->room, out->count, sizeof *out->items))
        return false;
    for (int axis = 0; axis < node->rank; axis++)
        shape[axis] = dim_in(to, f->g, node->shape[axis]);
    d.rank = node->rank;
    d.cell_bytes = ar_dtype_size(node->type.dtype);
    d.reason = given ? "given" : item->reason;
    d.operations = item->operations;
    for (const ar_use *use = item->uses; use; use = use->next)
        d.reads += use->evaluations;
    d.moves_before = item->readers + !given;
    d.moves_after = item->fused ? 0 : readers_after + !given;
    d.moves_least = given || item->output;
    out->items[out->count++] = d;
    return true;
}

arras_status ar_decisions_note(ar_decisions *out, const ar_fusion *f, arras_graph *optimised)
{
    int *readers = ar_alloc((size_t)f->count, sizeof *readers);
    bool good = readers != NULL;

    for (int64_t i = 0; good && i < f->nnodes; i++) {
        const ar_item *item = &f->items[f->nodes[i]->id];

        for (int k = 0; !item->fused && k < item->reads.count; k++)
            readers[item->reads.ids[k]]++;
    }
    for (int64_t i = 0; good && i < f->nnodes; i++)
        good = note(out, f, &f->items[f->nodes[i]->id], readers[f->nodes[i]->id], optimised);
    ar_free(readers);
    return good ? ARRAS_OK : ar_fail_memory(f->err, (size_t)f->count * sizeof *readers);
}
