/* lang_program.c -- a parsed program: its symbols, its statements, and what it needs and makes. */
#include "lang/lang_program.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- Symbols --------------------------------------------------------------------------------- */

static uint64_t hash_text(const char *text, size_t length)
{
    uint64_t hash = UINT64_C(0xcbf29ce484222325); /* FNV-1a */

    for (size_t i = 0; i < length; i++)
        hash = (hash ^ (unsigned char)text[i]) * UINT64_C(0x100000001b3);
    return hash ^ hash >> 32;
}

static lang_symbol *find_symbol(const lang_symbols *t, const char *text, size_t length)
{
    lang_symbol *symbol = t->room ? t->buckets[hash_text(text, length) & (t->room - 1)] : NULL;

    while (symbol && (strlen(symbol->text) != length || memcmp(symbol->text, text, length) != 0))
        symbol = symbol->next;
    return symbol;
}

static void add_symbol(lang_symbol **buckets, size_t room, lang_symbol *symbol)
{
    size_t at = hash_text(symbol->text, strlen(symbol->text)) & (room - 1);

    symbol->next = buckets[at];
    buckets[at] = symbol;
}

static bool grow_symbols(lang_symbols *t)
{
    size_t        room = t->room ? 2 * t->room : 64;
    lang_symbol **buckets = calloc(room, sizeof *buckets);

    if (!buckets)
        return false;
    for (size_t i = 0; i < t->room; i++)
        while (t->buckets[i]) {
            lang_symbol *symbol = t->buckets[i];

            t->buckets[i] = symbol->next;
            add_symbol(buckets, room, symbol);
        }
    free(t->buckets);
    t->buckets = buckets;
    t->room = room;
    return true;
}

lang_symbol *lang_symbol_get(lang_symbols *t, const char *text, size_t length)
{
    lang_symbol *symbol = find_symbol(t, text, length);

    if (symbol)
        return symbol;
    if (t->count >= t->room && !grow_symbols(t))
        return NULL;
    symbol = lang_arena_alloc(&t->arena, 1, sizeof *symbol);
    if (!symbol || !(symbol->text = lang_arena_text(&t->arena, text, length)))
        return NULL;
    add_symbol(t->buckets, t->room, symbol);
    t->count++;
    return symbol;
}

lang_symbol *lang_symbol_find(const lang_symbols *t, const char *text)
{
    return find_symbol(t, text, strlen(text));
}

void lang_symbols_free(lang_symbols *t)
{
    free(t->buckets);
    lang_arena_free(&t->arena);
    *t = (lang_symbols){ 0 };
}

/* ---- What statements define ------------------------------------------------------------------ */

static const lang_statement **slot_of(const lang_statement *s)
{
    /* Symbols are the program's own; statements only may not change them. */
    lang_symbol *symbol = (lang_symbol *)(uintptr_t)s->symbol;

    switch (s->kind) {
    case LANG_EQUATION:
    case LANG_LET:
    case LANG_PARAM:
    case LANG_EXPRESSION: return &symbol->array;
    case LANG_DEF: return &symbol->function;
    case LANG_EDGE: return &symbol->edge;
    case LANG_OUTPUT: break;
    }
    return NULL;
}

static bool fail_twice(const lang_statement *s, const lang_statement *first, lang_error *err)
{
    const char *what = s->kind == LANG_EDGE ? "the edge of " : "";

    return lang_fail(err, s->place, "%s`%s` is given twice; first in line %zu", what,
                     s->symbol->text, lang_place_line(first->place));
}

/* Within one text a name is defined once. */
static bool check_once(const lang_unit *unit, lang_error *err)
{
    lang_map seen = { 0 };
    bool     once = true;

    for (size_t i = 0; once && i < unit->statements.count; i++) {
        const lang_statement  *s = unit->statements.items[i], *first;
        const lang_statement **slot = slot_of(s);

        if (!slot)
            continue;
        first = lang_map_find(&seen, slot);
        if (first)
            once = fail_twice(s, first, err);
        else if (!lang_map_set(&seen, slot, s))
            once = lang_fail_memory(err);
    }
    lang_map_free(&seen);
    return once;
}

