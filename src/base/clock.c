/* clock.c -- time, for those who measure and those who wait. */
#include "base/base.h"

#include <time.h>

int64_t ar_clock(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}
