/* picture_window.c -- cells of an array in a file, as a picture asks for them: row by row, some at
 * a time, two times or three from the first to the last. */
#include "cmd/show/picture_window.h"

#include "cmd/interrupt.h"

#include <stdlib.h>
#include <string.h>

#define PIECE ((int64_t)64 << 20) /* bytes of cells read at once, if a chunk is not larger */
#define GAP ((int64_t)64 << 10)   /* bytes that are read sooner than stepped over */

/* The rows or the columns of a part: which indices of which axis they are. */
typedef struct {
    int     axis; /* -1: a vector has no axis of rows */
    int64_t first, stride, length;
    int64_t chunk; /* indices that are stored together; 1: each by itself */
    bool    dense; /* what lies between two of them is read with them */
} line;

/* Cells lo <= k < hi of a line. */
typedef struct {
    int64_t lo, hi;
} span;

struct cmd_window {
    arras_source *source;
    size_t        cell;
    int64_t       limit;                 /* bytes */
    int64_t       index[ARRAS_MAX_RANK]; /* of the axes that are no line */
    line          rows, columns;
    /* What is there: */
    span    there_rows, there_columns;
    char   *cells;
    char   *between; /* a box of the file, of which cells are picked */
    int64_t room, between_room;
};

/* ---- Lines ----------------------------------------------------------------------------------- */

static int64_t pace(const line *l) { return l->stride < 0 ? -l->stride : l->stride; }

static int64_t index_of(const line *l, int64_t k) { return l->first + k * l->stride; }

/* Bytes from one index of an axis to the next where there are no chunks. */
static int64_t distance(const arras_store_info *info, int axis)
{
    int64_t bytes = (int64_t)arras_dtype_size(info->dtype);

    for (int d = info->rank - 1; d > axis; d--)
        if (__builtin_mul_overflow(bytes, info->shape[d], &bytes))
            return INT64_MAX;
    return bytes;
}

static line line_of(const arras_store_info *info, const cmd_item *items, int axis)
{
    if (axis < 0)
        return (line){ .axis = -1, .stride = 1, .length = 1, .chunk = 1, .dense = true };
    line l = { .axis = axis,
               .first = items[axis].start,
               .stride = items[axis].stride,
               .length = items[axis].count,
               .chunk = info->chunked ? info->chunk[axis] : 1 };
    l.dense = pace(&l) == 1 ||
              (info->chunked ? pace(&l) < l.chunk : pace(&l) <= GAP / distance(info, axis));
    return l;
}

/* Where the cells end that are read together with cell k: they span `most` indices, or what is left
 * of a chunk if that is more, and end with a chunk if they can. */
static int64_t end_of_piece(const line *l, int64_t k, int64_t end, int64_t most)
{
    int64_t within = index_of(l, k) % l->chunk;
    int64_t left = l->stride > 0 ? l->chunk - within : within + 1, spanned = left;

    if (!l->dense)
        spanned = 1;
    else if (most > left)
        spanned = left + (most - left) / l->chunk * l->chunk;
    int64_t count = (spanned - 1) / pace(l) + 1;
    return end - k < count ? end : k + count;
}

/* The indices that some cells of a line span. */
static span extent(const line *l, span cells)
{
    int64_t a = index_of(l, cells.lo), b = index_of(l, cells.hi - 1);

    return a < b ? (span){ a, b + 1 } : (span){ b, a + 1 };
}

static int64_t length(span s) { return s.hi - s.lo; }

/* ---- Reading --------------------------------------------------------------------------------- */

static bool give_room(char **cells, int64_t *room, int64_t bytes, cmd_error *err)
{
    if (bytes <= *room)
        return true;
    free(*cells);
    *cells = malloc((size_t)bytes);
    *room = *cells ? bytes : 0;
    return *cells ||
           cmd_fail(err, "out of memory: %lld bytes of cells to be shown", (long long)bytes);
}

static char *place_of(const cmd_window *w, int64_t row, int64_t column)
{
    return w->cells +
           ((row - w->there_rows.lo) * length(w->there_columns) + (column - w->there_columns.lo)) *
               (int64_t)w->cell;
}

/* The box around the cells of a piece. */
static void set_box(int64_t *lo, int64_t *hi, const cmd_window *w, span rows, span columns)
{
    span box[2] = { extent(&w->rows, rows), extent(&w->columns, columns) };

    for (int d = 0; d < arras_source_info(w->source)->rank; d++) {
        lo[d] = w->index[d];
        hi[d] = lo[d] + 1;
    }
    if (w->rows.axis >= 0) {
        lo[w->rows.axis] = box[0].lo;
        hi[w->rows.axis] = box[0].hi;
    }
    lo[w->columns.axis] = box[1].lo;
    hi[w->columns.axis] = box[1].hi;
}

/* The box of a piece to memory in which rows and columns are so many bytes apart. */
static bool read_box(const cmd_window *w, span rows, span columns, char *to, int64_t row_step,
                     cmd_error *err)
{
    int64_t     lo[ARRAS_MAX_RANK], hi[ARRAS_MAX_RANK], steps[ARRAS_MAX_RANK];
    arras_error why;

    set_box(lo, hi, w, rows, columns);
    for (int d = 0; d < arras_source_info(w->source)->rank; d++)
        steps[d] = d == w->columns.axis ? (int64_t)w->cell : row_step;
    /* Said to be dense, a box is read from the file, not touched page by page of a mapping. */
    bool dense = row_step == length(extent(&w->columns, columns)) * (int64_t)w->cell;
    if (cmd_interrupted())
        return cmd_fail(err, "cancelled");
    return arras_source_read(w->source, lo, hi, to, dense ? NULL : steps, 0, &why) == ARRAS_OK ||
           cmd_fail(err, "%s", why.text);
}

