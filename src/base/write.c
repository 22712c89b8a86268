/* write.c -- writing to files, so much at a time as systems like it. */
#include "base/base.h"

#include <errno.h>
#include <unistd.h>

/* At most so much in one call.  Linux (6.18, on ext4) caches a long write in pages of megabytes,
 * which a virtual machine may first have to get back from its host: measured, 4 MB at a time took
 * up to ten times as long.  A file is also locked while it is written to: after a short call
 * another thread has its turn. */
#define MOST_AT_ONCE (128 << 10)

int64_t ar_write_some(int fd, const void *bytes, int64_t n, int64_t at)
{
    ssize_t put;

    do {
        put = pwrite(fd, bytes, (size_t)ar_min64(n, MOST_AT_ONCE), at);
    } while (put < 0 && errno == EINTR);
    if (put == 0)
        errno = ENOSPC;
    return put;
}
