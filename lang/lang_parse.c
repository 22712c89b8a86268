/* lang_parse.c -- the grammar of statements; from a text to a unit of statements. */
#include "lang/lang_parser.h"
#include "lang/lang_words.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- Tokens ---------------------------------------------------------------------------------- */

static const lang_token *token(const lang_parser *p, size_t ahead)
{
    size_t at = p->at + ahead;

    return &p->tokens.items[at < p->tokens.count ? at : p->tokens.count - 1];
}

lang_token_kind lang_peek(const lang_parser *p, size_t ahead) { return token(p, ahead)->kind; }

lang_place lang_token_place(const lang_parser *p, size_t ahead)
{
    const lang_token *t = token(p, ahead);

    return (lang_place){ &p->unit->source, t->start, t->length };
}

bool lang_token_is(const lang_parser *p, size_t ahead, const char *text)
{
    const lang_token *t = token(p, ahead);

    return t->length == strlen(text) &&
           memcmp(p->unit->source.text + t->start, text, t->length) == 0;
}

bool lang_accept(lang_parser *p, lang_token_kind kind)
{
    if (lang_peek(p, 0) != kind)
        return false;
    p->at++;
    return true;
}

enum { LONGEST_FOUND = 40 };

static const char *describe_next(const lang_parser *p, char *room, size_t size)
{
    const lang_token *t = token(p, 0);

    if (t->kind == LANG_T_END || t->kind == LANG_T_BREAK)
        return lang_token_name(t->kind);
    snprintf(room, size, "`%.*s`%s", (int)(t->length < LONGEST_FOUND ? t->length : LONGEST_FOUND),
             p->unit->source.text + t->start, t->length < LONGEST_FOUND ? "" : "...");
    return room;
}

bool lang_fail_expected(const lang_parser *p, const char *what)
{
    char found[64];

    if (lang_peek(p, 0) == LANG_T_ASSIGN)
        return lang_fail(p->err, lang_token_place(p, 0),
                         "expected %s, found `=`; to compare write `==`", what);
    if (lang_peek(p, 0) == LANG_T_NAME && lang_token_is(p, 0, "if"))
        return lang_fail(p->err, lang_token_place(p, 0),
                         "expected %s, found `if`; a choice is written condition ? x : y", what);
    return lang_fail(p->err, lang_token_place(p, 0), "expected %s, found %s", what,
                     describe_next(p, found, sizeof found));
}

bool lang_expect(lang_parser *p, lang_token_kind kind, const char *role)
{
    char what[128];

    if (lang_accept(p, kind))
        return true;
    snprintf(what, sizeof what, "%s %s", lang_token_name(kind), role);
    return lang_fail_expected(p, what);
}

bool lang_expect_close(lang_parser *p, lang_token_kind kind, lang_place open, bool comma)
{
    lang_place  here = lang_token_place(p, 0);
    const char *more = comma ? "`,` or " : "";
    char        what[128];
    size_t      line;

    if (lang_accept(p, kind))
        return true;
    line = lang_place_line(open);
    if (line == lang_place_line(here))
        snprintf(what, sizeof what, "%s%s", more, lang_token_name(kind));
    else
        snprintf(what, sizeof what, "%s%s for the bracket opened in line %zu", more,
                 lang_token_name(kind), line);
    return lang_fail_expected(p, what);
}

/* ---- Names ----------------------------------------------------------------------------------- */

static bool has_dot(const char *text) { return strchr(text, '.') != NULL; }

const lang_symbol *lang_parse_new_name(lang_parser *p, const char *what)
{
    lang_place   place = lang_token_place(p, 0);
    const char  *text = p->unit->source.text + place.start;
    lang_symbol *symbol;

    if (lang_peek(p, 0) > LANG_T_UNBRACKET || lang_peek(p, 0) == LANG_T_AND ||
        lang_peek(p, 0) == LANG_T_OR || (lang_peek(p, 0) == LANG_T_NOT && place.length == 3)) {
        lang_fail(p->err, place, "`%.*s` is a word of the language: %s needs another name",
                  (int)place.length, text, what);
        return NULL;
    }
    if (lang_peek(p, 0) != LANG_T_NAME) {
        char expected[64];

        snprintf(expected, sizeof expected, "the name of %s", what);
        lang_fail_expected(p, expected);
        return NULL;
    }
    if (lang_find_dtype(text, place.length) != ARRAS_NO_DTYPE) {
        lang_fail(p->err, place, "`%.*s` is a type: %s needs another name", (int)place.length, text,
                  what);
        return NULL;
    }
    symbol = lang_symbol_get(p->symbols, text, place.length);
    if (!symbol)
        lang_fail_memory(p->err);
    else
        p->at++;
    return symbol;
}

