/* picture_figure.c -- draws a figure: words, axes, and either the cells of a matrix with their
 * colour bar or the line of a vector. */
#include "cmd/show/picture_canvas.h"

#include <math.h>
#include <stdlib.h>

static const cmd_rgb paper_colour = { 255, 255, 255 }, ink = { 34, 40, 49 },
                     pale = { 110, 118, 129 }, hair = { 226, 230, 235 };

typedef struct {
    cmd_canvas        *canvas;
    const cmd_picture *picture;
    const cmd_layout  *layout;
} figure;

static void put_line(const figure *f, double x0, double y0, double x1, double y1, double width,
                     cmd_rgb colour)
{
    const cmd_point ends[] = { { x0, y0 }, { x1, y1 } };

    f->canvas->kind->line(f->canvas, 2, ends, width, colour);
}

static void put_words(const figure *f, double x, double y, double size, cmd_anchor anchor,
                      cmd_rgb colour, const char *words)
{
    f->canvas->kind->text(f->canvas, (cmd_point){ x, y }, size, anchor, colour, words);
}

/* ---- Axes ------------------------------------------------------------------------------------ */

/* Where the middle of the cell with this index is, as a part of the axis. */
static double part_of_axis(const cmd_view *v, int axis, double index)
{
    double cell = (index - (double)v->first[axis]) / (double)v->stride[axis];

    return (cell + 0.5) / (double)v->length[axis];
}

static void put_axis_name(const figure *f, double x, double y, cmd_anchor anchor, int axis)
{
    char name[32];

    snprintf(name, sizeof name, "axis %d", f->picture->view.axis[axis]);
    put_words(f, x, y, f->layout->em, anchor, pale, name);
}

static void draw_index_axis_below(const figure *f)
{
    const cmd_view *v = &f->picture->view;
    cmd_box         a = f->layout->area;
    double          em = f->layout->em, y = a.y + a.height;

    for (int i = 0; i < f->layout->across.count; i++) {
        double x = a.x + a.width * part_of_axis(v, v->rank - 1, f->layout->across.at[i]);

        put_line(f, x, y, x, y + 0.3 * em, em / 14, pale);
        put_words(f, x, y + 1.3 * em, em, CMD_CENTRE, ink, f->layout->across.label[i]);
    }
    put_axis_name(f, a.x + a.width / 2, y + 2.7 * em, CMD_CENTRE, v->rank - 1);
}

static void draw_index_axis_left(const figure *f)
{
    const cmd_view *v = &f->picture->view;
    cmd_box         a = f->layout->area;
    double          em = f->layout->em;

    for (int i = 0; i < f->layout->down.count; i++) {
        double y = a.y + a.height * part_of_axis(v, 0, f->layout->down.at[i]);

        put_line(f, a.x - 0.3 * em, y, a.x, y, em / 14, pale);
        put_words(f, a.x - 0.6 * em, y + 0.35 * em, em, CMD_RIGHT, ink, f->layout->down.label[i]);
    }
    put_axis_name(f, a.x - 0.6 * em, a.y - 0.8 * em, CMD_RIGHT, 0);
}

static void draw_frame(const figure *f, cmd_box a)
{
    double          width = f->layout->em / 14, x = a.x + a.width, y = a.y + a.height;
    const cmd_point corners[] = { { a.x, a.y }, { x, a.y }, { x, y }, { a.x, y }, { a.x, a.y } };

    f->canvas->kind->line(f->canvas, 5, corners, width, pale);
}

static void draw_words(const figure *f)
{
    const cmd_picture *p = f->picture;
    double             em = f->layout->em, x = f->layout->area.x;
    char               summary[256];

    cmd_picture_summary(summary, sizeof summary, p);
    put_words(f, x, 1.7 * em, 1.2 * em, CMD_LEFT, ink, p->title);
    put_words(f, x, 3.1 * em, 0.9 * em, CMD_LEFT, pale, summary);
    if (p->note[0])
        put_words(f, x, f->layout->height - 0.8 * em, 0.9 * em, CMD_LEFT, pale, p->note);
}

/* ---- Matrices -------------------------------------------------------------------------------- */

bool cmd_raster_of(cmd_raster *out, const cmd_picture *p, int width, int height, cmd_error *err)
{
    cmd_field field;

    if (!cmd_field_new(&field, &p->view, height, width, err))
        return false;
    if (!cmd_raster_new(out, width, height, err)) {
        cmd_field_free(&field);
        return false;
    }
    for (size_t i = 0; i < (size_t)width * (size_t)height; i++)
        out->pixels[i] =
            cmd_palette_at(&p->scale.palette, cmd_scale_place(&p->scale, field.cells[i]));
    cmd_field_free(&field);
    return true;
}

static int pixels_for(const figure *f, double size, int64_t cells)
{
    return f->canvas->kind->stretches && (double)cells < size ? (int)cells : (int)size;
}

static bool draw_cells(const figure *f, cmd_error *err)
{
    const cmd_picture *p = f->picture;
    cmd_box            a = f->layout->area;
    cmd_raster         raster;
    bool               ok;

    if (!cmd_raster_of(&raster, p, pixels_for(f, a.width, cmd_view_columns(&p->view)),
                       pixels_for(f, a.height, cmd_view_rows(&p->view)), err))
        return false;
    ok = f->canvas->kind->image(f->canvas, a, &raster, err);
    cmd_raster_free(&raster);
    return ok;
}

