/* quantity.c -- bytes and times for people. */
#include "cmd/io/quantity.h"

#include <stdio.h>

static const char *print(char *out, double value, const char *const *units, int last)
{
    int unit = 0;

    for (; value >= 999.5 && unit < last; unit++)
        value /= 1000;
    /* Three digits; whole numbers of the smallest unit as they are. */
    int decimals = unit == 0 || value >= 99.95 ? 0 : value >= 9.995 ? 1 : 2;
    snprintf(out, CMD_QUANTITY_ROOM, "%.*f %s", decimals, value, units[unit]);
    return out;
}

const char *cmd_quantity_bytes(char out[CMD_QUANTITY_ROOM], int64_t bytes)
{
    static const char *const units[] = { "B", "kB", "MB", "GB", "TB", "PB", "EB" };

    return print(out, (double)bytes, units, 6);
}

const char *cmd_quantity_time(char out[CMD_QUANTITY_ROOM], int64_t ns)
{
    static const char *const units[] = { "ns", "us", "ms", "s" };

    return print(out, (double)ns, units, 3);
}
