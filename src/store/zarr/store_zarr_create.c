/* store_zarr_create.c -- new arrays of Zarr.  Directories that are not there yet, of the array and
 * of the groups above it, are made under another name beside the first of them; metadata come last,
 * and then that directory gets its name.  Until then readers see nothing of it. */
#include "base/base.h"

#if defined ARRAS_HAVE_JANSSON
#include "store/codec/half.h"
#include "store/flat/flat.h"
#include "store/safe/drafts.h"
#include "store/safe/store_file.h"
#include "store/zarr/store_zarr.h"

#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

typedef struct {
    ar_sink      sink;
    ar_zarr_meta meta;
    ar_text      target;    /* the first directory that is not there */
    ar_text      temporary; /* its name until the end */
    ar_text      groups;    /* names below it, "a/b"; the last is the array; "": it is the array */
    ar_text      json, attributes; /* of the array; attributes in v2 only */
    int          directory;        /* of the array */
    int          draft;            /* the temporary directory */
} zarr_sink;

/* ---- Files ----------------------------------------------------------------------------------- */

arras_status ar_zarr_write_file(int directory, const char *file, bool is_new, const char *bytes,
                                size_t n, const char *name, arras_error *err)
{
    int fd =
        openat(directory, file, O_WRONLY | O_CREAT | O_CLOEXEC | (is_new ? O_EXCL : O_TRUNC), 0666);

    if (fd < 0)
        return ar_fail(err, ARRAS_EIO, "cannot write %s: %s", name, strerror(errno));
    arras_status status = ar_file_write(fd, bytes, (int64_t)n, 0, name, err);
    if (close(fd) != 0 && status == ARRAS_OK)
        status = ar_fail(err, ARRAS_EIO, "cannot write %s: %s", name, strerror(errno));
    return status;
}

static arras_status write_file(int directory, const char *file, const char *bytes, size_t n,
                               const char *name, arras_error *err)
{
    return ar_zarr_write_file(directory, file, true, bytes, n, name, err);
}

static bool is_there(int directory, const char *key)
{
    char  part[AR_ZARR_KEY];
    char *slash;

    snprintf(part, sizeof part, "%s", key);
    slash = strrchr(part, '/');
    if (!slash)
        return true;
    *slash = '\0';
    return faccessat(directory, part, F_OK, 0) == 0;
}

arras_status ar_zarr_make_parents(int directory, const char *key, const char *name,
                                  arras_error *err)
{
    char part[AR_ZARR_KEY];

    if (is_there(directory, key))
        return ARRAS_OK;
    for (const char *slash = strchr(key, '/'); slash; slash = strchr(slash + 1, '/')) {
        memcpy(part, key, (size_t)(slash - key));
        part[slash - key] = '\0';
        if (mkdirat(directory, part, 0777) != 0 && errno != EEXIST)
            return ar_fail(err, ARRAS_EIO, "cannot write %s: %s", name, strerror(errno));
    }
    return ARRAS_OK;
}

static arras_status put(ar_sink *self, const int64_t *chunk, const ar_chunk_bytes *bytes,
                        arras_error *err)
{
    zarr_sink   *z = (zarr_sink *)self;
    char         key[AR_ZARR_KEY], name[sizeof self->name + AR_ZARR_KEY + 16];
    arras_status status;

    if (bytes->missing || ar_drafts_are_discarded())
        return ARRAS_OK;
    ar_zarr_key(key, &z->meta, chunk);
    snprintf(name, sizeof name, "%s: chunk %s", self->name, key);
    status = ar_zarr_make_parents(z->directory, key, name, err);
    return status == ARRAS_OK
               ? write_file(z->directory, key, bytes->bytes.data, bytes->bytes.length, name, err)
               : status;
}

/* ---- The end --------------------------------------------------------------------------------- */

