/* lang_memory.c -- arenas, lists and maps of the language. */
#include "lang/lang_base.h"

#include <stdlib.h>
#include <string.h>

/* ---- Arenas ---------------------------------------------------------------------------------- */

enum { BLOCK_BYTES = 16384, ALIGNMENT = 16 };

struct lang_block {
    struct lang_block *before;
    size_t             used, room;
};

/* Blocks grow with what was needed so far, so that a long program has few of them. */
static struct lang_block *add_block(lang_arena *a, size_t bytes)
{
    const size_t       head = (sizeof(struct lang_block) + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
    size_t             room = a->last ? a->last->room : BLOCK_BYTES / 2;
    struct lang_block *block;

    room = room < (size_t)1 << 24 ? 2 * room : room;
    room = room < bytes + head ? bytes + head : room;
    block = malloc(room);
    if (!block)
        return NULL;
    *block = (struct lang_block){ a->last, head, room };
    a->last = block;
    return block;
}

void *lang_arena_alloc(lang_arena *a, size_t count, size_t size)
{
    struct lang_block *block = a->last;
    size_t             bytes;
    char              *start;

    if (size > 0 && count > (SIZE_MAX / 2 - BLOCK_BYTES) / size)
        return NULL;
    bytes = (count * size + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
    if ((!block || block->room - block->used < bytes) && !(block = add_block(a, bytes)))
        return NULL;
    start = (char *)block + block->used;
    block->used += bytes;
    return memset(start, 0, bytes);
}

char *lang_arena_text(lang_arena *a, const char *text, size_t length)
{
    char *copy = lang_arena_alloc(a, length + 1, 1);

    if (copy && length > 0)
        memcpy(copy, text, length);
    return copy;
}

void lang_arena_free(lang_arena *a)
{
    while (a->last) {
        struct lang_block *before = a->last->before;

        free(a->last);
        a->last = before;
    }
}

/* ---- Lists ----------------------------------------------------------------------------------- */

bool lang_list_reserve(lang_list *list, size_t room)
{
    const void **items;

    if (room <= list->room)
        return true;
    room = room < 2 * list->room ? 2 * list->room : room;
    room = room < 8 ? 8 : room;
    items = reallocarray(list->items, room, sizeof *items);
    if (!items)
        return false;
    list->items = items;
    list->room = room;
    return true;
}

bool lang_list_add(lang_list *list, const void *item)
{
    if (!lang_list_reserve(list, list->count + 1))
        return false;
    list->items[list->count++] = item;
    return true;
}

void *lang_list_keep(const lang_list *list, size_t from, lang_arena *a)
{
    size_t       count = list->count - from;
    const void **kept = lang_arena_alloc(a, count, sizeof *kept);

    if (kept && count > 0)
        memcpy(kept, list->items + from, count * sizeof *kept);
    return kept;
}

void lang_list_free(lang_list *list)
{
    free(list->items);
    *list = (lang_list){ 0 };
}

/* ---- Maps: open addressing, at most three quarters full -------------------------------------- */

struct lang_map_slot {
    const void *key, *value; /* key NULL: free */
};

static struct lang_map_slot *slot_of(const lang_map *map, const void *key)
{
    uint64_t hash = (uint64_t)(uintptr_t)key * UINT64_C(0x9e3779b97f4a7c15);
    size_t   at = (size_t)(hash >> 20) & (map->room - 1);

    while (map->slots[at].key && map->slots[at].key != key)
        at = (at + 1) & (map->room - 1);
    return &map->slots[at];
}

static bool grow_map(lang_map *map)
{
    lang_map larger = { .count = map->count, .room = map->room ? 2 * map->room : 16 };

    larger.slots = calloc(larger.room, sizeof *larger.slots);
    if (!larger.slots)
        return false;
    for (size_t i = 0; i < map->room; i++)
        if (map->slots[i].key)
            *slot_of(&larger, map->slots[i].key) = map->slots[i];
    free(map->slots);
    *map = larger;
    return true;
}

void *lang_map_find(const lang_map *map, const void *key)
{
    return map->room ? (void *)(uintptr_t)slot_of(map, key)->value : NULL;
}

bool lang_map_set(lang_map *map, const void *key, const void *value)
{
    struct lang_map_slot *slot;

    if (4 * (map->count + 1) > 3 * map->room && !grow_map(map))
        return false;
    slot = slot_of(map, key);
    map->count += !slot->key;
    *slot = (struct lang_map_slot){ key, value };
    return true;
}

void lang_map_free(lang_map *map)
{
    free(map->slots);
    *map = (lang_map){ 0 };
}
