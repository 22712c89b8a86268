/* store_zarr_append.c -- arrays of Zarr that grow.  New chunks are outside of the array until its
 * shape is written, which is the last step; a chunk that has old cells too is replaced by one that
 * has the same.  So whoever reads meanwhile, or after a crash, sees the array as it was.  One
 * process at a time appends. */
#include "base/base.h"

#if defined ARRAS_HAVE_JANSSON
#include "store/boxes.h"
#include "store/safe/store_file.h"
#include "store/zarr/store_zarr.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <unistd.h>

typedef struct {
    ar_sink             sink;
    const ar_zarr_meta *meta; /* of the array as it was */
    int                 directory;
    int                 lock; /* of the directory: who else would append writes the same chunks */
    ar_text             old, json; /* metadata as they are, and as they will be */
} zarr_append;

/* ---- Chunks ---------------------------------------------------------------------------------- */

/* Beside its place and then into it: never half a chunk where a reader looks. */
static arras_status put(ar_sink *self, const int64_t *chunk, const ar_chunk_bytes *bytes,
                        arras_error *err)
{
    zarr_append *z = (zarr_append *)self;
    char         key[AR_ZARR_KEY], beside[AR_ZARR_KEY + 8];
    char         name[sizeof self->name + AR_ZARR_KEY + 16];
    arras_status status;

    ar_zarr_key(key, z->meta, chunk);
    snprintf(beside, sizeof beside, "%s.new", key);
    snprintf(name, sizeof name, "%s: chunk %s", self->name, key);
    status = ar_zarr_make_parents(z->directory, key, name, err);
    if (status == ARRAS_OK)
        status = ar_zarr_write_file(z->directory, beside, false, bytes->bytes.data,
                                    bytes->bytes.length, name, err);
    if (status == ARRAS_OK && renameat(z->directory, beside, z->directory, key) != 0)
        status = ar_fail(err, ARRAS_EIO, "cannot write %s: %s", name, strerror(errno));
    if (status != ARRAS_OK)
        unlinkat(z->directory, beside, 0);
    return status;
}

/* Chunks that have new cells only: those of an attempt that failed, this one or an earlier one. */
static void remove_new(const zarr_append *z)
{
    const ar_sink_before *before = &z->sink.before;
    const ar_store_info  *info = &z->sink.info;
    int64_t               chunk[ARRAS_MAX_RANK], step = info->chunk[before->axis];
    ar_box                fresh = { .rank = info->rank }, cells;
    ar_chunk_grid         grid;
    char                  key[AR_ZARR_KEY];

    memcpy(fresh.hi, info->shape, sizeof fresh.hi);
    fresh.lo[before->axis] = (before->length + step - 1) / step * step;
    if (ar_box_is_empty(&fresh))
        return;
    ar_chunk_grid_make(&grid, info, &fresh);
    for (int64_t i = 0; i < grid.total; i++) {
        ar_chunk_grid_at(chunk, &cells, &grid, info, i);
        ar_zarr_key(key, z->meta, chunk);
        unlinkat(z->directory, key, 0);
    }
}

/* ---- Metadata -------------------------------------------------------------------------------- */

static const char *meta_file(const zarr_append *z)
{
    return z->meta->version == 3 ? "zarr.json" : ".zarray";
}

static arras_status load_meta(ar_text *out, const zarr_append *z, arras_error *err)
{
    int          fd = -1;
    int64_t      size = 0;
    arras_status status = ar_file_find(&fd, &size, z->directory, meta_file(z), z->sink.name, err);

    if (status == ARRAS_OK && fd < 0)
        return ar_fail(err, ARRAS_EIO, "%s: its %s is gone", z->sink.name, meta_file(z));
    if (status == ARRAS_OK) {
        status = ar_file_load(out, fd, size, AR_ZARR_MOST_JSON, z->sink.name, err);
        close(fd);
    }
    return status;
}

/* From the quote that begins a string to after the one that ends it. */
static const char *skip_string(const char *at)
{
    for (at++; *at && *at != '"'; at++)
        at += at[0] == '\\' && at[1];
    return at + (*at == '"');
}

/* The list that belongs to the key "shape" of the outermost object.  The text is known to be JSON
 * that has one. */
static const char *find_shape(const char *at)
{
    static const char key[] = "\"shape\"";

    for (int depth = 0; *at;) {
        const char *end = *at == '"' ? skip_string(at) : at + 1;

        if (depth == 1 && strncmp(at, key, sizeof key - 1) == 0 &&
            end[strspn(end, " \t\r\n")] == ':')
            return strchr(end, '[');
        depth += *at == '{' || *at == '[';
        depth -= *at == '}' || *at == ']';
        at = end;
    }
    return NULL;
}

/* All but the shape stays as it was written, to the byte. */
static arras_status print_meta(zarr_append *z, arras_error *err)
{
    const ar_store_info *info = &z->sink.info;
    const char          *list = find_shape(z->old.data), *end = list ? strchr(list, ']') : NULL;

    if (!end)
        return ar_fail(err, ARRAS_EFORMAT, "%s: its %s has no shape", z->sink.name, meta_file(z));
    ar_text_put(&z->json, z->old.data, (size_t)(list + 1 - z->old.data));
    for (int d = 0; d < info->rank; d++)
        ar_text_printf(&z->json, "%s%" PRId64, d ? ", " : "", info->shape[d]);
    ar_text_add(&z->json, end);
    return z->json.failed ? ar_fail_memory(err, z->old.length) : ARRAS_OK;
}

