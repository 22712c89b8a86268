/* flat_read.c -- boxes of cells out of a file in which they lie at regular distances.
 *
 * Axes are sorted by their distance in the file, and those that follow each other without a gap, in
 * file and memory, become one.  What then lies in one piece goes straight into the caller's memory;
 * small pieces with gaps between them are read as one, gaps and all, and picked apart. */
#include "store/codec/half.h"
#include "store/flat/flat.h"
#include "store/safe/store_file.h"

#include <string.h>

enum {
    SCRATCH = 1 << 20, /* bytes read at once */
    SMALL = 1 << 14,   /* a read takes as long as copying about so many bytes */
    SPARSE = 8         /* less than one byte in so many is wanted: not worth reading the others */
};

/* ---- Copying cells --------------------------------------------------------------------------- */

typedef void copy_cells(char *to, int64_t to_step, const char *from, int64_t from_step, int64_t n);

#define COPY(name, type, value)                                                                    \
    static void name(char *to, int64_t to_step, const char *from, int64_t from_step, int64_t n)    \
    {                                                                                              \
        for (int64_t i = 0; i < n; i++) {                                                          \
            type x;                                                                                \
                                                                                                   \
            memcpy(&x, from + i * from_step, sizeof x);                                            \
            x = (type)value;                                                                       \
            memcpy(to + i * to_step, &x, sizeof x);                                                \
        }                                                                                          \
    }

typedef struct {
    uint32_t re, im;
} pair32;
typedef struct {
    uint64_t re, im;
} pair64;

#define SAME(x) (x)
#define TRUTH(x) ((x) != 0) /* any other byte than 0 is true; cells are 0 or 1 */
COPY(copy_bool, uint8_t, TRUTH(x))
COPY(copy_1, uint8_t, SAME(x))
COPY(copy_2, uint16_t, SAME(x))
COPY(copy_4, uint32_t, SAME(x))
COPY(copy_8, uint64_t, SAME(x))
COPY(swap_2, uint16_t, __builtin_bswap16(x))
COPY(swap_4, uint32_t, __builtin_bswap32(x))
COPY(swap_8, uint64_t, __builtin_bswap64(x))

#define COPY_PAIR(name, type, part)                                                                \
    static void name(char *to, int64_t to_step, const char *from, int64_t from_step, int64_t n)    \
    {                                                                                              \
        for (int64_t i = 0; i < n; i++) {                                                          \
            type x;                                                                                \
                                                                                                   \
            memcpy(&x, from + i * from_step, sizeof x);                                            \
            x = (type){ part(x.re), part(x.im) };                                                  \
            memcpy(to + i * to_step, &x, sizeof x);                                                \
        }                                                                                          \
    }
COPY_PAIR(copy_16, pair64, SAME)
COPY_PAIR(swap_pair_4, pair32, __builtin_bswap32)
COPY_PAIR(swap_pair_8, pair64, __builtin_bswap64)

/* Cells of the same size as halves of this type: one number, or two. */
static arras_dtype stored_as(arras_dtype dtype)
{
    return dtype == ARRAS_C64 ? ARRAS_U32 : ARRAS_U16;
}

static copy_cells *copy_for(arras_dtype dtype, bool swapped)
{
    switch (dtype) {
    case ARRAS_BOOL: return copy_bool;
    case ARRAS_C64: return swapped ? swap_pair_4 : copy_8;
    case ARRAS_C128: return swapped ? swap_pair_8 : copy_16;
    default: break;
    }
    switch (arras_dtype_size(dtype)) {
    case 1: return copy_1;
    case 2: return swapped ? swap_2 : copy_2;
    case 4: return swapped ? swap_4 : copy_4;
    default: return swapped ? swap_8 : copy_8;
    }
}

/* As they are stored, to the end of where they come to be; then from the beginning on. */
static void pick_halves(char *to, arras_dtype dtype, bool swapped, const char *from, int64_t step,
                        int64_t n)
{
    int64_t cell = (int64_t)arras_dtype_size(dtype) / 2;
    char   *stored = to + n * cell;

    copy_for(stored_as(dtype), false)(stored, cell, from, step, n);
    ar_half_widen(to, stored, (size_t)(n * cell) / sizeof(uint16_t), swapped);
}

void ar_flat_pick(void *to, arras_dtype dtype, bool swapped, bool half, const void *from,
                  int64_t step, int64_t n)
{
    if (half)
        pick_halves(to, dtype, swapped, from, step, n);
    else
        copy_for(dtype, swapped)(to, (int64_t)arras_dtype_size(dtype), from, step, n);
}

/* The same where cells lie side by side and stay where they are.  One pointer and fixed steps:
 * these loops become vector instructions. */
#define FIX(name, type, value)                                                                     \
    static void name(char *cells, int64_t bytes)                                                   \
    {                                                                                              \
        for (int64_t i = 0; i < bytes; i += (int64_t)sizeof(type)) {                               \
            type x;                                                                                \
                                                                                                   \
            memcpy(&x, cells + i, sizeof x);                                                       \
            x = (type)value;                                                                       \
            memcpy(cells + i, &x, sizeof x);                                                       \
        }                                                                                          \
    }
