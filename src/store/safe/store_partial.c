/* store_partial.c -- a sink that can be gone on with: chunks are collected in a directory beside
 * the file, which survives the process, and put into the file when all are there. */
#include "store/safe/drafts.h"
#include "store/safe/partial_log.h"

#include <pthread.h>
#include <string.h>
#include <sys/stat.h>

/* Where a chunk is among the pieces. */
typedef struct {
    int64_t  offset, length;
    uint32_t skipped;
    bool     there, missing;
} chunk_place;

typedef struct {
    ar_sink         base;
    ar_partial_log *log;
    ar_text         folder;
    char           *path, *inside; /* of the file; inside may be NULL */
    ar_sink_options options;
    ar_text         codecs; /* what options point to */
    int64_t         chunk[ARRAS_MAX_RANK];
    bool            growable[ARRAS_MAX_RANK];
    uint8_t         fill[16];
    int64_t         nchunks;
    chunk_place    *chunks; /* of an array that is chunked */
    ar_saved_box   *boxes;  /* of one that is not */
    size_t          nboxes, room;
    pthread_mutex_t lock; /* of chunks and boxes */
} partial_sink;

/* ---- What is there --------------------------------------------------------------------------- */

static arras_status note(partial_sink *s, const ar_saved_box *piece, arras_error *err)
{
    arras_status status = ARRAS_OK;

    pthread_mutex_lock(&s->lock);
    if (piece->number >= 0 && piece->number < s->nchunks)
        s->chunks[piece->number] =
            (chunk_place){ piece->offset, piece->length, piece->skipped, true, piece->missing };
    else if (!ar_grow(&s->boxes, &s->room, s->nboxes, sizeof *s->boxes))
        status = ar_fail_memory(err, s->nboxes * sizeof *s->boxes);
    else
        s->boxes[s->nboxes++] = *piece;
    pthread_mutex_unlock(&s->lock);
    return status;
}

static bool touches(const ar_box *a, const ar_box *b)
{
    for (int d = 0; d < a->rank; d++)
        if (a->lo[d] >= b->hi[d] || b->lo[d] >= a->hi[d])
            return false;
    return true;
}

/* What is left of a box: boxes from number `next` on have to cover it. */
typedef struct {
    ar_box box;
    size_t next;
} remnant;

typedef struct {
    remnant *items;
    size_t   count, room;
} remnants;

static bool leave(remnants *r, ar_box part, size_t next)
{
    if (!ar_grow(&r->items, &r->room, r->count, sizeof *r->items))
        return false;
    r->items[r->count++] = (remnant){ part, next };
    return true;
}

/* Leaves what a box does not cover of `rest`: what is before and behind it along each axis. */
static bool cut_out(remnants *r, ar_box rest, const ar_box *box, size_t next)
{
    bool done = true;

    for (int d = 0; d < rest.rank && done; d++) {
        ar_box before = rest, behind = rest;

        before.hi[d] = box->lo[d];
        behind.lo[d] = box->hi[d];
        if (behind.lo[d] < rest.hi[d])
            done = leave(r, behind, next);
        if (done && rest.lo[d] < before.hi[d])
            done = leave(r, before, next);
        rest.lo[d] = ar_max64(rest.lo[d], box->lo[d]);
        rest.hi[d] = ar_min64(rest.hi[d], box->hi[d]);
    }
    return done;
}

/* Whether the boxes that were written cover one together: they may be those of other tiles than its
 * own.  Without memory to find that out they do not. */
static bool is_covered(const partial_sink *s, const ar_box *box)
{
    remnants r = { 0 };
    bool     covered = leave(&r, *box, 0);

    while (covered && r.count > 0) {
        remnant rest = r.items[--r.count];

        while (rest.next < s->nboxes && !touches(&s->boxes[rest.next].box, &rest.box))
            rest.next++;
        covered =
            rest.next < s->nboxes && cut_out(&r, rest.box, &s->boxes[rest.next].box, rest.next + 1);
    }
    ar_free(r.items);
    return covered;
}

