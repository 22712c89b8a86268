/* lang_cells.c -- the cell context: an expression over indices becomes a graph of lang_cell, with
 * every name resolved and every index of a load written down for the inference of ranges. */
#include "lang/lang_functions.h"
#include "lang/lang_lower.h"

#include <stdio.h>
#include <string.h>

/* ---- Making cells ---------------------------------------------------------------------------- */

lang_cell *lang_cell_new(lang_lowering *L, lang_cell_kind kind, const lang_node *node, int nparts,
                         lang_cell *const *parts)
{
    lang_cell *cell = lang_alloc(L, 1, sizeof *cell);

    if (!cell)
        return NULL;
    *cell = (lang_cell){ .kind = kind, .node = node, .height = 1, .nparts = nparts };
    cell->number = kind == LANG_CELL_INT || kind == LANG_CELL_OP || kind == LANG_CELL_CAST;
    cell->parts = lang_alloc(L, (size_t)nparts, sizeof *parts);
    if (!cell->parts)
        return NULL;
    for (int i = 0; i < nparts; i++) {
        if (!parts[i])
            return NULL;
        cell->parts[i] = parts[i];
        cell->number = cell->number && parts[i]->number;
        if (parts[i]->height >= cell->height)
            cell->height = parts[i]->height + 1;
    }
    if (cell->height <= LANG_MAX_HEIGHT)
        return cell;
    lang_fail(L->err, node->place,
              "functions and names expand to more than %d operations in one another",
              LANG_MAX_HEIGHT);
    return NULL;
}

static lang_cell *int_cell(lang_lowering *L, const lang_node *node, int64_t value)
{
    lang_cell *cell = lang_cell_new(L, LANG_CELL_INT, node, 0, NULL);

    if (cell)
        cell->integer = value;
    return cell;
}

static lang_cell *cell_of_expr(lang_lowering *L, const lang_node *node, arras_expr e)
{
    lang_cell *cell;

    if (!lang_checked_expr(L, node, e))
        return NULL;
    cell = lang_cell_new(L, LANG_CELL_EXPR, node, 0, NULL);
    if (cell)
        cell->expr = e;
    return cell;
}

static lang_cell *number_cell(lang_lowering *L, const lang_node *node, arras_expr e)
{
    lang_cell *cell = cell_of_expr(L, node, e);

    if (cell)
        cell->number = true;
    return cell;
}

/* ---- Names ----------------------------------------------------------------------------------- */

/* "x[i]" with as many indices as x has axes, for a message. */
static const char *with_indices(const char *name, int rank, char *room, size_t size)
{
    static const char letters[] = "i, j, k, l, m, n";
    int               shown = rank < 6 ? rank : 6;

    snprintf(room, size, "%s[%.*s%s]", name, 3 * shown - 2, letters, rank > 6 ? ", ..." : "");
    return room;
}

static bool fail_whole(lang_lowering *L, const lang_node *node, arras_array x)
{
    char room[320];
    int  rank = arras_array_rank(x);

    if (node->kind != LANG_NAME)
        return lang_fail(L->err, node->place,
                         "this is an array with %d ax%s, but one cell is needed here: write its "
                         "indices, (...)[i]",
                         rank, rank == 1 ? "is" : "es");
    return lang_fail(L->err, node->place,
                     "`%s` is an array with %d ax%s, but one cell is needed here: write its "
                     "indices, %s",
                     node->symbol->text, rank, rank == 1 ? "is" : "es",
                     with_indices(node->symbol->text, rank, room, sizeof room));
}

static lang_cell *cell_of_whole(lang_lowering *L, const lang_node *node, arras_array x)
{
    if (!x)
        return NULL;
    if (arras_array_rank(x) == 0)
        return cell_of_expr(L, node, arras_expr_load(x, 0, NULL, NULL));
    fail_whole(L, node, x);
    return NULL;
}

