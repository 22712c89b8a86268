/* explain.c -- why a program is computed as it is: what became of every array, the kernels, and the
 * traffic that is left. */
#include "api/compile.h"

static const char *const fates[] = { [AR_FATE_INPUT] = "input",
                                     [AR_FATE_INLINED] = "inlined",
                                     [AR_FATE_STORED] = "stored",
                                     [AR_FATE_OUTPUT] = "output" };

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

static void print_array(ar_text *out, const ar_plan *plan, int number)
{
    const ar_plan_array *array = &plan->arrays[number];

    if (array->at == AR_AT_OUTPUT)
        ar_text_printf(out, "%s", ar_graph_output(plan->g, array->number)->name);
    else if (array->at == AR_AT_INPUT)
        ar_text_printf(out, "%s", array->node->name);
    else
        ar_text_printf(out, "%%%" PRId64, array->node->id);
    ar_text_add(out, ": ");
    ar_node_type_print(out, array->node);
}

static void print_nesting(ar_text *out, const ar_step *step)
{
    ar_text_printf(out,
                   "; when large, in the tiles of step %d with a halo of %" PRId64 " and %" PRId64,
                   step->inside, step->before, step->after);
    if (step->stride > 1)
        ar_text_printf(out, ", %" PRId64 " rows for each of its", step->stride);
}

static void print_steps(ar_text *out, const ar_plan *plan)
{
    ar_text_printf(out, "steps: %d, of %d different kernels\n", plan->nsteps, plan->ncodes);
    for (int s = 0; s < plan->nsteps; s++) {
        const ar_step *step = &plan->steps[s];

        ar_text_printf(out, "  %d kernel %d%s%s%s makes", s, step->code, step->flat ? ", flat" : "",
                       step->constant ? ", once" : "",
                       step->gemm ? ", by OpenBLAS when large" : "");
        for (int k = 0; k < step->form.n; k++) {
            ar_text_add(out, k ? "; " : " ");
            print_array(out, plan, step->results[k]);
        }
        ar_text_add(out, step->ninputs ? " from" : "");
        for (int k = 0; k < step->ninputs; k++) {
            ar_text_add(out, k ? "; " : " ");
            print_array(out, plan, step->inputs[k]);
        }
        if (step->inside >= 0)
            print_nesting(out, step);
        ar_text_add(out, "\n");
    }
}

void ar_explain_print(ar_text *out, const ar_core *core, const int64_t *sizes)
{
    const ar_plan *plan = ar_core_plan(core);
    ar_traffic     traffic = ar_decisions_traffic(ar_core_notes(core), plan->g, sizes);

    print_decisions(out, ar_core_notes(core));
    print_steps(out, plan);
    ar_text_printf(out,
                   "traffic: %" PRId64 " bytes if every array were stored, %" PRId64
                   " as fused, %" PRId64 " compulsory\n",
                   traffic.before, traffic.after, traffic.least);
}
