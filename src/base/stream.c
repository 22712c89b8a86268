/* stream.c -- cells that nobody reads soon go to memory around the caches.  Kernels are handed a
 * function: compiling it with each of them would take longer than most kernels do. */
#include "base/base.h"

#include <string.h>

#if defined __x86_64__
#include <immintrin.h>

enum { LINE = 64 };

/* Copies lines, the first of which starts at `at`, as long as they are whole; gives the end. */
static int64_t lines_sse2(char *to, const char *from, int64_t at, int64_t bytes)
{
    for (; at + LINE <= bytes; at += LINE) {
        const __m128i *x = (const __m128i *)(from + at);
        __m128i       *y = (__m128i *)(to + at);
        __m128i        a = _mm_loadu_si128(x), b = _mm_loadu_si128(x + 1);
        __m128i        c = _mm_loadu_si128(x + 2), d = _mm_loadu_si128(x + 3);

        _mm_stream_si128(y, a);
        _mm_stream_si128(y + 1, b);
        _mm_stream_si128(y + 2, c);
        _mm_stream_si128(y + 3, d);
    }
    return at;
}

__attribute__((target("avx"))) static int64_t lines_avx(char *to, const char *from, int64_t at,
                                                        int64_t bytes)
{
    for (; at + LINE <= bytes; at += LINE) {
        const __m256i *x = (const __m256i *)(from + at);
        __m256i       *y = (__m256i *)(to + at);
        __m256i        a = _mm256_loadu_si256(x), b = _mm256_loadu_si256(x + 1);

        _mm256_stream_si256(y, a);
        _mm256_stream_si256(y + 1, b);
    }
    return at;
}

typedef int64_t copy_lines(char *to, const char *from, int64_t at, int64_t bytes);

/* What is not a whole line goes through the caches. */
static inline void copy(char *to, const char *from, int64_t bytes, copy_lines *lines)
{
    int64_t at = ar_min64((int64_t)(-(uintptr_t)to % LINE), bytes);

    if (at > 0) /* mostly there is nothing, and a call is not free */
        memcpy(to, from, (size_t)at);
    at = lines(to, from, at, bytes);
    if (at < bytes)
        memcpy(to + at, from + at, (size_t)(bytes - at));
}

static void stream_sse2(char *to, const char *from, int64_t bytes)
{
    copy(to, from, bytes, lines_sse2);
}

static void stream_avx(char *to, const char *from, int64_t bytes)
{
    copy(to, from, bytes, lines_avx);
}

ar_stream *ar_streaming(void) { return __builtin_cpu_supports("avx") ? stream_avx : stream_sse2; }

void ar_stream_end(void) { _mm_sfence(); }

#else

static void stream_plain(char *to, const char *from, int64_t bytes)
{
    memcpy(to, from, (size_t)bytes);
}

ar_stream *ar_streaming(void) { return stream_plain; }

void ar_stream_end(void) {}

#endif
