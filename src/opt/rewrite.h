/* rewrite.h -- a normal form written anew, one expression after the other; what the passes on
 * normal forms share.  Only src/opt/ sees this. */
#ifndef AR_OPT_REWRITE_H
#define AR_OPT_REWRITE_H

#include "ir/ir.h"

#include <string.h>

/* ---- The same graph, made anew (rewrite.c) --------------------------------------------------- */

typedef struct ar_rewrite ar_rewrite;

/* What an expression becomes, given its new arguments.  around: of the new graph. */
typedef arras_expr ar_make_function(ar_rewrite *r, arras_expr e, const arras_expr *args,
                                    const ar_frame *around);
/* What an array becomes: it stores the cell, or keeps it to itself.  Sets r->became. */
typedef arras_status ar_put_function(ar_rewrite *r, arras_array old, arras_expr cell);

struct ar_rewrite {
    ar_make_function  *make;
    ar_put_function   *put;  /* NULL: every array is stored */
    void              *pass; /* what the functions need */
    bool               changed; /* set by functions that made more than a copy */
    const arras_graph *from;
    arras_graph       *to;
    arras_error       *err;
    arras_array       *nodes; /* of `from` that the outputs need, by id */
    int64_t            count;
    arras_array       *became; /* by id of `from`; NULL: not stored */
    bool               keep;   /* became is left to the caller, to free */
    arras_dim         *sizes;  /* of `to`, for each size of `from` */
    arras_array        old;    /* the lambda at work */
    ar_space           space;  /* of its cells, in `to` */
    arras_dim          shape[ARRAS_MAX_RANK];
    /* What an old expression became, by its id, and the frame in which that holds. */
    struct ar_written {
        int64_t    stamp;
        arras_expr expr;
    } * written;
    int64_t stamp, first_stamp; /* the last one given, and the first one of this lambda */
    int64_t visits;             /* in this lambda */
    /* Of lambdas that were stored, by their id in `to`; for passes that look back at them. */
    bool looks_back;
    struct ar_stored {
        arras_expr cell; /* as it was made; NULL: it is none of them */
        bool       constant;
    } * stored;
    size_t stored_room;
};

/* `normal` is a normal form; so is *out, which borrows its data. */
arras_status ar_rewrite_run(arras_graph **out, ar_rewrite *r, const arras_graph *normal,
                            arras_error *err);
/* The same, but *out stays as it is where nothing was changed. */
arras_status ar_rewrite_try(arras_graph **out, ar_rewrite *r, const arras_graph *normal,
                            arras_error *err);
/* e with other arguments, in the new graph: the plain way to make an expression. */
arras_expr ar_rewrite_copy(ar_rewrite *r, arras_expr e, const arras_expr *args,
                           const ar_frame *around);
arras_dim  ar_rewrite_dim(const ar_rewrite *r, arras_dim dim);
/* A LOAD of the array x as e reads another one. */
arras_expr ar_load_like(arras_expr e, arras_array x, const arras_expr *args);
arras_expr ar_no_memory(arras_graph *g);
/* Makes the array and fails where it is poison. */
arras_status ar_rewrite_store(ar_rewrite *r, arras_array *out, int rank, const arras_dim *shape,
                              arras_expr cell);
/* Of an array of the new graph, for passes that look back: the cell it was stored with, else NULL;
 * and whether it needs nothing but data. */
arras_expr ar_rewrite_cell(const ar_rewrite *r, arras_array x);
bool       ar_rewrite_is_constant(const ar_rewrite *r, arras_array x);

/* ---- Simpler expressions of the same bits (simplify*.c) -------------------------------------- */

/* Where an expression will stand. */
typedef struct {
    const ar_space *space;
    const ar_frame *around;
} ar_place_of;

arras_expr ar_simple_apply(ar_op op, int n, const arras_expr *args, ar_place_of at);
arras_expr ar_simple_cast(arras_expr x, arras_dtype dtype);
/* A number of any type, as an expression. */
arras_expr ar_simple_number(arras_graph *g, arras_dtype dtype, const void *cell);
/* The value of a number, in its own type; false for other expressions. */
bool ar_simple_value(ar_value *out, arras_expr e);
/* Integer arithmetic; NULL: nothing to simplify (simplify_index.c). */
arras_expr ar_simple_index(ar_op op, const arras_expr *args, ar_place_of at);
/* Evaluating it reads nothing that may not be there. */
bool ar_simple_is_safe(arras_expr e);

/* ---- Expressions elsewhere (substitute.c) ---------------------------------------------------- */

/* The cell at other indices, one for each axis. */
arras_expr ar_substitute_indices(arras_expr cell, int rank, const arras_expr *indices,
                                 ar_place_of at);
/* With a value for a variable. */
arras_expr ar_substitute_variable(arras_expr body, const char *variable, arras_expr value,
                                  ar_place_of at);

/* ---- Expressions in short -------------------------------------------------------------------- */

static inline bool ar_expr_is(arras_expr e, ar_op op)
{
    return e->kind == AR_EXPR_OP && e->ints[0] == op;
}

/* An i64 that is a number, where its type does not matter, without its type: one spelling. */
static inline arras_expr ar_plain_int(arras_expr e)
{
    bool plain = e->kind == AR_EXPR_CAST && e->type.dtype == ARRAS_I64 &&
                 e->args[0]->kind == AR_EXPR_LITERAL && e->args[0]->type.dtype == ARRAS_I64;

    return plain ? e->args[0] : e;
}

static inline arras_expr ar_reduce_named(arras_expr e, const char *name, const arras_expr *args)
{
    return ar_expr_reduce_tree((ar_reduction)e->ints[0], ar_expr_tree(e), name,
                               ar_plain_int(args[0]), ar_plain_int(args[1]), args[2]);
}

static inline arras_expr ar_reduce_like(arras_expr e, const arras_expr *args)
{
    return ar_reduce_named(e, e->name, args);
}

static inline arras_expr ar_int(arras_graph *g, int64_t value)
{
    return ar_expr_literal(g, ARRAS_I64, (ar_value){ .bits = { value, 0 } });
}

static inline arras_expr ar_binary(ar_op op, arras_expr x, arras_expr y)
{
    return ar_expr_apply(op, 2, (arras_expr[]){ x, y });
}

#endif
