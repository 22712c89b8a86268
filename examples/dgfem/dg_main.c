/* dg_main.c -- the program dgfem: reads the command line, runs a case for each degree and each box
 * that was asked for, and reports. */
#include "dgfem.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { MOST_RUNS = 64, PICTURE_POINTS = 512 };

/* What can be printed of a program. */
typedef struct {
    const char        *name;
    arras_program_text form;
} printable;

static const printable texts[] = {
    { "explain", ARRAS_PROGRAM_EXPLAIN },
    { "source", ARRAS_PROGRAM_SOURCE },
    { "dot", ARRAS_PROGRAM_DOT },
    { "trace", ARRAS_PROGRAM_TRACE },
};

typedef struct {
    const dg_case   *of;
    int              ndegrees, nboxes;
    int              degrees[MOST_RUNS];
    int64_t          boxes[MOST_RUNS][3];
    int64_t          steps; /* 0: as the case says */
    bool             json;
    const char      *picture; /* NULL: none */
    const printable *print;   /* NULL: nothing */
    double           height;
    arras_options    options;
} request;

static const char usage[] =
    "usage: dgfem wave|euler [--case NAME] [--degree N,...] [--cells N,...|NXxNYxNZ,...]\n"
    "             [--steps N] [--json] [--picture FILE.npy] [--height Z]\n"
    "             [--threads N] [--no-fusion] [--print explain|source|dot|trace]\n";

/* ---- The command line ------------------------------------------------------------------------ */

static arras_status read_number(int64_t *out, const char *text, char **end, arras_error *err)
{
    errno = 0;
    *out = strtoll(text, end, 10);
    if (*end == text || errno || *out < 0 || *out > INT32_MAX)
        return dg_fail(err, ARRAS_EINVAL, "expected a number from 0 to %d before '%s'", INT32_MAX,
                       text);
    return ARRAS_OK;
}

/* 10, or 15x15x20. */
static arras_status read_box(int64_t box[3], const char *text, char **end, arras_error *err)
{
    arras_status status = read_number(&box[0], text, end, err);
    int          count = 1;

    box[1] = box[2] = box[0];
    for (; count < 3 && status == ARRAS_OK && **end == 'x'; count++)
        status = read_number(&box[count], *end + 1, end, err);
    if (status == ARRAS_OK && count == 2)
        return dg_fail(err, ARRAS_EINVAL, "cells '%s': one number, or three as in 15x15x20", text);
    return status;
}

static arras_status read_degree(int64_t box[3], const char *text, char **end, arras_error *err)
{
    return read_number(&box[0], text, end, err);
}

typedef arras_status reader(int64_t box[3], const char *text, char **end, arras_error *err);

/* Items with commas between them. */
static arras_status read_list(int *count, int64_t (*items)[3], const char *text, reader *read,
                              arras_error *err)
{
    const char *at = text;
    char       *end;

    for (*count = 0;; at = end + 1) {
        arras_status status = read(items[*count], at, &end, err);

        if (status != ARRAS_OK)
            return status;
        if (++*count == MOST_RUNS)
            return dg_fail(err, ARRAS_ELIMIT, "'%s': more than %d items", text, MOST_RUNS - 1);
        if (*end == '\0')
            return ARRAS_OK;
        if (*end != ',')
            return dg_fail(err, ARRAS_EINVAL, "'%s': expected a comma before '%s'", text, end);
    }
}

static arras_status read_degrees(request *r, const char *text, arras_error *err)
{
    int64_t      items[MOST_RUNS][3];
    arras_status status = read_list(&r->ndegrees, items, text, read_degree, err);

    for (int i = 0; i < r->ndegrees && status == ARRAS_OK; i++)
        r->degrees[i] = (int)items[i][0];
    return status;
}

static arras_status read_count(int64_t *out, const char *text, arras_error *err)
{
    char        *end;
    arras_status status = read_number(out, text, &end, err);

    if (status == ARRAS_OK && *end)
        return dg_fail(err, ARRAS_EINVAL, "'%s' is not a number", text);
    return status;
}

