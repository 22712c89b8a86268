/* interrupt.h -- what happens on Ctrl-C, kill, and a pipe that nobody reads: files that are not
 * complete go away, and the command ends at once. */
#ifndef CMD_INTERRUPT_H
#define CMD_INTERRUPT_H

#include <arras/arras.h>

/* From now on SIGINT, SIGTERM, SIGHUP and SIGPIPE end the command with status 128 + signal, and
 * SIGBUS, which means that a mapped file lost its end, with a message and status 1. */
void cmd_interrupt_start(void);

/* A file to be removed then.  The path must stay until it is forgotten.  -1 when there are too many
 * of them at once. */
int  cmd_interrupt_remember(const char *path);
void cmd_interrupt_forget(int slot);

/* From now on the first signal is only noted, and `stop` called, which may do no more than a
 * handler may (NULL: nothing is called); the command ends when it is released. */
void cmd_interrupt_hold(void (*stop)(void *of), void *of);
void cmd_interrupt_release(void);

/* arras_compile, during which the first signal is only noted, so that the library can tidy up
 * behind its compiler; the command ends when it is done. */
arras_status cmd_compile(arras_program **out, const arras_graph *g, const arras_options *options,
                         arras_error *err);

/* The same for arras_launch_start: operands that are not in C order have kernels of their own,
 * which are compiled then.  Not for programs that asked for the reference evaluator. */
arras_status cmd_launch_start(arras_run **out, arras_program *p, int n,
                              const arras_binding *bindings, arras_error *err);

/* Of the REPL, which Ctrl-C does not end: that it was pressed is noted by a handler, and read by
 * those who work for long. */
void cmd_interrupt_note(bool pressed);
bool cmd_interrupted(void);

/* Whether a line of progress stands on standard error, to be wiped off. */
void cmd_interrupt_wipes(bool on);

#endif
