/* item_kit.h -- what one work item does by itself to reduce many cells, as text before kernels.  */

/* Cell number `at` comes into its lane, or a block that is full into the parts; in the order of
 * ir/trees.h.  Then the total of n cells. */
#define ITEM_FOLD_KIT(OP, S, T)                                                                    \
    static inline void item_take_##OP##_##S(T *lane, T *parts, int64_t at, T x)                    \
    {                                                                                              \
        int64_t in = at % AR_FOLD_BLOCK, l = in % AR_FOLD_LANES;                                   \
        lane[l] = in < AR_FOLD_LANES ? x : op_##OP##_##S(lane[l], x);                              \
        if (in == AR_FOLD_BLOCK - 1)                                                               \
            carry_##OP##_##S(parts, (uint64_t)(at / AR_FOLD_BLOCK),                                \
                             end_##OP##_##S(lane, lane, AR_FOLD_BLOCK, AR_FOLD_BLOCK));            \
    }                                                                                              \
    static inline T item_total_##OP##_##S(T *lane, T *parts, int64_t n)                            \
    {                                                                                              \
        uint64_t blocks = (uint64_t)(n / AR_FOLD_BLOCK);                                           \
        int64_t  rest = n % AR_FOLD_BLOCK;                                                         \
        if (rest)                                                                                  \
            blocks = carry_##OP##_##S(parts, blocks, end_##OP##_##S(lane, lane, rest, rest));      \
        return finish_##OP##_##S(parts, blocks);                                                   \
    }