FIX(fix_bool, uint8_t, TRUTH(x))
FIX(fix_2, uint16_t, __builtin_bswap16(x))
FIX(fix_4, uint32_t, __builtin_bswap32(x))
FIX(fix_8, uint64_t, __builtin_bswap64(x))

typedef void fix_cells(char *cells, int64_t bytes);

/* NULL: cells are in memory as they are in the file. */
static fix_cells *fix_for(arras_dtype dtype, bool swapped)
{
    bool pair = dtype == ARRAS_C64 || dtype == ARRAS_C128;

    if (dtype == ARRAS_BOOL || !swapped)
        return dtype == ARRAS_BOOL ? fix_bool : NULL;
    switch (arras_dtype_size(dtype) / (pair ? 2 : 1)) {
    case 1: return NULL;
    case 2: return fix_2;
    case 4: return fix_4;
    default: return fix_8;
    }
}

/* ---- Axes ------------------------------------------------------------------------------------ */

typedef struct {
    int64_t count, step, place; /* cells; bytes to the next in the file; and in memory */
} axis;

typedef struct {
    const ar_flat *flat;
    const char    *name;
    arras_error   *err;
    copy_cells    *copy;
    fix_cells     *fix; /* may be NULL */
    int64_t        cell;
    int            n;
    axis           axes[ARRAS_MAX_RANK]; /* by falling step */
    char          *scratch;              /* NULL until needed */
} reader;

static void add_axis(reader *r, axis a)
{
    int at = r->n++;

    for (; at > 0 && r->axes[at - 1].step < a.step; at--)
        r->axes[at] = r->axes[at - 1];
    r->axes[at] = a;
}

static void merge_axes(reader *r)
{
    int n = 0;

    for (int d = 0; d < r->n; d++) {
        axis *above = n ? &r->axes[n - 1] : NULL, a = r->axes[d];

        if (above && above->step == a.count * a.step && above->place == a.count * a.place) {
            above->count *= a.count;
            above->step = a.step;
            above->place = a.place;
        } else {
            r->axes[n++] = a;
        }
    }
    r->n = n;
}

static int64_t set_axes(reader *r, const ar_store_info *info, const int64_t *lo, const int64_t *hi)
{
    int64_t at = r->flat->start, place = r->cell;

    for (int d = info->rank; d-- > 0;) {
        int64_t count = hi[d] - lo[d];

        at += lo[d] * r->flat->step[d];
        if (count != 1)
            add_axis(r, (axis){ count, r->flat->step[d], place });
        place *= count;
    }
    if (r->n == 0)
        r->axes[r->n++] = (axis){ 1, r->cell, r->cell };
    merge_axes(r);
    return at;
}

/* ---- Reading --------------------------------------------------------------------------------- */

/* Bytes in the file from the first to the last cell of axes d and up, and how many are wanted. */
static int64_t span_of(const reader *r, int d, int64_t count, int64_t *wanted)
{
    int64_t span = r->cell;

    *wanted = r->cell;
    for (int k = d; k < r->n; k++) {
        int64_t n = k == d ? count : r->axes[k].count;

        span += (n - 1) * r->axes[k].step;
        *wanted *= n;
    }
    return span;
}

static bool is_one_piece(const reader *r, int d, int64_t count)
{
    int64_t wanted, span = span_of(r, d, count, &wanted);

    return span <= SMALL || (span <= SCRATCH && wanted > span / SPARSE);
}

static arras_status read_straight(reader *r, int64_t at, int64_t bytes, char *out)
{
    arras_status status = ARRAS_OK;

    for (int64_t done = 0; done < bytes && status == ARRAS_OK; done += SCRATCH) {
        int64_t n = ar_min64(bytes - done, SCRATCH);

        status = ar_file_read(r->flat->fd, out + done, n, at + done, r->name, r->err);
        if (status == ARRAS_OK && r->fix)
            r->fix(out + done, n);
    }
    return status;
}

/* Loops in the order of memory, so that writes follow each other; what is read is in the cache. */
static void scatter(const reader *r, const axis *axes, int n, const char *from, char *out)
{
    if (n == 1) {
        r->copy(out, axes->place, from, axes->step, axes->count);
        return;
    }
    for (int64_t i = 0; i < axes->count; i++)
        scatter(r, axes + 1, n - 1, from + i * axes->step, out + i * axes->place);
}

