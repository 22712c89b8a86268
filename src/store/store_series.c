/* store_series.c -- a directory of .npy or HDF5 files as one array: the files in natural order, one
 * after the other along axis 0.  All have the same type and, but for axis 0, the same shape. */
#include "store/safe/store_file.h"
#include "store/store.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum { OPEN_AT_ONCE = 32 };

typedef struct {
    const char *path;
    int64_t     first, rows;
    ar_source  *source; /* NULL: closed */
    int         readers;
    uint64_t    used; /* when it was opened or read last */
} part;

typedef struct {
    ar_source       source;
    ar_arena        arena; /* of the parts and their paths */
    part           *parts;
    size_t          n;
    char           *inside; /* NULL: not given */
    pthread_mutex_t lock;   /* of what is open */
    uint64_t        about;  /* what attributes of the first file say about its cells, hashed */
    const char     *other;  /* a file that says something else; NULL: none does */
    int             open;
    uint64_t        clock;
} many_source;

/* ---- Open files: not more at once than a process may have ------------------------------------ */

static arras_status open_part(ar_source **out, const char *path, const char *inside,
                              arras_error *err)
{
    size_t length = strlen(path);
    bool   npy = length > 4 && strcmp(path + length - 4, ".npy") == 0;

    return npy ? ar_format_npy.open(out, path, inside, err)
               : ar_format_hdf5.open(out, path, inside, err);
}

/* Closes the one that was not used for the longest time, if any is not in use. */
static void close_oldest(many_source *m)
{
    part *oldest = NULL;

    for (size_t i = 0; i < m->n; i++)
        if (m->parts[i].source && m->parts[i].readers == 0 &&
            (!oldest || m->parts[i].used < oldest->used))
            oldest = &m->parts[i];
    if (!oldest)
        return;
    oldest->source->type->close(oldest->source);
    oldest->source = NULL;
    m->open--;
}

static arras_status check_part(const many_source *m, const part *p, const ar_source *s,
                               arras_error *err);

/* It may have changed since the array was opened. */
static arras_status reopen_part(many_source *m, part *p, arras_error *err)
{
    ar_source   *s;
    arras_status status = open_part(&s, p->path, m->inside, err);

    if (status != ARRAS_OK)
        return status;
    status = check_part(m, p, s, err);
    if (status != ARRAS_OK) {
        s->type->close(s);
        return status;
    }
    p->source = s;
    m->open++;
    return ARRAS_OK;
}

static arras_status enter_part(many_source *m, part *p, arras_error *err)
{
    arras_status status = ARRAS_OK;

    pthread_mutex_lock(&m->lock);
    if (!p->source) {
        if (m->open >= OPEN_AT_ONCE)
            close_oldest(m);
        status = reopen_part(m, p, err);
    }
    if (status == ARRAS_OK) {
        p->readers++;
        p->used = ++m->clock;
    }
    pthread_mutex_unlock(&m->lock);
    return status;
}

static void leave_part(many_source *m, part *p)
{
    pthread_mutex_lock(&m->lock);
    p->readers--;
    pthread_mutex_unlock(&m->lock);
}

/* ---- The source ------------------------------------------------------------------------------ */

static arras_status read_part(many_source *m, part *p, const int64_t *lo, const int64_t *hi,
                              char *cells, arras_error *err)
{
    int          rank = m->source.info.rank;
    int64_t      from[ARRAS_MAX_RANK], to[ARRAS_MAX_RANK];
    arras_status status = enter_part(m, p, err);

    if (status != ARRAS_OK)
        return status;
    memcpy(from, lo, sizeof *lo * (size_t)rank);
    memcpy(to, hi, sizeof *hi * (size_t)rank);
    from[0] = ar_max64(lo[0] - p->first, 0);
    to[0] = ar_min64(hi[0] - p->first, p->rows);
    status = ar_source_read(p->source, from, to, cells, NULL, 1, err);
    leave_part(m, p);
    return status;
}

