/* names.c -- the names of arrays at rest, taken apart. */
#include "cmd/io/names.h"
#include "cmd/commands.h"
#include "cmd/show/letters.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

static const char *const endings_of[] = { [CMD_FORMAT_UNKNOWN] = "",
                                          [CMD_FORMAT_STREAM] = "",
#define ROW(constant, endings) [CMD_FORMAT_##constant] = endings,
                                          CMD_FORMAT_LIST(ROW)
#undef ROW
};

/* Whether `ending` is a word of `endings`. */
static bool is_one_of(const char *ending, const char *endings)
{
    size_t length = strlen(ending);

    while (*endings) {
        size_t word = strcspn(endings, " ");

        if (word == length && cmd_same_letters(ending, endings, length))
            return true;
        endings += word + (endings[word] == ' ');
    }
    return false;
}

static cmd_format format_of(const char *file)
{
    const char *slash = strrchr(file, '/');
    const char *dot = strrchr(slash ? slash : file, '.');

    for (size_t i = CMD_FORMAT_NPY; dot && i < sizeof endings_of / sizeof *endings_of; i++)
        if (is_one_of(dot, endings_of[i]))
            return (cmd_format)i;
    return CMD_FORMAT_UNKNOWN;
}

/* Names of files and arrays may have an `@`; but hardly one that is followed by what is nearly an
 * option. */
static bool check_option(const char *text, const char *at, cmd_error *err)
{
    static const char *const options[] = { "raw", "missing", NULL };
    char                     word[16];
    size_t                   n = strcspn(at + 1, "=");

    if (n >= sizeof word)
        return true;
    memcpy(word, at + 1, n);
    word[n] = '\0';
    return !cmd_nearest(word, options) ||
           cmd_fail(err, "%s: %s: expected @raw or @missing=NUMBER", text, at);
}

/* What comes after the last `@`, if that is one of the words below; it is cut off.  Without it,
 * cells that attributes say to be missing are NaN. */
static bool cut_options(arras_source_options *out, char *text, cmd_error *err)
{
    static const char word[] = "@missing=";
    char             *at = strrchr(text, '@'), *end;

    *out = (arras_source_options){ .missing = ARRAS_MISSING_PROPAGATE };
    if (at && strcmp(at, "@raw") == 0) {
        out->missing = ARRAS_MISSING_RAW;
    } else if (at && strncmp(at, word, sizeof word - 1) == 0) {
        const char *number = at + sizeof word - 1;

        *out = (arras_source_options){ ARRAS_MISSING_REPLACE, strtod(number, &end) };
        if (end == number || *end)
            return cmd_fail(err, "%s: @missing=%s: expected a number, as in @missing=0", text,
                            number);
    } else {
        return !at || check_option(text, at, err);
    }
    *at = '\0';
    return true;
}

/* Copies up to the first colon that is not escaped, without the escapes; returns where it ended. */
static const char *copy_up_to_colon(char *to, const char *from)
{
    while (*from && *from != ':') {
        if (from[0] == '\\' && (from[1] == ':' || from[1] == '\\'))
            from++;
        *to++ = *from++;
    }
    *to = 0;
    return from;
}

static void cut_slashes(char *file)
{
    size_t length = strlen(file);

    while (length > 1 && file[length - 1] == '/')
        file[--length] = 0;
}

static bool check_place(cmd_place *p, const char *text, cmd_error *err)
{
    if (p->part && p->format == CMD_FORMAT_NPY)
        return cmd_fail(err,
                        "%s: a .npy file holds one array: nothing may follow the colon "
                        "(write \\: for a colon in a file name)",
                        text);
    if (!*p->file)
        return cmd_fail(err, "%s: the name of a file is missing", *text ? text : "empty name");
    return true;
}

static bool parse(cmd_place *out, const char *text, cmd_error *err)
{
    size_t    room = strlen(text) + 1;
    cmd_place p = { .file = malloc(room) };

    if (!p.file)
        return cmd_fail(err, "%s: out of memory", text);
    const char *colon = copy_up_to_colon(p.file, text);
    if (*colon) {
        p.part = malloc(room);
        if (!p.part) {
            cmd_place_free(&p);
            return cmd_fail(err, "%s: out of memory", text);
        }
        copy_up_to_colon(p.part, colon + 1);
    }
    cut_slashes(p.file);
    p.format = strcmp(text, "-") == 0 ? CMD_FORMAT_STREAM : format_of(p.file);
    if (!check_place(&p, text, err)) {
        cmd_place_free(&p);
        return false;
    }
    *out = p;
    return true;
}

cmd_format cmd_place_format(const char *text, size_t length)
{
    char                 place[PATH_MAX], file[PATH_MAX];
    arras_source_options options;
    cmd_error            ignored;

    if (length >= sizeof place) /* longer than the name of any file */
        return CMD_FORMAT_UNKNOWN;
    memcpy(place, text, length);
    place[length] = '\0';
    cut_options(&options, place, &ignored);
    copy_up_to_colon(file, place);
    cut_slashes(file);
    return strcmp(place, "-") == 0 ? CMD_FORMAT_STREAM : format_of(file);
}

bool cmd_place_parse(cmd_place *out, const char *text, cmd_error *err)
{
    arras_source_options options;
    char                *place = strdup(text);
    bool                 ok = place ? cut_options(&options, place, err) && parse(out, place, err)
                                    : cmd_fail(err, "%s: out of memory", text);

    free(place);
    if (ok)
        out->options = options;
    return ok;
}

void cmd_place_free(cmd_place *place)
{
    free(place->file);
    free(place->part);
    *place = (cmd_place){ 0 };
}

static bool is_name(const char *text, size_t length)
{
    for (size_t i = 0; i < length; i++) {
        char c = text[i];
        bool first = i == 0 || text[i - 1] == '.';

        if (!cmd_is_letter(c) && c != '_' && (first || (!cmd_is_digit(c) && c != '.')))
            return false;
    }
    return length > 0 && text[length - 1] != '.';
}

bool cmd_assignment_split(char **name, const char **rest, const char *text)
{
    const char *equals = strchr(text, '=');

    if (!equals || !is_name(text, (size_t)(equals - text)))
        return false;
    *name = strndup(text, (size_t)(equals - text));
    *rest = equals + 1;
    return *name != NULL;
}
