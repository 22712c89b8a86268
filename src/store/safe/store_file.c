/* store_file.c -- reads and writes of whole pieces; files that appear when they are complete. */
#include "store/safe/store_file.h"
#include "store/safe/drafts.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

/* ---- Reading --------------------------------------------------------------------------------- */

static arras_status check_regular(int fd, int64_t *size, const char *name, arras_error *err)
{
    struct stat file;

    if (fstat(fd, &file) != 0)
        return ar_fail(err, ARRAS_EIO, "cannot read %s: %s", name, strerror(errno));
    if (!S_ISREG(file.st_mode))
        return ar_fail(err, ARRAS_EIO, "cannot read %s: it is %s, not a file", name,
                       S_ISDIR(file.st_mode) ? "a directory" : "a device or a pipe");
    *size = file.st_size;
    return ARRAS_OK;
}

arras_status ar_file_find(int *fd, int64_t *size, int directory, const char *path, const char *name,
                          arras_error *err)
{
    /* Without O_NONBLOCK a pipe would be waited for. */
    int opened = openat(directory, path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);

    if (opened < 0 && errno != ENOENT)
        return ar_fail(err, ARRAS_EIO, "cannot read %s: %s", name, strerror(errno));
    if (opened >= 0) {
        arras_status status = check_regular(opened, size, name, err);

        if (status != ARRAS_OK) {
            close(opened);
            return status;
        }
    }
    *fd = opened;
    return ARRAS_OK;
}

arras_status ar_file_open(int *fd, int64_t *size, const char *path, arras_error *err)
{
    int          opened = -1;
    arras_status status = ar_file_find(&opened, size, AT_FDCWD, path, path, err);

    if (status == ARRAS_OK && opened < 0)
        return ar_fail(err, ARRAS_EIO, "cannot read %s: %s", path, strerror(ENOENT));
    if (status == ARRAS_OK)
        *fd = opened;
    return status;
}

arras_status ar_file_read(int fd, void *out, int64_t n, int64_t at, const char *name,
                          arras_error *err)
{
    for (int64_t have = 0; have < n;) {
        ssize_t got = pread(fd, (char *)out + have, (size_t)(n - have), at + have);

        if (got < 0 && errno == EINTR)
            continue;
        if (got < 0)
            return ar_fail(err, ARRAS_EIO, "cannot read %s: %s", name, strerror(errno));
        if (got == 0)
            return ar_fail(err, ARRAS_EFORMAT,
                           "%s is cut off: it ends at byte %" PRId64 ", bytes up to %" PRId64
                           " are needed",
                           name, at + have, at + n);
        have += got;
    }
    return ARRAS_OK;
}

arras_status ar_file_load(ar_text *out, int fd, int64_t size, int64_t most, const char *name,
                          arras_error *err)
{
    if (size > most)
        return ar_fail(err, ARRAS_EFORMAT,
                       "%s has %" PRId64 " bytes; there can be %" PRId64 " at most", name, size,
                       most);
    if (!ar_text_reserve(out, (size_t)size))
        return ar_fail_memory(err, (size_t)size);
    arras_status status = ar_file_read(fd, out->data + out->length, size, 0, name, err);
    if (status == ARRAS_OK) {
        out->length += (size_t)size;
        out->data[out->length] = '\0';
    }
    return status;
}

/* ---- Writing --------------------------------------------------------------------------------- */

arras_status ar_file_write(int fd, const void *bytes, int64_t n, int64_t at, const char *name,
                           arras_error *err)
{
    for (int64_t done = 0; done < n;) {
        int64_t put = ar_write_some(fd, (const char *)bytes + done, n - done, at + done);

        if (put <= 0)
            return ar_fail(err, ARRAS_EIO, "cannot write %s: %s", name, strerror(errno));
        done += put;
    }
    return ARRAS_OK;
}

/* ".name.1a2b3c.draft" in the directory of path. */
static void name_beside(ar_text *out, const char *path, size_t length, uint64_t number)
{
    size_t start = length;

    while (start > 0 && path[start - 1] != '/')
        start--;
    ar_text_cut(out, 0);
    ar_text_put(out, path, start);
    ar_text_printf(out, ".%.*s.%06x" AR_DRAFT_ENDING,
                   (int)ar_min64((int64_t)(length - start), AR_DRAFT_NAME), path + start,
                   (unsigned)(number & 0xffffff));
}

/* Drafts are locked while their process lives, so that others know which of them are stale.  Where
 * there are no locks none is.  False: somebody just took it for one. */
static bool lock_draft(int fd)
{
    struct stat st;

    if (flock(fd, LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK)
        return false;
    return fstat(fd, &st) == 0 && st.st_nlink > 0;
}

/* mkstemp would make it for its owner only, whatever the umask says.  EEXIST: not under this name.
 */
static int make(const char *name, int *fd, bool is_directory)
{
    if (is_directory && mkdir(name, 0777) != 0)
        return -1;
    *fd = is_directory ? open(name, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
                       : open(name, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    if (*fd < 0) {
        errno = is_directory && errno == ENOENT ? EEXIST : errno;
        return -1;
    }
    if (lock_draft(*fd))
        return 0;
    close(*fd);
    errno = EEXIST;
    return -1;
}

arras_status ar_file_make_beside(ar_text *name, int *fd, bool is_directory, const char *path,
                                 arras_error *err)
{
    enum { TRIES = 100 };
    uint64_t seed = ar_hash_mix((uint64_t)getpid(), (uint64_t)ar_clock());
    size_t   length = strlen(path);
    ar_text  text = { 0 };
    int      why = EEXIST;

    while (length > 1 && path[length - 1] == '/')
        length--;
    ar_drafts_sweep(path, length);
    for (uint64_t i = 0; i < TRIES && why == EEXIST; i++) {
        name_beside(&text, path, length, ar_hash_mix(seed, i));
        if (text.failed) {
            ar_text_free(&text);
            return ar_fail_memory(err, length);
        }
        ar_draft_remember(text.data); /* before it is there: a signal never leaves it behind */
        why = make(text.data, fd, is_directory) == 0 ? 0 : errno;
        if (why != 0)
            ar_draft_forget(text.data);
    }
    if (why == 0) {
        *name = text;
        return ARRAS_OK;
    }
    ar_text_free(&text);
    return ar_fail(err, ARRAS_EIO, "cannot write %s: %s", path, strerror(why));
}

/* File systems without RENAME_NOREPLACE get a look before the rename. */
static int rename_to_new(const char *from, const char *to)
{
    struct stat there;

    if (renameat2(AT_FDCWD, from, AT_FDCWD, to, RENAME_NOREPLACE) == 0)
        return 0;
    if (errno != EINVAL && errno != ENOSYS)
        return -1;
    if (lstat(to, &there) == 0) {
        errno = EEXIST;
        return -1;
    }
    return rename(from, to);
}

arras_status ar_file_appear(const char *temporary, const char *path, arras_error *err)
{
    if (rename_to_new(temporary, path) == 0)
        return ARRAS_OK;
    if (errno == EEXIST || errno == ENOTEMPTY)
        return ar_fail(err, ARRAS_EIO, "%s was made by others meanwhile; it stays as they left it",
                       path);
    return ar_fail(err, ARRAS_EIO, "cannot write %s: %s", path, strerror(errno));
}
