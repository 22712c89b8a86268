/* lang_parse_operand.c -- the grammar of what stands between operators: numbers, names, calls,
 * lists, and the brackets behind them. */
#include "lang/lang_parser.h"
#include "lang/lang_words.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- Nodes ----------------------------------------------------------------------------------- */

lang_node *lang_node_new(lang_parser *p, lang_kind kind, lang_place place)
{
    lang_node *node = lang_arena_alloc(&p->unit->arena, 1, sizeof *node);

    if (!node) {
        lang_fail_memory(p->err);
        return NULL;
    }
    node->kind = kind;
    node->place = place;
    node->height = 1;
    return node;
}

lang_node *lang_take_parts(lang_parser *p, lang_node *node, size_t from)
{
    if (!node)
        return NULL;
    node->nparts = (int)(p->stack.count - from);
    node->parts = lang_list_keep(&p->stack, from, &p->unit->arena);
    p->stack.count = from;
    if (!node->parts) {
        lang_fail_memory(p->err);
        return NULL;
    }
    for (int i = 0; i < node->nparts; i++)
        if (node->parts[i] && node->parts[i]->height >= node->height)
            node->height = node->parts[i]->height + 1;
    if (node->height > LANG_MAX_HEIGHT) {
        lang_fail(p->err, node->place,
                  "more than %d operations in one another: give a part a name with `let`",
                  LANG_MAX_HEIGHT);
        return NULL;
    }
    return node;
}

bool lang_push(lang_parser *p, const lang_node *node)
{
    return lang_list_add(&p->stack, node) || lang_fail_memory(p->err);
}

static bool enter(lang_parser *p)
{
    if (++p->depth <= LANG_MAX_DEPTH)
        return true;
    return lang_fail(p->err, lang_token_place(p, 0),
                     "more than %d levels of brackets in brackets: give a part a name with `let`",
                     LANG_MAX_DEPTH);
}

const lang_node *lang_deeper(lang_parser *p, const lang_node *(*parse)(lang_parser *))
{
    const lang_node *node = enter(p) ? parse(p) : NULL;

    p->depth--;
    return node;
}

/* ---- Numbers, texts, words ------------------------------------------------------------------- */

/* The digits of the next token without '_'; tokens are short enough. */
static void copy_number(const lang_parser *p, char *room, size_t size)
{
    lang_place place = lang_token_place(p, 0);
    size_t     n = 0;

    for (size_t i = 0; i < place.length && n + 1 < size; i++)
        if (p->unit->source.text[place.start + i] != '_')
            room[n++] = p->unit->source.text[place.start + i];
    room[n] = '\0';
}

static const lang_node *parse_integer(lang_parser *p, lang_place place, bool negative)
{
    lang_node *node = lang_node_new(p, LANG_INT, place);
    char       digits[256];
    uint64_t   value, most = (uint64_t)INT64_MAX + negative;
    bool       hex;

    if (!node)
        return NULL;
    copy_number(p, digits, sizeof digits);
    hex = digits[0] == '0' && (digits[1] == 'x' || digits[1] == 'X');
    errno = 0;
    value = strtoull(digits, NULL, hex ? 16 : 10);
    if (errno == ERANGE || value > most) {
        lang_fail(p->err, place, "this is too large for an integer (i64 ends at %" PRId64 ")",
                  INT64_MAX);
        return NULL;
    }
    node->integer = negative ? (int64_t)(0 - value) : (int64_t)value;
    p->at++;
    return node;
}

static const lang_node *parse_real(lang_parser *p, lang_place place, bool negative)
{
    bool       imaginary = lang_peek(p, 0) == LANG_T_IMAGINARY;
    lang_node *node = lang_node_new(p, imaginary ? LANG_IMAGINARY : LANG_REAL, place);
    char       digits[256];

    if (!node)
        return NULL;
    copy_number(p, digits, sizeof digits);
    node->real = strtod_l(digits, NULL, p->numbers);
    node->real = negative ? -node->real : node->real;
    p->at++;
    return node;
}

const lang_node *lang_parse_number(lang_parser *p, lang_place place, bool negative)
{
    return lang_peek(p, 0) == LANG_T_INT ? parse_integer(p, place, negative)
                                         : parse_real(p, place, negative);
}

static const lang_node *parse_text(lang_parser *p)
{
    lang_place place = lang_token_place(p, 0);
    lang_node *node = lang_node_new(p, LANG_TEXT, place);
    char      *text =
        lang_arena_text(&p->unit->arena, p->unit->source.text + place.start + 1, place.length - 2);

    if (!node || !text) {
        lang_fail_memory(p->err);
        return NULL;
    }
    if (memchr(text, '\0', place.length - 2)) {
        lang_fail(p->err, place, "a text with a byte 0 in it");
        return NULL;
    }
    node->text = text;
    p->at++;
    return node;
}

