/* reference_program.c -- an expression becomes a list of steps: each sub-expression once, arguments
 * before users, with the variables it depends on. */
#include "eval/reference_program.h"

/* The table holds entries of the arena, since steps move as their list grows. */
typedef struct {
    arras_expr expr;
    int        step;
} entry;

static bool same_expr(const void *item, const void *key)
{
    return ((const entry *)item)->expr == key;
}

/* -1: no memory. */
static int variable_number(ar_program *p, const char *name)
{
    for (size_t i = AR_VARIABLE_CELL + 1; i < p->nvariables; i++)
        if (strcmp(p->variables[i].name, name) == 0)
            return (int)i;
    if (!ar_grow(&p->variables, &p->variables_room, p->nvariables, sizeof *p->variables))
        return -1;
    p->variables[p->nvariables] = (ar_variable){ .name = name, .tick = AR_FIRST_TICK };
    return (int)p->nvariables++;
}

static bool find_variables(ar_program *p, ar_instruction *step)
{
    arras_expr expr = step->expr;
    int       *vars = ar_arena_alloc(&p->arena, (size_t)expr->nfree + 1, sizeof *vars);

    if (!vars)
        return false;
    if (expr->axes > 0)
        vars[step->nvars++] = AR_VARIABLE_CELL;
    for (int i = 0; i < expr->nfree; i++)
        if ((vars[step->nvars++] = variable_number(p, expr->free[i])) < 0)
            return false;
    step->vars = vars;
    return true;
}

/* ---- Steps ----------------------------------------------------------------------------------- */

static void prepare_op(ar_instruction *step)
{
    arras_expr expr = step->expr;
    ar_type    types[AR_MAX_ARITY];

    for (int k = 0; k < expr->nargs; k++)
        types[k] = expr->args[k]->type;
    ar_op_signature(&step->signature, (ar_op)expr->ints[0], types); /* has one, or was not built */
    step->function = ar_op_value((ar_op)expr->ints[0], step->signature.compute);
}

static bool prepare(ar_program *p, ar_instruction *step)
{
    enum { BODY = 2 };
    arras_expr expr = step->expr;

    if (expr->kind == AR_EXPR_VAR || expr->kind == AR_EXPR_REDUCE)
        step->variable = variable_number(p, expr->name);
    if (step->variable < 0)
        return false;
    if (expr->kind == AR_EXPR_OP)
        prepare_op(step);
    if (expr->kind != AR_EXPR_REDUCE)
        return true;
    step->fold = ar_arena_alloc(&p->arena, 1, sizeof *step->fold);
    if (step->fold)
        ar_fold_open(step->fold, (ar_reduction)expr->ints[0], expr->args[BODY]->type);
    if (step->fold)
        step->fold->partials = ar_expr_tree(expr) == AR_TREE_PARTIALS;
    return step->fold != NULL;
}

static bool append(ar_program *p, ar_instruction step)
{
    entry *made = ar_arena_alloc(&p->arena, 1, sizeof *made);

    if (!made || !prepare(p, &step) || !find_variables(p, &step))
        return false;
    if (!ar_grow(&p->steps, &p->steps_room, p->nsteps, sizeof *p->steps))
        return false;
    *made = (entry){ step.expr, (int)p->nsteps };
    p->steps[p->nsteps++] = step;
    return ar_table_add(&p->table, step.expr->hash, made);
}

/* The number of an expression's step, -1: no memory.  Builders limit the depth of expressions. */
static int add(ar_program *p, arras_expr expr)
{
    const entry *found = ar_table_find(&p->table, expr->hash, same_expr, expr);
    int         *args;

    if (found)
        return found->step;
    args = ar_arena_alloc(&p->arena, (size_t)expr->nargs, sizeof *args);
    if (!args)
        return -1;
    for (int i = 0; i < expr->nargs; i++)
        if ((args[i] = add(p, expr->args[i])) < 0)
            return -1;
    return append(p, (ar_instruction){ .expr = expr, .args = args }) ? (int)p->nsteps - 1 : -1;
}

arras_status ar_program_open(ar_program *program, arras_expr cell, arras_error *err)
{
    *program = (ar_program){ .clock = AR_FIRST_TICK };
    if (!ar_grow(&program->variables, &program->variables_room, 0, sizeof *program->variables))
        return ar_fail_memory(err, sizeof *program->variables);
    program->variables[AR_VARIABLE_CELL] = (ar_variable){ .tick = AR_FIRST_TICK };
    program->nvariables = 1;
    if (add(program, cell) < 0)
        return ar_fail_memory(err, (program->nsteps + 1) * sizeof *program->steps);
    return ARRAS_OK;
}

void ar_program_close(ar_program *program)
{
    ar_free(program->steps);
    ar_free(program->variables);
    ar_table_free(&program->table);
    ar_arena_free(&program->arena);
}
