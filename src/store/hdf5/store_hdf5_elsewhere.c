/* store_hdf5_elsewhere.c -- datasets whose cells are in other files or datasets: looked at before
 * libhdf5 goes there.  It opens whatever has the name, and waits where that is a pipe; and a
 * virtual dataset that is made of itself it follows until the stack ends. */
#include "store/store.h"
#if defined ARRAS_HAVE_HDF5
#include "store/hdf5/store_hdf5.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum {
    DEEPEST = 16,         /* virtual datasets made of virtual datasets */
    MOST_BLOCKS = 1 << 16 /* of a name with numbers */
};

/* ---- Names of files -------------------------------------------------------------------------- */

/* Of the file in which a dataset is, with a slash at its end; "" for the current one. */
static void folder_of(char *out, hid_t dataset, bool real)
{
    char    name[PATH_MAX], found[PATH_MAX];
    ssize_t n = H5Fget_name(dataset, name, sizeof name);
    char   *from = name, *slash;

    if (n <= 0 || n >= (ssize_t)sizeof name)
        *name = '\0';
    if (real && realpath(name, found))
        from = found;
    slash = strrchr(from, '/');
    memcpy(out, from, slash ? (size_t)(slash + 1 - from) : 0);
    out[slash ? slash + 1 - from : 0] = '\0';
}

/* A prefix may begin with a word for the folder of the file; nothing is put before absolute paths.
 */
static void join(ar_text *out, hid_t dataset, const char *prefix, size_t n, const char *name)
{
    static const char origin[] = "${ORIGIN}";
    const size_t      m = sizeof origin - 1;
    char              folder[PATH_MAX];

    ar_text_cut(out, 0);
    if (*name != '/' && n >= m && memcmp(prefix, origin, m) == 0) {
        folder_of(folder, dataset, false);
        ar_text_add(out, *folder ? folder : ".");
        prefix += m;
        n -= m;
    }
    if (*name != '/' && n > 0) {
        ar_text_put(out, prefix, n);
        ar_text_put(out, "/", 1);
    }
    ar_text_add(out, name);
}

/* ---- External files -------------------------------------------------------------------------- */

static arras_status check_external(hid_t dataset, hid_t plist, const char *name, arras_error *err)
{
    const char  *prefix = getenv("HDF5_EXTFILE_PREFIX");
    arras_status status = ARRAS_OK;
    ar_text      path = { 0 };
    int          n = H5Pget_external_count(plist);

    for (int i = 0; i < n && status == ARRAS_OK; i++) {
        char        file[PATH_MAX] = "";
        off_t       offset;
        hsize_t     size;
        struct stat st;

        if (H5Pget_external(plist, (unsigned)i, sizeof file - 1, file, &offset, &size) < 0)
            continue; /* libhdf5 will say so */
        join(&path, dataset, prefix ? prefix : "", prefix ? strlen(prefix) : 0, file);
        if (path.failed)
            status = ar_fail_memory(err, sizeof file);
        else if (stat(path.data, &st) == 0 && !S_ISREG(st.st_mode))
            status = ar_fail(err, ARRAS_EFORMAT,
                             "%s: its cells are in %s, which is no regular file", name, path.data);
    }
    ar_text_free(&path);
    return status;
}

/* ---- Virtual datasets ------------------------------------------------------------------------ */

typedef struct {
    unsigned long file;
    haddr_t       address;
} place;

typedef struct {
    const char  *name; /* for messages */
    ar_arena     arena;
    ar_table     sound;         /* places of virtual datasets that were followed to their ends */
    place        path[DEEPEST]; /* from the one that is looked at to where we are */
    int          depth;
    arras_status status;
    arras_error *err;
} walk;

static void follow(walk *w, hid_t dataset);

static bool same_place(const void *item, const void *key)
{
    const place *a = item, *b = key;

    return a->file == b->file && a->address == b->address;
}

static hid_t try_file(ar_text *path) { return path->failed ? -1 : ar_h5_open_file(path->data); }

/* Where libhdf5 looks for it, in its order: folders of a list, that of the file the dataset is in,
 * the current one, and where that file really is. */
static hid_t open_beside(hid_t dataset, const char *name, ar_text *path)
{
    const char *list = getenv("HDF5_VDS_PREFIX");
    char        folder[PATH_MAX];
    hid_t       file = -1;

    for (size_t n; list && *list && file < 0; list += n + (list[n] == ':')) {
        n = strcspn(list, ":");
        join(path, dataset, list, n, name);
        file = try_file(path);
    }
    for (int i = 0; i < 3 && file < 0; i++) {
        folder_of(folder, dataset, i == 2);
        ar_text_cut(path, 0);
        ar_text_printf(path, "%s%s", i == 1 ? "" : folder, name);
        file = try_file(path);
    }
    return file;
}

static hid_t open_file(hid_t dataset, const char *name)
{
    ar_text     path = { 0 };
    const char *leaf = strrchr(name, '/');
    hid_t       file = -1;

    if (strcmp(name, ".") == 0)
        return H5Iget_file_id(dataset);
    if (*name == '/')
        file = ar_h5_open_file(name);
    if (file < 0)
        file = open_beside(dataset, *name == '/' ? leaf + 1 : name, &path);
    ar_text_free(&path);
    return file;
}

