/* store_hdf5_file.c -- HDF5 files that are written: each as a draft beside its target, which takes
 * the target's name when it is complete.  A crash at any moment leaves what was there before. */
#include "store/store.h"
#if defined ARRAS_HAVE_HDF5
#include "store/hdf5/store_hdf5.h"
#include "store/safe/drafts.h"
#include "store/safe/store_file.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/fs.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <unistd.h>

/* Files that are being written.  Several new datasets of one file share a draft. */
static ar_h5_draft *drafts;

/* ---- Copies of files ------------------------------------------------------------------------- */

static arras_status copy_in_pieces(int to, int from, const char *name, arras_error *err)
{
    enum { PIECE = 1 << 20 };
    char        *piece = ar_alloc(1, PIECE);
    ssize_t      got = 1;
    arras_status status = piece ? ARRAS_OK : ar_fail_memory(err, PIECE);

    for (int64_t at = 0; got > 0 && status == ARRAS_OK; at += got) {
        got = pread(from, piece, PIECE, at);
        if (got < 0)
            status = ar_fail(err, ARRAS_EIO, "cannot read %s: %s", name, strerror(errno));
        else
            status = ar_file_write(to, piece, got, at, name, err);
    }
    ar_free(piece);
    return status;
}

/* By reference where the file system can share blocks, else inside the kernel, else through memory.
 */
static arras_status copy_file(int to, int from, const char *name, arras_error *err)
{
    enum { MOST = 1 << 30 };
    ssize_t got = 1;

    if (ioctl(to, FICLONE, from) == 0)
        return ARRAS_OK;
    while (got > 0)
        got = copy_file_range(from, NULL, to, NULL, MOST, 0);
    return got == 0 ? ARRAS_OK : copy_in_pieces(to, from, name, err);
}

/* libhdf5 has the target open meanwhile, with its lock: nobody writes to it. */
static arras_status copy_target(ar_h5_draft *draft, hid_t original, arras_error *err)
{
    int from = ar_h5_descriptor(original);

    if (from < 0)
        return ar_h5_fail(err, ARRAS_EIO, draft->target, "libhdf5 has no descriptor for it");
    if (fstat(from, &draft->original) != 0 ||
        fchmod(draft->disk.fd, draft->original.st_mode & 07777) != 0)
        return ar_fail(err, ARRAS_EIO, "cannot write %s: %s", draft->target, strerror(errno));
    return copy_file(draft->disk.fd, from, draft->target, err);
}

/* ---- Drafts ---------------------------------------------------------------------------------- */

static void free_draft(ar_h5_draft *draft)
{
    while (draft->uses) {
        ar_h5_axis_use *use = draft->uses;

        draft->uses = use->next;
        ar_free(use);
    }
    if (draft->disk.fd >= 0)
        close(draft->disk.fd);
    ar_draft_name_free(&draft->path);
    ar_free(draft->target);
    ar_free(draft);
}

/* Nothing is left of it, and nothing more is written. */
static void destroy_draft(ar_h5_draft *draft)
{
    if (draft->path.data)
        unlink(draft->path.data);
    draft->disk.failed = ECANCELED;
    if (draft->file >= 0)
        H5Fclose(draft->file);
    free_draft(draft);
}

arras_status ar_h5_draft_fail(arras_error *err, const ar_h5_draft *draft, const char *name,
                              const char *what)
{
    if (draft && draft->disk.failed)
        return ar_fail(err, ARRAS_EIO, "cannot write %s: %s", name, strerror(draft->disk.failed));
    return ar_h5_fail(err, ARRAS_EIO, name, what);
}

static arras_status start_copy(ar_h5_draft *draft, hid_t original, arras_error *err)
{
    arras_status status =
        ar_file_make_beside(&draft->path, &draft->disk.fd, false, draft->target, err);

    if (status == ARRAS_OK)
        status = copy_target(draft, original, err);
    if (status != ARRAS_OK)
        return status;
    draft->replaces = true;
    draft->file = ar_h5_open_draft(draft->path.data, H5F_ACC_RDWR, &draft->disk);
    return draft->file >= 0
               ? ARRAS_OK
               : ar_h5_draft_fail(err, draft, draft->target, "its copy can't be opened");
}

