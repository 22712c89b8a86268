/* lang_defs.c -- functions of the program.  Over cells they are written out where they are called;
 * over whole arrays they become functions of the graph, one for each signature. */
#include "lang/lang_lower.h"

#include <stdio.h>
#include <string.h>

enum { MOST_CALLS = 100, MOST_ARGUMENTS = LANG_MAX_LOCALS };

/* ---- Arguments ------------------------------------------------------------------------------- */

static bool fail_count(lang_lowering *L, const lang_node *call, const lang_statement *def)
{
    return lang_fail(L->err, call->place, "`%s` takes %d argument%s, not %d", call->symbol->text,
                     def->nparams, def->nparams == 1 ? "" : "s", call->nparts);
}

/* The place of the argument called so; -1: there is none. */
static int find_parameter(const lang_statement *def, const lang_symbol *symbol)
{
    for (int i = 0; i < def->nparams; i++)
        if (def->params[i] == symbol)
            return i;
    return -1;
}

static bool sort_arguments(const lang_node **out, lang_lowering *L, const lang_node *call,
                           const lang_statement *def)
{
    if (call->nparts != def->nparams)
        return fail_count(L, call, def);
    for (int i = 0; i < def->nparams; i++)
        out[i] = NULL;
    for (int i = 0; i < call->nparts; i++) {
        const lang_node *part = call->parts[i];
        bool             named = part->kind == LANG_NAMED;
        int              at = named ? find_parameter(def, part->symbol) : i;

        if (at < 0)
            return lang_fail(L->err, part->place, "`%s` has no parameter `%s`", call->symbol->text,
                             part->symbol->text);
        if (out[at])
            return lang_fail(L->err, part->place, "`%s` is given `%s` twice", call->symbol->text,
                             def->params[at]->text);
        out[at] = named ? part->parts[0] : part;
    }
    return true;
}

static bool enter_call(lang_lowering *L, const lang_node *call)
{
    if (++L->calls <= MOST_CALLS)
        return true;
    return lang_fail(L->err, call->place, "functions call one another more than %d deep",
                     MOST_CALLS);
}

/* ---- Over cells ------------------------------------------------------------------------------ */

static lang_scope bind_late(lang_lowering *L, lang_scope inside, lang_scope around,
                            const lang_equation *eq, const lang_symbol *symbol,
                            const lang_node *node)
{
    lang_cell **cells = eq ? lang_alloc(L, 2, sizeof *cells) : NULL;

    if (eq && !cells)
        return NULL;
    return lang_bind(L, inside,
                     (lang_binding){ .symbol = symbol,
                                     .kind = LANG_BIND_LATE,
                                     .equation = eq,
                                     .node = node,
                                     .around = around,
                                     .surrounded = eq ? eq->around : NULL,
                                     .cells = cells });
}

lang_cell *lang_expand_def(lang_lowering *L, lang_equation *eq, lang_scope scope,
                           const lang_node *call, const lang_statement *def)
{
    const lang_node *arguments[MOST_ARGUMENTS];
    lang_scope       inside = NULL;
    lang_cell       *cell;

    if (!enter_call(L, call) || !sort_arguments(arguments, L, call, def))
        return NULL;
    for (int i = 0; i < def->nparams; i++)
        if (!(inside = bind_late(L, inside, scope, eq, def->params[i], arguments[i])))
            return NULL;
    cell = lang_expand(L, eq, inside, def->parts[0]);
    L->calls--;
    return cell;
}

/* ---- Over whole arrays ----------------------------------------------------------------------- */

bool lang_note_def(lang_lowering *L, const lang_statement *def)
{
    for (int i = 0; i < def->nuses; i++) {
        const lang_node      *use = def->uses[i];
        const lang_statement *called = use->kind == LANG_CALL ? use->symbol->function : NULL;

        if (called && !lang_map_find(&L->closed, called))
            return true;
        if (use->kind == LANG_NAME && !lang_is_number(L, NULL, use))
            return true;
    }
    return lang_map_set(&L->closed, def, def) || lang_fail_memory(L->err);
}

/* A function of the graph: made for arguments of these types, or of these numbers. */
typedef struct lang_instance {
    struct lang_instance *next;
    int                   number; /* among those of one def, from 1 */
    arras_array          *arguments;
    bool                 *late;
    arras_function        function;
} lang_instance;

static bool same_type(arras_array x, arras_array y)
{
    if (arras_array_dtype(x) != arras_array_dtype(y) || arras_array_rank(x) != arras_array_rank(y))
        return false;
    for (int axis = 0; axis < arras_array_rank(x); axis++)
        if (arras_array_dim(x, axis) != arras_array_dim(y, axis))
            return false;
    return true;
}

static bool same_signature(const lang_instance *a, const lang_instance *b, int n)
{
    for (int i = 0; i < n; i++)
        if (a->late[i] != b->late[i] || (a->late[i] ? a->arguments[i] != b->arguments[i]
                                                    : !same_type(a->arguments[i], b->arguments[i])))
            return false;
    return true;
}

static bool lower_arguments(lang_instance *out, lang_lowering *L, lang_scope scope,
                            const lang_node *const *arguments, int n)
{
    out->arguments = lang_alloc(L, (size_t)n, sizeof *out->arguments);
    out->late = lang_alloc(L, (size_t)n, sizeof *out->late);
    if (!out->arguments || !out->late)
        return false;
    for (int i = 0; i < n; i++) {
        out->late[i] = lang_is_number(L, scope, arguments[i]);
        if (!(out->arguments[i] = lang_lower_array(L, scope, arguments[i])))
            return false;
    }
    return true;
}

