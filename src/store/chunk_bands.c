/* chunk_bands.c -- rows of chunks that are decoded side by side, as an array has its cells.
 *
 * A chunk by itself has to be copied to where its neighbours are before anybody can compute across
 * them; here it is decoded to its place among them.  Band i is at place i modulo n. */
#include "store/boxes.h"

#include <pthread.h>
#include <string.h>

enum { ABSENT, BEING_DECODED, READY };

/* A ring of so many bytes comes out of the caches before it is read: measured, decoding around
 * them takes a third of the time, and who reads it does not notice. */
enum { FAR = 32 << 20 };

typedef struct {
    int64_t  number; /* of its chunks along axis 0 */
    int64_t  users;  /* with any, it stays */
    uint8_t *states; /* of its chunks */
} band;

struct ar_chunk_bands {
    ar_source    *source;
    int64_t       strides[ARRAS_MAX_RANK]; /* bytes */
    size_t        chunk_bytes;
    int64_t       band_bytes, chunks; /* of a band */
    int64_t       n;
    int           together; /* chunks that a thread decodes at once */
    ar_scratches *hands;    /* not its own */
    char         *cells;    /* of n bands */

    pthread_mutex_t lock;    /* of all below */
    pthread_cond_t  changed; /* a band has no users any more, or a chunk is ready, or it failed */
    band           *bands;
    uint8_t        *states; /* of all bands */
};

/* ---- New and free ---------------------------------------------------------------------------- */

static int64_t chunks_along(const ar_store_info *info, int axis)
{
    return (info->shape[axis] + info->chunk[axis] - 1) / info->chunk[axis];
}

int64_t ar_chunk_band_bytes(const ar_store_info *info)
{
    int64_t bytes = (int64_t)arras_dtype_size(info->dtype);

    for (int d = 0; d < info->rank; d++)
        if (!ar_mul64(&bytes, bytes, info->chunk[d]) ||
            (d > 0 && !ar_mul64(&bytes, bytes, chunks_along(info, d))))
            return INT64_MAX;
    return bytes;
}

/* Chunks that end beyond the array are there whole. */
static void lay_out(ar_chunk_bands *b)
{
    const ar_store_info *info = &b->source->info;
    int64_t              shape[ARRAS_MAX_RANK];

    b->chunks = 1;
    for (int d = 0; d < info->rank; d++) {
        shape[d] = info->chunk[d] * chunks_along(info, d);
        b->chunks *= d > 0 ? chunks_along(info, d) : 1;
    }
    ar_strides_dense(b->strides, info->rank, shape, arras_dtype_size(info->dtype));
}

/* Kernels look a little ahead. */
static size_t all_bytes(const ar_chunk_bands *b)
{
    enum { AHEAD = 4096 };

    return ((size_t)(b->n * b->band_bytes) + 2 * AHEAD - 1) / AHEAD * AHEAD;
}

static bool allocate(ar_chunk_bands *b)
{
    b->cells = ar_pages_alloc(all_bytes(b));
    b->bands = ar_alloc((size_t)b->n, sizeof *b->bands);
    b->states = ar_alloc((size_t)(b->n * b->chunks), 1);
    if (!b->cells || !b->bands || !b->states)
        return false;
    for (int64_t i = 0; i < b->n; i++)
        b->bands[i] = (band){ .number = i, .states = b->states + i * b->chunks };
    return true;
}

arras_status ar_chunk_bands_new(ar_chunk_bands **out, ar_source *source, int64_t n, int together,
                                ar_scratches *hands, arras_error *err)
{
    int64_t         all, bytes = ar_chunk_band_bytes(&source->info);
    ar_chunk_bands *b = ar_alloc(1, sizeof *b);

    if (!b || !ar_mul64(&all, bytes, n)) {
        ar_free(b);
        return ar_fail_memory(err, sizeof *b);
    }
    *b = (ar_chunk_bands){
        .source = source, .n = n, .together = together, .hands = hands, .band_bytes = bytes
    };
    pthread_mutex_init(&b->lock, NULL);
    pthread_cond_init(&b->changed, NULL);
    lay_out(b);
    b->chunk_bytes = (size_t)(bytes / b->chunks);
    if (!allocate(b)) {
        ar_chunk_bands_free(b);
        return ar_fail_memory(err, (size_t)all);
    }
    *out = b;
    return ARRAS_OK;
}

void ar_chunk_bands_free(ar_chunk_bands *b)
{
    if (!b)
        return;
    if (b->cells)
        ar_pages_free(b->cells, all_bytes(b));
    ar_free(b->bands);
    ar_free(b->states);
    pthread_cond_destroy(&b->changed);
    pthread_mutex_destroy(&b->lock);
    ar_free(b);
}

/* ---- Places ---------------------------------------------------------------------------------- */

/* Bands first <= i <= last. */
typedef struct {
    int64_t first, last;
} range;

