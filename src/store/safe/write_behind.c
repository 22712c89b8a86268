/* write_behind.c -- writing behind: Linux's asynchronous writes (O_DIRECT) from a few slots of
 * memory.
 *
 * What is written through the system's cache costs the writer a copy and the pages of the cache,
 * which a virtual machine may first have to get from its host: with a fast disk that is more than
 * the disk takes.  Here a piece is computed in, or copied into, slots, and no processor is needed
 * any more.  When all slots are on their way the disk is the slower one, and the cache is the
 * better place. */
#include "store/safe/write_behind.h"
#include "store/safe/store_file.h"
#include "store/store.h"

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
    SLOT_BYTES = 1 << 19,
    MOST_SLOTS = AR_WRITE_BEHIND_MOST / SLOT_BYTES, /* bits of a mask */
    LEAST = 1 << 16                                 /* bytes that are worth it */
};

struct ar_write_behind {
    int           usual;   /* the caller's descriptor */
    int           past;    /* of the same file: past the cache */
    aio_context_t context; /* of the system */
    char         *slots;
    int           nslots;
    _Atomic int   failed; /* errno of the first piece that could not be written in any way */

    pthread_mutex_t lock; /* of all below */
    uint64_t        free; /* bit k: slot k */
    int             nsent;
    struct {
        const char *bytes;
        int64_t     n, at;
    } sent[MOST_SLOTS]; /* what of a slot is on its way */
};

/* ---- Slots ----------------------------------------------------------------------------------- */

static char *memory_of(const ar_write_behind *b, int slot)
{
    return b->slots + (size_t)slot * SLOT_BYTES;
}

static uint64_t mask_of(int first, int n)
{
    return (n < MOST_SLOTS ? ((uint64_t)1 << n) - 1 : UINT64_MAX) << first;
}

/* The disk refused it, or took a part only: if it is full, that is heard of here. */
static void write_again(ar_write_behind *b, int slot)
{
    arras_error  why;
    arras_status status =
        ar_file_write(b->usual, b->sent[slot].bytes, b->sent[slot].n, b->sent[slot].at, "", &why);

    if (status != ARRAS_OK && !b->failed)
        b->failed = errno ? errno : EIO;
}

/* Slots whose pieces are written are free again.  wait: until there is at least one more.  False:
 * the system does not tell. */
static bool collect(ar_write_behind *b, bool wait)
{
    struct io_event events[MOST_SLOTS];
    struct timespec at_once = { 0 };
    long            n;

    do {
        n = syscall(SYS_io_getevents, b->context, wait, MOST_SLOTS, events, wait ? NULL : &at_once);
    } while (n < 0 && errno == EINTR);
    for (long i = 0; i < n; i++) {
        int slot = (int)events[i].data;

        if (events[i].res != b->sent[slot].n)
            write_again(b, slot);
        b->free |= mask_of(slot, 1);
        b->nsent--;
    }
    return n >= 0;
}

/* So many in a row; -1: there are not. */
static int find_free(const ar_write_behind *b, int n)
{
    for (int slot = 0; slot + n <= b->nslots; slot++)
        if ((b->free >> slot & mask_of(0, n)) == mask_of(0, n))
            return slot;
    return -1;
}

static int slots_for(int64_t bytes) { return (int)((bytes + SLOT_BYTES - 1) / SLOT_BYTES); }

/* -1: too many are on their way. */
static int take_slots(ar_write_behind *b, int n)
{
    int slot;

    pthread_mutex_lock(&b->lock);
    slot = find_free(b, n);
    if (slot < 0) {
        collect(b, false);
        slot = find_free(b, n);
    }
    if (slot >= 0)
        b->free &= ~mask_of(slot, n);
    pthread_mutex_unlock(&b->lock);
    return slot;
}

static bool is_lent(const ar_write_behind *b, const char *bytes)
{
    return bytes >= b->slots && bytes < memory_of(b, b->nslots);
}

static int slot_of(const ar_write_behind *b, const char *bytes)
{
    return (int)((bytes - b->slots) / SLOT_BYTES);
}

/* ---- Sending --------------------------------------------------------------------------------- */

/* One for each slot, from this one on.  Before they are sent: whoever finds one written, and uses
 * the slot again, comes after this. */
static int make_requests(ar_write_behind *b, struct iocb *requests, const char *bytes, int64_t n,
                         int64_t at)
{
    int     count = 0;
    int64_t some;

    pthread_mutex_lock(&b->lock);
    for (; n > 0; bytes += some, n -= some, at += some) {
        int slot = slot_of(b, bytes);

        some = ar_min64(n, memory_of(b, slot + 1) - bytes);
        b->sent[slot].bytes = bytes;
        b->sent[slot].n = some;
        b->sent[slot].at = at;
        requests[count++] = (struct iocb){ .aio_data = (__u64)slot,
                                           .aio_lio_opcode = IOCB_CMD_PWRITE,
                                           .aio_fildes = (__u32)b->past,
                                           .aio_buf = (__u64)(uintptr_t)bytes,
                                           .aio_nbytes = (__u64)some,
                                           .aio_offset = at };
    }
    b->nsent += count;
    pthread_mutex_unlock(&b->lock);
    return count;
}

/* How many of them, from the first on, the system took. */
static int submit(const ar_write_behind *b, struct iocb *requests, int count)
{
    struct iocb *all[MOST_SLOTS];
    int          taken = 0;
    long         n;

    for (int i = 0; i < count; i++)
        all[i] = &requests[i];
    while (taken < count &&
           (n = syscall(SYS_io_submit, b->context, (long)(count - taken), all + taken)) > 0)
        taken += (int)n;
    return taken;
}

