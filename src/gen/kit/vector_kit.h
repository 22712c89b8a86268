/* vector_kit.h -- vectors of 32 bytes and how they are combined, and the tables of folds that the
 * library hands to kernels (folds.inc); as text before kernels that reduce (c_ops.c). */

typedef float   f32x8 __attribute__((vector_size(32), aligned(4), may_alias));
typedef double  f64x4 __attribute__((vector_size(32), aligned(8), may_alias));
typedef int32_t i32x8 __attribute__((vector_size(32)));
typedef int64_t i64x4 __attribute__((vector_size(32)));

typedef float   f32x16 __attribute__((vector_size(64), aligned(4), may_alias));
typedef double  f64x8 __attribute__((vector_size(64), aligned(8), may_alias));
typedef int32_t i32x16 __attribute__((vector_size(64)));
typedef int64_t i64x8 __attribute__((vector_size(64)));

#define CHOOSE(V, I, m, a, b) ((V)(((I)(a) & (m)) | ((I)(b) & ~(m))))
#define ALL_f32x8(x) ((f32x8){ x, x, x, x, x, x, x, x })
#define ALL_f64x4(x) ((f64x4){ x, x, x, x })
#define ALL_f32x16(x) ((x) - (f32x16){ 0 })
#define ALL_f64x8(x) ((x) - (f64x8){ 0 })
#define V_add(V, I, a, b) ((a) + (b))
#define V_multiply(V, I, a, b) ((a) * (b))
#define V_minimum(V, I, a, b) CHOOSE(V, I, (b) != (b), b, LESS_##V(b, a))
#define V_maximum(V, I, a, b) CHOOSE(V, I, (b) != (b), b, GREATER_##V(b, a))
#define V_negative(V, I, a) (-(a))
#define V_abs(V, I, a) ((V)((I)(a) & ~(I)-(V){ 0 }))
#define V_sqrt(V, I, a) SQRT_##V(a)
#define V_where(V, I, m, a, b) CHOOSE(V, I, m, a, b)
#define V_fma(V, I, a, b, c) FMA_##V(a, b, c)
#define V_logical_not(V, I, m) (~(m))

/* The second where both are equal, or one is a nan. */
#if defined __AVX__
#define LESS_f32x8(a, b) __builtin_ia32_minps256(a, b)
#define LESS_f64x4(a, b) __builtin_ia32_minpd256(a, b)
#define GREATER_f32x8(a, b) __builtin_ia32_maxps256(a, b)
#define GREATER_f64x4(a, b) __builtin_ia32_maxpd256(a, b)
#else
#define LESS_f32x8(a, b) CHOOSE(f32x8, i32x8, (a) < (b), a, b)
#define LESS_f64x4(a, b) CHOOSE(f64x4, i64x4, (a) < (b), a, b)
#define GREATER_f32x8(a, b) CHOOSE(f32x8, i32x8, (a) > (b), a, b)
#define GREATER_f64x4(a, b) CHOOSE(f64x4, i64x4, (a) > (b), a, b)
#endif
#if defined __clang__
#define WIDE(name, a, b) __builtin_ia32_##name##512(a, b, 4)
#else
#define WIDE(name, a, b) __builtin_ia32_##name##512_mask(a, b, a, -1, 4)
#endif
#define LESS_f32x16(a, b) WIDE(minps, a, b)
#define LESS_f64x8(a, b) WIDE(minpd, a, b)
#define GREATER_f32x16(a, b) WIDE(maxps, a, b)
#define GREATER_f64x8(a, b) WIDE(maxpd, a, b)

#if defined __AVX__ && !defined __clang__
#define SQRT_f32x8(a) __builtin_ia32_sqrtps256(a)
#define SQRT_f64x4(a) __builtin_ia32_sqrtpd256(a)
#else
#define ROOTS(f, a, i) f((a)[i]), f((a)[i + 1]), f((a)[i + 2]), f((a)[i + 3])
#define SQRT_f32x8(a) ((f32x8){ ROOTS(__builtin_sqrtf, a, 0), ROOTS(__builtin_sqrtf, a, 4) })
#define SQRT_f64x4(a) ((f64x4){ ROOTS(__builtin_sqrt, a, 0) })
#endif

#if defined __clang__
#define SQRT_f32x16(a) __builtin_ia32_sqrtps512(a, 4)
#define SQRT_f64x8(a) __builtin_ia32_sqrtpd512(a, 4)
#else
#define SQRT_f32x16(a) __builtin_ia32_sqrtps512_mask(a, a, -1, 4)
#define SQRT_f64x8(a) __builtin_ia32_sqrtpd512_mask(a, a, -1, 4)
#endif

