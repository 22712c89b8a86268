/* quantity.h -- bytes and times for people. */
#ifndef CMD_QUANTITY_H
#define CMD_QUANTITY_H

#include <stdint.h>

#define CMD_QUANTITY_ROOM 32

/* "400 MB", "1.6 GB": powers of 1000, as speeds are said in. */
const char *cmd_quantity_bytes(char out[CMD_QUANTITY_ROOM], int64_t bytes);
/* "12.3 ms" */
const char *cmd_quantity_time(char out[CMD_QUANTITY_ROOM], int64_t ns);

#endif
