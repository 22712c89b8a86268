/* store_hdf5_list.c -- what an HDF5 file holds: a walk over its groups. */
#include "store/store.h"
#if defined ARRAS_HAVE_HDF5
#include "store/hdf5/store_hdf5.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { LONGEST_PATH = 4096 }; /* deeper groups are refused: a path costs memory at every step */

typedef enum { IS_GROUP, IS_DATASET, IS_BROKEN } kind;

typedef struct {
    const char *path;
    kind        kind;
} entry;

typedef struct walk walk;
/* False ends the walk. */
typedef bool visitor(void *context, const walk *w, const entry *e);

/* Groups and datasets that were seen and not visited, the next one last.  A group that has several
 * names is entered once. */
struct walk {
    const ar_h5_file *file;
    ar_arena          arena;
    entry            *entries;
    size_t            n, capacity;
    ar_table          groups; /* their addresses */
    const char       *at;     /* the group that is entered now */
    arras_status      status;
};

/* ---- The walk -------------------------------------------------------------------------------- */

static char *join(walk *w, const char *group, const char *name)
{
    size_t n = strlen(group), m = strlen(name);
    char  *path;

    if (n + m + 2 > LONGEST_PATH) {
        w->status = ARRAS_ELIMIT;
        return NULL;
    }
    path = ar_arena_alloc(&w->arena, n + m + 2, 1);
    if (!path)
        w->status = ARRAS_ENOMEM;
    else
        snprintf(path, n + m + 2, "%s%s%s", group, n && group[n - 1] == '/' ? "" : "/", name);
    return path;
}

static void push(walk *w, const char *path, kind k)
{
    if (!path || w->status != ARRAS_OK)
        return;
    if (!ar_grow(&w->entries, &w->capacity, w->n, sizeof *w->entries))
        w->status = ARRAS_ENOMEM;
    else
        w->entries[w->n++] = (entry){ path, k };
}

static bool same_address(const void *item, const void *key)
{
    return *(const haddr_t *)item == *(const haddr_t *)key;
}

static bool is_new_group(walk *w, haddr_t address)
{
    uint64_t hash = ar_hash_mix(0, address);
    void    *copy;

    if (ar_table_find(&w->groups, hash, same_address, &address))
        return false;
    copy = ar_arena_copy(&w->arena, &address, 1, sizeof address);
    if (!copy || !ar_table_add(&w->groups, hash, copy))
        w->status = ARRAS_ENOMEM;
    return w->status == ARRAS_OK;
}

/* Soft and external links are other names for what has one already, or for what is elsewhere. */
static herr_t see_link(hid_t group, const char *name, const H5L_info_t *link, void *context)
{
    walk *w = context;

    (void)group;
    if (link->type == H5L_TYPE_HARD)
        push(w, join(w, w->at, name), IS_BROKEN);
    return w->status != ARRAS_OK;
}

/* What a link leads to; false: to nothing that is to be visited. */
static bool look(walk *w, entry *e)
{
    H5O_info_t object;

    if (H5Oget_info_by_name2(w->file->file, e->path, &object, H5O_INFO_BASIC, H5P_DEFAULT) < 0) {
        H5Eclear2(H5E_DEFAULT);
        return true;
    }
    e->kind = object.type == H5O_TYPE_DATASET ? IS_DATASET : IS_GROUP;
    return e->kind == IS_DATASET || (object.type == H5O_TYPE_GROUP && is_new_group(w, object.addr));
}

static int by_path(const void *a, const void *b)
{
    return strcmp(((const entry *)a)->path, ((const entry *)b)->path);
}

/* Who looks for a name that is not there has to read all links of a small group. */
static bool links_are_readable(const walk *w, const char *path)
{
    char   name[LONGEST_PATH + 8];
    htri_t found;

    snprintf(name, sizeof name, "%s%s\x7f?", path, strcmp(path, "/") == 0 ? "" : "/");
    found = H5Lexists(w->file->file, name, H5P_DEFAULT);
    if (found < 0)
        H5Eclear2(H5E_DEFAULT);
    return found >= 0;
}

