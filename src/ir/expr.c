/* expr.c -- scalar expressions: the value of one cell over its index, other cells and reductions.
 */
#include "ir/graph.h"

#include <string.h>

/* ---- Interning ------------------------------------------------------------------------------- */

static uint64_t expr_hash(const struct arras_expr_node *e)
{
    uint64_t hash = ar_hash_mix((uint64_t)e->kind, (uint64_t)e->type.dtype * 2 + e->type.weak);

    hash = ar_hash_mix(hash, (uint64_t)e->nargs * 64 + (uint64_t)e->nints);
    for (int i = 0; i < e->nargs; i++)
        hash = ar_hash_mix(hash, (uint64_t)e->args[i]->id);
    for (int i = 0; i < e->nints; i++)
        hash = ar_hash_mix(hash, (uint64_t)e->ints[i]);
    if (e->name)
        hash = ar_hash_bytes(hash, e->name, strlen(e->name));
    return e->array ? ar_hash_mix(hash, (uint64_t)e->array->id) : hash;
}

static uint64_t form_of(const struct arras_expr_node *e)
{
    int      first = e->kind == AR_EXPR_LOAD; /* the number of a binding */
    uint64_t form = ar_hash_mix((uint64_t)e->kind, (uint64_t)e->type.dtype * 2 + e->type.weak);

    for (int i = 0; i < e->nargs; i++)
        form = ar_hash_mix(form, e->args[i]->form);
    for (int i = first; i < e->nints; i++)
        form = ar_hash_mix(form, (uint64_t)e->ints[i]);
    for (int axis = 0; e->array && axis < e->array->rank; axis++)
        form = ar_hash_mix(form, (uint64_t)e->array->shape[axis]);
    return form;
}

static bool same_parts(const struct arras_expr_node *a, const struct arras_expr_node *b)
{
    for (int i = 0; i < a->nargs; i++)
        if (a->args[i] != b->args[i])
            return false;
    for (int i = 0; i < a->nints; i++)
        if (a->ints[i] != b->ints[i])
            return false;
    return true;
}

static bool expr_same(const void *item, const void *key)
{
    const struct arras_expr_node *a = item, *b = key;

    return a->kind == b->kind && a->type.dtype == b->type.dtype && a->type.weak == b->type.weak &&
           a->array == b->array && a->nargs == b->nargs && a->nints == b->nints &&
           !a->name == !b->name && (!a->name || strcmp(a->name, b->name) == 0) && same_parts(a, b);
}

/* Adds to a sorted list the names in another that it lacks, but for `except`. */
static int merge_names(const char **list, int count, int n, const char *const *names,
                       const char *except)
{
    for (int i = 0; i < n; i++) {
        int at = 0;

        if (except && strcmp(names[i], except) == 0)
            continue;
        while (at < count && strcmp(list[at], names[i]) < 0)
            at++;
        if (at < count && strcmp(list[at], names[i]) == 0)
            continue;
        memmove(list + at + 1, list + at, (size_t)(count - at) * sizeof *list);
        list[at] = names[i];
        count++;
    }
    return count;
}

static bool find_free_names(arras_graph *g, struct arras_expr_node *e)
{
    size_t       most = e->kind == AR_EXPR_VAR;
    const char **list;

    for (int i = 0; i < e->nargs; i++)
        most += (size_t)e->args[i]->nfree;
    if (most == 0)
        return true;
    list = ar_arena_alloc(&g->arena, most, sizeof *list);
    if (!list)
        return false;
    if (e->kind == AR_EXPR_VAR)
        list[e->nfree++] = e->name;
    for (int i = 0; i < e->nargs; i++) {
        bool body = e->kind == AR_EXPR_REDUCE && i == 2;

        e->nfree =
            merge_names(list, e->nfree, e->args[i]->nfree, e->args[i]->free, body ? e->name : NULL);
    }
    e->free = list;
    return true;
}

static void measure(struct arras_expr_node *e)
{
    for (int i = 0; i < e->nargs; i++) {
        if (e->args[i]->depth >= e->depth)
            e->depth = e->args[i]->depth + 1;
        if (e->args[i]->axes > e->axes)
            e->axes = e->args[i]->axes;
        e->uses |= e->args[i]->uses;
    }
}

