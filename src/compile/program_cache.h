/* program_cache.h -- programs that were compiled before, by this process or another: what became of
 * them before their kernels were built is on disk, beside the kernels.  Internal to compile/. */
#ifndef AR_PROGRAM_CACHE_H
#define AR_PROGRAM_CACHE_H

#include "compile/compile.h"

/* Sources of a program are cut into so many translation units. */
enum { AR_MOST_UNITS = 16 };

/* One program on its way.  Points into itself: it stays where it was opened. */
typedef struct {
    const ar_compilation *compilation;
    ar_text          machine; /* what generated text depends on besides the program */
    ar_bytes         parts[4];
    ar_key           key;
    ar_disk          disk;
    ar_text          bytes; /* of the entry that was found, or of one that is to be stored */
    bool             found;
    int              nsources;
    struct ar_cached_source {
        const char *text; /* in bytes */
        bool        in_vectors;
    } sources[AR_MOST_UNITS];
} ar_program_cache;

/* Close it in any case. */
void ar_program_cache_open(ar_program_cache *kept, const ar_compilation *compilation);
void ar_program_cache_close(ar_program_cache *kept);
/* As ar_optimise; what was found is not optimised again. */
arras_status ar_program_cache_optimise(arras_graph **out, ar_decisions *decisions,
                                       ar_program_cache *kept, arras_error *err);
/* Of what was found: the sources for inputs in C order. */
arras_status ar_program_cache_sources(ar_core_parts *parts, const ar_program_cache *kept,
                                      arras_error *err);
/* What was not found, with its sources for inputs in C order. */
void ar_program_cache_store(ar_program_cache *kept, const ar_core_parts *parts);

#endif
