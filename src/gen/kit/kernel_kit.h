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

/* Bring an index inside an axis of n > 0 cells. */
static inline int64_t edge_nearest(int64_t j, int64_t n) { return j < 0 ? 0 : j >= n ? n - 1 : j; }
static inline int64_t edge_wrap(int64_t j, int64_t n)
{
    j = (uint64_t)j < (uint64_t)n ? j : j % n;
    return j < 0 ? j + n : j;
}
static inline int64_t edge_reflect(int64_t j, int64_t n)
{
    j = edge_wrap(j, 2 * n);
    return j >= n ? 2 * n - 1 - j : j;
}
static inline int64_t edge_mirror(int64_t j, int64_t n)
{
    if (n == 1)
        return 0;
    j = edge_wrap(j, 2 * n - 2);
    return j >= n ? 2 * n - 2 - j : j;
}

/* Indices that may be above MOST, as ones that are not and that the rules bring to the same place:
 * some whole turns nearer.  n may be 0. */
static inline int64_t far_edge_nearest(uint64_t j, int64_t n)
{
    (void)n;
    return j > MOST ? MOST : (int64_t)j;
}
static inline int64_t far_edge_wrap(uint64_t j, int64_t n)
{
    return n > 0 ? (int64_t)(j % (uint64_t)n) : 0;
}
static inline int64_t far_edge_reflect(uint64_t j, int64_t n) { return far_edge_wrap(j, 2 * n); }
static inline int64_t far_edge_mirror(uint64_t j, int64_t n) { return far_edge_wrap(j, 2 * n - 2); }

/* Asks for cells that will be needed soon; they need not exist.  Not inlined: that would only take
 * the compiler longer. */
static __attribute__((noinline)) void fetch(const char *from, int64_t bytes)
{
#pragma GCC unroll 8
    for (int64_t at = 0; at < bytes; at += 64)
        __builtin_prefetch(from + at);
}

/* At -O1 compilers leave the upper halves of registers as they are, and all that computes with the
 * lower ones has to wait for them, back in the library too. */
static inline void vectors_end(void)
{
#if defined __AVX__
    __builtin_ia32_vzeroupper();
#endif
}

/* After what a->stream stored. */
static inline void stream_end(void)
{
#if defined __x86_64__
    __builtin_ia32_sfence();
#endif
}