static void bury(const lang_statement *s) { ((lang_statement *)(uintptr_t)s)->dead = true; }

static void define(const lang_statement *s)
{
    const lang_statement **slot = slot_of(s);

    if (!slot)
        return;
    if (*slot)
        bury(*slot);
    *slot = s;
}

/* ---- Forgetting ------------------------------------------------------------------------------ */

static void forget_dead_statements(lang_program *p)
{
    size_t kept = 0;

    for (size_t i = 0; i < p->statements.count; i++) {
        const lang_statement  *s = p->statements.items[i];
        const lang_statement **slot = slot_of(s);

        if (s->dead && slot && *slot == s)
            *slot = NULL;
        if (!s->dead)
            p->statements.items[kept++] = s;
    }
    p->statements.count = kept;
}

static void need_units_of(const lang_list *statements)
{
    for (size_t i = 0; i < statements->count; i++)
        ((const lang_statement *)statements->items[i])->unit->needed = true;
}

static void forget_units(lang_program *p)
{
    size_t kept = 0;

    for (size_t i = 0; i < p->units.count; i++)
        ((lang_unit *)(uintptr_t)p->units.items[i])->needed = false;
    need_units_of(&p->statements);
    need_units_of(&p->before);
    for (size_t i = 0; i < p->units.count; i++) {
        lang_unit *unit = (lang_unit *)(uintptr_t)p->units.items[i];

        if (unit->needed)
            p->units.items[kept++] = unit;
        else
            lang_unit_free(unit);
    }
    p->units.count = kept;
}

/* ---- What it needs and makes ----------------------------------------------------------------- */

bool lang_is_constant_name(const lang_node *node)
{
    return !node->indexed && !node->symbol->array && strcmp(node->symbol->text, "e") == 0;
}

/* Lists have room for every symbol: see lang_program_add. */
static void list_once(lang_program *p, lang_list *list, const lang_symbol *symbol)
{
    lang_symbol *own = (lang_symbol *)(uintptr_t)symbol;

    if (own->listed == p->listing)
        return;
    own->listed = p->listing;
    list->items[list->count++] = symbol;
}

static void begin_list(lang_program *p, lang_list *list)
{
    list->count = 0;
    p->listing++;
}

/* An array that nobody defines; in its own definition a name means the input of that name. */
static bool is_input(const lang_statement *s, const lang_node *use)
{
    return use->kind == LANG_NAME && (!use->symbol->array || use->symbol->array == s) &&
           s->kind != LANG_EDGE && !lang_is_constant_name(use);
}

static void list_inputs(lang_program *p)
{
    begin_list(p, &p->inputs);
    for (size_t i = 0; i < p->statements.count; i++) {
        const lang_statement *s = p->statements.items[i];

        for (int u = 0; u < s->nuses; u++)
            if (is_input(s, s->uses[u]))
                list_once(p, &p->inputs, s->uses[u]->symbol);
    }
}

static bool has_output_statement(const lang_program *p)
{
    for (size_t i = 0; i < p->statements.count; i++)
        if (((const lang_statement *)p->statements.items[i])->kind == LANG_OUTPUT)
            return true;
    return false;
}

static void list_outputs(lang_program *p)
{
    bool chosen = has_output_statement(p);

    begin_list(p, &p->outputs);
    for (size_t i = 0; i < p->statements.count; i++) {
        const lang_statement *s = p->statements.items[i];

        for (int n = 0; s->kind == LANG_OUTPUT && n < s->nparts; n++)
            list_once(p, &p->outputs, s->parts[n]->symbol);
        if ((s->kind == LANG_EQUATION && !chosen) || s->kind == LANG_EXPRESSION)
            list_once(p, &p->outputs, s->symbol);
    }
}

