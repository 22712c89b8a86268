/* print_plan.c -- the steps of a plan as text: for explain, for ARRAS_DEBUG and for tests. */
#include "plan/plan.h"

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

static void print_arrays(ar_text *out, const ar_plan *plan, int n, const int *numbers)
{
    for (int k = 0; k < n; k++) {
        ar_text_add(out, k ? "; " : " ");
        print_array(out, plan, numbers[k]);
    }
}

static void print_band(ar_text *out, const ar_band_place *place)
{
    ar_text_printf(out, "; when large, tile by tile with step %d", place->home);
    if (place->before + place->after > 0)
        ar_text_printf(out, ", a halo of %" PRId64 " and %" PRId64, place->before, place->after);
    if (place->stride > 1)
        ar_text_printf(out, ", %" PRId64 " rows for each of its", place->stride);
}

static void print_step(ar_text *out, const ar_plan *plan, const ar_step *step)
{
    if (step->scan)
        ar_text_printf(out, "scan along axis %" PRId64 "%s makes", step->scan->ints[1],
                       step->constant ? ", once" : "");
    else
        ar_text_printf(out, "kernel %d%s%s%s makes", step->code, step->nest.flat ? ", flat" : "",
                       step->constant ? ", once" : "", step->gemm ? ", in blocks when large" : "");
    print_arrays(out, plan, step->form.n, step->results);
    ar_text_add(out, step->ninputs ? " from" : "");
    print_arrays(out, plan, step->ninputs, step->inputs);
}

void ar_plan_print(ar_text *out, const ar_plan *plan, const ar_band_place *places)
{
    ar_text_printf(out, "steps: %d, of %d different kernels\n", plan->nsteps, plan->ncodes);
    for (int s = 0; s < plan->nsteps; s++) {
        ar_text_printf(out, "  %d ", s);
        print_step(out, plan, &plan->steps[s]);
        if (places && places[s].home != s)
            print_band(out, &places[s]);
        ar_text_add(out, "\n");
    }
}
