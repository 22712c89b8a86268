/* repl.c -- `arras repl`: reads statements, shows what they give, goes on whatever happens. */
#include "cmd/repl/repl.h"

#include "cmd/commands.h"
#include "cmd/interrupt.h"
#include "cmd/io/stored.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const cmd_option cmd_repl_options[] = { { NULL, 0, NULL, NULL } };

/* ---- One statement --------------------------------------------------------------------------- */

/* Results become arrays of the session. */
static bool keep_results(cmd_work *w, cmd_session *s, cmd_error *err)
{
    for (int i = 0; i < w->count; i++) {
        if (!cmd_session_set(s, cmd_work_name(w, i), &w->results[i], err))
            return false;
        w->results[i] = (cmd_array){ 0 };
        cmd_session_forget_word(s, cmd_work_name(w, i));
        if (!cmd_session_print(cmd_work_name(w, i), cmd_session_find(s, cmd_work_name(w, i)), err))
            return false;
    }
    return true;
}

/* What people type who have not read :help yet; NULL for anything else. */
static const char *command_meant(const char *text)
{
    if (strcmp(text, "quit") == 0 || strcmp(text, "exit") == 0)
        return ":quit";
    return strcmp(text, "help") == 0 ? ":help" : NULL;
}

static void warn_once(cmd_session *s, const cmd_work *w)
{
    const char *warning = w->compiled ? arras_program_warning(w->compiled) : NULL;

    if (warning && !s->warned)
        cmd_warn("%s (until then the reference evaluator computes, which is slow)", warning);
    if (w->compiled && !warning)
        cmd_warn_uncached(NULL);
    s->warned |= warning != NULL;
}

static bool evaluate(cmd_session *s, const char *text, cmd_error *err)
{
    const cmd_array *named = cmd_session_find(s, text);
    cmd_work         w = { 0 };
    bool             ok;

    /* The value of the expression would be a copy of all of it. */
    if (named && (named->stored || cmd_array_bytes(named) > CMD_SMALL))
        return cmd_session_print(text, named, err);

    if (command_meant(text) && !named)
        return cmd_fail(err, "there is no array `%s`; the command is %s", text,
                        command_meant(text));
    ok = cmd_work_lower(&w, s, text, err);

    if (ok && w.graph) {
        ok = cmd_work_compile(&w, s, err);
        warn_once(s, &w);
        ok = ok && cmd_work_launch(&w, s, err) && keep_results(&w, s, err);
    }
    if (ok)
        cmd_work_keep(&w, text);
    cmd_work_free(&w);
    return ok;
}

/* Whether all went well; if not, it has been said. */
static bool answer(cmd_session *s, char *text)
{
    const char *start = text + strspn(text, " \t\n");
    size_t      length = strlen(text);
    cmd_error   err;
    bool        ok;

    while (length > 0 && strchr(" \t\n", text[length - 1]))
        text[--length] = '\0';
    cmd_interrupt_note(false);
    ok = *start == ':' ? cmd_repl_command_run(s, start + 1, &err) : evaluate(s, text, &err);
    fflush(stdout);
    if (!ok)
        fprintf(stderr, "%s\n", err.text);
    return ok;
}

/* ---- All of them ----------------------------------------------------------------------------- */

/* The lines of a statement so far. */
typedef struct {
    char  *text;
    size_t length, room;
    char  *command; /* the line that ended it, and is the next; or NULL */
} statement;

static bool append(statement *t, const char *line, size_t length)
{
    size_t need = t->length + length + 1;
    char  *more = need <= t->room ? t->text : realloc(t->text, 2 * need);

    if (!more)
        return false;
    t->room = need <= t->room ? t->room : 2 * need;
    t->text = more;
    memcpy(t->text + t->length, line, length);
    t->length += length;
    t->text[t->length] = '\0';
    return true;
}

static bool is_unfinished(const statement *t)
{
    return t->text[strspn(t->text, " \t\n")] != ':' && lang_is_unfinished(t->text, t->length);
}

/* Within a statement: somebody gave up, and wants to go on. */
static bool ends_statement(const char *line)
{
    const char *start = line + strspn(line, " \t\r\n");

    return *start == '\0' || *start == ':';
}

static cmd_line_event take_command(statement *t)
{
    char          *line = t->command;
    cmd_line_event event = append(t, line, strlen(line)) ? CMD_LINE : CMD_LINES_END;

    t->command = NULL;
    free(line);
    return event;
}

static bool has_nul(const statement *t) { return memchr(t->text, '\0', t->length) != NULL; }

/* Reads to the end of a statement. */
static cmd_line_event read_statement(statement *t, cmd_lines *lines)
{
    const char    *line;
    size_t         length;
    cmd_line_event event;

    t->length = 0;
    if (t->command)
        return take_command(t);
    do {
        event = cmd_lines_next(lines, &line, &length, t->length > 0);
        if (event == CMD_LINES_END && t->length > 0)
            return CMD_LINE; /* the language says what is missing */
        if (event != CMD_LINE)
            return event;
        cmd_lines_remember(lines, line);
        if (t->length > 0 && ends_statement(line)) {
            t->command = line[strspn(line, " \t\r\n")] ? strdup(line) : NULL;
            return CMD_LINE;
        }
        if (!append(t, line, length))
            return CMD_LINES_END;
    } while (is_unfinished(t));
    return CMD_LINE;
}

/* Whether every statement went well. */
static bool converse(cmd_session *s, cmd_lines *lines)
{
    statement      t = { 0 };
    cmd_line_event event = CMD_LINE;
    bool           ok = true;

    while (!s->quits && (event = read_statement(&t, lines)) != CMD_LINES_END) {
        if (event == CMD_LINE_DROPPED)
            puts("^C");
        else if (has_nul(&t))
            ok = cmd_complain("a line has a byte 0 in it") == 0;
        else
            ok &= answer(s, t.text);
    }
    if (event == CMD_LINES_END && cmd_lines_are_edited(lines))
        putchar('\n');
    free(t.text);
    free(t.command);
    return ok;
}

static bool load_arguments(cmd_session *s, int argc, char **argv, cmd_error *err)
{
    cmd_arguments arguments = cmd_arguments_of(argc, argv, cmd_repl_options);
    const char   *value = NULL;
    int           kind;

    while ((kind = cmd_next_argument(&arguments, &value, err)) != CMD_END_OF_ARGUMENTS)
        if (kind != CMD_NAME || !cmd_session_load(s, value, err))
            return false;
    return true;
}

static bool start(cmd_session *s, cmd_lines **lines, int argc, char **argv, cmd_error *err)
{
    if (!cmd_lines_open(lines, s, err))
        return false;
    if (cmd_lines_are_edited(*lines)) {
        printf("Arras %s.  An equation or an expression, :help, or Ctrl-D.\n", arras_version());
        if (!cmd_repl_interrupt_start(err))
            return false;
    } else {
        cmd_interrupt_start();
    }
    return load_arguments(s, argc, argv, err);
}

int cmd_repl(int argc, char **argv)
{
    cmd_session session;
    cmd_lines  *lines = NULL;
    cmd_error   err;
    bool        ok;

    if (!cmd_session_open(&session, &err))
        return cmd_complain("%s", err.text);
    ok = start(&session, &lines, argc, argv, &err);
    if (!ok)
        cmd_complain("%s", err.text);
    /* At a terminal the user has seen what went wrong; a script needs to know. */
    else if (!converse(&session, lines))
        ok = cmd_lines_are_edited(lines);
    if (lines)
        cmd_lines_close(lines);
    cmd_session_close(&session);
    return ok ? 0 : 1;
}
