/* store_zarr_read.c -- arrays of Zarr as sources: one file for each chunk, or for each shard, whose
 * index is read once and kept. */
#include "base/base.h"

#if defined ARRAS_HAVE_JANSSON
#include "store/flat/flat.h"
#include "store/safe/store_file.h"
#include "store/zarr/store_zarr.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

/* Indices of shards that are kept: at most so many, and at most so many bytes of them. */
enum { MOST_INDICES = 1024, MOST_INDEX_BYTES = 16 << 20 };

/* Where an inner chunk is; both UINT64_MAX: it is not stored. */
typedef struct {
    uint64_t at, bytes;
} extent;

typedef struct {
    int64_t shard;   /* its number in C order, and one; 0: nothing is kept here */
    extent *extents; /* NULL: the shard is not stored */
} kept_index;

typedef struct {
    ar_source       source;
    ar_zarr_meta    meta;
    int             directory;
    json_t         *attributes; /* may be NULL */
    int64_t         most;       /* bytes a chunk can have as it is stored */
    pthread_mutex_t lock;       /* of what is kept */
    kept_index     *kept;       /* NULL: no shards */
    int64_t         slots;
} zarr_source;

/* ---- Chunks ---------------------------------------------------------------------------------- */

/* What stands in messages about a chunk. */
typedef struct {
    char key[AR_ZARR_KEY], name[512 + AR_ZARR_KEY + 16];
} chunk_name;

static void name_chunk(chunk_name *out, const zarr_source *z, const int64_t *chunk)
{
    ar_zarr_key(out->key, &z->meta, chunk);
    snprintf(out->name, sizeof out->name, "%s: chunk %s", z->source.name, out->key);
}

static arras_status fetch(ar_source *self, const int64_t *chunk, ar_chunk_bytes *out,
                          arras_error *err);

static arras_status fetch_file(zarr_source *z, const int64_t *chunk, ar_chunk_bytes *out,
                               arras_error *err)
{
    chunk_name   c;
    int          fd = -1;
    int64_t      size = 0;
    arras_status status;

    name_chunk(&c, z, chunk);
    status = ar_file_find(&fd, &size, z->directory, c.key, c.name, err);
    out->missing = fd < 0;
    if (status != ARRAS_OK || fd < 0)
        return status;
    status = ar_file_load(&out->bytes, fd, size, z->most, c.name, err);
    close(fd);
    return status;
}

/* A file of another size is taken as a whole, so that what is wrong with it is found out. */
static arras_status fetch_part(ar_source *self, const int64_t *chunk, int64_t bytes, int64_t at,
                               int64_t n, ar_chunk_bytes *out, arras_error *err)
{
    zarr_source *z = (zarr_source *)self;
    chunk_name   c;
    int          fd = -1;
    int64_t      size = 0;
    arras_status status;

    if (z->meta.shard.used)
        return fetch(self, chunk, out, err);
    name_chunk(&c, z, chunk);
    status = ar_file_find(&fd, &size, z->directory, c.key, c.name, err);
    out->missing = fd < 0;
    if (status != ARRAS_OK || fd < 0)
        return status;
    if (size != bytes)
        status = ar_file_load(&out->bytes, fd, size, z->most, c.name, err);
    else if (!ar_text_reserve(&out->bytes, (size_t)n))
        status = ar_fail_memory(err, (size_t)n);
    else {
        status = ar_file_read(fd, out->bytes.data, n, at, c.name, err);
        out->bytes.length = (size_t)n;
        out->part = true;
    }
    close(fd);
    return status;
}

/* ---- Shards ---------------------------------------------------------------------------------- */

/* The shard an inner chunk is in, and its place in the index. */
static int64_t find_shard(const zarr_source *z, const int64_t *chunk, int64_t *shard,
                          int64_t *place)
{
    const ar_zarr_shard *s = &z->meta.shard;
    const ar_store_info *info = &z->meta.info;
    int64_t              number = 0;

    *place = 0;
    for (int d = 0; d < info->rank; d++) {
        int64_t shards = ar_max64(1, (info->shape[d] - 1) / s->shape[d] + 1);

        shard[d] = chunk[d] / s->per_axis[d];
        *place = *place * s->per_axis[d] + chunk[d] % s->per_axis[d];
        number = number * shards + shard[d];
    }
    return number;
}

