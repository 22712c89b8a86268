/* query_json.c -- logs of queries in JSON: a query is [[start, stop], ...] or an object with lists
 * "start" and "stop"; they come as a list, as the "queries" of an object, or one after the other.
 */
#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "chunk/query_log.h"

typedef struct reader {
    ar_query_log *log;
    const char   *text, *at, *end;
    arras_error  *err;
    arras_status  status;
} reader;

static bool fail(reader *r, const char *expected)
{
    int64_t line = 1;

    for (const char *c = r->text; c < r->at; c++)
        line += *c == '\n';
    if (r->status == ARRAS_OK)
        r->status = ar_fail(r->err, ARRAS_ETEXT,
                            "%s:%" PRId64 ": expected %s; a query is [[start, stop], ...] or "
                            "{\"start\": [...], \"stop\": [...]} with %d axes",
                            r->log->name, line, expected, r->log->rank);
    return false;
}

static char peek(reader *r)
{
    while (r->at < r->end && ar_is_blank(*r->at))
        r->at++;
    return r->at < r->end ? *r->at : '\0';
}

static bool take(reader *r, char c)
{
    if (peek(r) != c)
        return false;
    r->at++;
    return true;
}

static bool read_number(reader *r, int64_t *out)
{
    char   digits[32];
    size_t n = 0;
    char  *stop;

    peek(r);
    while (r->at + n < r->end && n + 1 < sizeof digits &&
           (isdigit((unsigned char)r->at[n]) || r->at[n] == '-')) {
        digits[n] = r->at[n];
        n++;
    }
    digits[n] = '\0';
    errno = 0;
    *out = strtoll(digits, &stop, 10);
    if (n == 0 || *stop || errno)
        return fail(r, "a whole number");
    r->at += n;
    return true;
}

/* Numbers of a list, each `stride` after the one before. */
static bool read_list(reader *r, int64_t *out, int count, int stride)
{
    if (!take(r, '['))
        return fail(r, "a list");
    for (int i = 0; i < count; i++) {
        if (i > 0 && !take(r, ','))
            return fail(r, "as many numbers as there are axes");
        if (!read_number(r, &out[i * stride]))
            return false;
    }
    return take(r, ']') || fail(r, "the end of the list");
}

/* A name and its colon; names have no escapes. */
static bool read_name(reader *r, const char **name, size_t *length)
{
    if (!take(r, '"'))
        return fail(r, "a name in quotes");
    const char *quote = memchr(r->at, '"', (size_t)(r->end - r->at));
    if (!quote)
        return fail(r, "a quote after the name");
    *name = r->at;
    *length = (size_t)(quote - r->at);
    r->at = quote + 1;
    return take(r, ':') || fail(r, "a colon");
}

static bool is_name(const char *name, size_t length, const char *word)
{
    return strlen(word) == length && memcmp(name, word, length) == 0;
}

static bool read_queries(reader *r);

/* What follows the brace: "start" and "stop", or, at the top only, "queries". */
static bool read_object(reader *r, bool top)
{
    int64_t     numbers[2 * ARRAS_MAX_RANK];
    bool        start = false, stop = false, ok = true;
    const char *name = "";
    size_t      length = 0;

    do {
        if (!read_name(r, &name, &length))
            return false;
        if (top && is_name(name, length, "queries") && !start && !stop)
            return take(r, '[') && read_queries(r) &&
                   (take(r, '}') || fail(r, "nothing but queries"));
        bool is_start = is_name(name, length, "start");
        if (!is_start && !is_name(name, length, "stop"))
            return fail(r, "\"start\", \"stop\" or \"queries\"");
        ok = read_list(r, numbers + !is_start, r->log->rank, 2);
        start = start || is_start;
        stop = stop || !is_start;
    } while (ok && take(r, ','));
    if (!ok || !take(r, '}') || !start || !stop)
        return fail(r, "a start and a stop");
    r->status = ar_query_log_add(r->log, numbers, r->err);
    return r->status == ARRAS_OK;
}

/* What follows the bracket of a query: pairs. */
static bool read_pairs(reader *r)
{
    int64_t numbers[2 * ARRAS_MAX_RANK];

    for (int i = 0; i < r->log->rank; i++) {
        if (i > 0 && !take(r, ','))
            return fail(r, "a pair for each axis");
        if (!read_list(r, numbers + 2 * i, 2, 1))
            return false;
    }
    if (!take(r, ']'))
        return fail(r, "as many pairs as there are axes");
    r->status = ar_query_log_add(r->log, numbers, r->err);
    return r->status == ARRAS_OK;
}

/* What follows the bracket of a list of queries. */
static bool read_queries(reader *r)
{
    if (take(r, ']'))
        return true;
    do {
        bool ok = take(r, '{') ? read_object(r, false) : take(r, '[') && read_pairs(r);

        if (!ok)
            return fail(r, "a query");
    } while (take(r, ','));
    return take(r, ']') || fail(r, "the end of the list");
}

/* Two brackets and a number are one query, three are a list of them. */
static bool starts_pairs(const reader *r)
{
    int brackets = 0;

    for (const char *c = r->at; c < r->end && (*c == '[' || ar_is_blank(*c)); c++)
        brackets += *c == '[';
    return brackets == 1;
}

arras_status ar_query_log_read_json(ar_query_log *log, const char *text, size_t length,
                                    arras_error *err)
{
    reader r = { log, text, text, text + length, err, ARRAS_OK };

    while (r.status == ARRAS_OK && peek(&r)) {
        bool ok = take(&r, '{')      ? read_object(&r, true)
                  : !take(&r, '[')   ? fail(&r, "a query")
                  : starts_pairs(&r) ? read_pairs(&r)
                                     : read_queries(&r);

        if (!ok)
            fail(&r, "a query");
        take(&r, ',');
    }
    return r.status;
}
