/* buffers.c -- large blocks that are free wait in a short list for the next one who needs about as
 * much; small ones are left to malloc. */
#include "base/base.h"

#include <pthread.h>

/* Before the cells of a buffer. */
typedef struct header {
    struct header *next;
    size_t         bytes; /* of the whole block */
    bool           pages; /* from ar_pages_alloc */
} header;

enum { HEADER = 64, PAGE = 4096, LARGE = 256 * 1024 };

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static header         *waiting;       /* the one given last comes first */
static size_t          waiting_bytes; /* in all of them */

/* An eighth of the memory that is ours may wait. */
static size_t most_waiting(void)
{
    static size_t most;

    if (most == 0)
        most = (size_t)ar_memory_whole() / 8;
    return most;
}

static void release(header *block)
{
    if (block->pages)
        ar_pages_free(block, block->bytes);
    else
        ar_free(block);
}

/* The smallest that is large enough, but not by more than a quarter. */
static header *find_waiting(size_t bytes)
{
    header **best = NULL, *found;

    for (header **at = &waiting; *at; at = &(*at)->next)
        if ((*at)->bytes >= bytes && (*at)->bytes - bytes <= bytes / 4 &&
            (!best || (*at)->bytes < (*best)->bytes))
            best = at;
    if (!best)
        return NULL;
    found = *best;
    *best = found->next;
    waiting_bytes -= found->bytes;
    return found;
}

static header *make_block(size_t bytes)
{
    bool    pages = bytes >= LARGE;
    header *block;

    if (pages)
        bytes = (bytes + PAGE - 1) / PAGE * PAGE;
    block = pages ? ar_pages_alloc(bytes) : ar_alloc(1, bytes);
    if (block)
        *block = (header){ .bytes = bytes, .pages = pages };
    return block;
}

void *ar_buffer_take(int64_t bytes)
{
    size_t  whole = (size_t)bytes + 2 * HEADER;
    header *block;
    char   *cells;

    if (bytes < 0)
        return NULL;
    pthread_mutex_lock(&lock);
    block = find_waiting(whole);
    pthread_mutex_unlock(&lock);
    if (!block)
        block = make_block(whole);
    if (!block) { /* what waits may be what is missing */
        ar_buffers_clear();
        block = make_block(whole);
    }
    if (!block)
        return NULL;
    /* Pages are aligned, other blocks to 16 only: the pointer before the cells finds the header. */
    cells = (char *)block + HEADER;
    cells += (HEADER - (uintptr_t)cells % HEADER) % HEADER;
    ((header **)(void *)cells)[-1] = block;
    return cells;
}

void ar_buffer_give(void *buffer)
{
    header *block;

    if (!buffer)
        return;
    block = ((header **)buffer)[-1];
    pthread_mutex_lock(&lock);
    if (block->pages && waiting_bytes + block->bytes <= most_waiting()) {
        block->next = waiting;
        waiting = block;
        waiting_bytes += block->bytes;
        block = NULL;
    }
    pthread_mutex_unlock(&lock);
    if (block)
        release(block);
}

void ar_buffers_clear(void)
{
    header *list;

    pthread_mutex_lock(&lock);
    list = waiting;
    waiting = NULL;
    waiting_bytes = 0;
    pthread_mutex_unlock(&lock);
    while (list) {
        header *next = list->next;

        release(list);
        list = next;
    }
}