/* A copy of the graph's own, with all its parts; NULL: no memory. */
static struct arras_expr_node *keep(arras_graph *g, const struct arras_expr_node *e)
{
    size_t                  args = (size_t)e->nargs * sizeof *e->args;
    size_t                  ints = (size_t)e->nints * sizeof *e->ints;
    struct arras_expr_node *kept = ar_arena_alloc(&g->arena, 1, sizeof *e + args + ints);

    if (!kept)
        return NULL;
    *kept = *e;
    kept->args = (const arras_expr *)(kept + 1);
    kept->ints = (const int64_t *)(kept->args + e->nargs);
    if (args)
        memcpy(kept + 1, e->args, args);
    if (ints)
        memcpy((char *)(kept + 1) + args, e->ints, ints);
    if (e->name)
        kept->name = ar_string_keep(g, e->name, strlen(e->name));
    return (!e->name || kept->name) && find_free_names(g, kept) ? kept : NULL;
}

arras_expr ar_expr_intern(arras_graph *g, struct arras_expr_node *e)
{
    const void             *found;
    struct arras_expr_node *kept;

    e->hash = expr_hash(e);
    if ((found = ar_table_find(&g->expr_set, e->hash, expr_same, e)))
        return found;
    e->graph = g;
    measure(e);
    e->form = form_of(e);
    if (e->depth > AR_MAX_DEPTH)
        return ar_expr_poison(
            g, ARRAS_ELIMIT,
            "an expression is nested more than %d deep: split it into several arrays",
            AR_MAX_DEPTH);
    e->id = g->nexprs;
    if (!(kept = keep(g, e)) || !ar_table_add(&g->expr_set, e->hash, kept))
        return ar_expr_memory(g);
    g->nexprs++;
    return kept;
}

/* ---- Poison ---------------------------------------------------------------------------------- */

static const struct arras_expr_node no_graph = {
    .kind = AR_EXPR_POISON,
    .name = "an expression or a graph is NULL, or an operation was given no operands at all",
    .nints = 1,
    .ints = (const int64_t[]){ ARRAS_EINVAL },
    .id = -1,
};

arras_expr ar_expr_memory(arras_graph *g)
{
    g->memory_failed = true;
    return &g->memory_expr;
}

arras_expr ar_expr_poison_of(arras_graph *g, arras_status code, const char *text)
{
    struct arras_expr_node e = { .kind = AR_EXPR_POISON, .graph = g, .id = -1, .nints = 1 };
    int64_t                number = code;
    arras_expr             kept;

    if (!g)
        return &no_graph;
    if (code == ARRAS_ENOMEM)
        return ar_expr_memory(g);
    e.name = ar_string_keep(g, text, strlen(text));
    e.ints = ar_arena_copy(&g->arena, &number, 1, sizeof number);
    kept = ar_arena_copy(&g->arena, &e, 1, sizeof e);
    return e.name && e.ints && kept ? kept : ar_expr_memory(g);
}

arras_expr ar_expr_poison(arras_graph *g, arras_status code, const char *format, ...)
{
    arras_error err;
    va_list     args;

    va_start(args, format);
    ar_vfail(&err, code, format, args);
    va_end(args);
    return ar_expr_poison_of(g, err.code, err.text);
}

static arras_expr check_args(const char *what, int n, const arras_expr *args)
{
    if (n <= 0 || !args)
        return &no_graph;
    for (int i = 0; i < n; i++)
        if (!args[i])
            return &no_graph;
    for (int i = 0; i < n; i++)
        if (args[i]->kind == AR_EXPR_POISON)
            return args[i];
    for (int i = 1; i < n; i++)
        if (args[i]->graph != args[0]->graph)
            return ar_expr_poison(args[0]->graph, ARRAS_EINVAL,
                                  "%s: operands belong to different graphs", what);
    return NULL;
}

/* ---- Leaves ---------------------------------------------------------------------------------- */

static const ar_type index_type = { ARRAS_I64, false };

static arras_expr make_index(arras_graph *g, int axis)
{
    return ar_expr_intern(g, &(struct arras_expr_node){ .kind = AR_EXPR_INDEX,
                                                        .type = index_type,
                                                        .axes = axis + 1,
                                                        .uses = (uint32_t)1 << axis,
                                                        .nints = 1,
                                                        .ints = (int64_t[]){ axis } });
}

