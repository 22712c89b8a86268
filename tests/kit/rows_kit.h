/* rows_kit.h -- for tests of programs of one input `x` with two axes: all cells have the bits of
 * the evaluator, for several numbers of threads and sizes of tiles. */
#ifndef TEST_ROWS_KIT_H
#define TEST_ROWS_KIT_H

#include "launch_kit.h"

static inline void *cells_of(arras_dtype dtype, int64_t n)
{
    size_t   size = arras_dtype_size(dtype);
    void    *cells = malloc((size_t)n * size + 1);
    uint64_t state = 1;

    for (int64_t i = 0; cells && i < n; i++) {
        double value;

        state = state * 6364136223846793005u + 1442695040888963407u;
        value = (double)(int64_t)(state >> 40) / 4096 - 2048;
        if (dtype == ARRAS_F32)
            ((float *)cells)[i] = (float)(state >> 60 == 0 ? -0.0 : value);
        else
            ((double *)cells)[i] = state >> 60 == 0 ? -0.0 : value;
    }
    return cells;
}

static const arras_options ways[] = {
    { .threads = 1 },
    { .threads = 2 },
    { .threads = 3, .tile_bytes = 3000 },
    { .threads = 7, .tile_bytes = 100 },
};

/* The program that is recorded in g, of one input x. */
static inline void check_program_of(void *x, arras_dtype dtype, int64_t n, int64_t m)
{
    arras_binding  binding = { "x", { x, dtype, 2, (int64_t[]){ n, m }, NULL } };
    arras_results *want = NULL, *got = NULL;

    CHECK_EQ_INT(arras_evaluate(&want, g, 1, &binding, &err), ARRAS_OK);
    for (size_t i = 0; i < AR_COUNT(ways) && want; i++) {
        arras_program *p = compiled(&ways[i]);

        if (launched(&got, p, 1, &binding))
            CHECK(same_bits(got, want));
        arras_results_free(got);
        arras_program_free(p);
    }
    arras_results_free(want);
}

static inline void check_program(arras_dtype dtype, int64_t n, int64_t m)
{
    void *x = cells_of(dtype, n * m);

    check_program_of(x, dtype, n, m);
    free(x);
}

#endif
