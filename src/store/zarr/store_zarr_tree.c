/* store_zarr_tree.c -- directories of Zarr: what they are, what they hold, names of chunks. */
#include "base/base.h"

#if defined ARRAS_HAVE_JANSSON
#include "store/flat/flat.h"
#include "store/safe/store_file.h"
#include "store/zarr/store_zarr.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* ---- Nodes ----------------------------------------------------------------------------------- */

/* *out is NULL when there is no such file. */
static arras_status load_json(json_t **out, int directory, const char *file, const char *name,
                              arras_error *err)
{
    int          fd = -1;
    int64_t      size = 0;
    ar_text      text = { 0 }, whole = { 0 };
    arras_status status;

    *out = NULL;
    ar_text_printf(&whole, "%s/%s", name, file);
    if (whole.failed) {
        ar_text_free(&whole);
        return ar_fail_memory(err, strlen(name));
    }
    status = ar_file_find(&fd, &size, directory, file, whole.data, err);
    if (status == ARRAS_OK && fd >= 0) {
        status = ar_file_load(&text, fd, size, AR_ZARR_MOST_JSON, whole.data, err);
        if (status == ARRAS_OK)
            status = ar_json_read(out, text.data, text.length, whole.data, err);
        close(fd);
    }
    ar_text_free(&whole);
    ar_text_free(&text);
    return status;
}

/* zarr.json says itself what it is of. */
static arras_status read_kind_v3(ar_zarr_node *node, const char *name, arras_error *err)
{
    const char *type = json_string_value(json_object_get(node->meta, "node_type"));

    node->version = 3;
    if (type && strcmp(type, "array") == 0)
        node->kind = AR_ZARR_ARRAY;
    else if (type && strcmp(type, "group") == 0)
        node->kind = AR_ZARR_GROUP;
    else
        return ar_fail(err, ARRAS_EFORMAT,
                       "%s/zarr.json: its node_type is neither \"array\" nor \"group\"", name);
    return ARRAS_OK;
}

static arras_status read_v2(ar_zarr_node *node, int directory, const char *name, arras_error *err)
{
    arras_status status = load_json(&node->meta, directory, ".zarray", name, err);

    if (status == ARRAS_OK && node->meta) {
        node->kind = AR_ZARR_ARRAY;
        status = load_json(&node->attributes, directory, ".zattrs", name, err);
    } else if (status == ARRAS_OK) {
        status = load_json(&node->meta, directory, ".zgroup", name, err);
        node->kind = node->meta ? AR_ZARR_GROUP : AR_ZARR_NOTHING;
    }
    node->version = 2;
    return status;
}

arras_status ar_zarr_node_read(ar_zarr_node *out, int directory, const char *name, arras_error *err)
{
    ar_zarr_node node = { 0 };
    arras_status status = load_json(&node.meta, directory, "zarr.json", name, err);

    if (status == ARRAS_OK)
        status = node.meta ? read_kind_v3(&node, name, err) : read_v2(&node, directory, name, err);
    if (status == ARRAS_OK)
        *out = node;
    else
        ar_zarr_node_free(&node);
    return status;
}

void ar_zarr_node_free(ar_zarr_node *node)
{
    json_decref(node->meta);
    json_decref(node->attributes);
    *node = (ar_zarr_node){ 0 };
}

arras_status ar_zarr_node_meta(ar_zarr_meta *out, const ar_zarr_node *node, const char *name,
                               arras_error *err)
{
    return node->version == 3 ? ar_zarr_read_v3(out, node->meta, name, err)
                              : ar_zarr_read_v2(out, node->meta, node->attributes, name, err);
}

static void print_layout(ar_zarr_meta *meta)
{
    ar_text text = { 0 };

    ar_text_add(&text, "chunked");
    if (meta->shard.used) {
        ar_text_add(&text, ", shards of ");
        for (int d = 0; d < meta->info.rank; d++)
            ar_text_printf(&text, "%s%" PRId64, d ? " x " : "", meta->shard.shape[d]);
    }
    snprintf(meta->info.layout, sizeof meta->info.layout, "%s", text.data ? text.data : "");
    ar_text_free(&text);
}

