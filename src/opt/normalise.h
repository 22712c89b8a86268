/* normalise.h -- what the files of the normal form share.  Only normalise*.c and inline_calls.c see
 * this. */
#ifndef AR_OPT_NORMALISE_H
#define AR_OPT_NORMALISE_H

#include "ir/ir.h"

/* ---- From the old graph to the new one (normalise.c) ----------------------------------------- */

/* What an array of the old graph became. */
typedef struct {
    arras_array array;
    arras_expr  number; /* CONST and SIZE: what users say where they would read it; no array then */
    bool        wanted; /* of the results of a call: somebody uses it */
} ar_became;

typedef struct {
    arras_array node; /* of the old graph */
    ar_became   became;
    ar_became  *results; /* of a CALL: for each result of its function */
} ar_place;

typedef struct {
    const arras_graph *from;
    arras_graph       *to;
    int64_t            inlined; /* arrays of bodies written out so far */
    /* What an old expression became, by its id; valid where stamp is the current one. */
    struct ar_copied {
        int64_t    stamp;
        arras_expr expr;
    } * copied;
    size_t  copied_room;
    int64_t stamp;

    arras_error *err;
} ar_normaliser;

/* The program itself, or the body of a function in one call of it. */
typedef struct {
    ar_normaliser         *pass;
    arras_graph     *to;
    arras_function   function; /* NULL: the program itself */
    const ar_became *args;     /* of the call */
    const arras_dim *sizes;    /* of the new graph, for each size of the old one */
    ar_place        *places;   /* by ascending id: inputs before users */
    int64_t          count;
    ar_arena         arena; /* owns all but the pass */
} ar_scope;

/* Finds what `roots` need, and makes it.  Close the scope whatever the status. */
arras_status ar_scope_open(ar_scope *s, int n, const arras_array *roots);
arras_status ar_scope_run(ar_scope *s);
void         ar_scope_close(ar_scope *s);
ar_place    *ar_scope_place(const ar_scope *s, arras_array node);

/* A dim, or a shape, of the old graph in terms of the new one. */
arras_dim ar_scope_dim(const ar_scope *s, arras_dim dim);
void      ar_scope_shape(arras_dim *shape, const ar_scope *s, arras_array node);
/* x[indices], where x is of the old graph and the indices are of the new one; it has the type of x,
 * and is as weak. */
arras_expr ar_scope_read(const ar_scope *s, arras_array x, const arras_expr *indices,
                         const arras_edge *edges);

/* ---- The cell of a result, by kind ----------------------------------------------------------- */

/* The expression of a cell, of the new graph; poison where something is wrong. */
typedef arras_expr ar_normal_function(ar_scope *s, arras_array node);

ar_normal_function ar_normal_map, ar_normal_cast, ar_normal_lambda;
ar_normal_function ar_normal_stack, ar_normal_concat, ar_normal_roll, ar_normal_permute;
ar_normal_function ar_normal_reshape, ar_normal_index, ar_normal_gather;
ar_normal_function ar_normal_reduce, ar_normal_einsum, ar_normal_csr;

/* Reductions (normalise_reduce.c): their variables by number, and one within another over
 * 0 <= variable k < lengths[k]. */
arras_expr ar_reduce_variable(arras_graph *to, int number);
arras_expr ar_reduce_nested(ar_reduction reduction, int n, const arras_dim *lengths,
                            arras_expr body);
/* A sum in the type of the body, to which the result is cast: integers wrap around there as they
 * would have done on the way, and of bools it is their or. */
ar_reduction ar_sum_of(arras_dtype dtype);
/* Of products, as of an einsum; fused: the innermost sum is. */
arras_expr ar_sum_products(int n, const arras_dim *lengths, arras_expr product, bool fused);

/* Writes out a call: its places for results are filled (inline_calls.c). */
arras_status ar_inline_call(const ar_scope *caller, const ar_place *call);

/* ---- Expressions in short -------------------------------------------------------------------- */

static inline arras_expr int_expr(arras_graph *g, int64_t value)
{
    return ar_expr_literal(g, ARRAS_I64, (ar_value){ .bits = { value, 0 } });
}

/* A length of the new graph. */
static inline arras_expr dim_expr(arras_graph *g, arras_dim dim)
{
    return ar_dim_symbolic(dim) ? ar_expr_size(g, dim) : int_expr(g, dim);
}

static inline arras_expr binary(ar_op op, arras_expr x, arras_expr y)
{
    return ar_expr_apply(op, 2, (arras_expr[]){ x, y });
}

static inline arras_expr choose(arras_expr condition, arras_expr x, arras_expr y)
{
    return ar_expr_apply(AR_OP_where, 3, (arras_expr[]){ condition, x, y });
}

/* x + offset and x - offset, where offset is a length of the new graph, or any small number: one
 * spelling for both. */
static inline arras_expr plus(arras_expr x, arras_dim offset)
{
    return offset == 0 ? x : binary(AR_OP_add, x, dim_expr(x->graph, offset));
}

static inline arras_expr minus(arras_expr x, arras_dim offset)
{
    return ar_dim_symbolic(offset) ? binary(AR_OP_subtract, x, ar_expr_size(x->graph, offset))
                                   : plus(x, -offset);
}

/* Along an axis that is broadcast to `wanted` cells: the first one, again and again. */
static inline arras_expr broadcast_index(arras_expr index, arras_dim length, arras_dim wanted)
{
    return length == 1 && wanted != 1 ? int_expr(index->graph, 0) : index;
}

/* The indices whose number in row-major order, in an array of n lengths, is `number`. */
void ar_split_number(arras_expr *indices, arras_expr number, int n, const arras_dim *lengths);

#endif
