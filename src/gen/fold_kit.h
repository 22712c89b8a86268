/* fold_kit.h -- many cells become one, in the order that reference.h states.  Kernels that reduce
 * begin with this text (c_ops.c); op_OP_S are operations of ops.def for the type T of suffix S. */

/* Cells one after the other; blocks of them as the digits of a binary counter. */
#define FOLD_KIT(OP, S, T)                                                                         \
    static T line_##OP##_##S(const T *x, int64_t n)                                                \
    {                                                                                              \
        T r = x[0];                                                                                \
        for (int64_t i = 1; i < n; i++)                                                            \
            r = op_##OP##_##S(r, x[i]);                                                            \
        return r;                                                                                  \
    }                                                                                              \
    static uint64_t carry_##OP##_##S(T *parts, uint64_t blocks, T x)                               \
    {                                                                                              \
        int b = 0;                                                                                 \
        for (; blocks >> b & 1; b++)                                                               \
            x = op_##OP##_##S(parts[b], x);                                                        \
        parts[b] = x;                                                                              \
        return blocks + 1;                                                                         \
    }                                                                                              \
    static T finish_##OP##_##S(const T *parts, uint64_t blocks)                                    \
    {                                                                                              \
        int b = __builtin_ctzll(blocks);                                                           \
        T   x = parts[b++];                                                                        \
        for (; blocks >> b; b++)                                                                   \
            if (blocks >> b & 1)                                                                   \
                x = op_##OP##_##S(parts[b], x);                                                    \
        return x;                                                                                  \
    }

/* What is left of a block of n cells when `done` of them, a multiple of 16, are in their lanes. */
#define LANES_END(OP, S, T)                                                                        \
    static T end_##OP##_##S(T *lane, const T *x, int64_t n, int64_t done)                          \
    {                                                                                              \
        int64_t live = n < 16 ? n : 16;                                                            \
        for (int64_t i = done; i < n; i++)                                                         \
            lane[i - done] = done ? op_##OP##_##S(lane[i - done], x[i]) : x[i];                    \
        for (int64_t h = 8; h > 0; h /= 2) {                                                       \
            for (int64_t l = 0; l + h < live; l++)                                                 \
                lane[l] = op_##OP##_##S(lane[l], lane[l + h]);                                     \
            live = live < h ? live : h;                                                            \
        }                                                                                          \
        return lane[0];                                                                            \
    }

#define LANES_PLAIN(OP, S, T)                                                                      \
    LANES_END(OP, S, T)                                                                            \
    static T lanes_##OP##_##S(const T *x, int64_t n)                                               \
    {                                                                                              \
        T       lane[16];                                                                          \
        int64_t i = 0;                                                                             \
        for (; i + 16 <= n; i += 16)                                                               \
            for (int l = 0; l < 16; l++)                                                           \
                lane[l] = i ? op_##OP##_##S(lane[l], x[i + l]) : x[i + l];                         \
        return end_##OP##_##S(lane, x, n, i);                                                      \
    }

/* The same in vectors of 32 bytes. */
typedef float   f32x8 __attribute__((vector_size(32), aligned(4), may_alias));
typedef double  f64x4 __attribute__((vector_size(32), aligned(8), may_alias));
typedef int32_t i32x8 __attribute__((vector_size(32)));
typedef int64_t i64x4 __attribute__((vector_size(32)));

#define CHOOSE(V, I, m, a, b) ((V)(((I)(a) & (m)) | ((I)(b) & ~(m))))
#define V_add(V, I, a, b) ((a) + (b))
#define V_multiply(V, I, a, b) ((a) * (b))
#define V_minimum(V, I, a, b) CHOOSE(V, I, ((a) <= (b)) | ((a) != (a)), a, b)
#define V_maximum(V, I, a, b) CHOOSE(V, I, ((a) >= (b)) | ((a) != (a)), a, b)

/* Bytes: what the next block needs is on its way while this one is folded. */
#define AHEAD 2048
#define TURNED(v, ...) __builtin_shufflevector(v, v, __VA_ARGS__)

#define LANES_f32(OP)                                                                              \
    LANES_END(OP, f32, float)                                                                      \
    static float close_##OP##_f32(float *lane, const float *x, int64_t n, int64_t done)            \
    {                                                                                              \
        if (done < n)                                                                              \
            return end_##OP##_f32(lane, x, n, done);                                               \
        f32x8 a = *(const f32x8 *)lane, b = *(const f32x8 *)(lane + 8);                            \
        a = V_##OP(f32x8, i32x8, a, b);                                                            \
        a = V_##OP(f32x8, i32x8, a, TURNED(a, 4, 5, 6, 7, 0, 1, 2, 3));                            \
        a = V_##OP(f32x8, i32x8, a, TURNED(a, 2, 3, 0, 1, 6, 7, 4, 5));                            \
        a = V_##OP(f32x8, i32x8, a, TURNED(a, 1, 0, 3, 2, 5, 4, 7, 6));                            \
        return a[0];                                                                               \
    }                                                                                              \
    static float lanes_##OP##_f32(const float *x, int64_t n)                                       \
    {                                                                                              \
        float lane[16];                                                                            \
        if (n < 16)                                                                                \
            return end_##OP##_f32(lane, x, n, 0);                                                  \
        f32x8   a = *(const f32x8 *)x, b = *(const f32x8 *)(x + 8);                                \
        int64_t i = 16;                                                                            \
        for (; i + 16 <= n; i += 16) {                                                             \
            const f32x8 c = *(const f32x8 *)(x + i), d = *(const f32x8 *)(x + i + 8);              \
            __builtin_prefetch((const char *)(x + i) + AHEAD);                                     \
            a = V_##OP(f32x8, i32x8, a, c);                                                        \
            b = V_##OP(f32x8, i32x8, b, d);                                                        \
        }                                                                                          \
        *(f32x8 *)lane = a, *(f32x8 *)(lane + 8) = b;                                              \
        return close_##OP##_f32(lane, x, n, i);                                                    \
    }

