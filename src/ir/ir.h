/* ir.h -- the recorded program: types, sizes, scalar expressions, nodes, graphs, texts.
 *
 * Nodes and expressions are immutable, live in their graph's arena and are hash-consed: within one
 * graph two equal things are one pointer, and every input has a smaller id than its user.  Builders
 * (those that return arras_array or arras_expr) never return NULL: what is wrong is poison.
 * Sees base/ only. */
#ifndef AR_IR_H
#define AR_IR_H

#include "base/base.h"
#include "ir/trees.h"

/* ---- Tables ---------------------------------------------------------------------------------- */

typedef enum {
#define AR_KIND(name, word, help) AR_##name,
#include "ir/kinds.def"
#undef AR_KIND
    AR_KIND_END
} ar_kind;

typedef enum {
#define AR_OP(name, arity, rule, cost, b, i, r, c, help) AR_OP_##name,
#include "ir/ops.def"
#undef AR_OP
    AR_OP_END
} ar_op;

typedef enum {
#define AR_REDUCTION(name, op, rule, identity, help) AR_REDUCE_##name,
#include "ir/reductions.def"
#undef AR_REDUCTION
    AR_REDUCTION_END
} ar_reduction;

const char *ar_kind_word(ar_kind kind);
const char *ar_op_name(ar_op op);
int         ar_op_arity(ar_op op);
const char *ar_op_help(ar_op op);
int         ar_op_units(ar_op op); /* what it costs, in additions of vectors */
int         ar_op_flops(ar_op op); /* what it counts as */
int         ar_op_find(const char *name, size_t length); /* -1 when unknown */
const char *ar_reduction_name(ar_reduction reduction);
int         ar_reduction_find(const char *name, size_t length);
ar_op       ar_reduction_op(ar_reduction reduction); /* combines two cells */
/* What combines the results of a reduction over some of its cells each: they are added up by a sum
 * where cells are counted. */
ar_reduction ar_reduction_of_results(ar_reduction reduction);
/* The value of a reduction over nothing: 0, 1, or -1 where there is none. */
int ar_reduction_identity(ar_reduction reduction);

/* ---- Types (types.c) ------------------------------------------------------------------------- */

typedef enum {
    AR_CLASS_NONE,
    AR_CLASS_BOOL,
    AR_CLASS_UNSIGNED,
    AR_CLASS_SIGNED,
    AR_CLASS_REAL,
    AR_CLASS_COMPLEX
} ar_class;

/* A type as promotion sees it.  Weak: an untyped number, whose dtype is i64, f64 or c128. */
typedef struct {
    arras_dtype dtype;
    bool        weak;
} ar_type;

enum { AR_MAX_ARITY = 3 };

typedef struct {
    arras_dtype operand[AR_MAX_ARITY]; /* what each operand is cast to */
    arras_dtype compute;               /* whose row of functions is used */
    ar_type     result;
} ar_signature;

ar_class    ar_dtype_class(arras_dtype dtype);
size_t      ar_dtype_size(arras_dtype dtype);
const char *ar_dtype_name(arras_dtype dtype);
arras_dtype ar_dtype_find(const char *name, size_t length);
arras_dtype ar_dtype_real(arras_dtype dtype); /* of the parts of a complex type; else itself */
bool        ar_dtype_valid(arras_dtype dtype);
bool        ar_dtype_is_integer(arras_dtype dtype); /* signed or unsigned, not bool */

