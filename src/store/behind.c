/* behind.c -- writing behind: Linux's asynchronous writes (O_DIRECT) from a few slots of memory.
 *
 * What is written through the system's cache costs the writer a copy and the pages of the cache,
 * which a virtual machine may first have to get from its host: with a fast disk that is more than
 * the disk takes.  Here a piece is copied into a slot, and no processor is needed any more.  When
 * all slots are on their way the disk is the slower one, and the cache is the better place. */
#include "store/behind.h"
#include "store/store.h"
#include "store/store_file.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/aio_abi.h>
#include <linux/magic.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/vfs.h>
#include <unistd.h>

enum {
    PAGE = 4096, /* places in the file, lengths and memory are multiples of it */
    SLOTS = 16,
    SLOT_BYTES = AR_BEHIND_BYTES / SLOTS,
    LEAST = 1 << 16 /* bytes that are worth it */
};

struct ar_behind {
    int           usual;   /* the caller's descriptor */
    int           past;    /* of the same file: past the cache */
    aio_context_t context; /* of the system */
    char         *slots;
    _Atomic int   failed; /* errno of the first piece that could not be written in any way */

    pthread_mutex_t lock; /* of all below */
    int             free[SLOTS], nfree;
    struct {
        int64_t at, n;
    } sent[SLOTS]; /* what is in a slot that is not free */
};

/* ---- Slots ----------------------------------------------------------------------------------- */

static char *memory_of(const ar_behind *b, int slot)
{
    return b->slots + (size_t)slot * SLOT_BYTES;
}

/* The disk refused it, or took a part only: if it is full, that is heard of here. */
static void write_again(ar_behind *b, int slot)
{
    arras_error  why;
    arras_status status =
        ar_file_write(b->usual, memory_of(b, slot), b->sent[slot].n, b->sent[slot].at, "", &why);

    if (status != ARRAS_OK && !b->failed)
        b->failed = errno ? errno : EIO;
}

/* Slots whose pieces are written are free again.  wait: until there is at least one more.  False:
 * the system does not tell. */
static bool collect(ar_behind *b, bool wait)
{
    struct io_event events[SLOTS];
    struct timespec at_once = { 0 };
    long            n;

    do {
        n = syscall(SYS_io_getevents, b->context, wait, SLOTS, events, wait ? NULL : &at_once);
    } while (n < 0 && errno == EINTR);
    for (long i = 0; i < n; i++) {
        int slot = (int)events[i].data;

        if (events[i].res != b->sent[slot].n)
            write_again(b, slot);
        b->free[b->nfree++] = slot;
    }
    return n >= 0;
}

/* -1: all are on their way. */
static int take_slot(ar_behind *b)
{
    int slot = -1;

    pthread_mutex_lock(&b->lock);
    if (b->nfree == 0)
        collect(b, false);
    if (b->nfree > 0)
        slot = b->free[--b->nfree];
    pthread_mutex_unlock(&b->lock);
    return slot;
}

/* Before it is sent: whoever finds it written, and uses the slot again, comes after this. */
static void fill_slot(ar_behind *b, int slot, const char *bytes, int64_t n, int64_t at)
{
    ar_streaming()(memory_of(b, slot), bytes, n); /* no processor reads it again */
    ar_stream_end();
    pthread_mutex_lock(&b->lock);
    b->sent[slot].at = at;
    b->sent[slot].n = n;
    pthread_mutex_unlock(&b->lock);
}

static void give_back(ar_behind *b, int slot)
{
    pthread_mutex_lock(&b->lock);
    b->free[b->nfree++] = slot;
    pthread_mutex_unlock(&b->lock);
}

/* At most SLOT_BYTES, whole pages.  False: somebody else has to write them. */
static bool send(ar_behind *b, const char *bytes, int64_t n, int64_t at)
{
    int         slot = take_slot(b);
    struct iocb request, *requests = &request;

    if (slot < 0)
        return false;
    fill_slot(b, slot, bytes, n, at);
    request = (struct iocb){ .aio_data = (__u64)slot,
                             .aio_lio_opcode = IOCB_CMD_PWRITE,
                             .aio_fildes = (__u32)b->past,
                             .aio_buf = (__u64)(uintptr_t)memory_of(b, slot),
                             .aio_nbytes = (__u64)n,
                             .aio_offset = at };
    if (syscall(SYS_io_submit, b->context, 1, &requests) == 1)
        return true;
    give_back(b, slot);
    return false;
}

/* ---- Writing --------------------------------------------------------------------------------- */

