/* picture_layout.c -- where the parts of a figure go: title, axes, cells, colour bar. */
#include "cmd/show/picture_canvas.h"

#include <math.h>

/* A figure that may choose its size gives its cells this much room. */
enum { ROOM_ACROSS = 1240, ROOM_DOWN = 860, PLOT_DOWN = 620, USUAL_EM = 24, SMALLEST_AREA = 16 };

/* Room around the cells, in pixels. */
typedef struct {
    double left, top, right, bottom;
} margins;

static double widest(const cmd_ticks *t, double em)
{
    double width = 0;

    for (int i = 0; i < t->count; i++)
        width = fmax(width, cmd_text_width(t->label[i], em));
    return width;
}

static void index_ticks(cmd_ticks *out, const cmd_view *v, int axis, int most)
{
    double first = (double)v->first[axis];
    double last = first + (double)((v->length[axis] - 1) * v->stride[axis]);

    cmd_ticks_between(out, fmin(first, last), fmax(first, last), most, true);
}

static void choose_ticks(cmd_layout *l, const cmd_picture *p, double width, double height)
{
    int across = (int)(width / (5 * l->em)) + 1, down = (int)(height / (2.2 * l->em)) + 1;

    index_ticks(&l->across, &p->view, p->view.rank - 1, across);
    if (p->view.rank == 2)
        index_ticks(&l->down, &p->view, 0, down);
    cmd_scale_ticks(&l->scale, &p->scale, down < 3 ? 3 : down);
}

static margins margins_of(const cmd_layout *l, const cmd_picture *p)
{
    double em = l->em, labels = widest(&l->scale, em);
    bool   matrix = p->view.rank == 2;

    return (margins){
        (matrix ? fmax(widest(&l->down, em), cmd_text_width("axis 0", em)) : labels) + 2.2 * em,
        4.4 * em,
        matrix ? labels + 4.4 * em : 1.8 * em,
        (p->note[0] ? 5.2 : 3.6) * em,
    };
}

/* The words above and below need room too. */
static double widest_words(const cmd_picture *p, double em)
{
    char summary[256];

    cmd_picture_summary(summary, sizeof summary, p);
    return fmax(cmd_text_width(p->title, 1.2 * em),
                fmax(cmd_text_width(summary, em), cmd_text_width(p->note, em)));
}

static bool check_size(int width, int height, cmd_error *err)
{
    if (width >= 1 && width <= CMD_MAX_SIDE && height >= 1 && height <= CMD_MAX_SIDE &&
        (int64_t)width * height <= CMD_MAX_PIXELS)
        return true;
    return cmd_fail(err,
                    "a picture of %d x %d pixels: sides must be 1 to %d, and %d pixels are the "
                    "most; --size says how large it should be",
                    width, height, CMD_MAX_SIDE, CMD_MAX_PIXELS);
}

static int clip_size(int64_t size)
{
    return size > CMD_MAX_SIDE + 1 ? CMD_MAX_SIDE + 1 : (int)size;
}

/* Nothing but cells: as many pixels as there are cells, or what was asked for. */
static bool lay_out_bare(cmd_layout *l, const cmd_picture *p, const cmd_paper *paper,
                         cmd_error *err)
{
    bool matrix = p->view.rank == 2;

    l->width = paper->width ? paper->width
               : matrix     ? clip_size(cmd_view_columns(&p->view))
                            : ROOM_ACROSS;
    l->height = paper->height ? paper->height
                : matrix      ? clip_size(cmd_view_rows(&p->view))
                              : PLOT_DOWN;
    l->em = fmax(USUAL_EM * fmin(l->width, l->height) / ROOM_DOWN, 8);
    l->area = (cmd_box){ 0, 0, l->width, l->height };
    return check_size(l->width, l->height, err);
}

static void fit_area(cmd_layout *l, const cmd_picture *p, double width, double height)
{
    int columns = (int)width, rows = (int)height;

    if (p->view.rank == 2)
        cmd_picture_fit(&columns, &rows, &p->view, (int)width, (int)height);
    l->area.width = columns;
    l->area.height = rows;
}

/* The paper takes the size of the picture. */
static void lay_out_freely(cmd_layout *l, const cmd_picture *p)
{
    margins m;

    l->em = USUAL_EM;
    fit_area(l, p, ROOM_ACROSS, p->view.rank == 2 ? ROOM_DOWN : PLOT_DOWN);
    choose_ticks(l, p, l->area.width, l->area.height);
    m = margins_of(l, p);
    l->area.x = round(m.left);
    l->area.y = round(m.top);
    l->width = (int)ceil(m.left + fmax(l->area.width + m.right, widest_words(p, l->em) + l->em));
    l->height = (int)ceil(m.top + l->area.height + m.bottom);
}

/* The picture takes the size of the paper; what is left over goes around it. */
static bool lay_out_within(cmd_layout *l, const cmd_picture *p, const cmd_paper *paper,
                           cmd_error *err)
{
    double  width = paper->width, height = paper->height, left, down;
    margins m;

    l->width = paper->width;
    l->height = paper->height;
    l->em = fmin(fmax(fmin(width / 60, height / 44), 9), 60);
    choose_ticks(l, p, width * 0.7, height * 0.7);
    m = margins_of(l, p);
    left = width - m.left - m.right;
    down = height - m.top - m.bottom;
    if (left < SMALLEST_AREA || down < SMALLEST_AREA)
        return cmd_fail(err,
                        "%d x %d pixels leave no room for the cells; take more, or leave the axes "
                        "away with --bare",
                        paper->width, paper->height);
    fit_area(l, p, left, down);
    choose_ticks(l, p, l->area.width, l->area.height);
    l->area.x = round(m.left + (left - l->area.width) / 2);
    l->area.y = round(m.top + (down - l->area.height) / 2);
    return true;
}

bool cmd_layout_of(cmd_layout *out, const cmd_picture *p, const cmd_paper *paper, cmd_error *err)
{
    *out = (cmd_layout){ 0 };
    if (paper->width && !check_size(paper->width, paper->height, err))
        return false;
    if (paper->bare)
        return lay_out_bare(out, p, paper, err);
    if (paper->width)
        return lay_out_within(out, p, paper, err);
    lay_out_freely(out, p);
    return check_size(out->width, out->height, err);
}
