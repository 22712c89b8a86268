/* print_array.c -- the layout of an array's text: brackets, rows, lines, and what is left out. */
#include "cmd/io/print_array.h"

#include <inttypes.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "cmd/io/print_cells.h"

#define THRESHOLD 1000 /* cells; more are shortened */
#define EDGE 3         /* cells shown at each end of an axis that is shortened */
#define PLAIN_WIDTH 75

int cmd_print_width(FILE *file)
{
    struct winsize size;
    bool           known = ioctl(fileno(file), TIOCGWINSZ, &size) == 0 && size.ws_col >= 20;

    return known ? size.ws_col : PLAIN_WIDTH;
}

void cmd_print_type(FILE *file, const cmd_array *a)
{
    fprintf(file, "%s[", arras_dtype_name(a->dtype));
    for (int d = 0; d < a->rank; d++)
        fprintf(file, d ? ", %" PRId64 : "%" PRId64, a->shape[d]);
    fputc(']', file);
}

typedef struct {
    FILE            *file;
    const cmd_array *array;                 /* what is in memory of it */
    int64_t          steps[ARRAS_MAX_RANK]; /* bytes from one cell of an axis to the next */
    bool             cut[ARRAS_MAX_RANK];   /* only the ends of the axis are shown */
    int              width;
    int              column; /* characters of this line, with spaces that are still owed */
    int              spaces; /* owed: they are printed only if something follows on the line */
    cmd_cell_format  format;
} printer;

/* The next index to show after i; dots: some are left out between the two. */
static int64_t next_shown(const printer *p, int axis, int64_t i, bool *dots)
{
    *dots = p->cut[axis] && i == EDGE - 1;
    return *dots ? p->array->shape[axis] - EDGE : i + 1;
}

static void visit(printer *p, int axis, const char *at,
                  void (*function)(cmd_cell_format *f, const void *cell))
{
    bool dots;

    if (axis == p->array->rank) {
        function(&p->format, at);
        return;
    }
    for (int64_t i = 0; i < p->array->shape[axis]; i = next_shown(p, axis, i, &dots))
        visit(p, axis + 1, at + i * p->steps[axis], function);
}

static void put(printer *p, const char *text)
{
    for (; *text; text++, p->column++) {
        if (*text == ' ') {
            p->spaces++;
            continue;
        }
        for (; p->spaces > 0; p->spaces--)
            fputc(' ', p->file);
        fputc(*text, p->file);
    }
}

/* A new line, as far to the right as the cells of the innermost brackets so far. */
static void new_line(printer *p, int indent)
{
    fputc('\n', p->file);
    p->column = p->spaces = indent;
}

/* One cell or the dots in a row; on the next line if there is no room on this one. */
static void put_word(printer *p, const char *word)
{
    int rank = p->array->rank;

    if (p->column > rank && p->column + (int)strlen(word) > p->width - rank)
        new_line(p, rank);
    put(p, word);
}

static void put_row(printer *p, const char *at)
{
    int     axis = p->array->rank - 1;
    int64_t length = p->array->shape[axis];
    char    word[CMD_CELL_ROOM];
    bool    dots;

    for (int64_t i = 0; i < length;) {
        cmd_cell_print(word, &p->format, at + i * p->steps[axis]);
        put_word(p, word);
        i = next_shown(p, axis, i, &dots);
        if (i < length)
            put(p, " ");
        if (dots) {
            put_word(p, "...");
            put(p, " ");
        }
    }
}

static void put_gap(printer *p, int axis)
{
    for (int i = axis + 2; i < p->array->rank; i++)
        fputc('\n', p->file);
    p->spaces = 0;
    new_line(p, axis + 1);
}

static void put_axis(printer *p, int axis, const char *at)
{
    int64_t length = p->array->shape[axis];
    bool    dots;

    put(p, "[");
    if (axis == p->array->rank - 1) {
        put_row(p, at);
        put(p, "]");
        return;
    }
    for (int64_t i = 0; i < length;) {
        put_axis(p, axis + 1, at + i * p->steps[axis]);
        i = next_shown(p, axis, i, &dots);
        if (dots) {
            put_gap(p, axis);
            put(p, "...");
        }
        if (i < length)
            put_gap(p, axis);
    }
    put(p, "]");
}

