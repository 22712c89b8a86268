/* evaluate.h -- for tests of values: arrays from short texts, and what a program gives as a text.
 *
 *     GIVES(ar_roll(A("i64[3]", 1, 2, 3), (int64_t[]){ 1 }), "i64[3] 3 1 2");
 *
 * records in a fresh graph `g`, evaluates, and compares the type, shape and cells of the result, or
 * the error.  Inputs are made and bound by I("x", "f64[3]", 1, 2, 3). */
#ifndef TEST_EVALUATE_H
#define TEST_EVALUATE_H

#include "run/run.h"
#include "test.h"

#include <stdlib.h>

#define A(type, ...) array_of(type, (double[]){ __VA_ARGS__ })
#define N(type) array_of(type, NULL) /* cells 0, 1, 2, ... */
#define I(name, type, ...) input_of(name, type, (double[]){ __VA_ARGS__ })
#define L(...) ((arras_array[]){ __VA_ARGS__ })
#define GIVES(array, want) (begin(), CHECK_STR(outcome(array), want), end())
#define FAILS(array, part) (begin(), CHECK_HAS(outcome(array), part), end())

enum { MOST_INPUTS = 8, MOST_CELLS = 4096 };

static arras_graph  *g;
static arras_binding bound[MOST_INPUTS];
static int64_t       shapes[MOST_INPUTS][ARRAS_MAX_RANK];
static int           nbound;
static int64_t       live_before;
static ar_text       shown;

static inline void begin(void)
{
    ar_buffers_clear();
    live_before = ar_alloc_live();
    nbound = 0;
    if (ar_graph_new(&g, NULL) != ARRAS_OK)
        abort();
}

/* A run leaves nothing behind. */
static inline void end(void)
{
    for (int i = 0; i < nbound; i++)
        free(bound[i].buffer.data);
    nbound = 0;
    ar_text_free(&shown);
    ar_graph_free(g);
    g = NULL;
    ar_buffers_clear();
    CHECK_EQ_INT(ar_alloc_live(), live_before);
}

/* ---- Arrays ---------------------------------------------------------------------------------- */

static inline arras_dtype read_type(const char *type, int *rank, int64_t *shape)
{
    const char *at = strchr(type, '[');

    *rank = 0;
    for (const char *c = at + 1; *c && *c != ']'; c += *c == ',')
        shape[(*rank)++] = strtoll(c, (char **)(uintptr_t)&c, 10);
    return ar_dtype_find(type, (size_t)(at - type));
}

/* The cells of a C-ordered array, each cast from a double, or from two for complex types. */
static inline void *cells_of(arras_dtype dtype, int rank, const int64_t *shape,
                             const double *values)
{
    size_t count = 1, size = ar_dtype_size(dtype);
    bool   pairs = ar_dtype_class(dtype) == AR_CLASS_COMPLEX;
    char  *cells;

    for (int axis = 0; axis < rank; axis++)
        count *= (size_t)shape[axis];
    cells = calloc(count + 1, size);
    for (size_t i = 0; i < count; i++) {
        double parts[2] = { (double)i, 0 };

        if (values)
            memcpy(parts, values + (pairs ? 2 * i : i), pairs ? sizeof parts : sizeof *parts);
        ar_cell_cast(dtype, cells + i * size, ARRAS_C128, parts);
    }
    return cells;
}

static inline arras_array array_of(const char *type, const double *values)
{
    int         rank;
    int64_t     shape[ARRAS_MAX_RANK];
    arras_dtype dtype = read_type(type, &rank, shape);
    void       *cells = cells_of(dtype, rank, shape, values);
    arras_array x = ar_data(g, dtype, rank, shape, NULL, cells, true);

    free(cells);
    return x;
}

/* Binds `cells` (from malloc) to a name without recording anything. */
static inline void bind_cells(const char *name, arras_dtype dtype, int rank, const int64_t *shape,
                              void *cells)
{
    for (int axis = 0; axis < rank; axis++)
        shapes[nbound][axis] = shape[axis];
    bound[nbound] = (arras_binding){ name, { cells, dtype, rank, shapes[nbound], NULL } };
    nbound++;
}

static inline void bind_array(const char *name, const char *type, const double *values)
{
    int         rank;
    int64_t     shape[ARRAS_MAX_RANK];
    arras_dtype dtype = read_type(type, &rank, shape);

    bind_cells(name, dtype, rank, shape, cells_of(dtype, rank, shape, values));
}

static inline arras_array input_of(const char *name, const char *type, const double *values)
{
    int         rank;
    int64_t     shape[ARRAS_MAX_RANK];
    arras_dtype dtype = read_type(type, &rank, shape);

    bind_array(name, type, values);
    return ar_input(g, name, dtype, rank, shape);
}

static inline arras_array untyped_int(int64_t value)
{
    return ar_const(g, (ar_type){ ARRAS_I64, true }, (ar_value){ .i = value });
}

/* ---- Builders in short ----------------------------------------------------------------------- */

static inline arras_array map1(ar_op op, arras_array x) { return ar_map(op, 1, &x); }
static inline arras_array map2(ar_op op, arras_array x, arras_array y)
{
    return ar_map(op, 2, L(x, y));
}

static inline arras_array reduce(ar_reduction reduction, arras_array x, uint32_t axes)
{
    return ar_reduce(reduction, x, axes, false, NULL);
}

static inline arras_dim size(const char *name) { return ar_dim_size(g, name); }

/* A vector of symbolic length, bound to the cells given. */
static inline arras_array vector(const char *name, arras_dim length, const char *type,
                                 const double *cells)
{
    bind_array(name, type, cells);
    return ar_input(g, name, bound[nbound - 1].buffer.dtype, 1, &length);
}

/* x[items] */
#define AT(x, ...)                                                                                 \
    ar_index(x, (int)AR_COUNT(((arras_item[]){ __VA_ARGS__ })), (arras_item[]){ __VA_ARGS__ })

/* ---- Results --------------------------------------------------------------------------------- */

/* "f64[2] 1 2" */
static inline void show_buffer(ar_text *out, const arras_buffer *b)
{
    int64_t count = 1;

    ar_text_add(out, ar_dtype_name(b->dtype));
    ar_shape_print(out, g, b->rank, b->shape);
    for (int axis = 0; axis < b->rank; axis++)
        count *= b->shape[axis];
    for (int64_t i = 0; i < count && i < MOST_CELLS; i++) {
        ar_text_add(out, " ");
        ar_value_print(out, b->dtype, (const char *)b->data + (size_t)i * ar_dtype_size(b->dtype));
    }
}

/* The results one after the other, or the error: "EINDEX: index 7 ...".  Lives until end(). */
static inline const char *run(void)
{
    arras_results *results = NULL;
    arras_error    err = { ARRAS_OK, "" };
    arras_status   status = ar_reference_run(&results, g, nbound, bound, &err);

    ar_text_free(&shown);
    if (status != ARRAS_OK) {
        CHECK(results == NULL);
        CHECK_EQ_INT(status, err.code);
        ar_text_printf(&shown, "%s: %s", arras_status_name(status) + strlen("ARRAS_"), err.text);
        return shown.data;
    }
    for (int i = 0; i < results->count; i++) {
        ar_text_add(&shown, i ? "; " : "");
        show_buffer(&shown, &results->items[i].buffer);
    }
    ar_results_free(results);
    return shown.data;
}

static inline const char *outcome(arras_array x)
{
    ar_graph_output_add(g, "out", x);
    return run();
}

#endif