static void list_params(lang_program *p)
{
    begin_list(p, &p->params);
    for (size_t i = 0; i < p->statements.count; i++) {
        const lang_statement *s = p->statements.items[i];

        if (s->kind == LANG_PARAM)
            list_once(p, &p->params, s->symbol);
    }
}

static bool uses_name(const lang_statement *s, const lang_symbol *symbol)
{
    for (int u = 0; u < s->nuses; u++)
        if (s->uses[u]->kind == LANG_NAME && s->uses[u]->symbol == symbol)
            return true;
    return false;
}

/* The statements of a text are not defined yet. */
static void list_renewed(lang_program *p, const lang_unit *unit)
{
    begin_list(p, &p->renewed);
    for (size_t i = 0; i < unit->statements.count; i++) {
        const lang_statement *s = unit->statements.items[i];

        if (s->symbol && s->symbol->array && s->kind != LANG_DEF && s->kind != LANG_EDGE &&
            uses_name(s, s->symbol))
            list_once(p, &p->renewed, s->symbol);
    }
}

static void list_lets(lang_program *p, const lang_unit *unit)
{
    begin_list(p, &p->lets);
    for (size_t i = 0; i < unit->statements.count; i++) {
        const lang_statement *s = unit->statements.items[i];

        if (s->kind == LANG_LET)
            list_once(p, &p->lets, s->symbol);
    }
}

static void refresh(lang_program *p)
{
    forget_dead_statements(p);
    forget_units(p);
    list_inputs(p);
    list_outputs(p);
    list_params(p);
}

static const char *name_at(const lang_list *list, int i)
{
    return i >= 0 && (size_t)i < list->count ? ((const lang_symbol *)list->items[i])->text : NULL;
}

const char *lang_program_input(const lang_program *p, int i) { return name_at(&p->inputs, i); }
const char *lang_program_output(const lang_program *p, int i) { return name_at(&p->outputs, i); }
const char *lang_program_param(const lang_program *p, int i) { return name_at(&p->params, i); }
const char *lang_program_renewed(const lang_program *p, int i) { return name_at(&p->renewed, i); }
const char *lang_program_let(const lang_program *p, int i) { return name_at(&p->lets, i); }

const char *lang_index_hint(const lang_node *node, char *room, size_t size)
{
    const char *name = node->symbol->text;

    if (!node->as_index || strchr(name, '.'))
        return "";
    snprintf(room, size,
             "; an index stands on the left, y[%s] = ..., or in a reduction, sum[%s] ...", name,
             name);
    return room;
}

/* NULL when it is used nowhere. */
static const lang_node *first_use(const lang_program *p, const char *name)
{
    for (size_t i = 0; i < p->statements.count; i++) {
        const lang_statement *s = p->statements.items[i];

        for (int u = 0; u < s->nuses; u++)
            if (s->uses[u]->kind == LANG_NAME && strcmp(s->uses[u]->symbol->text, name) == 0)
                return s->uses[u];
    }
    return NULL;
}

bool lang_program_reads(const lang_program *p, const char *name)
{
    const lang_node *use = first_use(p, name);

    return use && (!use->symbol->array || uses_name(use->symbol->array, use->symbol));
}

void lang_program_missing(const lang_program *p, const char *name, const char *advice,
                          lang_error *err)
{
    const lang_node *use = first_use(p, name);
    lang_guess       guess = { .wanted = name };
    char             room[640];
    const char      *hint;

    for (size_t i = 0; i < p->statements.count; i++) {
        const lang_statement *s = p->statements.items[i];

        if (s->symbol && s->symbol->array)
            lang_guess_offer(&guess, s->symbol->text);
    }
    hint = lang_name_advice(name, room, sizeof room);
    if (!hint)
        hint = guess.best ? lang_guess_text(&guess, room, sizeof room)
               : use      ? lang_index_hint(use, room, sizeof room)
                          : "";
    lang_fail(err, use ? use->place : (lang_place){ 0 }, "`%s` is neither defined nor given%s%s%s",
              name, hint, *hint ? "" : ": ", *hint ? "" : advice);
}

