/* plot_terminal.c -- a line in a terminal: dots of Braille, eight to a character; in plain ASCII
 * two, one above the other. */
#include "cmd/show/picture.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { FEWEST_COLUMNS = 8 }; /* however long the labels are */

typedef struct {
    int      columns, rows; /* characters */
    int      across, down;  /* dots in each */
    uint8_t *dots;          /* a character's dots, row by row: bit y * across + x */
} grid;

static void set_dot(grid *g, int x, int y)
{
    int at = y / g->down * g->columns + x / g->across;

    g->dots[at] |= (uint8_t)(1 << (y % g->down * g->across + x % g->across));
}

static void draw_stroke(void *user, double x0, double y0, double x1, double y1)
{
    grid  *g = user;
    double right = g->columns * g->across - 1, bottom = g->rows * g->down - 1;
    double ax = x0 * right, ay = (1 - y0) * bottom, bx = x1 * right, by = (1 - y1) * bottom;
    int    steps = (int)ceil(fmax(fabs(bx - ax), fabs(by - ay)));

    for (int i = 0; i <= steps; i++) {
        double part = steps ? (double)i / steps : 0;

        set_dot(g, (int)(ax + part * (bx - ax) + 0.5), (int)(ay + part * (by - ay) + 0.5));
    }
}

/* Braille numbers its dots down the left column (1, 2, 3), down the right (4, 5, 6), then the
 * lowest row (7, 8); the character is U+2800 plus a bit for each. */
static void put_braille(FILE *to, uint8_t dots)
{
    static const int bit_of[] = { 0, 3, 1, 4, 2, 5, 6, 7 };
    int              code = 0;

    for (int i = 0; i < 8; i++)
        code |= (dots >> i & 1) << bit_of[i];
    fprintf(to, "%c%c%c", 0xe2, 0xa0 | code >> 6, 0x80 | (code & 0x3f));
}

static void put_cell(FILE *to, const grid *g, int at)
{
    if (g->across == 2)
        put_braille(to, g->dots[at]);
    else
        putc(" '.:"[g->dots[at]], to);
}

/* The tick whose value is drawn in a row of characters; -1 when there is none. */
static int tick_in_row(const cmd_ticks *ticks, const cmd_scale *s, int row, int rows)
{
    for (int i = 0; i < ticks->count; i++)
        if ((int)((1 - cmd_scale_place(s, ticks->at[i])) * (rows - 1) + 0.5) == row)
            return i;
    return -1;
}

static void put_rows(FILE *to, const grid *g, const cmd_picture *p, const cmd_ticks *ticks,
                     const cmd_screen *screen, int label)
{
    bool           plain = screen->ink == CMD_PLAIN;
    const cmd_rgb *line = &p->scale.palette.colours[CMD_COLOURS * 3 / 5];

    for (int row = 0; row < g->rows; row++) {
        int tick = tick_in_row(ticks, &p->scale, row, g->rows);

        fprintf(to, "%*s %s", label, tick < 0 ? "" : ticks->label[tick],
                plain ? (tick < 0 ? "|" : "+") : (tick < 0 ? "│" : "┤"));
        cmd_put_colours(to, screen->ink, line, NULL);
        for (int i = 0; i < g->columns; i++)
            put_cell(to, g, row * g->columns + i);
        cmd_put_reset(to, screen->ink);
        putc('\n', to);
    }
}

/* ---- The axis below -------------------------------------------------------------------------- */

/* Indices in the order in which they stand, and the column of each. */
typedef struct {
    cmd_ticks ticks;
    int       column[CMD_MAX_TICKS];
} index_axis;

static index_axis index_axis_of(const cmd_view *v, int columns)
{
    double     first = (double)v->first[0], stride = (double)v->stride[0];
    double     length = (double)v->length[0], last = first + (length - 1) * stride;
    index_axis a;
    cmd_ticks  up;

    cmd_ticks_between(&up, fmin(first, last), fmax(first, last), columns / 12 + 1, true);
    a.ticks.count = up.count;
    for (int i = 0; i < up.count; i++) {
        int    from = stride > 0 ? i : up.count - 1 - i;
        double cell = (up.at[from] - first) / stride;

        memcpy(a.ticks.label[i], up.label[from], sizeof up.label[from]);
        a.column[i] = (int)((cell + 0.5) / length * (columns - 1) + 0.5);
    }
    return a;
}

static void put_notches(FILE *to, const index_axis *a, int columns, bool plain)
{
    for (int i = 0, tick = 0; i < columns; i++) {
        bool notch = tick < a->ticks.count && a->column[tick] == i;

        fputs(plain ? (notch ? "+" : "-") : (notch ? "┬" : "─"), to);
        tick += notch;
    }
    putc('\n', to);
}

/* None over another. */
static void put_indices(FILE *to, const index_axis *a, int columns)
{
    int filled = 0;

    for (int i = 0; i < a->ticks.count; i++) {
        int length = (int)strlen(a->ticks.label[i]), at = a->column[i] - length / 2;

        at = at < 0 ? 0 : at > columns - length ? columns - length : at;
        if (at < filled + (i > 0))
            continue;
        fprintf(to, "%*s%s", at - filled, "", a->ticks.label[i]);
        filled = at + length;
    }
    putc('\n', to);
}

static void put_axis(FILE *to, const cmd_view *v, int columns, int label, bool plain)
{
    index_axis a = index_axis_of(v, columns);

    fprintf(to, "%*s %s", label, "", plain ? "+" : "└");
    put_notches(to, &a, columns, plain);
    fprintf(to, "%*s", label + 2, "");
    put_indices(to, &a, columns);
}

/* ---- All ------------------------------------------------------------------------------------- */

static int longest_label(const cmd_ticks *ticks)
{
    int longest = 0;

    for (int i = 0; i < ticks->count; i++)
        if ((int)strlen(ticks->label[i]) > longest)
            longest = (int)strlen(ticks->label[i]);
    return longest;
}

bool cmd_plot_print(FILE *to, const cmd_picture *p, const cmd_screen *screen, int rows,
                    cmd_error *err)
{
    bool      plain = screen->ink == CMD_PLAIN;
    cmd_ticks ticks;
    cmd_curve curve;

    cmd_scale_ticks(&ticks, &p->scale, rows / 3 + 1);
    int  label = longest_label(&ticks), room = screen->width - label - 2;
    int  columns = room > FEWEST_COLUMNS ? room : FEWEST_COLUMNS;
    grid g = { columns, rows, plain ? 1 : 2, plain ? 2 : 4, NULL };
    g.dots = calloc((size_t)columns * (size_t)rows, 1);
    if (!g.dots)
        return cmd_fail(err, "out of memory for a plot of %d x %d characters", columns, rows);
    if (!cmd_curve_new(&curve, &p->view, columns * g.across, err)) {
        free(g.dots);
        return false;
    }
    cmd_curve_walk(&curve, &p->scale, draw_stroke, &g);
    put_rows(to, &g, p, &ticks, screen, label);
    put_axis(to, &p->view, columns, label, plain);
    cmd_curve_free(&curve);
    free(g.dots);
    return true;
}
