/* outside.c -- a stranger's program: records y = (x + 1) * 2, evaluates it, checks the values. */
#include <arras/arras.h>

#include <stdio.h>
#include <string.h>

static int check(const arras_results *results)
{
    const arras_binding *y = arras_results_find(results, "y");
    const double        *cells;

    if (!y || y->buffer.dtype != ARRAS_F64 || y->buffer.rank != 1 || y->buffer.shape[0] != 3)
        return 1;
    cells = (const double *)y->buffer.data;
    printf("outside: %g %g %g\n", cells[0], cells[1], cells[2]);
    return cells[0] != 4 || cells[1] != 6 || cells[2] != 8;
}

int main(int argc, char **argv)
{
    int64_t        shape[] = { 3 };
    double         data[] = { 1, 2, 3 };
    arras_binding  input = { "x", { data, ARRAS_F64, 1, shape, NULL } };
    arras_graph   *g = NULL;
    arras_results *results = NULL;
    arras_error    err;
    arras_array    x;
    int            wrong = 1;

    if (argc > 1 && strcmp(argv[1], "--version") == 0)
        return puts(arras_version()) < 0;
    if (arras_graph_new(&g, &err)) {
        fprintf(stderr, "%s\n", err.text);
        return 1;
    }
    x = arras_placeholder(g, "x", ARRAS_F64, 1, shape);
    arras_output(g, "y", arras_multiply(arras_add(x, arras_int(g, 1)), arras_int(g, 2)));
    if (arras_evaluate(&results, g, 1, &input, &err))
        fprintf(stderr, "%s\n", err.text);
    else
        wrong = check(results);
    arras_results_free(results);
    arras_graph_free(g);
    return wrong;
}
