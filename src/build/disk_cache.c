/* disk_cache.c -- objects built before, one file each, in a directory that only its user can write.
 * Where there is none that is safe, nothing is kept: programs run all the same.
 *
 * A file is the shared object, then the whole key it was built for, then a footer.  It is believed
 * only when all three agree, so neither a file cut short nor two keys of one name do harm.  All
 * access goes through the descriptor that was checked: nobody can swap the directory after that. */
#include "build/build.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

enum { DAY = 24 * 60 * 60, HOUR = 60 * 60, BLOCK = 4096, STORES_BETWEEN_SCANS = 32 };
static const int64_t default_limit = (int64_t)256 << 20;
static const int64_t largest_file = (int64_t)1 << 30;

static const char magic[8] = { 'A', 'R', 'R', 'A', 'S', 'K', 'O', '1' };

typedef struct {
    uint64_t object_length, key_length;
    uint64_t checksum; /* of the object */
    char     magic[8];
} footer;

/* ---- The directory --------------------------------------------------------------------------- */

static const char *value_of(const char *variable)
{
    const char *value = secure_getenv(variable);

    return value && *value ? value : NULL;
}

typedef struct {
    char path[PATH_MAX]; /* empty: nobody says where */
    bool named;          /* by somebody who wants to know why it cannot be used */
} place;

/* False when the name is too long. */
static bool choose_place(place *out, const ar_build_options *options)
{
    const char *named = options->cache && *options->cache ? options->cache : NULL;
    const char *shared = value_of("XDG_CACHE_HOME"), *home = value_of("HOME");
    int         n;

    if (!named)
        named = value_of("ARRAS_CACHE_DIR");
    out->path[0] = '\0';
    out->named = named != NULL;
    if (named)
        n = snprintf(out->path, sizeof out->path, "%s", named);
    else if (shared && *shared == '/') /* the rules say that others are passed over */
        n = snprintf(out->path, sizeof out->path, "%s/arras", shared);
    else
        n = home && *home == '/' ? snprintf(out->path, sizeof out->path, "%s/.cache/arras", home)
                                 : 0;
    return n >= 0 && (size_t)n < sizeof out->path;
}

/* The owner of the innermost folder on the way to `path` that there is. */
static uid_t owner_before(const char *path)
{
    char        above[PATH_MAX];
    struct stat s;

    snprintf(above, sizeof above, "%s", path);
    while (stat(*above ? above : ".", &s) != 0) {
        char *slash = strrchr(above, '/');

        if (!*above || !slash)
            return stat(".", &s) == 0 ? s.st_uid : geteuid();
        slash[slash == above && slash[1]] = '\0'; /* the root keeps its name */
    }
    return s.st_uid;
}

/* What cannot be made is seen when the last one is opened. */
static void make_directories(char *path)
{
    for (char *at = path + 1; *at; at++)
        if (*at == '/') {
            *at = '\0';
            mkdir(path, 0700);
            *at = '/';
        }
    mkdir(path, 0700);
}

static arras_status check_directory(int fd, const char *path, arras_error *err)
{
    struct stat s;

    if (fstat(fd, &s) != 0)
        return ar_fail(err, ARRAS_EINVAL, "kernel cache %s: %s", path, strerror(errno));
    if (s.st_uid != geteuid())
        return ar_fail(err, ARRAS_EINVAL,
                       "kernel cache %s belongs to user %u, who could change the code that user %u "
                       "runs; set ARRAS_CACHE_DIR to a directory of your own",
                       path, (unsigned)s.st_uid, (unsigned)geteuid());
    if (s.st_mode & (S_IWGRP | S_IWOTH))
        return ar_fail(
            err, ARRAS_EINVAL,
            "kernel cache %s has mode %04o: others could change the code you run; chmod 700 "
            "it, or set ARRAS_CACHE_DIR to another directory",
            path, (unsigned)(s.st_mode & 07777));
    return ARRAS_OK;
}

/* As root with the HOME of a user (sudo), what is made would lock that user out. */
static arras_status make_place(place *p, arras_error *err)
{
    uid_t owner = owner_before(p->path);

    if (geteuid() == 0 && owner != 0)
        return ar_fail(err, ARRAS_EINVAL,
                       "kernel cache %s: root makes no folder within one of user %u, who could not "
                       "use it; set ARRAS_CACHE_DIR to a directory of your own",
                       p->path, (unsigned)owner);
    make_directories(p->path);
    return ARRAS_OK;
}

/* -1, and an error only where somebody should know. */
static arras_status open_place(int *out, place *p, arras_error *err)
{
    int          flags = O_RDONLY | O_DIRECTORY | O_CLOEXEC;
    arras_status status = ARRAS_OK;

    *out = open(p->path, flags);
    if (*out < 0 && errno == ENOENT) {
        status = make_place(p, err);
        if (status)
            return status;
        *out = open(p->path, flags);
    }
    if (*out < 0 && p->named)
        return ar_fail(err, ARRAS_EINVAL, "kernel cache %s: %s", p->path, strerror(errno));
    if (*out >= 0)
        status = check_directory(*out, p->path, err);
    if (status) {
        close(*out);
        *out = -1;
    }
    return status;
}

