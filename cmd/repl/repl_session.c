/* repl_session.c -- the arrays and definitions that stay between the lines of a REPL. */
#include "cmd/io/print_array.h"
#include "cmd/repl/repl.h"
#include "cmd/show/letters.h"

#include <stdlib.h>
#include <string.h>

bool cmd_session_open(cmd_session *out, cmd_error *err)
{
    *out = (cmd_session){ .program = lang_program_new() };
    return out->program || cmd_fail(err, "out of memory");
}

void cmd_session_close(cmd_session *s)
{
    for (int i = 0; i < s->count; i++) {
        free(s->variables[i].name);
        cmd_array_free(&s->variables[i].array);
    }
    for (int i = 0; i < s->nwords; i++)
        free(s->words[i]);
    free(s->variables);
    free(s->words);
    lang_program_free(s->program);
    *s = (cmd_session){ 0 };
}

cmd_array *cmd_session_find(const cmd_session *s, const char *name)
{
    for (int i = 0; i < s->count; i++)
        if (strcmp(s->variables[i].name, name) == 0)
            return &s->variables[i].array;
    return NULL;
}

static bool make_room(cmd_session *s)
{
    int           room = s->room ? 2 * s->room : 16;
    cmd_variable *more = s->count < s->room
                             ? s->variables
                             : realloc(s->variables, (size_t)room * sizeof *s->variables);

    if (!more)
        return false;
    s->room = s->count < s->room ? s->room : room;
    s->variables = more;
    return true;
}

bool cmd_session_set(cmd_session *s, const char *name, cmd_array *a, cmd_error *err)
{
    cmd_array *there = cmd_session_find(s, name);
    char      *copy;

    if (there) {
        cmd_array_free(there);
        *there = *a;
        return true;
    }
    copy = strdup(name);
    if (!copy || !make_room(s)) {
        free(copy);
        return cmd_fail(err, "out of memory for the array `%s`", name);
    }
    s->variables[s->count++] = (cmd_variable){ copy, *a };
    return true;
}

void cmd_session_drop(cmd_session *s, const char *name)
{
    int i = 0;

    while (i < s->count && strcmp(s->variables[i].name, name) != 0)
        i++;
    if (i == s->count)
        return;
    free(s->variables[i].name);
    cmd_array_free(&s->variables[i].array);
    memmove(&s->variables[i], &s->variables[i + 1],
            (size_t)(--s->count - i) * sizeof *s->variables);
}

bool cmd_session_print(const char *name, const cmd_array *a, cmd_error *err)
{
    bool ok = true;

    printf("%s : ", name);
    cmd_print_type(stdout, a);
    fputs(a->rank == 0 ? " = " : "\n", stdout);
    if (a->stored)
        ok = cmd_print_stored(stdout, a, cmd_print_width(stdout), err);
    else
        cmd_print_array(stdout, a, cmd_print_width(stdout));
    if (ok)
        putchar('\n');
    return ok;
}

/* ---- Words ----------------------------------------------------------------------------------- */

static size_t name_length(const char *s)
{
    size_t n = 0;

    while (cmd_is_name(s[n]) || s[n] == '.')
        n++;
    return n;
}

/* Words are for completion only: when memory is short there are fewer of them. */
static void add_word(cmd_session *s, const char *name, size_t length)
{
    char **more, *copy;

    for (int i = 0; i < s->nwords; i++)
        if (strlen(s->words[i]) == length && memcmp(s->words[i], name, length) == 0)
            return;
    more = realloc(s->words, ((size_t)s->nwords + 1) * sizeof *more);
    if (!more)
        return;
    s->words = more;
    copy = strndup(name, length);
    if (copy)
        s->words[s->nwords++] = copy;
}

static bool defines(const char *word, size_t length)
{
    return (length == 3 && (memcmp(word, "let", 3) == 0 || memcmp(word, "def", 3) == 0)) ||
           (length == 5 && memcmp(word, "param", 5) == 0);
}

void cmd_session_note_words(cmd_session *s, const char *text)
{
    bool defining = false;

    while (*text) {
        size_t n = name_length(text);

        if (n > 0 && defining)
            add_word(s, text, n);
        if (n > 0)
            defining = defines(text, n);
        if (*text == '#')
            n = strcspn(text, "\n");
        text += n > 0 ? n : 1;
    }
}

void cmd_session_forget_word(cmd_session *s, const char *word)
{
    for (int i = 0; i < s->nwords; i++)
        if (strcmp(s->words[i], word) == 0) {
            free(s->words[i]);
            s->words[i] = s->words[--s->nwords];
            return;
        }
}