static arras_status start_new(ar_h5_draft *draft, arras_error *err)
{
    arras_status status =
        ar_file_make_beside(&draft->path, &draft->disk.fd, false, draft->target, err);

    if (status != ARRAS_OK)
        return status;
    draft->file = ar_h5_open_draft(draft->path.data, H5F_ACC_TRUNC, &draft->disk);
    return draft->file >= 0 ? ARRAS_OK
                            : ar_h5_draft_fail(err, draft, draft->target, "it can't be made");
}

/* ---- Which file is meant --------------------------------------------------------------------- */

/* One name for each file, links followed: the target itself, or its directory when it is new. */
static arras_status find_target(char *out, bool *exists, const char *path, arras_error *err)
{
    char        parent[PATH_MAX];
    const char *slash = strrchr(path, '/');
    const char *leaf = slash ? slash + 1 : path;

    *exists = realpath(path, out) != NULL;
    if (*exists)
        return ARRAS_OK;
    snprintf(parent, sizeof parent, "%.*s", slash ? (int)(slash - path) + 1 : 1,
             slash ? path : ".");
    if (errno != ENOENT || !*leaf || !realpath(parent, out) ||
        strlen(out) + strlen(leaf) + 2 > PATH_MAX)
        return ar_fail(err, ARRAS_EIO, "cannot write %s: %s", path, strerror(errno));
    snprintf(out + strlen(out), PATH_MAX - strlen(out), "%s%s", strcmp(out, "/") ? "/" : "", leaf);
    return ARRAS_OK;
}

static ar_h5_draft *find_draft(const char *target)
{
    ar_h5_draft *draft = drafts;

    while (draft && strcmp(draft->target, target) != 0)
        draft = draft->next;
    return draft;
}

/* ---- Free places in a file ------------------------------------------------------------------- */

/* A group of this file: what a link to another one leads to can't be written through it. */
static bool is_group_here(bool *elsewhere, hid_t file, const char *part)
{
    H5O_info_t object, root;
    bool found = H5Oget_info_by_name2(file, part, &object, H5O_INFO_BASIC, H5P_DEFAULT) >= 0 &&
                 H5Oget_info_by_name2(file, "/", &root, H5O_INFO_BASIC, H5P_DEFAULT) >= 0;

    *elsewhere = found && object.fileno != root.fileno;
    return found && object.type == H5O_TYPE_GROUP && !*elsewhere;
}

static arras_status check_part(bool *there, hid_t file, const char *path, const char *part,
                               bool is_last, arras_error *err)
{
    htri_t exists = H5Lexists(file, part, H5P_DEFAULT);
    bool   elsewhere;

    *there = exists > 0;
    if (exists < 0)
        return ar_h5_fail(err, ARRAS_EFORMAT, path, part);
    if (*there && is_last)
        return ar_fail(err, ARRAS_EIO, "%s has %s already; choose another name", path, part);
    if (!*there || is_group_here(&elsewhere, file, part))
        return ARRAS_OK;
    if (elsewhere)
        return ar_fail(err, ARRAS_EIO, "%s: %s is a link to another file; write to that one", path,
                       part);
    return ar_fail(err, ARRAS_EIO, "%s: %s is no group, nothing can be in it", path, part);
}

/* Every part of the path on the way is a group or not there, and its end is not there. */
static arras_status check_free(hid_t file, const char *path, const char *inside, arras_error *err)
{
    char         part[AR_H5_PATH];
    bool         there = true;
    arras_status status = ARRAS_OK;

    for (size_t n = 1; there && status == ARRAS_OK; n++) {
        n += strcspn(inside + n, "/");
        snprintf(part, sizeof part, "%.*s", (int)n, inside);
        status = check_part(&there, file, path, part, !inside[n], err);
        if (!inside[n])
            break;
    }
    return status;
}

/* ---- Joining and leaving --------------------------------------------------------------------- */

static arras_status start_draft(ar_h5_draft *draft, const char *path, bool exists,
                                const char *inside, arras_error *err)
{
    hid_t        original;
    arras_status status;

    if (!exists)
        return start_new(draft, err);
    original = ar_h5_open_file(draft->target);
    if (original < 0)
        return ar_h5_fail(err, ARRAS_EIO, path, "nothing can be added to it");
    /* Before a copy is made for nothing. */
    status = inside ? check_free(original, path, inside, err) : ARRAS_OK;
    if (status == ARRAS_OK)
        status = start_copy(draft, original, err);
    H5Fclose(original);
    return status;
}

