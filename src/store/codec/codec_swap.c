/* codec_swap.c -- numbers in the other byte order.  Values: bytes of a number (of a complex cell:
 * half of the cell). */
#include "store/codec/codec_parts.h"

#define SWAP_NUMBERS(name, type, swapped)                                                          \
    static inline __attribute__((always_inline)) void name(char *out, const char *in,              \
                                                           size_t count)                           \
    {                                                                                              \
        for (size_t i = 0; i < count; i++) {                                                       \
            type x;                                                                                \
                                                                                                   \
            memcpy(&x, in + i * sizeof x, sizeof x);                                               \
            x = swapped(x);                                                                        \
            memcpy(out + i * sizeof x, &x, sizeof x);                                              \
        }                                                                                          \
    }

SWAP_NUMBERS(swap2, uint16_t, __builtin_bswap16)
SWAP_NUMBERS(swap4, uint32_t, __builtin_bswap32)
SWAP_NUMBERS(swap8, uint64_t, __builtin_bswap64)

static void swap_any(char *out, const char *in, size_t count, size_t size)
{
    for (size_t i = 0; i < count; i++)
        for (size_t b = 0; b < size; b++)
            out[i * size + b] = in[i * size + size - 1 - b];
}

static inline __attribute__((always_inline)) void swap_all(char *out, const char *in, size_t count,
                                                           size_t size)
{
    if (size == 2)
        swap2(out, in, count);
    else if (size == 4)
        swap4(out, in, count);
    else if (size == 8)
        swap8(out, in, count);
    else
        swap_any(out, in, count, size);
}

#ifdef __x86_64__
/* The same loops: compilers need a shuffle of bytes to make vectors of them, which SSE2 lacks. */
__attribute__((target("avx2"))) static void swap_avx2(char *out, const char *in, size_t count,
                                                      size_t size)
{
    swap_all(out, in, count, size);
}
#endif

static void swap(char *out, const char *in, size_t count, size_t size)
{
#ifdef __x86_64__
    if (__builtin_cpu_supports("avx2")) {
        swap_avx2(out, in, count, size);
        return;
    }
#endif
    swap_all(out, in, count, size);
}

static arras_status swap_encode(const ar_codec_step *step, int cell_size, ar_text *out,
                                const void *in, size_t n, arras_error *err)
{
    int64_t      size = ar_codec_value(step, 0, cell_size);
    arras_status status;

    if (size < 1 || n % (size_t)size != 0)
        return ar_fail(err, ARRAS_EFORMAT, "swap: %zu bytes are not whole numbers of %" PRId64, n,
                       size);
    status = ar_codec_room(out, n, err);
    if (status == ARRAS_OK)
        swap(out->data, in, n / (size_t)size, (size_t)size);
    return status;
}

static arras_status swap_decode(const ar_codec_step *step, int cell_size, ar_text *out, size_t most,
                                const void *in, size_t n, arras_error *err)
{
    if (n > most)
        return ar_codec_too_long("swap", n, most, err);
    return swap_encode(step, cell_size, out, in, n, err);
}

const ar_codec ar_codec_swap = { .name = "swap", .decode = swap_decode, .encode = swap_encode };
