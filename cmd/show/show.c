/* show.c -- `arras show`: a picture of an array, in the terminal or in a file. */
#include "cmd/show/show.h"

#include "cmd/commands.h"
#include "cmd/interrupt.h"
#include "cmd/io/output_file.h"
#include "cmd/io/source.h"
#include "cmd/io/stored.h"
#include "cmd/show/letters.h"
#include "cmd/show/terminal.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { PNG, SVG, SLICE, RANGE, SIZE, COLOUR, DIVERGING, BARE, LOG_QUERIES };
const cmd_option cmd_show_options[] = {
    [PNG] = { "png", 0, "FILE", "write a PNG picture instead; - for standard output" },
    [SVG] = { "svg", 0, "FILE", "write an SVG picture instead; - for standard output" },
    [SLICE] = { "slice", 0, "ITEMS", "the part to show, as 3,:,::2; two axes at most may be left" },
    [RANGE] = { "range", 0, "LO,HI", "values at the ends of the scale (min and max of the data)" },
    [SIZE] = { "size", 0, "WxH", "pixels of a file, characters of a terminal" },
    [COLOUR] = { "colour", 0, "NAME", "colour map: sea, ember, grey or balance" },
    [DIVERGING] = { "diverging", 0, NULL, "two colours that part at 0" },
    [BARE] = { "bare", 0, NULL, "files: only the cells, a pixel for each" },
    [LOG_QUERIES] = { "log-queries", 0, "FILE",
                      "note which boxes of arrays in files are read, for `arras chunk --log`" },
    { NULL, 0, NULL, NULL },
};

/* ---- Options --------------------------------------------------------------------------------- */

static bool parse_range(cmd_wishes *w, const char *text, cmd_error *err)
{
    char *end = NULL, *last = NULL;

    w->lo = strtod(text, &end);
    if (end != text && *end == ',')
        w->hi = strtod(end + 1, &last);
    if (!last || last == end + 1 || *last || !isfinite(w->lo) || !isfinite(w->hi))
        return cmd_fail(err, "--range %s: write two numbers, as --range -1,1", text);
    if (!(w->lo < w->hi))
        return cmd_fail(err, "--range %s: the first number must be the smaller one", text);
    w->has_range = true;
    return true;
}

static bool parse_size(cmd_show_request *r, const char *text, cmd_error *err)
{
    char *end = NULL, *last = NULL;
    long  width = strtol(text, &end, 10), height = 0;

    if (end != text && (*end == 'x' || *end == 'X'))
        height = strtol(end + 1, &last, 10);
    if (!last || last == end + 1 || *last)
        return cmd_fail(err, "--size %s: write width and height, as --size 800x600", text);
    if (width < 1 || height < 1 || width > CMD_MAX_SIDE || height > CMD_MAX_SIDE)
        return cmd_fail(err, "--size %s: each side must be 1 to %d", text, CMD_MAX_SIDE);
    r->width = (int)width;
    r->height = (int)height;
    return true;
}

static bool set_source(cmd_show_request *r, const char *name, cmd_error *err)
{
    if (r->source)
        return cmd_fail(err, "one array at a time: `%s` and `%s` are two", r->source, name);
    r->source = name;
    return true;
}

static bool set_option(cmd_show_request *r, int option, const char *value, cmd_error *err)
{
    switch (option) {
    case CMD_NAME: return set_source(r, value, err);
    case PNG: r->png = value; return true;
    case SVG: r->svg = value; return true;
    case SLICE: r->wishes.slice = value; return true;
    case RANGE: return parse_range(&r->wishes, value, err);
    case SIZE: return parse_size(r, value, err);
    case COLOUR: r->wishes.palette = value; return true;
    case DIVERGING: return r->wishes.diverging = true;
    case BARE: return r->bare = true;
    case LOG_QUERIES: cmd_stored_log_queries(value); return true;
    default: return false; /* a bad argument: the message is there already */
    }
}

static bool same_word(const char *a, const char *b)
{
    size_t length = strlen(a);

    return length == strlen(b) && cmd_same_letters(a, b, length);
}

