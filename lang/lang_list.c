/* lang_list.c -- arrays written out: [1, 2, 3], [[1, 2], [3, 4]], [mean(x), std(x)]. */
#include "lang/lang_lower.h"

#include <inttypes.h>

static bool is_literal(const lang_node *node)
{
    return node->kind == LANG_INT || node->kind == LANG_REAL || node->kind == LANG_IMAGINARY ||
           node->kind == LANG_BOOL;
}

/* ---- Lists of plain numbers: one piece of data ----------------------------------------------- */

typedef struct {
    int         rank;
    int64_t     shape[ARRAS_MAX_RANK];
    arras_dtype dtype;
    double     *cells; /* two for each: real and imaginary part */
    int64_t    *ints;
    int64_t     count;
} table;

static bool find_shape(table *t, const lang_node *list)
{
    for (t->rank = 0; list->kind == LANG_LIST; list = list->parts[0]) {
        if (t->rank == ARRAS_MAX_RANK)
            return false;
        t->shape[t->rank++] = list->nparts;
        if (list->nparts == 0)
            break;
    }
    return true;
}

/* Whether all parts at this level have the shape of the first, down to plain numbers. */
static bool is_regular(table *t, const lang_node *node, int level)
{
    if (level == t->rank) {
        arras_dtype dtype = node->kind == LANG_BOOL   ? ARRAS_BOOL
                            : node->kind == LANG_INT  ? ARRAS_I64
                            : node->kind == LANG_REAL ? ARRAS_F64
                                                      : ARRAS_C128;

        if (!is_literal(node))
            return false;
        t->dtype = t->dtype == ARRAS_NO_DTYPE ? dtype : arras_dtype_promote(t->dtype, dtype);
        t->count++;
        return true;
    }
    if (node->kind != LANG_LIST || node->nparts != t->shape[level])
        return false;
    for (int i = 0; i < node->nparts; i++)
        if (!is_regular(t, node->parts[i], level + 1))
            return false;
    return true;
}

static void fill(table *t, const lang_node *node)
{
    if (node->kind == LANG_LIST) {
        for (int i = 0; i < node->nparts; i++)
            fill(t, node->parts[i]);
        return;
    }
    if (t->dtype == ARRAS_C128) {
        t->cells[2 * t->count + (node->kind == LANG_IMAGINARY)] =
            node->kind == LANG_REAL || node->kind == LANG_IMAGINARY ? node->real
                                                                    : (double)node->integer;
    } else if (t->dtype == ARRAS_F64) {
        t->cells[t->count] = node->kind == LANG_REAL ? node->real : (double)node->integer;
    } else if (t->dtype == ARRAS_I64) {
        t->ints[t->count] = node->integer;
    } else {
        ((uint8_t *)t->ints)[t->count] = node->integer != 0;
    }
    t->count++;
}

static arras_array lower_table(lang_lowering *L, const lang_node *list, table *t)
{
    size_t cells = (size_t)t->count + 1;

    t->ints = lang_alloc(L, cells, t->dtype == ARRAS_C128 ? 16 : 8);
    if (!t->ints)
        return NULL;
    t->cells = (double *)t->ints;
    t->count = 0;
    fill(t, list);
    return lang_checked(L, list, arras_copy(L->graph, t->dtype, t->rank, t->shape, NULL, t->ints));
}

/* ---- Lists of other things are stacked ------------------------------------------------------- */

static bool fail_ragged(lang_lowering *L, const lang_node *list)
{
    for (int i = 1; i < list->nparts; i++)
        if (list->parts[i]->kind == LANG_LIST && list->parts[0]->kind == LANG_LIST &&
            list->parts[i]->nparts != list->parts[0]->nparts)
            return lang_fail(L->err, list->parts[i]->place,
                             "a row of %d in a list whose first row has %d", list->parts[i]->nparts,
                             list->parts[0]->nparts);
    return true;
}

static arras_array stack_parts(lang_lowering *L, lang_scope scope, const lang_node *list)
{
    arras_array *parts = lang_alloc(L, (size_t)list->nparts, sizeof *parts);

    if (!parts || !fail_ragged(L, list))
        return NULL;
    for (int i = 0; i < list->nparts; i++)
        if (!(parts[i] = lang_lower_array(L, scope, list->parts[i])))
            return NULL;
    return lang_checked(L, list, arras_stack(list->nparts, parts, 0));
}

arras_array lang_lower_list(lang_lowering *L, lang_scope scope, const lang_node *list)
{
    table t = { 0 };

    if (!find_shape(&t, list)) {
        lang_fail(L->err, list->place, "more than %d lists in one another", ARRAS_MAX_RANK);
        return NULL;
    }
    if (t.shape[t.rank - 1] == 0 && t.rank > 0) {
        t.dtype = ARRAS_F64; /* as in NumPy */
        return lower_table(L, list, &t);
    }
    return is_regular(&t, list, 0) ? lower_table(L, list, &t) : stack_parts(L, scope, list);
}
