/* dg_report.c -- what a run says: one object of JSON on a line, or a row of a table for people. */
#include "dgfem.h"

#include <math.h>
#include <stdarg.h>

arras_status dg_fail(arras_error *err, arras_status code, const char *format, ...)
{
    va_list args;

    if (err) {
        err->code = code;
        va_start(args, format);
        vsnprintf(err->text, sizeof err->text, format, args);
        va_end(args);
    }
    return code;
}

/* ---- JSON ------------------------------------------------------------------------------------ */

/* JSON has no word for infinity and for what is no number. */
static void put_number(FILE *to, double x)
{
    if (isfinite(x))
        fprintf(to, "%.17g", x);
    else
        fputs("null", to);
}

static void put_key(FILE *to, const char *key, double x)
{
    fprintf(to, ", \"%s\": ", key);
    put_number(to, x);
}

static void put_list(FILE *to, const char *key, const double *numbers, int n)
{
    fprintf(to, ", \"%s\": [", key);
    for (int i = 0; i < n; i++) {
        fputs(i ? ", " : "", to);
        put_number(to, numbers[i]);
    }
    fputs("]", to);
}

/* Of waves, half the square of the norm; of gases, the integral of the field of that name. */
static double energy(const dg_run *run, const dg_measures *m)
{
    const dg_equations *eq = run->problem->of->equations;
    double              sum = 0;

    if (eq == &dg_euler)
        return m->integrals[1];
    for (int i = 0; i < eq->fields; i++)
        sum += m->norms[i] * m->norms[i];
    return sum / 2;
}

static double ms_per_rhs(const dg_run *run)
{
    return run->rates ? 1e3 * run->seconds / (double)run->rates : NAN;
}

static void put_errors(FILE *to, const dg_run *run)
{
    if (run->problem->of->exact) {
        put_list(to, "errors", run->after.errors, run->problem->of->equations->fields);
        put_key(to, "error", run->after.error);
    } else {
        fputs(", \"errors\": null, \"error\": null", to);
    }
}

static void put_counters(FILE *to, const arras_counters *c)
{
    int64_t ns = c->optimise_ns + c->plan_ns + c->generate_ns + c->build_ns;

    fprintf(to, ", \"nodes\": %lld, \"kernels\": %lld, \"tasks\": %lld", (long long)c->nodes,
            (long long)c->kernels, (long long)c->tasks);
    fprintf(to, ", \"bytes_moved\": %lld, \"bytes_compulsory\": %lld", (long long)c->bytes_moved,
            (long long)c->bytes_compulsory);
    fprintf(to, ", \"bytes_temporary\": %lld, \"bytes_live\": %lld", (long long)c->planned,
            (long long)c->live);
    put_key(to, "compile_ms", 1e-6 * (double)ns);
    fprintf(to, ", \"from_cache\": %s", c->from_memory || c->from_disk ? "true" : "false");
}

static void put_head(FILE *to, const dg_run *run)
{
    const dg_problem   *p = run->problem;
    const dg_equations *eq = p->of->equations;
    const int64_t      *cells = p->mesh.cells;

    fprintf(to, "{\"equations\": \"%s\", \"case\": \"%s\", \"degree\": %d", eq->name, p->of->name,
            p->element.degree);
    fprintf(to, ", \"cells\": [%lld, %lld, %lld], \"elements\": %lld", (long long)cells[0],
            (long long)cells[1], (long long)cells[2], (long long)p->mesh.count);
    fputs(", \"fields\": [", to);
    for (int i = 0; i < eq->fields; i++)
        fprintf(to, "%s\"%s\"", i ? ", " : "", eq->names[i]);
    fprintf(to, "], \"steps\": %lld", (long long)run->steps);
    put_key(to, "time", p->of->end);
}

void dg_report_json(FILE *to, const dg_run *run)
{
    int fields = run->problem->of->equations->fields;

    put_head(to, run);
    put_list(to, "norms", run->after.norms, fields);
    put_errors(to, run);
    put_list(to, "integrals", run->after.integrals, fields);
    put_list(to, "integrals_before", run->before.integrals, fields);
    put_key(to, "energy", energy(run, &run->after));
    put_key(to, "energy_before", energy(run, &run->before));
    put_key(to, "ms_per_rhs", ms_per_rhs(run));
    put_counters(to, &run->counters);
    fputs("}\n", to);
}

/* ---- Tables ---------------------------------------------------------------------------------- */

static void put_titles(FILE *to, const dg_run *run)
{
    const dg_case *of = run->problem->of;

    fprintf(to, "%s %s: %s\n%6s %12s %9s %6s", of->equations->name, of->name, of->text, "degree",
            "cells", "elements", "steps");
    if (of->exact)
        fprintf(to, " %12s %6s", "error", "rate");
    for (int i = 0; i < of->equations->fields; i++)
        fprintf(to, " %11s%-2s", of->exact ? "err " : "norm ", of->equations->names[i]);
    fprintf(to, " %10s %10s\n", "ms/rhs", "energy");
}

/* How fast the error falls with the width of the cells. */
static double rate(const dg_run *run, const dg_run *coarser)
{
    double finer = (double)run->problem->mesh.cells[0] / (double)coarser->problem->mesh.cells[0];

    return log(coarser->after.error / run->after.error) / log(finer);
}

static bool follows(const dg_run *run, const dg_run *coarser)
{
    return coarser && coarser->problem->element.degree == run->problem->element.degree &&
           coarser->problem->mesh.cells[0] != run->problem->mesh.cells[0];
}

void dg_report_text(FILE *to, const dg_run *run, const dg_run *coarser)
{
    const dg_problem *p = run->problem;
    const int64_t    *cells = p->mesh.cells;
    char              box[64];

    if (!coarser)
        put_titles(to, run);
    snprintf(box, sizeof box, "%lldx%lldx%lld", (long long)cells[0], (long long)cells[1],
             (long long)cells[2]);
    fprintf(to, "%6d %12s %9lld %6lld", p->element.degree, box, (long long)p->mesh.count,
            (long long)run->steps);
    if (p->of->exact && follows(run, coarser))
        fprintf(to, " %12.6e %6.3f", run->after.error, rate(run, coarser));
    else if (p->of->exact)
        fprintf(to, " %12.6e %6s", run->after.error, "");
    for (int i = 0; i < p->of->equations->fields; i++)
        fprintf(to, " %13.6e", p->of->exact ? run->after.errors[i] : run->after.norms[i]);
    fprintf(to, " %10.3f %10.6f\n", ms_per_rhs(run), energy(run, &run->after));
}
