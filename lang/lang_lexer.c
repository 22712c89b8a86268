/* lang_lexer.c -- from text to tokens. */
#include "lang/lang_token.h"

#include <stdlib.h>
#include <string.h>

enum { MOST_BYTES = 1 << 26, LONGEST_NAME = 255, LONGEST_NUMBER = 255 };

typedef struct {
    const lang_source *source;
    const char        *text;
    size_t             length, at;
    lang_tokens       *out;
    lang_error        *err;
    size_t             depth;   /* of brackets */
    bool               goes_on; /* the last token needs something after it */
} lexer;

typedef struct {
    const char *text;
    bool        goes_on;
} sign;

static const sign signs[] = {
#define LANG_SIGN_ROW(constant, spelling, goes_on) { spelling, goes_on },
    LANG_SIGN_LIST(LANG_SIGN_ROW)
#undef LANG_SIGN_ROW
};
static const char *const words[] = {
#define LANG_WORD_ROW(constant, spelling) spelling,
    LANG_WORD_LIST(LANG_WORD_ROW)
#undef LANG_WORD_ROW
};
enum {
    SIGNS = sizeof signs / sizeof *signs,
    WORDS = sizeof words / sizeof *words,
    FIRST_SIGN = LANG_T_DOTS,
    FIRST_WORD = FIRST_SIGN + SIGNS
};

/* ---- Characters ------------------------------------------------------------------------------ */

static bool is_digit(char c) { return c >= '0' && c <= '9'; }
static bool is_letter(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}
static bool is_name(char c) { return is_letter(c) || is_digit(c); }
static bool is_hex(char c)
{
    return is_digit(c) || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F');
}

/* A byte ahead; 0 at the end. */
static char peek(const lexer *x, size_t ahead)
{
    return x->at + ahead < x->length ? x->text[x->at + ahead] : '\0';
}

static lang_place place_of(const lexer *x, size_t start, size_t length)
{
    return (lang_place){ x->source, start, length };
}

/* ---- Tokens ---------------------------------------------------------------------------------- */

static bool add(lexer *x, lang_token_kind kind, size_t start)
{
    lang_tokens *t = x->out;

    if (t->count == t->room) {
        size_t      room = t->room ? 2 * t->room : 64;
        lang_token *items = reallocarray(t->items, room, sizeof *items);

        if (!items)
            return lang_fail_memory(x->err);
        t->items = items;
        t->room = room;
    }
    t->items[t->count++] = (lang_token){ kind, (uint32_t)start, (uint32_t)(x->at - start) };
    return true;
}

static bool read_name(lexer *x)
{
    static const struct {
        const char     *text;
        lang_token_kind kind;
    } operators[] = { { "and", LANG_T_AND }, { "or", LANG_T_OR }, { "not", LANG_T_NOT } };
    size_t          start = x->at, length;
    lang_token_kind kind = LANG_T_NAME;

    while (is_name(peek(x, 0)) || (peek(x, 0) == '.' && is_letter(peek(x, 1))))
        x->at++;
    length = x->at - start;
    if (length > LONGEST_NAME)
        return lang_fail(x->err, place_of(x, start, length), "a name of %zu bytes; it may have %d",
                         length, LONGEST_NAME);
    for (int i = 0; i < WORDS; i++)
        if (strlen(words[i]) == length && memcmp(words[i], x->text + start, length) == 0)
            kind = (lang_token_kind)(FIRST_WORD + i);
    for (int i = 0; i < 3; i++)
        if (strlen(operators[i].text) == length &&
            memcmp(operators[i].text, x->text + start, length) == 0)
            kind = operators[i].kind;
    x->goes_on = kind == LANG_T_AND || kind == LANG_T_OR || kind == LANG_T_NOT;
    return add(x, kind, start);
}

/* Digits, with '_' between them. */
static void skip_digits(lexer *x, bool (*is)(char))
{
    while (is(peek(x, 0)) || (peek(x, 0) == '_' && is(peek(x, 1))))
        x->at++;
}

static void skip_exponent(lexer *x)
{
    bool is_signed = peek(x, 1) == '+' || peek(x, 1) == '-';

    x->at += is_signed ? 2 : 1;
    skip_digits(x, is_digit);
}