/* NumPy 2's promotion, in one place. */
ar_type ar_promote(ar_type a, ar_type b);
/* Of several types, in whatever order they are met.  Zero-initialise one to start. */
typedef struct {
    arras_dtype widest[AR_CLASS_COMPLEX + 1]; /* of each class */
    arras_dtype untyped;
} ar_types_met;
void    ar_types_meet(ar_types_met *visited, ar_type type);
ar_type ar_types_promote(const ar_types_met *visited);
bool    ar_op_is_comparison(ar_op op);
/* False when the operation is not defined for these types. */
bool ar_op_signature(ar_signature *out, ar_op op, const ar_type *operands);
/* Whether an untyped integer may take this type; always true for types that are not integers. */
bool ar_integer_fits(int64_t value, arras_dtype dtype);
/* u64 and a signed integer, which promotion would make f64, inexactly. */
bool ar_types_mixed(ar_type a, ar_type b);
/* What a comparison says of a negative number (operand number `side`) and one that is not. */
bool ar_negative_compares(ar_op op, int side);
/* operand[0]: what cells are cast to; compute: what they are combined in; result. */
bool ar_reduction_signature(ar_signature *out, ar_reduction reduction, ar_type operand);

/* ---- Values of single cells (scalar.c) ------------------------------------------------------- */

typedef union {
    uint8_t b;
    int64_t i;
    float   singles[2];
    double  f, parts[2];
    int64_t bits[2];
} ar_value; /* room for a cell of any type */

/* All three operands are readable, whatever the arity; they have the signature's operand types. */
typedef void ar_op_function(void *out, const void *x, const void *y, const void *z);

ar_op_function *ar_op_value(ar_op op, arras_dtype compute); /* NULL where not defined */
/* An operation that goes through a vector function of the C library here (vector_math.c): its
 * value, which is what ar_op_value gives, and its symbol; NULL: it does not. */
ar_op_function *ar_vector_math_value(ar_op op, arras_dtype dtype);
const char     *ar_vector_math_name(ar_op op, arras_dtype dtype);
/* Every nan becomes one nan. */
void ar_value_canonical(arras_dtype dtype, ar_value *value);
void ar_cell_cast(arras_dtype to, void *out, arras_dtype from, const void *cell);

/* ---- Sizes (dim.c, solve.c) ------------------------------------------------------------------ */

/* An arras_dim is a number >= 0, or INT64_MIN + k: the k-th affine form of the graph. */
typedef struct {
    int     size; /* which size */
    int64_t factor;
} ar_term;
typedef struct {
    const char *error; /* poison when not NULL */
    int64_t     constant;
    int         nterms;
    ar_term     terms[]; /* by size, factors not 0 */
} ar_affine;

bool ar_dim_symbolic(arras_dim dim);
/* NULL: a number, or not of g. */
const ar_affine *ar_dim_affine(const arras_graph *g, arras_dim dim);
/* NULL unless poison or invalid. */
const char *ar_dim_error(const arras_graph *g, arras_dim dim);
arras_dim   ar_dim_size(arras_graph *g, const char *name);
arras_dim   ar_dim_add(arras_graph *g, arras_dim a, arras_dim b);
arras_dim   ar_dim_sub(arras_graph *g, arras_dim a, arras_dim b);
arras_dim   ar_dim_mul(arras_graph *g, arras_dim a, arras_dim b);
/* A size of one graph in another, where size number k is sizes[k]. */
arras_dim ar_dim_move(arras_graph *to, const arras_graph *from, arras_dim dim,
                      const arras_dim *sizes);
void      ar_dim_print(ar_text *out, const arras_graph *g, arras_dim dim);
/* [n, 4]. */
void ar_shape_print(ar_text *out, const arras_graph *g, int rank, const arras_dim *shape);
/* of / by, when that is whole for whatever sizes; false otherwise. */
bool ar_dim_divide(arras_dim *out, arras_graph *g, arras_dim of, int64_t by);
/* `of` with the size number k replaced by sizes[k]; ARRAS_NONE there leaves it as it is. */
arras_dim ar_dim_substitute(arras_graph *g, arras_dim of, const arras_dim *sizes);

int         ar_size_count(const arras_graph *g);
const char *ar_size_name(const arras_graph *g, int size);
arras_dim   ar_size_dim(const arras_graph *g, int size);
int         ar_size_find(const arras_graph *g, const char *name); /* -1 when unknown */