static arras_status open_directory(int *out, const ar_build_options *options, arras_error *err)
{
    place p;

    *out = -1;
    if (!choose_place(&p, options))
        return ar_fail(err, ARRAS_EINVAL, "the name of the kernel cache has more than %d bytes",
                       PATH_MAX - 1);
    return *p.path ? open_place(out, &p, err) : ARRAS_OK;
}

arras_status ar_disk_check(const ar_build_options *options, arras_error *err)
{
    int          directory;
    arras_status status = options->no_cache ? ARRAS_OK : open_directory(&directory, options, err);

    if (!options->no_cache && directory >= 0)
        close(directory);
    return status;
}

void ar_disk_open(ar_disk *out, const ar_build_options *options, const ar_key *key)
{
    out->limit = options->cache_limit > 0 ? options->cache_limit : default_limit;
    open_directory(&out->directory, options, NULL);
    snprintf(out->name, sizeof out->name, "%016" PRIx64 "%016" PRIx64 ".so",
             ar_key_hash(key, options->hash, 1), ar_key_hash(key, options->hash, 2));
}

void ar_disk_close(ar_disk *disk)
{
    if (disk->directory >= 0)
        close(disk->directory);
    disk->directory = -1;
}

/* ---- Out ------------------------------------------------------------------------------------- */

/* Leaves the object alone in `file` when it is whole and was built for this key. */
static bool unwrap(ar_text *file, const ar_key *key)
{
    footer f;
    size_t body;

    if (file->failed || file->length < sizeof f)
        return false;
    body = file->length - sizeof f;
    memcpy(&f, file->data + body, sizeof f);
    if (memcmp(f.magic, magic, sizeof magic) != 0 || f.object_length > body ||
        f.key_length != body - f.object_length ||
        f.checksum != ar_hash_bytes(0, file->data, f.object_length) ||
        !ar_key_is(key, file->data + f.object_length, f.key_length))
        return false;
    file->length = f.object_length;
    return true;
}

static bool is_readable(int fd, struct stat *s)
{
    return fstat(fd, s) == 0 && S_ISREG(s->st_mode) && s->st_uid == geteuid() &&
           s->st_size < largest_file;
}

