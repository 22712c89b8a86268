/* decisions.c -- what became of each array of a program, and the bytes that moves. */
#include "opt/fuse.h"

void ar_decisions_free(ar_decisions *decisions)
{
    ar_free(decisions->items);
    ar_free(decisions->changes);
    ar_arena_free(&decisions->arena);
    *decisions = (ar_decisions){ 0 };
}

arras_status ar_decisions_say(ar_decisions *decisions, ar_text *line, arras_error *err)
{
    char *kept =
        line->failed ? NULL : ar_arena_copy(&decisions->arena, line->data, line->length + 1, 1);

    ar_text_free(line);
    if (!kept || !ar_grow(&decisions->changes, &decisions->changes_room, decisions->nchanges,
                          sizeof *decisions->changes))
        return ar_fail_memory(err, sizeof *decisions->changes);
    decisions->changes[decisions->nchanges++] = kept;
    return ARRAS_OK;
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

/* What is too much to be counted stays out. */
static void add_moves(int64_t *total, int64_t bytes, int64_t moves)
{
    int64_t moved, sum;

    if (ar_mul64(&moved, bytes, moves) && ar_add64(&sum, *total, moved))
        *total = sum;
}

ar_traffic ar_decisions_traffic(const ar_decisions *decisions, const arras_graph *optimised,
                                const int64_t *sizes)
{
    ar_traffic t = { 0, 0, 0 };

    for (size_t i = 0; i < decisions->count; i++) {
        const ar_decision *d = &decisions->items[i];
        int64_t            bytes = array_bytes(d, optimised, sizes);

        if (bytes < 0)
            continue;
        add_moves(&t.before, bytes, d->moves_before);
        add_moves(&t.after, bytes, d->moves_after);
        add_moves(&t.least, bytes, d->moves_least);
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

static bool is_given(const ar_item *item)
{
    return item->node->kind != AR_LAMBDA && item->node->kind != AR_SCAN;
}

/* "y: f64[n, 4]", or the number of an array that has no name. */
static const char *describe(ar_decisions *out, const ar_fusion *f, const ar_item *item)
{
    ar_text     text = { 0 };
    const char *kept = NULL;

    if (item->output && !is_given(item))
        ar_text_printf(&text, "%s: ", output_name(f->g, item->node));
    else if (!is_given(item))
        ar_text_printf(&text, "%%%" PRId64 ": ", item->node->id);
    if (!is_given(item))
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
    if (is_given(item))
        return AR_FATE_INPUT;
    return item->output ? AR_FATE_OUTPUT : item->fused ? AR_FATE_INLINED : AR_FATE_STORED;
}

/* In terms of the optimised graph. */
static bool note_shape(ar_decisions *out, ar_decision *d, const arras_graph *from, int rank,
                       const arras_dim *shape, arras_graph *to)
{
    arras_dim *kept = ar_arena_alloc(&out->arena, (size_t)rank, sizeof *kept);

    for (int axis = 0; kept && axis < rank; axis++)
        kept[axis] = dim_in(to, from, shape[axis]);
    d->rank = rank, d->shape = kept;
    return kept != NULL;
}

/* What does not change any more. */
static bool note_new(ar_decisions *out, const ar_fusion *f, const ar_item *item)
{
    bool        given = is_given(item);
    ar_decision d = { .what = describe(out, f, item) };

    if (!d.what || !ar_grow(&out->items, &out->room, out->count, sizeof *out->items))
        return false;
    d.cell_bytes = ar_dtype_size(item->node->type.dtype);
    d.reason = given                         ? "given"
               : item->node->kind == AR_SCAN ? "a scan is a step of its own"
                                             : item->reason;
    for (const ar_use *use = item->uses; use; use = use->next)
        d.reads += use->evaluations;
    d.moves_before = item->readers + !given;
    d.moves_least = given || item->output;
    out->items[out->count++] = d;
    return true;
}

typedef struct {
    ar_decisions      *out;
    const ar_fusion   *f;
    arras_graph       *optimised;
    const arras_array *became;
    int               *readers; /* by id of node: lambdas that read it now */
    size_t            *places;  /* by id of node: 1 + its place among the decisions; 0: none yet */
} noter;

static bool note(noter *n, const ar_item *item)
{
    size_t      *place = &n->places[item->node->id];
    bool         is_new = *place == 0, given = is_given(item);
    ar_decision *d;

    if (is_new && !note_new(n->out, n->f, item))
        return false;
    if (is_new)
        *place = n->out->count;
    d = &n->out->items[*place - 1];
    d->fate = fate_of(item);
    d->reason = item->fused ? item->reason : d->reason;
    d->array = n->became[item->node->id];
    d->operations = item->operations;
    d->moves_after = item->fused ? 0 : n->readers[item->node->id] + !given;
    return note_shape(n->out, d, n->f->g, item->node->rank, item->node->shape, n->optimised);
}

/* Those made in an earlier round are known by their arrays; others were inlined then. */
static bool find_earlier(noter *n)
{
    bool good = true;

    for (size_t i = 0; i < n->out->count && good; i++) {
        ar_decision *d = &n->out->items[i];

        if (d->array)
            n->places[d->array->id] = i + 1;
        else
            good = note_shape(n->out, d, n->f->g, d->rank, d->shape, n->optimised);
    }
    return good;
}

static void count_readers(noter *n)
{
    for (int64_t i = 0; i < n->f->nnodes; i++) {
        const ar_item *item = &n->f->items[n->f->nodes[i]->id];

        for (int k = 0; !item->fused && k < item->reads.count; k++)
            n->readers[item->reads.ids[k]]++;
    }
}

arras_status ar_decisions_note(ar_decisions *out, const ar_fusion *f, arras_graph *optimised,
                               const arras_array *became)
{
    noter n = { .out = out, .f = f, .optimised = optimised, .became = became };
    bool  good;

    n.readers = ar_alloc((size_t)f->count, sizeof *n.readers);
    n.places = ar_alloc((size_t)f->count, sizeof *n.places);
    good = n.readers && n.places && find_earlier(&n);
    if (good)
        count_readers(&n);
    for (int64_t i = 0; good && i < f->nnodes; i++)
        good = note(&n, &f->items[f->nodes[i]->id]);
    ar_free(n.readers);
    ar_free(n.places);
    return good ? ARRAS_OK : ar_fail_memory(f->err, (size_t)f->count * sizeof *n.places);
}
