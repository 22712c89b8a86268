/* edge_kit.h -- where an index outside its axis leads, as text that stands before kernels. */

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
