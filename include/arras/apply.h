/* apply.h -- stencil functions in C: called at every cell of arrays in memory or in files, with the
 * cell's neighbours at hand.
 *
 *   A flow is built of arrays (in memory, in files) and of applications of functions to them, which
 *   give arrays that others may be applied to; then it runs, once.  Arrays in between are computed
 *   tile by tile where they are needed and never stored, arrays in files may be larger than memory,
 *   and cells have the same bits whatever the tiles, threads and memory.
 *
 *   Functions must be pure: what they write depends on what they read, not on the order of calls.
 *   Several threads call them at once.
 *   Reach.      How far a function looks around its cell is declared, or found by one call in which
 *               every cell is 1.  Either way each access is checked: one beyond the reach ends the
 *               run with an error that names the input and the offset.
 *   Ownership.  What comes through `out` is released once, by the caller.  Buffers, sources, sinks
 *               and contexts are borrowed until the flow is freed; all else is copied. */
#ifndef ARRAS_APPLY_H
#define ARRAS_APPLY_H

#include <arras/arras.h>

#ifdef __cplusplus
extern "C" {
#endif

/* ---- What a function sees -------------------------------------------------------------------- */

/* One input.  Functions use the accessors below; rows also need `advance`. */
typedef struct arras_view {
    const char *at;      /* the cell at offset 0; of a whole array, its first cell */
    int64_t     advance; /* bytes from the `at` of one cell to that of the next along a row */
    int         rank;
    int64_t     stride[ARRAS_MAX_RANK]; /* bytes */
    int64_t     before[ARRAS_MAX_RANK]; /* offsets -before <= i < span - before may be read */
    uint64_t    span[ARRAS_MAX_RANK];
} arras_view;

/* One cell of the result and what is around it. */
typedef struct arras_cell {
    const arras_view      *views;   /* of the inputs */
    const int64_t         *index;   /* of the cell in the result, without the axis of a vector */
    void                  *context; /* as given */
    void                  *scratch; /* bytes that are this thread's own and keep what they hold */
    int                    ninputs, noutputs;
    struct arras_cell_log *log;
} arras_cell;

/* Writes one value, or a vector of values, to out[m] for each output m. */
typedef void arras_apply_cell(const arras_cell *cell, void *const *out);
/* The same for `count` cells side by side along the last axis, of which `first` is the first: input
 * k of cell x is x * first->views[k].advance bytes further on, which is the size of a value where
 * the input's last axis is that of the result and its step is 1.  Values of out[m] have no gaps. */
typedef void arras_apply_row(const arras_cell *first, int64_t count, void *const *out);

/* Ends the run with this message and the place of the cell; the function returns then. */
ARRAS_API void arras_cell_fail(const arras_cell *cell, const char *message);
/* What accessors call when an offset is out of reach: notes it, and gives memory that can be read.
 * All that it changes is the log, which functions do not see; a compiler that knows keeps what it
 * has in registers. */
#if defined(__GNUC__)
#define ARRAS_CELL_RARE __attribute__((pure, cold))
#else
#define ARRAS_CELL_RARE
#endif
ARRAS_API const char *arras_cell_outside(const arras_cell *cell, int input, int n,
                                         const int64_t *offset) ARRAS_CELL_RARE;

static inline bool arras_view_has(const arras_view *view, int axis, int64_t offset)
{
    return (uint64_t)offset + (uint64_t)view->before[axis] < view->span[axis];
}

/* The address of the neighbour of input k at an offset along one, two, three or all of its axes.
 * Of a whole array, of the cell at that place.  The offset is checked; where a row function goes
 * from there, other than along the row, is not. */
static inline const char *arras_cell_near1(const arras_cell *cell, int k, int64_t i)
{
    const arras_view *view = &cell->views[k];

    if (arras_view_has(view, 0, i))
        return view->at + i * view->stride[0];
    return arras_cell_outside(cell, k, 1, &i);
}

static inline const char *arras_cell_near2(const arras_cell *cell, int k, int64_t i, int64_t j)
{
    const arras_view *view = &cell->views[k];

    if (arras_view_has(view, 0, i) && arras_view_has(view, 1, j))
        return view->at + i * view->stride[0] + j * view->stride[1];
    {
        int64_t offset[2];

        offset[0] = i;
        offset[1] = j;
        return arras_cell_outside(cell, k, 2, offset);
    }
}

static inline const char *arras_cell_near3(const arras_cell *cell, int k, int64_t i, int64_t j,
                                           int64_t l)
{
    const arras_view *view = &cell->views[k];

    if (arras_view_has(view, 0, i) && arras_view_has(view, 1, j) && arras_view_has(view, 2, l))
        return view->at + i * view->stride[0] + j * view->stride[1] + l * view->stride[2];
    {
        int64_t offset[3];

        offset[0] = i;
        offset[1] = j;
        offset[2] = l;
        return arras_cell_outside(cell, k, 3, offset);
    }
}

static inline const char *arras_cell_near(const arras_cell *cell, int k, const int64_t *offset)
{
    const arras_view *view = &cell->views[k];
    const char       *at = view->at;

    if (!at) /* the call that finds the reach */
        return arras_cell_outside(cell, k, view->rank, offset);
    for (int axis = 0; axis < view->rank; axis++) {
        if (!arras_view_has(view, axis, offset[axis]))
            return arras_cell_outside(cell, k, view->rank, offset);
        at += offset[axis] * view->stride[axis];
    }
    return at;
}

/* The same as values: arras_f32_at2(cell, 0, -1, 0) is the neighbour above.  The type has to be
 * that of the input; complex numbers are read through the address. */
#define ARRAS_CELL_ACCESS(name, ctype)                                                             \
    static inline ctype arras_##name##_at1(const arras_cell *cell, int k, int64_t i)               \
    {                                                                                              \
        return *(const ctype *)(const void *)arras_cell_near1(cell, k, i);                         \
    }                                                                                              \
    static inline ctype arras_##name##_at2(const arras_cell *cell, int k, int64_t i, int64_t j)    \
    {                                                                                              \
        return *(const ctype *)(const void *)arras_cell_near2(cell, k, i, j);                      \
    }                                                                                              \
    static inline ctype arras_##name##_at3(const arras_cell *cell, int k, int64_t i, int64_t j,    \
                                           int64_t l)                                              \
    {                                                                                              \
        return *(const ctype *)(const void *)arras_cell_near3(cell, k, i, j, l);                   \
    }                                                                                              \
    static inline ctype arras_##name##_at(const arras_cell *cell, int k, const int64_t *offset)    \
    {                                                                                              \
        return *(const ctype *)(const void *)arras_cell_near(cell, k, offset);                     \
    }