/* The number a dim stands for, given every size; ESIZE when negative, unknown (-1) or too large. */
arras_status ar_dim_value(int64_t *out, const arras_graph *g, arras_dim dim, const int64_t *sizes,
                          arras_error *err);

/* One fact about sizes: `dim` is `value`, as seen at `axis` of the array called `name`. */
typedef struct {
    arras_dim   dim;
    int64_t     value;
    const char *name;
    int         axis; /* -1: the size was bound by name */
} ar_size_fact;
/* Finds every size the facts determine, exactly, as whole numbers >= 0; leaves the others at -1.
 * Conflicts are ESIZE and name both places.  sizes has room for ar_size_count(g). */
arras_status ar_sizes_solve(int64_t *sizes, const arras_graph *g, int n, const ar_size_fact *facts,
                            arras_error *err);

/* ---- Scalar expressions (expr.c) ------------------------------------------------------------- */

typedef enum {
    AR_EXPR_POISON,  /* name: the message; ints: code */
    AR_EXPR_INDEX,   /* ints: axis */
    AR_EXPR_VAR,     /* name */
    AR_EXPR_LITERAL, /* ints: the value, 2 x 64 bits; always weak: i64, f64 or c128 */
    AR_EXPR_SIZE,    /* ints: the dim */
    AR_EXPR_CAST,    /* args: x */
    AR_EXPR_OP,      /* ints: op; args: operands */
    AR_EXPR_LOAD,    /* ints: binding or -1, a rule per axis; args: an index per axis, then a fill
                        for each axis of rule CONSTANT; array: what is read, NULL once bound */
    AR_EXPR_REDUCE   /* ints: reduction, perhaps tree; name: variable; args: lo, hi, body */
} ar_expr_kind;

/* Which cells a REDUCE combines, for the order in which it does (trees.h). */
typedef enum {
    AR_TREE_WHOLE,
    /* Some of a longer range that starts at 0, from a multiple of a block on: unless that is 0, in
     * blocks even if they are few. */
    AR_TREE_PART,
    /* Results of parts, each of as many blocks, a power of two: the tree of blocks. */
    AR_TREE_PARTIALS,
    /* A sum of few products, whose body is a multiply of reals: each is added by an fma, rounded
     * once.  Its body stays a multiply, whatever becomes of the factors. */
    AR_TREE_FUSED
} ar_tree;

struct arras_expr_node {
    ar_expr_kind       kind;
    ar_type            type;
    int                nargs, nints;
    const arras_expr  *args;
    const int64_t     *ints;
    const char        *name;
    arras_array        array;
    arras_graph       *graph;
    int64_t            id;    /* inputs have smaller ids */
    int                depth; /* of nesting, limited */
    int                rank;  /* of a LOAD: number of indices */
    int                axes;  /* cells it can be evaluated in have at least this rank */
    uint32_t           uses;  /* axes whose index it depends on, one bit each */
    int                nfree; /* variables that no reduction within binds, by name */
    const char *const *free;
    uint64_t           hash;
    uint64_t           form; /* the same for expressions that differ in names and arrays only */
};

/* Whether a variable of a reduction around it is free in it. */
bool ar_expr_depends(arras_expr e, const char *variable);

/* A number of type i64. */
static inline bool ar_is_int(arras_expr e)
{
    return e->kind == AR_EXPR_LITERAL && e->type.dtype == ARRAS_I64;
}

enum { AR_MAX_DEPTH = 1000 };

arras_expr ar_expr_poison(arras_graph *g, arras_status code, const char *format, ...)
    AR_PRINTF(3, 4);
arras_expr ar_expr_index(arras_graph *g, int axis);
arras_expr ar_expr_var(arras_graph *g, const char *name);
/* I64, f64 or c128. */
arras_expr ar_expr_literal(arras_graph *g, arras_dtype dtype, ar_value value);
arras_expr ar_expr_size(arras_graph *g, arras_dim dim);
arras_expr ar_expr_cast(arras_expr x, arras_dtype dtype);
arras_expr ar_expr_apply(ar_op op, int n, const arras_expr *args);
arras_expr ar_expr_load(arras_array x, int n, const arras_expr *indices, const arras_edge *edges);
arras_expr ar_expr_reduce(ar_reduction reduction, const char *var, arras_expr lo, arras_expr hi,
                          arras_expr body);