static bool has_chunks(const partial_sink *s, const int64_t *lo, const int64_t *hi)
{
    const ar_store_info *info = &s->base.info;
    ar_chunk_grid        grid;
    ar_box               box = { .rank = info->rank }, cells;
    int64_t              chunk[ARRAS_MAX_RANK];

    memcpy(box.lo, lo, (size_t)info->rank * sizeof *lo);
    memcpy(box.hi, hi, (size_t)info->rank * sizeof *hi);
    ar_chunk_grid_make(&grid, info, &box);
    for (int64_t i = 0; i < grid.total; i++) {
        ar_chunk_grid_at(chunk, &cells, &grid, info, i);
        if (!s->chunks[ar_chunk_number(info, chunk)].there)
            return false;
    }
    return true;
}

static bool has_box(ar_sink *self, const int64_t *lo, const int64_t *hi)
{
    partial_sink *s = (partial_sink *)self;
    ar_box        box = { .rank = self->info.rank };
    bool          has;

    memcpy(box.lo, lo, (size_t)box.rank * sizeof *lo);
    memcpy(box.hi, hi, (size_t)box.rank * sizeof *hi);
    pthread_mutex_lock(&s->lock);
    has = self->info.chunked ? has_chunks(s, lo, hi) : is_covered(s, &box);
    pthread_mutex_unlock(&s->lock);
    return has;
}

/* ---- Writing --------------------------------------------------------------------------------- */

static arras_status put(ar_sink *self, const int64_t *chunk, const ar_chunk_bytes *bytes,
                        arras_error *err)
{
    partial_sink *s = (partial_sink *)self;
    ar_saved_box  piece = { .number = ar_chunk_number(&self->info, chunk),
                            .skipped = bytes->skipped,
                            .missing = bytes->missing };
    arras_status  status = ar_partial_add(s->log, &piece, bytes->bytes.data,
                                         bytes->missing ? 0 : bytes->bytes.length, err);

    return status == ARRAS_OK ? note(s, &piece, err) : status;
}

static arras_status write_box(ar_sink *self, const int64_t *lo, const int64_t *hi,
                              const void *cells, arras_error *err)
{
    partial_sink *s = (partial_sink *)self;
    ar_saved_box  piece = { .number = -1, .box = { .rank = self->info.rank } };
    size_t        length = arras_dtype_size(self->info.dtype);
    arras_status  status;

    for (int d = 0; d < self->info.rank; d++) {
        piece.box.lo[d] = lo[d];
        piece.box.hi[d] = hi[d];
        length *= (size_t)(hi[d] - lo[d]);
    }
    status = ar_partial_add(s->log, &piece, cells, length, err);
    return status == ARRAS_OK ? note(s, &piece, err) : status;
}

/* ---- Into the file --------------------------------------------------------------------------- */

static arras_status move_chunk(partial_sink *s, ar_sink *to, int64_t number, ar_chunk_bytes *bytes,
                               arras_error *err)
{
    const chunk_place   *place = &s->chunks[number];
    const ar_saved_box   piece = { .offset = place->offset, .length = place->length };
    const ar_store_info *info = &s->base.info;
    int64_t              chunk[ARRAS_MAX_RANK];
    arras_status         status;

    if (!place->there || place->missing)
        return ARRAS_OK;
    for (int d = info->rank - 1; d >= 0; d--) {
        int64_t count = (info->shape[d] + info->chunk[d] - 1) / info->chunk[d];

        chunk[d] = number % count;
        number /= count;
    }
    ar_text_cut(&bytes->bytes, 0);
    if (!ar_text_reserve(&bytes->bytes, (size_t)place->length))
        return ar_fail_memory(err, (size_t)place->length);
    status = ar_partial_read(s->log, &piece, bytes->bytes.data, err);
    bytes->bytes.length = (size_t)place->length;
    bytes->skipped = place->skipped;
    return status == ARRAS_OK ? to->type->put(to, chunk, bytes, err) : status;
}

