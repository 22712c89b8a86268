/* print_array.c -- the layout of an array's text: brackets, rows, lines, and what is left out. */
#include "cmd/print_array.h"

#include <inttypes.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "cmd/print_cells.h"

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
    const cmd_array *array;
    int64_t          steps[ARRAS_MAX_RANK]; /* bytes from one cell of an axis to the next */
    bool             shortened;
    int              width;
    int              column; /* characters of this line, with spaces that are still owed */
    int              spaces; /* owed: they are printed only if something follows on the line */
    cmd_cell_format  format;
} printer;

static bool cuts(const printer *p, int axis)
{
    return p->shortened && p->array->shape[axis] > 2 * EDGE;
}

/* The next index to show after i; dots: some are left out between the two. */
static int64_t next_shown(const printer *p, int axis, int64_t i, bool *dots)
{
    *dots = cuts(p, axis) && i == EDGE - 1;
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

static void set_steps(printer *p)
{
    int64_t step = (int64_t)arras_dtype_size(p->array->dtype);

    for (int d = p->array->rank - 1; d >= 0; d--) {
        p->steps[d] = step;
        step *= p->array->shape[d];
    }
}

void cmd_print_array(FILE *file, const cmd_array *a, int width)
{
    int64_t count = cmd_array_count(a);
    printer p = { .file = file,
                  .array = a,
                  .shortened = count > THRESHOLD,
                  .width = width,
                  .format = cmd_cells_start(a->dtype) };
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
    set_steps(&p);
    visit(&p, 0, a->data, cmd_cells_survey);
    cmd_cells_decide(&p.format);
    visit(&p, 0, a->data, cmd_cells_measure);
    cmd_cells_fit(&p.format);
    put_axis(&p, 0, a->data);
}