arras_expr ar_expr_reduce_tree(ar_reduction reduction, ar_tree tree, const char *var, arras_expr lo,
                               arras_expr hi, arras_expr body);
ar_tree    ar_expr_tree(arras_expr reduce);
/* Whether AR_TREE_FUSED will do: of few products, as many as are known. */
bool ar_sum_can_be_fused(ar_reduction reduction, arras_expr lo, arras_expr hi, arras_expr body);
/* An operation, cast or reduction with other arguments, of the same graph; e where they are
 * equal. */
arras_expr ar_expr_with_args(arras_expr e, const arras_expr *args);

/* ---- Nodes ----------------------------------------------------------------------------------- */

struct arras_node {
    ar_kind            kind;
    ar_type            type;
    int                rank, ninputs, nints;
    const arras_dim   *shape;
    const arras_array *inputs; /* what these four hold is said in kinds.def */
    const int64_t     *ints;
    const char        *name;
    const void        *ref;
    arras_graph       *graph; /* NULL: the poison of no graph */
    int64_t            id;
    uint64_t           hash;
};

struct arras_funcdef {
    const char        *name;
    const char        *error; /* not NULL: a wrong definition; every call is poison */
    arras_status       code;  /* of that error */
    arras_graph       *graph;
    int                nparams, nresults;
    const arras_array *params;
    const char *const *result_names;
    const arras_array *results;
    int                id;    /* number in the graph */
    int                depth; /* of calls within */
};

/* An item of an INDEX node: a number, a slice or a new axis, checked and counted from the front. */
enum { AR_ITEM_KIND, AR_ITEM_START, AR_ITEM_STEP, AR_ITEM_LENGTH, AR_ITEM_INTS };

arras_array ar_poison(arras_graph *g, arras_status code, const char *format, ...) AR_PRINTF(3, 4);
arras_array ar_poison_of(arras_graph *g, const arras_error *err);
arras_array ar_poison_memory(arras_graph *g);
arras_array ar_poison_no_graph(void); /* "an array is NULL": belongs to no graph */
bool        ar_is_poison(arras_array x);
/* NULL when all is well: no poison among them, all of one graph.  Else the poison to return. */
arras_array ar_check_inputs(const char *what, int n, const arras_array *xs);
arras_array ar_check_shape(arras_graph *g, const char *what, int rank, const arras_dim *shape);
/* "x: f64[n, 4]" or "%7 = add: f64[3]" */
void ar_node_describe(ar_text *out, arras_array x);
void ar_node_type_print(ar_text *out, arras_array x); /* "f64[n, 4]"; "real" etc. for untyped */

ar_type ar_promote_nodes(int n, const arras_array *xs);
/* NULL, or poison when an untyped integer among them does not fit the type it is to take. */
arras_array ar_check_untyped(const char *what, int n, const arras_array *xs, arras_dtype dtype);
arras_array ar_input(arras_graph *g, const char *name, arras_dtype dtype, int rank,
                     const arras_dim *shape);
arras_array ar_param(arras_graph *g, const char *name, arras_dtype dtype, int rank,
                     const arras_dim *shape);
arras_array ar_data(arras_graph *g, arras_dtype dtype, int rank, const int64_t *shape,
                    const int64_t *strides, const void *data, bool copy);
