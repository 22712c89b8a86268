/* rearrange.h -- foreign layouts made ours, in place. */
#ifndef CMD_REARRANGE_H
#define CMD_REARRANGE_H

#include "cmd/io/array.h"

void cmd_array_swap_bytes(cmd_array *a);
/* Every byte other than 0 becomes 1. */
void cmd_array_normalise_bools(cmd_array *a);
/* From the order in which the first index runs fastest to C order; not for empty arrays.  `name` is
 * for messages. */
bool cmd_array_from_fortran(cmd_array *a, const char *name, cmd_error *err);

#endif