/* An argument of a function is expanded where it is used first, once outside of choices and once
 * inside, so that a read in it is guarded if its use is. */
static lang_cell *expand_late(lang_lowering *L, lang_equation *eq, const lang_binding *b)
{
    lang_cell       **kept = b->cells && b->equation == eq ? &b->cells[eq->guards > 0] : NULL;
    const lang_index *around = eq->around;
    lang_cell        *cell;

    eq->around = b->equation == eq ? b->surrounded : NULL;
    cell = kept && *kept ? *kept : lang_expand(L, eq, b->around, b->node);
    eq->around = around;
    if (kept)
        *kept = cell;
    return cell;
}

static lang_cell *expand_local(lang_lowering *L, lang_equation *eq, lang_scope scope,
                               const lang_node *node)
{
    const lang_binding *b = lang_local(scope, node->symbol);

    if (!b) {
        lang_fail_unknown(L, scope, node);
        return NULL;
    }
    if (b->kind == LANG_BIND_LATE)
        return expand_late(L, eq, b);
    if (b->kind == LANG_BIND_ARRAY)
        return cell_of_whole(L, node, lang_lower_array(L, scope, node));
    if (b->equation == eq)
        return b->cell;
    lang_fail(L->err, node->place,
              "the index `%s` means nothing among whole arrays; over cells write sum[k] x[%s,k]",
              node->symbol->text, node->symbol->text);
    return NULL;
}

static lang_cell *expand_name(lang_lowering *L, lang_equation *eq, lang_scope scope,
                              const lang_node *node)
{
    const lang_value *value;

    if (node->local)
        return expand_local(L, eq, scope, node);
    value = lang_lookup(L, scope, node);
    if (!value)
        return NULL;
    return value->number ? value->number : cell_of_whole(L, node, value->array);
}

/* ---- Operations ------------------------------------------------------------------------------ */

/* Both branches of a choice are guarded: only one of them is evaluated. */
static lang_cell *expand_operands(lang_lowering *L, lang_equation *eq, lang_scope scope,
                                  const lang_node *node, int op, int n,
                                  const lang_node *const *operands)
{
    lang_cell *parts[LANG_MAX_PARAMETERS] = { 0 }, *cell;
    bool       choice = op == ARRAS_OP_where;

    for (int i = 0; i < n; i++) {
        eq->guards += choice && i > 0;
        parts[i] = lang_expand(L, eq, scope, operands[i]);
        eq->guards -= choice && i > 0;
        if (!parts[i])
            return NULL;
    }
    cell = lang_cell_new(L, LANG_CELL_OP, node, n, parts);
    if (cell)
        cell->op = op;
    return cell;
}

/* ---- Loads ----------------------------------------------------------------------------------- */

static const lang_binding *binding_of(lang_scope scope, const lang_node *node)
{
    return node->kind == LANG_NAME && node->local ? lang_local(scope, node->symbol) : NULL;
}

static arras_array base_array(lang_lowering *L, lang_scope scope, const lang_node *base)
{
    const lang_binding *b = binding_of(scope, base);

    if (b && b->kind == LANG_BIND_INDEX) {
        lang_fail(L->err, base->place, "`%s` is an index here: it has no indices of its own",
                  base->symbol->text);
        return NULL;
    }
    return lang_lower_array(L, scope, base);
}

/* The name of what is read, also where it was given to a function: edges go by names. */
static const lang_node *base_name(lang_scope scope, const lang_node *base)
{
    const lang_binding *b;

    while ((b = binding_of(scope, base)) && b->kind == LANG_BIND_LATE) {
        base = b->node;
        scope = b->around;
    }
    return base;
}

