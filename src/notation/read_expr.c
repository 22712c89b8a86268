/* read_expr.c -- the cell of a lambda, from text.  Nesting is limited, and what is read so far lies
 * on a stack of its own, so that a level costs little of the machine's. */
#include "notation/reader.h"

static bool read_expr(ar_reader *r, arras_expr *out);

static bool check(ar_reader *r, const ar_token *at, arras_expr e, arras_expr *out)
{
    *out = e;
    return e->kind != AR_EXPR_POISON || ar_fail_at(r, at, (arras_status)e->ints[0], "%s", e->name);
}

/* ---- The stack of arguments ------------------------------------------------------------------ */

static bool push(ar_reader *r, arras_expr e, arras_edge edge)
{
    ar_exprs *s = &r->exprs;

    if (!ar_grow(&s->items, &s->room, s->count, sizeof *s->items) ||
        !ar_grow(&s->edges, &s->edges_room, s->count, sizeof *s->edges))
        return ar_fail_no_memory(r);
    s->edges[s->count] = edge;
    s->items[s->count++] = e;
    return true;
}

/* ---- Leaves ---------------------------------------------------------------------------------- */

static bool read_literal(ar_reader *r, arras_expr *out)
{
    ar_token    at = r->token;
    ar_value    value = { .bits = { 0, 0 } };
    arras_dtype dtype;

    return ar_read_untyped(r, &dtype, &value) &&
           check(r, &at, ar_expr_literal(r->g, dtype, value), out);
}

static bool read_local(ar_reader *r, arras_expr *out)
{
    *out = ar_numbers_find(&r->locals, r->token.number);
    if (!*out)
        return ar_fail_at(r, &r->token, ARRAS_ENAME, "%.*s is not defined above",
                          (int)ar_min64(40, (int64_t)r->token.length), r->token.start);
    ar_advance(r);
    return true;
}

static bool read_size(ar_reader *r, arras_expr *out)
{
    ar_token  at = r->token;
    arras_dim dim;

    ar_advance(r);
    return ar_expect(r, "(") && ar_read_dim(r, &dim) && ar_expect(r, ")") &&
           check(r, &at, ar_expr_size(r->g, dim), out);
}

/* The number behind the first letter of i0 or _0; -1 when it is not that letter and digits. */
static int number_behind(const ar_token *t, char letter)
{
    int number = 0;

    if (t->kind != AR_TOKEN_NAME || t->start[0] != letter || t->length < 2)
        return -1;
    for (size_t i = 1; i < t->length; i++) {
        if (t->start[i] < '0' || t->start[i] > '9' || number > AR_MAX_OPERANDS)
            return -1;
        number = 10 * number + (t->start[i] - '0');
    }
    return number;
}

static bool read_variable(ar_reader *r, arras_expr *out)
{
    ar_token    at = r->token;
    int         axis = number_behind(&r->token, 'i');
    const char *name;

    if (axis >= 0) {
        ar_advance(r);
        return check(r, &at, ar_expr_index(r->g, axis), out);
    }
    return ar_read_name(r, &name, "a variable") && check(r, &at, ar_expr_var(r->g, name), out);
}

/* var(i0): a variable with the name of something else */
static bool read_odd_variable(ar_reader *r, arras_expr *out)
{
    ar_token    at = r->token;
    const char *name;

    ar_advance(r);
    return ar_expect(r, "(") && ar_read_name(r, &name, "a variable") && ar_expect(r, ")") &&
           check(r, &at, ar_expr_var(r->g, name), out);
}

/* ---- Loads ----------------------------------------------------------------------------------- */

static bool read_edge(ar_reader *r, arras_edge *out)
{
    int rule = r->token.kind == AR_TOKEN_NAME ? ar_edge_find(r->token.start, r->token.length) : -1;

    *out = (arras_edge){ ARRAS_EDGE_NONE, NULL };
    if (rule < 0)
        return true;
    out->rule = (arras_edge_rule)rule;
    ar_advance(r);
    return rule != ARRAS_EDGE_CONSTANT || read_literal(r, &out->fill);
}

