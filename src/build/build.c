/* build.c -- the way of a source to a loaded module: memory, then disk, then the compiler. */
#include "build/build.h"

#include <dlfcn.h>
#include <elf.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

typedef enum { BUILDING, READY, FAILED } module_state;

/* Linked or not. */
typedef struct {
    void      *handle;
    ar_object *object;
} code;

struct ar_module {
    ar_module   *next; /* in its bucket */
    uint64_t     hash;
    ar_text      key; /* all of it: equal hashes prove nothing */
    int64_t      references;
    module_state state;
    code         code;
    arras_error  error; /* of one that failed, for those who waited for it */
    bool         cannot_load;
};

enum { BUCKETS = 256, MOST_PARTS = 64 };

/* All modules that are loaded or being built.  The lock guards all of this and what a module holds
 * but its code; `settled` is told whenever one stops being BUILDING. */
static struct {
    pthread_mutex_t lock;
    pthread_cond_t  settled;
    ar_module      *buckets[BUCKETS];
    ar_build_stats  stats;
} modules = { .lock = PTHREAD_MUTEX_INITIALIZER, .settled = PTHREAD_COND_INITIALIZER };

static int64_t now_ns(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

/* ---- Keys ------------------------------------------------------------------------------------ */

void ar_key_put(ar_text *out, const ar_key *key)
{
    for (size_t i = 0; i < key->count; i++) {
        uint64_t length = key->parts[i].length;

        ar_text_put(out, (const char *)&length, sizeof length);
        ar_text_put(out, key->parts[i].data, key->parts[i].length);
    }
}

bool ar_key_is(const ar_key *key, const char *put, size_t length)
{
    for (size_t i = 0; i < key->count; i++) {
        const ar_bytes *part = &key->parts[i];
        uint64_t        stored;

        if (length < sizeof stored)
            return false;
        memcpy(&stored, put, sizeof stored);
        put += sizeof stored;
        length -= sizeof stored;
        if (stored != part->length || length < stored || memcmp(put, part->data, stored) != 0)
            return false;
        put += stored;
        length -= stored;
    }
    return length == 0;
}

uint64_t ar_key_hash(const ar_key *key, ar_build_hash *hash, uint64_t seed)
{
    for (size_t i = 0; i < key->count; i++)
        seed = hash(seed, key->parts[i].data, key->parts[i].length);
    return seed;
}

/* ---- Requests -------------------------------------------------------------------------------- */

/* One call of ar_build_open.  Points into itself: it stays where it was made. */
typedef struct {
    ar_build_options options; /* with the defaults this file knows */
    const char      *source;
    size_t           length;
    ar_compiler      compiler;
    ar_key           key;
    ar_bytes         parts[MOST_PARTS];
    uint64_t       counts[2]; /* of flags and libraries: where one list ends and the other starts */
    bool           cannot_load; /* what was built, without linking it */
    ar_build_stats stats;       /* what this call adds */
} request;

static bool add_part(request *r, const char *data, size_t length)
{
    if (r->key.count == MOST_PARTS)
        return false;
    r->parts[r->key.count++] = (ar_bytes){ data, length };
    return true;
}

static bool add_word(request *r, const char *word) { return add_part(r, word, strlen(word)); }

static bool add_list(request *r, const char *const *list, uint64_t *count)
{
    for (*count = 0; list && list[*count]; ++*count)
        if (!add_word(r, list[*count]))
            return false;
    return true;
}

/* The source comes first: what differs most is compared first. */
static bool make_key(request *r)
{
    uint64_t ignored;

    r->key.parts = r->parts;
    return add_part(r, r->source, r->length) && add_word(r, r->compiler.identity) &&
           add_word(r, ar_cpu_identity()) && add_word(r, arras_version()) &&
           add_word(r, r->options.generator) &&
           add_word(r, r->options.unlinked ? "-c" : "-shared") &&
           add_part(r, (const char *)r->counts, sizeof r->counts) &&
           add_list(r, ar_compiler_arguments, &ignored) &&
           add_list(r, r->options.flags, &r->counts[0]) &&
           add_list(r, r->options.libraries, &r->counts[1]);
}

static arras_status make_request(request *r, const ar_build_options *options, const char *source,
                                 size_t length, arras_error *err)
{
    arras_status status;

    if (options)
        r->options = *options;
    if (!r->options.hash)
        r->options.hash = ar_hash_bytes;
    if (!r->options.generator)
        r->options.generator = "";
    r->options.unlinked = r->options.unlinked && ar_object_is_possible();
    r->source = source;
    r->length = length;
    status = ar_compiler_find(&r->compiler, r->options.compiler, err);
    if (status)
        return status;
    if (!make_key(r))
        return ar_fail(err, ARRAS_ELIMIT,
                       "a kernel has too many flags and libraries: at most %d fit", MOST_PARTS / 2);
    return ARRAS_OK;
}

/* ---- Loading --------------------------------------------------------------------------------- */

/* The loader takes files of one name for one file, but descriptors are used again.  So each load
 * spells its path in a way of its own: a "/" or "/." for each bit of a counter. */
static void spell_path(char *out, size_t room, int fd)
{
    static atomic_uint_fast64_t loads;
    size_t                      n = (size_t)snprintf(out, room, "/proc/self/fd");

    for (uint64_t bits = atomic_fetch_add(&loads, 1) + 1; bits; bits >>= 1) {
        out[n++] = '/';
        if (bits & 1)
            out[n++] = '.';
    }
    snprintf(out + n, room - n, "/%d", fd);
}

/* From memory, whatever file it came from: what was checked is what is run, and a cache on a file
 * system that forbids running code does as well as any. */
static arras_status load_linked(code *out, const ar_text *object, arras_error *err)
{
    char path[192];
    int  fd = ar_scratch_open("arras-kernel");
    bool written = fd >= 0 && ar_write_all(fd, object->data, object->length);

    if (written) {
        spell_path(path, sizeof path, fd);
        out->handle = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    }
    if (fd >= 0)
        close(fd);
    if (out->handle)
        return ARRAS_OK;
    if (!written)
        return ar_fail(err, ARRAS_EBUILD, "no room for a kernel of %zu bytes", object->length);
    return ar_fail(err, ARRAS_EBUILD, "a compiled kernel cannot be loaded: %.400s", dlerror());
}

static arras_status load(code *out, request *r, const ar_text *object, arras_error *err)
{
    if (!r->options.unlinked)
        return load_linked(out, object, err);
    out->object = ar_object_load(object->data, object->length);
    r->cannot_load = !out->object;
    return out->object ? ARRAS_OK
                       : ar_fail(err, ARRAS_EBUILD, "a compiled kernel cannot be loaded");
}

static arras_status load_timed(code *out, request *r, const ar_text *object, arras_error *err)
{
    int64_t      start = now_ns();
    arras_status status = load(out, r, object, err);

    r->stats.load_ns += now_ns() - start;
    return status;
}

static void unload(code *c)
{
    if (c->handle)
        dlclose(c->handle);
    ar_object_free(c->object);
}

/* ---- Building -------------------------------------------------------------------------------- */

static bool build_from_disk(code *out, request *r, const ar_disk *disk)
{
    int64_t start = now_ns();
    ar_text object = { 0 };
    bool    found = ar_disk_fetch(&object, disk, &r->key);

    r->stats.cache_ns += now_ns() - start;
    found = found && load_timed(out, r, &object, NULL) == ARRAS_OK;
    r->stats.disk_hits += found;
    ar_text_free(&object);
    return found;
}

static void store(request *r, const ar_disk *disk, const ar_text *object)
{
    int64_t start = now_ns();

    if (!r->options.no_cache && !ar_disk_store(disk, &r->key, object, &r->stats.evicted))
        r->stats.unstored++;
    r->stats.cache_ns += now_ns() - start;
}

static arras_status build_from_source(code *out, request *r, const ar_disk *disk, arras_error *err)
{
    int64_t      start = now_ns();
    ar_text      object = { 0 };
    arras_status status =
        ar_compiler_run(&object, &r->compiler, &r->options, r->source, r->length, err);

    r->stats.compile_ns += now_ns() - start;
    r->stats.compiles++;
    if (!status)
        status = load_timed(out, r, &object, err);
    if (!status)
        store(r, disk, &object);
    ar_text_free(&object);
    return status;
}

static arras_status build(code *out, request *r, arras_error *err)
{
    ar_disk      disk = { .directory = -1 };
    arras_status status = ARRAS_OK;

    if (!r->options.no_cache)
        ar_disk_open(&disk, &r->options, &r->key);
    if (!build_from_disk(out, r, &disk))
        status = build_from_source(out, r, &disk, err);
    ar_disk_close(&disk);
    return status;
}

/* ---- Modules; these run with the lock held --------------------------------------------------- */

static ar_module **bucket_of(uint64_t hash) { return &modules.buckets[hash % BUCKETS]; }

static ar_module *find_module(const ar_key *key, uint64_t hash)
{
    for (ar_module *m = *bucket_of(hash); m; m = m->next)
        if (m->hash == hash && ar_key_is(key, m->key.data, m->key.length))
            return m;
    return NULL;
}

static ar_module *add_module(const ar_key *key, uint64_t hash)
{
    ar_module *m = ar_alloc(1, sizeof *m);

    if (!m)
        return NULL;
    ar_key_put(&m->key, key);
    if (m->key.failed) {
        ar_text_free(&m->key);
        ar_free(m);
        return NULL;
    }
    m->hash = hash;
    m->next = *bucket_of(hash);
    *bucket_of(hash) = m;
    return m;
}

/* One that failed is not there any more. */
static void remove_module(const ar_module *module)
{
    for (ar_module **at = bucket_of(module->hash); *at; at = &(*at)->next)
        if (*at == module) {
            *at = module->next;
            return;
        }
}

/* A process that forks while others of its threads build: the child has none of these threads, so
 * what they were building would never be settled. */
static void before_fork(void) { pthread_mutex_lock(&modules.lock); }

static void after_fork(void) { pthread_mutex_unlock(&modules.lock); }

static void after_fork_in_child(void)
{
    for (int i = 0; i < BUCKETS; i++)
        for (ar_module **at = &modules.buckets[i]; *at;)
            if ((*at)->state == BUILDING)
                *at = (*at)->next;
            else
                at = &(*at)->next;
    modules.settled = (pthread_cond_t)PTHREAD_COND_INITIALIZER;
    pthread_mutex_unlock(&modules.lock);
}

static void survive_forks(void) { pthread_atfork(before_fork, after_fork, after_fork_in_child); }

static void add_stats(const ar_build_stats *more)
{
    ar_build_stats *sum = &modules.stats;

    sum->memory_hits += more->memory_hits;
    sum->disk_hits += more->disk_hits;
    sum->compiles += more->compiles;
    sum->failures += more->failures;
    sum->unstored += more->unstored;
    sum->evicted += more->evicted;
    sum->compile_ns += more->compile_ns;
    sum->load_ns += more->load_ns;
    sum->cache_ns += more->cache_ns;
}

/* ---- The door -------------------------------------------------------------------------------- */

/* The module of a key, waited for if another thread builds it; `fresh`: it is the caller who has
 * to. NULL when there is no memory. */
static ar_module *claim(request *r, bool *fresh)
{
    uint64_t   hash = ar_key_hash(&r->key, r->options.hash, 1);
    ar_module *module;

    pthread_mutex_lock(&modules.lock);
    module = find_module(&r->key, hash);
    *fresh = !module;
    if (!module)
        module = add_module(&r->key, hash);
    if (module)
        module->references++;
    if (module && !*fresh) {
        while (module->state == BUILDING)
            pthread_cond_wait(&modules.settled, &modules.lock);
        r->stats.memory_hits += module->state == READY;
    }
    pthread_mutex_unlock(&modules.lock);
    return module;
}

static void settle(ar_module *module, code built, arras_status status, const arras_error *error)
{
    pthread_mutex_lock(&modules.lock);
    module->code = built;
    module->state = status ? FAILED : READY;
    if (status) {
        module->error = *error;
        remove_module(module);
    }
    pthread_cond_broadcast(&modules.settled);
    pthread_mutex_unlock(&modules.lock);
}

static void build_module(ar_module *module, request *r)
{
    arras_error  error;
    code         built = { NULL, NULL };
    arras_status status = build(&built, r, &error);

    module->cannot_load = r->cannot_load;
    settle(module, built, status, &error);
}

static arras_status open_module(ar_module **out, request *r, arras_error *err)
{
    bool         fresh;
    ar_module   *module = claim(r, &fresh);
    arras_status status = ARRAS_OK;

    if (!module)
        return ar_fail_memory(err, sizeof *module + r->length);
    if (fresh)
        build_module(module, r);
    if (module->state == READY) { /* settled: it changes no more */
        *out = module;
        return ARRAS_OK;
    }
    r->cannot_load = module->cannot_load;
    status = ar_fail(err, module->error.code, "%s", module->error.text);
    ar_module_close(module);
    return status;
}

static arras_status open_request(ar_module **out, request *r, arras_error *err)
{
    arras_status status = open_module(out, r, err);

    r->stats.failures = status != ARRAS_OK && !r->cannot_load;
    pthread_mutex_lock(&modules.lock);
    add_stats(&r->stats);
    pthread_mutex_unlock(&modules.lock);
    return status;
}

arras_status ar_build_open(ar_module **out, const ar_build_options *options, const char *source,
                           size_t length, arras_error *err)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    request               r = { .source = NULL };
    arras_status          status = make_request(&r, options, source, length, err);

    pthread_once(&once, survive_forks);
    if (status == ARRAS_OK)
        status = open_request(out, &r, err);
    if (r.cannot_load) { /* the linker may know how, and says why not */
        ar_build_options linked = *options;

        linked.unlinked = false;
        r = (request){ .source = NULL };
        status = make_request(&r, &linked, source, length, err);
        if (status == ARRAS_OK)
            status = open_request(out, &r, err);
    }
    return status;
}

