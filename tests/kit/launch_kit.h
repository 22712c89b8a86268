/* launch_kit.h -- for tests of compiled programs, through the public header: a graph, short names
 * for bindings, and launches that are checked.
 *
 *     start();
 *     y = arras_output(g, "y", arras_multiply(input("x", 3), arras_int(g, 2)));
 *     p = compiled(NULL);
 *     launched(NULL, p, 2, (arras_binding[]){ VEC("x", x, 3), VEC("y", y, 3) });
 *     finish(p); */
#ifndef TEST_LAUNCH_KIT_H
#define TEST_LAUNCH_KIT_H

#include "compile/core_cache.h"
#include "run/run.h"
#include "test.h"

#include <stdlib.h>

#define VEC(name, cells, n)                                                                        \
    ((arras_binding){ name, { cells, ARRAS_F64, 1, (int64_t[]){ n }, NULL } })
#define STRIDED(name, cells, n, stride)                                                            \
    ((arras_binding){ name,                                                                        \
                      { cells, ARRAS_F64, 1, (int64_t[]){ n },                                     \
                        (int64_t[]){ (stride) * (int64_t)sizeof(double) } } })
#define MATRIX(name, cells, n, m)                                                                  \
    ((arras_binding){ name, { cells, ARRAS_F64, 2, (int64_t[]){ n, m }, NULL } })
#define SCALAR(name, type, cell) ((arras_binding){ name, { cell, type, 0, NULL, NULL } })
#define BINDINGS(...)                                                                              \
    (int)AR_COUNT(((arras_binding[]){ __VA_ARGS__ })), (arras_binding[]) { __VA_ARGS__ }

static arras_graph *g;
static arras_error  err;
static int64_t      live_before;

static inline void start(void)
{
    ar_core_cache_clear();
    ar_buffers_clear();
    live_before = ar_alloc_live();
    if (arras_graph_new(&g, NULL) != ARRAS_OK)
        abort();
}

/* A program leaves nothing behind. */
static inline void finish(arras_program *p)
{
    arras_program_free(p);
    arras_graph_free(g);
    g = NULL;
    ar_core_cache_clear();
    ar_buffers_clear();
    CHECK_EQ_INT(ar_alloc_live(), live_before);
}

static inline arras_array input(const char *name, arras_dim n)
{
    return arras_placeholder(g, name, ARRAS_F64, 1, &n);
}

static inline arras_array matrix(const char *name, arras_dim n, arras_dim m)
{
    return arras_placeholder(g, name, ARRAS_F64, 2, (arras_dim[]){ n, m });
}

/* A program that has kernels: never the reference evaluator instead. */
static inline arras_program *compiled(const arras_options *options)
{
    arras_program *p = NULL;

    if (!CHECK_EQ_INT(arras_compile(&p, g, options, &err), ARRAS_OK))
        printf("    %s\n", err.text);
    if (p && !(options && options->reference) && !CHECK(!arras_program_warning(p)))
        printf("    %s\n", arras_program_warning(p));
    return p;
}

static inline bool launched(arras_results **out, arras_program *p, int n,
                            const arras_binding *bindings)
{
    if (CHECK_EQ_INT(arras_launch(out, p, n, bindings, &err), ARRAS_OK))
        return true;
    printf("    %s\n", err.text);
    return false;
}

/* Fails with this status, one line that has `part`, and no results. */
static inline void refused(arras_program *p, int n, const arras_binding *bindings,
                           arras_status status, const char *part)
{
    arras_results *out = NULL;

    err = (arras_error){ ARRAS_OK, "" };
    CHECK_EQ_INT(arras_launch(&out, p, n, bindings, &err), status);
    CHECK_EQ_INT(err.code, status);
    CHECK_HAS(err.text, part);
    CHECK(!strchr(err.text, '\n'));
    CHECK(out == NULL);
}

static inline arras_counters counters(const arras_program *p)
{
    arras_counters c;

    arras_program_counters(&c, p);
    return c;
}

static inline bool same_bits(const arras_results *got, const arras_results *want)
{
    bool same = arras_results_count(got) == arras_results_count(want);

    for (int i = 0; same && i < arras_results_count(want); i++) {
        const arras_buffer *a = &arras_results_at(got, i)->buffer;
        const arras_buffer *b = &arras_results_at(want, i)->buffer;
        size_t              bytes = arras_dtype_size(b->dtype);

        for (int d = 0; d < b->rank; d++)
            bytes *= (size_t)b->shape[d];
        same = memcmp(a->data, b->data, bytes) == 0;
    }
    return same;
}

static inline bool same_cells(const double *got, const double *want, int64_t n)
{
    for (int64_t i = 0; i < n; i++)
        if (got[i] != want[i]) {
            printf("    cell %" PRId64 " is %g, not %g\n", i, got[i], want[i]);
            return false;
        }
    return true;
}

static inline const double *result(const arras_results *r, const char *name)
{
    const arras_binding *found = arras_results_find(r, name);

    return found ? found->buffer.data : NULL;
}

static inline void count_up(double *cells, int64_t n, double first)
{
    for (int64_t i = 0; i < n; i++)
        cells[i] = first + (double)i;
}

#endif