static bool recall(extent *out, zarr_source *z, int64_t number, int64_t place)
{
    static const extent not_stored = { UINT64_MAX, UINT64_MAX };
    kept_index         *k = &z->kept[number % z->slots];

    pthread_mutex_lock(&z->lock);
    bool known = k->shard == number + 1;
    if (known)
        *out = k->extents ? k->extents[place] : not_stored;
    pthread_mutex_unlock(&z->lock);
    return known;
}

static void keep(zarr_source *z, int64_t number, extent *extents)
{
    kept_index *k = &z->kept[number % z->slots];

    pthread_mutex_lock(&z->lock);
    extent *before = k->extents;
    *k = (kept_index){ number + 1, extents };
    pthread_mutex_unlock(&z->lock);
    ar_free(before);
}

static arras_status decode_index(extent **out, const ar_zarr_shard *s, const char *stored,
                                 const char *name, arras_error *err)
{
    size_t      bytes = (size_t)s->inner * sizeof(extent);
    extent     *extents = ar_alloc((size_t)s->inner, sizeof(extent));
    arras_error why = { 0 };

    if (!extents)
        return ar_fail_memory(err, bytes);
    arras_status status =
        ar_chain_decode(&s->index_chain, 0, extents, bytes, stored, (size_t)s->index_bytes, &why);
    if (status == ARRAS_OK) {
        *out = extents;
        return ARRAS_OK;
    }
    ar_free(extents);
    return ar_fail(err, status, "%s: the index of the shard: %s", name, why.text);
}

static arras_status load_index(extent **out, const zarr_source *z, int fd, int64_t size,
                               const char *name, arras_error *err)
{
    const ar_zarr_shard *s = &z->meta.shard;

    if (size < s->index_bytes)
        return ar_fail(err, ARRAS_EFORMAT,
                       "%s: the shard has %" PRId64 " bytes, its index of %" PRId64
                       " chunks alone needs %" PRId64,
                       name, size, s->inner, s->index_bytes);
    char *stored = ar_alloc(1, (size_t)s->index_bytes);
    if (!stored)
        return ar_fail_memory(err, (size_t)s->index_bytes);
    arras_status status = ar_file_read(fd, stored, s->index_bytes,
                                       s->index_first ? 0 : size - s->index_bytes, name, err);
    if (status == ARRAS_OK)
        status = decode_index(out, s, stored, name, err);
    ar_free(stored);
    return status;
}

static arras_status check_extent(const zarr_source *z, extent e, int64_t size, const char *name,
                                 int64_t place, arras_error *err)
{
    if (e.at > (uint64_t)size || e.bytes > (uint64_t)size - e.at)
        return ar_fail(err, ARRAS_EFORMAT,
                       "%s: inner chunk %" PRId64 " is said to have bytes %" PRIu64 " to %" PRIu64
                       " of a shard of %" PRId64,
                       name, place, e.at, e.at + e.bytes, size);
    if (e.bytes > (uint64_t)z->most)
        return ar_fail(err, ARRAS_EFORMAT,
                       "%s: inner chunk %" PRId64 " has %" PRIu64 " bytes; there can be %" PRId64
                       " at most",
                       name, place, e.bytes, z->most);
    return ARRAS_OK;
}

static arras_status read_extent(const zarr_source *z, extent e, int fd, int64_t size,
                                const char *name, int64_t place, ar_text *out, arras_error *err)
{
    arras_status status = check_extent(z, e, size, name, place, err);

    if (status != ARRAS_OK)
        return status;
    if (!ar_text_reserve(out, e.bytes))
        return ar_fail_memory(err, e.bytes);
    status = ar_file_read(fd, out->data + out->length, (int64_t)e.bytes, (int64_t)e.at, name, err);
    if (status == ARRAS_OK)
        out->length += e.bytes;
    return status;
}

