/* print_array.h -- arrays as text, the way NumPy's str() lays them out. */
#ifndef CMD_PRINT_ARRAY_H
#define CMD_PRINT_ARRAY_H

#include <stdio.h>

#include "cmd/io/array.h"

/* Columns for printing to `file`: those of its terminal, otherwise 75. */
int cmd_print_width(FILE *file);
/* Arrays of more than 1000 cells are shortened to 3 at each edge.  No newline at the end. */
void cmd_print_array(FILE *file, const cmd_array *a, int width);
/* The same of an array that is in its file: nothing is read that is not printed. */
bool cmd_print_stored(FILE *file, const cmd_array *a, int width, cmd_error *err);
/* "f64[3, 4]" */
void cmd_print_type(FILE *file, const cmd_array *a);

#endif
