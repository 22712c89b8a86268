/* cell_statistics.c -- statistics of the cells of an array. */
#include "cmd/cell_statistics.h"

#include <math.h>

#include "cmd/interrupt.h"

/* Smaller arrays are not worth a kernel. */
#define SMALL_CELLS (1 << 16)

/* Cells that are not finite become `value`, which changes nothing in what follows. */
static arras_array replace_others(arras_array x, double value)
{
    arras_graph *g = arras_array_graph(x);
    arras_dtype  dtype = arras_array_dtype(x);
    bool         may_have_others = dtype == ARRAS_F32 || dtype == ARRAS_F64;

    return may_have_others ? arras_where(arras_isfinite(x), x, arras_float(g, value)) : x;
}

static arras_array sum_of(arras_array x) { return arras_sum(x, 0, NULL, false); }

static arras_array count_of(arras_array x) { return arras_count_nonzero(x, 0, NULL, false); }

/* x has one axis, of any length.  Sums are taken in f64 whatever the type. */
static void record(arras_graph *g, arras_dtype dtype, bool is_complex)
{
    arras_dim   n = arras_size(g, "n");
    arras_array x = arras_placeholder(g, "x", dtype, 1, &n);

    if (is_complex)
        x = arras_abs(x);
    arras_array count = arras_cast(count_of(arras_isfinite(x)), ARRAS_F64);
    arras_array wide = arras_cast(x, ARRAS_F64);
    arras_array mean = arras_divide(sum_of(replace_others(wide, 0)), count);
    arras_array away = replace_others(arras_subtract(wide, mean), 0);

    arras_output(g, "least", arras_min(replace_others(x, INFINITY), 0, NULL, false));
    arras_output(g, "most", arras_max(replace_others(x, -INFINITY), 0, NULL, false));
    arras_output(g, "nans", count_of(arras_isnan(x)));
    arras_output(g, "infs", count_of(arras_isinf(x)));
    arras_output(g, "mean", mean);
    arras_output(g, "std", arras_sqrt(arras_divide(sum_of(arras_multiply(away, away)), count)));
}

static arras_status run(cmd_statistics *s, const cmd_array *a, arras_program *p, int64_t cells,
                        arras_error *err)
{
    arras_binding bindings[] = {
        { "x", { a->data, a->dtype, 1, &cells, NULL } },
        { "least", { s->least, s->dtype, 0, NULL, NULL } },
        { "most", { s->most, s->dtype, 0, NULL, NULL } },
        { "nans", { &s->nans, ARRAS_I64, 0, NULL, NULL } },
        { "infs", { &s->infs, ARRAS_I64, 0, NULL, NULL } },
        { "mean", { &s->mean, ARRAS_F64, 0, NULL, NULL } },
        { "std", { &s->std, ARRAS_F64, 0, NULL, NULL } },
    };

    return arras_launch(NULL, p, sizeof bindings / sizeof *bindings, bindings, err);
}

static arras_status compute(cmd_statistics *s, const cmd_array *a, arras_graph *g, int64_t cells,
                            arras_error *err)
{
    arras_options  options = { .reference = cells < SMALL_CELLS };
    arras_program *p;

    record(g, a->dtype, s->of_sizes);
    arras_status status = cmd_compile(&p, g, &options, err);
    if (status != ARRAS_OK)
        return status;
    status = run(s, a, p, cells, err);
    arras_program_free(p);
    return status;
}

bool cmd_statistics_of(cmd_statistics *out, const cmd_array *a, cmd_error *err)
{
    int64_t        cells = cmd_array_count(a);
    cmd_statistics s = { .of_sizes = a->dtype == ARRAS_C64 || a->dtype == ARRAS_C128 };
    arras_error    why;
    arras_graph   *g;

    s.dtype = a->dtype == ARRAS_C64 ? ARRAS_F32 : a->dtype == ARRAS_C128 ? ARRAS_F64 : a->dtype;
    if (cells > 0) {
        arras_status status = arras_graph_new(&g, &why);

        if (status == ARRAS_OK) {
            status = compute(&s, a, g, cells, &why);
            arras_graph_free(g);
        }
        if (status != ARRAS_OK)
            return cmd_fail(err, "%s", why.text);
    }
    s.count = cells - s.nans - s.infs;
    *out = s;
    return true;
}