static bool read_indices(ar_reader *r)
{
    arras_expr index;
    arras_edge edge;

    for (bool first = true; !ar_token_is(&r->token, "]"); first = false)
        if ((!first && !ar_expect(r, ",")) || !read_expr(r, &index) || !read_edge(r, &edge) ||
            !push(r, index, edge))
            return false;
    return ar_expect(r, "]");
}

static bool check_binding(ar_reader *r, const ar_token *at, int binding)
{
    if ((size_t)binding >= r->operands.count)
        return ar_fail_at(r, at, ARRAS_EINVAL, "_%d is not there: the lambda has %zu operands",
                          binding, r->operands.count);
    return r->operands.items[binding]->kind != AR_CALL ||
           ar_fail_at(r, at, ARRAS_EINVAL, "_%d is a call, not one of its results", binding);
}

static bool read_load(ar_reader *r, int binding, arras_expr *out)
{
    ar_token    at = r->token;
    size_t      base = r->exprs.count, n;
    arras_dtype dtype;

    if (!check_binding(r, &at, binding))
        return false;
    ar_advance(r);
    if (!ar_expect(r, "[") || !read_indices(r))
        return false;
    n = r->exprs.count - base;
    r->exprs.count = base;
    if (n > ARRAS_MAX_RANK)
        return ar_fail_at(r, &at, ARRAS_ELIMIT, "a load takes at most %d indices", ARRAS_MAX_RANK);
    dtype = r->operands.items[binding]->type.dtype;
    return check(r, &at,
                 ar_expr_load_bound(r->g, binding, dtype, (int)n,
                                    n > 0 ? r->exprs.items + base : NULL,
                                    n > 0 ? r->exprs.edges + base : NULL),
                 out);
}

/* ---- Operations ------------------------------------------------------------------------------ */

static bool read_arguments(ar_reader *r)
{
    arras_expr argument;

    if (!ar_expect(r, "("))
        return false;
    for (bool first = true; !ar_token_is(&r->token, ")"); first = false)
        if ((!first && !ar_expect(r, ",")) || !read_expr(r, &argument) ||
            !push(r, argument, (arras_edge){ ARRAS_EDGE_NONE, NULL }))
            return false;
    return ar_expect(r, ")");
}

static bool read_apply(ar_reader *r, ar_op op, arras_expr *out)
{
    ar_token at = r->token;
    size_t   base = r->exprs.count, n;

    ar_advance(r);
    if (!read_arguments(r))
        return false;
    n = r->exprs.count - base;
    r->exprs.count = base;
    if (n != (size_t)ar_op_arity(op))
        return ar_fail_at(r, &at, ARRAS_EINVAL, "%s takes %d operand%s, not %zu", ar_op_name(op),
                          ar_op_arity(op), ar_op_arity(op) == 1 ? "" : "s", n);
    return check(r, &at, ar_expr_apply(op, (int)n, r->exprs.items + base), out);
}

static bool read_cast(ar_reader *r, arras_dtype dtype, arras_expr *out)
{
    ar_token   at = r->token;
    arras_expr x;

    ar_advance(r);
    return ar_expect(r, "(") && read_expr(r, &x) && ar_expect(r, ")") &&
           check(r, &at, ar_expr_cast(x, dtype), out);
}

/* Which cells they are, and how they are combined, where it is said. */
static ar_tree read_tree(ar_reader *r)
{
    ar_tree tree = ar_token_is(&r->token, "part")       ? AR_TREE_PART
                   : ar_token_is(&r->token, "partials") ? AR_TREE_PARTIALS
                   : ar_token_is(&r->token, "fused")    ? AR_TREE_FUSED
                                                        : AR_TREE_WHOLE;

    if (tree != AR_TREE_WHOLE)
        ar_advance(r);
    return tree;
}

/* sum[k: lo, hi](body) */
static bool read_reduce(ar_reader *r, ar_reduction reduction, arras_expr *out)
{
    ar_token    at = r->token;
    arras_expr  lo, hi, body;
    ar_tree     tree = AR_TREE_WHOLE;
    const char *variable;

    ar_advance(r);
    return ar_expect(r, "[") && ar_read_name(r, &variable, "the name of a variable") &&
           ar_expect(r, ":") && read_expr(r, &lo) && ar_expect(r, ",") && read_expr(r, &hi) &&
           ((tree = read_tree(r)), ar_expect(r, "]")) && ar_expect(r, "(") && read_expr(r, &body) &&
           ar_expect(r, ")") &&
           check(r, &at, ar_expr_reduce_tree(reduction, tree, variable, lo, hi, body), out);
}