static arras_status read_height(double *out, const char *text, arras_error *err)
{
    char *end;

    *out = strtod(text, &end);
    if (end == text || *end || !(*out >= -0.5 && *out <= 0.5))
        return dg_fail(err, ARRAS_EINVAL, "height '%s': the box reaches from -0.5 to 0.5", text);
    return ARRAS_OK;
}

static arras_status unknown_case(const dg_equations *eq, const char *name, arras_error *err)
{
    char   names[64] = "";
    size_t length = 0;

    for (int i = 0; dg_case_at(i); i++)
        if (dg_case_at(i)->equations == eq)
            length +=
                (size_t)snprintf(names + length, sizeof names - length, " %s", dg_case_at(i)->name);
    return dg_fail(err, ARRAS_ENAME, "no case '%s' of %s; there are:%s", name, eq->name, names);
}

static arras_status read_case(request *r, const char *name, arras_error *err)
{
    const dg_equations *eq = r->of->equations;
    const dg_case      *found = dg_case_find(eq, name);

    if (!found)
        return unknown_case(eq, name, err);
    r->of = found;
    return ARRAS_OK;
}

static arras_status read_print(request *r, const char *what, arras_error *err)
{
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++)
        if (strcmp(what, texts[i].name) == 0) {
            r->print = &texts[i];
            return ARRAS_OK;
        }
    return dg_fail(err, ARRAS_EINVAL, "--print %s: there are explain, source, dot and trace", what);
}

static arras_status read_valued(request *r, const char *name, const char *value, arras_error *err)
{
    int64_t      threads = 0;
    arras_status status = ARRAS_OK;

    if (strcmp(name, "--case") == 0)
        status = read_case(r, value, err);
    else if (strcmp(name, "--degree") == 0)
        status = read_degrees(r, value, err);
    else if (strcmp(name, "--cells") == 0)
        status = read_list(&r->nboxes, r->boxes, value, read_box, err);
    else if (strcmp(name, "--steps") == 0)
        status = read_count(&r->steps, value, err);
    else if (strcmp(name, "--threads") == 0) {
        status = read_count(&threads, value, err);
        r->options.threads = (int)threads;
    } else if (strcmp(name, "--height") == 0)
        status = read_height(&r->height, value, err);
    else if (strcmp(name, "--picture") == 0)
        r->picture = value;
    else if (strcmp(name, "--print") == 0)
        status = read_print(r, value, err);
    else
        return dg_fail(err, ARRAS_ENAME, "unknown option %s\n%s", name, usage);
    return status;
}

static arras_status read_request(request *r, int argc, char **argv, arras_error *err)
{
    arras_status status = ARRAS_OK;

    *r = (request){ .ndegrees = 1, .degrees = { 3 }, .nboxes = 1, .boxes = { { 8, 8, 8 } } };
    if (argc > 1 && strcmp(argv[1], "wave") == 0)
        r->of = dg_case_find(&dg_wave, "W1");
    else if (argc > 1 && strcmp(argv[1], "euler") == 0)
        r->of = dg_case_find(&dg_euler, "E3");
    else
        return dg_fail(err, ARRAS_EINVAL, "expected wave or euler\n%s", usage);
    for (int i = 2; i < argc && status == ARRAS_OK; i++) {
        if (strcmp(argv[i], "--json") == 0)
            r->json = true;
        else if (strcmp(argv[i], "--no-fusion") == 0)
            r->options.no_fusion = true;
        else if (i + 1 == argc)
            status =
                dg_fail(err, ARRAS_EINVAL, "%s: unknown, or without its value\n%s", argv[i], usage);
        else
            status = read_valued(r, argv[i], argv[i + 1], err), i++;
    }
    return status;
}

/* ---- Runs ------------------------------------------------------------------------------------ */

