/* whole_file.h -- the text of a file. */
#ifndef CMD_WHOLE_FILE_H
#define CMD_WHOLE_FILE_H

#include "cmd/io/array.h"

/* Reads a file, or standard input for `-`, to its end; the caller frees *text with free(). */
bool cmd_whole_file(char **text, size_t *length, const char *file, cmd_error *err);

#endif
