/* outside_files.c -- a stranger's program: computes by a kernel, and then writes and reads HDF5.  A
 * program that is linked with -static is refused that, with a line. */
#include <arras/arras.h>
#include <arras/files.h>

#include <stdio.h>
#include <string.h>

static const int64_t shape[] = { 3 }, zero[] = { 0 };
static double        cells[] = { 0, 0, 0 };

static int fail(const char *what, const arras_error *err)
{
    fprintf(stderr, "%s: %s\n", what, err->text);
    return 1;
}

/* It calls functions of the mathematical library, which is then loaded. */
static int compute(void)
{
    arras_binding  input = { "x", { cells, ARRAS_F64, 1, shape, NULL } };
    arras_graph   *g = NULL;
    arras_program *p = NULL;
    arras_results *results = NULL;
    arras_error    err;
    int            wrong = 0;

    if (arras_graph_new(&g, &err))
        return fail("graph", &err);
    arras_output(g, "y", arras_exp(arras_sin(arras_placeholder(g, "x", ARRAS_F64, 1, shape))));
    if (arras_compile(&p, g, NULL, &err) || arras_launch(&results, p, 1, &input, &err))
        wrong = fail("compute", &err);
    else
        memcpy(cells, arras_results_find(results, "y")->buffer.data, sizeof cells);
    arras_results_free(results);
    arras_program_free(p);
    arras_graph_free(g);
    return wrong;
}

static int write_and_read(arras_error *err)
{
    arras_sink   *sink = NULL;
    arras_source *source = NULL;
    double        got[3] = { 0, 0, 0 };

    if (arras_sink_create(&sink, "files.h5", "y", ARRAS_F64, 1, shape, NULL, err))
        return 1;
    if (arras_sink_write(sink, zero, shape, cells, NULL, 1, err)) {
        arras_sink_abandon(sink);
        return 1;
    }
    if (arras_sink_finish(sink, err) || arras_source_open(&source, "files.h5", "y", err))
        return 1;
    if (arras_source_read(source, zero, shape, got, NULL, 1, err))
        got[0] = -1;
    arras_source_close(source);
    return got[0] != 1;
}

int main(void)
{
    arras_error err;

    if (compute() || cells[0] != 1)
        return 1;
    memset(&err, 0, sizeof err);
    if (!write_and_read(&err))
        return 0;
    fprintf(stderr, "%s\n", err.text);
    return !strstr(err.text, "linked with -static");
}
