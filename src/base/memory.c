/* memory.c -- every allocation of the library passes here, so that a test can make the n-th one
 * fail. */
#include "base/base.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

static atomic_int_fast64_t fail_from; /* 0: never */
static atomic_int_fast64_t live;

static _Thread_local int64_t made; /* by this thread: others must not disturb who counts */

void ar_alloc_fail_from(int64_t n) { atomic_store(&fail_from, n); }

int64_t ar_alloc_live(void) { return atomic_load(&live); }

int64_t ar_alloc_made(void) { return made; }

/* Counts down to 1 and stays there: from then on every allocation fails. */
static bool must_fail(void)
{
    int_fast64_t left = atomic_load(&fail_from);

    if (left == 0)
        return false;
    if (left > 1)
        atomic_store(&fail_from, left - 1);
    return left == 1;
}

void *ar_alloc(size_t count, size_t size)
{
    size_t bytes;
    void  *block;

    if (must_fail() || __builtin_mul_overflow(count, size, &bytes))
        return NULL;
    block = calloc(bytes ? bytes : 1, 1);
    made++;
    if (block)
        atomic_fetch_add(&live, 1);
    return block;
}

void *ar_realloc(void *block, size_t count, size_t size)
{
    size_t bytes;
    void  *grown;

    if (must_fail() || __builtin_mul_overflow(count, size, &bytes))
        return NULL;
    grown = realloc(block, bytes ? bytes : 1);
    made++;
    if (grown && !block)
        atomic_fetch_add(&live, 1);
    return grown;
}

void ar_free(void *block)
{
    if (block)
        atomic_fetch_sub(&live, 1);
    free(block);
}

/* ---- Pages ----------------------------------------------------------------------------------- */

/* Of a huge page; where the system has none, the alignment does no harm. */
enum { HUGE_PAGE = 2 * 1024 * 1024 };

void *ar_pages_alloc(size_t bytes)
{
    char  *block;
    size_t before, room = bytes + HUGE_PAGE;

    if (must_fail() || room < bytes)
        return NULL;
    block = mmap(NULL, room, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    made++;
    if (block == MAP_FAILED)
        return NULL;
    /* More than is needed was asked for, so that it can start at a huge page. */
    before = (HUGE_PAGE - (uintptr_t)block % HUGE_PAGE) % HUGE_PAGE;
    if (before)
        munmap(block, before);
    munmap(block + before + bytes, room - before - bytes);
    madvise(block + before, bytes, MADV_HUGEPAGE);
    atomic_fetch_add(&live, 1);
    return block + before;
}

void ar_pages_free(void *block, size_t bytes)
{
    munmap(block, bytes);
    atomic_fetch_sub(&live, 1);
}

bool ar_grow(void *items, size_t *capacity, size_t count, size_t size)
{
    size_t wanted = *capacity ? 2 * *capacity : 16;
    void  *old, *grown;

    if (count < *capacity)
        return true;
    memcpy(&old, items, sizeof old);
    grown = ar_realloc(old, wanted, size);
    if (!grown)
        return false;
    memcpy(items, &grown, sizeof grown);
    *capacity = wanted;
    return true;
}

/* ---- Arena ----------------------------------------------------------------------------------- */

struct ar_arena_block {
    struct ar_arena_block *below;
    size_t                 used, capacity;
    _Alignas(16) unsigned char bytes[];
};

enum { ARENA_BLOCK = 64 * 1024, ARENA_ALIGN = 16 };

static struct ar_arena_block *arena_grow(ar_arena *arena, size_t bytes)
{
    size_t                 capacity = bytes > ARENA_BLOCK / 4 ? bytes : ARENA_BLOCK;
    struct ar_arena_block *block = ar_alloc(1, sizeof *block + capacity);

    if (!block)
        return NULL;
    block->capacity = capacity;
    /* A large request gets a block of its own below the one in use, which may still have room. */
    if (arena->top && capacity != ARENA_BLOCK) {
        block->below = arena->top->below;
        arena->top->below = block;
    } else {
        block->below = arena->top;
        arena->top = block;
    }
    return block;
}

void *ar_arena_alloc(ar_arena *arena, size_t count, size_t size)
{
    struct ar_arena_block *block = arena->top;
    size_t                 bytes;
    void                  *result;

    if (__builtin_mul_overflow(count, size, &bytes) || bytes > SIZE_MAX / 2)
        return NULL;
    bytes = (bytes + ARENA_ALIGN - 1) / ARENA_ALIGN * ARENA_ALIGN;
    if (!block || block->capacity - block->used < bytes)
        block = arena_grow(arena, bytes);
    if (!block)
        return NULL;
    result = block->bytes + block->used;
    block->used += bytes;
    return result;
}

void *ar_arena_copy(ar_arena *arena, const void *from, size_t count, size_t size)
{
    void *copy = ar_arena_alloc(arena, count, size);

    if (copy && count && size)
        memcpy(copy, from, count * size);
    return copy;
}

void ar_arena_free(ar_arena *arena)
{
    while (arena->top) {
        struct ar_arena_block *below = arena->top->below;

        ar_free(arena->top);
        arena->top = below;
    }
}
