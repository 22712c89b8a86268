/* arras.h -- record array programs, look at them, evaluate them.
 *
 * A program is recorded in a graph: every builder below takes arrays and returns an array that
 * stands for the result; nothing is computed until the program is evaluated.
 *
 *   Builders never fail.  A wrong shape, type, axis or name gives a poison array; it may be used
 *   like any other, and the message appears when the program is run (or ask arras_array_error).
 *   Ownership.  A graph owns everything recorded in it; arguments are borrowed for the call, but
 *   for the memory of arras_borrow.  What comes through `out` is released once, by the caller.
 *   Threads.  One thread at a time may record in a graph; finished graphs may be read by many.
 *   Stacks.  Threads that call have at least 64 KB left of theirs; what takes more runs on one of
 *   ours. */
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
/* Data known now: copied into the graph, or borrowed.  What is borrowed must outlive the graph and
 * stay as it is: what depends on it alone is computed once, and indices are looked at when they are
 * recorded and compiled, not when they are read.
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

/* The sum of the cells up to each along an axis, that one included; types as of sum. */
ARRAS_API arras_array arras_cumulative_sum(arras_array x, int axis);

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
/* The reduction of `body` over lo <= var < hi; the bounds may read arrays.  A sum of a few products
 * of reals rounds each once (docs/semantics.md). */
ARRAS_API arras_expr  arras_expr_reduce(int reduction, const char *var, arras_expr lo,
                                        arras_expr hi, arras_expr body);
/* Over n variables, whose bounds may depend on those before: over the set of their values, taken
 * row by row.  An error only where the whole set is empty.  argmin and argmax over more than one
 * give the number of the tuple in the set. */
ARRAS_API arras_expr arras_expr_reduce_over(int reduction, int n, const char *const *vars,
                                            const arras_expr *lo, const arras_expr *hi,
                                            arras_expr body);
/* As arras_mean, arras_var and arras_std: integers as f64; nan over nothing. */
ARRAS_API arras_expr  arras_expr_mean_over(int n, const char *const *vars, const arras_expr *lo,
                                           const arras_expr *hi, arras_expr body);
ARRAS_API arras_expr  arras_expr_var_over(int n, const char *const *vars, const arras_expr *lo,
                                          const arras_expr *hi, int64_t ddof, arras_expr body);
ARRAS_API arras_expr  arras_expr_std_over(int n, const char *const *vars, const arras_expr *lo,
                                          const arras_expr *hi, int64_t ddof, arras_expr body);
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
 * evaluator runs instead: slower, with the same results, but for products of matrices that kernels
 * add up in another order (docs/semantics.md). */
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
/* EINVAL, and one line that says why and what to do, when nothing compiled with these options can
 * be kept on disk: the folder belongs to another user, or others can write to it, or the one that
 * was named cannot be used.  Programs compile and run all the same, in each process anew. */
ARRAS_API arras_status arras_cache_check(const arras_options *options, arras_error *err);

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

#include <arras/ops.h>

/* ---- Memory ---------------------------------------------------------------------------------- */

/* Bytes that can be had before the system would have to swap or end somebody: what Linux calls
 * available, or what the limits of the process's control groups leave, whichever is less.
 * INT64_MAX when the system does not say.  What takes "half of what is free" takes half of this. */
ARRAS_API int64_t arras_memory_available(void);

/* ---- Stacks ---------------------------------------------------------------------------------- */

/* For those who build on the library and walk deep expressions, as it does: calls `work` here if 2
 * MB is left of the stack, else on a thread of its own that has more, and returns what it does. */
ARRAS_API arras_status arras_with_room(arras_status (*work)(void *context, arras_error *err),
                                       void *context, arras_error *err);

#ifdef __cplusplus
}
#endif

/* Arrays in files, which the others build on. */
#include <arras/files.h>

#include <arras/chunks.h>
#include <arras/components.h>

#endif
