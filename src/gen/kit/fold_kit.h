/* fold_kit.h -- many cells become one, in the order that ir/trees.h states; op_OP_S are operations
 * of ops.def for the type T of suffix S.  The library has them for real numbers (folds.inc) and
 * hands kernels a table; what else kernels reduce they compile from this text (c_ops.c). */

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
        int64_t live = n < AR_FOLD_LANES ? n : AR_FOLD_LANES;                                      \
        for (int64_t i = done; i < n; i++)                                                         \
            lane[i - done] = done ? op_##OP##_##S(lane[i - done], x[i]) : x[i];                    \
        for (int64_t h = AR_FOLD_LANES / 2; h > 0; h /= 2) {                                       \
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
        T       lane[AR_FOLD_LANES];                                                               \
        int64_t i = 0;                                                                             \
        for (; i + AR_FOLD_LANES <= n; i += AR_FOLD_LANES)                                         \
            for (int l = 0; l < AR_FOLD_LANES; l++)                                                \
                lane[l] = i ? op_##OP##_##S(lane[l], x[i + l]) : x[i + l];                         \
        return end_##OP##_##S(lane, x, n, i);                                                      \
    }

/* Two whole blocks. */
#define PAIR_PLAIN(OP, S, T)                                                                       \
    static void pair_##OP##_##S(T *two, const T *x)                                                \
    {                                                                                              \
        two[0] = lanes_##OP##_##S(x, AR_FOLD_BLOCK);                                               \
        two[1] = lanes_##OP##_##S(x + AR_FOLD_BLOCK, AR_FOLD_BLOCK);                               \
    }

/* Cells low <= i < high as they are in memory; `few`: one after the other. */
#define RANGE_KIT(OP, S, T)                                                                        \
    static T range_##OP##_##S(const T *x, int64_t low, int64_t high, int few)                      \
    {                                                                                              \
        T        parts[AR_FOLD_DEPTH];                                                             \
        uint64_t blocks = 0;                                                                       \
        if (few)                                                                                   \
            return line_##OP##_##S(x + low, high - low);                                           \
        for (; high - low >= 2 * AR_FOLD_BLOCK; low += 2 * AR_FOLD_BLOCK) {                        \
            T two[2];                                                                              \
            pair_##OP##_##S(two, x + low);                                                         \
            blocks = carry_##OP##_##S(parts, blocks, two[0]);                                      \
            blocks = carry_##OP##_##S(parts, blocks, two[1]);                                      \
        }                                                                                          \
        for (; low < high; low += AR_FOLD_BLOCK) {                                                 \
            int64_t n = high - low < AR_FOLD_BLOCK ? high - low : AR_FOLD_BLOCK;                   \
            blocks = carry_##OP##_##S(parts, blocks, lanes_##OP##_##S(x + low, n));                \
        }                                                                                          \
        return finish_##OP##_##S(parts, blocks);                                                   \
    }                                                                                              \
    static T join_##OP##_##S(const T *x, int64_t n)                                                \
    {                                                                                              \
        T        parts[AR_FOLD_DEPTH];                                                             \
        uint64_t blocks = 0;                                                                       \
        while ((int64_t)blocks < n)                                                                \
            blocks = carry_##OP##_##S(parts, blocks, x[blocks]);                                   \
        return finish_##OP##_##S(parts, blocks);                                                   \
    }

/* The place of the first best cell, or of the first nan: the best of one or two blocks is found
 * first, its place only when it is better than those before. */
#define PLACE_KIT(OP, BETTER, S, T)                                                                \
    static T best_##BETTER##_##S(const T *x, int64_t n)                                            \
    {                                                                                              \
        T two[2];                                                                                  \
        if (n <= AR_FOLD_BLOCK)                                                                    \
            return lanes_##OP##_##S(x, n);                                                         \
        if (n < 2 * AR_FOLD_BLOCK)                                                                 \
            return op_##OP##_##S(lanes_##OP##_##S(x, AR_FOLD_BLOCK),                               \
                                 lanes_##OP##_##S(x + AR_FOLD_BLOCK, n - AR_FOLD_BLOCK));          \
        pair_##OP##_##S(two, x);                                                                   \
        return op_##OP##_##S(two[0], two[1]);                                                      \
    }                                                                                              \
    static void place_##BETTER##_##S(T *best, int64_t *place, uint64_t blocks, const T *x,         \
                                     int64_t n, int64_t at)                                        \
    {                                                                                              \
        const T m = best_##BETTER##_##S(x, n);                                                     \
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
/* Cells of a loop do not depend on one another.  Clang finds that out when the code runs. */
#if defined __clang__
#define NO_OVERLAP
#else
#define NO_OVERLAP _Pragma("GCC ivdep")
#endif

/* Lanes of many cells at once, `stride` cells from one lane or block to the next. */
#define DOWN_KIT(OP, S, T)                                                                         \
    static void rows_##OP##_##S(T *to, const T *x, const T *y, int64_t n)                          \
    {                                                                                              \
        NO_OVERLAP for (int64_t i = 0; i < n; i++) to[i] = op_##OP##_##S(x[i], y[i]);              \
    }                                                                                              \
    static void down_##OP##_##S(T *lanes, T *parts, uint64_t blocks, int mask, int64_t n,          \
                                int64_t stride)                                                    \
    {                                                                                              \
        int b = 0;                                                                                 \
        for (int h = (mask + 1) / 2; h > 0; h /= 2)                                                \
            for (int l = 0; l < h; l++)                                                            \
                rows_##OP##_##S(lanes + l * stride, lanes + l * stride, lanes + (l + h) * stride,  \
                                n);                                                                \
        for (; blocks >> b & 1; b++)                                                               \
            rows_##OP##_##S(lanes, parts + b * stride, lanes, n);                                  \
        __builtin_memcpy(parts + b * stride, lanes, (uint64_t)n * sizeof(T));                      \
    }                                                                                              \
    static __attribute__((noinline)) void total_##OP##_##S(                                        \
        T *to, const T *parts, uint64_t blocks, int64_t n, int64_t stride)                         \
    {                                                                                              \
        int b = __builtin_ctzll(blocks);                                                           \
        __builtin_memcpy(to, parts + b * stride, (uint64_t)n * sizeof(T));                         \
        for (b++; blocks >> b; b++)                                                                \
            if (blocks >> b & 1)                                                                   \
                rows_##OP##_##S(to, parts + b * stride, to, n);                                    \
    }
