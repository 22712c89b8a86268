/* table.c -- an open-addressed set of pointers, for hash-consing and names. */
#include "base/base.h"

#include <string.h>

struct ar_table_slot {
    uint64_t    hash;
    const void *item; /* NULL: empty */
};

const void *ar_table_find(const ar_table *table, uint64_t hash, ar_same *same, const void *key)
{
    size_t mask = table->capacity - 1;

    if (table->capacity == 0)
        return NULL;
    for (size_t i = hash & mask; table->slots[i].item; i = (i + 1) & mask)
        if (table->slots[i].hash == hash && same(table->slots[i].item, key))
            return table->slots[i].item;
    return NULL;
}

static void place(struct ar_table_slot *slots, size_t capacity, uint64_t hash, const void *item)
{
    size_t i = hash & (capacity - 1);

    while (slots[i].item)
        i = (i + 1) & (capacity - 1);
    slots[i] = (struct ar_table_slot){ hash, item };
}

static bool grow(ar_table *table)
{
    size_t                capacity = table->capacity ? 2 * table->capacity : 64;
    struct ar_table_slot *slots = ar_alloc(capacity, sizeof *slots);

    if (!slots)
        return false;
    for (size_t i = 0; i < table->capacity; i++)
        if (table->slots[i].item)
            place(slots, capacity, table->slots[i].hash, table->slots[i].item);
    ar_free(table->slots);
    table->slots = slots;
    table->capacity = capacity;
    return true;
}

bool ar_table_add(ar_table *table, uint64_t hash, const void *item)
{
    /* At most two thirds full, so that probing stays short. */
    if (3 * (table->count + 1) > 2 * table->capacity && !grow(table))
        return false;
    place(table->slots, table->capacity, hash, item);
    table->count++;
    return true;
}

bool ar_table_copy(ar_table *out, const ar_table *table)
{
    *out = (ar_table){ .count = table->count, .capacity = table->capacity };
    if (table->capacity == 0)
        return true;
    out->slots = ar_alloc(table->capacity, sizeof *out->slots);
    if (!out->slots) {
        *out = (ar_table){ 0 };
        return false;
    }
    memcpy(out->slots, table->slots, table->capacity * sizeof *out->slots);
    return true;
}

void ar_table_free(ar_table *table)
{
    ar_free(table->slots);
    *table = (ar_table){ 0 };
}