/* False: there is no such dataset, and nothing is wrong with that. */
static bool follow_source(walk *w, hid_t dataset, const char *file_name, const char *inside)
{
    ar_h5_ids ids = { .n = 0 };
    hid_t     file = ar_h5_keep(&ids, open_file(dataset, file_name));
    hid_t     source = file < 0 ? -1 : ar_h5_keep(&ids, H5Dopen2(file, inside, H5P_DEFAULT));

    if (source >= 0)
        follow(w, source);
    ar_h5_close(&ids);
    return source >= 0;
}

/* "%b" stands for the number of a block, "%%" for "%". */
static bool number_name(ar_text *out, const char *name, int64_t block)
{
    bool numbered = false;

    ar_text_cut(out, 0);
    for (const char *c = name; *c; c++) {
        bool is_number = c[0] == '%' && c[1] == 'b';

        if (is_number)
            ar_text_printf(out, "%" PRId64, block);
        else
            ar_text_put(out, c, 1);
        numbered = numbered || is_number;
        c += is_number || (c[0] == '%' && c[1] == '%');
    }
    return numbered;
}

static void follow_names(walk *w, hid_t dataset, const char *file, const char *inside)
{
    ar_text a = { 0 }, b = { 0 };
    bool    more = true;

    follow_source(w, dataset, file, inside);
    for (int64_t i = 0; more && w->status == ARRAS_OK; i++) {
        bool numbered = number_name(&a, file, i);

        numbered = number_name(&b, inside, i) || numbered;
        if (a.failed || b.failed)
            w->status = ar_fail_memory(w->err, PATH_MAX);
        else if (i == MOST_BLOCKS)
            w->status = ar_fail(w->err, ARRAS_ELIMIT, "%s is made of more than %d blocks", w->name,
                                MOST_BLOCKS);
        else
            more = numbered && follow_source(w, dataset, a.data, b.data);
    }
    ar_text_free(&a);
    ar_text_free(&b);
}

static void follow_sources(walk *w, hid_t dataset, hid_t plist)
{
    char   file[PATH_MAX], inside[PATH_MAX];
    size_t n = 0;

    if (H5Pget_virtual_count(plist, &n) < 0)
        return;
    for (size_t i = 0; i < n && w->status == ARRAS_OK; i++) {
        ssize_t a = H5Pget_virtual_filename(plist, i, file, sizeof file);
        ssize_t b = H5Pget_virtual_dsetname(plist, i, inside, sizeof inside);

        if (a > 0 && b > 0 && a < (ssize_t)sizeof file && b < (ssize_t)sizeof inside)
            follow_names(w, dataset, file, inside);
    }
}

static void follow_virtual(walk *w, hid_t dataset, hid_t plist)
{
    H5O_info_t object;
    place      here, *kept;
    uint64_t   hash;

    if (H5Oget_info2(dataset, &object, H5O_INFO_BASIC) < 0)
        return;
    here = (place){ object.fileno, object.addr };
    hash = ar_hash_mix(ar_hash_mix(0, here.file), here.address);
    if (ar_table_find(&w->sound, hash, same_place, &here))
        return;
    for (int i = 0; i < w->depth; i++)
        if (same_place(&w->path[i], &here))
            w->status =
                ar_fail(w->err, ARRAS_EFORMAT, "%s: its cells are made of themselves", w->name);
    if (w->status == ARRAS_OK && w->depth == DEEPEST)
        w->status =
            ar_fail(w->err, ARRAS_ELIMIT,
                    "%s is made of virtual datasets that are made of others, more than %d deep",
                    w->name, DEEPEST);
    if (w->status != ARRAS_OK)
        return;
    w->path[w->depth++] = here;
    follow_sources(w, dataset, plist);
    w->depth--;
    kept = ar_arena_copy(&w->arena, &here, 1, sizeof here);
    if (!kept || !ar_table_add(&w->sound, hash, kept))
        w->status = ar_fail_memory(w->err, sizeof here);
}

static void follow(walk *w, hid_t dataset)
{
    hid_t plist = H5Dget_create_plist(dataset);

    if (plist < 0)
        return;
    if (H5Pget_layout(plist) == H5D_VIRTUAL)
        follow_virtual(w, dataset, plist);
    H5Idec_ref(plist);
}

/* ---- Both ------------------------------------------------------------------------------------ */

arras_status ar_h5_check_elsewhere(hid_t dataset, const char *name, arras_error *err)
{
    walk         w = { .name = name, .status = ARRAS_OK, .err = err };
    hid_t        plist = H5Dget_create_plist(dataset);
    H5D_layout_t layout = plist < 0 ? H5D_LAYOUT_ERROR : H5Pget_layout(plist);

    if (layout == H5D_CONTIGUOUS)
        w.status = check_external(dataset, plist, name, err);
    if (layout == H5D_VIRTUAL)
        follow_virtual(&w, dataset, plist);
    if (plist >= 0)
        H5Idec_ref(plist);
    ar_table_free(&w.sound);
    ar_arena_free(&w.arena);
    return w.status;
}
#endif