bool lang_add_local(lang_parser *p, const lang_symbol *symbol, lang_place place)
{
    for (size_t i = 0; i < p->locals.count; i++)
        if (p->locals.items[i] == symbol)
            return lang_fail(p->err, place, "`%s` is used already at this place: take another name",
                             symbol->text);
    if (p->locals.count == LANG_MAX_LOCALS)
        return lang_fail(p->err, place, "more than %d indices at one place", LANG_MAX_LOCALS);
    return lang_list_add(&p->locals, symbol) || lang_fail_memory(p->err);
}

static const lang_symbol *parse_index_name(lang_parser *p)
{
    lang_place         place = lang_token_place(p, 0);
    const lang_symbol *symbol = lang_parse_new_name(p, "an index");

    if (symbol && has_dot(symbol->text)) {
        lang_fail(p->err, place, "the name of an index has no dots");
        return NULL;
    }
    return symbol;
}

/* i, i:stop, i:start:stop */
static const lang_range *parse_range(lang_parser *p)
{
    lang_place         place = lang_token_place(p, 0);
    const lang_symbol *symbol = parse_index_name(p);
    lang_range        *range = lang_arena_alloc(&p->unit->arena, 1, sizeof *range);

    if (!symbol)
        return NULL;
    if (!range) {
        lang_fail_memory(p->err);
        return NULL;
    }
    *range = (lang_range){ symbol, place, NULL, NULL };
    if (lang_peek(p, 0) == LANG_T_ASSIGN) {
        lang_fail(p->err, lang_token_place(p, 0), "a range is written `%s:5` or `%s:1:5`",
                  symbol->text, symbol->text);
        return NULL;
    }
    if (lang_accept(p, LANG_T_COLON) && !(range->hi = lang_parse_expression(p)))
        return NULL;
    if (range->hi && lang_accept(p, LANG_T_COLON)) {
        range->lo = range->hi;
        if (!(range->hi = lang_parse_expression(p)))
            return NULL;
    }
    return lang_add_local(p, symbol, place) ? range : NULL;
}

const lang_range *const *lang_parse_ranges(lang_parser *p, int *count)
{
    lang_place  open = lang_token_place(p, 0);
    size_t      from = p->stack.count;
    const void *ranges;

    p->at++;
    do {
        const lang_range *range = parse_range(p);

        if (!range)
            return NULL;
        if (!lang_list_add(&p->stack, range)) {
            lang_fail_memory(p->err);
            return NULL;
        }
    } while (lang_accept(p, LANG_T_COMMA));
    if (!lang_expect_close(p, LANG_T_UNBRACKET, open, true))
        return NULL;
    *count = (int)(p->stack.count - from);
    ranges = lang_list_keep(&p->stack, from, &p->unit->arena);
    p->stack.count = from;
    if (!ranges)
        lang_fail_memory(p->err);
    return ranges;
}

/* ---- Statements ------------------------------------------------------------------------------ */

static bool keep_parts(lang_parser *p, lang_statement *s, size_t from)
{
    s->nparts = (int)(p->stack.count - from);
    s->parts = lang_list_keep(&p->stack, from, &p->unit->arena);
    p->stack.count = from;
    return s->parts || lang_fail_memory(p->err);
}

static bool parse_body(lang_parser *p, lang_statement *s)
{
    size_t           from = p->stack.count;
    const lang_node *body = lang_parse_expression(p);

    if (!body)
        return false;
    return (lang_list_add(&p->stack, body) || lang_fail_memory(p->err)) && keep_parts(p, s, from);
}

static bool parse_indices(lang_parser *p, lang_statement *s)
{
    s->indices = lang_parse_ranges(p, &s->nindices);
    if (!s->indices)
        return false;
    return s->nindices <= ARRAS_MAX_RANK ||
           lang_fail(p->err, s->place, "%d indices; an array has at most %d axes", s->nindices,
                     ARRAS_MAX_RANK);
}