/* Data of another graph, borrowed. */
arras_array ar_data_again(arras_graph *g, arras_array data);
/* The least and the largest of its integers when it was recorded; low > high: not known. */
typedef struct {
    int64_t low, high;
} ar_data_range;
ar_data_range ar_data_range_of(arras_array data);
/* Whether numbers that are borrowed are still within the range they were recorded with. */
arras_status ar_graph_check_data(const arras_graph *g, arras_error *err);
arras_array   ar_const(arras_graph *g, ar_type type, ar_value value);
arras_array ar_size_node(arras_graph *g, arras_dim dim);
arras_array ar_map(ar_op op, int n, const arras_array *xs);
arras_array ar_cast(arras_array x, arras_dtype dtype);
arras_array ar_lambda(arras_graph *g, int rank, const arras_dim *shape, arras_expr cell);
/* From an expression that is bound already (its loads have numbers); for readers and passes. */
arras_array ar_lambda_bound(arras_graph *g, int rank, const arras_dim *shape, arras_expr cell,
                            int n, const arras_array *bindings);
arras_expr  ar_expr_load_bound(arras_graph *g, int binding, arras_dtype dtype, int n,
                               const arras_expr *indices, const arras_edge *edges);
/* x[i0, i1, ...] of an array that has the shape of the lambda. */
bool ar_load_is_own_cell(arras_array lambda, arras_expr load);
/* Whether an index of a bound load stays within its axis, whatever cell of the lambda is computed;
 * false also where that is not known. */
bool ar_load_is_inside(arras_array lambda, arras_expr load, int axis);
/* A load that reads, in the cell i of an axis of the result, cells step*i - before .. step*i +
 * after of an axis of the array, edge rules included; either may be negative, step is 1 or more. */
typedef struct {
    int64_t step, before, after;
} ar_load_span;
/* False: not known. */
bool        ar_load_reach(ar_load_span *out, arras_array lambda, arras_expr load, int axis,
                          int result_axis);
arras_array ar_reduce(ar_reduction reduction, arras_array x, uint32_t axes, bool keepdims,
                      arras_array initial);
/* Along an axis, the reduction of the cells up to each, that one included (build_scan.c). */
arras_array ar_scan(ar_reduction reduction, arras_array x, int axis);
/* Whether cells of lines of n are joined in groups (trees.h), not one after the other. */
bool ar_scan_is_grouped(ar_op op, arras_dtype dtype, int64_t n);
arras_array ar_einsum(const char *spec, int n, const arras_array *xs);
/* Whether products of this type, summed over axes of these lengths, are added by fma: if they are
 * real, and their number is known and small (docs/semantics.md). */
bool ar_products_are_fused(arras_dtype dtype, int n, const arras_dim *lengths);
arras_array ar_stack(int n, const arras_array *xs, int axis);
arras_array ar_concat(int n, const arras_array *xs, int axis);
arras_array ar_roll(arras_array x, const int64_t *shifts); /* one per axis */
arras_array ar_permute(arras_array x, const int *axes);    /* rank of them */
arras_array ar_reshape(arras_array x, int rank, const arras_dim *shape, char order);
arras_array ar_index(arras_array x, int n, const arras_item *items);
/* AR_ITEM_INTS numbers for each item, as in the node. */
arras_array ar_index_exact(arras_array x, int n, const int64_t *ints);
arras_array ar_gather(arras_array x, uint32_t axes, int place, int n, const arras_array *indices);
arras_array ar_csr(arras_array values, arras_array columns, arras_array starts, arras_array x);

arras_function ar_function_new(arras_graph *g, const char *name, int nparams,
                               const arras_array *params, int nresults, const char *const *names,
                               const arras_array *results);
arras_function ar_function_find(const arras_graph *g, const char *name);  /* NULL when unknown */
arras_array    ar_call(arras_function f, int n, const arras_array *args); /* the CALL */
arras_array    ar_call_result(arras_array call, int result);

/* Axes as users give them: may be negative, each once.  EAXIS otherwise. */
arras_status ar_axis_check(int *out, const char *what, int axis, int rank, arras_error *err);
arras_status ar_axes_mask(uint32_t *out, const char *what, int n, const int *axes, int rank,
                          arras_error *err);
