/* words_expr.c -- scalar expressions as statements.
 *
 * Every expression that is not a leaf becomes a constant `vN`, N its id, in the block where it is
 * first needed.  A block is a loop or a branch of where(): what was computed inside is forgotten
 * when it ends, and inside a reduction what depends on its variable is computed anew. */
#include "gen/words/words.h"

#include <string.h>

bool ar_w_open(ar_writer *w, int n, const arras_expr *cells)
{
    int64_t largest = 0;

    for (int k = 0; k < n; k++)
        largest = ar_max64(largest, cells[k]->id);
    w->facts = ar_alloc((size_t)largest + 1, sizeof *w->facts);
    return w->facts != NULL;
}

void ar_w_close(ar_writer *w)
{
    ar_free(w->facts);
    ar_free(w->changes);
    ar_arena_free(&w->arena);
}

/* ---- Blocks ---------------------------------------------------------------------------------- */

int ar_w_number(ar_writer *w) { return ++w->numbers; }

void ar_w_set(ar_writer *w, arras_expr e, ar_w_state state)
{
    if (!ar_grow(&w->changes, &w->room, w->nchanges, sizeof *w->changes)) {
        w->failed = true;
        return;
    }
    w->changes[w->nchanges++] = (ar_w_change){ e, w->facts[e->id].state };
    w->facts[e->id].state = state;
}

void ar_w_forget(ar_writer *w, size_t mark)
{
    while (w->nchanges > mark) {
        const ar_w_change *last = &w->changes[--w->nchanges];

        w->facts[last->expr->id].state = last->before;
    }
}

ar_w_variable *ar_w_enter(ar_writer *w, arras_expr reduce, int number)
{
    size_t count = w->nchanges;

    if (w->nesting == AR_W_NESTING) {
        w->failed = true;
        return NULL;
    }
    for (size_t i = 0; i < count && !w->failed; i++)
        if (w->facts[w->changes[i].expr->id].state.place != AR_W_UNKNOWN &&
            ar_expr_depends(w->changes[i].expr, reduce->name))
            ar_w_set(w, w->changes[i].expr, (ar_w_state){ .place = AR_W_UNKNOWN });
    w->variables[w->nesting] =
        (ar_w_variable){ reduce->name, number, reduce->args[0], reduce->args[1] };
    return &w->variables[w->nesting++];
}

void ar_w_leave(ar_writer *w) { w->nesting--; }

/* ---- Names ----------------------------------------------------------------------------------- */

bool ar_w_is_leaf(arras_expr e)
{
    return e->kind == AR_EXPR_INDEX || e->kind == AR_EXPR_VAR || e->kind == AR_EXPR_LITERAL;
}

static int variable_number(const ar_writer *w, const char *name)
{
    int k = w->nesting - 1;

    while (k > 0 && strcmp(w->variables[k].name, name) != 0)
        k--;
    return k < 0 ? 0 : w->variables[k].number;
}

static const char *ending(const ar_writer *w, arras_expr e)
{
    return w->shape->ending ? w->shape->ending(w, e) : "";
}

void ar_w_name(ar_writer *w, arras_expr e)
{
    switch (e->kind) {
    case AR_EXPR_INDEX: ar_text_printf(w->out, "i%d%s", (int)e->ints[0], ending(w, e)); break;
    case AR_EXPR_VAR: ar_text_printf(w->out, "k%d", variable_number(w, e->name)); break;
    case AR_EXPR_LITERAL: ar_w_literal_print(w->out, w->dialect, e); break;
    default: ar_text_printf(w->out, "v%" PRId64 "%s", e->id, ending(w, e));
    }
}

/* Between real types C's own cast will do; GCC does not inline functions into kernels whose
 * statements stay in order. */
static void open_cast(ar_writer *w, arras_dtype from, arras_dtype to)
{
    if (from == to)
        return;
    if (ar_dtype_class(from) == AR_CLASS_REAL && ar_dtype_class(to) == AR_CLASS_REAL) {
        ar_text_printf(w->out, "(%s)(", ar_w_type(w, to));
        return;
    }
    w->used->casts[from][to] = true;
    ar_text_printf(w->out, "cast_%s_%s(", ar_dtype_name(from), ar_dtype_name(to));
}

void ar_w_cast(ar_writer *w, arras_expr e, arras_dtype to)
{
    open_cast(w, e->type.dtype, to);
    ar_w_name(w, e);
    ar_text_add(w->out, e->type.dtype == to ? "" : ")");
}