static const lang_node *parse_constant(lang_parser *p, lang_kind kind, int64_t integer, double real)
{
    lang_node *node = lang_node_new(p, kind, lang_token_place(p, 0));

    if (!node)
        return NULL;
    if (kind == LANG_REAL)
        node->real = real;
    else
        node->integer = integer;
    p->at++;
    return node;
}

/* ---- Names and calls ------------------------------------------------------------------------- */

static bool is_local(const lang_parser *p, const lang_symbol *symbol)
{
    for (size_t i = p->locals.count; i > 0; i--)
        if (p->locals.items[i - 1] == symbol)
            return true;
    return false;
}

lang_node *lang_symbol_node(lang_parser *p, lang_kind kind)
{
    lang_place   place = lang_token_place(p, 0);
    lang_node   *node = lang_node_new(p, kind, place);
    lang_symbol *symbol =
        lang_symbol_get(p->symbols, p->unit->source.text + place.start, place.length);

    if (!node || !symbol) {
        lang_fail_memory(p->err);
        return NULL;
    }
    node->symbol = symbol;
    p->at++;
    return node;
}

static bool add_use(lang_parser *p, const lang_node *node)
{
    return lang_list_add(&p->uses, node) || lang_fail_memory(p->err);
}

/* A word that stands for itself. */
static const lang_node *parse_word(lang_parser *p)
{
    lang_node *node = lang_symbol_node(p, LANG_WORD);

    if (node)
        node->text = node->symbol->text;
    return node;
}

static const lang_node *parse_name(lang_parser *p)
{
    lang_place  place = lang_token_place(p, 0);
    arras_dtype dtype = lang_find_dtype(p->unit->source.text + place.start, place.length);
    lang_node  *node;

    if (dtype != ARRAS_NO_DTYPE)
        return parse_constant(p, LANG_DTYPE, (int64_t)dtype, 0);
    if (p->in_edge &&
        lang_find_edge(p->unit->source.text + place.start, place.length) != ARRAS_EDGE_END)
        return parse_word(p);
    node = lang_symbol_node(p, LANG_NAME);
    if (!node)
        return NULL;
    node->local = is_local(p, node->symbol);
    node->indexed = lang_peek(p, 0) == LANG_T_BRACKET;
    node->as_index = p->indices > 0;
    return node->local || add_use(p, node) ? node : NULL;
}

/* `all` and `none` alone stand for what is not given. */
static bool at_word(const lang_parser *p)
{
    return lang_peek(p, 0) == LANG_T_NAME &&
           (lang_token_is(p, 0, "all") || lang_token_is(p, 0, "none")) &&
           (lang_peek(p, 1) == LANG_T_COMMA || lang_peek(p, 1) == LANG_T_CLOSE);
}

static const lang_node *parse_value(lang_parser *p)
{
    return at_word(p) ? parse_word(p) : lang_parse_expression(p);
}

/* Parameters may be called like words of the language: edge="wrap". */
static bool names_parameter(lang_token_kind kind)
{
    return kind == LANG_T_NAME || kind > LANG_T_UNBRACKET;
}

static const lang_node *parse_argument(lang_parser *p, bool *named)
{
    size_t           from = p->stack.count;
    const lang_node *value;
    lang_node       *node;

    if (!names_parameter(lang_peek(p, 0)) || lang_peek(p, 1) != LANG_T_ASSIGN) {
        if (*named) {
            lang_fail(p->err, lang_token_place(p, 0),
                      "arguments without a name stand before those with one");
            return NULL;
        }
        return parse_value(p);
    }
    *named = true;
    p->in_edge = lang_peek(p, 0) == LANG_T_EDGE;
    node = lang_symbol_node(p, LANG_NAMED);
    p->at++;
    value = node ? parse_value(p) : NULL;
    p->in_edge = false;
    if (!value || !lang_push(p, value))
        return NULL;
    node->place = lang_place_span(node->place, value->place);
    return lang_take_parts(p, node, from);
}

static const lang_node *parse_call(lang_parser *p)
{
    size_t     from = p->stack.count;
    lang_node *node = lang_symbol_node(p, LANG_CALL);
    lang_place open = lang_token_place(p, 0);
    bool       named = false;

    if (!node || !add_use(p, node))
        return NULL;
    p->at++;
    while (lang_peek(p, 0) != LANG_T_CLOSE) {
        const lang_node *argument = parse_argument(p, &named);

        if (!argument || !lang_push(p, argument))
            return NULL;
        if (!lang_accept(p, LANG_T_COMMA))
            break;
    }
    if (!lang_expect_close(p, LANG_T_CLOSE, open, true))
        return NULL;
    node->place = lang_place_span(node->place, lang_token_place(p, (size_t)-1));
    return lang_take_parts(p, node, from);
}

/* ---- Brackets -------------------------------------------------------------------------------- */

