/* repl_complete.c -- what could stand at the cursor: commands, names, functions, files. */
#include "cmd/repl/repl.h"
#include "cmd/show/letters.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

/* Takes over `word`, which may be NULL; when memory is short there are fewer words. */
static void add_owned(cmd_completion *c, char *word)
{
    if (word && c->count == c->room) {
        int    room = c->room ? 2 * c->room : 32;
        char **more = realloc(c->words, (size_t)room * sizeof *more);

        if (!more) {
            free(word);
            return;
        }
        c->words = more;
        c->room = room;
    }
    if (word)
        c->words[c->count++] = word;
}

static void add(cmd_completion *c, const char *word, const char *follow, const char *start,
                size_t length)
{
    char *whole = NULL;

    if (strncmp(word, start, length) == 0 && asprintf(&whole, "%s%s", word, follow) >= 0)
        add_owned(c, whole);
}

/* ---- Files ----------------------------------------------------------------------------------- */

static bool is_directory(const char *folder, const char *name)
{
    char       *path = NULL;
    struct stat info;
    bool        yes;

    if (asprintf(&path, "%s%s", folder, name) < 0)
        return false;
    yes = stat(path, &info) == 0 && S_ISDIR(info.st_mode);
    free(path);
    return yes;
}

static void add_file(cmd_completion *c, const char *folder, const char *name)
{
    char *path = NULL;

    if (asprintf(&path, "%s%s%s", folder, name, is_directory(folder, name) ? "/" : "") >= 0)
        add_owned(c, path);
}

/* Files whose names begin as what was typed; hidden ones only when a dot was typed. */
static void add_files(cmd_completion *c, const char *typed)
{
    const char *slash = strrchr(typed, '/'), *base = slash ? slash + 1 : typed;
    char       *folder = strndup(typed, (size_t)(base - typed));
    DIR        *dir = folder ? opendir(*folder ? folder : ".") : NULL;

    for (struct dirent *entry; dir && (entry = readdir(dir));) {
        const char *name = entry->d_name;

        if (strcmp(name, ".") == 0 || strcmp(name, "..") == 0 || (*name == '.' && *base != '.'))
            continue;
        if (strncmp(name, base, strlen(base)) == 0)
            add_file(c, folder, name);
    }
    if (dir)
        closedir(dir);
    free(folder);
}

/* Where a file name begins, if one is being typed: after an open quote, or in :load and :save after
 * the blank or the equals sign. */
static bool file_start(size_t *start, const char *line, size_t cursor)
{
    bool   quoted = false;
    size_t at = 0;

    for (size_t i = 0; i < cursor; i++)
        if (line[i] == '"') {
            quoted = !quoted;
            at = i + 1;
        }
    if (!quoted && (strncmp(line, ":load ", 6) == 0 || strncmp(line, ":save ", 6) == 0)) {
        for (size_t i = 0; i < cursor; i++)
            at = line[i] == ' ' || line[i] == '=' ? i + 1 : at;
        quoted = strncmp(line, ":load ", 6) == 0 || memchr(line, '=', cursor);
    }
    *start = at;
    return quoted;
}

/* ---- Words ----------------------------------------------------------------------------------- */

static bool in_word(char c) { return cmd_is_name(c) || c == '.'; }

static void add_words(cmd_completion *c, const cmd_session *s, const char *start, size_t length)
{
    for (int i = 0; i < s->count; i++)
        add(c, s->variables[i].name, "", start, length);
    for (int i = 0; i < s->nwords; i++)
        add(c, s->words[i], "", start, length);
    for (int i = 0; lang_function_at(i); i++)
        add(c, lang_function_at(i)->name, "(", start, length);
    for (int i = 0; lang_keyword_at(i); i++)
        add(c, lang_keyword_at(i), "", start, length);
}

static int by_text(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

static void sort_words(cmd_completion *c)
{
    int kept = 0;

    if (c->count > 0)
        qsort(c->words, (size_t)c->count, sizeof *c->words, by_text);
    for (int i = 0; i < c->count; i++)
        if (kept > 0 && strcmp(c->words[kept - 1], c->words[i]) == 0)
            free(c->words[i]);
        else
            c->words[kept++] = c->words[i];
    c->count = kept;
}

static void complete_text(cmd_completion *c, const cmd_session *s, const char *line)
{
    size_t cursor = strlen(line);

    c->files = file_start(&c->start, line, cursor);
    if (c->files) {
        add_files(c, line + c->start);
        return;
    }
    for (c->start = cursor; c->start > 0 && in_word(line[c->start - 1]);)
        c->start--;
    if (c->start == 1 && line[0] == ':')
        for (int i = 0; cmd_repl_command_at(i); i++)
            add(c, cmd_repl_command_at(i)->name, " ", line + 1, cursor - 1);
    else
        add_words(c, s, line + c->start, cursor - c->start);
}

void cmd_complete(cmd_completion *out, const cmd_session *s, const char *line, size_t cursor)
{
    char *text = strndup(line, cursor);

    *out = (cmd_completion){ 0 };
    if (text)
        complete_text(out, s, text);
    free(text);
    sort_words(out);
}

void cmd_completion_free(cmd_completion *c)
{
    for (int i = 0; i < c->count; i++)
        free(c->words[i]);
    free(c->words);
    *c = (cmd_completion){ 0 };
}

size_t cmd_completion_common(const cmd_completion *c)
{
    size_t common = c->count > 0 ? strlen(c->words[0]) : 0;

    for (int i = 1; i < c->count; i++) {
        size_t n = 0;

        while (n < common && c->words[i][n] == c->words[0][n])
            n++;
        common = n;
    }
    return common;
}
