/* picture_window.h -- the part of an array in a file that a picture shows, read piece by piece: all
 * of it where memory allows that, else the rows around those that are asked for.  Of the file
 * nothing is read that is not shown, but for what lies in the same chunk. */
#ifndef CMD_PICTURE_WINDOW_H
#define CMD_PICTURE_WINDOW_H

#include "cmd/io/slice.h"

typedef struct cmd_window cmd_window;

/* The items leave one axis or two.  memory: bytes that the window may have; 0: what is sensible.
 * The source is borrowed. */
bool cmd_window_open(cmd_window **out, arras_source *source, const cmd_item *items, int64_t memory,
                     cmd_error *err);
void cmd_window_close(cmd_window *w); /* NULL is fine */
/* Cells of a row of the part from this column on, side by side in memory until the next call; *n:
 * how many are wanted, and then how many are there, one at least. */
bool cmd_window_cells(const char **cells, int64_t *n, cmd_window *w, int64_t row, int64_t column,
                      cmd_error *err);

#endif