#define LANES_f64(OP)                                                                              \
    LANES_END(OP, f64, double)                                                                     \
    static double close_##OP##_f64(double *lane, const double *x, int64_t n, int64_t done)         \
    {                                                                                              \
        if (done < n)                                                                              \
            return end_##OP##_f64(lane, x, n, done);                                               \
        f64x4 a = *(const f64x4 *)lane, b = *(const f64x4 *)(lane + 4);                            \
        a = V_##OP(f64x4, i64x4, a, *(const f64x4 *)(lane + 8));                                   \
        b = V_##OP(f64x4, i64x4, b, *(const f64x4 *)(lane + 12));                                  \
        a = V_##OP(f64x4, i64x4, a, b);                                                            \
        a = V_##OP(f64x4, i64x4, a, TURNED(a, 2, 3, 0, 1));                                        \
        a = V_##OP(f64x4, i64x4, a, TURNED(a, 1, 0, 3, 2));                                        \
        return a[0];                                                                               \
    }                                                                                              \
    static double lanes_##OP##_f64(const double *x, int64_t n)                                     \
    {                                                                                              \
        double lane[16];                                                                           \
        if (n < 16)                                                                                \
            return end_##OP##_f64(lane, x, n, 0);                                                  \
        f64x4   a = *(const f64x4 *)x, b = *(const f64x4 *)(x + 4);                                \
        f64x4   c = *(const f64x4 *)(x + 8), d = *(const f64x4 *)(x + 12);                         \
        int64_t i = 16;                                                                            \
        for (; i + 16 <= n; i += 16) {                                                             \
            const f64x4 e = *(const f64x4 *)(x + i), f = *(const f64x4 *)(x + i + 4);              \
            const f64x4 g = *(const f64x4 *)(x + i + 8), h = *(const f64x4 *)(x + i + 12);         \
            __builtin_prefetch((const char *)(x + i) + AHEAD);                                     \
            __builtin_prefetch((const char *)(x + i + 8) + AHEAD);                                 \
            a = V_##OP(f64x4, i64x4, a, e);                                                        \
            b = V_##OP(f64x4, i64x4, b, f);                                                        \
            c = V_##OP(f64x4, i64x4, c, g);                                                        \
            d = V_##OP(f64x4, i64x4, d, h);                                                        \
        }                                                                                          \
        *(f64x4 *)lane = a, *(f64x4 *)(lane + 4) = b;                                              \
        *(f64x4 *)(lane + 8) = c, *(f64x4 *)(lane + 12) = d;                                       \
        return close_##OP##_f64(lane, x, n, i);                                                    \
    }

/* The place of the first best cell, or of the first nan: the best of a block is found first, its
 * place only when it is better than those before. */
#define PLACE_KIT(OP, BETTER, S, T)                                                                \
    static void place_##BETTER##_##S(T *best, int64_t *place, uint64_t blocks, const T *x,         \
                                     int64_t n, int64_t at)                                        \
    {                                                                                              \
        const T m = lanes_##OP##_##S(x, n);                                                        \
        int64_t i = 0;                                                                             \
        if (blocks && (*best != *best || !(op_##BETTER##_##S(m, *best) || m != m)))                \
            return;                                                                                \
        while (!(x[i] == m || (m != m && x[i] != x[i])))                                           \
            i++;                                                                                   \
        *best = m, *place = at + i;                                                                \
    }

/* Rows of accumulators. */
#define FILL_KIT(S, T)                                                                             \
    static __attribute__((noinline)) void fill_##S(T *to, T x, int64_t n)                          \
    {                                                                                              \
        for (int64_t i = 0; i < n; i++)                                                            \
            to[i] = x;                                                                             \
    }
#define ROWS_KIT(OP, S, T)                                                                         \
    static __attribute__((noinline)) void rows_##OP##_##S(T *to, const T *x, const T *y, int64_t n)\
    {                                                                                              \
        _Pragma("GCC ivdep") for (int64_t i = 0; i < n; i++) to[i] = op_##OP##_##S(x[i], y[i]);    \
    }
