/* colour.c -- colour maps as curves in OKLab, and the nearest colours of a terminal. */
#include "cmd/show/colour.h"

#include <math.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

/* ---- OKLab ----------------------------------------------------------------------------------- */

typedef struct {
    double r, g, b;
} linear_rgb;

/* Björn Ottosson's OKLab, 2020: its inverse, to linear sRGB. */
static linear_rgb from_oklab(double lightness, double a, double b)
{
    double l = lightness + 0.3963377774 * a + 0.2158037573 * b;
    double m = lightness - 0.1055613458 * a - 0.0638541728 * b;
    double s = lightness - 0.0894841775 * a - 1.2914855480 * b;

    l = l * l * l;
    m = m * m * m;
    s = s * s * s;
    return (linear_rgb){
        4.0767416621 * l - 3.3077115913 * m + 0.2309699292 * s,
        -1.2684380046 * l + 2.6097574011 * m - 0.3413193965 * s,
        -0.0041960863 * l - 0.7034186147 * m + 1.7076147010 * s,
    };
}

static bool is_in_gamut(linear_rgb c)
{
    const double low = -1e-6, high = 1 + 1e-6;

    return c.r >= low && c.r <= high && c.g >= low && c.g <= high && c.b >= low && c.b <= high;
}

static uint8_t encode(double linear)
{
    double c = fmin(fmax(linear, 0), 1);

    c = c <= 0.0031308 ? 12.92 * c : 1.055 * pow(c, 1 / 2.4) - 0.055;
    return (uint8_t)lround(255 * c);
}

/* As much of a chroma as a screen can show; x and y are the direction of the hue. */
static double shown_chroma(double lightness, double chroma, double x, double y)
{
    double low = 0, high = chroma;

    if (is_in_gamut(from_oklab(lightness, chroma * x, chroma * y)))
        return chroma;
    for (int i = 0; i < 24; i++) {
        double middle = (low + high) / 2;

        *(is_in_gamut(from_oklab(lightness, middle * x, middle * y)) ? &low : &high) = middle;
    }
    return low;
}

static cmd_rgb from_lch(double lightness, double chroma, double degrees)
{
    double     x = cos(degrees * M_PI / 180), y = sin(degrees * M_PI / 180);
    double     shown = shown_chroma(lightness, chroma, x, y);
    linear_rgb c = from_oklab(lightness, shown * x, shown * y);

    return (cmd_rgb){ encode(c.r), encode(c.g), encode(c.b) };
}

/* ---- Maps ------------------------------------------------------------------------------------ */

/* A place on the curve of a map: chroma as OKLab has it (a screen shows up to about 0.3), hue in
 * degrees. */
typedef struct {
    double chroma, hue;
} knot;

/* From dark to light; the knots stand at equal distances. */
enum { KNOTS = 5 };
typedef struct {
    double dark, light;
    knot   knots[KNOTS];
} arm;

typedef struct {
    const char *name;
    int         arms; /* 2: diverging.  The first goes from the lower end to the middle */
    arm         arm[2];
} map;

static const map maps[] = {
    { "sea",
      1,
      { { 0.22,
          0.965,
          { { .09, 290 }, { .115, 262 }, { .096, 212 }, { .13, 158 }, { .11, 106 } } } } },
    { "ember",
      1,
      { { 0.18,
          0.965,
          { { .08, 288 }, { .16, 328 }, { .18, 380 }, { .155, 418 }, { .07, 455 } } } } },
    { "grey", 1, { { 0.15, 1, { { 0, 0 }, { 0, 0 }, { 0, 0 }, { 0, 0 }, { 0, 0 } } } } },
    { "balance",
      2,
      { { 0.34, 0.97, { { .11, 266 }, { .14, 258 }, { .12, 248 }, { .07, 242 }, { 0, 240 } } },
        { 0.34, 0.97, { { .105, 34 }, { .125, 42 }, { .12, 54 }, { .07, 64 }, { 0, 70 } } } } },
};
enum { MAPS = sizeof maps / sizeof maps[0] };

/* The cubic of Catmull and Rom through b and c, so that no knot shows as a band. */
static double between(double a, double b, double c, double d, double t)
{
    return b + 0.5 * t * (c - a + t * (2 * a - 5 * b + 4 * c - d + t * (3 * (b - c) + d - a)));
}

static cmd_rgb colour_on(const arm *m, double t)
{
    int         i = t < 1 ? (int)(t * (KNOTS - 1)) : KNOTS - 2;
    double      part = t * (KNOTS - 1) - i;
    const knot *a = &m->knots[i > 0 ? i - 1 : 0], *b = &m->knots[i], *c = b + 1;
    const knot *d = &m->knots[i + 2 < KNOTS ? i + 2 : KNOTS - 1];

    return from_lch(m->dark + t * (m->light - m->dark),
                    between(a->chroma, b->chroma, c->chroma, d->chroma, part),
                    between(a->hue, b->hue, c->hue, d->hue, part));
}

static cmd_rgb colour_of(const map *m, double t)
{
    if (m->arms == 1)
        return colour_on(&m->arm[0], t);
    return t < 0.5 ? colour_on(&m->arm[0], 2 * t) : colour_on(&m->arm[1], 2 - 2 * t);
}

const char *cmd_palette_name(int i) { return i >= 0 && i < MAPS ? maps[i].name : NULL; }

bool cmd_palette_find(cmd_palette *out, const char *name)
{
    const map *m = maps;

    while (m < maps + MAPS && strcmp(m->name, name) != 0)
        m++;
    if (m == maps + MAPS)
        return false;
    for (int i = 0; i < CMD_COLOURS; i++)
        out->colours[i] = colour_of(m, (double)i / (CMD_COLOURS - 1));
    out->diverging = m->arms == 2;
    /* Grey, where the map has colours; red, where it is grey. */
    out->missing = m->arm[0].knots[0].chroma > 0 ? from_lch(0.68, 0, 0) : from_lch(0.55, 0.16, 25);
    return true;
}

cmd_rgb cmd_palette_at(const cmd_palette *p, double t)
{
    if (isnan(t))
        return p->missing;
    return p->colours[(int)(fmin(fmax(t, 0), 1) * (CMD_COLOURS - 1) + 0.5)];
}

/* ---- Terminals with 256 colours -------------------------------------------------------------- */

/* The steps of the colour cube 6 x 6 x 6 (numbers 16 to 231); 24 greys follow (8, 18, ... 238). */
static const int cube[] = { 0, 95, 135, 175, 215, 255 };

static int nearest_step(int value)
{
    int best = 0;

    for (int i = 1; i < 6; i++)
        if (abs(cube[i] - value) < abs(cube[best] - value))
            best = i;
    return best;
}

static int distance(cmd_rgb c, int r, int g, int b)
{
    return (c.r - r) * (c.r - r) + (c.g - g) * (c.g - g) + (c.b - b) * (c.b - b);
}

int cmd_colour_of_256(cmd_rgb c)
{
    int r = nearest_step(c.r), g = nearest_step(c.g), b = nearest_step(c.b);
    int step = ((c.r + c.g + c.b) / 3 - 3) / 10;
    int number = step < 0 ? 0 : step > 23 ? 23 : step, grey = 8 + 10 * number;

    if (distance(c, grey, grey, grey) < distance(c, cube[r], cube[g], cube[b]))
        return 232 + number;
    return 16 + 36 * r + 6 * g + b;
}
