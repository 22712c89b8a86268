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

/* The number of cells, if all ranges are numbers and there is a cell; otherwise 0. */
static int64_t cells_of(const lang_cell *cell)
{
    int64_t count = 1;

    for (int i = 0; i < cell->nindices; i++) {
        const lang_index *index = cell->indices[i];

        if (index->moves || index->hi <= index->lo ||
            __builtin_mul_overflow(count, index->hi - index->lo, &count))
            return 0;
    }
    return count;
}

/* The place among several indices is that of one variable which counts their cells row by row: one
 * range, which can be cut into parts. */
static arras_expr emit_place(lang_lowering *L, lang_cell *cell, int64_t cells)
{
    const char *name = cell->indices[0]->name;
    arras_expr  all = arras_expr_var(L->graph, name), body;
    int64_t     count = 1;

    for (int i = cell->nindices - 1; i >= 0; i--) {
        lang_index *index = cell->indices[i];
        int64_t     length = index->hi - index->lo;
        arras_expr  at = apply2(ARRAS_OP_floor_divide, all, arras_expr_int(L->graph, count));

        if (i > 0)
            at = apply2(ARRAS_OP_remainder, at, arras_expr_int(L->graph, length));
        index->expr = add_int(L->graph, at, index->lo);
        count *= length;
    }
    body = lang_emit(L, cell->parts[0]);
    if (!body)
        return NULL;
    return arras_expr_reduce(cell->reduction->reduction, name, arras_expr_int(L->graph, 0),
                             arras_expr_int(L->graph, cells), body);
}

/* Over the set of values of the indices. */
static arras_expr emit_tuples(lang_lowering *L, const lang_cell *cell)
{
    const lang_reduction *r = cell->reduction;
    int                   n = cell->nindices;
    const char          **names = lang_alloc(L, (size_t)n, sizeof *names);
    arras_expr           *lo = lang_alloc(L, (size_t)n, sizeof *lo);
    arras_expr           *hi = lang_alloc(L, (size_t)n, sizeof *hi);
    arras_expr            body = names && lo && hi ? lang_emit(L, cell->parts[0]) : NULL;

    for (int i = 0; body && i < n; i++) {
        names[i] = cell->indices[i]->name;
        if (!(lo[i] = first_of(L, cell->indices[i])) || !(hi[i] = end_of(L, cell->indices[i])))
            return NULL;
    }
    if (!body)
        return NULL;
    switch (r->kind) {
    case LANG_R_MEAN: return arras_expr_mean_over(n, names, lo, hi, body);
    case LANG_R_VAR: return arras_expr_var_over(n, names, lo, hi, 0, body);
    case LANG_R_STD: return arras_expr_std_over(n, names, lo, hi, 0, body);
    default: return arras_expr_reduce_over(r->reduction, n, names, lo, hi, body);
    }
}

static arras_expr emit_reduce(lang_lowering *L, lang_cell *cell)
{
    int64_t cells = cells_of(cell);

    return cell->reduction->kind == LANG_R_PLACE && cell->nindices > 1 && cells > 0
               ? emit_place(L, cell, cells)
               : emit_tuples(L, cell);
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
