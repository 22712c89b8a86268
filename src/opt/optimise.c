/* optimise.c -- from a recorded program to the arrays that are worth storing: every pass, in order.
 */
#include "opt/opt.h"

/* Takes the place of *g.  Data that a graph borrows is the recorded one's. */
static void replace(arras_graph **g, arras_graph *by)
{
    ar_graph_free(*g);
    *g = by;
}

typedef struct {
    arras_status (*plain)(arras_graph **out, const arras_graph *normal, arras_error *err);
    arras_status (*telling)(arras_graph **out, const arras_graph *normal, ar_decisions *decisions,
                            arras_error *err);
} pass;

/* In this order; every one simplifies what it makes.  One that makes nothing leaves all as it is.
 */
static const pass passes[] = {
    { .plain = ar_squeeze },  { .telling = ar_gather_late }, { .telling = ar_compose },
    { .telling = ar_factor }, { .plain = ar_unroll },        { .plain = ar_split },
};

static arras_status run_pass(arras_graph **out, const pass *p, const arras_graph *normal,
                             ar_decisions *decisions, arras_error *err)
{
    return p->telling ? p->telling(out, normal, decisions, err) : p->plain(out, normal, err);
}

arras_status ar_optimise(arras_graph **out, const arras_graph *recorded,
                         const ar_opt_options *options, ar_decisions *decisions, arras_error *err)
{
    arras_graph *g = NULL, *better = NULL;
    arras_status status = ar_normalise(&g, recorded, err);

    for (size_t i = 0; i < AR_COUNT(passes) && status == ARRAS_OK; i++) {
        better = NULL;
        status = run_pass(&better, &passes[i], g, decisions, err);
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
