/* picture.c -- everything that is decided before a picture is drawn: what is shown, its range, its
 * colours, its words, its size. */
#include "cmd/show/picture.h"

#include "cmd/commands.h"

#include <float.h>
#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <string.h>

enum { LONGEST_ASPECT = 8 };

/* ---- Words ----------------------------------------------------------------------------------- */

__attribute__((format(printf, 3, 4))) static void append(char *out, size_t size, const char *format,
                                                         ...)
{
    size_t  used = strlen(out);
    va_list args;

    va_start(args, format);
    vsnprintf(out + used, size - used, format, args);
    va_end(args);
}

static void add_note(cmd_picture *p, const char *text)
{
    append(p->note, sizeof p->note, "%s%s", p->note[0] ? "; " : "", text);
}

/* A name may hold anything; what a terminal would obey is not printed. */
static void tame(char *text)
{
    for (; *text; text++)
        if ((unsigned char)*text < ' ' || *text == 0x7f)
            *text = '?';
}

static void write_title(cmd_picture *p, const char *name, const cmd_array *a)
{
    p->title[0] = '\0';
    append(p->title, sizeof p->title, "%.200s%s : %s[", name, p->view.part,
           arras_dtype_name(a->dtype));
    for (int axis = 0; axis < a->rank; axis++)
        append(p->title, sizeof p->title, "%s%" PRId64, axis ? ", " : "", a->shape[axis]);
    append(p->title, sizeof p->title, "]");
    tame(p->title);
}

static void write_notes(cmd_picture *p)
{
    if (p->view.chosen)
        add_note(p, "the middle of the leading axes, --slice shows others");
    if (p->view.dtype == ARRAS_C64 || p->view.dtype == ARRAS_C128)
        add_note(p, "the absolute value of complex numbers");
}

void cmd_picture_summary(char *out, size_t size, const cmd_picture *p)
{
    const cmd_view_statistics *s = &p->statistics;

    out[0] = '\0';
    append(out, size, "min %s  max %s  mean %s  std %s", cmd_number_of(s->min).text,
           cmd_number_of(s->max).text, cmd_number_of(s->mean).text, cmd_number_of(s->std).text);
    if (p->view.dtype >= ARRAS_F32)
        append(out, size, "  nan %" PRId64, s->nans);
    if (s->infinities > 0)
        append(out, size, "  inf %" PRId64, s->infinities);
}

/* ---- Range and colours ----------------------------------------------------------------------- */

static bool is_integral(arras_dtype dtype) { return dtype < ARRAS_F32; }

/* Values on both sides of 0 that reach about as far: heights, differences, waves. */
static bool is_symmetric(const cmd_view_statistics *s)
{
    return s->min < 0 && s->max > 0 && fmin(-s->min, s->max) > 0.6 * fmax(-s->min, s->max);
}

static bool unknown_palette(const char *name, cmd_error *err)
{
    const char *names[16] = { NULL }, *near;
    char        list[200] = "";

    for (int i = 0; i < 15 && cmd_palette_name(i); i++) {
        names[i] = cmd_palette_name(i);
        append(list, sizeof list, "%s%s", i ? ", " : "", names[i]);
    }
    near = cmd_nearest(name, names);
    if (near)
        return cmd_fail(err, "there is no colour map `%s`; did you mean `%s`?", name, near);
    return cmd_fail(err, "there is no colour map `%s`; there are: %s", name, list);
}

static bool choose_palette(cmd_picture *p, const cmd_wishes *w, cmd_error *err)
{
    bool        found = !w->has_range && p->view.rank == 2 && is_symmetric(&p->statistics);
    bool        balanced = w->diverging || found;
    const char *name = w->palette ? w->palette : balanced ? "balance" : cmd_palette_name(0);

    if (!cmd_palette_find(&p->scale.palette, name))
        return unknown_palette(name, err);
    if (w->diverging && !p->scale.palette.diverging)
        return cmd_fail(err,
                        "--diverging needs a colour map with two ends, and `%s` has one; leave "
                        "--colour out, or say --colour balance",
                        name);
    return true;
}

/* A line should not run along the frame. */
static void leave_air(cmd_scale *s)
{
    double air = 0.04 * (s->hi / 2 - s->lo / 2) * 2;

    s->lo = fmax(s->lo - air, -DBL_MAX);
    s->hi = fmin(s->hi + air, DBL_MAX);
}

static void choose_range(cmd_picture *p, const cmd_wishes *w)
{
    cmd_scale *s = &p->scale;

    s->integers = is_integral(p->view.dtype);
    s->given = w->has_range;
    s->lo = w->has_range ? w->lo : p->statistics.min;
    s->hi = w->has_range ? w->hi : p->statistics.max;
    if (!w->has_range && s->palette.diverging && p->view.rank == 2) {
        s->hi = fmax(fabs(s->lo), fabs(s->hi));
        s->lo = -s->hi;
    }
    s->truth = p->view.dtype == ARRAS_BOOL && !w->has_range;
    if (s->truth) {
        s->lo = 0;
        s->hi = 1;
    }
    if (!w->has_range && p->view.rank == 1)
        leave_air(s);
}

static bool look_at(cmd_picture *p, const char *name, const cmd_array *a, const cmd_wishes *wishes,
                    cmd_error *err)
{
    if (!cmd_view_measure(&p->statistics, &p->view, err))
        return false;
    if (isnan(p->statistics.min))
        return cmd_fail(err,
                        "none of the %" PRId64 " cells%s%s is a finite number: nothing to draw",
                        p->statistics.count, p->view.part[0] ? " of " : "", p->view.part);
    if (!choose_palette(p, wishes, err))
        return false;
    choose_range(p, wishes);
    write_title(p, name, a);
    write_notes(p);
    return true;
}

bool cmd_picture_of(cmd_picture *out, const char *name, const cmd_array *a,
                    const cmd_wishes *wishes, cmd_error *err)
{
    *out = (cmd_picture){ 0 };
    if (!cmd_view_of(&out->view, a, wishes->slice, err))
        return false;
    if (look_at(out, name, a, wishes, err))
        return true;
    cmd_picture_free(out);
    return false;
}

void cmd_picture_free(cmd_picture *p) { cmd_view_free(&p->view); }

/* ---- Size ------------------------------------------------------------------------------------ */

/* A whole number of pixels for each cell, where there is room for it. */
static int whole_pixels(double size, int64_t cells)
{
    if (size >= (double)cells)
        return (int)(floor(size / (double)cells) * (double)cells);
    return size < 1 ? 1 : (int)size;
}

void cmd_picture_fit(int *columns, int *rows, const cmd_view *v, int width, int height)
{
    double across = (double)cmd_view_columns(v), down = (double)cmd_view_rows(v), pixels;

    /* Only the shape matters from here on. */
    across = fmax(across, down / LONGEST_ASPECT);
    down = fmax(down, across / LONGEST_ASPECT);
    pixels = fmin(width / across, height / down);
    if (pixels > 1 && across == (double)cmd_view_columns(v) && down == (double)cmd_view_rows(v))
        pixels = floor(pixels);
    *columns = whole_pixels(across * pixels + 1e-6, cmd_view_columns(v));
    *rows = whole_pixels(down * pixels + 1e-6, cmd_view_rows(v));
}