void ar_w_cast_twice(ar_writer *w, arras_expr e, arras_dtype first, arras_dtype to)
{
    open_cast(w, first, to);
    ar_w_cast(w, e, first);
    ar_text_add(w->out, first == to ? "" : ")");
}

void ar_w_op(ar_writer *w, ar_op op, arras_dtype dtype)
{
    w->used->ops[op][dtype] = true;
    ar_text_printf(w->out, "op_%s_%s", ar_op_name(op), ar_dtype_name(dtype));
}

bool ar_w_turn(ar_writer *w, int turn)
{
    return w->shape->turn ? w->shape->turn(w, turn) : turn == 0;
}

void ar_w_start(ar_writer *w, arras_expr e)
{
    if (w->shape->start)
        w->shape->start(w, e);
    else
        ar_text_printf(w->out, "const %s v%" PRId64 " = ", ar_w_type(w, e->type.dtype), e->id);
}

/* ---- What may fail: it must not be computed where it is not asked for ------------------------ */

bool ar_w_load_may_fail(ar_writer *w, arras_expr load)
{
    for (int axis = 0; axis < load->rank; axis++)
        if (load->ints[1 + axis] != ARRAS_EDGE_CONSTANT && !ar_w_is_inside(w, load, axis))
            return true;
    return false;
}

/* A size that is negative is an error of the run, and indices that are sizes count on it.  Strips
 * do not look. */
static bool size_may_fail(const ar_writer *w, arras_expr e)
{
    const ar_affine *affine = ar_dim_affine(e->graph, e->ints[0]);
    bool             fails = affine->constant < 0;

    for (int i = 0; i < affine->nterms; i++)
        fails = fails || affine->terms[i].factor < 0;
    return fails && !w->shape->gives_up;
}

static bool reduction_may_fail(ar_writer *w, arras_expr e)
{
    bool fails = ar_reduction_identity((ar_reduction)e->ints[0]) < 0 ||
                 !ar_reduce_is_countable(e) || w->nesting == AR_W_NESTING;

    if (fails)
        return true;
    w->variables[w->nesting++] = (ar_w_variable){ e->name, ar_w_number(w), e->args[0], e->args[1] };
    fails = ar_w_may_fail(w, e->args[2]);
    w->nesting--;
    return fails || ar_w_may_fail(w, e->args[0]) || ar_w_may_fail(w, e->args[1]);
}

/* Depth is limited by AR_MAX_DEPTH.  What depends on variables fails or not by their ranges. */
bool ar_w_may_fail(ar_writer *w, arras_expr e)
{
    ar_w_fact *fact = &w->facts[e->id];
    int        scope = e->nfree && w->nesting ? w->variables[w->nesting - 1].number : 0;
    bool       fails;

    if (fact->may_fail && fact->fail_scope == scope)
        return fact->may_fail > 0;
    if (e->kind == AR_EXPR_REDUCE)
        fails = reduction_may_fail(w, e);
    else if (e->kind == AR_EXPR_SIZE)
        fails = size_may_fail(w, e);
    else
        fails = e->kind == AR_EXPR_LOAD && ar_w_load_may_fail(w, e);
    for (int i = 0; i < e->nargs && !fails && e->kind != AR_EXPR_REDUCE; i++)
        fails = ar_w_may_fail(w, e->args[i]);
    fact->may_fail = fails ? 1 : -1;
    fact->fail_scope = scope;
    return fails;
}

bool ar_w_is_lazy(ar_writer *w, arras_expr e)
{
    return e->kind == AR_EXPR_OP && e->ints[0] == AR_OP_where &&
           (ar_w_may_fail(w, e->args[1]) || ar_w_may_fail(w, e->args[2]));
}

/* ---- Operations ------------------------------------------------------------------------------ */

ar_signature ar_w_signature(arras_expr op)
{
    ar_type      types[AR_MAX_ARITY];
    ar_signature s = { .compute = ARRAS_NO_DTYPE };

    for (int i = 0; i < op->nargs; i++)
        types[i] = op->args[i]->type;
    ar_op_signature(&s, (ar_op)op->ints[0], types);
    return s;
}

static void put_branch(ar_writer *w, arras_expr e, arras_expr branch, arras_dtype dtype)
{
    size_t mark = w->nchanges;

    ar_text_add(w->out, "{\n");
    ar_w_put(w, branch);
    ar_text_printf(w->out, "v%" PRId64 " = ", e->id);
    ar_w_cast(w, branch, dtype);
    ar_text_add(w->out, ";\n}\n");
    ar_w_forget(w, mark);
}