static range bands_of(const ar_chunk_bands *b, const int64_t *lo, const int64_t *hi)
{
    int64_t height = b->source->info.chunk[0];

    return (range){ lo[0] / height, (hi[0] - 1) / height };
}

static band *band_at(const ar_chunk_bands *b, int64_t number) { return &b->bands[number % b->n]; }

/* Where cell [0, 0, ...] would be if all bands before this one were there. */
static char *origin_of(const ar_chunk_bands *b, int64_t number)
{
    return (char *)((uintptr_t)b->cells + (uintptr_t)((number % b->n - number) * b->band_bytes));
}

bool ar_chunk_bands_fit(const ar_chunk_bands *b, const int64_t *lo, const int64_t *hi)
{
    range r = bands_of(b, lo, hi);

    return r.last - r.first < b->n;
}

int ar_chunk_bands_together(const ar_chunk_bands *b) { return b->together; }

const int64_t *ar_chunk_bands_strides(const ar_chunk_bands *b) { return b->strides; }

char *ar_chunk_bands_origin(const ar_chunk_bands *b, const int64_t *lo, const int64_t *hi)
{
    range r = bands_of(b, lo, hi);

    return r.first % b->n + (r.last - r.first) < b->n ? origin_of(b, r.first) : NULL;
}

/* ---- Users ----------------------------------------------------------------------------------- */

/* All bands or none: whoever waits holds nothing that others wait for.  The lock is held. */
static bool hold(ar_chunk_bands *b, range r)
{
    for (int64_t i = r.first; i <= r.last; i++)
        if (band_at(b, i)->number != i && band_at(b, i)->users > 0)
            return false;
    for (int64_t i = r.first; i <= r.last; i++) {
        band *at = band_at(b, i);

        if (at->number != i)
            memset(at->states, ABSENT, (size_t)b->chunks);
        at->number = i;
        at->users++;
    }
    return true;
}

/* wait: until that can be done. */
static bool hold_all(ar_chunk_bands *b, range r, bool wait)
{
    bool done;

    pthread_mutex_lock(&b->lock);
    while (!(done = hold(b, r)) && wait)
        pthread_cond_wait(&b->changed, &b->lock);
    pthread_mutex_unlock(&b->lock);
    return done;
}

static void let_go(ar_chunk_bands *b, range r)
{
    pthread_mutex_lock(&b->lock);
    for (int64_t i = r.first; i <= r.last; i++)
        band_at(b, i)->users--;
    pthread_cond_broadcast(&b->changed);
    pthread_mutex_unlock(&b->lock);
}

/* ---- Chunks ---------------------------------------------------------------------------------- */

/* What a chunk was; one that was absent is the caller's to decode.  wait: for who decodes it. */
static uint8_t claim(ar_chunk_bands *b, uint8_t *state, bool wait)
{
    uint8_t was;

    pthread_mutex_lock(&b->lock);
    while (wait && *state == BEING_DECODED)
        pthread_cond_wait(&b->changed, &b->lock);
    was = *state;
    if (was == ABSENT)
        *state = BEING_DECODED;
    pthread_mutex_unlock(&b->lock);
    return was;
}

static void settle(ar_chunk_bands *b, uint8_t *state, uint8_t becomes)
{
    pthread_mutex_lock(&b->lock);
    *state = becomes;
    pthread_cond_broadcast(&b->changed);
    pthread_mutex_unlock(&b->lock);
}

/* Chunks that a thread decodes at once. */
typedef struct {
    ar_chunk_bands *bands;
    int             n;
    ar_chunk_job    jobs[AR_CODEC_TOGETHER];
    uint8_t        *states[AR_CODEC_TOGETHER];
} batch;

/* The first failure is returned; others may try these chunks again. */
static arras_status decode(batch *t, arras_error *err)
{
    ar_chunk_bands     *b = t->bands;
    ar_spread           to = { b->strides, b->chunk_bytes, b->n * b->band_bytes > FAR };
    arras_status        status = ARRAS_OK;
    ar_chunk_scratches *hand;

    hand = ar_scratches_take(b->hands);
    for (int i = 0; i < t->n; i++)
        t->jobs[i].scratch = &hand->each[i];
    ar_source_chunks_spread(b->source, t->jobs, t->n, &to);
    ar_scratches_give(b->hands, hand);
    for (int i = 0; i < t->n; i++) {
        settle(b, t->states[i], t->jobs[i].status == ARRAS_OK ? READY : ABSENT);
        if (t->jobs[i].status == ARRAS_OK || status != ARRAS_OK)
            continue;
        status = t->jobs[i].status;
        if (err)
            *err = t->jobs[i].err;
    }
    t->n = 0;
    return status;
}