arras_expr ar_expr_index(arras_graph *g, int axis)
{
    if (axis < 0 || axis >= ARRAS_MAX_RANK)
        return ar_expr_poison(g, ARRAS_EAXIS, "index of axis %d: axes are 0..%d", axis,
                              ARRAS_MAX_RANK - 1);
    if (!g->indices[axis])
        g->indices[axis] = make_index(g, axis);
    return g->indices[axis];
}

arras_expr ar_expr_var(arras_graph *g, const char *name)
{
    if (!name || !ar_name_valid(name, strlen(name)))
        return ar_expr_poison(g, ARRAS_ENAME, "'%.255s' is no name for a variable",
                              name ? name : "");
    return ar_expr_intern(
        g, &(struct arras_expr_node){ .kind = AR_EXPR_VAR, .type = index_type, .name = name });
}

arras_expr ar_expr_literal(arras_graph *g, arras_dtype dtype, ar_value value)
{
    if (dtype != ARRAS_I64 && dtype != ARRAS_F64 && dtype != ARRAS_C128)
        return ar_expr_poison(g, ARRAS_EDTYPE, "a literal is i64, f64 or c128, not %s",
                              ar_dtype_name(dtype));
    ar_value_canonical(dtype, &value);
    return ar_expr_intern(
        g, &(struct arras_expr_node){
               .kind = AR_EXPR_LITERAL, .type = { dtype, true }, .nints = 2, .ints = value.bits });
}

arras_expr ar_expr_size(arras_graph *g, arras_dim dim)
{
    const char *error = ar_dim_error(g, dim);

    if (error)
        return ar_expr_poison(g, ARRAS_ESIZE, "%s", error);
    if (!ar_dim_symbolic(dim))
        return ar_expr_cast(ar_expr_literal(g, ARRAS_I64, (ar_value){ .bits = { dim, 0 } }),
                            ARRAS_I64);
    return ar_expr_intern(g,
                          &(struct arras_expr_node){
                              .kind = AR_EXPR_SIZE, .type = index_type, .nints = 1, .ints = &dim });
}

/* ---- Operations ------------------------------------------------------------------------------ */

arras_expr ar_expr_cast(arras_expr x, arras_dtype dtype)
{
    arras_expr bad = check_args("cast", 1, &x);

    if (bad)
        return bad;
    if (!ar_dtype_valid(dtype))
        return ar_expr_poison(x->graph, ARRAS_EDTYPE, "cast: there is no type number %d",
                              (int)dtype);
    if (x->type.dtype == dtype && !x->type.weak)
        return x;
    return ar_expr_intern(
        x->graph, &(struct arras_expr_node){
                      .kind = AR_EXPR_CAST, .type = { dtype, false }, .nargs = 1, .args = &x });
}

static bool is_int_literal(arras_expr e)
{
    return e->kind == AR_EXPR_LITERAL && e->type.dtype == ARRAS_I64;
}

static bool signature(ar_signature *out, ar_op op, int n, const arras_expr *args)
{
    ar_type types[AR_MAX_ARITY];

    for (int i = 0; i < n; i++)
        types[i] = args[i]->type;
    return ar_op_signature(out, op, types);
}

/* As for arrays (build_map.c): an untyped integer must fit, but comparisons are exact. */
static arras_expr fit_literals(ar_op op, int n, arras_expr *args, const ar_signature *s)
{
    for (int i = 0; i < n; i++) {
        if (!is_int_literal(args[i]) || ar_integer_fits(args[i]->ints[0], s->operand[i]))
            continue;
        if (!ar_op_is_comparison(op))
            return ar_expr_poison(args[i]->graph, ARRAS_EDTYPE,
                                  "%s: %" PRId64 " does not fit %s: cast the other operand",
                                  ar_op_name(op), args[i]->ints[0], ar_dtype_name(s->operand[i]));
        args[i] = ar_expr_cast(args[i], ARRAS_I64);
    }
    return NULL;
}

static arras_expr small_int(arras_graph *g, int64_t value)
{
    return ar_expr_literal(g, ARRAS_I64, (ar_value){ .bits = { value, 0 } });
}

