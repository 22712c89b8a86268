/* optimise.c -- from a recorded program to the arrays that are worth storing: every pass, in order.
 */
#include "notation/notation.h"
#include "opt/opt.h"

/* Takes the place of *g.  Data that a graph borrows is the recorded one's. */
static void replace(arras_graph **g, arras_graph *by)
{
    ar_graph_free(*g);
    *g = by;
}

typedef struct {
    const char *name;
    arras_status (*plain)(arras_graph **out, const arras_graph *normal, arras_error *err);
    arras_status (*telling)(arras_graph **out, const arras_graph *normal, ar_decisions *decisions,
                            arras_error *err);
} pass;

/* In this order; every one simplifies what it makes.  One that makes nothing leaves all as it is.
 */
static const pass passes[] = {
    { "squeeze", .plain = ar_squeeze },   { "gather_late", .telling = ar_gather_late },
    { "compose", .telling = ar_compose }, { "factor", .telling = ar_factor },
    { "unroll", .plain = ar_unroll },     { "split", .plain = ar_split },
};

static arras_status run_pass(arras_graph **out, const pass *p, const arras_graph *normal,
                             ar_decisions *decisions, arras_error *err)
{
    return p->telling ? p->telling(out, normal, decisions, err) : p->plain(out, normal, err);
}

static void show(const char *stage, const arras_graph *g)
{
    ar_text text = { 0 };

    if (ar_print(&text, g, true, NULL) == ARRAS_OK)
        ar_debug_show(stage, &text);
    ar_text_free(&text);
}

/* Between two passes: what was made is shown where that is asked for, and must hold. */
static arras_status look(const char *stage, char letter, const arras_graph *g, bool normal,
                         arras_error *err)
{
    arras_error why;

    if (ar_debug(letter))
        show(stage, g);
    if (!ar_debug_verifies())
        return ARRAS_OK;
    arras_status status = ar_graph_verify(g, normal, &why);

    return status == ARRAS_OK ? status : ar_fail(err, status, "after %s: %s", stage, why.text);
}

arras_status ar_optimise(arras_graph **out, const arras_graph *recorded,
                         const ar_opt_options *options, ar_decisions *decisions, arras_error *err)
{
    arras_graph *g = NULL, *better = NULL;
    arras_status status = look("record", 'r', recorded, false, err);

    if (status == ARRAS_OK)
        status = ar_normalise(&g, recorded, err);
    if (status == ARRAS_OK)
        status = look("normalise", 'n', g, true, err);
    for (size_t i = 0; i < AR_COUNT(passes) && status == ARRAS_OK; i++) {
        better = NULL;
        status = run_pass(&better, &passes[i], g, decisions, err);
        if (better)
            replace(&g, better);
        if (status == ARRAS_OK && better)
            status = look(passes[i].name, 'o', g, true, err);
    }
    better = NULL;
    if (status == ARRAS_OK)
        status = ar_fuse_with(&better, g, options, decisions, err);
    if (status == ARRAS_OK)
        status = look("fuse", 'f', better, true, err);
    if (status == ARRAS_OK)
        *out = better;
    else
        ar_graph_free(better);
    ar_graph_free(g);
    return status;
}