arras_status ar_zarr_check(ar_zarr_meta *meta, const char *name, arras_error *err)
{
    ar_store_info *info = &meta->info;
    int64_t        bytes, cell = (int64_t)arras_dtype_size(info->dtype);

    if (!ar_flat_bytes(&bytes, cell, info->rank, info->shape) ||
        !ar_flat_bytes(&bytes, cell, info->rank, info->chunk) ||
        (meta->shard.used && !ar_flat_bytes(&bytes, cell, info->rank, meta->shard.shape)))
        return ar_fail(err, ARRAS_EFORMAT, "%s: its shape makes more bytes than there can be",
                       name);
    meta->chain.cell_size = (int)cell / (ar_chain_is_half(&meta->chain) ? 2 : 1);
    info->chunked = true;
    info->stored_bytes = -1;
    ar_chain_print(info->codecs, sizeof info->codecs, &meta->chain);
    print_layout(meta);
    return ARRAS_OK;
}

void ar_zarr_key(char out[AR_ZARR_KEY], const ar_zarr_meta *meta, const int64_t *chunk)
{
    int n = snprintf(out, AR_ZARR_KEY, "%s", meta->prefix);

    for (int d = 0; d < meta->info.rank; d++) {
        if (n > 0)
            out[n++] = meta->separator;
        n += snprintf(out + n, (size_t)(AR_ZARR_KEY - n), "%" PRId64, chunk[d]);
    }
    if (n == 0)
        snprintf(out, AR_ZARR_KEY, "0"); /* the only chunk of an array without axes */
}

/* ---- Paths ----------------------------------------------------------------------------------- */

arras_status ar_zarr_clean_path(ar_text *out, const char *inside, const char *path,
                                arras_error *err)
{
    while (inside && *inside) {
        size_t n = strcspn(inside, "/");

        if ((n == 1 && inside[0] == '.') || (n == 2 && memcmp(inside, "..", 2) == 0))
            return ar_fail(err, ARRAS_ENAME, "%s: '%.*s' is no name of an array or group", path,
                           (int)n, inside);
        if (n > 0 && out->length > 0)
            ar_text_add(out, "/");
        ar_text_put(out, inside, n);
        inside += n + (inside[n] == '/');
    }
    return out->failed ? ar_fail_memory(err, strlen(path)) : ARRAS_OK;
}

/* ---- Lists ----------------------------------------------------------------------------------- */

enum { DEEPEST = 32 };

/* What is called for each array, with its path below the first directory. */
typedef arras_status on_array(void *context, const char *inside, const ar_zarr_node *node,
                              const char *name, arras_error *err);

typedef struct {
    on_array *found;
    void     *context;
    ar_text   path;   /* for messages */
    size_t    prefix; /* what of it is not below the first directory */
} walk;

static arras_status walk_entries(walk *w, int directory, int depth, arras_error *err);

static arras_status walk_node(walk *w, int directory, int depth, arras_error *err)
{
    ar_zarr_node node;
    arras_status status = ar_zarr_node_read(&node, directory, w->path.data, err);

    if (status != ARRAS_OK)
        return status;
    const char *inside = w->path.data + ar_min64((int64_t)w->prefix, (int64_t)w->path.length);
    if (node.kind == AR_ZARR_ARRAY)
        status = w->found(w->context, inside, &node, w->path.data, err);
    else
        status = walk_entries(w, directory, depth, err);
    ar_zarr_node_free(&node);
    return status;
}

/* Links to directories are not followed here: they could lead in circles. */
static arras_status walk_entry(walk *w, int directory, const char *entry, int depth,
                               arras_error *err)
{
    struct stat st;
    size_t      length = w->path.length;

    if (fstatat(directory, entry, &st, AT_SYMLINK_NOFOLLOW) != 0 || !S_ISDIR(st.st_mode))
        return ARRAS_OK;
    int fd = openat(directory, entry, O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW);
    ar_text_printf(&w->path, "/%s", entry);
    arras_status status = ARRAS_OK;
    if (w->path.failed)
        status = ar_fail_memory(err, length);
    else if (fd < 0)
        status = ar_fail(err, ARRAS_EIO, "cannot read %s: %s", w->path.data, strerror(errno));
    else
        status = walk_node(w, fd, depth + 1, err);
    if (fd >= 0)
        close(fd);
    ar_text_cut(&w->path, length);
    return status;
}

