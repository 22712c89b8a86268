/* normalise_move.c -- cells that only change their place: each becomes a read at another index. */
#include "opt/normalise.h"

/* ---- Stack and concatenate ------------------------------------------------------------------- */

typedef struct {
    ar_scope   *scope;
    arras_array node;
    int         axis;
    arras_dim   start; /* along the axis: where the next part begins */
} join;

/* A part of a stack has no cells to choose from along the axis. */
static arras_expr read_part(join *j, int part)
{
    arras_graph *to = j->scope->to;
    arras_array  x = j->node->inputs[part];
    bool         stacked = j->node->kind == AR_STACK;
    arras_expr   indices[ARRAS_MAX_RANK];
    arras_dim    start = j->start;

    for (int axis = 0; axis < x->rank; axis++)
        indices[axis] = ar_expr_index(to, axis + (stacked && axis >= j->axis));
    j->start = ar_dim_add(to, start, stacked ? 1 : ar_scope_dim(j->scope, x->shape[j->axis]));
    if (!stacked)
        indices[j->axis] = minus(indices[j->axis], start);
    return ar_expr_cast(ar_scope_read(j->scope, x, indices, NULL), j->node->type.dtype);
}

/* Parts first .. end - 1.  Halving keeps the choices shallow, and a read is made only where its
 * part is chosen. */
static arras_expr choose_part(join *j, int first, int end)
{
    int        middle = first + (end - first) / 2;
    arras_expr left, right, before;

    if (end - first == 1)
        return read_part(j, first);
    left = choose_part(j, first, middle);
    before =
        binary(AR_OP_less, ar_expr_index(j->scope->to, j->axis), dim_expr(j->scope->to, j->start));
    right = choose_part(j, middle, end);
    return choose(before, left, right);
}

static arras_expr join_cell(ar_scope *s, arras_array node)
{
    join j = { .scope = s, .node = node, .axis = (int)node->ints[0], .start = 0 };

    return choose_part(&j, 0, node->ninputs);
}

arras_expr ar_normal_stack(ar_scope *s, arras_array node) { return join_cell(s, node); }
arras_expr ar_normal_concat(ar_scope *s, arras_array node) { return join_cell(s, node); }

/* ---- Roll and permute ------------------------------------------------------------------------ */

/* The shift along a symbolic axis is as the user gave it; i - shift must not overflow. */
static arras_expr rolled_index(arras_graph *to, int axis, int64_t shift, arras_dim length)
{
    const int64_t far = (int64_t)1 << 62;
    arras_expr    index = ar_expr_index(to, axis), rest;

    if (shift > -far && shift < far)
        return minus(index, shift);
    rest = binary(AR_OP_remainder, int_expr(to, shift), dim_expr(to, length));
    return binary(AR_OP_subtract, index, rest);
}

arras_expr ar_normal_roll(ar_scope *s, arras_array node)
{
    arras_expr indices[ARRAS_MAX_RANK];
    arras_edge edges[ARRAS_MAX_RANK];

    for (int axis = 0; axis < node->rank; axis++) {
        int64_t shift = node->ints[axis];

        indices[axis] = rolled_index(s->to, axis, shift, ar_scope_dim(s, node->shape[axis]));
        edges[axis] = (arras_edge){ shift ? ARRAS_EDGE_WRAP : ARRAS_EDGE_NONE, NULL };
    }
    return ar_scope_read(s, node->inputs[0], indices, edges);
}

arras_expr ar_normal_permute(ar_scope *s, arras_array node)
{
    arras_expr indices[ARRAS_MAX_RANK];

    for (int axis = 0; axis < node->rank; axis++)
        indices[node->ints[axis]] = ar_expr_index(s->to, axis);
    return ar_scope_read(s, node->inputs[0], indices, NULL);
}

/* ---- Reshape --------------------------------------------------------------------------------- */

/* The axes of an array but those of length 1, slowest first.  Lengths are of the new graph. */
typedef struct {
    int       count;
    int       axis[ARRAS_MAX_RANK];
    arras_dim length[ARRAS_MAX_RANK];
} axis_list;

static void list_axes(axis_list *list, const ar_scope *s, arras_array x, char order)
{
    arras_dim shape[ARRAS_MAX_RANK];

    ar_scope_shape(shape, s, x);
    list->count = 0;
    for (int k = 0; k < x->rank; k++) {
        int axis = order == 'F' ? x->rank - 1 - k : k;

        if (shape[axis] == 1)
            continue;
        list->axis[list->count] = axis;
        list->length[list->count++] = shape[axis];
    }
}

/* Some axes of x and those of the result that go through the same cells. */
typedef struct {
    int x, x_end, out, out_end;
} group;

/* Ends the group that starts at g->x and g->out: the fewest axes on both sides that have as many
 * cells, or all that are left where the lengths do not tell. */
static void end_group(group *g, const axis_list *x, const axis_list *out)
{
    int64_t x_cells = 1, out_cells = 1;

    g->x_end = g->x, g->out_end = g->out;
    if (g->x < x->count && g->out < out->count && x->length[g->x] == out->length[g->out]) {
        g->x_end++, g->out_end++;
        return;
    }
    while (x_cells != out_cells || g->x_end == g->x) {
        bool             behind = x_cells <= out_cells;
        const axis_list *list = behind ? x : out;
        int             *end = behind ? &g->x_end : &g->out_end;
        int64_t         *cells = behind ? &x_cells : &out_cells;

        if (*end == list->count || ar_dim_symbolic(list->length[*end]) ||
            !ar_mul64(cells, *cells, list->length[*end])) {
            g->x_end = x->count, g->out_end = out->count;
            return;
        }
        ++*end;
    }
}

