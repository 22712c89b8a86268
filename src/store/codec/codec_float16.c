/* codec_float16.c -- f32 as reals of 16 bits: the first step of a chain, which makes half as many
 * bytes.  The cells of such an array are f32; its file says that they have 16 bits. */
#include "store/codec/codec_parts.h"
#include "store/codec/half.h"

/* ---- Numbers --------------------------------------------------------------------------------- */

enum { SIGN = 0x8000, INFINITE = 0x7c00, SHIFT = 13 /* bits of a mantissa that are lost */ };

static inline float real_of(uint32_t bits)
{
    float x;

    memcpy(&x, &bits, sizeof x);
    return x;
}

static inline uint32_t bits_of(float x)
{
    uint32_t bits;

    memcpy(&bits, &x, sizeof bits);
    return bits;
}

/* What has no leading 1 (2^-24 is the smallest) gets one that is taken away again.  Without
 * branches, so that loops become vector instructions. */
static inline uint32_t widen(uint16_t half)
{
    enum { BIAS = (127 - 15) << 23, TINY = (127 - 14) << 23 };
    uint32_t magnitude = half & (SIGN - 1u), shifted = magnitude << SHIFT;
    uint32_t normal = shifted + BIAS + (magnitude >= INFINITE ? (uint32_t)BIAS : 0);
    uint32_t small = bits_of(real_of(shifted + TINY) - real_of(TINY));

    return (uint32_t)(half & SIGN) << 16 | (magnitude < 1 << 10 ? small : normal);
}

/* A number that is not one keeps what fits of its bits, and stays none. */
static inline uint16_t narrow_nan(uint32_t magnitude)
{
    uint32_t kept = magnitude >> SHIFT & (INFINITE >> 5 | 0x1f);

    return (uint16_t)(INFINITE | (kept ? kept : 1));
}

/* Small ones are rounded by an addition to what has the last bit that is kept. */
static inline uint16_t narrow(uint32_t bits)
{
    enum { NONE = 0xff << 23, LARGE = (127 + 16) << 23, LEAST = (127 - 14) << 23 };
    uint32_t magnitude = bits & 0x7fffffff, half;

    if (magnitude > NONE)
        return (uint16_t)(bits >> 16 & SIGN) | narrow_nan(magnitude);
    if (magnitude < LEAST)
        half = bits_of(real_of(magnitude) + 0.5f) - bits_of(0.5f);
    else
        half = (magnitude - ((127 - 15) << 23) + 0xfff + (magnitude >> SHIFT & 1)) >> SHIFT;
    if (magnitude >= LARGE || half > INFINITE)
        half = INFINITE;
    return (uint16_t)((bits >> 16 & SIGN) | half);
}

/* ---- Many of them ---------------------------------------------------------------------------- */

static inline __attribute__((always_inline)) void widen_all(char *to, const char *from, size_t n,
                                                            bool swapped)
{
    enum { BLOCK = 64 };
    uint16_t in[BLOCK];
    uint32_t out[BLOCK];

    for (size_t at = 0; at < n; at += BLOCK) {
        size_t count = n - at < BLOCK ? n - at : BLOCK;

        memcpy(in, from + at * sizeof *in, count * sizeof *in);
        for (size_t i = 0; i < BLOCK && swapped; i++)
            in[i] = __builtin_bswap16(in[i]);
        for (size_t i = 0; i < BLOCK; i++)
            out[i] = widen(in[i]);
        memcpy(to + at * sizeof *out, out, count * sizeof *out);
    }
}

#ifdef __x86_64__
/* The same loop, for wider vectors. */
__attribute__((target("avx2"))) static void widen_avx2(char *to, const char *from, size_t n,
                                                       bool swapped)
{
    widen_all(to, from, n, swapped);
}
#endif

void ar_half_widen(void *to, const void *from, size_t n, bool swapped)
{
#ifdef __x86_64__
    if (__builtin_cpu_supports("avx2")) {
        widen_avx2(to, from, n, swapped);
        return;
    }
#endif
    widen_all(to, from, n, swapped);
}

void ar_half_narrow(void *to, const void *from, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        uint32_t bits;
        uint16_t half;

        memcpy(&bits, (const char *)from + i * sizeof bits, sizeof bits);
        half = narrow(bits);
        memcpy((char *)to + i * sizeof half, &half, sizeof half);
    }
}

void ar_half_round(void *numbers, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        char    *at = (char *)numbers + i * sizeof(float);
        uint16_t half;

        ar_half_narrow(&half, at, 1);
        ar_half_widen(at, &half, 1, false);
    }
}

void arras_half_widen(float *numbers, int64_t n, bool swapped)
{
    if (n > 0)
        ar_half_widen(numbers, (const char *)numbers + 2 * n, (size_t)n, swapped);
}

arras_status ar_half_check(arras_dtype dtype, const char *name, arras_error *err)
{
    if (dtype == ARRAS_F32)
        return ARRAS_OK;
    return ar_fail(err, ARRAS_EINVAL,
                   "%s: float16 stores cells of f32, and these are %s; make them f32(...)", name,
                   arras_dtype_name(dtype));
}

/* ---- The codec ------------------------------------------------------------------------------- */

static arras_status float16_decode(const ar_codec_step *step, int cell_size, ar_text *out,
                                   size_t most, const void *in, size_t n, arras_error *err)
{
    arras_status status;

    (void)step, (void)cell_size;
    if (n % 2)
        return ar_fail(err, ARRAS_EFORMAT, "float16: %zu bytes are no whole numbers of 2", n);
    if (n > most / 2)
        return ar_codec_too_long("float16", 2 * (uint64_t)n, most, err);
    status = ar_codec_room(out, 2 * n, err);
    if (status == ARRAS_OK)
        ar_half_widen(out->data, in, n / 2, false);
    return status;
}

/* Parts are whole numbers: they are cells. */
static arras_status float16_decode_part(const ar_codec_step *step, int cell_size, void *out,
                                        size_t at, size_t n, bool far, const void *in, size_t all,
                                        arras_error *err)
{
    (void)step, (void)cell_size, (void)far;
    if (at % 4 || n % 4 || at + n > 2 * all)
        return ar_fail(err, ARRAS_EFORMAT, "float16: %zu bytes do not hold bytes %zu to %zu", all,
                       at, at + n);
    ar_half_widen(out, (const char *)in + at / 2, n / 4, false);
    return ARRAS_OK;
}

static arras_status float16_encode(const ar_codec_step *step, int cell_size, ar_text *out,
                                   const void *in, size_t n, arras_error *err)
{
    arras_status status = ar_codec_room(out, n / 2, err);

    (void)step, (void)cell_size;
    if (status == ARRAS_OK)
        ar_half_narrow(out->data, in, n / 4);
    return status;
}

static size_t float16_grown(size_t n) { return n / 2; }

const ar_codec ar_codec_float16 = { .name = "float16",
                                    .decode = float16_decode,
                                    .decode_part = float16_decode_part,
                                    .encode = float16_encode,
                                    .grown = float16_grown };
