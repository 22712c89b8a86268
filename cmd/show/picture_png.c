/* picture_png.c -- pictures as PNG files, by libpng. */
#include "cmd/show/picture_canvas.h"

#include <png.h>
#include <stdlib.h>

bool cmd_raster_png(void **out, size_t *length, const cmd_raster *r, cmd_error *err)
{
    png_image image = { .version = PNG_IMAGE_VERSION,
                        .width = (png_uint_32)r->width,
                        .height = (png_uint_32)r->height,
                        .format = PNG_FORMAT_RGB };
    size_t    room = PNG_IMAGE_PNG_SIZE_MAX(image);
    void     *bytes = malloc(room);

    if (!bytes)
        return cmd_fail(err, "out of memory for a PNG of %d x %d pixels", r->width, r->height);
    if (!png_image_write_to_memory(&image, bytes, &room, 0, r->pixels, 0, NULL)) {
        free(bytes);
        return cmd_fail(err, "libpng: %s", image.message);
    }
    *out = bytes;
    *length = room;
    return true;
}

bool cmd_picture_png(void **out, size_t *length, const cmd_picture *p, const cmd_paper *paper,
                     cmd_error *err)
{
    cmd_pixel_canvas c;
    cmd_layout       layout;
    bool             ok;

    if (!cmd_layout_of(&layout, p, paper, err) ||
        !cmd_pixel_canvas_new(&c, layout.width, layout.height, err))
        return false;
    ok = cmd_figure_draw(&c.base, p, &layout, paper->bare, err) &&
         cmd_raster_png(out, length, &c.raster, err);
    cmd_pixel_canvas_free(&c);
    return ok;
}
