/* core_cache.c -- the cores used last, most recent first. */
#include "compile/core_cache.h"

#include <pthread.h>
#include <string.h>

enum { MOST_CORES = 64 };

typedef struct {
    uint64_t hash;
    char    *key;
    size_t   length;
    ar_core *core;
} entry;

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static entry           entries[MOST_CORES];
static int             count;

static ar_core_hash *hash_of = ar_hash_bytes;

static uint64_t key_hash(const ar_text *key) { return hash_of(0, key->data, key->length); }

/* The lock is held by the callers of these. */
static void move_to_front(int i)
{
    entry e = entries[i];

    memmove(entries + 1, entries, (size_t)i * sizeof *entries);
    entries[0] = e;
}

static void remove_last(void)
{
    entry *e = &entries[--count];

    ar_core_release(e->core);
    ar_free(e->key);
}

ar_core *ar_core_cache_find(const ar_text *key)
{
    uint64_t hash = key_hash(key);
    ar_core *found = NULL;

    pthread_mutex_lock(&lock);
    for (int i = 0; i < count && !found; i++)
        if (entries[i].hash == hash && entries[i].length == key->length &&
            memcmp(entries[i].key, key->data, key->length) == 0) {
            move_to_front(i);
            found = ar_core_retain(entries[0].core);
        }
    pthread_mutex_unlock(&lock);
    return found;
}

void ar_core_cache_add(const ar_text *key, ar_core *core)
{
    entry e = { key_hash(key), ar_alloc(1, key->length + 1), key->length, core };

    if (!e.key)
        return;
    memcpy(e.key, key->data, key->length);
    pthread_mutex_lock(&lock);
    if (count == MOST_CORES)
        remove_last();
    entries[count++] = e;
    move_to_front(count - 1);
    ar_core_retain(core);
    pthread_mutex_unlock(&lock);
}

void ar_core_cache_clear(void)
{
    pthread_mutex_lock(&lock);
    while (count > 0)
        remove_last();
    pthread_mutex_unlock(&lock);
}

void ar_core_cache_hash(ar_core_hash *hash) { hash_of = hash ? hash : ar_hash_bytes; }
