/* lang_emit.c -- from cells, whose indices now have ranges, to expressions of the library. */
#include "lang/lang_lower.h"

static arras_expr apply2(int op, arras_expr x, arras_expr y)
{
    return arras_expr_apply(op, 2, (arras_expr[]){ x, y });
}

static arras_expr add_int(arras_graph *g, arras_expr x, int64_t value)
{
    return value == 0 ? x : apply2(ARRAS_OP_add, x, arras_expr_int(g, value));
}

/* Cell 0 of a result whose range begins later is the first value of the index. */
void lang_emit_index(lang_lowering *L, lang_index *index)
{
    if (index->axis < 0)
        index->expr = arras_expr_var(L->graph, index->name);
    else
        index->expr = add_int(L->graph, arras_expr_index(L->graph, index->axis), index->lo);
}

/* ---- Reductions ------------------------------------------------------------------------------ */

static arras_expr first_of(lang_lowering *L, const lang_index *index)
{
    return index->moves && index->first ? lang_emit(L, index->first)
                                        : arras_expr_int(L->graph, index->lo);
}

static arras_expr end_of(lang_lowering *L, const lang_index *index)
{
    return index->moves ? lang_emit(L, index->end) : arras_expr_int(L->graph, index->hi);
}

/* One variable within another, the last one innermost. */
static arras_expr reduce(lang_lowering *L, const lang_cell *cell, int reduction, arras_expr body)
{
    for (int i = cell->nindices - 1; body && i >= 0; i--) {
        const lang_index *index = cell->indices[i];
        arras_expr        first = first_of(L, index), end = end_of(L, index);

        if (!first || !end)
            return NULL;
        body = lang_checked_expr(L, cell->node,
                                 arras_expr_reduce(reduction, index->name, first, end, body));
    }
    return body;
}

/* How many cells are reduced; an untyped number where that is known, otherwise counted in the
 * body's own type, so that the mean of f32 stays f32. */
static arras_expr count_cells(lang_lowering *L, const lang_cell *cell, arras_expr body)
{
    arras_graph *g = L->graph;
    arras_expr   one = arras_expr_int(g, 1);
    int64_t      count = 1;
    bool         known = true;

    for (int i = 0; i < cell->nindices; i++) {
        const lang_index *index = cell->indices[i];

        known =
            known && !index->moves && !__builtin_mul_overflow(count, index->hi - index->lo, &count);
    }
    if (known)
        return arras_expr_int(g, count);
    one = arras_expr_apply(ARRAS_OP_where, 3,
                           (arras_expr[]){ arras_expr_cast(one, ARRAS_BOOL), one, body });
    return reduce(L, cell, ARRAS_REDUCE_sum, one);
}

static arras_expr emit_mean(lang_lowering *L, const lang_cell *cell, arras_expr body)
{
    arras_expr sum = reduce(L, cell, ARRAS_REDUCE_sum, body), count = count_cells(L, cell, body);

    return sum && count ? apply2(ARRAS_OP_divide, sum, count) : NULL;
}

/* The place among several indices is that of one variable which counts their cells row by row. */
static arras_expr emit_place(lang_lowering *L, lang_cell *cell)
{
    const char *name = cell->indices[0]->name;
    arras_expr  all = arras_expr_var(L->graph, name), body;
    int64_t     count = 1;

    for (int i = cell->nindices - 1; i >= 0; i--) {
        lang_index *index = cell->indices[i];
        int64_t     length = index->hi - index->lo;
        arras_expr  at = apply2(ARRAS_OP_floor_divide, all, arras_expr_int(L->graph, count));

        if (index->moves || length < 1 || __builtin_mul_overflow(count, length, &count)) {
            lang_fail(L->err, index->range->place,
                      "`%s` over several indices needs ranges that are numbers and not empty",
                      cell->reduction->word);
            return NULL;
        }
        if (i > 0)
            at = apply2(ARRAS_OP_remainder, at, arras_expr_int(L->graph, length));
        index->expr = add_int(L->graph, at, index->lo);
    }
    body = lang_emit(L, cell->parts[0]);
    if (!body)
        return NULL;
    return arras_expr_reduce(cell->reduction->reduction, name, arras_expr_int(L->graph, 0),
                             arras_expr_int(L->graph, count), body);
}

static arras_expr emit_reduce(lang_lowering *L, lang_cell *cell)
{
    arras_expr body;

    if (cell->reduction->place && cell->nindices > 1)
        return emit_place(L, cell);
    body = lang_emit(L, cell->parts[0]);
    if (!body)
        return NULL;
    return cell->reduction->mean ? emit_mean(L, cell, body)
                                 : reduce(L, cell, cell->reduction->reduction, body);
}

/* ---- Everything else ------------------------------------------------------------------------- */

static arras_expr emit_parts(lang_lowering *L, const lang_cell *cell)
{
    arras_expr parts[ARRAS_MAX_RANK];

    for (int i = 0; i < cell->nparts; i++)
        if (!(parts[i] = lang_emit(L, cell->parts[i])))
            return NULL;
    if (cell->kind == LANG_CELL_CAST)
        return arras_expr_cast(parts[0], cell->dtype);
    if (cell->kind == LANG_CELL_LOAD)
        return arras_expr_load(cell->array, cell->nparts, parts, cell->edges);
    return arras_expr_apply(cell->op, cell->nparts, parts);
}

static arras_expr emit_new(lang_lowering *L, lang_cell *cell)
{
    switch (cell->kind) {
    case LANG_CELL_INT: return arras_expr_int(L->graph, cell->integer);
    case LANG_CELL_INDEX: return cell->index->expr;
    case LANG_CELL_REDUCE: return emit_reduce(L, cell);
    default: return emit_parts(L, cell);
    }
}

arras_expr lang_emit(lang_lowering *L, lang_cell *cell)
{
    arras_expr e;

    if (cell->expr)
        return cell->expr;
    e = emit_new(L, cell);
    if (!e)
        return NULL;
    if (arras_expr_error(e)) {
        lang_fail(L->err, cell->node->place, "%s%s", arras_expr_error(e),
                  cell->kind == LANG_CELL_OP ? lang_op_hint(cell->op) : "");
        return NULL;
    }
    cell->expr = e;
    return e;
}
