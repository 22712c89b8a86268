/* plan_kit.h -- for tests of plans: the steps of a program in the text form, as they are written
 * there, since nothing is optimised.
 *
 *     if (plan_begin("input x : f64[9]\n%0 = exp(x)\noutput y = %0\n"))
 *         ... step_that_makes("y") ...
 *     plan_end(); */
#ifndef TEST_PLAN_KIT_H
#define TEST_PLAN_KIT_H

#include "notation/notation.h"
#include "opt/opt.h"
#include "plan/plan.h"
#include "test.h"

static struct {
    arras_graph *recorded, *normal;
    ar_plan      plan;
    bool         planned;
} planned;

static inline arras_status plan_make(const char *lines, arras_error *err)
{
    ar_text      text = { 0 };
    arras_status status;

    ar_text_printf(&text, "arras 1\n%s", lines);
    status = ar_read(&planned.recorded, text.data, text.length, err);
    ar_text_free(&text);
    if (status == ARRAS_OK)
        status = ar_normalise(&planned.normal, planned.recorded, err);
    if (status == ARRAS_OK)
        status = ar_plan_make(&planned.plan, planned.normal,
                              &(ar_plan_options){ .machine = ar_machine_host() }, err);
    planned.planned = status == ARRAS_OK;
    return planned.planned ? ar_plan_verify(&planned.plan, err) : status;
}

/* lines: of the text form, without the first. */
static inline bool plan_begin(const char *lines)
{
    arras_error err = { ARRAS_OK, "" };

    if (CHECK_EQ_INT(plan_make(lines, &err), ARRAS_OK))
        return true;
    printf("    %s\n%s", err.text, lines);
    return false;
}

static inline void plan_end(void)
{
    if (planned.planned)
        ar_plan_free(&planned.plan);
    ar_graph_free(planned.normal);
    ar_graph_free(planned.recorded);
    memset(&planned, 0, sizeof planned);
}

/* The array that is the output of this name; -1: there is none. */
static inline int array_of_output(const char *name)
{
    for (int i = 0; i < ar_graph_output_count(planned.normal); i++)
        for (int a = 0; strcmp(ar_graph_output(planned.normal, i)->name, name) == 0 &&
                        a < planned.plan.narrays;
             a++)
            if (planned.plan.arrays[a].at == AR_AT_OUTPUT && planned.plan.arrays[a].number == i)
                return a;
    return -1;
}

/* Its number; -1: there is none. */
static inline int step_that_makes(const char *output)
{
    int array = array_of_output(output);

    return array < 0 ? -1 : planned.plan.arrays[array].step;
}

#endif
