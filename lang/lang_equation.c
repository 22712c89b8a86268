/* lang_equation.c -- an equation with indices becomes one index lambda: expand, find ranges, emit.
 */
#include "lang/lang_lower.h"

#include <inttypes.h>

/* The indices of the result; their ranges, if given, are numbers. */
static lang_scope add_result_index(lang_lowering *L, lang_equation *eq, lang_scope scope, int axis,
                                   const lang_range *range, const lang_node *body)
{
    lang_index *index = lang_alloc(L, 1, sizeof *index);

    if (!index)
        return NULL;
    *index = (lang_index){ .range = range, .axis = axis };
    if (!lang_list_add(&eq->indices, index)) {
        lang_fail_memory(L->err);
        return NULL;
    }
    if (range->lo && !lang_int_value(&index->lo, L, NULL, range->lo, "the first value of an index"))
        return NULL;
    if (range->hi && !lang_int_value(&index->hi, L, NULL, range->hi, "the range of an index"))
        return NULL;
    if (range->hi && index->hi < index->lo) {
        lang_fail(L->err, range->place,
                  "the range of `%s` ends at %" PRId64 ", before it begins (%" PRId64 ")",
                  range->symbol->text, index->hi, index->lo);
        return NULL;
    }
    index->state = range->hi ? LANG_KNOWN : LANG_UNKNOWN;
    return lang_bind_index(L, eq, scope, body, index);
}

static arras_array make_lambda(lang_lowering *L, lang_equation *eq, int n, lang_cell *cell)
{
    arras_dim  shape[ARRAS_MAX_RANK];
    arras_expr e;

    if (!lang_find_ranges(L, eq))
        return NULL;
    for (size_t i = 0; i < eq->indices.count; i++) {
        lang_index *index = (lang_index *)(uintptr_t)eq->indices.items[i];

        if (i < (size_t)n)
            shape[i] = index->hi - index->lo;
        lang_emit_index(L, index);
    }
    e = lang_emit(L, cell);
    return e ? lang_checked(L, cell->node, arras_lambda(L->graph, n, shape, e)) : NULL;
}

arras_array lang_lower_equation(lang_lowering *L, lang_scope scope, int n,
                                const lang_range *const *ranges, const lang_node *body)
{
    lang_equation eq = { 0 };
    arras_array   x = NULL;
    lang_cell    *cell;
    bool          bound = true;

    for (int i = 0; bound && i < n; i++) {
        scope = add_result_index(L, &eq, scope, i, ranges[i], body);
        bound = scope != NULL;
    }
    cell = bound ? lang_expand(L, &eq, scope, body) : NULL;
    if (cell)
        x = make_lambda(L, &eq, n, cell);
    lang_list_free(&eq.indices);
    lang_list_free(&eq.reads);
    lang_list_free(&eq.active);
    return x;
}