/* The first part that ends after this row. */
static size_t part_of(const many_source *m, int64_t row)
{
    size_t low = 0, high = m->n;

    while (low < high) {
        size_t middle = (low + high) / 2;

        if (m->parts[middle].first + m->parts[middle].rows <= row)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static arras_status read_box(ar_source *self, const int64_t *lo, const int64_t *hi, void *cells,
                             arras_error *err)
{
    many_source *m = (many_source *)self;
    int64_t      row = (int64_t)arras_dtype_size(self->info.dtype);
    arras_status status = ARRAS_OK;

    for (int d = 1; d < self->info.rank; d++)
        row *= hi[d] - lo[d];
    for (size_t i = part_of(m, lo[0]); i < m->n && status == ARRAS_OK; i++) {
        part *p = &m->parts[i];

        if (p->first >= hi[0])
            break;
        if (p->rows > 0)
            status =
                read_part(m, p, lo, hi, (char *)cells + ar_max64(p->first - lo[0], 0) * row, err);
    }
    return status;
}

static arras_status describe(ar_source *self, ar_text *out, arras_error *err)
{
    const many_source *m = (const many_source *)self;

    ar_text_printf(out, "files: %zu\nfirst: %s\nlast: %s\n", m->n, m->parts[0].path,
                   m->parts[m->n - 1].path);
    return out->failed ? ar_fail_memory(err, out->length) : ARRAS_OK;
}

static arras_status attributes(ar_source *self, ar_on_attribute *each, void *context,
                               arras_error *err)
{
    many_source *m = (many_source *)self;
    arras_status status;

    if (m->other)
        return ar_fail(err, ARRAS_EFORMAT,
                       "%s: attributes of %s say something else about its cells than those of %s; "
                       "read them as they are stored",
                       self->name, m->other, m->parts[0].path);
    status = enter_part(m, m->parts, err);
    if (status != ARRAS_OK)
        return status;
    if (m->parts[0].source->type->attributes)
        status = m->parts[0].source->type->attributes(m->parts[0].source, each, context, err);
    leave_part(m, m->parts);
    return status;
}

static void close_source(ar_source *self)
{
    many_source *m = (many_source *)self;

    for (size_t i = 0; i < m->n; i++)
        if (m->parts[i].source)
            m->parts[i].source->type->close(m->parts[i].source);
    pthread_mutex_destroy(&m->lock);
    ar_arena_free(&m->arena);
    ar_free(m);
}

static const ar_source_type source_type = {
    .read_box = read_box, .describe = describe, .attributes = attributes, .close = close_source
};

/* ---- Opening --------------------------------------------------------------------------------- */

static void print_shape(ar_text *out, const ar_store_info *info)
{
    ar_text_printf(out, "%s[", arras_dtype_name(info->dtype));
    for (int d = 0; d < info->rank; d++)
        ar_text_printf(out, "%s%" PRId64, d ? ", " : "", info->shape[d]);
    ar_text_add(out, "]");
}

static arras_status fail_part(const part *p, const ar_store_info *info, const many_source *m,
                              arras_error *err)
{
    ar_text is = { 0 }, should = { 0 };

    print_shape(&is, info);
    print_shape(&should, &m->source.info);
    ar_fail(err, ARRAS_ESHAPE, "%s is %s, which does not fit behind %s of the files before it",
            p->path, is.data ? is.data : "?", should.data ? should.data : "?");
    ar_text_free(&is);
    ar_text_free(&should);
    return ARRAS_ESHAPE;
}

/* The type and all axes but the first are those of the array; the first is what it was. */
static arras_status check_part(const many_source *m, const part *p, const ar_source *s,
                               arras_error *err)
{
    const ar_store_info *whole = &m->source.info;
    bool                 fits = s->info.dtype == whole->dtype && s->info.rank == whole->rank;

    for (int d = 1; fits && d < whole->rank; d++)
        fits = s->info.shape[d] == whole->shape[d];
    if (!fits)
        return fail_part(p, &s->info, m, err);
    if (s->info.shape[0] != p->rows)
        return ar_fail(err, ARRAS_EIO, "%s has changed: it had %" PRId64 " rows, now %" PRId64,
                       p->path, p->rows, s->info.shape[0]);
    return ARRAS_OK;
}

static arras_status begin_with(many_source *m, const part *p, const ar_source *s, arras_error *err)
{
    if (s->info.dtype == ARRAS_NO_DTYPE)
        return ar_fail(err, ARRAS_EFORMAT, "%s: its cells, %s, are not numbers", p->path,
                       s->info.stored);
    if (s->info.rank == 0)
        return ar_fail(err, ARRAS_ESHAPE, "%s has no axes: files are joined along the first one",
                       p->path);
    m->source.info = s->info;
    m->source.info.shape[0] = 0;
    snprintf(m->source.info.format, sizeof m->source.info.format, "many files");
    m->source.info.stored_bytes = 0;
    return ARRAS_OK;
}

/* Chunks of the files are chunks of the array as long as no file ends within one. */
static void join_chunks(ar_store_info *whole, const ar_store_info *info)
{
    bool same = info->chunked && whole->shape[0] % whole->chunk[0] == 0;

    for (int d = 0; same && d < info->rank; d++)
        same = info->chunk[d] == whole->chunk[d];
    whole->chunked = whole->chunked && same;
}

static arras_status hash_attribute(void *context, const ar_attribute *a, arras_error *err)
{
    uint64_t *hash = context;
    size_t    size = a->dtype == ARRAS_NO_DTYPE ? 1 : arras_dtype_size(a->dtype);

    (void)err;
    if (!ar_attribute_is_about_cells(a->name))
        return ARRAS_OK;
    *hash = ar_hash_mix(ar_hash_bytes(*hash, a->name, strlen(a->name)), (uint64_t)a->dtype);
    *hash = ar_hash_bytes(*hash, a->values, (size_t)a->count * size);
    return ARRAS_OK;
}

static arras_status compare_attributes(many_source *m, const part *p, ar_source *s,
                                       arras_error *err)
{
    uint64_t     hash = 0;
    arras_status status =
        s->type->attributes ? s->type->attributes(s, hash_attribute, &hash, err) : ARRAS_OK;

    if (p == m->parts)
        m->about = hash;
    else if (hash != m->about && !m->other)
        m->other = p->path;
    return status;
}

static arras_status add_part(many_source *m, part *p, arras_error *err)
{
    ar_source   *s;
    arras_status status = open_part(&s, p->path, m->inside, err);

    if (status != ARRAS_OK)
        return status;
    ar_store_info *whole = &m->source.info;
    if (p == m->parts)
        status = begin_with(m, p, s, err);
    if (status == ARRAS_OK) {
        p->rows = s->info.rank ? s->info.shape[0] : 0;
        status = check_part(m, p, s, err);
    }
    if (status == ARRAS_OK)
        status = compare_attributes(m, p, s, err);
    if (status == ARRAS_OK) {
        join_chunks(whole, &s->info);
        p->first = whole->shape[0];
        if (!ar_add64(&whole->shape[0], whole->shape[0], p->rows))
            status = ar_fail(err, ARRAS_ESIZE, "%s: more rows than there can be", m->source.name);
        whole->stored_bytes = whole->stored_bytes < 0 || s->info.stored_bytes < 0
                                  ? -1
                                  : whole->stored_bytes + s->info.stored_bytes;
    }
    s->type->close(s);
    return status;
}

/* Nothing but its chain of codecs, which is that of its files, is left open. */
static void end_info(many_source *m)
{
    ar_store_info *info = &m->source.info;

    for (int d = 0; d < info->rank && !info->chunked; d++)
        info->chunk[d] = ar_max64(info->shape[d], 1);
    snprintf(info->layout, sizeof info->layout, "%zu files", m->n);
}

static bool is_part(const char *name)
{
    static const char *const endings[] = { ".npy", ".h5", ".hdf5", ".he5", ".nc4" };
    size_t                   length = strlen(name);

    for (size_t i = 0; i < AR_COUNT(endings); i++) {
        size_t n = strlen(endings[i]);

        if (length > n && strcmp(name + length - n, endings[i]) == 0)
            return true;
    }
    return false;
}

static arras_status name_parts(many_source *m, const ar_file_names *names, const char *path,
                               arras_error *err)
{
    m->parts = ar_arena_alloc(&m->arena, names->n, sizeof *m->parts);
    for (size_t i = 0; m->parts && i < names->n; i++) {
        size_t room = strlen(path) + strlen(names->names[i]) + 2;
        char  *whole;

        if (!is_part(names->names[i]))
            continue;
        whole = ar_arena_alloc(&m->arena, room, 1);
        if (!whole)
            return ar_fail_memory(err, room);
        snprintf(whole, room, "%s/%s", path, names->names[i]);
        m->parts[m->n++].path = whole;
    }
    return m->parts ? ARRAS_OK : ar_fail_memory(err, names->n * sizeof *m->parts);
}

static arras_status read_names(ar_file_names *out, const char *path, arras_error *err)
{
    int fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

    if (fd < 0)
        return ar_fail(err, ARRAS_EIO, "cannot read %s: %s", path, strerror(errno));
    arras_status status = ar_file_names_read(out, fd, path, err);
    close(fd);
    return status;
}

static arras_status find_parts(many_source *m, const char *path, arras_error *err)
{
    ar_file_names names;
    arras_status  status = read_names(&names, path, err);

    if (status != ARRAS_OK)
        return status;
    status = name_parts(m, &names, path, err);
    ar_file_names_free(&names);
    if (status == ARRAS_OK && m->n == 0)
        return ar_fail(err, ARRAS_EFORMAT, "%s: there is no .npy or .h5 file in this directory",
                       path);
    return status;
}

static arras_status open_many(ar_source **out, const char *path, const char *inside,
                              arras_error *err)
{
    many_source *m = ar_alloc(1, sizeof *m);
    arras_status status;

    if (!m)
        return ar_fail_memory(err, sizeof *m);
    pthread_mutex_init(&m->lock, NULL);
    m->source.type = &source_type;
    snprintf(m->source.name, sizeof m->source.name, "%s", path);
    status = find_parts(m, path, err);
    if (status == ARRAS_OK && inside && *inside) {
        m->inside = ar_arena_copy(&m->arena, inside, strlen(inside) + 1, 1);
        status = m->inside ? ARRAS_OK : ar_fail_memory(err, strlen(inside));
    }
    for (size_t i = 0; i < m->n && status == ARRAS_OK; i++)
        status = add_part(m, &m->parts[i], err);
    if (status != ARRAS_OK) {
        close_source(&m->source);
        return status;
    }
    end_info(m);
    *out = &m->source;
    return ARRAS_OK;
}

static bool recognise(const char *path, const uint8_t *first, size_t n)
{
    ar_file_names names = { 0 };
    bool          found = false;
    arras_status  status = first ? ARRAS_EFORMAT : read_names(&names, path, NULL);

    (void)n;
    if (status != ARRAS_OK)
        return status == ARRAS_ENOMEM; /* then it cannot be opened either, which says so */
    for (size_t i = 0; i < names.n; i++)
        found = found || is_part(names.names[i]);
    ar_file_names_free(&names);
    return found;
}

const ar_format ar_format_many = { .name = "many", .recognise = recognise, .open = open_many };
