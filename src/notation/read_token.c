/* read_token.c -- tokens of the text form, and failures that say where.  Text is pointer and
 * length: no byte behind the end is looked at, and any byte may stand in it. */
#include "notation/reader.h"

#include <stdio.h>
#include <string.h>

/* ---- Tokens ---------------------------------------------------------------------------------- */

static bool is_digit(char c) { return c >= '0' && c <= '9'; }

static bool starts_name(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' || (unsigned char)c > 127;
}

static bool continues_name(char c) { return starts_name(c) || is_digit(c) || c == '.'; }

/* The byte `ahead` of the next one; NUL at the end, which no rule below takes for anything else. */
static char peek(const ar_reader *r, size_t ahead)
{
    return (size_t)(r->end - r->next) > ahead ? r->next[ahead] : '\0';
}

static void skip_digits(ar_reader *r)
{
    while (is_digit(peek(r, 0)))
        r->next++;
}

static void skip_blanks(ar_reader *r)
{
    while (peek(r, 0) == ' ' || peek(r, 0) == '\t' || peek(r, 0) == '\r')
        r->next++;
    if (peek(r, 0) == '#')
        while (r->next < r->end && *r->next != '\n')
            r->next++;
}

static void start_line(ar_reader *r)
{
    r->next++;
    r->line_start = r->next;
    r->line++;
}

static ar_token_kind lex_number(ar_reader *r)
{
    skip_digits(r);
    if (peek(r, 0) == '.' && is_digit(peek(r, 1))) {
        r->next++;
        skip_digits(r);
    }
    if (peek(r, 0) == 'e' || peek(r, 0) == 'E') {
        size_t sign = peek(r, 1) == '+' || peek(r, 1) == '-';

        if (is_digit(peek(r, 1 + sign))) {
            r->next += 1 + sign;
            skip_digits(r);
        }
    }
    return AR_TOKEN_NUMBER;
}

static ar_token_kind lex_numbered(ar_reader *r, ar_token_kind kind)
{
    int64_t number = is_digit(peek(r, 1)) ? 0 : -1;

    for (r->next++; is_digit(peek(r, 0)); r->next++)
        if (number >= 0 &&
            (!ar_mul64(&number, number, 10) || !ar_add64(&number, number, *r->next - '0')))
            number = -1;
    r->token.number = number;
    return kind;
}

/* Up to the closing quote; one that is not closed on its line is a mark, which nothing expects. */
static ar_token_kind lex_string(ar_reader *r)
{
    const char *c = r->next + 1;

    while (c < r->end && (unsigned char)*c >= ' ' && *c != '"')
        c++;
    if (c == r->end || *c != '"') {
        r->next++;
        return AR_TOKEN_MARK;
    }
    r->next = c + 1;
    return AR_TOKEN_STRING;
}

static ar_token_kind lex_mark(ar_reader *r)
{
    char c = *r->next;

    if (c == '(' || c == '[' || c == '{')
        r->nesting++;
    else if ((c == ')' || c == ']' || c == '}') && r->nesting > 0)
        r->nesting--;
    r->next += c == '.' && peek(r, 1) == '.' && peek(r, 2) == '.' ? 3 : 1;
    return AR_TOKEN_MARK;
}

static ar_token_kind lex(ar_reader *r)
{
    char c = peek(r, 0);

    if (r->next == r->end)
        return AR_TOKEN_END;
    if (is_digit(c))
        return lex_number(r);
    if (c == '%' || c == '$')
        return lex_numbered(r, c == '%' ? AR_TOKEN_NODE : AR_TOKEN_LOCAL);
    if (c == '"')
        return lex_string(r);
    if (!starts_name(c))
        return lex_mark(r);
    while (continues_name(peek(r, 0)))
        r->next++;
    return AR_TOKEN_NAME;
}