static arras_status move_box(partial_sink *s, ar_sink *to, const ar_saved_box *piece,
                             ar_chunk_bytes *bytes, arras_error *err)
{
    arras_status status;

    ar_text_cut(&bytes->bytes, 0);
    if (!ar_text_reserve(&bytes->bytes, (size_t)piece->length))
        return ar_fail_memory(err, (size_t)piece->length);
    status = ar_partial_read(s->log, piece, bytes->bytes.data, err);
    return status == ARRAS_OK
               ? to->type->write_box(to, piece->box.lo, piece->box.hi, bytes->bytes.data, err)
               : status;
}

static arras_status move_all(partial_sink *s, ar_sink *to, arras_error *err)
{
    ar_chunk_bytes bytes = { 0 };
    arras_status   status = ARRAS_OK;

    for (int64_t i = 0; i < s->nchunks && status == ARRAS_OK; i++)
        status = move_chunk(s, to, i, &bytes, err);
    for (size_t i = 0; i < s->nboxes && status == ARRAS_OK; i++)
        status = move_box(s, to, &s->boxes[i], &bytes, err);
    ar_chunk_bytes_free(&bytes);
    return status;
}

/* ---- Ends ------------------------------------------------------------------------------------ */

static void release(partial_sink *s)
{
    if (s->log)
        ar_partial_close(s->log, NULL);
    pthread_mutex_destroy(&s->lock);
    ar_text_free(&s->folder);
    ar_text_free(&s->codecs);
    ar_free(s->path);
    ar_free(s->inside);
    ar_free(s->chunks);
    ar_free(s->boxes);
    ar_free(s);
}

static arras_status finish(ar_sink *self, arras_error *err)
{
    partial_sink *s = (partial_sink *)self;
    ar_sink      *to = NULL;
    arras_status  status = ar_store_create(&to, s->path, s->inside, self->info.dtype,
                                           self->info.rank, self->info.shape, &s->options, err);

    if (status == ARRAS_OK) {
        status = move_all(s, to, err);
        if (status == ARRAS_OK)
            status = ar_partial_finished(s->log, err);
        if (status == ARRAS_OK)
            status = to->type->finish(to, err);
        else
            to->type->abandon(to);
    }
    if (status == ARRAS_OK)
        ar_partial_remove(s->folder.data);
    release(s);
    return status;
}

/* What there is stays, to be gone on with; nothing at all is not worth a directory. */
static void abandon(ar_sink *self)
{
    partial_sink *s = (partial_sink *)self;
    bool          empty = s->nboxes == 0;

    for (int64_t i = 0; i < s->nchunks && empty; i++)
        empty = !s->chunks[i].there;
    if (empty && s->log)
        ar_partial_remove(s->folder.data);
    release(s);
}

static const ar_sink_type chunked = {
    .put = put, .has_box = has_box, .finish = finish, .abandon = abandon
};
static const ar_sink_type whole = {
    .write_box = write_box, .has_box = has_box, .finish = finish, .abandon = abandon
};

/* ---- Making it ------------------------------------------------------------------------------- */

static char *copy_text(const char *text)
{
    size_t length = text ? strlen(text) + 1 : 0;
    char  *copy = text ? ar_alloc(length, 1) : NULL;

    if (copy)
        memcpy(copy, text, length);
    return copy;
}

/* Type, chunks and codecs are what the file will have: it is made once, to see, and taken back. */
static arras_status look_at_file(partial_sink *s, arras_dtype dtype, int rank, const int64_t *shape,
                                 arras_error *err)
{
    ar_sink     *probe;
    arras_status status =
        ar_store_create(&probe, s->path, s->inside, dtype, rank, shape, &s->options, err);

    if (status != ARRAS_OK)
        return status;
    s->base.info = probe->info;
    s->base.chain = probe->chain;
    memcpy(s->base.name, probe->name, sizeof s->base.name);
    s->base.stores_all = probe->stores_all;
    probe->type->abandon(probe);
    s->base.type = s->base.info.chunked ? &chunked : &whole;
    s->base.wants_fill_chunks = true;
    s->nchunks = s->base.info.chunked ? 1 : 0;
    for (int d = 0; d < rank && s->base.info.chunked; d++)
        s->nchunks *= (shape[d] + s->base.info.chunk[d] - 1) / s->base.info.chunk[d];
    s->chunks = ar_alloc((size_t)s->nchunks, sizeof *s->chunks);
    return s->chunks ? ARRAS_OK : ar_fail_memory(err, (size_t)s->nchunks * sizeof *s->chunks);
}

