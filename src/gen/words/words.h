/* words.h -- scalar expressions as statements of a language like C.  What the language spells in
 * its own way is in a *dialect* (dialect.h); how cells are looped over, read and reduced is the
 * matter of a *shape*, which calls this: strips for CPUs (gen/c/), items for devices (gen/items/).
 * The door of gen/words/.  Sees base/, ir/ and gen/kit/.
 *
 * Names in the text, N an expression's id, S a number given out by ar_w_number:
 *     vN              the value of an expression, in the block where it was first needed
 *     dK sK_A nK_A    data of operand K, its stride in bytes and its length along axis A
 *     iA kS           an index of the cell, the variable of a reduction
 *     jN_A fN bN      where a read goes along axis A, which fill stands for it, that it is outside
 *     lowS highS      the range of a reduction */
#ifndef AR_GEN_WORDS_H
#define AR_GEN_WORDS_H

#include "gen/words/dialect.h"

enum {
    AR_W_STATEMENTS = 20000, /* in a kernel, at most */
    AR_W_NESTING = 40        /* of reductions */
};

/* ---- State ----------------------------------------------------------------------------------- */

typedef struct ar_writer ar_writer;

struct ar_c_read;
struct ar_c_strip;

enum {
    AR_W_UNKNOWN, /* must be computed */
    AR_W_VALUE,   /* vN is in scope */
    AR_W_SHAPED   /* from here on: where it is, the shape knows */
};

typedef struct {
    int                      place;
    const struct ar_c_strip *strip; /* the shape's */
    const struct ar_c_read  *read;
} ar_w_state;

/* What is known of an expression, by its id. */
typedef struct {
    ar_w_state state;
    int8_t     may_fail;   /* 1 yes, -1 no, 0 not known yet */
    int        fail_scope; /* number of the variable that was the innermost then */
    /* Notes of shapes: */
    int64_t stamp; /* the last walk that met it */
    int     level; /* in that walk */
    int     lanes; /* the last block of lanes in which it is a vector of indices */
    bool    calls; /* as a vector it calls functions, which keep no vector in registers */
} ar_w_fact;

typedef struct {
    arras_expr expr;
    ar_w_state before;
} ar_w_change;

/* The variable of a reduction around. */
typedef struct {
    const char *name;
    int         number;
    arras_expr  lo, hi;
} ar_w_variable;

/* What a shape does.  The later ones may be NULL: then every value is that of one cell. */
typedef struct {
    const char *sizes;    /* what stands before "7]", the value of the graph's size 7 */
    bool        gives_up; /* a kernel returns 1 at the first fault; else it sets `fault` */
    void (*put_reduce)(ar_writer *w, arras_expr reduce);
    void (*put_shaped)(ar_writer *w, arras_expr e, ar_w_state state);
    /* Statements are put for turn 0, and for each other until one gives false. */
    bool (*turn)(ar_writer *w, int turn);
    void (*start)(ar_writer *w, arras_expr e);               /* const double v7 = */
    const char *(*ending)(const ar_writer *w, arras_expr e); /* of its name */
    bool (*put_op)(ar_writer *w, arras_expr e); /* after its start; false: as a call */
} ar_shape;

struct ar_writer {
    ar_text              *out;
    ar_op_set            *used;
    const ar_dialect     *dialect;
    const ar_shape       *shape;
    struct ar_c_strips   *strips; /* more state of that shape */
    const ar_kernel_form *form;
    const ar_nest        *nest;
    arras_array           lambda; /* the first: its shape and inputs are those of all */
    bool                  flat;
    ar_arena              arena;
    ar_w_fact            *facts;
    ar_w_change          *changes; /* of states, so that a block's end can take them back */
    size_t                nchanges, room;
    ar_w_variable         variables[AR_W_NESTING]; /* outermost first */
    int                   nesting, numbers;
    int64_t               stamp, statements;
    bool                  failed; /* no memory, or too long */
};

static inline const char *ar_w_type(const ar_writer *w, arras_dtype dtype)
{
    return ar_dialect_type(w->dialect, dtype);
}

/* Room for what is known of all parts of these cells; false: no memory. */
bool ar_w_open(ar_writer *w, int n, const arras_expr *cells);
void ar_w_close(ar_writer *w);

/* ---- Blocks, names, statements (words_expr.c) ------------------------------------------------ */

