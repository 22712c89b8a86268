/* picture_svg.c -- pictures as SVG: lines and letters as such, cells as an image within. */
#include "cmd/show/picture_canvas.h"

#include <stdlib.h>
#include <string.h>

static FILE *file_of(cmd_canvas *c) { return ((cmd_svg_canvas *)(void *)c)->to; }

/* Numbers with two digits after the point, without zeros at the end: short, and the same
 * everywhere. */
static void put_number(FILE *to, double value)
{
    char text[32];
    int  length = snprintf(text, sizeof text, "%.2f", value);

    while (text[length - 1] == '0')
        length--;
    if (text[length - 1] == '.')
        length--;
    fprintf(to, "%.*s", length, strncmp(text, "-0", (size_t)length) ? text : "0");
}

static void put_attribute(FILE *to, const char *name, double value)
{
    fprintf(to, " %s=\"", name);
    put_number(to, value);
    putc('"', to);
}

static void put_box(FILE *to, cmd_box box)
{
    put_attribute(to, "x", box.x);
    put_attribute(to, "y", box.y);
    put_attribute(to, "width", box.width);
    put_attribute(to, "height", box.height);
}

static void put_colour(FILE *to, const char *name, cmd_rgb c)
{
    fprintf(to, " %s=\"#%02x%02x%02x\"", name, c.r, c.g, c.b);
}

/* Markup is escaped; control characters, which XML does not allow, and bytes that are not UTF-8
 * become
 * `?`. */
static void put_text(FILE *to, const char *text)
{
    for (const unsigned char *s = (const unsigned char *)text; *s;) {
        size_t follow = *s >= 0xf0 ? 3 : *s >= 0xe0 ? 2 : *s >= 0xc2 ? 1 : 0;
        size_t n = 1;

        while (n <= follow && (s[n] & 0xc0) == 0x80)
            n++;
        if (*s < ' ' || *s == 0x7f || (*s >= 0x80 && (follow == 0 || n != follow + 1 || *s > 0xf4)))
            putc('?', to);
        else if (strchr("<>&\"", *s))
            fprintf(to, "&#%d;", *s);
        else
            fwrite(s, 1, n, to);
        s += n;
    }
}

static void rectangle(cmd_canvas *c, cmd_box box, cmd_rgb colour)
{
    FILE *to = file_of(c);

    fputs("<rect", to);
    put_box(to, box);
    put_colour(to, "fill", colour);
    fputs("/>\n", to);
}

static void line(cmd_canvas *c, int64_t n, const cmd_point *points, double width, cmd_rgb colour)
{
    FILE *to = file_of(c);

    fputs("<path d=\"", to);
    for (int64_t i = 0; i < n; i++) {
        fputs(i == 0 ? "M" : "L", to);
        put_number(to, points[i].x);
        putc(' ', to);
        put_number(to, points[i].y);
    }
    fputs(n == 1 ? "h0\"" : "\"", to);
    put_colour(to, "stroke", colour);
    put_attribute(to, "stroke-width", width);
    fputs("/>\n", to);
}

static void text(cmd_canvas *c, cmd_point at, double size, cmd_anchor anchor, cmd_rgb colour,
                 const char *words)
{
    static const char *const anchors[] = { "start", "middle", "end" };
    FILE                    *to = file_of(c);

    fputs("<text xml:space=\"preserve\"", to);
    put_attribute(to, "x", at.x);
    put_attribute(to, "y", at.y);
    put_attribute(to, "font-size", size);
    fprintf(to, " text-anchor=\"%s\"", anchors[anchor]);
    put_colour(to, "fill", colour);
    putc('>', to);
    put_text(to, words);
    fputs("</text>\n", to);
}

static void put_base64(FILE *to, const unsigned char *bytes, size_t length)
{
    static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

    for (size_t i = 0; i < length; i += 3) {
        size_t   left = length - i;
        uint32_t three = (uint32_t)bytes[i] << 16;

        three |= left > 1 ? (uint32_t)bytes[i + 1] << 8 : 0;
        three |= left > 2 ? bytes[i + 2] : 0;
        putc(digits[three >> 18], to);
        putc(digits[three >> 12 & 63], to);
        putc(left > 1 ? digits[three >> 6 & 63] : '=', to);
        putc(left > 2 ? digits[three & 63] : '=', to);
    }
}

static bool image(cmd_canvas *c, cmd_box box, const cmd_raster *from, cmd_error *err)
{
    FILE  *to = file_of(c);
    void  *bytes;
    size_t length;

    if (!cmd_raster_png(&bytes, &length, from, err))
        return false;
    fputs("<image", to);
    put_box(to, box);
    fputs(" preserveAspectRatio=\"none\" image-rendering=\"pixelated\"\n"
          "href=\"data:image/png;base64,",
          to);
    put_base64(to, bytes, length);
    fputs("\"/>\n", to);
    free(bytes);
    return true;
}

static const cmd_canvas_kind svg_kind = { true, rectangle, line, text, image };

void cmd_svg_canvas_open(cmd_svg_canvas *out, int width, int height, FILE *to)
{
    *out = (cmd_svg_canvas){ { &svg_kind, width, height }, to };
    fprintf(to,
            "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%d\" height=\"%d\" "
            "viewBox=\"0 0 %d %d\"\nfont-family=\"DejaVu Sans, Verdana, sans-serif\" fill=\"none\" "
            "stroke-linecap=\"round\" stroke-linejoin=\"round\">\n",
            width, height, width, height);
}

void cmd_svg_canvas_close(cmd_svg_canvas *c) { fputs("</svg>\n", c->to); }

static bool draw(FILE *to, const cmd_picture *p, const cmd_paper *paper, cmd_error *err)
{
    cmd_svg_canvas c;
    cmd_layout     layout;

    if (!cmd_layout_of(&layout, p, paper, err))
        return false;
    cmd_svg_canvas_open(&c, layout.width, layout.height, to);
    if (!cmd_figure_draw(&c.base, p, &layout, paper->bare, err))
        return false;
    cmd_svg_canvas_close(&c);
    return true;
}

bool cmd_picture_svg(void **out, size_t *length, const cmd_picture *p, const cmd_paper *paper,
                     cmd_error *err)
{
    char *bytes = NULL;
    FILE *to = open_memstream(&bytes, length);
    bool  ok, written;

    if (!to)
        return cmd_fail(err, "out of memory for an SVG");
    ok = draw(to, p, paper, err);
    written = !ferror(to);
    written = fclose(to) == 0 && written;
    if (ok && !written)
        ok = cmd_fail(err, "out of memory for an SVG");
    if (ok)
        *out = bytes;
    else
        free(bytes);
    return ok;
}
