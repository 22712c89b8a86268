/* optimise.c -- from a recorded program to the arrays that are worth storing: every pass, in order.
 */
#include "opt/opt.h"

/* Takes the place of *g, which is freed; a pass that fails leaves it. */
static void replace(arras_graph **g, arras_graph *by)
{
    ar_graph_free(*g);
    *g = by;
}

arras_status ar_optimise(arras_graph **out, const arras_graph *recorded,
                         const ar_opt_options *options, ar_decisions *decisions, arras_error *err)
{
    arras_graph *g = NULL, *better = NULL;
    arras_status status = ar_normalise(&g, recorded, err);

    if (status == ARRAS_OK && !options->no_fusion) {
        status = ar_fuse(&better, g, err);
        if (status == ARRAS_OK)
            replace(&g, better);
    }
    (void)decisions;
    if (status == ARRAS_OK)
        *out = g;
    else
        ar_graph_free(g);
    return status;
}
