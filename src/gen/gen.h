/* gen.h -- code from programs.  The door of gen/.  Sees base/ and ir/. */
#ifndef AR_GEN_H
#define AR_GEN_H

#include "ir/ir.h"

/* How a language like C spells what kernels say (words/dialect.h). */
typedef struct ar_dialect ar_dialect;

/* ---- Operations as C (c/c_ops.c) ------------------------------------------------------------- */

/* Which operations a kernel uses, in which types it computes them, and which casts it makes. */
typedef struct {
    bool ops[AR_OP_END][ARRAS_DTYPE_END];
    bool casts[ARRAS_DTYPE_END][ARRAS_DTYPE_END]; /* [from][to] */
    bool rows[AR_OP_END][ARRAS_DTYPE_END];        /* vector mathematics of whole buffers */
    bool folds[AR_OP_END][ARRAS_DTYPE_END];       /* reductions by an operation */
    bool across[AR_OP_END][ARRAS_DTYPE_END];      /* of many cells at once */
    bool places[AR_OP_END][ARRAS_DTYPE_END];      /* argmin and argmax */
    bool edged[ARRAS_DTYPE_END];                  /* vectors of which some lanes are outside */
    bool vectors;                                 /* some cells are put as vectors */
    bool loops; /* some loops are left to the compiler to make vectors of */
} ar_op_set;

/* The definitions a kernel begins with: types, and for what it uses the functions
 *     static inline T op_add_f64(T x, T y)       the columns of ops.def, word for word
 *     static inline T cast_f64_i32(F x)          the rules of ar_cell_cast
 * They compute the bits that the reference evaluator computes.  No header is included: a compiler
 * knows the C library's mathematics, and reading headers would take longer than the kernel. */
void ar_c_ops_print(ar_text *out, const ar_op_set *set);
/* The C type of a cell: "int32_t", "float complex". */
const char *ar_c_type(arras_dtype dtype);

/* Whether an operation goes through vector functions of the C library here. */
bool ar_c_is_vector_math(ar_op op, arras_dtype dtype);

/* ---- Kernels --------------------------------------------------------------------------------- */

/* One loop nest that computes the cells of one or more results.  All lambdas have the same shape
 * and the same inputs in the same order (not every one reads every input), so that a part two cells
 * share is one expression. */
typedef struct {
    int                n; /* results */
    const arras_array *lambdas;
    /* For each input: its cells are in C order without gaps.  Results always are. */
    const bool       *dense;
    const ar_machine *machine; /* it is for */
} ar_kernel_form;

/* Tables of functions that reduce real numbers, by ar_fold_number (fold_kit.h). */
const void *const *ar_folds(void);

/* What a kernel is called with.  Operand k < n is result k, operand n + k is input k. */
typedef struct {
    char *const          *data;    /* the cell at [0, 0, ...] of each operand, aligned */
    const int64_t *const *strides; /* of each operand, in bytes */
    const int64_t *const *shapes;
    const int64_t        *sizes; /* values of the graph's sizes */
    ar_stream         *stream; /* not NULL: results are not read soon; what they are copied with */
    const void *const *folds;  /* ar_folds() */
    int                far;    /* not 0: what is read is not in a cache of this core */
} ar_kernel_args;

/* Computes the cells lo[d] <= i_d < hi[d] of all results; of a flat kernel, the cells number
 * lo[0] <= i < hi[0] in C order.  A cell's bits do not depend on the box.  Not 0: a read was
 * outside an array, or a minimum over nothing; the reference evaluator says which. */
typedef int ar_kernel(const ar_kernel_args *args, const int64_t *lo, const int64_t *hi);

/* ---- Nests: what is decided of a kernel before a line of it is printed (nest/) --------------- */

/* A sum of products over a few columns, which has a kernel made for it: alone, that is, not with
 * other results in one nest. */
typedef struct ar_contraction ar_contraction;

typedef struct {
    /* Every cell is computed from the same cell of dense inputs of the same shape, and from 0-d
     * ones: one loop over all cells whatever the rank. */
    bool flat;
    /* Cells of a row, where several rows are computed as one: boxes must have whole rows.  0: they
     * are not. */
    int64_t               short_row;
    const ar_contraction *contraction; /* NULL: it is none */
    /* Of each input, a bit for each axis: the stride before it is in the code, and boxes will not
     * do unless they have all of it. */
    const uint32_t *whole;
} ar_nest;

/* NULL where a lambda is none. */
arras_status ar_contraction_find(const ar_contraction **out, arras_array lambda, ar_arena *arena,
                                 arras_error *err);
/* contraction: of the one lambda of the form, or NULL; what it points to is in the arena. */
arras_status ar_nest_make(ar_nest *out, const ar_kernel_form *form,
                          const ar_contraction *contraction, ar_arena *arena, arras_error *err);
void         ar_nest_print(ar_text *out, const ar_nest *nest, const ar_kernel_form *form);

/* Of a dense array: the stride that may be in the code of kernels as a number; false: it is always
 * an argument, since an axis of unknown length is behind, or since it is long. */
bool ar_kernel_stride(int64_t *out, arras_array x, int axis);

/* The function `name`.  Adds to `used` what it needs of ar_c_ops_print.  ELIMIT where a kernel
 * would be too long. */
arras_status ar_c_kernel_print(ar_text *out, ar_op_set *used, const ar_kernel_form *form,
                               const ar_nest *nest, const char *name, arras_error *err);
/* What stands before kernels: types and helpers that they use. */
void ar_c_kernel_head_print(ar_text *out);

/* What kernels must be linked with; ends with NULL. */
const char *const *ar_c_libraries(void);

/* ---- Kernels in items, for devices (items/) -------------------------------------------------- */

/* A kernel of the same cells in which a work item computes one cell of each result, and knows
 * nothing of the host.  Its arguments are pieces of memory: those of the operands in the order of
 * ar_kernel, then `numbers`, int64_t, and `flag`, an int32_t that is 1 at the end where a strip's
 * kernel would give up.  There must be as many items as cells; more do nothing. */

/* By its short name: "plain", C for the host, or "opencl"; NULL: there is none. */
const ar_dialect *ar_dialect_find(const char *name);

/* Adds to `used` what it needs of ar_items_head_print.  ELIMIT where a kernel would be too long,
 * EDTYPE where the dialect lacks an operation. */
arras_status ar_items_print(ar_text *out, ar_op_set *used, const ar_dialect *dialect,
                            const ar_kernel_form *form, const ar_nest *nest, const char *name,
                            arras_error *err);
void         ar_items_head_print(ar_text *out, const ar_dialect *dialect, const ar_op_set *used);

/* An operand of a call: its first cell is `offset` bytes from the start of its memory. */
typedef struct {
    int64_t        offset;
    const int64_t *shape, *strides; /* in bytes */
} ar_item_operand;

/* How many numbers there are, and what they are.  operands: of the form, results first. */
int64_t ar_items_number_count(const ar_kernel_form *form);
void    ar_items_numbers(int64_t *numbers, const ar_kernel_form *form, const int64_t *sizes,
                         const ar_item_operand *operands);

#endif