static arras_status fetch_inner(zarr_source *z, const int64_t *chunk, ar_chunk_bytes *out,
                                arras_error *err)
{
    int64_t      shard[ARRAS_MAX_RANK], place, size = 0;
    int64_t      number = find_shard(z, chunk, shard, &place);
    chunk_name   c;
    extent       e, *extents = NULL;
    int          fd = -1;
    bool         known = recall(&e, z, number, place);
    arras_status status = ARRAS_OK;

    out->missing = known && e.at == UINT64_MAX && e.bytes == UINT64_MAX;
    if (out->missing)
        return ARRAS_OK;
    name_chunk(&c, z, shard);
    status = ar_file_find(&fd, &size, z->directory, c.key, c.name, err);
    if (status == ARRAS_OK && !known) {
        if (fd >= 0)
            status = load_index(&extents, z, fd, size, c.name, err);
        if (status == ARRAS_OK) {
            e = extents ? extents[place] : (extent){ UINT64_MAX, UINT64_MAX };
            keep(z, number, extents);
        }
    }
    if (status == ARRAS_OK)
        out->missing = fd < 0 || (e.at == UINT64_MAX && e.bytes == UINT64_MAX);
    if (status == ARRAS_OK && !out->missing)
        status = read_extent(z, e, fd, size, c.name, place, &out->bytes, err);
    if (fd >= 0)
        close(fd);
    return status;
}

/* ---- The source ------------------------------------------------------------------------------ */

static arras_status fetch(ar_source *self, const int64_t *chunk, ar_chunk_bytes *out,
                          arras_error *err)
{
    zarr_source *z = (zarr_source *)self;

    return z->meta.shard.used ? fetch_inner(z, chunk, out, err) : fetch_file(z, chunk, out, err);
}

/* What is missing is a number, also where it is stored as its bytes. */
static void print_attribute(ar_text *out, const char *name, const json_t *value)
{
    double real;

    if (json_is_string(value) && strcmp(name, "_FillValue") == 0 &&
        ar_zarr_read_fill(&real, ARRAS_F64, false, value, name, NULL) == ARRAS_OK)
        ar_text_add_real(out, real, false);
    else
        ar_json_print_value(out, value);
}

static arras_status describe(ar_source *self, ar_text *out, arras_error *err)
{
    const zarr_source *z = (const zarr_source *)self;
    const char        *key;
    json_t            *value;

    json_object_foreach(z->attributes, key, value)
    {
        ar_text_printf(out, "%s: ", key);
        print_attribute(out, key, value);
        ar_text_add(out, "\n");
    }
    return out->failed ? ar_fail_memory(err, out->length) : ARRAS_OK;
}

static arras_status attributes(ar_source *self, ar_on_attribute *each, void *context,
                               arras_error *err)
{
    return ar_zarr_visit_attributes(((const zarr_source *)self)->attributes, each, context, err);
}

static void close_source(ar_source *self)
{
    zarr_source *z = (zarr_source *)self;

    for (int64_t i = 0; z->kept && i < z->slots; i++)
        ar_free(z->kept[i].extents);
    ar_free(z->kept);
    json_decref(z->attributes);
    close(z->directory);
    pthread_mutex_destroy(&z->lock);
    ar_free(z);
}

static const ar_source_type source_type = { .fetch = fetch,
                                            .fetch_part = fetch_part,
                                            .describe = describe,
                                            .attributes = attributes,
                                            .close = close_source };

/* Compression makes little of nothing larger; twice and some is room for any that is honest. */
static int64_t most_stored(const ar_store_info *info)
{
    enum { SOME = 1 << 16 };
    int64_t bytes = 0;

    if (!ar_flat_bytes(&bytes, (int64_t)arras_dtype_size(info->dtype), info->rank, info->chunk) ||
        !ar_mul64(&bytes, bytes, 2) || !ar_add64(&bytes, bytes, SOME))
        return INT64_MAX;
    return bytes;
}

static arras_status prepare_shards(zarr_source *z, arras_error *err)
{
    int64_t fit = MOST_INDEX_BYTES / ar_max64(z->meta.shard.index_bytes, 1);

    if (!z->meta.shard.used)
        return ARRAS_OK;
    z->slots = ar_max64(1, ar_min64(fit, MOST_INDICES));
    z->kept = ar_alloc((size_t)z->slots, sizeof *z->kept);
    return z->kept ? ARRAS_OK : ar_fail_memory(err, (size_t)z->slots * sizeof *z->kept);
}

