/* draft_sweep.c -- drafts that were left behind by processes that were killed.  A draft is locked
 * by the process that makes it, and the lock ends with the process: what is not locked is stale. */
#include "store/safe/drafts.h"

#include <ctype.h>
#include <dirent.h>
#include <fcntl.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

enum { DIGITS = 6 };

/* .BASE.1a2b3c.draft */
static bool is_draft_of(const char *name, const char *base, size_t length)
{
    const char *digits = name + length + 2;

    if (strlen(name) != length + 2 + DIGITS + strlen(AR_DRAFT_ENDING) || name[0] != '.' ||
        memcmp(name + 1, base, length) != 0 || name[length + 1] != '.')
        return false;
    for (int i = 0; i < DIGITS; i++)
        if (!isxdigit((unsigned char)digits[i]))
            return false;
    return strcmp(digits + DIGITS, AR_DRAFT_ENDING) == 0;
}

/* Who makes a draft looks, once it has the lock, whether it is still there. */
static void remove_stale(int directory, const char *name)
{
    int         fd = openat(directory, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
    struct stat st;

    if (fd < 0)
        return;
    if (fstat(fd, &st) == 0 && st.st_uid == geteuid() && flock(fd, LOCK_EX | LOCK_NB) == 0)
        ar_draft_delete(directory, name);
    close(fd);
}

static DIR *open_folder(const char *path, size_t length)
{
    ar_text name = { 0 };
    DIR    *folder = NULL;

    ar_text_put(&name, length ? path : ".", length ? length : 1);
    if (!name.failed)
        folder = opendir(name.data);
    ar_text_free(&name);
    return folder;
}

void ar_drafts_sweep(const char *path, size_t length)
{
    const struct dirent *entry;
    size_t               start = length;
    DIR                 *folder;

    while (start > 0 && path[start - 1] != '/')
        start--;
    folder = open_folder(path, start);
    length = (size_t)ar_min64((int64_t)(length - start), AR_DRAFT_NAME);
    while (folder && (entry = readdir(folder)))
        if (is_draft_of(entry->d_name, path + start, length))
            remove_stale(dirfd(folder), entry->d_name);
    if (folder)
        closedir(folder);
}