static bool parse_equation(lang_parser *p, lang_statement *s)
{
    s->place = lang_token_place(p, 0);
    s->symbol = lang_parse_new_name(p, "an array");
    if (!s->symbol)
        return false;
    if (lang_peek(p, 0) == LANG_T_BRACKET) {
        if (lang_find_reduction(s->symbol->text, strlen(s->symbol->text)))
            return lang_fail(p->err, s->place,
                             "`%s[...]` would be read as a reduction: give the array another name",
                             s->symbol->text);
        if (!parse_indices(p, s))
            return false;
    }
    return lang_expect(p, LANG_T_ASSIGN, "after what is defined") && parse_body(p, s);
}

static bool parse_let(lang_parser *p, lang_statement *s)
{
    p->at++;
    return parse_equation(p, s);
}

static bool parse_param(lang_parser *p, lang_statement *s)
{
    p->at++;
    s->place = lang_token_place(p, 0);
    s->symbol = lang_parse_new_name(p, "a param");
    return s->symbol && lang_expect(p, LANG_T_ASSIGN, "after the name of a param") &&
           parse_body(p, s);
}

static bool parse_params(lang_parser *p, lang_statement *s)
{
    lang_place open = lang_token_place(p, 0);

    if (!lang_expect(p, LANG_T_OPEN, "after the name of a function"))
        return false;
    while (lang_peek(p, 0) != LANG_T_CLOSE) {
        lang_place         place = lang_token_place(p, 0);
        const lang_symbol *symbol = lang_parse_new_name(p, "a parameter");

        if (!symbol || !lang_add_local(p, symbol, place))
            return false;
        if (!lang_accept(p, LANG_T_COMMA))
            break;
    }
    s->nparams = (int)p->locals.count;
    s->params = lang_list_keep(&p->locals, 0, &p->unit->arena);
    return (s->params || lang_fail_memory(p->err)) &&
           lang_expect_close(p, LANG_T_CLOSE, open, true);
}

static bool parse_def(lang_parser *p, lang_statement *s)
{
    p->at++;
    s->place = lang_token_place(p, 0);
    s->symbol = lang_parse_new_name(p, "a function");
    if (!s->symbol)
        return false;
    if (lang_is_function(s->symbol->text))
        return lang_fail(p->err, s->place,
                         "`%s` is a function of the language: choose another name",
                         s->symbol->text);
    return parse_params(p, s) && lang_expect(p, LANG_T_ASSIGN, "after the parameters") &&
           parse_body(p, s);
}

/* ---- Edges and outputs ----------------------------------------------------------------------- */

static const lang_node *parse_rule(lang_parser *p)
{
    lang_place      place = lang_token_place(p, 0);
    const char     *text = p->unit->source.text + place.start;
    lang_token_kind next = lang_peek(p, 1);
    lang_node      *node;

    if (lang_peek(p, 0) != LANG_T_NAME || lang_find_edge(text, place.length) == ARRAS_EDGE_END ||
        (next != LANG_T_COMMA && next != LANG_T_UNBRACKET && next != LANG_T_BREAK &&
         next != LANG_T_END))
        return lang_parse_expression(p);
    node = lang_node_new(p, LANG_WORD, place);
    if (!node)
        return NULL;
    node->text = lang_arena_text(&p->unit->arena, text, place.length);
    if (!node->text) {
        lang_fail_memory(p->err);
        return NULL;
    }
    p->at++;
    return node;
}

static bool parse_rules(lang_parser *p, lang_statement *s)
{
    lang_place open = lang_token_place(p, 0);
    size_t     from = p->stack.count;

    s->per_axis = lang_accept(p, LANG_T_BRACKET);
    do {
        const lang_node *rule = parse_rule(p);

        if (!rule || (!lang_list_add(&p->stack, rule) && !lang_fail_memory(p->err)))
            return false;
    } while (s->per_axis && lang_accept(p, LANG_T_COMMA));
    if (s->per_axis && !lang_expect_close(p, LANG_T_UNBRACKET, open, true))
        return false;
    return keep_parts(p, s, from);
}

static bool parse_edge(lang_parser *p, lang_statement *s)
{
    p->at++;
    s->place = lang_token_place(p, 0);
    s->symbol = lang_parse_new_name(p, "an array");
    return s->symbol && lang_expect(p, LANG_T_ASSIGN, "after the name of the array") &&
           parse_rules(p, s);
}