/* a * b + c, rounded once. */
#if defined __FMA__
#define FMA_f32x8(a, b, c) __builtin_ia32_vfmaddps256(a, b, c)
#define FMA_f64x4(a, b, c) __builtin_ia32_vfmaddpd256(a, b, c)
#else
#define FMAS(f, a, b, c, i)                                                                        \
    f((a)[i], (b)[i], (c)[i]), f((a)[i + 1], (b)[i + 1], (c)[i + 1]),                              \
        f((a)[i + 2], (b)[i + 2], (c)[i + 2]), f((a)[i + 3], (b)[i + 3], (c)[i + 3])
#define FMA_f32x8(a, b, c)                                                                         \
    ((f32x8){ FMAS(__builtin_fmaf, a, b, c, 0), FMAS(__builtin_fmaf, a, b, c, 4) })
#define FMA_f64x4(a, b, c) ((f64x4){ FMAS(__builtin_fma, a, b, c, 0) })
#endif
#define FMA_f32x16(a, b, c) __builtin_ia32_vfmaddps512_mask(a, b, c, -1, 4)
#define FMA_f64x8(a, b, c) __builtin_ia32_vfmaddpd512_mask(a, b, c, -1, 4)

/* Every second cell from p on; nothing behind the last one is read. */
#if defined __clang__ || __GNUC__ >= 12
typedef float  f32x4 __attribute__((vector_size(16), aligned(4), may_alias));
typedef double f64x2 __attribute__((vector_size(16), aligned(8), may_alias));
#define AT(V, p) (*(const V *)(p))
#define HALVES_f32x8(p, q)                                                                         \
    __builtin_shufflevector(AT(f32x4, p), AT(f32x4, q), 0, 1, 2, 3, 4, 5, 6, 7)
#define HALVES_f64x4(p, q) __builtin_shufflevector(AT(f64x2, p), AT(f64x2, q), 0, 1, 2, 3)
#define SECOND_f32x8(p)                                                                            \
    __builtin_shufflevector(HALVES_f32x8(p, (p) + 8), HALVES_f32x8((p) + 3, (p) + 11), 0, 2, 9,    \
                            11, 4, 6, 13, 15)
#define SECOND_f64x4(p)                                                                            \
    __builtin_shufflevector(HALVES_f64x4(p, (p) + 4), HALVES_f64x4((p) + 1, (p) + 5), 0, 5, 2, 7)
#define SECOND_f32x16(p)                                                                           \
    __builtin_shufflevector(AT(f32x16, p), AT(f32x16, (p) + 15), 0, 2, 4, 6, 8, 10, 12, 14, 17,    \
                            19, 21, 23, 25, 27, 29, 31)
#define SECOND_f64x8(p)                                                                            \
    __builtin_shufflevector(AT(f64x8, p), AT(f64x8, (p) + 7), 0, 2, 4, 6, 9, 11, 13, 15)
/* Both of them where those in between are read as well.  The vectors they are made of are held in
 * registers: GCC would load each of them twice. */