static bool add_read(lang_lowering *L, lang_equation *eq, const lang_cell *load, int axis)
{
    lang_read *read = lang_alloc(L, 1, sizeof *read);
    bool       rule = load->edges && load->edges[axis].rule != ARRAS_EDGE_NONE;

    if (!read)
        return false;
    *read = (lang_read){ .load = load,
                         .axis = axis,
                         .length = arras_array_dim(load->array, axis),
                         .affine = lang_affine_of(L, load->parts[axis]),
                         .around = eq->around,
                         .guarded = eq->guards > 0,
                         .in_bound = eq->bounds > 0,
                         .shrinks = load->edges && !rule,
                         .edged = rule };
    return (lang_list_add(&eq->reads, read) || lang_fail_memory(L->err)) &&
           lang_mention_read(L, read);
}

static bool check_item(lang_lowering *L, const lang_node *item)
{
    if (item->kind == LANG_SLICE || item->kind == LANG_ELLIPSIS || item->kind == LANG_NEWAXIS)
        return lang_fail(L->err, item->place,
                         "one cell is needed here, so each index is one number, not a part of an "
                         "axis; a reduction over it is written as sum[k] x[k]");
    return true;
}

static lang_cell *make_load(lang_lowering *L, lang_equation *eq, const lang_node *node,
                            arras_array x, const lang_node *name, lang_cell *const *indices)
{
    int        n = node->nparts - 1;
    lang_cell *load;

    if (n != arras_array_rank(x)) {
        lang_fail(L->err, node->place, "%d ind%s for an array with %d ax%s", n,
                  n == 1 ? "ex" : "ices", arras_array_rank(x),
                  arras_array_rank(x) == 1 ? "is" : "es");
        return NULL;
    }
    load = lang_cell_new(L, LANG_CELL_LOAD, node, n, indices);
    if (!load)
        return NULL;
    load->array = x;
    if (!lang_edges_of(&load->edges, L, name, x))
        return NULL;
    for (int axis = 0; axis < n; axis++)
        if (!add_read(L, eq, load, axis))
            return NULL;
    return load;
}

/* Whole numbers that are still of a real type may be indices: g[floor(x)]. */
static lang_cell *as_index(lang_lowering *L, const lang_node *node, lang_cell *cell)
{
    bool whole = cell && cell->kind == LANG_CELL_OP &&
                 (cell->op == ARRAS_OP_floor || cell->op == ARRAS_OP_ceil ||
                  cell->op == ARRAS_OP_trunc || cell->op == ARRAS_OP_round);

    if (!whole)
        return cell;
    cell = lang_cell_new(L, LANG_CELL_CAST, node, 1, &cell);
    if (cell)
        cell->dtype = ARRAS_I64;
    return cell;
}

static lang_cell *expand_index(lang_lowering *L, lang_equation *eq, lang_scope scope,
                               const lang_node *item)
{
    return check_item(L, item) ? as_index(L, item, lang_expand(L, eq, scope, item)) : NULL;
}

static lang_cell *expand_load(lang_lowering *L, lang_equation *eq, lang_scope scope,
                              const lang_node *node)
{
    arras_array x = base_array(L, scope, node->parts[0]);
    lang_cell  *indices[ARRAS_MAX_RANK];

    if (!x)
        return NULL;
    if (node->nparts - 1 > ARRAS_MAX_RANK) {
        lang_fail(L->err, node->place, "%d indices; an array has at most %d axes", node->nparts - 1,
                  ARRAS_MAX_RANK);
        return NULL;
    }
    for (int i = 1; i < node->nparts; i++)
        if (!(indices[i - 1] = expand_index(L, eq, scope, node->parts[i])))
            return NULL;
    return make_load(L, eq, node, x, base_name(scope, node->parts[0]), indices);
}

/* ---- Reductions ------------------------------------------------------------------------------ */

/* Reductions of one name within one another, also through functions, need different variables. */
static const char *variable_name(lang_lowering *L, const lang_equation *eq, const char *name)
{
    size_t size = strlen(name) + 8;
    int    same = 1;
    char  *text;

    for (size_t i = 0; i < eq->active.count; i++) {
        const lang_index *index = eq->active.items[i];

        same += strcmp(index->range->symbol->text, name) == 0;
    }
    if (same == 1)
        return name;
    text = lang_alloc(L, size, 1);
    if (text)
        snprintf(text, size, "%s.%d", name, same);
    return text;
}

