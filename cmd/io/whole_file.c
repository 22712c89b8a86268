/* whole_file.c -- the text of a file, read to its end. */
#include "cmd/io/whole_file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define MAX_TEXT ((size_t)64 << 20)

/* Reads on; false with errno, EFBIG when the text is too long. */
static bool read_all(char **text, size_t *length, int fd)
{
    size_t room = 0;

    for (;;) {
        if (*length == room) {
            room = room ? 2 * room : 16384;
            char *more = room > MAX_TEXT ? NULL : realloc(*text, room);
            if (!more) {
                errno = room > MAX_TEXT ? EFBIG : ENOMEM;
                return false;
            }
            *text = more;
        }
        ssize_t n = read(fd, *text + *length, room - *length);
        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0)
            return n == 0;
        *length += (size_t)n;
    }
}

bool cmd_whole_file(char **text, size_t *length, const char *file, cmd_error *err)
{
    bool is_input = strcmp(file, "-") == 0;
    int  fd = is_input ? STDIN_FILENO : open(file, O_RDONLY | O_CLOEXEC);

    *text = NULL;
    *length = 0;
    bool ok = fd >= 0 && read_all(text, length, fd);
    if (!ok) {
        cmd_fail(err, "cannot read %s: %s", is_input ? "standard input" : file, strerror(errno));
        free(*text);
        *text = NULL;
    }
    if (fd >= 0 && !is_input)
        close(fd);
    return ok;
}
