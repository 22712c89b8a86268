/* partial_log.c -- pieces of an array that is not complete, in a directory: see partial_log.h. */
#include "store/safe/partial_log.h"
#include "store/safe/store_file.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

struct ar_partial_log {
    char           *folder;
    int             pieces, journal; /* files */
    _Atomic int64_t end;             /* of pieces */
    int64_t         journal_end;
    ar_saved_box   *found;
    int64_t         nfound;
    pthread_mutex_t lock; /* of what follows */
    pthread_cond_t  wake;
    ar_text         staged; /* records of pieces that are not in the journal */
    bool            ends;
    bool            started; /* the thread is there */
    pthread_t       thread;
    double          period;
    arras_status    status; /* of the last checkpoint */
    arras_error     error;
};

/* ---- Records --------------------------------------------------------------------------------- */

/* As it is in the journal; of a box, lo and hi of each axis follow.  Only this machine reads it. */
typedef struct {
    uint64_t check; /* of all that follows, so that what was cut off is noticed */
    int64_t  number, offset, length;
    uint32_t skipped, missing;
    int64_t  rank;
} record;

static uint64_t check_of(const record *r, const int64_t *ends)
{
    uint64_t hash =
        ar_hash_bytes(1, (const char *)r + sizeof r->check, sizeof *r - sizeof r->check);

    return ar_hash_bytes(hash, ends, (size_t)r->rank * 2 * sizeof *ends);
}

static void stage(ar_text *out, const ar_saved_box *piece)
{
    int64_t ends[2 * ARRAS_MAX_RANK];
    record  r = { .number = piece->number,
                  .offset = piece->offset,
                  .length = piece->length,
                  .skipped = piece->skipped,
                  .missing = piece->missing,
                  .rank = piece->number < 0 ? piece->box.rank : 0 };

    for (int64_t d = 0; d < r.rank; d++) {
        ends[2 * d] = piece->box.lo[d];
        ends[2 * d + 1] = piece->box.hi[d];
    }
    r.check = check_of(&r, ends);
    ar_text_put(out, (const char *)&r, sizeof r);
    ar_text_put(out, (const char *)ends, (size_t)r.rank * 2 * sizeof *ends);
}

/* The record at this place; 0: none, or one that is not whole. */
static size_t read_record(ar_saved_box *out, const char *from, size_t left)
{
    int64_t ends[2 * ARRAS_MAX_RANK];
    record  r;
    size_t  size;

    if (left < sizeof r)
        return 0;
    memcpy(&r, from, sizeof r);
    if (r.rank < 0 || r.rank > ARRAS_MAX_RANK)
        return 0;
    size = (size_t)r.rank * 2 * sizeof *ends;
    if (left - sizeof r < size)
        return 0;
    memcpy(ends, from + sizeof r, size);
    if (r.check != check_of(&r, ends))
        return 0;
    *out = (ar_saved_box){ .number = r.number,
                           .offset = r.offset,
                           .length = r.length,
                           .skipped = r.skipped,
                           .missing = r.missing != 0,
                           .box = { .rank = (int)r.rank } };
    for (int d = 0; d < r.rank; d++) {
        out->box.lo[d] = ends[2 * d];
        out->box.hi[d] = ends[2 * d + 1];
    }
    return sizeof r + size;
}

/* ---- Checkpoints ----------------------------------------------------------------------------- */

/* First the bytes, then what says that they are there.  The lock is held, and let go meanwhile. */
static void checkpoint(ar_partial_log *log)
{
    ar_text      taken = log->staged;
    arras_error  err;
    arras_status status = ARRAS_OK;

    if (taken.length == 0)
        return;
    log->staged = (ar_text){ 0 };
    pthread_mutex_unlock(&log->lock);
    if (fdatasync(log->pieces) != 0)
        status = ar_fail(&err, ARRAS_EIO, "cannot write %s: %s", log->folder, strerror(errno));
    if (status == ARRAS_OK)
        status = ar_file_write(log->journal, taken.data, (int64_t)taken.length, log->journal_end,
                               log->folder, &err);
    if (status == ARRAS_OK && fdatasync(log->journal) != 0)
        status = ar_fail(&err, ARRAS_EIO, "cannot write %s: %s", log->folder, strerror(errno));
    log->journal_end += (int64_t)taken.length;
    ar_text_free(&taken);
    pthread_mutex_lock(&log->lock);
    if (status != ARRAS_OK && log->status == ARRAS_OK) {
        log->status = status;
        log->error = err;
    }
}

static void *keep_checkpoints(void *context)
{
    ar_partial_log *log = context;

    pthread_mutex_lock(&log->lock);
    while (!log->ends) {
        struct timespec until;
        double          whole = (double)(int64_t)log->period;

        clock_gettime(CLOCK_REALTIME, &until);
        until.tv_sec += (time_t)whole;
        until.tv_nsec += (long)((log->period - whole) * 1e9);
        until.tv_sec += until.tv_nsec / 1000000000;
        until.tv_nsec %= 1000000000;
        while (!log->ends && pthread_cond_timedwait(&log->wake, &log->lock, &until) != ETIMEDOUT)
            ;
        if (!log->ends)
            checkpoint(log);
    }
    pthread_mutex_unlock(&log->lock);
    return NULL;
}

