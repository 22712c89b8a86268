/* pass_map.c -- cells of a tile where the system has them: what a file holds as it is in memory
 * need not be copied out of its cache. */
#include "exec/pass.h"

#include <sys/mman.h>
#include <unistd.h>

/* Bytes of a box that lies in one piece; 0: it does not.  *first: its first byte. */
static int64_t one_piece(int64_t *first, int64_t *all, const ar_store_info *info, const int64_t *lo,
                         const int64_t *hi)
{
    int64_t step = (int64_t)arras_dtype_size(info->dtype), bytes = step;
    bool    whole = true; /* all axes behind this one */

    *first = 0;
    for (int d = info->rank - 1; d >= 0; d--) {
        int64_t n = hi[d] - lo[d];

        if (!whole && n != 1)
            return 0;
        whole = whole && n == info->shape[d];
        *first += lo[d] * step;
        bytes *= n;
        step *= info->shape[d];
    }
    *all = step;
    return bytes;
}

#ifdef MADV_POPULATE_READ
/* Whether the system has pages of it here and there.  From a disk reads are faster: the system sees
 * where they go, and looks ahead. */
static bool is_cached(char *map, size_t length, size_t page)
{
    enum { LOOKS = 8 };
    unsigned char there;

    for (size_t i = 0; i < LOOKS; i++)
        if (mincore(map + (length - 1) / (LOOKS - 1) * i / page * page, 1, &there) != 0 ||
            !(there & 1))
            return false;
    return true;
}
#endif

/* Pages that are mapped count as memory of the process, so each tile has a mapping of its own: the
 * source's once more.  They are asked for here: a file that lost its end is a failure of the
 * system's, and not yet a signal. */
char *ar_map_cells(void **pages, size_t *size, ar_source *source, const int64_t *lo,
                   const int64_t *hi)
{
#ifdef MADV_POPULATE_READ
    const char *cells = source->type->mapped ? source->type->mapped(source) : NULL;
    int64_t     first, all, bytes = cells ? one_piece(&first, &all, &source->info, lo, hi) : 0;
    size_t      page = (size_t)sysconf(_SC_PAGESIZE);

    if (bytes < AR_PASS_MAP_LEAST || first + bytes + AR_PASS_AHEAD > all)
        return NULL;
    uintptr_t at = (uintptr_t)cells + (uintptr_t)first, before = at % page;
    size_t    length = (size_t)bytes + before;
    char     *map = mremap((void *)(at - before), 0, length + AR_PASS_AHEAD, MREMAP_MAYMOVE);

    if (map == MAP_FAILED)
        return NULL;
    if (!is_cached(map, length, page) || madvise(map, length, MADV_POPULATE_READ) != 0) {
        munmap(map, length + AR_PASS_AHEAD);
        return NULL;
    }
    *pages = map;
    *size = length + AR_PASS_AHEAD;
    return map + before;
#else
    (void)pages, (void)size, (void)source, (void)lo, (void)hi;
    return NULL;
#endif
}
