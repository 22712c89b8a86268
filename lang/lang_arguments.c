/* lang_arguments.c -- the arguments of a call: which parameter each is for, and its value. */
#include "lang/lang_functions.h"

#include <limits.h>
#include <stdio.h>
#include <string.h>

/* ---- By place or by name --------------------------------------------------------------------- */

static bool fail_usage(lang_lowering *L, lang_place place, const lang_function *f, const char *what)
{
    return lang_fail(L->err, place, "%s: %s", what, f->info.usage);
}

static int find_parameter(const lang_function *f, const char *name)
{
    for (int i = 0; i < f->nparameters; i++)
        if (f->parameters[i].type != LANG_P_REST && strcmp(f->parameters[i].name, name) == 0)
            return i;
    return -1;
}

static bool fail_parameter(lang_lowering *L, const lang_node *part, const lang_function *f)
{
    lang_guess guess = { .wanted = part->symbol->text };
    char       room[320];

    for (int i = 0; i < f->nparameters; i++)
        lang_guess_offer(&guess, f->parameters[i].name);
    return lang_fail(L->err, part->place, "no parameter is called `%s`%s: %s", part->symbol->text,
                     lang_guess_text(&guess, room, sizeof room), f->info.usage);
}

bool lang_sort_arguments(const lang_node **out, lang_lowering *L, const lang_node *call,
                         const lang_function *f)
{
    bool rest = f->nparameters > 0 && f->parameters[f->nparameters - 1].type == LANG_P_REST;

    for (int i = 0; i < f->nparameters; i++)
        out[i] = NULL;
    for (int i = 0; i < call->nparts; i++) {
        const lang_node *part = call->parts[i];
        bool             named = part->kind == LANG_NAMED;
        int              at = named ? find_parameter(f, part->symbol->text) : i;

        if (named && at < 0)
            return fail_parameter(L, part, f);
        if (at >= f->nparameters && rest)
            continue;
        if (at >= f->nparameters)
            return fail_usage(L, part->place, f, "more arguments than parameters");
        if (out[at])
            return fail_usage(L, part->place, f, "an argument is given twice");
        out[at] = named ? part->parts[0] : part;
    }
    for (int i = 0; i < f->nneeded; i++)
        if (!out[i])
            return fail_usage(L, call->place, f, "an argument is missing");
    return true;
}

/* ---- Values by type -------------------------------------------------------------------------- */

typedef struct {
    lang_lowering       *L;
    lang_scope           scope;
    const lang_function *f;
    char                 what[64]; /* "the axis of roll" */
} reader;

static bool fail_value(const reader *r, const lang_node *node, const char *needed)
{
    return lang_fail(r->L->err, node->place, "%s must be %s: %s", r->what, needed,
                     r->f->info.usage);
}

static bool read_array(lang_argument *a, reader *r)
{
    a->array = lang_lower_array(r->L, r->scope, a->node);
    return a->array != NULL;
}

static bool read_arrays(lang_argument *a, reader *r)
{
    if (a->node->kind != LANG_LIST || a->node->nparts == 0)
        return fail_value(r, a->node, "a list of arrays, [a, b]");
    a->count = a->node->nparts;
    a->arrays = lang_alloc(r->L, (size_t)a->count, sizeof *a->arrays);
    for (int i = 0; a->arrays && i < a->count; i++)
        if (!(a->arrays[i] = lang_lower_array(r->L, r->scope, a->node->parts[i])))
            return false;
    return a->arrays != NULL;
}

static bool read_axes(lang_argument *a, reader *r)
{
    int64_t *axes;

    if (!lang_int_values(&axes, &a->count, r->L, r->scope, a->node, r->what))
        return false;
    a->axes = lang_alloc(r->L, (size_t)a->count, sizeof *a->axes);
    for (int i = 0; a->axes && i < a->count; i++) {
        if (axes[i] < INT_MIN || axes[i] > INT_MAX)
            return fail_value(r, a->node, "an axis of the array");
        a->axes[i] = (int)axes[i];
    }
    return a->axes != NULL;
}

static bool read_bool(lang_argument *a, reader *r)
{
    if (a->node->kind != LANG_BOOL)
        return fail_value(r, a->node, "true or false");
    a->flag = a->node->integer != 0;
    return true;
}

static bool read_text(lang_argument *a, reader *r)
{
    if (a->node->kind != LANG_TEXT)
        return fail_value(r, a->node, "a text, \"...\"");
    a->text = a->node->text;
    return true;
}

bool lang_dtype_value(arras_dtype *out, lang_lowering *L, const lang_node *node)
{
    arras_dtype dtype = node->kind == LANG_DTYPE  ? (arras_dtype)node->integer
                        : node->kind == LANG_TEXT ? lang_find_dtype(node->text, strlen(node->text))
                                                  : ARRAS_NO_DTYPE;

    if (dtype == ARRAS_NO_DTYPE)
        return lang_fail(
            L->err, node->place,
            "a type is needed here: bool, i8 to i64, u8 to u64, f32, f64, c64 or c128");
    *out = dtype;
    return true;
}

