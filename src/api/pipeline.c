/* pipeline.c -- the map: how a recorded program becomes values, every stage called once, in order.
 */
#include "run/run.h"

#include <string.h>

arras_status arras_evaluate(arras_results **out, const arras_graph *g, int n,
                            const arras_binding *inputs, arras_error *err)
{
    if (!out || !g || n < 0 || (n > 0 && !inputs))
        return ar_fail(err, ARRAS_EINVAL,
                       "evaluate: the graph, the inputs or the place for results is NULL");
    return ar_reference_run(out, g, n, inputs, err);
}

int arras_results_count(const arras_results *r) { return r ? r->count : 0; }

const arras_binding *arras_results_at(const arras_results *r, int i)
{
    return r && i >= 0 && i < r->count ? &r->items[i] : NULL;
}

const arras_binding *arras_results_find(const arras_results *r, const char *name)
{
    for (int i = 0; r && name && i < r->count; i++)
        if (strcmp(r->items[i].name, name) == 0)
            return &r->items[i];
    return NULL;
}

void arras_results_free(arras_results *r) { ar_results_free(r); }