static void index_group(arras_expr *indices, arras_graph *to, const group *g, const axis_list *x,
                        const axis_list *out)
{
    arras_expr number = int_expr(to, 0), split[ARRAS_MAX_RANK];

    for (int k = g->out; k < g->out_end; k++) {
        arras_expr index = ar_expr_index(to, out->axis[k]);

        number = k == g->out
                     ? index
                     : binary(AR_OP_add,
                              binary(AR_OP_multiply, number, dim_expr(to, out->length[k])), index);
    }
    ar_split_number(split, number, g->x_end - g->x, x->length + g->x);
    for (int k = g->x; k < g->x_end; k++)
        indices[x->axis[k]] = split[k - g->x];
}

/* Axes at the end that are the same on both sides need no arithmetic; neither do those at the
 * front, which are groups of their own. */
static void index_last_axes(arras_expr *indices, arras_graph *to, axis_list *x, axis_list *out)
{
    while (x->count > 0 && out->count > 0 &&
           x->length[x->count - 1] == out->length[out->count - 1]) {
        x->count--, out->count--;
        indices[x->axis[x->count]] = ar_expr_index(to, out->axis[out->count]);
    }
}

arras_expr ar_normal_reshape(ar_scope *s, arras_array node)
{
    arras_array x = node->inputs[0];
    arras_expr  indices[ARRAS_MAX_RANK];
    axis_list   from, out;
    group       g = { 0 };

    for (int axis = 0; axis < x->rank; axis++)
        indices[axis] = int_expr(s->to, 0);
    list_axes(&from, s, x, (char)node->ints[0]);
    list_axes(&out, s, node, (char)node->ints[0]);
    index_last_axes(indices, s->to, &from, &out);
    for (; g.x < from.count || g.out < out.count; g.x = g.x_end, g.out = g.out_end) {
        end_group(&g, &from, &out);
        index_group(indices, s->to, &g, &from, &out);
    }
    return ar_scope_read(s, x, indices, NULL);
}

/* ---- Index ----------------------------------------------------------------------------------- */

/* start + step * i; the start of an item that takes no cell means nothing. */
static arras_expr item_index(const ar_scope *s, const int64_t *item, int axis)
{
    arras_dim  start = ar_scope_dim(s, item[AR_ITEM_START]);
    int64_t    step = item[AR_ITEM_STEP];
    arras_expr index;

    if (!ar_dim_symbolic(start) && start < 0 && ar_dim_symbolic(item[AR_ITEM_START]) &&
        ar_scope_dim(s, item[AR_ITEM_LENGTH]) != 0)
        return ar_expr_poison(s->to, ARRAS_ESIZE, "the start of an index is negative: %" PRId64,
                              start);
    if (item[AR_ITEM_KIND] == ARRAS_AT)
        return dim_expr(s->to, start);
    index = ar_expr_index(s->to, axis);
    if (step != 1)
        index = binary(AR_OP_multiply, index, int_expr(s->to, step));
    return plus(index, start);
}

arras_expr ar_normal_index(ar_scope *s, arras_array node)
{
    int        items = node->nints / AR_ITEM_INTS, from = 0, to = 0;
    arras_expr indices[ARRAS_MAX_RANK];

    for (int i = 0; i < items; i++) {
        const int64_t *item = node->ints + (ptrdiff_t)i * AR_ITEM_INTS;

        if (item[AR_ITEM_KIND] != ARRAS_NEWAXIS)
            indices[from++] = item_index(s, item, to);
        to += item[AR_ITEM_KIND] != ARRAS_AT;
    }
    return ar_scope_read(s, node->inputs[0], indices, NULL);
}

/* ---- Gather ---------------------------------------------------------------------------------- */

/* Negative indices count from the end; what is outside even so is left for the read to find. */
static arras_expr gathered_index(ar_scope *s, arras_array from, arras_expr index, arras_dim length)
{
    arras_expr wide;

    if (index->kind == AR_EXPR_POISON || ar_dtype_class(index->type.dtype) == AR_CLASS_UNSIGNED)
        return index;
    wide = ar_expr_cast(index, ARRAS_I64);
    if (from->kind == AR_DATA && ar_data_range_of(from).low >= 0)
        return wide;
    return choose(binary(AR_OP_less, wide, int_expr(s->to, 0)), plus(wide, length), wide);
}

/* Index arrays are broadcast to `added` axes of the result, which start at `place`. */
static arras_expr read_index_array(ar_scope *s, arras_array node, arras_array index, int place,
                                   int added)
{
    int        start = place + added - index->rank;
    arras_expr indices[ARRAS_MAX_RANK];

    for (int axis = 0; axis < index->rank; axis++)
        indices[axis] = broadcast_index(ar_expr_index(s->to, start + axis), index->shape[axis],
                                        node->shape[start + axis]);
    return ar_scope_read(s, index, indices, NULL);
}

arras_expr ar_normal_gather(ar_scope *s, arras_array node)
{
    arras_array x = node->inputs[0];
    uint32_t    mask = (uint32_t)node->ints[0];
    int         place = (int)node->ints[1], added = node->rank - (x->rank - (node->ninputs - 1));
    int         array = 1, to = 0;
    arras_expr  indices[ARRAS_MAX_RANK];

    for (int axis = 0; axis < x->rank; axis++) {
        if (mask >> axis & 1) {
            arras_array from = node->inputs[array++];
            arras_expr  index = read_index_array(s, node, from, place, added);

            indices[axis] = gathered_index(s, from, index, ar_scope_dim(s, x->shape[axis]));
            continue;
        }
        if (to == place)
            to += added;
        indices[axis] = ar_expr_index(s->to, to++);
    }
    return ar_scope_read(s, x, indices, NULL);
}