static bool ends_bound(lang_token_kind kind)
{
    return kind == LANG_T_COLON || kind == LANG_T_COMMA || kind == LANG_T_UNBRACKET;
}

/* start:stop:step, all of which may be left out; `first` is the start, already read. */
static const lang_node *parse_slice(lang_parser *p, const lang_node *first)
{
    size_t     from = p->stack.count;
    lang_node *node = lang_node_new(p, LANG_SLICE, first ? first->place : lang_token_place(p, 0));

    if (!node || !lang_push(p, first))
        return NULL;
    for (int i = 1; i < 3; i++) {
        const lang_node *bound = NULL;

        if (lang_accept(p, LANG_T_COLON) && !ends_bound(lang_peek(p, 0)) &&
            !(bound = lang_parse_expression(p)))
            return NULL;
        if (!lang_push(p, bound))
            return NULL;
    }
    node->place = lang_place_span(node->place, lang_token_place(p, (size_t)-1));
    return lang_take_parts(p, node, from);
}

static const lang_node *parse_item(lang_parser *p)
{
    const lang_node *first;

    if (lang_peek(p, 0) == LANG_T_DOTS)
        return parse_constant(p, LANG_ELLIPSIS, 0, 0);
    if (lang_peek(p, 0) == LANG_T_NEWAXIS)
        return parse_constant(p, LANG_NEWAXIS, 0, 0);
    if (lang_peek(p, 0) == LANG_T_COLON)
        return parse_slice(p, NULL);
    first = lang_parse_expression(p);
    return first && lang_peek(p, 0) == LANG_T_COLON ? parse_slice(p, first) : first;
}

/* Items up to the closing bracket, put on the stack. */
static bool parse_items(lang_parser *p, const lang_node *(*parse)(lang_parser *))
{
    lang_place open = lang_token_place(p, 0);

    p->at++;
    while (lang_peek(p, 0) != LANG_T_UNBRACKET) {
        const lang_node *item = parse(p);

        if (!item || !lang_push(p, item))
            return false;
        if (!lang_accept(p, LANG_T_COMMA))
            break;
    }
    return lang_expect_close(p, LANG_T_UNBRACKET, open, true);
}

static const lang_node *parse_list(lang_parser *p)
{
    size_t     from = p->stack.count;
    lang_node *node = lang_node_new(p, LANG_LIST, lang_token_place(p, 0));

    if (!node || !parse_items(p, lang_parse_expression))
        return NULL;
    node->place = lang_place_span(node->place, lang_token_place(p, (size_t)-1));
    return lang_take_parts(p, node, from);
}

static const lang_node *parse_group(lang_parser *p)
{
    lang_place       open = lang_token_place(p, 0);
    const lang_node *inside;
    lang_node       *node;

    p->at++;
    inside = lang_parse_expression(p);
    if (!inside || !lang_expect_close(p, LANG_T_CLOSE, open, false))
        return NULL;
    node = lang_node_new(p, inside->kind, inside->place);
    if (!node)
        return NULL;
    *node = *inside;
    node->bracketed = true;
    node->place = lang_place_span(open, lang_token_place(p, (size_t)-1));
    return node;
}

/* ---- Operands -------------------------------------------------------------------------------- */

static const lang_node *parse_primary(lang_parser *p)
{
    switch (lang_peek(p, 0)) {
    case LANG_T_INT:
    case LANG_T_REAL:
    case LANG_T_IMAGINARY: return lang_parse_number(p, lang_token_place(p, 0), false);
    case LANG_T_TEXT: return parse_text(p);
    case LANG_T_TRUE: return parse_constant(p, LANG_BOOL, 1, 0);
    case LANG_T_FALSE: return parse_constant(p, LANG_BOOL, 0, 0);
    case LANG_T_PI: return parse_constant(p, LANG_REAL, 0, M_PI);
    case LANG_T_INF: return parse_constant(p, LANG_REAL, 0, (double)INFINITY);
    case LANG_T_NAN: return parse_constant(p, LANG_REAL, 0, (double)NAN);
    case LANG_T_OPEN: return parse_group(p);
    case LANG_T_BRACKET: return parse_list(p);
    case LANG_T_NAME: return lang_peek(p, 1) == LANG_T_OPEN ? parse_call(p) : parse_name(p);
    default: lang_fail_expected(p, "a number, a name or a bracket"); return NULL;
    }
}

const lang_node *lang_parse_postfix(lang_parser *p)
{
    const lang_node *base = parse_primary(p);

    while (base && lang_peek(p, 0) == LANG_T_BRACKET) {
        size_t     from = p->stack.count;
        lang_node *node = lang_node_new(p, LANG_INDEX, base->place);

        p->indices++;
        if (!node || !lang_push(p, base) || !parse_items(p, parse_item))
            return NULL;
        p->indices--;
        node->place = lang_place_span(base->place, lang_token_place(p, (size_t)-1));
        base = lang_take_parts(p, node, from);
    }
    return base;
}
