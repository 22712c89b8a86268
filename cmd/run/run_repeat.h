/* run_repeat.h -- `arras run --repeat N --until NAME --feed RESULT=INPUT`: a program that runs
 * again and again, its results fed back. */
#ifndef CMD_RUN_REPEAT_H
#define CMD_RUN_REPEAT_H

#include <arras/sweep.h>

#include "cmd/io/array.h"

/* Zero to start: the program runs once. */
typedef struct cmd_repeat {
    int64_t     most;  /* --repeat; 0: no limit */
    const char *until; /* --until; NULL: none */
    int         nfeeds;
    arras_feed *feeds; /* --feed; the names of results are ours */
} cmd_repeat;

/* "RESULT=INPUT"; the text is borrowed. */
bool cmd_repeat_feed(cmd_repeat *r, const char *text, cmd_error *err);
/* Whether the options fit together. */
bool cmd_repeat_check(const cmd_repeat *r, cmd_error *err);
bool cmd_repeat_is_asked(const cmd_repeat *r);
void cmd_repeat_free(cmd_repeat *r);

/* The results that are wanted and those that the loop needs besides: a new list of *n names. */
bool cmd_repeat_outputs(const char ***out, int *n, const cmd_repeat *r, int nwanted,
                        const char *const *wanted);

/* Instead of arras_launch, or of arras_stream_start and arras_stream_wait.  results may be NULL;
 * memory: of what is streamed.  tell: a line on standard error says how many steps it took. */
bool cmd_repeat_run(arras_results **results, const cmd_repeat *r, arras_program *p, int n,
                    const arras_binding *bindings, int nstored, const arras_stored *stored,
                    int64_t memory, bool tell, cmd_error *err);

#endif
