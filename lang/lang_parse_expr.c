/* lang_parse_expr.c -- the grammar of expressions: operators, choices, reductions. */
#include "lang/lang_parser.h"
#include "lang/lang_words.h"

#include <string.h>

/* ---- Operators ------------------------------------------------------------------------------- */

/* What binds closer has a higher level.  `?:` is below all of them. */
enum {
    LEVEL_OR = 1,
    LEVEL_AND,
    LEVEL_NOT,
    LEVEL_COMPARE,
    LEVEL_BIT_OR,
    LEVEL_XOR,
    LEVEL_BIT_AND,
    LEVEL_SHIFT,
    LEVEL_SUM,
    LEVEL_PRODUCT,
    LEVEL_PREFIX
};

typedef struct {
    int level; /* 0: not an operator between two operands */
    int op;    /* -1: not elementwise */
} operator_row;

static const operator_row operators[LANG_T_COUNT] = {
    [LANG_T_OR] = { LEVEL_OR, ARRAS_OP_logical_or },
    [LANG_T_AND] = { LEVEL_AND, ARRAS_OP_logical_and },
    [LANG_T_EQUAL] = { LEVEL_COMPARE, ARRAS_OP_equal },
    [LANG_T_NOT_EQUAL] = { LEVEL_COMPARE, ARRAS_OP_not_equal },
    [LANG_T_LESS] = { LEVEL_COMPARE, ARRAS_OP_less },
    [LANG_T_NOT_MORE] = { LEVEL_COMPARE, ARRAS_OP_less_equal },
    [LANG_T_MORE] = { LEVEL_COMPARE, ARRAS_OP_greater },
    [LANG_T_NOT_LESS] = { LEVEL_COMPARE, ARRAS_OP_greater_equal },
    [LANG_T_BIT_OR] = { LEVEL_BIT_OR, ARRAS_OP_bitwise_or },
    [LANG_T_XOR] = { LEVEL_XOR, ARRAS_OP_bitwise_xor },
    [LANG_T_BIT_AND] = { LEVEL_BIT_AND, ARRAS_OP_bitwise_and },
    [LANG_T_LEFT] = { LEVEL_SHIFT, ARRAS_OP_left_shift },
    [LANG_T_RIGHT] = { LEVEL_SHIFT, ARRAS_OP_right_shift },
    [LANG_T_PLUS] = { LEVEL_SUM, ARRAS_OP_add },
    [LANG_T_MINUS] = { LEVEL_SUM, ARRAS_OP_subtract },
    [LANG_T_STAR] = { LEVEL_PRODUCT, ARRAS_OP_multiply },
    [LANG_T_SLASH] = { LEVEL_PRODUCT, ARRAS_OP_divide },
    [LANG_T_FLOOR] = { LEVEL_PRODUCT, ARRAS_OP_floor_divide },
    [LANG_T_PERCENT] = { LEVEL_PRODUCT, ARRAS_OP_remainder },
    [LANG_T_AT] = { LEVEL_PRODUCT, -1 },
};

static const lang_node *node_of(lang_parser *p, lang_kind kind, int64_t integer, lang_place place,
                                int n, const lang_node *const *parts)
{
    size_t     from = p->stack.count;
    lang_node *node = lang_node_new(p, kind, place);

    if (node && kind == LANG_OP)
        node->integer = integer;
    for (int i = 0; i < n; i++)
        if (!parts[i] || !lang_push(p, parts[i]))
            return NULL;
    return lang_take_parts(p, node, from);
}

/* ---- Reductions ------------------------------------------------------------------------------ */

static bool starts_operand(lang_token_kind kind)
{
    switch (kind) {
    case LANG_T_NAME:
    case LANG_T_INT:
    case LANG_T_REAL:
    case LANG_T_IMAGINARY:
    case LANG_T_TEXT:
    case LANG_T_OPEN:
    case LANG_T_BRACKET:
    case LANG_T_MINUS:
    case LANG_T_PLUS:
    case LANG_T_TILDE:
    case LANG_T_NOT:
    case LANG_T_TRUE:
    case LANG_T_FALSE:
    case LANG_T_PI:
    case LANG_T_INF:
    case LANG_T_NAN: return true;
    default: return false;
    }
}

static const lang_node *parse_level(lang_parser *p, int level);
static const lang_node *parse_prefix(lang_parser *p);

static const lang_node *parse_product(lang_parser *p) { return parse_level(p, LEVEL_PRODUCT); }
static const lang_node *parse_negated(lang_parser *p) { return parse_level(p, LEVEL_NOT); }

static const lang_node *parse_reduction(lang_parser *p)
{
    size_t           from = p->stack.count, outside = p->locals.count;
    lang_node       *node = lang_symbol_node(p, LANG_REDUCE);
    const lang_node *body;

    if (!node || !(node->ranges = lang_parse_ranges(p, &node->nranges)))
        return NULL;
    node->place = lang_place_span(node->place, lang_token_place(p, (size_t)-1));
    if (!starts_operand(lang_peek(p, 0))) {
        lang_fail(p->err, node->place,
                  "`%s[...]` begins a reduction, and what it reduces must follow: %s[k] x[k]",
                  node->symbol->text, node->symbol->text);
        return NULL;
    }
    body = lang_deeper(p, parse_product);
    p->locals.count = outside;
    return body && lang_push(p, body) ? lang_take_parts(p, node, from) : NULL;
}

/* ---- From the innermost out ------------------------------------------------------------------ */

static bool at_reduction(const lang_parser *p)
{
    lang_place place = lang_token_place(p, 0);

    return lang_peek(p, 0) == LANG_T_NAME && lang_peek(p, 1) == LANG_T_BRACKET &&
           lang_find_reduction(p->unit->source.text + place.start, place.length);
}