static bool parse_output(lang_parser *p, lang_statement *s)
{
    size_t from = p->stack.count;

    s->place = lang_token_place(p, 0);
    p->at++;
    do {
        lang_place         place = lang_token_place(p, 0);
        const lang_symbol *symbol = lang_parse_new_name(p, "an array");
        lang_node         *node = lang_node_new(p, LANG_NAME, place);

        if (!symbol || !node)
            return false;
        node->symbol = symbol;
        if ((!lang_list_add(&p->stack, node) || !lang_list_add(&p->uses, node)) &&
            !lang_fail_memory(p->err))
            return false;
    } while (lang_accept(p, LANG_T_COMMA));
    return keep_parts(p, s, from);
}

/* result, and where a text has more of them result2, result3. */
static lang_symbol *name_bare(lang_parser *p)
{
    char name[40] = "result";
    int  n = 1;

    for (size_t i = 0; i < p->unit->statements.count; i++)
        n += ((const lang_statement *)p->unit->statements.items[i])->kind == LANG_EXPRESSION;
    if (n > 1)
        snprintf(name, sizeof name, "result%d", n);
    return lang_symbol_get(p->symbols, name, strlen(name));
}

static bool parse_bare(lang_parser *p, lang_statement *s)
{
    s->place = lang_token_place(p, 0);
    s->symbol = name_bare(p);
    return (s->symbol || lang_fail_memory(p->err)) && parse_body(p, s);
}

/* ---- Programs -------------------------------------------------------------------------------- */

/* NAME = or NAME[...] = */
static bool at_equation(const lang_parser *p)
{
    size_t ahead = 1, depth = 0;

    if (lang_peek(p, 0) < LANG_T_NAME || lang_peek(p, 1) == LANG_T_ASSIGN)
        return lang_peek(p, 1) == LANG_T_ASSIGN;
    if (lang_peek(p, 0) != LANG_T_NAME || lang_peek(p, 1) != LANG_T_BRACKET)
        return false;
    do {
        lang_token_kind kind = lang_peek(p, ahead++);

        if (kind == LANG_T_END || kind == LANG_T_BREAK)
            return false;
        depth += kind == LANG_T_BRACKET;
        depth -= kind == LANG_T_UNBRACKET;
    } while (depth > 0);
    return lang_peek(p, ahead) == LANG_T_ASSIGN;
}

static lang_statement_kind kind_of(const lang_parser *p)
{
    switch (lang_peek(p, 0)) {
    case LANG_T_LET: return LANG_LET;
    case LANG_T_PARAM: return LANG_PARAM;
    case LANG_T_DEF: return LANG_DEF;
    case LANG_T_EDGE: return LANG_EDGE;
    case LANG_T_OUTPUT: return LANG_OUTPUT;
    default: return at_equation(p) ? LANG_EQUATION : LANG_EXPRESSION;
    }
}

/* What is written so elsewhere, and how it is said here. */
static const char *foreign_word(const lang_parser *p)
{
    static const char *const words[][2] = {
        { "if", "there is no `if`: write c ? a : b" },
        { "for", "there is no `for`: an index goes over all cells, y[i] = ..." },
        { "while", "there is no `while`" },
        { "return", "there is no `return`: write def f(x) = ..." },
        { "import", "there is nothing to import: functions have no prefix" },
    };

    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (p->at > 0 && lang_token_is(p, (size_t)-1, words[i][0]))
            return words[i][1];
    return NULL;
}

static bool parse_end(const lang_parser *p, const lang_statement *s)
{
    lang_token_kind next = lang_peek(p, 0);

    if (next == LANG_T_BREAK || next == LANG_T_END)
        return true;
    if (foreign_word(p))
        return lang_fail(p->err, lang_token_place(p, (size_t)-1), "%s", foreign_word(p));
    if (next == LANG_T_ASSIGN && s->kind == LANG_EXPRESSION && s->parts[0]->kind == LANG_CALL)
        return lang_fail(p->err, lang_token_place(p, 0),
                         "cells are defined by y[i] = ..., a function by def f(x) = ...");
    if (next == LANG_T_NAME || next == LANG_T_OPEN)
        return lang_fail_expected(p, "an operator (a product is `a * b`) or the end of the "
                                     "statement");
    return lang_fail_expected(p, "an operator or the end of the statement");
}