/* u64 against a signed integer: no integer type holds both, so the sign decides first. */
static arras_expr compare_mixed(ar_op op, const arras_expr *args)
{
    arras_graph *g = args[0]->graph;
    int          side = ar_dtype_class(args[0]->type.dtype) == AR_CLASS_SIGNED ? 0 : 1;
    arras_expr   negative =
        ar_expr_apply(AR_OP_less, 2, (arras_expr[]){ args[side], small_int(g, 0) });
    arras_expr outcome = ar_expr_cast(small_int(g, ar_negative_compares(op, side)), ARRAS_BOOL);
    arras_expr positive = ar_expr_apply(
        op, 2,
        (arras_expr[]){ ar_expr_cast(args[0], ARRAS_U64), ar_expr_cast(args[1], ARRAS_U64) });

    return ar_expr_apply(AR_OP_where, 3, (arras_expr[]){ negative, outcome, positive });
}

static bool all_literals(int n, const arras_expr *args)
{
    for (int i = 0; i < n; i++)
        if (args[i]->kind != AR_EXPR_LITERAL)
            return false;
    return true;
}

/* As for arrays: what is untyped alone is an untyped number at once. */
static arras_expr fold(arras_graph *g, ar_op op, int n, const arras_expr *args,
                       const ar_signature *s)
{
    ar_value operands[AR_MAX_ARITY] = { 0 }, result = { .bits = { 0, 0 } };

    for (int i = 0; i < n; i++)
        ar_cell_cast(s->operand[i], &operands[i], args[i]->type.dtype, args[i]->ints);
    ar_op_value(op, s->compute)(&result, &operands[0], &operands[1], &operands[2]);
    return ar_expr_literal(g, s->result.dtype, result);
}

arras_expr ar_expr_apply(ar_op op, int n, const arras_expr *operands)
{
    arras_expr   bad, args[AR_MAX_ARITY];
    arras_graph *g;
    ar_signature s;
    bool         defined;

    if ((bad = check_args(ar_op_name(op), n, operands)))
        return bad;
    g = operands[0]->graph;
    if (n != ar_op_arity(op))
        return ar_expr_poison(g, ARRAS_EINVAL, "%s takes %d operands, not %d", ar_op_name(op),
                              ar_op_arity(op), n);
    memcpy(args, operands, (size_t)n * sizeof *args);
    defined = signature(&s, op, n, args);
    if (defined && (bad = fit_literals(op, n, args, &s)))
        return bad;
    if (ar_op_is_comparison(op)) {
        if (ar_types_mixed(args[0]->type, args[1]->type))
            return compare_mixed(op, args);
        defined = signature(&s, op, n, args); /* again: a number may have got its type */
    }
    if (!defined)
        return ar_expr_poison(g, ARRAS_EDTYPE, "%s is not defined for %s%s%s", ar_op_name(op),
                              ar_dtype_name(args[0]->type.dtype), n > 1 ? " and " : "",
                              n > 1 ? ar_dtype_name(args[n - 1]->type.dtype) : "");
    if (op == AR_OP_pow && ar_dtype_is_integer(s.compute) && is_int_literal(args[1]) &&
        args[1]->ints[0] < 0 && !s.result.weak)
        return ar_expr_poison(g, ARRAS_EDTYPE,
                              "pow: an integer to the power %" PRId64
                              " is no integer: cast it to a real type",
                              args[1]->ints[0]);
    if (s.result.weak && all_literals(n, args))
        return fold(g, op, n, args, &s);
    return ar_expr_intern(g, &(struct arras_expr_node){ .kind = AR_EXPR_OP,
                                                        .type = s.result,
                                                        .nargs = n,
                                                        .args = args,
                                                        .nints = 1,
                                                        .ints = (int64_t[]){ op } });
}

/* ---- Loads ----------------------------------------------------------------------------------- */

static arras_expr check_edge(arras_graph *g, int axis, arras_edge edge, arras_dtype dtype)
{
    if ((int)edge.rule < 0 || edge.rule >= ARRAS_EDGE_END)
        return ar_expr_poison(g, ARRAS_EINVAL, "load: axis %d: there is no edge rule number %d",
                              axis, (int)edge.rule);
    if (edge.rule != ARRAS_EDGE_CONSTANT || !edge.fill)
        return NULL;
    if (edge.fill->kind == AR_EXPR_POISON)
        return edge.fill;
    if (edge.fill->graph != g)
        return ar_expr_poison(g, ARRAS_EINVAL, "load: the fill of axis %d belongs to another graph",
                              axis);
    if (is_int_literal(edge.fill) && !ar_integer_fits(edge.fill->ints[0], dtype))
        return ar_expr_poison(g, ARRAS_EDTYPE,
                              "load: the fill %" PRId64 " of axis %d does not fit %s",
                              edge.fill->ints[0], axis, ar_dtype_name(dtype));
    if (edge.fill->kind == AR_EXPR_LITERAL)
        return NULL;
    return ar_expr_poison(g, ARRAS_EINVAL,
                          "load: axis %d: the fill of a constant edge must be a number", axis);
}