/* `shape`: of the array, of which `a` may have only the ends of axes that are long. */
static void print(FILE *file, const cmd_array *a, const int64_t *shape, int64_t count, int width)
{
    printer p = { .file = file, .array = a, .width = width, .format = cmd_cells_start(a->dtype) };
    char    alone[CMD_CELL_ROOM];

    if (count == 0) {
        fputs("[]", file);
        return;
    }
    if (a->rank == 0) {
        cmd_cell_alone(alone, a->dtype, a->data);
        fputs(alone, file);
        return;
    }
    for (int d = 0; d < a->rank; d++)
        p.cut[d] = count > THRESHOLD && shape[d] > 2 * EDGE;
    cmd_array_steps(p.steps, a);
    visit(&p, 0, a->data, cmd_cells_survey);
    cmd_cells_decide(&p.format);
    visit(&p, 0, a->data, cmd_cells_measure);
    cmd_cells_fit(&p.format);
    put_axis(&p, 0, a->data);
}

void cmd_print_array(FILE *file, const cmd_array *a, int width)
{
    print(file, a, a->shape, cmd_array_count(a), width);
}

/* ---- In files -------------------------------------------------------------------------------- */

/* Cells of one corner: of each axis from `lo` on, as many as `n` says, to where they are in `to`.
 */
static bool read_corner(cmd_array *to, arras_source *source, const int64_t *lo, const int64_t *at,
                        const int64_t *n, cmd_error *err)
{
    int64_t     hi[ARRAS_MAX_RANK], steps[ARRAS_MAX_RANK];
    int64_t     step = (int64_t)arras_dtype_size(to->dtype);
    char       *cells = to->data;
    arras_error why;

    for (int d = to->rank - 1; d >= 0; d--) {
        hi[d] = lo[d] + n[d];
        steps[d] = step;
        cells += at[d] * step;
        step *= to->shape[d];
    }
    return arras_source_read(source, lo, hi, cells, steps, 0, &why) == ARRAS_OK ||
           cmd_fail(err, "%s", why.text);
}

/* Both ends of the axes that are cut, all of the others. */
static bool read_corners(cmd_array *to, const cmd_array *a, int axis, int64_t *lo, int64_t *at,
                         int64_t *n, cmd_error *err)
{
    if (axis == a->rank)
        return read_corner(to, a->stored, lo, at, n, err);
    lo[axis] = at[axis] = 0;
    n[axis] = to->shape[axis];
    if (to->shape[axis] == a->shape[axis])
        return read_corners(to, a, axis + 1, lo, at, n, err);
    n[axis] = EDGE;
    if (!read_corners(to, a, axis + 1, lo, at, n, err))
        return false;
    at[axis] = EDGE;
    lo[axis] = a->shape[axis] - EDGE;
    return read_corners(to, a, axis + 1, lo, at, n, err);
}

bool cmd_print_stored(FILE *file, const cmd_array *a, int width, cmd_error *err)
{
    int64_t count = cmd_array_count(a), shape[ARRAS_MAX_RANK], lo[ARRAS_MAX_RANK],
            at[ARRAS_MAX_RANK], n[ARRAS_MAX_RANK];
    cmd_array shown;
    bool      shortened = count < 0 || count > THRESHOLD;

    for (int d = 0; d < a->rank; d++)
        shape[d] = shortened && a->shape[d] > 2 * EDGE ? 2 * EDGE : a->shape[d];
    if (!cmd_array_new(&shown, a->dtype, a->rank, shape))
        return cmd_fail(err, "out of memory for the cells that are printed");
    bool ok = count == 0 || read_corners(&shown, a, 0, lo, at, n, err);
    if (ok)
        print(file, &shown, a->shape, count < 0 ? INT64_MAX : count, width);
    cmd_array_free(&shown);
    return ok;
}
