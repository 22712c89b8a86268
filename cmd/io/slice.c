/* slice.c -- --slice ITEMS: read, and said again. */
#include "cmd/io/slice.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- Reading a slice ------------------------------------------------------------------------- */

typedef struct {
    const char *at;
    const char *whole; /* for messages */
    cmd_error  *err;
} reader;

static bool bad_slice(reader *r, const char *why)
{
    return cmd_fail(r->err,
                    "--slice %s: %s; write one item for each axis: an index, or from:to:step",
                    r->whole, why);
}

static void skip_blanks(reader *r) { r->at += strspn(r->at, " "); }

/* A whole number, if there is one. */
static bool read_int(reader *r, int64_t *out, bool *there)
{
    char *end = NULL;

    skip_blanks(r);
    *there = strchr("+-0123456789", *r->at) && *r->at;
    if (!*there)
        return true;
    *out = strtoll(r->at, &end, 10);
    if (end == r->at || *out > CMD_LONGEST_AXIS || *out < -CMD_LONGEST_AXIS)
        return bad_slice(r, "a number is malformed or too large");
    r->at = end;
    skip_blanks(r);
    return true;
}

static int64_t clip(int64_t value, int64_t lo, int64_t hi)
{
    return value < lo ? lo : value > hi ? hi : value;
}

/* Bounds as in Python: negative ones count from the end, what is outside is cut off. */
static bool resolve_range(reader *r, cmd_item *out, const int64_t *bound, const bool *there,
                          int64_t length)
{
    int64_t stride = there[2] ? bound[2] : 1, from, to;

    if (stride == 0)
        return bad_slice(r, "a step of 0 goes nowhere");
    from = there[0] ? bound[0] + (bound[0] < 0 ? length : 0) : stride > 0 ? 0 : length - 1;
    to = there[1] ? bound[1] + (bound[1] < 0 ? length : 0) : stride > 0 ? length : -1;
    from = stride > 0 ? clip(from, 0, length) : clip(from, -1, length - 1);
    to = stride > 0 ? clip(to, 0, length) : clip(to, -1, length - 1);
    int64_t distance = stride > 0 ? to - from : from - to;
    int64_t pace = stride > 0 ? stride : -stride;

    *out = (cmd_item){ false, from, stride, distance > 0 ? (distance - 1) / pace + 1 : 0 };
    return out->count > 0 || bad_slice(r, "a range holds no cells");
}

static bool resolve_index(reader *r, cmd_item *out, int64_t index, int axis, int64_t length)
{
    int64_t at = index < 0 ? index + length : index;

    if (at < 0 || at >= length)
        return cmd_fail(r->err,
                        "--slice %s: index %" PRId64 " is outside axis %d, which has %" PRId64
                        " cells (0 to %" PRId64 ")",
                        r->whole, index, axis, length, length - 1);
    *out = (cmd_item){ true, at, 1, 1 };
    return true;
}

static bool read_item(reader *r, cmd_item *out, int axis, int64_t length)
{
    int64_t bound[3] = { 0 };
    bool    there[3] = { false };
    int     n = 0;

    if (!read_int(r, &bound[0], &there[0]))
        return false;
    while (*r->at == ':' && n < 2) {
        r->at++;
        n++;
        if (!read_int(r, &bound[n], &there[n]))
            return false;
    }
    if (*r->at && *r->at != ',')
        return bad_slice(r, "there is something that is neither a number nor `:` nor `,`");
    if (n > 0)
        return resolve_range(r, out, bound, there, length);
    if (!there[0])
        return bad_slice(r, "an item is empty");
    return resolve_index(r, out, bound[0], axis, length);
}

bool cmd_slice_read(cmd_item *items, int rank, const int64_t *shape, const char *text,
                    cmd_error *err)
{
    reader r = { text, text, err };

    for (int axis = 0; axis < rank; axis++)
        items[axis] = (cmd_item){ false, 0, 1, shape[axis] };
    for (int axis = 0; axis < rank; axis++) {
        if (!read_item(&r, &items[axis], axis, shape[axis]))
            return false;
        if (!*r.at)
            return true;
        r.at++;
    }
    return cmd_fail(err, "--slice %s has more items than the array has axes (%d)", text, rank);
}

/* ---- Saying what it is ----------------------------------------------------------------------- */

static int put_item(char *out, size_t size, const cmd_item *i, int64_t length)
{
    if (i->is_index)
        return snprintf(out, size, "%" PRId64, i->start);
    if (i->count == length && i->stride == 1)
        return snprintf(out, size, ":");
    int64_t end = i->start + (i->count - 1) * i->stride + (i->stride > 0 ? 1 : -1);
    if (i->stride == 1)
        return snprintf(out, size, "%" PRId64 ":%" PRId64, i->start, end);
    if (end < 0)
        return snprintf(out, size, "%" PRId64 "::%" PRId64, i->start, i->stride);
    return snprintf(out, size, "%" PRId64 ":%" PRId64 ":%" PRId64, i->start, end, i->stride);
}

void cmd_slice_print(char *out, size_t size, const cmd_item *items, int rank, const int64_t *shape)
{
    char   one[80];
    bool   whole = true;
    size_t used = 0;

    for (int axis = 0; axis < rank; axis++) {
        put_item(one, sizeof one, &items[axis], shape[axis]);
        whole = whole && strcmp(one, ":") == 0;
        used += (size_t)snprintf(out + used, size - used, "%s%s", axis ? ", " : "[", one);
        if (used > size - 2)
            used = size - 2;
    }
    snprintf(out + used, size - used, "]");
    if (whole)
        out[0] = '\0';
}