static arras_expr check_indices(arras_graph *g, int n, const arras_expr *indices)
{
    arras_expr bad = n > 0 ? check_args("load", n, indices) : NULL;

    if (bad)
        return bad;
    for (int i = 0; i < n; i++) {
        if (indices[i]->graph != g)
            return ar_expr_poison(g, ARRAS_EINVAL,
                                  "load: index %d belongs to another graph than the array", i);
        if (ar_dtype_class(indices[i]->type.dtype) >= AR_CLASS_REAL)
            return ar_expr_poison(g, ARRAS_EDTYPE,
                                  "load: index %d is %s: an index must be an integer", i,
                                  ar_dtype_name(indices[i]->type.dtype));
    }
    return NULL;
}

static arras_expr load(arras_graph *g, arras_array x, int64_t binding, arras_dtype dtype, int n,
                       const arras_expr *indices, const arras_edge *edges)
{
    int64_t    ints[1 + ARRAS_MAX_RANK];
    arras_expr args[2 * ARRAS_MAX_RANK], bad;
    int        nargs = n;

    if (n < 0 || n > ARRAS_MAX_RANK)
        return ar_expr_poison(g, ARRAS_ELIMIT, "load: %d indices; there may be 0..%d", n,
                              ARRAS_MAX_RANK);
    if ((bad = check_indices(g, n, indices)))
        return bad;
    ints[0] = binding;
    for (int d = 0; d < n; d++) {
        arras_edge edge = edges ? edges[d] : (arras_edge){ ARRAS_EDGE_NONE, NULL };

        if ((bad = check_edge(g, d, edge, dtype)))
            return bad;
        args[d] = indices[d];
        ints[1 + d] = edge.rule;
        if (edge.rule == ARRAS_EDGE_CONSTANT)
            args[nargs++] = edge.fill ? edge.fill : small_int(g, 0);
    }
    for (int i = n; i < nargs; i++)
        if (args[i]->kind == AR_EXPR_POISON)
            return args[i];
    return ar_expr_intern(g, &(struct arras_expr_node){ .kind = AR_EXPR_LOAD,
                                                        .type = { dtype, false },
                                                        .rank = n,
                                                        .nargs = nargs,
                                                        .args = args,
                                                        .nints = 1 + n,
                                                        .ints = ints,
                                                        .array = x });
}

arras_expr ar_expr_load(arras_array x, int n, const arras_expr *indices, const arras_edge *edges)
{
    arras_array bad = ar_check_inputs("load", 1, &x);

    if (bad)
        return ar_expr_poison_of(bad->graph, (arras_status)bad->ints[0], bad->name);
    if (n != x->rank) {
        ar_text    text = { 0 };
        arras_expr poison;

        ar_node_describe(&text, x);
        poison = ar_expr_poison(x->graph, ARRAS_ESHAPE, "load: %d indices for %s", n,
                                text.data ? text.data : "");
        ar_text_free(&text);
        return poison;
    }
    return load(x->graph, x, -1, x->type.dtype, n, indices, edges);
}

arras_expr ar_expr_load_bound(arras_graph *g, int binding, arras_dtype dtype, int n,
                              const arras_expr *indices, const arras_edge *edges)
{
    return load(g, NULL, binding, dtype, n, indices, edges);
}

/* ---- Reductions ------------------------------------------------------------------------------ */

/* A number, perhaps with its type. */
static bool is_known(int64_t *out, arras_expr bound)
{
    arras_expr number = bound->kind == AR_EXPR_CAST ? bound->args[0] : bound;

    if (!ar_is_int(number) || bound->type.dtype != ARRAS_I64)
        return false;
    *out = number->ints[0];
    return true;
}

