/* repl.h -- the parts of the REPL: a session with its arrays, the work of one line, commands, lines
 * of input, completion. */
#ifndef CMD_REPL_H
#define CMD_REPL_H

#include "cmd/array.h"
#include "lang/lang.h"

/* ---- The session ----------------------------------------------------------------------------- */

typedef struct cmd_variable {
    char     *name;
    cmd_array array;
} cmd_variable;

typedef struct cmd_session {
    lang_program *program; /* edges, params, lets and functions; equations only for a moment */
    int           count, room;
    cmd_variable *variables;
    int           nwords; /* names of lets and functions, for completion */
    char        **words;
    bool          quits;
} cmd_session;

bool cmd_session_open(cmd_session *out, cmd_error *err);
void cmd_session_close(cmd_session *s);
/* NULL when there is none of that name. */
cmd_array *cmd_session_find(const cmd_session *s, const char *name);
/* The session takes the array over; one that was there under this name is released.  On failure
 * (out of memory) the array is still the caller's. */
bool cmd_session_set(cmd_session *s, const char *name, cmd_array *a, cmd_error *err);
/* Notes the names that `let` and `def` define in a text that was added. */
void cmd_session_note_words(cmd_session *s, const char *text);
/* "name : f64[3, 4]" and the array below it. */
void cmd_session_print(const char *name, const cmd_array *a);

/* ---- The work of one line -------------------------------------------------------------------- */

/* From a text to results; each step needs the one before.  Zero it first, free it in any case. */
typedef struct cmd_work {
    arras_graph   *graph; /* NULL when the text has no results: a let, an edge */
    arras_program *compiled;
    int            count; /* of results */
    cmd_array     *results;
} cmd_work;

/* Statements that are no equations stay in the session; equations do not. */
bool cmd_work_lower(cmd_work *w, cmd_session *s, const char *text, cmd_error *err);
bool cmd_work_compile(cmd_work *w, cmd_error *err);
/* May be repeated.  Ctrl-C ends it with a message. */
bool        cmd_work_launch(cmd_work *w, const cmd_session *s, cmd_error *err);
const char *cmd_work_name(const cmd_work *w, int i);
void        cmd_work_free(cmd_work *w);

/* ---- Commands: lines that begin with `:` ----------------------------------------------------- */

typedef struct cmd_repl_command {
    const char *name;
    const char *arguments;
    const char *text; /* one line of help */
    bool (*run)(cmd_session *s, const char *rest, cmd_error *err);
} cmd_repl_command;
const cmd_repl_command *cmd_repl_command_at(int i); /* NULL when out of range */
/* `line` begins after the colon. */
bool cmd_repl_command_run(cmd_session *s, const char *line, cmd_error *err);
/* name=SOURCE, or SOURCE, which names the array after its file. */
bool cmd_session_load(cmd_session *s, const char *what, cmd_error *err);

/* ---- Ctrl-C ---------------------------------------------------------------------------------- */

/* From now on Ctrl-C is only noted, and cancels the run that is watched. */
bool cmd_repl_interrupt_start(cmd_error *err);
bool cmd_repl_interrupted(void);
void cmd_repl_interrupt_clear(void);
void cmd_repl_interrupt_watch(arras_run *run); /* NULL: none */

/* ---- Lines of input -------------------------------------------------------------------------- */

typedef enum { CMD_LINE, CMD_LINE_DROPPED, CMD_LINES_END } cmd_line_event;
typedef struct cmd_lines cmd_lines;

/* A terminal is edited, with history and completion; anything else is read line by line. */
bool cmd_lines_open(cmd_lines **out, const cmd_session *s, cmd_error *err);
void cmd_lines_close(cmd_lines *l);
/* A line with its newline, good until the next call; `more`: the statement goes on.  Dropped: the
 * user pressed Ctrl-C. */
cmd_line_event cmd_lines_next(cmd_lines *l, const char **line, size_t *length, bool more);
/* Puts a line into the history. */
void cmd_lines_remember(cmd_lines *l, const char *line);
bool cmd_lines_are_edited(const cmd_lines *l);

/* What could stand where the cursor is. */
typedef struct cmd_completion {
    size_t start; /* where the word begins that is completed */
    int    count, room;
    char **words; /* sorted, each complete with `(` or `/` where one follows */
    bool   files;
} cmd_completion;
void cmd_complete(cmd_completion *out, const cmd_session *s, const char *line, size_t cursor);
void cmd_completion_free(cmd_completion *c);
/* How many letters all words have in common. */
size_t cmd_completion_common(const cmd_completion *c);

#endif
