/* base.h -- what every room needs and no room owns: errors, memory, arenas, text, hashing, checked
 * arithmetic.  Knows no arrays.  Sees the public header (for status and error) only. */
#ifndef AR_BASE_H
#define AR_BASE_H

#include <arras/arras.h>
#include <inttypes.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#if defined(__GNUC__)
#define AR_PRINTF(at, first) __attribute__((format(printf, at, first)))
#else
#define AR_PRINTF(at, first)
#endif

#define AR_COUNT(array) (sizeof(array) / sizeof((array)[0]))

/* ---- Errors: the only way to fail, so that code and message never part ----------------------- */

/* Returns `code`.  The message is cut, never overrun; control characters become '?'. */
arras_status ar_fail(arras_error *err, arras_status code, const char *format, ...) AR_PRINTF(3, 4);
arras_status ar_vfail(arras_error *err, arras_status code, const char *format, va_list args);
arras_status ar_fail_memory(arras_error *err, size_t bytes);

/* ---- Memory ---------------------------------------------------------------------------------- */

/* NULL when there is no memory or count * size overflows.  Zeroed. */
void *ar_alloc(size_t count, size_t size);
/* Grows to count * size; on failure the old block stays. */
void *ar_realloc(void *block, size_t count, size_t size);
void  ar_free(void *block);
/* Makes room for item number `count` in a growing array; *items and *capacity change on success. */
bool ar_grow(void *items, size_t *capacity, size_t count, size_t size);
/* For tests: the n-th allocation from now (1 is the next) and all after it fail; 0 ends that. */
void    ar_alloc_fail_from(int64_t n);
int64_t ar_alloc_live(void); /* blocks not yet freed */
int64_t ar_alloc_made(void); /* by the calling thread, so far */
/* Large blocks straight from the system, on huge pages where it has them.  Zeroed.  bytes: a
 * multiple of 4096. */
void *ar_pages_alloc(size_t bytes);
void  ar_pages_free(void *block, size_t bytes);
/* Memory for arrays, kept warm (buffers.c): what is given back is taken again without the system
 * having to clear its pages, which costs several times as much as a pass over them.  At least
 * `bytes`, aligned to 64; what it holds is undefined.  NULL: no memory. */
void *ar_buffer_take(int64_t bytes);
void  ar_buffer_give(void *buffer); /* NULL is fine */
void  ar_buffers_clear(void);       /* gives back to the system what waits */
/* How much there is (free_memory.c).  Bytes that can be had before the system would have to swap or
 * end somebody: what Linux calls available, or what the limits of our control groups leave,
 * whichever is less; all that the machine and the groups have; what one may use who was told
 * nothing: half of what is available.  INT64_MAX: the system does not say. */
int64_t ar_memory_available(void);
int64_t ar_memory_whole(void);
int64_t ar_memory_fair(void);
/* For tests: /proc and /sys are below this path, which must stay. */
void ar_memory_world(const char *root);

/* ---- Stacks (stack.c) ------------------------------------------------------------------------ */

/* A thread whose stack is long enough for all that the library does; false: not to be had. */
bool ar_thread_start(pthread_t *out, void *(*run)(void *), void *context);
/* Calls it here if there is room for all that the library does, else on a thread that has it. */
bool                 ar_has_room(void);
typedef arras_status ar_roomy(void *context, arras_error *err);
arras_status         ar_with_room(ar_roomy *work, void *context, arras_error *err);

/* Copies around the caches (stream.c): the best way here.  Others see the cells after the end. */
typedef void ar_stream(char *to, const char *from, int64_t bytes);
ar_stream   *ar_streaming(void);
void         ar_stream_end(void);

/* ---- Machines (machine.c) -------------------------------------------------------------------- */

/* What work costs a core, roughly, in picoseconds.  An addition of vectors is the unit of ops.def.
 */