bool ar_sum_can_be_fused(ar_reduction reduction, arras_expr lo, arras_expr hi, arras_expr body)
{
    int64_t from, to, length;

    return reduction == AR_REDUCE_sum && body->kind == AR_EXPR_OP &&
           body->ints[0] == AR_OP_multiply && is_known(&from, lo) && is_known(&to, hi) &&
           ar_sub64(&length, to, from) &&
           ar_products_are_fused(body->type.dtype, 1, (arras_dim[]){ ar_max64(0, length) });
}

arras_expr ar_expr_reduce_tree(ar_reduction reduction, ar_tree tree, const char *var, arras_expr lo,
                               arras_expr hi, arras_expr body)
{
    arras_expr   args[] = { lo, hi, body }, bad = check_args(ar_reduction_name(reduction), 3, args);
    ar_signature s;

    if (bad)
        return bad;
    if (!var || !ar_name_valid(var, strlen(var)))
        return ar_expr_poison(lo->graph, ARRAS_ENAME, "%s: '%.255s' is no name for a variable",
                              ar_reduction_name(reduction), var ? var : "");
    for (int i = 0; i < 2; i++)
        if (ar_dtype_class(args[i]->type.dtype) >= AR_CLASS_REAL)
            return ar_expr_poison(
                lo->graph, ARRAS_EDTYPE, "%s: a bound of %s is %s: it must be an integer",
                ar_reduction_name(reduction), var, ar_dtype_name(args[i]->type.dtype));
    if (!ar_reduction_signature(&s, reduction, body->type))
        return ar_expr_poison(lo->graph, ARRAS_EDTYPE, "%s is not defined for %s",
                              ar_reduction_name(reduction), ar_dtype_name(body->type.dtype));
    if (tree == AR_TREE_FUSED && !ar_sum_can_be_fused(reduction, lo, hi, body))
        return ar_expr_poison(lo->graph, ARRAS_EINVAL,
                              "%s: only a sum of %d products of reals or fewer can be fused",
                              ar_reduction_name(reduction), AR_FOLD_SERIAL);
    return ar_expr_intern(lo->graph,
                          &(struct arras_expr_node){ .kind = AR_EXPR_REDUCE,
                                                     .type = s.result,
                                                     .name = var,
                                                     .nargs = 3,
                                                     .args = args,
                                                     .nints = tree ? 2 : 1,
                                                     .ints = (int64_t[]){ reduction, tree } });
}

arras_expr ar_expr_reduce(ar_reduction reduction, const char *var, arras_expr lo, arras_expr hi,
                          arras_expr body)
{
    return ar_expr_reduce_tree(reduction, AR_TREE_WHOLE, var, lo, hi, body);
}

ar_tree ar_expr_tree(arras_expr reduce)
{
    return reduce->nints > 1 ? (ar_tree)reduce->ints[1] : AR_TREE_WHOLE;
}

/* ---- The same with other arguments ----------------------------------------------------------- */

arras_expr ar_expr_with_args(arras_expr e, const arras_expr *args)
{
    bool same = true;

    for (int i = 0; i < e->nargs; i++)
        same = same && args[i] == e->args[i];
    if (same)
        return e;
    switch (e->kind) {
    case AR_EXPR_CAST: return ar_expr_cast(args[0], e->type.dtype);
    case AR_EXPR_OP: return ar_expr_apply((ar_op)e->ints[0], e->nargs, args);
    case AR_EXPR_REDUCE:
        return ar_expr_reduce_tree((ar_reduction)e->ints[0], ar_expr_tree(e), e->name, args[0],
                                   args[1], args[2]);
    default: return e; /* loads have arrays too, and are made by those who know them */
    }
}

bool ar_expr_depends(arras_expr e, const char *variable)
{
    for (int i = 0; i < e->nfree; i++)
        if (strcmp(e->free[i], variable) == 0)
            return true;
    return false;
}

bool ar_load_is_own_cell(arras_array lambda, arras_expr load)
{
    arras_array x = lambda->inputs[load->ints[0]];

    if (load->rank != lambda->rank)
        return false;
    for (int axis = 0; axis < load->rank; axis++)
        if (load->args[axis]->kind != AR_EXPR_INDEX || load->args[axis]->ints[0] != axis ||
            x->shape[axis] != lambda->shape[axis])
            return false;
    return true;
}
