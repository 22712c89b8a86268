/* arras.h -- record array programs, look at them, evaluate them.
 *
 * A program is recorded in a graph: every builder below takes arrays and returns an array that
 * stands for the result; nothing is computed until the program is evaluated.
 *
 *   Builders never fail.  A wrong shape, type, axis or name gives a poison array; it may be used
 *   like any other, and the message appears when the program is run (or ask arras_array_error).
 *   Ownership.  A graph owns everything recorded in it; arguments are borrowed for the call, but
 *   for the memory of arras_borrow.  What comes through `out` is released once, by the caller.
 *   Threads.  One thread at a time may record in a graph; finished graphs may be read by many. */
#ifndef ARRAS_ARRAS_H
#define ARRAS_ARRAS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#if defined(__GNUC__)
#define ARRAS_API __attribute__((visibility("default")))
#else
#define ARRAS_API
#endif

#ifdef __cplusplus
extern "C" {
#endif

#define ARRAS_MAX_RANK 32

/* ---- Errors ---------------------------------------------------------------------------------- */

/* One list makes the enum, the names and the texts.  X(code, what it means) */
#define ARRAS_STATUS_LIST(X)                                                                       \
    X(OK, "no error")                                                                              \
    X(EINVAL, "an argument is not valid")                                                          \
    X(ESHAPE, "shapes do not fit together")                                                        \
    X(EDTYPE, "an operation is not defined for these types")                                       \
    X(EAXIS, "an axis is out of range or given twice")                                             \
    X(EINDEX, "an index is out of bounds")                                                         \
    X(ESIZE, "sizes conflict or are not known")                                                    \
    X(ENAME, "a name is unknown, malformed or used twice")                                         \
    X(ETEXT, "a text could not be read")                                                           \
    X(ELIMIT, "a limit is exceeded")                                                               \
    X(EBUILD, "a kernel could not be built")                                                       \
    X(ECANCEL, "the run was cancelled")                                                            \
    X(EIO, "a file could not be read or written")                                                  \
    X(EFORMAT, "a file is malformed, or of a kind that is not supported")                          \
    X(ENOMEM, "out of memory")

typedef enum {
#define ARRAS_STATUS_ENUM(code, text) ARRAS_##code,
    ARRAS_STATUS_LIST(ARRAS_STATUS_ENUM)
#undef ARRAS_STATUS_ENUM
} arras_status;

/* The caller's own; every function that takes one accepts NULL.  Written only on failure. */
typedef struct arras_error {
    arras_status code;
    char         text[1012]; /* one line: what, where, which numbers, what to do */
} arras_error;

ARRAS_API const char *arras_status_name(arras_status status);
ARRAS_API const char *arras_status_text(arras_status status);
ARRAS_API const char *arras_version(void);

/* ---- Element types --------------------------------------------------------------------------- */

/* X(CONSTANT, name, C type of an element) */
#define ARRAS_DTYPE_LIST(X)                                                                        \
    X(BOOL, bool, uint8_t)                                                                         \
    X(I8, i8, int8_t)                                                                              \
    X(I16, i16, int16_t)                                                                           \
    X(I32, i32, int32_t)                                                                           \
    X(I64, i64, int64_t)                                                                           \
    X(U8, u8, uint8_t)                                                                             \
    X(U16, u16, uint16_t)                                                                          \
    X(U32, u32, uint32_t)                                                                          \
    X(U64, u64, uint64_t)                                                                          \
    X(F32, f32, float)                                                                             \
    X(F64, f64, double)                                                                            \
    X(C64, c64, float[2])                                                                          \
    X(C128, c128, double[2])

typedef enum {
    ARRAS_NO_DTYPE, /* of poison */
#define ARRAS_DTYPE_ENUM(constant, name, ctype) ARRAS_##constant,
    ARRAS_DTYPE_LIST(ARRAS_DTYPE_ENUM)
#undef ARRAS_DTYPE_ENUM
    ARRAS_DTYPE_END
} arras_dtype;

ARRAS_API const char *arras_dtype_name(arras_dtype dtype); /* "f64"; "none" for no dtype */
ARRAS_API size_t      arras_dtype_size(arras_dtype dtype); /* bytes an element; 0 for no dtype */
ARRAS_API arras_dtype arras_dtype_find(const char *name);  /* ARRAS_NO_DTYPE when unknown */
ARRAS_API arras_dtype arras_dtype_promote(arras_dtype a, arras_dtype b);

/* ---- Graphs, arrays, sizes ------------------------------------------------------------------- */

typedef struct arras_graph            arras_graph;
typedef const struct arras_node      *arras_array;    /* an array of a graph */
typedef const struct arras_expr_node *arras_expr;   /* a scalar expression of a graph */
typedef const struct arras_funcdef   *arras_function; /* a function of a graph */

/* The length of an axis: a number, or a symbolic size made by the functions below, known when the
 * program is run.  Wherever a dim is taken an int64_t will do. */
typedef int64_t arras_dim;

/* An index or a bound that is not given, as in x[:3]. */
#define ARRAS_NONE INT64_MAX

ARRAS_API arras_status arras_graph_new(arras_graph **out, arras_error *err);
ARRAS_API void         arras_graph_free(arras_graph *g);
ARRAS_API int64_t      arras_graph_nodes(const arras_graph *g); /* nodes recorded so far */

ARRAS_API arras_graph *arras_array_graph(arras_array x); /* NULL for some poison */
ARRAS_API arras_dtype  arras_array_dtype(arras_array x);
ARRAS_API int          arras_array_rank(arras_array x); /* -1 for poison */
ARRAS_API const char  *arras_array_error(arras_array x); /* NULL unless poison */
/* The length of an axis, which may be negative (-1: the last); -1 when there is none such. */
ARRAS_API arras_dim arras_array_dim(arras_array x, int axis);
/* Whether two arrays, perhaps of two graphs, are computed in the same way. */
ARRAS_API bool arras_array_equal(arras_array x, arras_array y);

/* An array that stands for a mistake of the caller's own, with its message. */
ARRAS_API arras_array arras_poison(arras_graph *g, arras_status code, const char *message);

/* The size called `name`; the same name gives the same size. */
ARRAS_API arras_dim arras_size(arras_graph *g, const char *name);
ARRAS_API arras_dim arras_dim_add(arras_graph *g, arras_dim a, arras_dim b);
ARRAS_API arras_dim arras_dim_sub(arras_graph *g, arras_dim a, arras_dim b);
/* One of the two must be a number: sizes stay affine. */
ARRAS_API arras_dim arras_dim_mul(arras_graph *g, arras_dim a, arras_dim b);
ARRAS_API bool      arras_dim_is_symbolic(arras_dim d);

/* ---- Leaves ---------------------------------------------------------------------------------- */

/* A named input, bound to memory when the program is run.  A name is used once. */
ARRAS_API arras_array arras_placeholder(arras_graph *g, const char *name, arras_dtype dtype,
                                        int rank, const arras_dim *shape);
/* Data known now: copied into the graph, or borrowed (it must then outlive the graph).
 * Strides are in bytes; NULL means C order. */
ARRAS_API arras_array arras_copy(arras_graph *g, arras_dtype dtype, int rank, const int64_t *shape,
                                 const int64_t *strides, const void *data);
ARRAS_API arras_array arras_borrow(arras_graph *g, arras_dtype dtype, int rank,
                                   const int64_t *shape, const int64_t *strides, const void *data);
/* Untyped numbers: they take the type of what they meet (x + 1 keeps the type of x). */
ARRAS_API arras_array arras_int(arras_graph *g, int64_t value);
ARRAS_API arras_array arras_float(arras_graph *g, double value);
ARRAS_API arras_array arras_complex(arras_graph *g, double re, double im);
/* A 0-d array with a type of its own. */
ARRAS_API arras_array arras_scalar(arras_graph *g, arras_dtype dtype, const void *value);
/* The value of a size as a 0-d i64. */
ARRAS_API arras_array arras_size_value(arras_graph *g, arras_dim size);

ARRAS_API arras_array arras_zeros(arras_graph *g, arras_dtype dtype, int rank,
                                  const arras_dim *shape);
ARRAS_API arras_array arras_ones(arras_graph *g, arras_dtype dtype, int rank,
                                 const arras_dim *shape);
/* Every cell is `value`, which has rank 0. */
ARRAS_API arras_array arras_full(arras_array value, int rank, const arras_dim *shape);
ARRAS_API arras_array arras_eye(arras_graph *g, arras_dtype dtype, arras_dim rows, arras_dim cols,
                                int64_t diagonal);
/* start, start + step, ... before stop, as i64 and as f64. */
ARRAS_API arras_array arras_arange(arras_graph *g, int64_t start, int64_t stop, int64_t step);
ARRAS_API arras_array arras_arange_real(arras_graph *g, double start, double stop, double step);
ARRAS_API arras_array arras_linspace(arras_graph *g, double start, double stop, int64_t count,
                                     bool endpoint);
/* The i64 array of this shape whose cells hold their own index along `axis`. */
ARRAS_API arras_array arras_index_array(arras_graph *g, int rank, const arras_dim *shape, int axis);

/* ---- Elementwise ----------------------------------------------------------------------------- */

/* arras_add(x, y), arras_sin(x), arras_where(c, x, y), ...: a function, and a number ARRAS_OP_add,
 * for each row of the operation table, in ops.h at the end of this header.  Operands are broadcast
 * as in NumPy. */
typedef struct arras_op_info {
    const char *name;
    int         arity;
    const char *text; /* one line of help */
} arras_op_info;

ARRAS_API int                  arras_op_count(void);
ARRAS_API const arras_op_info *arras_op_get(int op); /* NULL when out of range */
ARRAS_API int                  arras_op_find(const char *name); /* -1 when unknown */
ARRAS_API arras_array          arras_apply(int op, int n, const arras_array *operands);

ARRAS_API arras_array arras_cast(arras_array x, arras_dtype dtype);
/* Not below lo, not above hi; either may be NULL for no bound. */
ARRAS_API arras_array arras_clip(arras_array x, arras_array lo, arras_array hi);

/* ---- Reductions ------------------------------------------------------------------------------ */

/* arras_sum(x, n, axes, keepdims), ...: a function, and a number ARRAS_REDUCE_sum, for each row of
 * the reduction table, in ops.h.  axes NULL: all axes.  arras_reduce takes an initial value too
 * (rank 0, or NULL). */
ARRAS_API int         arras_reduction_count(void);
ARRAS_API const char *arras_reduction_name(int reduction); /* NULL when out of range */
ARRAS_API int         arras_reduction_find(const char *name); /* -1 when unknown */
ARRAS_API arras_array arras_reduce(int reduction, arras_array x, int n, const int *axes,
                                   bool keepdims, arras_array initial);
ARRAS_API arras_array arras_mean(arras_array x, int n, const int *axes, bool keepdims);
ARRAS_API arras_array arras_var(arras_array x, int n, const int *axes, int64_t ddof, bool keepdims);
ARRAS_API arras_array arras_std(arras_array x, int n, const int *axes, int64_t ddof, bool keepdims);

/* ---- Products -------------------------------------------------------------------------------- */

ARRAS_API arras_array arras_einsum(const char *spec, int n, const arras_array *operands);
ARRAS_API arras_array arras_matmul(arras_array x, arras_array y);
ARRAS_API arras_array arras_dot(arras_array x, arras_array y);
ARRAS_API arras_array arras_vdot(arras_array x, arras_array y);
ARRAS_API arras_array arras_outer(arras_array x, arras_array y);
/* A sparse matrix in compressed rows times a dense array of rank 1 or more: row r of the result is
 * the sum of values[p] * dense[columns[p], ...] for row_starts[r] <= p < row_starts[r+1]. */
ARRAS_API arras_array arras_csr_matmul(arras_array values, arras_array columns,
                                       arras_array row_starts, arras_array dense);

/* ---- Movement -------------------------------------------------------------------------------- */

ARRAS_API arras_array arras_stack(int n, const arras_array *xs, int axis);
ARRAS_API arras_array arras_concatenate(int n, const arras_array *xs, int axis);
ARRAS_API arras_array arras_roll(arras_array x, int n, const int64_t *shifts, const int *axes);
ARRAS_API arras_array arras_permute(arras_array x, int n, const int *axes); /* NULL: reverse all */
/* order 'C' or 'F'; one dim may be -1. */
ARRAS_API arras_array arras_reshape(arras_array x, int rank, const arras_dim *shape, char order);
ARRAS_API arras_array arras_broadcast_to(arras_array x, int rank, const arras_dim *shape);
/* NULL: every axis of 1. */
ARRAS_API arras_array arras_squeeze(arras_array x, int n, const int *axes);
ARRAS_API arras_array arras_expand_dims(arras_array x, int n, const int *axes);
ARRAS_API arras_array arras_flip(arras_array x, int n, const int *axes); /* NULL: all axes */
ARRAS_API arras_array arras_tile(arras_array x, int n, const int64_t *reps);
ARRAS_API arras_array arras_repeat(arras_array x, int64_t count, int axis);

typedef enum {
    ARRAS_PAD_CONSTANT,
    ARRAS_PAD_EDGE,
    ARRAS_PAD_LINEAR_RAMP, /* from the edge to `fill` at the end of the padding */
    ARRAS_PAD_MAXIMUM,
    ARRAS_PAD_MEAN,
    ARRAS_PAD_MEDIAN,
    ARRAS_PAD_MINIMUM,
    ARRAS_PAD_REFLECT,
    ARRAS_PAD_SYMMETRIC,
    ARRAS_PAD_WRAP,
    ARRAS_PAD_EMPTY, /* NumPy leaves these cells undefined; here they are 0 */
    ARRAS_PAD_END
} arras_pad_mode;
/* widths: before and after for each axis, 2 * rank numbers; fill: 0-d, NULL for 0. */
ARRAS_API arras_array arras_pad(arras_array x, const int64_t *widths, arras_pad_mode mode,
                                arras_array fill);

/* x[items]: what stands between the brackets of a NumPy index. */
typedef enum { ARRAS_AT, ARRAS_SLICE, ARRAS_ELLIPSIS, ARRAS_NEWAXIS, ARRAS_GATHER } arras_item_kind;
typedef struct arras_item {
    arras_item_kind kind;
    arras_dim       start, stop; /* AT: start.  Negative numbers count from the end */
    int64_t         step;
    arras_array     index; /* GATHER: an integer array, checked when the program is run */
} arras_item;

static inline arras_item arras_at(arras_dim i)
{
    arras_item item = { ARRAS_AT, i, 0, 1, NULL };
    return item;
}
static inline arras_item arras_slice(arras_dim start, arras_dim stop, int64_t step)
{
    arras_item item = { ARRAS_SLICE, start, stop, step, NULL };
    return item;
}
static inline arras_item arras_all_of_axis(void) { return arras_slice(ARRAS_NONE, ARRAS_NONE, 1); }
static inline arras_item arras_ellipsis(void)
{
    arras_item item = { ARRAS_ELLIPSIS, 0, 0, 1, NULL };
    return item;
}
static inline arras_item arras_newaxis(void)
{
    arras_item item = { ARRAS_NEWAXIS, 0, 0, 1, NULL };
    return item;
}
static inline arras_item arras_gather(arras_array index)
{
    arras_item item = { ARRAS_GATHER, 0, 0, 1, index };
    return item;
}

ARRAS_API arras_array arras_index(arras_array x, int n, const arras_item *items);

/* ---- Index lambdas: the value of one cell as an expression ----------------------------------- */

/* What a read outside an array means; the names and meanings of scipy.ndimage. */
typedef enum {
    ARRAS_EDGE_NONE,     /* an error; for stencils: the result shrinks */
    ARRAS_EDGE_CONSTANT, /* k k k | a b c d | k k k */
    ARRAS_EDGE_NEAREST,  /* a a a | a b c d | d d d */
    ARRAS_EDGE_REFLECT,  /* c b a | a b c d | d c b */
    ARRAS_EDGE_MIRROR,   /* d c b | a b c d | c b a */
    ARRAS_EDGE_WRAP,     /* b c d | a b c d | a b c */
    ARRAS_EDGE_END
} arras_edge_rule;
typedef struct arras_edge {
    arras_edge_rule rule;
    arras_expr      fill; /* CONSTANT: a literal, NULL for 0; the last axis left decides */
} arras_edge;

/* Index of the cell along an axis. */
ARRAS_API arras_expr arras_expr_index(arras_graph *g, int axis);
ARRAS_API arras_expr arras_expr_var(arras_graph *g, const char *name); /* variable of a reduction */
ARRAS_API arras_expr arras_expr_int(arras_graph *g, int64_t value);
ARRAS_API arras_expr arras_expr_float(arras_graph *g, double value);
ARRAS_API arras_expr arras_expr_complex(arras_graph *g, double re, double im);
ARRAS_API arras_expr arras_expr_size(arras_graph *g, arras_dim size);
ARRAS_API arras_expr arras_expr_cast(arras_expr x, arras_dtype dtype);
ARRAS_API arras_expr arras_expr_apply(int op, int n, const arras_expr *operands);
/* x[i, j, ...]; edges NULL: all NONE.  Negative indices are outside: they do not count from the
 * end. */
ARRAS_API arras_expr arras_expr_load(arras_array x, int n, const arras_expr *indices,
                                     const arras_edge *edges);
/* The reduction of `body` over lo <= var < hi; the bounds may read arrays. */
ARRAS_API arras_expr  arras_expr_reduce(int reduction, const char *var, arras_expr lo,
                                        arras_expr hi, arras_expr body);
ARRAS_API const char *arras_expr_error(arras_expr e); /* NULL unless poison */

/* The array of this shape in which each cell is `cell`.  where() evaluates only the branch that it
 * takes, so it may guard a read. */
ARRAS_API arras_array arras_lambda(arras_graph *g, int rank, const arras_dim *shape,
                                   arras_expr cell);

/* n arrays of one shape: out[k][i] = x[i + offsets[k*rank ...]], with a rule per axis (NULL: all
 * NONE).
 * Along an axis of rule NONE all of them shrink to the cells whose every neighbour exists. */
ARRAS_API void arras_neighbours(arras_array *out, arras_array x, int n, const int64_t *offsets,
                                const arras_edge *edges);
/* The weighted sum of the same neighbours. */
ARRAS_API arras_array arras_stencil(arras_array x, int n, const int64_t *offsets,
                                    const double *weights, const arras_edge *edges);

/* ---- Functions: traced once, called often ---------------------------------------------------- */

/* A formal parameter: used only in the body of the one function it is given to. */
ARRAS_API arras_array arras_param(arras_graph *g, const char *name, arras_dtype dtype, int rank,
                                  const arras_dim *shape);
/* Sizes in the parameters' shapes are the function's own and are found anew in every call. */
ARRAS_API arras_function arras_function_new(arras_graph *g, const char *name, int nparams,
                                            const arras_array *params, int nresults,
                                            const char *const *names, const arras_array *results);
/* The result called `result`; calls with the same arguments are one call. */
ARRAS_API arras_array arras_call(arras_function f, const char *result, int n,
                                 const arras_array *args);

/* ---- Programs: named outputs, text, pictures, values ----------------------------------------- */

/* Names an output; returns x, or poison when the name does not do. */
ARRAS_API arras_array arras_output(arras_graph *g, const char *name, arras_array x);
ARRAS_API int         arras_output_count(const arras_graph *g);
ARRAS_API const char *arras_output_name(const arras_graph *g, int i);  /* NULL when out of range */
ARRAS_API arras_array arras_output_array(const arras_graph *g, int i); /* NULL when out of range */
/* NULL when unknown. */
ARRAS_API arras_array arras_find_input(const arras_graph *g, const char *name);

/* ARRAS_OK, or the first thing wrong with the program's outputs. */
ARRAS_API arras_status arras_check(const arras_graph *g, arras_error *err);

typedef struct arras_summary {
    int64_t nodes;                /* that the outputs need, bodies of functions included */
    int64_t depth, width;         /* levels, and nodes of the widest one */
    int64_t flops;                /* arithmetic operations, an fma counts two */
    int64_t bytes_in, bytes_out;  /* of inputs and data, of outputs */
    int64_t bytes_between;        /* if every other node were stored */
    bool    symbolic; /* some size is not known: flops and bytes leave those nodes out */
} arras_summary;
ARRAS_API arras_status arras_summarize(arras_summary *out, const arras_graph *g, arras_error *err);

/* Texts are NUL-terminated and released with arras_text_free; length may be NULL. */
typedef enum {
    ARRAS_TEXT_FULL,    /* can be read back */
    ARRAS_TEXT_BRIEF,   /* data of more than 8 elements is cut; for people */
    ARRAS_TEXT_DOT,     /* for Graphviz */
    ARRAS_TEXT_SUMMARY, /* nodes by kind, bytes, flops, depth, width by level; for people */
    ARRAS_TEXT_END
} arras_text_form;
ARRAS_API arras_status arras_graph_print(char **out, size_t *length, const arras_graph *g,
                                         arras_text_form form, arras_error *err);
ARRAS_API arras_status arras_graph_read(arras_graph **out, const char *text, size_t length,
                                        arras_error *err);
ARRAS_API void         arras_text_free(char *text);

typedef struct arras_buffer {
    void          *data;
    arras_dtype    dtype;
    int            rank;
    const int64_t *shape;
    const int64_t *strides; /* in bytes; NULL: C order */
} arras_buffer;
typedef struct arras_binding {
    const char  *name;
    arras_buffer buffer;
} arras_binding;
typedef struct arras_results arras_results;

/* Runs the program with the reference evaluator.  Inputs are bound by name; a size may be bound too
 * (a 0-d integer), otherwise it is found from the inputs' shapes. */
ARRAS_API arras_status         arras_evaluate(arras_results **out, const arras_graph *g, int n,
                                              const arras_binding *inputs, arras_error *err);
ARRAS_API int                  arras_results_count(const arras_results *r);
/* NULL when outside. */
ARRAS_API const arras_binding *arras_results_at(const arras_results *r, int i);
ARRAS_API const arras_binding *arras_results_find(const arras_results *r, const char *name);
ARRAS_API void                 arras_results_free(arras_results *r);

/* ---- Compile once, launch often -------------------------------------------------------------- */

/* Compiling optimises a program, plans its memory and its tasks and builds its kernels; what was
 * built before is found in memory or on disk.  Launching binds arrays and runs the tasks on all
 * CPUs. Where there is no C compiler, or a program is beyond what kernels can do, the reference
 * evaluator runs instead: slower, with the same results. */
typedef struct arras_program arras_program;

typedef struct arras_options {
    int         threads;    /* 0: one for each CPU */
    int64_t     tile_bytes; /* what a task should touch; 0: from the sizes of the caches */
    bool        no_fusion;  /* every array a kernel of its own; to see what fusion gives */
    bool        reference;  /* always the reference evaluator */
    bool        no_cache;   /* neither look for the program in memory or on disk, nor keep it */
    const char *cache;      /* directory; NULL: $ARRAS_CACHE_DIR, else arras in the user's cache */
    const char *compiler;   /* name or path; NULL: $ARRAS_CC, else cc */
} arras_options;

/* options: NULL for the defaults.  The graph may be freed; what it borrowed must stay. */
ARRAS_API arras_status arras_compile(arras_program **out, const arras_graph *g,
                                     const arras_options *options, arras_error *err);
/* Waits for runs that were started. */
ARRAS_API void         arras_program_free(arras_program *p);
/* NULL, or one line that says why the program runs in the reference evaluator. */
ARRAS_API const char  *arras_program_warning(const arras_program *p);

/* Binds inputs, sizes and outputs by name, runs, and returns when all is done.  An output that is
 * bound is written in place; the others are new arrays in *out, which stay valid whatever is
 * launched later (release them with arras_results_free).  out may be NULL when all outputs are
 * bound.  An output may share memory with inputs, but not with another output.  A launch like the
 * one before (same arrays, all outputs bound) allocates nothing.  Several threads may launch the
 * same program at once. */
ARRAS_API arras_status arras_launch(arras_results **out, arras_program *p, int n,
                                    const arras_binding *bindings, arras_error *err);

/* The same in two steps.  Arrays that are bound must stay until the wait is over; every run that
 * was started is waited for once, which also releases it. */
typedef struct arras_run arras_run;
ARRAS_API arras_status arras_launch_start(arras_run **out, arras_program *p, int n,
                                          const arras_binding *bindings, arras_error *err);
ARRAS_API arras_status arras_launch_wait(arras_results **out, arras_run *run, arras_error *err);
/* From any thread, before the wait returns: it returns ARRAS_ECANCEL soon, if not done already.
 * Outputs are then partly written. */
ARRAS_API void         arras_launch_cancel(arras_run *run);
/* How much of a run has been begun, from 0 to 1; below 0 when that is not known.  From any thread,
 * before the wait returns. */
ARRAS_API double       arras_launch_progress(const arras_run *run);

/* What compiling did and what launches do. */
typedef struct arras_counters {
    int64_t nodes;            /* of the program as recorded */
    int64_t kernels;          /* different ones, after those of equal structure became one */
    int64_t tasks, edges;     /* of the task graph of the last launch */
    int64_t launches;
    int64_t updates;          /* operands that changed in the last launch against the one before */
    int64_t allocations;      /* by the last launch */
    int64_t bytes_before;     /* moved if every array were stored */
    int64_t bytes_moved;      /* as fused */
    int64_t bytes_compulsory; /* inputs once, outputs once */
    int64_t temporaries;      /* sum of all temporary arrays, in bytes */
    int64_t planned;          /* memory planned for them */
    int64_t live;             /* the most that is alive at once: no plan can do with less */
    int64_t optimise_ns, plan_ns, generate_ns, build_ns; /* of arras_compile */
    bool    from_memory, from_disk;                      /* where the kernels came from */
} arras_counters;
/* Sizes of the last launch are used for bytes; before the first, bytes of symbolic shapes are 0. */
ARRAS_API void arras_program_counters(arras_counters *out, const arras_program *p);

/* From now on the tasks of launches are timed; for ARRAS_PROGRAM_TRACE. */
ARRAS_API arras_status arras_program_trace(arras_program *p, bool on, arras_error *err);

typedef enum {
    ARRAS_PROGRAM_EXPLAIN, /* every decision with its numbers; for people */
    ARRAS_PROGRAM_SOURCE,  /* the generated C */
    ARRAS_PROGRAM_DOT,     /* the task graph of the last launch, for Graphviz */
    ARRAS_PROGRAM_TRACE,   /* the last launch, for Perfetto or chrome://tracing */
    ARRAS_PROGRAM_TEXT_END
} arras_program_text;
ARRAS_API arras_status arras_program_print(char **out, size_t *length, const arras_program *p,
                                           arras_program_text form, arras_error *err);

/* ---- Arrays in files ------------------------------------------------------------------------- */

/* An array at rest: in a .npy file, in HDF5 and netCDF, in a Zarr directory, in a file of plain
 * cells.  `inside` names it within its file ("/ocean/ssh"); NULL: the only one there. */
typedef struct arras_source arras_source;
typedef struct arras_sink   arras_sink;

typedef struct arras_store_info {
    arras_dtype dtype; /* of the cells as they are read; ARRAS_NO_DTYPE: they are not numbers */
    int         rank;
    int64_t     shape[ARRAS_MAX_RANK];
    int64_t     chunk[ARRAS_MAX_RANK]; /* of one that is not chunked: the shape, at least 1 */
    bool        chunked;
    bool        growable[ARRAS_MAX_RANK]; /* unlimited dimensions */
    char        format[32];               /* "HDF5", "Zarr v3" */
    char        layout[128];              /* "chunked", "contiguous" */
    char        stored[64];               /* type as stored: "big-endian f32" */
    char        codecs[256];              /* "shuffle, deflate 4"; "" for none */
    int64_t     stored_bytes;             /* -1: not known */
    uint8_t     fill[16];                 /* a cell: the value of what is not stored */
    char        axes[ARRAS_MAX_RANK][64]; /* names of dimensions; "" where there are none */
} arras_store_info;

ARRAS_API arras_status arras_source_open(arras_source **out, const char *path, const char *inside,
                                         arras_error *err);

/* Attributes may say (as netCDF and its CF conventions have it) that cells are packed: scale_factor
 * and add_offset; that some are missing: _FillValue and missing_value; or that integers are to be
 * taken as _Unsigned.  They are heard in every format that has attributes.  Unpacked cells are of
 * the type of the two factors, those without factors f32 if they are integers of at most 16 bits,
 * f64 if they are longer ones; reals stay what they are.  valid_range and the like are not looked
 * at. */
typedef enum arras_missing {
    ARRAS_MISSING_RAW,       /* the numbers that are stored, whatever attributes say */
    ARRAS_MISSING_PROPAGATE, /* unpacked; a missing cell is NaN, and so is what is made of it */
    ARRAS_MISSING_REPLACE    /* unpacked; a missing cell is `replacement`: one that a sum (0), a
                                maximum (-INFINITY) ignores */
} arras_missing;

typedef struct arras_source_options {
    arras_missing missing;
    double        replacement;
} arras_source_options;

/* arras_source_open with options; NULL: cells as they are stored. */
ARRAS_API arras_status arras_source_open_with(arras_source **out, const char *path,
                                              const char                 *inside,
                                              const arras_source_options *options,
                                              arras_error                *err);
ARRAS_API void         arras_source_close(arras_source *s);
ARRAS_API const arras_store_info *arras_source_info(const arras_source *s);
/* Attributes, one line each; release with arras_text_free. */
ARRAS_API arras_status arras_source_describe(char **out, arras_source *s, arras_error *err);
/* Cells lo <= i < hi into memory with these strides (bytes; NULL: C order), decoded on so many
 * threads (0: one for each CPU). */
ARRAS_API arras_status arras_source_read(arras_source *s, const int64_t *lo, const int64_t *hi,
                                         void *cells, const int64_t *strides, int threads,
                                         arras_error *err);
/* From now on each box that is read, and the box that a stream needs of the source as a whole, is
 * appended to a file as a line of CSV: start and stop for each axis.  arras_workload_from_log reads
 * it.  path NULL: no more. */
ARRAS_API arras_status arras_source_log(arras_source *s, const char *path, arras_error *err);
/* Stored chunks that were fetched since it was opened, and their bytes as stored. */
ARRAS_API void arras_source_fetched(int64_t *chunks, int64_t *bytes, const arras_source *s);
/* What a container holds: a line "path TAB type and shape" for each array. */
ARRAS_API arras_status arras_source_list(char **out, const char *path, const char *inside,
                                         arras_error *err);

typedef struct arras_sink_options {
    const char         *codecs;   /* "zstd 3", "shuffle deflate 4", "none"; NULL: the default */
    const int64_t      *chunk;    /* NULL: chosen */
    const void         *fill;     /* a cell; NULL: 0 */
    const bool         *growable; /* of each axis; NULL: none */
    const arras_source *like;     /* whose attributes and names of dimensions are copied; or NULL */
    int                 version;  /* of the format: Zarr 2 or 3; 0: the newest */
    bool                replace;  /* a .npy file that is there, when the new one is finished */
} arras_sink_options;

/* A new array.  It appears under its name when it is finished, whole; what there is under that name
 * already is refused. */
ARRAS_API arras_status arras_sink_create(arras_sink **out, const char *path, const char *inside,
                                         arras_dtype dtype, int rank, const int64_t *shape,
                                         const arras_sink_options *options, arras_error *err);
/* A new array whose cells survive the process: they are collected in a directory beside the file,
 * ".NAME.partial", and brought to disk every `period` seconds by a thread of its own.  Made again
 * with the same identity (any text that says what is being computed, and from which inputs), it
 * has the cells that were there, and arras_stream_start does not compute them again; another
 * identity is refused.  With a mean time E between failures, an array of V bytes that takes V/T
 * seconds needs V/(T*E) checkpoints: a period of E.  Finished, it is an array like others;
 * abandoned, it stays. */
ARRAS_API arras_status arras_sink_resume(arras_sink **out, const char *path, const char *inside,
                                         arras_dtype dtype, int rank, const int64_t *shape,
                                         const arras_sink_options *options, const char *identity,
                                         double period, arras_error *err);
/* An array of HDF5, netCDF-4 or Zarr that is there, made longer by so many cells along an axis;
 * nothing of it is moved.  arras_sink_info says the new shape; the box of new cells begins where the
 * old ones end, and all of it has to be written.  The array is longer when the sink is finished;
 * until then, and if that fails, it is what it was.  HDF5 works on a copy of the file, which costs
 * nothing where the file system shares blocks. */
ARRAS_API arras_status arras_sink_append(arras_sink **out, const char *path, const char *inside,
                                         int axis, int64_t extra, arras_error *err);
ARRAS_API const arras_store_info *arras_sink_info(const arras_sink *s);
/* Boxes of whole chunks, or as far as the array goes; what is never written is the fill value. */
ARRAS_API arras_status arras_sink_write(arras_sink *s, const int64_t *lo, const int64_t *hi,
                                        const void *cells, const int64_t *strides, int threads,
                                        arras_error *err);
/* Both release the sink. */
ARRAS_API arras_status arras_sink_finish(arras_sink *s, arras_error *err);
ARRAS_API void         arras_sink_abandon(arras_sink *s);
/* Removes what there is of all sinks of the process that are not finished.  For handlers of signals
 * that end it, which must be the next thing to happen. */
ARRAS_API void arras_sinks_discard(void);

/* ---- Programs on arrays in files ------------------------------------------------------------- */

/* An input that is read from a source, or an output that is written to a sink (the caller finishes
 * it, or abandons it after a failure). */
typedef struct arras_stored {
    const char   *name;
    arras_source *source; /* of an input; else NULL */
    arras_sink   *sink;   /* of an output; else NULL */
} arras_stored;

typedef struct arras_stream_options {
    int64_t memory; /* bytes that may be used, beside what is bound; 0: half of what is free */
} arras_stream_options;

/* Runs a program tile by tile: for each tile it reads what the tile needs, halo included, computes
 * all that lies between in memory, and writes.  Arrays in files may be larger than memory.  Cells
 * have the bits that arras_launch would give them, whatever the tiles, threads and memory.
 *
 * Inputs are bound in memory or in files; outputs without a sink become results (release them with
 * arras_results_free; out may be NULL when there are none). */
typedef struct arras_stream arras_stream;
ARRAS_API arras_status arras_stream_start(arras_stream **out, arras_program *p, int n,
                                          const arras_binding *bindings, int nstored,
                                          const arras_stored *stored,
                                          const arras_stream_options *options, arras_error *err);
/* Once for each stream. */
ARRAS_API arras_status arras_stream_wait(arras_results **out, arras_stream *stream,
                                         arras_error *err);
/* From any thread: the wait returns ARRAS_ECANCEL soon, if not done already. */
ARRAS_API void arras_stream_cancel(arras_stream *stream);
/* From any thread: how much has been begun, from 0 to 1; below 0 when that is not known. */
ARRAS_API double arras_stream_progress(const arras_stream *stream);
/* What was not waited for is cancelled. */
ARRAS_API void arras_stream_free(arras_stream *stream); /* NULL is fine */
/* Passes, tiles and what is kept in memory, for people; release with arras_text_free. */
ARRAS_API arras_status arras_stream_explain(char **out, const arras_stream *stream,
                                            arras_error *err);

/* ---- Chunk shapes ---------------------------------------------------------------------------- */

/* How an array is read: shapes of queries with their probabilities, or, independent of each other,
 * lengths along each axis.  Never changes once it is made. */
typedef struct arras_workload arras_workload;

/* n shapes of queries, n * rank lengths.  Probabilities are texts, so that they are exact: "1/3",
 * "0.25"; they add up to 1.  NULL: all are equal. */
ARRAS_API arras_status arras_workload_from_shapes(arras_workload **out, int rank, int64_t n,
                                                  const int64_t     *shapes,
                                                  const char *const *probabilities,
                                                  arras_error       *err);
/* Entry i: along axes[i] a query is lengths[i] cells long with this probability; those of an axis
 * add up to 1, and every axis has some. */
ARRAS_API arras_status arras_workload_from_ranges(arras_workload **out, int rank, int64_t n,
                                                  const int *axes, const int64_t *lengths,
                                                  const char *const *probabilities,
                                                  arras_error       *err);
/* Queries that were made, lo <= i < hi: n * rank numbers each. */
ARRAS_API arras_status arras_workload_from_boxes(arras_workload **out, int rank, int64_t n,
                                                 const int64_t *lo, const int64_t *hi,
                                                 arras_error *err);
/* The same from a text, CSV or JSON (docs/chunking.md); `name` is for messages. */
ARRAS_API arras_status arras_workload_from_log(arras_workload **out, int rank, const char *text,
                                               size_t length, const char *name, arras_error *err);
/* The lengths along each axis by themselves; and all combinations of these. */
ARRAS_API arras_status arras_workload_independent(arras_workload **out, const arras_workload *w,
                                                  arras_error *err);
ARRAS_API arras_status arras_workload_joint(arras_workload **out, const arras_workload *w,
                                            arras_error *err);
ARRAS_API void         arras_workload_free(arras_workload *w);
ARRAS_API bool         arras_workload_is_independent(const arras_workload *w);
/* Different shapes, in ascending order; 0 when independent. */
ARRAS_API int64_t      arras_workload_count(const arras_workload *w);
/* Its probability is *weight / *total; false: no such shape. */
ARRAS_API bool         arras_workload_shape(const arras_workload *w, int64_t i, int64_t *shape,
                                            int64_t *weight, int64_t *total);
ARRAS_API int64_t      arras_workload_queries(const arras_workload *w); /* logged ones */

typedef enum {
    ARRAS_CHUNKS_EXACT, /* the mean over all places of a query inside the array */
    ARRAS_CHUNKS_PAPER, /* the product of (length - 1) / edge + 1: as if there were no border */
    ARRAS_CHUNKS_SS,    /* the product of ceil(length / edge): Sarawagi and Stonebraker's */
    ARRAS_CHUNKS_END
} arras_chunk_model;

typedef struct arras_chunk_options {
    int               rank;
    const int64_t    *shape; /* of the array */
    int64_t           cell_bytes;
    int64_t           limit; /* bytes of a chunk, at most; 0: 1 MiB, or 64 MiB if time is asked */
    arras_chunk_model model;
    bool              powers_of_two; /* edges are; otherwise any whole number */
    const int64_t    *fixed;         /* edges that are given, 0 where free; NULL: none */
    const int64_t    *multiple; /* what edges are multiples of; 0 or 1: of anything; NULL: all so */
    double            within;   /* 0.01: of shapes that near the least cost take a balanced one */
    /* Time for a chunk, with which the size is chosen too; bandwidth 0: only chunks are counted. */
    double latency;   /* seconds until its first byte */
    double bandwidth; /* stored bytes a second */
    double decoding;  /* bytes of cells decoded a second; 0: at once */
    double ratio;     /* bytes of cells by stored bytes; 0: 1 */
} arras_chunk_options;

typedef struct arras_chunk_advice {
    int64_t chunk[ARRAS_MAX_RANK]; /* advised */
    int64_t least[ARRAS_MAX_RANK]; /* of the least cost; differs if a balanced one was preferred */
    int64_t cells;                 /* of the advised chunk */
    bool    proven;                /* no shape costs less than `least` */
    double  gap;      /* the advised costs at most 1 + gap times what the best possible would */
    int64_t examined; /* partial shapes that were looked at */
} arras_chunk_advice;

ARRAS_API arras_status arras_chunk_advise(arras_chunk_advice *out, const arras_workload *w,
                                          const arras_chunk_options *options, arras_error *err);
/* Chunks a query reads, on average; and seconds, 0 without a bandwidth.  `exact`: a fraction "7/3"
 * to be released with arras_text_free, NULL when it has more than 8192 bits; it may be NULL. */
typedef struct arras_chunk_costs {
    double chunks, seconds;
} arras_chunk_costs;
ARRAS_API arras_status arras_chunk_cost(arras_chunk_costs *out, char **exact,
                                        const arras_workload      *w,
                                        const arras_chunk_options *options, const int64_t *chunk,
                                        arras_error *err);
/* The same of one shape of a workload. */
ARRAS_API arras_status arras_chunk_cost_of(arras_chunk_costs *out, char **exact,
                                           const arras_workload *w, int64_t shape,
                                           const arras_chunk_options *options,
                                           const int64_t *chunk, arras_error *err);
/* Chunks that the logged queries read, all together; and how far the mean of a query may be off
 * (its standard error) for it was estimated from so many. */
ARRAS_API arras_status arras_chunk_trace(int64_t *chunks, double *error, const arras_workload *w,
                                         const int64_t *chunk, arras_error *err);
/* Checked: cells of a chunk times bytes of a cell; for HDF5 both stay below 2^32. */
ARRAS_API arras_status arras_chunk_bytes(int64_t *out, int rank, const int64_t *chunk,
                                         int64_t cell_bytes, bool for_hdf5, arras_error *err);

/* Shapes that others choose. */
typedef enum {
    ARRAS_GUESS_H5PY,
    ARRAS_GUESS_ZARR,
    ARRAS_GUESS_DASK,
    ARRAS_GUESS_NETCDF,
    ARRAS_GUESS_REW,         /* Rew's for series and maps of 3 axes */
    ARRAS_GUESS_CLOSED_FORM, /* of the paper, rounded to powers of two as it says */
    ARRAS_GUESS_GREEDY,      /* the paper's algorithm for shapes of queries */
    ARRAS_GUESS_END
} arras_chunk_guess;
ARRAS_API const char  *arras_chunk_guess_name(arras_chunk_guess guess); /* "h5py" */
/* ARRAS_EINVAL with the reason where there is none. */
ARRAS_API arras_status arras_chunk_guess_shape(int64_t *chunk, arras_chunk_guess guess,
                                               const arras_workload      *w,
                                               const arras_chunk_options *options,
                                               arras_error               *err);

/* ---- Other chunks ---------------------------------------------------------------------------- */

/* Copies an array into one that has other chunks, box by box.  Each chunk of the sink is written
 * once; each of the source is read once where the memory allows it, and `times` says how often
 * otherwise.  The source is not changed.  A sink of arras_sink_resume gets what it lacks. */
typedef struct arras_rechunk_options {
    int64_t memory;  /* bytes that may be used; 0: half of what is free */
    int     threads; /* 0: one for each CPU */
} arras_rechunk_options;

typedef struct arras_rechunk_report {
    int64_t box[ARRAS_MAX_RANK]; /* what is copied at once */
    int64_t boxes;
    int64_t boxes_before;   /* of these, there already */
    int     lanes, threads; /* boxes under way at once; threads that work on them */
    int64_t memory;         /* bytes, at most */
    int64_t chunks;         /* of the source; 0: it has none */
    double  times;          /* how often a chunk is read, on average; 1 at best */
    int64_t read;           /* chunks that were read, so far */
} arras_rechunk_report;

/* The caller finishes the sink, or abandons it after a failure.  report: may be NULL. */
ARRAS_API arras_status arras_rechunk(arras_rechunk_report *report, arras_source *source,
                                     arras_sink *sink, const arras_rechunk_options *options,
                                     arras_error *err);
/* The same in steps: each start has one wait.  Until it is freed any thread may cancel it, ask how
 * much has been begun (0 to 1; below 0: not known), and look at the report. */
typedef struct arras_rechunking arras_rechunking;
ARRAS_API arras_status arras_rechunk_start(arras_rechunking **out, arras_source *source,
                                           arras_sink *sink, const arras_rechunk_options *options,
                                           arras_error *err);
ARRAS_API arras_status arras_rechunk_wait(arras_rechunking *r, arras_error *err);
ARRAS_API void         arras_rechunk_cancel(arras_rechunking *r);
ARRAS_API double       arras_rechunk_progress(const arras_rechunking *r);
ARRAS_API void         arras_rechunk_look(arras_rechunk_report *out, const arras_rechunking *r);
ARRAS_API void         arras_rechunk_free(arras_rechunking *r); /* cancels what is not waited for */

/* ---- Connected components -------------------------------------------------------------------- */

/* Cells that belong together and touch get the same number: 1, 2, ... in the order of the first
 * cell of each component, in C order; all other cells get 0.  The same numbers whatever the number
 * of threads and the memory. */
typedef enum {
    ARRAS_LABEL_NONZERO, /* cells that are not 0 belong to components */
    ARRAS_LABEL_ABOVE,   /* cells above `value` */
    ARRAS_LABEL_EQUAL,   /* cells that are `value` */
    ARRAS_LABEL_RULES
} arras_label_rule;

typedef struct arras_label_options {
    int              neighbours; /* 2 along one axis; 4 or 8; 6, 18 or 26; 0: the fewest of them */
    arras_label_rule rule;
    double           value;
    int              threads; /* 0: one for each CPU */
    int64_t          memory;  /* bytes, for arrays in files; 0: half of what the machine has */
} arras_label_options;

/* Arrays of 1 to 3 axes, of any type but complex.  The labels are i32 or i64 and have the shape of
 * the cells; they may lie in the same place.  options: NULL for the defaults; count, the number of
 * components, may be NULL. */
ARRAS_API arras_status arras_label(int64_t *count, const arras_buffer *cells,
                                   const arras_buffer *labels, const arras_label_options *options,
                                   arras_error *err);
/* From file to file, in two passes: a source may be read twice.  The caller finishes the sink, or
 * abandons it after a failure. */
ARRAS_API arras_status arras_label_stored(int64_t *count, arras_source *source, arras_sink *sink,
                                          const arras_label_options *options, arras_error *err);

/* The same in steps.  Arrays must stay until the wait is over.  Until it is freed, any thread may
 * cancel a labelling (the wait then returns ARRAS_ECANCEL soon, and labels are partly written), or
 * ask how much of it has been begun: 0 to 1, below 0 when that is not known. */
typedef struct arras_labelling arras_labelling;
ARRAS_API arras_status arras_label_start(arras_labelling **out, const arras_buffer *cells,
                                         const arras_buffer *labels,
                                         const arras_label_options *options, arras_error *err);
ARRAS_API arras_status arras_label_stored_start(arras_labelling **out, arras_source *source,
                                                arras_sink *sink,
                                                const arras_label_options *options,
                                                arras_error *err);
ARRAS_API arras_status arras_label_wait(int64_t *count, arras_labelling *l, arras_error *err);
ARRAS_API void         arras_label_free(arras_labelling *l); /* cancels what is not waited for */
ARRAS_API void         arras_label_cancel(arras_labelling *l);
ARRAS_API double       arras_label_progress(const arras_labelling *l);

#include <arras/ops.h>

#ifdef __cplusplus
}
#endif

#endif
