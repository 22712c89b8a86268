/* repl_lines.c -- lines of input: edited by libedit in a terminal, with a history that is kept in a
 * file; otherwise just read. */
#include "cmd/repl/repl.h"
#include "cmd/show/terminal.h"

#include <errno.h>
#include <histedit.h>
#include <locale.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { HISTORY_LINES = 2000, MOST_LISTED = 120 };

struct cmd_lines {
    const cmd_session *session;
    EditLine          *editor; /* NULL when the input is no terminal */
    History           *history;
    char              *history_file; /* NULL when there is no place for it */
    bool               more, dropped;
    char              *line; /* of getline */
    size_t             room;
};

static cmd_lines *lines_of(EditLine *editor)
{
    void *l = NULL;

    el_get(editor, EL_CLIENTDATA, &l);
    return l;
}

/* ---- What keys do ---------------------------------------------------------------------------- */

static char *prompt(EditLine *editor)
{
    static char first[] = "arras> ", next[] = "   ... ";

    return lines_of(editor)->more ? next : first;
}

/* Ctrl-C: the line is gone, and so are those before it that belong to the same statement. */
static unsigned char drop_line(EditLine *editor, int key)
{
    (void)key;
    lines_of(editor)->dropped = true;
    return CC_NEWLINE;
}

/* Ctrl-Z: back to the shell; `fg` comes back here. */
static unsigned char suspend(EditLine *editor, int key)
{
    (void)key;
    el_set(editor, EL_PREP_TERM, 0);
    raise(SIGTSTP);
    el_set(editor, EL_PREP_TERM, 1);
    return CC_REDISPLAY;
}

static void list_words(const cmd_completion *c)
{
    int width = cmd_terminal_of(stdout).width, longest = 0, columns;
    int shown = c->count < MOST_LISTED ? c->count : MOST_LISTED;

    for (int i = 0; i < shown; i++)
        longest = (int)strlen(c->words[i]) > longest ? (int)strlen(c->words[i]) : longest;
    columns = width / (longest + 2) > 0 ? width / (longest + 2) : 1;
    for (int i = 0; i < shown; i++)
        printf("%s%-*s", i % columns ? "" : "\n", longest + 2, c->words[i]);
    if (shown < c->count)
        printf("\nand %d more", c->count - shown);
    putchar('\n');
    fflush(stdout);
}

static unsigned char complete(EditLine *editor, int key)
{
    const LineInfo *line = el_line(editor);
    size_t          cursor = (size_t)(line->cursor - line->buffer), typed;
    cmd_completion  c;
    unsigned char   result = CC_REFRESH;

    (void)key;
    cmd_complete(&c, lines_of(editor)->session, line->buffer, cursor);
    typed = cursor - c.start;
    if (c.count == 0) {
        result = CC_REFRESH_BEEP;
    } else if (cmd_completion_common(&c) > typed) {
        c.words[0][cmd_completion_common(&c)] = '\0';
        el_insertstr(editor, c.words[0] + typed);
    } else if (c.count > 1) {
        list_words(&c);
        result = CC_REDISPLAY;
    }
    cmd_completion_free(&c);
    return result;
}

/* ---- History --------------------------------------------------------------------------------- */

/* As root with the HOME of a user (sudo), what is made would lock that user out. */
static bool make_folder(const char *path, uid_t *owner)
{
    struct stat s;

    if (stat(path, &s) == 0) {
        *owner = s.st_uid;
        return true;
    }
    if (geteuid() == 0 && *owner != 0)
        return false;
    *owner = geteuid();
    return mkdir(path, 0700) == 0 || errno == EEXIST;
}

static bool make_folders(char *path)
{
    uid_t owner = 0;

    for (char *slash = strchr(path + 1, '/'); slash; slash = strchr(slash + 1, '/')) {
        *slash = '\0';
        bool ok = make_folder(path, &owner);
        *slash = '/';
        if (!ok)
            return false;
    }
    return geteuid() != 0 || owner == 0;
}

static char *find_history_file(void)
{
    const char *state = getenv("XDG_STATE_HOME"), *home = getenv("HOME");
    char       *path = NULL;
    int         n = -1;

    if (state && *state == '/')
        n = asprintf(&path, "%s/arras/history", state);
    else if (home && *home == '/')
        n = asprintf(&path, "%s/.local/state/arras/history", home);
    if (n < 0)
        return NULL;
    if (make_folders(path))
        return path;
    free(path);
    return NULL;
}

