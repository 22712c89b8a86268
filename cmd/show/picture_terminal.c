/* picture_terminal.c -- a matrix in a terminal, with its scale and its words. */
#include "cmd/show/picture.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum {
    WORD_LINES = 5,   /* title, scale, statistics, note, and one for the prompt */
    LARGEST_CELL = 8, /* pixels: a small matrix need not fill the screen */
    PLOT_ROWS = 16,
    LONGEST_SCALE = 40,
};

static const char ramp[] = " .:-=+*#%@";

/* ---- Colours --------------------------------------------------------------------------------- */

static void put_colour(FILE *to, cmd_ink ink, int layer, const cmd_rgb *c)
{
    if (ink == CMD_COLOURS_ALL)
        fprintf(to, "\033[%d;2;%d;%d;%dm", layer, c->r, c->g, c->b);
    else
        fprintf(to, "\033[%d;5;%dm", layer, cmd_colour_of_256(*c));
}

void cmd_put_colours(FILE *to, cmd_ink ink, const cmd_rgb *letter, const cmd_rgb *ground)
{
    if (ink == CMD_PLAIN)
        return;
    if (letter)
        put_colour(to, ink, 38, letter);
    if (ground)
        put_colour(to, ink, 48, ground);
}

void cmd_put_reset(FILE *to, cmd_ink ink)
{
    if (ink != CMD_PLAIN)
        fputs("\033[0m", to);
}

static bool same_colour(cmd_rgb a, cmd_rgb b) { return a.r == b.r && a.g == b.g && a.b == b.b; }

/* ---- Cells ----------------------------------------------------------------------------------- */

static cmd_rgb colour_at(const cmd_picture *p, const cmd_field *f, int row, int column)
{
    double value = f->cells[(size_t)row * (size_t)f->columns + (size_t)column];

    return cmd_palette_at(&p->scale.palette, cmd_scale_place(&p->scale, value));
}

/* Two rows of cells to a line: the upper half of a character is a letter, the lower its ground.
 * Colours are written where they change. */
static void put_half_blocks(FILE *to, const cmd_picture *p, const cmd_field *f, int row,
                            cmd_ink ink)
{
    bool    pair = row + 1 < f->rows;
    cmd_rgb upper = { 0 }, lower = { 0 };

    for (int i = 0; i < f->columns; i++) {
        cmd_rgb above = colour_at(p, f, row, i), below = colour_at(p, f, row + pair, i);

        if (i == 0 || !same_colour(above, upper))
            cmd_put_colours(to, ink, &above, NULL);
        if (pair && (i == 0 || !same_colour(below, lower)))
            cmd_put_colours(to, ink, NULL, &below);
        fputs("▀", to);
        upper = above;
        lower = below;
    }
    cmd_put_reset(to, ink);
}

static char letter_of(const cmd_picture *p, double value)
{
    double place = cmd_scale_place(&p->scale, value);
    int    last = (int)sizeof ramp - 2;

    if (isnan(place))
        return '?';
    return ramp[(int)(fmin(fmax(place, 0), 1) * last + 0.5)];
}

static void put_letters(FILE *to, const cmd_picture *p, const cmd_field *f, int row)
{
    for (int i = 0; i < f->columns; i++)
        putc(letter_of(p, f->cells[(size_t)row * (size_t)f->columns + (size_t)i]), to);
}

static bool put_matrix(FILE *to, const cmd_picture *p, const cmd_screen *screen, cmd_error *err)
{
    bool      plain = screen->ink == CMD_PLAIN;
    int64_t   across = cmd_view_columns(&p->view), down = cmd_view_rows(&p->view);
    int       width = screen->width, height = 2 * (screen->height - WORD_LINES), columns, rows;
    cmd_field f;

    if (across < width / LARGEST_CELL && down < height / LARGEST_CELL) {
        width = (int)across * LARGEST_CELL;
        height = (int)down * LARGEST_CELL;
    }
    cmd_picture_fit(&columns, &rows, &p->view, width, height);
    /* A character is two pixels high. */
    if (!cmd_field_new(&f, &p->view, plain ? (rows + 1) / 2 : rows, columns, err))
        return false;
    for (int row = 0; row < f.rows; row += plain ? 1 : 2) {
        if (plain)
            put_letters(to, p, &f, row);
        else
            put_half_blocks(to, p, &f, row, screen->ink);
        putc('\n', to);
    }
    cmd_field_free(&f);
    return true;
}

/* ---- Words ----------------------------------------------------------------------------------- */

static const char *origin_of(const cmd_scale *s)
{
    if (s->truth)
        return "";
    return s->given               ? "  (range given)"
           : s->palette.diverging ? "  (0 in the middle)"
                                  : "  (min to max)";
}

static void put_scale(FILE *to, const cmd_picture *p, const cmd_screen *screen)
{
    cmd_number lo = cmd_number_of(p->scale.lo), hi = cmd_number_of(p->scale.hi);
    int        room = screen->width - (int)strlen(lo.text) - (int)strlen(hi.text) - 4;
    int        length = room < LONGEST_SCALE ? room : LONGEST_SCALE;

    fprintf(to, "%s ", p->scale.truth ? "false" : lo.text);
    if (screen->ink == CMD_PLAIN)
        fprintf(to, "[%s]", ramp);
    for (int i = 0; screen->ink != CMD_PLAIN && i < length; i++) {
        cmd_rgb c = cmd_palette_at(&p->scale.palette, (i + 0.5) / length);

        cmd_put_colours(to, screen->ink, NULL, &c);
        putc(' ', to);
    }
    cmd_put_reset(to, screen->ink);
    fprintf(to, " %s%s\n", p->scale.truth ? "true" : hi.text, origin_of(&p->scale));
}

bool cmd_picture_print(FILE *to, const cmd_picture *p, const cmd_screen *screen, cmd_error *err)
{
    int  rows = screen->height - WORD_LINES - 1;
    char summary[256];
    bool ok;

    fprintf(to, "%s\n", p->title);
    if (p->view.rank == 1) {
        ok = cmd_plot_print(to, p, screen, rows < PLOT_ROWS ? rows : PLOT_ROWS, err);
    } else {
        ok = put_matrix(to, p, screen, err);
        if (ok)
            put_scale(to, p, screen);
    }
    if (!ok)
        return false;
    cmd_picture_summary(summary, sizeof summary, p);
    fprintf(to, "%s\n", summary);
    if (p->note[0])
        fprintf(to, "(%s)\n", p->note);
    return true;
}