static arras_status read_piece(reader *r, int d, int64_t count, int64_t at, char *out)
{
    int64_t wanted, span = span_of(r, d, count, &wanted);
    axis    axes[ARRAS_MAX_RANK];
    int     n = 0;

    if (!r->scratch)
        r->scratch = ar_buffer_take(SCRATCH); /* warm: a tile may need no other memory */
    if (!r->scratch)
        return ar_fail_memory(r->err, SCRATCH);
    arras_status status = ar_file_read(r->flat->fd, r->scratch, span, at, r->name, r->err);
    if (status != ARRAS_OK)
        return status;
    for (int k = d; k < r->n; k++, n++) {
        int to = n;

        for (; to > 0 && axes[to - 1].place < r->axes[k].place; to--)
            axes[to] = axes[to - 1];
        axes[to] = r->axes[k];
        if (k == d)
            axes[to].count = count;
    }
    scatter(r, axes, n, r->scratch, out);
    return ARRAS_OK;
}

/* How many indices of axis d are read at once: 1 when each is worth reads of its own. */
static int64_t indices_at_once(const reader *r, int d, int64_t count)
{
    int64_t wanted, one = span_of(r, d, 1, &wanted);

    if (one > SCRATCH)
        return 1;
    int64_t fit = ar_min64(count, (SCRATCH - one) / r->axes[d].step + 1);
    return is_one_piece(r, d, fit) ? fit : 1;
}

/* `count` indices of axis d.  As deep as there are axes. */
static arras_status read_axis(reader *r, int d, int64_t count, int64_t at, char *out)
{
    const axis  *a = &r->axes[d];
    arras_status status = ARRAS_OK;

    if (d == r->n - 1 && a->step == r->cell && a->place == r->cell)
        return read_straight(r, at, count * r->cell, out);
    int64_t step = indices_at_once(r, d, count);
    for (int64_t i = 0; i < count && status == ARRAS_OK; i += step) {
        int64_t n = ar_min64(step, count - i), from = at + i * a->step;
        char   *to = out + i * a->place;

        if (is_one_piece(r, d, n) || d == r->n - 1)
            status = read_piece(r, d, n, from, to);
        else
            status = read_axis(r, d + 1, r->axes[d + 1].count, from, to);
    }
    return status;
}

static arras_status read_stored(const ar_flat *flat, const ar_store_info *info, const int64_t *lo,
                                const int64_t *hi, void *cells, const char *name, arras_error *err)
{
    reader r = { .flat = flat, .name = name, .err = err };

    r.cell = (int64_t)arras_dtype_size(info->dtype);
    r.copy = copy_for(info->dtype, flat->swapped);
    r.fix = fix_for(info->dtype, flat->swapped);
    int64_t      at = set_axes(&r, info, lo, hi);
    arras_status status = read_axis(&r, 0, r.axes[0].count, at, cells);
    ar_buffer_give(r.scratch);
    return status;
}

static arras_status read_halves(const ar_flat *flat, const ar_store_info *info, const int64_t *lo,
                                const int64_t *hi, void *cells, const char *name, arras_error *err)
{
    ar_flat       plain = *flat;
    ar_store_info stored = *info;
    int64_t       bytes = ar_flat_cell(flat, info->dtype);
    arras_status  status;

    for (int d = 0; d < info->rank; d++)
        bytes *= hi[d] - lo[d];
    plain.swapped = plain.half = false;
    stored.dtype = stored_as(info->dtype);
    status = read_stored(&plain, &stored, lo, hi, (char *)cells + bytes, name, err);
    if (status == ARRAS_OK)
        ar_half_widen(cells, (char *)cells + bytes, (size_t)bytes / sizeof(uint16_t),
                      flat->swapped);
    return status;
}

arras_status ar_flat_read(const ar_flat *flat, const ar_store_info *info, const int64_t *lo,
                          const int64_t *hi, void *cells, const char *name, arras_error *err)
{
    for (int d = 0; d < info->rank; d++)
        if (lo[d] >= hi[d])
            return ARRAS_OK;
    return (flat->half ? read_halves : read_stored)(flat, info, lo, hi, cells, name, err);
}

/* ---- Geometry -------------------------------------------------------------------------------- */

int64_t ar_flat_cell(const ar_flat *flat, arras_dtype dtype)
{
    return (int64_t)arras_dtype_size(dtype) / (flat->half ? 2 : 1);
}

bool ar_flat_bytes(int64_t *out, int64_t cell_size, int rank, const int64_t *shape)
{
    int64_t bytes = cell_size;

    /* Axes of length 0 count as 1 here: the product of the others must fit all the same. */
    for (int d = 0; d < rank; d++)
        if (shape[d] < 0 || !ar_mul64(&bytes, bytes, ar_max64(shape[d], 1)))
            return false;
    for (int d = 0; d < rank; d++)
        if (shape[d] == 0)
            bytes = 0;
    *out = bytes;
    return true;
}

void ar_flat_dense(ar_flat *flat, const ar_store_info *info, bool fortran)
{
    int64_t step = ar_flat_cell(flat, info->dtype);

    for (int k = 0; k < info->rank; k++) {
        int d = fortran ? k : info->rank - 1 - k;

        flat->step[d] = step;
        if (k + 1 < info->rank) /* records may be more than there can be; that is checked later */
            step *= ar_max64(info->shape[d], 1);
    }
}