/* ---- Opening --------------------------------------------------------------------------------- */

static int open_in(const char *folder, const char *name, int flags)
{
    ar_text path = { 0 };
    int     fd = -1, why = ENOMEM;

    ar_text_printf(&path, "%s/%s", folder, name);
    if (!path.failed) {
        fd = open(path.data, flags | O_CLOEXEC, 0666);
        why = errno;
    }
    ar_text_free(&path);
    errno = why; /* an identity that cannot be looked at is not one that is not there */
    return fd;
}

static arras_status cannot_open(const ar_partial_log *log, arras_error *err)
{
    return ar_fail(err, errno == ENOMEM ? ARRAS_ENOMEM : ARRAS_EIO, "cannot open %s: %s",
                   log->folder, strerror(errno));
}

/* Written under another name first: a half-written identity would lock out the next who comes. */
static arras_status write_identity(const ar_partial_log *log, const char *identity,
                                   arras_error *err)
{
    ar_text      draft = { 0 }, name = { 0 };
    int          fd = open_in(log->folder, "identity.new", O_WRONLY | O_CREAT | O_TRUNC);
    arras_status status =
        fd < 0 ? cannot_open(log, err)
               : ar_file_write(fd, identity, (int64_t)strlen(identity), 0, log->folder, err);

    if (fd >= 0)
        close(fd);
    ar_text_printf(&draft, "%s/identity.new", log->folder);
    ar_text_printf(&name, "%s/identity", log->folder);
    if (status == ARRAS_OK && (draft.failed || name.failed))
        status = ar_fail_memory(err, 64);
    if (status == ARRAS_OK && rename(draft.data, name.data) != 0)
        status = cannot_open(log, err);
    ar_text_free(&draft);
    ar_text_free(&name);
    return status;
}

static arras_status check_identity(const ar_partial_log *log, const char *identity,
                                   arras_error *err)
{
    enum { MOST = 1 << 20 };
    ar_text      text = { 0 };
    struct stat  st;
    int          fd = open_in(log->folder, "identity", O_RDONLY);
    arras_status status;

    if (fd < 0)
        return errno == ENOENT ? write_identity(log, identity, err) : cannot_open(log, err);
    status = fstat(fd, &st) == 0 ? ar_file_load(&text, fd, st.st_size, MOST, log->folder, err)
                                 : cannot_open(log, err);
    close(fd);
    if (status == ARRAS_OK &&
        (text.length != strlen(identity) || memcmp(text.data, identity, text.length) != 0))
        status = ar_fail(err, ARRAS_EINVAL,
                         "%s was begun by another program or with other inputs: remove it to begin "
                         "anew, or go on with those",
                         log->folder);
    ar_text_free(&text);
    return status;
}

static arras_status open_files(ar_partial_log *log, arras_error *err)
{
    struct stat st;

    if (mkdir(log->folder, 0777) != 0 && errno != EEXIST)
        return cannot_open(log, err);
    log->journal = open_in(log->folder, "journal", O_RDWR | O_CREAT);
    log->pieces = open_in(log->folder, "pieces", O_RDWR | O_CREAT);
    if (log->journal < 0 || log->pieces < 0)
        return cannot_open(log, err);
    if (flock(log->journal, LOCK_EX | LOCK_NB) != 0)
        return ar_fail(err, ARRAS_EINVAL, "%s: another process works on it", log->folder);
    if (fstat(log->journal, &st) != 0 || st.st_nlink == 0)
        return ar_fail(err, ARRAS_EINVAL, "%s: another process has just come to its end",
                       log->folder);
    return ARRAS_OK;
}

/* Pieces that are in the journal but not in the file do not count, nor does what follows them. */
static arras_status read_journal(ar_partial_log *log, arras_error *err)
{
    ar_text      text = { 0 };
    struct stat  st, pieces;
    size_t       at = 0, size, capacity = 0;
    arras_status status = ARRAS_OK;
    ar_saved_box piece;

    if (fstat(log->journal, &st) != 0 || fstat(log->pieces, &pieces) != 0)
        return cannot_open(log, err);
    status = ar_file_load(&text, log->journal, st.st_size, INT64_MAX, log->folder, err);
    while (status == ARRAS_OK && (size = read_record(&piece, text.data + at, text.length - at)) &&
           piece.offset >= 0 && piece.length >= 0 && piece.length <= pieces.st_size &&
           piece.offset <= pieces.st_size - piece.length) {
        if (!ar_grow(&log->found, &capacity, (size_t)log->nfound, sizeof *log->found))
            status = ar_fail_memory(err, (size_t)log->nfound * sizeof *log->found);
        else
            log->found[log->nfound++] = piece;
        at += size;
    }
    log->journal_end = (int64_t)at;
    atomic_store(&log->end, pieces.st_size);
    ar_text_free(&text);
    return status;
}

