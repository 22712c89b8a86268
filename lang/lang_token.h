/* lang_token.h -- a text as tokens: names, numbers, texts, operators, ends of statements.
 * Sees lang_base.h only. */
#ifndef LANG_TOKEN_H
#define LANG_TOKEN_H

#include "lang/lang_base.h"

/* X(constant, spelling, whether a line goes on after it).  Where one spelling begins another, the
 * longer one stands first. */
#define LANG_SIGN_LIST(X)                                                                          \
    X(DOTS, "...", false)                                                                          \
    X(POWER, "**", true)                                                                           \
    X(STAR, "*", true)                                                                             \
    X(FLOOR, "//", true)                                                                           \
    X(SLASH, "/", true)                                                                            \
    X(PERCENT, "%", true)                                                                          \
    X(AT, "@", true)                                                                               \
    X(PLUS, "+", true)                                                                             \
    X(MINUS, "-", true)                                                                            \
    X(LEFT, "<<", true)                                                                            \
    X(RIGHT, ">>", true)                                                                           \
    X(NOT_MORE, "<=", true)                                                                        \
    X(LESS, "<", true)                                                                             \
    X(NOT_LESS, ">=", true)                                                                        \
    X(MORE, ">", true)                                                                             \
    X(EQUAL, "==", true)                                                                           \
    X(NOT_EQUAL, "!=", true)                                                                       \
    X(NOT, "!", true)                                                                              \
    X(AND, "&&", true)                                                                             \
    X(BIT_AND, "&", true)                                                                          \
    X(OR, "||", true)                                                                              \
    X(BIT_OR, "|", true)                                                                           \
    X(XOR, "^", true)                                                                              \
    X(TILDE, "~", true)                                                                            \
    X(QUESTION, "?", true)                                                                         \
    X(COLON, ":", true)                                                                            \
    X(ASSIGN, "=", true)                                                                           \
    X(COMMA, ",", true)                                                                            \
    X(OPEN, "(", false)                                                                            \
    X(CLOSE, ")", false)                                                                           \
    X(BRACKET, "[", false)                                                                         \
    X(UNBRACKET, "]", false)

/* Reserved words that are no operators.  In alphabetical order. */
#define LANG_WORD_LIST(X)                                                                          \
    X(DEF, "def")                                                                                  \
    X(EDGE, "edge")                                                                                \
    X(FALSE, "false")                                                                              \
    X(INF, "inf")                                                                                  \
    X(LET, "let")                                                                                  \
    X(NAN, "nan")                                                                                  \
    X(NEWAXIS, "newaxis")                                                                          \
    X(OUTPUT, "output")                                                                            \
    X(PARAM, "param")                                                                              \
    X(PI, "pi")                                                                                    \
    X(TRUE, "true")

typedef enum {
    LANG_T_END,
    LANG_T_BREAK, /* a newline that ends a statement, or ';' */
    LANG_T_NAME,
    LANG_T_INT,
    LANG_T_REAL,
    LANG_T_IMAGINARY,
    LANG_T_TEXT,
#define LANG_SIGN_ENUM(constant, spelling, goes_on) LANG_T_##constant,
    LANG_SIGN_LIST(LANG_SIGN_ENUM)
#undef LANG_SIGN_ENUM
#define LANG_WORD_ENUM(constant, spelling) LANG_T_##constant,
        LANG_WORD_LIST(LANG_WORD_ENUM)
#undef LANG_WORD_ENUM
            LANG_T_COUNT
} lang_token_kind;

typedef struct lang_token {
    lang_token_kind kind;
    uint32_t        start, length; /* bytes of the source */
} lang_token;

typedef struct lang_tokens {
    lang_token *items; /* the last one is LANG_T_END */
    size_t      count, room;
    bool        unfinished; /* the text ends inside a bracket or after an operator */
} lang_tokens;

bool lang_tokens_read(lang_tokens *out, const lang_source *source, lang_error *err);
void lang_tokens_free(lang_tokens *tokens);

/* How a kind is called in a message: "`+`", "a name". */
const char *lang_token_name(lang_token_kind kind);

#endif