static arras_status check(const ar_behind *b, const char *name, arras_error *err)
{
    if (!b->failed)
        return ARRAS_OK;
    return ar_fail(err, ARRAS_EIO, "cannot write %s: %s", name, strerror(b->failed));
}

static arras_status write_pages(ar_behind *b, const char *bytes, int64_t n, int64_t at,
                                const char *name, arras_error *err)
{
    arras_status status = check(b, name, err);

    for (int64_t done = 0; done < n && status == ARRAS_OK; done += SLOT_BYTES) {
        int64_t some = ar_min64(SLOT_BYTES, n - done);

        if (!send(b, bytes + done, some, at + done))
            status = ar_file_write(b->usual, bytes + done, some, at + done, name, err);
    }
    return status;
}

/* Pages that are written in part, at both ends, always go through the cache: the rest of them is
 * somebody else's, who does the same. */
arras_status ar_behind_write(ar_behind *b, const void *bytes, int64_t n, int64_t at,
                             const char *name, arras_error *err)
{
    const char  *from = bytes;
    int64_t      before = ar_min64(n, (PAGE - at % PAGE) % PAGE);
    int64_t      pages = (n - before) / PAGE * PAGE, after = n - before - pages;
    arras_status status;

    if (pages < LEAST)
        return ar_file_write(b->usual, bytes, n, at, name, err);
    status = ar_file_write(b->usual, from, before, at, name, err);
    if (status == ARRAS_OK)
        status = write_pages(b, from + before, pages, at + before, name, err);
    if (status == ARRAS_OK)
        status =
            ar_file_write(b->usual, from + before + pages, after, at + before + pages, name, err);
    return status;
}

arras_status ar_behind_wait(ar_behind *b, const char *name, arras_error *err)
{
    pthread_mutex_lock(&b->lock);
    while (b->nfree < SLOTS && !b->failed)
        if (!collect(b, true))
            b->failed = errno;
    pthread_mutex_unlock(&b->lock);
    return check(b, name, err);
}

/* ---- Beginning and end ----------------------------------------------------------------------- */

/* Writes that make a file longer are not done behind anybody's back.  Where the place on disk
 * can't be taken in advance, the file only gets its length. */
static int take_place(int fd, int64_t at, int64_t bytes)
{
    struct stat file;

    if (fallocate(fd, 0, at, bytes) == 0)
        return 0;
    if (errno == ENOSPC || errno == EFBIG || errno == EDQUOT)
        return errno;
    if (fstat(fd, &file) != 0)
        return errno;
    return file.st_size < at + bytes && ftruncate(fd, at + bytes) != 0 ? errno : 0;
}

/* A file system in memory is a cache. */
static bool is_on_disk(int fd)
{
    struct statfs where;

    return fstatfs(fd, &where) == 0 && where.f_type != TMPFS_MAGIC && where.f_type != RAMFS_MAGIC;
}

static int open_again(int fd)
{
    char name[32];

    snprintf(name, sizeof name, "/proc/self/fd/%d", fd);
    return is_on_disk(fd) ? open(name, O_WRONLY | O_DIRECT | O_CLOEXEC) : -1;
}

void ar_behind_free(ar_behind *b)
{
    if (!b)
        return;
    if (b->context) {
        ar_behind_wait(b, "", NULL);
        syscall(SYS_io_destroy, b->context);
    }
    pthread_mutex_destroy(&b->lock);
    if (b->past >= 0)
        close(b->past);
    if (b->slots)
        ar_pages_free(b->slots, AR_BEHIND_BYTES);
    ar_free(b);
}

arras_status ar_behind_new(ar_behind **out, int fd, int64_t at, int64_t bytes, const char *name,
                           arras_error *err)
{
    ar_behind *b = ar_alloc(1, sizeof *b);
    int        why;

    if (!b)
        return ar_fail_memory(err, sizeof *b);
    pthread_mutex_init(&b->lock, NULL);
    for (b->nfree = 0; b->nfree < SLOTS; b->nfree++)
        b->free[b->nfree] = b->nfree;
    b->usual = fd;
    b->past = open_again(fd);
    b->slots = b->past < 0 ? NULL : ar_pages_alloc(AR_BEHIND_BYTES);
    if (!b->slots || syscall(SYS_io_setup, SLOTS, &b->context) != 0) {
        ar_behind_free(b);
        *out = NULL;
        return ARRAS_OK;
    }
    why = take_place(fd, at, bytes);
    if (why) {
        ar_behind_free(b);
        return ar_fail(err, ARRAS_EIO, "cannot write %s, which needs %" PRId64 " bytes: %s", name,
                       bytes, strerror(why));
    }
    *out = b;
    return ARRAS_OK;
}
