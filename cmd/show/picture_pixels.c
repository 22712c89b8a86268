/* picture_pixels.c -- a canvas of pixels, with smooth lines and letters. */
#include "cmd/show/picture_canvas.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

bool cmd_raster_new(cmd_raster *out, int width, int height, cmd_error *err)
{
    cmd_raster r = { width, height, calloc((size_t)width * (size_t)height, sizeof *r.pixels) };

    if (!r.pixels)
        return cmd_fail(err, "out of memory for a picture of %d x %d pixels", width, height);
    *out = r;
    return true;
}

void cmd_raster_free(cmd_raster *r)
{
    free(r->pixels);
    *r = (cmd_raster){ 0 };
}

static cmd_pixel_canvas *pixels_of(cmd_canvas *c) { return (cmd_pixel_canvas *)(void *)c; }

/* ---- Shapes ---------------------------------------------------------------------------------- */

typedef struct {
    int left, top, right, bottom; /* right and bottom are outside */
} bounds;

static int clip(double value, int most) { return value < 0 ? 0 : value > most ? most : (int)value; }

static bounds bounds_of(const cmd_pixel_canvas *c, double left, double top, double right,
                        double bottom)
{
    int width = c->base.width, height = c->base.height;

    return (bounds){ clip(floor(left), width), clip(floor(top), height), clip(ceil(right), width),
                     clip(ceil(bottom), height) };
}

static void rectangle(cmd_canvas *canvas, cmd_box box, cmd_rgb colour)
{
    cmd_pixel_canvas *c = pixels_of(canvas);
    bounds            b = bounds_of(c, round(box.x), round(box.y), round(box.x + box.width),
                                    round(box.y + box.height));

    for (int y = b.top; y < b.bottom; y++)
        for (int x = b.left; x < b.right; x++)
            c->raster.pixels[(size_t)y * (size_t)canvas->width + (size_t)x] = colour;
}

static double distance(double px, double py, double ax, double ay, double bx, double by)
{
    double dx = bx - ax, dy = by - ay, length = dx * dx + dy * dy;
    double t = length > 0 ? ((px - ax) * dx + (py - ay) * dy) / length : 0;

    t = fmin(fmax(t, 0), 1);
    return hypot(px - ax - t * dx, py - ay - t * dy);
}

typedef struct {
    cmd_pixel_canvas *canvas;
    double            half;                     /* of the width of a stroke */
    double            left, top, right, bottom; /* what was covered */
} brush;

static void grow(brush *b, double x, double y)
{
    b->left = fmin(b->left, x - b->half - 1);
    b->top = fmin(b->top, y - b->half - 1);
    b->right = fmax(b->right, x + b->half + 1);
    b->bottom = fmax(b->bottom, y + b->half + 1);
}

/* Strokes of one shape do not add up: a pixel is covered as much as by the one that covers most. */
static void cover_stroke(void *user, double x0, double y0, double x1, double y1)
{
    brush            *b = user;
    cmd_pixel_canvas *c = b->canvas;
    double            reach = b->half + 1;
    bounds box = bounds_of(c, fmin(x0, x1) - reach, fmin(y0, y1) - reach, fmax(x0, x1) + reach,
                           fmax(y0, y1) + reach);

    grow(b, x0, y0);
    grow(b, x1, y1);
    for (int y = box.top; y < box.bottom; y++)
        for (int x = box.left; x < box.right; x++) {
            double   inside = b->half + 0.5 - distance(x + 0.5, y + 0.5, x0, y0, x1, y1);
            uint8_t  covered = (uint8_t)lround(255 * fmin(fmax(inside, 0), 1));
            uint8_t *cell = &c->cover[(size_t)y * (size_t)c->base.width + (size_t)x];

            *cell = covered > *cell ? covered : *cell;
        }
}

static uint8_t mix(uint8_t under, uint8_t over, int cover)
{
    return (uint8_t)((under * (255 - cover) + over * cover + 127) / 255);
}

static void paint_cover(brush *b, cmd_rgb colour)
{
    cmd_pixel_canvas *c = b->canvas;
    bounds            box = bounds_of(c, b->left, b->top, b->right, b->bottom);

    for (int y = box.top; y < box.bottom; y++)
        for (int x = box.left; x < box.right; x++) {
            size_t   at = (size_t)y * (size_t)c->base.width + (size_t)x;
            cmd_rgb *pixel = &c->raster.pixels[at];

            pixel->r = mix(pixel->r, colour.r, c->cover[at]);
            pixel->g = mix(pixel->g, colour.g, c->cover[at]);
            pixel->b = mix(pixel->b, colour.b, c->cover[at]);
            c->cover[at] = 0;
        }
}

static brush brush_of(cmd_canvas *c, double width)
{
    return (brush){ pixels_of(c), width / 2, INFINITY, INFINITY, -INFINITY, -INFINITY };
}

static void line(cmd_canvas *c, int64_t n, const cmd_point *points, double width, cmd_rgb colour)
{
    brush b = brush_of(c, width);

    if (n == 1)
        cover_stroke(&b, points[0].x, points[0].y, points[0].x, points[0].y);
    for (int64_t i = 1; i < n; i++)
        cover_stroke(&b, points[i - 1].x, points[i - 1].y, points[i].x, points[i].y);
    paint_cover(&b, colour);
}

static void text(cmd_canvas *c, cmd_point at, double size, cmd_anchor anchor, cmd_rgb colour,
                 const char *words)
{
    double width = cmd_text_width(words, size);
    brush  b = brush_of(c, size / 12);

    at.x -= anchor == CMD_CENTRE ? width / 2 : anchor == CMD_RIGHT ? width : 0;
    cmd_text_walk(words, at, size, cover_stroke, &b);
    paint_cover(&b, colour);
}

static bool image(cmd_canvas *canvas, cmd_box box, const cmd_raster *from, cmd_error *err)
{
    cmd_raster *to = &pixels_of(canvas)->raster;
    int         left = (int)lround(box.x), top = (int)lround(box.y);

    if (left < 0 || top < 0 || left + from->width > to->width || top + from->height > to->height)
        return cmd_fail(err, "an image of %d x %d pixels does not fit", from->width, from->height);
    for (int y = 0; y < from->height; y++)
        memcpy(&to->pixels[(size_t)(top + y) * (size_t)to->width + (size_t)left],
               &from->pixels[(size_t)y * (size_t)from->width],
               (size_t)from->width * sizeof *from->pixels);
    return true;
}

static const cmd_canvas_kind pixel_kind = { false, rectangle, line, text, image };

bool cmd_pixel_canvas_new(cmd_pixel_canvas *out, int width, int height, cmd_error *err)
{
    cmd_pixel_canvas c = { .base = { &pixel_kind, width, height } };

    if (!cmd_raster_new(&c.raster, width, height, err))
        return false;
    c.cover = calloc((size_t)width * (size_t)height, 1);
    if (!c.cover) {
        cmd_raster_free(&c.raster);
        return cmd_fail(err, "out of memory for a picture of %d x %d pixels", width, height);
    }
    *out = c;
    return true;
}

void cmd_pixel_canvas_free(cmd_pixel_canvas *c)
{
    cmd_raster_free(&c->raster);
    free(c->cover);
    c->cover = NULL;
}