/* The shape two shapes are broadcast to; ESHAPE with the axis and both lengths. */
arras_status ar_broadcast(int *rank, arras_dim *shape, const arras_graph *g, const char *what,
                          int rank_a, const arras_dim *a, int rank_b, const arras_dim *b,
                          arras_error *err);
/* Letters, digits, '_' and '.', not starting with a digit or '.'; bytes above 127 are letters. */
bool ar_name_valid(const char *name, size_t length);

/* ---- What can be said of indices before a program is run (region.c) -------------------------- */

/* What surrounds an expression within a cell: the variable of a reduction, or a condition.  Frames
 * are on the stack of whoever walks an expression. */
typedef struct ar_frame {
    const struct ar_frame *outer;
    const char            *variable; /* NULL: a condition */
    arras_expr             lo, hi;
    arras_expr             condition; /* of a where(): it holds, or does not */
    bool                   holds;
    int64_t                stamp; /* the walker's own */
} ar_frame;

/* The cells of a lambda of this shape, which may be under construction.  inputs: arrays that there
 * are, whose shapes tell more of sizes; may be NULL. */
typedef struct {
    const arras_graph *g;
    int                rank;
    const arras_dim   *shape;
    int                ninputs;
    const arras_array *inputs;
} ar_space;

/* 0 <= e < length, surely, for an integer e in these cells. */
bool ar_index_is_below(arras_expr e, arras_dim length, const ar_space *space,
                       const ar_frame *around);
/* 1: surely x < y, for integers; -1: surely not; 0: not known. */
int ar_index_is_less(arras_expr x, arras_expr y, const ar_space *space, const ar_frame *around);
/* Numbers that bound an integer e; false where none are known. */
bool ar_index_bounds(int64_t *low, int64_t *high, arras_expr e, const ar_space *space,
                     const ar_frame *around);

/* The variable of a reduction surely has fewer than 2**63 values (length.c). */
bool ar_reduce_is_countable(arras_expr e);

/* ---- The same with numbers (extent.c) -------------------------------------------------------- */

/* Integers from low to high, both included, but for a gap: those from gap_low to gap_high, where
 * gap_low <= gap_high. */
typedef struct {
    int64_t low, high, gap_low, gap_high;
    bool    known;
} ar_extent;

/* What is computed of an index expression for a box: found once, so that nothing is walked, and
 * nothing is allocated, for each box. */
typedef struct {
    uint8_t what;       /* extent.c */
    int     a, b, c, d; /* earlier values */
    int64_t number;
} ar_extent_op;

typedef struct {
    int           n; /* the last is the value; 0: it is not known of any box */
    ar_extent_op *ops;
} ar_extent_code;

/* sizes: the values of the graph's.  False: no memory. */
bool      ar_extent_compile(ar_extent_code *out, arras_expr e, const int64_t *sizes,
                            const ar_frame *around, ar_arena *arena);
/* In the cells lo <= i < hi of the lambda. */
ar_extent ar_extent_of(const ar_extent_code *code, const int64_t *lo, const int64_t *hi);
/* The cells along an axis of `length` that a load reads whose index lies so; all of them where that
 * is not known; none: high < low. */
ar_extent ar_extent_within(ar_extent index, int64_t length, arras_edge_rule rule);

/* ---- Graphs ---------------------------------------------------------------------------------- */

typedef struct {
    const char *name;
    arras_array array;
} ar_output;