static void release(ar_partial_log *log)
{
    if (log->journal >= 0)
        close(log->journal);
    if (log->pieces >= 0)
        close(log->pieces);
    pthread_cond_destroy(&log->wake);
    pthread_mutex_destroy(&log->lock);
    ar_text_free(&log->staged);
    ar_free(log->found);
    ar_free(log->folder);
    ar_free(log);
}

arras_status ar_partial_open(ar_partial_log **out, const char *folder, const char *identity,
                             double period, int64_t *found, arras_error *err)
{
    ar_partial_log *log = ar_alloc(1, sizeof *log);
    size_t          length = strlen(folder) + 1;
    arras_status    status = ARRAS_OK;

    if (!log || !(log->folder = ar_alloc(length, 1))) {
        ar_free(log);
        return ar_fail_memory(err, length);
    }
    memcpy(log->folder, folder, length);
    log->journal = log->pieces = -1;
    log->period = period;
    pthread_mutex_init(&log->lock, NULL);
    pthread_cond_init(&log->wake, NULL);
    status = open_files(log, err);
    if (status == ARRAS_OK)
        status = check_identity(log, identity, err);
    if (status == ARRAS_OK)
        status = read_journal(log, err);
    if (status != ARRAS_OK) {
        release(log);
        return status;
    }
    /* Without the thread there is one checkpoint, at the end. */
    log->started = ar_thread_start(&log->thread, keep_checkpoints, log);
    *found = log->nfound;
    *out = log;
    return ARRAS_OK;
}

/* ---- Pieces ---------------------------------------------------------------------------------- */

arras_status ar_partial_add(ar_partial_log *log, ar_saved_box *piece, const void *bytes,
                            size_t length, arras_error *err)
{
    arras_status status;

    piece->length = (int64_t)length;
    piece->offset = atomic_fetch_add(&log->end, piece->length);
    status = ar_file_write(log->pieces, bytes, piece->length, piece->offset, log->folder, err);
    if (status != ARRAS_OK)
        return status;
    pthread_mutex_lock(&log->lock);
    stage(&log->staged, piece);
    if (log->staged.failed)
        status = ar_fail_memory(err, log->staged.length);
    else if (log->status != ARRAS_OK)
        status = ar_fail(err, log->status, "%s", log->error.text);
    pthread_mutex_unlock(&log->lock);
    return status;
}

const ar_saved_box *ar_partial_found(const ar_partial_log *log, int64_t i)
{
    return &log->found[i];
}

arras_status ar_partial_read(const ar_partial_log *log, const ar_saved_box *piece, void *bytes,
                             arras_error *err)
{
    return ar_file_read(log->pieces, bytes, piece->length, piece->offset, log->folder, err);
}

/* ---- Ends ------------------------------------------------------------------------------------ */

arras_status ar_partial_close(ar_partial_log *log, arras_error *err)
{
    arras_status status;

    pthread_mutex_lock(&log->lock);
    log->ends = true;
    pthread_cond_signal(&log->wake);
    pthread_mutex_unlock(&log->lock);
    if (log->started)
        pthread_join(log->thread, NULL);
    pthread_mutex_lock(&log->lock);
    checkpoint(log);
    pthread_mutex_unlock(&log->lock);
    status = log->status == ARRAS_OK ? ARRAS_OK : ar_fail(err, log->status, "%s", log->error.text);
    release(log);
    return status;
}

arras_status ar_partial_finished(const ar_partial_log *log, arras_error *err)
{
    int fd = open_in(log->folder, "finished", O_WRONLY | O_CREAT | O_TRUNC);

    if (fd < 0)
        return cannot_open(log, err);
    close(fd);
    return ARRAS_OK;
}

/* A journal that is gone was removed by a process that did not come to the end of removing. */
static bool is_in_use(const char *folder)
{
    int  fd = open_in(folder, "journal", O_RDWR);
    bool in_use = fd < 0 ? errno != ENOENT : flock(fd, LOCK_EX | LOCK_NB) != 0;

    if (fd >= 0)
        close(fd);
    return in_use;
}

bool ar_partial_was_finished(struct timespec *when, const char *folder)
{
    int         fd = open_in(folder, "finished", O_RDONLY);
    struct stat st;
    bool        was = fd >= 0 && fstat(fd, &st) == 0 && !is_in_use(folder);

    if (was)
        *when = st.st_mtim;
    if (fd >= 0)
        close(fd);
    return was;
}

/* What says that it is finished goes last. */
void ar_partial_remove(const char *folder)
{
    static const char *const names[] = { "pieces", "journal", "identity.new", "identity",
                                         "finished" };
    ar_text                  path = { 0 };

    for (size_t i = 0; i < AR_COUNT(names); i++) {
        ar_text_cut(&path, 0);
        ar_text_printf(&path, "%s/%s", folder, names[i]);
        if (!path.failed)
            unlink(path.data);
    }
    ar_text_free(&path);
    rmdir(folder);
}