static arras_status write_group(const zarr_sink *z, const char *directory, arras_error *err)
{
    static const char v2[] = "{\n    \"zarr_format\": 2\n}\n";
    static const char v3[] = "{\n    \"zarr_format\": 3,\n    \"node_type\": \"group\",\n"
                             "    \"attributes\": {}\n}\n";
    bool              is_v3 = z->meta.version == 3;
    int               fd = open(directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

    if (fd < 0)
        return ar_fail(err, ARRAS_EIO, "cannot write %s: %s", z->sink.name, strerror(errno));
    arras_status status = write_file(fd, is_v3 ? "zarr.json" : ".zgroup", is_v3 ? v3 : v2,
                                     is_v3 ? sizeof v3 - 1 : sizeof v2 - 1, z->sink.name, err);
    close(fd);
    return status;
}

/* From the group below the array's up to the first directory. */
static arras_status write_groups(zarr_sink *z, arras_error *err)
{
    ar_text      path = { 0 };
    arras_status status = ARRAS_OK;

    if (z->groups.length == 0)
        return ARRAS_OK;
    ar_text_printf(&path, "%s/%s", z->temporary.data, z->groups.data);
    if (path.failed)
        status = ar_fail_memory(err, z->groups.length);
    while (status == ARRAS_OK && path.length > z->temporary.length) {
        ar_text_cut(&path, (size_t)(strrchr(path.data, '/') - path.data));
        status = write_group(z, path.data, err);
    }
    ar_text_free(&path);
    return status;
}

static arras_status write_meta(zarr_sink *z, arras_error *err)
{
    bool         is_v3 = z->meta.version == 3;
    arras_status status = write_file(z->directory, is_v3 ? "zarr.json" : ".zarray", z->json.data,
                                     z->json.length, z->sink.name, err);

    if (status == ARRAS_OK && !is_v3)
        status = write_file(z->directory, ".zattrs", z->attributes.data, z->attributes.length,
                            z->sink.name, err);
    return status == ARRAS_OK ? write_groups(z, err) : status;
}

static int remove_entry(const char *path, const struct stat *st, int kind, struct FTW *walk)
{
    (void)st, (void)kind, (void)walk;
    remove(path);
    return 0;
}

static void remove_tree(const char *path)
{
    enum { OPEN_AT_ONCE = 16 };

    nftw(path, remove_entry, OPEN_AT_ONCE, FTW_DEPTH | FTW_PHYS);
}

static void release(zarr_sink *z)
{
    if (z->directory >= 0)
        close(z->directory);
    if (z->draft >= 0)
        close(z->draft);
    ar_text_free(&z->target);
    ar_draft_name_free(&z->temporary);
    ar_text_free(&z->groups);
    ar_text_free(&z->json);
    ar_text_free(&z->attributes);
    ar_free(z);
}

static void abandon(ar_sink *self)
{
    zarr_sink *z = (zarr_sink *)self;

    if (z->temporary.length)
        remove_tree(z->temporary.data);
    release(z);
}

static arras_status check_group(int *version, const char *path, arras_error *err);

/* The group that was to be made is there by now, of another result or another process: what is
 * below the draft belongs into it. */
static arras_status enter_group(zarr_sink *z, ar_text *from, const char **rest, arras_error *err)
{
    int          there = 0, n = (int)strcspn(*rest, "/");
    arras_status status = check_group(&there, z->target.data, err);

    if (status != ARRAS_OK)
        return status;
    if (there != z->meta.version)
        return ar_fail(err, ARRAS_EIO,
                       "%s was made by others meanwhile, as a group of version %d: nothing of "
                       "version %d can be in it",
                       z->target.data, there, z->meta.version);
    ar_text_printf(from, "/%.*s", n, *rest);
    ar_text_printf(&z->target, "/%.*s", n, *rest);
    *rest += n + ((*rest)[n] == '/');
    return from->failed || z->target.failed ? ar_fail_memory(err, from->length) : ARRAS_OK;
}

static arras_status appear(zarr_sink *z, arras_error *err)
{
    const char  *rest = z->groups.data;
    ar_text      from = { 0 };
    struct stat  st;
    arras_status status;

    ar_text_add(&from, z->temporary.data);
    if (from.failed)
        return ar_fail_memory(err, z->temporary.length);
    while ((status = ar_file_appear(from.data, z->target.data, err)) != ARRAS_OK && *rest &&
           lstat(z->target.data, &st) == 0) {
        status = enter_group(z, &from, &rest, err);
        if (status != ARRAS_OK)
            break;
    }
    if (status == ARRAS_OK && from.length > z->temporary.length)
        remove_tree(z->temporary.data);
    ar_text_free(&from);
    return status;
}

static arras_status finish(ar_sink *self, arras_error *err)
{
    zarr_sink   *z = (zarr_sink *)self;
    arras_status status = write_meta(z, err);

    if (status == ARRAS_OK)
        status = appear(z, err);
    if (status == ARRAS_OK)
        release(z);
    else
        abandon(self);
    return status;
}

static const ar_sink_type sink_type = { .put = put, .finish = finish, .abandon = abandon };

/* ---- Where it goes --------------------------------------------------------------------------- */

/* What is at a path that is there: its version, if it is a group. */
static arras_status check_group(int *version, const char *path, arras_error *err)
{
    ar_zarr_node node = { 0 };
    int          fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

    if (fd < 0)
        return ar_fail(err, ARRAS_EIO, "cannot write into %s: %s", path, strerror(errno));
    arras_status status = ar_zarr_node_read(&node, fd, path, err);
    close(fd);
    if (status == ARRAS_OK && node.kind != AR_ZARR_GROUP)
        status = ar_fail(err, ARRAS_EIO, "%s is there already, and is %s", path,
                         node.kind == AR_ZARR_ARRAY ? "an array" : "no group of Zarr");
    *version = node.version;
    ar_zarr_node_free(&node);
    return status;
}

/* Splits path and inside into what is there, the first directory that is not, and the rest. */
static arras_status find_target(zarr_sink *z, int *version, const char *path, const char *inside,
                                arras_error *err)
{
    struct stat  st;
    ar_text      below = { 0 };
    arras_status status = ar_zarr_clean_path(&below, inside, path, err);
    const char  *rest = below.length ? below.data : "";

    ar_text_add(&z->target, path);
    while (z->target.length > 1 && z->target.data[z->target.length - 1] == '/')
        ar_text_cut(&z->target, z->target.length - 1);
    while (status == ARRAS_OK && !z->target.failed && lstat(z->target.data, &st) == 0) {
        size_t n = strcspn(rest, "/");

        status = check_group(version, z->target.data, err);
        if (status == ARRAS_OK && n == 0)
            status = ar_fail(err, ARRAS_EIO, "%s is there already: a group", z->target.data);
        ar_text_printf(&z->target, "/%.*s", (int)n, rest);
        rest += n + (rest[n] == '/');
    }
    ar_text_add(&z->groups, rest);
    ar_text_free(&below);
    if (status == ARRAS_OK && (z->target.failed || z->groups.failed))
        return ar_fail_memory(err, strlen(path));
    return status;
}

static arras_status make_tree(zarr_sink *z, arras_error *err)
{
    ar_text      path = { 0 };
    arras_status status = ar_file_make_beside(&z->temporary, &z->draft, true, z->target.data, err);

    if (status != ARRAS_OK)
        return status;
    ar_text_printf(&path, "%s/", z->temporary.data);
    for (const char *at = z->groups.data; *at && status == ARRAS_OK && !path.failed;) {
        size_t n = strcspn(at, "/");

        ar_text_put(&path, at, n);
        if (!path.failed && mkdir(path.data, 0777) != 0)
            status = ar_fail(err, ARRAS_EIO, "cannot write %s: %s", z->sink.name, strerror(errno));
        ar_text_add(&path, "/");
        at += n + (at[n] == '/');
    }
    if (status == ARRAS_OK && path.failed)
        status = ar_fail_memory(err, z->groups.length);
    if (status == ARRAS_OK) {
        z->directory = open(path.data, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
        if (z->directory < 0)
            status = ar_fail(err, ARRAS_EIO, "cannot write %s: %s", z->sink.name, strerror(errno));
    }
    ar_text_free(&path);
    return status;
}

/* ---- What it is ------------------------------------------------------------------------------ */

/* About 1 MB: the longest axis is halved until the chunk is small enough. */
static void choose_chunk(ar_store_info *info)
{
    enum { WANTED = 1 << 20, GROWING = 1 << 16 };
    int64_t bytes = (int64_t)arras_dtype_size(info->dtype);

    for (int d = 0; d < info->rank; d++) {
        info->chunk[d] = ar_max64(info->shape[d], 1);
        bytes *= info->chunk[d]; /* the whole shape was checked */
    }
    while (bytes > WANTED) {
        int longest = 0;

        for (int d = 1; d < info->rank; d++)
            if (info->chunk[d] > info->chunk[longest])
                longest = d;
        bytes /= info->chunk[longest];
        info->chunk[longest] = (info->chunk[longest] + 1) / 2;
        bytes *= info->chunk[longest];
    }
    /* An array that grows may begin with little: its chunks are for what it will be. */
    for (int d = 0; d < info->rank; d++)
        for (; info->growable[d] && bytes <= GROWING / 2; bytes *= 2)
            info->chunk[d] *= 2;
}

static arras_status set_chunk(ar_store_info *info, const int64_t *chunk, const char *name,
                              arras_error *err)
{
    if (!chunk) {
        choose_chunk(info);
        return ARRAS_OK;
    }
    for (int d = 0; d < info->rank; d++) {
        if (chunk[d] < 1)
            return ar_fail(err, ARRAS_EINVAL, "%s: a chunk of %" PRId64 " along axis %d", name,
                           chunk[d], d);
        info->chunk[d] = chunk[d];
    }
    return ARRAS_OK;
}

static void set_options(ar_store_info *info, const ar_sink_options *options)
{
    if (options->fill)
        memcpy(info->fill, options->fill, arras_dtype_size(info->dtype));
    for (int d = 0; d < info->rank && options->growable; d++)
        info->growable[d] = options->growable[d];
}

/* xarray takes the fill value of version 2 for what is missing: so it is what was missing in the
 * array that this one is like, or null. */
static void choose_fill(zarr_sink *z, const ar_source *like)
{
    ar_store_info *info = &z->meta.info;

    if (z->meta.version == 2 && like)
        z->meta.no_fill = !ar_zarr_fill_like(info->fill, like, info->dtype);
    z->sink.stores_all = z->meta.no_fill;
}

static const char *own_name(const char *path)
{
    const char *slash = strrchr(path, '/');

    return slash ? slash + 1 : path;
}

static arras_status set_meta(zarr_sink *z, int version, arras_dtype dtype, int rank,
                             const int64_t *shape, const ar_sink_options *options, arras_error *err)
{
    ar_store_info *info = &z->meta.info;
    int64_t        bytes;
    arras_status   status;

    z->meta.version = version;
    z->meta.prefix = version == 3 ? "c" : "";
    z->meta.separator = version == 3 ? '/' : '.';
    info->dtype = dtype;
    info->rank = rank;
    memcpy(info->shape, shape, sizeof *shape * (size_t)rank);
    snprintf(info->format, sizeof info->format, "Zarr v%d", version);
    snprintf(info->stored, sizeof info->stored, "%s", arras_dtype_name(dtype));
    if (!ar_flat_bytes(&bytes, (int64_t)arras_dtype_size(dtype), rank, shape))
        return ar_fail(err, ARRAS_ESIZE, "%s: its shape makes more bytes than there can be",
                       z->sink.name);
    set_options(info, options);
    if (options->like)
        ar_axes_like(info, own_name(z->sink.name), &options->like->info);
    if (!options->fill)
        choose_fill(z, options->like);
    status = set_chunk(info, options->chunk, z->sink.name, err);
    if (status == ARRAS_OK)
        status = ar_zarr_chain(&z->meta.chain, version, options->codecs, dtype, z->sink.name, err);
    if (status == ARRAS_OK && ar_chain_is_half(&z->meta.chain)) {
        ar_half_round(info->fill, 1);
        snprintf(info->stored, sizeof info->stored, "float16");
    }
    if (status == ARRAS_OK)
        status = ar_zarr_check(&z->meta, z->sink.name, err);
    return status;
}

static arras_status print_texts(zarr_sink *z, const ar_source *like, arras_error *err)
{
    ar_zarr_print_meta(&z->json, &z->meta, like);
    if (z->meta.version == 2)
        ar_zarr_print_attributes_v2(&z->attributes, &z->meta, like);
    return z->json.failed || z->attributes.failed ? ar_fail_memory(err, z->json.length) : ARRAS_OK;
}

/* ---- All of it ------------------------------------------------------------------------------- */

static arras_status choose_version(int *version, int there, int asked, const char *name,
                                   arras_error *err)
{
    if (asked != 0 && asked != 2 && asked != 3)
        return ar_fail(err, ARRAS_EINVAL, "%s: there is no version %d of Zarr", name, asked);
    if (there && asked && there != asked)
        return ar_fail(err, ARRAS_EINVAL, "%s: an array of version %d in a group of version %d",
                       name, asked, there);
    *version = there ? there : asked ? asked : 3;
    return ARRAS_OK;
}

arras_status ar_zarr_create(ar_sink **out, const char *path, const char *inside, arras_dtype dtype,
                            int rank, const int64_t *shape, const ar_sink_options *options,
                            arras_error *err)
{
    zarr_sink   *z = ar_alloc(1, sizeof *z);
    int          there = 0, version = 0;
    arras_status status;

    if (!z)
        return ar_fail_memory(err, sizeof *z);
    z->directory = z->draft = -1;
    z->sink.type = &sink_type;
    snprintf(z->sink.name, sizeof z->sink.name, "%s%s%s", path, inside && *inside ? "/" : "",
             inside ? inside + strspn(inside, "/") : "");
    status = find_target(z, &there, path, inside, err);
    if (status == ARRAS_OK)
        status = choose_version(&version, there, options->version, z->sink.name, err);
    if (status == ARRAS_OK)
        status = set_meta(z, version, dtype, rank, shape, options, err);
    if (status == ARRAS_OK)
        status = print_texts(z, options->like, err);
    if (status == ARRAS_OK)
        status = make_tree(z, err);
    if (status != ARRAS_OK) {
        abandon(&z->sink);
        return status;
    }
    z->sink.info = z->meta.info;
    z->sink.chain = z->meta.chain;
    *out = &z->sink;
    return ARRAS_OK;
}

#endif