static void keep_options(partial_sink *s, const ar_sink_options *options, int rank, size_t cell)
{
    size_t n = (size_t)rank;

    s->options = options ? *options : (ar_sink_options){ 0 };
    if (s->options.codecs) {
        ar_text_add(&s->codecs, s->options.codecs);
        s->options.codecs = s->codecs.data;
    }
    if (s->options.chunk)
        s->options.chunk = memcpy(s->chunk, s->options.chunk, n * sizeof *s->chunk);
    if (s->options.growable)
        s->options.growable = memcpy(s->growable, s->options.growable, n * sizeof *s->growable);
    if (s->options.fill)
        s->options.fill = memcpy(s->fill, s->options.fill, cell);
}

/* ".sea.h5.ocean-ssh.partial" beside sea.h5. */
static void name_folder(ar_text *out, const char *path, const char *inside)
{
    const char *slash = strrchr(path, '/'), *base = slash ? slash + 1 : path;

    ar_text_printf(out, "%.*s.%.100s", (int)(base - path), path, base);
    if (inside)
        ar_text_printf(out, ".%.100s", inside + (*inside == '/'));
    for (size_t i = (size_t)(base - path); i < out->length && !out->failed; i++)
        if (out->data[i] == '/')
            out->data[i] = '-';
    ar_text_add(out, ".partial");
}

static bool is_before(const struct timespec *a, const struct timespec *b)
{
    return a->tv_sec != b->tv_sec ? a->tv_sec < b->tv_sec : a->tv_nsec < b->tv_nsec;
}

/* A file that is replaced was there before; to get its name is a change of its status. */
static bool has_appeared(const char *path, const char *inside, bool replaces,
                         const struct timespec *since)
{
    ar_source  *source;
    struct stat st;

    if (replaces)
        return stat(path, &st) == 0 && !is_before(&st.st_ctim, since);
    if (ar_store_open(&source, path, inside, NULL) != ARRAS_OK)
        return false;
    source->type->close(source);
    return true;
}

void ar_store_tidy(const char *path, const char *inside, bool replaces)
{
    ar_text         folder = { 0 };
    struct timespec when;

    name_folder(&folder, path, inside);
    if (!folder.failed && ar_partial_was_finished(&when, folder.data) &&
        has_appeared(path, inside, replaces, &when))
        ar_partial_remove(folder.data);
    ar_text_free(&folder);
}

void ar_store_tidy_file(const char *path)
{
    ar_drafts_sweep(path, strlen(path));
    ar_store_tidy(path, NULL, true);
}

static arras_status open_log(partial_sink *s, const char *identity, double period, arras_error *err)
{
    int64_t      found = 0;
    arras_status status = ar_partial_open(&s->log, s->folder.data, identity, period, &found, err);

    for (int64_t i = 0; i < found && status == ARRAS_OK; i++)
        status = note(s, ar_partial_found(s->log, i), err);
    return status;
}

arras_status ar_store_create_partial(ar_sink **out, const char *path, const char *inside,
                                     arras_dtype dtype, int rank, const int64_t *shape,
                                     const ar_sink_options *options, const char *identity,
                                     double period, arras_error *err)
{
    partial_sink *s = ar_alloc(1, sizeof *s);
    arras_status  status;

    if (!s)
        return ar_fail_memory(err, sizeof *s);
    pthread_mutex_init(&s->lock, NULL);
    s->path = copy_text(path);
    s->inside = copy_text(inside);
    name_folder(&s->folder, path, inside);
    keep_options(s, options, rank, arras_dtype_size(dtype));
    status = !s->path || (inside && !s->inside) || s->folder.failed || s->codecs.failed
                 ? ar_fail_memory(err, strlen(path))
                 : look_at_file(s, dtype, rank, shape, err);
    if (status == ARRAS_OK)
        status = open_log(s, identity, period, err);
    if (status == ARRAS_OK)
        *out = &s->base;
    else
        release(s);
    return status;
}