/* In whatever order links are stored, and sorted here: libhdf5 1.10 makes a table of links, and
 * where it cannot read one it frees also those that it has not filled in. */
static void enter_group(walk *w, const char *path)
{
    size_t before = w->n, kept = w->n;
    herr_t good = -1;

    w->at = path;
    if (links_are_readable(w, path))
        good = H5Literate_by_name(w->file->file, path, H5_INDEX_NAME, H5_ITER_NATIVE, NULL,
                                  see_link, w, H5P_DEFAULT);
    if (w->n > before)
        qsort(w->entries + before, w->n - before, sizeof *w->entries, by_path);
    for (size_t i = before; i < w->n && w->status == ARRAS_OK; i++)
        if (look(w, &w->entries[i]))
            w->entries[kept++] = w->entries[i];
    w->n = kept;
    if (good < 0)
        push(w, path, IS_BROKEN);
    for (size_t i = before, k = w->n; i + 1 < k; i++) { /* the first is to be the next */
        entry e = w->entries[i];

        w->entries[i] = w->entries[--k];
        w->entries[k] = e;
    }
}

static arras_status walk_file(const ar_h5_file *file, const char *start, visitor *visit,
                              void *context, arras_error *err)
{
    walk w = { .file = file, .status = ARRAS_OK };
    bool more = true;

    push(&w, start, IS_GROUP);
    while (w.n > 0 && w.status == ARRAS_OK && more) {
        entry e = w.entries[--w.n];

        if (e.kind == IS_GROUP)
            enter_group(&w, e.path);
        else
            more = visit(context, &w, &e);
    }
    ar_free(w.entries);
    ar_table_free(&w.groups);
    ar_arena_free(&w.arena);
    if (w.status == ARRAS_ELIMIT)
        return ar_fail(err, w.status, "%s has groups nested deeper than a path of %d bytes",
                       file->path, LONGEST_PATH);
    return w.status == ARRAS_OK ? ARRAS_OK : ar_fail_memory(err, LONGEST_PATH);
}

/* ---- Datasets in words ----------------------------------------------------------------------- */

static void print_shape(ar_text *out, hid_t space)
{
    hsize_t dims[H5S_MAX_RANK];
    int     rank = H5Sget_simple_extent_dims(space, dims, NULL);

    if (rank == 0)
        return;
    ar_text_add(out, "[");
    for (int d = 0; d < rank; d++)
        ar_text_printf(out, "%s%" PRIu64, d ? ", " : "", (uint64_t)dims[d]);
    ar_text_add(out, "]");
}

static hid_t open_space(ar_h5_ids *ids, hid_t dataset, const char *path, arras_error *err)
{
    return ar_h5_check_elsewhere(dataset, path, err) == ARRAS_OK
               ? ar_h5_keep(ids, H5Dget_space(dataset))
               : -1;
}

static void print_dataset(ar_text *out, hid_t dataset, const char *path)
{
    ar_h5_ids   ids = { .n = 0 };
    arras_error err = { .text = "" };
    hid_t       type = ar_h5_keep(&ids, H5Dget_type(dataset));
    hid_t       space = open_space(&ids, dataset, path, &err);
    ar_h5_type  t;

    if (type >= 0 && space >= 0) {
        ar_h5_type_of(&t, type);
        ar_text_add(out, t.dtype ? arras_dtype_name(t.dtype) : t.stored);
        print_shape(out, space);
    } else {
        ar_text_printf(out, "not readable%s%s", *err.text ? ": " : "", err.text);
    }
    ar_h5_close(&ids);
}

/* Names are bytes of the file: they stay within their line. */
static void print_path(ar_text *out, const char *path)
{
    for (; *path; path++)
        ar_text_printf(out, "%c", (unsigned char)*path < ' ' || *path == 127 ? '?' : *path);
}

