/* slice.h -- which part of an array is meant, as --slice 3,:,::2 says it. */
#ifndef CMD_SLICE_H
#define CMD_SLICE_H

#include "cmd/io/array.h"

/* Longer axes would overflow the arithmetic of areas. */
#define CMD_LONGEST_AXIS ((int64_t)1 << 46)

/* Of one axis; within its bounds. */
typedef struct cmd_item {
    bool    is_index;
    int64_t start, stride, count;
} cmd_item;

/* As in Python; axes that are not mentioned are taken whole. */
bool cmd_slice_read(cmd_item *items, int rank, const int64_t *shape, const char *text,
                    cmd_error *err);
/* "[3, :, ::2]"; "" when it is all of the array. */
void cmd_slice_print(char *out, size_t size, const cmd_item *items, int rank, const int64_t *shape);

#endif
