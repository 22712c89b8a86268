/* bench_apply.c -- a 5-point stencil on an f32 array in memory, in every way there is: a plain loop
 * in C, a function called at every cell, one called for every row, a text that is compiled, an
 * equation.
 *
 *     bench_apply [LENGTH [THREADS]]
 *
 * Each line has the best of several rounds, in which all of them take their turns, and the ratio of
 * its speed to that of the plain loop.  The loop runs on one thread.  By default so do all others,
 * and times are those of the core, so that they hold on a machine that is busy. */
#include <arras/apply.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { ROUNDS = 7, FORMS = 6 };

static int64_t     n = 8192;
static float      *field, *result;
static int         threads = 1;
static arras_error err;

static void give_up(void)
{
    fprintf(stderr, "bench_apply: %s\n", err.text);
    exit(1);
}

static double now(void)
{
    struct timespec t;

    clock_gettime(threads == 1 ? CLOCK_PROCESS_CPUTIME_ID : CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

/* ---- The same thing, in several ways --------------------------------------------------------- */

__attribute__((noinline)) static void plain(const float *restrict h, float *restrict out)
{
    for (int64_t i = 1; i < n - 1; i++)
        for (int64_t j = 1; j < n - 1; j++)
            out[(i - 1) * (n - 2) + j - 1] = 4 * h[i * n + j] - h[(i - 1) * n + j] -
                                             h[(i + 1) * n + j] - h[i * n + j - 1] -
                                             h[i * n + j + 1];
}

static void at_cell(const arras_cell *c, void *const *out)
{
    *(float *)out[0] = 4 * arras_f32_at2(c, 0, 0, 0) - arras_f32_at2(c, 0, -1, 0) -
                       arras_f32_at2(c, 0, 1, 0) - arras_f32_at2(c, 0, 0, -1) -
                       arras_f32_at2(c, 0, 0, 1);
}

static void at_row(const arras_cell *c, int64_t count, void *const *out)
{
    const float *above = (const float *)(const void *)arras_cell_near2(c, 0, -1, 0);
    const float *here = (const float *)(const void *)arras_cell_near2(c, 0, 0, 0);
    const float *left = (const float *)(const void *)arras_cell_near2(c, 0, 0, -1);
    const float *right = (const float *)(const void *)arras_cell_near2(c, 0, 0, 1);
    const float *below = (const float *)(const void *)arras_cell_near2(c, 0, 1, 0);
    float *restrict lap = out[0];

    for (int64_t x = 0; x < count; x++)
        lap[x] = 4 * here[x] - above[x] - below[x] - left[x] - right[x];
}

static const char text[] = "lap = 4 * h(0, 0) - h(-1, 0) - h(1, 0) - h(0, -1) - h(0, 1);";

/* ---- Flows ----------------------------------------------------------------------------------- */

static arras_flow *make_flow(arras_apply_spec spec)
{
    const int64_t            shape[] = { n, n }, inner[] = { n - 2, n - 2 }, one[] = { 1, 1 };
    const arras_buffer       in = { field, ARRAS_F32, 2, shape, NULL };
    const arras_buffer       to = { result, ARRAS_F32, 2, inner, NULL };
    const arras_options      options = { .threads = threads };
    const arras_apply_output output = { "lap", ARRAS_F32 };
    arras_apply_input        input = { .before = one, .after = one };
    arras_flow              *flow;
    int                      lap;

    spec.ninputs = spec.noutputs = 1;
    spec.inputs = &input;
    spec.outputs = &output;
    if (arras_flow_new(&flow, &options, 0, &err) ||
        arras_flow_input(&input.array, flow, "h", &in, &err) ||
        arras_flow_apply(&lap, flow, &spec, &err) || arras_flow_result(flow, lap, &to, &err))
        give_up();
    return flow;
}

static double run_flow(arras_apply_spec spec)
{
    arras_flow *flow = make_flow(spec);
    double      start = now(), took;

    if (arras_flow_run(NULL, flow, &err))
        give_up();
    took = now() - start;
    arras_flow_free(flow);
    return took;
}

static double run_plain(void)
{
    double start = now();

    plain(field, result);
    return now() - start;
}

static arras_program *equation(void)
{
    static const int64_t offsets[] = { 0, 0, -1, 0, 1, 0, 0, -1, 0, 1 };
    static const double  weights[] = { 4, -1, -1, -1, -1 };
    const arras_dim      shape[] = { n, n };
    const arras_options  options = { .threads = threads };
    arras_graph         *g;
    arras_program       *p;

    if (arras_graph_new(&g, &err))
        give_up();
    arras_output(
        g, "lap",
        arras_stencil(arras_placeholder(g, "h", ARRAS_F32, 2, shape), 5, offsets, weights, NULL));
    if (arras_compile(&p, g, &options, &err))
        give_up();
    arras_graph_free(g);
    return p;
}

static double run_equation(arras_program *p)
{
    const int64_t       shape[] = { n, n }, inner[] = { n - 2, n - 2 };
    const arras_binding bound[] = { { "h", { field, ARRAS_F32, 2, shape, NULL } },
                                    { "lap", { result, ARRAS_F32, 2, inner, NULL } } };
    double              start = now();

    if (arras_launch(NULL, p, 2, bound, &err))
        give_up();
    return now() - start;
}

/* ---- In turns -------------------------------------------------------------------------------- */

static uint64_t checksum(void)
{
    uint64_t sum = 0;

    for (int64_t i = 0; i < (n - 2) * (n - 2); i++) {
        uint32_t bits;

        memcpy(&bits, &result[i], sizeof bits);
        sum = sum * 31 + bits;
    }
    return sum;
}

static double run_form(int form, arras_program *p)
{
    switch (form) {
    case 0: return run_plain();
    case 1: return run_flow((arras_apply_spec){ .cell = at_cell });
    case 2: return run_flow((arras_apply_spec){ .row = at_row });
    case 3: return run_flow((arras_apply_spec){ .text = text });
    case 4: return run_equation(p);
    default: {
        double start = now();

        memcpy(result, field, (size_t)((n - 2) * (n - 2)) * sizeof *result);
        return now() - start;
    }
    }
}

int main(int argc, char **argv)
{
    static const char *const names[FORMS] = {
        "plain C", "cell", "row", "text", "equation", "memcpy"
    };
    double         best[FORMS];
    uint64_t       sum[FORMS];
    arras_program *p;

    n = argc > 1 ? atoll(argv[1]) : n;
    threads = argc > 2 ? atoi(argv[2]) : threads;
    field = n >= 3 ? malloc((size_t)(n * n) * sizeof *field) : NULL;
    result = n >= 3 ? malloc((size_t)(n * n) * sizeof *result) : NULL;
    if (!field || !result)
        return fprintf(stderr, "bench_apply [LENGTH [THREADS]]: no array of that length\n"), 2;
    for (int64_t i = 0; i < n * n; i++)
        field[i] = (float)(i * 2654435761u % 1000) / 8;
    p = equation();
    for (int round = 0; round < ROUNDS; round++)
        for (int form = 0; form < FORMS; form++) {
            double took = run_form(form, p);

            best[form] = round == 0 || took < best[form] ? took : best[form];
            sum[form] = checksum();
        }
    for (int form = 0; form < FORMS; form++)
        printf("%-9s %8.1f ms %8.0f Mcell/s %6.2f of plain C%s\n", names[form], best[form] * 1e3,
               (double)(n - 2) * (double)(n - 2) / best[form] / 1e6, best[0] / best[form],
               form < 4 && sum[form] != sum[0] ? "  DIFFERENT BITS" : "");
    arras_program_free(p);
    free(field);
    free(result);
    return 0;
}
