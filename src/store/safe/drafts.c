/* drafts.c -- what is not complete goes away when the process is told to end.  All that a signal
 * handler touches is lock-free, and all that it calls are system calls. */
#include "store/safe/drafts.h"
#include "store/store.h"

#include <fcntl.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

enum { MOST = 256, DEEPEST = ARRAS_MAX_RANK + 32, TRIES = 100 };

static _Atomic(const char *) drafts[MOST];
static atomic_bool           discarded;

void ar_draft_remember(const char *path)
{
    for (int i = 0; i < MOST; i++) {
        const char *nothing = NULL;

        if (atomic_compare_exchange_strong(&drafts[i], &nothing, path))
            return;
    }
}

bool ar_draft_forget(const char *path)
{
    for (int i = 0; i < MOST; i++) {
        const char *here = path;

        if (atomic_compare_exchange_strong(&drafts[i], &here, NULL))
            return true;
    }
    return !atomic_load(&discarded);
}

void ar_draft_name_free(ar_text *name)
{
    if (!name->data || ar_draft_forget(name->data))
        ar_text_free(name);
}

bool ar_drafts_are_discarded(void) { return atomic_load(&discarded); }

/* ---- Directories, without opendir, which allocates ------------------------------------------- */

typedef struct {
    uint64_t       inode;
    int64_t        offset;
    unsigned short length;
    unsigned char  type;
    char           name[];
} entry;

static bool is_dots(const char *name) { return strcmp(name, ".") == 0 || strcmp(name, "..") == 0; }

static void remove_entries(int directory, int depth);

static void remove_entry(int directory, const char *name, int depth)
{
    if (unlinkat(directory, name, 0) == 0)
        return;
    int inner = openat(directory, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    if (inner < 0)
        return;
    remove_entries(inner, depth + 1);
    close(inner);
    unlinkat(directory, name, AT_REMOVEDIR);
}

static void remove_entries(int directory, int depth)
{
    _Alignas(entry) char bytes[4096];
    long                 n;

    while (depth < DEEPEST && (n = syscall(SYS_getdents64, directory, bytes, sizeof bytes)) > 0)
        for (long at = 0; at < n;) {
            const entry *e = (const entry *)(const void *)(bytes + at);

            if (!is_dots(e->name))
                remove_entry(directory, e->name, depth);
            at += e->length;
        }
}

void ar_draft_delete(int directory, const char *name) { remove_entry(directory, name, 0); }

/* Threads that write into a directory see that it is over, and the last file they make goes too. */
static void remove_draft(const char *path)
{
    const struct timespec moment = { .tv_nsec = 1000000 };

    if (unlink(path) == 0)
        return;
    for (int i = 0; i < TRIES && access(path, F_OK) == 0; i++) {
        if (i > 0)
            nanosleep(&moment, NULL);
        remove_entry(AT_FDCWD, path, 0);
    }
}

void ar_drafts_discard(void)
{
    atomic_store(&discarded, true);
    for (int i = 0; i < MOST; i++) {
        const char *path = atomic_exchange(&drafts[i], NULL);

        if (path)
            remove_draft(path);
    }
}
