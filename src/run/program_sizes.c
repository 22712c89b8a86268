/* program_sizes.c -- what there is to know of a program before it has any memory. */
#include "run/program.h"

arras_status ar_core_check_bound(const ar_core *core, const ar_inputs *inputs, arras_error *err)
{
    for (int a = 0; a < core->plan.narrays; a++) {
        arras_array node = core->plan.arrays[a].node;
        ar_text     text = { 0 };

        if (core->plan.arrays[a].at != AR_AT_INPUT || ar_inputs_find(inputs, node))
            continue;
        ar_fail(err, ARRAS_ENAME, "input %s is not bound", ar_describe(&text, node));
        ar_text_free(&text);
        return ARRAS_ENAME;
    }
    return ARRAS_OK;
}

arras_status ar_program_solve(int64_t *sizes, const arras_program *p, int n,
                              const arras_binding *inputs, arras_error *err)
{
    const ar_core *core = ar_program_core(p);
    ar_inputs      bound;
    arras_status   status = ar_inputs_open(&bound, core->optimised, n, inputs, err);

    if (status == ARRAS_OK)
        status = ar_core_check_bound(core, &bound, err);
    if (status == ARRAS_OK)
        memcpy(sizes, bound.sizes, (size_t)ar_size_count(core->optimised) * sizeof *sizes);
    ar_inputs_close(&bound);
    return status;
}

const arras_graph *ar_core_graph(const ar_core *core) { return core->optimised; }
ar_pool           *ar_program_pool(const arras_program *p) { return p->pool; }
int64_t            ar_program_tile_bytes(const arras_program *p) { return p->tile_bytes; }
const void        *ar_program_data(const arras_program *p, int number) { return p->data[number]; }