static void print_entry(ar_text *out, const walk *w, const entry *e, const char *between)
{
    hid_t dataset =
        e->kind == IS_DATASET ? H5Dopen2(w->file->file, e->path, H5P_DEFAULT) : (hid_t)-1;

    print_path(out, e->path);
    ar_text_add(out, between);
    if (dataset >= 0) {
        print_dataset(out, dataset, e->path);
        H5Dclose(dataset);
    } else {
        ar_text_add(out, "not readable");
    }
}

/* A member of records, as an array. */
static void list_member(ar_text *out, const char *path, hid_t type, hid_t space, unsigned i)
{
    char      *name = H5Tget_member_name(type, i);
    hid_t      member = H5Tget_member_type(type, i);
    ar_h5_type t = { .stored = "not readable" };

    if (member >= 0) {
        ar_h5_type_of(&t, member);
        H5Tclose(member);
    }
    print_path(out, path);
    ar_text_add(out, ".");
    print_path(out, name ? name : "?");
    ar_text_printf(out, "\t%s", t.dtype ? arras_dtype_name(t.dtype) : t.stored);
    print_shape(out, space);
    ar_text_add(out, "\tHDF5\n");
    H5free_memory(name);
}

static void list_members(ar_text *out, hid_t file, const char *path)
{
    ar_h5_ids   ids = { .n = 0 };
    arras_error err;
    hid_t       dataset = ar_h5_keep(&ids, H5Dopen2(file, path, H5P_DEFAULT));
    hid_t       type = dataset < 0 ? -1 : ar_h5_keep(&ids, H5Dget_type(dataset));
    hid_t       space = dataset < 0 ? -1 : open_space(&ids, dataset, path, &err);
    ar_h5_type  t = { .dtype = ARRAS_NO_DTYPE };

    if (type >= 0)
        ar_h5_type_of(&t, type);
    if (type >= 0 && space >= 0 && !t.dtype && H5Tget_class(type) == H5T_COMPOUND)
        for (int i = 0; i < H5Tget_nmembers(type); i++)
            list_member(out, path, type, space, (unsigned)i);
    ar_h5_close(&ids);
}

static bool list_entry(void *context, const walk *w, const entry *e)
{
    ar_text *out = context;

    print_entry(out, w, e, "\t");
    ar_text_add(out, "\tHDF5\n");
    if (e->kind == IS_DATASET)
        list_members(out, w->file->file, e->path);
    return !out->failed;
}

arras_status ar_h5_list(ar_text *out, const ar_h5_file *file, const char *inside, arras_error *err)
{
    const char  *start = inside && *inside ? inside : "/";
    walk         here = { .file = file };
    entry        only = { start, IS_DATASET };
    H5O_info_t   object;
    arras_status status = ARRAS_OK;

    if (H5Oget_info_by_name2(file->file, start, &object, H5O_INFO_BASIC, H5P_DEFAULT) < 0 ||
        (object.type != H5O_TYPE_GROUP && object.type != H5O_TYPE_DATASET))
        return ar_fail(err, ARRAS_ENAME, "%s has no group %s", file->path, start);
    if (object.type == H5O_TYPE_DATASET)
        list_entry(out, &here, &only);
    else
        status = walk_file(file, start, list_entry, out, err);
    return status == ARRAS_OK && out->failed ? ar_fail_memory(err, out->length) : status;
}

/* ---- The only one ---------------------------------------------------------------------------- */

enum { SHOWN = 8 };

typedef struct {
    ar_text first[2];  /* the first array, the first scale */
    int64_t counts[2]; /* arrays, scales */
    ar_text words;     /* the first of them, with type and shape */
} census;

