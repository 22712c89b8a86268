/* source.c -- arrays from where they are and to where they go, whatever the format. */
#include "cmd/io/source.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cmd/io/names.h"
#include "cmd/io/npy.h"
#include "cmd/io/stored.h"
#include "lang/lang.h"

/* ---- Sources --------------------------------------------------------------------------------- */

/* How an array is wanted. */
typedef struct {
    const char       *name;   /* for messages about a literal */
    arras_npy_header *header; /* out: version 0 for a literal; may be NULL */
    int64_t           most;   /* bytes; what has more and can't be mapped stays in its file */
} wish;

/* Whether a file is to be mapped: not where that would not give the cells of the array, nor to look
 * at some of them, as each page that is touched brings others. */
static bool is_mapped(const arras_npy_header *h, const wish *w)
{
    return !h->swapped && !h->half && h->dtype != ARRAS_BOOL && w->most > 0;
}

static bool is_regular(int fd)
{
    struct stat s;

    return fstat(fd, &s) == 0 && S_ISREG(s.st_mode);
}

/* Whether a .npy stays in its file; *ok: whether that could be found out. */
static bool stays(bool *ok, int fd, const char *file, const wish *w, cmd_error *err)
{
    arras_npy_header h = { 0 };

    *ok = true;
    if (w->most == INT64_MAX || !is_regular(fd))
        return false;
    *ok =
        cmd_npy_header_read(&h, fd, file, err) &&
        (lseek(fd, 0, SEEK_SET) == 0 || cmd_fail(err, "cannot read %s: %s", file, strerror(errno)));
    cmd_array a = { .dtype = h.dtype, .rank = h.rank };
    memcpy(a.shape, h.shape, sizeof a.shape);
    int64_t bytes = cmd_array_bytes(&a);
    return *ok && !is_mapped(&h, w) && bytes > w->most;
}

static bool read_open_file(cmd_array *out, int fd, const cmd_place *place, const wish *w,
                           cmd_error *err)
{
    struct stat s;
    bool        ok;

    if (fstat(fd, &s) == 0 && S_ISDIR(s.st_mode))
        return cmd_fail(err, "cannot read %s: it is a directory", place->file);
    if (stays(&ok, fd, place->file, w, err))
        return cmd_stored_read(out, place, w->most, err);
    if (ok && w->most < INT64_MAX)
        return cmd_npy_read_unordered(out, fd, place->file, err);
    return ok && cmd_npy_read(out, w->header, fd, place->file, err);
}

static bool read_file(cmd_array *out, const cmd_place *place, const wish *w, cmd_error *err)
{
    int fd = open(place->file, O_RDONLY | O_CLOEXEC);

    if (fd < 0)
        return cmd_fail(err, "cannot read %s: %s", place->file, strerror(errno));
    bool ok = read_open_file(out, fd, place, w, err);
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
static bool read_other(cmd_array *out, const wish *w, const char *source, const cmd_place *place,
                       cmd_error *err)
{
    lang_error why = { "" };

    if (read_literal(out, w->name, source, &why))
        return true;
    if (!check_ending(place->file, err))
        return false;
    if (access(place->file, F_OK) == 0)
        return read_file(out, place, w, err);
    if (looks_like_literal(source))
        return cmd_fail(err, "%s", why.text);
    return cmd_fail(err,
                    "%s is neither a file nor a literal such as 3.5 or [1,2,3] "
                    "(see `arras help sources`)",
                    source);
}

static bool load(cmd_array *out, const char *source, const wish *w, cmd_error *err)
{
    cmd_place place;
    bool      ok;

    if (!cmd_place_parse(&place, source, err))
        return false;
    if (place.format == CMD_FORMAT_UNKNOWN && !cmd_stored_is(&place))
        ok = read_other(out, w, source, &place, err);
    else if (place.format == CMD_FORMAT_STREAM)
        ok = cmd_npy_read(out, w->header, STDIN_FILENO, "standard input", err);
    else if (place.format == CMD_FORMAT_NPY)
        ok = read_file(out, &place, w, err);
    else
        ok = cmd_stored_read(out, &place, w->most, err);
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
    return load(out, source, &(wish){ "literal", header, INT64_MAX }, err);
}

bool cmd_source_read(cmd_array *out, const char *source, cmd_error *err)
{
    return cmd_source_load(out, NULL, source, err);
}

bool cmd_source_open(cmd_array *out, const char *source, int64_t most, cmd_error *err)
{
    return load(out, source, &(wish){ "literal", NULL, most }, err);
}

bool cmd_source_read_as(cmd_array *out, const char *name, const char *source, int64_t most,
                        cmd_error *err)
{
    return load(out, source, &(wish){ name, NULL, most }, err);
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
                        "cannot write %s: that is no file of an array; for a picture write a .npy, "
                        "then arras show y.npy --png y.png",
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
    size_t length = strlen(sink);
    bool   appends = length > 1 && sink[length - 1] == '+';

    return cmd_place_format(sink, length - appends) > CMD_FORMAT_NPY;
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

bool cmd_sink_is_file(const char *sink)
{
    cmd_place place;
    cmd_error unused;
    bool      appends;

    if (!parse_sink(&place, &appends, sink, &unused))
        return false;
    bool is_file = !appends && place.format >= CMD_FORMAT_NPY && !is_special(place.file);
    cmd_place_free(&place);
    return is_file;
}

bool cmd_sink_create(arras_sink **out, const char *sink, const cmd_array *a, cmd_error *err)
{
    arras_sink_options options = { 0 };
    arras_error        why;
    cmd_place          place;

    if (!cmd_place_parse(&place, sink, err))
        return false;
    options.replace = place.format == CMD_FORMAT_NPY;
    bool ok = arras_sink_create(out, place.file, place.part, a->dtype, a->rank, a->shape, &options,
                                &why) == ARRAS_OK;
    cmd_place_free(&place);
    return ok || cmd_fail(err, "%s", why.text);
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