ARRAS_CELL_ACCESS(bool, uint8_t)
ARRAS_CELL_ACCESS(i8, int8_t)
ARRAS_CELL_ACCESS(i16, int16_t)
ARRAS_CELL_ACCESS(i32, int32_t)
ARRAS_CELL_ACCESS(i64, int64_t)
ARRAS_CELL_ACCESS(u8, uint8_t)
ARRAS_CELL_ACCESS(u16, uint16_t)
ARRAS_CELL_ACCESS(u32, uint32_t)
ARRAS_CELL_ACCESS(u64, uint64_t)
ARRAS_CELL_ACCESS(f32, float)
ARRAS_CELL_ACCESS(f64, double)
#undef ARRAS_CELL_ACCESS

/* ---- What is applied to what ----------------------------------------------------------------- */

/* What cells outside of an array are, along one axis. */
typedef struct arras_border {
    arras_edge_rule rule;
    const void     *fill; /* CONSTANT: a value of the input's type, NULL for 0; where a cell is
                             outside along several axes, the last of them decides */
} arras_border;

/* Cell i of the result looks at cell start[a] + step[a] * i[axes[a]] along axis a of an input, and
 * around it.  What is NULL takes the default. */
typedef struct arras_apply_input {
    int  array;                 /* of the flow */
    bool whole;                 /* all of it, at any place: accessors take indices, not offsets, and
                                   nothing below applies but a name */
    const int64_t      *before; /* along each axis, how many cells in front of it are read */
    const int64_t      *after;  /* and how many behind it; one of them NULL: 0; both: found out */
    const arras_border *borders; /* NONE: the result has only cells whose neighbours all exist */
    const int          *axes;    /* of the result; axis a is axis a */
    const int64_t      *step;    /* 1; 0: this place for all cells of the result */
    const int64_t      *start;   /* 0; along an axis without a rule, the first that can be */
    const char         *name;    /* for texts and messages; NULL: that of the array */
} arras_apply_input;

