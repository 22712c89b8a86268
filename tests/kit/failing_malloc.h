/* failing_malloc.h -- malloc and its like, of which one call fails when a test says so.  For
 * programs linked so that all allocations, also those of the library, come through here (--wrap).
 */
#ifndef FAILING_MALLOC_H
#define FAILING_MALLOC_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

void *__wrap_malloc(size_t size);
void *__wrap_calloc(size_t count, size_t size);
void *__wrap_realloc(void *old, size_t size);
void *__wrap_reallocarray(void *old, size_t count, size_t size);
void *__real_malloc(size_t size);
void *__real_calloc(size_t count, size_t size);
void *__real_realloc(void *old, size_t size);
void *__real_reallocarray(void *old, size_t count, size_t size);

/* Allocations that still succeed; below 0, as when one has failed: all of them. */
static int64_t until_failure = -1;

static bool fails_now(void) { return until_failure >= 0 && until_failure-- == 0; }

void *__wrap_malloc(size_t size) { return fails_now() ? NULL : __real_malloc(size); }
void *__wrap_calloc(size_t count, size_t size)
{
    return fails_now() ? NULL : __real_calloc(count, size);
}
void *__wrap_realloc(void *old, size_t size)
{
    return fails_now() ? NULL : __real_realloc(old, size);
}
void *__wrap_reallocarray(void *old, size_t count, size_t size)
{
    return fails_now() ? NULL : __real_reallocarray(old, count, size);
}

#endif
