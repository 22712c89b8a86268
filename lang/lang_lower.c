/* lang_lower.c -- the map of the lowering: inputs, params, definitions in order, outputs. */
#include "lang/lang_lower.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

/* ---- Errors and memory ----------------------------------------------------------------------- */

arras_array lang_checked(lang_lowering *L, const lang_node *node, arras_array x)
{
    const char *error = arras_array_error(x);

    if (!error)
        return x;
    lang_fail(L->err, node->place, "%s", error);
    return NULL;
}

arras_expr lang_checked_expr(lang_lowering *L, const lang_node *node, arras_expr e)
{
    const char *error = arras_expr_error(e);

    if (!error)
        return e;
    lang_fail(L->err, node->place, "%s", error);
    return NULL;
}

const char *lang_op_hint(int op)
{
    return op == ARRAS_OP_bitwise_xor ? "; `^` is bitwise xor, `**` is power" : "";
}

void *lang_alloc(lang_lowering *L, size_t count, size_t size)
{
    void *memory = lang_arena_alloc(&L->arena, count, size);

    if (!memory)
        lang_fail_memory(L->err);
    return memory;
}

bool lang_step(lang_lowering *L, const lang_node *node)
{
    enum { MOST_STEPS = 1000 * 1000 };

    L->steps += L->calls > 0;
    if (L->steps <= MOST_STEPS)
        return true;
    return lang_fail(
        L->err, node->place,
        "functions are written out to more than %d operations: compute parts once, with `let`",
        MOST_STEPS);
}

/* ---- Names ----------------------------------------------------------------------------------- */

const lang_binding *lang_local(lang_scope scope, const lang_symbol *symbol)
{
    while (scope && scope->symbol != symbol)
        scope = scope->next;
    return scope;
}

lang_scope lang_bind(lang_lowering *L, lang_scope scope, lang_binding binding)
{
    lang_binding *kept = lang_alloc(L, 1, sizeof *kept);

    if (!kept)
        return NULL;
    *kept = binding;
    kept->next = scope;
    return kept;
}

static void offer_names(lang_guess *guess, const lang_lowering *L, lang_scope scope)
{
    const lang_list *statements = &L->program->statements;

    for (; scope; scope = scope->next)
        lang_guess_offer(guess, scope->symbol->text);
    for (int i = 0; i < L->world->ninputs; i++)
        lang_guess_offer(guess, L->world->inputs[i].name);
    for (size_t i = 0; i < statements->count; i++) {
        const lang_statement *s = statements->items[i];

        if (s->symbol && s->symbol->array)
            lang_guess_offer(guess, s->symbol->text);
    }
}

bool lang_fail_unknown(lang_lowering *L, lang_scope scope, const lang_node *node)
{
    lang_guess  guess = { .wanted = node->symbol->text };
    char        room[640];
    const char *advice;

    if (node->local)
        return lang_fail(L->err, node->place,
                         "the range of an index on the left can't depend on the index `%s`",
                         node->symbol->text);
    if (node->symbol->array)
        return lang_fail(L->err, node->place,
                         "`%s` is defined by itself, and there is no input of that name to begin "
                         "with",
                         node->symbol->text);
    offer_names(&guess, L, scope);
    advice = lang_name_advice(node->symbol->text, room, sizeof room);
    if (!advice)
        advice = guess.best ? lang_guess_text(&guess, room, sizeof room)
                            : lang_index_hint(node, room, sizeof room);
    return lang_fail(L->err, node->place, "unknown name `%s`%s", node->symbol->text, advice);
}

const lang_value *lang_keep_value(lang_lowering *L, const lang_symbol *symbol, lang_value value)
{
    lang_value *kept = lang_alloc(L, 1, sizeof *kept);

    if (!kept)
        return NULL;
    *kept = value;
    if (lang_map_set(&L->values, symbol, kept))
        return kept;
    lang_fail_memory(L->err);
    return NULL;
}

static const lang_value *define_input(lang_lowering *L, const lang_node *node,
                                      const lang_input *input)
{
    arras_array x =
        arras_placeholder(L->graph, input->name, input->dtype, input->rank, input->shape);

    return lang_checked(L, node, x) ? lang_keep_value(L, node->symbol, (lang_value){ .array = x })
                                    : NULL;
}

/* Numbers are expanded wherever they are used, so that they stay untyped; but not without end. */
enum { DEEPEST_NUMBER = 200 };

static lang_cell *number_of(lang_lowering *L, const lang_node *body)
{
    lang_equation none = { 0 };
    lang_cell    *cell;

    if (!lang_is_number(L, NULL, body))
        return NULL;
    cell = lang_expand(L, &none, NULL, body);
    return cell && cell->number && cell->height < DEEPEST_NUMBER ? cell : NULL;
}