/* Whole pages in slots, which are free again when these are written. */
static arras_status send(ar_write_behind *b, const char *bytes, int64_t n, int64_t at,
                         const char *name, arras_error *err)
{
    struct iocb  requests[MOST_SLOTS];
    int          count = make_requests(b, requests, bytes, n, at);
    int          taken = submit(b, requests, count);
    arras_status status;

    if (taken == count)
        return ARRAS_OK;
    int         left = slot_of(b, bytes) + taken;
    const char *from = taken ? memory_of(b, left) : bytes;
    status = ar_file_write(b->usual, from, bytes + n - from, at + (from - bytes), name, err);
    pthread_mutex_lock(&b->lock);
    b->nsent -= count - taken;
    b->free |= mask_of(left, count - taken);
    pthread_mutex_unlock(&b->lock);
    return status;
}

/* ---- Writing --------------------------------------------------------------------------------- */

static arras_status check(const ar_write_behind *b, const char *name, arras_error *err)
{
    if (!b->failed)
        return ARRAS_OK;
    return ar_fail(err, ARRAS_EIO, "cannot write %s: %s", name, strerror(b->failed));
}

/* At most SLOT_BYTES, whole pages. */
static arras_status copy_and_send(ar_write_behind *b, const char *bytes, int64_t n, int64_t at,
                                  const char *name, arras_error *err)
{
    int slot = take_slots(b, 1);

    if (slot < 0)
        return ar_file_write(b->usual, bytes, n, at, name, err);
    ar_streaming()(memory_of(b, slot), bytes, n); /* no processor reads it again */
    ar_stream_end();
    return send(b, memory_of(b, slot), n, at, name, err);
}

static arras_status write_pages(ar_write_behind *b, const char *bytes, int64_t n, int64_t at,
                                const char *name, arras_error *err)
{
    arras_status status = check(b, name, err);

    if (is_lent(b, bytes) && status == ARRAS_OK)
        return send(b, bytes, n, at, name, err);
    for (int64_t done = 0; done < n && status == ARRAS_OK; done += SLOT_BYTES)
        status =
            copy_and_send(b, bytes + done, ar_min64(SLOT_BYTES, n - done), at + done, name, err);
    return status;
}

/* The slot that the last part of a page is in, where nothing else is in it that will be sent. */
static void give_back_end(ar_write_behind *b, const char *part)
{
    int slot = slot_of(b, part);

    if (part != memory_of(b, slot))
        return;
    pthread_mutex_lock(&b->lock);
    b->free |= mask_of(slot, 1);
    pthread_mutex_unlock(&b->lock);
}

/* Pages that are written in part, at both ends, always go through the cache: the rest of them is
 * somebody else's, who does the same.  They come first, as slots are gone when they are sent. */
arras_status ar_write_behind_write(ar_write_behind *b, const void *bytes, int64_t n, int64_t at,
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
        status =
            ar_file_write(b->usual, from + before + pages, after, at + before + pages, name, err);
    if (status != ARRAS_OK)
        return status;
    if (is_lent(b, bytes) && after > 0)
        give_back_end(b, from + before + pages);
    return write_pages(b, from + before, pages, at + before, name, err);
}

/* A page of the file is a page of memory. */
char *ar_write_behind_reserve(ar_write_behind *b, int64_t n, int64_t at)
{
    int64_t before = at % PAGE;
    int     slot;

    if (n < 2 * LEAST || n > (int64_t)(b->nslots - 1) * SLOT_BYTES)
        return NULL;
    slot = take_slots(b, slots_for(before + n));
    return slot < 0 ? NULL : memory_of(b, slot) + before;
}

arras_status ar_write_behind_wait(ar_write_behind *b, const char *name, arras_error *err)
{
    pthread_mutex_lock(&b->lock);
    while (b->nsent > 0 && !b->failed)
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

/* Kernels that read what they computed may look a little ahead. */
static size_t block_bytes(const ar_write_behind *b)
{
    return (size_t)b->nslots * SLOT_BYTES + PAGE;
}

void ar_write_behind_free(ar_write_behind *b)
{
    if (!b)
        return;
    if (b->context) {
        ar_write_behind_wait(b, "", NULL);
        syscall(SYS_io_destroy, b->context);
    }
    pthread_mutex_destroy(&b->lock);
    if (b->past >= 0)
        close(b->past);
    if (b->slots)
        ar_pages_free(b->slots, block_bytes(b));
    ar_free(b);
}

arras_status ar_write_behind_new(ar_write_behind **out, int fd, int64_t at, int64_t bytes,
                                 int64_t memory, const char *name, arras_error *err)
{
    ar_write_behind *b = ar_alloc(1, sizeof *b);
    int              why;

    if (!b)
        return ar_fail_memory(err, sizeof *b);
    pthread_mutex_init(&b->lock, NULL);
    b->nslots = (int)(ar_min64(memory, AR_WRITE_BEHIND_MOST) / SLOT_BYTES);
    b->free = mask_of(0, b->nslots);
    b->usual = fd;
    b->past = open_again(fd);
    b->slots = b->past < 0 ? NULL : ar_pages_alloc(block_bytes(b));
    if (!b->slots || syscall(SYS_io_setup, b->nslots, &b->context) != 0) {
        ar_write_behind_free(b);
        *out = NULL;
        return ARRAS_OK;
    }
    why = take_place(fd, at, bytes);
    if (why) {
        ar_write_behind_free(b);
        return ar_fail(err, ARRAS_EIO, "cannot write %s, which needs %" PRId64 " bytes: %s", name,
                       bytes, strerror(why));
    }
    *out = b;
    return ARRAS_OK;
}