typedef struct {
    double operation; /* an addition, of one lane; to read a cell of the nearest cache */
    double gather;    /* to read a cell whose place is read, too */
    double jump;      /* and which is anywhere in memory, though what is there is in a cache */
    double byte_near; /* to or from a cache */
    double byte_far;  /* to or from memory */
    double kernel;    /* to have a kernel of its own */
} ar_prices;

enum { AR_CACHE_LEVELS = 3 };

/* All that decisions depend on beside the program.  A plain value: optimising, planning and
 * printing are handed one and ask nobody else. */
typedef struct {
    int       cpus;
    int       vector_registers;
    bool      masks;       /* lanes of vectors can be left out of loads and stores: AVX-512 */
    bool      wide;        /* computes with vectors of 64 bytes at full speed, not by halves */
    bool      wide_loads;  /* loads them so, too: most that are not aligned lie across two lines */
    bool      reads_ahead; /* best by itself: what it is asked for takes the places of that */
    int64_t   cache[AR_CACHE_LEVELS + 1]; /* bytes of data, by level; [0] is not used */
    ar_prices prices;
} ar_machine;

/* This one; asked once. */
const ar_machine *ar_machine_host(void);
/* Bytes of its caches, by level (cache_sizes.c). */
void ar_cache_sizes(int64_t *sizes);

/* An arena frees all it gave at once.  Zero-initialise one to start. */
typedef struct ar_arena {
    struct ar_arena_block *top;
} ar_arena;

void *ar_arena_alloc(ar_arena *arena, size_t count, size_t size); /* zeroed, 16-byte aligned */
void *ar_arena_copy(ar_arena *arena, const void *from, size_t count, size_t size);
void  ar_arena_free(ar_arena *arena);

/* ---- Text ------------------------------------------------------------------------------------ */

/* A growing string.  After a failed allocation it swallows what it is given and says so in
 * `failed`. Zero-initialise one to start; data is NULL until something is put. */
typedef struct ar_text {
    char  *data; /* NUL-terminated */
    size_t length, capacity;
    bool   failed;
} ar_text;

/* Room for so many more bytes and a NUL; false: no memory. */
bool ar_text_reserve(ar_text *text, size_t extra);
void ar_text_put(ar_text *text, const char *bytes, size_t length);
void ar_text_add(ar_text *text, const char *string);
void ar_text_printf(ar_text *text, const char *format, ...) AR_PRINTF(2, 3);
/* In double quotes, as JSON and DOT read them: " and \ get a \ before them, control characters and
 * what is not UTF-8 become '?'. */
void ar_text_add_quoted(ar_text *text, const char *string);
/* The shortest digits that read back to the same bits; nan, inf and -inf. */
void ar_text_add_real(ar_text *text, double x, bool single);
void ar_text_cut(ar_text *text, size_t length); /* to its first bytes */
void ar_text_free(ar_text *text);
/* How many edits (insert, delete, change) make b of a; for suggestions. */
int ar_text_distance(const char *a, const char *b);

/* ---- Real numbers in texts: the same in every locale of the process -------------------------- */

/* As snprintf, vsnprintf, strtod and strtof, but a point is a point.  ar_text_printf, ar_fail and
 * ar_vfail print so, too. */
int    ar_snprintf(char *out, size_t room, const char *format, ...) AR_PRINTF(3, 4);
int    ar_vsnprintf(char *out, size_t room, const char *format, va_list args);
double ar_real_read(const char *text, char **end, bool single);
/* Around calls of libraries that print or read numbers by themselves. */
typedef struct {
    void *handle;
} ar_locale;
ar_locale ar_locale_plain(void);
void      ar_locale_back(ar_locale before);

/* The letters and blanks of ASCII; those of <ctype.h> are the locale's. */
static inline bool ar_is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }
static inline bool ar_is_blank(char c) { return c == ' ' || (c >= '\t' && c <= '\r'); }

/* ---- Hashing --------------------------------------------------------------------------------- */

