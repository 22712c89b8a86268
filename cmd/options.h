/* options.h -- options of a subcommand: one table says what there is, for parsing, help and
 * completion. */
#ifndef CMD_OPTIONS_H
#define CMD_OPTIONS_H

#include "cmd/io/array.h"

typedef struct cmd_option {
    const char *name;     /* "threads" for --threads; NULL ends a table */
    char        letter;   /* 'o' for -o; 0 for none */
    const char *argument; /* "N" for --threads N; NULL for a flag */
    const char *text;     /* one line of help */
} cmd_option;

/* A walk over arguments, from argv[1].  Options and names come in any order; after -- only names;
 * `-` is a name. */
typedef struct cmd_arguments {
    int               argc;
    char            **argv;
    const cmd_option *options;
    int               at;
    bool              only_names;
} cmd_arguments;

enum { CMD_END_OF_ARGUMENTS = -1, CMD_BAD_ARGUMENT = -2, CMD_NAME = -3 };

cmd_arguments cmd_arguments_of(int argc, char **argv, const cmd_option *options);
/* The next argument: the number of an option in the table, with its value; or CMD_NAME, with the
 * name as the value; or the end; or a bad one, with the message. */
int cmd_next_argument(cmd_arguments *a, const char **value, cmd_error *err);

/* A whole number within bounds, as of --threads. */
bool cmd_option_number(int64_t *out, const char *option, const char *value, int64_t lo, int64_t hi,
                       cmd_error *err);
/* Bytes: 4096, 512K, 1.5G, 2GiB. */
bool cmd_option_bytes(int64_t *out, const char *option, const char *value, cmd_error *err);

#endif