arras_status ar_graph_new(arras_graph **out, arras_error *err);
void         ar_graph_free(arras_graph *g);
/* From now on it must be freed once more before it goes. */
void ar_graph_keep(const arras_graph *g);
/* The graph as it is now, whatever is recorded in it later; keeps it.  For reading only. */
arras_status ar_graph_snapshot(const arras_graph **out, const arras_graph *g, arras_error *err);
/* While recording: it is not whole. */
bool             ar_graph_memory_failed(const arras_graph *g);
int64_t          ar_graph_count(const arras_graph *g);
arras_array      ar_graph_node(const arras_graph *g, int64_t id);
int              ar_graph_input_count(const arras_graph *g); /* in order of recording */
arras_array      ar_graph_input(const arras_graph *g, int i);
arras_array      ar_graph_input_find(const arras_graph *g, const char *name);
int              ar_graph_output_count(const arras_graph *g);
const ar_output *ar_graph_output(const arras_graph *g, int i);
arras_array      ar_graph_output_add(arras_graph *g, const char *name, arras_array x);
int              ar_graph_function_count(const arras_graph *g);
arras_function   ar_graph_function(const arras_graph *g, int i);

/* The outputs' arrays; the list is the caller's, released with ar_free. */
arras_status ar_graph_roots(arras_array **out, const arras_graph *g, arras_error *err);

/* The nodes that `roots` need, roots included, by ascending id: inputs come before users.  Bodies
 * of called functions are not entered.  The list is the caller's, released with ar_free. */
arras_status ar_reach(arras_array **out, int64_t *count, const arras_graph *g, int n,
                      const arras_array *roots, arras_error *err);
/* The functions a list of nodes calls, and those they call: one flag per function of the graph. */
arras_status ar_reach_functions(bool *called, const arras_graph *g, int64_t n,
                                const arras_array *nodes, arras_error *err);
/* Outputs exist, and none is poison or needs a parameter that belongs to no call. */
arras_status ar_graph_check(const arras_graph *g, arras_error *err);
/* What every pass may rely on: EINVAL says what does not hold, of which node (verify.c).  normal: a
 * normal form, in which what outputs need is an INPUT, DATA or a LAMBDA. */
arras_status ar_graph_verify(const arras_graph *g, bool normal, arras_error *err);
/* Same structure, whatever the graphs; linear in the nodes. */
bool ar_equal(arras_array x, arras_array y);

/* Appends all that the graph says but the cells of its data: equal keys, equal programs.  False: no
 * memory. */
bool ar_graph_key(ar_text *out, const arras_graph *g);

/* ---- Normal forms as bytes (pack.c) ---------------------------------------------------------- */

/* Appends; numbers are eight bytes, strings are filled up to that. */
void ar_pack_number(ar_text *out, int64_t number);
void ar_pack_numbers(ar_text *out, int64_t n, const int64_t *numbers);
void ar_pack_string(ar_text *out, const char *string);

/* From bytes that are aligned as numbers are.  After something that is not there, `failed`. */
typedef struct {
    const char *at, *end;
    bool        failed;
} ar_unpacker;

int64_t        ar_unpack_number(ar_unpacker *u);
const int64_t *ar_unpack_numbers(ar_unpacker *u, int64_t n); /* where they are; NULL: failed */
const char    *ar_unpack_string(ar_unpacker *u);             /* where it is; NULL: failed */

/* A normal form of the program `recorded`, whose data it borrows.  False: no memory, or something
 * in it cannot be said. */
bool ar_graph_pack(ar_text *out, const arras_graph *g, const arras_graph *recorded);
/* For a recorded program of the same key.  Bytes must be as they were packed: that is for their
 * keeper to see to; what is found not to be a graph, or no memory, is NULL. */
arras_graph *ar_graph_unpack(ar_unpacker *u, const arras_graph *recorded);
/* Both are DATA of the same cells. */
bool ar_data_same(arras_array a, arras_array b);

/* ---- Numbers in texts (number.c) ------------------------------------------------------------- */

/* The shortest digits that read back to the same bits. */
void ar_value_print(ar_text *out, arras_dtype dtype, const void *cell);

enum { AR_MAX_DIGITS = 1000 };

/* Makes a cell of a number's text: digits, perhaps with a fraction and an exponent, or inf, nan,
 * true or false.  NULL, or what is wrong: "is not a whole number".  Complex types are read in
 * parts. */
const char *ar_number_read(void *cell, arras_dtype dtype, bool negative, const char *text,
                           size_t length);

#endif
