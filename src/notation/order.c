/* order.c -- the order in which texts show nodes and expressions: each after what it needs, as a
 * walk from the roots meets them.  Walks over nodes keep their own stack: a program may be deep. */
#include "notation/parts.h"

#include <string.h>

typedef struct {
    arras_array node;
    int         next; /* input to look at next */
} step;

typedef struct {
    step        *path;
    arras_array *found;
    bool        *seen; /* by id */
    size_t       depth, room, count;
} walk;

static bool enter(walk *w, arras_array x)
{
    if (w->seen[x->id])
        return true;
    if (!ar_grow(&w->path, &w->room, w->depth, sizeof *w->path))
        return false;
    w->seen[x->id] = true;
    w->path[w->depth++] = (step){ x, 0 };
    return true;
}

static bool walk_from(walk *w, arras_array root)
{
    if (!enter(w, root))
        return false;
    while (w->depth > 0) {
        step *top = &w->path[w->depth - 1];

        if (top->next == top->node->ninputs) {
            w->found[w->count++] = top->node;
            w->depth--;
        } else if (!enter(w, top->node->inputs[top->next++])) {
            return false;
        }
    }
    return true;
}

/* Inputs have smaller ids than their users, so no id above the roots' is met. */
static size_t ids_below(int n, const arras_array *roots)
{
    int64_t last = -1;

    for (int i = 0; i < n; i++)
        last = ar_max64(last, roots[i]->id);
    return (size_t)(last + 1);
}

arras_status ar_order(arras_array **out, int64_t *count, int n, const arras_array *roots,
                      arras_error *err)
{
    size_t ids = ids_below(n, roots);
    walk   w = { .found = ar_alloc(ids, sizeof *w.found), .seen = ar_alloc(ids, sizeof *w.seen) };
    bool   done = w.found && w.seen;

    for (int i = 0; done && i < n; i++)
        done = walk_from(&w, roots[i]);
    ar_free(w.path);
    ar_free(w.seen);
    if (!done) {
        ar_free(w.found);
        return ar_fail_memory(err, ids * sizeof *w.found);
    }
    *out = w.found;
    *count = (int64_t)w.count;
    return ARRAS_OK;
}

arras_status ar_order_outputs(arras_array **out, int64_t *count, const arras_graph *g,
                              arras_error *err)
{
    int          n = ar_graph_output_count(g);
    arras_array *roots = ar_alloc((size_t)n, sizeof *roots);
    arras_status status;

    if (!roots)
        return ar_fail_memory(err, (size_t)n * sizeof *roots);
    for (int i = 0; i < n; i++)
        roots[i] = ar_graph_output(g, i)->array;
    status = ar_order(out, count, n, roots, err);
    ar_free(roots);
    return status;
}

/* ---- Expressions ----------------------------------------------------------------------------- */

static bool make_slots(ar_expr_walk *w, int64_t id)
{
    size_t        room = w->slots_room;
    ar_expr_slot *grown;

    if ((size_t)id < room)
        return true;
    room = 2 * room > (size_t)id ? 2 * room : (size_t)id + 1;
    grown = ar_realloc(w->slots, room, sizeof *grown);
    if (!grown)
        return false;
    memset(grown + w->slots_room, 0, (room - w->slots_room) * sizeof *grown);
    w->slots = grown;
    w->slots_room = room;
    return true;
}

/* Recursive: nesting of expressions is limited when they are built. */
static bool visit(ar_expr_walk *w, arras_expr e)
{
    ar_expr_slot *slot = &w->slots[e->id];

    if (slot->stamp == w->stamp) {
        slot->uses++;
        return true;
    }
    *slot = (ar_expr_slot){ w->stamp, 1, 0 };
    for (int i = 0; i < e->nargs; i++)
        if (!visit(w, e->args[i]))
            return false;
    if (!ar_grow(&w->found, &w->room, w->count, sizeof *w->found))
        return false;
    w->found[w->count++] = e;
    return true;
}

bool ar_expr_walk_from(ar_expr_walk *w, arras_expr root)
{
    w->stamp++;
    w->count = 0;
    return make_slots(w, root->id) && visit(w, root);
}

void ar_expr_walk_free(ar_expr_walk *w)
{
    ar_free(w->found);
    ar_free(w->slots);
    *w = (ar_expr_walk){ 0 };
}