/* Only the branch that is taken may be computed when the other may fail. */
static void put_lazy(ar_writer *w, arras_expr e, const ar_signature *s)
{
    ar_w_put(w, e->args[0]);
    ar_text_printf(w->out, "%s v%" PRId64 ";\nif (", ar_w_type(w, e->type.dtype), e->id);
    ar_w_cast(w, e->args[0], ARRAS_BOOL);
    ar_text_add(w->out, ") ");
    put_branch(w, e, e->args[1], s->compute);
    ar_text_add(w->out, "else ");
    put_branch(w, e, e->args[2], s->compute);
}

/* First those that call functions: others would have to be kept in memory meanwhile. */
static void put_arguments(ar_writer *w, arras_expr e)
{
    for (int i = 0; i < e->nargs; i++)
        if (w->facts[e->args[i]->id].calls)
            ar_w_put(w, e->args[i]);
    for (int i = 0; i < e->nargs; i++)
        ar_w_put(w, e->args[i]);
}

static void put_call(ar_writer *w, arras_expr e, const ar_signature *s)
{
    ar_w_op(w, (ar_op)e->ints[0], s->compute);
    for (int i = 0; i < e->nargs; i++) {
        ar_text_add(w->out, i ? ", " : "(");
        ar_w_cast(w, e->args[i], s->operand[i]);
    }
    ar_text_add(w->out, ");\n");
}

static void put_op(ar_writer *w, arras_expr e)
{
    ar_signature s = ar_w_signature(e);

    if (ar_w_is_lazy(w, e)) {
        put_lazy(w, e, &s);
        return;
    }
    put_arguments(w, e);
    for (int t = 0; ar_w_turn(w, t); t++) {
        ar_w_start(w, e);
        if (!w->shape->put_op || !w->shape->put_op(w, e))
            put_call(w, e, &s);
    }
}

static void put_cast(ar_writer *w, arras_expr e)
{
    ar_w_put(w, e->args[0]);
    for (int t = 0; ar_w_turn(w, t); t++) {
        ar_w_start(w, e);
        ar_w_cast(w, e->args[0], e->type.dtype);
        ar_text_add(w->out, ";\n");
    }
}

static void put_size(ar_writer *w, arras_expr e)
{
    const ar_affine *affine = ar_dim_affine(e->graph, e->ints[0]);
    bool             may_fail = size_may_fail(w, e);

    if (may_fail)
        ar_text_printf(w->out, "int64_t v%" PRId64 " = ", e->id);
    else
        ar_w_start(w, e);
    ar_text_printf(w->out, "%" PRId64 "%s", affine->constant, w->dialect->l);
    for (int i = 0; i < affine->nterms; i++) {
        ar_text_printf(w->out, " + %" PRId64 "%s * ", affine->terms[i].factor, w->dialect->l);
        ar_text_printf(w->out, "%s%d]", w->shape->sizes, affine->terms[i].size);
    }
    ar_text_add(w->out, ";\n");
    if (may_fail)
        ar_text_printf(w->out, "if (v%" PRId64 " < 0) fault = 1, v%" PRId64 " = 0;\n", e->id,
                       e->id);
}

/* ---- All kinds ------------------------------------------------------------------------------- */

static void put_anew(ar_writer *w, arras_expr e)
{
    switch (e->kind) {
    case AR_EXPR_OP: put_op(w, e); break;
    case AR_EXPR_CAST: put_cast(w, e); break;
    case AR_EXPR_SIZE: put_size(w, e); break;
    case AR_EXPR_LOAD: ar_w_put_load(w, e); break;
    case AR_EXPR_REDUCE: w->shape->put_reduce(w, e); break;
    default: w->failed = true;
    }
}

/* Depth is limited by AR_MAX_DEPTH. */
void ar_w_put(ar_writer *w, arras_expr e)
{
    ar_w_state state;

    if (w->failed || ar_w_is_leaf(e))
        return;
    state = w->facts[e->id].state;
    if (state.place == AR_W_VALUE)
        return;
    if (state.place == AR_W_UNKNOWN)
        put_anew(w, e);
    else
        w->shape->put_shaped(w, e, state);
    ar_w_set(w, e, (ar_w_state){ .place = AR_W_VALUE });
    w->failed = w->failed || ++w->statements > AR_W_STATEMENTS;
}
