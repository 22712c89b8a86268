/* traffic.c -- the bytes that a launch moves: each array once for each band, or step that is alone,
 * that reads or writes it.  What is used within one band only stays in the cache. */
#include "plan/plan.h"

void ar_plan_insides(int *inside, const ar_plan *plan, const ar_band_place *places)
{
    for (int a = 0; a < plan->narrays; a++) {
        const ar_plan_array *array = &plan->arrays[a];

        inside[a] = array->at == AR_AT_TEMPORARY ? places[array->step].home : -1;
        if (inside[a] == array->step) /* nobody reads it in the band whose last step made it */
            inside[a] = -1;
    }
    for (int s = 0; s < plan->nsteps; s++)
        for (int k = 0; k < plan->steps[s].ninputs; k++)
            if (inside[plan->steps[s].inputs[k]] != places[s].home)
                inside[plan->steps[s].inputs[k]] = -1;
}

typedef struct {
    const int64_t *bytes;
    const int     *inside;
    int           *last; /* by array: the last band that was seen to use it */
    int64_t        sum;
} counter;

/* What is too much to be counted stays out. */
static void count(counter *c, int array, int home)
{
    int64_t sum;

    if (c->inside[array] >= 0 || c->last[array] == home || c->bytes[array] < 0 ||
        !ar_add64(&sum, c->sum, c->bytes[array]))
        return;
    c->last[array] = home;
    c->sum = sum;
}

arras_status ar_plan_traffic(int64_t *out, const ar_plan *plan, const ar_band_place *places,
                             const int64_t *bytes, arras_error *err)
{
    size_t  arrays = (size_t)plan->narrays;
    int    *inside = ar_alloc(arrays, sizeof *inside), *last = ar_alloc(arrays, sizeof *last);
    counter c = { bytes, inside, last, 0 };
    bool    room = inside && last;

    if (room)
        ar_plan_insides(inside, plan, places);
    for (int a = 0; a < plan->narrays && room; a++)
        last[a] = -1;
    for (int s = 0; s < plan->nsteps && room; s++) {
        const ar_step *step = &plan->steps[s];

        for (int k = 0; k < step->form.n && !step->constant; k++)
            count(&c, step->results[k], places[s].home);
        for (int k = 0; k < step->ninputs && !step->constant; k++)
            count(&c, step->inputs[k], places[s].home);
    }
    *out = c.sum;
    ar_free(inside);
    ar_free(last);
    return room ? ARRAS_OK : ar_fail_memory(err, arrays * sizeof *inside);
}