void ar_advance(ar_reader *r)
{
    skip_blanks(r);
    while (r->nesting > 0 && peek(r, 0) == '\n') {
        start_line(r);
        skip_blanks(r);
    }
    r->token = (ar_token){ .start = r->next, .line_start = r->line_start, .line = r->line };
    if (peek(r, 0) == '\n') {
        r->token.kind = AR_TOKEN_LINE;
        start_line(r);
        return;
    }
    r->token.kind = lex(r);
    r->token.length = (size_t)(r->next - r->token.start);
}

bool ar_token_is(const ar_token *token, const char *text)
{
    return (token->kind == AR_TOKEN_NAME || token->kind == AR_TOKEN_MARK) &&
           token->length == strlen(text) && memcmp(token->start, text, token->length) == 0;
}

bool ar_accept(ar_reader *r, const char *text)
{
    if (!ar_token_is(&r->token, text))
        return false;
    ar_advance(r);
    return true;
}

bool ar_expect(ar_reader *r, const char *text)
{
    char what[64];

    if (ar_accept(r, text))
        return true;
    snprintf(what, sizeof what, "'%s'", text);
    return ar_fail_expected(r, what);
}

bool ar_followed_by(const ar_reader *r, char mark)
{
    const char *c = r->next;

    while (c < r->end && (*c == ' ' || *c == '\t' || *c == '\r' || (*c == '\n' && r->nesting > 0)))
        c++;
    return c < r->end && *c == mark;
}

/* ---- Failures -------------------------------------------------------------------------------- */

/* Columns count characters: bytes but for those that continue one in UTF-8. */
static int64_t column(const ar_token *at)
{
    int64_t count = 1;

    for (const char *c = at->line_start; c < at->start; c++)
        count += ((unsigned char)*c & 0xc0) != 0x80;
    return count;
}

bool ar_fail_at(ar_reader *r, const ar_token *at, arras_status code, const char *format, ...)
{
    arras_error inner;
    va_list     args;

    if (r->status != ARRAS_OK)
        return false;
    va_start(args, format);
    ar_vfail(&inner, code, format, args);
    va_end(args);
    r->status = ar_fail(r->err, code, "line %" PRId64 ", column %" PRId64 ": %s", at->line,
                        column(at), inner.text);
    return false;
}

static int shown_length(const ar_token *token)
{
    enum { LONGEST = 40 };
    size_t length = token->length;

    if (length > LONGEST)
        for (length = LONGEST; length > 0 && ((unsigned char)token->start[length] & 0xc0) == 0x80;)
            length--;
    return (int)length;
}

bool ar_fail_expected(ar_reader *r, const char *what)
{
    const ar_token *t = &r->token;
    unsigned char   byte = t->length > 0 ? (unsigned char)*t->start : 0;

    if (t->kind == AR_TOKEN_END)
        return ar_fail_at(r, t, ARRAS_ETEXT, "expected %s, found the end of the text", what);
    if (t->kind == AR_TOKEN_LINE)
        return ar_fail_at(r, t, ARRAS_ETEXT, "expected %s, found the end of the line", what);
    if (ar_token_is(t, "..."))
        return ar_fail_at(r, t, ARRAS_ETEXT,
                          "expected %s, found '...': a brief text is cut and cannot be read back",
                          what);
    if (ar_token_is(t, "\""))
        return ar_fail_at(r, t, ARRAS_ETEXT, "expected %s, found a string that is not closed",
                          what);
    if (byte < ' ' || byte == 127)
        return ar_fail_at(r, t, ARRAS_ETEXT, "expected %s, found the byte 0x%02x", what, byte);
    return ar_fail_at(r, t, ARRAS_ETEXT, "expected %s, found '%.*s%s'", what, shown_length(t),
                      t->start, (size_t)shown_length(t) < t->length ? "..." : "");
}

bool ar_fail_poison(ar_reader *r, const ar_token *at, arras_array poison)
{
    return ar_fail_at(r, at, (arras_status)poison->ints[0], "%s", poison->name);
}

bool ar_fail_no_memory(ar_reader *r)
{
    if (r->status == ARRAS_OK)
        r->status = ar_fail_memory(r->err, (size_t)(r->end - r->next));
    return false;
}