static arras_status new_draft(ar_h5_draft **out, const char *path, const char *target, bool exists,
                              const char *inside, arras_error *err)
{
    size_t       length = strlen(target) + 1;
    ar_h5_draft *draft = ar_alloc(1, sizeof *draft);
    arras_status status;

    if (!draft)
        return ar_fail_memory(err, sizeof *draft);
    draft->file = draft->disk.fd = -1;
    draft->target = ar_alloc(length, 1);
    if (draft->target) {
        memcpy(draft->target, target, length);
        status = start_draft(draft, path, exists, inside, err);
    } else {
        status = ar_fail_memory(err, length);
    }
    if (status != ARRAS_OK) {
        destroy_draft(draft);
        return status;
    }
    draft->next = drafts;
    *out = drafts = draft;
    return ARRAS_OK;
}

arras_status ar_h5_draft_join(ar_h5_draft **out, const char *path, const char *inside,
                              arras_error *err)
{
    char         target[PATH_MAX];
    bool         exists;
    arras_status status = find_target(target, &exists, path, err);
    ar_h5_draft *draft = status == ARRAS_OK ? find_draft(target) : NULL;

    if (draft)
        status = inside && !ar_h5_scale_yields(draft, inside)
                     ? check_free(draft->file, path, inside, err)
                     : ARRAS_OK;
    else if (status == ARRAS_OK)
        status = new_draft(&draft, path, target, exists, inside, err);
    if (status != ARRAS_OK)
        return status;
    draft->users++;
    *out = draft;
    return ARRAS_OK;
}

/* Held by one process at a time while it looks at a file and then replaces it.  Not the file's own
 * lock: readers have that as long as they like.  Where there are no locks nobody waits. */
static int lock_folder(const char *path)
{
    const char *slash = strrchr(path, '/'); /* paths of targets are absolute */
    char        folder[PATH_MAX];
    int         fd;

    snprintf(folder, sizeof folder, "%.*s", (int)ar_max64(slash - path, 1), path);
    fd = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    while (fd >= 0 && flock(fd, LOCK_EX) != 0 && errno == EINTR)
        ;
    return fd;
}

/* What somebody else wrote into the target since it was copied would be lost. */
static arras_status rename_unchanged(const ar_h5_draft *draft, arras_error *err)
{
    struct stat now;

    if (stat(draft->target, &now) != 0 || now.st_ino != draft->original.st_ino ||
        now.st_size != draft->original.st_size ||
        now.st_mtim.tv_sec != draft->original.st_mtim.tv_sec ||
        now.st_mtim.tv_nsec != draft->original.st_mtim.tv_nsec)
        return ar_fail(err, ARRAS_EIO,
                       "%s was changed by others meanwhile; it stays as they left it",
                       draft->target);
    if (rename(draft->path.data, draft->target) != 0)
        return ar_fail(err, ARRAS_EIO, "cannot write %s: %s", draft->target, strerror(errno));
    return ARRAS_OK;
}

static arras_status replace_target(const ar_h5_draft *draft, arras_error *err)
{
    arras_status status;
    int          lock;

    if (fsync(draft->disk.fd) != 0)
        return ar_fail(err, ARRAS_EIO, "cannot write %s: %s", draft->target, strerror(errno));
    lock = lock_folder(draft->target);
    status = rename_unchanged(draft, err);
    if (lock >= 0)
        close(lock);
    return status;
}

static arras_status commit_draft(ar_h5_draft *draft, arras_error *err)
{
    hid_t file = draft->file;

    if (draft->spoiled)
        return ar_fail(err, ARRAS_EIO, "%s stays as it was: not all that was begun was completed",
                       draft->target);

    draft->file = -1;
    if (H5Fclose(file) < 0 || draft->disk.failed)
        return ar_h5_draft_fail(err, draft, draft->target, "it can't be completed");
    return draft->replaces ? replace_target(draft, err)
                           : ar_file_appear(draft->path.data, draft->target, err);
}

arras_status ar_h5_draft_leave(ar_h5_draft *draft, bool keep, arras_error *err)
{
    ar_h5_draft **at = &drafts;
    arras_status  status;

    draft->kept += keep;
    if (--draft->users > 0)
        return ARRAS_OK;
    while (*at != draft)
        at = &(*at)->next;
    *at = draft->next;
    status = draft->kept ? commit_draft(draft, err) : ARRAS_OK;
    if (draft->kept && status == ARRAS_OK)
        free_draft(draft);
    else
        destroy_draft(draft);
    return status;
}
#endif
