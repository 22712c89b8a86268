/* lang_array.c -- the context of whole arrays: an expression becomes an array of the graph. */
#include "lang/lang_functions.h"
#include "lang/lang_lower.h"

/* ---- Names and operations -------------------------------------------------------------------- */

static arras_array lower_late(lang_lowering *L, const lang_binding *b)
{
    lang_binding *own = (lang_binding *)(uintptr_t)b; /* the value is kept for the next use */

    if (!own->array)
        own->array = lang_lower_array(L, b->around, b->node);
    return own->array;
}

static arras_array local_array(lang_lowering *L, lang_scope scope, const lang_node *node)
{
    const lang_binding *b = lang_local(scope, node->symbol);

    if (!b) {
        lang_fail_unknown(L, scope, node);
        return NULL;
    }
    if (b->kind == LANG_BIND_INDEX) {
        lang_fail(L->err, node->place,
                  "the index `%s` means nothing among whole arrays; over cells write sum[k] "
                  "x[%s,k], or maximum(a, b) for the larger of two numbers",
                  node->symbol->text, node->symbol->text);
        return NULL;
    }
    if (L->outer)
        return lang_twin_of_binding(L, node, b);
    return b->kind == LANG_BIND_LATE ? lower_late(L, b) : b->array;
}

static arras_array lower_name(lang_lowering *L, lang_scope scope, const lang_node *node)
{
    const lang_value *value;

    if (node->local)
        return local_array(L, scope, node);
    value = lang_lookup(L, scope, node);
    return value ? value->array : NULL;
}

static arras_array lower_op(lang_lowering *L, lang_scope scope, const lang_node *node)
{
    arras_array operands[3] = { 0 }, x;

    for (int i = 0; i < node->nparts; i++)
        if (!(operands[i] = lang_lower_array(L, scope, node->parts[i])))
            return NULL;
    x = arras_apply((int)node->integer, node->nparts, operands);
    if (!arras_array_error(x))
        return x;
    lang_fail(L->err, node->place, "%s%s", arras_array_error(x), lang_op_hint((int)node->integer));
    return NULL;
}

static arras_array lower_matmul(lang_lowering *L, lang_scope scope, const lang_node *node)
{
    arras_array x = lang_lower_array(L, scope, node->parts[0]);
    arras_array y = x ? lang_lower_array(L, scope, node->parts[1]) : NULL;

    return y ? lang_checked(L, node, arras_matmul(x, y)) : NULL;
}

/* ---- Slices ---------------------------------------------------------------------------------- */

static bool bound_value(arras_dim *out, lang_lowering *L, lang_scope scope, const lang_node *bound)
{
    if (!bound)
        return true;
    return lang_int_value(out, L, scope, bound, "a bound of a slice");
}

static bool slice_item(arras_item *out, lang_lowering *L, lang_scope scope, const lang_node *node)
{
    *out = arras_all_of_axis();
    return bound_value(&out->start, L, scope, node->parts[0]) &&
           bound_value(&out->stop, L, scope, node->parts[1]) &&
           bound_value(&out->step, L, scope, node->parts[2]);
}

/* A number takes a cell of the axis, an array gathers. */
static bool one_item(arras_item *out, lang_lowering *L, lang_scope scope, const lang_node *node)
{
    arras_array index;
    int64_t     at;

    switch (node->kind) {
    case LANG_SLICE: return slice_item(out, L, scope, node);
    case LANG_ELLIPSIS: *out = arras_ellipsis(); return true;
    case LANG_NEWAXIS: *out = arras_newaxis(); return true;
    default: break;
    }
    if (lang_is_number(L, scope, node)) {
        if (!lang_int_value(&at, L, scope, node, "an index"))
            return false;
        *out = arras_at(at);
        return true;
    }
    index = lang_lower_array(L, scope, node);
    if (index)
        *out = arras_gather(index);
    return index != NULL;
}

static arras_array lower_index(lang_lowering *L, lang_scope scope, const lang_node *node)
{
    arras_array x = lang_lower_array(L, scope, node->parts[0]);
    int         n = node->nparts - 1;
    arras_item *items = x ? lang_alloc(L, (size_t)n, sizeof *items) : NULL;

    if (!items)
        return NULL;
    for (int i = 0; i < n; i++)
        if (!one_item(&items[i], L, scope, node->parts[i + 1]))
            return NULL;
    return lang_checked(L, node, arras_index(x, n, items));
}

/* ---- The expression -------------------------------------------------------------------------- */

static arras_array fail_misplaced(lang_lowering *L, const lang_node *node)
{
    lang_fail(L->err, node->place, "%s stands only as an argument of a function that takes one",
              node->kind == LANG_DTYPE  ? "a type"
              : node->kind == LANG_TEXT ? "a text"
                                        : "this");
    return NULL;
}

arras_array lang_lower_array(lang_lowering *L, lang_scope scope, const lang_node *node)
{
    arras_graph *g = L->graph;

    if (!lang_step(L, node))
        return NULL;
    switch (node->kind) {
    case LANG_INT: return lang_checked(L, node, arras_int(g, node->integer));
    case LANG_REAL: return lang_checked(L, node, arras_float(g, node->real));
    case LANG_IMAGINARY: return lang_checked(L, node, arras_complex(g, 0, node->real));
    case LANG_BOOL:
        return lang_checked(L, node, arras_scalar(g, ARRAS_BOOL, &(uint8_t){ node->integer != 0 }));
    case LANG_NAME: return lower_name(L, scope, node);
    case LANG_OP: return lower_op(L, scope, node);
    case LANG_MATMUL: return lower_matmul(L, scope, node);
    case LANG_INDEX: return lower_index(L, scope, node);
    case LANG_CALL: return lang_lower_call(L, scope, node);
    case LANG_REDUCE: return lang_lower_equation(L, scope, 0, NULL, node);
    case LANG_LIST: return lang_lower_list(L, scope, node);
    default: return fail_misplaced(L, node);
    }
}
