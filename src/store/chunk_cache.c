/* chunk_cache.c -- decoded chunks that are kept while there is room: the ones used last stay. */
#include "store/boxes.h"

#include <pthread.h>
#include <string.h>

typedef struct entry {
    const ar_source *source;
    int64_t          number; /* of the chunk, in C order of the whole grid */
    char            *cells;  /* its own for good */
    struct pool     *pool;   /* that it is of */
    size_t           size;
    int              users; /* who read it, or decode it, just now */
    bool             ready;
    struct entry    *newer, *older, *next; /* by use; of the same hash, or spare like it */
} entry;

enum { BUCKETS = 4096, SLAB = 16 << 20 };

/* Entries with memory for chunks of one size, cut from large blocks and used again and again: fresh
 * pages cost about as much as decoding into them. */
typedef struct slab {
    struct slab *next;
    size_t       bytes; /* of this block, which begins here; its entries follow, then their cells */
} slab;

typedef struct pool {
    struct pool *next;
    size_t       size; /* of the cells of an entry; a multiple of 64 */
    slab        *slabs;
    entry       *spares;
} pool;

struct ar_chunk_cache {
    pthread_mutex_t lock; /* of all below */
    pthread_cond_t  decoded;
    int64_t         room, used; /* bytes */
    entry          *newest, *oldest;
    entry          *buckets[BUCKETS];
    pool           *pools;
    ar_scratches   *hands; /* not its own */
};

/* ---- Entries; the lock is held --------------------------------------------------------------- */

static entry **bucket_of(ar_chunk_cache *c, const ar_source *source, int64_t number)
{
    uint64_t hash = ar_hash_mix(ar_hash_mix(0, (uint64_t)(uintptr_t)source), (uint64_t)number);

    return &c->buckets[hash % BUCKETS];
}

static entry *find(ar_chunk_cache *c, const ar_source *source, int64_t number)
{
    entry *e = *bucket_of(c, source, number);

    while (e && (e->source != source || e->number != number))
        e = e->next;
    return e;
}

static void take_out(ar_chunk_cache *c, entry *e)
{
    *(e->newer ? &e->newer->older : &c->newest) = e->older;
    *(e->older ? &e->older->newer : &c->oldest) = e->newer;
    e->newer = e->older = NULL;
}

static void put_first(ar_chunk_cache *c, entry *e)
{
    e->older = c->newest;
    *(c->newest ? &c->newest->newer : &c->oldest) = e;
    c->newest = e;
}

static size_t rounded_up(size_t bytes, size_t to) { return (bytes + to - 1) / to * to; }

static pool *pool_for(ar_chunk_cache *c, size_t size)
{
    size_t rounded = rounded_up(size, 64);
    pool  *p = c->pools;

    while (p && p->size != rounded)
        p = p->next;
    if (p)
        return p;
    p = ar_alloc(1, sizeof *p);
    if (p) {
        *p = (pool){ .next = c->pools, .size = rounded };
        c->pools = p;
    }
    return p;
}

static bool add_slab(const ar_chunk_cache *c, pool *p)
{
    size_t n = (size_t)ar_max64(1, ar_min64(SLAB, c->room) / (int64_t)p->size);
    size_t head = rounded_up(sizeof(slab) + n * sizeof(entry), 64);
    size_t bytes = rounded_up(head + n * p->size, 4096);
    slab  *s = ar_pages_alloc(bytes);
    entry *entries = (entry *)(s + 1);

    if (!s)
        return false;
    *s = (slab){ p->slabs, bytes };
    p->slabs = s;
    for (size_t i = 0; i < n; i++) {
        entries[i] =
            (entry){ .cells = (char *)s + head + i * p->size, .pool = p, .next = p->spares };
        p->spares = &entries[i];
    }
    return true;
}

/* NULL: no memory. */
static entry *take_spare(ar_chunk_cache *c, size_t size)
{
    pool  *p = pool_for(c, size);
    entry *e;

    if (!p || (!p->spares && !add_slab(c, p)))
        return NULL;
    e = p->spares;
    p->spares = e->next;
    return e;
}

static void free_pools(ar_chunk_cache *c)
{
    while (c->pools) {
        pool *p = c->pools;

        c->pools = p->next;
        while (p->slabs) {
            slab *s = p->slabs;

            p->slabs = s->next;
            ar_pages_free(s, s->bytes);
        }
        ar_free(p);
    }
}

static void drop(ar_chunk_cache *c, entry *e)
{
    entry **at = bucket_of(c, e->source, e->number);

    while (*at != e)
        at = &(*at)->next;
    *at = e->next;
    take_out(c, e);
    c->used -= (int64_t)e->size;
    e->next = e->pool->spares;
    e->pool->spares = e;
}

static bool make_room(ar_chunk_cache *c, int64_t size)
{
    for (entry *e = c->oldest, *newer; e && c->used + size > c->room; e = newer) {
        newer = e->newer;
        if (e->users == 0)
            drop(c, e);
    }
    return c->used + size <= c->room;
}