static bool has_exponent(const lexer *x)
{
    char next = peek(x, 1);

    return (peek(x, 0) == 'e' || peek(x, 0) == 'E') &&
           (is_digit(next) || ((next == '+' || next == '-') && is_digit(peek(x, 2))));
}

static lang_token_kind skip_number(lexer *x)
{
    bool real = false;

    if (peek(x, 0) == '0' && (peek(x, 1) == 'x' || peek(x, 1) == 'X') && is_hex(peek(x, 2))) {
        x->at += 2;
        skip_digits(x, is_hex);
        return LANG_T_INT;
    }
    skip_digits(x, is_digit);
    if (peek(x, 0) == '.' && peek(x, 1) != '.') {
        real = true;
        x->at++;
        if (is_digit(peek(x, 0)))
            skip_digits(x, is_digit);
    }
    if (has_exponent(x)) {
        real = true;
        skip_exponent(x);
    }
    if (peek(x, 0) == 'j') {
        x->at++;
        return LANG_T_IMAGINARY;
    }
    return real ? LANG_T_REAL : LANG_T_INT;
}

static bool read_number(lexer *x)
{
    size_t          start = x->at, end;
    lang_token_kind kind = skip_number(x);

    if (is_name(peek(x, 0))) {
        end = x->at;
        while (is_name(peek(x, 0)))
            x->at++;
        return lang_fail(x->err, place_of(x, start, x->at - start),
                         "a number runs into letters; write a product as `%.*s * ...`",
                         (int)(end - start < 40 ? end - start : 40), x->text + start);
    }
    if (x->at - start > LONGEST_NUMBER)
        return lang_fail(x->err, place_of(x, start, x->at - start),
                         "a number of %zu characters; it may have %d", x->at - start,
                         LONGEST_NUMBER);
    x->goes_on = false;
    return add(x, kind, start);
}

static bool read_text(lexer *x)
{
    size_t start = x->at++;

    while (x->at < x->length && peek(x, 0) != '"' && peek(x, 0) != '\n')
        x->at++;
    if (peek(x, 0) != '"')
        return lang_fail(x->err, place_of(x, start, x->at - start),
                         "a text that does not end: a `\"` is missing on this line");
    x->at++;
    x->goes_on = false;
    return add(x, LANG_T_TEXT, start);
}

static size_t character_bytes(const lexer *x)
{
    size_t bytes = 1;

    while (bytes < 4 && ((unsigned char)peek(x, bytes) & 0xc0) == 0x80)
        bytes++;
    return bytes;
}

/* What word processors and web pages make of what people type; NULL for anything else. */
static const char *plain_character(const char *text, size_t length)
{
    static const char *const pairs[][2] = {
        { "\u2212", "-" },   { "\u2013", "-" },   { "\u2014", "-" },       { "\u201c", "\"" },
        { "\u201d", "\"" },  { "\u00d7", "*" },   { "\u00b7", "*" },       { "\u00f7", "/" },
        { "\u00b2", "**2" }, { "\u00b3", "**3" }, { "\u2264", "<=" },      { "\u2265", ">=" },
        { "\u2260", "!=" },  { "\u03c0", "pi" },  { "\u00a0", "a blank" },
    };

    for (size_t i = 0; i < sizeof pairs / sizeof *pairs; i++)
        if (strlen(pairs[i][0]) == length && memcmp(pairs[i][0], text, length) == 0)
            return pairs[i][1];
    return NULL;
}

static bool fail_character(lexer *x)
{
    unsigned char byte = (unsigned char)x->text[x->at];
    size_t        bytes = byte >= 0xc0 ? character_bytes(x) : 1;
    lang_place    place = place_of(x, x->at, bytes);
    const char   *plain = plain_character(x->text + x->at, bytes);

    if (plain)
        return lang_fail(x->err, place, "`%.*s` means nothing here; did you mean `%s`?", (int)bytes,
                         x->text + x->at, plain);
    if (byte < 32 || byte == 127)
        return lang_fail(x->err, place, "a byte %d, which is no text", byte);
    if (byte == '\'')
        return lang_fail(x->err, place, "`'` means nothing here; texts stand in \"...\"");
    if (byte < 128)
        return lang_fail(x->err, place, "`%c` means nothing here", byte);
    if (bytes == 1)
        return lang_fail(x->err, place, "a byte %d, which is no UTF-8 text", byte);
    return lang_fail(x->err, place,
                     "`%.*s` means nothing here; names have letters a to z, digits, `_` and `.`",
                     (int)bytes, x->text + x->at);
}

