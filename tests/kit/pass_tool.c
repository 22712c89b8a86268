/* pass_tool.c -- what one stage makes of programs in the text form: pass_tool STAGE < programs;
 * each program in and each outcome out ends with a line `=>`.  For passes.py. */
#include "notation/notation.h"
#include "opt/opt.h"
#include "plan/plan.h"

#include <stdio.h>
#include <string.h>

typedef arras_status stage_of(arras_graph **out, const arras_graph *normal, arras_error *err);

static arras_status gather_late(arras_graph **out, const arras_graph *normal, arras_error *err)
{
    return ar_gather_late(out, normal, NULL, err);
}

static arras_status compose(arras_graph **out, const arras_graph *normal, arras_error *err)
{
    return ar_compose(out, normal, NULL, err);
}

static arras_status factor(arras_graph **out, const arras_graph *normal, arras_error *err)
{
    return ar_factor(out, normal, NULL, err);
}

static arras_status nothing(arras_graph **out, const arras_graph *normal, arras_error *err)
{
    (void)out, (void)normal, (void)err;
    return ARRAS_OK;
}

static arras_status optimise(arras_graph **out, const arras_graph *normal, arras_error *err)
{
    return ar_optimise(out, normal, NULL, NULL, err);
}

typedef arras_status print_of(ar_text *out, arras_graph *g, arras_error *err);

static arras_status print_graph(ar_text *out, arras_graph *g, arras_error *err)
{
    return ar_print(out, g, false, err);
}

static arras_status print_nests(ar_text *out, arras_graph *g, arras_error *err)
{
    ar_plan      plan;
    arras_status status =
        ar_plan_make(&plan, g, &(ar_plan_options){ .machine = ar_machine_host() }, err);

    if (status != ARRAS_OK)
        return status;
    for (int s = 0; s < plan.nsteps; s++) {
        ar_nest_print(out, &plan.steps[s].nest, &plan.steps[s].form);
        ar_text_add(out, "\n");
    }
    ar_plan_free(&plan);
    return ARRAS_OK;
}

/* The kernels of all steps, without what stands before them. */
static arras_status print_items(ar_text *out, arras_graph *g, const char *dialect, arras_error *err)
{
    static ar_op_set used;
    ar_plan          plan;
    arras_status     status =
        ar_plan_make(&plan, g, &(ar_plan_options){ .machine = ar_machine_host() }, err);

    if (status != ARRAS_OK)
        return status;
    memset(&used, 0, sizeof used);
    for (int s = 0; s < plan.nsteps && status == ARRAS_OK; s++)
        status = ar_items_print(out, &used, ar_dialect_find(dialect), &plan.steps[s].form,
                                &plan.steps[s].nest, "kernel", err);
    ar_plan_free(&plan);
    return status;
}

static arras_status print_plain(ar_text *out, arras_graph *g, arras_error *err)
{
    return print_items(out, g, "plain", err);
}

static arras_status print_opencl(ar_text *out, arras_graph *g, arras_error *err)
{
    return print_items(out, g, "opencl", err);
}

static arras_status print_plan(ar_text *out, arras_graph *g, arras_error *err)
{
    ar_plan        plan;
    ar_band_place *places = NULL;
    bool          *alone = NULL;
    arras_status   status =
        ar_plan_make(&plan, g, &(ar_plan_options){ .machine = ar_machine_host() }, err);

    if (status != ARRAS_OK)
        return status;
    places = ar_alloc((size_t)plan.nsteps, sizeof *places);
    alone = ar_alloc((size_t)plan.nsteps, sizeof *alone);
    status = places && alone ? ar_plan_bands(places, &plan, alone, err) : ARRAS_ENOMEM;
    if (status == ARRAS_OK)
        ar_plan_print(out, &plan, places);
    ar_free(places);
    ar_free(alone);
    ar_plan_free(&plan);
    return status;
}

/* Each takes a normal form.  One that makes nothing leaves all as it is. */
typedef struct {
    const char *name;
    stage_of   *run;
    print_of   *print;
} stage;

static const stage stages[] = {
    { "normalise", nothing, print_graph },
    { "simplify", ar_simplify, print_graph },
    { "squeeze", ar_squeeze, print_graph },
    { "gather_late", gather_late, print_graph },
    { "compose", compose, print_graph },
    { "factor", factor, print_graph },
    { "unroll", ar_unroll, print_graph },
    { "split", ar_split, print_graph },
    { "fuse", ar_fuse, print_graph },
    { "optimise", optimise, print_graph },
    { "plan", optimise, print_plan },
    { "nest", optimise, print_nests },
    { "items_plain", ar_simplify, print_plain },
    { "items_opencl", ar_simplify, print_opencl },
};

static arras_status run(ar_text *out, const stage *s, const arras_graph *program, arras_error *err)
{
    arras_graph *normal = NULL, *made = NULL, *last;
    arras_status status = ar_normalise(&normal, program, err);

    if (status == ARRAS_OK)
        status = s->run(&made, normal, err);
    last = made ? made : normal;
    if (status == ARRAS_OK)
        status = ar_graph_verify(last, true, err);
    if (status == ARRAS_OK)
        status = s->print(out, last, err);
    ar_graph_free(made);
    ar_graph_free(normal);
    return status;
}

static void answer(const stage *s, const ar_text *text)
{
    arras_graph *program = NULL;
    arras_error  err = { ARRAS_OK, "" };
    ar_text      out = { 0 };
    arras_status status = ar_read(&program, text->data, text->length, &err);

    if (status == ARRAS_OK)
        status = run(&out, s, program, &err);
    if (status == ARRAS_OK)
        fputs(out.data, stdout);
    else
        printf("error: %s\n", err.text);
    puts("=>");
    ar_text_free(&out);
    ar_graph_free(program);
}

static void answer_all(const stage *s)
{
    char    line[4096];
    ar_text text = { 0 };

    while (fgets(line, sizeof line, stdin)) {
        if (strcmp(line, "=>\n") != 0) {
            ar_text_add(&text, line);
            continue;
        }
        answer(s, &text);
        ar_text_cut(&text, 0);
    }
    ar_text_free(&text);
}

int main(int argc, char **argv)
{
    for (size_t i = 0; argc == 2 && i < AR_COUNT(stages); i++)
        if (strcmp(stages[i].name, argv[1]) == 0) {
            answer_all(&stages[i]);
            return 0;
        }
    fprintf(stderr, "pass_tool STAGE: no stage '%s'\n", argc > 1 ? argv[1] : "");
    return 1;
}