/* A variable is a symbol, too. */
static bool is_function(void *address)
{
    Dl_info          info;
    const Elf64_Sym *symbol = NULL;

    return address && dladdr1(address, &info, (void **)&symbol, RTLD_DL_SYMENT) && symbol &&
           ELF64_ST_TYPE(symbol->st_info) == STT_FUNC;
}

void *ar_module_symbol(const ar_module *module, const char *name)
{
    void *address;

    if (module->code.object)
        return ar_object_symbol(module->code.object, name);
    address = dlsym(module->code.handle, name);
    return is_function(address) ? address : NULL;
}

void ar_module_close(ar_module *module)
{
    bool last;

    if (!module)
        return;
    pthread_mutex_lock(&modules.lock);
    last = --module->references == 0;
    if (last)
        remove_module(module);
    pthread_mutex_unlock(&modules.lock);
    if (!last)
        return;
    unload(&module->code);
    ar_text_free(&module->key);
    ar_free(module);
}

bool ar_build_has_compiler(const ar_build_options *options)
{
    ar_compiler compiler;

    return ar_compiler_find(&compiler, options ? options->compiler : NULL, NULL) == ARRAS_OK;
}

void ar_build_stats_read(ar_build_stats *out)
{
    pthread_mutex_lock(&modules.lock);
    *out = modules.stats;
    pthread_mutex_unlock(&modules.lock);
}
