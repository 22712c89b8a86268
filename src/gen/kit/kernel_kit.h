/* kernel_kit.h -- what kernels call, as the text that stands before them (c_kernel.c). */

typedef struct {
    char *const          *data;
    const int64_t *const *strides;
    const int64_t *const *shapes;
    const int64_t        *sizes;
    void (*stream)(char *to, const char *from, int64_t bytes);
    const void *const *folds;
    int                far;
} ar_kernel_args;

#define LEAST (-MOST - 1)
#define MOST 0x7fffffffffffffffll
#define LARGEST_OF(T) ((T)-1 > 0 ? (T)-1 : (T)((1ull << (8 * sizeof(T) - 1)) - 1))
#define SMALLEST_OF(T) ((T)-1 > 0 ? 0 : (T)(-(int64_t)((1ull << (8 * sizeof(T) - 1)) - 1) - 1))
#define ALIGNED __attribute__((aligned(64)))
/* GCC would put each statement just before the one that needs its value. */
#if defined __clang__
#define IN_ORDER
#else
#define IN_ORDER __attribute__((optimize("no-tree-ter")))
#endif
/* In a loop over few cells: not worth the compiler's time to make vectors of. */
#define ONE_BY_ONE __asm__ volatile("")

/* Cells from `at` on, not beyond `to`, that are all inside first <= i < last or all outside. */
static inline int64_t piece(int64_t at, int64_t to, int64_t first, int64_t last)
{
    int64_t stop = at < first && first < last ? first : at < last ? last : to;
    return (stop < to ? stop : to) - at;
}

/* Shrinks first <= i < last to where 0 <= along * i + rest < n. */
static inline void keep_inside(int64_t *first, int64_t *last, int64_t along, int64_t rest,
                               int64_t n)
{
    int64_t low, high;
    if (rest < -(1ll << 62) || rest > 1ll << 62 || n > 1ll << 62 || along == LEAST) {
        *last = *first; /* they are looked at one by one */
        return;
    }
    if (along < 0) /* the same for n - 1 - (...), which grows */
        along = -along, rest = n - 1 - rest;
    if (along != 1) {
        low = -rest / along + (rest < 0 && -rest % along != 0);
        high = (n - rest) / along + (n > rest && (n - rest) % along != 0);
    } else {
        low = -rest, high = n - rest;
    }
    *first = low > *first ? low : *first;
    *last = high < *last ? high : *last;
    if (*last < *first)
        *last = *first;
}

/* Cells of a segment: fewer at first, so that the next one starts with a cache line. */
static inline int64_t span(int64_t left, int64_t most, uintptr_t place, int64_t size)
{
    int64_t cells = most - (int64_t)(place & 63) / size;
    cells = cells > 0 ? cells : most;
    return left < cells ? left : cells;
}

/* Into the second cache. */
static inline void read_ahead(const char *p, int64_t bytes)
{
    for (int64_t at = 0; at < bytes; at += 64)
        __builtin_prefetch(p + at, 0, 2);
}

/* After the vector at cell e of n.  aligned: the second one starts with a vector of the segment, in
 * which the first cell is number `at`, and the last one ends with the last cell. */
static inline int64_t next_vector(int64_t e, int64_t at, int64_t n, int64_t cells, int aligned)
{
    int64_t last = n - cells, next = e + cells - ((at + e) & (cells - 1));
    if (!aligned)
        return e + cells;
    return e == last ? n : next > last && next < n ? last : next;
}