/* NULL: no room for it. */
static entry *add(ar_chunk_cache *c, const ar_source *source, int64_t number, size_t size)
{
    entry **bucket = bucket_of(c, source, number);
    entry  *e = make_room(c, (int64_t)size) ? take_spare(c, size) : NULL;

    if (!e)
        return NULL;
    *e = (entry){ .source = source,
                  .number = number,
                  .cells = e->cells,
                  .pool = e->pool,
                  .size = size,
                  .users = 1,
                  .next = *bucket };
    *bucket = e;
    c->used += (int64_t)size;
    put_first(c, e);
    return e;
}

/* ---- New and free ---------------------------------------------------------------------------- */

arras_status ar_chunk_cache_new(ar_chunk_cache **out, int64_t bytes, ar_scratches *hands,
                                arras_error *err)
{
    ar_chunk_cache *c = ar_alloc(1, sizeof *c);

    if (!c)
        return ar_fail_memory(err, sizeof *c);
    pthread_mutex_init(&c->lock, NULL);
    pthread_cond_init(&c->decoded, NULL);
    c->room = bytes;
    c->hands = hands;
    *out = c;
    return ARRAS_OK;
}

void ar_chunk_cache_free(ar_chunk_cache *c)
{
    if (!c)
        return;
    while (c->oldest)
        drop(c, c->oldest);
    free_pools(c);
    pthread_cond_destroy(&c->decoded);
    pthread_mutex_destroy(&c->lock);
    ar_free(c);
}

/* ---- Chunks ---------------------------------------------------------------------------------- */

/* A box that is being read. */
typedef struct {
    ar_chunk_cache *cache;
    ar_source      *source;
    ar_box          box;
    size_t          cell_size, chunk_size;
    char           *origin;
    const int64_t  *strides;
} reading;

/* Makes an entry ready that was just added; it is gone if that fails. */
static arras_status decode(entry *e, reading *r, const int64_t *chunk, arras_error *err)
{
    ar_chunk_cache     *c = r->cache;
    ar_chunk_scratches *hand = ar_scratches_take(c->hands);
    arras_status        status =
        ar_source_chunk(r->source, chunk, e->cells, r->chunk_size, &hand->each[0].bytes, err);

    ar_scratches_give(c->hands, hand);
    pthread_mutex_lock(&c->lock);
    e->ready = true;
    if (status != ARRAS_OK)
        drop(c, e); /* those who wait try for themselves */
    pthread_cond_broadcast(&c->decoded);
    pthread_mutex_unlock(&c->lock);
    return status;
}

/* The entry of a chunk, ready, with one user more; NULL with no failure: the cache is full, and the
 * caller decodes for itself.  *busy: another thread decodes it; with NULL that is waited for. */
static arras_status take(entry **out, bool *busy, reading *r, int64_t number, const int64_t *chunk,
                         arras_error *err)
{
    ar_chunk_cache *c = r->cache;
    entry          *e;

    pthread_mutex_lock(&c->lock);
    while ((e = find(c, r->source, number)) && !e->ready && !busy)
        pthread_cond_wait(&c->decoded, &c->lock);
    if (e && !e->ready) {
        *busy = true;
        pthread_mutex_unlock(&c->lock);
        return ARRAS_OK;
    }
    if (e) {
        e->users++;
        take_out(c, e);
        put_first(c, e);
    }
    *out = e ? e : add(c, r->source, number, r->chunk_size);
    pthread_mutex_unlock(&c->lock);
    return e || !*out ? ARRAS_OK : decode(*out, r, chunk, err);
}

static void let_go(ar_chunk_cache *c, entry *e)
{
    pthread_mutex_lock(&c->lock);
    e->users--;
    pthread_mutex_unlock(&c->lock);
}

static void copy_out(const reading *r, const ar_box *cells, const char *from)
{
    int     rank = r->source->info.rank;
    int64_t strides[ARRAS_MAX_RANK];
    ar_box  wanted = { .rank = rank };

    for (int d = 0; d < rank; d++) {
        wanted.lo[d] = ar_max64(cells->lo[d], r->box.lo[d]);
        wanted.hi[d] = ar_min64(cells->hi[d], r->box.hi[d]);
    }
    ar_strides_dense(strides, rank, r->source->info.chunk, r->cell_size);
    ar_box_copy(&wanted, r->cell_size, r->origin, r->strides,
                ar_box_origin(from, rank, cells->lo, strides), strides);
}

/* For one reader only, where the cache has no room. */
static arras_status read_alone(reading *r, const int64_t *chunk, const ar_box *cells,
                               arras_error *err)
{
    ar_chunk_scratches *hand = ar_scratches_take(r->cache->hands);
    const char         *own;
    arras_status        status =
        ar_source_chunk_view(&own, r->source, chunk, r->chunk_size, &hand->each[0], err);

    if (status == ARRAS_OK)
        copy_out(r, cells, own);
    ar_scratches_give(r->cache->hands, hand);
    return status;
}

static arras_status read_chunk(reading *r, bool *busy, const int64_t *chunk, const ar_box *cells,
                               arras_error *err)
{
    entry       *e = NULL;
    arras_status status = take(&e, busy, r, ar_chunk_number(&r->source->info, chunk), chunk, err);

    if (status != ARRAS_OK || (busy && *busy))
        return status;
    if (!e)
        return read_alone(r, chunk, cells, err);
    copy_out(r, cells, e->cells);
    let_go(r->cache, e);
    return ARRAS_OK;
}