static void pick(const cmd_window *w, span rows, span columns, int64_t row_step)
{
    span    down = extent(&w->rows, rows), across = extent(&w->columns, columns);
    int64_t step = w->columns.stride * (int64_t)w->cell;

    for (int64_t r = rows.lo; r < rows.hi; r++) {
        const char *from = w->between + (index_of(&w->rows, r) - down.lo) * row_step +
                           (index_of(&w->columns, columns.lo) - across.lo) * (int64_t)w->cell;
        char *to = place_of(w, r, columns.lo);

        for (int64_t c = 0; c < length(columns); c++)
            memcpy(to + c * (int64_t)w->cell, from + c * step, w->cell);
    }
}

static bool read_piece(cmd_window *w, span rows, span columns, cmd_error *err)
{
    int64_t across = length(extent(&w->columns, columns)) * (int64_t)w->cell;

    if (w->rows.stride == 1 && w->columns.stride == 1)
        return read_box(w, rows, columns, place_of(w, rows.lo, columns.lo),
                        length(w->there_columns) * (int64_t)w->cell, err);
    if (!give_room(&w->between, &w->between_room, across * length(extent(&w->rows, rows)), err) ||
        !read_box(w, rows, columns, w->between, across, err))
        return false;
    pick(w, rows, columns, across);
    return true;
}

/* A band of chunks after the other, each from left to right. */
static bool read_pieces(cmd_window *w, cmd_error *err)
{
    int64_t all = length(extent(&w->columns, w->there_columns)) * (int64_t)w->cell;

    for (int64_t r = w->there_rows.lo, next; r < w->there_rows.hi; r = next) {
        next = end_of_piece(&w->rows, r, w->there_rows.hi, PIECE / all);
        int64_t high = length(extent(&w->rows, (span){ r, next }));

        for (int64_t c = w->there_columns.lo, stop; c < w->there_columns.hi; c = stop) {
            stop = end_of_piece(&w->columns, c, w->there_columns.hi,
                                PIECE / (high * (int64_t)w->cell));
            if (!read_piece(w, (span){ r, next }, (span){ c, stop }, err))
                return false;
        }
    }
    return true;
}

/* ---- The window ------------------------------------------------------------------------------ */

static int64_t least(int64_t a, int64_t b) { return a < b ? a : b; }

/* From a cell on as much as there may be: whole rows, or a part of one. */
static void place_window(cmd_window *w, int64_t row, int64_t column)
{
    int64_t cells = w->limit / (int64_t)w->cell, columns = w->columns.length;

    if (columns <= cells) {
        int64_t rows = least(w->rows.length - row, cells / columns);

        /* Chunks are not cut in two, as the other half would have to be decoded again. */
        if (w->rows.dense && row + rows < w->rows.length) {
            int64_t end = end_of_piece(&w->rows, row, row + rows, rows * pace(&w->rows));

            rows = end - row;
        }
        w->there_rows = (span){ row, row + rows };
        w->there_columns = (span){ 0, columns };
    } else {
        w->there_rows = (span){ row, row + 1 };
        w->there_columns = (span){ column, least(columns, column + cells) };
    }
}

static bool is_there(const cmd_window *w, int64_t row, int64_t column)
{
    return row >= w->there_rows.lo && row < w->there_rows.hi && column >= w->there_columns.lo &&
           column < w->there_columns.hi;
}

static bool move_window(cmd_window *w, int64_t row, int64_t column, cmd_error *err)
{
    place_window(w, row, column);
    bool ok = give_room(&w->cells, &w->room,
                        length(w->there_rows) * length(w->there_columns) * (int64_t)w->cell, err) &&
              read_pieces(w, err);
    if (!ok)
        w->there_rows = w->there_columns = (span){ 0, 0 };
    return ok;
}

bool cmd_window_cells(const char **cells, int64_t *n, cmd_window *w, int64_t row, int64_t column,
                      cmd_error *err)
{
    if (!is_there(w, row, column) && !move_window(w, row, column, err))
        return false;
    *cells = place_of(w, row, column);
    *n = least(*n, w->there_columns.hi - column);
    return true;
}

static int64_t sensible_limit(void)
{
    int64_t quarter = arras_memory_available() / 4;

    return quarter > PIECE ? quarter : PIECE;
}

bool cmd_window_open(cmd_window **out, arras_source *source, const cmd_item *items, int64_t memory,
                     cmd_error *err)
{
    const arras_store_info *info = arras_source_info(source);
    cmd_window             *w = calloc(1, sizeof *w);
    int                     axes[2] = { -1, -1 };

    if (!w)
        return cmd_fail(err, "out of memory");
    w->source = source;
    w->cell = arras_dtype_size(info->dtype);
    w->limit = memory > 0 ? memory : sensible_limit();
    for (int d = 0; d < info->rank; d++) {
        w->index[d] = items[d].start;
        if (!items[d].is_index) {
            axes[0] = axes[1];
            axes[1] = d;
        }
    }
    w->rows = line_of(info, items, axes[0]);
    w->columns = line_of(info, items, axes[1]);
    *out = w;
    return true;
}

void cmd_window_close(cmd_window *w)
{
    if (!w)
        return;
    free(w->cells);
    free(w->between);
    free(w);
}