static lang_cell *expand_bound(lang_lowering *L, lang_equation *eq, lang_scope scope,
                               const lang_node *node, bool *failed)
{
    lang_cell *cell;

    eq->bounds++;
    cell = node ? lang_expand(L, eq, scope, node) : NULL;
    eq->bounds--;
    *failed = *failed || (node && !cell);
    return cell;
}

static lang_index *add_index(lang_lowering *L, lang_equation *eq, lang_scope scope,
                             const lang_range *range)
{
    lang_index *index = lang_alloc(L, 1, sizeof *index);
    bool        failed = false;

    if (!index)
        return NULL;
    *index = (lang_index){ .range = range, .axis = -1, .around = eq->around };
    index->name = variable_name(L, eq, range->symbol->text);
    index->first = expand_bound(L, eq, scope, range->lo, &failed);
    index->end = expand_bound(L, eq, scope, range->hi, &failed);
    if (!index->name || failed)
        return NULL;
    eq->around = index;
    if (lang_list_add(&eq->indices, index) && lang_list_add(&eq->active, index))
        return index;
    lang_fail_memory(L->err);
    return NULL;
}

lang_scope lang_bind_index(lang_lowering *L, lang_equation *eq, lang_scope scope,
                           const lang_node *node, lang_index *index)
{
    lang_cell *cell = lang_cell_new(L, LANG_CELL_INDEX, node, 0, NULL);

    if (!cell)
        return NULL;
    cell->index = index;
    return lang_bind(L, scope,
                     (lang_binding){ .symbol = index->range->symbol,
                                     .kind = LANG_BIND_INDEX,
                                     .equation = eq,
                                     .cell = cell });
}

static lang_cell *expand_reduction(lang_lowering *L, lang_equation *eq, lang_scope scope,
                                   const lang_node *node)
{
    size_t            outside = eq->active.count;
    const lang_index *around = eq->around;
    lang_index      **indices = lang_alloc(L, (size_t)node->nranges, sizeof *indices);
    lang_cell        *body, *cell;

    for (int i = 0; indices && i < node->nranges; i++) {
        indices[i] = add_index(L, eq, scope, node->ranges[i]);
        if (!indices[i] || !(scope = lang_bind_index(L, eq, scope, node, indices[i])))
            return NULL;
    }
    body = indices ? lang_expand(L, eq, scope, node->parts[0]) : NULL;
    eq->active.count = outside;
    eq->around = around;
    cell = body ? lang_cell_new(L, LANG_CELL_REDUCE, node, 1, &body) : NULL;
    if (!cell)
        return NULL;
    cell->reduction = lang_find_reduction(node->symbol->text, strlen(node->symbol->text));
    cell->nindices = node->nranges;
    cell->indices = indices;
    return cell;
}

/* ---- Calls ----------------------------------------------------------------------------------- */

static lang_cell *expand_cast(lang_lowering *L, lang_equation *eq, lang_scope scope,
                              const lang_node *node, const lang_node *operand, arras_dtype dtype)
{
    lang_cell *part = lang_expand(L, eq, scope, operand), *cell;

    if (!part)
        return NULL;
    cell = lang_cell_new(L, LANG_CELL_CAST, node, 1, &part);
    if (cell)
        cell->dtype = dtype;
    return cell;
}

