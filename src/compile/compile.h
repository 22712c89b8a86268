/* compile.h -- from a recorded program to its core.  Internal to api/. */
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
} ar_recipe;

arras_status ar_recipe_new(ar_recipe **out, const arras_graph *g, const arras_options *options,
                           arras_error *err);
void         ar_recipe_free(void *recipe);

/* An ar_core_maker: every stage once, in order.  dense: NULL when all inputs are in C order. */
arras_status ar_recipe_cook(ar_core **out, void *recipe, const bool *dense, arras_error *err);
/* The core for inputs in C order, from the cache if it is there. */
arras_status ar_recipe_find(ar_core **out, bool *from_memory, ar_recipe *recipe, arras_error *err);

/* Every decision and what it gains. */
void ar_explain_print(ar_text *out, const ar_core *core, const int64_t *sizes);

#endif