int  ar_w_number(ar_writer *w);
void ar_w_set(ar_writer *w, arras_expr e, ar_w_state state);
/* Takes back all changes of states since there were `mark` of them. */
void ar_w_forget(ar_writer *w, size_t mark);
/* A reduction's variable comes into scope, and hides another of the same name. */
ar_w_variable *ar_w_enter(ar_writer *w, arras_expr reduce, int number);
void           ar_w_leave(ar_writer *w);

bool         ar_w_is_leaf(arras_expr e);
bool         ar_w_load_may_fail(ar_writer *w, arras_expr load);
bool         ar_w_may_fail(ar_writer *w, arras_expr e);
bool         ar_w_is_lazy(ar_writer *w, arras_expr e); /* a where() that must not compute both */
ar_signature ar_w_signature(arras_expr op);
void         ar_w_name(ar_writer *w, arras_expr e);
void         ar_w_cast(ar_writer *w, arras_expr e, arras_dtype to);
/* Through a type in between, as reductions do. */
void ar_w_cast_twice(ar_writer *w, arras_expr e, arras_dtype first, arras_dtype to);
void ar_w_op(ar_writer *w, ar_op op, arras_dtype dtype); /* op_add_f64 */
bool ar_w_turn(ar_writer *w, int turn);
void ar_w_start(ar_writer *w, arras_expr e); /* const double v7 = */
void ar_w_put(ar_writer *w, arras_expr e);   /* statements, so that e has a name */

/* The value of a LITERAL, in its type: int64_t, double or c128 (words_literal.c). */
void ar_w_literal_print(ar_text *out, const ar_dialect *dialect, arras_expr literal);

/* ---- Reads of single cells (words_load.c) ---------------------------------------------------- */

int ar_w_operand(const ar_writer *w, arras_expr load);
/* Whether e is a whole number that is known now. */
bool ar_w_integer(int64_t *out, arras_expr e);
/* Whether an index stays within its axis, whatever the cell; false also where that is not known. */
bool ar_w_is_inside(ar_writer *w, arras_expr load, int axis);
bool ar_w_is_all_inside(ar_writer *w, arras_expr load);

/* Brings an index inside its axis; NULL: the rule has none. */
const char *ar_w_edge_function(arras_edge_rule rule);
void        ar_w_print_index(ar_writer *w, arras_expr load, int axis);
void        ar_w_put_index(ar_writer *w, arras_expr load, int axis); /* int64_t j7_0 = ...; */
/* Brings j7_0 inside the axis; outside a constant edge f7 becomes the number of its fill, and the
 * nearest cell is read all the same: of an array kept in a tile only cells near by exist. */
void ar_w_put_edge_rule(ar_writer *w, arras_expr load, int axis);
/* Which of a load's fills belongs to an axis, from 1; the last that must be told from others. */
int  ar_w_fill_number(arras_expr load, int axis);
int  ar_w_last_fill(arras_expr load);
void ar_w_print_fills(ar_writer *w, arras_expr load, const char *name);
void ar_w_print_bool_test(ar_writer *w, arras_expr load);
void ar_w_put_load(ar_writer *w, arras_expr load);

/* ---- What all reductions need (words_fold.c) ------------------------------------------------- */

typedef struct {
    ar_reduction reduction;
    ar_signature s;
    const char  *type; /* that cells are combined in */
    const char  *dtype;
    ar_op        op, better;
    int          identity;
    bool         place; /* argmin, argmax */
    ar_tree      tree;
} ar_w_fold;

ar_w_fold ar_w_fold_of(const ar_dialect *dialect, arras_expr reduce);
/* Whether cells lowS .. highS are combined one after the other. */
void ar_w_fold_few(ar_writer *w, const ar_w_fold *fold, int number);
/* What changes no cell it is combined with, also a negative zero. */
void ar_w_fold_neutral(ar_writer *w, const ar_w_fold *fold);
/* Cells of its range, when that is known; else 0. */
int64_t ar_w_fold_length(arras_expr reduce);
/* const int64_t lowS = ..., highS = ...; */
void ar_w_put_bounds(ar_writer *w, arras_expr reduce, int number);
/* Statement: another product of a fused sum. */
void ar_w_put_fused(ar_writer *w, arras_expr product, const char *sum);

#endif