/* A line that goes on with `+ x` would be read as a statement of its own. */
static bool check_start(const lang_parser *p)
{
    lang_token_kind first = lang_peek(p, 0);
    bool            follows = p->unit->statements.count > 0 && p->at > 0;

    if ((first != LANG_T_PLUS && first != LANG_T_MINUS) || !follows ||
        p->unit->source.text[token(p, (size_t)-1)->start] != '\n')
        return true;
    return lang_fail(p->err, lang_token_place(p, 0),
                     "a statement can't begin with `%s`; to go on with the line before, end that "
                     "line with the operator or with `\\`",
                     first == LANG_T_PLUS ? "+" : "-");
}

static bool parse_statement(lang_parser *p)
{
    static bool (*const parsers[])(lang_parser *, lang_statement *) = {
        [LANG_EQUATION] = parse_equation, [LANG_LET] = parse_let,   [LANG_PARAM] = parse_param,
        [LANG_DEF] = parse_def,           [LANG_EDGE] = parse_edge, [LANG_OUTPUT] = parse_output,
        [LANG_EXPRESSION] = parse_bare,
    };
    lang_statement *s = lang_arena_alloc(&p->unit->arena, 1, sizeof *s);

    if (!s)
        return lang_fail_memory(p->err);
    s->kind = kind_of(p);
    s->unit = p->unit;
    p->uses.count = p->locals.count = 0;
    if (!check_start(p) || !parsers[s->kind](p, s) || !parse_end(p, s))
        return false;
    s->nuses = (int)p->uses.count;
    s->uses = lang_list_keep(&p->uses, 0, &p->unit->arena);
    return (s->uses && lang_list_add(&p->unit->statements, s)) || lang_fail_memory(p->err);
}

static bool parse_statements(lang_parser *p)
{
    while (lang_peek(p, 0) != LANG_T_END)
        if (!lang_accept(p, LANG_T_BREAK) && !parse_statement(p))
            return false;
    return true;
}

static bool parse_only_expression(lang_parser *p)
{
    const lang_statement *s;

    while (lang_accept(p, LANG_T_BREAK))
        continue;
    if (lang_peek(p, 0) == LANG_T_END)
        return lang_fail(p->err, lang_token_place(p, 0), "expected a value, found nothing");
    if (!parse_statement(p))
        return false;
    while (lang_accept(p, LANG_T_BREAK))
        continue;
    s = p->unit->statements.items[0];
    if (s->kind != LANG_EXPRESSION)
        return lang_fail(p->err, s->place, "expected a value, found a statement");
    return lang_peek(p, 0) == LANG_T_END || lang_fail_expected(p, "one value and nothing more");
}

static bool read_source(lang_unit *unit, const char *file, const char *text, size_t length,
                        lang_error *err)
{
    unit->source.file = lang_arena_text(&unit->arena, file, strlen(file));
    unit->source.text = lang_arena_text(&unit->arena, text, length);
    unit->source.length = length;
    return (unit->source.file && unit->source.text) || lang_fail_memory(err);
}

static bool parse_unit(lang_parser *p, bool expression)
{
    bool done = lang_tokens_read(&p->tokens, &p->unit->source, p->err);

    p->numbers = newlocale(LC_ALL_MASK, "C", (locale_t)0);
    if (!p->numbers)
        done = lang_fail_memory(p->err);
    if (done)
        done = expression ? parse_only_expression(p) : parse_statements(p);
    if (p->numbers)
        freelocale(p->numbers);
    lang_tokens_free(&p->tokens);
    lang_list_free(&p->stack);
    lang_list_free(&p->locals);
    lang_list_free(&p->uses);
    return done;
}

lang_unit *lang_unit_read(lang_symbols *symbols, const char *file, const char *text, size_t length,
                          bool expression, lang_error *err)
{
    lang_unit  *unit = calloc(1, sizeof *unit);
    lang_parser p = { .unit = unit, .symbols = symbols, .err = err };

    if (!unit) {
        lang_fail_memory(err);
        return NULL;
    }
    if (read_source(unit, file, text, length, err) && parse_unit(&p, expression))
        return unit;
    lang_unit_free(unit);
    return NULL;
}

void lang_unit_free(lang_unit *unit)
{
    if (!unit)
        return;
    lang_list_free(&unit->statements);
    lang_arena_free(&unit->arena);
    free(unit);
}