typedef struct arras_apply_output {
    const char *name; /* NULL: out0, out1, ... */
    arras_dtype dtype;
} arras_apply_output;

/* Cells for which input 0 (a real number) is in low <= value <= high (NaN for NaN) take outputs[m]
 * without a call.  Pointers to a value of the input, and for each output to a value or vector. */
typedef struct arras_mirror {
    const void        *low, *high;
    const void *const *outputs;
} arras_mirror;

/* Just one of cell, row and text.  Zero is the default for all after it. */
typedef struct arras_apply_spec {
    int                       ninputs, noutputs;
    const arras_apply_input  *inputs;
    const arras_apply_output *outputs; /* all of the same shape */
    arras_apply_cell         *cell;
    arras_apply_row          *row;
    /* The body of a function in C, in which inputs are called by their names, h(-1, 0), and outputs
     * are variables (or vectors) of their names.  index(a), context and scratch are as above;
     * fail("...") as arras_cell_fail.  It is compiled into the loop over a row; <math.h> and
     * <stdint.h> are there. */
    const char *text;
    const char *prelude; /* for the text: what stands before the function */
    void       *context;
    size_t      scratch; /* bytes for each thread, zeros at first */
    /* Of the result; shape NULL: the axes of the first input that is not whole, as far as all
     * inputs go. */
    int                 rank;
    const int64_t      *shape;
    int64_t             length; /* of vectors, which are a new last axis; 0: there are none */
    int                 nmirrors;
    const arras_mirror *mirrors;
} arras_apply_spec;

/* ---- Flows ----------------------------------------------------------------------------------- */

typedef struct arras_flow arras_flow;

/* Of the options (NULL: the defaults) those count that are about threads, tiles, the compiler and
 * the cache on disk.  memory: bytes that may be used, beside what is bound; 0: half of what is
 * free. */
ARRAS_API arras_status arras_flow_new(arras_flow **out, const arras_options *options,
                                      int64_t memory, arras_error *err);
ARRAS_API void         arras_flow_free(arras_flow *flow); /* cancels what runs; NULL is fine */

/* *out: the number of the array in this flow, from 0. */
ARRAS_API arras_status arras_flow_input(int *out, arras_flow *flow, const char *name,
                                        const arras_buffer *cells, arras_error *err);
ARRAS_API arras_status arras_flow_source(int *out, arras_flow *flow, const char *name,
                                         arras_source *source, arras_error *err);
/* outputs: the numbers of the arrays that it gives, spec->noutputs of them. */
ARRAS_API arras_status arras_flow_apply(int *outputs, arras_flow *flow,
                                        const arras_apply_spec *spec, arras_error *err);
/* What an array is; shape stays the flow's, until the next array is added.  The address of its
 * cells is not known. */
ARRAS_API arras_status arras_flow_describe(arras_buffer *out, const arras_flow *flow, int array,
                                           arras_error *err);

/* Where an array goes that was computed: to memory in C order that shares nothing with inputs (`to`
 * NULL: to new memory in the results), or to a sink (the caller finishes it, or abandons it after
 * a failure).  Only what some result needs is computed. */
ARRAS_API arras_status arras_flow_result(arras_flow *flow, int array, const arras_buffer *to,
                                         arras_error *err);
ARRAS_API arras_status arras_flow_sink(arras_flow *flow, int array, arras_sink *sink,
                                       arras_error *err);

/* Runs it.  out: what arras_flow_result(NULL) asked for, by name; may be NULL. */
ARRAS_API arras_status arras_flow_run(arras_results **out, arras_flow *flow, arras_error *err);
/* The same in two steps, each once.  Until the flow is freed, any thread may cancel it (the wait
 * then returns ARRAS_ECANCEL soon) or ask how much of it has been begun, from 0 to 1; below 0 when
 * that is not known. */
ARRAS_API arras_status arras_flow_start(arras_flow *flow, arras_error *err);
ARRAS_API arras_status arras_flow_wait(arras_results **out, arras_flow *flow, arras_error *err);
ARRAS_API void         arras_flow_cancel(arras_flow *flow);
ARRAS_API double       arras_flow_progress(const arras_flow *flow);
/* Passes, tiles and what is kept, once it was started; release with arras_text_free. */
ARRAS_API arras_status arras_flow_explain(char **out, const arras_flow *flow, arras_error *err);

#ifdef __cplusplus
}
#endif

#endif
