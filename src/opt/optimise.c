/* optimise.c -- from a recorded program to the arrays that are worth storing: every pass, in order.
 */
#include "opt/opt.h"

/* Takes the place of *g.  Data that a graph borrows is the recorded one's. */
static void replace(arras_graph **g, arras_graph *by)
{
    ar_graph_free(*g);
    *g = by;
}

typedef arras_status pass_function(arras_graph **out, const arras_graph *normal, arras_error *err);

/* In this order; every one simplifies what it makes.  One that makes nothing leaves all as it is.
 */
static pass_function *const passes[] = { ar_squeeze, ar_gather_late, ar_compose,
                                         ar_factor,  ar_unroll,      ar_split };

arras_status ar_optimise(arras_graph **out, const arras_graph *recorded,
                         const ar_opt_options *options, ar_decisions *decisions, arras_error *err)
{
    arras_graph *g = NULL, *better = NULL;
    arras_status status = ar_normalise(&g, recorded, err);

    for (size_t i = 0; i < AR_COUNT(passes) && status == ARRAS_OK; i++) {
        better = NULL;
        status = passes[i](&better, g, err);
        if (better)
            replace(&g, better);
    }
    if (status == ARRAS_OK)
        status = ar_fuse_with(&better, g, options, decisions, err);
    if (status == ARRAS_OK)
        *out = better;
    ar_graph_free(g);
    return status;
}
