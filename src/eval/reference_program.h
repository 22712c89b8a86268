/* reference_program.h -- the expression of a lambda as a list of steps, so that what is shared is
 * computed once.  Only reference_program.c and reference_lambda.c see this. */
#ifndef AR_EVAL_REFERENCE_PROGRAM_H
#define AR_EVAL_REFERENCE_PROGRAM_H

#include "eval/reference.h"

/* One sub-expression.  Its value depends on some variables; the index of the cell counts as one.
 *
 * Each variable has the tick of the clock at which it got its present value.  While a reduction
 * runs, its variable gets new ticks; afterwards the name has its old value and its old tick again.
 * As variables are set innermost last, the largest tick of a step's variables tells apart all
 * values they can have: the value of a step is still good when that tick is what it was when the
 * value was computed. */
typedef struct {
    arras_expr      expr;
    const int      *args; /* steps, all before this one */
    int             nvars;
    const int      *vars;
    int             variable; /* of VAR and REDUCE */
    ar_signature    signature; /* of OP */
    ar_op_function *function;  /* of OP */
    ar_fold        *fold;      /* of REDUCE; a step is never inside itself, so one will do */
    uint64_t        stamp;     /* 0: not computed yet */
    ar_value        value;
} ar_instruction;

typedef struct {
    const char *name; /* NULL: the index of the cell, variable 0 */
    int64_t     value;
    uint64_t    tick;
} ar_variable;

enum { AR_VARIABLE_CELL = 0, AR_FIRST_TICK = 1 };

typedef struct {
    ar_instruction     *steps; /* arguments before users; the last one is the cell's value */
    ar_variable *variables;
    size_t       nsteps, steps_room, nvariables, variables_room;
    uint64_t     clock;
    ar_table     table; /* steps by expression, while the list is made */
    ar_arena     arena; /* owns args, vars and folds */
} ar_program;

/* Close it whatever the status. */
arras_status ar_program_open(ar_program *program, arras_expr cell, arras_error *err);
void         ar_program_close(ar_program *program);

#endif
