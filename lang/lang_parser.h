/* lang_parser.h -- what the parser of statements and the parser of expressions share. */
#ifndef LANG_PARSER_H
#define LANG_PARSER_H

#include "lang/lang_program.h"
#include "lang/lang_token.h"

#include <locale.h>

typedef struct lang_parser {
    lang_unit    *unit;
    lang_symbols *symbols;
    lang_tokens   tokens;
    size_t        at;      /* the next token */
    int           depth;   /* of recursion, at most LANG_MAX_DEPTH */
    int           indices; /* brackets of arrays around this place */
    bool          in_edge; /* in the value of edge=..., where `wrap` is a rule */
    lang_list     stack;   /* nodes whose parent is not made yet */
    lang_list     locals;  /* symbols of indices and parameters, the innermost last */
    lang_list     uses;    /* of this statement */
    locale_t      numbers; /* in which the point is a point */
    lang_error   *err;
} lang_parser;

/* ---- Tokens ---------------------------------------------------------------------------------- */

lang_token_kind lang_peek(const lang_parser *p, size_t ahead);
lang_place      lang_token_place(const lang_parser *p, size_t ahead);
bool            lang_token_is(const lang_parser *p, size_t ahead, const char *text);
bool            lang_accept(lang_parser *p, lang_token_kind kind);
/* `role` says what it is needed for: "after the name". */
bool lang_expect(lang_parser *p, lang_token_kind kind, const char *role);
/* The bracket that closes the one at `open`; comma: another item might have followed. */
bool lang_expect_close(lang_parser *p, lang_token_kind kind, lang_place open, bool comma);
/* "expected WHAT, found ..." at the next token. */
bool lang_fail_expected(const lang_parser *p, const char *what);

/* ---- Parts of the grammar; NULL or false after an error -------------------------------------- */

/* The symbol of the next token, which must be a name that may be defined. */
const lang_symbol *lang_parse_new_name(lang_parser *p, const char *what);
bool lang_add_local(lang_parser *p, const lang_symbol *symbol, lang_place place);
/* Indices in brackets, each with its range if it has one; they become locals. */
const lang_range *const *lang_parse_ranges(lang_parser *p, int *count);
const lang_node         *lang_parse_expression(lang_parser *p);

const lang_node *lang_parse_postfix(lang_parser *p);
/* The next token, which is a number; `place` begins at its sign if it has one. */
const lang_node *lang_parse_number(lang_parser *p, lang_place place, bool negative);
/* Every way in which the grammar comes back to itself goes through here. */
const lang_node *lang_deeper(lang_parser *p, const lang_node *(*parse)(lang_parser *));

/* ---- Nodes ----------------------------------------------------------------------------------- */

lang_node *lang_node_new(lang_parser *p, lang_kind kind, lang_place place);
/* A node with the symbol of the next token, which is taken. */
lang_node *lang_symbol_node(lang_parser *p, lang_kind kind);
bool       lang_push(lang_parser *p, const lang_node *node); /* on the stack */
/* Gives a node the parts that were put on the stack after `from`. */
lang_node *lang_take_parts(lang_parser *p, lang_node *node, size_t from);

#endif
