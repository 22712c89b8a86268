/* build.h -- C source becomes code that can be called: one translation unit, one object.
 *
 * What is loaded already is shared, what was built before comes from a cache on disk, the rest goes
 * to the C compiler.  Every function here may be called from several threads at once.
 * Sees base/ only. */
#ifndef AR_BUILD_H
#define AR_BUILD_H

#include "base/base.h"

/* ---- Modules (build.c) ----------------------------------------------------------------------- */

typedef struct ar_module ar_module;

typedef uint64_t ar_build_hash(uint64_t seed, const void *bytes, size_t length);

/* Zero, or a NULL pointer to all of it, means the default throughout.  Lists end with NULL. */
typedef struct {
    const char        *compiler;    /* name or path; $ARRAS_CC, else cc.  No arguments, no shell */
    const char *const *flags;       /* after the standard ones, so that they win */
    const char *const *libraries;   /* "-lm", "-lmvec"; nothing is linked that is not named */
    const char        *generator;   /* the version of what wrote the source */
    const char        *cache;       /* directory; $ARRAS_CACHE_DIR, else arras in XDG's place */
    int64_t            cache_limit; /* bytes; 256 MiB */
    int64_t            timeout_ms;  /* of the compiler; two minutes */
    bool               no_cache;    /* neither reads nor writes the cache on disk */
    /* Loaded without a linker where that can be done, which is faster: for code that needs nothing
     * but the C library, its mathematics and the compiler's own functions.  Otherwise linked. */
    bool           unlinked;
    ar_build_hash *hash; /* for tests, to make keys collide; ar_hash_bytes */
} ar_build_options;

/* Builds, or finds, the module of a source.  Close it once for each time it was opened; its code
 * leaves memory with the last.  Threads that ask for one source at the same time build it once. */
arras_status ar_build_open(ar_module **out, const ar_build_options *options, const char *source,
                           size_t length, arras_error *err);
void        *ar_module_symbol(const ar_module *module, const char *name); /* NULL: none */
void         ar_module_close(ar_module *module);                          /* NULL is fine */

/* Whether there is a compiler at all: without one the caller has to do without kernels. */
bool ar_build_has_compiler(const ar_build_options *options);

/* Since the process started. */
typedef struct {
    int64_t memory_hits, disk_hits, compiles;
    int64_t failures; /* calls that gave an error */
    int64_t unstored; /* compiled, but the cache could not be written: it will be compiled again */
    int64_t evicted;  /* files removed to keep the cache within its limit */
    int64_t compile_ns, load_ns, cache_ns;
} ar_build_stats;

void ar_build_stats_read(ar_build_stats *out);

/* ---- Keys: all that decides what code comes out ---------------------------------------------- */

typedef struct {
    const char *data;
    size_t      length;
} ar_bytes;

/* Equal keys have equal parts, one by one.  Borrows them. */
typedef struct {
    ar_bytes *parts;
    size_t    count;
} ar_key;

void     ar_key_put(ar_text *out, const ar_key *key); /* each part with its length before it */
bool     ar_key_is(const ar_key *key, const char *put, size_t length);
uint64_t ar_key_hash(const ar_key *key, ar_build_hash *hash, uint64_t seed);

/* ---- Which compiler, which machine (toolchain.c) --------------------------------------------- */

enum { AR_COMPILER_PATH = 1024 };

typedef struct {
    char path[AR_COMPILER_PATH];
    char identity[AR_COMPILER_PATH + 128]; /* path, size and time of change */
} ar_compiler;

/* EINVAL when there is none.  The last answer is remembered, so that to look it up costs nothing;
 * a compiler that is replaced meanwhile is noticed when another was asked for in between. */
arras_status ar_compiler_find(ar_compiler *out, const char *name, arras_error *err);
void         ar_compiler_forget(void);
/* What -march=native depends on, as a short text. */
const char *ar_cpu_identity(void);

/* ---- The compiler (compiler.c) --------------------------------------------------------------- */

extern const char *const ar_compiler_arguments[]; /* those that are always there */

/* Runs it with the source as its standard input and appends the object to `object`: a shared one,
 * or as options->unlinked says one that is not linked. */
arras_status ar_compiler_run(ar_text *object, const ar_compiler *compiler,
                             const ar_build_options *options, const char *source, size_t length,
                             arras_error *err);

/* A file with no name, gone when closed; its descriptor is not 0, 1 or 2.  -1: not to be had. */
int  ar_scratch_open(const char *label);
bool ar_write_all(int fd, const void *bytes, size_t length); /* from the start of a file */
bool ar_read_all(ar_text *out, int fd); /* appends all there is from the current place on */

/* ---- Objects that are not linked (object.c) -------------------------------------------------- */

typedef struct ar_object ar_object;

bool ar_object_is_possible(void); /* on this kind of machine */
/* NULL: it has something that is not known, needs a function that is nowhere, or memory. */
ar_object *ar_object_load(const char *bytes, size_t length);
void      *ar_object_symbol(const ar_object *object, const char *name); /* NULL: none */
void       ar_object_free(ar_object *object);                           /* NULL is fine */

/* ---- The cache on disk (disk_cache.c) -------------------------------------------------------- */

typedef struct {
    int     directory; /* -1: there is none that can be used */
    int64_t limit;
    char    name[40]; /* of the file of a key */
} ar_disk;

/* EINVAL, with what to do, when nothing can be kept: the directory is not safe (others could put
 * code of theirs into it), or somebody named one that cannot be used. */
arras_status ar_disk_check(const ar_build_options *options, arras_error *err);
/* What ar_disk_check refuses is no directory. */
void ar_disk_open(ar_disk *out, const ar_build_options *options, const ar_key *key);
void ar_disk_close(ar_disk *disk);
/* Appends the object stored for a key; false when there is none, or none that is whole. */
bool ar_disk_fetch(ar_text *object, const ar_disk *disk, const ar_key *key);
/* Writes a file that is there whole or not at all, then removes the least recently used ones until
 * the limit holds.  False when it could not be written. */
bool ar_disk_store(const ar_disk *disk, const ar_key *key, const ar_text *object, int64_t *evicted);

#endif