static bool open_history(cmd_lines *l)
{
    HistEvent event;

    l->history = history_init();
    if (!l->history)
        return false;
    history(l->history, &event, H_SETSIZE, HISTORY_LINES);
    history(l->history, &event, H_SETUNIQUE, 1);
    l->history_file = find_history_file();
    if (l->history_file)
        history(l->history, &event, H_LOAD, l->history_file);
    el_set(l->editor, EL_HIST, history, l->history);
    return true;
}

void cmd_lines_remember(cmd_lines *l, const char *line)
{
    char     *text = l->history ? strndup(line, strcspn(line, "\n")) : NULL;
    HistEvent event;

    if (text && text[strspn(text, " \t")])
        history(l->history, &event, H_ENTER, text);
    free(text);
    /* At once, so that nothing is lost however the session ends. */
    if (l->history_file && text)
        history(l->history, &event, H_SAVE, l->history_file);
}

/* ---- The editor ------------------------------------------------------------------------------ */

static void bind_keys(EditLine *editor)
{
    el_set(editor, EL_ADDFN, "arras-complete", "complete the word", complete);
    el_set(editor, EL_ADDFN, "arras-drop", "drop the line", drop_line);
    el_set(editor, EL_ADDFN, "arras-suspend", "back to the shell", suspend);
    el_set(editor, EL_BIND, "\t", "arras-complete", NULL);
    el_set(editor, EL_BIND, "^C", "arras-drop", NULL);
    el_set(editor, EL_BIND, "^Z", "arras-suspend", NULL);
    el_set(editor, EL_BIND, "^R", "em-inc-search-prev", NULL);
    el_set(editor, EL_BIND, "^W", "ed-delete-prev-word", NULL);
    /* While a line is edited, Ctrl-C and Ctrl-Z are keys like any other. */
    el_set(editor, EL_SETTY, "-d", "-isig", NULL);
}

/* Letters beyond ASCII are edited as such, also where no locale was set. */
static void set_locale(void)
{
    if (!setlocale(LC_CTYPE, "") || MB_CUR_MAX == 1)
        setlocale(LC_CTYPE, "C.UTF-8");
}

static bool open_editor(cmd_lines *l)
{
    set_locale();
    l->editor = el_init("arras", stdin, stdout, stderr);
    if (!l->editor)
        return false;
    el_set(l->editor, EL_CLIENTDATA, l);
    el_set(l->editor, EL_PROMPT, prompt);
    el_set(l->editor, EL_EDITOR, "emacs");
    bind_keys(l->editor);
    el_source(l->editor, NULL);
    return open_history(l);
}

bool cmd_lines_open(cmd_lines **out, const cmd_session *s, cmd_error *err)
{
    cmd_lines *l = calloc(1, sizeof *l);

    if (!l)
        return cmd_fail(err, "out of memory");
    l->session = s;
    if (isatty(STDIN_FILENO) && isatty(STDOUT_FILENO) && !open_editor(l)) {
        cmd_lines_close(l);
        return cmd_fail(err, "the line editor cannot be started");
    }
    *out = l;
    return true;
}

void cmd_lines_close(cmd_lines *l)
{
    if (l->history)
        history_end(l->history);
    if (l->editor)
        el_end(l->editor);
    free(l->history_file);
    free(l->line);
    free(l);
}

bool cmd_lines_are_edited(const cmd_lines *l) { return l->editor != NULL; }

static cmd_line_event edit_line(cmd_lines *l, const char **line, size_t *length)
{
    int n = 0;

    l->dropped = false;
    el_resize(l->editor);
    *line = el_gets(l->editor, &n);
    if (l->dropped)
        return CMD_LINE_DROPPED;
    if (!*line || n <= 0)
        return CMD_LINES_END;
    *length = (size_t)n;
    return CMD_LINE;
}

cmd_line_event cmd_lines_next(cmd_lines *l, const char **line, size_t *length, bool more)
{
    ssize_t n;

    l->more = more;
    if (l->editor)
        return edit_line(l, line, length);
    n = getline(&l->line, &l->room, stdin);
    if (n < 0)
        return CMD_LINES_END;
    *line = l->line;
    *length = (size_t)n;
    return CMD_LINE;
}