static bool count_entry(void *context, const walk *w, const entry *e)
{
    census *c = context;
    hid_t   dataset =
        e->kind == IS_DATASET ? H5Dopen2(w->file->file, e->path, H5P_DEFAULT) : (hid_t)-1;
    int is_scale = dataset >= 0 && ar_h5_is_scale(dataset);

    if (dataset >= 0)
        H5Dclose(dataset);
    if (c->counts[is_scale]++ == 0)
        ar_text_add(&c->first[is_scale], e->path);
    if (!is_scale && c->counts[0] <= SHOWN) {
        ar_text_add(&c->words, c->counts[0] > 1 ? ", " : "");
        print_entry(&c->words, w, e, " ");
    }
    return true;
}

static arras_status fail_census(const census *c, const ar_h5_file *file, arras_error *err)
{
    if (c->counts[0] + c->counts[1] == 0)
        return ar_fail(err, ARRAS_ENAME, "%s holds no arrays", file->path);
    if (c->counts[0] == 0)
        return ar_fail(err, ARRAS_ENAME,
                       "%s holds %" PRId64
                       " coordinates and no other array; say which, as in %s:%s",
                       file->path, c->counts[1], file->path, c->first[1].data);
    return ar_fail(err, ARRAS_ENAME, "%s holds %" PRId64 " arrays: %s%s; say which, as in %s:%s",
                   file->path, c->counts[0], c->words.data, c->counts[0] > SHOWN ? ", ..." : "",
                   file->path, c->first[0].data);
}

arras_status ar_h5_only_dataset(ar_text *out, const ar_h5_file *file, arras_error *err)
{
    census       c = { .counts = { 0 } };
    arras_status status = walk_file(file, "/", count_entry, &c, err);
    int          which = c.counts[0] == 0;

    if (status == ARRAS_OK && (c.first[which].failed || c.words.failed))
        status = ar_fail_memory(err, LONGEST_PATH);
    if (status == ARRAS_OK && c.counts[which] != 1)
        status = fail_census(&c, file, err);
    if (status == ARRAS_OK)
        ar_text_add(out, c.first[which].data);
    ar_text_free(&c.first[0]);
    ar_text_free(&c.first[1]);
    ar_text_free(&c.words);
    return status;
}

/* ---- The one that is not there --------------------------------------------------------------- */

typedef struct {
    const char *wanted;
    int         distance;
    char        path[LONGEST_PATH];
} nearest;

static bool compare_entry(void *context, const walk *w, const entry *e)
{
    nearest *n = context;
    int      distance = ar_text_distance(n->wanted, e->path);

    (void)w;
    if (distance < n->distance) {
        n->distance = distance;
        snprintf(n->path, sizeof n->path, "%s", e->path);
    }
    return true;
}

/* Three edits make a name another one; a name that is there has a header that is damaged, or is a
 * link to what is not there. */
arras_status ar_h5_no_dataset(const ar_h5_file *file, const char *inside, arras_error *err)
{
    nearest      n = { .wanted = inside, .distance = 4 };
    H5O_info_t   object;
    ar_h5_reason why;
    arras_status status;

    if (H5Oget_info_by_name2(file->file, inside, &object, H5O_INFO_BASIC, H5P_DEFAULT) >= 0)
        return ar_fail(err, ARRAS_ENAME, "%s:%s is %s, not an array", file->path, inside,
                       object.type == H5O_TYPE_GROUP ? "a group" : "a type");
    ar_h5_why(&why);
    status = walk_file(file, "/", compare_entry, &n, err);
    if (status != ARRAS_OK)
        return status;
    if (n.distance == 0)
        return ar_fail(err, ARRAS_EFORMAT, "%s:%s: its header can't be read: %s", file->path,
                       inside, why.text);
    if (H5Lexists(file->file, inside, H5P_DEFAULT) > 0)
        return ar_fail(err, ARRAS_EFORMAT, "%s:%s is a link that leads nowhere: %s", file->path,
                       inside, why.text);
    return ar_fail(err, ARRAS_ENAME, "%s has no array %s%s%s%s", file->path, inside,
                   n.distance < 4 ? "; is it " : "", n.path, n.distance < 4 ? "?" : "");
}
#endif