/* Under the name of another kind it would not open.  Names without such an ending are free. */
static bool check_ending(const char *file, const char *option, cmd_error *err)
{
    static const char *const kinds[] = { "png", "svg",  "jpg",  "jpeg", "gif", "pdf", "bmp",
                                         "tif", "tiff", "webp", "eps",  "ps",  "npy", "h5",
                                         "nc",  "zarr", "csv",  "txt",  "html" };
    const char              *dot = file ? strrchr(file, '.') : NULL;

    if (!dot || strchr(dot, '/') || same_word(dot + 1, option))
        return true;
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
        if (same_word(dot + 1, kinds[i]))
            return i < 2
                       ? cmd_fail(err, "--%s %s: the name ends in .%s; did you mean --%s %s?",
                                  option, file, kinds[i], kinds[i], file)
                       : cmd_fail(err,
                                  "--%s %s: the name ends in .%s; pictures are PNG or SVG: write "
                                  "--%s %.*s.%s",
                                  option, file, kinds[i], option, (int)(dot - file), file, option);
    return true;
}

bool cmd_show_parse(cmd_show_request *out, int argc, char **argv, cmd_error *err)
{
    cmd_arguments arguments = cmd_arguments_of(argc, argv, cmd_show_options);
    const char   *value = NULL;
    int           option;

    *out = (cmd_show_request){ 0 };
    while ((option = cmd_next_argument(&arguments, &value, err)) != CMD_END_OF_ARGUMENTS)
        if (!set_option(out, option, value, err))
            return false;
    if (out->bare && !out->png && !out->svg)
        return cmd_fail(err, "--bare is for files: add --png FILE or --svg FILE");
    if (!check_ending(out->png, "png", err) || !check_ending(out->svg, "svg", err))
        return false;
    if (out->png && out->svg && strcmp(out->png, "-") == 0 && strcmp(out->svg, "-") == 0)
        return cmd_fail(err, "--png - and --svg - cannot both be standard output");
    return true;
}

/* ---- Pictures -------------------------------------------------------------------------------- */

typedef bool encoder(void **out, size_t *length, const cmd_picture *p, const cmd_paper *paper,
                     cmd_error *err);

static bool write_file(const char *path, encoder *encode, const cmd_picture *p,
                       const cmd_paper *paper, cmd_error *err)
{
    void  *bytes;
    size_t length;
    bool   ok;

    if (!encode(&bytes, &length, p, paper, err))
        return false;
    ok = cmd_output_whole(path, bytes, length, err);
    free(bytes);
    return ok;
}

static bool print(const cmd_show_request *r, const cmd_picture *p, cmd_error *err)
{
    cmd_screen screen = cmd_terminal_of(stdout);

    if (r->width > 0) {
        if (r->width < CMD_MIN_WIDTH || r->height < CMD_MIN_HEIGHT ||
            r->width > CMD_MAX_CHARACTERS || r->height > CMD_MAX_CHARACTERS)
            return cmd_fail(
                err, "--size %dx%d: a terminal picture has %d x %d to %d x %d characters", r->width,
                r->height, CMD_MIN_WIDTH, CMD_MIN_HEIGHT, CMD_MAX_CHARACTERS, CMD_MAX_CHARACTERS);
        screen.width = r->width;
        screen.height = r->height;
    }
    if (!cmd_picture_print(stdout, p, &screen, err))
        return false;
    if (fflush(stdout) != 0 || ferror(stdout))
        return cmd_fail(err, "standard output: %s", strerror(errno));
    return true;
}

bool cmd_show_array(const cmd_show_request *r, const char *name, const cmd_array *a, cmd_error *err)
{
    const cmd_paper paper = { r->width, r->height, r->bare };
    cmd_picture     p;

    if (!cmd_picture_of(&p, name, a, &r->wishes, err))
        return false;
    bool ok = r->png || r->svg || print(r, &p, err);
    ok = ok && (!r->png || write_file(r->png, cmd_picture_png, &p, &paper, err)) &&
         (!r->svg || write_file(r->svg, cmd_picture_svg, &p, &paper, err));
    cmd_picture_free(&p);
    return ok;
}

int cmd_show(int argc, char **argv)
{
    cmd_show_request request;
    cmd_array        a;
    cmd_error        err;
    bool             ok;

    cmd_interrupt_start();
    if (!cmd_show_parse(&request, argc, argv, &err))
        return cmd_complain("%s", err.text);
    if (!request.source)
        return cmd_complain("say which array to show, as in: arras show sea.npy");
    if (!cmd_source_open(&a, request.source, 0, &err))
        return cmd_complain("%s", err.text);
    ok = cmd_show_array(&request, request.source, &a, &err);
    cmd_array_free(&a);
    return ok ? 0 : cmd_complain("%s: %s", request.source, err.text);
}