static bool fail_unknown(ar_reader *r)
{
    const char *name = ar_keep_token(r, &r->token);
    ar_guess    guess;

    if (!name)
        return false;
    guess = ar_guess_start(name);
    for (int op = 0; op < AR_OP_END; op++)
        ar_guess_try(&guess, ar_op_name((ar_op)op));
    for (int i = 0; i < AR_REDUCTION_END; i++)
        ar_guess_try(&guess, ar_reduction_name((ar_reduction)i));
    return ar_fail_at(r, &r->token, ARRAS_ENAME, "there is no operation '%s' within a cell%s%s%s",
                      name, guess.best ? "; did you mean '" : "", guess.best ? guess.best : "",
                      guess.best ? "'?" : "");
}

static bool read_applied(ar_reader *r, arras_expr *out)
{
    const ar_token *t = &r->token;
    int             op = ar_op_find(t->start, t->length);
    arras_dtype     dtype = ar_dtype_find(t->start, t->length);

    if (ar_token_is(t, "size"))
        return read_size(r, out);
    if (ar_token_is(t, "var"))
        return read_odd_variable(r, out);
    if (op >= 0)
        return read_apply(r, (ar_op)op, out);
    return dtype != ARRAS_NO_DTYPE ? read_cast(r, dtype, out) : fail_unknown(r);
}

static bool read_bracketed(ar_reader *r, arras_expr *out)
{
    int reduction = ar_reduction_find(r->token.start, r->token.length);
    int binding = number_behind(&r->token, '_');

    if (binding >= 0)
        return read_load(r, binding, out);
    return reduction >= 0 ? read_reduce(r, (ar_reduction)reduction, out) : fail_unknown(r);
}

static bool starts_literal(const ar_token *t)
{
    return t->kind == AR_TOKEN_NUMBER || ar_token_is(t, "-") || ar_token_is(t, "(") ||
           ar_token_is(t, "inf") || ar_token_is(t, "nan");
}

static bool read_any(ar_reader *r, arras_expr *out)
{
    if (r->token.kind == AR_TOKEN_NAME && ar_followed_by(r, '('))
        return read_applied(r, out);
    if (r->token.kind == AR_TOKEN_NAME && ar_followed_by(r, '['))
        return read_bracketed(r, out);
    if (starts_literal(&r->token))
        return read_literal(r, out);
    if (r->token.kind == AR_TOKEN_LOCAL)
        return read_local(r, out);
    if (r->token.kind == AR_TOKEN_NAME)
        return read_variable(r, out);
    return ar_fail_expected(r, "an expression");
}

static bool read_expr(ar_reader *r, arras_expr *out)
{
    bool done;

    if (r->depth > AR_MAX_DEPTH)
        return ar_fail_at(r, &r->token, ARRAS_ELIMIT, "an expression is nested more than %d deep",
                          AR_MAX_DEPTH);
    r->depth++;
    done = read_any(r, out);
    r->depth--;
    return done;
}

/* ---- Cells ----------------------------------------------------------------------------------- */

static bool read_definition(ar_reader *r)
{
    ar_token   at = r->token;
    arras_expr e;

    ar_advance(r);
    return ar_expect(r, "=") && read_expr(r, &e) && ar_expect(r, ";") &&
           ar_numbers_add(r, &r->locals, &at, e);
}

bool ar_read_cell(ar_reader *r, arras_expr *out)
{
    r->locals.count = 0;
    r->exprs.count = 0;
    r->depth = 0;
    if (!ar_expect(r, "{"))
        return false;
    while (r->token.kind == AR_TOKEN_LOCAL && ar_followed_by(r, '='))
        if (!read_definition(r))
            return false;
    return read_expr(r, out) && ar_expect(r, "}");
}