static inline uint64_t ar_hash_mix(uint64_t hash, uint64_t value)
{
    __extension__ typedef unsigned __int128 wide;
    wide product = (wide)(hash ^ 0x9e3779b97f4a7c15u) * (value ^ 0xd1b54a32d192ed03u);

    return (uint64_t)product ^ (uint64_t)(product >> 64);
}
uint64_t ar_hash_bytes(uint64_t hash, const void *bytes, size_t length);

/* A set of pointers found by hash and sameness.  It owns no items.  Zero-initialise one to start.
 */
typedef struct {
    struct ar_table_slot *slots;
    size_t                count, capacity; /* capacity is a power of two */
} ar_table;
typedef bool ar_same(const void *item, const void *key);

const void *ar_table_find(const ar_table *table, uint64_t hash, ar_same *same, const void *key);
bool        ar_table_add(ar_table *table, uint64_t hash, const void *item); /* false: no memory */
bool        ar_table_copy(ar_table *out, const ar_table *table);            /* false: no memory */
void        ar_table_free(ar_table *table);

/* ---- Time ------------------------------------------------------------------------------------ */

int64_t ar_clock(void); /* ns, since some moment */

/* ---- What ARRAS_DEBUG asks for (debug.c; the letters: docs/architecture.md) ------------------ */

bool ar_debug(char letter);
bool ar_debug_shows(void); /* any letter but v */
/* Whether graphs and plans are verified between passes: in debug builds, or by the letter v. */
bool ar_debug_verifies(void);
void ar_debug_show(const char *stage, const ar_text *what);

/* ---- Files ----------------------------------------------------------------------------------- */

/* Writes some of the bytes to this place of a file: how many; 0 or less: errno says why. */
int64_t ar_write_some(int fd, const void *bytes, int64_t n, int64_t at);

/* ---- Libraries (library.c) ------------------------------------------------------------------- */

/* A library that is loaded when it is needed, for as long as the process lives.  NULL: *why says
 * why it can't be, valid until the next call. */
void *ar_library_load(const char *name, const char **why);
/* Linked with -static: nothing that uses the C library can be loaded. */
bool ar_program_is_static(void);

/* ---- Checked arithmetic: true when the result fits ------------------------------------------- */

static inline bool ar_add64(int64_t *out, int64_t a, int64_t b)
{
    return !__builtin_add_overflow(a, b, out);
}
static inline bool ar_sub64(int64_t *out, int64_t a, int64_t b)
{
    return !__builtin_sub_overflow(a, b, out);
}
static inline bool ar_mul64(int64_t *out, int64_t a, int64_t b)
{
    return !__builtin_mul_overflow(a, b, out);
}
/* Of positive numbers; INT64_MAX: there is none so small. */
static inline int64_t ar_common_multiple(int64_t a, int64_t b)
{
    int64_t x = a, y = b, product;

    while (y) {
        int64_t rest = x % y;

        x = y;
        y = rest;
    }
    return ar_mul64(&product, a / x, b) ? product : INT64_MAX;
}
static inline int64_t ar_min64(int64_t a, int64_t b) { return a < b ? a : b; }
static inline int64_t ar_max64(int64_t a, int64_t b) { return a > b ? a : b; }

/* ---- Tiles (tiling.c) ------------------------------------------------------------------------ */

/* A grid of tiles, numbered in C order. */
typedef struct {
    int     rank;
    int64_t count;                 /* of boxes; 0 when there are no cells */
    int64_t shape[ARRAS_MAX_RANK]; /* of all cells */
    int64_t tile[ARRAS_MAX_RANK];  /* of one tile; those at the end may be smaller */
    int64_t tiles[ARRAS_MAX_RANK]; /* along each axis */
} ar_tiling;

/* For tiles of another's choice: counts them. */
void ar_tiling_count(ar_tiling *tiling);
void ar_tiling_box(int64_t *lo, int64_t *hi, const ar_tiling *tiling, int64_t number);

#endif