/* Chunk i of a grid, of bands that are held, if nobody has it. */
static bool add(batch *t, const ar_chunk_grid *grid, int64_t i, bool wait)
{
    ar_chunk_bands      *b = t->bands;
    const ar_store_info *info = &b->source->info;
    ar_chunk_job        *job = &t->jobs[t->n];
    ar_box               cells;
    uint8_t             *state;
    uintptr_t            to;

    ar_chunk_grid_at(job->chunk, &cells, grid, info, i);
    state = band_at(b, job->chunk[0])->states + ar_chunk_number(info, job->chunk) % b->chunks;
    if (claim(b, state, wait) != ABSENT)
        return false;
    to = (uintptr_t)origin_of(b, job->chunk[0]);
    for (int d = 0; d < info->rank; d++)
        to += (uintptr_t)(cells.lo[d] * b->strides[d]);
    job->to = (char *)to;
    t->states[t->n++] = state;
    return true;
}

/* Up to `most` chunks, or a few more, that nobody has yet. */
static arras_status decode_some(ar_chunk_bands *b, const ar_chunk_grid *grid, int64_t most,
                                arras_error *err)
{
    batch        t = { .bands = b };
    arras_status status = ARRAS_OK;

    for (int64_t i = 0; i < grid->total && (most > 0 || t.n > 0) && status == ARRAS_OK; i++) {
        most -= add(&t, grid, i, false);
        if (t.n == b->together)
            status = decode(&t, err);
    }
    return t.n > 0 ? decode(&t, err) : status;
}

/* Chunks that other threads decode are waited for when all others are there, with none in hand. */
static arras_status decode_all(ar_chunk_bands *b, const ar_chunk_grid *grid, arras_error *err)
{
    arras_status status = decode_some(b, grid, grid->total, err);
    batch        t = { .bands = b };

    for (int64_t i = 0; i < grid->total && status == ARRAS_OK; i++)
        if (add(&t, grid, i, true))
            status = decode(&t, err);
    return status;
}

/* ---- Boxes ----------------------------------------------------------------------------------- */

/* *grid has no chunks: the box has no cells. */
static arras_status find_grid(ar_chunk_grid *grid, ar_box *box, const ar_chunk_bands *b,
                              const int64_t *lo, const int64_t *hi, arras_error *err)
{
    const ar_source *s = b->source;
    arras_status     status = ar_box_check(box, &s->info, s->name, lo, hi, err);

    grid->total = 0;
    if (status == ARRAS_OK && !ar_box_is_empty(box))
        ar_chunk_grid_make(grid, &s->info, box);
    return status;
}

arras_status ar_chunk_bands_take(ar_chunk_bands *b, const int64_t *lo, const int64_t *hi,
                                 arras_error *err)
{
    ar_chunk_grid grid;
    ar_box        box;
    arras_status  status = find_grid(&grid, &box, b, lo, hi, err);

    if (status != ARRAS_OK || grid.total == 0)
        return status;
    hold_all(b, bands_of(b, lo, hi), true);
    status = decode_all(b, &grid, err);
    if (status != ARRAS_OK)
        let_go(b, bands_of(b, lo, hi));
    return status;
}

void ar_chunk_bands_give(ar_chunk_bands *b, const int64_t *lo, const int64_t *hi)
{
    ar_chunk_grid grid;
    ar_box        box;

    find_grid(&grid, &box, b, lo, hi, NULL);
    if (grid.total > 0)
        let_go(b, bands_of(b, lo, hi));
}

arras_status ar_chunk_bands_read(ar_chunk_bands *b, const int64_t *lo, const int64_t *hi,
                                 char *origin, const int64_t *strides, arras_error *err)
{
    int64_t      height = b->source->info.chunk[0];
    ar_box       box;
    arras_status status = ar_box_check(&box, &b->source->info, b->source->name, lo, hi, err);

    if (status != ARRAS_OK || ar_box_is_empty(&box))
        return status;
    status = ar_chunk_bands_take(b, lo, hi, err);
    if (status != ARRAS_OK)
        return status;
    for (int64_t i = lo[0] / height; i * height < hi[0]; i++) {
        box.lo[0] = ar_max64(lo[0], i * height);
        box.hi[0] = ar_min64(hi[0], (i + 1) * height);
        ar_box_copy(&box, arras_dtype_size(b->source->info.dtype), origin, strides, origin_of(b, i),
                    b->strides);
    }
    ar_chunk_bands_give(b, lo, hi);
    return ARRAS_OK;
}

arras_status ar_chunk_bands_ahead(ar_chunk_bands *b, const int64_t *lo, const int64_t *hi,
                                  int64_t calls, arras_error *err)
{
    ar_chunk_grid grid;
    ar_box        box;
    arras_status  status = find_grid(&grid, &box, b, lo, hi, err);

    if (status != ARRAS_OK || grid.total == 0 || !ar_chunk_bands_fit(b, lo, hi) ||
        !hold_all(b, bands_of(b, lo, hi), false))
        return status;
    status = decode_some(b, &grid, (grid.total + calls - 1) / calls, err);
    let_go(b, bands_of(b, lo, hi));
    return status;
}
