/* kept_program.h -- programs that were compiled before, by this process or another: what became of
 * them before their kernels were built is on disk, beside the kernels.  Internal to api/. */
#ifndef AR_API_KEPT_PROGRAM_H
#define AR_API_KEPT_PROGRAM_H

#include "compile/compile.h"

/* Sources of a program are cut into so many translation units. */
enum { AR_MOST_UNITS = 16 };

/* One program on its way.  Points into itself: it stays where it was opened. */
typedef struct {
    const ar_recipe *recipe;
    ar_text          machine; /* what generated text depends on besides the program */
    ar_bytes         parts[4];
    ar_key           key;
    ar_disk          disk;
    ar_text          bytes; /* of the entry that was found, or of one that is to be stored */
    bool             found;
    int              nsources;
    struct ar_kept_source {
        const char *text; /* in bytes */
        bool        in_vectors;
    } sources[AR_MOST_UNITS];
} ar_kept;

/* Close it in any case. */
void ar_kept_open(ar_kept *kept, const ar_recipe *recipe);
void ar_kept_close(ar_kept *kept);
/* As ar_optimise; what was found is not optimised again. */
arras_status ar_kept_optimise(arras_graph **out, ar_decisions *decisions, ar_kept *kept,
                              arras_error *err);
/* Of what was found: the sources for inputs in C order. */
arras_status ar_kept_sources(ar_core_parts *parts, const ar_kept *kept, arras_error *err);
/* What was not found, with its sources for inputs in C order. */
void ar_kept_store(ar_kept *kept, const ar_core_parts *parts);

#endif