/* The parameters as the body sees them: numbers as written, arrays as `arrays`. */
static bool bind_parameters(lang_scope *inside, lang_lowering *L, lang_scope scope,
                            const lang_statement *def, const lang_instance *call,
                            const lang_node *const *arguments, const arras_array *arrays)
{
    *inside = NULL;
    for (int i = 0; i < def->nparams; i++) {
        if (call->late[i])
            *inside = bind_late(L, *inside, scope, NULL, def->params[i], arguments[i]);
        else
            *inside = lang_bind(L, *inside,
                                (lang_binding){ .symbol = def->params[i],
                                                .kind = LANG_BIND_ARRAY,
                                                .array = arrays[i] });
        if (!*inside)
            return false;
    }
    return true;
}

static arras_array parameter(lang_lowering *L, const lang_statement *def, int instance, int i,
                             arras_array like)
{
    arras_dim shape[ARRAS_MAX_RANK];
    char      name[256];

    for (int axis = 0; axis < arras_array_rank(like); axis++)
        shape[axis] = arras_array_dim(like, axis);
    snprintf(name, sizeof name, "%.100s.%d.%.100s", def->symbol->text, instance,
             def->params[i]->text);
    return arras_param(L->graph, name, arras_array_dtype(like), arras_array_rank(like), shape);
}

static bool make_function(lang_instance *instance, lang_lowering *L, lang_scope scope,
                          const lang_node *call, const lang_statement *def,
                          const lang_node *const *arguments)
{
    arras_array params[MOST_ARGUMENTS], given[MOST_ARGUMENTS], body;
    lang_scope  inside;
    int         n = 0;
    char        name[256];

    for (int i = 0; i < def->nparams; i++) {
        params[i] = NULL;
        if (instance->late[i])
            continue;
        params[i] = parameter(L, def, instance->number, i, instance->arguments[i]);
        if (!lang_checked(L, call, params[i]))
            return false;
        given[n++] = params[i];
    }
    if (!bind_parameters(&inside, L, scope, def, instance, arguments, params) ||
        !(body = lang_lower_array(L, inside, def->parts[0])))
        return false;
    snprintf(name, sizeof name, "%.200s.%d", def->symbol->text, instance->number);
    instance->function = arras_function_new(L->graph, name, n, given, 1,
                                            (const char *[]){ def->symbol->text }, &body);
    return true;
}

static lang_instance *find_instance(lang_lowering *L, lang_scope scope, const lang_node *call,
                                    const lang_statement *def, lang_instance *wanted,
                                    const lang_node *const *arguments)
{
    lang_instance *first = lang_map_find(&L->instances, def), *made;

    for (lang_instance *i = first; i; i = i->next)
        if (same_signature(i, wanted, def->nparams))
            return i;
    made = lang_alloc(L, 1, sizeof *made);
    if (!made)
        return NULL;
    *made = *wanted;
    made->next = first;
    made->number = first ? first->number + 1 : 1;
    if (!make_function(made, L, scope, call, def, arguments))
        return NULL;
    if (lang_map_set(&L->instances, def, made))
        return made;
    lang_fail_memory(L->err);
    return NULL;
}

static arras_array call_instance(lang_lowering *L, const lang_node *call, const lang_statement *def,
                                 const lang_instance *instance, const lang_instance *wanted)
{
    arras_array given[MOST_ARGUMENTS];
    int         n = 0;

    for (int i = 0; i < def->nparams; i++)
        if (!wanted->late[i])
            given[n++] = wanted->arguments[i];
    return lang_checked(L, call, arras_call(instance->function, def->symbol->text, n, given));
}

static bool has_arrays(const lang_instance *call, int n)
{
    for (int i = 0; i < n; i++)
        if (!call->late[i] && arras_array_rank(call->arguments[i]) > 0)
            return true;
    return false;
}

static arras_array call_or_write_out(lang_lowering *L, lang_scope scope, const lang_node *call,
                                     const lang_statement *def, const lang_node *const *arguments)
{
    lang_instance wanted = { 0 }, *instance;
    lang_scope    inside;

    if (!lower_arguments(&wanted, L, scope, arguments, def->nparams) ||
        !bind_parameters(&inside, L, scope, def, &wanted, arguments, wanted.arguments))
        return NULL;
    /* A function of the graph sees nothing but its parameters; and a number must stay untyped. */
    if (!has_arrays(&wanted, def->nparams) || !lang_map_find(&L->closed, def) ||
        lang_is_number(L, inside, def->parts[0]))
        return lang_lower_array(L, inside, def->parts[0]);
    instance = find_instance(L, scope, call, def, &wanted, arguments);
    return instance ? call_instance(L, call, def, instance, &wanted) : NULL;
}

arras_array lang_call_def(lang_lowering *L, lang_scope scope, const lang_node *call,
                          const lang_statement *def)
{
    const lang_node *arguments[MOST_ARGUMENTS];
    arras_array      x;

    if (!enter_call(L, call) || !sort_arguments(arguments, L, call, def))
        return NULL;
    x = call_or_write_out(L, scope, call, def, arguments);
    L->calls--;
    return x;
}
