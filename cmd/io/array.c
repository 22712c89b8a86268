/* array.c -- arrays in memory: fresh ones, and mappings of files. */
#include "cmd/io/array.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

/* From here on memory comes straight from the system, where it can have huge pages. */
#define LARGE_BYTES ((size_t)4 << 20)

int64_t cmd_array_count(const cmd_array *a)
{
    int64_t count = 1;
    bool    overflow = false;

    for (int d = 0; d < a->rank; d++) {
        if (a->shape[d] == 0)
            return 0;
        overflow |= a->shape[d] < 0 || __builtin_mul_overflow(count, a->shape[d], &count);
    }
    return overflow ? -1 : count;
}

int64_t cmd_array_bytes(const cmd_array *a)
{
    int64_t bytes, count = cmd_array_count(a);

    if (count < 0 || __builtin_mul_overflow(count, (int64_t)arras_dtype_size(a->dtype), &bytes))
        return -1;
    return bytes;
}

void cmd_array_steps(int64_t *steps, const cmd_array *a)
{
    int64_t step = (int64_t)arras_dtype_size(a->dtype);

    for (int i = 0; i < a->rank; i++) {
        int d = a->fortran ? i : a->rank - 1 - i;

        steps[d] = step;
        /* Only of an array without cells this is too much, and steps in it lead nowhere. */
        if (__builtin_mul_overflow(step, a->shape[d], &step))
            step = 0;
    }
}

arras_binding cmd_array_bind(const char *name, const cmd_array *a, int64_t *steps)
{
    if (a->fortran)
        cmd_array_steps(steps, a);
    return (arras_binding){ name,
                            { a->data, a->dtype, a->rank, a->shape, a->fortran ? steps : NULL } };
}

void cmd_array_release_heap(cmd_array *a) { free(a->data); }

void cmd_array_unmap(cmd_array *a)
{
    uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE);
    uintptr_t start = (uintptr_t)a->data / page * page;

    munmap((void *)start, a->mapped);
}

static bool map_memory(cmd_array *out, size_t bytes)
{
    void *data = mmap(NULL, bytes, PROT_READ | PROT_WRITE,
                      MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

    if (data == MAP_FAILED)
        return false;
    madvise(data, bytes, MADV_HUGEPAGE);
    out->data = data;
    out->mapped = bytes;
    out->release = cmd_array_unmap;
    return true;
}

bool cmd_array_new(cmd_array *out, arras_dtype dtype, int rank, const int64_t *shape)
{
    cmd_array a = { .dtype = dtype, .rank = rank };

    for (int d = 0; d < rank; d++)
        a.shape[d] = shape[d];
    int64_t bytes = cmd_array_bytes(&a);
    if (bytes < 0)
        return false;
    if ((size_t)bytes >= LARGE_BYTES) {
        if (!map_memory(&a, (size_t)bytes))
            return false;
    } else {
        a.data = calloc((size_t)bytes + 1, 1); /* never NULL for an empty array */
        a.release = cmd_array_release_heap;
        if (!a.data)
            return false;
    }
    *out = a;
    return true;
}

void cmd_array_free(cmd_array *a)
{
    if (a->release)
        a->release(a);
    arras_source_close(a->stored);
    *a = (cmd_array){ 0 };
}

bool cmd_fail(cmd_error *err, const char *format, ...)
{
    va_list args;

    va_start(args, format);
    vsnprintf(err->text, sizeof err->text, format, args);
    va_end(args);
    return false;
}
