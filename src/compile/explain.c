/* explain.c -- why a program is computed as it is: what became of every array, the kernels, and the
 * traffic that is left. */
#include "compile/compile.h"

static const char *const fates[] = { [AR_FATE_INPUT] = "input",
                                     [AR_FATE_INLINED] = "inlined",
                                     [AR_FATE_STORED] = "stored",
                                     [AR_FATE_OUTPUT] = "output" };

static void print_changes(ar_text *out, const ar_decisions *d)
{
    if (d->nchanges > 0)
        ar_text_add(out, "order of operations\n");
    for (size_t i = 0; i < d->nchanges; i++)
        ar_text_printf(out, "  %s\n", d->changes[i]);
}

static void print_decisions(ar_text *out, const ar_decisions *d)
{
    ar_text_add(out, "arrays\n");
    for (size_t i = 0; i < d->count; i++) {
        const ar_decision *item = &d->items[i];

        ar_text_printf(out, "  %-8s %-28s", fates[item->fate], item->what);
        if (item->fate != AR_FATE_INPUT)
            ar_text_printf(out, " %4" PRId64 " operations, %g reads of a cell", item->operations,
                           item->reads);
        if (item->reason)
            ar_text_printf(out, ": %s", item->reason);
        ar_text_add(out, "\n");
    }
}

/* -1 when it is not known. */
static int64_t array_bytes(arras_array x, const int64_t *sizes)
{
    int64_t bytes = (int64_t)ar_dtype_size(x->type.dtype), length;

    for (int axis = 0; axis < x->rank; axis++) {
        length = x->shape[axis];
        if ((ar_dim_symbolic(length) &&
             (!sizes || ar_dim_value(&length, x->graph, length, sizes, NULL) != ARRAS_OK)) ||
            !ar_mul64(&bytes, bytes, length))
            return -1;
    }
    return bytes;
}

static void print_tiled_traffic(ar_text *out, const ar_plan *plan, const ar_band_place *places,
                                const int64_t *sizes)
{
    int64_t *bytes = ar_alloc((size_t)plan->narrays, sizeof *bytes), moved = 0;

    for (int a = 0; a < plan->narrays && bytes; a++)
        bytes[a] = array_bytes(plan->arrays[a].node, sizes);
    if (!bytes || ar_plan_traffic(&moved, plan, places, bytes, NULL) != ARRAS_OK)
        out->failed = true;
    ar_text_printf(out, ", %" PRId64 " tile by tile", moved);
    ar_free(bytes);
}

void ar_explain_print(ar_text *out, const ar_core *core, const int64_t *sizes)
{
    const ar_plan *plan = ar_core_plan(core);
    ar_traffic     traffic = ar_decisions_traffic(ar_core_notes(core), plan->g, sizes);
    ar_band_place *places = ar_alloc((size_t)plan->nsteps, sizeof *places);
    bool          *alone = ar_alloc((size_t)plan->nsteps, sizeof *alone);

    if (!places || !alone || ar_plan_bands(places, plan, alone, NULL) != ARRAS_OK) {
        out->failed = true;
    } else {
        print_changes(out, ar_core_notes(core));
        print_decisions(out, ar_core_notes(core));
        ar_plan_print(out, plan, places);
        ar_text_printf(
            out, "traffic: %" PRId64 " bytes if every array were stored, %" PRId64 " as fused",
            traffic.before, traffic.after);
        print_tiled_traffic(out, plan, places, sizes);
        ar_text_printf(out, ", %" PRId64 " compulsory\n", traffic.least);
    }
    ar_free(places);
    ar_free(alone);
}