const lang_value *lang_define_constant(lang_lowering *L, const lang_node *node)
{
    lang_cell  *cell = lang_cell_new(L, LANG_CELL_EXPR, node, 0, NULL);
    arras_array x = lang_checked(L, node, arras_float(L->graph, M_E));

    if (!cell || !x)
        return NULL;
    cell->number = true;
    cell->expr = arras_expr_float(L->graph, M_E);
    return lang_keep_value(L, node->symbol, (lang_value){ x, cell });
}

const lang_value *lang_define(lang_lowering *L, const lang_statement *s)
{
    const lang_node *set = lang_map_find(L->settings, s->symbol);
    const lang_node *body = set ? set : s->parts[0];
    lang_value       value = { 0 };

    value.array = s->nindices > 0 ? lang_lower_equation(L, NULL, s->nindices, s->indices, body)
                                  : lang_lower_array(L, NULL, body);
    if (!value.array)
        return NULL;
    if (s->nindices == 0)
        value.number = number_of(L, body);
    return lang_keep_value(L, s->symbol, value);
}

const lang_value *lang_lookup(lang_lowering *L, lang_scope scope, const lang_node *node)
{
    const lang_value *known = lang_map_find(&L->values, node->symbol);
    const lang_input *input;

    if (known)
        return known;
    if (L->outer)
        return lang_twin_of_name(L, scope, node);
    if ((input = lang_map_find(L->inputs, node->symbol)))
        return define_input(L, node, input);
    if (lang_is_constant_name(node))
        return lang_define_constant(L, node);
    lang_fail_unknown(L, scope, node);
    return NULL;
}

/* ---- From outside: inputs and settings ------------------------------------------------------- */

/* What lang_lower was given, by symbol. */
typedef struct {
    lang_map     inputs, settings;
    lang_symbols symbols; /* of the values of settings, which have names of functions only */
    lang_list    units;   /* of lang_unit: their texts */
} given;

static void free_given(given *w)
{
    for (size_t i = 0; i < w->units.count; i++)
        lang_unit_free((lang_unit *)(uintptr_t)w->units.items[i]);
    lang_list_free(&w->units);
    lang_symbols_free(&w->symbols);
    lang_map_free(&w->inputs);
    lang_map_free(&w->settings);
}

static bool read_inputs(given *w, const lang_program *p, const lang_world *world, lang_error *err)
{
    for (int i = 0; i < world->ninputs; i++) {
        const lang_symbol *symbol = lang_symbol_find(&p->symbols, world->inputs[i].name);

        if (symbol && !lang_map_set(&w->inputs, symbol, &world->inputs[i]))
            return lang_fail_memory(err);
    }
    return true;
}

static bool fail_setting(const lang_program *p, const char *name, lang_error *err)
{
    lang_guess guess = { .wanted = name };
    char       room[320];

    for (int i = 0; lang_program_param(p, i); i++)
        lang_guess_offer(&guess, lang_program_param(p, i));
    return lang_fail(err, (lang_place){ 0 }, "the program has no param `%.255s`%s", name,
                     lang_guess_text(&guess, room, sizeof room));
}

static bool check_setting(const lang_statement *s, lang_error *err)
{
    for (int i = 0; i < s->nuses; i++)
        if (s->uses[i]->kind == LANG_NAME && !lang_is_constant_name(s->uses[i]))
            return lang_fail(err, s->uses[i]->place,
                             "the value of a param is a constant: it has no names");
    return true;
}

static bool read_setting(given *w, const lang_program *p, const lang_setting *setting,
                         lang_error *err)
{
    const lang_symbol    *symbol = lang_symbol_find(&p->symbols, setting->name);
    const lang_statement *s;
    lang_unit            *unit;
    char                  file[300];

    if (!symbol || !symbol->array || symbol->array->kind != LANG_PARAM)
        return fail_setting(p, setting->name, err);
    snprintf(file, sizeof file, "param %.255s", setting->name);
    unit = lang_unit_read(&w->symbols, file, setting->value, strlen(setting->value), true, err);
    if (!unit)
        return false;
    if (!lang_list_add(&w->units, unit)) {
        lang_unit_free(unit);
        return lang_fail_memory(err);
    }
    s = unit->statements.items[0];
    return check_setting(s, err) &&
           (lang_map_set(&w->settings, symbol, s->parts[0]) || lang_fail_memory(err));
}

static bool read_given(given *w, const lang_program *p, const lang_world *world, lang_error *err)
{
    for (int i = 0; i < world->nsettings; i++)
        if (!read_setting(w, p, &world->settings[i], err))
            return false;
    return read_inputs(w, p, world, err);
}

/* ---- Outputs --------------------------------------------------------------------------------- */

