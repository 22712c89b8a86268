/* chunk_index.c -- which chunks are there: a hash table from the numbers of a chunk along each axis
 * to a value.  Open addressing; a slot that becomes free is filled from behind it. */
#include <stdlib.h>
#include <string.h>

#include "chunk/chunk.h"

struct ar_chunk_index {
    int      rank;
    size_t   count, capacity; /* capacity is a power of two, or 0 */
    int64_t *keys;            /* capacity * rank */
    int64_t *values;
    bool    *used;
};

ar_chunk_index *ar_chunk_index_new(int rank)
{
    ar_chunk_index *index = ar_alloc(1, sizeof *index);

    if (index)
        index->rank = rank;
    return index;
}

static void free_slots(ar_chunk_index *index)
{
    ar_free(index->keys);
    ar_free(index->values);
    ar_free(index->used);
}

void ar_chunk_index_free(ar_chunk_index *index)
{
    if (index)
        free_slots(index);
    ar_free(index);
}

int64_t ar_chunk_index_count(const ar_chunk_index *index) { return (int64_t)index->count; }

static const int64_t *key_at(const ar_chunk_index *index, size_t slot)
{
    return index->keys + slot * (size_t)index->rank;
}

static size_t home_of(const ar_chunk_index *index, const int64_t *key)
{
    uint64_t hash = 0;

    for (int i = 0; i < index->rank; i++)
        hash = ar_hash_mix(hash, (uint64_t)key[i]);
    return (size_t)hash & (index->capacity - 1);
}

/* The slot of a key, or the free one where it would go. */
static size_t slot_of(const ar_chunk_index *index, const int64_t *key)
{
    size_t slot = home_of(index, key);

    while (index->used[slot] &&
           memcmp(key_at(index, slot), key, (size_t)index->rank * sizeof *key) != 0)
        slot = (slot + 1) & (index->capacity - 1);
    return slot;
}

static void fill_slot(ar_chunk_index *index, size_t slot, const int64_t *key, int64_t value)
{
    memcpy(index->keys + slot * (size_t)index->rank, key, (size_t)index->rank * sizeof *key);
    index->values[slot] = value;
    index->used[slot] = true;
}

static bool grow(ar_chunk_index *index)
{
    ar_chunk_index larger = { .rank = index->rank, .count = index->count };

    larger.capacity = index->capacity ? 2 * index->capacity : 16;
    larger.keys = ar_alloc(larger.capacity, (size_t)index->rank * sizeof *larger.keys);
    larger.values = ar_alloc(larger.capacity, sizeof *larger.values);
    larger.used = ar_alloc(larger.capacity, sizeof *larger.used);
    if (!larger.keys || !larger.values || !larger.used) {
        free_slots(&larger);
        return false;
    }
    for (size_t i = 0; i < index->capacity; i++)
        if (index->used[i])
            fill_slot(&larger, slot_of(&larger, key_at(index, i)), key_at(index, i),
                      index->values[i]);
    free_slots(index);
    *index = larger;
    return true;
}

bool ar_chunk_index_put(ar_chunk_index *index, const int64_t *key, int64_t value)
{
    if (4 * (index->count + 1) > 3 * index->capacity && !grow(index))
        return false;
    size_t slot = slot_of(index, key);
    index->count += !index->used[slot];
    fill_slot(index, slot, key, value);
    return true;
}

bool ar_chunk_index_find(int64_t *value, const ar_chunk_index *index, const int64_t *key)
{
    size_t slot = index->capacity ? slot_of(index, key) : 0;

    if (index->capacity == 0 || !index->used[slot])
        return false;
    *value = index->values[slot];
    return true;
}

bool ar_chunk_index_remove(ar_chunk_index *index, const int64_t *key)
{
    size_t mask = index->capacity - 1, hole = index->capacity ? slot_of(index, key) : 0;

    if (index->capacity == 0 || !index->used[hole])
        return false;
    for (size_t slot = (hole + 1) & mask; index->used[slot]; slot = (slot + 1) & mask) {
        size_t home = home_of(index, key_at(index, slot));

        /* One whose home is not between the hole and itself may move to the hole. */
        if (((slot - home) & mask) >= ((slot - hole) & mask)) {
            fill_slot(index, hole, key_at(index, slot), index->values[slot]);
            hole = slot;
        }
    }
    index->used[hole] = false;
    index->count--;
    return true;
}

/* ---- Walks ----------------------------------------------------------------------------------- */

/* Whether the box has more chunks than are there. */
static bool is_larger(const ar_chunk_index *index, const int64_t *lo, const int64_t *hi)
{
    int64_t count = 1, length;

    for (int i = 0; i < index->rank; i++)
        if (!ar_sub64(&length, hi[i], lo[i]) || !ar_mul64(&count, count, length))
            return true;
    return count > (int64_t)index->count;
}

static void walk_box(const ar_chunk_index *index, const int64_t *lo, const int64_t *hi,
                     ar_chunk_see *see, void *context)
{
    int64_t key[ARRAS_MAX_RANK], value;
    int     axis;

    memcpy(key, lo, (size_t)index->rank * sizeof *key);
    do {
        if (ar_chunk_index_find(&value, index, key))
            see(context, key, value);
        for (axis = index->rank - 1; axis >= 0 && ++key[axis] == hi[axis]; axis--)
            key[axis] = lo[axis];
    } while (axis >= 0);
}

static bool is_inside(const ar_chunk_index *index, const int64_t *key, const int64_t *lo,
                      const int64_t *hi)
{
    for (int i = 0; i < index->rank; i++)
        if (key[i] < lo[i] || key[i] >= hi[i])
            return false;
    return true;
}

/* A row is [rank, key ..., value]: it says itself how much of it is to be compared. */
static int by_key(const void *a, const void *b)
{
    const int64_t *x = a, *y = b;

    for (int64_t i = 1; i <= x[0]; i++)
        if (x[i] != y[i])
            return x[i] < y[i] ? -1 : 1;
    return 0;
}

static bool walk_table(const ar_chunk_index *index, const int64_t *lo, const int64_t *hi,
                       ar_chunk_see *see, void *context)
{
    size_t   rank = (size_t)index->rank, width = rank + 2, found = 0;
    int64_t *rows = index->count ? ar_alloc(index->count, width * sizeof *rows) : NULL;

    if (!rows)
        return index->count == 0;
    for (size_t slot = 0; slot < index->capacity; slot++) {
        if (!index->used[slot] || !is_inside(index, key_at(index, slot), lo, hi))
            continue;
        int64_t *row = rows + found++ * width;
        row[0] = index->rank;
        memcpy(row + 1, key_at(index, slot), rank * sizeof *row);
        row[rank + 1] = index->values[slot];
    }
    qsort(rows, found, width * sizeof *rows, by_key);
    for (size_t i = 0; i < found; i++)
        see(context, rows + i * width + 1, rows[i * width + rank + 1]);
    ar_free(rows);
    return true;
}

bool ar_chunk_index_walk(const ar_chunk_index *index, const int64_t *lo, const int64_t *hi,
                         ar_chunk_see *see, void *context)
{
    for (int i = 0; i < index->rank; i++)
        if (hi[i] <= lo[i])
            return true;
    if (is_larger(index, lo, hi))
        return walk_table(index, lo, hi, see, context);
    walk_box(index, lo, hi, see, context);
    return true;
}
