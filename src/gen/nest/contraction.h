/* contraction.h -- small dense contractions, which have a kernel of their own.  Only src/gen/ sees
 * this.
 *
 *     out[.., r, .., c] = f(sum over k of g(panel[c, k, ..], rows[r, k, ..]))
 *
 * The columns c are few, their number is known, and what depends on them but not on the row r, a
 * panel, is small: it is packed once, [k][c], with c filled up to whole vectors.  Then some rows
 * at a time are computed with all columns in registers. */
#ifndef AR_GEN_CONTRACTION_H
#define AR_GEN_CONTRACTION_H

#include "gen/gen.h"

enum { AR_CONTRACT_SUMS = 4, AR_CONTRACT_LEAVES = 8 };

/* What is computed apart and then used as a whole vector. */
typedef struct {
    arras_expr items[AR_CONTRACT_LEAVES];
    int        count;
} ar_leaves;

struct ar_contraction {
    arras_array lambda;
    arras_dtype dtype;       /* of sums, products and result: f32 or f64 */
    int         column, row; /* axes of the result */
    uint32_t    batch;       /* axes that panels depend on, beside the column */
    int64_t     packs;       /* panels that are packed before all else; 0: each in its turn */
    int64_t     columns;
    int         nsums; /* one directly within the other, outermost first */
    arras_expr  sums[AR_CONTRACT_SUMS];
    int64_t     first[AR_CONTRACT_SUMS], length[AR_CONTRACT_SUMS]; /* of variables */
    int64_t     terms;   /* of all sums together */
    arras_expr  body;    /* of the innermost */
    bool        fused;   /* it is a product that is added by an fma */
    ar_leaves   panels;  /* parts of the body that do not depend on the row */
    ar_leaves   scalars; /* parts that do not depend on the column */
    ar_leaves   after;   /* parts of what is around the sums that do not, either */
};

/* Layouts of inputs do not matter. */
bool ar_contraction_match(ar_contraction *out, arras_array lambda);
/* Whether a part is one operation on vectors, in the type of the contraction. */
bool ar_contraction_is_vector_op(const ar_contraction *c, arras_expr e);
int  ar_contraction_variable(const ar_contraction *c, const char *name); /* number of its sum */
int  ar_leaves_find(const ar_leaves *leaves, arras_expr e);                 /* -1: not there */

/* Of an input that the code reads by this stride, as a number (nest.c). */
bool ar_kernel_input_stride(int64_t *out, const ar_kernel_form *form, int input, int axis);

#endif
