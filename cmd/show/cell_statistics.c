/* cell_statistics.c -- statistics of the cells of an array. */
#include "cmd/show/cell_statistics.h"

#include <math.h>
#include <string.h>

#include "cmd/interrupt.h"
#include "cmd/progress.h"

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

/* Sums are taken in f64 whatever the type. */
static void record(arras_array x, bool is_complex)
{
    arras_graph *g = arras_array_graph(x);

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
    arras_dim      n = arras_size(g, "n"); /* one axis, whatever there are: one program for all */
    arras_program *p;

    record(arras_placeholder(g, "x", a->dtype, 1, &n), s->of_sizes);
    arras_status status = cmd_compile(&p, g, &options, err);
    if (status != ARRAS_OK)
        return status;
    status = run(s, a, p, cells, err);
    arras_program_free(p);
    return status;
}

static cmd_statistics statistics_for(arras_dtype dtype)
{
    bool is_complex = dtype == ARRAS_C64 || dtype == ARRAS_C128;

    return (cmd_statistics){ .of_sizes = is_complex,
                             .dtype = dtype == ARRAS_C64    ? ARRAS_F32
                                      : dtype == ARRAS_C128 ? ARRAS_F64
                                                            : dtype };
}

bool cmd_statistics_of(cmd_statistics *out, const cmd_array *a, cmd_error *err)
{
    int64_t        cells = cmd_array_count(a);
    cmd_statistics s = statistics_for(a->dtype);
    arras_error    why;
    arras_graph   *g;

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

/* ---- In files -------------------------------------------------------------------------------- */

static double part_done(const void *stream) { return arras_stream_progress(stream); }

static void take(const arras_results *results, const char *name, void *to)
{
    const arras_buffer *b = &arras_results_find(results, name)->buffer;

    memcpy(to, b->data, arras_dtype_size(b->dtype));
}

static arras_status run_stored(cmd_statistics *s, arras_program *p, arras_source *source,
                               arras_error *err)
{
    arras_stored         x = { "x", source, NULL };
    arras_stream_options options = { .memory = arras_memory_available() / 2 };
    arras_results       *results = NULL;
    arras_stream        *stream;
    arras_status         status = arras_stream_start(&stream, p, 0, NULL, 1, &x, &options, err);

    if (status != ARRAS_OK)
        return status;
    cmd_progress_ask(part_done, stream);
    status = arras_stream_wait(&results, stream, err);
    cmd_progress_ask(NULL, NULL);
    arras_stream_free(stream);
    if (status != ARRAS_OK)
        return status;
    take(results, "least", s->least);
    take(results, "most", s->most);
    take(results, "nans", &s->nans);
    take(results, "infs", &s->infs);
    take(results, "mean", &s->mean);
    take(results, "std", &s->std);
    arras_results_free(results);
    return ARRAS_OK;
}

static arras_status compute_stored(cmd_statistics *s, arras_source *source, arras_graph *g,
                                   arras_error *err)
{
    const arras_store_info *info = arras_source_info(source);
    arras_program          *p;

    record(arras_placeholder(g, "x", info->dtype, info->rank, info->shape), s->of_sizes);
    arras_status status = cmd_compile(&p, g, NULL, err);
    if (status != ARRAS_OK)
        return status;
    status = run_stored(s, p, source, err);
    arras_program_free(p);
    return status;
}

bool cmd_statistics_of_stored(cmd_statistics *out, arras_source *source, cmd_error *err)
{
    const arras_store_info *info = arras_source_info(source);
    cmd_statistics          s = statistics_for(info->dtype);
    arras_error             why;
    arras_graph            *g;
    arras_status            status = arras_graph_new(&g, &why);

    cmd_progress_stage("reading all cells", 0);
    if (status == ARRAS_OK) {
        status = compute_stored(&s, source, g, &why);
        arras_graph_free(g);
    }
    if (status != ARRAS_OK)
        return cmd_fail(err, "%s", why.text);
    s.count = 1;
    for (int d = 0; d < info->rank; d++)
        s.count *= info->shape[d];
    s.count -= s.nans + s.infs;
    *out = s;
    return true;
}
