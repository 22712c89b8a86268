/* bench_compile.c -- how long arras_compile takes.  Arguments: the cache's directory, a recording,
 * its length n, and how many programs.  Each is compiled twice in this process, so that the second
 * finds it in memory; run again with the same directory, the first finds it on disk.
 * Prints a line for each: microseconds, from disk or not, microseconds of the second, from memory
 * or not. */
#include "recordings.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static double now_us(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec * 1e6 + (double)t.tv_nsec / 1e3;
}

static arras_program *compile(double *us, const char *recording, const int64_t *size,
                              const arras_options *options)
{
    arras_error    err;
    arras_program *p = NULL;
    arras_graph   *g = bench_record(recording, size, &err);
    double         start = now_us();

    if (!g || arras_compile(&p, g, options, &err) != ARRAS_OK) {
        fprintf(stderr, "bench_compile: %s\n", err.text);
        exit(1);
    }
    *us = now_us() - start;
    arras_graph_free(g);
    return p;
}

static void compile_twice(const char *recording, const int64_t *size, const arras_options *options)
{
    double         us[2];
    arras_counters counters[2];
    arras_program *p[2];

    for (int k = 0; k < 2; k++) {
        p[k] = compile(&us[k], recording, size, options);
        arras_program_counters(&counters[k], p[k]);
    }
    printf("%.1f %d %.1f %d\n", us[0], counters[0].from_disk, us[1], counters[1].from_memory);
    arras_program_free(p[0]);
    arras_program_free(p[1]);
}

int main(int argc, char **argv)
{
    int64_t       size[2] = { 0 }, programs;
    arras_options options = { 0 };

    if (argc != 5) {
        fprintf(stderr, "usage: bench_compile CACHE RECORDING LENGTH PROGRAMS\n");
        return 1;
    }
    options.cache = argv[1];
    size[0] = atoll(argv[3]);
    programs = atoll(argv[4]);
    /* Of `doubled` there is one program, with that many outputs. */
    if (strcmp(argv[2], "doubled") == 0) {
        size[1] = programs;
        compile_twice(argv[2], size, &options);
        return 0;
    }
    for (size[1] = 0; size[1] < programs; size[1]++)
        compile_twice(argv[2], size, &options);
    return 0;
}
