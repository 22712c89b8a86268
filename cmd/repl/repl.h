/* repl.h -- the parts of the REPL: a session with its arrays, the work of one line, commands, lines
 * of input, completion. */
#ifndef CMD_REPL_H
#define CMD_REPL_H

#include "cmd/io/array.h"
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
    bool          warned; /* that there are no kernels */
} cmd_session;

bool cmd_session_open(cmd_session *out, cmd_error *err);
void cmd_session_close(cmd_session *s);
/* NULL when there is none of that name. */
cmd_array *cmd_session_find(const cmd_session *s, const char *name);
/* The session takes the array over; one that was there under this name is released.  On failure
 * (out of memory) the array is still the caller's. */
bool cmd_session_set(cmd_session *s, const char *name, cmd_array *a, cmd_error *err);
/* Releases the array of this name, if there is one. */
void cmd_session_drop(cmd_session *s, const char *name);
/* Notes the names that `let` and `def` define in a text that was added, and forgets one that means
 * an array now. */
void cmd_session_note_words(cmd_session *s, const char *text);
void cmd_session_forget_word(cmd_session *s, const char *word);
/* "name : f64[3, 4]" and the array below it. */
bool cmd_session_print(const char *name, const cmd_array *a, cmd_error *err);

/* ---- The work of one line -------------------------------------------------------------------- */

/* A let or param that a text defines anew by means of itself, as in a = a + 1: its value becomes an
 * array of the session, which the new definition reads. */
typedef struct cmd_renewed {
    char     *name;
    cmd_array array; /* the value; or that of the session whose place it has taken */
    bool      in_session, had_array;
} cmd_renewed;

/* From a text to results; each step needs the one before.  Zero it first, free it in any case:
 * unless it was kept, the session is then as it was before. */
typedef struct cmd_work {
    cmd_session   *session; /* that must become as it was; NULL: it need not */
    bool           added;   /* the text is in its program */
    int            nrenewed;
    cmd_renewed   *renewed;
    arras_graph   *graph; /* NULL when the text has no results: a let, an edge */
    arras_program *compiled;
    bool           streams; /* it reads arrays that stay in their files */
    char          *passes;  /* how it does that, as the library explains it; NULL: not launched */
    int            count; /* of results */
    cmd_array     *results;
} cmd_work;

bool cmd_work_lower(cmd_work *w, cmd_session *s, const char *text, cmd_error *err);
bool cmd_work_compile(cmd_work *w, cmd_session *s, cmd_error *err);
/* May be repeated.  Ctrl-C ends it with a message. */
bool        cmd_work_launch(cmd_work *w, const cmd_session *s, cmd_error *err);
const char *cmd_work_name(const cmd_work *w, int i);
/* All went well: what the text defines stays in the session; its equations do not. */
void cmd_work_keep(cmd_work *w, const char *text);
void cmd_work_free(cmd_work *w);

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
/* name=SOURCE, or SOURCE, which names the array after its file.  One that is large stays there:
 * lines that use it read what they need. */
bool cmd_session_load(cmd_session *s, const char *what, cmd_error *err);

/* ---- Ctrl-C ---------------------------------------------------------------------------------- */

/* From now on Ctrl-C is only noted (cmd/interrupt.h), and cancels what is watched. */
bool cmd_repl_interrupt_start(cmd_error *err);
/* Called, from another thread, with what is watched. */
typedef void cmd_canceller(void *work);
void cmd_repl_interrupt_watch(cmd_canceller *cancel, void *work); /* cancel NULL: nothing */

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
