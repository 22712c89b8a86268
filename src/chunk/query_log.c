/* query_log.c -- logs of queries as text: CSV lines start,stop,start,stop,..., or JSON. */
#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "chunk/chunk.h"
#include "chunk/query_log.h"

static bool make_room(int64_t **numbers, size_t *room, size_t count)
{
    while (*room < count)
        if (!ar_grow(numbers, room, *room, sizeof **numbers))
            return false;
    return true;
}

arras_status ar_query_log_add(ar_query_log *log, const int64_t *numbers, arras_error *err)
{
    size_t rank = (size_t)log->rank, at = log->count * rank;

    if (!make_room(&log->lo, &log->lo_room, at + rank) ||
        !make_room(&log->hi, &log->hi_room, at + rank))
        return ar_fail_memory(err, (at + rank) * sizeof *log->lo);
    for (size_t i = 0; i < rank; i++) {
        log->lo[at + i] = numbers[2 * i];
        log->hi[at + i] = numbers[2 * i + 1];
    }
    log->count++;
    return ARRAS_OK;
}

/* ---- CSV ------------------------------------------------------------------------------------- */

static arras_status bad_line(const ar_query_log *log, int64_t line, const char *why,
                             arras_error *err)
{
    return ar_fail(err, ARRAS_ETEXT,
                   "%s:%" PRId64 ": %s; a line is start,stop for each of the %d axes: %d whole "
                   "numbers",
                   log->name, line, why, log->rank, 2 * log->rank);
}

/* A whole number and the comma, semicolon or blank behind it; the text ends with a NUL or a line.
 */
static bool read_field(int64_t *out, const char **at, const char *end)
{
    char   digits[32];
    size_t n = 0;
    char  *stop;

    while (*at < end && isblank((unsigned char)**at))
        ++*at;
    while (*at < end && n + 1 < sizeof digits && (isdigit((unsigned char)**at) || **at == '-'))
        digits[n++] = *(*at)++;
    digits[n] = '\0';
    errno = 0;
    *out = strtoll(digits, &stop, 10);
    while (*at < end && isblank((unsigned char)**at))
        ++*at;
    if (*at < end && (**at == ',' || **at == ';'))
        ++*at;
    return n > 0 && *stop == '\0' && errno == 0;
}

static arras_status read_line(ar_query_log *log, const char *at, const char *end, int64_t line,
                              arras_error *err)
{
    int64_t numbers[2 * ARRAS_MAX_RANK];
    int     n = 0;

    for (; at < end; n++) {
        if (n == 2 * log->rank)
            return bad_line(log, line, "there are too many numbers", err);
        if (!read_field(&numbers[n], &at, end))
            return bad_line(log, line, "this is not a whole number", err);
    }
    if (n < 2 * log->rank)
        return bad_line(log, line, "there are too few numbers", err);
    return ar_query_log_add(log, numbers, err);
}

/* The first line may name the columns. */
static bool is_header(const char *at, const char *end, int64_t line)
{
    return line == 1 && at < end && (ar_is_letter(*at) || *at == '"' || *at == '_');
}

static arras_status read_csv(ar_query_log *log, const char *text, size_t length, arras_error *err)
{
    const char  *end = text + length;
    arras_status status = ARRAS_OK;

    for (int64_t line = 1; text < end && status == ARRAS_OK; line++) {
        const char *stop = memchr(text, '\n', (size_t)(end - text)), *last;

        last = stop = stop ? stop : end;
        while (last > text && ar_is_blank(last[-1]))
            last--;
        while (text < last && isblank((unsigned char)*text))
            text++;
        if (text < last && *text != '#' && !is_header(text, last, line))
            status = read_line(log, text, last, line, err);
        text = stop + 1;
    }
    return status;
}

/* ---- Which of the two ------------------------------------------------------------------------ */

static bool looks_like_json(const char *text, size_t length)
{
    size_t i = 0;

    while (i < length && ar_is_blank(text[i]))
        i++;
    return i < length && (text[i] == '[' || text[i] == '{');
}

arras_status ar_workload_from_log(arras_workload **out, int rank, const char *text, size_t length,
                                  const char *name, arras_error *err)
{
    ar_query_log log = { .rank = rank, .name = name };
    arras_status status;

    if (rank < 1 || rank > ARRAS_MAX_RANK)
        return ar_fail(err, ARRAS_EINVAL, "%s: queries of %d axes; there are 1 to %d", name, rank,
                       ARRAS_MAX_RANK);
    status = looks_like_json(text, length) ? ar_query_log_read_json(&log, text, length, err)
                                           : read_csv(&log, text, length, err);
    if (status == ARRAS_OK && log.count == 0)
        status = ar_fail(err, ARRAS_ETEXT, "%s: no queries in it", name);
    if (status == ARRAS_OK)
        status = ar_workload_from_boxes(out, rank, (int64_t)log.count, log.lo, log.hi, err);
    ar_free(log.lo);
    ar_free(log.hi);
    return status;
}