/* ---- The program ----------------------------------------------------------------------------- */

lang_program *lang_program_new(void) { return calloc(1, sizeof(lang_program)); }

void lang_program_free(lang_program *p)
{
    if (!p)
        return;
    for (size_t i = 0; i < p->units.count; i++)
        lang_unit_free((lang_unit *)(uintptr_t)p->units.items[i]);
    lang_list_free(&p->units);
    lang_list_free(&p->statements);
    lang_list_free(&p->before);
    lang_list_free(&p->inputs);
    lang_list_free(&p->outputs);
    lang_list_free(&p->params);
    lang_list_free(&p->renewed);
    lang_list_free(&p->lets);
    lang_symbols_free(&p->symbols);
    free(p);
}

/* After this nothing can fail. */
static bool reserve(lang_program *p, const lang_unit *unit)
{
    size_t symbols = p->symbols.count;

    return lang_list_reserve(&p->units, p->units.count + 1) &&
           lang_list_reserve(&p->before, p->statements.count) &&
           lang_list_reserve(&p->statements, p->statements.count + unit->statements.count) &&
           lang_list_reserve(&p->inputs, symbols) && lang_list_reserve(&p->outputs, symbols) &&
           lang_list_reserve(&p->params, symbols) && lang_list_reserve(&p->renewed, symbols) &&
           lang_list_reserve(&p->lets, symbols);
}

static void note_before(lang_program *p)
{
    p->before.count = p->statements.count;
    if (p->statements.count > 0)
        memcpy(p->before.items, p->statements.items,
               p->statements.count * sizeof *p->statements.items);
}

static bool add(lang_program *p, const char *file, const char *text, size_t length, lang_error *err)
{
    lang_unit *unit = lang_unit_read(&p->symbols, file, text, length, false, err);

    if (!unit)
        return false;
    if (!check_once(unit, err) || (!reserve(p, unit) && !lang_fail_memory(err))) {
        lang_unit_free(unit);
        return false;
    }
    note_before(p);
    list_renewed(p, unit);
    list_lets(p, unit);
    p->units.items[p->units.count++] = unit;
    for (size_t i = 0; i < unit->statements.count; i++) {
        define(unit->statements.items[i]);
        p->statements.items[p->statements.count++] = unit->statements.items[i];
    }
    refresh(p);
    return true;
}

typedef struct {
    lang_program *p;
    const char   *file, *text;
    size_t        length;
    lang_error   *err;
} addition;

static arras_status add_here(void *context, arras_error *err)
{
    const addition *a = context;

    (void)err;
    return add(a->p, a->file, a->text, a->length, a->err) ? ARRAS_OK : ARRAS_ETEXT;
}

bool lang_program_add(lang_program *p, const char *file, const char *text, size_t length,
                      lang_error *err)
{
    addition a = { p, file, text, length, err };

    return lang_with_room(add_here, &a, err);
}

void lang_program_forget_results(lang_program *p)
{
    for (size_t i = 0; i < p->statements.count; i++) {
        const lang_statement *s = p->statements.items[i];

        if (s->kind == LANG_EQUATION || s->kind == LANG_EXPRESSION || s->kind == LANG_OUTPUT)
            bury(s);
    }
    refresh(p);
}

void lang_program_undo(lang_program *p)
{
    lang_list added = p->statements;

    for (size_t i = 0; i < added.count; i++) {
        const lang_statement **slot = slot_of(added.items[i]);

        if (slot)
            *slot = NULL;
    }
    p->statements = p->before;
    p->before = (lang_list){ 0 };
    for (size_t i = 0; i < p->statements.count; i++) {
        const lang_statement **slot = slot_of(p->statements.items[i]);

        ((lang_statement *)(uintptr_t)p->statements.items[i])->dead = false;
        if (slot)
            *slot = p->statements.items[i];
    }
    p->renewed.count = 0;
    p->lets.count = 0;
    lang_list_free(&added);
    refresh(p);
}