/* Takes the directory over. */
static arras_status make_source(ar_source **out, const ar_zarr_node *node, int directory,
                                const char *name, arras_error *err)
{
    zarr_source *z = ar_alloc(1, sizeof *z);
    arras_status status;

    if (!z) {
        close(directory);
        return ar_fail_memory(err, sizeof *z);
    }
    pthread_mutex_init(&z->lock, NULL);
    z->directory = directory;
    status = ar_zarr_node_meta(&z->meta, node, name, err);
    if (status == ARRAS_OK)
        status = prepare_shards(z, err);
    if (status != ARRAS_OK) {
        close_source(&z->source);
        return status;
    }
    z->attributes = node->version == 3
                        ? json_incref(json_object_get(node->meta, "attributes"))
                        : ar_zarr_attributes_v2(node->attributes, &z->meta,
                                                json_object_get(node->meta, "fill_value"));
    z->most = most_stored(&z->meta.info);
    z->source.type = &source_type;
    z->source.info = z->meta.info;
    z->source.chain = z->meta.chain;
    snprintf(z->source.name, sizeof z->source.name, "%s", name);
    *out = &z->source;
    return ARRAS_OK;
}

/* ---- Opening --------------------------------------------------------------------------------- */

static arras_status open_directory(int *out, const char *whole, arras_error *err)
{
    *out = open(whole, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    return *out >= 0 ? ARRAS_OK
                     : ar_fail(err, ARRAS_EIO, "cannot read %s: %s", whole, strerror(errno));
}

/* Below a group without a name: its only array. */
static arras_status open_node(ar_source **out, const char *path, ar_text *below, arras_error *err)
{
    ar_text      whole = { 0 };
    ar_zarr_node node = { 0 };
    int          directory = -1;
    arras_status status;

    ar_text_printf(&whole, "%s%s%s", path, below->length ? "/" : "",
                   below->length ? below->data : "");
    status = whole.failed ? ar_fail_memory(err, strlen(path))
                          : open_directory(&directory, whole.data, err);
    if (status == ARRAS_OK)
        status = ar_zarr_node_read(&node, directory, whole.data, err);
    if (status == ARRAS_OK && node.kind == AR_ZARR_ARRAY) {
        status = make_source(out, &node, directory, whole.data, err);
        directory = -1;
    } else if (status == ARRAS_OK) {
        status = ar_fail(err, ARRAS_ENAME, "%s is %s, not an array", whole.data,
                         node.kind == AR_ZARR_GROUP ? "a group" : "no part of a Zarr store");
    }
    if (directory >= 0)
        close(directory);
    ar_zarr_node_free(&node);
    ar_text_free(&whole);
    return status;
}

/* Below the store, also where a name begins with a slash or is none. */
static bool is_there(const char *path, const char *below)
{
    int         folder = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    const char *name = below + strspn(below, "/");
    bool        there = folder >= 0 && faccessat(folder, *name ? name : ".", F_OK, 0) == 0;

    if (folder >= 0)
        close(folder);
    return there;
}

/* "a.b" is also what is called b in the group a, where there is no other of that name. */
static void find_by_dots(const char *path, char *below)
{
    bool there = !*below || is_there(path, below);

    for (size_t i = strlen(below); i-- > 0 && !there;) {
        if (below[i] != '.')
            continue;
        below[i] = '\0';
        bool group = is_there(path, below);
        below[i] = group ? '/' : '.';
        there = group && is_there(path, below);
        if (group)
            i = strlen(below); /* once more, with one dot less */
    }
}

arras_status ar_zarr_open(ar_source **out, const char *path, const char *inside, arras_error *err)
{
    ar_text      below = { 0 };
    arras_status status = ar_zarr_clean_path(&below, inside, path, err);

    if (status == ARRAS_OK && below.length == 0)
        status = ar_zarr_only_array(&below, path, NULL, err);
    if (status == ARRAS_OK)
        find_by_dots(path, below.data);
    if (status == ARRAS_OK)
        status = open_node(out, path, &below, err);
    ar_text_free(&below);
    return status;
}

const ar_zarr_meta *ar_zarr_meta_of(const ar_source *source, int *directory)
{
    *directory = ((const zarr_source *)source)->directory;
    return &((const zarr_source *)source)->meta;
}

json_t *ar_zarr_own_attributes(const ar_source *source)
{
    return source->type == &source_type ? ((const zarr_source *)source)->attributes : NULL;
}

#endif
