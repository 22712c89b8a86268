/* commands.h -- the subcommands of `arras`, and how they speak to the user. */
#ifndef CMD_COMMANDS_H
#define CMD_COMMANDS_H

#include "cmd/io/array.h"
#include "cmd/options.h"

/* argv[0] is the name of the subcommand.  They return the exit status: 0 or 1. */
int cmd_run(int argc, char **argv);
int cmd_show(int argc, char **argv);
int cmd_info(int argc, char **argv);
int cmd_chunk(int argc, char **argv);
int cmd_rechunk(int argc, char **argv);
int cmd_repl(int argc, char **argv);
int cmd_label(int argc, char **argv);
int cmd_help(int argc, char **argv);

/* What each of them takes; ended by an option without a name.  For help and completion too. */
extern const cmd_option cmd_run_options[];
extern const cmd_option cmd_show_options[];
extern const cmd_option cmd_info_options[];
extern const cmd_option cmd_chunk_options[];
extern const cmd_option cmd_rechunk_options[];
extern const cmd_option cmd_repl_options[];
extern const cmd_option cmd_label_options[];
extern const cmd_option cmd_help_options[];

typedef struct cmd_command {
    const char *name;
    const char *arguments; /* "SOURCE": after the name and the options */
    const char *text;      /* one line of help */
    int (*main)(int argc, char **argv);
    const cmd_option *options;
} cmd_command;
/* NULL when out of range. */
const cmd_command *cmd_command_at(int i);
const cmd_command *cmd_command_find(const char *name);

/* A line on standard error, after "arras: "; cmd_complain returns the exit status 1. */
int  cmd_complain(const char *format, ...) __attribute__((format(printf, 1, 2)));
void cmd_warn(const char *format, ...) __attribute__((format(printf, 1, 2)));
/* Once for the process: that kernels compiled with these options are not kept, if so. */
void cmd_warn_uncached(const arras_options *options);

/* Writes the text of a topic of `arras help` to standard output, for `:help` too. */
bool cmd_help_topic(const char *topic, cmd_error *err);

/* Of `names`, ended by NULL, the one that `name` may have been meant to be; NULL: none is near. */
const char *cmd_nearest(const char *name, const char *const *names);

#endif