#define EDGES "none, nearest, reflect, mirror, wrap or a number"

static bool read_edge(arras_edge *out, reader *r, const lang_node *node)
{
    lang_equation none = { 0 };
    lang_cell    *cell;

    if (node->kind == LANG_TEXT || node->kind == LANG_WORD) {
        *out = (arras_edge){ lang_find_edge(node->text, strlen(node->text)), NULL };
        return out->rule != ARRAS_EDGE_END || fail_value(r, node, EDGES);
    }
    if (!lang_is_number(r->L, r->scope, node))
        return fail_value(r, node, EDGES);
    cell = lang_expand(r->L, &none, r->scope, node);
    *out = (arras_edge){ ARRAS_EDGE_CONSTANT, cell ? lang_emit(r->L, cell) : NULL };
    return out->fill != NULL;
}

static bool read_edges(lang_argument *a, reader *r)
{
    bool list = a->node->kind == LANG_LIST;

    a->count = list ? a->node->nparts : 1;
    a->edges = lang_alloc(r->L, (size_t)a->count, sizeof *a->edges);
    for (int i = 0; a->edges && i < a->count; i++)
        if (!read_edge(&a->edges[i], r, list ? a->node->parts[i] : a->node))
            return false;
    return a->edges != NULL;
}

static bool read_value(lang_argument *a, reader *r, lang_parameter_type type)
{
    lang_lowering *L = r->L;

    switch (type) {
    case LANG_P_ARRAY: return read_array(a, r);
    case LANG_P_ARRAYS: return read_arrays(a, r);
    case LANG_P_INT: return lang_int_value(&a->integer, L, r->scope, a->node, r->what);
    case LANG_P_INTS: return lang_int_values(&a->ints, &a->count, L, r->scope, a->node, r->what);
    case LANG_P_REAL: return lang_real_value(&a->real, L, r->scope, a->node, r->what);
    case LANG_P_REALS: return lang_real_values(&a->reals, &a->count, L, r->scope, a->node, r->what);
    case LANG_P_BOOL: return read_bool(a, r);
    case LANG_P_AXES: return read_axes(a, r);
    case LANG_P_DTYPE: return lang_dtype_value(&a->dtype, L, a->node);
    case LANG_P_TEXT: return read_text(a, r);
    case LANG_P_EDGE: return read_edges(a, r);
    case LANG_P_REST:
    case LANG_P_NUMBER: break;
    }
    return true;
}

bool lang_read_arguments(lang_argument *out, lang_lowering *L, lang_scope scope,
                         const lang_node *call, const lang_function *f)
{
    const lang_node *nodes[LANG_MAX_PARAMETERS];
    reader           r = { .L = L, .scope = scope, .f = f };

    memset(out, 0, LANG_MAX_PARAMETERS * sizeof *out);
    if (!lang_sort_arguments(nodes, L, call, f))
        return false;
    for (int i = 0; i < f->nparameters; i++) {
        bool left_out =
            nodes[i] && nodes[i]->kind == LANG_WORD && f->parameters[i].type != LANG_P_EDGE;

        if (left_out && i < f->nneeded)
            return fail_usage(L, nodes[i]->place, f, "this argument can't be left out");
        if (!nodes[i] || left_out)
            continue;
        out[i].node = nodes[i];
        snprintf(r.what, sizeof r.what, "`%s` of %s", f->parameters[i].name, f->info.name);
        if (!read_value(&out[i], &r, f->parameters[i].type))
            return false;
    }
    return true;
}

/* ---- The call -------------------------------------------------------------------------------- */

static arras_array lower_measure(lang_lowering *L, lang_scope scope, const lang_node *call)
{
    int64_t value;

    return lang_measure(&value, L, scope, call) ? lang_checked(L, call, arras_int(L->graph, value))
                                                : NULL;
}

static arras_array build(lang_lowering *L, lang_scope scope, const lang_node *call,
                         const lang_function *f)
{
    lang_argument a[LANG_MAX_PARAMETERS];
    arras_array   operands[3], x;

    if (!lang_read_arguments(a, L, scope, call, f))
        return NULL;
    for (int i = 0; i < 3; i++)
        operands[i] = a[i].array;
    if (f->kind == LANG_F_OP)
        x = arras_apply(f->op, f->nparameters, operands);
    else if (f->kind == LANG_F_CAST)
        x = arras_cast(operands[0], (arras_dtype)f->op);
    else
        x = f->build(L, f, scope, call, a);
    return x ? lang_checked(L, call, x) : NULL;
}

arras_array lang_lower_call(lang_lowering *L, lang_scope scope, const lang_node *call)
{
    const lang_function *f;

    if (call->symbol->function)
        return lang_call_def(L, scope, call, call->symbol->function);
    f = lang_find_function(call->symbol->text);
    if (!f) {
        lang_fail_unknown_function(L, call);
        return NULL;
    }
    return f->kind == LANG_F_MEASURE ? lower_measure(L, scope, call) : build(L, scope, call, f);
}
