/* picture.h -- what a picture of an array is made of, whatever it is drawn on: the part of the
 * array that is shown, its statistics, its cells at the size of the picture, the scale, the ticks.
 *
 * A view points into the array it was made of, or reads of its file what is shown; fields and
 * curves own their numbers. */
#ifndef CMD_PICTURE_H
#define CMD_PICTURE_H

#include "cmd/io/array.h"
#include "cmd/show/colour.h"

#include <stdio.h>

/* A vector or a matrix within an array.  Axis 0 of a matrix goes down, axis 1 to the right. */
typedef struct cmd_view {
    arras_dtype dtype;
    const char *data;
    struct cmd_window *window; /* of an array in a file, which has no data; else NULL */
    int         rank;      /* 1 or 2 */
    int64_t     length[2]; /* of a vector only [0] */
    int64_t     step[2];   /* bytes; of data */
    int64_t     first[2], stride[2]; /* indices of the array: cell k is first + k * stride */
    int         axis[2];             /* of the array */
    char        part[512];           /* "[3, :, ::2]"; empty when the whole array is shown */
    bool        chosen;              /* the part was not asked for */
} cmd_view;

/* slice: "3,:,::2", or NULL for the middle of the leading axes. */
bool cmd_view_of(cmd_view *out, const cmd_array *a, const char *slice, cmd_error *err);
void cmd_view_free(cmd_view *v);
/* `count` cells of a row from column `from`, as reals: true is 1, of complex numbers the absolute
 * value.  A vector has one row. */
bool    cmd_view_read(double *out, const cmd_view *v, int64_t row, int64_t from, int64_t count,
                      cmd_error *err);
int64_t cmd_view_rows(const cmd_view *v);
int64_t cmd_view_columns(const cmd_view *v);

typedef struct cmd_view_statistics {
    int64_t count, nans, infinities;
    double  min, max, mean, std; /* of the finite cells; nan when there are none */
} cmd_view_statistics;
bool cmd_view_measure(cmd_view_statistics *out, const cmd_view *v, cmd_error *err);

/* The cells of a view at another size: each is the mean of the area it covers.  A cell without a
 * single number below it is nan. */
typedef struct cmd_field {
    int     rows, columns;
    double *cells;
} cmd_field;
bool cmd_field_new(cmd_field *out, const cmd_view *v, int rows, int columns, cmd_error *err);
void cmd_field_free(cmd_field *f);

/* The line through the cells of a vector: x is 0 at the left border of the first cell and 1 at the
 * right border of the last; a nan in y is a gap.  Where there are more cells than columns, a column
 * is a stroke from its smallest cell to its largest. */
typedef struct cmd_curve {
    int64_t count;
    double *x, *y;
    bool    envelope;
} cmd_curve;
bool cmd_curve_new(cmd_curve *out, const cmd_view *v, int columns, cmd_error *err);
void cmd_curve_free(cmd_curve *c);

/* Which colour or height a value has. */
typedef struct cmd_scale {
    double      lo, hi;
    bool        integers; /* ticks between them mean nothing */
    bool        truth;    /* 0 is false and 1 is true */
    bool        given;    /* by the user: cells may lie outside */
    cmd_palette palette;
} cmd_scale;
/* From 0 at lo to 1 at hi; may lie outside; nan stays. */
double cmd_scale_place(const cmd_scale *s, double value);

/* Round numbers between lo and hi, at most `most` of them (up to CMD_MAX_TICKS). */
enum { CMD_MAX_TICKS = 16 };
typedef struct cmd_ticks {
    int    count;
    double at[CMD_MAX_TICKS];
    char   label[CMD_MAX_TICKS][32];
} cmd_ticks;
void cmd_ticks_between(cmd_ticks *out, double lo, double hi, int most, bool integers);

/* The same for the values of a scale. */
void cmd_scale_ticks(cmd_ticks *out, const cmd_scale *s, int most);

/* A number for people: six digits. */
typedef struct cmd_number {
    char text[32];
} cmd_number;
cmd_number cmd_number_of(double value);

/* Calls `visit` for each stroke of a curve, in a square whose corners are 0,0 (first cell, lo) and
 * 1,1 (last cell, hi); what is outside is cut off.  A cell between two gaps is a stroke of length
 * 0. */
typedef void cmd_stroke(void *user, double x0, double y0, double x1, double y1);
void cmd_curve_walk(const cmd_curve *c, const cmd_scale *s, cmd_stroke *visit, void *user);

/* All there is to draw. */
typedef struct cmd_picture {
    cmd_view       view;
    cmd_view_statistics statistics;
    cmd_scale      scale;
    char           title[768]; /* "sea.npy : f64[512, 1024]" */
    char           note[768];  /* what the reader should know, or empty */
} cmd_picture;

/* What a user may wish; all zero: nothing special. */
typedef struct cmd_wishes {
    const char *slice, *palette; /* NULL: the default */
    bool        diverging;
    bool        has_range;
    double      lo, hi;
} cmd_wishes;
bool cmd_picture_of(cmd_picture *out, const char *name, const cmd_array *a,
                    const cmd_wishes *wishes, cmd_error *err);
void cmd_picture_free(cmd_picture *p);
/* "min -1  max 2  ..." */
void cmd_picture_summary(char *out, size_t size, const cmd_picture *p);

/* The largest size within `width` x `height` that shows cells as squares, and small ones with a
 * whole number of pixels.  A matrix longer than 8 to 1 gets oblong cells. */
void cmd_picture_fit(int *columns, int *rows, const cmd_view *v, int width, int height);

/* ---- On paper -------------------------------------------------------------------------------- */

typedef struct cmd_paper {
    int  width, height; /* pixels; 0: chosen by the picture */
    bool bare;          /* only the cells: no axes, no text */
} cmd_paper;
enum { CMD_MAX_SIDE = 16384, CMD_MAX_PIXELS = 1 << 26 };

/* The bytes of a file in memory of their own: free(*out). */
bool cmd_picture_png(void **out, size_t *length, const cmd_picture *p, const cmd_paper *paper,
                     cmd_error *err);
bool cmd_picture_svg(void **out, size_t *length, const cmd_picture *p, const cmd_paper *paper,
                     cmd_error *err);

/* ---- In a terminal --------------------------------------------------------------------------- */

typedef enum { CMD_PLAIN, CMD_COLOURS_256, CMD_COLOURS_ALL } cmd_ink;

/* Room for a picture with all its words, in characters. */
typedef struct cmd_screen {
    int     width, height;
    cmd_ink ink;
} cmd_screen;
enum { CMD_MIN_WIDTH = 20, CMD_MIN_HEIGHT = 8, CMD_MAX_CHARACTERS = 2000 };

/* Matrices as half blocks or, plain, as a ramp of ASCII characters; vectors as a line of dots. */
bool cmd_picture_print(FILE *to, const cmd_picture *p, const cmd_screen *screen, cmd_error *err);
/* The line alone, with its axes, `rows` characters high. */
bool cmd_plot_print(FILE *to, const cmd_picture *p, const cmd_screen *screen, int rows,
                    cmd_error *err);
/* Colours of what follows on a terminal; plain ink prints nothing. */
void cmd_put_colours(FILE *to, cmd_ink ink, const cmd_rgb *letter, const cmd_rgb *ground);
void cmd_put_reset(FILE *to, cmd_ink ink);

#endif