static arras_status check_unchanged(const zarr_append *z, arras_error *err)
{
    ar_text      now = { 0 };
    arras_status status = load_meta(&now, z, err);

    if (status == ARRAS_OK &&
        (now.length != z->old.length || memcmp(now.data, z->old.data, now.length) != 0))
        status =
            ar_fail(err, ARRAS_EIO, "%s was changed by others meanwhile; it stays as they left it",
                    z->sink.name);
    ar_text_free(&now);
    return status;
}

/* ---- The end --------------------------------------------------------------------------------- */

static void release(zarr_append *z)
{
    z->sink.before.source->type->close(z->sink.before.source); /* and its directory */
    close(z->lock);
    ar_text_free(&z->old);
    ar_text_free(&z->json);
    ar_free(z);
}

static void abandon(ar_sink *self)
{
    zarr_append *z = (zarr_append *)self;

    remove_new(z);
    release(z);
}

static arras_status finish(ar_sink *self, arras_error *err)
{
    static const char beside[] = ".zarr.json.new";
    zarr_append      *z = (zarr_append *)self;
    arras_status      status = check_unchanged(z, err);

    if (status == ARRAS_OK)
        status = ar_zarr_write_file(z->directory, beside, false, z->json.data, z->json.length,
                                    self->name, err);
    if (status == ARRAS_OK && renameat(z->directory, beside, z->directory, meta_file(z)) != 0)
        status = ar_fail(err, ARRAS_EIO, "cannot write %s: %s", self->name, strerror(errno));
    if (status == ARRAS_OK) {
        release(z);
        return ARRAS_OK;
    }
    unlinkat(z->directory, beside, 0);
    abandon(self);
    return status;
}

static const ar_sink_type sink_type = { .put = put, .finish = finish, .abandon = abandon };

/* ---- Opening --------------------------------------------------------------------------------- */

/* Copies of metadata elsewhere would still say what the shape was. */
static arras_status check_copies(const char *path, arras_error *err)
{
    ar_text      copy = { 0 };
    arras_status status = ARRAS_OK;

    ar_text_printf(&copy, "%s/.zmetadata", path);
    if (copy.failed)
        status = ar_fail_memory(err, strlen(path));
    else if (access(copy.data, F_OK) == 0)
        status = ar_fail(err, ARRAS_EFORMAT,
                         "%s has consolidated metadata, which would be wrong for an array that "
                         "grows; remove %s first",
                         path, copy.data);
    ar_text_free(&copy);
    return status;
}

static arras_status start(zarr_append *z, ar_source *before, int axis, int64_t extra,
                          arras_error *err)
{
    arras_status status = ar_sink_extend(&z->sink, before, axis, extra, err);

    if (status != ARRAS_OK) {
        before->type->close(before);
        close(z->lock);
        ar_free(z);
        return status;
    }
    z->sink.type = &sink_type;
    z->meta = ar_zarr_meta_of(before, &z->directory);
    if (z->meta->shard.used)
        status =
            ar_fail(err, ARRAS_EFORMAT, "%s can't grow: its chunks are in shards", z->sink.name);
    if (status == ARRAS_OK && faccessat(z->directory, ".", W_OK, AT_EACCESS) != 0)
        status = ar_fail(err, ARRAS_EIO, "cannot write %s: %s", z->sink.name, strerror(errno));
    if (status == ARRAS_OK)
        status = load_meta(&z->old, z, err);
    if (status == ARRAS_OK)
        status = print_meta(z, err);
    if (status != ARRAS_OK)
        release(z);
    else
        remove_new(z);
    return status;
}

/* Where there are no locks nobody is kept out. */
static arras_status lock_array(int *out, const char *path, const char *inside, arras_error *err)
{
    ar_source   *source;
    int          directory;
    arras_status status = ar_zarr_open(&source, path, inside, err);

    if (status != ARRAS_OK)
        return status;
    ar_zarr_meta_of(source, &directory);
    *out = fcntl(directory, F_DUPFD_CLOEXEC, 0);
    if (*out < 0)
        status = ar_fail(err, ARRAS_EIO, "cannot write %s: %s", source->name, strerror(errno));
    else if (flock(*out, LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK)
        status =
            ar_fail(err, ARRAS_EIO, "%s: another process appends to it; try again when it is done",
                    source->name);
    if (status != ARRAS_OK && *out >= 0)
        close(*out);
    source->type->close(source);
    return status;
}

arras_status ar_zarr_append(ar_sink **out, const char *path, const char *inside, int axis,
                            int64_t extra, arras_error *err)
{
    ar_source   *before = NULL;
    int          lock = -1;
    arras_status status = check_copies(path, err);

    if (status == ARRAS_OK)
        status = lock_array(&lock, path, inside, err);
    if (status != ARRAS_OK)
        return status;
    status = ar_zarr_open(&before, path, inside, err); /* as it is now that nobody else appends */
    if (status != ARRAS_OK) {
        close(lock);
        return status;
    }
    zarr_append *z = ar_alloc(1, sizeof *z);
    if (!z) {
        before->type->close(before);
        close(lock);
        return ar_fail_memory(err, sizeof *z);
    }
    z->lock = lock;
    status = start(z, before, axis, extra, err);
    if (status == ARRAS_OK)
        *out = &z->sink;
    return status;
}

#endif
