/* face.c -- Arras as the benchmark's driver sees it: functions of plain numbers and addresses, for
 * Python's ctypes.  Where something fails the message of bench_message says what. */
#include "recordings.h"

#include <stdlib.h>
#include <string.h>

enum { MOST_ARRAYS = 1024, NAME = 32 };

typedef struct {
    arras_graph   *graph;
    arras_program *program;
    int            count;
    arras_binding  bindings[MOST_ARRAYS];
    char           names[MOST_ARRAYS][NAME];
    int64_t        shapes[MOST_ARRAYS][3];
} bench_program;

#define FACE __attribute__((visibility("default")))

/* The driver is one thread. */
static arras_error last_error;

FACE const char *bench_message(void) { return last_error.text; }

FACE void bench_close(bench_program *p)
{
    if (!p)
        return;
    arras_program_free(p->program);
    arras_graph_free(p->graph);
    free(p);
}

/* cache: a directory, or NULL for the default. */
FACE bench_program *bench_open(const char *workload, const int64_t *size, int threads,
                               bool no_fusion, const char *cache)
{
    arras_options  options = { .threads = threads, .no_fusion = no_fusion, .cache = cache };
    bench_program *p = calloc(1, sizeof *p);

    if (p && (p->graph = bench_record(workload, size, &last_error)) &&
        arras_compile(&p->program, p->graph, &options, &last_error) == ARRAS_OK)
        return p;
    bench_close(p);
    return NULL;
}

/* NULL, or why the program runs in the reference evaluator. */
FACE const char *bench_warning(const bench_program *p) { return arras_program_warning(p->program); }

FACE bool bench_bind(bench_program *p, const char *name, const char *dtype, int rank,
                     const int64_t *shape, void *data)
{
    int at = p->count;

    if (at == MOST_ARRAYS || rank > 3 || strlen(name) >= NAME)
        return false;
    strcpy(p->names[at], name);
    memcpy(p->shapes[at], shape, (size_t)rank * sizeof *shape);
    p->bindings[at].name = p->names[at];
    p->bindings[at].buffer =
        (arras_buffer){ data, arras_dtype_find(dtype), rank, p->shapes[at], NULL };
    p->count++;
    return true;
}

FACE bool bench_launch(bench_program *p, int64_t times)
{
    for (int64_t t = 0; t < times; t++)
        if (arras_launch(NULL, p->program, p->count, p->bindings, &last_error) != ARRAS_OK)
            return false;
    return true;
}

/* The recording `layers`, one operation after the other: p is `one_operation`, compiled; cells has
 * height + 1 layers of `width` arrays of n cells, the first of them given. */
FACE bool bench_launch_layers(bench_program *p, double *cells, int64_t width, int64_t height,
                              int64_t n)
{
    for (int64_t k = 0; k < width * height; k++) {
        double       *layer = cells + k / width * width * n;
        double *const data[] = { layer + k % width * n, layer + (k + 1) % width * n,
                                 layer + (width + k % width) * n };
        arras_binding bindings[] = { { "x0", { data[0], ARRAS_F64, 1, &n, NULL } },
                                     { "x1", { data[1], ARRAS_F64, 1, &n, NULL } },
                                     { "y0", { data[2], ARRAS_F64, 1, &n, NULL } } };

        if (arras_launch(NULL, p->program, 3, bindings, &last_error) != ARRAS_OK)
            return false;
    }
    return true;
}

/* kernels, tasks, updates, allocations, planned, live, temporaries, bytes moved */
FACE void bench_counters(int64_t out[8], const bench_program *p)
{
    arras_counters c;

    arras_program_counters(&c, p->program);
    memcpy(out,
           (const int64_t[8]){ c.kernels, c.tasks, c.updates, c.allocations, c.planned, c.live,
                               c.temporaries, c.bytes_moved },
           8 * sizeof *out);
}
