/* picture_canvas.h -- what figures are drawn on: pixels (PNG) or shapes (SVG).  Lengths are pixels,
 * y goes down. */
#ifndef CMD_PICTURE_CANVAS_H
#define CMD_PICTURE_CANVAS_H

#include "cmd/show/picture.h"

/* Pixels, row by row, three bytes each. */
typedef struct cmd_raster {
    int      width, height;
    cmd_rgb *pixels;
} cmd_raster;
bool cmd_raster_new(cmd_raster *out, int width, int height, cmd_error *err);
void cmd_raster_free(cmd_raster *r);
/* As a PNG file in memory of its own. */
bool cmd_raster_png(void **out, size_t *length, const cmd_raster *r, cmd_error *err);

typedef enum { CMD_LEFT, CMD_CENTRE, CMD_RIGHT } cmd_anchor;

typedef struct cmd_box {
    double x, y, width, height;
} cmd_box;
typedef struct cmd_point {
    double x, y;
} cmd_point;

/* What comes first in a canvas of either kind. */
typedef struct cmd_canvas {
    const struct cmd_canvas_kind *kind;
    int                           width, height;
} cmd_canvas;

typedef struct cmd_canvas_kind {
    bool stretches; /* images may have fewer pixels than their box */
    void (*rectangle)(cmd_canvas *c, cmd_box box, cmd_rgb colour);
    /* Round ends and corners. */
    void (*line)(cmd_canvas *c, int64_t n, const cmd_point *points, double width, cmd_rgb colour);
    /* `at` is on the base line; size: the height of a line, from below a g to above a T. */
    void (*text)(cmd_canvas *c, cmd_point at, double size, cmd_anchor anchor, cmd_rgb colour,
                 const char *text);
    bool (*image)(cmd_canvas *c, cmd_box box, const cmd_raster *image, cmd_error *err);
} cmd_canvas_kind;

/* A canvas that draws into pixels of its own. */
typedef struct cmd_pixel_canvas {
    cmd_canvas base;
    cmd_raster raster;
    uint8_t   *cover; /* how much of each pixel the shape being drawn covers; 0 between shapes */
} cmd_pixel_canvas;
bool cmd_pixel_canvas_new(cmd_pixel_canvas *out, int width, int height, cmd_error *err);
void cmd_pixel_canvas_free(cmd_pixel_canvas *c);

/* A canvas that writes SVG. */
typedef struct cmd_svg_canvas {
    cmd_canvas base;
    FILE      *to;
} cmd_svg_canvas;
void cmd_svg_canvas_open(cmd_svg_canvas *out, int width, int height, FILE *to);
void cmd_svg_canvas_close(cmd_svg_canvas *c);

/* ---- Letters made of strokes ----------------------------------------------------------------- */

/* Calls `visit` for each stroke of a text that begins at `at`. */
void   cmd_text_walk(const char *text, cmd_point at, double size, cmd_stroke *visit, void *user);
double cmd_text_width(const char *text, double size);

/* ---- Figures --------------------------------------------------------------------------------- */

/* Where everything goes; made before the canvas, whose size it is. */
typedef struct cmd_layout {
    int       width, height;
    double    em;
    cmd_box   area; /* of the cells */
    cmd_ticks across, down, scale;
} cmd_layout;
bool cmd_layout_of(cmd_layout *out, const cmd_picture *p, const cmd_paper *paper, cmd_error *err);
bool cmd_figure_draw(cmd_canvas *c, const cmd_picture *p, const cmd_layout *l, bool bare,
                     cmd_error *err);
/* The cells of a matrix as colours. */
bool cmd_raster_of(cmd_raster *out, const cmd_picture *p, int width, int height, cmd_error *err);

#endif