static bool draw_gradient(const figure *f, cmd_box bar, cmd_error *err)
{
    int        height = f->canvas->kind->stretches ? CMD_COLOURS : (int)bar.height;
    int        width = f->canvas->kind->stretches ? 1 : (int)bar.width;
    cmd_raster raster;
    bool       ok;

    if (!cmd_raster_new(&raster, width, height, err))
        return false;
    for (int y = 0; y < height; y++)
        for (int x = 0; x < width; x++)
            raster.pixels[(size_t)y * (size_t)width + (size_t)x] =
                cmd_palette_at(&f->picture->scale.palette, 1 - (y + 0.5) / height);
    ok = f->canvas->kind->image(f->canvas, bar, &raster, err);
    cmd_raster_free(&raster);
    return ok;
}

static bool draw_colour_bar(const figure *f, cmd_error *err)
{
    const cmd_ticks *t = &f->layout->scale;
    cmd_box          a = f->layout->area;
    double           em = f->layout->em;
    cmd_box          bar = { a.x + a.width + round(1.2 * em), a.y, round(em), a.height };

    if (!draw_gradient(f, bar, err))
        return false;
    for (int i = 0; i < t->count; i++) {
        double part = cmd_scale_place(&f->picture->scale, t->at[i]);
        double x = bar.x + bar.width, y = bar.y + bar.height * (1 - part);

        put_line(f, x, y, x + 0.3 * em, y, em / 14, pale);
        put_words(f, x + 0.6 * em, y + 0.35 * em, em, CMD_LEFT, ink, t->label[i]);
    }
    draw_frame(f, bar);
    return true;
}

/* ---- Vectors --------------------------------------------------------------------------------- */

/* Strokes that hang together are one line. */
typedef struct {
    const figure *figure;
    int64_t       count, room;
    cmd_point    *points;
} thread;

static void end_thread(thread *t)
{
    const figure      *f = t->figure;
    const cmd_palette *palette = &f->picture->scale.palette;
    bool               dot =
        t->count == 2 && t->points[0].x == t->points[1].x && t->points[0].y == t->points[1].y;

    if (t->count > 0)
        f->canvas->kind->line(f->canvas, dot ? 1 : t->count, t->points,
                              f->layout->em / (dot ? 4 : 8), palette->colours[CMD_COLOURS * 2 / 5]);
    t->count = 0;
}

static void add_stroke(void *user, double x0, double y0, double x1, double y1)
{
    thread         *t = user;
    cmd_box         a = t->figure->layout->area;
    const cmd_point from = { a.x + x0 * a.width, a.y + (1 - y0) * a.height };
    const cmd_point to = { a.x + x1 * a.width, a.y + (1 - y1) * a.height };
    const cmd_point last = t->count > 0 ? t->points[t->count - 1] : (cmd_point){ NAN, NAN };

    if (t->count + 2 > t->room || from.x != last.x || from.y != last.y) {
        end_thread(t);
        t->points[t->count++] = from;
    }
    t->points[t->count++] = to;
}

static bool draw_curve(const figure *f, cmd_error *err)
{
    cmd_curve curve;
    thread    t = { .figure = f };

    if (!cmd_curve_new(&curve, &f->picture->view, (int)f->layout->area.width, err))
        return false;
    t.room = curve.count + 2;
    t.points = calloc((size_t)t.room, sizeof *t.points);
    if (t.points) {
        cmd_curve_walk(&curve, &f->picture->scale, add_stroke, &t);
        end_thread(&t);
        free(t.points);
    }
    cmd_curve_free(&curve);
    return t.points || cmd_fail(err, "out of memory for a line of %lld points", (long long)t.room);
}

static void draw_value_axis(const figure *f)
{
    const cmd_ticks *t = &f->layout->scale;
    cmd_box          a = f->layout->area;
    double           em = f->layout->em;

    for (int i = 0; i < t->count; i++) {
        double y = a.y + a.height * (1 - cmd_scale_place(&f->picture->scale, t->at[i]));

        put_line(f, a.x, y, a.x + a.width, y, em / 14, hair);
        put_words(f, a.x - 0.6 * em, y + 0.35 * em, em, CMD_RIGHT, ink, t->label[i]);
    }
}

/* ---- All ------------------------------------------------------------------------------------- */

static bool draw_contents(const figure *f, cmd_error *err)
{
    return f->picture->view.rank == 2 ? draw_cells(f, err) : draw_curve(f, err);
}

bool cmd_figure_draw(cmd_canvas *c, const cmd_picture *p, const cmd_layout *l, bool bare,
                     cmd_error *err)
{
    const figure f = { c, p, l };

    c->kind->rectangle(c, (cmd_box){ 0, 0, l->width, l->height }, paper_colour);
    if (bare)
        return draw_contents(&f, err);
    draw_words(&f);
    if (p->view.rank == 1)
        draw_value_axis(&f);
    if (!draw_contents(&f, err))
        return false;
    draw_frame(&f, l->area);
    draw_index_axis_below(&f);
    if (p->view.rank == 1)
        return true;
    draw_index_axis_left(&f);
    return draw_colour_bar(&f, err);
}