#if defined __AVX__
#define HELD(a, b) __asm__("" : "+v"(a), "+v"(b))
#else
#define HELD(a, b)
#endif
#define EVEN_8 0, 2, 4, 6, 8, 10, 12, 14
#define ODD_8 1, 3, 5, 7, 9, 11, 13, 15
#define EVEN_f32x8 EVEN_8
#define ODD_f32x8 ODD_8
#define EVEN_f64x4 0, 2, 4, 6
#define ODD_f64x4 1, 3, 5, 7
#define EVEN_f32x16 EVEN_8, 16, 18, 20, 22, 24, 26, 28, 30
#define ODD_f32x16 ODD_8, 17, 19, 21, 23, 25, 27, 29, 31
#define EVEN_f64x8 EVEN_8
#define ODD_f64x8 ODD_8
#define PAIR(V, even, odd, p)                                                                      \
    V even, odd;                                                                                   \
    {                                                                                              \
        V low_ = AT(V, p), high_ = AT(V, (p) + sizeof(V) / sizeof *(p));                           \
        HELD(low_, high_);                                                                         \
        even = __builtin_shufflevector(low_, high_, EVEN_##V);                                     \
        odd = __builtin_shufflevector(low_, high_, ODD_##V);                                       \
    }
#else
#define SECONDS(p, i) (p)[i], (p)[i + 2], (p)[i + 4], (p)[i + 6]
#define SECOND_f32x8(p) ((f32x8){ SECONDS(p, 0), SECONDS(p, 8) })
#define SECOND_f64x4(p) ((f64x4){ SECONDS(p, 0) })
#define SECOND_f32x16(p)                                                                           \
    ((f32x16){ SECONDS(p, 0), SECONDS(p, 8), SECONDS(p, 16), SECONDS(p, 24) })
#define SECOND_f64x8(p) ((f64x8){ SECONDS(p, 0), SECONDS(p, 8) })
#define PAIR(V, even, odd, p) const V even = SECOND_##V(p), odd = SECOND_##V((p) + 1)
#endif

/* The cells at p, of which number 0 is cell j of an axis of n; the fill where there is none: they
 * are not read. */
#define EDGED_KIT(S, V, COUNT)                                                                     \
    static inline V edged_##V(const void *p, int64_t j, int64_t n, S fill)                         \
    {                                                                                              \
        const int64_t low = j < 0 ? -j : 0, high = n - j;                                          \
        const int     first = low < COUNT ? low : COUNT;                                           \
        const int     last = high > COUNT ? COUNT : high > first ? high : first;                   \
        return MASKED_##V(p, ALL_##V(fill), first, last);                                          \
    }
#if defined __AVX512VL__
#define LANES(first, last) ((1u << (last)) - (1u << (first)))
#define MASKED_f32x8(p, f, a, b) __builtin_ia32_loadups256_mask(p, f, LANES(a, b))
#define MASKED_f64x4(p, f, a, b) __builtin_ia32_loadupd256_mask(p, f, LANES(a, b))
#else
#define MASKED(V, p, f, a, b)                                                                      \
    ({                                                                                             \
        V v_ = f;                                                                                  \
        for (int l_ = a; l_ < b; l_++)                                                             \
            v_[l_] = ((const __typeof__(v_[0]) *)(p))[l_];                                         \
        v_;                                                                                        \
    })
#define MASKED_f32x8(p, f, a, b) MASKED(f32x8, p, f, a, b)
#define MASKED_f64x4(p, f, a, b) MASKED(f64x4, p, f, a, b)
#endif

/* Lanes of a vector as a vector of indices says, for those who have masks; such a vector from the
 * first n of a row of indices; and a wide vector of the first n cells of a row. */
typedef long long INDICES_f64x4 __attribute__((vector_size(32)));
typedef int32_t   INDICES_f32x8 __attribute__((vector_size(32)));
typedef long long INDICES_f64x8 __attribute__((vector_size(64)));
typedef int32_t   INDICES_f32x16 __attribute__((vector_size(64)));
typedef int32_t   i32x4 __attribute__((vector_size(16)));
#define ROW_f32x8(p, n) __builtin_ia32_loaddqusi256_mask((void *)(p), (i32x8){ 0 }, (1 << (n)) - 1)
#define ROW_f64x4(p, n)                                                                            \
    LONGER((i32x4)__builtin_ia32_loaddqusi128_mask((void *)(p), (i32x4){ 0 }, (1 << (n)) - 1))
/* GCC makes four steps of a conversion. */
#if defined __clang__
#define LONGER(v) __builtin_convertvector(v, INDICES_f64x4)
#else
#define LONGER(v) __builtin_ia32_pmovsxdq256(v)
#endif
#define FIRST(n) ((1 << (n)) - 1)
#define SOME_f32x16(p, n) __builtin_ia32_loadups512_mask((void *)(p), (f32x16){ 0 }, FIRST(n))
#define SOME_f64x8(p, n) __builtin_ia32_loadupd512_mask((void *)(p), (f64x8){ 0 }, FIRST(n))
#define PICK_f32x8(v, at) __builtin_ia32_permvarsf256(v, at)
#define UPTO(n, most) ((n) < 0 ? 0 : (n) < (most) ? (n) : (most))
#if defined __clang__
#define PICK2_f32x16(v, w, at) __builtin_ia32_vpermi2varps512(v, at, w)
#define PICK2_f64x8(v, w, at) __builtin_ia32_vpermi2varpd512(v, at, w)
#else
#define PICK2_f32x16(v, w, at) __builtin_ia32_vpermt2varps512_mask(at, v, w, -1)
#define PICK2_f64x8(v, w, at) __builtin_ia32_vpermt2varpd512_mask(at, v, w, -1)
#endif
#if defined __clang__
#define PICK_f64x4(v, at) __builtin_ia32_permvardf256(v, at)
#define PICK_f32x16(v, at) __builtin_ia32_permvarsf512(v, at)
#define PICK_f64x8(v, at) __builtin_ia32_permvardf512(v, at)
#else
#define PICK_f64x4(v, at) __builtin_ia32_permvardf256_mask(v, at, (f64x4){ 0 }, -1)
#define PICK_f32x16(v, at) __builtin_ia32_permvarsf512_mask(v, at, (f32x16){ 0 }, -1)
#define PICK_f64x8(v, at) __builtin_ia32_permvardf512_mask(v, at, (f64x8){ 0 }, -1)
#endif

/* The first n cells of a vector, for those who have masks. */
#define PART_f32x8(p, v, n) __builtin_ia32_storeups256_mask((void *)(p), v, (1 << (n)) - 1)
#define PART_f64x4(p, v, n) __builtin_ia32_storeupd256_mask((void *)(p), v, (1 << (n)) - 1)
#define PART_f32x16(p, v, n) __builtin_ia32_storeups512_mask((void *)(p), v, (1 << (n)) - 1)
#define PART_f64x8(p, v, n) __builtin_ia32_storeupd512_mask((void *)(p), v, (1 << (n)) - 1)

/* Stored at a multiple of 32 bytes, past the caches where that can be said. */
#if defined __clang__
#define PAST_f32x8(p, v) __builtin_nontemporal_store((i32x8)(v), (i32x8 *)(p))
#define PAST_f64x4(p, v) __builtin_nontemporal_store((i64x4)(v), (i64x4 *)(p))
#elif defined __AVX__
#define PAST_f32x8(p, v) __builtin_ia32_movntps256((float *)(p), v)
#define PAST_f64x4(p, v) __builtin_ia32_movntpd256((double *)(p), v)
#else
#define PAST_f32x8(p, v) (*(f32x8 *)(p) = (v))
#define PAST_f64x4(p, v) (*(f64x4 *)(p) = (v))
#endif

/* The whole of a line of the memory. */
#if defined __clang__
#define LINE_f32x16(p, v) __builtin_nontemporal_store((i32x16)(v), (i32x16 *)(p))
#define LINE_f64x8(p, v) __builtin_nontemporal_store((i64x8)(v), (i64x8 *)(p))
#else
#define LINE_f32x16(p, v) __builtin_ia32_movntps512((float *)(p), v)
#define LINE_f64x8(p, v) __builtin_ia32_movntpd512((double *)(p), v)
#endif

#define PAST_f32x16(p, v) PAST_HALVES(f32x8, f32x16, p, v)
#define PAST_f64x8(p, v) PAST_HALVES(f64x4, f64x8, p, v)
#define PAST_HALVES(V, W, p, v)                                                                    \
    do {                                                                                           \
        const W whole = v;                                                                         \
        PAST_##V(p, ((const V *)&whole)[0]);                                                       \
        PAST_##V((p) + sizeof(V) / sizeof *(p), ((const V *)&whole)[1]);                           \
    } while (0)

/* Cells first <= i < last from a buffer to their place, past the caches.  lines: cell 0 stands at
 * the start of a cache line; where they are just one line, no function need be called. */
#define KEEP(V, to, from, first, last, lines)                                                      \
    do {                                                                                           \
        if ((lines) && ((last) - (first)) * sizeof *(to) == 64) {                                  \
            PAST_##V((to) + (first), *(const V *)((from) + (first)));                              \
            PAST_##V((to) + (last) - 32 / sizeof *(to),                                            \
                     *(const V *)((from) + (last) - 32 / sizeof *(to)));                           \
        } else {                                                                                   \
            a->stream((char *)((to) + (first)), (const char *)((from) + (first)),                  \
                      ((last) - (first)) * sizeof *(to));                                          \
        }                                                                                          \
    } while (0)

/* All that fold_kit.h has, for one operation. */
#define FOLD_TABLE(S, T)                                                                           \
    typedef struct {                                                                               \
        T (*line)(const T *x, int64_t n);                                                          \
        T (*lanes)(const T *x, int64_t n);                                                         \
        T (*close)(T *lane, const T *x, int64_t n, int64_t done);                                  \
        uint64_t (*carry)(T *parts, uint64_t blocks, T x);                                         \
        T (*finish)(const T *parts, uint64_t blocks);                                              \
        T (*range)(const T *x, int64_t low, int64_t high, int few);                                \
        T (*join)(const T *x, int64_t n);                                                          \
        void (*place)(T *best, int64_t *place, uint64_t blocks, const T *x, int64_t n, int64_t at);\
        void (*fill)(T *to, T x, int64_t n);                                                       \
        void (*down)(T *lanes, T *parts, uint64_t blocks, int mask, int64_t n, int64_t stride);    \
        void (*total)(T *to, const T *parts, uint64_t blocks, int64_t n, int64_t stride);          \
        void (*columns)(T *to, const char *x, int64_t step, int64_t rows, int mask, int64_t n);    \
    } fold_##S;
