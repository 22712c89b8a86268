/* progress.h -- a line on the terminal while work takes long: what is done, how much of it, since
 * when.  Nothing is shown in the first half second, nor where standard error is no terminal. */
#ifndef CMD_PROGRESS_H
#define CMD_PROGRESS_H

#include <arras/arras.h>

/* Whether there will be anything to see. */
bool cmd_progress_start(void);
/* Begins a stage; total is 0 when it is not known. */
void cmd_progress_stage(const char *what, int64_t total);
void cmd_progress_add(int64_t done);
/* The stage is this run, until another stage begins or NULL is watched; it says itself how far it
 * is. */
void cmd_progress_watch(const arras_run *run);
/* The same of other work: `part` says how much of it is done, from 0 to 1, or below 0; NULL ends
 * that. */
typedef double cmd_progress_part(const void *of);
void           cmd_progress_ask(cmd_progress_part *part, const void *of);
/* Wipes the line, so that something else can be said; it comes back. */
void cmd_progress_clear(void);
/* Wipes the line for good; also harmless when nothing was started. */
void cmd_progress_stop(void);

#endif
