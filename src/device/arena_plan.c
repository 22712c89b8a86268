/* arena_plan.c -- where pieces of memory lie in one arena, given which of them are never alive at
 * the same time.  Greedy: the largest first, each at the first place that is free while it lives.
 */
#include "device/device.h"

#include <stdlib.h>
#include <string.h>

typedef struct {
    int64_t offset, bytes; /* rounded to the alignment */
    int     piece;
} place;

static int larger_first(const void *a, const void *b)
{
    const place *x = a, *y = b;

    if (x->bytes != y->bytes)
        return x->bytes > y->bytes ? -1 : 1;
    return x->piece - y->piece;
}

static arras_status round_sizes(place *places, int n, const int64_t *bytes, arras_error *err)
{
    int64_t sum = 0;

    for (int i = 0; i < n; i++) {
        places[i] = (place){ .piece = i };
        /* All of them side by side must fit: then no offset can overflow. */
        if (!ar_add64(&places[i].bytes, bytes[i], AR_DEVICE_ALIGN - 1) ||
            !ar_add64(&sum, sum, places[i].bytes))
            return ar_fail(err, ARRAS_ELIMIT,
                           "%d memalloc nodes ask for more than %" PRId64 " bytes", n, INT64_MAX);
        places[i].bytes -= places[i].bytes % AR_DEVICE_ALIGN;
    }
    return ARRAS_OK;
}

/* The lowest offset where it meets none of those that are placed, which are sorted by offset. */
static int64_t first_fit(const place *placed, int n, const place *new, ar_apart *apart,
                         const void *context)
{
    int64_t offset = 0;

    for (int i = 0; i < n; i++) {
        if (placed[i].offset >= offset + new->bytes)
            break; /* all that follow lie even higher */
        if (placed[i].offset + placed[i].bytes > offset &&
            !apart(context, placed[i].piece, new->piece))
            offset = placed[i].offset + placed[i].bytes;
    }
    return offset;
}

static void insert(place *placed, int n, place new)
{
    int at = n;

    while (at > 0 && placed[at - 1].offset > new.offset)
        at--;
    memmove(placed + at + 1, placed + at, (size_t)(n - at) * sizeof *placed);
    placed[at] = new;
}

/* The first part of the array, sorted by offset, grows into the rest, sorted by size. */
static int64_t place_all(place *places, int n, ar_apart *apart, const void *context)
{
    int64_t total = 0;

    for (int i = 0; i < n; i++) {
        place new = places[i];

        new.offset = first_fit(places, i, &new, apart, context);
        total = ar_max64(total, new.offset + new.bytes);
        insert(places, i, new);
    }
    return total;
}

arras_status ar_arena_plan(int64_t *offsets, int64_t *total, int n, const int64_t *bytes,
                           ar_apart *apart, const void *context, arras_error *err)
{
    place       *places = ar_alloc((size_t)n, sizeof *places);
    arras_status status;

    if (!places)
        return ar_fail_memory(err, (size_t)n * sizeof *places);
    status = round_sizes(places, n, bytes, err);
    if (!status) {
        qsort(places, (size_t)n, sizeof *places, larger_first);
        *total = place_all(places, n, apart, context);
        for (int i = 0; i < n; i++)
            offsets[places[i].piece] = places[i].offset;
    }
    ar_free(places);
    return status;
}
