/* source.c -- arrays from where they are and to where they go, whatever the format. */
#include "cmd/source.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cmd/names.h"
#include "cmd/npy.h"
#include "lang/lang.h"

static bool fail_format(const cmd_place *place, cmd_error *err)
{
    return cmd_fail(err,
                    "%s: %s files are recognised, but not supported by this version of arras; "
                    "convert the array to .npy",
                    place->file, cmd_format_name(place->format));
}

/* ---- Sources --------------------------------------------------------------------------------- */

static bool read_file(cmd_array *out, cmd_npy_header *header, const char *file, cmd_error *err)
{
    struct stat s;
    int         fd = open(file, O_RDONLY | O_CLOEXEC);

    if (fd < 0)
        return cmd_fail(err, "cannot read %s: %s", file, strerror(errno));
    bool ok = fstat(fd, &s) == 0 && S_ISDIR(s.st_mode)
                  ? cmd_fail(err, "cannot read %s: it is a directory", file)
                  : cmd_npy_read(out, header, fd, file, err);
    close(fd);
    return ok;
}

/* A constant of the language. */
static bool read_literal(cmd_array *out, const char *source, lang_error *why)
{
    cmd_array a = { .release = cmd_array_release_heap };

    if (!lang_constant(&a.data, &a.dtype, &a.rank, a.shape, "literal", source, strlen(source), why))
        return false;
    *out = a;
    return true;
}

static bool looks_like_literal(const char *source)
{
    return strchr("[(+-.0123456789", *source) && !strchr(source, '/');
}

/* No ending that we know: a literal, or else any file with a .npy inside. */
static bool read_other(cmd_array *out, cmd_npy_header *header, const char *source, const char *file,
                       cmd_error *err)
{
    lang_error why = { "" };

    if (read_literal(out, source, &why))
        return true;
    if (access(file, F_OK) == 0)
        return read_file(out, header, file, err);
    if (looks_like_literal(source))
        return cmd_fail(err, "%s", why.text);
    return cmd_fail(err,
                    "%s is neither a file nor a literal such as 3.5 or [1,2,3] "
                    "(see `arras help sources`)",
                    source);
}

bool cmd_source_load(cmd_array *out, cmd_npy_header *header, const char *source, cmd_error *err)
{
    cmd_place place;
    bool      ok;

    if (!cmd_place_parse(&place, source, err))
        return false;
    if (place.format == CMD_FORMAT_UNKNOWN)
        ok = read_other(out, header, source, place.file, err);
    else if (place.format == CMD_FORMAT_STREAM)
        ok = cmd_npy_read(out, header, STDIN_FILENO, "standard input", err);
    else if (place.format == CMD_FORMAT_NPY)
        ok = read_file(out, header, place.file, err);
    else
        ok = fail_format(&place, err);
    cmd_place_free(&place);
    return ok;
}

bool cmd_source_read(cmd_array *out, const char *source, cmd_error *err)
{
    return cmd_source_load(out, NULL, source, err);
}

/* ---- Sinks ----------------------------------------------------------------------------------- */

/* Pipes and devices have no ending: they get a .npy. */
static bool is_special(const char *file)
{
    struct stat s;

    return stat(file, &s) == 0 && !S_ISREG(s.st_mode) && !S_ISDIR(s.st_mode);
}

bool cmd_sink_open(cmd_output *out, const char *sink, cmd_error *err)
{
    cmd_place place;
    bool      ok;

    if (!cmd_place_parse(&place, sink, err))
        return false;
    if (place.format > CMD_FORMAT_NPY)
        ok = fail_format(&place, err);
    else if (place.format == CMD_FORMAT_UNKNOWN && !is_special(place.file))
        ok = cmd_fail(err, "cannot write %s: the name of the file must end in .npy", sink);
    else
        ok = cmd_output_open(out, place.file, err);
    cmd_place_free(&place);
    return ok;
}

bool cmd_sink_write(const char *sink, const cmd_array *a, cmd_error *err)
{
    cmd_output out;

    if (!cmd_sink_open(&out, sink, err))
        return false;
    if (cmd_npy_write(&out, a, err))
        return cmd_output_finish(&out, err);
    cmd_output_abandon(&out);
    return false;
}
