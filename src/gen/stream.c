/* stream.c -- results that nobody reads soon go to memory around the caches.  Kernels are handed
 * this function: compiling it with each of them would take longer than most kernels do. */
#include "gen/gen.h"

#include <string.h>

#if defined __x86_64__
#include <emmintrin.h>

enum { LINE = 64 };

static void store_line(char *to, const char *from)
{
    const __m128i *x = (const __m128i *)from;
    __m128i       *y = (__m128i *)to;
    __m128i        a = _mm_loadu_si128(x), b = _mm_loadu_si128(x + 1);
    __m128i        c = _mm_loadu_si128(x + 2), d = _mm_loadu_si128(x + 3);

    _mm_stream_si128(y, a);
    _mm_stream_si128(y + 1, b);
    _mm_stream_si128(y + 2, c);
    _mm_stream_si128(y + 3, d);
}

/* Lines that are not whole go through the caches. */
void ar_stream_copy(char *to, const char *from, int64_t bytes)
{
    int64_t at = ar_min64((int64_t)(-(uintptr_t)to % LINE), bytes);

    memcpy(to, from, (size_t)at);
    for (; at + LINE <= bytes; at += LINE)
        store_line(to + at, from + at);
    memcpy(to + at, from + at, (size_t)(bytes - at));
}

#else

void ar_stream_copy(char *to, const char *from, int64_t bytes) { memcpy(to, from, (size_t)bytes); }

#endif
