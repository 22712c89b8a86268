/* compile.h -- from a recorded program to its core.  The door of compile/.  Sees base/, ir/,
 * notation/, opt/, gen/, plan/, build/ and run/. */
#ifndef AR_API_COMPILE_H
#define AR_API_COMPILE_H

#include "opt/opt.h"
#include "run/run.h"

/* What a program is made of: kept as long as it may need another core. */
typedef struct {
    const arras_graph *g; /* a snapshot, its own */
    arras_options      options;
    char              *cache, *compiler; /* what options point to */
    ar_text            key; /* of the graph and the options; not of a layout */
} ar_compilation;

arras_status ar_compilation_new(ar_compilation **out, const arras_graph *g,
                                const arras_options *options, arras_error *err);
void         ar_compilation_free(void *compilation);

/* An ar_core_maker: every stage once, in order.  dense: NULL when all inputs are in C order. */
arras_status ar_compile_core(ar_core **out, void *compilation, const bool *dense, arras_error *err);
/* The core for inputs in C order, from the cache if it is there. */
arras_status ar_compile_find(ar_core **out, bool *from_memory, ar_compilation *compilation,
                             arras_error *err);

/* Every decision and what it gains. */
void ar_explain_print(ar_text *out, const ar_core *core, const int64_t *sizes);

#endif