static arras_status walk_entries(walk *w, int directory, int depth, arras_error *err)
{
    ar_file_names names;

    if (depth == DEEPEST)
        return ar_fail(err, ARRAS_ELIMIT, "%s: groups are nested more than %d deep", w->path.data,
                       DEEPEST);
    arras_status status = ar_file_names_read(&names, directory, w->path.data, err);
    if (status != ARRAS_OK)
        return status;
    for (size_t i = 0; i < names.n && status == ARRAS_OK; i++)
        status = walk_entry(w, directory, names.names[i], depth, err);
    ar_file_names_free(&names);
    return status;
}

static arras_status walk_tree(on_array *found, void *context, const char *path, const char *inside,
                              arras_error *err)
{
    walk         w = { .found = found, .context = context };
    ar_text      below = { 0 };
    arras_status status = ar_zarr_clean_path(&below, inside, path, err);

    if (status == ARRAS_OK) {
        ar_text_printf(&w.path, "%s%s%s", path, below.length ? "/" : "",
                       below.length ? below.data : "");
        w.prefix = strlen(path) + 1;
        int fd = w.path.failed ? -1 : open(w.path.data, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
        if (w.path.failed)
            status = ar_fail_memory(err, strlen(path));
        else if (fd < 0)
            status = ar_fail(err, ARRAS_EIO, "cannot read %s: %s", w.path.data, strerror(errno));
        else
            status = walk_node(&w, fd, 0, err);
        if (fd >= 0)
            close(fd);
    }
    ar_text_free(&below);
    ar_text_free(&w.path);
    return status;
}

static void print_type(ar_text *out, const ar_store_info *info)
{
    ar_text_printf(out, "%s[", arras_dtype_name(info->dtype));
    for (int d = 0; d < info->rank; d++)
        ar_text_printf(out, "%s%" PRId64, d ? ", " : "", info->shape[d]);
    ar_text_add(out, "]");
}

/* An array that is not supported does not hide the others. */
static arras_status list_array(void *context, const char *inside, const ar_zarr_node *node,
                               const char *name, arras_error *err)
{
    ar_text      *out = context;
    ar_zarr_meta *meta = ar_alloc(1, sizeof *meta); /* long for a stack */
    arras_error   why = { 0 };

    if (!meta)
        return ar_fail_memory(err, sizeof *meta);
    ar_text_printf(out, "/%s\t", inside);
    if (ar_zarr_node_meta(meta, node, name, &why) == ARRAS_OK)
        print_type(out, &meta->info);
    else
        ar_text_printf(out, "not readable: %s", why.text);
    ar_free(meta);
    ar_text_printf(out, "\tZarr v%d\n", node->version);
    return out->failed ? ar_fail_memory(err, strlen(inside)) : ARRAS_OK;
}

arras_status ar_zarr_list(ar_text *out, const char *path, const char *inside, arras_error *err)
{
    return walk_tree(list_array, out, path, inside, err);
}

/* ---- The only array -------------------------------------------------------------------------- */

typedef struct {
    ar_text first, names;
    int     count;
} found_arrays;

enum { NAMED = 10 }; /* arrays in a message */

static arras_status note_array(void *context, const char *inside, const ar_zarr_node *node,
                               const char *name, arras_error *err)
{
    found_arrays *f = context;

    (void)node, (void)name;
    if (f->count == 0)
        ar_text_add(&f->first, inside);
    if (f->count < NAMED)
        ar_text_printf(&f->names, "%s/%s", f->count ? ", " : "", inside);
    f->count++;
    return f->first.failed || f->names.failed ? ar_fail_memory(err, strlen(inside)) : ARRAS_OK;
}

arras_status ar_zarr_only_array(ar_text *out, const char *path, const char *inside,
                                arras_error *err)
{
    found_arrays f = { 0 };
    arras_status status = walk_tree(note_array, &f, path, inside, err);

    if (status == ARRAS_OK && f.count == 0)
        status = ar_fail(err, ARRAS_ENAME, "%s: there is no array in this group", path);
    else if (status == ARRAS_OK && f.count > 1)
        status = ar_fail(err, ARRAS_ENAME, "%s holds %d arrays; say which: %s%s", path, f.count,
                         f.names.data, f.count > NAMED ? ", ..." : "");
    if (status == ARRAS_OK)
        ar_text_put(out, f.first.data, f.first.length);
    ar_text_free(&f.first);
    ar_text_free(&f.names);
    return status == ARRAS_OK && out->failed ? ar_fail_memory(err, strlen(path)) : status;
}

#endif
