/* codec_transpose.c -- cells of a chunk with its axes in another order.  Values: rank; for each
 * axis as stored, which axis of the chunk it is; the shape of the chunk. */
#include "store/codec/codec_parts.h"

enum { LINE = 64 }; /* bytes of a line of the cache */

/* How to walk over the input so that the output is written from its start to its end. */
typedef struct {
    int    rank;
    size_t length[ARRAS_MAX_RANK]; /* of axes of the output, the outermost first */
    size_t from[ARRAS_MAX_RANK];   /* cells between neighbours along it in the input ... */
    size_t to[ARRAS_MAX_RANK];     /* ... and in the output */
    size_t cell;                   /* bytes */
} walk;

/* ---- From values to a walk ------------------------------------------------------------------- */

static bool is_permutation(int rank, const int64_t *order)
{
    bool used[ARRAS_MAX_RANK] = { false };

    for (int a = 0; a < rank; a++) {
        if (order[a] < 0 || order[a] >= rank || used[order[a]])
            return false;
        used[order[a]] = true;
    }
    return true;
}

static arras_status check_size(int rank, const int64_t *shape, int cell_size, size_t n,
                               arras_error *err)
{
    int64_t bytes = cell_size;

    for (int a = 0; a < rank; a++)
        if (shape[a] < 1 || !ar_mul64(&bytes, bytes, shape[a]))
            return ar_fail(err, ARRAS_EFORMAT, "transpose: axis %d has length %" PRId64, a,
                           shape[a]);
    if ((uint64_t)bytes != n)
        return ar_fail(err, ARRAS_EFORMAT, "transpose: %zu bytes, its shape says %" PRId64, n,
                       bytes);
    return ARRAS_OK;
}

static arras_status check_values(const ar_codec_step *step, int cell_size, size_t n,
                                 arras_error *err)
{
    int64_t rank = ar_codec_value(step, 0, -1);

    if (rank < 0 || rank > ARRAS_MAX_RANK || step->nvalues != 1 + 2 * rank)
        return ar_fail(err, ARRAS_EFORMAT, "transpose: rank %" PRId64 " with %d values", rank,
                       step->nvalues);
    if (!is_permutation((int)rank, step->values + 1))
        return ar_fail(err, ARRAS_EFORMAT, "transpose: not every axis is there once");
    return check_size((int)rank, step->values + 1 + rank, cell_size, n, err);
}

/* Cells between neighbours along each axis of a dense array. */
static void find_strides(size_t *strides, int rank, const size_t *shape)
{
    size_t stride = 1;

    for (int a = rank - 1; a >= 0; a--) {
        strides[a] = stride;
        stride *= shape[a];
    }
}

/* Axes that stay neighbours become one; those of length 1 need no walk. */
static void join_axes(walk *w)
{
    int n = 0;

    for (int a = 0; a < w->rank; a++) {
        if (w->length[a] == 1)
            continue;
        if (n > 0 && w->from[n - 1] == w->from[a] * w->length[a]) {
            w->length[n - 1] *= w->length[a];
            w->from[n - 1] = w->from[a];
            continue;
        }
        w->length[n] = w->length[a];
        w->from[n++] = w->from[a];
    }
    w->rank = n;
    find_strides(w->to, n, w->length);
}

static void plan_decode(walk *w, const int64_t *order, const int64_t *shape)
{
    size_t stored[ARRAS_MAX_RANK] = { 0 }, strides[ARRAS_MAX_RANK];

    for (int a = 0; a < w->rank; a++)
        stored[a] = (size_t)shape[order[a]];
    find_strides(strides, w->rank, stored);
    for (int a = 0; a < w->rank; a++) {
        w->length[order[a]] = stored[a];
        w->from[order[a]] = strides[a];
    }
}

static void plan_encode(walk *w, const int64_t *order, const int64_t *shape)
{
    size_t plain[ARRAS_MAX_RANK] = { 0 }, strides[ARRAS_MAX_RANK];

    for (int a = 0; a < w->rank; a++)
        plain[a] = (size_t)shape[a];
    find_strides(strides, w->rank, plain);
    for (int a = 0; a < w->rank; a++) {
        w->length[a] = plain[order[a]];
        w->from[a] = strides[order[a]];
    }
}

/* ---- Cells ----------------------------------------------------------------------------------- */

/* Two axes: `rows` are neighbours in the input, `columns` in the output. */
typedef struct {
    size_t rows, columns, row_to, column_from;
} plane;

#define INLINE static inline __attribute__((always_inline))

/* Cells of `side` lines are read line by line, turned in a buffer and written line by line: however
 * far lines are apart, none is wanted twice. */
