/* source.c -- arrays from where they are and to where they go, whatever the format. */
#include "cmd/source.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cmd/names.h"
#include "cmd/npy.h"
#include "cmd/stored.h"
#include "lang/lang.h"

/* ---- Sources --------------------------------------------------------------------------------- */

static bool read_file(cmd_array *out, arras_npy_header *header, const char *file, cmd_error *err)
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
static bool read_literal(cmd_array *out, const char *name, const char *source, lang_error *why)
{
    cmd_array a = { .release = cmd_array_release_heap };

    if (!lang_constant(&a.data, &a.dtype, &a.rank, a.shape, name, source, strlen(source), why))
        return false;
    *out = a;
    return true;
}

static bool looks_like_literal(const char *source)
{
    return strchr("[(+-.0123456789", *source) && !strchr(source, '/');
}

static bool has_ending(const char *file, const char *endings)
{
    const char *dot = strrchr(file, '.'), *at = dot ? strstr(endings, dot) : NULL;

    return at && strchr(" ", at[strlen(dot)]);
}

/* Files that many have, and that NumPy can make a .npy of; true when it is none of them. */
static bool check_ending(const char *file, cmd_error *err)
{
    if (has_ending(file, ".npz"))
        return cmd_fail(err,
                        "cannot read %s: a .npz holds several arrays; take one out in Python: "
                        "np.save('x.npy', np.load('%s')['x'])",
                        file, file);
    if (has_ending(file, ".csv .tsv .txt"))
        return cmd_fail(err,
                        "cannot read %s: a file of text; convert it in Python: "
                        "np.save('x.npy', np.loadtxt('%s', delimiter=','))",
                        file, file);
    return true;
}

/* No ending that we know: a literal, or else any file with a .npy inside. */
static bool read_other(cmd_array *out, arras_npy_header *header, const char *name,
                       const char *source, const char *file, cmd_error *err)
{
    lang_error why = { "" };

    if (read_literal(out, name, source, &why))
        return true;
    if (!check_ending(file, err))
        return false;
    if (access(file, F_OK) == 0)
        return read_file(out, header, file, err);
    if (looks_like_literal(source))
        return cmd_fail(err, "%s", why.text);
    return cmd_fail(err,
                    "%s is neither a file nor a literal such as 3.5 or [1,2,3] "
                    "(see `arras help sources`)",
                    source);
}

static bool load_as(cmd_array *out, arras_npy_header *header, const char *name, const char *source,
                    cmd_error *err)
{
    cmd_place place;
    bool      ok;

    if (!cmd_place_parse(&place, source, err))
        return false;
    if (place.format == CMD_FORMAT_UNKNOWN && !cmd_stored_is(&place))
        ok = read_other(out, header, name, source, place.file, err);
    else if (place.format == CMD_FORMAT_STREAM)
        ok = cmd_npy_read(out, header, STDIN_FILENO, "standard input", err);
    else if (place.format == CMD_FORMAT_NPY)
        ok = read_file(out, header, place.file, err);
    else
        ok = cmd_stored_read(out, &place, err);
    cmd_place_free(&place);
    return ok;
}

bool cmd_source_is_stored(const char *source)
{
    cmd_place place;
    cmd_error unused;

    if (!cmd_place_parse(&place, source, &unused))
        return false;
    bool stored = cmd_stored_is(&place);
    cmd_place_free(&place);
    return stored;
}

bool cmd_source_load(cmd_array *out, arras_npy_header *header, const char *source, cmd_error *err)
{
    return load_as(out, header, "literal", source, err);
}

bool cmd_source_read(cmd_array *out, const char *source, cmd_error *err)
{
    return load_as(out, NULL, "literal", source, err);
}

bool cmd_source_read_as(cmd_array *out, const char *name, const char *source, cmd_error *err)
{
    return load_as(out, NULL, name, source, err);
}

bool cmd_source_has_parts(const char *source) { return cmd_sink_is_stored(source); }

/* Before what says how cells are read; in a file without a name inside, its first group. */
bool cmd_source_part(char **out, const char *source, const char *part)
{
    const char *options = strrchr(source, '@');
    int         length = (int)(options ? (size_t)(options - source) : strlen(source));
    bool        is_inside = memchr(source, ':', (size_t)length) != NULL;

    *out = NULL;
    return asprintf(out, "%.*s%s%s%s", length, source, is_inside ? "." : ":/", part,
                    options ? options : "") >= 0;
}

/* ---- Sinks ----------------------------------------------------------------------------------- */

/* Pipes and devices have no ending: they get a .npy. */
static bool is_special(const char *file)
{
    struct stat s;

    return stat(file, &s) == 0 && !S_ISREG(s.st_mode) && !S_ISDIR(s.st_mode);
}