/* clip(x, lo, hi) of cells: the library's own is for whole arrays. */
static lang_cell *expand_clip(lang_lowering *L, lang_equation *eq, lang_scope scope,
                              const lang_node *node, const lang_node *const *arguments)
{
    static const int ops[] = { 0, ARRAS_OP_maximum, ARRAS_OP_minimum };
    lang_cell       *cell = lang_expand(L, eq, scope, arguments[0]);

    for (int i = 1; cell && i < 3; i++) {
        lang_cell *bound;

        if (!arguments[i] || arguments[i]->kind == LANG_WORD)
            continue;
        if (!(bound = lang_expand(L, eq, scope, arguments[i])))
            return NULL;
        cell = lang_cell_new(L, LANG_CELL_OP, node, 2, (lang_cell *[]){ cell, bound });
        if (cell)
            cell->op = ops[i];
    }
    return cell;
}

static lang_cell *expand_measure(lang_lowering *L, lang_scope scope, const lang_node *node)
{
    int64_t value;

    return lang_measure(&value, L, scope, node) ? int_cell(L, node, value) : NULL;
}

static lang_cell *expand_function(lang_lowering *L, lang_equation *eq, lang_scope scope,
                                  const lang_node *node, const lang_function *f)
{
    const lang_node *arguments[LANG_MAX_PARAMETERS];

    if (f->kind == LANG_F_MEASURE)
        return expand_measure(L, scope, node);
    if (f->kind == LANG_F_ARRAY)
        return cell_of_whole(L, node, lang_lower_call(L, scope, node));
    if (!lang_sort_arguments(arguments, L, node, f))
        return NULL;
    switch (f->kind) {
    case LANG_F_OP: return expand_operands(L, eq, scope, node, f->op, f->nparameters, arguments);
    case LANG_F_CAST: return expand_cast(L, eq, scope, node, arguments[0], (arras_dtype)f->op);
    case LANG_F_CAST_TO: {
        arras_dtype dtype;

        if (!lang_dtype_value(&dtype, L, arguments[1]))
            return NULL;
        return expand_cast(L, eq, scope, node, arguments[0], dtype);
    }
    default: return expand_clip(L, eq, scope, node, arguments);
    }
}

static lang_cell *expand_call(lang_lowering *L, lang_equation *eq, lang_scope scope,
                              const lang_node *node)
{
    const lang_function *f;

    if (node->symbol->function)
        return lang_expand_def(L, eq, scope, node, node->symbol->function);
    f = lang_find_function(node->symbol->text);
    if (f)
        return expand_function(L, eq, scope, node, f);
    lang_fail_unknown_function(L, node);
    return NULL;
}

/* ---- The expression -------------------------------------------------------------------------- */

static lang_cell *fail_misplaced(lang_lowering *L, const lang_node *node)
{
    const char *what = node->kind == LANG_MATMUL  ? "`@` multiplies whole matrices"
                       : node->kind == LANG_LIST  ? "a list is a whole array"
                       : node->kind == LANG_DTYPE ? "a type stands only in f32(x) or dtype=f32"
                                                  : "a text stands only as an argument";

    lang_fail(L->err, node->place, "%s: one cell is needed here", what);
    return NULL;
}

lang_cell *lang_expand(lang_lowering *L, lang_equation *eq, lang_scope scope, const lang_node *node)
{
    arras_graph *g = L->graph;

    if (!lang_step(L, node))
        return NULL;
    switch (node->kind) {
    case LANG_INT: return int_cell(L, node, node->integer);
    case LANG_REAL: return number_cell(L, node, arras_expr_float(g, node->real));
    case LANG_IMAGINARY: return number_cell(L, node, arras_expr_complex(g, 0, node->real));
    case LANG_BOOL:
        return number_cell(L, node, arras_expr_cast(arras_expr_int(g, node->integer), ARRAS_BOOL));
    case LANG_NAME: return expand_name(L, eq, scope, node);
    case LANG_OP:
        return expand_operands(L, eq, scope, node, (int)node->integer, node->nparts, node->parts);
    case LANG_INDEX: return expand_load(L, eq, scope, node);
    case LANG_CALL: return expand_call(L, eq, scope, node);
    case LANG_REDUCE: return expand_reduction(L, eq, scope, node);
    default: return fail_misplaced(L, node);
    }
}
