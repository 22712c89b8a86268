/* output_file.c -- files that appear whole or not at all. */
#include "cmd/io/output_file.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cmd/interrupt.h"

#define MAX_TRIES 1000 /* names of temporary files that others have */

static const char *name_of(const cmd_output *out)
{
    return strcmp(out->path, "-") == 0 ? "standard output" : out->path;
}

static void forget(cmd_output *out)
{
    cmd_interrupt_forget(out->slot);
    free(out->path);
    free(out->target);
    free(out->temporary);
    *out = (cmd_output){ .fd = -1, .slot = -1 };
}

void cmd_output_abandon(cmd_output *out)
{
    if (out->fd >= 0 && out->fd != STDOUT_FILENO)
        close(out->fd);
    if (out->temporary)
        unlink(out->temporary);
    forget(out);
}

static bool fail_open(cmd_output *out, const char *why, cmd_error *err)
{
    cmd_fail(err, "cannot write %s: %s", name_of(out), why);
    cmd_output_abandon(out);
    return false;
}

/* DIRECTORY/.NAME.1a2b3c.draft: in the same directory, so that the file can be moved to its place.
 * The library calls its own drafts so, and removes those that are not locked (arras_sink_tidy). */
static bool name_temporary(cmd_output *out, int number)
{
    const char *slash = strrchr(out->target, '/'), *name = slash ? slash + 1 : out->target;
    unsigned    digits = ((unsigned)getpid() * MAX_TRIES + (unsigned)number) & 0xffffff;

    free(out->temporary);
    if (asprintf(&out->temporary, "%.*s.%.200s.%06x.draft", (int)(name - out->target), out->target,
                 name, digits) >= 0)
        return true;
    out->temporary = NULL;
    return false;
}

/* Locked while this process lives.  False: another one just took it for stale. */
static bool lock_temporary(cmd_output *out)
{
    struct stat there;
    bool        is_taken = flock(out->fd, LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK;

    if (!is_taken && fstat(out->fd, &there) == 0 && there.st_nlink > 0)
        return true;
    close(out->fd);
    out->fd = -1;
    errno = EEXIST;
    return false;
}

/* Its name is remembered before it exists, so that a signal never leaves it behind. */
static bool try_temporary(cmd_output *out, int number)
{
    if (!name_temporary(out, number)) {
        errno = ENOMEM;
        return false;
    }
    out->slot = cmd_interrupt_remember(out->temporary);
    if (out->slot < 0) {
        errno = EMFILE;
        return false;
    }
    out->fd = open(out->temporary, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    if (out->fd >= 0 && lock_temporary(out))
        return true;
    cmd_interrupt_forget(out->slot);
    out->slot = -1;
    return false;
}

static bool open_temporary(cmd_output *out, cmd_error *err)
{
    arras_sink_tidy(out->target);
    for (int i = 0; i < MAX_TRIES; i++) {
        if (try_temporary(out, i))
            return true;
        if (errno != EEXIST)
            break;
    }
    free(out->temporary);
    out->temporary = NULL;
    return fail_open(out, strerror(errno), err);
}

/* What is there already: a file that is replaced, or something to be written to as it is. */
static bool open_existing(cmd_output *out, const struct stat *there, cmd_error *err)
{
    if (S_ISDIR(there->st_mode))
        return fail_open(out, "it is a directory", err);
    if (!S_ISREG(there->st_mode)) {
        out->fd = open(out->path, O_WRONLY | O_CLOEXEC);
        return out->fd >= 0 || fail_open(out, strerror(errno), err);
    }
    out->target = realpath(out->path, NULL);
    if (!out->target || access(out->target, W_OK) != 0)
        return fail_open(out, strerror(errno), err);
    if (!open_temporary(out, err))
        return false;
    return fchmod(out->fd, there->st_mode & 07777) == 0 || fail_open(out, strerror(errno), err);
}

bool cmd_output_open(cmd_output *out, const char *path, cmd_error *err)
{
    struct stat there;

    *out = (cmd_output){ .fd = -1, .slot = -1, .path = strdup(path) };
    if (!out->path)
        return cmd_fail(err, "cannot write %s: out of memory", path);
    if (strcmp(path, "-") == 0) {
        out->fd = STDOUT_FILENO;
        return true;
    }
    if (stat(path, &there) == 0)
        return open_existing(out, &there, err);
    if (errno != ENOENT)
        return fail_open(out, strerror(errno), err);
    out->target = strdup(path);
    return out->target ? open_temporary(out, err) : fail_open(out, "out of memory", err);
}

bool cmd_output_write(cmd_output *out, const void *bytes, size_t count, cmd_error *err)
{
    const char *at = bytes;

    for (size_t left = count; left > 0;) {
        ssize_t n = write(out->fd, at, left);

        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0)
            return cmd_fail(err, "cannot write %s: %s", name_of(out), strerror(errno));
        at += n;
        left -= (size_t)n;
    }
    return true;
}

bool cmd_output_finish(cmd_output *out, cmd_error *err)
{
    int fd = out->fd;

    out->fd = -1;
    /* Some file systems tell only now that there was no room. */
    if (fd != STDOUT_FILENO && close(fd) != 0)
        return fail_open(out, strerror(errno), err);
    if (out->temporary && rename(out->temporary, out->target) != 0)
        return fail_open(out, strerror(errno), err);
    forget(out);
    return true;
}

bool cmd_output_whole(const char *path, const void *bytes, size_t count, cmd_error *err)
{
    cmd_output out;

    if (!cmd_output_open(&out, path, err))
        return false;
    if (cmd_output_write(&out, bytes, count, err))
        return cmd_output_finish(&out, err);
    cmd_output_abandon(&out);
    return false;
}
