/* system_memory.h -- how much memory there is to be had. */
#ifndef CMD_SYSTEM_MEMORY_H
#define CMD_SYSTEM_MEMORY_H

#include <stdint.h>

/* Bytes that can be had before the system would have to swap or end somebody: what Linux calls
 * available, or what the limits of our control group leave, whichever is less.  INT64_MAX when the
 * system does not say. */
int64_t cmd_memory_available(void);

#endif