bool ar_disk_fetch(ar_text *object, const ar_disk *disk, const ar_key *key)
{
    struct stat s;
    bool        found;
    int         fd; /* not blocking: should it be no file but a pipe */

    if (disk->directory < 0)
        return false;
    fd = openat(disk->directory, disk->name, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
    if (fd < 0)
        return false;
    found = is_readable(fd, &s) && ar_text_reserve(object, (size_t)s.st_size) &&
            ar_read_all(object, fd) && unwrap(object, key);
    /* Its age says how long ago it was used, to a day: a write per hit would be dear. */
    if (found && time(NULL) - s.st_mtime > DAY)
        futimens(fd, NULL);
    close(fd);
    if (!found)
        ar_text_free(object);
    return found;
}

/* ---- The limit ------------------------------------------------------------------------------- */

typedef struct {
    char    name[40];
    int64_t size;
    time_t  used;
} entry;

/* What this process knows of the directory it wrote to last; others write to it too. */
static struct {
    pthread_mutex_t lock;
    dev_t           device;
    ino_t           inode; /* 0: nothing known */
    int64_t         size;
    int             stores;
} known = { .lock = PTHREAD_MUTEX_INITIALIZER };

static bool is_object_name(const char *name)
{
    return strlen(name) == 35 && strspn(name, "0123456789abcdef") == 32 &&
           strcmp(name + 32, ".so") == 0;
}

static bool is_temporary_name(const char *name)
{
    return strlen(name) == 20 && memcmp(name, "tmp-", 4) == 0;
}

static int64_t size_on_disk(int64_t bytes) { return (bytes + BLOCK - 1) / BLOCK * BLOCK; }

static int by_use(const void *x, const void *y)
{
    const entry *a = x, *b = y;

    if (a->used != b->used)
        return a->used < b->used ? -1 : 1;
    return strcmp(a->name, b->name);
}

/* One file of the directory: listed when it is an object, removed when a writer died over it. */
static bool scan_one(entry **entries, size_t *capacity, size_t *count, int directory,
                     const char *name)
{
    struct stat s;
    bool        object = is_object_name(name);

    if ((!object && !is_temporary_name(name)) ||
        fstatat(directory, name, &s, AT_SYMLINK_NOFOLLOW) != 0)
        return true;
    if (!object) {
        if (time(NULL) - s.st_mtime > HOUR)
            unlinkat(directory, name, 0);
        return true;
    }
    if (!ar_grow(entries, capacity, *count, sizeof **entries))
        return false;
    entry *e = &(*entries)[(*count)++];
    *e = (entry){ .size = size_on_disk(s.st_size), .used = s.st_mtime };
    memcpy(e->name, name, strlen(name));
    return true;
}

/* False when there was no memory or no reading it; what was found is the caller's all the same. */
static bool scan(entry **entries, size_t *count, int directory)
{
    int    fd = openat(directory, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    DIR   *listing = fd < 0 ? NULL : fdopendir(fd);
    size_t capacity = 0;
    bool   done = listing != NULL;

    if (!listing && fd >= 0)
        close(fd);
    for (struct dirent *d; done && (d = readdir(listing));)
        done = scan_one(entries, &capacity, count, directory, d->d_name);
    if (listing)
        closedir(listing);
    return done;
}

/* Oldest first, down to three quarters of the limit, so that not every store has to do it. */
static int64_t evict(entry *entries, size_t count, int64_t size, const ar_disk *disk,
                     int64_t *evicted)
{
    qsort(entries, count, sizeof *entries, by_use);
    for (size_t i = 0; i < count && size > disk->limit / 4 * 3; i++) {
        if (strcmp(entries[i].name, disk->name) == 0)
            continue;
        if (unlinkat(disk->directory, entries[i].name, 0) == 0)
            ++*evicted;
        size -= entries[i].size;
    }
    return size;
}

/* The size the directory has in the end; -1 when it could not be found out. */
static int64_t trim(const ar_disk *disk, int64_t *evicted)
{
    entry  *entries = NULL;
    size_t  count = 0;
    int64_t size = 0;
    bool    done = scan(&entries, &count, disk->directory);

    for (size_t i = 0; i < count; i++)
        size += entries[i].size;
    if (done && size > disk->limit)
        size = evict(entries, count, size, disk, evicted);
    ar_free(entries);
    return done ? size : -1;
}

/* Reading a directory of thousands of files takes milliseconds: it is done when our own sum says
 * so, and now and then because of what others store. */
static void keep_limit(const ar_disk *disk, int64_t stored, int64_t *evicted)
{
    struct stat s;
    bool        same;

    /* Should another thread be at it, what is stored here counts at the next scan. */
    if (fstat(disk->directory, &s) != 0 || pthread_mutex_trylock(&known.lock) != 0)
        return;
    same = known.device == s.st_dev && known.inode == s.st_ino;
    known.size += size_on_disk(stored);
    if (!same || known.size > disk->limit || ++known.stores >= STORES_BETWEEN_SCANS) {
        known.size = trim(disk, evicted);
        known.device = s.st_dev;
        known.inode = known.size < 0 ? 0 : s.st_ino;
        known.stores = 0;
    }
    pthread_mutex_unlock(&known.lock);
}

/* ---- In -------------------------------------------------------------------------------------- */

static void wrap(ar_text *file, const ar_key *key, const ar_text *object)
{
    footer f = { .object_length = object->length };

    ar_text_put(file, object->data, object->length);
    ar_key_put(file, key);
    f.key_length = file->length - object->length;
    f.checksum = ar_hash_bytes(0, object->data, object->length);
    memcpy(f.magic, magic, sizeof magic);
    ar_text_put(file, (const char *)&f, sizeof f);
}

static void name_temporary(char *out, size_t room)
{
    static atomic_uint_fast64_t serial;
    struct timespec             t;
    uint64_t                    hash;

    clock_gettime(CLOCK_REALTIME, &t);
    hash = ar_hash_mix((uint64_t)getpid(), atomic_fetch_add(&serial, 1));
    hash = ar_hash_mix(hash, (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec);
    snprintf(out, room, "tmp-%016" PRIx64, hash);
}

/* Under another name first: whoever looks finds the whole file or none. */
static bool write_file(const ar_disk *disk, const ar_text *file)
{
    char temporary[40];
    bool written;
    int  fd;

    name_temporary(temporary, sizeof temporary);
    fd = openat(disk->directory, temporary, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    if (fd < 0)
        return false;
    written = ar_write_all(fd, file->data, file->length);
    written = close(fd) == 0 && written;
    written = written && renameat(disk->directory, temporary, disk->directory, disk->name) == 0;
    if (!written)
        unlinkat(disk->directory, temporary, 0);
    return written;
}

bool ar_disk_store(const ar_disk *disk, const ar_key *key, const ar_text *object, int64_t *evicted)
{
    ar_text file = { 0 };
    bool    stored = false;

    if (disk->directory < 0)
        return false;
    wrap(&file, key, object);
    if (!file.failed)
        stored = write_file(disk, &file);
    if (stored)
        keep_limit(disk, (int64_t)file.length, evicted);
    ar_text_free(&file);
    return stored;
}
