/* output_file.h -- files that appear whole or not at all: written beside their place under another
 * name, and moved there when they are complete. */
#ifndef CMD_OUTPUT_FILE_H
#define CMD_OUTPUT_FILE_H

#include "cmd/io/array.h"

typedef struct cmd_output {
    int   fd;
    char *path;      /* as the user wrote it */
    char *target;    /* where links lead; NULL for standard output and things that are not files */
    char *temporary; /* until it is finished */
    int   slot;      /* of `temporary` among those that a signal removes */
} cmd_output;

/* `path` may be `-` for standard output. */
bool cmd_output_open(cmd_output *out, const char *path, cmd_error *err);
bool cmd_output_write(cmd_output *out, const void *bytes, size_t count, cmd_error *err);
/* Gives the file its name; on failure nothing is left of it.  The output is released either way. */
bool cmd_output_finish(cmd_output *out, cmd_error *err);
/* As if it had never been opened. */
void cmd_output_abandon(cmd_output *out);

/* Open, write, finish. */
bool cmd_output_whole(const char *path, const void *bytes, size_t count, cmd_error *err);

#endif