INLINE void move_tile(char *out, const char *in, const plane *p, size_t rows, size_t columns,
                      size_t side, size_t cell)
{
    char buffer[LINE * LINE];

    for (size_t c = 0; c < columns; c++)
        for (size_t r = 0; r < rows; r++)
            memcpy(buffer + (r * side + c) * cell, in + (c * p->column_from + r) * cell, cell);
    for (size_t r = 0; r < rows; r++)
        memcpy(out + r * p->row_to * cell, buffer + r * side * cell, columns * cell);
}

INLINE void move_plane_of(char *out, const char *in, const plane *p, size_t cell)
{
    size_t side = cell < LINE ? LINE / cell : 1;

    for (size_t r = 0; r < p->rows; r += side)
        for (size_t c = 0; c < p->columns; c += side) {
            char       *to = out + (r * p->row_to + c) * cell;
            const char *from = in + (c * p->column_from + r) * cell;
            size_t      rows = p->rows - r, columns = p->columns - c;

            /* Numbers that are known make loops without ends to look for. */
            if (rows >= side && columns >= side)
                move_tile(to, from, p, side, side, side, cell);
            else
                move_tile(to, from, p, rows < side ? rows : side, columns < side ? columns : side,
                          side, cell);
        }
}

static void move_large(char *out, const char *in, const plane *p, size_t cell)
{
    for (size_t r = 0; r < p->rows; r++)
        for (size_t c = 0; c < p->columns; c++)
            memcpy(out + (r * p->row_to + c) * cell, in + (c * p->column_from + r) * cell, cell);
}

static void move_plane_any(char *out, const char *in, const plane *p, size_t cell)
{
    move_plane_of(out, in, p, cell);
}

static void move_plane(char *out, const char *in, const plane *p, size_t cell)
{
    switch (cell) {
    case 1: move_plane_of(out, in, p, 1); break;
    case 2: move_plane_of(out, in, p, 2); break;
    case 4: move_plane_of(out, in, p, 4); break;
    case 8: move_plane_of(out, in, p, 8); break;
    case 16: move_plane_of(out, in, p, 16); break;
    default: (cell < LINE ? move_plane_any : move_large)(out, in, p, cell);
    }
}

/* The next place along the axes that `fixed` leaves; false after the last. */
static bool step_on(size_t *index, const walk *w, uint32_t fixed, size_t *from, size_t *to)
{
    for (int a = w->rank - 1; a >= 0; a--) {
        if (fixed >> a & 1)
            continue;
        *from += w->from[a];
        *to += w->to[a];
        if (++index[a] < w->length[a])
            return true;
        *from -= w->from[a] * w->length[a];
        *to -= w->to[a] * w->length[a];
        index[a] = 0;
    }
    return false;
}

static int find_inner(const walk *w)
{
    int a = 0;

    while (w->from[a] != 1)
        a++;
    return a;
}

static void move_cells(char *out, const char *in, const walk *w)
{
    int      last = w->rank - 1, inner = find_inner(w);
    uint32_t fixed = (uint32_t)1 << last | (uint32_t)1 << inner;
    plane    p = { w->length[inner], w->length[last], w->to[inner], w->from[last] };
    size_t   index[ARRAS_MAX_RANK] = { 0 }, from = 0, to = 0;

    do {
        if (inner == last)
            memcpy(out + to * w->cell, in + from * w->cell, p.columns * w->cell);
        else
            move_plane(out + to * w->cell, in + from * w->cell, &p, w->cell);
    } while (step_on(index, w, fixed, &from, &to));
}

/* ---- The codec ------------------------------------------------------------------------------- */

typedef void plan_walk(walk *w, const int64_t *order, const int64_t *shape);

static arras_status transpose_with(plan_walk *plan, const ar_codec_step *step, int cell_size,
                                   ar_text *out, const void *in, size_t n, arras_error *err)
{
    arras_status status = check_values(step, cell_size, n, err);
    walk         w = { .rank = (int)step->values[0], .cell = (size_t)cell_size };

    if (status == ARRAS_OK)
        status = ar_codec_room(out, n, err);
    if (status != ARRAS_OK)
        return status;
    plan(&w, step->values + 1, step->values + 1 + w.rank);
    join_axes(&w);
    if (w.rank == 0)
        memcpy(out->data, in, n);
    else
        move_cells(out->data, in, &w);
    return ARRAS_OK;
}

static arras_status transpose_decode(const ar_codec_step *step, int cell_size, ar_text *out,
                                     size_t most, const void *in, size_t n, arras_error *err)
{
    if (n > most)
        return ar_codec_too_long("transpose", n, most, err);
    return transpose_with(plan_decode, step, cell_size, out, in, n, err);
}

static arras_status transpose_encode(const ar_codec_step *step, int cell_size, ar_text *out,
                                     const void *in, size_t n, arras_error *err)
{
    return transpose_with(plan_encode, step, cell_size, out, in, n, err);
}

const ar_codec ar_codec_transpose = { .name = "transpose",
                                      .decode = transpose_decode,
                                      .encode = transpose_encode };
