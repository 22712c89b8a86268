/* regions.c -- regions of arrays: boxes, and boxes with a gap along an axis, as they are read
 * around the ends of periodic arrays. */
#include "exec/exec.h"

ar_region ar_region_box(int rank, const int64_t *lo, const int64_t *hi)
{
    ar_region r = { .rank = rank, .any = true };

    for (int axis = 0; axis < rank; axis++) {
        r.axes[axis] = (ar_span){ lo[axis], hi[axis], lo[axis], lo[axis] };
        r.any = r.any && lo[axis] < hi[axis];
    }
    return r;
}

static bool has_gap(const ar_span *r) { return r->gap_lo < r->gap_hi; }

bool ar_region_is_box(const ar_region *region)
{
    for (int axis = 0; axis < region->rank; axis++)
        if (has_gap(&region->axes[axis]))
            return false;
    return true;
}

/* ---- Both ------------------------------------------------------------------------------------ */

typedef struct {
    int64_t lo, hi;
} piece;

static int pieces_of(piece *out, const ar_span *r)
{
    if (!has_gap(r)) {
        out[0] = (piece){ r->lo, r->hi };
        return 1;
    }
    out[0] = (piece){ r->lo, r->gap_lo };
    out[1] = (piece){ r->gap_hi, r->hi };
    return 2;
}

static void sort_pieces(piece *p, int n)
{
    for (int i = 1; i < n; i++)
        for (int k = i; k > 0 && p[k].lo < p[k - 1].lo; k--) {
            piece swapped = p[k];

            p[k] = p[k - 1];
            p[k - 1] = swapped;
        }
}

/* The largest hole between the pieces of both stays one; smaller ones are filled. */
static ar_span both(const ar_span *a, const ar_span *b)
{
    piece   p[4];
    int     n = pieces_of(p, a);
    ar_span r;

    n += pieces_of(p + n, b);
    sort_pieces(p, n);
    r = (ar_span){ p[0].lo, p[0].hi, p[0].lo, p[0].lo };
    for (int i = 1; i < n; i++) {
        if (p[i].lo - r.hi > r.gap_hi - r.gap_lo) {
            r.gap_lo = r.hi;
            r.gap_hi = p[i].lo;
        }
        r.hi = ar_max64(r.hi, p[i].hi);
    }
    return r;
}

void ar_region_add(ar_region *to, const ar_region *more)
{
    if (!more->any)
        return;
    if (!to->any) {
        *to = *more;
        return;
    }
    for (int axis = 0; axis < to->rank; axis++)
        to->axes[axis] = both(&to->axes[axis], &more->axes[axis]);
}

/* ---- Parts ----------------------------------------------------------------------------------- */

int ar_region_boxes(const ar_region *region)
{
    int n = region->any ? 1 : 0;

    for (int axis = 0; axis < region->rank; axis++)
        n *= has_gap(&region->axes[axis]) ? 2 : 1;
    return n;
}

void ar_region_part(int64_t *lo, int64_t *hi, const ar_region *region, int number)
{
    for (int axis = region->rank - 1; axis >= 0; axis--) {
        const ar_span *r = &region->axes[axis];
        bool           gap = has_gap(r), second = gap && number % 2;

        lo[axis] = second ? r->gap_hi : r->lo;
        hi[axis] = gap && !second ? r->gap_lo : r->hi;
        number /= gap ? 2 : 1;
    }
}

int64_t ar_region_cells(const ar_region *region)
{
    int64_t cells = region->any;

    for (int axis = 0; axis < region->rank; axis++) {
        const ar_span *r = &region->axes[axis];

        if (!ar_mul64(&cells, cells, r->hi - r->lo - (r->gap_hi - r->gap_lo)))
            return INT64_MAX;
    }
    return cells;
}