static bool is_directory(const char *file)
{
    struct stat s;

    return stat(file, &s) == 0 && S_ISDIR(s.st_mode);
}

static bool fail_sink(const char *file, cmd_error *err)
{
    if (is_directory(file))
        return cmd_fail(err, "cannot write %s: it is a directory; name a file in it: %s/y.npy",
                        file, file);
    if (has_ending(file, ".png .svg .jpg .jpeg .pdf .gif"))
        return cmd_fail(err,
                        "cannot write %s: -o writes arrays; for a picture write a .npy, then "
                        "arras show y.npy --png y.png",
                        file);
    return cmd_fail(err, "cannot write %s: the name of a file must end in .npy, .h5, .nc or .zarr",
                    file);
}

/* A sink that ends with `+` is appended to; that is no part of a name. */
static bool parse_sink(cmd_place *out, bool *appends, const char *sink, cmd_error *err)
{
    size_t length = strlen(sink);

    *appends = length > 1 && sink[length - 1] == '+';
    char *place = strndup(sink, length - *appends);
    bool  ok = place ? cmd_place_parse(out, place, err) : cmd_fail(err, "%s: out of memory", sink);
    free(place);
    return ok;
}

bool cmd_sink_is_stored(const char *sink)
{
    cmd_place place;
    cmd_error err;
    bool      appends;

    if (!parse_sink(&place, &appends, sink, &err))
        return false;
    bool stored = place.format > CMD_FORMAT_NPY;
    cmd_place_free(&place);
    return stored;
}

bool cmd_sink_store(arras_sink **out, const char *sink, const cmd_array *a, const char *like,
                    cmd_error *err)
{
    cmd_place place, from = { 0 };
    bool      appends;

    if (!parse_sink(&place, &appends, sink, err))
        return false;
    bool ok = !like || cmd_place_parse(&from, like, err);
    if (ok)
        ok = (appends ? cmd_stored_append : cmd_stored_create)(out, &place, a, like ? &from : NULL,
                                                               err);
    cmd_place_free(&place);
    cmd_place_free(&from);
    return ok;
}

static bool is_same_file(const struct stat *a, const struct stat *b)
{
    return a->st_dev == b->st_dev && a->st_ino == b->st_ino;
}

/* The directory that a file is in. */
static bool look_around(struct stat *out, const char *file)
{
    char *directory = strdup(file), *slash = directory ? strrchr(directory, '/') : NULL;

    if (slash)
        slash[1] = '\0';
    bool ok = directory && stat(slash ? directory : ".", out) == 0;
    free(directory);
    return ok;
}

/* Containers see to themselves: what they have already is not replaced. */
static bool would_replace(const cmd_place *to, const cmd_place *from)
{
    struct stat there, source, around;

    if (to->format > CMD_FORMAT_NPY || is_special(to->file) || stat(to->file, &there) != 0 ||
        stat(from->file, &source) != 0)
        return false;
    return is_same_file(&there, &source) ||
           (look_around(&around, to->file) && is_same_file(&around, &source));
}

bool cmd_sink_check_apart(const char *sink, const char *source, cmd_error *err)
{
    cmd_place to = { 0 }, from = { 0 };
    cmd_error ignored; /* whoever opens them says what is wrong with them */
    bool      replaces = cmd_place_parse(&to, sink, &ignored) &&
                    cmd_place_parse(&from, source, &ignored) && would_replace(&to, &from);

    cmd_place_free(&to);
    cmd_place_free(&from);
    return !replaces || cmd_fail(err,
                                 "%s would replace the input %s; write another file, so that the "
                                 "input stays as it is",
                                 sink, source);
}

bool cmd_sink_open(cmd_output *out, const char *sink, cmd_error *err)
{
    cmd_place place;
    bool      ok;

    if (!cmd_place_parse(&place, sink, err))
        return false;
    if (place.format == CMD_FORMAT_UNKNOWN && !is_special(place.file))
        ok = fail_sink(place.file, err);
    else
        ok = cmd_output_open(out, place.file, err);
    cmd_place_free(&place);
    return ok;
}

static bool write_stored(const char *sink, const cmd_array *a, cmd_error *err)
{
    arras_sink *stored;

    if (!cmd_sink_store(&stored, sink, a, NULL, err))
        return false;
    if (cmd_stored_write(stored, a, err))
        return cmd_stored_finish(stored, err);
    arras_sink_abandon(stored);
    return false;
}

bool cmd_sink_write(const char *sink, const cmd_array *a, cmd_error *err)
{
    cmd_output out;

    if (cmd_sink_is_stored(sink))
        return write_stored(sink, a, err);
    if (!cmd_sink_open(&out, sink, err))
        return false;
    if (cmd_npy_write(&out, a, err))
        return cmd_output_finish(&out, err);
    cmd_output_abandon(&out);
    return false;
}