static void count_bracket(lexer *x, lang_token_kind kind)
{
    if (kind == LANG_T_OPEN || kind == LANG_T_BRACKET)
        x->depth++;
    else if ((kind == LANG_T_CLOSE || kind == LANG_T_UNBRACKET) && x->depth > 0)
        x->depth--;
}

static bool read_sign(lexer *x)
{
    for (int i = 0; i < SIGNS; i++) {
        size_t length = strlen(signs[i].text), start = x->at;

        if (length > x->length - start || memcmp(signs[i].text, x->text + start, length) != 0)
            continue;
        x->at += length;
        x->goes_on = signs[i].goes_on;
        count_bracket(x, (lang_token_kind)(FIRST_SIGN + i));
        return add(x, (lang_token_kind)(FIRST_SIGN + i), start);
    }
    return fail_character(x);
}

/* ---- Lines ----------------------------------------------------------------------------------- */

static bool read_break(lexer *x)
{
    size_t start = x->at++;

    if (x->text[start] == '\n' && (x->depth > 0 || x->goes_on))
        return true;
    x->goes_on = false;
    return add(x, LANG_T_BREAK, start);
}

static bool read_backslash(lexer *x)
{
    size_t start = x->at++;

    while (peek(x, 0) == ' ' || peek(x, 0) == '\t' || peek(x, 0) == '\r')
        x->at++;
    if (x->at < x->length && peek(x, 0) != '\n')
        return lang_fail(x->err, place_of(x, start, 1), "`\\` must be the last thing on its line");
    if (x->at == x->length)
        x->goes_on = true;
    x->at++;
    return true;
}

static bool skip_comment(lexer *x)
{
    const char *end = memchr(x->text + x->at, '\n', x->length - x->at);

    x->at = end ? (size_t)(end - x->text) : x->length;
    return true;
}

static bool read_token(lexer *x)
{
    char c = x->text[x->at];

    if (c == ' ' || c == '\t' || c == '\r') {
        x->at++;
        return true;
    }
    if (c == '\n' || c == ';')
        return read_break(x);
    if (c == '#')
        return skip_comment(x);
    if (c == '\\')
        return read_backslash(x);
    if (is_letter(c))
        return read_name(x);
    if (is_digit(c) || (c == '.' && is_digit(peek(x, 1))))
        return read_number(x);
    return c == '"' ? read_text(x) : read_sign(x);
}

bool lang_tokens_read(lang_tokens *out, const lang_source *source, lang_error *err)
{
    lexer x = {
        .source = source, .text = source->text, .length = source->length, .out = out, .err = err
    };

    if (source->length > MOST_BYTES)
        return lang_fail(err, (lang_place){ 0 }, "%.255s: a program of %zu bytes; it may have %d",
                         source->file, source->length, MOST_BYTES);
    while (x.at < x.length)
        if (!read_token(&x))
            return false;
    out->unfinished = x.depth > 0 || x.goes_on;
    x.at = x.length;
    return add(&x, LANG_T_END, x.length);
}

void lang_tokens_free(lang_tokens *tokens)
{
    free(tokens->items);
    *tokens = (lang_tokens){ 0 };
}

bool lang_is_unfinished(const char *text, size_t length)
{
    lang_source source = { "", text, length };
    lang_tokens tokens = { 0 };
    lang_error  err;
    bool        unfinished = lang_tokens_read(&tokens, &source, &err) && tokens.unfinished;

    lang_tokens_free(&tokens);
    return unfinished;
}

const char *lang_token_name(lang_token_kind kind)
{
    static const char *const names[] = { "the end of the program",
                                         "the end of the statement",
                                         "a name",
                                         "a number",
                                         "a number",
                                         "a number",
                                         "a text",
#define LANG_SIGN_NAME(constant, spelling, goes_on) "`" spelling "`",
                                         LANG_SIGN_LIST(LANG_SIGN_NAME)
#undef LANG_SIGN_NAME
#define LANG_WORD_NAME(constant, spelling) "`" spelling "`",
                                             LANG_WORD_LIST(LANG_WORD_NAME)
#undef LANG_WORD_NAME
    };

    return names[kind];
}