static const lang_node *parse_power(lang_parser *p)
{
    const lang_node *base = lang_parse_postfix(p), *exponent;

    if (!base || !lang_accept(p, LANG_T_POWER))
        return base;
    exponent = lang_deeper(p, parse_prefix);
    if (!exponent)
        return NULL;
    return node_of(p, LANG_OP, ARRAS_OP_pow, lang_place_span(base->place, exponent->place), 2,
                   (const lang_node *[]){ base, exponent });
}

static bool is_number(lang_token_kind kind)
{
    return kind == LANG_T_INT || kind == LANG_T_REAL || kind == LANG_T_IMAGINARY;
}

static const lang_node *parse_sign(lang_parser *p, lang_place place)
{
    lang_token_kind  sign = lang_peek(p, 0);
    const lang_node *operand;

    p->at++;
    /* -5 is a number of its own, but -5**2 is -(5**2). */
    if (sign == LANG_T_MINUS && is_number(lang_peek(p, 0)) && lang_peek(p, 1) != LANG_T_POWER &&
        lang_peek(p, 1) != LANG_T_BRACKET)
        return lang_parse_number(p, lang_place_span(place, lang_token_place(p, 0)), true);
    operand = lang_deeper(p, parse_prefix);
    if (!operand || sign == LANG_T_PLUS)
        return operand;
    return node_of(p, LANG_OP, sign == LANG_T_MINUS ? ARRAS_OP_negative : ARRAS_OP_bitwise_invert,
                   lang_place_span(place, operand->place), 1, &operand);
}

static const lang_node *parse_prefix(lang_parser *p)
{
    lang_token_kind kind = lang_peek(p, 0);

    if (kind == LANG_T_MINUS || kind == LANG_T_PLUS || kind == LANG_T_TILDE)
        return parse_sign(p, lang_token_place(p, 0));
    if (kind == LANG_T_NOT) {
        lang_fail(p->err, lang_token_place(p, 0),
                  "`not` binds less than what stands before it: put it in brackets, (not x)");
        return NULL;
    }
    return at_reduction(p) ? parse_reduction(p) : parse_power(p);
}

static const lang_node *parse_not(lang_parser *p)
{
    lang_place       place = lang_token_place(p, 0);
    const lang_node *operand;

    p->at++;
    operand = lang_deeper(p, parse_negated);
    if (!operand)
        return NULL;
    return node_of(p, LANG_OP, ARRAS_OP_logical_not, lang_place_span(place, operand->place), 1,
                   &operand);
}

/* all[k] x[k] > 0 is (all[k] x[k]) > 0, which nobody means. */
static bool check_compared(lang_parser *p, const lang_node *left)
{
    const char *word;

    if (left->kind != LANG_REDUCE || left->bracketed)
        return true;
    word = left->symbol->text;
    if (strcmp(word, "all") != 0 && strcmp(word, "any") != 0 && strncmp(word, "count", 5) != 0)
        return true;
    return lang_fail(p->err, lang_token_place(p, 0),
                     "`%s[...]` reduces a product, so it ends before `%.*s`: write brackets, "
                     "%s[k] (x[k] > 0) or (%s[k] x[k]) > 0",
                     word, (int)lang_token_place(p, 0).length,
                     p->unit->source.text + lang_token_place(p, 0).start, word, word);
}

static bool check_chain(lang_parser *p, int level)
{
    if (level != LEVEL_COMPARE || operators[lang_peek(p, 0)].level != LEVEL_COMPARE)
        return true;
    return lang_fail(p->err, lang_token_place(p, 0),
                     "comparisons can't be chained: write a < b and b < c");
}

static const lang_node *parse_operator(lang_parser *p, const lang_node *left)
{
    operator_row     row = operators[lang_peek(p, 0)];
    const lang_node *right;

    if (row.level == LEVEL_COMPARE && !check_compared(p, left))
        return NULL;
    p->at++;
    right = parse_level(p, row.level + 1);
    if (!right || !check_chain(p, row.level))
        return NULL;
    return node_of(p, row.op < 0 ? LANG_MATMUL : LANG_OP, row.op,
                   lang_place_span(left->place, right->place), 2,
                   (const lang_node *[]){ left, right });
}

/* Operators of this level and those that bind closer. */
static const lang_node *parse_level(lang_parser *p, int level)
{
    bool             negated = lang_peek(p, 0) == LANG_T_NOT && level <= LEVEL_NOT;
    const lang_node *left = negated ? parse_not(p) : parse_prefix(p);

    while (left && operators[lang_peek(p, 0)].level >= level)
        left = parse_operator(p, left);
    return left;
}

static const lang_node *parse_choice(lang_parser *p, const lang_node *condition)
{
    const lang_node *yes, *no;

    p->at++;
    yes = lang_parse_expression(p);
    if (!yes || !lang_expect(p, LANG_T_COLON, "between the two results of `?`"))
        return NULL;
    no = lang_parse_expression(p);
    if (!no)
        return NULL;
    return node_of(p, LANG_OP, ARRAS_OP_where, lang_place_span(condition->place, no->place), 3,
                   (const lang_node *[]){ condition, yes, no });
}

static const lang_node *parse_whole(lang_parser *p)
{
    const lang_node *node = parse_level(p, LEVEL_OR);

    return node && lang_peek(p, 0) == LANG_T_QUESTION ? parse_choice(p, node) : node;
}

const lang_node *lang_parse_expression(lang_parser *p) { return lang_deeper(p, parse_whole); }