/* ---- Boxes ----------------------------------------------------------------------------------- */

/* Chunks that another thread decodes are left for the end: so threads which need the same ones do
 * not wait for each other at every one of them, but decode some each. */
static arras_status read_grid(reading *r, const ar_chunk_grid *grid, arras_error *err)
{
    enum { MOST_LEFT = 256 };
    int64_t      left[MOST_LEFT], chunk[ARRAS_MAX_RANK];
    int          nleft = 0;
    ar_box       cells;
    arras_status status = ARRAS_OK;

    for (int64_t i = 0; i < grid->total && status == ARRAS_OK; i++) {
        bool busy = false;

        ar_chunk_grid_at(chunk, &cells, grid, &r->source->info, i);
        status = read_chunk(r, nleft < MOST_LEFT ? &busy : NULL, chunk, &cells, err);
        if (busy)
            left[nleft++] = i;
    }
    for (int k = 0; k < nleft && status == ARRAS_OK; k++) {
        ar_chunk_grid_at(chunk, &cells, grid, &r->source->info, left[k]);
        status = read_chunk(r, NULL, chunk, &cells, err);
    }
    return status;
}

/* Decodes a chunk that nobody did yet; *out NULL: somebody did, or there is no room. */
static arras_status decode_first(entry **out, reading *r, const int64_t *chunk, arras_error *err)
{
    ar_chunk_cache *c = r->cache;
    int64_t         number = ar_chunk_number(&r->source->info, chunk);
    arras_status    status;

    pthread_mutex_lock(&c->lock);
    *out = find(c, r->source, number) ? NULL : add(c, r->source, number, r->chunk_size);
    pthread_mutex_unlock(&c->lock);
    if (!*out)
        return ARRAS_OK;
    status = decode(*out, r, chunk, err);
    if (status == ARRAS_OK)
        let_go(c, *out);
    return status;
}

static arras_status decode_some(reading *r, const ar_chunk_grid *grid, int64_t most,
                                arras_error *err)
{
    int64_t      chunk[ARRAS_MAX_RANK], done = 0;
    ar_box       cells;
    arras_status status = ARRAS_OK;

    for (int64_t i = 0; i < grid->total && done < most && status == ARRAS_OK; i++) {
        entry *e;

        ar_chunk_grid_at(chunk, &cells, grid, &r->source->info, i);
        status = decode_first(&e, r, chunk, err);
        done += e != NULL;
    }
    return status;
}

/* ahead: 0, the box is read; otherwise one in so many of its chunks is decoded. */
static arras_status read_chunks(reading *r, int64_t ahead, arras_error *err)
{
    ar_chunk_grid grid;
    arras_status  status = ar_chunk_size(&r->chunk_size, &r->source->info, r->source->name, err);

    if (status != ARRAS_OK)
        return status;
    ar_chunk_grid_make(&grid, &r->source->info, &r->box);
    return ahead ? decode_some(r, &grid, (grid.total + ahead - 1) / ahead, err)
                 : read_grid(r, &grid, err);
}

static bool is_dense(const reading *r)
{
    int64_t shape[ARRAS_MAX_RANK], strides[ARRAS_MAX_RANK];

    for (int d = 0; d < r->box.rank; d++)
        shape[d] = r->box.hi[d] - r->box.lo[d];
    ar_strides_dense(strides, r->box.rank, shape, r->cell_size);
    return memcmp(strides, r->strides, (size_t)r->box.rank * sizeof *strides) == 0;
}

arras_status ar_chunk_cache_read(ar_chunk_cache *cache, ar_source *source, const int64_t *lo,
                                 const int64_t *hi, char *origin, const int64_t *strides,
                                 arras_error *err)
{
    reading      r = { .cache = cache,
                       .source = source,
                       .cell_size = arras_dtype_size(source->info.dtype),
                       .origin = origin,
                       .strides = strides };
    arras_status status = ar_box_check(&r.box, &source->info, source->name, lo, hi, err);
    uintptr_t    first = (uintptr_t)origin;

    if (status != ARRAS_OK || ar_box_is_empty(&r.box))
        return status;
    if (!source->type->read_box)
        return read_chunks(&r, 0, err);
    for (int d = 0; d < r.box.rank; d++)
        first += (uintptr_t)(lo[d] * strides[d]);
    return ar_source_read(source, lo, hi, (char *)first, is_dense(&r) ? NULL : strides, 1, err);
}

arras_status ar_chunk_cache_ahead(ar_chunk_cache *cache, ar_source *source, const int64_t *lo,
                                  const int64_t *hi, int64_t calls, arras_error *err)
{
    reading      r = { .cache = cache, .source = source };
    arras_status status = ar_box_check(&r.box, &source->info, source->name, lo, hi, err);

    if (status != ARRAS_OK || ar_box_is_empty(&r.box) || source->type->read_box)
        return status;
    return read_chunks(&r, calls, err);
}