static bool fail_output(lang_lowering *L, const char *name)
{
    lang_guess guess = { .wanted = name };
    char       room[320];

    offer_names(&guess, L, NULL);
    return lang_fail(L->err, (lang_place){ 0 }, "the program does not define the output `%.255s`%s",
                     name, lang_guess_text(&guess, room, sizeof room));
}

static bool list_outputs(lang_list *out, lang_lowering *L)
{
    const lang_world *w = L->world;

    for (int i = 0; i < w->noutputs; i++) {
        const lang_symbol *symbol = lang_symbol_find(&L->program->symbols, w->outputs[i]);

        if (!symbol || (!symbol->array && !lang_map_find(L->inputs, symbol)))
            return fail_output(L, w->outputs[i]);
        if (!lang_list_add(out, symbol))
            return lang_fail_memory(L->err);
    }
    for (size_t i = 0; w->noutputs == 0 && i < L->program->outputs.count; i++)
        if (!lang_list_add(out, L->program->outputs.items[i]))
            return lang_fail_memory(L->err);
    return out->count > 0 ||
           lang_fail(L->err, (lang_place){ 0 }, "the program has no results: write an equation");
}

/* Where an output is named; for those asked for from outside, nowhere. */
static lang_node output_node(const lang_program *p, const lang_symbol *symbol)
{
    for (size_t i = 0; i < p->statements.count; i++) {
        const lang_statement *s = p->statements.items[i];

        for (int n = 0; s->kind == LANG_OUTPUT && n < s->nparts; n++)
            if (s->parts[n]->symbol == symbol)
                return *s->parts[n];
    }
    return (lang_node){ .kind = LANG_NAME,
                        .symbol = symbol,
                        .place = symbol->array ? symbol->array->place : (lang_place){ 0 } };
}

static bool name_output(lang_lowering *L, const lang_symbol *symbol)
{
    const lang_value *value = lang_map_find(&L->values, symbol);
    lang_node         node;

    if (!value) {
        node = output_node(L->program, symbol);
        value = lang_lookup(L, NULL, &node);
    }
    if (!value)
        return false;
    if (!arras_array_error(arras_output(L->graph, symbol->text, value->array)))
        return true;
    node = output_node(L->program, symbol);
    return lang_checked(L, &node, arras_output(L->graph, symbol->text, value->array)) != NULL;
}

/* ---- The whole ------------------------------------------------------------------------------- */

static bool lower_statement(lang_lowering *L, const lang_statement *s)
{
    switch (s->kind) {
    case LANG_DEF: return lang_note_def(L, s);
    case LANG_EQUATION:
    case LANG_LET:
    case LANG_PARAM:
    case LANG_EXPRESSION: return lang_define(L, s) != NULL;
    default: return true;
    }
}

static bool lower_all(lang_lowering *L, const lang_list *order, const lang_list *outputs)
{
    for (size_t i = 0; i < order->count; i++)
        if (!lower_statement(L, order->items[i]))
            return false;
    for (size_t i = 0; i < outputs->count; i++)
        if (!name_output(L, outputs->items[i]))
            return false;
    return true;
}

void lang_lowering_free(lang_lowering *L)
{
    lang_map_free(&L->values);
    lang_map_free(&L->twins);
    lang_map_free(&L->edges);
    lang_map_free(&L->closed);
    lang_map_free(&L->instances);
    lang_arena_free(&L->arena);
}

static bool lower(arras_graph **out, const lang_program *p, const lang_world *world,
                  lang_error *err)
{
    given         w = { 0 };
    lang_list     outputs = { 0 }, order = { 0 };
    lang_lowering L = {
        .program = p, .world = world, .inputs = &w.inputs, .settings = &w.settings, .err = err
    };
    bool done;

    if (arras_graph_new(&L.graph, NULL) != ARRAS_OK)
        return lang_fail_memory(err);
    done = read_given(&w, p, world, err) && list_outputs(&outputs, &L) &&
           lang_order(&order, &L, &outputs) && lower_all(&L, &order, &outputs);
    lang_list_free(&outputs);
    lang_list_free(&order);
    lang_lowering_free(&L);
    free_given(&w);
    if (done)
        *out = L.graph;
    else
        arras_graph_free(L.graph);
    return done;
}

typedef struct {
    arras_graph       **out;
    const lang_program *p;
    const lang_world   *world;
    lang_error         *err;
} lowering;

static arras_status lower_here(void *context, arras_error *err)
{
    const lowering *l = context;

    (void)err;
    return lower(l->out, l->p, l->world, l->err) ? ARRAS_OK : ARRAS_ETEXT;
}

bool lang_lower(arras_graph **out, const lang_program *p, const lang_world *world, lang_error *err)
{
    lowering l = { out, p, world, err };

    return lang_with_room(lower_here, &l, err);
}