static double now(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* One right-hand side, in place of the state; repeated for a while, to time it. */
static arras_status run_rates(dg_run *run, arras_program *program, dg_state *state,
                              arras_error *err)
{
    dg_state     rates;
    double       start = 0;
    arras_status status = dg_state_make(&rates, run->problem, err);

    for (run->rates = -1; status == ARRAS_OK; run->rates++) {
        if (run->rates == 0)
            start = now();
        else if (run->rates > 0 && (run->seconds = now() - start) > 0.1)
            break;
        status = dg_launch(program, run->problem, state, &rates, NULL, err);
    }
    dg_state_free(state);
    *state = rates;
    return status;
}

static arras_status run_steps(dg_run *run, arras_program *program, dg_state *state,
                              arras_error *err)
{
    double dt = run->problem->of->end / (double)run->steps;

    run->rates = 5 * (run->steps > 1 ? run->steps - 1 : 1);
    return dg_advance(program, run->problem, state, run->steps, dt, &run->seconds, err);
}

static arras_status print_program(const arras_program *p, arras_program_text form, arras_error *err)
{
    char        *printed = NULL;
    arras_status status = arras_program_print(&printed, NULL, p, form, err);

    if (status == ARRAS_OK)
        fputs(printed, stdout);
    arras_text_free(printed);
    return status;
}

/* From the initial state to the measures of what is in *state then. */
static arras_status run_program(dg_run *run, const request *r, arras_program *program,
                                dg_state *state, arras_error *err)
{
    const dg_problem *p = run->problem;
    arras_status      status = dg_state_set(state, p, 0, err);

    if (status == ARRAS_OK)
        status = dg_measure(&run->before, p, state, 0, err);
    if (status == ARRAS_OK && r->print && r->print->form == ARRAS_PROGRAM_TRACE)
        status = arras_program_trace(program, true, err);
    if (status == ARRAS_OK)
        status = p->of->one_rate ? run_rates(run, program, state, err)
                                 : run_steps(run, program, state, err);
    if (status == ARRAS_OK)
        status = dg_measure(&run->after, p, state, p->of->end, err);
    if (status == ARRAS_OK && r->picture)
        status = dg_picture(r->picture, p, state->fields[0], r->height, PICTURE_POINTS, err);
    arras_program_counters(&run->counters, program);
    if (status == ARRAS_OK && r->print)
        status = print_program(program, r->print->form, err);
    return status;
}

static arras_status run_case(dg_run *run, const request *r, dg_problem *problem, int degree,
                             const int64_t box[3], arras_error *err)
{
    dg_state       state = { { NULL } };
    arras_program *program = NULL;
    arras_status   status = dg_problem_make(problem, r->of, degree, box, err);

    *run = (dg_run){ .problem = problem };
    run->steps = r->steps && !r->of->one_rate ? r->steps : dg_case_steps(r->of, box, degree);
    if (status == ARRAS_OK)
        status = dg_state_make(&state, problem, err);
    if (status == ARRAS_OK)
        status = dg_program_compile(&program, problem, r->of->one_rate ? DG_RATES : DG_STEP,
                                    &r->options, err);
    if (status == ARRAS_OK)
        status = run_program(run, r, program, &state, err);
    if (status == ARRAS_OK && arras_program_warning(program))
        fprintf(stderr, "dgfem: %s\n", arras_program_warning(program));
    arras_program_free(program);
    dg_state_free(&state);
    return status;
}

static arras_status run_all(const request *r, arras_error *err)
{
    static dg_problem problems[2]; /* of this run and of the one before */
    static dg_run     runs[2];
    arras_status      status = ARRAS_OK;
    int               count = r->ndegrees * r->nboxes;

    for (int k = 0; k < count && status == ARRAS_OK; k++) {
        dg_run *run = &runs[k % 2];

        dg_problem_free(&problems[k % 2]);
        status = run_case(run, r, &problems[k % 2], r->degrees[k / r->nboxes],
                          r->boxes[k % r->nboxes], err);
        if (status == ARRAS_OK && r->json)
            dg_report_json(stdout, run);
        else if (status == ARRAS_OK)
            dg_report_text(stdout, run, k ? &runs[1 - k % 2] : NULL);
    }
    dg_problem_free(&problems[0]);
    dg_problem_free(&problems[1]);
    return status;
}

int main(int argc, char **argv)
{
    request      r;
    arras_error  err;
    arras_status status = read_request(&r, argc, argv, &err);

    if (status == ARRAS_OK)
        status = run_all(&r, &err);
    if (status != ARRAS_OK)
        fprintf(stderr, "dgfem: %s\n", err.text);
    return status != ARRAS_OK;
}
